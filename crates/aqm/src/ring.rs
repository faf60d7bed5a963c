//! A first-in first-out queue whose capacity is a power of two: a position is computed by a mask, without a
//! comparison.

use alloc::vec::Vec;

/// Capacity of a ring that has grown once.
const FIRST_PLACES: usize = 4;

/// How far ahead of their use places are loaded into the cache, in bytes.
#[cfg(feature = "std")]
const FETCHED_AHEAD: usize = 1024;

/// A first-in first-out queue of small values. It doubles when it is full and never shrinks.
///
/// [`VecDeque`](std::collections::VecDeque) may have any capacity, and so compares at every step whether it is past
/// the end; and it distinguishes used and unused slots, while every slot of a ring holds a value.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Empty, or a power of two in length.
    places: Vec<T>,
    /// The number of values that have ever left at the front, and that have come at the back; masked, an index.
    head: usize,
    tail: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Ring<T> {
    /// An empty ring without an allocation.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: Vec::new(), head: 0, tail: 0 }
    }

    /// The number of values.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether the ring is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.tail == self.head
    }

    /// Removes all values, and keeps the allocation.
    #[inline]
    pub const fn clear(&mut self) {
        self.head = self.tail;
    }

    /// The index of the value that came as number `count`.
    #[inline]
    const fn place(&self, count: usize) -> usize {
        count & self.places.len().wrapping_sub(1)
    }

    /// Loads the place that will be used some values after number `count` into the cache: a long ring does not stay
    /// there.
    #[cfg(feature = "std")]
    #[inline]
    fn fetch(&self, count: usize) {
        let ahead = const { FETCHED_AHEAD / size_of::<T>().next_power_of_two() };
        prefetch_index::prefetch_index(&self.places, self.place(count.wrapping_add(ahead)));
    }

    #[cfg(not(feature = "std"))]
    const fn fetch(&self, _: usize) {}

    /// The value `i` positions behind the first.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> Option<&T> {
        if i < self.len() { self.places.get(self.place(self.head.wrapping_add(i))) } else { None }
    }

    /// The same, mutable.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        let place = self.place(self.head.wrapping_add(i));
        if i < self.len() { self.places.get_mut(place) } else { None }
    }

    /// The first value: the next to leave.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.head)) }
    }

    /// The first value, mutable.
    #[inline]
    #[must_use]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.get_mut(0)
    }

    /// The last value.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.tail.wrapping_sub(1))) }
    }

    /// The number of values before the first one without a property; as [`slice::partition_point`].
    #[must_use]
    pub fn partition_point(&self, mut has: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle) {
                Some(value) if has(value) => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// The last value, mutable.
    #[inline]
    #[must_use]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len().wrapping_sub(1))
    }

    /// The values, from the first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map(|i| &self.places[self.place(self.head.wrapping_add(i))])
    }
}

impl<T: Copy> Ring<T> {
    /// Adds a value at the back.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        if self.len() == self.places.len() {
            self.grow(value);
        }
        self.fetch(self.tail);
        let place = self.place(self.tail);
        self.places[place] = value;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Adds a slot at the back and returns it to be written; its content has no meaning. A large value that is built
    /// there is not copied.
    #[inline]
    pub fn push_place(&mut self) -> &mut T
    where
        T: Default,
    {
        if self.len() == self.places.len() {
            self.grow(T::default());
        }
        self.fetch(self.tail);
        let place = self.place(self.tail);
        self.tail = self.tail.wrapping_add(1);
        &mut self.places[place]
    }

    /// Removes the value at the front, if there is one.
    #[inline]
    pub fn drop_front(&mut self) {
        if !self.is_empty() {
            self.fetch(self.head);
            self.head = self.head.wrapping_add(1);
        }
    }

    /// Removes and returns the value at the front.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.head = self.head.wrapping_add(1);
        Some(value)
    }

    /// Inserts a value `i` positions behind the first; the values from there on move back.
    ///
    /// # Panics
    /// If there are fewer than `i` values.
    pub fn insert(&mut self, i: usize, value: T) {
        let len = self.len();
        assert!(i <= len, "place {i} of {len}");
        if len == self.places.len() {
            self.grow(value);
        }
        // The values at the nearer end move.
        if i < len / 2 {
            self.head = self.head.wrapping_sub(1);
            self.shift_forward(0, i);
        } else {
            self.tail = self.tail.wrapping_add(1);
            self.shift_back(i, len - i);
        }
        let place = self.place(self.head.wrapping_add(i));
        self.places[place] = value;
    }

    /// Removes and returns the value `i` positions behind the first; the values behind it close the gap.
    pub fn remove(&mut self, i: usize) -> Option<T> {
        let value = *self.get(i)?;
        // The gap moves to the nearer end.
        if i < self.len() / 2 {
            self.shift_back(0, i);
            self.head = self.head.wrapping_add(1);
        } else {
            self.shift_forward(i, self.len() - 1 - i);
            self.tail = self.tail.wrapping_sub(1);
        }
        Some(value)
    }

    /// Moves `many` values one position back, from `i` positions behind the first.
    fn shift_back(&mut self, i: usize, many: usize) {
        let [start, end] = [i, i + many].map(|i| self.place(self.head.wrapping_add(i)));
        if start <= end {
            self.places.copy_within(start..end, start + 1);
        } else {
            (i..i + many).rev().for_each(|i| self.copy(i, i + 1));
        }
    }

    /// Moves `many` values one position forward, to `i` positions behind the first.
    fn shift_forward(&mut self, i: usize, many: usize) {
        let [start, end] = [i, i + many].map(|i| self.place(self.head.wrapping_add(i)));
        if start <= end {
            self.places.copy_within(start + 1..=end, start);
        } else {
            (i..i + many).for_each(|i| self.copy(i + 1, i));
        }
    }

    /// Copies a value from one position to another.
    fn copy(&mut self, from: usize, to: usize) {
        let [from, to] = [from, to].map(|i| self.place(self.head.wrapping_add(i)));
        self.places[to] = self.places[from];
    }

    /// Doubles the capacity; unused slots hold `filler`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let len = self.len();
        let start = if len == 0 { 0 } else { self.place(self.head) };
        self.places.rotate_left(start);
        self.places.resize((2 * len).max(FIRST_PLACES), filler);
        (self.head, self.tail) = (0, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    /// The operations of a queue.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u8),
        Place(u8),
        Pop,
        Drop,
        Remove(usize),
        Change(usize, u8),
        Insert(usize, u8),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => any::<u8>().prop_map(Step::Push),
            4 => any::<u8>().prop_map(Step::Place),
            3 => Just(Step::Pop),
            2 => Just(Step::Drop),
            2 => (0usize..20).prop_map(Step::Remove),
            1 => (0usize..20, any::<u8>()).prop_map(|(i, value)| Step::Change(i, value)),
            2 => (0usize..20, any::<u8>()).prop_map(|(i, value)| Step::Insert(i, value)),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn a_ring_does_what_a_deque_does(steps in prop::collection::vec(step(), 0..400), start: usize) {
            // The counters may wrap.
            let mut ring = Ring { places: Vec::new(), head: start, tail: start };
            let mut deque = VecDeque::new();
            for step in steps {
                match step {
                    Step::Push(value) => {
                        ring.push_back(value);
                        deque.push_back(value);
                    }
                    Step::Place(value) => {
                        *ring.push_place() = value;
                        deque.push_back(value);
                    }
                    Step::Pop => prop_assert_eq!(ring.pop_front(), deque.pop_front()),
                    Step::Drop => {
                        ring.drop_front();
                        deque.pop_front();
                    }
                    Step::Remove(i) => prop_assert_eq!(ring.remove(i), deque.remove(i)),
                    Step::Change(i, value) => {
                        let old = [ring.get_mut(i), deque.get_mut(i)];
                        prop_assert_eq!(old[0].is_some(), old[1].is_some());
                        old.into_iter().flatten().for_each(|old| *old = value);
                    }
                    Step::Insert(i, value) => {
                        let i = i.min(deque.len());
                        ring.insert(i, value);
                        deque.insert(i, value);
                    }
                    Step::Clear => {
                        ring.clear();
                        deque.clear();
                    }
                }
                prop_assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
                prop_assert_eq!((ring.front(), ring.back()), (deque.front(), deque.back()));
                prop_assert_eq!(ring.front_mut(), deque.front_mut());
                prop_assert_eq!(ring.back_mut(), deque.back_mut());
                prop_assert_eq!(ring.get(deque.len()), None);
                prop_assert!(ring.iter().eq(&deque), "{:?} is not {:?}", ring, deque);
                prop_assert!((0..deque.len()).all(|i| ring.get(i) == deque.get(i)));
            }
        }
    }

    #[test]
    fn the_end_of_those_with_a_property_is_found_wherever_the_ring_begins() {
        let mut ring = Ring::new();
        for i in 0..100 {
            ring.push_back(i);
            if ring.len() > 7 {
                ring.pop_front();
            }
            let first = ring.front().copied().unwrap_or_default();
            for end in first..=i + 1 {
                assert_eq!(ring.partition_point(|&value| value < end), end - first);
            }
        }
    }

    #[test]
    fn a_ring_grows_only_when_it_is_full() {
        let mut ring = Ring::new();
        assert_eq!(ring.places.capacity(), 0);
        for i in 0..1000 {
            ring.push_back(i);
            if ring.len() > 4 {
                ring.pop_front();
            }
        }
        assert_eq!((ring.len(), ring.places.len()), (4, 8));
        (0..4).for_each(|i| ring.push_back(i));
        assert_eq!((ring.len(), ring.places.len()), (8, 8));
    }
}
