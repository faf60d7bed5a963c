//! The fixed-point arithmetic of the kernel's programs, `kernel/fixed.h`, against exact integers and floating point.
#![allow(unsafe_code)]

use crate::kernel::compile;
use crate::support::Random;
use libloading::Library;
use std::path::Path;
use std::sync::Arc;

/// The functions of `fixed.h` in a library, all with the same type.
const SOURCE: &str = r#"
#include "fixed.h"
#define EXPORT __attribute__((visibility("default")))
EXPORT u64 x_mul_shift(u64 a, u64 b, u64 shift) { return mul_shift(a, b, shift); }
EXPORT u64 x_div_shift(u64 a, u64 b, u64 shift) { return div_shift(a, b, shift); }
EXPORT u64 x_scale(u64 a, u64 b, u64 shift) { return scale(a, b, shift); }
EXPORT u64 x_power(u64 x, u64 n, u64 nothing) { (void)nothing; return power(x, n); }
EXPORT u64 x_root(u64 x, u64 nothing, u64 more) { (void)nothing; (void)more; return root(x); }
EXPORT u64 x_log2(u64 x, u64 nothing, u64 more) { (void)nothing; (void)more; return log2_q32(x); }
EXPORT u64 x_exp2(u64 a, u64 e, u64 nothing) { (void)nothing; return mul_exp2(a, e); }
"#;

type Function = unsafe extern "C" fn(u64, u64, u64) -> u64;

pub(crate) struct Fixed(Arc<Library>);

impl Fixed {
    /// A library of functions with the type `Function`.
    pub(crate) fn new(test: &str, source: &str) -> Self {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fixed-{test}.c"));
        std::fs::write(&file, source).expect("a file");
        Self(compile(&file, false))
    }

    pub(crate) fn call(&self, name: &str, a: u64, b: u64, c: u64) -> u64 {
        // Safety: the source above declares them so.
        unsafe { self.0.get::<Function>(name.as_bytes()).expect(name)(a, b, c) }
    }
}

/// Integers of all sizes, and the extremes.
fn integers(random: &mut Random) -> Vec<u64> {
    let ends = [0, 1, 2, 3, (1 << 32) - 1, 1 << 32, (1 << 62) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, u64::MAX];
    let random = (0..150).map(|_| random.bits() >> (random.bits() % 64));
    ends.into_iter().chain(random).collect()
}

fn saturated(x: u128) -> u64 {
    u64::try_from(x).unwrap_or(u64::MAX)
}

#[test]
fn products_and_quotients_are_exact_and_saturate() {
    let fixed = Fixed::new("exact", SOURCE);
    let mut random = Random(1);
    for a in integers(&mut random) {
        for b in integers(&mut random) {
            let shift = random.bits() % 64;
            let product = (u128::from(a) * u128::from(b)) >> shift;
            assert_eq!(fixed.call("x_mul_shift", a, b, shift), saturated(product), "{a} {b} {shift}");
            let quotient = (u128::from(a) << shift).checked_div(b.into()).map_or(u64::MAX, saturated);
            assert_eq!(fixed.call("x_div_shift", a, b, shift), quotient, "{a} {b} {shift}");
            let signed = i128::from(a as i64) * i128::from(b);
            let amount = (signed.unsigned_abs() >> shift).min(1 << 61) as i64;
            let scaled = if signed < 0 { -amount } else { amount };
            assert_eq!(fixed.call("x_scale", a, b, shift) as i64, scaled, "{a} {b} {shift}");
        }
        let root = fixed.call("x_root", a, 0, 0);
        assert_eq!(u128::from(root), u128::from(a).isqrt(), "{a}");
    }
}

#[test]
fn logarithms_exponentials_and_powers_are_those_of_floating_point() {
    let fixed = Fixed::new("floats", SOURCE);
    let mut random = Random(2);
    let one = 2.0_f64.powi(32);
    for x in integers(&mut random).into_iter().filter(|x| *x > 0) {
        let found = fixed.call("x_log2", x, 0, 0) as i64 as f64 / one;
        assert!((found - (x as f64 / one).log2()).abs() < 4.0 / one, "{x}: {found}");
    }
    assert!((fixed.call("x_log2", 0, 0, 0) as i64) < fixed.call("x_log2", 1, 0, 0) as i64);
    for a in integers(&mut random) {
        for e in integers(&mut random) {
            // Exponents from -70 to 70.
            let e = (e % (140 << 32)) as i64 - (70 << 32);
            let found = fixed.call("x_exp2", a, e as u64, 0);
            let expected = a as f64 * (e as f64 / one).exp2();
            if expected > 1.8e19 || e >= 63 << 32 {
                assert!(a == 0 && found == 0 || found >= 1 << 63, "{a} {e}: {found}, not {expected}");
            } else {
                let near = (found as f64 - expected).abs() <= 1.0 + 1e-15 * expected;
                assert!(near, "{a} {e}: {found}, not {expected}");
            }
        }
    }
    for _ in 0..20_000 {
        let (x, n) = (random.bits() % ((1 << 62) + 1), random.bits() >> (random.bits() % 64));
        // Also near 1.
        let x = if n % 2 == 0 { x } else { (1 << 62) - (x >> (random.bits() % 62)) };
        let found = fixed.call("x_power", x, n, 0) as f64 / 2.0_f64.powi(62);
        // 1 - x has no rounding.
        let log = (-(((1_u64 << 62) - x) as f64 / 2.0_f64.powi(62))).ln_1p() * n as f64;
        let error = log.exp() - found;
        assert!(
            (-1e-15..1e-15 + n as f64 / 2.0_f64.powi(61)).contains(&error),
            "{x}^{n}: {found}, not {}",
            log.exp()
        );
    }
    assert_eq!(fixed.call("x_power", 0, 0, 0), 1 << 62);
    assert_eq!(fixed.call("x_power", 1 << 62, u64::MAX, 0), 1 << 62);
}
