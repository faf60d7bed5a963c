//! The construction of classes of flows and of a load from a scenario.

use super::class::{Class, Load};
use crate::population::Population;
use crate::unsupported::Unsupported;
use aqm::unit::{Bytes, Span};
use scenario::Distribution;
use scenario::model::route::Routes;
use scenario::model::{
    Congestion, Ecn, Extent, Flavour, Link, Profile, Scenario, Short as Passing, Tcp, Traffic, TrafficKind,
    Udp,
};
use std::collections::{BTreeMap, BTreeSet};

/// The number of quantiles that represent a distribution of delays; they are assigned to the hosts in turn.
const STRATA: usize = 5;

/// The model under construction.
pub(super) struct Builder<'a> {
    scenario: &'a Scenario,
    observed: &'a Link,
    routes: Routes<'a>,
    /// The delay of each link, s.
    delays: Vec<f64>,
    marks: bool,
    pub(super) classes: Vec<Class>,
    pub(super) load: Vec<Load>,
    /// Each part once, in order.
    pub(super) not_modelled: Vec<String>,
}

/// The interval in which flows start evenly whose starts have this distribution: its bounds, or those with the same least
/// value and mean.
fn spread(distribution: &Distribution<Span>) -> [f64; 2] {
    let least = distribution.least().secs();
    [least, distribution.greatest().map_or(2.0 * distribution.mean() - least, Span::secs)]
}

/// The `u`-quantile of a distribution.
fn quantile(distribution: &Distribution<Span>, u: f64) -> f64 {
    match *distribution {
        Distribution::Fixed(x) => x.secs(),
        Distribution::Uniform(low, high) => low.secs() + (high.secs() - low.secs()) * u,
        Distribution::Exponential(mean) => -mean.secs() * libm::log(1.0 - u),
        Distribution::Pareto(mean, shape) => {
            mean.secs() * (shape - 1.0) / shape * libm::pow(1.0 - u, -1.0 / shape)
        }
    }
}

/// The delay of each link: where several cables draw from one distribution, its quantiles in turn; a single one has the mean.
pub(super) fn delays(scenario: &Scenario) -> Vec<f64> {
    let links = &scenario.links;
    let mut delays: Vec<f64> = links.iter().map(|link| link.delay.mean()).collect();
    // A cable is two links, one after the other, with one delay.
    let mut drawn: Vec<(Distribution<Span>, Vec<usize>)> = Vec::new();
    for i in (0..links.len()).step_by(2) {
        if matches!(links[i].delay, Distribution::Fixed(_)) {
            continue;
        }
        match drawn.iter_mut().find(|(distribution, _)| *distribution == links[i].delay) {
            Some((_, cables)) => cables.push(i),
            None => drawn.push((links[i].delay, vec![i])),
        }
    }
    for (number, (distribution, cables)) in
        drawn.iter().enumerate().filter(|(_, (_, cables))| cables.len() > 1)
    {
        let strata = cables.len().min(STRATA);
        // Another stride for each distribution, lest a host with a short delay on one side always has one on the other.
        let stride = 1 + number % (STRATA - 1);
        for (turn, &i) in cables.iter().enumerate() {
            let stratum = (turn * stride) % strata;
            let delay = quantile(distribution, (stratum as f64 + 0.5) / strata as f64);
            delays[i] = delay;
            if let Some(back) = delays.get_mut(i + 1) {
                *back = delay;
            }
        }
    }
    delays
}

impl<'a> Builder<'a> {
    /// Nothing yet.
    pub(super) fn new(scenario: &'a Scenario, observed: &'a Link, delays: Vec<f64>, marks: bool) -> Self {
        Self {
            scenario,
            observed,
            routes: Routes::new(scenario.nodes.len(), &scenario.links),
            delays,
            marks,
            classes: Vec::new(),
            load: Vec::new(),
            not_modelled: Vec::new(),
        }
    }

    fn leave_out(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.not_modelled.contains(&what) {
            self.not_modelled.push(what);
        }
    }

    /// The paths of `flows` flows: for each pair of a forward and a reverse path, the number of flows.
    fn ways(&mut self, traffic: &Traffic, flows: f64) -> Vec<(Vec<usize>, Vec<usize>, f64)> {
        let turns = traffic.pairs();
        let evenly = matches!(traffic.kind, TrafficKind::Short(..));
        let mut ways = Vec::new();
        for j in 0..turns {
            let (from, to) = (traffic.from[j % traffic.from.len()], traffic.to[j % traffic.to.len()]);
            let share = if evenly {
                flows / turns as f64
            } else {
                let rest = traffic.count as usize % turns;
                let each = (traffic.count as usize / turns + usize::from(j < rest)) as f64;
                each * flows / f64::from(traffic.count)
            };
            if share > 0.0 {
                ways.push((self.routes.path(from, to), self.routes.path(to, from), share));
            }
        }
        ways
    }

    /// Takes in a traffic entry.
    pub(super) fn add(&mut self, entry: usize, traffic: &Traffic) -> Result<(), Unsupported> {
        if traffic.send_jitter > Span::ZERO {
            self.leave_out("the jitter of hosts");
        }
        let count = f64::from(traffic.count);
        match &traffic.kind {
            TrafficKind::Ftp(tcp) => {
                let start = spread(&traffic.start).map(|after| traffic.begin.secs() + after);
                let stop = traffic.stop.map_or(f64::INFINITY, Span::secs);
                self.say_start(traffic);
                self.flows(entry, traffic, tcp, count, |count| Population::Lasting { count, start, stop })
            }
            TrafficKind::Short(tcp, Passing { interarrival, extent: Extent::Lifetime(stay) }) => {
                let rate = count / interarrival.mean();
                let arrive = self.window(traffic);
                let stay = *stay;
                if traffic.count > 1 {
                    self.say_start(traffic);
                }
                if !matches!(interarrival, Distribution::Exponential(_)) {
                    self.leave_out(
                        "the distribution of the arrivals of short flows: their mean rate replaces it",
                    );
                }
                self.flows(entry, traffic, tcp, rate, |rate| Population::Passing { rate, arrive, stay })
            }
            TrafficKind::Short(_, Passing { extent: Extent::Size(_), .. }) => {
                self.leave_out(format!(
                    "the response of the flows of {} to losses: their load is a constant rate",
                    traffic.name
                ));
                self.constant(entry, traffic, scenario::offered(traffic), "short", Ecn::None)
            }
            TrafficKind::Web(_, web) => {
                let (name, left_out) = match web.video {
                    Some(_) => ("dash", "the choice of bitrates by the clients of"),
                    None => ("web", "the response to losses and delays of the clients of"),
                };
                self.leave_out(format!(
                    "{left_out} {}: their greatest demand is a constant rate",
                    traffic.name
                ));
                self.constant(entry, traffic, scenario::offered(traffic), name, Ecn::None)
            }
            TrafficKind::Udp(Udp::Tfrc(_), _) => Err(Unsupported::new(format!(
                "traffic.{}: the fluid model has no TFRC, whose rate follows losses and delays; use `aqmlab run`",
                traffic.name
            ))),
            TrafficKind::Udp(Udp::Stack(_), _) => Err(Unsupported::new(format!(
                "traffic.{}: the fluid model runs no program's own stack; use `aqmlab run`",
                traffic.name
            ))),
            TrafficKind::Udp(udp, ecn) => {
                if !matches!(udp, Udp::Cbr { burst: 1, .. }) {
                    let message =
                        format!("the variation of the rate of {}: its mean replaces it", traffic.name);
                    self.leave_out(message);
                }
                self.constant(entry, traffic, udp.mean_rate(traffic.packet_size), udp.name(), *ecn)
            }
            // A scenario with others is refused.
            TrafficKind::Program(_) => Ok(()),
            TrafficKind::Transfer(..) => Err(Unsupported::new(format!(
                "traffic.{}: the fluid model cannot express the end of a transfer with a size; set `stop` instead of the size, \
                 or use `aqmlab run`",
                traffic.name
            ))),
        }
    }

    fn say_start(&mut self, traffic: &Traffic) {
        if !matches!(traffic.start, Distribution::Fixed(_) | Distribution::Uniform(..)) {
            let message = format!(
                "the distribution of the starts of {}: a uniform one with its mean replaces it",
                traffic.name
            );
            self.leave_out(message);
        }
    }

    /// Start and end of an entry's activity, with the mean of its start.
    fn window(&self, traffic: &Traffic) -> [f64; 2] {
        let from = traffic.begin.secs() + traffic.start.mean();
        let to = traffic.stop.map_or(f64::INFINITY, Span::secs);
        [from, to.max(from)]
    }

    /// The time of a packet of `size` bytes on a path with empty queues.
    fn travel(&self, way: &[usize], size: u64) -> f64 {
        let time = |&i: &usize| {
            let link = &self.scenario.links[i];
            self.delays[i] + 1.0 / link.rate.packets(Bytes(size + link.overhead.0))
        };
        way.iter().map(time).sum()
    }

    /// The share of packets that are lost at random on some links.
    fn lost(&self, way: &[usize]) -> f64 {
        let losses = way.iter().filter_map(|&i| self.scenario.links[i].loss.as_ref());
        1.0 - losses.map(|loss| 1.0 - loss.ratio()).product::<f64>()
    }

    /// An error if another link of the path has an algorithm.
    fn unmanaged(&self, way: &[usize], traffic: &Traffic) -> Result<(), Unsupported> {
        let mut others = way.iter().filter(|&&i| i != self.scenario.observed);
        let managed = others.find_map(|&i| Some(&self.scenario.links[i]).filter(|link| link.aqm.is_some()));
        managed.map_or(Ok(()), |link| {
            Err(Unsupported::new(format!(
                "traffic.{}: its packets also cross {}, which has an algorithm, but the fluid model has one managed \
                 queue, that of {}; remove that algorithm, or use `aqmlab run`",
                traffic.name, link.name, self.observed.name
            )))
        })
    }

    /// The first entry whose data crosses a link.
    fn crossing(&mut self, link: usize) -> Option<&'a str> {
        let scenario = self.scenario;
        let entries = scenario.traffic.iter().filter(|traffic| traffic.count > 0);
        for traffic in entries {
            if self.ways(traffic, f64::from(traffic.count)).iter().any(|(there, ..)| there.contains(&link)) {
                return Some(&traffic.name);
            }
        }
        None
    }

    /// Adds flows of TCP, a class for each round trip.
    fn flows(
        &mut self,
        entry: usize,
        traffic: &Traffic,
        tcp: &Tcp,
        count: f64,
        population: impl Fn(f64) -> Population,
    ) -> Result<(), Unsupported> {
        let observed = self.scenario.observed;
        let mut crosses = false;
        let mut behind = BTreeSet::new();
        // By the round trip in whole nanoseconds and the losses on the way.
        let mut groups: BTreeMap<(u64, [u64; 2]), (f64, [f64; 2])> = BTreeMap::new();
        for (there, back, share) in self.ways(traffic, count) {
            let Some(place) = there.iter().position(|&i| i == observed) else {
                if back.contains(&observed) {
                    self.leave_out(format!(
                        "the load and the wait of the ACKs of {} on {}",
                        traffic.name, self.observed.name
                    ));
                }
                continue;
            };
            crosses = true;
            self.unmanaged(&there, traffic)?;
            behind.extend(back.iter().copied().filter(|&i| self.scenario.links[i].aqm.is_some()));
            let rtt = self.travel(&there, traffic.packet_size.0) + self.travel(&back, tcp.header.0);
            let lost = [self.lost(&there[..=place]), self.lost(&there[place + 1..])];
            let key = (Span::from_secs(rtt).nanos(), lost.map(f64::to_bits));
            groups.entry(key).or_insert((0.0, lost)).0 += share;
        }
        if !crosses {
            let message = format!("{}, which does not cross {}", traffic.name, self.observed.name);
            self.leave_out(message);
            return Ok(());
        }
        for i in behind {
            if let Some(other) = self.crossing(i) {
                return Err(Unsupported::new(format!(
                    "traffic.{}: its ACKs wait behind the data of {other} on {}, but the fluid model has one queue, that of {}; \
                     remove that traffic, or use `aqmlab run`",
                    traffic.name, self.scenario.links[i].name, self.observed.name
                )));
            }
        }
        if tcp.offload || tcp.receive_offload > Span::ZERO {
            self.leave_out(format!("the bursts of {}, whose hosts offload", traffic.name));
        }
        if tcp.congestion != Congestion::Reno {
            let name = &traffic.name;
            return Err(Unsupported::new(format!(
                "traffic.{name}.tcp.congestion = {}: the fluid model's windows are Reno's; set traffic.{name}.tcp to a TCP \
                 with such windows, for example \"newreno\", or use `aqmlab run`",
                tcp.congestion.name()
            )));
        }
        let profile = Profile::new(tcp, traffic.packet_size.0 as u32);
        for ((nanos, _), (share, lost)) in groups {
            self.classes.push(Class {
                entry,
                flows: population(share),
                rtt: Span::ns(nanos).secs(),
                packet: traffic.packet_size.0 + self.observed.overhead.0,
                // With flavour `rack`, windows grow by acknowledged segments.
                acked: if tcp.delayed_ack && tcp.flavour != Flavour::Rack { 2.0 } else { 1.0 },
                initial_window: f64::from(profile.initial_window),
                max_window: f64::from(tcp.max_window),
                initial_ssthresh: f64::from(profile.initial_ssthresh),
                min_rto: tcp.min_rto.secs(),
                marked: tcp.ecn && self.marks,
                lost,
            });
        }
        Ok(())
    }

    /// Adds traffic at a constant rate, `each` bit/s per flow.
    fn constant(
        &mut self,
        entry: usize,
        traffic: &Traffic,
        each: f64,
        kind: &'static str,
        ecn: Ecn,
    ) -> Result<(), Unsupported> {
        let observed = self.scenario.observed;
        let (packet, overhead) = (traffic.packet_size.0 as f64, self.observed.overhead.0 as f64);
        let each = each * (packet + overhead) / packet;
        if overhead > 0.0 && matches!(kind, "trace" | "frames") {
            self.leave_out(format!("the framing of each smaller packet of {}", traffic.name));
        }
        let (mut rate, mut kept) = (0.0, 0.0);
        let mut flows = 0.0;
        for (way, _, share) in self.ways(traffic, f64::from(traffic.count)) {
            let Some(place) = way.iter().position(|&i| i == observed) else { continue };
            self.unmanaged(&way, traffic)?;
            flows += share;
            rate += share * each;
            kept += share * each * (1.0 - self.lost(&way[..=place]));
        }
        if flows == 0.0 {
            let message = format!("{}, which does not cross {}", traffic.name, self.observed.name);
            self.leave_out(message);
            return Ok(());
        }
        if !each.is_finite() {
            return Err(Unsupported::new(format!(
                "traffic.{}: its demand has no bound, so its mean rate is unknown; use `aqmlab run`",
                traffic.name
            )));
        }
        let [_, mut stop] = self.window(traffic);
        if let TrafficKind::Udp(Udp::Trace(arrivals), _) = &traffic.kind {
            let length = arrivals.last().map_or(0.0, |last| last.at.secs());
            stop = stop.min(traffic.begin.secs() + traffic.start.mean() + length);
        }
        self.say_start(traffic);
        let start = spread(&traffic.start).map(|after| traffic.begin.secs() + after);
        let lost = if rate > 0.0 { 1.0 - kept / rate } else { 0.0 };
        let rate = Population::Lasting { count: rate, start, stop };
        let marked = ecn != Ecn::None && self.marks;
        self.load.push(Load { entry, rate, kind, lost, marked });
        Ok(())
    }

    /// Notes what the equations leave out of any scenario, and of this one.
    pub(super) fn say_what_is_left_out(&mut self) {
        if !self.classes.is_empty() {
            self.leave_out("packets and randomness: windows and the queue are means");
            self.leave_out("the queues of all other links, and the handshake");
        }
        let packets: BTreeSet<u64> = self.classes.iter().map(|class| class.packet).collect();
        if packets.iter().any(|&packet| packet != self.observed.packet.0) {
            self.leave_out(format!(
                "the room of a smaller packet: the queue is in packets of {} bytes",
                self.observed.packet.0
            ));
        }
        let jitter =
            |link: &Link| link.variation.as_ref().is_some_and(|variation| variation.jitter.is_some());
        if self.scenario.links.iter().any(jitter) {
            self.leave_out("the jitter of links: their mean delay replaces it");
        }
        let random = |link: &Link| !matches!(link.delay, Distribution::Fixed(_));
        if self.scenario.links.iter().any(random) {
            self.leave_out(format!(
                "the delays drawn for each run: {STRATA} quantiles of their distribution, or the mean for a single link, \
                 replace them"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::params::{Field, Value};

    #[test]
    fn flows_start_in_an_interval_with_the_least_time_and_mean_of_their_distribution() {
        let of = |text: &str| spread(&Field::read(&Value::Text(text.into())).unwrap());
        assert_eq!(of("uniform(1 s, 5 s)"), [1.0, 5.0]);
        assert_eq!(of("exponential(3 s)"), [0.0, 6.0]);
        // Its least value is mean (shape - 1) / shape.
        assert_eq!(of("pareto(3 s, 1.5)"), [1.0, 5.0]);
    }
}
