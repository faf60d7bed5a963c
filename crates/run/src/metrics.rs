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
/// definition in one of them; a field without a unit is not listed. An engine that does not know a metric leaves it
/// `None`, the default.
macro_rules! metrics {
    ($(#[doc = $list_doc:literal])+ $list:ident: $(
        $(#[doc = $about:literal])+
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $(#[serde($($serde:tt)+)])? $field:ident: $type:ty $(= $unit:literal)?;)+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, PartialEq, Default, Debug, Serialize)]
            pub struct $name {
                $($(#[doc = $doc])+ $(#[serde($($serde)+)])? pub $field: $type,)+
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
        /// (`response.bin`, `.band`, `.hold`); none if this never happens or there is no target.
        response_time: Option<f64> = "s";
        /// Packets dropped or lost at random on links without a queue discipline, over the whole run; for all flows
        /// only.
        drops_elsewhere: Option<u64> = "packets";
        /// Responsiveness (draft-ietf-ippm-responsiveness-09, section 5.3.1.1): half of 60 s / the mean round-trip time of
        /// `ping` plus half of 60 s / that of `ftp` or `transfer`, each mean without the longest 5 % of the times; of
        /// several entries the slowest counts. None without both.
        rpm: Option<f64> = "/min";
        /// Quality of outcome (draft-ietf-ippm-qoo-09) with the needs of the draft's example: 1 if the round-trip times of
        /// `ping` are at most 200 ms (99 %) and 300 ms (99.9 %) and at most 1 % of its packets are lost; 0 from 500 ms,
        /// 600 ms or 5 % on, or if the observed link's mean rate is below 4 Mbit/s; linear between, the worst counts. Of
        /// several entries the worst counts.
        qoo: Option<f64> = "fraction";
    }

    /// A measured link.
    pub struct LinkMetrics {
        /// Time average of the waiting packets, without the packet in transmission.
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
        /// Bits sent / bits that the link could have sent: the bits sent, plus the idle time multiplied by the link's
        /// rate at each moment. A packet in transmission when the rate changes keeps its rate to the end, but if the
        /// rates are recorded (`rates`) it goes on at the new one; of a packet that is in transmission at an end of the
        /// window, the bits sent within the window count. Of a half-duplex link, the time that the frames which it
        /// sends in this direction take with preamble and gap / the time; a frame counts whole when it is sent. In a
        /// wireless LAN it is the airtime in this direction: the time that transmissions take with their answers / the
        /// time; of `shared` queues, to all stations. Each transmission of a collision counts, so that the sum over
        /// links may exceed 1. In a cell it is the share of the resource blocks of this direction, of blocks that are
        /// sent again as well. From a modem, the bits sent / those of its sustained rate, at most 1.
        utilisation: f64 = "fraction";
        /// Payload bits of the flows whose data crosses the link that arrive at the receivers, per second (see
        /// `goodput`); none if only some flows of a `short` or `web` entry cross it, or packets of a `program`.
        link_goodput: Option<f64> = "bit/s";
        /// Packets that the link lost before they reached the queue, at random (`loss`) or for their ECN (`ecn_path`), over
        /// the whole run.
        random_losses: Option<u64> = "packets";
        /// Transmissions that collided with another on a medium that links share, half-duplex or Wi-Fi, over the whole run.
        #[serde(skip_serializing_if = "Option::is_none")]
        collisions: Option<u64> = "events";
        /// Packets that were given up on such a medium, on a half-duplex link after 16 collisions, in a wireless LAN
        /// after the last retry, in a cell without acknowledged mode after the last round, over the whole run. They are
        /// in no other metric of a queue's losses (`loss_*`, `drops_*`).
        #[serde(skip_serializing_if = "Option::is_none")]
        collision_drops: Option<u64> = "packets";
        /// Mean number of frames in a transmission of a wireless LAN (A-MPDU), sent again or not, collided or not; for a link
        /// of one only.
        #[serde(skip_serializing_if = "Option::is_none")]
        aggregate_mean: Option<f64> = "frames";
        /// Mean number of transmissions of a block of a cell (HARQ); for a link of one only.
        #[serde(skip_serializing_if = "Option::is_none")]
        harq_rounds_mean: Option<f64> = "transmissions";
        /// Mean time that a packet waits at the other end of a link of a cell, decoded, until those sent before it are;
        /// for such a link only.
        #[serde(skip_serializing_if = "Option::is_none")]
        in_order_wait_mean: Option<f64> = "s";
        /// Minislots granted to a modem / all of its upstream channel; for a link from a modem only.
        #[serde(skip_serializing_if = "Option::is_none")]
        channel_share: Option<f64> = "fraction";
        /// Share of the bytes granted to a modem that carried none of a packet; for a link from a modem only.
        #[serde(skip_serializing_if = "Option::is_none")]
        grants_unused: Option<f64> = "fraction";
        /// Mean number of packets that a flow loses in a row: consecutive in the order in which its packets arrived
        /// at the queue, dropped there on arrival or later; a packet sent ends a run. For a link or class only.
        loss_run_mean: Option<f64> = "packets";
        /// Mean number of consecutive arrivals that are lost, whatever their flow; for a link only.
        loss_burst_mean: Option<f64> = "packets";
        /// Loss events: a loss at the queue begins an event, which includes all losses within `record.loss_event`; the next
        /// loss begins another. For a link only.
        loss_events: Option<u64> = "events";
        /// Mean over the loss events of the flows that lose packets in the event / the active flows, which had a packet at
        /// the queue in the current or the previous second of simulated time (RFC 7928, section 2.4; in units of
        /// `record.loss_event` if that is longer). For a link only.
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
        /// Mean time that a sent packet waited, without its transmission. On a half-duplex link and in a wireless LAN, frames that
        /// contend for the medium are in transmission, so that collisions and retries lengthen `delay_mean`, but no
        /// `queue_delay_*`; so are packets in blocks of a cell.
        queue_delay_mean: Option<f64> = "s";
        /// Median of the waiting times of the packets sent, to three digits.
        queue_delay_p50: Option<f64> = "s";
        /// 95th percentile of those waiting times, to three digits.
        queue_delay_p95: Option<f64> = "s";
        /// 99th percentile of those waiting times, to three digits.
        queue_delay_p99: Option<f64> = "s";
        /// The longest of those waiting times.
        queue_delay_max: Option<f64> = "s";
        /// Packets that arrived at the queue, including dropped packets.
        arrivals: u64 = "packets";
        /// Packets that the algorithm dropped.
        drops_early: u64 = "packets";
        /// Packets that did not fit into the buffer.
        drops_overflow: u64 = "packets";
        /// Packets that the algorithm marked CE.
        marks: u64 = "packets";
        /// Packets dropped at the queue / packets that arrived there, both for packets that arrived in the window, so the
        /// ratio is in [0, 1]. In contrast, `drops_early` and `drops_overflow` count all drops in the window, including
        /// packets that arrived before it.
        loss_ratio: Option<f64> = "fraction";
        /// Packets marked CE / packets that arrived, both for packets that arrived in the window.
        mark_ratio: Option<f64> = "fraction";
        /// Bits sent on the link per second, including headers and the link's framing.
        throughput: f64 = "bit/s";
    }

    /// A set of flows.
    pub struct FlowMetrics {
        /// Distinct payload bits that arrive at the receivers per second, each when it arrives, in order or not; on the
        /// linux engine, and of `quic` and `stack`, when the application reads it, which is later if bits before it are missing.
        /// Of a `program`, what both of its ends receive.
        goodput: f64 = "bit/s";
        /// Fairness of the goodputs x of the flows of an entry that do not come and go: (sum x)^2 / (n sum x^2); none if there
        /// are none. That of the whole run covers the flows that are there for the whole window, whose data crosses the
        /// observed link, and whose rate no application sets: not `voip`, `video`, `game`, `ping`.
        jain: Option<f64> = "";
        /// Retransmission time-outs of all senders; unknown with `quic` or `stack`.
        timeouts: Option<u64> = "events";
        /// Retransmitted packets; of `quic` and `stack`, packets that the sender took for lost.
        retransmits: Option<u64> = "packets";
        /// `timeouts` over the whole run, including the warm-up.
        timeouts_total: Option<u64> = "events";
        /// `retransmits` over the whole run.
        retransmits_total: Option<u64> = "packets";
        /// Mean time from the sending of a data packet or datagram to its arrival at the receiver. For a
        /// retransmitted packet, the time counts from the retransmission; SYNs, ACKs and lost packets do not count.
        delay_mean: Option<f64> = "s";
        /// Median of those times, to three digits.
        delay_p50: Option<f64> = "s";
        /// 95th percentile of those times, to three digits.
        delay_p95: Option<f64> = "s";
        /// 99th percentile of those times, to three digits.
        delay_p99: Option<f64> = "s";
        /// The longest of those times.
        delay_max: Option<f64> = "s";
        /// Segments and datagrams lost anywhere on their path, in a queue or at random / these and the ones that reached
        /// their receivers, both in the window. SYNs and ACKs do not count; a lost answer counts as its `ping`.
        path_loss_ratio: Option<f64> = "fraction";
        /// Mean round-trip time of packets: of TCP, from the sending of a segment to the arrival of the ACK of new data
        /// that echoes its time (RFC 7323, section 4), with the delay of a delayed ACK; of `ping`, from request to
        /// answer; of `tfrc`, from a datagram to the next report, without its time at the receiver; of `quic` and `stack`,
        /// from a packet to its acknowledgement. Unknown for TCP on the `linux` engine.
        rtt_mean: Option<f64> = "s";
        /// Median of those times, to three digits.
        rtt_p50: Option<f64> = "s";
        /// 95th percentile of those times, to three digits.
        rtt_p95: Option<f64> = "s";
        /// 99th percentile of those times, to three digits.
        rtt_p99: Option<f64> = "s";
        /// The longest of those times.
        rtt_max: Option<f64> = "s";
        /// RTT fairness: the slope of the logarithm of the goodput over that of `rtt_idle`, by least squares over the `ftp`
        /// flows that are there from the warm-up to the end. Goodput is proportional to RTT to this power: 0 if the RTT
        /// does not matter, -1 if goodput is inversely proportional to it. None if all flows have one RTT, or one has
        /// delivered nothing.
        rtt_bias: Option<f64> = "";
        /// Mean absolute difference of the one-way delays of consecutive packets of a flow, in order of arrival (the D of
        /// RFC 3550, section 6.4.1, not smoothed).
        jitter: Option<f64> = "s";
    }

    /// A traffic entry.
    pub struct ClassMetrics {
        /// Number of flows of the traffic entry (of `short`: arrival processes; of `web`: clients); for a class only.
        flows: u32 = "flows";
        /// Its packets at the observed link.
        #[serde(flatten)]
        traffic: TrafficMetrics;
        /// Mean number of packets that a flow loses in a row.
        loss_run_mean: Option<f64>;
        /// Its flows.
        #[serde(flatten)]
        totals: FlowMetrics;
        /// Mean over the flows of the one-way delay without other traffic: propagation, and the transmissions of a full packet
        /// at the rates of the links at the start; for a class only.
        delay_idle: Option<f64> = "s";
        /// Mean over the flows of the round-trip time without other traffic: the propagation delays, and the transmissions of
        /// a full packet and its answer at the rates of the links at the start; not for UDP other than `ping`, `tfrc`
        /// and `quic`; for a class only.
        rtt_idle: Option<f64> = "s";
        /// Loss events per packet of `tfrc`, as its receivers see them: losses and marks within a round trip are one; in the
        /// window, for a class of `tfrc` only.
        #[serde(skip_serializing_if = "Option::is_none")]
        loss_event_rate: Option<f64> = "fraction";
        /// Mean opinion score of `voip`, 1 to 4.5, by the E-model (ITU-T G.107) with Ie and Bpl of the `codec` (G.113, appendix
        /// I), random loss and no echo. Voice is played one `frame_rate` period, and the codec's look-ahead, after
        /// `delay_p99`; later and lost packets are missing. For a class only.
        mos: Option<f64> = "";
        /// Mean bitrate of the chunks that reached `dash` clients, over the whole run; for a class only.
        video_bitrate: Option<f64> = "bit/s";
        /// Part of the time from the first chunk on in which the playback of `dash` clients waited for a chunk, over the
        /// whole run; for a class only.
        stall_ratio: Option<f64> = "fraction";
        /// Part of the chunks of `dash` clients that had another bitrate than the chunk before, over the whole run; for a
        /// class only.
        switch_ratio: Option<f64> = "fraction";
        /// Flows that started, processes of `program`, or objects that `web` and `dash` clients wanted, over the whole run,
        /// whether or not the handshake came to its end; for a class only.
        started: Option<u64> = "flows";
        /// Flows that delivered all their data, processes that ended by themselves, or objects of `web` and `dash` that
        /// arrived, over the whole run; for a class only.
        completed: Option<u64> = "flows";
        /// Mean time from start (of a `transfer` with a `request`: when the receiver opens the connection to ask) to last
        /// acknowledgement of the completed flows, or to the last byte of the objects from the moment when the client
        /// wanted them: the first of each connection from its SYN on. Of a process, from start to end; for a class only.
        completion_time_mean: Option<f64> = "s";
        /// Median of those times, to three digits; for a class only.
        completion_time_p50: Option<f64> = "s";
        /// 95th percentile of those times, to three digits; for a class only.
        completion_time_p95: Option<f64> = "s";
        /// 99th percentile of those times, to three digits; for a class only.
        completion_time_p99: Option<f64> = "s";
        /// The longest of those times; for a class only.
        completion_time_max: Option<f64> = "s";
        /// Sessions of `web` clients in which every object arrived, over the whole run; for a class only.
        sessions: Option<u64> = "sessions";
        /// Mean time from the first SYN to the last byte of those sessions: the time of a page; for a class only.
        session_time_mean: Option<f64> = "s";
        /// Median of those times, to three digits; for a class only.
        session_time_p50: Option<f64> = "s";
        /// 95th percentile of those times, to three digits; for a class only.
        session_time_p95: Option<f64> = "s";
        /// The longest of those times; for a class only.
        session_time_max: Option<f64> = "s";
    }
}

metrics! {
    /// Every distribution.
    distributions:

    /// The distributions of a traffic entry. One without values has no elements.
    pub struct ClassDistributions {
        /// Number of times that a flow lost 1, 2, ... packets in a row (see `loss_run_mean`), up to the longest run; the
        /// 100th bin includes all longer runs.
        loss_runs: Vec<u64> = "packets";
        /// Percentiles of the one-way delay (see `delay_mean`); for a class only.
        delay: Vec<f64> = "s";
        /// Percentiles of the time from start to last acknowledgement of the flows completed in the whole run; for a
        /// class only.
        completion_time: Vec<f64> = "s";
    }

    /// The distributions of a measured link. One without values has no elements.
    pub struct LinkDistributions {
        /// Number of times that a flow lost 1, 2, ... packets in a row; the 100th bin includes all longer runs.
        loss_runs: Vec<u64>;
        /// Number of times that 1, 2, ... consecutive arrivals were lost, whatever their flow; for a link only.
        loss_bursts: Vec<u64> = "packets";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};
    use std::collections::BTreeSet;

    #[test]
    fn metrics_that_an_engine_need_not_know_are_none_by_default() {
        fn known(json: &Json, into: &mut BTreeSet<String>) {
            for (name, value) in json.as_object().into_iter().flatten() {
                into.extend((!value.is_null()).then(|| name.clone()));
            }
        }
        let mut found = BTreeSet::new();
        known(&json!(Metrics::default()), &mut found);
        known(&json!(LaneMetrics::default()), &mut found);
        known(&json!(ClassMetrics::default()), &mut found);
        let every_engine_has = [
            "arrivals",
            "drops_early",
            "drops_overflow",
            "flows",
            "goodput",
            "marks",
            "throughput",
            "utilisation",
        ];
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(
            found, every_engine_has,
            "make it an Option, or compute it in crates/fluid/src/results.rs too"
        );
    }

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
                .starts_with("Distinct payload bits that arrive at the receivers per second, each when")
        );
    }
}
