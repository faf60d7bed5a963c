//! A connection's parameters in the form in which the ends use them.

use super::{Feedback, Flavour, MOST_BLOCKS, Tcp};
use crate::model::HEADER;

/// A connection's parameters as sender and receiver use them: shared by all flows of a traffic entry.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The parameters as the scenario has them. Where a field below has the name of one of them, that field counts.
    pub tcp: Tcp,
    /// Whether ACKs carry SACK blocks.
    pub sack: bool,
    /// SACK blocks that an ACK has room for.
    pub sack_blocks: usize,
    /// The congestion window at the start, in segments.
    pub initial_window: u32,
    /// The slow-start threshold at the start, in segments.
    pub initial_ssthresh: u32,
    /// The window after an idle time at most, in segments.
    pub restart_window: u32,
    /// The most segments that one ACK releases during NewReno's fast recovery; [`u32::MAX`] for no bound.
    pub recovery_burst: u32,
    /// Whether the ACK that ends Reno's or NewReno's fast recovery also grows the window.
    pub grow_after_recovery: bool,
    /// Initial segments that are acknowledged one by one.
    pub quick_acks: u32,
    /// Size of a full segment on the wire in bytes.
    pub size: u32,
    /// Bytes of IP and TCP header in every segment of data.
    pub header: u32,
}

/// The bytes with which the receive buffer of a socket of Linux starts on the Linux engine, and here.
pub const RECEIVE_BUFFER: u32 = 6_291_456;

/// Segments until the window that a receiver in Linux offers no longer grows (`tcp_grow_window`). It is half the buffer at first,
/// then grows by two segments for each that arrives, up to the part of the buffer that data can take (`scaling_ratio`).
fn growth(size: u32, header: u32) -> u32 {
    // A packet takes a power of two with its headroom, and its `sk_buff`.
    let memory = f64::from((size + 400).next_power_of_two() + 303);
    let payload = f64::from(size - header);
    (f64::from(RECEIVE_BUFFER) / 2.0 * (1.0 / memory - 0.5 / payload)).round().max(0.0) as u32
}

impl Profile {
    /// The parameters `tcp` for segments of `size` bytes on the wire.
    ///
    /// # Panics
    /// If the flavour has no such congestion control; a checked scenario has none of these.
    #[must_use]
    pub fn new(tcp: &Tcp, size: u32) -> Self {
        // The trait's defaults would make a Reno of it.
        assert!(tcp.misfit().is_none(), "{:?} has no {:?}", tcp.flavour, tcp.congestion);
        let header = tcp.data_header().0 as u32;
        // RFC 5681, equation 1.
        let standard_window = match size - header {
            2191.. => 2,
            1096.. => 3,
            _ => 4,
        };
        let initial_window = tcp.initial_window.unwrap_or(standard_window);
        Self {
            sack: matches!(tcp.flavour, Flavour::Sack | Flavour::Rack),
            // A delay takes the place of the last block.
            sack_blocks: (tcp.sack_blocks as usize)
                .min(MOST_BLOCKS - usize::from(tcp.congestion.needs_delays())),
            initial_window,
            initial_ssthresh: tcp.initial_ssthresh.unwrap_or(tcp.max_window),
            restart_window: tcp.restart_window.unwrap_or(initial_window),
            recovery_burst: match tcp.flavour {
                Flavour::NewReno if tcp.recovery_burst > 0 => tcp.recovery_burst,
                _ => u32::MAX,
            },
            grow_after_recovery: tcp.grow_after_recovery
                && matches!(tcp.flavour, Flavour::Reno | Flavour::NewReno),
            quick_acks: tcp.quick_acks.unwrap_or_else(|| growth(size, header)),
            size,
            header,
            tcp: tcp.clone(),
        }
    }

    /// Whether an ACK's echo is of just those segments that it is for, and everything is sent ECN-capable.
    #[must_use]
    pub const fn tells_marks_apart(&self) -> bool {
        self.tcp.ecn && self.tcp.congestion.tells_marks_apart()
    }

    /// Whether ACKs count the marks that arrived (Accurate ECN, RFC 9768).
    #[must_use]
    #[inline]
    pub const fn is_accurate(&self) -> bool {
        self.tcp.ecn && !matches!(self.tcp.ecn_feedback, Feedback::Classic)
    }

    /// Whether data is sent as ECT(1), by which routers recognise a scalable congestion control (RFC 9331).
    #[must_use]
    #[inline]
    pub const fn is_scalable(&self) -> bool {
        self.tcp.l4s || self.tcp.congestion.counts_marks()
    }

    /// Payload bytes of a full segment.
    #[must_use]
    pub const fn payload(&self) -> u32 {
        self.size - self.header
    }

    /// The size on the wire of a SYN.
    #[must_use]
    pub const fn syn_size(&self) -> u32 {
        // Who counts options at all counts those that only a SYN has: its greatest segment, its window's scale, that SACK
        // is welcome. In Linux that makes 60 bytes.
        let size = self.ack_size() as u32;
        if size > HEADER { size + 8 } else { size }
    }

    /// The size on the wire of an ACK without SACK blocks and Accurate ECN's option.
    #[must_use]
    #[inline]
    pub const fn ack_size(&self) -> u16 {
        self.tcp.header.0 as u16
    }

    /// Segments that carry `payload` bytes; [`u32::MAX`] for more than can be numbered.
    #[must_use]
    pub fn segments(&self, payload: u64) -> u32 {
        u32::try_from(payload.div_ceil(u64::from(self.payload()))).unwrap_or(u32::MAX)
    }

    /// The number of the first segment: 0 for the SYN, else 1.
    #[must_use]
    pub const fn first(&self) -> u32 {
        if self.tcp.handshake { 0 } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::growth;

    #[test]
    fn the_first_segments_are_acknowledged_one_by_one_as_often_as_by_linux() {
        // Segments less the pairs that were acknowledged, of one CUBIC flow through 10 Mbit/s in the guest, less the 75 of
        // sizes whose window does not grow.
        let measured = [
            (576, 0),
            (800, 8),
            (1200, 0),
            (1300, 98),
            (1400, 182),
            (1500, 252),
            (1600, 352),
            (1700, 0),
            (3000, 186),
            (4000, 0),
            (6000, 88),
        ];
        for (size, segments) in measured {
            assert!(
                growth(size, 52).abs_diff(segments) <= 30,
                "{size}: {}, in Linux {segments}",
                growth(size, 52)
            );
        }
    }
}
