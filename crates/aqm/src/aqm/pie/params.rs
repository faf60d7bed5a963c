//! PIE's parameters.

use super::SUM_LOW;
use crate::params::Range;
use crate::unit::{Bytes, Frequency, Span};

/// Scaling factors of the gains, each with the p below which it applies: section 4.2 of RFC 8033, and RFC 8034's.
const TUNING: [(f64, f64); 9] = [
    (1e-6, 1.0 / 2048.0),
    (1e-5, 1.0 / 512.0),
    (1e-4, 1.0 / 128.0),
    (1e-3, 1.0 / 32.0),
    (1e-2, 1.0 / 8.0),
    (0.1, 0.5),
    (1.0, 2.0),
    (10.0, 8.0),
    (f64::INFINITY, 32.0),
];

/// RFC 8034's smallest packet, for which p may reach `SUM_LOW`.
const MIN_PACKET: f64 = 64.0;
/// Linux keeps p in units of 2^-56, in 64 bits.
const LINUX_MAX: f64 = 256.0;
crate::choice! {
    /// How the queueing delay is measured.
    pub enum Delay {
        /// The backlog over the departure rate, which is measured over `dq_threshold` bytes at a time (section 5.2).
        Departures = "departures",
        /// The sojourn time of the last packet that left; 0 if none waits behind it.
        Timestamps = "timestamps",
        /// The backlog over the link's rate.
        Rate = "rate",
    }
}

crate::choice! {
    /// Whose rules apply to bursts, small packets and high p.
    pub enum Form {
        /// RFC 8033.
        Rfc8033 = "rfc8033",
        /// Linux 7.2, sch_pie.c: whether the delay is short is judged by the last packet that left, p may exceed 1,
        /// and the allowance ages while packets leave.
        Linux = "linux",
        /// RFC 8034: p = 0 during a burst allowance, which begins with the first drop; no drop before a third of the
        /// buffer has filled; p applies to a mean packet, may exceed 1, and has larger steps there.
        Docsis = "docsis",
        /// ns-3: RFC 8034's states of a burst, but the allowance begins with the first packet; `by_size` scales
        /// upwards too.
        Ns3 = "ns3",
    }
}

crate::params! {
    /// PIE's parameters.
    pub struct Params {
        /// Target queueing delay.
        target: Span = Span::ms(15), "s", Range::new(0.0, 1e3), ["qdelay_ref", "QueueDelayReference"];
        /// Period of the update of p.
        t_update: Span = Span::ms(15), "s", Range::new(1e-6, 100.0), ["tupdate", "Tupdate"];
        /// Gain on the difference of delay and target. Linux's `tc` counts in sixteenths of a Hz: its 2 is 0.125 Hz.
        alpha: Frequency = Frequency(0.125), "Hz", Range::new(0.0, 1e5), ["A"];
        /// Gain on the change of the delay in a period. Linux's `tc` counts in sixteenths of a Hz: its 20 is 1.25 Hz.
        beta: Frequency = Frequency(1.25), "Hz", Range::new(0.0, 1e5), ["B"];
        /// Burst allowance: how long a burst causes no drops.
        max_burst: Span = Span::ms(150), "s", Range::new(0.0, 1e3), ["MaxBurstAllowance"];
        /// How the delay is measured: `timestamps`, the sojourn time of the last packet; `departures`, the backlog over
        /// the measured departure rate, which is unknown until `dq_threshold` has waited and left, and says nothing
        /// about one of several queues; `rate`, the backlog over the link's rate.
        delay: Delay = Delay::Timestamps, "";
        /// Bytes that must wait before the departure rate is measured, and that must leave for a measurement. With a
        /// smaller buffer the rate is never measured, the delay counts as 0, and nothing is dropped early.
        dq_threshold: Bytes = Bytes(16_384), "bytes", Range::new(1.0, 1e9), ["DequeueThreshold"];
        /// Weight of a new measurement of the departure rate; if omitted, `dq_threshold` over 65 536, at most 1.
        dq_weight: Option<f64> = None, "", Range::above(0.0, 1.0);
        /// From p = 0.1 on, limit the rise of p to 0.02 per period.
        cap: bool = true, "", Range::ANY, ["UseCapDropAdjustment"];
        /// Factor on p in a period without delay.
        decay: f64 = 0.98, "", Range::new(0.0, 1.0);
        /// Delay below which a period counts as without delay; at 0, only a delay of 0 does.
        low: Span = Span::ZERO, "s", Range::new(0.0, 1e3);
        /// Delay above which p rises by a further 0.02 per period; if omitted, none.
        high: Option<Span> = None, "s", Range::new(0.0, 1e3);
        /// Space drops evenly: no drop while the sum of p since the last one is below 0.85, and a drop at the latest
        /// when it is 8.5 (section 5.4).
        derandomise: bool = false, "", Range::ANY, ["UseDerandomization"];
        /// Be inactive until a third of the buffer has filled, and again when p is 0 and the delay is below half its
        /// target (section 5.3).
        on_off: bool = false, "";
        /// Whose rules apply to bursts, small packets and high p: `rfc8033`; `linux`, sch_pie.c of Linux 7.2;
        /// `docsis`, RFC 8034; `ns3`, the first with RFC 8034's bursts.
        form: Form = Form::Rfc8033, "";
        /// Scale p by a packet's size over `mean_packet`, at most 1, so that small packets are dropped more rarely;
        /// `docsis` always does so, and scales upwards too.
        by_size: bool = false, "", Range::ANY, ["bytemode"];
        /// The mean packet for `by_size`, and for the rule that two packets may always wait; if omitted, the port's
        /// packet, and in the form `linux` the device's MTU.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0), ["MeanPktSize"];
        /// Mark packets of ECN-capable transports instead of dropping them, while p is below `mark_ecnth`.
        ecn: bool = false, "", Range::ANY, ["UseEcn"];
        /// The p from which on packets are dropped although they could be marked (section 5.1).
        mark_ecnth: f64 = 0.1, "", Range::new(0.0, 1.0), ["MarkEcnThreshold"];
    }
}

impl Params {
    /// p after a period without a burst allowance, before its upper bound applies: the period began with `p` and the
    /// first of the delays, and ends with the second, and with an empty queue or not.
    #[must_use]
    pub fn next(&self, p: f64, [before, delay]: [Span; 2], empty: bool) -> f64 {
        let Self { form, target, alpha, beta, cap, decay, low, high, .. } = self;
        let mut step = alpha.0 * (delay.secs() - target.secs()) + beta.0 * (delay.secs() - before.secs());
        let part = TUNING.iter().find(|(below, _)| p < *below).map_or(1.0, |(_, part)| *part);
        step *= if *form == Form::Docsis { part } else { part.min(1.0) };
        if *cap && p >= 0.1 {
            step = step.min(0.02);
        }
        let mut next = p + step;
        let none = |delay: Span| delay < *low || delay == Span::ZERO;
        let trusted = *form != Form::Linux || empty;
        if trusted && none(delay) && none(before) {
            next *= decay;
        } else if high.is_some_and(|high| delay > high) {
            next += 0.02;
        }
        next.max(0.0)
    }

    /// The highest p, for mean packets of this many bytes.
    #[must_use]
    pub fn max(&self, mean: f64) -> f64 {
        match self.form {
            Form::Rfc8033 | Form::Ns3 => 1.0,
            Form::Linux => LINUX_MAX,
            Form::Docsis => (SUM_LOW * mean / MIN_PACKET).max(SUM_LOW),
        }
    }

    /// The drop probability of a packet of `size` bytes at this p, with mean packets of `mean` bytes.
    #[inline]
    #[must_use]
    pub fn of_size(&self, p: f64, size: f64, mean: f64) -> f64 {
        match self.form {
            Form::Docsis => (p * size / mean).min(SUM_LOW),
            Form::Linux | Form::Rfc8033 if self.by_size => p * (size / mean).min(1.0),
            Form::Ns3 if self.by_size => p * size / mean,
            Form::Linux | Form::Rfc8033 | Form::Ns3 => p,
        }
    }
}
