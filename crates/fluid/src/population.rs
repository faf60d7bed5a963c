//! How many flows there are, in the mean.

use aqm::unit::Span;
use scenario::Distribution;

/// The number of flows of a class over time.
#[derive(Clone, Debug)]
pub enum Population {
    /// They start one after the other between two times, evenly, and end together.
    Lasting {
        /// How many in the end.
        count: f64,
        /// When the first starts and when the last has started, s.
        start: [f64; 2],
        /// When all stop, s.
        stop: f64,
    },
    /// They arrive at a rate, and each stays for a time of its own.
    Passing {
        /// How many arrive a second.
        rate: f64,
        /// From when to when they arrive, s.
        arrive: [f64; 2],
        /// How long each stays.
        stay: Distribution<Span>,
    },
}

impl Population {
    /// The number of flows at `t`, and the number that join per second.
    #[must_use]
    pub fn at(&self, t: f64) -> (f64, f64) {
        match self {
            Self::Lasting { count, start: [first, last], stop } => {
                if t < *first || t >= *stop {
                    (0.0, 0.0)
                } else if t >= *last {
                    (*count, 0.0)
                } else {
                    let rate = count / (last - first);
                    (rate * (t - first), rate)
                }
            }
            Self::Passing { rate, arrive: [from, to], stay } => {
                let present = rate * (still_there(stay, t - from) - still_there(stay, t - to));
                (present.max(0.0), if (*from..*to).contains(&t) { *rate } else { 0.0 })
            }
        }
    }

    /// When it changes its course, s.
    #[must_use]
    pub fn turns(&self) -> Vec<f64> {
        match self {
            Self::Lasting { start: [first, last], stop, .. } => vec![*first, *last, *stop],
            Self::Passing { arrive: [from, to], stay, .. } => {
                let bounds = [stay.least().secs()].into_iter().chain(stay.greatest().map(Span::secs));
                [*from, *to].into_iter().chain(bounds.flat_map(|stay| [from + stay, to + stay])).collect()
            }
        }
    }
}

/// The mean number of those still there when one a second has arrived for `t` seconds: the integral over 0 to t of the
/// probability to stay longer (the queue M/G/infinity).
fn still_there(stay: &Distribution<Span>, t: f64) -> f64 {
    let t = t.max(0.0);
    match *stay {
        Distribution::Fixed(stay) => t.min(stay.secs()),
        Distribution::Uniform(low, high) => {
            let (low, high) = (low.secs(), high.secs());
            if t <= low {
                t
            } else if t >= high {
                f64::midpoint(low, high)
            } else {
                let over = t - low;
                low + over - over * over / (2.0 * (high - low))
            }
        }
        Distribution::Exponential(mean) => -mean.secs() * libm::expm1(-t / mean.secs()),
        Distribution::Pareto(mean, shape) => {
            let least = mean.secs() * (shape - 1.0) / shape;
            if t <= least {
                t
            } else {
                least + least / (shape - 1.0) * (1.0 - libm::pow(t / least, 1.0 - shape))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_start_one_after_the_other_and_end_together() {
        let flows = Population::Lasting { count: 10.0, start: [1.0, 3.0], stop: 8.0 };
        let at = |t| flows.at(t);
        assert_eq!((at(0.9), at(2.0), at(3.0), at(8.0)), ((0.0, 0.0), (5.0, 5.0), (10.0, 0.0), (0.0, 0.0)));
        let at_once = Population::Lasting { count: 10.0, start: [1.0, 1.0], stop: 8.0 };
        assert_eq!((at_once.at(0.99), at_once.at(1.0)), ((0.0, 0.0), (10.0, 0.0)));
    }

    #[test]
    fn those_who_pass_are_as_many_as_arrive_in_a_mean_stay() {
        let distributions = [
            (Distribution::Fixed(Span::ms(1500)), 1.5),
            (Distribution::Uniform(Span::s(1), Span::s(2)), 1.5),
            (Distribution::Exponential(Span::s(2)), 2.0),
            (Distribution::Pareto(Span::s(2), 3.0), 2.0),
        ];
        for (stay, mean) in distributions {
            let flows = Population::Passing { rate: 30.0, arrive: [50.0, 1e6], stay };
            assert_eq!(flows.at(49.0), (0.0, 0.0));
            let (present, joining) = flows.at(9e5);
            assert!((present - 30.0 * mean).abs() < 1e-6, "{stay}: {present}");
            assert_eq!(joining, 30.0);
            assert!(flows.at(2e6).0 < 1e-6);
            // The derivative of the number present is what joins, less what leaves: at first nothing leaves.
            assert!((flows.at(50.001).0 - 0.03).abs() < 1e-4);
        }
    }
}
