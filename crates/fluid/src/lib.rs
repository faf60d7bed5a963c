//! The fluid engine: windows and a queue as real numbers, moved by delay differential equations.
//!
//! A [`Model`] is the part of a scenario that such equations describe: one managed queue, classes of flows that share
//! a round trip, and what comes besides. The packet engine plays every packet; this one moves their means, thousands
//! of simulated seconds a second.
//!
//! It is written in Rust, not in Python with a compiler behind it, so that a run is the same to the last bit on any
//! machine (the functions beyond the square root are libm's), so that nothing has to be compiled or installed for it,
//! and because the checked scenario and each algorithm's own parameters, defaults and rules for omitted values are
//! here already.

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
