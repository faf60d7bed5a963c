//! A histogram of durations with three significant digits: waits and delays of packets, completion times of flows.

use aqm::unit::Span;

/// The longest delay that has a bin of its own, in nanoseconds: longer than any run.
const LONGEST_DELAY: u64 = (1 << 54) - 1;
/// Delays below 2^11 ns have a bin each; above, every power of two has 2^10 bins: three significant digits.
const EXACT_BITS: u32 = 11;
const BINS: usize = (54 - EXACT_BITS as usize + 2) << (EXACT_BITS - 1);

/// A histogram of durations, with bins that widen with the duration.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    bins: Box<[u64]>,
    sum_ns: u128,
    max_ns: u64,
    /// The sum of the delays before the last reset.
    earlier_ns: u128,
}

impl Delays {
    pub(crate) fn new() -> Self {
        Self { bins: vec![0; BINS].into(), sum_ns: 0, max_ns: 0, earlier_ns: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, delay: Span) {
        let ns = delay.nanos();
        let Some(count) = self.bins.get_mut(bin(ns)) else { return self.record(Span::ns(LONGEST_DELAY)) };
        *count += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { earlier_ns: self.total_ns(), ..Self::new() };
    }

    /// Adds the delays of another class.
    pub(crate) fn add(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(count, other)| *count += other);
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The sum of all delays, including those before a reset, in nanoseconds.
    pub(crate) const fn total_ns(&self) -> u128 {
        self.earlier_ns + self.sum_ns
    }

    /// The number of recorded delays.
    pub(crate) fn count(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// Seconds; `None` if nothing was recorded.
    pub(crate) fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64 * 1e-9)
    }

    /// Seconds; `None` if nothing was recorded.
    pub(crate) fn max(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.max_ns as f64 * 1e-9)
    }

    /// The percentiles 0, 1, ..., 100 in seconds, to three digits; none if nothing was recorded. That of p is the
    /// least delay that is not exceeded by at least p % of all.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        let count = self.count();
        let mut percentiles = Vec::with_capacity(101);
        let mut passed = 0;
        let used = &self.bins[..=bin(self.max_ns)];
        for (bin, &held) in used.iter().enumerate().filter(|&(_, &held)| held > 0) {
            passed += held;
            let seconds = longest(bin).min(self.max_ns) as f64 * 1e-9;
            while percentiles.len() <= 100 && (percentiles.len() as u64 * count).div_ceil(100) <= passed {
                percentiles.push(seconds);
            }
        }
        percentiles
    }

    /// Each of the percentiles; `None` if nothing was recorded.
    pub(crate) fn percentile(&self) -> impl Fn(usize) -> Option<f64> + use<> {
        let percentiles = self.percentiles();
        move |percent| percentiles.get(percent).copied()
    }
}

/// The bin of a delay.
#[inline]
const fn bin(ns: u64) -> usize {
    let shift = u64::BITS - EXACT_BITS - (ns | ((1 << EXACT_BITS) - 1)).leading_zeros();
    ((shift as usize) << (EXACT_BITS - 1)) + (ns >> shift) as usize
}

/// The longest delay of a bin.
const fn longest(bin: usize) -> u64 {
    let shift = (bin >> (EXACT_BITS - 1)).saturating_sub(1);
    ((bin as u64 + 1 - ((shift as u64) << (EXACT_BITS - 1))) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_follow_each_other_and_are_three_digits_wide() {
        let mut next = 0;
        for i in 0..BINS {
            assert_eq!((bin(next), bin(longest(i))), (i, i), "from {next} ns");
            assert!((longest(i) - next) * 1024 <= next, "bin {i} is too wide");
            next = longest(i) + 1;
        }
        assert_eq!(next, LONGEST_DELAY + 1);
    }

    #[test]
    fn delays_keep_mean_and_maximum_exact() {
        let mut delays = Delays::new();
        assert_eq!((delays.mean(), delays.max(), delays.percentile()(50)), (None, None, None));
        for ms in 1..=200 {
            delays.record(Span::ms(ms));
        }
        assert_eq!((delays.count(), delays.mean()), (200, Some(0.1005)));
        assert!((delays.max().unwrap() - 0.2).abs() < 1e-12);
        let percentiles = delays.percentiles();
        assert_eq!((percentiles.len(), Delays::new().percentiles().len()), (101, 0));
        for (percent, found) in percentiles.into_iter().enumerate() {
            let expected = 2e-3 * percent.max(1) as f64 - if percent == 0 { 1e-3 } else { 0.0 };
            assert!((expected..=1.001 * expected).contains(&found), "{percent}: {found}");
            assert_eq!(delays.percentile()(percent), Some(found));
        }
        let mut both = Delays::new();
        both.add(&delays);
        assert_eq!(both.mean(), delays.mean());
        delays.reset();
        delays.record(Span::ms(1));
        assert_eq!((delays.mean(), delays.total_ns()), (Some(1e-3), 20_101_000_000));
    }
}
