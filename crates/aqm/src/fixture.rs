//! Fixtures that the unit tests of the algorithms share.

use crate::contract::{Backlog, Packet, Port, Uniform};
use crate::unit::{Bytes, Limit, Rate, Span};
use serde_json::Value;

/// The LRED paper's bottleneck: 10 Mbit/s, 500-byte packets, hence 2500 packets/s; a buffer of 200 packets.
pub(crate) const PORT: Port = Port {
    rate: Rate::mbit_per_s(10),
    delay: Span::us(2500),
    limit: Limit::Packets(200),
    packet: Bytes(500),
    header: Bytes(0),
};

/// A full-sized packet of an ECN-capable transport.
pub(crate) const PACKET: Packet = Packet::new(500, true);

/// A backlog of `packets` packets of 500 bytes; the buffer has room.
pub(crate) fn waiting(packets: u32) -> Backlog {
    Backlog { packets, bytes: 500 * u64::from(packets), full: false }
}

/// The backlog of a full buffer.
pub(crate) fn full() -> Backlog {
    Backlog { full: true, ..waiting(200) }
}

/// A source that always draws the same number.
pub(crate) struct Draw(pub(crate) f64);

impl Uniform for Draw {
    fn uniform(&mut self) -> f64 {
        self.0
    }
}

/// A set of the test vectors, which an independent program computed.
pub(crate) fn vectors(name: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../tests/vectors.json")).expect("valid JSON");
    all[name].clone()
}

/// The numbers of a JSON array.
pub(crate) fn numbers(array: &Value) -> Vec<f64> {
    array.as_array().expect("an array").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// Asserts that two numbers are equal up to rounding.
#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found} instead of {expected}");
}
