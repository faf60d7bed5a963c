//! Linux's RED (red.h, sch_red.c, sch_choke.c of 7.2) as tc sets it up (tc_red.c), re-implemented plainly in whole
//! numbers.

use crate::driver::{Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};

#[derive(Clone)]
pub(crate) struct Linux {
    /// Thresholds in bytes; in packets for CHOKe.
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) wlog: u32,
    /// In units of 2^-32.
    pub(crate) max_p: i64,
    pub(crate) ecn: bool,
    pub(crate) harddrop: bool,
    pub(crate) adaptive: bool,
    /// The transmission time of an average packet, in ticks of 64 ns.
    pub(crate) xmit: f64,
    pub(crate) choke: bool,
    pub(crate) qavg: i64,
    pub(crate) qcount: i64,
    pub(crate) random: i64,
    pub(crate) idle_from: Option<f64>,
    pub(crate) fifo: Vec<u64>,
    /// At the last decision.
    pub(crate) p: f64,
}

impl Linux {
    pub(crate) fn new(min: i64, max: i64, wlog: u32, max_p: f64, xmit: f64) -> Self {
        let max_p = (max_p * 4_294_967_296.0) as i64;
        let (ecn, harddrop, adaptive, choke) = (false, false, false, false);
        let (qavg, qcount, random, idle_from, fifo, p) = (0, -1, 0, Some(0.0), vec![], 0.0);
        Self {
            min,
            max,
            wlog,
            max_p,
            ecn,
            harddrop,
            adaptive,
            xmit,
            choke,
            qavg,
            qcount,
            random,
            idle_from,
            fifo,
            p,
        }
    }

    /// The average after this idle time.
    fn damped(&self, seconds: f64) -> i64 {
        let decay = -(1.0 - 0.5_f64.powi(self.wlog as i32)).ln() / self.xmit;
        let mut cell = 0;
        while 31.0 / decay / 2_f64.powi(cell) >= 512.0 {
            cell += 1;
        }
        let us = ((seconds * 1e6 + 1e-4).floor() as i64).min(255 << cell);
        let i = us >> cell;
        let shift = if i == 255 { 31 } else { (((i << cell) as f64 * decay) as i64).min(31) };
        if shift > 0 {
            return self.qavg >> shift;
        }
        let less = (self.qavg * us) >> cell;
        if less < self.qavg / 2 { self.qavg - less } else { self.qavg / 2 }
    }

    fn average(&mut self, now: f64, queue: &Backlog) {
        let backlog = if self.choke { i64::from(queue.packets) } else { queue.bytes as i64 };
        match self.idle_from.take() {
            Some(since) => self.qavg = self.damped(now - since),
            None => self.qavg += backlog - (self.qavg >> self.wlog),
        }
        if queue.full {
            assert!(queue.packets > 0);
        }
    }

    fn draw(&mut self, u: &mut dyn FnMut() -> f64) {
        let distance = (self.max - self.min).max(1);
        self.random = (u() * 4_294_967_296.0) as i64 / (self.max_p / distance).max(1);
    }

    fn congestion(&self, packet: Packet, beyond: bool) -> Verdict {
        drop_or_mark(self.ecn && packet.ect && !(beyond && self.harddrop))
    }

    /// The probability p at the average.
    fn p(&self) -> f64 {
        let avg = self.qavg as f64 / 2_f64.powi(self.wlog as i32);
        let part = (avg - self.min as f64) / (self.max - self.min) as f64;
        if part < 0.0 {
            0.0
        } else if part < 1.0 {
            part * self.max_p as f64 / 4_294_967_296.0
        } else {
            1.0
        }
    }

    fn decide(&mut self, packet: Packet, u: &mut dyn FnMut() -> f64) -> Verdict {
        self.p = self.p();
        let (min, max) = (self.min << self.wlog, self.max << self.wlog);
        let below = if self.choke { self.qavg <= min } else { self.qavg < min };
        let beyond = if self.choke { self.qavg > max } else { self.qavg >= max };
        if below || beyond {
            self.qcount = -1;
            return if below { Verdict::Pass } else { self.congestion(packet, true) };
        }
        self.qcount += 1;
        if self.qcount == 0 {
            self.draw(u);
            return Verdict::Pass;
        }
        if ((self.qavg - min) >> self.wlog) * self.qcount < self.random {
            return Verdict::Pass;
        }
        self.qcount = 0;
        self.draw(u);
        self.congestion(packet, false)
    }
}

impl Reference for Linux {
    const DRAWS_ALWAYS: bool = true;

    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        self.average(now, queue);
        if !self.choke {
            return self.decide(packet, u);
        }
        if self.qavg > self.min << self.wlog && !self.fifo.is_empty() {
            let i = (u() * self.fifo.len() as f64).floor() as usize;
            if self.fifo[i] == packet.flow {
                self.fifo.remove(i);
                return Verdict::DropBoth(i as u32);
            }
        }
        let verdict = self.decide(packet, u);
        if verdict != Verdict::Drop && !queue.full {
            self.fifo.push(packet.flow);
        }
        verdict
    }

    fn departure(&mut self, _: f64, _: Packet, _: &Backlog, _: f64, _: &mut dyn FnMut() -> f64) -> Verdict {
        if self.choke {
            self.fifo.remove(0);
        }
        Verdict::Pass
    }

    fn idle(&mut self, now: f64) {
        self.idle_from = Some(now);
    }

    fn timer(&mut self, now: f64, _: &Backlog) {
        if !self.adaptive {
            return;
        }
        let percent = 42_949_673;
        let avg = self.idle_from.map_or(self.qavg, |since| self.damped(now - since)) >> self.wlog;
        let fifth = (self.max - self.min) / 5;
        if avg > self.min + 3 * fifth && self.max_p <= 50 * percent {
            self.max_p += percent.min(self.max_p / 4);
        } else if avg < self.min + 2 * fifth && self.max_p >= percent {
            self.max_p = self.max_p * 9 / 10;
        }
    }

    fn signal(&self) -> f64 {
        self.p
    }
}
