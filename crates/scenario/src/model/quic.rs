//! QUIC: a download by a program's own stack, if the build has one.

use super::distribution::Distribution;
use aqm::choice;
use aqm::unit::Bytes;
use std::sync::atomic::{AtomicBool, Ordering};

choice! {
    /// The congestion controls of a QUIC stack.
    pub enum QuicControl {
        /// CUBIC (RFC 9438).
        Cubic = "cubic",
        /// NewReno (RFC 9002, section 7).
        NewReno = "newreno",
        /// BBR, version 1.
        Bbr = "bbr",
    }
}

/// A download over one connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quic {
    /// The sender's congestion control.
    pub congestion: QuicControl,
    /// The bytes that are downloaded; without end if none.
    pub size: Option<Distribution<Bytes>>,
}

impl Quic {
    /// The least payload that a path of QUIC must carry (RFC 9000, section 14).
    pub const LEAST_PAYLOAD: u64 = 1200;
    /// Bytes on the wire of a packet that only acknowledges: UDP and IP, and a short header with a frame and its tag.
    pub const ACK: u64 = 65;
}

static HAS_STACK: AtomicBool = AtomicBool::new(false);

/// From now on the check of a scenario accepts QUIC, because the program has a stack for it.
pub fn accept_quic() {
    HAS_STACK.store(true, Ordering::Relaxed);
}

/// Whether the program has a stack.
pub(crate) fn has_quic() -> bool {
    HAS_STACK.load(Ordering::Relaxed)
}
