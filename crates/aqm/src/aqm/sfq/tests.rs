use super::*;
use crate::aqm::AnyParams;
use crate::fixture::{Draw, PORT};
use crate::queue::{Frame, Outcome, Queue};

/// A packet and its flow's name in the test.
#[derive(Clone, Copy)]
struct Named(Packet, char, u32);

impl Frame for Named {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        0
    }
}

/// SFQ in a buffer of packets, driven by hand.
struct Host {
    queue: Queue<Named>,
    sent: u32,
    dropped: Vec<(char, u32)>,
}

impl Host {
    fn new(params: Params, limit: u32) -> Self {
        let port = Port { limit: Limit::Packets(limit), ..PORT };
        let sfq = AnyParams::Sfq(Params { perturbation: Some(0), ..params });
        Self { queue: Queue::new(sfq.build(&port), &port, &[1]), sent: 0, dropped: vec![] }
    }

    /// Packets of the flows named, 500 bytes each, numbered from 1 on.
    fn arrive(&mut self, flows: &str) -> Vec<Outcome> {
        let mut outcomes = vec![];
        for name in flows.chars() {
            self.sent += 1;
            let packet = Packet { flow: u64::from(u32::from(name)), ..Packet::new(500, true) };
            let (frame, dropped) = (Named(packet, name, self.sent), &mut self.dropped);
            let lost = |sent: &crate::Sent<Named>, _| dropped.push((sent.frame.1, sent.frame.2));
            outcomes.push(self.queue.enqueue_or(Time::ZERO, frame, &mut Draw(0.5), lost).0);
        }
        outcomes
    }

    fn sends(&mut self, count: usize) -> String {
        (0..count)
            .filter_map(|_| self.queue.dequeue(Time::ZERO, &mut Draw(0.5)))
            .map(|sent| sent.frame.1)
            .collect()
    }
}

fn quantum(bytes: u64) -> Params {
    Params { quantum: Some(Bytes(bytes)), ..Params::default() }
}

#[test]
fn queues_send_a_quantum_in_turn_and_new_ones_come_last() {
    let mut host = Host::new(quantum(1000), 100);
    host.arrive("aaaaaabbbbbb");
    assert_eq!(host.sends(5), "aabba");
    host.arrive("s");
    // The new queue waits for all others.
    assert_eq!(host.sends(8), "abbsaabb");
}

#[test]
fn the_last_packet_of_a_queue_is_not_charged_and_credit_is_forgotten() {
    let mut host = Host::new(quantum(500), 100);
    host.arrive("ab");
    assert_eq!(host.sends(1), "a");
    host.arrive("a");
    assert_eq!(host.sends(3), "ba");
}

#[test]
fn a_full_buffer_drops_the_last_packet_of_the_longest_queue() {
    let mut host = Host::new(quantum(1000), 6);
    host.arrive("aaaabb");
    assert_eq!(host.arrive("c"), [Outcome::Queued]);
    assert_eq!(host.dropped, [('a', 4)]);
    // a and the arrival's b have three each: the arrival made b so, last.
    assert_eq!(host.arrive("b"), [Outcome::Overflowed]);
    assert_eq!(host.dropped.len(), 1);
    let mut head = Host::new(Params { headdrop: true, ..quantum(1000) }, 6);
    head.arrive("aaaabb");
    assert_eq!(head.arrive("cb"), [Outcome::Queued; 2]);
    assert_eq!(head.dropped, [('a', 1), ('b', 5)]);
}

#[test]
fn where_all_are_alone_the_next_to_be_served_is_lost() {
    let mut host = Host::new(quantum(1000), 3);
    host.arrive("abcd");
    assert_eq!(host.dropped, [('a', 1)]);
    assert_eq!(host.sends(9), "bcd");
}

#[test]
fn a_queue_has_its_depth_and_a_flow_without_a_queue_is_refused() {
    let mut host = Host::new(Params { depth: 2, ..quantum(1000) }, 100);
    assert_eq!(host.arrive("aaa")[2], Outcome::DroppedEarly);
    let mut head = Host::new(Params { depth: 2, headdrop: true, ..quantum(1000) }, 100);
    assert_eq!(head.arrive("aaa")[2], Outcome::Queued);
    assert_eq!(head.dropped, [('a', 1)]);
    let mut few = Host::new(Params { flows: 2, ..quantum(1000) }, 100);
    assert_eq!(few.arrive("abc")[2], Outcome::DroppedEarly);
    assert_eq!(few.sends(9), "ab");
    assert_eq!(few.arrive("c"), [Outcome::Queued]);
}

#[test]
fn red_works_on_each_queue() {
    let red = Params {
        red_limit: Some(Bytes(40_000)),
        red_min: Some(Bytes(500)),
        red_max: Some(Bytes(1000)),
        burst: Some(1),
        red_ecn: true,
        ..quantum(1000)
    };
    let mut host = Host::new(red.clone(), 1000);
    let outcomes = host.arrive(&"a".repeat(60));
    assert!(outcomes[20..].iter().all(|outcome| *outcome == Outcome::Marked), "{outcomes:?}");
    // Another queue has an average of its own.
    assert_eq!(host.arrive("bb"), [Outcome::Queued; 2]);
    let mut hard = Host::new(Params { red_hard_drop: true, ..red }, 1000);
    assert_eq!(hard.arrive(&"a".repeat(60)).last(), Some(&Outcome::DroppedEarly));
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |params: Params| Sfq::check(&params).unwrap_err().to_string();
    assert!(refused(Params { divisor: 100, ..Params::default() }).contains("a power of two"));
    let thresholds = Params { red_min: Some(Bytes(9)), red_max: Some(Bytes(9)), ..Params::default() };
    assert!(refused(thresholds).contains("less than red_max"));
}

#[test]
fn rounds_without_credit_are_skipped() {
    let mut host = Host::new(quantum(3), 100);
    host.arrive("aaaabbbb");
    // After 500 bytes, 167 quanta.
    assert_eq!(host.sends(8), "abababab");
}

#[test]
fn at_its_depth_a_queue_loses_its_head_even_if_the_buffer_is_full() {
    let mut host = Host::new(Params { depth: 4, headdrop: true, ..quantum(1000) }, 4);
    host.arrive("aaaa");
    assert_eq!(host.arrive("a"), [Outcome::Queued]);
    assert_eq!(host.dropped, [('a', 1)]);
}

#[test]
fn of_equally_long_queues_the_last_to_change_loses() {
    // a has 5, b 3; the fourth of b takes the last of a, whose queue has changed after b's.
    let mut host = Host::new(quantum(1000), 8);
    host.arrive("aaaaabbbb");
    assert_eq!(host.dropped, [('a', 5)]);
    host.arrive("c");
    assert_eq!(host.dropped[1..], [('a', 4)]);
    // Both have 4; an arrival that is refused changes its queue, too.
    let mut host = Host::new(quantum(1000), 8);
    host.arrive("aaaabbbba");
    assert_eq!(host.dropped, []);
    host.arrive("c");
    assert_eq!(host.dropped, [('a', 4)]);
}
