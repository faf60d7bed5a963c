//! Files of packets in the format pcapng (`draft-ietf-opsawg-pcapng`), which `wireshark` and `tcpdump` read.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@block`] | the blocks of a file |
//! | [`links`] | a file of the packets that a simulation's links send and lose, with the headers that they stand for |

pub mod block;
pub mod links;
