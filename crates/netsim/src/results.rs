//! The summary of a run: what it is called, in which unit, from which counters.

use crate::flow::{Endpoints, Snapshot};
use crate::link::{Link, Managed};
use crate::probe::Probe;
use crate::simulation::Simulation;
use crate::stats::Delays;
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
    /// Bits sent over the link's capacity.
    pub utilisation: f64,
    /// Packets lost by chance before they came to the queue, over the whole run.
    pub random_losses: u64,
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
    /// Drops over arrivals.
    pub loss_ratio: Option<f64>,
    /// Marks over arrivals.
    pub mark_ratio: Option<f64>,
    /// bit/s sent, headers included.
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
}

/// A traffic entry.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassMetrics {
    /// How many flows it has, or arrival processes, or clients.
    pub flows: u32,
    /// Its packets at the observed link.
    #[serde(flatten)]
    pub traffic: TrafficMetrics,
    /// Its flows.
    #[serde(flatten)]
    pub totals: FlowMetrics,
    /// Retransmission time-outs over the whole run, which is how ns-2's senders count them.
    pub timeouts_from_start: u64,
    /// Flows that started, or requests of web clients, over the whole run.
    pub started: u64,
    /// Flows whose every byte was acknowledged, or web objects that arrived, over the whole run; flows without an
    /// end never do.
    pub completed: u64,
    /// Mean time from start to last acknowledgement of those, or from request to last byte of objects, in s.
    pub completion_time_mean: Option<f64>,
    /// Sessions of web clients whose every object arrived, over the whole run.
    pub sessions: u64,
    /// Mean time from their first request to their last byte, in s.
    pub session_time_mean: Option<f64>,
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
    fn new(counts: &Counts, delays: &Delays, seconds: f64) -> Self {
        let over_arrivals = |n: u64| (counts.arrivals > 0).then(|| n as f64 / counts.arrivals as f64);
        Self {
            queue_delay_mean: delays.mean(),
            queue_delay_p50: delays.quantile(0.5),
            queue_delay_p95: delays.quantile(0.95),
            queue_delay_p99: delays.quantile(0.99),
            queue_delay_max: delays.max(),
            arrivals: counts.arrivals,
            drops_early: counts.drops_early,
            drops_overflow: counts.drops_overflow,
            marks: counts.marks,
            loss_ratio: over_arrivals(counts.drops_early + counts.drops_overflow),
            mark_ratio: over_arrivals(counts.marks),
            throughput: counts.departed_bytes as f64 * 8.0 / seconds,
        }
    }
}

impl FlowMetrics {
    /// Of residents with these payload bytes delivered in `seconds`, and of guests together.
    fn new(residents: &[u64], guests: u64, timeouts: u64, retransmits: u64, seconds: f64) -> Self {
        let sum: f64 = residents.iter().map(|&x| x as f64).sum();
        let squares: f64 = residents.iter().map(|&x| x as f64 * x as f64).sum();
        Self {
            goodput: (sum + guests as f64) * 8.0 / seconds,
            jain: (squares > 0.0).then(|| sum * sum / (residents.len() as f64 * squares)),
            timeouts,
            retransmits,
        }
    }
}

/// `now - then`, counter by counter.
fn difference(now: &Counts, then: &Counts) -> Counts {
    Counts {
        arrivals: now.arrivals - then.arrivals,
        drops_early: now.drops_early - then.drops_early,
        drops_overflow: now.drops_overflow - then.drops_overflow,
        marks: now.marks - then.marks,
        departures: now.departures - then.departures,
        departed_bytes: now.departed_bytes - then.departed_bytes,
    }
}

fn sum(counts: &[Counts]) -> Counts {
    counts.iter().fold(Counts::default(), |a, b| Counts {
        arrivals: a.arrivals + b.arrivals,
        drops_early: a.drops_early + b.drops_early,
        drops_overflow: a.drops_overflow + b.drops_overflow,
        marks: a.marks + b.marks,
        departures: a.departures + b.departures,
        departed_bytes: a.departed_bytes + b.departed_bytes,
    })
}

/// What the flows of one class, or of all, did since the warm-up.
fn flow_metrics(endpoints: &Endpoints, class: Option<u16>, seconds: f64) -> FlowMetrics {
    let wanted = |of: u16| class.is_none_or(|class| class == of);
    let (mut delivered, mut all) = (Vec::new(), Snapshot::default());
    for i in (0..endpoints.residents).filter(|&i| wanted(endpoints.flows[i].class)) {
        let since = endpoints.snapshot(i) - endpoints.at_warmup[i];
        delivered.push(since.delivered);
        all = all + since;
    }
    let residents = all.delivered;
    for (class, then) in endpoints.classes.iter().enumerate().filter(|&(class, _)| wanted(class as u16)) {
        all = all + (endpoints.guests(class as u16) - then.at_warmup);
    }
    let sources = endpoints.sources.iter().filter(|source| wanted(source.class));
    delivered.extend(sources.map(|source| source.delivered - source.delivered_at_warmup));
    FlowMetrics::new(&delivered, all.delivered - residents, all.timeouts, all.retransmits, seconds)
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
        let mut links = BTreeMap::new();
        let mut observed = None;
        let mut drops_elsewhere = 0;
        for (i, link) in self.network.links.iter().enumerate() {
            let Some(managed) = &link.managed else {
                drops_elsewhere += link.drops + link.lottery.as_ref().map_or(0, |lottery| lottery.losses);
                continue;
            };
            let metrics = self.link_metrics(i, managed, seconds);
            if i == self.scenario.observed {
                observed = Some((metrics.clone(), &**managed));
            }
            links.insert(self.scenario.links[i].name.clone(), metrics);
        }
        let (link, managed) = observed.expect("a checked scenario observes a measured link");
        let response_time = managed.settling.as_ref().and_then(crate::stats::Settling::settled);
        Results {
            seed: self.seed,
            metrics: Metrics {
                link,
                flows: flow_metrics(&self.endpoints, None, seconds),
                response_time,
                drops_elsewhere,
            },
            classes: (0..self.scenario.traffic.len())
                .map(|class| {
                    (self.scenario.traffic[class].name.clone(), self.class_metrics(class, managed, seconds))
                })
                .collect(),
            links,
            engine: Engine {
                packets: sum(managed.queue.counts()).departures,
                events: self.events,
                cpu_seconds: self.cpu.as_secs_f64(),
            },
        }
    }

    fn link_metrics(&self, i: usize, managed: &Managed, seconds: f64) -> LinkMetrics {
        let counts = difference(&sum(managed.queue.counts()), &sum(&self.at_warmup[managed.number]));
        let mut delays = Delays::new();
        managed.delays.iter().for_each(|class| delays.add(class));
        let occupancy = managed.occupancy.summary();
        let general = &self.scenario.general;
        let capacity = self.scenario.links[i].capacity(general.warmup, general.duration);
        let link = &self.network.links[i];
        let mut traffic = TrafficMetrics::new(&counts, &delays, seconds);
        traffic.throughput += self.straddling(link, managed, |_| true) / seconds;
        LinkMetrics {
            queue_mean: occupancy.map(|o| o.mean),
            queue_std: occupancy.map(|o| o.std),
            queue_mad: occupancy.map(|o| o.mad),
            queue_empty: occupancy.map(|o| o.empty),
            queue_full: occupancy.map(|o| o.full),
            utilisation: traffic.throughput * seconds / capacity,
            random_losses: link.lottery.as_ref().map_or(0, |lottery| lottery.losses),
            traffic,
        }
    }

    /// Bits to add to what departed: packets count when their transmission begins, so the packet that straddles
    /// the start of the window adds what was sent within, and that at the end takes away what was not.
    fn straddling(&self, link: &Link, managed: &Managed, counts: impl Fn(usize) -> bool) -> f64 {
        let counted = |bits: f64, class: usize| if counts(class) { bits } else { 0.0 };
        let (unsent, class) = managed.unsent_at_warmup;
        let unsent_at_end = link.wire.bits(managed.sent.since(self.end));
        counted(unsent, class) - counted(unsent_at_end, managed.sending)
    }

    fn class_metrics(&self, class: usize, managed: &Managed, seconds: f64) -> ClassMetrics {
        let counts = difference(&managed.queue.counts()[class], &self.at_warmup[managed.number][class]);
        let link = &self.network.links[self.scenario.observed];
        let mut traffic = TrafficMetrics::new(&counts, &managed.delays[class], seconds);
        traffic.throughput += self.straddling(link, managed, |of| of == class) / seconds;
        let done = &self.endpoints.classes[class];
        let from_start = self.endpoints.residents_of(class as u16) + self.endpoints.guests(class as u16);
        let sources = self.endpoints.sources.iter().filter(|source| usize::from(source.class) == class);
        ClassMetrics {
            flows: self.scenario.traffic[class].count,
            traffic,
            totals: flow_metrics(&self.endpoints, Some(class as u16), seconds),
            timeouts_from_start: from_start.timeouts,
            started: done.started + sources.filter(|source| source.start < self.end).count() as u64,
            completed: done.completions.count,
            completion_time_mean: done.completions.mean(),
            sessions: done.sessions.count,
            session_time_mean: done.sessions.mean(),
        }
    }
}
