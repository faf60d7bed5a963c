//! TBF: a shaper, a token bucket in front of the link, around any discipline.
//!
//! Tokens come at `rate` into a bucket that holds `burst` bytes, and a packet leaves when the bucket has those for
//! its length:
//!
//! ```text
//! tokens <- min(tokens + time * rate, burst)        sent if tokens >= length, and then tokens <- tokens - length
//! ```
//!
//! With `peak_rate`, a second bucket of `mtu` bytes has to have them too, so that a burst leaves at no more than that
//! rate. No packet is dropped for lack of tokens: all wait in the discipline inside (`aqm`), which has a `limit` of its
//! own. A packet larger than a bucket is dropped on arrival, as it could never leave.
//!
//! Which packet leaves next has to be known before the tokens for it are there. Where that is the head of a queue, it
//! is looked at. A discipline that may still drop it, as CoDel does, or that serves several queues is asked for it,
//! decides then, and the packet waits apart, counted as if it were still inside.
//!
//! Decides at: departure, when; on arrival, only a packet that is too large. The discipline inside decides on the
//! others. Timer: that of the discipline inside. Randomness: that of the discipline inside. State: two buckets, the
//! packet taken out.
//!
//! # Departures from the source
//! The packet that is sent next is asked for when the link behind is free, which in Linux is at once if the device
//! takes packets without an end. The link's own rate is a limit too. What tc calls `limit` is one of bytes here or of
//! packets, and `latency` is not a parameter. `mtu`, tc's MTU of the peak rate, has a full packet as its default. In
//! Linux other parameters fill the buckets, and a packet that waits and is larger than its new bucket stops the
//! shaper; here they keep their tokens, and it leaves with a full bucket. Automatic values are those of the link's
//! first rate.
//!
//! # Sources
//! Linux 7.2, sch_tbf.c (`tbf_dequeue`, `tbf_change`) and sch_generic.h (`psched_l2t_ns`, `qdisc_peek_dequeued`);
//! iproute2, q_tbf.c. Tested packet by packet against a plain re-implementation, and in open loop against the kernel.

use crate::any::Inner;
use crate::bucket::Bucket;
use crate::composite::{Composite, P, Part, Parts, Scheduler, Served, Takes};
use crate::contract::{Packet, Port, Signal, Verdict};
use crate::discipline::Lane;
use crate::framing::{Framing, WireLength};
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Limit, Rate, Time};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;

crate::params! {
    /// The parameters of the shaper.
    pub struct Params {
        /// Rate of the tokens; auto is the link's.
        rate: Option<Rate> = None, "bit/s", Range::new(64.0, 1e13);
        /// Size of the bucket: the bytes that may leave at once after a rest. Auto is those of `rate` in 2 ms, at least two
        /// full packets.
        burst: Option<Bytes> = None, "bytes", Range::new(1.0, 4e9), ["buffer", "maxburst"];
        /// Rate at which a burst leaves; if omitted, as fast as the link takes it.
        peak_rate: Option<Rate> = None, "bit/s", Range::new(64.0, 1e13), ["peakrate"];
        /// Size of the bucket of `peak_rate`; auto is a full packet as `framing` counts it.
        mtu: Option<Bytes> = None, "bytes", Range::new(1.0, 4e9), ["minburst"];
        /// Length of a packet in the buckets, in tc's words, as `framing` of a link; if omitted, as the queue sees it.
        framing: Option<Framing> = None, "";
        /// The discipline inside, of any kind.
        aqm: Inner = Inner::of("droptail"), "";
        /// Its limit; auto is the link's buffer, which is a limit as well.
        limit: Option<Limit> = None, "packets", Range::new(1.0, 4e9);
    }
}

impl Params {
    fn rate(&self, port: &Port) -> Rate {
        self.rate.unwrap_or(port.rate)
    }

    fn burst(&self, port: &Port) -> Bytes {
        let usual = self.rate(port).whole_bits() / 8 / 500;
        self.burst.unwrap_or(Bytes(usual.max(2 * self.length(port).full_packet(port).0)))
    }

    fn peak(&self, port: &Port) -> Option<(Rate, Bytes)> {
        self.peak_rate.map(|rate| (rate, self.mtu.unwrap_or(self.length(port).full_packet(port))))
    }

    fn length(&self, port: &Port) -> WireLength {
        self.framing.clone().unwrap_or_default().wire(port.header.0 as u32)
    }
}

/// The buckets; see the module.
#[derive(Clone, Debug)]
pub struct Shaper {
    bucket: Bucket,
    length: WireLength,
    /// The largest packet that fits into the buckets.
    largest: u32,
    now: Time,
}

impl Shaper {
    /// What a packet takes from the buckets: one that waited when they became smaller takes all.
    fn charged(&self, size: u32) -> u32 {
        self.length.length(size).min(self.largest)
    }
}

/// The algorithm; see the module.
pub type Tbf = Composite<Shaper>;

impl Scheduler for Shaper {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[P, Signal { name: "tokens", unit: "bytes", doc: "Bytes that might leave at once." }];

    fn check(params: &Params) -> Result<(), ParamError> {
        match (params.rate, params.peak_rate) {
            (Some(rate), Some(peak)) if peak <= rate => {
                Err(ParamError::invalid("peak_rate", peak, format!("above rate = {rate}")))
            }
            (_, None) if params.mtu.is_some() => {
                let mtu = params.mtu.unwrap_or_default();
                Err(ParamError::invalid(
                    "mtu",
                    mtu,
                    "omitted: it is the bucket of peak_rate, which is not given",
                ))
            }
            _ => Ok(()),
        }
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        if let Some((peak, _)) = params.peak(port).filter(|(peak, _)| *peak <= params.rate(port)) {
            let allowed = format!("above the rate, which is the link's {}", params.rate(port));
            return Err(ParamError::invalid("peak_rate", peak, allowed));
        }
        let length = Bytes(u64::from(params.length(port).length(port.packet.0 as u32)));
        let depths = [("burst", params.burst), ("mtu", params.mtu.filter(|_| params.peak_rate.is_some()))];
        for (name, depth) in depths {
            if let Some(depth) = depth.filter(|depth| *depth < length.max(port.packet)) {
                let allowed =
                    format!("at least a packet here, {}: a larger one never leaves", length.max(port.packet));
                return Err(ParamError::invalid(name, depth, allowed));
            }
        }
        Ok(())
    }

    fn parts<'a>(params: &'a Params, port: &Port) -> Vec<Part<'a>> {
        vec![Part {
            name: "aqm".to_owned(),
            aqm: &params.aqm.0,
            limit: params.limit,
            most: Some(params.rate(port)),
            takes: Takes::default(),
        }]
    }

    fn new(params: &Params, port: &Port) -> Self {
        let (burst, peak) = (params.burst(port), params.peak(port));
        Self {
            bucket: Bucket::new(params.rate(port), burst, peak),
            length: params.length(port),
            largest: peak.map_or(burst, |(_, depth)| depth.min(burst)).0 as u32,
            now: Time::ZERO,
        }
    }

    fn admit(&mut self, _: Time, packet: &Packet) -> Verdict {
        let length = self.length.length(packet.size).max(packet.size);
        if length > self.largest { Verdict::Drop } else { Verdict::Pass }
    }

    fn choose(&mut self, now: Time, parts: &mut Parts, lanes: &[Lane]) -> Option<Served> {
        self.now = now;
        let Some(size) = parts.get(0).peek(lanes) else {
            return parts.can_serve(0, now, lanes).then(|| parts.take_out(0, now, lanes));
        };
        let wait = self.bucket.wait(now, self.charged(size));
        if wait.nanos() > 0 {
            parts.wait(now + wait);
            return None;
        }
        parts.can_serve(0, now, lanes).then(|| parts.serve(0, now, lanes))
    }

    fn on_sent(&mut self, now: Time, _: usize, size: u32, _: &Parts) {
        self.bucket.take(now, self.charged(size));
    }

    fn resume(&mut self, _: Time, before: Self) {
        self.bucket.resume(&before.bucket);
        self.now = before.now;
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(1, self.bucket.bytes(self.now));
    }
}
