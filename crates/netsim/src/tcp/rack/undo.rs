//! Whether a reduction of the window may turn out to be wrong.

/// The record of a reduction, which may take it back.
#[derive(Clone, Default, Debug)]
pub(super) struct Undo {
    /// The first outstanding segment when the reduction began; `None` if it may not be undone (`undo_marker`).
    pub(super) marker: Option<u32>,
    /// Segments sent again of which it is not known that they came twice; `None` before the first (`undo_retrans`).
    pub(super) resent: Option<u32>,
    /// When something was first sent again, on the clock of timestamps; 0 for never (`retrans_stamp`).
    pub(super) since: u32,
}

impl Undo {
    /// `segments` segments, the last before `end`, came twice.
    pub(super) fn acquit(&mut self, segments: u32, end: u32) {
        if let (Some(marker), Some(resent)) = (self.marker, &mut self.resent)
            && end > marker
        {
            *resent = resent.saturating_sub(segments);
        }
    }

    /// Something is sent again now.
    pub(super) fn note_resent(&mut self, ms: u32) {
        if self.since == 0 {
            self.since = ms;
        }
        *self.resent.get_or_insert(0) += 1;
    }

    /// Whether all that was sent again came twice.
    pub(super) fn all_twice(&self) -> bool {
        self.marker.is_some() && self.resent == Some(0)
    }
}
