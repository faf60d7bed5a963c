//! What the router reads in a packet, and the ECN field that it writes.

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use netsim::PacketKind;
use scenario::model::Ecn;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// In the ECN field (RFC 3168, section 5).
pub const NOT_ECT: u8 = 0b00;
/// See [`NOT_ECT`].
pub const CE: u8 = 0b11;

/// The ends of a connection; both directions have the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Connection {
    udp: bool,
    ends: [(IpAddr, u16); 2],
}

/// A packet as the router sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Where it comes from, with the port.
    pub from: (IpAddr, u16),
    /// Where it goes to, with the port.
    pub to: (IpAddr, u16),
    /// A segment without payload counts as an ACK.
    pub kind: PacketKind,
    /// Its ECN field; a packet that comes with CE is taken as ECT(0).
    pub ecn: Ecn,
    /// Whether it is a SYN that asks for ECN (RFC 3168, section 6.1.1).
    pub asks_for_ecn: bool,
    /// The first byte that its sender sends on a connection, if it begins one.
    pub begins: Option<u32>,
    /// The next byte of a connection that its sender awaits.
    pub awaits: Option<u32>,
    /// Bytes of a datagram's payload.
    pub datagram: u16,
}

impl Seen {
    /// Reads a packet of IPv4 or IPv6; `None` if it is neither TCP nor UDP, or damaged.
    #[must_use]
    pub fn of(packet: &[u8]) -> Option<Self> {
        Self::any(packet).filter(|seen| seen.from.1 != 0 || seen.to.1 != 0)
    }

    /// Reads a packet of IPv4 or IPv6; one of another protocol is a datagram between ports 0.
    #[must_use]
    pub fn any(packet: &[u8]) -> Option<Self> {
        let sliced = SlicedPacket::from_ip(packet).ok()?;
        let (from, to, field, payload): (IpAddr, IpAddr, u8, usize) = match sliced.net? {
            NetSlice::Ipv4(ip) => {
                let header = ip.header();
                let payload = ip.payload().payload.len();
                (header.source_addr().into(), header.destination_addr().into(), header.ecn().value(), payload)
            }
            NetSlice::Ipv6(ip) => {
                let header = ip.header();
                let payload = ip.payload().payload.len();
                (header.source_addr().into(), header.destination_addr().into(), header.ecn().value(), payload)
            }
            NetSlice::Arp(_) => return None,
        };
        let ecn = match field {
            0 => Ecn::None,
            1 => Ecn::Ect1,
            _ => Ecn::Ect0,
        };
        let datagram = Self {
            from: (from, 0),
            to: (to, 0),
            kind: PacketKind::Datagram,
            ecn,
            asks_for_ecn: false,
            begins: None,
            awaits: None,
            datagram: payload as u16,
        };
        Some(match sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => Self {
                from: (from, tcp.source_port()),
                to: (to, tcp.destination_port()),
                kind: if tcp.payload().is_empty() { PacketKind::Ack } else { PacketKind::Data },
                asks_for_ecn: tcp.syn() && !tcp.ack() && tcp.ece() && tcp.cwr(),
                begins: tcp.syn().then(|| tcp.sequence_number().wrapping_add(1)),
                awaits: tcp.ack().then(|| tcp.acknowledgment_number()),
                datagram: 0,
                ..datagram
            },
            Some(TransportSlice::Udp(udp)) => Self {
                from: (from, udp.source_port()),
                to: (to, udp.destination_port()),
                datagram: udp.payload().len() as u16,
                ..datagram
            },
            _ => datagram,
        })
    }

    /// Whether it goes to the end of its connection that sorts first.
    #[must_use]
    pub fn is_later(&self) -> bool {
        self.from > self.to
    }

    /// Its connection.
    #[must_use]
    pub fn connection(&self) -> Connection {
        let mut ends = [self.from, self.to];
        ends.sort_unstable();
        Connection { udp: self.kind == PacketKind::Datagram, ends }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match self.kind {
            PacketKind::Datagram | PacketKind::Reply | PacketKind::Report => "UDP",
            PacketKind::Data => "TCP with payload",
            PacketKind::Ack => "TCP without payload",
        };
        let [from, to] = [self.from, self.to].map(|(address, port)| SocketAddr::new(address, port));
        write!(f, "{protocol} from {from} to {to}")
    }
}

/// Writes the ECN field of a packet of IPv4, whose header checksum follows (RFC 1624, equation 3), or of IPv6.
///
/// # Panics
/// If the packet has not even the first bytes of a header.
pub fn set_ecn(packet: &mut [u8], field: u8) {
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    if packet[0] >> 4 == 6 {
        // The traffic class begins in the first byte; its last two bits are the third and fourth of the second.
        packet[1] = packet[1] & !(CE << 4) | field << 4;
        return;
    }
    let before = word(packet, 0);
    packet[1] = packet[1] & !CE | field;
    let after = word(packet, 0);
    let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{IpDscp, IpEcn, Ipv4Header, PacketBuilder};
    use proptest::prelude::*;

    fn v4(ecn: u8, ttl: u8, payload: usize) -> Vec<u8> {
        let mut header =
            Ipv4Header::new(0, ttl, etherparse::IpNumber::TCP, [10, 64, 0, 1], [10, 65, 0, 2]).unwrap();
        header.dscp = IpDscp::try_new(5).unwrap();
        header.ecn = IpEcn::try_new(ecn).unwrap();
        let builder = PacketBuilder::ip(etherparse::IpHeaders::Ipv4(header, Default::default()));
        let mut packet = Vec::new();
        builder.tcp(40000, 1024, 7, 100).ack(9).write(&mut packet, &vec![0; payload]).unwrap();
        packet
    }

    #[test]
    fn a_segment_is_read() {
        let seen = Seen::of(&v4(1, 64, 10)).unwrap();
        assert_eq!(seen.from, (IpAddr::from([10, 64, 0, 1]), 40000));
        assert_eq!((seen.to.1, seen.kind, seen.ecn), (1024, PacketKind::Data, Ecn::Ect1));
        let ack = Seen::of(&v4(0, 64, 0)).unwrap();
        assert_eq!((ack.kind, ack.ecn), (PacketKind::Ack, Ecn::None));
        assert_eq!(ack.to_string(), "TCP without payload from 10.64.0.1:40000 to 10.65.0.2:1024");
        assert_eq!(seen.connection(), Seen { from: ack.to, to: ack.from, ..ack }.connection());
        assert_eq!(Seen::of(&[0; 40]), None);
        assert_eq!(Seen::of(&v4(0, 64, 0)[..30]), None);
    }

    #[test]
    fn a_datagram_of_ipv6_is_read_marked_and_cleared() {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5, 6).write(&mut packet, &[0; 8]).unwrap();
        assert_eq!(Seen::of(&packet).unwrap().ecn, Ecn::None);
        packet[1] |= 0b10 << 4;
        let seen = Seen::of(&packet).unwrap();
        assert_eq!((seen.kind, seen.ecn, seen.from.1), (PacketKind::Datagram, Ecn::Ect0, 5));
        assert!(seen.to_string().ends_with(":202]:6"), "{seen}");
        for field in [CE, NOT_ECT] {
            set_ecn(&mut packet, field);
            let sliced = SlicedPacket::from_ip(&packet).unwrap();
            let Some(NetSlice::Ipv6(ip)) = sliced.net else { panic!("IPv6") };
            assert_eq!((ip.header().ecn().value(), ip.header().flow_label().value()), (field, 0));
        }
    }

    proptest! {
        #[test]
        fn another_ecn_field_leaves_the_checksum_right(
            (ecn, field) in (0u8..4, 0u8..4), ttl in any::<u8>(), payload in 0usize..1400
        ) {
            let mut packet = v4(ecn, ttl, payload);
            set_ecn(&mut packet, field);
            let (header, _) = Ipv4Header::from_slice(&packet).unwrap();
            prop_assert_eq!(header.ecn.value(), field);
            prop_assert_eq!(header.dscp.value(), 5);
            prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
        }

        #[test]
        fn damaged_packets_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Seen::of(&bytes);
        }
    }
}
