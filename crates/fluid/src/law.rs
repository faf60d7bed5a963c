//! The mean behaviour of each algorithm: the share of the arrivals that it drops, as a function of the queue and of its
//! state.
//!
//! An action at each arrival becomes a rate; an action on a timer remains a step at that time. Queues are in packets of
//! the link's usual size.

mod avq;
mod blue;
mod delay;
mod input;
mod red;
#[cfg(test)]
mod tests;
mod timed;
mod user_defined;

use avq::Avq;
use blue::Blue;
use delay::{Pi2, Pie};
pub(crate) use input::{FLOWING, Instant, Tally};
use red::Red;
use timed::{Lred, Raqm};
use user_defined::UserDefined;

use crate::unsupported::Unsupported;
use aqm::aqm::avq::Form as AvqForm;
use aqm::aqm::pi::Pi;
use aqm::aqm::raqm::Aggregate;
use aqm::aqm::rem::{Form as RemForm, Rem};
use aqm::unit::{Limit, Span, Time};
use aqm::{AnyParams, Aqm as _, Port};

const NO_CLASSES: &str = "the fluid model does not tell classes of service apart";
/// The algorithms that have a law.
const KNOWN: &str = "droptail, lred, pi, rem, red, ared, avq, raqm, blue, pie, pi2";

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
    Pi(Pi),
    Rem(Rem),
    Red(Red),
    Avq(Avq),
    Raqm(Raqm),
    Blue(Blue),
    Pie(Pie),
    Pi2(Pi2),
    UserDefined(UserDefined),
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
        let one_class = |weights: &[f64]| match weights.iter().all(|weight| *weight == weights[0]) {
            true => Ok(()),
            false => Err(refused("weights", NO_CLASSES)),
        };
        let (law, scale, marks) = match params {
            AnyParams::DropTail(_) => (ControlLaw::Nothing, 1.0, false),
            AnyParams::Lred(params) => {
                one_class(&params.weights)?;
                by_size(params.bytes);
                let lred = ControlLaw::Lred(Lred::new(params, port));
                (lred, of_bytes(params.bytes, params.mean_packet), params.ecn)
            }
            AnyParams::Pi(params) => {
                by_size(params.by_size);
                let pi = ControlLaw::Pi(Pi::new(params, port));
                (pi, of_bytes(params.bytes, params.mean_packet), params.ecn)
            }
            AnyParams::Rem(params) => {
                by_size(params.by_size.unwrap_or(params.bytes && params.form == RemForm::Ns2));
                let rem = ControlLaw::Rem(Rem::new(params, port));
                (rem, of_bytes(params.bytes, params.mean_packet), params.ecn)
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
                let red = ControlLaw::Red(Red::adaptive(params, port));
                (red, of_bytes(params.red.bytes, params.red.mean_packet), params.red.ecn)
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
                    return Err(refused("shares", NO_CLASSES));
                }
                one_class(&params.weights)?;
                let raqm = Raqm {
                    params: params.clone(),
                    aggregate: Aggregate::new(params, params.shares[0], c),
                    c,
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
            AnyParams::Pie(params) => {
                Pie::check(params, port)?;
                left_out.extend(Pie::left_out(params));
                (ControlLaw::Pie(Pie::new(params, port)), 1.0, params.ecn)
            }
            AnyParams::Pi2(params) => {
                left_out.push("that nothing is dropped while fewer than two packets wait".to_owned());
                (ControlLaw::Pi2(Pi2::new(params)), 1.0, params.ecn)
            }
            AnyParams::UserDefined(params) => {
                (ControlLaw::UserDefined(UserDefined::new(params, port)?), 1.0, params.marks())
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
            ControlLaw::Lred(law) => law.lred.chance(q),
            ControlLaw::Pi(pi) => pi.p(),
            ControlLaw::Rem(rem) => rem.p(),
            ControlLaw::Red(red) => red.ratio(red.ared.p_b(red.avg(q, now.own[0]))),
            ControlLaw::Avq(avq) => avq.p(now.arriving, now.own),
            ControlLaw::Raqm(raqm) => raqm.aggregate.chance(&raqm.params, q),
            ControlLaw::Blue(blue) => blue.p,
            ControlLaw::Pie(pie) => pie.p(),
            ControlLaw::Pi2(pi2) => pi2.p(),
            ControlLaw::UserDefined(_) => now.own[0].clamp(0.0, 1.0),
        }
    }

    /// The derivatives of its state, while a share p of the arrivals is dropped early, the queue grows by `dq` packets/s
    /// and the link is idle for a part of the time.
    #[inline]
    pub(crate) fn flow(&self, now: &Instant, p: f64, dq: f64, idle: f64) -> [f64; FLOWING] {
        let q = now.q * self.scale;
        match &self.law {
            ControlLaw::Red(red) if !red.at_once => {
                // While the link is idle, the average decays as if packets arrived at an empty queue.
                let follows = (red.follows * (now.arriving + idle * red.c)).min(red.fastest);
                [follows * (q - now.own[0]), 0.0]
            }
            ControlLaw::Avq(avq) => avq.flow(now.arriving, now.own, p),
            ControlLaw::UserDefined(law) => [law.rate(q, p, dq * self.scale), 0.0],
            _ => [0.0; FLOWING],
        }
    }

    /// Keeps its state within its bounds.
    #[inline]
    pub(crate) fn clip(&self, own: &mut [f64; FLOWING]) {
        match &self.law {
            ControlLaw::Avq(avq) => *own = [own[0].clamp(0.0, avq.buffer), own[1].clamp(0.0, avq.c)],
            ControlLaw::UserDefined(_) => own[0] = own[0].clamp(0.0, 1.0),
            _ => {}
        }
    }

    /// The greatest rate of change of its state, 1/s, at this arrival rate; steps must be shorter than its inverse.
    pub(crate) fn stiffness(&self, arriving: f64) -> f64 {
        match &self.law {
            ControlLaw::Red(red) if !red.at_once => red.follows * (arriving + red.c),
            ControlLaw::Avq(avq) => avq.alpha,
            ControlLaw::UserDefined(law) => law.fastest,
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

    /// The target of the queueing delay in s, of a law that has one.
    pub(crate) fn target_delay(&self) -> Option<f64> {
        match &self.law {
            ControlLaw::Pie(pie) => Some(pie.params.target.secs()),
            ControlLaw::Pi2(pi2) => Some(pi2.params.target.secs()),
            _ => None,
        }
    }

    /// The period of its timer.
    pub(crate) fn period(&self) -> Option<Span> {
        match &self.law {
            ControlLaw::Lred(law) => law.lred.period(),
            ControlLaw::Pi(pi) => pi.period(),
            ControlLaw::Rem(rem) => rem.period(),
            ControlLaw::Red(red) => red.interval,
            ControlLaw::Raqm(raqm) => Some(raqm.params.period),
            ControlLaw::Pie(pie) => Some(pie.params.t_update),
            ControlLaw::Pi2(pi2) => Some(pi2.params.t_update),
            ControlLaw::Nothing
            | ControlLaw::Proportional { .. }
            | ControlLaw::Avq(_)
            | ControlLaw::Blue(_)
            | ControlLaw::UserDefined(_) => None,
        }
    }

    /// Its action when its timer expires, with the link's rate, and the sojourn time of the packet that leaves, in s.
    pub(crate) fn on_period(&mut self, now: &Instant, tally: &Tally, c: f64, sojourn: impl FnOnce() -> f64) {
        let q = now.q * self.scale;
        match &mut self.law {
            ControlLaw::Lred(lred) => lred.update(tally),
            ControlLaw::Pi(pi) => pi.step(q),
            ControlLaw::Rem(rem) => rem.step(q, tally.arrivals * self.scale),
            ControlLaw::Red(red) => {
                red.ared.adapt(red.avg(q, now.own[0]));
            }
            ControlLaw::Raqm(raqm) => raqm.update(tally),
            ControlLaw::Pie(pie) => pie.update(q, c, sojourn),
            ControlLaw::Pi2(pi2) => pi2.update(sojourn()),
            ControlLaw::Nothing
            | ControlLaw::Proportional { .. }
            | ControlLaw::Avq(_)
            | ControlLaw::Blue(_)
            | ControlLaw::UserDefined(_) => {}
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
            ControlLaw::Proportional { .. } | ControlLaw::Pi(_) | ControlLaw::Blue(_) => &[p],
            ControlLaw::Lred(law) => &[p, law.lred.loss_ratio()],
            ControlLaw::Rem(rem) => &[p, rem.price()],
            ControlLaw::Red(red) => {
                let avg = red.avg(q, now.own[0]);
                let all = [red.ared.p_b(avg), avg, red.ared.max_p()];
                let number = if red.interval.is_some() { 3 } else { 2 };
                values[..number].copy_from_slice(&all[..number]);
                return number;
            }
            ControlLaw::Avq(avq) => &[now.own[0] * self.scale, now.own[1] / avq.c],
            ControlLaw::Raqm(raqm) => {
                let (r, p_k) = raqm.aggregate.state();
                &[p, r / raqm.c, p_k, p_k, p_k, p_k]
            }
            ControlLaw::Pie(pie) => &pie.signals(),
            ControlLaw::Pi2(pi2) => &pi2.signals(),
            ControlLaw::UserDefined(law) => return law.signals(p, values),
        };
        values[..given.len()].copy_from_slice(given);
        given.len()
    }
}
