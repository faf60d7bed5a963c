//! Properties of every algorithm whose parameters change while packets wait.

use crate::support::{PORT, Random};
use crate::variations::{INSIDE, variations};
use aqm::aqm::NAMES;
use aqm::params::{ParamKind, Value};
use aqm::queue::{Frame, Labels};
use aqm::{Ack, AnyParams, Limit, Outcome, Packet, Port, Queue, Span, Time, Uniform};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Numbered {
    packet: Packet,
    number: u64,
    marked: bool,
}

impl Frame for Numbered {
    fn packet(&self) -> Packet {
        self.packet
    }
    fn mark(&mut self) {
        self.marked = true;
    }
    fn ack(&self) -> Option<Ack> {
        let next = self.number as u32;
        (self.packet.size == 40).then_some(Ack { next, blocks: [(0, 0); 3], ecn: 0 })
    }
    fn row(&self) -> usize {
        (self.packet.flow % 4) as usize
    }
}

/// What happens to a packet, by its number.
#[derive(PartialEq, Debug)]
enum Event {
    Arrives(u64, Outcome, usize),
    IsDropped(u64, Option<Outcome>),
    Leaves(u64, bool, usize, Span),
}

/// A queue with its link and its traffic: a load that changes, from 60 flows.
#[derive(Clone)]
struct Run {
    queue: Queue<Numbered>,
    random: Random,
    arrivals: u64,
    next_arrival: Time,
    next_period: Time,
    /// When the link may send next; never while it is idle.
    free: Time,
}

impl Run {
    fn new(params: &AnyParams) -> Self {
        let mut queue = Queue::new(params.build(&PORT), &PORT, &[1, 2, 3, 4]);
        let hosts = (0..20).map(|pair| [100 + pair % 5, 200 + pair]).collect();
        queue.set_labels(Labels { hosts, dscps: vec![0, 8, 46, 34] });
        let next_period = queue.period().map_or(Time::MAX, |period| Time::ZERO + period);
        let (next_arrival, free) = (Time::ZERO, Time::MAX);
        Self { queue, random: Random(3), arrivals: 0, next_arrival, next_period, free }
    }

    fn now(&self) -> Time {
        self.next_arrival
    }

    /// Goes on up to the next arrival.
    fn step(&mut self) -> Vec<Event> {
        let mut events = vec![];
        loop {
            let now = self.next_arrival.min(self.next_period).min(self.free);
            if now == self.next_period {
                self.queue.on_period(now);
                self.next_period = now + self.queue.period().expect("a timer");
            } else if now == self.next_arrival {
                self.arrive(&mut events);
                return events;
            } else {
                self.send(now, &mut events);
            }
        }
    }

    fn arrive(&mut self, events: &mut Vec<Event>) {
        let (now, number, bits) = (self.next_arrival, self.arrivals, self.random.bits());
        // Each flow sends packets of one kind; one sends a third of them all.
        let flow = if bits.is_multiple_of(3) { 7 } else { (bits >> 8) % 60 };
        let packet = Packet {
            flow,
            pair: (flow % 20) as u32,
            udp: flow.is_multiple_of(5),
            l4s: flow.is_multiple_of(6),
            class: 1 + (flow % 4) as u8,
            ..Packet::new([40, 500, 500, 1500][(bits >> 20) as usize % 4], flow.is_multiple_of(3))
        };
        let frame = Numbered { packet, number, marked: false };
        let (outcome, lane) = self.queue.enqueue_or(now, frame, &mut self.random, |gone, reason| {
            events.push(Event::IsDropped(gone.number, Some(reason)));
        });
        events.push(Event::Arrives(number, outcome, lane));
        self.arrivals += 1;
        let load = [0.5, 1.3, 3.0, 0.05, 1.1][(self.arrivals / 400) as usize % 5];
        self.next_arrival += Span::from_secs(-(1.0 - self.random.uniform()).ln() * 5.1e-4 / load);
        if self.free == Time::MAX {
            self.send(now, events);
        }
    }

    fn send(&mut self, now: Time, events: &mut Vec<Event>) {
        let sent = self.queue.dequeue_or(now, &mut self.random, |gone| {
            events.push(Event::IsDropped(gone.number, None));
        });
        self.free = match sent {
            Some(sent) => {
                events.push(Event::Leaves(sent.number, sent.frame.marked, sent.lane, sent.sojourn));
                now + PORT.rate.transmission(sent.frame.packet.size)
            }
            None => self.queue.paused_until(now).unwrap_or(Time::MAX),
        };
    }

    /// Changes the parameters of the algorithm; returns whether it has kept its state, and the packets that were dropped.
    fn retune(&mut self, params: &AnyParams, limit: Limit) -> (bool, Vec<(u64, Outcome)>) {
        let (now, period, mut gone) = (self.now(), self.queue.period(), vec![]);
        let algorithm = params.build(&Port { limit, ..PORT });
        self.queue.set_limit(limit);
        let resumed = self.queue.retune(now, algorithm, &mut self.random, |dropped, outcome| {
            gone.push((dropped.number, outcome));
        });
        if !resumed || self.queue.period() != period {
            self.next_period = self.queue.period().map_or(Time::MAX, |period| now + period);
        }
        (resumed, gone)
    }

    fn waiting(&self) -> Vec<u64> {
        let mut waiting: Vec<u64> = self.queue.waiting().map(|stored| stored.number).collect();
        waiting.sort_unstable();
        waiting
    }

    fn signals(&self) -> Vec<f64> {
        let mut signals = vec![];
        self.queue.algorithm().signals(|_, value| signals.push(value));
        signals
    }

    fn assert_conservation(&self, what: &str) {
        let sum = |of: fn(&aqm::Counts) -> u64| self.queue.counts().iter().map(of).sum::<u64>();
        let gone = sum(|counts| counts.departures + counts.drops());
        assert_eq!(sum(|counts| counts.arrivals), self.arrivals, "{what}");
        assert_eq!(self.arrivals, gone + self.queue.len() as u64, "{what}");
    }
}

/// Every field of the algorithm is compared, so that none can be forgotten in `resume`.
#[test]
fn with_the_same_parameters_an_algorithm_continues_as_if_nothing_had_changed() {
    let mut forgetful = vec![];
    'variations: for (what, params) in variations() {
        let (mut left, mut retuned) = (Run::new(&params), Run::new(&params));
        for step in 1..=6000 {
            if left.step() != retuned.step() {
                forgetful.push(format!("{what}: at step {step}"));
                continue 'variations;
            }
            if step % 97 == 0 {
                assert_eq!(retuned.retune(&params, PORT.limit), (true, vec![]), "{what}");
            }
            if [97 * 15, 97 * 38, 97 * 59].contains(&step) {
                let [before, after] = [&left, &retuned].map(|run| format!("{:?}", run.queue.algorithm()));
                if before != after {
                    let place = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
                    let part =
                        |text: &str| text[place.saturating_sub(60)..].chars().take(90).collect::<String>();
                    forgetful.push(format!("{what}: …{}… is …{}…", part(&before), part(&after)));
                    continue 'variations;
                }
            }
        }
        assert_eq!(left.queue.counts(), retuned.queue.counts(), "{what}");
    }
    assert!(forgetful.is_empty(), "{forgetful:#?}");
}

/// Values that a parameter may have.
fn others(kind: ParamKind, unit: &str) -> Vec<Value> {
    let text = |values: &[&str]| values.iter().map(|value| Value::Text((*value).to_owned())).collect();
    match kind {
        ParamKind::Number => [0.015, 0.3, 1.0, 3.0, 30.0].map(Value::Float).into(),
        ParamKind::Count => [1, 4, 32, 256].map(Value::Integer).into(),
        ParamKind::Quantity(_) => text(match unit {
            "s" => &["2 ms", "14 ms", "160 ms", "3 s"],
            "bit/s" => &["3 Mbit/s", "9 Mbit/s"],
            "bytes" => &["400 B", "3000 B", "90 kB"],
            _ => &["0.2 Hz", "3 Hz", "100 Hz"],
        }),
        ParamKind::Switch => [false, true].map(Value::Bool).into(),
        ParamKind::Choice(names) => text(names),
        ParamKind::Words(_) => text(&["raw", "pppoe-ptm ether-vlan", "ethernet overhead 40", "mpu 100"]),
        ParamKind::Algorithm { .. } => text(&INSIDE),
        ParamKind::Text | ParamKind::Table(_) | ParamKind::Named(_) => vec![],
    }
}

/// The parameters with which an algorithm starts anew.
const ANEW: [&str; 35] = [
    "ared.form",
    "cake.ack_filter",
    "cake.diffserv",
    "cake.flowmode",
    "cake.perturbation",
    "cake_mq.ack_filter",
    "cake_mq.diffserv",
    "cake_mq.flowmode",
    "cake_mq.perturbation",
    "cake_mq.queues",
    "choke.form",
    "cobalt.form",
    "dtared.form",
    "feng.form",
    "fq.aqm",
    "fq.by",
    "fq.flows",
    "fq.memory_limit",
    "fq.perturbation",
    "lld.bi_size",
    "lred.weights",
    "nlred.form",
    "police.aqm",
    "raqm.weights",
    "red.form",
    "redtail.long",
    "redtail.short",
    "sfb.bins",
    "sfb.form",
    "sfb.levels",
    "sfq.divisor",
    "sfq.flows",
    "sfq.perturbation",
    "tbf.aqm",
    "wred.average",
];

/// The signals that a parameter bounds, scales or sets, and the counts of pairs, which `key` defines.
const MOVED: [&str; 31] = [
    "ared.bottom: max_p",
    "ared.top: max_p",
    "cake.bandwidth: rate",
    "cake_mq.bandwidth: rate",
    "curvyred.k: p_cl",
    "curvyred.min_th: p",
    "curvyred.min_th: p_cl",
    "curvyred.range_c: p",
    "curvyred.range_c: p_cl",
    "curvyred.u: p",
    "curvyred.u: p_cl",
    "dtared.bottom: max_p",
    "dtared.ceiling: min_th",
    "dtared.floor: min_th",
    "dtared.min_bytes: min_th",
    "dtared.target_delay: min_th",
    "dtared.top: max_p",
    "dualpi2.k: p_cl",
    "feng.bottom: max_p",
    "feng.top: max_p",
    "lld.k: p_cl",
    "lred.l_min: loss_ratio",
    "pi2.k: p_s",
    "raqm.p_min: p_1",
    "raqm.p_min: p_2",
    "raqm.p_min: p_3",
    "raqm.p_min: p_4",
    "redtail.key: pairs",
    "redtail.key: turned",
    "tbf.burst: tokens",
    "tbf.rate: tokens",
];

/// Tries each other value of each parameter of each algorithm; returns the parameters that make it start anew, and the
/// signals that each changes if it does not.
fn changes() -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut anew, mut moved) = (BTreeSet::new(), BTreeSet::new());
    for name in NAMES {
        let params = AnyParams::of(name).expect("a listed algorithm");
        let mut run = Run::new(&params);
        (0..1700).for_each(|_| drop(run.step()));
        for spec in params.specs() {
            for value in others(spec.kind, spec.unit) {
                let what = format!("{name}.{}", spec.name);
                let mut other = params.clone();
                let listed = Value::List(vec![value.clone()]);
                let set = other.set(spec.name, if spec.list { &listed } else { &value });
                if set.is_err() || other.check().is_err() || other == params {
                    continue;
                }
                let mut retuned = run.clone();
                let (resumed, gone) = retuned.retune(&other, PORT.limit);
                if resumed {
                    assert_eq!(gone, [], "{what}");
                    assert_eq!(retuned.waiting(), run.waiting(), "{what}");
                    assert_eq!(retuned.queue.counts(), run.queue.counts(), "{what}");
                    assert_eq!(retuned.queue.lane_counts(), run.queue.lane_counts(), "{what}");
                    let pairs = run.signals().into_iter().zip(retuned.signals());
                    for (signal, (before, after)) in params.signals().iter().zip(pairs) {
                        if (before - after).abs() > 1e-9 * before.abs() {
                            moved.insert(format!("{what}: {}", signal.name));
                        }
                    }
                } else {
                    anew.insert(what.clone());
                }
                (0..700).for_each(|_| drop(retuned.step()));
                retuned.assert_conservation(&what);
                assert!(retuned.queue.fits(), "{what}");
            }
        }
    }
    (anew, moved)
}

#[test]
fn other_parameters_keep_the_state_except_where_counts_or_tables_are_others() {
    let (anew, moved) = changes();
    assert!(anew.iter().eq(&ANEW), "{anew:?}");
    assert!(moved.iter().eq(&MOVED), "{moved:?}");
}

#[test]
fn what_a_smaller_buffer_does_not_hold_is_dropped_from_the_longest_wait_on() {
    for (what, params) in variations() {
        let mut run = Run::new(&params);
        while run.queue.len() < 20 && run.arrivals < 4000 {
            run.step();
        }
        let (waiting, most) = (run.waiting(), (run.queue.len() as u32 / 2).max(1));
        let overflows =
            |run: &Run| run.queue.counts().iter().map(|counts| counts.drops_overflow).sum::<u64>();
        let before = overflows(&run);
        let (resumed, gone) = run.retune(&params, Limit::Packets(most));
        let (dropped, left) = waiting.split_at(waiting.len().saturating_sub(most as usize));
        assert!(resumed, "{what}");
        assert_eq!(
            gone,
            dropped.iter().map(|number| (*number, Outcome::Overflowed)).collect::<Vec<_>>(),
            "{what}"
        );
        assert_eq!(
            (run.waiting(), overflows(&run) - before),
            (left.to_vec(), dropped.len() as u64),
            "{what}"
        );
        (0..2000).for_each(|_| drop(run.step()));
        run.assert_conservation(&what);
        assert!(run.queue.fits(), "{what}");
    }
}

#[test]
fn another_algorithm_is_in_its_initial_state() {
    let of = |name: &str| AnyParams::of(name).expect("a listed algorithm");
    for (i, name) in NAMES.iter().enumerate() {
        let mut run = Run::new(&of(name));
        (0..1700).for_each(|_| drop(run.step()));
        let other = of(NAMES[(i + 1) % NAMES.len()]);
        let mut replaced = run.clone();
        replaced.queue.replace(run.now(), other.build(&PORT), &mut replaced.random, |_, _| {});
        assert!(!run.retune(&other, PORT.limit).0, "{name}");
        let [found, expected] = [&run, &replaced].map(|run| format!("{:?}", run.queue.algorithm()));
        assert_eq!(found, expected, "{name}");
    }
}
