//! Working ahead: what can be worked out before its time needs no event of its own.
//!
//! An event list orders what depends on each other. Much does not: on the integer clock, a packet's way is settled as
//! soon as nothing that happens later can come in between. So, when a packet enters
//!
//! * a *plain* link whose every packet comes from one link: the link takes it over when that one sends it;
//! * a link with an AQM that decides finally on arrivals ([`aqm::Aqm::is_final`]): when the packet leaves is
//!   known when it enters. The packet travels on at once; the queue catches up with the departures, periods and the end
//!   of the warm-up that were due, each at its own time, before the next arrival (`Network::catch_up`);
//! * the last link to a host that nothing passes through, and where nothing but receivers live that answer every
//!   segment at once: the packet is delivered now, with the time at which it arrives, and the acknowledgement sets out,
//!   from that time.
//!
//! Whatever is told the time is told its own, and of what arrives at one queue at one instant the order is that of the
//! causes (see [`crate::engine::event`]), so the results are those of an event for everything: `tests/ahead.rs` holds the two
//! against each other. There is one exception. What two links begin to send at the same nanosecond, over ways equally
//! long, meets in the order of the links in the scenario where the engine knew of it ahead, and in the order of what
//! caused the sending where it did not. It takes, for example, acknowledgements of two hosts at one distance, behind
//! links slower than the bottleneck.
//!
//! The double clock has ns-2's order of scheduling, which needs every event.

use scenario::Scenario;
use scenario::model::{self, Kind};

/// Which links work ahead, and at which nodes packets may be delivered before their time.
pub(crate) struct Plan {
    pub(crate) links: Vec<bool>,
    pub(crate) nodes: Vec<bool>,
}

impl Plan {
    /// The plan for a scenario on the integer clock, of whose links these work ahead; `paths` has the links of every
    /// path.
    pub(crate) fn new<'a>(
        scenario: &Scenario,
        links: Vec<bool>,
        paths: impl Iterator<Item = &'a [u32]>,
    ) -> Self {
        Self { links, nodes: early_nodes(scenario, paths) }
    }

    /// The plan in which an event tells of every arrival at a link with an AQM or at a host.
    pub(crate) fn none(scenario: &Scenario) -> Self {
        Self { links: vec![false; scenario.links.len()], nodes: vec![false; scenario.nodes.len()] }
    }
}

/// Whether a link with an AQM may work ahead.
pub(crate) fn link_may(link: &model::Link, is_final: bool) -> bool {
    is_final && link.changes.is_empty()
}

/// For each node, whether packets may be delivered there before their time.
fn early_nodes<'a>(scenario: &Scenario, paths: impl Iterator<Item = &'a [u32]>) -> Vec<bool> {
    let mut early = vec![false; scenario.nodes.len()];
    for traffic in &scenario.traffic {
        traffic.to.iter().for_each(|&node| early[node] = true);
    }
    for traffic in &scenario.traffic {
        if !is_answered_at_once(&traffic.kind) {
            traffic.to.iter().for_each(|&node| early[node] = false);
        }
        // What sets out or passes through at the present would come between acknowledgements that set out later.
        traffic.from.iter().for_each(|&node| early[node] = false);
    }
    let mut entrance = vec![None; scenario.nodes.len()];
    for path in paths {
        let link = |i: usize| &scenario.links[path[i] as usize];
        let last = path.len() - 1;
        early[link(0).from] &= link(0).aqm.is_none() && link(0).changes.is_empty();
        (1..=last).for_each(|i| early[link(i).from] = false);
        let to = link(last).to;
        early[to] &= *entrance[to].get_or_insert(path[last]) == path[last];
    }
    early
}

/// Whether what arrives changes nothing but its own flow's books and the acknowledgements, and waits for no timer.
fn is_answered_at_once(kind: &Kind) -> bool {
    match kind {
        Kind::Ftp(tcp) | Kind::Transfer(tcp, _) => !tcp.delayed_ack,
        Kind::Udp(..) => true,
        Kind::Short(..) | Kind::Web(..) => false,
    }
}
