//! A queue for programs in Python, whose packets are any objects.

use crate::own::caught;
use crate::value;
use aqm::params::{Params as _, Range, Value};
use aqm::user_defined::split;
use aqm::{Algorithm as _, AnyParams, Bytes, CLASSES, Ecn, Header, Limit, Outcome, Port, Rate, Span, Time};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Display;

aqm::params! {
    /// The link of a queue, and the room of the queue.
    struct Link {
        /// The link's rate.
        rate: Rate = Rate::mbit_per_s(10), "bit/s", Range::new(1.0, 1e15);
        /// The link's one-way propagation delay.
        delay: Span = Span::ZERO, "s";
        /// Packets that may wait.
        packets: Option<u32> = None, "packets", Range::new(1.0, 4_294_967_295.0);
        /// Bytes that may wait.
        bytes: Option<Bytes> = None, "bytes", Range::new(1.0, 1e15);
        /// The usual size of a packet.
        packet_size: Bytes = Bytes(1500), "bytes", Range::new(1.0, 1e9);
    }
}

impl Link {
    /// Reads the settings, whose numbers are in base units.
    fn read(given: &BTreeMap<String, Bound<'_, PyAny>>) -> PyResult<Port> {
        let mut link = Self::default();
        for (name, given) in given {
            let spec = Self::specs().iter().find(|spec| spec.name == name);
            let unit = match spec.map(|spec| spec.unit) {
                Some("bytes") => "B",
                unit => unit.unwrap_or_default(),
            };
            let value = match value::read(name, given)? {
                Value::Integer(number) if unit != "packets" => Value::Text(format!("{number} {unit}")),
                Value::Float(number) => Value::Text(format!("{number} {unit}")),
                value => value,
            };
            link.set(name, &value).map_err(refused)?;
        }
        let limit = match (link.packets, link.bytes) {
            (Some(packets), None) => Limit::Packets(packets),
            (None, Some(bytes)) => Limit::Bytes(bytes.0),
            _ => return Err(refused("a queue has a limit: give either packets or bytes")),
        };
        Ok(Port { delay: link.delay, packet: link.packet_size, ..Port::new(link.rate, limit) })
    }
}

fn refused(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The discipline that a text states.
fn discipline(aqm: &str) -> PyResult<AnyParams> {
    if let Some((reference, _)) = split(aqm) {
        AnyParams::user_defined(reference, None).map_err(refused)?;
    }
    aqm.parse().map_err(refused)
}

/// The numbers of the kernel's program of a discipline, in the order of its fields; `link` is that of a `Qdisc`.
#[pyfunction]
pub(crate) fn kernel_numbers(
    aqm: &str,
    link: BTreeMap<String, Bound<'_, PyAny>>,
    fields: &str,
) -> PyResult<Vec<i64>> {
    let (params, port) = (discipline(aqm)?, Link::read(&link)?);
    params.check_on(&port).and_then(|()| params.fixed(&port, fields)).map_err(refused)
}

/// A time in seconds as one that the queue knows.
fn time(now: f64) -> PyResult<Time> {
    if !(0.0..9e9).contains(&now) {
        return Err(refused(format!("now = {now}: must be a time in seconds, at least 0 and less than 9e9")));
    }
    Ok(Time::ZERO + Span::from_secs(now))
}

/// What `enqueue` may know of a packet besides its size, its flow and its ECN bits: `dscp`, `source`, `destination`,
/// `udp` and `service`.
type Rest = (i64, i64, i64, bool, i64);

/// The argument `name` of `enqueue`, if it is in the range.
fn within<T: TryFrom<i64>>(name: &str, given: i64, low: i64, high: i64) -> PyResult<T> {
    let value = T::try_from(given).ok().filter(|_| (low..=high).contains(&given));
    value.ok_or_else(|| refused(format!("{name} = {given}: must be {low} to {high}")))
}

/// See `aqmlab.Queue`.
#[pyclass(module = "aqmlab._core")]
pub(crate) struct Qdisc {
    /// `None` once a user's own algorithm has raised an exception in it.
    queue: Option<Box<aqm::Qdisc<Py<PyAny>>>>,
    interpreted: bool,
}

impl Qdisc {
    fn queue(&self) -> PyResult<&aqm::Qdisc<Py<PyAny>>> {
        self.queue.as_deref().ok_or_else(ended)
    }

    /// Does something with the queue, which ends with an exception of a user's own algorithm.
    fn with<T>(&mut self, work: impl FnOnce(&mut aqm::Qdisc<Py<PyAny>>) -> T) -> PyResult<T> {
        let queue = self.queue.as_deref_mut().ok_or_else(ended)?;
        let done = caught(self.interpreted, || work(queue));
        if done.is_err() {
            self.queue = None;
        }
        done
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the queue has ended with an exception of its discipline")
}

#[pymethods]
impl Qdisc {
    #[new]
    fn new(
        aqm: &str,
        link: BTreeMap<String, Bound<'_, PyAny>>,
        seed: u64,
        interpreted: bool,
    ) -> PyResult<Self> {
        let port = Link::read(&link)?;
        let params = discipline(aqm)?;
        let queue = aqm::Qdisc::new(&params, &port, seed).map_err(refused)?;
        if queue.algorithm().reads_acks() {
            return Err(refused(
                "ack_filter: must be off, as enqueue does not state what an ACK acknowledges",
            ));
        }
        Ok(Self { queue: Some(Box::new(queue)), interpreted })
    }

    fn enqueue(
        &mut self,
        now: f64,
        packet: Py<PyAny>,
        size: i64,
        flow: u64,
        ecn: i64,
        rest: Rest,
    ) -> PyResult<bool> {
        let now = time(now)?;
        let (dscp, source, destination, udp, service) = rest;
        let header = Header {
            flow,
            ecn: Ecn::of(within("ecn", ecn, 0, 3)?),
            dscp: within("dscp", dscp, 0, 63)?,
            source: within("source", source, 0, u32::MAX.into())?,
            destination: within("destination", destination, 0, u32::MAX.into())?,
            udp,
            class: within("service", service, 1, CLASSES.into())?,
            ..Header::new(within("size", size, 1, u32::MAX.into())?)
        };
        let outcome = self.with(|queue| queue.enqueue(now, header, packet))?;
        Ok(matches!(outcome, Outcome::Queued | Outcome::Marked))
    }

    fn dequeue(&mut self, now: f64) -> PyResult<Option<(Py<PyAny>, u8)>> {
        let now = time(now)?;
        let sent = self.with(|queue| queue.dequeue(now))?;
        Ok(sent.map(|(packet, ecn)| (packet, ecn as u8)))
    }

    /// The packets that the last call dropped, and whether there was no room for them.
    fn dropped(&mut self) -> PyResult<Vec<(Py<PyAny>, bool)>> {
        let dropped = self.queue.as_deref_mut().ok_or_else(ended)?.dropped();
        Ok(dropped.map(|(packet, outcome)| (packet, outcome == Outcome::Overflowed)).collect())
    }

    fn paused_until(&self) -> PyResult<Option<f64>> {
        Ok(self.queue()?.paused_until().map(Time::secs))
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.queue()?.len())
    }

    #[getter]
    fn bytes(&self) -> PyResult<u64> {
        Ok(self.queue()?.bytes())
    }

    /// A packet may be in a circle with the queue in which it waits.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.queue.iter().flat_map(|queue| queue.packets()).try_for_each(|packet| visit.call(packet))
    }

    fn __clear__(&mut self) {
        self.queue = None;
    }
}
