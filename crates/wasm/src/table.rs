//! Packets as columns of numbers.

use netsim::{Cause, PacketKind, Seen, WaitingPacket};
use run::Column;

/// The packets that links sent or lost: `at` and `waited` in s, `link`, `class` and `flow` by their numbers, `size` in
/// bytes, `fate` (0 sent, 1 lost at random, 2 dropped early, 3 for lack of room, 4 for its ECN, 5 by collisions,
/// 6 after the last retry), `kind` (0 data, 1 ACK, 2 datagram, 3 the answer to one, 4 a report of TFRC), `marked` (0 or
/// 1), `seq`, and the numbers of the nodes `from` and `to`.
#[must_use]
pub fn of_packets(seen: &[Seen]) -> Vec<Column> {
    let column = |name: &str, value: &dyn Fn(&Seen) -> f64| Column {
        name: name.to_owned(),
        values: seen.iter().map(value).collect(),
    };
    vec![
        column("at", &|seen| seen.at.secs()),
        column("waited", &|seen| seen.waited.secs()),
        column("link", &|seen| seen.link as f64),
        column("class", &|seen| seen.class as f64),
        column("flow", &|seen| f64::from(seen.flow.0)),
        column("size", &|seen| f64::from(seen.size)),
        column("fate", &|seen| match seen.lost {
            None => 0.0,
            Some(Cause::Random) => 1.0,
            Some(Cause::Early) => 2.0,
            Some(Cause::Overflow) => 3.0,
            Some(Cause::Ecn) => 4.0,
            Some(Cause::Collisions) => 5.0,
            Some(Cause::Retries) => 6.0,
        }),
        column("kind", &|seen| number_of(seen.kind)),
        column("marked", &|seen| f64::from(u8::from(seen.marked))),
        column("seq", &|seen| f64::from(seen.seq)),
        column("from", &|seen| seen.ends.0 as f64),
        column("to", &|seen| seen.ends.1 as f64),
    ]
}

/// The packets that wait at a link: `flow` and `class` by their numbers, `kind` as in [`of_packets`], `seq`, `size` in bytes,
/// `arrived` in s, `marked` (0 or 1), and the number of the `queue`, for a discipline with several.
#[must_use]
pub fn of_waiting(waiting: &[WaitingPacket]) -> Vec<Column> {
    let column = |name: &str, value: &dyn Fn(&WaitingPacket) -> f64| Column {
        name: name.to_owned(),
        values: waiting.iter().map(value).collect(),
    };
    vec![
        column("flow", &|packet| f64::from(packet.flow)),
        column("class", &|packet| f64::from(packet.class)),
        column("kind", &|packet| number_of(packet.kind)),
        column("seq", &|packet| f64::from(packet.seq)),
        column("size", &|packet| f64::from(packet.size)),
        column("arrived", &|packet| packet.arrived.secs()),
        column("marked", &|packet| f64::from(u8::from(packet.marked))),
        column("queue", &|packet| packet.queue as f64),
    ]
}

const fn number_of(kind: PacketKind) -> f64 {
    match kind {
        PacketKind::Data => 0.0,
        PacketKind::Ack => 1.0,
        PacketKind::Datagram => 2.0,
        PacketKind::Reply => 3.0,
        PacketKind::Report => 4.0,
    }
}
