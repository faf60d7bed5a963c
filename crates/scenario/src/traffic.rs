//! What the flows of a `[[traffic]]` do, from the keys of its kind.

use crate::law::Law;
use crate::model::{Arrival, Extent, Kind, KindName, Short, TrafficTable, Udp, Web};
use crate::read::{Reader, TrafficEntry};
use aqm::unit::{Bytes, Frequency, Span};
use std::sync::Arc;

/// The size of a packet of which nothing is said.
pub(crate) const DEFAULT_PACKET: Bytes = Bytes(1500);
/// G.711: 20 ms of voice are 160 bytes, with RTP, UDP and IP 200.
const VOICE_PACKET: Bytes = Bytes(200);
const VOICE_FRAMES: Frequency = Frequency(50.0);
const VIDEO_FRAMES: Frequency = Frequency(30.0);

/// The size of an entry's data packets on the wire.
pub(crate) fn packet_size(table: &TrafficTable) -> Bytes {
    let default = if table.kind == KindName::Voip { VOICE_PACKET } else { DEFAULT_PACKET };
    table.packet_size.unwrap_or(default)
}

/// The time between events that happen so often.
fn period(frequency: Frequency) -> Span {
    Span::from_secs(1.0 / frequency.0)
}

/// What the flows of `entry` do.
pub(crate) fn kind(entry: &TrafficEntry, _reader: &mut Reader<'_>) -> Kind {
    let (table, tcp) = (&entry.table, || entry.tcp.clone());
    let frame = |default| period(table.frame_rate.unwrap_or(default));
    let size = table.size.unwrap_or(Law::Fixed(Bytes(10_000)));
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
        KindName::Cbr => Kind::Udp(Udp::Cbr(table.rate)),
        KindName::OnOff => Kind::Udp(Udp::OnOff { rate: table.rate, on: table.on, off: table.off }),
        KindName::Poisson => Kind::Udp(Udp::Poisson(table.rate)),
        KindName::Fgn => Kind::Udp(Udp::Fgn {
            rate: table.rate,
            hurst: table.hurst,
            deviation: table.deviation,
            step: table.step,
        }),
        KindName::Trace => Kind::Udp(Udp::Trace(Arc::<[Arrival]>::from([]))),
        KindName::Voip => Kind::Udp(Udp::Frames {
            interval: frame(VOICE_FRAMES),
            size: packet_size(table),
            key_every: 0,
            key_size: packet_size(table),
        }),
        KindName::Video => Kind::Udp(Udp::Frames {
            interval: frame(VIDEO_FRAMES),
            size: table.frame_size,
            key_every: table.key_every,
            key_size: table.key_size,
        }),
    }
}

impl Udp {
    /// Its mean rate on the wire in bit/s.
    #[must_use]
    pub fn mean_rate(&self) -> f64 {
        match self {
            Self::Cbr(rate) | Self::Poisson(rate) | Self::Fgn { rate, .. } => rate.bits(),
            Self::OnOff { rate, on, off } => rate.bits() * on.mean() / (on.mean() + off.mean()),
            Self::Trace(arrivals) => {
                let bytes: f64 = arrivals.iter().map(|arrival| f64::from(arrival.size)).sum();
                let seconds = arrivals.last().map_or(0.0, |last| last.at.secs());
                if seconds > 0.0 { 8.0 * bytes / seconds } else { 8.0 * bytes }
            }
            Self::Frames { interval, size, key_every, key_size } => {
                let every = f64::from(*key_every);
                let keys = if *key_every > 0 { (key_size.0 as f64 - size.0 as f64) / every } else { 0.0 };
                8.0 * (size.0 as f64 + keys) / interval.secs()
            }
        }
    }
}
