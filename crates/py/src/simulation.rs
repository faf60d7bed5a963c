//! A run of the packet engine, for Python.

use crate::look::Look;
use crate::own::caught;
use crate::series::Stream;
use crate::{Scenario, unsupported};
use aqm::unit::{Span, Time};
use netsim::{FlowRow, Run, RunOptions, Seen, WindowSample};
use pcapng::links::Links;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use run::Column;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

/// A run of a scenario with one seed.
#[pyclass(module = "aqmlab._core")]
pub(crate) struct Simulation {
    run: Run,
    look: Look,
    /// The file for the packets at the links, if there is one.
    file: Option<Links<BufWriter<File>>>,
    /// Whether algorithms in Python are called in Python, also those that can be compiled.
    interpreted: bool,
}

/// What a sender and a receiver have logged.
type Logs = [Option<Cow<'static, [u8]>>; 2];

/// The simulated time whose packets are kept in memory.
const PIECE: Span = Span::ms(100);

/// Advances piece by piece, and writes the packets seen at the links.
fn advance_to_file(
    run: &mut Run,
    until: Time,
    look: &Look,
    file: &mut Links<BufWriter<File>>,
) -> io::Result<()> {
    let mut piece = run.now();
    loop {
        // Not from the present event on: nothing may happen for longer than a piece.
        piece = until.min(piece + PIECE);
        run.advance(piece, || look.watch());
        if run.has_stopped() {
            return Ok(());
        }
        file.write(&run.seen(piece))?;
        if piece == until || run.finished() {
            return file.finish();
        }
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scenario, seed, accounted=false, pcapng=None, interpreted=false, live=false))]
    fn new(
        scenario: &Scenario,
        seed: u64,
        accounted: bool,
        pcapng: Option<PathBuf>,
        interpreted: bool,
        live: bool,
    ) -> PyResult<Self> {
        let scenario = scenario.checked()?.clone();
        scenario.computed().map_err(unsupported)?;
        let create = |path| Links::new(BufWriter::new(File::create(path)?), &scenario);
        let file = pcapng.map(create).transpose()?;
        let options = RunOptions { accounted, tap: file.is_some() || live, live };
        Ok(Self { run: Run::new(scenario, seed, options), look: Look::new(), file, interpreted })
    }

    /// Sets the run up and advances it up to and including `until`; false if `look` stopped it.
    #[pyo3(signature = (until, look=None))]
    fn advance(&mut self, py: Python<'_>, until: f64, look: Option<Py<PyAny>>) -> PyResult<bool> {
        let until = Time::ZERO + Span::from_secs(until);
        let Self { run, look: asked, file, interpreted } = self;
        let (mut written, mut done) = (Ok(()), Ok(()));
        let goes_on = asked.during(py, look, *interpreted, || {
            done = caught(*interpreted, || match file {
                Some(file) => written = advance_to_file(run, until, asked, file),
                None => run.advance(until, || asked.watch()),
            });
            !run.has_stopped()
        })?;
        written?;
        done.map(|()| goes_on)
    }

    /// Follows a changed scenario from now on, as a live run can.
    fn follow(&mut self, scenario: &Scenario) -> PyResult<()> {
        self.run.follow(scenario.checked()?).map_err(unsupported)
    }

    /// The packets that the links of a live run have sent since the last call, those that were lost left out: the time in
    /// s, the link and the traffic entry by number, the number in its flow, bytes, and the time in s that it waited.
    fn sent(&mut self, py: Python<'_>) -> Stream {
        let seen = self.run.seen(self.run.now());
        let sent: Vec<_> = seen.into_iter().filter(|seen| seen.lost.is_none()).collect();
        let column = |name: &str, value: &dyn Fn(&Seen) -> f64| Column {
            name: name.to_owned(),
            values: sent.iter().map(value).collect(),
        };
        let columns = vec![
            column("t", &|seen| seen.at.secs()),
            column("link", &|seen| seen.link as f64),
            column("entry", &|seen| seen.class as f64),
            column("number", &|seen| f64::from(seen.seq)),
            column("bytes", &|seen| f64::from(seen.size)),
            column("waited", &|seen| seen.waited.secs()),
        ];
        py.detach(|| Stream::new(columns))
    }

    #[getter]
    fn now(&self) -> f64 {
        self.run.now().secs()
    }

    /// The observed link so far, as JSON; `None` before the set-up and after a stop.
    fn glance(&self) -> PyResult<Option<String>> {
        let text = self.run.glance().map(|glance| serde_json::to_string(&glance)).transpose();
        text.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Payload bytes delivered so far by all flows; `None` before the set-up and after a stop.
    fn delivered(&self) -> Option<u64> {
        self.run.delivered()
    }

    fn results(&self, py: Python<'_>) -> PyResult<String> {
        let text = py.detach(|| self.run.results().map(|results| serde_json::to_string(&results)));
        let text = text.ok_or_else(|| PyRuntimeError::new_err("the run is not over"))?;
        text.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The violations of conservation, one sentence each, of a finished run that was accounted for.
    fn violations(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = py.detach(|| self.run.violations());
        found.ok_or_else(|| PyRuntimeError::new_err("the run is not over, or not accounted for"))
    }

    /// The recorded series, once; `None` if none were recorded.
    fn series(&mut self, py: Python<'_>) -> Option<Stream> {
        py.detach(|| self.run.take_columns().map(Stream::new))
    }

    /// A row for each flow and transfer of a finished run; `None` if there is none.
    fn flows(&self, py: Python<'_>) -> Option<Stream> {
        let rows = self.run.flows();
        (!rows.is_empty()).then(|| py.detach(|| Stream::new(FlowRow::columns(&rows))))
    }

    /// The sampled congestion windows; `None` if none were asked for.
    fn cwnd(&self, py: Python<'_>) -> Option<Stream> {
        let windows = self.run.windows();
        (!windows.is_empty()).then(|| py.detach(|| Stream::new(WindowSample::columns(windows))))
    }

    /// The number of the traffic entry of each connection of a stack, and what its sender and its receiver have logged.
    fn qlogs(&self) -> Vec<(u16, Logs)> {
        let logs = self.run.qlogs().into_iter();
        logs.map(|(entry, logs)| (entry, logs.map(|log| log.map(Cow::Owned)))).collect()
    }
}
