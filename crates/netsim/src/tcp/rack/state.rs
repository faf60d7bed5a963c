//! The state of a `rack` sender.

use super::accurate::Heard;
use super::board::Board;
use super::clock::Clock;
use super::reordering::Rack;
use super::rtt::Rtt;
use super::timer::Timer;
use super::undo::Undo;
use aqm::unit::Time;
use scenario::model::{Halved, Profile};

/// A threshold that was never set (`TCP_INFINITE_SSTHRESH`).
pub(in crate::tcp) const INFINITE: u32 = 0x7fff_ffff;

/// A sender's phase of recovery from losses and marks, in the kernel's order (`tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Nothing unusual.
    Open,
    /// Something arrived out of order, or was sent again.
    Disorder,
    /// The window is coming down for a mark.
    Cwr,
    /// The window is coming down for a loss, which is being repaired.
    Recovery,
    /// The retransmission timer went off.
    Loss,
}

/// What lets the window come down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A loss was found.
    Loss,
    /// A mark.
    Mark,
    /// The retransmission timer went off.
    Timeout,
}

/// A sender's state, except that of its congestion control. The kernel's name of a field stands in brackets.
#[derive(Clone, Debug)]
pub struct State {
    /// The time of the event that is being handled.
    pub clock: Clock,
    /// The first segment not acknowledged (`snd_una`).
    pub una: u32,
    /// The next segment to send for the first time (`snd_nxt`).
    pub nxt: u32,
    /// One past the last segment that the application will send, and the FIN if it is one of its own.
    pub(super) end: u32,
    /// Whether the application has closed the connection; the FIN's number, [`u32::MAX`] if data has it or there is none yet.
    pub(super) closed: bool,
    pub(super) fin: u32,
    /// The congestion window in segments.
    pub cwnd: u32,
    /// The slow-start threshold in segments.
    pub ssthresh: u32,
    /// Segments acknowledged towards the window's next increase (`snd_cwnd_cnt`).
    pub cwnd_cnt: u32,
    /// Its phase of recovery.
    pub phase: Phase,
    /// The segments outstanding.
    pub board: Board,
    /// The round trip.
    pub rtt: Rtt,
    /// Segments delivered.
    pub delivered: u32,
    /// Segments delivered that were marked: those in ACKs with an echo or, with Accurate ECN, those that its counter says
    /// (`delivered_ce`).
    pub delivered_marked: u32,
    pub(super) heard: Heard,
    /// Whether the handshake has failed with Accurate ECN, so that nothing is sent as ECN-capable.
    pub(super) distrusts: bool,
    /// When a segment was last delivered, in microseconds (`delivered_mstamp`).
    pub(in crate::tcp) delivered_at: u64,
    /// When the first segment of the present rate sample was sent, in microseconds (`first_tx_mstamp`).
    pub(super) first_at: u64,
    /// The number of delivered segments up to which the application limits the rate; 0 if it does not (`app_limited`).
    pub(in crate::tcp) limited_until: u32,
    /// Segments ever judged lost.
    pub lost: u32,
    /// The segments judged lost of which the control does not know yet; `None` unless the control asks for each loss
    /// ([`CongestionControl::on_lost`](crate::tcp::congestion::CongestionControl::on_lost)).
    pub losses: Option<Vec<u32>>,
    /// When a segment was last sent, in ticks (`lsndtime`).
    pub sent_ticks: u32,
    /// Why the present reduction, or the last one, began.
    pub cause: Cause,
    /// The window before the present reduction.
    pub prior_cwnd: u32,
    /// The threshold to restore if the present reduction is undone; 0 if it may not be.
    pub(super) prior_ssthresh: u32,
    /// One past the highest segment out when this phase began (`high_seq`).
    pub(super) high: u32,
    /// Segments delivered since the reduction began, and segments sent (PRR).
    pub(super) prr_delivered: u32,
    pub(super) prr_out: u32,
    pub(super) undo: Undo,
    pub(super) rack: Rack,
    /// Whether the window limited the sender in the present interval (`is_cwnd_limited`).
    pub(in crate::tcp) window_limited: bool,
    /// The most segments outstanding in that interval (`max_packets_out`), which ends when this one is acknowledged
    /// (`cwnd_usage_seq`).
    pub(super) most_out: u32,
    pub(super) usage_end: u32,
    /// The most segments outstanding since the window was last full (`snd_cwnd_used`), and when that was
    /// (`snd_cwnd_stamp`).
    pub(super) used: u32,
    pub(super) full_ticks: u32,
    /// Whether the receiver has reneged on its SACKs.
    pub(in crate::tcp) reneged: bool,
    /// Whether the next new segment has CWR set.
    pub(super) say_cwr: bool,
    /// Whether F-RTO is under way.
    pub(super) frto: bool,
    /// Time-outs in a row (`icsk_retransmits`).
    pub(super) backoffs: u32,
    /// While a tail loss probe is out, one past the highest segment when it was sent; 0 otherwise (`tlp_high_seq`).
    pub(super) probe_end: u32,
    /// Whether that probe is a retransmission, and not a new segment (`tlp_retrans`).
    pub(super) probe_resent: bool,
    /// Whether the application limited the rate when the segment that the probe repeats was sent for the first time.
    pub(in crate::tcp) probe_limited: bool,
    pub(super) timer: Timer,
    /// The timestamp that the present ACK echoes, in ms (`rcv_tsecr`).
    pub(super) echo: u32,
    /// Segments retransmitted since the start.
    pub(super) resent: u32,
    /// Time-outs since the start.
    pub(super) timeouts: u32,
    /// Bytes a second; [`u64::MAX`] before a control sets it (`sk_pacing_rate`).
    pub pace: u64,
    /// When the pace allows the next segment, in ns since the origin of the clock of microseconds (`tcp_wstamp_ns`).
    pub(in crate::tcp) next_send: u64,
    /// Whether a segment waits because of the pace.
    pub(super) waiting: bool,
    /// Segments with data of a sender that paces, with those sent again (`data_segs_out`): the first few have no pace.
    pub(super) data_sent: u32,
    /// Whether the pace is that of the host's queue discipline.
    pub(in crate::tcp) paced_by_host: bool,
    /// With segmentation offload, one past the last segment of the chunk of data that is next to be sent.
    pub(super) chunk_end: u32,
}

impl State {
    pub(in crate::tcp) fn new(profile: &Profile, segments: u32) -> Self {
        let first = profile.first();
        Self {
            clock: Clock::at(Time::ZERO, profile.tcp.tick),
            una: first,
            nxt: first,
            end: segments.saturating_add(1),
            closed: false,
            fin: u32::MAX,
            cwnd: profile.initial_window,
            ssthresh: INFINITE,
            cwnd_cnt: 0,
            phase: Phase::Open,
            board: Board::new(first),
            rtt: Rtt::new(profile),
            delivered: first, // the SYN is delivered first
            delivered_marked: 0,
            heard: Heard::default(),
            distrusts: false,
            delivered_at: 0,
            first_at: 0,
            limited_until: u32::from(!profile.tcp.handshake),
            lost: 0,
            losses: None,
            sent_ticks: 0,
            cause: Cause::Loss,
            prior_cwnd: 0,
            prior_ssthresh: 0,
            high: 0,
            prr_delivered: 0,
            prr_out: 0,
            undo: Undo::default(),
            rack: Rack::default(),
            window_limited: false,
            most_out: 0,
            usage_end: 0,
            used: 0,
            full_ticks: 0,
            reneged: false,
            say_cwr: false,
            frto: false,
            backoffs: 0,
            probe_end: 0,
            probe_resent: false,
            probe_limited: false,
            timer: Timer::default(),
            echo: 0,
            resent: 0,
            timeouts: 0,
            pace: u64::MAX,
            next_send: 0,
            waiting: false,
            data_sent: 0,
            paced_by_host: false,
            chunk_end: 0,
        }
    }

    /// Whether the window is below the threshold.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Segments that the receiver reported by Accurate ECN's option to have arrived with ECT(1), CE and ECT(0), modulo 65536
    /// (`delivered_ecn_bytes`).
    #[must_use]
    pub const fn counted(&self) -> [u16; 3] {
        self.heard.counts()
    }

    /// The extent of reordering in segments (`tp->reordering`).
    #[must_use]
    pub const fn reordering(&self) -> u32 {
        self.rack.reordering
    }

    /// Whether the window is what limits the sender; in slow start it may be twice the used part
    /// (`tcp_is_cwnd_limited`). It counts as full where only the pace keeps segments back (RFC 9002, section 7.8): in Linux
    /// those wait in the queue that paces, and are outstanding.
    #[must_use]
    pub fn is_window_limited(&self) -> bool {
        self.window_limited
            || self.in_slow_start() && self.cwnd < 2 * self.most_out
            || self.waiting && self.end - self.nxt + self.board.in_flight() >= self.cwnd
    }

    /// The number of segments of which a reduction keeps a part: the window, or the data outstanding (RFC 5681,
    /// equation 4).
    #[must_use]
    pub fn to_reduce(&self, profile: &Profile) -> u32 {
        match profile.tcp.halved {
            Halved::Window => self.cwnd,
            Halved::Flight => self.cwnd.min(self.board.len()),
        }
    }

    /// Whether the window is coming down (`tcp_in_cwnd_reduction`).
    pub(super) const fn is_reducing(&self) -> bool {
        matches!(self.phase, Phase::Cwr | Phase::Recovery)
    }

    /// The pace in bytes a second at which a sender without one of its own is taken to send: twice the window a round
    /// trip in slow start, 1.2 times above (`tcp_update_pacing_rate`).
    #[must_use]
    pub fn usual_pace(&self, profile: &Profile) -> u64 {
        let percent = if self.cwnd < self.ssthresh / 2 { 200 } else { 120 };
        let window = u64::from(self.cwnd.max(self.board.len())) * u64::from(profile.payload());
        window * percent * 10_000 / self.rtt.smoothed().max(1)
    }

    pub(super) const fn refresh(&mut self, now: Time, profile: &Profile) {
        self.clock = Clock::at(now, profile.tcp.tick);
    }
}
