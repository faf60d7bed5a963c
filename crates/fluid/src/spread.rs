//! How a quantity is spread over time.

/// Bins of a histogram.
const BINS: usize = 8192;

/// A weighted histogram of values that are not negative; its bins grow with them.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    /// The weight in each bin, and the mean of its values times that.
    bins: Box<[[f64; 2]]>,
    width: f64,
    total: f64,
    sum: f64,
    squares: f64,
    max: f64,
}

impl Spread {
    /// Empty, with bins of this width at first.
    pub(crate) fn new(width: f64) -> Self {
        Self { bins: vec![[0.0; 2]; BINS].into(), width, total: 0.0, sum: 0.0, squares: 0.0, max: 0.0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, value: f64, weight: f64) {
        while value >= self.width * BINS as f64 {
            self.widen();
        }
        let [held, sum] = &mut self.bins[(value / self.width) as usize];
        (*held, *sum) = (*held + weight, *sum + weight * value);
        self.total += weight;
        self.sum += weight * value;
        self.squares += weight * value * value;
        self.max = self.max.max(value);
    }

    /// Bins of twice the width.
    #[cold]
    fn widen(&mut self) {
        for i in 0..BINS {
            let pair = self.bins.get(2 * i..2 * i + 2);
            self.bins[i] = pair.map_or([0.0; 2], |pair| [pair[0][0] + pair[1][0], pair[0][1] + pair[1][1]]);
        }
        self.width *= 2.0;
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.total > 0.0).then(|| self.sum / self.total)
    }

    pub(crate) fn max(&self) -> Option<f64> {
        (self.total > 0.0).then_some(self.max)
    }

    /// The standard deviation.
    pub(crate) fn std(&self) -> Option<f64> {
        self.mean().map(|mean| (self.squares / self.total - mean * mean).max(0.0).sqrt())
    }

    /// The mean absolute deviation from the mean.
    pub(crate) fn mad(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some(self.bins.iter().map(|[weight, sum]| (sum - weight * mean).abs()).sum::<f64>() / self.total)
    }

    /// The value that a part `u` falls short of, to a bin.
    pub(crate) fn quantile(&self, u: f64) -> Option<f64> {
        let (mut passed, wanted) = (0.0, u * self.total);
        let bin = self.bins.iter().position(|[weight, _]| {
            passed += weight;
            passed >= wanted && *weight > 0.0
        });
        let bin = bin.filter(|_| self.total > 0.0)?;
        let [weight, sum] = self.bins[bin];
        Some(sum / weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_quantiles_are_those_of_what_was_added() {
        let mut spread = Spread::new(1.0 / 64.0);
        // Uniform on 0 to 1000, in steps that make the bins widen.
        for i in 0..100_000 {
            spread.add(f64::from(i) * 0.01, 2.0);
        }
        let near = |found: Option<f64>, wanted: f64, off: f64| {
            assert!((found.unwrap() - wanted).abs() < off, "{found:?} {wanted}");
        };
        near(spread.mean(), 499.995, 1e-9);
        near(spread.std(), 1000.0 / 12.0_f64.sqrt(), 1e-3);
        near(spread.mad(), 250.0, 0.1);
        near(spread.quantile(0.95), 950.0, 0.2);
        near(spread.max(), 999.99, 1e-12);
        assert_eq!(Spread::new(1.0).quantile(0.5), None);
    }
}
