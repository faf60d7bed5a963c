//! What becomes of a packet at a link, where each packet is followed.

use crate::packet::{Packet, PacketKind};
use crate::tcp::Content;
use aqm::Outcome;
use aqm::unit::{Span, Time};
use scenario::model::Ecn;

/// Why a link lost a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// At random, in front of the buffer.
    Random,
    /// The algorithm dropped it.
    Early,
    /// The buffer was full.
    Overflow,
    /// By a middlebox in front of the buffer, because of its ECN field.
    Ecn,
    /// On a half-duplex link, after its last collision.
    Collisions,
    /// On a link of a wireless LAN or a cell, after its last retry.
    Retries,
}

impl From<Outcome> for Cause {
    /// The cause of a drop with this outcome.
    fn from(outcome: Outcome) -> Self {
        if outcome == Outcome::Overflowed { Self::Overflow } else { Self::Early }
    }
}

/// How a packet was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// The link, by its number in the scenario.
    pub link: usize,
    /// When.
    pub at: Time,
    /// Why.
    pub cause: Cause,
    /// How long it had waited in the queue of that link.
    pub waited: Span,
}

/// How long a packet waited in the queue of a link with an AQM, from which it was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The packet's number.
    pub number: u32,
    /// The link, by its number in the scenario.
    pub link: usize,
    /// The time.
    pub waited: Span,
    /// Whether CE was set there or before.
    pub marked: bool,
}

/// A packet that the queue of a link has sent, or that a link has lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub(crate) packet: Packet,
    /// The link, by its number in the scenario.
    pub(crate) link: usize,
    /// When its transmission began, or it was lost; on a medium that links share, when it was sent.
    pub(crate) at: Time,
    /// Why it was lost; `None` if it was sent.
    pub(crate) lost: Option<Cause>,
    /// How long it had waited in the queue.
    pub(crate) waited: Span,
}

/// A packet as a tap at a link sees it: see [`Simulation::seen`](crate::Simulation::seen).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The link, by its number in the scenario.
    pub link: usize,
    /// When its transmission began, or it was lost; on a medium that links share, when it was sent.
    pub at: Time,
    /// Why it was lost; `None` if it was sent.
    pub lost: Option<Cause>,
    /// How long it had waited in the queue of that link.
    pub waited: Span,
    /// Whether CE is set.
    pub marked: bool,
    /// Where it comes from and where it goes, by the numbers of the nodes.
    pub ends: (usize, usize),
    /// The traffic entry, by its number.
    pub class: usize,
    /// Its kind.
    pub kind: PacketKind,
    /// The flow among those of its protocol, and the number of the connection among those of its slot.
    pub flow: (u32, u16),
    /// Bytes on the wire, without the link's framing.
    pub size: u16,
    /// The number of the segment, or the next that an ACK expects.
    pub seq: u32,
    /// The kind of TCP segment, if it is one.
    pub content: Content,
    /// Whether ECE is set.
    pub ece: bool,
    /// Whether CWR is set.
    pub cwr: bool,
    /// Its ECN field when it was sent.
    pub ecn: Ecn,
}

impl Wait {
    pub(crate) const fn new(packet: &Packet, link: usize, waited: Span) -> Self {
        Self { number: packet.number(), link, waited, marked: packet.is_marked() }
    }
}
