//! A queue that works ahead: arrivals before their time, and all that was due in between.

use crate::engine::clock::SimTime;
use crate::engine::order::{Key, NEVER, Order, time_of};
use crate::measure::probe::Probe;
use crate::network::link::{Link, Passage};
use crate::network::service::{self, Observers};
use crate::packet::Packet;
use aqm::Outcome;
use aqm::unit::Span;
use run::Watch;

/// The periods that may pass before a queue that works ahead catches up: some milliseconds of work.
const PERIODS_AT_A_TIME: u64 = 1 << 16;

/// The passage of an accepted packet, and whether it was marked.
pub(crate) struct Journey<M> {
    pub(crate) passage: Passage<M>,
    pub(crate) marked: bool,
}

/// A link that works ahead, with everything that it may change.
pub(crate) struct LinkAhead<'a, P, C> {
    pub(crate) link: &'a mut Link,
    pub(crate) observers: Observers<'a, P>,
    pub(crate) clock: C,
    pub(crate) watch: &'a mut Watch,
}

impl<P: Probe, C: Order> LinkAhead<'_, P, C> {
    /// A packet arrives; `None` if it is dropped.
    #[inline]
    pub(crate) fn enqueue(&mut self, coming: C::EventTime, packet: &Packet) -> Option<Journey<C::EventTime>> {
        let clock = self.clock;
        let now = clock.time(clock.at(coming));
        self.catch_up(clock.limit(coming));
        let marked = service::admit(self.link, now, packet, &mut self.observers)? == Outcome::Marked;
        let aqm_queue = self.link.aqm_queue.as_deref_mut()?;
        let busy = aqm_queue.busy;
        let due = aqm_queue.ahead.as_mut()?;
        let start = if busy { clock.event_time(due.free) } else { coming };
        let sending = self.link.transmitter.send(clock, clock.at(start), u32::from(packet.size));
        due.free = clock.free_key(start, sending.sent.1, sending.sent.0);
        if busy {
            self.observers.note_length(now, aqm_queue);
        } else {
            aqm_queue.end_idleness(now);
            self.begin(coming);
        }
        Some(Journey { passage: Passage { start, arrival: sending.arrival }, marked })
    }

    /// Does all work that is due before `limit`.
    #[inline]
    pub(crate) fn catch_up(&mut self, limit: Key) {
        while self.link.aqm_queue().ahead.as_ref().is_some_and(|due| due.next < limit) {
            self.do_next(limit);
        }
    }

    /// Does the next thing that is due, with others before `limit`.
    fn do_next(&mut self, limit: Key) {
        let Some(aqm_queue) = self.link.aqm_queue.as_deref_mut() else {
            return;
        };
        let Some(due) = aqm_queue.ahead.as_mut() else {
            return;
        };
        if due.next == due.ready {
            let start = self.clock.event_time(due.next);
            self.begin(start);
        } else if due.next == due.period {
            self.close_period(limit);
        } else {
            let now = self.clock.time(time_of(due.next));
            due.warmup = NEVER;
            due.update();
            aqm_queue.end_warmup(now, &self.link.transmitter);
        }
    }

    /// The algorithm's period is over; while nothing happens, so are those after it.
    fn close_period(&mut self, limit: Key) {
        let clock = self.clock;
        let Some(aqm_queue) = self.link.aqm_queue.as_deref_mut() else {
            return;
        };
        let Some(due) = aqm_queue.ahead.as_mut() else {
            return;
        };
        let now = clock.time(time_of(due.period));
        let probe = &mut *self.observers.probe;
        aqm_queue.queue.on_period(now);
        probe.on_period(aqm_queue.number, now, aqm_queue.queue.algorithm());
        let rests = !aqm_queue.busy && aqm_queue.queue.rests() && probe.may_skip(aqm_queue.queue.algorithm());
        // A run that is stopped has no more periods.
        due.period = match aqm_queue.queue.period().filter(|_| self.watch.goes_on(1)) {
            None => NEVER,
            Some(period) => {
                let elapsed = clock.sim_span(period);
                let rank = clock.elapsed_rank(elapsed);
                let next = |key: Key| {
                    clock.period_key(clock.event_time(key), rank, clock.after(time_of(key), elapsed))
                };
                let mut end = next(due.period);
                while rests && end < limit {
                    end = next(end);
                }
                end
            }
        };
        due.update();
    }

    /// The transmission of the next packet, which is on its way already, begins.
    #[inline]
    fn begin(&mut self, start: C::EventTime) {
        let clock = self.clock;
        let at = clock.at(start);
        let size = service::begin(self.link, clock.time(at), &mut self.observers, |packet, _| {
            u32::from(packet.size)
        });
        let sending = size.map(|size| self.link.transmitter.send(clock, at, size));
        let aqm_queue = self.link.aqm_queue();
        let Some(due) = &mut aqm_queue.ahead else {
            return;
        };
        due.ready = NEVER;
        if let Some((sent, rank)) = sending.map(|sending| sending.sent) {
            aqm_queue.sent = clock.time(sent);
            due.ready = clock.free_key(start, rank, sent);
        }
        due.update();
    }
}

/// The key after all steps up to and including `until`.
pub(crate) fn after_all(until: SimTime) -> Key {
    Key::from(until.0) << 64 | Key::from(u64::MAX)
}

/// The time, in nanoseconds, after which all links catch up with their periods, so that no work accumulates; `bins` are the
/// other periods.
pub(crate) fn stride(links: &[Link], bins: impl Iterator<Item = Span>) -> u64 {
    let queues = links.iter().filter_map(|link| link.aqm_queue.as_deref());
    let ahead = queues.filter(|aqm_queue| aqm_queue.ahead.is_some());
    let periods = ahead.filter_map(|aqm_queue| aqm_queue.queue.period()).chain(bins);
    let shortest = periods.map(Span::nanos).min();
    shortest.map_or(u64::MAX, |ns| ns.max(1).saturating_mul(PERIODS_AT_A_TIME))
}
