//! Prints what runs come to, to the last bit, so that builds and machines can be compared: `make digests`, `make fuzz`.
//!
//! Each line of standard input asks for a run, as JSON; each line of standard output answers one:
//!
//! ```text
//! {"text": "duration = …", "slices": 3}   →   {"results": {…}, "series": "9f…"}
//! {"text": …, "fluid": true}              →   the same of the fluid engine
//! {"text": "duration = -1"}                →   {"refused": "…"}
//! ```
//!
//! `slices` is in how many steps the run advances: it must make no difference.

use aqm::unit::Time;
use fluid::{Fluid, Model, Options};
use netsim::{Series, Simulation, WindowSample};
use run::Column;
use scenario::{Document, Scenario};
use serde_json::{Value as Json, json};
use std::error::Error;
use std::io::{BufRead as _, Write as _};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = answer(&serde_json::from_str(&line?)?);
        let answer = answer.unwrap_or_else(|problem| json!({ "refused": problem.to_string() }));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(order: &Json) -> Result<Json, Box<dyn Error>> {
    let text = order["text"].as_str().ok_or("needs a text")?;
    let scenario = Document::parse(text, "text")?.check()?;
    let slices = order["slices"].as_u64().unwrap_or(1);
    let slice = scenario.general.duration.nanos() / slices.max(1);
    let stops = (1..slices).map(|i| Time::from_nanos(i * slice)).chain([Time::MAX]);
    if order["fluid"] == true { by_equations(&scenario, stops) } else { by_packets(scenario, stops) }
}

fn by_packets(scenario: Scenario, stops: impl Iterator<Item = Time>) -> Result<Json, Box<dyn Error>> {
    let (seed, record) = (scenario.general.seed, scenario.record.series);
    let (results, windows, columns) = if record {
        let series = Series::new(&scenario);
        let mut run = Simulation::new(scenario, seed, series);
        stops.for_each(|stop| run.advance(stop));
        let end = run.end();
        run.probe_mut().finish(end);
        (run.results(), run.windows().to_vec(), run.probe_mut().take_columns())
    } else {
        let mut run = Simulation::new(scenario, seed, ());
        stops.for_each(|stop| run.advance(stop));
        (run.results(), run.windows().to_vec(), Vec::new())
    };
    Ok(answered(serde_json::to_value(results)?, &columns, &windows))
}

fn by_equations(scenario: &Scenario, stops: impl Iterator<Item = Time>) -> Result<Json, Box<dyn Error>> {
    let mut run = Fluid::new(Model::of(scenario)?, Options::read("{}")?)?;
    stops.for_each(|stop| run.advance(stop));
    Ok(answered(run.results(), &run.take_columns(), &[]))
}

/// The results without what the run cost, and a sum over the series and the samples of windows.
fn answered(mut results: Json, columns: &[Column], windows: &[WindowSample]) -> Json {
    results["engine"]["cpu_seconds"] = Json::Null;
    json!({ "results": results, "series": format!("{:016x}", sum(columns.iter().chain(&sampled(windows)))) })
}

/// The samples of windows as the columns that the Python binding makes of them; none if there are none.
fn sampled(windows: &[WindowSample]) -> Vec<Column> {
    if windows.is_empty() {
        return Vec::new();
    }
    let column = |name: &str, value: fn(&WindowSample) -> f64| Column {
        name: name.to_owned(),
        values: windows.iter().map(value).collect(),
    };
    vec![
        column("t", |w| w.t),
        column("flow", |w| f64::from(w.flow)),
        column("class", |w| f64::from(w.class)),
        column("cwnd", |w| w.cwnd),
        column("ssthresh", |w| w.ssthresh),
    ]
}

/// A sum over names, lengths and the bits of values. Each word moves the bits of those before it: in a sum of products,
/// two flipped signs would cancel out.
fn sum<'a>(columns: impl IntoIterator<Item = &'a Column>) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = 0u64;
    let mut take = |bits: u64| sum = (sum.rotate_left(5) ^ bits).wrapping_mul(ODD);
    // Machines differ in the bits of not-a-number.
    let bits = |value: f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
    for column in columns {
        take(column.name.len() as u64);
        column.name.bytes().for_each(|byte| take(byte.into()));
        take(column.values.len() as u64);
        column.values.iter().for_each(|&value| take(bits(value)));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, values: &[f64]) -> Column {
        Column { name: name.to_owned(), values: values.to_vec() }
    }

    #[test]
    fn signs_names_and_lengths_change_the_sum() {
        let window = |cwnd| sampled(&[WindowSample { t: 1.0, flow: 0, class: 0, cwnd, ssthresh: 2.0 }]);
        let sums = [
            sum(&[column("a", &[1.0, 2.0]), column("b", &[])]),
            sum(&[column("a", &[-1.0, -2.0]), column("b", &[])]),
            sum(&[column("a", &[1.0]), column("b", &[2.0])]),
            sum(&[column("b", &[1.0, 2.0]), column("a", &[])]),
            sum(&window(1.0)),
            sum(&window(-1.0)),
        ];
        for (i, sum) in sums.iter().enumerate() {
            assert!(!sums[..i].contains(sum), "{i}: {sums:x?}");
        }
    }
}
