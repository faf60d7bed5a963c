//! Receive offload: segments that follow each other closely are taken in as one.
//!
//! The host of a receiver looks at what has come some time after the first (interrupt moderation, `receive_offload`).
//! Consecutive segments that differ in nothing but their numbers are one then, of at most 64 kB, and are acknowledged as one;
//! a segment with PSH is the last of its own (`tcp_gro_receive`, net/ipv4/tcp_offload.c).
//!
//! # Departures from the source
//! * What cannot be joined hands over what came before it, although both would be looked at at one time.

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
