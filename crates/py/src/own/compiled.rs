//! A class whose methods are compiled to machine code, which runs without Python.
//!
//! `aqmlab.own.compiled` compiles the methods to functions `(state, packet, queue) -> verdict` of pointers to records
//! of the layouts here. The state begins with the pointer to the random numbers, followed by the attributes of the
//! object. A function returns -1 if it met an exception.
#![allow(unsafe_code)]

use super::Broken;
use super::plain::Object;
use super::views::{delay, flow, lent, next};
use aqm::user_defined::Instance;
use aqm::{Backlog, Packet as Seen, Port, Rate, Signal, Span, Time, Uniform, Verdict};
use pyo3::prelude::*;
use std::ffi::c_void;
use std::panic::resume_unwind;
use std::ptr::null_mut;

/// The packet, as compiled code sees it; `aqmlab.own.kinds.FIELDS` has this layout.
#[repr(C)]
#[derive(Default)]
struct Packet {
    size: i64,
    service: i64,
    flow: i64,
    pair: i64,
    sojourn_ns: i64,
    sojourn: f64,
    ect: bool,
    l4s: bool,
    udp: bool,
}

/// The queue, as compiled code sees it; `aqmlab.own.kinds.FIELDS` has this layout.
#[repr(C)]
#[derive(Default)]
struct Queue {
    now_ns: i64,
    packets: i64,
    bytes: i64,
    now: f64,
    delay: f64,
    full: bool,
}

type Method = unsafe extern "C" fn(*mut c_void, *const Packet, *const Queue) -> i64;

/// The next random number, for compiled code.
///
/// # Safety
/// `source` must be the first field of the state in the present event.
unsafe extern "C" fn uniform(source: *mut c_void) -> f64 {
    // Sound by the condition above: the state has the source of `lent`, which waits.
    unsafe { next(source) }
}

/// The address of the function that draws a random number.
#[pyfunction]
pub(crate) fn uniform_address() -> usize {
    uniform as *const () as usize
}

/// The type of an attribute that is a signal.
#[derive(Clone, Copy, Debug)]
enum Type {
    Number,
    Whole,
    Switch,
}

/// The compiled code of a class.
#[derive(Debug)]
pub(super) struct Code {
    /// Keeps the machine code alive.
    code: Py<PyAny>,
    on_enqueue: Option<Method>,
    on_dequeue: Option<Method>,
    on_overflow: Option<Method>,
    on_idle: Option<Method>,
    on_period: Option<Method>,
    /// The offset and type of each signal in the state.
    signals: Vec<(usize, Type)>,
}

impl Code {
    /// The code of a class, which [`code`] has found.
    pub(super) fn of(code: &Bound<'_, PyAny>, signals: &[Signal]) -> PyResult<Self> {
        let method = |name: &str| -> PyResult<Option<Method>> {
            // The address is that of a function of this type, which `code` keeps alive.
            let function = |address: usize| unsafe { std::mem::transmute::<usize, Method>(address) };
            Ok(address(code, name)?.map(function))
        };
        let signal = |signal: &Signal| -> PyResult<(usize, Type)> {
            let (offset, kind) = field(code, signal.name)?;
            let kind = match &*kind {
                "float64" => Type::Number,
                "int64" => Type::Whole,
                _ => Type::Switch,
            };
            Ok((offset, kind))
        };
        Ok(Self {
            on_enqueue: method("on_enqueue")?,
            on_dequeue: method("on_dequeue")?,
            on_overflow: method("on_overflow")?,
            on_idle: method("on_idle")?,
            on_period: method("on_period")?,
            signals: signals.iter().map(signal).collect::<PyResult<_>>()?,
            code: code.clone().unbind(),
        })
    }
}

/// The compiled code of a class; `None` if it cannot be compiled.
pub(super) fn code<'py>(declared: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let code = declared.py().import("aqmlab.own.compiled")?.call_method1("compiled", (declared,))?;
    Ok((!code.is_none()).then_some(code))
}

/// The address of the function for an event; `None` if the class ignores it.
pub(super) fn address(code: &Bound<'_, PyAny>, method: &str) -> PyResult<Option<usize>> {
    let address: usize = code.call_method1("address", (method,))?.extract()?;
    Ok((address != 0).then_some(address))
}

/// The offset and the type of an attribute in the state.
pub(super) fn field(code: &Bound<'_, PyAny>, name: &str) -> PyResult<(usize, String)> {
    code.call_method1("field", (name,))?.extract()
}

/// The state of an object in words, for its alignment; `None` if it has another layout than the code.
pub(super) fn state(code: &Bound<'_, PyAny>, object: &Py<PyAny>) -> PyResult<Option<Vec<u64>>> {
    let bytes: Option<Vec<u8>> = code.call_method1("state", (object,))?.extract()?;
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    Ok(bytes.map(|bytes| bytes.chunks(8).map(word).collect()))
}

/// Compiled code at work.
#[derive(Debug)]
pub(super) struct Running {
    code: &'static Code,
    state: Vec<u64>,
    rate: Rate,
    now: Time,
}

impl Running {
    /// The code with the state of an object at the start of a run; `None` if the state has another layout.
    pub(super) fn new(
        py: Python<'_>,
        code: &'static Code,
        object: &Object,
        port: &Port,
    ) -> PyResult<Option<Self>> {
        let state = state(code.code.bind(py), &object.object)?;
        Ok(state.map(|state| Self { code, state, rate: port.rate, now: Time::ZERO }))
    }

    fn queue(&self, now: Time, queue: &Backlog) -> Queue {
        let bytes = queue.bytes as i64;
        Queue {
            now_ns: now.nanos() as i64,
            packets: i64::from(queue.packets),
            bytes,
            now: now.secs(),
            delay: delay(bytes, self.rate),
            full: queue.full,
        }
    }

    /// Calls a function, whose random numbers are `source`.
    fn call(&mut self, method: Method, source: *mut c_void, packet: &Packet, queue: &Queue) -> i64 {
        self.state[0] = source as u64;
        // The function reads and writes records of the layouts of its arguments.
        let verdict = unsafe { method(self.state.as_mut_ptr().cast(), packet, queue) };
        if verdict < 0 {
            resume_unwind(Box::new(Broken));
        }
        verdict
    }

    #[inline]
    fn verdict(
        &mut self,
        method: Option<Method>,
        (now, packet, queue, sojourn): (Time, &Seen, &Backlog, Span),
        rng: &mut dyn Uniform,
    ) -> Verdict {
        self.now = now;
        let Some(method) = method else { return Verdict::Pass };
        let packet = Packet {
            size: i64::from(packet.size),
            service: i64::from(packet.class),
            flow: flow(packet),
            pair: i64::from(packet.pair),
            sojourn_ns: sojourn.nanos() as i64,
            sojourn: sojourn.secs(),
            ect: packet.ect,
            l4s: packet.l4s,
            udp: packet.udp,
        };
        let queue = self.queue(now, queue);
        match lent(rng, |source| self.call(method, source, &packet, &queue)) {
            0 => Verdict::Pass,
            1 => Verdict::Mark,
            _ => Verdict::Drop,
        }
    }

    fn notify(&mut self, method: Option<Method>, now: Time, queue: &Backlog) {
        self.now = now;
        if let Some(method) = method {
            self.call(method, null_mut(), &Packet::default(), &self.queue(now, queue));
        }
    }
}

impl Instance for Running {
    fn on_enqueue(&mut self, now: Time, packet: &Seen, queue: &Backlog, rng: &mut dyn Uniform) -> Verdict {
        self.verdict(self.code.on_enqueue, (now, packet, queue, Span::ZERO), rng)
    }

    fn on_dequeue(
        &mut self,
        now: Time,
        packet: &Seen,
        queue: &Backlog,
        sojourn: Span,
        rng: &mut dyn Uniform,
    ) -> Verdict {
        self.verdict(self.code.on_dequeue, (now, packet, queue, sojourn), rng)
    }

    fn on_overflow(&mut self, now: Time) {
        self.notify(self.code.on_overflow, now, &Backlog::default());
    }

    fn on_idle(&mut self, now: Time) {
        self.notify(self.code.on_idle, now, &Backlog::default());
    }

    fn on_period(&mut self, now: Time, queue: &Backlog) {
        self.notify(self.code.on_period, now, queue);
    }

    fn signals(&self, visit: &mut dyn FnMut(usize, f64)) {
        let bytes = |offset: usize| self.state[offset / 8].to_ne_bytes();
        for (i, &(offset, kind)) in self.code.signals.iter().enumerate() {
            visit(
                i,
                match kind {
                    Type::Number => f64::from_ne_bytes(bytes(offset)),
                    Type::Whole => i64::from_ne_bytes(bytes(offset)) as f64,
                    Type::Switch => f64::from(bytes(offset)[offset % 8]),
                },
            );
        }
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    fn copy(&self) -> Box<dyn Instance> {
        Box::new(Self { code: self.code, state: self.state.clone(), rate: self.rate, now: self.now })
    }
}
