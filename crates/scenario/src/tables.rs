//! The tables of a file.

pub(crate) mod link;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod traffic;
