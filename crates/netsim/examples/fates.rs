//! Prints what became of each packet that came to the first link with an AQM, in order of arrival: `.` for sent, `M` for
//! sent with CE, `x` for not sent. `make oracle-linux` lays it beside what the Linux kernel did with the same packets.
//!
//! ```text
//! cargo run --release --package netsim --example fates -- scenario.toml
//! ```

use aqm::unit::Time;
use aqm::{AnyDiscipline, Outcome};
use netsim::probe::Owner;
use netsim::{Probe, Simulation};
use scenario::{Document, Scenario};
use std::path::Path;
use std::process::ExitCode;

/// A character for each arrival so far.
#[derive(Default)]
struct Fates(Vec<u8>);

impl Probe for Fates {
    fn on_arrival(&mut self, queue: usize, _: Time, _: Owner, _: Outcome, _: &AnyDiscipline) {
        if queue == 0 {
            self.0.push(b'x');
        }
    }

    fn on_fate(&mut self, queue: usize, arrival: u64, marked: bool) {
        if queue == 0 {
            self.0[arrival as usize] = if marked { b'M' } else { b'.' };
        }
    }
}

fn main() -> ExitCode {
    match checked(std::env::args().nth(1)) {
        Ok(scenario) => {
            println!("{}", String::from_utf8_lossy(&fates(scenario).0));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn checked(file: Option<String>) -> Result<Scenario, String> {
    let file = file.ok_or("usage: fates FILE.toml")?;
    let document = Document::load(Path::new(&file)).map_err(|problems| problems.to_string())?;
    document.check().map_err(|problems| problems.to_string())
}

fn fates(scenario: Scenario) -> Fates {
    let (seed, end) = (scenario.general.seed, Time::ZERO + scenario.general.duration);
    let mut run = Simulation::new(scenario, seed, Fates::default());
    run.advance(end);
    std::mem::take(run.probe_mut())
}
