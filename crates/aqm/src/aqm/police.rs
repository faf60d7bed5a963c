//! Police: a policer, which lets a rate through and drops or marks the rest, around any discipline.
//!
//! Nothing waits for it: each packet is judged on arrival, and those that pass come to the discipline inside (`aqm`).
//! By `form`, with T_c for the tokens of `rate`, at most `burst` bytes, and B for the length of the packet:
//!
//! ```text
//! linux      green if T_c >= B and, with peak_rate, T_p >= B; else red. Green takes B from each bucket
//! rfc2697    green if T_c >= B, else yellow if T_e >= B, else red. T_e, at most excess_burst, gets the excess of T_c
//! rfc2698    red if T_p < B, else yellow if T_c < B, else green. Yellow takes B from T_p, green from both
//! ```
//!
//! A packet that is `yellow` or `red` passes, is marked with CE if it is of an ECN-capable transport and dropped
//! otherwise, or is dropped.
//!
//! Decides at: arrival; departure as the discipline inside. Timer: that of the discipline inside. Randomness: that of
//! the discipline inside. State: two buckets.
//!
//! # Departures from the source
//! A DSCP belongs to an entry of traffic, so that colours are not written into packets; nor are they read: the meters
//! are colour-blind. In Linux a policer is an action of a filter, and one without `conform-exceed` reclassifies red
//! packets; here they are dropped. Linux's limits of what `avrate` estimates and of packets a second are missing. Automatic
//! values are those of the link's first rate.
//!
//! # Sources
//! RFC 2697; RFC 2698; Linux 7.2, act_police.c (`tcf_police_act`). Tested packet by packet against a plain
//! re-implementation, and the form `linux` in open loop against the kernel.

use crate::any::Inner;
use crate::bucket::{Bucket, Side};
use crate::composite::{Composite, Inside, P, Part, Parts, Scheduler, Served, Takes};
use crate::contract::{Packet, Port, Reading, Signal, Verdict};
use crate::discipline::Lane;
use crate::framing::{Framing, WireLength};
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Limit, Rate, Time};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;

crate::params! {
    /// The parameters of the policer.
    pub struct Params {
        /// The source whose colours apply.
        form: Form = Form::Linux, "";
        /// Rate of the tokens (CIR); auto is the link's.
        rate: Option<Rate> = None, "bit/s", Range::new(64.0, 1e13), ["cir"];
        /// Size of the bucket (CBS); auto is what `rate` sends in 100 ms, at least two full packets.
        burst: Option<Bytes> = None, "bytes", Range::new(1.0, 4e9), ["buffer", "maxburst", "cbs"];
        /// Peak rate, of the second bucket, in `linux` and `rfc2698`; if omitted, the former has none, and the latter twice
        /// `rate`.
        peak_rate: Option<Rate> = None, "bit/s", Range::new(64.0, 1e13), ["peakrate", "pir"];
        /// Size of the second bucket (PBS; tc's MTU); auto is a full packet in `linux`, `burst` in `rfc2698`.
        peak_burst: Option<Bytes> = None, "bytes", Range::new(1.0, 4e9), ["mtu", "pbs"];
        /// Excess burst, the size of the second bucket of `rfc2697`; auto is `burst`.
        excess_burst: Option<Bytes> = None, "bytes", Range::new(0.0, 4e9), ["ebs"];
        /// What becomes of yellow packets, of which the form `linux` has none.
        yellow: Action = Action::Mark, "";
        /// What becomes of red packets.
        red: Action = Action::Drop, "";
        /// Length of a packet in the buckets, in tc's words, as `framing` of a link; if omitted, as the queue sees it.
        framing: Option<Framing> = None, "";
        /// The discipline inside, of any kind.
        aqm: Inner = Inner::of("droptail"), "";
        /// Its limit; auto is the link's buffer, which is a limit as well.
        limit: Option<Limit> = None, "packets", Range::new(1.0, 4e9);
    }
}

crate::choice! {
    /// The source whose colours apply.
    pub enum Form {
        /// act_police.c of Linux.
        Linux = "linux",
        /// One rate, three colours: RFC 2697.
        OneRate = "rfc2697",
        /// Two rates, three colours: RFC 2698.
        TwoRates = "rfc2698",
    }
}

crate::choice! {
    /// What becomes of a packet.
    pub enum Action {
        /// It passes.
        Pass = "pass",
        /// It is marked if its transport is ECN-capable, and dropped otherwise.
        Mark = "mark",
        /// It is dropped.
        Drop = "drop",
    }
}

impl Params {
    fn rate(&self, port: &Port) -> Rate {
        self.rate.unwrap_or(port.rate)
    }

    fn burst(&self, port: &Port) -> Bytes {
        let usual = self.rate(port).whole_bits() / 8 / 10;
        self.burst.unwrap_or(Bytes(usual.max(2 * self.length(port).full_packet(port).0)))
    }

    fn length(&self, port: &Port) -> WireLength {
        self.framing.clone().unwrap_or_default().wire(port.header.0 as u32)
    }
}

/// How the colour is found.
#[derive(Clone, Copy, Debug)]
enum Meter {
    Linux { bucket: Bucket, largest: u64 },
    OneRate { committed: Side, excess: Side, checked: Time },
    TwoRates { committed: Side, peak: Side, checked: Time },
}

/// A colour, as the place of its counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Colour {
    Green,
    Yellow,
    Red,
}

impl Meter {
    fn new(params: &Params, port: &Port) -> Self {
        let (rate, burst) = (params.rate(port), params.burst(port));
        let committed = Side::new(rate, burst);
        match params.form {
            Form::Linux => {
                let full = params.length(port).full_packet(port);
                let peak = params.peak_rate.map(|rate| (rate, params.peak_burst.unwrap_or(full)));
                let largest = burst.0.min(peak.map_or(u64::MAX, |(_, depth)| depth.0));
                Self::Linux { bucket: Bucket::new(rate, burst, peak), largest }
            }
            Form::OneRate => {
                let excess = Side::new(rate, params.excess_burst.unwrap_or(burst));
                Self::OneRate { committed, excess, checked: Time::ZERO }
            }
            Form::TwoRates => {
                let twice = Rate::bit_per_s(rate.whole_bits().saturating_mul(2));
                let peak = Side::new(params.peak_rate.unwrap_or(twice), params.peak_burst.unwrap_or(burst));
                Self::TwoRates { committed, peak, checked: Time::ZERO }
            }
        }
    }

    fn colour(&mut self, now: Time, length: u32) -> Colour {
        match self {
            Self::Linux { bucket, largest } => {
                if u64::from(length) > *largest || bucket.wait(now, length).nanos() > 0 {
                    return Colour::Red;
                }
                bucket.take(now, length);
                Colour::Green
            }
            Self::OneRate { committed, excess, checked } => {
                let gap = now.since(*checked);
                *checked = now;
                let rest = committed.fill(gap);
                excess.fill(rest);
                if committed.take(length) {
                    Colour::Green
                } else if excess.take(length) {
                    Colour::Yellow
                } else {
                    Colour::Red
                }
            }
            Self::TwoRates { committed, peak, checked } => {
                let gap = now.since(*checked);
                *checked = now;
                committed.fill(gap);
                peak.fill(gap);
                if !peak.take(length) {
                    Colour::Red
                } else if committed.take(length) {
                    Colour::Green
                } else {
                    Colour::Yellow
                }
            }
        }
    }

    /// Takes over what the buckets of another one hold, if it is of the same form.
    fn resume(&mut self, before: Self) {
        match (self, before) {
            (Self::Linux { bucket, .. }, Self::Linux { bucket: before, .. }) => bucket.resume(&before),
            (
                Self::OneRate { committed: a, excess: b, checked },
                Self::OneRate { committed, excess, checked: at },
            )
            | (
                Self::TwoRates { committed: a, peak: b, checked },
                Self::TwoRates { committed, peak: excess, checked: at },
            ) => {
                a.resume(&committed);
                b.resume(&excess);
                *checked = at;
            }
            _ => {}
        }
    }
}

/// The meter; see the module.
#[derive(Clone, Debug)]
pub struct Policer {
    meter: Meter,
    length: WireLength,
    yellow: Action,
    red: Action,
    counts: [u64; 3],
}

/// The algorithm; see the module.
pub type Police = Composite<Policer>;

impl Scheduler for Policer {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[P];

    fn check(params: &Params) -> Result<(), ParamError> {
        let misplaced =
            |name, of| Err(ParamError::invalid(name, "given", format!("omitted: it is of form = {of}")));
        match params.form {
            Form::OneRate if params.peak_rate.is_some() => misplaced("peak_rate", "\"linux\" or \"rfc2698\""),
            Form::OneRate if params.peak_burst.is_some() => {
                misplaced("peak_burst", "\"linux\" or \"rfc2698\"")
            }
            Form::Linux | Form::TwoRates if params.excess_burst.is_some() => {
                misplaced("excess_burst", "\"rfc2697\"")
            }
            Form::Linux if params.peak_burst.is_some() && params.peak_rate.is_none() => {
                let allowed = "omitted: it is the bucket of peak_rate, which is not given";
                Err(ParamError::invalid("peak_burst", params.peak_burst.unwrap_or_default(), allowed))
            }
            _ => match (params.rate, params.peak_rate) {
                (Some(rate), Some(peak)) if peak < rate => {
                    Err(ParamError::invalid("peak_rate", peak, format!("at least rate = {rate}")))
                }
                _ => Ok(()),
            },
        }
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        if let Some(peak) = params.peak_rate.filter(|peak| *peak < params.rate(port)) {
            let allowed = format!("at least the rate, which is the link's {}", params.rate(port));
            return Err(ParamError::invalid("peak_rate", peak, allowed));
        }
        let length = Bytes(u64::from(params.length(port).length(port.packet.0 as u32)));
        for (name, depth) in [("burst", params.burst), ("peak_burst", params.peak_burst)] {
            if let Some(depth) = depth.filter(|depth| *depth < length) {
                let allowed = format!("at least a packet here, {length}: a larger one never passes");
                return Err(ParamError::invalid(name, depth, allowed));
            }
        }
        Ok(())
    }

    fn parts<'a>(params: &'a Params, _: &Port) -> Vec<Part<'a>> {
        let name = "aqm".to_owned();
        vec![Part { name, aqm: &params.aqm.0, limit: params.limit, most: None, takes: Takes::default() }]
    }

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            meter: Meter::new(params, port),
            length: params.length(port),
            yellow: params.yellow,
            red: params.red,
            counts: [0; 3],
        }
    }

    fn admit(&mut self, now: Time, packet: &Packet) -> Verdict {
        let colour = self.meter.colour(now, self.length.length(packet.size));
        self.counts[colour as usize] += 1;
        let action = match colour {
            Colour::Green => Action::Pass,
            Colour::Yellow => self.yellow,
            Colour::Red => self.red,
        };
        match action {
            Action::Pass => Verdict::Pass,
            Action::Mark => Verdict::signal(packet.ect),
            Action::Drop => Verdict::Drop,
        }
    }

    fn choose(&mut self, now: Time, parts: &mut Parts, lanes: &[Lane]) -> Option<Served> {
        parts.can_serve(0, now, lanes).then(|| parts.serve(0, now, lanes))
    }

    fn is_peekable(&self, parts: &Parts) -> bool {
        parts.iter().all(Inside::is_peekable)
    }

    fn peek(&self, parts: &Parts, lanes: &[Lane]) -> Option<u32> {
        parts.get(0).peek(lanes)
    }

    fn resume(&mut self, _: Time, before: Self) {
        self.meter.resume(before.meter);
        self.counts = before.counts;
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        let names = ["green", "yellow", "red"];
        names.iter().zip(self.counts).for_each(|(name, count)| visit(name, Reading::Count(count)));
    }
}
