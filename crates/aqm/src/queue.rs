//! The queue in front of a link: storage, limit and counters, around one algorithm.

use crate::aqm::{AnyAqm, Backlog, Packet, Port, Uniform, Verdict};
use crate::unit::{Limit, Span, Time};
use std::collections::VecDeque;

/// A packet as a host stores it.
pub trait Frame {
    /// What the algorithm may know of it.
    fn packet(&self) -> Packet;
    /// Sets CE.
    fn mark(&mut self);
    /// Which row of [`Queue::counts`] it belongs to.
    fn class(&self) -> usize;
}

/// What became of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It waits.
    Queued,
    /// It waits, with CE set.
    Marked,
    /// The algorithm dropped it.
    DroppedEarly,
    /// The buffer was full.
    Overflowed,
}

/// What has happened to the packets of one class since the start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets dropped by the algorithm.
    pub drops_early: u64,
    /// Packets dropped for want of room.
    pub drops_overflow: u64,
    /// Packets marked with CE.
    pub marks: u64,
    /// Packets handed to the link.
    pub departures: u64,
    /// Bytes handed to the link.
    pub departed_bytes: u64,
}

/// A first-in first-out buffer of frames `T` with a limit, an algorithm and counters a class.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    aqm: AnyAqm,
    limit: Limit,
    waiting: VecDeque<(Time, T)>,
    bytes: u64,
    counts: Vec<Counts>,
}

impl<T: Frame> Queue<T> {
    /// An empty queue on `port`, with counters for `classes` classes.
    #[must_use]
    pub fn new(aqm: AnyAqm, port: &Port, classes: usize) -> Self {
        Self {
            aqm,
            limit: port.limit,
            waiting: VecDeque::new(),
            bytes: 0,
            counts: vec![Counts::default(); classes],
        }
    }

    /// The packets that wait; `full` tells whether another of `size` bytes would not fit.
    #[inline]
    #[must_use]
    pub fn backlog(&self, size: u32) -> Backlog {
        let packets = self.waiting.len() as u32;
        Backlog { packets, bytes: self.bytes, full: self.limit.refuses(packets, self.bytes, size) }
    }

    /// How many packets wait.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The counters, a row a class.
    #[must_use]
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// The algorithm inside.
    #[must_use]
    pub const fn aqm(&self) -> &AnyAqm {
        &self.aqm
    }

    /// Offers an arrival to the algorithm and the buffer.
    #[inline]
    pub fn enqueue<R: Uniform>(&mut self, now: Time, mut frame: T, rng: &mut R) -> Outcome {
        let packet = frame.packet();
        let backlog = self.backlog(packet.size);
        let verdict = self.aqm.on_enqueue(now, &packet, &backlog, rng);
        let counts = &mut self.counts[frame.class()];
        counts.arrivals += 1;
        let outcome = match verdict {
            _ if backlog.full => {
                counts.drops_overflow += 1;
                return Outcome::Overflowed;
            }
            Verdict::Drop => {
                counts.drops_early += 1;
                return Outcome::DroppedEarly;
            }
            Verdict::Mark => {
                counts.marks += 1;
                frame.mark();
                Outcome::Marked
            }
            Verdict::Pass => Outcome::Queued,
        };
        self.bytes += u64::from(packet.size);
        self.waiting.push_back((now, frame));
        outcome
    }

    /// The frames that wait, the first to leave first.
    pub fn waiting(&self) -> impl Iterator<Item = &T> {
        self.waiting.iter().map(|(_, frame)| frame)
    }

    /// The next frame for the link and how long it has waited; `None` if the link goes idle.
    #[inline]
    pub fn dequeue<R: Uniform>(&mut self, now: Time, rng: &mut R) -> Option<(T, Span)> {
        self.dequeue_or(now, rng, |_| {})
    }

    /// As [`Queue::dequeue`]; frames that the algorithm drops instead go to `dropped`.
    #[inline]
    pub fn dequeue_or<R: Uniform>(
        &mut self,
        now: Time,
        rng: &mut R,
        mut dropped: impl FnMut(&T),
    ) -> Option<(T, Span)> {
        while let Some((arrived, mut frame)) = self.waiting.pop_front() {
            let packet = frame.packet();
            self.bytes -= u64::from(packet.size);
            let sojourn = now - arrived;
            let backlog = self.backlog(0);
            let verdict = self.aqm.on_dequeue(now, &packet, &backlog, sojourn, rng);
            let counts = &mut self.counts[frame.class()];
            match verdict {
                Verdict::Drop => {
                    counts.drops_early += 1;
                    dropped(&frame);
                    continue;
                }
                Verdict::Mark => {
                    counts.marks += 1;
                    frame.mark();
                }
                Verdict::Pass => {}
            }
            counts.departures += 1;
            counts.departed_bytes += u64::from(packet.size);
            return Some((frame, sojourn));
        }
        self.aqm.on_idle(now);
        None
    }

    /// How often the algorithm wants [`Queue::on_period`].
    #[must_use]
    pub fn period(&self) -> Option<Span> {
        self.aqm.period()
    }

    /// The algorithm's periodic work.
    pub fn on_period(&mut self, now: Time) {
        let backlog = self.backlog(0);
        self.aqm.on_period(now, &backlog);
    }
}
