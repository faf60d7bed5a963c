//! Segmentation offload: how many segments leave a host at once, and when a sender waits for more of them.
//!
//! ```text
//! bytes = pace / 2^10 + 64 kB / 2^(least round trip / 512 us), at most 64 kB
//! ```
//!
//! A burst is at most half a window, and what the window has room for. A sender that could send less waits for the next
//! acknowledgement, if it can expect one within a millisecond and has room for less than a third of its window. Segments of
//! a burst count as sent at one time, and leave the host one after the other at the rate of its link.

use super::clock::ticks_of;
use super::state::{Phase, State};
use aqm::unit::Span;
use scenario::model::{Pacing, Profile};

/// The most bytes that a host hands over at once (`GSO_LEGACY_MAX_SIZE`, less what headers may take).
pub(in crate::tcp) const LARGEST: u64 = 65_535 - 320;
/// A burst has the data of 2^-10 s (`sk_pacing_shift`). The allowance of a short path is halved with every 2^9 us of the least
/// round trip (`tcp_tso_rtt_log`).
const PACE_BITS: u32 = 10;
const SHORT_PATH_BITS: u32 = 9;
/// The fraction of a window that is sent at once (`tcp_tso_win_divisor`).
const WINDOW_PARTS: u32 = 3;
/// So long a sender waits at most for another acknowledgement, and so recently it must have sent, in ns.
const PATIENCE: u64 = 1_000_000;

/// Whether a sender may send, or waits for more room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// It sends this number of segments.
    Send(u32),
    /// It waits; whether that is for its window.
    Wait { limited: bool },
}

impl State {
    /// Segments that the window has room for.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.cwnd.saturating_sub(self.board.in_flight())
    }

    /// Segments that leave at once by the pace, but `least` at least (`tcp_tso_autosize`).
    #[must_use]
    pub fn burst(&self, profile: &Profile, least: u32) -> u32 {
        let pace = if self.pace == u64::MAX { self.usual_pace(profile) } else { self.pace };
        let halvings = u32::try_from(self.rtt.least() >> SHORT_PATH_BITS).unwrap_or(u32::MAX);
        let bytes = (pace >> PACE_BITS) + LARGEST.checked_shr(halvings).unwrap_or(0);
        ((bytes.min(LARGEST) / u64::from(profile.payload())) as u32).max(least)
    }

    /// The sender's choice now that the window has room, if at most `most` segments may leave at once (the loop of
    /// `tcp_write_xmit`).
    pub(super) fn turn(&mut self, profile: &Profile, most: u32) -> Turn {
        let count = self.ready(profile, most);
        let chunk = self.chunk_end.saturating_sub(self.nxt);
        match self.waits(profile, most, chunk) {
            Some(limited) if chunk > 1 => Turn::Wait { limited },
            _ => Turn::Send(count),
        }
    }

    /// Segments that could leave at once now; at least one, whatever the window has room for.
    pub(super) fn ready(&mut self, profile: &Profile, most: u32) -> u32 {
        if self.nxt == self.fin {
            return 1;
        }
        // Two bursts are in the network at least (`tcp_cwnd_test`).
        let quota = self.room().min(self.cwnd >> 1).min(most).max(1);
        self.fill_chunk(profile, quota).min(quota).min(self.una + profile.tcp.max_window - self.nxt)
    }

    /// The segments of the chunk of data that is next to be sent, one to which more is added from the chunk behind it if it
    /// has less than `quota` (`tcp_grow_skb`). The application has made chunks of the largest size.
    fn fill_chunk(&mut self, profile: &Profile, quota: u32) -> u32 {
        let whole = ((LARGEST / u64::from(profile.payload())) as u32).max(1);
        let end = self.end.min(self.fin);
        // Chunks end at whole numbers of them after segment 1, the first with data.
        let next = |at: u32| (at - 1 - (at - 1) % whole + 1).saturating_add(whole).min(end);
        if self.chunk_end <= self.nxt {
            self.chunk_end = next(self.nxt);
        }
        if self.chunk_end < self.nxt + quota {
            self.chunk_end = next(self.chunk_end).min(self.nxt + quota);
        }
        self.chunk_end - self.nxt
    }

    /// If the sender should wait until more can be sent at once: whether it waits for its window (`tcp_tso_should_defer`).
    /// The next chunk has `ready` segments.
    fn waits(&self, profile: &Profile, most: u32, ready: u32) -> Option<bool> {
        let now = self.clock.us * 1000;
        let (room, window) = (self.room(), self.una + profile.tcp.max_window - self.nxt);
        let possible = room.min(window);
        let last = self.chunk_end >= self.end.min(self.fin);
        if self.phase >= Phase::Recovery
            || now > self.next_send + PATIENCE
            || possible >= most
            || !last && possible >= ready
            || possible * WINDOW_PARTS >= self.cwnd.min(profile.tcp.max_window)
        {
            return None;
        }
        let srtt = self.rtt.srtt8 * 125;
        let expected = self.board.head()?.at * 1000 + srtt;
        if expected > now + PATIENCE.min(srtt / 2) {
            return None;
        }
        let limited = room < window && room <= ready;
        (limited || !(last && self.closed)).then_some(limited)
    }

    /// Of the lost segments from `seq` on those that one burst had and that are to be sent again: at most `most`, and no more
    /// than the window has room for.
    pub(super) fn lost_together(&self, seq: u32, most: u32) -> u32 {
        let (at, most) = (self.board.get(seq).at, most.min(self.room()).min(self.nxt - seq));
        let more = (seq + 1..seq + most).take_while(|&next| {
            let sent = self.board.get(next);
            sent.at == at && sent.is_to_resend()
        });
        1 + more.count() as u32
    }

    /// The queue discipline of the host paces every control (`fq`), of which the sender knows the pace.
    pub(super) fn pace_by_host(&mut self, profile: &Profile) {
        if self.pace == u64::MAX && matches!(profile.tcp.pacing, Pacing::Fq) {
            self.paced_by_host = true;
            self.pace = self.usual_pace(profile);
        }
    }

    /// Ticks that the pace makes the next segment wait.
    pub(super) fn pace_ticks(&self, profile: &Profile) -> u32 {
        let wait = self.next_send.saturating_sub(self.clock.us * 1000);
        ticks_of(Span::ns(wait), profile.tcp.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::rack::clock::Clock;
    use aqm::unit::Time;
    use scenario::model::Tcp;

    fn profile() -> Profile {
        Profile::new(&Tcp { offload: true, handshake: false, ..Tcp::preset("linux").unwrap() }, 1500)
    }

    /// A sender `us` after its start, with `segments` to send, `out` of which are on the way since then.
    fn sender(profile: &Profile, segments: u32, cwnd: u32, out: u32, us: u64) -> State {
        let mut state = State::new(profile, segments);
        state.cwnd = cwnd;
        for _ in 0..out {
            let sent = state.record(state.clock.us);
            state.board.push(sent);
        }
        (state.nxt, state.next_send) = (1 + out, state.clock.us * 1000);
        state.clock = Clock::at(Time::ZERO + Span::us(us), profile.tcp.tick);
        state
    }

    #[test]
    fn a_burst_is_a_millisecond_of_the_pace_and_more_on_a_short_path() {
        let profile = profile();
        let mut state = sender(&profile, 1000, 10, 0, 0);
        let mut burst = |pace, rtt| {
            state.pace = pace;
            state.rtt = super::super::rtt::Rtt::new(&profile);
            state.rtt.note_least(&profile, &state.clock, rtt);
            state.burst(&profile, 2)
        };
        // 12.5 MB/s / 1024 = 12207 bytes of 1448; 64 kB / 2^3 more where the round trip is 3 times 512 us.
        assert_eq!((burst(12_500_000, 40_000), burst(12_500_000, 1_536)), (8, 14));
        assert_eq!((burst(100_000, 40_000), burst(10_000_000_000, 40_000)), (2, 45));
    }

    #[test]
    fn a_burst_is_half_the_window_at_most() {
        let profile = profile();
        let mut state = sender(&profile, 1000, 30, 0, 0);
        assert_eq!(state.turn(&profile, 45), Turn::Send(15));
        state.cwnd = 1;
        assert_eq!(state.turn(&profile, 45), Turn::Send(1));
    }

    #[test]
    fn chunks_end_where_the_application_has_made_them() {
        let profile = profile();
        let mut state = sender(&profile, 1000, 200, 0, 0);
        assert_eq!(state.ready(&profile, 10), 10);
        assert_eq!(state.chunk_end, 46, "45 segments are 64 kB");
        (state.nxt, state.chunk_end) = (41, 46);
        // Of the five left and the next chunk.
        assert_eq!((state.ready(&profile, 10), state.chunk_end), (10, 51));
        state.nxt = 51;
        assert_eq!((state.ready(&profile, 10), state.chunk_end), (10, 91));
        // No more than there is.
        state.nxt = 998;
        assert_eq!(state.ready(&profile, 10), 3);
    }

    #[test]
    fn who_can_send_little_waits_for_an_acknowledgement_that_is_near() {
        let profile = profile();
        let waiting = Turn::Wait { limited: true };
        let turn = |us, change: fn(&mut State)| {
            let mut state = sender(&profile, 1000, 30, 25, us);
            state.rtt.srtt8 = 8 * 900;
            change(&mut state);
            state.turn(&profile, 12)
        };
        // The first of 25 segments was sent 500 us ago, and is acknowledged 400 us from now; 450 us are near.
        assert_eq!(turn(500, |_| ()), waiting);
        assert_eq!(turn(400, |_| ()), Turn::Send(5), "too far");
        assert_eq!(turn(1001, |_| ()), Turn::Send(5), "it has sent nothing for a millisecond");
        assert_eq!(turn(500, |state| state.cwnd = 38), Turn::Send(12), "a whole burst");
        assert_eq!(turn(500, |state| state.phase = Phase::Recovery), Turn::Send(5));
        assert_eq!(turn(500, |state| (state.end, state.closed) = (29, true)), Turn::Send(3), "no more data");
        assert_eq!(turn(500, |state| state.chunk_end = 29), Turn::Send(5), "what was begun is whole");
        // A third of a window.
        let mut small = sender(&profile, 1000, 12, 8, 500);
        small.rtt.srtt8 = 8 * 900;
        assert_eq!(small.turn(&profile, 12), Turn::Send(4));
    }

    #[test]
    fn what_one_burst_had_is_sent_again_at_once() {
        let profile = profile();
        let mut state = sender(&profile, 1000, 100, 4, 100);
        for _ in 0..3 {
            let sent = state.record(state.clock.us);
            state.board.push(sent);
        }
        for seq in [1, 2, 3, 4, 5] {
            state.board.flag(seq, 0, super::super::board::LOST);
        }
        state.nxt = 8;
        assert_eq!(
            (state.lost_together(1, 10), state.lost_together(1, 3), state.lost_together(5, 10)),
            (4, 3, 1)
        );
    }
}
