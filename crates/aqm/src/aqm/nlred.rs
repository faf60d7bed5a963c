//! NLRED: Nonlinear RED, whose drop probability rises with the square of the average queue.
//!
//! It decides as `red` does, but between the thresholds
//!
//! ```text
//! p_b = 1.5 max_p ((avg - min_th) / (max_th - min_th))^2, at most 1     min_th <= avg < max_th
//! ```
//!
//! With the factor 1.5, the area below the curve equals that below RED's line: the mean probability is the same for an
//! average that is uniform between the thresholds, but NLRED is gentler at light load and drops more at heavy load.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw per arrival with avg above min_th. State: that of `red`.
//!
//! # Departures from the source
//! Those of `red`. The paper has no gentle part: see the preset. Here the gentle part starts where the curve ends, at
//! 1.5 max_p; in ns-3 it starts at max_p, so that p_b falls at max_th.
//!
//! # Sources
//! Zhou, Yeung, Li, "Nonlinear RED: a simple yet efficient active queue management scheme", Computer Networks 50,
//! 2006; ns-3, red-queue-disc.cc (NLRED). Tested against the equation.

use crate::aqm::red::{self, Curve, Red};
use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::params::ParamError;
use crate::unit::Time;

crate::params! {
    /// Nonlinear RED's parameters.
    pub struct Params with red: red::Params {}
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Nlred(Red);

impl Aqm for Nlred {
    type Params = Params;
    const SIGNALS: &'static [Signal] = Red::SIGNALS;
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("zhou2006", "The paper's curve alone, without a gentle part")];

    fn new(params: &Params, port: &Port) -> Self {
        let mut red = Red::new(&params.red, port);
        red.curve = Curve::Quadratic;
        red.gentle_p = (1.5 * red.max_p).min(1.0);
        Self(red)
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        Red::fixed(&params.red, port)
    }

    fn preset(name: &str) -> Option<Params> {
        (name == "zhou2006").then(|| Params { red: red::Params { gentle: false, ..red::Params::default() } })
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        Red::check(&params.red)
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
        self.0.on_enqueue(now, packet, queue, rng)
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        self.0.on_idle(now);
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.0.can_resume(&before.0)
    }

    fn resume(&mut self, before: Self) {
        self.0.resume(before.0);
    }

    fn signals(&self, visit: impl FnMut(usize, f64)) {
        self.0.signals(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, waiting};

    /// p_b with thresholds of 20 and 60 packets; the average is the queue at the arrival.
    fn p_b(max_p: f64, gentle: bool, queue: u32) -> f64 {
        let red = red::Params {
            min_th: Some(20.0),
            max_th: Some(60.0),
            max_p: Some(max_p),
            w_q: Some(1.0),
            gentle,
            ..red::Params::default()
        };
        let mut nlred = Nlred::new(&Params { red }, &PORT);
        nlred.on_enqueue(Time::ZERO, &PACKET, &waiting(queue), &mut Draw(0.5));
        let mut p = None;
        nlred.signals(|i, value| p = p.or((i == 0).then_some(value)));
        p.unwrap()
    }

    #[test]
    fn p_b_rises_with_the_square_of_the_average() {
        for (queue, expected) in
            [(19, 0.0), (20, 0.0), (30, 0.15 / 16.0), (40, 0.15 / 4.0), (50, 0.15 * 9.0 / 16.0), (60, 1.0)]
        {
            assert_close(p_b(0.1, false, queue), expected);
        }
        // 1.5 (39/40)^2 is more than 1.
        assert_close(p_b(1.0, false, 59), 1.0);
    }

    #[test]
    fn the_gentle_part_starts_where_the_curve_ends() {
        // Half-way from 60 to 120, half-way from 0.15 to 1.
        for (queue, expected) in [(60, 0.15), (90, 0.575), (120, 1.0)] {
            assert_close(p_b(0.1, true, queue), expected);
        }
        assert_close(p_b(0.8, true, 60), 1.0);
    }

    #[test]
    fn the_area_below_the_curve_is_that_of_red() {
        // The mean of p_b over the queues between the thresholds, compared with RED's, max_p / 2.
        let area: f64 = (20..60).map(|queue| p_b(0.1, false, queue)).sum();
        assert!((area / 40.0 - 0.05).abs() < 0.05 / 20.0, "{area}");
    }
}
