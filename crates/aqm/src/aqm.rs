//! What an algorithm on one queue is, and the list of all algorithms.

use crate::discipline::{Discipline, Lane};
use crate::params::{Field, Kind, ParamError, Params, Range, Spec, Value};
use crate::unit::{Bytes, Limit, Rate, Span, Time};

/// What an algorithm may know of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Size on the wire in bytes.
    pub size: u32,
    /// Whether its transport understands CE marks (ECT, RFC 3168).
    pub ect: bool,
    /// Whether it says that its congestion control is scalable (ECT(1), RFC 9331), or may have said so before it was
    /// marked (CE). Then `ect` is true as well.
    pub l4s: bool,
    /// Whether its protocol is UDP.
    pub udp: bool,
    /// Its class of service: 1, the first, to [`CLASSES`].
    pub class: u8,
    /// What stands for its five-tuple: the same for the packets of a connection in one direction, and for no others.
    pub flow: u64,
    /// What stands for its addresses: the same for all packets from one host to another, and for no others.
    pub pair: u32,
}

/// How many classes of service there are.
pub const CLASSES: u8 = 4;

impl Packet {
    /// A packet of no flow in particular, in the first class.
    #[must_use]
    pub const fn new(size: u32, ect: bool) -> Self {
        Self { size, ect, l4s: false, udp: false, class: 1, flow: 0, pair: 0 }
    }

    /// The place of its class in a list with an entry for each of [`CLASSES`].
    #[inline]
    #[must_use]
    pub(crate) fn place(&self) -> usize {
        usize::from(self.class.clamp(1, CLASSES)) - 1
    }
}

/// The packets that wait, without the one in transmission.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// How many wait.
    pub packets: u32,
    /// Their sizes added up.
    pub bytes: u64,
    /// Whether the arriving packet does not fit: the queue will drop it whatever the verdict.
    pub full: bool,
}

impl Backlog {
    /// The length in packets; in byte mode, in packets of `mean` bytes.
    #[inline]
    #[must_use]
    pub fn length(&self, bytes: bool, mean: f64) -> f64 {
        if bytes { self.bytes as f64 / mean } else { f64::from(self.packets) }
    }
}

/// What to do with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Leave it alone.
    Pass,
    /// Set CE, then as [`Verdict::Pass`].
    Mark,
    /// Drop it.
    Drop,
    /// Drop it, an arrival, and also the packet that waits in this place, 0 for the first to leave.
    DropBoth(u32),
}

impl Verdict {
    /// Tells the sender of congestion: a mark where `markable`, else a drop.
    #[inline]
    #[must_use]
    pub const fn signal(markable: bool) -> Self {
        if markable { Self::Mark } else { Self::Drop }
    }
}

/// A source of random numbers that belongs to one queue alone.
pub trait Uniform {
    /// The next number, uniform on `[0, 1)`.
    fn uniform(&mut self) -> f64;

    /// True with probability `p`: never for 0, always for 1.
    #[inline]
    fn happens(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() < p
    }
}

/// The link that a queue feeds: what an algorithm may know of its surroundings when it is set up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Port {
    /// The link's rate.
    pub rate: Rate,
    /// The link's one-way propagation delay.
    pub delay: Span,
    /// The buffer.
    pub limit: Limit,
    /// The size of the traffic's usual data packet, for algorithms that count in packets.
    pub packet: Bytes,
}

/// A quantity inside an algorithm that a series can record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// Column name, in the source's symbols.
    pub name: &'static str,
    /// Unit, empty for none.
    pub unit: &'static str,
    /// One line.
    pub doc: &'static str,
}

/// An algorithm of active queue management: it decides, [`Queue`](crate::Queue) acts.
///
/// The host calls [`on_enqueue`](Aqm::on_enqueue) for every arrival, full buffer or not, before it is queued;
/// [`on_dequeue`](Aqm::on_dequeue) for every packet about to be sent; [`on_idle`](Aqm::on_idle) when the link
/// wants a packet and there is none, which is also the state at the start; and [`on_period`](Aqm::on_period)
/// exactly at the multiples of [`period`](Aqm::period), the first one period after the start. At equal times the
/// timer comes first, so an arrival exactly on the boundary belongs to the new period.
pub trait Aqm: Sized {
    /// Its parameters.
    type Params: Params;
    /// What it can tell of itself, in the order of [`Aqm::signals`].
    const SIGNALS: &'static [Signal];

    /// The algorithm at its start, on this port.
    fn new(params: &Self::Params, port: &Port) -> Self;

    /// Named sets of parameters: the name, and in one line whose values they are.
    const PRESETS: &'static [(&'static str, &'static str)] = &[];

    /// The parameters of one of [`Aqm::PRESETS`].
    fn preset(_name: &str) -> Option<Self::Params> {
        None
    }

    /// Whether parameters that are each in range also fit together.
    ///
    /// # Errors
    /// Names the parameter that does not fit, and why.
    fn check(_params: &Self::Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// The queue length in packets that it steers to, if it has one.
    fn target(_params: &Self::Params) -> Option<f64> {
        None
    }

    /// Decides on an arriving packet.
    fn on_enqueue<R: Uniform>(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut R)
    -> Verdict;

    /// Decides on a packet that has waited for `sojourn` and is about to be sent; `queue` no longer counts it.
    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _queue: &Backlog,
        _sojourn: Span,
        _rng: &mut R,
    ) -> Verdict {
        Verdict::Pass
    }

    /// Names the place of a packet that waits, 0 for the first to leave, to be dropped because the buffer has no room
    /// for an arrival; `None` to drop the arrival or, once there is room, no more. Called until it names none, before [`Aqm::on_enqueue`].
    fn make_room<R: Uniform>(
        &mut self,
        _now: Time,
        _packet: &Packet,
        _queue: &Backlog,
        _rng: &mut R,
    ) -> Option<u32> {
        None
    }

    /// Learns that the link has nothing to send from `now` on.
    #[inline]
    fn on_idle(&mut self, _now: Time) {}

    /// How often it wants [`Aqm::on_period`].
    fn period(&self) -> Option<Span> {
        None
    }

    /// Does its periodic work.
    fn on_period(&mut self, _now: Time, _queue: &Backlog) {}

    /// Tells `visit` the number and present value of every signal.
    fn signals(&self, visit: impl FnMut(usize, f64));
}

/// Declares the algorithms: the module, the key (both the same name) and the type of each, in one line.
macro_rules! aqms {
    (
        one queue { $($module:ident::$type:ident,)* }
        several queues { $($module_n:ident::$type_n:ident,)* }
        variants { $($variant:ident = $of:literal with $preset:literal,)* }
    ) => {
        $(pub mod $module;)*
        $(pub mod $module_n;)*

        /// The keys of all algorithms, in the order of the list.
        pub const NAMES: &[&str] = &[$(stringify!($module),)* $(stringify!($module_n),)*];

        /// Other names under which an algorithm is known with certain parameters: the name, the algorithm's key, and
        /// its preset.
        pub const VARIANTS: &[(&str, &str, &str)] = &[$((stringify!($variant), $of, $preset)),*];

        /// The parameters of any one algorithm.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs)]
        pub enum AnyParams {
            $($type(<$module::$type as Aqm>::Params),)*
            $($type_n(<$module_n::$type_n as Discipline>::Params),)*
        }

        impl AnyParams {
            /// The defaults of the algorithm called `name`, or the parameters of the variant.
            #[must_use]
            pub fn of(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($module) => Some(Self::$type(Default::default())),)*
                    $(stringify!($module_n) => Some(Self::$type_n(Default::default())),)*
                    $(stringify!($variant) => Self::of($of)?.preset($preset),)*
                    _ => None,
                }
            }

            /// The algorithm's key.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$type(_) => stringify!($module),)*
                    $(Self::$type_n(_) => stringify!($module_n),)*
                }
            }

            /// The algorithm's documentation: the head of its source file.
            #[must_use]
            pub fn doc(&self) -> String {
                let source = match self {
                    $(Self::$type(_) => include_str!(concat!("aqm/", stringify!($module), ".rs")),)*
                    $(Self::$type_n(_) => include_str!(concat!("aqm/", stringify!($module_n), ".rs")),)*
                };
                let head = source.lines().map_while(|line| line.strip_prefix("//!"));
                head.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
            }

            /// The declarations of its parameters.
            #[must_use]
            pub fn specs(&self) -> &'static [Spec] {
                match self {
                    $(Self::$type(_) => <$module::$type as Aqm>::Params::specs(),)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::Params::specs(),)*
                }
            }

            /// The names and descriptions of its presets.
            #[must_use]
            pub const fn presets(&self) -> &'static [(&'static str, &'static str)] {
                match self {
                    $(Self::$type(_) => <$module::$type as Aqm>::PRESETS,)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::PRESETS,)*
                }
            }

            /// The same algorithm with the parameters of a preset.
            #[must_use]
            pub fn preset(&self, preset: &str) -> Option<Self> {
                match self {
                    $(Self::$type(_) => <$module::$type as Aqm>::preset(preset).map(Self::$type),)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::preset(preset).map(Self::$type_n),)*
                }
            }

            /// Sets one parameter; see [`Params::set`].
            ///
            /// # Errors
            /// If there is no such parameter, or `value` is not allowed for it.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError> {
                match self {
                    $(Self::$type(params) => params.set(name, value),)*
                    $(Self::$type_n(params) => params.set(name, value),)*
                }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, Value)> {
                match self {
                    $(Self::$type(params) => params.values(),)*
                    $(Self::$type_n(params) => params.values(),)*
                }
            }

            /// Whether the parameters fit together; see [`Aqm::check`].
            ///
            /// # Errors
            /// Names the parameter that does not fit, and why.
            pub fn check(&self) -> Result<(), ParamError> {
                match self {
                    $(Self::$type(params) => <$module::$type as Aqm>::check(params),)*
                    $(Self::$type_n(params) => <$module_n::$type_n as Discipline>::check(params),)*
                }
            }

            /// The queue length in packets that it steers to, if it has one.
            #[must_use]
            pub fn target(&self) -> Option<f64> {
                match self {
                    $(Self::$type(params) => <$module::$type as Aqm>::target(params),)*
                    $(Self::$type_n(params) => <$module_n::$type_n as Discipline>::target(params),)*
                }
            }

            /// What it can tell of itself.
            #[must_use]
            pub const fn signals(&self) -> &'static [Signal] {
                match self {
                    $(Self::$type(_) => <$module::$type as Aqm>::SIGNALS,)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::SIGNALS,)*
                }
            }

            /// The names of its queues, if they are told apart in results.
            #[must_use]
            pub const fn lanes(&self) -> &'static [&'static str] {
                match self {
                    $(Self::$type(_) => &[],)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::LANES,)*
                }
            }

            /// Whether it works on one queue, so that it may be inside another.
            #[must_use]
            pub const fn has_one_queue(&self) -> bool {
                match self {
                    $(Self::$type(_) => true,)*
                    $(Self::$type_n(_) => false,)*
                }
            }

            /// The algorithm at its start, on this port.
            #[must_use]
            pub fn build(&self, port: &Port) -> AnyDiscipline {
                match self {
                    $(Self::$type_n(params) => AnyDiscipline::$type_n(Discipline::new(params, port)),)*
                    one => AnyDiscipline::One(one.on_one_queue(port).expect("it has one queue")),
                }
            }

            /// The algorithm at its start, on this port, if it works on one queue.
            #[must_use]
            pub fn on_one_queue(&self, port: &Port) -> Option<AnyAqm> {
                match self {
                    $(Self::$type(params) => Some(AnyAqm::$type(Aqm::new(params, port))),)*
                    $(Self::$type_n(_) => None,)*
                }
            }
        }

        /// Any one algorithm on one queue, dispatched by a `match`.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum AnyAqm { $($type($module::$type)),* }

        impl AnyAqm {
            /// See [`Aqm::on_enqueue`].
            #[inline]
            pub fn on_enqueue<R: Uniform>(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
                match self { $(Self::$type(aqm) => aqm.on_enqueue(now, packet, queue, rng)),* }
            }

            /// See [`Aqm::on_dequeue`].
            #[inline]
            pub fn on_dequeue<R: Uniform>(
                &mut self,
                now: Time,
                packet: &Packet,
                queue: &Backlog,
                sojourn: Span,
                rng: &mut R,
            ) -> Verdict {
                match self { $(Self::$type(aqm) => aqm.on_dequeue(now, packet, queue, sojourn, rng)),* }
            }

            /// See [`Aqm::make_room`].
            pub fn make_room<R: Uniform>(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Option<u32> {
                match self { $(Self::$type(aqm) => aqm.make_room(now, packet, queue, rng)),* }
            }

            /// See [`Aqm::on_idle`].
            #[inline]
            pub fn on_idle(&mut self, now: Time) {
                match self { $(Self::$type(aqm) => aqm.on_idle(now)),* }
            }

            /// See [`Aqm::period`].
            #[must_use]
            pub fn period(&self) -> Option<Span> {
                match self { $(Self::$type(aqm) => aqm.period()),* }
            }

            /// See [`Aqm::on_period`].
            pub fn on_period(&mut self, now: Time, queue: &Backlog) {
                match self { $(Self::$type(aqm) => aqm.on_period(now, queue)),* }
            }

            /// See [`Aqm::signals`].
            #[inline]
            pub fn signals(&self, visit: impl FnMut(usize, f64)) {
                match self { $(Self::$type(aqm) => aqm.signals(visit)),* }
            }
        }

        /// Any one algorithm, dispatched by a `match`. A link has one, so that its size does not matter.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum AnyDiscipline {
            One(AnyAqm),
            $($type_n($module_n::$type_n),)*
        }

        // Where there is one queue, `Queue` speaks to its algorithm itself.
        #[allow(unused_variables, clippy::too_many_arguments)]
        impl AnyDiscipline {
            /// See [`Discipline::lanes`].
            #[must_use]
            pub fn lanes(&self) -> usize {
                match self {
                    Self::One(_) => 1,
                    $(Self::$type_n(several) => several.lanes(),)*
                }
            }

            /// See [`Discipline::on_enqueue`].
            #[inline]
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
                    $(Self::$type_n(several) => several.on_enqueue(now, packet, buffer, lanes, rng),)*
                }
            }

            /// See [`Discipline::make_room`]: the lane and the place in it.
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
                    $(Self::$type_n(several) => several.make_room(now, packet, buffer, lanes, rng),)*
                }
            }

            /// See [`Discipline::evict`].
            #[inline]
            pub(crate) fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<(usize, u32)> {
                match self {
                    Self::One(_) => None,
                    $(Self::$type_n(several) => several.evict(now, lanes),)*
                }
            }

            /// See [`Discipline::serve`].
            #[inline]
            pub(crate) fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
                match self {
                    Self::One(_) => 0,
                    $(Self::$type_n(several) => several.serve(now, lanes),)*
                }
            }

            /// See [`Discipline::on_dequeue`].
            #[inline]
            pub(crate) fn on_dequeue<R: Uniform>(
                &mut self,
                now: Time,
                lane: usize,
                packet: &Packet,
                buffer: &Backlog,
                lanes: &[Lane],
                sojourn: Span,
                rng: &mut R,
            ) -> Verdict {
                match self {
                    Self::One(aqm) => aqm.on_dequeue(now, packet, buffer, sojourn, rng),
                    $(Self::$type_n(several) => several.on_dequeue(now, lane, packet, buffer, lanes, sojourn, rng),)*
                }
            }

            /// See [`Aqm::on_idle`].
            #[inline]
            pub fn on_idle(&mut self, now: Time) {
                match self {
                    Self::One(aqm) => aqm.on_idle(now),
                    $(Self::$type_n(several) => several.on_idle(now),)*
                }
            }

            /// See [`Aqm::period`].
            #[must_use]
            pub fn period(&self) -> Option<Span> {
                match self {
                    Self::One(aqm) => aqm.period(),
                    $(Self::$type_n(several) => several.period(),)*
                }
            }

            /// See [`Discipline::on_period`].
            pub(crate) fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane]) {
                match self {
                    Self::One(aqm) => aqm.on_period(now, buffer),
                    $(Self::$type_n(several) => several.on_period(now, buffer, lanes),)*
                }
            }

            /// See [`Aqm::signals`].
            #[inline]
            pub fn signals(&self, visit: impl FnMut(usize, f64)) {
                match self {
                    Self::One(aqm) => aqm.signals(visit),
                    $(Self::$type_n(several) => several.signals(visit),)*
                }
            }
        }
    };
}

aqms! {
    one queue {
        droptail::DropTail,
        red::Red,
        ared::Ared,
        dtared::Dtared,
        feng::Feng,
        nlred::Nlred,
        wred::Wred,
        pi::Pi,
        pi2::Pi2,
        pie::Pie,
        rem::Rem,
        lred::Lred,
        avq::Avq,
        raqm::Raqm,
        step::Step,
        codel::Codel,
        blue::Blue,
        cobalt::Cobalt,
        fred::Fred,
        sred::Sred,
        sfb::Sfb,
        headdrop::HeadDrop,
        choke::Choke,
        jobs_ecn::JobsEcn,
    }
    several queues {
        fq::Fq,
        jobs::Jobs,
        dualpi2::DualPi2,
        redtail::Redtail,
    }
    variants {
        gred = "red" with "floyd2000",
        gredi = "red" with "gred-i",
        pistar = "pi" with "pi-star",
        fq_codel = "fq" with "codel",
        fq_pie = "fq" with "pie",
        drr = "fq" with "droptail",
    }
}

/// An algorithm inside another one, where one queue among several needs its own.
impl Field for Box<AnyParams> {
    const KIND: Kind = Kind::Algorithm;

    /// Reads a name, or a table with a name, perhaps a preset, and parameters.
    fn read(value: &Value) -> Option<Self> {
        let found = match value {
            Value::Text(name) => AnyParams::of(name)?,
            Value::Table(entries) => {
                let text = |key: &str| match &entries.iter().find(|(name, _)| name == key)?.1 {
                    Value::Text(text) => Some(text.as_str()),
                    _ => None,
                };
                let mut params = AnyParams::of(text("name")?)?;
                if let Some(preset) = text("preset") {
                    params = params.preset(preset)?;
                }
                for (key, value) in entries.iter().filter(|(key, _)| key != "name" && key != "preset") {
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
        let own = self.values().into_iter().map(|(key, value)| (key.to_owned(), value));
        Value::Table(std::iter::once(name).chain(own).collect())
    }

    fn within(&self, _: &Range) -> bool {
        true
    }
}
