//! JoBS against a plain transcription of ns-2's program: packet for packet, rate for rate.

#[path = "reference/jobs.rs"]
mod jobs;

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::queue::Frame;
use aqm::{AnyParams, Limit, Outcome, Packet, Port, Queue, Span, Time, Uniform};
use jobs::{Jobs, Settings};

const NONE: f64 = -1.0;

/// The bounds of four classes, in ns-2's units; -1 for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    adc: [f64; 4],
    arc: [f64; 4],
    alc: [f64; 4],
    rdc: [f64; 4],
    rlc: [f64; 4],
    /// The share of each class in the traffic.
    pub(crate) mix: [f64; 4],
}

const FREE: [f64; 4] = [NONE; 4];
const EVEN: [f64; 4] = [0.25; 4];
/// Loss bounds that no whole numbers of bits meet exactly; otherwise rounding would decide.
pub(crate) const BOUNDS: [Bounds; 7] = [
    Bounds { adc: FREE, arc: FREE, alc: FREE, rdc: FREE, rlc: FREE, mix: EVEN },
    Bounds { adc: FREE, arc: FREE, alc: FREE, rdc: [3.0; 4], rlc: [1.7; 4], mix: [0.1, 0.2, 0.3, 0.4] },
    Bounds {
        adc: [0.003, NONE, NONE, NONE],
        arc: FREE,
        alc: [0.010_07, NONE, NONE, NONE],
        rdc: [NONE, 4.1, 4.1, 4.1],
        rlc: [NONE, 2.3, 2.3, 2.3],
        mix: EVEN,
    },
    Bounds { adc: FREE, arc: [4e6, 3e6, 2e6, 1e6], alc: FREE, rdc: FREE, rlc: FREE, mix: EVEN },
    // More than the link can provide: relaxed.
    Bounds {
        adc: [0.002, 0.004, 0.05, NONE],
        arc: [5e6, NONE, 3e6, 4e6],
        alc: [0.300_17, 0.020_03, NONE, 0.010_07],
        rdc: [2.1, 3.3, 1.9, 1.0],
        rlc: [2.3, NONE, 1.3, 1.0],
        mix: [0.4, 0.3, 0.2, 0.1],
    },
    Bounds {
        adc: [0.004, 0.006, NONE, NONE],
        arc: [NONE, NONE, 2e6, NONE],
        alc: [0.050_03, 0.200_11, 0.100_13, 0.300_17],
        rdc: [NONE, NONE, 2.1, 2.1],
        rlc: FREE,
        mix: [0.35, 0.35, 0.2, 0.1],
    },
    Bounds {
        adc: [0.001, NONE, 0.003, NONE],
        arc: FREE,
        alc: FREE,
        rdc: [1.5, 1.5, NONE, 1.5],
        rlc: [1.3, 1.3, 1.3, NONE],
        mix: EVEN,
    },
];

/// A packet that knows the number of its arrival.
#[derive(Clone, Copy, Debug)]
struct Numbered(Packet, u64);

impl Frame for Numbered {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {
        panic!("JoBS marks nothing");
    }
    fn row(&self) -> usize {
        usize::from(self.0.class) - 1
    }
}

/// A list parameter, with "auto" where there is no bound.
fn list(bounds: [f64; 4], write: impl Fn(f64) -> Value) -> Value {
    let one = |x| if x == NONE { Value::Text("auto".to_owned()) } else { write(x) };
    Value::List(bounds.into_iter().map(one).collect())
}

fn from_one(bounds: [f64; 4]) -> [f64; 5] {
    std::array::from_fn(|i| if i == 0 { NONE } else { bounds[i - 1] })
}

#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) early: u64,
    pub(crate) overflow: u64,
    pub(crate) idle: u64,
    pub(crate) several: u64,
}

/// The rules in another form.
pub(crate) trait Rules {
    const ARRIVALS: u64 = 24_000;
    const SIZES: [u32; 5] = [250, 500, 500, 700, 1000];

    fn limit(&self) -> Limit {
        Limit::Packets(60)
    }
    /// The numbers of the packets that are dropped, that of the arrival last.
    fn arrival(&mut self, now: Time, packet: &Packet, number: u64) -> Vec<u64>;
    /// The number of the packet that leaves.
    fn departure(&mut self, now: Time) -> Option<u64>;
    /// The rate of a class, or after those, its loss.
    fn signal(&self, i: usize) -> f64;
}

impl Rules for Jobs {
    fn arrival(&mut self, now: Time, packet: &Packet, number: u64) -> Vec<u64> {
        let mut dropped = self.enque(now.secs(), packet.class.into(), packet.size, number);
        // A dropped arrival is listed last, whatever its position.
        dropped.sort_by_key(|dropped| *dropped == number);
        dropped
    }
    fn departure(&mut self, now: Time) -> Option<u64> {
        self.deque(now.secs())
    }
    fn signal(&self, i: usize) -> f64 {
        if i < 4 { self.service_rate[i + 1] } else { self.current_loss[i - 3] }
    }
}

/// JoBS with these bounds and switches.
pub(crate) fn params(bounds: &Bounds, sampling: u32, ns2: bool, front: bool, shared: bool) -> AnyParams {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut params = AnyParams::of("jobs").unwrap();
    for (key, value) in [
        ("delay", list(bounds.adc, |x| Value::Text(format!("{x} s")))),
        ("rate", list(bounds.arc, |x| Value::Text(format!("{x} bit/s")))),
        ("loss", list(bounds.alc, Value::Float)),
        ("relative_delay", list(bounds.rdc, Value::Float)),
        ("relative_loss", list(bounds.rlc, Value::Float)),
        ("sampling", Value::Integer(i64::from(sampling))),
        ("form", text(if ns2 { "ns2" } else { "paper" })),
        ("drop_front", Value::Bool(front)),
        ("relief", text(if shared { "shared" } else { "own" })),
    ] {
        params.set(key, &value).unwrap_or_else(|e| panic!("{e}"));
    }
    params.check().unwrap();
    params
}

/// Runs both on the same arrivals and the same link; asserts that they drop and send the same packets, and that rates
/// and losses are equal after each arrival.
pub(crate) fn compare<R: Rules>(what: &str, params: &AnyParams, mix: [f64; 4], mut rules: R) -> Tally {
    let port = Port { limit: rules.limit(), ..PORT };
    let mut queue = Queue::new(params.build(&port), &port, &[1, 2, 3, 4]);
    let mut random = Random(7);
    let mut unused = Random(0);
    let mut tally = Tally::default();
    let (mut next_arrival, mut link_free) = (Time::from_nanos(1_000_000), Time::MAX);
    let (mut number, mut load) = (0, 1.0);
    while number < R::ARRIVALS {
        let now = next_arrival.min(link_free);
        if now == next_arrival {
            if number % 2000 == 0 {
                load = [0.7, 1.1, 1.6, 0.3, 1.05, 1.2][(number / 2000) as usize % 6];
            }
            let (mut class, mut u) = (1, random.uniform());
            while class < 4 && u >= mix[class - 1] {
                u -= mix[class - 1];
                class += 1;
            }
            let size = R::SIZES[(random.bits() % 5) as usize];
            let packet = Packet { class: class as u8, ..Packet::new(size, false) };
            let mut dropped = vec![];
            let (outcome, _) = queue
                .enqueue_or(now, Numbered(packet, number), &mut unused, |sent, _| dropped.push(sent.frame.1));
            if !matches!(outcome, Outcome::Queued) {
                dropped.push(number);
            }
            let expected = rules.arrival(now, &packet, number);
            assert_eq!(dropped, expected, "{what}: drops at arrival {number} at {now:?}");
            tally.several += u64::from(dropped.len() > 1);
            queue.algorithm().signals(|i, value| {
                let (expected, scale) = (rules.signal(i), if i < 4 { 1e7 } else { 1.0 });
                let close = (value - expected).abs() <= 1e-6 * expected.abs().max(scale);
                assert!(close, "{what}: signal {i} is {value}, not {expected}, at arrival {number}");
            });
            number += 1;
            let mean_size = f64::from(R::SIZES.iter().sum::<u32>()) / 5.0;
            next_arrival += Span::from_secs(-(1.0 - random.uniform()).ln() * mean_size * 8.0 / 1e7 / load);
            if link_free != Time::MAX {
                continue;
            }
        }
        let sent = queue.dequeue(now, &mut unused);
        let expected = rules.departure(now);
        assert_eq!(sent.as_ref().map(|sent| sent.frame.1), expected, "{what}: departure at {now:?}");
        link_free = sent.map_or(Time::MAX, |sent| now + PORT.rate.transmission(sent.frame.0.size));
        tally.idle += u64::from(link_free == Time::MAX);
    }
    for counts in queue.counts() {
        tally.early += counts.drops_early;
        tally.overflow += counts.drops_overflow;
    }
    tally
}

#[test]
fn jobs_equals_ns2_with_its_deviations_and_without() {
    let mut several = 0;
    for (i, bounds) in BOUNDS.iter().enumerate() {
        let bounded = bounds.adc.iter().any(|adc| *adc != NONE);
        for switches in 0..8 {
            let [ns2, front, shared] = [1, 2, 4].map(|bit| switches & bit != 0);
            for sampling in if switches == 1 { vec![1, 10] } else { vec![1] } {
                let jobs = Jobs::new(Settings {
                    meant: !ns2,
                    drop_front: front,
                    shared_pain: shared,
                    bandwidth: 1e7,
                    qlim: 60,
                    sampling_period: sampling,
                    mean_pkt_size: 4000.0,
                    rdc: from_one(bounds.rdc),
                    rlc: from_one(bounds.rlc),
                    adc: from_one(bounds.adc),
                    alc: from_one(bounds.alc),
                    arc: from_one(bounds.arc),
                });
                let params = params(bounds, sampling, ns2, front, shared);
                let tally = compare(&format!("{params:?}"), &params, bounds.mix, jobs);
                let drops = tally.early + tally.overflow;
                assert!(tally.idle > 300 && drops > 1000, "the traffic tested nothing: {i} {tally:?}");
                assert_eq!(tally.early > 30, bounded, "{i} {tally:?}");
                several += tally.several;
            }
        }
    }
    assert!(several > 1000, "{several} arrivals made several packets leave");
}
