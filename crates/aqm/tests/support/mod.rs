//! Fixtures that the tests of all algorithms share: a port and a source of random numbers.

pub(crate) use aqm::Seeded as Random;
use aqm::{Bytes, Limit, Port, Rate, Span};

/// 10 Mbit/s and 500-byte packets: 2500 packets/s.
pub(crate) const PORT: Port = Port {
    rate: Rate::mbit_per_s(10),
    delay: Span::us(2500),
    limit: Limit::Packets(200),
    packet: Bytes(500),
    header: Bytes(0),
};
