//! Any algorithm, whether it works on one queue or keeps several, and an algorithm as the parameter of another.

use crate::aqm::{AnyAqm, AnyParams, AnySeveral};
use crate::contract::{Backlog, Packet, Port, Reading, Uniform, Verdict};
use crate::discipline::{Eviction, Label, Lane};
use crate::params::{Field, Kind, Range, Value};
use crate::unit::{Rate, Span, Time};

/// Any algorithm. A link has one, so its size does not matter.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum AnyDiscipline {
    /// An algorithm on one queue, which is lane 0.
    One(AnyAqm),
    /// An algorithm on several queues.
    Several(AnySeveral),
}

impl AnyParams {
    /// The algorithm at its start, on this port.
    #[must_use]
    pub fn build(&self, port: &Port) -> AnyDiscipline {
        let several = || AnyDiscipline::Several(self.on_several_queues(port).expect("it has several queues"));
        self.on_one_queue(port).map_or_else(several, AnyDiscipline::One)
    }

    /// The foreign algorithms among this one and those inside it: reference, and digest of the source.
    #[must_use]
    pub fn foreigners(&self) -> Vec<(&'static str, &'static str)> {
        let own = self.source().map(|source| (self.name(), source));
        let inside = self.values().into_iter().filter_map(|(_, value)| Box::<Self>::read(&value));
        own.into_iter().chain(inside.flat_map(|inside| inside.foreigners())).collect()
    }
}

// Inlined: with one queue, the usual case, there is one `match` over the algorithms per call, and none for some calls.
#[allow(clippy::too_many_arguments)]
impl AnyDiscipline {
    /// Bytes of the algorithm itself, without its memory on the heap.
    #[must_use]
    pub const fn size(&self) -> usize {
        match self {
            Self::One(aqm) => aqm.size(),
            Self::Several(several) => several.size(),
        }
    }

    /// See [`Discipline::lanes`](crate::Discipline::lanes).
    #[must_use]
    pub fn lanes(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Several(several) => several.lanes(),
        }
    }

    /// See [`Discipline::on_enqueue`](crate::Discipline::on_enqueue).
    #[inline(always)]
    pub(crate) fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        match self {
            Self::One(aqm) => (0, aqm.on_enqueue(now, packet, buffer, rng)),
            Self::Several(several) => several.on_enqueue(now, packet, buffer, lanes, rng),
        }
    }

    /// See [`Discipline::make_room`](crate::Discipline::make_room).
    pub(crate) fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        match self {
            Self::One(aqm) => aqm.make_room(now, packet, buffer, rng).map(|place| (0, place)),
            Self::Several(several) => several.make_room(now, packet, buffer, lanes, rng),
        }
    }

    /// See [`Discipline::evict`](crate::Discipline::evict).
    #[inline(always)]
    pub(crate) fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        match self {
            Self::One(_) => None,
            Self::Several(several) => several.evict(now, lanes),
        }
    }

    /// See [`Discipline::reads_labels`](crate::Discipline::reads_labels).
    #[must_use]
    pub fn reads_labels(&self) -> bool {
        matches!(self, Self::Several(several) if several.reads_labels())
    }

    /// See [`Discipline::reads_acks`](crate::Discipline::reads_acks).
    #[must_use]
    pub(crate) fn reads_acks(&self) -> bool {
        matches!(self, Self::Several(several) if several.reads_acks())
    }

    /// See [`Discipline::on_label`](crate::Discipline::on_label).
    pub(crate) fn on_label(&mut self, label: Label) {
        if let Self::Several(several) = self {
            several.on_label(label);
        }
    }

    /// See [`Discipline::paused_until`](crate::Discipline::paused_until).
    #[inline(always)]
    pub(crate) fn paused_until(&self, now: Time) -> Option<Time> {
        match self {
            Self::One(_) => None,
            Self::Several(several) => several.paused_until(now),
        }
    }

    /// See [`Aqm::can_resume`](crate::Aqm::can_resume); false if `before` is another algorithm.
    pub(crate) fn can_resume(&self, before: &Self) -> bool {
        match (self, before) {
            (Self::One(aqm), Self::One(before)) => aqm.can_resume(before),
            (Self::Several(several), Self::Several(before)) => {
                several.lanes() == before.lanes() && several.can_resume(before)
            }
            _ => false,
        }
    }

    /// See [`Aqm::resume`](crate::Aqm::resume) and [`Discipline::resume`](crate::Discipline::resume).
    pub(crate) fn resume(&mut self, now: Time, before: Self) {
        match (self, before) {
            (Self::One(aqm), Self::One(before)) => aqm.resume(before),
            (Self::Several(several), Self::Several(before)) => several.resume(now, before),
            _ => unreachable!("only the same algorithm can resume"),
        }
    }

    /// See [`Discipline::on_trim`](crate::Discipline::on_trim).
    pub(crate) fn on_trim(&mut self, lane: usize, size: u32, lanes: &[Lane]) {
        if let Self::Several(several) = self {
            several.on_trim(lane, size, lanes);
        }
    }

    /// See [`Aqm::counters`](crate::Aqm::counters).
    pub fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        match self {
            Self::One(one) => one.counters(visit),
            Self::Several(several) => several.counters(visit),
        }
    }

    /// See [`Discipline::serve`](crate::Discipline::serve).
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Several(several) => several.serve(now, lanes),
        }
    }

    /// See [`Discipline::on_dequeue`](crate::Discipline::on_dequeue); inlined, so that `state` costs nothing with
    /// algorithms that do not read it.
    #[inline(always)]
    pub(crate) fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        lane: usize,
        state: impl FnOnce() -> (Packet, Backlog),
        lanes: &[Lane],
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        match self {
            Self::One(aqm) => aqm.on_dequeue_of(now, state, sojourn, rng),
            Self::Several(several) => {
                let (packet, buffer) = state();
                several.on_dequeue(now, lane, &packet, &buffer, lanes, sojourn, rng)
            }
        }
    }

    /// See [`Aqm::on_idle`](crate::Aqm::on_idle).
    #[inline]
    pub(crate) fn on_idle(&mut self, now: Time) {
        match self {
            Self::One(aqm) => aqm.on_idle(now),
            Self::Several(several) => several.on_idle(now),
        }
    }

    /// See [`Aqm::is_final`](crate::Aqm::is_final); algorithms on several queues are not final.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::One(aqm) if aqm.is_final())
    }

    /// See [`Aqm::period`](crate::Aqm::period).
    #[must_use]
    pub fn period(&self) -> Option<Span> {
        match self {
            Self::One(aqm) => aqm.period(),
            Self::Several(several) => several.period(),
        }
    }

    /// See [`Discipline::on_period`](crate::Discipline::on_period) and [`Aqm::on_head`](crate::Aqm::on_head).
    pub(crate) fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane], age: Span) {
        match self {
            Self::One(aqm) => {
                aqm.on_head(age);
                aqm.on_period(now, buffer);
            }
            Self::Several(several) => several.on_period(now, buffer, lanes),
        }
    }

    /// See [`Aqm::rests`](crate::Aqm::rests); algorithms on several queues do not rest.
    pub(crate) fn rests(&self, buffer: &Backlog) -> bool {
        matches!(self, Self::One(aqm) if aqm.rests(buffer))
    }

    /// See [`Instance::set_rate`](crate::foreign::Instance::set_rate).
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        match self {
            Self::One(aqm) => aqm.set_rate(rate),
            Self::Several(several) => several.set_rate(rate),
        }
    }

    /// See [`Instance::steer`](crate::foreign::Instance::steer); algorithms that are not foreign ignore the value.
    pub(crate) fn steer(&mut self, value: f64) {
        if let Self::One(AnyAqm::Foreign(running)) = self {
            running.steer(value);
        }
    }

    /// See [`Aqm::signals`](crate::Aqm::signals).
    #[inline]
    pub fn signals(&self, visit: impl FnMut(usize, f64)) {
        match self {
            Self::One(aqm) => aqm.signals(visit),
            Self::Several(several) => several.signals(visit),
        }
    }
}

/// An inner algorithm, for an algorithm that keeps several queues.
impl Field for Box<AnyParams> {
    const KIND: Kind = Kind::Algorithm;

    /// Reads a name, or a table with a name, optionally the digest of a foreign algorithm's source or a preset, and
    /// parameters.
    fn read(value: &Value) -> Option<Self> {
        let found = match value {
            Value::Text(name) => AnyParams::of(name)?,
            Value::Table(entries) => {
                let text = |key: &str| match &entries.iter().find(|(name, _)| name == key)?.1 {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                };
                let (name, source) = (text("name")?, text("source"));
                let mut params = match source {
                    Some(source) => AnyParams::foreign(name, Some(source)).ok()?,
                    None => AnyParams::of(name)?,
                };
                if let Some(preset) = text("preset") {
                    params = params.preset(preset)?;
                }
                let own = |key: &str| !["name", "source", "preset"].contains(&key);
                for (key, value) in entries.iter().filter(|(key, _)| own(key)) {
                    params.set(key, value).ok()?;
                }
                params
            }
            _ => return None,
        };
        (found.has_one_queue() && found.check().is_ok()).then(|| Self::new(found))
    }

    fn value(&self) -> Value {
        let name = ("name".to_owned(), Value::Text(self.name().to_owned()));
        let source = self.source().map(|source| ("source".to_owned(), Value::Text(source.to_owned())));
        let own = self.values().into_iter().map(|(key, value)| (key.to_owned(), value));
        Value::Table(std::iter::once(name).chain(source).chain(own).collect())
    }

    fn within(&self, _: &Range) -> bool {
        true
    }
}
