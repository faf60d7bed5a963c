//! Measurement: statistics that are always on, probes that may record more, and the results' data types.

pub(crate) mod delays;
pub(crate) mod delivery;
pub(crate) mod fates;
pub(crate) mod loss_runs;
pub(crate) mod occupancy;
pub mod probe;
pub mod results;
pub(crate) mod series;
pub(crate) mod settling;
