//! Captures of a network's packets, as they are read: sans I/O, so that a file may be read in parts.
//!
//! | module | holds |
//! |---|---|
//! | [`file`](mod@file) | the frames of pcap and pcapng |
//! | [`frame`] | the IP packet in a frame, by the type of its link |
//! | [`segment`] | the TCP segment in an IP packet, of which the headers are enough |

pub mod file;
pub mod frame;
pub mod segment;

pub use file::{Decoder, Frame, is_capture};
pub use frame::{IpPacket, ip_packet};
pub use segment::{Segment, segment};
