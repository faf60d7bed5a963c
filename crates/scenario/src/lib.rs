//! The scenario: the one schema. TOML in, checked values out, errors with file, line, key and what is allowed.
//!
//! A [`Document`] is a file as written, with the changes of a command line; [`Document::check`] compiles it into the
//! [`Scenario`] that an engine runs. Each room uses only the rooms above it:
//!
//! - [`model`]: the scenario as engines see it, typed and checked. It knows nothing of files.
//! - `source`: a file as written, with the line of each value, and the changes that a command line makes to it.
//! - `reader`: turns the values of one table into parameters and collects the problems.
//! - `tables`: each table that a file may hold: its keys, their defaults and ranges, and the problems of one table alone.
//! - `compile`: tables into a [`Scenario`], the problems of tables that do not fit together, and the effective scenario as
//!   JSON.
//! - [`schema()`] and [`catalogue()`]: what a file may hold, for editors, lists and pages.

mod catalogue;
mod compile;
pub mod model;
mod reader;
mod schema;
mod source;
mod tables;

pub use catalogue::catalogue;
pub use model::Scenario;
pub use model::distribution::Law;
pub use model::estimate::{Estimate, estimate, offered};
pub use schema::schema;
pub use source::document::{Document, LONGEST};
pub use source::error::{Origin, Problem, Problems};
pub use source::tree::DEEPEST;
pub use tables::sweep::{Method, Sweep};
