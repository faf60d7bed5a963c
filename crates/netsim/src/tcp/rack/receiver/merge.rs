//! Receive offload: segments that follow each other closely are taken in as one.
//!
//! The host of a receiver looks at what has come some time after the first (interrupt moderation, `receive_offload`).
//! Consecutive segments that differ in nothing but their numbers are one then, of at most 64 kB, and are acknowledged as one;
//! a segment with PSH is the last of its own (`tcp_gro_receive`, net/ipv4/tcp_offload.c).
//!
//! # Departures from the source
//! * What cannot be joined hands over what came before it, although the host would look at both together.
//! * The delay of ACKs and the window adapt to each segment, and in Linux once to those that are one.

use super::Receiver;
use crate::tcp::rack::burst::LARGEST;
use crate::tcp::rack::clock::{Clock, stamp};
use crate::tcp::{Ack, Content, Segment};
use aqm::unit::Time;
use scenario::model::Profile;

/// Segments that wait to be looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    first: Segment,
    count: u32,
    /// Whether they were marked, and whether the last of them was pushed.
    ce: bool,
    pushed: bool,
    /// When the host looks at what has come.
    pub(super) until: Time,
}

impl Held {
    /// Whether a segment is one with those that wait.
    fn joins(&self, profile: &Profile, segment: &Segment, ce: bool) -> bool {
        let Segment { seq, content, cwr, ect, l4s, sent, .. } = self.first;
        content == Content::Data
            && segment.content == content
            && segment.seq == seq + self.count
            && !(self.pushed || cwr || segment.cwr)
            && (segment.ect, segment.l4s, ce) == (ect, l4s, self.ce)
            && (!profile.tcp.timestamps || stamp(segment.sent) == stamp(sent))
            && u64::from((self.count + 1) * profile.payload()) <= LARGEST
    }
}

impl Receiver {
    /// Lets a segment wait for others.
    #[cold]
    #[inline(never)]
    pub(super) fn hold(
        &mut self,
        now: Time,
        profile: &Profile,
        segment: &Segment,
        ce: bool,
        send: &mut impl FnMut(Ack),
    ) {
        if let Some(held) = &mut self.held
            && held.joins(profile, segment, ce)
        {
            held.count += 1;
            held.pushed = segment.push;
            return;
        }
        let until = self.held.map_or(now + profile.tcp.receive_offload, |held| held.until);
        self.take_held(now, profile, send);
        self.held = Some(Held { first: *segment, count: 1, ce, pushed: segment.push, until });
    }

    /// Takes in what waits, and answers it once.
    #[cold]
    #[inline(never)]
    pub(super) fn take_held(&mut self, now: Time, profile: &Profile, send: &mut impl FnMut(Ack)) {
        let Some(held) = self.held.take() else { return };
        let clock = Clock::at(now, profile.tcp.tick);
        let mut answers = false;
        for i in 0..held.count {
            let push = held.pushed && i + 1 == held.count;
            let segment = Segment { seq: held.first.seq + i, push, ..held.first };
            answers |= self.take_in(&clock, profile, &segment, held.ce, send);
        }
        if answers {
            self.answer(&clock, profile, send);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Span;
    use scenario::model::Tcp;

    const WAIT: Span = Span::us(100);

    /// The times in us at which ACKs leave, and what they ask for, of segments that come every 10 us; `marked` are with CE.
    fn acks(seqs: &[u32], marked: &[u32]) -> Vec<(u64, u32)> {
        acks_of(seqs, |segment| (segment, marked.contains(&segment.seq)))
    }

    /// The same of segments as `made`, which also returns whether they are with CE.
    fn acks_of(seqs: &[u32], made: impl Fn(Segment) -> (Segment, bool)) -> Vec<(u64, u32)> {
        let tcp = Tcp {
            receive_offload: WAIT,
            handshake: false,
            ecn: true,
            quick_acks: Some(0),
            ..Tcp::preset("linux").unwrap()
        };
        let profile = Profile::new(&tcp, 1500);
        let mut receiver = Receiver::new(1);
        let mut sent = Vec::new();
        let mut arrivals = seqs.iter().zip((0..).map(|i| Time::ZERO + Span::us(10 * i))).peekable();
        loop {
            let next = arrivals.peek().map_or(Time::MAX, |(_, at)| *at);
            let now = next.min(receiver.deadline());
            if now == Time::MAX {
                return sent;
            }
            let note = |ack: Ack| sent.push((now.nanos() / 1000, ack.next));
            if now == next {
                let (&seq, _) = arrivals.next().unwrap();
                let content = Content::Data;
                let (retransmission, cwr, ect, l4s, push) = (false, false, true, false, false);
                let segment = Segment { seq, content, retransmission, cwr, ect, l4s, push, sent: Time::ZERO };
                let (segment, ce) = made(segment);
                receiver.on_segment(now, &profile, &segment, ce, note);
            } else {
                receiver.on_timer(now, &profile, note);
            }
        }
    }

    #[test]
    fn segments_that_come_together_are_acknowledged_once() {
        assert_eq!(acks(&[1, 2, 3, 4, 5, 6], &[]), [(100, 7)]);
        // Eleven come within the time that the first waits, the others after that.
        let many: Vec<u32> = (1..=14).collect();
        assert_eq!(acks(&many, &[]), [(100, 12), (210, 15)]);
    }

    #[test]
    fn what_differs_is_not_joined() {
        // The third is missing: what came before it is taken in when the fourth comes, and that at its time.
        assert_eq!(acks(&[1, 2, 4, 5], &[]), [(20, 3), (100, 3)]);
        // So is what came before a mark, and what comes after it.
        assert_eq!(acks(&[1, 2, 3, 4, 5, 6], &[3, 4]), [(20, 3), (40, 5), (100, 7)]);
        // A burst ends with PSH, and what has another timestamp is another one.
        let six = [1, 2, 3, 4, 5, 6];
        let ends = |segment: Segment| (Segment { push: segment.seq == 3, ..segment }, false);
        assert_eq!(acks_of(&six, ends), [(30, 4), (100, 7)]);
        let later = |seq| if seq > 4 { Time::ZERO + Span::ms(1) } else { Time::ZERO };
        let stamped = |segment: Segment| (Segment { sent: later(segment.seq), ..segment }, false);
        assert_eq!(acks_of(&six, stamped), [(40, 5), (100, 7)]);
        let reduced = |segment: Segment| (Segment { cwr: segment.seq == 4, ..segment }, false);
        assert_eq!(acks_of(&six, reduced), [(30, 4), (40, 5), (100, 7)]);
    }
}
