//! A table that distinguishes long flows from short ones.

use crate::hash::mix;
use crate::unit::{Span, Time};
use alloc::vec::Vec;

/// The index that stands for no entry.
const NONE: u32 = u32::MAX;

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    /// The time of its last packet.
    last: Time,
    packets: u32,
    /// The next entry of the same bucket.
    next: u32,
    /// Its neighbours in the order of last packets.
    older: u32,
    newer: u32,
}

/// Counts the packets of each flow, and classifies as long the flows that have sent more than `n` without a silence of
/// more than `t`.
///
/// The table has a fixed size. When it is full, a new flow replaces the one that has been silent longest, which starts
/// again from 0 if it returns. The cost of a packet does not depend on the number of flows, except for hash
/// collisions.
#[derive(Clone, Debug)]
pub(crate) struct Classifier {
    n: u32,
    t: Span,
    size: usize,
    entries: Vec<Entry>,
    /// The first entry of each bucket.
    buckets: Vec<u32>,
    oldest: u32,
    newest: u32,
    /// The flows that were new so far, and those of them that have become long.
    began: u64,
    turned: u64,
}

impl Classifier {
    /// A table for `size` flows, at least one.
    pub(crate) fn new(size: u32, n: u32, t: Span) -> Self {
        let size = size.max(1) as usize;
        Self {
            n,
            t,
            size,
            entries: Vec::with_capacity(size),
            buckets: vec![NONE; size.next_power_of_two()],
            oldest: NONE,
            newest: NONE,
            began: 0,
            turned: 0,
        }
    }

    /// Takes over the flows of `before`, if its table has the same size, and its counts.
    pub(crate) fn resume(&mut self, before: Self) {
        (self.began, self.turned) = before.counts();
        if self.size == before.size {
            *self = Self { n: self.n, t: self.t, ..before };
        }
    }

    /// The number of times that a flow was new, and the number of times that a new flow became long.
    pub(crate) const fn counts(&self) -> (u64, u64) {
        (self.began, self.turned)
    }

    /// Counts a packet of the flow `key`; returns whether the flow is now long.
    #[inline]
    pub(crate) fn is_long(&mut self, now: Time, key: u64) -> bool {
        let bucket = self.bucket(key);
        let mut found = self.buckets[bucket];
        while found != NONE && self.entries[found as usize].key != key {
            found = self.entries[found as usize].next;
        }
        if found == NONE {
            found = self.place();
            let next = core::mem::replace(&mut self.buckets[bucket], found);
            self.entries[found as usize] =
                Entry { key, last: now, packets: 0, next, older: NONE, newer: NONE };
        } else {
            self.unlink(found);
        }
        self.link(found);
        let entry = &mut self.entries[found as usize];
        if now.since(entry.last) > self.t {
            entry.packets = 0;
        }
        entry.last = now;
        entry.packets = entry.packets.saturating_add(1);
        self.began += u64::from(entry.packets == 1);
        let is_long = entry.packets > self.n;
        self.turned += u64::from(is_long && entry.packets - 1 == self.n);
        is_long
    }

    fn bucket(&self, key: u64) -> usize {
        mix(key, 0) as usize & (self.buckets.len() - 1)
    }

    /// The index for another entry: a new one, or that of the flow silent longest.
    fn place(&mut self) -> u32 {
        if self.entries.len() < self.size {
            let empty = Entry { key: 0, last: Time::ZERO, packets: 0, next: NONE, older: NONE, newer: NONE };
            self.entries.push(empty);
            return self.entries.len() as u32 - 1;
        }
        let gone = self.oldest;
        self.unlink(gone);
        let Entry { key, next, .. } = self.entries[gone as usize];
        let bucket = self.bucket(key);
        let mut before = self.buckets[bucket];
        if before == gone {
            self.buckets[bucket] = next;
        } else {
            while self.entries[before as usize].next != gone {
                before = self.entries[before as usize].next;
            }
            self.entries[before as usize].next = next;
        }
        gone
    }

    /// Removes an entry from the order of last packets.
    fn unlink(&mut self, at: u32) {
        let Entry { older, newer, .. } = self.entries[at as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
    }

    /// Appends an entry to that order.
    fn link(&mut self, at: u32) {
        let older = core::mem::replace(&mut self.newest, at);
        (self.entries[at as usize].older, self.entries[at as usize].newer) = (older, NONE);
        match older {
            NONE => self.oldest = at,
            older => self.entries[older as usize].newer = at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn a_flow_is_long_after_its_first_n_packets() {
        let mut flows = Classifier::new(8, 3, Span::s(10));
        let mut send = |key| flows.is_long(at(0), key);
        assert_eq!([send(1), send(1), send(2), send(1)], [false; 4]);
        assert_eq!([send(1), send(2), send(2), send(2)], [true, false, false, true]);
        assert!(Classifier::new(8, 0, Span::s(10)).is_long(at(0), 1), "none is short for 0 packets");
    }

    #[test]
    fn a_flow_that_was_silent_for_longer_than_t_is_new() {
        let mut flows = Classifier::new(8, 1, Span::s(10));
        let mut send = |ms| flows.is_long(at(ms), 7);
        assert_eq!([send(0), send(0), send(10_000)], [false, true, true]);
        assert_eq!([send(20_001), send(20_001)], [false, true]);
    }

    #[test]
    fn new_flows_and_those_that_become_long_are_counted_once() {
        let mut flows = Classifier::new(8, 2, Span::s(10));
        let mut send = |ms, key| {
            flows.is_long(at(ms), key);
            flows.counts()
        };
        assert_eq!([0, 1000, 2000, 3000].map(|ms| send(ms, 1)), [(1, 0), (1, 0), (1, 1), (1, 1)]);
        assert_eq!(send(20_000, 1), (2, 1));
        assert_eq!([send(21_000, 2), send(21_000, 2)], [(3, 1); 2]);
        let mut at_once = Classifier::new(8, 0, Span::s(10));
        at_once.is_long(at(0), 1);
        assert_eq!(at_once.counts(), (1, 1));
    }

    #[test]
    fn a_full_table_forgets_the_flow_silent_longest() {
        let mut flows = Classifier::new(3, 1, Span::s(10));
        let mut send = |key| flows.is_long(at(0), key);
        assert_eq!([1, 2, 3, 1, 2].map(&mut send), [false, false, false, true, true]);
        // 3 has been replaced; 1 and 2 are still in the table.
        assert_eq!([4, 1, 2].map(&mut send), [false, true, true]);
        assert_eq!([3, 1, 4].map(&mut send), [false, true, false]);
    }

    #[test]
    fn a_flood_of_new_flows_finds_no_more_room_and_hides_no_busy_flow() {
        let mut flows = Classifier::new(1000, 4, Span::s(10));
        let room = (flows.entries.capacity(), flows.buckets.len());
        for i in 0..1_000_000_u64 {
            assert!(!flows.is_long(at(i / 1000), 1 << 32 | i));
            // A flow that sends more often than the table is filled.
            if i % 999 == 0 {
                assert_eq!(flows.is_long(at(i / 1000), 5), i >= 4 * 999, "{i}");
            }
        }
        assert_eq!(room, (flows.entries.capacity(), flows.buckets.len()));
        assert_eq!(flows.entries.len(), 1000);
    }

    #[test]
    fn the_table_equals_a_plain_account() {
        let (n, t, size) = (5, Span::ms(40), 50);
        let mut flows = Classifier::new(size, n, t);
        let mut account: HashMap<u64, (u64, Time, u32)> = HashMap::new();
        let (mut state, mut forgotten, mut long) = (1_u64, 0, 0);
        for i in 0..200_000 {
            state = mix(state, i + 1);
            // Some flows send often, most seldom.
            let key = if state.is_multiple_of(3) { state >> 32 & 7 } else { state >> 32 & 127 };
            let now = at(i / 3);
            if !account.contains_key(&key) && account.len() == size as usize {
                let (&silent, _) = account.iter().min_by_key(|(_, (number, ..))| *number).unwrap();
                account.remove(&silent);
                forgotten += 1;
            }
            let (number, last, packets) = account.entry(key).or_insert((i, now, 0));
            let heard = if now.since(*last) > t { 0 } else { *packets };
            (*number, *last, *packets) = (i, now, heard + 1);
            assert_eq!(flows.is_long(now, key), heard >= n, "packet {i} of {key}");
            long += u32::from(heard >= n);
        }
        assert!(forgotten > 10_000 && (20_000..180_000).contains(&long), "{forgotten} {long}");
    }
}
