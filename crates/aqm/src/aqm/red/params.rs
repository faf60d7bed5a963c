//! RED's parameters, also in the units of other tools, and what they come to on a port.

use crate::aqm::Port;
use crate::aqm::red::Spacing;
use crate::params::{Field, ParamError, Range};
use crate::unit::{Bytes, Frequency, Span};

crate::choice! {
    /// Whose rules work out the thresholds and the weight that are left out.
    pub enum Rules {
        /// Thresholds from `target_delay`, the weight from the link's rate and delay (Adaptive RED's paper).
        Ns2 = "ns2",
        /// Thresholds from the buffer, the weight from the thresholds (Linux's tc).
        Linux = "linux",
    }
}

crate::params! {
    /// RED's parameters.
    pub struct Params {
        /// Average queue at which drops begin, in packets also in byte mode. If left out, a third of `max_th` if
        /// that is given; else by `rules`.
        min_th: Option<f64> = None, "packets", Range::above(0.0, 1e9), ["minth", "thresh_", "MinTh"];
        /// Average queue at which p_b is `max_p`, in packets also in byte mode; at `min_th`, drops begin with a step.
        /// If left out, 3 `min_th` if that is given; else by `rules`.
        max_th: Option<f64> = None, "packets", Range::above(0.0, 1e9), ["maxth", "maxthresh_", "MaxTh"];
        /// `min_th` in bytes, instead of it (Linux; ns-3 in byte mode).
        min_bytes: Option<Bytes> = None, "bytes", Range::new(1.0, 1e12), ["min", "qth_min"];
        /// `max_th` in bytes, instead of it (Linux; ns-3 in byte mode).
        max_bytes: Option<Bytes> = None, "bytes", Range::new(1.0, 1e12), ["max", "qth_max"];
        /// p_b at `max_th`, or where it starts if it moves; 0.1 if left out, and `linterm` and `plog` as well.
        max_p: Option<f64> = None, "", Range::above(0.0, 1.0), ["maxp", "probability"];
        /// The inverse of `max_p`, instead of it (ns-2, ns-3; Cisco's mark probability denominator).
        linterm: Option<f64> = None, "", Range::new(1.0, 1e9), ["linterm_", "LInterm"];
        /// `max_p` as Linux took it before 3.3, instead of it: (`max_th` - `min_th`) / 2^`plog`, in bytes. What tc
        /// makes of a probability P is more than P / 2 and less than P.
        plog: Option<u32> = None, "", Range::new(0.0, 31.0), ["Plog"];
        /// Weight of the present queue in the average; by `rules` if left out, and `burst` as well.
        w_q: Option<f64> = None, "", Range::above(0.0, 1.0), ["wq", "q_weight_", "QW"];
        /// How long a burst may be that an empty queue takes without drops, instead of `w_q`: Linux's tc chooses the
        /// largest 2^-k that allows for it.
        burst: Option<u32> = None, "packets", Range::new(1.0, 1e9);
        /// Whose rules work out what is left out. `ns2`: `min_th` is half of what `target_delay` holds but at
        /// least 5; `max_th` is 3 `min_th`; `w_q` is 1 - exp(-1 / (10 rtt C)), with C in packets a second and
        /// rtt = 3 (delay + 1/C), at least 100 ms. `linux`: `max_th` is a quarter of the buffer, `min_th` a third of
        /// that, `burst` (2 `min_th` + `max_th`) / 3.
        rules: Rules = Rules::Ns2, "";
        /// From `max_th` to twice that, let p_b rise from `max_p` to 1 instead of jumping.
        gentle: bool = true, "", Range::ANY, ["gentle_", "Gentle"];
        /// How drops are spaced: `1993`, the gaps uniform on [1, 1/p_b]; `wait`, on [1/p_b, 2/p_b]; `none`,
        /// independent drops.
        spacing: Spacing = Spacing::Uniform, "";
        /// Measure the queue in bytes over `mean_packet`.
        bytes: bool = false, "", Range::ANY, ["queue_in_bytes_"];
        /// Count bytes over `mean_packet`, and scale p by a packet's size over `mean_packet`; as `bytes` if left out.
        by_size: Option<bool> = None, "", Range::ANY, ["bytes_"];
        /// The packet size behind thresholds, idle time and automatic values; the port's packet if left out.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0),
            ["mean_pktsize_", "MeanPktSize", "avpkt"];
        /// How many packets a second the link is taken to send, behind idle time and automatic values; the real
        /// number if left out.
        pkrate: Option<Frequency> = None, "Hz", Range::new(1e-3, 1e12);
        /// Mark packets of ECN-capable transports instead of dropping them, while p_b is less than `mark_p`.
        ecn: bool = false, "", Range::ANY, ["setbit_", "UseEcn", "useEcn"];
        /// The p_b from which on packets are dropped in spite of `ecn`; at 1, all those are marked that p_b does
        /// not condemn for certain.
        mark_p: f64 = 1.0, "", Range::new(0.0, 1.0), ["mark_p_"];
        /// Whether `mark_p` holds. If not, `ecn` marks whatever p_b, so that not `gentle` and with `w_q` = 1 the
        /// step at `max_th` is that of DCTCP.
        hard_drop: bool = true, "", Range::ANY, ["UseHardDrop", "harddrop"];
        /// Queueing delay from which an automatic `min_th` follows.
        target_delay: Span = Span::ms(5), "s", Range::above(0.0, 100.0), ["targetdelay_", "TargetDelay"];
    }
}

/// Refuses `value` if what it says is said by `other`, `given`, as well.
fn alone<T: Field>(name: &str, value: Option<&T>, other: &str, given: bool) -> Result<(), ParamError> {
    match value {
        Some(value) if given => Err(ParamError::Invalid {
            name: name.to_owned(),
            found: value.value().to_string(),
            allowed: format!("left out where {other} is given"),
        }),
        _ => Ok(()),
    }
}

impl Params {
    /// `max_p`, unless it depends on the thresholds.
    pub(in crate::aqm) fn max_p(&self) -> Option<f64> {
        self.max_p.or(self.linterm.map(|inverse| 1.0 / inverse))
    }

    /// Whether they fit together.
    pub(super) fn check(&self) -> Result<(), ParamError> {
        alone("min_bytes", self.min_bytes.as_ref(), "min_th", self.min_th.is_some())?;
        alone("max_bytes", self.max_bytes.as_ref(), "max_th", self.max_th.is_some())?;
        alone("linterm", self.linterm.as_ref(), "max_p", self.max_p.is_some())?;
        alone("plog", self.plog.as_ref(), "max_p or linterm", self.max_p().is_some())?;
        alone("burst", self.burst.as_ref(), "w_q", self.w_q.is_some())?;
        let refused = |name: &str, found: String, allowed: String| {
            Err(ParamError::Invalid { name: name.to_owned(), found, allowed })
        };
        match (self.min_th, self.max_th) {
            (Some(min), Some(max)) if min > max => {
                return refused("min_th", min.to_string(), format!("at most max_th = {max}"));
            }
            _ => {}
        }
        match (self.min_bytes, self.max_bytes) {
            (Some(min), Some(max)) if min.0 > max.0 => {
                return refused(
                    "min_bytes",
                    min.value().to_string(),
                    format!("at most max_bytes = {}", max.value()),
                );
            }
            _ => {}
        }
        match (self.burst, self.min_th) {
            (Some(burst), Some(min_th)) if weight_for_burst(min_th, burst).is_none() => {
                let allowed =
                    format!("at least min_th = {min_th}, and that more than 1, for tc to find a weight");
                refused("burst", burst.to_string(), allowed)
            }
            _ => Ok(()),
        }
    }
}

/// What the parameters come to.
pub(super) struct Effective {
    /// In packets.
    pub(super) min_th: f64,
    /// In packets.
    pub(super) max_th: f64,
    pub(super) max_p: f64,
    pub(super) w_q: f64,
    /// The mean packet.
    pub(super) mean: Bytes,
    /// Packets a second.
    pub(super) c: f64,
}

impl Effective {
    /// What `params` come to on `port`.
    pub(super) fn new(params: &Params, port: &Port) -> Self {
        let mean = params.mean_packet.unwrap_or(port.packet);
        let c = params.pkrate.map_or_else(|| port.rate.packets(mean), |rate| rate.0);
        let (min_th, max_th) = thresholds(params, port, mean, c);
        let max_p = params.max_p().or_else(|| {
            params.plog.map(|plog| ((max_th - min_th) * mean.0 as f64 * power_of_half(plog)).clamp(0.0, 1.0))
        });
        let burst = params.burst.or_else(|| match params.rules {
            Rules::Ns2 => None,
            Rules::Linux => Some(((2.0 * min_th + max_th) / 3.0) as u32),
        });
        let w_q = params.w_q.unwrap_or_else(|| match burst {
            // Where tc finds nothing, the average follows as fast as tc ever lets it.
            Some(burst) => weight_for_burst(min_th, burst).unwrap_or(0.5),
            None => weight(c, port.delay),
        });
        Self { min_th, max_th, max_p: max_p.unwrap_or(0.1), w_q, mean, c }
    }
}

/// The thresholds in packets, for a link of `c` packets a second.
fn thresholds(params: &Params, port: &Port, mean: Bytes, c: f64) -> (f64, f64) {
    let packets = |bytes: u64| bytes as f64 / mean.0 as f64;
    let min_th = params.min_th.or(params.min_bytes.map(|min| packets(min.0)));
    let max_th = params.max_th.or(params.max_bytes.map(|max| packets(max.0)));
    match (min_th, max_th, params.rules) {
        (Some(min_th), Some(max_th), _) => (min_th, max_th),
        (Some(min_th), None, _) => (min_th, 3.0 * min_th),
        (None, Some(max_th), _) => (max_th / 3.0, max_th),
        (None, None, Rules::Ns2) => {
            let min_th = (0.5 * params.target_delay.secs() * c).max(5.0);
            (min_th, 3.0 * min_th)
        }
        (None, None, Rules::Linux) => {
            // Whole bytes, as tc has them.
            let max = ((port.limit.packets(mean) * mean.0 as f64) as u64 / 4).max(1);
            (packets(max / 3), packets(max))
        }
    }
}

/// ns-2's weight for a link of `c` packets a second: the average follows in about ten round trips.
fn weight(c: f64, delay: Span) -> f64 {
    let rtt = (3.0 * (delay.secs() + 1.0 / c)).max(0.1);
    -libm::expm1(-1.0 / (10.0 * rtt * c))
}

/// The weight that tc_red.c finds for a burst: with it, the average of a queue that grows by `burst` packets from
/// empty stays below `min_th`, up to the packet in transmission.
fn weight_for_burst(min_th: f64, burst: u32) -> Option<f64> {
    let burst = f64::from(burst);
    let excess = burst + 1.0 - min_th;
    (1..32)
        .map(power_of_half)
        .find(|w| excess <= (1.0 - libm::pow(1.0 - w, burst)) / w)
        .filter(|_| excess >= 1.0)
}

/// 2^-`k`, for `k` up to 31.
fn power_of_half(k: u32) -> f64 {
    1.0 / f64::from(1_u32 << k)
}
