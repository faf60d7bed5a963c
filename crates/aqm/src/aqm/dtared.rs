//! Dynamic-threshold ARED: Adaptive RED whose thresholds move to keep the drop probability in a band.
//!
//! It decides as `ared` does. P is the smoothed drop probability, an average of p_b at each arrival. Every `interval`,
//! after max_p, the thresholds move:
//!
//! ```text
//! P <- (1 - w_p) P + w_p p_b                                 at every arrival
//! min_th <- (1 + gamma) min_th                               P > p_u
//! min_th <- (1 - gamma) min_th                               P < p_l
//! max_th <- min_th + D, with D the initial distance
//! ```
//!
//! With more flows, the queue and so their round-trip time grow instead of the loss ratio. The buffer must be long
//! enough: if the band is out of reach, the thresholds stop at `ceiling`, and the queue near the buffer's limit.
//!
//! Decides at: enqueue. Timer: `interval`. Randomness: one draw per arrival with avg above min_th. State: that of
//! `ared`, min_th, max_th and P.
//!
//! # Departures from the source
//! Those of `ared`. The paper leaves open how often the thresholds move, what P smooths and with which weight, and how
//! far the thresholds may go. Here they move when max_p does; P smooths p_b, before drops are spaced, with the weight
//! 0.002 of the average queue; and min_th is at least one packet (`floor`), max_th at most ten packets less than the
//! buffer (`ceiling`). The thresholds do not move while no packet arrives, since P then carries no news. max_p still
//! moves; at its `bottom`, P cannot be steered below the value of the slope at the average, so the preset `redtail`
//! halves `bottom` with the band.
//!
//! # Sources
//! The RED+Tail paper, section V. Tested against these equations.

use crate::aqm::ared::{self, Ared};
use crate::aqm::red::Red;
use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::{ParamError, Range};
use crate::unit::{Span, Time};

crate::params! {
    /// The parameters of Adaptive RED with dynamic thresholds.
    pub struct Params with ared: ared::Params {
        /// Relative step of `min_th`.
        gamma: f64 = 0.05, "", Range::above(0.0, 0.9);
        /// The P below which the thresholds fall.
        p_l: f64 = 0.01, "", Range::new(0.0, 1.0), ["P_L"];
        /// The P above which the thresholds rise.
        p_u: f64 = 0.02, "", Range::new(0.0, 1.0), ["P_U"];
        /// Weight of the present p_b in P.
        w_p: f64 = 0.002, "", Range::above(0.0, 1.0);
        /// Lower bound of `min_th`.
        floor: f64 = 1.0, "packets", Range::above(0.0, 1e9);
        /// Upper bound of `max_th`; if omitted, ten packets less than the buffer.
        ceiling: Option<f64> = None, "packets", Range::above(0.0, 1e9);
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Dtared {
    ared: Ared,
    interval: Span,
    gamma: f64,
    p_l: f64,
    p_u: f64,
    w_p: f64,
    floor: f64,
    ceiling: f64,
    /// The distance D of the thresholds.
    distance: f64,
    /// The smoothed drop probability P.
    mean_p: f64,
    /// Whether a packet has arrived, and so updated P, since the thresholds last moved.
    fresh: bool,
}

impl Dtared {
    /// Moves the thresholds if P is outside the band.
    fn shift(&mut self) {
        let min_th = self.ared.red.min_th;
        let moved = if self.mean_p > self.p_u {
            // Thresholds that begin beyond a bound stay there.
            ((1.0 + self.gamma) * min_th).min(self.ceiling - self.distance).max(min_th)
        } else if self.mean_p < self.p_l {
            ((1.0 - self.gamma) * min_th).max(self.floor).min(min_th)
        } else {
            return;
        };
        self.ared.red.min_th = moved;
        self.ared.red.max_th = moved + self.distance;
    }
}

impl Aqm for Dtared {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Ared::SIGNALS[0],
        Ared::SIGNALS[1],
        Ared::SIGNALS[2],
        Signal { name: "mean_p", unit: "", doc: "Smoothed drop probability P." },
        Signal { name: "min_th", unit: "packets", doc: "The lower threshold." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[(
        "redtail",
        "The second queue of RED+Tail: Table II, the band from 0.005 to 0.01, at most 0.8 of its 160 kB",
    )];

    fn new(params: &Params, port: &Port) -> Self {
        let ared = Ared::new(&params.ared, port);
        let mean = params.ared.red.mean_packet.unwrap_or(port.packet);
        Self {
            interval: params.ared.interval,
            gamma: params.gamma,
            p_l: params.p_l,
            p_u: params.p_u,
            w_p: params.w_p,
            floor: params.floor,
            ceiling: params.ceiling.unwrap_or_else(|| port.limit.packets(mean) - 10.0),
            distance: ared.red.max_th - ared.red.min_th,
            mean_p: 0.0,
            fresh: false,
            ared,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let mut ared = Ared::preset(name).filter(|_| name == "redtail")?;
        ared.bottom = Some(0.005);
        Some(Params { ared, p_l: 0.005, p_u: 0.01, ceiling: Some(128.0), ..Params::default() })
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        Ared::check(&params.ared)?;
        if params.p_l > params.p_u {
            return Err(ParamError::invalid("p_l", params.p_l, format!("at most p_u = {}", params.p_u)));
        }
        Ok(())
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        let verdict = self.ared.on_enqueue(now, packet, queue, rng);
        self.mean_p = (1.0 - self.w_p) * self.mean_p + self.w_p * self.ared.red.p_b;
        self.fresh = true;
        verdict
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        self.ared.on_idle(now);
    }

    fn period(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_period(&mut self, now: Time, queue: &Backlog) {
        if self.ared.period().is_some() {
            self.ared.on_period(now, queue);
        }
        if core::mem::take(&mut self.fresh) {
            self.shift();
        }
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.ared.can_resume(&before.ared)
    }

    fn resume(&mut self, before: Self) {
        let bounds = |of: &Self| [of.floor, of.ceiling, of.distance];
        let Red { mut min_th, mut max_th, .. } = before.ared.red;
        // Thresholds that began beyond the same bounds stay there.
        if bounds(self) != bounds(&before) {
            min_th = min_th.min(self.ceiling - self.distance).max(self.floor);
            max_th = min_th + self.distance;
        }
        self.ared.resume(before.ared);
        (self.ared.red.min_th, self.ared.red.max_th) = (min_th, max_th);
        (self.mean_p, self.fresh) = (before.mean_p, before.fresh);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        self.ared.signals(&mut visit);
        visit(3, self.mean_p);
        visit(4, self.ared.red.min_th);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::red;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, waiting};
    use crate::unit::{Bytes, Limit};

    /// Thresholds of 20 and 80 packets; the average is the queue at the arrival, and P the last p_b.
    fn params() -> Params {
        let red =
            red::Params { min_th: Some(20.0), max_th: Some(80.0), w_q: Some(1.0), ..red::Params::default() };
        let ared = ared::Params { red, top: 0.1, bottom: Some(0.1), ..ared::Params::default() };
        Params { ared, w_p: 1.0, ..Params::default() }
    }

    /// Runs an arrival that finds this queue, then the timer.
    fn consider(dtared: &mut Dtared, queue: u32) -> (f64, f64) {
        dtared.on_enqueue(Time::ZERO, &PACKET, &waiting(queue), &mut Draw(0.999));
        dtared.on_period(Time::ZERO, &waiting(queue));
        (dtared.ared.red.min_th, dtared.ared.red.max_th)
    }

    fn assert_both((min_th, max_th): (f64, f64), expected: f64) {
        assert_close(min_th, expected);
        assert_close(max_th, expected + 60.0);
    }

    #[test]
    fn the_thresholds_move_together_to_keep_p_in_its_band() {
        let mut dtared = Dtared::new(&params(), &PORT);
        // p_b = 0.1 (q - 20) / 60: 0.015, in the band.
        assert_both(consider(&mut dtared, 29), 20.0);
        // 0.025 and, with 21 to 81, 0.1 (34 - 21) / 60 = 0.022.
        assert_both(consider(&mut dtared, 35), 21.0);
        assert_both(consider(&mut dtared, 34), 21.0 * 1.05);
        // P is 0, below the band.
        assert_both(consider(&mut dtared, 10), 21.0 * 1.05 * 0.95);
    }

    #[test]
    fn p_is_smoothed_an_arrival_at_a_time() {
        let mut dtared = Dtared::new(&Params { w_p: 0.25, ..params() }, &PORT);
        for mean_p in [0.0125, 0.021_875, 0.028_906_25] {
            dtared.on_enqueue(Time::ZERO, &PACKET, &waiting(50), &mut Draw(0.999));
            assert_close(dtared.mean_p, mean_p);
        }
    }

    #[test]
    fn the_thresholds_stay_between_floor_and_ceiling() {
        let mut dtared = Dtared::new(&Params { floor: 2.0, ceiling: Some(100.0), ..params() }, &PORT);
        for (queue, bound) in [(150, 40.0), (0, 2.0)] {
            for _ in 0..99 {
                consider(&mut dtared, queue);
            }
            assert_both(consider(&mut dtared, queue), bound);
        }
        // The ceiling in a buffer of 200 packets is 190.
        let mut dtared = Dtared::new(&params(), &PORT);
        for _ in 0..99 {
            consider(&mut dtared, 199);
        }
        assert_both(consider(&mut dtared, 199), 130.0);
    }

    #[test]
    fn thresholds_beyond_a_bound_are_not_pulled_back_by_a_move_away_from_it() {
        let small = Port { limit: Limit::Packets(50), ..PORT };
        assert_both(consider(&mut Dtared::new(&params(), &small), 49), 20.0);
        assert_both(consider(&mut Dtared::new(&params(), &small), 0), 19.0);
        assert_both(consider(&mut Dtared::new(&Params { floor: 30.0, ..params() }, &PORT), 0), 20.0);
    }

    #[test]
    fn the_thresholds_rest_while_nothing_arrives() {
        let mut dtared = Dtared::new(&params(), &PORT);
        dtared.on_period(Time::ZERO, &waiting(0));
        assert_both((dtared.ared.red.min_th, dtared.ared.red.max_th), 20.0);
        assert_both(consider(&mut dtared, 0), 19.0);
        dtared.on_period(Time::ZERO, &waiting(0));
        assert_both((dtared.ared.red.min_th, dtared.ared.red.max_th), 19.0);
    }

    #[test]
    fn the_preset_of_the_second_queue_has_table_ii_in_packets_of_a_kilobyte() {
        let params = Dtared::preset("redtail").unwrap();
        let port = Port { packet: Bytes(1000), limit: Limit::Bytes(160_000), ..PORT };
        let dtared = Dtared::new(&params, &port);
        assert_both((dtared.ared.red.min_th, dtared.ared.red.max_th), 20.0);
        assert_close(dtared.ceiling, 0.8 * 160.0);
    }

    #[test]
    fn a_band_upside_down_is_refused() {
        let error = Dtared::check(&Params { p_l: 0.03, ..params() }).unwrap_err().to_string();
        assert_eq!(error, "p_l = 0.03: must be at most p_u = 0.02");
    }
}
