//! FQ: fair queueing by deficit round robin, with an AQM algorithm on the queue of each flow.
//!
//! A flow's packets join one of `flows` queues, chosen by a hash of the flow. The queues that take part in the round
//! are on two lists. A queue on neither list joins the new list with a credit of one `quantum` when a packet arrives.
//! The link serves the head of the new list; if that list is empty, the head of the old list:
//!
//! ```text
//! credit <= 0:    credit <- credit + quantum; to the end of the old list
//! empty:          from the new list to the end of the old one; from the old list, off the lists
//! else:           its first packet is sent, and credit <- credit - size               (RFC 8290, section 4.2)
//! ```
//!
//! So a flow that sends less than a `quantum` per round never waits for the others. A full buffer makes room at the
//! head of the queue with the most bytes: it drops half of its packets, at most `drop_batch` (section 4.1), and notifies
//! the queue's algorithm of each. Without `new_first`, a queue joins the end of the old list, as in the round of 1995.
//!
//! Decides at: as the algorithm on the queues; overflow, by dropping packets that wait. Timer: that of the algorithm
//! on the queues. Randomness: that of the algorithm on the queues, and one draw at the first arrival unless
//! `perturbation` is set. State: per queue, a credit and the algorithm's state; the two lists.
//!
//! # Departures from the source
//! The algorithm on the queues can be any that works on one queue, not CoDel alone; each instance acts as if it had
//! the whole link and buffer: its own thresholds in packets or bytes apply to each queue. It is not asked to make room. As in
//! Linux, the arrival counts when the longest queue
//! is determined, but it is never dropped together with others: if it is the longest queue's only packet, it is
//! dropped alone, and its queue joins no list. The quantum is one of the port's packets, as the RFC's 1514 bytes are
//! one Ethernet packet. Linux's fq_codel and fq_pie have a limit of 10 240 packets; here the limit is the link's
//! buffer.
//!
//! The forms "fq_codel" and "fq_pie" omit Linux's memory limits, which count a kernel's buffers, not packets' bytes.
//! When no packet waits, all lists are cleared, as happens when a device asks Linux's empty queue for a packet; under a
//! class of HTB that never happens, and queues stay on their lists until others are served. Linux uses a different
//! hash, so different flows share a queue.
//!
//! ns-3's queue discs follow the RFC, except that a full buffer drops half of the longest queue's bytes, as in Linux,
//! and not half of its packets (section 4.1). `MarkEcnThreshold` of its FQ-PIE has no effect there: each PIE keeps its
//! own 0.1.
//!
//! # Sources
//! RFC 8290; Shreedhar, Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995; Linux 7.2,
//! sch_fq_codel.c (`fq_codel_drop`, `fq_codel_dequeue`, `dequeue_func`) and sch_fq_pie.c. Tested packet by packet
//! against a transcription of the RFC's scheduler, and a plain re-implementation of Linux's differences.

#[cfg(test)]
mod tests;

use crate::aqm::{AnyAqm, AnyParams};
use crate::contract::{Backlog, Packet, Port, Reading, Signal, Uniform, Verdict, memory};
use crate::discipline::{Discipline, Eviction, Label, Lane};
use crate::hash::{keeps_queues, mix};
use crate::params::{ParamError, Range, Value};
use crate::unit::{Bytes, Rate, Span, Time};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;

crate::params! {
    /// The parameters of fair queueing.
    pub struct Params {
        /// The algorithm on each queue.
        aqm: Box<AnyParams> = inside("codel", &[]), "";
        /// Number of queues; flows with the same hash share one.
        flows: u32 = 1024, "queues", Range::new(1.0, 65_536.0), ["Flows", "maxbins_"];
        /// The key of the hash: `flow`; `pair`, of addresses; `source` or `destination` alone.
        by: By = By::Flow, "";
        /// Bytes that a queue may send per round; auto is the port's packet, and in Linux's forms, which round it up to 256
        /// bytes, the device's MTU. RFC 8290 uses an Ethernet packet, 1514 bytes.
        quantum: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9), ["quantum_"];
        /// Seed of the flow hash; auto draws it.
        perturbation: Option<u64> = None, "", Range::new(0.0, 9e15), ["Perturbation"];
        /// Most packets dropped at once when the buffer is full; 0 drops the arrival instead.
        drop_batch: u32 = 64, "packets", Range::new(0.0, 1e6), ["DropBatchSize", "drop_batch_size"];
        /// Limit of the memory of packets, which Linux counts as 2304 bytes for a packet above 640 and as 768 for a smaller
        /// one: above it packets are dropped as from a full buffer; auto is none, as Linux's 32 MiB are more than its
        /// buffer of 10,240 packets takes. In the form `fq_pie` it has no effect, as in Linux.
        memory_limit: Option<Bytes> = None, "bytes", Range::new(1.0, 4e9);
        /// Serve queues that are new to the round before the others.
        new_first: bool = true, "";
        /// The source whose rules apply. `rfc8290`: a new queue that has emptied moves to the old list. `fq_pie`,
        /// Linux's: it does so only if the old list is not empty. `fq_codel`, Linux's: the same; at departures the
        /// algorithm sees the backlog of all queues; and a full buffer drops half of a queue's bytes, not packets.
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
    /// What has a queue of its own.
    pub enum By {
        /// A connection in one direction.
        Flow = "flow",
        /// Two addresses.
        Pair = "pair",
        /// The host that sends.
        Source = "source",
        /// The host that receives.
        Destination = "destination",
    }
}

crate::choice! {
    /// The source whose rules apply where sources differ.
    pub enum Form {
        /// RFC 8290.
        Rfc = "rfc8290",
        /// sch_fq_codel.c of Linux.
        LinuxCodel = "fq_codel",
        /// sch_fq_pie.c of Linux.
        LinuxPie = "fq_pie",
    }
}

/// The number that stands for no queue.
const NONE: u32 = u32::MAX;

/// Linux rounds a smaller quantum up.
const fn least_quantum(form: Form) -> u64 {
    if matches!(form, Form::Rfc) { 1 } else { 256 }
}

/// The list that a queue is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum On {
    Neither,
    New,
    Old,
}

/// The state of one queue in the round.
#[derive(Clone, Debug)]
struct Place {
    on: On,
    next: u32,
    credit: i64,
    /// The index of its algorithm; 0 before its first packet.
    aqm: u32,
    /// Whether its algorithm has been notified that the queue is empty.
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

/// The queue from which packets are dropped to make room.
#[derive(Clone, Copy, Debug)]
struct Batch {
    lane: usize,
    /// Packets that may still be dropped.
    packets: u32,
    /// Bytes still to be dropped.
    bytes: u64,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Fq {
    form: Form,
    by: By,
    label: Label,
    quantum: i64,
    perturbation: Option<u64>,
    drop_batch: u32,
    memory_limit: Option<u64>,
    /// Memory in use, if it is limited.
    used: u64,
    new_first: bool,
    /// The first entry stands for all queues that have not yet had a packet; each other queue has an entry of its own,
    /// so that periodic work costs no more than the number of flows.
    aqms: Vec<AnyAqm>,
    /// The queue of each algorithm; the first entry has no meaning.
    owners: Vec<u32>,
    /// Whether the algorithm on the queues has a signal p.
    has_p: bool,
    places: Vec<Place>,
    new: List,
    old: List,
    /// The number of queues on the lists.
    listed: u32,
    /// How often a queue came to the lists.
    new_flow_count: u64,
    batch: Option<Batch>,
    /// The queue of the last arrival.
    latest: usize,
}

impl Fq {
    fn lane<R: Uniform>(&mut self, packet: &Packet, rng: &mut R) -> usize {
        let salt = *self.perturbation.get_or_insert_with(|| (rng.uniform() * 9e15) as u64);
        let key = match self.by {
            By::Flow => packet.flow,
            By::Pair => u64::from(packet.pair),
            By::Source => u64::from(self.label.source),
            By::Destination => u64::from(self.label.destination),
        };
        (mix(key, salt) % self.places.len() as u64) as usize
    }

    /// The algorithm of a queue that receives a packet.
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
            core::iter::successors(there(first), move |&lane| there(self.places[lane as usize].next))
        };
        from(self.new.first).chain(from(self.old.first)).map(|lane| lane as usize)
    }

    /// The queue with the most bytes, with an arrival that is to join one, and how much of it is dropped.
    fn longest(&self, lanes: &[Lane], arrival: Option<(usize, u32)>) -> Option<Batch> {
        let own = |lane: usize| arrival.filter(|(own, _)| *own == lane);
        let bytes = |lane: usize| lanes[lane].bytes + own(lane).map_or(0, |(_, size)| u64::from(size));
        // Queues on no list are empty.
        let listed = self.listed().chain(arrival.map(|(own, _)| own));
        let lane = listed.max_by_key(|&lane| (bytes(lane), core::cmp::Reverse(lane)))?;
        if self.form == Form::LinuxCodel {
            return Some(Batch { lane, packets: self.drop_batch, bytes: bytes(lane) / 2 });
        }
        let half = (lanes[lane].packets + u32::from(own(lane).is_some())) / 2;
        Some(Batch { lane, packets: half.min(self.drop_batch), bytes: u64::MAX })
    }

    /// The lane whose first packet is dropped next of a batch.
    fn behead(&mut self, now: Time, batch: Batch, lanes: &[Lane]) -> Option<usize> {
        let Batch { lane, packets, bytes } = batch;
        let size = lanes[lane].head?.size;
        let left = u64::from(size);
        self.batch =
            (packets > 1 && bytes > left).then(|| Batch { lane, packets: packets - 1, bytes: bytes - left });
        self.aqm(lane).on_overflow(now);
        self.free(size);
        Some(lane)
    }

    /// A packet of this size has left the memory.
    #[inline]
    fn free(&mut self, size: u32) {
        if self.memory_limit.is_some() {
            self.used = self.used.saturating_sub(memory(size));
        }
    }

    /// Notifies a queue's algorithm, once, that the queue is empty.
    fn rest(&mut self, now: Time, lane: u32) {
        let place = &mut self.places[lane as usize];
        if !core::mem::replace(&mut place.idle, true) {
            self.aqms[place.aqm as usize].on_idle(now);
        }
    }

    /// Called when every queue has spent its credit: adds as many quanta as going round would until the first queue
    /// has credit; going round takes long if a packet is many times the quantum.
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
            doc: "Drop probability of the algorithm on the queue of the last arrival, if it has one.",
        },
        Signal { name: "flows", unit: "queues", doc: "Queues that take part in the round." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("codel", "FQ-CoDel: CoDel with ECN, and a quantum of 1514 bytes, as in RFC 8290"),
        (
            "linux",
            "FQ-CoDel as in Linux 7.2: the same with its CoDel, which looks at what waits in all queues together",
        ),
        ("pie", "FQ-PIE as in Linux 7.2: PIE, and a full buffer drops the arrival"),
        (
            "droptail",
            "deficit round robin of plain queues, as of 1995: a full buffer drops one packet of the longest",
        ),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let flows = params.flows as usize;
        let mut aqms = Vec::with_capacity(flows + 1);
        aqms.push(params.aqm.on_one_queue(port).expect("the parameter's type sees to it"));
        let mut owners = Vec::with_capacity(flows + 1);
        owners.push(NONE);
        let packet = if params.form == Form::Rfc { port.packet } else { port.mtu() };
        Self {
            form: params.form,
            by: params.by,
            label: Label::default(),
            quantum: params.quantum.unwrap_or(packet).0.clamp(least_quantum(params.form), 1 << 40) as i64,
            perturbation: params.perturbation,
            drop_batch: params.drop_batch,
            memory_limit: params.memory_limit.filter(|_| params.form != Form::LinuxPie).map(|limit| limit.0),
            used: 0,
            new_first: params.new_first,
            has_p: params.aqm.signals().first().is_some_and(|signal| signal.name == "p"),
            aqms,
            owners,
            places: vec![Place { on: On::Neither, next: NONE, credit: 0, aqm: 0, idle: true }; flows],
            new: List::EMPTY,
            old: List::EMPTY,
            listed: 0,
            new_flow_count: 0,
            batch: None,
            latest: 0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let with = |aqm| Params { aqm, ..Params::default() };
        let ecn = ("ecn", Value::Bool(true));
        match name {
            "codel" => Some(Params { quantum: Some(Bytes(1514)), ..with(inside("codel", &[ecn])) }),
            "linux" => {
                let linux = ("form", Value::Text("linux".to_owned()));
                Some(Params { form: Form::LinuxCodel, ..with(inside("codel", &[ecn, linux])) })
            }
            "pie" => {
                let linux = AnyParams::of("pie")?.preset("linux")?;
                Some(Params { drop_batch: 0, form: Form::LinuxPie, ..with(Box::new(linux)) })
            }
            "droptail" => Some(Params {
                aqm: inside("droptail", &[]),
                drop_batch: 1,
                new_first: false,
                ..Params::default()
            }),
            _ => None,
        }
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        params.aqm.check_on(port).map_err(|error| error.renamed(|name| format!("aqm.{name}")))
    }

    fn lanes(&self) -> usize {
        self.places.len()
    }

    fn reads_labels(&self) -> bool {
        matches!(self.by, By::Source | By::Destination)
    }

    fn on_label(&mut self, label: Label) {
        self.label = label;
    }

    // Also called from disciplines around this one, for which it would not be inlined into the queue.
    #[inline(always)]
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
        if joins && self.memory_limit.is_some() {
            self.used += memory(packet.size);
        }
        if joins && place.on == On::Neither {
            place.credit = self.quantum;
            let (on, list) = if self.new_first { (On::New, &mut self.new) } else { (On::Old, &mut self.old) };
            place.on = on;
            list.push(&mut self.places, lane as u32);
            self.listed += 1;
            self.new_flow_count += 1;
        }
        (lane, verdict)
    }

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        let begun = self.batch.take().filter(|batch| lanes[batch.lane].packets > 0);
        let batch = match begun {
            Some(batch) => batch,
            None if !buffer.full || self.drop_batch == 0 => return None,
            None => {
                let own = self.lane(packet, rng);
                self.longest(lanes, Some((own, packet.size)))?
            }
        };
        Some((self.behead(now, batch, lanes)?, 0))
    }

    fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        let limit = self.memory_limit?;
        let begun = self.batch.take().filter(|batch| lanes[batch.lane].packets > 0);
        let batch = match begun {
            Some(batch) => batch,
            None if self.used <= limit => return None,
            None => self.longest(lanes, None)?,
        };
        let lane = self.behead(now, batch, lanes)?;
        Some(Eviction { lane, place: 0, full: true })
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
                let was = core::mem::replace(&mut place.on, On::Neither);
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
        self.free(packet.size);
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

    fn set_rate(&mut self, rate: Rate) {
        self.aqms.iter_mut().for_each(|aqm| aqm.set_rate(rate));
    }

    /// No packet waits: going round the lists would remove every queue from them.
    fn on_idle(&mut self, now: Time) {
        for list in
            [core::mem::replace(&mut self.new, List::EMPTY), core::mem::replace(&mut self.old, List::EMPTY)]
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
            let lane = &lanes[owner as usize];
            aqm.on_head(lane.age(now));
            aqm.on_period(now, &lane.backlog(buffer.full));
        }
    }

    fn on_trim(&mut self, _: usize, size: u32, _: &[Lane]) {
        self.free(size);
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.by == before.by
            && self.memory_limit.is_some() == before.memory_limit.is_some()
            && keeps_queues(self.perturbation, before.perturbation)
            && self.aqms[0].can_resume(&before.aqms[0])
    }

    fn resume(&mut self, _: Time, before: Self) {
        let fresh = self.aqms[0].clone();
        self.aqms.clear();
        for before in before.aqms {
            self.aqms.push(fresh.clone());
            self.aqms.last_mut().expect("it has just been pushed").resume(before);
        }
        (self.owners, self.places, self.listed) = (before.owners, before.places, before.listed);
        (self.new, self.old, self.batch) = (before.new, before.old, before.batch);
        (self.label, self.perturbation) = (before.label, before.perturbation);
        (self.latest, self.new_flow_count, self.used) = (before.latest, before.new_flow_count, before.used);
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("quantum", Reading::Level(self.quantum as f64));
        visit("new_flow_count", Reading::Count(self.new_flow_count));
        let of = |on: On| self.listed().filter(|lane| self.places[*lane].on == on).count() as f64;
        visit("new_flows_len", Reading::Level(of(On::New)));
        visit("old_flows_len", Reading::Level(of(On::Old)));
        let (mut largest, mut late) = (0.0_f64, 0);
        for aqm in &self.aqms[1..] {
            aqm.counters(&mut |name, reading| match (name, reading) {
                ("maxpacket", Reading::Level(bytes)) => largest = largest.max(bytes),
                ("ce_mark", Reading::Count(marks)) => late += marks,
                _ => {}
            });
        }
        visit("maxpacket", Reading::Level(largest));
        visit("ce_mark", Reading::Count(late));
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
