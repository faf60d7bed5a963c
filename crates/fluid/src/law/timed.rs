//! Laws with a state that moves on a timer, where it is the algorithm's own: LRED and RAQM. They count what the fluid
//! brings, which is not whole packets.

use super::input::Tally;
use aqm::aqm::raqm::{Aggregate, Counts};
use aqm::aqm::{lred, raqm};
use aqm::{Aqm as _, Port};

#[derive(Clone, Debug)]
pub(super) struct Lred {
    pub(super) lred: lred::Lred,
    weight: f64,
    /// Drops and arrivals of each period of the window.
    past: Box<[(f64, f64)]>,
    oldest: usize,
}

impl Lred {
    pub(super) fn new(params: &lred::Params, port: &Port) -> Self {
        Self {
            lred: lred::Lred::new(params, port),
            weight: params.weight,
            past: vec![(0.0, 0.0); params.window as usize].into(),
            oldest: 0,
        }
    }

    pub(super) fn update(&mut self, tally: &Tally) {
        self.past[self.oldest] = (tally.early + tally.overflow, tally.arrivals);
        self.oldest = (self.oldest + 1) % self.past.len();
        let (drops, arrivals) = self.past.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if arrivals > 0.0 {
            self.lred.measure(self.weight * self.lred.loss_ratio() + (1.0 - self.weight) * drops / arrivals);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Raqm {
    pub(super) params: raqm::Params,
    pub(super) aggregate: Aggregate,
    /// The link's rate, packets per second.
    pub(super) c: f64,
}

impl Raqm {
    pub(super) fn update(&mut self, tally: &Tally) {
        let shed = tally.early - tally.marks;
        let (counted, counted_shed) = match self.params.counts {
            Counts::All => (tally.arrivals, shed),
            Counts::Unshed => (tally.arrivals - shed, 0.0),
            Counts::Accepted => (tally.arrivals - shed - tally.overflow, 0.0),
        };
        // Early drops and marks are the applied probability's share of the arrivals.
        let mean = (tally.arrivals > 0.0).then(|| tally.early / tally.arrivals);
        self.aggregate.step(&self.params, counted, counted_shed, mean);
    }
}
