//! A queue for any program: packets, time and link are the caller's.

use crate::algorithm::{Algorithm, One};
use crate::any::AnyDiscipline;
use crate::aqm::AnyParams;
use crate::contract::{Aqm, CLASSES, Packet, Port, Uniform};
use crate::discipline::{Ack, Label};
use crate::hash::mix;
use crate::params::ParamError;
use crate::queue::{Counts, Frame, Outcome, Queue};
use crate::unit::{Span, Time};
use alloc::vec::Vec;

/// The two ECN bits of a packet (RFC 3168), with the values that they have there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[repr(u8)]
pub enum Ecn {
    /// Its transport is not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECN-capable, with scalable congestion control (RFC 9331).
    Ect1 = 1,
    /// ECN-capable.
    Ect0 = 2,
    /// Congestion has been experienced.
    Ce = 3,
}

impl Ecn {
    /// The codepoint in the lowest two bits of a byte, such as the traffic class of IPv6 or the byte at its place in
    /// IPv4.
    #[must_use]
    pub const fn of(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// What a queue may know of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Size on the wire in bytes.
    pub size: u32,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// Its differentiated services code point (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Represents the five-tuple, such as by a hash: equal for all packets of a connection in one direction.
    pub flow: u64,
    /// Represents the host that sent it, such as by its IPv4 address.
    pub source: u32,
    /// Represents the host to which it goes.
    pub destination: u32,
    /// Whether its protocol is UDP.
    pub udp: bool,
    /// Its class of service, 1 to [`CLASSES`].
    pub class: u8,
    /// What it says, if it is a TCP acknowledgement without data; only CAKE reads it.
    pub ack: Option<Ack>,
}

impl Header {
    /// A packet of this size, not ECN-capable, of an unspecified flow.
    #[must_use]
    pub const fn new(size: u32) -> Self {
        let (ecn, dscp, flow, source, destination) = (Ecn::NotEct, 0, 0, 0, 0);
        Self { size, ecn, dscp, flow, source, destination, udp: false, class: 1, ack: None }
    }

    fn packet(&self) -> Packet {
        Packet {
            l4s: matches!(self.ecn, Ecn::Ect1 | Ecn::Ce),
            udp: self.udp,
            flow: self.flow,
            pair: self.source.wrapping_mul(0x9e37_79b9) ^ self.destination,
            ..Packet::new(self.size, self.ecn != Ecn::NotEct)
        }
    }

    const fn label(&self) -> Label {
        Label { source: self.source, destination: self.destination, dscp: self.dscp & 63, ack: self.ack }
    }
}

/// SplitMix64 (Steele et al., 2014) from this seed: random numbers for a queue.
#[derive(Clone, Debug)]
pub struct Seeded(pub u64);

impl Seeded {
    /// 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        let bits = mix(self.0, 0);
        self.0 = self.0.wrapping_add(crate::hash::GOLDEN);
        bits
    }
}

impl Uniform for Seeded {
    #[inline]
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The numbers of a source, which may be the caller's: one that is not in `[0, 1)` becomes the nearest that is, and NaN
/// becomes 0.
#[derive(Clone, Debug)]
struct Confined<R>(R);

impl<R: Uniform> Uniform for Confined<R> {
    #[inline]
    fn uniform(&mut self) -> f64 {
        // The other operand if one is NaN.
        f64::max(self.0.uniform(), 0.0).min(1.0 - f64::EPSILON / 2.0)
    }
}

/// A packet that waits: its place in the store, and what the algorithm reads.
#[derive(Clone, Copy, Debug)]
struct Ticket {
    packet: Packet,
    place: u32,
    ecn: Ecn,
}

impl Frame for Ticket {
    #[inline]
    fn packet(&self) -> Packet {
        self.packet
    }
    #[inline]
    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn row(&self) -> usize {
        self.packet.place()
    }
}

/// The packets that wait. A place that is free again is used first, so the store is as large as the longest queue was.
#[derive(Clone, Debug)]
struct Store<P> {
    places: Vec<Option<P>>,
    free: Vec<u32>,
}

impl<P> Store<P> {
    #[inline]
    fn put(&mut self, packet: P) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(packet);
            return place;
        }
        self.places.push(Some(packet));
        self.places.len() as u32 - 1
    }

    #[inline]
    fn take(&mut self, place: u32) -> P {
        self.free.push(place);
        self.places[place as usize].take().expect("a ticket is used once")
    }
}

/// Times count from the first call; later ones, after 146 years, are taken for this one.
const LAST: Span = Span::ns(1 << 62);

/// Periodic updates that one call makes up for at most: after a long silence there are others, which are left out.
const MOST_UPDATES: u32 = 10_000;

/// The class of service of each row of counters.
const ROWS: [u8; CLASSES as usize] = [1, 2, 3, 4];

/// A queue of packets `P`, which are the caller's own, under an algorithm `D`: any by name ([`Qdisc::new`]) or one
/// alone ([`Qdisc::alone`]).
///
/// It has no clock: every call states the time, and one that runs backwards stands still. It performs the algorithm's
/// periodic updates by itself, before the packet of a call. Packets that it drops, be they the arrival or waiting ones,
/// are handed back by [`Qdisc::dropped`].
#[derive(Clone, Debug)]
pub struct Qdisc<P, D = AnyDiscipline, R = Seeded> {
    queue: Queue<Ticket, D>,
    store: Store<P>,
    dropped: Vec<(P, Outcome)>,
    random: Confined<R>,
    reads_labels: bool,
    /// The time of the first call.
    start: Option<Time>,
    /// The latest time, and that of the next update, since the start.
    now: Time,
    due: Time,
    period: Option<Span>,
}

impl<P> Qdisc<P> {
    /// An empty queue in front of a link, under any algorithm. `seed` determines its random numbers.
    ///
    /// # Errors
    /// If the parameters are out of range, do not fit together or do not fit the port.
    pub fn new(params: &AnyParams, port: &Port, seed: u64) -> Result<Self, ParamError> {
        let mut checked = AnyParams::of(params.name()).unwrap_or_else(|| params.clone());
        for (name, value) in params.values() {
            checked.set(name, &value)?;
        }
        params.check()?;
        port.check()?;
        params.check_on(port)?;
        Ok(Self::around(params.build(port), port, seed))
    }
}

impl<P, A: Aqm> Qdisc<P, One<A>> {
    /// An empty queue in front of a link, under the algorithm `A` alone: a program that has only such queues contains
    /// no other algorithm. Its parameters must be in the ranges that their declaration states.
    ///
    /// # Errors
    /// If the parameters do not fit together or do not fit the port.
    pub fn alone(params: &A::Params, port: &Port, seed: u64) -> Result<Self, ParamError> {
        A::check(params)?;
        port.check()?;
        A::check_on(params, port)?;
        Ok(Self::around(One::new(params, port), port, seed))
    }
}

impl<P, D: Algorithm> Qdisc<P, D> {
    fn around(algorithm: D, port: &Port, seed: u64) -> Self {
        let period = algorithm.period();
        Self {
            reads_labels: algorithm.reads_labels(),
            queue: Queue::new(algorithm, port, &ROWS),
            store: Store { places: Vec::new(), free: Vec::new() },
            dropped: Vec::new(),
            random: Confined(Seeded(seed)),
            start: None,
            now: Time::ZERO,
            due: Time::ZERO + period.unwrap_or_default(),
            period,
        }
    }
}

impl<P, D: Algorithm, R: Uniform> Qdisc<P, D, R> {
    /// The same queue with random numbers from `random`. One that is not in `[0, 1)` counts as the nearest that is, and
    /// NaN as 0.
    pub fn with_random<Q: Uniform>(self, random: Q) -> Qdisc<P, D, Q> {
        let Self { queue, store, dropped, random: _, reads_labels, start, now, due, period } = self;
        Qdisc { queue, store, dropped, random: Confined(random), reads_labels, start, now, due, period }
    }

    /// Hands over a packet at the time `now`. Packets that are dropped, perhaps this one, are then in
    /// [`Qdisc::dropped`].
    pub fn enqueue(&mut self, now: Time, header: Header, packet: P) -> Outcome {
        let now = self.advance(now);
        if self.reads_labels {
            self.queue.label_next(header.label());
        }
        let place = self.store.put(packet);
        let ticket =
            Ticket { packet: Packet { class: header.class, ..header.packet() }, place, ecn: header.ecn };
        let Self { queue, store, dropped, random, .. } = self;
        let (outcome, _) = queue.enqueue_or(now, ticket, random, |sent, outcome| {
            dropped.push((store.take(sent.frame.place), outcome));
        });
        if matches!(outcome, Outcome::DroppedEarly | Outcome::Overflowed) {
            dropped.push((store.take(place), outcome));
        }
        outcome
    }

    /// The packet that the link sends next, with its ECN codepoint, which may be CE now; `None` if none waits, or
    /// none may be sent yet: see [`Qdisc::paused_until`]. To be called when the link is free. Packets that are
    /// dropped instead are then in [`Qdisc::dropped`].
    pub fn dequeue(&mut self, now: Time) -> Option<(P, Ecn)> {
        let now = self.advance(now);
        let Self { queue, store, dropped, random, .. } = self;
        let sent = queue.dequeue_or(now, random, |sent| {
            dropped.push((store.take(sent.frame.place), Outcome::DroppedEarly));
        })?;
        Some((store.take(sent.frame.place), sent.frame.ecn))
    }

    /// The packets that it holds, in any order: those that wait, and those of [`Qdisc::dropped`].
    pub fn packets(&self) -> impl Iterator<Item = &P> {
        self.store.places.iter().flatten().chain(self.dropped.iter().map(|(packet, _)| packet))
    }

    /// Ends the queue; returns the packets that wait, in any order.
    pub fn into_packets(self) -> impl Iterator<Item = P> {
        self.store.places.into_iter().flatten()
    }

    /// The packets that the last call dropped, with the reason: [`Outcome::DroppedEarly`] or [`Outcome::Overflowed`].
    /// Those that are not taken out are gone with the next call.
    pub fn dropped(&mut self) -> impl Iterator<Item = (P, Outcome)> {
        self.dropped.drain(..)
    }

    /// When to ask for a packet again, if packets wait and a shaper holds them back. An arrival may come before.
    #[must_use]
    pub fn paused_until(&self) -> Option<Time> {
        let until = self.queue.paused_until(self.now)?;
        let start = self.start.unwrap_or_default();
        Some(Time::from_nanos(start.nanos().saturating_add(until.nanos())))
    }

    /// The number of waiting packets.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no packet waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The bytes of the waiting packets.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.queue.backlog(0).bytes
    }

    /// The counters of all packets since the start.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.queue.counts().iter().fold(Counts::default(), |sum, row| sum.plus(row))
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> &D {
        self.queue.algorithm()
    }

    /// Begins a call: returns the time since the start, after the updates that are due until then.
    #[inline]
    fn advance(&mut self, now: Time) -> Time {
        self.dropped.clear();
        let start = *self.start.get_or_insert(now);
        self.now = self.now.max(Time::ZERO + now.since(start).min(LAST));
        if let Some(period) = self.period.filter(|_| self.due <= self.now) {
            self.update(period);
        }
        self.now
    }

    #[inline(never)]
    fn update(&mut self, period: Span) {
        for _ in 0..MOST_UPDATES {
            self.queue.on_period(self.due);
            self.due += period;
            if self.due > self.now {
                return;
            }
            if self.queue.rests() {
                break;
            }
        }
        self.due += period * (self.now.since(self.due).nanos() / period.nanos() + 1);
    }
}
