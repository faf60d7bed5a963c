//! `short` entries: the paths and the profile of the flows that arrive.

use crate::network::route::Paths;
use crate::traffic::short::Arrivals;
use aqm::unit::Time;
use scenario::model::Traffic;

/// A `short` entry.
#[derive(Debug)]
pub(crate) struct Shorts {
    pub(crate) class: u16,
    pub(crate) profile: u16,
    pub(crate) arrivals: Arrivals,
    /// When all its processes have begun.
    pub(crate) begun_by: Time,
    /// The pairs of paths, used in turn.
    paths: Vec<Paths>,
}

impl Shorts {
    pub(crate) fn new(
        class: u16,
        profile: u16,
        entry: &Traffic,
        arrivals: Arrivals,
        begun_by: Time,
        paths: impl FnMut(usize) -> Paths,
    ) -> Self {
        let paths = (0..pairs(entry.from.len(), entry.to.len())).map(paths).collect();
        Self { class, profile, arrivals, begun_by, paths }
    }

    /// The paths of the flow with this number.
    pub(crate) fn paths_of(&self, number: usize) -> Paths {
        self.paths[number % self.paths.len()]
    }
}

/// The number of different pairs of `from` nodes and `to` others that take turns.
pub(crate) fn pairs(from: usize, to: usize) -> usize {
    (1..).map(|i| i * from).find(|pairs| pairs.is_multiple_of(to)).expect("at most the product")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_dealt_out_to_the_pairs_in_turn() {
        assert_eq!([pairs(1, 1), pairs(2, 3), pairs(4, 2), pairs(3, 3)], [1, 6, 4, 3]);
    }
}
