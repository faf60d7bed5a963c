//! A link: a rate, a delay, and a buffer in front. Packets in flight wait in a ring; only the first is an event.

use crate::engine::clock::{Clock, ClockArithmetic as _, Instant, Lapse};
use crate::engine::event::{Key, instant};
use crate::engine::rng::Stream;
use crate::measure::loss_runs::Losses;
use crate::measure::probe::Owner;
use crate::measure::stats::{Delays, Occupancy, Settling};
use crate::network::random_loss::RandomLoss;
use crate::packet::Packet;
use aqm::queue::Counts;
use aqm::ring::Ring;
use aqm::unit::{Limit, Rate, Span, Time};
use aqm::{Bytes, Port, Queue};
use scenario::Scenario;
use scenario::model;

/// A packet in flight, and when it reaches the other end.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Flight {
    pub(crate) arrival: Key,
    pub(crate) packet: Packet,
}

/// What has no place on the event list.
pub(crate) const NO_SLOT: usize = usize::MAX;

#[derive(Debug)]
pub(crate) struct AqmQueue {
    pub(crate) queue: Queue<Packet>,
    pub(crate) rng: Stream,
    pub(crate) busy: bool,
    /// When the transmission of the last packet began, and when it is over.
    began: Time,
    pub(crate) sent: Time,
    /// Where the link works ahead, what is due next.
    pub(crate) ahead: Option<Ahead>,
    /// What that packet belongs to, and its bytes on the link.
    pub(crate) sending: Owner,
    sending_bytes: u32,
    /// Bits of the packet in transmission at the end of the warm-up that were still to be sent, and its owner.
    pub(crate) unsent_at_warmup: (f64, Owner),
    idle: Idle,
    /// Its number among the links with an AQM, and the number of its transmitter's slot.
    pub(crate) number: usize,
    pub(crate) ready_slot: usize,
    pub(crate) period_slot: usize,
    /// The counters at the end of the warm-up.
    pub(crate) at_warmup: Vec<Counts>,
    /// Size of the usual packet, to tell whether there is room for another.
    pub(crate) packet: Bytes,
    pub(crate) occupancy: Occupancy,
    pub(crate) settling: Settling,
    /// A row a class.
    pub(crate) delays: Vec<Delays>,
    pub(crate) losses: Losses,
    /// One for each queue that has a name; none where the algorithm names none.
    pub(crate) meters: Vec<Meter>,
}

/// What the link could have sent while it had nothing to send. With what it did send it makes the link's capacity: so
/// a packet that keeps its rate through a change of the link's leaves no room for others meanwhile.
#[derive(Clone, Copy, Default, Debug)]
struct Idle {
    /// Since when there is nothing to send, where this is so.
    since: Time,
    /// Nanoseconds without anything to send at the present rate, up to then.
    ns: u64,
    /// Bits that it could have sent at the rates before.
    bits: f64,
}

/// What a queue that works ahead catches up with (see [`crate::network::ahead`]).
#[derive(Debug)]
pub(crate) struct Ahead {
    /// The earliest of what is due: the transmitter's being free (`AqmQueue::sent`) and these two.
    pub(crate) due: Time,
    /// The end of the algorithm's period, if it has one.
    pub(crate) period: Time,
    /// The end of the warm-up, until it is over.
    pub(crate) warmup: Time,
    /// When the wire is free of all that has been let in.
    pub(crate) free: Instant,
}

/// What is measured at one of the queues that share a buffer.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) occupancy: Occupancy,
    pub(crate) delays: Delays,
    /// Its counters at the end of the warm-up.
    pub(crate) at_warmup: Counts,
}

/// How long packets take to send.
#[derive(Debug)]
pub(crate) struct Wire {
    clock: Clock,
    pub(crate) rate: Rate,
    delay: Lapse,
    /// Bytes that the link adds to every packet.
    pub(crate) overhead: u32,
    /// Size of the last packet without them, how long it was in transmission, and until it was at the other end: most have the
    /// same size.
    last: (u32, Lapse, Lapse),
}

/// One direction of a link. Where nobody measures its buffer it is plain: tail-drop, and when a packet leaves is
/// known when it comes.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) wire: Wire,
    limit: Limit,
    /// When the wire of a plain link is free, on the integer clock.
    free: Instant,
    /// When the transmission of each packet that waits at a plain link starts, with the bytes that it takes there.
    waiting: Ring<(Instant, u16)>,
    waiting_bytes: u64,
    /// The same on the double clock.
    pub(crate) ns2: Ns2Transmitter,
    /// Packets that a plain link had no room for.
    pub(crate) drops: u64,
    /// The place on the event list of the first of these.
    pub(crate) slot: usize,
    /// The packets in flight.
    pub(crate) line: Ring<Flight>,
    /// What is lost by chance, before it comes to the queue.
    pub(crate) random_loss: Option<Box<RandomLoss>>,
    /// The queue of a link that is not plain.
    pub(crate) aqm_queue: Option<Box<AqmQueue>>,
}

/// A plain link whose packets leave one at a time, each when its transmission begins: where several are due at one
/// instant, ns-2's order is that of the beginnings.
#[derive(Debug)]
pub(crate) struct Ns2Transmitter {
    waiting: Ring<Packet>,
    waiting_bytes: u64,
    /// When the wire is free. The event is there only if a packet waits for it.
    pub(crate) ready: Key,
}

impl Ns2Transmitter {
    const fn new() -> Self {
        Self { waiting: Ring::new(), waiting_bytes: 0, ready: 0 }
    }

    /// Whether a packet that comes now must wait.
    #[inline]
    pub(crate) fn is_busy(&self, now: Key) -> bool {
        now < self.ready || !self.waiting.is_empty()
    }

    /// The next packet, now that the wire is free, and whether others wait.
    fn next(&mut self, overhead: u32) -> (Packet, bool) {
        let packet = self.waiting.pop_front().expect("the event is there only if a packet waits");
        self.waiting_bytes -= u64::from(u32::from(packet.size) + overhead);
        (packet, !self.waiting.is_empty())
    }
}

/// How long a bit travels on a link in the run with this seed: the same in both directions.
pub(crate) fn delay(link: &model::Link, seed: u64) -> Span {
    let cable = link.name.trim_end_matches(":reverse");
    Stream::new(seed, &format!("link.{cable}.delay")).draw(&link.delay)
}

impl AqmQueue {
    pub(crate) fn new(
        link: &model::Link,
        aqm: &aqm::AnyParams,
        scenario: &Scenario,
        seed: u64,
        number: usize,
        delay: Span,
        observed: bool,
    ) -> Self {
        let port = Port { rate: link.rate, delay, limit: link.buffer, packet: link.packet };
        let services: Vec<u8> = scenario.traffic.iter().map(|traffic| traffic.class).collect();
        let classes = services.len();
        let target = scenario.target().filter(|_| observed);
        let queue = Queue::new(aqm.build(&port), &port, &services);
        let lanes = queue.algorithm().lanes();
        Self {
            queue,
            ahead: None,
            rng: Stream::new(seed, &format!("link.{}.aqm", link.name)),
            busy: false,
            began: Time::ZERO,
            sent: Time::ZERO,
            sending: Owner::default(),
            sending_bytes: 0,
            unsent_at_warmup: (0.0, Owner::default()),
            idle: Idle::default(),
            number,
            ready_slot: NO_SLOT,
            period_slot: NO_SLOT,
            at_warmup: vec![Counts::default(); classes],
            packet: link.packet,
            occupancy: Occupancy::new(Some(link.buffer)),
            settling: Settling::new(target, &scenario.response),
            delays: (0..classes).map(|_| Delays::new()).collect(),
            losses: Losses::new(classes, lanes, scenario.record.loss_event),
            meters: link.lanes().iter().map(|_| Meter::new()).collect(),
        }
    }

    /// Notes that the queue's length has changed.
    #[inline(always)]
    pub(crate) fn note_length(&mut self, now: Time) {
        let (queue, usual) = (&self.queue, self.packet.0 as u32);
        self.settling.roll(now, &self.occupancy);
        self.occupancy.change(now, queue.len(), || queue.backlog(usual).full);
        if !self.meters.is_empty() {
            self.note_lanes(now);
        }
    }

    #[inline(never)]
    fn note_lanes(&mut self, now: Time) {
        for (meter, lane) in self.meters.iter_mut().zip(self.queue.lanes()) {
            meter.occupancy.change(now, lane.packets as usize, || false);
        }
    }

    /// From the start on, the link works ahead.
    pub(crate) fn work_ahead(&mut self, warmup: Time) {
        let period = self.queue.period().map_or(Time::MAX, |period| Time::ZERO + period);
        self.ahead = Some(Ahead { due: period.min(warmup), period, warmup, free: Instant::ZERO });
    }

    /// Notes what is due next where the link works ahead.
    #[inline]
    pub(crate) fn note_due(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            let ready = if self.busy { self.sent } else { Time::MAX };
            ahead.due = ahead.period.min(ready).min(ahead.warmup);
        }
    }

    /// A packet has come to an idle link.
    #[inline]
    pub(crate) fn end_idleness(&mut self, now: Time) {
        self.busy = true;
        self.idle.ns += (now - self.idle.since).nanos();
    }

    /// There is no packet to send.
    #[inline]
    pub(crate) fn begin_idleness(&mut self, now: Time) {
        self.busy = false;
        self.idle.since = now;
    }

    /// The transmission of a packet with `bytes` on the link begins.
    #[inline]
    pub(crate) fn note_sending(&mut self, now: Time, owner: Owner, bytes: u32) {
        (self.began, self.sending, self.sending_bytes) = (now, owner, bytes);
    }

    /// Until `now` the link's rate was `rate`.
    fn note_rate(&mut self, now: Time, rate: Rate) {
        self.idle = Idle { since: now, ns: 0, bits: self.idle_bits(now, rate) };
    }

    /// Bits that the link, with the rate `rate`, could have sent in this window while it had nothing to send.
    pub(crate) fn idle_bits(&self, now: Time, rate: Rate) -> f64 {
        let Idle { since, ns, bits } = self.idle;
        let waiting = if self.busy { 0 } else { (now - since).nanos() };
        bits + Span::ns(ns + waiting).secs() * rate.bits()
    }

    /// Bits of the packet in transmission that are still to be sent at `now`: of none 0, and never more than it has.
    pub(crate) fn unsent(&self, now: Time) -> f64 {
        let left = self.sent.since(now).nanos();
        if left == 0 {
            return 0.0;
        }
        let part = left as f64 / (self.sent - self.began).nanos() as f64;
        part * 8.0 * f64::from(self.sending_bytes)
    }

    /// From `now` on the statistics count.
    pub(crate) fn end_warmup(&mut self, now: Time) {
        self.note_length(now);
        self.occupancy.reset(now);
        self.unsent_at_warmup = (self.unsent(now), self.sending);
        self.idle = Idle { since: now, ..Idle::default() };
        self.queue.begin_window();
        self.at_warmup.copy_from_slice(self.queue.counts());
        self.delays.iter_mut().for_each(Delays::reset);
        self.losses.reset();
        for (meter, counts) in self.meters.iter_mut().zip(self.queue.lane_counts()) {
            meter.occupancy.reset(now);
            meter.delays.reset();
            meter.at_warmup = *counts;
        }
    }
}

impl Meter {
    fn new() -> Self {
        Self { occupancy: Occupancy::new(None), delays: Delays::new(), at_warmup: Counts::default() }
    }
}

impl Wire {
    /// Sends at another rate from the next packet on.
    fn change(&mut self, rate: Rate) {
        self.rate = rate;
        self.last.0 = 0;
    }

    /// Works out how long packets of another size take.
    #[cold]
    #[inline(never)]
    fn measure(&mut self, size: u32) {
        let transmission = self.clock.transmission(self.rate, size + self.overhead);
        self.last = (size, transmission, self.clock.sum(transmission, self.delay));
    }

    /// When a packet of `size` bytes whose transmission starts at `start` is sent, and when it is at the other end.
    #[inline]
    pub(crate) fn send(&mut self, start: Instant, size: u32) -> (Instant, Instant) {
        if self.last.0 != size {
            self.measure(size);
        }
        (self.clock.after(start, self.last.1), self.clock.after(start, self.last.2))
    }
}

impl Link {
    pub(crate) fn new(
        clock: Clock,
        link: &model::Link,
        delay: Span,
        seed: u64,
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
            },
            limit: link.buffer,
            free: Instant::ZERO,
            waiting: Ring::new(),
            waiting_bytes: 0,
            ns2: Ns2Transmitter::new(),
            drops: 0,
            slot: NO_SLOT,
            line: Ring::new(),
            random_loss: link.loss.clone().map(|loss| {
                Box::new(RandomLoss::new(loss, Stream::new(seed, &format!("link.{}.loss", link.name))))
            }),
            aqm_queue,
        }
    }

    /// Sends at another rate from the next packet on; what is in transmission keeps its own.
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

    /// A plain link takes in a packet at `at`, and tells when it reaches the other end; `None` if it is dropped.
    /// Packets are offered in the order of their times. A transmission that starts at `at` comes first.
    #[inline(always)]
    pub(crate) fn accept(&mut self, at: Instant, size: u16) -> Option<Instant> {
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
            let framed = size + self.wire.overhead as u16;
            if self.limit.refuses(self.waiting.len() as u32, self.waiting_bytes, u32::from(framed)) {
                return None;
            }
            self.waiting.push_back((self.free, framed));
            self.waiting_bytes += u64::from(framed);
        }
        let (sent, arrival) = self.wire.send(self.free, u32::from(size));
        self.free = sent;
        Some(arrival)
    }

    /// The next packet that waits at a plain link, now that the wire is free, and whether others do.
    pub(crate) fn next(&mut self) -> (Packet, bool) {
        self.ns2.next(self.wire.overhead)
    }

    /// A busy plain link takes in a packet that waits for the wire: how many wait before it, if there is room.
    pub(crate) fn wait(&mut self, packet: Packet) -> Option<u32> {
        let ns2 = &mut self.ns2;
        let (length, size) = (ns2.waiting.len() as u32, u32::from(packet.size) + self.wire.overhead);
        if self.limit.refuses(length, ns2.waiting_bytes, size) {
            return None;
        }
        ns2.waiting_bytes += u64::from(size);
        ns2.waiting.push_back(packet);
        Some(length)
    }

    /// Whether packets wait at `end`, and no transmission is under way that they could wait for.
    pub(crate) fn is_stuck(&self, end: Instant, time: Time) -> bool {
        let queue = self.aqm_queue.as_ref().is_some_and(|aqm_queue| {
            // To the nanosecond, a floating-point clock may be a moment before it.
            !(aqm_queue.queue.is_empty() || aqm_queue.busy && aqm_queue.sent >= time)
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
