//! Tables into a scenario.

pub(crate) mod check;
pub(crate) mod network;
pub(crate) mod resolved;
