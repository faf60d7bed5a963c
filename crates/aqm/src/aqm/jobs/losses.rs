//! The choice of the class that loses a packet.

use super::shedding::{N, Shedding};
use super::{Jobs, Relief, bits};
use crate::discipline::Lane;

impl Jobs {
    /// Whether class `i` has a packet to lose, including the arrival, which is not in its lane yet.
    pub(super) fn waits(&self, i: usize, lanes: &[Lane]) -> bool {
        lanes[i].packets > 0 || self.arrival.is_some_and(|(own, _)| own == i)
    }

    /// The packet that class `i` would lose: its position, or `None` for the arrival, and its bits.
    pub(super) fn victim(&self, i: usize, lanes: &[Lane]) -> (Option<u32>, f64) {
        let (place, size) = match (lanes[i].head, self.arrival) {
            (Some(head), _) if self.drop_front => (Some(0), head.size),
            (_, Some((own, size))) if own == i => (None, size),
            _ => (Some(lanes[i].packets - 1), lanes[i].tail),
        };
        (place, bits(u64::from(size)))
    }

    /// The class that is next to lose a packet, among those that wait.
    pub(super) fn next_to_lose(&self, lanes: &[Lane]) -> Option<usize> {
        let weighted = |i: usize| {
            Some(self.classes[i].loss_weight? * self.classes[i].loss).filter(|_| self.waits(i, lanes))
        };
        let (sum, count) =
            (0..N).filter_map(weighted).fold((0.0, 0.0), |(sum, n), loss| (sum + loss, n + 1.0));
        let mut least = 0.0;
        let mut chosen = None;
        for i in 0..N {
            if let Some(loss) = weighted(i)
                && loss - sum / count <= least
            {
                (least, chosen) = (loss - sum / count, Some(i));
            }
        }
        if chosen.is_some_and(|i| self.classes[i].may_lose(self.victim(i, lanes).1)) {
            return chosen;
        }
        let mut waiting = (0..N).filter(|i| self.waits(*i, lanes));
        let spare = |i: usize| self.classes[i].most_lost - self.classes[i].loss;
        if self.ns2 { waiting.next_back() } else { waiting.max_by(|i, j| spare(*i).total_cmp(&spare(*j))) }
    }

    /// The class that loses a packet to a full buffer.
    pub(super) fn overflowing(&self, own: usize, size: u32, lanes: &[Lane]) -> usize {
        let class = &self.classes[own];
        if class.loss_weight.is_none() && class.may_lose(bits(u64::from(size))) {
            return own;
        }
        self.next_to_lose(lanes).unwrap_or(own)
    }

    /// Records the loss of a packet of class `i` with this many bits.
    pub(super) fn lose(&mut self, i: usize, lost: f64) {
        if self.ns2 {
            self.classes.iter_mut().for_each(|class| class.loss = class.loss_before);
        }
        let class = &mut self.classes[i];
        class.entered -= lost;
        class.loss = if self.ns2 { class.loss + lost / class.arrived } else { class.lost() };
    }

    /// The class whose packet is dropped next so that the others meet their delays.
    pub(super) fn next_to_shed(&self, shedding: &mut Shedding, lanes: &[Lane]) -> Option<usize> {
        let may_lose = |i: usize| self.classes[i].may_lose(self.victim(i, lanes).1);
        if self.relief == Relief::Shared {
            let class = self.next_to_lose(lanes).filter(|_| shedding.excess > 0.0)?;
            shedding.excess -= self.victim(class, lanes).1;
            return Some(class).filter(|i| may_lose(*i));
        }
        for (i, lane) in lanes.iter().enumerate() {
            let wanted = &shedding.wanted[i];
            let too_long = lane.packets > 0 && bits(lane.bytes) > wanted.left * wanted.rate;
            if !wanted.late || !too_long || shedding.stopped[i] {
                continue;
            }
            if may_lose(i) {
                return Some(i);
            }
            shedding.stopped = if self.ns2 { [true; N] } else { shedding.stopped };
            shedding.stopped[i] = true;
        }
        None
    }
}
