//! The packet engine: discrete events, integer nanoseconds, no globals.
//!
//! A [`Simulation`] runs one scenario with one seed on one thread. Events at equal times have a defined order
//! (`engine/order.rs`), and every component that draws random numbers has its own stream, so a run is the same on any
//! machine.
//!
//! The rooms, each of which uses only those above it:
//!
//! | room | holds |
//! |---|---|
//! | `engine` | the clock, the order of all steps, the event list and random streams |
//! | [`tcp`] | senders, receivers and congestion controls, without a clock or a network |
//! | [`tfrc`] | the ends of TFRC, likewise |
//! | [`stack`] | what a transport from outside has to do, QUIC for example |
//! | `packet` | a packet on the wire, which carries TCP's segments and ACKs |
//! | `measure` | statistics, probes and series |
//! | `network` | links, queues with an AQM, paths, working ahead, and the ledger of all packets |
//! | [`traffic`] | what applications do by themselves: starts, sizes, sources of datagrams |
//! | `flows` | the endpoints of all traffic, and the flows that web clients and `short` entries open |
//! | `simulation` | one run: set-up, event loop, applications, summary, conservation check; or one of packets from outside |
//! | `memory` | an estimate of the memory that a run needs |
//!
//! `packet` is not in `network` because `measure`, which `network` uses, reads packets. What a [`Simulation`] does is in
//! files below `simulation`, whatever it is about, so that no other room needs to know the run. `tests/rooms.rs` checks
//! the order.

mod engine;
mod flows;
mod measure;
mod memory;
mod network;
mod packet;
mod simulation;
pub mod stack;
pub mod tcp;
pub mod tfrc;
pub mod traffic;

pub use engine::rng::Stream;
pub use measure::flow_log::FlowRow;
pub use measure::probe::{self, Checked, Probe};
pub use measure::series::Series;
pub use memory::{known_memory, measured, memory_estimate};
pub use network::{Cause, Lost, Seen, Wait};
pub use packet::PacketKind;
pub use simulation::{
    Account, Agent, Control, Emulation, Ends, ExternalPacket, Interval, PacketFate, Quantity, Run,
    RunOptions, SenderNow, Simulation, WaitingPacket, WindowSample,
};
