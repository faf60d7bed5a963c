//! Drops that make delays possible, while they are in progress.

use crate::contract::CLASSES;

/// The number of classes.
pub(super) const N: usize = CLASSES as usize;

/// What one class must drop so that its other packets meet their delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The seconds to the deadline of its first packet; infinite without a bound.
    pub(super) left: f64,
    /// The rate that it can have, and its backlog before the drops.
    pub(super) rate: f64,
    pub(super) backlog: f64,
    /// Whether that rate is too low for its deadline.
    pub(super) late: bool,
}

/// The drops in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shedding {
    pub(super) wanted: [Wanted; N],
    /// With shared relief, the bits still to be dropped.
    pub(super) excess: f64,
    /// Classes that may lose no more.
    pub(super) stopped: [bool; N],
}
