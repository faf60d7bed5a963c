//! Whether a reduction of the window may turn out to be wrong.

/// The record of a reduction, which may take it back.
#[derive(Clone, Default, Debug)]
pub(super) struct Undo {
    /// The first outstanding segment when the reduction began; `None` if it may not be undone (`undo_marker`).
    pub(super) marker: Option<u32>,
    /// Retransmissions that no D-SACK has reported as duplicates; `None` before the first (`undo_retrans`).
    pub(super) resent: Option<u32>,
    /// When the first retransmission was sent, on the clock of timestamps; 0 if none was (`retrans_stamp`).
    pub(super) since: u32,
}

impl Undo {
    /// A D-SACK reports `segments` duplicates, the last before `end`.
    pub(super) fn note_dsack(&mut self, segments: u32, end: u32) {
        if let (Some(marker), Some(resent)) = (self.marker, &mut self.resent)
            && end > marker
        {
            *resent = resent.saturating_sub(segments);
        }
    }

    /// A retransmission is sent now.
    pub(super) fn note_resent(&mut self, ms: u32) {
        if self.since == 0 {
            self.since = ms;
        }
        *self.resent.get_or_insert(0) += 1;
    }

    /// Whether D-SACKs have reported all retransmissions as duplicates, so that nothing was lost.
    pub(super) fn all_duplicated(&self) -> bool {
        self.marker.is_some() && self.resent == Some(0)
    }
}
