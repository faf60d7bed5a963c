//! The order of all steps of a run, whether a step is an event or was computed before its time.
//!
//! A step is an arrival, the end of a transmission or a timer. Its place in the order, its [`Key`], is computed from the
//! key of the step that caused it and from the time that has elapsed since then. On the double clock it is computed from
//! nothing else, so that it does not depend on when the engine learns of the step.
//!
//! | steps at one time come in the order of | integer clock | double clock |
//! |---|---|---|
//! | first | an algorithm's period, then a transmitter that is free | |
//! | then | how long they have been under way, the longest first: 34 bits | the same, in 29 bits of floating point |
//! | then | their causes, of causes at the present: 10 bits | how long their causes had been under way: 14 bits |
//! | then | the slot | timers before slots, then the slot |
//!
//! Why these: ns-2 handles events at one time in the order in which they were scheduled. An event is scheduled
//! when its cause happens, so that is the order of the causes, and of two causes at one time, the order of their own causes.
//! The double clock keeps two levels of this. Only one level is kept between the end of a transmission on a plain link and a
//! packet that comes there, because neither is an event ([`Order::is_sent_before`]). On the integer clock ties are
//! frequent; there an event knows the number of its cause among the causes at the present, but a step that is computed ahead
//! does not. For that reason a packet counts as under way since a host or a queue with an AQM sent it, over however many
//! plain links.

use super::clock::{Clock, ClockArithmetic, Double, Integer, SimSpan, SimTime};
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
const ELAPSED_SHIFT: u32 = CAUSE_SHIFT + CAUSE_BITS;
const LONGEST: u32 = (1 << (64 - ELAPSED_SHIFT)) - 1;
/// The bits of 2^-44 s in single precision: a shorter step counts as none.
const SHORTEST: u32 = (127 - 44) << 23;

/// A key with this rank.
pub(super) const fn key(at: SimTime, rank: u64) -> Key {
    (at.0 as Key) << 64 | (rank << SLOT_BITS) as Key
}

/// The time of a key.
pub(crate) const fn time_of(key: Key) -> SimTime {
    SimTime((key >> 64) as u64)
}

/// The part of a rank for the time that a step is under way: the longer, the lower, because the step that was scheduled
/// first comes first. The integer clock needs none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct ElapsedRank(u32);

/// The order of a clock that is known when the program is compiled.
pub(crate) trait Order: ClockArithmetic + Debug {
    /// The same clock as a value.
    const CLOCK: Clock;
    /// The time of a step, with the part of its rank that the ranks of its effects depend on.
    type EventTime: Copy + Debug;

    /// That of the step with this key.
    fn event_time(self, key: Key) -> Self::EventTime;
    /// Its time alone.
    fn at(self, event_time: Self::EventTime) -> SimTime;
    /// A key with this time and rank.
    fn key(self, event_time: Self::EventTime) -> Key;
    /// A key after those of all steps of a link that come before a packet which arrives there at `coming`.
    fn limit(self, coming: Self::EventTime) -> Key;
    /// The rank of a step that is under way for `elapsed`.
    fn elapsed_rank(self, elapsed: SimSpan) -> ElapsedRank;
    /// The time and rank of a step at `at` which `cause` causes.
    fn effect(self, cause: Self::EventTime, rank: ElapsedRank, at: SimTime) -> Self::EventTime;
    /// Whether a transmission that ends at `sent` with this rank does so before a packet comes at `coming`.
    fn is_sent_before(self, sent: SimTime, rank: ElapsedRank, coming: Self::EventTime) -> bool;
    /// The key of an algorithm's next period, which `cause` starts.
    fn period_key(self, cause: Self::EventTime, rank: ElapsedRank, at: SimTime) -> Key;
    /// The key of the end of a transmission, after which a transmitter is free.
    fn free_key(self, start: Self::EventTime, rank: ElapsedRank, sent: SimTime) -> Key;
    /// The key of the end of the warm-up at a queue: that of the first timer which a run sets.
    fn warmup_key(self, at: Time) -> Key;
}

impl Order for Integer {
    const CLOCK: Clock = Clock::Integer;
    type EventTime = SimTime;

    #[inline]
    fn event_time(self, key: Key) -> SimTime {
        time_of(key)
    }

    #[inline]
    fn at(self, event_time: SimTime) -> SimTime {
        event_time
    }

    #[inline]
    fn key(self, event_time: SimTime) -> Key {
        key(event_time, 0)
    }

    #[inline]
    fn limit(self, coming: SimTime) -> Key {
        key(coming, 0) | Key::from(u64::MAX)
    }

    #[inline]
    fn elapsed_rank(self, _: SimSpan) -> ElapsedRank {
        ElapsedRank::default()
    }

    #[inline]
    fn effect(self, _: SimTime, _: ElapsedRank, at: SimTime) -> SimTime {
        at
    }

    #[inline]
    fn is_sent_before(self, sent: SimTime, _: ElapsedRank, coming: SimTime) -> bool {
        sent <= coming
    }

    #[inline]
    fn period_key(self, _: SimTime, _: ElapsedRank, at: SimTime) -> Key {
        key(at, 0)
    }

    #[inline]
    fn free_key(self, _: SimTime, _: ElapsedRank, sent: SimTime) -> Key {
        key(sent, 1)
    }

    fn warmup_key(self, at: Time) -> Key {
        key(self.sim_time(at), 2)
    }
}

impl Order for Double {
    const CLOCK: Clock = Clock::Double;
    /// A key without the bits for the slot.
    type EventTime = Key;

    #[inline]
    fn event_time(self, key: Key) -> Key {
        key & !((SLOTTED << 1) - 1)
    }

    #[inline]
    fn at(self, event_time: Key) -> SimTime {
        time_of(event_time)
    }

    #[inline]
    fn key(self, event_time: Key) -> Key {
        event_time
    }

    #[inline]
    fn limit(self, coming: Key) -> Key {
        // Of the same rank, the end of the warm-up, a timer, comes before it, and what is in a slot of the link after it.
        coming | 1
    }

    #[inline]
    fn elapsed_rank(self, elapsed: SimSpan) -> ElapsedRank {
        let bits = (elapsed.secs() as f32).to_bits();
        ElapsedRank(LONGEST - bits.saturating_sub(SHORTEST).min(LONGEST))
    }

    #[inline]
    fn effect(self, cause: Key, rank: ElapsedRank, at: SimTime) -> Key {
        let before = (cause as u64) >> (64 - CAUSE_BITS);
        let rank = u64::from(rank.0) << ELAPSED_SHIFT | before << CAUSE_SHIFT;
        (at.0 as Key) << 64 | Key::from(rank)
    }

    #[inline]
    fn is_sent_before(self, sent: SimTime, rank: ElapsedRank, coming: Key) -> bool {
        let at = time_of(coming);
        sent < at || sent == at && u64::from(rank.0) < (coming as u64) >> ELAPSED_SHIFT
    }

    #[inline]
    fn period_key(self, cause: Key, rank: ElapsedRank, at: SimTime) -> Key {
        self.effect(cause, rank, at) | SLOTTED
    }

    #[inline]
    fn free_key(self, start: Key, rank: ElapsedRank, sent: SimTime) -> Key {
        self.effect(start, rank, sent) | SLOTTED
    }

    fn warmup_key(self, at: Time) -> Key {
        let elapsed = self.sim_span(at.since(Time::ZERO));
        self.effect(self.event_time(0), self.elapsed_rank(elapsed), self.sim_time(at))
    }
}

impl Double {
    /// The key of a packet's arrival at a link's other end.
    #[inline]
    pub(super) fn arrival_key(self, start: Key, rank: ElapsedRank, at: SimTime) -> Key {
        self.effect(start, rank, at) | SLOTTED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Span;
    use proptest::prelude::*;

    fn step(cause: Key, elapsed: Span) -> Key {
        let elapsed = Double.sim_span(elapsed);
        Double.effect(cause, Double.elapsed_rank(elapsed), Double.after(time_of(cause), elapsed))
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
        let ranks = spans.map(|span| Double.elapsed_rank(Double.sim_span(span)));
        assert!(ranks.is_sorted_by(|shorter, longer| shorter > longer), "{ranks:?}");
        assert_eq!(
            spans.map(|span| Integer.elapsed_rank(Integer.sim_span(span))),
            [ElapsedRank::default(); 7]
        );
    }

    #[test]
    fn at_one_time_the_longest_step_comes_first_and_then_that_of_the_longest_cause() {
        let early = step(0, Span::s(1));
        let late = step(step(0, Span::ms(500)), Span::ms(500));
        assert_eq!(time_of(early), time_of(late));
        assert!(early < late);
        // 100 ms after causes that took as long as each other, and causes that did not.
        let (first, second) = (step(early, Span::ms(100)), step(late, Span::ms(100)));
        assert!(time_of(first) == time_of(second) && first < second);
        // The end of a transmission comes before a packet whose step was shorter, and after one whose step was longer.
        let (sent, rank) = (time_of(early), Double.elapsed_rank(Double.sim_span(Span::ms(500))));
        assert!(Double.is_sent_before(sent, rank, step(step(0, Span::ms(800)), Span::ms(200))));
        assert!(!Double.is_sent_before(sent, rank, early) && !Double.is_sent_before(sent, rank, late));
        assert!(Integer.is_sent_before(sent, rank, sent));
    }

    proptest! {
        #[test]
        fn a_step_comes_after_its_cause(steps in prop::collection::vec(0u64..3_000_000, 1..50)) {
            let mut event_time = 0;
            for span in steps {
                // Half of them take no time.
                let next = step(event_time, Span::ns(span.saturating_sub(1_500_000)));
                prop_assert!(next >= event_time);
                let slot = 7;
                let key = Double.arrival_key(event_time, ElapsedRank(5), time_of(event_time)) | slot;
                prop_assert_eq!(Double.event_time(key), Double.effect(event_time, ElapsedRank(5), time_of(event_time)));
                event_time = next;
            }
        }
    }
}
