//! The packet, the queue and the random numbers as a class in Python sees them.
//!
//! Each is one object for the whole run, which shows the present event: a class must not keep one.
#![allow(unsafe_code)]

use aqm::{Backlog, Packet as Seen, Rate, Span, Time, Uniform};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering::Relaxed};

/// The packet of the present event.
#[pyclass(frozen, module = "aqmlab._core")]
#[derive(Default)]
pub(crate) struct Packet {
    size: AtomicI64,
    service: AtomicI64,
    flow: AtomicI64,
    pair: AtomicI64,
    sojourn_ns: AtomicI64,
    ect: AtomicBool,
    l4s: AtomicBool,
    udp: AtomicBool,
}

/// The hash of a flow as a number that is whole and not negative in every language.
pub(super) const fn flow(packet: &Seen) -> i64 {
    (packet.flow >> 1) as i64
}

impl Packet {
    pub(super) fn show(&self, packet: &Seen, sojourn: Span) {
        self.size.store(i64::from(packet.size), Relaxed);
        self.service.store(i64::from(packet.class), Relaxed);
        self.flow.store(flow(packet), Relaxed);
        self.pair.store(i64::from(packet.pair), Relaxed);
        self.sojourn_ns.store(sojourn.nanos() as i64, Relaxed);
        self.ect.store(packet.ect, Relaxed);
        self.l4s.store(packet.l4s, Relaxed);
        self.udp.store(packet.udp, Relaxed);
    }
}

#[pymethods]
impl Packet {
    #[getter]
    fn size(&self) -> i64 {
        self.size.load(Relaxed)
    }

    #[getter]
    fn service(&self) -> i64 {
        self.service.load(Relaxed)
    }

    #[getter]
    fn flow(&self) -> i64 {
        self.flow.load(Relaxed)
    }

    #[getter]
    fn pair(&self) -> i64 {
        self.pair.load(Relaxed)
    }

    #[getter]
    fn sojourn(&self) -> f64 {
        Span::ns(self.sojourn_ns.load(Relaxed) as u64).secs()
    }

    #[getter]
    fn sojourn_ns(&self) -> i64 {
        self.sojourn_ns.load(Relaxed)
    }

    #[getter]
    fn ect(&self) -> bool {
        self.ect.load(Relaxed)
    }

    #[getter]
    fn l4s(&self) -> bool {
        self.l4s.load(Relaxed)
    }

    #[getter]
    fn udp(&self) -> bool {
        self.udp.load(Relaxed)
    }
}

/// The queue at the present event.
#[pyclass(frozen, module = "aqmlab._core")]
pub(crate) struct Queue {
    now_ns: AtomicI64,
    packets: AtomicI64,
    bytes: AtomicI64,
    full: AtomicBool,
    /// The link's present rate in bit/s.
    rate: AtomicU64,
}

/// The time in s that `bytes` take at this rate.
pub(super) fn delay(bytes: i64, rate: Rate) -> f64 {
    // A link may stand still.
    if bytes == 0 { 0.0 } else { bytes as f64 * 8.0 / rate.bits() }
}

impl Queue {
    pub(super) fn new(rate: Rate) -> Self {
        Self {
            now_ns: AtomicI64::new(0),
            packets: AtomicI64::new(0),
            bytes: AtomicI64::new(0),
            full: AtomicBool::new(false),
            rate: AtomicU64::new(rate.whole_bits()),
        }
    }

    pub(super) fn set_rate(&self, rate: Rate) {
        self.rate.store(rate.whole_bits(), Relaxed);
    }

    pub(super) fn rate(&self) -> Rate {
        Rate::bit_per_s(self.rate.load(Relaxed))
    }

    /// The time of the present event.
    pub(super) fn time(&self) -> Time {
        Time::from_nanos(self.now_ns.load(Relaxed) as u64)
    }

    pub(super) fn show(&self, now: Time, queue: &Backlog) {
        self.now_ns.store(now.nanos() as i64, Relaxed);
        self.packets.store(i64::from(queue.packets), Relaxed);
        self.bytes.store(queue.bytes as i64, Relaxed);
        self.full.store(queue.full, Relaxed);
    }
}

#[pymethods]
impl Queue {
    #[getter]
    fn now(&self) -> f64 {
        self.time().secs()
    }

    #[getter]
    fn now_ns(&self) -> i64 {
        self.now_ns.load(Relaxed)
    }

    #[getter]
    fn packets(&self) -> i64 {
        self.packets.load(Relaxed)
    }

    #[getter]
    fn bytes(&self) -> i64 {
        self.bytes.load(Relaxed)
    }

    #[getter]
    fn full(&self) -> bool {
        self.full.load(Relaxed)
    }

    #[getter]
    fn delay(&self) -> f64 {
        delay(self.bytes.load(Relaxed), self.rate())
    }
}

/// The random numbers of the queue, which only the present event may draw.
#[pyclass(frozen, module = "aqmlab._core")]
#[derive(Default)]
pub(crate) struct Draws {
    /// A `&mut dyn Uniform` during an event, otherwise null.
    source: AtomicPtr<c_void>,
}

/// Calls `event` with a pointer to the source of random numbers, which is valid until `event` returns.
pub(super) fn lent<T>(rng: &mut dyn Uniform, event: impl FnOnce(*mut c_void) -> T) -> T {
    let mut source: &mut dyn Uniform = rng;
    event((&raw mut source).cast())
}

/// The next number of a source that [`lent`] has lent.
///
/// # Safety
/// `source` must be the pointer that [`lent`] passes to an event that has not returned.
pub(super) unsafe fn next(source: *mut c_void) -> f64 {
    // Sound by the condition above: the reference is on the stack of `lent`, which waits.
    let source = unsafe { &mut *source.cast::<&mut dyn Uniform>() };
    source.uniform()
}

impl Draws {
    /// Does `event` while numbers can be drawn.
    pub(super) fn during<T>(&self, rng: &mut dyn Uniform, event: impl FnOnce() -> T) -> T {
        lent(rng, |source| {
            self.source.store(source, Relaxed);
            let outcome = event();
            self.source.store(null_mut(), Relaxed);
            outcome
        })
    }
}

#[pymethods]
impl Draws {
    fn __call__(&self) -> PyResult<f64> {
        let source = self.source.load(Relaxed);
        if source.is_null() {
            let message = "random() draws in on_enqueue and on_dequeue only";
            return Err(PyRuntimeError::new_err(message));
        }
        // It is not null only while `during` waits for the event. A thread of the class's own may draw meanwhile, one
        // thread at a time, since both this and `during` hold the GIL when they touch the pointer.
        Ok(unsafe { next(source) })
    }
}
