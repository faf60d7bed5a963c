//! BLUE as the technical report describes it, with its names, and with the case that it leaves open: a
//! link that stays idle.

use crate::driver::{Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};

#[derive(Clone)]
pub(crate) struct Blue {
    pub(crate) d1: f64,
    pub(crate) d2: f64,
    pub(crate) freeze_time: f64,
    /// The queue length that counts as a loss.
    pub(crate) l: f64,
    /// Whether a link that stays idle counts as repeated events.
    pub(crate) lasting: bool,
    pub(crate) ecn: bool,
    pub(crate) p_m: f64,
    pub(crate) last_update: f64,
    pub(crate) idle: bool,
}

impl Blue {
    /// Times are whole nanoseconds; the constant compensates the rounding of a difference.
    fn free(&self, now: f64) -> bool {
        now - self.last_update > self.freeze_time + 1e-10
    }

    fn upon_packet_loss(&mut self, now: f64) {
        if self.free(now) {
            self.p_m += self.d1;
            if self.p_m > 1.0 {
                self.p_m = 1.0;
            }
            self.last_update = now;
        }
    }

    fn upon_link_idle(&mut self, now: f64) {
        if self.free(now) {
            self.p_m -= self.d2;
            if self.p_m < 0.0 {
                self.p_m = 0.0;
            }
            self.last_update = now;
        }
    }
}

impl Reference for Blue {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        if self.idle && self.lasting {
            while now - self.last_update + 1e-10 >= self.freeze_time {
                self.p_m = f64::max(self.p_m - self.d2, 0.0);
                self.last_update += self.freeze_time;
            }
        }
        self.idle = false;
        if queue.full || f64::from(queue.packets) > self.l {
            self.upon_packet_loss(now);
        }
        if u() < self.p_m { drop_or_mark(self.ecn && packet.ect) } else { Verdict::Pass }
    }

    fn idle(&mut self, now: f64) {
        self.idle = true;
        self.upon_link_idle(now);
    }

    fn signal(&self) -> f64 {
        self.p_m
    }
}
