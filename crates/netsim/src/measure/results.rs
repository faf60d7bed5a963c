//! The summary of a run: what it is called, in which unit, from which counters.

mod violations;

use crate::flows::flow::{Endpoints, Snapshot};
use crate::measure::delivery::Jitter;
use crate::measure::loss_runs::Runs;
use crate::measure::probe::{Owner, Probe};
use crate::measure::stats::Delays;
use crate::network::link::Managed;
use crate::simulation::Simulation;
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
    /// Of these packets, of which so many bits were sent per second.
    fn new(counts: &Counts, delays: &Delays, throughput: f64) -> Self {
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

fn sum(counts: &[Counts]) -> Counts {
    counts.iter().fold(Counts::default(), |sum, counts| sum.plus(counts))
}

/// What the flows of one class, or of all, did since the warm-up; their packets took so long.
fn flow_metrics(
    endpoints: &Endpoints,
    class: Option<u16>,
    (delays, jitter): (&Delays, Jitter),
    seconds: f64,
) -> FlowMetrics {
    let wanted = |of: u16| class.is_none_or(|class| class == of);
    let (mut delivered, mut all, mut total) = (Vec::new(), Snapshot::default(), Snapshot::default());
    for i in (0..endpoints.residents).filter(|&i| wanted(endpoints.flows[i].class)) {
        let now = endpoints.snapshot(i);
        let since = now - endpoints.at_warmup[i];
        delivered.push(since.delivered);
        (all, total) = (all + since, total + now);
    }
    let by_residents = all.delivered;
    for (class, then) in endpoints.classes.iter().enumerate().filter(|&(class, _)| wanted(class as u16)) {
        let now = endpoints.guests(class as u16);
        (all, total) = (all + (now - then.at_warmup), total + now);
    }
    let sources = endpoints.sources.iter().filter(|source| wanted(source.class));
    delivered.extend(sources.map(|source| source.delivered - source.delivered_at_warmup));
    let sum: f64 = delivered.iter().map(|&x: &u64| x as f64).sum();
    let squares: f64 = delivered.iter().map(|&x| x as f64 * x as f64).sum();
    let percentile = delays.percentile();
    FlowMetrics {
        goodput: (sum + (all.delivered - by_residents) as f64) * 8.0 / seconds,
        // Cauchy's inequality makes it 1 at most, but for rounding.
        jain: (squares > 0.0).then(|| (sum * sum / (delivered.len() as f64 * squares)).min(1.0)),
        timeouts: all.timeouts,
        retransmits: all.retransmits,
        timeouts_total: total.timeouts,
        retransmits_total: total.retransmits,
        delay_mean: delays.mean(),
        delay_p50: percentile(50),
        delay_p95: percentile(95),
        delay_p99: percentile(99),
        delay_max: delays.max(),
        jitter: jitter.mean(),
    }
}

impl<P: Probe> Simulation<P> {
    /// The summary of the run, which must be over.
    ///
    /// # Panics
    /// If it is not.
    #[must_use]
    pub fn results(&self) -> Results {
        assert!(self.finished(), "the run is not over");
        let general = &self.scenario.general;
        let seconds = (general.duration.nanos() - general.warmup.nanos()) as f64 * 1e-9;
        let (mut links, mut link_distributions) = (BTreeMap::new(), BTreeMap::new());
        let mut lanes = BTreeMap::new();
        let mut observed = None;
        let mut drops_elsewhere = 0;
        for (i, link) in self.network.links.iter().enumerate() {
            let Some(managed) = &link.managed else {
                drops_elsewhere += link.drops + link.lottery.as_ref().map_or(0, |lottery| lottery.losses);
                continue;
            };
            let (runs, bursts) = managed.losses.runs(self.end, managed.queue.waiting());
            let metrics = self.link_metrics(i, managed, (&Runs::sum(&runs), &bursts), seconds);
            let said = &self.scenario.links[i];
            let name = &said.name;
            for (lane, of_lane) in said.lanes().iter().enumerate() {
                lanes.insert(format!("{name}.{of_lane}"), self.lane_metrics(managed, lane, seconds));
            }
            let distributions = LinkDistributions {
                loss_runs: Runs::sum(&runs).counts().to_vec(),
                loss_bursts: bursts.counts().to_vec(),
            };
            if i == self.scenario.observed {
                observed = Some((metrics.clone(), &**managed, runs));
            }
            links.insert(name.clone(), metrics);
            link_distributions.insert(name.clone(), distributions);
        }
        let (link, managed, runs) = observed.expect("a checked scenario observes a measured link");
        let response_time = managed.settling.settled();
        let (delays, jitter) = self.deliveries.all();
        let names = || self.scenario.traffic.iter().map(|traffic| traffic.name.clone()).enumerate();
        let classes = names().map(|(i, name)| (name, self.class_metrics(i, managed, &runs[i], seconds)));
        let class_distributions = names().map(|(i, name)| (name, self.class_distributions(i, &runs[i])));
        Results {
            seed: self.seed,
            metrics: Metrics {
                link,
                flows: flow_metrics(&self.endpoints, None, (&delays, jitter), seconds),
                response_time,
                drops_elsewhere,
            },
            classes: classes.collect(),
            links,
            lanes,
            distributions: Distributions {
                classes: class_distributions.collect(),
                links: link_distributions,
            },
            engine: Engine {
                packets: sum(managed.queue.counts()).departures,
                events: self.events,
                cpu_seconds: self.cpu.as_secs_f64(),
            },
        }
    }

    fn link_metrics(
        &self,
        i: usize,
        managed: &Managed,
        (runs, bursts): (&Runs, &Runs),
        seconds: f64,
    ) -> LinkMetrics {
        let counts = sum(managed.queue.counts()).since(&sum(&managed.at_warmup));
        let mut delays = Delays::new();
        managed.delays.iter().for_each(|class| delays.add(class));
        let occupancy = managed.occupancy.summary();
        let link = &self.network.links[i];
        let sent = self.bits_sent(managed, &counts, |_| true);
        let capacity = sent + managed.idle_bits(self.end, link.wire.rate);
        let traffic = TrafficMetrics::new(&counts, &delays, sent / seconds);
        LinkMetrics {
            queue_mean: occupancy.map(|o| o.mean),
            queue_std: occupancy.map(|o| o.std),
            queue_mad: occupancy.map(|o| o.mad),
            queue_empty: occupancy.map(|o| o.empty),
            queue_full: occupancy.map(|o| o.full),
            utilisation: if sent > 0.0 { sent / capacity } else { 0.0 },
            random_losses: link.lottery.as_ref().map_or(0, |lottery| lottery.losses),
            loss_run_mean: runs.mean(),
            loss_burst_mean: bursts.mean(),
            loss_events: managed.losses.events.count(),
            loss_synchronisation: managed.losses.events.synchronisation(),
            traffic,
        }
    }

    fn lane_metrics(&self, managed: &Managed, lane: usize, seconds: f64) -> LaneMetrics {
        let meter = &managed.meters[lane];
        let counts = managed.queue.lane_counts()[lane].since(&meter.at_warmup);
        let occupancy = meter.occupancy.summary();
        let sent = self.bits_sent(managed, &counts, |owner| owner.lane == lane);
        let traffic = TrafficMetrics::new(&counts, &meter.delays, sent / seconds);
        LaneMetrics {
            queue_mean: occupancy.map(|o| o.mean),
            queue_std: occupancy.map(|o| o.std),
            queue_mad: occupancy.map(|o| o.mad),
            queue_empty: occupancy.map(|o| o.empty),
            traffic,
        }
    }

    /// Bits sent within the window, of those to whom packets belong that `counts`. Packets are counted when their
    /// transmission begins, so the packet that straddles the start of the window adds what was sent within, and that at
    /// the end takes away what was not.
    fn bits_sent(&self, managed: &Managed, counts: &Counts, belongs: impl Fn(Owner) -> bool) -> f64 {
        let counted = |bits: f64, owner: Owner| if belongs(owner) { bits } else { 0.0 };
        let (unsent, owner) = managed.unsent_at_warmup;
        let straddling = counted(unsent, owner) - counted(managed.unsent(self.end), managed.sending);
        counts.departed_bytes as f64 * 8.0 + straddling
    }

    fn class_metrics(&self, class: usize, managed: &Managed, runs: &Runs, seconds: f64) -> ClassMetrics {
        let counts = managed.queue.counts()[class].since(&managed.at_warmup[class]);
        let sent = self.bits_sent(managed, &counts, |owner| owner.class == class);
        let traffic = TrafficMetrics::new(&counts, &managed.delays[class], sent / seconds);
        let delivery = &self.deliveries.classes[class];
        let of_packets = (&delivery.delays, delivery.jitter);
        let completions = &delivery.completions;
        let percentile = completions.percentile();
        let done = &self.endpoints.classes[class];
        let sources = self.endpoints.sources.iter().filter(|source| usize::from(source.class) == class);
        ClassMetrics {
            flows: self.scenario.traffic[class].count,
            traffic,
            loss_run_mean: runs.mean(),
            totals: flow_metrics(&self.endpoints, Some(class as u16), of_packets, seconds),
            started: done.started
                + sources.filter(|source| source.start < source.stop.min(self.end)).count() as u64,
            completed: completions.count(),
            sessions: done.sessions.count,
            session_time_mean: done.sessions.mean(),
            completion_time_mean: completions.mean(),
            completion_time_p50: percentile(50),
            completion_time_p95: percentile(95),
            completion_time_p99: percentile(99),
            completion_time_max: completions.max(),
        }
    }

    fn class_distributions(&self, class: usize, runs: &Runs) -> ClassDistributions {
        let delivery = &self.deliveries.classes[class];
        ClassDistributions {
            loss_runs: runs.counts().to_vec(),
            delay: delivery.delays.percentiles(),
            completion_time: delivery.completions.percentiles(),
        }
    }
}
