//! PIE's parameters.

use crate::params::Range;
use crate::unit::{Bytes, Frequency, Span};

crate::choice! {
    /// How the queueing delay is known.
    pub enum Delay {
        /// The backlog over the rate of departures, measured over `dq_threshold` bytes at a time (section
        /// 5.2).
        Departures = "departures",
        /// What the last packet to leave has waited; 0 if none waits behind it.
        Timestamps = "timestamps",
        /// The backlog over the link's rate.
        Rate = "rate",
    }
}

crate::choice! {
    /// Whose rules for bursts, small packets and high p.
    pub enum Form {
        /// RFC 8033.
        Rfc8033 = "rfc8033",
        /// Linux 7.2, sch_pie.c: a short queue is told by the last packet that left, p may exceed 1, and the allowance
        /// ages while packets leave.
        Linux = "linux",
        /// RFC 8034: p = 0 during a burst's allowance, which begins with the first drop; none before a third
        /// of the buffer has filled; p belongs to a mean packet, may exceed 1, and has larger steps there.
        Docsis = "docsis",
    }
}

crate::params! {
    /// PIE's parameters.
    pub struct Params {
        /// Target queueing delay.
        target: Span = Span::ms(15), "s", Range::new(0.0, 1e3), ["qdelay_ref", "QueueDelayReference"];
        /// How often p is updated.
        t_update: Span = Span::ms(15), "s", Range::new(1e-6, 100.0), ["tupdate", "Tupdate"];
        /// Gain on the delay's distance from the target. Linux's `tc` counts in sixteenths of a Hz: its 2 is
        /// 0.125 Hz.
        alpha: Frequency = Frequency(0.125), "Hz", Range::new(0.0, 10.0), ["A"];
        /// Gain on the delay's change in a period. Linux's `tc` counts in sixteenths of a Hz: its 20 is 1.25
        /// Hz.
        beta: Frequency = Frequency(1.25), "Hz", Range::new(0.0, 10.0), ["B"];
        /// For how long a burst goes unpunished.
        max_burst: Span = Span::ms(150), "s", Range::new(0.0, 1e3), ["MaxBurstAllowance"];
        /// How the delay is known: `departures`, the backlog over their measured rate; `timestamps`, what the
        /// last packet has waited; `rate`, the backlog over the link's rate.
        delay: Delay = Delay::Departures, "";
        /// How many bytes must wait to measure the rate of departures, and leave for a measurement. Before a smaller
        /// buffer nothing is ever measured, the delay counts as 0, and nothing is dropped early.
        dq_threshold: Bytes = Bytes(16_384), "bytes", Range::new(1.0, 1e9), ["DequeueThreshold"];
        /// Weight of a new measurement of that rate; if left out, `dq_threshold` over 65 536, at most 1.
        dq_weight: Option<f64> = None, "", Range::above(0.0, 1.0);
        /// From p = 0.1, let it grow by at most 0.02 a period.
        cap: bool = true, "", Range::ANY, ["UseCapDropAdjustment"];
        /// Factor on p in a period without delay.
        decay: f64 = 0.98, "", Range::new(0.0, 1.0);
        /// Up to which delay, exclusively, a period is without delay; 0 means no delay at all.
        low: Span = Span::ZERO, "s", Range::new(0.0, 1e3);
        /// Above which delay p grows by another 0.02 a period; if left out, none.
        high: Option<Span> = None, "s", Range::new(0.0, 1e3);
        /// Spread drops evenly: none while the sum of p since the last is below 0.85, one at the latest at
        /// 8.5 (section 5.4).
        derandomise: bool = false, "", Range::ANY, ["UseDerandomization"];
        /// Be inactive until a third of the buffer has filled, and from when p is 0 and the delay below half
        /// its target (section 5.3).
        on_off: bool = false, "";
        /// Whose rules for bursts, small packets and high p.
        form: Form = Form::Rfc8033, "";
        /// Scale p by a packet's size over `mean_packet`, so that small packets are dropped more rarely;
        /// `docsis` always does, `linux` never upwards.
        by_size: bool = false, "", Range::ANY, ["bytemode"];
        /// The mean packet of `by_size`, and of the two packets that may always wait; the port's packet if
        /// left out.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0), ["MeanPktSize"];
        /// Mark packets of ECN-capable transports instead of dropping them, while p is below `mark_ecnth`.
        ecn: bool = false, "", Range::ANY, ["UseEcn"];
        /// From which p on packets are dropped even if they could be marked (section 5.1).
        mark_ecnth: f64 = 0.1, "", Range::new(0.0, 1.0), ["MarkEcnThreshold"];
    }
}
