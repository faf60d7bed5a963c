//! The summary of a run, in the form that all engines share. A metric that the equations do not contain is null.

use crate::engine::Fluid;
use crate::measure::{Passed, Sums};
use crate::model::Class;
use crate::population::Population;
use run::results::{
    ClassDistributions, ClassMetrics, Distributions, Engine, FlowMetrics, LinkDistributions, LinkMetrics,
    Metrics, Results, TrafficMetrics,
};
use scenario::model::TrafficKind;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A number of packets, rounded to a count.
fn whole(packets: f64) -> u64 {
    packets.round().max(0.0) as u64
}

/// The ratio of a part to its whole, both integrals; the rounding errors of the steps are removed.
fn part(part: f64, whole: f64) -> Option<f64> {
    let ratio = (whole > 0.0).then(|| part / whole)?;
    assert!((-1e-6..=1.0 + 1e-6).contains(&ratio), "{part} is no part of {whole}");
    Some(ratio.clamp(0.0, 1.0))
}

impl Fluid {
    /// The summary of the run over `[warmup, duration]`, as JSON.
    #[must_use]
    pub fn results(&self) -> Json {
        let scenario = &self.model().scenario;
        let sums = self.measure().sums(self.state());
        let all: Vec<usize> = (0..scenario.traffic.len()).collect();
        let flows = self.flow_metrics(&all, &sums);
        // All data of the model crosses the one link.
        let link = LinkMetrics { link_goodput: Some(flows.goodput), ..self.link_metrics(&sums) };
        let name = scenario.links[scenario.observed].name.clone();
        let classes: BTreeMap<String, ClassMetrics> = all
            .iter()
            .map(|&entry| (scenario.traffic[entry].name.clone(), self.class_metrics(entry, &sums)))
            .collect();
        let distributions = Distributions {
            classes: classes.keys().map(|name| (name.clone(), ClassDistributions::default())).collect(),
            links: BTreeMap::from([(name.clone(), LinkDistributions::default())]),
        };
        json!(Results {
            seed: scenario.general.seed,
            metrics: Metrics {
                link: link.clone(),
                flows,
                response_time: self.measure().settling.settled(),
                ..Metrics::default()
            },
            classes,
            links: BTreeMap::from([(name, link)]),
            lanes: BTreeMap::new(),
            counters: BTreeMap::new(),
            distributions,
            // The model has no other link.
            elsewhere: None,
            engine: Engine {
                packets: whole(sums.sent),
                events: self.steps(),
                cpu_seconds: self.cpu().as_secs_f64(),
                timing: None,
            },
        })
    }

    /// The length of the measurement window in seconds.
    fn seconds(&self) -> f64 {
        let general = &self.model().scenario.general;
        general.duration.secs() - general.warmup.secs()
    }

    /// Bits of a packet of the usual size.
    fn bits(&self) -> f64 {
        8.0 * self.model().port.packet.0 as f64
    }

    fn traffic(&self, arrivals: f64, early: f64, overflow: f64, marks: f64, bits: f64) -> TrafficMetrics {
        let delay = &self.measure().delay;
        TrafficMetrics {
            queue_delay_mean: delay.mean(),
            queue_delay_p50: delay.quantile(0.5),
            queue_delay_p95: delay.quantile(0.95),
            queue_delay_p99: delay.quantile(0.99),
            queue_delay_max: delay.max(),
            arrivals: whole(arrivals),
            drops_early: whole(early),
            drops_overflow: whole(overflow),
            marks: whole(marks),
            loss_ratio: part(early + overflow, arrivals),
            mark_ratio: part(marks, arrivals),
            throughput: bits / self.seconds(),
        }
    }

    fn link_metrics(&self, sums: &Sums) -> LinkMetrics {
        let (measure, model) = (self.measure(), self.model());
        let then = &measure.at_warmup;
        let general = &model.scenario.general;
        let link = &model.scenario.links[model.scenario.observed];
        let bits = (sums.sent - then.sent) * self.bits();
        let marks = sums.marks - then.marks;
        let early = sums.early - then.early - marks;
        let overflow = sums.overflow - then.overflow;
        let seconds = self.seconds();
        LinkMetrics {
            queue_mean: measure.queue.mean(),
            queue_std: measure.queue.std(),
            queue_mad: measure.queue.mad(),
            queue_empty: part(measure.empty, seconds),
            queue_full: part(measure.full, seconds),
            traffic: self.traffic(sums.arrivals - then.arrivals, early, overflow, marks, bits),
            utilisation: part(bits, link.capacity(general.warmup, general.duration)).unwrap_or(0.0),
            ..LinkMetrics::default()
        }
    }

    /// The packets sent after the warm-up over those accepted by the queue: packets that wait at the end are not delivered,
    /// and those that waited at the end of the warm-up are.
    fn sent(&self, sums: &Sums) -> f64 {
        let then = &self.measure().at_warmup;
        let accepted = sums.accepted() - then.accepted();
        if accepted > 0.0 { (sums.sent - then.sent) / accepted } else { 0.0 }
    }

    /// The packets of an entry that arrived and were accepted after the warm-up.
    fn passed(&self, entry: usize, sums: &Sums) -> Passed {
        let (now, then) = (sums.entries[entry], self.measure().at_warmup.entries[entry]);
        Passed { arrived: now.arrived - then.arrived, accepted: now.accepted - then.accepted }
    }

    fn class_metrics(&self, entry: usize, sums: &Sums) -> ClassMetrics {
        let model = self.model();
        let traffic = &model.scenario.traffic[entry];
        let Passed { arrived, accepted } = self.passed(entry, sums);
        let then = &self.measure().at_warmup;
        let marked = model.classes.iter().any(|class| class.entry == entry && class.marked)
            || model.load.iter().any(|load| load.entry == entry && load.marked);
        // The full buffer refuses the same share of all entries; a marked entry has no other losses.
        let (early, overflow) = (sums.early - then.early, sums.overflow - then.overflow);
        let lost = arrived - accepted;
        let refused = match early + overflow {
            _ if marked => lost,
            both if both > 0.0 => lost * overflow / both,
            _ => 0.0,
        };
        let size = self.bits() / (8.0 * self.framed(entry));
        let arrivals = sums.arrivals - then.arrivals;
        let marks = if marked && arrivals > 0.0 { arrived * early / arrivals } else { 0.0 };
        let bits = accepted * self.sent(sums) * self.bits();
        let packets = |packets: f64| packets * size;
        ClassMetrics {
            flows: traffic.count,
            traffic: self.traffic(
                packets(arrived),
                packets(lost - refused),
                packets(refused),
                packets(marks),
                bits,
            ),
            totals: self.flow_metrics(&[entry], sums),
            ..ClassMetrics::default()
        }
    }

    /// The metrics of the flows of some entries. They delivered the bytes that the link sent, minus those lost after it.
    fn flow_metrics(&self, entries: &[usize], sums: &Sums) -> FlowMetrics {
        let delivered = |&entry: &usize| self.passed(entry, sums).accepted * self.payload(entry);
        let goodput = entries.iter().map(delivered).sum::<f64>() * self.sent(sums);
        FlowMetrics {
            goodput: goodput / self.seconds(),
            jain: self.jain(entries, sums),
            ..FlowMetrics::default()
        }
    }

    /// Bytes of an entry's packet on the link.
    fn framed(&self, entry: usize) -> f64 {
        let scenario = &self.model().scenario;
        (scenario.traffic[entry].packet_size.0 + scenario.links[scenario.observed].overhead.0) as f64
    }

    /// The bits of payload that arrive per packet of an entry that the queue accepted.
    fn payload(&self, entry: usize) -> f64 {
        let model = self.model();
        let traffic = &model.scenario.traffic[entry];
        let payload = traffic.packet_size.0.saturating_sub(traffic.header()) as f64 / self.framed(entry);
        let kept = |class: &Class| 1.0 - class.lost[1];
        let kept = model.classes.iter().find(|class| class.entry == entry).map_or(1.0, kept);
        self.bits() * payload * kept
    }

    /// Jain's index of the goodputs of the persistent flows of some entries; all flows of a class or load have the same.
    fn jain(&self, entries: &[usize], sums: &Sums) -> Option<f64> {
        let model = self.model();
        let (mut number, mut sum, mut squares) = (0.0, 0.0, 0.0);
        let mut add = |entry: usize, count: f64, accepted: f64| {
            if entries.contains(&entry) && count > 0.0 {
                let goodput = accepted * self.payload(entry);
                number += count;
                sum += goodput;
                squares += goodput * goodput / count;
            }
        };
        let general = &model.scenario.general;
        let stays = |flows: &Population| match flows {
            Population::Lasting { start, stop, .. } => {
                start[1] <= general.warmup.secs() && *stop >= general.duration.secs()
            }
            Population::Passing { .. } => false,
        };
        // The flows of one entry begin and end together.
        let counts = |entry: usize, flows: &Population| {
            entries.len() == 1 || model.scenario.traffic[entry].competes() && stays(flows)
        };
        for (class, accepted) in model.classes.iter().zip(self.accepted_by_class()) {
            if let Population::Lasting { count, .. } = class.flows
                && counts(class.entry, &class.flows)
            {
                add(class.entry, count, accepted);
            }
        }
        for load in &model.load {
            let traffic = &model.scenario.traffic[load.entry];
            if matches!(traffic.kind, TrafficKind::Udp(..)) && counts(load.entry, &load.rate) {
                add(load.entry, f64::from(traffic.count), self.passed(load.entry, sums).accepted);
            }
        }
        (squares > 0.0).then(|| sum * sum / (number * squares))
    }
}
