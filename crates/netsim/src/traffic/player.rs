//! A client that plays a video: it chooses the bitrate of each chunk, and keeps some of the video ahead.
//!
//! ```text
//! w       = harmonic mean of the rates at which the last 20 chunks came
//! target  = the best version whose bitrate is at most 0.85 w, or the first
//! next    = one version down if the target is below the present one; one up if it is above, once as many chunks of the
//!           present one came as its number says (1 for the first)
//! ```
//!
//! The client begins with the first version, and plays from the first chunk on. It asks for the next chunk when the last
//! has arrived and there is room for another; else it waits until there is.
//!
//! Left out of the source: its random variation of the room, and the weighing of efficiency against stability.
//!
//! Source: Jiang, Sekar, Zhang, "Improving fairness, efficiency, and stability in HTTP-based adaptive video streaming with
//! FESTIVE", CoNEXT 2012.

use aqm::unit::{Span, Time};
use run::Playback;
use scenario::model::Video;
use std::sync::Arc;

/// Chunks over which the rate is a mean.
const CHUNKS: usize = 20;
/// The part of the rate that a bitrate may have.
const USED: f64 = 0.85;

/// A client's player.
#[derive(Clone, Debug)]
pub struct Player {
    video: Arc<Video>,
    /// Seconds a bit of the last chunks, oldest first.
    paces: Vec<f64>,
    version: usize,
    /// Chunks of this version in a row, and the version of the one before.
    same: usize,
    before: Option<usize>,
    /// The part of the video that was ahead when the last chunk had arrived, and the time of that.
    ahead: Span,
    at: Option<Time>,
    /// Whether a chunk is on its way.
    asks: bool,
    playback: Playback,
}

impl Player {
    pub(super) const fn new(video: Arc<Video>) -> Self {
        Self {
            video,
            paces: Vec::new(),
            version: 0,
            same: 0,
            before: None,
            ahead: Span::ZERO,
            at: None,
            asks: false,
            playback: Playback { chunks: 0, bitrates: 0, switches: 0, played: 0, stalled: 0 },
        }
    }

    /// Another video begins: the part of the last one that was ahead has been played by now.
    pub(super) fn begin(&mut self, now: Time) {
        let playback = self.playback(now);
        *self = Self { playback, ..Self::new(self.video.clone()) };
    }

    /// Chooses the next chunk, and returns its size in bytes.
    pub(super) fn ask(&mut self) -> u64 {
        self.asks = true;
        if let Some(target) = self.target() {
            let next = match target {
                lower if lower < self.version => self.version - 1,
                higher if higher > self.version && self.same > self.version => self.version + 1,
                _ => self.version,
            };
            if next != self.version {
                (self.version, self.same) = (next, 0);
            }
        }
        self.video.size(self.version)
    }

    /// The version that the rate allows, once it is known.
    fn target(&self) -> Option<usize> {
        if self.paces.is_empty() {
            return None;
        }
        let rate = self.paces.len() as f64 / self.paces.iter().sum::<f64>();
        let fitting = self.video.bitrates.partition_point(|bitrate| bitrate.bits() <= USED * rate);
        Some(fitting.saturating_sub(1))
    }

    /// A chunk has arrived, so long after its request; returns how long to wait before the next.
    pub(super) fn take(&mut self, now: Time, took: Span) -> Span {
        self.play(now);
        (self.at, self.asks) = (Some(now), false);
        self.ahead = self.ahead + self.video.chunk;
        if self.paces.len() == CHUNKS {
            self.paces.remove(0);
        }
        self.paces.push(took.secs().max(1e-9) / (8.0 * self.video.size(self.version) as f64));
        self.same += 1;
        self.playback.chunks += 1;
        self.playback.bitrates += self.video.bitrates[self.version].whole_bits();
        self.playback.switches += u64::from(self.before.is_some_and(|before| before != self.version));
        self.before = Some(self.version);
        let room = self.video.buffer.nanos() - self.video.chunk.nanos();
        Span::ns(self.ahead.nanos().saturating_sub(room))
    }

    /// Plays until now, as far as there is anything ahead.
    fn play(&mut self, now: Time) {
        let Some(at) = self.at else { return };
        let passed = now.since(at).nanos();
        let played = passed.min(self.ahead.nanos());
        self.ahead = Span::ns(self.ahead.nanos() - played);
        self.playback.played += played;
        self.playback.stalled += passed - played;
    }

    /// The playback until now; at its end it waits for a chunk that is on its way, if there is one.
    #[must_use]
    pub fn playback(&self, now: Time) -> Playback {
        let mut end = self.clone();
        end.play(now);
        if !self.asks {
            end.playback.stalled = self.playback.stalled;
        }
        end.playback
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Rate;

    /// Versions of 1, 2 and 4 Mbit/s, chunks of 2 s, a buffer of 10 s.
    fn player() -> Player {
        Player::new(Arc::new(Video {
            bitrates: [1, 2, 4].map(Rate::mbit_per_s).to_vec(),
            chunk: Span::s(2),
            buffer: Span::s(10),
        }))
    }

    /// Fetches chunks over a network of this rate, without a pause; the sizes in Mbit, and the waits in s.
    fn fetch(player: &mut Player, now: &mut Time, chunks: usize, mbit_per_s: f64) -> Vec<(f64, f64)> {
        let one = |_| {
            let size = player.ask() as f64 * 8e-6;
            let took = Span::from_secs(size / mbit_per_s);
            *now += took;
            let wait = player.take(*now, took);
            *now += wait;
            (size, wait.secs())
        };
        (0..chunks).map(one).collect()
    }

    #[test]
    fn a_version_is_left_upwards_after_as_many_chunks_as_its_number_and_downwards_at_once() {
        let (mut player, mut now) = (player(), Time::ZERO);
        let sizes = |found: Vec<(f64, f64)>| found.into_iter().map(|(size, _)| size).collect::<Vec<_>>();
        assert_eq!(sizes(fetch(&mut player, &mut now, 5, 100.0)), [2.0, 4.0, 4.0, 8.0, 8.0]);
        // 85 % of the harmonic mean are less than 4 Mbit/s at the second chunk, and less than 2 at the third.
        let slow = sizes(fetch(&mut player, &mut now, 6, 0.5));
        assert_eq!(slow, [8.0, 4.0, 2.0, 2.0, 2.0, 2.0]);
        assert_eq!(player.playback(now).switches, 4);
        assert_eq!(player.playback(now).chunks, 11);
    }

    #[test]
    fn the_client_waits_while_there_is_no_room() {
        let (mut player, mut now) = (player(), Time::ZERO);
        let waits: Vec<f64> =
            fetch(&mut player, &mut now, 8, 100.0).into_iter().map(|(_, wait)| wait).collect();
        // Four chunks, less what was played meanwhile, leave room for one more.
        assert!(waits[..4].iter().all(|&wait| wait == 0.0), "{waits:?}");
        assert!(waits[5..].iter().all(|&wait| (1.8..2.0).contains(&wait)), "{waits:?}");
        assert_eq!(player.playback(now).stalled, 0);
    }

    #[test]
    fn what_is_not_there_in_time_is_waited_for() {
        let (mut player, mut now) = (player(), Time::ZERO);
        // 2 Mbit take 4 s, of which 2 are played; not the first 4.
        fetch(&mut player, &mut now, 3, 0.5);
        let playback = player.playback(now);
        assert_eq!((playback.played, playback.stalled), (4_000_000_000, 4_000_000_000));
        assert_eq!((playback.stall_ratio(), playback.bitrate()), (Some(0.5), Some(1e6)));
        // The last chunk is played, and then it is over, or the next is waited for.
        let later = now + Span::s(5);
        assert_eq!(player.playback(later).stalled, 4_000_000_000);
        player.ask();
        assert_eq!(player.playback(later).stalled, 7_000_000_000);
        // A chunk may arrive a moment after the end of a run in real time.
        assert_eq!(player.playback(Time::ZERO), player.playback(now));
    }
}
