//! Reno's growth: slow start, then one segment a round trip. Other controls use parts of it.

use crate::tcp::rack::State;

/// The least slow-start threshold, in segments.
pub const LEAST: u32 = 2;

/// The window grows by `delivered` segments' worth.
pub fn grow(state: &mut State, delivered: u32) {
    if !state.is_window_limited() {
        return;
    }
    let left = slow_start(state, delivered);
    if left > 0 {
        creep(state, state.cwnd, left);
    }
}

/// Slow start for `delivered` segments; returns those that are left when it is over.
pub fn slow_start(state: &mut State, delivered: u32) -> u32 {
    if !state.in_slow_start() {
        return delivered;
    }
    let grown = state.cwnd.saturating_add(delivered).min(state.ssthresh);
    let left = delivered - (grown - state.cwnd);
    state.cwnd = grown;
    left
}

/// One segment more for every `pace` delivered.
pub fn creep(state: &mut State, pace: u32, delivered: u32) {
    let pace = pace.max(1);
    let mut cwnd = state.cwnd;
    // What was saved up for a slower pace.
    if state.credit >= pace {
        state.credit = 0;
        cwnd += 1;
    }
    state.credit += delivered;
    cwnd += state.credit / pace;
    state.credit %= pace;
    state.cwnd = cwnd;
}

/// An acknowledgement that lets a classic sender's window grow.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Segments that it acknowledges for the first time.
    pub acked: u32,
    /// The number as which these count in slow start.
    pub step: u32,
    /// Segments that were outstanding before it.
    pub flight: u32,
}

/// The part of a classic sender's window that a loss leaves.
pub const KEPT: f64 = 0.5;

/// A classic sender's window after an acknowledgement that counts as `step` segments in slow start.
#[must_use]
pub fn grown(cwnd: f64, ssthresh: f64, step: u32) -> f64 {
    if cwnd < ssthresh { (cwnd + f64::from(step)).min(ssthresh.max(cwnd + 1.0)) } else { cwnd + 1.0 / cwnd }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_doubles_below_the_threshold_and_adds_one_a_round_trip_above() {
        assert_eq!(grown(4.0, 8.0, 1), 5.0);
        assert_eq!([2, 9].map(|step| grown(4.0, 8.0, step)), [6.0, 8.0], "not beyond the threshold");
        assert_eq!(grown(7.5, 8.0, 1), 8.5);
        let after = (0..8).fold(8.0, |cwnd, _| grown(cwnd, 8.0, 1));
        // Eight times 1/cwnd with cwnd from 8 to 9: between 8/9 and 1.
        assert!((8.0 + 8.0 / 9.0..9.0).contains(&after), "{after}");
    }
}
