//! The TCP segments of a capture, in columns.

use crate::series::Stream;
use ::capture::{Decoder, ip_packet, is_capture, segment};
use arrow_array::{ArrayRef, Int64Array, UInt32Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// The columns beside the time.
const NAMES: [&str; 15] = [
    "flow",
    "interface",
    "flags",
    "seq",
    "ack",
    "window",
    "payload",
    "headers",
    "time",
    "echo",
    "sack_from",
    "sack_to",
    "sack_last",
    "largest",
    "scale",
];

/// An address and a port.
type End = (String, u16);

/// Reads a capture, of which the bytes come in parts; `_core.pyi` describes it.
#[pyclass(module = "aqmlab._core")]
#[derive(Default)]
pub(crate) struct Capture {
    decoder: Decoder,
    rest: Vec<u8>,
    flows: HashMap<[SocketAddr; 2], u32>,
    frames: u64,
}

#[pymethods]
impl Capture {
    #[classattr]
    const SYN: u32 = 1;
    #[classattr]
    const ACK: u32 = 2;
    #[classattr]
    const TIMES: u32 = 4;
    #[classattr]
    const SACKED: u32 = 8;
    #[classattr]
    const NO_SCALE: u32 = 255;

    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[staticmethod]
    fn begins(bytes: &[u8]) -> bool {
        is_capture(bytes)
    }

    fn feed(&mut self, py: Python<'_>, bytes: &[u8]) -> PyResult<Stream> {
        self.rest.extend(bytes);
        py.detach(|| self.segments()).map_err(PyValueError::new_err)
    }

    fn end(&self) -> PyResult<()> {
        self.decoder.end(&self.rest).map_err(PyValueError::new_err)
    }

    #[getter]
    fn frames(&self) -> u64 {
        self.frames
    }

    #[getter]
    fn missed(&self) -> u64 {
        self.decoder.missed()
    }

    #[getter]
    fn flows(&self) -> Vec<(End, End)> {
        let mut found: Vec<_> = self.flows.iter().collect();
        found.sort_by_key(|(_, number)| **number);
        let end = |end: &SocketAddr| (end.ip().to_string(), end.port());
        found.into_iter().map(|([from, to], _)| (end(from), end(to))).collect()
    }
}

impl Capture {
    fn segments(&mut self) -> Result<Stream, String> {
        let mut nanos = Vec::new();
        let mut columns: [Vec<u32>; NAMES.len()] = Default::default();
        let mut at = 0;
        loop {
            let (frame, read) = self.decoder.next(&self.rest[at..])?;
            at += read;
            let Some(frame) = frame else { break };
            self.frames += 1;
            let packet = ip_packet(frame.link, frame.data, frame.size);
            let Some(found) = packet.and_then(|packet| segment(&packet)) else { continue };
            let next = self.flows.len() as u32;
            let flow = *self.flows.entry(found.ends).or_insert(next);
            let flags = [
                (found.syn, Self::SYN),
                (found.ack.is_some(), Self::ACK),
                (found.times.is_some(), Self::TIMES),
                (found.sacked.is_some(), Self::SACKED),
            ];
            let flags = flags.iter().filter(|(is, _)| *is).map(|(_, flag)| flag).sum();
            let [time, echo] = found.times.unwrap_or_default();
            let [from, to, last] = found.sacked.unwrap_or_default();
            let row = [
                flow,
                frame.interface,
                flags,
                found.seq,
                found.ack.unwrap_or(0),
                found.window.into(),
                found.payload,
                found.headers,
                time,
                echo,
                from,
                to,
                last,
                found.largest.unwrap_or(0).into(),
                found.scale.map_or(Self::NO_SCALE, u32::from),
            ];
            nanos.push(i64::try_from(frame.nanos).unwrap_or(i64::MAX));
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        self.rest.drain(..at);
        let columns = NAMES.iter().zip(columns).map(|(name, values)| {
            let values: ArrayRef = Arc::new(UInt32Array::from(values));
            ((*name).to_owned(), values)
        });
        let nanos: ArrayRef = Arc::new(Int64Array::from(nanos));
        Ok(Stream::of(std::iter::once(("nanos".to_owned(), nanos)).chain(columns)))
    }
}
