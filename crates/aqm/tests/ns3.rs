//! What the tests of ns-3's queue discs expect, in a table of our own (tests/ns3.txt), against our disciplines.
//!
//! A case has a name, a discipline, a buffer in packets and their size; `both` means also with the buffer in bytes, as
//! a second case. Its lines, of which `; ` separates several:
//!
//! ```text
//! set KEY VALUE                  a parameter; `aqm` is an algorithm with its parameters; `bytes KEY VALUE`: in bytes only
//! stream N N N N N N             the state of L'Ecuyer's MRG32k3a from which all draws come, as in ns-3; otherwise
//!                                the case is repeated with SEEDS seeds
//! MS [every MS] offer N FLOW [ect0|ect1]    N packets arrive; with `every`, one at a time, the first at MS
//! MS [every MS] take N                      the link asks N times for a packet
//! MS expect LEFT OP RIGHT, …     of NAME or NAME.FLOW: waiting, early, overflow, marks, gone (packets that no longer wait);
//!                                drops, early or by overflow; unforced, early with p below 1; p; `peak`, the highest p
//!                                at an arrival; `rise`, the largest growth of p between two arrivals from above 0.1
//! MS order FLOW …                the flows of the packets sent so far
//! compare LEFT NAME OP RIGHT     of two cases, by the mean over the seeds
//! absent N WHY                   N cases of ns-3 that have no counterpart here
//! ```
//!
//! At one time, lines happen in their order, and then timers, as in ns-3.

use crate::datagram::Datagram;
use crate::support::Random;
use aqm::params::Value;
use aqm::queue::Outcome;
use aqm::{AnyParams, Bytes, Limit, Packet, Port, Queue, Rate, Span, Time, Uniform};
use std::collections::BTreeMap;

const SEEDS: u64 = 20;
const FLOWS: usize = 5;

enum Source {
    Seeded(Random),
    Mrg32k3a([i64; 6]),
}

impl Uniform for Source {
    fn uniform(&mut self) -> f64 {
        match self {
            Self::Seeded(random) => random.uniform(),
            Self::Mrg32k3a(s) => {
                let (m1, m2) = (4_294_967_087, 4_294_944_443);
                let a = (1_403_580 * s[1] - 810_728 * s[0]).rem_euclid(m1);
                let b = (527_612 * s[5] - 1_370_589 * s[3]).rem_euclid(m2);
                *s = [s[1], s[2], a, s[4], s[5], b];
                (if a > b { a - b } else { a - b + m1 }) as f64 / (m1 + 1) as f64
            }
        }
    }
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))
}

/// A value as a settings file has it.
fn value(text: &str) -> Value {
    match text {
        "true" | "false" => Value::Bool(text == "true"),
        _ => text.parse().map(Value::Integer).or_else(|_| text.parse().map(Value::Float)).unwrap_or_else(
            |_| match text.split_once(' ') {
                Some((name, rest)) if rest.contains('=') => {
                    let pairs = rest.split(", ").map(|pair| pair.split_once('=').expect("KEY=VALUE"));
                    let own = [("name".to_owned(), Value::Text(name.to_owned()))];
                    Value::Table(
                        own.into_iter().chain(pairs.map(|(k, v)| (k.to_owned(), value(v)))).collect(),
                    )
                }
                _ => Value::Text(text.to_owned()),
            },
        ),
    }
}

fn holds(left: f64, op: &str, right: f64) -> bool {
    match op {
        "=" => left == right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => panic!("{op}?"),
    }
}

/// A case of the table, in packets or in bytes.
struct Case<'a> {
    head: Vec<&'a str>,
    lines: Vec<&'a str>,
    in_bytes: bool,
}

/// A run of a case.
struct Host {
    queue: Queue<Datagram>,
    source: Source,
    params: AnyParams,
    timer: Option<Time>,
    size: u32,
    offered: [u64; FLOWS],
    /// Drops at p = 1, which ns-3's RED calls forced.
    forced: u64,
    sent: Vec<u64>,
    last_p: f64,
    peak: f64,
    rise: f64,
}

impl Host {
    fn new(case: &Case, seed: u64) -> Self {
        let [_, discipline, limit, size, ..] = case.head[..] else { panic!("{:?}: a head", case.head) };
        let (name, preset) = discipline.split_once(':').unwrap_or((discipline, ""));
        let mut params = AnyParams::of(name).expect("a discipline");
        if !preset.is_empty() {
            params = params.preset(preset).expect("a preset");
        }
        let mut source = Source::Seeded(Random(seed));
        for line in &case.lines {
            let (word, rest) = line.split_once(' ').expect("a line of several words");
            if word == "set" || (word == "bytes" && case.in_bytes) {
                let (key, text) = rest.split_once(' ').expect("a key and a value");
                params.set(key, &value(text)).unwrap_or_else(|error| panic!("{line}: {error}"));
            } else if word == "stream" {
                let state: Vec<i64> = rest.split(' ').map(|word| number(word) as i64).collect();
                source = Source::Mrg32k3a(state.try_into().expect("six numbers"));
            }
        }
        let (packets, size) = (number(limit), number(size) as u32);
        let port = Port {
            rate: Rate::mbit_per_s(10),
            delay: Span::ms(20),
            limit: if case.in_bytes {
                Limit::Bytes(packets as u64 * u64::from(size))
            } else {
                Limit::Packets(packets as u32)
            },
            packet: Bytes(size.into()),
            header: Bytes(0),
        };
        params.check().and_then(|()| params.check_on(&port)).expect("parameters that fit");
        let queue: Queue<Datagram> = Queue::new(params.build(&port), &port, &[1; FLOWS]);
        let timer = queue.period().map(|period| Time::ZERO + period);
        let offered = [0; FLOWS];
        let sent = vec![];
        Self {
            queue,
            source,
            params,
            timer,
            size,
            offered,
            forced: 0,
            sent,
            last_p: 0.0,
            peak: 0.0,
            rise: 0.0,
        }
    }

    fn p(&self) -> f64 {
        let place = self.params.signals().iter().position(|signal| signal.name == "p");
        let mut p = 0.0;
        self.queue.algorithm().signals(|i, value| {
            if Some(i) == place {
                p = value;
            }
        });
        p
    }

    fn offer(&mut self, now: Time, flow: u64, ecn: Option<&str>) {
        let packet = Packet { flow, l4s: ecn == Some("ect1"), ..Packet::new(self.size, ecn.is_some()) };
        let outcome = self.queue.enqueue(now, Datagram { packet, row: flow as usize }, &mut self.source);
        self.offered[flow as usize] += 1;
        let p = self.p();
        self.forced += u64::from(outcome == Outcome::DroppedEarly && p >= 1.0);
        self.peak = self.peak.max(p);
        if self.last_p > 0.1 {
            self.rise = self.rise.max(p - self.last_p);
        }
        self.last_p = p;
    }

    fn take(&mut self, now: Time) {
        if let Some(sent) = self.queue.dequeue(now, &mut self.source) {
            self.sent.push(sent.frame.packet.flow);
        }
    }

    fn quantity(&self, text: &str) -> f64 {
        let of = |flow: usize| {
            let (counts, name) = (&self.queue.counts()[flow], text.split('.').next().expect("a name"));
            let waiting = self.queue.waiting().filter(|stored| stored.frame.row == flow).count() as u64;
            match name {
                "waiting" => waiting,
                "gone" => self.offered[flow] - waiting,
                "early" => counts.drops_early,
                "overflow" => counts.drops_overflow,
                "marks" => counts.marks,
                _ => panic!("{text}?"),
            }
        };
        match text {
            "p" => self.p(),
            "peak" => self.peak,
            "rise" => self.rise,
            "unforced" => self.quantity("early") - self.forced as f64,
            "drops" => self.quantity("early") + self.quantity("overflow"),
            _ => match (text.parse(), text.split_once('.')) {
                (Ok(number), _) => number,
                (_, Some((_, flow))) => of(number(flow) as usize) as f64,
                _ => (0..FLOWS).map(of).sum::<u64>() as f64,
            },
        }
    }

    /// What happens at a time; the expectations that fail.
    fn act(&mut self, now: Time, words: &[&str]) -> Vec<String> {
        match words {
            ["offer", count, flow, ecn @ ..] => {
                (0..number(count) as u64)
                    .for_each(|_| self.offer(now, number(flow) as u64, ecn.first().copied()));
            }
            ["take", count] => (0..number(count) as u64).for_each(|_| self.take(now)),
            ["order", flows @ ..] => {
                let flows: Vec<u64> = flows.iter().map(|flow| number(flow) as u64).collect();
                if self.sent != flows {
                    return vec![format!("order: {:?}", self.sent)];
                }
            }
            ["expect", ..] => {
                let all = words[1..].join(" ");
                let failing = all.split(", ").filter_map(|one| {
                    let [left, op, right] = one.split(' ').collect::<Vec<_>>()[..] else { panic!("{one}") };
                    let (found, wanted) = (self.quantity(left), self.quantity(right));
                    (!holds(found, op, wanted)).then(|| format!("{one}: {found} at {now:?}"))
                });
                return failing.collect();
            }
            _ => panic!("{words:?}?"),
        }
        vec![]
    }

    /// Plays the lines of a case; returns the expectations that fail.
    fn play(&mut self, case: &Case) -> Vec<String> {
        let ns = |ms: &str| (number(ms) * 1e6).round() as u64;
        let mut events = vec![];
        for (i, line) in case.lines.iter().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            if words[0].parse::<f64>().is_err() {
                continue;
            }
            if words[1] != "every" {
                events.push((ns(words[0]), i, words[1..].to_vec()));
                continue;
            }
            let mut action = words[3..].to_vec();
            let count = number(std::mem::replace(&mut action[1], "1")) as u64;
            events.extend((0..count).map(|n| (ns(words[0]) + n * ns(words[2]), i, action.clone())));
        }
        events.sort_by_key(|(time, i, _)| (*time, *i));
        let mut failing = vec![];
        for (time, _, words) in events {
            let now = Time::from_nanos(time);
            while let Some(due) = self.timer.filter(|due| *due < now) {
                self.queue.on_period(due);
                self.timer = self.queue.period().map(|period| due + period);
            }
            failing.extend(self.act(now, &words));
        }
        failing
    }
}

/// The cases of the table, the comparisons, and the number of cases without a counterpart.
fn table() -> (Vec<Case<'static>>, Vec<Vec<&'static str>>, u64) {
    let (mut cases, mut compared, mut absent) = (vec![], vec![], 0);
    for line in include_str!("ns3.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            "case" => cases.push(Case { head: words[1..].to_vec(), lines: vec![], in_bytes: false }),
            "compare" => compared.push(words[1..].to_vec()),
            "absent" => absent += number(words[1]) as u64,
            _ => cases.last_mut().expect("a case").lines.extend(line.trim().split("; ")),
        }
    }
    let again =
        |case: &Case<'static>| Case { head: case.head.clone(), lines: case.lines.clone(), in_bytes: true };
    let bytes: Vec<_> = cases.iter().filter(|case| case.head.last() == Some(&"both")).map(again).collect();
    cases.extend(bytes);
    (cases, compared, absent)
}

#[test]
fn what_ns3s_tests_expect_holds() {
    let (cases, compared, absent) = table();
    let mut wrong = vec![];
    let mut means: BTreeMap<(&str, &str, bool), f64> = BTreeMap::new();
    for case in &cases {
        for seed in 1..=SEEDS {
            let mut host = Host::new(case, seed);
            let failing = host.play(case);
            if !failing.is_empty() {
                wrong.push(format!("{} (bytes: {}, seed {seed}): {failing:?}", case.head[0], case.in_bytes));
                break;
            }
            for name in ["early", "drops", "unforced"] {
                *means.entry((case.head[0], name, case.in_bytes)).or_default() +=
                    host.quantity(name) / SEEDS as f64;
            }
        }
    }
    for words in compared {
        let [left, name, op, right] = words[..] else { panic!("{words:?}") };
        for in_bytes in [false, true] {
            let (found, other) = (means[&(left, name, in_bytes)], means[&(right, name, in_bytes)]);
            if !holds(found, op, other) {
                wrong.push(format!("{words:?} (bytes: {in_bytes}): {found} and {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The numbers of docs/internals/fidelity.md.
    assert_eq!((cases.len(), absent), (122, 39));
}
