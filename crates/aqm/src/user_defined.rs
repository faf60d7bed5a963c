//! Algorithms that are written outside this crate, in Python for instance, and declared while the program runs.
//!
//! A user-defined algorithm works on one queue. Its name is a reference to its source: the path of a file, a colon and the
//! name of a class. The host sets a [`Loader`], which reads the source and returns its
//! [`Declaration`]; without one, no reference means anything. Declarations are never freed: there is one for each
//! source, so parameters of two versions of a file are never confused.

use crate::contract::{Backlog, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::float::round;
use crate::params::{ParamError, ParamKind, Range, Spec, Value, read_checked};
use crate::unit::{Bytes, Frequency, Rate, Span, Time};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;
use once_cell::race::OnceBox;

/// An algorithm as its source declares it, or something else of the kind `K`.
#[derive(Debug)]
pub struct Declaration<K = OneQueue> {
    /// The reference to its source.
    pub name: &'static str,
    /// The digest of its source.
    pub source: &'static str,
    /// Its documentation, as that of the algorithms here: the first paragraph is the summary.
    pub doc: &'static str,
    /// Its parameters, each of a kind for which there is a [`Plain`] value.
    pub specs: &'static [Spec],
    /// What only this kind has.
    pub kind: K,
}

/// What an algorithm on one queue declares.
#[derive(Debug)]
pub struct OneQueue {
    /// Its signals.
    pub signals: &'static [Signal],
    /// The period of its updates if no parameter `period` has it; `None` without updates.
    pub period: Option<Span>,
    /// Whether its decision on an arrival is final; see [`Aqm::is_final`](crate::Aqm::is_final).
    pub is_final: bool,
    /// Creates its instances.
    pub maker: Box<dyn Maker>,
}

/// Creates the instances of an algorithm.
pub trait Maker: Send + Sync + Debug {
    /// An instance in its initial state, with these values of its parameters, on this port.
    fn make(&'static self, values: &[Plain], port: &Port) -> Box<dyn Instance>;

    /// Its control law with these values, on this port, if it declares one.
    fn law(&'static self, _values: &[Plain], _port: &Port) -> Option<Box<dyn Law>> {
        None
    }
}

/// The control law of an algorithm whose state is its drop probability.
pub trait Law: Send + Sync + Debug {
    /// dp/dt in 1/s at a queue of `q` packets of the usual size that grows by `dq` packets/s, and the probability `p`.
    fn rate(&self, q: f64, p: f64, dq: f64) -> f64;
}

/// An algorithm at work on one queue. The methods mean what those of [`Aqm`](crate::Aqm) do.
#[allow(missing_docs)]
pub trait Instance: Send + Sync + Debug {
    fn on_enqueue(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut dyn Uniform) -> Verdict;
    fn on_dequeue(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        sojourn: Span,
        rng: &mut dyn Uniform,
    ) -> Verdict;
    fn on_overflow(&mut self, now: Time);
    fn on_idle(&mut self, now: Time);
    fn on_period(&mut self, now: Time, queue: &Backlog);
    fn signals(&self, visit: &mut dyn FnMut(usize, f64));
    /// From now on the link has this rate, at first that of the port.
    fn set_rate(&mut self, _rate: Rate) {}
    /// Takes a value that the host decides while the run goes on; only an algorithm that asks for one has a use for it.
    fn steer(&mut self, _value: f64) {}
    /// A copy in the same state.
    fn copy(&self) -> Box<dyn Instance>;
}

/// Returns the algorithm of a reference. With a digest, that of the source with this digest. The error states the
/// fault and its place.
pub type Loader = fn(&str, Option<&str>) -> Result<&'static Declaration, String>;

static LOADER: OnceBox<Loader> = OnceBox::new();

/// Sets the loader; only the first call has an effect.
pub fn set_loader(loader: Loader) {
    let _ = LOADER.set(Box::new(loader));
}

/// The end of the file's name in a reference.
const FILE: &str = ".py";

/// The file of a reference, and what follows it, which is empty or begins with a colon.
fn at_file(text: &str) -> Option<(&str, &str)> {
    // The colon after the name of an algorithm comes before the references in its parameters.
    let head = text.find(':').map_or(text, |colon| &text[..=colon]);
    let ends = head.match_indices(FILE).map(|(i, _)| i + FILE.len());
    ends.map(|end| text.split_at(end)).find(|(_, rest)| rest.is_empty() || rest.starts_with(':'))
}

/// The reference at the start of `text`, and the settings that follow it after a colon.
#[must_use]
pub fn split(text: &str) -> Option<(&str, &str)> {
    let (file, class) = parts(text)?;
    let end = class.find(':').unwrap_or(class.len());
    let colon = usize::from(text.len() > file.len());
    Some((&text[..file.len() + colon + end], class[end..].strip_prefix(':').unwrap_or_default()))
}

/// Whether `name` is a reference, which may lack the class.
#[must_use]
pub fn is_reference(name: &str) -> bool {
    at_file(name).is_some()
}

/// The file and the class of a reference.
#[must_use]
pub fn parts(name: &str) -> Option<(&str, &str)> {
    at_file(name).map(|(file, rest)| (file, rest.strip_prefix(':').unwrap_or_default()))
}

/// The parameters of a user-defined algorithm, or of another kind `K`.
#[derive(Debug)]
pub struct Params<K: 'static = OneQueue> {
    declaration: &'static Declaration<K>,
    values: Vec<Value>,
}

impl<K> Clone for Params<K> {
    fn clone(&self) -> Self {
        Self { declaration: self.declaration, values: self.values.clone() }
    }
}

impl<K> PartialEq for Params<K> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.declaration, other.declaration) && self.values == other.values
    }
}

/// The value of a parameter in base units.
#[derive(Clone, PartialEq, Debug)]
pub enum Plain {
    /// A number; a time in s, a rate in bit/s, a frequency in Hz.
    Number(f64),
    /// A whole number; a size in bytes.
    Whole(i64),
    /// `true` or `false`.
    Switch(bool),
    /// A name.
    Text(String),
}

impl Params {
    /// The defaults of the algorithm with this reference, from the source with this digest, if one is given.
    ///
    /// # Errors
    /// The reason for which there is no such algorithm.
    pub fn find(name: &str, source: Option<&str>) -> Result<Self, String> {
        let loader = LOADER.get().ok_or("only aqmlab in Python can run an algorithm in Python")?;
        loader(name, source).map(Self::of)
    }

    /// The target queue length in packets: the value of the parameter that is called q0.
    #[must_use]
    pub fn target(&self) -> Option<f64> {
        let is = |spec: &&Spec| spec.name == "q0" || spec.aliases.contains(&"q0");
        let spec = self.specs().iter().find(is)?;
        match self.plain(spec) {
            Plain::Number(packets) => Some(packets),
            Plain::Whole(packets) => Some(packets as f64),
            _ => None,
        }
    }

    /// Its control law on `port`, if it declares one.
    #[must_use]
    pub fn law(&self, port: &Port) -> Option<Box<dyn Law>> {
        self.declaration.kind.maker.law(&self.all_plain(), port)
    }

    /// Whether it marks ECN-capable packets: the value of the parameter `ecn`.
    #[must_use]
    pub fn marks(&self) -> bool {
        self.values().iter().any(|(name, value)| *name == "ecn" && *value == Value::Bool(true))
    }

    fn period(&self) -> Option<Span> {
        let period = self.specs().iter().find(|spec| spec.name == "period").map(|spec| self.plain(spec));
        let own = match period {
            Some(Plain::Number(seconds)) => Some(Span::from_secs(seconds)),
            _ => self.declaration.kind.period,
        };
        // A class without updates may have a parameter of this name.
        self.declaration.kind.period.and(own)
    }
}

impl<K> Params<K> {
    /// The defaults of a declaration.
    #[must_use]
    pub fn of(declaration: &'static Declaration<K>) -> Self {
        Self { declaration, values: declaration.specs.iter().map(|spec| spec.default.clone()).collect() }
    }

    /// The declaration.
    #[must_use]
    pub const fn declaration(&self) -> &'static Declaration<K> {
        self.declaration
    }

    /// See [`Params::set`](crate::params::Params::set).
    ///
    /// # Errors
    /// If there is no such parameter, or `value` is not allowed for it.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
        let is = |spec: &Spec| spec.name == name || spec.aliases.contains(&name);
        let Some(i) = self.declaration.specs.iter().position(is) else {
            return Err(ParamError::Unknown { name: name.to_owned() });
        };
        self.values[i] = checked(&self.declaration.specs[i], value)?;
        Ok(())
    }

    /// Every parameter with its value, in order.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        self.specs().iter().map(|spec| spec.name).zip(self.values.iter().cloned()).collect()
    }

    /// The declarations of its parameters.
    #[must_use]
    pub const fn specs(&self) -> &'static [Spec] {
        self.declaration.specs
    }

    /// The value of every parameter in base units, in order.
    #[must_use]
    pub fn all_plain(&self) -> Vec<Plain> {
        self.specs().iter().map(|spec| self.plain(spec)).collect()
    }

    fn plain(&self, spec: &Spec) -> Plain {
        let i = self.specs().iter().position(|other| other.name == spec.name).expect("one of its own");
        plain(spec, &self.values[i])
    }
}

/// `value`, if it is allowed for the parameter `spec`.
fn checked(spec: &Spec, value: &Value) -> Result<Value, ParamError> {
    use crate::params::Field;
    fn of<T: Field>(spec: &Spec, value: &Value) -> Result<Value, ParamError> {
        read_checked::<T>(spec, value).map(|read| read.value())
    }
    match (spec.kind, spec.unit) {
        (ParamKind::Count, _) => of::<u64>(spec, value),
        (ParamKind::Switch, _) => of::<bool>(spec, value),
        (ParamKind::Quantity(_), "s") => of::<Span>(spec, value),
        (ParamKind::Quantity(_), "bit/s") => of::<Rate>(spec, value),
        (ParamKind::Quantity(_), "bytes") => of::<Bytes>(spec, value),
        (ParamKind::Quantity(_), _) => of::<Frequency>(spec, value),
        (ParamKind::Choice(names), _) => match value {
            Value::Text(text) if names.contains(&&**text) => Ok(value.clone()),
            _ => Err(ParamError::invalid(spec.name, value, spec.readable())),
        },
        (ParamKind::Text, _) => of::<String>(spec, value),
        _ => of::<f64>(spec, value),
    }
}

/// A value that [`checked`] has returned, in base units.
pub(crate) fn plain(spec: &Spec, value: &Value) -> Plain {
    use crate::params::Field;
    let number = match (spec.kind, spec.unit) {
        (ParamKind::Quantity(_), "s") => Span::read(value).map(Span::secs),
        (ParamKind::Quantity(_), "bit/s") => Rate::read(value).map(Rate::bits),
        (ParamKind::Quantity(_), "bytes") => {
            return Plain::Whole(Bytes::read(value).map_or(0, |size| size.0 as i64));
        }
        (ParamKind::Quantity(_), _) => Frequency::read(value).map(|frequency| frequency.0),
        _ => f64::read(value),
    };
    match value {
        Value::Bool(switch) => Plain::Switch(*switch),
        Value::Integer(n) if spec.kind == ParamKind::Count => Plain::Whole(*n),
        Value::Text(text) if matches!(spec.kind, ParamKind::Choice(_) | ParamKind::Text) => {
            Plain::Text(text.clone())
        }
        _ => Plain::Number(number.unwrap_or(f64::NAN)),
    }
}

/// The kind of a parameter with this unit whose default is a number, and the units in which it may be written.
#[must_use]
pub const fn kind_of_number(unit: &str) -> (ParamKind, &'static str) {
    use crate::params::Field;
    match unit.as_bytes() {
        b"s" => (Span::KIND, Span::UNITS),
        b"bit/s" => (Rate::KIND, Rate::UNITS),
        b"bytes" => (Bytes::KIND, Bytes::UNITS),
        b"Hz" => (Frequency::KIND, Frequency::UNITS),
        _ => (ParamKind::Number, ""),
    }
}

/// A number in base units as a value of the parameter `spec`.
#[must_use]
pub fn written(spec: &Spec, number: f64) -> Value {
    use crate::params::Field;
    match (spec.kind, spec.unit) {
        (ParamKind::Quantity(_), "s") => Span::from_secs(number).value(),
        (ParamKind::Quantity(_), "bit/s") => Rate::bit_per_s(round(number) as u64).value(),
        (ParamKind::Quantity(_), "bytes") => Bytes(round(number) as u64).value(),
        (ParamKind::Quantity(_), _) => Frequency(number).value(),
        _ => Value::Float(number),
    }
}

/// A user-defined algorithm on a port. Its instance is made at the first event, so that a queue that is only looked at makes
/// none.
#[derive(Debug)]
pub struct Running {
    params: Params,
    port: Port,
    /// The link's present rate.
    rate: Rate,
    period: Option<Span>,
    instance: Option<Box<dyn Instance>>,
}

impl Clone for Running {
    fn clone(&self) -> Self {
        let instance = self.instance.as_ref().map(|instance| instance.copy());
        Self { params: self.params.clone(), port: self.port, rate: self.rate, period: self.period, instance }
    }
}

#[allow(missing_docs)]
impl Running {
    #[must_use]
    pub fn new(params: &Params, port: &Port) -> Self {
        Self { params: params.clone(), port: *port, rate: port.rate, period: params.period(), instance: None }
    }

    #[cold]
    fn make(params: &Params, port: &Port, rate: Rate) -> Box<dyn Instance> {
        let mut made = params.declaration.kind.maker.make(&params.all_plain(), port);
        made.set_rate(rate);
        made
    }

    #[inline]
    fn instance(&mut self) -> &mut dyn Instance {
        let (params, port, rate) = (&self.params, &self.port, self.rate);
        &mut **self.instance.get_or_insert_with(|| Self::make(params, port, rate))
    }

    #[inline]
    pub fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        signal(packet, self.instance().on_enqueue(now, packet, queue, rng))
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
        if self.is_final() {
            return Verdict::Pass;
        }
        signal(packet, self.instance().on_dequeue(now, packet, queue, sojourn, rng))
    }

    pub fn on_overflow(&mut self, now: Time) {
        self.instance().on_overflow(now);
    }

    #[inline]
    pub fn on_idle(&mut self, now: Time) {
        self.instance().on_idle(now);
    }

    pub fn make_room<R: Uniform>(&mut self, _: Time, _: &Packet, _: &Backlog, _: &mut R) -> Option<u32> {
        None
    }

    pub const fn on_head(&mut self, _: Span) {}

    pub fn counters(&self, _: &mut dyn FnMut(&str, Reading)) {}

    #[must_use]
    pub const fn rests(&self, _: &Backlog) -> bool {
        false
    }

    #[must_use]
    pub const fn is_final(&self) -> bool {
        self.params.declaration.kind.is_final
    }

    #[must_use]
    pub const fn drops_late(&self) -> bool {
        !self.is_final()
    }

    #[must_use]
    pub const fn period(&self) -> Option<Span> {
        self.period
    }

    pub fn on_period(&mut self, now: Time, queue: &Backlog) {
        self.instance().on_period(now, queue);
    }

    /// The instance knows its parameters and its port from when it was made, and its state is its own: only with the same
    /// ones can it go on.
    #[must_use]
    pub fn can_resume(&self, before: &Self) -> bool {
        self.params == before.params && self.port == before.port
    }

    pub fn resume(&mut self, before: Self) {
        self.instance = before.instance;
        self.set_rate(before.rate);
    }

    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        if let Some(instance) = &mut self.instance {
            instance.set_rate(rate);
        }
    }

    pub fn steer(&mut self, value: f64) {
        self.instance().steer(value);
    }

    #[inline]
    pub fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        if let Some(instance) = &self.instance {
            instance.signals(&mut visit);
        }
    }
}

/// The verdict, with a drop in place of the mark of a packet that is not ECN-capable.
#[inline]
const fn signal(packet: &Packet, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Mark => Verdict::signal(packet.ect),
        other => other,
    }
}

/// The declaration of a parameter, from parts that live as long as the program.
#[must_use]
pub const fn spec(
    name: &'static str,
    doc: &'static str,
    unit: &'static str,
    aliases: &'static [&'static str],
    (kind, units): (ParamKind, &'static str),
    default: Value,
    range: Range,
) -> Spec {
    Spec { name, aliases, doc, unit, default, kind, units, list: false, optional: false, range }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_file_and_a_class() {
        assert_eq!(split("./mine.py:Mine:target=10ms"), Some(("./mine.py:Mine", "target=10ms")));
        assert_eq!(split("/a.py.d/mine.py:Mine"), Some(("/a.py.d/mine.py:Mine", "")));
        assert_eq!(split("mine.py"), Some(("mine.py", "")));
        assert_eq!(parts("a/mine.py:Mine"), Some(("a/mine.py", "Mine")));
        assert_eq!(parts("mine.py"), Some(("mine.py", "")));
        assert_eq!((split("pi:q_ref=60"), parts("mine.python:Mine")), (None, None));
        assert_eq!(split("fq:aqm='./mine.py:Mine'"), None);
    }
}
