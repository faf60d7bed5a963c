//! Random streams: one for every component that draws, derived from the seed and the component's name, so that
//! one component's draws never affect those of another.

use aqm::{Bytes, Uniform};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scenario::Distribution;
use scenario::Drawn;
use std::f64::consts::PI;

/// One component's random numbers.
#[derive(Clone, Debug)]
pub struct Stream(pub(crate) Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the component called `name` in the run with this seed.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the seed's bytes and the name: any two (seed, name) pairs give unrelated generators, and
        // the generator's own seeding spreads the 64 bits over its state.
        let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// A quantity drawn from its distribution.
    pub(crate) fn draw<T: Drawn>(&mut self, distribution: &Distribution<T>) -> T {
        match *distribution {
            Distribution::Fixed(x) => x,
            Distribution::Uniform(low, high) => {
                let (low, high) = (low.magnitude(), high.magnitude());
                T::of_magnitude(low + (high - low) * self.uniform())
            }
            // By inversion, with functions that are the same on every machine.
            Distribution::Exponential(mean) => {
                T::of_magnitude(-mean.magnitude() * libm::log(1.0 - self.uniform()))
            }
            Distribution::Pareto(mean, shape) => {
                let least = mean.magnitude() * (shape - 1.0) / shape;
                T::of_magnitude(least * libm::pow(1.0 - self.uniform(), -1.0 / shape))
            }
        }
    }

    /// Two independent values of the standard normal distribution (Box and Muller).
    pub(crate) fn gaussians(&mut self) -> (f64, f64) {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        let angle = 2.0 * PI * self.uniform();
        (radius * libm::cos(angle), radius * libm::sin(angle))
    }

    /// A number of payload bytes drawn from its distribution, at least one.
    pub(crate) fn draw_payload(&mut self, distribution: &Distribution<Bytes>) -> u64 {
        self.draw(distribution).0.max(1)
    }
}

impl Uniform for Stream {
    #[inline]
    fn uniform(&mut self) -> f64 {
        // The upper 53 bits fill a double's fraction.
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_and_by_name_and_repeat() {
        let first = |seed, name| Stream::new(seed, name).uniform();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn numbers_are_uniform() {
        let mut stream = Stream::new(1, "test");
        let mut bins = [0u32; 10];
        for _ in 0..100_000 {
            bins[(stream.uniform() * 10.0) as usize] += 1;
        }
        // Each bin: mean 10 000, standard deviation 95.
        assert!(bins.iter().all(|&n| n.abs_diff(10_000) < 500), "{bins:?}");
    }
}
