//! Segments, datagrams and answers to datagrams that are lost, wherever on their path.

use crate::packet::{Packet, PacketKind};
use aqm::unit::Time;
use std::collections::HashMap;

/// Counts the losses of data, and of answers, without which a request is in vain; SYNs, ACKs and reports do not count.
#[derive(Debug)]
pub(crate) struct PathLosses {
    /// The time from which the losses of a class count.
    warmup: Time,
    /// One count per class.
    classes: Vec<u64>,
    /// The losses of each connection over the whole run, until they are taken, if they are listed.
    pub(crate) connections: Option<HashMap<Connection, u64>>,
    /// The classes whose datagrams have content, and the flows and numbers of those that are lost.
    pub(crate) with_content: Vec<bool>,
    pub(crate) contents: Vec<(u32, u32)>,
}

/// A connection: the number of a flow among those of its protocol, and of the connection among those of its slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Connection {
    pub(crate) udp: bool,
    pub(crate) flow: u32,
    pub(crate) generation: u16,
}

impl PathLosses {
    pub(crate) fn new(classes: usize, warmup: Time) -> Self {
        Self {
            warmup,
            classes: vec![0; classes],
            connections: None,
            with_content: Vec::new(),
            contents: Vec::new(),
        }
    }

    /// A packet is lost at `at`.
    #[cold]
    pub(crate) fn note(&mut self, at: Time, packet: &Packet) {
        if self.with_content.get(packet.class()).is_some_and(|has| *has) {
            self.contents.push((packet.flow, packet.number()));
        }
        if matches!(packet.kind, PacketKind::Ack | PacketKind::Report) || packet.is_bare() {
            return;
        }
        if at >= self.warmup {
            self.classes[packet.class()] += 1;
        }
        if let Some(connections) = &mut self.connections {
            *connections.entry(Connection::of(packet)).or_default() += 1;
        }
    }

    /// Takes the losses of a connection, if they are listed.
    pub(crate) fn take(&mut self, connection: Connection) -> u64 {
        self.connections.as_mut().and_then(|losses| losses.remove(&connection)).unwrap_or(0)
    }

    /// The losses of a connection since they were taken, if they are listed.
    pub(crate) fn of_connection(&self, connection: Connection) -> u64 {
        self.connections.as_ref().and_then(|losses| losses.get(&connection).copied()).unwrap_or(0)
    }

    /// The losses of a class since the warm-up.
    pub(crate) fn of_class(&self, class: usize) -> u64 {
        self.classes[class]
    }
}

impl Connection {
    pub(crate) const fn of(packet: &Packet) -> Self {
        Self { udp: packet.kind.is_udp(), flow: packet.flow, generation: packet.generation }
    }
}
