//! packetdrill's language, played against our TCP.

mod host;
mod language;
mod play;
mod python;
mod socket;

pub use play::{Verdict, play};
