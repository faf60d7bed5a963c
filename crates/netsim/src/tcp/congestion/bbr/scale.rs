//! The quantities that both versions of BBR compute alike, in its fixed-point numbers.

use crate::tcp::rack::State;
use scenario::model::Profile;

/// Bandwidths are in segments a microsecond times this (`BW_UNIT`), gains in parts of 256 (`BBR_UNIT`).
pub(in crate::tcp::congestion) const BANDWIDTH_BITS: u32 = 24;
pub(in crate::tcp::congestion) const GAIN_BITS: u32 = 8;
pub(in crate::tcp::congestion) const ONE: u64 = 1 << GAIN_BITS;
/// Percentage by which the pace is below the bandwidth, so that no standing queue forms.
const MARGIN: u64 = 1;

/// A pace in bytes a second (`bbr_rate_bytes_per_sec`).
pub(in crate::tcp::congestion) fn pace(profile: &Profile, bandwidth: u64, gain: u64) -> u64 {
    let rate = (bandwidth * u64::from(profile.payload()) * gain) >> GAIN_BITS;
    ((u128::from(rate) * (1_000_000 / 100 * (100 - MARGIN)) as u128) >> BANDWIDTH_BITS) as u64
}

/// The bandwidth of a window in the smoothed round trip, or in a millisecond before there is one.
pub(in crate::tcp::congestion) fn bandwidth_of_window(state: &State) -> u64 {
    let rtt = if state.rtt.srtt8 > 0 { state.rtt.smoothed().max(1) } else { 1000 };
    (u64::from(state.cwnd) << BANDWIDTH_BITS) / rtt
}

/// Segments that a path of this bandwidth and round trip, in microseconds, holds at a gain, rounded up (`bbr_bdp`).
pub(in crate::tcp::congestion) fn bdp(bandwidth: u64, rtt: u64, gain: u64) -> u32 {
    let bdp = u128::from(bandwidth) * u128::from(rtt) * u128::from(gain);
    (bdp >> GAIN_BITS).div_ceil(1 << BANDWIDTH_BITS) as u32
}

/// Of `segments` in the network now, those that will be there when the pace allows the next
/// (`bbr_packets_in_net_at_edt`).
pub(in crate::tcp::congestion) fn left_at_next(state: &State, bandwidth: u64, segments: u32) -> u32 {
    let wait = state.next_send.saturating_sub(state.clock.us * 1000) / 1000;
    segments.saturating_sub(((bandwidth * wait) >> BANDWIDTH_BITS) as u32)
}

/// A number that differs from one microsecond to the next in no order (SplitMix64).
pub(in crate::tcp::congestion) const fn hash(us: u64) -> u64 {
    let x = us.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
