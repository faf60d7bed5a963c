//! What is said of a link beyond its numbers: what it loses by chance, and when it gets another rate.

use crate::model::{Change, Gilbert, Link, Loss, RATES};
use crate::reader::{Reader, below};
use crate::source::tree::{Data, Node};
use aqm::params::{Field, Kind, Params as _, Range, Value};
use aqm::unit::{Quantity as _, Rate, Span};
use serde_json::{Map, Value as Json, json};
use std::fmt;

/// The keys of a link that say what is lost by chance, there and back.
pub(crate) const LOSSES: [&str; 2] = ["loss", "reverse_loss"];

impl Field for Change {
    const KIND: Kind = Kind::Quantity("\"20 s: 10 Mbit/s\"");

    fn read(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let (at, rate) = text.split_once(':')?;
        Some(Self { at: Span::parse(at)?, rate: Rate::parse(rate)? })
            .filter(|change| change.rate.within(&RATES))
    }

    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn within(&self, _: &Range) -> bool {
        true
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.rate)
    }
}

impl Link {
    /// The names of the queues that its algorithm keeps, where they have any.
    #[must_use]
    pub fn lanes(&self) -> &'static [&'static str] {
        self.aqm.as_ref().map_or(&[], aqm::AnyParams::lanes)
    }

    /// The start of the present round of changes.
    fn round(&self, now: Span) -> Span {
        self.changes_period.map_or(Span::ZERO, |period| period * (now.nanos() / period.nanos()))
    }

    /// Its rate from `now` on.
    #[must_use]
    pub fn rate_at(&self, now: Span) -> Rate {
        let since = Span::ns(now.nanos() - self.round(now).nanos());
        let last = self.changes.partition_point(|change| change.at <= since).checked_sub(1);
        last.map_or(self.rate, |last| self.changes[last].rate)
    }

    /// When its rate changes next after `now`.
    #[must_use]
    pub fn next_change(&self, now: Span) -> Option<Span> {
        let round = self.round(now);
        let next = self.changes.partition_point(|change| round + change.at <= now);
        // A round starts with `rate` again.
        let over = self.changes_period.map(|period| round + period);
        self.changes.get(next).map(|change| round + change.at).or(over)
    }

    /// Bits that it can send between two times.
    #[must_use]
    pub fn capacity(&self, from: Span, to: Span) -> f64 {
        let (mut bits, mut now) = (0.0, from);
        while now < to {
            let next = self.next_change(now).map_or(to, |next| next.min(to));
            bits += self.rate_at(now).bits() * Span::ns(next.nanos() - now.nanos()).secs();
            now = next;
        }
        bits
    }
}

impl Loss {
    /// The part of the packets that are lost in the long run.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        match self {
            Self::Bernoulli(p) => *p,
            Self::Gilbert(g) if g.good_to_bad == 0.0 => g.loss_good,
            Self::Gilbert(g) => {
                let bad = g.good_to_bad / (g.good_to_bad + g.bad_to_good);
                bad * g.loss_bad + (1.0 - bad) * g.loss_good
            }
        }
    }

    pub(crate) fn json(&self) -> Json {
        match self {
            Self::Bernoulli(p) => json!(p),
            Self::Gilbert(gilbert) => {
                let values = gilbert.values().into_iter();
                Json::Object(
                    values
                        .map(|(key, value)| (key.to_owned(), crate::compile::resolved::value(&value)))
                        .collect::<Map<_, _>>(),
                )
            }
        }
    }
}

impl Reader<'_> {
    /// The loss in `node`: a probability, or a table.
    pub(crate) fn loss(&mut self, node: &Node, path: &str) -> Option<Loss> {
        if let Data::Value(value) = &node.data {
            let p = f64::read(value).filter(|p| (0.0..=1.0).contains(p));
            if p.is_none() {
                let keys: Vec<&str> = Gilbert::specs().iter().map(|spec| spec.name).collect();
                let message = format!("must be a probability in [0, 1], or a table of {}", keys.join(", "));
                self.refuse(path, node.shown(), message);
            }
            return p.map(Loss::Bernoulli);
        }
        let gilbert: Gilbert = self.params(Some(node), path);
        Some(Loss::Gilbert(gilbert))
    }

    /// Whether changes come one after the other, the last before they start over.
    pub(crate) fn changes(&mut self, changes: Option<&[Change]>, period: Option<Span>, path: &str) {
        let changes = changes.unwrap_or_default();
        let at = below(path, "changes");
        if let Some(pair) = changes.windows(2).find(|pair| pair[0].at >= pair[1].at) {
            let message = format!("must be in order; {} is not after {}", pair[1].at, pair[0].at);
            self.refuse(&at, Some(format!("\"{}\"", pair[1])), message);
        }
        let Some(period) = period else { return };
        let key = below(path, "changes_period");
        match changes.last() {
            None => self.refuse(&key, Some(period.value().to_string()), "needs `changes`"),
            Some(last) if last.at >= period => {
                let message = format!("must be after the last of changes, {}", last.at);
                self.refuse(&key, Some(period.value().to_string()), message);
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::distribution::Law;
    use aqm::unit::{Bytes, Limit};

    #[test]
    fn a_change_reads_what_it_writes() {
        let change = Change::read(&Value::Text("20 s: 10 Mbit/s".into())).unwrap();
        assert_eq!(change, Change { at: Span::s(20), rate: Rate::mbit_per_s(10) });
        assert_eq!(Change::read(&change.value()), Some(change));
        for text in ["20 s", "20: 10 Mbit/s", "20 s: 0 bit/s", "20 s: 101 Gbit/s", "-1 s: 1 Mbit/s"] {
            assert_eq!(Change::read(&Value::Text(text.into())), None, "{text}");
        }
    }

    #[test]
    fn a_link_follows_its_changes_and_starts_over() {
        let change = |at, mbit| Change { at: Span::s(at), rate: Rate::mbit_per_s(mbit) };
        let mut link = Link {
            name: "x".to_owned(),
            from: 0,
            to: 1,
            rate: Rate::mbit_per_s(1),
            changes: vec![change(20, 10), change(30, 5)],
            changes_period: None,
            delay: Law::Fixed(Span::ZERO),
            loss: None,
            buffer: Limit::Packets(1),
            aqm: None,
            overhead: Bytes(0),
            packet: Bytes(500),
        };
        let rates = |link: &Link, times: &[u64]| -> Vec<f64> {
            times.iter().map(|&t| link.rate_at(Span::s(t)).bits() / 1e6).collect()
        };
        assert_eq!(rates(&link, &[0, 19, 20, 29, 30, 99]), [1.0, 1.0, 10.0, 10.0, 5.0, 5.0]);
        assert_eq!(link.next_change(Span::s(20)), Some(Span::s(30)));
        assert_eq!(link.next_change(Span::s(30)), None);
        assert_eq!(link.capacity(Span::s(10), Span::s(40)), 10e6 + 100e6 + 50e6);
        link.changes_period = Some(Span::s(40));
        assert_eq!(rates(&link, &[39, 40, 60, 70, 80]), [5.0, 1.0, 10.0, 5.0, 1.0]);
        assert_eq!(link.next_change(Span::s(35)), Some(Span::s(40)));
        assert_eq!(link.next_change(Span::s(40)), Some(Span::s(60)));
        assert_eq!(link.capacity(Span::ZERO, Span::s(80)), 2.0 * (20e6 + 100e6 + 50e6));
    }

    #[test]
    fn the_long_run_of_a_chain_weighs_its_states() {
        // A quarter of the time bad: 0.1/(0.1 + 0.3).
        let gilbert = Gilbert { good_to_bad: 0.1, bad_to_good: 0.3, loss_good: 0.02, loss_bad: 0.5 };
        assert!((Loss::Gilbert(gilbert).ratio() - (0.25 * 0.5 + 0.75 * 0.02)).abs() < 1e-12);
    }
}
