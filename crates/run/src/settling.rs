//! The response time: when a queue has settled near its target.

use aqm::unit::{Span, Time};
use scenario::model::Response;

/// The search for the first time from which the mean queue of each bin stays near the target for a while. The engine
/// closes each bin when it is due.
#[derive(Clone, Debug)]
pub struct Settling {
    low: f64,
    high: f64,
    bin: Span,
    /// The number of consecutive bins that must be near the target.
    hold: u64,
    /// The end of the present bin; the end of time once the queue has settled, or without a target.
    due: Time,
    /// The consecutive bins so far that were near the target.
    near: u64,
    settled: Option<Time>,
}

impl Settling {
    /// A search that finds nothing if there is no target.
    #[must_use]
    pub fn new(target: Option<f64>, response: &Response) -> Self {
        let aim = target.unwrap_or_default();
        Self {
            low: aim * (1.0 - response.band),
            high: aim * (1.0 + response.band),
            bin: response.bin,
            hold: response.hold.nanos().div_ceil(response.bin.nanos()).max(1),
            due: if target.is_some() { Time::ZERO + response.bin } else { Time::MAX },
            near: 0,
            settled: None,
        }
    }

    /// The end of the present bin; the end of time once the queue has settled, or without a target.
    #[must_use]
    #[inline]
    pub const fn due(&self) -> Time {
        self.due
    }

    /// The length of a bin.
    #[must_use]
    pub const fn bin(&self) -> Span {
        self.bin
    }

    /// Closes the present bin, over which the queue had this mean.
    pub fn close(&mut self, mean: f64) {
        self.near = if (self.low..=self.high).contains(&mean) { self.near + 1 } else { 0 };
        if self.near >= self.hold {
            self.settled = Some(Time::from_nanos(self.due.nanos() - (self.bin * self.near).nanos()));
            self.due = Time::MAX;
        } else {
            self.due += self.bin;
        }
    }

    /// The response time in seconds from the start of the run; `None` if the queue never settled.
    #[must_use]
    pub fn settled(&self) -> Option<f64> {
        self.settled.map(Time::secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_settles_at_the_first_of_the_bins_that_stay_near() {
        let response = Response { hold: Span::s(3), ..Response::default() };
        let mut settling = Settling::new(Some(100.0), &response);
        let mut closed = |mean| {
            settling.close(mean);
            settling.settled()
        };
        assert_eq!([150.0, 90.0, 90.0, 10.0, 81.0, 119.0].map(&mut closed), [None; 6]);
        assert_eq!(closed(81.0), Some(4.0));
        assert_eq!(settling.due(), Time::MAX);
    }
}
