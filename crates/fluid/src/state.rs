//! The places of the numbers in the state that the equations move. From [`STREAMS`] on there are four for each class, then
//! two for each stream.

use crate::law::FLOWING;

pub(crate) const QUEUE: usize = 0;
pub(crate) const OWN: usize = 1;
pub(crate) const ARRIVALS: usize = OWN + FLOWING;
pub(crate) const EARLY: usize = ARRIVALS + 1;
pub(crate) const MARKS: usize = ARRIVALS + 2;
pub(crate) const OVERFLOW: usize = ARRIVALS + 3;
pub(crate) const SENT: usize = ARRIVALS + 4;
pub(crate) const STREAMS: usize = ARRIVALS + 5;
