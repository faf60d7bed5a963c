//! Curvy RED as in the pseudocode of RFC 9332, figures 9 and 10, with the overload of figure 8 as B.1 has it: its own two
//! queues, times in seconds.

use super::{Arrival, Scheme, Sent};
use std::collections::VecDeque;

pub(crate) struct CurvyRed {
    limit: usize,
    tshift: f64,
    k: f64,
    gamma: f64,
    range_c: f64,
    min_th: f64,
    range_l: f64,
    t: f64,
    u: u32,
    overload: bool,
    lq: VecDeque<Arrival>,
    cq: VecDeque<Arrival>,
    q_c: f64,
    dropped: Vec<u64>,
}

impl CurvyRed {
    pub(crate) fn new(limit: usize, range_c: f64, min_th: f64, u: u32, overload: bool) -> Self {
        let (k_prime, g_c) = (1.0, 5.0);
        Self {
            limit,
            tshift: 0.050,
            k: f64::powf(2.0, k_prime),
            gamma: f64::powf(2.0, -g_c),
            range_c,
            min_th,
            range_l: range_c / f64::powf(2.0, k_prime),
            t: 0.001,
            u,
            overload,
            lq: VecDeque::new(),
            cq: VecDeque::new(),
            q_c: 0.0,
            dropped: vec![],
        }
    }
}

fn time(queue: &VecDeque<Arrival>, now: f64) -> f64 {
    queue.front().map_or(0.0, |packet| now - packet.since)
}

fn maxrand(mut u: u32, rand: &mut dyn FnMut() -> f64) -> f64 {
    let mut maxr = 0.0;
    while u > 0 {
        maxr = f64::max(maxr, rand());
        u -= 1;
    }
    maxr
}

impl Scheme for CurvyRed {
    fn enqueue(&mut self, packet: Arrival, _: &mut dyn FnMut() -> f64) {
        if self.lq.len() + self.cq.len() >= self.limit {
            return self.dropped.push(packet.number);
        }
        let queue = if packet.l4s { &mut self.lq } else { &mut self.cq };
        queue.push_back(packet);
    }

    fn dequeue(&mut self, now: f64, rand: &mut dyn FnMut() -> f64) -> Option<Sent> {
        while self.lq.len() + self.cq.len() > 0 {
            let scheduled = match (self.lq.is_empty(), self.cq.is_empty()) {
                (true, _) => false,
                (_, true) => true,
                _ => time(&self.lq, now) + self.tshift > time(&self.cq, now) - 1e-12,
            };
            let mut mark = false;
            let packet;
            if scheduled {
                packet = self.lq.pop_front().unwrap();
                let p_cl = (self.q_c - self.min_th) / self.range_l;
                if self.overload && p_cl >= 1.0 {
                    if p_cl / self.k > maxrand(2 * self.u, rand) {
                        self.dropped.push(packet.number);
                        continue;
                    }
                    mark = true;
                } else if now - packet.since > self.t || p_cl > maxrand(self.u, rand) {
                    mark = true;
                }
            } else {
                packet = self.cq.pop_front().unwrap();
                self.q_c = self.gamma * (now - packet.since) + (1.0 - self.gamma) * self.q_c;
                let sqrt_p_c = (self.q_c - self.min_th) / self.range_c;
                if sqrt_p_c > maxrand(2 * self.u, rand) {
                    if !packet.ect || self.overload && self.k * sqrt_p_c >= 1.0 {
                        self.dropped.push(packet.number);
                        continue;
                    }
                    mark = true;
                }
            }
            return Some(Sent { number: packet.number, mark });
        }
        None
    }

    fn dropped(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.dropped)
    }

    fn signal(&self) -> f64 {
        self.q_c
    }
}
