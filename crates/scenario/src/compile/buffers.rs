//! Buffers that are stated as a time or in bandwidth-delay products, in bytes.

use crate::model::route::Routes;
use crate::model::{Buffer, Scenario, TrafficKind};
use aqm::unit::Limit;

/// What the file says about the buffer of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    pub(super) buffer: Buffer,
    /// Whether the last packet may stick out, if it is in bytes.
    pub(super) sticks_out: bool,
}

/// Sets the limits of all links, of each of which `said` has what the file says.
pub(super) fn limit(scenario: &mut Scenario, said: &[Said]) {
    let round_trips = match said.iter().any(|said| matches!(said.buffer, Buffer::Bdp(_))) {
        true => round_trips(scenario),
        false => vec![0.0; said.len()],
    };
    for ((link, said), round_trip) in scenario.links.iter_mut().zip(said).zip(round_trips) {
        let bytes = |seconds: f64| Limit::Bytes((link.rate.bits() / 8.0 * seconds).round() as u64);
        let limit = match said.buffer {
            Buffer::Limit(limit) => limit,
            Buffer::Time(time) => bytes(time.secs()),
            Buffer::Bdp(number) => bytes(number * round_trip),
        };
        link.buffer = match (limit, said.sticks_out) {
            (Limit::Bytes(bytes), true) => Limit::BytesBefore(bytes),
            (limit, _) => limit,
        };
    }
}

/// The base round-trip time of each link in seconds: the longest of the flows that cross it, in data or
/// acknowledgements, without transmission and queueing. A link that no flow crosses has the longest of all flows.
///
/// The longest and not the mean: the mean, and with it the buffer, would depend on how many flows of each kind there
/// are, which is what scenarios vary.
fn round_trips(scenario: &Scenario) -> Vec<f64> {
    let mut routes = Routes::new(scenario.nodes.len(), &scenario.links);
    let mut longest = vec![0.0_f64; scenario.links.len()];
    let mut crossed = vec![false; scenario.links.len()];
    for traffic in
        scenario.traffic.iter().filter(|traffic| !traffic.from.is_empty() && !traffic.to.is_empty())
    {
        // An arrival process assigns its flows to all pairs in turn.
        let flows = match traffic.kind {
            TrafficKind::Short(..) if traffic.count > 0 => usize::MAX,
            _ => traffic.count as usize,
        };
        let (from, to) = (traffic.from.len(), traffic.to.len());
        for j in 0..flows.min(traffic.pairs()) {
            let (from, to) = (traffic.from[j % from], traffic.to[j % to]);
            let path = [routes.path(from, to), routes.path(to, from)].concat();
            let round_trip: f64 = path.iter().map(|&link| scenario.links[link].delay.mean()).sum();
            for link in path {
                longest[link] = longest[link].max(round_trip);
                crossed[link] = true;
            }
        }
    }
    let all = longest.iter().copied().fold(0.0, f64::max);
    longest.into_iter().zip(crossed).map(|(longest, crossed)| if crossed { longest } else { all }).collect()
}
