//! What a shell and its peer have received, of which no program of ours keeps account.

use crate::wire::Seen;
use std::collections::HashMap;

/// Bytes that programs have received, by the way that they took: to the shell, and from it.
///
/// Of TCP that is what receivers have acknowledged, so that nothing counts twice; the end of a connection counts as a
/// byte, as it does there.
#[derive(Clone, Default, Debug)]
pub struct Received {
    bytes: [u64; 2],
    /// The next byte that the receiver at the end of a way awaits, by the number of the connection.
    awaited: HashMap<(u32, usize), u32>,
}

impl Received {
    /// A packet enters the network on a way.
    pub fn enters(&mut self, seen: &Seen, connection: u32, way: usize) {
        let Some(next) = seen.awaits else { return };
        let other = 1 - way;
        let last = self.awaited.entry((connection, other)).or_insert(next);
        let more = if seen.begins { 0 } else { next.wrapping_sub(*last) };
        // An older acknowledgement may come later.
        if more <= u32::MAX / 2 {
            *last = next;
            self.bytes[other] += u64::from(more);
        }
    }

    /// A datagram with a payload of this many bytes has arrived at the end of a way.
    pub const fn arrives(&mut self, bytes: u16, way: usize) {
        self.bytes[way] += bytes as u64;
    }

    /// The bytes of each way.
    #[must_use]
    pub const fn bytes(&self) -> [u64; 2] {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    /// A segment from the shell that awaits `next`.
    fn segment(next: u32, syn: bool) -> Seen {
        let builder =
            PacketBuilder::ipv4([10, 65, 0, 1], [10, 64, 0, 1], 64).tcp(40000, 80, 1, 1000).ack(next);
        let mut packet = Vec::new();
        (if syn { builder.syn() } else { builder }).write(&mut packet, &[]).unwrap();
        Seen::any(&packet).unwrap()
    }

    #[test]
    fn what_is_acknowledged_counts_once_also_where_numbers_begin_anew() {
        let mut received = Received::default();
        let start = u32::MAX - 1000;
        for (next, syn) in
            [(start, true), (start.wrapping_add(1500), false), (start.wrapping_add(800), false)]
        {
            received.enters(&segment(next, syn), 0, 1);
        }
        received.enters(&segment(start.wrapping_add(3000), false), 0, 1);
        assert_eq!(received.bytes(), [3000, 0]);
        // Another connection between the same ports.
        received.enters(&segment(77, true), 0, 1);
        received.enters(&segment(177, false), 0, 1);
        received.arrives(50, 1);
        assert_eq!(received.bytes(), [3100, 50]);
    }
}
