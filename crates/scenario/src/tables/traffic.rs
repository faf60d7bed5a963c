//! What the flows of a `[[traffic]]` do, from the keys of its kind.

use crate::model::distribution::Law;
use crate::model::{Extent, Kind, KindName, Short, Tcp, Traffic, TrafficTable, UDP_HEADER, Udp, Web};
use crate::reader::{Reader, TrafficEntry, below, chosen};
use crate::source::tree::Table;
use aqm::params::Field;
use aqm::unit::{Bytes, Frequency, Span};

/// The size of a packet of which nothing is said.
pub(crate) const DEFAULT_PACKET: Bytes = Bytes(1500);
/// G.711: 20 ms of voice are 160 bytes, with RTP, UDP and IP 200.
const VOICE_PACKET: Bytes = Bytes(200);
const VOICE_FRAMES: Frequency = Frequency(50.0);
const VIDEO_FRAMES: Frequency = Frequency(30.0);

/// RED+Tail's files: at least 2.3 kB, 10 kB in the mean.
const WEB_OBJECT: Law<Bytes> = Law::Pareto(Bytes(10_000), 1.3);

/// The keys of a traffic entry that only some kinds have, and which.
pub(crate) const BELONGS: [(&str, &[KindName]); 22] = {
    use KindName::{Cbr, Fgn, Ftp, OnOff, Poisson, Short, Trace, Transfer, Video, Voip, Web};
    [
        ("tcp", &[Ftp, Transfer, Short, Web]),
        ("size", &[Transfer, Short, Web]),
        ("lifetime", &[Short]),
        ("arrival_rate", &[Short]),
        ("interarrival", &[Short]),
        ("connections", &[Web]),
        ("objects", &[Web]),
        ("request", &[Web]),
        ("think", &[Web]),
        ("ecn", &[Cbr, OnOff, Poisson, Fgn, Trace, Voip, Video]),
        ("rate", &[Cbr, OnOff, Poisson, Fgn]),
        ("on", &[OnOff]),
        ("off", &[OnOff]),
        ("hurst", &[Fgn]),
        ("deviation", &[Fgn]),
        ("step", &[Fgn]),
        ("file", &[Trace]),
        ("frame_rate", &[Voip, Video]),
        ("frame_size", &[Video]),
        ("key_every", &[Video]),
        ("key_size", &[Video]),
        ("packet_size", &[Ftp, Transfer, Short, Web, Cbr, OnOff, Poisson, Fgn, Voip, Video]),
    ]
};

/// Whether traffic of this kind has the key.
pub(crate) fn has(kind: KindName, key: &str) -> bool {
    BELONGS.iter().all(|(name, kinds)| *name != key || kinds.contains(&kind))
}

/// Fills in what depends on the kind.
pub(crate) fn fill(table: &mut TrafficTable) {
    let packet = match table.kind {
        KindName::Trace => None,
        KindName::Voip => Some(VOICE_PACKET),
        _ => Some(DEFAULT_PACKET),
    };
    let frames = match table.kind {
        KindName::Voip => Some(VOICE_FRAMES),
        KindName::Video => Some(VIDEO_FRAMES),
        _ => None,
    };
    let size = if table.kind == KindName::Web { Some(WEB_OBJECT) } else { None };
    table.packet_size = table.packet_size.or(packet);
    table.frame_rate = table.frame_rate.or(frames);
    table.size = table.size.or(size);
}

/// Notes the keys of an entry that its kind does not have.
pub(crate) fn belonging(read: &TrafficTable, table: &Table, path: &str, reader: &mut Reader<'_>) {
    for (key, kinds) in BELONGS {
        if let Some(node) = table.get(key)
            && !kinds.contains(&read.kind)
        {
            let kinds =
                kinds.iter().map(|kind| format!("{:?}", chosen(kind))).collect::<Vec<_>>().join(" or ");
            let message = format!("only for kind {kinds}; this entry's is {:?}", chosen(&read.kind));
            reader.refuse(&below(path, key), node.shown(), message);
        }
    }
}

/// Notes if an entry lacks what its kind needs, or says one thing twice.
pub(crate) fn whole(table: &TrafficTable, path: &str, reader: &mut Reader<'_>) {
    let mut either = |[a, b]: [&(&str, Option<String>); 2], neither: Option<&str>, both: Option<&str>| {
        let at = [a.0, b.0].map(|key| below(path, key));
        if !reader.fine(&[&at[0], &at[1]]) {
            return;
        }
        match (&a.1, &b.1, neither, both) {
            (None, None, Some(message), _) => reader.refuse(path, None, message),
            (Some(_), Some(found), _, Some(fix)) => {
                reader.refuse(&at[1], Some(found.clone()), format!("{} is given as well; {fix}", a.0));
            }
            _ => {}
        }
    };
    let (size, lifetime) = (("size", given(&table.size)), ("lifetime", given(&table.lifetime)));
    let (stop, active) = (("stop", given(&table.stop)), ("active", given(&table.active)));
    either([&active, &stop], None, Some("it says the start and the stop, so leave this out"));
    match table.kind {
        KindName::Transfer if active.1.is_some() => {}
        KindName::Transfer => either([&size, &stop], Some("a transfer needs a size or a stop"), None),
        KindName::Short => {
            let neither = "a short needs a size or a lifetime";
            either([&size, &lifetime], Some(neither), Some("a flow ends by one of the two"));
            let rate = ("arrival_rate", given(&table.arrival_rate));
            let gap = ("interarrival", given(&table.interarrival));
            let neither = "a short needs an arrival_rate or an interarrival";
            either([&rate, &gap], Some(neither), Some("flows arrive by one of the two"));
        }
        KindName::Trace if table.file.is_none() && reader.fine(&[&below(path, "file")]) => {
            reader.refuse(path, None, "a trace needs a file, CSV or pcap");
        }
        _ => {}
    }
}

/// Notes if a segment has no room for data behind TCP's header.
pub(crate) fn room(table: &TrafficTable, tcp: &Tcp, path: &str, reader: &mut Reader<'_>) {
    let sizes = match table.kind {
        KindName::Ftp | KindName::Transfer | KindName::Short => [table.packet_size, None],
        KindName::Web => [table.packet_size, Some(table.request)],
        _ => [None, None],
    };
    for (key, size) in ["packet_size", "request"].into_iter().zip(sizes) {
        let at = below(path, key);
        if let Some(size) = size.filter(|size| *size <= tcp.header)
            && reader.fine(&[&at, &below(path, "tcp")])
        {
            let message = format!("must be more than tcp.header, {}", tcp.header.value());
            reader.refuse(&at, Some(size.value().to_string()), message);
        }
    }
}

/// What a message shows of a value, if there is one.
fn given(value: &Option<impl Field>) -> Option<String> {
    value.as_ref().map(|value| value.value().to_string())
}

/// The size of an entry's largest data packets on the wire.
pub(crate) fn packet_size(entry: &TrafficEntry) -> Bytes {
    let largest = entry.arrivals.iter().map(|arrival| Bytes(u64::from(arrival.size))).max();
    entry.table.packet_size.or(largest).unwrap_or(DEFAULT_PACKET)
}

/// The time between events that happen so often.
fn period(frequency: Frequency) -> Span {
    Span::from_secs(1.0 / frequency.0)
}

/// What the flows of `entry` do.
pub(crate) fn kind(entry: &TrafficEntry) -> Kind {
    let (table, tcp) = (&entry.table, || entry.tcp.clone());
    let interval = period(table.frame_rate.unwrap_or(VIDEO_FRAMES));
    let size = table.size.unwrap_or(WEB_OBJECT);
    let udp = |udp| Kind::Udp(udp, table.ecn);
    match table.kind {
        KindName::Ftp => Kind::Ftp(tcp()),
        // Without a size it is the stop that ends it, as it ends a greedy flow.
        KindName::Transfer => table.size.map_or_else(|| Kind::Ftp(tcp()), |size| Kind::Transfer(tcp(), size)),
        KindName::Short => {
            let poisson = Law::Exponential(period(table.arrival_rate.unwrap_or(Frequency(1.0))));
            Kind::Short(
                tcp(),
                Short {
                    interarrival: table.interarrival.unwrap_or(poisson),
                    extent: table.lifetime.map_or(Extent::Size(size), Extent::Lifetime),
                },
            )
        }
        KindName::Web => Kind::Web(
            tcp(),
            Web {
                connections: table.connections,
                objects: table.objects,
                size,
                request: table.request,
                think: table.think,
            },
        ),
        KindName::Cbr => udp(Udp::Cbr(table.rate)),
        KindName::OnOff => udp(Udp::OnOff { rate: table.rate, on: table.on, off: table.off }),
        KindName::Poisson => udp(Udp::Poisson(table.rate)),
        KindName::Fgn => udp(Udp::Fgn {
            rate: table.rate,
            hurst: table.hurst,
            deviation: table.deviation,
            step: table.step,
        }),
        KindName::Trace => udp(Udp::Trace(entry.arrivals.clone())),
        KindName::Voip => udp(Udp::Frames {
            interval,
            size: packet_size(entry),
            key_every: 0,
            key_size: packet_size(entry),
        }),
        KindName::Video => udp(Udp::Frames {
            interval,
            size: table.frame_size,
            key_every: table.key_every,
            key_size: table.key_size,
        }),
    }
}

impl Traffic {
    /// Bytes of header in each of its packets.
    #[must_use]
    pub const fn header(&self) -> u64 {
        match &self.kind {
            Kind::Ftp(tcp) | Kind::Transfer(tcp, _) | Kind::Short(tcp, _) | Kind::Web(tcp, _) => tcp.header.0,
            Kind::Udp(..) => UDP_HEADER as u64,
        }
    }
}

impl Udp {
    /// Its mean rate on the wire in bit/s, with packets of this size.
    #[must_use]
    pub fn mean_rate(&self, packet: Bytes) -> f64 {
        match self {
            Self::Cbr(rate) | Self::Poisson(rate) => rate.bits(),
            Self::OnOff { rate, on, off } => {
                // A burst is at least a packet.
                let on = on.mean().max(1.0 / rate.packets(packet));
                rate.bits() * on / (on + off.mean())
            }
            // The mean of a Gaussian cut off at 0.
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
            Self::Frames { interval, size, key_every, key_size } => {
                8.0 * (keyed(*key_every, *key_size, *size, |size| size.0 as f64)) / interval.secs()
            }
        }
    }

    /// The packets of this size that one flow sends in so many seconds, in the mean.
    pub(crate) fn packets(&self, packet: Bytes, seconds: f64) -> f64 {
        match self {
            Self::Trace(arrivals) => arrivals.partition_point(|arrival| arrival.at.secs() < seconds) as f64,
            Self::Frames { interval, size, key_every, key_size } => {
                let each = |frame: Bytes| frame.0.div_ceil(packet.0) as f64;
                keyed(*key_every, *key_size, *size, each) * seconds / interval.secs()
            }
            _ => self.mean_rate(packet) * seconds / (8.0 * packet.0 as f64),
        }
    }
}

/// The mean of `of` over frames of which every so many is a key frame.
fn keyed(key_every: u32, key: Bytes, other: Bytes, of: impl Fn(Bytes) -> f64) -> f64 {
    let keys = if key_every > 0 { 1.0 / f64::from(key_every) } else { 0.0 };
    keys * of(key) + (1.0 - keys) * of(other)
}
