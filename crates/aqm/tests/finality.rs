//! An algorithm whose decisions on arrivals are declared final keeps to that, with every preset, with and without
//! marks.

use crate::support::{PORT, Random};
use aqm::aqm::NAMES;
use aqm::queue::{Frame, Outcome};
use aqm::{AnyParams, Packet, Queue, Span, Time};

#[derive(Clone, Copy)]
struct Markable {
    packet: Packet,
    marked: bool,
}

impl Frame for Markable {
    fn packet(&self) -> Packet {
        self.packet
    }
    fn mark(&mut self) {
        self.marked = true;
    }
    fn row(&self) -> usize {
        0
    }
}

/// Whether every accepted packet leaves unchanged: in order, and without a mark that it did not get on arrival.
fn lets_go(params: &AnyParams) -> bool {
    let mut queue: Queue<Markable> = Queue::new(params.build(&PORT), &PORT, &[1]);
    let (mut random, mut now) = (Random(3), Time::ZERO);
    let mut timer = now + queue.period().unwrap_or_default();
    let (mut touched, mut waiting) = (false, std::collections::VecDeque::new());
    for i in 0..20_000 {
        let flow = random.bits() % 8;
        let ect = flow.is_multiple_of(2);
        let packet = Packet { flow, pair: flow as u32, ..Packet::new(500, ect) };
        let frame = Markable { packet, marked: false };
        let (outcome, _) = queue.enqueue_or(now, frame, &mut random, |_, _| touched = true);
        match outcome {
            Outcome::Queued => waiting.push_back(false),
            Outcome::Marked => waiting.push_back(true),
            Outcome::DroppedEarly | Outcome::Overflowed => {}
        }
        now += Span::us(200);
        while queue.period().is_some() && timer <= now {
            queue.on_period(timer);
            timer += queue.period().unwrap_or_default();
        }
        // Twice too slow, then twice too fast.
        let departures = if i / 2000 % 2 == 0 { usize::from(i % 2 == 0) } else { 2 };
        for _ in 0..departures {
            let sent = queue.dequeue_or(now, &mut random, |_| touched = true);
            touched |= sent.map(|sent| sent.frame.marked) != waiting.pop_front();
        }
    }
    !touched
}

#[test]
fn a_final_decision_is_final() {
    let mut finals = 0;
    for name in NAMES {
        let base = AnyParams::of(name).unwrap();
        let knows = |key: &str| base.specs().iter().any(|spec| spec.name == key);
        let mut variants = vec![base.clone()];
        variants.extend(base.presets().iter().filter_map(|(preset, _)| base.preset(preset)));
        for ecn in variants.clone().iter_mut().filter(|_| knows("ecn")) {
            ecn.set("ecn", &aqm::params::Value::Bool(true)).unwrap();
            variants.push(ecn.clone());
        }
        for params in variants.iter().filter(|params| params.build(&PORT).is_final()) {
            finals += 1;
            assert!(lets_go(params), "{params:?}");
        }
    }
    assert!(finals > 30, "only {finals} of all are final");
}

#[test]
fn algorithms_that_drop_or_mark_waiting_packets_are_not_final() {
    for spec in ["codel", "cobalt", "headdrop", "choke", "step:by=delay", "rem:form=ns2,ecn=true", "fq"] {
        let (name, values) = spec.split_once(':').unwrap_or((spec, ""));
        let mut params = AnyParams::of(name).unwrap();
        for (key, value) in values.split(',').filter_map(|pair| pair.split_once('=')) {
            let value = match value {
                "true" => aqm::params::Value::Bool(true),
                text => aqm::params::Value::Text(text.to_owned()),
            };
            params.set(key, &value).unwrap();
        }
        assert!(!params.build(&PORT).is_final(), "{spec}");
    }
}
