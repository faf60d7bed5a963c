//! Delivery rate: how fast segments have lately arrived, a sample with every acknowledgement.
//!
//! Each segment remembers, from when it was sent, how many segments had been delivered and when the last of them
//! was. When it is acknowledged,
//!
//! ```text
//! rate = segments delivered since / max(time to send them, time to acknowledge them)
//! ```
//!
//! The longer of the two times bounds the rate where ACKs are compressed or bunched. A sample is limited if the
//! segment was sent while the application, not the network, decided how much was outstanding.
//!
//! # Departures from the source
//! Without SACK, what duplicate ACKs tell counts when the hole is filled; Linux guesses which segment each stands for.
//!
//! # Sources
//! Cheng, Cardwell, Hassas Yeganeh, Jacobson, draft-cheng-iccrg-delivery-rate-estimation; Linux, tcp_rate.c.

use crate::tcp::Ack;
use aqm::unit::{Span, Time};
use std::collections::VecDeque;

/// What an outstanding segment remembers.
#[derive(Clone, Copy, Debug)]
struct Record {
    sent: Time,
    /// When the first segment of the flight that it ended was sent.
    flight_start: Time,
    /// Segments delivered when it was sent, and when the last of them was.
    delivered: u64,
    delivered_at: Time,
    again: bool,
    limited: bool,
    arrived: bool,
}

/// Bytes that an outstanding segment takes here.
pub(crate) const RECORD: usize = size_of::<Record>();

/// What an acknowledgement tells of the rate.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Segments that are known to have arrived since the ACK before.
    pub newly: u32,
    /// Segments delivered since the latest of these was sent.
    pub delivered: u64,
    /// In how long; zero if nothing new arrived.
    pub interval: Span,
    /// Segments that had been delivered when that segment was sent.
    pub prior: u64,
    /// Whether the application limited the rate.
    pub limited: bool,
    /// The round trip of the latest segment that was sent only once.
    pub rtt: Option<Span>,
}

/// The account of what was delivered.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The outstanding segments, from number `base`.
    records: VecDeque<Record>,
    base: u32,
    delivered: u64,
    delivered_at: Time,
    flight_start: Time,
    /// What is sent until so much is delivered is limited by the application; 0 if nothing is.
    limited: u64,
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            records: VecDeque::new(),
            base: 1,
            delivered: 0,
            delivered_at: Time::ZERO,
            flight_start: Time::ZERO,
            limited: 0,
        }
    }
}

impl Delivery {
    /// Segments delivered so far.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// When the last segment was delivered.
    #[must_use]
    pub const fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    /// Whether the application limits the rate.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        self.limited > 0
    }

    /// The application has nothing more to send while so many segments are outstanding.
    pub fn limit(&mut self, in_flight: u32) {
        self.limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// A segment is sent; `idle` if nothing was outstanding.
    pub fn on_send(&mut self, now: Time, seq: u32, idle: bool) {
        if idle {
            (self.flight_start, self.delivered_at) = (now, now);
        }
        let mut record = Record {
            sent: now,
            flight_start: self.flight_start,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            again: false,
            limited: self.is_limited(),
            arrived: false,
        };
        // The SYN, number 0, is not data.
        let Some(i) = seq.checked_sub(self.base) else { return };
        match self.records.get_mut(i as usize) {
            Some(old) => {
                record.again = true;
                record.arrived = old.arrived;
                *old = record;
            }
            None => self.records.push_back(record),
        }
    }

    /// Takes in what an acknowledgement says has arrived.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) -> Sample {
        let mut latest: Option<Record> = None;
        let mut rtt_of: Option<Time> = None;
        let before = self.delivered;
        let mut arrive = |record: &mut Record, delivered: &mut u64| {
            if std::mem::replace(&mut record.arrived, true) {
                return;
            }
            *delivered += 1;
            if latest.is_none_or(|latest| record.sent >= latest.sent) {
                latest = Some(*record);
            }
            if !record.again {
                rtt_of = rtt_of.max(Some(record.sent));
            }
        };
        while self.base < ack.next {
            let Some(mut record) = self.records.pop_front() else { break };
            self.base += 1;
            arrive(&mut record, &mut self.delivered);
        }
        for &(low, high) in &ack.blocks {
            for seq in low.max(self.base)..high {
                let Some(record) = self.records.get_mut((seq - self.base) as usize) else { break };
                arrive(record, &mut self.delivered);
            }
        }
        if self.delivered > self.limited {
            self.limited = 0;
        }
        let mut sample = Sample {
            newly: (self.delivered - before) as u32,
            delivered: 0,
            interval: Span::ZERO,
            prior: 0,
            limited: false,
            rtt: rtt_of.map(|sent| now.since(sent)),
        };
        if let Some(record) = latest {
            self.delivered_at = now;
            self.flight_start = record.sent;
            let (sending, acking) = (record.sent.since(record.flight_start), now.since(record.delivered_at));
            sample.delivered = self.delivered - record.delivered;
            sample.interval = sending.max(acking);
            sample.prior = record.delivered;
            sample.limited = record.limited;
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    fn ack(next: u32, block: (u32, u32)) -> Ack {
        Ack { next, blocks: [block, (0, 0), (0, 0)], ..Ack::default() }
    }

    #[test]
    fn the_rate_is_what_arrived_over_the_longer_of_sending_and_acknowledging() {
        let mut delivery = Delivery::default();
        // Four segments, 1 ms apart; the ACKs come 10 ms apart from 100 ms on.
        (1..=4).for_each(|seq| delivery.on_send(at(u64::from(seq) - 1), seq, seq == 1));
        let first = delivery.on_ack(at(100), &ack(2, (0, 0)));
        assert_eq!((first.newly, first.delivered, first.interval), (1, 1, Span::ms(100)));
        assert_eq!(first.rtt, Some(Span::ms(100)));
        let third = delivery.on_ack(at(120), &ack(4, (0, 0)));
        // 2 and 3 were sent when nothing had arrived since 0 ms: 3 delivered in 120 ms.
        assert_eq!((third.newly, third.delivered, third.interval), (2, 3, Span::ms(120)));
        delivery.on_send(at(121), 5, false);
        delivery.on_ack(at(130), &ack(5, (0, 0)));
        // 4 and 5 arrived since 5 was sent: 101 ms to acknowledge, but 119 to send, since 3 at 2 ms.
        let fifth = delivery.on_ack(at(221), &ack(6, (0, 0)));
        assert_eq!((fifth.delivered, fifth.interval, fifth.prior), (2, Span::ms(119), 3));
    }

    #[test]
    fn a_segment_counts_once_however_often_it_is_acknowledged() {
        let mut delivery = Delivery::default();
        (1..=5).for_each(|seq| delivery.on_send(at(0), seq, seq == 1));
        assert_eq!(delivery.on_ack(at(50), &ack(1, (3, 5))).newly, 2);
        let again = delivery.on_ack(at(51), &ack(1, (3, 5)));
        assert_eq!((again.newly, again.interval, again.rtt), (0, Span::ZERO, None));
        delivery.on_send(at(52), 1, false);
        let rest = delivery.on_ack(at(99), &ack(6, (0, 0)));
        assert_eq!((rest.newly, delivery.delivered()), (3, 5));
        assert_eq!(rest.rtt, Some(Span::ms(99)), "2 and 5 were sent once, 1 twice");
    }

    #[test]
    fn what_is_sent_while_the_application_limits_is_marked_so() {
        let mut delivery = Delivery::default();
        delivery.on_send(at(0), 1, true);
        delivery.limit(1);
        delivery.on_send(at(1), 2, false);
        assert!(!delivery.on_ack(at(50), &ack(2, (0, 0))).limited);
        assert!(delivery.on_ack(at(51), &ack(3, (0, 0))).limited);
        assert!(!delivery.is_limited(), "more has arrived than was outstanding then");
    }
}
