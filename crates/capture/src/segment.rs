//! The TCP segment in an IP packet, of which the headers are enough.

use crate::frame::IpPacket;
use etherparse::{IpNumber, LaxIpSlice, TcpHeaderSlice, TcpOptionElement as Element, TcpOptionsIterator};
use std::net::SocketAddr;

/// The most bytes of a TCP header, and those before its options.
const HEADER: usize = 60;
const FIXED: usize = 20;

/// A TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its source and its destination.
    pub ends: [SocketAddr; 2],
    /// The number of its first byte.
    pub seq: u32,
    /// The number of the byte that its sender expects next, if it says it.
    pub ack: Option<u32>,
    /// Whether it begins a connection.
    pub syn: bool,
    /// The window of its sender, before it is scaled.
    pub window: u16,
    /// Bytes of payload, which may be those of several packets of the network.
    pub payload: u32,
    /// Bytes of the headers of IP and TCP.
    pub headers: u32,
    /// The largest segment that its sender takes.
    pub largest: Option<u16>,
    /// By how many bits its sender's windows are to be shifted.
    pub scale: Option<u8>,
    /// Its sender's time, and that which it echoes.
    pub times: Option<[u32; 2]>,
    /// The block of bytes that arrived last, out of order, and the end of the last of all blocks.
    pub sacked: Option<[u32; 3]>,
}

/// The TCP segment in a packet; `None` if there is none, or too little of its header was captured.
#[must_use]
pub fn segment(packet: &IpPacket<'_>) -> Option<Segment> {
    let (ip, _) = LaxIpSlice::from_slice(packet.bytes).ok()?;
    let behind = ip.payload();
    if behind.ip_number != IpNumber::TCP || behind.fragmented {
        return None;
    }
    // A header may have been cut in its options.
    let captured = &behind.payload[..behind.payload.len().min(HEADER)];
    captured.get(..FIXED)?;
    let mut whole = [0; HEADER];
    whole[..captured.len()].copy_from_slice(captured);
    let tcp = TcpHeaderSlice::from_slice(&whole).ok()?;
    let length = tcp.slice().len();
    let before = behind.payload.as_ptr() as usize - packet.bytes.as_ptr() as usize;
    let headers = before + length;
    let [from, to] = packet.ends?;
    let mut found = Segment {
        ends: [SocketAddr::new(from, tcp.source_port()), SocketAddr::new(to, tcp.destination_port())],
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        syn: tcp.syn(),
        window: tcp.window_size(),
        payload: u32::try_from(packet.length.saturating_sub(headers as u64)).ok()?,
        headers: headers as u32,
        largest: None,
        scale: None,
        times: None,
        sacked: None,
    };
    for option in TcpOptionsIterator::from_slice(&captured[FIXED..length.min(captured.len())]) {
        match option {
            Ok(Element::MaximumSegmentSize(size)) => found.largest = Some(size),
            Ok(Element::WindowScale(bits)) => found.scale = Some(bits),
            Ok(Element::Timestamp(own, echo)) => found.times = Some([own, echo]),
            Ok(Element::SelectiveAcknowledgement(first, others)) => {
                // Numbers wrap: what is beyond the acknowledged byte counts from there.
                let beyond = |end: u32| end.wrapping_sub(found.ack.unwrap_or(0));
                let ends = others.iter().flatten().map(|&(_, end)| end).chain([first.1]);
                // A block before that byte is of a segment that came twice.
                let last = ends.filter(|&end| beyond(end) < 1 << 31).max_by_key(|&end| beyond(end));
                found.sacked = last.map(|last| [first.0, first.1, last]);
            }
            Ok(_) => {}
            // The rest was not captured.
            Err(_) => break,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::ip_packet;
    use etherparse::{PacketBuilder, TcpOptionElement};
    use pcap_parser::Linktype;

    fn packet(options: &[TcpOptionElement], payload: usize) -> Vec<u8> {
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64)
            .tcp(443, 5000, 1000, 2000)
            .ack(7)
            .options(options)
            .unwrap();
        let mut bytes = Vec::new();
        builder.write(&mut bytes, &vec![0; payload]).unwrap();
        bytes
    }

    fn found(bytes: &[u8], captured: usize) -> Option<Segment> {
        let cut = &bytes[..captured.min(bytes.len())];
        segment(&ip_packet(Linktype(101), cut, bytes.len() as u32)?)
    }

    #[test]
    fn headers_are_enough() {
        let bytes = packet(&[Element::Timestamp(11, 12)], 1428);
        let whole = found(&bytes, 10_000).unwrap();
        assert_eq!((whole.seq, whole.ack, whole.payload, whole.headers), (1000, Some(7), 1428, 72));
        assert_eq!((whole.times, whole.sacked, whole.window), (Some([11, 12]), None, 2000));
        assert_eq!(found(&bytes, 72), Some(whole));
        assert_eq!(found(&bytes, 59), None);
    }

    #[test]
    fn options_that_were_not_captured_are_absent() {
        let blocks = Element::SelectiveAcknowledgement((20, 30), [Some((40, 60)), Some((5, 6)), None]);
        let bytes = packet(&[Element::Timestamp(1, 2), blocks], 0);
        let whole = found(&bytes, 1000).unwrap();
        assert_eq!((whole.sacked, whole.payload), (Some([20, 30, 60]), 0));
        let cut = found(&bytes, 80).unwrap();
        assert_eq!((cut.times, cut.sacked), (Some([1, 2]), None));
    }

    #[test]
    fn what_came_twice_is_no_news() {
        let bytes = packet(&[Element::SelectiveAcknowledgement((2, 5), [None; 3])], 0);
        assert_eq!(found(&bytes, 1000).unwrap().sacked, None);
    }
}
