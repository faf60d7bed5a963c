//! A link: a rate, a delay, and a buffer in front. Packets in flight wait in a ring; only the first is an event.

use crate::engine::clock::{Clock, ClockArithmetic as _, Double, Integer, SimSpan, SimTime};
use crate::engine::event::NO_SLOT;
use crate::engine::order::{ElapsedRank, Key, Order, time_of};
use crate::engine::rng::Stream;
use crate::network::access::Access;
use crate::network::aqm_queue::AqmQueue;
use crate::network::gate::Gate;
use crate::network::medium::Medium;
use crate::network::wander::Wander;
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
#[derive(Clone, Copy, Default, Debug)]
struct Lengths {
    transmission: SimSpan,
    passage: SimSpan,
    /// The rank of the end of the transmission, and that of the arrival.
    sent: ElapsedRank,
    arrived: ElapsedRank,
}

/// The end of a packet's transmission, and its arrival at the link's other end, each with its rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) sent: (SimTime, ElapsedRank),
    pub(crate) arrival: (SimTime, ElapsedRank),
}

/// A packet's passage over a link, from the start of its transmission to the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage<M> {
    pub(crate) start: M,
    pub(crate) arrival: (SimTime, ElapsedRank),
}

impl<M: Copy> Passage<M> {
    /// When the packet is at the other end, with its rank.
    #[inline]
    pub(crate) fn end<C: Order<EventTime = M>>(&self, clock: C) -> M {
        clock.effect(self.start, self.arrival.1, self.arrival.0)
    }
}

/// A packet that waits at a plain link: when its transmission starts, the rank of the end of the one before, and its bytes.
#[derive(Clone, Copy, Default, Debug)]
struct QueuedPacket {
    start: SimTime,
    before: ElapsedRank,
    bytes: u16,
}

/// What puts packets on the wire: the link's rate and delay, and the transmission times that follow.
#[derive(Debug)]
pub(crate) struct Transmitter {
    clock: Clock,
    pub(crate) rate: Rate,
    /// Of a link whose delay varies none.
    pub(crate) delay: SimSpan,
    /// Bytes that the link adds to every packet.
    pub(crate) overhead: u32,
    /// How the length on the wire follows from a packet's size, if the link has framing.
    framing: Option<framing::WireLength>,
    /// The size of the last packet, without the link's bytes, and its times, because most packets have the same size; and
    /// those of the last one of another size, because acknowledgements have two.
    last: (u32, Lengths),
    other: (u32, Lengths),
    /// The link, if a packet in transmission may change its rate.
    recorded: Option<Box<model::Link>>,
}

/// One direction of a link. A link without measured buffer is plain: drop-tail, with each departure time known on
/// arrival.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) transmitter: Transmitter,
    pub(super) limit: Limit,
    /// When a plain link's transmitter is free, and the rank that follows from the length of the transmission until then.
    free: (SimTime, ElapsedRank),
    /// The packets that wait at a plain link, with the bytes that they take there.
    waiting: Ring<QueuedPacket>,
    waiting_bytes: u64,
    /// The measurement window of the run.
    window: Range<SimTime>,
    /// Bytes of the packets whose transmission over a plain link starts in the window. They are counted when they come to the
    /// link, which may be ahead of time.
    bytes: u64,
    /// Packets that a plain link had no room for.
    pub(crate) drops: u64,
    /// The slot on the event list for the first packet of `line`.
    pub(crate) slot: usize,
    /// The packets in flight.
    pub(crate) line: Ring<Flight>,
    /// The draws for each packet, if the delay varies.
    pub(crate) wander: Option<Box<Wander>>,
    /// Where packets are lost before they come to the queue, if any are.
    pub(crate) gate: Option<Box<Gate>>,
    /// The queue of a link that is not plain.
    pub(crate) aqm_queue: Option<Box<AqmQueue>>,
}

/// The propagation delay of a link in the run with this seed: the same in both directions.
pub(crate) fn delay(link: &model::Link, seed: u64) -> Span {
    Stream::new(seed, &format!("link.{}.delay", link.cable())).draw(&link.delay)
}

/// The gate of a link.
fn gate(link: &model::Link, seed: u64) -> Box<Gate> {
    Box::new(Gate::new(link, Stream::new(seed, &format!("link.{}.loss", link.name))))
}

impl Transmitter {
    /// Sends at another rate from the next packet on.
    fn change(&mut self, rate: Rate) {
        self.rate = rate;
        self.forget();
    }

    /// Each time is computed anew.
    fn forget(&mut self) {
        (self.last.0, self.other.0) = (0, 0);
    }

    /// The part of a packet's transmission that lies between two times, in units that serve only for ratios: the time, or the
    /// bits if a packet may change its rate.
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

    /// Finds the transmission time of another size than the last.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, start: SimTime, size: u32) {
        std::mem::swap(&mut self.last, &mut self.other);
        if self.last.0 == size {
            return;
        }
        let bytes = self.length(size);
        let transmission = match &self.recorded {
            None => self.clock.transmission(self.rate, bytes),
            Some(link) => {
                let start = Span::ns(self.clock.time(start).nanos());
                self.clock.sim_span(Span::ns(link.sent(start, bytes).nanos() - start.nanos()))
            }
        };
        // No packet has 0 bytes, so that on a recorded link every transmission is computed anew.
        let size = if self.recorded.is_some() { 0 } else { size };
        let passage = self.clock.sum(transmission, self.delay);
        let [sent, arrived] = [transmission, passage].map(|elapsed| match self.clock {
            Clock::Integer => ElapsedRank::default(),
            Clock::Double => Double.elapsed_rank(elapsed),
        });
        self.last = (size, Lengths { transmission, passage, sent, arrived });
    }

    /// The transmission of a packet of `size` bytes that starts at `start`.
    #[inline]
    pub(crate) fn send<C: Order>(&mut self, clock: C, start: SimTime, size: u32) -> Transmission {
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
        window: Range<SimTime>,
        aqm_queue: Option<Box<AqmQueue>>,
    ) -> Self {
        let nothing = clock.sim_span(Span::ZERO);
        let wander = Wander::of(link, delay, seed);
        Self {
            transmitter: Transmitter {
                clock,
                rate: link.rate,
                delay: if wander.is_some() { nothing } else { clock.sim_span(delay) },
                overhead: link.overhead.0 as u32,
                framing: link.framing.as_ref().map(|framing| framing.wire(link.overhead.0 as u32)),
                last: (0, Lengths::default()),
                other: (0, Lengths::default()),
                recorded: link.goes_on().then(|| Box::new(link.clone())),
            },
            limit: link.buffer,
            free: (SimTime::ZERO, ElapsedRank::default()),
            waiting: Ring::new(),
            waiting_bytes: 0,
            window,
            bytes: 0,
            drops: 0,
            slot: NO_SLOT,
            line: Ring::new(),
            wander,
            gate: link.has_gate().then(|| gate(link, seed)),
            aqm_queue,
        }
    }

    /// Sends at another rate from the next packet on; the packet in transmission keeps its own, unless it goes on at the new one.
    pub(crate) fn change(&mut self, now: Time, rate: Rate) {
        if let Some(aqm_queue) = &mut self.aqm_queue {
            aqm_queue.note_rate(now, self.transmitter.rate);
            aqm_queue.queue.set_rate(rate);
            match aqm_queue.access.as_deref_mut() {
                Some(Access::Ethernet(station)) => station.set_rate(rate),
                Some(Access::Wifi(radio)) => radio.phy.set_rate(rate),
                _ => {}
            }
        }
        self.transmitter.change(rate);
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

    /// Its delay at `now`, without jitter.
    pub(crate) fn delay_at(&self, now: Time) -> Span {
        let clock = self.transmitter.clock;
        let own = || clock.time(clock.after(SimTime::ZERO, self.transmitter.delay)) - Time::ZERO;
        self.wander.as_ref().map_or_else(own, |wander| wander.delay_at(now))
    }

    /// Packets lost before they came to the queue.
    pub(crate) fn losses(&self) -> u64 {
        self.gate.as_ref().map_or(0, |gate| gate.losses)
    }

    /// Delays packets by `delay` from now on. Those on the way go on faster or slower in the same proportion.
    pub(super) fn set_delay(&mut self, delay: Span, now: Time) {
        let old = Integer.time(Integer.after(SimTime::ZERO, self.transmitter.delay)).nanos();
        self.transmitter.delay = Integer.sim_span(delay);
        self.transmitter.forget();
        let (now, new) = (now.nanos(), delay.nanos());
        for i in 0..self.line.len() {
            let flight = self.line.get_mut(i).expect("as many are on the way");
            let left = Integer.time(time_of(flight.arrival)).nanos() - now;
            // Before a packet has left the host its delay is whole.
            let left = match left.checked_sub(old) {
                Some(before) => before + new,
                None => (u128::from(left) * u128::from(new) / u128::from(old)) as u64,
            };
            // The present event is over.
            let arrival = Integer.sim_time(Time::from_nanos(now + left.max(1)));
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

    /// A plain link accepts a packet, or drops it (`None`). Packets are offered in the order of their times and ranks.
    #[inline(always)]
    pub(crate) fn accept<C: Order>(
        &mut self,
        clock: C,
        coming: C::EventTime,
        size: u16,
    ) -> Option<Passage<C::EventTime>> {
        let start = if clock.is_sent_before(self.free.0, self.free.1, coming) {
            if self.waiting_bytes > 0 {
                self.waiting.clear();
                self.waiting_bytes = 0;
            }
            coming
        } else {
            while let Some(&QueuedPacket { start, before, bytes }) = self.waiting.front()
                && clock.is_sent_before(start, before, coming)
            {
                self.waiting.pop_front();
                self.waiting_bytes -= u64::from(bytes);
            }
            let bytes = size + self.transmitter.overhead as u16;
            if self.limit.refuses(self.waiting.len() as u32, self.waiting_bytes, u32::from(bytes)) {
                return None;
            }
            let (start, before) = self.free;
            self.waiting.push_back(QueuedPacket { start, before, bytes });
            self.waiting_bytes += u64::from(bytes);
            // The rank of its effects depends on the length of the transmission before it, at whose end it starts, and not on
            // what caused that.
            clock.effect(coming, before, start)
        };
        let at = clock.at(start);
        if self.window.contains(&at) {
            self.bytes += u64::from(self.transmitter.length(u32::from(size)));
        }
        let Transmission { sent, arrival } = self.transmitter.send(clock, at, u32::from(size));
        self.free = sent;
        Some(Passage { start, arrival })
    }

    /// Moves the end of the measurement window. Packets that wait then were counted when they came.
    pub(crate) fn end_at(&mut self, end: SimTime) {
        let overhead = self.transmitter.overhead;
        for packet in
            self.waiting.iter().filter(|packet| self.window.contains(&packet.start) && packet.start >= end)
        {
            self.bytes -= u64::from(self.transmitter.length(u32::from(packet.bytes) - overhead));
        }
        self.window.end = end;
    }

    /// Bits that a plain link has sent / the bits of its `capacity` in the measurement window. A packet counts if its
    /// transmission starts in the window.
    pub(crate) fn plain_utilisation(&self, capacity: f64) -> f64 {
        (self.bytes as f64 * 8.0 / capacity).min(1.0)
    }

    /// Whether packets wait at `time`, the end of the run, for no reason: no transmission is under way, and the algorithm does
    /// not pause the link.
    pub(crate) fn is_stuck(&self, time: Time, media: &[Medium]) -> bool {
        let before = Time::from_nanos(time.nanos().saturating_sub(1));
        self.aqm_queue.as_ref().is_some_and(|aqm_queue| {
            // To the nanosecond, a floating-point clock may be a moment before it.
            let waits_for_driver =
                matches!(aqm_queue.access.as_deref(), Some(&Access::Driver(lan)) if media[lan].driver_is_full());
            !(aqm_queue.outside.is_some()
                || waits_for_driver
                || aqm_queue.queue.is_empty()
                || aqm_queue.busy && aqm_queue.sent >= time
                || aqm_queue.queue.paused_until(before).is_some())
        })
    }

    /// The packets that wait here or are under way to the other end.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let queued =
            self.aqm_queue.iter().flat_map(|aqm_queue| aqm_queue.queue.waiting().map(|stored| stored.frame));
        let access = self.aqm_queue.iter().filter_map(|aqm_queue| aqm_queue.access.as_ref());
        let contends = access.flat_map(|access| access.frames()).map(|frame| &frame.packet);
        self.line.iter().map(|flight| &flight.packet).chain(queued).chain(contends)
    }
}
