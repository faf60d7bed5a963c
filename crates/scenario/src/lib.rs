//! The scenario: the one schema. TOML in, checked values out, errors with file, line, key and what is allowed.

pub mod model;
pub mod start;

pub use model::Scenario;
pub use start::Start;
