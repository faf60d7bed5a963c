//! How a video was played.

use serde::{Deserialize, Serialize};

/// The playback of one client, or of several together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Playback {
    /// Chunks that arrived.
    pub chunks: u64,
    /// The sum of their bitrates, in bit/s.
    pub bitrates: u64,
    /// Chunks of another bitrate than the one before.
    pub switches: u64,
    /// The time that was played, and the time that was waited for a chunk after the first, in ns.
    pub played: u64,
    /// See `played`.
    pub stalled: u64,
}

impl Playback {
    /// Adds the playback of another client.
    pub const fn add(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.bitrates += other.bitrates;
        self.switches += other.switches;
        self.played += other.played;
        self.stalled += other.stalled;
    }

    /// The mean bitrate of the chunks in bit/s, if there are any.
    #[must_use]
    pub fn bitrate(&self) -> Option<f64> {
        (self.chunks > 0).then(|| self.bitrates as f64 / self.chunks as f64)
    }

    /// The part of the chunks that had another bitrate than the one before.
    #[must_use]
    pub fn switch_ratio(&self) -> Option<f64> {
        (self.chunks > 0).then(|| self.switches as f64 / self.chunks as f64)
    }

    /// The part of the time since the first chunk in which none was there to be played.
    #[must_use]
    pub fn stall_ratio(&self) -> Option<f64> {
        let all = self.played + self.stalled;
        (all > 0).then(|| self.stalled as f64 / all as f64)
    }
}
