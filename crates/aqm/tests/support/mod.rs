//! Fixtures that the tests of all algorithms share: a port and a source of random numbers.

use aqm::{Bytes, Limit, Port, Rate, Span, Uniform};

/// 10 Mbit/s and 500-byte packets: 2500 packets/s.
pub(crate) const PORT: Port = Port {
    rate: Rate::mbit_per_s(10),
    delay: Span::us(2500),
    limit: Limit::Packets(200),
    packet: Bytes(500),
    header: Bytes(0),
};

/// SplitMix64: a seeded source small enough to be obviously right.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Uniform for Random {
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
