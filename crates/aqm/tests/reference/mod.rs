//! The sources' equations, transcribed plainly: ns-2.35's update equations, the LRED paper's figure 3 and the AVQ
//! paper's pseudocode, with their names, in ns-2's units (bytes in byte mode, seconds as floats), with loops where the
//! algorithms use powers.

pub(crate) mod choke;
pub(crate) mod headdrop;
mod red;

use crate::driver::{Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};
pub(crate) use red::{Dtared, Feng, Red, Wred};

/// 10 Mbit/s in packets of 500 bytes.
pub(crate) const PTC: f64 = 2500.0;
const MEAN: f64 = 500.0;

/// ns-2's pi.cc.
pub(crate) struct Pi {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) qref: f64,
    pub(crate) bytes: bool,
    pub(crate) qib: bool,
    pub(crate) setbit: bool,
    pub(crate) v_prob: f64,
    pub(crate) qold: f64,
}

impl Reference for Pi {
    fn arrival(&mut self, _: f64, packet: Packet, _: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let mut p = self.v_prob;
        if self.bytes {
            p = p * f64::from(packet.size) / MEAN;
        }
        if u() < p { drop_or_mark(self.setbit && packet.ect) } else { Verdict::Pass }
    }

    fn timer(&mut self, _: f64, queue: &Backlog) {
        let qlen = if self.qib { queue.bytes as f64 / MEAN } else { f64::from(queue.packets) };
        let p = self.a * (qlen - self.qref) - self.b * (self.qold - self.qref) + self.v_prob;
        self.v_prob = p.clamp(0.0, 1.0);
        self.qold = qlen;
    }

    fn signal(&self) -> f64 {
        self.v_prob
    }
}

/// ns-2's rem.cc, or equation (36) of the LRED paper.
pub(crate) struct Rem {
    pub(crate) rate_form: bool,
    pub(crate) bytes: bool,
    pub(crate) by_size: bool,
    pub(crate) ecn: bool,
    pub(crate) gamma: f64,
    pub(crate) phi: f64,
    pub(crate) bo: f64,
    pub(crate) c: f64,
    pub(crate) inw: f64,
    pub(crate) v_ave: f64,
    pub(crate) count: f64,
    pub(crate) v_pl: f64,
    pub(crate) v_prob: f64,
    pub(crate) qold: f64,
}

impl Rem {
    fn pro(&self, packet: Packet) -> f64 {
        if self.by_size { self.v_prob * f64::from(packet.size) / MEAN } else { self.v_prob }
    }
}

impl Reference for Rem {
    fn arrival(&mut self, _: f64, packet: Packet, _: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        self.count += if self.bytes { f64::from(packet.size) } else { 1.0 };
        if self.rate_form && self.ecn {
            return Verdict::Pass;
        }
        if u() < self.pro(packet) { drop_or_mark(self.ecn && packet.ect) } else { Verdict::Pass }
    }

    fn departure(
        &mut self,
        _: f64,
        packet: Packet,
        _: &Backlog,
        _: f64,
        u: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        if self.rate_form && self.ecn && packet.ect && u() < self.pro(packet) {
            Verdict::Mark
        } else {
            Verdict::Pass
        }
    }

    fn timer(&mut self, _: f64, queue: &Backlog) {
        let q = if self.bytes { queue.bytes as f64 / MEAN } else { f64::from(queue.packets) };
        if self.rate_form {
            let input = if self.bytes { self.count / MEAN } else { self.count };
            self.v_ave *= 1.0 - self.inw;
            self.v_ave += self.inw * input;
            self.v_pl += self.gamma * (self.v_ave + 0.1 * (q - self.bo) - self.c);
        } else {
            self.v_pl += self.gamma * (q - 0.9 * self.qold - 0.1 * self.bo);
        }
        if self.v_pl < 0.0 {
            self.v_pl = 0.0;
        }
        self.v_prob = 1.0 - self.phi.powf(-self.v_pl);
        self.qold = q;
        self.count = 0.0;
    }

    fn signal(&self) -> f64 {
        self.v_prob
    }
}

/// Figure 3 of the LRED paper, with the root of equation (3), or another power of L.
pub(crate) struct Lred {
    pub(crate) qo: f64,
    pub(crate) beta: f64,
    /// Of L, none for the root.
    pub(crate) power: Option<i32>,
    pub(crate) mw: f64,
    pub(crate) bytes: bool,
    pub(crate) ecn: bool,
    pub(crate) arr_pkt_num: u64,
    pub(crate) drop_pkt_num: u64,
    pub(crate) arr_num: Vec<u64>,
    pub(crate) drop_num: Vec<u64>,
    pub(crate) index: usize,
    pub(crate) loss_ratio: f64,
    pub(crate) p: f64,
}

impl Reference for Lred {
    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        self.arr_pkt_num += 1;
        let q = if self.bytes { queue.bytes as f64 / MEAN } else { f64::from(queue.packets) };
        let power = self.power.map_or_else(|| self.loss_ratio.sqrt(), |power| self.loss_ratio.powi(power));
        self.p = (self.loss_ratio + self.beta * power * (q - self.qo)).clamp(0.0, 1.0);
        let scale = if self.bytes { f64::from(packet.size) / MEAN } else { 1.0 };
        if queue.full {
            self.drop_pkt_num += 1;
            Verdict::Drop
        } else if u() >= self.p * scale {
            Verdict::Pass
        } else {
            self.drop_pkt_num += 1;
            drop_or_mark(self.ecn && packet.ect)
        }
    }

    fn timer(&mut self, _: f64, _: &Backlog) {
        self.drop_num[self.index] = self.drop_pkt_num;
        self.arr_num[self.index] = self.arr_pkt_num;
        self.arr_pkt_num = 0;
        self.drop_pkt_num = 0;
        self.index += 1;
        if self.index == self.arr_num.len() {
            self.index = 0;
        }
        let (mut all_drop, mut all_arr) = (0, 0);
        for i in 0..self.arr_num.len() {
            all_drop += self.drop_num[i];
            all_arr += self.arr_num[i];
        }
        if all_arr > 0 {
            self.loss_ratio = self.loss_ratio * self.mw + all_drop as f64 / all_arr as f64 * (1.0 - self.mw);
        }
    }

    fn signal(&self) -> f64 {
        self.p
    }
}

/// ns-2's vq.cc, or the pseudocode of the AVQ paper.
pub(crate) struct Vq {
    pub(crate) paper: bool,
    pub(crate) qib: bool,
    pub(crate) markpkts: bool,
    pub(crate) alpha: f64,
    pub(crate) gamma: f64,
    pub(crate) ecnlim: f64,
    /// In packets.
    pub(crate) buffer: f64,
    pub(crate) firstpkt: bool,
    pub(crate) vq_len: f64,
    pub(crate) ctilde: f64,
    pub(crate) prev_time: f64,
    pub(crate) vqprev_time: f64,
}

impl Vq {
    pub(crate) fn new(alpha: f64, gamma: f64, ecnlim: f64, buffer: f64) -> Self {
        Self {
            paper: false,
            qib: false,
            markpkts: false,
            alpha,
            gamma,
            ecnlim,
            buffer,
            firstpkt: true,
            vq_len: 0.0,
            ctilde: 0.0,
            prev_time: 0.0,
            vqprev_time: 0.0,
        }
    }

    fn unit(&self) -> f64 {
        if self.qib { MEAN } else { 1.0 }
    }

    fn ns2(&mut self, t: f64, b: f64, ect: bool) -> Verdict {
        let (c, limit) = (PTC * self.unit(), self.buffer * self.unit());
        self.vq_len -= self.ctilde * (t - self.vqprev_time);
        self.vqprev_time = t;
        if self.vq_len < 0.0 {
            self.vq_len = 0.0;
        }
        self.vq_len += b;
        let mut verdict = Verdict::Pass;
        if self.vq_len > limit {
            self.vq_len -= b;
            if !self.markpkts {
                return Verdict::Drop;
            }
            if ect {
                verdict = Verdict::Mark;
            }
        }
        self.ctilde = self.ctilde + self.alpha * self.gamma * c * (t - self.prev_time) - self.alpha * b;
        if self.ctilde > c {
            self.ctilde = c;
        }
        if self.ctilde < 0.0 {
            self.ctilde = 0.0;
        }
        self.prev_time = t;
        verdict
    }

    fn paper(&mut self, t: f64, b: f64, ect: bool) -> Verdict {
        let (c, limit) = (PTC * self.unit(), self.buffer * self.unit());
        let s = self.prev_time;
        let mut verdict = Verdict::Pass;
        self.vq_len = f64::max(self.vq_len - self.ctilde * (t - s), 0.0);
        if self.vq_len + b > limit {
            verdict = drop_or_mark(self.markpkts && ect);
        } else {
            self.vq_len += b;
        }
        self.ctilde =
            f64::max(f64::min(self.ctilde + self.alpha * self.gamma * c * (t - s), c) - self.alpha * b, 0.0);
        self.prev_time = t;
        verdict
    }
}

impl Reference for Vq {
    fn arrival(&mut self, now: f64, packet: Packet, _: &Backlog, _: &mut dyn FnMut() -> f64) -> Verdict {
        if self.firstpkt {
            self.firstpkt = false;
            self.ctilde = self.ecnlim * PTC * self.unit();
            self.prev_time = now;
            self.vqprev_time = now;
        }
        let b = if self.qib { f64::from(packet.size) } else { 1.0 };
        if self.paper { self.paper(now, b, packet.ect) } else { self.ns2(now, b, packet.ect) }
    }

    fn signal(&self) -> f64 {
        self.vq_len / self.unit()
    }
}
