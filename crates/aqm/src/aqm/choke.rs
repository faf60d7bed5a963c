//! CHOKe: RED that compares each arrival with a random packet of the queue, and drops both if they are of one flow.
//!
//! ```text
//! avg <= min_th:  accept
//! else:           draw a packet that waits; if it is of the arrival's flow, drop both
//!                 else as RED
//! ```
//!
//! The more of the queue a flow holds, the more often its packets are drawn, and each match costs it two packets; no
//! state is kept per flow. `candidates` sets how many packets are drawn. With `regions`, the number follows the
//! average: the space between the thresholds is divided into that many regions, and 2 i packets are drawn in the i-th
//! from below; above max_th, the number of the last region.
//!
//! In a short queue, the packets that a flow sends back to back match each other, whatever its share: min_th should be
//! many times their number, which RED's automatic min_th is only on fast links.
//!
//! Decides at: enqueue, on packets that wait as well. Timer: none. Randomness: one draw per candidate for each arrival
//! with avg above min_th, until one matches; RED's. State: that of `red`, and the flow of every packet that waits,
//! which a router finds in the packets.
//!
//! # Departures from the source
//! Those of `red`, which is gentle by default; the paper's RED is not. Several candidates are drawn one after the
//! other and may be the same packet; only the first match is dropped, where the paper drops all. A match is a drop,
//! with ECN too, and does not change RED's count. Linux draws from an array in which matches leave holes: after three
//! holes it takes the head, which is therefore drawn a little more often than here.
//!
//! # Sources
//! Pan, Prabhakar, Psounis, "CHOKe: a stateless active queue management scheme for approximating fair bandwidth
//! allocation", INFOCOM 2000; Linux 7.2, sch_choke.c; iproute2, q_choke.c. Tested against the paper's algorithm over
//! ns-2's RED, and over Linux's.

use crate::aqm::red::{self, Red};
use crate::contract::{Aqm, Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::mirror::Mirror;
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Span, Time};

crate::params! {
    /// CHOKe's parameters.
    pub struct Params with red: red::Params {
        /// Number of packets drawn for an arrival.
        candidates: u32 = 1, "packets", Range::new(1.0, 1000.0), ["m"];
        /// Number of regions between the thresholds; in each, two packets more are drawn than in the one below. At 0,
        /// `candidates` applies.
        regions: u32 = 0, "", Range::new(0.0, 500.0), ["k"];
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Choke {
    red: Red,
    candidates: u32,
    regions: u32,
    waiting: Mirror<u64>,
    /// Arrivals that met a packet of their flow.
    matched: u64,
}

impl Choke {
    /// The number of packets to draw.
    #[inline]
    fn candidates(&self) -> u32 {
        if self.regions == 0 {
            return self.candidates;
        }
        let part = (self.red.avg - self.red.min_th) / (self.red.max_th - self.red.min_th);
        // Where the thresholds are equal, every average above them is in the last region.
        2 * ((part * f64::from(self.regions)) as u32).saturating_add(1).min(self.regions)
    }

    /// The position of the first candidate of this flow.
    #[inline]
    fn draw<R: Uniform>(&self, flow: u64, rng: &mut R) -> Option<usize> {
        let place = |_| (rng.uniform() * self.waiting.len() as f64) as usize;
        let candidates = if self.waiting.len() == 0 { 0 } else { self.candidates() };
        (0..candidates).map(place).find(|&place| *self.waiting.at(place) == flow)
    }
}

impl Aqm for Choke {
    type Params = Params;
    const SIGNALS: &'static [Signal] = Red::SIGNALS;
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        (
            "pan2000",
            "The paper's thresholds, 100 and 200 packets, for a buffer of 300, and a RED that is not gentle",
        ),
        (
            "linux",
            "sch_choke of Linux 7.2 as tc sets it: thresholds from the buffer, in packets; `avpkt` 1000",
        ),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let mut red = Red::new(&params.red, port);
        red.count_thresholds_as_below();
        Self {
            red,
            candidates: params.candidates,
            regions: params.regions,
            waiting: Mirror::new(port),
            matched: 0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let red = match name {
            "pan2000" => {
                red::Params { min_th: Some(100.0), max_th: Some(200.0), gentle: false, ..Default::default() }
            }
            "linux" => red::Params {
                bytes: false,
                by_size: None,
                mean_packet: Some(Bytes(1000)),
                ..Red::preset(name)?
            },
            _ => return None,
        };
        Some(Params { red, ..Params::default() })
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        Red::check(&params.red)
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        Red::check_on(&params.red, port)
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        while self.waiting.gone(queue.packets).is_some() {}
        self.red.estimate(now, queue);
        if self.red.avg > self.red.min_th
            && let Some(place) = self.draw(packet.flow, rng)
        {
            self.waiting.remove(place);
            self.matched += 1;
            return Verdict::DropBoth(place as u32);
        }
        let verdict = self.red.decide(packet, queue, rng);
        if verdict != Verdict::Drop && !queue.full {
            self.waiting.push(packet.flow);
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
        while self.waiting.gone(queue.packets).is_some() {}
        Verdict::Pass
    }

    fn on_idle(&mut self, now: Time) {
        self.red.on_idle(now);
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.red.can_resume(&before.red)
    }

    fn resume(&mut self, before: Self) {
        self.red.resume(before.red);
        self.waiting.resume(before.waiting);
        self.matched = before.matched;
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("matched", Reading::Count(self.matched));
        self.red.thresholds(1.0, visit);
    }

    fn signals(&self, visit: impl FnMut(usize, f64)) {
        self.red.signals(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, full, waiting};

    /// CHOKe whose average is always the queue, with packets of these flows in the queue.
    fn choke(flows: &[u64], params: Params) -> Choke {
        let red = red::Params { w_q: Some(1.0), min_th: Some(3.0), max_th: Some(11.0), ..params.red };
        let mut choke = Choke::new(&Params { red, ..params }, &PORT);
        flows.iter().for_each(|&flow| choke.waiting.push(flow));
        choke
    }

    /// The verdict on an arrival of flow 7.
    fn arrives(choke: &mut Choke, u: f64) -> Verdict {
        let queue = waiting(choke.waiting.len() as u32);
        choke.on_enqueue(Time::ZERO, &Packet { flow: 7, ..PACKET }, &queue, &mut Draw(u))
    }

    #[test]
    fn a_match_drops_both() {
        let mut choke = choke(&[1, 7, 2, 7], Params::default());
        // The draw is 0.3 of four: the second.
        assert_eq!(arrives(&mut choke, 0.3), Verdict::DropBoth(1));
        assert_eq!((choke.waiting.len(), choke.matched), (3, 1));
    }

    #[test]
    fn no_match_leaves_it_to_red() {
        let mut other = choke(&[7, 1, 7, 7], Params::default());
        assert_eq!(arrives(&mut other, 0.3), Verdict::Pass);
        assert_eq!((other.waiting.len(), *other.waiting.at(4)), (5, 7));
        // Far above max_th, RED certainly drops all packets but the first.
        let mut long = choke(&[1; 30], Params::default());
        assert_eq!([arrives(&mut long, 0.3), arrives(&mut long, 0.3)], [Verdict::Pass, Verdict::Drop]);
        assert_eq!(long.waiting.len(), 31);
    }

    #[test]
    fn nothing_is_drawn_up_to_min_th_or_for_a_full_buffer() {
        let mut short = choke(&[7; 3], Params::default());
        assert_eq!(arrives(&mut short, 0.3), Verdict::Pass);
        let mut choke = choke(&[7; 200], Params::default());
        assert_eq!(choke.on_enqueue(Time::ZERO, &PACKET, &full(), &mut Draw(0.3)), Verdict::Pass);
        assert_eq!(choke.waiting.len(), 200);
    }

    #[test]
    fn two_more_are_drawn_in_each_region() {
        let mut choke = choke(&[], Params { regions: 4, ..Params::default() });
        let drawn = [3.0, 4.9, 5.0, 7.0, 9.0, 11.0, 50.0].map(|avg| {
            choke.red.avg = avg;
            choke.candidates()
        });
        assert_eq!(drawn, [2, 2, 4, 6, 8, 8, 8]);
    }

    #[test]
    fn each_candidate_is_a_draw() {
        struct Row(f64);
        impl Uniform for Row {
            fn uniform(&mut self) -> f64 {
                self.0 += 0.2;
                self.0 - 0.2
            }
        }
        for (candidates, expected) in [(3, Verdict::Pass), (4, Verdict::DropBoth(3))] {
            let mut choke = choke(&[1, 2, 3, 7, 7], Params { candidates, ..Params::default() });
            let packet = Packet { flow: 7, ..PACKET };
            assert_eq!(choke.on_enqueue(Time::ZERO, &packet, &waiting(5), &mut Row(0.05)), expected);
        }
    }

    #[test]
    fn packets_that_left_are_forgotten_however_they_left() {
        let mut choke = choke(&[1, 2, 3], Params::default());
        choke.on_dequeue(Time::ZERO, &PACKET, &waiting(2), Span::ZERO, &mut Draw(0.5));
        assert_eq!((choke.waiting.len(), *choke.waiting.at(0)), (2, 2));
        choke.on_enqueue(Time::ZERO, &PACKET, &waiting(1), &mut Draw(0.5));
        assert_eq!((choke.waiting.len(), *choke.waiting.at(0)), (2, 3));
    }
}
