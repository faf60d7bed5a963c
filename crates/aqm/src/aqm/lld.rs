//! Low Latency DOCSIS: a low-latency queue, protected from flows that fill it, coupled with a classic queue under PIE.
//!
//! A packet with ECT(1), CE or the DSCP NQB joins the queue "low_latency", any other the queue "classic". The delay
//! that an arrival of the former would have, d_L, is what waits there with it over the link's rate. Upstream, where
//! packets wait for grants too, it is that of a virtual queue (`loop_delay`).
//!
//! ```text
//! p_L' = (d_L - MINTH) / RANGE, clipped to [0, 1]      native mark probability              (annex N)
//!        RANGE = 2^lg_range ns, MINTH = max(max_th - RANGE, FLOOR), FLOOR = 2 max_frame_size / rate
//! p_CL = k sqrt(p_C), at most 1                        coupled mark probability
//! p_L  = max(p_L', p_CL)                               mark probability of a low-latency packet
//! ```
//!
//! p_C is the drop probability of DOCSIS-PIE (`pie` with its preset `docsis`) on the classic queue, which drops at
//! arrivals and has the delay d_C: what waits there, over the rate that the low-latency queue leaves (annexes M and O):
//!
//! ```text
//! d_C = classic backlog / (rate - r_L)
//! r_L = min(rate of departures from the low-latency queue in the last t_update, weight / 256 rate)
//! ```
//!
//! Queue protection keeps a queuing score of each flow in the low-latency queue: the time in which its packets, each
//! counted with the p_L' that it met, would drain at 2^lg_aging bytes a second (annex P; RFC 9957). A packet is
//! redirected to the classic queue, and may be dropped there, if
//!
//! ```text
//! d_L > critical_ql    and    d_L score > critical_ql critical_ql_score
//! ```
//!
//! Where both queues hold packets, `weight` of 256 parts of the link belong to the low-latency queue.
//!
//! Decides at: enqueue. Timer: `t_update`. Randomness: one draw per classic arrival that DOCSIS-PIE may drop; marks
//! have none. State: that of PIE, a sum of mark probabilities, the bytes that have left the low-latency queue since the
//! last update, the credit of the scheduler, and a flow with a time for each bucket of queue protection.
//!
//! # Departures from the source
//! The rate of the aggregate service flow (AMSR) is that of the link, and neither service flow has a rate of its own;
//! peak rates and bursts are omitted. What waits is counted on the wire, with the link's own header. A cable modem
//! measures the loop delay, and its virtual queue allows for guaranteed grants; here `loop_delay` is set, and there are
//! none. The link's buffer holds both queues, and is the BUFFER_SIZE whose third must fill before DOCSIS-PIE drops; the
//! low-latency queue has `buffer_l` of it at most. Scheduling by weight is by bytes, packet for packet, as in
//! `dualpi2`; CableLabs' module for ns-3 has a deficit round robin downstream in which the quanta are as 230 to 256. It
//! also takes EF for low latency; here that is the DSCP NQB, RFC 9956's. A packet that cannot be marked is left as it
//! is, and counts as marked in the sum of probabilities, as in that module. Sanctioned packets keep their DSCP. Numbers
//! are floating-point except scores, which are whole nanoseconds. The flows of queue protection are those of the hosts,
//! without collisions of their identifiers.
//!
//! # Sources
//! CableLabs, CM-SP-MULPIv3.1-I25, 2023, annexes M to P and C.2.2.7, as CableLabs' module for ns-3 has them; White,
//! Pan, RFC 8034, 2017; Briscoe, White, RFC 9957, 2026; White, Fossati, Geib, RFC 9956, 2026; Linux 7.2, sch_dualpi2.c,
//! for the weighted round robin. Tested against a plain re-implementation, packet by packet.

mod protection;
#[cfg(test)]
mod tests;
mod upstream;

use super::dualpi2::{Weighted, ramp, recurs};
use super::pie::{self, Pie};
use crate::contract::{Aqm, Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Eviction, Label, Lane};
use crate::dscp::Dscp;
use crate::float::sqrt;
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Frequency, Rate, Span, Time};
use alloc::boxed::Box;
use protection::Protection;
use upstream::Upstream;

crate::params! {
    /// The parameters of Low Latency DOCSIS, with the names of CableLabs' module for ns-3 as aliases.
    pub struct Params {
        /// Target delay of the classic queue (RFC 8034).
        target: Span = Span::ms(10), "s", Range::new(0.0, 1e3), ["LATENCY_TARGET", "ClassicAqmLatencyTarget"];
        /// Period of the update of p_C (RFC 8034).
        t_update: Span = Span::ms(16), "s", Range::new(1e-6, 100.0), ["tupdate", "INTERVAL", "Interval"];
        /// DOCSIS-PIE's gain on the difference of delay and target (RFC 8034).
        alpha: Frequency = Frequency(0.25), "Hz", Range::new(0.0, 1e5), ["A"];
        /// DOCSIS-PIE's gain on the change of the delay in a period (RFC 8034).
        beta: Frequency = Frequency(2.5), "Hz", Range::new(0.0, 1e5), ["B"];
        /// DOCSIS-PIE's burst allowance: how long nothing is dropped after the first drop of a burst (RFC 8034).
        max_burst: Span = Span::ms(142), "s", Range::new(0.0, 1e3), ["MAX_BURST", "MaxBurstAllowance"];
        /// The packet to which p_C applies: one of another size is dropped in proportion (RFC 8034).
        mean_packet: Bytes = Bytes(1024), "bytes", Range::new(1.0, 65_535.0), ["MEAN_PKTSIZE", "MeanPktSize"];
        /// Coupling factor: the coupled mark probability is `k` sqrt(p_C); 2 makes windows equal (C.2.2.7.17.5, in
        /// tenths).
        k: f64 = 2.0, "", Range::new(0.0, 25.5), ["coupling_factor", "CouplingFactor"];
        /// Delay at which every low-latency packet is marked (C.2.2.7.15.4); on a slow link more, two frames of the
        /// greatest size and the range.
        max_th: Span = Span::us(1000), "s", Range::new(0.0, 65.535e-3), ["MAXTH", "MaxTh"];
        /// Logarithm to base 2 of the range of delays below `max_th` in which low-latency packets are marked, in ns
        /// (C.2.2.7.15.5): 19 is 524 us.
        lg_range: u32 = 19, "", Range::new(0.0, 25.0), ["LG_RANGE", "LgRange"];
        /// The greatest frame: no native mark before two of them wait, and the low-latency queue always has room for
        /// one (annex N).
        max_frame_size: Bytes = Bytes(2000), "bytes", Range::new(1.0, 65_535.0), ["MAX_FRAME_SIZE", "MaxFrameSize"];
        /// The low-latency queue's share of the link, in 256ths (C.2.2.7.17.6).
        weight: u32 = 230, "", Range::new(1.0, 255.0), ["SCHEDULING_WEIGHT", "SchedulingWeight"];
        /// The low-latency queue's buffer; auto is 10 ms of the link's rate, at least 20 frames of the greatest size
        /// (C.2.2.7.11.4).
        buffer_l: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9),
            ["CONFIG_BUFFER_SIZE", "LowLatencyConfigBufferSize"];
        /// Upstream, the time from a request to its grant: d_L is then the delay of a virtual queue that the link
        /// serves at once, and that is at least what waits beyond this time, on average (annex O, `qdelayCoupledV`). Auto
        /// is for downstream: d_L is what waits over the link's rate (`qdelayCoupledL`).
        loop_delay: Option<Span> = None, "s", Range::new(0.0, 10.0);
        /// Whether packets with the DSCP NQB join the low-latency queue (RFC 9956).
        nqb: bool = true, "";
        /// Whether packets with ECT(0) join the low-latency queue too, as those of DCTCP.
        any_ect: bool = false, "", Range::ANY, ["ClassifyEct0AsLowLatency"];
        /// Redirect packets of flows that build the low-latency queue to the classic queue (RFC 9957).
        queue_protection: bool = true, "", Range::ANY, ["QPROTECT_ON", "QProtectOn"];
        /// Delay of the low-latency queue below which no packet is redirected (C.2.2.7.17.8); auto is the delay at
        /// which every packet is marked.
        critical_ql: Option<Span> = None, "s", Range::new(0.0, 1e3), ["CRITICALqL", "QpLatencyThreshold"];
        /// Queuing score of a flow above which its packets are redirected where the delay is `critical_ql`; where it is
        /// longer, less is enough (C.2.2.7.17.9).
        critical_ql_score: Span = Span::us(4000), "s", Range::new(0.0, 1e3),
            ["CRITICALqLSCORE", "QpQueuingScoreThreshold"];
        /// Logarithm to base 2 of the rate at which queuing scores fall, in bytes a second (C.2.2.7.17.10).
        lg_aging: u32 = 19, "", Range::new(0.0, 30.0), ["LG_AGING", "QpDrainRateExponent"];
        /// How many buckets are tried for a flow (RFC 9957).
        attempts: u32 = 2, "", Range::new(1.0, 32.0), ["ATTEMPTS", "Attempts"];
        /// Logarithm to base 2 of the number of buckets, without the one that other flows share (RFC 9957).
        bi_size: u32 = 5, "", Range::new(0.0, 14.0), ["BI_SIZE", "BucketIdSize"];
        /// The greatest queuing score (RFC 9957).
        max_ql_score: Span = Span::s(5), "s", Range::new(0.0, 1e3), ["MAX_QLSCORE", "MaxQLScore"];
    }
}

/// The number of the low-latency queue.
const LOW_LATENCY: usize = 0;

/// The number of the classic queue.
const CLASSIC: usize = 1;

/// The greatest MINTH and MAXTH.
const MOST_TH: Span = Span::us(65_535);

/// The parts into which the scheduler divides the link.
const PARTS: f64 = 256.0;

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Lld {
    /// On the heap, so that other disciplines need no room for it.
    pie: Box<Pie>,
    protection: Option<Box<Protection>>,
    upstream: Option<Box<Upstream>>,
    weighted: Weighted,
    rate: Rate,
    period: Span,
    k: f64,
    min_th: f64,
    range: f64,
    weight: f64,
    /// Bytes from which on the low-latency queue takes no more, and the delay with a virtual queue.
    room: u64,
    longest: Span,
    nqb: bool,
    any_ect: bool,
    /// Whether the next arrival has the DSCP NQB.
    is_nqb: bool,
    /// Whether the low-latency queue had no room for the last arrival, which it holds until [`Discipline::evict`].
    refused: bool,
    /// The sum of the mark probabilities.
    sum: f64,
    p_l: f64,
    /// The delay of the last low-latency arrival.
    delay: Span,
    /// Bytes that have left the low-latency queue since the last update.
    left: u64,
    marked: u64,
    sanctioned: u64,
}

impl Params {
    /// MINTH and MAXTH at this rate.
    fn thresholds(&self, rate: Rate) -> [Span; 2] {
        let range = Span::ns(1 << self.lg_range);
        let floor = Span::from_secs(16.0 * self.max_frame_size.0 as f64 / rate.bits()).min(MOST_TH);
        let min = Span::ns(self.max_th.nanos().saturating_sub(range.nanos())).max(floor);
        [min, Span::ns(min.nanos() + range.nanos()).min(MOST_TH)]
    }

    /// The low-latency queue's buffer at this rate.
    fn buffer(&self, rate: Rate) -> u64 {
        let auto = || ((rate.bits() * 0.010 / 8.0) as u64).max(20 * self.max_frame_size.0);
        self.buffer_l.map_or_else(auto, |bytes| bytes.0)
    }

    /// Those of the classic queue's DOCSIS-PIE.
    fn pie(&self) -> pie::Params {
        pie::Params {
            target: self.target,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            mean_packet: Some(self.mean_packet),
            ..Pie::preset("docsis").expect("a preset of PIE")
        }
    }
}

impl Lld {
    /// p_CL since the last update.
    fn coupled(&self) -> f64 {
        (self.k * sqrt(self.pie.p())).min(1.0)
    }

    #[inline]
    fn is_low_latency(&self, packet: &Packet) -> bool {
        packet.l4s || self.any_ect && packet.ect || self.nqb && self.is_nqb
    }

    /// The verdict on an arrival at the classic queue.
    #[inline]
    fn on_classic<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Verdict {
        self.pie.on_enqueue(now, packet, &lanes[CLASSIC].backlog(buffer.full), rng)
    }

    /// The delay of the classic queue after a period in which this many bytes have left the low-latency queue.
    fn classic_delay(&self, waiting: u64, left: u64) -> Span {
        let rate = self.rate.bits();
        let low = (8.0 * left as f64 / self.period.secs()).min(self.weight * rate);
        Span::from_secs(8.0 * waiting as f64 / (rate - low))
    }
}

impl Discipline for Lld {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "p_C, drop probability of a classic packet of mean size since the last update.",
        },
        Signal {
            name: "p_cl",
            unit: "",
            doc: "Coupled mark probability of a low-latency packet since the last update.",
        },
        Signal { name: "p_l", unit: "", doc: "Mark probability of the last low-latency arrival." },
        Signal { name: "delay_l", unit: "s", doc: "d_L of the last low-latency arrival." },
        Signal { name: "delay_c", unit: "s", doc: "d_C at the last update." },
        Signal {
            name: "score",
            unit: "s",
            doc: "Queuing score of the flow of the last low-latency arrival, with it; 0 without queue protection.",
        },
    ];
    const LANES: &'static [&'static str] = &["low_latency", "classic"];

    fn new(params: &Params, port: &Port) -> Self {
        let [min_th, max_th] = params.thresholds(port.rate);
        let critical = [params.critical_ql.unwrap_or(max_th), params.critical_ql_score];
        let &Params { max_ql_score, lg_aging, attempts, bi_size, .. } = params;
        let weight = f64::from(params.weight);
        let room = params.buffer(port.rate).saturating_sub(params.max_frame_size.0);
        Self {
            pie: Box::new(Pie::new(&params.pie(), port)),
            protection: params
                .queue_protection
                .then(|| Box::new(Protection::new(critical, max_ql_score, lg_aging, attempts, bi_size))),
            upstream: params.loop_delay.map(|delay| Box::new(Upstream::new(port.rate, delay))),
            weighted: Weighted::new(PARTS - weight, PARTS, port.mtu()),
            rate: port.rate,
            period: params.t_update,
            k: params.k,
            min_th: min_th.secs(),
            range: max_th.secs() - min_th.secs(),
            weight: weight / PARTS,
            room,
            longest: Span::from_secs(8.0 * room as f64 / port.rate.bits()),
            nqb: params.nqb,
            any_ect: params.any_ect,
            is_nqb: false,
            refused: false,
            sum: 0.0,
            p_l: 0.0,
            delay: Span::ZERO,
            left: 0,
            marked: 0,
            sanctioned: 0,
        }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        match params.buffer_l {
            Some(buffer) if buffer <= params.max_frame_size => {
                let what = format!("more than a frame of {} bytes (max_frame_size)", params.max_frame_size.0);
                Err(ParamError::invalid("buffer_l", format!("{} B", buffer.0), what))
            }
            _ => Pie::check(&params.pie()),
        }
    }

    fn lanes(&self) -> usize {
        Self::LANES.len()
    }

    fn reads_labels(&self) -> bool {
        self.nqb
    }

    #[inline]
    fn on_label(&mut self, label: Label) {
        self.is_nqb = label.dscp == Dscp::Nqb.code();
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
        if !self.is_low_latency(packet) {
            return (CLASSIC, self.on_classic(now, packet, buffer, lanes, rng));
        }
        if buffer.full {
            return (LOW_LATENCY, Verdict::Pass);
        }
        let bytes = lanes[LOW_LATENCY].bytes;
        self.delay = match &mut self.upstream {
            None => Span::from_secs(8.0 * (bytes + u64::from(packet.size)) as f64 / self.rate.bits()),
            Some(upstream) => {
                upstream.advance(now, bytes);
                upstream.add(packet.size)
            }
        };
        let native = ramp(self.delay.secs() - self.min_th, self.range);
        self.p_l = native.max(self.coupled());
        let mark = recurs(&mut self.sum, self.p_l) && packet.ect;
        let marked = if mark { Verdict::Mark } else { Verdict::Pass };
        let protection = self.protection.as_mut();
        let (lane, verdict) = if protection.is_some_and(|one| one.sanctions(now, packet, self.delay, native))
        {
            self.sanctioned += 1;
            (CLASSIC, self.on_classic(now, packet, buffer, lanes, rng))
        } else {
            self.refused = match self.upstream {
                None => bytes >= self.room,
                Some(_) => self.delay >= self.longest,
            };
            (LOW_LATENCY, Verdict::Pass)
        };
        if let Some(upstream) = &mut self.upstream
            && (lane == CLASSIC || self.refused)
        {
            upstream.withdraw(packet.size);
        }
        if verdict == Verdict::Drop || self.refused {
            return (lane, verdict);
        }
        self.marked += u64::from(mark);
        (lane, marked)
    }

    #[inline]
    fn evict(&mut self, _: Time, lanes: &[Lane]) -> Option<Eviction> {
        let refused = core::mem::take(&mut self.refused);
        refused.then(|| Eviction { lane: LOW_LATENCY, place: lanes[LOW_LATENCY].packets - 1, full: true })
    }

    #[inline]
    fn serve(&mut self, _: Time, lanes: &[Lane]) -> usize {
        match lanes {
            [Lane { packets: 0, .. }, _] => CLASSIC,
            [_, Lane { packets: 0, .. }] => LOW_LATENCY,
            _ if self.weighted.serves_l4s() => LOW_LATENCY,
            _ => CLASSIC,
        }
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        lane: usize,
        packet: &Packet,
        _: &Backlog,
        lanes: &[Lane],
        _: Span,
        _: &mut R,
    ) -> Verdict {
        if lane == LOW_LATENCY {
            if let Some(upstream) = &mut self.upstream {
                upstream.advance(now, lanes[LOW_LATENCY].bytes + u64::from(packet.size));
            }
            self.left += u64::from(packet.size);
        }
        if lanes[1 - lane].packets > 0 {
            self.weighted.sent(lane, packet.size);
        }
        Verdict::Pass
    }

    #[inline]
    fn on_idle(&mut self, _: Time) {
        self.weighted.restart();
    }

    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    fn on_period(&mut self, _: Time, _: &Backlog, lanes: &[Lane]) {
        let left = core::mem::take(&mut self.left);
        let waiting = lanes[CLASSIC].bytes;
        self.pie.update(self.classic_delay(waiting, left), waiting);
    }

    fn can_resume(&self, before: &Self) -> bool {
        match (&self.protection, &before.protection) {
            (Some(protection), Some(before)) => protection.is_like(before),
            _ => true,
        }
    }

    fn resume(&mut self, now: Time, before: Self) {
        if let Some(upstream) = &mut self.upstream {
            upstream.resume(now, before.upstream.map(|before| *before));
        }
        self.pie.resume(*before.pie);
        if let (Some(protection), Some(before)) = (&mut self.protection, before.protection) {
            protection.resume(*before);
        }
        self.weighted.resume(&before.weighted);
        if self.period == before.period {
            self.left = before.left;
        }
        (self.is_nqb, self.refused, self.sum) = (before.is_nqb, before.refused, before.sum);
        (self.p_l, self.delay) = (before.p_l, before.delay);
        (self.marked, self.sanctioned) = (before.marked, before.sanctioned);
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("marked", Reading::Count(self.marked));
        visit("sanctioned", Reading::Count(self.sanctioned));
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.pie.p().min(1.0));
        visit(1, self.coupled());
        visit(2, self.p_l);
        visit(3, self.delay.secs());
        visit(4, self.pie.delay().secs());
        visit(5, self.protection.as_ref().map_or(0.0, |protection| protection.score().secs()));
    }
}
