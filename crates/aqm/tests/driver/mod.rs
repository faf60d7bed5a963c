//! Runs an algorithm and a plain transcription of its source side by side: both get the same random overload and the
//! same draws, and must return the same verdict on every packet.

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::{AnyAqm, AnyParams, Backlog, Limit, Packet, Span, Time, Uniform, Verdict};
use std::collections::VecDeque;

/// An algorithm as its source describes it. Times are in seconds; `u` draws a random number.
pub(crate) trait Reference {
    /// Whether it draws even for a packet that overflows the buffer.
    const DRAWS_ALWAYS: bool = false;
    const ARRIVALS: u32 = 150_000;
    /// The relative difference of signals that its arithmetic may cause.
    const CLOSENESS: f64 = 1e-9;
    /// Whether it performs periodic updates and idle times only at the next packet: its signals are then compared right
    /// after arrivals only.
    const LAZY: bool = false;
    /// A time without arrivals before each change of the load.
    const PAUSE: Span = Span::ZERO;

    /// What may wait.
    fn limit(&self) -> Limit {
        Limit::Packets(150)
    }

    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict;

    /// The position of a waiting packet to be dropped because the buffer is full.
    fn make_room(&mut self, _packet: Packet, _queue: &Backlog) -> Option<u32> {
        None
    }

    /// The verdict on a packet that has waited for `_sojourn` and has left `_queue` behind.
    fn departure(
        &mut self,
        _now: f64,
        _packet: Packet,
        _queue: &Backlog,
        _sojourn: f64,
        _u: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        Verdict::Pass
    }

    /// The verdicts on the packets that leave `line` at once: all are dropped but the last, which is sent, or all of
    /// them if the line ends. For sources that themselves remove packets from the queue.
    fn link_free(&mut self, now: f64, line: &mut Line, u: &mut dyn FnMut() -> f64) -> Vec<Verdict> {
        let mut verdicts = vec![];
        while let Some((arrived, packet)) = line.pop() {
            verdicts.push(self.departure(now, packet, &line.backlog(), now - arrived, u));
            if verdicts.last() != Some(&Verdict::Drop) {
                return verdicts;
            }
        }
        self.idle(now);
        verdicts
    }

    fn idle(&mut self, _now: f64) {}
    /// How long the first packet has waited, given before each timer.
    fn head(&mut self, _age: f64) {}
    fn timer(&mut self, _now: f64, _queue: &Backlog) {}
    /// The first of the algorithm's signals.
    fn signal(&self) -> f64;
    /// Any of the algorithm's signals, if it has it.
    fn signals(&self, i: usize) -> Option<f64> {
        (i == 0).then(|| self.signal())
    }
}

pub(crate) fn drop_or_mark(mark: bool) -> Verdict {
    if mark { Verdict::Mark } else { Verdict::Drop }
}

/// The waiting packets, as a reference removes them.
pub(crate) struct Line<'a> {
    waiting: &'a VecDeque<(Time, Packet)>,
    limit: Limit,
    taken: usize,
}

impl Line<'_> {
    /// The next packet and the time of its arrival.
    pub(crate) fn pop(&mut self) -> Option<(f64, Packet)> {
        let next = self.waiting.get(self.taken).map(|(arrived, packet)| (arrived.secs(), *packet));
        self.taken += usize::from(next.is_some());
        next
    }

    /// The remaining backlog.
    pub(crate) fn backlog(&self) -> Backlog {
        backlog(self.waiting.iter().skip(self.taken), self.limit, 0)
    }
}

fn backlog<'a>(waiting: impl Iterator<Item = &'a (Time, Packet)>, limit: Limit, size: u32) -> Backlog {
    let (packets, bytes) =
        waiting.fold((0, 0), |(packets, bytes), (_, p)| (packets + 1, bytes + u64::from(p.size)));
    Backlog { packets, bytes, full: limit.refuses(packets, bytes, size) }
}

/// The draws for one decision: each side gets its own copy of the same row of numbers.
struct Draws {
    random: Random,
    drawn: u32,
}

impl Draws {
    fn pair(random: &mut Random) -> (Self, Self) {
        let row = Random(random.bits());
        (Self { random: row.clone(), drawn: 0 }, Self { random: row, drawn: 0 })
    }
}

impl Uniform for Draws {
    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        self.random.uniform()
    }
}

/// Counts of events, to check that the traffic tests something.
#[derive(Default, Debug)]
pub(crate) struct Tally {
    pub(crate) drops: u32,
    pub(crate) marks: u32,
    pub(crate) overflows: u32,
    pub(crate) idle: u32,
    /// Drops that followed another at the same instant, at departures.
    pub(crate) drops_in_a_row: u32,
    /// Arrivals that were dropped together with a waiting packet.
    pub(crate) matches: u32,
    /// Waiting packets that were dropped because the buffer was full.
    pub(crate) made_room: u32,
}

/// Compares the signals of both.
fn compare_signals<R: Reference>(aqm: &AnyAqm, reference: &R, what: impl FnOnce() -> String + Copy) {
    aqm.signals(|i, value| {
        let Some(expected) = reference.signals(i) else { return };
        assert!(
            (value - expected).abs() < R::CLOSENESS * expected.abs().max(1.0),
            "{}: signal {i} is {value}, not {expected}",
            what()
        );
    });
}

/// Runs both on the same arrivals and the same link; compares every verdict and the signals.
pub(crate) fn compare<R: Reference>(
    name: &str,
    settings: &[(&str, Value)],
    preset: Option<&str>,
    mut reference: R,
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
    let limit = reference.limit();
    let mut random = Random(42);
    let mut waiting: VecDeque<(Time, Packet)> = VecDeque::new();
    let mut tally = Tally::default();
    let mut next_arrival = Time::ZERO;
    let mut next_timer = aqm.period().map_or(Time::MAX, |period| Time::ZERO + period);
    // When the transmission in progress ends; never for an idle link.
    let mut link_free = Time::MAX;
    let mut load = 1.0;
    let mut arrivals = 0;
    while arrivals < R::ARRIVALS {
        let now = next_timer.min(next_arrival).min(link_free);
        if now == next_timer {
            let queue = backlog(waiting.iter(), limit, 0);
            let age = waiting.front().map_or(Span::ZERO, |(arrived, _)| now - *arrived);
            aqm.on_head(age);
            aqm.on_period(now, &queue);
            reference.head(age.secs());
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
            // One flow sends a third of the packets, twenty share the rest.
            let flow = if random.uniform() < 0.33 { 0 } else { 1 + random.bits() % 20 };
            let ect = random.uniform() < 0.6;
            let (l4s, class) = (ect && arrivals % 3 == 0, 1 + (arrivals % 4) as u8);
            let packet = Packet { flow, l4s, class, ..Packet::new(size, ect) };
            let mut queue = backlog(waiting.iter(), limit, size);
            let (mut ours, mut theirs) = Draws::pair(&mut random);
            while queue.full && queue.packets > 0 {
                let expected = reference.make_room(packet, &queue);
                let found = aqm.make_room(now, &packet, &queue, &mut ours);
                assert_eq!(found, expected, "{name} {settings:?}: room at {now:?}, {queue:?}");
                let Some(place) = expected else { break };
                waiting.remove(place as usize).expect("a packet that waits");
                tally.made_room += 1;
                queue = backlog(waiting.iter(), limit, size);
            }
            let found = aqm.on_enqueue(now, &packet, &queue, &mut ours);
            let expected = reference.arrival(now.secs(), packet, &queue, &mut || theirs.uniform());
            assert!(ours.drawn <= theirs.drawn, "{name} {settings:?}: {} draws an arrival", ours.drawn);
            assert!(R::DRAWS_ALWAYS || !queue.full || ours.drawn == 0, "{name} {settings:?}: a draw in vain");
            if R::LAZY {
                compare_signals(&aqm, &reference, || format!("{name} {settings:?} at {now:?}"));
            }
            let pair = matches!(expected, Verdict::DropBoth(_));
            if queue.full && !(pair && found == expected) {
                tally.overflows += 1;
            } else {
                assert_eq!(found, expected, "{name} {settings:?}: arrival {arrivals} at {now:?}, {queue:?}");
                match expected {
                    Verdict::Drop => tally.drops += 1,
                    Verdict::DropBoth(place) => {
                        waiting.remove(place as usize).expect("a packet that waits");
                        tally.drops += 2;
                        tally.matches += 1;
                    }
                    Verdict::Mark => tally.marks += 1,
                    Verdict::Pass => {}
                }
                if matches!(expected, Verdict::Pass | Verdict::Mark) {
                    waiting.push_back((now, packet));
                }
            }
            let mean_size = (40.0 + 250.0 + 1500.0 + 1000.0 + 1500.0) / 7.0;
            let gap = -(1.0 - random.uniform()).ln() * mean_size * 8.0 / 1e7 / load;
            next_arrival += Span::from_secs(gap);
            if arrivals % 5000 == 0 {
                next_arrival += R::PAUSE;
            }
        }
        if now == link_free || link_free == Time::MAX {
            // The link is free: next packet.
            let (mut ours, mut theirs) = Draws::pair(&mut random);
            let mut line = Line { waiting: &waiting, limit, taken: 0 };
            let verdicts = reference.link_free(now.secs(), &mut line, &mut || theirs.uniform());
            link_free = Time::MAX;
            for (i, expected) in verdicts.into_iter().enumerate() {
                let (arrived, packet) = waiting.pop_front().expect("a packet");
                let queue = backlog(waiting.iter(), limit, 0);
                let found = aqm.on_dequeue(now, &packet, &queue, now - arrived, &mut ours);
                assert_eq!(found, expected, "{name} {settings:?}: departure at {now:?}, {queue:?}");
                match expected {
                    Verdict::Drop => {
                        tally.drops += 1;
                        tally.drops_in_a_row += u32::from(i > 0);
                        continue;
                    }
                    Verdict::Mark => tally.marks += 1,
                    Verdict::Pass => {}
                    Verdict::DropBoth(_) => panic!("a departure is alone"),
                }
                link_free = now + PORT.rate.transmission(packet.size);
            }
            assert!(ours.drawn <= theirs.drawn, "{name} {settings:?}: {} draws a departure", ours.drawn);
            if link_free == Time::MAX {
                aqm.on_idle(now);
                tally.idle += 1;
            }
        }
        if !R::LAZY {
            compare_signals(&aqm, &reference, || format!("{name} {settings:?} at {now:?}"));
        }
    }
    tally
}

#[track_caller]
pub(crate) fn assert_lively(tally: &Tally, ecn: bool) {
    assert!(tally.drops + tally.marks > 300 && tally.idle > 300, "the traffic tested nothing: {tally:?}");
    assert_marks(tally, ecn, 40);
}

/// Asserts that more than `least` packets were marked with ECN, and none without.
#[track_caller]
pub(crate) fn assert_marks(tally: &Tally, ecn: bool, least: u32) {
    assert!(if ecn { tally.marks > least } else { tally.marks == 0 }, "ECN: {ecn}, {tally:?}");
}

pub(crate) fn number(x: f64) -> Value {
    Value::Float(x)
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
