//! DCTCP: the window falls in proportion to the fraction of segments that were marked.
//!
//! ```text
//! once a window:  alpha <- (1 - g) alpha + g M       M = marked / acknowledged, in segments  (RFC 8257, 3.3)
//! a mark:         cwnd <- cwnd (1 - alpha / 2)       at most once a window
//! a loss:         as Reno, also right after a mark                                                      (3.5)
//! ```
//!
//! alpha is 1 at the start, so that the first mark halves the window; g = `g`. The receiver echoes exactly what
//! was marked, also with delayed ACKs: when the mark changes, what waits is acknowledged first (3.2).
//!
//! # Departures from the source
//! * The first marked ACK of a window reduces it with the alpha of the windows before (Linux), not the last one.
//! * Cumulative acknowledgements count; SACKed segments count when the hole below them is filled.
//! * As elsewhere here, neither a SYN nor a segment sent again may be marked (RFC 3168); RFC 8257 leaves that open.
//! * The window is a real number: it is not cut to whole segments, which for small alpha would cut too much.
//!
//! # Sources
//! RFC 8257; Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010; Linux, tcp_dctcp.c.

use crate::tcp::Ack;

/// The state.
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// The estimate of the marked fraction.
    alpha: f64,
    /// Segments acknowledged, and of these with a mark, in this window.
    acked: u32,
    marked: u32,
    /// The window ends with an acknowledgement beyond this.
    window_end: u32,
}

impl Default for Dctcp {
    fn default() -> Self {
        Self { alpha: 1.0, acked: 0, marked: 0, window_end: 1 }
    }
}

impl Dctcp {
    /// Counts an acknowledgement; it is the window's last if it goes beyond what was sent when that began.
    #[inline]
    pub fn on_ack(&mut self, g: f64, ack: &Ack, una: u32, next: u32) {
        // Not the SYN, which cannot be marked.
        let acked = ack.next.saturating_sub(una.max(1));
        self.acked += acked;
        self.marked += if ack.ece { acked } else { 0 };
        if ack.next > self.window_end {
            self.alpha = (1.0 - g) * self.alpha + g * f64::from(self.marked) / f64::from(self.acked.max(1));
            (self.acked, self.marked) = (0, 0);
            self.window_end = next.max(ack.next);
        }
    }

    /// The window after a mark.
    #[must_use]
    pub fn after_mark(&self, cwnd: f64) -> f64 {
        cwnd * (1.0 - self.alpha / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(next: u32, ece: bool) -> Ack {
        Ack { next, ece, ..Ack::default() }
    }

    #[test]
    fn alpha_follows_the_marked_fraction_of_each_window() {
        // RFC 8257, 3.3, g = 1/16. The first window is the one segment that opens it, unmarked: 15/16. The next
        // ends beyond 11, 5 of its 10 segments marked: 15/16 * 15/16 + 1/16 * 1/2 = 0.91015625.
        let mut dctcp = Dctcp::default();
        assert_eq!(dctcp.after_mark(10.0), 5.0);
        dctcp.on_ack(0.0625, &ack(1, false), 0, 1);
        assert_eq!(dctcp.alpha, 1.0, "the SYN tells nothing");
        dctcp.on_ack(0.0625, &ack(2, false), 1, 11);
        assert_eq!(dctcp.alpha, 0.9375);
        dctcp.on_ack(0.0625, &ack(7, true), 2, 16);
        dctcp.on_ack(0.0625, &ack(11, false), 7, 20);
        assert_eq!(dctcp.alpha, 0.9375, "11 is the last of the window, not beyond it");
        dctcp.on_ack(0.0625, &ack(12, false), 11, 21);
        assert_eq!(dctcp.alpha, 0.910_156_25);
        assert_eq!(dctcp.after_mark(10.0), 10.0 * (1.0 - 0.455_078_125));
    }

    #[test]
    fn the_handshake_is_no_unmarked_segment() {
        // All of the first window, one segment, is marked: alpha stays 1.
        let mut dctcp = Dctcp::default();
        dctcp.on_ack(0.0625, &ack(1, false), 0, 1);
        dctcp.on_ack(0.0625, &ack(2, true), 1, 5);
        assert_eq!(dctcp.alpha, 1.0);
    }

    #[test]
    fn unmarked_windows_bring_alpha_down_by_g_each() {
        let mut dctcp = Dctcp::default();
        for window in 0..100 {
            dctcp.on_ack(0.0625, &ack(window + 2, false), window + 1, window + 2);
        }
        assert!((dctcp.alpha - 0.9375_f64.powi(100)).abs() < 1e-15);
    }
}
