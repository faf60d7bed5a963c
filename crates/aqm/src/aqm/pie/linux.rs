//! The rules of Linux's PIE that differ from the RFC's (sch_pie.c of Linux 7.2).

use super::{Delay, Pie};
use crate::contract::{Backlog, Packet, Uniform, Verdict};
use crate::unit::Time;

impl Pie {
    /// Whether a packet of this size is marked or dropped once the allowance is spent (`pie_drop_early`).
    #[inline]
    pub(super) fn marks_or_drops_in_linux<R: Uniform>(
        &mut self,
        size: u32,
        queue: &Backlog,
        rng: &mut R,
    ) -> bool {
        // In Linux, each departure updates the delay that is checked here; the update of p only copies it.
        let delay = if self.params.delay == Delay::Timestamps { self.sojourn } else { self.delay };
        if self.is_short(delay) && self.p < 0.2 || (queue.bytes as f64) < 2.0 * self.mean {
            return false;
        }
        let p = self.params.of_size(self.p, f64::from(size), self.mean);
        self.sum = if p == 0.0 { 0.0 } else { self.sum + p };
        self.falls_due(p, rng)
    }

    /// The verdict on a packet to be marked or dropped (`pie_qdisc_enqueue`). A mark does not reset a sum that has reached
    /// its upper bound, so that the next packets are marked as well.
    pub(super) fn signal_in_linux(&mut self, packet: &Packet) -> Verdict {
        let verdict = Verdict::signal(self.params.ecn && packet.ect && self.p <= self.params.mark_ecnth);
        if verdict == Verdict::Drop || self.sum < super::SUM_HIGH {
            self.sum = 0.0;
        }
        verdict
    }

    /// Ages the allowance by the time since the last departure (`pie_process_dequeue`).
    pub(super) fn age_in_linux(&mut self, now: Time) {
        if let Some(before) = self.left.replace(now) {
            self.age(now.since(before));
        }
    }

    /// Restarts the allowance and the sum after two calm updates (`pie_vars_init`).
    pub(super) fn restart_in_linux(&mut self) {
        self.allowance = self.params.max_burst;
        self.sum = 0.0;
        self.left = None;
    }
}
