//! The list in [`mod@crate::aqm`] becomes enums with a variant per algorithm, and macros that dispatch a call on one of
//! them by a `match`.

/// Declares the algorithms: module and key (the same name) and type of each, in one line. `$d` is a dollar sign, which
/// this version of the language cannot write into a macro that a macro declares.
macro_rules! aqms {
    (
        one queue { $($module:ident::$type:ident,)* }
        several queues { $($module_n:ident::$type_n:ident,)* }
        variants { $($variant:ident = $of:literal with $preset:literal,)* }
        $d:tt
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
            UserDefined(user_defined::Params),
        }

        /// Any algorithm on one queue, dispatched by a `match`.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum AnyAqm { $($type($module::$type),)* UserDefined(user_defined::Running) }

        /// Any algorithm on several queues, dispatched by a `match`. A link has one, so its size does not matter.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, clippy::large_enum_variant)]
        pub enum AnySeveral { $($type_n($module_n::$type_n)),* }

        impl AnyParams {
            /// The defaults of the algorithm called `name`, or the parameters of the variant of this name.
            #[must_use]
            pub fn of(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($module) => Some(Self::$type(Default::default())),)*
                    $(stringify!($module_n) => Some(Self::$type_n(Default::default())),)*
                    $(stringify!($variant) => Self::of($of)?.preset($preset),)*
                    _ if user_defined::is_reference(name) => Self::user_defined(name, None).ok(),
                    _ => None,
                }
            }

            /// The algorithm's key; of a user-defined algorithm, the reference.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    Self::UserDefined(params) => params.declaration().name,
                    $(Self::$type(_) => stringify!($module),)*
                    $(Self::$type_n(_) => stringify!($module_n),)*
                }
            }

            /// The algorithm's documentation: the head of its source file.
            #[must_use]
            pub const fn doc(&self) -> &'static str {
                match self {
                    Self::UserDefined(params) => params.declaration().doc,
                    $(Self::$type(_) => head!(concat!("aqm/", stringify!($module), ".rs")),)*
                    $(Self::$type_n(_) => head!(concat!("aqm/", stringify!($module_n), ".rs")),)*
                }
            }

            /// The same algorithm with the parameters of a preset.
            #[must_use]
            pub fn preset(&self, preset: &str) -> Option<Self> {
                match self {
                    Self::UserDefined(_) => None,
                    $(Self::$type(_) => $module::$type::preset(preset).map(Self::$type),)*
                    $(Self::$type_n(_) => $module_n::$type_n::preset(preset).map(Self::$type_n),)*
                }
            }

            /// The names of its lanes, if they are distinguished in results.
            #[must_use]
            pub const fn lanes(&self) -> &'static [&'static str] {
                match self {
                    $(Self::$type_n(_) => $module_n::$type_n::LANES,)*
                    _ => &[],
                }
            }

            /// Whether it works on one queue, and so can be inside another algorithm.
            #[must_use]
            pub const fn has_one_queue(&self) -> bool {
                matches!(self, Self::UserDefined(_) $(| Self::$type(_))*)
            }

            /// The algorithm in its initial state, on this port, if it works on one queue.
            #[must_use]
            pub fn on_one_queue(&self, port: &Port) -> Option<AnyAqm> {
                match self {
                    Self::UserDefined(params) => Some(AnyAqm::UserDefined(user_defined::Running::new(params, port))),
                    $(Self::$type(params) => Some(AnyAqm::$type(Aqm::new(params, port))),)*
                    _ => None,
                }
            }

            /// The algorithm in its initial state, on this port, if it keeps several queues.
            #[must_use]
            pub fn on_several_queues(&self, port: &Port) -> Option<AnySeveral> {
                match self {
                    $(Self::$type_n(params) => Some(AnySeveral::$type_n(Discipline::new(params, port))),)*
                    _ => None,
                }
            }
        }

        /// An expression on the `$params` of an algorithm of type `$Type`, or on those of a user-defined one, `$user`.
        macro_rules! of_params {
            ($d this:expr, $d user:pat => $d outside:expr, $d Type:ident($d params:pat) => $d inside:expr) => {
                match $d this {
                    AnyParams::UserDefined($d user) => $d outside,
                    $(AnyParams::$type($d params) => {
                        #[allow(dead_code)]
                        type $d Type = $crate::aqm::$module::$type;
                        $d inside
                    })*
                    $(AnyParams::$type_n($d params) => {
                        #[allow(dead_code)]
                        type $d Type = $crate::aqm::$module_n::$type_n;
                        $d inside
                    })*
                }
            };
        }

        /// A call of `$aqm`, any algorithm on one queue; with two of them, of those if they are the same algorithm.
        macro_rules! of_aqm {
            ($d this:expr, $d aqm:pat => $d call:expr) => {
                match $d this { $(AnyAqm::$type($d aqm) => $d call,)* AnyAqm::UserDefined($d aqm) => $d call }
            };
            ($d this:expr, ($d aqm:pat, $d other:pat) => $d call:expr, _ => $d no:expr) => {
                match $d this {
                    $((AnyAqm::$type($d aqm), AnyAqm::$type($d other)) => $d call,)*
                    (AnyAqm::UserDefined($d aqm), AnyAqm::UserDefined($d other)) => $d call,
                    _ => $d no,
                }
            };
        }

        /// A call of `$aqm`, any algorithm on several queues; with two of them, of those if they are the same algorithm.
        macro_rules! of_several {
            ($d this:expr, $d aqm:pat => $d call:expr) => {
                match $d this { $(AnySeveral::$type_n($d aqm) => $d call,)* }
            };
            ($d this:expr, ($d aqm:pat, $d other:pat) => $d call:expr, _ => $d no:expr) => {
                match $d this {
                    $((AnySeveral::$type_n($d aqm), AnySeveral::$type_n($d other)) => $d call,)*
                    _ => $d no,
                }
            };
        }
    };
}
