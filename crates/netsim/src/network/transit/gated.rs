//! Packets at the gate of a link.

use super::{Network, Next};
use crate::engine::clock::{ClockArithmetic as _, SimTime};
use crate::engine::order::Order;
use crate::measure::probe::Probe;
use crate::network::fate::Lost;
use crate::network::gate::AtGate;
use crate::network::route::{Hop, Then};
use crate::packet::Packet;
use aqm::unit::Span;

impl<P: Probe> Network<P> {
    /// What becomes of a packet, which comes at `at`, at the gate of a link.
    #[inline(never)]
    pub(super) fn pass_gate(&mut self, link: usize, at: SimTime, packet: &Packet) -> AtGate {
        let at = self.events.clock.time(at);
        let passed = self.links[link].gate.as_mut().map_or(AtGate::Unchanged, |gate| gate.pass(at, packet));
        if let AtGate::Lost(cause) = passed {
            self.path_losses.note(at, packet);
            if P::CHECKS {
                let how = Lost { link, at, cause, waited: Span::ZERO };
                self.ledger.on_loss(packet, how);
            }
        }
        passed
    }

    /// A packet whose ECN field was cleared at the gate of a link enters that link, which does not work ahead, and is put
    /// down there.
    #[cold]
    pub(super) fn enter_cleared<C: Order>(
        &mut self,
        clock: C,
        coming: C::EventTime,
        since: SimTime,
        (hop, next): (Hop, u32),
        packet: &Packet,
    ) {
        let i = hop.link();
        if self.links[i].aqm_queue.as_ref().is_some_and(|aqm_queue| aqm_queue.access.is_some()) {
            self.enqueue_shared(clock, i, packet.at_hop(next, false));
        } else if hop.has_aqm() {
            self.enqueue(clock, i, packet.at_hop(next, false));
        } else if let Some(passage) = self.accept(clock, i, coming, packet) {
            let next = Next { hop: next, marked: false };
            match hop.then() {
                Then::Apart => self.wander(clock, i, since, passage, next, packet),
                _ => self.launch(clock, i, since, passage, next, packet),
            }
        }
    }
}
