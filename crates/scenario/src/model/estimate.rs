//! A rough estimate of a run's work, before it starts.

use super::Scenario;
use super::distribution::Distribution;
use super::link::Link;
use super::route::Routes;
use super::tcp::Tcp;
use super::traffic::{Extent, Short, Traffic, TrafficKind, Udp, Web};
use aqm::unit::{Bytes, Span};

/// Most flows sampled of one entry, and of all entries; each stands for its share of the others.
const SAMPLES: [u32; 2] = [64, 2000];

/// The expected work of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Packets sent over links, including acknowledgements, each counted once per link; correct within about a factor
    /// of two.
    pub packets: f64,
    /// Slots of cells and MAP intervals of cable networks, if there is something to do in each.
    pub slots: f64,
    /// Index of the traffic entry that causes most of them.
    pub(crate) heaviest: usize,
    /// Index of the slowest link on the path of that entry.
    pub(crate) narrowest: usize,
}

/// Flows of one entry that take the same path.
struct Share {
    entry: usize,
    path: Vec<usize>,
    flows: f64,
    /// The rate of one flow if it were alone, in bit/s.
    demand: f64,
}

/// The expected work of `scenario`.
#[must_use]
pub fn estimate(scenario: &Scenario) -> Estimate {
    let duration = scenario.general.duration;
    let mean = |link: &Link| match link.handover.as_ref().and_then(|handover| handover.rate) {
        Some(rate) => rate.mean(),
        None => link.capacity(Span::ZERO, duration) / duration.secs(),
    };
    let rates: Vec<f64> = scenario.links.iter().map(mean).collect();
    let shares = shares(scenario, &rates);
    let mut load = vec![0.0; scenario.links.len()];
    for share in &shares {
        for &link in &share.path {
            load[link] += share.flows * share.demand;
        }
    }
    let mut packets = vec![0.0; scenario.traffic.len()];
    for share in &shares {
        packets[share.entry] += sent(share, &scenario.traffic[share.entry], &rates, &load, duration);
    }
    let heaviest = (0..packets.len()).max_by(|&a, &b| packets[a].total_cmp(&packets[b])).unwrap_or(0);
    let path = shares.iter().find(|share| share.entry == heaviest).map_or(&[][..], |share| &share.path);
    let narrowest = path.iter().copied().min_by(|&a, &b| rates[a].total_cmp(&rates[b])).unwrap_or(0);
    let slots = periods(scenario).fold(0.0, |sum, (_, period)| sum + duration.secs() / period.secs());
    Estimate { packets: packets.iter().sum(), slots, heaviest, narrowest }
}

/// The slot of each cell and the MAP interval of each cable network, after a clause on the work in it.
pub(crate) fn periods(scenario: &Scenario) -> impl Iterator<Item = (String, Span)> {
    let cells =
        scenario.cells.iter().map(|cell| (format!("the cell {} would schedule", cell.name), cell.slot));
    let cables = scenario.upstreams.iter();
    cells.chain(cables.map(|cable| (format!("the cable {} would grant", cable.name), cable.interval())))
}

/// The paths and demands of samples of all flows over links with these mean rates in bit/s.
fn shares(scenario: &Scenario, rates: &[f64]) -> Vec<Share> {
    let mut routes = Routes::new(scenario.nodes.len(), &scenario.links);
    let each = (SAMPLES[1] / (scenario.traffic.len() as u32).max(1)).clamp(1, SAMPLES[0]);
    let mut shares = Vec::new();
    for (entry, traffic) in scenario.traffic.iter().enumerate() {
        let samples = traffic.count.min(each);
        for j in 0..samples as usize {
            let (from, to) = (traffic.from[j % traffic.from.len()], traffic.to[j % traffic.to.len()]);
            let path = routes.path(from, to);
            let flows = f64::from(traffic.count) / f64::from(samples);
            let demand = demand(traffic, &path, &scenario.links, rates);
            shares.push(Share { entry, flows, demand, path });
        }
    }
    shares
}

/// The rate of one flow if it were alone, in bit/s.
fn demand(traffic: &Traffic, path: &[usize], links: &[Link], rates: &[f64]) -> f64 {
    let narrowest = path.iter().map(|&link| rates[link]).fold(f64::INFINITY, f64::min);
    match &traffic.kind {
        TrafficKind::Udp(udp, _) if udp.adapts() => udp.mean_rate(traffic.packet_size).min(narrowest),
        TrafficKind::Udp(udp, _) => udp.mean_rate(traffic.packet_size),
        // It may take all that there is.
        TrafficKind::Program(_) => narrowest,
        TrafficKind::Ftp(tcp)
        | TrafficKind::Transfer(tcp, _)
        | TrafficKind::Short(tcp, _)
        | TrafficKind::Web(tcp, _) => {
            let bits = 8.0 * traffic.packet_size.0 as f64;
            let round: f64 =
                path.iter().map(|&link| 2.0 * links[link].delay.mean() + bits / rates[link]).sum();
            narrowest
                .min(together(&traffic.kind) * f64::from(tcp.max_window) * bits / round)
                .min(offered(traffic))
        }
    }
}

/// The connections that one flow of an entry has open at a time.
fn together(kind: &TrafficKind) -> f64 {
    match kind {
        TrafficKind::Short(_, Short { interarrival, extent: Extent::Lifetime(lifetime) }) => {
            1.0 + lifetime.mean() / interarrival.mean().max(1e-9)
        }
        // As many as the offered load requires.
        TrafficKind::Short(..) => f64::INFINITY,
        TrafficKind::Web(_, web) => f64::from(web.connections),
        _ => 1.0,
    }
}

/// The segments that carry `size` bytes.
fn segments(traffic: &Traffic, size: &Distribution<Bytes>) -> f64 {
    let payload = traffic.packet_size.0 - traffic.header().min(traffic.packet_size.0 - 1);
    (size.mean() / payload as f64).ceil()
}

/// The offered load of one flow of an entry in bit/s, if it is bounded.
#[must_use]
pub fn offered(traffic: &Traffic) -> f64 {
    let bits = 8.0 * traffic.packet_size.0 as f64;
    match &traffic.kind {
        TrafficKind::Short(_, Short { interarrival, extent: Extent::Size(size) }) => {
            segments(traffic, size) * bits / interarrival.mean().max(1e-9)
        }
        // The best version, with its headers.
        TrafficKind::Web(_, Web { video: Some(video), .. }) => {
            let best = video.bitrates.len() - 1;
            (segments(traffic, &Distribution::Fixed(Bytes(video.size(best)))) + 1.0) * bits
                / video.chunk.secs()
        }
        // A page is fetched at most once per think time; an object also takes a request.
        TrafficKind::Web(_, web) => {
            f64::from(web.objects) * (segments(traffic, &web.size) + 1.0) * bits / web.think.mean()
        }
        _ => f64::INFINITY,
    }
}

/// The packets that the flows of a share send over all links of their path.
fn sent(share: &Share, traffic: &Traffic, rates: &[f64], load: &[f64], duration: Span) -> f64 {
    let start = traffic.begin.secs() + traffic.start.mean();
    let seconds = (traffic.stop.unwrap_or(duration).min(duration).secs() - start).max(0.0);
    // TCP, QUIC and TFRC slow down to their share of the fullest link; other traffic does not.
    let part = share.path.iter().map(|&link| rates[link] / load[link]).fold(1.0, f64::min);
    let full = share.demand * seconds / (8.0 * traffic.packet_size.0 as f64);
    let acks = |tcp: &Tcp| if tcp.delayed_ack { 1.5 } else { 2.0 };
    let packets = match &traffic.kind {
        // A report takes a round trip, which has several packets.
        TrafficKind::Udp(Udp::Tfrc(_), _) | TrafficKind::Program(_) => full * part,
        // An acknowledgement answers two packets.
        TrafficKind::Udp(Udp::Stack(download), _) => {
            let all = download.size.map_or(f64::INFINITY, |size| segments(traffic, &size));
            all.min(full * part) * 1.5
        }
        TrafficKind::Udp(udp, _) => udp.packets(traffic.packet_size, seconds),
        TrafficKind::Ftp(tcp) => full * part * acks(tcp),
        TrafficKind::Transfer(tcp, transfer) => {
            segments(traffic, &transfer.size).min(full * part) * acks(tcp)
        }
        // A short flow sends something, however small its share of the link.
        TrafficKind::Short(tcp, short) => {
            (full * part).max(seconds / short.interarrival.mean().max(1e-9)) * acks(tcp)
        }
        TrafficKind::Web(tcp, _) => full * part * acks(tcp),
    };
    packets * share.flows * share.path.len() as f64
}
