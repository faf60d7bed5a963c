//! Disciplines around others: a shaper, a policer, and those that serve classes.
//!
//! A [`Scheduler`] chooses which of the disciplines inside it is served, and when; [`Composite`] makes a discipline of
//! it. Each discipline inside has lanes and a limit of its own.

mod inside;
mod takes;

use crate::aqm::AnyParams;
use crate::contract::{Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Eviction, Label, Lane};
use crate::params::{ParamError, Params};
use crate::unit::{Limit, Rate, Span, Time};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
pub(crate) use inside::Inside;
pub use takes::Leaf;
use takes::Places;
pub(crate) use takes::Takes;

/// The first signal of each.
pub(crate) const P: Signal = Signal {
    name: "p",
    unit: "",
    doc: "Drop probability of the discipline inside that the last arrival came to, if it has one.",
};

/// A discipline inside, as the parameters of the outer one describe it.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// What the parameter is called.
    pub(crate) name: String,
    pub(crate) aqm: &'a AnyParams,
    /// Its limit; `None` is that of the outer one.
    pub(crate) limit: Option<Limit>,
    /// The rate at which it is served at most, whatever the link's is.
    pub(crate) most: Option<Rate>,
    pub(crate) takes: Takes,
}

impl<'a> Part<'a> {
    /// The class called `name`.
    pub(crate) fn class(name: &str, leaf: &'a Leaf, most: Option<Rate>) -> Self {
        let name = format!("classes.{name}.aqm");
        Self { name, aqm: &leaf.aqm.0, limit: leaf.limit, most, takes: leaf.takes() }
    }

    fn port(&self, port: &Port) -> Port {
        let rate = self.most.map_or(port.rate, |most| most.min(port.rate));
        Port { limit: self.limit.unwrap_or(port.limit), rate, ..*port }
    }
}

/// What makes a discipline around others of one kind differ from those of another.
pub trait Scheduler: Clone + core::fmt::Debug {
    type Params: Params;
    /// [`P`] first.
    const SIGNALS: &'static [Signal];
    const PRESETS: &'static [(&'static str, &'static str)] = &[];
    /// Whether a discipline inside that is empty is asked for a packet, from which it learns that it is.
    const ASKS_EMPTY: bool = true;

    fn preset(_name: &str) -> Option<Self::Params> {
        None
    }

    fn check(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }

    fn check_on(_params: &Self::Params, _port: &Port) -> Result<(), ParamError> {
        Ok(())
    }

    /// The disciplines inside, in order; at least one.
    fn parts<'a>(params: &'a Self::Params, port: &Port) -> Vec<Part<'a>>;

    fn new(params: &Self::Params, port: &Port) -> Self;

    /// Decides on an arrival before it comes to a discipline inside.
    fn admit(&mut self, _now: Time, _packet: &Packet) -> Verdict {
        Verdict::Pass
    }

    /// A packet waits in this part, and no other does if the part was empty.
    fn on_join(&mut self, _part: usize, _was_empty: bool) {}

    /// Chooses the part that is served; if none is, it calls [`Parts::wait`].
    fn choose(&mut self, now: Time, parts: &mut Parts, lanes: &[Lane]) -> Option<Served>;

    /// A packet of this size leaves from a part, which no longer has it.
    fn on_sent(&mut self, _now: Time, _part: usize, _size: u32, _parts: &Parts) {}

    fn is_peekable(&self, _parts: &Parts) -> bool {
        false
    }

    fn peek(&self, _parts: &Parts, _lanes: &[Lane]) -> Option<u32> {
        None
    }

    fn can_resume(&self, _before: &Self) -> bool {
        true
    }

    fn resume(&mut self, now: Time, before: Self);

    fn counters(&self, _visit: &mut dyn FnMut(&str, Reading)) {}

    /// Those after [`P`].
    fn signals(&self, _visit: impl FnMut(usize, f64)) {}
}

/// The next to be served: a part, and one of its lanes.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    part: usize,
    lane: usize,
}

/// The disciplines inside another one.
#[derive(Clone, Debug)]
pub struct Parts {
    all: Vec<Inside>,
    until: Option<Time>,
}

impl Parts {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Inside> {
        self.all.iter()
    }

    pub(crate) fn get(&self, part: usize) -> &Inside {
        &self.all[part]
    }

    /// Whether this part has a packet that may leave now. If it only has others, it is asked again in time.
    pub(crate) fn can_serve(&mut self, part: usize, now: Time, lanes: &[Lane]) -> bool {
        let can = self.all[part].can_serve(now, lanes);
        if let (false, Some(until)) = (can, self.all[part].paused_until(now)) {
            self.wait(until);
        }
        can
    }

    /// Nothing is sent before `until`, or before an earlier time for which this was called.
    pub(crate) fn wait(&mut self, until: Time) {
        self.until = Some(self.until.map_or(until, |other| other.min(until)));
    }

    pub(crate) fn serve(&mut self, part: usize, now: Time, lanes: &[Lane]) -> Served {
        Served { part, lane: self.all[part].serve(now, lanes, false) }
    }

    /// Serves this part only to learn which packet it sends next.
    pub(crate) fn take_out(&mut self, part: usize, now: Time, lanes: &[Lane]) -> Served {
        Served { part, lane: self.all[part].serve(now, lanes, true) }
    }

    /// This part has been asked for a packet.
    pub(crate) fn rest(&mut self, part: usize, now: Time) {
        self.all[part].rest(now);
    }
}

/// A discipline around others.
#[derive(Clone, Debug)]
pub struct Composite<S> {
    scheduler: S,
    parts: Parts,
    places: Places,
    label: Label,
    /// The part of the last arrival.
    latest: usize,
    /// The scheduler's verdict on the present arrival; it is asked once.
    admitted: Option<Verdict>,
    served: Option<Served>,
    kept: Option<usize>,
    /// The number of periods so far, and the length of one.
    ticks: u64,
    period: Option<Span>,
}

impl<S> Composite<S> {
    /// The part of an arrival.
    fn place(&self, packet: &Packet) -> usize {
        self.places.of(self.label.dscp, packet.place())
    }

    fn part(&mut self, lane: usize) -> &mut Inside {
        let part = self.owner(lane);
        &mut self.parts.all[part]
    }

    fn owner(&self, lane: usize) -> usize {
        self.parts.all.iter().position(|part| part.has(lane)).expect("each lane has a part")
    }
}

impl<S: Scheduler> Composite<S> {
    fn admit(&mut self, now: Time, packet: &Packet) -> Verdict {
        *self.admitted.get_or_insert_with(|| self.scheduler.admit(now, packet))
    }
}

/// The longest period of which all are multiples.
fn common(periods: impl Iterator<Item = Span>) -> Option<Span> {
    let divisor = |a: Span, b: Span| {
        let (mut a, mut b) = (a.nanos(), b.nanos());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        Span::ns(a)
    };
    periods.reduce(divisor)
}

/// The shortest common period that timers may have.
const LEAST_PERIOD: Span = Span::us(100);

impl<S: Scheduler> Discipline for Composite<S> {
    type Params = S::Params;
    const SIGNALS: &'static [Signal] = S::SIGNALS;
    const PRESETS: &'static [(&'static str, &'static str)] = S::PRESETS;

    fn new(params: &Self::Params, port: &Port) -> Self {
        let described = S::parts(params, port);
        let takes: Vec<Takes> = described.iter().map(|part| part.takes.clone()).collect();
        let mut first = 0;
        let all: Vec<Inside> = described
            .iter()
            .map(|part| {
                let inside = Inside::new(part, port, first);
                first += inside.lanes();
                inside
            })
            .collect();
        Self {
            scheduler: S::new(params, port),
            period: common(all.iter().filter_map(Inside::period)),
            parts: Parts { all, until: None },
            places: Places::new(&takes),
            label: Label::default(),
            latest: 0,
            admitted: None,
            served: None,
            kept: None,
            ticks: 0,
        }
    }

    fn preset(name: &str) -> Option<Self::Params> {
        S::preset(name)
    }

    fn check(params: &Self::Params) -> Result<(), ParamError> {
        S::check(params)
    }

    fn check_on(params: &Self::Params, port: &Port) -> Result<(), ParamError> {
        S::check_on(params, port)?;
        let parts = S::parts(params, port);
        for part in &parts {
            let own = part.aqm.check_on(&part.port(port));
            own.map_err(|error| error.renamed(|name| format!("{}.{name}", part.name)))?;
        }
        let periods = || parts.iter().filter_map(|part| part.aqm.build(&part.port(port)).period());
        match common(periods()) {
            Some(common) if common < LEAST_PERIOD && periods().any(|period| period != common) => {
                let all = periods().map(|period| period.to_string()).collect::<Vec<_>>().join(", ");
                let part = &parts[0].name;
                let allowed =
                    format!("such that the timers, {all}, are multiples of one of at least {LEAST_PERIOD}");
                Err(ParamError::invalid(part, format!("{:?}", parts[0].aqm.name()), allowed))
            }
            _ => Ok(()),
        }
    }

    fn lanes(&self) -> usize {
        self.parts.iter().map(Inside::lanes).sum()
    }

    fn reads_labels(&self) -> bool {
        self.places.reads_dscps() || self.parts.iter().any(Inside::reads_labels)
    }

    fn reads_acks(&self) -> bool {
        self.parts.iter().any(Inside::reads_acks)
    }

    fn set_rate(&mut self, rate: Rate) {
        self.parts.all.iter_mut().for_each(|part| part.set_rate(rate));
    }

    fn on_label(&mut self, label: Label) {
        self.label = label;
        self.parts.all.iter_mut().for_each(|part| part.on_label(label));
    }

    fn has_limits_inside(&self) -> bool {
        true
    }

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        if self.admit(now, packet) == Verdict::Drop {
            return None;
        }
        let part = self.place(packet);
        self.parts.all[part].make_room(now, packet, buffer.full, lanes, rng)
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        self.latest = self.place(packet);
        let before = self.admit(now, packet);
        let part = &mut self.parts.all[self.latest];
        if before == Verdict::Drop {
            return (part.lane(), before);
        }
        let (lane, verdict, waits) = part.on_enqueue(now, packet, buffer.full, lanes, rng);
        let was_empty = part.is_empty();
        if waits {
            // It may be one that can leave at once.
            self.parts.until = None;
            self.scheduler.on_join(self.latest, was_empty);
        }
        let verdict = if verdict == Verdict::Pass && waits { before } else { verdict };
        (lane, verdict)
    }

    fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        if self.admitted.take() == Some(Verdict::Drop) {
            return None;
        }
        self.parts.all[self.latest].evict(now, lanes)
    }

    fn paused_until(&self, now: Time) -> Option<Time> {
        self.parts.until.filter(|until| *until > now)
    }

    fn can_serve(&mut self, now: Time, lanes: &[Lane]) -> bool {
        self.parts.until = None;
        self.served = self.scheduler.choose(now, &mut self.parts, lanes);
        self.served.is_some()
    }

    fn serve(&mut self, _: Time, _: &[Lane]) -> usize {
        let served = self.served.expect("what is served has been chosen");
        self.parts.until = None;
        served.lane
    }

    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        lane: usize,
        packet: &Packet,
        _: &Backlog,
        lanes: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        let Some(Served { part, .. }) = self.served else { unreachable!("what is served has been chosen") };
        let (verdict, kept) = self.parts.all[part].on_dequeue(now, lane, packet, lanes, sojourn, rng);
        self.kept = kept;
        if kept.is_none() && matches!(verdict, Verdict::Pass | Verdict::Mark) {
            self.scheduler.on_sent(now, part, packet.size, &self.parts);
        }
        verdict
    }

    fn kept(&mut self) -> Option<usize> {
        self.kept
    }

    fn joined(&self, lane: usize) -> usize {
        self.parts.all[self.owner(lane)].joined(lane)
    }

    fn is_peekable(&self) -> bool {
        self.scheduler.is_peekable(&self.parts)
    }

    fn peek(&self, lanes: &[Lane]) -> Option<u32> {
        self.scheduler.peek(&self.parts, lanes)
    }

    fn on_idle(&mut self, now: Time) {
        if S::ASKS_EMPTY {
            self.parts.all.iter_mut().for_each(|part| part.rest(now));
        }
    }

    fn period(&self) -> Option<Span> {
        self.period
    }

    fn on_period(&mut self, now: Time, _: &Backlog, lanes: &[Lane]) {
        self.ticks += 1;
        let common = self.period.map_or(1, Span::nanos);
        for part in &mut self.parts.all {
            if part.period().is_some_and(|own| self.ticks.is_multiple_of(own.nanos() / common)) {
                part.on_period(now, lanes);
            }
        }
    }

    fn overfull(&self, lanes: &[Lane]) -> Option<usize> {
        self.parts.iter().find_map(|part| part.overfull(lanes))
    }

    fn on_trim(&mut self, lane: usize, size: u32, lanes: &[Lane]) {
        self.part(lane).on_trim(lane, size, lanes);
    }

    fn can_resume(&self, before: &Self) -> bool {
        let (own, others) = (&self.parts.all, &before.parts.all);
        self.places == before.places
            && own.len() == others.len()
            && own.iter().zip(others).all(|(own, before)| own.can_resume(before))
            && self.scheduler.can_resume(&before.scheduler)
    }

    fn resume(&mut self, now: Time, before: Self) {
        self.scheduler.resume(now, before.scheduler);
        self.ticks = if self.period == before.period { before.ticks } else { 0 };
        (self.label, self.latest, self.served) = (before.label, before.latest, before.served);
        let parts = self.parts.all.iter_mut().zip(before.parts.all);
        parts.for_each(|(own, before)| own.resume(now, before));
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        self.scheduler.counters(visit);
        for (i, part) in self.parts.iter().enumerate() {
            part.counters(&mut |name, reading| visit(&format!("{i}.{name}"), reading));
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.parts.all[self.latest].p());
        self.scheduler.signals(visit);
    }
}
