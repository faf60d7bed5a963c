//! The model of a `[[traffic]]`'s flows, from the keys of its kind.

use crate::model::{Distribution, Extent, Kind, Short, Udp, Web};
use crate::tables::traffic::{KindName, TrafficEntry, VIDEO_FRAMES, WEB_OBJECT, packet_size};
use aqm::unit::{Frequency, Span};

/// The time between events of this frequency.
fn period(frequency: Frequency) -> Span {
    Span::from_secs(1.0 / frequency.0)
}

/// The model of the flows of `entry`.
pub(crate) fn kind(entry: &TrafficEntry) -> Kind {
    let (table, tcp) = (&entry.table, || entry.tcp.clone());
    let interval = period(table.frame_rate.unwrap_or(VIDEO_FRAMES));
    let size = table.size.unwrap_or(WEB_OBJECT);
    let udp = |udp| Kind::Udp(udp, table.ecn);
    match table.kind {
        KindName::Ftp => Kind::Ftp(tcp()),
        // Without a size, it ends at its stop, as a greedy flow does.
        KindName::Transfer => table.size.map_or_else(|| Kind::Ftp(tcp()), |size| Kind::Transfer(tcp(), size)),
        KindName::Short => {
            let poisson = Distribution::Exponential(period(table.arrival_rate.unwrap_or(Frequency(1.0))));
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
