//! Reno's growth, in whole segments: slow start, then one segment a round trip. Other controls use parts of it.

use crate::tcp::rack::State;

/// The least slow-start threshold, in segments.
pub const LEAST: u32 = 2;

/// The window grows for `acked` segments, if it is what limits the sender (`tcp_reno_cong_avoid`).
pub fn cong_avoid(state: &mut State, acked: u32) {
    if !state.is_window_limited() {
        return;
    }
    let left = slow_start(state, acked);
    if left > 0 {
        additive_increase(state, state.cwnd, left);
    }
}

/// Slow start for `acked` segments; returns those that are left when it is over (`tcp_slow_start`).
pub fn slow_start(state: &mut State, acked: u32) -> u32 {
    if !state.in_slow_start() {
        return acked;
    }
    let cwnd = state.cwnd.saturating_add(acked).min(state.ssthresh);
    let left = acked - (cwnd - state.cwnd);
    state.cwnd = cwnd;
    left
}

/// The window grows by a segment for every `w` of `acked` segments (`tcp_cong_avoid_ai`).
pub fn additive_increase(state: &mut State, w: u32, acked: u32) {
    let w = w.max(1);
    let mut cwnd = state.cwnd;
    // Saved up while `w` was greater: it must not count as several segments now.
    if state.cwnd_cnt >= w {
        state.cwnd_cnt = 0;
        cwnd += 1;
    }
    state.cwnd_cnt += acked;
    cwnd += state.cwnd_cnt / w;
    state.cwnd_cnt %= w;
    state.cwnd = cwnd;
}
