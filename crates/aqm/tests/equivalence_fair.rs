//! Fair queueing against a transcription of RFC 8290, packet by packet: what is sent in which order, what is dropped.

#[path = "reference/fair.rs"]
mod fair;
mod support;

use aqm::params::Value;
use aqm::queue::Frame;
use aqm::{AnyParams, Limit, Packet, Port, Queue, Time, Uniform};
use fair::Fair;
use support::{PORT, Random};

/// A packet with its number.
struct Numbered(Packet, u64);

impl Frame for Numbered {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {
        unreachable!("nothing is ECN-capable");
    }
    fn row(&self) -> usize {
        0
    }
}

/// What happened how often.
#[derive(Default, Debug)]
struct Tally {
    sent: u64,
    overtaken: u64,
    dropped: u64,
    idle: u64,
}

/// Runs both on the same arrivals before the same link and compares every packet.
fn compare(settings: &[(&str, Value)], limit: usize, queues: u64, mut reference: Fair) -> Tally {
    let mut params = AnyParams::of("fq").unwrap();
    params.set("perturbation", &Value::Integer(0)).unwrap();
    params.set("flows", &Value::Integer(queues as i64)).unwrap();
    for (key, value) in settings {
        params.set(key, value).unwrap();
    }
    let port = Port { limit: Limit::Packets(limit as u32), ..PORT };
    let mut queue = Queue::new(params.build(&port), &port, &[1]);
    let mut random = Random(5);
    let mut tally = Tally::default();
    let (mut next_arrival, mut link_free, mut arrivals, mut load, mut last) = (Time::ZERO, None, 0, 1.0, 0);
    while arrivals < 150_000 {
        let now = link_free.map_or(next_arrival, |free: Time| free.min(next_arrival));
        let mut dropped = vec![];
        if now == next_arrival {
            if arrivals % 5000 == 0 {
                load = [0.7, 1.1, 1.6, 0.3, 1.05, 3.0][(arrivals / 5000) as usize % 6];
            }
            let size = [40, 250, 500, 500, 500, 1000, 1500][(random.bits() % 7) as usize];
            // Some flows send much more than others.
            let flow = (random.uniform() * random.uniform() * 60.0) as u64;
            let packet = Packet { flow, ..Packet::new(size, false) };
            let outcome = queue
                .enqueue_or(now, Numbered(packet, arrivals), &mut random, |sent| dropped.push(sent.frame.1));
            if outcome == aqm::Outcome::Overflowed {
                dropped.push(arrivals);
            }
            reference.enqueue(now.secs(), Random(flow).bits() % queues, i64::from(size), arrivals);
            arrivals += 1;
            let gap = -(1.0 - random.uniform()).ln() * 612.0 * 8.0 / 1e7 / load;
            next_arrival += aqm::Span::from_secs(gap);
        }
        if link_free.is_none_or(|free| free == now) {
            let sent = queue.dequeue_or(now, &mut random, |late| dropped.push(late.frame.1));
            let number = sent.as_ref().map(|sent| sent.frame.1);
            assert_eq!(number, reference.dequeue(now.secs()), "{settings:?} at {now:?}");
            link_free = sent.map(|sent| now + PORT.rate.transmission(sent.frame.0.size));
            match number {
                Some(number) => {
                    tally.sent += 1;
                    tally.overtaken += u64::from(number < last);
                    last = number;
                }
                None => tally.idle += 1,
            }
        }
        tally.dropped += dropped.len() as u64;
        assert_eq!(dropped, std::mem::take(&mut reference.dropped), "{settings:?} at {now:?}");
        queue.algorithm().signals(|i, value| {
            assert!(i != 1 || value == reference.active() as f64, "{value} queues take part");
        });
    }
    tally
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn plain_queues_take_turns_as_in_rfc_8290() {
    for (quantum, queues, drop_batch) in [(1514, 1024, 64), (500, 16, 1), (90, 7, 3), (20_000, 1024, 64)] {
        let settings = [
            ("aqm", text("droptail")),
            ("quantum", text(&format!("{quantum} B"))),
            ("drop_batch", Value::Integer(drop_batch as i64)),
        ];
        let tally = compare(&settings, 90, queues, Fair::new(quantum, 90, drop_batch, None));
        assert!(tally.overtaken > 9000 && tally.dropped > 9000 && tally.idle > 300, "{tally:?}");
    }
}

#[test]
fn with_codel_on_each_queue_it_is_fq_codel() {
    for (limit, queues) in [(150, 1024), (1000, 5)] {
        let settings = [("quantum", text("1514 B"))];
        let tally = compare(&settings, limit, queues, Fair::new(1514, limit, 64, Some(500)));
        assert!(tally.overtaken > 9000 && tally.dropped > 9000 && tally.idle > 300, "{tally:?}");
    }
}
