//! The list in [`mod@crate::aqm`] becomes enums with a variant per algorithm; calls on them are dispatched by a
//! `match`.

/// Declares the algorithms: module and key (the same name) and type of each, in one line.
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

        /// Other names for an algorithm with certain parameters: the name, the algorithm's key, and its preset.
        pub const VARIANTS: &[(&str, &str, &str)] = &[$((stringify!($variant), $of, $preset)),*];

        /// The parameters of any algorithm.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs)]
        pub enum AnyParams {
            $($type(<$module::$type as Aqm>::Params),)*
            $($type_n(<$module_n::$type_n as Discipline>::Params),)*
            Foreign(foreign::Params),
        }

        impl AnyParams {
            /// The defaults of the algorithm called `name`, or the parameters of the variant of this name.
            #[must_use]
            pub fn of(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($module) => Some(Self::$type(Default::default())),)*
                    $(stringify!($module_n) => Some(Self::$type_n(Default::default())),)*
                    $(stringify!($variant) => Self::of($of)?.preset($preset),)*
                    _ if foreign::is_reference(name) => Self::foreign(name, None).ok(),
                    _ => None,
                }
            }

            /// The foreign algorithm of a reference; with a digest, that of the source with this digest.
            ///
            /// # Errors
            /// The reason for which there is no such algorithm.
            pub fn foreign(name: &str, source: Option<&str>) -> Result<Self, String> {
                foreign::Params::find(name, source).map(Self::Foreign)
            }

            /// The digest of its source, if it is foreign.
            #[must_use]
            pub const fn source(&self) -> Option<&'static str> {
                match self {
                    Self::Foreign(params) => Some(params.declaration().source),
                    _ => None,
                }
            }

            /// The algorithm's key; of a foreign algorithm, the reference.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    Self::Foreign(params) => params.declaration().name,
                    $(Self::$type(_) => stringify!($module),)*
                    $(Self::$type_n(_) => stringify!($module_n),)*
                }
            }

            /// The algorithm's documentation: the head of its source file.
            #[must_use]
            pub const fn doc(&self) -> &'static str {
                match self {
                    Self::Foreign(params) => params.declaration().doc,
                    $(Self::$type(_) => head!(concat!("aqm/", stringify!($module), ".rs")),)*
                    $(Self::$type_n(_) => head!(concat!("aqm/", stringify!($module_n), ".rs")),)*
                }
            }

            /// The declarations of its parameters.
            #[must_use]
            pub fn specs(&self) -> &'static [Spec] {
                match self {
                    Self::Foreign(params) => params.specs(),
                    $(Self::$type(_) => <$module::$type as Aqm>::Params::specs(),)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::Params::specs(),)*
                }
            }

            /// The names and descriptions of its presets.
            #[must_use]
            pub const fn presets(&self) -> &'static [(&'static str, &'static str)] {
                match self {
                    Self::Foreign(_) => &[],
                    $(Self::$type(_) => <$module::$type as Aqm>::PRESETS,)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::PRESETS,)*
                }
            }

            /// The same algorithm with the parameters of a preset.
            #[must_use]
            pub fn preset(&self, preset: &str) -> Option<Self> {
                match self {
                    Self::Foreign(_) => None,
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
                    Self::Foreign(params) => params.set(name, value),
                    $(Self::$type(params) => params.set(name, value),)*
                    $(Self::$type_n(params) => params.set(name, value),)*
                }
            }

            /// Every parameter with its value.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, Value)> {
                match self {
                    Self::Foreign(params) => params.values(),
                    $(Self::$type(params) => params.values(),)*
                    $(Self::$type_n(params) => params.values(),)*
                }
            }

            /// Checks that the parameters fit together; see [`Aqm::check`].
            ///
            /// # Errors
            /// Names the parameter that does not fit, and why.
            pub fn check(&self) -> Result<(), ParamError> {
                match self {
                    Self::Foreign(_) => Ok(()),
                    $(Self::$type(params) => <$module::$type as Aqm>::check(params),)*
                    $(Self::$type_n(params) => <$module_n::$type_n as Discipline>::check(params),)*
                }
            }

            /// Checks that the parameters fit a port; see [`Aqm::check_on`].
            ///
            /// # Errors
            /// Names the parameter that does not fit, and why.
            pub fn check_on(&self, port: &Port) -> Result<(), ParamError> {
                match self {
                    Self::Foreign(_) => Ok(()),
                    $(Self::$type(params) => <$module::$type as Aqm>::check_on(params, port),)*
                    $(Self::$type_n(params) => <$module_n::$type_n as Discipline>::check_on(params, port),)*
                }
            }

            /// The target queue length in packets, if the algorithm has one.
            #[must_use]
            pub fn target(&self) -> Option<f64> {
                match self {
                    Self::Foreign(params) => params.target(),
                    $(Self::$type(params) => <$module::$type as Aqm>::target(params),)*
                    $(Self::$type_n(params) => <$module_n::$type_n as Discipline>::target(params),)*
                }
            }

            /// Its signals.
            #[must_use]
            pub const fn signals(&self) -> &'static [Signal] {
                match self {
                    Self::Foreign(params) => params.declaration().signals,
                    $(Self::$type(_) => <$module::$type as Aqm>::SIGNALS,)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::SIGNALS,)*
                }
            }

            /// The names of its lanes, if they are distinguished in results.
            #[must_use]
            pub const fn lanes(&self) -> &'static [&'static str] {
                match self {
                    Self::Foreign(_) => &[],
                    $(Self::$type(_) => &[],)*
                    $(Self::$type_n(_) => <$module_n::$type_n as Discipline>::LANES,)*
                }
            }

            /// Whether it works on one queue, and so can be inside another algorithm.
            #[must_use]
            pub const fn has_one_queue(&self) -> bool {
                match self {
                    Self::Foreign(_) => true,
                    $(Self::$type(_) => true,)*
                    $(Self::$type_n(_) => false,)*
                }
            }

            /// The algorithm in its initial state, on this port, if it works on one queue.
            #[must_use]
            pub fn on_one_queue(&self, port: &Port) -> Option<AnyAqm> {
                match self {
                    Self::Foreign(params) => Some(AnyAqm::Foreign(foreign::Running::new(params, port))),
                    $(Self::$type(params) => Some(AnyAqm::$type(Aqm::new(params, port))),)*
                    $(Self::$type_n(_) => None,)*
                }
            }

            /// The algorithm in its initial state, on this port, if it keeps several queues.
            #[must_use]
            pub fn on_several_queues(&self, port: &Port) -> Option<AnySeveral> {
                match self {
                    Self::Foreign(_) => None,
                    $(Self::$type(_) => None,)*
                    $(Self::$type_n(params) => Some(AnySeveral::$type_n(Discipline::new(params, port))),)*
                }
            }
        }

        /// Any algorithm on one queue, dispatched by a `match`.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum AnyAqm { $($type($module::$type),)* Foreign(foreign::Running) }

        impl AnyAqm {
            /// Bytes of the algorithm itself, without its memory on the heap.
            #[must_use]
            pub const fn size(&self) -> usize {
                match self { $(Self::$type(aqm) => size_of_val(aqm),)* Self::Foreign(aqm) => size_of_val(aqm) }
            }

            /// See [`Aqm::on_enqueue`].
            #[inline]
            pub fn on_enqueue<R: Uniform>(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
                match self { $(Self::$type(aqm) => aqm.on_enqueue(now, packet, queue, rng),)* Self::Foreign(aqm) => aqm.on_enqueue(now, packet, queue, rng) }
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
                self.on_dequeue_of(now, || (*packet, *queue), sojourn, rng)
            }

            /// As `on_dequeue`; inlined, so that `state` costs nothing with algorithms that do not read it.
            #[inline(always)]
            pub(crate) fn on_dequeue_of<R: Uniform>(
                &mut self,
                now: Time,
                state: impl FnOnce() -> (Packet, Backlog),
                sojourn: Span,
                rng: &mut R,
            ) -> Verdict {
                match self {
                    $(Self::$type(aqm) => {
                        let (packet, queue) = state();
                        aqm.on_dequeue(now, &packet, &queue, sojourn, rng)
                    })*
                    Self::Foreign(aqm) => {
                        let (packet, queue) = state();
                        aqm.on_dequeue(now, &packet, &queue, sojourn, rng)
                    }
                }
            }

            /// See [`Aqm::make_room`].
            pub fn make_room<R: Uniform>(&mut self, now: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Option<u32> {
                match self { $(Self::$type(aqm) => aqm.make_room(now, packet, queue, rng),)* Self::Foreign(aqm) => aqm.make_room(now, packet, queue, rng) }
            }

            /// See [`Aqm::on_overflow`].
            pub fn on_overflow(&mut self, now: Time) {
                match self { $(Self::$type(aqm) => aqm.on_overflow(now),)* Self::Foreign(aqm) => aqm.on_overflow(now) }
            }

            /// See [`Aqm::on_idle`].
            #[inline]
            pub fn on_idle(&mut self, now: Time) {
                match self { $(Self::$type(aqm) => aqm.on_idle(now),)* Self::Foreign(aqm) => aqm.on_idle(now) }
            }

            /// See [`Aqm::is_final`].
            #[must_use]
            pub fn is_final(&self) -> bool {
                match self { $(Self::$type(aqm) => aqm.is_final(),)* Self::Foreign(aqm) => aqm.is_final() }
            }

            /// See [`Aqm::period`].
            #[must_use]
            pub fn period(&self) -> Option<Span> {
                match self { $(Self::$type(aqm) => aqm.period(),)* Self::Foreign(aqm) => aqm.period() }
            }

            /// See [`Aqm::on_head`]; a foreign algorithm does not read it.
            pub fn on_head(&mut self, age: Span) {
                match self { $(Self::$type(aqm) => aqm.on_head(age),)* Self::Foreign(_) => {} }
            }

            /// See [`Aqm::on_period`].
            pub fn on_period(&mut self, now: Time, queue: &Backlog) {
                match self { $(Self::$type(aqm) => aqm.on_period(now, queue),)* Self::Foreign(aqm) => aqm.on_period(now, queue) }
            }

            /// The link has this rate from now on. Only a foreign algorithm reads it: those here have that of their
            /// [`Port`], as their sources have a configured one.
            pub(crate) fn set_rate(&mut self, rate: Rate) {
                if let Self::Foreign(aqm) = self {
                    aqm.set_rate(rate);
                }
            }

            /// See [`Aqm::rests`].
            #[must_use]
            pub fn rests(&self, queue: &Backlog) -> bool {
                match self { $(Self::$type(aqm) => aqm.rests(queue),)* Self::Foreign(aqm) => aqm.rests(queue) }
            }

            /// See [`Aqm::can_resume`]; false if `before` is another algorithm.
            pub(crate) fn can_resume(&self, before: &Self) -> bool {
                match (self, before) {
                    $((Self::$type(aqm), Self::$type(before)) => aqm.can_resume(before),)*
                    (Self::Foreign(aqm), Self::Foreign(before)) => aqm.can_resume(before),
                    _ => false,
                }
            }

            /// See [`Aqm::resume`].
            pub(crate) fn resume(&mut self, before: Self) {
                match (self, before) {
                    $((Self::$type(aqm), Self::$type(before)) => aqm.resume(before),)*
                    (Self::Foreign(aqm), Self::Foreign(before)) => aqm.resume(before),
                    _ => unreachable!("only the same algorithm can resume"),
                }
            }

            /// See [`Aqm::counters`].
            pub(crate) fn counters(&self, visit: &mut dyn FnMut(&str, $crate::contract::Reading)) {
                match self { $(Self::$type(aqm) => aqm.counters(visit),)* Self::Foreign(_) => {} }
            }

            /// See [`Aqm::signals`].
            #[inline]
            pub fn signals(&self, visit: impl FnMut(usize, f64)) {
                match self { $(Self::$type(aqm) => aqm.signals(visit),)* Self::Foreign(aqm) => aqm.signals(visit) }
            }
        }

        /// Any algorithm on several queues, dispatched by a `match`. A link has one, so its size does not matter.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum AnySeveral { $($type_n($module_n::$type_n)),* }

        #[allow(clippy::too_many_arguments)]
        impl AnySeveral {
            /// Bytes of the algorithm itself, without its memory on the heap.
            #[must_use]
            pub const fn size(&self) -> usize {
                match self { $(Self::$type_n(several) => size_of_val(several)),* }
            }

            /// See [`Discipline::lanes`].
            #[must_use]
            pub fn lanes(&self) -> usize {
                match self { $(Self::$type_n(several) => several.lanes()),* }
            }

            /// See [`Discipline::on_enqueue`].
            pub(crate) fn on_enqueue<R: Uniform>(
                &mut self,
                now: Time,
                packet: &Packet,
                buffer: &Backlog,
                lanes: &[Lane],
                rng: &mut R,
            ) -> (usize, Verdict) {
                match self { $(Self::$type_n(several) => several.on_enqueue(now, packet, buffer, lanes, rng)),* }
            }

            /// See [`Discipline::make_room`].
            pub(crate) fn make_room<R: Uniform>(
                &mut self,
                now: Time,
                packet: &Packet,
                buffer: &Backlog,
                lanes: &[Lane],
                rng: &mut R,
            ) -> Option<(usize, u32)> {
                match self { $(Self::$type_n(several) => several.make_room(now, packet, buffer, lanes, rng)),* }
            }

            /// See [`Discipline::evict`].
            pub(crate) fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
                match self { $(Self::$type_n(several) => several.evict(now, lanes)),* }
            }

            /// See [`Discipline::reads_labels`].
            pub(crate) fn reads_labels(&self) -> bool {
                match self { $(Self::$type_n(several) => several.reads_labels()),* }
            }

            /// See [`Discipline::reads_acks`].
            pub(crate) fn reads_acks(&self) -> bool {
                match self { $(Self::$type_n(several) => several.reads_acks()),* }
            }

            /// See [`Discipline::on_label`].
            pub(crate) fn on_label(&mut self, label: Label) {
                match self { $(Self::$type_n(several) => several.on_label(label)),* }
            }

            /// See [`Discipline::set_rate`].
            pub(crate) fn set_rate(&mut self, rate: Rate) {
                match self { $(Self::$type_n(several) => several.set_rate(rate)),* }
            }

            /// See [`Discipline::paused_until`].
            pub(crate) fn paused_until(&self, now: Time) -> Option<Time> {
                match self { $(Self::$type_n(several) => several.paused_until(now)),* }
            }

            /// See [`Discipline::can_resume`]; false if `before` is another algorithm.
            pub(crate) fn can_resume(&self, before: &Self) -> bool {
                match (self, before) {
                    $((Self::$type_n(several), Self::$type_n(before)) => several.can_resume(before),)*
                    _ => false,
                }
            }

            /// See [`Discipline::resume`].
            pub(crate) fn resume(&mut self, now: Time, before: Self) {
                match (self, before) {
                    $((Self::$type_n(several), Self::$type_n(before)) => several.resume(now, before),)*
                    _ => unreachable!("only the same algorithm can resume"),
                }
            }

            /// See [`Discipline::on_trim`].
            pub(crate) fn on_trim(&mut self, lane: usize, size: u32, lanes: &[Lane]) {
                match self { $(Self::$type_n(several) => several.on_trim(lane, size, lanes)),* }
            }

            /// See [`Discipline::counters`].
            pub fn counters(&self, visit: &mut dyn FnMut(&str, $crate::contract::Reading)) {
                match self { $(Self::$type_n(several) => several.counters(visit)),* }
            }

            /// See [`Discipline::serve`].
            pub(crate) fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
                match self { $(Self::$type_n(several) => several.serve(now, lanes)),* }
            }

            /// See [`Discipline::on_dequeue`].
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
                    $(Self::$type_n(several) => several.on_dequeue(now, lane, packet, buffer, lanes, sojourn, rng),)*
                }
            }

            /// See [`Aqm::on_idle`].
            pub fn on_idle(&mut self, now: Time) {
                match self { $(Self::$type_n(several) => several.on_idle(now)),* }
            }

            /// See [`Aqm::period`].
            #[must_use]
            pub fn period(&self) -> Option<Span> {
                match self { $(Self::$type_n(several) => several.period()),* }
            }

            /// See [`Discipline::on_period`].
            pub(crate) fn on_period(&mut self, now: Time, buffer: &Backlog, lanes: &[Lane]) {
                match self { $(Self::$type_n(several) => several.on_period(now, buffer, lanes)),* }
            }

            /// See [`Aqm::signals`].
            #[inline]
            pub fn signals(&self, visit: impl FnMut(usize, f64)) {
                match self { $(Self::$type_n(several) => several.signals(visit)),* }
            }
        }
    };
}
