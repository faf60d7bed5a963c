//! DualPI2: a low-delay queue for scalable transports beside a classic queue, coupled so that both share the link.
//!
//! A packet with ECT(1) or CE joins the queue "l4s" (with `any_ect` one with ECT(0) too), any other the queue "classic".
//! Every `t_update`, d(k) is the longer of the delays of the two heads, and d(k-1) its value one period ago:
//!
//! ```text
//! p'   <- p' + alpha (d(k) - target) + beta (d(k) - d(k-1)), then clipped to [0, 1]      (RFC 9332, A.1)
//! p_C  =  p'^2            drop (mark) probability of a classic packet
//! p_CL =  k p'            coupled mark probability of an l4s packet
//! p_L' =  (d_L - min_th) / range, then clipped to [0, 1]; 0 if at most th_len wait    native to the l4s queue
//! p_L  =  max(p_L', p_CL) mark probability of an l4s packet whose sojourn time is d_L
//! ```
//!
//! The rate of a classic TCP falls with the square root of p_C, that of a scalable TCP with p_L itself. Coupled by
//! `k`, flows of both kinds and of equal round-trip time get about equal windows, whichever queue they are in. From
//! p_CL = 1 on, marks have no further effect: an l4s packet is then dropped with probability p_C, else marked, and a
//! classic packet is dropped whether or not it is ECN-capable (A.2).
//!
//! The l4s queue has conditional priority: `scheduler` chooses the rule that protects the classic queue from
//! starvation.
//!
//! Decides at: dequeue. Timer: `t_update`. Randomness: one draw per packet with `decision` = "random", none with
//! "recur". State: p', d(k-1), and a sum of probabilities per queue ("recur") or the credit of the classic queue; all
//! are 0 at the start except the credit.
//!
//! # Departures from the source
//! The delay d_L is the sojourn time of the packet that leaves, d the time that the first waiting packet has waited.
//! th_len counts the packets behind the packet that leaves, as the pseudocode does. p_CL is at most 1; otherwise the
//! sum of "recur" would grow without end. Linux drops and marks nothing while less than two packets wait
//! (`min_backlog` in its preset), draws twice against p' instead of once against its square, marks by a step (`range`
//! 0) above the threshold where the step here includes it, and can classify by priorities and filters; its drops at
//! arrivals, its step in packets and its memory limit are omitted. Figure 3 of the RFC refuses every packet when one of
//! full size would not fit; here a buffer in bytes takes what fits. A packet with CE counts as ECT(1): with `l4s = false`,
//! it is dropped where another would be marked. Without `ecn` the ECN field is ignored: all packets are classic, and the
//! discipline is PI2 that drops at dequeue.
//!
//! # Sources
//! De Schepper, Briscoe, White, RFC 9332, 2023, appendix A; Linux 7.2, sch_dualpi2.c, for the weighted round robin.
//! Tested against a transcription of the RFC's pseudocode, packet by packet.

#[cfg(test)]
mod tests;

use super::pi2::BasePi;
use crate::contract::{Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Head, Lane};
use crate::params::Range;
use crate::unit::{Bytes, Frequency, Span, Time};
use alloc::collections::VecDeque;

crate::choice! {
    /// How a probability becomes a decision.
    pub enum Decision {
        /// Probabilities add up; when the sum exceeds 1, the decision is positive and 1 is subtracted (RFC 9332, A.1).
        Recur = "recur",
        /// By a draw (Linux).
        Random = "random",
    }
}

crate::choice! {
    /// Which queue the link serves if both hold packets.
    pub enum Scheduler {
        /// Weighted round robin in which the classic queue has `classic_protection` percent of the bytes (Linux).
        Weighted = "wrr",
        /// First in, first out, as if l4s packets had come earlier by `t_shift` (RFC 9332, A.2).
        Shifted = "ts-fifo",
    }
}

crate::params! {
    /// DualPI2's parameters.
    pub struct Params {
        /// Target queueing delay of the classic queue.
        target: Span = Span::ms(15), "s", Range::new(0.0, 1e3);
        /// The longest round-trip time for which the controller is to be stable; `t_update`, `alpha` and `beta`, if
        /// omitted, follow from it.
        rtt_max: Span = Span::ms(100), "s", Range::new(1e-5, 1e3), ["RTT_max", "max_rtt"];
        /// Period of the update of p'; auto is `target`, at most `rtt_max` / 3.
        t_update: Option<Span> = None, "s", Range::new(1e-6, 100.0), ["Tupdate", "tupdate"];
        /// Gain on the difference of delay and target; auto is 0.1 `t_update` / `rtt_max`^2. Linux's tc uses Hz too,
        /// its netlink attribute 256ths of a Hz.
        alpha: Option<Frequency> = None, "Hz", Range::new(0.0, 1e6);
        /// Gain on the change of the delay in a period; auto is 0.3 / `rtt_max`. Linux's tc uses Hz too, its netlink
        /// attribute 256ths of a Hz.
        beta: Option<Frequency> = None, "Hz", Range::new(0.0, 1e6);
        /// Coupling factor: the coupled mark probability of l4s packets is `k` p'; 2 makes windows equal.
        k: f64 = 2.0, "", Range::new(1.0, 255.0), ["coupling_factor"];
        /// Delay from which the l4s queue marks natively. Linux's tc accepts packets as well; here it is a time.
        min_th: Span = Span::us(800), "s", Range::new(0.0, 100.0), ["minTh", "step_thresh"];
        /// Increase of the delay above `min_th` at which the l4s queue marks every packet; 0 for a step.
        range: Span = Span::us(400), "s", Range::new(0.0, 100.0);
        /// The l4s queue marks natively only if more packets than this wait behind the packet; auto removes the
        /// condition.
        th_len: Option<u32> = Some(1), "packets", Range::new(0.0, 1e9), ["Th_len"];
        /// A packet is marked natively only if it has found this many l4s packets at its arrival (Linux). At least 1 where
        /// the link takes longer than `min_th` for a packet: otherwise every packet is marked there.
        min_qlen_step: u32 = 0, "packets", Range::new(0.0, 1e9);
        /// How a probability becomes a decision: `recur`, probabilities add up to decisions (RFC 9332, A.1); `random`, by
        /// a draw (Linux).
        decision: Decision = Decision::Recur, "";
        /// Which queue the link serves if both hold packets: `wrr`, by weighted round robin (Linux); `ts-fifo`, by a
        /// time-shifted FIFO (RFC 9332, A.2).
        scheduler: Scheduler = Scheduler::Weighted, "";
        /// The classic queue's share of the link in weighted round robin.
        classic_protection: f64 = 10.0, "percent", Range::new(0.0, 100.0), ["c_protection"];
        /// Head start of an l4s packet in the time-shifted queue: RFC 9332, A.2, has 50 ms for the public Internet, and
        /// about four times `target` for smaller networks.
        t_shift: Span = Span::ms(50), "s", Range::new(0.0, 1e3), ["tshift"];
        /// Nothing is dropped or marked while fewer bytes than this wait; auto is two of the device's MTUs.
        min_backlog: Option<Bytes> = Some(Bytes(0)), "bytes", Range::new(0.0, 1e9);
        /// Drop packets that could be marked when marks have no further effect. Otherwise p' is at most 1/`k`, and the
        /// buffer overflows.
        drop_on_overload: bool = true, "", Range::ANY, ["drop_overload"];
        /// Use the ECN field: mark packets, and classify l4s packets.
        ecn: bool = true, "";
        /// Whether packets with ECT(1) or CE have a queue of their own; otherwise ECT(1) counts as not ECN-capable (RFC 9331,
        /// 5.1), and ECT(0) alone may be marked.
        l4s: bool = true, "";
        /// Whether packets with ECT(0) join the l4s queue too, as for DCTCP in a data centre (Linux's `any_ect`);
        /// without `l4s` or `ecn` it has no effect.
        any_ect: bool = false, "";
    }
}

/// The number of the l4s queue.
const L4S: usize = 0;

/// The number of the classic queue.
const CLASSIC: usize = 1;

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    pi: BasePi,
    period: Span,
    k: f64,
    min_th: f64,
    range: f64,
    th_len: Option<u32>,
    min_qlen_step: u32,
    /// Of each l4s packet that waits, whether it has found `min_qlen_step` others; empty if that is 0.
    steps: VecDeque<bool>,
    decision: Decision,
    scheduler: Scheduler,
    weighted: Weighted,
    shift: Span,
    min_backlog: u64,
    drop_on_overload: bool,
    ecn: bool,
    l4s: bool,
    any_ect: bool,
    /// The sum of the probabilities of each queue.
    counts: [f64; 2],
    /// The probability of the last l4s packet.
    p_l: f64,
    /// Delays of the two heads at the last update.
    delays: [Span; 2],
    /// Marks, and those of the l4s queue's own threshold.
    marked: u64,
    marked_natively: u64,
}

/// Weighted round robin of the l4s queue and the classic queue, by bytes.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    /// What an l4s byte adds to the credit while a classic packet waits, and what a classic byte adds while an l4s packet
    /// waits; whole numbers, so that sums are exact.
    weights: [f64; 2],
    /// The l4s queue is served unless this is positive.
    credit: f64,
    credit_at_start: f64,
}

impl Weighted {
    /// The classic queue has `share` parts of `whole`; `mtu` is the largest packet.
    pub(super) fn new(share: f64, whole: f64, mtu: Bytes) -> Self {
        let credit = mtu.0 as f64 * (2.0 * share - whole);
        Self { weights: [share, share - whole], credit, credit_at_start: credit }
    }

    /// Whether the l4s queue is served if both hold packets.
    #[inline]
    pub(super) fn serves_l4s(&self) -> bool {
        self.credit <= 0.0
    }

    /// A packet of this size leaves its queue, with a packet waiting in the other.
    #[inline]
    pub(super) fn sent(&mut self, lane: usize, size: u32) {
        self.credit += self.weights[lane] * f64::from(size);
    }

    /// No packet waits.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.credit = self.credit_at_start;
    }

    /// Takes over the credit, if the shares are the same.
    pub(super) fn resume(&mut self, before: &Self) {
        if self.weights == before.weights {
            self.credit = before.credit;
        }
    }
}

/// Whether probabilities that add up to `sum` lead to a positive decision with this one (RFC 9332, A.1, `recur`).
#[inline]
pub(super) fn recurs(sum: &mut f64, p: f64) -> bool {
    *sum += p;
    let due = *sum > 1.0;
    if due {
        *sum -= 1.0;
    }
    due
}

/// The native probability of an l4s packet whose delay exceeds the threshold by `over`, in seconds.
#[inline]
pub(super) fn ramp(over: f64, range: f64) -> f64 {
    if over >= range { 1.0 } else { (over / range).max(0.0) }
}

/// Whether the first l4s packet comes before the first classic packet in a FIFO, as if it had come earlier by `shift`.
#[inline]
pub(super) fn is_first_shifted(l4s: Head, classic: Head, shift: Span) -> bool {
    l4s.arrived.nanos() <= classic.arrived.nanos().saturating_add(shift.nanos())
}

impl DualPi2 {
    /// Whether a packet of this queue with this probability is marked or dropped.
    #[inline]
    fn happens<R: Uniform>(&mut self, lane: usize, p: f64, rng: &mut R) -> bool {
        if self.decision == Decision::Random {
            return rng.happens(p);
        }
        recurs(&mut self.counts[lane], p)
    }

    /// The native probability of an l4s packet after this delay, with this many packets behind it.
    #[inline]
    fn ramp(&self, delay: Span, behind: u32) -> f64 {
        if self.th_len.is_some_and(|least| behind <= least) {
            return 0.0;
        }
        ramp(delay.secs() - self.min_th, self.range)
    }

    /// The verdict on a packet about to be sent, at this p' and this native probability.
    #[inline]
    fn decide<R: Uniform>(
        &mut self,
        lane: usize,
        packet: &Packet,
        p: f64,
        native: f64,
        rng: &mut R,
    ) -> Verdict {
        let (p_c, p_cl) = (p * p, self.k * p);
        let overload = self.drop_on_overload && p_cl >= 1.0;
        if lane == CLASSIC {
            return if self.happens(lane, p_c, rng) {
                let markable = packet.ect && (self.l4s || !packet.l4s);
                Verdict::signal(self.ecn && markable && !overload)
            } else {
                Verdict::Pass
            };
        }
        self.p_l = native.max(p_cl).min(1.0);
        if overload && self.happens(lane, p_c, rng) {
            Verdict::Drop
        } else if overload && self.decision == Decision::Random || self.happens(lane, self.p_l, rng) {
            Verdict::Mark
        } else {
            Verdict::Pass
        }
    }
}

impl Discipline for DualPi2 {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "p_C, drop (mark) probability of a classic packet since the last update.",
        },
        Signal { name: "p_base", unit: "", doc: "p' since the last update." },
        Signal {
            name: "p_cl",
            unit: "",
            doc: "k p', coupled mark probability of an l4s packet since the last update.",
        },
        Signal { name: "p_l", unit: "", doc: "Mark probability of the last l4s packet to leave." },
        Signal {
            name: "delay_l",
            unit: "s",
            doc: "Time that the first l4s packet had waited at the last update.",
        },
        Signal {
            name: "delay_c",
            unit: "s",
            doc: "Time that the first classic packet had waited at the last update.",
        },
    ];
    const LANES: &'static [&'static str] = &["l4s", "classic"];
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("linux", "sch_dualpi2 of Linux 7.2: a step at 1 ms, an update every 16 ms, decisions by draws")];

    fn new(params: &Params, port: &Port) -> Self {
        let rtt_max = params.rtt_max.secs();
        let most = Span::ns((params.rtt_max.nanos() / 3).max(1));
        let period = params.t_update.unwrap_or(params.target.min(most).max(Span::us(1)));
        let alpha = params.alpha.unwrap_or(Frequency(0.1 * period.secs() / (rtt_max * rtt_max)));
        let beta = params.beta.unwrap_or(Frequency(0.3 / rtt_max));
        Self {
            pi: BasePi::new(
                params.target,
                alpha,
                beta,
                if params.drop_on_overload { 1.0 } else { 1.0 / params.k },
            ),
            period,
            k: params.k,
            min_th: params.min_th.secs(),
            range: params.range.secs(),
            th_len: params.th_len,
            min_qlen_step: params.min_qlen_step,
            steps: VecDeque::new(),
            decision: params.decision,
            scheduler: params.scheduler,
            weighted: Weighted::new(params.classic_protection, 100.0, port.mtu()),
            shift: params.t_shift,
            min_backlog: params.min_backlog.map_or(2 * port.mtu().0, |bytes| bytes.0),
            drop_on_overload: params.drop_on_overload,
            ecn: params.ecn,
            l4s: params.l4s,
            any_ect: params.any_ect,
            counts: [0.0; 2],
            p_l: 0.0,
            delays: [Span::ZERO; 2],
            marked: 0,
            marked_natively: 0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            // tc prints 0.16 and 3.2; it sends 41 and 819.
            "linux" => Some(Params {
                t_update: Some(Span::ms(16)),
                alpha: Some(Frequency(41.0 / 256.0)),
                beta: Some(Frequency(819.0 / 256.0)),
                min_th: Span::ms(1),
                range: Span::ZERO,
                th_len: None,
                decision: Decision::Random,
                min_backlog: None,
                ..Params::default()
            }),
            _ => None,
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
        lanes: &[Lane],
        _: &mut R,
    ) -> (usize, Verdict) {
        let scalable = packet.l4s || self.any_ect && packet.ect;
        let lane = if self.ecn && self.l4s && scalable { L4S } else { CLASSIC };
        if self.min_qlen_step > 0 && lane == L4S {
            let waiting = lanes[L4S].packets;
            self.steps.truncate(waiting as usize); // without those that the buffer has refused
            self.steps.push_back(waiting >= self.min_qlen_step);
        }
        (lane, Verdict::Pass)
    }

    #[inline]
    fn serve(&mut self, _: Time, lanes: &[Lane]) -> usize {
        match (lanes[L4S].head, lanes[CLASSIC].head) {
            (None, _) => CLASSIC,
            (_, None) => L4S,
            (Some(l4s), Some(classic)) => {
                let first = match self.scheduler {
                    Scheduler::Weighted => self.weighted.serves_l4s(),
                    Scheduler::Shifted => is_first_shifted(l4s, classic, self.shift),
                };
                if first { L4S } else { CLASSIC }
            }
        }
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        lane: usize,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        // Linux, too, checks after the packet has left.
        let p = if buffer.bytes < self.min_backlog { 0.0 } else { self.pi.p() };
        let steps = lane == L4S && (self.min_qlen_step == 0 || self.steps.pop_front().unwrap_or(true));
        let native = if steps { self.ramp(sojourn, lanes[L4S].packets) } else { 0.0 };
        let verdict = self.decide(lane, packet, p, native, rng);
        if verdict == Verdict::Mark {
            self.marked += 1;
            self.marked_natively += u64::from(native > self.k * p);
        }
        if verdict != Verdict::Drop && lanes[1 - lane].packets > 0 {
            self.weighted.sent(lane, packet.size);
        }
        verdict
    }

    #[inline]
    fn on_idle(&mut self, _: Time) {
        self.weighted.restart();
    }

    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    fn on_period(&mut self, now: Time, _: &Backlog, lanes: &[Lane]) {
        self.delays = [lanes[L4S].age(now), lanes[CLASSIC].age(now)];
        self.pi.update(self.delays[L4S].max(self.delays[CLASSIC]));
    }

    fn resume(&mut self, _: Time, before: Self) {
        self.pi.resume(&before.pi);
        self.weighted.resume(&before.weighted);
        (self.counts, self.p_l, self.delays) = (before.counts, before.p_l, before.delays);
        self.steps = before.steps;
        (self.marked, self.marked_natively) = (before.marked, before.marked_natively);
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("ecn_mark", Reading::Count(self.marked));
        visit("step_marks", Reading::Count(self.marked_natively));
        visit("tupdate", Reading::Level((self.period.nanos() / 1000) as f64));
        let [alpha, beta] = self.pi.gains();
        visit("alpha", Reading::Level(alpha));
        visit("beta", Reading::Level(beta));
        visit("prob", Reading::Level(self.pi.p()));
        let micros = |lane: usize| (self.delays[lane].nanos() / 1000) as f64;
        visit("delay_c", Reading::Level(micros(CLASSIC)));
        visit("delay_l", Reading::Level(micros(L4S)));
        visit("credit", Reading::Level(self.weighted.credit));
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let p = self.pi.p();
        visit(0, p * p);
        visit(1, p);
        visit(2, (self.k * p).min(1.0));
        visit(3, self.p_l);
        visit(4, self.delays[L4S].secs());
        visit(5, self.delays[CLASSIC].secs());
    }
}
