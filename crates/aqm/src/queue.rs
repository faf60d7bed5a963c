//! The queue in front of a link: storage, limit and counters, around one algorithm.

mod counts;
mod replace;

use alloc::boxed::Box;
use alloc::vec::Vec;
pub use counts::Counts;

use crate::algorithm::Algorithm;
use crate::any::AnyDiscipline;
use crate::contract::{Backlog, Packet, Port, Uniform, Verdict};
use crate::discipline::{Ack, Eviction, Head, Label, Lane};
use crate::ring::Ring;
use crate::unit::{Limit, Rate, Span, Time};

/// A packet as a host stores it.
pub trait Frame: Copy {
    /// The properties that the algorithm may read; the class of service is that of its row.
    fn packet(&self) -> Packet;
    /// Sets CE.
    fn mark(&mut self);
    /// What it says, if it is a TCP acknowledgement without data.
    fn ack(&self) -> Option<Ack> {
        None
    }
    /// The row of [`Queue::counts`] to which it belongs.
    fn row(&self) -> usize;
}

/// The outcome of an arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It waits.
    Queued,
    /// It waits, with CE set.
    Marked,
    /// The algorithm dropped it.
    DroppedEarly,
    /// The buffer was full.
    Overflowed,
}

/// A frame that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting<T> {
    arrived: Time,
    arrival: Arrival,
    frame: T,
}

impl<T: Frame> Waiting<T> {
    fn head(&self) -> Head {
        Head { arrived: self.arrived, size: self.frame.packet().size }
    }
}

/// The number of a frame's arrival and, in the lowest bit, whether it was marked then: it counts as marked once.
#[derive(Clone, Copy, Debug)]
struct Arrival(u64);

impl Arrival {
    const MARKED: u64 = 1;

    const fn new(number: u64) -> Self {
        Self(number << 1)
    }

    const fn number(self) -> u64 {
        self.0 >> 1
    }

    const fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }
}

/// A frame that leaves the queue, sent or dropped.
#[derive(Clone, Copy, Debug)]
pub struct Sent<T> {
    /// The frame.
    pub frame: T,
    /// The number of its arrival, counted from 0.
    pub number: u64,
    /// Its lane.
    pub lane: usize,
    /// The time that it waited.
    pub sojourn: Span,
}

/// A frame that waits in the queue.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a, T> {
    /// The frame.
    pub frame: &'a T,
    /// The number of its arrival, counted from 0.
    pub number: u64,
    /// Its lane.
    pub lane: usize,
    /// When it came.
    pub arrived: Time,
}

/// A place in a queue: a lane, and the number of frames there before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(usize, u32);

/// A buffer of frames `T` with a limit, an algorithm, and counters. It keeps one first-in first-out queue per lane of
/// the algorithm.
#[derive(Clone, Debug)]
pub struct Queue<T, D = AnyDiscipline> {
    algorithm: D,
    /// Whether it is around other disciplines.
    is_around: bool,
    limit: Limit,
    waiting: Vec<Ring<Waiting<T>>>,
    packets: u32,
    bytes: u64,
    /// The lanes as the algorithm sees them; maintained only if there are several.
    lanes: Vec<Lane>,
    arrivals: u64,
    /// The number of the first arrival in the window.
    window: u64,
    /// The class of service of each row.
    classes: Vec<u8>,
    counts: Vec<Counts>,
    lane_counts: Vec<Counts>,
    labels: Option<Box<Labels>>,
}

/// What the labels of packets are made from.
#[derive(Clone, Default, Debug)]
pub struct Labels {
    /// Source and destination, by [`Packet::pair`].
    pub hosts: Vec<[u32; 2]>,
    /// DSCPs, by row.
    pub dscps: Vec<u8>,
}

impl Labels {
    fn of(&self, row: usize, packet: &Packet, ack: Option<Ack>) -> Label {
        let [source, destination] = self.hosts.get(packet.pair as usize).copied().unwrap_or_default();
        Label { source, destination, dscp: self.dscps.get(row).copied().unwrap_or(0), ack }
    }
}

impl<T: Frame, D: Algorithm> Queue<T, D> {
    /// An empty queue on `port`, with a row of counters for each element of `classes`: the class of service of its
    /// packets.
    #[must_use]
    pub fn new(algorithm: D, port: &Port, classes: &[u8]) -> Self {
        let several = algorithm.several();
        let (lanes, several) = (several.unwrap_or(1), several.unwrap_or(0));
        Self {
            is_around: algorithm.has_limits_inside(),
            algorithm,
            limit: port.limit,
            waiting: (0..lanes).map(|_| Ring::new()).collect(),
            packets: 0,
            bytes: 0,
            lanes: vec![Lane::default(); several],
            arrivals: 0,
            window: 0,
            classes: classes.to_vec(),
            counts: vec![Counts::default(); classes.len()],
            lane_counts: vec![Counts::default(); several],
            labels: None,
        }
    }

    /// Sets what the labels of packets are made from, for an algorithm that reads them.
    pub fn set_labels(&mut self, labels: Labels) {
        self.labels = Some(Box::new(labels));
    }

    /// Hands over the label of the packet that arrives next, in place of one made from [`Labels`].
    pub fn label_next(&mut self, label: Label) {
        self.algorithm.on_label(label);
    }

    /// Adds the hosts of paths that are opened later to what labels are made from.
    pub fn add_hosts(&mut self, hosts: &[[u32; 2]]) {
        self.labels.iter_mut().for_each(|labels| labels.hosts.extend(hosts));
    }

    /// The backlog; `full` is whether another packet of `size` bytes would not fit.
    #[inline]
    #[must_use]
    pub fn backlog(&self, size: u32) -> Backlog {
        let full = self.limit.refuses(self.packets, self.bytes, size);
        Backlog { packets: self.packets, bytes: self.bytes, full }
    }

    /// The number of waiting packets.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.packets as usize
    }

    /// Whether no packet waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Whether the backlog is within the limit; [`Limit::BytesBefore`] allows one packet to exceed it.
    #[must_use]
    pub fn fits(&self) -> bool {
        let last = || {
            let last =
                self.waiting.iter().filter_map(|lane| lane.back()).max_by_key(|last| last.arrival.number());
            last.map_or(0, |last| last.frame.packet().size)
        };
        self.limit.holds(self.packets, self.bytes, last)
    }

    /// The counters, with one entry per row.
    #[must_use]
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// Begins the window of [`Counts::since`]: its ratios are those of the packets that arrive from now on.
    pub fn begin_window(&mut self) {
        self.window = self.arrivals;
    }

    /// The lanes, if there are several.
    #[inline]
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The counters of each of the lanes, if there are several.
    #[must_use]
    pub fn lane_counts(&self) -> &[Counts] {
        &self.lane_counts
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> &D {
        &self.algorithm
    }

    /// Sets the rate that the link has from now on, for a user-defined algorithm, also one inside another.
    pub fn set_rate(&mut self, rate: Rate) {
        self.algorithm.set_rate(rate);
    }

    /// Hands a value to a user-defined algorithm; see [`Instance::steer`](crate::user_defined::Instance::steer).
    pub fn steer(&mut self, value: f64) {
        self.algorithm.steer(value);
    }

    /// Passes an arrival to the algorithm and the buffer.
    #[inline]
    pub fn enqueue<R: Uniform>(&mut self, now: Time, frame: T, rng: &mut R) -> Outcome {
        self.enqueue_or(now, frame, rng, |_, _| {}).0
    }

    /// As [`Queue::enqueue`]; also returns the lane of the arrival, even if it is dropped. Waiting frames that are
    /// dropped because of this arrival go to `dropped`, with the reason: [`Outcome::DroppedEarly`] or
    /// [`Outcome::Overflowed`].
    #[inline]
    pub fn enqueue_or<R: Uniform>(
        &mut self,
        now: Time,
        frame: T,
        rng: &mut R,
        mut dropped: impl FnMut(&Sent<T>, Outcome),
    ) -> (Outcome, usize) {
        let number = self.arrivals;
        self.arrivals += 1;
        let row = frame.row();
        let packet = Packet { class: self.classes[row], ..frame.packet() };
        let mut backlog = self.backlog(packet.size);
        if let Some(labels) = &self.labels {
            let ack = if self.algorithm.reads_acks() { frame.ack() } else { None };
            self.algorithm.on_label(labels.of(row, &packet, ack));
        }
        if backlog.full || self.is_around {
            backlog = self.make_room(now, &packet, rng, &mut dropped);
        }
        let (lane, verdict) = self.algorithm.on_enqueue(now, &packet, &backlog, &self.lanes, rng);
        let outcome = match verdict {
            Verdict::DropBoth(_) => Outcome::DroppedEarly,
            _ if backlog.full => Outcome::Overflowed,
            Verdict::Drop => Outcome::DroppedEarly,
            Verdict::Mark => Outcome::Marked,
            Verdict::Pass => Outcome::Queued,
        };
        self.count(row, lane, |counts| counts.arrivals += 1);
        if matches!(outcome, Outcome::Queued | Outcome::Marked) {
            self.store(lane, Waiting { arrived: now, arrival: Arrival::new(number), frame });
        }
        match outcome {
            Outcome::Queued => {}
            Outcome::Marked => {
                self.count(row, lane, |counts| counts.marks += 1);
                let stored = self.waiting[lane].back_mut().expect("it has just been stored");
                stored.frame.mark();
                stored.arrival.0 |= Arrival::MARKED;
            }
            Outcome::DroppedEarly => {
                self.count(row, lane, |counts| counts.drops_early += 1);
                if let Verdict::DropBoth(place) = verdict {
                    let sent = self.drop_at(now, lane, place, false);
                    dropped(&sent, Outcome::DroppedEarly);
                }
            }
            Outcome::Overflowed => self.count(row, lane, |counts| counts.drops_overflow += 1),
        }
        (self.evict(now, number, outcome, dropped), lane)
    }

    /// Appends a frame to its lane. Inlined where packets arrive although it is called from elsewhere too.
    #[inline(always)]
    fn store(&mut self, lane: usize, waiting: Waiting<T>) {
        let size = waiting.frame.packet().size;
        self.packets += 1;
        self.bytes += u64::from(size);
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.packets += 1;
            lane.bytes += u64::from(size);
            lane.head.get_or_insert(waiting.head());
            lane.tail = size;
        }
        self.waiting[lane].push_back(waiting);
    }

    /// Drops the packets that the algorithm evicts after arrival `number`, which may be one of them; returns its
    /// outcome.
    #[inline]
    fn evict(
        &mut self,
        now: Time,
        number: u64,
        mut outcome: Outcome,
        mut dropped: impl FnMut(&Sent<T>, Outcome),
    ) -> Outcome {
        loop {
            let Some(Eviction { lane, place, full }) = self.algorithm.evict(now, &self.lanes) else {
                return outcome;
            };
            let sent = self.drop_at(now, lane, place, full);
            let reason = if full { Outcome::Overflowed } else { Outcome::DroppedEarly };
            if sent.number == number {
                outcome = reason;
            } else {
                dropped(&sent, reason);
            }
        }
    }

    /// Drops the packets that the algorithm chooses to make room for an arrival.
    #[cold]
    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        rng: &mut R,
        dropped: &mut impl FnMut(&Sent<T>, Outcome),
    ) -> Backlog {
        loop {
            let backlog = self.backlog(packet.size);
            if backlog.packets == 0 {
                return backlog;
            }
            let named = self.algorithm.make_room(now, packet, &backlog, &self.lanes, rng);
            let Some((lane, place)) = named else { return backlog };
            let sent = self.drop_at(now, lane, place, true);
            dropped(&sent, Outcome::Overflowed);
        }
    }

    /// The place of the first waiting frame for which `is` returns true.
    ///
    /// For a host whose packets wait in a queue elsewhere, of which this one keeps account: the host states which
    /// packet that queue sends or drops.
    #[must_use]
    pub fn place_of(&self, is: impl Fn(&T) -> bool) -> Option<Place> {
        let place = |ring: &Ring<Waiting<T>>| ring.iter().position(|waiting| is(&waiting.frame));
        self.waiting.iter().enumerate().find_map(|(lane, ring)| Some(Place(lane, place(ring)? as u32)))
    }

    /// Sends the frame at a place, perhaps with CE set now: see [`Queue::place_of`].
    pub fn send_at(&mut self, now: Time, Place(lane, place): Place, mark: bool) -> Sent<T> {
        let Waiting { arrived, arrival, mut frame } = self.remove(lane, place);
        let (row, size, number) = (frame.row(), frame.packet().size, arrival.number());
        let (marks, earlier) = (u64::from(mark), u64::from(mark && self.is_earlier(number)));
        if mark {
            frame.mark();
        }
        self.count(row, lane, |counts| {
            counts.marks += marks;
            counts.earlier_marks += earlier;
            counts.departures += 1;
            counts.departed_bytes += u64::from(size);
        });
        Sent { frame, number, lane, sojourn: now - arrived }
    }

    /// Drops the frame at a place, because the buffer was full or early: see [`Queue::place_of`].
    pub fn discard_at(&mut self, now: Time, Place(lane, place): Place, full: bool) -> Sent<T> {
        self.drop_at(now, lane, place, full)
    }

    /// Takes a waiting frame out of its lane.
    fn remove(&mut self, lane: usize, place: u32) -> Waiting<T> {
        let ring = &mut self.waiting[lane];
        let waiting = ring.remove(place as usize).expect("a packet waits at this place");
        let size = waiting.frame.packet().size;
        self.packets -= 1;
        self.bytes -= u64::from(size);
        if let Some(view) = self.lanes.get_mut(lane) {
            view.packets -= 1;
            view.bytes -= u64::from(size);
            view.head = ring.front().map(Waiting::head);
            view.tail = ring.back().map_or(0, |last| last.frame.packet().size);
        }
        waiting
    }

    /// Drops a waiting frame.
    fn drop_at(&mut self, now: Time, lane: usize, place: u32, full: bool) -> Sent<T> {
        let Waiting { arrived, arrival, frame } = self.remove(lane, place);
        let lane = self.algorithm.joined(lane);
        let number = arrival.number();
        let earlier = u64::from(self.is_earlier(number));
        self.count(frame.row(), lane, |counts| {
            counts.earlier_drops += earlier;
            match full {
                true => counts.drops_overflow += 1,
                false => counts.drops_early += 1,
            }
        });
        Sent { frame, number, lane, sojourn: now - arrived }
    }

    /// Whether an arrival came before the window.
    const fn is_earlier(&self, number: u64) -> bool {
        number < self.window
    }

    /// Applies `change` to the counters of a row and, if there are several lanes, of a lane.
    #[inline]
    fn count(&mut self, row: usize, lane: usize, change: impl Fn(&mut Counts)) {
        change(&mut self.counts[row]);
        if let Some(counts) = self.lane_counts.get_mut(lane) {
            change(counts);
        }
    }

    /// The waiting frames, lane by lane, each lane from its head.
    pub fn waiting(&self) -> impl Iterator<Item = Stored<'_, T>> {
        self.waiting.iter().enumerate().flat_map(|(lane, ring)| {
            ring.iter().map(move |Waiting { arrived, arrival, frame }| Stored {
                frame,
                number: arrival.number(),
                lane,
                arrived: *arrived,
            })
        })
    }

    /// The time at which the link may send again, if packets wait and the algorithm pauses it.
    #[must_use]
    pub fn paused_until(&self, now: Time) -> Option<Time> {
        if self.packets == 0 { None } else { self.algorithm.paused_until(now) }
    }

    /// The next frame for the link; `None` if the link becomes idle.
    #[inline]
    pub fn dequeue<R: Uniform>(&mut self, now: Time, rng: &mut R) -> Option<Sent<T>> {
        self.dequeue_or(now, rng, |_| {})
    }

    /// As [`Queue::dequeue`]; frames that the algorithm drops instead go to `dropped`.
    #[inline]
    pub fn dequeue_or<R: Uniform>(
        &mut self,
        now: Time,
        rng: &mut R,
        dropped: impl FnMut(&Sent<T>),
    ) -> Option<Sent<T>> {
        match self.is_around {
            true => self.dequeue_around(now, rng, dropped),
            false => self.dequeue_as::<R, false>(now, rng, dropped),
        }
    }

    /// Kept apart, so that a plain queue is asked for nothing else.
    #[cold]
    #[inline(never)]
    fn dequeue_around<R: Uniform>(
        &mut self,
        now: Time,
        rng: &mut R,
        dropped: impl FnMut(&Sent<T>),
    ) -> Option<Sent<T>> {
        self.dequeue_as::<R, true>(now, rng, dropped)
    }

    /// As [`Queue::dequeue_or`], of an algorithm that is around others or is not.
    #[inline(always)]
    fn dequeue_as<R: Uniform, const AROUND: bool>(
        &mut self,
        now: Time,
        rng: &mut R,
        mut dropped: impl FnMut(&Sent<T>),
    ) -> Option<Sent<T>> {
        while self.packets > 0 {
            if self.algorithm.paused_until(now).is_some() {
                return None;
            }
            if AROUND && !self.algorithm.can_serve(now, &self.lanes) {
                return None;
            }
            let lane = self.algorithm.serve(now, &self.lanes);
            let joined = if AROUND { self.algorithm.joined(lane) } else { lane };
            let ring = &mut self.waiting[lane];
            if let Some(view) = self.lanes.get_mut(lane) {
                let size = ring.front().map_or(0, |first| first.frame.packet().size);
                view.packets -= 1;
                view.bytes -= u64::from(size);
                view.head = ring.get(1).map(Waiting::head);
                if view.head.is_none() {
                    view.tail = 0;
                }
            }
            // The frame is removed only after the decision, so that it is copied once.
            let waiting = ring.front_mut().expect("the algorithm serves a lane that is not empty");
            let (row, size) = (waiting.frame.row(), waiting.frame.packet().size);
            self.packets -= 1;
            self.bytes -= u64::from(size);
            let (packets, bytes) = (self.packets, self.bytes);
            let state = || {
                let packet = Packet { class: self.classes[row], ..waiting.frame.packet() };
                let full = self.limit.refuses(packets, bytes, 0);
                (packet, Backlog { packets, bytes, full })
            };
            let sojourn = now - waiting.arrived;
            let verdict = self.algorithm.on_dequeue(now, lane, state, &self.lanes, sojourn, rng);
            let late = matches!(verdict, Verdict::Drop | Verdict::DropBoth(_));
            // A frame that was marked on its arrival counts as marked already.
            let newly_marked = verdict == Verdict::Mark && !waiting.arrival.is_marked();
            if verdict == Verdict::Mark {
                waiting.frame.mark();
            }
            let number = waiting.arrival.number();
            let sent = Sent { frame: waiting.frame, number, lane: joined, sojourn };
            if AROUND
                && !late
                && let Some(to) = self.algorithm.kept()
            {
                let waiting = *waiting;
                self.keep(waiting, (lane, joined, to), newly_marked);
                continue;
            }
            ring.drop_front();
            let lane = joined;
            if newly_marked {
                let earlier = u64::from(self.is_earlier(number));
                self.count(row, lane, |counts| {
                    counts.marks += 1;
                    counts.earlier_marks += earlier;
                });
            }
            if late {
                let earlier = u64::from(self.is_earlier(number));
                self.count(row, lane, |counts| {
                    counts.drops_early += 1;
                    counts.earlier_drops += earlier;
                });
            } else {
                self.count(row, lane, |counts| {
                    counts.departures += 1;
                    counts.departed_bytes += u64::from(size);
                });
            }
            if !late {
                return Some(sent);
            }
            dropped(&sent);
        }
        self.algorithm.on_idle(now);
        None
    }

    /// A frame that was about to be sent waits on in another lane.
    #[cold]
    fn keep(
        &mut self,
        mut waiting: Waiting<T>,
        (lane, joined, to): (usize, usize, usize),
        newly_marked: bool,
    ) {
        self.waiting[lane].drop_front();
        if newly_marked {
            let earlier = u64::from(self.is_earlier(waiting.arrival.number()));
            waiting.arrival.0 |= Arrival::MARKED;
            self.count(waiting.frame.row(), joined, |counts| {
                counts.marks += 1;
                counts.earlier_marks += earlier;
            });
        }
        self.store(to, waiting);
    }

    /// The period of [`Queue::on_period`], if the algorithm has one.
    #[must_use]
    pub fn period(&self) -> Option<Span> {
        self.algorithm.period()
    }

    /// Performs the algorithm's periodic update.
    pub fn on_period(&mut self, now: Time) {
        let backlog = self.backlog(0);
        let age = self.waiting[0].front().map_or(Span::ZERO, |first| now.since(first.arrived));
        self.algorithm.on_period(now, &backlog, &self.lanes, age);
    }

    /// Whether [`Queue::on_period`] changes nothing until the next arrival; see [`Aqm::rests`](crate::Aqm::rests).
    #[must_use]
    pub fn rests(&self) -> bool {
        self.packets == 0 && self.algorithm.rests(&self.backlog(0))
    }
}
