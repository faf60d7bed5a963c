//! A run in which an agent controls the observed queue: at intervals it sets the probability with which arrivals are
//! dropped or marked, and learns what happened since.

use super::Simulation;
use crate::measure::delays::Delays;
use aqm::params::{ParamKind, Range, Value};
use aqm::queue::Counts;
use aqm::unit::{Span, Time};
use aqm::user_defined::{Declaration, Instance, Maker, OneQueue, Params, Plain, spec};
use aqm::{AnyParams, Backlog, Packet, Port, Signal, Uniform, Verdict};
use run::Results;
use scenario::Scenario;
use std::sync::LazyLock;

/// What an agent does to the packets that it selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    /// It drops them.
    Drops,
    /// It marks them with CE, and drops those that are not ECN-capable.
    Marks,
}

/// A quantity that is measured in each interval, or a component of the observation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quantity {
    /// Its name.
    pub name: &'static str,
    /// Its unit, empty for none.
    pub unit: &'static str,
    /// Its definition, in one line.
    pub doc: &'static str,
    /// The range of its values.
    pub range: [f64; 2],
}

const fn quantity(name: &'static str, unit: &'static str, doc: &'static str, high: f64) -> Quantity {
    Quantity { name, unit, doc, range: [0.0, high] }
}

const ANY: f64 = f64::INFINITY;

/// The observed link in one interval. An event exactly at the end of an interval belongs to it.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Interval {
    time: f64,
    p: f64,
    queue: f64,
    queue_bytes: f64,
    queue_mean: f64,
    delay: f64,
    drain: f64,
    rate: f64,
    utilisation: f64,
    arrivals: f64,
    departures: f64,
    departed_bytes: f64,
    drops_early: f64,
    drops_overflow: f64,
    marks: f64,
    /// The change of `drain`.
    change: f64,
}

/// The delay that is 1 in an observation, in s.
const DELAY_UNIT: f64 = 0.1;
/// The largest delay in an observation, in that unit.
const LONGEST: f64 = 10.0;

impl Interval {
    /// What [`Interval::measured`] returns, in its order.
    pub const MEASURED: [Quantity; 15] = [
        quantity("time", "s", "end of the interval", ANY),
        quantity("p", "", "probability of a drop or a mark in it; 0 if a discipline decides", 1.0),
        quantity("queue", "packets", "waiting packets at its end", ANY),
        quantity("queue_bytes", "bytes", "waiting bytes at its end", ANY),
        quantity("queue_mean", "packets", "waiting packets, the mean over time", ANY),
        quantity(
            "delay",
            "s",
            "mean wait of the packets whose transmission began; if none, 0 if the queue is empty, otherwise as before",
            ANY,
        ),
        quantity("drain", "s", "time to send the bytes that wait at its end, at the rate then", ANY),
        quantity("rate", "bit/s", "rate of the link, the mean over time", ANY),
        quantity("utilisation", "", "bits sent over the bits that the link could have sent", ANY),
        quantity("arrivals", "packets", "packets that came to the queue", ANY),
        quantity("departures", "packets", "packets whose transmission began", ANY),
        quantity(
            "departed_bytes",
            "bytes",
            "their bytes on the link, of a half-duplex link those that were sent",
            ANY,
        ),
        quantity("drops_early", "packets", "packets that the agent or the discipline dropped", ANY),
        quantity("drops_overflow", "packets", "packets dropped because the buffer was full", ANY),
        quantity("marks", "packets", "packets marked with CE", ANY),
    ];

    /// The components of [`Interval::observation`], in its order.
    pub const OBSERVED: [Quantity; 8] = [
        quantity("delay", "100 ms", "`delay`", LONGEST),
        quantity("drain", "100 ms", "`drain`", LONGEST),
        Quantity {
            name: "change",
            unit: "100 ms",
            doc: "`drain` minus its value one interval before",
            range: [-LONGEST, LONGEST],
        },
        quantity("utilisation", "", "`utilisation`", 1.0),
        quantity("early", "", "`drops_early` / `arrivals`; 0 without arrivals", 1.0),
        quantity("overflow", "", "`drops_overflow` / `arrivals`; 0 without arrivals", 1.0),
        quantity("marked", "", "`marks` / `arrivals`; 0 without arrivals", 1.0),
        quantity("action", "", "the action that was in force: the square root of `p`", 1.0),
    ];

    /// The measurements, as [`Interval::MEASURED`] describes them.
    #[must_use]
    pub const fn measured(&self) -> [f64; 15] {
        [
            self.time,
            self.p,
            self.queue,
            self.queue_bytes,
            self.queue_mean,
            self.delay,
            self.drain,
            self.rate,
            self.utilisation,
            self.arrivals,
            self.departures,
            self.departed_bytes,
            self.drops_early,
            self.drops_overflow,
            self.marks,
        ]
    }

    /// What the agent sees: the same without dimensions and in bounds, as [`Interval::OBSERVED`] describes it.
    #[must_use]
    pub fn observation(&self) -> [f32; 8] {
        let of_arrivals = |packets: f64| packets / self.arrivals.max(1.0);
        let values = [
            self.delay / DELAY_UNIT,
            self.drain / DELAY_UNIT,
            self.change / DELAY_UNIT,
            self.utilisation,
            of_arrivals(self.drops_early),
            of_arrivals(self.drops_overflow),
            of_arrivals(self.marks),
            self.p.sqrt(),
        ];
        let mut bounded = [0.0; 8];
        for ((bounded, value), Quantity { range: [low, high], .. }) in
            bounded.iter_mut().zip(values).zip(Self::OBSERVED)
        {
            *bounded = value.clamp(low, high) as f32;
        }
        bounded
    }
}

/// A run whose observed queue an agent controls or, so that it is measured in the same way, a discipline.
#[derive(Debug)]
pub struct Control {
    run: Simulation<()>,
    steered: bool,
    before: Counters,
    last: Interval,
}

/// The counters of the observed link since the start of the run.
#[derive(Clone, Copy, Default, Debug)]
struct Counters {
    time: Time,
    counts: Counts,
    /// In packet nanoseconds; only differences count.
    area: u64,
    waited_ns: u128,
    /// Bits of the packet in transmission that are still to be sent.
    unsent: f64,
}

impl Control {
    /// A run at its start. Without an agent, the scenario's own discipline decides.
    #[must_use]
    pub fn new(mut scenario: Scenario, seed: u64, agent: Option<Agent>) -> Self {
        if let Some(agent) = agent {
            let mut params = Params::of(&STEERED);
            params.set(MARKS, &Value::Bool(agent == Agent::Marks)).expect("its own parameter");
            scenario.links[scenario.observed].aqm = Some(AnyParams::UserDefined(params));
            STEERED.name.clone_into(&mut scenario.discipline);
        }
        // A queue that works ahead would be beyond the end of an interval when the run is there. Under an agent none does.
        let set_up = if agent.is_some() { Simulation::new } else { Simulation::step_by_step };
        let run = set_up(scenario, seed, ());
        let (before, last) = (Counters::default(), Interval::default());
        Self { run, steered: agent.is_some(), before, last }
    }

    /// Whether the run is over.
    #[must_use]
    pub const fn finished(&self) -> bool {
        self.run.finished()
    }

    /// The results of a run that is over.
    ///
    /// # Panics
    /// If it is not over.
    #[must_use]
    pub fn results(&self) -> Results {
        self.run.results()
    }

    /// Lets the probability be `p` for an interval, at most to the end of the run, and returns what happened.
    pub fn step(&mut self, p: f64, interval: Span) -> Interval {
        let p = if self.steered { p } else { 0.0 };
        let observed = self.run.scenario.observed;
        let queue = self.run.network.links[observed].aqm_queue.as_deref_mut();
        queue.expect("a checked scenario observes a measured link").queue.steer(p);
        let end = (self.before.time + interval).min(self.run.end());
        self.run.advance(end);
        let (before, now) = (self.before, self.counters(end));
        let measured = &self.run.network.links[observed];
        let queue = &measured.aqm_queue.as_deref().expect("as before").queue;
        let counts = now.counts.since(&before.counts);
        let seconds = now.time.since(before.time).secs();
        let [from, to] = [before, now].map(|counters| counters.time - Time::ZERO);
        let capacity = self.run.scenario.links[observed].capacity(from, to);
        let sent = counts.departed_bytes as f64 * 8.0 + before.unsent - now.unsent;
        let rate = measured.transmitter.rate.bits();
        let bytes = queue.backlog(0).bytes as f64;
        let drain = if rate > 0.0 { bytes * 8.0 / rate } else { 0.0 };
        let delay = match counts.departures {
            0 if queue.is_empty() => 0.0,
            0 => self.last.delay,
            departures => (now.waited_ns - before.waited_ns) as f64 * 1e-9 / departures as f64,
        };
        self.last = Interval {
            time: now.time.secs(),
            p,
            queue: queue.len() as f64,
            queue_bytes: bytes,
            queue_mean: now.area.wrapping_sub(before.area) as f64 * 1e-9 / seconds,
            delay,
            drain,
            rate: capacity / seconds,
            utilisation: if capacity > 0.0 { sent / capacity } else { 0.0 },
            arrivals: counts.arrivals as f64,
            departures: counts.departures as f64,
            departed_bytes: counts.departed_bytes as f64,
            drops_early: counts.drops_early as f64,
            drops_overflow: counts.drops_overflow as f64,
            marks: counts.marks as f64,
            change: drain - self.last.drain,
        };
        self.before = now;
        self.last
    }

    /// The counters at `time`, which the run has reached.
    fn counters(&self, time: Time) -> Counters {
        let link = &self.run.network.links[self.run.scenario.observed];
        let aqm_queue = link.aqm_queue.as_deref().expect("a checked scenario observes a measured link");
        Counters {
            time,
            counts: aqm_queue.counts(),
            area: aqm_queue.occupancy.area_until(time),
            waited_ns: aqm_queue.delays.iter().map(Delays::total_ns).sum(),
            // That of a link that shares its medium is not among the bytes that have departed.
            unsent: if !aqm_queue.holds() { aqm_queue.unsent(time, &link.transmitter) } else { 0.0 },
        }
    }
}

/// The parameter of the algorithm that an agent steers: whether it marks.
const MARKS: &str = "marks";

const SWITCH: (ParamKind, &str) = (ParamKind::Switch, "");

/// The algorithm that an agent steers. It is not declared final, because a queue that works ahead would decide with the
/// probability of the interval before.
static STEERED: LazyLock<Declaration> = LazyLock::new(|| Declaration {
    name: "agent",
    source: "",
    doc: "Selects arrivals with the probability that an agent has set.",
    specs: Box::leak(Box::new([spec(MARKS, "Mark", "", &[], SWITCH, Value::Bool(false), Range::ANY)])),
    kind: OneQueue {
        signals: &[Signal { name: "p", unit: "", doc: "probability that the agent has set" }],
        period: None,
        is_final: false,
        maker: Box::new(Made),
    },
});

#[derive(Debug)]
struct Made;

impl Maker for Made {
    fn make(&'static self, values: &[Plain], _: &Port) -> Box<dyn Instance> {
        Box::new(Steered { p: 0.0, marks: values == [Plain::Switch(true)] })
    }
}

#[derive(Clone, Copy, Debug)]
struct Steered {
    p: f64,
    marks: bool,
}

impl Instance for Steered {
    fn on_enqueue(&mut self, _: Time, packet: &Packet, _: &Backlog, rng: &mut dyn Uniform) -> Verdict {
        if rng.happens(self.p) { Verdict::signal(self.marks && packet.ect) } else { Verdict::Pass }
    }

    fn on_dequeue(&mut self, _: Time, _: &Packet, _: &Backlog, _: Span, _: &mut dyn Uniform) -> Verdict {
        Verdict::Pass
    }

    fn on_overflow(&mut self, _: Time) {}

    fn on_idle(&mut self, _: Time) {}

    fn on_period(&mut self, _: Time, _: &Backlog) {}

    fn signals(&self, visit: &mut dyn FnMut(usize, f64)) {
        visit(0, self.p);
    }

    fn steer(&mut self, value: f64) {
        self.p = value;
    }

    fn copy(&self) -> Box<dyn Instance> {
        Box::new(*self)
    }
}
