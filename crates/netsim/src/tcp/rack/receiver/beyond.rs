//! What arrives beyond a gap, and the blocks that report it.

use super::merge::Joined;
use super::{FEW_RUNS, RUNS, Receiver};
use crate::tcp::{Ack, Content};
use scenario::model::Profile;

impl Receiver {
    /// Segments beyond a gap (`tcp_data_queue_ofo`).
    #[inline(never)]
    pub(super) fn take_beyond(&mut self, profile: &Profile, joined: &Joined, send: &mut impl FnMut(Ack)) {
        self.heed_mark(profile, joined, send);
        self.owed = true;
        let (seq, end) = (joined.segment.seq, joined.end);
        self.insert(seq, end);
        self.renew_runs(profile, (seq, end), send);
        if joined.segment.content == Content::Data {
            self.grow_window(profile, joined.count());
        }
    }

    /// Adds segments to what has arrived beyond the gap, and notes what of them had.
    fn insert(&mut self, seq: u32, end: u32) {
        let first = self.beyond.partition_point(|&(_, high)| high < seq);
        let touched = self.beyond[first..].iter().take_while(|&&(low, _)| low <= end).count();
        let mut run = (seq, end);
        for &(low, high) in &self.beyond[first..first + touched] {
            if low < end && seq < high {
                self.dsack = Some((low.max(seq), high.min(end)));
            }
            run = (run.0.min(low), run.1.max(high));
        }
        if touched == 0 {
            self.beyond.insert(first, run);
        } else {
            self.beyond[first] = run;
            self.beyond.drain(first + 1..first + touched);
        }
    }

    /// The run that segments belong to comes first (`tcp_sack_new_ofo_skb`).
    fn renew_runs(&mut self, profile: &Profile, new: (u32, u32), send: &mut impl FnMut(Ack)) {
        let count = self.runs.iter().take_while(|run| **run != (0, 0)).count();
        let found = self.runs[..count].iter().position(|&(low, high)| low <= new.1 && new.0 <= high);
        // A compressed ACK would have no room for another run, so it goes out now.
        if count > 0 && found.unwrap_or(count) >= FEW_RUNS && self.saved > 0 {
            self.acknowledge(profile, send);
        }
        let mut run = found.map_or(new, |i| self.runs[i]);
        run = (run.0.min(new.0), run.1.max(new.1));
        // What now touches it is the same run.
        let others = self.runs[..count].iter().enumerate().filter(|(i, _)| Some(*i) != found);
        let mut rest = [(0, 0); RUNS];
        let mut n = 0;
        for (_, &(low, high)) in others {
            if low <= run.1 && run.0 <= high {
                run = (run.0.min(low), run.1.max(high));
            } else if n < RUNS - 1 {
                rest[n] = (low, high);
                n += 1;
            }
        }
        self.runs = std::array::from_fn(|i| if i == 0 { run } else { rest[i - 1] });
    }
}
