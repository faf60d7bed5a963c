//! A class in Python, called event by event.

use super::views::{Draws, Packet, Queue};
use super::{or_raise, python, raise, with_traceback};
use aqm::user_defined::{Instance, Law};
use aqm::{Backlog, Packet as Seen, Port, Rate, Signal, Span, Time, Uniform, Verdict};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// An object of the class, with its random numbers.
pub(super) struct Object {
    pub(super) object: Py<PyAny>,
    pub(super) draws: Py<Draws>,
}

impl Object {
    /// The object at the start of a run.
    pub(super) fn new(
        py: Python<'_>,
        declared: &Bound<'_, PyAny>,
        parameters: &Bound<'_, PyDict>,
        port: &Port,
    ) -> PyResult<Self> {
        let draws = Py::new(py, Draws::default())?;
        let facts = (port.rate.bits(), port.delay.secs(), port.limit.packets(port.packet), port.packet.0);
        let object = python(py)?.call_method1("started", (declared, parameters, facts, &draws))?.unbind();
        Ok(Self { object, draws })
    }

    fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let draws = Py::new(py, Draws::default())?;
        let object = python(py)?.call_method1("copied", (&self.object, &draws))?.unbind();
        Ok(Self { object, draws })
    }
}

/// An object whose class declares the law of its drop probability.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) object: Py<PyAny>,
    /// Whether the law also takes the derivative of the queue.
    pub(super) of_change: bool,
}

impl Law for Rule {
    fn rate(&self, q: f64, p: f64, dq: f64) -> f64 {
        Python::attach(|py| {
            let called = if self.of_change {
                self.object.call_method1(py, "rate", (q, p, dq))
            } else {
                self.object.call_method1(py, "rate", (q, p))
            };
            let rate = called.and_then(|rate| rate.extract::<f64>(py));
            rate.unwrap_or_else(|error| {
                let own = or_raise(python(py));
                let explained =
                    own.call_method1("explained", (&self.object, "rate", 0.0, with_traceback(py, &error)));
                raise(PyErr::from_value(or_raise(explained)))
            })
        })
    }
}

/// The methods that a class may have, bound to its object; `None` for one that it lacks.
struct Methods {
    on_enqueue: Option<Py<PyAny>>,
    on_dequeue: Option<Py<PyAny>>,
    on_overflow: Option<Py<PyAny>>,
    on_idle: Option<Py<PyAny>>,
    on_period: Option<Py<PyAny>>,
}

/// An object at work.
pub(super) struct Running {
    object: Object,
    methods: Methods,
    packet: Py<Packet>,
    queue: Py<Queue>,
    /// The objects of the verdicts: pass, mark, drop.
    verdicts: [Py<PyAny>; 3],
    /// The names of the signals.
    names: Vec<Py<PyString>>,
    port: Port,
    signals: &'static [Signal],
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.object.object)
    }
}

impl Running {
    pub(super) fn new(
        py: Python<'_>,
        object: Object,
        port: &Port,
        signals: &'static [Signal],
    ) -> PyResult<Self> {
        let own = python(py)?;
        let bound = object.object.bind(py);
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let is_own: bool = own.call_method1("has", (bound.get_type(), name))?.extract()?;
            is_own.then(|| bound.getattr(name).map(Bound::unbind)).transpose()
        };
        let methods = Methods {
            on_enqueue: method("on_enqueue")?,
            on_dequeue: method("on_dequeue")?,
            on_overflow: method("on_overflow")?,
            on_idle: method("on_idle")?,
            on_period: method("on_period")?,
        };
        let verdict = |name| own.getattr(name).map(Bound::unbind);
        Ok(Self {
            methods,
            packet: Py::new(py, Packet::default())?,
            queue: Py::new(py, Queue::new(port.rate))?,
            verdicts: [verdict("PASS")?, verdict("MARK")?, verdict("DROP")?],
            names: signals.iter().map(|signal| PyString::intern(py, signal.name).unbind()).collect(),
            object,
            port: *port,
            signals,
        })
    }

    /// The verdict of a method that takes the packet and the queue.
    fn verdict(
        &self,
        name: &str,
        method: Option<&Py<PyAny>>,
        (now, packet, queue, sojourn): (Time, &Seen, &Backlog, Span),
        rng: &mut dyn Uniform,
    ) -> Verdict {
        let Some(method) = method else { return Verdict::Pass };
        Python::attach(|py| {
            self.packet.get().show(packet, sojourn);
            self.queue.get().show(now, queue);
            let called = || method.call1(py, (&self.packet, &self.queue));
            let returned = self.object.draws.get().during(rng, called);
            let returned = returned.unwrap_or_else(|error| self.fail(py, name, now, error));
            let [pass, mark, drop] = &self.verdicts;
            if returned.is_none(py) || returned.is(pass) {
                Verdict::Pass
            } else if returned.is(drop) {
                Verdict::Drop
            } else if returned.is(mark) {
                Verdict::Mark
            } else {
                let refused = python(py).and_then(|own| own.call_method1("no_verdict", (&returned,)));
                match refused.and_then(|error| Err(PyErr::from_value(error))) {
                    Ok(verdict) => verdict,
                    Err(error) => self.fail(py, name, now, error),
                }
            }
        })
    }

    /// Calls a method that takes the queue, if it has it.
    fn notify(&self, name: &str, method: Option<&Py<PyAny>>, now: Time, queue: &Backlog) {
        let Some(method) = method else { return };
        Python::attach(|py| {
            self.queue.get().show(now, queue);
            if let Err(error) = method.call1(py, (&self.queue,)) {
                self.fail(py, name, now, error);
            }
        });
    }

    /// Ends the run with an exception that has the place and the time of this one.
    fn fail(&self, py: Python<'_>, method: &str, now: Time, error: PyErr) -> ! {
        let own = or_raise(python(py));
        let arguments = (&self.object.object, method, now.secs(), with_traceback(py, &error));
        let explained = or_raise(own.call_method1("explained", arguments));
        raise(PyErr::from_value(explained))
    }
}

impl Instance for Running {
    fn on_enqueue(&mut self, now: Time, packet: &Seen, queue: &Backlog, rng: &mut dyn Uniform) -> Verdict {
        let event = (now, packet, queue, Span::ZERO);
        self.verdict("on_enqueue", self.methods.on_enqueue.as_ref(), event, rng)
    }

    fn on_dequeue(
        &mut self,
        now: Time,
        packet: &Seen,
        queue: &Backlog,
        sojourn: Span,
        rng: &mut dyn Uniform,
    ) -> Verdict {
        let event = (now, packet, queue, sojourn);
        self.verdict("on_dequeue", self.methods.on_dequeue.as_ref(), event, rng)
    }

    fn on_overflow(&mut self, now: Time) {
        let Some(method) = &self.methods.on_overflow else { return };
        Python::attach(|py| {
            if let Err(error) = method.call0(py) {
                self.fail(py, "on_overflow", now, error);
            }
        });
    }

    fn on_idle(&mut self, now: Time) {
        self.notify("on_idle", self.methods.on_idle.as_ref(), now, &Backlog::default());
    }

    fn on_period(&mut self, now: Time, queue: &Backlog) {
        self.notify("on_period", self.methods.on_period.as_ref(), now, queue);
    }

    fn signals(&self, visit: &mut dyn FnMut(usize, f64)) {
        if self.names.is_empty() {
            return;
        }
        Python::attach(|py| {
            let object = self.object.object.bind(py);
            for (i, name) in self.names.iter().enumerate() {
                let value = object.getattr(name).and_then(|value| value.extract::<f64>());
                visit(
                    i,
                    value.unwrap_or_else(|error| {
                        self.fail(py, self.signals[i].name, self.queue.get().time(), error)
                    }),
                );
            }
        });
    }

    fn set_rate(&mut self, rate: Rate) {
        self.queue.get().set_rate(rate);
    }

    fn copy(&self) -> Box<dyn Instance> {
        Python::attach(|py| {
            let object = or_raise(self.object.copied(py));
            let mut copy = or_raise(Self::new(py, object, &self.port, self.signals));
            copy.set_rate(self.queue.get().rate());
            Box::new(copy)
        })
    }
}
