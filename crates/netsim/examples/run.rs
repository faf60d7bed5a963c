//! Runs a scenario with the engine alone, without Python, and prints what that cost as a line of JSON. For profilers,
//! and for `make counts`, which counts the instructions of `simulate`:
//!
//! ```text
//! cargo build --release --package netsim --example run
//! valgrind --tool=callgrind --toggle-collect='run::simulate*' \
//!     target/release/examples/run papers/aqmlab_papers/lred/exp1.toml aqm=pi:q_ref=100 duration="20 s" record.series=false
//! ```
//!
//! After the file come settings, as `aqmlab run --set` takes them; `aqm=…` is what `--aqm` takes.

use aqm::unit::Time;
use netsim::{Series, Simulation};
use run::Results;
use scenario::{Document, Scenario};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match checked(std::env::args().skip(1)) {
        Ok(scenario) => {
            let results = simulate(scenario);
            println!("{}", serde_json::json!(results.engine));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// The scenario that the arguments describe.
fn checked(mut arguments: impl Iterator<Item = String>) -> Result<Scenario, String> {
    let file = arguments.next().ok_or("usage: run FILE.toml [aqm=SPEC] [PATH=VALUE]...")?;
    let mut document = Document::load(Path::new(&file)).map_err(|problems| problems.to_string())?;
    for argument in arguments {
        let (path, text) = argument.split_once('=').ok_or(format!("{argument}: must be PATH=VALUE"))?;
        if path == "aqm" { document.set_aqm(text) } else { document.set_text(path, text) }
            .map_err(|problem| problem.to_string())?;
    }
    document.check().map_err(|problems| problems.to_string())
}

/// Set-up, run and results.
#[inline(never)]
fn simulate(scenario: Scenario) -> Results {
    let seed = scenario.general.seed;
    let end = Time::ZERO + scenario.general.duration;
    if scenario.record.series {
        let series = Series::new(&scenario);
        let mut run = Simulation::new(scenario, seed, series);
        run.advance(end);
        run.probe_mut().finish(end);
        run.results()
    } else {
        let mut run = Simulation::new(scenario, seed, ());
        run.advance(end);
        run.results()
    }
}
