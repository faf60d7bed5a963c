//! FQ: fair queueing by deficit round robin, with an algorithm of any kind on the queue of each flow.
//!
//! A flow's packets join one of `flows` queues, by a hash of the flow. Each queue that takes part is on one of two
//! lists: one that takes part in no round joins the new list with a credit of one `quantum` when a packet comes. The
//! link serves the head of the new list, then that of the old one:
//!
//! ```text
//! credit <= 0:    credit <- credit + quantum; to the end of the old list
//! empty:          from the new list to the end of the old one; from the old list off it
//! else:           its first packet is sent, and credit <- credit - size               (RFC 8290, section 4.2)
//! ```
//!
//! So a flow that sends less than a `quantum` a round never waits for the others. A full buffer makes room at the
//! head of the queue with the most bytes: half of them, at most `drop_batch` packets (section 4.1).
//!
//! Decides at: as the algorithm inside; overflow, of packets that wait. Timer: that of the algorithm inside.
//! Randomness: that of the algorithm inside, and one draw at the first arrival unless `perturbation` is given. State:
//! a credit and the algorithm's state a queue, the two lists.
//!
//! # Departures from the source
//! The algorithm inside is any that works on one queue, not CoDel alone; it believes that it has the whole link and
//! buffer to itself, and is not asked to make room. An arrival counts in its queue when the longest is looked for, as
//! in Linux, but is never dropped with others: if it is all that the longest queue has, it is dropped alone, and its
//! queue joins no list. The quantum is one packet of the port's traffic, as the RFC's 1514 bytes are one of Ethernet's.
//! The limit of Linux's fq_codel and fq_pie is 10 240 packets, here the link's buffer.
//!
//! The forms "fq_codel" and "fq_pie" leave out Linux's limits of memory. When nothing waits all lists are cleared, as
//! when a device asks Linux's empty queue for a packet; a class of HTB never does, and the queues stay on their lists
//! until others are served. Linux's hash is another one: which flows share a queue differs.
//!
//! # Sources
//! RFC 8290; Shreedhar, Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995; Linux 7.2,
//! sch_fq_codel.c (`fq_codel_drop`, `fq_codel_dequeue`, `dequeue_func`) and sch_fq_pie.c. Tested against a
//! transcription of the RFC's scheduler, and a plain rewriting of what Linux does differently, packet by packet.

#[cfg(test)]
mod tests;

use crate::aqm::{AnyAqm, AnyParams};
use crate::contract::{Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Lane};
use crate::hash::mix;
use crate::params::{Range, Value};
use crate::unit::{Bytes, Span, Time};

crate::params! {
    /// The parameters of fair queueing.
    pub struct Params {
        /// The algorithm on each queue.
        aqm: Box<AnyParams> = inside("codel", &[]), "";
        /// How many queues there are; flows with the same hash share one.
        flows: u32 = 1024, "queues", Range::new(1.0, 65_536.0), ["Flows", "maxbins_"];
        /// How many bytes a queue may send in a round; auto is the port's packet. RFC 8290 has one of Ethernet's,
        /// 1514.
        quantum: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9), ["quantum_"];
        /// What the hash of a flow depends on besides; auto draws it.
        perturbation: Option<u64> = None, "", Range::new(0.0, 9e15), ["Perturbation"];
        /// The most packets dropped at once for want of room; 0 drops the arrival instead.
        drop_batch: u32 = 64, "packets", Range::new(0.0, 1e6), ["DropBatchSize", "drop_batch_size"];
        /// Whose rules where sources differ. `rfc8290`: an emptied new queue goes to the old list. `fq_pie`, Linux's:
        /// only if that has another. `fq_codel`, Linux's: so as well; the algorithm inside sees at departures what
        /// waits in all queues, and learns how many packets a full buffer cost its own.
        form: Form = Form::Rfc, "";
    }
}

/// The algorithm `name` with these parameters set.
fn inside(name: &str, set: &[(&str, Value)]) -> Box<AnyParams> {
    let mut params = AnyParams::of(name).expect("an algorithm of the list");
    set.iter().for_each(|(key, value)| params.set(key, value).expect("an allowed value"));
    Box::new(params)
}

crate::choice! {
    /// Whose rules where sources differ.
    pub enum Form {
        /// RFC 8290.
        Rfc = "rfc8290",
        /// sch_fq_codel.c of Linux.
        LinuxCodel = "fq_codel",
        /// sch_fq_pie.c of Linux.
        LinuxPie = "fq_pie",
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
    /// Which of the algorithms is its own; 0 before its first packet.
    aqm: u32,
    /// Whether its algorithm knows that it is empty.
    idle: bool,
}

/// A list of queues, linked through their places.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: Self = Self { first: NONE, last: NONE };

    const fn is_empty(&self) -> bool {
        self.first == NONE
    }

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
        if self.is_empty() {
            self.last = NONE;
        }
    }
}

/// The queue in which room is made.
#[derive(Clone, Copy, Debug)]
struct Batch {
    lane: usize,
    /// Packets that may still be dropped.
    packets: u32,
    /// Bytes that should be.
    bytes: u64,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Fq {
    form: Form,
    quantum: i64,
    perturbation: Option<u64>,
    drop_batch: u32,
    /// The first stands for all queues that never had a packet; one more for each of the others, so that what is done
    /// periodically to all costs no more than the flows there are.
    aqms: Vec<AnyAqm>,
    /// The queue of each of the algorithms; that of the first means nothing.
    owners: Vec<u32>,
    /// Whether the algorithm inside has a probability to tell.
    has_p: bool,
    places: Vec<Place>,
    new: List,
    old: List,
    /// How many queues are on a list.
    listed: u32,
    batch: Option<Batch>,
    /// The queue of the last arrival.
    latest: usize,
}

impl Fq {
    fn lane<R: Uniform>(&mut self, packet: &Packet, rng: &mut R) -> usize {
        let salt = *self.perturbation.get_or_insert_with(|| (rng.uniform() * 9e15) as u64);
        (mix(packet.flow, salt) % self.places.len() as u64) as usize
    }

    /// The algorithm of a queue that gets a packet.
    fn aqm(&mut self, lane: usize) -> &mut AnyAqm {
        let place = &mut self.places[lane];
        place.idle = false;
        if place.aqm == 0 {
            place.aqm = self.aqms.len() as u32;
            self.aqms.push(self.aqms[0].clone());
            self.owners.push(lane as u32);
        }
        &mut self.aqms[place.aqm as usize]
    }

    /// The queues on the lists.
    fn listed(&self) -> impl Iterator<Item = usize> {
        let from = |first: u32| {
            let there = |lane: u32| (lane != NONE).then_some(lane);
            std::iter::successors(there(first), move |&lane| there(self.places[lane as usize].next))
        };
        from(self.new.first).chain(from(self.old.first)).map(|lane| lane as usize)
    }

    /// Tells a queue's algorithm, once, that it is empty.
    fn rest(&mut self, now: Time, lane: u32) {
        let place = &mut self.places[lane as usize];
        if !std::mem::replace(&mut place.idle, true) {
            self.aqms[place.aqm as usize].on_idle(now);
        }
    }

    /// Where every queue has spent its credit: renews it as often as it takes for the first to have some, as going
    /// round would, which takes long if a packet is many times the quantum.
    #[cold]
    fn skip_rounds(&mut self) {
        debug_assert!(self.new.is_empty());
        let (first, quantum) = (self.old.first, self.quantum);
        let mut least = i64::MAX;
        let mut lane = first;
        while lane != NONE {
            let place = &self.places[lane as usize];
            least = least.min((-place.credit).div_euclid(quantum));
            lane = place.next;
        }
        lane = first;
        while lane != NONE {
            let place = &mut self.places[lane as usize];
            place.credit += least.max(0) * quantum;
            lane = place.next;
        }
    }
}

impl Discipline for Fq {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "That of the algorithm on the queue of the last arrival, if it has one.",
        },
        Signal { name: "flows", unit: "queues", doc: "Queues that take part in the round." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("codel", "FQ-CoDel: CoDel with ECN, and a quantum of 1514 bytes, as in RFC 8290"),
        (
            "linux",
            "FQ-CoDel as in Linux 7.2: the same with its CoDel, which looks at what waits in all queues together",
        ),
        ("pie", "FQ-PIE as in Linux 7.2: PIE, a quantum of 1514 bytes, and a full buffer drops the arrival"),
        ("droptail", "deficit round robin of plain queues, but that those new to the round come first"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let flows = params.flows as usize;
        let mut aqms = Vec::with_capacity(flows + 1);
        aqms.push(params.aqm.on_one_queue(port).expect("the parameter's type sees to it"));
        let mut owners = Vec::with_capacity(flows + 1);
        owners.push(NONE);
        Self {
            form: params.form,
            quantum: params.quantum.unwrap_or(port.packet).0.clamp(1, 1 << 40) as i64,
            perturbation: params.perturbation,
            drop_batch: params.drop_batch,
            has_p: params.aqm.signals().first().is_some_and(|signal| signal.name == "p"),
            aqms,
            owners,
            places: vec![Place { on: On::Neither, next: NONE, credit: 0, aqm: 0, idle: true }; flows],
            new: List::EMPTY,
            old: List::EMPTY,
            listed: 0,
            batch: None,
            latest: 0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let with = |aqm| Params { aqm, quantum: Some(Bytes(1514)), ..Params::default() };
        let ecn = ("ecn", Value::Bool(true));
        match name {
            "codel" => Some(with(inside("codel", &[ecn]))),
            "linux" => {
                let linux = ("form", Value::Text("linux".to_owned()));
                let mtu = ("mtu", Value::Text("1514 B".to_owned()));
                Some(with(inside("codel", &[ecn, linux, mtu])))
                    .map(|params| Params { form: Form::LinuxCodel, ..params })
            }
            "pie" => {
                let linux = AnyParams::of("pie")?.preset("linux")?;
                Some(Params { drop_batch: 0, form: Form::LinuxPie, ..with(Box::new(linux)) })
            }
            "droptail" => Some(Params { aqm: inside("droptail", &[]), ..Params::default() }),
            _ => None,
        }
    }

    fn lanes(&self) -> usize {
        self.places.len()
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
        self.batch = None;
        let verdict = self.aqm(lane).on_enqueue(now, packet, &lanes[lane].backlog(buffer.full), rng);
        let place = &mut self.places[lane];
        let joins = !buffer.full && matches!(verdict, Verdict::Pass | Verdict::Mark);
        if joins && place.on == On::Neither {
            (place.on, place.credit) = (On::New, self.quantum);
            self.new.push(&mut self.places, lane as u32);
            self.listed += 1;
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
        let begun = self.batch.take().filter(|batch| lanes[batch.lane].packets > 0);
        let Batch { lane, packets, bytes } = match begun {
            Some(batch) => batch,
            None if !buffer.full || self.drop_batch == 0 => return None,
            None => {
                let own = self.lane(packet, rng);
                let bytes =
                    |lane: usize| lanes[lane].bytes + if lane == own { u64::from(packet.size) } else { 0 };
                // Those on no list are empty.
                let listed = self.listed().chain([own]);
                let lane = listed.max_by_key(|&lane| (bytes(lane), std::cmp::Reverse(lane)))?;
                Batch { lane, packets: self.drop_batch, bytes: bytes(lane) / 2 }
            }
        };
        let size = u64::from(lanes[lane].head?.size);
        self.batch =
            (packets > 1 && bytes > size).then(|| Batch { lane, packets: packets - 1, bytes: bytes - size });
        if self.form == Form::LinuxCodel {
            self.aqm(lane).on_overflow();
        }
        Some((lane, 0))
    }

    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        let mut renewed = 0;
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let lane = list.first;
            let place = &mut self.places[lane as usize];
            if place.credit <= 0 {
                place.credit += self.quantum;
                place.on = On::Old;
                list.pop(&self.places);
                self.old.push(&mut self.places, lane);
                renewed += 1;
                if renewed > self.listed {
                    self.skip_rounds();
                    renewed = 0;
                }
            } else if lanes[lane as usize].packets > 0 {
                return lane as usize;
            } else {
                let was = std::mem::replace(&mut place.on, On::Neither);
                list.pop(&self.places);
                self.rest(now, lane);
                if was == On::New && !(self.form != Form::Rfc && self.old.is_empty()) {
                    self.places[lane as usize].on = On::Old;
                    self.old.push(&mut self.places, lane);
                } else {
                    self.listed -= 1;
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
        let place = &mut self.places[lane];
        let aqm = &mut self.aqms[place.aqm as usize];
        let own = lanes[lane].backlog(buffer.full);
        let queue = if self.form == Form::LinuxCodel { buffer } else { &own };
        let verdict = aqm.on_dequeue(now, packet, queue, sojourn, rng);
        if matches!(verdict, Verdict::Pass | Verdict::Mark) {
            place.credit -= i64::from(packet.size);
        }
        verdict
    }

    /// Nothing waits: going round the lists would take every queue off them.
    fn on_idle(&mut self, now: Time) {
        for list in
            [std::mem::replace(&mut self.new, List::EMPTY), std::mem::replace(&mut self.old, List::EMPTY)]
        {
            let mut lane = list.first;
            while lane != NONE {
                self.rest(now, lane);
                let place = &mut self.places[lane as usize];
                place.on = On::Neither;
                lane = place.next;
            }
        }
        self.listed = 0;
    }

    fn period(&self) -> Option<Span> {
        self.aqms[0].period()
    }

    fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane]) {
        let (never, others) = self.aqms.split_first_mut().expect("there is always the first");
        never.on_period(now, &Lane::default().backlog(buffer.full));
        for (aqm, &owner) in others.iter_mut().zip(&self.owners[1..]) {
            aqm.on_period(now, &lanes[owner as usize].backlog(buffer.full));
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let mut p = 0.0;
        if self.has_p {
            self.aqms[self.places[self.latest].aqm as usize].signals(|i, value| {
                if i == 0 {
                    p = value;
                }
            });
        }
        visit(0, p);
        visit(1, f64::from(self.listed));
    }
}
