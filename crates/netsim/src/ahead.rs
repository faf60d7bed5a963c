//! Working ahead: what can be worked out before its time needs no event of its own.
//!
//! An event list orders what depends on each other. Much does not: on the integer clock, a packet's way is settled as
//! soon as nothing that happens later can come in between. So, when a packet enters
//!
//! * a *plain* link whose every packet comes from one link: the link takes it over when that one sends it;
//! * a *managed* link whose algorithm decides finally on arrivals ([`aqm::Aqm::is_final`]): when the packet leaves is
//!   known when it enters. The packet travels on at once; the queue catches up with the departures, periods and the end
//!   of the warm-up that were due, each at its own time, before the next arrival (`Network::catch_up`);
//! * the last link to a host where nothing but receivers live that answer every segment at once: the packet is
//!   delivered now, with the time at which it arrives, and the acknowledgement sets out, from that time.
//!
//! Whatever is told the time is told its own, and of what arrives at one queue at one instant the order is that of the
//! causes (see [`crate::event`]), so the results are those of an event for every hop: `tests/ahead.rs` holds the two
//! against each other. The double clock has ns-2's order of scheduling, which needs every event.

use scenario::Scenario;
use scenario::model::{Clock, Kind, Link};

/// Whether a link with this algorithm works ahead.
pub(crate) fn link_may(clock: Clock, link: &Link, is_final: bool) -> bool {
    clock == Clock::Integer && is_final && link.changes.is_empty()
}

/// For each node, whether packets may be delivered there before their time. `ways` has first and last link of every
/// path.
pub(crate) fn early_nodes(scenario: &Scenario, ways: impl Iterator<Item = (u32, u32)>) -> Vec<bool> {
    let mut early = vec![false; scenario.nodes.len()];
    if scenario.clock != Clock::Integer {
        return early;
    }
    for traffic in &scenario.traffic {
        traffic.to.iter().for_each(|&node| early[node] = true);
    }
    for traffic in &scenario.traffic {
        if !is_answered_at_once(&traffic.kind) {
            traffic.to.iter().for_each(|&node| early[node] = false);
        }
        // What sets out at the present would come between acknowledgements that set out later.
        traffic.from.iter().for_each(|&node| early[node] = false);
    }
    let mut entrance = vec![None; scenario.nodes.len()];
    for (first, last) in ways {
        let (first, to) = (&scenario.links[first as usize], scenario.links[last as usize].to);
        early[first.from] &= first.aqm.is_none() && first.changes.is_empty();
        early[to] &= *entrance[to].get_or_insert(last) == last;
    }
    early
}

/// Whether what arrives changes nothing but its own flow's books and the acknowledgements, and waits for no timer.
fn is_answered_at_once(kind: &Kind) -> bool {
    match kind {
        Kind::Ftp(tcp) | Kind::Transfer(tcp, _) => !tcp.delayed_ack,
        Kind::Udp(_) => true,
        Kind::Short(..) | Kind::Web(..) => false,
    }
}
