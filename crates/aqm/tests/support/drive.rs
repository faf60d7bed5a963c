//! Runs an algorithm and a transcription of its source side by side.

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::{AnyParams, Backlog, Limit, Packet, Span, Time, Uniform, Verdict};
use std::collections::VecDeque;

/// An algorithm as its source states it.
pub(crate) trait Reference {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: f64) -> Verdict;
    fn departure(&mut self, _now: f64, _packet: Packet, _queue: &Backlog, _sojourn: f64, _u: f64) -> Verdict {
        Verdict::Pass
    }
    fn idle(&mut self, _now: f64) {}
    fn timer(&mut self, _now: f64, _queue: &Backlog) {}
    /// The first of the algorithm's signals.
    fn signal(&self) -> f64;
}

/// The signal of congestion.
pub(crate) fn drop_or_mark(mark: bool) -> Verdict {
    if mark { Verdict::Mark } else { Verdict::Drop }
}

const ARRIVALS: u32 = 150_000;

/// The draw for one decision: none for a packet that the buffer refuses, never two.
struct Once(Option<f64>);

impl Uniform for Once {
    fn uniform(&mut self) -> f64 {
        self.0.take().expect("at most one draw a decision")
    }
}

/// How often what happened.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) drops: u32,
    pub(crate) marks: u32,
    pub(crate) overflows: u32,
    pub(crate) idle: u32,
}

/// Runs both on the same arrivals before the same link and compares every verdict and the first signal.
pub(crate) fn compare(
    name: &str,
    settings: &[(&str, Value)],
    preset: Option<&str>,
    mut reference: impl Reference,
) -> Tally {
    let mut params = AnyParams::of(name).expect("an algorithm");
    if let Some(preset) = preset {
        params = params.preset(preset).expect("a preset");
    }
    for (key, value) in settings {
        params.set(key, value).expect("an allowed value");
    }
    params.check().expect("parameters that fit");
    let mut aqm = params.on_one_queue(&PORT).expect("an algorithm on one queue");
    let mut random = Random(42);
    let mut waiting: VecDeque<(Time, Packet)> = VecDeque::new();
    let mut tally = Tally::default();
    let mut next_arrival = Time::ZERO;
    let mut next_timer = aqm.period().map_or(Time::MAX, |period| Time::ZERO + period);
    // When the packet in transmission is gone, or never for an idle link.
    let mut link_free = Time::MAX;
    let mut load = 1.0;
    let mut arrivals = 0;
    let backlog = |waiting: &VecDeque<(Time, Packet)>, size: u32| {
        let (packets, bytes) = (waiting.len() as u32, waiting.iter().map(|(_, p)| u64::from(p.size)).sum());
        Backlog { packets, bytes, full: Limit::Packets(150).refuses(packets, bytes, size) }
    };
    while arrivals < ARRIVALS {
        let now = next_timer.min(next_arrival).min(link_free);
        if now == next_timer {
            let queue = backlog(&waiting, 0);
            aqm.on_period(now, &queue);
            reference.timer(now.secs(), &queue);
            next_timer += aqm.period().expect("a timer");
            continue;
        }
        if now == next_arrival {
            if arrivals % 5000 == 0 {
                load = [0.7, 1.1, 1.6, 0.3, 1.05, 1.2][(arrivals / 5000) as usize % 6];
            }
            arrivals += 1;
            let size = [40, 250, 500, 500, 500, 1000, 1500][(random.bits() % 7) as usize];
            let ect = random.uniform() < 0.6;
            let (l4s, class) = (ect && arrivals % 3 == 0, 1 + (arrivals % 4) as u8);
            let packet = Packet { l4s, class, ..Packet::new(size, ect) };
            let queue = backlog(&waiting, size);
            let u = random.uniform();
            let found = aqm.on_enqueue(now, &packet, &queue, &mut Once((!queue.full).then_some(u)));
            let expected = reference.arrival(now.secs(), packet, &queue, u);
            if queue.full {
                tally.overflows += 1;
            } else {
                assert_eq!(
                    found, expected,
                    "{name} {settings:?}: arrival {arrivals} at {now:?}, {queue:?}, u = {u}"
                );
                match expected {
                    Verdict::Drop | Verdict::DropBoth(_) => tally.drops += 1,
                    Verdict::Mark => tally.marks += 1,
                    Verdict::Pass => {}
                }
                if expected != Verdict::Drop {
                    waiting.push_back((now, packet));
                }
            }
            aqm.signals(|i, value| {
                let expected = reference.signal();
                assert!(
                    i > 0 || (value - expected).abs() < 1e-9 * expected.max(1.0),
                    "{name} {settings:?}: the signal is {value}, not {expected}"
                );
            });
            let mean_size = (40.0 + 250.0 + 1500.0 + 1000.0 + 1500.0) / 7.0;
            let gap = -(1.0 - random.uniform()).ln() * mean_size * 8.0 / 1e7 / load;
            next_arrival += Span::from_secs(gap);
            if link_free != Time::MAX {
                continue;
            }
        }
        // The link is free: next packet.
        if let Some((arrived, packet)) = waiting.pop_front() {
            let sojourn = now - arrived;
            let queue = backlog(&waiting, 0);
            let u = random.uniform();
            let found = aqm.on_dequeue(now, &packet, &queue, sojourn, &mut Once(Some(u)));
            assert_eq!(
                found,
                reference.departure(now.secs(), packet, &queue, sojourn.secs(), u),
                "{name} {settings:?}: departure at {now:?}"
            );
            tally.marks += u32::from(found == Verdict::Mark);
            // What is dropped here takes no time on the link.
            link_free = if found == Verdict::Drop {
                tally.drops += 1;
                now
            } else {
                now + PORT.rate.transmission(packet.size)
            };
        } else {
            aqm.on_idle(now);
            reference.idle(now.secs());
            tally.idle += 1;
            link_free = Time::MAX;
        }
    }
    tally
}

/// Asserts that something was decided, and that there were marks if there should be.
#[track_caller]
pub(crate) fn assert_lively(tally: &Tally, ecn: bool) {
    assert!(tally.drops + tally.marks > 300 && tally.idle > 300, "the traffic tested nothing: {tally:?}");
    assert_eq!(tally.marks > 40, ecn, "{tally:?}");
}

/// A number as a parameter's value.
pub(crate) fn number(x: f64) -> Value {
    Value::Float(x)
}

/// Text as a parameter's value.
pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A switch that is on.
pub(crate) const ON: Value = Value::Bool(true);
