//! The scenario: the one schema. TOML in, checked values out, errors with file, line, key and what is allowed.
//!
//! A [`Document`] is a file as written, with the changes of a command line; [`Document::check`] makes of it the
//! [`Scenario`] that an engine runs. What a file may hold is declared once, in [`model`]; the checks, the
//! [`schema`] and the [`catalogue`] follow from that.

mod catalogue;
mod check;
mod document;
mod error;
mod estimate;
mod file;
pub mod law;
mod link;
pub mod model;
mod network;
mod read;
mod resolved;
pub mod route;
mod schema;
mod sweep;
mod target;
mod tcp;
mod trace;
mod traffic;
mod tree;

pub use catalogue::catalogue;
pub use document::{Document, LONGEST};
pub use error::{Origin, Problem, Problems};
pub use estimate::{Estimate, estimate, offered};
pub use law::Law;
pub use model::Scenario;
pub use schema::schema;
pub use sweep::{Method, Sweep};
pub use tree::DEEPEST;
