//! RED: drop the more often the longer the average queue; with gentle RED.
//!
//! With q the queue that an arrival finds, the average and the probability p_b that it calls for are
//!
//! ```text
//! avg <- (1 - w_q)^m avg, if the queue was empty for the time of m packets
//! avg <- (1 - w_q) avg + w_q q
//! p_b = 0                                              avg < min_th
//!     = max_p (avg - min_th) / (max_th - min_th)       min_th <= avg < max_th
//!     = max_p + (1 - max_p) (avg - max_th) / max_th    max_th <= avg < 2 max_th, if gentle
//!     = 1                                              above
//! ```
//!
//! `spacing` turns p_b into the probability p_a for this packet, by the `count` of packets since the last drop,
//! so that drops come evenly:
//!
//! ```text
//! "1993":  p_a = p_b / (1 - count p_b), at most 1: the gap between drops is uniform on [1, 1/p_b]
//! "wait":  p_a = 0 while count p_b < 1, then p_b / (2 - count p_b): uniform on [1/p_b, 2/p_b]
//! "none":  p_a = p_b: drops are independent
//! ```
//!
//! Hence the ratio of drops is about 2 p_b, p_b / 1.5 and p_b. Adaptive RED, which moves max_p, is `ared`.
//!
//! In byte mode queue and count are bytes over `mean_packet`, and p_a is scaled by the packet's size. With ECN,
//! packets are marked while p_b < `mark_p`, so that at p_b = 1 they are always dropped, as ns-2 and ns-3 do; without
//! `hard_drop` they are marked there too, as in Linux and INET, and as a DCTCP step has to. That step is not `gentle`,
//! with `w_q` = 1 and `min_th` = `max_th`.
//!
//! Other tools say the same in other units: see `min_bytes`, `max_bytes`, `linterm`, `plog`, `burst` and `pkrate`.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw an arrival with avg above min_th. State: avg, count,
//! start of the idle time.
//!
//! # Departures from the source
//! From ns-2, not the 1993 paper: the first packet that finds avg above min_th is never dropped, only counted;
//! nor is any that finds at most one packet (in byte mode, at most one byte) waiting; in byte mode the count is
//! rounded down to whole packets. With "wait" in byte mode that spares, even at p_b = 1, what comes within a mean
//! packet of the last drop.
//!
//! Unlike ns-2: an automatic min_th is a third of a given max_th; a weight of 0, -1 or -2 and thresholds of 0, its
//! ways to ask for automatic ones, are refused. A packet that the buffer refuses costs no draw, and is itself the
//! victim: ns-2 of before October 1997 dropped one at random instead, which is not offered.
//!
//! The presets take over the values and the switches of an implementation, not its arithmetic. Linux draws once a gap,
//! rounds to powers of two in fixed point and ages an idle average by a table; ns-3 and INET drop at p_b = 1 also the
//! first packet above min_th, and INET ages by fractions of packets. Cisco documents no spacing, so that of 1993 stands.
//!
//! # Sources
//! Floyd, Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993; Floyd,
//! "Recommendation on using the gentle variant of RED", 2000; ns-2.35, red.cc, against whose equations it is tested. The
//! presets: ns-2's ns-default.tcl through the years; ns-3, red-queue-disc.cc; iproute2, q_red.c and tc_red.c, against
//! whose rules `linux` and `burst` are tested; INET, RedDropper.ned; Cisco, "Congestion avoidance overview" and the
//! command reference on random-detect; the study of tail drop, RED, GRED and GRED-I, whose RED thresholds our
//! copy has lost (`impact` has the values of Cisco and Floyd to which it refers); the survey of Koo et al., which
//! leaves the rest to the ns-2 of its day.

use crate::aqm::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::ParamError;
use crate::unit::{Bytes, Time};
pub use params::{Effective, Params, Rules};

mod params;
mod presets;

crate::choice! {
    /// How drops are spaced, given p_b.
    pub enum Spacing {
        /// Gaps uniform on [1, 1/p_b]: the paper of 1993.
        Uniform = "1993",
        /// Gaps uniform on [1/p_b, 2/p_b]: ns-2's `wait_`.
        Wait = "wait",
        /// Independent drops.
        None = "none",
    }
}

impl Spacing {
    /// The probability p_a of the `count`-th packet since the last drop.
    #[inline]
    pub(super) fn p_a(self, p_b: f64, count: f64) -> f64 {
        let expected = count * p_b;
        match self {
            Self::None => p_b,
            Self::Uniform if expected < 1.0 => (p_b / (1.0 - expected)).min(1.0),
            Self::Wait if expected < 1.0 => 0.0,
            Self::Wait if expected < 2.0 => (p_b / (2.0 - expected)).min(1.0),
            Self::Uniform | Self::Wait => 1.0,
        }
    }
}

/// How p_b rises from `min_th` to `max_th`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Curve {
    /// In proportion, to `max_p`.
    Linear,
    /// With the square, to 1.5 `max_p`, so that the area below is the same.
    Quadratic,
}

/// The algorithm; see the module. What is open to the neighbours is for those built on it to read and move.
#[derive(Clone, Debug)]
pub struct Red {
    pub(super) min_th: f64,
    pub(super) max_th: f64,
    w_q: f64,
    gentle: bool,
    spacing: Spacing,
    bytes: bool,
    by_size: bool,
    mean: Bytes,
    /// Packets a second.
    c: f64,
    /// The p_b from which on nothing is marked: 0 without ECN, none without hard drops.
    mark_p: f64,
    pub(super) curve: Curve,
    pub(super) max_p: f64,
    /// The p_b at which the gentle part starts.
    pub(super) gentle_p: f64,
    pub(super) avg: f64,
    pub(super) p_b: f64,
    /// Whether the last arrival found the average above min_th.
    above: bool,
    /// Packets, or bytes, since the last drop.
    since_drop: u64,
    idle_since: Option<Time>,
}

impl Red {
    /// The probability that the average `avg` calls for.
    #[inline]
    fn p_b(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            match self.curve {
                Curve::Linear => self.max_p * (avg - self.min_th) / (self.max_th - self.min_th),
                Curve::Quadratic => {
                    let part = (avg - self.min_th) / (self.max_th - self.min_th);
                    (1.5 * self.max_p * part * part).min(1.0)
                }
            }
        } else if self.gentle {
            (self.gentle_p + (1.0 - self.gentle_p) * (avg - self.max_th) / self.max_th).min(1.0)
        } else {
            1.0
        }
    }

    /// Moves `max_p`, and with it the start of the gentle part unless that is `frozen`.
    pub(super) fn set_max_p(&mut self, max_p: f64, frozen: bool) {
        self.max_p = max_p;
        if !frozen {
            self.gentle_p = max_p;
        }
    }

    /// The average, aged by the idle time up to `now`.
    #[inline]
    pub(super) fn aged(&self, now: Time) -> f64 {
        match self.idle_since {
            Some(start) => self.avg * libm::pow(1.0 - self.w_q, (now.since(start).secs() * self.c).floor()),
            None => self.avg,
        }
    }

    /// The probability of this packet, now that `since_drop` counts it.
    #[inline]
    fn p_a(&self, size: u32) -> f64 {
        if !self.by_size {
            return self.spacing.p_a(self.p_b, self.since_drop as f64);
        }
        let p = self.spacing.p_a(self.p_b, (self.since_drop / self.mean.0) as f64);
        if p < 1.0 { p * f64::from(size) / self.mean.0 as f64 } else { p }
    }

    /// Ages the average by the idle time that an arrival ends, unless that is `refused`: what does not even fit an
    /// empty buffer leaves the link idle.
    #[inline]
    pub(super) fn end_idle(&mut self, now: Time, refused: bool) {
        if self.idle_since.is_some() {
            self.avg = self.aged(now);
            self.idle_since = refused.then_some(now);
        }
    }

    /// Takes what an arrival at `now` finds into the average.
    #[inline]
    pub(super) fn estimate(&mut self, now: Time, queue: &Backlog) {
        self.end_idle(now, queue.full);
        self.avg = (1.0 - self.w_q) * self.avg + self.w_q * queue.length(self.bytes, self.mean.0 as f64);
    }

    /// Whether the arrival passes, by the average as it is.
    #[inline]
    pub(super) fn decide<R: Uniform>(&mut self, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        let size = if self.by_size { u64::from(packet.size) } else { 1 };
        let backlog = if self.bytes { queue.bytes } else { u64::from(queue.packets) };
        self.since_drop += size;
        let was_above = std::mem::replace(&mut self.above, self.avg >= self.min_th && backlog > 1);
        if !self.above {
            self.p_b = 0.0;
            return Verdict::Pass;
        }
        self.p_b = self.p_b(self.avg);
        if queue.full {
            self.since_drop = 0;
            return Verdict::Pass;
        }
        if !was_above {
            self.since_drop = size;
            return Verdict::Pass;
        }
        if !rng.happens(self.p_a(packet.size)) {
            return Verdict::Pass;
        }
        self.since_drop = 0;
        Verdict::signal(packet.ect && self.p_b < self.mark_p)
    }
}

impl Aqm for Red {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "Drop probability p_b at the last arrival, before drops are spaced.",
        },
        Signal { name: "avg", unit: "packets", doc: "Average queue at the last arrival." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = presets::PRESETS;

    fn new(params: &Params, port: &Port) -> Self {
        let Effective { min_th, max_th, max_p, w_q, mean, c } = Effective::new(params, port);
        let mark_p = if params.hard_drop { params.mark_p } else { f64::INFINITY };
        Self {
            min_th,
            max_th,
            w_q,
            gentle: params.gentle,
            spacing: params.spacing,
            bytes: params.bytes,
            by_size: params.by_size.unwrap_or(params.bytes),
            mean,
            c,
            mark_p: if params.ecn { mark_p } else { 0.0 },
            curve: Curve::Linear,
            max_p,
            gentle_p: max_p,
            avg: 0.0,
            p_b: 0.0,
            above: false,
            since_drop: 0,
            idle_since: Some(Time::ZERO),
        }
    }

    fn preset(name: &str) -> Option<Params> {
        presets::preset(name)
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        params.check()
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        self.estimate(now, queue);
        self.decide(packet, queue, rng)
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        self.idle_since = Some(now);
    }

    fn is_final(&self) -> bool {
        true
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p_b);
        visit(1, self.avg);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, numbers, vectors, waiting};
    use crate::unit::{Frequency, Span};

    /// RED that takes every queue for its average.
    fn instant(min_th: f64, max_th: f64) -> Params {
        Params { min_th: Some(min_th), max_th: Some(max_th), w_q: Some(1.0), ..Params::default() }
    }

    #[test]
    fn p_b_follows_the_average() {
        for (name, curve) in vectors("red_pb").as_object().unwrap() {
            let numbers: Vec<f64> =
                name.rsplit(' ').next().unwrap().split('/').map(|x| x.parse().unwrap()).collect();
            let params = Params {
                max_p: Some(numbers[2]),
                gentle: !name.starts_with("RED"),
                ..instant(numbers[0], numbers[1])
            };
            let red = Red::new(&params, &PORT);
            for (avg, p_b) in curve.as_object().unwrap() {
                assert_close(red.p_b(avg.parse().unwrap()), p_b.as_f64().unwrap());
            }
        }
    }

    #[test]
    fn p_a_spaces_drops_by_the_count() {
        for row in vectors("red_count").as_array().unwrap() {
            let number = |key: &str| row[key].as_f64().unwrap();
            let p_a = |spacing: Spacing| spacing.p_a(number("pb"), number("count"));
            assert_close(p_a(Spacing::Uniform), number("pa_nowait"));
            assert_close(p_a(Spacing::Wait), number("pa_wait"));
            assert_close(p_a(Spacing::None), number("pb"));
        }
    }

    #[test]
    fn idle_time_ages_the_average() {
        let vector = vectors("red_idle");
        let w_q = vector["w"].as_f64();
        for (m, expected) in numbers(&vector["m"]).into_iter().zip(numbers(&vector["avg_after"])) {
            let mut red = Red::new(&Params { w_q, ..Params::default() }, &PORT);
            red.avg = vector["avg0"].as_f64().unwrap();
            red.on_idle(Time::ZERO + Span::s(3));
            // A packet takes 400 us; what is begun does not count.
            let now = Time::ZERO + Span::s(3) + Span::us(400) * (m as u64) + Span::us(399);
            assert_close(red.aged(now), expected);
            red.on_enqueue(now, &PACKET, &waiting(0), &mut Draw(0.5));
            assert_close(red.avg, expected * (1.0 - w_q.unwrap()));
            // Busy now: time no longer matters.
            assert_close(red.aged(now + Span::s(9)), red.avg);
        }
    }

    #[test]
    fn a_packet_too_large_for_the_buffer_leaves_the_link_idle() {
        let mut red = Red::new(&Params { w_q: Some(0.002), ..Params::default() }, &PORT);
        red.avg = 50.0;
        red.on_idle(Time::ZERO);
        let refused = Backlog { full: true, ..waiting(0) };
        red.on_enqueue(Time::ZERO + Span::ms(4), &PACKET, &refused, &mut Draw(0.5));
        assert_close(red.aged(Time::ZERO + Span::ms(8)), 50.0 * 0.998_f64.powi(10 + 1 + 10));
    }

    #[test]
    fn the_first_packet_above_the_threshold_is_only_counted() {
        let mut red = Red::new(&Params { gentle: false, ..instant(5.0, 15.0) }, &PORT);
        let mut verdict = |q| red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0));
        assert_eq!(verdict(20), Verdict::Pass);
        assert_eq!(verdict(20), Verdict::Drop);
        assert_eq!(verdict(4), Verdict::Pass);
        assert_eq!(verdict(20), Verdict::Pass);
        assert_eq!(verdict(20), Verdict::Drop);
    }

    #[test]
    fn a_queue_of_one_is_never_punished() {
        let mut red = Red::new(&Params { gentle: false, ..instant(0.5, 0.9) }, &PORT);
        let mut verdict = |q| red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0));
        for _ in 0..9 {
            assert_eq!(verdict(1), Verdict::Pass);
        }
        assert_eq!([verdict(2), verdict(2)], [Verdict::Pass, Verdict::Drop]);
    }

    #[test]
    fn drops_are_counted_from_the_last_one_or_the_last_overflow() {
        let params = Params { spacing: Spacing::Wait, max_p: Some(0.5), ..instant(10.0, 30.0) };
        let mut red = Red::new(&params, &PORT);
        // p_b = 0.25: nothing before the 4th, certainly the 8th; a draw of 0 takes the first chance.
        let mut gap = |queue: &Backlog| {
            red.on_enqueue(Time::ZERO, &PACKET, queue, &mut Draw(0.0));
            (1..).find(|_| red.on_enqueue(Time::ZERO, &PACKET, &waiting(20), &mut Draw(0.0)) != Verdict::Pass)
        };
        // The first of all is counted as the crossing: the gap is one less.
        assert_eq!(gap(&waiting(20)), Some(3));
        assert_eq!(gap(&waiting(20)), Some(3));
        assert_eq!(gap(&Backlog { full: true, ..waiting(20) }), Some(4));
    }

    #[test]
    fn marks_give_way_to_drops_at_mark_p() {
        let udp = Packet { ect: false, ..PACKET };
        for (mark_p, verdicts) in [
            (1.0, [Verdict::Mark, Verdict::Mark, Verdict::Drop]),
            (0.3, [Verdict::Mark, Verdict::Drop, Verdict::Drop]),
        ] {
            let params = Params { ecn: true, mark_p, max_p: Some(0.5), ..instant(10.0, 30.0) };
            // p_b = 0.25, 0.75 and 1.
            for (q, expected) in [20, 45, 60].into_iter().zip(verdicts) {
                let mut red = Red::new(&params, &PORT);
                red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0));
                assert_eq!(red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0)), expected);
                assert_eq!(red.on_enqueue(Time::ZERO, &udp, &waiting(q), &mut Draw(0.0)), Verdict::Drop);
            }
        }
    }

    #[test]
    fn byte_mode_counts_mean_packets_and_spares_small_ones() {
        let params = Params { bytes: true, spacing: Spacing::None, max_p: Some(0.5), ..instant(10.0, 30.0) };
        let mut red = Red::new(&params, &PORT);
        let queue = Backlog { packets: 40, bytes: 10_000, full: false };
        let mut verdict =
            |size, u| red.on_enqueue(Time::ZERO, &Packet::new(size, false), &queue, &mut Draw(u));
        assert_eq!(verdict(500, 0.0), Verdict::Pass);
        // 20 mean packets: p_b = 0.25.
        assert_eq!([verdict(500, 0.249), verdict(500, 0.251)], [Verdict::Drop, Verdict::Pass]);
        assert_eq!([verdict(50, 0.0249), verdict(50, 0.0251)], [Verdict::Drop, Verdict::Pass]);
        assert_close(red.avg, 20.0);
    }

    #[test]
    fn without_hard_drops_a_step_marks_as_dctcps() {
        let step = Params { gentle: false, ecn: true, ..instant(20.0, 20.0) };
        for (hard_drop, above) in [(true, Verdict::Drop), (false, Verdict::Mark)] {
            let mut red = Red::new(&Params { hard_drop, ..step.clone() }, &PORT);
            let mut verdict = |q| red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.999));
            // The first of the excursion is spared.
            assert_eq!(
                [19, 20, 20, 25, 19].map(&mut verdict),
                [Verdict::Pass, Verdict::Pass, above, above, Verdict::Pass]
            );
        }
        let soft = Params { hard_drop: false, ..step };
        let mut red = Red::new(&soft, &PORT);
        let udp = Packet { ect: false, ..PACKET };
        let mut verdict = || red.on_enqueue(Time::ZERO, &udp, &waiting(25), &mut Draw(0.999));
        assert_eq!([verdict(), verdict()], [Verdict::Pass, Verdict::Drop]);
        let mut red = Red::new(&Params { ecn: false, ..soft }, &PORT);
        let mut verdict = || red.on_enqueue(Time::ZERO, &PACKET, &waiting(25), &mut Draw(0.999));
        assert_eq!([verdict(), verdict()], [Verdict::Pass, Verdict::Drop]);
    }

    #[test]
    fn count_and_size_may_be_in_packets_while_the_queue_is_in_bytes_and_the_other_way_round() {
        let params = Params { spacing: Spacing::None, max_p: Some(0.5), ..instant(10.0, 30.0) };
        // 20 packets of 500 bytes, or 40 of 250: p_b = 0.25 or, by packets, more.
        let queue = Backlog { packets: 40, bytes: 10_000, full: false };
        for (bytes, by_size, avg, p) in [
            (true, None, 20.0, 0.025),
            (true, Some(false), 20.0, 0.25),
            (false, Some(true), 40.0, 0.0667),
            (false, None, 40.0, 0.667),
        ] {
            let mut red = Red::new(&Params { bytes, by_size, ..params.clone() }, &PORT);
            let mut verdict = |u| red.on_enqueue(Time::ZERO, &Packet::new(50, false), &queue, &mut Draw(u));
            // In gentle mode, p_b(40) = 0.5 + 0.5 (40 - 30) / 30 = 0.667.
            assert_eq!(verdict(0.0), Verdict::Pass);
            assert_eq!([verdict(0.99 * p), verdict(1.01 * p)], [Verdict::Drop, Verdict::Pass]);
            assert_close(red.avg, avg);
        }
    }

    #[test]
    fn idle_time_ages_by_the_rate_that_the_link_is_taken_to_have() {
        let params = Params { w_q: Some(0.002), pkrate: Some(Frequency(150.0)), ..Params::default() };
        let mut red = Red::new(&params, &PORT);
        red.avg = 50.0;
        red.on_idle(Time::ZERO);
        assert_close(red.aged(Time::ZERO + Span::ms(101)), 50.0 * 0.998_f64.powi(15));
    }
}
