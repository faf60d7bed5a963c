//! A congestion control in Python: a class, called for each event of a connection, or as compiled code.
#![allow(unsafe_code)]

use super::{
    Broken, INTERPRETED, Known, by_name, compiled, has, load, or_raise, python, raise, with_traceback,
};
use aqm::unit::Span;
use aqm::user_defined::Plain;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use scenario::model::user_defined::{self, Connection, Flow as Seen, Hook, Hooks, Instance, Maker, Window};
use std::ffi::c_void;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

static DECLARED: Known<Hooks> = Mutex::new(None);

pub(super) fn set_loader() {
    user_defined::set_loader(|reference, source| load(&DECLARED, "control", reference, source, hooks));
}

fn hooks(declared: &Bound<'_, PyAny>, names: Vec<&'static str>) -> PyResult<Hooks> {
    let mut found = [false; Hook::ALL.len()];
    for (hook, name) in Hook::ALL {
        found[hook as usize] = has(declared, name)?;
    }
    let class = Class { declared: declared.clone().unbind(), names, compiled: PyOnceLock::new() };
    Ok(Hooks { has: found, maker: Box::new(class) })
}

/// The attributes of an object that hold its window, in the order of [`numbers`].
const WINDOW: [&str; 3] = ["cwnd", "ssthresh", "pacing_rate"];

const fn numbers(window: &Window) -> [f64; 3] {
    [window.cwnd, window.ssthresh, window.pacing_rate]
}

const fn window([cwnd, ssthresh, pacing_rate]: [f64; 3]) -> Window {
    Window { cwnd, ssthresh, pacing_rate }
}

fn seconds(us: i64) -> f64 {
    Span::us(us as u64).secs()
}

/// The connection at the present event: one object for each connection, of which a class must not keep anything but values.
#[pyclass(frozen, module = "aqmlab._core")]
#[derive(Default)]
pub(crate) struct Flow(Mutex<Seen>);

impl Flow {
    fn seen(&self) -> Seen {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Flow {
    #[getter]
    fn now(&self) -> f64 {
        Span::ns(self.seen().now_ns as u64).secs()
    }

    #[getter]
    fn now_ns(&self) -> i64 {
        self.seen().now_ns
    }

    #[getter]
    fn acked(&self) -> i64 {
        self.seen().acked
    }

    #[getter]
    fn rtt(&self) -> f64 {
        seconds(self.seen().rtt_us)
    }

    #[getter]
    fn rtt_us(&self) -> i64 {
        self.seen().rtt_us
    }

    #[getter]
    fn srtt(&self) -> f64 {
        seconds(self.seen().srtt_us)
    }

    #[getter]
    fn srtt_us(&self) -> i64 {
        self.seen().srtt_us
    }

    #[getter]
    fn in_flight(&self) -> i64 {
        self.seen().in_flight
    }

    #[getter]
    fn outstanding(&self) -> i64 {
        self.seen().outstanding
    }

    #[getter]
    fn delivered(&self) -> i64 {
        self.seen().delivered
    }

    #[getter]
    fn marked(&self) -> i64 {
        self.seen().marked
    }

    #[getter]
    fn lost(&self) -> i64 {
        self.seen().lost
    }

    #[getter]
    fn acknowledged(&self) -> i64 {
        self.seen().acknowledged
    }

    #[getter]
    fn sent(&self) -> i64 {
        self.seen().sent
    }

    #[getter]
    fn idle_ns(&self) -> i64 {
        self.seen().idle_ns
    }

    #[getter]
    fn limited(&self) -> bool {
        self.seen().limited
    }

    #[getter]
    fn paced(&self) -> bool {
        self.seen().paced
    }

    #[getter]
    fn repeated(&self) -> bool {
        self.seen().repeated
    }
}

/// The same, as compiled code sees it; `aqmlab.own.kinds.FIELDS` has this layout.
#[repr(C)]
struct Record {
    now_ns: i64,
    acked: i64,
    rtt_us: i64,
    srtt_us: i64,
    in_flight: i64,
    outstanding: i64,
    delivered: i64,
    marked: i64,
    lost: i64,
    acknowledged: i64,
    sent: i64,
    idle_ns: i64,
    now: f64,
    rtt: f64,
    srtt: f64,
    limited: bool,
    paced: bool,
    repeated: bool,
}

impl From<&Seen> for Record {
    fn from(flow: &Seen) -> Self {
        Self {
            now_ns: flow.now_ns,
            acked: flow.acked,
            rtt_us: flow.rtt_us,
            srtt_us: flow.srtt_us,
            in_flight: flow.in_flight,
            outstanding: flow.outstanding,
            delivered: flow.delivered,
            marked: flow.marked,
            lost: flow.lost,
            acknowledged: flow.acknowledged,
            sent: flow.sent,
            idle_ns: flow.idle_ns,
            now: Span::ns(flow.now_ns as u64).secs(),
            rtt: seconds(flow.rtt_us),
            srtt: seconds(flow.srtt_us),
            limited: flow.limited,
            paced: flow.paced,
            repeated: flow.repeated,
        }
    }
}

/// A class that `aqmlab.own` has read.
struct Class {
    declared: Py<PyAny>,
    /// The names of its parameters.
    names: Vec<&'static str>,
    /// Its compiled code, once it is asked for; `None` if it cannot be compiled.
    compiled: PyOnceLock<Option<Code>>,
}

impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.declared)
    }
}

impl Maker for Class {
    fn make(
        &'static self,
        values: &[Plain],
        connection: &Connection,
        first: &mut Window,
    ) -> Box<dyn Instance> {
        Python::attach(|py| {
            let parameters = or_raise(by_name(py, &self.names, values));
            let Connection { payload, size, tick_ns, ecn, now_ns, sent } = *connection;
            let facts = (payload, size, tick_ns, ecn, now_ns, sent);
            let own = or_raise(python(py));
            let arguments = (&self.declared, parameters, facts, numbers(first));
            let object = or_raise(own.call_method1("connected", arguments)).unbind();
            let plain = or_raise(Plainly::new(py, object));
            *first = plain.window(py, "start", Span::ns(now_ns).secs());
            let code = || Ok(compiled::code(self.declared.bind(py))?.map(Code::of).transpose()?.flatten());
            if INTERPRETED.get() {
                return Box::new(plain) as Box<dyn Instance>;
            }
            // A thread that waits for another's code lets that one have Python.
            let code = or_raise(self.compiled.get_or_try_init(py, code)).as_ref();
            let running = |code: &'static Code| {
                let state = or_raise(compiled::state(code.code.bind(py), &plain.object))?;
                Some(Box::new(Compiled { code, state }) as Box<dyn Instance>)
            };
            code.and_then(running).unwrap_or_else(|| Box::new(plain))
        })
    }
}

/// An object of the class at work on a connection.
struct Plainly {
    object: Py<PyAny>,
    /// The methods that it has, in the order of [`Hook::ALL`].
    methods: [Option<Py<PyAny>>; Hook::ALL.len()],
    flow: Py<Flow>,
}

impl std::fmt::Debug for Plainly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.object)
    }
}

impl Plainly {
    fn new(py: Python<'_>, object: Py<PyAny>) -> PyResult<Self> {
        let own = python(py)?;
        let bound = object.bind(py);
        let mut methods = [const { None }; Hook::ALL.len()];
        for (hook, name) in Hook::ALL {
            if own.call_method1("has", (bound.get_type(), name))?.extract()? {
                methods[hook as usize] = Some(bound.getattr(name)?.unbind());
            }
        }
        Ok(Self { methods, flow: Py::new(py, Flow::default())?, object })
    }

    /// The window that the object has after a method, which it called at `now` seconds.
    fn window(&self, py: Python<'_>, method: &str, now: f64) -> Window {
        let number = |name: &str| self.object.getattr(py, name)?.extract::<f64>(py);
        let found = || -> PyResult<Window> {
            let found = window([number(WINDOW[0])?, number(WINDOW[1])?, number(WINDOW[2])?]);
            found.fault().map_or(Ok(found), |fault| Err(PyValueError::new_err(fault)))
        };
        found().unwrap_or_else(|error| self.fail(py, method, now, error))
    }

    /// Ends the run with an exception that has the place and the time of this one.
    fn fail(&self, py: Python<'_>, method: &str, now: f64, error: PyErr) -> ! {
        let own = or_raise(python(py));
        let arguments = (&self.object, method, now, with_traceback(py, &error));
        raise(PyErr::from_value(or_raise(own.call_method1("explained", arguments))))
    }
}

impl Instance for Plainly {
    fn on(&mut self, hook: Hook, flow: &Seen, window: &mut Window) {
        let Some(method) = &self.methods[hook as usize] else { return };
        Python::attach(|py| {
            let now = Span::ns(flow.now_ns as u64).secs();
            *self.flow.get().0.lock().unwrap_or_else(PoisonError::into_inner) = *flow;
            let set = |(name, number): (&str, f64)| self.object.setattr(py, name, number);
            let mut attributes = WINDOW.into_iter().zip(numbers(window));
            let called = attributes.try_for_each(set).and_then(|()| method.call1(py, (&self.flow,)));
            if let Err(error) = called {
                self.fail(py, hook.name(), now, error);
            }
            *window = self.window(py, hook.name(), now);
        });
    }

    fn copy(&self) -> Box<dyn Instance> {
        Python::attach(|py| {
            let object = python(py).and_then(|own| own.call_method1("copied", (&self.object, py.None())));
            Box::new(or_raise(Self::new(py, or_raise(object).unbind())))
        })
    }
}

type Method = unsafe extern "C" fn(*mut c_void, *const Record) -> i64;

/// The compiled code of a class.
#[derive(Debug)]
struct Code {
    /// Keeps the machine code alive.
    code: Py<PyAny>,
    /// In the order of [`Hook::ALL`].
    methods: [Option<Method>; Hook::ALL.len()],
    /// Where the state has the numbers of [`WINDOW`], in words.
    window: [usize; 3],
}

impl Code {
    /// The code of a class; `None` if its window is not of real numbers, as the sender's is.
    fn of(code: Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let mut methods = [None; Hook::ALL.len()];
        for (hook, name) in Hook::ALL {
            // The address is that of a function of this type, which `code` keeps alive.
            let function = |address: usize| unsafe { std::mem::transmute::<usize, Method>(address) };
            methods[hook as usize] = compiled::address(&code, name)?.map(function);
        }
        let mut window = [0; 3];
        for (place, name) in window.iter_mut().zip(WINDOW) {
            let (offset, kind) = compiled::field(&code, name)?;
            if kind != "float64" {
                return Ok(None);
            }
            *place = offset / 8;
        }
        Ok(Some(Self { code: code.unbind(), methods, window }))
    }
}

/// Compiled code at work on a connection.
#[derive(Debug)]
struct Compiled {
    code: &'static Code,
    state: Vec<u64>,
}

impl Instance for Compiled {
    fn on(&mut self, hook: Hook, flow: &Seen, seen: &mut Window) {
        let Some(method) = self.code.methods[hook as usize] else { return };
        for (place, number) in self.code.window.into_iter().zip(numbers(seen)) {
            self.state[place] = number.to_bits();
        }
        // The function reads and writes records of the layouts of its arguments.
        let failed = unsafe { method(self.state.as_mut_ptr().cast(), &Record::from(flow)) } < 0;
        *seen = window(self.code.window.map(|place| f64::from_bits(self.state[place])));
        if failed || seen.fault().is_some() {
            resume_unwind(Box::new(Broken));
        }
    }

    fn copy(&self) -> Box<dyn Instance> {
        Box::new(Self { code: self.code, state: self.state.clone() })
    }
}
