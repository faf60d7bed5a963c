//! Static shortest-path routes: fewest links, and among those the links that come first in the scenario.

use crate::ahead::Plan;
use crate::clock::Clock;
use scenario::model::Link;
use std::collections::{HashMap, VecDeque};

/// Marks the end of a path among the hops.
pub(crate) const END: u32 = u32::MAX;
/// The same where a packet may be delivered before its time (see [`crate::ahead`]).
const EARLY_END: u32 = u32::MAX - 1;
/// Set in a hop whose link has an algorithm, so that the link itself need not be asked.
const MANAGED: u32 = 1 << 31;
/// Set in a hop whose link takes its packets over from the link before it (see [`fed_by_one`]).
const CHAINED: u32 = 1 << 30;
/// Set in a hop whose link loses packets by chance.
const LOSSY: u32 = 1 << 29;
/// Set in a hop whose link has an algorithm and works ahead.
const AHEAD: u32 = 1 << 28;
/// Set in all hops on the double clock, where the packets of a plain link leave one at a time.
const ORDERED: u32 = 1 << 27;
const FLAGS: u32 = MANAGED | CHAINED | LOSSY | AHEAD | ORDERED;

/// One hop of a path: a link and what is to know of it, or the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hop(u32);

impl Hop {
    #[inline]
    pub(crate) const fn is_end(self) -> bool {
        self.0 >= EARLY_END
    }

    /// Whether it is a plain link on the integer clock that loses nothing by chance. Not to be asked at the end.
    #[inline]
    pub(crate) const fn is_simple(self) -> bool {
        self.0 & (MANAGED | LOSSY | ORDERED) == 0
    }

    #[inline]
    pub(crate) const fn is_managed(self) -> bool {
        self.0 & MANAGED != 0
    }

    /// Whether it is the end of a path, and a packet may be delivered there before its time.
    #[inline]
    pub(crate) const fn is_early_end(self) -> bool {
        self.0 == EARLY_END
    }

    /// Not to be asked at the end of a path.
    #[inline]
    pub(crate) const fn is_chained(self) -> bool {
        self.0 & CHAINED != 0
    }

    #[inline]
    pub(crate) const fn works_ahead(self) -> bool {
        self.0 & AHEAD != 0
    }

    #[inline]
    pub(crate) const fn is_lossy(self) -> bool {
        self.0 & LOSSY != 0
    }

    #[inline]
    pub(crate) const fn link(self) -> usize {
        (self.0 & !FLAGS) as usize
    }
}

/// Trees are kept until they have so many entries together, 64 MB.
const MOST_ENTRIES: usize = 1 << 24;

/// All paths in use, one after the other, each ended by [`END`].
#[derive(Debug)]
pub(crate) struct Routes<'a> {
    links: &'a [Link],
    outgoing: Vec<Vec<u32>>,
    hops: Vec<u32>,
    known: HashMap<(usize, usize), u32>,
    /// For the nodes that were searched from, the link by which each other node is reached.
    trees: HashMap<usize, Vec<u32>>,
}

impl<'a> Routes<'a> {
    pub(crate) fn new(nodes: usize, links: &'a [Link]) -> Self {
        let mut outgoing = vec![Vec::new(); nodes];
        for (i, link) in links.iter().enumerate() {
            outgoing[link.from].push(i as u32);
        }
        Self { links, outgoing, hops: Vec::new(), known: HashMap::new(), trees: HashMap::new() }
    }

    /// Where the path between two nodes starts among the hops.
    ///
    /// # Panics
    /// If there is none: a checked scenario has one for all its traffic.
    pub(crate) fn path(&mut self, from: usize, to: usize) -> u32 {
        if let Some(&start) = self.known.get(&(from, to)) {
            return start;
        }
        let start = self.hops.len() as u32;
        // A host with one link goes wherever its neighbour goes, so that a search a router serves all its hosts.
        let (root, access) = match self.outgoing[from][..] {
            [access] if from != to => (self.links[access as usize].to, Some(access)),
            _ => (from, None),
        };
        if self.trees.len() * self.outgoing.len() > MOST_ENTRIES {
            self.trees.clear();
        }
        let via = self.trees.entry(root).or_insert_with(|| search(&self.outgoing, self.links, root));
        let mut node = to;
        while node != root {
            assert!(via[node] != END, "the scenario was checked: every pair has a path");
            self.hops.push(via[node]);
            node = self.links[via[node] as usize].from;
        }
        self.hops.extend(access);
        self.hops[start as usize..].reverse();
        self.hops.push(END);
        self.known.insert((from, to), start);
        start
    }

    /// First and last link of every path.
    pub(crate) fn ways(&self) -> impl Iterator<Item = (u32, u32)> {
        self.hops.split(|&hop| hop == END).filter_map(|path| Some((*path.first()?, *path.last()?)))
    }

    /// All hops of all paths, for an engine that works ahead as planned. On the double clock each hop has its place in
    /// the order of what happens at one instant, and no link takes packets over from another.
    pub(crate) fn into_hops(self, clock: Clock, plan: &Plan) -> Vec<Hop> {
        let chained = fed_by_one(&self.hops, self.links.len());
        let mut node = 0;
        let mut hop = |number: u32| {
            if number == END {
                return Hop(if plan.nodes[node] { EARLY_END } else { END });
            }
            let i = number as usize;
            let link = &self.links[i];
            node = link.to;
            let ahead = plan.links[i];
            // A rate that changes is known at its time.
            let may_chain =
                clock == Clock::Integer && link.changes.is_empty() && (ahead || link.aqm.is_none());
            let flags = [
                (MANAGED, link.aqm.is_some()),
                (CHAINED, may_chain && chained[i]),
                (LOSSY, link.loss.is_some()),
                (AHEAD, ahead),
                (ORDERED, clock == Clock::Double),
            ];
            Hop(flags.iter().filter(|(_, set)| *set).fold(number, |hop, (flag, _)| hop | flag))
        };
        self.hops.iter().map(|&number| hop(number)).collect()
    }
}

/// The link by which each node is reached first from `root`.
fn search(outgoing: &[Vec<u32>], links: &[Link], root: usize) -> Vec<u32> {
    let mut via = vec![END; outgoing.len()];
    let mut frontier = VecDeque::from([root]);
    while let Some(node) = frontier.pop_front() {
        for &link in &outgoing[node] {
            let next = links[link as usize].to;
            if next != root && via[next] == END {
                via[next] = link;
                frontier.push_back(next);
            }
        }
    }
    via
}

/// For every link, whether all that enters it comes from one and the same link: then it can take its packets
/// over when that link sends them, without an event of their own.
fn fed_by_one(hops: &[u32], links: usize) -> Vec<bool> {
    const UNKNOWN: u32 = u32::MAX;
    let mut feeder = vec![UNKNOWN; links];
    let mut single = vec![true; links];
    let mut previous = END;
    for &hop in hops {
        if hop != END {
            let link = hop as usize;
            single[link] &= previous != END && (feeder[link] == UNKNOWN || feeder[link] == previous);
            feeder[link] = previous;
        }
        previous = hop;
    }
    single
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::{Bytes, Limit, Rate, Span};
    use scenario::Law;

    fn link(from: usize, to: usize) -> Link {
        Link {
            name: format!("{from}-{to}"),
            from,
            to,
            rate: Rate::mbit_per_s(1),
            changes: Vec::new(),
            changes_period: None,
            delay: Law::Fixed(Span::ZERO),
            loss: None,
            buffer: Limit::Packets(1),
            aqm: None,
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
    fn a_host_with_one_link_goes_the_way_that_a_search_from_it_finds() {
        // A square of routers 0 to 3, with two ways across, and a host at each: 4 to 7.
        let cables = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (1, 5), (2, 6), (3, 7)];
        let links: Vec<Link> = cables.into_iter().flat_map(|(a, b)| [link(a, b), link(b, a)]).collect();
        let mut routes = Routes::new(8, &links);
        for from in 0..8 {
            let via = search(&routes.outgoing, &links, from);
            for to in (0..8).filter(|&to| to != from) {
                let start = routes.path(from, to) as usize;
                let path = routes.hops[start..].split(|&hop| hop == END).next().unwrap().to_vec();
                let mut node = to;
                for &hop in path.iter().rev() {
                    assert_eq!(hop, via[node], "{from} to {to}");
                    node = links[hop as usize].from;
                }
                assert_eq!(node, from);
            }
        }
        // 4 to 7 by 1, whose link comes first; a search from each router serves all.
        assert_eq!((routes.path(4, 7), routes.trees.len()), (routes.known[&(4, 7)], 4));
        let start = routes.known[&(4, 7)] as usize;
        assert_eq!(routes.hops[start..start + 5], [9, 0, 4, 14, END]);
    }

    #[test]
    fn a_link_where_flows_merge_is_not_fed_by_one() {
        // 0 -> 2 and 1 -> 2 merge on 2 -> 3; 3 -> 4 sees only what 2 -> 3 carried.
        let links = [link(0, 2), link(1, 2), link(2, 3), link(3, 4)];
        let mut routes = Routes::new(5, &links);
        routes.path(0, 4);
        routes.path(1, 4);
        assert_eq!(fed_by_one(&routes.hops, 4), [false, false, false, true]);
        let plan = Plan { links: vec![false; 4], nodes: vec![false; 5] };
        let hops = routes.into_hops(Clock::Integer, &plan);
        assert!(hops[2].is_chained() && hops[2].link() == 3 && hops[3].is_end());
    }
}
