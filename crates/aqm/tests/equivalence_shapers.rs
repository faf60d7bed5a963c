//! Disciplines around others against plain re-implementations, packet by packet and to the nanosecond.

#[path = "reference/shapers.rs"]
mod reference;

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::queue::Frame;
use aqm::{AnyParams, Bytes, Limit, Outcome, Packet, Port, Queue, Time, Uniform};
use reference::{Drr, Fifo, Prio, Qdisc, Tbf, Waiting};
use std::collections::VecDeque;

/// A packet of a row, which has a class of service.
#[derive(Clone, Copy)]
struct Numbered(Packet, usize);

impl Frame for Numbered {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        self.1
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(entries.map(|(key, value)| (key.to_owned(), value)).into())
}

fn named(name: &str, entries: &[(&str, Value)]) -> AnyParams {
    let mut params = AnyParams::of(name).unwrap();
    entries.iter().for_each(|(key, value)| params.set(key, value).unwrap());
    params
}

/// Three classes with these keys besides the service, which is their place.
fn classes(keys: [&[(&str, Value)]; 3]) -> Value {
    let class = |(i, keys): (usize, &[(&str, Value)])| {
        let mut all = vec![("service".to_owned(), Value::Integer(i as i64 + 1))];
        all.extend(keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        (format!("c{i}"), Value::Table(all))
    };
    Value::Table(keys.into_iter().enumerate().map(class).collect())
}

/// Packets that have waited longer are dropped instead of sent.
fn stale(time: &str) -> (&'static str, Value) {
    ("aqm", table([("name", text("step")), ("by", text("delay")), ("delay", text(time))]))
}

/// Bursts and rests, packets of several sizes and of the first three classes of service.
struct Arrivals {
    random: Random,
    now: u64,
    number: u64,
    load: f64,
}

impl Arrivals {
    fn new() -> Self {
        Self { random: Random(11), now: 0, number: 0, load: 1.0 }
    }
}

impl Iterator for Arrivals {
    type Item = Waiting;

    fn next(&mut self) -> Option<Waiting> {
        if self.number.is_multiple_of(300) {
            self.load = [0.3, 1.1, 2.0, 0.8, 4.0][(self.number / 300) as usize % 5];
        }
        let gap = -(1.0 - self.random.uniform()).ln() * 650.0 * 800.0 / self.load;
        // Every fourth comes at the same time as the one before.
        self.now += if self.random.bits().is_multiple_of(4) { 0 } else { gap as u64 };
        let size = [40, 300, 500, 1000, 1500][(self.random.bits() % 5) as usize];
        let class = (self.random.bits() % 3) as usize;
        self.number += 1;
        (self.number <= 30_000).then_some(Waiting { number: self.number - 1, size, class, since: self.now })
    }
}

const BUFFER: Port = Port { limit: Limit::Packets(1_000_000), packet: Bytes(1500), ..PORT };

/// What happens to packets: those sent, with the time, and those dropped.
#[derive(PartialEq, Default, Debug)]
struct Fates {
    sent: Vec<(u64, u64)>,
    dropped: Vec<u64>,
}

/// Runs both in front of a device that takes packets without an end.
fn compare(params: &AnyParams, mut reference: impl Qdisc) {
    params.check().unwrap();
    params.check_on(&BUFFER).unwrap();
    let mut queue = Queue::new(params.build(&BUFFER), &BUFFER, &[1, 2, 3]);
    let (mut ours, mut theirs) = (Fates::default(), Fates::default());
    let mut arrivals = Arrivals::new().peekable();
    let mut now = 0;
    loop {
        let at = Time::from_nanos(now);
        while let Some(packet) = arrivals.next_if(|packet| packet.since == now) {
            let frame = Numbered(Packet::new(packet.size, false), packet.class);
            let late = &mut ours.dropped;
            let (outcome, _) = queue.enqueue_or(at, frame, &mut Random(1), |sent, _| late.push(sent.number));
            if matches!(outcome, Outcome::DroppedEarly | Outcome::Overflowed) {
                ours.dropped.push(packet.number);
            }
            reference.enqueue(now, packet, &mut theirs.dropped);
            // Linux asks for packets after each arrival.
            send(&mut queue, &mut ours, now);
            while let Some(packet) = reference.dequeue(now, &mut theirs.dropped) {
                theirs.sent.push((packet.number, now));
            }
        }
        send(&mut queue, &mut ours, now);
        while let Some(packet) = reference.dequeue(now, &mut theirs.dropped) {
            theirs.sent.push((packet.number, now));
        }
        assert_eq!(queue.len(), reference.len(), "at {now}");
        assert_eq!(ours.sent.last(), theirs.sent.last(), "at {now}");
        let pause = queue.paused_until(at).map(Time::nanos);
        assert_eq!(pause.is_some(), reference.len() > 0, "at {now}");
        let next = [arrivals.peek().map(|packet| packet.since), pause, reference.wake()];
        match next.into_iter().flatten().min() {
            Some(next) => now = next,
            None => break,
        }
    }
    assert_eq!(ours, theirs);
    assert!(ours.sent.len() > 5000 && ours.dropped.len() > 100, "{} sent", ours.sent.len());
}

fn send(queue: &mut Queue<Numbered>, fates: &mut Fates, now: u64) {
    let late = &mut fates.dropped;
    while let Some(sent) =
        queue.dequeue_or(Time::from_nanos(now), &mut Random(1), |sent| late.push(sent.number))
    {
        fates.sent.push((sent.number, now));
    }
}

#[test]
fn a_shaper_sends_each_packet_to_the_nanosecond() {
    let own = [("rate", text("10 Mbit/s")), ("burst", text("5000 B")), ("limit", text("40 packets"))];
    compare(&named("tbf", &own), Tbf::new(Fifo::new(40, None), 800, 5000, None));
    let peak = [("peak_rate", text("40 Mbit/s")), ("mtu", text("1600 B"))];
    compare(
        &named("tbf", &[&own[..], &peak].concat()),
        Tbf::new(Fifo::new(40, None), 800, 5000, Some((200, 1600))),
    );
    // A packet of 1500 bytes never passes.
    let small = [("rate", text("10 Mbit/s")), ("burst", text("1400 B")), ("limit", text("40 packets"))];
    let params = named("tbf", &small);
    assert_eq!(
        params.check_on(&BUFFER).unwrap_err().to_string(),
        "burst = 1400 B: must be at least a packet here, 1500 B: a larger one never leaves"
    );
}

#[test]
fn a_discipline_that_drops_late_is_asked_for_a_packet_before_the_tokens_are_there() {
    let own = [("rate", text("10 Mbit/s")), ("burst", text("3000 B")), ("limit", text("40 packets"))];
    compare(
        &named("tbf", &[&own[..], &[stale("8 ms")]].concat()),
        Tbf::new(Fifo::new(40, Some(8_000_000)), 800, 3000, None),
    );
}

#[test]
fn a_shaper_may_be_inside_another() {
    let inner = table([("name", text("tbf")), ("rate", text("8 Mbit/s")), ("burst", text("2000 B"))]);
    let own = [
        ("rate", text("10 Mbit/s")),
        ("burst", text("1500 B")),
        ("limit", text("30 packets")),
        ("aqm", inner),
    ];
    let child = Tbf::new(Fifo::new(30, None), 1000, 2000, None);
    compare(&named("tbf", &own), Tbf::new(child, 800, 1500, None));
}

#[test]
fn classes_of_priority_come_in_their_order_also_below_a_shaper() {
    let limit = |packets: &str| [("limit", text(packets))];
    let (a, b, c) = (limit("5 packets"), limit("20 packets"), limit("10 packets"));
    // The order is that of `priority`, not that in which they are written.
    let place = |n| ("priority", Value::Integer(n));
    let (a, b, c) =
        ([&a[..], &[place(2)]].concat(), [&b[..], &[place(0)]].concat(), [&c[..], &[place(1)]].concat());
    let inner = named("prio", &[("classes", classes([&a, &b, &c]))]);
    let own = [("rate", text("10 Mbit/s")), ("burst", text("3000 B")), ("aqm", inner.value())];
    struct Ordered(Prio);
    impl Qdisc for Ordered {
        fn enqueue(&mut self, now: u64, packet: Waiting, dropped: &mut Vec<u64>) -> bool {
            self.0.enqueue(now, Waiting { class: [2, 0, 1][packet.class], ..packet }, dropped)
        }
        fn dequeue(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<Waiting> {
            self.0.dequeue(now, dropped)
        }
        fn peek(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<u32> {
            self.0.peek(now, dropped)
        }
        fn len(&self) -> usize {
            self.0.len()
        }
    }
    let child = |limit| Box::new(Fifo::new(limit, None)) as Box<dyn Qdisc>;
    let reference = Ordered(Prio(vec![child(20), child(10), child(5)]));
    compare(&named("tbf", &own), Tbf::new(reference, 800, 3000, None));
}

#[test]
fn what_a_class_of_priority_may_not_send_yet_leaves_the_link_to_those_after_it() {
    let shaper = |rate: &str| {
        let aqm = table([("name", text("tbf")), ("rate", text(rate)), ("burst", text("3000 B"))]);
        [("aqm", aqm), ("limit", text("15 packets"))]
    };
    let (a, b, c) = (shaper("2 Mbit/s"), shaper("4 Mbit/s"), shaper("2 Mbit/s"));
    let child = |byte| Box::new(Tbf::new(Fifo::new(15, None), byte, 3000, None)) as Box<dyn Qdisc>;
    compare(
        &named("prio", &[("classes", classes([&a, &b, &c]))]),
        Prio(vec![child(4000), child(2000), child(4000)]),
    );
}

#[test]
fn classes_take_turns_by_deficit() {
    let class = |quantum: &str, limit: &str| [("quantum", text(quantum)), ("limit", text(limit))];
    let (a, b) = (class("500 B", "10 packets"), class("3000 B", "20 packets"));
    let c = [&class("1 B", "20 packets")[..], &[stale("20 ms")]].concat();
    let inner = named("drr_classes", &[("classes", classes([&a, &b, &c]))]);
    let own = [("rate", text("10 Mbit/s")), ("burst", text("1500 B")), ("aqm", inner.value())];
    let child = |limit, stale| Box::new(Fifo::new(limit, stale)) as Box<dyn Qdisc>;
    let round =
        vec![(child(10, None), 500, 0), (child(20, None), 3000, 0), (child(20, Some(20_000_000)), 1, 0)];
    let round = Drr { classes: round, active: VecDeque::new() };
    // What takes turns is asked for its next packet as a whole.
    struct Kept(Drr, Option<Waiting>);
    impl Qdisc for Kept {
        fn enqueue(&mut self, now: u64, packet: Waiting, dropped: &mut Vec<u64>) -> bool {
            self.0.enqueue(now, packet, dropped)
        }
        fn dequeue(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<Waiting> {
            self.1.take().or_else(|| self.0.dequeue(now, dropped))
        }
        fn peek(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<u32> {
            self.1 = self.1.take().or_else(|| self.0.dequeue(now, dropped));
            self.1.map(|packet| packet.size)
        }
        fn len(&self) -> usize {
            self.0.len() + usize::from(self.1.is_some())
        }
    }
    compare(&named("tbf", &own), Tbf::new(Kept(round, None), 800, 1500, None));
}

/// RFC 2697 and RFC 2698 in fractions of bytes, and Linux's two buckets.
#[test]
fn a_policer_colours_each_packet_as_its_source_says() {
    let rates = [("rate", text("4 Mbit/s")), ("burst", text("6000 B")), ("yellow", text("drop"))];
    let peak = [("peak_rate", text("8 Mbit/s")), ("peak_burst", text("4000 B"))];
    let forms: [(&str, &[(&str, Value)]); 3] =
        [("linux", &peak), ("rfc2697", &[("excess_burst", text("9000 B"))]), ("rfc2698", &peak)];
    for (form, own) in forms {
        let keys = [&[("form", text(form))][..], &rates, own].concat();
        let params = named("police", &keys);
        params.check().unwrap();
        let mut queue = Queue::new(params.build(&BUFFER), &BUFFER, &[1, 2, 3]);
        let (mut c, mut other, mut then) = (6000.0, if form == "rfc2697" { 9000.0 } else { 4000.0 }, 0);
        let mut colours = [0; 3];
        for packet in Arrivals::new() {
            let size = f64::from(packet.size);
            let gap = (packet.since - then) as f64 / 1e9;
            // Linux forgets no time in which nothing passed; the RFCs fill the buckets all the time, which is the same.
            then = packet.since;
            let filled: f64 = c + gap * 500_000.0;
            let excess = (filled - 6000.0).max(0.0);
            c = filled.min(6000.0);
            other = match form {
                "rfc2697" => f64::min(other + excess, 9000.0),
                _ => f64::min(other + gap * 1e6, 4000.0),
            };
            let enough = |tokens: f64| tokens >= size - 1e-6;
            let colour = match (form, enough(c), enough(other)) {
                ("linux", true, true) | ("rfc2697", true, _) | ("rfc2698", true, true) => 0,
                ("rfc2697", false, true) | ("rfc2698", false, true) => 1,
                _ => 2,
            };
            if colour == 0 {
                c -= size;
            }
            if colour == 1 || colour == 0 && form != "rfc2697" {
                other -= size;
            }
            colours[colour] += 1;
            let frame = Numbered(Packet::new(packet.size, false), packet.class);
            let outcome = queue.enqueue(Time::from_nanos(packet.since), frame, &mut Random(1));
            assert_eq!(outcome == Outcome::Queued, colour == 0, "{form}: packet {}", packet.number);
        }
        let mut counted = [0.0; 3];
        queue.algorithm().counters(&mut |name, reading| {
            if let Some(i) = ["green", "yellow", "red"].iter().position(|colour| *colour == name) {
                counted[i] = reading.value();
            }
        });
        assert_eq!(counted, colours.map(f64::from), "{form}");
        assert!(
            colours[0] > 3000 && colours[2] > 3000 && (colours[1] > 300) == (form != "linux"),
            "{colours:?}"
        );
    }
}

/// A class of HTB, whose state follows from its packets alone.
struct Node {
    parent: Option<usize>,
    level: usize,
    priority: usize,
    /// The times of a byte at its rate and at its ceiling, and its bursts in bytes.
    own: (i64, i64),
    ceil: (i64, i64),
    tokens: i64,
    ceil_tokens: i64,
    checked: u64,
}

/// The level from which a leaf may send now.
fn lender(nodes: &[Node], leaf: usize, now: u64) -> Option<usize> {
    let mut class = leaf;
    loop {
        let node = &nodes[class];
        let gap = (now - node.checked) as i64;
        if node.ceil_tokens + gap < 0 {
            return None;
        }
        if node.tokens + gap >= 0 {
            return Some(node.level);
        }
        class = node.parent?;
    }
}

fn pay(nodes: &mut [Node], leaf: usize, level: usize, size: u32, now: u64) {
    let mut next = Some(leaf);
    while let Some(class) = next {
        let node = &mut nodes[class];
        let gap = (now - node.checked) as i64;
        let charged = |tokens: i64, (byte, burst): (i64, i64)| {
            (tokens + gap).min(byte * burst) - byte * i64::from(size)
        };
        node.tokens = if node.level >= level { charged(node.tokens, node.own) } else { node.tokens + gap };
        node.ceil_tokens = charged(node.ceil_tokens, node.ceil);
        node.checked = now;
        next = node.parent;
    }
}

/// Every packet of HTB is sent by a leaf that may, from the nearest level and of the lowest priority, and as soon as one
/// may.
#[test]
fn the_tree_sends_what_may_be_sent_from_the_nearest_class_that_has_tokens() {
    let class = |parent: &str, rate: &str, ceil: &str, priority: i64, quantum: &str| {
        let keys = [
            ("rate", text(rate)),
            ("ceil", text(ceil)),
            ("burst", text("2000 B")),
            ("cburst", text("2000 B")),
            ("priority", Value::Integer(priority)),
            ("quantum", text(quantum)),
        ];
        let parent = (!parent.is_empty()).then(|| ("parent", text(parent)));
        parent.into_iter().chain(keys).map(|(key, value)| (key.to_owned(), value)).collect::<Vec<_>>()
    };
    let leaf = |service: i64, mut keys: Vec<(String, Value)>| {
        keys.push(("service".to_owned(), Value::Integer(service)));
        keys.push(("limit".to_owned(), text("15 packets")));
        Value::Table(keys)
    };
    for priorities in [[0, 0, 0], [1, 0, 1], [0, 1, 2]] {
        let [a, b, c] = priorities;
        let tree = table([
            ("root", Value::Table(class("", "10 Mbit/s", "10 Mbit/s", 0, "1500 B"))),
            ("inner", Value::Table(class("root", "5 Mbit/s", "8 Mbit/s", 0, "1500 B"))),
            ("a", leaf(1, class("inner", "1 Mbit/s", "8 Mbit/s", a, "1500 B"))),
            ("b", leaf(2, class("inner", "2 Mbit/s", "4 Mbit/s", b, "3000 B"))),
            ("c", leaf(3, class("root", "4 Mbit/s", "10 Mbit/s", c, "1500 B"))),
        ]);
        let params = named("htb", &[("classes", tree)]);
        params.check().unwrap();
        let node = |parent, level, priority: i64, own, ceil| Node {
            parent,
            level,
            priority: priority as usize,
            own: (own, 2000),
            ceil: (ceil, 2000),
            tokens: own * 2000,
            ceil_tokens: ceil * 2000,
            checked: 0,
        };
        let mut nodes = [
            node(None, 7, 0, 800, 800),
            node(Some(0), 6, 0, 1600, 1000),
            node(Some(1), 0, a, 8000, 1000),
            node(Some(1), 0, b, 4000, 2000),
            node(Some(0), 0, c, 2000, 800),
        ];
        let mut queue = Queue::new(params.build(&BUFFER), &BUFFER, &[1, 2, 3]);
        let mut arrivals = Arrivals::new().peekable();
        let (mut now, mut sent, mut waiting) = (0, 0, [0_i64; 3]);
        loop {
            let at = Time::from_nanos(now);
            while let Some(packet) = arrivals.next_if(|packet| packet.since == now) {
                let frame = Numbered(Packet::new(packet.size, false), packet.class);
                let (outcome, _) = queue.enqueue_or(at, frame, &mut Random(1), |_, _| {});
                waiting[packet.class] += i64::from(outcome == Outcome::Queued);
            }
            loop {
                let may = (0..3).filter(|leaf| waiting[*leaf] > 0);
                let best = may
                    .filter_map(|leaf| Some((lender(&nodes, leaf + 2, now)?, nodes[leaf + 2].priority, leaf)))
                    .collect::<Vec<_>>();
                let first = best.iter().map(|(level, priority, _)| (*level, *priority)).min();
                let Some(one) = queue.dequeue(at, &mut Random(1)) else {
                    assert_eq!(first, None, "nothing is sent at {now}");
                    break;
                };
                let leaf = one.frame.1;
                let own =
                    best.iter().find(|(.., of)| *of == leaf).map(|(level, priority, _)| (*level, *priority));
                assert_eq!(own, first, "leaf {leaf} sends at {now}");
                let (level, _) = own.unwrap();
                pay(&mut nodes, leaf + 2, level, one.frame.0.size, now);
                waiting[leaf] -= 1;
                sent += 1;
            }
            let pause = queue.paused_until(at).map(Time::nanos);
            assert_eq!(pause.is_some(), waiting.iter().sum::<i64>() > 0, "at {now}");
            match [arrivals.peek().map(|packet| packet.since), pause].into_iter().flatten().min() {
                Some(next) => now = next,
                None => break,
            }
        }
        assert!(sent > 5000, "{sent}");
    }
}

/// Leaves that wait for nothing take turns by deficit: at first each is beyond its own after one packet; then a quantum of
/// three packets gives three in a turn.
#[test]
fn leaves_of_a_tree_take_turns_by_quantum_where_they_send_and_where_they_borrow() {
    let many = || [("ceil", text("8 Gbit/s")), ("cburst", text("1 MB")), ("limit", text("30 packets"))];
    let turns = |rate: &str, burst: &str| {
        let leaf = |service: i64, quantum: &str| {
            let own =
                [("parent", text("root")), ("service", Value::Integer(service)), ("quantum", text(quantum))];
            let own = own.into_iter().chain([("rate", text(rate)), ("burst", text(burst))]).chain(many());
            Value::Table(own.map(|(key, value)| (key.to_owned(), value)).collect())
        };
        let root = table([("rate", text("8 Gbit/s")), ("burst", text("1 MB")), ("cburst", text("1 MB"))]);
        let (a, b, c) = (leaf(1, "1500 B"), leaf(2, "3000 B"), leaf(3, "4500 B"));
        let params = named("htb", &[("classes", table([("root", root), ("a", a), ("b", b), ("c", c)]))]);
        params.check().unwrap();
        params.check_on(&BUFFER).unwrap();
        let mut queue = Queue::new(params.build(&BUFFER), &BUFFER, &[1, 2, 3]);
        for packet in 0..60 {
            let frame = Numbered(Packet::new(1500, false), packet % 3);
            assert_eq!(queue.enqueue(Time::ZERO, frame, &mut Random(1)), Outcome::Queued);
        }
        let mut next =
            || queue.dequeue(Time::ZERO, &mut Random(1)).map(|sent| "abc".as_bytes()[sent.frame.1] as char);
        (0..21).map(|_| next().unwrap()).collect::<String>()
    };
    // After one packet each class borrows, from a level where its deficit begins anew.
    assert_eq!(turns("1 Gbit/s", "1 MB"), "abcabbcccabbcccabbccc");
    assert_eq!(turns("64 bit/s", "1499 B"), "abcabcabbcccabbcccabb");
}
