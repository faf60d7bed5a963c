//! RED and Adaptive RED: an average that follows the queue, and a share of drops that its spacing makes of p_b.

use aqm::aqm::ared::Ared;
use aqm::aqm::red::{Effective, Spacing};
use aqm::aqm::{ared, red};
use aqm::{Aqm as _, Port, Span};

/// A weight of RED's average from which on it is the queue itself: it follows within a packet's time.
const AT_ONCE: f64 = 0.5;

#[derive(Clone, Debug)]
pub(super) struct Red {
    /// Its thresholds and their adaptation.
    pub(super) ared: Ared,
    /// The time between adaptations; RED without them has none.
    pub(super) interval: Option<Span>,
    spacing: Spacing,
    /// -ln(1 - w_q): the average follows so fast, per arrival.
    pub(super) follows: f64,
    /// Whether the average is the queue itself.
    pub(super) at_once: bool,
    /// The fastest that the average follows, 1/s.
    pub(super) fastest: f64,
    /// Packets a second by which an idle average ages.
    pub(super) c: f64,
}

impl Red {
    pub(super) fn new(params: &red::Params, port: &Port) -> Self {
        let fixed = ared::Params { red: params.clone(), ..ared::Params::default() };
        Self { interval: None, ..Self::adaptive(&fixed, port) }
    }

    pub(super) fn adaptive(params: &ared::Params, port: &Port) -> Self {
        let Effective { w_q, c, .. } = Effective::new(&params.red, port);
        Self {
            ared: Ared::new(params, port),
            interval: Some(params.interval),
            spacing: params.red.spacing,
            follows: -libm::log1p(-w_q.min(AT_ONCE)),
            at_once: w_q >= AT_ONCE,
            fastest: f64::INFINITY,
            c,
        }
    }

    #[inline]
    pub(super) const fn avg(&self, q: f64, own: f64) -> f64 {
        if self.at_once { q } else { own }
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
