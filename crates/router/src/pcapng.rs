//! Every packet's fate as a pcapng file (`draft-ietf-opsawg-pcapng`), which `wireshark` and `tcpdump` read.
//!
//! The file has an interface for each host, where its packets enter the network (inbound) and leave it (outbound), and
//! one for each link, where those that it loses end. A comment has the fate of a packet. Its number, the same at all
//! interfaces, is the option epb_packetid. Times count from the start of the run, in ns.

use crate::hosts::{Hosts, Ip};
use aqm::unit::{Span, Time};
use netsim::{Cause, Lost, PacketFate, Wait};
use pcapng::block::{self, Direction, Seen, ms};
use scenario::Scenario;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Bits of the networks of hosts (see [`Hosts::prefix`]).
const PREFIX_4: u8 = 16;
const PREFIX_6: u8 = 64;

/// A packet on its way, for the file.
#[derive(Clone, Debug, Default)]
struct OnWay {
    identity: u64,
    entered: Time,
    /// The interface where it leaves the network.
    to: u32,
    waits: Vec<Wait>,
}

/// A file of packets.
#[derive(Debug)]
pub struct Pcapng<W: Write> {
    file: W,
    /// The links, whose interfaces follow those of `hosts` hosts.
    links: Vec<Link>,
    hosts: usize,
    /// The packets on their way, by the router's numbers.
    packets: Vec<OnWay>,
    next: u64,
    /// The blocks that are not in the file yet. At one time, a packet enters before another meets its fate.
    waiting: Vec<Block>,
    block: Vec<u8>,
}

/// A block, with what decides on its place in the file.
#[derive(Debug)]
struct Block {
    at: Time,
    is_fate: bool,
    bytes: Vec<u8>,
}

/// A link in a comment.
#[derive(Debug)]
struct Link {
    name: String,
    /// Its algorithm; none where the buffer is not measured.
    aqm: Option<String>,
}

impl<W: Write> Pcapng<W> {
    /// Begins a file of packets between these hosts. `qdisc` has the words of a discipline of the kernel, if one is at
    /// the observed link.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(file: W, scenario: &Scenario, hosts: &Hosts, ip: Ip, qdisc: Option<&str>) -> io::Result<Self> {
        let mut links: Vec<Link> = scenario
            .links
            .iter()
            .map(|link| Link {
                name: link.name.clone(),
                aqm: link.aqm.as_ref().map(|params| params.name().to_owned()),
            })
            .collect();
        if let Some(qdisc) = qdisc.and_then(|words| words.split_whitespace().next()) {
            links[scenario.observed].aqm = Some(format!("kernel:{qdisc}"));
        }
        let mut found = Self {
            file,
            links,
            hosts: hosts.all().len(),
            packets: Vec::new(),
            next: 0,
            waiting: Vec::new(),
            block: Vec::new(),
        };
        block::section(&mut found.block, "aqmlab-router");
        for host in hosts.all() {
            let name = &scenario.nodes[host.node];
            let address = host.address(ip);
            let prefix = if address.is_ipv4() { PREFIX_4 } else { PREFIX_6 };
            block::interface(&mut found.block, name, "host", Some((address, prefix)));
        }
        for link in &scenario.links {
            block::interface(&mut found.block, &link.name, "link: the packets that it lost", None);
        }
        found.file.write_all(&found.block)?;
        Ok(found)
    }

    /// A packet enters the network at host number `from` of the scenario's hosts, to host number `to`.
    pub fn enter(&mut self, at: Time, number: u32, [from, to]: [usize; 2], packet: &[u8]) {
        let place = number as usize;
        if self.packets.len() <= place {
            self.packets.resize(place + 1, OnWay::default());
        }
        let on_way = &mut self.packets[place];
        (on_way.identity, on_way.entered, on_way.to) = (self.next, at, to as u32);
        on_way.waits.clear();
        self.next += 1;
        let seen =
            Seen { interface: from as u32, at, direction: Direction::Inbound, identity: on_way.identity };
        let mut bytes = Vec::new();
        seen.write(&mut bytes, packet, packet.len(), None);
        self.waiting.push(Block { at, is_fate: false, bytes });
    }

    /// A packet has waited.
    pub fn wait(&mut self, wait: Wait) {
        self.packets[wait.number as usize].waits.push(wait);
    }

    /// A packet, as it leaves the network, has met its fate.
    pub fn decide(&mut self, fate: &PacketFate, packet: &[u8]) {
        let on_way = &self.packets[fate.number as usize];
        let comment = comment(&self.links, on_way, fate);
        let (interface, direction) = match fate.lost {
            None => (on_way.to, Direction::Outbound),
            Some(lost) => ((self.hosts + lost.link) as u32, Direction::Unknown),
        };
        let seen = Seen { interface, at: fate.at, direction, identity: on_way.identity };
        let mut bytes = Vec::new();
        seen.write(&mut bytes, packet, packet.len(), Some(&comment));
        self.waiting.push(Block { at: fate.at, is_fate: true, bytes });
    }

    /// Puts what happened until `reached` into the file, in the order of time: nothing earlier will follow.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn settle(&mut self, reached: Time) -> io::Result<()> {
        // The sort is stable.
        self.waiting.sort_by_key(|block| (block.at, block.is_fate));
        let settled = self.waiting.partition_point(|block| block.at <= reached);
        self.waiting.drain(..settled).try_for_each(|block| self.file.write_all(&block.bytes))
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.settle(Time::MAX)?;
        self.file.flush()
    }
}

/// The fate of a packet in words.
fn comment(links: &[Link], on_way: &OnWay, fate: &PacketFate) -> String {
    let mut text = match fate.lost {
        None => format!("delivered after {}", ms(fate.at.since(on_way.entered))),
        Some(Lost { link, cause, waited, .. }) => {
            let Link { name, aqm } = &links[link];
            let cause = match cause {
                Cause::Random => "random loss".to_owned(),
                Cause::Ecn => "for its ECN".to_owned(),
                Cause::Collisions => "by collisions".to_owned(),
                Cause::Retries => "after the last retry".to_owned(),
                Cause::Overflow => "overflow".to_owned(),
                Cause::Early => format!("early drop ({})", aqm.as_deref().unwrap_or("none")),
            };
            let waited = match waited {
                Span::ZERO => String::new(),
                waited => format!(", waited {}", ms(waited)),
            };
            format!("lost at {name}: {cause}{waited}")
        }
    };
    let mut marked = false;
    for wait in &on_way.waits {
        let name = &links[wait.link].name;
        let _ = write!(text, ", waited {} at {name}", ms(wait.waited));
        if wait.marked && !marked {
            text.push_str(", marked CE");
            marked = true;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_parser::pcapng::{Block, PcapNGOption};
    use pcap_parser::{PcapBlockOwned, PcapError, PcapNGReader, traits::PcapReaderIterator};
    use scenario::Document;
    use std::net::Ipv6Addr;

    const IN: u32 = 1;
    const OUT: u32 = 2;

    /// A packet of the file: interface, ns, bytes kept, bytes, flags, number, comment.
    type Read = (u32, u64, Vec<u8>, u32, u32, u64, String);

    fn value(options: &[PcapNGOption<'_>], code: u16) -> Option<Vec<u8>> {
        let option = options.iter().find(|option| option.code.0 == code)?;
        Some(option.value[..option.len as usize].to_vec())
    }

    fn text(options: &[PcapNGOption<'_>], code: u16) -> String {
        String::from_utf8(value(options, code).unwrap_or_default()).unwrap()
    }

    /// What another reader finds in a file: names of the interfaces, their addresses, and packets.
    fn read(file: &[u8]) -> (Vec<String>, Vec<Vec<u8>>, Vec<Read>) {
        let (mut names, mut addresses, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = PcapNGReader::new(65536, file).unwrap();
        loop {
            let (length, block) = match reader.next() {
                Ok(found) => found,
                Err(PcapError::Eof) => return (names, addresses, packets),
                Err(PcapError::Incomplete(_)) => {
                    reader.refill().unwrap();
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            match block {
                PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                    assert_eq!((section.major_version, section.minor_version), (1, 0));
                    assert_eq!(text(&section.options, 4), "aqmlab-router");
                }
                PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                    assert_eq!((interface.linktype.0, interface.snaplen), (101, 128));
                    assert_eq!((interface.if_tsresol, interface.ts_resolution()), (9, Some(1_000_000_000)));
                    names.push(text(&interface.options, 2));
                    addresses.extend(value(&interface.options, 4).or(value(&interface.options, 5)));
                }
                PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                    packets.push((
                        packet.if_id,
                        u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
                        packet.data[..packet.caplen as usize].to_vec(),
                        packet.origlen,
                        u32::from_le_bytes(value(&packet.options, 2).unwrap().try_into().unwrap()),
                        u64::from_le_bytes(value(&packet.options, 5).unwrap().try_into().unwrap()),
                        text(&packet.options, 1),
                    ));
                }
                _ => panic!("no other block is written"),
            }
            reader.consume(length);
        }
    }

    fn scenario() -> (Scenario, Hosts) {
        let text = "aqm = \"codel\"\n[dumbbell]\n[[traffic]]\nname = \"a\"\n";
        let scenario =
            Document::parse(text, "test").unwrap().check().unwrap_or_else(|problems| panic!("{problems}"));
        let hosts = Hosts::new(&scenario, false).unwrap();
        (scenario, hosts)
    }

    #[test]
    fn hosts_and_links_are_interfaces() {
        let (scenario, hosts) = scenario();
        let of_v6 = |host: &str| {
            let address: Ipv6Addr = format!("fd61:716d:6c61:{host}::1").parse().unwrap();
            [&address.octets()[..], &[64]].concat()
        };
        for (ip, expected) in [
            (Ip::V4, [vec![10, 64, 0, 1, 255, 255, 0, 0], vec![10, 65, 0, 1, 255, 255, 0, 0]]),
            (Ip::V6, [of_v6("0"), of_v6("1")]),
        ] {
            let mut bytes = Vec::new();
            Pcapng::new(&mut bytes, &scenario, &hosts, ip, None).unwrap().finish().unwrap();
            let (names, addresses, packets) = read(&bytes);
            let nodes = hosts.all().iter().map(|host| &scenario.nodes[host.node]);
            let links = scenario.links.iter().map(|link| &link.name);
            assert!(names.iter().eq(nodes.chain(links)), "{names:?}");
            assert_eq!((addresses, packets), (expected.to_vec(), vec![]));
        }
    }

    #[test]
    fn another_reader_finds_the_fates_in_the_order_of_time() {
        let (scenario, hosts) = scenario();
        let [link, count] = [scenario.observed, hosts.all().len()];
        let mut bytes = Vec::new();
        let mut file = Pcapng::new(&mut bytes, &scenario, &hosts, Ip::V4, None).unwrap();
        let at = |ms: u64| Time::ZERO + Span::ms(ms) + Span::s(5);
        let fate = |number, ms, lost, marked| {
            let (at, ect, again) = (at(ms), true, false);
            PacketFate { number, at, lost, marked, ect, again }
        };
        let wait = |number, us, marked| Wait { number, link, waited: Span::us(us), marked };
        let lost = |cause, ms, us| Some(Lost { link, at: at(ms), cause, waited: Span::us(us) });
        let (long, marked) = ([7; 131], [8; 131]);
        file.enter(at(0), 0, [0, 1], &long);
        file.enter(at(0), 1, [0, 1], b"early");
        file.settle(at(0)).unwrap();
        // One host's packets are read after those of another, which came later.
        file.enter(at(40), 3, [1, 0], b"later");
        file.enter(at(20), 2, [1, 0], b"overflow");
        file.wait(wait(0, 12_345, true));
        file.decide(&fate(0, 15, None, true), &marked);
        file.decide(&fate(1, 20, lost(Cause::Early, 20, 7), false), b"early");
        file.decide(&fate(2, 20, lost(Cause::Overflow, 20, 0), false), b"overflow");
        file.settle(at(25)).unwrap();
        // The number is free for another packet.
        file.enter(at(30), 0, [1, 0], b"random");
        file.decide(&fate(0, 31, lost(Cause::Random, 31, 0), false), b"random");
        file.finish().unwrap();
        drop(file);
        let (_, _, packets) = read(&bytes);
        let row = |interface: usize, ms, kept: &[u8], length, flags, number, comment: &str| -> Read {
            (interface as u32, at(ms).nanos(), kept.to_vec(), length, flags, number, comment.to_owned())
        };
        let delivered = "delivered after 15.000000 ms, waited 12.345000 ms at bottleneck, marked CE";
        let early = "lost at bottleneck: early drop (codel), waited 0.007000 ms";
        assert_eq!(
            packets,
            [
                row(0, 0, &long[..128], 131, IN, 0, ""),
                row(0, 0, b"early", 5, IN, 1, ""),
                row(1, 15, &marked[..128], 131, OUT, 0, delivered),
                row(1, 20, b"overflow", 8, IN, 3, ""),
                row(count + link, 20, b"early", 5, 0, 1, early),
                row(count + link, 20, b"overflow", 8, 0, 3, "lost at bottleneck: overflow"),
                row(1, 30, b"random", 6, IN, 4, ""),
                row(count + link, 31, b"random", 6, 0, 4, "lost at bottleneck: random loss"),
                row(1, 40, b"later", 5, IN, 2, ""),
            ]
        );
    }
}
