//! Drops for the sake of delays, while they go on.

use crate::contract::CLASSES;

/// How many classes there are.
pub(super) const N: usize = CLASSES as usize;

/// What one class wants to drop so that the rest is in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The seconds to the deadline of its first packet, if it is to meet one.
    pub(super) left: f64,
    /// The rate that it can have, and what it waited with.
    pub(super) rate: f64,
    pub(super) backlog: f64,
    /// Whether that rate is too low for its deadline.
    pub(super) late: bool,
}

/// Packets are being dropped for the sake of delays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shedding {
    pub(super) wanted: [Wanted; N],
    /// With shared relief, the bits still to go.
    pub(super) excess: f64,
    /// Classes that may lose no more.
    pub(super) stopped: [bool; N],
}
