//! Step: marks every packet while the queue is above one threshold, as DCTCP requires.
//!
//! With q the queue that an arrival finds, or d the queueing delay of a packet that leaves:
//!
//! ```text
//! mark iff q > k          by = "queue"
//! mark iff d > delay      by = "delay"
//! ```
//!
//! There is no average and no randomness: DCTCP's senders themselves average the fraction of marked packets. Its
//! authors ask for k above a seventh of the packets in a round-trip time, so that the link never idles.
//!
//! Decides at: enqueue; by the delay, at dequeue. Timer: none. Randomness: none. State: none.
//!
//! # Departures from the source
//! DCTCP's network has only packets that can be marked. Here other packets are dropped above the threshold, so that
//! they do not fill the buffer at the expense of the marked ones; switches that implement the step as RED with both
//! thresholds at k do the same. `others = "pass"` drops them only at the buffer's limit. Without `ecn`, no packet can
//! be marked. The threshold on the delay is from implementations of CoDel and DualPI2, not from the paper.
//!
//! # Sources
//! Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.1; RFC 8257, section 3.1. Tested
//! against its rule.

use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::Range;
use crate::unit::{Bytes, Span, Time};

crate::choice! {
    /// The quantity that the threshold limits.
    pub enum By {
        /// The queue that an arrival finds.
        Queue = "queue",
        /// The time that a packet has waited when it leaves.
        Delay = "delay",
    }
}

crate::choice! {
    /// The verdict on packets above the threshold that cannot be marked.
    pub enum Others {
        /// They are dropped.
        Drop = "drop",
        /// They pass, until the buffer is full.
        Pass = "pass",
    }
}

crate::params! {
    /// The step's parameters.
    pub struct Params {
        /// The quantity that the threshold limits: `queue`, the queue that an arrival finds; `delay`, the time that a
        /// packet has waited when it leaves.
        by: By = By::Queue, "";
        /// The threshold on the queue. The default is the paper's for 1 Gbit/s; 65 is its value for 10 Gbit/s.
        k: f64 = 20.0, "packets", Range::new(0.0, 1e9), ["K"];
        /// The threshold on the delay.
        delay: Span = Span::ms(1), "s", Range::new(0.0, 1e3), ["step_thresh", "ce_threshold", "CeThreshold"];
        /// The verdict on packets above the threshold that cannot be marked: `drop`, they are dropped; `pass`, they
        /// pass until the buffer is full.
        others: Others = Others::Drop, "";
        /// Measure the queue in bytes over `mean_packet`.
        bytes: bool = false, "";
        /// The packet size for `k` in byte mode; if omitted, the port's packet.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0);
        /// Mark packets of ECN-capable transports instead of dropping them, as DCTCP requires.
        ecn: bool = true, "";
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Step {
    by: By,
    k: f64,
    delay: Span,
    others: Others,
    bytes: bool,
    mean: f64,
    ecn: bool,
}

impl Step {
    /// The verdict on a packet above the threshold.
    #[inline]
    fn above(&self, packet: &Packet) -> Verdict {
        match self.others {
            Others::Pass if !(self.ecn && packet.ect) => Verdict::Pass,
            _ => Verdict::signal(self.ecn && packet.ect),
        }
    }
}

impl Aqm for Step {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("dctcp-1g", "The DCTCP paper's 20 packets for links of 1 Gbit/s"),
        ("dctcp-10g", "The DCTCP paper's 65 packets for links of 10 Gbit/s"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            by: params.by,
            k: params.k,
            delay: params.delay,
            others: params.others,
            bytes: params.bytes,
            mean: params.mean_packet.unwrap_or(port.packet).0 as f64,
            ecn: params.ecn,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "dctcp-1g" => Some(Params::default()),
            "dctcp-10g" => Some(Params { k: 65.0, ..Params::default() }),
            _ => None,
        }
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, _: &mut R) -> Verdict {
        let above = self.by == By::Queue && queue.length(self.bytes, self.mean) > self.k;
        if above && !queue.full { self.above(packet) } else { Verdict::Pass }
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        packet: &Packet,
        _: &Backlog,
        sojourn: Span,
        _: &mut R,
    ) -> Verdict {
        let above = self.by == By::Delay && sojourn > self.delay;
        if above { self.above(packet) } else { Verdict::Pass }
    }

    fn is_final(&self) -> bool {
        self.by != By::Delay
    }

    fn drops_late(&self) -> bool {
        self.by == By::Delay
    }

    fn resume(&mut self, _: Self) {}

    fn signals(&self, _: impl FnMut(usize, f64)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, full, waiting};

    const UDP: Packet = Packet { ect: false, ..PACKET };

    fn step(params: Params) -> Step {
        Step::new(&params, &PORT)
    }

    fn arrive(step: &mut Step, packet: &Packet, queue: &Backlog) -> Verdict {
        step.on_enqueue(Time::ZERO, packet, queue, &mut Draw(0.0))
    }

    fn leave(step: &mut Step, packet: &Packet, us: u64) -> Verdict {
        step.on_dequeue(Time::ZERO, packet, &waiting(9), Span::us(us), &mut Draw(0.0))
    }

    #[test]
    fn it_marks_above_the_threshold_and_not_at_it() {
        let mut step = step(Params::default());
        assert_eq!(arrive(&mut step, &PACKET, &waiting(20)), Verdict::Pass);
        assert_eq!(arrive(&mut step, &PACKET, &waiting(21)), Verdict::Mark);
        assert_eq!(arrive(&mut step, &PACKET, &full()), Verdict::Pass);
        assert_eq!(leave(&mut step, &PACKET, 1_000_000), Verdict::Pass);
    }

    #[test]
    fn by_the_delay_it_marks_packets_that_have_waited_longer() {
        let mut step = step(Params { by: By::Delay, ..Params::default() });
        assert_eq!(arrive(&mut step, &PACKET, &waiting(200)), Verdict::Pass);
        assert_eq!(leave(&mut step, &PACKET, 1000), Verdict::Pass);
        assert_eq!(leave(&mut step, &PACKET, 1001), Verdict::Mark);
    }

    #[test]
    fn packets_that_cannot_be_marked_are_dropped_or_pass() {
        for (others, ecn, ect, not_ect) in [
            (Others::Drop, true, Verdict::Mark, Verdict::Drop),
            (Others::Pass, true, Verdict::Mark, Verdict::Pass),
            (Others::Drop, false, Verdict::Drop, Verdict::Drop),
            (Others::Pass, false, Verdict::Pass, Verdict::Pass),
        ] {
            for by in [By::Queue, By::Delay] {
                let mut step = step(Params { by, others, ecn, ..Params::default() });
                for (packet, verdict) in [(PACKET, ect), (UDP, not_ect)] {
                    let found = match by {
                        By::Queue => arrive(&mut step, &packet, &waiting(50)),
                        By::Delay => leave(&mut step, &packet, 5000),
                    };
                    assert_eq!(found, verdict, "{others:?}, ecn: {ecn}");
                }
            }
        }
    }

    #[test]
    fn in_bytes_the_threshold_counts_mean_packets() {
        let mut step = step(Params { bytes: true, ..Params::default() });
        let queue = |bytes| Backlog { packets: 300, bytes, full: false };
        assert_eq!(arrive(&mut step, &UDP, &queue(10_000)), Verdict::Pass);
        assert_eq!(arrive(&mut step, &UDP, &queue(10_001)), Verdict::Drop);
    }
}
