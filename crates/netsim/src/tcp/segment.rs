//! The messages between the two ends of a connection: segments and acknowledgements.

use aqm::unit::{Span, Time};
use scenario::model::MOST_BLOCKS;

/// Duplicate ACKs, or segments SACKed above a hole, that count as a loss (RFC 5681, section 3.2; RFC 6675).
pub(super) const DUP_THRESH: u32 = 3;

/// Runs `[low, high)` of segments; `(0, 0)` where there is none.
pub type Blocks = [(u32, u32); MOST_BLOCKS];

pub(super) const NO_BLOCKS: Blocks = [(0, 0); MOST_BLOCKS];

/// What a segment of the sender's is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Full of data.
    Data,
    /// The SYN.
    Syn,
    /// A FIN without data.
    Fin,
    /// Neither of them, and without data: it answers the receiver's SYN or FIN.
    Ack,
}

/// A segment on its way to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its number; of an ACK, that of the next one.
    pub seq: u32,
    /// SYN, data, FIN or ACK alone.
    pub content: Content,
    /// Whether it is a retransmission.
    pub retransmission: bool,
    /// Whether CWR, "congestion window reduced", is set; in a SYN, whether it asks for ECN (RFC 3168, section 6.1.1).
    pub cwr: bool,
    /// Whether it may be marked.
    pub ect: bool,
    /// Whether its codepoint is ECT(1), for scalable congestion control (RFC 9331).
    pub l4s: bool,
    /// Whether it is the last that the application has handed over so far.
    pub push: bool,
    /// When it was sent, for the ACK to echo.
    pub sent: Time,
}

/// An acknowledgement on its way to the sender.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ack {
    /// The next segment expected: all below have arrived.
    pub next: u32,
    /// Whether CE arrived (RFC 3168).
    pub ece: bool,
    /// Whether it may be marked, as those of DCTCP may; whether its codepoint then is ECT(1).
    pub ect: bool,
    /// See `ect`.
    pub l4s: bool,
    /// If the ends use Accurate ECN, its counter: 5 and the marked segments that have arrived, modulo 8; in the answer to a
    /// SYN, the SYN's own ECN field (ACE of RFC 9768).
    pub marks: Option<u8>,
    /// The sending time of a segment that this ACK covers (RFC 7323).
    pub echo: Time,
    /// The segments that have arrived beyond `next`, the latest first.
    pub blocks: Blocks,
    /// An option beyond these.
    pub option: AckOption,
}

/// What an ACK has besides blocks, for which it then has less room.
// One of the two: an ACK must stay small.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum AckOption {
    /// Nothing.
    #[default]
    None,
    /// The one-way delay of the latest segment, for LEDBAT.
    Delay(Span),
    /// The option of Accurate ECN.
    Counts(Counts),
}

impl Content {
    /// Whether it is the SYN.
    #[must_use]
    #[inline]
    pub const fn is_syn(self) -> bool {
        matches!(self, Self::Syn)
    }
}

impl AckOption {
    /// The counters of Accurate ECN's option.
    #[must_use]
    pub const fn counts(self) -> Option<Counts> {
        if let Self::Counts(counts) = self { Some(counts) } else { None }
    }
}

/// The option of Accurate ECN: the segments that have arrived by their ECN field, modulo 65536.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Those with ECT(1).
    pub ect1: u16,
    /// Those with CE.
    pub ce: u16,
    /// Those with ECT(0), for which there is no room beside two SACK blocks.
    pub ect0: Option<u16>,
}

impl Ack {
    /// Whether there is a block. They fill up from the first.
    #[must_use]
    #[inline]
    pub const fn has_blocks(&self) -> bool {
        self.blocks[0].1 != 0
    }
}

/// Where a sender puts its segments.
pub trait Outbox {
    /// Sends `segment` now.
    fn send(&mut self, segment: Segment);
}
