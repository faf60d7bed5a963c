//! The contract of an algorithm on one queue: the packet and the backlog that it sees, and the verdicts that it
//! returns.

use crate::params::{ParamError, Params};
use crate::unit::{Bytes, Limit, Rate, Span, Time};
use alloc::vec::Vec;

/// The properties of a packet that an algorithm may read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Size on the wire in bytes.
    pub size: u32,
    /// Whether its transport is ECN-capable (ECT, RFC 3168).
    pub ect: bool,
    /// Whether its codepoint is ECT(1), for scalable congestion control (RFC 9331), or CE, which may have been ECT(1).
    /// `ect` is then true as well.
    pub l4s: bool,
    /// Whether its protocol is UDP.
    pub udp: bool,
    /// Its class of service: 1, the first, to [`CLASSES`].
    pub class: u8,
    /// Represents the five-tuple: equal for all packets of a connection in one direction, and for no others.
    pub flow: u64,
    /// Represents the addresses: equal for all packets from one host to another, and for no others.
    pub pair: u32,
}

/// The number of classes of service.
pub const CLASSES: u8 = 4;

impl Packet {
    /// A packet of an unspecified flow, in the first class.
    #[must_use]
    pub const fn new(size: u32, ect: bool) -> Self {
        Self { size, ect, l4s: false, udp: false, class: 1, flow: 0, pair: 0 }
    }

    /// The index of its class in a list with an entry for each of [`CLASSES`].
    #[inline]
    #[must_use]
    pub(crate) fn place(&self) -> usize {
        usize::from(self.class.clamp(1, CLASSES)) - 1
    }
}

/// The packets that wait, without the one in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// The number of packets.
    pub packets: u32,
    /// The sum of their sizes.
    pub bytes: u64,
    /// Whether the arriving packet does not fit: the queue then drops it, whatever the verdict; with
    /// [`Verdict::DropBoth`], as an early drop and together with the other.
    pub full: bool,
}

impl Backlog {
    /// The length in packets; in byte mode, in packets of `mean` bytes.
    #[inline]
    #[must_use]
    pub fn length(&self, bytes: bool, mean: f64) -> f64 {
        if bytes { self.bytes as f64 / mean } else { f64::from(self.packets) }
    }
}

/// The decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Leave it unchanged.
    Pass,
    /// Set CE, then as [`Verdict::Pass`].
    Mark,
    /// Drop it.
    Drop,
    /// Drop the arriving packet and the waiting packet at this position, 0 for the first to leave.
    DropBoth(u32),
}

impl Verdict {
    /// The congestion signal to a sender: a mark if `markable`, otherwise a drop.
    #[inline]
    #[must_use]
    pub const fn signal(markable: bool) -> Self {
        if markable { Self::Mark } else { Self::Drop }
    }
}

/// A source of random numbers that is used by one queue only.
pub trait Uniform {
    /// The next number, uniform on `[0, 1)`.
    fn uniform(&mut self) -> f64;

    /// True with probability `p`: never for 0, always for 1.
    #[inline]
    fn happens(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }
}

/// The link that a queue feeds: the properties that an algorithm may read when it is created.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Port {
    /// The link's rate.
    pub rate: Rate,
    /// The link's one-way propagation delay.
    pub delay: Span,
    /// The buffer.
    pub limit: Limit,
    /// The size of the traffic's usual data packet, for algorithms that count in packets.
    pub packet: Bytes,
    /// Bytes of the link's own header in each packet as the queue sees it.
    pub header: Bytes,
}

impl Port {
    /// A link of this rate behind this buffer, for packets of at most 1500 bytes without a header of the link's own.
    #[must_use]
    pub const fn new(rate: Rate, limit: Limit) -> Self {
        Self { rate, delay: Span::ZERO, limit, packet: Bytes(1500), header: Bytes(0) }
    }

    /// Checks that the rate and the packet are not zero.
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        if self.rate.whole_bits() == 0 {
            return Err(ParamError::invalid("rate", "0 bit/s", "more than 0 bit/s"));
        }
        if self.packet.0 == 0 {
            return Err(ParamError::invalid("packet", "0 B", "at least 1 B"));
        }
        Ok(())
    }

    /// The largest packet that a device of Linux sends (`psched_mtu`): 1500 bytes, or the traffic's packets if those
    /// are larger, and the link's own header.
    #[must_use]
    pub fn mtu(&self) -> Bytes {
        Bytes(self.packet.0.max(1500 + self.header.0))
    }
}

/// The memory that Linux uses for a packet of `size` bytes on Ethernet.
pub(crate) const fn memory(size: u32) -> u64 {
    if size > 640 { 2304 } else { 768 }
}

/// A state of an algorithm that a series can record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// Column name, in the source's symbols.
    pub name: &'static str,
    /// Unit, empty for none.
    pub unit: &'static str,
    /// Definition, in one line.
    pub doc: &'static str,
}

/// A number that the source of an algorithm shows of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reading {
    /// Packets or bytes since the start, of which those of a time are a difference.
    Count(u64),
    /// A value at present, or the extreme of one since the start.
    Level(f64),
}

impl Reading {
    /// The number itself.
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Level(level) => level,
        }
    }
}

/// The numbers of a law that are not parameters as written, since they depend on the port or on several parameters.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Numbers {
    /// Each with its name. A parameter of the same name is thereby replaced.
    pub values: Vec<(&'static str, f64)>,
    /// The parameters on which they depend, besides those of the same name.
    pub of: Vec<&'static str>,
}

/// An AQM algorithm on one queue: it decides, and [`Queue`](crate::Queue) acts.
///
/// The host calls [`on_enqueue`](Aqm::on_enqueue) for every arrival before it is queued, even if the buffer is full;
/// [`on_dequeue`](Aqm::on_dequeue) for every packet about to be sent; [`on_idle`](Aqm::on_idle) when the link is free
/// and no packet waits, which is also the state at the start; and [`on_period`](Aqm::on_period) exactly at the
/// multiples of [`period`](Aqm::period), first one period after the start. Of simultaneous events the timer comes
/// first, so an arrival exactly on the boundary belongs to the new period.
pub trait Aqm: Sized {
    /// Its parameters.
    type Params: Params;
    /// Its signals, in the order of [`Aqm::signals`].
    const SIGNALS: &'static [Signal];

    /// The algorithm in its initial state, on this port.
    fn new(params: &Self::Params, port: &Port) -> Self;

    /// Named sets of parameters: the name, and whose values they are, in one line.
    const PRESETS: &'static [(&'static str, &'static str)] = &[];

    /// The parameters of one of [`Aqm::PRESETS`].
    fn preset(_name: &str) -> Option<Self::Params> {
        None
    }

    /// Checks that parameters which are each in range also fit together.
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    fn check(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// Checks that parameters which fit together also fit the port, on which values that are omitted depend.
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    fn check_on(_params: &Self::Params, _port: &Port) -> Result<(), ParamError> {
        Ok(())
    }

    /// The target queue length in packets, if the algorithm has one.
    fn target(_params: &Self::Params) -> Option<f64> {
        None
    }

    /// The numbers of its program in fixed point that are not parameters as written; see
    /// [`AnyParams::fixed`](crate::AnyParams::fixed).
    fn fixed(_params: &Self::Params, _port: &Port) -> Numbers {
        Numbers::default()
    }

    /// Decides on an arriving packet.
    fn on_enqueue<R: Uniform>(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut R)
    -> Verdict;

    /// Decides on a packet that has waited for `sojourn` and is about to be sent; `queue` no longer includes it.
    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _queue: &Backlog,
        _sojourn: Span,
        _rng: &mut R,
    ) -> Verdict {
        Verdict::Pass
    }

    /// Whether its decision on an arrival is final: neither [`Aqm::on_dequeue`] nor [`Aqm::make_room`] nor
    /// [`Verdict::DropBoth`] ever affects an accepted packet. A host may then compute at the arrival when the packet
    /// leaves, and call `on_dequeue` later, with the correct times and in the correct order.
    fn is_final(&self) -> bool {
        false
    }

    /// Whether [`Aqm::on_dequeue`] may drop the packet: who needs to know which packet leaves next has to ask it first.
    fn drops_late(&self) -> bool {
        false
    }

    /// Returns the position of a waiting packet, 0 for the first to leave, to be dropped because the buffer has no
    /// room for an arrival; `None` to drop the arrival or, once there is room, to end. Called before
    /// [`Aqm::on_enqueue`], until it returns `None`.
    fn make_room<R: Uniform>(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _queue: &Backlog,
        _rng: &mut R,
    ) -> Option<u32> {
        None
    }

    /// Notifies the algorithm that a packet that waited in its queue has been dropped because the buffer, which several
    /// queues share, is full. An arrival that is refused comes to [`Aqm::on_enqueue`] with `full` instead.
    fn on_overflow(&mut self, _now: Time) {}

    /// Notifies the algorithm that the link is idle from `now` on.
    #[inline]
    fn on_idle(&mut self, _now: Time) {}

    /// The period of [`Aqm::on_period`], if it has one.
    fn period(&self) -> Option<Span> {
        None
    }

    /// Hands over how long the first waiting packet has waited, zero if none waits; called just before
    /// [`Aqm::on_period`].
    fn on_head(&mut self, _age: Span) {}

    /// Performs the periodic update.
    fn on_period(&mut self, _now: Time, _queue: &Backlog) {}

    /// Whether the periodic update changes nothing, not one bit of the observable state, as long as no packet arrives
    /// or leaves. A host that asks between an `on_period` and the next event may then omit the following updates.
    fn rests(&self, _queue: &Backlog) -> bool {
        false
    }

    /// Whether it can take over the state of `before`: not if their counts have different meanings or their tables
    /// different sizes.
    fn can_resume(&self, _before: &Self) -> bool {
        true
    }

    /// Takes over the state of `before`: the same algorithm with other parameters or on another port, in whose place it
    /// continues on the same queue. Called once, on an algorithm in its initial state, and only if
    /// [`Aqm::can_resume`].
    ///
    /// A state that the new parameters bound is clipped. A parameter that only sets an initial value has no effect.
    /// What has been counted in a period is discarded if the period has another length now. With the same parameters
    /// and port, the algorithm is then `before` itself.
    fn resume(&mut self, before: Self);

    /// Calls `visit` with the name and the present value of every number that the source shows beside those of
    /// [`Queue`](crate::Queue), under the source's names.
    fn counters(&self, _visit: &mut dyn FnMut(&str, Reading)) {}

    /// Calls `visit` with the index and the present value of every signal.
    fn signals(&self, visit: impl FnMut(usize, f64));
}
