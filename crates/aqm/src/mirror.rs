//! An algorithm's own record of each waiting packet.

use crate::contract::Port;
use alloc::collections::VecDeque;

/// A list with one entry per waiting packet, in their order.
///
/// The host may drop packets from the head to make room without notifying the algorithm: the owner of a mirror
/// therefore first calls [`Mirror::gone`] until it returns `None`.
#[derive(Clone, Debug)]
pub(crate) struct Mirror<T>(VecDeque<T>);

impl<T> Mirror<T> {
    /// An empty mirror with room for the port's buffer, if that is not too large.
    pub(crate) fn new(port: &Port) -> Self {
        Self(VecDeque::with_capacity(port.limit.packets(port.packet).min(65_536.0) as usize))
    }

    /// Takes over the entries of `before`.
    pub(crate) fn resume(&mut self, before: Self) {
        self.0.extend(before.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Records that a packet has joined.
    pub(crate) fn push(&mut self, entry: T) {
        self.0.push_back(entry);
    }

    /// Removes and returns the entry of a packet that has left, if there are more entries than the waiting `packets`.
    #[inline]
    pub(crate) fn gone(&mut self, packets: u32) -> Option<T> {
        if self.0.len() > packets as usize { self.0.pop_front() } else { None }
    }

    /// The entry of the packet at this position, 0 for the first to leave.
    pub(crate) fn at(&self, place: usize) -> &T {
        &self.0[place]
    }

    /// Records that the packet at this position has been removed.
    pub(crate) fn remove(&mut self, place: usize) {
        self.0.remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::PORT;

    #[test]
    fn it_finds_packets_that_have_left_at_the_head() {
        let mut mirror = Mirror::new(&PORT);
        (0..5).for_each(|entry| mirror.push(entry));
        mirror.remove(1);
        assert_eq!((mirror.at(0), mirror.at(1), mirror.len()), (&0, &2, 4));
        let gone: Vec<i32> = std::iter::from_fn(|| mirror.gone(2)).collect();
        assert_eq!(gone, [0, 2]);
        assert_eq!(mirror.gone(2), None);
    }
}
