//! Asking Python now and then whether a run is to go on: signals first, then the caller's function.

use aqm::unit::Time;
use netsim::Watch;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long between two questions: the run takes the GIL for each.
const EVERY: Duration = Duration::from_millis(100);

/// Whom a run asks, as its watch and the call that waits for it share it.
#[derive(Clone)]
pub(crate) struct Look(Arc<Mutex<Asked>>);

struct Asked {
    /// Takes the simulated time in s, and returns whether to continue.
    look: Option<Py<PyAny>>,
    last: Instant,
    error: Option<PyErr>,
}

impl Asked {
    fn ask(&mut self, now: Time) -> bool {
        if self.last.elapsed() < EVERY {
            return true;
        }
        let said = Python::attach(|py| {
            // In the main thread this raises KeyboardInterrupt.
            py.check_signals()?;
            let Some(look) = &self.look else { return Ok(true) };
            look.call1(py, (now.secs(),))?.is_truthy(py)
        });
        self.last = Instant::now();
        said.unwrap_or_else(|error| {
            self.error = Some(error);
            false
        })
    }
}

impl Look {
    /// Does not ask yet.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Asked { look: None, last: Instant::now(), error: None })))
    }

    /// What the run is given.
    pub(crate) fn watch(&self) -> Watch {
        let asked = Arc::clone(&self.0);
        Watch::new(move |now| asked.lock().unwrap_or_else(PoisonError::into_inner).ask(now))
    }

    /// Does `work` without the GIL while `look` is asked; raises what that raised. `work` returns whether it finished.
    pub(crate) fn during(
        &self,
        py: Python<'_>,
        look: Option<Py<PyAny>>,
        work: impl FnOnce() -> bool + Send,
    ) -> PyResult<bool> {
        let asked = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (asked().look, asked().last) = (look, Instant::now());
        let done = py.detach(work);
        asked().look = None;
        let error = asked().error.take();
        error.map_or(Ok(done), Err)
    }
}
