//! Common parts of the transcriptions of algorithms with several queues, which keep their packets themselves.

#[path = "curvyred.rs"]
pub(crate) mod curvyred;
#[path = "dualpi2.rs"]
pub(crate) mod dualpi2;
#[path = "fair.rs"]
pub(crate) mod fair;
#[path = "lld.rs"]
pub(crate) mod lld;

/// A packet that arrived.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// The time of its arrival, in seconds.
    pub(crate) since: f64,
    pub(crate) size: i64,
    pub(crate) number: u64,
    pub(crate) flow: u64,
    pub(crate) ect: bool,
    pub(crate) l4s: bool,
    pub(crate) nqb: bool,
}

/// A packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    pub(crate) number: u64,
    pub(crate) mark: bool,
}

/// Queues with their algorithm, as the source describes it.
pub(crate) trait Scheme {
    /// Takes an arrival, with any number of draws.
    fn enqueue(&mut self, packet: Arrival, u: &mut dyn FnMut() -> f64);
    /// The next packet for the link, with any number of draws.
    fn dequeue(&mut self, now: f64, u: &mut dyn FnMut() -> f64) -> Option<Sent>;
    fn period(&self) -> Option<f64> {
        None
    }
    fn update(&mut self, _now: f64) {}
    /// The packets dropped since the last call, in order.
    fn dropped(&mut self) -> Vec<u64>;
    /// One of the algorithm's signals.
    fn signal(&self) -> f64;
}
