//! An algorithm as the parameter of another, and as a text.

use crate::aqm::{AnyParams, NAMES, VARIANTS};
use crate::params::{Field, ParamError, ParamKind, Range, Value, settings};
use crate::user_defined;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;
use core::str::FromStr;

/// Reads `NAME` or `NAME:KEY=VALUE,KEY=VALUE`, such as `codel:target=5ms,ecn=true`; the key `preset` comes first if
/// it is given.
impl FromStr for AnyParams {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        let (name, rest) = user_defined::split(text).or_else(|| text.split_once(':')).unwrap_or((text, ""));
        let name = name.trim();
        let refuse =
            |key: &str, found: &dyn Display, allowed: String| ParamError::invalid(key, found, allowed);
        let names = || NAMES.iter().copied().chain(VARIANTS.iter().map(|(name, ..)| *name));
        let join = |names: Vec<&str>| format!("one of {}", names.join(", "));
        let mut params = Self::of(name).ok_or_else(|| refuse("aqm", &name, join(names().collect())))?;
        let settings =
            settings(rest).map_err(|part| refuse(name, &part, "settings like key=value".into()))?;
        let is_preset = |key: &str| key == "preset";
        for (key, value) in settings.iter().filter(|(key, _)| is_preset(key)) {
            let preset = if let Value::Text(preset) = value { params.preset(preset) } else { None };
            let presets = || join(params.presets().iter().map(|(name, _)| *name).collect());
            params = preset.ok_or_else(|| refuse(key, value, presets()))?;
        }
        for (key, value) in settings.iter().filter(|(key, _)| !is_preset(key)) {
            params.set(key, value)?;
        }
        params.check().map(|()| params)
    }
}

/// An inner algorithm on one queue.
impl Field for Box<AnyParams> {
    const KIND: ParamKind = ParamKind::Algorithm { several: false };
    fn read(value: &Value) -> Option<Self> {
        AnyParams::read(value).filter(AnyParams::has_one_queue).map(Self::new)
    }
    fn value(&self) -> Value {
        AnyParams::value(self)
    }
    fn within(&self, _: &Range) -> bool {
        true
    }
}

/// An inner algorithm of any kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Inner(pub Box<AnyParams>);

impl Inner {
    /// The defaults of the algorithm called `name`.
    pub(crate) fn of(name: &str) -> Self {
        Self(Box::new(AnyParams::of(name).expect("an algorithm of the list")))
    }
}

impl Field for Inner {
    const KIND: ParamKind = ParamKind::Algorithm { several: true };
    fn read(value: &Value) -> Option<Self> {
        AnyParams::read(value).map(|params| Self(Box::new(params)))
    }
    fn value(&self) -> Value {
        self.0.value()
    }
    fn within(&self, _: &Range) -> bool {
        true
    }
}
