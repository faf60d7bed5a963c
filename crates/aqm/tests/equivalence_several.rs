//! The algorithms with several queues against transcriptions of their sources, packet by packet: which packets are
//! sent, in which order, and which are marked or dropped.

#[path = "reference/several.rs"]
mod reference;

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::queue::{Frame, Labels};
use aqm::{AnyParams, Limit, Outcome, Packet, Port, Queue, Span, Time, Uniform};
use reference::curvyred::CurvyRed;
use reference::dualpi2::DualPi2;
use reference::fair::Fair;
use reference::lld::Lld;
use reference::{Arrival, Scheme, Sent};

/// The DSCPs of the rows: best effort, and NQB.
const DSCPS: [u8; 2] = [0, 45];

/// A packet with its number, whether it was marked, and its row.
#[derive(Clone, Copy)]
struct Numbered(Packet, u64, bool, usize);

impl Frame for Numbered {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {
        assert!(self.0.ect, "marked a packet that is not ECN-capable");
        self.2 = true;
    }
    fn row(&self) -> usize {
        self.3
    }
}

/// How often each event happened.
#[derive(Default, Debug)]
struct Tally {
    sent: u64,
    marks: u64,
    overtaken: u64,
    dropped: u64,
    idle: u64,
    /// Of queue protection.
    sanctioned: f64,
}

/// Runs both on the same arrivals and the same link; compares every packet, and the signal with this number.
fn compare(
    name: &str,
    settings: &[(&str, Value)],
    limit: u32,
    signal: usize,
    mut reference: impl Scheme,
) -> Tally {
    let mut params = AnyParams::of(name).unwrap();
    settings.iter().for_each(|(key, value)| params.set(key, value).unwrap());
    let port = Port { limit: Limit::Packets(limit), ..PORT };
    let mut queue = Queue::new(params.build(&port), &port, &[1; DSCPS.len()]);
    queue.set_labels(Labels { hosts: vec![], dscps: DSCPS.to_vec() });
    assert!(reference.period().is_none_or(|t| (t - queue.period().unwrap().secs()).abs() < 1e-12));
    let (mut random, mut draws) = (Random(5), Random(6));
    let mut tally = Tally::default();
    let (mut next_arrival, mut link_free, mut arrivals, mut load, mut last) = (Time::ZERO, None, 0, 1.0, 0);
    let mut next_update = queue.period().map(|period| Time::ZERO + period);
    while arrivals < 150_000 {
        let now = link_free.map_or(next_arrival, |free: Time| free.min(next_arrival));
        if let Some(update) = next_update.filter(|update| *update <= now) {
            queue.on_period(update);
            reference.update(update.secs());
            next_update = Some(update + queue.period().unwrap());
            continue;
        }
        let mut dropped = vec![];
        if now == next_arrival {
            if arrivals % 5000 == 0 {
                load = [0.7, 1.1, 1.6, 0.3, 1.05, 3.0][(arrivals / 5000) as usize % 6];
            }
            let size = [40, 250, 500, 500, 500, 1000, 1500][(random.bits() % 7) as usize];
            // Some flows send much more than others.
            let flow = (random.uniform() * random.uniform() * 60.0) as u64;
            let (ect, l4s) = (!flow.is_multiple_of(3), flow % 3 > 1);
            let packet = Packet { flow, l4s, ..Packet::new(size, ect) };
            let nqb = flow % 8 == 7;
            let frame = Numbered(packet, arrivals, false, usize::from(nqb));
            let mut same = draws.clone();
            let (outcome, _) = queue.enqueue_or(now, frame, &mut draws, |sent, _| dropped.push(sent.frame.1));
            if matches!(outcome, Outcome::Overflowed | Outcome::DroppedEarly) {
                dropped.push(arrivals);
            }
            let (since, size) = (now.secs(), i64::from(size));
            let arrival = Arrival { since, size, number: arrivals, flow, ect, l4s, nqb };
            reference.enqueue(arrival, &mut || same.uniform());
            assert_eq!(draws.clone().bits(), same.bits(), "as many draws");
            arrivals += 1;
            let gap = -(1.0 - random.uniform()).ln() * 612.0 * 8.0 / 1e7 / load;
            next_arrival += Span::from_secs(gap);
        }
        if link_free.is_none_or(|free| free == now) {
            let mut same = draws.clone();
            let sent = queue.dequeue_or(now, &mut draws, |late| dropped.push(late.frame.1));
            let found = sent.as_ref().map(|sent| Sent { number: sent.frame.1, mark: sent.frame.2 });
            assert_eq!(
                found,
                reference.dequeue(now.secs(), &mut || same.uniform()),
                "{settings:?} at {now:?}"
            );
            assert_eq!(draws.clone().bits(), same.bits(), "as many draws");
            link_free = sent.map(|sent| now + PORT.rate.transmission(sent.frame.0.size));
            match found {
                Some(Sent { number, mark }) => {
                    tally.sent += 1;
                    tally.marks += u64::from(mark);
                    tally.overtaken += u64::from(number < last);
                    last = number;
                }
                None => tally.idle += 1,
            }
        }
        tally.dropped += dropped.len() as u64;
        assert_eq!(dropped, reference.dropped(), "{settings:?} at {now:?}");
        queue.algorithm().signals(|i, value| {
            let expected = reference.signal();
            assert!(i != signal || (value - expected).abs() < 1e-9, "{settings:?}: {value}, not {expected}");
        });
    }
    queue.algorithm().counters(&mut |name, count| {
        if name == "sanctioned" {
            tally.sanctioned = count.value();
        }
    });
    tally
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// The settings of the fair queueing under test: without ECN, and with a known hash.
fn fair(aqm: Value, quantum: i64, queues: u64, drop_batch: usize) -> [(&'static str, Value); 5] {
    [
        ("aqm", aqm),
        ("perturbation", Value::Integer(0)),
        ("flows", Value::Integer(queues as i64)),
        ("quantum", text(&format!("{quantum} B"))),
        ("drop_batch", Value::Integer(drop_batch as i64)),
    ]
}

#[test]
fn plain_queues_take_turns_as_in_rfc_8290() {
    for (quantum, queues, drop_batch) in [(1514, 1024, 64), (500, 16, 1), (90, 7, 3), (20_000, 1024, 64)] {
        let reference = Fair::new(quantum, 90, queues, drop_batch, None);
        let tally = compare("fq", &fair(text("droptail"), quantum, queues, drop_batch), 90, 1, reference);
        assert!(tally.overtaken > 9000 && tally.dropped > 9000 && tally.idle > 300, "{tally:?}");
    }
}

#[test]
fn with_codel_on_each_queue_it_is_fq_codel() {
    for (limit, queues) in [(150, 1024), (1000, 5)] {
        let reference = Fair::new(1514, limit, queues, 64, Some(500));
        let tally = compare("fq", &fair(text("codel"), 1514, queues, 64), limit as u32, 1, reference);
        assert!(tally.overtaken > 9000 && tally.dropped > 9000 && tally.idle > 300, "{tally:?}");
    }
}

#[test]
fn in_linux_codel_sees_all_queues_and_learns_of_overflows() {
    for (limit, queues) in [(150, 1024), (1000, 5)] {
        let mut reference = Fair::new(1514, limit, queues, 64, Some(1500));
        reference.linux = true;
        let codel = ["name", "form"].into_iter().zip(["codel", "linux"]);
        let codel = Value::Table(codel.map(|(key, value)| (key.to_owned(), text(value))).collect());
        let settings = [&fair(codel, 1514, queues, 64)[..], &[("form", text("fq_codel"))]].concat();
        let tally = compare("fq", &settings, limit as u32, 1, reference);
        assert!(tally.overtaken > 9000 && tally.dropped > 9000 && tally.idle > 300, "{tally:?}");
    }
}

#[test]
fn curvyred_equals_rfc_9332() {
    for (range, min_th, u, overload) in
        [(0.5, 0.0, 1, false), (0.1, 0.0, 1, true), (0.1, 0.01, 1, false), (0.2, 0.005, 2, true)]
    {
        for limit in [100, 2000] {
            let reference = CurvyRed::new(limit as usize, range, min_th, u, overload);
            let settings = [
                ("range_c", text(&format!("{range} s"))),
                ("min_th", text(&format!("{min_th} s"))),
                ("u", Value::Integer(u.into())),
                ("drop_on_overload", Value::Bool(overload)),
            ];
            let tally = compare("curvyred", &settings, limit, 1, reference);
            assert!(tally.marks > 9000 && tally.dropped > 9000 && tally.overtaken > 3000, "{tally:?}");
        }
    }
}

#[test]
fn dualpi2_equals_rfc_9332() {
    for (decision, scheduler) in [("recur", "wrr"), ("recur", "ts-fifo"), ("random", "wrr")] {
        for limit in [100, 2000] {
            let mut reference = DualPi2::new(limit as usize);
            reference.drawn = decision == "random";
            reference.tshift = (scheduler == "ts-fifo").then_some(0.050);
            let settings = [("decision", text(decision)), ("scheduler", text(scheduler))];
            let tally = compare("dualpi2", &settings, limit, 1, reference);
            assert!(tally.marks > 9000 && tally.dropped > 9000 && tally.overtaken > 3000, "{tally:?}");
        }
    }
}

#[test]
fn low_latency_docsis_equals_its_annexes() {
    for (limit, weight, (bi_size, attempts, lg_aging), critical_us, loop_ms) in [
        (100, 64, (5, 2, 19), Some([3724, 4000]), None),
        (2000, 230, (5, 2, 16), Some([3724, 4000]), None),
        (300, 64, (1, 3, 17), Some([1000, 1000]), None),
        (300, 128, (0, 1, 18), Some([3300, 1000]), None),
        (1000, 64, (5, 2, 19), Some([3724, 4000]), Some(4)),
        (1000, 64, (5, 2, 19), None, Some(0)),
        (1000, 230, (5, 2, 19), None, None),
    ] {
        let mut reference = Lld::new(limit as usize, weight, bi_size);
        (reference.attempts, reference.lg_aging, reference.critical_us) = (attempts, lg_aging, critical_us);
        reference.loop_delay = loop_ms.map(|ms| f64::from(ms) / 1000.0);
        let [delay, score] = critical_us.unwrap_or_default();
        let settings = [
            ("weight", Value::Integer(weight)),
            ("bi_size", Value::Integer(bi_size.into())),
            ("attempts", Value::Integer(attempts.into())),
            ("lg_aging", Value::Integer(lg_aging)),
            ("queue_protection", Value::Bool(critical_us.is_some())),
            ("loop_delay", text(&loop_ms.map_or("auto".to_owned(), |ms| format!("{ms} ms")))),
            ("critical_ql", text(&format!("{delay} us"))),
            ("critical_ql_score", text(&format!("{score} us"))),
        ];
        let tally = compare("lld", &settings, limit, 1, reference);
        assert!(tally.marks > 2000 && tally.dropped > 9000 && tally.overtaken > 3000, "{tally:?}");
        assert_eq!(tally.sanctioned > 100.0, critical_us.is_some(), "{tally:?}");
    }
}
