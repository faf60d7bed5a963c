//! Runs that an agent controls, for the environments of `aqmlab.gym`.

mod pool;

use crate::Scenario;
use aqm::unit::Span;
use netsim::{Agent, Control, Interval, Quantity};
use pool::{Job, Pool};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// Runs side by side, each of its own scenario, that advance by the same interval.
#[pyclass(module = "aqmlab._core")]
pub(crate) struct Controls {
    runs: Vec<Option<Box<Control>>>,
    interval: Span,
    pool: Pool,
}

/// The measurements in eight bytes each and the observations in four, of all runs in order, and whether each is over.
type Step<'py> = (Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Vec<bool>);

#[pymethods]
impl Controls {
    /// Places for `count` runs, which `begin` fills.
    #[new]
    fn new(count: usize, interval: f64, threads: usize) -> Self {
        let runs = (0..count).map(|_| None).collect();
        Self { runs, interval: Span::from_secs(interval), pool: Pool::new(threads.min(count)) }
    }

    /// Begins a run at a place: under an agent that drops, under one that marks, or under the scenario's discipline.
    #[pyo3(signature = (place, scenario, seed, agent))]
    fn begin(
        &mut self,
        py: Python<'_>,
        place: usize,
        scenario: &Scenario,
        seed: u64,
        agent: Option<&str>,
    ) -> PyResult<()> {
        let scenario = scenario.checked()?.clone();
        let agent = agent.map(|agent| if agent == "marks" { Agent::Marks } else { Agent::Drops });
        self.runs[place] = Some(Box::new(py.detach(|| Control::new(scenario, seed, agent))));
        Ok(())
    }

    /// Advances the runs by an interval, each with its probability; those in `resting` stay as they are, and zeros are
    /// returned for them.
    fn step<'py>(&mut self, py: Python<'py>, p: Vec<f64>, resting: Vec<usize>) -> PyResult<Step<'py>> {
        let count = self.runs.len();
        if p.len() != count || self.runs.iter().any(Option::is_none) {
            return Err(PyRuntimeError::new_err(
                "step needs a probability for each run, and each must have begun",
            ));
        }
        let interval = self.interval;
        let awake = (0..count).filter(|place| !resting.contains(place));
        let job = |place: usize| {
            let run = self.runs[place].take();
            run.map(|run| Job { place, run, p: p[place], interval })
        };
        let jobs: Vec<Job> = awake.filter_map(job).collect();
        let pool = &self.pool;
        let done = py.detach(|| pool.perform(jobs));
        let mut steps = vec![(Interval::default(), false); count];
        let mut raised = None;
        for one in done {
            match one.outcome {
                Ok((run, happened)) => {
                    steps[one.place] = (happened, run.finished());
                    self.runs[one.place] = Some(run);
                }
                Err(error) => raised = Some(error),
            }
        }
        raised.map_or(Ok(()), Err)?;
        let measured = steps.iter().flat_map(|(one, _)| one.measured()).flat_map(f64::to_ne_bytes);
        let seen = steps.iter().flat_map(|(one, _)| one.observation()).flat_map(f32::to_ne_bytes);
        let [measured, seen] =
            [measured.collect::<Vec<_>>(), seen.collect()].map(|bytes| PyByteArray::new(py, &bytes));
        Ok((measured, seen, steps.iter().map(|&(_, over)| over).collect()))
    }

    /// The results of a run that is over, as JSON.
    fn results(&self, place: usize) -> PyResult<String> {
        let run = self.runs[place].as_ref().filter(|run| run.finished());
        let run = run.ok_or_else(|| PyRuntimeError::new_err("the run is not over"))?;
        serde_json::to_string(&run.results()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

/// A quantity: name, unit, definition, lowest and highest value.
type Described = (&'static str, &'static str, &'static str, f64, f64);

/// The measurements of an interval, and the components of an observation, in their order.
#[pyfunction]
pub(crate) fn control_quantities() -> (Vec<Described>, Vec<Described>) {
    let described = |quantity: &Quantity| {
        let Quantity { name, unit, doc, range: [low, high] } = *quantity;
        (name, unit, doc, low, high)
    };
    (Interval::MEASURED.iter().map(described).collect(), Interval::OBSERVED.iter().map(described).collect())
}
