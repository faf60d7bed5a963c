//! The number of packets between two drops.

crate::choice! {
    /// How drops are spaced, given p_b.
    pub enum Spacing {
        /// Gaps uniform on [1, 1/p_b]: the paper of 1993.
        Uniform = "1993",
        /// Gaps uniform on [1/p_b, 2/p_b]: ns-2's `wait_`.
        Wait = "wait",
        /// Independent drops.
        None = "none",
    }
}

impl Spacing {
    /// The probability p_a of the `count`-th packet since the last drop.
    #[inline]
    pub(in crate::aqm) fn p_a(self, p_b: f64, count: f64) -> f64 {
        let expected = count * p_b;
        match self {
            Self::None => p_b,
            Self::Uniform if expected < 1.0 => (p_b / (1.0 - expected)).min(1.0),
            Self::Wait if expected < 1.0 => 0.0,
            Self::Wait if expected < 2.0 => (p_b / (2.0 - expected)).min(1.0),
            Self::Uniform | Self::Wait => 1.0,
        }
    }
}
