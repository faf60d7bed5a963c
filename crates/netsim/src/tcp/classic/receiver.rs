//! A TCP receiver: the record of arrived segments, and the time of acknowledgements (RFC 5681, section 4.2; RFC 2018; RFC 3168).

use crate::tcp::{Ack, AckOption, Blocks, NO_BLOCKS, Segment};
use aqm::unit::{Span, Time};
use scenario::model::Profile;

/// The receiving end of a connection: one cache line, since those of a hundred thousand are not in the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Receiver {
    /// The next segment in order: all below have arrived.
    next: u32,
    /// The one-way delay of the latest segment in microseconds, for LEDBAT.
    delay_us: u32,
    /// The sending time of the segment that the next ACK echoes.
    stamp: Time,
    /// When a delayed ACK is due.
    due: Time,
    /// Whether an in-order segment waits for its ACK; then nothing has arrived beyond a gap.
    owed: bool,
    /// Whether CE has arrived and no CWR since.
    echo: bool,
    /// Whether something arrived beyond a gap.
    gapped: bool,
    /// Those segments. Allocated with the first gap, and read only where there is one, because it is another cache line.
    beyond: Option<Box<Beyond>>,
}

const _: () = assert!(size_of::<Receiver>() == 64, "a receiver is one cache line");

/// The segments that arrived beyond `next`.
#[derive(Clone, Default, Debug)]
pub(in crate::tcp) struct Beyond {
    /// In order, with gaps between.
    runs: Vec<(u32, u32)>,
    /// The blocks of the last ACK.
    blocks: Blocks,
}

impl Receiver {
    /// Before anything arrived; `first` is the number of the first segment.
    #[must_use]
    pub const fn new(first: u32) -> Self {
        Self {
            next: first,
            delay_us: 0,
            stamp: Time::ZERO,
            due: Time::MAX,
            owed: false,
            echo: false,
            gapped: false,
            beyond: None,
        }
    }

    /// Data segments that arrived in order: all but segment 0, the SYN.
    #[must_use]
    #[inline]
    pub const fn delivered(&self) -> u32 {
        self.next.saturating_sub(1)
    }

    /// Data segments that arrived beyond a gap.
    #[must_use]
    pub fn beyond(&self) -> u32 {
        self.beyond.as_ref().map_or(0, |beyond| beyond.runs.iter().map(|(low, high)| high - low).sum())
    }

    /// When a delayed ACK is due; [`Time::MAX`] if none.
    #[must_use]
    #[inline]
    pub const fn deadline(&self) -> Time {
        self.due
    }

    /// Takes in a segment, and returns the ACK that it calls for at once.
    // For every segment: an ACK that is returned from a call is written to memory and read again.
    #[inline(always)]
    pub fn on_segment(&mut self, now: Time, profile: &Profile, segment: &Segment, ce: bool) -> Option<Ack> {
        if profile.tcp.congestion.needs_delays() {
            self.delay_us = u32::try_from(now.since(segment.sent).nanos() / 1000).unwrap_or(u32::MAX);
        }
        let gapped = self.gapped;
        let mut at_once = !profile.tcp.delayed_ack | segment.content.is_syn() | gapped;
        if ce != self.echo || segment.cwr {
            at_once |= self.heed_mark(segment.cwr, ce);
        }
        if segment.seq == self.next {
            // The stamp to echo is that of the earliest segment not yet acknowledged (RFC 7323, section 4.3).
            if !self.owed {
                self.stamp = segment.sent;
            }
            self.next += 1;
            if gapped {
                self.close_gap();
            }
        } else {
            let repeats_last = segment.seq + 1 == self.next && !gapped;
            at_once |= !(profile.tcp.delayed_ack_of_repeat && repeats_last);
            if segment.seq > self.next {
                self.beyond.get_or_insert_default().insert(segment.seq);
                self.gapped = true;
            }
        }
        if at_once || self.owed {
            let blocks = match self.beyond.as_deref_mut() {
                Some(beyond) if profile.sack && (gapped || self.gapped) => {
                    beyond.renew_blocks(self.next, segment.seq, profile.sack_blocks)
                }
                _ => NO_BLOCKS,
            };
            return Some(self.acknowledge(profile, blocks));
        }
        self.owed = true;
        self.due = now + profile.tcp.delayed_ack_timeout;
        None
    }

    /// Takes in a mark, or its absence, and returns whether the ACK must go out at once, which is so for the first CE mark
    /// (RFC 3168, section 6.1.3, leaves the delay open).
    const fn heed_mark(&mut self, cwr: bool, ce: bool) -> bool {
        self.echo &= !cwr;
        let first = ce && !self.echo;
        self.echo |= ce;
        first
    }

    /// The delayed ACK, now due.
    pub fn on_timer(&mut self, profile: &Profile) -> Option<Ack> {
        self.owed.then(|| self.acknowledge(profile, NO_BLOCKS))
    }

    #[inline]
    fn acknowledge(&mut self, profile: &Profile, blocks: Blocks) -> Ack {
        self.owed = false;
        self.due = Time::MAX;
        let option = match profile.tcp.congestion.needs_delays() {
            true => AckOption::Delay(Span::us(u64::from(self.delay_us))),
            false => AckOption::None,
        };
        Ack { next: self.next, ece: self.echo, echo: self.stamp, blocks, option, ..Ack::default() }
    }

    /// The run that the segment before `next` has joined is in order now.
    fn close_gap(&mut self) {
        let Some(beyond) = self.beyond.as_deref_mut() else { return };
        if beyond.runs.first().is_some_and(|&(low, _)| low == self.next) {
            self.next = beyond.runs.remove(0).1;
            self.gapped = !beyond.runs.is_empty();
        }
    }
}

impl Beyond {
    /// The blocks: first the run with the latest segment, then the blocks of the last ACK once more, but no run twice
    /// (RFC 2018, section 4). A run that was removed for lack of room stays out until a segment joins it.
    fn renew_blocks(&mut self, next: u32, latest: u32, room: usize) -> Blocks {
        let at = self.runs.partition_point(|&(_, high)| high <= latest);
        let run = self.runs.get(at).copied().filter(|&(low, _)| low <= latest);
        let covered = |low, high| run.is_some_and(|(first, end)| first <= low && high <= end);
        let last = self.blocks;
        let others = last.into_iter().filter(|&(low, high)| high > next && !covered(low, high));
        let mut blocks = run.into_iter().chain(others).take(room);
        self.blocks = std::array::from_fn(|_| blocks.next().unwrap_or_default());
        self.blocks
    }

    /// Adds `seq` to the runs, joining neighbours.
    fn insert(&mut self, seq: u32) {
        let at = self.runs.partition_point(|&(_, high)| high < seq);
        match self.runs.get(at).copied() {
            Some((low, high)) if low <= seq && seq < high => {}
            Some((_, high)) if high == seq => {
                self.runs[at].1 += 1;
                if self.runs.get(at + 1).is_some_and(|&(low, _)| low == seq + 1) {
                    self.runs[at].1 = self.runs.remove(at + 1).1;
                }
            }
            Some((low, _)) if low == seq + 1 => self.runs[at].0 = seq,
            _ => self.runs.insert(at, (seq, seq + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Content;
    use aqm::unit::Span;
    use proptest::prelude::*;
    use scenario::model::{Flavour, Tcp};

    fn profile(delayed_ack: bool) -> Profile {
        Profile::new(&Tcp { flavour: Flavour::Sack, delayed_ack, ..Tcp::default() }, 500)
    }

    fn segment(seq: u32) -> Segment {
        Segment {
            seq,
            content: Content::Data,
            retransmission: false,
            cwr: false,
            ect: false,
            l4s: false,
            push: false,
            sent: Time::ZERO,
        }
    }

    #[test]
    fn every_second_segment_is_acknowledged_or_the_first_after_a_while() {
        let (profile, mut receiver) = (profile(true), Receiver::new(1));
        assert!(receiver.on_segment(Time::ZERO, &profile, &segment(1), false).is_none());
        assert_eq!(receiver.deadline(), Time::ZERO + Span::ms(200));
        assert_eq!(receiver.on_segment(Time::ZERO, &profile, &segment(2), false).unwrap().next, 3);
        assert_eq!(receiver.deadline(), Time::MAX);
        assert!(receiver.on_segment(Time::ZERO, &profile, &segment(3), false).is_none());
        assert_eq!(receiver.on_timer(&profile).unwrap().next, 4);
        assert!(receiver.on_timer(&profile).is_none());
    }

    #[test]
    fn a_gap_is_acknowledged_at_once_with_the_latest_block_first() {
        let (profile, mut receiver) = (profile(true), Receiver::new(1));
        let mut arrive = |seq| receiver.on_segment(Time::ZERO, &profile, &segment(seq), false).unwrap();
        assert_eq!(arrive(3).blocks, [(3, 4), (0, 0), (0, 0)]);
        assert_eq!(arrive(7).blocks, [(7, 8), (3, 4), (0, 0)]);
        assert_eq!(arrive(5).blocks, [(5, 6), (7, 8), (3, 4)]);
        assert_eq!(arrive(4).blocks, [(3, 6), (7, 8), (0, 0)]);
        let ack = arrive(1);
        assert_eq!((ack.next, ack.blocks[0]), (2, (3, 6)));
        assert_eq!(arrive(2).next, 6);
    }

    #[test]
    fn blocks_are_repeated_in_the_order_of_their_last_segments() {
        let (profile, mut receiver) = (profile(false), Receiver::new(1));
        let mut arrive =
            |seq| receiver.on_segment(Time::ZERO, &profile, &segment(seq), false).unwrap().blocks;
        for seq in [3, 7, 5] {
            arrive(seq);
        }
        assert_eq!(arrive(9), [(9, 10), (5, 6), (7, 8)]);
        assert_eq!(arrive(1), [(9, 10), (5, 6), (7, 8)], "3 was forgotten");
        assert_eq!(arrive(7), [(7, 8), (9, 10), (5, 6)], "7 came again");
        assert_eq!(arrive(2), [(7, 8), (9, 10), (5, 6)]);
        assert_eq!(arrive(4), [(7, 8), (9, 10), (0, 0)]);
        assert_eq!(arrive(10), [(9, 11), (7, 8), (0, 0)]);
    }

    #[test]
    fn a_repeat_of_the_last_segment_waits_only_where_it_may() {
        let answered = |delayed_ack_of_repeat| {
            let (mut profile, mut receiver) = (profile(true), Receiver::new(1));
            profile.tcp.delayed_ack_of_repeat = delayed_ack_of_repeat;
            let mut arrive = |seq| receiver.on_segment(Time::ZERO, &profile, &segment(seq), false).is_some();
            [1, 2, 2, 1, 1].map(&mut arrive)
        };
        assert_eq!(answered(false), [false, true, true, true, true]);
        assert_eq!(answered(true), [false, true, false, true, true]);
    }

    #[test]
    fn congestion_is_echoed_until_the_sender_says_so() {
        let (profile, mut receiver) = (profile(false), Receiver::new(1));
        assert!(!receiver.on_segment(Time::ZERO, &profile, &segment(1), false).unwrap().ece);
        assert!(receiver.on_segment(Time::ZERO, &profile, &segment(2), true).unwrap().ece);
        assert!(receiver.on_segment(Time::ZERO, &profile, &segment(3), false).unwrap().ece);
        let answered = Segment { cwr: true, ..segment(4) };
        assert!(!receiver.on_segment(Time::ZERO, &profile, &answered, false).unwrap().ece);
    }

    #[test]
    fn an_acknowledgement_for_ledbat_carries_the_delay_of_the_latest_segment() {
        let tcp = Tcp { delayed_ack: true, ..Tcp::preset("ledbat").unwrap() };
        let (profile, mut receiver) = (Profile::new(&tcp, 500), Receiver::new(1));
        let at = |ms| Time::ZERO + Span::ms(ms);
        let sent = |seq, ms| Segment { sent: at(ms), ..segment(seq) };
        assert!(receiver.on_segment(at(30), &profile, &sent(1, 0), false).is_none());
        let ack = receiver.on_segment(at(45), &profile, &sent(2, 5), false).unwrap();
        assert_eq!((ack.echo, ack.option), (at(0), AckOption::Delay(Span::ms(40))));
        assert!(receiver.on_segment(at(60), &profile, &sent(3, 35), false).is_none());
        assert_eq!(
            receiver.on_timer(&profile).unwrap().option,
            AckOption::Delay(Span::ms(25)),
            "not the time that it waited"
        );
    }

    #[test]
    fn runs_agree_with_a_bitmap() {
        proptest!(|(arrivals in proptest::collection::vec(0u32..60, 0..200))| {
            let (profile, mut receiver) = (profile(false), Receiver::new(0));
            let mut arrived = [false; 61];
            for seq in arrivals {
                arrived[seq as usize] = true;
                let arriving = Segment { content: if seq == 0 { Content::Syn } else { Content::Data }, ..segment(seq) };
                let ack = receiver.on_segment(Time::ZERO, &profile, &arriving, false).unwrap();
                let next = arrived.iter().position(|&a| !a).unwrap() as u32;
                prop_assert_eq!(ack.next, next);
                prop_assert_eq!(receiver.delivered(), next.saturating_sub(1));
                for (low, high) in ack.blocks {
                    prop_assert!((low..high).all(|s| arrived[s as usize]));
                    prop_assert!(low == high || low > next && !arrived[high as usize] && !arrived[low as usize - 1]);
                }
            }
        });
    }
}
