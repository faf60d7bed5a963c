//! PI2's controller, transcribed plainly from the authors' Linux module, in seconds as floats.

use crate::drive::{Reference, drop_or_mark};
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
    fn arrival(&mut self, _: f64, packet: Packet, queue: &Backlog, u: f64) -> Verdict {
        if queue.bytes < 2 * 500 {
            return Verdict::Pass;
        }
        if self.ecn && packet.l4s {
            return if u < self.prob { Verdict::Mark } else { Verdict::Pass };
        }
        // The module rolls twice against prob / k: once against the square is as likely.
        if u.sqrt() < self.prob / self.k { drop_or_mark(self.ecn && packet.ect) } else { Verdict::Pass }
    }

    fn departure(&mut self, _: f64, _: Packet, queue: &Backlog, sojourn: f64, _: f64) -> Verdict {
        self.qdelay = if queue.bytes > 0 { sojourn } else { 0.0 };
        Verdict::Pass
    }

    fn idle(&mut self, _: f64) {
        self.qdelay = 0.0;
    }

    fn timer(&mut self, _: f64, _: &Backlog) {
        let mut delta = (self.qdelay - self.target) * self.alpha;
        delta += (self.qdelay - self.qdelay_old) * self.beta;
        self.prob += delta;
        if self.prob > 1.0 {
            self.prob = 1.0;
        }
        if self.prob < 0.0 {
            self.prob = 0.0;
        }
        self.qdelay_old = self.qdelay;
    }

    fn signal(&self) -> f64 {
        (self.prob / self.k).powi(2)
    }
}
