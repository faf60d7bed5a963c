//! Other parameters for a CAKE at work (`cake_change`).

use super::{Cake, Tin};
use crate::aqm::cake::acks::Filter;
use crate::hash::keeps_queues;
use crate::unit::Time;

impl Cake {
    /// Whether the packets that wait may stay where they are. A flow whose tin is another now is in both for a while.
    pub(super) fn can_change(&self, before: &Self) -> bool {
        let records = |of: &Self| of.filter != Filter::Off;
        self.tins[0].flows.mode == before.tins[0].flows.mode
            && records(self) == records(before)
            && keeps_queues(self.salt, before.salt)
    }

    /// Takes over the state of `before`.
    pub(super) fn change(&mut self, now: Time, before: Self) {
        for (tin, before) in self.tins.iter_mut().zip(before.tins) {
            let Tin { flows, deficit, due, backlog, counts, .. } = before;
            (tin.flows, tin.deficit, tin.due) = (flows, deficit, due);
            (tin.backlog, tin.counts) = (backlog, counts);
        }
        (self.next, self.failsafe) = (before.next, before.failsafe);
        (self.current, self.waiting) = (before.current, before.waiting);
        (self.used, self.most_used) = (before.used, before.most_used);
        (self.lines, self.superfluous) = (before.lines, before.superfluous);
        (self.label, self.salt, self.dithers) = (before.label, before.salt, before.dithers);
        (self.after_drop, self.last) = (before.after_drop, before.last);
        match (&mut self.capacity, before.capacity) {
            (Some(capacity), Some(estimate)) => {
                *capacity = estimate;
                self.set_rate(before.rate);
            }
            (Some(capacity), None) => (capacity.last, capacity.begun) = (now, now),
            (None, _) => {}
        }
        if before.pace.is_unlimited() && !self.pace.is_unlimited() {
            // Otherwise a new shaper would let through what it could have sent since the start.
            (self.next, self.failsafe) = (self.next.max(now), self.failsafe.max(now));
            self.tins.iter_mut().for_each(|tin| tin.due = tin.due.max(now));
        }
    }
}
