//! What varies in a link's delay: with time, and from packet to packet.

use aqm::params::{Field, ParamKind, Range, Value};
use aqm::unit::{Quantity, Span};
use aqm::{choice, params};
use std::fmt;

/// What varies in the delay of a link, and in the order and the number of the packets that it delivers.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Variation {
    /// The delays that replace the link's own, in order.
    pub delays: Vec<Waypoint>,
    /// The time after which they start over.
    pub period: Option<Span>,
    /// The spread of the delays of packets.
    pub jitter: Option<Jitter>,
    /// The values of its table, in units of its deviation; empty for other laws.
    pub table: Vec<f64>,
    /// The packets that are not delayed.
    pub reorder: Option<Reorder>,
    /// The probability that a packet arrives twice.
    pub duplicate: f64,
    /// Whether packets may overtake each other.
    pub overtaking: bool,
}

/// A delay that a link has from a time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waypoint {
    /// When the delay begins to change.
    pub since: Span,
    /// From when it holds; between the two the delay changes evenly.
    pub until: Span,
    /// The delay.
    pub delay: Span,
}

/// A time in which a link sends nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// Its begin.
    pub since: Span,
    /// Its end.
    pub until: Span,
}

choice! {
    /// A law of random delays.
    pub enum Law {
        /// Evenly within `deviation` on either side.
        Uniform = "uniform",
        /// The normal distribution.
        Normal = "normal",
        /// The Pareto distribution of shape 3, moved so that its mean is 0: few packets are very late.
        Pareto = "pareto",
        /// The values of a `file`, all equally often.
        Table = "table",
    }
}

params! {
    /// The spread of the delays of packets.
    pub struct Jitter {
        /// The law of the time that is added to a packet's delay: `uniform`, evenly within `deviation` on either side;
        /// `normal`; `pareto`, with shape 3 and mean 0; `table`, the values of `file`.
        law: Law = Law::Uniform, "";
        /// The standard deviation, and for `uniform` the greatest one, as in tc. It is at most the link's delay. A packet
        /// whose delay would be negative has none.
        deviation: Span = Span::ms(1), "s", Range::above(0.0, 3600.0);
        /// Correlation with what the packet before got, on the scale of the normal distribution: the law stays.
        correlation: f64 = 0.0, "", CORRELATIONS;
        /// The file of `table`: whole numbers, of which 8192 is one `deviation`, as in the `.dist` files of iproute2.
        /// Lines that begin with `#` are comments.
        file: String = String::new(), "";
    }
}

params! {
    /// Packets that arrive without the link's delay, and so before those that were sent earlier.
    pub struct Reorder {
        /// The probability that a packet which may be hurried is hurried.
        probability: f64 = 1.0, "", PROBABILITIES;
        /// Packets from one that may be hurried to the next one, at least: after a hurried packet, `gap` - 1 are delayed.
        gap: u32 = 1, "packets", Range::new(1.0, 1e9);
        /// Correlation with the choice before, on the scale of the normal distribution: the probability stays.
        correlation: f64 = 0.0, "", CORRELATIONS;
    }
}

pub(crate) const PROBABILITIES: Range = Range::new(0.0, 1.0);

/// Towards 1 a run sees few independent values.
const CORRELATIONS: Range = Range::new(0.0, 0.999);

/// What a 1 in a table of iproute2 is, as a part of a standard deviation.
const TABLE_SCALE: f64 = 8192.0;
/// Most values of a table: those of iproute2 have 4096.
const MOST_VALUES: usize = 1 << 20;

impl Variation {
    /// Whether it leaves every packet with the link's own delay.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self { overtaking: self.overtaking, ..Self::default() }
    }

    /// The delay at `now` of a link with the delay `own`, without jitter.
    #[must_use]
    pub fn delay_at(&self, now: Span, own: Span) -> Span {
        let now = self.period.map_or(now, |period| Span::ns(now.nanos() % period.nanos()));
        let Some(last) = self.delays.partition_point(|point| point.since <= now).checked_sub(1) else {
            return own;
        };
        let Waypoint { since, until, delay } = self.delays[last];
        if now >= until {
            return delay;
        }
        let before = last.checked_sub(1).map_or(own, |before| self.delays[before].delay);
        let part = (now.nanos() - since.nanos()) as f64 / (until.nanos() - since.nanos()) as f64;
        Span::from_secs(before.secs() + (delay.secs() - before.secs()) * part)
    }

    /// The shortest of the delays that it lists and of the link's own, without jitter.
    #[must_use]
    pub fn least(&self, own: Span) -> Span {
        self.delays.iter().map(|point| point.delay).fold(own, Span::min)
    }
}

/// The values of a table of iproute2, in standard deviations.
pub(crate) fn table(text: &str) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with('#')) {
        for word in line.split_whitespace() {
            let value: Option<i32> = word.parse().ok().filter(|value: &i32| value.abs() <= 1 << 20);
            let value = value.ok_or_else(|| {
                format!("line {number}: {word:?}: must be a whole number, of which 8192 is one deviation")
            })?;
            values.push(f64::from(value) / TABLE_SCALE);
        }
    }
    match values.len() {
        0 => Err("empty: must be whole numbers, of which 8192 is one deviation".to_owned()),
        1..=MOST_VALUES => Ok(values),
        many => Err(format!("{many} numbers: must be at most {MOST_VALUES}")),
    }
}

/// The two ends of `20 s..30 s`.
fn ends(text: &str) -> Option<(Span, Span)> {
    let (since, until) = text.split_once("..")?;
    Some((Span::parse(since)?, Span::parse(until)?))
}

impl Field for Waypoint {
    const KIND: ParamKind = ParamKind::Quantity("\"20 s: 50 ms\" or \"20 s..30 s: 50 ms\"");
    const UNITS: &'static str = <Span as Quantity>::UNITS;

    fn read(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let (when, delay) = text.split_once(':')?;
        let (since, until) = ends(when).or_else(|| Span::parse(when).map(|at| (at, at)))?;
        Some(Self { since, until, delay: Span::parse(delay)? }).filter(|_| since <= until)
    }

    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn within(&self, range: &Range) -> bool {
        self.delay.within(range)
    }
}

impl fmt::Display for Waypoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { since, until, delay } = self;
        if since == until { write!(f, "{since}: {delay}") } else { write!(f, "{since}..{until}: {delay}") }
    }
}

impl Field for Outage {
    const KIND: ParamKind = ParamKind::Quantity("\"20 s..21 s\"");
    const UNITS: &'static str = <Span as Quantity>::UNITS;

    fn read(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        ends(text).filter(|(since, until)| since < until).map(|(since, until)| Self { since, until })
    }

    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn within(&self, _: &Range) -> bool {
        true
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.since, self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waypoint(text: &str) -> Option<Waypoint> {
        Waypoint::read(&Value::Text(text.into()))
    }

    #[test]
    fn steps_ramps_and_outages_read_what_they_write() {
        for text in ["20 s: 50 ms", "20 s..30 s: 50 ms"] {
            assert_eq!(waypoint(text).unwrap().to_string(), text);
        }
        for text in ["20 s", "30 s..20 s: 50 ms", "20 s..: 1 ms", "-1 s: 5 ms", "20 s: 10 Mbit/s"] {
            assert_eq!(waypoint(text), None, "{text}");
        }
        let outage = |text: &str| Outage::read(&Value::Text(text.into()));
        assert_eq!(outage("20 s..20.5 s").unwrap().to_string(), "20 s..20.5 s");
        for text in ["20 s", "20 s..20 s", "21 s..20 s", "20 s: 1 s"] {
            assert_eq!(outage(text), None, "{text}");
        }
    }

    #[test]
    fn a_delay_follows_its_steps_and_ramps_and_starts_over() {
        let points = ["10 s: 50 ms", "20 s..30 s: 10 ms", "40 s..50 s: 30 ms"];
        let delays = points.map(|text| waypoint(text).unwrap()).to_vec();
        let mut variation = Variation { delays, ..Variation::default() };
        let at = |variation: &Variation, s: u64| variation.delay_at(Span::s(s), Span::ms(20)).secs() * 1e3;
        let times = [0, 9, 10, 20, 25, 30, 45, 50, 99];
        assert_eq!(times.map(|s| at(&variation, s)), [20.0, 20.0, 50.0, 50.0, 30.0, 10.0, 20.0, 30.0, 30.0]);
        assert_eq!(variation.least(Span::ms(20)), Span::ms(10));
        variation.period = Some(Span::s(60));
        assert_eq!([59, 60, 70, 85].map(|s| at(&variation, s)), [30.0, 20.0, 50.0, 30.0]);
    }

    #[test]
    fn a_table_has_whole_numbers_and_comments() {
        assert_eq!(table("# normal\n-8192 0\n 4096\n"), Ok(vec![-1.0, 0.0, 0.5]));
        assert_eq!(
            table("8192\n0.5\n").unwrap_err(),
            "line 2: \"0.5\": must be a whole number, of which 8192 is one deviation"
        );
        assert!(table("# only\n").unwrap_err().starts_with("empty"));
    }
}
