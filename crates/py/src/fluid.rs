//! A run of the fluid equations, as Python sees it.

use crate::look::Look;
use crate::own::caught;
use crate::series::Stream;
use crate::{Scenario, unsupported};
use ::fluid::{Model, Options};
use aqm::unit::{Span, Time};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A run of the fluid equations of a scenario.
#[pyclass(module = "aqmlab._core")]
pub(crate) struct Fluid {
    run: ::fluid::Fluid,
    look: Look,
}

#[pymethods]
impl Fluid {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, options: &str) -> PyResult<Self> {
        let checked = scenario.checked()?;
        let create = || {
            let options = Options::read(options).map_err(unsupported)?;
            let model = Model::of(checked).map_err(unsupported)?;
            let (run, look) = (::fluid::Fluid::new(model, options).map_err(unsupported)?, Look::new());
            Ok(Self { run: run.watched(look.watch()), look })
        };
        py.detach(|| caught(false, create))?
    }

    /// Advances to the first event at or after `until`; false if `look` stopped the run.
    #[pyo3(signature = (until, look=None))]
    fn advance(&mut self, py: Python<'_>, until: f64, look: Option<Py<PyAny>>) -> PyResult<bool> {
        let until = Time::ZERO + Span::from_secs(until);
        let Self { run, look: asked } = self;
        let mut done = Ok(());
        let goes_on = asked.during(py, look, false, || {
            done = caught(false, || run.advance(until));
            !run.has_stopped()
        })?;
        done.map(|()| goes_on)
    }

    #[getter]
    fn now(&self) -> f64 {
        self.run.now().secs()
    }

    /// The longest step in s.
    #[getter]
    fn step(&self) -> f64 {
        self.run.step()
    }

    fn results(&self) -> PyResult<String> {
        if !self.run.finished() {
            return Err(PyRuntimeError::new_err("the run is not over"));
        }
        Ok(self.run.results().to_string())
    }

    /// The reasons why this run may differ much from a run of packets.
    fn remarks(&self) -> Vec<String> {
        self.run.remarks()
    }

    /// The recorded series, once; `None` if none were recorded.
    fn series(&mut self) -> Option<Stream> {
        let columns = self.run.take_columns();
        (!columns.is_empty()).then(|| Stream::new(columns))
    }
}
