//! A run under the control of an agent: the fate of packets, and the measurements.

use aqm::unit::{Span, Time};
use netsim::{Agent, Control, Interval, Simulation};
use run::results::LinkMetrics;
use scenario::{Document, Scenario};

const LINK: &str = "duration = \"20 s\"\nwarmup = \"3 s\"\naqm = \"droptail\"\n\
    [dumbbell]\nrate = \"4 Mbit/s\"\nbuffer = \"50 packets\"\nreceiver_delay = [\"10 ms\", \"35 ms\"]\n\
    [[traffic]]\nname = \"long\"\ncount = 5\nstart = \"uniform(0 s, 1 s)\"\n";

fn scenario(settings: &[(&str, &str)]) -> Scenario {
    let mut document = Document::parse(LINK, "control").unwrap();
    settings.iter().for_each(|(path, text)| document.set_text(path, text).unwrap());
    document.check().unwrap()
}

/// A value of an interval by its name.
fn value(interval: &Interval, name: &str) -> f64 {
    let place = Interval::MEASURED.iter().position(|quantity| quantity.name == name).unwrap();
    interval.measured()[place]
}

/// All intervals of 5 ms of a run, in which the probability is `p` of the number of the interval.
fn intervals(control: &mut Control, p: impl Fn(u32) -> f64) -> Vec<Interval> {
    let mut all = Vec::new();
    while !control.finished() {
        all.push(control.step(p(all.len() as u32), Span::ms(5)));
    }
    all
}

fn total(intervals: &[Interval], name: &str) -> f64 {
    intervals.iter().map(|interval| value(interval, name)).sum()
}

fn link(scenario: &Scenario, seed: u64) -> LinkMetrics {
    let mut run = Simulation::new(scenario.clone(), seed, ());
    run.advance(Time::MAX);
    run.results().metrics.link
}

#[test]
fn without_drops_it_is_drop_tail() {
    let scenario = scenario(&[]);
    let mut control = Control::new(scenario.clone(), 7, Some(Agent::Drops));
    let all = intervals(&mut control, |_| 0.0);
    assert_eq!(all.len(), 4000);
    assert_eq!(format!("{:?}", control.results().metrics.link), format!("{:?}", link(&scenario, 7)));
    assert!(total(&all, "drops_overflow") > 100.0 && total(&all, "drops_early") == 0.0);
}

#[test]
fn an_interval_has_the_events_of_its_time() {
    // Of one sender: a queue that works ahead would take its packets over before they arrive.
    let scenario = scenario(&[("dumbbell.sender_delay", "20 ms"), ("traffic.long.count", "1")]);
    let of = |agent| intervals(&mut Control::new(scenario.clone(), 7, agent), |_| 0.0);
    assert_eq!(of(Some(Agent::Drops)), of(None));
    let mut run = Simulation::step_by_step(scenario.clone(), 7, ());
    let mut arrivals = 0.0;
    for (i, interval) in (1..).zip(of(None)) {
        run.advance(Time::ZERO + Span::ms(5) * i);
        arrivals += value(&interval, "arrivals");
        assert_eq!(run.glance().arrivals as f64, arrivals, "interval {i}");
    }
}

#[test]
fn a_discipline_is_measured_in_a_run_that_is_its_own() {
    for aqm in ["pie", "codel", "red"] {
        let scenario = scenario(&[("aqm.name", aqm)]);
        let mut control = Control::new(scenario.clone(), 7, None);
        intervals(&mut control, |_| 1.0);
        assert_eq!(
            format!("{:?}", control.results().metrics.link),
            format!("{:?}", link(&scenario, 7)),
            "{aqm}"
        );
    }
}

#[test]
fn with_certainty_nothing_passes() {
    let mut control = Control::new(scenario(&[]), 7, Some(Agent::Drops));
    let all = intervals(&mut control, |_| 1.0);
    assert!(total(&all, "arrivals") > 0.0);
    assert_eq!(total(&all, "arrivals"), total(&all, "drops_early"));
    assert_eq!(total(&all, "departures") + total(&all, "utilisation") + total(&all, "delay"), 0.0);
}

#[test]
fn packets_and_bits_are_accounted_for_in_every_interval() {
    for agent in [Some(Agent::Drops), None] {
        let mut control = Control::new(scenario(&[("aqm.name", "red")]), 3, agent);
        let mut queue = 0.0;
        for interval in intervals(&mut control, |i| f64::from(i % 40) / 400.0) {
            let of = |name| value(&interval, name);
            queue += of("arrivals") - of("departures") - of("drops_early") - of("drops_overflow");
            assert_eq!(queue, of("queue"), "{interval:?}");
            assert!((0.0..=1.0 + 1e-9).contains(&of("utilisation")), "{interval:?}");
            assert_eq!(of("rate"), 4e6);
            let mut ranges =
                Interval::OBSERVED.iter().map(|quantity| quantity.range).zip(interval.observation());
            assert!(ranges.all(|([low, high], seen)| (low..=high).contains(&f64::from(seen))));
        }
    }
}

#[test]
fn the_intervals_add_up_to_the_results() {
    let mut control = Control::new(scenario(&[("warmup", "0 s")]), 7, Some(Agent::Drops));
    let all = intervals(&mut control, |i| if i < 400 { 0.0 } else { 0.02 });
    let metrics = control.results().metrics.link;
    let mean = |name| total(&all, name) / all.len() as f64;
    assert!((mean("utilisation") - metrics.utilisation).abs() < 1e-9);
    assert!((mean("queue_mean") - metrics.queue_mean.unwrap()).abs() < 1e-6);
    let waited: f64 = all.iter().map(|one| value(one, "delay") * value(one, "departures")).sum();
    assert!((waited / total(&all, "departures") - metrics.traffic.queue_delay_mean.unwrap()).abs() < 1e-9);
    assert!(total(&all, "drops_early") > 20.0);
}

#[test]
fn equal_actions_give_equal_bits_and_the_action_counts() {
    let all = |seed, p: fn(u32) -> f64| {
        intervals(&mut Control::new(scenario(&[]), seed, Some(Agent::Drops)), p)
            .iter()
            .flat_map(Interval::measured)
            .map(f64::to_bits)
            .collect::<Vec<_>>()
    };
    let varied = |i: u32| f64::from(i % 7) * 0.01;
    assert_eq!(all(5, varied), all(5, varied));
    assert_ne!(all(5, varied), all(6, varied));
    assert_ne!(all(5, varied), all(5, |i| f64::from(i % 7) * 0.02));
}

#[test]
fn only_ecn_capable_packets_are_marked() {
    let run = |ecn: &str, agent| {
        let scenario = scenario(&[("traffic.long.tcp", ecn)]);
        let all =
            intervals(&mut Control::new(scenario, 7, Some(agent)), |i| if i % 8 == 0 { 1.0 } else { 0.05 });
        (total(&all, "marks") > 0.0, total(&all, "drops_early") > 0.0)
    };
    assert_eq!(run("linux:ecn=true", Agent::Marks), (true, true), "a SYN is not ECN-capable");
    assert_eq!(run("linux:ecn=true", Agent::Drops), (false, true));
    assert_eq!(run("linux", Agent::Marks), (false, true));
}

#[test]
fn the_rate_of_a_link_that_changes_is_that_of_the_interval() {
    let scenario = scenario(&[("dumbbell.changes", "[\"10.0025 s: 2 Mbit/s\"]")]);
    let mut control = Control::new(scenario, 7, Some(Agent::Drops));
    let all = intervals(&mut control, |_| 0.0);
    let rates: Vec<f64> = [1999, 2000, 2001].map(|i| value(&all[i], "rate")).into();
    assert_eq!(rates, [4e6, 3e6, 2e6]);
}
