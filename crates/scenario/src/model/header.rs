//! The sizes of headers.

/// Bytes of IP and TCP header without any option.
pub const HEADER: u32 = 40;

/// Bytes of IP and UDP header in every datagram.
pub const UDP_HEADER: u32 = 28;
