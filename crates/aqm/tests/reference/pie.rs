//! RFC 8033 (sections 4 and 5, appendices A and B) as FreeBSD's dn_aqm_pie.c follows it, and RFC 8034 as CableLabs'
//! module for ns-3 does, transcribed plainly, with the RFCs' names, in seconds as floats.

use crate::driver::{Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};

/// PIE's options in the tests.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) qdelay_ref: f64,
    pub(crate) t_update_us: i64,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) max_burst_us: i64,
    pub(crate) mean_pktsize: f64,
    /// `None` for timestamps, else DQ_THRESHOLD; 0 for the link's rate.
    pub(crate) dq_threshold: Option<u64>,
    pub(crate) derand: bool,
    pub(crate) cap_drop: bool,
    pub(crate) on_off: bool,
    pub(crate) bytemode: bool,
    pub(crate) ecn: bool,
    pub(crate) decay: f64,
    /// The delay below which p decays; at 0, only a delay of 0 does.
    pub(crate) low: f64,
    /// The delay above which another 0.02 is added.
    pub(crate) high: f64,
    /// Whether an allowance begins with the first arrival of a burst, and a burst ends after a second of calm, as in ns-3.
    pub(crate) ns3: bool,
}

/// A third of 200 packets.
const THIRD: f64 = 200.0 / 3.0;

/// Rounds to whole nanoseconds, as a clock does.
fn clock(t: f64) -> f64 {
    (t * 1e9).round() / 1e9
}

/// RFC 8033.
pub(crate) struct Pie {
    o: Options,
    active: bool,
    drop_prob: f64,
    qdelay_old: f64,
    last_qdelay: f64,
    burst_allowance_us: i64,
    /// ns-3's burst: `None`, or the calm updates since its allowance ended, -1 until then.
    burst: Option<i64>,
    accu_prob: f64,
    in_measurement: bool,
    measurement_start: f64,
    dq_count: u64,
    avg_dq_time: f64,
}

impl Pie {
    pub(crate) fn new(o: Options) -> Self {
        Self {
            o,
            active: !o.on_off,
            drop_prob: 0.0,
            qdelay_old: 0.0,
            last_qdelay: 0.0,
            burst_allowance_us: if o.ns3 { 0 } else { o.max_burst_us },
            burst: None,
            accu_prob: 0.0,
            in_measurement: false,
            measurement_start: 0.0,
            dq_count: 0,
            avg_dq_time: 0.0,
        }
    }

    fn drop_early(&mut self, packet: Packet, queue: &Backlog, u: f64) -> bool {
        if self.qdelay_old < self.o.qdelay_ref / 2.0 && self.drop_prob < 0.2 {
            return false;
        }
        if queue.bytes as f64 <= 2.0 * self.o.mean_pktsize {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        let mut p = self.drop_prob;
        if self.o.bytemode {
            p *= f64::min(f64::from(packet.size) / self.o.mean_pktsize, 1.0);
        }
        self.accu_prob += p;
        if self.o.derand && self.accu_prob < 0.85 {
            return false;
        }
        if self.o.derand && self.accu_prob >= 8.5 {
            return true;
        }
        u < p
    }
}

impl Reference for Pie {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let u = u();
        let mut verdict = Verdict::Pass;
        let begins = self.o.ns3 && self.burst.is_none() && !queue.full;
        if begins {
            self.burst = Some(-1);
            self.burst_allowance_us = self.o.max_burst_us;
        }
        if queue.full {
            self.accu_prob = 0.0;
        } else if self.active && (self.burst_allowance_us == 0 || begins) && self.drop_early(packet, queue, u)
        {
            verdict = drop_or_mark(self.o.ecn && packet.ect && self.drop_prob < 0.1);
            self.accu_prob = 0.0;
        }
        // queue_ holds the arrival by now.
        if !self.active && f64::from(queue.packets + 1) >= THIRD {
            self.active = true;
            self.qdelay_old = 0.0;
            self.drop_prob = 0.0;
            self.in_measurement = true;
            self.dq_count = 0;
            self.avg_dq_time = 0.0;
            self.measurement_start = now;
            self.burst_allowance_us = self.o.max_burst_us;
            self.accu_prob = 0.0;
        }
        verdict
    }

    fn departure(
        &mut self,
        now: f64,
        packet: Packet,
        queue: &Backlog,
        sojourn: f64,
        _: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        self.last_qdelay = if queue.bytes > 0 { sojourn } else { 0.0 };
        let threshold = self.o.dq_threshold.unwrap_or(0);
        if threshold == 0 || !self.active {
            return Verdict::Pass;
        }
        if self.in_measurement {
            self.dq_count += u64::from(packet.size);
            if self.dq_count >= threshold {
                let dq_time = now - self.measurement_start;
                if self.avg_dq_time == 0.0 {
                    self.avg_dq_time = dq_time;
                } else {
                    let weight = threshold as f64 / 65536.0;
                    self.avg_dq_time = dq_time * weight + self.avg_dq_time * (1.0 - weight);
                }
                self.in_measurement = false;
            }
        }
        if queue.bytes >= threshold && !self.in_measurement {
            self.in_measurement = true;
            self.measurement_start = now;
            self.dq_count = 0;
        }
        Verdict::Pass
    }

    fn idle(&mut self, _: f64) {
        self.last_qdelay = 0.0;
    }

    fn timer(&mut self, _: f64, queue: &Backlog) {
        if !self.active {
            return;
        }
        let current_qdelay = clock(match self.o.dq_threshold {
            None => self.last_qdelay,
            Some(0) => queue.bytes as f64 / 1.25e6,
            Some(threshold) => queue.bytes as f64 * self.avg_dq_time / threshold as f64,
        });
        let mut p = self.o.alpha * (current_qdelay - self.o.qdelay_ref)
            + self.o.beta * (current_qdelay - self.qdelay_old);
        if self.drop_prob < 0.000001 {
            p /= 2048.0;
        } else if self.drop_prob < 0.00001 {
            p /= 512.0;
        } else if self.drop_prob < 0.0001 {
            p /= 128.0;
        } else if self.drop_prob < 0.001 {
            p /= 32.0;
        } else if self.drop_prob < 0.01 {
            p /= 8.0;
        } else if self.drop_prob < 0.1 {
            p /= 2.0;
        }
        if self.o.cap_drop && self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        if current_qdelay > self.o.high {
            p += 0.02;
        }
        if self.o.ns3 && self.burst_allowance_us > 0 {
            (self.drop_prob, p) = (0.0, 0.0);
        }
        self.drop_prob += p;
        let none = |delay: f64| delay == 0.0 || delay < self.o.low;
        if none(current_qdelay) && none(self.qdelay_old) {
            self.drop_prob *= self.o.decay;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance_us = (self.burst_allowance_us - self.o.t_update_us).max(0);
        let threshold = self.o.dq_threshold.unwrap_or(0);
        let half = self.o.qdelay_ref / 2.0;
        let calm = self.drop_prob == 0.0 && current_qdelay < half && self.qdelay_old < half;
        if self.o.ns3 {
            let limit = 1e6 / self.o.t_update_us as f64;
            self.burst = match self.burst {
                Some(n) if calm && self.burst_allowance_us == 0 => {
                    Some(n + 1).filter(|next| n < 0 || *next as f64 <= limit)
                }
                Some(n) if n >= 0 => Some(0),
                burst => burst,
            };
        } else if calm {
            self.burst_allowance_us = self.o.max_burst_us;
            // Without a sample of the delay, congestion has not been seen to end (section 5.3).
            let sampled = threshold == 0 || self.avg_dq_time > 0.0;
            if self.o.on_off && sampled {
                self.active = false;
                self.in_measurement = false;
            }
        }
        self.qdelay_old = current_qdelay;
    }

    fn signal(&self) -> f64 {
        self.drop_prob
    }
}

/// RFC 8034, as CableLabs' module for ns-3 has it.
pub(crate) struct Docsis {
    mean_pktsize: f64,
    ecn: bool,
    drop_prob: f64,
    qdelay_old: f64,
    burst_allowance_ms: i64,
    /// 0 for NOBURST, 1 for FIRST_BURST, 2 for PROTECTING.
    burst_state: u8,
    burst_reset: u32,
    accu_prob: f64,
}

impl Docsis {
    pub(crate) fn new(ecn: bool) -> Self {
        Self {
            mean_pktsize: 1024.0,
            ecn,
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance_ms: 0,
            burst_state: 0,
            burst_reset: 0,
            accu_prob: 0.0,
        }
    }

    fn drop_early(&mut self, packet: Packet, queue: &Backlog, u: f64) -> bool {
        if self.burst_allowance_ms > 0 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        if self.burst_state == 0 {
            if f64::from(queue.packets) < THIRD {
                return false;
            }
            self.burst_state = 1;
        }
        let p1 = f64::min(self.drop_prob * f64::from(packet.size) / self.mean_pktsize, 0.85);
        self.accu_prob += p1;
        if self.qdelay_old < 0.005 && self.drop_prob < 0.2 || queue.bytes as f64 <= 2.0 * self.mean_pktsize {
            return false;
        }
        if self.accu_prob < 0.85 || self.accu_prob < 8.5 && u >= p1 {
            return false;
        }
        self.accu_prob = 0.0;
        if self.burst_state == 1 {
            self.burst_state = 2;
            self.burst_allowance_ms = 142;
        }
        true
    }
}

impl Reference for Docsis {
    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let u = u();
        if queue.full {
            self.accu_prob = 0.0;
            return Verdict::Drop;
        }
        if !self.drop_early(packet, queue, u) {
            return Verdict::Pass;
        }
        drop_or_mark(self.ecn && packet.ect && self.drop_prob < 0.1)
    }

    fn timer(&mut self, _: f64, queue: &Backlog) {
        let qdelay = clock(queue.bytes as f64 / 1.25e6);
        if self.burst_allowance_ms > 0 {
            self.drop_prob = 0.0;
        } else {
            let mut p = 0.25 * (qdelay - 0.010) + 2.5 * (qdelay - self.qdelay_old);
            let table = [
                (0.000001, 2048.0),
                (0.00001, 512.0),
                (0.0001, 128.0),
                (0.001, 32.0),
                (0.01, 8.0),
                (0.1, 2.0),
            ];
            p /= match table.into_iter().find(|row| self.drop_prob < row.0) {
                Some((_, divisor)) => divisor,
                None if self.drop_prob < 1.0 => 0.5,
                None if self.drop_prob < 10.0 => 0.125,
                None => 0.03125,
            };
            if self.drop_prob >= 0.1 && p > 0.02 {
                p = 0.02;
            }
            self.drop_prob += p;
            if qdelay < 0.005 && self.qdelay_old < 0.005 {
                self.drop_prob *= 0.98;
            } else if qdelay > 0.040 {
                self.drop_prob += 0.02;
            }
            self.drop_prob = self.drop_prob.max(0.0).min(0.85 * self.mean_pktsize / 64.0);
        }
        self.burst_allowance_ms = if self.burst_allowance_ms < 16 { 0 } else { self.burst_allowance_ms - 16 };
        let calm = qdelay < 0.005 && self.qdelay_old < 0.005 && self.drop_prob == 0.0;
        if calm && self.burst_allowance_ms == 0 {
            if self.burst_state == 2 {
                self.burst_state = 1;
                self.burst_reset = 0;
            } else if self.burst_state == 1 {
                self.burst_reset += 1;
                if self.burst_reset > 62 {
                    self.burst_reset = 0;
                    self.burst_state = 0;
                }
            }
        } else if self.burst_state == 1 {
            self.burst_reset = 0;
        }
        self.qdelay_old = qdelay;
    }

    fn signal(&self) -> f64 {
        self.drop_prob.min(1.0)
    }
}
