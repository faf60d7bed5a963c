//! All integration tests in one binary: each binary compiles the generic engine again.

mod known;
mod models;
mod runs;
mod support;
