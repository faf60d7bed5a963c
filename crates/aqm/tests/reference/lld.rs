//! Low Latency DOCSIS as annexes M to P of MULPIv3.1 have it, for a link of 10 Mbit/s: its own two queues, delays in
//! seconds, and queue protection in whole nanoseconds, as in RFC 9957. The scheduler, which the annexes leave open, is
//! a weighted round robin in whole numbers.

use super::{Arrival, Scheme, Sent};
use crate::support::Random;
use std::collections::VecDeque;

const MAX_RATE: f64 = 1e7;
const INTERVAL: f64 = 0.016;
const LATENCY_TARGET: f64 = 0.010;
const MEAN_PKTSIZE: f64 = 1024.0;
const PROB_LOW: f64 = 0.85;
const PROB_HIGH: f64 = 8.5;
const RANGE: f64 = 524_288e-9;
/// Two frames of 2000 bytes take longer than 1 ms less the range.
const FLOOR: f64 = 2.0 * 8.0 * 2000.0 / MAX_RATE;
const T_RES: u64 = 1;

#[derive(Clone, Copy, PartialEq)]
enum Burst {
    No,
    In,
    Protecting,
}

#[derive(Clone, Copy)]
struct Bucket {
    id: Option<u64>,
    t_exp: u64,
}

pub(crate) struct Lld {
    /// Packets of both queues together.
    limit: usize,
    weight: i64,
    coupling: f64,
    config_buffer_size: i64,
    /// CRITICALqL and CRITICALqLSCORE; `None` without queue protection.
    pub(crate) critical_us: Option<[u64; 2]>,
    pub(crate) lg_aging: i64,
    pub(crate) attempts: u32,
    bi_size: u32,
    /// The loop delay in seconds, if there is a virtual queue.
    pub(crate) loop_delay: Option<f64>,
    vq: f64,
    t_last: f64,
    vq_ticks: u64,
    average_aq: f64,
    ql: VecDeque<(Arrival, bool)>,
    qc: VecDeque<(Arrival, bool)>,
    buckets: Vec<Bucket>,
    recur_count: f64,
    interval_bits_l: f64,
    drop_prob: f64,
    prob_cl: f64,
    qdelay_old: f64,
    burst_allowance: f64,
    burst_state: Burst,
    burst_reset: u32,
    accu_prob: f64,
    credit: i64,
    dropped: Vec<u64>,
}

fn bytes(queue: &VecDeque<(Arrival, bool)>) -> i64 {
    queue.iter().map(|(packet, _)| packet.size).sum()
}

impl Lld {
    /// The annexes' parameters.
    pub(crate) fn new(limit: usize, weight: i64, bi_size: u32) -> Self {
        Self {
            limit,
            weight,
            coupling: 2.0,
            config_buffer_size: 40_000,
            critical_us: None,
            lg_aging: 19,
            attempts: 2,
            bi_size,
            loop_delay: None,
            vq: 0.0,
            t_last: 0.0,
            vq_ticks: 0,
            average_aq: 0.0,
            ql: VecDeque::new(),
            qc: VecDeque::new(),
            buckets: vec![Bucket { id: None, t_exp: 0 }; (1 << bi_size) + 1],
            recur_count: 0.0,
            interval_bits_l: 0.0,
            drop_prob: 0.0,
            prob_cl: 0.0,
            qdelay_old: 0.0,
            burst_allowance: 0.0,
            burst_state: Burst::No,
            burst_reset: 0,
            accu_prob: 0.0,
            credit: 1500 * (256 - 2 * weight),
            dropped: vec![],
        }
    }

    fn drop_early(&mut self, packet: &Arrival, u: &mut dyn FnMut() -> f64) -> bool {
        if self.burst_allowance > 0.0 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        if self.burst_state == Burst::No {
            if 3 * self.qc.len() < self.limit {
                return false;
            }
            self.burst_state = Burst::In;
        }
        let p1 = f64::min(self.drop_prob * packet.size as f64 / MEAN_PKTSIZE, PROB_LOW);
        self.accu_prob += p1;
        if self.qdelay_old < 0.5 * LATENCY_TARGET && self.drop_prob < 0.2 {
            return false;
        }
        if bytes(&self.qc) as f64 <= 2.0 * MEAN_PKTSIZE {
            return false;
        }
        if self.accu_prob < PROB_LOW || self.accu_prob < PROB_HIGH && !(p1 > 0.0 && u() < p1) {
            return false;
        }
        self.accu_prob = 0.0;
        if self.burst_state == Burst::In {
            self.burst_state = Burst::Protecting;
            self.burst_allowance = 0.142;
        }
        true
    }

    fn classic_enqueue(&mut self, packet: Arrival, marked: bool, u: &mut dyn FnMut() -> f64) {
        if self.drop_early(&packet, u) {
            self.dropped.push(packet.number);
        } else {
            self.qc.push_back((packet, marked));
        }
    }

    fn pick_bucket(&mut self, now: u64, uflw: u64) -> usize {
        let nbuckets = 1_usize << self.bi_size;
        // SplitMix64, which the hash equals without a salt.
        let mut h32 = Random(uflw).bits() as u32;
        let mut hsav = nbuckets;
        for _ in 0..self.attempts {
            let h = h32 as usize & (nbuckets - 1);
            if self.buckets[h].id == Some(uflw) {
                if self.buckets[h].t_exp <= now {
                    self.buckets[h].t_exp = now;
                }
                return h;
            } else if hsav == nbuckets && self.buckets[h].t_exp <= now {
                hsav = h;
            }
            h32 = h32.checked_shr(self.bi_size).unwrap_or(0);
        }
        if hsav != nbuckets || self.buckets[hsav].t_exp <= now {
            self.buckets[hsav].t_exp = now;
        }
        self.buckets[hsav].id = Some(uflw);
        hsav
    }

    fn fill_bucket(&mut self, now: u64, bckt_id: usize, pkt_sz: i64, prob_native: f64) -> u64 {
        let max_qlscore = 5_000_000_000 / T_RES;
        let aging = f64::powi(2.0, self.lg_aging as i32 - 30) * T_RES as f64;
        self.buckets[bckt_id].t_exp += (prob_native * pkt_sz as f64 / aging) as u64;
        if self.buckets[bckt_id].t_exp - now > max_qlscore {
            self.buckets[bckt_id].t_exp = now + max_qlscore;
        }
        self.buckets[bckt_id].t_exp - now
    }

    /// Whether the packet is sanctioned.
    fn qprotect(&mut self, packet: &Arrival, qdelay: f64, prob_native: f64) -> bool {
        let Some([critical_ql, critical_ql_score]) = self.critical_us.map(|both| both.map(|us| us * 1000))
        else {
            return false;
        };
        let now = (packet.since * 1e9).round() as u64;
        let bckt_id = self.pick_bucket(now, packet.flow);
        let qlscore = self.fill_bucket(now, bckt_id, packet.size, prob_native);
        let qdelay = (qdelay * 1e9).round() as u64;
        qdelay > critical_ql && qdelay * qlscore > critical_ql * critical_ql_score
    }

    /// The virtual queue with another packet of this size.
    fn qdelay_coupled_v(&mut self, now: f64, size: i64) -> f64 {
        self.vq = f64::max(self.vq - (now - self.t_last), 0.0) + 8.0 * size as f64 / MAX_RATE;
        self.t_last = now;
        self.vq
    }

    /// Aligns the virtual queue at each multiple of 500 us until now.
    fn align_vq(&mut self, now: f64) {
        let Some(loop_delay) = self.loop_delay else { return };
        while (self.vq_ticks + 1) * 500_000 <= (now * 1e9).round() as u64 {
            self.vq_ticks += 1;
            self.qdelay_coupled_v(self.vq_ticks as f64 * 0.0005, 0);
            self.average_aq += (bytes(&self.ql) as f64 - self.average_aq) / 128.0;
            let allowed_aq = loop_delay * MAX_RATE / 8.0;
            if self.average_aq > allowed_aq {
                self.vq = f64::max(self.vq, (self.average_aq - allowed_aq) * 8.0 / MAX_RATE);
            }
        }
    }

    fn decrease_vq(&mut self, size: i64) {
        self.vq = f64::max(self.vq - 8.0 * size as f64 / MAX_RATE, 0.0);
    }

    fn serves_l(&self) -> bool {
        !self.ql.is_empty() && (self.qc.is_empty() || self.credit <= 0)
    }
}

impl Scheme for Lld {
    fn enqueue(&mut self, packet: Arrival, u: &mut dyn FnMut() -> f64) {
        let low_latency = packet.l4s || packet.nqb;
        if self.ql.len() + self.qc.len() >= self.limit {
            if !low_latency {
                self.accu_prob = 0.0;
            }
            return self.dropped.push(packet.number);
        }
        if !low_latency {
            return self.classic_enqueue(packet, false, u);
        }
        let before = bytes(&self.ql);
        self.align_vq(packet.since);
        let qdelay = match self.loop_delay {
            None => 8.0 * (before + packet.size) as f64 / MAX_RATE,
            Some(_) => (self.qdelay_coupled_v(packet.since, packet.size) * 1e9).round() / 1e9,
        };
        let room = self.config_buffer_size - 2000;
        let is_space = match self.loop_delay {
            None => before < room,
            Some(_) => qdelay < 8.0 * room as f64 / MAX_RATE,
        };
        let (min_th, max_th) = (FLOOR, FLOOR + RANGE);
        let prob_native = if qdelay >= max_th {
            1.0
        } else if qdelay > min_th {
            (qdelay - min_th) / (max_th - min_th)
        } else {
            0.0
        };
        self.recur_count += f64::max(prob_native, self.prob_cl);
        let mark = self.recur_count > 1.0;
        if mark {
            self.recur_count -= 1.0;
        }
        let marked = mark && packet.ect;
        if self.qprotect(&packet, qdelay, prob_native) {
            self.classic_enqueue(packet, marked, u);
            self.decrease_vq(packet.size);
        } else if is_space {
            self.ql.push_back((packet, marked));
        } else {
            self.dropped.push(packet.number);
            self.decrease_vq(packet.size);
        }
    }

    fn dequeue(&mut self, now: f64, _: &mut dyn FnMut() -> f64) -> Option<Sent> {
        self.align_vq(now);
        let from_l = self.serves_l();
        let Some((packet, mark)) = (if from_l { self.ql.pop_front() } else { self.qc.pop_front() }) else {
            self.credit = 1500 * (256 - 2 * self.weight);
            return None;
        };
        if from_l {
            self.interval_bits_l += 8.0 * packet.size as f64;
        }
        if from_l && !self.qc.is_empty() {
            self.credit += (256 - self.weight) * packet.size;
        } else if !from_l && !self.ql.is_empty() {
            self.credit -= self.weight * packet.size;
        }
        Some(Sent { number: packet.number, mark })
    }

    fn period(&self) -> Option<f64> {
        Some(INTERVAL)
    }

    fn update(&mut self, _: f64) {
        let r_l = f64::min(self.interval_bits_l / INTERVAL, self.weight as f64 / 256.0 * MAX_RATE);
        self.interval_bits_l = 0.0;
        let qdelay = 8.0 * bytes(&self.qc) as f64 / (MAX_RATE - r_l);
        let qdelay = (qdelay * 1e9).round() / 1e9;
        if self.burst_allowance > 0.0 {
            self.drop_prob = 0.0;
        } else {
            let mut p = 0.25 * (qdelay - LATENCY_TARGET) + 2.5 * (qdelay - self.qdelay_old);
            p /= match self.drop_prob {
                p if p < 0.000_001 => 2048.0,
                p if p < 0.000_01 => 512.0,
                p if p < 0.0001 => 128.0,
                p if p < 0.001 => 32.0,
                p if p < 0.01 => 8.0,
                p if p < 0.1 => 2.0,
                p if p < 1.0 => 0.5,
                p if p < 10.0 => 0.125,
                _ => 0.03125,
            };
            if self.drop_prob >= 0.1 && p > 0.02 {
                p = 0.02;
            }
            self.drop_prob += p;
            if qdelay < 0.005 && self.qdelay_old < 0.005 {
                self.drop_prob *= 0.98;
            } else if qdelay > 0.2 {
                self.drop_prob += 0.02;
            }
            self.drop_prob = self.drop_prob.clamp(0.0, PROB_LOW * MEAN_PKTSIZE / 64.0);
        }
        self.prob_cl = f64::min(self.coupling * self.drop_prob.sqrt(), 1.0);
        self.burst_allowance = ((self.burst_allowance - INTERVAL).max(0.0) * 1e6).round() / 1e6;
        let half = 0.5 * LATENCY_TARGET;
        let quiet = qdelay < half && self.qdelay_old < half && self.drop_prob == 0.0;
        if quiet && self.burst_allowance == 0.0 {
            if self.burst_state == Burst::Protecting {
                self.burst_state = Burst::In;
                self.burst_reset = 0;
            } else if self.burst_state == Burst::In {
                self.burst_reset += 1;
                if self.burst_reset > 62 {
                    self.burst_reset = 0;
                    self.burst_state = Burst::No;
                }
            }
        } else if self.burst_state == Burst::In {
            self.burst_reset = 0;
        }
        self.qdelay_old = qdelay;
    }

    fn dropped(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.dropped)
    }

    fn signal(&self) -> f64 {
        self.prob_cl
    }
}
