//! Sources of datagrams: when each sends a packet, and how large.

pub(crate) mod noise;
pub(crate) mod source;
