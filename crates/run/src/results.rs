//! The summary of a run: its metrics and distributions, and the cost of the run.

pub use crate::elsewhere::Elsewhere;
pub use crate::metrics::{
    ClassDistributions, ClassMetrics, FlowMetrics, LaneMetrics, LinkDistributions, LinkMetrics, Metrics,
    TrafficMetrics,
};
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
    /// Each lane of a measured link whose discipline names its lanes, by both names: `LINK.LANE`.
    pub lanes: BTreeMap<String, LaneMetrics>,
    /// Of each measured link whose discipline has more numbers, these by its source's names: counts of the measurement
    /// window, other values at the end of the run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, BTreeMap<String, f64>>,
    /// Whole distributions, of each traffic entry and of each measured link.
    pub distributions: Distributions,
    /// The link that was the bottleneck in place of the observed one, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// The cost of the run.
    pub engine: Engine,
}

/// Whole distributions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Distributions {
    /// Of each traffic entry by its name; losses at the observed link.
    pub classes: BTreeMap<String, ClassDistributions>,
    /// Of each measured link by its name.
    pub links: BTreeMap<String, LinkDistributions>,
}

/// The cost of the run, including the warm-up.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Engine {
    /// Packets that the observed link sent.
    pub packets: u64,
    /// Events handled.
    pub events: u64,
    /// Processor time of the run and its set-up, in s.
    pub cpu_seconds: f64,
    /// How exact its clock was, if that was the machine's.
    #[serde(flatten)]
    pub timing: Option<Timing>,
}

/// How late the emulated network handed packets to real hosts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Timing {
    /// Half of the packets were no later, in s.
    pub timing_error_p50: f64,
    /// 99 of 100, in s.
    pub timing_error_p99: f64,
    /// All, in s.
    pub timing_error_max: f64,
    /// Ends of connections that failed and datagrams that were not sent.
    pub failed_sockets: u64,
}
