//! Remarks on a run: reasons why its means may differ from the results of packets.

use crate::engine::Fluid;
use crate::population::Population;
use aqm::aqm::AnyParams;

/// Below this mean window a flow is ruled by single packets and time-outs.
const SMALL: f64 = 4.0;
/// The standard deviation of a sawtooth between two thirds and four thirds of its mean, over the mean.
const SAWTOOTH: f64 = 0.19;
/// A queue of fewer of its own standard deviations is often empty.
const SHORT: f64 = 3.0;
/// The share of the time, and of the losses, from which a remark is made.
const NOTED: [f64; 2] = [0.02, 0.1];

impl Fluid {
    /// The reasons why this run, which is over, may differ much from a run of packets; empty if none are known.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let measure = self.measure();
        let (sums, then) = (measure.sums(self.state()), &measure.at_warmup);
        let (lost, overflow) = (sums.lost() - then.lost(), sums.overflow - then.overflow);
        if self.model().classes.is_empty() || lost < 1.0 {
            return Vec::new();
        }
        let mut remarks = Vec::new();
        if let AnyParams::Blue(_) = &self.model().aqm {
            remarks.push(
                "the random variation that fills and empties the queue, which alone changes BLUE's p"
                    .to_owned(),
            );
        }
        let general = &self.model().scenario.general;
        let empty = measure.empty / (general.duration.secs() - general.warmup.secs());
        if empty > NOTED[0] {
            remarks.push(format!(
                "the randomness that desynchronises flows: the queue is empty for {:.0} % of the time here, and for less \
                 with packets",
                100.0 * empty
            ));
        }
        if overflow > NOTED[1] * lost {
            remarks.push(format!(
                "the random choice of the flows that a full buffer hits, {:.0} % of the losses here: with packets there are \
                 more losses, and the buffer is fuller",
                100.0 * overflow / lost
            ));
        }
        let (mut flows, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (class, window) in self.model().classes.iter().zip(self.windows()) {
            if let Population::Lasting { count, .. } = class.flows {
                flows += count;
                sum += count * window;
                squares += count * window * window;
            }
        }
        if flows > 0.0 && sum < SMALL * flows {
            remarks.push(format!(
                "the behaviour of windows as small as {:.1} packets (the equations hold above about {SMALL})",
                sum / flows
            ));
        }
        let (queue, swing) = (measure.queue.mean().unwrap_or(0.0), SAWTOOTH * squares.sqrt());
        if empty <= NOTED[0] && queue < SHORT * swing {
            remarks.push(format!(
                "the random variation of a short queue: its mean is {queue:.0} packets, and windows alone vary it by about \
                 {swing:.0}, so with packets the link is sometimes idle and more packets are lost"
            ));
        }
        remarks
    }
}
