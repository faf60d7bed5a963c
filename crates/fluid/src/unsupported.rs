//! The error for a scenario that the equations cannot express.

use std::fmt;

/// The part of a scenario that the equations cannot express, and the fix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported(String);

impl Unsupported {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for Unsupported {}
