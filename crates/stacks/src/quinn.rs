//! QUIC: quinn's own state machine at both ends of a connection.
//!
//! The client asks for a download, and the server sends it on the same stream. The handshake, the encryption, the loss
//! recovery, the pacing and the congestion control are those of quinn and `rustls`; here are the application, the clock and the
//! counters. All times are offsets from one [`std::time::Instant`], so that no clock is read during a run. The content of
//! datagrams is random, as keys are, but their times and sizes follow from the seed.
//!
//! # Departures from quinn's defaults
//! The packets have the largest size from the first on, in place of a search for it: a scenario states the size. No
//! connection ends because it is idle.

mod control;
mod end;
mod log;
mod tls;

use end::End;
use netsim::stack::{Stack, Wanted};
use scenario::model::QuicControl;

/// The server and the client of a connection.
pub(crate) fn make(control: QuicControl, wanted: &Wanted<'_>) -> [Box<dyn Stack>; 2] {
    [Box::new(End::server(control, wanted)), Box::new(End::client(control, wanted))]
}
