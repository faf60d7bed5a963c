//! An algorithm as the parameter of another.

use crate::aqm::AnyParams;
use crate::params::{Field, ParamKind, Range, Value};
use alloc::boxed::Box;

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
