//! SFB: a BLUE on each bin to which flows are hashed, so that only flows that do not slow down are limited.
//!
//! Each of L levels hashes the flow to one of N bins. A bin counts its packets in the queue; at each of its arrivals
//!
//! ```text
//! p_m <- min(1, p_m + increment)   if it has bin_size packets or more
//! p_m <- max(0, p_m - decrement)   if it has none
//! p_min = the least p_m of the flow's L bins
//! ```
//!
//! and the packet is dropped (marked) with probability p_min: another flow suffers from one that does not slow down
//! only if it shares every bin with such flows. If even the emptiest of its bins has `max` packets, the packet is
//! dropped. A flow with p_min = 1 is in the penalty box: all such flows together may send `penalty_rate` packets/s.
//!
//! The hash functions change every `rehash`, so that no two flows share bins for long. In the last `db` before a
//! change, the flows in the penalty box also train the next set of bins, which would otherwise release them.
//!
//! With ECN, ECN-capable packets are marked instead, except that above p_min = 1/2 they are dropped with probability
//! 2 p_min - 1.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw per arrival, and one for the hash at the first. State: two
//! sets of L N bins; for every packet that waits, its flow and the hash functions that counted it; the tokens of the
//! penalty box.
//!
//! # Departures from the source
//! Five rules are Linux's, not the paper's: p_m rises at bin_size, not above it, and the rise does not drop the
//! packet; `max`; drops above 1/2; the defaults, which are the kernel's (tc always sends its own steps: preset
//! "linux"). Three of Linux's rules apply only in the form "linux": probabilities are multiples of 1/65535; a set that
//! retires keeps its p_m, although its bins belong to other flows when it is used again; and the penalty box restarts
//! from zero tokens at every refusal, which starves faster flows, where the default is a token bucket that fills at
//! `penalty_rate`. L and N are parameters, and ECN is optional. A packet that overflows the buffer changes nothing.
//! Linux uses a different hash.
//!
//! # Sources
//! Feng, Kandlur, Saha, Shin, "Stochastic fair BLUE: a queue management algorithm for enforcing fairness", INFOCOM
//! 2001; Linux 7.2, sch_sfb.c; iproute2, q_sfb.c. Tested against a transcription of Linux's, with these changes and in
//! the form "linux" without them.

use crate::contract::{Aqm, Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::float::{floor, round};
use crate::hash::mix;
use crate::mirror::Mirror;
use crate::params::{ParamError, Range};
use crate::unit::{Span, Time};
use alloc::boxed::Box;

crate::choice! {
    /// The source whose rules apply where sources differ.
    pub enum Form {
        /// The paper's.
        Paper = "paper",
        /// Linux's.
        Linux = "linux",
    }
}

crate::params! {
    /// SFB's parameters.
    pub struct Params {
        /// Levels L: number of bins per flow.
        levels: u32 = 8, "", Range::new(1.0, 64.0), ["L"];
        /// Bins N per level.
        bins: u32 = 16, "", Range::new(1.0, 65_536.0), ["N"];
        /// Packets in a bin from which its p_m rises. If `bins` times this exceeds the buffer, as the default's 320
        /// packets may, many evenly spread flows fill the buffer, and only flows that send more are limited.
        bin_size: u32 = 20, "packets", Range::new(1.0, 1e9), ["target"];
        /// Packets in a bin from which all its arrivals are dropped.
        max: u32 = 25, "packets", Range::new(1.0, 1e9);
        /// Increment of p_m.
        increment: f64 = 0.001, "", Range::new(0.0, 1.0), ["d1", "delta"];
        /// Decrement of p_m.
        decrement: f64 = 1.0 / 6000.0, "", Range::new(0.0, 1.0), ["d2"];
        /// Time between two changes of the hash functions; 0 for none.
        rehash: Span = Span::s(600), "s", Range::new(0.0, 1e6), ["rehash_interval"];
        /// How long before a change the next set of bins is trained.
        db: Span = Span::s(60), "s", Range::new(0.0, 1e6), ["warmup_time"];
        /// Total rate of the flows in the penalty box.
        penalty_rate: f64 = 10.0, "packets/s", Range::new(0.0, 1e9);
        /// Largest burst of the flows in the penalty box.
        penalty_burst: u32 = 20, "packets", Range::new(0.0, 1e9);
        /// Seed of the hash functions; if omitted, drawn at the first arrival.
        perturbation: Option<u64> = None, "", Range::new(0.0, 9e15);
        /// Mark packets of ECN-capable transports instead of dropping them, up to p_min = 1/2.
        ecn: bool = false, "";
        /// The source whose rules apply. `linux`: probabilities are multiples of 1/65535; a set that retires keeps its
        /// p_m; after a refusal, the penalty box has no token until a pause that is long enough for one.
        form: Form = Form::Paper, "";
    }
}

/// Half of Linux's unit of probability, rounded down as Linux does.
const LINUX_HALF: f64 = 32_767.0;
/// The longest pause that fills Linux's penalty box.
const LONGEST_PAUSE: Span = Span::s(10);

#[derive(Clone, Copy, Default, Debug)]
struct Bin {
    qlen: u32,
    p_m: f64,
}

/// A set of bins, level after level, and the salt of its hash functions.
#[derive(Clone, Debug)]
struct Set {
    salt: u64,
    bins: Box<[Bin]>,
    /// Bins per level.
    width: usize,
}

impl Set {
    /// The bins of `flow` by the hash functions of `salt`.
    #[inline]
    fn of(&mut self, flow: u64, salt: u64) -> impl Iterator<Item = &mut Bin> {
        (0..).zip(self.bins.chunks_mut(self.width)).map(move |(level, bins)| {
            let hash = mix(flow, salt.wrapping_add(level));
            &mut bins[(hash % bins.len() as u64) as usize]
        })
    }
}

/// A packet in the queue, with the salt of the hash functions by which either set counts it.
#[derive(Clone, Copy, Debug)]
struct Counted {
    flow: u64,
    salts: [Option<u64>; 2],
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Sfb {
    bin_size: u32,
    max: u32,
    increment: f64,
    decrement: f64,
    rehash: Span,
    db: Span,
    penalty_rate: f64,
    penalty_burst: f64,
    ecn: bool,
    /// The seed of all salts, once it is known.
    perturbation: Option<u64>,
    /// The number of salts made so far.
    salts: u64,
    sets: [Set; 2],
    /// The set that decides.
    active: usize,
    rehashed: Time,
    waiting: Mirror<Counted>,
    tokens: f64,
    filled: Time,
    p_min: f64,
    form: Form,
    /// The value that stands for a probability of 1.
    one: f64,
    /// Drops and marks by cause.
    early: u64,
    penalty: u64,
    bucket: u64,
    marked: u64,
}

impl Sfb {
    /// Renews the hash functions of the set and, in the form "paper", p_m of 0.
    fn renew(&mut self, set: usize, perturbation: u64) {
        let set = &mut self.sets[set];
        set.salt = mix(self.salts, perturbation);
        if self.form == Form::Paper {
            set.bins.iter_mut().for_each(|bin| bin.p_m = 0.0);
        }
        self.salts += 1;
    }

    /// Creates the hash functions, or replaces old ones; returns whether the next set is being trained.
    fn keep_fresh<R: Uniform>(&mut self, now: Time, rng: &mut R) -> bool {
        let drawn = || (rng.uniform() * (1_u64 << 53) as f64) as u64;
        let perturbation = *self.perturbation.get_or_insert_with(drawn);
        while self.salts < 2 {
            self.renew(self.salts as usize, perturbation);
        }
        let age = now.since(self.rehashed);
        if self.rehash == Span::ZERO {
            return false;
        }
        if age > self.rehash {
            self.renew(self.active, perturbation);
            self.active ^= 1;
            self.rehashed = now;
            return false;
        }
        age + self.db > self.rehash
    }

    /// Subtracts the packets that have left the queue from their bins' counts.
    fn forget(&mut self, queue: &Backlog) {
        while let Some(Counted { flow, salts }) = self.waiting.gone(queue.packets) {
            for (set, salt) in self.sets.iter_mut().zip(salts) {
                if let Some(salt) = salt {
                    set.of(flow, salt).for_each(|bin| bin.qlen -= 1);
                }
            }
        }
    }

    /// Moves the p_m of the flow's bins in a set; returns the smallest of them, and the smallest count.
    fn move_bins(&mut self, set: usize, flow: u64) -> (f64, u32) {
        let (mut p_min, mut least) = (self.one, u32::MAX);
        let set = &mut self.sets[set];
        let salt = set.salt;
        for bin in set.of(flow, salt) {
            if bin.qlen == 0 {
                bin.p_m = (bin.p_m - self.decrement).max(0.0);
            } else if bin.qlen >= self.bin_size {
                bin.p_m = (bin.p_m + self.increment).min(self.one);
            }
            p_min = p_min.min(bin.p_m);
            least = least.min(bin.qlen);
        }
        (p_min, least)
    }

    /// Releases a packet from the penalty box, if there is a token.
    fn release(&mut self, now: Time) -> Verdict {
        let pause = now.since(self.filled);
        if self.form == Form::Paper {
            self.tokens = (self.tokens + self.penalty_rate * pause.secs()).min(self.penalty_burst);
            self.filled = now;
        } else if self.penalty_rate < 1.0 {
            return Verdict::Drop;
        } else if self.tokens < 1.0 {
            let earned = self.penalty_rate * pause.min(LONGEST_PAUSE).secs();
            self.tokens = floor(earned).min(self.penalty_burst);
            self.filled = now;
        }
        if self.tokens < 1.0 {
            return Verdict::Drop;
        }
        self.tokens -= 1.0;
        Verdict::Pass
    }

    fn decide<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        learns: bool,
        rng: &mut R,
    ) -> (Verdict, bool) {
        let (p_min, least) = self.move_bins(self.active, packet.flow);
        self.p_min = p_min;
        if least >= self.max {
            self.bucket += 1;
            return (Verdict::Drop, false);
        }
        if p_min >= self.one {
            if learns {
                self.move_bins(self.active ^ 1, packet.flow);
            }
            let verdict = self.release(now);
            self.penalty += u64::from(verdict == Verdict::Drop);
            return (verdict, learns);
        }
        if p_min == 0.0 {
            return (Verdict::Pass, false);
        }
        let (draw, half) = match self.form {
            Form::Paper => (rng.uniform(), 0.5),
            Form::Linux => (floor(rng.uniform() * 65_536.0), LINUX_HALF),
        };
        let verdict = if draw >= p_min {
            Verdict::Pass
        } else {
            Verdict::signal(self.ecn && packet.ect && draw >= 2.0 * (p_min - half))
        };
        self.early += u64::from(verdict == Verdict::Drop);
        self.marked += u64::from(verdict == Verdict::Mark);
        (verdict, false)
    }
}

impl Aqm for Sfb {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[Signal { name: "p", unit: "", doc: "Drop probability p_min of the last arrival." }];

    const PRESETS: &'static [(&'static str, &'static str)] = &[(
        "linux",
        "sch_sfb of Linux 7.2 as tc sets it: p_m up by 0.0005, down by 0.00005; marks ECN-capable packets",
    )];

    fn new(params: &Params, port: &Port) -> Self {
        let one = if params.form == Form::Linux { 65_535.0 } else { 1.0 };
        // Linux's steps are whole numbers.
        let step = |p: f64| if params.form == Form::Linux { round(p * one) } else { p };
        let width = params.bins as usize;
        let bins = vec![Bin::default(); width * params.levels as usize];
        let set = Set { salt: 0, bins: bins.into(), width };
        Self {
            bin_size: params.bin_size,
            max: params.max,
            increment: step(params.increment),
            decrement: step(params.decrement),
            rehash: params.rehash,
            db: params.db,
            penalty_rate: params.penalty_rate,
            penalty_burst: f64::from(params.penalty_burst),
            ecn: params.ecn,
            perturbation: params.perturbation,
            salts: 0,
            sets: [set.clone(), set],
            active: 0,
            rehashed: Time::ZERO,
            waiting: Mirror::new(port),
            tokens: f64::from(params.penalty_burst),
            filled: Time::ZERO,
            p_min: 0.0,
            form: params.form,
            one,
            early: 0,
            penalty: 0,
            bucket: 0,
            marked: 0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        (name == "linux").then(|| Params {
            increment: 0.0005,
            decrement: 0.00005,
            ecn: true,
            form: Form::Linux,
            ..Params::default()
        })
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        if params.bin_size > params.max {
            return Err(ParamError::invalid(
                "bin_size",
                params.bin_size,
                format!("at most max = {}", params.max),
            ));
        }
        Ok(())
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        if queue.full {
            return Verdict::Pass;
        }
        self.forget(queue);
        let learns = self.keep_fresh(now, rng);
        let (verdict, taught) = self.decide(now, packet, learns, rng);
        if verdict != Verdict::Drop {
            let mut salts = [None; 2];
            salts[self.active] = Some(self.sets[self.active].salt);
            salts[self.active ^ 1] = taught.then_some(self.sets[self.active ^ 1].salt);
            self.waiting.push(Counted { flow: packet.flow, salts });
            for (set, salt) in self.sets.iter_mut().zip(salts) {
                if let Some(salt) = salt {
                    set.of(packet.flow, salt).for_each(|bin| bin.qlen += 1);
                }
            }
        }
        verdict
    }

    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        _: &Packet,
        queue: &Backlog,
        _: Span,
        _: &mut R,
    ) -> Verdict {
        self.forget(queue);
        Verdict::Pass
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        let size = |of: &Self| (of.sets[0].width, of.sets[0].bins.len());
        size(self) == size(before) && self.form == before.form
    }

    fn resume(&mut self, before: Self) {
        self.waiting.resume(before.waiting);
        // Another seed is that of the next change of the hash functions.
        self.perturbation = self.perturbation.or(before.perturbation);
        (self.salts, self.sets, self.active) = (before.salts, before.sets, before.active);
        (self.rehashed, self.p_min) = (before.rehashed, before.p_min);
        (self.tokens, self.filled) = (before.tokens.min(self.penalty_burst), before.filled);
        (self.early, self.penalty) = (before.early, before.penalty);
        (self.bucket, self.marked) = (before.bucket, before.marked);
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        for (name, count) in [
            ("earlydrop", self.early),
            ("penaltydrop", self.penalty),
            ("bucketdrop", self.bucket),
            ("marked", self.marked),
        ] {
            visit(name, Reading::Count(count));
        }
        let bins = &self.sets[self.active].bins;
        let sum: f64 = bins.iter().map(|bin| bin.p_m).sum();
        visit("maxqlen", Reading::Level(bins.iter().map(|bin| bin.qlen).max().unwrap_or(0).into()));
        visit("maxprob", Reading::Level(bins.iter().map(|bin| bin.p_m).fold(0.0, f64::max) / self.one));
        visit("avgprob", Reading::Level(sum / bins.len() as f64 / self.one));
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p_min / self.one);
    }
}

#[cfg(test)]
mod tests;
