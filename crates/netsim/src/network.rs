//! The network: links, queues with an AQM, the paths over them, and how a packet travels.

pub(crate) mod ahead;
pub(crate) mod ledger;
pub(crate) mod link;
mod random_loss;
pub(crate) mod route;
mod transit;

pub(crate) use transit::{Early, Network};
