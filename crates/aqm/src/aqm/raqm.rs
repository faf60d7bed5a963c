//! RAQM: adjusts the drop probability exponentially until the arrival rate is the expected one.
//!
//! Every `period` T, with I the bytes that arrived in it, including dropped ones:
//!
//! ```text
//! r(k) = (1 - f) I / T + f r(k-1)                                                      (equation 2)
//! p(k) = p(k-1) e^(alpha (r(k) - r0)), clipped to [p_min, 1]                           (equation 3)
//! alpha = eps alpha^,  alpha^ r0 = 2 ln((2 - x) / x) / (1 - x),  x = r(k) / r0         (equations 11, 13)
//! ```
//!
//! An arrival is dropped (marked) with probability p(k) or, to control the queue q as well, with p(k) q / q0 (equation
//! 12).
//!
//! As printed, q0 is no set-point: with P(k) = p(k) / q0, it vanishes from equations (3) and (12), and remains only where
//! p(k) is clipped. `counts` and `fed` select other readings of both equations: `counts` determines which packets are in I;
//! with `fed` = "mean", p(k-1) in equation (3) is the mean of min(1, p(k-1) q / q0) over the arrivals of the period, or
//! p(k-1) if there were none. Then ln(q / q0) is added to ln p(k) every period, which integrates the queue's logarithm.
//!
//! With `shares`, the classes of service are separate aggregates in the one queue. Each has its share of r0 and its
//! own r, p(k) and alpha; the factor q / q0 is common. So elastic aggregates are held to their shares, which the paper
//! leaves to future work, as long as no p(k) is at a bound. In the queue-dependent mode, other classes may use what
//! one leaves idle: p(k) = 1 drops no more than q / q0.
//!
//! With `weights` w, the classes of an aggregate have different drop probabilities, class 1 the lowest, as in LRED: p
//! w_i / sum_j f_j w_j, at most 1, with f_j the fraction of class j in the aggregate's arrivals of the last period. The
//! mean over its arrivals is p as long as no p_i is clipped and the mix does not change. In the queue-dependent mode the
//! loss ratios are in proportion to the weights only as far as packets of all classes find the same queue.
//!
//! # The expected rate
//! Bytes are conserved: arrivals = departures + drops. So at a loss ratio l and a utilisation U, the arrival rate is U
//! C / (1 - l), and a stationary p(k) with r0 = C means U = 1 - l: the link idles for the time that the dropped bytes
//! would have taken. If the queue keeps the link busy nevertheless, p(k) rises to 1 and the queue settles at l q0, not
//! at q0. `r0` = "corrected" expects gamma C / (1 - l), with l the ratio of early drops: the link can be full, and
//! overflows still raise p(k); but then every queue that neither runs empty nor overflows is in equilibrium. A mark is
//! not a drop, so the two expected rates are equal if all packets are ECN-capable. Since (1 - l) r is the rate without
//! early drops, `counts` = "unshed" with the literal r0 is the same algorithm: only the signal r differs.
//!
//! Decides at: enqueue. Timer: `period`. Randomness: one draw per arrival. State: for each aggregate I, r, the same of
//! early drops, p(k), alpha, the number of arrivals and the sums of their drop probabilities and weights.
//!
//! # Departures from the source
//! The pseudocode's e^mismatch lacks the alpha of equation (3). alpha is computed from the rate with which it is used,
//! as in the theorem, except in the first period, which has `m` / r0 (`lagged` selects the other reading). Where x is
//! outside (0, 2) and alpha^ is undefined, it is at its lower bound 4 / r0; its upper bound is 20 / r0. `p_min` keeps
//! p(k) above 0, which it could not leave. Values of `counts` and `fed` other than the defaults contradict figure 1, which
//! counts a packet before it may be dropped, and does not change p(k) on arrivals. The `weights`, 1 by default, are
//! aqmlab's: among future work the paper names `DiffServ`, but neither the packets to mark nor the meaning of a mark.
//!
//! # Sources
//! The RAQM paper: equations (2), (3), (12), (13), figure 1. Tested against figure 1, in every reading of `counts` and
//! `fed`, and against vectors of both readings of alpha.

use crate::contract::{Aqm, Backlog, CLASSES, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Span, Time};
use crate::weights::{Weights, factor};
use alloc::boxed::Box;
use alloc::vec::Vec;

crate::choice! {
    /// The inputs of the drop probability.
    pub enum Mode {
        /// The rate, and the queue at each arrival.
        Queue = "queue-dependent",
        /// The rate only.
        Rate = "queue-independent",
    }
}

crate::choice! {
    /// How alpha is set.
    pub enum Alpha {
        /// `eps` times the bound of stability at the present rate.
        Adaptive = "adaptive",
        /// `m` / r0.
        Static = "static",
    }
}

crate::choice! {
    /// The expected rate.
    pub enum Expected {
        /// gamma C, as in the paper.
        Literal = "literal",
        /// gamma C / (1 - l), with l the ratio of early drops.
        Corrected = "corrected",
    }
}

crate::choice! {
    /// The packets that make up the input rate.
    pub enum Counts {
        /// Every arrival, as in the paper.
        All = "all",
        /// All but early drops.
        Unshed = "unshed",
        /// Packets that enter the buffer.
        Accepted = "accepted",
    }
}

crate::choice! {
    /// p(k-1) in equation (3).
    pub enum Fed {
        /// The last p(k), as in the paper.
        Own = "own",
        /// The mean drop probability of the period's arrivals.
        Mean = "mean",
    }
}

crate::params! {
    /// RAQM's parameters.
    pub struct Params {
        /// The inputs of the drop probability: `queue-dependent`, the rate and the queue at each arrival;
        /// `queue-independent`, the rate only.
        mode: Mode = Mode::Queue, "";
        /// Target queue length of the queue-dependent mode.
        q0: f64 = 50.0, "packets", Range::above(0.0, 1e9), ["target"];
        /// Period of the rate measurement and of the update of p.
        period: Span = Span::s(1), "s", Range::new(1e-6, 1e6), ["T"];
        /// Weight of the old rate in the smoothed one.
        f: f64 = 0.1, "", Range::new(0.0, 0.999);
        /// The expected rate: `literal`, gamma C; `corrected`, gamma C / (1 - l) with l the ratio of early drops to the
        /// packets in the input rate, which a full link can reach. `corrected` is the same algorithm as another reading of
        /// "input rate", that of `counts` = "unshed"; with `counts` other than "all", l is 0.
        r0: Expected = Expected::Literal, "";
        /// The packets in the input rate: `all`, every arrival, as the paper says; `unshed`, all but early drops;
        /// `accepted`, those that enter the buffer.
        counts: Counts = Counts::All, "";
        /// p(k-1) in equation (3): `own`, the last p(k), as the paper says; `mean`, the mean of min(1, p(k) q / q0) over
        /// the arrivals of the period, with which the queue is held at `q0` (at less with `counts` = "all").
        fed: Fed = Fed::Own, "";
        /// Ratio of r0 to the link's rate C.
        gamma: f64 = 1.0, "", Range::above(0.0, 1.0);
        /// How alpha is set: `adaptive`, `eps` times the bound of stability; `static`, `m` / r0.
        alpha: Alpha = Alpha::Adaptive, "";
        /// alpha r0, if alpha is static, and in the first period. Below 4 the paper's model is stable; at 2 it
        /// converges fastest. At 0 the rate has no effect on p.
        m: f64 = 2.0, "", Range::new(0.0, 10.0);
        /// Ratio of alpha to the bound of stability. The paper's is a little below 1; the model converges fastest at
        /// 0.5.
        eps: f64 = 0.9, "", Range::above(0.0, 1.0), ["epsilon"];
        /// Compute alpha from the rate of the previous period.
        lagged: bool = false, "";
        /// Initial p.
        p: f64 = 0.0002, "", Range::above(0.0, 1.0), ["p0"];
        /// Lower bound of p, which could not leave 0.
        p_min: f64 = 1e-6, "", Range::above(0.0, 1.0);
        /// Guaranteed shares of r0 for classes 1, 2, …; the classes beyond the list share the last one. A single share
        /// is common to all classes.
        shares: Vec<f64> = vec![1.0], "", Range::above(0.0, 1.0);
        /// Relative drop probabilities of classes 1, 2, … that have a share in common, in ascending order; the last value
        /// also applies to the classes beyond the list. A class with 0 is never dropped early.
        weights: Vec<f64> = vec![1.0], "", Range::new(0.0, 1e6);
        /// Measure the queue in bytes over `mean_packet`.
        bytes: bool = false, "";
        /// The packet size for `q0` in byte mode; if omitted, the port's packet.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0);
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "";
    }
}

/// alpha^ r0 at r = x r0: the bound of equation (13).
#[must_use]
pub fn bound(x: f64) -> f64 {
    let d = x - 1.0;
    if !(0.0 < x && x < 2.0) {
        4.0
    } else if d.abs() < 1e-4 {
        4.0 + 4.0 / 3.0 * d * d
    } else {
        (-2.0 * libm::log((2.0 - x) / x) / d).min(20.0)
    }
}

/// The state of the arrivals that share an expected rate, counted in bytes by RAQM, but any unit will do.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// The aggregate's share of gamma C, in bytes per second.
    expected: f64,
    /// Bytes of this period's arrivals that count, and those of them dropped early.
    arrived: u64,
    dropped: u64,
    /// This period's arrivals, and the sums of their drop probabilities and weights.
    seen: u64,
    applied: f64,
    weight: f64,
    /// The mean weight of the arrivals in the last period that had any.
    mix: f64,
    /// The same per second, smoothed.
    r: f64,
    loss: f64,
    /// alpha r0; `None` before the first period.
    m: Option<f64>,
    p: f64,
}

impl Aggregate {
    /// The state at the start, with this share of a link that sends `c` per second.
    #[must_use]
    pub fn new(params: &Params, share: f64, c: f64) -> Self {
        Self {
            expected: share * params.gamma * c,
            arrived: 0,
            dropped: 0,
            seen: 0,
            applied: 0.0,
            weight: 0.0,
            mix: 1.0,
            r: 0.0,
            loss: 0.0,
            m: None,
            p: params.p.max(params.p_min),
        }
    }

    /// The drop probability of an arrival that finds `q` packets.
    #[inline]
    #[must_use]
    pub fn chance(&self, params: &Params, q: f64) -> f64 {
        match params.mode {
            Mode::Rate => self.p,
            Mode::Queue => (self.p * q / params.q0).min(1.0),
        }
    }

    /// The smoothed input rate per second, and p(k).
    #[must_use]
    pub const fn state(&self) -> (f64, f64) {
        (self.r, self.p)
    }

    /// Counts an arrival of this weight that was judged with probability `p`.
    #[inline]
    fn count(&mut self, counts: Counts, size: u32, weight: f64, p: f64, full: bool, verdict: Verdict) {
        let shed = verdict == Verdict::Drop;
        let counted = match counts {
            Counts::All => true,
            Counts::Unshed => !shed,
            Counts::Accepted => !shed && !full,
        };
        if counted {
            self.arrived += u64::from(size);
            self.dropped += if shed { u64::from(size) } else { 0 };
        }
        self.seen += 1;
        self.applied += p;
        self.weight += weight;
    }

    fn update(&mut self, params: &Params) {
        let (arrived, dropped) = (core::mem::take(&mut self.arrived), core::mem::take(&mut self.dropped));
        let (seen, applied) = (core::mem::take(&mut self.seen), core::mem::take(&mut self.applied));
        let weight = core::mem::take(&mut self.weight);
        if seen > 0 {
            self.mix = weight / seen as f64;
        }
        let mean = (seen > 0).then(|| applied / seen as f64);
        self.step(params, arrived as f64, dropped as f64, mean);
    }

    /// The update after a period in which `arrived` counts, of which `dropped` was dropped early, and in which the arrivals
    /// had a `mean` drop probability, if there were any.
    pub fn step(&mut self, params: &Params, arrived: f64, dropped: f64, mean: Option<f64>) {
        let smooth =
            |old: f64, counted: f64| (1.0 - params.f) * counted / params.period.secs() + params.f * old;
        self.r = smooth(self.r, arrived);
        self.loss = smooth(self.loss, dropped);
        // r / r0, where 1 - l is the fraction of r that was not dropped early.
        let x = match params.r0 {
            Expected::Literal => self.r / self.expected,
            Expected::Corrected => (self.r - self.loss).max(0.0) / self.expected,
        };
        let bounded = params.eps * bound(x);
        let m = match (params.alpha, self.m) {
            (Alpha::Static, _) | (_, None) => params.m,
            (Alpha::Adaptive, Some(before)) if params.lagged => before,
            (Alpha::Adaptive, Some(_)) => bounded,
        };
        self.m = Some(bounded);
        let last = mean.filter(|_| params.fed == Fed::Mean).unwrap_or(self.p);
        // Without a limit, a very high rate could make the exponential infinite.
        self.p = (last * libm::exp((m * (x - 1.0)).min(50.0))).clamp(params.p_min, 1.0);
    }

    /// Takes over the state; with a period of the `same` length, its counts too.
    fn resume(&mut self, before: &Self, same: bool, p_min: f64) {
        let &Self { arrived, dropped, seen, applied, weight, mix, r, loss, m, p, .. } = before;
        (self.mix, self.r, self.loss, self.m, self.p) = (mix, r, loss, m, p.max(p_min));
        if same {
            (self.arrived, self.dropped) = (arrived, dropped);
            (self.seen, self.applied, self.weight) = (seen, applied, weight);
        }
    }

    /// Whether an update changes nothing.
    fn rests(&self, params: &Params) -> bool {
        // Every field is named, so that a new one cannot be forgotten here.
        let state = |of: &Self| {
            let &Self { expected: _, arrived, dropped, seen, applied, weight, mix, r, loss, m, p } = of;
            let numbers = [applied, weight, mix, r, loss, p].map(f64::to_bits);
            (arrived, dropped, seen, numbers, m.map(f64::to_bits))
        };
        let mut next = self.clone();
        next.update(params);
        state(&next) == state(self)
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Raqm {
    params: Params,
    mean: f64,
    aggregates: Box<[Aggregate]>,
    weights: Weights,
    /// The link's rate in bytes per second.
    c: f64,
    p: f64,
}

impl Raqm {
    /// The index of a class's aggregate.
    #[inline]
    fn place(&self, class: u8) -> usize {
        usize::from(class.max(1) - 1).min(self.aggregates.len() - 1)
    }
}

impl Aqm for Raqm {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "Drop probability at the last arrival, before its weight is applied.",
        },
        Signal { name: "r", unit: "", doc: "Smoothed input rate as a fraction of the link's rate." },
        Signal { name: "p_1", unit: "", doc: "p(k) of class 1." },
        Signal { name: "p_2", unit: "", doc: "p(k) of class 2." },
        Signal { name: "p_3", unit: "", doc: "p(k) of class 3." },
        Signal { name: "p_4", unit: "", doc: "p(k) of class 4." },
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let c = port.rate.bits() / 8.0;
        let aggregate = |share: &f64| Aggregate::new(params, *share, c);
        Self {
            params: params.clone(),
            mean: params.mean_packet.unwrap_or(port.packet).0 as f64,
            aggregates: params.shares.iter().map(aggregate).collect(),
            weights: Weights::new(&params.weights),
            c,
            p: 0.0,
        }
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let raqm = Self::new(params, port);
        let work = raqm.c * params.period.secs();
        let values = vec![("work", work), ("share", params.gamma), ("mean_packet", raqm.mean)];
        Numbers { values, of: vec!["gamma"] }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        let sum: f64 = params.shares.iter().sum();
        if sum > 1.0 + 1e-9 || params.shares.len() > usize::from(CLASSES) {
            let allowed = format!("at most {CLASSES} parts, in all at most 1");
            return Err(ParamError::invalid("shares", format!("{:?}", params.shares), allowed));
        }
        Weights::check(&params.weights)
    }

    fn target(params: &Params) -> Option<f64> {
        (params.mode == Mode::Queue).then_some(params.q0)
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        let (place, weight) = (self.place(packet.class), self.weights.of(packet));
        let aggregate = &mut self.aggregates[place];
        self.p = aggregate.chance(&self.params, queue.length(self.params.bytes, self.mean));
        let p = (self.p * factor(weight, aggregate.mix)).min(1.0);
        let verdict = if queue.full || !rng.happens(p) {
            Verdict::Pass
        } else {
            Verdict::signal(self.params.ecn && packet.ect)
        };
        aggregate.count(self.params.counts, packet.size, weight, p, queue.full, verdict);
        verdict
    }

    fn period(&self) -> Option<Span> {
        Some(self.params.period)
    }

    fn on_period(&mut self, _: Time, _: &Backlog) {
        for aggregate in &mut self.aggregates {
            aggregate.update(&self.params);
        }
    }

    fn rests(&self, _: &Backlog) -> bool {
        self.aggregates.iter().all(|aggregate| aggregate.rests(&self.params))
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        // The sums of the period are of the weights as they were.
        self.aggregates.len() == before.aggregates.len() && self.weights == before.weights
    }

    fn resume(&mut self, before: Self) {
        let same = self.params.period == before.params.period;
        for (aggregate, before) in self.aggregates.iter_mut().zip(&before.aggregates) {
            aggregate.resume(before, same, self.params.p_min);
        }
        self.p = before.p;
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p);
        visit(1, self.aggregates.iter().map(|aggregate| aggregate.r).sum::<f64>() / self.c);
        for class in 1..=CLASSES {
            visit(1 + usize::from(class), self.aggregates[self.place(class)].p);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, numbers, vectors, waiting};

    /// Runs a period in which this many bytes arrive.
    fn period(raqm: &mut Raqm, bytes: f64) {
        raqm.aggregates[0].arrived = bytes as u64;
        raqm.on_period(Time::ZERO, &waiting(9));
    }

    #[test]
    fn alpha_follows_the_rate_that_it_is_used_with() {
        let mut raqm = Raqm::new(&Params::default(), &PORT);
        assert_eq!(raqm.period(), Some(Span::s(1)));
        for row in vectors("raqm_recommended")["trace_bytes_r_alpha_p"].as_array().unwrap() {
            let [bytes, r, _, p] = numbers(row)[..] else { panic!("four numbers") };
            period(&mut raqm, bytes);
            assert_close(raqm.aggregates[0].r, r);
            assert_close(raqm.aggregates[0].p, p);
        }
    }

    #[test]
    fn lagged_it_follows_the_rate_before() {
        let mut raqm = Raqm::new(&Params { lagged: true, eps: 0.95, ..Params::default() }, &PORT);
        for row in vectors("raqm")["trace_bytes_r_p_alphanext"].as_array().unwrap() {
            let [bytes, r, p, alpha] = numbers(row)[..] else { panic!("four numbers") };
            period(&mut raqm, bytes);
            assert_close(raqm.aggregates[0].r, r);
            assert_close(raqm.aggregates[0].p, p);
            assert_close(raqm.aggregates[0].m.unwrap(), alpha * 1.25e6);
        }
    }

    #[test]
    fn the_bound_of_stability_is_symmetric_about_its_minimum_and_itself_bounded() {
        for (x, c) in [(0.01, 10.694), (0.1, 6.543), (0.5, 4.394), (0.7, 4.127), (0.9, 4.0134), (1.0, 4.0)] {
            assert!((bound(x) - c).abs() < 6e-4, "c({x}) = {}", bound(x));
            assert_close(bound(2.0 - x), bound(x));
        }
        assert!((bound(1.0 + 0.99e-4) - bound(1.0 + 1.01e-4)).abs() < 1e-7);
        assert_eq!([0.0, 2.0, 9.0].map(bound), [4.0; 3]);
        assert_eq!(bound(1e-9), 20.0);
    }

    #[test]
    fn a_static_alpha_stays() {
        let mut raqm =
            Raqm::new(&Params { alpha: Alpha::Static, m: 1.0, f: 0.0, ..Params::default() }, &PORT);
        period(&mut raqm, 1.5e6);
        period(&mut raqm, 2.5e6);
        assert_close(raqm.aggregates[0].p, 0.0002 * 1.2_f64.exp());
    }

    #[test]
    fn p_neither_leaves_its_bounds_nor_sticks_to_them() {
        let mut raqm = Raqm::new(&Params::default(), &PORT);
        for _ in 0..9 {
            period(&mut raqm, 1e18);
        }
        assert_eq!(raqm.aggregates[0].p, 1.0);
        for _ in 0..99 {
            period(&mut raqm, 0.0);
        }
        assert_eq!(raqm.aggregates[0].p, 1e-6);
        period(&mut raqm, 2e6);
        assert!(raqm.aggregates[0].p > 1e-6);
    }

    #[test]
    fn the_queue_scales_p_in_one_mode_and_not_in_the_other() {
        for (mode, packets, p) in [
            (Mode::Queue, 0, 0.0),
            (Mode::Queue, 25, 0.1),
            (Mode::Queue, 75, 0.3),
            (Mode::Queue, 300, 1.0),
            (Mode::Rate, 0, 0.2),
            (Mode::Rate, 75, 0.2),
        ] {
            let mut raqm = Raqm::new(&Params { mode, p: 0.2, ..Params::default() }, &PORT);
            raqm.on_enqueue(Time::ZERO, &PACKET, &waiting(packets), &mut Draw(0.5));
            assert_close(raqm.p, p);
        }
        assert_eq!(Raqm::target(&Params { mode: Mode::Rate, ..Params::default() }), None);
    }

    #[test]
    fn the_input_rate_counts_what_is_to_count_and_early_drops_correct_the_expected_rate() {
        let rates = |counts, r0| {
            let params = Params { counts, r0, p: 1.0, f: 0.0, ecn: true, ..Params::default() };
            let mut raqm = Raqm::new(&params, &PORT);
            // Marks, early drops, overflows, and packets that pass; the link could send 2500.
            let arrivals = [
                (true, waiting(50), 1000),
                (false, waiting(50), 500),
                (false, full(), 250),
                (false, waiting(0), 250),
            ];
            for (ect, queue, count) in arrivals {
                for _ in 0..count {
                    raqm.on_enqueue(Time::ZERO, &Packet { ect, ..PACKET }, &queue, &mut Draw(0.5));
                }
            }
            raqm.on_period(Time::ZERO, &waiting(9));
            let Aggregate { r, loss, p, .. } = raqm.aggregates[0];
            [r, loss, p]
        };
        for (counts, r0, r, loss, x) in [
            (Counts::All, Expected::Literal, 1e6, 2.5e5, 0.8),
            (Counts::All, Expected::Corrected, 1e6, 2.5e5, 0.6),
            (Counts::Unshed, Expected::Literal, 7.5e5, 0.0, 0.6),
            (Counts::Unshed, Expected::Corrected, 7.5e5, 0.0, 0.6),
            (Counts::Accepted, Expected::Literal, 6.25e5, 0.0, 0.5),
        ] {
            let expected = [r, loss, (2.0_f64 * (x - 1.0)).exp()];
            rates(counts, r0)
                .into_iter()
                .zip(expected)
                .for_each(|(found, expected)| assert_close(found, expected));
        }
    }

    #[test]
    fn the_mean_of_what_was_applied_is_fed_back_and_nothing_without_arrivals() {
        // Without an effect of the rate: the mean of 0.1, 0.3 and 1, the last clipped.
        let params = Params { fed: Fed::Mean, alpha: Alpha::Static, m: 0.0, p: 0.2, ..Params::default() };
        let mut raqm = Raqm::new(&params, &PORT);
        for packets in [25, 75, 400] {
            raqm.on_enqueue(Time::ZERO, &PACKET, &waiting(packets), &mut Draw(0.5));
        }
        raqm.on_period(Time::ZERO, &waiting(9));
        assert_close(raqm.aggregates[0].p, 1.4 / 3.0);
        raqm.on_period(Time::ZERO, &waiting(9));
        assert_close(raqm.aggregates[0].p, 1.4 / 3.0);
    }

    #[test]
    fn each_class_has_its_own_rate_and_the_last_aggregate_the_rest() {
        let params = Params { shares: vec![0.5, 0.3, 0.2], f: 0.0, ..Params::default() };
        let mut raqm = Raqm::new(&params, &PORT);
        for (class, count) in [(1, 1250), (2, 1500), (3, 125), (4, 125)] {
            for _ in 0..count {
                raqm.on_enqueue(Time::ZERO, &Packet { class, ..PACKET }, &waiting(0), &mut Draw(0.5));
            }
        }
        raqm.on_period(Time::ZERO, &waiting(0));
        let mut p = vec![];
        raqm.signals(|_, value| p.push(value));
        assert_close(p[1], 1.2);
        for (p, x) in p[2..].iter().zip([1.0, 2.0, 0.5, 0.5]) {
            assert_close(*p, 0.0002 * (2.0_f64 * (x - 1.0)).exp());
        }
    }

    #[test]
    fn weights_divide_p_among_the_classes_of_an_aggregate() {
        // Class 1 has a share of its own; among the others the mean weight is (2 * 300 + 4 * 100) / 400 = 2.5.
        let params = Params {
            shares: vec![0.5, 0.5],
            weights: vec![1.0, 2.0, 4.0],
            alpha: Alpha::Static,
            m: 0.0,
            p: 0.2,
            ..Params::default()
        };
        let mut raqm = Raqm::new(&params, &PORT);
        for (class, count) in [(1, 600), (2, 300), (3, 100)] {
            for _ in 0..count {
                raqm.on_enqueue(Time::ZERO, &Packet { class, ..PACKET }, &waiting(0), &mut Draw(0.5));
            }
        }
        raqm.on_period(Time::ZERO, &waiting(0));
        for (class, queue, p) in [(1, 50, 0.2), (2, 50, 0.16), (3, 50, 0.32), (4, 25, 0.16), (4, 200, 1.0)] {
            let packet = Packet { class, ..PACKET };
            let mut drops =
                |u| raqm.on_enqueue(Time::ZERO, &packet, &waiting(queue), &mut Draw(u)) == Verdict::Drop;
            assert_eq!((drops(0.999 * p), drops(1.001 * p)), (true, false), "class {class}");
        }
        let weights = vec![2.0, 1.0];
        let error = Raqm::check(&Params { weights, ..Params::default() }).unwrap_err();
        assert!(error.to_string().ends_with("none smaller than the one before"), "{error}");
    }

    #[test]
    fn shares_beyond_the_link_are_refused() {
        for shares in [vec![0.7, 0.4], vec![0.1; 5]] {
            let error = Raqm::check(&Params { shares, ..Params::default() }).unwrap_err();
            assert!(error.to_string().ends_with("at most 4 parts, in all at most 1"), "{error}");
        }
        assert!(Raqm::check(&Params { shares: vec![0.1, 0.2, 0.7], ..Params::default() }).is_ok());
    }

    #[test]
    fn ecn_marks_packets_that_can_be_marked_and_drops_the_others() {
        let mut raqm = Raqm::new(&Params { ecn: true, p: 0.5, ..Params::default() }, &PORT);
        assert_eq!(raqm.on_enqueue(Time::ZERO, &PACKET, &waiting(50), &mut Draw(0.4)), Verdict::Mark);
        let udp = Packet { ect: false, ..PACKET };
        assert_eq!(raqm.on_enqueue(Time::ZERO, &udp, &waiting(50), &mut Draw(0.4)), Verdict::Drop);
        assert_eq!(raqm.on_enqueue(Time::ZERO, &udp, &waiting(50), &mut Draw(0.6)), Verdict::Pass);
    }
}
