//! SRED: drops by the length of the queue and the number of flows, which is estimated from a list of past arrivals.
//!
//! Each arrival is compared with one of a list of M past arrivals, the zombies, drawn at random. If both are of the
//! same flow, it is a hit; if not, the arrival replaces the zombie with probability `overwrite`. The more flows there
//! are, the rarer are hits: 1/P is approximately the number of flows.
//!
//! ```text
//! P <- (1 - alpha) P + alpha Hit                                          Hit = 1 or 0
//! p_sred(q) = p_max if q >= B/3,  p_max / 4 if q >= B/6,  else 0          B the buffer
//! p_zap = p_sred(q) min(1, 1 / (256 P)^2)                                 "simple"
//! p_zap = p_sred(q) min(1, 1 / (256 P)^2) (1 + Hit / P), at most 1        "full"
//! ```
//!
//! So p_zap grows with the square of the number of flows, up to 256 of them, as TCP requires for a constant queue; and
//! in the full form, flows that send more are dropped more often.
//!
//! Decides at: enqueue. Timer: none. Randomness: up to three draws per arrival: the zombie, whether it is overwritten,
//! whether the arrival is dropped. State: the M zombies, P.
//!
//! # Departures from the source
//! The paper's count and time of each zombie, by which it identifies misbehaving flows, affect no decision, and are
//! omitted. While the list is filling, arrivals are not compared, and P falls. A packet that overflows the buffer is
//! compared too, but no random number is drawn for its drop. With ECN, packets are marked instead. q and B are in
//! bytes if the buffer is, otherwise in packets.
//!
//! # Sources
//! Ott, Lakshman, Wong, "SRED: stabilized RED", INFOCOM 1999. Tested against its equations.

use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::Range;
use crate::unit::{Limit, Time};
use alloc::vec::Vec;

crate::choice! {
    /// The effect of a hit on the drop probability.
    pub enum Form {
        /// Only through P.
        Simple = "simple",
        /// A hit also makes a drop more likely.
        Full = "full",
    }
}

crate::params! {
    /// SRED's parameters.
    pub struct Params {
        /// Number of zombies.
        zombies: u32 = 1000, "", Range::new(1.0, 1e6), ["M"];
        /// Probability that an arrival replaces a zombie of another flow.
        overwrite: f64 = 0.25, "", Range::new(0.0, 1.0);
        /// Weight of an arrival in the hit rate P; if omitted, 1/M.
        alpha: Option<f64> = None, "", Range::above(0.0, 1.0);
        /// Drop probability in a queue above a third of the buffer. Senders that slow down only at a higher
        /// probability fill the buffer.
        p_max: f64 = 0.15, "", Range::new(0.0, 1.0);
        /// Number of flows beyond which the drop probability does not grow.
        flows: f64 = 256.0, "", Range::new(1.0, 1e9);
        /// The effect of a hit on the drop probability: `simple`, only through P; `full`, a hit also makes a drop more
        /// likely.
        form: Form = Form::Full, "";
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "";
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Sred {
    overwrite: f64,
    alpha: f64,
    p_max: f64,
    flows: f64,
    full: bool,
    ecn: bool,
    limit: Limit,
    zombies: Vec<u64>,
    most: usize,
    /// The paper's P.
    hit_rate: f64,
    p: f64,
}

impl Sred {
    /// Compares the arrival with a zombie; returns whether it is a hit.
    #[inline]
    fn compare<R: Uniform>(&mut self, flow: u64, rng: &mut R) -> bool {
        if self.zombies.len() < self.most {
            self.zombies.push(flow);
            return false;
        }
        let zombie = (rng.uniform() * self.most as f64) as usize;
        let hit = self.zombies[zombie] == flow;
        if !hit && rng.happens(self.overwrite) {
            self.zombies[zombie] = flow;
        }
        hit
    }

    /// The part of the drop probability that depends on the queue only.
    #[inline]
    fn p_sred(&self, queue: &Backlog) -> f64 {
        let part = match self.limit {
            Limit::Packets(limit) => f64::from(queue.packets) / f64::from(limit),
            Limit::Bytes(limit) | Limit::BytesBefore(limit) => queue.bytes as f64 / limit as f64,
        };
        if part >= 1.0 / 3.0 {
            self.p_max
        } else if part >= 1.0 / 6.0 {
            self.p_max / 4.0
        } else {
            0.0
        }
    }

    #[inline]
    fn p_zap(&self, queue: &Backlog, hit: bool) -> f64 {
        let crowd = self.flows * self.hit_rate;
        let p = self.p_sred(queue) * if crowd > 1.0 { 1.0 / (crowd * crowd) } else { 1.0 };
        if self.full && hit { (p * (1.0 + 1.0 / self.hit_rate)).min(1.0) } else { p }
    }
}

impl Aqm for Sred {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "Drop probability p_zap of the last arrival." },
        Signal {
            name: "hit_rate",
            unit: "",
            doc: "Smoothed hit rate P; one over it is about the number of flows.",
        },
    ];

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            overwrite: params.overwrite,
            alpha: params.alpha.unwrap_or(1.0 / f64::from(params.zombies)),
            p_max: params.p_max,
            flows: params.flows,
            full: params.form == Form::Full,
            ecn: params.ecn,
            limit: port.limit,
            zombies: Vec::with_capacity(params.zombies as usize),
            most: params.zombies as usize,
            hit_rate: 0.0,
            p: 0.0,
        }
    }

    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        let hit = self.compare(packet.flow, rng);
        self.hit_rate += self.alpha * (f64::from(u8::from(hit)) - self.hit_rate);
        self.p = self.p_zap(queue, hit);
        if queue.full || !rng.happens(self.p) {
            return Verdict::Pass;
        }
        Verdict::signal(self.ecn && packet.ect)
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        self.zombies.extend(before.zombies.into_iter().take(self.most));
        (self.hit_rate, self.p) = (before.hit_rate, before.p);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p);
        visit(1, self.hit_rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};

    /// SRED with four zombies of the flows 0, 1, 2 and 3, and the hit rate `hit_rate`.
    fn sred(hit_rate: f64, params: Params) -> Sred {
        let mut sred = Sred::new(&Params { zombies: 4, ..params }, &PORT);
        sred.zombies.extend(0..4);
        sred.hit_rate = hit_rate;
        sred
    }

    #[test]
    fn p_sred_has_three_steps() {
        let sred = sred(0.0, Params::default());
        // A buffer of 200 packets.
        let p = [33, 34, 66, 67, 200].map(|q| sred.p_sred(&waiting(q)));
        assert_eq!(p, [0.0, 0.0375, 0.0375, 0.15, 0.15]);
        let bytes = Sred::new(&Params::default(), &Port { limit: Limit::Bytes(60_000), ..PORT });
        assert_eq!([39, 40].map(|q| bytes.p_sred(&waiting(q))), [0.0375, 0.15]);
    }

    #[test]
    fn p_zap_falls_with_the_square_of_the_hit_rate() {
        for (hit_rate, p) in
            [(0.0, 0.15), (1.0 / 256.0, 0.15), (1.0 / 128.0, 0.0375), (1.0 / 16.0, 0.15 / 256.0)]
        {
            assert_close(sred(hit_rate, Params::default()).p_zap(&waiting(100), false), p);
        }
    }

    #[test]
    fn a_hit_makes_a_drop_more_likely_in_the_full_form() {
        let hit = |form| sred(1.0 / 16.0, Params { form, ..Params::default() }).p_zap(&waiting(100), true);
        assert_close(hit(Form::Simple), 0.15 / 256.0);
        assert_close(hit(Form::Full), 17.0 * 0.15 / 256.0);
        assert_eq!(sred(1.0 / 256.0, Params::default()).p_zap(&waiting(100), true), 1.0);
    }

    #[test]
    fn an_arrival_is_compared_with_a_zombie_and_may_take_its_place() {
        let mut sred = sred(0.0, Params::default());
        // A draw of 0.6 out of four zombies is the third.
        assert!(sred.compare(2, &mut Draw(0.6)));
        assert!(!sred.compare(9, &mut Draw(0.6)));
        assert_eq!(sred.zombies, [0, 1, 2, 3]);
        // A draw of 0.2 is the first, and less than 0.25.
        assert!(!sred.compare(9, &mut Draw(0.2)));
        assert_eq!(sred.zombies, [9, 1, 2, 3]);
        assert!(sred.compare(9, &mut Draw(0.2)));
    }

    #[test]
    fn the_list_fills_up_before_any_hit() {
        let mut sred = Sred::new(&Params { zombies: 3, alpha: Some(0.5), ..Params::default() }, &PORT);
        for _ in 0..3 {
            sred.on_enqueue(Time::ZERO, &PACKET, &waiting(0), &mut Draw(0.5));
            assert_eq!(sred.hit_rate, 0.0);
        }
        sred.on_enqueue(Time::ZERO, &PACKET, &full(), &mut Draw(0.5));
        assert_eq!(sred.hit_rate, 0.5);
        sred.on_enqueue(Time::ZERO, &Packet { flow: 9, ..PACKET }, &full(), &mut Draw(0.5));
        assert_eq!(sred.hit_rate, 0.25);
    }

    #[test]
    fn ecn_marks_packets_that_can_be_marked() {
        let mut sred = Sred::new(&Params { ecn: true, ..Params::default() }, &PORT);
        let udp = Packet { ect: false, ..PACKET };
        for (packet, u, expected) in
            [(PACKET, 0.14, Verdict::Mark), (udp, 0.14, Verdict::Drop), (PACKET, 0.16, Verdict::Pass)]
        {
            assert_eq!(sred.on_enqueue(Time::ZERO, &packet, &waiting(100), &mut Draw(u)), expected);
        }
    }
}
