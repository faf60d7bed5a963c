#![doc = include_str!("../README.md")]
//! ## The parts
//!
//! An algorithm receives the time, a packet and the backlog, and returns a [`Verdict`]. It has no clock, no I/O and no
//! global randomness, and does not depend on a simulator: the same code serves any host that owns a queue. Each layer
//! imports only those before it: [`mod@unit`], [`mod@params`], [`mod@contract`] (of an algorithm on one queue) and
//! [`mod@discipline`] (of one that keeps several), the algorithms and their list in [`mod@aqm`], `any` (either kind),
//! [`mod@queue`] on [`mod@ring`]. An algorithm that contains another, as `fq` does, also imports the list; one around
//! disciplines of any kind is a `composite`.

#![cfg_attr(not(test), no_std)]

#[doc(hidden)]
#[macro_use]
pub extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[macro_use]
mod head;
#[macro_use]
mod dispatch;
#[macro_use]
pub mod aqm;
mod algorithm;
mod any;
mod bucket;
mod composite;
pub mod contract;
pub mod discipline;
pub mod dscp;
pub mod fixed;
#[cfg(test)]
mod fixture;
mod float;
mod flows;
pub mod framing;
mod hash;
pub mod link;
mod mirror;
pub mod params;
mod qdisc;
pub mod queue;
pub mod ring;
pub mod unit;
pub mod user_defined;
mod weights;

pub use algorithm::{Algorithm, One};
pub use any::AnyDiscipline;
pub use aqm::{AnyAqm, AnyParams};
pub use composite::Leaf;
pub use contract::{Aqm, Backlog, CLASSES, Packet, Port, Reading, Signal, Uniform, Verdict};
pub use discipline::{Ack, Discipline, Label, Lane};
pub use qdisc::{Ecn, Header, Qdisc, Seeded};
pub use queue::{Counts, Labels, Outcome, Queue, Sent, Stored};
pub use ring::Ring;
pub use unit::{Bytes, Frequency, Limit, Rate, Span, Time};
