//! CAKE: a shaper, classes of service, fairness between hosts and flows, and COBALT on each flow, in one.
//!
//! A packet joins one of up to eight tins by its DSCP (`diffserv`), and there one of 1024 queues by a hash of its flow
//! (`flowmode`), which has eight places to choose from. With `bandwidth`, one packet is sent after the other at this rate:
//!
//! ```text
//! T   <- T + d           nothing is sent while T > now and F > now
//! F   <- F + 1.5 d       (the failsafe: drops that are charged to T, with `ingress`, never stop the link)
//! t_i <- t_i + d_i       if t_i < now; else max(t_i, now + d_i)
//! ```
//!
//! with d and d_i the times of the packet, as long as it is on the wire (`framing`), at the whole rate and at the threshold
//! rate of its tin. T and F move up to now when a packet comes to an empty CAKE. Of the tins with packets, the highest with
//! t_i <= now is served, else that with the earliest t_i: a tin within its rate comes first, one above it shares the rest.
//! Without `bandwidth` the tins take turns by deficit.
//!
//! In a tin, flows are served in rounds (DRR++): first, once a packet sent, one that is decaying, then the sparse, then the
//! bulk. A flow that has spent its quantum goes to the end of the bulk; its quantum is divided by the number of bulk flows
//! of its source or of its destination, whichever is more, so that hosts share evenly. An empty flow whose COBALT has state
//! left keeps its queue until it has decayed.
//!
//! COBALT is that of `cobalt` in the form "linux", with ECN always, and with its times for the tin's rate. Memory is
//! limited (`memlimit`): while it is exceeded, the head of the longest queue of all is dropped, and its COBALT notified.
//!
//! Decides at: enqueue (memory, ACKs), dequeue. Timer: none. Randomness: one draw at the first arrival unless
//! `perturbation` is set; COBALT's. State: per tin, 1024 queues with COBALT's state, 2048 hosts, clocks; of the whole,
//! T and F, and the memory in use.
//!
//! # Departures from the source
//! Memory is counted as Linux counts buffers: 2304 bytes for a packet above 640, 768 for a smaller one. The link's buffer is
//! a limit too, at which the same queue loses its head before the arrival joins. Linux's hash is another, so that different
//! flows share a queue; so are its random numbers for rounding quanta. The ACK filter knows no time stamps, which never go
//! back in a queue here. Of several queues of the same length, the one that is served first loses the packet. `nat`,
//! `wash`, `fwmark` and `split-gso` have no meaning here: addresses are not translated, a DSCP belongs to an entry of
//! traffic, and packets are whole. `autorate_ingress` has no guard of 250 ms between two changes of the rate: Linux's never
//! acts, because the time of the last change is not written. In ingress mode, Linux asks the shaper again when it finds a flow
//! empty after a drop; here a packet may then leave, at most a transmission early.
//!
//! # Sources
//! Høiland-Jørgensen, Täht, Morton, "Piece of CAKE: a comprehensive queue management solution for home gateways", LANMAN
//! 2018; Linux 7.2, sch_cake.c; iproute2, q_cake.c. COBALT is tested against a transcription; whole runs against the kernel.

mod acks;
mod change;
mod flows;
mod pace;
mod tins;

#[cfg(test)]
pub(super) mod tests;

use crate::aqm::cobalt::linux::Times;
use crate::contract::Reading::{Count, Level};
use crate::contract::{Backlog, Packet, Port, Reading, Signal, Uniform, Verdict, memory};
use crate::discipline::{Discipline, Eviction, Label, Lane};
use crate::framing::{Atm, Framing, WireLength};
use crate::hash::mix;
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Rate, Span, Time};
pub use acks::Filter;
use alloc::vec::Vec;
pub use flows::FlowMode;
use flows::{Flows, QUEUES, Set};
use pace::Pace;
pub use tins::Diffserv;
use tins::Scheme;

crate::params! {
    /// CAKE's parameters, by tc's names.
    pub struct Params {
        /// Rate of the shaper; if omitted, none: the link's rate applies, and no delay is scaled by it.
        bandwidth: Option<Rate> = None, "bit/s", Range::new(512.0, 1e13);
        /// Follow the rate at which packets come, of which 15/16 are let through.
        autorate_ingress: bool = false, "", Range::ANY, ["autorate-ingress"];
        /// The tins: `besteffort`, one; `precedence`, eight by precedence; `diffserv3`, best effort, bulk (CS1, LE) and voice
        /// (EF, VA, CS6, CS7, 4); `diffserv4`, with video (AF2x to AF4x, CS2, CS3, 4), and CS4 and CS5 in voice; `diffserv8`.
        diffserv: Diffserv = Diffserv::Three, "";
        /// The packets that have a queue together, and the hosts that share evenly: `flowblind`, `srchost`, `dsthost`,
        /// `hosts`, `flows`, `dual-srchost`, `dual-dsthost`, `triple-isolate`.
        flowmode: FlowMode = FlowMode::Triple, "";
        /// The round-trip time that is expected: COBALT's interval. tc's words: datacentre 100 us, lan 1 ms, metro 10 ms,
        /// regional 30 ms, internet 100 ms, oceanic 300 ms, satellite 1 s, interplanetary 1000 s.
        rtt: Span = Span::ms(100), "s", Range::above(0.0, 1e4);
        /// COBALT's target; if omitted, a twentieth of `rtt`.
        target: Option<Span> = None, "s", Range::above(0.0, 1e4);
        /// The link behind the shaper, in tc's words, in order and separated by spaces, as `pppoe-ptm ether-vlan` or
        /// `docsis mpu 100`: most add their bytes to those of the words before; if omitted, a packet has the length that the
        /// queue sees.
        framing: Option<Framing> = None, "";
        /// Bytes on the wire besides the packet from its IP header on, as if `overhead N` came last in `framing`; if
        /// omitted, those of `framing`.
        overhead: Option<f64> = None, "bytes", Range::new(-64.0, 256.0);
        /// Least length on the wire, as if `mpu N` came last in `framing`; if omitted, that of `framing`.
        mpu: Option<u32> = None, "bytes", Range::new(0.0, 256.0);
        /// The cells behind the shaper: `noatm`, `atm`, 53 bytes for each 48, or `ptm`, a byte for each 64; if omitted, those
        /// of `framing`.
        atm: Option<Atm> = None, "";
        /// Limit of the memory of packets; if omitted, the bytes of four times `rtt` at `bandwidth`, at least 4 MiB and at most
        /// 15,503,360 bytes, which is also the limit without a shaper.
        memlimit: Option<Bytes> = None, "bytes", Range::new(1.0, 4e9);
        /// Drop ACKs that later ones make superfluous: `off`; `on`, but one is kept; `aggressive`.
        ack_filter: Filter = Filter::Off, "", Range::ANY, ["ack-filter"];
        /// Charge dropped packets to the shaper too: they have already passed the bottleneck.
        ingress: bool = false, "";
        /// Seed of the hashes; auto draws it.
        perturbation: Option<u64> = None, "", Range::new(0.0, 9e15);
    }
}

/// Most packets in the buffer by which Linux bounds the memory.
const MOST_PACKETS: u64 = 10_240;
/// Bytes of a full packet on Ethernet.
const MTU: u64 = 1514;

/// A moving mean, in nanoseconds or bytes a second (`cake_ewma`).
const fn moved(mean: u64, sample: u64, shift: u32) -> u64 {
    mean - (mean >> shift) + (sample >> shift)
}

/// A tin.
#[derive(Clone, Debug)]
struct Tin {
    flows: Flows,
    /// In bytes a second.
    rate: u64,
    pace: Pace,
    times: Times,
    flow_quantum: u32,
    quantum: u32,
    deficit: i64,
    /// When its next packet is due.
    due: Time,
    backlog: u64,
    counts: Counts,
}

/// What has happened in a tin, as tc counts it.
#[derive(Clone, Copy, Debug)]
struct Counts {
    sent_packets: u64,
    sent_bytes: u64,
    drops: u64,
    ecn_mark: u64,
    ack_drops: u64,
    max_pkt_len: u32,
    min_pkt_len: u32,
    /// Moving sojourn times in nanoseconds: peak, mean, base.
    delays: [u64; 3],
}

impl Counts {
    const NONE: Self = Self {
        sent_packets: 0,
        sent_bytes: 0,
        drops: 0,
        ecn_mark: 0,
        ack_drops: 0,
        max_pkt_len: 0,
        min_pkt_len: u32::MAX,
        delays: [0; 3],
    };
}

impl Tin {
    fn new(params: &Params, quantum: u32) -> Self {
        Self {
            flows: Flows::new(params.flowmode),
            rate: 0,
            pace: Pace::default(),
            times: Times::new(Span::ZERO, Span::ZERO, Span::ZERO),
            flow_quantum: 0,
            quantum,
            deficit: 0,
            due: Time::ZERO,
            backlog: 0,
            counts: Counts::NONE,
        }
    }

    /// Sets the rate in bytes a second, 0 for none (`cake_set_rate`).
    fn set_rate(&mut self, rate: u64) {
        self.rate = rate;
        self.pace = Pace::new(rate);
        self.flow_quantum = if rate > 0 { (rate >> 12).clamp(300, MTU) as u32 } else { MTU as u32 };
    }

    fn note_delay(&mut self, delay: Span) {
        let [peak, mean, base] = &mut self.counts.delays;
        let delay = delay.nanos();
        *mean = moved(*mean, delay, 8);
        *peak = moved(*peak, delay, if delay > *peak { 2 } else { 8 });
        *base = moved(*base, delay, if delay < *base { 2 } else { 8 });
    }
}

/// The rate at which packets come.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    last: Time,
    gap: u64,
    begun: Time,
    bytes: u64,
    /// In bytes a second.
    peak: u64,
}

impl Capacity {
    /// Notes an arrival; whether the estimate has changed.
    fn note(&mut self, now: Time, size: u32) -> bool {
        self.bytes += u64::from(size);
        let gap = now.since(self.last).nanos().min(1_000_000_000);
        self.last = now;
        self.gap = moved(self.gap, gap, if gap > self.gap { 2 } else { 8 });
        let window = now.since(self.begun).nanos();
        if gap <= self.gap || window == 0 {
            return false;
        }
        let rate = (u128::from(self.bytes) * 1_000_000_000 / u128::from(window)) as u64;
        self.peak = moved(self.peak, rate, if rate > self.peak { 2 } else { 8 });
        (self.begun, self.bytes) = (now, 0);
        true
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Cake {
    scheme: Scheme,
    tins: Vec<Tin>,
    wire: WireLength,
    /// Bytes of the link's header in a packet.
    header: u64,
    target: Span,
    interval: Span,
    /// In bytes a second; 0 without a shaper.
    pub(super) rate: u64,
    pace: Pace,
    /// T and F.
    next: Time,
    failsafe: Time,
    /// The tin that is served.
    current: usize,
    memlimit: Option<u64>,
    limit: u64,
    pub(super) used: u64,
    most_used: u64,
    pub(super) waiting: u32,
    capacity: Option<Capacity>,
    ingress: bool,
    filter: Filter,
    /// What waits in each queue, if ACKs are filtered.
    lines: Vec<acks::Line>,
    /// The ACK that the last arrival made superfluous.
    superfluous: Option<(usize, u32)>,
    label: Label,
    pub(super) salt: Option<u64>,
    dithers: u64,
    /// What follows a drop at a departure.
    after_drop: AfterDrop,
    /// BLUE's p and COBALT's count in the queue of the last departure.
    last: (f64, u32),
}

/// What follows a drop at a departure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AfterDrop {
    /// There was none.
    None,
    /// The next packet of the same queue is judged.
    Same(usize),
    /// The flow is chosen anew in the same tin.
    Retry,
}

impl Cake {
    /// Sets the rate in bytes a second, 0 for none (`cake_reconfigure`).
    fn set_rate(&mut self, rate: u64) {
        self.share(rate);
        for tin in &mut self.tins {
            tin.times = Times::new(self.target, self.interval, Span::ns(tin.pace.time(MTU as u32)));
        }
        let most = (MOST_PACKETS * MTU).max(self.memlimit.unwrap_or(0));
        let asked = match (self.memlimit, rate) {
            (Some(limit), _) => limit,
            (None, 0) => u64::MAX,
            (None, rate) => (rate as f64 * self.interval.secs() * 4.0).max(4_194_304.0) as u64,
        };
        self.limit = asked.min(most);
    }

    /// Sets the rate in bytes a second, but not the times and the limit that follow from it (`cake_configure_rates`).
    pub(super) fn share(&mut self, rate: u64) {
        self.rate = rate;
        for (i, tin) in self.tins.iter_mut().enumerate() {
            tin.set_rate(self.scheme.rate(i, rate));
        }
        self.pace = self.tins[0].pace;
    }

    fn dither(&mut self) -> u16 {
        self.dithers += 1;
        mix(self.dithers, self.salt.unwrap_or(0)) as u16
    }

    /// Charges a packet of this size on the wire to the shaper (`cake_advance_shaper`).
    fn charge(&mut self, now: Time, tin: usize, length: u32, dropped: bool) {
        if self.pace.is_unlimited() {
            return;
        }
        let tin = &mut self.tins[tin];
        let own = Span::ns(tin.pace.time(length));
        tin.due = if tin.due < now { tin.due + own } else { tin.due.max(now + own) };
        let whole = self.pace.time(length);
        self.next += Span::ns(whole);
        if !dropped {
            self.failsafe += Span::ns(whole + whole / 2);
        }
    }

    /// A packet of this size has left the memory.
    fn free(&mut self, tin: usize, size: u32) {
        self.used -= memory(size);
        self.waiting -= 1;
        self.tins[tin].backlog -= u64::from(size);
    }

    /// The target of the first tin in which flows decay.
    pub(super) fn decays(&self) -> Option<Span> {
        self.tins.iter().find(|tin| tin.flows.decaying > 0).map(|tin| tin.times.target)
    }

    /// The queue with the most bytes.
    pub(super) fn longest(&self, lanes: &[Lane]) -> Option<usize> {
        let flows = self.tins.iter().enumerate();
        let queues = flows.flat_map(|(tin, t)| t.flows.backlogged().map(move |i| tin * QUEUES + i));
        // The first of those with the most.
        queues.reduce(|best, lane| if lanes[lane].bytes > lanes[best].bytes { lane } else { best })
    }

    /// The head of the longest queue is dropped because memory is full (`cake_drop`).
    pub(super) fn overflow(&mut self, now: Time, lanes: &[Lane]) -> Option<usize> {
        let lane = self.longest(lanes).filter(|lane| lanes[*lane].packets > 0)?;
        let (tin, i) = (lane / QUEUES, lane % QUEUES);
        let size = lanes[lane].head?.size;
        let Tin { flows, times, counts, .. } = &mut self.tins[tin];
        flows.flows[i].cobalt.overflows(now, times);
        counts.drops += 1;
        if self.ingress {
            self.charge(now, tin, self.wire.length(size), true);
        }
        self.free(tin, size);
        self.forget(lane, 0);
        Some(lane)
    }

    /// The packet at this place of a queue is gone.
    fn forget(&mut self, lane: usize, place: usize) {
        if self.filter != Filter::Off {
            self.lines[lane].remove(place);
        }
    }

    /// Brings the clocks of a shaper that has been idle to the present.
    fn wake(&mut self, now: Time, tin: usize) {
        if self.tins[tin].backlog == 0 {
            self.tins[tin].due = self.tins[tin].due.max(now);
            if self.waiting == 0 && self.next < now {
                (self.next, self.failsafe) = (now, now);
            }
        }
    }

    /// Lets the flow of an arrival take part in the rounds.
    fn join(&mut self, tin: usize, i: usize) {
        match self.tins[tin].flows.flows[i].set {
            Set::None | Set::Decaying => {
                let dither = self.dither();
                let Tin { flows, flow_quantum, .. } = &mut self.tins[tin];
                flows.place(i, Set::Sparse);
                flows.flows[i].deficit = flows.quantum(i, *flow_quantum, dither);
            }
            Set::SparseWait => self.tins[tin].flows.promote(i),
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Chooses the tin that is served.
    fn choose(&mut self, now: Time) {
        if self.pace.is_unlimited() {
            while self.tins[self.current].deficit < 0 || !self.tins[self.current].flows.is_backlogged() {
                let tin = &mut self.tins[self.current];
                if tin.deficit <= 0 {
                    tin.deficit += i64::from(tin.quantum);
                }
                self.current = (self.current + 1) % self.tins.len();
            }
            return;
        }
        let mut best = None;
        for (i, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.flows.is_backlogged()) {
            if tin.due <= now || best.is_none_or(|best| tin.due <= best) {
                best = Some(tin.due);
                self.current = i;
            }
        }
    }

    /// The flow of this tin that sends next; `None` if it has none on its lists. A decaying flow is looked at if `fresh`.
    fn next_flow(&self, tin: usize, fresh: bool) -> Option<usize> {
        let flows = &self.tins[tin].flows;
        let decaying = flows.first(Set::Decaying);
        let others = flows.first(Set::Sparse).or_else(|| flows.first(Set::Bulk));
        if fresh { decaying.or(others) } else { others.or(decaying) }
    }

    /// A flow has been found empty.
    fn found_empty(&mut self, now: Time, tin: usize, i: usize) {
        let Tin { flows, times, .. } = &mut self.tins[tin];
        let cobalt = &mut flows.flows[i].cobalt;
        cobalt.is_found_empty(now, times);
        let set = if cobalt.is_at_rest(now) { Set::None } else { Set::Decaying };
        flows.place(i, set);
    }
}

impl Discipline for Cake {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "BLUE's drop probability in the queue of the last departure." },
        Signal { name: "count", unit: "drops", doc: "COBALT's count in the queue of the last departure." },
        Signal { name: "sparse", unit: "flows", doc: "Sparse flows of all tins." },
        Signal { name: "bulk", unit: "flows", doc: "Bulk flows of all tins." },
        Signal { name: "memory", unit: "bytes", doc: "Memory in use, as Linux counts it." },
        Signal { name: "rate", unit: "bit/s", doc: "The shaper's rate; 0 without one." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("linux", "sch_cake of Linux 7.2 at tc's defaults, which are those here")];

    fn new(params: &Params, port: &Port) -> Self {
        let scheme = params.diffserv.scheme();
        let tins: Vec<Tin> = (0..scheme.tins()).map(|tin| Tin::new(params, scheme.quantum(tin))).collect();
        let lanes = if params.ack_filter == Filter::Off { 0 } else { tins.len() * QUEUES };
        let rate = params.bandwidth.map_or(0, |rate| (rate.whole_bits() / 8).max(64));
        let mut framing = params.framing.clone().unwrap_or_default();
        framing.overhead = params.overhead.map(|bytes| bytes as i32).or(framing.overhead);
        framing.mpu = params.mpu.unwrap_or(framing.mpu);
        framing.atm = params.atm.or(framing.atm);
        let capacity = Capacity { last: Time::ZERO, gap: 0, begun: Time::ZERO, bytes: 0, peak: rate };
        let mut cake = Self {
            scheme,
            tins,
            wire: framing.wire(port.header.0 as u32),
            header: port.header.0,
            target: params.target.unwrap_or(Span::ns((params.rtt.nanos() / 20).max(1000))),
            interval: params.rtt,
            rate,
            pace: Pace::default(),
            next: Time::ZERO,
            failsafe: Time::ZERO,
            current: 0,
            memlimit: params.memlimit.map(|limit| limit.0),
            limit: 0,
            used: 0,
            most_used: 0,
            waiting: 0,
            capacity: params.autorate_ingress.then_some(capacity),
            ingress: params.ingress,
            filter: params.ack_filter,
            lines: vec![acks::Line::new(); lanes],
            superfluous: None,
            label: Label::default(),
            salt: params.perturbation,
            dithers: 0,
            after_drop: AfterDrop::None,
            last: (0.0, 0),
        };
        cake.set_rate(rate);
        cake
    }

    fn preset(name: &str) -> Option<Params> {
        (name == "linux").then(Params::default)
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        match params.target {
            Some(target) if target > params.rtt => {
                Err(ParamError::invalid("target", target, format!("at most rtt = {}", params.rtt)))
            }
            _ => Ok(()),
        }
    }

    fn lanes(&self) -> usize {
        self.tins.len() * QUEUES
    }

    fn reads_labels(&self) -> bool {
        true
    }

    fn reads_acks(&self) -> bool {
        self.filter != Filter::Off
    }

    fn on_label(&mut self, label: Label) {
        self.label = label;
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        _: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        let salt = *self.salt.get_or_insert_with(|| (rng.uniform() * 9e15) as u64);
        let tin = self.scheme.tin(self.label.dscp);
        let hosts =
            [self.label.source, self.label.destination].map(|host| mix(u64::from(host), !salt) as u32);
        let i = self.tins[tin].flows.find(mix(packet.flow, salt) as u32, hosts);
        let lane = tin * QUEUES + i;
        if buffer.full {
            return (lane, Verdict::Drop);
        }
        self.wake(now, tin);
        let counts = &mut self.tins[tin].counts;
        counts.max_pkt_len = counts.max_pkt_len.max(packet.size);
        counts.min_pkt_len = counts.min_pkt_len.min(packet.size);
        counts.sent_packets += 1;
        counts.sent_bytes += u64::from(packet.size);
        self.waiting += 1;
        self.used += memory(packet.size);
        self.tins[tin].backlog += u64::from(packet.size);
        if self.filter != Filter::Off {
            self.lines[lane].push_back(acks::WaitingAck {
                flow: packet.flow,
                size: packet.size,
                ack: self.label.ack,
            });
            let place = acks::superfluous(&self.lines[lane], self.filter);
            self.superfluous = place.map(|place| (lane, place as u32));
        }
        let filtered = self.superfluous.map_or(0, |(lane, place)| self.lines[lane][place as usize].size);
        self.most_used = self.most_used.max(self.used - if filtered > 0 { memory(filtered) } else { 0 });
        if let Some(capacity) = &mut self.capacity
            && capacity.note(now, packet.size.saturating_sub(filtered))
        {
            let rate = (u128::from(capacity.peak) * 15 / 16) as u64;
            self.set_rate(rate);
        }
        self.join(tin, i);
        (lane, Verdict::Pass)
    }

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        _: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        _: &mut R,
    ) -> Option<(usize, u32)> {
        buffer.full.then(|| self.overflow(now, lanes).map(|lane| (lane, 0))).flatten()
    }

    fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        if let Some((lane, place)) = self.superfluous.take() {
            let size = self.lines[lane][place as usize].size;
            let tin = lane / QUEUES;
            self.tins[tin].counts.ack_drops += 1;
            if self.ingress {
                self.charge(now, tin, self.wire.length(size), true);
            }
            self.forget(lane, place as usize);
            self.free(tin, size);
            return Some(Eviction { lane, place, full: false });
        }
        if self.used <= self.limit {
            return None;
        }
        self.overflow(now, lanes).map(|lane| Eviction { lane, place: 0, full: true })
    }

    fn paused_until(&self, now: Time) -> Option<Time> {
        let until = self.next.min(self.failsafe);
        (until > now && self.after_drop == AfterDrop::None && !self.pace.is_unlimited()).then_some(until)
    }

    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        let after_drop = core::mem::replace(&mut self.after_drop, AfterDrop::None);
        if let AfterDrop::Same(lane) = after_drop {
            return lane;
        }
        let mut fresh = after_drop == AfterDrop::None;
        if fresh {
            self.choose(now);
        }
        loop {
            let tin = self.current;
            let Some(i) = self.next_flow(tin, fresh) else {
                self.choose(now);
                continue;
            };
            fresh = false;
            let waits = lanes[tin * QUEUES + i].packets > 0;
            let flow = self.tins[tin].flows.flows[i];
            if flow.deficit <= 0 {
                let set = match flow.set {
                    Set::Sparse if waits => Set::Bulk,
                    Set::Sparse => Set::SparseWait,
                    other => other,
                };
                let dither = self.dither();
                let Tin { flows, flow_quantum, .. } = &mut self.tins[tin];
                flows.place(i, set);
                flows.flows[i].deficit += flows.quantum(i, *flow_quantum, dither);
            } else if waits {
                return tin * QUEUES + i;
            } else {
                self.found_empty(now, tin, i);
                self.choose(now);
            }
        }
    }

    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        lane: usize,
        packet: &Packet,
        _: &Backlog,
        lanes: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        let (t, i) = (lane / QUEUES, lane % QUEUES);
        let length = self.wire.length(packet.size);
        self.free(t, packet.size);
        self.forget(lane, 0);
        let ingress = self.ingress;
        let Tin { flows, times, .. } = &mut self.tins[t];
        let least = if ingress { times.mtu * u64::from(2 * flows.bulk) } else { Span::ZERO };
        let last = lanes[lane].packets == 0;
        let cobalt = &mut flows.flows[i].cobalt;
        let verdict = cobalt.decide(now, sojourn, packet.ect, least, last, times, rng);
        self.last = (cobalt.blue(), cobalt.count());
        let dropped = verdict == Verdict::Drop;
        self.after_drop = match dropped {
            false => AfterDrop::None,
            true if ingress => AfterDrop::Retry,
            true => AfterDrop::Same(lane),
        };
        if ingress || !dropped {
            self.charge(now, t, length, dropped);
            let tin = &mut self.tins[t];
            tin.flows.flows[i].deficit -= i64::from(length);
            tin.deficit -= i64::from(length);
        }
        let tin = &mut self.tins[t];
        tin.counts.drops += u64::from(dropped);
        if !dropped {
            tin.counts.ecn_mark += u64::from(verdict == Verdict::Mark);
            tin.note_delay(sojourn);
        }
        verdict
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.can_change(before)
    }

    fn resume(&mut self, now: Time, before: Self) {
        self.change(now, before);
    }

    fn on_trim(&mut self, lane: usize, size: u32, _: &[Lane]) {
        let tin = lane / QUEUES;
        self.tins[tin].counts.drops += 1;
        self.free(tin, size);
        self.forget(lane, 0);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let sum = |of: fn(&Flows) -> u32| f64::from(self.tins.iter().map(|tin| of(&tin.flows)).sum::<u32>());
        visit(0, self.last.0);
        visit(1, f64::from(self.last.1));
        visit(2, sum(|flows| flows.sparse));
        visit(3, sum(|flows| flows.bulk));
        visit(4, self.used as f64);
        visit(5, 8.0 * self.rate as f64);
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        let mut level = |name: &str, value: u64| visit(name, Level(value as f64));
        level("memory_limit", self.limit);
        level("memory_used", self.most_used);
        level("capacity_estimate", self.capacity.map_or(self.rate, |capacity| capacity.peak));
        let counts = || self.tins.iter().map(|tin| &tin.counts);
        let most = counts().map(|counts| counts.max_pkt_len).max().unwrap_or(0);
        let least = counts().map(|counts| counts.min_pkt_len).min().unwrap_or(u32::MAX);
        let sizes = |of: fn(&WireLength, u32) -> u32| match most {
            0 => (u16::MAX.into(), 0),
            _ => (of(&self.wire, least).into(), of(&self.wire, most).into()),
        };
        let (network, adjusted) = (sizes(WireLength::network), sizes(WireLength::length));
        let packets: u64 = counts().map(|counts| counts.sent_packets).sum();
        // A moving mean that starts at 0; it is near its end after some thousand packets.
        let mean = (0..packets.min(10_000)).fold(0, |mean, _| moved(mean, self.header << 16, 8));
        level("avg_hdr_offset", (mean + 0x8000) >> 16);
        level("min_network_size", network.0);
        level("max_network_size", network.1);
        level("min_adj_size", adjusted.0);
        level("max_adj_size", adjusted.1);
        for (place, i) in self.scheme.order().enumerate() {
            let tin = &self.tins[i];
            let Tin { flows, counts, times, .. } = tin;
            let micros = |ns: u64| Level((ns / 1000) as f64);
            let [peak, mean, base] = counts.delays.map(micros);
            let unresponsive = flows.flows.iter().filter(|flow| flow.cobalt.blue() > 0.0).count();
            for (name, reading) in [
                ("threshold_rate", Level(tin.rate as f64)),
                ("sent_bytes", Count(counts.sent_bytes)),
                ("backlog_bytes", Level(tin.backlog as f64)),
                ("target_us", micros(times.target.nanos())),
                ("interval_us", micros(times.interval.nanos())),
                ("peak_delay_us", peak),
                ("avg_delay_us", mean),
                ("base_delay_us", base),
                ("sent_packets", Count(counts.sent_packets)),
                ("way_indirect_hits", Count(flows.ways.hits)),
                ("way_misses", Count(flows.ways.misses)),
                ("way_collisions", Count(flows.ways.collisions)),
                ("drops", Count(counts.drops)),
                ("ecn_mark", Count(counts.ecn_mark)),
                ("ack_drops", Count(counts.ack_drops)),
                ("sparse_flows", Level(f64::from(flows.sparse + flows.decaying))),
                ("bulk_flows", Level(f64::from(flows.bulk))),
                ("unresponsive_flows", Level(unresponsive as f64)),
                ("max_pkt_len", Level(f64::from(counts.max_pkt_len))),
                ("flow_quantum", Level(f64::from(tin.flow_quantum))),
            ] {
                visit(&format!("tins.{place}.{name}"), reading);
            }
        }
    }
}
