//! The flows of one tin: the set-associative hash that gives each a queue, the hosts by which they share, and the rounds in
//! which they are served (`cake_hash`, and the lists of `cake_dequeue`).

use crate::aqm::cobalt::linux::Cobalt;
use alloc::vec::Vec;

/// Queues of a tin, and hosts on each side.
pub(super) const QUEUES: usize = 1024;
/// Places at which a flow may find its queue.
const WAYS: usize = 8;
/// No queue.
const NONE: u16 = u16::MAX;

crate::choice! {
    /// The packets that have a queue together, and the hosts that share evenly.
    pub enum FlowMode {
        /// Nothing: one queue.
        Blind = "flowblind",
        /// A queue for each source.
        Sources = "srchost",
        /// A queue for each destination.
        Destinations = "dsthost",
        /// A queue for each pair of hosts.
        Hosts = "hosts",
        /// A queue for each flow.
        Flows = "flows",
        /// A queue for each flow; sources share evenly.
        DualSource = "dual-srchost",
        /// A queue for each flow; destinations share evenly.
        DualDestination = "dual-dsthost",
        /// A queue for each flow; sources share evenly, and destinations do.
        Triple = "triple-isolate",
    }
}

impl FlowMode {
    const fn bits(self) -> u8 {
        match self {
            Self::Blind => 0,
            Self::Sources => 1,
            Self::Destinations => 2,
            Self::Hosts => 3,
            Self::Flows => 4,
            Self::DualSource => 5,
            Self::DualDestination => 6,
            Self::Triple => 7,
        }
    }

    /// Whether the hosts of a side, 0 for sources, share evenly.
    const fn isolates(self, side: usize) -> bool {
        let both = 4 | 1 << side;
        self.bits() & both == both
    }

    /// The hash that chooses the queue, from those of a flow and its hosts.
    #[inline]
    const fn hash(self, flow: u32, hosts: [u32; 2]) -> u32 {
        let bits = self.bits();
        if bits & 4 != 0 {
            return flow;
        }
        (if bits & 1 != 0 { hosts[0] } else { 0 }) ^ (if bits & 2 != 0 { hosts[1] } else { 0 })
    }
}

/// What a flow counts as, which is also the list that it is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Set {
    /// On no list.
    None,
    /// New, served before the others.
    Sparse,
    /// Has spent its quantum as a sparse flow and waits, empty, among the old.
    SparseWait,
    /// Old.
    Bulk,
    /// Empty, with state that has not decayed yet.
    Decaying,
}

impl Set {
    /// The list: new, old, decaying.
    const fn list(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Sparse => Some(0),
            Self::SparseWait | Self::Bulk => Some(1),
            Self::Decaying => Some(2),
        }
    }
}

/// One queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) set: Set,
    pub(super) deficit: i64,
    pub(super) cobalt: Cobalt,
    tag: u32,
    hosts: [u16; 2],
    before: u16,
    next: u16,
}

/// One host of a side, whose bulk flows share its part.
#[derive(Clone, Copy, Default, Debug)]
struct Host {
    tag: u32,
    bulk: u16,
}

/// How often flows found their queues how.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Ways {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) collisions: u64,
}

/// The flows of a tin.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    pub(super) mode: FlowMode,
    pub(super) flows: Vec<Flow>,
    hosts: [Vec<Host>; 2],
    /// First and last of the new, the old and the decaying.
    lists: [[u16; 2]; 3],
    /// Flows that are sparse, waiting ones included; bulk; decaying.
    pub(super) sparse: u32,
    pub(super) bulk: u32,
    pub(super) decaying: u32,
    pub(super) ways: Ways,
}

/// The places of a set, from the own one on: `k` of [`WAYS`].
fn places(own: usize) -> impl Iterator<Item = usize> {
    let first = own - own % WAYS;
    (0..WAYS).map(move |k| first + (own + k) % WAYS)
}

impl Flows {
    pub(super) fn new(mode: FlowMode) -> Self {
        let flow = Flow {
            set: Set::None,
            deficit: 0,
            cobalt: Cobalt::default(),
            tag: 0,
            hosts: [0; 2],
            before: NONE,
            next: NONE,
        };
        Self {
            mode,
            flows: vec![flow; QUEUES],
            hosts: [vec![Host::default(); QUEUES], vec![Host::default(); QUEUES]],
            lists: [[NONE; 2]; 3],
            sparse: 0,
            bulk: 0,
            decaying: 0,
            ways: Ways::default(),
        }
    }

    /// Whether a flow may be served.
    pub(super) const fn is_backlogged(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// The queue of a packet, by the hashes of its flow and of its hosts.
    pub(super) fn find(&mut self, flow: u32, hosts: [u32; 2]) -> usize {
        let hash = self.mode.hash(flow, hosts);
        let own = hash as usize % QUEUES;
        if self.flows[own].tag == hash && self.flows[own].set != Set::None {
            return own;
        }
        let (found, anew) =
            if let Some((way, i)) = places(own).enumerate().find(|(_, i)| self.flows[*i].tag == hash) {
                self.ways.hits += u64::from(way > 0);
                (i, self.flows[i].set == Set::None)
            } else if let Some(i) = places(own).find(|i| self.flows[*i].set == Set::None) {
                self.ways.misses += 1;
                (i, true)
            } else {
                self.ways.collisions += 1;
                if self.flows[own].set == Set::Bulk {
                    self.count_bulk(own, false);
                }
                (own, true)
            };
        self.flows[found].tag = hash;
        if anew {
            for side in [0, 1] {
                if self.mode.isolates(side) {
                    self.flows[found].hosts[side] = self.host(side, hosts[side]);
                }
            }
            if self.flows[found].set == Set::Bulk {
                self.count_bulk(found, true);
            }
        }
        found
    }

    /// The entry of a host of a side.
    fn host(&mut self, side: usize, hash: u32) -> u16 {
        let hosts = &mut self.hosts[side];
        let own = hash as usize % QUEUES;
        let found = places(own)
            .find(|i| hosts[*i].tag == hash)
            .or_else(|| places(own).find(|i| hosts[*i].bulk == 0))
            .unwrap_or(own);
        hosts[found].tag = hash;
        found as u16
    }

    /// Counts a flow among the bulk flows of its hosts, or no longer.
    fn count_bulk(&mut self, i: usize, more: bool) {
        for side in [0, 1] {
            if self.mode.isolates(side) {
                let host = &mut self.hosts[side][usize::from(self.flows[i].hosts[side])];
                host.bulk = if more { host.bulk + 1 } else { host.bulk - 1 };
            }
        }
    }

    /// What a flow may send a round, of `quantum` bytes: less if its hosts have other bulk flows. `dither` rounds, so that
    /// the mean is exact (`cake_get_flow_quantum`).
    pub(super) fn quantum(&self, i: usize, quantum: u32, dither: u16) -> i64 {
        let load = (0..2)
            .filter(|side| self.mode.isolates(*side))
            .map(|side| self.hosts[side][usize::from(self.flows[i].hosts[side])].bulk)
            .fold(1, u16::max);
        let part = 65_535 / u64::from(load);
        ((u64::from(quantum) * part + u64::from(dither)) >> 16) as i64
    }

    /// The first flow of the list of a set.
    pub(super) fn first(&self, set: Set) -> Option<usize> {
        let first = self.lists[set.list()?][0];
        (first != NONE).then_some(usize::from(first))
    }

    /// The flows that are on the lists of the new and the old.
    pub(super) fn backlogged(&self) -> impl Iterator<Item = usize> {
        [Set::Sparse, Set::Bulk].into_iter().flat_map(|set| {
            core::iter::successors(self.first(set), |i| {
                let next = self.flows[*i].next;
                (next != NONE).then_some(usize::from(next))
            })
        })
    }

    /// Lets a flow count as `set`, at the end of its list.
    pub(super) fn place(&mut self, i: usize, set: Set) {
        self.unlink(i);
        self.recount(i, set);
        let Some(list) = set.list() else { return };
        let last = core::mem::replace(&mut self.lists[list][1], i as u16);
        (self.flows[i].before, self.flows[i].next) = (last, NONE);
        match last {
            NONE => self.lists[list][0] = i as u16,
            _ => self.flows[usize::from(last)].next = i as u16,
        }
    }

    /// Lets a flow that waits among the old count as bulk, where it is.
    pub(super) fn promote(&mut self, i: usize) {
        self.recount(i, Set::Bulk);
    }

    fn recount(&mut self, i: usize, set: Set) {
        let before = core::mem::replace(&mut self.flows[i].set, set);
        for (of, more) in [(before, false), (set, true)] {
            let count = match of {
                Set::None => continue,
                Set::Sparse | Set::SparseWait => &mut self.sparse,
                Set::Bulk => &mut self.bulk,
                Set::Decaying => &mut self.decaying,
            };
            *count = if more { *count + 1 } else { *count - 1 };
        }
        if (before == Set::Bulk) != (set == Set::Bulk) {
            self.count_bulk(i, set == Set::Bulk);
        }
    }

    fn unlink(&mut self, i: usize) {
        let Some(list) = self.flows[i].set.list() else { return };
        let Flow { before, next, .. } = self.flows[i];
        match before {
            NONE => self.lists[list][0] = next,
            _ => self.flows[usize::from(before)].next = next,
        }
        match next {
            NONE => self.lists[list][1] = before,
            _ => self.flows[usize::from(next)].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(flows: &mut Flows, hash: u32, hosts: [u32; 2]) -> usize {
        let found = flows.find(hash, hosts);
        if flows.flows[found].set == Set::None {
            flows.place(found, Set::Bulk);
        }
        found
    }

    #[test]
    fn eight_flows_of_a_set_have_queues_of_their_own_and_a_ninth_shares() {
        let mut flows = Flows::new(FlowMode::Flows);
        // All have the first place of the first set.
        let mut found: Vec<usize> = (1..=8).map(|k| busy(&mut flows, k * QUEUES as u32, [0; 2])).collect();
        assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((flows.ways.misses, flows.ways.hits, flows.ways.collisions), (8, 0, 0));
        found.iter().enumerate().for_each(|(k, i)| {
            assert_eq!(busy(&mut flows, (k as u32 + 1) * QUEUES as u32, [0; 2]), *i);
        });
        assert_eq!(flows.ways.hits, 7);
        found.push(busy(&mut flows, 9 * QUEUES as u32, [0; 2]));
        assert_eq!((found[8], flows.ways.collisions), (0, 1));
        // The queue is the ninth's now; the first finds a way to share in turn.
        assert_eq!(busy(&mut flows, QUEUES as u32, [0; 2]), 0);
        assert_eq!(flows.ways.collisions, 2);
    }

    #[test]
    fn modes_tell_apart_what_they_say() {
        for (mode, queues) in [
            (FlowMode::Blind, 1),
            (FlowMode::Sources, 2),
            (FlowMode::Destinations, 3),
            (FlowMode::Hosts, 6),
            (FlowMode::Flows, 12),
            (FlowMode::Triple, 12),
        ] {
            let mut flows = Flows::new(mode);
            let mut found = std::collections::BTreeSet::new();
            for flow in 0..12_u32 {
                let hosts = [1000 + 4000 * (flow % 2), 200 + 100 * (flow / 2 % 3)];
                // Spread over the sets.
                found.insert(busy(&mut flows, flow * 8 + 1, hosts.map(|host| host * 8)));
            }
            assert_eq!(found.len(), queues, "{mode:?}");
        }
    }

    #[test]
    fn the_bulk_flows_of_a_host_share_its_quantum() {
        let mut flows = Flows::new(FlowMode::Triple);
        let many: Vec<usize> = (0..4).map(|k| busy(&mut flows, 10 + k, [1, 50 + k])).collect();
        let alone = busy(&mut flows, 100, [2, 77]);
        let quantum = |flows: &Flows, i| flows.quantum(i, 1200, u16::MAX);
        assert_eq!((quantum(&flows, many[0]), quantum(&flows, alone)), (300, 1200));
        flows.place(many[1], Set::Decaying);
        assert_eq!(quantum(&flows, many[0]), 400);
        // Without a host's isolation it does not count.
        let mut flows = Flows::new(FlowMode::DualDestination);
        let many: Vec<usize> = (0..4).map(|k| busy(&mut flows, 10 + k, [1, 50 + k])).collect();
        assert_eq!(quantum(&flows, many[0]), 1200);
    }

    #[test]
    fn flows_move_between_lists_in_order() {
        let mut flows = Flows::new(FlowMode::Flows);
        (0..3).for_each(|i| flows.place(i, Set::Sparse));
        flows.place(1, Set::SparseWait);
        flows.place(0, Set::Bulk);
        flows.promote(1);
        assert_eq!((flows.sparse, flows.bulk, flows.decaying), (1, 2, 0));
        assert_eq!(flows.backlogged().collect::<Vec<_>>(), [2, 1, 0]);
        flows.place(1, Set::Decaying);
        flows.place(0, Set::None);
        assert_eq!((flows.first(Set::Bulk), flows.first(Set::Decaying)), (None, Some(1)));
        assert_eq!((flows.sparse, flows.bulk, flows.decaying), (1, 0, 1));
    }
}
