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
        let paths = (0..entry.pairs()).map(paths).collect();
        Self { class, profile, arrivals, begun_by, paths }
    }

    /// The paths of the flow with this number.
    pub(crate) fn paths_of(&self, number: usize) -> Paths {
        self.paths[number % self.paths.len()]
    }
}
