//! What foreign programs have received, of which no program of ours keeps account.

use crate::wire::{Connection, Seen};
use aqm::unit::Time;
use std::collections::HashMap;

/// Bytes that foreign programs have received, by the traffic entry of their packets.
///
/// Of TCP these are the bytes that receivers have acknowledged, so that nothing counts twice; the end of a connection
/// counts as a byte, as it does there.
#[derive(Clone, Debug)]
pub struct Received {
    bytes: Vec<u64>,
    /// Nothing counts before.
    since: Time,
    /// The first byte that an end of a connection sends, the one with the smaller address or the other, and the next
    /// that its receiver awaits.
    counted: HashMap<(Connection, bool), [u32; 2]>,
}

impl Received {
    /// Nothing yet, by this many traffic entries; nothing counts before `since`.
    #[must_use]
    pub fn new(classes: usize, since: Time) -> Self {
        Self { bytes: vec![0; classes], since, counted: HashMap::new() }
    }

    /// A packet enters the network, whose answers have the traffic entry `back`.
    pub fn enters(&mut self, at: Time, seen: &Seen, back: u16) {
        if seen.begins.is_none() && seen.awaits.is_none() {
            return;
        }
        let (connection, is_later) = (seen.connection(), seen.is_later());
        if let Some(first) = seen.begins {
            let counted = self.counted.entry((connection, is_later)).or_insert([first; 2]);
            // The ports may have had another connection. A segment that comes again begins none.
            if counted[0] != first {
                *counted = [first; 2];
            }
        }
        if let (Some(next), Some([_, awaited])) =
            (seen.awaits, self.counted.get_mut(&(connection, !is_later)))
        {
            let more = next.wrapping_sub(*awaited);
            // An older acknowledgement may come later.
            if more <= u32::MAX / 2 {
                *awaited = next;
                self.count(at, more, back);
            }
        }
    }

    /// A datagram with a payload of this many bytes has arrived.
    pub fn arrives(&mut self, at: Time, bytes: u16, class: u16) {
        self.count(at, u32::from(bytes), class);
    }

    fn count(&mut self, at: Time, bytes: u32, class: u16) {
        if at >= self.since {
            self.bytes[usize::from(class)] += u64::from(bytes);
        }
    }

    /// The bytes of a traffic entry.
    #[must_use]
    pub fn bytes(&self, class: u16) -> u64 {
        self.bytes[usize::from(class)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn received() -> Received {
        Received::new(2, Time::ZERO)
    }

    /// The bytes to the shell, and from it.
    fn both(received: &Received) -> [u64; 2] {
        [0, 1].map(|class| received.bytes(class))
    }

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
        received.enters(Time::ZERO, &segment(true, true, ours, None), 0);
        received.enters(Time::ZERO, &segment(false, true, theirs, Some(first)), 1);
        received.enters(Time::ZERO, &segment(true, false, first, Some(answer)), 0);
    }

    #[test]
    fn what_is_acknowledged_counts_once_also_where_numbers_begin_anew() {
        let mut received = received();
        let start = u32::MAX - 1000;
        connect(&mut received, [0, start]);
        for bytes in [1500, 800, 3000] {
            received.enters(Time::ZERO, &segment(true, false, 1, Some(start.wrapping_add(1 + bytes))), 0);
        }
        received.arrives(Time::ZERO, 50, 1);
        assert_eq!(both(&received), [3000, 50]);
    }

    #[test]
    fn a_source_port_that_a_client_uses_again_counts_each_connection_alone() {
        let mut received = received();
        for i in 0..8u32 {
            let [ours, theirs] = [60_000 * i, u32::MAX - 70_000 * i];
            connect(&mut received, [ours, theirs]);
            received.enters(Time::ZERO, &segment(false, false, theirs.wrapping_add(1), Some(ours + 1001)), 1);
            received.enters(
                Time::ZERO,
                &segment(true, false, ours + 1001, Some(theirs.wrapping_add(501))),
                0,
            );
        }
        assert_eq!(both(&received), [8 * 500, 8 * 1000]);
    }

    #[test]
    fn a_segment_that_begins_a_connection_and_comes_again_counts_nothing_twice() {
        let mut received = received();
        connect(&mut received, [10, 20]);
        received.enters(Time::ZERO, &segment(true, false, 11, Some(121)), 0);
        received.enters(Time::ZERO, &segment(false, true, 20, Some(11)), 1);
        received.enters(Time::ZERO, &segment(true, false, 11, Some(121)), 0);
        assert_eq!(both(&received), [100, 0]);
    }

    #[test]
    fn what_is_received_during_the_warm_up_does_not_count() {
        let mut received = Received::new(2, Time::from_nanos(5));
        connect(&mut received, [10, 20]);
        let ack = |next| segment(true, false, 11, Some(next));
        received.enters(Time::from_nanos(4), &ack(121), 0);
        received.enters(Time::from_nanos(5), &ack(151), 0);
        received.arrives(Time::from_nanos(4), 7, 1);
        received.arrives(Time::from_nanos(5), 9, 1);
        assert_eq!(both(&received), [30, 9]);
    }
}
