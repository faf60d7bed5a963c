//! The transmitter of a plain link on the double clock.

use crate::engine::event::Key;
use crate::packet::Packet;
use aqm::ring::Ring;
use aqm::unit::Limit;

/// Its packets leave one at a time, each when its transmission begins: where several are due at one instant, ns-2's order
/// is that of the beginnings.
#[derive(Debug)]
pub(crate) struct Ns2Transmitter {
    pub(super) waiting: Ring<Packet>,
    waiting_bytes: u64,
    /// When the wire is free. The event is there only if a packet waits for it.
    pub(crate) ready: Key,
}

impl Ns2Transmitter {
    pub(super) const fn new() -> Self {
        Self { waiting: Ring::new(), waiting_bytes: 0, ready: 0 }
    }

    /// Whether a packet that comes now must wait.
    #[inline]
    pub(crate) fn is_busy(&self, now: Key) -> bool {
        now < self.ready || !self.waiting.is_empty()
    }

    /// The next packet, now that the wire is free, and whether others wait.
    pub(super) fn next(&mut self, overhead: u32) -> (Packet, bool) {
        let packet = self.waiting.pop_front().expect("the event is there only if a packet waits");
        self.waiting_bytes -= u64::from(u32::from(packet.size) + overhead);
        (packet, !self.waiting.is_empty())
    }

    /// A busy link takes in a packet that waits for the wire: how many wait before it, if there is room in a buffer with
    /// this limit.
    pub(super) fn wait(&mut self, packet: Packet, limit: Limit, overhead: u32) -> Option<u32> {
        let (length, size) = (self.waiting.len() as u32, u32::from(packet.size) + overhead);
        if limit.refuses(length, self.waiting_bytes, size) {
            return None;
        }
        self.waiting_bytes += u64::from(size);
        self.waiting.push_back(packet);
        Some(length)
    }
}
