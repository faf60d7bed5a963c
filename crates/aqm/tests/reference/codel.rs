//! CoDel's loops, which themselves remove packets from the queue, and COBALT's: RFC 8289 section 5, ns-2's codel.cc,
//! Linux's codel_impl.h and sch_cake.c, ns-3's codel-queue-disc.cc and cobalt-queue-disc.cc, with their names. The
//! clock ticks in nanoseconds, which floats represent exactly.

use crate::driver::{Line, Reference, drop_or_mark};
use aqm::{Backlog, Packet, Verdict};

fn ticks(seconds: f64) -> f64 {
    (seconds * 1e9).round()
}

/// A packet removed from the queue, and whether it may be dropped.
type Dequeued = (Option<Packet>, bool);

/// CoDel: RFC 8289's by default.
#[derive(Clone)]
pub(crate) struct CoDel {
    pub(crate) target: f64,
    pub(crate) interval: f64,
    pub(crate) maxpacket: u64,
    pub(crate) ecn: bool,
    pub(crate) ce_threshold: f64,
    /// The loop of Linux and of ns-3.
    pub(crate) linux: bool,
    pub(crate) ns2: bool,
    pub(crate) ns3: bool,
    pub(crate) first_above_time: f64,
    pub(crate) drop_next: f64,
    pub(crate) count: u32,
    pub(crate) lastcount: u32,
    pub(crate) dropping: bool,
    pub(crate) rec_inv_sqrt: u32,
    pub(crate) ldelay: f64,
}

impl CoDel {
    pub(crate) fn new(target: f64, interval: f64, maxpacket: u64, ecn: bool) -> Self {
        Self {
            target: ticks(target),
            interval: ticks(interval),
            maxpacket,
            ecn,
            ce_threshold: f64::INFINITY,
            linux: false,
            ns2: false,
            ns3: false,
            first_above_time: 0.0,
            drop_next: 0.0,
            count: 0,
            lastcount: 0,
            dropping: false,
            rec_inv_sqrt: 0xffff,
            ldelay: 0.0,
        }
    }

    fn newton_step(&mut self) {
        let invsqrt = u64::from(self.rec_inv_sqrt << 16);
        let invsqrt2 = (invsqrt * invsqrt) >> 32;
        let mut val = (3_u64 << 32) - u64::from(self.count) * invsqrt2;
        val >>= 2;
        val = (val * invsqrt) >> (32 - 2 + 1);
        self.rec_inv_sqrt = (val >> 16) as u32;
    }

    fn control_law(&self, t: f64) -> f64 {
        if self.linux {
            return t + (self.interval * f64::from(self.rec_inv_sqrt) / 65_536.0).floor();
        }
        t + (self.interval / f64::from(self.count).sqrt()).round()
    }

    fn do_dequeue(&mut self, now: f64, line: &mut Line) -> Dequeued {
        let Some((tstamp, p)) = line.pop() else {
            self.first_above_time = 0.0;
            return (None, false);
        };
        let bytes = line.backlog().bytes;
        if self.ns2 {
            self.maxpacket = self.maxpacket.max(u64::from(p.size));
        }
        self.ldelay = now - ticks(tstamp);
        let small = if self.ns3 { bytes < self.maxpacket } else { bytes <= self.maxpacket };
        let mut ok_to_drop = false;
        if self.ldelay < self.target || small {
            self.first_above_time = 0.0;
        } else if self.first_above_time == 0.0 {
            self.first_above_time = now + self.interval;
        } else if if self.linux { now > self.first_above_time } else { now >= self.first_above_time } {
            ok_to_drop = true;
        }
        (Some(p), ok_to_drop)
    }

    /// RFC 8289, 5.5, and codel.cc; a marked packet is not removed.
    fn rfc(&mut self, now: f64, line: &mut Line) -> Vec<Verdict> {
        let mut verdicts = vec![];
        let mut r = self.do_dequeue(now, line);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if self.ecn && r.0.unwrap().ect {
                    self.drop_next = self.control_law(self.drop_next);
                    verdicts.push(Verdict::Mark);
                    return verdicts;
                }
                verdicts.push(Verdict::Drop);
                r = self.do_dequeue(now, line);
                if r.1 {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.1 {
            let mark = self.ecn && r.0.unwrap().ect;
            verdicts.push(drop_or_mark(mark));
            if !mark {
                r = self.do_dequeue(now, line);
            }
            self.dropping = true;
            let recent = now - self.drop_next < 16.0 * self.interval;
            if self.ns2 {
                self.count = if self.count > 1 && recent { self.count - 1 } else { 1 };
            } else {
                let delta = i64::from(self.count) - i64::from(self.lastcount);
                self.count = 1;
                if delta > 1 && recent {
                    self.count = delta as u32;
                }
                self.lastcount = self.count;
            }
            self.drop_next = self.control_law(now);
            if mark {
                return verdicts;
            }
        }
        verdicts.extend(r.0.map(|_| Verdict::Pass));
        verdicts
    }

    /// codel_dequeue, and CoDelQueueDisc::DoDequeue.
    fn linux(&mut self, now: f64, line: &mut Line) -> Vec<Verdict> {
        let mut verdicts = vec![];
        let (mut skb, drop) = self.do_dequeue(now, line);
        let mut marked = false;
        if skb.is_none() {
            self.dropping = false;
            return verdicts;
        }
        if self.dropping {
            if !drop {
                self.dropping = false;
            } else if now >= self.drop_next {
                while self.dropping && now >= self.drop_next {
                    self.count += 1;
                    self.newton_step();
                    if self.ecn && skb.unwrap().ect {
                        marked = true;
                        self.drop_next = self.control_law(if self.ns3 { now } else { self.drop_next });
                        break;
                    }
                    verdicts.push(Verdict::Drop);
                    let next = self.do_dequeue(now, line);
                    skb = next.0;
                    if next.1 {
                        self.drop_next = self.control_law(self.drop_next);
                    } else {
                        self.dropping = false;
                    }
                }
            }
        } else if drop {
            if self.ecn && skb.unwrap().ect {
                marked = true;
            } else {
                verdicts.push(Verdict::Drop);
                skb = self.do_dequeue(now, line).0;
            }
            self.dropping = true;
            let delta = i64::from(self.count) - i64::from(self.lastcount);
            if delta > 1 && now - self.drop_next < 16.0 * self.interval {
                self.count = delta as u32;
                self.newton_step();
            } else {
                self.count = 1;
                self.rec_inv_sqrt = 0xffff;
            }
            self.lastcount = self.count;
            self.drop_next = self.control_law(now);
        }
        if let Some(skb) = skb {
            let late = self.ldelay > self.ce_threshold && skb.ect && (self.ecn || !self.ns3);
            verdicts.push(if marked || late { Verdict::Mark } else { Verdict::Pass });
        }
        verdicts
    }
}

impl Reference for CoDel {
    fn arrival(&mut self, _: f64, _: Packet, _: &Backlog, _: &mut dyn FnMut() -> f64) -> Verdict {
        Verdict::Pass
    }

    fn link_free(&mut self, now: f64, line: &mut Line, _: &mut dyn FnMut() -> f64) -> Vec<Verdict> {
        if self.linux { self.linux(ticks(now), line) } else { self.rfc(ticks(now), line) }
    }

    fn signal(&self) -> f64 {
        f64::from(self.count)
    }
}

/// COBALT of ns-3 and, without its additions, of Linux.
#[derive(Clone)]
pub(crate) struct Cobalt {
    pub(crate) target: f64,
    pub(crate) interval: f64,
    pub(crate) mtu_time: f64,
    pub(crate) p_inc: f64,
    pub(crate) p_dec: f64,
    pub(crate) blue_threshold: f64,
    pub(crate) ce_threshold: f64,
    pub(crate) ecn: bool,
    pub(crate) count: i64,
    pub(crate) drop_next: f64,
    pub(crate) blue_timer: f64,
    pub(crate) p_drop: f64,
    pub(crate) dropping: bool,
    /// `rec_inv_sqrt` of sch_cake.c, whose rules then apply: 32 bits, and no drop of a queue's last packet.
    pub(crate) rec_inv_sqrt: Option<u32>,
}

impl Cobalt {
    /// That of sch_cake.c on a link of 10 Mbit/s.
    pub(crate) fn of_linux(target: f64, interval: f64, ecn: bool) -> Self {
        let mtu_time = 1514.0 * 800.0;
        let scaled = f64::max(ticks(target), mtu_time * 1.5);
        let interval = f64::max(ticks(interval) + scaled - ticks(target), 2.0 * scaled);
        Self { target: scaled, interval, mtu_time, rec_inv_sqrt: Some(0), ..Self::new(0.0, 0.0, ecn) }
    }

    /// `cobalt_invsqrt`; the cache has the exact roots.
    fn invsqrt(&mut self) {
        let newton = |root: u32, count: i64| {
            let invsqrt = u64::from(root);
            let invsqrt2 = (invsqrt * invsqrt) >> 32;
            let val = ((3 << 32) - count as u64 * invsqrt2) >> 2;
            ((val * invsqrt) >> 31) as u32
        };
        let Some(root) = self.rec_inv_sqrt else { return };
        self.rec_inv_sqrt = Some(if self.count >= 16 {
            newton(root, self.count)
        } else {
            // Rounded down, but for 6, as in `inv_sqrt_cache`.
            let exact = 4_294_967_296.0 / (self.count.max(1) as f64).sqrt();
            let table = if matches!(self.count, 0 | 1 | 4) { exact - 1.0 } else { exact.round() };
            table as u32
        });
    }

    pub(crate) fn new(target: f64, interval: f64, ecn: bool) -> Self {
        Self {
            target: ticks(target),
            interval: ticks(interval),
            mtu_time: 0.0,
            p_inc: 1.0 / 256.0,
            p_dec: 1.0 / 4096.0,
            blue_threshold: f64::INFINITY,
            ce_threshold: f64::INFINITY,
            ecn,
            count: 0,
            drop_next: 0.0,
            blue_timer: 0.0,
            p_drop: 0.0,
            dropping: false,
            rec_inv_sqrt: None,
        }
    }

    fn control(&self, t: f64) -> f64 {
        if let Some(root) = self.rec_inv_sqrt {
            return t + ((self.interval as u64 * u64::from(root)) >> 32) as f64;
        }
        let root = if self.count == 0 { 1.0 } else { (self.count as f64).sqrt() };
        t + (self.interval / root).round()
    }

    fn blue_up(&mut self, now: f64) {
        if now - self.blue_timer > self.target {
            self.p_drop = f64::min(self.p_drop + self.p_inc, 1.0);
            self.blue_timer = now;
        }
    }

    fn queue_empty(&mut self, now: f64) {
        if self.p_drop != 0.0 && now - self.blue_timer > self.target {
            self.p_drop = if self.p_drop < self.p_dec { 0.0 } else { self.p_drop - self.p_dec };
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count != 0 && now - self.drop_next >= 0.0 {
            self.count -= 1;
            self.invsqrt();
            self.drop_next = self.control(self.drop_next);
        }
    }

    fn should_drop(&mut self, now: f64, sojourn: f64, ect: bool, u: &mut dyn FnMut() -> f64) -> Verdict {
        let mut drop = false;
        let mut ecn_marked = false;
        let mut schedule = now - self.drop_next;
        let over_target = sojourn > self.target && sojourn > self.mtu_time * 4.0;
        let mut next_due = self.count != 0 && schedule >= 0.0;
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else if self.dropping {
            self.dropping = false;
        }
        if next_due && self.dropping {
            ecn_marked = self.ecn && ect;
            drop = !ecn_marked;
            self.count += 1;
            self.invsqrt();
            self.drop_next = self.control(self.drop_next);
            schedule = now - self.drop_next;
        } else {
            while next_due {
                self.count -= 1;
                self.invsqrt();
                self.drop_next = self.control(self.drop_next);
                schedule = now - self.drop_next;
                next_due = self.count != 0 && schedule >= 0.0;
            }
        }
        if !ecn_marked && self.ecn && ect && sojourn > self.ce_threshold {
            ecn_marked = true;
        }
        if sojourn > self.blue_threshold {
            self.blue_up(now);
        }
        // Linux draws only for what is not dropped yet.
        if self.p_drop != 0.0 && !(drop && self.rec_inv_sqrt.is_some()) {
            drop |= u() < self.p_drop;
        }
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if schedule > 0.0 && !drop {
            self.drop_next = now;
        }
        if drop {
            Verdict::Drop
        } else if ecn_marked {
            Verdict::Mark
        } else {
            Verdict::Pass
        }
    }
}

impl Reference for Cobalt {
    fn arrival(&mut self, now: f64, _: Packet, queue: &Backlog, _: &mut dyn FnMut() -> f64) -> Verdict {
        if queue.full {
            let now = ticks(now);
            self.blue_up(now);
            self.dropping = true;
            self.drop_next = now;
            if self.count == 0 {
                self.count = 1;
            }
        }
        Verdict::Pass
    }

    fn departure(
        &mut self,
        now: f64,
        packet: Packet,
        queue: &Backlog,
        sojourn: f64,
        u: &mut dyn FnMut() -> f64,
    ) -> Verdict {
        let verdict = self.should_drop(ticks(now), ticks(sojourn), packet.ect, u);
        let spared = verdict == Verdict::Drop && queue.packets == 0 && self.rec_inv_sqrt.is_some();
        if spared { Verdict::Pass } else { verdict }
    }

    fn idle(&mut self, now: f64) {
        self.queue_empty(ticks(now));
    }

    fn signal(&self) -> f64 {
        self.p_drop
    }
}
