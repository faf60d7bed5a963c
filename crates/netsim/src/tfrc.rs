//! TCP-Friendly Rate Control, without a clock or a network: a [`Sender`] and a [`Receiver`] that take the time and a
//! datagram or a report, and answer with what to send and when to be woken.
//!
//! The receiver counts loss events and measures the rate at which data arrives, and reports both once per round trip. The
//! sender allows itself the rate that TCP would have with that loss event rate, and at most twice the rate that arrived.
//!
//! Left out of the source: the correction of the loss history when a packet arrives that was taken for lost (section
//! 5.1), and the granularity of the operating system's clock (section 4.6), which a simulated host does not have.
//!
//! Source: Floyd, Handley, Padhye, Widmer, "TCP Friendly Rate Control (TFRC): protocol specification", RFC 5348, 2008.

mod equation;
mod losses;
mod receiver;
mod sender;

pub use equation::{loss_event_rate, rate};
pub use receiver::Receiver;
pub use sender::{Sender, Setting};

use aqm::unit::{Span, Time};

/// A datagram on its way to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Its number, from 0.
    pub seq: u32,
    /// When it was sent, for the report to echo.
    pub sent: Time,
    /// The sender's estimate of the round trip; zero before the first measurement.
    pub rtt: Span,
}

/// A report on its way to the sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// The sending time of the latest datagram.
    pub echo: Time,
    /// How long ago that datagram arrived.
    pub delay: Span,
    /// The rate at which data arrived (`X_recv`) in byte/s.
    pub received: f64,
    /// The loss event rate (`p`).
    pub loss_event_rate: f64,
}
