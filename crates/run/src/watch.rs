//! The watch that can stop a run: long operations count their work, and ask at intervals whether to continue.

use aqm::unit::Time;
use std::fmt;

/// The work between two questions, in events or operations of about the same cost: at most some milliseconds.
const BETWEEN: i64 = 4096;

/// Counts work, and asks at intervals of work whether to continue. After the answer no, operations stop half done, and the
/// run must be discarded.
pub struct Watch {
    /// Work until the next question.
    left: i64,
    /// All work until the next question; the work done that was not an event.
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
    pub const fn events(&self) -> u64 {
        (self.granted - self.left - self.besides) as u64
    }

    /// Whether an answer was no.
    #[must_use]
    pub const fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// The time that the run has come to.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The run has come to `now`.
    pub const fn reach(&mut self, now: Time) {
        self.now = now;
    }

    /// Counts an event, and returns whether it is time for a question.
    #[inline]
    pub const fn counts(&mut self) -> bool {
        self.left -= 1;
        self.left <= 0
    }

    /// Excludes the present event from the count: it records, and is not part of the simulation.
    pub const fn records(&mut self) {
        self.besides += 1;
    }

    /// Counts other work, and returns whether to continue.
    #[inline]
    pub fn goes_on(&mut self, work: usize) -> bool {
        self.left -= work as i64;
        self.besides += work as i64;
        self.left > 0 || self.ask()
    }

    /// Asks.
    #[cold]
    pub fn ask(&mut self) -> bool {
        self.stopped = self.stopped || !(self.ask)(self.now);
        // From now on every piece of work asks.
        let left = if self.stopped { 0 } else { BETWEEN };
        self.granted += left - self.left;
        self.left = left;
        !self.stopped
    }
}

impl Default for Watch {
    /// A watch that never stops a run.
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
