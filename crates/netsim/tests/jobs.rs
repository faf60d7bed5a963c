//! JoBS on a link: guarantees that hold for classes, and marks in time that leave nothing to drop.

use aqm::unit::Time;
use netsim::Simulation;
use run::Results;
use scenario::Document;

const CLASSES: [&str; 4] = ["first", "second", "third", "fourth"];

/// Runs a scenario with these settings, the first the AQM if it is called so.
fn run(text: &str, settings: &[(&str, &str)]) -> Results {
    let mut document = Document::parse(text, "test").unwrap();
    for (path, value) in settings {
        match *path {
            "aqm" => document.set_aqm(value).unwrap(),
            path => document.set_text(path, value).unwrap(),
        }
    }
    let scenario = document.check().unwrap_or_else(|problems| panic!("{problems}"));
    let mut run = Simulation::new(scenario, 1, ());
    run.advance(Time::MAX);
    run.results()
}

fn guaranteed(settings: &[(&str, &str)]) -> Results {
    run(include_str!("../../../python/aqmlab/library/classes.toml"), settings)
}

#[test]
fn the_guarantees_of_the_scenario_hold() {
    let results = guaranteed(&[]);
    let of = CLASSES.map(|name| &results.classes[name].traffic);
    let loss = of.map(|traffic| traffic.loss_ratio.unwrap());
    let delay = of.map(|traffic| traffic.queue_delay_mean.unwrap());
    let longest = of[0].queue_delay_max.unwrap();
    assert!(longest <= 5e-3, "{longest}");
    assert!(loss[0] <= 0.0101, "{loss:?}");
    for i in 1..3 {
        let (losses, delays) = (loss[i + 1] / loss[i], delay[i + 1] / delay[i]);
        assert!((losses - 2.0).abs() < 0.1, "class {}: {losses}", i + 2);
        assert!((delays - 2.0).abs() < 0.4, "class {}: {delays}", i + 2);
    }
    assert!(of[3].throughput > 500e3);
    assert!(results.metrics.link.utilisation > 0.99);
}

#[test]
fn without_jobs_all_classes_fare_alike() {
    let results = guaranteed(&[("aqm", "droptail")]);
    for name in CLASSES {
        let traffic = &results.classes[name].traffic;
        assert!(traffic.loss_ratio.unwrap() > 0.1, "{name}");
        assert!(traffic.queue_delay_max.unwrap() > 0.02, "{name}");
    }
}

/// The survey's link and buffer, round-trip times of 60 to 100 ms, fewer flows; when slow start is over.
const TCP: &str = r#"
duration = "20 s"
warmup = "5 s"
[dumbbell]
rate = "45 Mbit/s"
delay = "10 ms"
buffer = "100000 B"
sender_delay = ["5 ms", "20 ms"]
receiver_delay = ["15 ms", "20 ms"]
[[traffic]]
name = "tcp"
count = 30
tcp = "newreno:ecn=true"
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
[[traffic]]
name = "udp"
kind = "on-off"
count = 10
rate = "1 Mbit/s"
on = "exponential(20 ms)"
off = "exponential(80 ms)"
packet_size = "100 B"
"#;

#[test]
fn with_ecn_it_loses_nothing_keeps_the_shortest_queue_and_leaves_some_of_the_link() {
    let [jobs, droptail, red] = ["jobs_ecn:preset=survey", "droptail", "red:preset=survey"].map(|aqm| {
        let results = run(TCP, &[("aqm", aqm)]);
        let link = results.metrics.link;
        (results.classes["tcp"].traffic.loss_ratio.unwrap(), link.queue_mean.unwrap(), link.utilisation)
    });
    assert_eq!(jobs.0, 0.0);
    assert!(droptail.0 > 0.0);
    assert!(jobs.1 < red.1.min(droptail.1), "{jobs:?} {droptail:?} {red:?}");
    assert!(jobs.2 < droptail.2 && jobs.2 > 0.7, "{jobs:?} {droptail:?} {red:?}");
}
