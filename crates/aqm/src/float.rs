//! The functions of floating-point numbers that `core` lacks. Each of these is exact, so that the processor's own and
//! those of a library agree to the last bit.

macro_rules! exact {
    ($($name:ident)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(x: f64) -> f64 {
            #[cfg(feature = "std")]
            return x.$name();
            #[cfg(not(feature = "std"))]
            return libm::$name(x);
        }
    )*};
}
exact! { sqrt round floor }

/// `x` to the power of `n`, by squares in the order in which compilers multiply.
pub(crate) fn powi(x: f64, n: u32) -> f64 {
    let (mut square, mut left, mut product) = (x, n, 1.0);
    while left > 0 {
        if left & 1 == 1 {
            product *= square;
        }
        square *= square;
        left >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_that_of_the_standard_library() {
        for n in 0..40 {
            for x in [0.0, 0.3, 1.0 / 3.0, 0.999, 1.7, 1e-9] {
                assert_eq!(powi(x, n).to_bits(), x.powi(std::hint::black_box(n) as i32).to_bits(), "{x}^{n}");
            }
        }
    }
}
