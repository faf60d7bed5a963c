//! The fluid engine: windows and a queue as real numbers, moved by delay differential equations.
//!
//! A [`Model`] is the part of a scenario that such equations can express: one managed queue, classes of flows that share
//! a round trip, and other traffic as a rate. The packet engine simulates every packet; this engine integrates their
//! means, thousands of simulated seconds per second.
//!
//! It is written in Rust, not in Python with a compiler, so that a run gives the same bits on any machine (functions
//! beyond the square root are libm's), nothing has to be compiled or installed at run time, and the checked scenario and
//! each algorithm's parameters, defaults and rules are available.

mod engine;
mod history;
mod law;
mod measure;
mod model;
mod options;
mod population;
mod remarks;
mod results;
mod spread;
mod state;
mod unsupported;

pub use engine::Fluid;
pub use model::{Class, Load, Model};
pub use options::{Initial, Options, Proportional, TcpLaw};
pub use population::Population;
pub use unsupported::Unsupported;
