//! Disciplines around others: what they do to single packets.

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::queue::Frame;
use aqm::{AnyParams, Bytes, Limit, Outcome, Packet, Port, Queue, Time};

#[derive(Clone, Copy)]
struct Plain(Packet);

impl Frame for Plain {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        0
    }
}

const ETHERNET: Port = Port { packet: Bytes(1514), header: Bytes(14), limit: Limit::Packets(1000), ..PORT };

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn named(name: &str, entries: &[(&str, &str)]) -> AnyParams {
    let mut params = AnyParams::of(name).unwrap();
    entries.iter().for_each(|(key, value)| params.set(key, &text(value)).unwrap());
    params.check().unwrap();
    params.check_on(&ETHERNET).unwrap();
    params
}

fn queue(params: &AnyParams) -> Queue<Plain> {
    Queue::new(params.build(&ETHERNET), &ETHERNET, &[1])
}

/// The outcomes of packets of these sizes at the beginning.
fn offer(queue: &mut Queue<Plain>, sizes: &[u32]) -> Vec<Outcome> {
    let one = |size: &u32| queue.enqueue(Time::ZERO, Plain(Packet::new(*size, false)), &mut Random(1));
    sizes.iter().map(one).collect()
}

#[test]
fn full_packets_fit_into_buckets_of_automatic_size_on_any_line() {
    for framing in ["ethernet", "pppoe-ptm", "pppoe-llcsnap", "overhead 256 atm"] {
        for name in ["tbf", "police"] {
            let keys = [("rate", "10 Mbit/s"), ("peak_rate", "20 Mbit/s"), ("framing", framing)];
            let mut queue = queue(&named(name, &keys));
            assert_eq!(offer(&mut queue, &[1514]), [Outcome::Queued], "{name}, {framing}");
            assert!(queue.dequeue(Time::ZERO, &mut Random(1)).is_some(), "{name}, {framing}");
        }
    }
}

/// In Linux a policer is a filter before the discipline.
#[test]
fn a_packet_that_the_policer_drops_takes_no_room_from_those_that_wait() {
    for inside in ["headdrop", "fq_codel", "sfq", "jobs", "cake"] {
        let keys = [("rate", "1 Mbit/s"), ("burst", "3028 B"), ("aqm", inside), ("limit", "2 packets")];
        let mut queue = queue(&named("police", &keys));
        let expected = [Outcome::Queued, Outcome::Queued, Outcome::DroppedEarly];
        assert_eq!(offer(&mut queue, &[1514, 1514, 1514]), expected, "{inside}");
        assert_eq!((queue.len(), queue.counts()[0].drops_overflow), (2, 0), "{inside}");
    }
}

#[test]
fn a_packet_that_is_too_large_takes_no_room_from_those_that_wait() {
    let keys = [("rate", "1 Mbit/s"), ("burst", "1600 B"), ("aqm", "headdrop"), ("limit", "2 packets")];
    let mut queue = queue(&named("tbf", &keys));
    let expected = [Outcome::Queued, Outcome::Queued, Outcome::DroppedEarly];
    assert_eq!(offer(&mut queue, &[1514, 1514, 1601]), expected);
    assert_eq!((queue.len(), queue.counts()[0].drops_overflow), (2, 0));
}

/// Changes the parameters; returns the sizes of the packets that are dropped.
fn retune(queue: &mut Queue<Plain>, params: &AnyParams) -> Vec<u32> {
    let mut gone = vec![];
    let drop = |sent: &aqm::Sent<Plain>, _| gone.push(sent.frame.0.size);
    assert!(queue.retune(Time::ZERO, params.build(&ETHERNET), &mut Random(1), drop));
    gone
}

#[test]
fn a_packet_that_waits_leaves_although_its_bucket_has_become_smaller() {
    let tbf = |burst| named("tbf", &[("rate", "8 Mbit/s"), ("burst", burst)]);
    let mut queue = queue(&tbf("9000 B"));
    offer(&mut queue, &[9000, 9000, 1000]);
    assert!(queue.dequeue(Time::ZERO, &mut Random(1)).is_some());
    retune(&mut queue, &tbf("2000 B"));
    let mut sent = vec![];
    let mut now = Time::ZERO;
    for _ in 0..9 {
        let next = queue.dequeue(now, &mut Random(1));
        sent.extend(next.map(|sent| (sent.frame.0.size, now.nanos())));
        now = queue.paused_until(now).unwrap_or(now);
    }
    // The bucket is full after 2 ms, and has 1000 bytes a millisecond later.
    assert_eq!(sent, [(9000, 2_000_000), (1000, 3_000_000)]);
}

/// The packets that have waited longest, as where the link's buffer becomes smaller.
#[test]
fn what_a_smaller_limit_inside_does_not_hold_is_dropped() {
    let policer = |inside: &str, limit| {
        named("police", &[("rate", "1 Gbit/s"), ("burst", "1 MB"), ("aqm", inside), ("limit", limit)])
    };
    for inside in ["droptail", "fq_codel", "prio", "tbf"] {
        let mut queue = queue(&policer(inside, "5 packets"));
        offer(&mut queue, &[100, 200, 300, 400, 500]);
        let before = policer(inside, "5 packets");
        assert_eq!(retune(&mut queue, &before), [0_u32; 0], "{inside}");
        assert_eq!(retune(&mut queue, &policer(inside, "3 packets")), [100, 200], "{inside}");
        assert_eq!(retune(&mut queue, &policer(inside, "900 B")), [300], "{inside}");
        assert_eq!(queue.len(), 2, "{inside}");
    }
}

/// A limit of a discipline inside one that is inside.
#[test]
fn a_limit_far_inside_is_kept_too() {
    let table = |entries: &[(&str, &str)]| {
        Value::Table(entries.iter().map(|(key, value)| ((*key).to_owned(), text(value))).collect())
    };
    let tbf = |limit| {
        let mut params = named("tbf", &[]);
        params.set("aqm", &table(&[("name", "police"), ("aqm", "headdrop"), ("limit", limit)])).unwrap();
        params
    };
    let mut queue = queue(&tbf("9 packets"));
    offer(&mut queue, &[100, 200, 300]);
    assert_eq!(retune(&mut queue, &tbf("2 packets")), [100]);
}

#[test]
fn classes_without_a_rate_share_what_the_others_leave() {
    let check = |rates: [Option<&str>; 3]| {
        let class = |(i, rate): (usize, Option<&str>)| {
            let parent = (i > 0).then(|| ("parent".to_owned(), text("c0")));
            let rate = rate.map(|rate| ("rate".to_owned(), text(rate)));
            (format!("c{i}"), Value::Table(parent.into_iter().chain(rate).collect()))
        };
        let mut params = AnyParams::of("htb").unwrap();
        params.set("classes", &Value::Table(rates.into_iter().enumerate().map(class).collect())).unwrap();
        params.check().and_then(|()| params.check_on(&ETHERNET)).map_err(|error| error.to_string())
    };
    assert_eq!(check([Some("9 Mbit/s"), None, None]), Ok(()));
    assert_eq!(check([None, Some("2 Mbit/s"), None]), Ok(()));
    let refused = check([Some("9 Mbit/s"), Some("9 Mbit/s"), None]).unwrap_err();
    assert!(refused.contains("must be given, as its siblings leave nothing"), "{refused}");
}
