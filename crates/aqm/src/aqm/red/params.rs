//! RED's parameters, also in the units of other tools, and their effective values on a port.

use super::spacing::Spacing;
use super::tc;
use crate::contract::Port;
use crate::params::{Field, ParamError, Range};
use crate::unit::{Bytes, Frequency, Rate, Span};

crate::choice! {
    /// Whose rules set the thresholds and the weight if they are omitted.
    pub enum Rules {
        /// Thresholds from `target_delay`, the weight from the link's rate and delay (ns-2).
        Ns2 = "ns2",
        /// The same thresholds, the weight from the link's rate (Adaptive RED's paper).
        Ared = "ared2001",
        /// Thresholds from the buffer, the weight from the thresholds (Linux's tc).
        Linux = "linux",
    }
}

crate::choice! {
    /// Whose arithmetic is used.
    pub enum Form {
        /// ns-2's, in floating-point numbers.
        Ns2 = "ns2",
        /// Linux's, in fixed-point numbers.
        Linux = "linux",
    }
}

crate::params! {
    /// RED's parameters.
    pub struct Params {
        /// Average queue at which drops begin, in packets also in byte mode. If omitted, a third of `max_th` if that
        /// is set; otherwise by `rules`.
        min_th: Option<f64> = None, "packets", Range::above(0.0, 1e9), ["minth", "thresh_", "MinTh"];
        /// Average queue at which p_b is `max_p`, in packets also in byte mode. If it equals `min_th`, drops begin
        /// with a step. If omitted, 3 `min_th` if that is set; otherwise by `rules`.
        max_th: Option<f64> = None, "packets", Range::above(0.0, 1e9), ["maxth", "maxthresh_", "MaxTh"];
        /// `min_th` in bytes, in place of `min_th` (Linux; ns-3 in byte mode).
        min_bytes: Option<Bytes> = None, "bytes", Range::new(1.0, 1e12), ["min", "qth_min"];
        /// `max_th` in bytes, in place of `max_th` (Linux; ns-3 in byte mode).
        max_bytes: Option<Bytes> = None, "bytes", Range::new(1.0, 1e12), ["max", "qth_max"];
        /// p_b at `max_th`; its initial value if it moves. If omitted together with `linterm` and `plog`, 0.1.
        max_p: Option<f64> = None, "", Range::above(0.0, 1.0), ["maxp", "probability"];
        /// The inverse of `max_p`, in place of `max_p` (ns-2, ns-3; Cisco's mark probability denominator).
        linterm: Option<f64> = None, "", Range::new(1.0, 1e9), ["linterm_", "LInterm"];
        /// `max_p` in the form of Linux before 3.3, in place of `max_p`: (`max_th` - `min_th`) / 2^`plog`, in bytes.
        /// For a probability P, tc chose a value between P / 2 and P.
        plog: Option<u32> = None, "", Range::new(0.0, 31.0), ["Plog"];
        /// Weight of the present queue in the average. If omitted together with `burst`, by `rules`.
        w_q: Option<f64> = None, "", Range::above(0.0, 1.0), ["wq", "q_weight_", "QW"];
        /// Length of the burst that an empty queue accepts without drops, in place of `w_q`: Linux's tc chooses the
        /// largest 2^-k that allows it.
        burst: Option<u32> = None, "packets", Range::new(1.0, 1e9);
        /// The rules for omitted values. `ns2`: `min_th` is half of the packets that the link sends in `target_delay`, but
        /// at least 5; `max_th` is 3 `min_th`; `w_q` is 1 - exp(-1 / (10 rtt C)), with C in packets/s and
        /// rtt = 3 (delay + 1/C), at least 100 ms. `ared2001`: the same thresholds, and `w_q` is 1 - exp(-1/C), so that
        /// the average follows in a second. `linux`: `max_th` is 3 `min_th` if that is given and the queue is in bytes,
        /// otherwise a quarter of the buffer; `min_th` is a third of `max_th`; `burst` is (2 `min_th` + `max_th`) / 3, all
        /// in whole numbers; what tc or the kernel refuses is refused.
        rules: Rules = Rules::Ns2, "";
        /// From `max_th` to 2 `max_th`, let p_b rise from `max_p` to 1 instead of jumping.
        gentle: bool = true, "", Range::ANY, ["gentle_", "Gentle"];
        /// How drops are spaced: `1993`, the gaps uniform on [1, 1/p_b]; `wait`, on [1/p_b, 2/p_b]; `none`,
        /// independent drops.
        spacing: Spacing = Spacing::Uniform, "";
        /// Measure the queue in bytes over `mean_packet`.
        bytes: bool = false, "", Range::ANY, ["queue_in_bytes_"];
        /// Count bytes over `mean_packet`, and scale p by a packet's size over `mean_packet`; if omitted, as `bytes`.
        by_size: Option<bool> = None, "", Range::ANY, ["bytes_"];
        /// The packet size for thresholds, idle time and automatic values; if omitted, the port's packet.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0),
            ["mean_pktsize_", "MeanPktSize", "avpkt"];
        /// The link's rate in packets per second, for idle time and automatic values; if omitted, the real one.
        pkrate: Option<Frequency> = None, "Hz", Range::new(1e-3, 1e12);
        /// The link's rate, in place of `pkrate` (Linux's tc, whose default is 10 Mbit/s).
        bandwidth: Option<Rate> = None, "bit/s", Range::new(1.0, 1e15);
        /// Age the average by idle time. Linux's RED detects idle time when a device asks it for a packet in vain,
        /// which never happens below a class of HTB: there the average does not age.
        ages: bool = true, "";
        /// Mark packets of ECN-capable transports instead of dropping them, while p_b is less than `mark_p`.
        ecn: bool = false, "", Range::ANY, ["setbit_", "UseEcn", "useEcn"];
        /// The p_b from which on packets are dropped in spite of `ecn`; at 1, only packets with p_b = 1 are.
        mark_p: f64 = 1.0, "", Range::new(0.0, 1.0), ["mark_p_"];
        /// Apply `mark_p`. Otherwise `ecn` marks at every p_b, so that, without `gentle` and with `w_q` = 1, the step
        /// at `max_th` is that of DCTCP.
        hard_drop: bool = true, "", Range::ANY, ["UseHardDrop", "harddrop"];
        /// With `ecn`, queue packets that cannot be marked instead of dropping them where others are marked (Linux).
        nodrop: bool = false, "";
        /// Never drop the first packet that finds the average above `min_th` (ns-2). Otherwise, and without `hard_drop`,
        /// it is spared only while p_b < 1 (ns-3, INET), as the step of DCTCP requires.
        spare_first: bool = true, "";
        /// The arithmetic: `ns2`, in floating-point numbers; `linux`, as in Linux's red.h: w_q is a power of two, one
        /// random number per gap spaces the drops, tc's table ages an idle average, and `gentle` and the keys of
        /// spacing and size have no effect.
        form: Form = Form::Ns2, "";
        /// Queueing delay from which an automatic `min_th` follows.
        target_delay: Span = Span::ms(5), "s", Range::above(0.0, 100.0), ["targetdelay_", "TargetDelay"];
    }
}

/// Refuses `value` if `other`, which states the same, is `given` as well.
fn alone<T: Field>(name: &str, value: Option<&T>, other: &str, given: bool) -> Result<(), ParamError> {
    match value {
        Some(value) if given => {
            Err(ParamError::invalid(name, value.value(), format!("left out where {other} is given")))
        }
        _ => Ok(()),
    }
}

impl Params {
    /// Whether p_b rises gently above `max_th`.
    #[must_use]
    pub fn is_gentle(&self) -> bool {
        self.gentle && self.form == Form::Ns2
    }

    /// `max_p`, unless it depends on the thresholds.
    pub(in crate::aqm) fn max_p(&self) -> Option<f64> {
        self.max_p.or(self.linterm.map(|inverse| 1.0 / inverse))
    }

    /// Checks that the parameters fit together.
    pub(super) fn check(&self) -> Result<(), ParamError> {
        alone("min_bytes", self.min_bytes.as_ref(), "min_th", self.min_th.is_some())?;
        alone("max_bytes", self.max_bytes.as_ref(), "max_th", self.max_th.is_some())?;
        alone("linterm", self.linterm.as_ref(), "max_p", self.max_p.is_some())?;
        alone("plog", self.plog.as_ref(), "max_p or linterm", self.max_p().is_some())?;
        alone("bandwidth", self.bandwidth.as_ref(), "pkrate", self.pkrate.is_some())?;
        alone("burst", self.burst.as_ref(), "w_q", self.w_q.is_some())?;
        match (self.min_th, self.max_th) {
            (Some(min), Some(max)) if min > max => {
                return Err(ParamError::invalid("min_th", min, format!("at most max_th = {max}")));
            }
            _ => {}
        }
        match (self.min_bytes, self.max_bytes) {
            (Some(min), Some(max)) if min.0 > max.0 => {
                let allowed = format!("at most max_bytes = {}", max.value());
                return Err(ParamError::invalid("min_bytes", min.value(), allowed));
            }
            _ => {}
        }
        match (self.burst, self.min_th) {
            (Some(burst), Some(min_th)) if weight_for_burst(min_th, burst).is_none() => {
                let allowed =
                    format!("at least min_th = {min_th}, and that more than 1, for tc to find a weight");
                Err(ParamError::invalid("burst", burst, allowed))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the thresholds are in order on a port, also if one is in packets and the other in bytes.
    pub(super) fn check_on(&self, port: &Port) -> Result<(), ParamError> {
        let Effective { min_th, max_th, mean, .. } = Effective::new(self, port);
        if min_th <= max_th {
            return Ok(());
        }
        let (name, given) = match self.min_bytes {
            Some(min) => ("min_bytes", format!("{} bytes", min.0)),
            None => ("min_th", format!("{min_th}")),
        };
        let allowed = format!("at most max_th, {max_th} packets of {} bytes", mean.0);
        Err(ParamError::invalid(name, given, allowed))
    }
}

/// The effective values of the parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effective {
    /// In packets.
    pub min_th: f64,
    /// In packets.
    pub max_th: f64,
    /// p_b at `max_th`.
    pub max_p: f64,
    /// The weight of the present queue in the average.
    pub w_q: f64,
    /// The mean packet.
    pub mean: Bytes,
    /// Packets per second.
    pub c: f64,
}

impl Effective {
    /// The effective values of `params` on `port`.
    #[must_use]
    pub fn new(params: &Params, port: &Port) -> Self {
        let mean = params.mean_packet.unwrap_or(port.packet);
        let rate = params.bandwidth.unwrap_or(port.rate);
        let c = params.pkrate.map_or_else(|| rate.packets(mean), |rate| rate.0);
        let (min_th, max_th) = thresholds(params, port, mean, c);
        let max_p = params.max_p().or_else(|| {
            params.plog.map(|plog| ((max_th - min_th) * mean.0 as f64 * power_of_half(plog)).clamp(0.0, 1.0))
        });
        let burst = params.burst.or_else(|| match params.rules {
            Rules::Ns2 | Rules::Ared => None,
            Rules::Linux => Some(tc::burst(params, mean, min_th, max_th)),
        });
        let w_q = params.w_q.unwrap_or_else(|| match burst {
            // If tc finds no weight, the largest one that tc uses.
            Some(burst) => weight_for_burst(min_th, burst).unwrap_or(0.5),
            None if params.rules == Rules::Ared => -libm::expm1(-1.0 / c),
            None => weight(c, port.delay),
        });
        Self { min_th, max_th, max_p: max_p.unwrap_or(0.1), w_q, mean, c }
    }
}

/// The thresholds in packets, for a link of `c` packets per second.
fn thresholds(params: &Params, port: &Port, mean: Bytes, c: f64) -> (f64, f64) {
    let packets = |bytes: u64| bytes as f64 / mean.0 as f64;
    let min_th = params.min_th.or(params.min_bytes.map(|min| packets(min.0)));
    let max_th = params.max_th.or(params.max_bytes.map(|max| packets(max.0)));
    if params.rules == Rules::Linux {
        return tc::thresholds(params, port, mean, (min_th, max_th));
    }
    match (min_th, max_th) {
        (Some(min_th), Some(max_th)) => (min_th, max_th),
        (Some(min_th), None) => (min_th, 3.0 * min_th),
        (None, Some(max_th)) => (max_th / 3.0, max_th),
        (None, None) => {
            let min_th = (0.5 * params.target_delay.secs() * c).max(5.0);
            (min_th, 3.0 * min_th)
        }
    }
}

/// ns-2's weight for a link of `c` packets per second: the average follows in about ten round-trip times.
fn weight(c: f64, delay: Span) -> f64 {
    let rtt = (3.0 * (delay.secs() + 1.0 / c)).max(0.1);
    -libm::expm1(-1.0 / (10.0 * rtt * c))
}

/// The weight that tc_red.c finds for a burst: with it, the average of a queue that grows by `burst` packets from
/// empty stays below `min_th`, not counting the packet in transmission.
pub(super) fn weight_for_burst(min_th: f64, burst: u32) -> Option<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{PORT, assert_close};
    use crate::params::{Params as _, Value};
    use crate::unit::{Limit, Rate};

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    /// The parameters after these settings, and their effective values on a link of 2500 packets/s of 500 bytes.
    fn after(settings: &[(&str, Value)]) -> (Params, Effective) {
        let mut params = Params::default();
        for (name, value) in settings {
            params.set(name, value).expect(name);
        }
        let effective = Effective::new(&params, &PORT);
        (params, effective)
    }

    /// The error that these settings cause.
    fn refusal(settings: &[(&str, Value)]) -> String {
        after(settings).0.check().unwrap_err().to_string()
    }

    #[test]
    fn automatic_values_are_those_of_ns2() {
        let auto = Effective::new(&Params::default(), &PORT);
        assert_close(auto.min_th, 6.25);
        let (_, paper) = after(&[("rules", text("ared2001"))]);
        assert_close(paper.min_th, 6.25);
        // In packets: 1 - exp(-1/2500).
        assert_close(paper.w_q, 0.000_399_920_010_665_6);
        assert_close(auto.max_th, 18.75);
        assert_close(auto.max_p, 0.1);
        assert_close(auto.w_q, 1.0 - (-4e-4_f64).exp());
        // A slow link with a long delay: rtt = 3 (0.1 s + 10 ms).
        let slow = Port { rate: Rate::bit_per_s(400_000), delay: Span::ms(100), ..PORT };
        let auto = Effective::new(&Params::default(), &slow);
        assert_close(auto.min_th, 5.0);
        assert_close(auto.w_q, 1.0 - (-1.0 / 330.0_f64).exp());
        let (_, given) = after(&[("max_th", Value::Float(30.0))]);
        assert_close(given.min_th, 10.0);
    }

    #[test]
    fn values_by_which_ns2_asks_for_automatic_ones_are_refused() {
        let mut params = Params::default();
        for name in ["thresh_", "maxthresh_"] {
            assert!(params.set(name, &Value::Integer(0)).is_err(), "{name}");
        }
        for weight in [0, -1, -2] {
            assert!(params.set("q_weight_", &Value::Integer(weight)).is_err(), "{weight}");
        }
        assert_eq!(params, Params::default());
    }

    #[test]
    fn linterm_is_the_inverse_of_max_p_and_printed_as_itself() {
        for name in ["linterm", "linterm_", "LInterm"] {
            let (params, effective) = after(&[(name, Value::Integer(50))]);
            assert_close(effective.max_p, 0.02);
            assert!(params.values().contains(&("linterm", Value::Float(50.0))));
        }
        // A probability in place of its inverse is refused.
        assert!(Params::default().set("linterm_", &Value::Float(0.1)).is_err());
        assert!(Params::default().set("max_p", &Value::Float(10.0)).is_err());
    }

    #[test]
    fn thresholds_in_bytes_are_quantities_that_mean_packets_divide() {
        let (_, effective) = after(&[("min", text("30 kB")), ("max", text("90 kB"))]);
        assert_close(effective.min_th, 60.0);
        assert_close(effective.max_th, 180.0);
        let (_, large) = after(&[("min", text("30 kB")), ("avpkt", text("1000 B"))]);
        assert_close(large.min_th, 30.0);
        assert_close(large.max_th, 90.0);
        // A bare number could mean either, and is refused.
        for name in ["min", "qth_min", "min_bytes", "max"] {
            assert!(Params::default().set(name, &Value::Integer(30_000)).is_err(), "{name}");
        }
    }

    #[test]
    fn a_burst_gives_the_weight_that_tc_finds() {
        // The longest bursts for a min_th of 32 packets, by weight, in the head of Linux's red.h.
        for (k, longest) in [(4, 46), (5, 57), (6, 75), (7, 101)] {
            for (burst, k) in [(longest, k), (longest + 1, k + 1)] {
                let (_, effective) =
                    after(&[("min_th", Value::Integer(32)), ("burst", Value::Integer(burst))]);
                assert_close(effective.w_q, 0.5_f64.powi(k));
            }
        }
    }

    #[test]
    fn a_burst_for_which_tc_finds_no_weight_is_refused() {
        let burst =
            |min_th, burst| refusal(&[("min_th", Value::Float(min_th)), ("burst", Value::Integer(burst))]);
        assert_eq!(
            burst(32.0, 31),
            "burst = 31: must be at least min_th = 32, and that more than 1, for tc to find a weight"
        );
        assert_eq!(
            burst(0.5, 40),
            "burst = 40: must be at least min_th = 0.5, and that more than 1, for tc to find a weight"
        );
        // The threshold follows from the port and cannot be checked before: the largest weight that tc uses.
        assert_close(after(&[("rules", text("linux")), ("burst", Value::Integer(9))]).1.w_q, 0.5);
    }

    #[test]
    fn tc_computes_omitted_values_from_the_buffer() {
        // 60 kB: max 15 kB, min 5 kB; burst 25/3 = 8, with which 4 <= 8 (1 - (7/8)^8) = 5.25, but not 4 (1 - (3/4)^8).
        let mut params =
            Params { rules: Rules::Linux, bytes: true, mean_packet: Some(Bytes(1000)), ..Params::default() };
        let effective = Effective::new(&params, &Port { limit: Limit::Bytes(60_000), ..PORT });
        assert_close(effective.max_th, 15.0);
        assert_close(effective.min_th, 5.0);
        assert_close(effective.w_q, 1.0 / 8.0);
        // With min 12 kB: max 36 kB, burst 20, a = 9 <= 16 (1 - (15/16)^20) = 11.6, but not 8 (1 - (7/8)^20) = 7.4.
        params.min_bytes = Some(Bytes(12_000));
        let effective = Effective::new(&params, &PORT);
        assert_close(effective.max_th, 36.0);
        assert_close(effective.w_q, 1.0 / 16.0);
        // A buffer too small for these rules.
        params.min_bytes = None;
        let effective = Effective::new(&params, &Port { limit: Limit::Bytes(1), ..PORT });
        assert_close(effective.max_th, 0.001);
        assert_close(effective.min_th, 0.0);
    }

    #[test]
    fn plog_is_a_power_of_two_in_bytes() {
        // The head of Linux's red.h: 128 KiB and 32 KiB with Plog 22 are about 0.02.
        let thresholds = [("min", text("32768 B")), ("max", text("131072 B"))];
        let (_, effective) = after(&[&thresholds[..], &[("Plog", Value::Integer(22))]].concat());
        assert_close(effective.max_p, 98_304.0 / 4_194_304.0);
        // For 0.02 tc chose 23: the requested and the effective value differ by a factor of 1.7.
        let (_, effective) = after(&[&thresholds[..], &[("plog", Value::Integer(23))]].concat());
        assert_close(effective.max_p, 0.011_718_75);
        assert_close(after(&[("plog", Value::Integer(0))]).1.max_p, 1.0);
    }

    #[test]
    fn the_packets_per_second_may_be_given() {
        assert_close(after(&[]).1.c, 2500.0);
        assert_close(after(&[("mean_packet", text("1000 B"))]).1.c, 1250.0);
        assert_close(after(&[("pkrate", text("150 Hz"))]).1.c, 150.0);
        assert_close(after(&[("bandwidth", text("6 Mbit/s"))]).1.c, 1500.0);
    }

    #[test]
    fn a_value_given_twice_is_refused() {
        let both = |one: (&str, Value), other: (&str, Value)| refusal(&[one, other]);
        let number = Value::Float;
        assert_eq!(
            both(("linterm_", number(50.0)), ("max_p", number(0.02))),
            "linterm = 50.0: must be left out where max_p is given"
        );
        assert_eq!(
            both(("plog", Value::Integer(22)), ("linterm", number(50.0))),
            "plog = 22: must be left out where max_p or linterm is given"
        );
        assert_eq!(
            both(("burst", Value::Integer(50)), ("wq", number(0.002))),
            "burst = 50: must be left out where w_q is given"
        );
        assert_eq!(
            both(("bandwidth", text("6 Mbit/s")), ("pkrate", text("150 Hz"))),
            "bandwidth = \"6 Mbit/s\": must be left out where pkrate is given"
        );
        assert_eq!(
            both(("min", text("30 kB")), ("minth", number(60.0))),
            "min_bytes = \"30000 B\": must be left out where min_th is given"
        );
        assert_eq!(
            both(("max", text("90 kB")), ("maxth", number(180.0))),
            "max_bytes = \"90000 B\": must be left out where max_th is given"
        );
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let both = |min, max| [("min_th", Value::Float(min)), ("max_th", Value::Float(max))];
        assert_eq!(refusal(&both(9.5, 9.0)), "min_th = 9.5: must be at most max_th = 9");
        assert_eq!(after(&both(9.0, 9.0)).0.check(), Ok(()));
        assert_eq!(
            refusal(&[("min", text("30 kB")), ("max", text("20 kB"))]),
            "min_bytes = \"30000 B\": must be at most max_bytes = \"20000 B\""
        );
    }
}
