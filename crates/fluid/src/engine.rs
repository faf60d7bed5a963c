//! The equations and their integration.
//!
//! For each class of N flows with the window w, with R = Tp + q/C the round trip, b packets per ACK, and the index R
//! for values one round trip ago:
//!
//! ```text
//! w' = s ln(1 + 1/b) w/R + (1 - s) a(p_R)/(b R) - (2/3) w n e/R_R + (w0 - w) J/N,   e = min(10, w_R p_R)
//! s' = -s n e/R_R + (1 - s) J/N
//! q' = (1 - p_o)(1 - p)(sum of N w/R + load) - C
//! ```
//!
//! e is the number of losses per round trip; after several of them the window ends in a time-out, so more than ten have no
//! further effect. s is the share of the flows without a loss so far, which are in slow start; J is the number of flows that
//! join per second, each with the window w0; n = min(1, N_R/N) exempts flows that were not present one round trip ago. p_o is
//! the share that the full buffer refuses, and the loss ratio of the flows is 1 - (1 - p)(1 - p_o). A loss takes 2/3 of the
//! mean window, because the window of a sawtooth is then at 4/3 of its mean.
//!
//! By the square-root law a = 1, and with s = 0, J = 0, b = 1 and e < 10 this is equation (4) of the LRED paper,
//! w' = 1/R - w w_R p_R / (1.5 R_R). With b = 2 a window grows half as fast and shrinks equally fast; equation (4)
//! then has the same equilibrium and reaches it twice as fast. By Padhye's law a flow does not grow while it waits for a
//! time-out: a is the square of the ratio of Padhye's approximate rate to the square-root law's, so that the equilibrium
//! is Padhye's.
//!
//! Steps are of fourth order (Runge-Kutta) and end at every instant at which a timer expires, flows come or go, or a bin of
//! the series ends. The step is at most a quarter of the shortest round trip, so that delayed values have always been
//! computed, and ten losses per round trip do not make the method unstable.

mod start;

use crate::history::{History, Interval};
use crate::law::{FLOWING, Instant, Rule, SIGNALS, Tally};
use crate::measure::{Ends, Measure};
use crate::model::Model;
use crate::options::{Options, TcpLaw};
use crate::population::Population;
use crate::state::{ARRIVALS, EARLY, MARKS, OVERFLOW, OWN, QUEUE, SENT, STREAMS};
use aqm::unit::{Span, Time};
use run::{Column, Stopwatch, Watch};
use std::time::Duration;

/// The number of losses per round trip beyond which more have no further effect; it bounds the step.
const RUIN: f64 = 10.0;
/// The work of a step without its classes, as [`Watch`] counts it.
const WORK: usize = 4;

/// The coefficients of a class of flows.
#[derive(Clone, Debug)]
struct Flows {
    population: Population,
    tp: f64,
    /// The round trip, if it is constant.
    constant: Option<f64>,
    /// The size of its packets over the usual size.
    size: f64,
    b: f64,
    slow_start: f64,
    initial: f64,
    greatest: f64,
    ssthresh: f64,
    min_rto: f64,
    /// The share of its packets that survive the path before the queue, and after it.
    kept: [f64; 2],
    marked: bool,
}

/// Traffic at a given rate.
#[derive(Clone, Debug)]
struct Stream {
    population: Population,
    /// Packets per second at the queue, for each member of the population.
    each: f64,
    marked: bool,
}

/// The state of a class's flows at one time.
#[derive(Clone, Copy, Default, Debug)]
struct Seen {
    present: f64,
    joining: f64,
    rtt: f64,
}

/// The rates at one instant.
#[derive(Clone, Copy, Default, Debug)]
struct Rates {
    /// Dropped or marked early.
    early: f64,
    /// The share of the offered packets that the full buffer refuses.
    refused: f64,
    /// The loss ratio of the flows.
    p: f64,
    arriving: f64,
}

/// A run of the equations.
#[derive(Debug)]
pub struct Fluid {
    model: Model,
    options: Options,
    rule: Rule,
    flows: Vec<Flows>,
    streams: Vec<Stream>,
    capacity: f64,
    buffer: f64,
    /// The longest step, s.
    step: f64,
    now: Time,
    end: Time,
    timer: Time,
    /// The next time to notify the law of a full buffer or an idle link.
    watch: Time,
    /// The times at which populations change their course.
    turns: Vec<Time>,
    rate_change: Time,
    /// The sums at the timer's last instant.
    at_timer: Tally,
    state: Vec<f64>,
    slopes: [Vec<f64>; 4],
    trial: Vec<f64>,
    seen: Vec<Seen>,
    /// The window of each class and its slope at the start of the step.
    before: Vec<[f64; 2]>,
    history: History,
    measure: Measure,
    /// The packets of each class that the queue had accepted by the end of the warm-up.
    at_warmup: Vec<f64>,
    steps: u64,
    cpu: Duration,
    watched: Watch,
}

impl Fluid {
    /// The time reached.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The same run, with a watch that can stop it.
    #[must_use]
    pub fn watched(self, watch: Watch) -> Self {
        Self { watched: watch, ..self }
    }

    /// Whether the watch has stopped the run.
    #[must_use]
    pub const fn has_stopped(&self) -> bool {
        self.watched.has_stopped()
    }

    /// Whether the run is over.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.now >= self.end
    }

    /// The model.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// The longest step, s.
    #[must_use]
    pub const fn step(&self) -> f64 {
        self.step
    }

    /// The queue in packets.
    #[must_use]
    pub fn queue(&self) -> f64 {
        self.state[QUEUE]
    }

    /// The window of each class in packets.
    pub fn windows(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.flows.len()).map(|class| self.state[STREAMS + 4 * class])
    }

    /// The share of the arrivals that are dropped now, early or by overflow.
    pub fn loss(&mut self) -> f64 {
        self.derive(0, self.now.secs()).p
    }

    pub(crate) const fn measure(&self) -> &Measure {
        &self.measure
    }

    pub(crate) fn state(&self) -> &[f64] {
        &self.state
    }

    pub(crate) const fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) const fn cpu(&self) -> Duration {
        self.cpu
    }

    /// The packets of each class that the queue accepted since the end of the warm-up, in packets of the usual size.
    pub(crate) fn accepted_by_class(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.flows.len()).map(|class| self.state[STREAMS + 4 * class + 3] - self.at_warmup[class])
    }

    /// The recorded series, once; none if none were recorded.
    pub fn take_columns(&mut self) -> Vec<Column> {
        self.measure.take_columns(&self.model)
    }

    /// Packets so far: arrived, dropped early, marked, refused, sent.
    #[must_use]
    pub fn sums(&self) -> [f64; 5] {
        [ARRIVALS, EARLY, MARKS, OVERFLOW, SENT].map(|i| self.state[i])
    }

    /// Advances to the first event at or after `until`, unless the watch stops the run. The results do not depend on the
    /// number of calls.
    pub fn advance(&mut self, until: Time) {
        let started = Stopwatch::start();
        while self.now < until && self.now < self.end && !self.has_stopped() {
            self.advance_to(self.next());
        }
        self.cpu += started.elapsed();
    }

    /// The time of the next event.
    fn next(&self) -> Time {
        let turn = self.turns.last().copied().unwrap_or(Time::MAX);
        let own = [self.timer, self.watch, turn, self.rate_change, self.measure.due(), self.end];
        own.into_iter().min().unwrap_or(self.end)
    }

    /// Integrates up to `next`, and handles the events at that time.
    fn advance_to(&mut self, next: Time) {
        let length = (next - self.now).secs();
        let steps = ((length / self.step - 1e-9).ceil() as u64).max(1);
        let (start, h) = (self.now.secs(), length / steps as f64);
        // The slope is computed again at the start: the event may have changed it since the end of the last step.
        let mut rates = self.derive(0, start);
        for step in 0..steps {
            rates = self.integrate(start + step as f64 * h, h, rates);
            let at = if step + 1 == steps { next } else { self.now + Span::from_secs(h * (step + 1) as f64) };
            self.watch(at);
            self.watched.reach(at);
            if !self.watched.goes_on(WORK + self.flows.len() + self.streams.len()) {
                return;
            }
        }
        self.steps += steps;
        self.now = next;
        if next >= self.timer {
            self.on_timer();
        }
        if self.turns.last().is_some_and(|&turn| next >= turn) {
            self.turns.pop();
        }
        if next >= self.rate_change {
            let link = &self.model.scenario.links[self.model.scenario.observed];
            let now = Span::ns(next.nanos());
            self.capacity = link.rate_at(now).packets(self.model.port.packet);
            self.rate_change = link.next_change(now).map_or(Time::MAX, |at| Time::ZERO + at);
        }
        if self.measure.ends_warmup(next) {
            for (class, accepted) in self.at_warmup.iter_mut().enumerate() {
                *accepted = self.state[STREAMS + 4 * class + 3];
            }
        }
        self.measure.on_event(next, &self.state);
    }

    fn on_timer(&mut self) {
        let sums = self.tally();
        let then = std::mem::replace(&mut self.at_timer, sums);
        let tally = Tally {
            arrivals: sums.arrivals - then.arrivals,
            early: sums.early - then.early,
            marks: sums.marks - then.marks,
            overflow: sums.overflow - then.overflow,
        };
        let now = self.instant();
        let (t, c, most) = (self.now.secs(), self.capacity, self.buffer / self.capacity);
        let Self { rule, history, .. } = self;
        rule.on_period(&now, &tally, c, || history.sojourn(t, c, most));
        self.timer += self.rule.period().expect("a timer has a period");
    }

    fn tally(&self) -> Tally {
        let [arrivals, early, marks, overflow, _] = self.sums();
        Tally { arrivals, early, marks, overflow }
    }

    fn instant(&self) -> Instant {
        let own = std::array::from_fn(|i| self.state[OWN + i]);
        Instant { q: self.state[QUEUE], arriving: 0.0, own }
    }

    /// Notifies the law of a full buffer and an idle link.
    fn watch(&mut self, at: Time) {
        let slope = &self.slopes[0];
        let full = slope[OVERFLOW] > 0.0;
        let idle = self.state[QUEUE] <= 0.0 && slope[SENT] < self.capacity;
        self.watch = self.rule.watch(at, self.state[QUEUE], full, idle).unwrap_or(Time::MAX);
    }

    /// The slopes of the state, or for a later stage of the trial, into slot `stage`.
    fn derive(&mut self, stage: usize, t: f64) -> Rates {
        let Self { flows, streams, seen, rule, options, history, slopes, state, trial, .. } = self;
        let y: &[f64] = if stage == 0 { state } else { trial };
        let slope = &mut slopes[stage];
        let (c, buffer) = (self.capacity, self.buffer);
        let q = y[QUEUE].clamp(0.0, buffer);
        let (mut arriving, mut marked) = (0.0, 0.0);
        for ((class, flows), seen) in flows.iter().enumerate().zip(seen.iter_mut()) {
            let (present, joining) = flows.population.at(t);
            let rtt = flows.constant.unwrap_or(flows.tp + q / c);
            *seen = Seen { present, joining, rtt };
            let window = y[STREAMS + 4 * class].max(0.0);
            let arrives = present * window / rtt * flows.size * flows.kept[0];
            slope[STREAMS + 4 * class + 2] = arrives;
            arriving += arrives;
            marked += if flows.marked { arrives } else { 0.0 };
        }
        let after = STREAMS + 4 * flows.len();
        for (number, stream) in streams.iter().enumerate() {
            let arrives = stream.population.at(t).0 * stream.each;
            slope[after + 2 * number] = arrives;
            arriving += arrives;
            marked += if stream.marked { arrives } else { 0.0 };
        }
        let mut own: [f64; FLOWING] = std::array::from_fn(|i| y[OWN + i]);
        rule.clip(&mut own);
        let now = Instant { q, arriving, own };
        let p = rule.p(&now);
        let spared = (1.0 - p) * (arriving - marked) + marked;
        let passed = if options.thinned { spared } else { arriving };
        let net = passed - c;
        let refused = if q >= buffer && net > 0.0 { net / passed } else { 0.0 };
        let rests = q <= 0.0 && net < 0.0;
        slope[QUEUE] = if rests || refused > 0.0 { 0.0 } else { net };
        slope[ARRIVALS] = arriving;
        slope[EARLY] = p * arriving;
        slope[MARKS] = p * marked;
        // A packet that was dropped early is not counted again, even where it does not leave the queue's arrivals.
        slope[OVERFLOW] = refused * spared;
        slope[SENT] = if rests { passed } else { c };
        let idle = if rests { 1.0 - passed / c } else { 0.0 };
        let own = rule.flow(&now, p, slope[QUEUE], idle);
        slope[OWN..OWN + FLOWING].copy_from_slice(&own);
        let total = 1.0 - (1.0 - p) * (1.0 - refused);
        let accepted = [(1.0 - p) * (1.0 - refused), 1.0 - refused];
        for (class, flows) in flows.iter().enumerate() {
            let at = STREAMS + 4 * class;
            let spared = flows.marked || !options.thinned;
            slope[at + 3] = slope[at + 2] * accepted[usize::from(spared)];
            let Seen { present, joining, rtt } = seen[class];
            let (window, slow) = (y[at].max(0.0), y[at + 1].clamp(0.0, 1.0));
            if present <= 0.0 {
                (slope[at], slope[at + 1]) = (0.0, 0.0);
                continue;
            }
            let past = history.look(class, t - rtt);
            let then = flows.constant.unwrap_or(flows.tp + past.q.clamp(0.0, buffer) / past.capacity);
            let p = 1.0 - (1.0 - past.p) * flows.kept[0] * flows.kept[1];
            let (before, _) = flows.population.at(t - rtt);
            let there = if before < present { before / present } else { 1.0 };
            let (window_then, round) = if options.merged { (window, rtt) } else { (past.w.max(0.0), then) };
            let losses = (window_then * p).min(RUIN) * there / round;
            let grows = awake(p, flows, then, options.tcp);
            let steady = grows / flows.b;
            let grows = if slow > 0.0 && window < flows.ssthresh {
                slow * flows.slow_start * window + (1.0 - slow) * steady
            } else {
                steady
            };
            let joins = joining / present;
            let moves = grows / rtt - window * losses / 1.5 + (flows.initial - window) * joins;
            slope[at] = if window >= flows.greatest { moves.min(0.0) } else { moves };
            slope[at + 1] = if flows.slow_start > 0.0 { (1.0 - slow) * joins - slow * losses } else { 0.0 };
        }
        for (number, stream) in streams.iter().enumerate() {
            let at = after + 2 * number;
            let spared = stream.marked || !options.thinned;
            slope[at + 1] = slope[at] * accepted[usize::from(spared)];
        }
        Rates { early: p, refused, p: total, arriving }
    }

    /// One step of length `h` from `t`, at which the given rates and the slopes in the first slot hold; returns the rates at
    /// its end.
    fn integrate(&mut self, t: f64, h: f64, start: Rates) -> Rates {
        let begin = self.ends(start);
        for (class, before) in self.before.iter_mut().enumerate() {
            let at = STREAMS + 4 * class;
            *before = [self.state[at], self.slopes[0][at]];
        }
        let (dq, own) = (self.slopes[0][QUEUE], self.instant().own);
        let down: [f64; FLOWING] = std::array::from_fn(|i| self.slopes[0][OWN + i]);
        // A change at the end of the step does not affect it.
        let last = t + h * (1.0 - 1e-9);
        for (stage, part, at) in [(1, 0.5, t + 0.5 * h), (2, 0.5, t + 0.5 * h), (3, 1.0, last)] {
            let slope = &self.slopes[stage - 1];
            for ((trial, y), slope) in self.trial.iter_mut().zip(&self.state).zip(slope) {
                *trial = y + part * h * slope;
            }
            self.derive(stage, at);
        }
        let [a, b, c, d] = &self.slopes;
        for (i, y) in self.state.iter_mut().enumerate() {
            *y += h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]);
        }
        self.settle();
        let rates = self.derive(0, last);
        let end = self.ends(rates);
        // The middle, by cubics: the stages' middles are not as good.
        let slope = &self.slopes[0];
        let half = |[a, b]: [f64; 2], [da, db]: [f64; 2]| f64::midpoint(a, b) + h / 8.0 * (da - db);
        let q = half([begin.q, end.q], [dq, slope[QUEUE]]).clamp(0.0, self.buffer);
        let mut own = std::array::from_fn(|i| half([own[i], self.state[OWN + i]], [down[i], slope[OWN + i]]));
        self.rule.clip(&mut own);
        let ends_slope = slope[QUEUE];
        let middle = if start.refused > 0.0 || rates.refused > 0.0 {
            self.trial.copy_from_slice(&self.state);
            self.trial[QUEUE] = q;
            self.trial[OWN..OWN + FLOWING].copy_from_slice(&own);
            for (class, &[w, dw]) in self.before.iter().enumerate() {
                let at = STREAMS + 4 * class;
                self.trial[at] = half([w, self.state[at]], [dw, slope[at]]);
            }
            self.derive(1, t + 0.5 * h).p
        } else {
            let arriving = f64::midpoint(start.arriving, rates.arriving);
            self.rule.p(&Instant { q, arriving, own })
        };
        let interval = Interval {
            t: [t, t + h],
            q: [begin.q, end.q],
            dq: [dq, ends_slope],
            p: [start.p, middle, rates.p],
            capacity: self.capacity,
        };
        let (before, state, slope) = (&self.before, &self.state, &self.slopes[0]);
        self.history.push(&interval, |class| {
            let at = STREAMS + 4 * class;
            let [w, dw] = before[class];
            [w, state[at], dw, slope[at]]
        });
        self.measure.on_step(h, self.capacity, &begin, q, &end, slope[SENT]);
        rates
    }

    /// The measured values at one end of a step.
    fn ends(&self, rates: Rates) -> Ends {
        let mut ends = Ends { q: self.state[QUEUE], signals: [0.0; SIGNALS] };
        let now = Instant { arriving: rates.arriving, ..self.instant() };
        self.rule.signals(&now, rates.early, &mut ends.signals);
        ends
    }

    /// Restores the bounds that a step has exceeded. An excess in the queue was refused, and a deficit was not sent.
    fn settle(&mut self) {
        let q = self.state[QUEUE];
        let within = q.clamp(0.0, self.buffer);
        self.state[QUEUE] = within;
        if q > within {
            self.state[OVERFLOW] += q - within;
        } else {
            self.state[SENT] -= within - q;
        }
        let mut own = self.instant().own;
        self.rule.clip(&mut own);
        self.state[OWN..OWN + FLOWING].copy_from_slice(&own);
        for (class, flows) in self.flows.iter().enumerate() {
            let at = STREAMS + 4 * class;
            self.state[at] = self.state[at].clamp(0.0, flows.greatest);
            self.state[at + 1] = self.state[at + 1].clamp(0.0, 1.0);
        }
    }
}

/// The share of the time in which a flow with the loss ratio `p` does not wait for a time-out: the factor from the
/// square-root law's window to Padhye's.
#[inline]
fn awake(p: f64, flows: &Flows, rtt: f64, law: TcpLaw) -> f64 {
    if law == TcpLaw::SquareRoot || p <= 0.0 {
        return 1.0;
    }
    let smooth = (2.0 * flows.b * p / 3.0).sqrt();
    // The first time-out is at least a round trip.
    let late = flows.min_rto.max(rtt) / rtt;
    let times_out = (3.0 * (0.375 * flows.b * p).sqrt()).min(1.0);
    let part = smooth / (smooth + late * times_out * p * (1.0 + 32.0 * p * p));
    part * part
}
