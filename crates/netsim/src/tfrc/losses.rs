//! The loss event rate (section 5): losses and marks within one round trip are one event, and the rate is the inverse of
//! a weighted mean of the numbers of packets from one event to the next.

use aqm::unit::{Span, Time};

/// Intervals that count (`n`).
const HISTORY: usize = 8;
const WEIGHTS: [f64; HISTORY] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// An interval is discounted by at most this factor at a time (section 5.5).
const LEAST_DISCOUNT: f64 = 0.25;
/// Packets with greater numbers that must arrive before one counts as lost (`NDUPACK`).
const REORDERING: usize = 3;

/// A packet that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Arrived {
    seq: u32,
    at: Time,
}

/// A closed interval between two loss events.
#[derive(Clone, Copy, Debug)]
struct Closed {
    packets: f64,
    /// The discount of its weight by the intervals after it (`DF_i`).
    discount: f64,
}

/// The first loss of the latest event.
#[derive(Clone, Copy, Debug)]
struct Event {
    seq: u32,
    at: Time,
}

/// The receiver's history of losses.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    /// The packets with the greatest numbers, in ascending order: one missing below the first of three is lost.
    latest: [Arrived; REORDERING],
    /// How many of them there are.
    known: usize,
    event: Option<Event>,
    /// From the latest to the oldest.
    closed: [Closed; HISTORY],
    count: usize,
    discounting: bool,
    events: u64,
}

impl Losses {
    pub(super) const fn new(discounting: bool) -> Self {
        Self {
            latest: [Arrived { seq: 0, at: Time::ZERO }; REORDERING],
            known: 0,
            event: None,
            closed: [Closed { packets: 0.0, discount: 1.0 }; HISTORY],
            count: 0,
            discounting,
            events: 0,
        }
    }

    /// Takes in a packet, marked or not. Each loss event that it reveals closes an interval; `first` gives the length of
    /// the first, which is not the number of packets before it (section 6.3.1). Returns whether there was an event.
    pub(super) fn on_packet(
        &mut self,
        seq: u32,
        ce: bool,
        now: Time,
        rtt: Span,
        first: impl Fn() -> f64,
    ) -> bool {
        let known = &self.latest[..self.known];
        let place = known.partition_point(|other| other.seq < seq);
        if known.get(place).is_some_and(|other| other.seq == seq) {
            return false; // a copy
        }
        let (arrived, mut event) = (Arrived { seq, at: now }, false);
        if self.known < REORDERING {
            self.latest.copy_within(place..self.known, place + 1);
            self.latest[place] = arrived;
            self.known += 1;
        } else if place == 0 {
            return false; // so late that it has been counted as lost
        } else {
            let before = self.latest[0];
            self.latest.copy_within(1..place, 0);
            self.latest[place - 1] = arrived;
            let after = self.latest[0];
            for seq in before.seq + 1..after.seq {
                event |= self.on_loss(seq, between(before, after, seq), rtt, &first);
            }
        }
        if ce {
            event |= self.on_loss(seq, now, rtt, &first);
        }
        event
    }

    /// A packet was lost that would have arrived at this time, or was marked; returns whether this is a new event.
    fn on_loss(&mut self, seq: u32, at: Time, rtt: Span, first: impl Fn() -> f64) -> bool {
        let packets = match self.event {
            Some(event) if at <= event.at + rtt || seq <= event.seq => return false,
            Some(event) => f64::from(seq - event.seq),
            None => first(),
        };
        let discount = self.discount(packets);
        for closed in &mut self.closed[..self.count] {
            closed.discount *= discount;
        }
        self.count = HISTORY.min(self.count + 1);
        self.closed.copy_within(..self.count - 1, 1);
        self.closed[0] = Closed { packets, discount: 1.0 };
        self.event = Some(Event { seq, at });
        self.events += 1;
        true
    }

    /// The number after the greatest that has arrived.
    const fn end(&self) -> u32 {
        if self.known == 0 { 0 } else { self.latest[self.known - 1].seq + 1 }
    }

    /// The packets since the latest event, that with its first loss included (`I_0`).
    fn open(&self) -> f64 {
        self.event.map_or(0.0, |event| f64::from(self.end().saturating_sub(event.seq)))
    }

    /// The weighted sum of the latest `used` closed intervals and that of their weights, which begin with the one at `first`.
    fn sums(&self, used: usize, first: usize) -> (f64, f64) {
        let weighted = self.closed[..used].iter().zip(&WEIGHTS[first..]);
        weighted.fold((0.0, 0.0), |(total, weights), (closed, weight)| {
            let weight = weight * closed.discount;
            (total + weight * closed.packets, weights + weight)
        })
    }

    /// By how much the closed intervals count less because one after them, of `open` packets, is more than twice their mean
    /// (`DF`).
    fn discount(&self, open: f64) -> f64 {
        let (total, weights) = self.sums(self.count, 0);
        if self.discounting && weights * open > 2.0 * total {
            (2.0 * total / (weights * open)).max(LEAST_DISCOUNT)
        } else {
            1.0
        }
    }

    /// The loss event rate (`p`); 0 before the first event.
    pub(super) fn rate(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let (total, weights) = self.sums(self.count, 0);
        // The open interval takes the first place, and the oldest falls out.
        let (others, their_weights) = self.sums(self.count - 1, 1);
        let discount = self.discount(self.open());
        let (total_with_open, weights_with_open) =
            (WEIGHTS[0] * self.open() + discount * others, WEIGHTS[0] + discount * their_weights);
        (weights / total).min(weights_with_open / total_with_open)
    }

    /// Packets up to the latest, and loss events among them.
    pub(super) fn counts(&self) -> [u64; 2] {
        [u64::from(self.end()), self.events]
    }
}

/// When a lost packet would have arrived: as far from `before` to `after` as its number is (section 5.2).
fn between(before: Arrived, after: Arrived, seq: u32) -> Time {
    let apart = u128::from(after.at.since(before.at).nanos());
    let part = apart * u128::from(seq - before.seq) / u128::from(after.seq - before.seq);
    before.at + Span::ns(part as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::ms(100);

    /// A history that got the packets up to `end` one per millisecond, without those `lost`; the first interval is 100.
    fn history(discounting: bool, end: u32, lost: &[u32]) -> Losses {
        let mut losses = Losses::new(discounting);
        for seq in (0..=end).filter(|seq| !lost.contains(seq)) {
            losses.on_packet(seq, false, at(seq), RTT, || 100.0);
        }
        losses
    }

    fn at(ms: u32) -> Time {
        Time::ZERO + Span::ms(u64::from(ms))
    }

    fn is(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn a_packet_is_lost_when_three_with_greater_numbers_have_arrived() {
        assert_eq!(history(false, 12, &[10]).counts(), [13, 0]);
        let lost = history(false, 13, &[10]);
        assert_eq!(lost.counts(), [14, 1]);
        is(lost.rate(), 0.01);
        // Filled by then, the hole is none.
        let mut late = history(false, 12, &[10]);
        assert!(!late.on_packet(10, false, at(13), RTT, || 100.0));
        for seq in 13..20 {
            assert!(!late.on_packet(seq, false, at(seq + 1), RTT, || 100.0));
        }
        assert_eq!((late.events, late.rate()), (0, 0.0));
        // Afterwards it remains one, and a copy is no packet.
        let mut lost = history(false, 13, &[10]);
        for seq in [10, 13] {
            assert!(!lost.on_packet(seq, true, at(14), RTT, || 100.0));
        }
        is(lost.rate(), 0.01);
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let one = history(false, 300, &[50, 51, 150]);
        assert_eq!((one.count, one.events), (1, 1));
        let two = history(false, 300, &[50, 51, 151]);
        assert_eq!((two.count, two.closed[0].packets), (2, 101.0));
        // A gap of several round trips is as many events, by the times at which its packets would have arrived.
        let gap: Vec<u32> = (50..=349).collect();
        let long = history(false, 400, &gap);
        assert_eq!((long.count, long.events), (3, 3));
        assert_eq!(
            long.closed[..3].iter().map(|closed| closed.packets).collect::<Vec<_>>(),
            [101.0, 101.0, 100.0]
        );
    }

    #[test]
    fn a_mark_is_an_event_at_once() {
        let mut losses = history(false, 50, &[]);
        assert!(losses.on_packet(51, true, at(51), RTT, || 80.0));
        is(losses.rate(), 1.0 / 80.0);
        assert!(!losses.on_packet(52, true, at(52), RTT, || 80.0));
        assert_eq!(losses.events, 1);
    }

    #[test]
    fn intervals_have_the_printed_weights() {
        // The first interval is given; the others begin at these losses, each 100 packets longer than the one before.
        let lost: Vec<u32> =
            (0..9).scan(200, |seq, i| Some(std::mem::replace(seq, *seq + 200 + 100 * i))).collect();
        let end = lost[8] + 9;
        let losses = history(false, end, &lost);
        // 900, 800 to 200 are closed; the 100 have fallen out.
        let mean =
            (900.0 + 800.0 + 700.0 + 600.0 + 0.8 * 500.0 + 0.6 * 400.0 + 0.4 * 300.0 + 0.2 * 200.0) / 6.0;
        is(losses.rate(), 1.0 / mean);
        // A long open interval takes the place of the oldest.
        let losses = history(false, lost[8] + 1999, &lost);
        let mean =
            (2000.0 + 900.0 + 800.0 + 700.0 + 0.8 * 600.0 + 0.6 * 500.0 + 0.4 * 400.0 + 0.2 * 300.0) / 6.0;
        is(losses.rate(), 1.0 / mean);
    }

    #[test]
    fn a_long_time_without_loss_discounts_what_was_before() {
        // Intervals of 190 and (the given) 100, then 600 packets without a loss: a mean of 145, so DF = 290 / 600.
        let lost = [200, 390];
        is(history(false, 989, &lost).rate(), 2.0 / (600.0 + 190.0));
        let discount = 290.0 / 600.0;
        is(history(true, 989, &lost).rate(), (1.0 + discount) / (600.0 + discount * 190.0));
        // At most to a quarter; and the discount remains when the interval closes, however many packets are lost with it.
        is(history(true, 4389, &lost).rate(), 1.25 / (4000.0 + 0.25 * 190.0));
        for gap in [1, 90] {
            let lost: Vec<u32> = [200, 390].into_iter().chain(990..990 + gap).collect();
            let closed = history(true, 992 + gap, &lost);
            is(closed.rate(), (1.0 + 2.0 * discount) / (600.0 + discount * (190.0 + 100.0)));
        }
    }
}
