//! The results of a finished run, computed from its counters.

use super::Simulation;
use super::account::Account;
use super::quality::Fates;
use crate::measure::delays::Delays;
use crate::measure::delivery::Delivery;
use crate::measure::loss_runs::Runs;
use crate::measure::probe::{Owner, Probe};
use crate::network::aqm_queue::AqmQueue;
use crate::network::link::Transmitter;
use crate::network::{Access, Tally, Whose, back};
use aqm::queue::Counts;
use aqm::unit::Span;
use run::results::{
    ClassDistributions, ClassMetrics, Distributions, Elsewhere, Engine, FlowMetrics, LaneMetrics,
    LinkDistributions, LinkMetrics, Metrics, Results, TrafficMetrics,
};
use scenario::model::{self, Part};
use std::collections::BTreeMap;

pub(super) fn sum(counts: &[Counts]) -> Counts {
    counts.iter().fold(Counts::default(), |sum, counts| sum.plus(counts))
}

/// The metrics of the flows with these counters, given the delays of their packets and how many were lost.
fn flow_metrics(account: &Account, delivery: &Delivery, fates: Fates, seconds: f64) -> FlowMetrics {
    let Delivery { delays, jitter, round_trips, .. } = delivery;
    let delivered = &account.delivered;
    let sum: f64 = delivered.iter().map(|&x| x as f64).sum();
    let percentile = delays.percentile();
    let rtt = round_trips.percentile();
    FlowMetrics {
        goodput: (sum + account.transient as f64) * 8.0 / seconds,
        jain: None,
        timeouts: account.timeouts,
        retransmits: account.retransmits,
        timeouts_total: account.timeouts_total,
        retransmits_total: account.retransmits_total,
        delay_mean: delays.mean(),
        delay_p50: percentile(50),
        delay_p95: percentile(95),
        delay_p99: percentile(99),
        delay_max: delays.max(),
        path_loss_ratio: fates.loss_ratio(),
        rtt_mean: round_trips.mean(),
        rtt_p50: rtt(50),
        rtt_p95: rtt(95),
        rtt_p99: rtt(99),
        rtt_max: round_trips.max(),
        rtt_bias: None,
        jitter: jitter.mean(),
    }
}

/// The metrics of packets with these counters and waits, sent at `throughput` bit/s.
fn traffic_metrics(counts: &Counts, delays: &Delays, throughput: f64) -> TrafficMetrics {
    let percentile = delays.percentile();
    TrafficMetrics {
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
        let (mut lanes, mut counters) = (BTreeMap::new(), BTreeMap::new());
        let mut observed = None;
        let mut drops_elsewhere = 0;
        for (i, link) in self.network.links.iter().enumerate() {
            let Some(aqm_queue) = &link.aqm_queue else {
                drops_elsewhere += link.drops + link.losses();
                continue;
            };
            let waiting = aqm_queue.queue.waiting().map(|stored| (stored.number, stored.frame));
            let (runs, bursts) = aqm_queue.losses.runs(self.end, waiting);
            let metrics = self.link_metrics(i, aqm_queue, &Runs::sum(&runs), &bursts, seconds);
            let declared = &self.scenario.links[i];
            let name = &declared.name;
            let named = if aqm_queue.lanes_are_new { &[] } else { declared.lanes() };
            for (lane, of_lane) in named.iter().enumerate() {
                lanes.insert(
                    format!("{name}.{of_lane}"),
                    self.lane_metrics(&link.transmitter, aqm_queue, lane, seconds),
                );
            }
            let own = aqm_queue.own();
            if !own.is_empty() {
                counters.insert(name.clone(), own);
            }
            let distributions = LinkDistributions {
                loss_runs: Runs::sum(&runs).counts().to_vec(),
                loss_bursts: bursts.counts().to_vec(),
            };
            if i == self.scenario.observed {
                observed = Some((metrics.clone(), &**aqm_queue, runs));
            }
            links.insert(name.clone(), metrics);
            link_distributions.insert(name.clone(), distributions);
        }
        let (link, aqm_queue, runs) = observed.expect("a checked scenario observes a measured link");
        let response_time = aqm_queue.settling.settled();
        let names = || self.scenario.traffic.iter().map(|traffic| traffic.name.clone()).enumerate();
        let classes = names().map(|(i, name)| (name, self.class_metrics(i, aqm_queue, &runs[i], seconds)));
        let class_distributions = names().map(|(i, name)| (name, self.class_distributions(i, &runs[i])));
        let elsewhere = Elsewhere::of(&link, self.others(&links));
        Results {
            seed: self.seed,
            metrics: Metrics {
                link,
                flows: self.flow_metrics(None, seconds),
                response_time,
                drops_elsewhere: Some(drops_elsewhere),
                rpm: self.responsiveness(),
                qoo: self.quality_of_outcome(seconds),
            },
            classes: classes.collect(),
            links,
            lanes,
            counters,
            distributions: Distributions {
                classes: class_distributions.collect(),
                links: link_distributions,
            },
            elsewhere,
            engine: Engine {
                packets: sum(aqm_queue.queue.counts()).departures,
                events: self.events,
                cpu_seconds: self.cpu.as_secs_f64(),
                timing: None,
            },
        }
    }

    /// The other links on the paths of the flows that cross the observed one, each with its utilisation in the
    /// measurement window, on a half-duplex link in both directions together; `measured` has the metrics of the measured ones.
    fn others<'a>(
        &'a self,
        measured: &BTreeMap<String, LinkMetrics>,
    ) -> impl Iterator<Item = (&'a str, f64)> {
        let general = &self.scenario.general;
        let observed = self.scenario.observed;
        let shares = self.network.shares_paths_with(observed);
        let links = self.network.links.iter().zip(&self.scenario.links).enumerate();
        let used =
            move |i: usize| measured.get(&self.scenario.links[i].name).map(|metrics| metrics.utilisation);
        // The other direction of a half-duplex link is no other medium.
        let lan = |i: usize| self.scenario.links[i].wifi.map(|air| air.lan);
        let is_other = move |i: usize, is_shared: bool| {
            i != observed
                && !(is_shared && back(i) == observed)
                && (lan(i).is_none() || lan(i) != lan(observed))
        };
        let others = links
            .filter(move |(i, (_, declared))| shares[*i] && is_other(*i, declared.half_duplex.is_some()));
        others.map(move |(i, (link, declared))| {
            let plain = || link.plain_utilisation(declared.capacity(general.warmup, general.duration));
            let beside = declared.half_duplex.and_then(|_| used(back(i))).unwrap_or(0.0);
            (&*declared.name, (used(i).unwrap_or_else(plain) + beside).min(1.0))
        })
    }

    /// The metrics of the flows of one class, or of all.
    fn flow_metrics(&self, class: Option<usize>, seconds: f64) -> FlowMetrics {
        let account = self.account(class);
        let metrics = match class {
            Some(class) => {
                flow_metrics(&account, &self.deliveries.classes[class], self.fates(class), seconds)
            }
            None => {
                let fates = (0..self.scenario.traffic.len()).map(|class| self.fates(class)).sum();
                flow_metrics(&account, &self.deliveries.all(), fates, seconds)
            }
        };
        FlowMetrics { rtt_bias: self.rtt_bias(class), jain: self.jain(class), ..metrics }
    }

    /// The counters of the flows of one class, or of all.
    pub(super) fn account(&self, class: Option<usize>) -> Account {
        match (&self.ends, class) {
            (None, class) => Account::of(&self.endpoints, class.map(|class| class as u16)),
            (Some(ends), Some(class)) => ends[class].account.clone(),
            (Some(ends), None) => Account::sum(ends.iter().map(|ends| &ends.account)),
        }
    }

    fn link_metrics(
        &self,
        i: usize,
        aqm_queue: &AqmQueue,
        runs: &Runs,
        bursts: &Runs,
        seconds: f64,
    ) -> LinkMetrics {
        let counts = sum(aqm_queue.queue.counts()).since(&sum(&aqm_queue.at_warmup));
        let mut delays = Delays::new();
        aqm_queue.delays.iter().for_each(|class| delays.add(class));
        let occupancy = aqm_queue.occupancy.summary();
        let link = &self.network.links[i];
        let sent = self.bits_sent(&link.transmitter, aqm_queue, &counts, Whose::All);
        let idle = aqm_queue.idle_bits(self.end, link.transmitter.rate);
        // The bytes that framing adds do not come from the queue, although the link is busy with them: utilisation is computed
        // from the idle time.
        let declared = &self.scenario.links[i];
        let upstream = declared.modem().map(|place| &self.scenario.upstreams[place.cable]);
        let tally = aqm_queue.tally();
        let carried = match (tally, aqm_queue.access.as_deref()) {
            (Some(tally), _) => Some(tally.carried.secs()),
            (None, Some(Access::Driver(lan))) => Some(self.carried_from(*lan)),
            _ => None,
        };
        let utilisation = match declared.framing {
            _ if carried.is_some() => carried.map_or(0.0, |carried| carried / seconds).min(1.0),
            _ if sent == 0.0 => 0.0,
            None => sent / (sent + idle),
            Some(_) => (1.0
                - idle / declared.capacity(self.scenario.general.warmup, Span::ns(self.end.nanos())))
            .max(0.0),
        };
        let traffic = traffic_metrics(&counts, &delays, sent / seconds);
        LinkMetrics {
            queue_mean: occupancy.map(|o| o.mean),
            queue_std: occupancy.map(|o| o.std),
            queue_mad: occupancy.map(|o| o.mad),
            queue_empty: occupancy.map(|o| o.empty),
            // The limit of a queue outside is its own.
            queue_full: occupancy.filter(|_| aqm_queue.outside.is_none()).map(|o| o.full),
            utilisation,
            link_goodput: self.goodput_over(i, seconds),
            random_losses: Some(link.losses()),
            collisions: tally
                .filter(|_| declared.cell.is_none() && upstream.is_none())
                .map(|tally| tally.collisions),
            collision_drops: tally.filter(|_| upstream.is_none()).map(|tally| tally.lost),
            aggregate_mean: tally.and_then(|tally| {
                let [transmissions, frames] = tally.transmissions;
                (frames > 0).then(|| frames as f64 / transmissions as f64)
            }),
            harq_rounds_mean: tally.and_then(Tally::rounds),
            in_order_wait_mean: tally.and_then(Tally::wait),
            channel_share: upstream
                .zip(tally)
                .map(|(upstream, tally)| 8.0 * tally.grants[0] as f64 / (upstream.rate().bits() * seconds)),
            grants_unused: tally
                .map(|tally| tally.grants)
                .filter(|grants| grants[0] > 0)
                .map(|[granted, unused]| unused as f64 / granted as f64),
            loss_run_mean: runs.mean(),
            loss_burst_mean: bursts.mean(),
            loss_events: Some(aqm_queue.losses.events.count()),
            loss_synchronisation: aqm_queue.losses.events.synchronisation(),
            traffic,
        }
    }

    fn lane_metrics(
        &self,
        transmitter: &Transmitter,
        aqm_queue: &AqmQueue,
        lane: usize,
        seconds: f64,
    ) -> LaneMetrics {
        let meter = &aqm_queue.meters[lane];
        let counts = aqm_queue.queue.lane_counts()[lane].since(&meter.at_warmup);
        let occupancy = meter.occupancy.summary();
        let sent = self.bits_sent(transmitter, aqm_queue, &counts, Whose::Lane(lane));
        let traffic = traffic_metrics(&counts, &meter.delays, sent / seconds);
        LaneMetrics {
            queue_mean: occupancy.map(|o| o.mean),
            queue_std: occupancy.map(|o| o.std),
            queue_mad: occupancy.map(|o| o.mad),
            queue_empty: occupancy.map(|o| o.empty),
            traffic,
        }
    }

    /// The time in s since the warm-up that an access point's transmissions to its stations took.
    fn carried_from(&self, lan: usize) -> f64 {
        let is_down = |link: &model::Link| {
            link.wifi.is_some_and(|air| air.lan == lan && matches!(air.part, Part::Down(_)))
        };
        let links = self.network.links.iter().zip(&self.scenario.links);
        let down =
            links.filter(|(_, declared)| is_down(declared)).filter_map(|(link, _)| link.aqm_queue.as_ref());
        down.filter_map(|aqm_queue| aqm_queue.tally()).map(|tally| tally.carried.secs()).sum()
    }

    /// Bits sent within the window for the packets that `counts` covers, of those whose `whose` says. A medium that
    /// links share counts them when they are sent. Others count a packet when its transmission begins: for the packet
    /// that straddles the start of the window, the part within is added; for the packet at the end, the part beyond is
    /// subtracted.
    fn bits_sent(
        &self,
        transmitter: &Transmitter,
        aqm_queue: &AqmQueue,
        counts: &Counts,
        whose: Whose,
    ) -> f64 {
        if let Some(tally) = aqm_queue.tally() {
            return tally.bits(whose);
        }
        let counted = |bits: f64, owner: Owner| if whose.includes(owner) { bits } else { 0.0 };
        let (unsent, owner) = aqm_queue.unsent_at_warmup;
        let straddling =
            counted(unsent, owner) - counted(aqm_queue.unsent(self.end, transmitter), aqm_queue.sending);
        counts.departed_bytes as f64 * 8.0 + straddling
    }

    fn class_metrics(&self, class: usize, aqm_queue: &AqmQueue, runs: &Runs, seconds: f64) -> ClassMetrics {
        let counts = aqm_queue.queue.counts()[class].since(&aqm_queue.at_warmup[class]);
        let transmitter = &self.network.links[self.scenario.observed].transmitter;
        let sent = self.bits_sent(transmitter, aqm_queue, &counts, Whose::Class(class));
        let traffic = traffic_metrics(&counts, &aqm_queue.delays[class], sent / seconds);
        let delivery = &self.deliveries.classes[class];
        let completions = &delivery.completions;
        let percentile = completions.percentile();
        let flows = self.flow_metrics(Some(class), seconds);
        let [delay_idle, rtt_idle] = self.idle(class);
        let sessions = &delivery.sessions;
        let session = sessions.percentile();
        let done = &self.endpoints.classes[class];
        let playback = self.playback(class);
        let sources = self.endpoints.sources.iter().filter(|source| usize::from(source.class) == class);
        let started_sources = sources.filter(|source| source.start < self.end).count();
        ClassMetrics {
            flows: self.scenario.traffic[class].count,
            traffic,
            loss_run_mean: runs.mean(),
            loss_event_rate: self.loss_event_rate(class),
            mos: self.mean_opinion_score(class, &flows),
            video_bitrate: playback.bitrate(),
            stall_ratio: playback.stall_ratio(),
            switch_ratio: playback.switch_ratio(),
            delay_idle,
            rtt_idle,
            totals: flows,
            started: Some(done.started + started_sources as u64),
            completed: Some(completions.count()),
            sessions: Some(sessions.count()),
            session_time_mean: sessions.mean(),
            session_time_p50: session(50),
            session_time_p95: session(95),
            session_time_max: sessions.max(),
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
