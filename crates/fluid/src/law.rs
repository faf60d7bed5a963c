//! The mean behaviour of each algorithm: the share of the arrivals that it drops, as a function of the queue and of its
//! state.
//!
//! An action at each arrival becomes a rate; an action on a timer remains a step at that time. Queues are in packets of
//! the link's usual size.

mod avq;
mod blue;
mod input;
mod red;
mod timed;

use avq::Avq;
use blue::Blue;
pub(crate) use input::{FLOWING, Instant, Tally};
use red::Red;
use timed::{Lred, Raqm, Rem};

use crate::unsupported::Unsupported;
use aqm::aqm::avq::Form as AvqForm;
use aqm::aqm::rem::Form as RemForm;
use aqm::unit::{Limit, Span, Time};
use aqm::{AnyParams, Port};

/// The algorithms that have a law.
const KNOWN: &str = "droptail, lred, pi, rem, red, ared, avq, raqm, blue";

/// No law has more signals.
pub(crate) const SIGNALS: usize = 6;

/// The mean behaviour of an algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    law: ControlLaw,
    /// Packets in which the algorithm measures the queue, over packets of the usual size.
    scale: f64,
    /// Whether it marks packets of ECN-capable transports.
    pub(crate) marks: bool,
    /// The parts of the algorithm that are left out.
    pub(crate) left_out: Vec<String>,
}

#[derive(Clone, Debug)]
enum ControlLaw {
    Nothing,
    /// p0 + gain (q - q0), for analysis.
    Proportional {
        p0: f64,
        gain: f64,
        q0: f64,
    },
    Lred(Lred),
    Pi {
        q_ref: f64,
        a: f64,
        b: f64,
        period: Span,
        p: f64,
        q_old: f64,
    },
    Rem(Rem),
    Red(Red),
    Avq(Avq),
    Raqm(Raqm),
    Blue(Blue),
}

fn refused(what: &str, message: &str) -> Unsupported {
    Unsupported::new(format!("aqm.{what}: {message}; remove it, or use `aqmlab run`"))
}

impl Rule {
    /// p0 + gain (q - q0), clipped.
    pub(crate) const fn proportional(p0: f64, gain: f64, q0: f64) -> Self {
        Self {
            law: ControlLaw::Proportional { p0, gain, q0 },
            scale: 1.0,
            marks: false,
            left_out: Vec::new(),
        }
    }

    /// The algorithm at its start on `port`.
    pub(crate) fn new(params: &AnyParams, port: &Port) -> Result<Self, Unsupported> {
        let c = port.rate.packets(port.packet);
        let of_bytes = |bytes: bool, mean: Option<aqm::Bytes>| {
            if bytes { port.packet.0 as f64 / mean.unwrap_or(port.packet).0 as f64 } else { 1.0 }
        };
        let mut left_out = Vec::new();
        let mut by_size = |is: bool| {
            if is {
                left_out.push("that p is scaled by a packet's size".to_owned());
            }
        };
        let (law, scale, marks) = match params {
            AnyParams::DropTail(_) => (ControlLaw::Nothing, 1.0, false),
            AnyParams::Lred(params) => {
                if params.weights.iter().any(|weight| *weight != params.weights[0]) {
                    return Err(refused("weights", "the fluid model does not tell classes of service apart"));
                }
                by_size(params.bytes);
                let lred = Lred {
                    params: params.clone(),
                    past: vec![(0.0, 0.0); params.window as usize].into(),
                    oldest: 0,
                    loss_ratio: params.l_min,
                };
                (ControlLaw::Lred(lred), of_bytes(params.bytes, params.mean_packet), params.ecn)
            }
            AnyParams::Pi(params) => {
                by_size(params.by_size);
                let (a, b) = params.gains(port);
                let period = Span::from_secs(1.0 / params.frequency.0);
                let pi = ControlLaw::Pi { q_ref: params.q_ref, a, b, period, p: 0.0, q_old: 0.0 };
                (pi, of_bytes(params.bytes, params.mean_packet), params.ecn)
            }
            AnyParams::Rem(params) => {
                by_size(params.by_size.unwrap_or(params.bytes && params.form == RemForm::Ns2));
                let mean = params.mean_packet.unwrap_or(port.packet);
                let rem = Rem {
                    params: params.clone(),
                    ln_phi: libm::log(params.phi),
                    c: params.interval.secs() * port.rate.packets(mean),
                    u: 0.0,
                    p: 0.0,
                    q_old: 0.0,
                    input: 0.0,
                };
                (ControlLaw::Rem(rem), of_bytes(params.bytes, params.mean_packet), params.ecn)
            }
            AnyParams::Red(params) => {
                by_size(params.by_size.unwrap_or(params.bytes));
                (
                    ControlLaw::Red(Red::new(params, port)),
                    of_bytes(params.bytes, params.mean_packet),
                    params.ecn,
                )
            }
            AnyParams::Ared(params) => {
                by_size(params.red.by_size.unwrap_or(params.red.bytes));
                let red = Red {
                    adaptive: Some(params.clone()),
                    bottom: params.least_max_p(port.rate),
                    ..Red::new(&params.red, port)
                };
                (ControlLaw::Red(red), of_bytes(params.red.bytes, params.red.mean_packet), params.red.ecn)
            }
            AnyParams::Avq(params) => {
                let mean = params.mean_packet.unwrap_or(port.packet);
                let (rate, buffer) = if params.bytes {
                    let limit = match port.limit {
                        Limit::Bytes(limit) | Limit::BytesBefore(limit) => limit as f64,
                        limit @ Limit::Packets(_) => limit.packets(mean) * mean.0 as f64,
                    };
                    (c, limit / port.packet.0 as f64)
                } else {
                    (port.rate.packets(mean), port.limit.packets(mean))
                };
                let avq = Avq {
                    alpha: params.alpha,
                    counts_accepted: params.form == AvqForm::Ns2 && !params.ecn,
                    buffer: params.buflim * buffer,
                    c: rate,
                    desired: params.gamma * rate,
                    initial: params.initial * rate,
                };
                // What its signal calls a packet.
                let scale = if params.bytes { port.packet.0 as f64 / mean.0 as f64 } else { 1.0 };
                (ControlLaw::Avq(avq), scale, params.ecn)
            }
            AnyParams::Raqm(params) => {
                if params.shares.len() > 1 {
                    return Err(refused("shares", "the fluid model does not tell classes of service apart"));
                }
                let raqm = Raqm {
                    params: params.clone(),
                    expected: params.shares[0] * params.gamma * c,
                    c,
                    r: 0.0,
                    loss: 0.0,
                    m: None,
                    p: params.p.max(params.p_min),
                };
                (ControlLaw::Raqm(raqm), of_bytes(params.bytes, params.mean_packet), params.ecn)
            }
            AnyParams::Blue(params) => {
                let blue = Blue {
                    l: params.l.unwrap_or(f64::INFINITY),
                    params: params.clone(),
                    p: 0.0,
                    moved: None,
                    was_idle: false,
                };
                (ControlLaw::Blue(blue), 1.0, params.ecn)
            }
            other => {
                return Err(Unsupported::new(format!(
                    "aqm.name = {:?}: the fluid model has laws for {KNOWN}; for others use `aqmlab run`",
                    other.name()
                )));
            }
        };
        Ok(Self { law, scale, marks, left_out })
    }

    /// Its state at the start.
    pub(crate) const fn start(&self) -> [f64; FLOWING] {
        match &self.law {
            ControlLaw::Avq(avq) => [0.0, avq.initial],
            _ => [0.0; FLOWING],
        }
    }

    /// The share of the arrivals that it drops or marks.
    #[inline]
    pub(crate) fn p(&self, now: &Instant) -> f64 {
        let q = now.q * self.scale;
        match &self.law {
            ControlLaw::Nothing => 0.0,
            ControlLaw::Proportional { p0, gain, q0 } => (p0 + gain * (q - q0)).clamp(0.0, 1.0),
            ControlLaw::Lred(lred) => lred.p(q),
            ControlLaw::Pi { p, .. } => *p,
            ControlLaw::Rem(rem) => rem.p,
            ControlLaw::Red(red) => red.ratio(red.p_b(red.avg(q, now.own[0]))),
            ControlLaw::Avq(avq) => avq.p(now.arriving, now.own),
            ControlLaw::Raqm(raqm) => raqm.p(q),
            ControlLaw::Blue(blue) => blue.p,
        }
    }

    /// The derivatives of its state, while a share p of the arrivals is dropped early and the link is idle for a part
    /// of the time.
    #[inline]
    pub(crate) fn flow(&self, now: &Instant, p: f64, idle: f64) -> [f64; FLOWING] {
        match &self.law {
            ControlLaw::Red(red) if !red.at_once => {
                // While the link is idle, the average decays as if packets arrived at an empty queue.
                let follows = (red.follows * (now.arriving + idle * red.c)).min(red.fastest);
                [follows * (now.q * self.scale - now.own[0]), 0.0]
            }
            ControlLaw::Avq(avq) => avq.flow(now.arriving, now.own, p),
            _ => [0.0; FLOWING],
        }
    }

    /// Keeps its state within its bounds.
    #[inline]
    pub(crate) fn clip(&self, own: &mut [f64; FLOWING]) {
        if let ControlLaw::Avq(avq) = &self.law {
            *own = [own[0].clamp(0.0, avq.buffer), own[1].clamp(0.0, avq.c)];
        }
    }

    /// The greatest rate of change of its state, 1/s, at this arrival rate; steps must be shorter than its inverse.
    pub(crate) fn stiffness(&self, arriving: f64) -> f64 {
        match &self.law {
            ControlLaw::Red(red) if !red.at_once => red.follows * (arriving + red.c),
            ControlLaw::Avq(avq) => avq.alpha,
            _ => 0.0,
        }
    }

    /// Lets nothing of its own move faster than a step can follow, however much arrives: an average that would is the
    /// queue a step ago.
    pub(crate) const fn limit(&mut self, step: f64) {
        if let ControlLaw::Red(red) = &mut self.law {
            red.fastest = 1.0 / step;
        }
    }

    /// The period of its timer.
    pub(crate) fn period(&self) -> Option<Span> {
        match &self.law {
            ControlLaw::Lred(lred) => Some(lred.params.period),
            ControlLaw::Pi { period, .. } => Some(*period),
            ControlLaw::Rem(rem) => Some(rem.params.interval),
            ControlLaw::Red(red) => red.adaptive.as_ref().map(|ared| ared.interval),
            ControlLaw::Raqm(raqm) => Some(raqm.params.period),
            ControlLaw::Nothing
            | ControlLaw::Proportional { .. }
            | ControlLaw::Avq(_)
            | ControlLaw::Blue(_) => None,
        }
    }

    /// Its action when its timer expires.
    pub(crate) fn on_period(&mut self, now: &Instant, tally: &Tally) {
        let q = now.q * self.scale;
        match &mut self.law {
            ControlLaw::Lred(lred) => lred.update(tally),
            ControlLaw::Pi { q_ref, a, b, p, q_old, .. } => {
                *p = (*p + *a * (q - *q_ref) - *b * (*q_old - *q_ref)).clamp(0.0, 1.0);
                *q_old = q;
            }
            ControlLaw::Rem(rem) => rem.update(q, tally.arrivals * self.scale),
            ControlLaw::Red(red) => red.adapt(red.avg(q, now.own[0])),
            ControlLaw::Raqm(raqm) => raqm.update(tally),
            ControlLaw::Nothing
            | ControlLaw::Proportional { .. }
            | ControlLaw::Avq(_)
            | ControlLaw::Blue(_) => {}
        }
    }

    /// Notifies it of a full buffer or an idle link; returns the time from which it must be notified again, if it uses
    /// this.
    pub(crate) fn watch(&mut self, now: Time, q: f64, full: bool, idle: bool) -> Option<Time> {
        let ControlLaw::Blue(blue) = &mut self.law else { return None };
        blue.watch(now, full || q > blue.l, idle)
    }

    /// Writes the value of each signal, and returns their number.
    pub(crate) fn signals(&self, now: &Instant, p: f64, values: &mut [f64; SIGNALS]) -> usize {
        let q = now.q * self.scale;
        let given: &[f64] = match &self.law {
            ControlLaw::Nothing => &[],
            ControlLaw::Proportional { .. } | ControlLaw::Pi { .. } | ControlLaw::Blue(_) => &[p],
            ControlLaw::Lred(lred) => &[p, lred.loss_ratio],
            ControlLaw::Rem(rem) => &[p, rem.u],
            ControlLaw::Red(red) => {
                let avg = red.avg(q, now.own[0]);
                let all = [red.p_b(avg), avg, red.max_p];
                let number = if red.adaptive.is_some() { 3 } else { 2 };
                values[..number].copy_from_slice(&all[..number]);
                return number;
            }
            ControlLaw::Avq(avq) => &[now.own[0] * self.scale, now.own[1] / avq.c],
            ControlLaw::Raqm(raqm) => &[p, raqm.r / raqm.c, raqm.p, raqm.p, raqm.p, raqm.p],
        };
        values[..given.len()].copy_from_slice(given);
        given.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::params::Value;
    use aqm::{AnyAqm, Backlog, Packet, Uniform, Verdict};
    use aqm::{Bytes, Rate};

    const PORT: Port = Port {
        rate: Rate::mbit_per_s(10),
        delay: Span::ms(3),
        limit: Limit::Packets(200),
        packet: Bytes(500),
    };

    /// The same number over and over, or for 0 numbers of a congruential generator.
    struct Draw(f64, u64);

    impl Uniform for Draw {
        fn uniform(&mut self) -> f64 {
            if self.0 > 0.0 {
                return self.0;
            }
            self.1 = self.1.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.1 >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    fn params(name: &str, settings: &[(&str, Value)]) -> AnyParams {
        let mut params = AnyParams::of(name).unwrap();
        for (key, value) in settings {
            params.set(key, value).unwrap();
        }
        params
    }

    fn both(params: &AnyParams) -> (Rule, AnyAqm) {
        (Rule::new(params, &PORT).unwrap(), params.on_one_queue(&PORT).unwrap())
    }

    const fn backlog(q: u32, full: bool) -> Backlog {
        Backlog { packets: q, bytes: 500 * q as u64, full }
    }

    const fn instant(q: u32) -> Instant {
        Instant { q: q as f64, arriving: 2500.0, own: [0.0; FLOWING] }
    }

    fn signals(aqm: &AnyAqm) -> Vec<f64> {
        let mut values = Vec::new();
        aqm.signals(|i, value| {
            assert_eq!(i, values.len());
            values.push(value);
        });
        values
    }

    #[test]
    fn what_happens_on_a_timer_is_what_the_algorithm_itself_does() {
        let text = |text: &str| Value::Text(text.to_owned());
        for params in [
            params("pi", &[("a", Value::Float(1e-3)), ("b", Value::Float(9e-4))]),
            params("rem", &[]),
            params("rem", &[("form", text("ns2")), ("inw", Value::Float(0.3))]),
            params("lred", &[]),
            params("lred", &[("exponent", Value::Float(0.0))]),
            params("raqm", &[]),
            params(
                "raqm",
                &[
                    ("mode", text("queue-independent")),
                    ("r0", text("corrected")),
                    ("lagged", Value::Bool(true)),
                ],
            ),
            params("raqm", &[("counts", text("unshed"))]),
            params("raqm", &[("counts", text("accepted"))]),
        ] {
            let (mut rule, mut aqm) = both(&params);
            let period = rule.period().unwrap();
            assert_eq!(Some(period), aqm.period());
            for k in 0..60_u32 {
                let q = (k * 37) % 190;
                let (arrivals, refused) = (20 + k % 7, k % 5);
                let mut tally = Tally { arrivals: f64::from(arrivals), ..Tally::default() };
                for i in 0..arrivals {
                    let full = i < refused;
                    let packet = Packet::new(500, false);
                    let draw = if i % 3 == 0 { 1e-9 } else { 1.0 - 1e-9 };
                    let verdict = aqm.on_enqueue(Time::ZERO, &packet, &backlog(q, full), &mut Draw(draw, 0));
                    tally.overflow += f64::from(u8::from(full));
                    tally.early += f64::from(u8::from(verdict == Verdict::Drop));
                }
                aqm.on_period(Time::ZERO, &backlog(q, false));
                rule.on_period(&instant(q), &tally);
                // Some signals are those of the last arrival, which shall leave no trace.
                let mut stepped = aqm.clone();
                stepped.on_enqueue(
                    Time::ZERO,
                    &Packet::new(500, false),
                    &backlog(q, true),
                    &mut Draw(0.5, 0),
                );
                let mut values = [0.0; SIGNALS];
                let number = rule.signals(&instant(q), rule.p(&instant(q)), &mut values);
                let theirs = signals(&stepped);
                assert_eq!(number, theirs.len());
                for (ours, theirs) in values.iter().zip(&theirs) {
                    assert!((ours - theirs).abs() < 1e-12, "{params:?} at {k}: {values:?} {theirs:?}");
                }
            }
        }
    }

    #[test]
    fn reds_share_of_drops_is_what_its_spacing_makes_of_p_b() {
        for (spacing, within) in [("none", 0.03), ("1993", 0.03), ("wait", 0.03)] {
            let spacing = Value::Text(spacing.to_owned());
            let params = params(
                "red",
                &[
                    ("min_th", Value::Float(5.0)),
                    ("max_th", Value::Float(15.0)),
                    ("w_q", Value::Float(1.0)),
                    ("spacing", spacing),
                ],
            );
            for q in [6, 10, 14, 20, 28] {
                let (rule, mut aqm) = both(&params);
                let (mut draw, mut drops) = (Draw(0.0, 1), 0.0);
                let number = 2_000_000;
                for _ in 0..number {
                    let verdict =
                        aqm.on_enqueue(Time::ZERO, &Packet::new(500, false), &backlog(q, false), &mut draw);
                    drops += f64::from(u8::from(verdict == Verdict::Drop));
                }
                let (found, ours) = (drops / f64::from(number), rule.p(&instant(q)));
                assert!((found / ours - 1.0).abs() < within, "{params:?} at {q}: {found} {ours}");
                let mut values = [0.0; SIGNALS];
                rule.signals(&instant(q), ours, &mut values);
                assert!((values[0] - signals(&aqm)[0]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn reds_average_follows_as_fast_as_packet_by_packet() {
        let params = params("red", &[("w_q", Value::Float(0.002))]);
        let (rule, _) = both(&params);
        let now = Instant { q: 100.0, arriving: 2500.0, own: [40.0, 0.0] };
        // After 1/2500 s, one packet: the average is 40 + 0.002 x 60.
        let slope = rule.flow(&now, 0.0, 0.0)[0] / 2500.0;
        assert!((slope / (0.002 * 60.0) - 1.0).abs() < 0.002, "{slope}");
    }

    #[test]
    fn blue_moves_once_a_freeze_time() {
        let (mut rule, _) = both(&params("blue", &[]));
        let at = |ms| Time::ZERO + Span::ms(ms);
        assert_eq!(rule.watch(at(0), 200.0, true, false), Some(at(100)));
        assert_eq!(rule.watch(at(50), 200.0, true, false), Some(at(100)));
        assert_eq!(rule.watch(at(100), 200.0, true, false), Some(at(200)));
        assert_eq!(rule.p(&instant(0)), 0.04);
        assert_eq!(rule.watch(at(150), 100.0, false, false), None);
        assert_eq!(rule.watch(at(250), 0.0, false, true), Some(at(350)));
        assert!((rule.p(&instant(0)) - 0.038).abs() < 1e-15);
    }
}
