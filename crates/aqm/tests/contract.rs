//! Properties of every algorithm in the list, including new ones.

use crate::support::{PORT, Random};
use crate::variations::variations;
use aqm::Signal;
use aqm::aqm::NAMES;
use aqm::params::{ParamKind, Range, Spec, Value};
use aqm::queue::Frame;
use aqm::unit::Bytes;
use aqm::{AnyParams, Limit, Outcome, Packet, Port, Queue, Rate, Span, Time, Uniform};
use proptest::prelude::*;

fn defaults() -> impl Iterator<Item = AnyParams> {
    NAMES.iter().map(|name| AnyParams::of(name).expect("a listed algorithm"))
}

#[test]
fn every_algorithm_builds_from_its_defaults_and_presets() {
    for (what, params) in variations() {
        assert_eq!(params.check(), Ok(()), "{what}");
        let aqm = params.build(&PORT);
        assert!(aqm.lanes() >= 1, "{what}");
        assert_ne!(aqm.period(), Some(Span::ZERO), "{what}");
    }
    for params in defaults() {
        assert_eq!(params.preset("no such preset"), None, "{}", params.name());
    }
    assert!(AnyParams::of("no such algorithm").is_none());
}

#[test]
fn parameters_read_what_they_write() {
    for (what, params) in variations() {
        let mut copy = AnyParams::of(params.name()).unwrap();
        for (name, value) in params.values() {
            copy.set(name, &value).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
        assert_eq!(copy, params, "{what}");
    }
}

#[test]
fn every_name_and_alias_means_one_parameter() {
    for mut params in defaults() {
        let values = params.values();
        let specs = params.specs();
        let names: Vec<&str> = specs.iter().flat_map(|spec| [&[spec.name], spec.aliases].concat()).collect();
        for name in &names {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{}: {name}", params.name());
        }
        for (spec, (_, value)) in specs.iter().zip(values) {
            for name in spec.aliases {
                params.set(name, &value).unwrap();
            }
            assert!(!spec.doc.is_empty(), "{}: {} has no documentation", params.name(), spec.name);
        }
    }
}

/// Values that no parameter like `spec` allows.
fn forbidden(spec: &Spec) -> Vec<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    let quantity = |x: f64| Value::Text(format!("{x} {}", spec.unit));
    let Range { low, low_included, high } = spec.range;
    let mut numbers = vec![];
    if high < f64::MAX {
        numbers.push(high * 1.1 + 1.0);
    }
    if low > f64::MIN {
        numbers.push(low - 1.0);
    }
    if !low_included {
        numbers.push(low);
    }
    let mut values = match spec.kind {
        ParamKind::Number => {
            numbers.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
            [numbers.into_iter().map(Value::Float).collect(), vec![text("1"), Value::Bool(true)]].concat()
        }
        ParamKind::Count => {
            let whole = numbers.into_iter().map(|x| Value::Integer(x as i64));
            whole.chain([Value::Integer(-1), Value::Float(1.5), Value::Float(f64::NAN), text("1")]).collect()
        }
        ParamKind::Quantity(_) => {
            numbers.extend([f64::NAN, f64::INFINITY, -1.0]);
            let bare =
                [Value::Integer(1), Value::Float(1.0), Value::Float(f64::NAN), text("1"), text("1 parsec")];
            numbers.into_iter().map(quantity).chain(bare).collect()
        }
        ParamKind::Switch => vec![Value::Integer(1), text("true")],
        ParamKind::Choice(_) | ParamKind::Words(_) => vec![text("no such choice"), Value::Bool(true)],
        ParamKind::Text => vec![Value::Integer(1)],
        ParamKind::Algorithm { several } => {
            let of_several = (!several).then(|| text("fq"));
            [Value::Integer(1), text("no such algorithm")].into_iter().chain(of_several).collect()
        }
        ParamKind::Table(_) | ParamKind::Named(_) => {
            let entry = |key: &str, value| Value::Table(vec![(key.to_owned(), value)]);
            let unknown = entry("no_such_key", Value::Integer(1));
            let none = matches!(spec.kind, ParamKind::Named(_)).then(|| Value::Table(vec![]));
            let named = entry("name", unknown.clone());
            [Value::Integer(1), text("x"), named, unknown].into_iter().chain(none).collect()
        }
    };
    values.extend([text(""), Value::List(vec![])]);
    if !spec.optional {
        values.push(text("auto"));
    }
    values
}

#[test]
fn forbidden_values_are_refused_by_name() {
    for mut params in defaults() {
        let before = params.clone();
        for spec in before.specs() {
            for value in forbidden(spec) {
                let error = params.set(spec.name, &value).expect_err(&format!("{} = {value}", spec.name));
                assert!(error.to_string().starts_with(spec.name), "{error}");
            }
        }
        let error = params.set("no_such_key", &Value::Integer(1)).unwrap_err();
        assert_eq!(error.to_string(), "no_such_key: no such parameter");
        assert_eq!(params, before, "a refused value leaves a trace");
    }
}

/// Without a target queue length, `target` may have another meaning: a delay (CoDel), or the length of a bin (SFB).
#[test]
fn q0_is_the_target_of_all_that_have_one_and_of_no_other() {
    for mut params in defaults() {
        let has_target = params.target().is_some();
        for (alias, q) in [("q0", 60), ("target", 70)] {
            let is_known = params.set(alias, &Value::Integer(q)).is_ok();
            assert!(is_known || !has_target, "{}: {alias}", params.name());
            assert!(!is_known || has_target || alias == "target", "{}: {alias}", params.name());
            assert_eq!(params.target(), has_target.then_some(q as f64), "{}: {alias}", params.name());
        }
    }
}

#[test]
fn the_documentation_has_its_sections() {
    for params in defaults() {
        let doc = params.doc();
        let first = doc.lines().next().unwrap_or_default();
        assert!(first.contains(": ") && first.ends_with('.'), "{}: {first:?}", params.name());
        let flat = doc.replace('\n', " ");
        for part in [
            " Decides at: ",
            " Timer: ",
            " Randomness: ",
            " State: ",
            " # Departures from the source ",
            " # Sources ",
        ] {
            assert!(flat.contains(part), "{} lacks {part:?}", params.name());
        }
    }
}

/// Whether the algorithm never draws a random number.
fn is_deterministic(params: &AnyParams) -> bool {
    params.doc().replace('\n', " ").contains(" Randomness: none.")
}

#[test]
fn p_is_the_first_signal_of_all_that_drop_at_random_and_of_no_other() {
    for params in defaults() {
        let names: Vec<&str> = params.signals().iter().map(|signal| signal.name).collect();
        let place = names.iter().position(|name| *name == "p");
        assert_eq!(place, (!is_deterministic(&params)).then_some(0), "{}", params.name());
        let mut order = vec![];
        params.build(&PORT).signals(|i, _| order.push(i));
        assert_eq!(order, (0..names.len()).collect::<Vec<_>>(), "{}", params.name());
    }
}

/// A source whose draws make every random event happen.
struct Unlucky;

impl Uniform for Unlucky {
    fn uniform(&mut self) -> f64 {
        0.0
    }
}

/// Drop-tail never punishes, and RED, PIE and PI2 never punish an arrival that finds fewer than two packets. PI, REM
/// and LRED may do so after congestion, until their state has decayed; but from a fresh start, and as long as every
/// arrival finds the queue empty, their state stays at 0: PI moves by -(a - b) q_ref, clipped; REM's price by -gamma
/// alpha b_star (in the rate form by less, since a queue that stays empty receives no more than c; c in ns-2's
/// 1000-byte packets is too small for a busy link of smaller ones, hence its longer gaps); and LRED has had no loss.
/// AVQ's virtual queue is never longer than a few packets, since these arrive at less than its initial capacity.
/// RAQM's p is multiplied by the queue, unless its mode looks at the rate only: that mode is excepted; so is CAKE's shaper
/// while it looks for the rate, which makes packets wait.
#[test]
fn an_empty_queue_is_never_punished_from_a_fresh_start() {
    let mut random = Random(1);
    for (what, params) in variations() {
        if what.contains("queue-independent") || what.contains("autorate_ingress=true") {
            continue;
        }
        let mut queue = Queue::new(params.build(&PORT), &PORT, &[1]);
        let mut host = Host::new(&queue);
        for _ in 0..20_000 {
            assert!(queue.dequeue(host.now, &mut Unlucky).is_none());
            let gap = Span::us(if what.starts_with("rem ") { 500 } else { 400 } + random.bits() % 1900);
            host.advance(&mut queue, gap);
            let outcome = queue.enqueue(host.now, Labelled::new(500, true, 0), &mut Unlucky);
            assert_eq!(outcome, Outcome::Queued, "{what} at {:?}", host.now);
            assert!(queue.dequeue(host.now, &mut Unlucky).is_some_and(|sent| !sent.frame.marked), "{what}");
        }
    }
}

/// A packet that records its fate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Labelled {
    packet: Packet,
    row: usize,
    number: u64,
    marked: bool,
}

impl Labelled {
    fn new(size: u32, ect: bool, number: u64) -> Self {
        Self { packet: Packet::new(size, ect), row: 0, number, marked: false }
    }
}

impl Frame for Labelled {
    fn packet(&self) -> Packet {
        self.packet
    }
    fn mark(&mut self) {
        assert!(self.packet.ect, "marked a packet that is not ECN-capable");
        self.marked = true;
    }
    fn row(&self) -> usize {
        self.row
    }
}

/// Calls the algorithm's timer on time.
struct Host {
    now: Time,
    next_period: Time,
}

impl Host {
    fn new(queue: &Queue<Labelled>) -> Self {
        Self { now: Time::ZERO, next_period: queue.period().map_or(Time::MAX, |period| Time::ZERO + period) }
    }

    fn advance(&mut self, queue: &mut Queue<Labelled>, span: Span) {
        self.now += span;
        while self.next_period <= self.now {
            queue.on_period(self.next_period);
            self.next_period += queue.period().expect("a timer");
        }
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Arrive { size: u32, ect: bool, flow: u8 },
    Burst { size: u32, count: u8 },
    Depart { count: u8 },
    Wait(Span),
}

const ABSURD: u32 = 1_000_000_000;

/// Sizes of usual packets, and occasionally absurd ones.
fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![30 => 1_u32..2000, 1 => Just(ABSURD)]
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        4 => (sizes(), any::<bool>(), any::<u8>())
            .prop_map(|(size, ect, flow)| Operation::Arrive { size, ect, flow }),
        2 => (40_u32..1500, any::<u8>()).prop_map(|(size, count)| Operation::Burst { size, count }),
        2 => any::<u8>().prop_map(|count| Operation::Depart { count: count / 4 }),
        2 => (0_u64..10_000).prop_map(|us| Operation::Wait(Span::us(us))),
        1 => (0_u64..500).prop_map(|ms| Operation::Wait(Span::ms(ms))),
    ];
    prop::collection::vec(operation, 1..100)
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1_u32..300).prop_map(Limit::Packets),
        Just(Limit::Packets(1)),
        (1_u64..100_000).prop_map(Limit::Bytes),
        (1_u64..100_000).prop_map(Limit::BytesBefore)
    ]
}

/// The fates of the packets after the operations, in order.
#[derive(PartialEq, Debug)]
enum Fate {
    Arrived(Outcome),
    Left(Labelled, usize, Span),
}

/// Whether disciplines of any kind are inside, or a queue with a buffer of its own, which may be full before the buffer is.
fn has_limits_inside(params: &AnyParams) -> bool {
    let is_around =
        |spec: &Spec| matches!(spec.kind, ParamKind::Algorithm { several: true } | ParamKind::Named(_));
    params.name() == "lld" || params.specs().iter().any(is_around)
}

/// A queue, and an independent record of its content.
struct Model {
    queue: Queue<Labelled>,
    signals: &'static [Signal],
    host: Host,
    random: Random,
    limit: Limit,
    has_limits_inside: bool,
    arrivals: u64,
    /// Those since the last change of the algorithm, and the packets that waited then.
    arrivals_in_lanes: u64,
    /// Waiting packets that were dropped.
    dropped_late: u64,
    fates: Vec<Fate>,
}

impl Model {
    fn new(params: &AnyParams, limit: Limit, seed: u64) -> Self {
        let port = Port { limit, rate: Rate::mbit_per_s(4), ..PORT };
        let queue = Queue::new(params.build(&port), &port, &[1, 2, 3, 4]);
        let host = Host::new(&queue);
        let signals = params.signals();
        Self {
            queue,
            signals,
            host,
            random: Random(seed),
            limit,
            has_limits_inside: has_limits_inside(params),
            arrivals: 0,
            arrivals_in_lanes: 0,
            dropped_late: 0,
            fates: vec![],
        }
    }

    /// The packets of a flow are all TCP or all UDP, and all of one row.
    fn arrive(&mut self, size: u32, ect: bool, flow: u8) {
        let backlog = self.queue.backlog(size);
        let packet = Packet {
            flow: u64::from(flow % 50),
            pair: u32::from(flow % 10),
            udp: flow.is_multiple_of(5),
            l4s: ect && flow.is_multiple_of(2),
            class: 1 + flow % 4,
            ..Packet::new(size, ect)
        };
        let row = usize::from(flow % 4);
        let frame = Labelled { packet, row, number: self.arrivals, marked: false };
        self.arrivals += 1;
        self.arrivals_in_lanes += 1;
        let late = &mut self.dropped_late;
        let (outcome, _) = self.queue.enqueue_or(self.host.now, frame, &mut self.random, |sent, _| {
            assert_eq!(sent.number, sent.frame.number);
            *late += 1;
        });
        if outcome == Outcome::Overflowed {
            assert!(backlog.full || self.has_limits_inside, "overflow is for a full buffer");
        } else if outcome != Outcome::DroppedEarly {
            assert!(!backlog.full || self.dropped_late > 0, "a full buffer has no room");
        }
        self.fates.push(Fate::Arrived(outcome));
    }

    fn depart(&mut self) -> bool {
        let late = &mut self.dropped_late;
        let sent = self.queue.dequeue_or(self.host.now, &mut self.random, |_| *late += 1);
        if let Some(sent) = &sent {
            assert_eq!(sent.number, sent.frame.number);
            self.fates.push(Fate::Left(sent.frame, sent.lane, sent.sojourn));
        }
        sent.is_some()
    }

    /// Puts another algorithm in place of the present one.
    fn replace(&mut self, params: &AnyParams) {
        let port = Port { limit: self.limit, rate: Rate::mbit_per_s(4), ..PORT };
        let waiting: Vec<u64> = self.queue.waiting().map(|stored| stored.number).collect();
        let (mut gone, now) = (Vec::new(), self.host.now);
        self.queue.replace(now, params.build(&port), &mut self.random, |sent, outcome| {
            assert!(matches!(outcome, Outcome::DroppedEarly | Outcome::Overflowed), "{outcome:?}");
            assert_eq!(sent.number, sent.frame.number);
            gone.push(sent.number);
        });
        let left = self.queue.waiting().map(|stored| {
            assert_eq!(stored.number, stored.frame.number);
            stored.number
        });
        let mut found: Vec<u64> = left.chain(gone.iter().copied()).collect();
        found.sort_unstable();
        assert!(found.is_sorted_by(|a, b| a < b), "each once");
        let mut waiting = waiting;
        waiting.sort_unstable();
        assert_eq!(found, waiting, "each waits or is dropped");
        self.arrivals_in_lanes = waiting.len() as u64;
        self.dropped_late += gone.len() as u64;
        self.signals = params.signals();
        self.has_limits_inside = has_limits_inside(params);
        self.host.next_period = self.queue.period().map_or(Time::MAX, |period| now + period);
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Arrive { size, ect, flow } => self.arrive(size, ect, flow),
            Operation::Burst { size, count } => (0..count).for_each(|i| self.arrive(size, i % 4 < 2, i)),
            Operation::Depart { count } => (0..count).for_each(|_| {
                self.depart();
            }),
            Operation::Wait(span) => self.host.advance(&mut self.queue, span),
        }
    }

    /// Asserts the invariants after every operation.
    fn verify(&self) {
        let backlog = self.queue.backlog(0);
        match self.limit {
            Limit::Packets(limit) => assert!(backlog.packets <= limit),
            Limit::Bytes(limit) => assert!(backlog.bytes <= limit),
            // One packet may exceed the limit.
            Limit::BytesBefore(limit) => assert!(backlog.bytes < limit + u64::from(ABSURD)),
        }
        self.queue.algorithm().signals(|i, value| {
            assert!(value.is_finite(), "signal {i} is {value}");
            assert!(self.signals[i].name != "p" || (0.0..=1.0).contains(&value), "p is {value}");
        });
        let sum = |field: fn(&aqm::Counts) -> u64| self.queue.counts().iter().map(field).sum::<u64>();
        let dropped = sum(|c| c.drops_early) + sum(|c| c.drops_overflow);
        assert_eq!(sum(|c| c.arrivals), self.arrivals);
        assert_eq!(self.arrivals, sum(|c| c.departures) + dropped + u64::from(backlog.packets));
        assert_eq!(self.queue.waiting().count() as u32, backlog.packets);
        if !self.queue.lanes().is_empty() {
            let lanes = self.queue.lanes();
            assert_eq!(lanes.iter().map(|lane| lane.packets).sum::<u32>(), backlog.packets);
            assert_eq!(lanes.iter().map(|lane| lane.bytes).sum::<u64>(), backlog.bytes);
            let of_lanes = self.queue.lane_counts().iter().map(|counts| counts.arrivals).sum::<u64>();
            assert_eq!(of_lanes, self.arrivals_in_lanes);
        }
    }

    /// Waits until the algorithm lets the link send; whether it had paused it.
    fn resume(&mut self) -> bool {
        let paused = self.queue.paused_until(self.host.now);
        if let Some(until) = paused {
            self.host.advance(&mut self.queue, until - self.host.now);
        }
        paused.is_some()
    }

    /// Drains the queue, and asserts that every accepted packet leaves, in order in each lane, except late drops.
    fn drain(mut self) -> Vec<Fate> {
        while self.depart() || self.resume() {}
        self.verify();
        assert_eq!(self.queue.backlog(0).bytes, 0);
        let (mut left, mut last) = (vec![], vec![None; self.queue.lanes().len().max(1)]);
        let (mut accepted, mut dropped_on_arrival) = (0, 0);
        for fate in &self.fates {
            match fate {
                Fate::Left(frame, lane, _) => {
                    assert!(last[*lane] < Some(frame.number), "left out of order");
                    last[*lane] = Some(frame.number);
                    left.push(frame);
                }
                Fate::Arrived(Outcome::Queued | Outcome::Marked) => accepted += 1,
                Fate::Arrived(Outcome::DroppedEarly | Outcome::Overflowed) => dropped_on_arrival += 1,
            }
        }
        let sum = |field: fn(&aqm::Counts) -> u64| self.queue.counts().iter().map(field).sum::<u64>();
        assert_eq!(
            sum(|c| c.drops_early) + sum(|c| c.drops_overflow),
            dropped_on_arrival + self.dropped_late
        );
        assert_eq!(left.len() as u64 + self.dropped_late, accepted);
        assert_eq!(
            left.iter().map(|frame| u64::from(frame.packet.size)).sum::<u64>(),
            sum(|c| c.departed_bytes)
        );
        // Every mark but those of packets that were then dropped late.
        let marked = left.iter().filter(|frame| frame.marked).count() as u64;
        assert!((marked..=marked + self.dropped_late).contains(&sum(|c| c.marks)));
        self.fates
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_whatever_happens(ops in operations(), limit in limits(), seed: u64) {
        for (what, params) in variations() {
            let mut model = Model::new(&params, limit, seed);
            for operation in &ops {
                model.apply(operation);
                model.verify();
            }
            let fates = model.drain();

            let mut again = Model::new(&params, limit, seed);
            ops.iter().for_each(|operation| again.apply(operation));
            prop_assert_eq!(fates, again.drain(), "{}: same seed, other fates", what);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_algorithm_takes_over_the_queue_of_any_other(
        before in operations(), after in operations(), limit in limits(), seed: u64, shift: prop::sample::Index
    ) {
        let all = variations();
        for (i, (_, params)) in all.iter().enumerate() {
            let other = &all[(i + 1 + shift.index(all.len() - 1)) % all.len()].1;
            let mut model = Model::new(params, limit, seed);
            before.iter().for_each(|operation| model.apply(operation));
            model.queue.begin_window();
            let then = model.queue.counts().to_vec();
            model.apply(&Operation::Burst { size: 700, count: 20 });
            model.replace(other);
            model.verify();
            for operation in &after {
                model.apply(operation);
                model.verify();
            }
            while model.depart() || model.resume() {}
            model.verify();
            prop_assert_eq!(model.queue.backlog(0).bytes, 0);
            for (now, then) in model.queue.counts().iter().zip(then) {
                let since = now.since(&then);
                let lost = since.drops_early + since.drops_overflow - since.earlier_drops;
                let marked = since.marks - since.earlier_marks;
                prop_assert!(lost <= since.arrivals && marked <= since.arrivals, "{:?}", since);
            }
        }
    }
}

/// All algorithms except those that leave drops to the buffer or to an inner algorithm.
#[test]
fn every_early_dropper_drops_and_marks_under_overload() {
    let decides = |params: &AnyParams| params.specs().iter().any(|spec| spec.name == "ecn");
    for mut params in defaults().filter(decides) {
        for ecn in [false, true] {
            params.set("ecn", &Value::Bool(ecn)).unwrap();
            let mut model = Model::new(&params, Limit::Packets(200), 7);
            // 40 flows that nothing slows down, alternately for 2 s a quarter more than the link sends, and four times
            // as much. FRED, which accepts nothing in a long queue, marks in the former, SRED drops in the latter.
            let mut random = Random(1);
            for step in 0..50_000 {
                let arrivals = if step / 5000 % 2 == 0 { 1 + u32::from(step % 4 == 0) } else { 4 };
                for _ in 0..arrivals {
                    let bits = random.bits();
                    let (ect, flow) = (bits.is_multiple_of(2), (bits >> 8) % 40);
                    model.apply(&Operation::Arrive { size: 500, ect, flow: flow as u8 });
                }
                model.apply(&Operation::Depart { count: 1 });
                model.apply(&Operation::Wait(Span::us(400)));
            }
            let sum = |field: fn(&aqm::Counts) -> u64| model.queue.counts().iter().map(field).sum::<u64>();
            let (drops, marks) = (sum(|counts| counts.drops_early), sum(|counts| counts.marks));
            assert!(drops > 200, "{} with ecn = {ecn}: {drops} drops", params.name());
            // PIE marks only until p has risen to a tenth, which is soon.
            let least = if params.name() == "pie" { 10 } else { 200 };
            let marked = if ecn { marks > least } else { marks == 0 };
            assert!(marked, "{} with ecn = {ecn}: {marks} marks", params.name());
        }
    }
}

/// The others, and two without a choice: JoBS drops early only late packets, which a mark would not help; and JoBS
/// with ECN marks, or leaves drops to the buffer. Low Latency DOCSIS marks in one queue and drops in the other, CAKE marks
/// always, SFQ has RED's ECN, and the last are around others.
#[test]
fn only_algorithms_that_leave_drops_to_others_lack_ecn() {
    let lack = |params: &AnyParams| params.specs().iter().all(|spec| spec.name != "ecn");
    let names: Vec<&str> = defaults().filter(lack).map(|params| params.name()).collect();
    let own = ["droptail", "headdrop", "jobs_ecn", "fq", "jobs", "lld", "redtail", "sfq", "cake", "cake_mq"];
    let around = ["tbf", "prio", "drr_classes", "htb", "police"];
    assert_eq!(names, [&own[..], &around].concat());
}

#[test]
fn the_mtu_is_that_of_a_device_of_linux() {
    let mtu = |packet, header| Port { packet: Bytes(packet), header: Bytes(header), ..PORT }.mtu();
    assert_eq!(
        [mtu(1500, 0), mtu(1514, 14), mtu(590, 14), mtu(9000, 0)],
        [1500, 1514, 1514, 9000].map(Bytes)
    );
}
