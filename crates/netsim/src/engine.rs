//! The event engine: the clock, the event list, random streams, and the watch that can stop a run. It knows nothing of
//! networks but the names of the events.

pub(crate) mod clock;
pub(crate) mod event;
pub(crate) mod rng;
pub(crate) mod watch;
