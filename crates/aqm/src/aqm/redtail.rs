//! RED+Tail: short flows in a queue of their own without early drops, long flows in another queue with Adaptive RED.
//!
//! The first `n` packets of a pair of addresses join the short queue, the others the long queue, until the pair has
//! been silent for longer than `t`; UDP is always short. Both queues share one buffer, and an arrival overflows only
//! if the two together leave no room. The link of rate C serves the short queue, of q1 bytes, at the rate
//!
//! ```text
//! C1 = 0                                    q1 = 0
//!    = c1_min C                             0 < q1 < min_th1
//!    = min(q1 / max_th1, c1_max) C          min_th1 <= q1                     (section III)
//! ```
//!
//! or, with `allocation = "prediction"`, at a rate that includes expected arrivals:
//!
//! ```text
//! C1 = 0                                    q1 = 0
//!    = r^ + q1 / horizon, clipped to [c1_min C, c1_max C]      0 < q1
//! m(k) = alpha r(k) + (1 - alpha) (m(k-1) + b(k-1)),  m(1) = r(1)
//! b(k) = beta (m(k) - m(k-1)) + (1 - beta) b(k-1),    b(1) = 0
//! r^ = max(m(k) + b(k), 0)
//! ```
//!
//! with r(k) the arrival rate of short packets in the k-th `interval`, including dropped ones, and r^ the rate that
//! Holt's smoothing of level m and trend b expects in the next interval. The default `horizon` is max_th1 / C, with
//! which q1 / horizon is the rule of section III: that rule is the case r^ = 0. It serves a steady rate r only with a
//! queue of r max_th1 / C, a delay of max_th1 / C for every r; with a correct r^ the rate itself is served, and only
//! the error of r^ is queued.
//!
//! The long queue has C2 = C - C1. The link serves one packet at a time, and keeps these rates by an account B, the
//! bytes that were allotted to the short queue and that it has not sent:
//!
//! ```text
//! next:  the short queue if B >= 0 or the long one is empty, the long one if B < 0 or the short one is empty
//! B <- B - size,                   when a packet of the short queue is sent while the long one waits
//! B <- B + size (C1 / C),          a packet later, with the mean C1 over its time
//! ```
//!
//! Bytes that one queue sends while the other is empty do not count, so that neither accumulates credit, and B stays
//! within one packet. When both are empty, B is 0.
//!
//! Decides at: enqueue; otherwise as the inner algorithms do. Timer: those of the inner algorithms; `interval`, with
//! prediction. Randomness: that of the inner algorithms. State: B, C1; m, b and the bytes of the interval, with
//! prediction; for each of `table` pairs, a count and the time of its last packet.
//!
//! When the table is full, a new pair replaces the pair that has been silent longest. Hence a flood of new pairs costs
//! no memory: like every new pair they are short, and share the short queue. A long flow is forgotten, and short for
//! its next `n` packets, only if as many other pairs as the table holds send between two of its packets.
//!
//! # Departures from the source
//! The paper does not give `n`, `t` or the bounds of C1, and does not mention UDP, which its rule would count as long
//! after `n` packets, while its experiment treats it as short (`udp_short`). Here `n` is 64 packets, the usual
//! threshold of slow start: 1.3 % of the paper's files are longer, where it states less than 2 %. `t` is 10 s, shorter
//! than a reader's pause. The bounds are the C1 at `min_th1`, so that C1 is continuous there, and 0.9 C: a tenth of the
//! link is left to the long flows, for which the paper wants some rate against time-outs without naming one. q1 does
//! not count the packet in transmission.
//!
//! The reproduction of the paper runs `n` = 256 and `c1_max` = 0.5, with which its printed losses and delays come out
//! best. These values are fitted to one load, ten long flows beside web traffic on 3 Mbit/s, and are no defaults for
//! another.
//!
//! While the long queue is empty, the short one gets the whole link. By the letter of the paper it would get C1 even
//! then, and C2 would be unused; but the paper reports a link that is used to 100 %.
//!
//! The paper leaves prediction to future work, and names no predictor. Holt's is the simplest that follows a level and
//! a trend; its weights and its interval are aqmlab's. Dropped packets are included in the demand, since they are sent
//! again.
//!
//! The inner algorithms can be any that work on one queue; each acts as if it had the whole link. An arrival
//! that finds the buffer full is dropped, whichever packet they would drop. With several timers, the slower ones are
//! served when the fastest is.
//!
//! # Sources
//! The RED+Tail paper, sections III to V and, on prediction, VII. Holt, "Forecasting seasonals and trends by
//! exponentially weighted moving averages", ONR memorandum 52, 1957. Tested against these rules with two accounts, and
//! without bounds.

use crate::aqm::{AnyAqm, AnyParams};
use crate::contract::{Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Lane};
use crate::flows::Classifier;
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Rate, Span, Time};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use forecast::Forecast;

mod forecast;

crate::choice! {
    /// What the short queue's rate depends on.
    pub enum Allocation {
        /// Its length.
        Queue = "queue",
        /// Its length and the expected arrival rate.
        Prediction = "prediction",
    }
}

crate::choice! {
    /// Which packets are counted together.
    pub enum Key {
        /// Those from one address to another, as in the paper.
        Pair = "pair",
        /// Those of a connection.
        Flow = "flow",
    }
}

fn inside(name: &str, preset: Option<&str>) -> Box<AnyParams> {
    let params = AnyParams::of(name).and_then(|params| match preset {
        Some(preset) => params.preset(preset),
        None => Some(params),
    });
    Box::new(params.expect("an algorithm of the list and its preset"))
}

crate::params! {
    /// RED+Tail's parameters.
    pub struct Params {
        /// The algorithm on the short queue.
        short: Box<AnyParams> = inside("droptail", None), "";
        /// The algorithm on the long queue; by default, Adaptive RED with the paper's Table II.
        long: Box<AnyParams> = inside("ared", Some("redtail")), "";
        /// Number of packets of a pair that join the short queue.
        n: u32 = 64, "packets", Range::ANY, ["N"];
        /// Silence after which a pair counts as new.
        t: Span = Span::s(10), "s", Range::above(0.0, 1e6), ["T"];
        /// What packets are counted together: `pair`, those from one address to another (paper); `flow`, those of a
        /// connection.
        key: Key = Key::Pair, "";
        /// Let all UDP join the short queue, uncounted.
        udp_short: bool = true, "";
        /// Number of pairs remembered; a further pair replaces the one silent longest.
        table: u32 = 4096, "pairs", Range::new(1.0, 1e6);
        /// Length of the short queue below which its share is `c1_min`.
        min_th1: Bytes = Bytes(2_000), "bytes", Range::new(0.0, 1e12), ["minth1"];
        /// Length of the short queue at which its share would be the whole link.
        max_th1: Bytes = Bytes(30_000), "bytes", Range::new(1.0, 1e12), ["maxth1"];
        /// Share of the link for the short queue below `min_th1`; auto is the share at `min_th1`.
        c1_min: Option<f64> = None, "of C", Range::new(0.0, 1.0), ["C1min"];
        /// Largest share of the link for the short queue while the long one waits.
        c1_max: f64 = 0.9, "of C", Range::new(0.0, 1.0), ["C1max"];
        /// What the short queue's rate depends on: `queue`, its length (paper); `prediction`, its length and the
        /// expected arrival rate.
        allocation: Allocation = Allocation::Queue, "";
        /// Period of the measurement and prediction of the short queue's arrival rate.
        interval: Span = Span::ms(100), "s", Range::new(1e-3, 1e3);
        /// Weight of the last interval's rate in the level.
        alpha: f64 = 0.3, "", Range::above(0.0, 1.0);
        /// Weight of the level's last step in the trend; at 0 there is no trend, and the prediction is the level.
        beta: f64 = 0.1, "", Range::new(0.0, 1.0);
        /// With prediction, the time in which the present short queue is to be served beside new arrivals; auto is
        /// max_th1 / C.
        horizon: Option<Span> = None, "s", Range::new(1e-3, 1e3);
    }
}

const SHORT: usize = 0;
const LONG: usize = 1;
/// The index of the prediction's timer, after those of the inner algorithms.
const PREDICTION: usize = 2;

/// The division of the link.
#[derive(Clone, Debug)]
struct Split {
    min_th1: f64,
    /// Length of the short queue in bytes at which it would get the whole link.
    full: f64,
    /// The forecast of arrivals in the short queue, if C1 depends on it.
    forecast: Option<Forecast>,
    /// Shares of the link.
    c1_min: f64,
    c1_max: f64,
    /// C1 / C.
    share: f64,
    /// The time of the last change of the share, and its integral since `began`, in nanoseconds.
    since: Time,
    area: f64,
    /// When the transmission in progress began, and how many of its bytes the queues share.
    began: Time,
    sending: u32,
    /// B.
    balance: f64,
}

impl Split {
    /// The division of a link that sends `c` bytes per second.
    fn new(params: &Params, c: f64) -> Self {
        let (min_th1, max_th1) = (params.min_th1.0 as f64, params.max_th1.0 as f64);
        let forecast = (params.allocation == Allocation::Prediction)
            .then(|| Forecast::new(params.alpha, params.beta, c * params.interval.secs()));
        Self {
            min_th1,
            full: match (&forecast, params.horizon) {
                (Some(_), Some(horizon)) => c * horizon.secs(),
                _ => max_th1,
            },
            forecast,
            c1_min: params.c1_min.unwrap_or_else(|| (min_th1 / max_th1).min(params.c1_max)),
            c1_max: params.c1_max,
            share: 0.0,
            since: Time::ZERO,
            area: 0.0,
            began: Time::ZERO,
            sending: 0,
            balance: 0.0,
        }
    }

    /// Takes over the account, the rate of the short queue until it changes next, and the forecast.
    fn resume(&mut self, before: &Self) {
        (self.share, self.since, self.area) = (before.share, before.since, before.area);
        (self.began, self.sending, self.balance) = (before.began, before.sending, before.balance);
        if let (Some(forecast), Some(before)) = (&mut self.forecast, &before.forecast) {
            forecast.resume(before);
        }
    }

    /// C1 / C with this many bytes in the short queue.
    #[inline]
    fn share(&self, q1: u64) -> f64 {
        let by_queue = q1 as f64 / self.full;
        match &self.forecast {
            _ if q1 == 0 => 0.0,
            Some(forecast) => (forecast.demand() + by_queue).clamp(self.c1_min, self.c1_max),
            None if (q1 as f64) < self.min_th1 => self.c1_min,
            None => by_queue.min(self.c1_max),
        }
    }

    /// Records that from `now` on the short queue has `q1` bytes.
    #[inline]
    fn change(&mut self, now: Time, q1: u64) {
        self.area += self.share * now.since(self.since).nanos() as f64;
        (self.since, self.share) = (now, self.share(q1));
    }

    /// Ends an interval: from `now` on another arrival rate is expected.
    fn predict(&mut self, now: Time, q1: u64) {
        if let Some(forecast) = &mut self.forecast {
            forecast.update();
            self.change(now, q1);
        }
    }

    /// Ends a transmission: allots to the short queue its share of the packet.
    #[inline]
    fn settle(&mut self, now: Time) {
        self.area += self.share * now.since(self.since).nanos() as f64;
        let time = now.since(self.began).nanos() as f64;
        let mean = if time > 0.0 { self.area / time } else { self.share };
        self.balance += mean * f64::from(self.sending);
        (self.began, self.since, self.area, self.sending) = (now, now, 0.0, 0);
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Redtail {
    key: Key,
    udp_short: bool,
    classifier: Classifier,
    split: Split,
    /// On the heap, since every algorithm takes the space of the largest.
    aqms: Box<[AnyAqm; 2]>,
    /// Whether each has been notified that its queue is idle.
    idle: [bool; 2],
    /// The periods of each algorithm and of the prediction, and the times at which their timers next expire.
    periods: [Option<Span>; 3],
    due: [Time; 3],
    /// bit/s.
    c: f64,
    /// Whether the algorithm of the long queue has a signal p.
    has_p: bool,
}

impl Redtail {
    fn lane(&mut self, now: Time, packet: &Packet) -> usize {
        if packet.udp && self.udp_short {
            return SHORT;
        }
        let key = match self.key {
            Key::Pair => u64::from(packet.pair),
            Key::Flow => packet.flow,
        };
        if self.classifier.is_long(now, key) { LONG } else { SHORT }
    }

    fn rest(&mut self, now: Time, lane: usize) {
        if !core::mem::replace(&mut self.idle[lane], true) {
            self.aqms[lane].on_idle(now);
        }
    }
}

impl Discipline for Redtail {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "Drop probability of the algorithm on the long queue." },
        Signal { name: "c1", unit: "bit/s", doc: "The short queue's rate C1." },
        Signal {
            name: "demand",
            unit: "bit/s",
            doc: "Expected arrival rate of the short queue in this interval; 0 without prediction.",
        },
        Signal {
            name: "r",
            unit: "bit/s",
            doc: "Arrival rate of the short queue in the last interval; 0 without prediction.",
        },
        Signal {
            name: "pairs",
            unit: "pairs",
            doc: "Pairs that were new since the start; one that returns after `t` counts again.",
        },
        Signal {
            name: "turned",
            unit: "pairs",
            doc: "Those of them that sent more than `n` packets and became long.",
        },
    ];
    const LANES: &'static [&'static str] = &["short", "long"];
    const PRESETS: &'static [(&'static str, &'static str)] = &[(
        "dynamic",
        "Section V: dynamic thresholds on the long queue, for a drop probability from 0.005 to 0.01",
    )];

    fn new(params: &Params, port: &Port) -> Self {
        let aqms = [&params.short, &params.long]
            .map(|inside| inside.on_one_queue(port).expect("the parameter's type sees to it"));
        let predicts = params.allocation == Allocation::Prediction;
        let periods = [aqms[SHORT].period(), aqms[LONG].period(), predicts.then_some(params.interval)];
        Self {
            key: params.key,
            udp_short: params.udp_short,
            classifier: Classifier::new(params.table, params.n, params.t),
            split: Split::new(params, port.rate.bits() / 8.0),
            aqms: Box::new(aqms),
            idle: [true; 2],
            due: periods.map(|period| period.map_or(Time::MAX, |period| Time::ZERO + period)),
            periods,
            c: port.rate.bits(),
            has_p: params.long.signals().first().is_some_and(|signal| signal.name == "p"),
        }
    }

    fn preset(name: &str) -> Option<Params> {
        (name == "dynamic").then(|| Params { long: inside("dtared", Some("redtail")), ..Params::default() })
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        let refuse = |name: &str, found: String, allowed: String| {
            Err(ParamError::Invalid { name: name.to_owned(), found, allowed })
        };
        if params.min_th1 > params.max_th1 {
            let allowed = format!("at most max_th1 = {}", params.max_th1);
            return refuse("min_th1", params.min_th1.to_string(), allowed);
        }
        match params.c1_min {
            Some(c1_min) if c1_min > params.c1_max => {
                refuse("c1_min", c1_min.to_string(), format!("at most c1_max = {}", params.c1_max))
            }
            _ => Ok(()),
        }
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let split = Split::new(params, 0.0);
        let own = [("c1_min", split.c1_min), ("link", port.rate.bits())];
        // The program has Adaptive RED on the long queue, and no other.
        let of = if params.long.name() == "ared" { vec!["long"] } else { vec![] };
        Numbers { values: [&params.long.numbers(port)[..], &own].concat(), of }
    }

    fn lanes(&self) -> usize {
        2
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
        let lane = self.lane(now, packet);
        let verdict = self.aqms[lane].on_enqueue(now, packet, &lanes[lane].backlog(buffer.full), rng);
        if let (SHORT, Some(forecast)) = (lane, &mut self.split.forecast) {
            forecast.count(packet.size);
        }
        let mut q1 = lanes[SHORT].bytes;
        if !buffer.full && matches!(verdict, Verdict::Pass | Verdict::Mark) {
            self.idle[lane] = false;
            if lane == SHORT {
                q1 += u64::from(packet.size);
            }
        }
        self.split.change(now, q1);
        (lane, verdict)
    }

    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        self.split.settle(now);
        match [SHORT, LONG].map(|lane| lanes[lane].packets == 0) {
            [true, _] => {
                self.rest(now, SHORT);
                LONG
            }
            [_, true] => {
                self.rest(now, LONG);
                SHORT
            }
            _ if self.split.balance >= 0.0 => SHORT,
            _ => LONG,
        }
    }

    #[inline]
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
        self.split.change(now, lanes[SHORT].bytes);
        let verdict =
            self.aqms[lane].on_dequeue(now, packet, &lanes[lane].backlog(buffer.full), sojourn, rng);
        if matches!(verdict, Verdict::Pass | Verdict::Mark) {
            if lane == LONG {
                self.split.sending = packet.size;
            } else if lanes[LONG].packets > 0 {
                self.split.sending = packet.size;
                self.split.balance -= f64::from(packet.size);
            }
        }
        verdict
    }

    fn set_rate(&mut self, rate: Rate) {
        self.aqms.iter_mut().for_each(|aqm| aqm.set_rate(rate));
    }

    fn on_idle(&mut self, now: Time) {
        self.rest(now, SHORT);
        self.rest(now, LONG);
        self.split.settle(now);
        self.split.change(now, 0);
        self.split.balance = 0.0;
    }

    fn period(&self) -> Option<Span> {
        self.periods.into_iter().flatten().min()
    }

    fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane]) {
        for (timer, due) in self.due.iter_mut().enumerate() {
            let Some(period) = self.periods[timer].filter(|_| *due <= now) else { continue };
            *due += period;
            if timer == PREDICTION {
                self.split.predict(now, lanes[SHORT].bytes);
            } else {
                self.aqms[timer].on_head(lanes[timer].age(now));
                self.aqms[timer].on_period(now, &lanes[timer].backlog(buffer.full));
            }
        }
    }

    fn can_resume(&self, before: &Self) -> bool {
        [SHORT, LONG].into_iter().all(|lane| self.aqms[lane].can_resume(&before.aqms[lane]))
    }

    fn resume(&mut self, now: Time, before: Self) {
        if self.key == before.key {
            self.classifier.resume(before.classifier);
        }
        self.split.resume(&before.split);
        for (aqm, before) in self.aqms.iter_mut().zip(*before.aqms) {
            aqm.resume(before);
        }
        self.idle = before.idle;
        for (timer, period) in self.periods.into_iter().enumerate() {
            self.due[timer] = match period {
                _ if period == before.periods[timer] => before.due[timer],
                Some(period) => now + period,
                None => Time::MAX,
            };
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        let mut p = 0.0;
        if self.has_p {
            self.aqms[LONG].signals(|i, value| {
                if i == 0 {
                    p = value;
                }
            });
        }
        visit(0, p);
        visit(1, self.split.share * self.c);
        visit(2, self.split.forecast.as_ref().map_or(0.0, Forecast::demand) * self.c);
        visit(3, self.split.forecast.as_ref().map_or(0.0, Forecast::rate) * self.c);
        let (began, turned) = self.classifier.counts();
        visit(4, began as f64);
        visit(5, turned as f64);
    }
}

#[cfg(test)]
mod tests;
