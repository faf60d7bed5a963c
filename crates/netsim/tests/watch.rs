//! A run can be stopped wherever it takes long: in its set-up, in events, in what a queue has to catch up with.

use aqm::Port;
use aqm::unit::{Span, Time};
use netsim::Simulation;
use run::Watch;
use scenario::{Document, Scenario};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn scenario(text: &str) -> Scenario {
    Document::parse(text, "watch").unwrap().check().unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// A watch that says no at question number `stop`, and how many questions there were.
fn until(stop: u64) -> (Watch, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&asked);
    (Watch::new(move |_| counter.fetch_add(1, Ordering::Relaxed) + 1 < stop), asked)
}

/// Asserts that a run stops in one call when the twentieth question gets a negative answer, and stays so.
#[track_caller]
fn stops(text: &str) -> Simulation<()> {
    let (watch, asked) = until(20);
    let mut run = Simulation::watched(scenario(text), 1, (), watch).expect("the set-up is short");
    run.advance(Time::MAX);
    assert!(run.has_stopped() && !run.finished(), "{text}");
    let now = run.now();
    run.advance(Time::MAX);
    assert_eq!((asked.load(Ordering::Relaxed), run.now(), run.finished()), (20, now, false));
    run
}

const LINK: &str = "[dumbbell]\n[[traffic]]\nname = \"x\"\npacket_size = \"500 B\"\n";

#[test]
fn the_set_up_of_noise_can_be_stopped() {
    let text = format!("duration = \"400 s\"\n{LINK}kind = \"fgn\"\ncount = 3\n");
    let questions = |stop| {
        let (watch, asked) = until(stop);
        (Simulation::watched(scenario(&text), 1, (), watch).is_some(), asked.load(Ordering::Relaxed))
    };
    let (set_up, whole) = questions(u64::MAX);
    // Of each flow 2^17 values are drawn, and transformed twice in 17 steps.
    assert!(set_up && whole > 3 * (1 << 17) / 4096, "{whole} questions");
    for stop in [1, 2, whole / 3, whole / 2, whole] {
        assert_eq!(questions(stop), (false, stop));
    }
}

#[test]
fn the_set_up_of_many_flows_can_be_stopped() {
    for kind in [
        "kind = \"ftp\"",
        "kind = \"transfer\"\nsize = \"1 kB\"",
        "kind = \"web\"\nsize = \"1 kB\"",
        "kind = \"cbr\"",
    ] {
        let (watch, asked) = until(4);
        let text = format!("duration = \"1 s\"\n{LINK}count = 20000\n{kind}\n");
        assert!(Simulation::watched(scenario(&text), 1, (), watch).is_none(), "{kind}");
        assert_eq!(asked.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn a_crowd_after_a_long_silence_can_be_stopped() {
    let run = stops(&format!(
        "duration = \"1e7 s\"\n{LINK}kind = \"cbr\"\nstart = \"9999000 s\"\nrate = \"9 Mbit/s\"\n"
    ));
    assert!(run.now() > Time::ZERO + Span::s(9_999_000));
}

#[test]
fn what_a_silent_queue_has_to_catch_up_with_can_be_stopped() {
    let silent = format!("{LINK}kind = \"cbr\"\nstop = \"10 ms\"\n");
    // Linux's ARED asks how long it has been idle: its periods cannot be skipped.
    stops(&format!("duration = \"1e7 s\"\naqm = \"ared\"\n{silent}"));
    stops(&format!("duration = \"1e6 s\"\nresponse = {{ target = 5, bin = \"10 ms\" }}\n{silent}"));
}

#[test]
fn a_frame_of_millions_of_packets_can_be_stopped() {
    let run = stops(&format!("duration = \"1 s\"\n{LINK}kind = \"video\"\nkey_size = \"100 MB\"\n"));
    assert_eq!(run.now(), Time::ZERO);
}

#[test]
fn periods_that_change_nothing_take_no_work() {
    for aqm in ["pi", "pi2", "pie", "rem", "lred", "raqm"] {
        let text = format!("duration = \"1e6 s\"\naqm = \"{aqm}\"\n{LINK}kind = \"cbr\"\nstop = \"10 ms\"\n");
        let scenario = scenario(&text);
        let link = &scenario.links[scenario.observed];
        let port = Port {
            rate: link.rate,
            delay: Span::ZERO,
            limit: link.buffer,
            packet: link.packet,
            header: link.overhead,
        };
        let period = link.aqm.as_ref().unwrap().build(&port).period().unwrap();
        let (watch, asked) = until(u64::MAX);
        let mut run = Simulation::watched(scenario, 1, (), watch).unwrap();
        run.advance(Time::MAX);
        assert!(run.finished());
        let (asked, step_by_step) = (asked.load(Ordering::Relaxed), (1e6 / period.secs()) as u64 / 4096);
        assert!(asked < step_by_step / 10, "{aqm}: {asked} questions, {step_by_step} step by step");
    }
}

#[test]
fn the_questions_change_nothing() {
    let text = format!(
        "duration = \"60 s\"\naqm = \"pi\"\n{LINK}kind = \"short\"\ninterarrival = \"exponential(100 ms)\"\nsize = \"20 kB\"\n"
    );
    let (watch, asked) = until(u64::MAX);
    let outcome = |mut run: Simulation<()>| {
        run.advance(Time::MAX);
        let mut results = run.results();
        results.engine.cpu_seconds = 0.0;
        results
    };
    let plain = outcome(Simulation::new(scenario(&text), 1, ()));
    assert_eq!(outcome(Simulation::watched(scenario(&text), 1, (), watch).unwrap()), plain);
    assert!(plain.engine.events > 50_000 && asked.load(Ordering::Relaxed) >= plain.engine.events / 4096);
}
