//! Programs' own transports over simulated links.

#[cfg(feature = "quinn")]
mod downloads;
mod library;

use aqm::unit::Time;
use netsim::{Run, RunOptions};
use run::{Results, Watch};
use scenario::{Document, Scenario};

fn scenario(text: &str) -> Scenario {
    stacks::install();
    let scenario = Document::parse(text, "stacks").unwrap().check();
    scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// A run in which every packet is accounted for.
fn run(text: &str, seed: u64) -> Run {
    let options = RunOptions { accounted: true, ..RunOptions::default() };
    let mut run = Run::new(scenario(text), seed, options);
    run.advance(Time::MAX, Watch::default);
    assert_eq!(run.violations(), Some(Vec::new()));
    run
}

/// The results without the time that they took.
fn results(text: &str, seed: u64) -> Results {
    let mut results = run(text, seed).results().unwrap();
    results.engine.cpu_seconds = 0.0;
    results
}

/// A download over a link with a round trip of 20 ms.
fn download(kind: &str, rate: &str, dumbbell: &str, keys: &str) -> String {
    format!(
        "duration = \"14 s\"\nwarmup = \"4 s\"\n[dumbbell]\nrate = \"{rate}\"\ndelay = \"8 ms\"\nsender_delay = \"1 ms\"\n\
         receiver_delay = \"1 ms\"\n{dumbbell}\n[record]\ncwnd = \"100 ms\"\nflows = true\n[[traffic]]\nname = \"x\"\nkind = \"{kind}\"\n{keys}\n"
    )
}
