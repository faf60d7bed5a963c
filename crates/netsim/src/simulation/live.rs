//! A run that follows its scenario while a user changes it.

mod allowed;
mod traffic;

pub(super) use allowed::{may_follow, schedules};

use super::Simulation;
use crate::engine::rng::Stream;
use crate::measure::probe::Probe;
use crate::network::{handover, link};
use aqm::unit::Time;
use scenario::Scenario;
use scenario::model::{Change, Link, Traffic};

/// What a live run knows beside its scenario. The scenario's entries cover all flows that there have been.
#[derive(Debug)]
pub(super) struct Following {
    /// The schedule of the rates of each link.
    schedules: Vec<Vec<Change>>,
    /// The number of flows, arrival processes or clients of each traffic entry at present.
    counts: Vec<u32>,
    /// The streams from which the starts and sizes of added flows are drawn, one for each entry.
    draws: Vec<Stream>,
}

impl Following {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Self {
        let draws = |entry: &Traffic| Stream::new(seed, &format!("traffic.{}.added", entry.name));
        Self {
            schedules: schedules(scenario),
            counts: scenario.traffic.iter().map(|entry| entry.count).collect(),
            draws: scenario.traffic.iter().map(draws).collect(),
        }
    }
}

impl<P: Probe> Simulation<P> {
    /// Follows a changed scenario from now on: the rates, delays, buffers, random losses and algorithms of its links, and of
    /// each traffic entry `count` and the rate.
    ///
    /// * If the rate changes, a packet in transmission keeps the old one, and so do all that wait on a link whose queue is not
    ///   measured.
    /// * If the delay changes, the packets on the way go on faster or slower in the same proportion.
    /// * An algorithm with other parameters or another buffer keeps its state, as with `tc qdisc change`: averages,
    ///   probabilities and timers, and the packets that wait stay where they are. A parameter that only sets an initial value
    ///   has no effect. Packets that no longer fit the buffer are dropped, first those that have waited longest. Where the state
    ///   has no meaning with the new parameters, for example with another number of queues, the algorithm starts anew.
    /// * Another algorithm, or one that starts anew, is in its initial state, and the packets that wait come to it at once.
    ///   In either case the port has the present rate. A buffer in s or in BDP changes with the rate, and one in BDP also when
    ///   the longest round trip changes. If only the rate or the delay changes, the algorithm does not learn of it, as with
    ///   `changes`; nor does it learn of another usual size of a packet, which remains that of the start.
    /// * With a higher `count`, flows, clients or arrival processes with the next numbers start: each at its `start`, which is
    ///   drawn for it now and counts from now, or from the start of `active` if that is later. With a lower one, those with
    ///   the highest numbers stop: a flow of TCP as at its `stop`, with the outstanding data still delivered; a source of
    ///   datagrams at once; a web client after its page; a client that plays a video after its chunk; of arrival processes,
    ///   those whose next flows would come last, while flows that have arrived go on. What has stopped comes first when
    ///   the count rises again, and draws its `start` again. A flow of TCP then goes on with its connection, by its TCP's
    ///   rules for an idle one, and a transfer with the rest of its payload; a recording and a video begin anew.
    /// * The parameters of datagrams change, except their sizes where these are `packet_size`: `rate`, `on` and `off`,
    ///   `frame_rate`, `frame_size`, `interval` and so on; of `short` flows, how often they arrive. A packet or an arrival
    ///   that is waited for comes as much sooner or later as the gaps are shorter or longer then, unless its flow or its
    ///   process is still to start. The frame that is next keeps its size.
    ///
    /// The results then describe no single scenario. They count what happened, over the rates that the links had, but without
    /// lanes where an algorithm has started meanwhile. The parts that they compare with an idle network, or with a target, are
    /// those of the first scenario, except `count`. Whatever is counted or averaged over flows, such as the fairness index,
    /// takes every flow that there was, with what it delivered in the whole window; `flows` is the highest `count`. The bias of round-trip
    /// times takes only flows that have been there since the warm-up without a break. Where flows are recorded, one that
    /// stopped and started again has a row for each time.
    ///
    /// Only a live run can: see [`Simulation::live`].
    ///
    /// # Errors
    /// If part of the change, which the message names, needs a new run. Then nothing has changed.
    pub fn follow(&mut self, scenario: &Scenario) -> Result<(), String> {
        let Following { schedules, .. } = self.following.as_ref().ok_or("only a live run can follow")?;
        if self.finished {
            return Err("the run is over".to_owned());
        }
        let mut scenario = scenario.clone();
        handover::draw(&mut scenario, self.seed);
        may_follow(&self.scenario, schedules, &scenario)?;
        // The last event may have been long ago.
        self.network.events.reach(self.network.watch.now());
        let old = std::mem::replace(&mut self.scenario.links, scenario.links.clone());
        for (i, before) in old.into_iter().enumerate() {
            self.follow_link(i, &before);
        }
        self.scenario.discipline.clone_from(&scenario.discipline);
        self.follow_traffic(&scenario.traffic);
        Ok(())
    }

    /// Follows the scenario's link, which was `before`.
    fn follow_link(&mut self, i: usize, before: &Link) {
        let now = self.now();
        let since = now.since(Time::ZERO);
        let declared = &mut self.scenario.links[i];
        declared.packet = before.packet;
        let (rate, changed) =
            (declared.rate, !declared.has_changes() && declared.rate != before.rate_at(since));
        if declared.changes.is_empty() {
            // The rates so far remain: the link's capacity is computed from them.
            let now = Some(Change { at: since, rate }).filter(|_| changed);
            declared.changes = before.changes.iter().copied().chain(now).collect();
            declared.rate = before.rate;
        }
        let declared = &*declared;
        let delay = link::delay(declared, self.seed);
        let link = &mut self.network.links[i];
        if changed {
            link.change(now, rate);
        }
        if declared.buffer != before.buffer {
            link.set_limit(declared.buffer);
        }
        if declared.loss != before.loss {
            link.set_loss(declared, self.seed);
        }
        if declared.delay != before.delay {
            self.network.set_delay(i, delay);
        }
        if declared.aqm != before.aqm || declared.buffer != before.buffer {
            self.network.change_algorithm(i, declared, delay);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::probe::Checked;
    use aqm::unit::Span;
    use run::Watch;

    const LINK: &str = "duration = \"40 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"200 packets\"\n\
        delay = \"20 ms\"\nreceiver_delay = \"0 s\"\n[aqm]\nname = \"droptail\"\n\
        [[traffic]]\nname = \"long\"\ncount = 5\nstart = \"uniform(0 s, 1 s)\"\n\
        [[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nrate = \"500 kbit/s\"\n";

    fn scenario(changes: &[(&str, &str)]) -> Scenario {
        let mut document = scenario::Document::parse(LINK, "live").unwrap();
        changes.iter().for_each(|(path, text)| document.set_text(path, text).unwrap());
        document.check().unwrap()
    }

    fn live(changes: &[(&str, &str)]) -> Simulation<Checked<()>> {
        Simulation::live(scenario(changes), 1, Checked(None), Watch::default()).expect("nobody stops it")
    }

    fn run() -> Simulation<Checked<()>> {
        live(&[])
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-3, "{found} instead of {expected}");
    }

    /// All but the work, and the lanes, which start again with another algorithm.
    fn results(run: &Simulation<Checked<()>>) -> String {
        let mut results = run.results();
        (results.engine.cpu_seconds, results.engine.events) = (0.0, 0);
        results.lanes.clear();
        serde_json::to_string(&results).unwrap()
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::s(seconds)
    }

    /// The rate in bit/s at which the observed link sends, and the mean wait in s, between two times.
    fn between(run: &mut Simulation<Checked<()>>, from: u64, to: u64) -> (f64, f64) {
        run.advance(at(from));
        let first = run.glance();
        run.advance(at(to));
        let last = run.glance();
        let bits = 8.0 * (last.departed_bytes - first.departed_bytes) as f64;
        let waited = (last.waited - first.waited) / (last.departures - first.departures) as f64;
        (bits / (to - from) as f64, waited)
    }

    #[test]
    fn each_change_acts_from_its_moment_on_and_no_packet_is_lost_count_of() {
        let mut run = run();
        let (rate, waited) = between(&mut run, 5, 10);
        assert!((rate / 10e6 - 1.0).abs() < 0.01, "{rate}");
        assert!(waited > 0.05, "{waited}");

        let mut changes = vec![("dumbbell.rate", "4 Mbit/s")];
        run.follow(&scenario(&changes)).unwrap();
        let (rate, _) = between(&mut run, 11, 15);
        assert!((rate / 4e6 - 1.0).abs() < 0.01, "{rate}");

        changes.push(("aqm.name", "codel"));
        run.follow(&scenario(&changes)).unwrap();
        let (_, waited) = between(&mut run, 20, 25);
        assert!(waited < 0.03, "{waited}");

        changes.extend([
            ("aqm.name", "fq_codel"),
            ("dumbbell.buffer", "30 packets"),
            ("dumbbell.loss", "0.3"),
        ]);
        run.follow(&scenario(&changes)).unwrap();
        let before = run.glance().departed_bytes;
        let (rate, _) = between(&mut run, 26, 30);
        assert!(rate < 3e6 && run.glance().departed_bytes > before, "{rate}");

        changes.extend([
            ("dumbbell.loss", "0.0"),
            ("dumbbell.delay", "1 ms"),
            ("dumbbell.rate", "20 Mbit/s"),
        ]);
        run.follow(&scenario(&changes)).unwrap();
        let (rate, _) = between(&mut run, 33, 40);
        assert!((rate / 20e6 - 1.0).abs() < 0.05, "{rate}");
        assert_close(run.capacity(at(8), at(12)), 10e6 * 2.0 + 4e6 * 2.0);
        run.advance(Time::MAX);
        assert_eq!(run.violations(), Vec::<String>::new());
        // Of 10, 4, 4 and 20 Mbit/s for 10, 20 and 10 s, all but what the losses left idle.
        let results = run.results();
        let bits = results.metrics.link.traffic.throughput * 40.0;
        assert!((bits / (10e6 * 10.0 + 4e6 * 20.0 + 20e6 * 10.0) - 0.95).abs() < 0.05, "{bits}");
        assert_close(results.metrics.link.utilisation, bits / (10e6 * 10.0 + 4e6 * 20.0 + 20e6 * 10.0));
    }

    #[test]
    fn a_scenario_that_is_the_same_changes_nothing() {
        let (mut followed, mut left) = (run(), Simulation::new(scenario(&[]), 1, Checked(None)));
        for second in 1..40 {
            followed.advance(at(second));
            left.advance(at(second));
            followed.follow(&scenario(&[])).unwrap();
        }
        followed.advance(Time::MAX);
        left.advance(Time::MAX);
        assert_eq!(results(&followed), results(&left));
    }

    /// A link that is idle until 12 s, with half the rate from 8 s on.
    #[test]
    fn a_change_is_at_the_time_that_the_run_has_reached_although_nothing_happened() {
        let late = [("traffic.long.start", "12 s"), ("traffic.cbr.start", "12 s"), ("duration", "20 s")];
        let mut run = live(&late);
        run.advance(at(8));
        run.follow(&scenario(&[&late[..], &[("dumbbell.rate", "5 Mbit/s")]].concat())).unwrap();
        run.advance(Time::MAX);
        let link = run.results().metrics.link;
        assert_close(link.utilisation, link.traffic.throughput * 20.0 / (10e6 * 8.0 + 5e6 * 12.0));
    }

    #[test]
    fn losses_go_on_with_the_random_numbers_that_come() {
        let lost = |follows: usize| {
            let mut run = run();
            for second in 1..40 {
                for _ in 0..follows {
                    for loss in ["0.02", "0.01"] {
                        run.follow(&scenario(&[("dumbbell.loss", loss)])).unwrap();
                    }
                }
                run.advance(at(second));
            }
            run.advance(Time::MAX);
            run.results().metrics.link.random_losses
        };
        assert!(lost(1).is_some_and(|lost| lost > 20), "{:?}", lost(1));
        assert_eq!(lost(1), lost(5));
    }

    #[test]
    fn packets_on_a_link_go_on_at_its_new_speed() {
        let delivered = |delays: &[&str]| {
            let mut run = run();
            run.advance(at(3));
            let before = run.delivered();
            for delay in delays {
                run.follow(&scenario(&[("dumbbell.delay", delay)])).unwrap();
            }
            run.advance(at(3) + Span::ms(15));
            let delivered = run.delivered() - before;
            run.advance(Time::MAX);
            assert_eq!(run.violations(), Vec::<String>::new());
            delivered
        };
        let (shorter, same, longer) = (delivered(&["1 ms"]), delivered(&["20 ms"]), delivered(&["200 ms"]));
        // 15 ms of 10 Mbit/s, and the 19 ms that were on the way.
        assert!(shorter > same + 15_000 && shorter < same + 30_000, "{shorter} after {same}");
        // Those of the last 1.5 ms.
        assert!(longer < same / 4, "{longer} after {same}");
        assert_eq!(delivered(&["500 ms", "0 s"]), delivered(&["0 s"]), "all arrive at once");
    }

    /// The whole state of an algorithm is new, its timer, its lanes and its labels included.
    #[test]
    fn a_run_that_gets_its_algorithm_at_the_start_is_one_that_has_it() {
        for name in aqm::aqm::NAMES {
            let with = [("aqm.name", *name), ("dumbbell.hosts", "3"), ("duration", "8 s")];
            let without = [("aqm.name", "droptail"), ("dumbbell.hosts", "3"), ("duration", "8 s")];
            let mut gets = live(&without);
            gets.follow(&scenario(&with)).unwrap();
            let mut has = live(&with);
            gets.advance(Time::MAX);
            has.advance(Time::MAX);
            assert_eq!(results(&gets), results(&has), "{name}");
        }
    }

    /// The signals of the observed link's algorithm.
    fn signals(run: &mut Simulation<Checked<()>>) -> Vec<f64> {
        let mut signals = vec![];
        let aqm_queue = run.network.aqm_queues().next().expect("the bottleneck");
        aqm_queue.queue.algorithm().signals(|_, value| signals.push(value));
        signals
    }

    #[test]
    fn an_algorithm_with_other_parameters_keeps_its_state_and_another_algorithm_has_none() {
        let pie = [("aqm.name", "pie"), ("aqm.target", "15 ms")];
        let mut run = live(&pie);
        run.advance(at(20));
        let before = signals(&mut run);
        assert!(before[0] > 0.001, "p = {}", before[0]);
        let shorter = [pie[0], ("aqm.target", "14 ms")];
        run.follow(&scenario(&shorter)).unwrap();
        assert_eq!(signals(&mut run), before);
        // Updates go on at the same times, however often the parameters change.
        for ms in 1..100 {
            run.advance(at(20) + Span::ms(ms));
            run.follow(&scenario(&[shorter, pie][ms as usize % 2])).unwrap();
        }
        assert_ne!(signals(&mut run), before);
        run.follow(&scenario(&[shorter[0], shorter[1], ("dumbbell.buffer", "5 packets")])).unwrap();
        assert!(run.glance().queue <= 5 && signals(&mut run)[0] > 0.001);
        run.follow(&scenario(&[("aqm.name", "pi2")])).unwrap();
        assert_eq!(signals(&mut run), [0.0; 3]);
        run.advance(Time::MAX);
        assert_eq!(run.violations(), Vec::<String>::new());
    }

    /// The parameter changes and changes back while the link is idle, busy, or paused by CAKE's shaper.
    #[test]
    fn a_parameter_that_changes_back_at_once_leaves_no_trace() {
        for (name, parameter, values) in [
            ("red", "aqm.max_p", ["0.2", "0.1"]),
            ("blue", "aqm.d1", ["0.03", "0.02"]),
            ("codel", "aqm.target", ["6 ms", "5 ms"]),
            ("pi2", "aqm.target", ["19 ms", "20 ms"]),
            ("dualpi2", "aqm.k", ["3", "2"]),
            ("redtail", "aqm.c1_max", ["0.8", "0.9"]),
            ("fq_codel", "aqm.quantum", ["300 B", "1514 B"]),
            ("cake", "aqm.bandwidth", ["3 Mbit/s", "4 Mbit/s"]),
        ] {
            // The flows begin late and end early, so that the link is idle for long.
            let with = |value| {
                scenario(&[
                    ("aqm.name", name),
                    (parameter, value),
                    ("traffic.long.start", "2 s"),
                    ("traffic.long.stop", "9 s"),
                    ("traffic.cbr.stop", "9 s"),
                    ("duration", "12 s"),
                ])
            };
            let start = || Simulation::live(with(values[1]), 1, Checked(None), Watch::default()).unwrap();
            let (mut followed, mut left) = (start(), start());
            for step in 1..120 {
                followed.advance(Time::ZERO + Span::ms(100 * step));
                left.advance(Time::ZERO + Span::ms(100 * step));
                values.iter().for_each(|value| followed.follow(&with(value)).unwrap());
            }
            followed.advance(Time::MAX);
            left.advance(Time::MAX);
            assert_eq!(followed.violations(), Vec::<String>::new(), "{name}");
            assert_eq!(results(&followed), results(&left), "{name}");
            assert_eq!(followed.results().lanes.len(), left.results().lanes.len(), "{name}");
        }
    }

    #[test]
    fn what_needs_a_new_run_is_refused_and_changes_nothing() {
        let mut run = run();
        run.advance(at(2));
        for (path, text, reason) in [
            ("traffic.long.tcp", "rfc5681", "traffic.long.tcp: that needs a new run"),
            ("duration", "50 s", "that needs a new run"),
            ("dumbbell.overhead", "14 B", "link bottleneck: that needs a new run"),
            (
                "dumbbell.changes",
                "[\"5 s: 1 Mbit/s\"]",
                "link bottleneck: another rate beside a schedule, or another schedule, needs a new run",
            ),
            ("clock", "double", "clock: only a run on the integer clock can follow"),
        ] {
            let changed = scenario(&[("dumbbell.rate", "1 Mbit/s"), (path, text)]);
            assert_eq!(run.follow(&changed), Err(reason.to_owned()), "{path}");
        }
        let (rate, _) = between(&mut run, 5, 10);
        assert!((rate / 10e6 - 1.0).abs() < 0.01, "{rate}");
        run.advance(Time::MAX);
        assert_eq!(run.follow(&scenario(&[])), Err("the run is over".to_owned()));
        let mut scheduled = live(&[("dumbbell.changes", "[\"5 s: 1 Mbit/s\"]")]);
        assert!(scheduled.follow(&scenario(&[])).unwrap_err().contains("schedule"));
        let (jitter, outages) =
            (("dumbbell.jitter.deviation", "2 ms"), ("dumbbell.outages", "[\"3 s..5 s\"]"));
        for (own, other, reason) in [
            (jitter, ("dumbbell.delay", "30 ms"), "link bottleneck: another delay beside one that varies"),
            (jitter, ("dumbbell.jitter.deviation", "1 ms"), "link bottleneck: that"),
            (outages, ("dumbbell.rate", "1 Mbit/s"), "link bottleneck: another rate beside outages"),
        ] {
            let mut varied = live(&[own]);
            // Within the outage.
            varied.advance(at(4));
            let refused = varied.follow(&scenario(&[own, other])).unwrap_err();
            assert_eq!(refused, format!("{reason} needs a new run"));
            varied.follow(&scenario(&[own, ("dumbbell.loss", "0.001")])).unwrap();
            let (rate, _) = between(&mut varied, 6, 10);
            assert!((rate / 10e6 - 1.0).abs() < 0.02, "{own:?}: {rate}");
            varied.advance(Time::MAX);
            assert_eq!(varied.violations(), Vec::<String>::new());
        }
        let handover = (
            "dumbbell.handover",
            "{ every = '3 s', outage = '1 s', loss = 0.5, delay = 'uniform(5 ms, 9 ms)' }",
        );
        let mut handed = live(&[handover]);
        handed.advance(at(4));
        let other = scenario(&[("dumbbell.handover", "{ every = '2 s', delay = 'uniform(5 ms, 9 ms)' }")]);
        assert!(handed.follow(&other).unwrap_err().ends_with("needs a new run"));
        handed.follow(&scenario(&[handover, ("dumbbell.loss", "0.001")])).unwrap();
        handed.advance(Time::MAX);
        assert_eq!(handed.violations(), Vec::<String>::new());
        let mut paused = live(&[outages]);
        paused.advance(at(4));
        paused.follow(&scenario(&[outages, ("dumbbell.loss", "0.001")])).unwrap();
        let (rate, _) = between(&mut paused, 4, 5);
        assert!(rate < 0.1e6, "nothing but the outage goes on: {rate}");
        let mut ahead = Simulation::step_by_step(scenario(&[]), 1, ());
        assert!(ahead.follow(&scenario(&[])).unwrap_err().contains("live"));
    }
}
