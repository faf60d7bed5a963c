//! Packets on a link whose delay varies.

use super::{Network, Next};
use crate::engine::clock::{ClockArithmetic as _, SimSpan, SimTime};
use crate::engine::order::{Order, time_of};
use crate::measure::probe::Probe;
use crate::network::link::{Flight, Passage};
use crate::packet::Packet;

impl<P: Probe> Network<P> {
    /// Puts a packet, and perhaps a copy, on the line of a link whose delay varies, where its passage so far ends with its
    /// transmission; or puts it on the line of one that clears marks. On the integer clock it counts as under way from
    /// `since` on.
    #[inline(never)]
    pub(super) fn wander<C: Order>(
        &mut self,
        clock: C,
        i: usize,
        since: SimTime,
        passage: Passage<C::EventTime>,
        next: Next,
        packet: &Packet,
    ) {
        let Some(wander) = &mut self.links[i].wander else {
            let next = Next { marked: false, ..next };
            return self.launch(clock, i, since, passage, next, &packet.unmarked());
        };
        let mut packet = packet.at_hop(next.hop, next.marked);
        if wander.unmarks {
            packet = packet.unmarked();
        }
        let sent = passage.arrival.0;
        // As in netem, the copy is the first to be delayed.
        let copy = wander.copies_next().then(|| wander.arrival(C::CLOCK, sent));
        let own = wander.arrival(C::CLOCK, sent);
        if let Some(at) = copy {
            if P::CHECKS {
                self.ledger.on_copy(i, &packet);
            }
            self.put(clock, i, (since, passage.start, sent), at, packet);
        }
        self.put(clock, i, (since, passage.start, sent), own, packet);
    }

    /// Puts a packet, sent after `start`, that arrives at `at` on a link's line, behind those that arrive at that time or before.
    fn put<C: Order>(
        &mut self,
        clock: C,
        i: usize,
        (since, start, sent): (SimTime, C::EventTime, SimTime),
        at: SimTime,
        packet: Packet,
    ) {
        if let Some(aqm_queue) = &self.links[i].aqm_queue {
            let [sent, arrived] = [sent, at].map(|at| self.events.clock.time(at));
            self.probe.on_travel(aqm_queue.number, sent, arrived - sent);
        }
        let rank = clock.elapsed_rank(SimSpan::since(C::CLOCK, clock.at(start), at));
        let arrival = self.events.arrival_key(clock, since, start, rank, at);
        let link = &mut self.links[i];
        let place = link.line.partition_point(|flight| time_of(flight.arrival) <= at);
        link.line.insert(place, Flight { arrival, packet });
        if place == 0 {
            self.events.set(link.slot, arrival);
        }
    }
}
