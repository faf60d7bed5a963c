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

    /// The next one, between 0 and 1, neither of which it is.
    fn next(&mut self) -> f64 {
        // In the middle of its 2^-53.
        let u = self.rng.uniform() + 0.5 / (1u64 << 53) as f64;
        if self.correlation == 0.0 {
            return u;
        }
        let (own, c) = (normal(u), self.correlation);
        let z = self.last.map_or(own, |last| c * last + (1.0 - c * c).sqrt() * own);
        self.last = Some(z);
        0.5 * libm::erfc(-z / SQRT_2)
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
                let deviations = deviations(jitter.law, draws.next(), &self.variation.table);
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
        let hurries = self.delayed + 1 >= reorder.gap && draws.next() < reorder.probability;
        self.delayed = if hurries { 0 } else { self.delayed.saturating_add(1) };
        hurries
    }
}

/// The value of a law, in deviations, below which it stays with probability `u`.
fn deviations(law: Law, u: f64, table: &[f64]) -> f64 {
    match law {
        Law::Uniform => 2.0 * u - 1.0,
        Law::Normal => normal(u),
        // Of shape 3 and least value 1: the mean is 3/2, the variance 3/4.
        Law::Pareto => (1.0 / libm::cbrt(1.0 - u) - 1.5) / 0.75f64.sqrt(),
        Law::Table => table[(u * table.len() as f64) as usize],
    }
}

/// The value below which the standard normal distribution stays with probability `u` (Wichura, algorithm AS 241, 1988), to
/// 16 digits.
fn normal(u: f64) -> f64 {
    const CENTRE: [[f64; 8]; 2] = [
        [
            3.387_132_872_796_366_5,
            1.331_416_678_917_843_8e2,
            1.971_590_950_306_551_3e3,
            1.373_169_376_550_946e4,
            4.592_195_393_154_987e4,
            6.726_577_092_700_87e4,
            3.343_057_558_358_813e4,
            2.509_080_928_730_122_7e3,
        ],
        [
            1.0,
            4.231_333_070_160_091e1,
            6.871_870_074_920_579e2,
            5.394_196_021_424_751e3,
            2.121_379_430_158_659_7e4,
            3.930_789_580_009_271e4,
            2.872_908_573_572_194_3e4,
            5.226_495_278_852_545e3,
        ],
    ];
    const MIDDLE: [[f64; 8]; 2] = [
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            2.417_807_251_774_506e-1,
            2.272_384_498_926_918_4e-2,
            7.745_450_142_783_414e-4,
        ],
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            6.897_673_349_851e-1,
            1.481_039_764_274_800_8e-1,
            1.519_866_656_361_645_7e-2,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    ];
    const TAILS: [[f64; 8]; 2] = [
        [
            6.657_904_643_501_103,
            5.463_784_911_164_114,
            1.784_826_539_917_291_3,
            2.965_605_718_285_048_7e-1,
            2.653_218_952_657_612_4e-2,
            1.242_660_947_388_078_4e-3,
            2.711_555_568_743_487_6e-5,
            2.010_334_399_292_288_1e-7,
        ],
        [
            1.0,
            5.998_322_065_558_88e-1,
            1.369_298_809_227_358e-1,
            1.487_536_129_085_061_5e-2,
            7.868_691_311_456_133e-4,
            1.846_318_317_510_054_8e-5,
            1.421_511_758_316_446e-7,
            2.044_263_103_389_939_8e-15,
        ],
    ];
    let ratio = |[above, below]: &[[f64; 8]; 2], x: f64| {
        let sum = |terms: &[f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
        sum(above) / sum(below)
    };
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&CENTRE, 0.180_625 - q * q);
    }
    let r = (-libm::log(u.min(1.0 - u))).sqrt();
    let z = if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&TAILS, r - 5.0) };
    z.copysign(q)
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
    fn the_normal_quantile_has_the_values_of_tables() {
        for (u, z) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (1e-3, -3.090_232_306_167_813_5),
            (1e-15, -7.941_345_326_170_997),
        ] {
            assert!((normal(u) - z).abs() < 1e-13, "{u}: {}", normal(u));
            assert!((0.5 * libm::erfc(-normal(u) / SQRT_2) / u - 1.0).abs() < 1e-12, "{u}");
        }
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
