//! The sender (section 4): slow start until the first loss event, then the rate of the equation; half of it whenever reports
//! stay away.

use super::{Datagram, Report, equation};
use aqm::unit::{Span, Time};

/// The part of the old estimate in a new one, of the round trip and of its root (`q` and `q2`).
const OLD: f64 = 0.9;
/// The longest time between two packets (`t_mbi`).
const LONGEST_GAP: f64 = 64.0;
/// The time without a report before the round trip is known.
const FIRST_WAIT: Span = Span::s(2);
/// Reported rates that are kept: those of two round trips, of which there is one per round trip and one per loss event.
const REPORTS: usize = 8;

/// What the user sets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    /// Bytes of a packet (`s`).
    pub size: u32,
    /// The greatest rate at which the application has something to send, in byte/s.
    pub most: f64,
    /// Whether the pace follows the latest round trip, which damps oscillations (section 4.5).
    pub damped: bool,
}

/// A reported rate.
#[derive(Clone, Copy, Debug)]
struct Received {
    rate: f64,
    at: Time,
}

/// The sending end.
#[derive(Clone, Debug)]
pub struct Sender {
    next: u32,
    /// The allowed rate in byte/s (`X`).
    rate: f64,
    /// That of the equation (`X_Bps`); infinite before the first loss event.
    equation: f64,
    /// The smoothed round trip in s, and the smoothed root of it; 0 before the first measurement.
    rtt: f64,
    root: f64,
    /// The root of the latest round trip.
    latest_root: f64,
    loss_event_rate: f64,
    /// When the rate was doubled (`tld`).
    doubled: Time,
    /// The rates that limit it (`X_recv_set`), and how many there are.
    received: [Received; REPORTS],
    known: usize,
    /// Moments at which the application had more to send than was allowed, and up to when they can matter: `NotLimited1`,
    /// `NotLimited2`, `t_new` and `t_next` of section 8.2.1.
    unlimited: [Option<Time>; 2],
    covered: [Option<Time>; 2],
    /// When it started; reports of packets sent before do not count.
    began: Time,
    /// When the last packet was sent, and the next may be.
    sent: Time,
    due: Time,
    /// When a report is missed.
    silence: Time,
    /// Whether anything was sent since that timer was set.
    active: bool,
}

impl Sender {
    /// Before it starts.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let size = f64::from(setting.size);
        Self {
            next: 0,
            rate: size,
            equation: f64::INFINITY,
            rtt: 0.0,
            root: 0.0,
            latest_root: 0.0,
            loss_event_rate: 0.0,
            doubled: Time::ZERO,
            received: [Received { rate: f64::INFINITY, at: Time::ZERO }; REPORTS],
            known: 1,
            unlimited: [None; 2],
            covered: [None; 2],
            began: Time::ZERO,
            sent: Time::ZERO,
            due: Time::MAX,
            silence: Time::MAX,
            active: false,
        }
    }

    /// The allowed rate in byte/s.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// The smoothed round trip; zero before the first measurement.
    #[must_use]
    pub fn rtt(&self) -> Span {
        Span::from_secs(self.rtt)
    }

    /// When [`Sender::on_silence`] is due, and when [`Sender::send`]; [`Time::MAX`] if not at all.
    #[must_use]
    pub const fn deadlines(&self) -> [Time; 2] {
        [self.silence, self.due]
    }

    /// Starts to send, perhaps once more: the first packet is due now. Returns its number.
    pub fn on_start(&mut self, now: Time, setting: &Setting) -> u32 {
        let next = self.next;
        *self = Self { next, began: now, due: now, silence: now + FIRST_WAIT, ..Self::new(setting) };
        next
    }

    /// Sends nothing from now on.
    pub const fn on_stop(&mut self) {
        (self.due, self.silence) = (Time::MAX, Time::MAX);
    }

    /// The packet that is due.
    pub fn send(&mut self, now: Time, setting: &Setting) -> Datagram {
        let datagram = Datagram { seq: self.next, sent: now, rtt: self.rtt() };
        self.next += 1;
        (self.sent, self.active) = (now, true);
        self.due = now + self.gap(setting);
        if self.pace(setting) <= setting.most {
            let late =
                self.unlimited.iter().zip(&self.covered).position(|(moment, covered)| moment <= covered);
            late.into_iter().for_each(|i| self.unlimited[i] = Some(now));
        }
        datagram
    }

    /// The rate at which it may send at present (`X_inst`).
    fn pace(&self, setting: &Setting) -> f64 {
        let damping = if setting.damped && self.rtt > 0.0 { self.root / self.latest_root } else { 1.0 };
        (self.rate * damping).max(f64::from(setting.size) / LONGEST_GAP)
    }

    /// The time between two packets (section 4.6).
    fn gap(&self, setting: &Setting) -> Span {
        Span::from_secs(f64::from(setting.size) / self.pace(setting).min(setting.most))
    }

    /// Whether the application had less to send than was allowed throughout the round trip that a report covers (section
    /// 8.2.1), which ends at `last`.
    fn was_limited(&mut self, now: Time, last: Time) -> bool {
        let (rtt, last) = (Span::from_secs(self.rtt), Some(last));
        let within = |moment: Time| Some(moment) <= last && Some(moment + rtt) > last;
        let limited = !self.unlimited.iter().flatten().any(|&moment| within(moment));
        self.covered = [last, Some(now)];
        if self.unlimited[0] <= last && self.unlimited[1] > last {
            self.unlimited[0] = self.unlimited[1];
        }
        limited
    }

    /// Takes in a report.
    pub fn on_report(&mut self, now: Time, setting: &Setting, report: &Report) {
        if self.due == Time::MAX || report.echo < self.began {
            return;
        }
        let size = f64::from(setting.size);
        let sample = now.since(report.echo).secs().max(1e-9);
        self.latest_root = sample.sqrt();
        if self.rtt == 0.0 {
            (self.rtt, self.root) = (sample, self.latest_root);
            (self.rate, self.doubled) = (self.initial(size), now);
            self.received[0].at = now;
        } else {
            self.rtt = OLD * self.rtt + (1.0 - OLD) * sample;
            self.root = OLD * self.root + (1.0 - OLD) * self.latest_root;
        }
        let limited = self.was_limited(now, report.echo);
        let limit = if !limited {
            self.add(report.received, now);
            2.0 * self.fastest()
        } else if report.event || report.loss_event_rate > self.loss_event_rate {
            self.received.iter_mut().for_each(|received| received.rate *= 0.5);
            self.keep_fastest(0.85 * report.received, now)
        } else {
            2.0 * self.keep_fastest(report.received, now)
        };
        self.loss_event_rate = report.loss_event_rate;
        self.allow(now, size, limit);
        self.expect(now, size);
        self.reschedule(now, setting);
    }

    /// No report has come for long (section 4.4).
    pub fn on_silence(&mut self, now: Time, setting: &Setting) {
        let size = f64::from(setting.size);
        let received = self.fastest();
        let losing = self.loss_event_rate > 0.0;
        // Who sent nothing learns nothing from silence, unless the rate is above that of a new start.
        let initial = self.initial(size);
        let slow = if losing { received < initial } else { self.rate < 2.0 * initial };
        if self.active || self.rtt > 0.0 && !slow {
            if losing {
                let limit = if self.equation > 2.0 * received { received } else { 0.5 * self.equation };
                let limit = limit.max(size / LONGEST_GAP);
                self.received[0] = Received { rate: 0.5 * limit, at: now };
                self.known = 1;
                self.allow(now, size, limit);
            } else {
                self.rate = (0.5 * self.rate).max(size / LONGEST_GAP);
            }
        }
        self.expect(now, size);
        self.reschedule(now, setting);
    }

    /// Sets the allowed rate (step 4 of section 4.3).
    fn allow(&mut self, now: Time, size: f64, limit: f64) {
        if self.loss_event_rate > 0.0 {
            self.equation = equation::rate(size, self.rtt, self.loss_event_rate);
            self.rate = self.equation.min(limit).max(size / LONGEST_GAP);
        } else if now.since(self.doubled).secs() >= self.rtt {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial(size));
            self.doubled = now;
        }
    }

    /// The rate of a start, and of a new one (`initial_rate`): two to four packets in a round trip (section 4.2).
    fn initial(&self, size: f64) -> f64 {
        (4.0 * size).min((2.0 * size).max(4380.0)) / self.rtt
    }

    /// Waits for the next report.
    fn expect(&mut self, now: Time, size: f64) {
        self.silence = now + Span::from_secs((4.0 * self.rtt).max(2.0 * size / self.rate));
        self.active = false;
    }

    /// The next packet is due by the present rate.
    fn reschedule(&mut self, now: Time, setting: &Setting) {
        if self.due != Time::MAX {
            self.due = (self.sent + self.gap(setting)).max(now);
        }
    }

    /// Adds a reported rate, and forgets those of more than two round trips ago.
    fn add(&mut self, rate: f64, now: Time) {
        let (oldest, mut kept) = (Span::from_secs(2.0 * self.rtt), 0);
        for i in 0..self.known {
            if now.since(self.received[i].at) <= oldest {
                self.received[kept] = self.received[i];
                kept += 1;
            }
        }
        if kept == REPORTS {
            // More reports than there are round trips: the oldest counts least.
            self.received.copy_within(1.., 0);
            kept -= 1;
        }
        self.received[kept] = Received { rate, at: now };
        self.known = kept + 1;
    }

    /// The greatest of the rates that limit this one.
    fn fastest(&self) -> f64 {
        self.received[..self.known].iter().fold(0.0, |most, received| received.rate.max(most))
    }

    /// Keeps only the greatest, with this one (`Maximize X_recv_set`); the limit that there was none at first goes.
    fn keep_fastest(&mut self, rate: f64, now: Time) -> f64 {
        let known = self.received[..self.known].iter().map(|received| received.rate);
        let most = known.filter(|rate| rate.is_finite()).fold(rate, f64::max);
        self.received[0] = Received { rate: most, at: now };
        self.known = 1;
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Setting = Setting { size: 1000, most: f64::INFINITY, damped: false };
    /// The rate of the equation with 1000 bytes, 0.1 s and p = 0.01, computed by hand.
    const BY_HAND: f64 = 112_332.0;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    /// A sender that has sent at 0 and takes these reports, each of a packet sent 100 ms before: ms, byte/s, p.
    fn told(reports: &[(u64, f64, f64)]) -> Sender {
        let mut sender = Sender::new(&SETTING);
        assert_eq!(sender.on_start(at(0), &SETTING), 0);
        assert_eq!(sender.send(at(0), &SETTING), Datagram { seq: 0, sent: at(0), rtt: Span::ZERO });
        for &(ms, received, loss_event_rate) in reports {
            sender.send(at(ms - 100), &SETTING);
            tell(&mut sender, ms, received, loss_event_rate);
        }
        sender
    }

    fn tell(sender: &mut Sender, ms: u64, received: f64, loss_event_rate: f64) {
        sender.on_report(
            at(ms),
            &SETTING,
            &Report { echo: at(ms - 100), received, loss_event_rate, event: false },
        );
    }

    fn is(sender: &Sender, expected: f64) {
        assert!((sender.rate() / expected - 1.0).abs() < 1e-5, "{}, not {expected}", sender.rate());
    }

    #[test]
    fn slow_start_doubles_once_per_round_trip_up_to_twice_what_arrives() {
        let first = (110, 0.0, 0.0);
        is(&told(&[first]), 40_000.0);
        assert_eq!(told(&[first]).deadlines(), [at(110 + 400), at(110)]);
        is(&told(&[first, (160, 1e4, 0.0)]), 40_000.0);
        is(&told(&[first, (210, 1e4, 0.0)]), 80_000.0);
        // By then it is forgotten that there was no limit at first, but not the 40 000 of one and a half round trips ago.
        is(&told(&[first, (210, 4e4, 0.0), (360, 3e4, 0.0)]), 80_000.0);
        is(&told(&[first, (210, 4e4, 0.0), (460, 3e4, 0.0)]), 60_000.0);
    }

    #[test]
    fn with_losses_the_rate_is_that_of_the_equation_or_twice_what_arrives() {
        let first = (110, 0.0, 0.0);
        is(&told(&[first, (510, 1e6, 0.01)]), BY_HAND);
        is(&told(&[first, (510, 3e4, 0.01)]), 60_000.0);
        // Whoever had less to send is held to 0.85 of what arrived after a loss, and to twice the most otherwise.
        let mut limited = told(&[first, (510, 4e4, 0.01)]);
        tell(&mut limited, 610, 1e4, 0.01);
        is(&limited, 80_000.0);
        tell(&mut limited, 710, 3e4, 0.011);
        is(&limited, 25_500.0);
    }

    #[test]
    fn a_round_trip_is_limited_by_the_application_if_the_pace_was_faster_at_all_of_its_packets() {
        let slow = Setting { most: 20_000.0, ..SETTING };
        let mut sender = Sender::new(&slow);
        sender.on_start(at(0), &slow);
        sender.send(at(0), &slow);
        sender.rtt = 0.1;
        assert!(!sender.was_limited(at(100), at(0)), "at first a packet per second is allowed");
        for (rate, ms, limited) in
            [(40e3, 200, true), (10e3, 300, false), (40e3, 350, false), (40e3, 450, true)]
        {
            sender.rate = rate;
            sender.send(at(ms), &slow);
            assert_eq!(sender.due, at(ms) + Span::from_secs(1000.0 / f64::min(rate, 20_000.0)));
            assert_eq!(sender.was_limited(at(ms + 100), at(ms)), limited, "{ms}");
        }
        // What was sent after the last packet of a report belongs to the next one.
        sender.rate = 10e3;
        sender.send(at(460), &slow);
        sender.send(at(540), &slow);
        assert!(!sender.was_limited(at(560), at(460)) && !sender.was_limited(at(640), at(540)));
    }

    #[test]
    fn who_starts_again_goes_on_with_the_numbers_and_begins_anew_otherwise() {
        let mut sender = told(&[(110, 0.0, 0.0), (510, 1e6, 0.01)]);
        sender.on_stop();
        tell(&mut sender, 610, 1e6, 0.01);
        assert_eq!(sender.deadlines(), [Time::MAX; 2]);
        assert_eq!(sender.on_start(at(1000), &SETTING), 3);
        // Of before.
        tell(&mut sender, 1050, 1e6, 0.01);
        assert_eq!((sender.rate(), sender.rtt()), (1000.0, Span::ZERO));
        assert_eq!(sender.send(at(1000), &SETTING).seq, 3);
    }

    #[test]
    fn the_rate_is_halved_each_time_that_a_report_is_missed() {
        let mut unheard = told(&[]);
        assert_eq!(unheard.deadlines(), [at(2000), at(1000)]);
        unheard.send(at(1000), &SETTING);
        unheard.on_silence(at(2000), &SETTING);
        is(&unheard, 500.0);
        assert_eq!(unheard.deadlines(), [at(6000), at(3000)]);
        for _ in 0..10 {
            let due = unheard.deadlines();
            unheard.send(due[1], &SETTING);
            unheard.on_silence(due[0], &SETTING);
        }
        is(&unheard, 1000.0 / 64.0);
        let mut losing = told(&[(110, 0.0, 0.0), (510, 1e6, 0.01)]);
        for part in [2.0, 4.0, 8.0] {
            losing.send(at(520), &SETTING);
            losing.on_silence(losing.deadlines()[0], &SETTING);
            is(&losing, BY_HAND / part);
        }
    }

    #[test]
    fn who_sent_nothing_keeps_the_rate_of_a_new_start() {
        let mut idle = told(&[(110, 0.0, 0.0)]);
        idle.on_silence(at(510), &SETTING);
        is(&idle, 40_000.0);
        let mut fast = told(&[(110, 0.0, 0.0), (210, 0.0, 0.0)]);
        fast.on_silence(at(610), &SETTING);
        is(&fast, 40_000.0);
    }

    #[test]
    fn damped_the_pace_follows_the_root_of_the_latest_round_trip() {
        let setting = Setting { damped: true, ..SETTING };
        let mut sender = told(&[(110, 0.0, 0.0), (510, 1e6, 0.01)]);
        // A round trip of 400 ms: the roots are 0.9 sqrt(0.1) + 0.1 sqrt(0.4) and sqrt(0.4), so 0.55 of the rate.
        let report = Report { echo: at(510), received: 1e6, loss_event_rate: 0.01, event: false };
        sender.on_report(at(910), &setting, &report);
        let (damped, other) = (sender.gap(&setting).secs(), sender.gap(&SETTING).secs());
        assert!((other / damped - 0.55).abs() < 1e-6, "{other} {damped}");
    }
}
