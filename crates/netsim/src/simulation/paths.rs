//! The metrics that depend on the paths of flows: goodput over a link, idle round-trip times, RTT fairness.

use super::Simulation;
use crate::flows::flow::Role;
use crate::measure::probe::Probe;
use crate::traffic::plan::starts;
use aqm::unit::Time;
use scenario::model::{Download, Stack, Tfrc, TrafficKind, Udp};

impl<P: Probe> Simulation<P> {
    /// Payload bits of the flows whose data crosses a link, delivered per second of the window of `seconds`;
    /// `None` if only some of the flows that come and go in an entry cross it.
    pub(super) fn goodput_over(&self, link: usize, seconds: f64) -> Option<f64> {
        let mut bytes = 0;
        for (class, entry) in self.scenario.traffic.iter().enumerate() {
            let account = self.account(Some(class));
            let each = account.delivered.iter().enumerate();
            bytes +=
                each.filter(|&(i, _)| self.crosses(class, i, link)).map(|(_, &bytes)| bytes).sum::<u64>();
            let all = entry.pairs();
            if matches!(entry.kind, TrafficKind::Program(_)) && self.is_crossed_either_way(class, link) {
                // The bytes of both ways are one count.
                return None;
            }
            let pairs =
                if matches!(entry.kind, TrafficKind::Web(..)) { all.min(entry.count as usize) } else { all };
            let crossing = (0..pairs).filter(|&i| self.crosses(class, i, link)).count();
            match crossing {
                0 => {}
                all if all == pairs => bytes += account.transient,
                _ if matches!(entry.kind, TrafficKind::Short(..) | TrafficKind::Web(..)) => return None,
                _ => {}
            }
        }
        Some(bytes as f64 * 8.0 / seconds)
    }

    /// Whether the data of flow number `i` of a class crosses a link.
    pub(super) fn crosses(&self, class: usize, i: usize, link: usize) -> bool {
        let path = self.path_of(class, i);
        path.is_some_and(|(forward, _)| self.network.links_from(forward).any(|of_path| of_path == link))
    }

    /// Whether packets of a class cross a link on their way there or back.
    fn is_crossed_either_way(&self, class: usize, link: usize) -> bool {
        let entry = &self.scenario.traffic[class];
        let paths = (0..entry.pairs().min(entry.count as usize)).filter_map(|i| self.path_of(class, i));
        let mut hops = paths.flat_map(|(there, back)| [there, back]);
        hops.any(|hop| self.network.links_from(hop).any(|of_path| of_path == link))
    }

    /// The first hops of the paths of flow number `i` of a class, to the receiver and from it.
    fn path_of(&self, class: usize, i: usize) -> Option<(u32, u32)> {
        let entry = &self.scenario.traffic[class];
        let (from, to) = (entry.from[i % entry.from.len()], entry.to[i % entry.to.len()]);
        self.network.path(from, to).zip(self.network.path(to, from))
    }

    /// The round-trip time in s of flow number `i` of a class if nothing waits; `None` if nothing comes back.
    fn idle_round_trip(&self, class: usize, i: usize) -> Option<f64> {
        let entry = &self.scenario.traffic[class];
        let size = entry.packet_size.0;
        let answer = match &entry.kind {
            TrafficKind::Ftp(tcp)
            | TrafficKind::Transfer(tcp, _)
            | TrafficKind::Short(tcp, _)
            | TrafficKind::Web(tcp, _) => tcp.header.0,
            TrafficKind::Udp(Udp::Ping(_), _) => size,
            TrafficKind::Udp(Udp::Tfrc(_), _) => Tfrc::REPORT,
            TrafficKind::Udp(Udp::Stack(Download { stack: Stack::Quinn(_), .. }), _) => Download::ACK,
            TrafficKind::Udp(..) | TrafficKind::Program(_) => return None,
        };
        let (forward, reverse) = self.path_of(class, i)?;
        let rate = |link: usize| self.scenario.links[link].rate;
        Some(self.network.idle_time(forward, size, rate) + self.network.idle_time(reverse, answer, rate))
    }

    /// The time in s that a full packet of flow number `i` of a class takes to its receiver if nothing waits.
    fn idle_delay(&self, class: usize, i: usize) -> Option<f64> {
        let (forward, _) = self.path_of(class, i)?;
        let size = self.scenario.traffic[class].packet_size.0;
        Some(self.network.idle_time(forward, size, |link| self.scenario.links[link].rate))
    }

    /// The means over the flows of a class: of the delay of a packet, and of its round trip.
    pub(super) fn idle(&self, class: usize) -> [Option<f64>; 2] {
        [
            self.mean(class, |i| self.idle_delay(class, i)),
            self.mean(class, |i| self.idle_round_trip(class, i)),
        ]
    }

    /// The mean over the flows of a class of what depends on the path.
    fn mean(&self, class: usize, of: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        let entry = &self.scenario.traffic[class];
        let all = entry.pairs();
        // An arrival process assigns its flows to all pairs in turn.
        let flows = if matches!(entry.kind, TrafficKind::Short(..)) { all } else { entry.count as usize };
        if flows == 0 {
            return None;
        }
        // After `all` flows the same pairs follow.
        let times = |i: usize| flows / all + usize::from(i < flows % all);
        let each = (0..all.min(flows)).map(|i| Some(times(i) as f64 * of(i)?));
        Some(each.sum::<Option<f64>>()? / flows as f64)
    }

    /// Jain's index of the goodputs of the flows of a class that do not come and go; of all classes, of those that compete
    /// for the observed link and are there for the whole window.
    pub(super) fn jain(&self, class: Option<usize>) -> Option<f64> {
        let mut delivered = Vec::new();
        match class {
            // They begin and end together.
            Some(class) => delivered = self.account(Some(class)).delivered,
            None => {
                for of in (0..self.scenario.traffic.len()).filter(|&of| self.scenario.traffic[of].competes())
                {
                    let flows =
                        self.account(Some(of)).delivered.into_iter().zip(self.presence(of)).enumerate();
                    let counts = |i, present| present && self.crosses(of, i, self.scenario.observed);
                    delivered.extend(
                        flows.filter(|&(i, (_, present))| counts(i, present)).map(|(_, (bytes, _))| bytes),
                    );
                }
            }
        }
        let sum: f64 = delivered.iter().map(|&x| x as f64).sum();
        let squares: f64 = delivered.iter().map(|&x| x as f64 * x as f64).sum();
        // Cauchy's inequality makes it 1 at most, but for rounding.
        (squares > 0.0).then(|| (sum * sum / (delivered.len() as f64 * squares)).min(1.0))
    }

    /// Whether each flow of a class that does not come and go is there from the end of the warm-up to the end of the run.
    fn presence(&self, class: usize) -> Vec<bool> {
        let entry = &self.scenario.traffic[class];
        if entry.stop.is_some_and(|stop| stop < self.scenario.general.duration) {
            return Vec::new();
        }
        let begun = |start: Time| start <= self.deliveries.warmup;
        let transfer = matches!(entry.kind, TrafficKind::Transfer(..));
        if self.ends.is_some() {
            // Outside it is not known which of them are complete.
            let some_done = transfer && self.deliveries.classes[class].completions.count() > 0;
            return starts(entry, self.seed).map(|start| begun(start) && !some_done).collect();
        }
        if matches!(entry.kind, TrafficKind::Udp(..)) {
            let sources = self.endpoints.sources.iter().filter(|source| usize::from(source.class) == class);
            return sources.map(|source| begun(source.start)).collect();
        }
        let flows = self.endpoints.slots_of(class as u16).into_iter();
        let flows = flows.map(|slot| &self.endpoints.applications[slot as usize]);
        flows.map(|flow| begun(flow.start) && (!transfer || flow.role == Role::Transfer)).collect()
    }

    /// The slope of the logarithm of goodput over that of the idle round-trip time, of the greedy flows of a class, or of all,
    /// that are there from the warm-up to the end; `None` if all have one such time, or one has delivered nothing.
    pub(super) fn rtt_bias(&self, class: Option<usize>) -> Option<f64> {
        let mut points = Vec::new();
        let classes = class.map_or(0..self.scenario.traffic.len(), |class| class..class + 1);
        for class in classes {
            let entry = &self.scenario.traffic[class];
            let stays = entry.stop.is_none_or(|stop| stop >= self.scenario.general.duration);
            if !matches!(entry.kind, TrafficKind::Ftp(_)) || !stays {
                continue;
            }
            let slots = self.endpoints.slots_of(class as u16);
            for (i, bytes) in self.account(Some(class)).delivered.into_iter().enumerate() {
                if self.endpoints.applications[slots[i] as usize].start > self.deliveries.warmup {
                    continue;
                }
                if bytes == 0 {
                    return None;
                }
                points.push((libm::log(self.idle_round_trip(class, i)?), libm::log(bytes as f64)));
            }
        }
        slope(&points)
    }
}

/// The slope of the line of least squares through these points; `None` if all are above one another.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (mut squares, mut products) = (0.0, 0.0);
    for point in points {
        squares += (point.0 - x) * (point.0 - x);
        products += (point.0 - x) * (point.1 - y);
    }
    // Equal times differ in the mean by rounding.
    (squares > 1e-12 * n).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Time;

    fn run(text: &str) -> run::Results {
        let scenario = scenario::Document::parse(text, "paths").unwrap().check().unwrap();
        let mut run = Simulation::new(scenario, 1, ());
        run.advance(Time::MAX);
        run.results()
    }

    #[test]
    fn the_slope_is_that_of_a_power_law() {
        let law = |x: f64| (libm::log(x), libm::log(3.0 * libm::pow(x, -1.5)));
        assert!((slope(&[law(1.0), law(2.0), law(7.0)]).unwrap() + 1.5).abs() < 1e-12);
        assert_eq!((slope(&[law(2.0), law(2.0)]), slope(&[law(2.0)]), slope(&[])), (None, None, None));
    }

    #[test]
    fn each_direction_has_its_own_goodput() {
        let text = "duration = \"20 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nreverse_rate = \"2 Mbit/s\"\n\
                    [reverse_aqm]\nname = \"droptail\"\n[[traffic]]\nname = \"down\"\n\
                    [[traffic]]\nname = \"up\"\nfrom = \"receivers\"\nto = \"senders\"\n";
        let results = run(text);
        let [down, up] = ["down", "up"].map(|name| results.classes[name].totals.goodput);
        assert!(down > 4e6 && up > 1e6, "{down} {up}");
        assert_eq!(results.links["bottleneck"].link_goodput, Some(down));
        assert_eq!(results.links["bottleneck:reverse"].link_goodput, Some(up));
        assert!((results.metrics.flows.goodput - (down + up)).abs() < 1e-6);
    }

    #[test]
    fn the_idle_round_trip_is_that_of_a_ping_alone() {
        let text = "duration = \"5 s\"\n[dumbbell]\nrate = \"1 Mbit/s\"\ndelay = \"30 ms\"\naccess_rate = \"5 Mbit/s\"\n\
                    sender_delay = [\"1 ms\", \"5 ms\"]\nreceiver_delay = \"2 ms\"\n[[traffic]]\nname = \"ping\"\n\
                    kind = \"ping\"\ncount = 2\npacket_size = \"125 B\"\n";
        let results = run(text);
        let ping = &results.classes["ping"];
        // Both ways 30 + 2 ms and 1 or 5 ms; 1 ms at 1 Mbit/s, twice 0.2 ms at 5 Mbit/s.
        let expected = [0.0688, 0.0768];
        assert!((ping.delay_idle.unwrap() - 0.0364).abs() < 1e-9, "half of it");
        assert!((ping.totals.delay_mean.unwrap() - 0.0364).abs() < 1e-9);
        assert!((ping.rtt_idle.unwrap() - 0.0728).abs() < 1e-9, "{:?}", ping.rtt_idle);
        assert!((ping.totals.rtt_mean.unwrap() - 0.0728).abs() < 1e-9);
        let [least, most] = [ping.totals.rtt_p50, ping.totals.rtt_max].map(Option::unwrap);
        assert!((least / expected[0] - 1.0).abs() < 1e-3 && (most - expected[1]).abs() < 1e-9);
        assert_eq!((ping.totals.path_loss_ratio, ping.traffic.arrivals), (Some(0.0), 50));
    }

    #[test]
    fn the_bias_is_that_of_the_flows_with_longer_round_trips() {
        let text = "duration = \"60 s\"\nwarmup = \"10 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\n\
                    sender_delay = [\"1 ms\", \"60 ms\"]\n[aqm]\nname = \"red\"\n[[traffic]]\nname = \"x\"\ncount = 10\n\
                    tcp = \"sack\"\n";
        let results = run(text);
        let bias = results.classes["x"].totals.rtt_bias.unwrap();
        assert!((-2.0..-0.5).contains(&bias), "{bias}");
        assert_eq!(results.metrics.flows.rtt_bias, Some(bias));
    }
}
