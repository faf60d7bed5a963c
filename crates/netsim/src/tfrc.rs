//! TCP-Friendly Rate Control, without a clock or a network: a [`Sender`] and a [`Receiver`] that take the time and a
//! datagram or a report, and answer with what to send and when to be woken.
//!
//! The receiver counts loss events and measures the rate at which data arrives, and reports both once per round trip. The
//! sender allows itself the rate that TCP would have with that loss event rate, and at most twice the rate that arrived.
//!
//! # Departures from the source
//! A packet that arrives after it was taken for lost does not correct the loss history (section 5.1), and losses before
//! anything has arrived are not known. The timer of section 4.4 waits for a report at the rate that the last one has
//! allowed; the letter of section 4.3 takes the rate of before, at which it may go off before a packet is sent. The
//! granularity of the operating system's clock (section 4.6) is left out, which a simulated host does not have. The size of
//! a packet (`s`) includes its headers.
//!
//! Source: Floyd, Handley, Padhye, Widmer, "TCP Friendly Rate Control (TFRC): protocol specification", RFC 5348, 2008.

mod equation;
mod losses;
mod receiver;
mod sender;

pub use equation::rate;
pub use receiver::Receiver;
pub use sender::{Sender, Setting};

use aqm::unit::{Span, Time};

/// A datagram on its way to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Its number, from 0.
    pub seq: u32,
    /// When it was sent, for the report to echo.
    pub sent: Time,
    /// The sender's estimate of the round trip; zero before the first measurement.
    pub rtt: Span,
}

/// A report on its way to the sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Report {
    /// The sending time of the latest datagram, and the time that it has been at the receiver (`t_recvdata` and `t_delay`):
    /// a round trip before the report arrives.
    pub echo: Time,
    /// The rate at which data arrived (`X_recv`) in byte/s.
    pub received: f64,
    /// The loss event rate (`p`).
    pub loss_event_rate: f64,
    /// Whether there was a loss event since the last report.
    pub event: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// The ends after a minute on a path of 50 ms each way that loses the packets that `loses` names, and how many were sent.
    fn after_a_minute(damped: bool, loses: impl Fn(u32) -> bool) -> (Sender, Receiver, u32) {
        let setting = Setting { size: 1000, damped, most: f64::INFINITY };
        let (mut sender, mut receiver) = (Sender::new(&setting), Receiver::new(true));
        let (mut data, mut reports) = (VecDeque::new(), VecDeque::new());
        let (one_way, mut sent) = (Span::ms(50), 0);
        sender.on_start(Time::ZERO, &setting);
        loop {
            let [silence, due] = sender.deadlines();
            let arrival = data.front().map_or(Time::MAX, |&(at, _)| at);
            let report = reports.front().map_or(Time::MAX, |&(at, _)| at);
            let now = silence.min(due).min(arrival).min(report).min(receiver.deadline());
            if now > Time::ZERO + Span::s(60) {
                return (sender, receiver, sent);
            }
            if now == arrival {
                let (_, datagram) = data.pop_front().expect("it arrives");
                let answer = receiver.on_datagram(now, datagram, setting.size, false);
                reports.extend(answer.map(|report| (now + one_way, report)));
            } else if now == receiver.deadline() {
                reports.push_back((now + one_way, receiver.on_timer(now)));
            } else if now == report {
                let (_, report) = reports.pop_front().expect("it arrives");
                sender.on_report(now, &setting, &report);
            } else if now == due {
                let datagram = sender.send(now, &setting);
                sent += 1;
                if !loses(datagram.seq) {
                    data.push_back((now + one_way, datagram));
                }
            } else {
                sender.on_silence(now, &setting);
            }
        }
    }

    #[test]
    fn a_path_that_loses_every_hundredth_packet_gets_the_rate_of_the_equation() {
        for damped in [false, true] {
            let (sender, receiver, sent) = after_a_minute(damped, |seq| seq % 100 == 99);
            assert!((receiver.loss_event_rate() - 0.01).abs() < 1e-9, "{}", receiver.loss_event_rate());
            assert_eq!(sender.rtt(), Span::ms(100));
            // 112.33 packets a second, computed by hand; the beginning has others.
            assert!((sender.rate() / 112_332.0 - 1.0).abs() < 1e-4, "{}", sender.rate());
            assert!((6000..7500).contains(&sent), "{sent}");
            let [packets, events] = receiver.counts();
            assert!(packets.abs_diff(100 * events) <= 200, "{events} of {packets}");
        }
    }

    #[test]
    fn on_a_path_that_dies_the_rate_is_halved_to_the_end() {
        let (sender, _, _) = after_a_minute(false, |seq| seq > 500);
        // Below 5 packets a second each wait is 2 / rate, twice the one before: together less than 8 / rate.
        assert!(sender.rate() < 8.0 * 1000.0 / 55.0, "{}", sender.rate());
        assert!(sender.rate() >= 1000.0 / 64.0, "{}", sender.rate());
    }
}
