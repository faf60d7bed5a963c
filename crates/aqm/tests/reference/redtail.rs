//! RED+Tail, sections III and IV of the paper, transcribed plainly: seconds and bytes as floats, a list of all
//! counters ever set, an account for each of the two queues; optionally with the arrival rate predicted by Holt's
//! formulas from the whole past. A simple RED is the algorithm of the second queue.

use aqm::Packet;
use std::collections::{HashMap, VecDeque};

pub(crate) struct RedTail {
    pub(crate) c: f64,
    pub(crate) minth1: f64,
    pub(crate) maxth1: f64,
    pub(crate) c1min: f64,
    pub(crate) c1max: f64,
    pub(crate) prediction: Option<Prediction>,
    pub(crate) threshold_n: u32,
    pub(crate) silence_t: f64,
    pub(crate) by_connection: bool,
    pub(crate) udp_counts: bool,
    pub(crate) buffer: f64,
    /// minth2, maxth2 and Pmax, in packets of the instantaneous second queue.
    pub(crate) red: (f64, f64, f64),
    pub(crate) counters: HashMap<u64, (u32, f64)>,
    pub(crate) q: [VecDeque<(u64, u32)>; 2],
    pub(crate) credit: [f64; 2],
    pub(crate) accounting: bool,
    pub(crate) now: f64,
    pub(crate) red_was_on: bool,
    /// The expected rate.
    pub(crate) predicted: f64,
}

/// The parameters of Holt's smoothing, and the bytes of every interval so far.
pub(crate) struct Prediction {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) interval: f64,
    pub(crate) horizon: f64,
    pub(crate) bytes: Vec<f64>,
}

impl Prediction {
    /// The expected rate of the present interval, in bytes per second.
    fn rate(&self) -> f64 {
        let past = &self.bytes[..self.bytes.len() - 1];
        let mut rates = past.iter().map(|bytes| bytes / self.interval);
        let Some(mut level) = rates.next() else { return 0.0 };
        let mut trend = 0.0;
        for rate in rates {
            let old = level;
            level = self.alpha * rate + (1.0 - self.alpha) * (old + trend);
            trend = self.beta * (level - old) + (1.0 - self.beta) * trend;
        }
        if level + trend > 0.0 { level + trend } else { 0.0 }
    }
}

/// The fate of an arrival: `None` if it overflows, otherwise whether it is dropped at random.
pub(crate) type Fate = Option<bool>;

impl RedTail {
    fn bytes(&self, queue: usize) -> f64 {
        self.q[queue].iter().map(|(_, size)| f64::from(*size)).sum()
    }

    fn c1(&self) -> f64 {
        let q1 = self.bytes(0);
        if q1 == 0.0 {
            return 0.0;
        }
        if let Some(prediction) = &self.prediction {
            let c1 = self.predicted + q1 / prediction.horizon;
            return if c1 < self.c1min {
                self.c1min
            } else if c1 > self.c1max {
                self.c1max
            } else {
                c1
            };
        }
        if q1 < self.minth1 {
            return self.c1min;
        }
        let c1 = self.c * q1 / self.maxth1;
        if c1 < self.c1max { c1 } else { self.c1max }
    }

    /// Credits both queues with their rates, unless only one of them uses the link.
    fn pass(&mut self, now: f64) {
        if self.accounting {
            let c1 = self.c1();
            self.credit[0] += c1 * (now - self.now);
            self.credit[1] += (self.c - c1) * (now - self.now);
        }
        self.now = now;
    }

    fn queue_of(&mut self, packet: &Packet) -> usize {
        if packet.udp && !self.udp_counts {
            return 0;
        }
        let (now, silence) = (self.now, self.silence_t);
        self.counters.retain(|_, (_, last)| now - *last <= silence + 1e-12);
        let key = if self.by_connection { packet.flow } else { u64::from(packet.pair) };
        let (count, last) = self.counters.entry(key).or_insert((0, now));
        *count += 1;
        *last = now;
        if *count <= self.threshold_n { 0 } else { 1 }
    }

    pub(crate) fn arrival(&mut self, now: f64, number: u64, packet: &Packet, u: f64) -> (usize, Fate) {
        self.pass(now);
        let queue = self.queue_of(packet);
        if let (0, Some(prediction)) = (queue, &mut self.prediction) {
            *prediction.bytes.last_mut().unwrap() += f64::from(packet.size);
        }
        let full = self.bytes(0) + self.bytes(1) + f64::from(packet.size) > self.buffer;
        let mut dropped = false;
        if queue == 1 {
            let (min, max, pmax) = self.red;
            let q2 = self.q[1].len() as f64;
            let on = q2 >= min && q2 > 1.0;
            let p = if q2 < max { pmax * (q2 - min) / (max - min) } else { 1.0 };
            dropped = on && self.red_was_on && u < p;
            self.red_was_on = on;
        }
        if full {
            return (queue, None);
        }
        if !dropped {
            self.q[queue].push_back((number, packet.size));
        }
        (queue, Some(dropped))
    }

    /// Ends an interval.
    pub(crate) fn timer(&mut self, now: f64) {
        self.pass(now);
        if let Some(prediction) = &mut self.prediction {
            prediction.bytes.push(0.0);
            self.predicted = prediction.rate();
        }
    }

    pub(crate) fn departure(&mut self, now: f64) -> Option<(usize, u64, u32)> {
        self.pass(now);
        let queue = match (self.q[0].is_empty(), self.q[1].is_empty()) {
            (true, true) => {
                self.credit = [0.0, 0.0];
                self.accounting = false;
                return None;
            }
            (false, true) => 0,
            (true, false) => 1,
            (false, false) if self.credit[0] >= self.credit[1] => 0,
            (false, false) => 1,
        };
        self.accounting = queue == 1 || !self.q[1].is_empty();
        let (number, size) = self.q[queue].pop_front().unwrap();
        if self.accounting {
            self.credit[queue] -= f64::from(size);
        }
        Some((queue, number, size))
    }
}
