//! Fair queueing as in RFC 8290, section 4, with CoDel as in the pseudocode of RFC 8289, section 5, on each queue, and
//! the overflow drops of Linux's fq_codel; optionally with Linux's other rules. Queues are found by name on lists that
//! are searched.

use super::{Arrival, Scheme, Sent};
use crate::support::Random;
use std::collections::{HashMap, VecDeque};

#[derive(Default)]
struct CoDel {
    /// 1 / sqrt(count) in units of 2^-16, in Linux's form.
    rec_inv_sqrt: u16,
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
    fn enqueue(&mut self, arrival: Arrival, _: &mut dyn FnMut() -> f64) {
        // SplitMix64, which the hash equals without a salt.
        let queue = Random(arrival.flow).bits() % self.queues;
        let number = arrival.number;
        self.flows.entry(queue).or_default().packets.push_back(arrival);
        let total: usize = self.flows.values().map(|flow| flow.packets.len()).sum();
        if total > self.limit {
            // Of equally long queues, the one with the lowest number.
            let fattest = |(name, flow): &(&u64, &mut Flow)| (flow.bytes(), u64::MAX - **name);
            let (_, flow) = self.flows.iter_mut().max_by_key(fattest).unwrap();
            let threshold = if self.linux { flow.bytes() / 2 } else { i64::MAX };
            let most =
                if self.linux { self.drop_batch } else { self.drop_batch.min(flow.packets.len() / 2).max(1) };
            let mut len = 0;
            for i in 0..most {
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
                Some(mtu) => codel_dequeue(flow, now, mtu - others, self.linux, &mut self.dropped),
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

fn control_law(t: f64, codel: &CoDel, linux: bool) -> f64 {
    if linux {
        t + (INTERVAL * 1e9 * f64::from(codel.rec_inv_sqrt) / 65536.0).floor() / 1e9
    } else {
        t + INTERVAL / f64::from(codel.count).sqrt()
    }
}

/// One step of Newton's method, in the widths of codel_impl.h.
fn newton_step(codel: &mut CoDel) {
    let invsqrt = u64::from(codel.rec_inv_sqrt) << 16;
    let mut val = (3_u64 << 32).wrapping_sub(u64::from(codel.count) * ((invsqrt * invsqrt) >> 32));
    val >>= 2;
    codel.rec_inv_sqrt = (val.wrapping_mul(invsqrt) >> 31 >> 16) as u16;
}

/// The next packet, and whether it may be dropped.
fn dodequeue(flow: &mut Flow, now: f64, mtu: i64, linux: bool) -> (Option<Arrival>, bool) {
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
        let first_above_time = flow.codel.first_above_time;
        ok = if linux { now > first_above_time } else { now >= first_above_time };
    }
    (Some(packet), ok)
}

fn codel_dequeue(
    flow: &mut Flow,
    now: f64,
    mtu: i64,
    linux: bool,
    dropped: &mut Vec<u64>,
) -> Option<Arrival> {
    let (mut packet, mut ok) = dodequeue(flow, now, mtu, linux);
    if flow.codel.dropping {
        if !ok {
            flow.codel.dropping = false;
        }
        while now >= flow.codel.drop_next && flow.codel.dropping {
            dropped.push(packet.unwrap().number);
            flow.codel.count += 1;
            newton_step(&mut flow.codel);
            (packet, ok) = dodequeue(flow, now, mtu, linux);
            if ok {
                flow.codel.drop_next = control_law(flow.codel.drop_next, &flow.codel, linux);
            } else {
                flow.codel.dropping = false;
            }
        }
    } else if ok {
        dropped.push(packet.unwrap().number);
        (packet, _) = dodequeue(flow, now, mtu, linux);
        let codel = &mut flow.codel;
        codel.dropping = true;
        let delta = codel.count - codel.lastcount;
        if delta > 1 && now - codel.drop_next < 16.0 * INTERVAL {
            codel.count = delta;
            newton_step(codel);
        } else {
            codel.count = 1;
            codel.rec_inv_sqrt = u16::MAX;
        }
        codel.drop_next = control_law(now, codel, linux);
        codel.lastcount = codel.count;
    }
    packet
}
