//! The greatest of the values of the last so many rounds, in constant space: the best three of the window, each
//! later than the one before (Nichols' windowed filter; Linux, lib/win_minmax.c).

#[derive(Clone, Copy, Default, Debug)]
struct Sample {
    round: u32,
    value: f64,
}

/// The greatest value of the last `window` rounds.
#[derive(Clone, Default, Debug)]
pub struct Maximum([Sample; 3]);

impl Maximum {
    /// The greatest value; 0 before the first.
    #[must_use]
    pub const fn value(&self) -> f64 {
        self.0[0].value
    }

    /// Takes in a value in this round.
    pub fn insert(&mut self, window: u32, round: u32, value: f64) {
        let new = Sample { round, value };
        let [best, second, third] = &mut self.0;
        if value >= best.value || round - third.round > window {
            self.0 = [new; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        self.expire(window, new);
    }

    /// Moves up what is left when the best is too old, and makes sure that the runners-up are spread.
    fn expire(&mut self, window: u32, new: Sample) {
        let [best, second, third] = self.0;
        let age = new.round - best.round;
        if age > window {
            self.0 = [second, third, new];
            if new.round - second.round > window {
                self.0 = [third, new, new];
            }
        } else if second.round == best.round && age > window / 4 {
            self.0 = [best, new, new];
        } else if third.round == second.round && age > window / 2 {
            self.0 = [best, second, new];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_maximum_lasts_as_long_as_the_window() {
        let mut maximum = Maximum::default();
        maximum.insert(10, 0, 9.0);
        for round in 1..=10 {
            maximum.insert(10, round, 5.0);
            assert_eq!(maximum.value(), 9.0, "round {round}");
        }
        maximum.insert(10, 11, 5.0);
        assert_eq!(maximum.value(), 5.0);
        maximum.insert(10, 12, 7.0);
        assert_eq!(maximum.value(), 7.0);
    }

    #[test]
    fn the_value_is_one_of_the_window_and_no_less_than_the_latest() {
        proptest!(|(values in prop::collection::vec(0.0..100.0f64, 1..200))| {
            let mut maximum = Maximum::default();
            for (round, &value) in values.iter().enumerate() {
                maximum.insert(10, round as u32, value);
                let window = &values[round.saturating_sub(10)..=round];
                prop_assert!(window.contains(&maximum.value()));
                prop_assert!(maximum.value() >= value);
            }
        });
    }
}
