//! TCP's parameters, and the presets that set all of them at once.

mod profile;
pub mod user_defined;

use crate::model::HEADER;
use aqm::params::{Field, ParamKind, Range, Value};
use aqm::unit::{Bytes, Span};
use aqm::{choice, params};
pub use profile::{Profile, RECEIVE_BUFFER};
pub use user_defined::Control;

/// SACK blocks in one ACK at most (with timestamps there is room for three, RFC 2018, section 3).
pub const MOST_BLOCKS: usize = 3;

choice! {
    /// How a sender detects and repairs loss.
    pub enum Flavour {
        /// Fast retransmit, then slow start (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast recovery, left at the first new ACK (RFC 5681, section 3.2).
        Reno = "reno",
        /// Fast recovery through partial ACKs (RFC 6582).
        NewReno = "newreno",
        /// Selective acknowledgements (RFC 2018, RFC 6675).
        Sack = "sack",
        /// Losses by time, tail loss probes, proportional rate reduction, F-RTO and undo, as in Linux (RFC 8985,
        /// RFC 9937, RFC 5682).
        Rack = "rack",
    }
}

choice! {
    /// The segments that the first two duplicate ACKs release.
    pub enum LimitedTransmit {
        /// None.
        Off = "off",
        /// One segment each that was never sent before (RFC 3042).
        New = "new",
        /// The next segment each, which after a time-out has been sent before (ns-2).
        Next = "next",
    }
}

choice! {
    /// The quantity that is halved when a loss is detected.
    pub enum Halved {
        /// The data outstanding (RFC 5681, equation 4).
        Flight = "flight",
        /// The effective window, including inflation (ns-2).
        Window = "window",
    }
}

choice! {
    /// How SACK determines which segments are lost and which are in the network.
    pub enum SackRecovery {
        /// A hole is lost when three segments above it are SACKed; the scoreboard counts the pipe (RFC 6675).
        Rfc6675 = "rfc6675",
        /// Every hole below a SACKed segment is lost; each ACK subtracts one segment from the pipe (ns-2's Sack1).
        Sack1 = "sack1",
    }
}

choice! {
    /// The part of the retransmission time-out that `min_rto` bounds.
    pub enum RtoFloor {
        /// The whole time-out (RFC 6298, rule 2.4).
        Whole = "whole",
        /// The part that the variance adds to the round-trip time (Linux).
        Variance = "variance",
    }
}

choice! {
    /// How a receiver reports marks.
    pub enum Feedback {
        /// An echo until the sender has answered it (RFC 3168), or that of the congestion control (DCTCP).
        Classic = "classic",
        /// A counter in each ACK (Accurate ECN), without the option that has more of them (`tcp_ecn_option` 0).
        Counter = "counter",
        /// The same, and the option where the field changes and three times a round trip (`tcp_ecn_option` 1).
        Sparse = "sparse",
        /// The same, and the option in each segment that has room for it (`tcp_ecn_option` 2).
        Accurate = "accurate",
    }
}

choice! {
    /// Who paces a sender's segments.
    pub enum Pacing {
        /// The congestion control, if it sets a pace.
        Own = "own",
        /// The sending host too (Linux's queue discipline `fq`).
        Fq = "fq",
    }
}

choice! {
    /// The early marks that halve TCP Prague's window.
    pub enum EarlyMarks {
        /// Only the first.
        First = "first",
        /// Each, until the mean of marks is known.
        Each = "each",
    }
}

/// Declares the parameters of TCP and its congestion controls. A control's entry has its name in a scenario, the
/// senders that it serves, its requirements on the two ends, and its own parameters, as in [`params!`].
macro_rules! tcp {
    (@names $(
        $(#[doc = $doc:literal])+
        $field:ident: $ty:ty = $default:expr, $unit:literal $(, $range:expr $(, [$($alias:literal),*])?)?;
    )*) => {
        &[$(stringify!($field)),*]
    };
    (
        parameters { $($shared:tt)* }
        controls { $(
            $(#[doc = $doc:literal])+
            $control:ident = $name:literal for $senders:ident, needs $needs:ident { $($own:tt)* }
        )+ }
    ) => {
        choice! {
            /// The name of a congestion control that is here.
            enum Known { $($(#[doc = $doc])+ $control = $name,)+ }
        }

        /// The rule by which the congestion window moves between losses and after a loss or a mark.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Congestion {
            $($(#[doc = $doc])+ $control,)+
            /// One that is written outside.
            UserDefined(Control),
        }

        impl From<Known> for Congestion {
            fn from(known: Known) -> Self {
                match known { $(Known::$control => Self::$control),+ }
            }
        }

        impl Congestion {
            const ALL: &'static [Self] = &[$(Self::$control),+];

            const fn known(self) -> Option<Known> {
                match self { $(Self::$control => Some(Known::$control),)+ Self::UserDefined(_) => None }
            }

            /// The senders that it serves.
            const fn senders(self) -> Senders {
                match self { $(Self::$control => Senders::$senders,)+ Self::UserDefined(_) => Senders::Rack }
            }

            const fn needs(self) -> Needs {
                match self { $(Self::$control => Needs::$needs,)+ Self::UserDefined(_) => Needs::Nothing }
            }

            /// The names of its own parameters in the table of the TCP; one that is written outside has a table of its own.
            const fn parameters(self) -> &'static [&'static str] {
                match self { $(Self::$control => tcp!(@names $($own)*),)+ Self::UserDefined(_) => &[] }
            }
        }

        params! {
            /// A TCP sender and its receiver. Windows are in segments of the flow's packet size.
            pub struct Tcp { $($shared)* $($($own)*)+ }
        }
    };
}

tcp! {
    parameters {
        /// How loss is detected and repaired.
        flavour: Flavour = Flavour::NewReno, "";
        /// The rule by which the congestion window moves; also a class in a file of Python, `"mine.py:Mine:beta=0.7"`.
        congestion: Congestion = Congestion::Reno, "";
        /// Delay ACKs: the receiver acknowledges every second segment (RFC 5681, section 4.2).
        delayed_ack: bool = true, "";
        /// Longest delay of an ACK.
        delayed_ack_timeout: Span = Span::ms(200), "s", Range::above(0.0, 1.0);
        /// Also delay the ACK of a repeated segment, if it is the last one (ns-2); RFC 9293 acknowledges it at once.
        delayed_ack_of_repeat: bool = false, "";
        /// The receive window, an upper bound of the outstanding data.
        max_window: u32 = 10_000, "segments", Range::new(1.0, 65535.0);
        /// Initial congestion window; auto follows RFC 5681, equation 1 (2 to 4 segments by their size).
        initial_window: Option<u32> = None, "segments", Range::new(1.0, 1000.0);
        /// Initial slow-start threshold; auto is `max_window`.
        initial_ssthresh: Option<u32> = None, "segments", Range::new(2.0, 65535.0);
        /// Retransmission time-out before the first measurement (RFC 6298, rule 2.1).
        initial_rto: Span = Span::s(1), "s", Range::new(0.001, 60.0);
        /// Minimum of the retransmission time-out (RFC 6298, rule 2.4).
        min_rto: Span = Span::s(1), "s", Range::new(0.001, 60.0);
        /// The part of the retransmission time-out that `min_rto` bounds: `whole`, the whole time-out; `variance`, the
        /// part that the variance adds to the round-trip time (Linux).
        rto_floor: RtoFloor = RtoFloor::Whole, "";
        /// Maximum of the retransmission time-out, including back-off (RFC 6298, rule 2.5).
        max_rto: Span = Span::s(60), "s", Range::new(0.001, 3600.0);
        /// Resolution of the clock that measures round-trip times (G of RFC 6298); with flavour `rack`, that of the
        /// timers (Linux: HZ).
        tick: Span = Span::ms(1), "s", Range::above(0.0, 1.0);
        /// Start each flow's clock at a random phase (ns-2); otherwise all clocks tick at time zero.
        tick_phase: bool = false, "";
        /// Measure the round-trip time by a timestamp in every ACK (RFC 7323); otherwise one segment per window is
        /// timed, never a retransmitted one (Karn).
        timestamps: bool = true, "";
        /// Bytes of IP and TCP header in every segment, and the size of an ACK without SACK blocks: 40 without
        /// options, 52 with timestamps. If it is more than 40, a SYN has eight more bytes for its options.
        header: Bytes = Bytes(HEADER as u64), "bytes", Range::new(HEADER as f64, 120.0);
        /// The segments that the first two duplicate ACKs release: `off`, none; `new`, one each that was never sent
        /// before (RFC 3042); `next`, the next one each (ns-2; after a time-out, this repeats data that the receiver
        /// has, and costs goodput).
        limited_transmit: LimitedTransmit = LimitedTransmit::New, "";
        /// Let only the first partial ACK restart the retransmission timer (RFC 6582, section 4).
        impatient: bool = true, "";
        /// The quantity that is halved when a loss is detected: `flight`, the data outstanding (RFC 5681); `window`,
        /// the effective window (ns-2).
        halved: Halved = Halved::Flight, "";
        /// Most segments that one ACK releases during NewReno's fast recovery; 0 for no bound.
        recovery_burst: u32 = 0, "segments", Range::new(0.0, 1000.0);
        /// Let the ACK that ends Reno's or NewReno's fast recovery also grow the window (ns-2); in RFC 5681 it only
        /// deflates it.
        grow_after_recovery: bool = false, "";
        /// Number of initial segments that are acknowledged one by one, as Linux does while its receive window grows. Auto is what
        /// its buffer of 6 MB allows, by the memory that packets of this size take: 252 of 1500 bytes, none of 576 or 1200. At
        /// 0, neither are those after a disturbance.
        quick_acks: Option<u32> = Some(0), "segments", Range::new(0.0, 1e9);
        /// Let ACKs of segments beyond a gap wait for each other for a millisecond, from the fourth on (Linux).
        compressed_acks: bool = false, "";
        /// Let several segments leave the host at once: those of a millisecond at the sender's pace, more on short paths, and at most
        /// 64 kB (Linux's segmentation offload). They leave one after the other at the rate of the host's link.
        offload: bool = false, "";
        /// Who paces the segments: `own`, the congestion controls that set a pace, which are BBR and TCP Prague; `fq`, also the
        /// sending host, for every control (Linux's queue discipline `fq`).
        pacing: Pacing = Pacing::Own, "";
        /// How long arriving segments wait for others of their flow, which the receiver takes in at once and acknowledges at
        /// once (receive offload and interrupt moderation); 0 for no such wait.
        receive_offload: Span = Span::ZERO, "s", Range::new(0.0, 0.1);
        /// Send a SYN before the data.
        handshake: bool = true, "";
        /// Send data as ECT and respond to CE marks (RFC 3168).
        ecn: bool = false, "";
        /// How marks are reported, with `ecn`: `classic`, by an echo (RFC 3168); `accurate`, by a counter in each ACK and an
        /// option of 12 bytes with more of them (Accurate ECN, RFC 9768); `sparse`, with the option only where the ECN field
        /// changes and three times a round trip; `counter`, without it. All but `classic` send retransmissions and ACKs as
        /// ECT too.
        ecn_feedback: Feedback = Feedback::Classic, "";
        /// DCTCP and BBRv3 with `ecn`: send data as ECT(1), by which routers recognise a scalable congestion control
        /// (RFC 9331).
        l4s: bool = false, "";
        /// Send retransmissions as ECN-capable too, possibly with CWR (ns-2); RFC 3168 allows neither.
        ecn_again: bool = false, "";
        /// How SACK determines which segments are lost and which are in the network: `rfc6675`, or `sack1`, ns-2's.
        sack_recovery: SackRecovery = SackRecovery::Rfc6675, "";
        /// SACK blocks that an ACK has room for.
        sack_blocks: u32 = MOST_BLOCKS as u32, "blocks", Range::new(1.0, MOST_BLOCKS as f64);
        /// Whether a connection that sent nothing for a time-out starts again from the initial window (RFC 5681,
        /// section 4.1).
        restart_after_idle: bool = true, "";
        /// Upper bound of the window at such a restart; auto is `initial_window`; ns-2 uses 1.
        restart_window: Option<u32> = None, "segments", Range::new(1.0, 1000.0);
        /// Most segments that one ACK adds to the window in slow start, if it covers that many (L of RFC 3465). Linux
        /// counts all that it covers, others count an ACK as one.
        slow_start_step: u32 = 1, "segments", Range::new(1.0, 65535.0);
    }
    controls {
        /// One segment more per round trip, half the window after a loss (RFC 5681).
        Reno = "reno" for All, needs Nothing {}
        /// A cubic function of the time since the last loss (RFC 9438).
        Cubic = "cubic" for Rack, needs Nothing {
            /// CUBIC: fraction of the window that remains after a loss (RFC 9438, section 4.6).
            beta: f64 = 0.7, "", Range::new(0.1, 0.99);
            /// CUBIC: steepness of the window's growth (C of RFC 9438, section 5).
            c: f64 = 0.4, "segments/s^3", Range::above(0.0, 1e3);
            /// CUBIC: let a flow whose window shrinks at every loss yield to new flows (RFC 9438, section 4.7).
            fast_convergence: bool = true, "";
            /// CUBIC: keep the window at least as large as Reno's would be (RFC 9438, section 4.3).
            reno_friendly: bool = true, "", Range::ANY, ["tcp_friendly"];
            /// CUBIC: end slow start when ACKs come in a long train or the round-trip time grows (HyStart).
            hystart: bool = true, "";
        }
        /// In proportion to the fraction of marked segments (RFC 8257).
        Dctcp = "dctcp" for Rack, needs Marks {
            /// DCTCP: the weight of the latest window in the average of the marked fraction (RFC 8257, section 4.2).
            g: f64 = 0.0625, "", Range::above(0.0, 1.0);
        }
        /// In proportion to the fraction of marked segments, paced, and independent of short round trips: the scalable control
        /// of L4S (draft-briscoe-iccrg-prague-congestion-control).
        Prague = "prague" for Rack, needs Counts {
            /// TCP Prague: with a shorter round trip, the window grows as with this one, and alpha follows in this time.
            virtual_rtt: Span = Span::ms(25), "s", Range::new(1e-5, 0.1);
            /// TCP Prague: round trips after slow start from which on that holds.
            transition: u32 = 4, "round trips", Range::new(0.0, 1e6);
            /// TCP Prague: the early marks that halve the window: `each`, until the mean of marks is known (version 0.6, where
            /// alpha begins with 1); `first`, only the first (version 0.7, where alpha begins with 0).
            early_marks: EarlyMarks = EarlyMarks::Each, "";
            /// TCP Prague: when the round trip varies as behind a classic queue with ECN, respond to marks as Reno does.
            classic_fallback: bool = false, "";
        }
        /// Background transport that gives way when the one-way delay grows (RFC 6817).
        Ledbat = "ledbat" for Classic, needs Delays {
            /// LEDBAT: largest queueing delay to add; experiments with RFC 7928 use 5 ms.
            target: Span = Span::ms(100), "s", Range::new(1e-5, 10.0);
            /// LEDBAT: segments per round trip by which the window moves at no queueing delay; RFC 6817 allows at most
            /// 1, RFC 7928 uses 10.
            gain: f64 = 1.0, "", Range::above(0.0, 1e3);
            /// LEDBAT: segments by which the window may exceed the data outstanding.
            allowed_increase: f64 = 1.0, "segments", Range::above(0.0, 1e3);
            /// LEDBAT: minutes after which a smallest delay is forgotten.
            base_history: u32 = 10, "minutes", Range::new(1.0, 60.0);
        }
        /// Paced at the measured bandwidth of the bottleneck (BBR version 1, as in Linux).
        Bbr = "bbr" for Rack, needs Nothing {}
        /// Paced at the measured bandwidth, with bounds of bandwidth and flight that losses and marks set (BBR version 3, as
        /// its authors publish it).
        Bbr3 = "bbr3" for Rack, needs Echoes {
            /// BBRv3: longest least round trip at which marks count, if `ecn` is true; 0 for any.
            ecn_max_rtt: Span = Span::ms(5), "s", Range::new(0.0, 60.0);
        }
    }
}

impl Field for Congestion {
    const KIND: ParamKind = Known::KIND;
    const CHOICES: &'static [&'static str] = Known::CHOICES;
    fn read(value: &Value) -> Option<Self> {
        Known::read(value).map(Into::into).or_else(|| Control::read(value).map(Self::UserDefined))
    }
    fn value(&self) -> Value {
        match self {
            Self::UserDefined(control) => control.value(),
            known => known.known().expect("all others are").value(),
        }
    }
    fn within(&self, _: &Range) -> bool {
        true
    }
}

/// The senders to which a congestion control or a parameter applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Senders {
    All,
    /// Senders with flavour `rack`.
    Rack,
    /// Senders with any other flavour.
    Classic,
}

/// What a congestion control requires of the two ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    Nothing,
    Marks,
    /// Marks, and how many there were (Accurate ECN).
    Counts,
    /// Nothing; but where there is ECN, an echo that is precise to the segment.
    Echoes,
    Delays,
}

impl Congestion {
    /// Its name, as a scenario has it.
    #[must_use]
    pub fn name(self) -> Value {
        match self {
            Self::UserDefined(control) => Value::Text(control.params().declaration().name.to_owned()),
            known => known.value(),
        }
    }

    /// The control that is written outside, if it is one.
    #[must_use]
    pub const fn user_defined(self) -> Option<Control> {
        match self {
            Self::UserDefined(control) => Some(control),
            _ => None,
        }
    }

    /// Whether it requires marks, so that every segment is sent ECN-capable (`TCP_CONG_NEEDS_ECN`).
    #[must_use]
    pub const fn needs_marks(self) -> bool {
        matches!(self.needs(), Needs::Marks | Needs::Counts)
    }

    /// Whether an ACK's echo is of just those segments that it is for (RFC 8257, section 3.2), and everything is sent
    /// ECN-capable, where there is ECN.
    #[must_use]
    #[inline]
    pub const fn tells_marks_apart(self) -> bool {
        matches!(self.needs(), Needs::Marks | Needs::Counts | Needs::Echoes)
    }

    /// Whether it requires that ACKs count the marks that arrived (`TCP_CONG_NEEDS_ACCECN`).
    #[must_use]
    #[inline]
    pub const fn counts_marks(self) -> bool {
        matches!(self.needs(), Needs::Counts)
    }

    /// Whether ACKs carry the one-way delays that the receiver measures.
    #[must_use]
    #[inline]
    pub const fn needs_delays(self) -> bool {
        matches!(self.needs(), Needs::Delays)
    }
}

/// The parameters that only some senders have, apart from those of the congestion controls.
const OWNED: &[(&str, Senders)] = &[
    ("rto_floor", Senders::Rack),
    ("quick_acks", Senders::Rack),
    ("compressed_acks", Senders::Rack),
    ("ecn_feedback", Senders::Rack),
    ("offload", Senders::Rack),
    ("pacing", Senders::Rack),
    ("receive_offload", Senders::Rack),
    ("delayed_ack_of_repeat", Senders::Classic),
    ("tick_phase", Senders::Classic),
    ("limited_transmit", Senders::Classic),
    ("impatient", Senders::Classic),
    ("recovery_burst", Senders::Classic),
    ("grow_after_recovery", Senders::Classic),
    ("sack_recovery", Senders::Classic),
    ("ecn_again", Senders::Classic),
    ("slow_start_step", Senders::Classic),
];

/// The preset of a TCP that names neither a preset nor a flavour.
pub(crate) const DEFAULT_PRESET: &str = "linux";

/// The preset of a TCP that names only a classic flavour; its values are [`Tcp::default`].
pub(crate) const FLAVOURS_PRESET: &str = "rfc5681";

/// The preset of a TCP that names only the flavour `rack`.
pub(crate) const RACK_PRESET: &str = "rfc";

/// The named sets of TCP parameters, with whose values they are; [`Tcp::preset`] returns each.
pub const TCP_PRESETS: &[(&str, &str)] = &[
    (
        "linux",
        "Linux 7.2 with 1000 ticks a second: CUBIC with HyStart, RACK-TLP, proportional rate reduction, F-RTO, undo, quick \
         and compressed ACKs",
    ),
    (
        "rfc",
        "the standards of today, RFC 9438, 8985, 9937, 5682, 6298, 5681, 6928, 3168, 7323: CUBIC, RACK-TLP, proportional \
         rate reduction; a time-out of at least 1 s, a loss takes its part of what is outstanding",
    ),
    ("rfc5681", "the classic standards, with NewReno: RFC 5681, 6298, 6582, 6675, 3042, 7323"),
    ("ns2.35", "the defaults of ns-2.35, except for a window of 1000 instead of 20"),
    ("ns2-2002", "ns2.35 with the timer of the papers' time: a time-out of at least 1 s, a clock of 100 ms"),
    ("cubic", "linux, by the name of its congestion control"),
    ("dctcp", "linux with ECN and DCTCP (RFC 8257) at both ends"),
    (
        "l4s",
        "dctcp that says by ECT(1) that it is scalable (RFC 9331); unlike TCP Prague it neither paces nor makes up for short \
         round trips",
    ),
    (
        "prague",
        "linux with TCP Prague and Accurate ECN, as its authors' kernel has them (version 0.7, but \
         early_marks = each as in 0.6: so slow start ends as in captures where few segments are marked, as in fair queues)",
    ),
    ("bbr", "linux with BBR version 1"),
    (
        "bbr3",
        "linux with BBR version 3, as its authors publish it (tag bbrv3-2025-03-18); without ECN, like that by default",
    ),
    ("bbr3-l4s", "bbr3 with ECN as ECT(1) (RFC 9331), whose marks count at any round trip"),
    ("ledbat", "rfc5681 with SACK and LEDBAT (RFC 6817)"),
];

/// The parameters that several congestion controls share, and which.
const SHARED: &[(&str, &[Congestion])] = &[("l4s", &[Congestion::Dctcp, Congestion::Bbr3])];

/// What the `rack` senders omit, printed with their presets.
pub(crate) const NOT_MODELLED: &str = "Not modelled: small-queue limits, \
    receive-window auto-tuning (the window is max_window), data both ways on one connection (ping-pong mode, ACKs on data), \
    the handshake's options except Accurate ECN's, path-MTU probing, fast open, memory pressure.";

/// Bytes of Accurate ECN's option with all its counters (`TCP_ACCECN_MAXSIZE`, and one to align it).
const ACCURATE_OPTION: u64 = 12;

impl Tcp {
    /// Bytes of header in a segment of data.
    #[must_use]
    pub const fn data_header(&self) -> Bytes {
        let option = self.ecn && matches!(self.ecn_feedback, Feedback::Accurate);
        Bytes(self.header.0 + if option { ACCURATE_OPTION } else { 0 })
    }

    /// If the parameter `name` applies only to other TCPs: which, and the value of this one.
    pub(crate) fn inapplicable(&self, name: &str) -> Option<(&'static str, String, String)> {
        if let Some(control) = Congestion::ALL.iter().find(|control| control.parameters().contains(&name)) {
            let other = *control != self.congestion;
            return other
                .then(|| ("congestion", control.name().to_string(), self.congestion.name().to_string()));
        }
        if let Some((_, controls)) = SHARED.iter().find(|(own, _)| *own == name) {
            let names = controls.iter().map(|control| control.name().to_string()).collect::<Vec<_>>();
            let other = !controls.contains(&self.congestion);
            return other.then(|| ("congestion", names.join(" or "), self.congestion.name().to_string()));
        }
        let (_, senders) = OWNED.iter().find(|(own, _)| *own == name)?;
        let rack = self.flavour == Flavour::Rack;
        let flavour = self.flavour.value().to_string();
        match senders {
            Senders::Rack if !rack => Some(("flavour", "\"rack\"".to_owned(), flavour)),
            Senders::Classic if rack => {
                Some(("flavour", "\"tahoe\", \"reno\", \"newreno\" or \"sack\"".to_owned(), flavour))
            }
            _ => None,
        }
    }

    /// The flavours that have this TCP's congestion control, if its own flavour does not.
    #[must_use]
    pub fn misfit(&self) -> Option<&'static str> {
        match (self.flavour, self.congestion.senders()) {
            (Flavour::Rack, Senders::Classic) => Some("flavour = \"sack\""),
            (Flavour::Rack, _) | (_, Senders::All | Senders::Classic) => None,
            _ => Some(
                "flavour = \"rack\", which the presets linux, rfc, cubic, dctcp, prague, bbr and bbr3 have",
            ),
        }
    }

    /// The parameters of a TCP that names no preset, but may name a flavour.
    pub(crate) fn unnamed(flavour: Option<&str>) -> Self {
        let preset = match flavour {
            None => DEFAULT_PRESET,
            Some("rack") => RACK_PRESET,
            Some(_) => FLAVOURS_PRESET,
        };
        Self::preset(preset).expect("these are presets")
    }

    /// The parameters of one of [`TCP_PRESETS`].
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let linux = |congestion| Some(Self { congestion, ..Self::preset("linux")? });
        match name {
            FLAVOURS_PRESET => Some(Self::default()),
            "ns2.35" => Some(Self {
                delayed_ack: false,
                delayed_ack_timeout: Span::ms(100),
                delayed_ack_of_repeat: true,
                max_window: 1000,
                initial_window: Some(2),
                initial_rto: Span::s(3),
                min_rto: Span::ms(200),
                tick: Span::ms(10),
                tick_phase: true,
                timestamps: false,
                limited_transmit: LimitedTransmit::Next,
                halved: Halved::Window,
                recovery_burst: 2,
                grow_after_recovery: true,
                ecn_again: true,
                sack_recovery: SackRecovery::Sack1,
                restart_window: Some(1),
                ..Self::default()
            }),
            // `minrto_` and `tcpTick_` before October 2004; all others, and the window of 1000, as in ns2.35.
            "ns2-2002" => {
                let newer = Self::preset("ns2.35")?;
                Some(Self { min_rto: Span::s(1), tick: Span::ms(100), ..newer })
            }
            // include/net/tcp.h: TCP_RTO_MIN and _MAX, TCP_TIMEOUT_INIT, TCP_INIT_CWND, TCP_DELACK_MIN; HZ is 1000;
            // net/ipv4/tcp_cubic.c: beta, bic_scale.
            "linux" => Some(Self {
                flavour: Flavour::Rack,
                congestion: Congestion::Cubic,
                delayed_ack_timeout: Span::ms(40),
                max_window: 65535,
                initial_window: Some(10),
                min_rto: Span::ms(200),
                rto_floor: RtoFloor::Variance,
                max_rto: Span::s(120),
                header: Bytes(52),
                halved: Halved::Window,
                quick_acks: None,
                compressed_acks: true,
                beta: 717.0 / 1024.0,
                c: 410.0 / 1024.0,
                ..Self::default()
            }),
            RACK_PRESET => Some(Self {
                flavour: Flavour::Rack,
                congestion: Congestion::Cubic,
                max_window: 65535,
                initial_window: Some(10), // RFC 6928
                header: Bytes(52),
                ..Self::default()
            }),
            "cubic" => linux(Congestion::Cubic),
            "dctcp" => Some(Self { ecn: true, ..linux(Congestion::Dctcp)? }),
            "l4s" => Some(Self { l4s: true, ..Self::preset("dctcp")? }),
            "prague" => {
                Some(Self { ecn: true, ecn_feedback: Feedback::Accurate, ..linux(Congestion::Prague)? })
            }
            "bbr" => linux(Congestion::Bbr),
            "bbr3" => linux(Congestion::Bbr3),
            "bbr3-l4s" => {
                Some(Self { ecn: true, l4s: true, ecn_max_rtt: Span::ZERO, ..Self::preset("bbr3")? })
            }
            "ledbat" => {
                Some(Self { flavour: Flavour::Sack, congestion: Congestion::Ledbat, ..Self::default() })
            }
            _ => None,
        }
    }
}
