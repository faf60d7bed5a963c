//! The contract of an algorithm that keeps several queues in one buffer.

use crate::contract::{Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::{ParamError, Params};
use crate::unit::{Span, Time};

/// One of the queues that share a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lane {
    /// How many packets wait in it.
    pub packets: u32,
    /// Their sizes added up.
    pub bytes: u64,
    /// The first of them.
    pub head: Option<Head>,
    /// The size of the last of them in bytes, 0 if there is none.
    pub tail: u32,
}

/// The packet at the head of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// When it came.
    pub arrived: Time,
    /// Its size in bytes.
    pub size: u32,
}

impl Lane {
    /// Its backlog, as an algorithm on this lane alone sees it; `full` is that of the buffer.
    #[inline]
    #[must_use]
    pub const fn backlog(&self, full: bool) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes, full }
    }
}

/// An algorithm that keeps several queues, lanes, side by side in one buffer before one link: it decides which of
/// them a packet joins, which is served next, and what is dropped or marked. [`Queue`](crate::Queue) acts.
///
/// The host calls as for [`Aqm`](crate::Aqm), whose items of the same names are the same here. `buffer` is all
/// lanes together; `lanes` has one entry a lane. The link is never left idle while a packet waits.
pub trait Discipline: Sized {
    /// See [`Aqm::Params`](crate::Aqm::Params).
    type Params: Params;
    /// See [`Aqm::SIGNALS`](crate::Aqm::SIGNALS).
    const SIGNALS: &'static [Signal];
    /// The names of the lanes, where they are few and results tell them apart.
    const LANES: &'static [&'static str] = &[];

    /// See [`Aqm::new`](crate::Aqm::new).
    fn new(params: &Self::Params, port: &Port) -> Self;

    /// See [`Aqm::PRESETS`](crate::Aqm::PRESETS).
    const PRESETS: &'static [(&'static str, &'static str)] = &[];

    /// See [`Aqm::preset`](crate::Aqm::preset).
    fn preset(_name: &str) -> Option<Self::Params> {
        None
    }

    /// See [`Aqm::check`](crate::Aqm::check).
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    fn check(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// See [`Aqm::target`](crate::Aqm::target).
    fn target(_params: &Self::Params) -> Option<f64> {
        None
    }

    /// How many lanes there are: always the same, at least one.
    fn lanes(&self) -> usize;

    /// Decides on an arriving packet, and which lane it is in: also if it is dropped.
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict);

    /// Names a packet that waits, by lane and place, to be dropped because the buffer has no room for an arrival;
    /// `None` to drop the arrival or, once there is room, no more. Called until it names none, before
    /// [`Discipline::on_enqueue`].
    fn make_room<R: Uniform>(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _buffer: &Backlog,
        _lanes: &[Lane],
        _rng: &mut R,
    ) -> Option<(usize, u32)> {
        None
    }

    /// Names a packet that waits, by lane and place, to be dropped early. Called after every arrival, once it has
    /// joined its lane or has been dropped, until it names none; `None` for none. It may name the arrival.
    fn evict(&mut self, _now: Time, _lanes: &[Lane]) -> Option<(usize, u32)> {
        None
    }

    /// The lane whose first packet the link gets next. Some packet waits; the lane must not be empty.
    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize;

    /// Decides on the packet from `lane` that has waited for `sojourn` and is about to be sent; `buffer` and `lanes`
    /// no longer count it. After a drop, [`Discipline::serve`] is called again.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _now: Time,
        _lane: usize,
        _packet: &Packet,
        _buffer: &Backlog,
        _lanes: &[Lane],
        _sojourn: Span,
        _rng: &mut R,
    ) -> Verdict {
        Verdict::Pass
    }

    /// See [`Aqm::on_idle`](crate::Aqm::on_idle).
    #[inline]
    fn on_idle(&mut self, _now: Time) {}

    /// See [`Aqm::period`](crate::Aqm::period).
    fn period(&self) -> Option<Span> {
        None
    }

    /// See [`Aqm::on_period`](crate::Aqm::on_period).
    fn on_period(&mut self, _now: Time, _buffer: &Backlog, _lanes: &[Lane]) {}

    /// See [`Aqm::signals`](crate::Aqm::signals).
    fn signals(&self, visit: impl FnMut(usize, f64));
}
