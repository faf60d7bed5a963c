//! The least or greatest value of a window of time, in constant space: the best three, each later than the one before
//! (Nichols' windowed filter; Linux, lib/win_minmax.c).

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: u32,
    value: u64,
}

/// The greatest value of a sliding time window, or the least if `GREATEST` is false.
#[derive(Clone, Debug)]
pub struct Extreme<const GREATEST: bool>([Sample; 3]);

/// The greatest value.
pub type Maximum = Extreme<true>;

/// The least value.
pub type Minimum = Extreme<false>;

impl<const GREATEST: bool> Extreme<GREATEST> {
    /// With this value alone.
    #[must_use]
    pub const fn new(at: u32, value: u64) -> Self {
        Self([Sample { at, value }; 3])
    }

    /// The greatest or least value.
    #[must_use]
    pub const fn value(&self) -> u64 {
        self.0[0].value
    }

    const fn beats(new: u64, old: u64) -> bool {
        if GREATEST { new >= old } else { new <= old }
    }

    /// Takes in a value, and forgets those that are older than `window`.
    pub fn insert(&mut self, window: u32, at: u32, value: u64) {
        let new = Sample { at, value };
        let [best, second, third] = &mut self.0;
        if Self::beats(value, best.value) || at.wrapping_sub(third.at) > window {
            self.0 = [new; 3];
            return;
        }
        if Self::beats(value, second.value) {
            (*second, *third) = (new, new);
        } else if Self::beats(value, third.value) {
            *third = new;
        }
        self.expire(window, new);
    }

    /// Promotes the others when the best is too old, and makes sure that the runners-up are spread.
    fn expire(&mut self, window: u32, new: Sample) {
        let [best, second, third] = self.0;
        let age = new.at.wrapping_sub(best.at);
        if age > window {
            self.0 = [second, third, new];
            if new.at.wrapping_sub(second.at) > window {
                self.0 = [third, new, new];
            }
        } else if second.at == best.at && age > window / 4 {
            self.0 = [best, new, new];
        } else if third.at == second.at && age > window / 2 {
            self.0 = [best, second, new];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_extreme_lasts_as_long_as_the_window() {
        let (mut most, mut least) = (Maximum::new(0, 9), Minimum::new(0, 2));
        for at in 1..=10 {
            most.insert(10, at, 5);
            least.insert(10, at, 5);
            assert_eq!((most.value(), least.value()), (9, 2), "at {at}");
        }
        most.insert(10, 11, 5);
        least.insert(10, 11, 5);
        assert_eq!((most.value(), least.value()), (5, 5));
    }

    #[test]
    fn the_value_is_one_of_the_window_and_no_worse_than_the_latest() {
        // The clock of ticks wraps on the way.
        const START: u32 = u32::MAX - 50;
        proptest!(|(values in prop::collection::vec(0..100u64, 1..200))| {
            let (mut most, mut least) = (Maximum::new(START, values[0]), Minimum::new(START, values[0]));
            for (i, &value) in values.iter().enumerate() {
                let at = START.wrapping_add(i as u32);
                most.insert(10, at, value);
                least.insert(10, at, value);
                let window = &values[i.saturating_sub(10)..=i];
                prop_assert!(window.contains(&most.value()) && window.contains(&least.value()));
                prop_assert!(least.value() <= value && value <= most.value());
            }
        });
    }
}
