//! BLUE: drops with a probability that overflow raises and an idle link lowers.
//!
//! ```text
//! p_m <- min(1, p_m + d1)    at an overflow (or an arrival that finds more than L packets)
//! p_m <- max(0, p_m - d2)    when the link becomes idle
//! ```
//!
//! p_m moves only if more than `freeze_time` has passed since its last move in either direction. Every arrival is
//! dropped (marked) with probability p_m. The length of the queue has no influence on p_m, except by `l`.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw per arrival. State: p_m, the time of its last move, whether
//! the link is idle.
//!
//! # Departures from the source
//! In the paper, an idle period lowers p_m once, however long it lasts, and the first packets afterwards are dropped
//! for a congestion that is long over. Here p_m falls once in each `freeze_time` of an idle period, computed at the
//! next arrival; `idle` selects the paper's rule. The paper leaves open whether both directions share the freeze time;
//! here they do. No random number is drawn for a packet that overflows the buffer.
//!
//! # Sources
//! Feng, Kandlur, Saha, Shin, "Blue: a new class of active queue management algorithms", U. Michigan
//! CSE-TR-387-99, 1999; the defaults are those of the survey of Koo et al. Tested against the pseudocode.

use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::params::Range;
use crate::unit::{Span, Time};

crate::choice! {
    /// The effect of an idle link on p_m.
    pub enum Idle {
        /// Lowers p_m once in each `freeze_time` of the idle period.
        Lasting = "lasting",
        /// Lowers p_m once, when the link becomes idle, as in the paper.
        Once = "once",
    }
}

crate::params! {
    /// BLUE's parameters.
    pub struct Params {
        /// Increment of p_m.
        d1: f64 = 0.02, "", Range::new(0.0, 1.0), ["increment", "delta1"];
        /// Decrement of p_m. It should be much smaller than `d1`: the buffer overflows only if p_m is too low, but the
        /// link becomes idle if p_m is too high or, after bursts of losses, if it is too low.
        d2: f64 = 0.002, "", Range::new(0.0, 1.0), ["decrement", "delta2"];
        /// Shortest time between two moves of p_m.
        freeze_time: Span = Span::ms(100), "s", Range::new(0.0, 1e6), ["freeze", "hold_time"];
        /// Queue above which p_m rises although there is room; if omitted, p_m rises at overflows only.
        l: Option<f64> = None, "packets", Range::new(0.0, 1e9), ["L"];
        /// The effect of an idle link on p_m: `lasting`, lowers it once in each `freeze_time` of the idle period;
        /// `once`, lowers it when the link becomes idle, as in the paper.
        idle: Idle = Idle::Lasting, "";
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "";
    }
}

/// A probability that moves by steps, at most one in each freeze time.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    pub(super) p: f64,
    up: f64,
    down: f64,
    freeze: Span,
    /// The time of the last move.
    moved: Option<Time>,
}

impl Steps {
    pub(super) const fn new(up: f64, down: f64, freeze: Span, moved: Option<Time>) -> Self {
        Self { p: 0.0, up, down, freeze, moved }
    }

    /// Takes over the probability and the time of its last move.
    pub(super) const fn resume(&mut self, before: &Self) {
        (self.p, self.moved) = (before.p, before.moved);
    }

    /// Whether the probability may move; if so, records the move.
    fn may(&mut self, now: Time) -> bool {
        let free = self.moved.is_none_or(|moved| now.since(moved) > self.freeze);
        if free {
            self.moved = Some(now);
        }
        free
    }

    #[inline]
    pub(super) fn raise(&mut self, now: Time) {
        if self.may(now) {
            self.p = (self.p + self.up).min(1.0);
        }
    }

    #[inline]
    pub(super) fn lower(&mut self, now: Time) {
        if self.may(now) {
            self.p = (self.p - self.down).max(0.0);
        }
    }

    /// Lowers the probability once for each freeze time that has passed until `now`.
    fn lower_since(&mut self, now: Time) {
        let Some(moved) = self.moved else { return };
        // Without a freeze time, a long idle period would be an endless number of steps.
        let steps = now.since(moved).nanos() / self.freeze.nanos().max(1);
        self.p = (self.p - self.down * steps as f64).max(0.0);
        self.moved = Some(moved + Span::ns(steps * self.freeze.nanos().max(1)));
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Blue {
    p_m: Steps,
    l: f64,
    lasting: bool,
    ecn: bool,
    is_idle: bool,
}

impl Aqm for Blue {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[Signal { name: "p", unit: "", doc: "Drop probability p_m at the last event." }];
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("feng1999", "The technical report's: one step down an idle period")];

    fn new(params: &Params, _: &Port) -> Self {
        Self {
            p_m: Steps::new(params.d1, params.d2, params.freeze_time, None),
            l: params.l.unwrap_or(f64::INFINITY),
            lasting: params.idle == Idle::Lasting,
            ecn: params.ecn,
            is_idle: false,
        }
    }

    fn fixed(params: &Params, _: &Port) -> Numbers {
        // No queue is longer than 2^32 packets.
        Numbers { values: vec![("l", params.l.unwrap_or(f64::from(u32::MAX)))], of: vec![] }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "feng1999" => Some(Params { idle: Idle::Once, ..Params::default() }),
            _ => None,
        }
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        if self.is_idle {
            self.p_m.lower_since(now);
            // A packet larger than the empty buffer leaves the link idle.
            self.is_idle = queue.full;
        }
        if queue.full || f64::from(queue.packets) > self.l {
            self.p_m.raise(now);
        }
        if queue.full || !rng.happens(self.p_m.p) {
            return Verdict::Pass;
        }
        Verdict::signal(self.ecn && packet.ect)
    }

    fn on_overflow(&mut self, now: Time) {
        self.p_m.raise(now);
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        self.p_m.lower(now);
        self.is_idle = self.lasting;
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        self.p_m.resume(&before.p_m);
        self.is_idle = before.is_idle && self.lasting;
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p_m.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    fn arrives(blue: &mut Blue, ms: u64, queue: &Backlog, u: f64) -> Verdict {
        blue.on_enqueue(at(ms), &PACKET, queue, &mut Draw(u))
    }

    #[test]
    fn overflow_raises_p_once_each_freeze_time() {
        let mut blue = Blue::new(&Params::default(), &PORT);
        let p: Vec<f64> = [0, 100, 101, 201, 250, 350]
            .into_iter()
            .map(|ms| {
                arrives(&mut blue, ms, &full(), 0.0);
                blue.p_m.p
            })
            .collect();
        assert_eq!(p, [0.02, 0.02, 0.04, 0.04, 0.06, 0.06]);
        assert_eq!(arrives(&mut blue, 351, &waiting(1), 0.0599), Verdict::Drop);
        assert_eq!(arrives(&mut blue, 351, &waiting(1), 0.0601), Verdict::Pass);
    }

    #[test]
    fn an_idle_link_lowers_p_and_shares_the_freeze_time() {
        let mut blue = Blue::new(&Params { idle: Idle::Once, ..Params::default() }, &PORT);
        arrives(&mut blue, 0, &full(), 0.5);
        blue.on_idle(at(100));
        assert_close(blue.p_m.p, 0.02);
        blue.on_idle(at(101));
        assert_close(blue.p_m.p, 0.018);
        arrives(&mut blue, 201, &full(), 0.5);
        assert_close(blue.p_m.p, 0.018);
        // Ten seconds later it has not changed.
        arrives(&mut blue, 10_000, &waiting(0), 0.5);
        assert_close(blue.p_m.p, 0.018);
    }

    #[test]
    fn a_lasting_idleness_lowers_p_once_each_freeze_time() {
        let mut blue = Blue::new(&Params::default(), &PORT);
        arrives(&mut blue, 0, &full(), 0.5);
        blue.on_idle(at(150));
        assert_close(blue.p_m.p, 0.018);
        arrives(&mut blue, 449, &waiting(0), 0.5);
        assert_close(blue.p_m.p, 0.014);
        // The link is now busy.
        arrives(&mut blue, 5_000, &waiting(1), 0.5);
        assert_close(blue.p_m.p, 0.014);
        blue.on_idle(at(5_000));
        arrives(&mut blue, 60_000, &waiting(0), 0.5);
        assert_eq!(blue.p_m.p, 0.0);
    }

    #[test]
    fn a_queue_longer_than_l_raises_p() {
        let mut blue = Blue::new(&Params { l: Some(20.0), ..Params::default() }, &PORT);
        arrives(&mut blue, 0, &waiting(20), 0.5);
        assert_eq!(blue.p_m.p, 0.0);
        arrives(&mut blue, 0, &waiting(21), 0.5);
        assert_eq!(blue.p_m.p, 0.02);
    }

    #[test]
    fn without_a_freeze_time_every_instant_counts() {
        let mut blue = Blue::new(&Params { freeze_time: Span::ZERO, ..Params::default() }, &PORT);
        for ms in 0..80 {
            arrives(&mut blue, ms, &full(), 0.5);
        }
        assert_eq!(blue.p_m.p, 1.0);
        blue.on_idle(at(80));
        assert_close(blue.p_m.p, 0.998);
        arrives(&mut blue, 81, &waiting(0), 0.5);
        assert_eq!(blue.p_m.p, 0.0);
    }

    #[test]
    fn ecn_marks_packets_that_can_be_marked() {
        let mut blue = Blue::new(&Params { ecn: true, ..Params::default() }, &PORT);
        arrives(&mut blue, 0, &full(), 0.5);
        assert_eq!(arrives(&mut blue, 0, &waiting(1), 0.0), Verdict::Mark);
        let udp = Packet { ect: false, ..PACKET };
        assert_eq!(blue.on_enqueue(at(0), &udp, &waiting(1), &mut Draw(0.0)), Verdict::Drop);
    }
}
