//! The length of a queue over time: exact, without samples.

use aqm::unit::{Limit, Time};

/// The time that a queue had each length.
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

/// The measurement of the time without room for another packet.
#[derive(Clone, Copy, Debug)]
enum Full {
    /// The time at this length or above.
    From(usize),
    /// The caller reports whether the buffer is full: whether it is now, and for how many nanoseconds it was before the
    /// last change.
    Reported { now: bool, ns: u64 },
}

impl Occupancy {
    /// An empty queue with this limit, if there is one.
    pub(crate) const fn new(limit: Option<Limit>) -> Self {
        let full = match limit {
            None => Full::From(usize::MAX),
            Some(Limit::Packets(packets)) => Full::From(packets as usize),
            Some(Limit::Bytes(_) | Limit::BytesBefore(_)) => Full::Reported { now: false, ns: 0 },
        };
        Self { length: 0, since: Time::ZERO, held: Vec::new(), area: 0, full }
    }

    /// The queue has another limit from `now` on, at which it `is_full` or not.
    pub(crate) fn change_limit(&mut self, now: Time, is_full: bool) {
        if let Full::From(limit) = self.full {
            let ns = self.held.iter().skip(limit).sum();
            self.full = Full::Reported { now: self.length >= limit, ns };
        }
        self.change(now, self.length, || is_full);
    }

    /// The length is `length` from `now` on; `full` returns whether there is no room for another packet.
    #[inline]
    pub(crate) fn change(&mut self, now: Time, length: usize, full: impl FnOnce() -> bool) {
        let held = (now - self.since).nanos();
        match self.held.get_mut(self.length) {
            Some(before) => *before += held,
            None => self.hold(held),
        }
        self.area = self.area_until(now);
        if let Full::Reported { now, ns } = &mut self.full {
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

    /// The time of the last change.
    pub(crate) const fn since(&self) -> Time {
        self.since
    }

    /// Packet nanoseconds from the start to `now`, not before the last change.
    #[inline]
    pub(crate) const fn area_until(&self, now: Time) -> u64 {
        let held = now.nanos().wrapping_sub(self.since.nanos());
        self.area.wrapping_add(held.wrapping_mul(self.length as u64))
    }

    /// Starts over at `now` with the length as it is.
    pub(crate) fn reset(&mut self, now: Time) {
        self.held.fill(0);
        self.area = self.area_until(now);
        self.since = now;
        if let Full::Reported { ns, .. } = &mut self.full {
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
            Full::Reported { ns, .. } => ns,
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

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn time_counts_as_full_by_the_limit_of_its_time() {
        let at = |s| Time::ZERO + Span::s(s);
        let mut occupancy = Occupancy::new(Some(Limit::Packets(3)));
        occupancy.change(at(1), 3, || true);
        occupancy.change(at(2), 2, || false);
        // 2 packets fill the new buffer, and 1 does not.
        occupancy.change_limit(at(4), true);
        occupancy.change(at(7), 1, || false);
        occupancy.change(at(8), 1, || false);
        assert_eq!(occupancy.summary().unwrap().full, 0.5, "1 s of 3 packets and 3 s of 2, of 8 s");
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
}
