//! The contract of an algorithm on one queue: the packet and the backlog that it sees, and the verdicts that it returns.

use crate::params::{ParamError, Params};
use crate::unit::{Bytes, Limit, Rate, Span, Time};

/// What an algorithm may know of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Size on the wire in bytes.
    pub size: u32,
    /// Whether its transport understands CE marks (ECT, RFC 3168).
    pub ect: bool,
    /// Whether it says that its congestion control is scalable (ECT(1), RFC 9331), or may have said so before it was
    /// marked (CE). Then `ect` is true as well.
    pub l4s: bool,
    /// Whether its protocol is UDP.
    pub udp: bool,
    /// Its class of service: 1, the first, to [`CLASSES`].
    pub class: u8,
    /// What stands for its five-tuple: the same for the packets of a connection in one direction, and for no others.
    pub flow: u64,
    /// What stands for its addresses: the same for all packets from one host to another, and for no others.
    pub pair: u32,
}

/// How many classes of service there are.
pub const CLASSES: u8 = 4;

impl Packet {
    /// A packet of no flow in particular, in the first class.
    #[must_use]
    pub const fn new(size: u32, ect: bool) -> Self {
        Self { size, ect, l4s: false, udp: false, class: 1, flow: 0, pair: 0 }
    }

    /// The place of its class in a list with an entry for each of [`CLASSES`].
    #[inline]
    #[must_use]
    pub(crate) fn place(&self) -> usize {
        usize::from(self.class.clamp(1, CLASSES)) - 1
    }
}

/// The packets that wait, without the one in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// How many wait.
    pub packets: u32,
    /// Their sizes added up.
    pub bytes: u64,
    /// Whether the arriving packet does not fit: the queue will drop it whatever the verdict.
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

/// What to do with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Leave it alone.
    Pass,
    /// Set CE, then as [`Verdict::Pass`].
    Mark,
    /// Drop it.
    Drop,
    /// Drop it, an arrival, and also the packet that waits in this place, 0 for the first to leave.
    DropBoth(u32),
}

impl Verdict {
    /// Tells the sender of congestion: a mark where `markable`, else a drop.
    #[inline]
    #[must_use]
    pub const fn signal(markable: bool) -> Self {
        if markable { Self::Mark } else { Self::Drop }
    }
}

/// A source of random numbers that belongs to one queue alone.
pub trait Uniform {
    /// The next number, uniform on `[0, 1)`.
    fn uniform(&mut self) -> f64;

    /// True with probability `p`: never for 0, always for 1.
    #[inline]
    fn happens(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }
}

/// The link that a queue feeds: what an algorithm may know of its surroundings when it is set up.
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
}

/// A quantity inside an algorithm that a series can record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// Column name, in the source's symbols.
    pub name: &'static str,
    /// Unit, empty for none.
    pub unit: &'static str,
    /// One line.
    pub doc: &'static str,
}

/// An algorithm of active queue management: it decides, [`Queue`](crate::Queue) acts.
///
/// The host calls [`on_enqueue`](Aqm::on_enqueue) for every arrival, full buffer or not, before it is queued;
/// [`on_dequeue`](Aqm::on_dequeue) for every packet about to be sent; [`on_idle`](Aqm::on_idle) when the link
/// wants a packet and there is none, which is also the state at the start; and [`on_period`](Aqm::on_period)
/// exactly at the multiples of [`period`](Aqm::period), the first one period after the start. At equal times the
/// timer comes first, so an arrival exactly on the boundary belongs to the new period.
pub trait Aqm: Sized {
    /// Its parameters.
    type Params: Params;
    /// What it can tell of itself, in the order of [`Aqm::signals`].
    const SIGNALS: &'static [Signal];

    /// The algorithm at its start, on this port.
    fn new(params: &Self::Params, port: &Port) -> Self;

    /// Named sets of parameters: the name, and in one line whose values they are.
    const PRESETS: &'static [(&'static str, &'static str)] = &[];

    /// The parameters of one of [`Aqm::PRESETS`].
    fn preset(_name: &str) -> Option<Self::Params> {
        None
    }

    /// Whether parameters that are each in range also fit together.
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    fn check(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// The queue length in packets that it steers to, if it has one.
    fn target(_params: &Self::Params) -> Option<f64> {
        None
    }

    /// Decides on an arriving packet.
    fn on_enqueue<R: Uniform>(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut R)
    -> Verdict;

    /// Decides on a packet that has waited for `sojourn` and is about to be sent; `queue` no longer counts it.
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
    /// [`Verdict::DropBoth`] ever does anything to what it has let in. A host may then work out at once when a packet
    /// leaves, and call `on_dequeue` later, with the right times and in the right order.
    fn is_final(&self) -> bool {
        false
    }

    /// Names the place of a packet that waits, 0 for the first to leave, to be dropped because the buffer has no room
    /// for an arrival; `None` to drop the arrival or, once there is room, no more. Called until it names none, before [`Aqm::on_enqueue`].
    fn make_room<R: Uniform>(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _queue: &Backlog,
        _rng: &mut R,
    ) -> Option<u32> {
        None
    }

    /// Learns that a packet of its queue has been dropped because the buffer has no room.
    fn on_overflow(&mut self) {}

    /// Learns that the link has nothing to send from `now` on.
    #[inline]
    fn on_idle(&mut self, _now: Time) {}

    /// How often it wants [`Aqm::on_period`].
    fn period(&self) -> Option<Span> {
        None
    }

    /// Does its periodic work.
    fn on_period(&mut self, _now: Time, _queue: &Backlog) {}

    /// Whether its periodic work changes nothing, not one bit of what can be seen of it, as long as nothing arrives or
    /// leaves. A host that asks between an `on_period` and what follows may then leave out the next ones.
    fn rests(&self, _queue: &Backlog) -> bool {
        false
    }

    /// Tells `visit` the number and present value of every signal.
    fn signals(&self, visit: impl FnMut(usize, f64));
}
