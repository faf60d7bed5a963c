//! What is always measured at a queue: exact, over time, without samples.

use aqm::unit::{Span, Time};
use hdrhistogram::Histogram;

/// The longest delay that the histogram tells apart, in nanoseconds: as long as the longest run.
const LONGEST_DELAY: u64 = 10_000_000_000_000_000;
/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;

/// How long a queue had which length.
#[derive(Clone, Debug)]
pub(crate) struct Occupancy {
    length: usize,
    full: bool,
    since: Time,
    /// Nanoseconds at each length.
    held: Vec<u64>,
    /// Nanoseconds without room for another packet.
    full_ns: u64,
}

impl Occupancy {
    pub(crate) const fn new() -> Self {
        Self { length: 0, full: false, since: Time::ZERO, held: Vec::new(), full_ns: 0 }
    }

    /// The length is `length` from `now` on, and whether there is room for another packet.
    #[inline]
    pub(crate) fn change(&mut self, now: Time, length: usize, full: bool) {
        let held = (now - self.since).nanos();
        if self.held.len() <= self.length {
            self.held.resize(self.length + 1, 0);
        }
        self.held[self.length] += held;
        self.full_ns += if self.full { held } else { 0 };
        (self.length, self.full, self.since) = (length, full, now);
    }

    /// Starts over at `now` with the length as it is.
    pub(crate) fn reset(&mut self, now: Time) {
        self.held.fill(0);
        (self.full_ns, self.since) = (0, now);
    }

    /// Summary up to `now`, which must be the last change.
    pub(crate) fn summary(&self) -> Option<OccupancySummary> {
        let total: u64 = self.held.iter().sum();
        if total == 0 {
            return None;
        }
        let total = total as f64;
        let average = |f: &dyn Fn(f64) -> f64| -> f64 {
            self.held.iter().enumerate().map(|(length, &ns)| f(length as f64) * ns as f64).sum::<f64>()
                / total
        };
        let mean = average(&|q| q);
        Some(OccupancySummary {
            mean,
            std: average(&|q| (q - mean) * (q - mean)).sqrt(),
            mad: average(&|q| (q - mean).abs()),
            empty: self.held[0] as f64 / total,
            full: self.full_ns as f64 / total,
        })
    }
}

/// Time-weighted moments of a queue's length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct OccupancySummary {
    pub(crate) mean: f64,
    pub(crate) std: f64,
    pub(crate) mad: f64,
    pub(crate) empty: f64,
    pub(crate) full: f64,
}

/// How long packets waited or travelled, or flows took.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    histogram: Histogram<u64>,
    sum_ns: u128,
    max_ns: u64,
}

impl Delays {
    pub(crate) fn new() -> Self {
        let histogram =
            Histogram::new_with_bounds(1, LONGEST_DELAY, DIGITS).expect("constant bounds are valid");
        Self { histogram, sum_ns: 0, max_ns: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, delay: Span) {
        let ns = delay.nanos();
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
        self.histogram.saturating_record(ns);
    }

    pub(crate) fn reset(&mut self) {
        self.histogram.reset();
        (self.sum_ns, self.max_ns) = (0, 0);
    }

    /// Takes in the delays of another class.
    pub(crate) fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many were recorded.
    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Seconds; `None` if nothing was recorded.
    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.histogram.is_empty()).then(|| self.sum_ns as f64 / self.histogram.len() as f64 * 1e-9)
    }

    /// Seconds; `None` if nothing was recorded.
    pub(crate) fn max(&self) -> Option<f64> {
        (!self.histogram.is_empty()).then_some(self.max_ns as f64 * 1e-9)
    }

    /// Seconds, to three digits; `None` if nothing was recorded.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        let ns = self.histogram.value_at_quantile(q).min(self.max_ns);
        (!self.histogram.is_empty()).then_some(ns as f64 * 1e-9)
    }

    /// The percentiles 0, 1, ..., 100 in seconds, to three digits; none if nothing was recorded.
    pub(crate) fn percentiles(&self) -> Vec<f64> {
        (0..=100).filter_map(|percent| self.quantile(f64::from(percent) / 100.0)).collect()
    }
}

/// The first time from which the binned mean of a queue stays near its target for a while.
#[derive(Clone, Debug)]
pub(crate) struct Settling {
    low: f64,
    high: f64,
    bin: Span,
    /// How many bins in a row have to be near.
    hold: u64,
    bin_start: Time,
    /// Packet nanoseconds in this bin so far.
    area: f64,
    since: Time,
    length: f64,
    /// Bins in a row that were near.
    near: u64,
    settled: Option<Time>,
}

impl Settling {
    pub(crate) fn new(target: f64, response: &scenario::model::Response) -> Self {
        Self {
            low: target * (1.0 - response.band),
            high: target * (1.0 + response.band),
            bin: response.bin,
            hold: response.hold.nanos().div_ceil(response.bin.nanos()).max(1),
            bin_start: Time::ZERO,
            area: 0.0,
            since: Time::ZERO,
            length: 0.0,
            near: 0,
            settled: None,
        }
    }

    #[inline]
    pub(crate) fn change(&mut self, now: Time, length: usize) {
        if self.settled.is_some() {
            return;
        }
        while now >= self.bin_start + self.bin {
            self.close_bin();
        }
        self.area += self.length * (now - self.since).nanos() as f64;
        (self.since, self.length) = (now, length as f64);
    }

    fn close_bin(&mut self) {
        let end = self.bin_start + self.bin;
        let mean = (self.area + self.length * (end - self.since).nanos() as f64) / self.bin.nanos() as f64;
        self.near = if (self.low..=self.high).contains(&mean) { self.near + 1 } else { 0 };
        (self.bin_start, self.since, self.area) = (end, end, 0.0);
        if self.near >= self.hold && self.settled.is_none() {
            self.settled = Some(Time::from_nanos(end.nanos() - (self.bin * self.near).nanos()));
        }
    }

    /// Seconds from the start of the run; `None` if it never settled.
    pub(crate) fn settled(&self) -> Option<f64> {
        self.settled.map(Time::secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Response;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn occupancy_is_weighted_by_time() {
        // 0 packets for 2 s, 1 for 1 s, 3 (full) for 1 s: mean 1, variance (2 + 0 + 4)/4, mad (2 + 0 + 2)/4.
        let mut occupancy = Occupancy::new();
        occupancy.change(at(2000), 1, false);
        occupancy.change(at(3000), 3, true);
        occupancy.change(at(4000), 0, false);
        let summary = occupancy.summary().unwrap();
        let expected = OccupancySummary { mean: 1.0, std: 1.5f64.sqrt(), mad: 1.0, empty: 0.5, full: 0.25 };
        assert_eq!(summary, expected);
        occupancy.reset(at(4000));
        assert_eq!(occupancy.summary(), None);
    }

    #[test]
    fn delays_keep_mean_and_maximum_exact() {
        let mut delays = Delays::new();
        assert_eq!((delays.mean(), delays.max(), delays.quantile(0.5)), (None, None, None));
        for ms in 1..=100 {
            delays.record(Span::ms(ms));
        }
        assert_eq!(delays.mean(), Some(0.0505));
        assert!((delays.max().unwrap() - 0.1).abs() < 1e-12);
        assert!((delays.quantile(0.95).unwrap() - 0.095).abs() < 1e-4);
        let percentiles = delays.percentiles();
        assert_eq!(percentiles.len(), 101);
        // To three digits, and to a rank: whether 0.07 of 100 is the 7th or the 8th is up to rounding.
        for (found, ms) in percentiles.into_iter().zip(0u32..) {
            let (least, most) = (f64::from(ms.max(1)) * 0.999e-3, f64::from(ms + 1) * 1.001e-3);
            assert!((least..most).contains(&found), "{ms}: {found}");
        }
        assert_eq!((Delays::new().percentiles(), delays.count()), (Vec::new(), 100));
        let mut both = Delays::new();
        both.add(&delays);
        assert_eq!(both.mean(), delays.mean());
    }

    #[test]
    fn a_queue_settles_when_its_mean_stays_near() {
        let response = Response { hold: Span::s(3), ..Response::default() };
        let mut settling = Settling::new(100.0, &response);
        settling.change(at(500), 300); // bin 0: mean 150, too long
        settling.change(at(1000), 90); // bins 1 and 2: 90
        settling.change(at(3000), 10); // bin 3: 10
        settling.change(at(4000), 81); // bins 4 to 6: 81, near enough
        settling.change(at(6999), 81);
        assert_eq!(settling.settled(), None);
        settling.change(at(7000), 500);
        assert_eq!(settling.settled(), Some(4.0));
        settling.change(at(20_000), 0);
        assert_eq!(settling.settled(), Some(4.0), "what comes after does not undo it");
    }
}
