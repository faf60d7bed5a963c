//! A flow of TFRC: its two ends, and when they are to be woken.

use crate::tfrc::{Datagram, Receiver, Report, Sender, Setting};
use aqm::unit::{Bytes, Span, Time};
use scenario::model::Tfrc;

/// The ends of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    setting: Setting,
    discounting: bool,
    sender: Sender,
    receiver: Receiver,
    /// When they are woken; [`Time::MAX`] if not at all.
    wake: Time,
    /// Whether the sender has started.
    begun: bool,
    /// The first number since the sender last started, and the counts of before.
    first: u32,
    earlier: [u64; 2],
    /// The counts at the end of the warm-up.
    at_warmup: [u64; 2],
}

/// What the ends do when they are woken.
#[derive(Debug)]
pub(crate) enum Does {
    Sends(Datagram),
    Reports(Report),
    Nothing,
}

impl Ends {
    pub(super) fn new(tfrc: &Tfrc, packet: Bytes) -> Self {
        let setting = Setting { size: packet.0 as u32, most: most(tfrc), damped: tfrc.damping };
        Self {
            setting,
            discounting: tfrc.discounting,
            sender: Sender::new(&setting),
            receiver: Receiver::new(tfrc.discounting),
            wake: Time::MAX,
            begun: false,
            first: 0,
            earlier: [0; 2],
            at_warmup: [0; 2],
        }
    }

    /// The sender's estimate of the round trip; zero before the first measurement.
    pub(crate) fn round_trip(&self) -> Span {
        self.sender.rtt()
    }

    /// Bytes of a datagram on the wire.
    pub(crate) const fn size(&self) -> u16 {
        self.setting.size as u16
    }

    /// Its event has come. The sender starts if it has not and `active`.
    pub(crate) fn on_event(&mut self, now: Time, active: bool) {
        if self.wake <= now {
            self.wake = Time::MAX;
        }
        if active && !self.begun {
            self.begun = true;
            self.earlier = self.total();
            self.first = self.sender.on_start(now, &self.setting);
            self.receiver = Receiver::new(self.discounting);
        }
    }

    /// The next thing that is due by now; the sender stops if it is no longer `active`.
    pub(crate) fn act(&mut self, now: Time, active: bool) -> Option<Does> {
        let [silence, due] = self.sender.deadlines();
        if self.receiver.deadline() <= now {
            return Some(Does::Reports(self.receiver.on_timer(now)));
        } else if silence.min(due) > now {
            return None;
        } else if !active {
            self.sender.on_stop();
        } else if due <= now {
            return Some(Does::Sends(self.sender.send(now, &self.setting)));
        } else {
            self.sender.on_silence(now, &self.setting);
        }
        Some(Does::Nothing)
    }

    /// When an event is needed, if none comes by then.
    pub(crate) fn next_event(&mut self) -> Option<Time> {
        let [silence, due] = self.sender.deadlines();
        let next = silence.min(due).min(self.receiver.deadline());
        (next < self.wake).then(|| {
            self.wake = next;
            next
        })
    }

    /// A datagram has come to the receiver; returns its report.
    pub(crate) fn on_datagram(&mut self, now: Time, datagram: Datagram, ce: bool) -> Option<Report> {
        if datagram.seq < self.first {
            return None;
        }
        self.receiver.on_datagram(now, datagram, self.setting.size, ce)
    }

    /// A report has come to the sender.
    pub(crate) fn on_report(&mut self, now: Time, report: &Report) {
        self.sender.on_report(now, &self.setting, report);
    }

    /// Sends nothing from now on, until it begins again; its event is off the list.
    pub(super) const fn rest(&mut self) {
        self.sender.on_stop();
        (self.begun, self.wake) = (false, Time::MAX);
    }

    /// Follows other settings.
    pub(super) fn follow(&mut self, tfrc: &Tfrc) {
        self.setting.most = most(tfrc);
    }

    /// Packets, those that were lost included, and loss events over the whole run.
    fn total(&self) -> [u64; 2] {
        let [packets, events] = self.receiver.counts();
        [self.earlier[0] + packets.saturating_sub(u64::from(self.first)), self.earlier[1] + events]
    }

    /// The warm-up is over.
    pub(crate) fn note_warmup(&mut self) {
        self.at_warmup = self.total();
    }

    /// Packets and loss events since the warm-up.
    pub(crate) fn counts(&self) -> [u64; 2] {
        let total = self.total();
        [total[0] - self.at_warmup[0], total[1] - self.at_warmup[1]]
    }
}

/// The application's greatest rate in byte/s.
fn most(tfrc: &Tfrc) -> f64 {
    tfrc.max_rate.map_or(f64::INFINITY, |rate| rate.bits() / 8.0)
}
