//! A queue that works ahead: arrivals before their time, and all that was due in between.

use crate::engine::clock::{Clock, ClockArithmetic as _, Instant};
use crate::measure::probe::Probe;
use crate::network::link::{Link, Transmission};
use crate::network::service::{self, Observers};
use crate::packet::Packet;
use aqm::Outcome;
use aqm::unit::{Span, Time};
use run::Watch;

/// The periods that may pass before a queue that works ahead catches up: some milliseconds of work.
const PERIODS_AT_A_TIME: u64 = 1 << 16;

/// An accepted packet: the start of its transmission, its arrival at the other end, and whether it was marked.
pub(crate) struct Journey {
    pub(crate) start: Instant,
    pub(crate) arrival: Instant,
    pub(crate) marked: bool,
}

/// A link that works ahead, with everything that it may change.
pub(crate) struct LinkAhead<'a, P> {
    pub(crate) link: &'a mut Link,
    pub(crate) observers: Observers<'a, P>,
    pub(crate) clock: Clock,
    pub(crate) watch: &'a mut Watch,
}

impl<P: Probe> LinkAhead<'_, P> {
    /// A packet arrives at `at`; `None` if it is dropped.
    #[inline]
    pub(crate) fn enqueue(&mut self, at: Instant, packet: &Packet) -> Option<Journey> {
        let now = self.clock.time(at);
        self.catch_up(now);
        let marked = service::admit(self.link, now, packet, &mut self.observers)? == Outcome::Marked;
        let aqm_queue = self.link.aqm_queue.as_deref_mut()?;
        let busy = aqm_queue.busy;
        let due = aqm_queue.ahead.as_mut()?;
        let start = if busy { due.free } else { at };
        let Transmission { sent, arrival } = self.link.wire.send(start, u32::from(packet.size));
        due.free = sent;
        if busy {
            self.observers.note_length(now, aqm_queue);
        } else {
            aqm_queue.end_idleness(now);
            self.begin(now);
            self.update_due();
        }
        Some(Journey { start, arrival, marked })
    }

    /// Does all work that is due by `until`.
    #[inline]
    pub(crate) fn catch_up(&mut self, until: Time) {
        while self.link.aqm_queue().ahead.as_ref().is_some_and(|due| due.next <= until) {
            self.do_next(until);
        }
    }

    /// Does the next thing that is due. At one time the period comes first, then the departure, then the end of the warm-up, as on
    /// the event list.
    fn do_next(&mut self, until: Time) {
        let Some(aqm_queue) = self.link.aqm_queue.as_deref_mut() else { return };
        let Some(due) = aqm_queue.ahead.as_mut() else { return };
        let now = due.next;
        if due.period == now {
            let probe = &mut *self.observers.probe;
            aqm_queue.queue.on_period(now);
            probe.on_period(aqm_queue.number, now, aqm_queue.queue.algorithm());
            let rests =
                !aqm_queue.busy && aqm_queue.queue.rests() && probe.may_skip(aqm_queue.queue.algorithm());
            // A run that is stopped has no more periods.
            let period = aqm_queue.queue.period().filter(|_| self.watch.goes_on(1));
            due.period = period.map_or(Time::MAX, |period| {
                let idle = if rests { until.since(now).nanos() / period.nanos().max(1) } else { 0 };
                now + period * (idle + 1)
            });
        } else if aqm_queue.busy && aqm_queue.sent == now {
            self.begin(now);
        } else {
            due.warmup = Time::MAX;
            aqm_queue.end_warmup(now);
        }
        self.update_due();
    }

    /// The transmission of the next packet, which is on its way already, begins.
    #[inline]
    fn begin(&mut self, now: Time) {
        if let Some(packet) = service::begin(self.link, now, &mut self.observers) {
            let transmission = self.link.wire.send(self.clock.instant(now), u32::from(packet.size));
            self.link.aqm_queue().sent = self.clock.time(transmission.sent);
        }
    }

    #[inline]
    fn update_due(&mut self) {
        let aqm_queue = self.link.aqm_queue();
        if let Some(due) = &mut aqm_queue.ahead {
            due.update(aqm_queue.busy, aqm_queue.sent);
        }
    }
}

/// The time, in nanoseconds, after which all links catch up with their periods, so that the work never accumulates; `bins` are the other periods.
pub(crate) fn stride(links: &[Link], bins: impl Iterator<Item = Span>) -> u64 {
    let queues = links.iter().filter_map(|link| link.aqm_queue.as_deref());
    let ahead = queues.filter(|aqm_queue| aqm_queue.ahead.is_some());
    let periods = ahead.filter_map(|aqm_queue| aqm_queue.queue.period()).chain(bins);
    let shortest = periods.map(Span::nanos).min();
    shortest.map_or(u64::MAX, |ns| ns.max(1).saturating_mul(PERIODS_AT_A_TIME))
}
