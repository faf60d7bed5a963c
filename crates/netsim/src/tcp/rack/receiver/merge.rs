//! Receive offload: segments that follow each other closely are taken in as one.
//!
//! The host of a receiver looks at what has come some time after the first (interrupt moderation, `receive_offload`).
//! Consecutive segments that differ in nothing but their numbers are one then, of at most 64 kB; a segment with PSH is the
//! last of its own (`tcp_gro_receive`, net/ipv4/tcp_offload.c). The application reads when all have been taken in, so that
//! what calls for no ACK by itself is acknowledged once (`__tcp_ack_snd_check`, whose window does not advance before).
//!
//! # Departures from the source
//! * The timestamps that segments echo are not compared.
//! * Segments that fill a gap and repeat what had come beyond it are not reported for that (`tcp_ofo_queue`). Of several
//!   parts that are repeated beyond a gap the last is reported, and not the first (`tcp_dsack_extend`).
//! * Each connection has a time of its own, as with a queue of the card for each.

use super::Receiver;
use crate::tcp::rack::burst::LARGEST;
use crate::tcp::rack::clock::{Clock, stamp};
use crate::tcp::{Ack, Content, Segment};
use aqm::unit::Time;
use scenario::model::Profile;

/// Segments that are one for the receiver: the first, with the last's PSH, one past the last, and whether they are marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub(super) segment: Segment,
    pub(super) end: u32,
    pub(super) ce: bool,
}

impl Joined {
    pub(super) const fn count(&self) -> u32 {
        self.end - self.segment.seq
    }

    /// Whether a segment is one with these.
    fn takes(&self, profile: &Profile, next: &Segment, ce: bool) -> bool {
        let Segment { content, cwr, ect, l4s, push, sent, .. } = self.segment;
        content == Content::Data
            && next.content == content
            && next.seq == self.end
            && !(push || cwr || next.cwr)
            && (next.ect, next.l4s, ce) == (ect, l4s, self.ce)
            && (!profile.tcp.timestamps || stamp(next.sent) == stamp(sent))
            && u64::from((self.count() + 1) * profile.payload()) <= LARGEST
    }
}

/// Segments that wait to be looked at, and until when.
#[derive(Clone, Debug)]
pub(super) struct Held {
    waiting: Vec<Joined>,
    pub(super) until: Time,
}

impl Default for Held {
    fn default() -> Self {
        Self { waiting: Vec::new(), until: Time::MAX }
    }
}

impl Held {
    /// Lets a segment wait for others.
    #[cold]
    #[inline(never)]
    pub(super) fn push(&mut self, now: Time, profile: &Profile, segment: &Segment, ce: bool) {
        match self.waiting.last_mut() {
            Some(last) if last.takes(profile, segment, ce) => {
                last.end += 1;
                last.segment.push = segment.push;
            }
            _ => self.waiting.push(Joined { segment: *segment, end: segment.seq + 1, ce }),
        }
        self.until = self.until.min(now + profile.tcp.receive_offload);
    }
}

impl Receiver {
    /// Takes in what waits.
    #[cold]
    #[inline(never)]
    pub(super) fn take_held(&mut self, now: Time, profile: &Profile, send: &mut impl FnMut(Ack)) {
        let clock = Clock::at(now, profile.tcp.tick);
        let mut waiting = std::mem::take(&mut self.held).waiting;
        let last = waiting.len() - 1;
        for (i, joined) in waiting.iter().enumerate() {
            if self.take_in(&clock, profile, joined, send) || i == last {
                self.answer(&clock, profile, i == last, send);
            }
        }
        // Its memory serves the next.
        waiting.clear();
        self.held.waiting = waiting;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Span;
    use scenario::model::Tcp;

    const WAIT: Span = Span::us(100);
    const PLAIN: Segment = Segment {
        seq: 0,
        content: Content::Data,
        retransmission: false,
        cwr: false,
        ect: true,
        l4s: false,
        push: false,
        sent: Time::ZERO,
    };

    fn at(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    fn profile(quick_acks: Option<u32>) -> Profile {
        let linux = Tcp::preset("linux").unwrap();
        Profile::new(&Tcp { receive_offload: WAIT, handshake: false, ecn: true, quick_acks, ..linux }, 1500)
    }

    /// The ACKs, with their times in us, of segments that come every 10 us from `start` on: as `made`, which also returns
    /// whether a segment is marked.
    fn acks_of(
        (receiver, profile): (&mut Receiver, &Profile),
        (start, seqs): (u64, &[u32]),
        made: impl Fn(Segment) -> (Segment, bool),
    ) -> Vec<(u64, Ack)> {
        let mut sent = Vec::new();
        let mut arrivals = seqs.iter().zip((0..).map(|i| at(start + 10 * i))).peekable();
        loop {
            let next = arrivals.peek().map_or(Time::MAX, |(_, at)| *at);
            let now = next.min(receiver.deadline());
            if now == Time::MAX {
                return sent;
            }
            let note = |ack: Ack| sent.push((now.nanos() / 1000, ack));
            if now == next {
                let (&seq, _) = arrivals.next().unwrap();
                let (segment, ce) = made(Segment { seq, ..PLAIN });
                receiver.on_segment(now, profile, &segment, ce, note);
            } else {
                receiver.on_timer(now, profile, note);
            }
        }
    }

    /// When a new receiver sends ACKs, and what they ask for.
    fn acks(seqs: &[u32], quick: Option<u32>, made: impl Fn(Segment) -> (Segment, bool)) -> Vec<(u64, u32)> {
        let sent = acks_of((&mut Receiver::new(1), &profile(quick)), (0, seqs), made);
        sent.into_iter().map(|(at, ack)| (at, ack.next)).collect()
    }

    const SIX: [u32; 6] = [1, 2, 3, 4, 5, 6];

    /// A change of a segment, and whether it is marked.
    type Made = fn(Segment) -> (Segment, bool);

    /// Changes that make the segments of [`SIX`] different, and one past the last of each part.
    fn parts() -> [(Made, &'static [u32]); 5] {
        [
            (|segment| (segment, false), &[7]),
            (|segment| (segment, [3, 4].contains(&segment.seq)), &[3, 5, 7]),
            (|segment| (Segment { push: segment.seq == 3, ..segment }, false), &[4, 7]),
            (
                |segment| (Segment { sent: at(if segment.seq > 4 { 1000 } else { 0 }), ..segment }, false),
                &[5, 7],
            ),
            (|segment| (Segment { cwr: segment.seq == 4, ..segment }, false), &[4, 5, 7]),
        ]
    }

    #[test]
    fn segments_that_come_together_are_acknowledged_once() {
        for quick in [None, Some(0)] {
            // Eleven come within the time that the first waits, the others after that.
            let many: Vec<u32> = (1..=14).collect();
            assert_eq!(acks(&many, quick, |segment| (segment, false)), [(100, 12), (210, 15)]);
        }
    }

    #[test]
    fn what_differs_is_not_joined_and_acknowledged_once_all_the_same() {
        // While ACKs are quick each part has its own.
        for (made, ends) in parts() {
            let each: Vec<(u64, u32)> = ends.iter().map(|&next| (100, next)).collect();
            assert_eq!(acks(&SIX, None, made), each);
        }
        // Otherwise the application's reading decides, but CWR is answered at once.
        for (made, ends) in &parts()[..4] {
            assert_eq!(acks(&SIX, Some(0), made), [(100, 7)], "{ends:?}");
        }
        assert_eq!(acks(&SIX, Some(0), parts()[4].0), [(100, 5), (100, 7)]);
    }

    #[test]
    fn what_is_joined_beyond_a_gap_or_came_before_is_one_block() {
        let (profile, mut receiver) = (profile(None), Receiver::new(1));
        let mut last = |start, seqs: &[u32]| {
            let sent = acks_of((&mut receiver, &profile), (start, seqs), |segment| (segment, false));
            let (_, ack) = sent.into_iter().next_back().unwrap();
            (ack.next, ack.blocks.into_iter().filter(|block| *block != (0, 0)).collect::<Vec<_>>())
        };
        assert_eq!(last(0, &[1, 2, 5, 6, 7]), (3, vec![(5, 8)]));
        assert_eq!(last(1000, &[10, 11, 12]), (3, vec![(10, 13), (5, 8)]));
        // 6 and 7 again, with 8 and 9, which join both runs.
        assert_eq!(last(2000, &[6, 7, 8, 9]), (3, vec![(6, 8), (5, 13)]));
        // What fills the gap, and what had come beyond it.
        assert_eq!(last(3000, &[3, 4, 5]), (13, vec![]));
        assert_eq!(last(4000, &[11, 12]), (13, vec![(11, 13)]));
        assert_eq!(last(5000, &[12, 13, 14]), (15, vec![(12, 13)]));
    }

    #[test]
    fn the_delay_of_acknowledgements_adapts_once() {
        let (profile, mut receiver) = (profile(Some(0)), Receiver::new(1));
        acks_of((&mut receiver, &profile), (0, &[1, 2]), |segment| (segment, false));
        receiver.delay = 80;
        acks_of((&mut receiver, &profile), (200, &[3, 4, 5, 6]), |segment| (segment, false));
        assert_eq!((receiver.delay, receiver.next), (80 / 2 + 40 / 2, 7));
    }
}
