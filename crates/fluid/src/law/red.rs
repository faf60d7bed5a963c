//! RED and Adaptive RED: an average that follows the queue, and a share of drops that its spacing makes of p_b.

use aqm::Port;
use aqm::aqm::red::{Effective, Spacing};
use aqm::aqm::{ared, red};

/// A weight of RED's average from which on it is the queue itself: it follows within a packet's time.
const AT_ONCE: f64 = 0.5;

#[derive(Clone, Debug)]
pub(super) struct Red {
    pub(super) min_th: f64,
    pub(super) max_th: f64,
    pub(super) max_p: f64,
    pub(super) gentle_p: f64,
    pub(super) gentle: bool,
    pub(super) spacing: Spacing,
    /// -ln(1 - w_q): the average follows so fast, per arrival.
    pub(super) follows: f64,
    /// Whether the average is the queue itself.
    pub(super) at_once: bool,
    /// The fastest that the average follows, 1/s.
    pub(super) fastest: f64,
    /// Packets a second by which an idle average ages.
    pub(super) c: f64,
    pub(super) adaptive: Option<ared::Params>,
    pub(super) bottom: f64,
}

impl Red {
    pub(super) fn new(params: &red::Params, port: &Port) -> Self {
        let Effective { min_th, max_th, max_p, w_q, c, .. } = Effective::new(params, port);
        Self {
            min_th,
            max_th,
            max_p,
            gentle_p: max_p,
            gentle: params.is_gentle(),
            spacing: params.spacing,
            follows: -libm::log1p(-w_q.min(AT_ONCE)),
            at_once: w_q >= AT_ONCE,
            fastest: f64::INFINITY,
            c,
            adaptive: None,
            bottom: 0.0,
        }
    }

    #[inline]
    pub(super) const fn avg(&self, q: f64, own: f64) -> f64 {
        if self.at_once { q } else { own }
    }

    #[inline]
    pub(super) fn p_b(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            self.max_p * (avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle {
            (self.gentle_p + (1.0 - self.gentle_p) * (avg - self.max_th) / self.max_th).min(1.0)
        } else {
            1.0
        }
    }

    /// The share of arrivals dropped at p_b: one over the mean gap from drop to drop.
    #[inline]
    pub(super) fn ratio(&self, p_b: f64) -> f64 {
        if p_b <= 0.0 {
            return 0.0;
        }
        match self.spacing {
            Spacing::None => p_b,
            Spacing::Uniform => 1.0 / mean_gap(p_b, 1.0, 1.0),
            Spacing::Wait => 1.0 / mean_gap(p_b, (1.0 / p_b).ceil(), 2.0),
        }
    }

    pub(super) fn adapt(&mut self, avg: f64) {
        let Some(params) = &self.adaptive else { return };
        let part = 0.4 * (self.max_th - self.min_th);
        if avg > self.max_th - part && self.max_p < params.top {
            self.max_p = (self.max_p + params.alpha.min(self.max_p / 4.0)).min(params.top);
        } else if avg < self.min_th + part && self.max_p > self.bottom {
            self.max_p = (self.max_p * params.beta).max(self.bottom);
        }
        if !params.frozen_gentle {
            self.gentle_p = self.max_p;
        }
    }
}

/// The mean gap where the k-th packet since the last drop is dropped with probability p / (end - k p), at most 1, from
/// `first` on: a gap is longer than k with probability (end - (k + 1) p) / (end - first p).
#[inline]
fn mean_gap(p: f64, first: f64, end: f64) -> f64 {
    let last = (end / p).ceil() - 1.0;
    let terms = (last - first).max(0.0);
    let longest = end - first * p;
    if longest <= 0.0 { first } else { first + terms * (end - 0.5 * p * (first + 1.0 + last)) / longest }
}
