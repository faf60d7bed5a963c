//! What applications do by themselves, whatever becomes of their packets: when flows start, how much they send, when
//! datagrams leave. All engines with packets take it from here, so that with one seed they have the same traffic.

pub(crate) mod noise;
pub(crate) mod pages;
pub(crate) mod plan;
pub(crate) mod player;
pub(crate) mod short;
pub(crate) mod source;

pub use pages::{Reader, connections, readers};
pub use plan::{Bulk, bulk, starts, stop};
pub use player::Player;
pub use short::{Amount, Arrival, Arrivals};
pub use source::{Sent, Setting, Source};

use aqm::unit::Span;

/// The rest of a wait that becomes `factor` times as long.
pub(crate) fn stretched(left: Span, factor: f64) -> Span {
    Span::from_secs(left.secs() * factor)
}
