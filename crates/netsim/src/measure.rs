//! Measurement: statistics that are always on, and probes that may record more.

pub(crate) mod delays;
pub(crate) mod delivery;
pub(crate) mod fates;
pub(crate) mod flow_log;
pub(crate) mod loss_runs;
pub(crate) mod occupancy;
pub(crate) mod path_losses;
pub mod probe;
pub(crate) mod series;
pub(crate) mod settling;
