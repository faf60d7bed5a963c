//! Algorithms that were first classes in Python: the verdicts of each class, recorded by `aqmlab port`, are those of
//! its translation, one by one.
//!
//! A recording in tests/ported begins with the algorithm, the switches that are not at their defaults (`set ecn true`),
//! its port (bit/s, ns, packets, bytes) and its signals. Each further line is an event:
//!
//! ```text
//! enqueue TIME SIZE ECT FLOW PACKETS BYTES FULL 0       | DRAWS | VERDICT | SIGNALS
//! dequeue TIME SIZE ECT FLOW PACKETS BYTES 0 SOJOURN    | DRAWS | VERDICT | SIGNALS
//! period  TIME PACKETS BYTES                            | SIGNALS
//! idle    TIME                                          | SIGNALS
//! ```
//!
//! with times in ns, the random numbers that the event draws, P, M or D, and the value of each signal after it.

use aqm::params::Value;
use aqm::{AnyAqm, AnyParams, Backlog, Bytes, Limit, Packet, Port, Rate, Span, Time, Uniform, Verdict};
use std::collections::VecDeque;

/// The random numbers of one event.
struct Draws(VecDeque<f64>);

impl Uniform for Draws {
    fn uniform(&mut self) -> f64 {
        self.0.pop_front().expect("a number for every draw of the class")
    }
}

fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map(|number| number.parse().expect("a whole number")).collect()
}

fn fractions(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

fn backlog(packets: u64, bytes: u64, full: u64) -> Backlog {
    Backlog { packets: packets as u32, bytes, full: full == 1 }
}

/// A recording under way.
struct Player {
    params: AnyParams,
    aqm: AnyAqm,
    /// For each signal of the class, its place among those of the algorithm.
    signals: Vec<Option<usize>>,
}

impl Player {
    fn new(lines: &mut dyn Iterator<Item = &str>) -> Self {
        let mut head = |word: &str| {
            let line = lines.next().expect("a head");
            line.strip_prefix(word).map(str::trim).ok_or(line)
        };
        let mut params = AnyParams::of(head("algorithm").expect("a name")).expect("a listed algorithm");
        let port = loop {
            match head("port") {
                Ok(port) => break port,
                Err(set) => {
                    let words: Vec<&str> = set.split_whitespace().collect();
                    let ["set", key, value] = words[..] else { panic!("{set}") };
                    params.set(key, &Value::Bool(value == "true")).expect("a switch");
                }
            }
        };
        let [rate, delay, limit, packet] = numbers(port)[..] else { panic!("four numbers") };
        let port = Port {
            rate: Rate::bit_per_s(rate),
            delay: Span::ns(delay),
            limit: Limit::Packets(limit as u32),
            packet: Bytes(packet),
            header: Bytes(0),
        };
        let own = params.signals();
        let place = |name: &str| own.iter().position(|signal| signal.name == name);
        let signals = head("signals").expect("signals").split_whitespace().map(place).collect();
        let aqm = params.on_one_queue(&port).expect("an algorithm on one queue");
        Self { params, aqm, signals }
    }

    /// Plays an event; returns whether the class dropped or marked a packet.
    fn play(&mut self, line: &str) -> bool {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let (kind, facts) = parts[0].split_once(' ').expect("an event and its facts");
        let facts = numbers(facts);
        let now = Time::from_nanos(facts[0]);
        let mut signal = false;
        match kind {
            "idle" => self.aqm.on_idle(now),
            "period" => {
                assert!(self.aqm.period().is_some(), "it has no timer");
                self.aqm.on_period(now, &backlog(facts[1], facts[2], 0));
            }
            _ => {
                let [_, size, ect, flow, packets, bytes, full, sojourn] = facts[..] else { panic!("{line}") };
                let packet = Packet { flow, ..Packet::new(size as u32, ect == 1) };
                let queue = backlog(packets, bytes, full);
                let mut draws = Draws(fractions(parts[1]).into());
                let verdict = match kind {
                    "enqueue" => self.aqm.on_enqueue(now, &packet, &queue, &mut draws),
                    _ => self.aqm.on_dequeue(now, &packet, &queue, Span::ns(sojourn), &mut draws),
                };
                let expected = match parts[2] {
                    "P" => Verdict::Pass,
                    "M" => Verdict::Mark,
                    _ => Verdict::Drop,
                };
                // The verdict on a packet that has no room has no effect.
                assert!(queue.full || verdict == expected, "{line}: {verdict:?}");
                assert!(draws.0.is_empty(), "{line}: it draws less");
                signal = expected != Verdict::Pass;
            }
        }
        self.compare_signals(line, parts.last().expect("signals"));
        signal
    }

    fn compare_signals(&self, line: &str, text: &str) {
        let mut own = vec![0.0; self.params.signals().len()];
        self.aqm.signals(|i, value| own[i] = value);
        for (place, expected) in self.signals.iter().zip(fractions(text)) {
            if let Some(place) = place {
                let close = (own[*place] - expected).abs() <= 1e-9 * expected.abs().max(1e-9);
                assert!(close, "{line}: {} = {}", self.params.signals()[*place].name, own[*place]);
            }
        }
    }
}

#[test]
fn a_translation_returns_the_verdicts_of_its_class() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ported");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut player = Player::new(&mut lines);
        let signals = lines.filter(|line| player.play(line)).count();
        assert!(signals >= 20, "{}: only {signals} drops and marks", file.display());
    }
}
