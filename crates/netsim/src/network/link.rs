//! A link: a rate, a delay, and a buffer in front. Packets in flight wait in a ring; only the first is an event.

use crate::engine::clock::{Clock, ClockArithmetic as _, Instant, Lapse};
use crate::engine::event::{Key, NO_SLOT, instant};
use crate::engine::rng::Stream;
use crate::network::aqm_queue::AqmQueue;
use crate::network::ns2_transmitter::Ns2Transmitter;
use crate::network::random_loss::RandomLoss;
use crate::packet::Packet;
use aqm::ring::Ring;
use aqm::unit::{Limit, Rate, Span, Time};
use scenario::model;
use std::ops::Range;

/// A packet in flight, and when it reaches the other end.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Flight {
    pub(crate) arrival: Key,
    pub(crate) packet: Packet,
}

/// The end of a packet's transmission, and its arrival at the link's other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) sent: Instant,
    pub(crate) arrival: Instant,
}

/// The transmission times of packets.
#[derive(Debug)]
pub(crate) struct Wire {
    clock: Clock,
    pub(crate) rate: Rate,
    pub(crate) delay: Lapse,
    /// Bytes that the link adds to every packet.
    pub(crate) overhead: u32,
    /// Size of the last packet without them, how long it was in transmission, and until it was at the other end: most have the
    /// same size.
    last: (u32, Lapse, Lapse),
    /// The link, if it has the rates of a recording, between which a packet in transmission may change.
    recorded: Option<Box<model::Link>>,
}

/// One direction of a link. A link without measured buffer is plain: drop-tail, with each departure time known on
/// arrival.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) wire: Wire,
    pub(super) limit: Limit,
    /// When the wire of a plain link is free, on the integer clock.
    free: Instant,
    /// When the transmission of each packet that waits at a plain link starts, with the bytes that it takes there.
    waiting: Ring<(Instant, u16)>,
    waiting_bytes: u64,
    /// The transmitter of a plain link on the double clock.
    pub(crate) ns2: Ns2Transmitter,
    /// The measurement window of the run.
    window: Range<Instant>,
    /// Bytes of the packets whose transmission over a plain link starts in the window: known when they come to the link,
    /// whether that is before their time or not.
    bytes: u64,
    /// Packets that a plain link had no room for.
    pub(crate) drops: u64,
    /// The place on the event list of the first of these.
    pub(crate) slot: usize,
    /// The packets in flight.
    pub(crate) line: Ring<Flight>,
    /// The process that loses packets at random, before they come to the queue.
    pub(crate) random_loss: Option<Box<RandomLoss>>,
    /// The queue of a link that is not plain.
    pub(crate) aqm_queue: Option<Box<AqmQueue>>,
}

/// The propagation delay of a link in the run with this seed: the same in both directions.
pub(crate) fn delay(link: &model::Link, seed: u64) -> Span {
    let cable = link.name.trim_end_matches(":reverse");
    Stream::new(seed, &format!("link.{cable}.delay")).draw(&link.delay)
}

impl Wire {
    /// Sends at another rate from the next packet on.
    fn change(&mut self, rate: Rate) {
        self.rate = rate;
        self.last.0 = 0;
    }

    /// Computes the transmission time for another size.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, start: Instant, size: u32) {
        let bytes = size + self.overhead;
        let transmission = match &self.recorded {
            None => self.clock.transmission(self.rate, bytes),
            Some(link) => {
                let start = Span::ns(self.clock.time(start).nanos());
                self.clock.lapse(Span::ns(link.sent(start, bytes).nanos() - start.nanos()))
            }
        };
        // No packet has no bytes: on a recorded link each is measured.
        let size = if self.recorded.is_some() { 0 } else { size };
        self.last = (size, transmission, self.clock.sum(transmission, self.delay));
    }

    /// The transmission of a packet of `size` bytes that starts at `start`.
    #[inline]
    pub(crate) fn send(&mut self, start: Instant, size: u32) -> Transmission {
        if self.last.0 != size {
            self.measure(start, size);
        }
        let (sent, arrival) = (self.clock.after(start, self.last.1), self.clock.after(start, self.last.2));
        Transmission { sent, arrival }
    }
}

impl Link {
    pub(crate) fn new(
        clock: Clock,
        link: &model::Link,
        delay: Span,
        seed: u64,
        window: Range<Instant>,
        aqm_queue: Option<Box<AqmQueue>>,
    ) -> Self {
        let nothing = clock.lapse(Span::ZERO);
        Self {
            wire: Wire {
                clock,
                rate: link.rate,
                delay: clock.lapse(delay),
                overhead: link.overhead.0 as u32,
                last: (0, nothing, nothing),
                recorded: link.recorded.then(|| Box::new(link.clone())),
            },
            limit: link.buffer,
            free: Instant::ZERO,
            waiting: Ring::new(),
            waiting_bytes: 0,
            ns2: Ns2Transmitter::new(),
            window,
            bytes: 0,
            drops: 0,
            slot: NO_SLOT,
            line: Ring::new(),
            random_loss: link.loss.clone().map(|loss| {
                Box::new(RandomLoss::new(loss, Stream::new(seed, &format!("link.{}.loss", link.name))))
            }),
            aqm_queue,
        }
    }

    /// Sends at another rate from the next packet on; the packet in transmission keeps its own, unless the link is recorded.
    pub(crate) fn change(&mut self, now: Time, rate: Rate) {
        if let Some(aqm_queue) = &mut self.aqm_queue {
            aqm_queue.note_rate(now, self.wire.rate);
        }
        self.wire.change(rate);
    }

    /// Its queue and statistics.
    ///
    /// # Panics
    /// If it is plain.
    #[inline]
    pub(crate) fn aqm_queue(&mut self) -> &mut AqmQueue {
        self.aqm_queue.as_deref_mut().expect("only a link with an AQM has this queue")
    }

    /// A plain link accepts a packet at `at`; returns the time of its arrival at the other end, `None` if it is dropped.
    /// Packets are offered in the order of their times. A transmission that starts at `at` comes first.
    #[inline(always)]
    pub(crate) fn accept(&mut self, at: Instant, size: u16) -> Option<Instant> {
        if self.free <= at {
            if self.waiting_bytes > 0 {
                self.waiting.clear();
                self.waiting_bytes = 0;
            }
            self.free = at;
        } else {
            while let Some(&(start, size)) = self.waiting.front()
                && start <= at
            {
                self.waiting.pop_front();
                self.waiting_bytes -= u64::from(size);
            }
            let framed = size + self.wire.overhead as u16;
            if self.limit.refuses(self.waiting.len() as u32, self.waiting_bytes, u32::from(framed)) {
                return None;
            }
            self.waiting.push_back((self.free, framed));
            self.waiting_bytes += u64::from(framed);
        }
        let Transmission { sent, arrival } = self.send_plain(self.free, size);
        self.free = sent;
        Some(arrival)
    }

    /// A plain link sends a packet, whose transmission starts at `start`.
    #[inline(always)]
    pub(super) fn send_plain(&mut self, start: Instant, size: u16) -> Transmission {
        if self.window.contains(&start) {
            self.bytes += u64::from(u32::from(size) + self.wire.overhead);
        }
        self.wire.send(start, u32::from(size))
    }

    /// Bits that a plain link has sent / bits that it could have sent in the measurement window, which lasts for `seconds`.
    /// A packet counts if its transmission starts in the window.
    pub(crate) fn plain_utilisation(&self, seconds: f64) -> f64 {
        (self.bytes as f64 * 8.0 / (self.wire.rate.bits() * seconds)).min(1.0)
    }

    /// Whether packets wait at `end`, and no transmission is under way that they could wait for.
    pub(crate) fn is_stuck(&self, end: Instant, time: Time) -> bool {
        let queue = self.aqm_queue.as_ref().is_some_and(|aqm_queue| {
            // To the nanosecond, a floating-point clock may be a moment before it.
            !(aqm_queue.outside.is_some()
                || aqm_queue.queue.is_empty()
                || aqm_queue.busy && aqm_queue.sent >= time)
        });
        queue || !self.ns2.waiting.is_empty() && instant(self.ns2.ready) <= end
    }

    /// The packets that wait here or are under way to the other end.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let queued =
            self.aqm_queue.iter().flat_map(|aqm_queue| aqm_queue.queue.waiting().map(|(_, packet)| packet));
        self.line.iter().map(|flight| &flight.packet).chain(self.ns2.waiting.iter()).chain(queued)
    }
}
