//! Fair queueing as in RFC 8290, section 4, with CoDel as in the pseudocode of RFC 8289, section 5, on each queue, and
//! the overflow drops of Linux's fq_codel; optionally with Linux's other rules. Queues are found by name on lists that
//! are searched.

use super::{Arrival, Scheme, Sent};
use crate::support::Random;
use std::collections::{HashMap, VecDeque};

#[derive(Default)]
struct CoDel {
    first_above_time: f64,
    drop_next: f64,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

#[derive(Default)]
struct Flow {
    packets: VecDeque<Arrival>,
    credits: i64,
    codel: CoDel,
}

impl Flow {
    fn bytes(&self) -> i64 {
        self.packets.iter().map(|packet| packet.size).sum()
    }
}

/// The scheduler, with a limit in packets.
pub(crate) struct Fair {
    pub(crate) quantum: i64,
    pub(crate) limit: usize,
    pub(crate) drop_batch: usize,
    /// CoDel's MTU; plain queues if there is none.
    pub(crate) mtu: Option<i64>,
    /// The number of queues.
    pub(crate) queues: u64,
    /// Whether the other rules of sch_fq_codel.c apply.
    pub(crate) linux: bool,
    flows: HashMap<u64, Flow>,
    new: VecDeque<u64>,
    old: VecDeque<u64>,
    dropped: Vec<u64>,
}

const TARGET: f64 = 0.005;
const INTERVAL: f64 = 0.1;

impl Fair {
    pub(crate) fn new(quantum: i64, limit: usize, queues: u64, drop_batch: usize, mtu: Option<i64>) -> Self {
        let (flows, new, old, dropped) = Default::default();
        Self { quantum, limit, queues, drop_batch, mtu, linux: false, flows, new, old, dropped }
    }
}

impl Scheme for Fair {
    fn enqueue(&mut self, arrival: Arrival) {
        // SplitMix64, which the hash equals without a salt.
        let queue = Random(arrival.flow).bits() % self.queues;
        let number = arrival.number;
        self.flows.entry(queue).or_default().packets.push_back(arrival);
        let total: usize = self.flows.values().map(|flow| flow.packets.len()).sum();
        if total > self.limit {
            // Of equally long queues, the one with the lowest number.
            let fattest = |(name, flow): &(&u64, &mut Flow)| (flow.bytes(), u64::MAX - **name);
            let (_, flow) = self.flows.iter_mut().max_by_key(fattest).unwrap();
            let threshold = flow.bytes() / 2;
            let mut len = 0;
            for i in 0..self.drop_batch {
                // The arrival is dropped only if it is the first to be.
                if i > 0 && (len >= threshold || flow.packets[0].number == number) {
                    break;
                }
                let head = flow.packets.pop_front().unwrap();
                len += head.size;
                flow.codel.count += u32::from(self.linux && head.number != number);
                self.dropped.push(head.number);
                if head.number == number {
                    return;
                }
            }
        }
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push_back(queue);
            self.flows.get_mut(&queue).unwrap().credits = self.quantum;
        }
    }

    fn dequeue(&mut self, now: f64, _: &mut dyn FnMut() -> f64) -> Option<Sent> {
        loop {
            let from_new = !self.new.is_empty();
            let name = if from_new { self.new[0] } else { *self.old.front()? };
            let others = match self.linux {
                true => {
                    self.flows.iter().filter(|(other, _)| **other != name).map(|(_, flow)| flow.bytes()).sum()
                }
                false => 0,
            };
            let flow = self.flows.get_mut(&name).unwrap();
            if flow.credits <= 0 {
                flow.credits += self.quantum;
                if from_new {
                    self.new.pop_front()
                } else {
                    self.old.pop_front()
                };
                self.old.push_back(name);
                continue;
            }
            let packet = match self.mtu {
                Some(mtu) => codel_dequeue(flow, now, mtu - others, &mut self.dropped),
                None => flow.packets.pop_front(),
            };
            let Some(packet) = packet else {
                if from_new {
                    self.new.pop_front();
                } else {
                    self.old.pop_front();
                }
                if from_new && !(self.linux && self.old.is_empty()) {
                    self.old.push_back(name);
                }
                continue;
            };
            flow.credits -= packet.size;
            return Some(Sent { number: packet.number, mark: false });
        }
    }

    fn dropped(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.dropped)
    }

    /// The number of queues on the lists.
    fn signal(&self) -> f64 {
        (self.new.len() + self.old.len()) as f64
    }
}

fn control_law(t: f64, count: u32) -> f64 {
    t + INTERVAL / f64::from(count).sqrt()
}

/// The next packet, and whether it may be dropped.
fn dodequeue(flow: &mut Flow, now: f64, mtu: i64) -> (Option<Arrival>, bool) {
    let Some(packet) = flow.packets.pop_front() else {
        flow.codel.first_above_time = 0.0;
        return (None, false);
    };
    let mut ok = false;
    if now - packet.since < TARGET || flow.bytes() <= mtu {
        flow.codel.first_above_time = 0.0;
    } else if flow.codel.first_above_time == 0.0 {
        // In whole nanoseconds: packets of equal size leave at exactly this distance.
        flow.codel.first_above_time = ((now + INTERVAL) * 1e9).round() / 1e9;
    } else {
        ok = now >= flow.codel.first_above_time;
    }
    (Some(packet), ok)
}

fn codel_dequeue(flow: &mut Flow, now: f64, mtu: i64, dropped: &mut Vec<u64>) -> Option<Arrival> {
    let (mut packet, mut ok) = dodequeue(flow, now, mtu);
    if flow.codel.dropping {
        if !ok {
            flow.codel.dropping = false;
        }
        while now >= flow.codel.drop_next && flow.codel.dropping {
            dropped.push(packet.unwrap().number);
            flow.codel.count += 1;
            (packet, ok) = dodequeue(flow, now, mtu);
            if ok {
                flow.codel.drop_next = control_law(flow.codel.drop_next, flow.codel.count);
            } else {
                flow.codel.dropping = false;
            }
        }
    } else if ok {
        dropped.push(packet.unwrap().number);
        (packet, _) = dodequeue(flow, now, mtu);
        let codel = &mut flow.codel;
        codel.dropping = true;
        let delta = codel.count - codel.lastcount;
        codel.count = 1;
        if delta > 1 && now - codel.drop_next < 16.0 * INTERVAL {
            codel.count = delta;
        }
        codel.drop_next = control_law(now, codel.count);
        codel.lastcount = codel.count;
    }
    packet
}
