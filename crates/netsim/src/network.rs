//! The network: links, queues with an AQM, the paths over them, and how a packet travels.

mod access;
pub(crate) mod ahead;
pub(crate) mod aqm_queue;
mod bearer;
mod cell;
mod fate;
mod gate;
pub(crate) mod handover;
pub(crate) mod hosts;
pub(crate) mod ledger;
pub(crate) mod link;
mod medium;
mod modem;
mod radio;
pub(crate) mod route;
mod service;
mod station;
mod transit;
mod upstream;
mod wander;

pub(crate) use access::{Access, Tally, Whose};
pub(crate) use fate::Passed;
pub use fate::{Cause, Lost, Seen, Wait};
pub(crate) use station::back;
pub(crate) use transit::Network;
