//! Curvy RED: a low-delay queue for scalable transports beside a classic queue, whose delay is the signal to both.
//!
//! A packet with ECT(1) or CE joins the queue "l4s", any other the queue "classic". When a classic packet leaves after a
//! delay d_C:
//!
//! ```text
//! Q_C      <- gamma d_C + (1 - gamma) Q_C
//! sqrt_p_C  = (Q_C - min_th) / range_C
//! p_C       = sqrt_p_C^(2U)      drop (mark) probability of the classic packet
//! p_CL      = (k sqrt_p_C)^U     coupled mark probability of an l4s packet
//! ```
//!
//! Both are clipped to [0, 1]. An l4s packet whose own delay exceeds `threshold` is marked, too. The greatest of 2U and
//! of U draws is compared with sqrt_p_C and with k sqrt_p_C, which needs no power. There is no target: the delay rises
//! with the load, and the loss with its square. A controller that holds the delay has to lose more as flows become many.
//!
//! The link serves the queue whose first packet came earlier, as if l4s packets had come earlier by `t_shift`. From
//! k sqrt_p_C = 1 on, marks have no further effect: an l4s packet is then dropped with probability p_C, else marked, and
//! a classic packet is dropped whether or not it is ECN-capable (RFC 9332, A.2, which B.1 refers to).
//!
//! Decides at: dequeue. Timer: none. Randomness: 2U draws per classic packet and U per l4s packet that its own delay does
//! not mark; in overload 2U per packet. State: Q_C, 0 at the start.
//!
//! # Departures from the source
//! Figure 9 of the RFC has a `min_th` of 500 ms, below which no classic packet is dropped or marked, and a buffer for
//! 250 ms of the link's rate. The classic queue would fill the buffer before it met the first signal, so the value is
//! taken for a misprint; figure 11, the integer form of the same algorithm, has none. The default is 0.
//! d_C and the delay of an l4s packet are the sojourn times of the packet that leaves, which note a of A.1 allows; the
//! pseudocode asks the queue after the packet has left it. A packet with CE counts as ECT(1). With `l4s = false` all
//! packets are classic, and a packet with ECT(1) or CE is dropped where another ECN-capable one is marked; without `ecn`
//! all are dropped.
//!
//! # Sources
//! De Schepper, Briscoe, White, RFC 9332, 2023, appendix B. Tested against a transcription of figure 10 with the overload
//! of A.2, packet by packet.

#[cfg(test)]
mod tests;

use super::dualpi2::is_first_shifted;
use crate::contract::{Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Lane};
use crate::float::powi;
use crate::params::Range;
use crate::unit::{Span, Time};

crate::params! {
    /// Curvy RED's parameters.
    pub struct Params {
        /// Delay of the classic queue above `min_th` at which every classic packet is marked or dropped; the RFC has it as
        /// 2^S_C s.
        range_c: Span = Span::ms(500), "s", Range::new(1e-6, 1e3), ["range_C"];
        /// Smoothed delay of the classic queue below which it drops and marks nothing.
        min_th: Span = Span::ZERO, "s", Range::new(0.0, 1e3), ["minTh"];
        /// Gain of the average of the classic queue's delay, at each classic packet that leaves; the RFC has it as
        /// 2^-g_C.
        gamma: f64 = 1.0 / 32.0, "", Range::new(1e-6, 1.0);
        /// Coupling factor: l4s packets are marked with probability `k` sqrt(p_C) if `u` is 1; 2 makes windows equal. The
        /// RFC has it as 2^k'.
        k: f64 = 2.0, "", Range::new(1.0, 255.0), ["coupling_factor"];
        /// Exponent of the coupled mark probability, and half that of the drop probability.
        u: u32 = 1, "", Range::new(1.0, 16.0), ["U"];
        /// Delay above which an l4s packet is marked.
        threshold: Span = Span::ms(1), "s", Range::new(0.0, 100.0), ["T"];
        /// Head start of an l4s packet in the time-shifted queue.
        t_shift: Span = Span::ms(50), "s", Range::new(0.0, 1e3), ["tshift"];
        /// Drop packets that could be marked when marks have no further effect; otherwise the buffer overflows.
        drop_on_overload: bool = true, "", Range::ANY, ["drop_overload"];
        /// Use the ECN field: mark packets, and classify l4s packets.
        ecn: bool = true, "";
        /// Whether packets with ECT(1) or CE have a queue of their own; otherwise ECT(1) counts as not ECN-capable (RFC 9331,
        /// 5.1), and ECT(0) alone may be marked.
        l4s: bool = true, "";
    }
}

/// The number of the l4s queue.
const L4S: usize = 0;

/// The number of the classic queue.
const CLASSIC: usize = 1;

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct CurvyRed {
    range: f64,
    min_th: f64,
    gamma: f64,
    k: f64,
    u: u32,
    threshold: Span,
    shift: Span,
    drop_on_overload: bool,
    ecn: bool,
    l4s: bool,
    /// Q_C in s.
    average: f64,
    /// Marks, and those of the l4s queue's own threshold.
    marked: u64,
    marked_natively: u64,
}

/// Whether a value exceeds the greatest of several draws (figure 10, `maxrand`).
#[inline]
fn exceeds<R: Uniform>(value: f64, draws: u32, rng: &mut R) -> bool {
    let mut greatest = 0.0_f64;
    for _ in 0..draws {
        greatest = greatest.max(rng.uniform());
    }
    value > greatest
}

impl CurvyRed {
    /// `sqrt_p_C`, not clipped.
    #[inline]
    fn root(&self) -> f64 {
        (self.average - self.min_th) / self.range
    }

    /// The verdict on an l4s packet after this delay.
    #[inline]
    fn on_l4s<R: Uniform>(&mut self, delay: Span, rng: &mut R) -> Verdict {
        let root = self.root();
        if self.drop_on_overload && self.k * root >= 1.0 {
            return Verdict::signal(!exceeds(root, 2 * self.u, rng));
        }
        let natively = delay > self.threshold;
        self.marked_natively += u64::from(natively);
        if natively || exceeds(self.k * root, self.u, rng) { Verdict::Mark } else { Verdict::Pass }
    }

    /// The verdict on a classic packet after this delay.
    #[inline]
    fn on_classic<R: Uniform>(&mut self, packet: &Packet, delay: Span, rng: &mut R) -> Verdict {
        self.average = self.gamma * delay.secs() + (1.0 - self.gamma) * self.average;
        let root = self.root();
        if !exceeds(root, 2 * self.u, rng) {
            return Verdict::Pass;
        }
        let overload = self.drop_on_overload && self.k * root >= 1.0;
        Verdict::signal(self.ecn && packet.ect && (self.l4s || !packet.l4s) && !overload)
    }
}

impl Discipline for CurvyRed {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "p_C, drop (mark) probability of a classic packet." },
        Signal { name: "q_c", unit: "s", doc: "Q_C, average delay of the classic packets that left." },
        Signal { name: "p_cl", unit: "", doc: "Coupled mark probability of an l4s packet." },
    ];
    const LANES: &'static [&'static str] = &["l4s", "classic"];

    fn new(params: &Params, _: &Port) -> Self {
        Self {
            range: params.range_c.secs(),
            min_th: params.min_th.secs(),
            gamma: params.gamma,
            k: params.k,
            u: params.u,
            threshold: params.threshold,
            shift: params.t_shift,
            drop_on_overload: params.drop_on_overload,
            ecn: params.ecn,
            l4s: params.l4s,
            average: 0.0,
            marked: 0,
            marked_natively: 0,
        }
    }

    fn lanes(&self) -> usize {
        Self::LANES.len()
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        _: Time,
        packet: &Packet,
        _: &Backlog,
        _: &[Lane],
        _: &mut R,
    ) -> (usize, Verdict) {
        (if self.ecn && self.l4s && packet.l4s { L4S } else { CLASSIC }, Verdict::Pass)
    }

    #[inline]
    fn serve(&mut self, _: Time, lanes: &[Lane]) -> usize {
        match (lanes[L4S].head, lanes[CLASSIC].head) {
            (None, _) => CLASSIC,
            (Some(l4s), Some(classic)) if !is_first_shifted(l4s, classic, self.shift) => CLASSIC,
            _ => L4S,
        }
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        lane: usize,
        packet: &Packet,
        _: &Backlog,
        _: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        let verdict =
            if lane == L4S { self.on_l4s(sojourn, rng) } else { self.on_classic(packet, sojourn, rng) };
        self.marked += u64::from(verdict == Verdict::Mark);
        verdict
    }

    fn resume(&mut self, _: Time, before: Self) {
        self.average = before.average;
        (self.marked, self.marked_natively) = (before.marked, before.marked_natively);
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("ecn_mark", Reading::Count(self.marked));
        visit("step_marks", Reading::Count(self.marked_natively));
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let root = self.root().max(0.0);
        visit(0, powi(root, 2 * self.u).min(1.0));
        visit(1, self.average);
        visit(2, powi(self.k * root, self.u).min(1.0));
    }
}
