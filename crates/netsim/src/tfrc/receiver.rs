//! The receiver (section 6): a report once per round trip, and at once when the loss event rate has risen.

use super::losses::Losses;
use super::{Datagram, Report, equation};
use aqm::unit::{Span, Time};

/// The data that had arrived when a report was due.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Time,
    bytes: u64,
}

/// The receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    losses: Losses,
    /// The latest datagram, and when it arrived; `None` before the first.
    latest: Option<(Datagram, Time)>,
    bytes: u64,
    /// The latest report, or the beginning of the last round trip if that was silent, and the latest report that was a round
    /// trip before it.
    reported: Mark,
    base: Mark,
    /// The greatest rate at which data arrived, in byte/s.
    fastest: f64,
    /// Whether nothing has arrived since the latest report, and whether there was a loss event.
    idle: bool,
    event: bool,
    deadline: Time,
}

impl Receiver {
    /// Before anything arrived; `discounting` is that of the loss history (section 5.5).
    #[must_use]
    pub const fn new(discounting: bool) -> Self {
        let mark = Mark { at: Time::ZERO, bytes: 0 };
        Self {
            losses: Losses::new(discounting),
            latest: None,
            bytes: 0,
            reported: mark,
            base: mark,
            fastest: 0.0,
            idle: true,
            event: false,
            deadline: Time::MAX,
        }
    }

    /// When [`Receiver::on_timer`] is due; [`Time::MAX`] if not at all.
    #[must_use]
    pub const fn deadline(&self) -> Time {
        self.deadline
    }

    /// The loss event rate; 0 before the first loss event.
    #[must_use]
    pub fn loss_event_rate(&self) -> f64 {
        self.losses.rate()
    }

    /// Datagrams that arrived or were lost, and loss events.
    #[must_use]
    pub fn counts(&self) -> [u64; 2] {
        self.losses.counts()
    }

    /// Takes in a datagram of `size` bytes, marked or not; returns the report that it calls for.
    pub fn on_datagram(&mut self, now: Time, datagram: Datagram, size: u32, ce: bool) -> Option<Report> {
        let begins = self.latest.is_none();
        if begins {
            // The first one begins the time over which the rate is measured, and is not part of what arrives in it.
            (self.reported.at, self.base.at) = (now, now);
        } else {
            self.bytes += u64::from(size);
        }
        // A late one has an older estimate of the round trip.
        if self.latest.is_none_or(|(latest, _)| latest.seq < datagram.seq) {
            self.latest = Some((datagram, now));
        }
        let before = self.losses.rate();
        let rtt = self.rtt();
        // The timer has found nothing to report: this datagram is reported at once (section 6.1), as all that arrived in the
        // last round trip (section 6.2).
        let quiet = self.idle && rtt > Span::ZERO && self.reported.at + rtt < now;
        if quiet {
            let ago = Time::from_nanos(now.since(Time::ZERO).nanos() - rtt.nanos());
            self.reported = Mark { at: ago, bytes: self.bytes - u64::from(size) };
        }
        let fastest = self.fastest.max(self.received(now));
        let first = || 1.0 / first_rate(f64::from(size), rtt.secs(), fastest);
        let event = self.losses.on_packet(datagram.seq, ce, now, rtt, first);
        self.event |= event;
        // Before the sender knows the round trip, every packet is reported (section 6.3).
        if begins || rtt == Span::ZERO || quiet || event && self.losses.rate() > before {
            return Some(self.report(now));
        }
        if self.idle {
            (self.idle, self.deadline) = (false, self.reported.at + rtt);
        }
        None
    }

    /// The report that is due once per round trip.
    pub fn on_timer(&mut self, now: Time) -> Report {
        self.report(now)
    }

    fn rtt(&self) -> Span {
        self.latest.map_or(Span::ZERO, |(latest, _)| latest.rtt)
    }

    /// The rate at which data has arrived since the latest report that is at least a round trip ago.
    fn received(&self, now: Time) -> f64 {
        let base = self.base_at(now);
        let seconds = now.since(base.at).secs();
        if seconds > 0.0 { (self.bytes - base.bytes) as f64 / seconds } else { 0.0 }
    }

    fn base_at(&self, now: Time) -> Mark {
        if self.reported.at + self.rtt() <= now { self.reported } else { self.base }
    }

    fn report(&mut self, now: Time) -> Report {
        let received = self.received(now);
        self.fastest = self.fastest.max(received);
        self.base = self.base_at(now);
        self.reported = Mark { at: now, bytes: self.bytes };
        (self.idle, self.deadline) = (true, Time::MAX);
        let (latest, at) = self.latest.expect("a report follows a datagram");
        let event = std::mem::take(&mut self.event);
        Report { echo: latest.sent + now.since(at), received, loss_event_rate: self.losses.rate(), event }
    }
}

/// The loss event rate after the first loss event (section 6.3.1): that of half of the greatest rate at which the sender sent.
/// In slow start it sends twice what arrives, so this is the greatest rate at which data arrived, and at least half a packet
/// per round trip.
fn first_rate(size: f64, rtt: f64, fastest: f64) -> f64 {
    equation::loss_event_rate(1.0, 1.0, (fastest * rtt / size).max(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::ms(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    /// Takes 1000 bytes that were sent 50 ms before.
    fn take(receiver: &mut Receiver, ms: u64, seq: u32, ce: bool) -> Option<Report> {
        let rtt = if seq == 0 { Span::ZERO } else { RTT };
        receiver.on_datagram(at(ms), Datagram { seq, sent: at(ms - 50), rtt }, 1000, ce)
    }

    /// A receiver that got a packet at 50 ms and every 10 ms from 60 to 140 ms, and what it reported at 150 ms.
    fn receiver() -> (Receiver, Report) {
        let mut receiver = Receiver::new(true);
        let first = Report { echo: at(0), received: 0.0, loss_event_rate: 0.0, event: false };
        assert_eq!(take(&mut receiver, 50, 0, false), Some(first));
        for seq in 1..10 {
            assert_eq!(take(&mut receiver, 50 + 10 * u64::from(seq), seq, false), None);
            assert_eq!(receiver.deadline(), at(150));
        }
        let report = receiver.on_timer(at(150));
        (receiver, report)
    }

    #[test]
    fn a_report_tells_what_has_arrived_in_the_last_round_trip() {
        let (mut receiver, report) = receiver();
        // Nine packets in 100 ms; the last was sent at 90 ms and arrived at 140 ms.
        let expected = Report { echo: at(100), received: 90_000.0, loss_event_rate: 0.0, event: false };
        assert_eq!(report, expected);
        assert_eq!(receiver.deadline(), Time::MAX, "there is nothing to report");
        // The timer went off at 250 ms and found nothing: what arrives is one packet in a round trip, reported at once.
        let at_once = Report { echo: at(350), received: 10_000.0, loss_event_rate: 0.0, event: false };
        assert_eq!(take(&mut receiver, 400, 10, false), Some(at_once));
        assert_eq!(take(&mut receiver, 420, 11, false), None);
        assert_eq!(receiver.deadline(), at(500));
    }

    #[test]
    fn a_loss_event_is_reported_at_once_with_the_rate_of_what_arrived() {
        let (mut receiver, _) = receiver();
        for (ms, seq) in [(160, 10), (170, 12), (180, 13)] {
            assert_eq!(take(&mut receiver, ms, seq, false), None);
        }
        let report = take(&mut receiver, 190, 14, false).expect("the third after the lost one");
        // Since 50 ms, because 150 ms is less than a round trip ago: 13 packets in 140 ms.
        assert!((report.received - 13_000.0 / 0.14).abs() < 1e-6, "{}", report.received);
        let target = equation::rate(1000.0, 0.1, report.loss_event_rate);
        assert!((target / report.received - 1.0).abs() < 1e-6, "{target}");
        assert!(report.event);
        assert_eq!((report.echo, receiver.counts()), (at(140), [15, 1]));
        // A mark within the same round trip is no other event, one after it is.
        assert_eq!(take(&mut receiver, 200, 15, true), None);
        assert_eq!(receiver.deadline(), at(290));
        assert!(take(&mut receiver, 280, 16, true).is_some());
    }

    #[test]
    fn before_the_round_trip_is_known_the_rate_is_that_since_the_last_report() {
        let mut receiver = Receiver::new(true);
        for (seq, received) in [(0, 0.0), (1, 1000.0), (2, 1000.0)] {
            let at = at(50 + 1000 * u64::from(seq));
            let report = receiver.on_datagram(at, Datagram { seq, sent: at, rtt: Span::ZERO }, 1000, false);
            assert_eq!(report.map(|report| report.received), Some(received));
        }
    }

    #[test]
    fn a_mark_before_any_rate_is_known_stands_for_half_a_packet_per_round_trip() {
        let mut receiver = Receiver::new(true);
        let report = take(&mut receiver, 50, 0, true).expect("the first");
        // f(p) = 2: the 20.64 % of the authors of Linux's CCID 3.
        assert!((report.loss_event_rate - 0.2064).abs() < 1e-4, "{}", report.loss_event_rate);
    }
}
