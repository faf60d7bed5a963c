//! A histogram of durations with three significant digits: waits and delays of packets, completion times of flows.

use aqm::unit::Span;
use std::collections::BTreeMap;

/// The longest delay that has a bin of its own, in nanoseconds: longer than any run.
const LONGEST_DELAY: u64 = (1 << 54) - 1;
/// Delays below 2^11 ns have a bin each; above, every power of two has 2^10 bins: three significant digits.
const EXACT_BITS: u32 = 11;
/// The bins of a power of two, by which a histogram grows.
const OCTAVE: usize = 1 << (EXACT_BITS - 1);

/// A histogram of durations, with bins that widen with the duration.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// The number that the longest delay so far needs.
    bins: Vec<u64>,
    count: u64,
    sum_ns: u128,
    max_ns: u64,
    /// The sum of the delays before the last reset.
    earlier_ns: u128,
}

impl Delays {
    pub(crate) fn new() -> Self {
        Self { bins: Vec::new(), count: 0, sum_ns: 0, max_ns: 0, earlier_ns: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, delay: Span) {
        let ns = delay.nanos();
        let Some(count) = self.bins.get_mut(bin(ns)) else { return self.record_longer(ns) };
        *count += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Records a delay that has no bin yet.
    #[cold]
    #[inline(never)]
    fn record_longer(&mut self, ns: u64) {
        let ns = ns.min(LONGEST_DELAY);
        self.bins.resize((bin(ns) / OCTAVE + 1) * OCTAVE, 0);
        self.record(Span::ns(ns));
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { earlier_ns: self.total_ns(), ..Self::new() };
    }

    /// Adds the delays of another class.
    pub(crate) fn add(&mut self, other: &Self) {
        self.bins.resize(self.bins.len().max(other.bins.len()), 0);
        self.bins.iter_mut().zip(&other.bins).for_each(|(count, other)| *count += other);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The sum of all delays, including those before a reset, in nanoseconds.
    pub(crate) const fn total_ns(&self) -> u128 {
        self.earlier_ns + self.sum_ns
    }

    /// The number of recorded delays.
    pub(crate) const fn count(&self) -> u64 {
        self.count
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
        for (bin, held) in self.used() {
            passed += held;
            let seconds = self.seconds(bin);
            while percentiles.len() <= 100 && (percentiles.len() as u64 * count).div_ceil(100) <= passed {
                percentiles.push(seconds);
            }
        }
        percentiles
    }

    /// The least delay in s, to three digits, that is not exceeded by at least this share of all; `None` if nothing was
    /// recorded.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let most = (share * self.count() as f64).ceil() as u64;
        let mut passed = 0;
        let found = self.used().find(|&(_, held)| {
            passed += held;
            passed >= most
        });
        found.map(|(bin, _)| self.seconds(bin))
    }

    /// The share of delays longer than this quantile.
    pub(crate) fn beyond(&self, quantile: f64) -> f64 {
        let longer = self.used().filter(|&(bin, _)| self.seconds(bin) > quantile);
        longer.map(|(_, held)| held).sum::<u64>() as f64 / self.count().max(1) as f64
    }

    /// The mean in s, to three digits, of the shortest delays, of which this share of all is kept, at least one; `None`
    /// if nothing was recorded.
    pub(crate) fn trimmed_mean(&self, share: f64) -> Option<f64> {
        let keep = (share * self.count() as f64).ceil() as u64;
        let (mut sum, mut left) = (0.0, keep);
        for (bin, held) in self.used() {
            let taken = held.min(left);
            left -= taken;
            sum += taken as f64 * self.seconds(bin);
        }
        (keep > 0).then(|| sum / keep as f64)
    }

    /// The bins that are not empty, with the number of delays in each.
    fn used(&self) -> impl Iterator<Item = (usize, u64)> {
        self.bins.iter().copied().enumerate().filter(|&(_, held)| held > 0)
    }

    /// The delays of a bin in s, to three digits.
    fn seconds(&self, bin: usize) -> f64 {
        longest(bin).min(self.max_ns) as f64 * 1e-9
    }

    /// Each of the percentiles; `None` if nothing was recorded.
    pub(crate) fn percentile(&self) -> impl Fn(usize) -> Option<f64> + use<> {
        let percentiles = self.percentiles();
        move |percent| percentiles.get(percent).copied()
    }
}

/// The same of a few durations, in little memory: that of one flow.
#[derive(Clone, Default, Debug)]
pub(crate) struct Spread {
    bins: BTreeMap<u32, u64>,
    count: u64,
    sum_ns: u128,
    /// The shortest and the longest.
    ends_ns: Option<(u64, u64)>,
}

impl Spread {
    pub(crate) fn record(&mut self, delay: Span) {
        let ns = delay.nanos().min(LONGEST_DELAY);
        *self.bins.entry(bin(ns) as u32).or_default() += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        let (min, max) = self.ends_ns.unwrap_or((ns, ns));
        self.ends_ns = Some((min.min(ns), max.max(ns)));
    }

    pub(crate) fn min(&self) -> Option<f64> {
        self.ends_ns.map(|(min, _)| min as f64 * 1e-9)
    }

    pub(crate) fn max(&self) -> Option<f64> {
        self.ends_ns.map(|(_, max)| max as f64 * 1e-9)
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 * 1e-9)
    }

    /// See [`Delays::quantile`].
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let (_, max) = self.ends_ns?;
        let most = (share * self.count as f64).ceil() as u64;
        let mut passed = 0;
        let found = self.bins.iter().find(|&(_, held)| {
            passed += held;
            passed >= most
        });
        found.map(|(&bin, _)| longest(bin as usize).min(max) as f64 * 1e-9)
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
        for i in 0..=bin(LONGEST_DELAY) {
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
        let mut spread = Spread::default();
        (1..=200).for_each(|ms| spread.record(Span::ms(ms)));
        assert_eq!((spread.mean(), spread.min(), spread.max()), (delays.mean(), Some(1e-3), delays.max()));
        for share in [0.001, 0.5, 0.95, 0.999, 1.0] {
            assert_eq!(delays.quantile(share), spread.quantile(share));
        }
        assert_eq!(delays.quantile(0.95), delays.percentile()(95));
        let kept = delays.trimmed_mean(0.95).unwrap();
        assert!((0.0955..0.0956).contains(&kept), "of 1 to 190 ms: {kept}");
        assert_eq!(delays.beyond(delays.quantile(0.95).unwrap()), 0.05);
        assert_eq!((Delays::new().quantile(0.5), Delays::new().trimmed_mean(0.95)), (None, None));
        assert_eq!((Spread::default().quantile(0.5), Spread::default().min()), (None, None));
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
