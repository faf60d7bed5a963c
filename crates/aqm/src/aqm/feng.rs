//! Feng's self-configuring RED: RED that scales max_p whenever the average queue leaves the thresholds.
//!
//! It decides as `red` does. At every arrival, after avg is updated, a status records where avg was last:
//!
//! ```text
//! status <- between                                  min_th < avg < max_th
//! status <- below, max_p <- max_p / alpha            avg < min_th, if status was not below
//! status <- above, max_p <- beta max_p               avg > max_th, if status was not above
//! ```
//!
//! So max_p moves once for each stay outside the thresholds, however long the stay.
//!
//! The paper calls the algorithm Adaptive RED, as does ns-2 (`feng_adaptive_`); others call it S-RED. The Adaptive RED
//! of Floyd et al. is `ared`. ns-2's validation suite calls it FRED, which elsewhere is Flow RED (`fred`). ns-2 reads
//! `alpha_` and `beta_` for both kinds of Adaptive RED; with their defaults of 0.01 and 0.9, which are Floyd's, Feng's
//! algorithm works backwards, so both have to be set.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw per arrival with avg above min_th. State: that of `red`,
//! max_p and the status.
//!
//! # Departures from the source
//! Those of `red`. The paper does not define the initial status; here it is "below", since the queue is empty. ns-3
//! starts with "above", and so divides the max_p that was set before it is ever used (`begin_above`). The paper, ns-2 and
//! ns-3 do not bound max_p; `top` and `bottom` are aqmlab's, and keep max_p a probability and above 0, from which it could
//! not return. The gentle part is newer than the paper (see the presets); it starts at the present max_p, in ns-2 and
//! ns-3 at the initial one (`frozen_gentle`).
//!
//! # Sources
//! Feng, Kandlur, Saha, Shin, "A self-configuring RED gateway", INFOCOM 1999; ns-2.35, red.cc (updateMaxPFeng), against
//! which it is tested; ns-3, red-queue-disc.cc.

use crate::aqm::red::{self, Red};
use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::{ParamError, Range};
use crate::unit::Time;

crate::params! {
    /// The parameters of Feng's self-configuring RED.
    pub struct Params with red: red::Params {
        /// Divisor of `max_p` when the average falls below `min_th`.
        alpha: f64 = 3.0, "", Range::new(1.0, 1e3), ["FengAlpha", "alpha_"];
        /// Factor on `max_p` when the average rises above `max_th`.
        beta: f64 = 2.0, "", Range::new(1.0, 1e3), ["FengBeta", "beta_"];
        /// Upper bound of `max_p`.
        top: f64 = 1.0, "", Range::above(0.0, 1.0);
        /// Lower bound of `max_p`.
        bottom: f64 = 1e-6, "", Range::above(0.0, 1.0);
        /// Start the gentle part at the initial `max_p` rather than the present one, as ns-2 and ns-3 do.
        frozen_gentle: bool = false, "";
        /// Begin with the status "above", as ns-3 does: the first arrival divides `max_p`.
        begin_above: bool = false, "";
    }
}

/// Where the average was last, when it was not equal to a threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Below,
    Between,
    Above,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Feng {
    red: Red,
    alpha: f64,
    beta: f64,
    top: f64,
    bottom: f64,
    frozen_gentle: bool,
    status: Status,
}

impl Feng {
    /// Moves max_p if the average has just left the thresholds.
    #[inline]
    fn adapt(&mut self) {
        let Red { avg, min_th, max_th, max_p, .. } = self.red;
        let status = if avg < min_th {
            Status::Below
        } else if avg > max_th {
            Status::Above
        } else if min_th < avg && avg < max_th {
            Status::Between
        } else {
            return;
        };
        if core::mem::replace(&mut self.status, status) == status {
            return;
        }
        let moved = match status {
            Status::Below => (max_p / self.alpha).max(self.bottom),
            Status::Between => max_p,
            Status::Above => (max_p * self.beta).min(self.top),
        };
        self.red.set_max_p(moved, self.frozen_gentle);
    }
}

impl Aqm for Feng {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[Red::SIGNALS[0], Red::SIGNALS[1], Signal { name: "max_p", unit: "", doc: "p_b at max_th." }];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("feng1999", "The paper's rule on the RED of its day, which is not gentle"),
        ("ns2.35", "ns-2.35's RED with adaptive_ and feng_adaptive_ set, alpha_ 3 and beta_ 2"),
        ("ns3", "ns-3's RED with FengAdaptive set"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            red: Red::new(&params.red, port),
            alpha: params.alpha,
            beta: params.beta,
            top: params.top,
            bottom: params.bottom,
            frozen_gentle: params.frozen_gentle,
            status: if params.begin_above { Status::Above } else { Status::Below },
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let params = Params::default();
        match name {
            "feng1999" => Some(Params { red: red::Params { gentle: false, ..params.red }, ..params }),
            "ns2.35" | "ns3" => Red::preset(name).map(|red| Params {
                red,
                frozen_gentle: true,
                begin_above: name == "ns3",
                ..params
            }),
            _ => None,
        }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        Red::check(&params.red)?;
        if params.bottom > params.top {
            return Err(ParamError::invalid(
                "bottom",
                params.bottom,
                format!("at most top = {}", params.top),
            ));
        }
        match params.red.max_p() {
            Some(max_p) if max_p > params.top => {
                Err(ParamError::invalid("max_p", max_p, format!("at most top = {}", params.top)))
            }
            Some(max_p) if max_p < params.bottom => {
                Err(ParamError::invalid("max_p", max_p, format!("at least bottom = {}", params.bottom)))
            }
            _ => Ok(()),
        }
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
        self.adapt();
        self.red.decide(packet, queue, rng)
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        self.red.on_idle(now);
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
        self.red.resume_max_p(max_p, bounds, bounds_before, self.frozen_gentle);
        self.status = before.status;
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        self.red.signals(&mut visit);
        visit(2, self.red.max_p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, waiting};

    /// Thresholds of 20 and 60 packets; the average is the queue at the arrival.
    fn params() -> Params {
        let red =
            red::Params { min_th: Some(20.0), max_th: Some(60.0), w_q: Some(1.0), ..red::Params::default() };
        Params { red, ..Params::default() }
    }

    /// max_p after each of these queues.
    fn max_p(params: &Params, queues: &[u32]) -> Vec<f64> {
        let mut feng = Feng::new(params, &PORT);
        let mut after = |queue: &u32| {
            feng.on_enqueue(Time::ZERO, &PACKET, &waiting(*queue), &mut Draw(0.999));
            feng.red.max_p
        };
        queues.iter().map(&mut after).collect()
    }

    #[test]
    fn max_p_moves_once_an_excursion() {
        let queues = [0, 5, 30, 70, 80, 90, 30, 70, 10, 0, 70];
        let expected = [0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2, 0.4, 0.4 / 3.0, 0.4 / 3.0, 0.8 / 3.0];
        for (found, expected) in max_p(&params(), &queues).into_iter().zip(expected) {
            assert_close(found, expected);
        }
    }

    #[test]
    fn an_average_equal_to_a_threshold_does_not_change_the_status() {
        // At averages of exactly 20 and 60 the status does not change.
        assert_eq!(max_p(&params(), &[70, 60, 70, 20, 70]), [0.2; 5]);
        assert_eq!(max_p(&params(), &[20, 10]), [0.1; 2]);
    }

    #[test]
    fn max_p_stays_between_bottom_and_top() {
        let up = max_p(&params(), &[30, 70].repeat(9));
        assert_close(up[7], 1.0);
        assert_close(up[17], 1.0);
        let down = max_p(&params(), &[30, 10].repeat(99));
        assert_close(down[197], 1e-6);
    }

    #[test]
    fn the_gentle_part_starts_at_the_present_max_p_unless_frozen() {
        // p_b at 90, half-way from 60 to 120, after max_p has doubled.
        for (frozen_gentle, p_b) in [(false, 0.6), (true, 0.55)] {
            let mut feng = Feng::new(&Params { frozen_gentle, ..params() }, &PORT);
            feng.on_enqueue(Time::ZERO, &PACKET, &waiting(90), &mut Draw(0.5));
            feng.signals(|i, value| assert!(i > 0 || (value - p_b).abs() < 1e-12, "p_b = {value}"));
        }
    }

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        let error = |params: Params| Feng::check(&params).unwrap_err().to_string();
        assert_eq!(
            error(Params { bottom: 0.6, top: 0.5, ..params() }),
            "bottom = 0.6: must be at most top = 0.5"
        );
        assert_eq!(
            error(Params { top: 0.05, ..params_with(0.1) }),
            "max_p = 0.1: must be at most top = 0.05"
        );
        assert_eq!(
            error(Params { bottom: 0.2, ..params_with(0.1) }),
            "max_p = 0.1: must be at least bottom = 0.2"
        );
    }

    /// As `params`, with this `max_p`.
    fn params_with(max_p: f64) -> Params {
        Params { red: red::Params { max_p: Some(max_p), ..params().red }, ..params() }
    }

    #[test]
    fn the_defaults_that_ns2_has_for_floyds_are_refused() {
        use crate::params::{Params as _, Value};
        for (name, value) in [("alpha_", 0.01), ("beta_", 0.9)] {
            assert!(Params::default().set(name, &Value::Float(value)).is_err(), "{name}");
        }
    }
}
