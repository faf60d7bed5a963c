//! Fractional Gaussian noise with its exact covariance, by circulant embedding (Davies and Harte, 1987).
//!
//! The transform is written out here because a run must be the same on every machine: the crates that exist take
//! their sines from the platform, and their order of additions from the processor.

use crate::engine::rng::Stream;
use run::Watch;
use std::f64::consts::PI;

/// The values that are computed between two looks at the watch.
const PIECE: usize = 1 << 10;

/// `steps` values of mean 0 and variance 1 with this Hurst parameter; `None` if the watch stops it.
pub(crate) fn fractional(steps: usize, hurst: f64, rng: &mut Stream, watch: &mut Watch) -> Option<Vec<f64>> {
    // The covariances, forwards and backwards, fill a circle; its transform holds the variances of independent waves.
    let half = steps.next_power_of_two();
    let size = 2 * half;
    let mut waves = in_pieces(size, |k| Complex(covariance(k.min(size - k), hurst), 0.0), watch)?;
    transform(&mut waves, watch)?;
    for piece in waves.chunks_mut(PIECE) {
        for wave in &mut *piece {
            // None is negative but for rounding.
            let amplitude = (wave.0.max(0.0) / size as f64).sqrt();
            let (a, b) = rng.gaussians();
            *wave = Complex(amplitude * a, amplitude * b);
        }
        watch.goes_on(piece.len()).then_some(())?;
    }
    transform(&mut waves, watch)?;
    Some(waves[..steps].iter().map(|wave| wave.0).collect())
}

/// The values of `of` at 0, 1, ..., `count` - 1.
fn in_pieces(count: usize, of: impl Fn(usize) -> Complex, watch: &mut Watch) -> Option<Vec<Complex>> {
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let piece = values.len()..(values.len() + PIECE).min(count);
        watch.goes_on(piece.len()).then_some(())?;
        values.extend(piece.map(&of));
    }
    Some(values)
}

/// The covariance of two values `lag` steps apart.
fn covariance(lag: usize, hurst: f64) -> f64 {
    let (k, power) = (lag as f64, 2.0 * hurst);
    let to = |x: f64| libm::pow(x, power);
    if lag == 0 {
        1.0
    } else if lag < 100 {
        0.5 * (to(k + 1.0) - 2.0 * to(k) + to(k - 1.0))
    } else {
        // The difference of large numbers would lose its digits: its series in 1/k.
        let x = 1.0 / (k * k);
        let pair = |n: f64| (power - n) * (power - n - 1.0) * x / ((n + 1.0) * (n + 2.0));
        0.5 * power * (power - 1.0) * to(k) * x * (1.0 + pair(2.0) * (1.0 + pair(4.0)))
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Complex(f64, f64);

/// The discrete Fourier transform in place (Cooley and Tukey, radix 2); the length is a power of two.
fn transform(values: &mut [Complex], watch: &mut Watch) -> Option<()> {
    let size = values.len();
    assert!(size.is_power_of_two(), "a transform of {size} values");
    let shift = usize::BITS - size.trailing_zeros();
    for i in 1..size {
        let j = i.reverse_bits() >> shift;
        if i < j {
            values.swap(i, j);
        }
        if i % PIECE == 0 {
            watch.goes_on(PIECE / 8).then_some(())?;
        }
    }
    let turn = |k: usize| {
        let angle = 2.0 * PI * k as f64 / size as f64;
        Complex(libm::cos(angle), -libm::sin(angle))
    };
    let turns = in_pieces(size / 2, turn, watch)?;
    let mut half = 1;
    while half < size {
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            let mut turns = turns.iter().step_by(size / (2 * half));
            for (low, high) in low.chunks_mut(PIECE).zip(high.chunks_mut(PIECE)) {
                watch.goes_on(low.len().div_ceil(8)).then_some(())?;
                for ((a, b), turn) in low.iter_mut().zip(high).zip(&mut turns) {
                    let turned = Complex(b.0 * turn.0 - b.1 * turn.1, b.0 * turn.1 + b.1 * turn.0);
                    *b = Complex(a.0 - turned.0, a.1 - turned.1);
                    *a = Complex(a.0 + turned.0, a.1 + turned.1);
                }
            }
        }
        half *= 2;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Uniform as _;

    #[test]
    fn the_transform_is_the_sum_that_defines_it() {
        let mut rng = Stream::new(1, "transform");
        let values: Vec<Complex> = (0..16).map(|_| Complex(rng.uniform(), rng.uniform())).collect();
        let mut found = values.clone();
        transform(&mut found, &mut Watch::default()).unwrap();
        for (k, found) in found.iter().enumerate() {
            let (mut re, mut im) = (0.0, 0.0);
            for (j, Complex(x, y)) in values.iter().enumerate() {
                let (sin, cos) = (-2.0 * PI * (j * k) as f64 / 16.0).sin_cos();
                re += x * cos - y * sin;
                im += x * sin + y * cos;
            }
            assert!((found.0 - re).abs() < 1e-12 && (found.1 - im).abs() < 1e-12, "{k}");
        }
    }

    #[test]
    fn the_covariance_goes_on_smoothly_where_its_series_takes_over() {
        for hurst in [0.1, 0.5, 0.7, 0.9, 0.99] {
            let power = 2.0 * hurst;
            for lag in [100usize, 120, 300] {
                let k = lag as f64;
                let direct = 0.5 * ((k + 1.0).powf(power) - 2.0 * k.powf(power) + (k - 1.0).powf(power));
                let found = covariance(lag, hurst);
                assert!(
                    (found - direct).abs() < 1e-9 * (1.0 + direct.abs()),
                    "{hurst} {lag}: {found} {direct}"
                );
            }
        }
        assert_eq!(covariance(1, 0.5), 0.0, "white noise");
    }

    #[test]
    fn noise_has_the_covariance_asked_for() {
        // The mean over independent series of a product is within five standard errors of the covariance.
        for hurst in [0.3, 0.5, 0.8, 0.95] {
            let runs = 4000;
            let mut sums = [0.0; 4];
            let mut squares = [0.0; 4];
            for run in 0..runs {
                let mut rng = Stream::new(run, "noise");
                let noise = fractional(100, hurst, &mut rng, &mut Watch::default()).unwrap();
                assert_eq!(noise.len(), 100);
                for (i, lag) in [0, 1, 10, 90].into_iter().enumerate() {
                    let product = noise[5] * noise[5 + lag];
                    sums[i] += product;
                    squares[i] += product * product;
                }
            }
            for (i, lag) in [0usize, 1, 10, 90].into_iter().enumerate() {
                let n = runs as f64;
                let mean = sums[i] / n;
                let error = ((squares[i] / n - mean * mean) / n).sqrt();
                let expected = covariance(lag, hurst);
                assert!((mean - expected).abs() < 5.0 * error, "{hurst} {lag}: {mean} for {expected}");
            }
        }
    }
}
