//! The hash that spreads flows over bins, and a table by flow.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What is kept of each flow; in the same order in every run.
pub(crate) type Flows<T> = HashMap<u64, T, BuildHasherDefault<Mixer>>;

/// SplitMix64's increment: the golden ratio, in units of 2^-64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// 64 bits that look random, the same for the same `key` and `salt`. For one salt, no two keys get the same.
///
/// It is SplitMix64's output function (Steele, Lea, Flood 2014) on the key, moved by the salt.
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
    fn another_salt_parts_flows_that_collide() {
        let collide =
            |salt: u64| (1..10_000_u64).filter(move |&flow| mix(flow, salt) % 64 == mix(0, salt) % 64);
        let with_both = collide(1).filter(|&flow| mix(flow, 2) % 64 == mix(0, 2) % 64).count();
        // 1 in 64 of 156.
        assert!((100..220).contains(&collide(1).count()) && with_both < 12, "{with_both}");
    }
}
