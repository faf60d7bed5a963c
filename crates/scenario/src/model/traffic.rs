//! Traffic: the flows of an entry, their applications, and the datagrams of sources.

use super::distribution::Distribution;
use super::header::UDP_HEADER;
use super::stack::Download;
use super::tcp::Tcp;
use aqm::choice;
use aqm::dscp::Dscp;
use aqm::unit::{Bytes, Rate, Span};
use std::sync::Arc;

/// Some flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Traffic {
    /// A unique name.
    pub name: String,
    /// Nodes that send, assigned to the flows in turn.
    pub from: Vec<usize>,
    /// Nodes that receive, assigned to the flows in turn.
    pub to: Vec<usize>,
    /// The number of flows.
    pub count: u32,
    /// Size of a full data packet on the wire, headers included.
    pub packet_size: Bytes,
    /// The longest time for which a packet waits in the host that sends it.
    pub send_jitter: Span,
    /// The class of service of all its packets.
    pub class: u8,
    /// The differentiated services code point of all its packets.
    pub dscp: Dscp,
    /// The time from which it is active; starts count from here.
    pub begin: Span,
    /// When each flow starts, after `begin`.
    pub start: Distribution<Span>,
    /// When the application stops producing; unacknowledged data is still delivered.
    pub stop: Option<Span>,
    /// The kind of its flows.
    pub kind: TrafficKind,
}

/// The kind of a flow.
#[derive(Clone, PartialEq, Debug)]
pub enum TrafficKind {
    /// TCP that always has data to send.
    Ftp(Tcp),
    /// TCP that sends a fixed amount.
    Transfer(Tcp, Transfer),
    /// TCP flows that come and go.
    Short(Tcp, Short),
    /// Users who read pages, or play videos.
    Web(Tcp, Web),
    /// Datagrams, all with this codepoint.
    Udp(Udp, Ecn),
    /// Programs of this machine, which the Linux engine alone runs.
    Program(Program),
}

/// The words of the commands that run at both ends of each flow, with gaps that [`Program::filled`] fills.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// What runs at the node that the flow is from.
    pub command: Vec<String>,
    /// What runs at the node that the flow goes to, and begins before the run does; nothing if it is empty.
    pub server: Vec<String>,
}

impl Program {
    /// The gap for the address of the node where a program runs.
    pub const ADDRESS: &str = "{address}";
    /// The gap for that of the other end.
    pub const PEER: &str = "{peer}";
    /// The gap for the number of a flow among those of its entry, from 1 on.
    pub const NUMBER: &str = "{n}";

    /// Whether each flow has a server of its own, and not each node.
    #[must_use]
    pub fn has_server_for_each(&self) -> bool {
        self.server.iter().any(|word| word.contains(Self::NUMBER) || word.contains(Self::PEER))
    }

    /// The words of a command of flow number `i` between these addresses, its own first.
    #[must_use]
    pub fn filled(words: &[String], [address, peer]: [&str; 2], i: usize) -> Vec<String> {
        let number = (i + 1).to_string();
        let fill = |word: &String| {
            word.replace(Self::ADDRESS, address).replace(Self::PEER, peer).replace(Self::NUMBER, &number)
        };
        words.iter().map(fill).collect()
    }
}

/// The amount that a flow sends, at once or when it is asked to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    /// Its payload.
    pub size: Distribution<Bytes>,
    /// If the receiver opens the connection and asks for it, the size of the request on the wire, headers included.
    pub request: Option<Bytes>,
}

/// TCP flows that arrive one after the other while the entry is active.
#[derive(Clone, PartialEq, Debug)]
pub struct Short {
    /// The time from one arrival to the next.
    pub interarrival: Distribution<Span>,
    /// The amount that each flow sends.
    pub extent: Extent,
}

/// The amount that a short flow sends.
#[derive(Clone, PartialEq, Debug)]
pub enum Extent {
    /// Data without end, until its application stops after this time.
    Lifetime(Distribution<Span>),
    /// This payload.
    Size(Distribution<Bytes>),
}

/// A client that fetches `objects` objects over `connections` newly opened connections, then closes them and thinks.
#[derive(Clone, PartialEq, Debug)]
pub struct Web {
    /// Parallel connections; each requests its next object when it has the last.
    pub connections: u32,
    /// Objects per session.
    pub objects: u32,
    /// Payload of an object.
    pub size: Distribution<Bytes>,
    /// Size of a request on the wire, headers included.
    pub request: Bytes,
    /// The time from the last byte of a session to the start of the next.
    pub think: Distribution<Span>,
    /// If the objects are the chunks of a video, the video; sizes, number and waits then follow from it.
    pub video: Option<Arc<Video>>,
}

/// A video that a client fetches chunk by chunk over one connection, each at a bitrate of its choice, and plays.
#[derive(Clone, PartialEq, Debug)]
pub struct Video {
    /// The bitrates of its versions, in ascending order.
    pub bitrates: Vec<Rate>,
    /// The duration of a chunk.
    pub chunk: Span,
    /// The most of it that the client keeps ahead.
    pub buffer: Span,
}

impl Video {
    /// Payload of a chunk of the version with this number.
    #[must_use]
    pub fn size(&self, version: usize) -> u64 {
        (self.bitrates[version].bits() * self.chunk.secs() / 8.0).ceil().max(1.0) as u64
    }
}

/// The times and sizes of a source's datagrams.
#[derive(Clone, PartialEq, Debug)]
pub enum Udp {
    /// At a constant rate.
    Cbr {
        /// On the wire.
        rate: Rate,
        /// Packets that are sent at once.
        burst: u32,
    },
    /// At a constant rate while on; starts off.
    OnOff {
        /// Rate on the wire while on.
        rate: Rate,
        /// The duration of an on period.
        on: Distribution<Span>,
        /// The duration of an off period.
        off: Distribution<Span>,
    },
    /// With exponential gaps, at this mean rate on the wire.
    Poisson(Rate),
    /// At a rate that follows fractional Gaussian noise, with one value per step.
    Fgn {
        /// Mean rate on the wire.
        rate: Rate,
        /// The Hurst parameter.
        hurst: f64,
        /// Standard deviation of a step's rate over the mean.
        deviation: f64,
        /// The duration of a step.
        step: Span,
    },
    /// As in a recording.
    Trace(Arc<[Arrival]>),
    /// A packet of drawn size, at most a full one, at each tick.
    Game {
        /// The time from tick to tick.
        interval: Span,
        /// Size on the wire.
        size: Distribution<Bytes>,
    },
    /// Requests with this time between them, each of which the other end answers with a packet of the same size.
    Ping(Span),
    /// As fast as TCP-Friendly Rate Control allows.
    Tfrc(Tfrc),
    /// As fast as the congestion control of a program's own stack allows.
    Stack(Download),
    /// Frames, cut into packets that are sent at once; larger frames at regular intervals.
    Frames {
        /// The codec of voice, whose quality the E-model rates.
        voice: Option<Codec>,
        /// The time from frame to frame.
        interval: Span,
        /// Size of an ordinary frame on the wire.
        size: Bytes,
        /// The number of frames from one key frame to the next; 0 for no key frames.
        key_every: u32,
        /// Size of a key frame on the wire.
        key_size: Bytes,
    },
}

/// A sender of TCP-Friendly Rate Control and its receiver (RFC 5348).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tfrc {
    /// The greatest rate on the wire at which the application has something to send, if there is one.
    pub max_rate: Option<Rate>,
    /// Whether the pace follows the latest round trip (section 4.5).
    pub damping: bool,
    /// Whether a long time without loss makes earlier loss intervals count less (section 5.5).
    pub discounting: bool,
}

impl Tfrc {
    /// Bytes of a report on the wire: 12 of data, as in ns-2.
    pub const REPORT: u64 = 40;
}

choice! {
    /// The codecs of a `voip` entry.
    pub enum Codec {
        /// G.711 at 64 kbit/s with its packet loss concealment (appendix I).
        G711 = "g711",
        /// G.711 without packet loss concealment.
        G711Bare = "g711-bare",
        /// G.729, annex A, at 8 kbit/s.
        G729a = "g729a",
        /// G.723.1 at 6.3 kbit/s.
        G7231 = "g723.1",
        /// GSM Enhanced Full Rate at 12.2 kbit/s.
        GsmEfr = "gsm-efr",
        /// Adaptive Multi-Rate at 12.2 kbit/s, which codes as `gsm-efr` does (TS 26.071).
        Amr = "amr",
    }
}

/// What a codec makes of voice, and what the E-model needs to know of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Voice {
    /// In RTP's payload, in bit/s: `amr` has 10 bits of a header in 20 ms (RFC 4867).
    pub rate: f64,
    /// The usual time from packet to packet.
    pub interval: Span,
    /// By how much the coder looks ahead of the packet's end.
    pub look_ahead: Span,
    /// Its impairment without loss: `Ie` of ITU-T G.113 (11/2007), appendix I.
    pub impairment: f64,
    /// Its robustness to random loss in percent: `Bpl` of the same table.
    pub robustness: f64,
}

impl Codec {
    /// The properties of the codec.
    #[must_use]
    pub const fn voice(self) -> Voice {
        let (rate, interval, look_ahead, impairment, robustness) = match self {
            Self::G711 => (64_000.0, 20, 0, 0.0, 25.1),
            Self::G711Bare => (64_000.0, 20, 0, 0.0, 4.3),
            Self::G729a => (8000.0, 20, 5000, 11.0, 19.0),
            Self::G7231 => (6300.0, 30, 7500, 15.0, 16.1),
            Self::GsmEfr => (12_200.0, 20, 0, 5.0, 10.0),
            Self::Amr => (12_700.0, 20, 0, 5.0, 10.0),
        };
        let (interval, look_ahead) = (Span::ms(interval), Span::us(look_ahead));
        Voice { rate, interval, look_ahead, impairment, robustness }
    }
}

/// One packet of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The time since the first packet.
    pub at: Span,
    /// Size on the wire in bytes.
    pub size: u16,
}

choice! {
    /// The ECN codepoint of datagrams (RFC 3168, section 5; RFC 9331).
    pub enum Ecn {
        /// Not-ECT: a congested queue drops them.
        None = "none",
        /// ECT(0): a queue may mark them instead.
        Ect0 = "ect0",
        /// ECT(1): the same, and queues for scalable traffic treat them as such.
        Ect1 = "ect1",
    }
}

/// The number of pairs after which two lists of these lengths, assigned in turn, start over together.
pub(crate) const fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

impl Traffic {
    /// Whether its flows compete for a link, unlike those whose rate an application sets: calls, games, pings.
    #[must_use]
    pub const fn competes(&self) -> bool {
        use Udp::{Cbr, Fgn, OnOff, Poisson, Stack, Tfrc, Trace};
        matches!(
            self.kind,
            TrafficKind::Ftp(_)
                | TrafficKind::Transfer(..)
                | TrafficKind::Udp(
                    Cbr { .. } | OnOff { .. } | Poisson(_) | Fgn { .. } | Trace(_) | Tfrc(_) | Stack(_),
                    _
                )
        )
    }

    /// The number of pairs of one node of `from` and one of `to` that its flows take in turn.
    #[must_use]
    pub const fn pairs(&self) -> usize {
        least_common_multiple(self.from.len(), self.to.len())
    }

    /// Bytes of header in each of its packets.
    #[must_use]
    pub const fn header(&self) -> u64 {
        match self.kind.tcp() {
            Some(tcp) => tcp.data_header().0,
            None => UDP_HEADER as u64,
        }
    }
}

impl TrafficKind {
    /// Its TCP, if it has one.
    #[must_use]
    pub const fn tcp(&self) -> Option<&Tcp> {
        match self {
            Self::Ftp(tcp) | Self::Transfer(tcp, _) | Self::Short(tcp, _) | Self::Web(tcp, _) => Some(tcp),
            Self::Udp(..) | Self::Program(_) => None,
        }
    }

    /// The same, to be changed.
    #[must_use]
    pub const fn tcp_mut(&mut self) -> Option<&mut Tcp> {
        match self {
            Self::Ftp(tcp) | Self::Transfer(tcp, _) | Self::Short(tcp, _) | Self::Web(tcp, _) => Some(tcp),
            Self::Udp(..) | Self::Program(_) => None,
        }
    }

    /// The size on the wire of the requests that its receivers send, if they do: they then open the connections.
    #[must_use]
    pub const fn request(&self) -> Option<Bytes> {
        match self {
            Self::Transfer(_, transfer) => transfer.request,
            Self::Web(_, web) => Some(web.request),
            Self::Ftp(_) | Self::Short(..) | Self::Udp(..) | Self::Program(_) => None,
        }
    }
}

impl Udp {
    /// Its name in descriptions of the model.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Cbr { .. } => "cbr",
            Self::OnOff { .. } => "on-off",
            Self::Poisson(_) => "poisson",
            Self::Fgn { .. } => "fgn",
            Self::Trace(_) => "trace",
            Self::Game { .. } => "game",
            Self::Ping(_) => "ping",
            Self::Tfrc(_) => "tfrc",
            Self::Stack(download) => download.name(),
            Self::Frames { .. } => "frames",
        }
    }

    /// Whether its rate follows what the network does.
    #[must_use]
    pub const fn adapts(&self) -> bool {
        matches!(self, Self::Tfrc(_) | Self::Stack(_))
    }

    /// The mean rate on the wire in bit/s, with packets of this size; of those that adapt, the greatest.
    #[must_use]
    pub fn mean_rate(&self, packet: Bytes) -> f64 {
        match self {
            Self::Cbr { rate, .. } | Self::Poisson(rate) => rate.bits(),
            Self::OnOff { rate, on, off } => {
                // An on period is at least a packet.
                let on = on.mean().max(1.0 / rate.packets(packet));
                rate.bits() * on / (on + off.mean())
            }
            // The mean of a Gaussian truncated at 0.
            Self::Fgn { rate, deviation, .. } if *deviation > 0.0 => {
                let z = 1.0 / deviation;
                let below = 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
                let density = libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
                rate.bits() * (1.0 - below + deviation * density)
            }
            Self::Fgn { rate, .. } => rate.bits(),
            Self::Trace(arrivals) => {
                let bytes: f64 = arrivals.iter().map(|arrival| f64::from(arrival.size)).sum();
                let seconds = arrivals.last().map_or(0.0, |last| last.at.secs());
                if seconds > 0.0 { 8.0 * bytes / seconds } else { 8.0 * bytes }
            }
            Self::Game { interval, size } => 8.0 * size.mean_at_most(packet.0 as f64) / interval.secs(),
            Self::Ping(interval) => 8.0 * packet.0 as f64 / interval.secs(),
            Self::Tfrc(tfrc) => tfrc.max_rate.map_or(f64::INFINITY, Rate::bits),
            Self::Stack(_) => f64::INFINITY,
            Self::Frames { interval, size, key_every, key_size, .. } => {
                8.0 * (keyed(*key_every, *key_size, *size, |size| size.0 as f64)) / interval.secs()
            }
        }
    }

    /// The mean number of packets of this size that one flow sends in this many seconds.
    #[must_use]
    pub fn packets(&self, packet: Bytes, seconds: f64) -> f64 {
        match self {
            Self::Trace(arrivals) => arrivals.partition_point(|arrival| arrival.at.secs() < seconds) as f64,
            Self::Frames { interval, size, key_every, key_size, .. } => {
                let each = |frame: Bytes| frame.0.div_ceil(packet.0) as f64;
                keyed(*key_every, *key_size, *size, each) * seconds / interval.secs()
            }
            Self::Game { interval, .. } => seconds / interval.secs(),
            _ => self.mean_rate(packet) * seconds / (8.0 * packet.0 as f64),
        }
    }
}

/// The mean of `of` over frames of which every `key_every`-th is a key frame.
fn keyed(key_every: u32, key: Bytes, other: Bytes, of: impl Fn(Bytes) -> f64) -> f64 {
    let keys = if key_every > 0 { 1.0 / f64::from(key_every) } else { 0.0 };
    keys * of(key) + (1.0 - keys) * of(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gaps_of_a_command_are_filled() {
        let words = ["a", "{peer}:52{n}", "--own={address}", "{other}"].map(str::to_owned);
        let filled = Program::filled(&words, ["10.0.0.1", "10.0.0.2"], 6);
        assert_eq!(filled, ["a", "10.0.0.2:527", "--own=10.0.0.1", "{other}"]);
        let server = |words: &[&str]| Program {
            command: Vec::new(),
            server: words.iter().map(|&word| word.to_owned()).collect(),
        };
        assert!(server(&["s", "-p", "5{n}"]).has_server_for_each());
        assert!(server(&["s", "{peer}"]).has_server_for_each());
        assert!(!server(&["s", "{address}"]).has_server_for_each());
    }

    #[test]
    fn two_lists_that_take_turns_start_over_together() {
        let pairs = [(1, 1), (2, 3), (4, 2), (3, 3), (4, 6)];
        assert_eq!(pairs.map(|(from, to)| least_common_multiple(from, to)), [1, 6, 4, 3, 12]);
    }
}
