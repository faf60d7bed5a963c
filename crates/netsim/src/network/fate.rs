//! What becomes of a packet at a link, where each packet is followed.

use crate::packet::Packet;
use aqm::Outcome;
use aqm::unit::{Span, Time};

/// Why a link lost a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// At random, in front of the buffer.
    Random,
    /// The algorithm dropped it.
    Early,
    /// The buffer was full.
    Overflow,
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

impl Wait {
    pub(crate) const fn new(packet: &Packet, link: usize, waited: Span) -> Self {
        Self { number: packet.number(), link, waited, marked: packet.is_marked() }
    }
}
