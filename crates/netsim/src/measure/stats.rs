//! What is always measured at a queue: exact, over time, without samples.

use aqm::unit::{Limit, Span, Time};

/// The longest delay that is told apart, in nanoseconds: longer than any run.
const LONGEST_DELAY: u64 = (1 << 54) - 1;
/// Delays below 2^11 ns have a bin each; above, every power of two has 2^10 bins: three significant digits.
const EXACT_BITS: u32 = 11;
const BINS: usize = (54 - EXACT_BITS as usize + 2) << (EXACT_BITS - 1);

/// How long a queue had which length.
#[derive(Clone, Debug)]
pub(crate) struct Occupancy {
    length: usize,
    since: Time,
    /// Nanoseconds at each length.
    held: Vec<u64>,
    /// Packet nanoseconds from the start to the last change. It may wrap: only differences count.
    area: u64,
    full: Full,
}

/// How it is known how long there was no room for another packet.
#[derive(Clone, Copy, Debug)]
enum Full {
    /// That was whenever the queue had this length or a greater one.
    From(usize),
    /// It is told: whether there is none now, and for how many nanoseconds there was none before the last change.
    Told { now: bool, ns: u64 },
}

impl Occupancy {
    /// An empty queue with this limit, if there is one.
    pub(crate) const fn new(limit: Option<Limit>) -> Self {
        let full = match limit {
            None => Full::From(usize::MAX),
            Some(Limit::Packets(packets)) => Full::From(packets as usize),
            Some(Limit::Bytes(_) | Limit::BytesBefore(_)) => Full::Told { now: false, ns: 0 },
        };
        Self { length: 0, since: Time::ZERO, held: Vec::new(), area: 0, full }
    }

    /// The length is `length` from `now` on; `full` tells whether there is no room for another packet.
    #[inline]
    pub(crate) fn change(&mut self, now: Time, length: usize, full: impl FnOnce() -> bool) {
        let held = (now - self.since).nanos();
        match self.held.get_mut(self.length) {
            Some(before) => *before += held,
            None => self.hold(held),
        }
        self.area = self.area_until(now);
        if let Full::Told { now, ns } = &mut self.full {
            *ns += if *now { held } else { 0 };
            *now = full();
        }
        (self.length, self.since) = (length, now);
    }

    /// The queue is longer than ever before.
    #[cold]
    fn hold(&mut self, held: u64) {
        self.held.resize(self.length + 1, 0);
        self.held[self.length] = held;
    }

    /// Packet nanoseconds from the start to `now`, not before the last change.
    #[inline]
    const fn area_until(&self, now: Time) -> u64 {
        let held = now.nanos().wrapping_sub(self.since.nanos());
        self.area.wrapping_add(held.wrapping_mul(self.length as u64))
    }

    /// Starts over at `now` with the length as it is.
    pub(crate) fn reset(&mut self, now: Time) {
        self.held.fill(0);
        self.area = self.area_until(now);
        self.since = now;
        if let Full::Told { ns, .. } = &mut self.full {
            *ns = 0;
        }
    }

    /// Summary up to `now`, which must be the last change.
    pub(crate) fn summary(&self) -> Option<OccupancySummary> {
        let total: u64 = self.held.iter().sum();
        if total == 0 {
            return None;
        }
        let total = total as f64;
        let full_ns = match self.full {
            Full::From(limit) => self.held.iter().skip(limit).sum(),
            Full::Told { ns, .. } => ns,
        };
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
            full: full_ns as f64 / total,
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

/// How long packets waited or travelled, or flows took: a histogram whose bins widen with the delay.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    bins: Box<[u64]>,
    sum_ns: u128,
    max_ns: u64,
}

impl Delays {
    pub(crate) fn new() -> Self {
        Self { bins: vec![0; BINS].into(), sum_ns: 0, max_ns: 0 }
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
        *self = Self::new();
    }

    /// Takes in the delays of another class.
    pub(crate) fn add(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(count, other)| *count += other);
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many were recorded.
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

    /// Gives each of the percentiles; `None` if nothing was recorded.
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

/// The first time from which the binned mean of a queue stays near its target for a while.
#[derive(Clone, Debug)]
pub struct Settling {
    low: f64,
    high: f64,
    bin: Span,
    /// How many bins in a row have to be near.
    hold: u64,
    /// The end of this bin; never once it has settled, or where there is no target.
    due: Time,
    /// The queue's area at the start of this bin.
    area: u64,
    /// Bins in a row that were near.
    near: u64,
    settled: Option<Time>,
}

impl Settling {
    /// Nothing to find where there is no target.
    #[must_use]
    pub fn new(target: Option<f64>, response: &scenario::model::Response) -> Self {
        let aim = target.unwrap_or_default();
        Self {
            low: aim * (1.0 - response.band),
            high: aim * (1.0 + response.band),
            bin: response.bin,
            hold: response.hold.nanos().div_ceil(response.bin.nanos()).max(1),
            due: if target.is_some() { Time::ZERO + response.bin } else { Time::MAX },
            area: 0,
            near: 0,
            settled: None,
        }
    }

    /// Closes the bins that have ended, before the change of the queue's length at `now` is noted.
    #[inline]
    pub(crate) fn roll(&mut self, now: Time, queue: &Occupancy) {
        if now >= self.due {
            self.close_bins(now, queue);
        }
    }

    #[cold]
    fn close_bins(&mut self, now: Time, queue: &Occupancy) {
        while now >= self.due {
            self.close_bin(queue.area_until(self.due));
        }
    }

    fn close_bin(&mut self, area: u64) {
        let mean = area.wrapping_sub(self.area) as f64 / self.bin.nanos() as f64;
        self.area = area;
        self.close(mean);
    }

    /// The end of the present bin; the end of time once it has settled, or where there is no target.
    #[must_use]
    pub const fn due(&self) -> Time {
        self.due
    }

    /// Ends the present bin, over which the queue had this mean.
    pub fn close(&mut self, mean: f64) {
        self.near = if (self.low..=self.high).contains(&mean) { self.near + 1 } else { 0 };
        if self.near >= self.hold {
            self.settled = Some(Time::from_nanos(self.due.nanos() - (self.bin * self.near).nanos()));
            self.due = Time::MAX;
        } else {
            self.due += self.bin;
        }
    }

    /// Seconds from the start of the run; `None` if it never settled.
    #[must_use]
    pub fn settled(&self) -> Option<f64> {
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
        for limit in [Limit::Packets(3), Limit::Bytes(1700)] {
            let mut occupancy = Occupancy::new(Some(limit));
            occupancy.change(at(2000), 1, || false);
            occupancy.change(at(3000), 3, || true);
            occupancy.change(at(4000), 0, || false);
            let summary = occupancy.summary().unwrap();
            let (mean, std, mad, empty, full) = (1.0, 1.5f64.sqrt(), 1.0, 0.5, 0.25);
            assert_eq!(summary, OccupancySummary { mean, std, mad, empty, full }, "{limit:?}");
            occupancy.reset(at(4000));
            assert_eq!(occupancy.summary(), None);
            occupancy.change(at(5000), 2, || false);
            assert_eq!(occupancy.summary().unwrap().full, 0.0, "{limit:?}");
        }
    }

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
    }

    #[test]
    fn a_queue_settles_when_its_mean_stays_near() {
        let response = Response { hold: Span::s(3), ..Response::default() };
        let (mut queue, mut settling) = (Occupancy::new(None), Settling::new(Some(100.0), &response));
        let mut change = |ms, length| {
            settling.roll(at(ms), &queue);
            queue.change(at(ms), length, || false);
            settling.settled()
        };
        change(500, 300); // bin 0: mean 150, too long
        change(1000, 90); // bins 1 and 2: 90
        change(3000, 10); // bin 3: 10
        change(4000, 81); // bins 4 to 6: 81, near enough
        assert_eq!(change(6999, 81), None);
        assert_eq!(change(7000, 500), Some(4.0));
        assert_eq!(change(20_000, 0), Some(4.0), "what comes after does not undo it");
    }

    #[test]
    fn the_end_of_the_warm_up_does_not_disturb_the_search_for_the_response_time() {
        let response = Response { hold: Span::s(1), ..Response::default() };
        let (mut queue, mut settling) = (Occupancy::new(None), Settling::new(Some(100.0), &response));
        queue.change(at(0), 100, || false);
        queue.reset(at(700));
        settling.roll(at(1500), &queue);
        assert_eq!(settling.settled(), Some(0.0));
    }

    #[test]
    fn a_queue_without_a_target_never_settles() {
        let mut settling = Settling::new(None, &Response::default());
        settling.roll(at(1_000_000), &Occupancy::new(None));
        assert_eq!(settling.settled(), None);
    }
}
