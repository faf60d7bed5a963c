//! A link between two nodes: its rate and the changes of it, its delay, its buffer, its random losses, and what becomes of
//! ECN there.

use super::cable::Subscriber;
use super::cell::Place;
use super::distribution::Distribution;
use super::handover::Handover;
use super::variation::{Outage, PROBABILITIES, Variation};
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
    /// Whether the changes are a recording, which starts over.
    pub recorded: bool,
    /// The times in which it sends nothing, in order.
    pub outages: Vec<Outage>,
    /// The time after which they start over.
    pub outages_period: Option<Span>,
    /// Its one-way propagation delay, drawn for each run; the same in both directions.
    pub delay: Distribution<Span>,
    /// What varies in that, if anything does.
    pub variation: Option<Box<Variation>>,
    /// Its handovers at random. An engine draws them before a run, and puts them into `changes`, `outages`, `variation`
    /// and `loss`.
    pub handover: Option<Box<Handover>>,
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
    /// If it is a part of a cell: which.
    pub cell: Option<Place>,
    /// If it is a part of a cable network: which.
    pub subscriber: Option<Subscriber>,
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
    /// Each packet is lost with the probability of its time.
    Steps(Steps),
}

/// A quantity that is recorded, and starts over.
#[derive(Clone, PartialEq, Debug)]
pub struct Steps {
    /// The times from which the values hold, in order, the first 0.
    pub values: Vec<(Span, f64)>,
    /// When they start over.
    pub period: Span,
}

impl Steps {
    /// The value at `now`.
    #[must_use]
    pub fn at(&self, now: Span) -> f64 {
        let since = Span::ns(now.nanos() % self.period.nanos());
        self.values[self.values.partition_point(|(at, _)| *at <= since) - 1].1
    }

    /// The mean over time.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let ends = self.values.iter().skip(1).map(|(at, _)| *at).chain([self.period]);
        let parts = self
            .values
            .iter()
            .zip(ends)
            .map(|((at, value), end)| value * Span::ns(end.nanos() - at.nanos()).secs());
        parts.sum::<f64>() / self.period.secs()
    }
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

params! {
    /// Losses in bursts (Gilbert, Elliott): in the good and in the bad state, each packet is lost with that state's
    /// probability; then the state may change. The initial state is good. With `good_time` and `bad_time` the state changes
    /// with time instead, whether packets come or not.
    pub struct Gilbert {
        /// Probability, after each packet, of a change from the good to the bad state.
        good_to_bad: f64 = 0.01, "", PROBABILITIES;
        /// Probability, after each packet, of a change from the bad to the good state: bursts last 1 / `bad_to_good`
        /// packets.
        bad_to_good: f64 = 0.3, "", PROBABILITIES;
        /// Mean time in the good state, exponentially distributed, in place of `good_to_bad`; it needs `bad_time`.
        good_time: Option<Span> = None, "s", STAYS;
        /// Mean time in the bad state, as `good_time`: `"200 ms"`.
        bad_time: Option<Span> = None, "s", STAYS;
        /// Loss probability in the good state.
        loss_good: f64 = 0.0, "", PROBABILITIES;
        /// Loss probability in the bad state.
        loss_bad: f64 = 1.0, "", PROBABILITIES;
    }
}

/// A state that changes more often is none.
const STAYS: Range = Range::new(1e-5, 1e7);

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
    /// The name of both of its directions.
    #[must_use]
    pub fn cable(&self) -> &str {
        self.name.trim_end_matches(":reverse")
    }

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
        self.half_duplex.is_some() || self.wifi.is_some() || self.cell.is_some() || self.modem().is_some()
    }

    /// If it leads from a modem upstream: which.
    #[must_use]
    pub const fn modem(&self) -> Option<Subscriber> {
        match self.subscriber {
            Some(subscriber) if subscriber.way == 0 => self.subscriber,
            _ => None,
        }
    }

    /// The port that its algorithm is built for, at the rate of the start and with this propagation delay.
    #[must_use]
    pub const fn port(&self, delay: Span) -> Port {
        Port { rate: self.rate, delay, limit: self.buffer, packet: self.packet, header: self.overhead }
    }

    /// Whether its rate changes in a run.
    #[must_use]
    pub const fn has_changes(&self) -> bool {
        !self.changes.is_empty() || !self.outages.is_empty() || self.handover.is_some()
    }

    /// Whether a packet in transmission goes on at the new rate, which may be 0, when the rate changes; otherwise the packet
    /// keeps its rate.
    #[must_use]
    pub const fn goes_on(&self) -> bool {
        self.recorded || !self.outages.is_empty()
    }

    /// Whether it sends nothing at `now`.
    fn is_out(&self, now: Span) -> bool {
        let since = Span::ns(now.nanos() - round(now, self.outages_period).nanos());
        let begun = self.outages.partition_point(|outage| outage.since <= since);
        begun.checked_sub(1).is_some_and(|last| since < self.outages[last].until)
    }

    /// The rate from `now` on.
    #[must_use]
    pub fn rate_at(&self, now: Span) -> Rate {
        if !self.outages.is_empty() && self.is_out(now) {
            return Rate::bit_per_s(0);
        }
        let since = Span::ns(now.nanos() - round(now, self.changes_period).nanos());
        let last = self.changes.partition_point(|change| change.at <= since).checked_sub(1);
        last.map_or(self.rate, |last| self.changes[last].rate)
    }

    /// The time of the first rate change.
    #[must_use]
    pub fn first_change(&self) -> Option<Span> {
        let first = self.changes.first().map(|change| change.at).into_iter();
        first.chain(self.outages.first().map(|outage| outage.since)).min()
    }

    /// The time of the next rate change after `now`.
    #[must_use]
    pub fn next_change(&self, now: Span) -> Option<Span> {
        let start = round(now, self.changes_period);
        let next = self.changes.partition_point(|change| start + change.at <= now);
        // Each round starts with `rate`.
        let over = self.changes_period.map(|period| start + period);
        let change = self.changes.get(next).map(|change| start + change.at).or(over);
        let start = round(now, self.outages_period);
        let next = self.outages.partition_point(|outage| start + outage.until <= now);
        let ends = |outage: &Outage| {
            let [since, until] = [start + outage.since, start + outage.until];
            if since > now { since } else { until }
        };
        let again = || Some(start + self.outages_period? + self.outages.first()?.since);
        let outage = self.outages.get(next).map(ends).or_else(again);
        change.into_iter().chain(outage).min()
    }

    /// When a recorded link has sent a packet of `bytes` bytes whose transmission begins at `start`.
    #[must_use]
    pub fn sent(&self, start: Span, bytes: u32) -> Span {
        debug_assert!(
            self.goes_on(),
            "a packet that keeps its rate needs no other, which might be 0 for ever"
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

/// The start of the present round of what starts over after a time.
fn round(now: Span, period: Option<Span>) -> Span {
    period.map_or(Span::ZERO, |period| period * (now.nanos() / period.nanos()))
}

impl Loss {
    /// The fraction of packets that are lost in the long run.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        match self {
            Self::Bernoulli(p) => *p,
            Self::Steps(steps) => steps.mean(),
            Self::Gilbert(Gilbert {
                good_time: Some(good),
                bad_time: Some(bad),
                loss_good,
                loss_bad,
                ..
            }) => (good.secs() * loss_good + bad.secs() * loss_bad) / (good.secs() + bad.secs()),
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
            outages: Vec::new(),
            outages_period: None,
            delay: Distribution::Fixed(Span::ZERO),
            variation: None,
            handover: None,
            loss: None,
            ecn_path: EcnPath::Pass,
            buffer: Limit::Packets(1),
            aqm: None,
            overhead: Bytes(0),
            framing: None,
            half_duplex: None,
            wifi: None,
            cell: None,
            subscriber: None,
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
    fn a_link_sends_nothing_in_an_outage_and_goes_on_after_it() {
        let outage = |since, until| Outage { since: Span::ms(since), until: Span::ms(until) };
        let change = Change { at: Span::ms(2500), rate: Rate::mbit_per_s(2) };
        let mut link = Link {
            changes: vec![change],
            outages: vec![outage(1000, 1500), outage(2000, 3000)],
            ..link(0, 1)
        };
        let rates = |link: &Link, times: &[u64]| -> Vec<f64> {
            times.iter().map(|&t| link.rate_at(Span::ms(t)).bits() / 1e6).collect()
        };
        let nexts = |link: &Link, times: &[u64]| -> Vec<Option<u64>> {
            times.iter().map(|&t| link.next_change(Span::ms(t)).map(|at| at.nanos() / 1_000_000)).collect()
        };
        assert_eq!(
            rates(&link, &[999, 1000, 1499, 1500, 2000, 2999, 3000]),
            [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0]
        );
        assert_eq!(link.first_change(), Some(Span::s(1)));
        let found = nexts(&link, &[0, 1000, 1500, 2000, 2500, 3000]);
        assert_eq!(found, [Some(1000), Some(1500), Some(2000), Some(2500), Some(3000), None]);
        // 1000 bytes take 8 ms.
        assert_eq!(link.sent(Span::ms(996), 1000), Span::ms(1504));
        assert_eq!(link.capacity(Span::ZERO, Span::s(4)), 1e6 * (1.0 + 0.5 + 2.0));
        link.outages_period = Some(Span::s(4));
        assert_eq!(rates(&link, &[5000, 5499, 5500, 6500]), [0.0, 0.0, 2.0, 0.0]);
        assert_eq!(nexts(&link, &[3000, 4000, 5000, 7000]), [Some(5000), Some(5000), Some(5500), Some(9000)]);
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
        let chain = Gilbert {
            good_to_bad: 0.1,
            bad_to_good: 0.3,
            loss_good: 0.02,
            loss_bad: 0.5,
            ..Gilbert::default()
        };
        let expected = 0.25 * 0.5 + 0.75 * 0.02;
        assert!((Loss::Gilbert(chain.clone()).ratio() - expected).abs() < 1e-12);
        let in_time = Gilbert { good_time: Some(Span::s(3)), bad_time: Some(Span::s(1)), ..chain };
        assert!((Loss::Gilbert(in_time).ratio() - expected).abs() < 1e-12);
        let steps = Steps { values: vec![(Span::ZERO, 0.1), (Span::s(1), 0.5)], period: Span::s(4) };
        assert_eq!([0, 1, 3, 4, 5].map(|s| steps.at(Span::s(s))), [0.1, 0.5, 0.5, 0.1, 0.5]);
        assert!((Loss::Steps(steps).ratio() - 0.4).abs() < 1e-12);
    }
}
