//! Figure 1 of the RAQM paper, the controller of PI2's authors' Linux module and DCTCP's rule, transcribed
//! plainly, with their names, in seconds as floats.

use crate::driver::{Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};

/// The authors' module, in which `prob` is that of scalable packets.
pub(crate) struct Pi2 {
    pub(crate) target: f64,
    /// For `prob`: k times the paper's.
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) k: f64,
    pub(crate) ecn: bool,
    pub(crate) prob: f64,
    pub(crate) qdelay: f64,
    pub(crate) qdelay_old: f64,
}

impl Reference for Pi2 {
    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let u = u();
        if queue.bytes < 2 * 500 {
            return Verdict::Pass;
        }
        if self.ecn && packet.l4s {
            return if u < self.prob { Verdict::Mark } else { Verdict::Pass };
        }
        // The module draws twice against prob / k: one draw against the square has the same probability.
        if u.sqrt() < self.prob / self.k { drop_or_mark(self.ecn && packet.ect) } else { Verdict::Pass }
    }

    /// The module measures the rate of departures; RFC 9332 and Linux's dualpi2, the age of the head.
    fn head(&mut self, age: f64) {
        self.qdelay = age;
    }

    fn timer(&mut self, _: f64, _: &Backlog) {
        let mut delta = (self.qdelay - self.target) * self.alpha;
        delta += (self.qdelay - self.qdelay_old) * self.beta;
        self.prob += delta;
        self.prob = self.prob.clamp(0.0, 1.0);
        self.qdelay_old = self.qdelay;
    }

    fn signal(&self) -> f64 {
        (self.prob / self.k).powi(2)
    }
}

/// Figure 1 of the RAQM paper, with the alpha of its equation (3), once for each aggregate. Its first line and its last are
/// also transcribed in other readings.
pub(crate) struct Raqm {
    pub(crate) queue_dependent: bool,
    pub(crate) ecn: bool,
    pub(crate) corrected: bool,
    /// The input rate leaves out early drops.
    pub(crate) unshed: bool,
    /// The input rate leaves out all drops.
    pub(crate) accepted: bool,
    /// The mean of the arrivals' p takes the place of `drop_pb`.
    pub(crate) mean_fed: bool,
    /// alpha r0, or none if it adapts.
    pub(crate) fixed_m: Option<f64>,
    pub(crate) eps: f64,
    pub(crate) t: f64,
    pub(crate) f: f64,
    pub(crate) q0: f64,
    /// In bytes per second.
    pub(crate) r0: Vec<f64>,
    pub(crate) arr_byte: [f64; 4],
    pub(crate) early_byte: [f64; 4],
    pub(crate) input_rate: [f64; 4],
    pub(crate) early_rate: [f64; 4],
    pub(crate) drop_pb: [f64; 4],
    /// The p of each of this period's arrivals.
    pub(crate) applied: [Vec<f64>; 4],
    pub(crate) first: bool,
    pub(crate) p: f64,
}

impl Raqm {
    fn index(&self, packet: Packet) -> usize {
        let own = packet.class as usize - 1;
        if own < self.r0.len() { own } else { self.r0.len() - 1 }
    }
}

impl Reference for Raqm {
    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let u = u();
        let i = self.index(packet);
        self.arr_byte[i] += f64::from(packet.size);
        self.p = self.drop_pb[i];
        if self.queue_dependent {
            self.p = (self.drop_pb[i] * (f64::from(queue.packets) / self.q0)).clamp(0.0, 1.0);
        }
        self.applied[i].push(self.p);
        if queue.full {
            if self.accepted {
                self.arr_byte[i] -= f64::from(packet.size);
            }
            return Verdict::Pass;
        }
        if u >= self.p {
            return Verdict::Pass;
        }
        if self.ecn && packet.ect {
            return Verdict::Mark;
        }
        if self.unshed || self.accepted {
            self.arr_byte[i] -= f64::from(packet.size);
        } else {
            self.early_byte[i] += f64::from(packet.size);
        }
        Verdict::Drop
    }

    fn timer(&mut self, _: f64, _: &Backlog) {
        for i in 0..self.r0.len() {
            let input_rate_temp = self.arr_byte[i] / self.t;
            self.input_rate[i] = (1.0 - self.f) * input_rate_temp + self.f * self.input_rate[i];
            self.early_rate[i] = (1.0 - self.f) * (self.early_byte[i] / self.t) + self.f * self.early_rate[i];
            let r = self.input_rate[i];
            let mut r0 = self.r0[i];
            if self.corrected && r > 0.0 {
                let l = self.early_rate[i] / r;
                r0 /= 1.0 - l;
            }
            let mut alpha = 4.0 / r0;
            if r > 0.0 && r < 2.0 * r0 && (r - r0).abs() > 1e-5 * r0 {
                alpha = ((2.0 * r0 - r).ln() - r.ln()) / (0.5 * (r0 - r));
            }
            alpha *= self.eps;
            if self.first {
                alpha = 2.0 / r0;
            }
            if let Some(m) = self.fixed_m {
                alpha = m / r0;
            }
            let mismatch = r - r0;
            if self.mean_fed && !self.applied[i].is_empty() {
                self.drop_pb[i] = self.applied[i].iter().sum::<f64>() / self.applied[i].len() as f64;
            }
            self.applied[i].clear();
            self.drop_pb[i] = (self.drop_pb[i] * (alpha * mismatch).exp()).clamp(1e-6, 1.0);
            self.arr_byte[i] = 0.0;
            self.early_byte[i] = 0.0;
        }
        self.first = false;
    }

    fn signal(&self) -> f64 {
        self.p
    }
}

/// DCTCP's switch: an arriving packet is marked if the queue is longer than K; with a delay, a leaving packet is
/// marked if it has waited longer.
pub(crate) struct Dctcp {
    pub(crate) k: f64,
    /// Instead of K.
    pub(crate) delay: Option<f64>,
    pub(crate) bytes: bool,
    pub(crate) drop_others: bool,
    pub(crate) ecn: bool,
}

impl Dctcp {
    fn verdict(&self, congested: bool, packet: Packet) -> Verdict {
        match (congested, self.ecn && packet.ect, self.drop_others) {
            (true, true, _) => Verdict::Mark,
            (true, false, true) => Verdict::Drop,
            _ => Verdict::Pass,
        }
    }
}

impl Reference for Dctcp {
    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, _: &mut dyn FnMut() -> f64) -> Verdict {
        let occupancy = if self.bytes { queue.bytes as f64 / 500.0 } else { f64::from(queue.packets) };
        self.verdict(self.delay.is_none() && occupancy > self.k, packet)
    }

    fn departure(
        &mut self,
        _: f64,
        packet: Packet,
        _: &Backlog,
        sojourn: f64,
        _: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        self.verdict(self.delay.is_some_and(|delay| sojourn > delay), packet)
    }

    fn signal(&self) -> f64 {
        0.0
    }
}
