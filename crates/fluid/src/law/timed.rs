//! Laws with a state that moves on a timer: LRED, REM, RAQM.

use super::input::Tally;
use aqm::aqm::raqm::{Alpha, Counts, Expected, Fed, Mode};
use aqm::aqm::rem::Form as RemForm;
use aqm::aqm::{lred, raqm, rem};

#[derive(Clone, Debug)]
pub(super) struct Lred {
    pub(super) params: lred::Params,
    pub(super) past: Box<[(f64, f64)]>,
    pub(super) oldest: usize,
    pub(super) loss_ratio: f64,
}

impl Lred {
    #[inline]
    pub(super) fn p(&self, q: f64) -> f64 {
        let gain = lred::gain(self.params.beta, self.params.exponent, self.loss_ratio);
        (self.loss_ratio + gain * (q - self.params.q0)).clamp(0.0, 1.0)
    }

    pub(super) fn update(&mut self, tally: &Tally) {
        self.past[self.oldest] = (tally.early + tally.overflow, tally.arrivals);
        self.oldest = (self.oldest + 1) % self.past.len();
        let (drops, arrivals) = self.past.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if arrivals > 0.0 {
            let weight = self.params.weight;
            let latest = weight * self.loss_ratio + (1.0 - weight) * drops / arrivals;
            self.loss_ratio = latest.max(self.params.l_min);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Rem {
    pub(super) params: rem::Params,
    pub(super) ln_phi: f64,
    /// What the link sends in an interval.
    pub(super) c: f64,
    pub(super) u: f64,
    pub(super) p: f64,
    pub(super) q_old: f64,
    pub(super) input: f64,
}

impl Rem {
    pub(super) fn update(&mut self, q: f64, arrived: f64) {
        let params = &self.params;
        self.input = (1.0 - params.inw) * self.input + params.inw * arrived;
        let excess = match params.form {
            RemForm::Paper => q - (1.0 - params.alpha) * self.q_old - params.alpha * params.b_star,
            RemForm::Ns2 => self.input + params.alpha * (q - params.b_star) - self.c,
        };
        self.u = (self.u + params.gamma * excess).max(0.0);
        self.p = -libm::expm1(-self.u * self.ln_phi);
        self.q_old = q;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Raqm {
    pub(super) params: raqm::Params,
    pub(super) expected: f64,
    pub(super) c: f64,
    pub(super) r: f64,
    pub(super) loss: f64,
    pub(super) m: Option<f64>,
    pub(super) p: f64,
}

impl Raqm {
    #[inline]
    pub(super) fn p(&self, q: f64) -> f64 {
        match self.params.mode {
            Mode::Rate => self.p,
            Mode::Queue => (self.p * q / self.params.q0).min(1.0),
        }
    }

    pub(super) fn update(&mut self, tally: &Tally) {
        let params = &self.params;
        let smooth =
            |old: f64, packets: f64| (1.0 - params.f) * packets / params.period.secs() + params.f * old;
        let shed = tally.early - tally.marks;
        let (counted, counted_shed) = match params.counts {
            Counts::All => (tally.arrivals, shed),
            Counts::Unshed => (tally.arrivals - shed, 0.0),
            Counts::Accepted => (tally.arrivals - shed - tally.overflow, 0.0),
        };
        self.r = smooth(self.r, counted);
        self.loss = smooth(self.loss, counted_shed);
        let x = match params.r0 {
            Expected::Literal => self.r / self.expected,
            Expected::Corrected => (self.r - self.loss).max(0.0) / self.expected,
        };
        let bounded = params.eps * raqm::bound(x);
        let m = match (params.alpha, self.m) {
            (Alpha::Static, _) | (_, None) => params.m,
            (Alpha::Adaptive, Some(before)) if params.lagged => before,
            (Alpha::Adaptive, Some(_)) => bounded,
        };
        self.m = Some(bounded);
        let last = match params.fed {
            // Early drops and marks are the applied probability's share of the arrivals.
            Fed::Mean if tally.arrivals > 0.0 => tally.early / tally.arrivals,
            Fed::Mean | Fed::Own => self.p,
        };
        self.p = (last * libm::exp((m * (x - 1.0)).min(50.0))).clamp(params.p_min, 1.0);
    }
}
