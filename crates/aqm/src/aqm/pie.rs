//! PIE: steers the queueing delay to a target, with gains that grow with the drop probability.
//!
//! Every `t_update`, with the queueing delay d(k) now and d(k-1) one period ago:
//!
//! ```text
//! p <- p + s(p) (alpha (d(k) - target) + beta (d(k) - d(k-1))), then clipped to [0, 1]      (section 4.2)
//! s(p) = 1/2048, 1/512, 1/128, 1/32, 1/8, 1/2, 1    for p below 1e-6, 1e-5, ... 0.1, and from there
//! ```
//!
//! From p = 0.1 on, p rises by at most 0.02 per update (`cap`, section 5.5). While d(k) = d(k-1) = 0, p decays by a
//! factor. An arrival is dropped (marked) with probability p, with three exceptions: p < 0.2 and the delay at the last
//! update was below half the target; at most two mean packets wait (section 4.1); or a burst is under way, for
//! `max_burst` from the time when p was 0 and d(k) and d(k-1) were below half the target (section 4.4).
//!
//! Decides at: enqueue. Timer: `t_update`. Randomness: one draw per arrival. State: p, d(k), d(k-1), the burst
//! allowance, the sum of p since the last drop, the departure rate.
//!
//! # Departures from the source
//! The burst allowance is renewed at updates; section 4.4 renews it at arrivals, a difference of one period at most. A
//! mark resets the sum of probabilities of `derandomise`, as a drop does; otherwise every packet beyond the sum's
//! upper bound would be marked. No random number is drawn for a packet that overflows the buffer. Appendix B adds p to
//! that sum during a burst allowance too; here, as in RFC 8034 and Linux, the allowance comes first. With `on_off` and
//! `departures`, appendix B falls asleep while the departure rate is not yet known, since the delay then counts as 0, and
//! below 16 KiB per `t_update` never drops early; here it stays awake until there is a measurement (section 5.3 speaks
//! of latency samples). ns-3's `ActiveThreshold`, a delay in place of a third of the buffer, and its `UseL4s` are omitted.
//!
//! The form "linux" uses floating-point numbers, not units of 2^-56; p stays at 256 where Linux falls back to 1. Its
//! first update comes one period after the start, in Linux after 500 ms. Linux's timer rounds the period up to clock ticks
//! and goes off a tick later: a `t_update` of 15 ms is 16 ms at 1000 Hz, 20 ms at 250 Hz. Linux's own measurement of
//! the departure rate (`dq_rate_estimator`) is omitted: `departures` is the RFC's.
//!
//! # Sources
//! RFC 8033, as FreeBSD's dn_aqm_pie.c follows its appendices; RFC 8034, as CableLabs' module for ns-3 follows it;
//! Linux 7.2, sch_pie.c; ns-3, pie-queue-disc.cc. Tested against plain re-implementations of all four.

use crate::contract::{Aqm, Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::params::ParamError;
use crate::unit::{Bytes, Frequency, Limit, Rate, Span, Time};
pub use params::{Delay, Form, Params};

mod linux;
mod params;

/// A gain as Linux's `tc` counts it, in sixteenths of a Hz.
#[must_use]
pub fn from_tc(sixteenths: u32) -> Frequency {
    Frequency(f64::from(sixteenths) / 16.0)
}

/// The bounds of the sum of probabilities between two drops; the lower one is also RFC 8034's highest probability of a
/// packet.
const SUM_LOW: f64 = 0.85;
const SUM_HIGH: f64 = 8.5;
/// The largest gain in Hz at the default target, and at longer ones.
const MOST_GAIN: f64 = 10.0;
/// How long a calm must last before RFC 8034 forgets a burst.
const BURST_RESET: Span = Span::s(1);

/// The measured time that `threshold` bytes take to leave.
#[derive(Clone, Debug)]
struct Departures {
    threshold: u64,
    weight: f64,
    /// When the present measurement began, and the bytes that have left since.
    measuring: Option<(Time, u64)>,
    /// Smoothed, in seconds; 0 before the first measurement.
    time: f64,
}

impl Departures {
    #[inline]
    fn left(&mut self, now: Time, size: u32, waiting: u64) {
        if let Some((start, bytes)) = &mut self.measuring {
            *bytes += u64::from(size);
            if *bytes >= self.threshold {
                let time = now.since(*start).secs();
                let weight = if self.time == 0.0 { 1.0 } else { self.weight };
                self.time += weight * (time - self.time);
                self.measuring = None;
            }
        }
        if self.measuring.is_none() && waiting >= self.threshold {
            self.measuring = Some((now, 0));
        }
    }

    /// Takes over the time, for another threshold if that is another now.
    fn resume(&mut self, before: &Self) {
        self.measuring = before.measuring;
        self.time = before.time * (self.threshold as f64 / before.threshold as f64);
    }

    fn delay(&self, waiting: u64) -> Span {
        Span::from_secs(waiting as f64 * self.time / self.threshold as f64)
    }
}

/// RFC 8034's burst state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Burst {
    /// No burst.
    None,
    /// A third of the buffer has filled, and nothing has been dropped since (not in ns-3); or the allowance is spent,
    /// and calm has lasted for this many updates.
    Under { calm: u64 },
    /// A drop has started the allowance.
    Protected,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Pie {
    params: Params,
    rate: Rate,
    mean: f64,
    limit: Limit,
    /// The highest p.
    max: f64,
    p: f64,
    /// The sum of p since the last drop.
    sum: f64,
    allowance: Span,
    /// When the last packet left, if the allowance ages while packets leave.
    left: Option<Time>,
    departures: Departures,
    /// The sojourn time of the last packet that left.
    sojourn: Span,
    /// The delay at the last update.
    delay: Span,
    active: bool,
    burst: Burst,
}

impl Pie {
    /// Restarts the algorithm, as if no packet had come before.
    fn activate(&mut self, now: Time) {
        self.active = true;
        self.p = 0.0;
        self.sum = 0.0;
        self.delay = Span::ZERO;
        self.allowance = self.params.max_burst;
        self.departures.time = 0.0;
        self.departures.measuring = Some((now, 0));
    }

    /// Whether a third of the buffer is full with this many packets and bytes.
    fn is_third(&self, packets: u32, bytes: u64) -> bool {
        match self.limit {
            Limit::Packets(limit) => 3 * u64::from(packets) >= u64::from(limit),
            Limit::Bytes(limit) | Limit::BytesBefore(limit) => 3 * bytes >= limit,
        }
    }

    /// Whether this delay is below half the target.
    fn is_short(&self, delay: Span) -> bool {
        delay.secs() < 0.5 * self.params.target.secs()
    }

    /// Whether a third of the buffer has filled since the last burst was forgotten; false only with RFC 8034.
    fn is_burst(&mut self, queue: &Backlog) -> bool {
        match self.params.form {
            Form::Docsis if self.burst == Burst::None => {
                if !self.is_third(queue.packets, queue.bytes) {
                    return false;
                }
                self.burst = Burst::Under { calm: 0 };
            }
            Form::Ns3 if self.burst == Burst::None => self.protect(),
            _ => {}
        }
        true
    }

    /// Begins an allowance of RFC 8034.
    fn protect(&mut self) {
        self.burst = Burst::Protected;
        self.allowance = self.params.max_burst;
    }

    /// Whether a packet of this size is marked or dropped.
    #[inline]
    fn marks_or_drops<R: Uniform>(&mut self, size: u32, queue: &Backlog, rng: &mut R) -> bool {
        if self.allowance > Span::ZERO {
            return false;
        }
        if self.params.form == Form::Linux {
            return self.marks_or_drops_in_linux(size, queue, rng);
        }
        if !self.is_burst(queue) {
            return false;
        }
        let docsis = self.params.form == Form::Docsis;
        let calm = self.is_short(self.delay) && self.p < 0.2 || queue.bytes as f64 <= 2.0 * self.mean;
        if calm && !docsis {
            return false;
        }
        if self.p == 0.0 {
            self.sum = 0.0;
        }
        let p = self.params.of_size(self.p, f64::from(size), self.mean);
        self.sum += p;
        !calm && self.falls_due(p, rng)
    }

    /// Whether a packet with probability `p` is marked or dropped, by the sum of probabilities that includes `p`.
    #[inline]
    fn falls_due<R: Uniform>(&self, p: f64, rng: &mut R) -> bool {
        if self.params.derandomise {
            if self.sum < SUM_LOW {
                return false;
            }
            if self.sum >= SUM_HIGH {
                return true;
            }
        }
        rng.happens(p)
    }

    /// The delay now, with this many bytes waiting.
    fn measured(&self, waiting: u64) -> Span {
        match self.params.delay {
            Delay::Departures => self.departures.delay(waiting),
            Delay::Timestamps => self.sojourn,
            Delay::Rate => Span::from_secs(8.0 * waiting as f64 / self.rate.bits()),
        }
    }

    /// Whether the delay has been measured: that by `departures` counts as 0 until then.
    fn is_measured(&self) -> bool {
        self.params.delay != Delay::Departures || self.departures.time > 0.0
    }

    /// p after a period that ends with this delay and this many bytes waiting.
    fn next(&self, delay: Span, waiting: u64) -> f64 {
        if matches!(self.params.form, Form::Docsis | Form::Ns3) && self.allowance > Span::ZERO {
            return 0.0;
        }
        self.params.next(self.p, [self.delay, delay], waiting == 0).min(self.max)
    }

    /// Shortens the allowance by this time.
    fn age(&mut self, time: Span) {
        self.allowance = Span::ns(self.allowance.nanos().saturating_sub(time.nanos()));
    }

    /// Ages and renews the burst allowance after an update that finds calm, or does not.
    fn age_burst(&mut self, calm: bool) {
        let period = self.params.t_update;
        if self.params.form != Form::Linux {
            self.age(period);
        }
        match self.params.form {
            Form::Rfc8033 if calm => self.allowance = self.params.max_burst,
            Form::Linux if calm => self.restart_in_linux(),
            Form::Rfc8033 | Form::Linux => {}
            Form::Docsis | Form::Ns3 => {
                let over = calm && self.allowance == Span::ZERO;
                let limit = BURST_RESET.nanos() / period.nanos();
                self.burst = match self.burst {
                    Burst::Protected if over => Burst::Under { calm: 0 },
                    Burst::Under { calm } if over && calm >= limit => Burst::None,
                    Burst::Under { calm } if over => Burst::Under { calm: calm + 1 },
                    Burst::Under { .. } => Burst::Under { calm: 0 },
                    burst => burst,
                };
            }
        }
    }

    /// Performs the update of a period that ends with this delay and this many bytes waiting.
    pub(super) fn update(&mut self, delay: Span, waiting: u64) {
        self.p = self.next(delay, waiting);
        let calm = self.p == 0.0 && self.is_short(delay) && self.is_short(self.delay);
        self.age_burst(calm);
        self.delay = delay;
        if self.params.on_off && calm && self.is_measured() {
            self.active = false;
            self.departures.measuring = None;
        }
    }

    /// p since the last update, of a mean packet; it may exceed 1.
    pub(super) const fn p(&self) -> f64 {
        self.p
    }

    /// The delay at the last update.
    pub(super) const fn delay(&self) -> Span {
        self.delay
    }
}

impl Aqm for Pie {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "Drop probability of a mean packet since the last update." },
        Signal { name: "delay", unit: "s", doc: "Queueing delay at the last update." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("rfc8033", "RFC 8033, appendix A, with the cap on steps of section 5.5: the defaults"),
        (
            "rfc8033-b",
            "RFC 8033, appendix B: all options of section 5, and p decays below half the default target",
        ),
        (
            "datacentre",
            "RFC 8033 on the time scale of data centres: all times a thousandth, as in section 8, gains times 1000",
        ),
        ("linux", "sch_pie of Linux 7.2; in its tc, alpha 2 beta 20 limit 1000"),
        (
            "ns3",
            "ns-3's PieQueueDisc, whose default buffer of 25 packets is too small for its target to matter",
        ),
        ("docsis", "RFC 8034's DOCSIS-PIE, for cable modems"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let packet = if params.form == Form::Linux { port.mtu() } else { port.packet };
        let mean = params.mean_packet.unwrap_or(packet);
        let later = matches!(params.form, Form::Docsis | Form::Ns3);
        let threshold = params.dq_threshold.0;
        Self {
            params: params.clone(),
            rate: port.rate,
            mean: mean.0 as f64,
            limit: port.limit,
            max: params.max(mean.0 as f64),
            p: 0.0,
            sum: 0.0,
            // RFC 8034's allowance begins with the first drop, ns-3's with the first packet.
            allowance: if later { Span::ZERO } else { params.max_burst },
            left: None,
            departures: Departures {
                threshold,
                weight: params.dq_weight.unwrap_or_else(|| (threshold as f64 / 65_536.0).min(1.0)),
                measuring: None,
                time: 0.0,
            },
            sojourn: Span::ZERO,
            delay: Span::ZERO,
            active: !params.on_off,
            burst: Burst::None,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let rfc8033 = Params::default();
        match name {
            "rfc8033" => Some(rfc8033),
            "rfc8033-b" => Some(Params {
                delay: Delay::Departures,
                low: Span::us(7500),
                derandomise: true,
                on_off: true,
                ecn: true,
                ..rfc8033
            }),
            "datacentre" => Some(Params {
                target: Span::us(15),
                t_update: Span::us(15),
                alpha: Frequency(125.0),
                beta: Frequency(1250.0),
                max_burst: Span::us(150),
                ..rfc8033
            }),
            "linux" => Some(Params {
                alpha: from_tc(2),
                beta: from_tc(20),
                decay: 1.0 - 1.0 / 64.0,
                high: Some(Span::ms(250)),
                derandomise: true,
                form: Form::Linux,
                ..rfc8033
            }),
            "ns3" => Some(Params {
                dq_weight: Some(0.5),
                mean_packet: Some(Bytes(1000)),
                form: Form::Ns3,
                ..rfc8033
            }),
            "docsis" => Some(Params {
                target: Span::ms(10),
                t_update: Span::ms(16),
                alpha: Frequency(0.25),
                beta: Frequency(2.5),
                max_burst: Span::ms(142),
                delay: Delay::Rate,
                low: Span::ms(5),
                high: Some(Span::ms(200)),
                derandomise: true,
                form: Form::Docsis,
                mean_packet: Some(Bytes(1024)),
                ..rfc8033
            }),
            _ => None,
        }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        // 20, as tc writes sixteenths, is meant as 1.25 Hz; only much shorter targets need such gains.
        let most = MOST_GAIN * (Params::default().target.secs() / params.target.secs().max(1e-9)).max(1.0);
        for (name, gain) in [("alpha", params.alpha), ("beta", params.beta)] {
            if gain.0 > most {
                let what = format!("at most {most} Hz with this target; tc's numbers are sixteenths of a Hz");
                return Err(ParamError::invalid(name, gain, what));
            }
        }
        Ok(())
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        if !self.active {
            // The arrival is already in the queue of appendix B.
            if self.is_third(queue.packets + 1, queue.bytes + u64::from(packet.size)) {
                self.activate(now);
            }
            return Verdict::Pass;
        }
        if queue.full {
            self.sum = 0.0;
            return Verdict::Pass;
        }
        if !self.marks_or_drops(packet.size, queue, rng) {
            return Verdict::Pass;
        }
        if self.params.form == Form::Linux {
            return self.signal_in_linux(packet);
        }
        self.sum = 0.0;
        if let (Form::Docsis, Burst::Under { .. }) = (self.params.form, self.burst) {
            self.protect();
        }
        Verdict::signal(self.params.ecn && packet.ect && self.p < self.params.mark_ecnth)
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        sojourn: Span,
        _: &mut R,
    ) -> Verdict {
        self.sojourn = if queue.packets == 0 { Span::ZERO } else { sojourn };
        if self.params.form == Form::Linux {
            self.age_in_linux(now);
        }
        if self.active {
            self.departures.left(now, packet.size, queue.bytes);
        }
        Verdict::Pass
    }

    fn on_overflow(&mut self, _: Time) {
        self.sum = 0.0;
    }

    #[inline]
    fn on_idle(&mut self, _: Time) {
        self.sojourn = Span::ZERO;
    }

    fn period(&self) -> Option<Span> {
        Some(self.params.t_update)
    }

    fn on_period(&mut self, _: Time, queue: &Backlog) {
        if self.active {
            self.update(self.measured(queue.bytes), queue.bytes);
        }
    }

    fn rests(&self, queue: &Backlog) -> bool {
        // Every field is named, so that a new one cannot be forgotten here.
        let state = |of: &Self| {
            let &Self {
                params: _,
                rate: _,
                mean: _,
                limit: _,
                max: _,
                p,
                sum,
                allowance,
                left,
                departures: Departures { threshold: _, weight: _, measuring, time },
                sojourn,
                delay,
                active,
                burst,
            } = of;
            let times = (allowance, left, measuring, sojourn, delay);
            ([p, sum, time].map(f64::to_bits), times, active, burst)
        };
        !self.active || {
            let mut next = self.clone();
            next.on_period(Time::ZERO, queue);
            state(&next) == state(self)
        }
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        let Self { p, sum, allowance, left, departures, sojourn, delay, active, burst, .. } = before;
        (self.p, self.sum, self.burst) = (p.min(self.max), sum, burst);
        self.allowance = allowance.min(self.params.max_burst);
        (self.left, self.sojourn, self.delay) = (left, sojourn, delay);
        self.departures.resume(&departures);
        self.active = active || !self.params.on_off;
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        visit("prob", Reading::Level(self.p.min(1.0)));
        visit("delay", Reading::Level((self.delay.nanos() / 1000) as f64));
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p.min(1.0));
        visit(1, self.delay.secs());
    }
}

#[cfg(test)]
mod tests;
