//! The scenario as engines see it: checked and typed, independent of the forms in which a file may write it.

mod buffer;
pub mod cable;
pub mod cell;
pub(crate) mod distribution;
pub(crate) mod estimate;
pub(crate) mod handover;
mod header;
mod link;
pub mod route;
mod stack;
pub(crate) mod tcp;
mod traffic;
pub(crate) mod variation;
mod wifi;

pub use aqm::dscp::Dscp;
use aqm::params::Range;
use aqm::unit::Span;
use aqm::{choice, params};
pub use buffer::Buffer;
pub use cable::{Subscriber, Upstream};
pub use cell::{Cell, Fading, Place, Qualities, Sharing};
pub use distribution::{Distribution, Drawn};
pub use handover::{EVERY, Handover};
pub use header::{HEADER, UDP_HEADER};
pub(crate) use link::RATES;
pub use link::{Change, EcnPath, Gilbert, Link, Loss, Steps};
pub use stack::{Download, Known, Library, QuicControl, Stack, accept_stacks};
pub(crate) use stack::{has_quinn, load_stack};
pub use tcp::{
    Congestion, Control, EarlyMarks, Feedback, Flavour, Halved, LimitedTransmit, MOST_BLOCKS, Pacing,
    Profile, RECEIVE_BUFFER, RtoFloor, SackRecovery, TCP_PRESETS, Tcp, user_defined,
};
pub(crate) use traffic::least_common_multiple;
pub use traffic::{
    Arrival, Codec, Ecn, Extent, Program, Short, Tfrc, Traffic, TrafficKind, Transfer, Udp, Video, Voice, Web,
};
pub(crate) use variation::PROBABILITIES;
pub use variation::{Jitter, Law, Outage, Reorder, Variation, Waypoint};
pub use wifi::{Access, Air, Part, Phy, Queues, Scheduler, Standard, Wifi};

/// Why an engine that computes all traffic refuses programs.
pub const NEEDS_A_KERNEL: &str = "only a kernel runs programs; use --engine linux";

/// A network, its traffic, its queue disciplines, and the quantities to record.
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
    /// Directed links, each with its own queue: of each cable the one, then its reverse.
    pub links: Vec<Link>,
    /// The wireless LANs, of which some links are parts.
    pub wifis: Vec<Wifi>,
    /// The cells of mobile networks, of which some links are parts.
    pub cells: Vec<Cell>,
    /// The upstream channels of cable networks, of which some links are parts.
    pub upstreams: Vec<Upstream>,
    /// The index in `links` of the observed link, which the summary metrics describe.
    pub observed: usize,
    /// The name of its queue discipline as the file writes it: `fq_codel`, where the algorithm is `fq`.
    pub discipline: String,
    /// The traffic, in the order of the file.
    pub traffic: Vec<Traffic>,
    /// Sentences on how its recordings were read.
    pub remarks: Vec<String>,
}

choice! {
    /// How the engine keeps time.
    pub enum Clock {
        /// In whole nanoseconds: of simultaneous events, the one that has been under way for longer comes first.
        Integer = "integer",
        /// In floating-point seconds, as in ns-2, whose rounding orders simultaneous events.
        Double = "double",
    }
}

params! {
    /// What applies to the whole run.
    pub struct General {
        /// Name of the run in tables and figures.
        title: String = String::new(), "";
        /// Simulated time.
        duration: Span = Span::s(100), "s", Range::above(0.0, 1e7);
        /// Time at the start that the summary metrics leave out.
        warmup: Span = Span::ZERO, "s", Range::new(0.0, 1e7);
        /// Seed of all randomness.
        seed: u64 = 1, "", Range::new(0.0, 9e15);
        /// How the engine keeps time: `integer`, in whole nanoseconds, or `double`, as in ns-2; auto is `double` if
        /// the TCP of some flows is a preset of ns-2. The clock affects results where delays are multiples of each
        /// other and a buffer is full.
        clock: Option<Clock> = None, "";
    }
}

params! {
    /// When a queue counts as settled: the first time from which its mean stays near the target for a given time.
    pub struct Response {
        /// The target queue length; auto is that of the observed queue's algorithm.
        target: Option<f64> = None, "packets", Range::above(0.0, 1e9);
        /// Largest deviation that counts as near the target, as a fraction of the target.
        band: f64 = 0.2, "", Range::above(0.0, 10.0);
        /// How long the queue has to stay near the target.
        hold: Span = Span::s(5), "s", Range::new(0.0, 1e7);
        /// The bins over which the queue is averaged.
        bin: Span = Span::s(1), "s", Range::above(0.0, 1e7);
    }
}

params! {
    /// Which series to record.
    pub struct Record {
        /// Bin width of the queue's series; auto is 1/2000 of the duration, at least 1 ms.
        step: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// Record series.
        series: bool = true, "";
        /// Sampling interval of each flow's congestion window; auto does not sample it.
        cwnd: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// Record a row for each flow and each transfer: its times, bytes, round-trip times, losses and retransmissions.
        flows: bool = false, "";
        /// Record what the ends of `quic` log of packets and of their congestion control; `--qlog` writes it to a file.
        qlog: bool = false, "";
        /// Duration of a loss event from its first loss, for `loss_synchronisation`.
        loss_event: Span = Span::ms(100), "s", Range::above(0.0, 1e7);
    }
}

impl Scenario {
    /// The traffic entries with programs to run.
    pub fn programs(&self) -> impl Iterator<Item = &Traffic> {
        self.traffic.iter().filter(|entry| entry.count > 0 && matches!(entry.kind, TrafficKind::Program(_)))
    }

    /// Whether an engine can have it that computes all traffic.
    ///
    /// # Errors
    /// If it has programs: what to do about it.
    pub fn computed(&self) -> Result<(), String> {
        let Some(entry) = self.programs().next() else { return Ok(()) };
        Err(format!("traffic.{}.kind = \"program\": {NEEDS_A_KERNEL}", entry.name))
    }

    /// The bin width of the recorded series.
    #[must_use]
    pub fn series_step(&self) -> Span {
        let auto = Span::ns(self.general.duration.nanos().div_ceil(2000)).max(Span::ms(1));
        self.record.step.unwrap_or(auto)
    }

    /// The target queue length in packets; see [`Response`].
    #[must_use]
    pub fn target(&self) -> Option<f64> {
        self.response.target.or_else(|| self.links[self.observed].aqm.as_ref()?.target())
    }
}
