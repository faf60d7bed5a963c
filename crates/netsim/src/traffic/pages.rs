//! What a reader of pages draws, and a viewer chooses: think times and the sizes of objects.

use crate::engine::rng::Stream;
use crate::traffic::plan;
use crate::traffic::player::Player;
use aqm::unit::{Span, Time};
use run::Playback;
use scenario::model::{Traffic, Web};

/// A client's draws. Every client has its own stream, and draws a session's think time and then the sizes of its
/// objects in the order in which it asks: the sequence does not depend on the network.
#[derive(Debug)]
pub struct Reader {
    rng: Stream,
    /// Objects of the session that are not yet requested.
    unasked: u32,
    /// Who plays the objects, if they are a video.
    player: Option<Player>,
}

/// The clients of `entry`, whose kind is `web` or `dash`, in the run with this seed: when the first session of each begins.
pub fn readers<'a>(
    entry: &'a Traffic,
    web: &'a Web,
    seed: u64,
) -> impl Iterator<Item = (Time, Reader)> + use<'a> {
    plan::starts(entry, seed).enumerate().map(move |(i, start)| {
        let mut reader = reader(entry, web, seed, i);
        (start + reader.think(web), reader)
    })
}

/// The client with number `i` of `entry`.
pub(crate) fn reader(entry: &Traffic, web: &Web, seed: u64, i: usize) -> Reader {
    Reader::new(Stream::new(seed, &format!("traffic.{}.client.{}", entry.name, i + 1)), web)
}

/// The connections of a session: no more than it has objects.
#[must_use]
pub fn connections(web: &Web) -> u16 {
    web.connections.min(web.objects) as u16
}

impl Reader {
    pub(crate) fn new(rng: Stream, web: &Web) -> Self {
        Self { rng, unasked: 0, player: web.video.clone().map(Player::new) }
    }

    /// The think time before the next session.
    pub fn think(&mut self, web: &Web) -> Span {
        self.rng.draw(&web.think)
    }

    /// Begins a session.
    pub fn begin(&mut self, web: &Web, now: Time) {
        self.unasked = web.objects;
        self.player.iter_mut().for_each(|player| player.begin(now));
    }

    /// The size in bytes of the object that is asked for next; `None` if the session has no more.
    pub fn ask(&mut self, web: &Web) -> Option<u64> {
        self.unasked = self.unasked.checked_sub(1)?;
        Some(self.player.as_mut().map_or_else(|| self.rng.draw_payload(&web.size), Player::ask))
    }

    /// An object has arrived, so long after its request; returns how long to wait before the next.
    pub fn take(&mut self, now: Time, took: Span) -> Span {
        self.player.as_mut().map_or(Span::ZERO, |player| player.take(now, took))
    }

    /// Whether it plays a video.
    #[must_use]
    pub const fn plays(&self) -> bool {
        self.player.is_some()
    }

    /// The playback until now.
    #[must_use]
    pub fn playback(&self, now: Time) -> Playback {
        self.player.as_ref().map_or_else(Playback::default, |player| player.playback(now))
    }
}
