//! The contract of an algorithm that keeps several queues in one buffer.

use crate::contract::{Backlog, Numbers, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::params::{ParamError, Params};
use crate::unit::{Rate, Span, Time};

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
    /// How long its first packet has waited; zero if there is none.
    #[inline]
    #[must_use]
    pub fn age(&self, now: Time) -> Span {
        self.head.map_or(Span::ZERO, |head| now.since(head.arrived))
    }

    /// Its backlog, as an algorithm on this lane alone sees it; `full` applies to the buffer.
    #[inline]
    #[must_use]
    pub const fn backlog(&self, full: bool) -> Backlog {
        Backlog { packets: self.packets, bytes: self.bytes, full }
    }
}

/// What only some algorithms read of a packet: those for which [`Discipline::reads_labels`] is true.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Label {
    /// Represents the host that sent it.
    pub source: u32,
    /// Represents the host to which it goes.
    pub destination: u32,
    /// Its differentiated services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// What it says, if it is a TCP acknowledgement without data.
    pub ack: Option<Ack>,
}

/// A TCP acknowledgement without data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    /// The first number that it does not acknowledge.
    pub next: u32,
    /// Its SACK blocks, each from the first number in it to the first beyond; those with equal numbers are empty.
    pub blocks: [(u32, u32); 3],
    /// Its ECN flags: whether it echoes congestion, or the counter of Accurate ECN.
    pub ecn: u8,
}

/// A waiting packet that is dropped in favour of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eviction {
    /// Its lane.
    pub lane: usize,
    /// Its position there, 0 for the first to leave.
    pub place: u32,
    /// Whether it is dropped because there is no room; otherwise it counts as an early drop.
    pub full: bool,
}

/// An algorithm that keeps several queues, called lanes, in one buffer in front of one link: it decides which lane a
/// packet joins, which lane is served next, and which packets are dropped or marked. [`Queue`](crate::Queue) acts.
///
/// The host calls as for [`Aqm`](crate::Aqm); items of the same name have the same meaning. `buffer` is the backlog of
/// all lanes; `lanes` has one entry per lane. The link is never idle while a packet waits, unless the algorithm pauses it
/// ([`Discipline::paused_until`]).
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

    /// See [`Aqm::check_on`](crate::Aqm::check_on).
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    fn check_on(_params: &Self::Params, _port: &Port) -> Result<(), ParamError> {
        Ok(())
    }

    /// See [`Aqm::target`](crate::Aqm::target).
    fn target(_params: &Self::Params) -> Option<f64> {
        None
    }

    /// See [`Aqm::fixed`](crate::Aqm::fixed).
    fn fixed(_params: &Self::Params, _port: &Port) -> Numbers {
        Numbers::default()
    }

    /// The number of lanes, which is constant and at least one.
    fn lanes(&self) -> usize;

    /// Whether [`Discipline::on_label`] has to be called before each [`Discipline::make_room`] or
    /// [`Discipline::on_enqueue`].
    fn reads_labels(&self) -> bool {
        false
    }

    /// Whether the labels must have [`Label::ack`].
    fn reads_acks(&self) -> bool {
        false
    }

    /// Hands the rate that the link has from now on to the algorithms inside: a user-defined one reads it.
    fn set_rate(&mut self, _rate: Rate) {}

    /// Hands over the label of the packet that arrives next.
    fn on_label(&mut self, _label: Label) {}

    /// Decides on an arriving packet and chooses its lane, also if it is dropped.
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict);

    /// Whether disciplines inside have limits of their own: [`Discipline::make_room`] is then called before each arrival.
    fn has_limits_inside(&self) -> bool {
        false
    }

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

    /// Returns a waiting packet to be dropped. Called after every arrival, once it has joined its lane or has been dropped,
    /// until it returns `None`. The packet may be the arrival.
    fn evict(&mut self, _now: Time, _lanes: &[Lane]) -> Option<Eviction> {
        None
    }

    /// The time before which nothing is sent although packets wait, if it has not come yet. The host then asks again at
    /// that time and after each arrival.
    fn paused_until(&self, _now: Time) -> Option<Time> {
        None
    }

    /// Whether a packet is sent now; if not, the link is paused. Called just before [`Discipline::serve`], while a packet
    /// waits and the link is not paused.
    fn can_serve(&mut self, _now: Time, _lanes: &[Lane]) -> bool {
        true
    }

    /// The lane whose first packet is sent next; it must not be empty. Called only while a packet waits and the link is not
    /// paused.
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

    /// The lane in which the packet that has just been let through waits on instead of being sent, because a discipline
    /// around the one that decided had to know it first.
    fn kept(&mut self) -> Option<usize> {
        None
    }

    /// The lane that the first packet of `lane` joined when it came; another one only if it has been kept since.
    fn joined(&self, lane: usize) -> usize {
        lane
    }

    /// Whether [`Discipline::peek`] always knows the size of the packet that is sent next.
    fn is_peekable(&self) -> bool {
        false
    }

    /// The size of the packet that is sent next, if it is known before [`Discipline::serve`].
    fn peek(&self, _lanes: &[Lane]) -> Option<u32> {
        None
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

    /// See [`Aqm::can_resume`](crate::Aqm::can_resume); not called if the numbers of lanes differ.
    fn can_resume(&self, _before: &Self) -> bool {
        true
    }

    /// See [`Aqm::resume`](crate::Aqm::resume). A timer that has another period now begins it at `now`.
    fn resume(&mut self, now: Time, before: Self);

    /// A lane whose first packet has to be dropped because a discipline inside has got a limit that is too small for what
    /// waits there. Called after [`Discipline::resume`] and after each such drop, until it returns `None`.
    fn overfull(&self, _lanes: &[Lane]) -> Option<usize> {
        None
    }

    /// Notifies the algorithm that the first packet of a lane, of `size` bytes, has been dropped because the buffer has
    /// become smaller; `lanes` no longer include it. Only an algorithm that keeps account of the packets that wait has
    /// something to do.
    fn on_trim(&mut self, _lane: usize, _size: u32, _lanes: &[Lane]) {}

    /// See [`Aqm::counters`](crate::Aqm::counters).
    fn counters(&self, _visit: &mut dyn FnMut(&str, Reading)) {}

    /// See [`Aqm::signals`](crate::Aqm::signals).
    fn signals(&self, visit: impl FnMut(usize, f64));
}
