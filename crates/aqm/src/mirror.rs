//! What an algorithm remembers of each packet that waits.

use crate::contract::Port;
use std::collections::VecDeque;

/// One entry for each packet that waits, in their order.
///
/// The host may take packets from the head without asking, to make room: so whoever keeps a mirror first calls
/// [`Mirror::gone`] until it is told of no more.
#[derive(Clone, Debug)]
pub(crate) struct Mirror<T>(VecDeque<T>);

impl<T> Mirror<T> {
    /// With room for the port's buffer, if that is not too large.
    pub(crate) fn new(port: &Port) -> Self {
        Self(VecDeque::with_capacity(port.limit.packets(port.packet).min(65_536.0) as usize))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A packet has joined.
    pub(crate) fn push(&mut self, entry: T) {
        self.0.push_back(entry);
    }

    /// The entry of a packet that is no longer among those that wait, now `packets`.
    #[inline]
    pub(crate) fn gone(&mut self, packets: u32) -> Option<T> {
        if self.0.len() > packets as usize { self.0.pop_front() } else { None }
    }

    /// The entry of the packet in this place, 0 for the first to leave.
    pub(crate) fn at(&self, place: usize) -> &T {
        &self.0[place]
    }

    /// The packet in this place has been taken out.
    pub(crate) fn remove(&mut self, place: usize) {
        self.0.remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::PORT;

    #[test]
    fn it_finds_out_what_has_gone_from_the_head() {
        let mut mirror = Mirror::new(&PORT);
        (0..5).for_each(|entry| mirror.push(entry));
        mirror.remove(1);
        assert_eq!((mirror.at(0), mirror.at(1), mirror.len()), (&0, &2, 4));
        let gone: Vec<i32> = std::iter::from_fn(|| mirror.gone(2)).collect();
        assert_eq!(gone, [0, 2]);
        assert_eq!(mirror.gone(2), None);
    }
}
