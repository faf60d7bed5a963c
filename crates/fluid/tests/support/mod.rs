//! What several tests build on.
#![allow(dead_code, reason = "no test uses all of it")]

use fluid::{Fluid, Initial, Model, Options, Proportional, TcpLaw};
use scenario::Document;

/// The model of a scenario in TOML.
pub(crate) fn model(text: &str) -> Model {
    let scenario = Document::parse(text, "test").unwrap().check().unwrap_or_else(|e| panic!("{e}"));
    Model::of(&scenario).unwrap_or_else(|e| panic!("{e}"))
}

/// A run to its end.
pub(crate) fn run(model: &Model, options: &Options) -> Fluid {
    let mut fluid = Fluid::new(model.clone(), options.clone()).unwrap();
    while !fluid.finished() {
        fluid.advance(aqm::Time::MAX);
    }
    fluid
}

/// `count` flows without delayed ACKs over 2500 packets a second, with a round trip of about 30.5 ms and a delay more.
pub(crate) fn dumbbell(aqm: &str, count: u32, duration: f64, more: &str) -> String {
    format!(
        "duration = \"{duration} s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"200 packets\"\n\
         access_rate = \"100 Mbit/s\"\n{more}\n{aqm}\n\
         [[traffic]]\nname = \"long\"\ncount = {count}\npacket_size = \"500 B\"\n\
         tcp = {{ preset = \"ns2.35\", flavour = \"newreno\" }}\n"
    )
}

/// The LRED paper's example: 300 flows, 350 ms at 100 packets waiting, 2500 packets a second.
pub(crate) const N: f64 = 300.0;
pub(crate) const R: f64 = 0.35;
pub(crate) const C: f64 = 2500.0;
pub(crate) const Q0: f64 = 100.0;
/// From the independent computation of section 2 of the model's notes: the gain at which (31) oscillates, and how fast.
pub(crate) const BETA_0: f64 = 1.0545e-3;
pub(crate) const OMEGA: f64 = 2.12683;

/// That example as the equations of the paper see it, with p = p0 + beta sqrt(p0) (q - q0), a little off its equilibrium.
pub(crate) fn example(beta: f64, merged: bool, duration: f64, step: f64) -> Fluid {
    let p0 = 1.5 * (N / (R * C)).powi(2);
    let mut model = model(&dumbbell("[aqm]\nname = \"lred\"\nq0 = 100\n", 300, duration, ""));
    model.classes[0].rtt = R - Q0 / C;
    let options = Options {
        step: Some(step),
        constant_rtt: true,
        merged,
        tcp: TcpLaw::SquareRoot,
        thinned: false,
        proportional: Some(Proportional { p0, gain: beta * p0.sqrt(), q0: Q0 }),
        initial: Some(Initial { window: R * C / N * 1.0001, queue: Q0 }),
        ..Options::default()
    };
    Fluid::new(model, options).unwrap()
}
