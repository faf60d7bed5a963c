//! How much memory a run needs, told before it is tried.

use crate::flow::{Flow, Source};
use crate::packet::Packet;
use crate::tcp::congestion::Control;
use crate::tcp::{Receiver, Sender};
use aqm::Bytes;
use aqm::unit::{Limit, Span};
use scenario::Scenario;
use scenario::model::Kind;

/// Events on the heap a flow: its timer, its delayed ACK, its start or stop.
const EVENTS_PER_FLOW: usize = 3;
/// Histogram of the delays of one traffic entry at one measured queue.
const HISTOGRAM: u64 = 400_000;

/// The most bytes that a run of this scenario should need.
#[must_use]
pub fn memory_estimate(scenario: &Scenario) -> u64 {
    let (mut tcp, mut udp, mut outstanding, mut controls) = (0u64, 0u64, 0u64, 0u64);
    let held = scenario.links.iter().map(in_flight).fold(0, u64::saturating_add);
    for traffic in &scenario.traffic {
        let count = u64::from(traffic.count);
        match &traffic.kind {
            Kind::Cbr(_) => {
                udp += count;
                outstanding = u64::MAX;
            }
            Kind::Ftp(profile) | Kind::Transfer(profile, _) => {
                tcp += count;
                let window = u64::from(profile.max_window);
                outstanding = outstanding.saturating_add(count * window);
                controls += count * Control::bytes(profile)
                    + Control::bytes_a_segment(profile) * (count * window).min(held.saturating_mul(2));
            }
        }
    }
    let event = size_of::<(u128, u64)>();
    let per_tcp = size_of::<Flow>() + size_of::<Sender>() + size_of::<Receiver>() + EVENTS_PER_FLOW * event;
    let per_udp = size_of::<Source>() + event;
    let flows = tcp * per_tcp as u64 + udp * per_udp as u64;
    // No link holds more than all windows together. Rings grow by doubling.
    let rings =
        scenario.links.iter().map(|link| 2 * in_flight(link).min(outstanding).saturating_mul(slot() as u64));
    let measured = scenario.links.iter().filter(|link| link.aqm.is_some()).count() as u64;
    let histograms = measured * scenario.traffic.len() as u64 * HISTOGRAM;
    rings.fold(flows + controls + histograms + recorded(scenario, tcp), u64::saturating_add)
}

/// A place in a ring.
const fn slot() -> usize {
    size_of::<(u128, Packet)>()
}

/// The most packets in a link's buffer and on its wire.
fn in_flight(link: &scenario::model::Link) -> u64 {
    let waiting = match link.buffer {
        Limit::Packets(packets) => u64::from(packets),
        Limit::Bytes(bytes) => bytes / smallest(link.packet),
    };
    let bits = link.rate.bits() * link.delay.secs();
    let flying = bits / 8.0 / smallest(link.packet) as f64;
    waiting + flying as u64
}

/// Acknowledgements may fill a buffer too, but not while data of this size comes: take half of it.
const fn smallest(packet: Bytes) -> u64 {
    let half = packet.0 / 2;
    if half < 40 { 40 } else { half }
}

/// Bytes of the recorded series and windows.
fn recorded(scenario: &Scenario, tcp: u64) -> u64 {
    let samples = |step: Span| scenario.general.duration.nanos().div_ceil(step.nanos().max(1));
    let column = 8 * samples(scenario.series_step());
    let columns =
        |link: &scenario::model::Link| link.aqm.as_ref().map_or(0, |aqm| 3 * (1 + aqm.signals().len()) + 2);
    let series = scenario.links.iter().map(|link| column * columns(link) as u64).sum::<u64>();
    let windows =
        scenario.record.cwnd.map_or(0, |step| samples(step) * tcp * size_of::<crate::WindowSample>() as u64);
    // Series are handed over as they are; windows once more, as columns.
    if scenario.record.series { series + 2 * windows } else { 2 * windows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Document;

    fn estimate(change: &str, to: &str) -> u64 {
        let text = "duration = \"100 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\n\
                    [[traffic]]\nname = \"x\"\ncount = 1000\ntcp = { max_window = 100 }\n";
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

    #[test]
    fn a_control_with_a_memory_is_counted() {
        let with =
            |tcp: &str| estimate("tcp = { max_window = 100 }", &format!("tcp = \"{tcp}:max_window=100\""));
        let (sack, cubic, bbr) = (with("sack"), with("cubic"), with("bbr"));
        assert!(cubic > sack && cubic < sack + 1000 * 100, "a few numbers a flow: {sack}, {cubic}");
        assert!(bbr > cubic + 1000 * 100 * 32, "a record for each segment: {bbr}");
    }

    #[test]
    fn memory_does_not_grow_with_simulated_time() {
        assert_eq!(estimate("100 s", "1000 s"), estimate("", ""));
    }
}
