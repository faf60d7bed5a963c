//! The packet engine: discrete events, integer nanoseconds, no globals.
//!
//! A [`Simulation`] runs one scenario with one seed on one thread. Events at equal times have a defined order, timers and
//! departures first, and every component that draws random numbers has its own stream, so a run is the same on any
//! machine.

mod engine;
mod flows;
mod measure;
mod memory;
mod network;
mod packet;
pub mod results;
mod simulation;
pub mod tcp;
mod traffic;

pub use engine::rng::Stream;
pub use engine::watch::Watch;
pub use measure::probe::{self, Checked, Probe, Series};
pub use measure::stats::Settling;
pub use memory::memory_estimate;
pub use results::Results;
pub use simulation::{Simulation, WindowSample};
