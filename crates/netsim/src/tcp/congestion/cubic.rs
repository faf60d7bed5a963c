//! CUBIC: the window is a cubic function of the time since the last loss, flat where that loss was.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max         K = cbrt((W_max - cwnd_epoch) / C)        (RFC 9438, section 4.2)
//! W_est <- W_est + alpha acked / cwnd      alpha = 3 (1 - beta) / (1 + beta), 1 from cwnd_prior on      (4.3)
//! W_cubic(t) < W_est:  cwnd <- W_est                                                                    (4.3)
//! else:                cwnd <- cwnd + (target - cwnd) acked / cwnd,                                (4.4, 4.5)
//!                      target = W_cubic(t + RTT) within [cwnd, 1.5 cwnd]
//! loss:  cwnd_prior = cwnd;  W_max = cwnd, or cwnd (1 + beta) / 2 if below the last W_max;       (4.6, 4.7)
//!        cwnd <- beta cwnd
//! ```
//!
//! t is the time since congestion avoidance began; C = `c` in segments/s^3, beta = `beta`. A time-out makes W_max
//! and K what the window is when congestion avoidance begins again (4.8), as does slow start that ends without a
//! loss (4.10). Below ssthresh the sender is in Reno's slow start.
//!
//! # Departures from the source
//! * An ACK that covers several segments counts as several (Linux; RFC 9438 says so for W_est only), or delayed
//!   ACKs would halve the speed with which the window follows the curve.
//! * No HyStart++ (RFC 9406): slow start ends with a loss, a mark, or at ssthresh.
//! * After an idle time, or one in which the application did not fill the window, a new curve starts; RFC 9438,
//!   section 5.8, leaves that time out of t, to the same end.
//! * W_max is taken from the window also where the reduced window is beta times what is outstanding.
//!
//! # Sources
//! RFC 9438; Ha, Rhee, Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", 2008; Linux, tcp_cubic.c.

use super::Growth;
use crate::tcp::Profile;
use aqm::unit::{Span, Time};

/// The most that the target may be of the window (RFC 9438, section 4.2).
const MOST_GROWTH: f64 = 1.5;

/// The state; all zero before the first loss.
#[derive(Clone, Default, Debug)]
pub struct Cubic {
    /// The window to come back to; 0 if there is none.
    w_max: f64,
    /// What Reno's window would be.
    w_est: f64,
    /// The window before the last reduction.
    cwnd_prior: f64,
    /// Seconds from the start of congestion avoidance to `w_max`.
    k: f64,
    /// When congestion avoidance began.
    epoch: Option<Time>,
}

impl Cubic {
    /// The window after an acknowledgement in congestion avoidance.
    #[must_use]
    pub fn grown(&mut self, profile: &Profile, cwnd: f64, growth: &Growth) -> f64 {
        let epoch = self.epoch.unwrap_or_else(|| self.start(growth.now, profile, cwnd));
        let t = growth.now.since(epoch);
        let part = f64::from(growth.acked) / cwnd;
        let alpha = if self.w_est < self.cwnd_prior {
            3.0 * (1.0 - profile.beta) / (1.0 + profile.beta)
        } else {
            1.0
        };
        self.w_est += alpha * part;
        if profile.reno_friendly && self.curve(profile, t) < self.w_est {
            return cwnd.max(self.w_est);
        }
        let target = self.curve(profile, t + growth.rtt).clamp(cwnd, MOST_GROWTH * cwnd);
        cwnd + (target - cwnd) * part.min(1.0)
    }

    /// A loss at this window.
    pub fn on_loss(&mut self, profile: &Profile, cwnd: f64) {
        let shrinking = profile.fast_convergence && cwnd < self.w_max;
        self.w_max = if shrinking { cwnd * (1.0 + profile.beta) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
    }

    /// A time-out at this window.
    pub const fn on_timeout(&mut self, cwnd: f64) {
        self.w_max = 0.0;
        self.cwnd_prior = cwnd;
        self.epoch = None;
    }

    /// The application was idle, or did not fill the window.
    pub const fn on_restart(&mut self) {
        self.epoch = None;
    }

    /// Congestion avoidance begins.
    fn start(&mut self, now: Time, profile: &Profile, cwnd: f64) -> Time {
        self.epoch = Some(now);
        self.w_est = cwnd;
        self.w_max = self.w_max.max(cwnd);
        self.k = libm::cbrt((self.w_max - cwnd) / profile.c);
        now
    }

    fn curve(&self, profile: &Profile, t: Span) -> f64 {
        let x = t.secs() - self.k;
        profile.c * x * x * x + self.w_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::{Congestion, Tcp};

    fn profile() -> Profile {
        Profile::new(&Tcp { congestion: Congestion::Cubic, ..Tcp::default() }, 1500)
    }

    fn growth(ms: u64, acked: u32) -> Growth {
        Growth { now: Time::ZERO + Span::ms(ms), acked, step: 1, flight: 100, rtt: Span::ms(100) }
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    }

    #[test]
    fn the_curve_comes_back_to_the_last_maximum_after_k() {
        // RFC 9438, 4.2: W_max = 100, cwnd_epoch = 70: K = cbrt(30 / 0.4) = 4.217163 s; W_cubic(K) = 100,
        // W_cubic(0) = 70, W_cubic(K + 2) = 100 + 0.4 * 8 = 103.2.
        let (profile, mut cubic) = (profile(), Cubic::default());
        cubic.on_loss(&profile, 100.0);
        cubic.start(Time::ZERO, &profile, 70.0);
        close(cubic.k, 4.217_163_3);
        close(cubic.curve(&profile, Span::ZERO), 70.0);
        close(cubic.curve(&profile, Span::from_secs(cubic.k)), 100.0);
        close(cubic.curve(&profile, Span::from_secs(cubic.k + 2.0)), 103.2);
    }

    #[test]
    fn an_acknowledgement_moves_the_window_towards_the_curve_a_round_trip_ahead() {
        // At t = 2 s, with RTT 0.1 s: target = 0.4 (2.1 - 4.217163)^3 + 100 = 96.203937; one segment of 90:
        // 90 + 6.203937 / 90. W_est at t = 2 s is below the curve: 70 + 0.529412 / 90.
        let (profile, mut cubic) = (profile(), Cubic::default());
        cubic.on_loss(&profile, 100.0);
        cubic.start(Time::ZERO, &profile, 70.0);
        let x: f64 = 2.1 - 4.217_163_326_508_746;
        let target = 0.4 * x.powi(3) + 100.0;
        close(cubic.grown(&profile, 90.0, &growth(2000, 1)), 90.0 + (target - 90.0) / 90.0);
        close(cubic.grown(&profile, 90.0, &growth(2000, 2)), 90.0 + (target - 90.0) / 45.0);
        // Far behind the curve the target is 1.5 times the window: half a segment more for each.
        close(cubic.grown(&profile, 10.0, &growth(4000, 1)), 10.5);
    }

    #[test]
    fn a_small_window_grows_as_renos_would() {
        // RFC 9438, 4.3: alpha = 3 * 0.3 / 1.7 = 0.529412. From 7, W_max = 10: the curve barely moves in 0.1 s
        // (K = 1.957 s; W_cubic(0.1) = 10 - 0.4 * 1.857^3 = 7.436), seven segments bring W_est to 7.529412.
        let (profile, mut cubic) = (profile(), Cubic::default());
        cubic.on_loss(&profile, 10.0);
        cubic.start(Time::ZERO, &profile, 7.0);
        close(cubic.grown(&profile, 7.0, &growth(100, 7)), 7.0 + 0.9 / 1.7);
        // From cwnd_prior on, alpha is 1.
        cubic.w_est = 10.0;
        let _ = cubic.grown(&profile, 10.0, &growth(100, 10));
        close(cubic.w_est, 11.0);
        let unfriendly = Profile { reno_friendly: false, ..profile };
        let mut cubic = Cubic::default();
        cubic.on_loss(&unfriendly, 10.0);
        cubic.start(Time::ZERO, &unfriendly, 7.0);
        assert!(cubic.grown(&unfriendly, 7.0, &growth(1, 1)) < 7.0 + 0.9 / 1.7 / 7.0);
    }

    #[test]
    fn a_window_that_shrinks_from_loss_to_loss_gives_way() {
        // RFC 9438, 4.7: after 100, a loss at 80: W_max = 80 * 1.7 / 2 = 68; then at 90: 90.
        let (profile, mut cubic) = (profile(), Cubic::default());
        cubic.on_loss(&profile, 100.0);
        cubic.on_loss(&profile, 80.0);
        close(cubic.w_max, 68.0);
        cubic.on_loss(&profile, 90.0);
        close(cubic.w_max, 90.0);
        let slow = Profile { fast_convergence: false, ..profile };
        cubic.on_loss(&slow, 80.0);
        close(cubic.w_max, 80.0);
    }

    #[test]
    fn after_a_time_out_the_curve_starts_where_slow_start_ends() {
        // RFC 9438, 4.8: K = 0 and W_max is the window then: W_cubic(1 s) = 50 + 0.4.
        let (profile, mut cubic) = (profile(), Cubic::default());
        cubic.on_loss(&profile, 100.0);
        cubic.on_timeout(100.0);
        cubic.start(Time::ZERO, &profile, 50.0);
        close(cubic.k, 0.0);
        close(cubic.curve(&profile, Span::s(1)), 50.4);
    }
}
