//! Statistics of deliveries: delays of packets, and completion times of transfers.

use crate::measure::delays::Delays;
use crate::packet::{Packet, PacketKind};
use aqm::unit::{Span, Time};
use prefetch_index::prefetch_index;

/// Delays of data packets and datagrams from sender to receiver, and of transfers from first to last.
#[derive(Debug)]
pub(crate) struct Deliveries {
    /// One row per class.
    pub(crate) classes: Vec<Delivery>,
    /// The last packet of each flow of TCP and of each of UDP.
    last: [Vec<Last>; 2],
    /// The time from which delays and jitter count.
    pub(crate) warmup: Time,
}

/// A flow's last packet: the number of its connection among those of the flow's slot, and its delay; [`NONE`] before
/// the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Last {
    generation: u16,
    delay: Span,
}

/// The statistics of the packets and flows of a class.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// From the sending of a segment or datagram to its arrival at the other end.
    pub(crate) delays: Delays,
    pub(crate) jitter: Jitter,
    /// From the sending of a segment to the arrival of the ACK that covers it, and from a request to its answer.
    pub(crate) round_trips: Delays,
    /// From the start of a flow to its last acknowledgement, over the whole run.
    pub(crate) completions: Delays,
    /// From first request to last byte of web sessions, over the whole run.
    pub(crate) sessions: Delays,
}

/// The absolute change of the delay from one packet of a flow to the next.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Jitter {
    changes_ns: u128,
    pairs: u64,
}

/// Longer than any packet travels.
const NONE: Span = Span::ns(u64::MAX);

impl Deliveries {
    pub(crate) fn new(classes: usize, warmup: Time) -> Self {
        let classes = (0..classes).map(|_| Delivery::new()).collect();
        Self { classes, last: [Vec::new(), Vec::new()], warmup }
    }

    /// Loads what [`Self::on_packet`] needs of a packet's flow into the cache.
    #[inline]
    pub(crate) fn fetch(&self, packet: &Packet) {
        if packet.is_data() {
            prefetch_index(
                &self.last[usize::from(packet.kind == PacketKind::Datagram)],
                packet.flow as usize,
            );
        }
    }

    /// A segment or datagram has reached its destination.
    #[inline]
    pub(crate) fn on_packet(&mut self, now: Time, packet: &Packet) {
        let delay = now - packet.stamp();
        let last = &mut self.last[usize::from(packet.kind == PacketKind::Datagram)];
        let flow = packet.flow as usize;
        if last.len() <= flow {
            grow(last, flow);
        }
        let this = Last { generation: packet.generation, delay };
        let before = std::mem::replace(&mut last[flow], this);
        if now < self.warmup {
            return;
        }
        let class = &mut self.classes[packet.class()];
        class.delays.record(delay);
        if before.generation == this.generation && before.delay != NONE {
            class.jitter.record(before.delay, delay);
        }
    }

    /// A flow has delivered all its data.
    pub(crate) fn on_completion(&mut self, class: u16, took: Span) {
        self.classes[usize::from(class)].completions.record(took);
    }

    /// A packet has made a round trip.
    #[inline]
    pub(crate) fn on_round_trip(&mut self, now: Time, class: usize, took: Span) {
        if now >= self.warmup {
            self.classes[class].round_trips.record(took);
        }
    }

    /// The packets of all classes together.
    pub(crate) fn all(&self) -> Delivery {
        let mut sum = Delivery::new();
        for class in &self.classes {
            sum.delays.add(&class.delays);
            sum.jitter.changes_ns += class.jitter.changes_ns;
            sum.jitter.pairs += class.jitter.pairs;
            sum.round_trips.add(&class.round_trips);
        }
        sum
    }
}

#[cold]
fn grow(last: &mut Vec<Last>, flow: usize) {
    last.resize(flow + 1, Last { generation: 0, delay: NONE });
}

impl Delivery {
    fn new() -> Self {
        Self {
            delays: Delays::new(),
            jitter: Jitter::default(),
            round_trips: Delays::new(),
            completions: Delays::new(),
            sessions: Delays::new(),
        }
    }
}

impl Jitter {
    #[inline]
    fn record(&mut self, before: Span, after: Span) {
        self.changes_ns += u128::from(before.nanos().abs_diff(after.nanos()));
        self.pairs += 1;
    }

    /// Mean absolute change in s; `None` if no flow had two packets.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.changes_ns as f64 / self.pairs as f64 * 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Header;
    use crate::tcp::{Content, Segment};
    use scenario::model::Ecn;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    fn datagram(sent: Time, flow: u32) -> Packet {
        Packet::datagram(sent, Header { flow, generation: 0, hop: 0, class: 1, size: 500 }, Ecn::None)
    }

    #[test]
    fn jitter_is_the_mean_change_from_a_flows_packet_to_its_next() {
        let mut deliveries = Deliveries::new(2, Time::ZERO);
        // Flow 0 takes 10, 14 and 11 ms, flow 1, of the same class, 50 ms twice: (4 + 3 + 0) / 3.
        for (sent, flow, delay) in [(0, 0, 10), (5, 1, 50), (20, 0, 14), (30, 1, 50), (40, 0, 11)] {
            deliveries.on_packet(at(sent + delay), &datagram(at(sent), flow));
        }
        let class = &deliveries.classes[1];
        assert!((class.jitter.mean().unwrap() - 7e-3 / 3.0).abs() < 1e-12);
        assert!((class.delays.mean().unwrap() - 0.027).abs() < 1e-12);
        assert_eq!((deliveries.classes[0].jitter.mean(), deliveries.classes[0].delays.mean()), (None, None));
        assert_eq!(deliveries.all().jitter.mean(), class.jitter.mean());
        let mut deliveries = Deliveries::new(2, at(100));
        deliveries.on_packet(at(51), &datagram(at(40), 0));
        assert_eq!(deliveries.all().delays.mean(), None);
        deliveries.on_packet(at(115), &datagram(at(100), 0));
        let class = &deliveries.classes[1];
        assert!((class.jitter.mean().unwrap() - 0.004).abs() < 1e-12, "from 11 ms before the warm-up's end");
    }

    #[test]
    fn the_next_user_of_a_slot_is_another_flow() {
        let mut deliveries = Deliveries::new(1, Time::ZERO);
        let segment = |generation, seq, sent| {
            let segment = Segment {
                seq,
                content: Content::Data,
                retransmission: false,
                cwr: false,
                ect: false,
                l4s: false,
                push: false,
                sent: at(sent),
            };
            Packet::data(&segment, Header { flow: 3, generation, hop: 0, class: 0, size: 500 })
        };
        for (generation, seq, sent, delay) in [(0, 1, 20, 30), (0, 2, 40, 31), (1, 1, 120, 50)] {
            deliveries.on_packet(at(sent + delay), &segment(generation, seq, sent));
        }
        let class = &deliveries.classes[0];
        assert!((class.jitter.mean().unwrap() - 1e-3).abs() < 1e-12);
        assert!((class.delays.mean().unwrap() - 0.037).abs() < 1e-12);
    }
}
