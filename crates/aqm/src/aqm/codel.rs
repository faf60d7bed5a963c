//! CoDel: drops at dequeue, ever more often, while the delay of the standing queue stays above `target`.
//!
//! The sojourn time is checked as packets leave. Dropping begins when it has been at least `target` for an `interval`,
//! with more than one MTU waiting behind each packet, and continues at
//!
//! ```text
//! drop_next <- drop_next + interval / sqrt(count)                         (RFC 8289, 3.3 and 5.5)
//! ```
//!
//! with count the drops since it began, until one packet's sojourn time is below `target`. If dropping ended less than
//! 16 intervals ago, it begins again at the count that it had gained:
//!
//! ```text
//! count <- count - lastcount if that is above 1, else 1; lastcount <- count          (5.5)
//! ```
//!
//! `form` selects one of the sources, which differ:
//!
//! ```text
//!             "rfc8289"     "linux"       "ns3"         "ns2"
//! begins      at interval   after it      after it      at interval
//! exempts     <= MTU        <= MTU        < MTU         <= largest packet so far
//! 1/sqrt      exact         Newton step   Newton step   exact
//! a mark      drop_next     drop_next     now           no ECN (drop_next)
//!  moves from
//! count again count - lastcount, in all three           count - 1
//! ```
//!
//! Linux takes no root at each drop, but one Newton step towards 1/sqrt(count) from the last value, in 16 bits. At
//! count = 2 that gives 1/2, not 0.71: the second gap is half an interval, the third is 0.56 of one, and later gaps
//! are close to the exact ones.
//!
//! Inside `fq`, Linux also counts the packets that the queue loses to a full buffer. With ECN, a mark counts as a drop.
//! `ce_threshold`, which is Linux's, also marks packets with a longer sojourn time.
//!
//! Decides at: dequeue. Timer: none. Randomness: none. State: count, lastcount, drop_next, when dropping may begin,
//! whether it has.
//!
//! # Departures from the source
//! Times are whole nanoseconds; in Linux and ns-3, units of 1024 ns. The MTU, if omitted, is the port's packet.
//! `ce_threshold` marks in the form "ns3" only with `ecn`, as ns-3 does; its `UseL4s`, which in addition exempts packets with
//! ECT(1) from CoDel, is omitted. A packet with CE counts as ECT(1).
//!
//! # Sources
//! Nichols, Jacobson, McGregor, Iyengar, RFC 8289, 2018; Linux, codel_impl.h; ns-3, codel-queue-disc.cc; ns-2.35,
//! codel.cc. Each form is tested against a transcription of its source's loop, verdict for verdict.

use crate::contract::{Aqm, Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::float::{round, sqrt};
use crate::params::Range;
use crate::unit::{Bytes, Span, Time};

crate::choice! {
    /// The source whose rules apply where sources differ.
    pub enum Form {
        /// The pseudocode of RFC 8289.
        Rfc = "rfc8289",
        /// Linux's.
        Linux = "linux",
        /// ns-3's.
        Ns3 = "ns3",
        /// ns-2.35's.
        Ns2 = "ns2",
    }
}

crate::choice! {
    /// Which packets a threshold marks.
    pub enum MarkedEarly {
        /// All that are ECN-capable.
        All = "all",
        /// Those with ECT(1).
        L4s = "l4s",
    }
}

crate::params! {
    /// CoDel's parameters.
    pub struct Params {
        /// Sojourn time allowed to a standing queue.
        target: Span = Span::ms(5), "s", Range::above(0.0, 1e4), ["target_", "Target"];
        /// How long the sojourn time may exceed `target`; of the order of the longest round-trip time.
        interval: Span = Span::ms(100), "s", Range::above(0.0, 1e4), ["interval_", "Interval"];
        /// Packets are dropped only while more than this waits behind them. If omitted, the port's packet; in the form
        /// `linux`, the device's MTU; in the form `ns2`, the largest packet so far, and at least 256 bytes.
        mtu: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9), ["maxpacket", "MinBytes"];
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "", Range::ANY, ["UseEcn"];
        /// Mark ECN-capable packets with a sojourn time above this, with or without `ecn`; if omitted, none.
        ce_threshold: Option<Span> = None, "s", Range::new(0.0, 1e4), ["CeThreshold"];
        /// Which packets `ce_threshold` marks: `all` that are ECN-capable; `l4s`, those with ECT(1) alone (Linux's
        /// ce_threshold_selector).
        ce_threshold_for: MarkedEarly = MarkedEarly::All, "";
        /// The source whose rules apply where sources differ.
        form: Form = Form::Rfc, "";
    }
}

/// The time of the signal after the `count`-th, which was at `t`.
#[inline]
pub(super) fn control_law(t: Time, interval: Span, count: u32) -> Time {
    t + Span::ns(round(interval.nanos() as f64 / sqrt(f64::from(count.max(1)))) as u64)
}

/// 1/sqrt(count) in units of 2^-16, as Linux computes it.
#[derive(Clone, Copy, Debug)]
struct Reciprocal(u16);

impl Reciprocal {
    /// The value for a count of 1.
    const ONE: Self = Self(u16::MAX);

    /// One step of Newton's method towards 1/sqrt(count): x (3 - count x^2) / 2.
    #[inline]
    fn step(self, count: u32) -> Self {
        let x = u64::from(self.0) << 16;
        let square = (x * x) >> 32;
        // Two bits are kept free, so that the product fits.
        let rest = (3_u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square)) >> 2;
        Self((rest.wrapping_mul(x) >> 31 >> 16) as u16)
    }

    #[inline]
    fn times(self, interval: Span) -> Span {
        Span::ns(((u128::from(interval.nanos()) * u128::from(self.0)) >> 16) as u64)
    }
}

/// What became of the packet before this one at the same instant. The sources drop and send in one loop, of which each call
/// here is one turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Previous {
    /// It was sent, or there was none.
    Sent,
    /// It was dropped, and dropping began with it.
    FirstDrop,
    /// It was dropped while dropping went on.
    Dropped,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    /// Zero for the largest packet so far.
    mtu: u64,
    largest: u64,
    ecn: bool,
    ce_threshold: Option<Span>,
    /// Whether the threshold is for packets with ECT(1) alone.
    l4s_only: bool,
    form: Form,
    /// When dropping may begin, while the sojourn time is above target.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    reciprocal: Reciprocal,
    previous: Previous,
    sojourn: Span,
    /// Marks of `ce_threshold`.
    late: u64,
}

impl Codel {
    const fn is_newton(&self) -> bool {
        matches!(self.form, Form::Linux | Form::Ns3)
    }

    #[inline]
    fn control_law(&self, t: Time) -> Time {
        if self.is_newton() {
            t + self.reciprocal.times(self.interval)
        } else {
            control_law(t, self.interval, self.count)
        }
    }

    /// Whether the delay has been too long for an interval (RFC 8289, 5.6).
    #[inline]
    fn ok_to_drop(&mut self, now: Time, packet: &Packet, queue: &Backlog, sojourn: Span) -> bool {
        self.sojourn = sojourn;
        self.largest = self.largest.max(u64::from(packet.size));
        let mtu = if self.mtu == 0 { self.largest } else { self.mtu };
        let exempt = if self.form == Form::Ns3 { queue.bytes < mtu } else { queue.bytes <= mtu };
        if sojourn < self.target || exempt {
            // Went below, or so little waits that a drop would leave the link idle: the interval starts again.
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                // Just went above from below: dropping may begin if the delay stays above for an interval.
                self.first_above = Some(now + self.interval);
                false
            }
            Some(due) if self.is_newton() => now > due,
            Some(due) => now >= due,
        }
    }

    /// Begins dropping, at the last rate if dropping ended recently.
    #[inline]
    fn enter(&mut self, now: Time) {
        self.dropping = true;
        // If dropping ended recently, the rate that controlled the queue then is a good starting point.
        let recent = now.since(self.drop_next) < self.interval * 16;
        let gained = match self.form {
            Form::Ns2 => self.count.saturating_sub(1),
            _ => self.count.wrapping_sub(self.lastcount),
        };
        let again = recent && if self.form == Form::Ns2 { gained > 0 } else { gained > 1 };
        self.count = if again { gained } else { 1 };
        self.reciprocal = if again { self.reciprocal.step(self.count) } else { Reciprocal::ONE };
        self.lastcount = self.count;
        self.drop_next = self.control_law(now);
    }

    /// The verdict on a packet that is, or is not, `ok` to drop.
    #[inline]
    fn decide(&mut self, now: Time, ok: bool, markable: bool) -> Verdict {
        match core::mem::replace(&mut self.previous, Previous::Sent) {
            // The loop that begins dropping drops one packet and sends the next, however long that has waited.
            Previous::FirstDrop => return Verdict::Pass,
            // Counted from when the last drop was due, so that late departures do not slow the dropping down.
            Previous::Dropped if ok => self.drop_next = self.control_law(self.drop_next),
            Previous::Sent if ok && !self.dropping => {
                self.enter(now);
                if !markable {
                    self.previous = Previous::FirstDrop;
                }
                return Verdict::signal(markable);
            }
            _ => {}
        }
        // One packet below target ends the dropping.
        self.dropping &= ok;
        if !self.dropping || now < self.drop_next {
            return Verdict::Pass;
        }
        self.count = self.count.saturating_add(1);
        self.reciprocal = self.reciprocal.step(self.count);
        if markable {
            // A marked packet is sent, so there is no further turn in which the next time could be set.
            self.drop_next = self.control_law(if self.form == Form::Ns3 { now } else { self.drop_next });
        } else {
            self.previous = Previous::Dropped;
        }
        Verdict::signal(markable)
    }
}

impl Aqm for Codel {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "count",
            unit: "drops",
            doc: "Drops since dropping began, which set the time of the next.",
        },
        Signal { name: "sojourn", unit: "s", doc: "Sojourn time of the last packet that left the queue." },
        Signal { name: "dropping", unit: "", doc: "1 while in the dropping state, else 0." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("linux", "Linux's rules as of 7.2"),
        ("ns3", "ns-3's rules and defaults"),
        ("ns2.35", "ns-2.35's rules and defaults"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let mtu = match (params.mtu, params.form) {
            (Some(mtu), _) => mtu.0,
            (None, Form::Ns2) => 0,
            (None, Form::Linux) => port.mtu().0,
            (None, _) => port.packet.0.max(1),
        };
        Self {
            target: params.target,
            interval: params.interval,
            mtu,
            largest: 256,
            ecn: params.ecn,
            ce_threshold: params.ce_threshold.filter(|_| params.ecn || params.form != Form::Ns3),
            l4s_only: params.ce_threshold_for == MarkedEarly::L4s,
            form: params.form,
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            lastcount: 0,
            reciprocal: Reciprocal::ONE,
            previous: Previous::Sent,
            sojourn: Span::ZERO,
            late: 0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let params = Params::default();
        match name {
            "linux" => Some(Params { form: Form::Linux, ..params }),
            "ns3" => Some(Params { form: Form::Ns3, mtu: Some(Bytes(1500)), ..params }),
            "ns2.35" => Some(Params { form: Form::Ns2, ..params }),
            _ => None,
        }
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, _: &Packet, _: &Backlog, _: &mut R) -> Verdict {
        Verdict::Pass
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        sojourn: Span,
        _: &mut R,
    ) -> Verdict {
        let ok = self.ok_to_drop(now, packet, queue, sojourn);
        let verdict = self.decide(now, ok, self.ecn && packet.ect);
        let marked_early = packet.ect && (packet.l4s || !self.l4s_only);
        let late = marked_early && self.ce_threshold.is_some_and(|threshold| sojourn > threshold);
        if verdict == Verdict::Pass && late {
            self.late += 1;
            return Verdict::Mark;
        }
        verdict
    }

    fn on_overflow(&mut self, _: Time) {
        // fq_codel's: a drop by a full buffer is a signal too.
        if self.form == Form::Linux {
            self.count = self.count.saturating_add(1);
        }
    }

    #[inline]
    fn on_idle(&mut self, _: Time) {
        self.first_above = None;
        self.dropping = false;
        self.previous = Previous::Sent;
    }

    fn drops_late(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        (self.largest, self.first_above, self.dropping) =
            (before.largest, before.first_above, before.dropping);
        (self.drop_next, self.count, self.lastcount) = (before.drop_next, before.count, before.lastcount);
        (self.reciprocal, self.previous, self.sojourn) = (before.reciprocal, before.previous, before.sojourn);
        self.late = before.late;
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("count", Reading::Level(self.count.into()));
        visit("lastcount", Reading::Level(self.lastcount.into()));
        visit("ldelay", Reading::Level((self.sojourn.nanos() / 1000) as f64));
        visit("dropping", Reading::Level(f64::from(u8::from(self.dropping))));
        visit("maxpacket", Reading::Level(self.largest as f64));
        visit("ce_mark", Reading::Count(self.late));
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, f64::from(self.count));
        visit(1, self.sojourn.secs());
        visit(2, f64::from(u8::from(self.dropping)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, waiting};

    fn at(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    /// A packet leaves `us` microseconds after the start, having waited for `ms`, with `behind` packets behind it.
    fn leaves(codel: &mut Codel, us: u64, ms: u64, behind: u32) -> Verdict {
        codel.on_dequeue(at(us), &PACKET, &waiting(behind), Span::ms(ms), &mut Draw(0.5))
    }

    /// The times in microseconds at which packets are dropped in the first second, if all have waited for too long and
    /// one leaves every 100 us.
    fn drops(params: &Params) -> Vec<u64> {
        let mut codel = Codel::new(params, &PORT);
        let mut found = vec![];
        for us in (0..1_000_000).step_by(100) {
            while leaves(&mut codel, us, 20, 50) == Verdict::Drop {
                found.push(us);
            }
        }
        found
    }

    #[test]
    fn drops_come_at_an_interval_over_the_root_of_their_count() {
        // 100 ms above the target, then gaps of 100 ms / sqrt(n) from 100 ms: 100, 70.711, 57.735, 50, 44.721, 40.825.
        let expected = [100_000, 200_000, 270_800, 328_500, 378_500, 423_200, 464_000];
        assert_eq!(drops(&Params::default())[..7], expected);
    }

    #[test]
    fn linux_begins_later_and_halves_the_second_gap() {
        // Newton's steps from 1: at 2, (3 - 2) / 2 = 0.5; at 3, 0.5 (3 - 0.75) / 2 = 0.5625; at 4, 0.489.
        let expected = [100_100, 200_100, 250_100, 306_400];
        assert_eq!(drops(&Params { form: Form::Linux, ..Params::default() })[..4], expected);
    }

    #[test]
    fn newtons_step_is_that_of_linux() {
        let x = Reciprocal::ONE.step(2);
        assert!((f64::from(x.0) / 65_536.0 - 0.5).abs() < 1e-3, "{x:?}");
        let y = x.step(3);
        assert!((f64::from(y.0) / 65_536.0 - 0.5625).abs() < 1e-3, "{y:?}");
        let mut z = y;
        (4..10_000).for_each(|count| z = z.step(count));
        assert!((f64::from(z.0) / 65_536.0 - 0.01).abs() < 1e-4, "{z:?}");
    }

    #[test]
    fn a_mark_is_a_drop_that_is_not_repeated() {
        let mut codel = Codel::new(&Params { ecn: true, ..Params::default() }, &PORT);
        let marks: Vec<u64> =
            (0..4000).filter(|ms| leaves(&mut codel, ms * 100, 20, 50) == Verdict::Mark).collect();
        assert_eq!(marks, [1000, 2000, 2708, 3285, 3785]);
        assert_eq!(codel.count, 5);
    }

    #[test]
    fn one_short_wait_ends_it() {
        let mut codel = Codel::new(&Params::default(), &PORT);
        assert_eq!(leaves(&mut codel, 0, 5, 50), Verdict::Pass);
        assert_eq!(leaves(&mut codel, 50_000, 4, 50), Verdict::Pass);
        assert_eq!(leaves(&mut codel, 60_000, 5, 50), Verdict::Pass);
        assert_eq!(leaves(&mut codel, 159_999, 5, 50), Verdict::Pass);
        assert_eq!(leaves(&mut codel, 160_000, 5, 50), Verdict::Drop);
        // The next packet at the same instant passes, whatever its sojourn time.
        assert_eq!(leaves(&mut codel, 160_000, 9, 49), Verdict::Pass);
        assert!(codel.dropping);
        assert_eq!(leaves(&mut codel, 170_000, 4, 49), Verdict::Pass);
        assert!(!codel.dropping);
    }

    #[test]
    fn an_mtu_behind_it_saves_a_packet() {
        for (form, exempt) in [(Form::Rfc, 3), (Form::Linux, 3), (Form::Ns3, 2), (Form::Ns2, 3)] {
            let params = Params { form, mtu: Some(Bytes(1500)), ..Params::default() };
            let mut codel = Codel::new(&params, &PORT);
            for behind in [exempt, exempt + 1] {
                leaves(&mut codel, 0, 50, behind);
                let verdict = leaves(&mut codel, 150_000, 50, behind);
                assert_eq!(verdict == Verdict::Drop, behind > exempt, "{form:?} {behind}");
            }
        }
    }

    /// CoDel that has dropped 9 times, and had no reason to drop until `pause` after the next drop was due.
    fn again(form: Form, pause: Span) -> u32 {
        let mut codel = Codel::new(&Params { form, ..Params::default() }, &PORT);
        codel.count = 9;
        codel.lastcount = 4;
        codel.drop_next = at(1_000_000);
        codel.enter(at(1_000_000) + pause);
        assert_eq!(codel.lastcount, codel.count);
        codel.count
    }

    #[test]
    fn it_remembers_the_count_for_16_intervals() {
        assert_eq!(again(Form::Rfc, Span::ms(1599)), 5);
        assert_eq!(again(Form::Rfc, Span::ms(1600)), 1);
        assert_eq!(again(Form::Ns2, Span::ms(1599)), 8);
    }

    #[test]
    fn the_ce_threshold_marks_with_or_without_ecn_but_not_in_ns3() {
        for (form, expected) in [(Form::Linux, Verdict::Mark), (Form::Ns3, Verdict::Pass)] {
            let params = Params { ce_threshold: Some(Span::ms(1)), form, ..Params::default() };
            let mut codel = Codel::new(&params, &PORT);
            assert_eq!(leaves(&mut codel, 0, 1, 0), Verdict::Pass);
            assert_eq!(leaves(&mut codel, 0, 2, 0), expected);
            let udp = Packet { ect: false, ..PACKET };
            let verdict = codel.on_dequeue(at(0), &udp, &waiting(0), Span::ms(2), &mut Draw(0.5));
            assert_eq!(verdict, Verdict::Pass);
        }
    }

    #[test]
    fn a_threshold_may_be_for_l4s_alone() {
        let params = Params {
            ce_threshold: Some(Span::ms(1)),
            ce_threshold_for: MarkedEarly::L4s,
            ..Params::default()
        };
        let mut codel = Codel::new(&params, &PORT);
        let mut verdict = |packet| codel.on_dequeue(at(0), &packet, &waiting(9), Span::ms(2), &mut Draw(0.5));
        assert_eq!(verdict(Packet { l4s: true, ..PACKET }), Verdict::Mark);
        assert_eq!(verdict(PACKET), Verdict::Pass);
    }
}
