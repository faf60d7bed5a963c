//! A connection's parameters in the form in which the ends use them.

use super::rack;
use super::segment::MOST_BLOCKS;
use aqm::unit::Span;
use scenario::model::{Congestion, Flavour, HEADER, Halved, LimitedTransmit, RtoFloor, SackRecovery, Tcp};

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
