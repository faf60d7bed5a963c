//! When the flows of a traffic entry start, and how much they have to send.

use crate::engine::rng::Stream;
use aqm::unit::{Bytes, Time};
use scenario::Distribution;
use scenario::model::Traffic;

/// A flow that is there for the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bulk {
    /// When it starts; [`Time::MAX`] if it would not start before its entry stops.
    pub start: Time,
    /// The payload in bytes that it sends; [`u64::MAX`] for data without end.
    pub payload: u64,
}

/// The flows of `entry`, whose kind is `ftp`, or `transfer` with these sizes, in the run with this seed.
pub fn bulk<'a>(
    entry: &'a Traffic,
    sizes: Option<&'a Distribution<Bytes>>,
    seed: u64,
) -> impl Iterator<Item = Bulk> + use<'a> {
    let mut rng = Stream::new(seed, &format!("traffic.{}.sizes", entry.name));
    starts(entry, seed).map(move |start| Bulk {
        start: if start < stop(entry) { start } else { Time::MAX },
        payload: sizes.map_or(u64::MAX, |sizes| rng.draw_payload(sizes)),
    })
}

/// When the flows, arrival processes or clients of `entry` start in the run with this seed. Start times have a stream
/// of their own: neither the AQM nor other traffic moves them.
pub fn starts(entry: &Traffic, seed: u64) -> impl Iterator<Item = Time> + use<'_> {
    let mut rng = Stream::new(seed, &format!("traffic.{}.start", entry.name));
    (0..entry.count).map(move |_| Time::ZERO + entry.begin + rng.draw(&entry.start))
}

/// When `entry` stops; [`Time::MAX`] if it does not.
#[must_use]
pub fn stop(entry: &Traffic) -> Time {
    entry.stop.map_or(Time::MAX, |stop| Time::ZERO + stop)
}
