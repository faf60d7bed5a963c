//! The scenario as engines see it: checked and typed, with nothing left of the forms in which a file may write it.

pub(crate) mod distribution;
pub(crate) mod estimate;
mod header;
mod link;
pub mod route;
pub(crate) mod tcp;
mod traffic;

use aqm::params::Range;
use aqm::unit::Span;
use aqm::{choice, params};
pub use distribution::{Distribution, Drawn};
pub use header::{HEADER, UDP_HEADER};
pub(crate) use link::RATES;
pub use link::{Change, Gilbert, Link, Loss};
pub use tcp::{
    Congestion, Flavour, Halved, LimitedTransmit, MOST_BLOCKS, Profile, RtoFloor, SackRecovery, TCP_PRESETS,
    Tcp,
};
pub use traffic::{Arrival, Ecn, Extent, Kind, Short, Traffic, Udp, Web};

/// A network, its traffic, its queue disciplines, and what to measure.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// What applies to the whole run.
    pub general: General,
    /// How the engine keeps time.
    pub clock: Clock,
    /// When the queue counts as settled.
    pub response: Response,
    /// Which series to record.
    pub record: Record,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// Directed links; each has its own queue.
    pub links: Vec<Link>,
    /// Which of `links` the summary metrics speak of.
    pub observed: usize,
    /// The traffic, in the order of the file.
    pub traffic: Vec<Traffic>,
}

choice! {
    /// How the engine keeps time.
    pub enum Clock {
        /// In whole nanoseconds: of what is due at one instant, what has been under way for longer comes first.
        Integer = "integer",
        /// In seconds in floating point, as ns-2 does: its rounding orders what is due at one instant.
        Double = "double",
    }
}

params! {
    /// What applies to the whole run.
    pub struct General {
        /// What the run is called in tables and figures.
        title: String = String::new(), "";
        /// Simulated time.
        duration: Span = Span::s(100), "s", Range::above(0.0, 1e7);
        /// Time at the start that the summary metrics leave out.
        warmup: Span = Span::ZERO, "s", Range::new(0.0, 1e7);
        /// Where all randomness starts from.
        seed: u64 = 1, "", Range::new(0.0, 9e15);
        /// How the engine keeps time: `integer`, in whole nanoseconds, or `double`, as ns-2 does; auto is `double`
        /// where some flows' TCP is a preset of ns-2. It matters where delays are multiples of each other and a
        /// buffer is full.
        clock: Option<Clock> = None, "";
    }
}

params! {
    /// When a queue counts as settled: the first time from which its mean stays near the target for a while.
    pub struct Response {
        /// The queue length to reach; auto takes the target of the observed queue's algorithm.
        target: Option<f64> = None, "packets", Range::above(0.0, 1e9);
        /// How far from the target is near, as a fraction of it.
        band: f64 = 0.2, "", Range::above(0.0, 10.0);
        /// How long it has to stay near.
        hold: Span = Span::s(5), "s", Range::new(0.0, 1e7);
        /// The bins over which the queue is averaged.
        bin: Span = Span::s(1), "s", Range::above(0.0, 1e7);
    }
}

params! {
    /// Which series to record.
    pub struct Record {
        /// The width of a bin of the queue's series; auto takes 1/2000 of the duration, at least 1 ms.
        step: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// Whether to record series at all.
        series: bool = true, "";
        /// How often to sample each flow's congestion window; auto does not.
        cwnd: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// How long a loss event lasts from its first loss, for `loss_synchronisation`.
        loss_event: Span = Span::ms(100), "s", Range::above(0.0, 1e7);
    }
}

impl Scenario {
    /// The width of a bin of the recorded series.
    #[must_use]
    pub fn series_step(&self) -> Span {
        let auto = Span::ns(self.general.duration.nanos().div_ceil(2000)).max(Span::ms(1));
        self.record.step.unwrap_or(auto)
    }

    /// The queue length in packets that counts as reached; see [`Response`].
    #[must_use]
    pub fn target(&self) -> Option<f64> {
        self.response.target.or_else(|| self.links[self.observed].aqm.as_ref()?.target())
    }
}
