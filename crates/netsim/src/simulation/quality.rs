//! How users see the network: losses on the way, calls, responsiveness, the outcome for an application.

use super::Simulation;
use crate::measure::delays::Delays;
use crate::measure::probe::Probe;
use run::Playback;
use run::quality::{self, KEPT, NEEDS};
use run::results::FlowMetrics;
use scenario::model::{TrafficKind, Udp};
use std::iter::Sum;

/// What became of segments and datagrams in the window: those of pings count once they are answered.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Fates {
    lost: u64,
    arrived: u64,
}

impl Fates {
    pub(super) fn loss_ratio(self) -> Option<f64> {
        let all = self.lost + self.arrived;
        (all > 0).then(|| self.lost as f64 / all as f64)
    }

    /// Whether packets were sent, and none came through.
    const fn is_dead(self) -> bool {
        self.lost > 0 && self.arrived == 0
    }
}

impl Sum for Fates {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            lost: sum.lost + one.lost,
            arrived: sum.arrived + one.arrived,
        })
    }
}

const fn is_ping(kind: &TrafficKind) -> bool {
    matches!(kind, TrafficKind::Udp(Udp::Ping(_), _))
}

impl<P: Probe> Simulation<P> {
    /// What became of the packets of a class.
    pub(super) fn fates(&self, class: usize) -> Fates {
        let delivery = &self.deliveries.classes[class];
        let of_pings = is_ping(&self.scenario.traffic[class].kind);
        let arrived = if of_pings { delivery.round_trips.count() } else { delivery.delays.count() };
        Fates { lost: self.network.path_losses.of_class(class), arrived }
    }

    /// The classes whose flows are of a kind.
    fn classes_of(&self, is: impl Fn(&TrafficKind) -> bool) -> Vec<usize> {
        let entries = self.scenario.traffic.iter().enumerate().filter(|(_, entry)| entry.count > 0);
        entries.filter(|(_, entry)| is(&entry.kind)).map(|(class, _)| class).collect()
    }

    fn round_trips(&self, class: usize) -> &Delays {
        &self.deliveries.classes[class].round_trips
    }

    /// The most round trips a minute that the slowest of these classes has, 0 if none has come back; `None` if there is no
    /// such class, or nothing was sent.
    fn slowest(&self, classes: &[usize]) -> Option<f64> {
        let rate = |&class: &usize| match self.round_trips(class).trimmed_mean(KEPT) {
            Some(mean) => Some(60.0 / mean),
            None => self.fates(class).is_dead().then_some(0.0),
        };
        classes.iter().filter_map(rate).min_by(f64::total_cmp)
    }

    pub(super) fn responsiveness(&self) -> Option<f64> {
        let loads = self.classes_of(|kind| matches!(kind, TrafficKind::Ftp(_) | TrafficKind::Transfer(..)));
        let probe = self.slowest(&self.classes_of(is_ping))?;
        Some(quality::responsiveness(probe, self.slowest(&loads)?))
    }

    pub(super) fn quality_of_outcome(&self, seconds: f64) -> Option<f64> {
        let general = &self.scenario.general;
        let link = &self.scenario.links[self.scenario.observed];
        let rate = link.capacity(general.warmup, general.duration) / seconds;
        let of_one = |&class: &usize| {
            let fates = self.fates(class);
            if fates.is_dead() {
                return Some(0.0);
            }
            let [first, second] = NEEDS.latency.map(|(share, ..)| self.round_trips(class).quantile(share));
            Some(quality::quality_of_outcome(&NEEDS, [first?, second?], fates.loss_ratio()?, rate))
        };
        self.classes_of(is_ping).iter().filter_map(of_one).min_by(f64::total_cmp)
    }

    /// How the clients of a class played their videos until the end of the run.
    pub(super) fn playback(&self, class: usize) -> Playback {
        if let Some(ends) = &self.ends {
            return ends[class].playback;
        }
        let mut all = Playback::default();
        for client in &self.endpoints.clients {
            if usize::from(self.endpoints.sites[usize::from(client.site)].class) == class {
                all.add(&client.playback(self.end));
            }
        }
        all
    }

    /// The loss events per packet of the TFRC flows of a class, if these are its flows.
    pub(super) fn loss_event_rate(&self, class: usize) -> Option<f64> {
        let sources = self.endpoints.sources.iter().filter(|source| usize::from(source.class) == class);
        let counts = sources.filter_map(|source| Some(source.ends()?.counts()));
        let [packets, events] = counts.fold([0, 0], |sum, of_one| [sum[0] + of_one[0], sum[1] + of_one[1]]);
        (packets > 0).then(|| events as f64 / packets as f64)
    }

    /// The mean opinion score of the calls of a class, if these are its flows.
    pub(super) fn mean_opinion_score(&self, class: usize, flows: &FlowMetrics) -> Option<f64> {
        let TrafficKind::Udp(Udp::Frames { voice: Some(codec), interval, .. }, _) =
            &self.scenario.traffic[class].kind
        else {
            return None;
        };
        if self.fates(class).is_dead() {
            return Some(quality::WORST_CALL);
        }
        let played = flows.delay_p99?;
        let late = self.deliveries.classes[class].delays.beyond(played);
        let heard = (1.0 - flows.path_loss_ratio?) * (1.0 - late);
        let voice = codec.voice();
        let delay = played + interval.secs() + voice.look_ahead.secs();
        Some(quality::mean_opinion_score(&voice, delay, 1.0 - heard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::Time;

    fn run(keys: &str, traffic: &str) -> Simulation<()> {
        let text = format!(
            "duration = \"20 s\"\nwarmup = \"2 s\"\n[dumbbell]\nrate = \"5 Mbit/s\"\n{keys}[[traffic]]\nname = \"load\"\n\
             {traffic}[[traffic]]\nname = \"ping\"\nkind = \"ping\"\n[[traffic]]\nname = \"call\"\nkind = \"voip\"\n"
        );
        let scenario = scenario::Document::parse(&text, "quality").unwrap().check().unwrap();
        let mut run = Simulation::new(scenario, 1, ());
        run.advance(Time::MAX);
        run
    }

    #[test]
    fn responsiveness_is_of_pings_and_of_the_load() {
        let run = run("", "");
        let rate =
            |class: usize| 60.0 / run.deliveries.classes[class].round_trips.trimmed_mean(0.95).unwrap();
        assert!(rate(0) != rate(1));
        assert_eq!(run.results().metrics.rpm, Some((rate(0) + rate(1)) / 2.0));
    }

    #[test]
    fn a_load_in_the_other_direction_counts_by_itself() {
        let up = "[[traffic]]\nname = \"up\"\nfrom = \"receivers\"\nto = \"senders\"\n";
        let run = run("reverse_rate = \"300 kbit/s\"\n", up);
        let rate =
            |class: usize| 60.0 / run.deliveries.classes[class].round_trips.trimmed_mean(0.95).unwrap();
        assert_eq!(run.results().metrics.rpm, Some((rate(2) + rate(0).min(rate(1))) / 2.0));
    }

    #[test]
    fn an_answer_that_is_lost_is_a_loss() {
        // Nothing else is lost: ACKs and answers fill the way back.
        let back = "reverse_rate = \"60 kbit/s\"\nreverse_buffer = \"3 packets\"\n";
        let results = run(back, "").results();
        let ping = &results.classes["ping"];
        let ratio = ping.totals.path_loss_ratio.unwrap();
        assert!(ratio > 0.05, "{ratio}");
        assert_eq!(results.metrics.qoo, Some(0.0));
    }

    #[test]
    fn where_nothing_comes_through_the_worst_is_found() {
        let results = run("loss = 1.0\n", "").results();
        let call = &results.classes["call"];
        assert_eq!((call.totals.path_loss_ratio, call.mos), (Some(1.0), Some(1.0)));
        assert_eq!(
            (results.metrics.qoo, results.classes["ping"].totals.path_loss_ratio),
            (Some(0.0), Some(1.0))
        );
    }
}
