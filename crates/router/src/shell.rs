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
    /// The first byte that a connection carries on a way, and the next that its receiver awaits.
    counted: HashMap<(u32, usize), [u32; 2]>,
}

impl Received {
    /// A packet enters the network on a way.
    pub fn enters(&mut self, seen: &Seen, connection: u32, way: usize) {
        if let Some(first) = seen.begins {
            let counted = self.counted.entry((connection, way)).or_insert([first; 2]);
            // The ports may have had another connection. A segment that comes again begins none.
            if counted[0] != first {
                *counted = [first; 2];
            }
        }
        let other = 1 - way;
        if let (Some(next), Some([_, awaited])) = (seen.awaits, self.counted.get_mut(&(connection, other))) {
            let more = next.wrapping_sub(*awaited);
            // An older acknowledgement may come later.
            if more <= u32::MAX / 2 {
                *awaited = next;
                self.bytes[other] += u64::from(more);
            }
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

    /// A segment of the shell's if it is `from_shell`, and otherwise of its peer's, with these numbers.
    fn segment(from_shell: bool, syn: bool, number: u32, awaits: Option<u32>) -> Seen {
        let mut ends = [([10, 65, 0, 1], 5555), ([10, 64, 0, 1], 80)];
        if !from_shell {
            ends.reverse();
        }
        let [from, to] = ends;
        let mut builder = PacketBuilder::ipv4(from.0, to.0, 64).tcp(from.1, to.1, number, 1000);
        if let Some(next) = awaits {
            builder = builder.ack(next);
        }
        let mut packet = Vec::new();
        (if syn { builder.syn() } else { builder }).write(&mut packet, &[]).unwrap();
        Seen::any(&packet).unwrap()
    }

    /// A connection from the shell to its peer, from the same ports as the one before.
    fn connect(received: &mut Received, [ours, theirs]: [u32; 2]) {
        let [first, answer] = [ours, theirs].map(|number| number.wrapping_add(1));
        received.enters(&segment(true, true, ours, None), 0, 1);
        received.enters(&segment(false, true, theirs, Some(first)), 0, 0);
        received.enters(&segment(true, false, first, Some(answer)), 0, 1);
    }

    #[test]
    fn what_is_acknowledged_counts_once_also_where_numbers_begin_anew() {
        let mut received = Received::default();
        let start = u32::MAX - 1000;
        connect(&mut received, [0, start]);
        for bytes in [1500, 800, 3000] {
            received.enters(&segment(true, false, 1, Some(start.wrapping_add(1 + bytes))), 0, 1);
        }
        received.arrives(50, 1);
        assert_eq!(received.bytes(), [3000, 50]);
    }

    #[test]
    fn a_source_port_that_a_client_uses_again_counts_each_connection_alone() {
        let mut received = Received::default();
        for i in 0..8u32 {
            let [ours, theirs] = [60_000 * i, u32::MAX - 70_000 * i];
            connect(&mut received, [ours, theirs]);
            received.enters(&segment(false, false, theirs.wrapping_add(1), Some(ours + 1001)), 0, 0);
            received.enters(&segment(true, false, ours + 1001, Some(theirs.wrapping_add(501))), 0, 1);
        }
        assert_eq!(received.bytes(), [8 * 500, 8 * 1000]);
    }

    #[test]
    fn a_segment_that_begins_a_connection_and_comes_again_counts_nothing_twice() {
        let mut received = Received::default();
        connect(&mut received, [10, 20]);
        received.enters(&segment(true, false, 11, Some(121)), 0, 1);
        received.enters(&segment(false, true, 20, Some(11)), 0, 0);
        received.enters(&segment(true, false, 11, Some(121)), 0, 1);
        assert_eq!(received.bytes(), [100, 0]);
    }
}
