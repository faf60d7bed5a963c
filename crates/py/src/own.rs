//! A user's own algorithms: classes in Python files, as `aqm::user_defined` runs them.
//!
//! `aqmlab.own` reads and checks the files, and compiles the classes that can be compiled; here they are declared, and
//! called. An exception of a class unwinds the run, and `Simulation.advance` raises it.

mod compiled;
mod congestion;
mod plain;
mod views;

use aqm::params::{ParamKind, Range, Spec, Value};
use aqm::user_defined::{
    self, Declaration, Instance, Law, Maker, OneQueue, Plain, kind_of_number, spec, written,
};
use aqm::{Port, Signal, Span};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

pub(crate) use compiled::uniform_address;
pub(crate) use congestion::Flow;
pub(crate) use views::{Draws, Packet, Queue};

/// The exception with which an algorithm ends a run.
struct Raised(PyErr);

/// The code of a compiled algorithm that met an exception, or returned no verdict; the same run in Python raises it.
struct Broken;

thread_local! {
    /// Whether the run of this thread calls classes in Python, also those that can be compiled.
    static INTERPRETED: Cell<bool> = const { Cell::new(false) };
}

/// Ends the run with an exception.
fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(Raised(error)))
}

/// The exception with the places where it was raised.
fn with_traceback<'py>(py: Python<'py>, error: &PyErr) -> Bound<'py, PyAny> {
    let value = error.value(py).clone().into_any();
    if let Some(traceback) = error.traceback(py) {
        or_raise(value.setattr("__traceback__", traceback));
    }
    value
}

/// The value, or ends the run with the exception.
fn or_raise<T>(result: PyResult<T>) -> T {
    result.unwrap_or_else(|error| raise(error))
}

/// Does `work`, whose algorithms are called in Python if `interpreted`; the error is the exception that one of them raised,
/// or the reason why a stack from outside could not go on.
pub(crate) fn caught<T>(interpreted: bool, work: impl FnOnce() -> T) -> PyResult<T> {
    let before = INTERPRETED.replace(interpreted);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    INTERPRETED.set(before);
    outcome.map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(payload) if payload.is::<Broken>() => {
            let message = "compiled code of an algorithm failed: run it with interpreted=True to see why";
            CompiledCodeError::new_err(message)
        }
        Err(payload) => match payload.downcast::<netsim::stack::Broken>() {
            Ok(broken) => StackError::new_err(broken.0),
            Err(payload) => resume_unwind(payload),
        },
    })
}

pyo3::create_exception!(
    aqmlab._core,
    CompiledCodeError,
    PyRuntimeError,
    "The compiled code of an algorithm met an exception; interpreted, the same run raises it."
);

pyo3::create_exception!(
    aqmlab._core,
    StackError,
    PyRuntimeError,
    "A program's own transport cannot go on, or breaks the contract of its interface."
);

/// The module that this one calls.
fn python(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("aqmlab.own.running")
}

/// Lets the engine find algorithms and congestion controls in Python.
pub(crate) fn set_loaders() {
    user_defined::set_loader(|reference, source| load(&DECLARED, "discipline", reference, source, one_queue));
    congestion::set_loader();
}

/// The declarations of a kind so far, by reference and digest of the source.
type Known<K> = Mutex<Option<HashMap<(String, String), &'static Declaration<K>>>>;

static DECLARED: Known<OneQueue> = Mutex::new(None);

/// The declaration of a reference, which `function` of the module finds, with what `kind` reads of it.
fn load<K>(
    known: &'static Known<K>,
    function: &str,
    reference: &str,
    source: Option<&str>,
    kind: fn(&Bound<'_, PyAny>, Vec<&'static str>) -> PyResult<K>,
) -> Result<&'static Declaration<K>, String> {
    Python::attach(|py| {
        let declared = python(py).and_then(|own| own.call_method1(function, (reference, source)));
        declared.and_then(|declared| remembered(known, reference, &declared, kind)).map_err(|error| {
            let text = error.value(py).str();
            text.map_or_else(|_| error.to_string(), |text| text.to_string())
        })
    })
}

fn remembered<K>(
    known: &'static Known<K>,
    reference: &str,
    declared: &Bound<'_, PyAny>,
    kind: fn(&Bound<'_, PyAny>, Vec<&'static str>) -> PyResult<K>,
) -> PyResult<&'static Declaration<K>> {
    let digest: String = declared.getattr("source")?.extract()?;
    let key = (reference.to_owned(), digest);
    let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known().get_or_insert_default().get(&key) {
        return Ok(found);
    }
    let specs = listed(declared, "parameters")?.iter().map(parameter).collect::<PyResult<Vec<_>>>()?;
    let declaration = Box::leak(Box::new(Declaration {
        name: kept(key.0.clone()),
        source: kept(key.1.clone()),
        doc: text(declared, "doc")?,
        kind: kind(declared, specs.iter().map(|spec| spec.name).collect())?,
        specs: Box::leak(specs.into_boxed_slice()),
    }));
    Ok(known().get_or_insert_default().entry(key).or_insert(declaration))
}

fn listed<'py>(declared: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    declared.getattr(name)?.extract()
}

/// Whether the class wants to know of an event.
fn has(declared: &Bound<'_, PyAny>, method: &str) -> PyResult<bool> {
    Ok(listed(declared, "methods")?
        .iter()
        .any(|name| name.extract::<String>().is_ok_and(|name| name == method)))
}

/// A text that lives as long as the program.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn text(object: &Bound<'_, PyAny>, name: &str) -> PyResult<&'static str> {
    Ok(kept(object.getattr(name)?.extract()?))
}

fn one_queue(declared: &Bound<'_, PyAny>, names: Vec<&'static str>) -> PyResult<OneQueue> {
    let signal = |signal: &Bound<'_, PyAny>| -> PyResult<Signal> {
        Ok(Signal { name: text(signal, "name")?, unit: text(signal, "unit")?, doc: text(signal, "doc")? })
    };
    let signals = listed(declared, "signals")?.iter().map(signal).collect::<PyResult<Vec<_>>>()?;
    let period: Option<f64> = declared.getattr("period")?.extract()?;
    let signals = &*Box::leak(signals.into_boxed_slice());
    Ok(OneQueue {
        signals,
        period: period.map(Span::from_secs),
        is_final: !has(declared, "on_dequeue")?,
        maker: Box::new(Class {
            declared: declared.clone().unbind(),
            names,
            signals,
            compiled: PyOnceLock::new(),
        }),
    })
}

fn parameter(declared: &Bound<'_, PyAny>) -> PyResult<Spec> {
    let (name, doc, unit) = (text(declared, "name")?, text(declared, "doc")?, text(declared, "unit")?);
    let texts = |name: &str| -> PyResult<&'static [&'static str]> {
        let texts: Vec<String> = declared.getattr(name)?.extract()?;
        Ok(Box::leak(texts.into_iter().map(kept).collect()))
    };
    let (aliases, choices) = (texts("aliases")?, texts("choices")?);
    let (low, low_included, high): (f64, bool, f64) = declared.getattr("range")?.extract()?;
    let range = if low == f64::NEG_INFINITY && high == f64::INFINITY {
        Range::ANY
    } else {
        Range { low: low.max(f64::MIN), low_included, high: high.min(f64::MAX) }
    };
    let default = declared.getattr("default")?;
    let of = |kind, default| Ok(spec(name, doc, unit, aliases, kind, default, range));
    if let Ok(switch) = default.extract::<bool>() {
        return of((ParamKind::Switch, ""), Value::Bool(switch));
    }
    if let Ok(text) = default.extract::<String>() {
        let kind = if choices.is_empty() { ParamKind::Text } else { ParamKind::Choice(choices) };
        return of((kind, ""), Value::Text(text));
    }
    let kind = kind_of_number(unit);
    if let (ParamKind::Number, Ok(whole)) = (kind.0, default.extract::<i64>()) {
        return of((ParamKind::Count, ""), Value::Integer(whole));
    }
    let number: f64 = default.extract()?;
    let bare = spec(name, doc, unit, aliases, kind, Value::Float(number), range);
    of(kind, written(&bare, number))
}

/// A class that `aqmlab.own` has read.
struct Class {
    declared: Py<PyAny>,
    /// The names of its parameters.
    names: Vec<&'static str>,
    signals: &'static [Signal],
    /// Its compiled code, once it is asked for; `None` if it cannot be compiled.
    compiled: PyOnceLock<Option<compiled::Code>>,
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.declared)
    }
}

impl Class {
    /// Its compiled code, if this run uses it and it can be compiled.
    fn code(&'static self, py: Python<'_>) -> Option<&'static compiled::Code> {
        if INTERPRETED.get() {
            return None;
        }
        let code = || {
            let code = compiled::code(self.declared.bind(py))?;
            code.map(|code| compiled::Code::of(&code, self.signals)).transpose()
        };
        // A thread that waits for another's code lets that one have Python.
        or_raise(self.compiled.get_or_try_init(py, code)).as_ref()
    }
}

/// The values of parameters by their names.
fn by_name<'py>(py: Python<'py>, names: &[&str], values: &[Plain]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in names.iter().zip(values) {
        match value {
            Plain::Number(number) => dict.set_item(name, number)?,
            Plain::Whole(number) => dict.set_item(name, number)?,
            Plain::Switch(switch) => dict.set_item(name, switch)?,
            Plain::Text(text) => dict.set_item(name, text)?,
        }
    }
    Ok(dict)
}

impl Maker for Class {
    fn make(&'static self, values: &[Plain], port: &Port) -> Box<dyn Instance> {
        Python::attach(|py| {
            let parameters = or_raise(by_name(py, &self.names, values));
            let object = or_raise(plain::Object::new(py, self.declared.bind(py), &parameters, port));
            let code = self.code(py);
            let compiled = code.map(|code| or_raise(compiled::Running::new(py, code, &object, port)));
            match compiled.flatten() {
                Some(running) => Box::new(running) as Box<dyn Instance>,
                None => Box::new(or_raise(plain::Running::new(py, object, port, self.signals))),
            }
        })
    }

    fn law(&'static self, values: &[Plain], port: &Port) -> Option<Box<dyn Law>> {
        Python::attach(|py| {
            let declared = self.declared.bind(py);
            let has_law = declared.getattr("has_law").and_then(|has| has.extract());
            if !or_raise(has_law) {
                return None;
            }
            let parameters = or_raise(by_name(py, &self.names, values));
            let object = or_raise(plain::Object::new(py, declared, &parameters, port));
            let of_change =
                or_raise(declared.getattr("law_of_change").and_then(|of_change| of_change.extract()));
            Some(Box::new(plain::Rule { object: object.object, of_change }) as Box<dyn Law>)
        })
    }
}
