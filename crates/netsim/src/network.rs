//! The network: links, queues with an AQM, the paths over them, and how a packet travels.

pub(crate) mod ahead;
mod chance;
pub(crate) mod ledger;
pub(crate) mod link;
pub(crate) mod route;
mod transit;

pub(crate) use transit::{Early, Network};
