//! The `rack` TCP sender: RACK-TLP, proportional rate reduction, F-RTO and undo, as in the Linux kernel.
//!
//! ```text
//!            SACK                 a loss by time: sent before what has arrived, and a round trip ago
//!   Open <--------> Disorder ----------------------------> Recovery
//!     |  \                                                    |  all that was out then is acknowledged,
//!     |   `-- echo of a mark --> CWR --> Open                  |  or it turns out that nothing was lost (undo)
//!     `------ time-out --------> Loss <------------------------'
//! ```
//!
//! A segment is lost when one sent later has arrived and its own round trip, and some for reordering, is over (RACK,
//! [`recovery`]). Where nothing comes back for two round trips the last segment is sent again to provoke a SACK (tail
//! loss probe, [`output`]). In Recovery and CWR the window follows the delivered segments down to the threshold (PRR).
//! A time-out excludes recent segments from the losses and, if a segment never sent again is acknowledged after it, is
//! undone (F-RTO). Everything is counted in segments of one size.
//!
//! Names are the project's; each rule names the kernel's function. Read for facts: Linux 7.2, net/ipv4/tcp_input.c,
//! tcp_output.c, tcp_recovery.c, tcp_timer.c; RFC 8985 (RACK-TLP), RFC 9937 (PRR), RFC 5682 (F-RTO), RFC 4015 and 3708
//! (undo), RFC 3168 (ECN).
//!
//! # Departures from the source
//! * Packets are segments. Segmentation offload is off unless `offload` asks for it ([`burst`]). There is no small-queue limit, for
//!   a host's own queue is no bottleneck here; with `pacing = "fq"` segments that the pace holds back wait in the sender, where Linux
//!   has up to a millisecond of them in `fq`, and counts them as sent. A flow's ends send data one way: no ping-pong mode, and
//!   an ACK never rides on data.
//! * The receive window is fixed (`max_window`), and the send buffer has no bound.
//! * ACKs that the kernel counts as window updates are duplicates here; with SACK nothing depends on it.
//! * The SYN's options and its answer's are not modelled, except Accurate ECN's. The receiver's FIN is the ACK of the
//!   sender's. A flow that is stopped before its end sends no FIN and no answer to the receiver's.

mod accurate;
pub mod board;
pub(in crate::tcp) mod burst;
pub mod clock;
pub mod minmax;
mod output;
pub mod rate;
pub mod receiver;
mod recovery;
mod reduction;
mod reordering;
pub mod rtt;
mod sacks;
mod sender;
mod state;
mod timer;
mod timers;
mod undo;

pub use sender::Sender;
pub(super) use state::INFINITE;
pub use state::{Cause, Phase, State};
