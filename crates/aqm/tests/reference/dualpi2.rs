//! DualPI2 as in the pseudocode of RFC 9332, appendix A, with the edge cases of A.2: its own two queues, times in
//! seconds, likelihoods that add up (`recur`) or are drawn. The scheduler, which the RFC leaves open, is Linux's
//! weighted round robin in whole numbers, or a time-shifted FIFO.

use super::{Arrival, Scheme, Sent};
use std::collections::VecDeque;

/// A queue of arrivals, and its sum of likelihoods for `recur`.
#[derive(Default)]
struct Queue {
    packets: VecDeque<Arrival>,
    count: f64,
}

impl Queue {
    /// The queueing time of the first packet.
    fn time(&self, now: f64) -> f64 {
        self.packets.front().map_or(0.0, |packet| now - packet.since)
    }
}

pub(crate) struct DualPi2 {
    pub(crate) limit: usize,
    pub(crate) k: f64,
    pub(crate) target: f64,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) tupdate: f64,
    pub(crate) min_th: f64,
    pub(crate) max_th: f64,
    pub(crate) th_len: usize,
    /// A time-shifted FIFO; otherwise the classic queue's weight is 10 %.
    pub(crate) tshift: Option<f64>,
    pub(crate) drawn: bool,
    mtu: i64,
    lq: Queue,
    cq: Queue,
    p: f64,
    prevq: f64,
    credit: i64,
    dropped: Vec<u64>,
}

impl DualPi2 {
    /// The RFC's parameters, for MTUs of 1500 bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let (target, rtt_max) = (0.015, 0.1);
        let tupdate = f64::min(target, rtt_max / 3.0);
        Self {
            limit,
            k: 2.0,
            target,
            alpha: 0.1 * tupdate / (rtt_max * rtt_max),
            beta: 0.3 / rtt_max,
            tupdate,
            min_th: 0.0008,
            max_th: 0.0012,
            th_len: 1,
            tshift: None,
            drawn: false,
            mtu: 1500,
            lq: Queue::default(),
            cq: Queue::default(),
            p: 0.0,
            prevq: 0.0,
            credit: 1500 * (10 - 90),
            dropped: vec![],
        }
    }

    fn serves_l4s(&self, now: f64) -> bool {
        let credit = self.credit <= 0;
        match (self.lq.packets.is_empty(), self.cq.packets.is_empty()) {
            (true, _) => false,
            (false, true) => true,
            _ => self.tshift.map_or(credit, |shift| self.lq.time(now) + shift > self.cq.time(now) - 1e-12),
        }
    }

    fn laqm(&self, qdelay: f64) -> f64 {
        if qdelay >= self.max_th {
            1.0
        } else if qdelay > self.min_th {
            (qdelay - self.min_th) / (self.max_th - self.min_th)
        } else {
            0.0
        }
    }
}

/// True with this likelihood.
fn likely(q: &mut Queue, likelihood: f64, drawn: bool, u: &mut dyn FnMut() -> f64) -> bool {
    if drawn {
        return likelihood > 0.0 && u() < likelihood;
    }
    q.count += likelihood;
    if q.count > 1.0 {
        q.count -= 1.0;
        return true;
    }
    false
}

impl Scheme for DualPi2 {
    fn enqueue(&mut self, packet: Arrival, _: &mut dyn FnMut() -> f64) {
        if self.lq.packets.len() + self.cq.packets.len() >= self.limit {
            return self.dropped.push(packet.number);
        }
        let queue = if packet.l4s { &mut self.lq } else { &mut self.cq };
        queue.packets.push_back(packet);
    }

    fn dequeue(&mut self, now: f64, u: &mut dyn FnMut() -> f64) -> Option<Sent> {
        while self.lq.packets.len() + self.cq.packets.len() > 0 {
            let (p_c, p_cl) = (self.p * self.p, f64::min(self.k * self.p, 1.0));
            let mut mark = false;
            let from_l4s = self.serves_l4s(now);
            let packet;
            if from_l4s {
                packet = self.lq.packets.pop_front().unwrap();
                if p_cl < 1.0 {
                    let native =
                        if self.lq.packets.len() > self.th_len { self.laqm(now - packet.since) } else { 0.0 };
                    mark = likely(&mut self.lq, f64::max(native, p_cl), self.drawn, u);
                } else {
                    if likely(&mut self.lq, p_c, self.drawn, u) {
                        self.dropped.push(packet.number);
                        continue;
                    }
                    mark = self.drawn || likely(&mut self.lq, p_cl, false, u);
                }
            } else {
                packet = self.cq.packets.pop_front().unwrap();
                if likely(&mut self.cq, p_c, self.drawn, u) {
                    if !packet.ect || p_c >= 1.0 / (self.k * self.k) {
                        self.dropped.push(packet.number);
                        continue;
                    }
                    mark = true;
                }
            }
            if from_l4s && !self.cq.packets.is_empty() {
                self.credit += 10 * packet.size;
            } else if !from_l4s && !self.lq.packets.is_empty() {
                self.credit -= 90 * packet.size;
            }
            return Some(Sent { number: packet.number, mark });
        }
        self.credit = self.mtu * (10 - 90);
        None
    }

    fn period(&self) -> Option<f64> {
        Some(self.tupdate)
    }

    fn update(&mut self, now: f64) {
        let curq = f64::max(self.cq.time(now), self.lq.time(now));
        self.p += self.alpha * (curq - self.target) + self.beta * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }

    fn dropped(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.dropped)
    }

    fn signal(&self) -> f64 {
        self.p
    }
}
