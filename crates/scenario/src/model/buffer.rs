//! The size of a buffer as a file says it.

use aqm::params::{Field, ParamKind, Range, Value};
use aqm::unit::{Limit, Quantity as _, Span, in_base_unit};
use std::fmt;

/// The size of a buffer: an amount, or what depends on the link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Buffer {
    /// Packets or bytes.
    Limit(Limit),
    /// The bytes that the link sends in this time.
    Time(Span),
    /// This many bandwidth-delay products.
    Bdp(f64),
}

impl Field for Buffer {
    const KIND: ParamKind = ParamKind::Quantity("\"200 packets\", \"100 kB\", \"100 ms\" or \"2 BDP\"");
    const UNITS: &'static str =
        "packets; B, kB, MB, GB, KiB, MiB, GiB; s, ms, us, ns, min, h at the link's rate; BDP";

    fn read(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let limit = Limit::parse(text).map(Self::Limit);
        limit.or_else(|| Span::parse(text).map(Self::Time)).or_else(|| match in_base_unit(text) {
            Some((number, "BDP")) if number.is_finite() => Some(Self::Bdp(number)),
            _ => None,
        })
    }

    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    /// What depends on the link is compared with the range once it is known.
    fn within(&self, range: &Range) -> bool {
        match *self {
            Self::Limit(Limit::Packets(packets)) => range.contains(f64::from(packets)),
            Self::Limit(Limit::Bytes(bytes) | Limit::BytesBefore(bytes)) => range.contains(bytes as f64),
            Self::Time(time) => time > Span::ZERO,
            Self::Bdp(number) => number > 0.0,
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => limit.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Bdp(number) => write!(f, "{number} BDP"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Buffer> {
        Buffer::read(&Value::Text(text.into()))
    }

    #[test]
    fn a_buffer_reads_what_it_writes() {
        let forms = [
            ("200 packets", Buffer::Limit(Limit::Packets(200))),
            ("100000 B", Buffer::Limit(Limit::Bytes(100_000))),
            ("100 ms", Buffer::Time(Span::ms(100))),
            ("0.5 BDP", Buffer::Bdp(0.5)),
        ];
        for (text, buffer) in forms {
            assert_eq!(read(text), Some(buffer));
            assert_eq!(buffer.to_string(), text);
        }
    }

    #[test]
    fn a_buffer_is_not_a_rate_and_not_without_a_unit() {
        for text in ["10 Mbit/s", "10 Mb", "200", "BDP", "1e999 BDP", "nan BDP", "2 Bdp"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
