//! The scenario and its one schema: reads TOML, returns checked values, and reports errors with file, line, key and
//! the allowed values.
//!
//! A [`Document`] is a file as written, with the changes of a command line; [`Document::check`] compiles it into the
//! [`Scenario`] that an engine runs. Each module uses only the modules above it in this list:
//!
//! - [`model`]: the scenario as engines see it, independent of files.
//! - `keys`: the names of a file's sections, and dotted paths.
//! - `source`: a file as written, over those that it extends, with the line of each value, and the changes that a
//!   command line makes to it.
//! - `reader`: reads a table into parameters and collects the problems.
//! - [`tables`]: each table of a file, with its keys, their defaults and ranges, and the checks that need no other table.
//! - `compile`: tables into a [`Scenario`], the checks that need several tables, and the effective scenario as JSON. The
//!   methods of [`Document`] that check are here, so that `source` does not depend on them.
//! - [`schema()`] and [`catalogue()`]: everything that a file may contain, for editors, lists and pages.

mod catalogue;
mod compile;
mod json;
mod keys;
pub mod model;
mod reader;
mod schema;
mod source;
pub mod tables;

pub use catalogue::{catalogue, described, variants_of};
pub use keys::DEEPEST;
pub use model::estimate::{Estimate, estimate, offered};
pub use model::{Distribution, Drawn, Scenario};
pub use schema::schema;
pub use source::document::{Document, LONGEST};
pub use source::error::{Origin, Problem, ProblemKind, Problems};
pub use source::extends::{Extension, Library};
pub use source::file::{confine, may_read};
pub use source::overlay::Change;
