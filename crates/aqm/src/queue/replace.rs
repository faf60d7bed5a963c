//! Another algorithm, other parameters or another limit for a queue in use.

use super::{Counts, Frame, Outcome, Queue, Sent, Waiting};
use crate::algorithm::Algorithm;
use crate::contract::Uniform;
use crate::discipline::Lane;
use crate::ring::Ring;
use crate::unit::{Limit, Time};
use alloc::vec::Vec;

impl<T: Frame, D: Algorithm> Queue<T, D> {
    /// Sets another limit, before [`Queue::replace`] or [`Queue::retune`] with an algorithm for it: the packets that wait
    /// beyond it stay until then.
    pub const fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Changes the parameters of the algorithm to those of `algorithm`, which takes over its state. The packets that wait stay
    /// where they are, and all counters continue. If a limit has become too small for them, those that have waited
    /// longest are dropped, as `tc qdisc change` does, and go to `dropped`.
    ///
    /// If `algorithm` is another one, or cannot take over the state ([`Aqm::can_resume`](crate::Aqm::can_resume)), as with
    /// another number of lanes, this is [`Queue::replace`]. Returns whether it has taken over the state.
    pub fn retune<R: Uniform>(
        &mut self,
        now: Time,
        algorithm: D,
        rng: &mut R,
        mut dropped: impl FnMut(&Sent<T>, Outcome),
    ) -> bool {
        if !algorithm.can_resume(&self.algorithm) {
            self.replace(now, algorithm, rng, dropped);
            return false;
        }
        let before = core::mem::replace(&mut self.algorithm, algorithm);
        self.algorithm.resume(now, before);
        loop {
            let first =
                |lane: &usize| self.waiting[*lane].front().map_or(u64::MAX, |head| head.arrival.number());
            let lane = if self.fits() {
                self.algorithm.overfull(&self.lanes)
            } else {
                (0..self.waiting.len()).min_by_key(first)
            };
            let Some(lane) = lane else { break };
            let sent = self.drop_at(now, lane, 0, true);
            self.algorithm.on_trim(lane, sent.frame.packet().size, &self.lanes);
            dropped(&sent, Outcome::Overflowed);
        }
        true
    }

    /// Puts another algorithm, in its initial state, in place of the present one. The packets that wait come to it at
    /// once, in the order of their arrivals: it may mark or drop them, and those that it drops go to `dropped`, with the
    /// reason. They are not counted as arrivals again, and have waited since they came to the queue. The counters of the
    /// lanes start again.
    pub fn replace<R: Uniform>(
        &mut self,
        now: Time,
        algorithm: D,
        rng: &mut R,
        mut dropped: impl FnMut(&Sent<T>, Outcome),
    ) {
        let several = algorithm.several();
        let (lanes, several) = (several.unwrap_or(1), several.unwrap_or(0));
        let rings = core::mem::replace(&mut self.waiting, (0..lanes).map(|_| Ring::new()).collect());
        let mut waiting: Vec<Waiting<T>> = rings.iter().flat_map(Ring::iter).copied().collect();
        waiting.sort_by_key(|waiting| waiting.arrival.number());
        self.is_around = algorithm.has_limits_inside();
        self.algorithm = algorithm;
        (self.packets, self.bytes) = (0, 0);
        self.lanes = vec![Lane::default(); several];
        self.lane_counts = vec![Counts::default(); several];
        // The packets have their old numbers meanwhile, and what came before the window is counted afterwards.
        let (arrivals, window) = (self.arrivals, core::mem::take(&mut self.window));
        let mut earlier_drops = Vec::new();
        for before in waiting {
            let marks = self.counts[before.frame.row()].marks;
            self.reoffer(now, before, rng, &mut |sent: &Sent<T>, outcome| {
                earlier_drops.extend(Some(sent.frame.row()).filter(|_| sent.number < window));
                dropped(sent, outcome);
            });
            let counts = &mut self.counts[before.frame.row()];
            if before.arrival.number() < window {
                counts.earlier_marks += counts.marks - marks;
            }
        }
        earlier_drops.into_iter().for_each(|row| self.counts[row].earlier_drops += 1);
        (self.arrivals, self.window) = (arrivals, window);
    }

    /// Offers a packet that waited to another algorithm, as if it arrived now.
    fn reoffer<R: Uniform>(
        &mut self,
        now: Time,
        before: Waiting<T>,
        rng: &mut R,
        dropped: &mut impl FnMut(&Sent<T>, Outcome),
    ) {
        let (row, number) = (before.frame.row(), before.arrival.number());
        self.arrivals = number;
        let waited = |waiting: &Waiting<T>| waiting.arrival.number() == number;
        let (outcome, lane) = self.enqueue_or(now, before.frame, rng, &mut *dropped);
        self.counts[row].arrivals -= 1;
        self.counts[row].marks -= u64::from(outcome == Outcome::Marked && before.arrival.is_marked());
        match self.waiting[lane].back_mut().filter(|last| waited(last)) {
            Some(stored) => {
                stored.arrived = before.arrived;
                if before.arrival.is_marked() {
                    stored.arrival = before.arrival;
                }
                let head = self.waiting[lane].front().map(Waiting::head);
                if let Some(view) = self.lanes.get_mut(lane) {
                    view.head = head;
                }
            }
            None => {
                dropped(&Sent { frame: before.frame, number, lane, sojourn: now - before.arrived }, outcome)
            }
        }
    }
}
