//! The response time of a queue, from its exact length over time.

use crate::measure::occupancy::Occupancy;
use aqm::unit::Time;
use run::Settling;
use scenario::model::Response;

/// The search for the response time, and the area under the queue's length at the start of the present bin.
#[derive(Clone, Debug)]
pub(crate) struct QueueSettling {
    settling: Settling,
    area: u64,
}

impl QueueSettling {
    /// A search that finds nothing if there is no target.
    pub(crate) fn new(target: Option<f64>, response: &Response) -> Self {
        Self { settling: Settling::new(target, response), area: 0 }
    }

    /// Closes the bins that have ended; called before the queue's length changes at `now`.
    #[inline]
    pub(crate) fn roll(&mut self, now: Time, queue: &Occupancy) {
        if now >= self.settling.due() {
            self.close_bins(now, queue);
        }
    }

    #[cold]
    fn close_bins(&mut self, now: Time, queue: &Occupancy) {
        while now >= self.settling.due() {
            let area = queue.area_until(self.settling.due());
            let mean = area.wrapping_sub(self.area) as f64 / self.settling.bin().nanos() as f64;
            self.area = area;
            self.settling.close(mean);
        }
    }

    /// The response time in seconds from the start of the run; `None` if the queue never settled.
    pub(crate) fn settled(&self) -> Option<f64> {
        self.settling.settled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn a_queue_settles_when_its_mean_stays_near() {
        let response = Response { hold: Span::s(3), ..Response::default() };
        let (mut queue, mut settling) = (Occupancy::new(None), QueueSettling::new(Some(100.0), &response));
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
        assert_eq!(change(20_000, 0), Some(4.0), "later changes do not undo it");
    }

    #[test]
    fn the_end_of_the_warm_up_does_not_disturb_the_search_for_the_response_time() {
        let response = Response { hold: Span::s(1), ..Response::default() };
        let (mut queue, mut settling) = (Occupancy::new(None), QueueSettling::new(Some(100.0), &response));
        queue.change(at(0), 100, || false);
        queue.reset(at(700));
        settling.roll(at(1500), &queue);
        assert_eq!(settling.settled(), Some(0.0));
    }

    #[test]
    fn a_queue_without_a_target_never_settles() {
        let mut settling = QueueSettling::new(None, &Response::default());
        settling.roll(at(1_000_000), &Occupancy::new(None));
        assert_eq!(settling.settled(), None);
    }
}
