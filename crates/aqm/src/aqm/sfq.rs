//! SFQ: a round of queues to which flows are hashed, each of which sends a `quantum` in turn.
//!
//! A flow's hash, modulo `divisor`, has one of `flows` queues while packets of it wait. A packet that comes to an empty queue
//! puts it at the end of the round, with a credit of one `quantum`. The first queue of the round is served:
//!
//! ```text
//! credit <= 0:   credit <- credit + quantum; to the end of the round
//! else:          its first packet is sent; if none is left it leaves the round, else credit <- credit - size
//! ```
//!
//! A queue takes at most `depth` packets: the arrival, or with `headdrop` the first packet of the queue, is dropped. A full
//! buffer drops the last packet (with `headdrop` the first) of the queue with the most packets, the arrival included; of
//! equals, of the one that came to this length last. If no queue has more than one packet, it drops the next to be served.
//! With `red_limit`, each queue has RED: its average is of the queue's bytes, without ageing.
//!
//! Decides at: enqueue, on packets that wait as well. Timer: none. Randomness: one draw at the first arrival unless
//! `perturbation` is set; RED's. State: per queue, its credit, its place in the round, when it came to its length, RED's
//! variables; the queue of each hash.
//!
//! # Departures from the source
//! Linux's hash is another, so that different flows share a queue. `perturb`, which deals all waiting packets out anew after
//! some time, and is off unless tc is asked for it, is omitted. With `headdrop`, RED marks the arrival, in Linux the
//! head; and RED decides after a full buffer has made room. The limit is the link's buffer; tc's is 127 packets.
//!
//! # Sources
//! McKenney, "Stochastic fairness queueing", INFOCOM 1990; Linux 7.2, sch_sfq.c; iproute2, q_sfq.c. Whole runs are tested
//! against the kernel, packet by packet.

#[cfg(test)]
mod tests;

use crate::aqm::red::linux::{Action, Kernel};
use crate::aqm::red::{self, Effective, Form, Rules};
use crate::contract::{Aqm, Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Eviction, Lane};
use crate::hash::{keeps_queues, mix};
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Limit, Span, Time};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;

crate::params! {
    /// SFQ's parameters.
    pub struct Params {
        /// Number of queues.
        flows: u32 = 128, "queues", Range::new(1.0, 65_408.0);
        /// Most packets of a queue.
        depth: u32 = 127, "packets", Range::new(1.0, 65_408.0);
        /// Number of hashes.
        divisor: u32 = 1024, "", Range::new(1.0, 65_536.0);
        /// Bytes that a queue may send per round; auto is the device's MTU, as in Linux.
        quantum: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9);
        /// Drop the first packet of a queue rather than the last.
        headdrop: bool = false, "";
        /// Seed of the flow hash; auto draws it.
        perturbation: Option<u64> = None, "", Range::new(0.0, 9e15);
        /// RED on each queue, for queues of up to this many bytes: `red_max` is a quarter of it, if omitted; if this is
        /// omitted, there is no RED.
        red_limit: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9), ["redflowlimit"];
        /// RED's lower threshold; if omitted, a third of the upper.
        red_min: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9), ["min"];
        /// RED's upper threshold.
        red_max: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9), ["max"];
        /// RED's mean packet.
        avpkt: Bytes = Bytes(1000), "bytes", Range::new(1.0, 65_535.0);
        /// The burst that RED lets pass; if omitted, by the thresholds.
        burst: Option<u32> = None, "packets", Range::new(1.0, 1e9);
        /// RED's drop probability at the upper threshold.
        probability: f64 = 0.02, "", Range::above(0.0, 1.0);
        /// Let RED mark packets of ECN-capable transports instead of dropping them.
        red_ecn: bool = false, "", Range::ANY, ["ecn"];
        /// With `red_ecn`, still drop above RED's upper threshold.
        red_hard_drop: bool = false, "", Range::ANY, ["harddrop"];
    }
}

impl Params {
    /// RED's parameters.
    fn red(&self) -> red::Params {
        red::Params {
            min_bytes: self.red_min,
            max_bytes: self.red_max.or_else(|| self.red_limit.map(|limit| Bytes((limit.0 / 4).max(1)))),
            max_p: Some(self.probability),
            burst: self.burst,
            mean_packet: Some(self.avpkt),
            rules: Rules::Linux,
            form: Form::Linux,
            bytes: true,
            ..red::Params::default()
        }
    }
}

/// No queue.
const NONE: u32 = u32::MAX;

/// One queue.
#[derive(Clone, Debug)]
struct Slot {
    credit: i64,
    /// The next in the round; while unused, the next that is unused.
    next: u32,
    hash: u32,
    /// When it came to its length, as the number of a change.
    changed: u64,
    red: Option<Box<Kernel>>,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Sfq {
    quantum: i64,
    depth: u32,
    headdrop: bool,
    ecn: bool,
    harddrop: bool,
    salt: Option<u64>,
    /// The queue of each hash.
    queues: Vec<u32>,
    slots: Vec<Slot>,
    /// The first queue that is unused.
    unused: u32,
    /// The last queue of the round, whose next is the first.
    tail: u32,
    used: u32,
    changes: u64,
    /// Whether the arrival's queue has come to its new length already.
    noted: bool,
    /// RED with an empty queue.
    red: Option<Box<Kernel>>,
    /// The queue whose first packet is dropped in place of the arrival.
    victim: Option<usize>,
    /// RED's average of the queue of the last arrival, in bytes, and its p.
    average: f64,
    p: f64,
    /// RED's thresholds in bytes, and p at the upper one.
    thresholds: [f64; 2],
    max_p: f64,
}

impl Sfq {
    fn hash<R: Uniform>(&mut self, packet: &Packet, rng: &mut R) -> usize {
        let salt = *self.salt.get_or_insert_with(|| (rng.uniform() * 9e15) as u64);
        (mix(packet.flow, salt) % self.queues.len() as u64) as usize
    }

    /// Notes that a queue has come to a new length.
    fn note(&mut self, slot: usize) {
        self.changes += 1;
        self.slots[slot].changed = self.changes;
    }

    /// Puts a queue at the end of the round.
    fn join(&mut self, slot: u32) {
        let quantum = self.quantum;
        let next = match self.tail {
            NONE => slot,
            tail => core::mem::replace(&mut self.slots[tail as usize].next, slot),
        };
        let own = &mut self.slots[slot as usize];
        (own.next, own.credit) = (next, quantum);
        self.tail = slot;
    }

    /// Takes a queue, which is empty now, out of the round.
    fn leave(&mut self, slot: u32) {
        let mut before = self.tail;
        while self.slots[before as usize].next != slot {
            before = self.slots[before as usize].next;
        }
        let next = self.slots[slot as usize].next;
        if before == slot {
            self.tail = NONE;
        } else {
            self.slots[before as usize].next = next;
            if self.tail == slot {
                self.tail = before;
            }
        }
        let own = &mut self.slots[slot as usize];
        self.queues[own.hash as usize] = NONE;
        own.next = core::mem::replace(&mut self.unused, slot);
        self.used -= 1;
    }

    /// Called when every queue has spent its credit: adds as many quanta as going round would until the first queue has
    /// credit; going round takes long if a packet is many times the quantum.
    #[cold]
    fn skip_rounds(&mut self) {
        let rounds = |slot: usize| (-self.slots[slot].credit).div_euclid(self.quantum);
        let least = self.round().map(rounds).min().unwrap_or(0).max(0);
        let queues: Vec<usize> = self.round().collect();
        queues.into_iter().for_each(|slot| self.slots[slot].credit += least * self.quantum);
    }

    /// The queues of the round, in order.
    fn round(&self) -> impl Iterator<Item = usize> {
        let first = if self.tail == NONE { NONE } else { self.slots[self.tail as usize].next };
        let following = move |slot: &u32| {
            let next = self.slots[*slot as usize].next;
            (*slot != self.tail).then_some(next)
        };
        core::iter::successors((first != NONE).then_some(first), following).map(|slot| slot as usize)
    }

    /// The first packet of a queue, to be dropped.
    fn behead(&mut self, slot: usize, lanes: &[Lane]) -> (usize, u32) {
        if lanes[slot].packets == 1 {
            // The arrival takes its place, at the end of the round; in Linux, where it was.
            self.leave(slot as u32);
        }
        (slot, 0)
    }

    /// The queue of a hash; an unused one if it has none, and if there is one.
    fn slot(&mut self, hash: usize) -> Option<usize> {
        if self.queues[hash] == NONE {
            let slot = self.unused;
            if slot == NONE {
                return None;
            }
            let own = &mut self.slots[slot as usize];
            self.unused = own.next;
            own.hash = hash as u32;
            own.red.clone_from(&self.red);
            self.queues[hash] = slot;
            self.used += 1;
        }
        Some(self.queues[hash] as usize)
    }

    /// The verdict of the queue's RED.
    fn red<R: Uniform>(
        &mut self,
        now: Time,
        slot: usize,
        packet: &Packet,
        lane: &Lane,
        rng: &mut R,
    ) -> Verdict {
        let Some(red) = &mut self.slots[slot].red else { return Verdict::Pass };
        red.estimate(now, lane.bytes, None);
        self.average = red.avg();
        let [min, max] = self.thresholds;
        self.p = match self.average {
            avg if avg < min => 0.0,
            avg if avg < max => self.max_p * (avg - min) / (max - min),
            _ => 1.0,
        };
        match red.action(rng) {
            Action::Pass => Verdict::Pass,
            Action::Signal => Verdict::signal(self.ecn && packet.ect),
            Action::Beyond => Verdict::signal(self.ecn && packet.ect && !self.harddrop),
        }
    }
}

impl Discipline for Sfq {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "RED's drop probability in the queue of the last arrival." },
        Signal { name: "flows", unit: "queues", doc: "Queues in the round." },
        Signal { name: "avg", unit: "bytes", doc: "RED's average of the queue of the last arrival." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("linux", "sch_sfq of Linux 7.2 at tc's defaults")];

    fn new(params: &Params, port: &Port) -> Self {
        let flows = params.flows.min(params.divisor);
        let limit = Limit::Bytes(params.red_limit.map_or(0, |limit| limit.0));
        let own = params.red();
        let effective = Effective::new(&own, &Port { limit, ..*port });
        let red = params.red_limit.map(|_| Box::new(Kernel::new(&own, &effective)));
        let slot = |next| Slot { credit: 0, next, hash: 0, changed: 0, red: None };
        Self {
            quantum: params.quantum.unwrap_or(port.mtu()).0.clamp(1, 1 << 40) as i64,
            depth: params.depth,
            headdrop: params.headdrop,
            ecn: params.red_ecn,
            harddrop: params.red_hard_drop,
            salt: params.perturbation,
            queues: vec![NONE; params.divisor as usize],
            slots: (1..=flows).map(|next| slot(if next < flows { next } else { NONE })).collect(),
            unused: 0,
            tail: NONE,
            used: 0,
            changes: 0,
            noted: false,
            red,
            victim: None,
            average: 0.0,
            p: 0.0,
            thresholds: [effective.min_th, effective.max_th].map(|th| th * effective.mean.0 as f64),
            max_p: effective.max_p,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        (name == "linux").then(Params::default)
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        if !params.divisor.is_power_of_two() {
            return Err(ParamError::invalid("divisor", params.divisor, "a power of two"));
        }
        let Some(limit) = params.red_limit else {
            return match (params.red_min, params.red_max) {
                (Some(min), Some(max)) if min >= max => {
                    Err(ParamError::invalid("red_min", min, format!("less than red_max = {max}")))
                }
                _ => Ok(()),
            };
        };
        let max = params.red_max.unwrap_or(Bytes(limit.0 / 4));
        if max > limit {
            return Err(ParamError::invalid(
                "red_max",
                max,
                format!("at most red_limit = {limit}, as tc demands"),
            ));
        }
        if let Some(min) = params.red_min.filter(|min| *min >= max) {
            return Err(ParamError::invalid("red_min", min, format!("less than red_max = {max}")));
        }
        Ok(())
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        if params.red_limit.is_none() {
            return Ok(());
        }
        let name = |of_red: &str| match of_red {
            "min_bytes" => "red_min".to_owned(),
            "max_bytes" => "red_max".to_owned(),
            "max_p" => "probability".to_owned(),
            other => other.to_owned(),
        };
        red::Red::check_on(&params.red(), port).map_err(|error| error.renamed(name))
    }

    fn lanes(&self) -> usize {
        self.slots.len()
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        let hash = self.hash(packet, rng);
        let noted = core::mem::take(&mut self.noted);
        if buffer.full {
            return (self.queues[hash].min(self.slots.len() as u32 - 1) as usize, Verdict::Drop);
        }
        let Some(slot) = self.slot(hash) else { return (0, Verdict::Drop) };
        let lane = &lanes[slot];
        if lane.packets == 0 {
            // RED leaves the first packet alone.
            self.join(slot as u32);
            self.note(slot);
            return (slot, Verdict::Pass);
        }
        let mut verdict = self.red(now, slot, packet, lane, rng);
        let crowded = lane.packets >= self.depth;
        if crowded {
            verdict = Verdict::Drop;
        }
        if verdict == Verdict::Drop && self.headdrop {
            self.victim = Some(slot);
            verdict = Verdict::Pass;
        }
        if verdict != Verdict::Drop && self.victim.is_none() && !noted {
            self.note(slot);
        }
        (slot, verdict)
    }

    fn make_room<R: Uniform>(
        &mut self,
        _: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        if !buffer.full {
            return None;
        }
        let hash = self.hash(packet, rng);
        let own = self.queues[hash];
        if own == NONE && self.unused == NONE {
            return None;
        }
        if own != NONE && lanes[own as usize].packets >= self.depth {
            // The queue's own limit comes first.
            return self.headdrop.then(|| self.behead(own as usize, lanes));
        }
        let of = |slot: usize| (lanes[slot].packets, self.slots[slot].changed);
        let (longest, length) = self
            .round()
            .map(|slot| {
                if slot == own as usize {
                    (slot, (lanes[slot].packets + 1, u64::MAX))
                } else {
                    (slot, of(slot))
                }
            })
            .max_by_key(|(_, key)| *key)?;
        if length.0 <= 1 {
            // The arrival, too, would be alone in its queue: the next to be served is lost.
            let first = self.round().next()?;
            self.leave(first as u32);
            return Some((first, 0));
        }
        // The arrival has come to its length before the queue that loses a packet has.
        if own != NONE {
            self.note(own as usize);
            self.noted = true;
        }
        if self.headdrop {
            let victim = self.behead(longest, lanes);
            self.note(longest);
            return Some(victim);
        }
        if longest == own as usize {
            return None;
        }
        self.note(longest);
        Some((longest, lanes[longest].packets - 1))
    }

    fn evict(&mut self, _: Time, _: &[Lane]) -> Option<Eviction> {
        self.victim.take().map(|lane| Eviction { lane, place: 0, full: false })
    }

    fn serve(&mut self, _: Time, _: &[Lane]) -> usize {
        let mut renewed = 0;
        loop {
            let first = self.slots[self.tail as usize].next;
            let slot = &mut self.slots[first as usize];
            if slot.credit > 0 {
                return first as usize;
            }
            slot.credit += self.quantum;
            self.tail = first;
            renewed += 1;
            if renewed > self.used {
                self.skip_rounds();
                renewed = 0;
            }
        }
    }

    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        lane: usize,
        packet: &Packet,
        _: &Backlog,
        lanes: &[Lane],
        _: Span,
        _: &mut R,
    ) -> Verdict {
        self.note(lane);
        if lanes[lane].packets == 0 {
            self.leave(lane as u32);
        } else {
            self.slots[lane].credit -= i64::from(packet.size);
        }
        Verdict::Pass
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.queues.len() == before.queues.len() && keeps_queues(self.salt, before.salt)
    }

    fn resume(&mut self, _: Time, before: Self) {
        self.slots = before.slots;
        for slot in &mut self.slots {
            let mut red = self.red.clone();
            match (&mut red, slot.red.take()) {
                (Some(red), Some(before)) => red.resume(&before),
                // An unused queue, which gets its RED with its first packet.
                (_, None) if before.red.is_some() => red = None,
                _ => {}
            }
            slot.red = red;
        }
        (self.salt, self.queues, self.unused) = (before.salt, before.queues, before.unused);
        (self.tail, self.used, self.changes) = (before.tail, before.used, before.changes);
        (self.noted, self.victim) = (before.noted, before.victim);
        (self.average, self.p) = (before.average, before.p);
    }

    fn on_trim(&mut self, lane: usize, _: u32, lanes: &[Lane]) {
        self.note(lane);
        if lanes[lane].packets == 0 {
            self.leave(lane as u32);
        }
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("quantum", Reading::Level(self.quantum as f64));
        if let Some(red) = &self.red {
            let [min, max] = red.thresholds();
            visit("ewma", Reading::Level(red.wlog().into()));
            visit("min", Reading::Level(min));
            visit("max", Reading::Level(max));
            visit("probability", Reading::Level(red.max_p()));
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p);
        visit(1, f64::from(self.used));
        visit(2, self.average);
    }
}
