//! The packets of a recording, in the order of time.

use crate::model::Arrival;
use aqm::unit::Span;

/// Latest time of a packet after the first, in seconds: no run lasts longer.
const LATEST: u64 = 10_000_000;

/// A packet in a file.
pub(super) struct Packet {
    /// By the recording's clock.
    pub(super) nanos: i128,
    /// In bytes.
    pub(super) size: u64,
    /// The number of its line, or of its first byte.
    pub(super) place: usize,
}

/// The packets in the order of time: that of a file may differ, because the queues of a network card and several
/// interfaces hand them over in turn. A `place` is in a message what numbers of places count, like "line".
pub(super) fn in_order(mut packets: Vec<Packet>, place: &str) -> Result<Vec<Arrival>, String> {
    packets.sort_by_key(|packet| packet.nanos);
    let first = packets.first().map_or(0, |packet| packet.nanos);
    let arrival = |packet: Packet| {
        let since = u64::try_from(packet.nanos.saturating_sub(first)).ok().map(Span::ns);
        let at = since.filter(|&at| at <= Span::s(LATEST)).ok_or_else(|| {
            format!("more than {LATEST} s after the first packet: keep a part of the recording")
        });
        let size = u16::try_from(packet.size).ok().filter(|&size| size > 0).ok_or_else(|| {
            format!("size = {}: must be in [1, 65535], bytes: leave the packet out", packet.size)
        });
        at.and_then(|at| Ok(Arrival { at, size: size? }))
            .map_err(|problem| format!("{place} {}: {problem}", packet.place))
    };
    packets.into_iter().map(arrival).collect()
}
