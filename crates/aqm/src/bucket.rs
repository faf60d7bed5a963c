//! Token buckets in the arithmetic of Linux: tokens are nanoseconds of a rate.

use crate::unit::{Bytes, Rate, Span, Time};

/// How long bytes take at a rate (`psched_ratecfg_precompute__`, `psched_l2t_ns`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pace {
    factor: u32,
    shift: u32,
}

impl Pace {
    pub(crate) fn new(rate: Rate) -> Self {
        let bytes = (rate.whole_bits() / 8).max(1);
        let (mut factor, mut shift) = (1_000_000_000_u64, 0);
        loop {
            let quotient = (factor / bytes) as u32;
            if quotient >> 31 != 0 || factor >> 63 != 0 {
                return Self { factor: quotient, shift };
            }
            factor <<= 1;
            shift += 1;
        }
    }

    #[inline]
    pub(crate) const fn time(self, bytes: u64) -> i64 {
        ((bytes as u128 * self.factor as u128) >> self.shift) as i64
    }
}

/// One side of a bucket: a rate, and how much it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Side {
    pace: Pace,
    depth: i64,
    tokens: i64,
}

impl Side {
    /// A full one.
    pub(crate) fn new(rate: Rate, depth: Bytes) -> Self {
        let pace = Pace::new(rate);
        let depth = pace.time(depth.0);
        Self { pace, depth, tokens: depth }
    }

    /// Its tokens after `gap` and a packet of this length; less than none if they are missing.
    fn after(&self, gap: i64, length: u32) -> i64 {
        self.tokens.saturating_add(gap).min(self.depth).saturating_sub(self.pace.time(u64::from(length)))
    }

    /// Adds what comes in this time; returns the time for whose tokens there is no room.
    pub(crate) fn fill(&mut self, time: Span) -> Span {
        let whole = self.tokens.saturating_add(i64::try_from(time.nanos()).unwrap_or(i64::MAX));
        self.tokens = whole.min(self.depth);
        Span::ns((whole - self.tokens).unsigned_abs())
    }

    /// Takes the tokens for this length, if it has them.
    pub(crate) fn take(&mut self, length: u32) -> bool {
        let left = self.tokens.saturating_sub(self.pace.time(u64::from(length)));
        if left >= 0 {
            self.tokens = left;
        }
        left >= 0
    }

    /// Nanoseconds of tokens; less than none if they are owed.
    pub(crate) const fn tokens(&self) -> i64 {
        self.tokens
    }

    /// Adds what comes in this time, also more than there is room for.
    pub(crate) fn add(&mut self, time: i64) {
        self.tokens += time;
    }

    /// Takes the tokens for this length after this time, whether they are there or not, but never owes `most`.
    pub(crate) fn pay(&mut self, time: i64, length: u32, most: i64) {
        self.tokens = self.after(time, length).max(1 - most);
    }

    /// Takes over the tokens of another one, as far as it has room for them.
    pub(crate) fn resume(&mut self, before: &Self) {
        self.tokens = before.tokens.min(self.depth);
    }

    /// What comes in this time, in bytes.
    fn bytes(&self, time: i64) -> f64 {
        time as f64 / self.pace.time(1 << 20) as f64 * f64::from(1 << 20)
    }
}

/// A bucket of a rate, and perhaps one of a peak rate (`tbf_dequeue`, `tcf_police_act`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bucket {
    mean: Side,
    peak: Option<Side>,
    checked: Time,
}

impl Bucket {
    /// Full buckets.
    pub(crate) fn new(rate: Rate, burst: Bytes, peak: Option<(Rate, Bytes)>) -> Self {
        let peak = peak.map(|(rate, depth)| Side::new(rate, depth));
        Self { mean: Side::new(rate, burst), peak, checked: Time::ZERO }
    }

    fn after(&self, now: Time, length: u32) -> (i64, i64) {
        let gap = i64::try_from(now.since(self.checked).nanos()).unwrap_or(i64::MAX).min(self.mean.depth);
        (self.mean.after(gap, length), self.peak.map_or(0, |peak| peak.after(gap, length)))
    }

    /// How long it takes until a packet of this length may pass; zero if it may now.
    pub(crate) fn wait(&self, now: Time, length: u32) -> Span {
        let (mean, peak) = self.after(now, length);
        Span::ns(mean.min(peak).min(0).unsigned_abs())
    }

    /// Takes the tokens for a packet of this length, which may pass.
    pub(crate) fn take(&mut self, now: Time, length: u32) {
        let (mean, peak) = self.after(now, length);
        self.mean.tokens = mean;
        if let Some(side) = &mut self.peak {
            side.tokens = peak;
        }
        self.checked = now;
    }

    /// The bytes that may pass at once at `now`, as far as the mean rate allows it.
    pub(crate) fn bytes(&self, now: Time) -> f64 {
        self.mean.bytes(self.after(now, 0).0)
    }

    /// Takes over the tokens of another one, as far as it has room for them.
    pub(crate) fn resume(&mut self, before: &Self) {
        self.mean.resume(&before.mean);
        if let (Some(own), Some(before)) = (&mut self.peak, &before.peak) {
            own.resume(before);
        }
        self.checked = before.checked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_takes_its_time() {
        assert_eq!(Pace::new(Rate::mbit_per_s(10)).time(1514), 1_211_200);
        // A rate that is not a divisor of a second is rounded down, as the kernel does it.
        assert_eq!(Pace::new(Rate::mbit_per_s(3)).time(1514), 4_037_333);
        assert_eq!(Pace::new(Rate::bit_per_s(8)).time(64), 64_000_000_000);
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate() {
        let mut bucket = Bucket::new(Rate::mbit_per_s(8), Bytes(3000), None);
        let now = Time::ZERO;
        for _ in 0..3 {
            assert_eq!(bucket.wait(now, 1000), Span::ZERO);
            bucket.take(now, 1000);
        }
        assert_eq!(bucket.wait(now, 1000), Span::ms(1));
        assert_eq!(bucket.wait(now + Span::us(400), 1000), Span::us(600));
        bucket.take(now + Span::ms(1), 1000);
        // An hour fills it, and no more.
        assert_eq!(bucket.bytes(now + Span::s(3600)), 3000.0);
    }

    #[test]
    fn the_peak_rate_spreads_a_burst() {
        let peak = Some((Rate::mbit_per_s(80), Bytes(1000)));
        let mut bucket = Bucket::new(Rate::mbit_per_s(8), Bytes(3000), peak);
        bucket.take(Time::ZERO, 1000);
        assert_eq!(bucket.wait(Time::ZERO, 1000), Span::us(100));
        bucket.take(Time::ZERO + Span::us(100), 1000);
        bucket.take(Time::ZERO + Span::us(200), 1000);
        // 3200 bytes have been earned, 3000 of them are spent: then the mean rate rules.
        assert_eq!(bucket.wait(Time::ZERO + Span::us(200), 1000), Span::us(800));
    }
}
