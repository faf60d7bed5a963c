//! Packets lost at random: each for itself, or in bursts.

use crate::engine::rng::Stream;
use aqm::Uniform as _;
use scenario::model::Loss;

/// The process by which a link loses packets at random.
#[derive(Debug)]
pub(crate) struct RandomLoss {
    loss: Loss,
    bad: bool,
    rng: Stream,
    /// Packets lost since the start.
    pub(crate) losses: u64,
}

impl RandomLoss {
    pub(crate) const fn new(loss: Loss, rng: Stream) -> Self {
        Self { loss, bad: false, rng, losses: 0 }
    }

    /// Loses packets in another way from now on.
    pub(crate) fn change(&mut self, loss: Loss) {
        self.loss = loss;
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        let lost = match &self.loss {
            Loss::Bernoulli(p) => self.rng.uniform() < *p,
            Loss::Gilbert(chain) => {
                let (loss, leave) = match self.bad {
                    true => (chain.loss_bad, chain.bad_to_good),
                    false => (chain.loss_good, chain.good_to_bad),
                };
                let lost = self.rng.uniform() < loss;
                self.bad ^= self.rng.uniform() < leave;
                lost
            }
        };
        self.losses += u64::from(lost);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Gilbert;

    /// Losses among a million packets, and the runs that they form.
    fn tried(loss: Loss) -> (f64, f64) {
        let mut random_loss = RandomLoss::new(loss, Stream::new(1, "test"));
        let (mut runs, mut before) = (0u32, false);
        for _ in 0..1_000_000 {
            let lost = random_loss.loses();
            runs += u32::from(lost && !before);
            before = lost;
        }
        (random_loss.losses as f64 / 1e6, random_loss.losses as f64 / f64::from(runs))
    }

    #[test]
    fn independent_losses_have_their_ratio_and_no_memory() {
        // Standard deviation of the ratio 0.0003; runs last 1/(1 - p).
        let (ratio, run) = tried(Loss::Bernoulli(0.1));
        assert!((ratio - 0.1).abs() < 0.0015, "{ratio}");
        assert!((run - 1.0 / 0.9).abs() < 0.01, "{run}");
        assert_eq!(tried(Loss::Bernoulli(0.0)).0, 0.0);
    }

    #[test]
    fn losses_of_a_chain_come_in_bursts() {
        // All of the bad state is lost: bursts of 1/0.25 = 4, with 0.01/(0.01 + 0.25) of the packets.
        let gilbert = Gilbert { good_to_bad: 0.01, bad_to_good: 0.25, ..Gilbert::default() };
        let expected = Loss::Gilbert(gilbert.clone()).ratio();
        let (ratio, run) = tried(Loss::Gilbert(gilbert));
        assert!((expected - 0.01 / 0.26).abs() < 1e-12);
        assert!((ratio / expected - 1.0).abs() < 0.03, "{ratio}");
        assert!((run - 4.0).abs() < 0.15, "{run}");
    }
}
