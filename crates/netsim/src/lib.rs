//! The packet engine: discrete events, integer nanoseconds, no globals.
//!
//! A [`Simulation`] runs one scenario with one seed on one thread. Events at equal times have an order of their own,
//! timers and departures first, and every component that draws random numbers has a stream of its own, so a run is the
//! same on any machine.

mod ahead;
mod application;
mod arrivals;
mod chance;
mod clock;
mod delivery;
mod event;
mod flow;
mod ledger;
mod link;
mod loss;
mod memory;
mod network;
mod noise;
mod packet;
pub mod probe;
pub mod results;
mod rng;
mod route;
mod simulation;
mod slots;
mod source;
mod stats;
pub mod tcp;
mod watch;
mod web;

pub use memory::memory_estimate;
pub use probe::{Checked, Probe, Series};
pub use results::Results;
pub use rng::Stream;
pub use simulation::{Simulation, WindowSample};
pub use stats::Settling;
pub use watch::Watch;
