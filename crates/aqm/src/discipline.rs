//! The contract of an algorithm that keeps several queues in one buffer.

use crate::contract::{Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::{ParamError, Params};
use crate::unit::{Span, Time};

/// One of the queues that share a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lane {
    /// The number of waiting packets.
    pub packets: u32,
    /// The sum of their sizes.
    pub bytes: u64,
    /// The first of them.
    pub head: Option<Head>,
    /// The size of the last of them in bytes, 0 if there is none.
    pub tail: u32,
}

/// The packet at the head of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The time of its arrival.
    pub arrived: Time,
    /// Its size in bytes.
    pub size: u32,
}

impl Lane {
    /// Its backlog, as an algorithm on this lane alone sees it; `full` applies to the buffer.
    #[inline]
    #[must_use]
    pub const fn backlog(&self, full: bool) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes, full }
    }
}

/// An algorithm that keeps several queues, called lanes, in one buffer in front of one link: it decides which lane a
/// packet joins, which lane is served next, and which packets are dropped or marked. [`Queue`](crate::Queue) acts.
///
/// The host calls as for [`Aqm`](crate::Aqm); items of the same name have the same meaning. `buffer` is the backlog of
/// all lanes; `lanes` has one entry per lane. The link is never idle while a packet waits.
pub trait Discipline: Sized {
    /// See [`Aqm::Params`](crate::Aqm::Params).
    type Params: Params;
    /// See [`Aqm::SIGNALS`](crate::Aqm::SIGNALS).
    const SIGNALS: &'static [Signal];
    /// The names of the lanes, if they are few and distinguished in results.
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

    /// The number of lanes, which is constant and at least one.
    fn lanes(&self) -> usize;

    /// Decides on an arriving packet and chooses its lane, also if it is dropped.
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict);

    /// Returns a waiting packet, by lane and position, to be dropped because the buffer has no room for an arrival;
    /// `None` to drop the arrival or, once there is room, to end. Called before [`Discipline::on_enqueue`], until it
    /// returns `None`.
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

    /// Returns a waiting packet, by lane and position, to be dropped early. Called after every arrival, once it has
    /// joined its lane or has been dropped, until it returns `None`. The packet may be the arrival.
    fn evict(&mut self, _now: Time, _lanes: &[Lane]) -> Option<(usize, u32)> {
        None
    }

    /// The lane whose first packet is sent next; it must not be empty. Called only while a packet waits.
    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize;

    /// Decides on a packet from `lane` that has waited for `sojourn` and is about to be sent; `buffer` and `lanes` no
    /// longer include it. After a drop, [`Discipline::serve`] is called again.
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
