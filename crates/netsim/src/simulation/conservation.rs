//! The check that packets are conserved: each packet sent was delivered, dropped or lost, or is in flight.

use super::Simulation;
use crate::measure::probe::Probe;
use aqm::unit::{Rate, Span};
use scenario::model::{Link, Part, Place, Subscriber};

impl<P: Probe> Simulation<P> {
    /// The violations of conservation in the run, which must be over, one sentence each; none in a correct run.
    ///
    /// Of the packets that a flow or a traffic entry sent, and of those that a link took in, each was delivered, was
    /// dropped, was lost at random or is in flight, with its arrival still to come; the counters of links, datagrams and
    /// waits agree; no measured queue was longer than its buffer; no link sent more than it could; nothing was
    /// acknowledged that had not arrived, or arrived that was not delivered; and [`Results::violations`](run::Results::violations).
    ///
    /// # Panics
    /// If the run is not over, or did not keep account: see [`Probe::CHECKS`].
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        let mut found = self.violations_of_links();
        found.extend(self.surplus());
        found.extend(self.endpoints.ahead_of_receivers());
        found
    }

    /// Those of the links, the queues and the packets, whatever their senders.
    pub(super) fn violations_of_links(&self) -> Vec<String> {
        assert!(P::CHECKS, "only a run that is checked keeps account");
        let links: Vec<&str> = self.scenario.links.iter().map(|link| &*link.name).collect();
        let classes: Vec<&str> = self.scenario.traffic.iter().map(|traffic| &*traffic.name).collect();
        let ledger = &self.network.ledger;
        let network = &self.network;
        let clock = network.events.clock;
        let names = [&*links, &*classes];
        let (links, media) = (&network.links, &network.media);
        let mut found = ledger.clone().violations(links, media, &network.hosts, clock, network.end, names);
        let results = self.results();
        found.extend(results.violations());
        let (from, to) = (self.scenario.general.warmup, self.scenario.general.duration);
        for link in &self.scenario.links {
            let Some(metrics) = results.links.get(&link.name) else {
                continue;
            };
            // What leaves the queue in front of a driver is sent by other links.
            if link.wifi.is_some_and(|air| air.part == Part::Front) {
                continue;
            }
            let seconds = (to.nanos() - from.nanos()) as f64 * 1e-9;
            // The window's ends are whole nanoseconds.
            let highest = link.changes.iter().map(|change| change.rate).fold(link.rate, Rate::max);
            let most = match self.fastest_in_cell(link) {
                // What is sent before the window may arrive in it.
                Some(rate) => rate.max(highest).bits() * to.secs(),
                None => link.capacity(from, to) + 2e-9 * highest.bits() + self.beyond(link),
            };
            if metrics.traffic.throughput * seconds > most * (1.0 + 1e-9) {
                found.push(format!("link {}: throughput = {} bit/s", link.name, metrics.traffic.throughput));
            }
        }
        found
    }

    /// The highest rate among which the quality of a link of a cell wanders, or 0.
    fn fastest_in_cell(&self, link: &Link) -> Option<Rate> {
        let Place { cell, user, way } = link.cell?;
        Some(self.scenario.cells[cell].users[user][way].rates.last().copied().unwrap_or_default())
    }

    /// Bits that a link may send in the window beyond what its rates allow, because a packet keeps the rate at which its
    /// transmission began, unless it goes on at the new one.
    fn beyond(&self, link: &Link) -> f64 {
        if let Some(Subscriber { cable, modem, .. }) = link.modem() {
            let upstream = &self.scenario.upstreams[cable];
            let flow = &upstream.flows[modem];
            // What was granted before the window may be sent in it, and a grant has whole minislots.
            let before = 2.0 * upstream.interval().secs() + upstream.advance().secs();
            return 8.0 * (flow.burst.0 + upstream.minislot) as f64 + flow.rate.bits() * before;
        }
        if link.goes_on() {
            return 0.0;
        }
        let general = &self.scenario.general;
        let next = |at: &Span| link.next_change(*at).filter(|at| *at < general.duration);
        // The first packet of the window may have begun before it.
        let changes = std::iter::successors(Some(Span::ZERO), next).skip(1);
        let within = changes.filter(|at| *at > general.warmup).count() + 1;
        let packet = self.scenario.traffic.iter().map(|traffic| traffic.packet_size.0).max().unwrap_or(0);
        let packets = if !link.has_changes() { 0 } else { within as u64 };
        8.0 * (packets * (packet + link.overhead.0)) as f64
    }

    /// Where receivers count more than was delivered to them, a sentence each.
    fn surplus(&self) -> Vec<String> {
        let (ledger, endpoints) = (&self.network.ledger, &self.endpoints);
        let segments = endpoints.lasting().map(|(slot, ..)| (slot, &endpoints.receivers[slot]));
        let more = segments
            .filter(|&(flow, receiver)| u64::from(receiver.delivered()) > ledger.delivered_segments(flow));
        let mut found: Vec<String> =
            more.map(|(flow, _)| format!("TCP flow {flow}: more than was delivered")).collect();
        let sources = endpoints.sources.iter().enumerate();
        let other = sources.filter(|&(flow, source)| {
            let delivered = ledger.delivered_bytes(flow);
            // A stack has headers of its own in each datagram, and repeats what is lost.
            let more = source.delivered > delivered;
            more || source.connection().is_none() && source.delivered < delivered
        });
        found.extend(other.map(|(flow, source)| {
            let (delivered, bytes) = (source.delivered, ledger.delivered_bytes(flow));
            format!("UDP flow {flow}: {delivered} bytes in its metrics, {bytes} were delivered")
        }));
        let forgotten = self.network.path_losses.contents.len() as u64;
        let sources = endpoints.sources.iter().enumerate();
        let kept = sources
            .filter_map(|(flow, source)| Some((flow, source.connection()?.kept(), ledger.under_way(flow)?)));
        let more = kept.filter(|&(_, kept, under_way)| kept > under_way + forgotten);
        found.extend(more.map(|(flow, kept, under_way)| {
            format!("UDP flow {flow}: the content of {kept} datagrams is kept, {under_way} are under way")
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Time;

    /// A run that is over and sound, with losses of every kind.
    fn finished() -> Simulation<()> {
        let text = "duration = \"5 s\"\n[dumbbell]\nrate = \"1.5 Mbit/s\"\nbuffer = \"10 packets\"\nloss = 0.01\n\
                    access_buffer = \"3 packets\"\naccess_rate = \"2 Mbit/s\"\n[[traffic]]\nname = \"long\"\ncount = 4\n\
                    [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"1.9 Mbit/s\"\n";
        let scenario = scenario::Document::parse(text, "ledger").unwrap().check().unwrap();
        let mut run = Simulation::new(scenario, 1, ());
        run.advance(Time::MAX);
        run
    }

    #[test]
    fn a_packet_too_many_or_too_few_is_missed_wherever_it_is() {
        let sound = finished();
        assert_eq!(sound.violations(), Vec::<String>::new());
        let bottleneck = sound.scenario.observed;
        let plain = sound.network.links.iter().position(|link| link.aqm_queue.is_none() && link.drops > 0);
        let plain = plain.expect("access links drop, too");
        let miss = |name: &str, change: &dyn Fn(&mut Simulation<()>)| {
            let mut run = finished();
            change(&mut run);
            let found = run.violations();
            assert!(found.iter().any(|found| found.contains(name)), "{name}: {found:?}");
        };
        miss("TCP flow 2: 0 sent, but", &|run| run.network.ledger.flows[0][2].sent = 0);
        miss("segments without data of TCP flow 1", &|run| run.network.ledger.flows[1][1].delivered += 1);
        miss("traffic long", &|run| run.network.ledger.classes[0].lost += 1);
        miss("link bottleneck: ", &|run| run.network.ledger.links[bottleneck].sent += 1);
        miss("outgrew its buffer", &|run| run.network.ledger.on_length(bottleneck, false));
        miss("drops in its metrics", &|run| run.network.links[plain].drops -= 1);
        miss("losses before the queue in its metrics", &|run| {
            run.network.links[bottleneck].gate.as_mut().unwrap().losses += 1;
        });
        miss("UDP flow 0: ", &|run| run.endpoints.sources[0].delivered += 1);
        miss("more than was delivered", &|run| run.network.ledger.flows[0].fill(Default::default()));
        miss("throughput = ", &|run| run.scenario.links[bottleneck].rate = Rate::mbit_per_s(1));
        miss("waits of", &|run| run.network.links[bottleneck].aqm_queue().delays[0].record(Span::ZERO));
        miss("what should have left it has not", &|run| {
            let line = run.network.links.iter_mut().find(|link| !link.line.is_empty()).unwrap();
            line.line.front_mut().unwrap().arrival = 0;
        });
        miss("what should have left it has not", &|run| {
            run.network.links[bottleneck].aqm_queue().busy = false
        });
        // A packet that vanishes from a line.
        miss("in flight", &|run| {
            let line = run.network.links.iter_mut().find(|link| !link.line.is_empty()).unwrap();
            line.line.drop_front();
        });
    }
}
