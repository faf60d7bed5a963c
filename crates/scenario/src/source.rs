//! A scenario file as written.

pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod extends;
pub(crate) mod file;
pub(crate) mod mistaken;
pub(crate) mod overlay;
pub(crate) mod target;
pub(crate) mod tree;
