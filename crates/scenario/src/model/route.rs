//! The paths of packets: those with the fewest links and, among these, those whose links come first in the scenario.

use super::link::Link;
use std::collections::{HashMap, VecDeque};

/// The index that stands for no link.
const NONE: u32 = u32::MAX;
/// Most entries that all trees together keep, 64 MB.
const MOST_ENTRIES: usize = 1 << 24;

/// Finds paths, and keeps the trees that it has searched.
#[derive(Clone, Debug)]
pub struct Routes<'a> {
    links: &'a [Link],
    outgoing: Vec<Vec<u32>>,
    /// For each root that was searched, the link by which each other node is reached.
    trees: HashMap<usize, Vec<u32>>,
}

impl<'a> Routes<'a> {
    /// Routes over these links between this many nodes.
    #[must_use]
    pub fn new(nodes: usize, links: &'a [Link]) -> Self {
        let mut outgoing = vec![Vec::new(); nodes];
        for (i, link) in links.iter().enumerate() {
            outgoing[link.from].push(i as u32);
        }
        Self { links, outgoing, trees: HashMap::new() }
    }

    /// The links from one node to another; none if there is no path.
    pub fn path(&mut self, from: usize, to: usize) -> Vec<usize> {
        // A host with one link has the paths of its neighbour, so that one search per router serves all its hosts.
        let (root, access) = match self.outgoing[from][..] {
            [access] if from != to => (self.links[access as usize].to, Some(access as usize)),
            _ => (from, None),
        };
        if self.trees.len() * self.outgoing.len() > MOST_ENTRIES {
            self.trees.clear();
        }
        let via = self.trees.entry(root).or_insert_with(|| search(&self.outgoing, self.links, root));
        let mut path = Vec::new();
        let mut node = to;
        while node != root {
            if via[node] == NONE {
                return Vec::new();
            }
            let link = via[node] as usize;
            path.push(link);
            node = self.links[link].from;
        }
        path.extend(access);
        path.reverse();
        path
    }
}

/// The link by which each node is first reached from `root`.
fn search(outgoing: &[Vec<u32>], links: &[Link], root: usize) -> Vec<u32> {
    let mut via = vec![NONE; outgoing.len()];
    let mut frontier = VecDeque::from([root]);
    while let Some(node) = frontier.pop_front() {
        for &link in &outgoing[node] {
            let next = links[link as usize].to;
            if next != root && via[next] == NONE {
                via[next] = link;
                frontier.push_back(next);
            }
        }
    }
    via
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::link::tests::link;

    #[test]
    fn the_path_with_the_fewest_links_is_taken() {
        let links = [link(0, 1), link(1, 2), link(2, 3), link(0, 3), link(3, 0)];
        let mut routes = Routes::new(5, &links);
        assert_eq!((routes.path(0, 2), routes.path(0, 3)), (vec![0, 1], vec![3]));
        // 3 has one link, to 0, and so has the paths of 0; no link leads to 4.
        assert_eq!((routes.path(3, 2), routes.path(3, 0)), (vec![4, 0, 1], vec![4]));
        assert_eq!((routes.path(0, 4), routes.path(3, 4)), (vec![], vec![]));
    }

    #[test]
    fn a_host_with_one_link_takes_the_path_that_a_search_from_it_finds() {
        // A square of routers 0 to 3, with two paths across, and a host at each: 4 to 7.
        let cables = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (1, 5), (2, 6), (3, 7)];
        let links: Vec<Link> = cables.into_iter().flat_map(|(a, b)| [link(a, b), link(b, a)]).collect();
        let mut routes = Routes::new(8, &links);
        for from in 0..8 {
            let via = search(&routes.outgoing, &links, from);
            for to in (0..8).filter(|&to| to != from) {
                let mut node = to;
                for &hop in routes.path(from, to).iter().rev() {
                    assert_eq!(hop, via[node] as usize, "{from} to {to}");
                    node = links[hop].from;
                }
                assert_eq!(node, from);
            }
        }
        // 4 reaches 7 by way of 1, whose link comes first; one search from each router serves all hosts.
        assert_eq!((routes.path(4, 7), routes.trees.len()), (vec![9, 0, 4, 14], 4));
    }
}
