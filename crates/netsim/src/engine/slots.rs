//! The keys of what has at most one event pending, each in its own slot, and the earliest of them.
//!
//! If there are few slots, they are a tournament: a change replays the games from a leaf to the root, which takes no branch.
//! If there are many, most are empty at any time, and the others are on a heap, whose first is replaced in place.

use crate::engine::order::{Key, NEVER, SLOT_BITS};

pub(super) const SLOT_MASK: Key = (1 << SLOT_BITS) - 1;

/// The greatest number of slots that a tournament has.
const MOST_LEAVES: usize = 64;

/// The keys of all slots; the lowest bits of each are the number of its slot, from 1.
#[derive(Debug)]
pub(super) struct Slots {
    /// A tournament: `tree[i]` is the earlier of `tree[2 i]` and `tree[2 i + 1]`; the leaves are the slots. On a heap there
    /// is only `tree[1]`, the earliest key.
    tree: Vec<Key>,
    /// A heap of the keys that are not [`NEVER`].
    heap: Vec<Key>,
    /// Of each slot, one more than the place of its key on the heap; 0 if it has none there.
    places: Vec<u32>,
}

/// Enters `earliest` at a leaf of the tournament, and replays all games up to the root.
#[inline]
fn climb<const PLACES: usize>(tree: &mut [Key; PLACES], slot: usize, mut earliest: Key) {
    let mut node = PLACES / 2 + slot;
    tree[node % PLACES] = earliest;
    for _ in 1..PLACES.ilog2() {
        earliest = play(earliest, tree[(node ^ 1) % PLACES]);
        node /= 2;
        tree[node % PLACES] = earliest;
    }
}

/// The earlier of two: a conditional move, not a branch that would be mispredicted (see `.cargo/config.toml`).
#[inline]
fn play(a: Key, b: Key) -> Key {
    if b < a { b } else { a }
}

/// The slot of a key.
#[inline]
pub(super) const fn slot(key: Key) -> usize {
    (key & SLOT_MASK) as usize - 1
}

impl Slots {
    /// This many slots, all empty.
    pub(super) fn new(slots: usize) -> Self {
        assert!(slots < 1 << SLOT_BITS, "a scenario has fewer links than this");
        let many = slots > MOST_LEAVES;
        let leaves = if many { 1 } else { slots.next_power_of_two() };
        Self {
            tree: vec![NEVER; 2 * leaves],
            heap: Vec::new(),
            places: if many { vec![0; slots] } else { Vec::new() },
        }
    }

    /// The earliest key; [`NEVER`] if all slots are empty.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.tree[1]
    }

    /// Puts `key` in a slot; [`NEVER`] empties it.
    #[inline(always)]
    pub(super) fn set(&mut self, slot: usize, key: Key) {
        let key = key | (slot as Key + 1);
        // Where the number of places is known, the climb has no loop and no check of an index.
        match <&mut [Key; 32]>::try_from(&mut *self.tree) {
            Ok(tree) => climb(tree, slot, key),
            Err(_) => self.set_more(slot, key),
        }
    }

    /// The same for other numbers of slots.
    #[inline(never)]
    fn set_more(&mut self, slot: usize, key: Key) {
        if !self.places.is_empty() {
            return self.set_on_heap(slot, key);
        }
        if let Ok(tree) = <&mut [Key; 64]>::try_from(&mut *self.tree) {
            return climb(tree, slot, key);
        }
        let mut earliest = key;
        let mut node = self.tree.len() / 2 + slot;
        self.tree[node] = earliest;
        while node > 1 {
            earliest = play(earliest, self.tree[node ^ 1]);
            node /= 2;
            self.tree[node] = earliest;
        }
    }

    fn set_on_heap(&mut self, slot: usize, key: Key) {
        let place = self.places[slot] as usize;
        match (place, key) {
            (0, NEVER) => return,
            (0, key) => {
                self.heap.push(key);
                self.rise(self.heap.len() - 1, key);
            }
            (place, NEVER) => {
                self.places[slot] = 0;
                let last = self.heap.pop().expect("a key has this place");
                if place <= self.heap.len() {
                    self.settle(place - 1, last);
                }
            }
            (place, key) => self.settle(place - 1, key),
        }
        self.tree[1] = self.heap.first().copied().unwrap_or(NEVER);
    }

    fn put(&mut self, place: usize, key: Key) {
        self.heap[place] = key;
        self.places[slot(key)] = place as u32 + 1;
    }

    /// Finds the place for a key that takes that of another, at `place`.
    fn settle(&mut self, place: usize, key: Key) {
        if place > 0 && key < self.heap[(place - 1) / 2] {
            self.rise(place, key)
        } else {
            self.sink(place, key)
        }
    }

    fn rise(&mut self, mut place: usize, key: Key) {
        while place > 0 {
            let parent = (place - 1) / 2;
            let above = self.heap[parent];
            if above <= key {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, key);
    }

    fn sink(&mut self, mut place: usize, key: Key) {
        while let Some(&left) = self.heap.get(2 * place + 1) {
            let right = self.heap.get(2 * place + 2).copied().unwrap_or(NEVER);
            let below = play(left, right);
            if key <= below {
                break;
            }
            self.put(place, below);
            place = 2 * place + 1 + usize::from(right < left);
        }
        self.put(place, key);
    }

    /// The keys of the slots that are not empty.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        let leaves = if self.places.is_empty() { &self.tree[self.tree.len() / 2..] } else { &self.heap };
        leaves.iter().copied().filter(|&key| key < NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a sorted map, for numbers of slots below and above that of a tournament.
        #[test]
        fn the_earliest_of_all_slots_is_first(
            slots in prop::sample::select(vec![1usize, 3, 16, 17, 33, 64, 65, 200]),
            changes in prop::collection::vec((any::<prop::sample::Index>(), prop::option::weighted(0.7, 0u64..50)), 1..300),
        ) {
            let (mut tested, mut sorted) = (Slots::new(slots), BTreeMap::new());
            for (slot, at) in changes {
                let slot = slot.index(slots);
                match at {
                    Some(at) => {
                        tested.set(slot, Key::from(at) << 64);
                        sorted.insert(slot, (at, slot));
                    }
                    None => {
                        tested.set(slot, NEVER);
                        sorted.remove(&slot);
                    }
                }
                let first = Some(tested.first()).filter(|&key| key < NEVER);
                let found = first.map(|key| ((key >> 64) as u64, super::slot(key)));
                prop_assert_eq!(found, sorted.values().min().copied());
                let mut all: Vec<_> = tested.keys().map(super::slot).collect();
                all.sort_unstable();
                prop_assert_eq!(all, sorted.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
