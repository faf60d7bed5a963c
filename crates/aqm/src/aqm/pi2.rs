//! PI2: a proportional-integral controller of the queueing delay, whose output is squared for classic TCP only.
//!
//! Every `t_update`, with the queueing delay d(k) now and d(k-1) one period ago:
//!
//! ```text
//! p' <- p' + alpha (d(k) - target) + beta (d(k) - d(k-1)), then clipped to [0, sqrt(max_p)]
//! p  =  p'^2                      drop (mark) probability of a classic packet
//! p_s = min(1, k p')              mark probability of a scalable packet
//! ```
//!
//! The rate of a classic TCP falls with the square root of p, that of a scalable TCP with p_s itself. So the loop gain
//! is the same at every load, for which PIE needs a table of factors; and flows of both kinds share the link evenly if
//! k is the ratio of their windows at p = p_s = p'.
//!
//! Decides at: enqueue. Timer: `t_update`. Randomness: one draw per arrival. State: p', d(k-1), both 0 at
//! the start.
//!
//! # Departures from the source
//! The authors' code draws twice against p'; one draw against p'^2 has the same probability. It measures the delay by
//! the departure rate; here the delay is the time that the first packet has waited at the update, as in RFC 9332 (figure
//! 6) and Linux's dualpi2, so that it grows while the link stalls. Its controller works on k p', with gains k times as
//! large, and clips it to 1, which is `max_p` = 1/k^2 here. It also lets p' of an idle queue decay, a heuristic of PIE
//! that the paper does not have; this is omitted. Without `ecn`, a scalable packet is treated like any other.
//!
//! # Sources
//! De Schepper, Bondarenko, Tsang, Briscoe, "PI2: a linearized AQM for both classic and scalable TCP", CoNEXT
//! 2016, and the authors' Linux module; RFC 9332, appendix A, for the controller and its other gains. Tested
//! against a transcription of the module.

use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::float::sqrt;
use crate::params::Range;
use crate::unit::{Bytes, Frequency, Span, Time};

crate::params! {
    /// PI2's parameters.
    pub struct Params {
        /// Target queueing delay.
        target: Span = Span::ms(20), "s", Range::new(0.0, 1e3);
        /// Period of the update of p'.
        t_update: Span = Span::ms(32), "s", Range::new(1e-6, 100.0), ["tupdate", "T"];
        /// Gain on the difference of delay and target. The authors' Linux module counts in sixteenths of a Hz, and for
        /// k p'.
        alpha: Frequency = Frequency(0.3125), "Hz", Range::new(0.0, 1e3);
        /// Gain on the change of the delay in a period. The authors' Linux module counts in sixteenths of a Hz, and
        /// for k p'.
        beta: Frequency = Frequency(3.125), "Hz", Range::new(0.0, 1e3);
        /// Coupling factor: the mark probability of scalable packets is `k` p'.
        k: f64 = 2.0, "", Range::above(0.0, 100.0), ["coupling_factor"];
        /// Upper bound of p, beyond which only the buffer's limit controls the queue; at 1/`k`^2 every scalable packet
        /// is marked.
        max_p: f64 = 0.25, "", Range::above(0.0, 1.0);
        /// Nothing is dropped or marked while fewer bytes than this wait; if omitted, two of the port's packets.
        min_backlog: Option<Bytes> = None, "bytes", Range::new(0.0, 1e9);
        /// Mark packets of ECN-capable transports instead of dropping them; packets of scalable transports with p_s.
        ecn: bool = false, "";
    }
}

/// The linear controller, from whose output each algorithm derives its probabilities.
#[derive(Clone, Debug)]
pub struct BasePi {
    target: f64,
    alpha: f64,
    beta: f64,
    /// Upper bound of p'.
    max: f64,
    /// The last delay, in seconds.
    before: f64,
    p: f64,
}

impl BasePi {
    /// A controller at the start, with an empty queue; p' never exceeds `max`.
    #[must_use]
    pub fn new(target: Span, alpha: Frequency, beta: Frequency, max: f64) -> Self {
        Self { target: target.secs(), alpha: alpha.0, beta: beta.0, max, before: 0.0, p: 0.0 }
    }

    /// The gains alpha and beta, in Hz.
    pub(super) const fn gains(&self) -> [f64; 2] {
        [self.alpha, self.beta]
    }

    /// Updates p' by the present queueing delay; to be called once per period.
    pub fn update(&mut self, delay: Span) {
        let delay = delay.secs();
        self.p = self.next(delay);
        self.before = delay;
    }

    /// Takes over p' and the last delay.
    pub fn resume(&mut self, before: &Self) {
        (self.p, self.before) = (before.p.min(self.max), before.before);
    }

    /// p' after a period that ends with this delay, in seconds.
    fn next(&self, delay: f64) -> f64 {
        let step = self.alpha * (delay - self.target) + self.beta * (delay - self.before);
        (self.p + step).clamp(0.0, self.max)
    }

    /// Whether an update with this delay changes nothing.
    fn rests(&self, delay: Span) -> bool {
        let delay = delay.secs();
        delay == self.before && self.next(delay).to_bits() == self.p.to_bits()
    }

    /// p' since the last update.
    #[inline]
    #[must_use]
    pub const fn p(&self) -> f64 {
        self.p
    }
}

impl Params {
    /// The controller of p' at the start.
    #[must_use]
    pub fn controller(&self) -> BasePi {
        BasePi::new(self.target, self.alpha, self.beta, sqrt(self.max_p))
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Pi2 {
    pi: BasePi,
    period: Span,
    k: f64,
    min_backlog: u64,
    ecn: bool,
    /// How long the first packet had waited at the last update.
    delay: Span,
}

impl Aqm for Pi2 {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "Drop probability p'^2 of a classic packet since the last update.",
        },
        Signal { name: "p_s", unit: "", doc: "Mark probability of a scalable packet since the last update." },
        Signal { name: "delay", unit: "s", doc: "Time that the first packet had waited at the last update." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[(
        "dualpi2",
        "The target, period and gains of Linux's dualpi2: RFC 9332's for round-trip times up to 100 ms, except beta, 3 Hz",
    )];

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            pi: params.controller(),
            period: params.t_update,
            k: params.k,
            min_backlog: params.min_backlog.map_or(2 * port.packet.0, |bytes| bytes.0),
            ecn: params.ecn,
            delay: Span::ZERO,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "dualpi2" => Some(Params {
                target: Span::ms(15),
                t_update: Span::ms(16),
                alpha: Frequency(0.16),
                beta: Frequency(3.2),
                ..Params::default()
            }),
            _ => None,
        }
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        if queue.full || queue.bytes < self.min_backlog {
            return Verdict::Pass;
        }
        let p = self.pi.p();
        let p = if self.ecn && packet.l4s { self.k * p } else { p * p };
        if rng.happens(p) { Verdict::signal(self.ecn && packet.ect) } else { Verdict::Pass }
    }

    fn on_head(&mut self, age: Span) {
        self.delay = age;
    }

    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    fn on_period(&mut self, _: Time, _: &Backlog) {
        self.pi.update(self.delay);
    }

    fn rests(&self, _: &Backlog) -> bool {
        self.delay == Span::ZERO && self.pi.rests(Span::ZERO)
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        self.pi.resume(&before.pi);
        self.delay = before.delay;
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let p = self.pi.p();
        visit(0, p * p);
        visit(1, (self.k * p).min(1.0));
        visit(2, self.delay.secs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::AnyParams;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};
    use crate::queue::{Frame, Queue};

    /// A packet in a queue.
    #[derive(Clone, Copy)]
    struct One;

    impl Frame for One {
        fn packet(&self) -> Packet {
            PACKET
        }
        fn mark(&mut self) {}
        fn row(&self) -> usize {
            0
        }
    }

    const L4S: Packet = Packet { l4s: true, ..PACKET };
    const UDP: Packet = Packet { ect: false, ..PACKET };

    /// A packet leaves after this many ms, and an update follows.
    fn update(pi2: &mut Pi2, ms: u64) {
        pi2.on_head(Span::ms(ms));
        pi2.on_period(Time::ZERO, &waiting(9));
    }

    /// PI2 with this p'.
    fn at(p: f64, params: &Params) -> Pi2 {
        let mut pi2 = Pi2::new(params, &PORT);
        pi2.pi.p = p;
        pi2
    }

    #[track_caller]
    fn assert_chance(pi2: &mut Pi2, packet: Packet, p: f64, verdict: Verdict) {
        let mut enqueue = |u| pi2.on_enqueue(Time::ZERO, &packet, &waiting(9), &mut Draw(u));
        assert_eq!((enqueue(0.999 * p), enqueue(1.001 * p)), (verdict, Verdict::Pass));
    }

    #[test]
    fn the_controller_weighs_error_and_change_of_the_delay() {
        let mut pi2 = Pi2::new(&Params::default(), &PORT);
        assert_eq!(pi2.period(), Some(Span::ms(32)));
        // 0.3125 0.01 + 3.125 0.03
        update(&mut pi2, 30);
        assert_close(pi2.pi.p, 0.003_125 + 0.093_75);
        // At a constant delay only the difference from the target counts, and at the target p' does not change.
        update(&mut pi2, 30);
        assert_close(pi2.pi.p, 0.1);
        // 3.125 (-0.01)
        update(&mut pi2, 20);
        assert_close(pi2.pi.p, 0.068_75);
        update(&mut pi2, 20);
        assert_close(pi2.pi.p, 0.068_75);
    }

    #[test]
    fn p_stays_between_zero_and_its_bound_and_leaves_them_at_once() {
        let mut pi2 = Pi2::new(&Params::default(), &PORT);
        for _ in 0..9 {
            update(&mut pi2, 10_000);
        }
        assert_close(pi2.pi.p, 0.5);
        // 0.3125 9.9 - 3.125 0.08
        update(&mut pi2, 9920);
        assert_close(pi2.pi.p, 0.5);
        for _ in 0..9 {
            update(&mut pi2, 0);
        }
        assert_close(pi2.pi.p, 0.0);
        update(&mut pi2, 20);
        assert_close(pi2.pi.p, 0.0625);
    }

    #[test]
    fn classic_packets_see_the_square_and_scalable_ones_k_times_the_root() {
        let mut pi2 = at(0.3, &Params { ecn: true, ..Params::default() });
        assert_chance(&mut pi2, UDP, 0.09, Verdict::Drop);
        assert_chance(&mut pi2, PACKET, 0.09, Verdict::Mark);
        assert_chance(&mut pi2, L4S, 0.6, Verdict::Mark);
    }

    #[test]
    fn without_ecn_a_scalable_packet_is_like_any_other() {
        let mut pi2 = at(0.3, &Params::default());
        assert_chance(&mut pi2, L4S, 0.09, Verdict::Drop);
    }

    #[test]
    fn where_p_is_bounded_every_scalable_packet_is_marked() {
        let mut pi2 = at(0.5, &Params { ecn: true, ..Params::default() });
        let verdict = pi2.on_enqueue(Time::ZERO, &L4S, &waiting(9), &mut Draw(0.999_999));
        assert_eq!(verdict, Verdict::Mark);
        assert_chance(&mut pi2, PACKET, 0.25, Verdict::Mark);
    }

    #[test]
    fn less_than_two_packets_are_left_alone_and_a_refused_one_costs_no_draw() {
        let mut pi2 = at(0.5, &Params::default());
        for (queue, verdict) in
            [(waiting(1), Verdict::Pass), (waiting(2), Verdict::Drop), (full(), Verdict::Pass)]
        {
            assert_eq!(pi2.on_enqueue(Time::ZERO, &PACKET, &queue, &mut Draw(0.0)), verdict, "{queue:?}");
        }
    }

    #[test]
    fn a_stalled_link_raises_p() {
        let params = AnyParams::Pi2(Params::default());
        let mut queue = Queue::new(params.build(&PORT), &PORT, &[1]);
        for _ in 0..9 {
            queue.enqueue(Time::ZERO, One, &mut Draw(0.5));
        }
        let mut p = vec![];
        for ms in [32, 64, 96] {
            // Nothing leaves.
            queue.on_period(Time::ZERO + Span::ms(ms));
            queue.algorithm().signals(|i, value| {
                if i == 0 {
                    p.push(value.sqrt())
                }
            });
        }
        let steps =
            [[0.012, 0.032], [0.044, 0.032], [0.076, 0.032]].map(|[over, more]| 0.3125 * over + 3.125 * more);
        assert_close(p[0], steps[0]);
        assert_close(p[1], steps[0] + steps[1]);
        assert_close(p[2], steps[0] + steps[1] + steps[2]);
    }
}
