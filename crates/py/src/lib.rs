//! The Python binding: translates between Python and the engine, and decides nothing.
//!
//! Runs release the GIL, and ask at intervals whether to continue. Results cross as JSON text, series as an Arrow stream
//! without a copy.

mod capture;
mod control;
mod fluid;
mod look;
mod own;
mod qdisc;
mod rows;
mod series;
mod simulation;
mod value;

use aqm::unit::Span;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use scenario::model::{Arrival, Download, Link, Loss, NEEDS_A_KERNEL, Stack, Traffic, TrafficKind, Udp};
use scenario::{Document, Extension, Library, Problem, Problems, Scenario as Checked};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

create_exception!(
    aqmlab._core,
    ScenarioError,
    PyValueError,
    "What is wrong with a scenario, a line a problem."
);

/// The problems of a scenario as a Python exception, whose attributes `_core.pyi` describes.
fn refused(problems: impl Into<Problems>) -> PyErr {
    let problems = problems.into();
    Python::attach(|py| {
        let error = ScenarioError::new_err(problems.to_string());
        match describe(error.value(py), &problems) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// Sets the attributes by which a program handles an error.
fn describe(error: &Bound<'_, PyAny>, problems: &Problems) -> PyResult<()> {
    let py = error.py();
    let dict = |problem: &Problem| -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("kind", problem.kind.name())?;
        dict.set_item("path", &problem.path)?;
        dict.set_item("file", problem.origin.file())?;
        dict.set_item("line", problem.origin.line())?;
        dict.set_item("text", problem.text())?;
        Ok(dict)
    };
    let dicts = problems.0.iter().map(dict).collect::<PyResult<Vec<_>>>()?;
    if let Some(first) = dicts.first() {
        for key in ["kind", "path", "file", "line"] {
            error.setattr(key, first.get_item(key)?)?;
        }
    }
    error.setattr("problems", PyTuple::new(py, dicts)?)
}

/// A part of a scenario that an engine cannot have, as a Python exception.
fn unsupported(problem: impl std::fmt::Display) -> PyErr {
    ScenarioError::new_err(problem.to_string())
}

/// A scenario file with its changes; see `scenario::Document`.
#[pyclass(frozen, module = "aqmlab._core")]
struct Scenario {
    document: Document,
    /// The checked scenario and its JSON, read on first use: a scenario and its traces are read once and run many times.
    /// A thread that waits for the reading of another lets that one have Python, which reads the user's own algorithms.
    read: PyOnceLock<Result<(Checked, String), Problems>>,
    /// The estimate of its memory, made on first use: a run is tried for it.
    memory: PyOnceLock<u64>,
}

impl From<Document> for Scenario {
    fn from(document: Document) -> Self {
        Self { document, read: PyOnceLock::new(), memory: PyOnceLock::new() }
    }
}

impl Scenario {
    fn read(&self) -> PyResult<&(Checked, String)> {
        let read = Python::attach(|py| {
            self.read.get_or_init(py, || {
                py.detach(|| {
                    let (checked, json) = self.document.resolve()?;
                    Ok((checked, json.to_string()))
                })
            })
        });
        read.as_ref().map_err(|problems| refused(problems.clone()))
    }

    fn checked(&self) -> PyResult<&Checked> {
        self.read().map(|(checked, _)| checked)
    }

    /// A copy with one change.
    fn changed(&self, change: impl FnOnce(&mut Document) -> Result<(), Problem>) -> PyResult<Self> {
        let mut document = self.document.clone();
        change(&mut document).map_err(refused)?;
        Ok(document.into())
    }
}

#[pymethods]
impl Scenario {
    #[staticmethod]
    #[pyo3(signature = (path, shipped = BTreeMap::new()))]
    fn load(path: PathBuf, shipped: BTreeMap<String, PathBuf>) -> PyResult<Self> {
        Library::new(shipped).load(&path).map(Self::from).map_err(refused)
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, shipped = BTreeMap::new()))]
    fn parse(text: &str, name: &str, shipped: BTreeMap<String, PathBuf>) -> PyResult<Self> {
        Library::new(shipped).parse(text, name).map(Self::from).map_err(refused)
    }

    #[staticmethod]
    #[pyo3(signature = (tables, name, shipped = BTreeMap::new()))]
    fn of(tables: &Bound<'_, PyAny>, name: &str, shipped: BTreeMap<String, PathBuf>) -> PyResult<Self> {
        let document = Library::new(shipped).of(value::tables(tables)?, name).map_err(refused)?;
        Ok(document.all_quantified().into())
    }

    fn with_text(&self, path: &str, text: &str) -> PyResult<Self> {
        self.changed(|document| document.set_text(path, text))
    }

    fn with_value(&self, path: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let value = self.document.quantified(path, value::read(path, value)?);
        self.changed(|document| document.set(path, value))
    }

    /// The base unit of the quantity at a path.
    fn base_unit(&self, path: &str) -> Option<&'static str> {
        self.document.base_unit(path)
    }

    fn with_aqm(&self, spec: &str) -> PyResult<Self> {
        self.changed(|document| document.set_aqm(spec))
    }

    /// The earlier `--set` or `--aqm` of which setting `path` would replace a value.
    fn replaced(&self, path: &str) -> Option<String> {
        self.document.replaced(path)
    }

    fn check(&self) -> PyResult<()> {
        self.checked().map(|_| ())
    }

    fn to_toml(&self, py: Python<'_>) -> String {
        // The user's own algorithms are those that were read, also if their files have changed since.
        let read = self.read.get(py).and_then(|read| read.as_ref().ok());
        let sources = read.map(|(checked, _)| own_algorithms(checked)).unwrap_or_default();
        self.document.to_toml_with(&sources.into_iter().collect())
    }

    fn to_json(&self) -> PyResult<&str> {
        self.read().map(|(_, json)| &**json)
    }

    /// What each trace and stack has read, in the order of the entries: of a stack its library, of a trace for each packet
    /// eight bytes of time in ns, two of size.
    fn traces<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let packet = |arrival: &Arrival| {
            arrival.at.nanos().to_le_bytes().into_iter().chain(arrival.size.to_le_bytes())
        };
        let content = |kind: &TrafficKind| match kind {
            TrafficKind::Udp(Udp::Trace(arrivals), _) => {
                Some(PyBytes::new(py, &arrivals.iter().flat_map(packet).collect::<Vec<_>>()))
            }
            TrafficKind::Udp(Udp::Stack(Download { stack: Stack::Library(library), .. }), _) => {
                Some(PyBytes::new(py, &library.content))
            }
            _ => None,
        };
        Ok(self.checked()?.traffic.iter().filter_map(|traffic| content(&traffic.kind)).collect())
    }

    /// What links follow that is in files: the link, the key without the direction, and the content as numbers of eight
    /// bytes. Of rates that is when they start over, then the time and the value of each, in ns and bit/s.
    fn recordings<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&str, &'static str, Bound<'py, PyBytes>)>> {
        let mut found = Vec::new();
        for link in &self.checked()?.links {
            for (key, content) in recordings(link) {
                let bytes: Vec<u8> = content.into_iter().flat_map(u64::to_le_bytes).collect();
                found.push((&*link.name, key, PyBytes::new(py, &bytes)));
            }
        }
        Ok(found)
    }

    /// Whether other files are part of it: recordings, or the user's own algorithms.
    #[getter]
    fn reads_files(&self) -> PyResult<bool> {
        let checked = self.checked()?;
        let has_file = |traffic: &Traffic| match &traffic.kind {
            TrafficKind::Udp(Udp::Trace(_), _) => true,
            TrafficKind::Udp(Udp::Stack(download), _) => matches!(download.stack, Stack::Library(_)),
            _ => false,
        };
        Ok(checked.traffic.iter().any(has_file)
            || checked.links.iter().any(|link| !recordings(link).is_empty())
            || !own_algorithms(checked).is_empty())
    }

    /// Raises ScenarioError if it has programs, which only a kernel runs.
    fn check_computed(&self) -> PyResult<()> {
        let Some(entry) = self.checked()?.programs().next() else { return Ok(()) };
        let path = format!("traffic.{}.kind", entry.name);
        Err(refused(self.document.problem(&path, "\"program\"", NEEDS_A_KERNEL)))
    }

    /// Raises ScenarioError for the value at a path, which was found to be this.
    fn refuse(&self, path: &str, found: &str, message: &str) -> PyResult<()> {
        Err(refused(self.document.problem(path, found, message)))
    }

    /// Sentences on how its recordings were read.
    #[getter]
    fn remarks(&self) -> PyResult<Vec<String>> {
        self.checked().map(|checked| checked.remarks.clone())
    }

    /// An unread copy, which reads its recordings again.
    fn anew(&self) -> Self {
        self.document.clone().into()
    }

    /// The table `[sweep]` as JSON.
    fn sweep(&self) -> PyResult<Option<String>> {
        self.document.sweep().map(|said| said.map(|json| json.to_string())).map_err(refused)
    }

    /// What the file extends, as JSON.
    fn extension(&self) -> Option<String> {
        let Extension { files, changes } = self.document.extension()?;
        let changes: Vec<_> = changes
            .into_iter()
            .map(|change| serde_json::json!({ "path": change.path, "old": change.old, "new": change.new }))
            .collect();
        Some(serde_json::json!({ "files": files, "changes": changes }).to_string())
    }

    /// A copy without `[sweep]`.
    fn base(&self) -> Self {
        self.document.base().into()
    }

    /// Its fluid model as JSON.
    fn fluid_model(&self) -> PyResult<String> {
        let checked = self.checked()?;
        let model = own::caught(false, || ::fluid::Model::of(checked))?.map_err(unsupported)?;
        Ok(model.json().to_string())
    }

    #[getter]
    fn title(&self) -> PyResult<String> {
        Ok(self.checked()?.general.title.clone())
    }

    #[getter]
    fn aqm(&self) -> PyResult<String> {
        Ok(self.checked()?.discipline.clone())
    }

    /// The limit of the observed queue.
    #[getter]
    fn buffer(&self) -> PyResult<String> {
        let checked = self.checked()?;
        Ok(checked.links[checked.observed].buffer.to_string())
    }

    #[getter]
    fn target(&self) -> PyResult<Option<f64>> {
        Ok(self.checked()?.target())
    }

    #[getter]
    fn duration(&self) -> PyResult<f64> {
        Ok(self.checked()?.general.duration.secs())
    }

    #[getter]
    fn warmup(&self) -> PyResult<f64> {
        Ok(self.checked()?.general.warmup.secs())
    }

    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(self.checked()?.general.seed)
    }

    /// The user's own algorithms and congestion controls: reference, and digest of the source.
    #[getter]
    fn own_algorithms(&self) -> PyResult<BTreeSet<(&'static str, &'static str)>> {
        self.checked().map(own_algorithms)
    }

    /// The names of its nodes, in the order of their numbers.
    #[getter]
    fn nodes(&self) -> PyResult<Vec<String>> {
        Ok(self.checked()?.nodes.clone())
    }

    /// The names of its links with a queue discipline.
    #[getter]
    fn managed_links(&self) -> PyResult<Vec<String>> {
        let links = self.checked()?.links.iter().filter(|link| link.aqm.is_some());
        Ok(links.map(|link| link.name.clone()).collect())
    }

    /// The names of the traffic entries whose flows compete for a link.
    #[getter]
    fn competing(&self) -> PyResult<Vec<String>> {
        let entries = self.checked()?.traffic.iter().filter(|entry| entry.competes());
        Ok(entries.map(|entry| entry.name.clone()).collect())
    }

    #[getter]
    fn memory_estimate(&self, py: Python<'_>) -> PyResult<u64> {
        let checked = self.checked()?;
        Ok(*self.memory.get_or_init(py, || py.detach(|| netsim::memory_estimate(checked))))
    }

    #[getter]
    fn known_memory(&self) -> PyResult<u64> {
        Ok(netsim::known_memory(self.checked()?))
    }

    #[getter]
    fn packet_estimate(&self) -> PyResult<f64> {
        Ok(scenario::estimate(self.checked()?).packets)
    }

    #[getter]
    fn slot_estimate(&self) -> PyResult<f64> {
        Ok(scenario::estimate(self.checked()?).slots)
    }
}

/// What a link follows that is in files: the key without the direction, and the content.
fn recordings(link: &Link) -> Vec<(&'static str, Vec<u64>)> {
    let mut found = Vec::new();
    let period = |period: Option<Span>| period.map_or(0, Span::nanos);
    let variation = link.variation.as_deref();
    if link.recorded {
        let changes = link.changes.iter().flat_map(|change| [change.at.nanos(), change.rate.whole_bits()]);
        let mut content: Vec<u64> = std::iter::once(period(link.changes_period)).chain(changes).collect();
        if let Some(variation) = variation.filter(|variation| !variation.delays.is_empty()) {
            content.push(period(variation.period));
            let points = variation.delays.iter();
            content.extend(points.flat_map(|point| [point.since, point.until, point.delay].map(Span::nanos)));
        }
        found.push(("rates", content));
    }
    if let Some(Loss::Steps(steps)) = &link.loss {
        let values = steps.values.iter().flat_map(|(at, value)| [at.nanos(), value.to_bits()]);
        found.push(("loss", std::iter::once(steps.period.nanos()).chain(values).collect()));
    }
    if let Some(variation) = variation.filter(|variation| !variation.table.is_empty()) {
        found.push(("jitter", variation.table.iter().map(|value| value.to_bits()).collect()));
    }
    found
}

/// The user's own algorithms of a scenario's links, and the congestion controls of its traffic: reference, and digest of the
/// source.
fn own_algorithms(scenario: &Checked) -> BTreeSet<(&'static str, &'static str)> {
    let algorithms = scenario.links.iter().filter_map(|link| link.aqm.as_ref());
    let controls =
        scenario.traffic.iter().filter_map(|traffic| traffic.kind.tcp()?.congestion.user_defined());
    let controls = controls.map(|control| control.params().declaration()).map(|of| (of.name, of.source));
    algorithms.flat_map(aqm::AnyParams::all_user_defined).chain(controls).collect()
}

/// Lets this thread read only files below `folders`, or any if there are none; returns those of before.
#[pyfunction]
fn confine(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    scenario::confine(folders)
}

/// Whether this thread may read the file at `path`.
#[pyfunction]
fn may_read(path: PathBuf) -> bool {
    scenario::may_read(&path)
}

/// Every algorithm, TCP, kind of traffic and table with its parameters, as JSON.
#[pyfunction]
fn catalogue() -> String {
    scenario::catalogue().to_string()
}

/// The entry of an algorithm in the catalogue, or the one that a user's own would have there, as JSON.
#[pyfunction]
#[pyo3(signature = (reference, source=None))]
fn described(reference: &str, source: Option<&str>) -> PyResult<String> {
    let described = scenario::described(reference, source);
    described.map(|json| json.to_string()).map_err(PyValueError::new_err)
}

/// The JSON Schema of a scenario file.
#[pyfunction]
fn schema() -> String {
    scenario::schema().to_string()
}

/// Every metric and every distribution with its unit and definition, as JSON.
#[pyfunction]
fn metrics() -> String {
    let (metrics, distributions) = (run::metrics(), run::distributions());
    serde_json::json!({ "metrics": metrics, "distributions": distributions }).to_string()
}

/// The value of a text with a unit in base units, and the base unit.
#[pyfunction]
fn in_base_unit(text: &str) -> Option<(f64, &'static str)> {
    aqm::unit::in_base_unit(text)
}

/// What the words of a framing say: bytes of overhead, whether they are raw, least length, and cells.
#[pyfunction]
fn framing(words: &str) -> Option<(Option<i32>, bool, u32, Option<String>)> {
    let found = aqm::framing::Framing::parse(words)?;
    let cells = found.atm.map(|atm| match aqm::params::Field::value(&atm) {
        aqm::params::Value::Text(name) => name,
        other => other.to_string(),
    });
    Some((found.overhead, found.raw, found.mpu, cells))
}

#[pymodule]
mod _core {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    /// The defaults of the attributes, for errors that Python code raises.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        super::own::set_loaders();
        stacks::install();
        module.add("HAS_QUIC", stacks::HAS_QUINN)?;
        module.add("variants", scenario::variants_of().collect::<std::collections::BTreeMap<_, _>>())?;
        let error = py.get_type::<ScenarioError>();
        error.setattr("problems", PyTuple::empty(py))?;
        ["kind", "path", "file", "line"].into_iter().try_for_each(|key| error.setattr(key, py.None()))
    }

    #[pymodule_export]
    use super::capture::Capture;
    #[pymodule_export]
    use super::control::{Controls, control_quantities};
    #[pymodule_export]
    use super::fluid::Fluid;
    #[pymodule_export]
    use super::own::{CompiledCodeError, Draws, Flow, Packet, Queue, StackError, uniform_address};
    #[pymodule_export]
    use super::qdisc::{Qdisc, kernel_numbers};
    #[pymodule_export]
    use super::rows::rows;
    #[pymodule_export]
    use super::simulation::Simulation;
    #[pymodule_export]
    use super::{
        Scenario, ScenarioError, catalogue, confine, described, framing, in_base_unit, may_read, metrics,
        schema,
    };
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    /// What distinguishes this build from any other of the version, if anything: `make release` says it.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const build: &str = match option_env!("AQMLAB_BUILD") {
        Some(name) => name,
        None => "",
    };
    /// The greatest depth of tables and lists in a scenario.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const deepest: usize = scenario::DEEPEST;
    /// The greatest size of a scenario in bytes.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const longest: u64 = scenario::LONGEST;
    /// The version, and the digest of the packet engine's sources.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const engine_version: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("AQMLAB_SOURCES"));
    /// The digest of the sources of this crate, which calls the user's own algorithms.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const own_version: &str = env!("AQMLAB_OWN_SOURCES");
    /// The version, and the digest of the fluid engine's sources.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const fluid_version: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("AQMLAB_FLUID_SOURCES"));
}
