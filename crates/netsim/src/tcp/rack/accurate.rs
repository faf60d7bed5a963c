//! Accurate ECN (RFC 9768): what a receiver reports of the marks that arrive, and what the sender makes of it.
//!
//! ```text
//! ACE field:  (5 + segments with CE) mod 8          in every ACK
//! option:     segments with ECT(1), CE, ECT(0)      where it has room; Linux counts their bytes
//! ```
//!
//! An ACK that delivers more than seven segments may hide a whole turn of the field. Then the option decides; without it
//! as many marks are assumed as can be, unless ACKs usually deliver more than four segments.
//!
//! The field's first value, 5, and the answer to a SYN, which reports the SYN's own ECN field, show whether both ends count.
//! A change of the ECN field is acknowledged at once; the next two ACKs then owe the option.
//!
//! Sources: Linux 7.2, include/net/tcp_ecn.h, `__tcp_accecn_process` (net/ipv4/tcp_input.c), `tcp_options_fit_accecn`
//! (tcp_output.c), `tcp_ecn_openreq_child` (tcp_minisocks.c); RFC 9768.
//!
//! # Departures from the source
//! * The option counts segments modulo 65536, not bytes modulo 2^24. One without a counter is none.
//! * There is as much room for options as timestamps leave, whether or not there are any.
//! * An ACK that delivers nothing is not read. Linux reads one whose timestamp is newer; the next ACK reports the same marks.
//! * With `sparse` Linux puts the option into the sender's segments too, three times a round trip, and owes one after 4 MB. Here
//!   the receiver's ACKs alone have it.
//! * Beside three SACK blocks without news Linux sends an option of no counters, which counts as one that was owed.
//! * After a lost SYN-ACK Linux does without the option for the whole connection, here for the second SYN-ACK. A SYN that comes
//!   again does not change the field to which the first segment's is compared.
//! * Marks on ACKs are not counted, because no data comes back that could report them.
//! * Both ends are of one kind: a client never meets a server that has another feedback.

use crate::tcp::{AckOption, Blocks, Counts, Segment};
use aqm::unit::{Span, Time};
use scenario::model::{Feedback, Profile};

/// The field's first value (`TCP_ACCECN_CEP_INIT_OFFSET`), and its greatest.
const FIRST: u8 = 5;
const MOST: u32 = 7;
/// Options owed after a change (`accecn_opt_demand`), and options in a round trip (`tcp_ecn_option_beacon`).
const OWED: u8 = 2;
const BEACONS: u64 = 3;
/// The weight of an ACK in the mean of the segments that it delivers, as an exponent (`PKTS_ACKED_WEIGHT`), and the unit of
/// that mean (`PKTS_ACKED_PREC`).
const WEIGHT: u32 = 6;
const UNIT: u32 = 64;
/// The mean above which ACKs count as thinned out (`ACK_COMP_THRESH`).
const THINNED: u32 = 4;

/// An ECN field. The number of one that is counted is that of its counter in the option, from 1 on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Field {
    #[default]
    NotEct,
    Ect1,
    Ce,
    Ect0,
}

impl Field {
    pub(super) const fn of(segment: &Segment, ce: bool) -> Self {
        match (ce, segment.ect, segment.l4s) {
            (true, ..) => Self::Ce,
            (false, false, _) => Self::NotEct,
            (false, true, true) => Self::Ect1,
            (false, true, false) => Self::Ect0,
        }
    }

    /// The ACE field of the answer to a SYN with this ECN field (`tcp_accecn_echo_syn_ect`).
    const fn reflected(self) -> u8 {
        match self {
            Self::NotEct => 0b010,
            Self::Ect1 => 0b011,
            Self::Ect0 => 0b100,
            Self::Ce => 0b110,
        }
    }
}

/// The marks that the sender has heard of.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    /// The counters of the last option, in its order (`delivered_ecn_bytes`).
    counts: [u16; 3],
    /// The counter that rose last, which rises with each delivery where there is no option (`est_ecnfield`).
    rises: Option<usize>,
    /// The mean of the segments that an ACK delivers (`pkts_acked_ewma`).
    mean: u32,
}

impl Heard {
    pub(super) const fn counts(&self) -> [u16; 3] {
        self.counts
    }

    /// The new marks in an ACK that delivers this many segments; the sender knows of `marked` marks so far
    /// (`__tcp_accecn_process`).
    pub(super) fn news(&mut self, ace: u8, counts: Option<Counts>, marked: u32, delivered: u32) -> u32 {
        let before = self.counts[1];
        let known = self.take(counts, delivered);
        if delivered > 0 {
            let old = if self.mean == 0 { delivered * UNIT } else { self.mean };
            self.mean = (((old << WEIGHT) - old + delivered * UNIT) >> WEIGHT).min(0xffff);
        }
        let least = u32::from(ace).wrapping_sub(u32::from(FIRST) + marked) & MOST;
        if delivered <= MOST {
            return least;
        }
        let most = delivered - ((delivered - least) & MOST);
        if !known {
            return if self.mean > THINNED * UNIT { least } else { most };
        }
        match u32::from(self.counts[1].wrapping_sub(before)) {
            0 => least,
            marks if delivered > 2 * MOST + 1 => {
                if delivered <= marks {
                    most
                } else {
                    most.min(least + (marks & !MOST))
                }
            }
            marks if marks > least => most,
            marks if 2 * marks < most => least,
            _ => most,
        }
    }

    /// Takes in the option; whether the counters are known without it or agree with it (`tcp_accecn_process_option`).
    fn take(&mut self, counts: Option<Counts>, delivered: u32) -> bool {
        let before = self.rises;
        let Some(Counts { ect1, ce, ect0 }) = counts else {
            if let Some(field) = before {
                self.counts[field] = self.counts[field].wrapping_add(delivered as u16);
            }
            return before.is_some();
        };
        let (mut known, mut clear, mut risen) = (before.is_some(), true, None);
        for (field, count) in [Some(ect1), Some(ce), ect0].into_iter().enumerate() {
            let Some(count) = count else { continue };
            let more = count.wrapping_sub(self.counts[field]) as i16;
            self.counts[field] = count;
            let another = more != 0 && before != Some(field);
            if more < 0 || another && risen.is_some() {
                (known, clear) = (false, false);
            }
            if another && risen.is_none() {
                risen = Some(field);
            }
        }
        self.rises = if clear { risen.or(before) } else { None };
        known
    }
}

/// What the receiver reports.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrived {
    /// Marked segments, modulo 256 (`received_ce`).
    marks: u8,
    /// The counters of the option, in its order (`received_ecn_bytes`).
    counts: [u16; 3],
    /// The field of the last segment (`prev_ecnfield`).
    last: Field,
    /// Counters that the next option must have (`accecn_minlen`), options owed, and when the last was sent.
    least: u8,
    owed: u8,
    sent: Time,
    /// The segment that came twice according to the last ACK, if that had the option (`accecn_opt_sent_w_dsack`).
    repeated: Option<u32>,
    /// Whether the option seems to be lost on the way (`TCP_ACCECN_OPT_FAIL_SEND`).
    fails: bool,
    /// Whether the handshake has failed with ECN, so that ACKs are sent Not-ECT (`TCP_ACCECN_ACE_FAIL_RECV`).
    pub(super) distrusts: bool,
}

impl Arrived {
    /// A SYN has come: the first of its connection, or again. Gives the two parts of the answer (`tcp_ecn_make_synack`).
    pub(super) fn on_syn(
        &mut self,
        profile: &Profile,
        segment: &Segment,
        ce: bool,
        first: bool,
    ) -> (u8, AckOption) {
        let field = Field::of(segment, ce);
        if first {
            self.last = field;
            self.owed = 1;
        }
        // The second SYN that is sent again has given up.
        self.distrusts |= !segment.cwr;
        let option = match profile.tcp.ecn_feedback {
            Feedback::Sparse | Feedback::Accurate if first => {
                AckOption::Counts(Counts { ect1: 0, ce: 0, ect0: Some(0) })
            }
            _ => AckOption::None,
        };
        (field.reflected(), option)
    }

    /// `count` segments have come as one, with data or without; whether to acknowledge at once (`tcp_ecn_received_counters`).
    pub(super) fn on_segments(&mut self, field: Field, count: u32, data: bool) -> bool {
        if data && field != Field::NotEct {
            let counter = field as usize - 1;
            self.counts[counter] = self.counts[counter].wrapping_add(count as u16);
            self.least = self.least.max(field as u8);
        }
        let ce = field == Field::Ce;
        if ce {
            self.marks = self.marks.wrapping_add(count as u8);
        }
        let changes = field != self.last;
        if changes || ce {
            (self.last, self.owed) = (field, OWED);
        }
        changes
    }

    /// Segment `seq`, which had been acknowledged, has come again: if the last ACK said so too, it was probably lost for its
    /// option (`tcp_rcv_spurious_retrans`).
    pub(super) fn on_repeat(&mut self, seq: u32) {
        self.fails |= self.repeated == Some(seq);
    }

    /// The ACE field of an ACK that is sent now, and its option, which may take the place of the last of its blocks.
    pub(super) fn report(
        &mut self,
        now: Time,
        rtt: Span,
        profile: &Profile,
        dsack: Option<u32>,
        blocks: &mut Blocks,
    ) -> (u8, AckOption) {
        let counts = self.is_option_due(now, rtt, profile).then(|| self.fit(blocks)).flatten();
        if counts.is_some() {
            (self.least, self.owed, self.sent) = (0, self.owed.saturating_sub(1), now);
        }
        self.repeated = dsack.filter(|_| counts.is_some());
        (FIRST.wrapping_add(self.marks) & MOST as u8, counts.map_or(AckOption::None, AckOption::Counts))
    }

    fn is_option_due(&self, now: Time, rtt: Span, profile: &Profile) -> bool {
        !self.fails
            && match profile.tcp.ecn_feedback {
                Feedback::Classic | Feedback::Counter => false,
                Feedback::Sparse => self.owed > 0 || (now - self.sent).nanos() * BEACONS >= rtt.nanos(),
                Feedback::Accurate => true,
            }
    }

    /// The option, if its room has all the counters that it must have (`tcp_options_fit_accecn`).
    fn fit(&self, blocks: &mut Blocks) -> Option<Counts> {
        let [ect1, ce, ect0] = self.counts;
        let few = Counts { ect1, ce, ect0: None };
        match blocks.iter().filter(|(low, high)| low < high).count() {
            0 | 1 => Some(Counts { ect0: Some(ect0), ..few }),
            2 if self.least < 3 => Some(few),
            3 if matches!(self.least, 1 | 2) => {
                blocks[2] = (0, 0);
                Some(few)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
