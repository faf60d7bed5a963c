//! The delays of the packets of a link whose delay varies: with time, at random, or for some packets not at all.
//!
//! A packet's delay begins where its transmission ends. It is the delay of that time, plus the jitter that is drawn for the
//! packet; one that is hurried has none. Packets that come to the other end at one time keep their order.
//!
//! # Departures from the source
//! * Correlated draws keep their law: they are correlated on the scale of the normal distribution. netem averages a
//!   draw with the one before, which narrows the law and changes probabilities.
//! * Unless a link is `overtaking`, its packets keep their order, as those of a path with queues do: one that would
//!   arrive before its predecessor arrives together with it.
//! * A copy is made at the end of the transmission, so that it is neither lost at random nor takes time to send.
//!
//! # Sources
//! Linux, net/sched/sch_netem.c: `netem_enqueue`, `tabledist`, `get_crandom`, `tfifo_enqueue`.

use crate::engine::clock::{Clock, ClockArithmetic as _, SimTime};
use crate::engine::rng::Stream;
use aqm::Uniform as _;
use aqm::unit::{Span, Time};
use scenario::model::{self, EcnPath, Jitter, Law, Reorder, Variation};
use std::f64::consts::SQRT_2;

/// Random numbers that are correlated with those before.
#[derive(Debug)]
struct Correlated {
    rng: Stream,
    correlation: f64,
    /// The last one, on the scale of the normal distribution.
    last: Option<f64>,
}

impl Correlated {
    const fn new(rng: Stream, correlation: f64) -> Self {
        Self { rng, correlation, last: None }
    }

    /// The next one, of the standard normal distribution.
    fn gaussian(&mut self) -> f64 {
        let ((own, _), c) = (self.rng.gaussians(), self.correlation);
        let z = self.last.map_or(own, |last| c * last + (1.0 - c * c).sqrt() * own);
        self.last = Some(z);
        z
    }

    /// The next one, from 0 to less than 1.
    fn uniform(&mut self) -> f64 {
        if self.correlation == 0.0 {
            return self.rng.uniform();
        }
        let u = 0.5 * libm::erfc(-self.gaussian() / SQRT_2);
        u.min(1.0 - f64::EPSILON)
    }
}

/// The draws for each packet of a link whose delay varies, and the times at which the packets arrive.
#[derive(Debug)]
pub(crate) struct Wander {
    own: Span,
    variation: Variation,
    jitter: Option<(Jitter, Correlated)>,
    reorder: Option<(Reorder, Correlated)>,
    /// Packets since the last one that was hurried.
    delayed: u32,
    duplicate: Option<Stream>,
    /// Whether marks are erased on the link.
    pub(crate) unmarks: bool,
    /// The latest arrival of those that keep their order.
    last: SimTime,
    /// Packets that arrive twice.
    pub(crate) copies: u64,
}

impl Wander {
    /// That of a link with the delay `own` in the run with this seed, if its delay varies.
    pub(crate) fn of(link: &model::Link, own: Span, seed: u64) -> Option<Box<Self>> {
        let variation = link.variation.as_deref()?.clone();
        let stream = |what: &str| Stream::new(seed, &format!("link.{}.{what}", link.name));
        let jitter = variation.jitter.clone().map(|jitter| {
            let draws = Correlated::new(stream("jitter"), jitter.correlation);
            (jitter, draws)
        });
        let reorder = variation.reorder.clone().map(|reorder| {
            let draws = Correlated::new(stream("reorder"), reorder.correlation);
            (reorder, draws)
        });
        Some(Box::new(Self {
            own,
            jitter,
            reorder,
            delayed: 0,
            duplicate: (variation.duplicate > 0.0).then(|| stream("duplicate")),
            unmarks: link.ecn_path == EcnPath::ClearMarks,
            last: SimTime::ZERO,
            copies: 0,
            variation,
        }))
    }

    /// The delay at `now` without jitter.
    pub(crate) fn delay_at(&self, now: Time) -> Span {
        self.variation.delay_at(now - Time::ZERO, self.own)
    }

    /// Whether the next packet arrives twice.
    pub(crate) fn copies_next(&mut self) -> bool {
        let copies = self.duplicate.as_mut().is_some_and(|rng| rng.uniform() < self.variation.duplicate);
        self.copies += u64::from(copies);
        copies
    }

    /// When the next packet, whose transmission ends at `sent`, is at the other end.
    pub(crate) fn arrival(&mut self, clock: Clock, sent: SimTime) -> SimTime {
        if self.hurries() {
            return sent;
        }
        let now = clock.time(sent);
        let delay = self.delay_at(now);
        let delay = match &mut self.jitter {
            None => delay,
            Some((jitter, draws)) => {
                let deviations = deviations(jitter.law, draws, &self.variation.table);
                Span::from_secs(delay.secs() + jitter.deviation.secs() * deviations)
            }
        };
        let at = clock.after(sent, clock.sim_span(delay));
        if self.variation.overtaking {
            return at;
        }
        self.last = self.last.max(at);
        self.last
    }

    /// Whether the next packet is hurried.
    fn hurries(&mut self) -> bool {
        let Some((reorder, draws)) = &mut self.reorder else { return false };
        let hurries = self.delayed + 1 >= reorder.gap && draws.uniform() < reorder.probability;
        self.delayed = if hurries { 0 } else { self.delayed.saturating_add(1) };
        hurries
    }
}

/// A value of a law, in deviations.
fn deviations(law: Law, draws: &mut Correlated, table: &[f64]) -> f64 {
    match law {
        Law::Uniform => 2.0 * draws.uniform() - 1.0,
        Law::Normal => draws.gaussian(),
        // Of shape 3 and least value 1: the mean is 3/2, the variance 3/4.
        Law::Pareto => (1.0 / libm::cbrt(1.0 - draws.uniform()) - 1.5) / 0.75f64.sqrt(),
        Law::Table => table[(draws.uniform() * table.len() as f64) as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wander over 10 ms with this variation, of a link called `x`.
    fn wander(variation: &Variation) -> Wander {
        let text = "observe = \"x\"\n[[link]]\nname = \"x\"\nfrom = \"a\"\nto = \"b\"\n[[traffic]]\nfrom = \"a\"\nto = \"b\"\n";
        let mut link = scenario::Document::parse(text, "test").unwrap().check().unwrap().links.remove(0);
        link.variation = Some(Box::new(variation.clone()));
        *Wander::of(&link, Span::ms(10), 1).unwrap()
    }

    /// The delays in ms of `count` packets, `spacing` apart.
    fn delays(variation: &Variation, count: u64, spacing: Span) -> Vec<f64> {
        let mut wander = wander(variation);
        let each = (0..count).map(|i| {
            let sent = Time::ZERO + spacing * i;
            let at = Clock::Integer.time(wander.arrival(Clock::Integer, Clock::Integer.sim_time(sent)));
            (at - sent).secs() * 1e3
        });
        each.collect()
    }

    fn with_jitter(law: Law, correlation: f64) -> Variation {
        let jitter = Jitter { law, deviation: Span::ms(2), correlation, ..Jitter::default() };
        Variation {
            jitter: Some(jitter),
            table: vec![-1.0, 0.0, 0.0, 1.0],
            overtaking: true,
            ..Variation::default()
        }
    }

    /// The mean, the standard deviation, and the correlation of neighbours.
    fn moments(values: &[f64]) -> (f64, f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let pairs =
            values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / (n - 1.0);
        (mean, variance.sqrt(), pairs / variance)
    }

    #[test]
    fn each_law_has_its_mean_and_deviation_and_correlation_leaves_both() {
        // 2 ms is the standard deviation, and that of the uniform law sqrt(3) times less, of this table sqrt(2) times. The
        // pareto law has no fourth moment: a sample's deviation is known badly.
        for (law, deviation, slack) in [
            (Law::Uniform, 2.0 / 3f64.sqrt(), 0.01),
            (Law::Normal, 2.0, 0.01),
            (Law::Pareto, 2.0, 0.15),
            (Law::Table, 2f64.sqrt(), 0.01),
        ] {
            let (mean, found, lag) = moments(&delays(&with_jitter(law, 0.0), 400_000, Span::ms(100)));
            assert!((mean - 10.0).abs() < 0.02, "{law:?}: {mean}");
            assert!((found / deviation - 1.0).abs() < slack, "{law:?}: {found}");
            assert!(lag.abs() < 0.01, "{law:?}: {lag}");
            let (mean, found, lag) = moments(&delays(&with_jitter(law, 0.8), 400_000, Span::ms(100)));
            assert!((mean - 10.0).abs() < 0.05, "{law:?}: {mean}");
            assert!((found / deviation - 1.0).abs() < 2.0 * slack, "{law:?}: {found}");
            assert!(lag > 0.5 && lag < 0.82, "{law:?}: {lag}");
        }
    }

    #[test]
    fn packets_keep_their_order_unless_they_may_overtake() {
        let order = |variation: &Variation| {
            let delays = delays(variation, 10_000, Span::us(500));
            let at: Vec<f64> = (0..).zip(&delays).map(|(i, delay)| f64::from(i) * 0.5 + delay).collect();
            at.windows(2).filter(|pair| pair[1] < pair[0] - 1e-6).count()
        };
        let free = with_jitter(Law::Normal, 0.0);
        // A difference of two has the deviation sqrt(8) ms: P(Z < -0.5 / sqrt(8)) = 0.43.
        assert!((4000..4600).contains(&order(&free)), "{}", order(&free));
        assert_eq!(order(&Variation { overtaking: false, ..free }), 0);
    }

    #[test]
    fn of_each_gap_one_packet_may_be_hurried_at_once() {
        let reorder = |probability, gap, correlation| Variation {
            reorder: Some(Reorder { probability, gap, correlation }),
            ..Variation::default()
        };
        let hurried = |variation: &Variation| -> Vec<bool> {
            delays(variation, 100_000, Span::ms(1)).iter().map(|&ms| ms == 0.0).collect()
        };
        let fifth = hurried(&reorder(1.0, 5, 0.0));
        assert!(fifth.iter().enumerate().all(|(i, &hurried)| hurried == (i % 5 == 4)));
        let share = |hurried: &[bool]| hurried.iter().filter(|&&hurried| hurried).count() as f64 / 1e5;
        let some = hurried(&reorder(0.25, 1, 0.0));
        assert!((share(&some) - 0.25).abs() < 0.005, "{}", share(&some));
        // After 4 delayed packets it takes 1 / 0.25 tries.
        let rarer = hurried(&reorder(0.25, 5, 0.0));
        assert!((share(&rarer) - 1.0 / 8.0).abs() < 0.003, "{}", share(&rarer));
        let correlated = hurried(&reorder(0.25, 1, 0.9));
        assert!((share(&correlated) - 0.25).abs() < 0.02, "{}", share(&correlated));
        let twice =
            |hurried: &[bool]| hurried.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / 1e5;
        assert!(twice(&some) < 0.07 && twice(&correlated) > 0.15, "{} {}", twice(&some), twice(&correlated));
    }
}
