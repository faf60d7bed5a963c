//! RED and its family: ns-2's red.cc with ns-3's additions; section V of the RED+Tail paper; RIO and Cisco's WRED.

use super::{MEAN, PTC};
use crate::driver::{Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};

/// The state of updateMaxPFeng.
#[derive(Clone)]
pub(crate) struct Feng {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) bottom: f64,
    pub(crate) top: f64,
    pub(crate) status: &'static str,
}

/// ns-2's red.cc.
#[derive(Clone)]
pub(crate) struct Red {
    pub(crate) th_min: f64,
    pub(crate) th_max: f64,
    pub(crate) cur_max_p: f64,
    pub(crate) max_p0: f64,
    pub(crate) q_w: f64,
    pub(crate) gentle: bool,
    /// ns-2's queue_in_bytes_ and bytes_.
    pub(crate) qib: bool,
    pub(crate) bytes: bool,
    pub(crate) wait: bool,
    /// No spacing at all, which no simulator offers.
    pub(crate) independent: bool,
    pub(crate) setbit: bool,
    pub(crate) mark_p: f64,
    /// ns-3's UseHardDrop, for the whole of p.
    pub(crate) hard_drop: bool,
    /// Whether the first packet above th_min is spared even at p = 1, as in ns-2.
    pub(crate) spare_first: bool,
    /// ns-3's NLRED, with a gentle part that starts where the curve ends.
    pub(crate) nonlinear: bool,
    /// ns-2's feng_adaptive_, with its alpha and beta, and bounds.
    pub(crate) feng: Option<Feng>,
    pub(crate) ptc: f64,
    pub(crate) frozen: bool,
    /// Whether updateMaxP is called on arrivals, as in red.cc.
    pub(crate) lazy: bool,
    pub(crate) lastset: f64,
    pub(crate) bottom: f64,
    pub(crate) v_ave: f64,
    pub(crate) v_prob1: f64,
    pub(crate) old: bool,
    pub(crate) count: u64,
    pub(crate) count_bytes: u64,
    pub(crate) idle: bool,
    pub(crate) idletime: f64,
}

impl Red {
    /// Thresholds in packets, of 500 bytes in byte mode.
    pub(crate) fn new(th_min: f64, th_max: f64, max_p: f64, q_w: f64) -> Self {
        Self {
            th_min,
            th_max,
            cur_max_p: max_p,
            max_p0: max_p,
            q_w,
            gentle: false,
            qib: false,
            bytes: false,
            wait: false,
            independent: false,
            setbit: false,
            mark_p: 1.0,
            hard_drop: true,
            spare_first: true,
            nonlinear: false,
            feng: None,
            ptc: PTC,
            frozen: false,
            lazy: false,
            lastset: 0.0,
            bottom: 0.008,
            v_ave: 0.0,
            v_prob1: 0.0,
            old: false,
            count: 0,
            count_bytes: 0,
            idle: true,
            idletime: 0.0,
        }
    }

    pub(crate) fn in_bytes(self) -> Self {
        Self { bytes: true, ..self.queue_in_bytes() }
    }

    /// As `in_bytes`, but counting packets.
    pub(crate) fn queue_in_bytes(self) -> Self {
        Self { th_min: self.th_min * MEAN, th_max: self.th_max * MEAN, qib: true, ..self }
    }

    fn average_after_idling(&self, now: f64) -> f64 {
        let mut ave = self.v_ave;
        if self.idle {
            // Event times are whole nanoseconds; the constant compensates the rounding of their difference.
            let m = ((now - self.idletime) * self.ptc + 1e-7) as u64;
            for _ in 0..m {
                ave *= 1.0 - self.q_w;
            }
        }
        ave
    }

    fn calculate_p(&self) -> f64 {
        let p = if self.v_ave < self.th_max {
            let v_a = 1.0 / (self.th_max - self.th_min);
            let v_b = -self.th_min / (self.th_max - self.th_min);
            let p = v_a * self.v_ave + v_b;
            let p = if self.nonlinear { p * p * 1.5 } else { p };
            p * self.cur_max_p
        } else if self.gentle {
            let max_p = if self.frozen { self.max_p0 } else { self.cur_max_p };
            let max_p = if self.nonlinear { f64::min(1.5 * max_p, 1.0) } else { max_p };
            let v_c = (1.0 - max_p) / self.th_max;
            let v_d = 2.0 * max_p - 1.0;
            v_c * self.v_ave + v_d
        } else {
            1.0
        };
        if p > 1.0 { 1.0 } else { p }
    }

    fn update_max_p(&mut self, ave: f64, now: f64) {
        let part = 0.4 * (self.th_max - self.th_min);
        if ave < self.th_min + part && self.cur_max_p > self.bottom {
            self.cur_max_p = (self.cur_max_p * 0.9).max(self.bottom);
            self.lastset = now;
        } else if ave > self.th_max - part && self.cur_max_p < 0.5 {
            let mut alpha = 0.01;
            if alpha > 0.25 * self.cur_max_p {
                alpha = 0.25 * self.cur_max_p;
            }
            self.cur_max_p = (self.cur_max_p + alpha).min(0.5);
            self.lastset = now;
        }
    }

    fn update_max_p_feng(&mut self) {
        let Some(feng) = &mut self.feng else { return };
        if self.th_min < self.v_ave && self.v_ave < self.th_max {
            feng.status = "between";
        }
        if self.v_ave < self.th_min && feng.status != "below" {
            feng.status = "below";
            self.cur_max_p = f64::max(self.cur_max_p / feng.alpha, feng.bottom);
        }
        if self.v_ave > self.th_max && feng.status != "above" {
            feng.status = "above";
            self.cur_max_p = f64::min(self.cur_max_p * feng.beta, feng.top);
        }
    }

    fn modify_p(&self, size: u32) -> f64 {
        let count1 = if self.bytes { (self.count_bytes / 500) as f64 } else { self.count as f64 };
        let mut p = self.v_prob1;
        if self.independent {
        } else if self.wait {
            if count1 * p < 1.0 {
                p = 0.0;
            } else if count1 * p < 2.0 {
                p /= 2.0 - count1 * p;
            } else {
                p = 1.0;
            }
        } else if count1 * p < 1.0 {
            p /= 1.0 - count1 * p;
        } else {
            p = 1.0;
        }
        if p > 1.0 {
            p = 1.0;
        }
        if self.bytes && p < 1.0 {
            p = p * f64::from(size) / MEAN;
        }
        p
    }

    /// Updates the average by an arrival, before the decision.
    pub(super) fn average(&mut self, now: f64, queue: &Backlog) {
        self.v_ave = self.average_after_idling(now);
        self.idle = false;
        let qlen = if self.qib { queue.bytes } else { u64::from(queue.packets) };
        self.v_ave = self.v_ave * (1.0 - self.q_w) + self.q_w * qlen as f64;
    }

    pub(super) fn decide(&mut self, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let qlen = if self.qib { queue.bytes } else { u64::from(queue.packets) };
        self.count += 1;
        self.count_bytes += u64::from(packet.size);
        let mut verdict = Verdict::Pass;
        if self.v_ave >= self.th_min && qlen > 1 {
            self.v_prob1 = self.calculate_p();
            let exempts = self.spare_first && self.hard_drop || self.v_prob1 < 1.0;
            if !std::mem::replace(&mut self.old, true) && exempts {
                self.count = 1;
                self.count_bytes = u64::from(packet.size);
            } else if u() < self.modify_p(packet.size) {
                self.count = 0;
                self.count_bytes = 0;
                let soft = !self.hard_drop || self.v_prob1 < self.mark_p;
                verdict = drop_or_mark(self.setbit && packet.ect && soft);
            }
        } else {
            self.v_prob1 = 0.0;
            self.old = false;
        }
        if queue.full {
            self.count = 0;
            self.count_bytes = 0;
        }
        verdict
    }
}

impl Reference for Red {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        self.average(now, queue);
        self.update_max_p_feng();
        if self.lazy && now > self.lastset + 0.5 {
            self.update_max_p(self.v_ave, now);
        }
        self.decide(packet, queue, u)
    }

    fn idle(&mut self, now: f64) {
        self.idle = true;
        self.idletime = now;
    }

    fn timer(&mut self, now: f64, _: &Backlog) {
        self.update_max_p(self.average_after_idling(now), now);
    }

    fn signal(&self) -> f64 {
        self.v_prob1
    }
}

/// Adaptive RED whose thresholds move, as in section V of the RED+Tail paper.
pub(crate) struct Dtared {
    pub(crate) red: Red,
    pub(crate) gamma: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) weight: f64,
    /// Of min_th and max_th.
    pub(crate) bounds: (f64, f64),
    pub(crate) average: f64,
    pub(crate) arrived: u32,
}

impl Reference for Dtared {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let verdict = self.red.arrival(now, packet, queue, u);
        self.average += self.weight * (self.red.v_prob1 - self.average);
        self.arrived += 1;
        verdict
    }

    fn idle(&mut self, now: f64) {
        self.red.idle(now);
    }

    fn timer(&mut self, now: f64, queue: &Backlog) {
        if !self.red.lazy {
            self.red.timer(now, queue);
        }
        let factor = match self.average {
            _ if self.arrived == 0 => 1.0,
            p if p > self.upper => 1.0 + self.gamma,
            p if p < self.lower => 1.0 - self.gamma,
            _ => 1.0,
        };
        self.arrived = 0;
        let d = self.red.th_max - self.red.th_min;
        self.red.th_min = (self.red.th_min * factor).clamp(self.bounds.0, self.bounds.1 - d);
        self.red.th_max = self.red.th_min + d;
    }

    fn signal(&self) -> f64 {
        self.red.v_prob1
    }
}

/// RED for each class of service, with a list of the waiting packets.
pub(crate) struct Wred {
    pub(crate) classes: [Red; 4],
    /// Whether the classes share an average.
    pub(crate) shared: bool,
    pub(crate) waiting: Vec<Packet>,
    pub(crate) last: usize,
}

impl Wred {
    /// The backlog of the class with this number and of higher classes.
    fn part(&self, class: u8, queue: &Backlog) -> Backlog {
        if self.shared {
            return *queue;
        }
        let part = || self.waiting.iter().filter(|packet| packet.class <= class);
        Backlog {
            packets: part().count() as u32,
            bytes: part().map(|packet| u64::from(packet.size)).sum(),
            full: queue.full,
        }
    }
}

impl Reference for Wred {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        for class in 1..=4 {
            let part = self.part(class, queue);
            let red = &mut self.classes[usize::from(class) - 1];
            red.v_ave = red.average_after_idling(now);
            red.idle = false;
            // The packet's own class is updated by RED's transcription below.
            if class == packet.class || !self.shared && class < packet.class {
                continue;
            }
            let qlen = if red.qib { part.bytes } else { u64::from(part.packets) };
            red.v_ave = red.v_ave * (1.0 - red.q_w) + red.q_w * qlen as f64;
        }
        self.last = usize::from(packet.class) - 1;
        let part = self.part(packet.class, queue);
        let verdict = self.classes[self.last].arrival(now, packet, &part, u);
        if !queue.full && verdict != Verdict::Drop {
            self.waiting.push(packet);
        }
        verdict
    }

    fn departure(
        &mut self,
        _: f64,
        packet: Packet,
        _: &Backlog,
        _: f64,
        _: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        assert_eq!(self.waiting.remove(0), packet);
        Verdict::Pass
    }

    fn idle(&mut self, now: f64) {
        self.classes.iter_mut().for_each(|red| red.idle(now));
    }

    fn signal(&self) -> f64 {
        self.classes[self.last].v_prob1
    }
}
