//! The algorithms of active queue management, pure.
//!
//! An algorithm gets the time, a packet and the backlog, and answers with a [`Verdict`]. It has no clock, no
//! I/O, no global randomness, and knows nothing of a simulator: the same code serves any host that owns a
//! queue. Layers, each importing only those before it: [`mod@unit`], [`mod@params`], [`mod@aqm`] with
//! [`mod@discipline`], [`mod@queue`] on [`mod@ring`].

#[macro_use]
mod any;
pub mod aqm;
pub mod discipline;
#[cfg(test)]
mod fixture;
mod flows;
mod hash;
mod mirror;
pub mod params;
pub mod queue;
pub mod ring;
pub mod unit;

pub use aqm::{AnyAqm, AnyParams, Aqm, Backlog, Packet, Port, Uniform, Verdict};
pub use discipline::{AnyDiscipline, Discipline, Lane};
pub use queue::{Counts, Outcome, Queue, Sent};
pub use ring::Ring;
pub use unit::{Bytes, Frequency, Limit, Rate, Span, Time};
