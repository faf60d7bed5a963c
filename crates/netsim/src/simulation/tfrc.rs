//! The flows of TFRC, whose ends act at their own times and when a packet comes.

use super::Simulation;
use crate::engine::event::Event;
use crate::engine::order::Order;
use crate::measure::probe::Probe;
use crate::packet::{Header, Packet};
use crate::tfrc::Report;
use crate::traffic::source::Does;
use scenario::model::Tfrc;

impl<P: Probe> Simulation<P> {
    /// Something may be due at the ends of a flow.
    #[cold]
    pub(super) fn on_event_of_ends<C: Order>(&mut self, clock: C, index: u32) {
        if self.endpoints.sources[index as usize].connection().is_some() {
            return self.on_stack_event(clock, index);
        }
        self.on_tfrc_event(clock, index);
    }

    /// A datagram has come to the end that receives data.
    #[cold]
    pub(super) fn on_datagram_of_ends<C: Order>(&mut self, clock: C, packet: &Packet) {
        let source = &mut self.endpoints.sources[packet.flow as usize];
        if source.connection().is_some() {
            return self.on_stack_datagram(clock, packet);
        }
        source.on_arrival(packet.payload(), false);
        self.on_tfrc_datagram(clock, packet);
    }

    fn on_tfrc_event<C: Order>(&mut self, clock: C, index: u32) {
        let now = self.now();
        let source = &mut self.endpoints.sources[index as usize];
        let (class, hop, ecn) = (source.class, source.forward, source.ecn);
        let active = (source.since..source.stop).contains(&now);
        let Some(ends) = source.ends_mut() else { return };
        ends.on_event(now, active);
        while let Some(ends) = self.endpoints.sources[index as usize].ends_mut()
            && let Some(does) = ends.act(now, active)
        {
            match does {
                Does::Sends(datagram) => {
                    let header = Header { flow: index, generation: 0, hop, class, size: ends.size() };
                    self.network.send_now(clock, &Packet::tfrc(&datagram, header, ecn));
                }
                Does::Reports(report) => self.send_report(clock, index, &report),
                Does::Nothing => {}
            }
        }
        self.plan_tfrc(index);
    }

    /// A datagram has come to its receiver.
    fn on_tfrc_datagram<C: Order>(&mut self, clock: C, packet: &Packet) {
        let now = self.now();
        let Some(ends) = self.endpoints.sources[packet.flow as usize].ends_mut() else { return };
        if let Some(report) = ends.on_datagram(now, packet.tfrc_datagram(), packet.is_marked()) {
            self.send_report(clock, packet.flow, &report);
        }
        self.plan_tfrc(packet.flow);
    }

    /// A report, or a datagram of a stack, has come to the sender.
    #[cold]
    pub(super) fn on_report<C: Order>(&mut self, clock: C, packet: &Packet) {
        if self.endpoints.sources[packet.flow as usize].connection().is_some() {
            return self.on_stack_datagram(clock, packet);
        }
        let now = self.now();
        let Some(ends) = self.endpoints.sources[packet.flow as usize].ends_mut() else { return };
        ends.on_report(now, &packet.tfrc_report());
        self.plan_tfrc(packet.flow);
        self.on_round_trip(packet);
    }

    fn send_report<C: Order>(&mut self, clock: C, index: u32, report: &Report) {
        let source = &self.endpoints.sources[index as usize];
        let (class, hop, size) = (source.class, source.reverse.expect("it reports"), Tfrc::REPORT as u16);
        let header = Header { flow: index, generation: 0, hop, class, size };
        self.network.send_now(clock, &Packet::report(report, header));
    }

    /// Puts the next time at which something is due on the event list.
    fn plan_tfrc(&mut self, index: u32) {
        let ends = self.endpoints.sources[index as usize].ends_mut();
        if let Some(next) = ends.and_then(|ends| ends.next_event()) {
            self.network.events.push(next, Event::Datagram(index));
        }
    }
}
