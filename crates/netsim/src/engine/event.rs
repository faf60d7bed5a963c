//! The event list: what happens next, in a total order.
//!
//! The order is that of [`crate::engine::order`].
//!
//! Two stores serve two patterns. *Slots* are for what has at most one event pending and moves with every packet: the
//! head of a delay line, a transmitter. The *heap* is for timers, one per flow, which fire rarely.

use crate::engine::clock::{Clock, ClockArithmetic as _, Double, SimSpan, SimTime};
use crate::engine::order::{ElapsedRank, Key, NEVER, Order, SLOT_BITS, key, time_of};
use crate::engine::slots::{SLOT_MASK, Slots, slot};
use aqm::unit::Time;
use dary_heap::QuaternaryHeap;
use std::cmp::Ordering;
use std::collections::HashSet;

/// An event, with the index of its subject.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Event {
    /// The first packet on a link's delay line reaches the other end.
    Arrival(u32),
    /// A link has sent a packet and is free for the next.
    Ready(u32),
    /// A link's end of a shared medium takes its next step.
    Station(u32),
    /// The medium of a wireless LAN takes its next step.
    Medium(u32),
    /// A slot of a cell begins.
    Cell(u32),
    /// The head end or a modem of a cable network takes its next step.
    Upstream(u32),
    /// An algorithm's period is over.
    Period(u32),
    /// A TCP flow starts.
    Start(u32),
    /// A TCP flow's application stops.
    Stop(u32),
    /// A retransmission timer may be due.
    Retransmit(u32),
    /// A sender's pace may allow a segment.
    Pace(u32),
    /// A delayed ACK may be due.
    DelayedAck(u32),
    /// The next flow of a `short` entry arrives.
    Short(u32),
    /// A web client begins a session, or goes on with it.
    Session(u32),
    /// A UDP source sends its next datagram, or a timer of TFRC goes off.
    Datagram(u32),
    /// A packet that waited in its host leaves it.
    Release(u32),
    /// A link gets another rate.
    Change(u32),
    /// The warm-up is over.
    Warmup,
    /// The congestion windows are sampled.
    Sample,
}

/// The slot of what has no place on the event list.
pub(crate) const NO_SLOT: usize = usize::MAX;

/// On the integer clock a rank is the time elapsed since the cause, the longest first; among causes at one time, the order
/// in which they came. The bits suffice for 17 s, and for 1023 causes at one time.
const ORDER_BITS: u32 = 10;
const LAST_ORDER: u64 = (1 << ORDER_BITS) - 1;
const LONGEST_ELAPSED: u64 = (1 << (64 - SLOT_BITS - ORDER_BITS)) - 1;

/// A timer on the heap, which has the earliest first.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// In its lowest bits, how many were set before.
    key: Key,
    event: Event,
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Timer {}

/// The pending events.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) clock: Clock,
    /// The event last taken, and its time to the nearest nanosecond.
    current: Key,
    time: Time,
    number: u64,
    pushed: Key,
    slots: Slots,
    what: Vec<Event>,
    /// Quaternary because with a hundred thousand timers half as many levels are outside the cache as on a binary heap.
    heap: QuaternaryHeap<Timer>,
    /// The earliest key on the heap.
    timer: Key,
}

impl Events {
    /// An empty list with one slot for each of `what`.
    pub(crate) fn new(clock: Clock, what: Vec<Event>) -> Self {
        let slots = Slots::new(what.len());
        let (current, time) = (key(SimTime::ZERO, 0), Time::ZERO);
        Self {
            clock,
            current,
            time,
            number: 1,
            pushed: 0,
            slots,
            what,
            heap: QuaternaryHeap::new(),
            timer: NEVER,
        }
    }

    /// The time of the last event taken, in the units of the clock.
    pub(crate) const fn sim_now(&self) -> SimTime {
        time_of(self.current)
    }

    /// The key of the last event taken.
    pub(crate) const fn current(&self) -> Key {
        self.current
    }

    /// The time of the last event taken, with its rank.
    #[inline]
    pub(crate) fn event_time<C: Order>(&self, clock: C) -> C::EventTime {
        clock.event_time(self.current)
    }

    /// The time of the last event taken, to the nearest nanosecond.
    pub(crate) const fn now(&self) -> Time {
        self.time
    }

    /// The key of an arrival at `at` of a packet whose transmission starts at `start`, the present or later. For the integer
    /// clock it is under way from `since` on.
    #[inline]
    pub(crate) fn arrival_key<C: Order>(
        &mut self,
        clock: C,
        since: SimTime,
        start: C::EventTime,
        rank: ElapsedRank,
        at: SimTime,
    ) -> Key {
        match C::CLOCK {
            Clock::Integer => self.integer_key(at, since),
            Clock::Double => Double.arrival_key(clock.key(start), rank, at),
        }
    }

    /// The key on the integer clock of what happens at `at` and is caused at `since`.
    #[inline]
    fn integer_key(&mut self, at: SimTime, since: SimTime) -> Key {
        debug_assert!(at >= since && since >= self.sim_now(), "an event in the past: {at:?}, {since:?}");
        let is_present = since == self.sim_now();
        self.number += u64::from(is_present);
        let elapsed = (at.0 - since.0).min(LONGEST_ELAPSED);
        let order = if is_present { self.number.min(LAST_ORDER) } else { 0 };
        key(at, (LONGEST_ELAPSED - elapsed) << ORDER_BITS | order)
    }

    /// The key on the double clock of a timer that is set now and goes off at `at`, after `elapsed`.
    #[inline]
    fn double_key(&self, elapsed: SimSpan, at: SimTime) -> Key {
        Double.effect(self.event_time(Double), Double.elapsed_rank(elapsed), at)
    }

    /// The key of a timer at `at`, which is set now.
    fn timer_key(&mut self, at: SimTime) -> Key {
        let now = self.sim_now();
        match self.clock {
            Clock::Integer => self.integer_key(at, now),
            Clock::Double => self.double_key(SimSpan::between(now, at), at),
        }
    }

    /// Puts the event of `slot` at `key`; [`NEVER`] takes it out.
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: usize, key: Key) {
        self.slots.set(slot, key);
    }

    /// The key of a timer that is set now for `deadline`. On the double clock, as in ns-2, its rank follows from when it was
    /// set, even if the event is put on the heap later.
    #[inline]
    pub(crate) fn due<C: Order>(&mut self, clock: C, deadline: Time) -> Key {
        match C::CLOCK {
            _ if deadline == Time::MAX => NEVER,
            Clock::Integer => key(clock.sim_time(deadline), 0),
            Clock::Double => {
                let elapsed = clock.sim_span(deadline.since(self.time));
                self.double_key(elapsed, clock.after(self.sim_now(), elapsed))
            }
        }
    }

    /// Puts `event` on the heap at a key that [`Events::due`] gave, and returns its key.
    #[inline]
    pub(crate) fn push_due(&mut self, due: Key, event: Event) -> Key {
        let key = if self.clock == Clock::Integer { self.timer_key(time_of(due)) } else { due };
        self.put(key, event)
    }

    /// Puts `event` on the heap. On the double clock `at`, in whole nanoseconds, may be a moment before the present.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, event: Event) {
        let key = self.timer_key(self.clock.sim_time(at).max(self.sim_now()));
        self.put(key, event);
    }

    /// Puts `event` on the heap: on the integer clock before everything else at that time.
    pub(crate) fn push_first(&mut self, at: Time, event: Event) {
        let at = self.clock.sim_time(at).max(self.sim_now());
        let key = if self.clock == Clock::Integer { key(at, 0) } else { self.timer_key(at) };
        self.put(key, event);
    }

    /// Puts `event` on the heap, and returns its whole key. Of equal ones the first that was set comes first, until their
    /// number takes more bits than a slot has.
    fn put(&mut self, key: Key, event: Event) -> Key {
        let key = key | (self.pushed & SLOT_MASK);
        self.pushed += 1;
        self.heap.push(Timer { key, event });
        self.timer = self.timer.min(key);
        key
    }

    /// The events pending in slots, and the time of each.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (Event, SimTime)> + '_ {
        self.slots.keys().map(|key| (self.what[slot(key)], time_of(key)))
    }

    /// Takes the next event that is not after `until`. A slot stays as it is until it is set again.
    #[inline]
    pub(crate) fn next<C: Order>(&mut self, clock: C, until: SimTime) -> Option<Event> {
        let first = self.slots.first();
        let earliest = first.min(self.timer);
        // NEVER is later than every time that a run can reach.
        let at = time_of(earliest);
        if at > until {
            return None;
        }
        assert!(at >= self.sim_now(), "time runs backwards");
        if C::CLOCK == Clock::Integer && at != self.sim_now() {
            self.number = 1;
        }
        (self.current, self.time) = (earliest, clock.time(at));
        if self.timer < first { self.pop() } else { Some(self.what[slot(first)]) }
    }

    /// The present is `now`, up to which all events have been taken, on the integer clock: something happens from outside.
    pub(crate) fn reach(&mut self, now: Time) {
        if now > self.time {
            (self.current, self.time, self.number) = (key(self.clock.sim_time(now), 0), now, 1);
        }
    }

    /// Takes these events off the heap, and returns when each was to happen, in their order.
    pub(crate) fn withdraw(&mut self, events: &HashSet<Event>) -> Vec<(Time, Event)> {
        let mut withdrawn = Vec::new();
        self.heap.retain(|timer| {
            let stays = !events.contains(&timer.event);
            withdrawn.extend(Some(*timer).filter(|_| !stays));
            stays
        });
        self.timer = self.heap.peek().map_or(NEVER, |timer| timer.key);
        withdrawn.sort_unstable_by_key(|timer| timer.key);
        withdrawn.into_iter().map(|timer| (self.clock.time(time_of(timer.key)), timer.event)).collect()
    }

    /// Takes the first event off the heap.
    fn pop(&mut self) -> Option<Event> {
        let timer = self.heap.pop()?;
        self.timer = self.heap.peek().map_or(NEVER, |timer| timer.key);
        Some(timer.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::clock::Integer;
    use proptest::prelude::*;

    #[test]
    fn what_is_caused_at_the_present_comes_by_time_then_as_it_was_scheduled() {
        // Against a plain sorted list, over random schedules in slots and heap, with many equal times.
        let op = (any::<bool>(), 0u32..5, 0u64..4);
        proptest!(|(ops in proptest::collection::vec(op, 1..200))| {
            let mut events = Events::new(Clock::Integer, (0..5).map(Event::Arrival).collect());
            let mut naive: Vec<(Time, u64, Event)> = Vec::new();
            let mut busy = [false; 5];
            for (n, (slot, index, ahead)) in ops.into_iter().enumerate() {
                let at = Time::from_nanos(events.now().nanos() + ahead);
                if !slot {
                    events.push(at, Event::Retransmit(index));
                    naive.push((at, n as u64, Event::Retransmit(index)));
                } else if !busy[index as usize] {
                    let key = events.integer_key(SimTime(at.nanos()), events.sim_now());
                    events.set(index as usize, key);
                    busy[index as usize] = true;
                    naive.push((at, n as u64, Event::Arrival(index)));
                }
                if n % 3 == 0 {
                    naive.sort_by_key(|&(at, number, _)| (at, number));
                    let expected = (!naive.is_empty()).then(|| naive.remove(0).2);
                    let found = events.next(Integer, SimTime(u64::MAX - 1));
                    prop_assert_eq!(found, expected);
                    if let Some(Event::Arrival(i)) = found {
                        events.set(i as usize, NEVER);
                        busy[i as usize] = false;
                    }
                }
            }
        });
    }

    #[test]
    fn of_one_instant_what_has_been_under_way_for_longer_comes_first() {
        let mut events = Events::new(Clock::Integer, (0..3).map(Event::Arrival).collect());
        // Learned of in this order: caused at 7, at 3, at the present, which is 0.
        for (slot, since) in [(0, 7), (1, 3), (2, 0)] {
            let key = events.integer_key(SimTime(10), SimTime(since));
            events.set(slot, key);
        }
        events.push(Time::from_nanos(10), Event::Warmup);
        events.push_first(Time::from_nanos(10), Event::Sample);
        let mut order = Vec::new();
        while let Some(event) = events.next(Integer, SimTime(10)) {
            order.push(event);
            if let Event::Arrival(slot) = event {
                events.set(slot as usize, NEVER);
            }
        }
        let expected =
            [Event::Sample, Event::Arrival(2), Event::Warmup, Event::Arrival(1), Event::Arrival(0)];
        assert_eq!(order, expected);
    }

    #[test]
    fn nothing_comes_after_the_end() {
        let mut events = Events::new(Clock::Integer, vec![Event::Ready(0)]);
        events.push(Time::from_nanos(10), Event::Warmup);
        assert_eq!(events.next(Integer, SimTime(9)), None);
        assert_eq!(events.next(Integer, SimTime(10)), Some(Event::Warmup));
        assert_eq!(events.next(Integer, SimTime(u64::MAX - 1)), None);
    }
}
