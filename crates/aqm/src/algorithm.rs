//! What a [`Queue`](crate::Queue) asks of its algorithm.

use crate::contract::{Aqm, Backlog, Packet, Port, Uniform, Verdict};
use crate::discipline::{Eviction, Label, Lane};
use crate::unit::{Rate, Span, Time};

/// An algorithm in a queue: any of the list, as [`AnyDiscipline`](crate::AnyDiscipline), or [`One`] alone.
///
/// The methods mean what those of [`Discipline`](crate::Discipline) do, or of [`Aqm`] for what only that has. The
/// defaults are those of an algorithm on one queue, which is lane 0.
#[allow(missing_docs, clippy::too_many_arguments)]
pub trait Algorithm: Sized {
    /// The number of its lanes, if it is one that keeps several.
    fn several(&self) -> Option<usize> {
        None
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict);

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)>;

    /// `state` is not computed for algorithms that do not read it.
    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        lane: usize,
        state: impl FnOnce() -> (Packet, Backlog),
        lanes: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict;

    fn on_idle(&mut self, now: Time);

    fn period(&self) -> Option<Span>;

    /// `age` is for [`Aqm::on_head`].
    fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane], age: Span);

    /// Algorithms on several queues do not rest.
    fn rests(&self, buffer: &Backlog) -> bool;

    /// False if `before` is another algorithm or has another number of lanes.
    fn can_resume(&self, before: &Self) -> bool;

    fn resume(&mut self, now: Time, before: Self);

    #[inline(always)]
    fn evict(&mut self, _now: Time, _lanes: &[Lane]) -> Option<Eviction> {
        None
    }

    fn reads_labels(&self) -> bool {
        false
    }

    fn reads_acks(&self) -> bool {
        false
    }

    fn on_label(&mut self, _label: Label) {}

    #[inline(always)]
    fn paused_until(&self, _now: Time) -> Option<Time> {
        None
    }

    fn overfull(&self, _lanes: &[Lane]) -> Option<usize> {
        None
    }

    fn on_trim(&mut self, _lane: usize, _size: u32, _lanes: &[Lane]) {}

    #[inline(always)]
    fn has_limits_inside(&self) -> bool {
        false
    }

    #[inline(always)]
    fn can_serve(&mut self, _now: Time, _lanes: &[Lane]) -> bool {
        true
    }

    #[inline(always)]
    fn serve(&mut self, _now: Time, _lanes: &[Lane]) -> usize {
        0
    }

    #[inline(always)]
    fn kept(&mut self) -> Option<usize> {
        None
    }

    #[inline(always)]
    fn joined(&self, lane: usize) -> usize {
        lane
    }

    fn set_rate(&mut self, _rate: Rate) {}

    /// See [`Instance::steer`](crate::user_defined::Instance::steer); algorithms that are not user-defined ignore the
    /// value.
    fn steer(&mut self, _value: f64) {}
}

/// One algorithm on one queue: a program that names no other contains no other.
#[derive(Clone, Debug)]
pub struct One<A>(pub A);

impl<A: Aqm> One<A> {
    /// The algorithm in its initial state, on this port.
    #[must_use]
    pub fn new(params: &A::Params, port: &Port) -> Self {
        Self(A::new(params, port))
    }
}

impl<A: Aqm> Algorithm for One<A> {
    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        _: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        (0, self.0.on_enqueue(now, packet, buffer, rng))
    }

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        _: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        self.0.make_room(now, packet, buffer, rng).map(|place| (0, place))
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        _: usize,
        state: impl FnOnce() -> (Packet, Backlog),
        _: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        let (packet, buffer) = state();
        self.0.on_dequeue(now, &packet, &buffer, sojourn, rng)
    }

    fn on_idle(&mut self, now: Time) {
        self.0.on_idle(now);
    }

    fn period(&self) -> Option<Span> {
        self.0.period()
    }

    fn on_period(&mut self, now: Time, buffer: &Backlog, _: &[Lane], age: Span) {
        self.0.on_head(age);
        self.0.on_period(now, buffer);
    }

    fn rests(&self, buffer: &Backlog) -> bool {
        self.0.rests(buffer)
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.0.can_resume(&before.0)
    }

    fn resume(&mut self, _: Time, before: Self) {
        self.0.resume(before.0);
    }
}
