//! packetdrill's language, played against our TCP: `rack` with the preset `linux`.
//!
//! The simulator counts segments of one size that go one way, and has no receive window that changes, no options, no FIN of the other end's before
//! ours (`netsim::tcp::rack`, under Departures). A script is played up to the first event that needs something of this, and then does
//! not apply; a difference before that is a failure all the same. Where the event closes or resets the connection,
//! and something was compared before, the script has passed as far as that.
//!
//! Not compared: the flag P, the window and the acknowledgement number of our data and, with Accurate ECN, its option, the
//! options of a SYN and of its answer except Accurate ECN's, the values of our timestamps, and the echo of an ACK's.

mod host;
mod language;
mod play;
mod python;
mod socket;
#[cfg(test)]
mod tests;

pub(crate) use play::{Verdict, play};
