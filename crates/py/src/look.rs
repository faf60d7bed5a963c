//! The question to Python whether a run continues: signals are handled first, then the caller's function is called.

use aqm::unit::Time;
use pyo3::prelude::*;
use run::Watch;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two questions, each of which takes the GIL.
const EVERY: Duration = Duration::from_millis(100);

/// The answer to the question, shared by the run's watch and the call that waits for the run.
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
    /// No function is called yet.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Asked { look: None, last: Instant::now(), error: None })))
    }

    /// The watch for the run.
    pub(crate) fn watch(&self) -> Watch {
        let asked = Arc::clone(&self.0);
        Watch::new(move |now| asked.lock().unwrap_or_else(PoisonError::into_inner).ask(now))
    }

    /// Does `work` without the GIL or, if it calls Python all the time, with it. Calls `look` at intervals; raises the
    /// exception that it raised. Returns the result of `work`: whether it was completed.
    pub(crate) fn during(
        &self,
        py: Python<'_>,
        look: Option<Py<PyAny>>,
        with_gil: bool,
        work: impl FnOnce() -> bool + Send,
    ) -> PyResult<bool> {
        let asked = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (asked().look, asked().last) = (look, Instant::now());
        let done = if with_gil { work() } else { py.detach(work) };
        asked().look = None;
        let error = asked().error.take();
        error.map_or(Ok(done), Err)
    }
}
