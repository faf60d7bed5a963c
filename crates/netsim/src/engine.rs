//! The event engine: the clock, the event list, and random streams. It knows nothing of networks but the names of the events.

pub(crate) mod clock;
pub(crate) mod event;
pub(crate) mod order;
pub(crate) mod rng;
mod slots;
