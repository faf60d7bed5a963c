//! COBALT: CoDel for senders that respond to drops and BLUE for those that do not, both deciding at dequeue.
//!
//! Its CoDel counts down as well as up. While the sojourn time is above `target`, a packet is dropped (marked) at each
//! `drop_next`, which moves as in `codel`, and count grows; while it is not, count falls at the same pace:
//!
//! ```text
//! drop_next <- drop_next + interval / sqrt(count),  count <- count + 1 or count - 1
//! ```
//!
//! The remaining count is the start for the next congestion. In addition a BLUE, whose freeze time is `target`, drops
//! every packet, ECN-capable or not, with probability p:
//!
//! ```text
//! p <- min(1, p + increment)    at an overflow, or a sojourn time above blue_threshold
//! p <- max(0, p - decrement)    when the link becomes idle
//! ```
//!
//! Decides at: dequeue. Timer: none. Randomness: one draw per departure while p is above 0. State: count, drop_next,
//! whether it is dropping; p, and the time of its last move.
//!
//! The form "linux" computes 1/sqrt(count) in 32 bits by Newton's method, starting from 0, so that the first excursion of a
//! queue is signalled at its next packet. Its target is at least 1.5 MTUs of 1514 bytes, its interval at least twice that and
//! as much above `interval`; four MTUs may always wait; and the last packet of a queue is never dropped.
//!
//! # Departures from the source
//! ns-3 computes 1/sqrt(count) by Newton's method, to about 16 bits; here it is exact. ns-3 has no lower bound of the
//! sojourn time on slow links (`least`), without which a link of 1 Mbit/s is idle for a third of the time; the preset "ns3"
//! has none. In Linux the rule for an idle link applies when a queue is found empty while others wait; a queue that is alone
//! keeps p and count through idle time. Here, as in ns-3, it applies once per idle period; `cake` has Linux's rule.
//! Linux's ingress mode is that of `cake`. ns-3's `UseL4s` is omitted.
//!
//! # Sources
//! Palmei, Gupta, Imputato, Morton, Tahiliani, Avallone, Taht, "Design and evaluation of COBALT queue discipline",
//! LANMAN 2019; ns-3, cobalt-queue-disc.cc; Linux 7.2, sch_cake.c. Tested against a transcription of each.

pub(super) mod linux;

use crate::aqm::blue::Steps;
use crate::aqm::codel::control_law;
use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::Range;
use crate::unit::{Span, Time};
use linux::Times;

crate::choice! {
    /// The source whose rules apply where sources differ.
    pub enum Form {
        /// The paper's and ns-3's.
        Ns3 = "ns3",
        /// Linux's.
        Linux = "linux",
    }
}

crate::params! {
    /// COBALT's parameters.
    pub struct Params {
        /// Sojourn time allowed to a standing queue; also the shortest time between two moves of p.
        target: Span = Span::ms(5), "s", Range::above(0.0, 1e4), ["Target"];
        /// How long the sojourn time may exceed `target`.
        interval: Span = Span::ms(100), "s", Range::above(0.0, 1e4), ["Interval"];
        /// Increment of p.
        increment: f64 = 1.0 / 256.0, "", Range::new(0.0, 1.0), ["Increment", "d1"];
        /// Decrement of p.
        decrement: f64 = 1.0 / 4096.0, "", Range::new(0.0, 1.0), ["Decrement", "d2"];
        /// Sojourn time above which p rises without an overflow (ns-3); if omitted, p rises at overflows only, as in
        /// Linux.
        blue_threshold: Option<Span> = Some(Span::ms(400)), "s", Range::new(0.0, 1e4), ["BlueThreshold"];
        /// A sojourn time is above `target` only if it also exceeds the transmission time of this many of the port's
        /// packets (Linux: 4; ns-3: 0).
        least: u32 = 4, "packets", Range::new(0.0, 1e6);
        /// Mark packets of ECN-capable transports where CoDel would drop them.
        ecn: bool = false, "", Range::ANY, ["UseEcn"];
        /// With `ecn`, mark ECN-capable packets with a sojourn time above this (ns-3); if omitted, none.
        ce_threshold: Option<Span> = None, "s", Range::new(0.0, 1e4), ["CeThreshold"];
        /// The source whose rules apply: `ns3`; `linux`, sch_cake.c, in which only `target`, `interval` and `ecn` have an
        /// effect.
        form: Form = Form::Ns3, "";
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Cobalt {
    target: Span,
    interval: Span,
    /// The shortest sojourn time that is too long, whatever the target.
    least: Span,
    blue_threshold: Option<Span>,
    ecn: bool,
    ce_threshold: Option<Span>,
    blue: Steps,
    count: u32,
    drop_next: Time,
    dropping: bool,
    sojourn: Span,
    /// Linux's rules, which replace the fields above.
    kernel: Option<Kernel>,
}

/// Linux's state and times.
#[derive(Clone, Copy, Debug)]
struct Kernel {
    state: linux::Cobalt,
    times: Times,
}

impl Cobalt {
    fn advance(&mut self) {
        self.drop_next = control_law(self.drop_next, self.interval, self.count);
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// CoDel's verdict on a packet that may, or may not, be marked; and whether drop_next was in the past.
    #[inline]
    fn codel(&mut self, now: Time, sojourn: Span, markable: bool) -> (Verdict, bool) {
        let due = self.is_due(now);
        let late = now > self.drop_next;
        let above = sojourn > self.target && sojourn > self.least;
        if above {
            if !self.dropping {
                self.drop_next = control_law(now, self.interval, self.count);
            }
            self.count = self.count.max(1);
        }
        self.dropping = above;
        if !due {
            return (Verdict::Pass, late);
        }
        if above {
            self.count = self.count.saturating_add(1);
            self.advance();
            return (Verdict::signal(markable), now > self.drop_next);
        }
        while self.is_due(now) {
            self.count -= 1;
            self.advance();
        }
        (Verdict::Pass, now > self.drop_next)
    }
}

impl Aqm for Cobalt {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "Drop probability of BLUE at the last event." },
        Signal { name: "count", unit: "drops", doc: "CoDel's count, which sets the pace of its drops." },
        Signal { name: "sojourn", unit: "s", doc: "Sojourn time of the last packet that left the queue." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("linux", "sch_cake of Linux 7.2: its rules, with ECN"),
        ("ns3", "ns-3's defaults: no floor on slow links"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let packet = port.rate.transmission(port.packet.0.min(65_535) as u32).nanos();
        Self {
            target: params.target,
            interval: params.interval,
            least: Span::ns(packet.saturating_mul(u64::from(params.least))),
            blue_threshold: params.blue_threshold,
            ecn: params.ecn,
            ce_threshold: params.ce_threshold.filter(|_| params.ecn),
            blue: Steps::new(params.increment, params.decrement, params.target, Some(Time::ZERO)),
            count: 0,
            drop_next: Time::ZERO,
            dropping: false,
            sojourn: Span::ZERO,
            kernel: (params.form == Form::Linux).then(|| Kernel {
                state: linux::Cobalt::default(),
                times: Times::new(
                    params.target,
                    params.interval,
                    Span::ns(linux::MTU * 8_000_000_000 / port.rate.whole_bits()),
                ),
            }),
        }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "linux" => Some(Params { form: Form::Linux, ecn: true, ..Params::default() }),
            "ns3" => Some(Params { least: 0, ..Params::default() }),
            _ => None,
        }
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, now: Time, _: &Packet, queue: &Backlog, _: &mut R) -> Verdict {
        if queue.full {
            self.on_overflow(now);
        }
        Verdict::Pass
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        self.sojourn = sojourn;
        let markable = self.ecn && packet.ect;
        if let Some(Kernel { state, times }) = &mut self.kernel {
            return state.decide(now, sojourn, markable, Span::ZERO, queue.packets == 0, times, rng);
        }
        let (mut verdict, late) = self.codel(now, sojourn, markable);
        if verdict == Verdict::Pass && markable && self.ce_threshold.is_some_and(|limit| sojourn > limit) {
            verdict = Verdict::Mark;
        }
        if self.blue_threshold.is_some_and(|threshold| sojourn > threshold) {
            self.blue.raise(now);
        }
        if rng.happens(self.blue.p) {
            verdict = Verdict::Drop;
        }
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if verdict != Verdict::Drop && late {
            self.drop_next = now;
        }
        verdict
    }

    fn on_overflow(&mut self, now: Time) {
        if let Some(Kernel { state, times }) = &mut self.kernel {
            return state.overflows(now, times);
        }
        self.blue.raise(now);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        if let Some(Kernel { state, times }) = &mut self.kernel {
            return state.is_found_empty(now, times);
        }
        if self.blue.p > 0.0 {
            self.blue.lower(now);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.count -= 1;
            self.advance();
        }
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.kernel.is_some() == before.kernel.is_some()
    }

    fn drops_late(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        self.blue.resume(&before.blue);
        (self.count, self.drop_next) = (before.count, before.drop_next);
        (self.dropping, self.sojourn) = (before.dropping, before.sojourn);
        if let (Some(kernel), Some(before)) = (&mut self.kernel, before.kernel) {
            kernel.state = before.state;
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let (p, count) = match &self.kernel {
            Some(kernel) => (kernel.state.blue(), kernel.state.count()),
            None => (self.blue.p, self.count),
        };
        visit(0, p);
        visit(1, f64::from(count));
        visit(2, self.sojourn.secs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};

    fn at(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    /// A packet leaves `us` microseconds after the start, having waited for `ms`.
    fn leaves(cobalt: &mut Cobalt, us: u64, ms: u64, u: f64) -> Verdict {
        cobalt.on_dequeue(at(us), &PACKET, &waiting(50), Span::ms(ms), &mut Draw(u))
    }

    #[test]
    fn count_goes_up_above_the_target_and_down_below_it() {
        let mut cobalt = Cobalt::new(&Params::default(), &PORT);
        assert_eq!(leaves(&mut cobalt, 0, 6, 0.5), Verdict::Pass);
        assert_eq!((cobalt.count, cobalt.drop_next), (1, at(100_000)));
        assert_eq!(leaves(&mut cobalt, 99_999, 6, 0.5), Verdict::Pass);
        assert_eq!(leaves(&mut cobalt, 100_000, 6, 0.5), Verdict::Drop);
        // 100 ms / sqrt(2), then / sqrt(3).
        assert_eq!((cobalt.count, cobalt.drop_next), (2, Time::from_nanos(170_710_678)));
        assert_eq!(leaves(&mut cobalt, 170_711, 6, 0.5), Verdict::Drop);
        assert_eq!((cobalt.count, cobalt.drop_next), (3, Time::from_nanos(228_445_705)));
        assert_eq!(leaves(&mut cobalt, 228_445, 5, 0.5), Verdict::Pass);
        assert_eq!((cobalt.count, cobalt.dropping), (3, false));
        assert_eq!(leaves(&mut cobalt, 228_446, 5, 0.5), Verdict::Pass);
        assert_eq!((cobalt.count, cobalt.drop_next), (2, Time::from_nanos(299_156_383)));
        // A long time later, the count is 0.
        assert_eq!(leaves(&mut cobalt, 900_000, 5, 0.5), Verdict::Pass);
        assert_eq!((cobalt.count, cobalt.drop_next), (0, at(1_000_000)));
    }

    #[test]
    fn overflow_moves_blue_and_makes_codel_drop_at_once() {
        let mut cobalt = Cobalt::new(&Params::default(), &PORT);
        // p rises at 6 and 12 ms; the other overflows are within 5 ms of the start or of the last move.
        for ms in [5, 6, 9, 11, 12] {
            cobalt.on_enqueue(at(1000 * ms), &PACKET, &full(), &mut Draw(0.5));
        }
        assert_close(cobalt.blue.p, 2.0 / 256.0);
        assert_eq!(leaves(&mut cobalt, 12_000, 6, 0.5), Verdict::Drop);
        assert_eq!(leaves(&mut cobalt, 12_000, 6, 0.5), Verdict::Pass);
        cobalt.on_idle(at(17_000));
        assert_close(cobalt.blue.p, 2.0 / 256.0);
        cobalt.on_idle(at(17_001));
        assert_close(cobalt.blue.p, 2.0 / 256.0 - 1.0 / 4096.0);
    }

    #[test]
    fn blue_drops_ecn_capable_packets_too() {
        let mut cobalt = Cobalt::new(&Params { ecn: true, ..Params::default() }, &PORT);
        cobalt.on_enqueue(at(6000), &PACKET, &full(), &mut Draw(0.5));
        assert_eq!(leaves(&mut cobalt, 6000, 6, 0.5), Verdict::Mark);
        assert_eq!(leaves(&mut cobalt, 6000, 6, 0.003), Verdict::Drop);
        assert_eq!(leaves(&mut cobalt, 6000, 6, 0.004), Verdict::Pass);
    }

    #[test]
    fn a_very_long_wait_moves_blue_in_ns3_only() {
        for (params, p) in
            [(Params::default(), 1.0 / 256.0), (Params { blue_threshold: None, ..Params::default() }, 0.0)]
        {
            let mut cobalt = Cobalt::new(&params, &PORT);
            leaves(&mut cobalt, 10_000, 400, 0.5);
            assert_eq!(cobalt.blue.p, 0.0);
            leaves(&mut cobalt, 10_000, 401, 0.5);
            assert_close(cobalt.blue.p, p);
        }
    }

    #[test]
    fn the_time_of_a_few_packets_is_never_too_long() {
        // 20 packets of 400 us: 8 ms.
        let mut cobalt = Cobalt::new(&Params { least: 20, ..Params::default() }, &PORT);
        leaves(&mut cobalt, 0, 8, 0.5);
        assert!(!cobalt.dropping);
        leaves(&mut cobalt, 0, 9, 0.5);
        assert!(cobalt.dropping);
    }

    #[test]
    fn an_idle_link_counts_down() {
        let mut cobalt = Cobalt::new(&Params::default(), &PORT);
        cobalt.count = 3;
        cobalt.drop_next = at(1_000_000);
        cobalt.on_idle(at(999_999));
        assert_eq!(cobalt.count, 3);
        cobalt.on_idle(at(1_000_000));
        assert_eq!((cobalt.count, cobalt.drop_next), (2, Time::from_nanos(1_070_710_678)));
    }
}
