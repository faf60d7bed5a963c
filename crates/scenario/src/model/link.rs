//! A link between two nodes: its rate and the changes of it, its delay, its buffer, its random losses, and what becomes of
//! ECN there.

use super::distribution::Distribution;
use super::wifi::Air;
use aqm::Port;
use aqm::aqm::AnyParams;
use aqm::framing::Framing;
use aqm::params::{Field, ParamKind, Range, Value};
use aqm::unit::{Bytes, Limit, Quantity, Rate, Span};
use aqm::{choice, params};
use std::fmt;

/// A directed link and the queue in front of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// A unique name; the reverse of a duplex link `x` is `x:reverse`.
    pub name: String,
    /// Index of the node that sends.
    pub from: usize,
    /// Index of the node that receives.
    pub to: usize,
    /// Its rate.
    pub rate: Rate,
    /// The changes of its rate, in order.
    pub changes: Vec<Change>,
    /// The time after which the changes start over.
    pub changes_period: Option<Span>,
    /// Whether the changes are a recording, which starts over. Then a packet in transmission goes on at the new rate, and
    /// a rate may be 0; otherwise the packet keeps its rate.
    pub recorded: bool,
    /// Its one-way propagation delay, drawn for each run; the same in both directions.
    pub delay: Distribution<Span>,
    /// Its random losses, in front of the buffer.
    pub loss: Option<Loss>,
    /// What a middlebox there does to ECN.
    pub ecn_path: EcnPath,
    /// The buffer in front of it.
    pub buffer: Limit,
    /// The algorithm on that buffer; `None` for a drop-tail buffer that is not measured.
    pub aqm: Option<AnyParams>,
    /// Bytes that the link adds to every packet.
    pub overhead: Bytes,
    /// Its frames or cells, which lengthen the transmission alone.
    pub framing: Option<Framing>,
    /// If it is half-duplex Ethernet, which shares its medium with the link back: how long a signal takes to the other end.
    pub half_duplex: Option<Span>,
    /// If it is a part of a wireless LAN: which.
    pub wifi: Option<Air>,
    /// The size of the usual data packet here, including `overhead`, for algorithms that count in packets.
    pub packet: Bytes,
}

/// A change of a link's rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// The time of the change.
    pub at: Span,
    /// The new rate.
    pub rate: Rate,
}

/// The random losses of a link.
#[derive(Clone, PartialEq, Debug)]
pub enum Loss {
    /// Each packet is lost with this probability.
    Bernoulli(f64),
    /// Losses depend on the state of a Markov chain.
    Gilbert(Gilbert),
}

choice! {
    /// What a middlebox does to ECN. Packets are lost, and fields cleared, in front of the link's queue; marks are erased
    /// behind it. [RFC 3168, sections 6.1.1.1 and 18; RFC 3360]
    pub enum EcnPath {
        /// Nothing.
        Pass = "pass",
        /// The ECN field of every packet becomes Not-ECT: bleaching.
        Clear = "clear",
        /// CE becomes the codepoint with which the packet was sent.
        ClearMarks = "clear-marks",
        /// Packets of ECN-capable transports are lost.
        Drop = "drop",
        /// SYNs that ask for ECN are lost.
        Refuse = "refuse",
    }
}

const PROBABILITY: Range = Range::new(0.0, 1.0);

params! {
    /// Losses in bursts (Gilbert, Elliott): in the good and in the bad state, each packet is lost with that state's
    /// probability; then the state may change. The initial state is good.
    pub struct Gilbert {
        /// Probability, after each packet, of a change from the good to the bad state.
        good_to_bad: f64 = 0.01, "", PROBABILITY;
        /// Probability, after each packet, of a change from the bad to the good state: bursts last 1 / `bad_to_good`
        /// packets.
        bad_to_good: f64 = 0.3, "", PROBABILITY;
        /// Loss probability in the good state.
        loss_good: f64 = 0.0, "", PROBABILITY;
        /// Loss probability in the bad state.
        loss_bad: f64 = 1.0, "", PROBABILITY;
    }
}

// At higher rates, a packet's time is too few whole nanoseconds to represent the rate.
pub(crate) const RATES: Range = Range::new(1e3, 1e11);

impl Field for Change {
    const KIND: ParamKind = ParamKind::Quantity("\"20 s: 10 Mbit/s\"");
    const UNITS: &'static str = <Rate as Quantity>::UNITS;

    fn read(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        let (at, rate) = text.split_once(':')?;
        Some(Self { at: Span::parse(at)?, rate: Rate::parse(rate)? })
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
    /// The names of its algorithm's queues, if the algorithm names them.
    #[must_use]
    pub fn lanes(&self) -> &'static [&'static str] {
        self.aqm.as_ref().map_or(&[], aqm::AnyParams::lanes)
    }

    /// Whether packets come to its queue by a gate: anything may become of them there, or its medium is shared.
    #[must_use]
    pub const fn has_gate(&self) -> bool {
        self.loss.is_some()
            || self.is_shared()
            || !matches!(self.ecn_path, EcnPath::Pass | EcnPath::ClearMarks)
    }

    /// Whether other links send on its medium, too.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.half_duplex.is_some() || self.wifi.is_some()
    }

    /// The port that its algorithm is built for, at the rate of the start and with this propagation delay.
    #[must_use]
    pub const fn port(&self, delay: Span) -> Port {
        Port { rate: self.rate, delay, limit: self.buffer, packet: self.packet, header: self.overhead }
    }

    /// The start of the present round of changes.
    fn round(&self, now: Span) -> Span {
        self.changes_period.map_or(Span::ZERO, |period| period * (now.nanos() / period.nanos()))
    }

    /// The rate from `now` on.
    #[must_use]
    pub fn rate_at(&self, now: Span) -> Rate {
        let since = Span::ns(now.nanos() - self.round(now).nanos());
        let last = self.changes.partition_point(|change| change.at <= since).checked_sub(1);
        last.map_or(self.rate, |last| self.changes[last].rate)
    }

    /// The time of the next rate change after `now`.
    #[must_use]
    pub fn next_change(&self, now: Span) -> Option<Span> {
        let round = self.round(now);
        let next = self.changes.partition_point(|change| round + change.at <= now);
        // Each round starts with `rate`.
        let over = self.changes_period.map(|period| round + period);
        self.changes.get(next).map(|change| round + change.at).or(over)
    }

    /// When a recorded link has sent a packet of `bytes` bytes whose transmission begins at `start`.
    #[must_use]
    pub fn sent(&self, start: Span, bytes: u32) -> Span {
        debug_assert!(
            self.recorded,
            "only of a recording some rate is certain not to be 0, so that this ends"
        );
        // In bits times nanoseconds a second, in which all is whole.
        let mut left = u64::from(bytes) * 8_000_000_000;
        let mut now = start;
        loop {
            let rate = self.rate_at(now).whole_bits();
            let next = self.next_change(now);
            let room = next.map(|next| u128::from(rate) * u128::from(next.nanos() - now.nanos()));
            match next.zip(room).filter(|(_, room)| *room < u128::from(left)) {
                Some((next, room)) => (left, now) = (left - room as u64, next),
                None => return now + Span::ns(left.div_ceil(rate)),
            }
        }
    }

    /// The bits that it can send between two times.
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
    /// The fraction of packets that are lost in the long run.
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
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn a_change_reads_what_it_writes() {
        let change = Change::read(&Value::Text("20 s: 10 Mbit/s".into())).unwrap();
        assert_eq!(change, Change { at: Span::s(20), rate: Rate::mbit_per_s(10) });
        assert_eq!(Change::read(&change.value()), Some(change));
        for text in ["20 s", "20: 10 Mbit/s", "-1 s: 1 Mbit/s"] {
            assert_eq!(Change::read(&Value::Text(text.into())), None, "{text}");
        }
    }

    /// A link of 1 Mbit/s without delay.
    pub(in crate::model) fn link(from: usize, to: usize) -> Link {
        Link {
            name: format!("{from}-{to}"),
            from,
            to,
            rate: Rate::mbit_per_s(1),
            changes: Vec::new(),
            changes_period: None,
            recorded: false,
            delay: Distribution::Fixed(Span::ZERO),
            loss: None,
            ecn_path: EcnPath::Pass,
            buffer: Limit::Packets(1),
            aqm: None,
            overhead: Bytes(0),
            framing: None,
            half_duplex: None,
            wifi: None,
            packet: Bytes(500),
        }
    }

    #[test]
    fn a_link_follows_its_changes_and_starts_over() {
        let change = |at, mbit| Change { at: Span::s(at), rate: Rate::mbit_per_s(mbit) };
        let mut link = Link { changes: vec![change(20, 10), change(30, 5)], ..link(0, 1) };
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
    fn a_recorded_link_sends_a_packet_at_the_rates_of_its_time() {
        let change = |ms, kbit: u64| Change { at: Span::ms(ms), rate: Rate::bit_per_s(1000 * kbit) };
        let link = Link {
            recorded: true,
            changes: vec![change(0, 80), change(100, 0), change(300, 8)],
            changes_period: Some(Span::ms(400)),
            ..link(0, 1)
        };
        // In a round 1000 bytes in 0.1 s, then none in 0.2 s, then 100 bytes in 0.1 s.
        for (start, bytes, end) in [
            (0, 500, 50),
            (0, 1000, 100),
            (50, 501, 301),
            (100, 100, 400),
            (150, 1, 301),
            (0, 2200, 800),
            (390, 20, 401),
        ] {
            assert_eq!(link.sent(Span::ms(start), bytes), Span::ms(end), "{bytes} bytes from {start} ms");
        }
    }

    #[test]
    fn the_long_run_of_a_chain_weighs_its_states() {
        // It is in the bad state for a quarter of the time: 0.1/(0.1 + 0.3).
        let gilbert = Gilbert { good_to_bad: 0.1, bad_to_good: 0.3, loss_good: 0.02, loss_bad: 0.5 };
        assert!((Loss::Gilbert(gilbert).ratio() - (0.25 * 0.5 + 0.75 * 0.02)).abs() < 1e-12);
    }
}
