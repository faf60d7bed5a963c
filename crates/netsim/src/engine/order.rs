//! The order of all steps of a run, whether a step is an event or was computed before its time.
//!
//! A step is an arrival, the end of a transmission, a timer. Its place in the order, its [`Key`], is computed from that
//! of the step which caused it and from how long it has been under way since. On the double clock it is computed from
//! nothing else, so it does not depend on when the engine learns of the step.
//!
//! | steps at one time come in the order of | integer clock | double clock |
//! |---|---|---|
//! | first | an algorithm's period, then a transmitter that is free | |
//! | then | how long they have been under way, the longest first: 34 bits | the same, in 29 bits of floating point |
//! | then | their causes, of causes at the present: 10 bits | how long their causes had been under way: 14 bits |
//! | then | the slot | timers before slots, then the slot |
//!
//! ns-2 handles what happens at one time in the order in which it was scheduled, which is the order of the causes, which
//! is the order of their causes. The double clock keeps two levels of this; between the end of a transmission on a plain
//! link and a packet that comes there, which no event orders, it keeps one ([`Order::precedes`]). On the integer clock
//! ties are frequent, and an event knows the number of its cause among those of the present; a step computed ahead does
//! not. There a packet counts as under way since a host or a queue with an AQM sent it, over however many plain links.

use super::clock::{Clock, ClockArithmetic, Double, Instant, Integer, Lapse};
use aqm::unit::Time;
use std::fmt::Debug;

/// The place of a step in the order: its time, then its rank among those of that time. The lowest bits are left for the
/// slot that it is put in.
pub(crate) type Key = u128;

/// Later than every step.
pub(crate) const NEVER: Key = Key::MAX;

pub(super) const SLOT_BITS: u32 = 20;

/// Set in the key of a step in a slot, on the double clock.
const SLOTTED: Key = 1 << SLOT_BITS;
const CAUSE_SHIFT: u32 = SLOT_BITS + 1;
const CAUSE_BITS: u32 = 14;
const SENIORITY_SHIFT: u32 = CAUSE_SHIFT + CAUSE_BITS;
const LONGEST: u32 = (1 << (64 - SENIORITY_SHIFT)) - 1;
/// The bits of 2^-44 s in single precision: a shorter step counts as none.
const SHORTEST: u32 = (127 - 44) << 23;

/// A key with this rank.
pub(super) const fn key(at: Instant, rank: u64) -> Key {
    (at.0 as Key) << 64 | (rank << SLOT_BITS) as Key
}

/// The point of a key.
pub(crate) const fn instant(key: Key) -> Instant {
    Instant((key >> 64) as u64)
}

/// How long a step is under way, for its rank: the least number for the longest. The integer clock needs none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Seniority(u32);

/// The order of a clock that is known when the program is compiled.
pub(crate) trait Order: ClockArithmetic + Debug {
    /// The same clock as a value.
    const CLOCK: Clock;
    /// As much of a step's place in the order as the steps that it causes depend on.
    type Moment: Copy + Debug;

    /// The moment of the step with this key.
    fn moment(self, key: Key) -> Self::Moment;
    /// The point of a moment.
    fn at(self, moment: Self::Moment) -> Instant;
    /// A key with this moment.
    fn key(self, moment: Self::Moment) -> Key;
    /// A key after those of all steps of a link that precede a packet which comes there at this moment.
    fn limit(self, coming: Self::Moment) -> Key;
    /// The seniority of a step that is under way for `lapse`.
    fn seniority(self, lapse: Lapse) -> Seniority;
    /// The moment of a step at `at` which `cause` causes.
    fn effect(self, cause: Self::Moment, seniority: Seniority, at: Instant) -> Self::Moment;
    /// Whether the end, at `sent`, of a transmission with this seniority precedes what comes at a moment.
    fn precedes(self, sent: Instant, seniority: Seniority, coming: Self::Moment) -> bool;
    /// The key of an algorithm's next period, which `cause` starts.
    fn period_key(self, cause: Self::Moment, seniority: Seniority, at: Instant) -> Key;
    /// The key of the end of a transmission, after which a transmitter is free.
    fn free_key(self, start: Self::Moment, seniority: Seniority, sent: Instant) -> Key;
    /// The key of the end of the warm-up at a queue: that of the first timer which a run sets.
    fn warmup_key(self, at: Time) -> Key;
}

impl Order for Integer {
    const CLOCK: Clock = Clock::Integer;
    type Moment = Instant;

    #[inline]
    fn moment(self, key: Key) -> Instant {
        instant(key)
    }

    #[inline]
    fn at(self, moment: Instant) -> Instant {
        moment
    }

    #[inline]
    fn key(self, moment: Instant) -> Key {
        key(moment, 0)
    }

    #[inline]
    fn limit(self, coming: Instant) -> Key {
        key(coming, 0) | Key::from(u64::MAX)
    }

    #[inline]
    fn seniority(self, _: Lapse) -> Seniority {
        Seniority::default()
    }

    #[inline]
    fn effect(self, _: Instant, _: Seniority, at: Instant) -> Instant {
        at
    }

    #[inline]
    fn precedes(self, sent: Instant, _: Seniority, coming: Instant) -> bool {
        sent <= coming
    }

    #[inline]
    fn period_key(self, _: Instant, _: Seniority, at: Instant) -> Key {
        key(at, 0)
    }

    #[inline]
    fn free_key(self, _: Instant, _: Seniority, sent: Instant) -> Key {
        key(sent, 1)
    }

    fn warmup_key(self, at: Time) -> Key {
        key(self.instant(at), 2)
    }
}

impl Order for Double {
    const CLOCK: Clock = Clock::Double;
    /// A key without the bits for the slot.
    type Moment = Key;

    #[inline]
    fn moment(self, key: Key) -> Key {
        key & !((SLOTTED << 1) - 1)
    }

    #[inline]
    fn at(self, moment: Key) -> Instant {
        instant(moment)
    }

    #[inline]
    fn key(self, moment: Key) -> Key {
        moment
    }

    #[inline]
    fn limit(self, coming: Key) -> Key {
        // Of the same rank, the end of the warm-up, a timer, comes before it, and what is in a slot of the link after it.
        coming | 1
    }

    #[inline]
    fn seniority(self, lapse: Lapse) -> Seniority {
        let bits = (lapse.secs() as f32).to_bits();
        Seniority(LONGEST - bits.saturating_sub(SHORTEST).min(LONGEST))
    }

    #[inline]
    fn effect(self, cause: Key, seniority: Seniority, at: Instant) -> Key {
        let before = (cause as u64) >> (64 - CAUSE_BITS);
        let rank = u64::from(seniority.0) << SENIORITY_SHIFT | before << CAUSE_SHIFT;
        (at.0 as Key) << 64 | Key::from(rank)
    }

    #[inline]
    fn precedes(self, sent: Instant, seniority: Seniority, coming: Key) -> bool {
        let at = instant(coming);
        sent < at || sent == at && u64::from(seniority.0) < (coming as u64) >> SENIORITY_SHIFT
    }

    #[inline]
    fn period_key(self, cause: Key, seniority: Seniority, at: Instant) -> Key {
        self.effect(cause, seniority, at) | SLOTTED
    }

    #[inline]
    fn free_key(self, start: Key, seniority: Seniority, sent: Instant) -> Key {
        self.effect(start, seniority, sent) | SLOTTED
    }

    fn warmup_key(self, at: Time) -> Key {
        let lapse = self.lapse(at.since(Time::ZERO));
        self.effect(self.moment(0), self.seniority(lapse), self.instant(at))
    }
}

impl Double {
    /// The key of a packet's arrival at a link's other end.
    #[inline]
    pub(super) fn arrival_key(self, start: Key, seniority: Seniority, at: Instant) -> Key {
        self.effect(start, seniority, at) | SLOTTED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Span;
    use proptest::prelude::*;

    fn step(cause: Key, lapse: Span) -> Key {
        let lapse = Double.lapse(lapse);
        Double.effect(cause, Double.seniority(lapse), Double.after(instant(cause), lapse))
    }

    #[test]
    fn a_longer_step_has_a_lesser_duration() {
        let spans = [
            Span::ZERO,
            Span::ns(1),
            Span::us(400),
            Span::us(401),
            Span::ms(50),
            Span::s(1),
            Span::s(10_000),
        ];
        let seniorities = spans.map(|span| Double.seniority(Double.lapse(span)));
        assert!(seniorities.is_sorted_by(|shorter, longer| shorter > longer), "{seniorities:?}");
        assert_eq!(spans.map(|span| Integer.seniority(Integer.lapse(span))), [Seniority::default(); 7]);
    }

    #[test]
    fn at_one_time_the_longest_step_comes_first_and_then_that_of_the_longest_cause() {
        let early = step(0, Span::s(1));
        let late = step(step(0, Span::ms(500)), Span::ms(500));
        assert_eq!(instant(early), instant(late));
        assert!(early < late);
        // 100 ms after causes that took as long as each other, and causes that did not.
        let (first, second) = (step(early, Span::ms(100)), step(late, Span::ms(100)));
        assert!(instant(first) == instant(second) && first < second);
        // The end of a transmission comes before a packet whose step was shorter, and after one whose step was longer.
        let (sent, seniority) = (instant(early), Double.seniority(Double.lapse(Span::ms(500))));
        assert!(Double.precedes(sent, seniority, step(step(0, Span::ms(800)), Span::ms(200))));
        assert!(!Double.precedes(sent, seniority, early) && !Double.precedes(sent, seniority, late));
        assert!(Integer.precedes(sent, seniority, sent));
    }

    proptest! {
        #[test]
        fn a_step_comes_after_its_cause(steps in prop::collection::vec(0u64..3_000_000, 1..50)) {
            let mut moment = 0;
            for span in steps {
                // Half of them take no time.
                let next = step(moment, Span::ns(span.saturating_sub(1_500_000)));
                prop_assert!(next >= moment);
                let slot = 7;
                let key = Double.arrival_key(moment, Seniority(5), instant(moment)) | slot;
                prop_assert_eq!(Double.moment(key), Double.effect(moment, Seniority(5), instant(moment)));
                moment = next;
            }
        }
    }
}
