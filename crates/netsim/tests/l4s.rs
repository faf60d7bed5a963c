//! Scalable and classic flows through the link of library/l4s.toml, against RFC 9332's claims. The scalable ones are
//! DCTCP, whose window follows theory without pacing and without independence of the round trip.

use aqm::unit::Time;
use netsim::Simulation;
use run::Results;
use run::results::ClassMetrics;
use scenario::Document;
use std::path::Path;

fn run(aqm: &str, settings: &[(&str, &str)]) -> Results {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/aqmlab/library/l4s.toml");
    let settings = [&[("traffic.scalable.tcp", "l4s")], settings].concat();
    results(Document::load(&path).unwrap(), aqm, &settings)
}

fn results(mut document: Document, aqm: &str, settings: &[(&str, &str)]) -> Results {
    document.set_aqm(aqm).unwrap();
    settings.iter().for_each(|(key, value)| document.set_text(key, value).unwrap());
    let mut run = Simulation::new(document.check().unwrap(), 1, ());
    run.advance(Time::MAX);
    run.results()
}

/// Round trip without queues, 20 ms, and the transmission of a packet of 1500 bytes at 40 Mbit/s.
const RTT: f64 = 0.020 + 1500.0 * 8.0 / 40e6;

/// The mean window of a flow in segments, by Little's law.
fn window(class: &ClassMetrics) -> f64 {
    let rate = class.totals.goodput / f64::from(class.flows) / (1448.0 * 8.0);
    rate * (RTT + class.traffic.queue_delay_mean.unwrap())
}

#[test]
fn scalable_packets_wait_less_than_a_millisecond_and_classic_ones_the_target() {
    for aqm in ["dualpi2", "dualpi2:preset=linux", "dualpi2:scheduler=ts-fifo"] {
        let results = run(aqm, &[]);
        let [classic, scalable] = ["classic", "scalable"].map(|name| &results.classes[name]);
        let wait = scalable.traffic.queue_delay_mean.unwrap();
        assert!(wait < 0.0005, "{aqm}: {wait}");
        // The ramp marks every packet that has waited for 1.2 ms, and one or two may be ahead.
        let longest = scalable.traffic.queue_delay_p99.unwrap();
        assert!(longest < 0.0012 + 0.0006, "{aqm}: {longest}");
        // The controller has no error in the mean; its packets leave a little later than the head is looked at.
        let wait = classic.traffic.queue_delay_mean.unwrap();
        assert!((wait - 0.015).abs() < 0.001, "{aqm}: {wait}");
        assert!(results.metrics.link.utilisation > 0.999, "{aqm}");
        assert_eq!(results.metrics.link.traffic.drops_early, 0, "{aqm}: ECN loses nothing");
    }
}

#[test]
fn the_marks_of_both_queues_are_coupled() {
    let results = run("dualpi2", &[]);
    let [classic, scalable] =
        ["classic", "scalable"].map(|name| results.classes[name].traffic.mark_ratio.unwrap());
    // p_CL = 2 sqrt(p_C), and what the ramp adds. The mean of a root is less than the root of the mean.
    let coupled = 2.0 * classic.sqrt();
    assert!((0.9..1.2).contains(&(scalable / coupled)), "{scalable} against {coupled}");
}

#[test]
fn windows_are_as_theory_has_them() {
    // p' = sqrt(p_C) = p_CL / 2. Scalable: half a segment is lost for each mark and one gained a round trip, so 2 / p_CL
    // = 1 / p'. Classic: sqrt(1.5 / p_C) = 1.22 / p'.
    let results = run("dualpi2", &[]);
    let [classic, scalable] = ["classic", "scalable"].map(|name| window(&results.classes[name]));
    let ratio = scalable / classic;
    assert!((ratio - 1.0 / 1.22).abs() < 0.1, "{ratio}");
}

#[test]
fn rates_are_windows_over_round_trips_and_without_the_coupling_they_are_not() {
    let ratio = |aqm, settings: &[(&str, &str)]| {
        let results = run(aqm, settings);
        let [classic, scalable] = ["classic", "scalable"].map(|name| results.classes[name].totals.goodput);
        scalable / classic
    };
    // The windows (see above) over a round trip of 20 ms instead of 35 ms.
    let both = ratio("dualpi2", &[]);
    assert!((both - 35.0 / 20.0 / 1.22).abs() < 0.1, "{both}");
    // Twice the marks leave half the window.
    let wrong = ratio("dualpi2:k=4", &[]);
    assert!((wrong - both / 2.0).abs() < 0.05, "{wrong}, {both}");
    // In one queue, with the marks of its step for all, the scalable ones take nearly all.
    let alone = ratio("step", &[("aqm.ecn", "true")]);
    assert!(alone > 3.0, "{alone}");
}

#[test]
fn low_latency_docsis_couples_marks_and_losses_and_shares_equally() {
    let paced = [
        ("traffic.scalable.tcp", "l4s:pacing=fq"),
        ("dumbbell.rate", "200 Mbit/s"),
        ("dumbbell.buffer", "2500 kB"),
        ("duration", "40 s"),
    ];
    let results = run("lld", &paced);
    let [classic, scalable] = ["classic", "scalable"].map(|name| &results.classes[name]);
    // A packet of 1500 bytes counts as 1500 / 1024 in DOCSIS-PIE, and between two drops the sum of probabilities grows to
    // 0.85 before another is possible: p_C is 1.85 times 1024 / 1500 of the ratio of losses. The mean of a root is less
    // than the root of the mean.
    let drops_to_p = 1.85 * 1024.0 / 1500.0;
    let coupled = 2.0 * (drops_to_p * classic.traffic.loss_ratio.unwrap()).sqrt();
    let marked = scalable.traffic.mark_ratio.unwrap();
    assert!((0.9..1.05).contains(&(marked / coupled)), "{marked} against {coupled}");
    let rates = scalable.totals.goodput / classic.totals.goodput;
    assert!((rates - 1.0).abs() < 0.15, "{rates}");
    // DOCSIS-PIE holds the classic queue at its target. Nearly all low-latency packets find less than MINTH, 476 us.
    let wait = classic.traffic.queue_delay_mean.unwrap();
    assert!((wait - 0.010).abs() < 0.001, "{wait}");
    let longest = scalable.traffic.queue_delay_p99.unwrap();
    assert!(longest < 0.000_476, "{longest}");
    assert!(results.metrics.link.utilisation > 0.98, "{}", results.metrics.link.utilisation);
    // Without the coupling the scalable flows have their ramp alone, and most of the link.
    let rates = {
        let alone = run("lld", &[&paced[..], &[("aqm.k", "0")]].concat());
        alone.classes["scalable"].totals.goodput / alone.classes["classic"].totals.goodput
    };
    assert!(rates > 2.0, "{rates}");
}

/// A game beside a download, and a flow that sends more than the link has with ECT(1), whatever is marked.
const PROTECTED: &str = r#"
duration = "30 s"
warmup = "10 s"
[dumbbell]
rate = "50 Mbit/s"
delay = "10 ms"
buffer = "625 kB"
[[traffic]]
name = "game"
kind = "cbr"
rate = "0.5 Mbit/s"
packet_size = "200 B"
dscp = "NQB"
[[traffic]]
name = "download"
tcp = "cubic"
[[traffic]]
name = "unresponsive"
kind = "cbr"
rate = "60 Mbit/s"
packet_size = "1500 B"
ecn = "ect1"
start = "5 s"
"#;

#[test]
fn queue_protection_sanctions_the_flow_that_builds_the_queue_and_no_other() {
    let run = |aqm, settings: &[(&str, &str)]| {
        let results = results(Document::parse(PROTECTED, "x.toml").unwrap(), aqm, settings);
        ["game", "unresponsive"].map(|name| {
            let traffic = &results.classes[name].traffic;
            (traffic.queue_delay_p99.unwrap(), traffic.loss_ratio.unwrap())
        })
    };
    // Packets are redirected from a delay of 1164 us on, the fewest before; one may be in transmission.
    let [game, unresponsive] = run("lld", &[]);
    assert!(game.0 < 0.0020 && game.1 == 0.0, "{game:?}");
    assert!(unresponsive.0 > 0.05 && unresponsive.1 > 0.1, "{unresponsive:?}");
    // Without it the game finds the low-latency queue full, which is 9.7 ms and a frame.
    let [game, _] = run("lld", &[("aqm.queue_protection", "false")]);
    assert!(game.0 > 0.009 && game.1 > 0.1, "{game:?}");
    // Without its code point it waits with all that is classic.
    let [game, _] = run("lld", &[("traffic.game.dscp", "BE")]);
    assert!(game.0 > 0.05, "{game:?}");
}
