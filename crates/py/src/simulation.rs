//! A run, as Python sees it.

use crate::Scenario;
use crate::series::Stream;
use aqm::unit::{Span, Time};
use netsim::probe::Column;
use netsim::{Results, Series, WindowSample};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use scenario::Scenario as Checked;

/// A run with or without series: one compiled engine for each.
enum Run {
    Bare(netsim::Simulation<()>),
    Recorded(netsim::Simulation<Series>),
}

/// A run of a scenario with one seed.
#[pyclass(module = "aqmlab._core")]
pub(crate) struct Simulation(Run);

impl Run {
    fn new(scenario: Checked, seed: u64) -> Self {
        if scenario.record.series {
            let series = Series::new(&scenario);
            Self::Recorded(netsim::Simulation::new(scenario, seed, series))
        } else {
            Self::Bare(netsim::Simulation::new(scenario, seed, ()))
        }
    }

    fn advance(&mut self, until: Time) {
        match self {
            Self::Bare(run) => run.advance(until),
            Self::Recorded(run) => {
                run.advance(until);
                if run.finished() {
                    let end = run.end();
                    run.probe_mut().finish(end);
                }
            }
        }
    }

    const fn now(&self) -> Time {
        match self {
            Self::Bare(run) => run.now(),
            Self::Recorded(run) => run.now(),
        }
    }

    fn results(&self) -> Option<Results> {
        match self {
            Self::Bare(run) => run.finished().then(|| run.results()),
            Self::Recorded(run) => run.finished().then(|| run.results()),
        }
    }

    fn windows(&self) -> &[WindowSample] {
        match self {
            Self::Bare(run) => run.windows(),
            Self::Recorded(run) => run.windows(),
        }
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64) -> PyResult<Self> {
        let checked = scenario.checked()?.clone();
        Ok(Self(py.detach(|| Run::new(checked, seed))))
    }

    fn advance(&mut self, py: Python<'_>, until: f64) {
        let until = Time::ZERO + Span::from_secs(until);
        py.detach(|| self.0.advance(until));
    }

    #[getter]
    fn now(&self) -> f64 {
        self.0.now().secs()
    }

    fn results(&self, py: Python<'_>) -> PyResult<String> {
        let text = py.detach(|| self.0.results().map(|results| serde_json::to_string(&results)));
        let text = text.ok_or_else(|| PyRuntimeError::new_err("the run is not over"))?;
        text.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The recorded series, once; `None` if none were recorded.
    fn series(&mut self) -> Option<Stream> {
        match &mut self.0 {
            Run::Bare(_) => None,
            Run::Recorded(run) => Some(Stream::new(run.probe_mut().take_columns())),
        }
    }

    /// The sampled congestion windows; `None` if none were asked for.
    fn cwnd(&self) -> Option<Stream> {
        let windows = self.0.windows();
        let column = |name: &str, value: fn(&WindowSample) -> f64| Column {
            name: name.to_owned(),
            values: windows.iter().map(value).collect(),
        };
        (!windows.is_empty()).then(|| {
            Stream::new(vec![
                column("t", |w| w.t),
                column("flow", |w| f64::from(w.flow)),
                column("class", |w| f64::from(w.class)),
                column("cwnd", |w| w.cwnd),
                column("ssthresh", |w| w.ssthresh),
            ])
        })
    }
}
