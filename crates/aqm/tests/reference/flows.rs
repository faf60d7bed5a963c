//! Algorithms with state per flow: the pseudocode of the FRED paper, the equations of the SRED paper, and Linux's
//! sch_sfb.c, with their names.

use crate::driver::{Reference, drop_or_mark};
use crate::support::Random;
use aqm::{Backlog, Packet, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// FRED: SIGCOMM 1997, the figure with the pseudocode.
#[derive(Clone)]
pub(crate) struct Fred {
    pub(crate) minth: f64,
    pub(crate) maxth: f64,
    pub(crate) maxp: f64,
    pub(crate) wq: f64,
    pub(crate) minq: f64,
    pub(crate) many_flows: bool,
    pub(crate) ecn: bool,
    pub(crate) avg: f64,
    pub(crate) avgcq: f64,
    pub(crate) count: f64,
    pub(crate) q_time: f64,
    pub(crate) pb: f64,
    /// qlen and strike of the active flows.
    pub(crate) states: BTreeMap<u64, (u32, u32)>,
}

impl Fred {
    pub(crate) fn new(minth: f64, maxth: f64, maxp: f64, wq: f64, minq: f64) -> Self {
        Self {
            minth,
            maxth,
            maxp,
            wq,
            minq,
            many_flows: false,
            ecn: false,
            avg: 0.0,
            avgcq: 1.0,
            count: -1.0,
            q_time: 0.0,
            pb: 0.0,
            states: BTreeMap::new(),
        }
    }

    fn calculate_average_queue_length(&mut self, now: f64, q: u32, departed: bool) {
        if q > 0 || departed {
            self.avg = (1.0 - self.wq) * self.avg + self.wq * f64::from(q);
        } else {
            // 2500 packets/s; the constant compensates the rounding of a difference.
            for _ in 0..((now - self.q_time) * 2500.0 + 1e-7) as u64 {
                self.avg *= 1.0 - self.wq;
            }
            self.q_time = now;
        }
        self.calculate_avgcq();
        if q == 0 && departed {
            self.q_time = now;
        }
    }

    fn calculate_avgcq(&mut self) {
        let nactive = self.states.len();
        self.avgcq = if nactive > 0 { self.avg / nactive as f64 } else { self.avg };
        self.avgcq = self.avgcq.max(1.0);
    }

    fn verdict(&mut self, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let (qlen, strike) = self.states.get(&packet.flow).copied().unwrap_or((0, 0));
        let qlen = f64::from(qlen);
        let mut maxq = self.minth;
        if self.many_flows && self.avg >= self.maxth {
            maxq = 2.0;
        }
        self.pb = 0.0;
        if qlen >= maxq
            || (self.avg >= self.maxth && qlen > 2.0 * self.avgcq)
            || (qlen >= self.avgcq && strike > 1)
        {
            self.states.entry(packet.flow).and_modify(|state| state.1 += 1);
            return Verdict::Drop;
        }
        if self.minth <= self.avg && self.avg < self.maxth {
            self.count += 1.0;
            self.pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth);
            if qlen >= f64::max(self.minq, self.avgcq) && !queue.full {
                let mut pa = 1.0;
                if self.count * self.pb < 1.0 {
                    pa = self.pb / (1.0 - self.count * self.pb);
                }
                if u() < pa {
                    self.count = 0.0;
                    return drop_or_mark(self.ecn && packet.ect);
                }
            }
        } else if self.avg < self.minth {
            self.count = -1.0;
        } else {
            self.count = 0.0;
            if !self.many_flows {
                self.pb = 1.0;
                return Verdict::Drop;
            }
        }
        Verdict::Pass
    }
}

impl Reference for Fred {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        if queue.packets == 0 {
            self.calculate_average_queue_length(now, 0, false);
        }
        let verdict = self.verdict(packet, queue, u);
        if verdict != Verdict::Drop && !queue.full {
            self.states.entry(packet.flow).or_insert((0, 0)).0 += 1;
            self.calculate_average_queue_length(now, queue.packets, false);
        }
        verdict
    }

    fn departure(
        &mut self,
        now: f64,
        packet: Packet,
        queue: &Backlog,
        _: f64,
        _: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        let state = self.states.get_mut(&packet.flow).unwrap();
        state.0 -= 1;
        if state.0 == 0 {
            self.states.remove(&packet.flow);
        }
        self.calculate_average_queue_length(now, queue.packets, true);
        Verdict::Pass
    }

    fn signal(&self) -> f64 {
        self.pb
    }
}

/// SRED: INFOCOM 1999, equations for P(t), p_sred and p_zap, and section 2 for the zombies.
#[derive(Clone)]
pub(crate) struct Sred {
    pub(crate) m: usize,
    pub(crate) p: f64,
    pub(crate) alpha: f64,
    pub(crate) p_max: f64,
    /// The paper's 256.
    pub(crate) most: f64,
    pub(crate) full: bool,
    pub(crate) ecn: bool,
    /// B, in packets.
    pub(crate) b: f64,
    pub(crate) zombie: Vec<u64>,
    pub(crate) p_t: f64,
    pub(crate) p_zap: f64,
}

impl Reference for Sred {
    const DRAWS_ALWAYS: bool = true;

    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let mut hit = 0.0;
        if self.zombie.len() < self.m {
            self.zombie.push(packet.flow);
        } else {
            let z = (u() * self.m as f64).floor() as usize;
            if self.zombie[z] == packet.flow {
                hit = 1.0;
            } else if u() < self.p {
                self.zombie[z] = packet.flow;
            }
        }
        self.p_t = (1.0 - self.alpha) * self.p_t + self.alpha * hit;
        let q = f64::from(queue.packets);
        let p_sred = if self.b / 3.0 <= q {
            self.p_max
        } else if self.b / 6.0 <= q {
            self.p_max / 4.0
        } else {
            0.0
        };
        self.p_zap = p_sred * f64::min(1.0, (self.most * self.p_t).powi(2).recip());
        if self.full && self.p_t > 0.0 {
            self.p_zap = f64::min(1.0, self.p_zap * (1.0 + hit / self.p_t));
        }
        if u() < self.p_zap { drop_or_mark(self.ecn && packet.ect) } else { Verdict::Pass }
    }

    fn signal(&self) -> f64 {
        self.p_zap
    }
}

/// SFB: sch_sfb.c, with any number of levels and bins; by default with floats for its fixed point, and with a penalty
/// box that is filled like a token bucket.
#[derive(Clone)]
pub(crate) struct Sfb {
    pub(crate) levels: u64,
    pub(crate) buckets: u64,
    pub(crate) bin_size: u32,
    pub(crate) max: u32,
    pub(crate) increment: f64,
    pub(crate) decrement: f64,
    pub(crate) rehash_interval: f64,
    pub(crate) warmup_time: f64,
    pub(crate) penalty_rate: f64,
    pub(crate) penalty_burst: f64,
    pub(crate) ecn: bool,
    /// Whether probabilities are multiples of 1/65535, bins keep them, and the box is Linux's.
    pub(crate) linux: bool,
    pub(crate) seed: u64,
    pub(crate) slot: usize,
    pub(crate) double_buffering: bool,
    pub(crate) generations: u64,
    pub(crate) perturbation: [u64; 2],
    /// qlen and p_mark by slot, level and hash.
    pub(crate) bins: [BTreeMap<(u64, u64), (u32, f64)>; 2],
    pub(crate) rehash_time: f64,
    pub(crate) tokens_avail: f64,
    pub(crate) token_time: f64,
    /// For each packet in the queue, the bins that count it, in either slot.
    pub(crate) cb: VecDeque<[Vec<(u64, u64)>; 2]>,
    pub(crate) p_min: f64,
    /// How many packets were in the penalty box, and how often the hash changed.
    pub(crate) boxed: std::rc::Rc<std::cell::Cell<(u32, u32)>>,
}

/// SplitMix64's output for the state `key` after its step; the salt has passed through the same function.
fn mix(key: u64, salt: u64) -> u64 {
    let salted = Random(salt.wrapping_sub(0x9e37_79b9_7f4a_7c15)).bits();
    Random(key ^ salted).bits()
}

impl Sfb {
    fn init_perturbation(&mut self, slot: usize) {
        self.perturbation[slot] = mix(self.generations, self.seed);
        self.generations += 1;
        if !self.linux {
            self.bins[slot].values_mut().for_each(|bin| bin.1 = 0.0);
        }
    }

    fn hashes(&self, flow: u64, slot: usize) -> Vec<(u64, u64)> {
        let salt = self.perturbation[slot];
        (0..self.levels).map(|i| (i, mix(flow, salt.wrapping_add(i)) % self.buckets)).collect()
    }

    /// The unit of probabilities.
    fn one(&self) -> f64 {
        if self.linux { 65_535.0 } else { 1.0 }
    }

    /// A step in the unit of probabilities.
    fn step(&self, step: f64) -> f64 {
        if self.linux { (step * 65_535.0 + 0.5).floor() } else { step }
    }

    fn update(&mut self, slot: usize, hashes: &[(u64, u64)]) -> (f64, u32) {
        let (increment, decrement, one) = (self.step(self.increment), self.step(self.decrement), self.one());
        let (mut p_min, mut minqlen) = (f64::INFINITY, u32::MAX);
        for hash in hashes {
            let b = self.bins[slot].entry(*hash).or_insert((0, 0.0));
            if b.0 == 0 {
                b.1 = f64::max(b.1 - decrement, 0.0);
            } else if b.0 >= self.bin_size {
                b.1 = f64::min(b.1 + increment, one);
            }
            p_min = p_min.min(b.1);
            minqlen = minqlen.min(b.0);
        }
        (p_min, minqlen)
    }

    fn rate_limit(&mut self, now: f64) -> bool {
        if self.linux {
            if self.tokens_avail == 0.0 {
                let age = f64::min(10.0, now - self.token_time);
                self.tokens_avail = (age * self.penalty_rate).floor().min(self.penalty_burst);
                self.token_time = now;
            }
            let none = self.tokens_avail == 0.0;
            self.tokens_avail = f64::max(self.tokens_avail - 1.0, 0.0);
            return none;
        }
        self.tokens_avail += (now - self.token_time) * self.penalty_rate;
        self.tokens_avail = self.tokens_avail.min(self.penalty_burst);
        self.token_time = now;
        if self.tokens_avail < 1.0 {
            return true;
        }
        self.tokens_avail -= 1.0;
        false
    }
}

impl Reference for Sfb {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        if queue.full {
            return Verdict::Drop;
        }
        if self.generations == 0 {
            self.init_perturbation(0);
            self.init_perturbation(1);
        }
        let (boxed, rehashes) = self.boxed.get();
        if self.rehash_interval > 0.0 {
            let limit = self.rehash_time + self.rehash_interval;
            if now > limit {
                self.init_perturbation(self.slot);
                self.slot ^= 1;
                self.double_buffering = false;
                self.rehash_time = now;
                self.boxed.set((boxed, rehashes + 1));
            } else if !self.double_buffering && self.warmup_time > 0.0 && now > limit - self.warmup_time {
                self.double_buffering = true;
            }
        }
        let hashes = self.hashes(packet.flow, self.slot);
        let (p_min, minqlen) = self.update(self.slot, &hashes);
        let mut cb = [vec![], vec![]];
        cb[self.slot] = hashes;
        self.p_min = p_min / self.one();
        if minqlen >= self.max {
            return Verdict::Drop;
        }
        let mut verdict = Verdict::Pass;
        if p_min >= self.one() {
            self.boxed.set((boxed + 1, self.boxed.get().1));
            if self.double_buffering {
                let other = self.slot ^ 1;
                let hashes = self.hashes(packet.flow, other);
                self.update(other, &hashes);
                cb[other] = hashes;
            }
            if self.rate_limit(now) {
                return Verdict::Drop;
            }
        } else {
            let (r, half) = if self.linux { ((u() * 65_536.0).floor(), 32_767.0) } else { (u(), 0.5) };
            if r < p_min {
                if p_min > half && r < (p_min - half) * 2.0 {
                    return Verdict::Drop;
                }
                if !(self.ecn && packet.ect) {
                    return Verdict::Drop;
                }
                verdict = Verdict::Mark;
            }
        }
        for slot in [0, 1] {
            for hash in &cb[slot] {
                self.bins[slot].get_mut(hash).unwrap().0 += 1;
            }
        }
        self.cb.push_back(cb);
        verdict
    }

    fn departure(&mut self, _: f64, _: Packet, _: &Backlog, _: f64, _: &mut dyn FnMut() -> f64) -> Verdict {
        let cb = self.cb.pop_front().unwrap();
        for slot in [0, 1] {
            for hash in &cb[slot] {
                self.bins[slot].get_mut(hash).unwrap().0 -= 1;
            }
        }
        Verdict::Pass
    }

    fn signal(&self) -> f64 {
        self.p_min
    }
}
