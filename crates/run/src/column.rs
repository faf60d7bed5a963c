//! The columns of a series.

/// A named column of a series.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// `t`, the start of the bin in s; `<link>.<quantity>.<min, mean or max>` for the queue and each signal;
    /// `<link>.<arrivals or drops>`; at the observed link `<link>.<class>.<arrivals, drops, throughput or delay>`; for
    /// a lane `<link>.lane.<lane>.` followed by the queue or by one of those four.
    pub name: String,
    /// The value of each bin; NaN if it has none, such as the delay in a bin without departures.
    pub values: Vec<f64>,
}
