//! The two ends of a connection: classic, as in ns-2 and the RFCs up to 6675, or `rack`, as in Linux.

use super::classic::{receiver, scoreboard, sender};
use super::congestion::Control;
use super::congestion::classic::ClassicControl;
use super::{Ack, Outbox, Segment, rack};
use aqm::unit::{Span, Time};
use scenario::model::{Flavour, Profile, Tcp};

/// The sending end.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "the classic one is for a hundred thousand flows")]
pub enum Sender {
    /// Tahoe, Reno, NewReno, SACK.
    Classic(sender::Sender),
    /// RACK-TLP.
    Rack(Box<rack::Sender>),
}

/// The receiving end.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "the classic one is for a hundred thousand flows")]
pub enum Receiver {
    /// That of a classic sender.
    Classic(receiver::Receiver),
    /// That of a `rack` sender.
    Rack(Box<rack::receiver::Receiver>),
}

const _: () =
    assert!(size_of::<Sender>() <= 160, "a sender must stay small: there may be a hundred thousand");
const _: () = assert!(size_of::<Receiver>() == 64, "a receiver is one cache line");

macro_rules! both {
    ($self:expr, $end:ident => $do:expr) => {
        match $self {
            Self::Classic($end) => $do,
            Self::Rack($end) => $do,
        }
    };
}

impl Sender {
    /// A sender that has `segments` of data to send; a classic one's clock ticked last `tick_phase` before time zero.
    #[must_use]
    pub fn new(profile: &Profile, segments: u32, tick_phase: Span) -> Self {
        match profile.tcp.flavour {
            Flavour::Rack => Self::Rack(Box::new(rack::Sender::new(profile, segments))),
            _ => Self::Classic(sender::Sender::new(profile, segments, tick_phase)),
        }
    }

    /// The congestion window in segments.
    #[must_use]
    pub fn cwnd(&self) -> f64 {
        match self {
            Self::Classic(sender) => sender.cwnd(),
            Self::Rack(sender) => f64::from(sender.state().cwnd),
        }
    }

    /// The slow-start threshold in segments.
    #[must_use]
    pub fn ssthresh(&self) -> f64 {
        match self {
            Self::Classic(sender) => sender.ssthresh(),
            Self::Rack(sender) => f64::from(sender.state().ssthresh),
        }
    }

    /// Segments sent more than once.
    #[must_use]
    pub fn retransmits(&self) -> u64 {
        both!(self, sender => sender.retransmits())
    }

    /// Times that the retransmission timer went off.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        both!(self, sender => sender.timeouts())
    }

    /// When [`Sender::on_timer`] is due; [`Time::MAX`] if not at all.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let [retransmission, pace] = self.deadlines();
        retransmission.min(pace)
    }

    /// When the retransmission timer goes off, and when the pace allows the segment that waits for it.
    #[must_use]
    #[inline]
    pub fn deadlines(&self) -> [Time; 2] {
        match self {
            Self::Classic(sender) => [sender.deadline(), Time::MAX],
            Self::Rack(sender) => sender.deadlines(),
        }
    }

    /// The first segment not acknowledged.
    #[must_use]
    pub fn una(&self) -> u32 {
        match self {
            Self::Classic(sender) => sender.una(),
            Self::Rack(sender) => sender.state().una,
        }
    }

    /// Whether all that the application has handed over was acknowledged.
    #[must_use]
    #[inline]
    pub fn is_through(&self) -> bool {
        both!(self, sender => sender.is_through())
    }

    /// Frees the memory of segments that are acknowledged, for a flow that is over.
    pub fn shrink(&mut self) {
        if let Self::Rack(sender) = self {
            sender.shrink();
        }
    }

    /// The smoothed round trip; `None` before the first measurement.
    #[must_use]
    pub fn smoothed(&self, profile: &Profile) -> Option<Span> {
        match self {
            Self::Classic(sender) => sender.smoothed(profile),
            Self::Rack(sender) => Some(sender.state().rtt.smoothed()).filter(|&us| us > 0).map(Span::us),
        }
    }

    /// Whether the application has data for it.
    #[must_use]
    pub fn has_data(&self) -> bool {
        both!(self, sender => sender.end()) > 1
    }

    /// Whether it has begun to open the connection.
    #[must_use]
    pub fn has_begun(&self, profile: &Profile) -> bool {
        let next = match self {
            Self::Classic(sender) => sender.max(),
            Self::Rack(sender) => sender.state().nxt,
        };
        next > profile.first()
    }

    /// Opens the connection.
    pub fn on_start(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        both!(self, sender => sender.on_start(now, profile, out));
    }

    /// The other end has opened the connection with a handshake that took so long, which the receiver here may distrust
    /// ([`Receiver::distrusts`]); a classic sender does without.
    pub fn on_accept(&mut self, now: Time, profile: &Profile, rtt: Option<Span>, distrusts: bool) {
        if let Self::Rack(sender) = self {
            sender.on_accept(now, profile, rtt, distrusts);
        }
    }

    /// The application has `segments` more to send.
    pub fn on_data(&mut self, now: Time, profile: &Profile, segments: u32, out: &mut impl Outbox) {
        both!(self, sender => sender.on_data(now, profile, segments, out));
    }

    /// The application has handed over all its data and closes the connection; a classic sender has no FIN.
    pub fn on_close(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        if let Self::Rack(sender) = self {
            sender.on_close(now, profile, out);
        }
    }

    /// The application has no more data than has been sent.
    pub fn on_stop(&mut self) {
        both!(self, sender => sender.on_stop());
    }

    /// The application, which had stopped, has data again: as many `segments` as at the start, those sent included.
    pub fn on_resume(&mut self, now: Time, profile: &Profile, segments: u32, out: &mut impl Outbox) {
        let end = both!(self, sender => sender.end());
        self.on_data(now, profile, segments.saturating_add(1).saturating_sub(end), out);
    }

    /// Takes in an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, now: Time, profile: &Profile, ack: &Ack, out: &mut impl Outbox) {
        both!(self, sender => sender.on_ack(now, profile, ack, out));
    }

    /// A deadline has come.
    pub fn on_timer(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        both!(self, sender => sender.on_timer(now, profile, out));
    }
}

impl Receiver {
    /// Before anything arrived.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        match profile.tcp.flavour {
            Flavour::Rack => Self::Rack(Box::new(rack::receiver::Receiver::new(profile.first()))),
            _ => Self::Classic(receiver::Receiver::new(profile.first())),
        }
    }

    /// Data segments that arrived in order: all but segment 0, the SYN.
    #[must_use]
    #[inline]
    pub fn delivered(&self) -> u32 {
        both!(self, receiver => receiver.delivered())
    }

    /// One past the last segment that arrived in order, a FIN included.
    #[must_use]
    pub fn next(&self) -> u32 {
        match self {
            Self::Classic(receiver) => receiver.delivered() + 1,
            Self::Rack(receiver) => receiver.next(),
        }
    }

    /// Data segments that arrived, in order or not.
    #[must_use]
    pub fn arrived(&self) -> u32 {
        both!(self, receiver => receiver.delivered() + receiver.beyond())
    }

    /// Whether the handshake has shown that nothing ECN-capable is to be sent, although there is ECN.
    #[must_use]
    pub fn distrusts(&self) -> bool {
        matches!(self, Self::Rack(receiver) if receiver.distrusts())
    }

    /// When a delayed ACK is due; [`Time::MAX`] if none.
    #[must_use]
    #[inline]
    pub fn deadline(&self) -> Time {
        both!(self, receiver => receiver.deadline())
    }

    /// Takes in a segment, marked or not, and hands over the ACKs that it calls for at once.
    // For every segment: an ACK that is returned from a call is written to memory and read again.
    #[inline(always)]
    pub fn on_segment(
        &mut self,
        now: Time,
        profile: &Profile,
        segment: &Segment,
        ce: bool,
        mut send: impl FnMut(Ack),
    ) {
        match self {
            Self::Classic(receiver) => {
                if let Some(ack) = receiver.on_segment(now, profile, segment, ce) {
                    send(ack);
                }
            }
            Self::Rack(receiver) => receiver.on_segment(now, profile, segment, ce, send),
        }
    }

    /// The delayed ACK, now due.
    pub fn on_timer(&mut self, now: Time, profile: &Profile, send: impl FnMut(Ack)) {
        match self {
            Self::Classic(receiver) => receiver.on_timer(profile).into_iter().for_each(send),
            Self::Rack(receiver) => receiver.on_timer(now, profile, send),
        }
    }
}

/// Bytes that the two ends of a connection have on the heap, however little is outstanding.
#[must_use]
pub fn bytes_on_heap(tcp: &Tcp) -> u64 {
    let board = if tcp.flavour == Flavour::Sack { size_of::<scoreboard::Scoreboard>() } else { 0 };
    let bytes = match tcp.flavour {
        Flavour::Rack => {
            let ends = size_of::<rack::Sender>() + size_of::<rack::receiver::Receiver>();
            ends + Control::bytes(tcp)
        }
        _ => board + size_of::<receiver::Beyond>() + ClassicControl::bytes(tcp),
    };
    bytes as u64
}
