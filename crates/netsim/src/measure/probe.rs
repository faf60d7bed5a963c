//! Probes: optional records of a run, beyond the statistics that are always on. An absent probe costs nothing.

mod checked;

pub use checked::Checked;

use aqm::discipline::Lane;
use aqm::unit::{Span, Time};
use aqm::{AnyDiscipline, Outcome};

/// The owner of a packet at a queue.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Owner {
    /// The traffic entry, by its number.
    pub class: usize,
    /// The lane, 0 where there is one queue.
    pub lane: usize,
}

/// An observer of the measured queues; its hooks do nothing unless overridden.
pub trait Probe {
    /// Whether the run keeps account of every packet, for [`Simulation::violations`](crate::Simulation::violations): a
    /// debug build always does.
    const CHECKS: bool = cfg!(debug_assertions);

    /// Queue number `queue` has `length` packets from `now` on, in these lanes if it has several.
    #[inline]
    fn on_length(&mut self, _queue: usize, _now: Time, _length: usize, _lanes: &[Lane]) {}
    /// An arrival met this fate; the algorithm's state may have changed.
    #[inline]
    fn on_arrival(
        &mut self,
        _queue: usize,
        _now: Time,
        _owner: Owner,
        _outcome: Outcome,
        _aqm: &AnyDiscipline,
    ) {
    }
    /// A packet that had waited was dropped.
    #[inline]
    fn on_late_drop(&mut self, _queue: usize, _now: Time, _owner: Owner) {}
    /// The transmission of a packet with `size` bytes begins after `wait` in the queue, whose length
    /// without it has been reported.
    #[inline]
    fn on_departure(&mut self, _queue: usize, _now: Time, _owner: Owner, _size: u16, _wait: Span) {}
    /// `bytes` more are sent, of a half-duplex link: its packets depart with 0, because it may give them up.
    #[inline]
    fn on_sent(&mut self, _queue: usize, _now: Time, _owner: Owner, _bytes: u32) {}
    /// The departing packet was arrival number `arrival` at the queue, counted from 0; `marked` with CE here or before.
    #[inline]
    fn on_fate(&mut self, _queue: usize, _arrival: u64, _marked: bool) {}
    /// The algorithm's periodic work is done.
    #[inline]
    fn on_period(&mut self, _queue: usize, _now: Time, _aqm: &AnyDiscipline) {}
    /// A packet of traffic entry number `class` came back, `took` after it was sent.
    #[inline]
    fn on_round_trip(&mut self, _now: Time, _class: usize, _took: Span) {}
    /// A packet that is sent at `now` on the link of queue number `queue`, whose delay varies, travels for `delay`.
    #[inline]
    fn on_travel(&mut self, _queue: usize, _now: Time, _delay: Span) {}
    /// Whether periods that leave the algorithm as it is need not be reported.
    #[inline]
    fn may_skip(&self, _aqm: &AnyDiscipline) -> bool {
        true
    }
    /// The length of a bin that must be closed on time, if there is one.
    fn bin(&self) -> Option<Span> {
        None
    }
    /// All that happens at queue number `queue` before `now` has been reported.
    fn catch_up(&mut self, _queue: usize, _now: Time) {}
}

impl Probe for () {}
