//! CAKE on a device with several transmit queues: a CAKE on each, which together keep to one rate.
//!
//! A hash of its flow chooses the queue of a packet, and queues that may send take turns, packet by packet. Each shapes by
//! itself, without a lock: when it is asked for a packet 200 us or more after it last looked, it counts the queues n that
//! have packets or have sent since then, itself included, and its rate, with those of its tins, is
//!
//! ```text
//! bandwidth / n
//! ```
//!
//! until it looks again. Targets, intervals and limits of memory are those of CAKE at the whole rate: with n queues at work,
//! COBALT's targets have no room for a packet at `bandwidth / n`, and the memory may be n times as much. A queue that comes
//! to work while the others have yet to look exceeds the rate for up to 200 us. Flows in different queues share by queue,
//! hosts only within a queue.
//!
//! Decides at: enqueue, dequeue, as CAKE. Timer: none. Randomness: that of CAKE, one draw for all hashes. State: that of a
//! CAKE for each queue, and when it looked and sent last.
//!
//! # Departures from the source
//! Those of CAKE. A device may choose queues by the processor that sends (XPS), or by the queue on which a packet came; with
//! a hash at the receiver, this too is a hash of the flow. An empty queue with flows that decay looks once more when Linux's
//! timer would run, a target after its last packet; of what it would see then, only the time is kept.
//!
//! # Sources
//! Linux 7.2, sch_cake.c (`cake_mq_init`, `cake_dequeue`), sch_mq.c. Tested against the kernel in open and in closed loop.

use super::cake::{self, Cake};
use crate::contract::{Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Eviction, Label, Lane};
use crate::hash::{keeps_queues, mix};
use crate::params::{ParamError, Range};
use crate::unit::{Span, Time};
use alloc::vec::Vec;

crate::params! {
    /// The parameters of CAKE on several transmit queues.
    pub struct Params with cake: cake::Params {
        /// Transmit queues of the device.
        queues: u32 = 4, "queues", Range::new(1.0, 256.0);
    }
}

/// How long a queue waits before it looks at the others again (`sync_time`).
const SYNC: Span = Span::us(200);

/// A transmit queue.
#[derive(Clone, Debug)]
struct TxQueue {
    cake: Cake,
    /// When it last looked at the others, and when it last sent.
    looked: Option<Time>,
    sent: Option<Time>,
    /// When it looks although it is empty (the timer for flows that decay).
    again: Option<Time>,
    /// The queues at work that it found.
    active: u32,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct CakeMq {
    queues: Vec<TxQueue>,
    /// Lanes of each queue.
    lanes: usize,
    /// In bytes a second; 0 without a shaper.
    rate: u64,
    salt: Option<u64>,
    label: Label,
    /// The queue of the last arrival, the one whose turn it is, and the one that sent last.
    arrived: usize,
    turn: usize,
    last: usize,
}

impl CakeMq {
    /// Seeds the hashes of the queues, of which each has its own.
    fn set_salt(&mut self, salt: u64) {
        self.salt = Some(salt);
        for (i, queue) in (1..).zip(&mut self.queues) {
            queue.cake.salt = Some(mix(i, salt));
        }
    }

    /// The queue of a lane, and the lane in it.
    const fn place(&self, lane: usize) -> (usize, usize) {
        (lane / self.lanes, lane % self.lanes)
    }

    /// The lanes of a queue.
    fn of<'a>(&self, queue: usize, lanes: &'a [Lane]) -> &'a [Lane] {
        &lanes[queue * self.lanes..][..self.lanes]
    }

    /// Sets the rate of a queue if it is time to look at the others.
    fn look(&mut self, now: Time, i: usize) {
        let queue = &mut self.queues[i];
        // What a queue saw when its timer ran counts for nothing but the time, unless that was less than SYNC ago.
        if let Some(again) = queue.again.take_if(|again| *again + SYNC <= now) {
            queue.looked = queue.looked.max(Some(again));
        }
        let looked = queue.looked;
        if self.rate == 0 || looked.is_some_and(|looked| now.since(looked) < SYNC) {
            return;
        }
        let is_active = |other: &TxQueue| other.cake.waiting > 0 || other.sent > looked;
        let others = self.queues.iter().enumerate().filter(|(other, queue)| *other != i && is_active(queue));
        let active = 1 + others.count() as u32;
        let queue = &mut self.queues[i];
        queue.cake.share(self.rate / u64::from(active));
        (queue.looked, queue.active) = (Some(now), active);
    }

    /// Until when a queue sends nothing; `None` if it may send.
    fn pause(&self, now: Time, i: usize) -> Option<Time> {
        self.queues[i].cake.paused_until(now)
    }

    /// The queues with packets.
    fn backlogged(&self) -> impl Iterator<Item = usize> {
        let turns = (self.turn..self.queues.len()).chain(0..self.turn);
        turns.filter(|i| self.queues[*i].cake.waiting > 0)
    }
}

impl Discipline for CakeMq {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Cake::SIGNALS[0],
        Cake::SIGNALS[1],
        Cake::SIGNALS[2],
        Cake::SIGNALS[3],
        Cake::SIGNALS[4],
        Signal {
            name: "rate",
            unit: "bit/s",
            doc: "The rate of the transmit queue that sent last; 0 without a shaper.",
        },
        Signal {
            name: "active",
            unit: "queues",
            doc: "Transmit queues at work, as the one that sent last has found.",
        },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[(
        "linux",
        "cake_mq of Linux 7.2 at tc's defaults, which are those here, on a device with four queues",
    )];

    fn new(params: &Params, port: &Port) -> Self {
        let cake = Cake::new(&params.cake, port);
        let (lanes, rate) = (cake.lanes(), cake.rate);
        let queue = TxQueue { cake, looked: None, sent: None, again: None, active: 0 };
        let queues = vec![queue; params.queues as usize];
        let label = Label::default();
        let mut all = Self { queues, lanes, rate, salt: None, label, arrived: 0, turn: 0, last: 0 };
        if let Some(salt) = params.cake.perturbation {
            all.set_salt(salt);
        }
        all
    }

    fn preset(name: &str) -> Option<Params> {
        (name == "linux").then(Params::default)
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        if params.cake.autorate_ingress {
            return Err(ParamError::invalid(
                "autorate_ingress",
                true,
                "false, as Linux refuses it with cake_mq",
            ));
        }
        Cake::check(&params.cake)
    }

    fn lanes(&self) -> usize {
        self.queues.len() * self.lanes
    }

    fn reads_labels(&self) -> bool {
        true
    }

    fn reads_acks(&self) -> bool {
        self.queues[0].cake.reads_acks()
    }

    fn on_label(&mut self, label: Label) {
        self.label = label;
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        if self.salt.is_none() {
            self.set_salt((rng.uniform() * 9e15) as u64);
        }
        let hash = mix(packet.flow, self.salt.unwrap_or(0)) >> 32;
        let i = ((hash * self.queues.len() as u64) >> 32) as usize;
        self.arrived = i;
        let own = self.of(i, lanes);
        let cake = &mut self.queues[i].cake;
        cake.on_label(self.label);
        let (lane, verdict) = cake.on_enqueue(now, packet, buffer, own, rng);
        self.look(now, i);
        let queue = &mut self.queues[i];
        if queue.cake.paused_until(now).is_some() {
            // The timer is now that of the shaper.
            queue.again = None;
        }
        (i * self.lanes + lane, verdict)
    }

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        _: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        _: &mut R,
    ) -> Option<(usize, u32)> {
        if !buffer.full {
            return None;
        }
        let longest =
            |i: usize| self.queues[i].cake.longest(self.of(i, lanes)).map(|lane| i * self.lanes + lane);
        let heads = (0..self.queues.len()).filter_map(longest);
        // The first of those with the most.
        let most =
            heads.reduce(|best, lane| if lanes[lane].bytes > lanes[best].bytes { lane } else { best })?;
        let (i, _) = self.place(most);
        let own = self.of(i, lanes);
        self.queues[i].cake.overflow(now, own).map(|lane| (i * self.lanes + lane, 0))
    }

    fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        let (i, own) = (self.arrived, self.of(self.arrived, lanes));
        let evicted = self.queues[i].cake.evict(now, own)?;
        Some(Eviction { lane: i * self.lanes + evicted.lane, ..evicted })
    }

    fn paused_until(&self, now: Time) -> Option<Time> {
        self.backlogged().map(|i| self.pause(now, i)).reduce(|first, other| first?.min(other?).into())?
    }

    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        // A packet waits in a queue that may send, in the one whose packet has just been dropped first of all.
        let i = self.backlogged().find(|i| self.pause(now, *i).is_none()).expect("the link is not paused");
        self.turn = i;
        self.look(now, i);
        let own = self.of(i, lanes);
        i * self.lanes + self.queues[i].cake.serve(now, own)
    }

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
        let (i, inside) = self.place(lane);
        let own = self.of(i, lanes);
        let queue = &mut self.queues[i];
        let verdict = queue.cake.on_dequeue(now, inside, packet, buffer, own, sojourn, rng);
        if verdict != Verdict::Drop {
            queue.sent = Some(now);
            if queue.cake.waiting == 0 {
                queue.again = queue.cake.decays().map(|target| now + target).or(queue.again);
            } else if queue.cake.paused_until(now).is_some() {
                queue.again = None;
            }
            (self.last, self.turn) = (i, (i + 1) % self.queues.len());
        }
        verdict
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.queues.len() == before.queues.len()
            && keeps_queues(self.salt, before.salt)
            && self.queues[0].cake.can_resume(&before.queues[0].cake)
    }

    fn resume(&mut self, now: Time, before: Self) {
        (self.salt, self.label) = (before.salt, before.label);
        (self.arrived, self.turn, self.last) = (before.arrived, before.turn, before.last);
        for (queue, before) in self.queues.iter_mut().zip(before.queues) {
            (queue.looked, queue.sent) = (before.looked, before.sent);
            (queue.again, queue.active) = (before.again, before.active);
            queue.cake.resume(now, before.cake);
        }
    }

    fn on_trim(&mut self, lane: usize, size: u32, lanes: &[Lane]) {
        let (i, inside) = self.place(lane);
        let own = self.of(i, lanes);
        self.queues[i].cake.on_trim(inside, size, own);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let mut all = [0.0; 6];
        for (i, queue) in self.queues.iter().enumerate() {
            // Flows and memory are those of all.
            let counts = |signal: usize| i == self.last || matches!(signal, 2..=4);
            queue.cake.signals(|signal, value| all[signal] += if counts(signal) { value } else { 0.0 });
        }
        all.into_iter().enumerate().for_each(|(signal, value)| visit(signal, value));
        visit(all.len(), self.queues[self.last].active.into());
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        for (i, queue) in self.queues.iter().enumerate() {
            visit(&format!("queues.{i}.active_queues"), Reading::Level(queue.active.into()));
            queue.cake.counters(&mut |name, reading| {
                // A queue takes note of its first rate only, which is that before it gets its part.
                let reading = if name == "capacity_estimate" { Reading::Level(0.0) } else { reading };
                visit(&format!("queues.{i}.{name}"), reading);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::AnyParams;
    use crate::aqm::cake::tests::{Framed, Host, mbit, packet};
    use crate::unit::Rate;

    const SALT: u64 = 7;

    fn shaped(mbit: u64, queues: u32) -> Params {
        let bandwidth = Some(Rate::mbit_per_s(mbit));
        Params { cake: cake::Params { bandwidth, perturbation: Some(SALT), ..Default::default() }, queues }
    }

    fn host(params: Params) -> Host {
        Host::of(&AnyParams::CakeMq(params), &[0])
    }

    /// The first flows whose packets come to these of four queues.
    fn flows<const N: usize>(queues: [u64; N]) -> [Framed; N] {
        let mut next = 0;
        queues.map(|queue| {
            let flow = (next..).find(|flow| ((mix(*flow, SALT) >> 32) * 4) >> 32 == queue).unwrap();
            next = flow + 1;
            packet(flow, 1, 0)
        })
    }

    #[test]
    fn one_queue_is_a_cake() {
        let both = [packet(1, 0x12, 0), packet(2, 0x34, 0), packet(3, 0x34, 0)];
        let cake = cake::Params { perturbation: Some(mix(1, SALT)), ..shaped(20, 1).cake };
        let alone = Host::of(&AnyParams::Cake(cake), &[0]).runs(&both, 40, 2000);
        assert_eq!(host(shaped(20, 1)).runs(&both, 40, 2000), alone);
    }

    #[test]
    fn queues_at_work_share_the_rate_evenly_whatever_the_number_of_their_flows() {
        // A flow in one queue, three in another; two queues rest.
        let mut host = host(shaped(20, 4));
        let sent = host.runs(&flows([0, 2, 2, 2]), 4, 2000);
        assert!((mbit(&sent[..1]) - 10.0).abs() < 0.05, "{sent:?}");
        assert!((mbit(&sent[1..]) - 10.0).abs() < 0.05, "{sent:?}");
        assert_eq!(host.counter("queues.0.active_queues"), 2.0);
        assert_eq!(host.counter("queues.2.tins.1.threshold_rate"), 10e6 / 8.0);
        // The targets are those of the whole rate.
        assert_eq!(host.counter("queues.2.tins.1.target_us"), 5000.0);
        assert!(host.counter("queues.1.active_queues") == 0.0);
        assert_eq!(host.counter("queues.0.capacity_estimate"), 0.0);
    }

    #[test]
    fn a_queue_alone_has_the_whole_rate() {
        let sent = host(shaped(20, 4)).runs(&flows([3, 3]), 4, 2000);
        assert!((mbit(&sent) - 20.0).abs() < 0.05, "{sent:?}");
    }

    #[test]
    fn a_queue_looks_at_the_others_after_200_us_and_at_those_that_have_sent_since() {
        let us = |us: u64| Time::ZERO + Span::us(us);
        let mut all = CakeMq::new(&shaped(20, 4), &crate::fixture::PORT);
        let looks = |all: &mut CakeMq, at: u64| {
            all.look(us(at), 0);
            all.queues[0].active
        };
        assert_eq!(looks(&mut all, 1000), 1);
        all.queues[1].sent = Some(us(1001));
        all.queues[2].cake.waiting = 1;
        assert_eq!((looks(&mut all, 1199), all.queues[0].cake.rate), (1, 2_500_000));
        assert_eq!((looks(&mut all, 1200), all.queues[0].cake.rate), (3, 833_333));
        // The second has not sent since then; at the very time of the look does not count.
        all.queues[1].sent = Some(us(1200));
        assert_eq!(looks(&mut all, 1400), 2);
        // A timer between makes it forget what was before, unless it has run less than 200 us ago.
        all.queues[1].sent = Some(us(1401));
        all.queues[0].again = Some(us(6000));
        assert_eq!(looks(&mut all, 6199), 3);
        all.queues[2].cake.waiting = 0;
        all.queues[0].again = Some(us(12_000));
        all.queues[1].sent = Some(us(11_999));
        assert_eq!(looks(&mut all, 12_200), 1);
    }

    #[test]
    fn the_timer_of_a_queue_is_that_of_its_shaper_where_packets_wait() {
        let mut all = CakeMq::new(&shaped(1, 1), &crate::fixture::PORT);
        let (mut lots, lanes) = (crate::fixture::Draw(0.5), vec![Lane::default(); all.lanes()]);
        let (packet, buffer) = (Packet::new(1514, false), Backlog::default());
        let (lane, _) = all.on_enqueue(Time::ZERO, &packet, &buffer, &lanes, &mut lots);
        all.on_enqueue(Time::ZERO, &packet, &buffer, &lanes, &mut lots);
        for (waits, timer) in [(true, None), (false, Some(Time::ZERO + Span::ms(5)))] {
            all.queues[0].again = Some(Time::ZERO + Span::ms(5));
            all.on_dequeue(Time::ZERO, lane, &packet, &buffer, &lanes, Span::ZERO, &mut lots);
            assert_eq!((all.queues[0].cake.waiting > 0, all.queues[0].again), (waits, timer));
        }
    }
}
