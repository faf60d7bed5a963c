//! SFB: a BLUE for every bin that a flow is hashed to, so that only those who do not slow down are held back.
//!
//! Each of L levels hashes the flow to one of N bins. A bin counts the packets in the queue that are its own; at
//! each of its arrivals
//!
//! ```text
//! p_m <- min(1, p_m + increment)   if it has bin_size packets or more
//! p_m <- max(0, p_m - decrement)   if it has none
//! p_min = the least p_m of the flow's L bins
//! ```
//!
//! and the packet is dropped (marked) with probability p_min: only who shares every bin with a flow that does not
//! slow down suffers for it. If even the emptiest of its bins has `max` packets, it is dropped. A flow at p_min = 1
//! is in the penalty box: all such flows together get `penalty_rate` packets a second.
//!
//! Every `rehash` the hash functions change, so that nobody shares bins for long. The next set of bins learns in
//! the last `db` before, from the flows in the penalty box, which it would set free otherwise.
//!
//! With ECN, what is above p_min = 1/2 is dropped with probability 2 p_min - 1, marks or not.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw an arrival, and one for the hash at the first. State: two
//! sets of L N bins; for every packet that waits, its flow and the hash functions that counted it; the tokens of the
//! penalty box.
//!
//! # Departures from the source
//! From Linux, not the paper: p_m rises at bin_size, not above it, and does not drop the packet; `max`; drops above
//! 1/2; the defaults, which are those of the kernel (tc always sends steps of its own: preset "linux"). Not from Linux,
//! but with the form "linux": probabilities that are multiples of 1/65535; p_m kept by a set that retires, though its
//! bins belong to other flows when its turn comes again; a penalty box that starts from nothing at every refusal, and
//! starves who is faster, where the other is a bucket that fills at `penalty_rate`. L and N can be chosen, and ECN is a
//! choice. A packet that the buffer refuses moves nothing. Linux's hash is another one.
//!
//! # Sources
//! Feng, Kandlur, Saha, Shin, "Stochastic fair BLUE: a queue management algorithm for enforcing fairness", INFOCOM
//! 2001; Linux 7.2, sch_sfb.c; iproute2, q_sfb.c. Tested against a transcription of Linux's, with these changes and in
//! the form "linux" without them.

use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::hash::mix;
use crate::mirror::Mirror;
use crate::params::{ParamError, Range};
use crate::unit::{Span, Time};

crate::choice! {
    /// Whose rules where sources differ.
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
        /// Levels L: how many bins a flow has.
        levels: u32 = 8, "", Range::new(1.0, 64.0), ["L"];
        /// Bins N of a level.
        bins: u32 = 16, "", Range::new(1.0, 65_536.0), ["N"];
        /// The packets in a bin from which its p_m rises. Many flows spread evenly: where `bins` times this is more
        /// than the buffer, as the default's 320 packets may be, they fill it, and only who sends more is held back.
        bin_size: u32 = 20, "packets", Range::new(1.0, 1e9), ["target"];
        /// The packets in a bin from which all its arrivals are dropped.
        max: u32 = 25, "packets", Range::new(1.0, 1e9);
        /// How much p_m rises.
        increment: f64 = 0.001, "", Range::new(0.0, 1.0), ["d1", "delta"];
        /// How much p_m falls.
        decrement: f64 = 1.0 / 6000.0, "", Range::new(0.0, 1.0), ["d2"];
        /// How often the hash functions change; never at 0.
        rehash: Span = Span::s(600), "s", Range::new(0.0, 1e6), ["rehash_interval"];
        /// For how long, before they do, the next set of bins learns.
        db: Span = Span::s(60), "s", Range::new(0.0, 1e6), ["warmup_time"];
        /// What the flows in the penalty box may send together.
        penalty_rate: f64 = 10.0, "packets/s", Range::new(0.0, 1e9);
        /// What they may send at once.
        penalty_burst: u32 = 20, "packets", Range::new(0.0, 1e9);
        /// Decides the hash functions; if left out, drawn at the first arrival.
        perturbation: Option<u64> = None, "", Range::new(0.0, 9e15);
        /// Mark packets of ECN-capable transports instead of dropping them, up to p_min = 1/2.
        ecn: bool = false, "";
        /// Whose rules where sources differ. `linux`: probabilities are whole 65535ths; a set that retires keeps its
        /// p_m; the penalty box has no token before a pause after a refusal that is long enough for one.
        form: Form = Form::Paper, "";
    }
}

/// Half of Linux's 1, rounded down as it does.
const LINUX_HALF: f64 = 32_767.0;
/// Up to how long a pause fills Linux's penalty box.
const LONGEST_PAUSE: Span = Span::s(10);

#[derive(Clone, Copy, Default, Debug)]
struct Bin {
    qlen: u32,
    p_m: f64,
}

/// A set of bins, level after level, and what makes its hash functions.
#[derive(Clone, Debug)]
struct Set {
    salt: u64,
    bins: Box<[Bin]>,
    /// Bins a level.
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
    /// What all salts come from, once it is known.
    perturbation: Option<u64>,
    /// How many salts have been made.
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
    /// What a probability of 1 is counted as.
    one: f64,
}

impl Sfb {
    /// Gives the set new hash functions, which have nothing to remember.
    fn renew(&mut self, set: usize, perturbation: u64) {
        let set = &mut self.sets[set];
        set.salt = mix(self.salts, perturbation);
        if self.form == Form::Paper {
            set.bins.iter_mut().for_each(|bin| bin.p_m = 0.0);
        }
        self.salts += 1;
    }

    /// Sees to it that there are hash functions, and none that are too old; whether the next set learns.
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

    /// Takes the packets that are no longer in the queue out of their bins.
    fn forget(&mut self, queue: &Backlog) {
        while let Some(Counted { flow, salts }) = self.waiting.gone(queue.packets) {
            for (set, salt) in self.sets.iter_mut().zip(salts) {
                if let Some(salt) = salt {
                    set.of(flow, salt).for_each(|bin| bin.qlen -= 1);
                }
            }
        }
    }

    /// Moves the p_m of the flow's bins in a set; gives the least of them, and the least queue.
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

    /// Lets a packet out of the penalty box, if one is due.
    fn release(&mut self, now: Time) -> Verdict {
        let pause = now.since(self.filled);
        if self.form == Form::Paper {
            self.tokens = (self.tokens + self.penalty_rate * pause.secs()).min(self.penalty_burst);
            self.filled = now;
        } else if self.penalty_rate < 1.0 {
            return Verdict::Drop;
        } else if self.tokens < 1.0 {
            let earned = self.penalty_rate * pause.min(LONGEST_PAUSE).secs();
            self.tokens = earned.floor().min(self.penalty_burst);
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
            return (Verdict::Drop, false);
        }
        if p_min >= self.one {
            if learns {
                self.move_bins(self.active ^ 1, packet.flow);
            }
            return (self.release(now), learns);
        }
        if p_min == 0.0 {
            return (Verdict::Pass, false);
        }
        let (draw, half) = match self.form {
            Form::Paper => (rng.uniform(), 0.5),
            Form::Linux => ((rng.uniform() * 65_536.0).floor(), LINUX_HALF),
        };
        let verdict = if draw >= p_min {
            Verdict::Pass
        } else {
            Verdict::signal(self.ecn && packet.ect && draw >= 2.0 * (p_min - half))
        };
        (verdict, false)
    }
}

impl Aqm for Sfb {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[Signal { name: "p", unit: "", doc: "Drop probability p_min of the last arrival." }];

    const PRESETS: &'static [(&'static str, &'static str)] = &[(
        "linux",
        "sch_sfb of Linux 7.2 as tc sets it: p_m up by 0.0005, down by 0.00005; marks what it can",
    )];

    fn new(params: &Params, port: &Port) -> Self {
        let one = if params.form == Form::Linux { 65_535.0 } else { 1.0 };
        // Linux's steps are whole numbers.
        let step = |p: f64| if params.form == Form::Linux { (p * one).round() } else { p };
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

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p_min / self.one);
    }
}

#[cfg(test)]
mod tests;
