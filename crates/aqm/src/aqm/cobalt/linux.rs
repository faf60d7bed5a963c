//! COBALT in Linux's whole numbers (sch_cake.c of Linux 7.2): 1/sqrt(count) and BLUE's p in units of 2^-32.

use crate::contract::{Uniform, Verdict};
use crate::unit::{Span, Time};

/// The MTU of Ethernet, by which Linux scales its times.
pub(in crate::aqm) const MTU: u64 = 1514;
/// BLUE's increment, 1/256, and its decrement, 1/4096.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

/// The times of COBALT on a link (`cake_set_rate`).
#[derive(Clone, Copy, Debug)]
pub(in crate::aqm) struct Times {
    pub(in crate::aqm) target: Span,
    pub(in crate::aqm) interval: Span,
    /// The transmission time of an MTU; zero without a rate.
    pub(in crate::aqm) mtu: Span,
}

impl Times {
    /// For a link on which an MTU takes this time: the target is at least 1.5 MTUs, the interval at least two targets.
    pub(in crate::aqm) fn new(target: Span, interval: Span, mtu: Span) -> Self {
        let (least, mtu) = (target.nanos(), mtu.nanos());
        let target = least.max(3 * mtu / 2);
        let interval = (interval.nanos() + target - least).max(2 * target);
        Self { target: Span::ns(target), interval: Span::ns(interval), mtu: Span::ns(mtu) }
    }
}

/// The state of one queue (`cobalt_vars`).
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::aqm) struct Cobalt {
    count: u32,
    /// 1/sqrt(count); 0 before the first, so that a queue's first excursion is signalled at its next packet.
    root: u32,
    drop_next: Time,
    moved: Option<Time>,
    p: u32,
    dropping: bool,
}

/// One step of Newton's method towards 1/sqrt(count), in units of 2^-32 (`cobalt_newton_step`).
const fn newton(root: u32, count: u32) -> u32 {
    let square = ((root as u64 * root as u64) >> 32) as u32;
    let rest = (3_u64 << 32).wrapping_sub(count as u64 * square as u64) >> 2;
    (rest.wrapping_mul(root as u64) >> 31) as u32
}

/// The roots of small counts (`inv_sqrt_cache`).
const ROOTS: [u32; 16] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

impl Cobalt {
    fn step(&mut self) {
        self.root = ROOTS.get(self.count as usize).copied().unwrap_or_else(|| newton(self.root, self.count));
    }

    /// The time after `t` at the present pace (`cobalt_control`).
    fn control(&self, t: Time, times: &Times) -> Time {
        t + Span::ns(((u128::from(times.interval.nanos()) * u128::from(self.root)) >> 32) as u64)
    }

    fn advance(&mut self, times: &Times) {
        self.step();
        self.drop_next = self.control(self.drop_next, times);
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// Whether BLUE may move.
    fn is_free(&self, now: Time, times: &Times) -> bool {
        self.moved.is_none_or(|moved| now.since(moved) > times.target)
    }

    /// The queue has lost a packet because memory is full (`cobalt_queue_full`).
    pub(in crate::aqm) fn overflows(&mut self, now: Time, times: &Times) {
        if self.is_free(now, times) {
            self.p = self.p.saturating_add(UP);
            self.moved = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue is asked for a packet and has none (`cobalt_queue_empty`).
    pub(in crate::aqm) fn is_found_empty(&mut self, now: Time, times: &Times) {
        if self.p > 0 && self.is_free(now, times) {
            self.p = self.p.saturating_sub(DOWN);
            self.moved = Some(now);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.count -= 1;
            self.advance(times);
        }
    }

    /// The verdict on a packet (`cobalt_should_drop`); no sojourn time is too long that is not above `least`. The `last`
    /// packet of a queue is not dropped, although the state moves as if it were.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub(in crate::aqm) fn decide<R: Uniform>(
        &mut self,
        now: Time,
        sojourn: Span,
        ect: bool,
        least: Span,
        last: bool,
        times: &Times,
        rng: &mut R,
    ) -> Verdict {
        let due = self.is_due(now);
        let mut late = now > self.drop_next;
        let over = sojourn > times.target && sojourn > least && sojourn > times.mtu * 4;
        if over {
            if !self.dropping {
                self.drop_next = self.control(now, times);
            }
            self.count = self.count.max(1);
        }
        self.dropping = over;
        let mut verdict = Verdict::Pass;
        if due && over {
            verdict = Verdict::signal(ect);
            self.count = self.count.saturating_add(1);
            self.advance(times);
            late = now > self.drop_next;
        } else if due {
            while self.is_due(now) {
                self.count -= 1;
                self.advance(times);
                late = now > self.drop_next;
            }
        }
        let kept = if verdict == Verdict::Mark { verdict } else { Verdict::Pass };
        if verdict != Verdict::Drop && rng.happens(self.blue()) {
            verdict = Verdict::Drop;
        }
        if self.count == 0 {
            self.drop_next = now + times.interval;
        } else if late && verdict != Verdict::Drop {
            self.drop_next = now;
        }
        if last && verdict == Verdict::Drop { kept } else { verdict }
    }

    /// Whether all state has decayed, so that the queue may be forgotten.
    pub(in crate::aqm) fn is_at_rest(&self, now: Time) -> bool {
        self.p == 0 && self.count == 0 && now >= self.drop_next
    }

    /// BLUE's drop probability.
    pub(in crate::aqm) fn blue(&self) -> f64 {
        f64::from(self.p) / 4_294_967_296.0
    }

    pub(in crate::aqm) const fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Draw;

    const TIMES: Times = Times { target: Span::ms(5), interval: Span::ms(100), mtu: Span::us(100) };

    fn at(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    fn leaves(cobalt: &mut Cobalt, us: u64, ms: u64, ect: bool) -> Verdict {
        cobalt.decide(at(us), Span::ms(ms), ect, Span::ZERO, false, &TIMES, &mut Draw(0.5))
    }

    #[test]
    fn roots_are_those_of_the_counts() {
        for count in 1..16_u32 {
            let exact = 4_294_967_296.0 / f64::from(count).sqrt();
            assert!((f64::from(ROOTS[count as usize]) - exact).abs() < 2.0, "{count}");
        }
    }

    #[test]
    fn times_grow_on_slow_links() {
        let times = |us| {
            let times = Times::new(Span::ms(5), Span::ms(100), Span::us(us));
            [times.target, times.interval, times.mtu].map(Span::nanos)
        };
        assert_eq!(times(0), [5_000_000, 100_000_000, 0]);
        assert_eq!(times(12_112), [18_168_000, 113_168_000, 12_112_000]);
        assert_eq!(times(121_120), [181_680_000, 363_360_000, 121_120_000]);
    }

    #[test]
    fn the_first_excursion_is_signalled_at_its_next_packet() {
        let mut cobalt = Cobalt::default();
        assert_eq!(leaves(&mut cobalt, 10_000, 6, false), Verdict::Pass);
        assert_eq!(leaves(&mut cobalt, 10_800, 6, false), Verdict::Drop);
        // 100 ms / sqrt(2) after the one before.
        assert_eq!(leaves(&mut cobalt, 80_710, 6, true), Verdict::Pass);
        assert_eq!(leaves(&mut cobalt, 80_711, 6, true), Verdict::Mark);
    }

    #[test]
    fn overflows_move_blue_once_a_target_and_emptiness_moves_it_back() {
        let mut cobalt = Cobalt::default();
        for us in [1000, 2000, 6001] {
            cobalt.overflows(at(us), &TIMES);
        }
        assert_eq!((cobalt.p, cobalt.dropping, cobalt.count()), (2 * UP, true, 1));
        cobalt.is_found_empty(at(18_000), &TIMES);
        assert_eq!(cobalt.p, 2 * UP - DOWN);
        assert!(!cobalt.is_at_rest(at(18_000)));
    }

    #[test]
    fn blue_draws_only_for_what_codel_does_not_drop_and_drops_what_was_marked() {
        let mut cobalt = Cobalt { p: u32::MAX, ..Cobalt::default() };
        assert_eq!(leaves(&mut cobalt, 10_000, 6, true), Verdict::Drop);
        let mut lots = Draw(0.999_999_999_9);
        let verdict = cobalt.decide(at(20_000), Span::ms(6), true, Span::ZERO, false, &TIMES, &mut lots);
        assert_eq!(verdict, Verdict::Mark);
        // The last packet of a queue is only marked.
        let verdict = cobalt.decide(at(200_000), Span::ms(6), true, Span::ZERO, true, &TIMES, &mut Draw(0.0));
        assert_eq!(verdict, Verdict::Mark);
        let verdict =
            cobalt.decide(at(200_001), Span::ms(6), false, Span::ZERO, true, &TIMES, &mut Draw(0.0));
        assert_eq!(verdict, Verdict::Pass);
    }
}
