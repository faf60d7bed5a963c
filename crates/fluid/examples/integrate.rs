//! Runs a scenario: `cargo run --release -p fluid --example integrate -- FILE [AQM] [OPTIONS]`, options as JSON.

use aqm::unit::Time;
use fluid::{Fluid, Model, Options};
use scenario::Document;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("needs a scenario file")?;
    let mut document = Document::load(Path::new(&file))?;
    if let Some(aqm) = arguments.next().filter(|aqm| !aqm.is_empty()) {
        document.set_aqm(&aqm)?;
    }
    let options = Options::read(&arguments.next().unwrap_or_else(|| "{}".to_owned()))?;
    for change in arguments {
        let (path, text) = change.split_once('=').ok_or("a change is path=text")?;
        document.set_text(path, text)?;
    }
    let model = Model::of(&document.check()?)?;
    for what in &model.not_modelled {
        eprintln!("not modelled: {what}");
    }
    let mut fluid = Fluid::new(model, options)?;
    while !fluid.finished() {
        fluid.advance(Time::MAX);
    }
    println!("{:#}", fluid.results()["metrics"]);
    println!("{:#}", fluid.results()["engine"]);
    let windows: Vec<f64> = fluid.windows().collect();
    eprintln!(
        "step {} s, windows {windows:.3?}, queue {:.3}, loss {:.5}",
        fluid.step(),
        fluid.queue(),
        fluid.loss()
    );
    Ok(())
}
