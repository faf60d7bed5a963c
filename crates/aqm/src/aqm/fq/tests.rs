use super::*;
use crate::any::AnyDiscipline;
use crate::aqm::AnySeveral;
use crate::fixture::{Draw, PORT};
use crate::queue::{Frame, Outcome, Queue};
use crate::unit::Limit;

/// A packet and its flow's name in the test.
#[derive(Clone, Copy)]
struct Named(Packet, char);

impl Frame for Named {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        0
    }
}

/// Fair queueing in a buffer, driven by hand.
struct Host {
    queue: Queue<Named>,
    now: Time,
    /// Whether its packets are ECN-capable.
    ect: bool,
    dropped: String,
}

impl Host {
    fn new(params: Params, limit: Limit) -> Self {
        let port = Port { limit, ..PORT };
        let fq = AnyParams::Fq(Params { perturbation: Some(0), ..params });
        let queue = Queue::new(fq.build(&port), &port, &[1]);
        Self { queue, now: Time::ZERO, ect: false, dropped: String::new() }
    }

    /// Runs the arrival of a packet of the flow called `name`.
    fn arrives(&mut self, name: char, size: u32) -> Outcome {
        let packet = Packet { flow: u64::from(u32::from(name)), ..Packet::new(size, self.ect) };
        let dropped = &mut self.dropped;
        self.queue
            .enqueue_or(self.now, Named(packet, name), &mut Draw(0.5), |sent, _| dropped.push(sent.frame.1))
            .0
    }

    /// Runs this many arrivals.
    fn all(&mut self, name: char, size: u32, count: u32) {
        (0..count).for_each(|_| {
            self.arrives(name, size);
        });
    }

    /// The flows of the next packets for the link, at most `count`.
    fn sends(&mut self, count: usize) -> String {
        let now = self.now;
        (0..count).filter_map(|_| self.queue.dequeue(now, &mut Draw(0.5))).map(|sent| sent.frame.1).collect()
    }

    fn signal(&self, number: usize) -> f64 {
        let mut found = f64::NAN;
        self.queue.algorithm().signals(|i, value| {
            if i == number {
                found = value;
            }
        });
        found
    }
}

fn plain(quantum: u64) -> Params {
    Params { aqm: inside("droptail", &[]), quantum: Some(Bytes(quantum)), ..Params::default() }
}

const ROOM: Limit = Limit::Packets(1000);

#[test]
fn flows_take_turns_of_one_quantum_each() {
    let mut host = Host::new(plain(1000), ROOM);
    host.all('a', 500, 6);
    host.all('b', 500, 6);
    host.all('c', 250, 6);
    assert_eq!(host.sends(16), "aabbccccaabbccaa");
}

#[test]
fn bytes_beyond_the_quantum_are_subtracted_in_the_next_round() {
    let mut host = Host::new(plain(1000), ROOM);
    host.all('a', 700, 9);
    host.all('b', 500, 9);
    // a: 1000 - 2 x 700 = -400, then 600 - 700 = -100, then 900 - 2 x 700 = -500, then 500 - 700.
    assert_eq!(host.sends(14), "aabbabbaabbabb");
}

#[test]
fn a_credit_of_zero_is_spent() {
    let mut host = Host::new(plain(500), ROOM);
    host.all('a', 500, 3);
    host.all('b', 500, 3);
    assert_eq!(host.sends(6), "ababab");
}

#[test]
fn a_new_flow_comes_before_those_that_have_sent_a_quantum() {
    let mut host = Host::new(plain(1000), ROOM);
    host.all('a', 500, 8);
    host.all('b', 500, 8);
    assert_eq!(host.sends(5), "aabba");
    host.all('s', 100, 2);
    assert_eq!(host.sends(4), "ssab");
}

#[test]
fn a_flow_that_pauses_is_not_new_before_the_others_had_their_turn() {
    let mut host = Host::new(plain(1000), ROOM);
    host.all('a', 500, 8);
    host.all('b', 500, 8);
    assert_eq!(host.sends(4), "aabb");
    host.all('s', 100, 1);
    // When s is empty, it moves behind b with its remaining credit, 900 bytes.
    assert_eq!(host.sends(2), "sa");
    host.all('s', 300, 9);
    assert_eq!(host.sends(8), "abbsssaa");
    // Off the lists at last, it is new again.
    let mut host = Host::new(plain(1000), ROOM);
    host.all('a', 500, 8);
    host.all('s', 100, 1);
    assert_eq!(host.sends(6), "aasaaa");
    host.all('s', 100, 1);
    assert_eq!(host.sends(2), "sa");
}

#[test]
fn an_idle_link_forgets_all_turns() {
    let mut host = Host::new(plain(1000), ROOM);
    host.all('a', 900, 1);
    host.all('b', 100, 1);
    assert_eq!(host.sends(2), "ab");
    assert_eq!(host.signal(1), 2.0);
    assert_eq!(host.sends(1), "");
    assert_eq!(host.signal(1), 0.0);
    host.all('b', 600, 3);
    host.all('a', 600, 3);
    assert_eq!(host.sends(6), "bbaaba");
}

#[test]
fn flows_with_the_same_hash_are_one() {
    let mut host = Host::new(Params { flows: 1, ..plain(500) }, ROOM);
    for name in ['a', 'a', 'a', 'b', 'b', 'a'] {
        host.arrives(name, 500);
    }
    assert_eq!(host.sends(6), "aaabba");
}

#[test]
fn the_hash_is_drawn_once_unless_given() {
    let lane = |perturbation, u| {
        let mut fq = Fq::new(&Params { perturbation, ..plain(500) }, &PORT);
        let lanes = [
            fq.lane(&Packet::new(500, false), &mut Draw(u)),
            fq.lane(&Packet::new(500, false), &mut Draw(0.9)),
        ];
        assert_eq!(lanes[0], lanes[1]);
        lanes[0]
    };
    assert_ne!(lane(None, 0.1), lane(None, 0.2));
    assert_eq!(lane(Some(7), 0.1), lane(Some(7), 0.2));
}

#[test]
fn a_full_buffer_makes_room_at_the_head_of_the_longest_queue() {
    let linux = Params { form: Form::LinuxCodel, ..plain(1000) };
    let mut host = Host::new(linux, Limit::Packets(12));
    // In bytes b is longest, in packets a.
    host.all('a', 100, 7);
    host.all('b', 400, 5);
    assert_eq!(host.arrives('c', 100), Outcome::Queued);
    // Half of 2000 bytes: three packets of 400.
    assert_eq!(host.dropped, "bbb");
    assert_eq!(host.queue.len(), 10);
    host.all('c', 500, 2);
    assert_eq!(host.dropped, "bbb");
    // a has 700 bytes, b 800, c 1100, and 1600 with the arrival: two packets, the small one first.
    assert_eq!(host.arrives('c', 500), Outcome::Queued);
    assert_eq!(host.dropped, "bbbccc");
    assert_eq!(host.queue.lane_counts().iter().map(|counts| counts.drops_overflow).sum::<u64>(), 6);
}

#[test]
fn a_batch_is_no_longer_than_drop_batch() {
    let mut host = Host::new(Params { drop_batch: 2, ..plain(1000) }, Limit::Packets(20));
    host.all('a', 500, 20);
    host.arrives('b', 500);
    assert_eq!(host.dropped, "aa");
    let mut host = Host::new(Params { drop_batch: 0, ..plain(1000) }, Limit::Packets(20));
    host.all('a', 500, 20);
    assert_eq!(host.arrives('b', 500), Outcome::Overflowed);
    assert_eq!(host.dropped, "");
}

#[test]
fn memory_is_a_limit_of_its_own_and_frees_what_leaves() {
    // Three packets above 640 bytes, or nine others.
    let limited = Params { memory_limit: Some(Bytes(6912)), drop_batch: 1, ..plain(1000) };
    let mut host = Host::new(limited.clone(), ROOM);
    host.all('a', 641, 3);
    assert_eq!(host.dropped, "");
    host.arrives('b', 640);
    assert_eq!((&*host.dropped, host.queue.len()), ("a", 3));
    assert_eq!(host.sends(3), "aab");
    host.all('a', 640, 9);
    assert_eq!(host.dropped, "a");
    host.arrives('b', 640);
    assert_eq!(host.dropped, "aa");
    // Linux's FQ-PIE counts such packets and drops none.
    let mut host = Host::new(Params { form: Form::LinuxPie, ..limited }, ROOM);
    host.all('a', 641, 30);
    assert_eq!((&*host.dropped, host.queue.len()), ("", 30));
}

#[test]
fn in_bytes_room_is_made_until_the_arrival_fits() {
    let mut host = Host::new(Params { drop_batch: 1, ..plain(1000) }, Limit::Bytes(3000));
    host.all('a', 500, 4);
    host.all('b', 500, 2);
    assert_eq!(host.arrives('c', 1000), Outcome::Queued);
    assert_eq!(host.dropped, "aa");
    // Then c, with 1000 bytes and its arrival's 1500, is the longest queue.
    assert_eq!(host.arrives('c', 1500), Outcome::Overflowed);
    assert_eq!(host.dropped, "aac");
}

#[test]
fn an_arrival_that_is_the_longest_queue_alone_is_dropped() {
    let mut host = Host::new(plain(1000), Limit::Packets(3));
    for name in ['a', 'b', 'c'] {
        host.arrives(name, 500);
    }
    assert_eq!(host.arrives('d', 501), Outcome::Overflowed);
    assert_eq!(host.dropped, "");
    assert_eq!(host.signal(1), 3.0, "its queue takes no part in the round");
    assert_eq!(host.sends(9), "abc");
}

#[test]
fn packets_of_many_quanta_do_not_take_many_rounds() {
    // With as many queues as there may be, so that no two flows share one.
    let mut host = Host::new(Params { flows: 65_536, ..plain(1) }, Limit::Packets(1000));
    for name in 'a'..='z' {
        host.all(name, 4_000_000_000, 3);
    }
    host.all('0', 1_000_000_000, 12);
    // In the rounds for 4 000 000 000 bytes there is time for four packets of a quarter each.
    let sent = host.sends(90);
    assert_eq!(sent.len(), 90);
    assert_eq!(sent[..27], ('a'..='z').chain(['0']).collect::<String>());
    assert_eq!(&sent[27..30], "000");
}

#[test]
fn skipped_rounds_are_those_in_which_no_queue_sends() {
    let mut host = Host::new(plain(10), ROOM);
    host.all('a', 1000, 4);
    host.all('b', 300, 4);
    host.all('c', 25, 9);
    // Credits of 10 pay for: a until round 101, b until 31, 61, 91, c from 3 on, five packets in two rounds.
    assert_eq!(host.sends(3), "abc");
    assert_eq!(host.sends(8), "cccccccc");
    assert_eq!(host.sends(6), "bbbaaa");
}

#[test]
fn the_algorithm_of_a_queue_is_as_old_as_the_link() {
    // ARED moves max_p every half second, with or without packets.
    let params = Params { aqm: inside("ared", &[]), ..plain(500) };
    let mut fq = Fq::new(&params, &PORT);
    let mut alone = params.aqm.on_one_queue(&PORT).unwrap();
    let lanes = vec![Lane::default(); 1024];
    assert_eq!(fq.period(), Some(Span::ms(500)));
    for i in 1..9 {
        fq.on_period(Time::ZERO + Span::ms(500) * i, &Backlog::default(), &lanes);
        alone.on_period(Time::ZERO + Span::ms(500) * i, &Backlog::default());
    }
    fq.on_enqueue(
        Time::ZERO + Span::s(5),
        &Packet::new(500, false),
        &Backlog::default(),
        &lanes,
        &mut Draw(0.5),
    );
    alone.on_enqueue(Time::ZERO + Span::s(5), &Packet::new(500, false), &Backlog::default(), &mut Draw(0.5));
    let (mut ours, mut theirs) = (vec![], vec![]);
    fq.aqms[1].signals(|_, value| ours.push(value));
    alone.signals(|_, value| theirs.push(value));
    assert_eq!(ours, theirs);
    assert_eq!(fq.aqms.len(), 2);
}

#[test]
fn a_marked_packet_is_sent_and_costs_its_credit() {
    let step = [("by", "delay"), ("delay", "0 s")].map(|(key, value)| (key, Value::Text(value.to_owned())));
    let aqm = inside("step", &[&step[..], &[("ecn", Value::Bool(true))]].concat());
    let mut host = Host::new(Params { aqm, ..plain(1000) }, ROOM);
    host.ect = true;
    host.all('a', 500, 6);
    host.all('b', 500, 6);
    host.now = Time::ZERO + Span::ms(1);
    assert_eq!(host.sends(6), "aabbaa");
    assert_eq!(host.queue.counts()[0].marks, 6);
}

#[test]
fn the_algorithm_sees_its_own_queue_at_arrivals() {
    let aqm = inside("step", &[("k", Value::Integer(2))]);
    let mut host = Host::new(Params { aqm, ..plain(1000) }, ROOM);
    let mut outcomes = |name| [0; 4].map(|_| host.arrives(name, 500));
    let early = [Outcome::Queued, Outcome::Queued, Outcome::Queued, Outcome::DroppedEarly];
    assert_eq!([outcomes('a'), outcomes('b')], [early; 2]);
}

#[test]
fn with_one_flow_it_equals_the_inner_algorithm() {
    // RED's average falls while its queue is idle, so RED has to be notified.
    let mut host = Host::new(Params { aqm: inside("red", &[]), ..plain(1000) }, ROOM);
    let mut alone = Queue::new(AnyParams::of("red").unwrap().build(&PORT), &PORT, &[1]);
    let packet = Packet { flow: u64::from(u32::from('a')), ..Packet::new(500, false) };
    let mut drops = 0;
    for i in 0..20_000_u64 {
        // Bursts of 100 packets at twice the link's rate, each followed by a silence.
        host.now = Time::ZERO + Span::us(200) * i + Span::ms(30) * (i / 100);
        let outcome = host.arrives('a', 500);
        assert_eq!(outcome, alone.enqueue(host.now, Named(packet, 'a'), &mut Draw(0.5)), "packet {i}");
        drops += u32::from(outcome == Outcome::DroppedEarly);
        let takes = if i % 100 == 99 { 99 } else { (i % 2) as usize };
        let sent = (0..takes).filter(|_| alone.dequeue(host.now, &mut Draw(0.5)).is_some()).count();
        assert_eq!(host.sends(takes).len(), sent);
        let mut p = f64::NAN;
        alone.algorithm().signals(|number, value| p = if number == 0 { value } else { p });
        assert_eq!(host.signal(0).to_bits(), p.to_bits(), "packet {i}");
    }
    assert!(drops > 500, "{drops}");
}

#[test]
fn each_queue_is_notified_once_when_it_is_empty() {
    let mut host = Host::new(plain(1000), ROOM);
    host.all('a', 500, 1);
    host.all('b', 500, 9);
    let idle = |host: &Host| match host.queue.algorithm() {
        AnyDiscipline::Several(AnySeveral::Fq(fq)) => fq.places.iter().filter(|place| !place.idle).count(),
        _ => unreachable!(),
    };
    assert_eq!(idle(&host), 2);
    assert_eq!(host.sends(2), "ab");
    assert_eq!(idle(&host), 1);
    host.all('a', 500, 1);
    assert_eq!(idle(&host), 2);
    host.sends(99);
    assert_eq!(idle(&host), 0);
}

#[test]
fn an_algorithm_inside_learns_of_the_packets_that_its_queue_loses() {
    for (name, full) in [("blue", true), ("cobalt", true), ("lred", true), ("codel", false)] {
        let mut host = Host::new(Params { aqm: inside(name, &[]), ..plain(1000) }, Limit::Packets(20));
        host.all('a', 500, 100);
        let blue = host.signal(0) > 0.0;
        host.now = Time::ZERO + Span::s(1);
        host.queue.on_period(host.now);
        host.all('a', 500, 1);
        assert_eq!(blue || host.signal(0) > 0.0, full, "{name}");
    }
}

#[test]
fn a_flood_through_blue_is_dropped_early() {
    let mut host = Host::new(Params { aqm: inside("blue", &[]), ..plain(1000) }, Limit::Packets(50));
    for ms in 0..60_000 {
        host.now = Time::ZERO + Span::ms(ms);
        host.all('a', 500, 2);
        host.sends(1);
    }
    let counts = host.queue.counts()[0];
    assert!(counts.drops_early > 10 * counts.drops_overflow, "{counts:?}");
}

#[test]
fn without_precedence_a_new_flow_waits_its_turn() {
    let mut host = Host::new(Params { new_first: false, ..plain(1000) }, ROOM);
    host.all('a', 500, 8);
    host.all('b', 500, 8);
    assert_eq!(host.sends(5), "aabba");
    host.all('s', 100, 2);
    assert_eq!(host.sends(5), "abbss");
}

#[test]
fn a_full_buffer_drops_half_of_the_packets_or_in_linux_half_of_the_bytes() {
    let lost = |form| {
        let mut host = Host::new(Params { form, ..plain(1000) }, Limit::Packets(10));
        host.all('a', 1000, 2);
        host.all('a', 100, 8);
        host.arrives('b', 10);
        host.dropped
    };
    assert_eq!((lost(Form::Rfc), lost(Form::LinuxCodel)), ("aaaaa".to_owned(), "aa".to_owned()));
}

#[test]
fn a_host_may_have_one_queue_for_all_its_flows() {
    for (by, queues) in [(By::Flow, 6.0), (By::Pair, 4.0), (By::Source, 2.0), (By::Destination, 3.0)] {
        let fq = AnyParams::Fq(Params { by, perturbation: Some(0), ..plain(1000) });
        let mut queue = Queue::new(fq.build(&PORT), &PORT, &[1]);
        queue.set_labels(crate::Labels { hosts: vec![[1, 7], [1, 8], [2, 8], [2, 9]], dscps: vec![] });
        for (flow, pair) in [(10, 0), (11, 0), (12, 1), (13, 2), (14, 3), (15, 3)] {
            let packet = Packet { flow, pair, ..Packet::new(500, false) };
            queue.enqueue(Time::ZERO, Named(packet, 'x'), &mut Draw(0.5));
        }
        let mut listed = f64::NAN;
        queue.algorithm().signals(|i, value| {
            if i == 1 {
                listed = value;
            }
        });
        assert_eq!(listed, queues, "{by:?}");
    }
}
