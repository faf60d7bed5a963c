//! `short` flows: when each arrives, over which path, and how much it has to send.
//!
//! Gaps and extents have streams of their own, from which nothing else draws: they are the same whatever the
//! network does to the flows.

use crate::flow::{draw, draw_payload};
use crate::rng::Stream;
use aqm::unit::{Span, Time};
use scenario::model::{Extent, Short, Traffic};

/// The arrivals of a `short` entry. All its processes draw from here: together they are one process.
#[derive(Debug)]
pub(crate) struct Arrivals {
    pub(crate) class: u16,
    pub(crate) profile: u16,
    law: Short,
    stop: Time,
    /// The ways there and back, dealt out in turn.
    paths: Vec<(u32, u32)>,
    number: usize,
    gaps: Stream,
    extents: Stream,
}

/// A flow that arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Arrival {
    pub(crate) paths: (u32, u32),
    pub(crate) amount: Amount,
}

/// What a `short` flow has to send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Amount {
    /// As much as it can for so long.
    Lifetime(Span),
    /// So many payload bytes.
    Size(u64),
}

impl Arrivals {
    pub(crate) fn new(
        class: u16,
        profile: u16,
        entry: &Traffic,
        law: &Short,
        seed: u64,
        paths: impl FnMut(usize) -> (u32, u32),
    ) -> Self {
        let (from, to) = (entry.from.len(), entry.to.len());
        let pairs = (1..).find(|i| i % from == 0 && i % to == 0).expect("at most the product");
        let stream = |what| Stream::new(seed, &format!("traffic.{}.{what}", entry.name));
        let (gaps, extents) = match law.extent {
            Extent::Lifetime(_) => (stream("arrivals"), stream("lifetimes")),
            Extent::Size(_) => (stream("arrivals"), stream("sizes")),
        };
        let paths = (0..pairs).map(paths).collect();
        let stop = entry.stop.map_or(Time::MAX, |stop| Time::ZERO + stop);
        Self { class, profile, law: law.clone(), stop, paths, number: 0, gaps, extents }
    }

    /// When the next flow arrives after one at `now`, or after the start.
    pub(crate) fn after(&mut self, now: Time) -> Time {
        now + draw(&self.law.interarrival, &mut self.gaps)
    }

    /// The flow that arrives at `now`; `None` from the stop on.
    pub(crate) fn arrive(&mut self, now: Time) -> Option<Arrival> {
        if now >= self.stop {
            return None;
        }
        let paths = self.paths[self.number % self.paths.len()];
        self.number += 1;
        let amount = match &self.law.extent {
            Extent::Lifetime(law) => Amount::Lifetime(draw(law, &mut self.extents)),
            Extent::Size(law) => Amount::Size(draw_payload(law, &mut self.extents)),
        };
        Some(Arrival { paths, amount })
    }
}
