//! Runs in which every packet is accounted for.

use netsim::{Checked, Simulation};
use run::Results;
use scenario::{Document, Scenario};

pub(crate) fn scenario(text: &str) -> Scenario {
    Document::parse(text, "x.toml").unwrap().check().unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn simulation(text: &str, seed: u64) -> Simulation<Checked<()>> {
    let mut simulation = Simulation::new(scenario(text), seed, Checked(None));
    simulation.advance(simulation.end());
    assert_eq!(simulation.violations(), Vec::<String>::new());
    simulation
}

pub(crate) fn run(text: &str) -> Results {
    simulation(text, 1).results()
}
