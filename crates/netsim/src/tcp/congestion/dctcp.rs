//! DCTCP: a mark takes a part of the window that follows the fraction of segments that were marked.
//!
//! ```text
//! a window:  alpha <- (1 - g) alpha + g F      F: of the segments delivered, those marked
//! mark:      cwnd  <- (1 - alpha / 2) cwnd
//! loss:      cwnd  <- cwnd / 2
//! ```
//!
//! Alpha is 1 at first. The receiver's part is in [`crate::tcp::rack::receiver`].
//!
//! Sources: Linux 7.2, net/ipv4/tcp_dctcp.c; RFC 8257.

use super::growth::LEAST;
use super::{CongestionControl, Event};
use crate::tcp::rack::{Phase, State};
use scenario::model::Profile;

/// The denominator of alpha.
const WHOLE: u32 = 1024;

/// The state (`struct dctcp`).
#[derive(Clone, Debug)]
pub struct Dctcp {
    alpha: u32,
    /// The segment whose acknowledgement ends the window over which marks are counted.
    window_end: u32,
    /// Delivered segments, and the marked ones, when that window began.
    delivered: u32,
    marked: u32,
    /// The window before the last reduction.
    prior_cwnd: u32,
}

impl Default for Dctcp {
    fn default() -> Self {
        Self { alpha: WHOLE, window_end: 0, delivered: 0, marked: 0, prior_cwnd: 0 }
    }
}

impl Dctcp {
    fn start_window(&mut self, state: &State) {
        self.window_end = state.nxt;
        (self.delivered, self.marked) = (state.delivered, state.delivered_marked);
    }

    fn halve(&mut self, state: &mut State) {
        self.prior_cwnd = state.cwnd;
        state.ssthresh = (state.cwnd / 2).max(LEAST);
    }
}

impl CongestionControl for Dctcp {
    fn new(_: &Profile) -> Self {
        Self::default()
    }

    fn on_open(&mut self, state: &mut State, _: &Profile) {
        self.start_window(state);
    }

    fn ssthresh(&mut self, state: &State, _: &Profile) -> u32 {
        self.prior_cwnd = state.cwnd;
        let part = (u64::from(state.cwnd) * u64::from(self.alpha)) >> 11;
        (state.cwnd - part as u32).max(LEAST)
    }

    fn on_ack(&mut self, state: &mut State, profile: &Profile) {
        if state.una < self.window_end {
            return;
        }
        let delivered = u64::from(state.delivered - self.delivered);
        let marked = u64::from(state.delivered_marked - self.marked);
        let g = profile.tcp.g;
        let fade = (f64::from(self.alpha) * g) as u32;
        // Otherwise a value too small to decay would stay for ever (`dctcp_update_alpha`).
        self.alpha = if fade == 0 { 0 } else { self.alpha - fade };
        if marked > 0 {
            let part = (marked as f64 * f64::from(WHOLE) * g) as u64 / delivered.max(1);
            self.alpha = (self.alpha + part as u32).min(WHOLE);
        }
        self.start_window(state);
    }

    fn on_phase(&mut self, state: &mut State, _: &Profile, next: Phase) {
        if next == Phase::Recovery && state.phase != Phase::Recovery {
            self.halve(state);
        }
    }

    fn on_event(&mut self, state: &mut State, _: &Profile, event: Event) {
        if event == Event::Loss {
            self.halve(state);
        }
    }

    fn undo_cwnd(&mut self, state: &mut State) -> u32 {
        state.cwnd.max(self.prior_cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Tcp;

    fn open() -> (Dctcp, State, Profile) {
        let profile = Profile::new(&Tcp::preset("dctcp").unwrap(), 1500);
        let (mut dctcp, mut state) = (Dctcp::default(), State::new(&profile, u32::MAX));
        dctcp.on_open(&mut state, &profile);
        state.cwnd = 100;
        (dctcp, state, profile)
    }

    /// Alpha after a window of 100 segments of which this many were marked.
    fn window(dctcp: &mut Dctcp, state: &mut State, profile: &Profile, marked: u32) -> u32 {
        (state.una, state.nxt) = (state.nxt, state.nxt + 100);
        state.delivered += 100;
        state.delivered_marked += marked;
        dctcp.on_ack(state, profile);
        dctcp.alpha
    }

    #[test]
    fn alpha_follows_the_fraction_of_marks() {
        let (mut dctcp, mut state, profile) = open();
        let mut alpha = |marked, windows: usize| {
            (0..windows).map(|_| window(&mut dctcp, &mut state, &profile, marked)).collect::<Vec<_>>()
        };
        assert_eq!(alpha(0, 3), [960, 900, 844]);
        assert!((512..528).contains(alpha(50, 100).last().unwrap()), "a half, in sixteenths");
        let fading = alpha(0, 80);
        let last = fading.iter().rposition(|&alpha| alpha > 0).unwrap();
        assert_eq!((fading[last], fading[79]), (15, 0), "what has no sixteenth is gone");
        assert_eq!(alpha(100, 1), [64]);
    }

    #[test]
    fn alpha_is_worked_out_once_a_window() {
        let (mut dctcp, mut state, profile) = open();
        window(&mut dctcp, &mut state, &profile, 0);
        state.una = state.nxt - 1;
        dctcp.on_ack(&mut state, &profile);
        assert_eq!(dctcp.alpha, 960);
    }

    #[test]
    fn a_mark_takes_half_of_alpha_and_a_loss_takes_half() {
        let (mut dctcp, mut state, profile) = open();
        dctcp.alpha = 512;
        assert_eq!(dctcp.ssthresh(&state, &profile), 75);
        dctcp.on_phase(&mut state, &profile, Phase::Cwr);
        dctcp.on_phase(&mut state, &profile, Phase::Recovery);
        assert_eq!(state.ssthresh, 50);
        state.cwnd = 50;
        assert_eq!(dctcp.undo_cwnd(&mut state), 100);
        dctcp.on_event(&mut state, &profile, Event::Loss);
        assert_eq!(state.ssthresh, 25);
        state.cwnd = 2;
        assert_eq!(dctcp.ssthresh(&state, &profile), 2, "two at least");
    }
}
