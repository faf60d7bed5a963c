//! The parts of a scenario in which the engine may work ahead.

use crate::engine::order::Key;
use aqm::unit::Span;
use scenario::Scenario;
use scenario::model::{self, Tcp, TrafficKind};

/// A packet may be delivered before its time: when it arrives, and whether it was marked on its last links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Early {
    pub(crate) arrival: Key,
    pub(crate) marked: bool,
}

/// How far a run may work ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lookahead {
    /// Wherever the results are the same.
    Full,
    /// Over links without an AQM alone: there is an event for every arrival at a link with one, or at a host.
    PlainLinks,
    /// Nowhere, because each link may change, and with it the times of the packets on it.
    None,
}

/// The links and nodes at which work may be done before its time.
pub(crate) struct Plan {
    /// For each link, whether its queue works ahead.
    pub(crate) links: Vec<bool>,
    /// For each node, whether packets may be delivered there before their time.
    pub(crate) nodes: Vec<bool>,
    /// For each link, whether it takes over every packet when the link before it sends the packet.
    pub(crate) takes_over: Vec<bool>,
    /// Whether any link may begin to lose packets at random.
    pub(crate) may_lose: bool,
}

impl Plan {
    /// The plan for a scenario, where the queues of these links work ahead. `paths` has the links of
    /// every path, `feeders` the one link that feeds each link, if it is one.
    pub(crate) fn new<'a>(
        scenario: &Scenario,
        links: Vec<bool>,
        paths: impl Iterator<Item = &'a [u32]>,
        feeders: &[Option<u32>],
    ) -> Self {
        let takes_over = takes_over(&scenario.links, &links, feeders);
        Self { links, nodes: early_nodes(scenario, paths), takes_over, may_lose: false }
    }

    /// The plan in which there is an event for every arrival at a link with an AQM or at a host.
    pub(crate) fn over_plain_links(scenario: &Scenario, feeders: &[Option<u32>]) -> Self {
        let links = vec![false; scenario.links.len()];
        let takes_over = takes_over(&scenario.links, &links, feeders);
        Self { takes_over, may_lose: false, ..Self::none(scenario) }
    }

    /// The plan in which there is an event for every arrival, and links may change.
    pub(crate) fn none(scenario: &Scenario) -> Self {
        let no_link = vec![false; scenario.links.len()];
        Self {
            links: no_link.clone(),
            nodes: vec![false; scenario.nodes.len()],
            takes_over: no_link,
            may_lose: true,
        }
    }
}

/// For each link, whether it takes packets over from the one link that feeds it. A rate that changes is known only at its
/// time.
pub(crate) fn takes_over(links: &[model::Link], works_ahead: &[bool], feeders: &[Option<u32>]) -> Vec<bool> {
    let may = |link: &model::Link, ahead: bool| !link.has_changes() && (ahead || link.aqm.is_none());
    let each = links.iter().zip(works_ahead).zip(feeders);
    each.map(|((link, &ahead), feeder)| may(link, ahead) && feeder.is_some()).collect()
}

/// Whether the queue of a link with an AQM may work ahead.
pub(crate) fn may_work_ahead(link: &model::Link, is_final: bool) -> bool {
    let is_alone = !link.is_shared();
    is_final && is_alone && !link.has_changes() && link.ecn_path != model::EcnPath::Clear
}

/// For each node, whether packets may be delivered there before their time.
fn early_nodes<'a>(scenario: &Scenario, paths: impl Iterator<Item = &'a [u32]>) -> Vec<bool> {
    let mut early = vec![false; scenario.nodes.len()];
    for traffic in &scenario.traffic {
        traffic.to.iter().for_each(|&node| early[node] = true);
    }
    for traffic in &scenario.traffic {
        if !is_answered_at_once(&traffic.kind) || traffic.send_jitter > Span::ZERO {
            traffic.to.iter().for_each(|&node| early[node] = false);
        }
        // A packet that starts or passes here at the present would come between acknowledgements that were sent ahead of it,
        // although they set out later.
        traffic.from.iter().for_each(|&node| early[node] = false);
    }
    let mut entrance = vec![None; scenario.nodes.len()];
    for path in paths {
        let link = |i: usize| &scenario.links[path[i] as usize];
        let last = path.len() - 1;
        early[link(0).from] &= link(0).aqm.is_none() && !link(0).has_changes();
        (1..=last).for_each(|i| early[link(i).from] = false);
        let to = link(last).to;
        early[to] &= *entrance[to].get_or_insert(path[last]) == path[last];
    }
    early
}

/// Whether an arrival affects only its own flow's counters and acknowledgements, and waits for no timer.
fn is_answered_at_once(kind: &TrafficKind) -> bool {
    let at_once = |tcp: &Tcp| !tcp.delayed_ack && tcp.receive_offload == Span::ZERO;
    match kind {
        TrafficKind::Ftp(tcp) => at_once(tcp),
        // A request sets out where acknowledgements do.
        TrafficKind::Transfer(tcp, transfer) => at_once(tcp) && transfer.request.is_none(),
        TrafficKind::Short(..) | TrafficKind::Web(..) | TrafficKind::Program(_) => false,
        TrafficKind::Udp(udp, _) => !udp.adapts(),
    }
}
