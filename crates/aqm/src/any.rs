//! Any algorithm, whether it works on one queue or keeps several.

use crate::algorithm::Algorithm;
use crate::aqm::{AnyAqm, AnyParams, AnySeveral};
use crate::contract::{Aqm, Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Eviction, Label, Lane};
use crate::params::{ParamError, Params, Spec, Value};
use crate::unit::{Rate, Span, Time};
use crate::user_defined;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

mod inner;

pub(crate) use inner::Inner;

/// The declarations of the parameters `P`.
fn specs_of<P: Params>(_: &P) -> &'static [Spec] {
    P::specs()
}

/// See also the items of the same names of [`Params`] and [`Aqm`].
impl AnyParams {
    /// The user-defined algorithm of a reference; with a digest, that of the source with this digest.
    ///
    /// # Errors
    /// The reason for which there is no such algorithm.
    pub fn user_defined(name: &str, source: Option<&str>) -> Result<Self, String> {
        user_defined::Params::find(name, source).map(Self::UserDefined)
    }

    /// The digest of its source, if it is user-defined.
    #[must_use]
    pub const fn source(&self) -> Option<&'static str> {
        match self {
            Self::UserDefined(params) => Some(params.declaration().source),
            _ => None,
        }
    }

    /// The user-defined algorithms among this one and those inside it: reference, and digest of the source.
    #[must_use]
    pub fn all_user_defined(&self) -> Vec<(&'static str, &'static str)> {
        let own = self.source().map(|source| (self.name(), source));
        let values = self.values();
        let inside = values.iter().flat_map(|(_, value)| Self::within(value));
        own.into_iter().chain(inside.flat_map(|inside| inside.all_user_defined())).collect()
    }

    /// The algorithm that `value` is, or those in its tables.
    fn within(value: &Value) -> Vec<Self> {
        match (Self::read(value), value) {
            (Some(inside), Value::Table(_)) => vec![inside],
            (_, Value::Table(entries)) => entries.iter().flat_map(|(_, value)| Self::within(value)).collect(),
            _ => Vec::new(),
        }
    }

    /// The declarations of its parameters.
    #[must_use]
    pub fn specs(&self) -> &'static [Spec] {
        of_params!(self, user => user.specs(), A(params) => specs_of(params))
    }

    /// The names and descriptions of its presets.
    #[must_use]
    pub const fn presets(&self) -> &'static [(&'static str, &'static str)] {
        of_params!(self, _ => &[], A(_) => A::PRESETS)
    }

    /// Sets one parameter; see [`Params::set`].
    ///
    /// # Errors
    /// If there is no such parameter, or `value` is not allowed for it.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        of_params!(self, user => user.set(name, value), A(params) => params.set(name, value))
    }

    /// Every parameter with its value.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        of_params!(self, user => user.values(), A(params) => params.values())
    }

    /// Checks that the parameters fit together; see [`Aqm::check`].
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    pub fn check(&self) -> Result<(), ParamError> {
        of_params!(self, _ => Ok(()), A(params) => A::check(params))
    }

    /// Checks that the parameters fit a port; see [`Aqm::check_on`].
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    pub fn check_on(&self, port: &Port) -> Result<(), ParamError> {
        of_params!(self, _ => Ok(()), A(params) => A::check_on(params, port))
    }

    /// The target queue length in packets, if the algorithm has one.
    #[must_use]
    pub fn target(&self) -> Option<f64> {
        of_params!(self, user => user.target(), A(params) => A::target(params))
    }

    /// Its signals.
    #[must_use]
    pub const fn signals(&self) -> &'static [Signal] {
        of_params!(self, user => user.declaration().kind.signals, A(_) => A::SIGNALS)
    }

    /// The algorithm in its initial state, on this port.
    #[must_use]
    pub fn build(&self, port: &Port) -> AnyDiscipline {
        let several = || AnyDiscipline::Several(self.on_several_queues(port).expect("it has several queues"));
        self.on_one_queue(port).map_or_else(several, AnyDiscipline::One)
    }
}

/// The methods mean what those of [`Aqm`] do.
#[allow(missing_docs)]
impl AnyAqm {
    /// Bytes of the algorithm itself, without its memory on the heap.
    #[must_use]
    pub const fn size(&self) -> usize {
        of_aqm!(self, aqm => size_of_val(aqm))
    }

    #[inline]
    pub fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        of_aqm!(self, aqm => aqm.on_enqueue(now, packet, queue, rng))
    }

    #[inline]
    pub fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        self.on_dequeue_of(now, || (*packet, *queue), sojourn, rng)
    }

    /// As `on_dequeue`; inlined, so that `state` costs nothing with algorithms that do not read it.
    #[inline(always)]
    fn on_dequeue_of<R: Uniform>(
        &mut self,
        now: Time,
        state: impl FnOnce() -> (Packet, Backlog),
        sojourn: Span,
        rng: &mut R,
    ) -> Verdict {
        of_aqm!(self, aqm => {
            let (packet, queue) = state();
            aqm.on_dequeue(now, &packet, &queue, sojourn, rng)
        })
    }

    pub fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Option<u32> {
        of_aqm!(self, aqm => aqm.make_room(now, packet, queue, rng))
    }

    pub fn on_overflow(&mut self, now: Time) {
        of_aqm!(self, aqm => aqm.on_overflow(now));
    }

    #[inline]
    pub fn on_idle(&mut self, now: Time) {
        of_aqm!(self, aqm => aqm.on_idle(now));
    }

    fn is_final(&self) -> bool {
        of_aqm!(self, aqm => aqm.is_final())
    }

    fn drops_late(&self) -> bool {
        of_aqm!(self, aqm => aqm.drops_late())
    }

    #[must_use]
    pub fn period(&self) -> Option<Span> {
        of_aqm!(self, aqm => aqm.period())
    }

    pub fn on_head(&mut self, age: Span) {
        of_aqm!(self, aqm => aqm.on_head(age));
    }

    pub fn on_period(&mut self, now: Time, queue: &Backlog) {
        of_aqm!(self, aqm => aqm.on_period(now, queue));
    }

    /// The link has this rate from now on. Only a user-defined algorithm reads it: those here have that of their
    /// [`Port`], as their sources have a configured one.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        if let Self::UserDefined(aqm) = self {
            aqm.set_rate(rate);
        }
    }

    fn rests(&self, queue: &Backlog) -> bool {
        of_aqm!(self, aqm => aqm.rests(queue))
    }

    /// False if `before` is another algorithm.
    pub(crate) fn can_resume(&self, before: &Self) -> bool {
        of_aqm!((self, before), (aqm, before) => aqm.can_resume(before), _ => false)
    }

    pub(crate) fn resume(&mut self, before: Self) {
        of_aqm!((self, before), (aqm, before) => aqm.resume(before), _ => unreachable!("{ONLY_THE_SAME}"));
    }

    pub(crate) fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        of_aqm!(self, aqm => aqm.counters(visit));
    }

    #[inline]
    pub fn signals(&self, visit: impl FnMut(usize, f64)) {
        of_aqm!(self, aqm => aqm.signals(visit));
    }
}

const ONLY_THE_SAME: &str = "only the same algorithm can resume";

/// Any algorithm.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum AnyDiscipline {
    /// An algorithm on one queue, which is lane 0.
    One(AnyAqm),
    /// An algorithm on several queues.
    Several(AnySeveral),
}

/// A call of any algorithm, `$one` on one queue or `$several` on several.
macro_rules! of_discipline {
    ($this:expr, $one:pat => $single:expr, $several:pat => $call:expr) => {
        match $this {
            AnyDiscipline::One($one) => $single,
            AnyDiscipline::Several(several) => of_several!(several, $several => $call),
        }
    };
}

/// The methods mean what those of [`Discipline`] do, or of [`Aqm`] for what only that has.
#[allow(missing_docs)]
impl AnyDiscipline {
    /// Bytes of the algorithm itself, without its memory on the heap.
    #[must_use]
    pub const fn size(&self) -> usize {
        of_discipline!(self, aqm => aqm.size(), several => size_of_val(several))
    }

    #[must_use]
    pub fn lanes(&self) -> usize {
        of_discipline!(self, _ => 1, several => several.lanes())
    }

    pub fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        of_discipline!(self, aqm => aqm.counters(visit), several => several.counters(visit));
    }

    #[must_use]
    pub fn reads_labels(&self) -> bool {
        of_discipline!(self, _ => false, several => several.reads_labels())
    }

    #[must_use]
    pub fn period(&self) -> Option<Span> {
        of_discipline!(self, aqm => aqm.period(), several => several.period())
    }

    pub(crate) fn is_peekable(&self) -> bool {
        of_discipline!(self, aqm => !aqm.drops_late(), several => several.is_peekable())
    }

    pub(crate) fn peek(&self, lanes: &[Lane]) -> Option<u32> {
        of_discipline!(self,
            aqm => lanes[0].head.filter(|_| !aqm.drops_late()).map(|head| head.size),
            several => several.peek(lanes))
    }

    /// Algorithms on several queues are not final.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::One(aqm) if aqm.is_final())
    }

    #[inline]
    pub fn signals(&self, visit: impl FnMut(usize, f64)) {
        of_discipline!(self, aqm => aqm.signals(visit), several => several.signals(visit));
    }
}

/// Inlined: with one queue, the usual case, there is one `match` over the algorithms per call, and none for some calls.
#[allow(clippy::too_many_arguments)]
impl Algorithm for AnyDiscipline {
    fn several(&self) -> Option<usize> {
        of_discipline!(self, _ => None, several => Some(several.lanes()))
    }

    #[inline(always)]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> (usize, Verdict) {
        of_discipline!(self,
            aqm => (0, aqm.on_enqueue(now, packet, buffer, rng)),
            several => several.on_enqueue(now, packet, buffer, lanes, rng))
    }

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        rng: &mut R,
    ) -> Option<(usize, u32)> {
        of_discipline!(self,
            aqm => aqm.make_room(now, packet, buffer, rng).map(|place| (0, place)),
            several => several.make_room(now, packet, buffer, lanes, rng))
    }

    #[inline(always)]
    fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        of_discipline!(self, _ => None, several => several.evict(now, lanes))
    }

    fn reads_labels(&self) -> bool {
        Self::reads_labels(self)
    }

    fn reads_acks(&self) -> bool {
        of_discipline!(self, _ => false, several => several.reads_acks())
    }

    fn on_label(&mut self, label: Label) {
        of_discipline!(self, _ => {}, several => several.on_label(label));
    }

    #[inline(always)]
    fn paused_until(&self, now: Time) -> Option<Time> {
        of_discipline!(self, _ => None, several => several.paused_until(now))
    }

    fn can_resume(&self, before: &Self) -> bool {
        match (self, before) {
            (Self::One(aqm), Self::One(before)) => aqm.can_resume(before),
            (Self::Several(several), Self::Several(before)) => of_several!((several, before),
                (several, before) => several.lanes() == before.lanes() && several.can_resume(before),
                _ => false),
            _ => false,
        }
    }

    fn resume(&mut self, now: Time, before: Self) {
        match (self, before) {
            (Self::One(aqm), Self::One(before)) => aqm.resume(before),
            (Self::Several(several), Self::Several(before)) => of_several!((several, before),
                (several, before) => several.resume(now, before),
                _ => unreachable!("{ONLY_THE_SAME}")),
            _ => unreachable!("{ONLY_THE_SAME}"),
        }
    }

    fn overfull(&self, lanes: &[Lane]) -> Option<usize> {
        of_discipline!(self, _ => None, several => several.overfull(lanes))
    }

    fn on_trim(&mut self, lane: usize, size: u32, lanes: &[Lane]) {
        of_discipline!(self, _ => {}, several => several.on_trim(lane, size, lanes));
    }

    #[inline(always)]
    fn has_limits_inside(&self) -> bool {
        of_discipline!(self, _ => false, several => several.has_limits_inside())
    }

    #[inline(always)]
    fn can_serve(&mut self, now: Time, lanes: &[Lane]) -> bool {
        of_discipline!(self, _ => true, several => several.can_serve(now, lanes))
    }

    #[inline(always)]
    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        of_discipline!(self, _ => 0, several => several.serve(now, lanes))
    }

    #[inline(always)]
    fn kept(&mut self) -> Option<usize> {
        of_discipline!(self, _ => None, several => several.kept())
    }

    #[inline(always)]
    fn joined(&self, lane: usize) -> usize {
        of_discipline!(self, _ => lane, several => several.joined(lane))
    }

    #[inline(always)]
    fn on_dequeue<R: Uniform>(
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
                of_several!(several, aqm => aqm.on_dequeue(now, lane, &packet, &buffer, lanes, sojourn, rng))
            }
        }
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        of_discipline!(self, aqm => aqm.on_idle(now), several => several.on_idle(now));
    }

    fn period(&self) -> Option<Span> {
        Self::period(self)
    }

    fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane], age: Span) {
        of_discipline!(self, aqm => {
            aqm.on_head(age);
            aqm.on_period(now, buffer);
        }, several => several.on_period(now, buffer, lanes));
    }

    fn rests(&self, buffer: &Backlog) -> bool {
        matches!(self, Self::One(aqm) if aqm.rests(buffer))
    }

    fn set_rate(&mut self, rate: Rate) {
        of_discipline!(self, aqm => aqm.set_rate(rate), several => several.set_rate(rate));
    }

    fn steer(&mut self, value: f64) {
        if let Self::One(AnyAqm::UserDefined(running)) = self {
            running.steer(value);
        }
    }
}

impl AnyParams {
    /// Reads a name, or a table with a name, optionally the digest of a user-defined algorithm's source or a preset, and
    /// parameters.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let found = match value {
            Value::Text(name) => Self::of(name)?,
            Value::Table(entries) => {
                let text = |key: &str| match &entries.iter().find(|(name, _)| name == key)?.1 {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                };
                let (name, source) = (text("name")?, text("source"));
                let mut params = match source {
                    Some(source) => Self::user_defined(name, Some(source)).ok()?,
                    None => Self::of(name)?,
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
        found.check().is_ok().then_some(found)
    }

    /// The value from which [`AnyParams::read`] reads this again.
    #[must_use]
    pub fn value(&self) -> Value {
        let name = ("name".to_owned(), Value::Text(self.name().to_owned()));
        let source = self.source().map(|source| ("source".to_owned(), Value::Text(source.to_owned())));
        let own = self.values().into_iter().map(|(key, value)| (key.to_owned(), value));
        Value::Table(core::iter::once(name).chain(source).chain(own).collect())
    }
}
