//! BBR's fixed-point numbers.

use crate::tcp::Profile;

/// Bandwidths are in segments a microsecond times this (`BW_UNIT`), gains in parts of 256 (`BBR_UNIT`).
pub(super) const BANDWIDTH_BITS: u32 = 24;
pub(super) const GAIN_BITS: u32 = 8;
pub(super) const ONE: u64 = 1 << GAIN_BITS;
/// Percentage by which the pace is below the bandwidth, so that no queue stands.
const MARGIN: u64 = 1;

/// A pace in bytes a second (`bbr_rate_bytes_per_sec`).
pub(super) fn pace(profile: &Profile, bandwidth: u64, gain: u64) -> u64 {
    let rate = (bandwidth * u64::from(profile.payload()) * gain) >> GAIN_BITS;
    ((u128::from(rate) * (1_000_000 / 100 * (100 - MARGIN)) as u128) >> BANDWIDTH_BITS) as u64
}
