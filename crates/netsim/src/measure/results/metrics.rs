//! The metrics of a run, each declared once with its name, type, unit and definition. Python reads these declarations.

use serde::Serialize;

/// The declaration of a metric or of a distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Metric {
    /// Its key in results.
    pub name: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// Its definition.
    pub doc: &'static str,
}

/// Declares groups of metrics, and the function that lists them. A metric of several groups has its unit and its
/// definition in one of them; a field without a unit is not listed.
macro_rules! metrics {
    ($(#[doc = $list_doc:literal])+ $list:ident: $(
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $(#[serde($serde:ident)])? $field:ident: $type:ty $(= $unit:literal)?;)+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, PartialEq, Debug, Serialize)]
            pub struct $name {
                $($(#[doc = $doc])+ $(#[serde($serde)])? pub $field: $type,)+
            }
        )+

        $(#[doc = $list_doc])+
        #[must_use]
        pub fn $list() -> Vec<Metric> {
            let declared = [$($(metrics!(@one $field [$($doc)+] $($unit)?),)+)+];
            declared.into_iter().flatten().collect()
        }
    };
    (@one $field:ident [$($doc:literal)+]) => { None };
    (@one $field:ident [$($doc:literal)+] $unit:literal) => {
        Some(Metric { name: stringify!($field), unit: $unit, doc: concat!($($doc),+).trim_ascii() })
    };
}

metrics! {
    /// Every metric.
    metrics:

    /// The observed link and all flows together.
    pub struct Metrics {
        /// The observed link.
        #[serde(flatten)]
        link: LinkMetrics;
        /// All flows together.
        #[serde(flatten)]
        flows: FlowMetrics;
        /// The first time from which the mean queue of each 1 s stays within 20 % of the target for 5 s
        /// (`response.bin`, `.band`, `.hold`); none when it never does or there is no target.
        response_time: Option<f64> = "s";
        /// Packets dropped or lost at random on links without a queue discipline, over the whole run; of all flows
        /// only.
        drops_elsewhere: u64 = "packets";
    }

    /// A measured link.
    pub struct LinkMetrics {
        /// Time average of the packets waiting, the one in transmission left out.
        queue_mean: Option<f64> = "packets";
        /// Standard deviation of the queue length, weighted by time.
        queue_std: Option<f64> = "packets";
        /// Mean absolute deviation from `queue_mean`, weighted by time.
        queue_mad: Option<f64> = "packets";
        /// Share of the time in which no packet waits.
        queue_empty: Option<f64> = "fraction";
        /// Share of the time in which no further packet of the usual size fits.
        queue_full: Option<f64> = "fraction";
        /// Packets, their fate and their delay.
        #[serde(flatten)]
        traffic: TrafficMetrics;
        /// Bits sent / bits that the link could have sent: those and, at the rate of each moment, the number for which
        /// the time without a packet had room for. A packet in transmission when the rate changes keeps its own to the
        /// end; one at an end of the window counts with the part that lies within.
        utilisation: f64 = "fraction";
        /// Packets that the link lost at random (`loss`) before they came to the queue, over the whole run.
        random_losses: u64 = "packets";
        /// Mean number of packets that a flow loses in a row: consecutive in the order in which its packets arrived
        /// at the queue, dropped there on arrival or later; a packet sent ends a run. Of a link or class only.
        loss_run_mean: Option<f64> = "packets";
        /// The same of consecutive arrivals whatever their flow; of a link only.
        loss_burst_mean: Option<f64> = "packets";
        /// A loss at the queue begins an event, and all losses within `record.loss_event` from it belong to it; the
        /// next one begins another. Of a link only.
        loss_events: u64 = "events";
        /// Mean over the loss events of flows that lose packets in it / flows that are active: that had a packet at
        /// the queue in the current second of simulated time or the one before (RFC 7928, section 2.4; in units of
        /// `record.loss_event` if that is longer). Of a link only.
        loss_synchronisation: Option<f64> = "fraction";
    }

    /// One of the queues that share the buffer of a measured link.
    pub struct LaneMetrics {
        /// Time average of this queue in packets, without the one in transmission.
        queue_mean: Option<f64>;
        /// Its standard deviation over time, in packets.
        queue_std: Option<f64>;
        /// Its mean absolute deviation over time, in packets.
        queue_mad: Option<f64>;
        /// Fraction of the time in which no packet waits in it.
        queue_empty: Option<f64>;
        /// Its packets, their fate and their delay.
        #[serde(flatten)]
        traffic: TrafficMetrics;
    }

    /// What happened to packets at a measured link.
    pub struct TrafficMetrics {
        /// Mean time that a sent packet waited, its transmission left out.
        queue_delay_mean: Option<f64> = "s";
        /// Median of the waiting times of the packets sent, to three digits.
        queue_delay_p50: Option<f64> = "s";
        /// 95th percentile of those waiting times, to three digits.
        queue_delay_p95: Option<f64> = "s";
        /// 99th percentile of those waiting times, to three digits.
        queue_delay_p99: Option<f64> = "s";
        /// The longest of those waiting times.
        queue_delay_max: Option<f64> = "s";
        /// Packets that arrived at the queue, dropped ones included.
        arrivals: u64 = "packets";
        /// Packets that the algorithm dropped.
        drops_early: u64 = "packets";
        /// Packets that did not fit into the buffer.
        drops_overflow: u64 = "packets";
        /// Packets that the algorithm marked CE.
        marks: u64 = "packets";
        /// Packets dropped at the queue / packets that arrived there, both of the packets that arrived in the window:
        /// so it is in [0, 1], where `drops_early` and `drops_overflow` count the drops in the window, also of
        /// packets that arrived before it.
        loss_ratio: Option<f64> = "fraction";
        /// Packets marked CE / packets that arrived, both of the packets that arrived in the window.
        mark_ratio: Option<f64> = "fraction";
        /// Bits sent on the link per second, headers and the link's framing included.
        throughput: f64 = "bit/s";
    }

    /// A set of flows.
    pub struct FlowMetrics {
        /// Distinct payload bits delivered in order to the receivers, per second. Bits count when those before them
        /// are there, as in ns-2: a short window may have more than the link carries, received out of order before.
        goodput: f64 = "bit/s";
        /// Fairness of the goodputs x of the flows that are there for the whole run: (sum x)^2 / (n sum x^2); none
        /// where all flows come and go.
        jain: Option<f64> = "";
        /// Retransmission time-outs of all senders.
        timeouts: u64 = "events";
        /// Packets sent again.
        retransmits: u64 = "packets";
        /// `timeouts` over the whole run, the warm-up included.
        timeouts_total: u64 = "events";
        /// `retransmits` over the whole run.
        retransmits_total: u64 = "packets";
        /// Mean time from the sending of a data packet or datagram to its arrival at the receiver. A packet sent
        /// again counts from then; SYN and ACK do not count, nor do lost segments.
        delay_mean: Option<f64> = "s";
        /// Median of those times, to three digits.
        delay_p50: Option<f64> = "s";
        /// 95th percentile of those times, to three digits.
        delay_p95: Option<f64> = "s";
        /// 99th percentile of those times, to three digits.
        delay_p99: Option<f64> = "s";
        /// The longest of those times.
        delay_max: Option<f64> = "s";
        /// Mean absolute difference of the one-way delays of a flow's packets, each and the next that arrives (the D
        /// of RFC 3550, section 6.4.1, not smoothed).
        jitter: Option<f64> = "s";
    }

    /// A traffic entry.
    pub struct ClassMetrics {
        /// How many flows the traffic entry has (of `short`: arrival processes, of `web`: clients); of a class only.
        flows: u32 = "flows";
        /// Its packets at the observed link.
        #[serde(flatten)]
        traffic: TrafficMetrics;
        /// Mean number of packets that a flow loses in a row.
        loss_run_mean: Option<f64>;
        /// Its flows.
        #[serde(flatten)]
        totals: FlowMetrics;
        /// Flows that started, or requests of `web` clients, over the whole run; of a class only.
        started: u64 = "flows";
        /// Flows that delivered all they had, or `web` objects that arrived, over the whole run; of a class only.
        completed: u64 = "flows";
        /// Mean time from start to last acknowledgement of the completed flows, or from request to last byte of the
        /// objects; of a class only.
        completion_time_mean: Option<f64> = "s";
        /// Median of those times, to three digits; of a class only.
        completion_time_p50: Option<f64> = "s";
        /// 95th percentile of those times, to three digits; of a class only.
        completion_time_p95: Option<f64> = "s";
        /// 99th percentile of those times, to three digits; of a class only.
        completion_time_p99: Option<f64> = "s";
        /// The longest of those times; of a class only.
        completion_time_max: Option<f64> = "s";
        /// Sessions of `web` clients whose every object arrived, over the whole run; of a class only.
        sessions: u64 = "sessions";
        /// Mean time from the first request to the last byte of those sessions: the time of a page; of a class only.
        session_time_mean: Option<f64> = "s";
    }
}

metrics! {
    /// Every distribution.
    distributions:

    /// The distributions of a traffic entry. One without values has no elements.
    pub struct ClassDistributions {
        /// How many times a flow lost 1, 2, ... packets in a row (see `loss_run_mean`), up to the longest run; the
        /// 100th bin has all from 100 on.
        loss_runs: Vec<u64> = "packets";
        /// Percentiles of the one-way delay (see `delay_mean`); of a class only.
        delay: Vec<f64> = "s";
        /// Percentiles of the time from start to last acknowledgement of the flows completed in the whole run; of a
        /// class only.
        completion_time: Vec<f64> = "s";
    }

    /// The distributions of a measured link. One without values has no elements.
    pub struct LinkDistributions {
        /// How many times a flow lost 1, 2, ... packets in a row; the 100th bin is open.
        loss_runs: Vec<u64>;
        /// The same of consecutive arrivals whatever their flow; of a link only.
        loss_bursts: Vec<u64> = "packets";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_metric_is_declared_once_and_in_one_line() {
        for declared in [metrics(), distributions()] {
            let names: BTreeSet<&str> = declared.iter().map(|metric| metric.name).collect();
            assert_eq!(names.len(), declared.len());
            assert!(declared.iter().all(|metric| metric.doc.ends_with('.') && !metric.doc.contains('\n')));
        }
        let goodput = metrics().into_iter().find(|metric| metric.name == "goodput").unwrap();
        assert_eq!(goodput.unit, "bit/s");
        assert!(
            goodput
                .doc
                .starts_with("Distinct payload bits delivered in order to the receivers, per second. Bits")
        );
    }
}
