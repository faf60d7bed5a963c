//! Reno, counting segments that were delivered and not acknowledgements.
//!
//! ```text
//! cwnd <  ssthresh:  cwnd <- cwnd + 1      a segment delivered
//! cwnd >= ssthresh:  cwnd <- cwnd + 1      as many segments delivered as the window has
//! loss or mark:      cwnd <- cwnd / 2, at least 2
//! ```
//!
//! The window grows only while it is what limits the sender.
//!
//! Sources: Linux 7.2, `tcp_slow_start`, `tcp_cong_avoid_ai`, `tcp_reno_cong_avoid` (net/ipv4/tcp_cong.c);
//! RFC 5681, section 3.1; RFC 3465.

use super::{Rules, State};

/// The least slow-start threshold, in segments.
pub const LEAST: u32 = 2;

/// Reno; what it has is in the sender's state.
#[derive(Clone, Default, Debug)]
pub struct Reno;

impl Rules for Reno {}

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

/// Slow start for so many segments; returns those that are left when it is over.
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
