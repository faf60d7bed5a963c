//! Checks of a summary for values that no run can have: a part greater than the whole, percentiles out of order, a mean
//! beyond the maximum.

use crate::results::{ClassMetrics, FlowMetrics, LaneMetrics, LinkMetrics, Results, TrafficMetrics};

/// The relative error that a mean or a sum of doubles may have.
const ROUNDING: f64 = 1e-9;

/// Collects violations, each with the name of its owner.
struct Findings {
    owner: String,
    found: Vec<String>,
}

impl Findings {
    fn of(&mut self, owner: String) -> &mut Self {
        self.owner = owner;
        self
    }

    fn add(&mut self, message: std::fmt::Arguments<'_>) {
        self.found.push(format!("{}: {message}", self.owner));
    }

    /// Checks fractions.
    fn parts(&mut self, parts: &[(&str, Option<f64>)]) {
        for &(name, part) in parts {
            if part.is_some_and(|part| !(0.0..=1.0).contains(&part)) {
                self.add(format_args!("{name} = {part:?} is not in [0, 1]"));
            }
        }
    }

    /// Checks quantities that are finite and not negative.
    fn amounts(&mut self, amounts: &[(&str, Option<f64>)]) {
        for &(name, amount) in amounts {
            if amount.is_some_and(|amount| !(0.0..f64::INFINITY).contains(&amount)) {
                self.add(format_args!("{name} = {amount:?} is negative or not finite"));
            }
        }
    }

    /// Checks a mean, and percentiles in ascending order with the maximum last: all are present, or none.
    fn order<const N: usize>(&mut self, name: &str, mean: Option<f64>, ordered: [Option<f64>; N]) {
        let all: Vec<f64> = ordered.iter().flatten().copied().collect();
        if !(all.len() == N && mean.is_some() || all.is_empty() && mean.is_none()) {
            return self.add(format_args!("{name}: mean {mean:?} with {ordered:?}"));
        }
        let greatest = all.last().map_or(0.0, |max| max * (1.0 + ROUNDING));
        if !all.is_sorted() || mean.is_some_and(|mean| mean > greatest) {
            self.add(format_args!("{name}: mean {mean:?} and {ordered:?} are out of order"));
        }
        self.amounts(&[(name, mean), (name, all.first().copied())]);
    }

    fn traffic(&mut self, traffic: &TrafficMetrics) {
        self.parts(&[("loss_ratio", traffic.loss_ratio), ("mark_ratio", traffic.mark_ratio)]);
        self.amounts(&[("throughput", Some(traffic.throughput))]);
        let TrafficMetrics { queue_delay_p50, queue_delay_p95, queue_delay_p99, queue_delay_max, .. } =
            *traffic;
        let ordered = [queue_delay_p50, queue_delay_p95, queue_delay_p99, queue_delay_max];
        self.order("queue_delay", traffic.queue_delay_mean, ordered);
    }

    /// Checks the moments of a queue's length.
    fn queue(&mut self, mean: Option<f64>, std: Option<f64>, mad: Option<f64>) {
        self.amounts(&[("queue_mean", mean), ("queue_std", std), ("queue_mad", mad)]);
        if let (Some(std), Some(mad)) = (std, mad)
            && mad > std * (1.0 + ROUNDING) + ROUNDING
        {
            self.add(format_args!("queue_mad = {mad} exceeds queue_std = {std}"));
        }
    }

    fn link(&mut self, link: &LinkMetrics) {
        self.traffic(&link.traffic);
        self.queue(link.queue_mean, link.queue_std, link.queue_mad);
        self.parts(&[
            ("queue_empty", link.queue_empty),
            ("queue_full", link.queue_full),
            ("utilisation", Some(link.utilisation)),
            ("loss_synchronisation", link.loss_synchronisation),
        ]);
    }

    fn lane(&mut self, lane: &LaneMetrics) {
        self.traffic(&lane.traffic);
        self.queue(lane.queue_mean, lane.queue_std, lane.queue_mad);
        self.parts(&[("queue_empty", lane.queue_empty)]);
    }

    fn flows(&mut self, flows: &FlowMetrics) {
        self.amounts(&[("goodput", Some(flows.goodput)), ("jitter", flows.jitter)]);
        self.parts(&[("jain", flows.jain), ("path_loss_ratio", flows.path_loss_ratio)]);
        let ordered = [flows.rtt_p50, flows.rtt_p95, flows.rtt_p99, flows.rtt_max];
        self.order("rtt", flows.rtt_mean, ordered);
        let ordered = [flows.delay_p50, flows.delay_p95, flows.delay_p99, flows.delay_max];
        self.order("delay", flows.delay_mean, ordered);
        if flows.timeouts > flows.timeouts_total || flows.retransmits > flows.retransmits_total {
            self.add(format_args!("time-outs or retransmits exceed those of the whole run"));
        }
    }

    fn class(&mut self, class: &ClassMetrics) {
        self.traffic(&class.traffic);
        self.flows(&class.totals);
        let ClassMetrics { completion_time_p50, completion_time_p95, completion_time_p99, .. } = *class;
        let ordered =
            [completion_time_p50, completion_time_p95, completion_time_p99, class.completion_time_max];
        self.order("completion_time", class.completion_time_mean, ordered);
        let ordered = [class.session_time_p50, class.session_time_p95, class.session_time_max];
        self.order("session_time", class.session_time_mean, ordered);
        self.parts(&[("stall_ratio", class.stall_ratio), ("switch_ratio", class.switch_ratio)]);
        self.amounts(&[("video_bitrate", class.video_bitrate)]);
        if class.mos.is_some_and(|mos| !(1.0..=4.5).contains(&mos)) {
            self.add(format_args!("mos = {:?} is not in [1, 4.5]", class.mos));
        }
        if class.completed > class.started {
            self.add(format_args!("completed = {:?} exceeds started = {:?}", class.completed, class.started));
        }
    }
}

impl Results {
    /// The impossible values, one sentence each: ratios outside [0, 1], values that are negative or not finite, percentiles
    /// out of order, classes that do not add up to their link. A correct run has none.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        let mut findings = Findings { owner: String::new(), found: Vec::new() };
        findings.of("all flows".to_owned()).flows(&self.metrics.flows);
        findings.parts(&[("qoo", self.metrics.qoo)]);
        findings.amounts(&[("rpm", self.metrics.rpm)]);
        self.links.iter().for_each(|(name, link)| findings.of(format!("link {name}")).link(link));
        self.lanes.iter().for_each(|(name, lane)| findings.of(format!("lane {name}")).lane(lane));
        self.classes.iter().for_each(|(name, class)| findings.of(format!("traffic {name}")).class(class));
        let counts = |traffic: &TrafficMetrics| {
            [traffic.arrivals, traffic.drops_early, traffic.drops_overflow, traffic.marks]
        };
        let of_link = counts(&self.metrics.link.traffic);
        let of_classes = self.classes.values().fold([0; 4], |sum, class| {
            let of_class = counts(&class.traffic);
            std::array::from_fn(|i| sum[i] + of_class[i])
        });
        if of_link != of_classes {
            findings.of("the observed link".to_owned()).add(format_args!(
                "arrivals, drops_early, drops_overflow and marks = {of_link:?}, but {of_classes:?} of the traffic entries together"
            ));
        }
        findings.found
    }
}
