//! Transports from outside this crate: a [`Stack`] is one end of a connection, without a clock or a network.
//!
//! A stack takes the time and a datagram, and answers with the datagrams to send and when it is to be asked again. The
//! engine carries them over the paths of the scenario: it knows their sizes and ECN fields, and keeps their content
//! beside its packets. A program that has a stack [installs](install) what makes its ends.

use aqm::unit::{Span, Time};
use scenario::model::{Ecn, Known};
use std::fmt::Debug;
use std::sync::OnceLock;

/// One end of a connection, with the application that it serves. The same calls have the same answers in every run, but
/// for the content of datagrams.
pub trait Stack: Debug + Send + Sync {
    /// A datagram has arrived with this codepoint, [`Codepoint::Ce`] if a queue marked it.
    fn recv(&mut self, now: Time, datagram: &[u8], ecn: Codepoint);

    /// Acts at its time, and adds the datagrams that are sent now. It is called at the start of the connection, after
    /// [`Stack::recv`] and [`Stack::stop`], and at the time that [`Stack::timeout`] returned.
    ///
    /// # Errors
    /// If the connection cannot go on, with the reason.
    fn poll(&mut self, now: Time, out: &mut Vec<Datagram>) -> Result<(), String>;

    /// When it is to be polled again, if no datagram comes before; after [`Stack::poll`], this is in the future.
    fn timeout(&mut self) -> Option<Time>;

    /// The application has nothing more to send.
    fn stop(&mut self);

    /// Its counts so far.
    fn state(&self) -> State;

    /// The next of the round trips that were measured since the last call.
    fn round_trip(&mut self) -> Option<Span>;

    /// The events that it has logged if that was [`Wanted`], as qlog in a sequence of JSON texts (RFC 7464).
    fn qlog(&self) -> Option<Vec<u8>> {
        None
    }
}

/// A datagram that is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// The payload of UDP.
    pub payload: Vec<u8>,
    /// The codepoint in its IP header.
    pub ecn: Ecn,
}

/// The ECN field of a packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codepoint {
    /// Its transport does not use ECN.
    NotEct,
    /// ECT(0).
    Ect0,
    /// ECT(1).
    Ect1,
    /// Congestion was experienced.
    Ce,
}

/// What an end has counted since the start of its connection, and its state now.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct State {
    /// Bytes that the application has received, in order.
    pub delivered: u64,
    /// Whether it has received all that there was.
    pub complete: bool,
    /// Packets that the sender took for lost; their content is sent again.
    pub lost: u64,
    /// The congestion window in bytes.
    pub window: u64,
    /// The slow-start threshold in bytes; `None` if the congestion control has none.
    pub threshold: Option<u64>,
    /// The smoothed round-trip time, once one is measured.
    pub smoothed: Option<Span>,
}

/// The connection whose ends are to be made.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What runs at its ends.
    pub stack: &'a scenario::model::Stack,
    /// The bytes that are downloaded; without end if none.
    pub size: Option<u64>,
    /// The largest payload of its datagrams.
    pub payload: u16,
    /// What all its random numbers follow from.
    pub seed: [u8; 32],
    /// Whether its ends log what they do.
    pub qlog: bool,
}

/// What the two ends of a connection have logged, the one that sends the data first.
pub type Logs = [Option<Vec<u8>>; 2];

/// Makes the end that sends the data and the end that asks for it; the error is the reason why it cannot.
pub type Maker = fn(&Wanted<'_>) -> Result<[Box<dyn Stack>; 2], String>;

/// The panic with which a stack that cannot go on ends its run: the reason, in a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken(pub String);

static MAKER: OnceLock<Maker> = OnceLock::new();

/// From now on scenarios may have the stacks that are `known`, whose ends `maker` makes; only the first call has an effect.
pub fn install(maker: Maker, known: Known) {
    let _ = MAKER.set(maker);
    scenario::model::accept_stacks(known);
}

/// The ends of a connection.
///
/// # Panics
/// If no maker is installed: the check of a scenario refuses stacks then.
pub(crate) fn make(wanted: &Wanted<'_>) -> Result<[Box<dyn Stack>; 2], String> {
    MAKER.get().expect("a checked scenario has a stack only where one is installed")(wanted)
}
