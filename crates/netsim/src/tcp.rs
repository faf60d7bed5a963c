//! TCP, without a clock or a network: a [`Sender`] and a [`Receiver`] that take the time and a segment or an ACK
//! and answer with what to send and when to be woken. Everything is counted in segments of one size, as ns-2
//! does; segment 0 is the SYN where there is a handshake.

pub mod congestion;
pub mod ends;
pub mod rack;
pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod sender;

use aqm::unit::{Span, Time};
use scenario::model::{Congestion, Flavour, HEADER, Halved, LimitedTransmit, RtoFloor, SackRecovery, Tcp};

pub use ends::{Receiver, Sender};

/// Duplicate ACKs, or segments SACKed above a hole, that count as a loss (RFC 5681, section 3.2; RFC 6675).
const DUP_THRESH: u32 = 3;

/// SACK blocks in one ACK at most (with timestamps there is room for three, RFC 2018, section 3).
pub const MOST_BLOCKS: usize = 3;

/// Runs `[low, high)` of segments; `(0, 0)` where there is none.
pub type Blocks = [(u32, u32); MOST_BLOCKS];

const NO_BLOCKS: Blocks = [(0, 0); MOST_BLOCKS];

/// A segment on its way to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its number.
    pub seq: u32,
    /// Whether it is the SYN.
    pub syn: bool,
    /// Whether it was sent before.
    pub again: bool,
    /// Whether it says "congestion window reduced" (RFC 3168).
    pub cwr: bool,
    /// Whether it may be marked.
    pub ect: bool,
    /// Whether it also says that its congestion control is scalable: ECT(1) (RFC 9331).
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
    /// The sending time of a segment that this ACK covers (RFC 7323).
    pub echo: Time,
    /// What has arrived beyond `next`, the latest first.
    pub blocks: Blocks,
    /// How long the latest segment took, for LEDBAT; such an ACK has a block less.
    pub delay: Option<Span>,
}

/// Bytes that the two ends of a connection have on the heap, however little is outstanding.
#[must_use]
pub fn bytes_on_heap(tcp: &Tcp) -> u64 {
    let board = if tcp.flavour == Flavour::Sack { size_of::<scoreboard::Scoreboard>() } else { 0 };
    let bytes = match tcp.flavour {
        Flavour::Rack => {
            let ends = size_of::<rack::Sender>() + size_of::<rack::receiver::Receiver>();
            ends + rack::congestion::Control::bytes(tcp.congestion)
        }
        _ => board + size_of::<receiver::Beyond>() + congestion::Control::bytes(tcp),
    };
    bytes as u64
}

/// Bytes for every outstanding segment. Rings grow by doubling.
#[must_use]
pub fn bytes_a_segment(tcp: &Tcp) -> u64 {
    match tcp.flavour {
        Flavour::Rack => 2 * rack::board::BYTES as u64,
        _ => 0,
    }
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

/// A connection's parameters as sender and receiver use them: shared by all flows of a traffic entry.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is the parameter of the same name in scenario::model::Tcp")]
pub struct Profile {
    pub flavour: Flavour,
    /// Whether ACKs carry SACK blocks.
    pub sack: bool,
    pub sack_recovery: SackRecovery,
    pub sack_blocks: usize,
    pub delayed_ack: bool,
    pub delayed_ack_timeout: Span,
    pub delayed_ack_of_repeat: bool,
    pub max_window: u32,
    pub initial_window: u32,
    pub initial_ssthresh: u32,
    pub initial_rto: Span,
    pub min_rto: Span,
    pub max_rto: Span,
    pub rto_floor: RtoFloor,
    pub quick_acks: u32,
    pub compressed_acks: bool,
    pub hystart: bool,
    pub tick: Span,
    pub tick_phase: bool,
    pub timestamps: bool,
    pub limited_transmit: LimitedTransmit,
    pub impatient: bool,
    pub halved: Halved,
    pub recovery_burst: u32,
    pub grow_after_recovery: bool,
    pub handshake: bool,
    pub ecn: bool,
    pub ecn_again: bool,
    pub l4s: bool,
    pub restart_after_idle: bool,
    pub restart_window: u32,
    pub slow_start_step: u32,
    pub congestion: Congestion,
    pub beta: f64,
    pub c: f64,
    pub fast_convergence: bool,
    pub reno_friendly: bool,
    pub g: f64,
    pub target: Span,
    pub gain: f64,
    pub allowed_increase: f64,
    pub base_history: u32,
    /// Size of a full segment on the wire in bytes.
    pub size: u32,
    pub header: u32,
}

impl Profile {
    /// The parameters `tcp` for segments of `size` bytes on the wire.
    #[must_use]
    pub fn new(tcp: &Tcp, size: u32) -> Self {
        let header = tcp.header.0 as u32;
        // RFC 5681, equation 1.
        let standard_window = match size - header {
            2191.. => 2,
            1096.. => 3,
            _ => 4,
        };
        let initial_window = tcp.initial_window.unwrap_or(standard_window);
        Self {
            flavour: tcp.flavour,
            sack: matches!(tcp.flavour, Flavour::Sack | Flavour::Rack),
            sack_recovery: tcp.sack_recovery,
            sack_blocks: match tcp.congestion {
                Congestion::Ledbat => (tcp.sack_blocks as usize).min(MOST_BLOCKS - 1),
                _ => tcp.sack_blocks as usize,
            },
            delayed_ack: tcp.delayed_ack,
            delayed_ack_timeout: tcp.delayed_ack_timeout,
            delayed_ack_of_repeat: tcp.delayed_ack_of_repeat,
            max_window: tcp.max_window,
            initial_window,
            initial_ssthresh: tcp.initial_ssthresh.unwrap_or(tcp.max_window),
            initial_rto: tcp.initial_rto,
            min_rto: tcp.min_rto,
            max_rto: tcp.max_rto,
            rto_floor: tcp.rto_floor,
            quick_acks: tcp.quick_acks,
            compressed_acks: tcp.compressed_acks,
            hystart: tcp.hystart,
            tick: tcp.tick,
            tick_phase: tcp.tick_phase,
            timestamps: tcp.timestamps,
            limited_transmit: tcp.limited_transmit,
            impatient: tcp.impatient,
            halved: tcp.halved,
            recovery_burst: match tcp.flavour {
                Flavour::NewReno if tcp.recovery_burst > 0 => tcp.recovery_burst,
                _ => u32::MAX,
            },
            grow_after_recovery: tcp.grow_after_recovery
                && matches!(tcp.flavour, Flavour::Reno | Flavour::NewReno),
            handshake: tcp.handshake,
            ecn: tcp.ecn,
            ecn_again: tcp.ecn_again,
            l4s: tcp.l4s,
            restart_after_idle: tcp.restart_after_idle,
            restart_window: tcp.restart_window.unwrap_or(initial_window),
            slow_start_step: tcp.slow_start_step,
            congestion: tcp.congestion,
            beta: tcp.beta,
            c: tcp.c,
            fast_convergence: tcp.fast_convergence,
            reno_friendly: tcp.reno_friendly,
            g: tcp.g,
            target: tcp.target,
            gain: tcp.gain,
            allowed_increase: tcp.allowed_increase,
            base_history: tcp.base_history,
            size,
            header,
        }
    }

    /// Whether the congestion control works by marks alone, so that everything is sent ECN-capable.
    #[must_use]
    pub const fn needs_ecn(&self) -> bool {
        rack::congestion::needs_ecn(self.congestion)
    }

    /// Payload bytes of a full segment.
    #[must_use]
    pub const fn payload(&self) -> u32 {
        self.size - self.header
    }

    /// The size on the wire of a full segment, or of a SYN.
    #[must_use]
    #[inline]
    pub const fn size_of(&self, syn: bool) -> u32 {
        match syn {
            false => self.size,
            // Who counts options at all counts those that only a SYN has: its greatest segment, its window's scale,
            // that SACK is welcome. In Linux that makes 60 bytes.
            true if self.header > HEADER => self.header + 8,
            true => self.header,
        }
    }

    /// Segments that carry so many payload bytes; [`u32::MAX`] for more than can be numbered.
    #[must_use]
    pub fn segments(&self, payload: u64) -> u32 {
        u32::try_from(payload.div_ceil(u64::from(self.payload()))).unwrap_or(u32::MAX)
    }

    /// The number of the first segment: 0 for the SYN, else 1.
    #[must_use]
    pub const fn first(&self) -> u32 {
        if self.handshake { 0 } else { 1 }
    }
}
