//! When a queue has settled near its target.

use crate::measure::occupancy::Occupancy;
use aqm::unit::{Span, Time};

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
