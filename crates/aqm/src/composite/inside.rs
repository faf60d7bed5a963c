//! A discipline inside another: its lanes, what waits in them, and its limit.

use crate::algorithm::Algorithm;
use crate::any::AnyDiscipline;
use crate::composite::Part;
use crate::contract::{Backlog, Packet, Port, Reading, Uniform, Verdict};
use crate::discipline::{Eviction, Label, Lane};
use crate::unit::{Limit, Rate, Span, Time};
use alloc::boxed::Box;

/// A discipline inside another. Lanes are numbered as in the outer one; after those of the discipline itself comes one
/// for the packet that had to be taken out to be known, if that can happen.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    // A discipline inside may have others inside.
    algorithm: Box<AnyDiscipline>,
    limit: Limit,
    /// The rate at which it is served at most, whatever the link's is.
    most: Option<Rate>,
    first: usize,
    own: usize,
    is_peekable: bool,
    has_p: bool,
    packets: u32,
    bytes: u64,
    /// The packet taken out: the lane that it joined, and its size.
    held: Option<(usize, u32)>,
    /// Whether the packet served now is to be taken out, and the lane that it joined.
    taking: bool,
    from: usize,
    /// A lane that may have changed, and its packets and bytes before.
    touched: Option<(usize, u32, u64)>,
    making_room: bool,
    /// The lane of an arrival for which there was no room.
    over: Option<usize>,
    /// Whether it knows that it is empty.
    idle: bool,
}

impl Inside {
    /// `port` is the outer one.
    pub(crate) fn new(part: &Part<'_>, port: &Port, first: usize) -> Self {
        let (params, port) = (part.aqm, part.port(port));
        let algorithm = params.build(&port);
        Self {
            own: algorithm.lanes(),
            is_peekable: algorithm.is_peekable(),
            has_p: params.signals().first().is_some_and(|signal| signal.name == "p"),
            algorithm: Box::new(algorithm),
            limit: port.limit,
            most: part.most,
            first,
            packets: 0,
            bytes: 0,
            held: None,
            taking: false,
            from: first,
            touched: None,
            making_room: false,
            over: None,
            idle: false,
        }
    }

    /// The number of its lanes.
    pub(crate) fn lanes(&self) -> usize {
        self.own + usize::from(!self.is_peekable)
    }

    pub(crate) const fn has(&self, lane: usize) -> bool {
        lane >= self.first && lane < self.first + self.own + !self.is_peekable as usize
    }

    /// One of its lanes, for a packet that never comes to it.
    pub(crate) const fn lane(&self) -> usize {
        self.first
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(crate) const fn is_peekable(&self) -> bool {
        self.is_peekable
    }

    const fn holder(&self) -> usize {
        self.first + self.own
    }

    fn of<'a>(&self, lanes: &'a [Lane]) -> &'a [Lane] {
        &lanes[self.first..self.first + self.own]
    }

    fn backlog(&self, size: u32, full: bool) -> Backlog {
        let full = full || self.limit.refuses(self.packets, self.bytes, size);
        Backlog { packets: self.packets, bytes: self.bytes, full }
    }

    fn touch(&mut self, lane: usize, lanes: &[Lane]) {
        self.touched = Some((lane, lanes[lane].packets, lanes[lane].bytes));
    }

    /// Counts what the queue has done to a lane since.
    fn settle(&mut self, lanes: &[Lane]) {
        if let Some((lane, packets, bytes)) = self.touched.take() {
            self.packets = self.packets + lanes[lane].packets - packets;
            self.bytes = self.bytes + lanes[lane].bytes - bytes;
        }
    }

    fn add(&mut self, size: u32) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    fn remove(&mut self, size: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }

    pub(crate) fn reads_labels(&self) -> bool {
        self.algorithm.reads_labels()
    }

    pub(crate) fn reads_acks(&self) -> bool {
        self.algorithm.reads_acks()
    }

    pub(crate) fn on_label(&mut self, label: Label) {
        self.algorithm.on_label(label);
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.algorithm.set_rate(self.most.map_or(rate, |most| most.min(rate)));
    }

    /// A waiting packet to be dropped because an arrival has no room here, or none `outside`.
    pub(crate) fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        outside: bool,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        self.settle(lanes);
        let backlog = self.backlog(packet.size, outside);
        let due = backlog.full || self.making_room || self.algorithm.has_limits_inside();
        if !due || self.packets == u32::from(self.held.is_some()) {
            return None;
        }
        let named = self.algorithm.make_room(now, packet, &backlog, self.of(lanes), rng);
        self.making_room = named.is_some();
        let (lane, place) = named?;
        self.touch(self.first + lane, lanes);
        Some((self.first + lane, place))
    }

    /// Also returns whether the packet waits now. An arrival that has no room here, although it has `outside`, joins its
    /// lane and is evicted from there.
    #[inline(never)]
    pub(crate) fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        outside: bool,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict, bool) {
        self.settle(lanes);
        (self.making_room, self.idle) = (false, false);
        let backlog = self.backlog(packet.size, outside);
        let (lane, verdict) = self.algorithm.on_enqueue(now, packet, &backlog, self.of(lanes), rng);
        let lane = self.first + lane;
        self.touch(lane, lanes);
        let waits = !backlog.full && matches!(verdict, Verdict::Pass | Verdict::Mark);
        if backlog.full && !outside && !matches!(verdict, Verdict::DropBoth(_)) {
            self.over = Some(lane);
            return (lane, Verdict::Pass, waits);
        }
        (lane, verdict, waits)
    }

    pub(crate) fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        self.settle(lanes);
        let eviction = match self.over.take() {
            Some(lane) => Eviction { lane, place: lanes[lane].packets - 1, full: true },
            None => {
                let Eviction { lane, place, full } = self.algorithm.evict(now, self.of(lanes))?;
                Eviction { lane: self.first + lane, place, full }
            }
        };
        self.touch(eviction.lane, lanes);
        Some(eviction)
    }

    /// Whether it has a packet that may leave now.
    #[inline(never)]
    pub(crate) fn can_serve(&mut self, now: Time, lanes: &[Lane]) -> bool {
        let is_ready = |algorithm: &mut AnyDiscipline, lanes| {
            algorithm.paused_until(now).is_none() && algorithm.can_serve(now, lanes)
        };
        let own = self.of(lanes);
        self.held.is_some() || self.packets > 0 && is_ready(&mut self.algorithm, own)
    }

    /// If it has packets but none that may leave: when it is to be asked again.
    pub(crate) fn paused_until(&self, now: Time) -> Option<Time> {
        if self.packets == 0 || self.held.is_some() { None } else { self.algorithm.paused_until(now) }
    }

    /// The size of the packet that leaves next, if it is known.
    pub(crate) fn peek(&self, lanes: &[Lane]) -> Option<u32> {
        match self.held {
            Some((_, size)) => Some(size),
            None if self.is_peekable && self.packets > 0 => self.algorithm.peek(self.of(lanes)),
            None => None,
        }
    }

    /// The lane that is served; with `taking`, to learn which packet leaves next.
    pub(crate) fn serve(&mut self, now: Time, lanes: &[Lane], taking: bool) -> usize {
        if self.held.is_some() {
            return self.holder();
        }
        self.taking = taking;
        let lane = self.algorithm.serve(now, self.of(lanes));
        self.from = self.first + self.algorithm.joined(lane);
        self.first + lane
    }

    /// The decision on a packet, and the lane in which it waits on if it does.
    #[inline(never)]
    pub(crate) fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        lane: usize,
        packet: &Packet,
        lanes: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> (Verdict, Option<usize>) {
        self.remove(packet.size);
        if lane == self.holder() {
            self.held = None;
            return (Verdict::Pass, None);
        }
        let backlog = self.backlog(0, false);
        let own = &lanes[self.first..self.first + self.own];
        let verdict =
            self.algorithm.on_dequeue(now, lane - self.first, || (*packet, backlog), own, sojourn, rng);
        let passes = matches!(verdict, Verdict::Pass | Verdict::Mark);
        let deeper = if passes { self.algorithm.kept().map(|lane| self.first + lane) } else { None };
        let kept = deeper.or_else(|| (passes && self.taking).then(|| self.holder()));
        if kept.is_some() {
            self.add(packet.size);
        }
        if kept.is_some() && deeper.is_none() {
            self.held = Some((self.from, packet.size));
        }
        (verdict, kept)
    }

    pub(crate) fn joined(&self, lane: usize) -> usize {
        match self.held {
            Some((joined, _)) if lane == self.holder() => joined,
            _ => self.first + self.algorithm.joined(lane - self.first),
        }
    }

    /// It has been asked for a packet while it is empty, or the link rests.
    pub(crate) fn rest(&mut self, now: Time) {
        if self.packets == 0 && !core::mem::replace(&mut self.idle, true) {
            self.algorithm.on_idle(now);
        }
    }

    pub(crate) fn period(&self) -> Option<Span> {
        self.algorithm.period()
    }

    pub(crate) fn on_period(&mut self, now: Time, lanes: &[Lane]) {
        let backlog = self.backlog(0, false);
        let age = lanes[self.first].age(now);
        self.algorithm.on_period(now, &backlog, &lanes[self.first..self.first + self.own], age);
    }

    pub(crate) fn overfull(&self, lanes: &[Lane]) -> Option<usize> {
        let own = &lanes[self.first..self.first + self.lanes()];
        let last = || own.iter().map(|lane| lane.tail).max().unwrap_or(0);
        if self.limit.holds(self.packets, self.bytes, last) {
            return Some(self.first + self.algorithm.overfull(self.of(lanes))?);
        }
        let since = |lane: &usize| own[*lane].head.map(|head| head.arrived);
        let waiting = (0..own.len()).filter(|lane| own[*lane].packets > 0);
        Some(self.first + waiting.min_by_key(since)?)
    }

    pub(crate) fn on_trim(&mut self, lane: usize, size: u32, lanes: &[Lane]) {
        self.remove(size);
        if lane == self.holder() {
            self.held = None;
        } else {
            self.algorithm.on_trim(lane - self.first, size, self.of(lanes));
        }
    }

    pub(crate) fn can_resume(&self, before: &Self) -> bool {
        (self.first, self.own, self.is_peekable) == (before.first, before.own, before.is_peekable)
            && self.algorithm.can_resume(&before.algorithm)
    }

    pub(crate) fn resume(&mut self, now: Time, before: Self) {
        self.algorithm.resume(now, *before.algorithm);
        (self.packets, self.bytes, self.idle) = (before.packets, before.bytes, before.idle);
        (self.held, self.taking, self.from) = (before.held, before.taking, before.from);
        (self.touched, self.over) = (before.touched, before.over);
    }

    pub(crate) fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        self.algorithm.counters(visit);
    }

    /// The drop probability, if it has one.
    pub(crate) fn p(&self) -> f64 {
        let mut p = 0.0;
        if self.has_p {
            self.algorithm.signals(|i, value| {
                if i == 0 {
                    p = value;
                }
            });
        }
        p
    }
}
