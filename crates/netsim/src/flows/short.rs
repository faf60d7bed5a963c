//! `short` flows: when each arrives, over which path, and how much it has to send.
//!
//! Gaps and extents have streams of their own, from which nothing else draws: they are the same whatever the
//! network does to the flows.

use crate::engine::rng::Stream;
use crate::network::route::Paths;
use aqm::unit::{Span, Time};
use scenario::model::{Extent, Short, Traffic};

/// The arrivals of a `short` entry. All its processes draw from here: together they are one process.
#[derive(Debug)]
pub(crate) struct Arrivals {
    pub(crate) class: u16,
    pub(crate) profile: u16,
    law: Short,
    stop: Time,
    /// The pairs of paths, used in turn.
    paths: Vec<Paths>,
    number: usize,
    gaps: Stream,
    extents: Stream,
}

/// A flow that arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Arrival {
    pub(crate) paths: Paths,
    pub(crate) amount: Amount,
}

/// The amount that a `short` flow sends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Amount {
    /// Data without end, for this time.
    Lifetime(Span),
    /// This number of payload bytes.
    Size(u64),
}

impl Arrivals {
    pub(crate) fn new(
        class: u16,
        profile: u16,
        entry: &Traffic,
        law: &Short,
        seed: u64,
        paths: impl FnMut(usize) -> Paths,
    ) -> Self {
        let (from, to) = (entry.from.len(), entry.to.len());
        let stream = |what| Stream::new(seed, &format!("traffic.{}.{what}", entry.name));
        let (gaps, extents) = match law.extent {
            Extent::Lifetime(_) => (stream("arrivals"), stream("lifetimes")),
            Extent::Size(_) => (stream("arrivals"), stream("sizes")),
        };
        let paths = (0..pairs(from, to)).map(paths).collect();
        let stop = entry.stop.map_or(Time::MAX, |stop| Time::ZERO + stop);
        Self { class, profile, law: law.clone(), stop, paths, number: 0, gaps, extents }
    }

    /// When the next flow arrives after one at `now`, or after the start.
    pub(crate) fn after(&mut self, now: Time) -> Time {
        now + self.gaps.draw(&self.law.interarrival)
    }

    /// The flow that arrives at `now`; `None` from the stop on.
    pub(crate) fn arrive(&mut self, now: Time) -> Option<Arrival> {
        if now >= self.stop {
            return None;
        }
        let paths = self.paths[self.number % self.paths.len()];
        self.number += 1;
        let amount = match &self.law.extent {
            Extent::Lifetime(law) => Amount::Lifetime(self.extents.draw(law)),
            Extent::Size(law) => Amount::Size(self.extents.draw_payload(law)),
        };
        Some(Arrival { paths, amount })
    }
}

/// The number of different pairs of `from` nodes and `to` others that take turns.
pub(crate) fn pairs(from: usize, to: usize) -> usize {
    (1..).map(|i| i * from).find(|pairs| pairs.is_multiple_of(to)).expect("at most the product")
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Bytes;
    use scenario::Distribution;
    use scenario::model::{Kind, Tcp};

    fn arrivals(extent: Extent, from: usize, to: usize, seed: u64) -> Arrivals {
        let law = Short { interarrival: Distribution::Exponential(Span::ms(100)), extent };
        let entry = Traffic {
            name: "x".to_owned(),
            from: vec![0; from],
            to: vec![0; to],
            count: 1,
            packet_size: Bytes(500),
            class: 1,
            begin: Span::ZERO,
            start: Distribution::Fixed(Span::ZERO),
            stop: Some(Span::s(1)),
            kind: Kind::Short(Tcp::default(), law.clone()),
        };
        Arrivals::new(0, 0, &entry, &law, seed, |i| Paths {
            forward: (i % from) as u32,
            reverse: (i % to) as u32,
        })
    }

    #[test]
    fn flows_are_dealt_out_to_the_pairs_in_turn() {
        let mut arrivals = arrivals(Extent::Size(Distribution::Fixed(Bytes(7))), 2, 3, 1);
        let found: Vec<_> = (0..8).map(|_| arrivals.arrive(Time::ZERO).unwrap()).collect();
        assert!(found.iter().all(|arrival| arrival.amount == Amount::Size(7)));
        let paths: Vec<_> =
            found.iter().map(|arrival| (arrival.paths.forward, arrival.paths.reverse)).collect();
        assert_eq!(paths, [(0, 0), (1, 1), (0, 2), (1, 0), (0, 1), (1, 2), (0, 0), (1, 1)]);
    }

    #[test]
    fn nothing_arrives_from_the_stop_on() {
        let mut arrivals = arrivals(Extent::Lifetime(Distribution::Fixed(Span::s(2))), 1, 1, 1);
        let stop = Time::ZERO + Span::s(1);
        let lifetime = Amount::Lifetime(Span::s(2));
        assert_eq!(arrivals.arrive(Time::from_nanos(stop.nanos() - 1)).unwrap().amount, lifetime);
        assert_eq!(arrivals.arrive(stop), None);
    }

    #[test]
    fn the_gaps_do_not_depend_on_what_the_flows_have_to_send() {
        let gaps = |extent, seed| {
            let mut arrivals = arrivals(extent, 1, 1, seed);
            let mut next = || {
                arrivals.arrive(Time::ZERO);
                arrivals.after(Time::ZERO)
            };
            [next(), next(), next()]
        };
        let fixed = gaps(Extent::Size(Distribution::Fixed(Bytes(1))), 1);
        assert_eq!(gaps(Extent::Size(Distribution::Pareto(Bytes(10_000), 1.3)), 1), fixed);
        assert_eq!(gaps(Extent::Lifetime(Distribution::Exponential(Span::s(1))), 1), fixed);
        assert_ne!(gaps(Extent::Size(Distribution::Fixed(Bytes(1))), 2), fixed);
        assert!(fixed[0] != fixed[1]);
    }

    #[test]
    fn a_size_is_never_nothing() {
        let mut arrivals = arrivals(Extent::Size(Distribution::Exponential(Bytes(1))), 1, 1, 1);
        let sizes: Vec<_> = (0..100).map(|_| arrivals.arrive(Time::ZERO).unwrap().amount).collect();
        assert!(!sizes.contains(&Amount::Size(0)) && sizes.contains(&Amount::Size(1)));
    }
}
