//! Time, size and rate: integer newtypes internally, text with units at the interfaces.

use crate::float::round;
use alloc::string::String;
use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

const NS_PER_S: f64 = 1e9;

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Span(u64);

/// A data rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Rate(u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// A frequency in Hz.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
pub struct Frequency(pub f64);

/// The capacity of a buffer, without the packet in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// This many packets of any size.
    Packets(u32),
    /// This many bytes.
    Bytes(u64),
    /// A packet is accepted while fewer bytes wait, so that the last one may exceed the limit.
    BytesBefore(u64),
}

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// The point `ns` nanoseconds after the start.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    #[must_use]
    pub fn secs(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }

    /// The time since `earlier`, or zero if that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// `n` nanoseconds.
    #[must_use]
    pub const fn ns(n: u64) -> Self {
        Self(n)
    }

    /// `n` microseconds.
    #[must_use]
    pub const fn us(n: u64) -> Self {
        Self(n * 1_000)
    }

    /// `n` milliseconds.
    #[must_use]
    pub const fn ms(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// `n` seconds.
    #[must_use]
    pub const fn s(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }

    /// The span nearest to `secs` seconds; negative and NaN give zero, too long gives the longest.
    #[must_use]
    pub fn from_secs(secs: f64) -> Self {
        Self(round(secs * NS_PER_S) as u64)
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[must_use]
    pub fn secs(self) -> f64 {
        self.0 as f64 / NS_PER_S
    }
}

impl Rate {
    /// `n` bit/s.
    #[must_use]
    pub const fn bit_per_s(n: u64) -> Self {
        Self(n)
    }

    /// `n` Mbit/s.
    #[must_use]
    pub const fn mbit_per_s(n: u64) -> Self {
        Self(n * 1_000_000)
    }

    /// bit/s, which are whole.
    #[must_use]
    pub const fn whole_bits(self) -> u64 {
        self.0
    }

    /// bit/s.
    #[must_use]
    pub fn bits(self) -> f64 {
        self.0 as f64
    }

    /// Packets of `size` bytes per second.
    #[must_use]
    pub fn packets(self, size: Bytes) -> f64 {
        self.0 as f64 / (8.0 * size.0 as f64)
    }

    /// The time that `bytes` bytes take on the wire, rounded up so that no link exceeds its rate.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn transmission(self, bytes: u32) -> Span {
        Span((u64::from(bytes) * 8_000_000_000).div_ceil(self.0))
    }
}

impl Limit {
    /// Whether a packet of `size` bytes does not fit behind `packets` packets with `bytes` bytes in total.
    #[inline]
    #[must_use]
    pub fn refuses(self, packets: u32, bytes: u64, size: u32) -> bool {
        match self {
            Self::Packets(limit) => packets >= limit,
            Self::Bytes(limit) => bytes + u64::from(size) > limit,
            Self::BytesBefore(limit) => bytes >= limit,
        }
    }

    /// Whether packets with these bytes in total are within it, the last of them of `last` bytes.
    pub(crate) fn holds(self, packets: u32, bytes: u64, last: impl FnOnce() -> u32) -> bool {
        match self {
            Self::Packets(limit) => packets <= limit,
            Self::Bytes(limit) => bytes <= limit,
            Self::BytesBefore(limit) => bytes <= limit + u64::from(last()),
        }
    }

    /// The limit in packets of `mean` bytes.
    #[must_use]
    pub fn packets(self, mean: Bytes) -> f64 {
        match self {
            Self::Packets(limit) => f64::from(limit),
            Self::Bytes(limit) | Self::BytesBefore(limit) => limit as f64 / mean.0 as f64,
        }
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Self) -> Span {
        debug_assert!(self >= earlier, "time runs backwards: {self:?} - {earlier:?}");
        Span(self.0.wrapping_sub(earlier.0))
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    #[inline]
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}

/// The units of a quantity, each with its size in the base unit.
type Units = &'static [(&'static str, f64)];

/// The units in which times are written, then their other spellings.
const TIME: Units = &[
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("ns", 1e-9),
    ("µs", 1e-6), // the micro sign
    ("μs", 1e-6), // the Greek letter
    ("min", 60.0),
    ("h", 3600.0),
    ("sec", 1.0),
    ("second", 1.0),
    ("seconds", 1.0),
    ("msec", 1e-3),
    ("millisecond", 1e-3),
    ("milliseconds", 1e-3),
    ("usec", 1e-6),
    ("microsecond", 1e-6),
    ("microseconds", 1e-6),
    ("nanosecond", 1e-9),
    ("nanoseconds", 1e-9),
    ("minute", 60.0),
    ("minutes", 60.0),
    ("hour", 3600.0),
    ("hours", 3600.0),
];
/// The units in which rates are written; `data` reads their other spellings.
const RATE: Units = &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
const FREQUENCY: Units = &[("Hz", 1.0), ("kHz", 1e3), ("/s", 1.0), ("/min", 1.0 / 60.0)];
const PACKETS: Units = &[("packets", 1.0), ("packet", 1.0), ("pkts", 1.0), ("pkt", 1.0), ("p", 1.0)];
const BDP: Units = &[("BDP", 1.0), ("BDPs", 1.0), ("bdp", 1.0)];

/// The size of a unit, if it is one of this kind.
type Reading = fn(&str) -> Option<f64>;

fn listed(unit: &str, units: Units) -> Option<f64> {
    units.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
}

fn time(unit: &str) -> Option<f64> {
    listed(unit, TIME)
}

/// A rate in bit/s: what [`data`] reads, per second, or bits alone, as tc and ns-2 write it: `5mbit`, `10Mb`.
fn rate(unit: &str) -> Option<f64> {
    let (amount, per_second) = match ["/s", "/sec", "/second"].iter().find_map(|per| unit.strip_suffix(per)) {
        Some(amount) => (amount.trim_end(), true),
        None => unit.strip_suffix("ps").map_or((unit, false), |amount| (amount, true)),
    };
    let (bits, is_bytes) = data(amount)?;
    (per_second || !is_bytes && unit != "b").then_some(bits)
}

/// A size in bytes.
fn size(unit: &str) -> Option<f64> {
    data(unit).filter(|(_, is_bytes)| *is_bytes).map(|(bits, _)| bits / 8.0)
}

/// An amount of data in bits, and whether it was written in bytes. In the words "bit" and "byte", case does not matter.
/// Where one letter stands for them, `b` is a bit and `B` a byte: so with `B`, a prefix in the wrong case (`mB`) is
/// no unit, because what the writer meant by either letter is uncertain.
fn data(unit: &str) -> Option<(f64, bool)> {
    let lower = unit.to_ascii_lowercase();
    let word = ["bits", "bit", "bytes", "byte"].into_iter().find(|word| lower.ends_with(word));
    let (prefix, is_bytes) = match word {
        Some(word) => (&unit[..unit.len() - word.len()], word.starts_with("byte")),
        None => unit
            .strip_suffix('B')
            .map(|prefix| (prefix, true))
            .or(unit.strip_suffix('b').map(|prefix| (prefix, false)))?,
    };
    let factor = match prefix {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "m" if word.is_some() || !is_bytes => 1e6,
        "g" if word.is_some() || !is_bytes => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        _ => return None,
    };
    Some((if is_bytes { 8.0 * factor } else { factor }, is_bytes))
}

fn frequency(unit: &str) -> Option<f64> {
    listed(unit, FREQUENCY)
}

fn packets(unit: &str) -> Option<f64> {
    listed(unit, PACKETS)
}

fn bdp(unit: &str) -> Option<f64> {
    listed(unit, BDP)
}

/// Reads `text` as a number of base units, if `unit` reads its unit.
fn quantity(text: &str, unit: Reading) -> Option<f64> {
    let text = text.trim();
    let cut = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E' | '_')))?;
    let number: f64 = text[..cut].trim().replace('_', "").parse().ok()?;
    unit(text[cut..].trim()).map(|size| number * size)
}

/// Reads `text`, a quantity of any kind, as a number of base units and that base unit: `"10 ms"` is 0.01 and `"s"`.
#[must_use]
pub fn in_base_unit(text: &str) -> Option<(f64, &'static str)> {
    let base: [(Reading, _); 6] = [
        (time, "s"),
        (rate, "bit/s"),
        (size, "bytes"),
        (frequency, "/s"),
        (packets, "packets"),
        (bdp, "BDP"),
    ];
    base.into_iter().find_map(|(reading, unit)| Some((quantity(text, reading)?, unit)))
}

/// `value` in the largest of `units` in which it is at least one.
fn written(value: f64, units: Units) -> String {
    let fits = |&&(_, size): &&(&str, f64)| value >= size;
    let largest = units.iter().filter(fits).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(&units[0]);
    // Nine digits hide the rounding of the division, and suffice for a whole number of nanoseconds.
    let number = format!("{:.9}", value / largest.1);
    format!("{} {}", number.trim_end_matches('0').trim_end_matches('.'), largest.0)
}

/// A quantity that is written as a number and a unit.
pub trait Quantity: Sized {
    /// An example, for messages: `"2.5 ms"`.
    const EXAMPLE: &'static str;
    /// Its units, for messages.
    const UNITS: &'static str;
    /// Reads `text`; `None` unless it is a number with a unit of this quantity.
    fn parse(text: &str) -> Option<Self>;
}

/// `x` as an unsigned integer, unless it is negative, not finite or too large to be exact.
fn exact(x: f64) -> Option<u64> {
    (0.0..9.2e18).contains(&x).then(|| round(x) as u64)
}

impl Quantity for Span {
    const EXAMPLE: &'static str = "\"2.5 ms\"";
    const UNITS: &'static str = "s, ms, us, ns, min, h";
    fn parse(text: &str) -> Option<Self> {
        exact(quantity(text, time)? * NS_PER_S).map(Self)
    }
}

impl Quantity for Rate {
    const EXAMPLE: &'static str = "\"10 Mbit/s\"";
    const UNITS: &'static str =
        "bit/s, kbit/s, Mbit/s, Gbit/s (also Mb/s, Mbps, mbit); bytes per second are kB/s, MB/s, GB/s";
    fn parse(text: &str) -> Option<Self> {
        exact(quantity(text, rate)?).map(Self)
    }
}

impl Quantity for Bytes {
    const EXAMPLE: &'static str = "\"500 B\"";
    const UNITS: &'static str = "B, kB, MB, GB, KiB, MiB, GiB";
    fn parse(text: &str) -> Option<Self> {
        exact(quantity(text, size)?).map(Self)
    }
}

impl Quantity for Frequency {
    const EXAMPLE: &'static str = "\"170 Hz\" or \"30 /s\"";
    const UNITS: &'static str = "Hz, kHz, /s, /min";
    fn parse(text: &str) -> Option<Self> {
        quantity(text, frequency).map(Self)
    }
}

impl Quantity for Limit {
    const EXAMPLE: &'static str = "\"200 packets\" or \"100 kB\"";
    const UNITS: &'static str = "packets, B, kB, MB, GB, KiB, MiB, GiB";
    fn parse(text: &str) -> Option<Self> {
        if let Some(packets) = quantity(text, packets) {
            return u32::try_from(exact(packets)?).ok().map(Self::Packets);
        }
        Bytes::parse(text).map(|bytes| Self::Bytes(bytes.0))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&written(self.secs(), &TIME[..4]))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&written(self.bits(), RATE))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", self.0)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n} packets"),
            Self::Bytes(n) | Self::BytesBefore(n) => write!(f, "{n} B"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_what_they_write() {
        for text in ["2.5 ms", "200 s", "1 ns", "17.123456 ms", "0.45 s"] {
            let span = Span::parse(text).unwrap();
            assert_eq!(Span::parse(&span.to_string()), Some(span), "{text} printed as {span}");
        }
        assert_eq!(Span::ms(2).to_string(), "2 ms");
        assert_eq!(Rate::mbit_per_s(10).to_string(), "10 Mbit/s");
        assert_eq!(Limit::parse("100 kB"), Some(Limit::Bytes(100_000)));
        assert_eq!(Limit::parse("200 packets"), Some(Limit::Packets(200)));
    }

    #[test]
    fn a_quantity_of_any_kind_has_a_base_unit() {
        assert_eq!(in_base_unit("10 ms"), Some((0.01, "s")));
        assert_eq!(in_base_unit("10 Mbit/s"), Some((1e7, "bit/s")));
        assert_eq!(in_base_unit("1.5kB"), Some((1500.0, "bytes")));
        assert_eq!(in_base_unit("30 /s"), Some((30.0, "/s")));
        assert_eq!(in_base_unit("200 packets"), Some((200.0, "packets")));
        assert_eq!((in_base_unit("200"), in_base_unit("rfc")), (None, None));
    }

    #[test]
    fn nonsense_is_not_a_quantity() {
        for text in ["", "ms", "2.5", "2.5 parsecs", "-1 ms", "nan s", "inf s", "1e30 s", "1 ms 2"] {
            assert_eq!(Span::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_packet_fits_whole_or_sticks_out() {
        let refused = |limit: Limit| {
            [(2999, 1), (2999, 2), (3000, 1)].map(|(bytes, size)| limit.refuses(3, bytes, size))
        };
        assert_eq!(refused(Limit::Bytes(3000)), [false, true, true]);
        assert_eq!(refused(Limit::BytesBefore(3000)), [false, false, true]);
    }

    #[test]
    fn transmission_never_exceeds_the_rate() {
        assert_eq!(Rate::mbit_per_s(10).transmission(500), Span::us(400));
        // 1000 B at 45 Mbit/s: 177 777.7… ns, rounded up.
        assert_eq!(Rate::mbit_per_s(45).transmission(1000), Span::ns(177_778));
    }
}
