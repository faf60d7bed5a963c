//! A run of the fluid equations, as Python sees it.

use crate::series::Stream;
use crate::{Scenario, refused};
use ::fluid::{Model, Options};
use aqm::unit::{Span, Time};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A run of the fluid equations of a scenario.
#[pyclass(module = "aqmlab._core")]
pub(crate) struct Fluid(::fluid::Fluid);

#[pymethods]
impl Fluid {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, options: &str) -> PyResult<Self> {
        let checked = scenario.checked()?;
        py.detach(|| {
            let options = Options::read(options).map_err(refused)?;
            let model = Model::of(checked).map_err(refused)?;
            ::fluid::Fluid::new(model, options).map(Self).map_err(refused)
        })
    }

    /// Goes on to the first instant from `until` on at which something happens.
    fn advance(&mut self, py: Python<'_>, until: f64) {
        let until = Time::ZERO + Span::from_secs(until);
        py.detach(|| self.0.advance(until));
    }

    #[getter]
    fn now(&self) -> f64 {
        self.0.now().secs()
    }

    /// The longest step in s.
    #[getter]
    fn step(&self) -> f64 {
        self.0.step()
    }

    fn results(&self) -> PyResult<String> {
        if !self.0.finished() {
            return Err(PyRuntimeError::new_err("the run is not over"));
        }
        Ok(self.0.results().to_string())
    }

    /// Why this run may be far from what packets do.
    fn remarks(&self) -> Vec<String> {
        self.0.remarks()
    }

    /// The recorded series, once; `None` if none were recorded.
    fn series(&mut self) -> Option<Stream> {
        let columns = self.0.take_columns();
        (!columns.is_empty()).then(|| Stream::new(columns))
    }
}
