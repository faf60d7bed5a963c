//! The segments in flight when each outstanding segment was last sent (`tx.in_flight`, `tx.lost`, `tx.delivered_ce`).

use crate::tcp::rack::State;
use crate::tcp::rack::rate::RateSample;
use std::collections::VecDeque;

/// At the sending of a segment: the segments in flight with it, those lost and those delivered with a mark until then. In
/// a sample: the same flight, and how many were delivered, lost and marked since.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Flight {
    pub(super) segments: u32,
    pub(super) delivered: u32,
    pub(super) lost: u32,
    pub(super) marked: u32,
}

/// Those of the outstanding segments.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    /// The segment of the first.
    base: u32,
    sent: VecDeque<Flight>,
}

impl Default for Flights {
    fn default() -> Self {
        // The SYN has none.
        Self { base: 1, sent: VecDeque::new() }
    }
}

impl Flights {
    /// Segment `seq` is about to be sent.
    pub(super) fn note(&mut self, state: &State, seq: u32) {
        let segments = state.board.in_flight() + 1;
        let (delivered, lost, marked) = (state.delivered, state.lost, state.delivered_marked);
        let flight = Flight { segments, delivered, lost, marked };
        let Some(i) = seq.checked_sub(self.base) else { return };
        match self.sent.get_mut(i as usize) {
            Some(sent) => *sent = flight,
            None => self.sent.push_back(flight),
        }
    }

    /// When an outstanding segment was last sent.
    pub(super) fn of(&self, seq: u32) -> Option<Flight> {
        self.sent.get(seq.checked_sub(self.base)? as usize).copied()
    }

    /// The flight that an acknowledgement's sample is of, if it has one.
    pub(super) fn of_sample(&self, state: &State, sample: &RateSample) -> Option<Flight> {
        if sample.prior_at == 0 {
            return None;
        }
        let sent = self.of(sample.latest)?;
        if state.reneged {
            return Some(Flight { segments: sent.segments, ..Flight::default() });
        }
        Some(Flight {
            segments: sent.segments,
            delivered: state.delivered - sent.delivered,
            lost: state.lost - sent.lost,
            marked: state.delivered_marked - sent.marked,
        })
    }

    /// The segments before `una` are acknowledged.
    pub(super) fn forget(&mut self, una: u32) {
        let over = una.saturating_sub(self.base).min(self.sent.len() as u32);
        self.sent.drain(..over as usize);
        self.base += over;
    }
}
