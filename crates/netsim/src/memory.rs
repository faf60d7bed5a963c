//! An estimate of the memory that a run needs.

use crate::flows::flow::{Application, Flow, Snapshot};
use crate::flows::short::pairs;
use crate::measure::delivery::Last;
use crate::measure::fates::Fate;
use crate::measure::loss_runs::FlowLosses;
use crate::network::route::Routes;
use crate::packet::Packet;
use crate::tcp::{Receiver, Sender, bytes_a_segment, bytes_on_heap};
use crate::traffic::source::Source;
use aqm::Bytes;
use aqm::aqm::AnyAqm;
use aqm::discipline::Lane;
use aqm::queue::Counts;
use aqm::unit::{Limit, Span};
use scenario::Scenario;
use scenario::model::{Arrival, Extent, Kind, Link, Short, Tcp, Traffic, Udp};

/// Events on the heap per flow: its timer, its delayed ACK, its start or stop.
const EVENTS_PER_FLOW: usize = 3;
/// Packets that a flow may send at once before anything shows how many get through.
const BURST: f64 = 16.0;
/// A histogram of delays.
const HISTOGRAM: u64 = 400_000;

/// An upper estimate of the bytes that a run of this scenario needs.
#[must_use]
pub fn memory_estimate(scenario: &Scenario) -> u64 {
    let (mut tcp, mut persistent, mut udp, mut outstanding) = (0u64, 0u64, 0u64, 0u64);
    let (mut patterns, mut controls, mut boards) = (0u64, 0u64, Vec::new());
    let duration = scenario.general.duration;
    for traffic in &scenario.traffic {
        let count = u64::from(traffic.count);
        let (flows, profile) = match &traffic.kind {
            Kind::Udp(pattern, _) => {
                udp += count;
                outstanding = u64::MAX;
                patterns = patterns.saturating_add(held(pattern, count, duration));
                continue;
            }
            Kind::Ftp(tcp) | Kind::Transfer(tcp, _) => {
                persistent += count;
                (count, tcp)
            }
            Kind::Short(tcp, short) => (count.saturating_mul(alive(tcp, short, traffic, duration)), tcp),
            Kind::Web(tcp, web) => (2 * count * u64::from(web.connections.min(web.objects)), tcp),
        };
        tcp += flows;
        let windows = flows.saturating_mul(u64::from(profile.max_window));
        outstanding = outstanding.saturating_add(windows);
        controls = controls.saturating_add(flows.saturating_mul(bytes_on_heap(profile)));
        boards.push((bytes_a_segment(profile), windows));
    }
    let event = size_of::<(u128, u64)>();
    let ends = size_of::<Sender>() + size_of::<Receiver>();
    let per_flow = size_of::<Flow>() + size_of::<Application>() + size_of::<Snapshot>();
    let per_tcp = ends + per_flow + EVENTS_PER_FLOW * event;
    let per_udp = size_of::<Source>() + event;
    let measured = scenario.links.iter().filter(|link| link.aqm.is_some()).count() as u64;
    // The records of each flow where it arrives and at each measured queue; these grow by doubling too.
    let remembered = 2 * (size_of::<Last>() as u64 + measured * size_of::<FlowLosses>() as u64);
    let flows = tcp * (per_tcp as u64 + remembered) + udp * (per_udp as u64 + remembered);
    // No link holds more than all windows together, nor do all links. Each lane of a buffer has a ring, which may once
    // have held all that there is room for, if a flow is in it.
    let (mut packets, mut beside, mut views) = (0u64, 0u64, 0u64);
    for link in &scenario.links {
        let lanes = lanes(link);
        let used = lanes.min(tcp.saturating_add(udp)).max(1);
        let most = in_flight(link).min(outstanding);
        let others = (used - 1).saturating_mul(room_for(link)).min(outstanding - most);
        packets = packets.saturating_add(most);
        beside = beside.saturating_add(others);
        views += if lanes > 1 { lanes * per_lane() } else { 0 };
    }
    let under_way = under_way(scenario, tcp);
    let packets = packets.min(outstanding).min(under_way).saturating_add(beside);
    // A sender also remembers what was lost and what arrived beyond that.
    let on_board =
        |(bytes, windows): (u64, u64)| bytes.saturating_mul(windows.min(under_way.saturating_mul(2)));
    let boards = boards.into_iter().map(on_board).fold(0, u64::saturating_add);
    // Rings grow by doubling, and an empty one has a few places.
    let rings = (2 * slot() as u64).saturating_mul(packets.saturating_add(4 * scenario.links.len() as u64));
    // Of a traffic entry's waits at each measured queue, its delays, round trips, completions and sessions; of each
    // lane's waits.
    let lanes = scenario.links.iter().map(|link| link.lanes().len() as u64).sum::<u64>();
    let histograms = ((measured + 4) * scenario.traffic.len() as u64 + lanes) * HISTOGRAM;
    let rest = [flows, views, controls, boards, histograms, patterns, recorded(scenario, persistent)];
    rest.into_iter().fold(rings, u64::saturating_add)
}

/// The greatest likely number of packets in transit at once on all links, with `tcp` TCP flows.
///
/// TCP fills the narrowest links of its path, and sends as fast as segments are acknowledged from there, no faster: a link
/// hardly faster may have a queue too, since a sender in slow start sends twice the acknowledged amount. A link fed by
/// one that is no faster has none. Every flow may begin with a burst.
fn under_way(scenario: &Scenario, tcp: u64) -> u64 {
    let mut routes = Routes::new(scenario.nodes.len(), &scenario.links);
    // The longest round trip over each link that may have a queue.
    let mut rounds: Vec<Option<f64>> = vec![None; scenario.links.len()];
    let mut datagrams = 0.0;
    for traffic in &scenario.traffic {
        let (from, to) = (&traffic.from, &traffic.to);
        let (pairs, count) = (pairs(from.len(), to.len()), traffic.count as usize);
        let pairs = if matches!(traffic.kind, Kind::Short(..)) { pairs } else { pairs.min(count) };
        let mut longest = 0.0f64;
        for i in 0..pairs {
            let (from, to) = (from[i % from.len()], to[i % to.len()]);
            let starts = [routes.path(from, to), routes.path(to, from)];
            let [forward, reverse] = starts.map(|start| routes.links_from(start));
            let link = |&i: &u32| &scenario.links[i as usize];
            let round: f64 = forward.iter().chain(reverse).map(link).map(longest_delay).sum();
            longest = longest.max(round);
            let narrowest = forward.iter().map(link).map(slowest).fold(f64::INFINITY, f64::min);
            for (path, limit) in [(forward, 4.0 * narrowest), (reverse, narrowest)] {
                for &i in path.iter().filter(|i| slowest(link(i)) < limit) {
                    let known = &mut rounds[i as usize];
                    *known = Some(known.unwrap_or_default().max(round));
                }
            }
        }
        if let Kind::Udp(udp, _) = &traffic.kind {
            // Nothing slows it down before it comes to the narrowest link.
            let flying = 4.0 * udp.packets(traffic.packet_size, longest);
            datagrams += f64::from(traffic.count) * (BURST + flying);
        }
    }
    let feeders = routes.feeders();
    let has_a_queue = |i: usize| {
        feeders[i]
            .is_none_or(|feeder| fastest(&scenario.links[feeder as usize]) > slowest(&scenario.links[i]))
    };
    let queues = scenario.links.iter().zip(rounds).enumerate().filter(|&(i, _)| has_a_queue(i));
    let pipes: f64 = queues.filter_map(|(_, (link, round))| Some(holds(link, round?))).sum();
    (pipes + datagrams + BURST * tcp as f64) as u64
}

/// The greatest likely number of flows of an arrival process that are alive at once: few outlive their application by
/// more than the longest time-out.
fn alive(tcp: &Tcp, short: &Short, traffic: &Traffic, duration: Span) -> u64 {
    let lifetime = match &short.extent {
        Extent::Lifetime(law) => law.mean(),
        Extent::Size(_) => 0.0,
    };
    let active = traffic.stop.map_or(duration, |stop| stop.min(duration)).secs() - traffic.begin.secs();
    let seconds = (lifetime + tcp.max_rto.secs()).min(active.max(0.0));
    (seconds / short.interarrival.mean()).ceil() as u64
}

/// Bytes of the rates or arrivals that `count` flows of a kind look up.
fn held(pattern: &Udp, count: u64, duration: Span) -> u64 {
    match pattern {
        Udp::Trace(arrivals) => (arrivals.len() * size_of::<Arrival>()) as u64,
        Udp::Fgn { step, .. } => {
            let rates = duration.nanos().div_ceil(step.nanos());
            // While one flow's are drawn, there are two complex numbers for each, and half as many turns.
            8 * rates * count + 48 * rates.next_power_of_two()
        }
        _ => 0,
    }
}

/// A place in a ring, and the record of a packet until the fate of those before it is certain.
const fn slot() -> usize {
    size_of::<(u128, Packet, u64, Fate)>()
}

/// The number of lanes that share the buffer of a link.
fn lanes(link: &Link) -> u64 {
    let port = link.port(Span::ZERO);
    link.aqm.as_ref().map_or(1, |aqm| aqm.build(&port).lanes() as u64)
}

/// The bytes of a lane without its packets: an algorithm, its place in the round, a view, counters, an empty ring.
const fn per_lane() -> u64 {
    (size_of::<AnyAqm>() + size_of::<Lane>() + size_of::<Counts>() + 64) as u64
}

/// The most packets in a link's buffer.
fn room_for(link: &Link) -> u64 {
    match link.buffer {
        Limit::Packets(packets) => u64::from(packets),
        Limit::Bytes(bytes) => bytes / smallest(link.packet),
        Limit::BytesBefore(bytes) => bytes / smallest(link.packet) + 1,
    }
}

/// The most packets in a link's buffer and on its wire.
fn in_flight(link: &Link) -> u64 {
    holds(link, longest_delay(link)) as u64
}

/// The most packets in a link's buffer and sent in `seconds`.
fn holds(link: &Link, seconds: f64) -> f64 {
    room_for(link) as f64 + (fastest(link) * seconds / 8.0 / smallest(link.packet) as f64).floor()
}

/// The highest of a link's rates in bit/s.
fn fastest(link: &Link) -> f64 {
    link.changes.iter().map(|change| change.rate.bits()).fold(link.rate.bits(), f64::max)
}

/// The lowest of a link's rates in bit/s; at least 1, for a recorded rate may be 0.
fn slowest(link: &Link) -> f64 {
    link.changes.iter().map(|change| change.rate.bits()).fold(link.rate.bits(), f64::min).max(1.0)
}

/// The longest delay of a link in s.
fn longest_delay(link: &Link) -> f64 {
    link.delay.greatest().map_or_else(|| 10.0 * link.delay.mean(), Span::secs)
}

/// Acknowledgements may fill a buffer too, but not while data of this size comes: take half of it.
const fn smallest(packet: Bytes) -> u64 {
    let half = packet.0 / 2;
    if half < 40 { 40 } else { half }
}

/// Bytes of the recorded series and windows.
fn recorded(scenario: &Scenario, flows: u64) -> u64 {
    let samples = |step: Span| scenario.general.duration.nanos().div_ceil(step.nanos().max(1));
    let column = 8 * samples(scenario.series_step());
    let columns = |link: &Link| {
        link.aqm.as_ref().map_or(0, |aqm| 3 * (1 + aqm.signals().len()) + 5 + 8 * aqm.lanes().len())
    };
    // A `ping` has one more, its round-trip times.
    let by_class = 6 * column * scenario.traffic.len() as u64;
    let series = scenario.links.iter().map(|link| column * columns(link) as u64).sum::<u64>() + by_class;
    let windows = scenario
        .record
        .cwnd
        .map_or(0, |step| samples(step) * flows * size_of::<crate::simulation::WindowSample>() as u64);
    // Series are handed over as they are; windows once more, as columns.
    if scenario.record.series { series + 2 * windows } else { 2 * windows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Document;

    fn estimate(change: &str, to: &str) -> u64 {
        let text = "duration = \"100 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\n\
                    [[traffic]]\nname = \"x\"\ncount = 1000\ntcp = \"rfc5681:max_window=100\"\n";
        let document = Document::parse(&text.replace(change, to), "test").unwrap();
        memory_estimate(&document.check().unwrap())
    }

    #[test]
    fn memory_grows_with_flows_and_with_what_they_may_have_outstanding() {
        let small = estimate("", "");
        assert!((1_000_000..100_000_000).contains(&small), "{small}");
        assert!(
            estimate("count = 1000", "count = 100000") > small + 99_000 * 250,
            "a flow takes some 300 bytes"
        );
        let deep = estimate("100 packets", "1000000000 packets");
        let windows = 2 * 1000 * 100 * slot() as u64;
        assert!(deep <= small + windows, "no buffer holds more than all windows: {deep}, {small}");
        assert!(estimate("100 packets", "10 packets") <= small);
    }

    /// 100 000 flows over 10 Gbit/s between `hosts` hosts on either side.
    fn large(hosts: usize, traffic: &str) -> u64 {
        let delays = vec!["\"50 ms\""; hosts].join(", ");
        let text = format!(
            "duration = \"20 s\"\naqm = \"pi\"\n[dumbbell]\nrate = \"10 Gbit/s\"\nbuffer = \"100000 packets\"\n\
             access_rate = \"100 Gbit/s\"\nreceiver_delay = [{delays}]\n\
             [[traffic]]\nname = \"x\"\ncount = 100000\npacket_size = \"500 B\"\ntcp = \"rfc5681\"\n{traffic}"
        );
        memory_estimate(&Document::parse(&text, "large").unwrap().check().unwrap())
    }

    #[test]
    fn all_links_together_hold_no_more_than_the_narrow_ones_let_through() {
        let gb = 1_000_000_000;
        let few = large(5, "");
        assert!((100_000_000..gb).contains(&few), "{few}");
        let many = large(10_000, "");
        assert!(many < few + gb / 10, "{few} with 5 hosts, {many} with 10 000");
        // What does not slow down counts for itself, and does not lift the bound of the others.
        let more = large(
            5,
            "[[traffic]]\nname = \"y\"\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket_size = \"500 B\"\ncount = 10\n",
        );
        assert!(more > few && more < few + gb / 100, "{few}, {more}");
    }

    #[test]
    fn every_narrow_link_is_counted() {
        // Each host's own link is the narrowest of its path, and TCP fills its buffer.
        let with = |hosts: usize| {
            let delays = vec!["\"5 ms\""; hosts].join(", ");
            estimate(
                "[dumbbell]\nrate = \"10 Mbit/s\"",
                &format!(
                    "[dumbbell]\nrate = \"10 Gbit/s\"\naccess_rate = \"1 Mbit/s\"\nreceiver_delay = [{delays}]"
                ),
            )
        };
        // 5000 packets in each of the buffers, but no more than 100 000 in all windows.
        let (five, ten, all) = (with(5), with(10), with(100));
        let buffer = 2 * 5000 * slot() as u64;
        assert!(ten - five >= 5 * buffer && all <= ten + 20 * buffer, "{five}, {ten}, {all}");
    }

    #[test]
    fn memory_holds_the_rates_of_noise() {
        // 10 000 rates of 8 bytes for each flow, and a few packets.
        let noise = |count| {
            let entry =
                format!("[[traffic]]\nkind = \"fgn\"\nstep = \"10 ms\"\ncount = {count}\n[[traffic]]");
            estimate("[[traffic]]", &entry)
        };
        let more = noise(200) - noise(100);
        assert!((8_000_000..8_500_000).contains(&more), "{more}");
    }

    #[test]
    fn what_senders_and_controls_remember_is_counted() {
        let with = |tcp: &str| estimate("rfc5681:", tcp);
        let (sack, ledbat) = (with("sack:"), with("ledbat:"));
        assert!(ledbat > sack && ledbat < sack + 1000 * 200, "some delays a flow: {sack}, {ledbat}");
        let (reno, cubic) = (with("linux:congestion=reno,"), with("linux:"));
        assert!(reno > sack + 1000 * 100 * 32, "a record for each segment: {sack}, {reno}");
        assert!(cubic > reno && cubic < reno + 1000 * 200, "a few numbers a flow: {reno}, {cubic}");
    }

    #[test]
    fn what_every_measured_queue_remembers_of_each_flow_is_counted() {
        let with = |flows: u32, reverse: &str| {
            let tcp = "tcp = \"rfc5681:max_window=100\"\n";
            estimate(&format!("count = 1000\n{tcp}"), &format!("count = {flows}\n{tcp}{reverse}"))
        };
        let flows = |reverse: &str| with(100_000, reverse) - with(1000, reverse);
        let more = flows("[reverse_aqm]\nname = \"droptail\"\n") - flows("");
        assert!(more >= 99_000 * size_of::<FlowLosses>() as u64, "{more}");
    }

    #[test]
    fn lanes_are_counted_and_the_packets_that_each_may_have_held() {
        let with = |aqm: &str| estimate("[dumbbell]", &format!("aqm = \"{aqm}\"\n[dumbbell]"));
        let plain = with("fq:flows=1");
        let lanes = 65_536 * per_lane();
        let many = with("fq:flows=65536") - plain;
        // 1000 flows in a buffer of 100 packets; together they have 100 000 outstanding.
        let packets = 2 * 1000 * 100 * slot() as u64;
        assert!((lanes + packets * 9 / 10..=lanes + packets).contains(&many), "{many}, {lanes}, {packets}");
        let few = with("fq:flows=16") - plain;
        assert_eq!(few, 16 * per_lane() + 2 * 15 * 100 * slot() as u64);
    }

    #[test]
    fn memory_does_not_grow_with_simulated_time() {
        assert_eq!(estimate("100 s", "1000 s"), estimate("", ""));
    }

    #[test]
    fn flows_that_come_and_go_need_memory_by_how_many_are_alive() {
        let short = |rate: &str, duration: &str| {
            let text = format!(
                "duration = \"{duration}\"\n[dumbbell]\n[[traffic]]\nname = \"x\"\nkind = \"short\"\n\
                 arrival_rate = \"{rate}\"\nlifetime = \"1 s\"\ntcp = \"rfc5681:max_window=10\"\n"
            );
            memory_estimate(&Document::parse(&text, "test").unwrap().check().unwrap())
        };
        assert_eq!(short("100 /s", "100 s"), short("100 /s", "1000 s"));
        // A flow lasts up to 61 s: 6100 and 61 000 of them, of some 300 bytes.
        assert!(short("1000 /s", "100 s") > short("100 /s", "100 s") + 54_900 * 250);
    }
}
