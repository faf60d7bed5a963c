//! The data types of a run's results: each metric's name, unit and meaning.

mod violations;

use crate::measure::delays::Delays;
use aqm::queue::Counts;
use serde::Serialize;
use std::collections::BTreeMap;

/// The summary of a run over `[warmup, duration]`. Undefined values are `None`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Results {
    /// The seed of the run.
    pub seed: u64,
    /// The observed link, and all flows together.
    pub metrics: Metrics,
    /// Each traffic entry by its name.
    pub classes: BTreeMap<String, ClassMetrics>,
    /// Each measured link by its name.
    pub links: BTreeMap<String, LinkMetrics>,
    /// Each queue of a measured link whose algorithm names its queues, by the names of both: `LINK.LANE`.
    pub lanes: BTreeMap<String, LaneMetrics>,
    /// Whole distributions, of each traffic entry and of each measured link.
    pub distributions: Distributions,
    /// What the run cost.
    pub engine: Engine,
}

/// The observed link and all flows together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Metrics {
    /// The observed link.
    #[serde(flatten)]
    pub link: LinkMetrics,
    /// All flows together.
    #[serde(flatten)]
    pub flows: FlowMetrics,
    /// First time from which the queue stays near its target, in s.
    pub response_time: Option<f64>,
    /// Packets lost in buffers that are not measured, or by chance on their links, over the whole run.
    pub drops_elsewhere: u64,
}

/// A measured link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LinkMetrics {
    /// Time average of the queue in packets, without the one in transmission.
    pub queue_mean: Option<f64>,
    /// Standard deviation of the queue over time, in packets.
    pub queue_std: Option<f64>,
    /// Mean absolute deviation of the queue over time, in packets (what the LRED paper calls its deviation).
    pub queue_mad: Option<f64>,
    /// Fraction of the time without a waiting packet.
    pub queue_empty: Option<f64>,
    /// Fraction of the time without room for another packet of the usual size.
    pub queue_full: Option<f64>,
    /// Packets, their fate and their delay.
    #[serde(flatten)]
    pub traffic: TrafficMetrics,
    /// Bits sent over those and the ones that it could have sent while it had no packet.
    pub utilisation: f64,
    /// Packets lost by chance before they came to the queue, over the whole run.
    pub random_losses: u64,
    /// Mean number of packets that a flow loses in a row.
    pub loss_run_mean: Option<f64>,
    /// Mean number of packets lost in a row, of whichever flows.
    pub loss_burst_mean: Option<f64>,
    /// Loss events: a loss and all that follow within `record.loss_event`.
    pub loss_events: u64,
    /// Mean share of the active flows that lose packets in a loss event.
    pub loss_synchronisation: Option<f64>,
}

/// One of the queues that share the buffer of a measured link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LaneMetrics {
    /// Time average of this queue in packets, without the one in transmission.
    pub queue_mean: Option<f64>,
    /// Its standard deviation over time, in packets.
    pub queue_std: Option<f64>,
    /// Its mean absolute deviation over time, in packets.
    pub queue_mad: Option<f64>,
    /// Fraction of the time in which no packet waits in it.
    pub queue_empty: Option<f64>,
    /// Its packets, their fate and their delay.
    #[serde(flatten)]
    pub traffic: TrafficMetrics,
}

/// What happened to packets at a measured link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrafficMetrics {
    /// Mean wait in the queue of the packets sent, in s.
    pub queue_delay_mean: Option<f64>,
    /// Median wait in s.
    pub queue_delay_p50: Option<f64>,
    /// 95th percentile of the wait in s.
    pub queue_delay_p95: Option<f64>,
    /// 99th percentile of the wait in s.
    pub queue_delay_p99: Option<f64>,
    /// Longest wait in s.
    pub queue_delay_max: Option<f64>,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets that the algorithm dropped.
    pub drops_early: u64,
    /// Packets dropped for want of room.
    pub drops_overflow: u64,
    /// Packets marked with CE.
    pub marks: u64,
    /// The part of the packets that arrived in the window that was dropped by the end of the run.
    pub loss_ratio: Option<f64>,
    /// The part of them that was marked by then.
    pub mark_ratio: Option<f64>,
    /// bit/s sent, headers and the link's framing included.
    pub throughput: f64,
}

/// A set of flows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowMetrics {
    /// bit/s of distinct payload delivered in order, without headers.
    pub goodput: f64,
    /// Jain's index of the goodputs of those flows that are there for the whole run; `None` if there are none.
    pub jain: Option<f64>,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission time-outs over the whole run.
    pub timeouts_total: u64,
    /// Segments sent again over the whole run.
    pub retransmits_total: u64,
    /// Mean time from sender to receiver of data packets and datagrams, in s.
    pub delay_mean: Option<f64>,
    /// Median of that time in s.
    pub delay_p50: Option<f64>,
    /// Its 95th percentile in s.
    pub delay_p95: Option<f64>,
    /// Its 99th percentile in s.
    pub delay_p99: Option<f64>,
    /// Its greatest value in s.
    pub delay_max: Option<f64>,
    /// Mean change of that time from a flow's packet to the next that arrives, in s.
    pub jitter: Option<f64>,
}

/// A traffic entry.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassMetrics {
    /// How many flows it has, or arrival processes, or clients.
    pub flows: u32,
    /// Its packets at the observed link.
    #[serde(flatten)]
    pub traffic: TrafficMetrics,
    /// Mean number of packets that a flow loses in a row.
    pub loss_run_mean: Option<f64>,
    /// Its flows.
    #[serde(flatten)]
    pub totals: FlowMetrics,
    /// Flows that started, or requests of web clients, over the whole run.
    pub started: u64,
    /// Flows whose every byte was acknowledged, or web objects that arrived, over the whole run; flows without an
    /// end never do.
    pub completed: u64,
    /// Mean time from start to last acknowledgement of those, or from request to last byte of objects, in s.
    pub completion_time_mean: Option<f64>,
    /// Median of that time in s.
    pub completion_time_p50: Option<f64>,
    /// Its 95th percentile in s.
    pub completion_time_p95: Option<f64>,
    /// Its 99th percentile in s.
    pub completion_time_p99: Option<f64>,
    /// Its greatest value in s.
    pub completion_time_max: Option<f64>,
    /// Sessions of web clients whose every object arrived, over the whole run.
    pub sessions: u64,
    /// Mean time from their first request to their last byte, in s.
    pub session_time_mean: Option<f64>,
}

/// Whole distributions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Distributions {
    /// Of each traffic entry by its name; losses at the observed link.
    pub classes: BTreeMap<String, ClassDistributions>,
    /// Of each measured link by its name.
    pub links: BTreeMap<String, LinkDistributions>,
}

/// The distributions of a traffic entry. One without values has no elements.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassDistributions {
    /// How many times its flows lost 1, 2, ... packets in a row; the 100th bin is open.
    pub loss_runs: Vec<u64>,
    /// The percentiles 0 to 100 of the time from sender to receiver, in s.
    pub delay: Vec<f64>,
    /// The percentiles 0 to 100 of the time from start to last acknowledgement of the completed flows, in s.
    pub completion_time: Vec<f64>,
}

/// The distributions of a measured link. One without values has no elements.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LinkDistributions {
    /// How many times a flow lost 1, 2, ... packets in a row; the 100th bin is open.
    pub loss_runs: Vec<u64>,
    /// How many times 1, 2, ... packets of whichever flows were lost in a row; the 100th bin is open.
    pub loss_bursts: Vec<u64>,
}

/// What the run cost, over the whole of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Engine {
    /// Packets that the observed link sent.
    pub packets: u64,
    /// Events handled.
    pub events: u64,
    /// Processor time of the run and its set-up, in s.
    pub cpu_seconds: f64,
}

impl TrafficMetrics {
    /// The metrics of packets with these counters and waits, sent at `throughput` bit/s.
    pub(crate) fn new(counts: &Counts, delays: &Delays, throughput: f64) -> Self {
        let percentile = delays.percentile();
        Self {
            queue_delay_mean: delays.mean(),
            queue_delay_p50: percentile(50),
            queue_delay_p95: percentile(95),
            queue_delay_p99: percentile(99),
            queue_delay_max: delays.max(),
            arrivals: counts.arrivals,
            drops_early: counts.drops_early,
            drops_overflow: counts.drops_overflow,
            marks: counts.marks,
            loss_ratio: counts.loss_ratio(),
            mark_ratio: counts.mark_ratio(),
            throughput,
        }
    }
}
