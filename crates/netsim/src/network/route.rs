//! The paths in use, in the form for the packet path; [`scenario::model::route`] finds them.

use crate::network::ahead::Plan;
use aqm::unit::Span;
use scenario::Scenario;
use scenario::model::{EcnPath, Link, Traffic};
use std::collections::HashMap;

/// Marks the end of a path among the hops.
pub(crate) const END: u32 = u32::MAX;
/// Set in a hop whose link has an algorithm, so that the link itself need not be asked.
const AQM: u32 = 1 << 31;
/// What happens after a hop: [`Then`].
const THEN: u32 = 3 << 29;
const THEN_WAITS: u32 = (Then::Waits as u32) << 29;
const THEN_EARLY: u32 = (Then::Early as u32) << 29;
const THEN_GOES_ON: u32 = (Then::GoesOn as u32) << 29;
/// Set in a hop whose link has a gate.
const GATED: u32 = 1 << 28;
/// Set in a hop whose link has an algorithm and works ahead.
const AHEAD: u32 = 1 << 27;
const FLAGS: u32 = AQM | THEN | GATED | AHEAD;

/// One hop of a path: a link, with its properties and what happens after it; or the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop(u32);

/// What happens to a packet after a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// The next link takes it over, before its time.
    GoesOn,
    /// It waits on the link's line for the time at which it is at the other end.
    Waits,
    /// It is delivered, before its time.
    Early,
    /// As `Waits`, for a time of its own or without its mark; there may be two of it.
    Apart,
}

impl Hop {
    #[inline]
    pub(crate) const fn is_end(self) -> bool {
        self.0 == END
    }

    /// Whether it is a plain link without a gate. Not to be asked at the end.
    #[inline]
    pub(crate) const fn is_simple(self) -> bool {
        self.0 & (AQM | GATED) == 0
    }

    /// Whether it is a simple link on whose line the packet then waits. Not to be asked at the end.
    #[inline]
    pub(crate) const fn is_simple_then_waits(self) -> bool {
        self.0 & (AQM | GATED | THEN) == THEN_WAITS
    }

    #[inline]
    pub(crate) const fn has_aqm(self) -> bool {
        self.0 & AQM != 0
    }

    /// Not to be asked at the end of a path.
    #[inline]
    pub(crate) const fn then(self) -> Then {
        match self.0 & THEN {
            THEN_WAITS => Then::Waits,
            THEN_EARLY => Then::Early,
            THEN_GOES_ON => Then::GoesOn,
            _ => Then::Apart,
        }
    }

    #[inline]
    pub(crate) const fn works_ahead(self) -> bool {
        self.0 & AHEAD != 0
    }

    #[inline]
    pub(crate) const fn is_gated(self) -> bool {
        self.0 & GATED != 0
    }

    #[inline]
    pub(crate) const fn link(self) -> usize {
        (self.0 & !FLAGS) as usize
    }
}

/// The first hops of the two paths of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Paths {
    /// From its sender to its receiver.
    pub(crate) forward: u32,
    /// From its receiver to its sender.
    pub(crate) reverse: u32,
}

impl Paths {
    /// The paths of an entry's flows. With jitter they start at the [`END`] before their first link. The fast path refuses an
    /// [`END`], so that packets without jitter need no check of their own.
    pub(crate) fn of(entry: &Traffic, flow: usize, mut path: impl FnMut(usize, usize) -> u32) -> Self {
        let (from, to) = (entry.from[flow % entry.from.len()], entry.to[flow % entry.to.len()]);
        let waits = u32::from(entry.send_jitter > Span::ZERO);
        Self { forward: path(from, to) - waits, reverse: path(to, from) - waits }
    }

    /// The paths of a connection in the other direction.
    pub(crate) const fn reversed(self) -> Self {
        Self { forward: self.reverse, reverse: self.forward }
    }
}

/// All paths in use, one after the other, each ended by [`END`].
#[derive(Debug)]
pub(crate) struct Routes<'a> {
    links: &'a [Link],
    shortest: scenario::model::route::Routes<'a>,
    hops: Vec<u32>,
    known: HashMap<(usize, usize), u32>,
}

impl<'a> Routes<'a> {
    pub(crate) fn new(nodes: usize, links: &'a [Link]) -> Self {
        let shortest = scenario::model::route::Routes::new(nodes, links);
        Self { links, shortest, hops: Vec::new(), known: HashMap::new() }
    }

    /// The same, with an [`END`] before the first path if hosts have jitter: see [`Paths::of`]. Elsewhere it would only change
    /// the numbers of hops, by which queues hash flows.
    pub(crate) fn of(scenario: &'a Scenario) -> Self {
        let waits = scenario.traffic.iter().any(|entry| entry.send_jitter > Span::ZERO);
        Self { hops: vec![END; usize::from(waits)], ..Self::new(scenario.nodes.len(), &scenario.links) }
    }

    /// The number of the first hop of the path between two nodes.
    ///
    /// # Panics
    /// If there is none: a checked scenario has one for all its traffic.
    pub(crate) fn path(&mut self, from: usize, to: usize) -> u32 {
        if let Some(&start) = self.known.get(&(from, to)) {
            return start;
        }
        let start = self.hops.len() as u32;
        let path = self.shortest.path(from, to);
        assert!(from == to || !path.is_empty(), "the scenario was checked: every pair has a path");
        self.hops.extend(path.into_iter().map(|link| link as u32));
        self.hops.push(END);
        self.known.insert((from, to), start);
        start
    }

    /// The links of the path that starts at the hop `start`.
    pub(crate) fn links_from(&self, start: u32) -> &[u32] {
        self.hops[start as usize..].split(|&hop| hop == END).next().unwrap_or_default()
    }

    /// The links of every path.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &[u32]> {
        self.hops.split(|&hop| hop == END).filter(|path| !path.is_empty())
    }

    /// For every link, the link that carries all of its packets before it, if there is only one.
    pub(crate) fn feeders(&self) -> Vec<Option<u32>> {
        const UNKNOWN: u32 = u32::MAX;
        let mut feeders = vec![Some(UNKNOWN); self.links.len()];
        let mut previous = END;
        for &hop in &self.hops {
            if hop != END {
                let feeder = &mut feeders[hop as usize];
                let is_same =
                    previous != END && feeder.is_some_and(|link| link == UNKNOWN || link == previous);
                *feeder = is_same.then_some(previous);
            }
            previous = hop;
        }
        feeders.into_iter().map(|feeder| feeder.filter(|&link| link != UNKNOWN)).collect()
    }

    /// The nodes that the path of each hop joins, by the hop's number.
    pub(crate) fn hosts(&self) -> Vec<[u32; 2]> {
        let mut hosts = vec![[0; 2]; self.hops.len()];
        for (&(from, to), &start) in &self.known {
            let own = self.links_from(start).len() + 1;
            hosts[start as usize..][..own].fill([from as u32, to as u32]);
        }
        hosts
    }

    /// The number of the first hop of each path, by the nodes that it joins.
    pub(crate) fn starts(&self) -> HashMap<(usize, usize), u32> {
        self.known.clone()
    }

    /// All hops of all paths, for an engine that works ahead as planned.
    pub(crate) fn into_hops(self, plan: &Plan) -> Vec<Hop> {
        assert!(self.links.len() <= !FLAGS as usize, "a scenario has fewer links than this");
        let hop = |(at, &number): (usize, &u32)| {
            if number == END {
                return Hop(END);
            }
            let i = number as usize;
            let link = &self.links[i];
            let then = match self.hops[at + 1] {
                // A packet that goes on with another ECN field must be written down first.
                _ if link.variation.is_some() || link.ecn_path == EcnPath::ClearMarks => Then::Apart,
                _ if link.ecn_path == EcnPath::Clear => Then::Waits,
                END if plan.nodes[link.to] => Then::Early,
                next if next != END && plan.takes_over[next as usize] => Then::GoesOn,
                _ => Then::Waits,
            };
            let gated = link.has_gate() || plan.may_lose;
            let flags = [(AQM, link.aqm.is_some()), (GATED, gated), (AHEAD, plan.links[i])];
            let hop = number | (then as u32) << THEN.trailing_zeros();
            Hop(flags.iter().filter(|(_, set)| *set).fold(hop, |hop, (flag, _)| hop | flag))
        };
        self.hops.iter().enumerate().map(hop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::ahead::takes_over;
    use aqm::unit::{Bytes, Limit, Rate, Span};
    use scenario::Distribution;

    fn link(from: usize, to: usize) -> Link {
        Link {
            name: format!("{from}-{to}"),
            from,
            to,
            rate: Rate::mbit_per_s(1),
            changes: Vec::new(),
            changes_period: None,
            recorded: false,
            outages: Vec::new(),
            outages_period: None,
            delay: Distribution::Fixed(Span::ZERO),
            variation: None,
            handover: None,
            loss: None,
            ecn_path: EcnPath::Pass,
            buffer: Limit::Packets(1),
            aqm: None,
            overhead: Bytes(0),
            framing: None,
            half_duplex: None,
            wifi: None,
            cell: None,
            subscriber: None,
            packet: Bytes(500),
        }
    }

    #[test]
    fn the_path_with_the_fewest_links_is_taken() {
        let links = [link(0, 1), link(1, 2), link(2, 3), link(0, 3), link(3, 0)];
        let mut routes = Routes::new(4, &links);
        let (long, short, again) = (routes.path(0, 2), routes.path(0, 3), routes.path(0, 2));
        assert_eq!((long, short, again), (0, 3, 0));
        assert_eq!(routes.hops, [0, 1, END, 3, END]);
    }

    #[test]
    fn each_hop_has_the_hosts_of_its_path() {
        let links = [link(0, 1), link(1, 2), link(2, 0)];
        let mut routes = Routes::new(3, &links);
        routes.path(0, 2);
        routes.path(2, 0);
        assert_eq!(routes.hosts(), [[0, 2], [0, 2], [0, 2], [2, 0], [2, 0]]);
    }

    #[test]
    fn a_link_where_flows_merge_is_not_fed_by_one() {
        // 0 -> 2 and 1 -> 2 merge on 2 -> 3; 3 -> 4 sees only what 2 -> 3 carried.
        let links = [link(0, 2), link(1, 2), link(2, 3), link(3, 4)];
        let mut routes = Routes::new(5, &links);
        routes.path(0, 4);
        routes.path(1, 4);
        assert_eq!(routes.feeders(), [None, None, None, Some(2)]);
        let takes_over = takes_over(&links, &[false; 4], &routes.feeders());
        let plan = Plan { links: vec![false; 4], nodes: vec![false; 5], takes_over, may_lose: false };
        let hops = routes.into_hops(&plan);
        assert!(hops[2].link() == 3 && hops[3].is_end());
        assert_eq!([0, 1, 2].map(|i| hops[i].then()), [Then::Waits, Then::GoesOn, Then::Waits]);
    }

    #[test]
    fn a_hop_names_what_its_link_is_and_what_follows() {
        let mut links = [link(0, 1), link(1, 2), link(2, 3)];
        links[1].loss = Some(scenario::model::Loss::Bernoulli(0.5));
        let mut routes = Routes::new(4, &links);
        routes.path(0, 3);
        routes.path(0, 2);
        let plan = Plan {
            links: vec![false, false, true],
            nodes: vec![false, false, false, true],
            takes_over: vec![false, true, true],
            may_lose: false,
        };
        let hops = routes.into_hops(&plan);
        assert_eq!([0, 1, 2].map(|i| hops[i].then()), [Then::GoesOn, Then::GoesOn, Then::Early]);
        // The same link as the last of another path.
        assert_eq!((hops[5].link(), hops[5].then()), (1, Then::Waits));
        assert_eq!([0, 1, 2].map(|i| hops[i].is_simple()), [true, false, true]);
        assert_eq!([1, 5].map(|i| (hops[i].is_gated(), hops[i].is_simple_then_waits())), [(true, false); 2]);
        assert_eq!([0, 1, 2].map(|i| hops[i].works_ahead()), [false, false, true]);
    }

    #[test]
    fn a_packet_that_is_changed_on_a_link_is_put_down_there() {
        for (ecn_path, then, gated) in [
            (EcnPath::Pass, Then::GoesOn, false),
            (EcnPath::Clear, Then::Waits, true),
            (EcnPath::ClearMarks, Then::Apart, false),
            (EcnPath::Drop, Then::GoesOn, true),
            (EcnPath::Refuse, Then::GoesOn, true),
        ] {
            let mut links = [link(0, 1), link(1, 2)];
            links[0].ecn_path = ecn_path;
            let mut routes = Routes::new(3, &links);
            routes.path(0, 2);
            let takes_over = vec![false, true];
            let plan = Plan { links: vec![false; 2], nodes: vec![false; 3], takes_over, may_lose: false };
            let hop = routes.into_hops(&plan)[0];
            assert_eq!((hop.then(), hop.is_gated()), (then, gated), "{ecn_path:?}");
            assert!(hop.is_simple() != gated && !hop.is_simple_then_waits(), "{ecn_path:?}");
        }
    }
}
