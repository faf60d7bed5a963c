//! A run of the packet engine, for Python.

use crate::Scenario;
use crate::look::Look;
use crate::own::caught;
use crate::series::Stream;
use aqm::unit::{Span, Time};
use netsim::{Checked as Accounted, FlowRow, Series, WindowSample};
use pcapng::links::Links;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use run::{Column, Glance, Results, Watch};
use scenario::Scenario as Checked;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

/// A run with or without series, and one that keeps account of every packet: one compiled engine for each.
enum Run {
    /// Not yet set up. The set-up can take long, so it is part of the first `advance`, which can be stopped.
    Waiting {
        scenario: Box<Checked>,
        seed: u64,
        accounted: bool,
        taps: bool,
    },
    Bare(netsim::Simulation<()>),
    Recorded(netsim::Simulation<Series>),
    Accounted(netsim::Simulation<Accounted<Series>>),
    /// The watch has stopped the run.
    Stopped,
}

/// Evaluates an expression with the run, whichever probe it has, if it is set up.
macro_rules! whichever {
    ($self:expr, $run:ident => $do:expr, $otherwise:expr) => {
        match $self {
            Self::Waiting { .. } | Self::Stopped => $otherwise,
            Self::Bare($run) => $do,
            Self::Recorded($run) => $do,
            Self::Accounted($run) => $do,
        }
    };
}

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

/// The simulated time whose packets are kept in memory.
const PIECE: Span = Span::ms(100);

impl Run {
    fn set_up(scenario: Checked, seed: u64, accounted: bool, taps: bool, watch: Watch) -> Self {
        let series = scenario.record.series.then(|| Series::new(&scenario));
        let run = match series {
            series if accounted => {
                netsim::Simulation::watched(scenario, seed, Accounted(series), watch).map(|mut run| {
                    if taps {
                        run.tap();
                    }
                    Self::Accounted(run)
                })
            }
            Some(series) => netsim::Simulation::watched(scenario, seed, series, watch).map(Self::Recorded),
            None => netsim::Simulation::watched(scenario, seed, (), watch).map(Self::Bare),
        };
        run.unwrap_or(Self::Stopped)
    }

    fn advance(&mut self, until: Time, look: &Look) {
        // After a panic, the run remains stopped.
        let mut run = match std::mem::replace(self, Self::Stopped) {
            Self::Waiting { scenario, seed, accounted, taps } => {
                Self::set_up(*scenario, seed, accounted, taps, look.watch())
            }
            under_way => under_way,
        };
        let (finished, end) = whichever!(&mut run, run => {
            run.advance(until);
            (run.finished(), run.end())
        }, (false, until));
        if let Some(series) = run.series().filter(|_| finished) {
            series.finish(end);
        }
        if !run.has_stopped() {
            *self = run;
        }
    }

    /// Advances piece by piece, and writes the packets seen at the links.
    fn advance_to_file(
        &mut self,
        until: Time,
        look: &Look,
        file: &mut Links<BufWriter<File>>,
    ) -> io::Result<()> {
        loop {
            let piece = until.min(self.now() + PIECE);
            self.advance(piece, look);
            let Self::Accounted(run) = self else { return Ok(()) };
            file.write(&run.seen(piece))?;
            if piece == until || run.finished() {
                return file.finish();
            }
        }
    }

    /// Its recorder, if it has one.
    const fn series(&mut self) -> Option<&mut Series> {
        match self {
            Self::Waiting { .. } | Self::Bare(_) | Self::Stopped => None,
            Self::Recorded(run) => Some(run.probe_mut()),
            Self::Accounted(run) => run.probe_mut().0.as_mut(),
        }
    }

    const fn now(&self) -> Time {
        whichever!(self, run => run.now(), Time::ZERO)
    }

    fn glance(&self) -> Option<Glance> {
        whichever!(self, run => Some(run.glance()), None)
    }

    fn delivered(&self) -> Option<u64> {
        whichever!(self, run => Some(run.delivered()), None)
    }

    fn results(&self) -> Option<Results> {
        whichever!(self, run => run.finished().then(|| run.results()), None)
    }

    fn flows(&self) -> Vec<FlowRow> {
        whichever!(self, run => run.flows(), Vec::new())
    }

    fn windows(&self) -> &[WindowSample] {
        whichever!(self, run => run.windows(), &[])
    }

    const fn has_stopped(&self) -> bool {
        whichever!(self, run => run.has_stopped(), matches!(self, Self::Stopped))
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scenario, seed, accounted=false, pcapng=None, interpreted=false))]
    fn new(
        scenario: &Scenario,
        seed: u64,
        accounted: bool,
        pcapng: Option<PathBuf>,
        interpreted: bool,
    ) -> PyResult<Self> {
        let scenario = Box::new(scenario.checked()?.clone());
        let create = |path| Links::new(BufWriter::new(File::create(path)?), &scenario);
        let file = pcapng.map(create).transpose()?;
        // Every packet is seen where every packet is accounted for.
        let (taps, accounted) = (file.is_some(), accounted || file.is_some());
        let run = Run::Waiting { scenario, seed, accounted, taps };
        Ok(Self { run, look: Look::new(), file, interpreted })
    }

    /// Sets the run up and advances it up to and including `until`; false if `look` stopped it.
    #[pyo3(signature = (until, look=None))]
    fn advance(&mut self, py: Python<'_>, until: f64, look: Option<Py<PyAny>>) -> PyResult<bool> {
        let until = Time::ZERO + Span::from_secs(until);
        let Self { run, look: asked, file, interpreted } = self;
        let (mut written, mut done) = (Ok(()), Ok(()));
        let goes_on = asked.during(py, look, *interpreted, || {
            done = caught(*interpreted, || match file {
                Some(file) => written = run.advance_to_file(until, asked, file),
                None => run.advance(until, asked),
            });
            !run.has_stopped()
        })?;
        written?;
        done.map(|()| goes_on)
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
        match &self.run {
            Run::Accounted(run) if run.finished() => Ok(py.detach(|| run.violations())),
            _ => Err(PyRuntimeError::new_err("the run is not over, or not accounted for")),
        }
    }

    /// The recorded series, once; `None` if none were recorded.
    fn series(&mut self, py: Python<'_>) -> Option<Stream> {
        let series = self.run.series()?;
        Some(py.detach(|| Stream::new(series.take_columns())))
    }

    /// A row for each flow and transfer of a finished run; `None` if there is none.
    fn flows(&self, py: Python<'_>) -> Option<Stream> {
        let rows = self.run.flows();
        let count = |count: Option<u64>| count.map(|count| count as f64);
        let defined = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let column = |name: &str, value: &dyn Fn(&FlowRow) -> Option<f64>| Column {
            name: name.to_owned(),
            values: rows.iter().map(|row| defined(value(row))).collect(),
        };
        let table = || {
            Stream::new(vec![
                column("class", &|row| Some(f64::from(row.class))),
                column("flow", &|row| Some(f64::from(row.flow))),
                column("from", &|row| Some(row.from as f64)),
                column("to", &|row| Some(row.to as f64)),
                column("start", &|row| Some(row.start)),
                column("end", &|row| row.end),
                column("bytes", &|row| Some(row.bytes as f64)),
                column("rtt_min", &|row| row.rtt_min),
                column("rtt_mean", &|row| row.rtt_mean),
                column("rtt_p95", &|row| row.rtt_p95),
                column("rtt_max", &|row| row.rtt_max),
                column("losses", &|row| Some(row.losses as f64)),
                column("marks", &|row| Some(row.marks as f64)),
                column("retransmits", &|row| count(row.retransmits)),
                column("timeouts", &|row| count(row.timeouts)),
                column("completion_time", &|row| row.completion_time),
            ])
        };
        (!rows.is_empty()).then(|| py.detach(table))
    }

    /// The sampled congestion windows; `None` if none were asked for.
    fn cwnd(&self, py: Python<'_>) -> Option<Stream> {
        let windows = self.run.windows();
        let column = |name: &str, value: fn(&WindowSample) -> f64| Column {
            name: name.to_owned(),
            values: windows.iter().map(value).collect(),
        };
        let table = || {
            Stream::new(vec![
                column("t", |w| w.t),
                column("flow", |w| f64::from(w.flow)),
                column("class", |w| f64::from(w.class)),
                column("cwnd", |w| w.cwnd),
                column("ssthresh", |w| w.ssthresh),
            ])
        };
        (!windows.is_empty()).then(|| py.detach(table))
    }
}
