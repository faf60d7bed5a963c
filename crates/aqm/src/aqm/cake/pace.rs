//! How long a packet takes at a rate (`cake_set_rate`).

/// The time of a byte, as a number of nanoseconds below a shift.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pace {
    ns: u64,
    shift: u32,
}

impl Pace {
    /// Of this rate in bytes a second, of which 64 are the least; 0 for none.
    pub(super) fn new(rate: u64) -> Self {
        if rate == 0 {
            return Self::default();
        }
        let (mut ns, mut shift) = ((1_000_000_000_u64 << 34) / rate.max(64), 34);
        while ns >> 34 != 0 {
            ns >>= 1;
            shift -= 1;
        }
        Self { ns, shift }
    }

    /// Nanoseconds that `bytes` take.
    #[inline]
    pub(super) const fn time(self, bytes: u32) -> u64 {
        ((bytes as u128 * self.ns as u128) >> self.shift) as u64
    }

    /// Whether there is no rate.
    pub(super) const fn is_unlimited(self) -> bool {
        self.ns == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_takes_its_time() {
        let pace = Pace::new(1_250_000);
        assert_eq!((pace.time(1514), pace.time(1)), (1_211_200, 800));
        assert_eq!(Pace::new(0).time(1514), 0);
        assert!(Pace::new(0).is_unlimited());
        assert_eq!(Pace::new(1).time(64), 1_000_000_000);
    }
}
