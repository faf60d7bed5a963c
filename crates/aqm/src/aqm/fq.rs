//! FQ: fair queueing by deficit round robin, with an algorithm of any kind on the queue of each flow.
//!
//! A flow's packets join one of `flows` queues, by a hash of the flow. Each queue that holds packets is on one of two
//! lists: a queue that was empty joins the new list with a credit of one `quantum`. The link serves the head of the
//! new list, then that of the old one:
//!
//! ```text
//! credit <= 0:    credit <- credit + quantum; to the end of the old list
//! empty:          from the new list to the end of the old one; from the old list off it
//! else:           its first packet is sent, and credit <- credit - size               (RFC 8290, section 4.2)
//! ```
//!
//! A full buffer makes room at the head of the queue with the most bytes: half of them, at most `drop_batch` packets.
//!
//! Decides at: as the algorithm inside; overflow. Timer: that of the algorithm inside. Randomness: that of the
//! algorithm inside, and one draw at the first arrival unless `perturbation` is given. State: a credit and the
//! algorithm's state a queue, the two lists.
//!
//! # Departures from the source
//! The algorithm inside is any that works on one queue, not CoDel alone; each believes that it has the whole link.
//! An arrival's own queue counts it when the longest is looked for; if that is the arrival alone, it is dropped.
//!
//! # Sources
//! RFC 8290; Shreedhar, Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995; Linux,
//! sch_fq_codel.c, for `drop_batch`.

use crate::aqm::{AnyAqm, AnyParams, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Lane};
use crate::flows::mix;
use crate::params::Range;
use crate::unit::{Bytes, Span, Time};

crate::params! {
    /// The parameters of fair queueing.
    pub struct Params {
        /// The algorithm on each queue.
        aqm: Box<AnyParams> = Box::new(AnyParams::of("droptail").expect("an algorithm of the list")), "";
        /// How many queues there are; flows with the same hash share one.
        flows: u32 = 1024, "queues", Range::new(1.0, 65_536.0), ["Flows", "maxbins_"];
        /// How many bytes a queue may send in a round; auto is the port's packet.
        quantum: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9), ["quantum_"];
        /// What the hash of a flow depends on besides; auto draws it.
        perturbation: Option<u64> = None, "", Range::new(0.0, 9e15), ["Perturbation"];
        /// The most packets dropped at once for want of room.
        drop_batch: u32 = 64, "packets", Range::new(1.0, 1e6), ["DropBatchSize"];
    }
}

/// No queue of this number.
const NONE: u32 = u32::MAX;

/// The list that a queue is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum On {
    Neither,
    New,
    Old,
}

/// One queue's place in the round.
#[derive(Clone, Debug)]
struct Place {
    on: On,
    next: u32,
    credit: i64,
}

/// A list of queues, linked through their places.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE };

    fn push(&mut self, places: &mut [Place], lane: u32) {
        places[lane as usize].next = NONE;
        match self.last {
            NONE => self.first = lane,
            last => places[last as usize].next = lane,
        }
        self.last = lane;
    }

    fn pop(&mut self, places: &[Place]) {
        self.first = places[self.first as usize].next;
        if self.first == NONE {
            self.last = NONE;
        }
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Fq {
    quantum: i64,
    perturbation: Option<u64>,
    drop_batch: u32,
    aqms: Vec<AnyAqm>,
    /// Whether the algorithm inside has a probability to tell.
    has_p: bool,
    places: Vec<Place>,
    new: List,
    old: List,
    /// The queue that room is made in, packets that may still be dropped there, and bytes that should.
    batch: Option<(usize, u32, u64)>,
    /// The queue of the last arrival, and how many hold packets.
    latest: usize,
    busy: u32,
}

impl Fq {
    fn lane<R: Uniform>(&mut self, packet: &Packet, rng: &mut R) -> usize {
        let salt = *self.perturbation.get_or_insert_with(|| (rng.uniform() * 9e15) as u64);
        (mix(packet.flow, salt) % self.aqms.len() as u64) as usize
    }
}

impl Discipline for Fq {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "That of the algorithm on the queue of the last arrival." },
        Signal { name: "flows", unit: "queues", doc: "Queues that hold packets." },
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let flows = params.flows as usize;
        let mut aqm = params.aqm.on_one_queue(port).expect("the parameter's type sees to it");
        aqm.on_idle(Time::ZERO);
        Self {
            quantum: params.quantum.unwrap_or(port.packet).0 as i64,
            perturbation: params.perturbation,
            drop_batch: params.drop_batch,
            has_p: params.aqm.signals().first().is_some_and(|signal| signal.name == "p"),
            aqms: vec![aqm; flows],
            places: vec![Place { on: On::Neither, next: NONE, credit: 0 }; flows],
            new: List::EMPTY,
            old: List::EMPTY,
            batch: None,
            latest: 0,
            busy: 0,
        }
    }

    fn lanes(&self) -> usize {
        self.aqms.len()
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        let lane = self.lane(packet, rng);
        self.latest = lane;
        let verdict = self.aqms[lane].on_enqueue(now, packet, &lanes[lane].backlog(buffer.full), rng);
        if let Verdict::DropBoth(_) = verdict {
            self.busy -= u32::from(lanes[lane].packets == 1);
        }
        if !buffer.full && matches!(verdict, Verdict::Pass | Verdict::Mark) {
            self.busy += u32::from(lanes[lane].packets == 0);
            let place = &mut self.places[lane];
            if place.on == On::Neither {
                (place.on, place.credit) = (On::New, self.quantum);
                self.new.push(&mut self.places, lane as u32);
            }
        }
        (lane, verdict)
    }

    fn make_room<R: Uniform>(
        &mut self,
        _: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        if self.batch.is_none_or(|(lane, ..)| lanes[lane].packets == 0) {
            self.batch = None;
            if !buffer.full {
                return None;
            }
            let own = self.lane(packet, rng);
            let bytes =
                |lane: usize| lanes[lane].bytes + if lane == own { u64::from(packet.size) } else { 0 };
            let longest = (0..lanes.len()).max_by_key(|&lane| (bytes(lane), std::cmp::Reverse(lane)))?;
            if lanes[longest].packets == 0 {
                return None;
            }
            self.batch = Some((longest, self.drop_batch, lanes[longest].bytes / 2));
        }
        let (lane, left, goal) = self.batch?;
        let size = u64::from(lanes[lane].head?.size);
        self.batch = (left > 1 && goal > size).then(|| (lane, left - 1, goal - size));
        self.busy -= u32::from(lanes[lane].packets == 1);
        Some((lane, 0))
    }

    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        loop {
            let list = if self.new.first == NONE { &mut self.old } else { &mut self.new };
            let lane = list.first;
            let place = &mut self.places[lane as usize];
            if place.credit <= 0 {
                place.credit += self.quantum;
                place.on = On::Old;
                list.pop(&self.places);
                self.old.push(&mut self.places, lane);
            } else if lanes[lane as usize].packets > 0 {
                return lane as usize;
            } else {
                self.aqms[lane as usize].on_idle(now);
                let was = std::mem::replace(&mut place.on, On::Neither);
                list.pop(&self.places);
                if was == On::New {
                    self.places[lane as usize].on = On::Old;
                    self.old.push(&mut self.places, lane);
                }
            }
        }
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        lane: usize,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        self.busy -= u32::from(lanes[lane].packets == 0);
        let backlog = lanes[lane].backlog(buffer.full);
        let verdict = self.aqms[lane].on_dequeue(now, packet, &backlog, sojourn, rng);
        if verdict != Verdict::Drop {
            self.places[lane].credit -= i64::from(packet.size);
        }
        verdict
    }

    fn period(&self) -> Option<Span> {
        self.aqms[0].period()
    }

    fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane]) {
        for (aqm, lane) in self.aqms.iter_mut().zip(lanes) {
            aqm.on_period(now, &lane.backlog(buffer.full));
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let mut p = 0.0;
        if self.has_p {
            self.aqms[self.latest].signals(|i, value| {
                if i == 0 {
                    p = value;
                }
            });
        }
        visit(0, p);
        visit(1, f64::from(self.busy));
    }
}
