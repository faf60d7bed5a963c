//! RED+Tail against a plain transcription of the paper's rules: the queue and fate of every arrival, and the order in
//! which packets leave.

#[path = "reference/redtail.rs"]
mod reference;

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::queue::Frame;
use aqm::{AnyParams, Limit, Outcome, Packet, Port, Queue, Rate, Span, Time, Uniform};
use reference::{Fate, Prediction, RedTail};
use std::collections::{HashMap, VecDeque};

/// The link's rate in bytes per second.
const C: f64 = 1e6;

#[derive(Clone, Copy)]
struct Numbered(Packet);

impl Frame for Numbered {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        0
    }
}

/// The draw for one decision.
struct Draw(f64);

impl Uniform for Draw {
    fn uniform(&mut self) -> f64 {
        self.0
    }
}

#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) queued: [u32; 2],
    pub(crate) early: u32,
    pub(crate) overflows: [u32; 2],
    /// Departures while both queues waited.
    pub(crate) contested: [u32; 2],
    pub(crate) idle: u32,
}

/// Some flows send often, most seldom; a twentieth of the packets are UDP.
fn traffic(random: &mut Random) -> Packet {
    let often = random.uniform() < 0.6;
    let connection = random.bits() % if often { 6 } else { 600 };
    let udp = random.uniform() < 0.05;
    let size = 41 + (random.bits() % 1460) as u32;
    Packet {
        flow: connection << 1 | u64::from(udp),
        pair: connection as u32 / 2,
        udp,
        ..Packet::new(size, false)
    }
}

/// The rules in another form. Times are in seconds; `u` is the draw.
pub(crate) trait Rules {
    const ARRIVALS: u64 = 60_000;

    /// Bytes that may wait.
    fn buffer(&self) -> u64;
    fn arrival(&mut self, now: f64, number: u64, packet: &Packet, u: f64) -> (usize, Fate);
    /// The lane, number and size of the packet that leaves.
    fn departure(&mut self, now: f64) -> Option<(usize, u64, u32)>;
    fn timer(&mut self, now: f64);
}

impl Rules for RedTail {
    fn buffer(&self) -> u64 {
        self.buffer as u64
    }
    fn arrival(&mut self, now: f64, number: u64, packet: &Packet, u: f64) -> (usize, Fate) {
        self.arrival(now, number, packet, u)
    }
    fn departure(&mut self, now: f64) -> Option<(usize, u64, u32)> {
        self.departure(now)
    }
    fn timer(&mut self, now: f64) {
        self.timer(now);
    }
}

/// A link of 8 Mbit/s, which sends a byte in a microsecond, behind this buffer in bytes.
pub(crate) fn port(buffer: u64) -> Port {
    Port { rate: Rate::mbit_per_s(8), limit: Limit::Bytes(buffer), ..PORT }
}

pub(crate) fn compare<R: Rules>(params: &AnyParams, mut reference: R) -> Tally {
    let port = port(reference.buffer());
    let mut queue = Queue::new(params.build(&port), &port, &[1]);
    let mut random = Random(7);
    let mut tally = Tally::default();
    let (mut next_arrival, mut free) = (Time::ZERO, Time::MAX);
    let mut next_timer = queue.period().map_or(Time::MAX, |period| Time::ZERO + period);
    let (mut arrivals, mut load) = (0, 1.0);
    while arrivals < R::ARRIVALS {
        let now = next_arrival.min(free).min(next_timer);
        if now == next_timer {
            queue.on_period(now);
            reference.timer(now.secs());
            next_timer += queue.period().expect("a timer");
            continue;
        }
        if now == next_arrival {
            if arrivals % 2000 == 0 {
                load = [0.7, 1.2, 1.7, 0.4, 1.05][(arrivals / 2000) as usize % 5];
            }
            let (packet, u) = (traffic(&mut random), random.uniform());
            let (outcome, lane) =
                queue.enqueue_or(now, Numbered(packet), &mut Draw(u), |_, _| panic!("a late drop"));
            let expected = reference.arrival(now.secs(), arrivals, &packet, u);
            let found = match outcome {
                Outcome::Queued => Some(false),
                Outcome::DroppedEarly => Some(true),
                Outcome::Overflowed => None,
                Outcome::Marked => panic!("a mark"),
            };
            assert_eq!((lane, found), expected, "arrival {arrivals} at {now:?}: {packet:?}");
            match found {
                Some(false) => tally.queued[lane] += 1,
                Some(true) => tally.early += 1,
                None => tally.overflows[lane] += 1,
            }
            arrivals += 1;
            let gap = -(1.0 - random.uniform()).ln() * 770.5e-6 / load;
            next_arrival += Span::from_secs(gap);
            if free != Time::MAX {
                continue;
            }
        }
        let both = queue.lanes().iter().all(|lane| lane.packets > 0);
        let sent = queue.dequeue(now, &mut Draw(0.0)).map(|sent| (sent.lane, sent.number, sent.frame.0.size));
        assert_eq!(sent, reference.departure(now.secs()), "departure at {now:?}");
        if let Some((lane, _, size)) = sent {
            tally.contested[lane] += u32::from(both);
            free = now + port.rate.transmission(size);
        } else {
            tally.idle += 1;
            free = Time::MAX;
        }
    }
    tally
}

/// RED+Tail and its transcription, with the switches of these bits.
fn both(switches: u32) -> (AnyParams, RedTail) {
    let number = Value::Float;
    let text = |text: &str| Value::Text(text.to_owned());
    let [by_connection, udp_counts, wide, deep] = [1, 2, 4, 8].map(|bit| switches & bit != 0);
    let (c1_min, c1_max) = if wide { (Some(0.31), 1.0) } else { (None, 0.87) };
    let buffer = if deep { 160_000 } else { 25_000 };
    let mut params = AnyParams::of("redtail").unwrap();
    let red = [("name", text("red")), ("min_th", number(4.0)), ("max_th", number(60.0))];
    let red = [&red[..], &[("w_q", number(1.0)), ("spacing", text("none")), ("gentle", Value::Bool(false))]];
    let red = red.concat().into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    for (key, value) in [
        ("long", Value::Table(red)),
        ("n", Value::Integer(9)),
        ("t", text("210 ms")),
        ("key", text(if by_connection { "flow" } else { "pair" })),
        ("udp_short", Value::Bool(!udp_counts)),
        ("min_th1", text("2100 B")),
        ("max_th1", text("31013 B")),
        ("c1_min", c1_min.map_or(text("auto"), number)),
        ("c1_max", number(c1_max)),
    ] {
        params.set(key, &value).unwrap();
    }
    let reference = RedTail {
        c: C,
        minth1: 2100.0,
        maxth1: 31_013.0,
        c1min: c1_min.map_or(C * 2100.0 / 31_013.0, |c1_min| C * c1_min),
        c1max: C * c1_max,
        prediction: None,
        threshold_n: 9,
        silence_t: 0.21,
        by_connection,
        udp_counts,
        buffer: f64::from(buffer),
        red: (4.0, 60.0, 0.1),
        counters: HashMap::new(),
        q: [VecDeque::new(), VecDeque::new()],
        credit: [0.0, 0.0],
        accounting: false,
        now: 0.0,
        red_was_on: false,
        predicted: 0.0,
    };
    (params, reference)
}

/// Asserts that the traffic has tested every rule.
#[track_caller]
fn assert_lively(tally: &Tally, deep: bool) {
    let least = |counts: [u32; 2], least: u32| counts.iter().all(|&count| count > least);
    assert!(least(tally.queued, 5000) && least(tally.contested, 3000), "{tally:?}");
    assert!(tally.early > 150 && tally.idle > 300, "{tally:?}");
    assert!(deep || least(tally.overflows, 300), "{tally:?}");
}

#[test]
fn redtail_equals_the_rules_of_the_paper() {
    for switches in 0..16 {
        let (params, reference) = both(switches);
        assert_lively(&compare(&params, reference), switches & 8 != 0);
    }
}

#[test]
fn redtail_with_prediction_equals_holts_formulas() {
    for (switches, alpha, beta, ms, horizon) in [
        (0, 0.3, 0.1, 100, None),
        (5, 0.9, 0.0, 37, None),
        (8, 0.05, 1.0, 523, Some(29)),
        (15, 1.0, 0.4, 100, Some(900)),
    ] {
        let (mut params, mut reference) = both(switches);
        let span = |ms: u32| Value::Text(format!("{ms} ms"));
        for (key, value) in [
            ("allocation", Value::Text("prediction".to_owned())),
            ("alpha", Value::Float(alpha)),
            ("beta", Value::Float(beta)),
            ("interval", span(ms)),
            ("horizon", horizon.map_or(Value::Text("auto".to_owned()), span)),
        ] {
            params.set(key, &value).unwrap();
        }
        let horizon = horizon.map_or(31_013.0 / C, |ms| f64::from(ms) / 1e3);
        let (interval, bytes) = (f64::from(ms) / 1e3, vec![0.0]);
        reference.prediction = Some(Prediction { alpha, beta, interval, horizon, bytes });
        let tally = compare(&params, reference);
        assert_lively(&tally, switches & 8 != 0);
    }
}
