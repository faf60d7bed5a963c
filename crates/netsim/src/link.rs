//! A link: a rate, a delay, and a buffer in front. Packets in flight wait in a ring; only the first is an event.

use crate::event::Key;
use crate::loss::Losses;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::stats::{Delays, Occupancy, Settling};
use aqm::unit::{Limit, Rate, Span, Time};
use aqm::{Bytes, Port, Queue};
use scenario::Scenario;
use scenario::model;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Managed {
    pub(crate) queue: Queue<Packet>,
    pub(crate) rng: Stream,
    pub(crate) busy: bool,
    /// When the packet in transmission is sent completely.
    pub(crate) sent: Time,
    /// The class of that packet.
    pub(crate) sending: usize,
    /// How much of the packet in transmission at the end of the warm-up was still to be sent, and its class.
    pub(crate) unsent_at_warmup: (Span, usize),
    /// Its number among the managed links, and the number of its transmitter's slot.
    pub(crate) number: usize,
    pub(crate) ready_slot: usize,
    pub(crate) period_slot: usize,
    /// Size of the usual packet, to tell whether there is room for another.
    pub(crate) packet: Bytes,
    pub(crate) occupancy: Occupancy,
    pub(crate) settling: Option<Settling>,
    /// A row a class.
    pub(crate) delays: Vec<Delays>,
    pub(crate) losses: Losses,
}

/// How long packets take to send.
#[derive(Debug)]
pub(crate) struct Wire {
    rate: Rate,
    /// Size and transmission time of the last packet: most have the same size.
    last: (u32, Span),
}

/// One direction of a link. Where nobody measures its buffer it is plain: tail-drop, and when a packet leaves is
/// known when it comes.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) wire: Wire,
    delay: Span,
    limit: Limit,
    /// When the wire of a plain link is free.
    free: Time,
    /// When the transmission of each packet that waits at a plain link starts, with its size.
    waiting: VecDeque<(Time, u16)>,
    waiting_bytes: u64,
    /// Packets that a plain link had no room for.
    pub(crate) drops: u64,
    /// When each packet in flight reaches the other end, with the event's number.
    pub(crate) line: VecDeque<(Key, Packet)>,
    /// The queue of a link that is not plain.
    pub(crate) managed: Option<Box<Managed>>,
}

impl Managed {
    pub(crate) fn new(
        link: &model::Link,
        aqm: &aqm::AnyParams,
        scenario: &Scenario,
        seed: u64,
        (number, ready_slot, period_slot): (usize, usize, usize),
        observed: bool,
    ) -> Self {
        let port = Port { rate: link.rate, delay: link.delay, limit: link.buffer, packet: link.packet };
        let classes = scenario.traffic.len();
        let target = scenario.target().filter(|_| observed);
        Self {
            queue: Queue::new(aqm.build(&port), &port, classes),
            rng: Stream::new(seed, &format!("link.{}.aqm", link.name)),
            busy: false,
            sent: Time::ZERO,
            sending: 0,
            unsent_at_warmup: (Span::ZERO, 0),
            number,
            ready_slot,
            period_slot,
            packet: link.packet,
            occupancy: Occupancy::new(),
            settling: target.map(|target| Settling::new(target, &scenario.response)),
            delays: (0..classes).map(|_| Delays::new()).collect(),
            losses: Losses::new(classes, scenario.record.loss_event),
        }
    }

    /// Notes that the queue's length has changed.
    #[inline]
    pub(crate) fn note_length(&mut self, now: Time) {
        let length = self.queue.len();
        let full = self.queue.backlog(self.packet.0 as u32).full;
        self.occupancy.change(now, length, full);
        if let Some(settling) = &mut self.settling {
            settling.change(now, length);
        }
    }
}

impl Wire {
    /// How long a packet of `size` bytes is in transmission.
    #[inline]
    pub(crate) fn transmission(&mut self, size: u32) -> Span {
        if self.last.0 != size {
            self.last = (size, self.rate.transmission(size));
        }
        self.last.1
    }
}

impl Link {
    pub(crate) fn new(link: &model::Link, managed: Option<Box<Managed>>) -> Self {
        Self {
            wire: Wire { rate: link.rate, last: (0, Span::ZERO) },
            delay: link.delay,
            limit: link.buffer,
            free: Time::ZERO,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            drops: 0,
            line: VecDeque::new(),
            managed,
        }
    }

    /// When a packet reaches the other end that was sent completely at `sent`.
    #[inline]
    pub(crate) fn far_end(&self, sent: Time) -> Time {
        sent + self.delay
    }

    /// A plain link takes in a packet at `at`, and tells when it reaches the other end; `None` if it is dropped.
    /// Packets are offered in the order of their times. A transmission that starts at `at` comes first.
    #[inline]
    pub(crate) fn accept(&mut self, at: Time, size: u16) -> Option<Time> {
        if self.free <= at {
            self.waiting.clear();
            self.waiting_bytes = 0;
            self.free = at;
        } else {
            while let Some(&(start, size)) = self.waiting.front()
                && start <= at
            {
                self.waiting.pop_front();
                self.waiting_bytes -= u64::from(size);
            }
            if self.limit.refuses(self.waiting.len() as u32, self.waiting_bytes, u32::from(size)) {
                self.drops += 1;
                return None;
            }
            self.waiting.push_back((self.free, size));
            self.waiting_bytes += u64::from(size);
        }
        self.free += self.wire.transmission(u32::from(size));
        Some(self.far_end(self.free))
    }
}
