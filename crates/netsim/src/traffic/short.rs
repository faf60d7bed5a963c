//! `short` flows: when each arrives, and how much it has to send.
//!
//! Gaps and extents have streams of their own, from which nothing else draws: they are the same whatever the
//! network does to the flows.

use crate::engine::rng::Stream;
use crate::traffic::plan;
use aqm::unit::{Span, Time};
use scenario::model::{Extent, Short, Traffic};

/// The arrivals of a `short` entry. All its processes draw from here: together they are one process.
#[derive(Debug)]
pub struct Arrivals {
    law: Short,
    stop: Time,
    number: usize,
    gaps: Stream,
    extents: Stream,
}

/// A flow that arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrival {
    /// Its number among the flows of its entry; nodes are assigned to the flows in turn.
    pub number: usize,
    /// The amount that it sends.
    pub amount: Amount,
}

/// The amount that a `short` flow sends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Amount {
    /// Data without end, for this time.
    Lifetime(Span),
    /// This number of payload bytes.
    Size(u64),
}

impl Arrivals {
    /// The arrivals of `entry`, whose kind is `short` with this law, in the run with this seed.
    #[must_use]
    pub fn new(entry: &Traffic, law: &Short, seed: u64) -> Self {
        let stream = |what| Stream::new(seed, &format!("traffic.{}.{what}", entry.name));
        let (gaps, extents) = match law.extent {
            Extent::Lifetime(_) => (stream("arrivals"), stream("lifetimes")),
            Extent::Size(_) => (stream("arrivals"), stream("sizes")),
        };
        Self { law: law.clone(), stop: plan::stop(entry), number: 0, gaps, extents }
    }

    /// When the next flow arrives after one at `now`, or after the start.
    pub fn after(&mut self, now: Time) -> Time {
        now + self.gaps.draw(&self.law.interarrival)
    }

    /// Follows another law of gaps; returns how many times as long they are in the mean.
    pub(crate) fn follow(&mut self, law: &Short) -> f64 {
        let before = std::mem::replace(&mut self.law, law.clone()).interarrival;
        law.interarrival.mean() / before.mean()
    }

    /// The flow that arrives at `now`; `None` from the stop on.
    pub fn arrive(&mut self, now: Time) -> Option<Arrival> {
        if now >= self.stop {
            return None;
        }
        let number = self.number;
        self.number += 1;
        let amount = match &self.law.extent {
            Extent::Lifetime(law) => Amount::Lifetime(self.extents.draw(law)),
            Extent::Size(law) => Amount::Size(self.extents.draw_payload(law)),
        };
        Some(Arrival { number, amount })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Bytes;
    use scenario::Distribution;
    use scenario::model::{Dscp, Tcp, TrafficKind};

    fn arrivals(extent: Extent, seed: u64) -> Arrivals {
        let law = Short { interarrival: Distribution::Exponential(Span::ms(100)), extent };
        let entry = Traffic {
            name: "x".to_owned(),
            from: vec![0],
            to: vec![1],
            count: 1,
            packet_size: Bytes(500),
            send_jitter: Span::ZERO,
            class: 1,
            dscp: Dscp::Be,
            begin: Span::ZERO,
            start: Distribution::Fixed(Span::ZERO),
            stop: Some(Span::s(1)),
            kind: TrafficKind::Short(Tcp::default(), law.clone()),
        };
        Arrivals::new(&entry, &law, seed)
    }

    #[test]
    fn nothing_arrives_from_the_stop_on() {
        let mut arrivals = arrivals(Extent::Lifetime(Distribution::Fixed(Span::s(2))), 1);
        let stop = Time::ZERO + Span::s(1);
        let lifetime = Amount::Lifetime(Span::s(2));
        assert_eq!(arrivals.arrive(Time::from_nanos(stop.nanos() - 1)).unwrap().amount, lifetime);
        assert_eq!(arrivals.arrive(stop), None);
    }

    #[test]
    fn the_gaps_do_not_depend_on_what_the_flows_have_to_send() {
        let gaps = |extent, seed| {
            let mut arrivals = arrivals(extent, seed);
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
        let mut arrivals = arrivals(Extent::Size(Distribution::Exponential(Bytes(1))), 1);
        let sizes: Vec<_> = (0..100).map(|_| arrivals.arrive(Time::ZERO).unwrap().amount).collect();
        assert!(!sizes.contains(&Amount::Size(0)) && sizes.contains(&Amount::Size(1)));
    }
}
