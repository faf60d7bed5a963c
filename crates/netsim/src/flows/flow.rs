//! A flow of TCP: its paths and timers, its role, and its counters.

use crate::engine::order::{Key, NEVER};
use crate::network::route::Paths;
use crate::packet::Header;
use aqm::unit::Time;
use std::ops::{Add, Sub};

/// The counters of all flows of a traffic entry.
#[derive(Default, Debug)]
pub(crate) struct Class {
    /// Flows that started, or requests of web clients.
    pub(crate) started: u64,
    /// The counters of the transient flows that have ended (see [`crate::flows::slots`]).
    pub(crate) retired: Snapshot,
    /// The counters of all its transient flows at the end of the warm-up.
    pub(crate) at_warmup: Snapshot,
    /// The profile of its flows, if they are of TCP; of web clients, that of their requests.
    pub(crate) profile: u16,
    /// The profile of the requests of transfers that are asked for.
    pub(crate) requests: Option<u16>,
}

/// A TCP flow as the engine sees it: which class, which paths, which timers are pending. One cache line, for every
/// segment and every ACK touches it.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Flow {
    /// The retransmission timer's deadline.
    pub(crate) due: Key,
    /// The pending timer event, at or before that ([`NEVER`]: none pending).
    pub(crate) timer: Key,
    /// When the pending event for the sender's pace goes off ([`Time::MAX`]: none pending).
    pub(crate) pace: Time,
    /// The same for the receiver's delayed ACK.
    pub(crate) ack_timer: Time,
    pub(crate) forward: u32,
    pub(crate) reverse: u32,
    pub(crate) class: u16,
    /// The index of its profile.
    pub(crate) profile: u16,
    /// The number of the connection among those that have this slot one after the other.
    pub(crate) generation: u16,
    /// Whether the application acts on data that arrives.
    pub(crate) listens: bool,
}

const _: () = assert!(size_of::<Flow>() == 64, "a flow is one cache line");

/// The role of a flow, and of its slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A flow that exists for the whole run, or in a live run from the time at which it is added.
    Persistent,
    /// The same, until it has transferred everything.
    Transfer,
    /// From the receiver of the transfer in this slot to its sender: the request for it.
    Request(u32),
    /// A `short` flow.
    Short,
    /// From a web client to its server, for this one of the session's connections.
    Requests { client: u32, connection: u16 },
    /// From the server to the client.
    Objects { client: u32, connection: u16 },
    /// A connection that its application has closed, until everything was acknowledged.
    Closing,
    /// None: the slot is free.
    Free,
}

impl Role {
    /// Whether its flow exists until the end of the run.
    pub(crate) const fn persists(self) -> bool {
        matches!(self, Self::Persistent | Self::Transfer)
    }

    /// Whether the application acts on data that arrives.
    #[inline]
    pub(crate) const fn listens(self) -> bool {
        matches!(self, Self::Request(_) | Self::Requests { .. } | Self::Objects { .. })
    }
}

/// What a flow is for, which is asked when it starts, when data arrives at an application that listens, and when all
/// is through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Application {
    /// The role of the flow.
    pub(crate) role: Role,
    /// When it starts: of a persistent flow that is added and taken away, the last time; [`Time::MAX`] if it does not.
    pub(crate) start: Time,
    /// Payload bytes that were handed over; [`u64::MAX`] without an end, 0 if they are no goodput.
    pub(crate) payload: u64,
    /// Bytes that the last segments of earlier objects lack to be full.
    pub(crate) padding: u64,
}

/// A persistent flow that a live run was given on the way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added {
    pub(crate) slot: u32,
    /// Its number in its traffic entry.
    pub(crate) number: u32,
    /// Its counters at the end of the warm-up.
    pub(crate) at_warmup: Snapshot,
}

/// A flow's counters.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot {
    /// Payload bytes that arrived, each once.
    pub(crate) delivered: u64,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

impl Flow {
    /// A flow that has done nothing.
    pub(crate) const fn new(class: u16, profile: u16, paths: Paths) -> Self {
        let Paths { forward, reverse } = paths;
        let (generation, listens) = (0, false);
        let (due, timer, pace, ack_timer) = (NEVER, NEVER, Time::MAX, Time::MAX);
        Self { due, timer, pace, ack_timer, forward, reverse, class, profile, generation, listens }
    }
}

impl Flow {
    /// The header of its packets with `size` bytes on the path that starts at `hop`, where the flow has this number.
    #[inline]
    pub(crate) const fn header(&self, flow: u32, hop: u32, size: u16) -> Header {
        Header { flow, generation: self.generation, hop, class: self.class, size }
    }
}

impl Application {
    /// An application with `payload` bytes to send from `start` on.
    pub(crate) const fn new(role: Role, payload: u64, start: Time) -> Self {
        Self { role, start, payload, padding: 0 }
    }
}

impl Add for Snapshot {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            delivered: self.delivered + other.delivered,
            retransmits: self.retransmits + other.retransmits,
            timeouts: self.timeouts + other.timeouts,
        }
    }
}

impl Sub for Snapshot {
    type Output = Self;
    fn sub(self, then: Self) -> Self {
        Self {
            delivered: self.delivered - then.delivered,
            retransmits: self.retransmits - then.retransmits,
            timeouts: self.timeouts - then.timeouts,
        }
    }
}
