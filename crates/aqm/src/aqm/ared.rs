//! Adaptive RED: RED that adjusts max_p so that the average queue stays half-way between the thresholds.
//!
//! It decides as `red` does. Every `interval`, max_p moves if avg is outside the middle fifth between the thresholds:
//!
//! ```text
//! max_p <- max_p + min(alpha, max_p / 4), at most top         avg > max_th - 0.4 (max_th - min_th)
//! max_p <- beta max_p, at least bottom                        avg < min_th + 0.4 (max_th - min_th)
//! ```
//!
//! Decides at: enqueue. Timer: `interval`, unless max_p moves at arrivals. Randomness: one draw per arrival with avg
//! above min_th. State: that of `red`, and max_p.
//!
//! # Departures from the source
//! Those of `red`. In ns-2 the gentle part starts at the initial max_p, which leaves Adaptive RED without control
//! above max_th; here it starts at the present max_p (`frozen_gentle` selects ns-2's rule). In ns-2 max_p moves at an
//! arrival; here it moves on a timer, by the average after idle time has aged it (`moves` selects ns-2's rule), and
//! never beyond `bottom` and `top`.
//!
//! The preset "linux" is `red_adaptative_algo`, whose max_p may end one step beyond either bound. Today's tc does not
//! reach this code: since it knows `nodrop`, it sends all switches in a separate attribute (TCA_RED_FLAGS), while the
//! kernel (`__red_change`) looks for `adaptive` in the old field when it starts the timer. So max_p never moves, and
//! `tc … red … adaptive` is the preset "linux" of `red`.
//!
//! # Sources
//! Floyd, Gummadi, Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active queue
//! management", 2001; ns-2.35, red.cc; Linux 7.2, red.h and sch_red.c. Tested against ns-2's equations and against a
//! re-implementation of Linux's code.

use crate::aqm::red::{self, Red, Spacing};
use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Rate, Span, Time};

crate::choice! {
    /// When `max_p` moves.
    pub enum Moves {
        /// Every `interval`.
        Timer = "timer",
        /// At the first arrival with the average outside the middle fifth, `interval` or more after the last move
        /// (ns-2).
        Arrival = "arrival",
    }
}

crate::params! {
    /// Adaptive RED's parameters.
    pub struct Params with red: red::Params {
        /// When `max_p` moves: `timer`, every `interval`; `arrival`, at the first arrival with the average outside the
        /// middle fifth, `interval` or more after the last move (ns-2), so that short swings move it as well.
        moves: Moves = Moves::Timer, "";
        /// Period of the timer; with `moves` = `arrival`, the shortest time between two moves.
        interval: Span = Span::ms(500), "s", Range::new(1e-6, 1e6), ["interval_", "Interval"];
        /// Largest increment of `max_p`; an increment is never more than a quarter of `max_p`.
        alpha: f64 = 0.01, "", Range::above(0.0, 1.0), ["alpha_", "Alpha"];
        /// Factor by which `max_p` is reduced.
        beta: f64 = 0.9, "", Range::above(0.0, 1.0), ["beta_", "Beta"];
        /// Upper bound of `max_p`.
        top: f64 = 0.5, "", Range::above(0.0, 1.0), ["top_", "Top"];
        /// Lower bound of `max_p`. If omitted, ns-2's rule: one over the number of 1000-byte packets that the link
        /// sends in 100 ms, at most 0.01.
        bottom: Option<f64> = None, "", Range::new(0.0, 1.0), ["bottom_", "Bottom"];
        /// Start the gentle part at the initial `max_p` rather than the present one, as ns-2 does.
        frozen_gentle: bool = false, "";
    }
}

impl Params {
    /// The lower bound of `max_p` for a link of this rate: `bottom`, or ns-2's rule.
    #[must_use]
    pub fn least_max_p(&self, rate: Rate) -> f64 {
        self.bottom.unwrap_or_else(|| (80_000.0 / rate.bits()).min(0.01))
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Ared {
    pub(super) red: Red,
    moves: Moves,
    interval: Span,
    /// When max_p moved last, if it moves at arrivals.
    moved: Time,
    alpha: f64,
    beta: f64,
    top: f64,
    bottom: f64,
    frozen_gentle: bool,
}

impl Ared {
    /// The probability p_b at the average `avg`.
    #[inline]
    #[must_use]
    pub fn p_b(&self, avg: f64) -> f64 {
        self.red.p_b(avg)
    }

    /// The present `max_p`.
    #[must_use]
    pub const fn max_p(&self) -> f64 {
        self.red.max_p
    }

    /// Moves max_p if the average is outside the middle fifth; returns whether it moved.
    pub fn adapt(&mut self, avg: f64) -> bool {
        let Red { min_th, max_th, max_p, .. } = self.red;
        let part = 0.4 * (max_th - min_th);
        let moved = if avg > max_th - part && max_p < self.top {
            (max_p + self.alpha.min(max_p / 4.0)).min(self.top)
        } else if avg < min_th + part && max_p > self.bottom {
            (max_p * self.beta).max(self.bottom)
        } else {
            max_p
        };
        self.red.set_max_p(moved, self.frozen_gentle);
        moved != max_p
    }
}

impl Aqm for Ared {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[Red::SIGNALS[0], Red::SIGNALS[1], Signal { name: "max_p", unit: "", doc: "p_b at max_th." }];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("ns2.35", "ns-2.35's RED with adaptive_ set: byte mode, spacing \"wait\", its gentle part frozen"),
        (
            "linux",
            "sch_red of Linux 7.2 with `adaptive`, as tc sets it: max_p between 0.01 and 0.5, every 500 ms",
        ),
        ("redtail", "Table II of the RED+Tail paper: thresholds of 20 and 80 kB, packets of 1000 bytes"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            red: Red::new(&params.red, port),
            moves: params.moves,
            interval: params.interval,
            moved: Time::ZERO,
            alpha: params.alpha,
            beta: params.beta,
            top: params.top,
            bottom: params.least_max_p(port.rate),
            frozen_gentle: params.frozen_gentle,
        }
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let red = Red::fixed(&params.red, port);
        let timer = if params.moves == Moves::Timer { params.interval } else { Span::ZERO };
        let own = [("bottom", params.least_max_p(port.rate)), ("timer", timer.nanos() as f64)];
        Numbers { values: [&red.values[..], &own].concat(), of: [&red.of[..], &["moves"]].concat() }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "ns2.35" => Red::preset(name).map(|red| Params {
                red,
                moves: Moves::Arrival,
                frozen_gentle: true,
                ..Params::default()
            }),
            "linux" => Red::preset(name).map(|red| Params { red, bottom: Some(0.01), ..Params::default() }),
            "redtail" => Some(Params {
                red: red::Params {
                    min_bytes: Some(Bytes(20_000)),
                    max_bytes: Some(Bytes(80_000)),
                    spacing: Spacing::Wait,
                    bytes: true,
                    ..red::Params::default()
                },
                ..Params::default()
            }),
            _ => None,
        }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        Red::check(&params.red)?;
        for (name, value) in [("max_p", params.red.max_p()), ("bottom", params.bottom)] {
            if let Some(value) = value.filter(|value| *value > params.top) {
                return Err(ParamError::invalid(name, value, format!("at most top = {}", params.top)));
            }
        }
        Ok(())
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        Red::check_on(&params.red, port)
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        self.red.estimate(now, queue);
        if self.moves == Moves::Arrival && now > self.moved + self.interval && self.adapt(self.red.avg) {
            self.moved = now;
        }
        self.red.decide(packet, queue, rng)
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        self.red.on_idle(now);
    }

    fn period(&self) -> Option<Span> {
        (self.moves == Moves::Timer).then_some(self.interval)
    }

    fn on_period(&mut self, now: Time, _: &Backlog) {
        if !self.red.adapts_in_linux(now, (self.alpha, self.beta), (self.bottom, self.top)) {
            self.adapt(self.red.aged(now));
        }
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.red.can_resume(&before.red)
    }

    fn resume(&mut self, before: Self) {
        let bounds = |of: &Self| [of.bottom, of.top];
        let (max_p, bounds, bounds_before) = (before.red.max_p, bounds(self), bounds(&before));
        self.red.resume(before.red);
        let frozen = self.frozen_gentle || self.red.is_linux();
        self.red.resume_max_p(max_p, bounds, bounds_before, frozen);
        self.moved = before.moved;
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        self.red.counters(visit);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        self.red.signals(&mut visit);
        visit(2, self.red.max_p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, numbers, vectors, waiting};

    /// Thresholds of 20 and 80 packets.
    fn params() -> Params {
        let red = red::Params { min_th: Some(20.0), max_th: Some(80.0), ..red::Params::default() };
        Params { red, ..Params::default() }
    }

    /// Runs the timer at this average.
    fn consider(ared: &mut Ared, avg: f64) {
        ared.red.avg = avg;
        // No time has passed at the start, so the average does not age.
        ared.on_period(Time::ZERO, &waiting(0));
    }

    #[test]
    fn max_p_moves_so_that_the_average_returns_to_the_middle() {
        let vector = vectors("ared_maxp");
        let number = |key: &str| vector[key].as_f64().unwrap();
        let params = Params {
            red: red::Params {
                min_th: Some(number("minth")),
                max_th: Some(number("maxth")),
                max_p: Some(number("start")),
                ..red::Params::default()
            },
            beta: number("beta"),
            bottom: Some(number("bottom")),
            top: number("top"),
            ..Params::default()
        };
        let mut ared = Ared::new(&params, &PORT);
        assert_eq!(ared.period().map(Span::secs), vector["interval"].as_f64());
        for (avg, max_p) in numbers(&vector["avg"]).into_iter().zip(numbers(&vector["maxp"])) {
            consider(&mut ared, avg);
            assert_close(ared.red.max_p, max_p);
        }
    }

    #[test]
    fn max_p_stays_between_bottom_and_top() {
        let mut ared = Ared::new(&Params { bottom: Some(0.05), top: 0.305, ..params() }, &PORT);
        for (avg, bound) in [(80.0, 0.305), (20.0, 0.05)] {
            for _ in 0..99 {
                consider(&mut ared, avg);
            }
            assert_close(ared.red.max_p, bound);
        }
    }

    #[test]
    fn an_automatic_bottom_is_that_of_ns2() {
        assert_close(Ared::new(&Params::default(), &PORT).bottom, 0.008);
        let slow = Port { rate: Rate::bit_per_s(400_000), ..PORT };
        assert_close(Ared::new(&Params::default(), &slow).bottom, 0.01);
    }

    #[test]
    fn the_timer_sees_the_average_as_idle_time_has_aged_it() {
        let mut params = params();
        params.red.w_q = Some(0.002);
        let mut ared = Ared::new(&params, &PORT);
        ared.red.avg = 80.0;
        ared.on_idle(Time::ZERO);
        // The time of 1250 packets: 80 (1 - 0.002)^1250 = 6.6.
        ared.on_period(Time::ZERO + Span::ms(500), &waiting(0));
        assert_close(ared.red.max_p, 0.09);
    }

    #[test]
    fn the_gentle_part_starts_at_the_present_max_p_unless_frozen() {
        for (frozen_gentle, p_b) in [(false, 0.11), (true, 0.1)] {
            let mut params = Params { frozen_gentle, ..params() };
            params.red.w_q = Some(1.0);
            let mut ared = Ared::new(&params, &PORT);
            consider(&mut ared, 80.0);
            assert_close(ared.red.max_p, 0.11);
            ared.on_enqueue(Time::ZERO, &PACKET, &waiting(80), &mut Draw(0.5));
            ared.signals(|i, value| assert!(i > 0 || (value - p_b).abs() < 1e-12, "p_b = {value}"));
        }
    }

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        let error = |params: Params| Ared::check(&params).unwrap_err().to_string();
        let mut high = params();
        high.red.max_p = Some(0.6);
        assert_eq!(error(high), "max_p = 0.6: must be at most top = 0.5");
        assert_eq!(
            error(Params { bottom: Some(0.6), ..params() }),
            "bottom = 0.6: must be at most top = 0.5"
        );
        let mut crossed = params();
        crossed.red.min_th = Some(90.0);
        assert_eq!(error(crossed), "min_th = 90: must be at most max_th = 80");
    }
}
