//! The hash that spreads flows over bins, and tables with an entry per flow.

use alloc::vec::Vec;
use core::hash::{BuildHasherDefault, Hasher};
use hashbrown::HashMap;

/// A table with an entry per flow. Its iteration order depends on the machine; that of [`Ordered`] does not.
pub(crate) type Flows<T> = HashMap<u64, T, BuildHasherDefault<Mixer>>;

/// A table with an entry per flow, in the order in which the flows came.
#[derive(Clone, Debug)]
pub(crate) struct Ordered<T> {
    flows: Vec<(u64, T)>,
    /// The index of each flow.
    places: Flows<u32>,
}

impl<T> Ordered<T> {
    /// An empty table with room for this many flows.
    pub(crate) fn new(size: u32) -> Self {
        let size = size as usize;
        Self {
            flows: Vec::with_capacity(size),
            places: Flows::with_capacity_and_hasher(size, Default::default()),
        }
    }

    /// Takes over the flows of `before`, also those for which there would be no room now.
    pub(crate) fn resume(&mut self, before: Self) {
        let Self { mut flows, mut places } = before;
        flows.reserve(self.flows.capacity().saturating_sub(flows.len()));
        places.reserve(self.places.capacity().saturating_sub(places.len()));
        *self = Self { flows, places };
    }

    pub(crate) const fn len(&self) -> usize {
        self.flows.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u64, T)> {
        self.flows.iter()
    }

    pub(crate) fn knows(&self, key: u64) -> bool {
        self.places.contains_key(&key)
    }

    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        let place = *self.places.get(&key)?;
        Some(&mut self.flows[place as usize].1)
    }

    /// The entry of this flow, which is created if there is none.
    pub(crate) fn get_or_insert_with(&mut self, key: u64, new: impl FnOnce() -> T) -> &mut T {
        let next = self.flows.len() as u32;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.flows.push((key, new()));
        }
        &mut self.flows[place as usize].1
    }

    /// Keeps the entries for which `keep` is true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        let before = self.flows.len();
        self.flows.retain_mut(|(_, flow)| keep(flow));
        if self.flows.len() < before {
            self.places.clear();
            self.places.extend((0..).zip(&self.flows).map(|(place, (key, _))| (*key, place)));
        }
    }
}

/// Whether flows keep their queues when the hash's seed `before` gives way to `seed`, if one is given.
pub(crate) fn keeps_queues(seed: Option<u64>, before: Option<u64>) -> bool {
    seed.is_none() || seed == before
}

/// SplitMix64's increment: the golden ratio, in units of 2^-64.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A pseudorandom number of 64 bits, determined by `key` and `salt`. With one salt, different keys give different
/// numbers.
///
/// It is SplitMix64's output function (Steele, Lea, Flood 2014) on the key, shifted by the salt.
#[inline]
#[must_use]
pub(crate) const fn mix(key: u64, salt: u64) -> u64 {
    let z = (key ^ finish(salt)).wrapping_add(GOLDEN);
    finish(z)
}

/// SplitMix64's output function, a bijection.
const fn finish(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// [`mix`], for tables of the standard library.
#[derive(Clone, Default, Debug)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.0 = mix(key, self.0);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_salt_it_is_splitmix64() {
        // The first output of the generator seeded with 0, and the one seeded with 1 234 567 (reference code).
        assert_eq!(mix(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(1_234_567, 0), 6_457_827_717_110_365_317);
    }

    #[test]
    fn neighbouring_flows_spread_evenly_whatever_the_salt() {
        for salt in [0, 1, 2, u64::MAX] {
            for shift in [0, 20, 60] {
                let mut bins = [0_u32; 16];
                for flow in 0..16_000 {
                    bins[(mix(flow, salt) >> shift) as usize % 16] += 1;
                }
                // 1000 expected, with a standard deviation of 31.
                assert!(bins.iter().all(|&n| (850..1150).contains(&n)), "salt {salt}: {bins:?}");
            }
        }
    }

    #[test]
    fn an_ordered_table_has_its_flows_in_the_order_in_which_they_came() {
        let mut table = Ordered::new(8);
        for key in [5, 3, 9, 3, 1, 7] {
            *table.get_or_insert_with(key, || 0) += 1;
        }
        assert_eq!(table.iter().copied().collect::<Vec<_>>(), [(5, 1), (3, 2), (9, 1), (1, 1), (7, 1)]);
        table.retain(|count| std::mem::replace(count, 8) == 1);
        table.get_or_insert_with(3, || 4);
        *table.get_mut(9).unwrap() = 6;
        assert_eq!(table.iter().copied().collect::<Vec<_>>(), [(5, 8), (9, 6), (1, 8), (7, 8), (3, 4)]);
        assert_eq!((table.len(), table.knows(3), table.knows(2), table.get_mut(2)), (5, true, false, None));
    }

    #[test]
    fn another_salt_parts_flows_that_collide() {
        let collide =
            |salt: u64| (1..10_000_u64).filter(move |&flow| mix(flow, salt) % 64 == mix(0, salt) % 64);
        let with_both = collide(1).filter(|&flow| mix(flow, 2) % 64 == mix(0, 2) % 64).count();
        // 1 in 64 of 156.
        assert!((100..220).contains(&collide(1).count()) && with_both < 12, "{with_both}");
    }
}
