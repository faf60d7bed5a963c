//! The least or greatest value of a window of time, in constant space: the best three, each later than the one before
//! (Nichols' windowed filter; Linux, lib/win_minmax.c).

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: u32,
    value: u64,
}

/// The greatest value of the last so much time, or the least where `GREATEST` is false.
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

    /// Moves up what is left when the best is too old, and makes sure that the runners-up are spread.
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
