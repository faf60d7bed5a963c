//! CHOKe as figure 2 and section 2 of the INFOCOM paper describe it, over ns-2's RED.

use super::Red;
use crate::driver::Reference;
use aqm::{Backlog, Packet, Verdict};

#[derive(Clone)]
pub(crate) struct Choke {
    pub(crate) red: Red,
    pub(crate) m: u64,
    /// The number of regions of the self-adjusting variant, or 0.
    pub(crate) k: u64,
    pub(crate) fifo: Vec<u64>,
}

impl Reference for Choke {
    const DRAWS_ALWAYS: bool = true;

    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        self.red.average(now, queue);
        let avg = self.red.v_ave;
        if avg > self.red.th_min && !self.fifo.is_empty() {
            let mut m = self.m;
            if self.k > 0 {
                let width = (self.red.th_max - self.red.th_min) / self.k as f64;
                let mut i = 1;
                while i < self.k && avg >= self.red.th_min + i as f64 * width {
                    i += 1;
                }
                m = 2 * i;
            }
            for _ in 0..m {
                let candidate = (u() * self.fifo.len() as f64).floor() as usize;
                if self.fifo[candidate] == packet.flow {
                    self.fifo.remove(candidate);
                    return Verdict::DropBoth(candidate as u32);
                }
            }
        }
        let verdict = self.red.decide(packet, queue, u);
        if !queue.full && verdict != Verdict::Drop {
            self.fifo.push(packet.flow);
        }
        verdict
    }

    fn departure(&mut self, _: f64, _: Packet, _: &Backlog, _: f64, _: &mut dyn FnMut() -> f64) -> Verdict {
        self.fifo.remove(0);
        Verdict::Pass
    }

    fn idle(&mut self, now: f64) {
        self.red.idle(now);
    }

    fn signal(&self) -> f64 {
        self.red.signal()
    }
}
