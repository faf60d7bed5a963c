//! The flows: the endpoints of all traffic, and the applications that open and close connections.

pub(crate) mod endpoints;
pub(crate) mod flow;
mod growth;
pub(crate) mod short;
pub(crate) mod slots;
pub(crate) mod web;
