//! Linux's PIE (sch_pie.c of 7.2) with timestamps, re-implemented plainly in seconds as floats.

use crate::driver::{Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};

const TARGET: f64 = 0.015;
const MTU: f64 = 1500.0;

/// The options of the tests, and the variables.
#[derive(Default)]
pub(crate) struct Linux {
    ecn: bool,
    bytemode: bool,
    /// The delay above which another 0.02 is added.
    high: f64,
    /// The probability up to which packets are marked.
    ecn_border: f64,
    prob: f64,
    accu_prob: f64,
    qdelay: f64,
    qdelay_old: f64,
    /// The part of the 150 ms that is used.
    burst_used: f64,
    last_departure: Option<f64>,
}

impl Linux {
    pub(crate) fn new(ecn: bool, bytemode: bool, high: f64, ecn_border: f64) -> Self {
        Self { ecn, bytemode, high, ecn_border, ..Self::default() }
    }

    fn marks_or_drops(&mut self, packet: Packet, queue: &Backlog, u: f64) -> bool {
        let calm = self.qdelay < TARGET / 2.0 && self.prob < 0.2;
        if self.burst_used < 0.15 - 1e-9 || calm || (queue.bytes as f64) < 2.0 * MTU {
            return false;
        }
        let small = self.bytemode && f64::from(packet.size) <= MTU;
        let prob = self.prob * if small { f64::from(packet.size) / MTU } else { 1.0 };
        self.accu_prob = if prob > 0.0 { self.accu_prob + prob } else { 0.0 };
        if self.accu_prob < 0.85 || self.accu_prob >= 8.5 {
            return self.accu_prob >= 8.5;
        }
        if u < prob {
            self.accu_prob = 0.0;
        }
        u < prob
    }
}

impl Reference for Linux {
    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let u = u();
        let marks_or_drops = !queue.full && self.marks_or_drops(packet, queue, u);
        let verdict = drop_or_mark(self.ecn && packet.ect && self.prob <= self.ecn_border);
        if queue.full || marks_or_drops && verdict == Verdict::Drop {
            self.accu_prob = 0.0;
        }
        if marks_or_drops { verdict } else { Verdict::Pass }
    }

    fn departure(
        &mut self,
        now: f64,
        _: Packet,
        queue: &Backlog,
        sojourn: f64,
        _: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        self.qdelay = if queue.bytes == 0 { 0.0 } else { sojourn };
        self.burst_used += self.last_departure.map_or(0.0, |last| now - last);
        self.last_departure = Some(now);
        Verdict::Pass
    }

    fn timer(&mut self, _: f64, queue: &Backlog) {
        let (now, before) = (self.qdelay, self.qdelay_old);
        let full = 2.0 / 16.0 * (now - TARGET) + 20.0 / 16.0 * (now - before);
        let quarters = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6].iter().filter(|border| self.prob < **border).count();
        let mut delta = full * if self.prob < 0.1 { 0.5 * 0.25_f64.powi(quarters as i32) } else { 1.0 };
        if self.prob >= 0.1 {
            delta = delta.min(0.02);
        }
        if now > self.high {
            delta += 0.02;
        }
        self.prob = (self.prob + delta).max(0.0);
        if now == 0.0 && before == 0.0 && queue.bytes == 0 {
            self.prob *= 63.0 / 64.0;
        }
        if self.prob == 0.0 && now < TARGET / 2.0 && before < TARGET / 2.0 {
            (self.burst_used, self.accu_prob, self.last_departure) = (0.0, 0.0, None);
        }
        self.qdelay_old = now;
    }

    fn signal(&self) -> f64 {
        self.prob.min(1.0)
    }
}
