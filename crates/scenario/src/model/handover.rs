//! Handovers at random: from one satellite or cell to the next.

use super::distribution::Distribution;
use super::link::RATES;
use super::variation::PROBABILITIES;
use aqm::params;
use aqm::params::Range;
use aqm::unit::{Rate, Span};

params! {
    /// Handovers, after each of which a link has another delay, another rate, or both. They are drawn for each run.
    pub struct Handover {
        /// The time from one to the next, at least 10 ms.
        every: Distribution<Span> = Distribution::Fixed(Span::s(15)), "s", EVERY;
        /// The time of the first, until which the link has its own delay and rates; auto is drawn as `every`.
        first: Option<Distribution<Span>> = None, "s", Range::new(0.0, 1e7);
        /// How long nothing is sent then, in both directions, as in one of `outages`. It ends with the next handover at the
        /// latest.
        outage: Distribution<Span> = Distribution::Fixed(Span::ZERO), "s", Range::new(0.0, 3600.0);
        /// Probability that a packet that comes to the link during the outage is lost; the others wait.
        loss: f64 = 0.0, "", PROBABILITIES;
        /// The one-way delay afterwards, in both directions; auto is that of before.
        delay: Option<Distribution<Span>> = None, "s", Range::new(0.0, 3600.0);
        /// The rate afterwards: `uniform(50 Mbit/s, 250 Mbit/s)`; auto is that of before.
        rate: Option<Distribution<Rate>> = None, "bit/s", RATES;
        /// As `rate`, for the reverse direction.
        reverse_rate: Option<Distribution<Rate>> = None, "bit/s", RATES;
    }
}

/// Shorter draws count as the least.
pub const EVERY: Range = Range::new(0.01, 1e7);

impl Handover {
    /// When the first comes, as it is drawn.
    #[must_use]
    pub fn first(&self) -> &Distribution<Span> {
        self.first.as_ref().unwrap_or(&self.every)
    }

    /// The rates of both directions, if they change.
    pub(crate) fn rates(&self) -> impl Iterator<Item = &Distribution<Rate>> {
        self.rate.iter().chain(&self.reverse_rate)
    }
}
