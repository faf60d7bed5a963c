//! Classic senders and their receiver, as in ns-2 and the RFCs up to 6675: Tahoe, Reno, NewReno, SACK.

pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
