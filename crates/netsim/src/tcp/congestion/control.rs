//! What a `rack` sender asks of its congestion control.

use super::growth;
use crate::tcp::rack::rate::RateSample;
use crate::tcp::rack::{Phase, State};
use scenario::model::Profile;

/// Something that happened to a connection (`tcp_ca_event`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A segment is about to be sent while none is in the network (`CA_EVENT_TX_START`).
    TxStart,
    /// The retransmission timer went off: the threshold is lowered, and the window is about to be
    /// (`CA_EVENT_LOSS`).
    Loss,
    /// An acknowledgement shows that a tail loss probe has repaired the loss of a segment
    /// (`CA_EVENT_TLP_RECOVERY`). A reduction of the window follows.
    TlpRecovery,
}

/// A congestion control of `rack` senders ([`crate::tcp::rack`]): what Linux asks of a `tcp_congestion_ops`, whose
/// name for a hook stands in brackets. The defaults are Reno's.
///
/// In every hook `state` is the sender's, with `state.clock` at the present, and `profile` is the configuration of its TCP. A
/// hook that gets `&mut State` may set the window, the threshold and the pace; all else belongs to the sender.
///
/// An acknowledgement calls the hooks in this order, all at the same time: `on_rtt`, `on_ack`, `on_lost` for each new loss,
/// `ssthresh` and `on_phase` if a reduction begins or ends, then either `cong_control` or, unless the window is being reduced,
/// `cong_avoid`; at last `on_send` for each segment that it releases.
#[allow(unused_variables, reason = "a default needs few of the arguments, whose names are for the reader")]
pub trait CongestionControl {
    /// The state of a new connection, before its handshake.
    fn new(profile: &Profile) -> Self;

    /// The connection is open (`init`): the first window is set, and the round trip of a handshake is measured. Called once,
    /// before the first data.
    fn on_open(&mut self, state: &mut State, profile: &Profile) {}

    /// The slow-start threshold in segments that a loss or a mark leaves (`ssthresh`). Called when a reduction begins or the
    /// retransmission timer goes off, while `state.cwnd` is still the window before it.
    fn ssthresh(&mut self, state: &State, profile: &Profile) -> u32 {
        (state.to_reduce(profile) / 2).max(growth::LEAST)
    }

    /// Whether the sender is to check on each acknowledgement and timer, too, if the application limits the rate
    /// (`tcp_rate_check_app_limited`); it always checks when the application hands over data.
    fn rechecks_app_limited(&self) -> bool {
        false
    }

    /// The most segments that leave the host at once where there is segmentation offload (`tso_segs`, `min_tso_segs`).
    fn most_at_once(&self, state: &State, profile: &Profile) -> u32 {
        state.burst(profile, 2)
    }

    /// Segment `seq` is about to be sent, for the first time or again. Called before `state.board` records it.
    fn on_send(&mut self, state: &State, seq: u32) {}

    /// Segment `seq` was judged lost (`skb_marked_lost`). `lost` counts the losses of the connection up to and including this
    /// one; `state.lost` includes those found together with it. Called only if `on_open` has set
    /// [`State::losses`].
    fn on_lost(&mut self, state: &State, profile: &Profile, seq: u32, lost: u32) {}

    /// `acked` segments were delivered, so that the window may grow (`cong_avoid`). Called for each acknowledgement of
    /// something new and, where much is reordered, for each SACK; but neither while the window is being reduced nor if
    /// [`CongestionControl::has_cong_control`].
    fn cong_avoid(&mut self, state: &mut State, profile: &Profile, acked: u32) {
        growth::cong_avoid(state, acked);
    }

    /// An acknowledgement has measured a round trip of `rtt_us` microseconds (`pkts_acked`): that of the latest segment it
    /// covers. `state.rtt` has taken it in.
    fn on_rtt(&mut self, state: &mut State, profile: &Profile, rtt_us: u64) {}

    /// The sender is about to enter the phase `next` (`set_state`), which may be the present one; `state.phase` is
    /// still the present one.
    fn on_phase(&mut self, state: &mut State, profile: &Profile, next: Phase) {}

    /// Something happened (`cwnd_event`). [`Event`] states for each case when it is called.
    fn on_event(&mut self, state: &mut State, profile: &Profile, event: Event) {}

    /// An acknowledgement came (`in_ack_event`). Called once for each that is not older than the last, when its segments
    /// and marks are counted, before losses are looked for.
    fn on_ack(&mut self, state: &mut State, profile: &Profile) {}

    /// The window to restore, in segments, because the reduction was wrong (`undo_cwnd`). Called when it turns out that
    /// nothing was lost; the sender then restores the threshold.
    fn undo_cwnd(&mut self, state: &mut State) -> u32 {
        state.cwnd.max(state.prior_cwnd)
    }

    /// Whether the control sets window and pace itself in every phase, with [`CongestionControl::cong_control`]. The
    /// sender then neither reduces the window nor calls `cong_avoid`.
    fn has_cong_control(&self) -> bool {
        false
    }

    /// Sets window and pace (`cong_control`). Called at the end of each acknowledgement, when losses are judged and before
    /// anything is sent; `sample` has what it delivered and the rate that this means.
    fn cong_control(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {}
}
