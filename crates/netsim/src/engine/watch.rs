//! Whether to go on: what may take long counts its work, and asks now and then, so that a run can be stopped.

use aqm::unit::Time;
use std::fmt;

/// The work between two questions, in events or what takes about as long: some milliseconds of it at most.
const BETWEEN: i64 = 4096;

/// Counts work, and asks after a given amount of it whether to continue. After a negative answer, the work in progress
/// is left as it is, half done: it is of no use any more.
pub struct Watch {
    /// Work until the next question.
    left: i64,
    /// Work until then in all, and the part of the work done that was no event.
    granted: i64,
    besides: i64,
    /// The simulated time that is passed with the question.
    now: Time,
    stopped: bool,
    ask: Box<dyn FnMut(Time) -> bool + Send + Sync>,
}

impl Watch {
    /// Asks `ask`, with the simulated time that the run has reached.
    #[must_use]
    pub fn new(ask: impl FnMut(Time) -> bool + Send + Sync + 'static) -> Self {
        let (left, granted) = (BETWEEN, BETWEEN);
        Self { left, granted, besides: 0, now: Time::ZERO, stopped: false, ask: Box::new(ask) }
    }

    /// Events so far.
    pub(crate) const fn events(&self) -> u64 {
        (self.granted - self.left - self.besides) as u64
    }

    /// Whether the answer was no.
    #[must_use]
    pub const fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// The run has come to `now`.
    pub const fn reach(&mut self, now: Time) {
        self.now = now;
    }

    /// Counts an event, and returns whether it is time for a question.
    #[inline]
    pub(crate) const fn counts(&mut self) -> bool {
        self.left -= 1;
        self.left <= 0
    }

    /// Leaves the present event out of the count: it records, and is no part of what happens.
    pub(crate) const fn records(&mut self) {
        self.besides += 1;
    }

    /// Counts other work, and returns whether to go on.
    #[inline]
    pub fn goes_on(&mut self, work: usize) -> bool {
        self.left -= work as i64;
        self.besides += work as i64;
        self.left > 0 || self.ask()
    }

    /// Asks.
    #[cold]
    pub(crate) fn ask(&mut self) -> bool {
        self.stopped = self.stopped || !(self.ask)(self.now);
        // From now on every piece of work asks.
        let left = if self.stopped { 0 } else { BETWEEN };
        self.granted += left - self.left;
        self.left = left;
        !self.stopped
    }
}

impl Default for Watch {
    /// Goes on whatever happens.
    fn default() -> Self {
        Self::new(|_| true)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("left", &self.left)
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn it_asks_after_so_much_work_of_either_kind_and_counts_the_events() {
        let asked = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&asked);
        let mut watch = Watch::new(move |_| counter.fetch_add(1, Ordering::Relaxed) < 2);
        let mut events = 0;
        while !watch.has_stopped() {
            events += 1;
            if watch.counts() {
                watch.ask();
            }
            assert_eq!(watch.goes_on(3), !watch.has_stopped());
        }
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert_eq!(watch.events(), events);
        assert_eq!(events, 3 * BETWEEN as u64 / 4);
        assert!(!watch.goes_on(1) && watch.counts() && !watch.ask(), "a stopped watch stays stopped");
        assert_eq!(asked.load(Ordering::Relaxed), 3, "nobody is asked again");
    }
}
