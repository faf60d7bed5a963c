//! TCP, without a clock or a network: a [`Sender`] and a [`Receiver`] that take the time and a segment or an ACK
//! and answer with what to send and when to be woken. Everything is counted in segments of one size, as ns-2
//! does; segment 0 is the SYN where there is a handshake.

pub mod classic;
pub mod congestion;
mod ends;
pub mod rack;
mod segment;

pub use ends::{Receiver, Sender, bytes_on_heap};
pub use segment::{Ack, AckOption, Blocks, Content, Counts, Outbox, Segment};
use segment::{DUP_THRESH, NO_BLOCKS};
