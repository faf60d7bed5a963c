//! The forecast of the next interval: Holt's smoothing of a level and a trend.

/// A forecast of the arrival rate, as a fraction of the link's rate.
#[derive(Clone, Debug)]
pub(super) struct Forecast {
    alpha: f64,
    beta: f64,
    /// Bytes that the link sends in an interval.
    capacity: f64,
    /// Bytes that arrived in this interval.
    arrived: u64,
    /// Level and trend; `None` before the first interval is over.
    state: Option<(f64, f64)>,
    rate: f64,
    demand: f64,
}

impl Forecast {
    /// A forecast with these weights of new values, for intervals in which the link sends `capacity` bytes.
    pub(super) fn new(alpha: f64, beta: f64, capacity: f64) -> Self {
        Self { alpha, beta, capacity, arrived: 0, state: None, rate: 0.0, demand: 0.0 }
    }

    /// Takes over level, trend and rates; with an interval of the same length, also the bytes that have arrived in it.
    pub(super) fn resume(&mut self, before: &Self) {
        (self.state, self.rate, self.demand) = (before.state, before.rate, before.demand);
        if self.capacity == before.capacity {
            self.arrived = before.arrived;
        }
    }

    /// Counts a packet.
    #[inline]
    pub(super) fn count(&mut self, size: u32) {
        self.arrived += u64::from(size);
    }

    /// Ends the interval.
    pub(super) fn update(&mut self) {
        self.rate = core::mem::take(&mut self.arrived) as f64 / self.capacity;
        let (level, trend) = match self.state {
            None => (self.rate, 0.0),
            Some((before, trend)) => {
                let level = self.alpha * self.rate + (1.0 - self.alpha) * (before + trend);
                (level, self.beta * (level - before) + (1.0 - self.beta) * trend)
            }
        };
        self.state = Some((level, trend));
        self.demand = (level + trend).max(0.0);
    }

    /// The rate of the last interval; 0 in the first one.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate expected of this interval; 0 in the first one.
    #[inline]
    pub(super) fn demand(&self) -> f64 {
        self.demand
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assert_close;

    /// The forecast after each of these intervals, on a link that sends 1000 bytes per interval.
    fn expected(alpha: f64, beta: f64, bytes: &[u32]) -> Vec<f64> {
        let mut forecast = Forecast::new(alpha, beta, 1000.0);
        assert_eq!(forecast.demand(), 0.0);
        let after = |bytes: &u32| {
            forecast.count(*bytes);
            forecast.update();
            forecast.demand()
        };
        bytes.iter().map(after).collect()
    }

    #[test]
    fn a_step_moves_level_and_trend_as_computed_by_hand() {
        // m = 0.1; m = 0.25 + 0.05 = 0.3, b = 0.2 * 0.2 = 0.04; m = 0.25 + 0.17 = 0.42, b = 0.024 + 0.032 = 0.056.
        for (found, by_hand) in expected(0.5, 0.2, &[100, 500, 500]).iter().zip([0.1, 0.34, 0.476]) {
            assert_close(*found, by_hand);
        }
    }

    #[test]
    fn the_last_rate_is_the_measured_and_not_the_expected_one() {
        let mut forecast = Forecast::new(0.5, 0.2, 1000.0);
        for bytes in [100, 0, 700] {
            forecast.count(bytes);
            forecast.update();
            assert_close(forecast.rate(), f64::from(bytes) / 1000.0);
        }
    }

    #[test]
    fn a_steady_rate_is_expected_at_once_and_a_steady_rise_in_the_end() {
        assert!(expected(0.3, 0.1, &[250; 9]).iter().all(|rate| (rate - 0.25).abs() < 1e-12));
        let rise: Vec<u32> = (1..=400).map(|k| 2 * k).collect();
        assert!((expected(0.3, 0.1, &rise)[399] - 0.802).abs() < 1e-9);
        // Without a trend it lags by the step over alpha.
        assert!((expected(0.4, 0.0, &rise)[399] - (0.802 - 0.002 / 0.4)).abs() < 1e-9);
    }

    #[test]
    fn the_forecast_is_never_negative() {
        let mut bytes = vec![800, 600, 400, 200];
        bytes.extend([0; 30]);
        let rates = expected(0.9, 0.9, &bytes);
        assert!(rates.contains(&0.0) && rates.iter().all(|rate| *rate >= 0.0), "{rates:?}");
    }
}
