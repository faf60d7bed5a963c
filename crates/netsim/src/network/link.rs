//! A link: a rate, a delay, and a buffer in front. Packets in flight wait in a ring; only the first is an event.

use crate::engine::clock::{Clock, ClockArithmetic as _, Double, Instant, Integer, Lapse};
use crate::engine::event::NO_SLOT;
use crate::engine::order::{Key, Order, Seniority, instant};
use crate::engine::rng::Stream;
use crate::network::aqm_queue::AqmQueue;
use crate::network::gate::Gate;
use crate::packet::Packet;
use aqm::framing;
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

/// How long a packet is in transmission, and how long until it has arrived at the link's other end.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    transmission: Lapse,
    passage: Lapse,
    /// The seniority of the end of the transmission, and that of the arrival.
    sent: Seniority,
    arrived: Seniority,
}

/// The end of a packet's transmission, and its arrival at the link's other end, each with its seniority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) sent: (Instant, Seniority),
    pub(crate) arrival: (Instant, Seniority),
}

/// A packet's passage over a link, from the start of its transmission, at the moment `start`, to the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage<M> {
    pub(crate) start: M,
    pub(crate) arrival: (Instant, Seniority),
}

impl<M: Copy> Passage<M> {
    /// The moment at which the packet is at the other end.
    #[inline]
    pub(crate) fn end<C: Order<Moment = M>>(&self, clock: C) -> M {
        clock.effect(self.start, self.arrival.1, self.arrival.0)
    }
}

/// A packet that waits at a plain link: when its transmission starts, the seniority of the end of the one before, and its bytes.
#[derive(Clone, Copy, Default, Debug)]
struct Waiting {
    start: Instant,
    before: Seniority,
    bytes: u16,
}

/// The transmission times of packets.
#[derive(Debug)]
pub(crate) struct Wire {
    clock: Clock,
    pub(crate) rate: Rate,
    pub(crate) delay: Lapse,
    /// Bytes that the link adds to every packet.
    pub(crate) overhead: u32,
    /// The length on the wire, if that is another one.
    framing: Option<framing::Wire>,
    /// Size of the last packet without them, and its times: most have the same size.
    last: (u32, Lengths),
    /// The link, if it has the rates of a recording, between which a packet in transmission may change.
    recorded: Option<Box<model::Link>>,
}

/// One direction of a link. A link without measured buffer is plain: drop-tail, with each departure time known on
/// arrival.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) wire: Wire,
    pub(super) limit: Limit,
    /// When the wire of a plain link is free, after a transmission that takes so long.
    free: (Instant, Seniority),
    /// The packets that wait at a plain link, with the bytes that they take there.
    waiting: Ring<Waiting>,
    waiting_bytes: u64,
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
    /// Where packets are lost before they come to the queue, if any are.
    pub(crate) gate: Option<Box<Gate>>,
    /// The queue of a link that is not plain.
    pub(crate) aqm_queue: Option<Box<AqmQueue>>,
}

/// The propagation delay of a link in the run with this seed: the same in both directions.
pub(crate) fn delay(link: &model::Link, seed: u64) -> Span {
    let cable = link.name.trim_end_matches(":reverse");
    Stream::new(seed, &format!("link.{cable}.delay")).draw(&link.delay)
}

/// The gate of a link.
fn gate(link: &model::Link, seed: u64) -> Box<Gate> {
    Box::new(Gate::new(link, Stream::new(seed, &format!("link.{}.loss", link.name))))
}

impl Wire {
    /// Sends at another rate from the next packet on.
    fn change(&mut self, rate: Rate) {
        self.rate = rate;
        self.last.0 = 0;
    }

    /// The work on a packet between two times of its transmission, for its share of the work between two others: the
    /// time at a constant rate, the bits if a recording has the rates.
    pub(crate) fn work(&self, from: Time, to: Time) -> f64 {
        match &self.recorded {
            None => (to - from).nanos() as f64,
            Some(link) => link.capacity(from - Time::ZERO, to - Time::ZERO),
        }
    }

    /// The bytes that a packet of `size` bytes takes on the wire.
    pub(crate) fn length(&self, size: u32) -> u32 {
        let bytes = size + self.overhead;
        self.framing.map_or(bytes, |framing| framing.length(bytes))
    }

    /// Computes the transmission time for another size.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, start: Instant, size: u32) {
        let bytes = self.length(size);
        let transmission = match &self.recorded {
            None => self.clock.transmission(self.rate, bytes),
            Some(link) => {
                let start = Span::ns(self.clock.time(start).nanos());
                self.clock.lapse(Span::ns(link.sent(start, bytes).nanos() - start.nanos()))
            }
        };
        // No packet has no bytes: on a recorded link each is measured.
        let size = if self.recorded.is_some() { 0 } else { size };
        let passage = self.clock.sum(transmission, self.delay);
        let [sent, arrived] = [transmission, passage].map(|lapse| match self.clock {
            Clock::Integer => Seniority::default(),
            Clock::Double => Double.seniority(lapse),
        });
        self.last = (size, Lengths { transmission, passage, sent, arrived });
    }

    /// The transmission of a packet of `size` bytes that starts at `start`.
    #[inline]
    pub(crate) fn send<C: Order>(&mut self, clock: C, start: Instant, size: u32) -> Transmission {
        if self.last.0 != size {
            self.measure(start, size);
        }
        let Lengths { transmission, passage, sent, arrived } = self.last.1;
        Transmission {
            sent: (clock.after(start, transmission), sent),
            arrival: (clock.after(start, passage), arrived),
        }
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
                framing: link.framing.as_ref().map(|framing| framing.wire(link.overhead.0 as u32)),
                last: (
                    0,
                    Lengths {
                        transmission: nothing,
                        passage: nothing,
                        sent: Seniority::default(),
                        arrived: Seniority::default(),
                    },
                ),
                recorded: link.recorded.then(|| Box::new(link.clone())),
            },
            limit: link.buffer,
            free: (Instant::ZERO, Seniority::default()),
            waiting: Ring::new(),
            waiting_bytes: 0,
            window,
            bytes: 0,
            drops: 0,
            slot: NO_SLOT,
            line: Ring::new(),
            gate: link.has_gate().then(|| gate(link, seed)),
            aqm_queue,
        }
    }

    /// Sends at another rate from the next packet on; the packet in transmission keeps its own, unless the link is recorded.
    pub(crate) fn change(&mut self, now: Time, rate: Rate) {
        if let Some(aqm_queue) = &mut self.aqm_queue {
            aqm_queue.note_rate(now, self.wire.rate);
            aqm_queue.queue.set_rate(rate);
        }
        self.wire.change(rate);
    }

    /// A plain link has another buffer from now on. The packets that wait beyond it stay.
    pub(crate) const fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Loses packets as `link` does from now on.
    pub(crate) fn set_loss(&mut self, link: &model::Link, seed: u64) {
        match &mut self.gate {
            Some(gate) => gate.change(link.loss.clone()),
            None => self.gate = Some(gate(link, seed)),
        }
    }

    /// Packets lost before they came to the queue.
    pub(crate) fn losses(&self) -> u64 {
        self.gate.as_ref().map_or(0, |gate| gate.losses)
    }

    /// Delays packets by `delay` from now on. Those on the way go on as much faster or slower.
    pub(super) fn set_delay(&mut self, delay: Span, now: Time) {
        let old = Integer.time(Integer.after(Instant::ZERO, self.wire.delay)).nanos();
        self.wire.delay = Integer.lapse(delay);
        self.wire.last.0 = 0;
        let (now, new) = (now.nanos(), delay.nanos());
        for i in 0..self.line.len() {
            let flight = self.line.get_mut(i).expect("as many are on the way");
            let left = Integer.time(instant(flight.arrival)).nanos() - now;
            // Before a packet has left the host its delay is whole.
            let left = match left.checked_sub(old) {
                Some(before) => before + new,
                None => (u128::from(left) * u128::from(new) / u128::from(old)) as u64,
            };
            // The present event is over.
            let arrival = Integer.instant(Time::from_nanos(now + left.max(1)));
            flight.arrival = Integer.key(arrival) | Key::from(flight.arrival as u64);
        }
    }

    /// Its queue and statistics.
    ///
    /// # Panics
    /// If it is plain.
    #[inline]
    pub(crate) fn aqm_queue(&mut self) -> &mut AqmQueue {
        self.aqm_queue.as_deref_mut().expect("only a link with an AQM has this queue")
    }

    /// A plain link accepts a packet, or drops it (`None`). Packets are offered in the order of their moments.
    #[inline(always)]
    pub(crate) fn accept<C: Order>(
        &mut self,
        clock: C,
        coming: C::Moment,
        size: u16,
    ) -> Option<Passage<C::Moment>> {
        let start = if clock.precedes(self.free.0, self.free.1, coming) {
            if self.waiting_bytes > 0 {
                self.waiting.clear();
                self.waiting_bytes = 0;
            }
            coming
        } else {
            while let Some(&Waiting { start, before, bytes }) = self.waiting.front()
                && clock.precedes(start, before, coming)
            {
                self.waiting.pop_front();
                self.waiting_bytes -= u64::from(bytes);
            }
            let bytes = size + self.wire.overhead as u16;
            if self.limit.refuses(self.waiting.len() as u32, self.waiting_bytes, u32::from(bytes)) {
                return None;
            }
            let (start, before) = self.free;
            self.waiting.push_back(Waiting { start, before, bytes });
            self.waiting_bytes += u64::from(bytes);
            // What follows from the start depends on how long the transmission before it took, not on its cause.
            clock.effect(coming, before, start)
        };
        let at = clock.at(start);
        if self.window.contains(&at) {
            self.bytes += u64::from(self.wire.length(u32::from(size)));
        }
        let Transmission { sent, arrival } = self.wire.send(clock, at, u32::from(size));
        self.free = sent;
        Some(Passage { start, arrival })
    }

    /// Bits that a plain link has sent / the bits of its `capacity` in the measurement window. A packet counts if its
    /// transmission starts in the window.
    pub(crate) fn plain_utilisation(&self, capacity: f64) -> f64 {
        (self.bytes as f64 * 8.0 / capacity).min(1.0)
    }

    /// Whether packets wait at `time`, the end, and neither is a transmission under way that they could wait for nor does the
    /// algorithm pause the link.
    pub(crate) fn is_stuck(&self, time: Time) -> bool {
        let before = Time::from_nanos(time.nanos().saturating_sub(1));
        self.aqm_queue.as_ref().is_some_and(|aqm_queue| {
            // To the nanosecond, a floating-point clock may be a moment before it.
            !(aqm_queue.outside.is_some()
                || aqm_queue.queue.is_empty()
                || aqm_queue.busy && aqm_queue.sent >= time
                || aqm_queue.queue.paused_until(before).is_some())
        })
    }

    /// The packets that wait here or are under way to the other end.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let queued =
            self.aqm_queue.iter().flat_map(|aqm_queue| aqm_queue.queue.waiting().map(|stored| stored.frame));
        self.line.iter().map(|flight| &flight.packet).chain(queued)
    }
}
