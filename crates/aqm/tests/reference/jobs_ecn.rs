//! The reconstruction of JoBS with ECN that the head of aqm/jobs_ecn.rs describes. Only past events are stored: each
//! flow's estimates are computed anew from its history of arrivals and marks.

use crate::driver::Reference;
use aqm::{Backlog, Packet, Verdict};
use std::collections::BTreeMap;

pub(crate) struct JobsEcn {
    pub(crate) k: u32,
    pub(crate) alpha: f64,
    pub(crate) b_lim: f64,
    pub(crate) flight_gap: f64,
    /// Bytes per second.
    pub(crate) c: f64,
    flows: BTreeMap<u64, Flow>,
    marked_next: Vec<u64>,
    count: u32,
    r: f64,
    r_bytes: f64,
    last_projection: f64,
    signal: f64,
}

#[derive(Clone, Default)]
struct Flow {
    times: Vec<f64>,
    known: bool,
    r: f64,
    w: f64,
    mss: f64,
    doubling: bool,
    ect: bool,
    flight_start: f64,
    /// When the round began, and its packets.
    round: (f64, Vec<f64>),
    last_round: f64,
    signalled_at: Option<f64>,
}

impl Flow {
    fn arrival(&mut self, now: f64, size: f64, ect: bool, flight_gap: f64, alpha: f64) {
        let previous = *self.times.last().unwrap_or(&now);
        if self.times.is_empty() {
            self.doubling = true;
            self.flight_start = now;
            self.round.0 = now;
        }
        let threshold = if self.known { self.r / 2.0 } else { flight_gap };
        if now - previous > threshold {
            let sample = now - self.flight_start;
            if !self.known {
                self.known = true;
                self.r = sample;
                self.w = self.round.1.iter().sum();
                self.last_round = self.w;
                self.round = (now, vec![]);
            } else {
                let longest = 2.0 * self.r;
                self.r = alpha * self.r + (1.0 - alpha) * if sample > longest { longest } else { sample };
            }
            self.flight_start = now;
        }
        if self.known {
            if let Some(at) = self.signalled_at
                && now - at >= self.r
            {
                self.signalled_at = None;
                self.doubling = false;
                self.w *= 0.5;
            }
            let length = now - self.round.0;
            if length >= self.r {
                if length <= 2.0 * self.r {
                    let b = self.round.1.iter().sum::<f64>() / length * self.r;
                    if b <= self.last_round {
                        self.doubling = false;
                    }
                    let grown = self.w + self.mss;
                    self.w = if self.doubling { b } else { alpha * grown + (1.0 - alpha) * b };
                    self.last_round = b;
                }
                self.round = (now, vec![]);
            }
        }
        self.round.1.push(size);
        self.times.push(now);
        self.mss = self.mss.max(size);
        self.ect = ect;
    }

    fn silent(&self, now: f64) -> f64 {
        now - self.times.last().unwrap()
    }

    fn counts(&self, now: f64) -> bool {
        self.known && self.silent(now) <= 2.0 * self.r
    }

    fn a(&self, x: f64, halved: bool) -> f64 {
        let n = x / self.r;
        if halved {
            self.w / 2.0 * n + self.mss * n * n / 2.0
        } else if self.doubling {
            self.w * (2.0_f64.powf(n.min(20.0)) - 1.0) / 2.0_f64.ln()
        } else {
            self.w * n + self.mss * n * n / 2.0
        }
    }
}

impl JobsEcn {
    pub(crate) fn new(k: u32, alpha: f64, b_lim: f64, flight_gap: f64) -> Self {
        Self {
            k,
            alpha,
            b_lim,
            flight_gap,
            c: 1.25e6,
            flows: BTreeMap::new(),
            marked_next: vec![],
            count: 0,
            r: 0.0,
            r_bytes: 0.0,
            last_projection: 0.0,
            signal: 0.0,
        }
    }

    /// The largest projected backlog, if these flows were marked.
    fn projection(&self, now: f64, b: f64, marked: &[u64]) -> f64 {
        let counting: Vec<(&u64, &Flow)> = self.flows.iter().filter(|(_, flow)| flow.counts(now)).collect();
        let horizon = counting.iter().map(|(_, flow)| flow.r).fold(0.0, f64::max);
        let r_in = |x: f64| {
            let mut sum = self.r * x;
            for (key, flow) in &counting {
                sum += flow.a(x, flow.signalled_at.is_some() || marked.contains(key));
            }
            sum
        };
        let (mut backlog, mut largest) = (b, b);
        for step in 0..8 {
            let (from, to) = (horizon * f64::from(step) / 8.0, horizon * f64::from(step + 1) / 8.0);
            backlog += r_in(to) - r_in(from) - self.c * (to - from);
            if backlog < 0.0 {
                backlog = 0.0;
            }
            if backlog > largest {
                largest = backlog;
            }
        }
        largest
    }

    fn project(&mut self, now: f64, b: f64) {
        if now > self.last_projection {
            let rate = self.r_bytes / (now - self.last_projection);
            self.r = self.alpha * self.r + (1.0 - self.alpha) * rate;
            self.r_bytes = 0.0;
            self.last_projection = now;
        }
        self.flows.retain(|_, flow| {
            let memory = if flow.known { f64::max(4.0 * flow.r, 1.0) } else { 1.0 };
            flow.silent(now) <= memory
        });
        self.marked_next.clear();
        self.signal = self.projection(now, b, &[]);
        while self.projection(now, b, &self.marked_next) > self.b_lim {
            let mut largest: Option<(u64, f64)> = None;
            for (key, flow) in &self.flows {
                let may = flow.counts(now) && flow.ect && flow.signalled_at.is_none();
                if may && !self.marked_next.contains(key) && largest.is_none_or(|(_, w)| flow.w > w) {
                    largest = Some((*key, flow.w));
                }
            }
            let Some((key, _)) = largest else { break };
            self.marked_next.push(key);
        }
    }
}

impl Reference for JobsEcn {
    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, _: &mut dyn FnMut() -> f64) -> Verdict {
        let size = f64::from(packet.size);
        if packet.udp {
            self.r_bytes += size;
        } else {
            let flow = self.flows.entry(packet.flow).or_default();
            flow.arrival(now, size, packet.ect, self.flight_gap, self.alpha);
            if !flow.known {
                self.r_bytes += size;
            }
        }
        self.count += 1;
        if self.count == self.k {
            self.count = 0;
            self.project(now, queue.bytes as f64 + size);
        }
        let Some(flow) = self.flows.get_mut(&packet.flow).filter(|_| !packet.udp) else {
            return Verdict::Pass;
        };
        if queue.full {
            if flow.known && flow.signalled_at.is_none() {
                flow.signalled_at = Some(now);
                self.marked_next.retain(|key| *key != packet.flow);
            }
        } else if packet.ect && self.marked_next.contains(&packet.flow) {
            flow.signalled_at = Some(now);
            self.marked_next.retain(|key| *key != packet.flow);
            return Verdict::Mark;
        }
        Verdict::Pass
    }

    fn signal(&self) -> f64 {
        self.signal
    }
}
