//! A packet in a queue whose marks are not looked at.

use aqm::Packet;
use aqm::queue::Frame;

/// The packet, and its row in the queue.
#[derive(Clone, Copy)]
pub(crate) struct Datagram {
    pub(crate) packet: Packet,
    pub(crate) row: usize,
}

impl Frame for Datagram {
    fn packet(&self) -> Packet {
        self.packet
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        self.row
    }
}
