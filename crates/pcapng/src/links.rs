//! A file of the packets that the links of a simulation send and lose.
//!
//! Each link with a queue discipline is an interface, from which its packets leave when their transmission begins, with
//! their wait in a comment. A packet that is lost, there or on a link without a discipline, is seen where and when that
//! happens; a comment has the reason. Times count from the start of the run, in ns.
//!
//! A packet of the simulator has no bytes. The headers here are those that it stands for: IPv4, TCP or UDP, the nodes as
//! addresses, the segments counted in bytes. Options of TCP are padding of the size that the scenario has for them, and
//! payload, which is left out, counts as zeros.

use crate::block::{self, Direction, Seen as At, ms};
use etherparse::{IpEcn, IpFragOffset, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use netsim::tcp::Content;
use netsim::{Cause, PacketKind, Seen};
use scenario::Scenario;
use scenario::model::{self, Ecn};
use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Ipv4Addr;

/// The port of the first traffic entry; those of the others follow.
const PORT: u16 = 5001;
/// The first of the ports of connections, and how many there are.
const FIRST: u32 = 10_000;
const PORTS: u32 = 50_000;
/// Bytes of a TCP header with all options that it may have.
const LARGEST: u64 = 60;
const IP: u64 = 20;
const TCP: u64 = 20;
/// The bytes that stand for payload, of which checksums need the number.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A file under way.
#[derive(Debug)]
pub struct Links<W: Write> {
    file: W,
    entries: Vec<Entry>,
    /// The name of each link, and that of its algorithm, if it has one.
    names: Vec<(String, Option<String>)>,
    next: u64,
    /// The FINs so far, by traffic entry and flow: each counts as a byte.
    fins: HashMap<(usize, (u32, u16)), u32>,
    buffer: Vec<u8>,
}

/// A traffic entry.
#[derive(Clone, Debug)]
struct Entry {
    header: u64,
    /// Payload bytes of a full segment.
    payload: u64,
    /// Of traffic that is asked for, the nodes that send it, and the payload bytes of the requests, which come from the others.
    requests: Option<(Vec<usize>, u64)>,
}

impl Entry {
    /// Payload bytes of the segments that travel from a node.
    fn payload_from(&self, node: usize) -> u64 {
        match &self.requests {
            Some((servers, request)) if !servers.contains(&node) => *request,
            _ => self.payload,
        }
    }
}

impl<W: Write> Links<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut file: W, scenario: &Scenario) -> io::Result<Self> {
        let mut buffer = Vec::new();
        block::section(&mut buffer, "aqmlab");
        for link in &scenario.links {
            let what = match &link.aqm {
                Some(aqm) => format!("link with {}: what it sends and what it loses", aqm.name()),
                None => "link without a queue discipline: what it loses".to_owned(),
            };
            block::interface(&mut buffer, &link.name, &what, None);
        }
        file.write_all(&buffer)?;
        let entry = |entry: &model::Traffic| {
            let header = entry.header();
            let request = entry.kind.request();
            let requests = request.map(|size| (entry.from.clone(), size.0.saturating_sub(header)));
            Entry { header, payload: entry.packet_size.0.saturating_sub(header), requests }
        };
        let name =
            |link: &model::Link| (link.name.clone(), link.aqm.as_ref().map(|aqm| aqm.name().to_owned()));
        Ok(Self {
            file,
            entries: scenario.traffic.iter().map(entry).collect(),
            names: scenario.links.iter().map(name).collect(),
            next: 0,
            fins: HashMap::new(),
            buffer,
        })
    }

    /// Appends packets, in the order of time.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, packets: &[Seen]) -> io::Result<()> {
        self.buffer.clear();
        for seen in packets {
            if seen.content == Content::Fin {
                self.fins.insert((seen.class, seen.flow), seen.seq);
            }
            let comment = self.comment(seen);
            let bytes = self.bytes(seen);
            let direction = if seen.lost.is_none() { Direction::Outbound } else { Direction::Unknown };
            let at = At { interface: seen.link as u32, at: seen.at, direction, identity: self.next };
            self.next += 1;
            at.write(&mut self.buffer, &bytes, usize::from(seen.size), Some(&comment));
        }
        self.file.write_all(&self.buffer)
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn comment(&self, seen: &Seen) -> String {
        let waited = ms(seen.waited);
        let marked = if seen.marked { ", marked CE" } else { "" };
        match seen.lost {
            None => format!("waited {waited}{marked}"),
            Some(Cause::Random) => "lost: random loss".to_owned(),
            Some(Cause::Ecn) => "lost: for its ECN".to_owned(),
            Some(Cause::Collisions) => "lost: by collisions".to_owned(),
            Some(Cause::Retries) => "lost: after the last retry".to_owned(),
            Some(Cause::Overflow) => format!("lost: overflow, waited {waited}"),
            Some(Cause::Early) => {
                let aqm = self.names[seen.link].1.as_deref().unwrap_or("none");
                format!("lost: early drop ({aqm}), waited {waited}")
            }
        }
    }

    /// The headers of a packet; the bytes after them count as zeros.
    fn bytes(&self, seen: &Seen) -> Vec<u8> {
        let size = u64::from(seen.size);
        let entry = &self.entries[seen.class];
        let mut out = Vec::with_capacity(block::SNAP);
        let protocol = if seen.kind.is_udp() { IpNumber::UDP } else { IpNumber::TCP };
        let (from, to) = (address(seen.ends.0), address(seen.ends.1));
        let payload = size.saturating_sub(IP) as u16;
        let Ok(mut ip) = Ipv4Header::new(payload, 64, protocol, from.octets(), to.octets()) else {
            return out;
        };
        ip.fragment_offset = IpFragOffset::ZERO;
        ip.dont_fragment = true;
        ip.ecn = match (seen.marked, seen.ecn) {
            (true, _) => IpEcn::THREE,
            (false, Ecn::None) => IpEcn::ZERO,
            (false, Ecn::Ect1) => IpEcn::ONE,
            (false, Ecn::Ect0) => IpEcn::TWO,
        };
        ip.header_checksum = ip.calc_header_checksum();
        // Writing to memory does not fail.
        let _ = ip.write(&mut out);
        let (flow, generation) = seen.flow;
        let own = (FIRST + (flow.wrapping_mul(7).wrapping_add(u32::from(generation))) % PORTS) as u16;
        let server = PORT + seen.class as u16;
        let answers = matches!(seen.kind, PacketKind::Ack | PacketKind::Reply | PacketKind::Report);
        let ports = if answers { (server, own) } else { (own, server) };
        if protocol == IpNumber::UDP {
            let body = &ZEROS[..usize::from(payload).saturating_sub(8)];
            if let Ok(udp) = UdpHeader::with_ipv4_checksum(ports.0, ports.1, &ip, body) {
                let _ = udp.write(&mut out);
            }
            return out;
        }
        let (header, body) = match seen.kind {
            PacketKind::Data if seen.content != Content::Data => (size - IP, 0),
            PacketKind::Ack => (size - IP, 0),
            _ => (entry.header.saturating_sub(IP), size.saturating_sub(entry.header)),
        };
        let mut tcp = TcpHeader::new(ports.0, ports.1, 0, u16::MAX);
        // Segment 0 is the SYN; data begins behind it.
        let bytes = |segments: u32, sender: usize| {
            let fin = self.fins.get(&(seen.class, seen.flow)).is_some_and(|&fin| segments > fin);
            let full = u64::from(segments.saturating_sub(1 + u32::from(fin))) * entry.payload_from(sender);
            1 + full as u32 + u32::from(fin)
        };
        match seen.kind {
            PacketKind::Ack => {
                tcp.ack = true;
                tcp.ece = seen.ece;
                tcp.sequence_number = 1;
                tcp.acknowledgment_number = bytes(seen.seq, seen.ends.1);
            }
            _ => {
                tcp.syn = seen.content.is_syn();
                tcp.ack = !tcp.syn;
                tcp.fin = seen.content == Content::Fin;
                tcp.cwr = seen.cwr;
                tcp.acknowledgment_number = u32::from(tcp.ack);
                tcp.sequence_number = if tcp.syn { 0 } else { bytes(seen.seq, seen.ends.0) };
            }
        }
        let options = [1; (LARGEST - TCP) as usize];
        let length = header.clamp(TCP, LARGEST).saturating_sub(TCP) as usize / 4 * 4;
        let _ = tcp.set_options_raw(&options[..length]);
        if let Ok(checksum) = tcp.calc_checksum_ipv4(&ip, &ZEROS[..body as usize]) {
            tcp.checksum = checksum;
        }
        let _ = tcp.write(&mut out);
        out
    }
}

fn address(node: usize) -> Ipv4Addr {
    let [_, a, b, c] = (node as u32 + 1).to_be_bytes();
    Ipv4Addr::new(10, a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::{Span, Time};
    use etherparse::{SlicedPacket, TransportSlice};
    use scenario::Document;

    const TEXT: &str = "[dumbbell]\n[aqm]\nname = \"codel\"\n[[traffic]]\nname = \"x\"\npacket_size = \"1000 B\"\n\
                        [[traffic]]\nname = \"w\"\nkind = \"web\"\n[[traffic]]\nname = \"p\"\nkind = \"ping\"\n";

    fn file() -> (Links<Vec<u8>>, Seen) {
        let scenario = Document::parse(TEXT, "test").unwrap().check().unwrap();
        let seen = Seen {
            link: scenario.observed,
            at: Time::ZERO + Span::ms(1500),
            lost: None,
            waited: Span::us(12_345),
            marked: false,
            ends: (scenario.traffic[0].from[0], scenario.traffic[0].to[0]),
            class: 0,
            kind: PacketKind::Data,
            flow: (3, 1),
            size: 1000,
            seq: 2,
            content: Content::Data,
            ece: false,
            cwr: false,
            ecn: Ecn::Ect0,
        };
        (Links::new(Vec::new(), &scenario).unwrap(), seen)
    }

    #[test]
    fn headers_are_those_that_a_packet_stands_for() {
        let (links, data) = file();
        let back = (data.ends.1, data.ends.0);
        let tcp = |seen: &Seen| {
            let bytes = links.bytes(seen);
            let mut whole = bytes.clone();
            whole.resize(usize::from(seen.size), 0);
            let packet = SlicedPacket::from_ip(&whole).unwrap();
            let ip = packet.net.as_ref().unwrap().ipv4_ref().unwrap().header().to_header();
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            let Some(TransportSlice::Tcp(tcp)) = packet.transport else { panic!("no TCP") };
            let (header, payload) = (tcp.to_header(), tcp.payload().len() as u64);
            assert_eq!(tcp.checksum(), header.calc_checksum_ipv4(&ip, tcp.payload()).unwrap());
            (header, payload, ip.ecn.value())
        };
        let each = links.entries[0].payload;
        let (header, payload, ecn) = tcp(&data);
        assert_eq!((header.sequence_number, payload, ecn), (1 + each as u32, each, 2));
        let (ports, marked) = ((header.source_port, header.destination_port), Seen { marked: true, ..data });
        assert_eq!((ports.1, tcp(&marked).2), (PORT, 3));
        let syn = Seen { content: Content::Syn, seq: 0, size: 40, ..data };
        let (header, payload, _) = tcp(&syn);
        assert!(header.syn && !header.ack && header.sequence_number == 0 && payload == 0);
        let ack = Seen {
            kind: PacketKind::Ack,
            content: Content::Ack,
            seq: 3,
            ends: back,
            size: 52,
            ece: true,
            ..data
        };
        let (header, payload, _) = tcp(&ack);
        assert_eq!((header.source_port, header.destination_port), (ports.1, ports.0));
        assert_eq!((header.acknowledgment_number, payload, header.ece), (1 + 2 * each as u32, 0, true));
        assert_eq!(header.header_len(), 32, "12 bytes of options");
        // A web server acknowledges a request of another size than its objects.
        let answer = Seen { class: 1, ends: data.ends, ..ack };
        let (_, request) = links.entries[1].requests.clone().unwrap();
        assert_eq!(tcp(&answer).0.acknowledgment_number, 1 + 2 * request as u32);
    }

    #[test]
    fn a_fin_counts_as_a_byte() {
        let (mut links, data) = file();
        let back = (data.ends.1, data.ends.0);
        let fin = Seen { content: Content::Fin, seq: 3, size: 52, ..data };
        let ack = Seen { kind: PacketKind::Ack, content: Content::Ack, seq: 4, ends: back, size: 52, ..data };
        let last = Seen { content: Content::Ack, ..fin };
        links.write(&[fin]).unwrap();
        let [fin, ack, last] = [fin, ack, Seen { seq: 4, ..last }].map(|seen| {
            let packet = links.bytes(&seen);
            let Some(TransportSlice::Tcp(tcp)) = SlicedPacket::from_ip(&packet).unwrap().transport else {
                panic!("no TCP")
            };
            tcp.to_header()
        });
        let end = 1 + 2 * links.entries[0].payload as u32;
        assert_eq!((fin.fin, fin.sequence_number), (true, end));
        assert_eq!((ack.fin, ack.acknowledgment_number), (false, end + 1));
        assert_eq!((last.fin, last.ack, last.sequence_number), (false, true, end + 1));
    }

    #[test]
    fn a_ping_and_its_answer_are_of_one_conversation() {
        let (links, data) = file();
        let ping = Seen { class: 2, kind: PacketKind::Datagram, size: 84, ..data };
        let answer = Seen { kind: PacketKind::Reply, ends: (data.ends.1, data.ends.0), ..ping };
        let ports = |seen: &Seen| {
            let mut whole = links.bytes(seen);
            assert_eq!(whole.len(), 28);
            whole.resize(84, 0);
            let packet = SlicedPacket::from_ip(&whole).unwrap();
            let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no UDP") };
            (udp.source_port(), udp.destination_port())
        };
        let (from, to) = ports(&ping);
        assert_eq!(ports(&answer), (to, from));
    }

    #[test]
    fn comments_say_what_became_of_a_packet() {
        let (links, seen) = file();
        let comment = |lost, marked| links.comment(&Seen { lost, marked, ..seen });
        assert_eq!(comment(None, true), "waited 12.345000 ms, marked CE");
        assert_eq!(comment(Some(Cause::Early), false), "lost: early drop (codel), waited 12.345000 ms");
        assert_eq!(comment(Some(Cause::Overflow), false), "lost: overflow, waited 12.345000 ms");
        assert_eq!(comment(Some(Cause::Random), false), "lost: random loss");
        assert_eq!(comment(Some(Cause::Ecn), false), "lost: for its ECN");
    }
}
