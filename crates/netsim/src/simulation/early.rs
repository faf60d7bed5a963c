//! Delivery before the time of arrival, where working ahead allows it (see [`crate::network::ahead`]).

use super::Simulation;
use crate::engine::order::{Order, time_of};
use crate::measure::probe::Probe;
use crate::network::ahead::Early;
use crate::packet::{Packet, PacketKind};

impl<P: Probe> Simulation<P> {
    /// Delivers what could not be delivered at once when it was sent.
    #[inline]
    pub(super) fn deliver_waiting<C: Order>(&mut self, clock: C) {
        let mut next = 0;
        while let Some(&(early, packet)) = self.network.early.get(next) {
            next += 1;
            self.deliver_early(clock, early, &packet);
        }
        if next > 0 {
            self.network.early.clear();
        }
    }

    /// A packet reaches, at a time to come, a receiver that answers at once.
    pub(super) fn deliver_early<C: Order>(&mut self, clock: C, early: Early, packet: &Packet) {
        let at = time_of(early.arrival);
        if at > self.network.end {
            return;
        }
        if P::CHECKS {
            self.network.ledger.on_delivered(packet);
        }
        let (now, arrival) = (clock.time(at), clock.event_time(early.arrival));
        if packet.is_data() {
            self.deliveries.on_packet(now, packet);
            if (packet.is_marked() || early.marked) && self.flow_log.is_some() {
                self.log_mark(packet);
            }
        }
        let warming = at < self.network.warmup;
        let index = packet.flow as usize;
        if packet.kind == PacketKind::Datagram {
            let source = &mut self.endpoints.sources[index];
            source.on_arrival(packet.payload(), warming);
            if let Some(reverse) = source.reverse {
                self.network.send(clock, arrival, &packet.reply(reverse));
            }
            return;
        }
        let (segment, ce) = packet.segment();
        let ce = ce || early.marked;
        if segment.content.is_syn() {
            self.endpoints.agree(packet.flow, &segment);
        }
        let flow = &self.endpoints.flows[index];
        let profile = &self.endpoints.profiles[usize::from(flow.profile)];
        let receiver = &mut self.endpoints.receivers[index];
        let header = flow.header(packet.flow, flow.reverse, profile.ack_size());
        receiver.on_segment(now, profile, &segment, ce, |ack| {
            self.network.send(clock, arrival, &Packet::ack(&ack, header));
        });
        if warming {
            self.endpoints.note_delivered(index);
        }
    }
}
