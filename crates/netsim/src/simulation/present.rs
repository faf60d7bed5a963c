//! The state of a run at any time, for pictures that are drawn again and again: its senders, and the packets that wait.

use super::Simulation;
use crate::flows::flow::Role;
use crate::measure::probe::Probe;
use crate::packet::PacketKind;
use crate::traffic::source::Ends;
use aqm::unit::{Span, Time};
use run::Column;

/// A flow that has begun and is not over, as its sender sees it now: see [`Simulation::senders`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SenderNow {
    /// Its number among the flows of its protocol.
    pub flow: u32,
    /// The traffic entry that it belongs to.
    pub class: u16,
    /// Congestion window in segments; `None` of UDP other than QUIC.
    pub window: Option<f64>,
    /// Smoothed round-trip time; `None` of UDP other than TFRC and QUIC, and before the first measurement.
    pub srtt: Option<Span>,
    /// Payload bytes that it has delivered so far.
    pub delivered: u64,
    /// Segments that it has sent again, of QUIC those that it took for lost; `None` of other UDP.
    pub retransmits: Option<u64>,
}

/// A packet that waits at the observed link: see [`Simulation::waiting`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingPacket {
    /// The flow among those of its protocol.
    pub flow: u32,
    /// The traffic entry, by its number.
    pub class: u16,
    /// Its kind.
    pub kind: PacketKind,
    /// The number of the segment, or the next that an ACK expects.
    pub seq: u32,
    /// Bytes on the wire, without the link's framing.
    pub size: u16,
    /// When it came to the queue.
    pub arrived: Time,
    /// Whether CE is set.
    pub marked: bool,
    /// The queue in which it waits, of those of the discipline, by its number.
    pub queue: usize,
}

impl SenderNow {
    /// The senders as a table of columns; NaN where one has no value.
    #[must_use]
    pub fn columns(senders: &[Self]) -> Vec<Column> {
        let column = |name: &str, value: &dyn Fn(&Self) -> Option<f64>| Column {
            name: name.to_owned(),
            values: senders.iter().map(|sender| value(sender).unwrap_or(f64::NAN)).collect(),
        };
        vec![
            column("flow", &|sender| Some(f64::from(sender.flow))),
            column("class", &|sender| Some(f64::from(sender.class))),
            column("window", &|sender| sender.window),
            column("srtt", &|sender| sender.srtt.map(Span::secs)),
            column("delivered", &|sender| Some(sender.delivered as f64)),
            column("retransmits", &|sender| sender.retransmits.map(|count| count as f64)),
        ]
    }
}

impl<P: Probe> Simulation<P> {
    /// The flows that have begun and are not over: those of TCP, which include the two of each connection of a web client,
    /// then those of UDP. A flow of TCP that has stopped is there until all is acknowledged.
    #[must_use]
    pub fn senders(&self) -> Vec<SenderNow> {
        let (endpoints, now) = (&self.endpoints, self.network.watch.now());
        let exists = |slot: usize| match endpoints.applications[slot].role {
            Role::Free => false,
            Role::Persistent | Role::Transfer => {
                endpoints.has_begun(slot as u32) && !endpoints.senders[slot].is_through()
            }
            _ => true,
        };
        let tcp = (0..endpoints.flows.len()).filter(|&slot| exists(slot)).map(|slot| {
            let (flow, sender) = (&endpoints.flows[slot], &endpoints.senders[slot]);
            let profile = &endpoints.profiles[usize::from(flow.profile)];
            SenderNow {
                flow: slot as u32,
                class: flow.class,
                window: Some(sender.cwnd()),
                srtt: sender.smoothed(profile),
                delivered: endpoints.snapshot(slot).delivered,
                retransmits: Some(sender.retransmits()),
            }
        });
        let sources = endpoints.sources.iter().enumerate();
        let sending = sources.filter(|(_, source)| source.since <= now && now < source.stop);
        let udp = sending.map(|(i, source)| SenderNow {
            flow: i as u32,
            class: source.class,
            window: source.connection().and_then(|one| Some(one.segments(one.sender()?.window))),
            srtt: match source.connection() {
                Some(connection) => connection.sender().and_then(|sender| sender.smoothed),
                None => source.ends().map(Ends::round_trip).filter(|&rtt| rtt > Span::ZERO),
            },
            delivered: source.delivered,
            retransmits: source.connection().map(|connection| connection.lost()[0]),
        });
        tcp.chain(udp).collect()
    }

    /// The packets that wait at the observed link, in the order of their queue; if its discipline has several, queue after
    /// queue. Of a link that works ahead, as [`Simulation::glance`] has its queue.
    #[must_use]
    pub fn waiting(&self) -> Vec<WaitingPacket> {
        let link = &self.network.links[self.scenario.observed];
        let queue = link.aqm_queue.as_deref().map(|aqm_queue| &aqm_queue.queue);
        let stored = queue.into_iter().flat_map(|queue| queue.waiting());
        stored
            .map(|stored| {
                let packet = stored.frame;
                WaitingPacket {
                    flow: packet.flow,
                    class: packet.class() as u16,
                    kind: packet.kind,
                    seq: packet.segment().0.seq,
                    size: packet.size,
                    arrived: stored.arrived,
                    marked: packet.is_marked(),
                    queue: stored.lane,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::probe::Checked;
    use run::Watch;

    const MIXED: &str = "duration = \"20 s\"\n[dumbbell]\nrate = \"4 Mbit/s\"\nhosts = 2\n\
        [[traffic]]\nname = \"long\"\ncount = 3\n\
        [[traffic]]\nname = \"classic\"\ncount = 2\ntcp = \"rfc5681\"\nstart = \"5 s\"\nstop = \"10 s\"\n\
        [[traffic]]\nname = \"file\"\nkind = \"transfer\"\nsize = \"100 kB\"\n\
        [[traffic]]\nname = \"short\"\nkind = \"short\"\nsize = \"20 kB\"\narrival_rate = \"2 /s\"\n\
        [[traffic]]\nname = \"web\"\nkind = \"web\"\nconnections = 2\nobjects = 5\nthink = \"1 s\"\n\
        [[traffic]]\nname = \"call\"\nkind = \"voip\"\nstart = \"5 s\"\nstop = \"10 s\"\n\
        [[traffic]]\nname = \"ping\"\nkind = \"ping\"\n";

    fn run(aqm: &str) -> Simulation<Checked<()>> {
        let text = format!("{MIXED}[aqm]\nname = \"{aqm}\"\n");
        let scenario = scenario::Document::parse(&text, "present").unwrap().check().unwrap();
        Simulation::live(scenario, 1, Checked(None), Watch::default()).expect("nobody stops it")
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn senders_are_there_from_their_start_until_they_are_over() {
        let mut run = run("droptail");
        let mut of_class = |ms: u64| {
            run.advance(at(ms));
            let senders = run.senders();
            [0, 1, 2, 5, 6].map(|class| senders.iter().filter(|sender| sender.class == class).count())
        };
        assert_eq!(of_class(1), [3, 0, 1, 0, 1]);
        assert_eq!(of_class(4_999), [3, 0, 0, 0, 1]);
        assert_eq!(of_class(6_000), [3, 2, 0, 1, 1]);
        assert_eq!(of_class(10_000)[3], 0);
        assert_eq!(of_class(15_000), [3, 0, 0, 0, 1]);
    }

    #[test]
    fn senders_tell_what_the_run_knows() {
        let mut run = run("droptail");
        run.advance(at(9_000));
        let senders = run.senders();
        for sender in senders.iter().filter(|sender| sender.class < 2) {
            let i = sender.flow as usize;
            assert_eq!(sender.window, Some(run.endpoints.senders[i].cwnd()));
            assert_eq!(sender.delivered, run.endpoints.snapshot(i).delivered);
            // More than nothing waits, and at most 300 packets of 3 ms.
            let srtt = sender.srtt.unwrap().secs();
            assert!((0.05..0.95).contains(&srtt), "{sender:?}");
        }
        let known = |name: &str| {
            let values =
                SenderNow::columns(&senders).into_iter().find(|column| column.name == name).unwrap().values;
            let udp = senders.iter().map(|sender| sender.window.is_none());
            (values.iter().zip(udp).filter(|(value, udp)| value.is_nan() && *udp).count(), values.len())
        };
        assert_eq!(known("window"), (2, senders.len()));
        assert_eq!(known("srtt"), (2, senders.len()));
        assert_eq!(known("delivered"), (0, senders.len()));
        let still: u64 = senders.iter().map(|sender| sender.delivered).sum();
        assert!(still > 0 && still < run.delivered(), "those that are over have delivered, too");
    }

    #[test]
    fn all_packets_that_wait_are_listed_whatever_the_discipline() {
        for name in aqm::aqm::NAMES {
            let mut run = run(name);
            let mut most = 0;
            for ms in (500..20_000).step_by(500) {
                run.advance(at(ms));
                let waiting = run.waiting();
                assert_eq!(waiting.len() as u64, run.glance().queue, "{name} at {ms} ms");
                assert!(waiting.iter().all(|packet| packet.arrived <= at(ms)), "{name}");
                let in_order = |pair: &[WaitingPacket]| {
                    (pair[0].queue, pair[0].arrived) <= (pair[1].queue, pair[1].arrived)
                };
                assert!(waiting.windows(2).all(in_order), "{name} at {ms} ms");
                most = most.max(waiting.len());
            }
            assert!(most > 1, "{name}");
        }
    }

    #[test]
    fn a_packet_that_waits_is_the_one_that_is_sent_next() {
        let mut run = run("droptail");
        run.tap();
        run.advance(at(8_000));
        let observed = run.scenario.observed;
        let first = run.waiting()[0];
        run.seen(at(8_000));
        run.advance(at(8_020));
        let sent = run.seen(at(8_020)).into_iter().find(|seen| seen.link == observed && seen.lost.is_none());
        let sent = sent.unwrap();
        assert_eq!((sent.flow.0, sent.class as u16, sent.kind), (first.flow, first.class, first.kind));
        assert_eq!((sent.seq, sent.size, sent.waited), (first.seq, first.size, sent.at - first.arrived));
    }
}
