//! The hosts of a scenario: in which network namespace each is, and by which address.
//!
//! A host is a node and a stack: a node whose traffic entries need different stacks is several hosts. Packets between two
//! hosts in one namespace would not leave it, so hosts that talk to each other are in different ones; apart from that,
//! hosts with equal stacks share a namespace. A dumbbell of any size has two. A host of foreign programs has one for
//! itself, so that whatever leaves it is known: hosts of the programs of one entry, or a shell, or its peer.

use crate::stack::{LAST_PORT, Stack, Unmapped};
use scenario::Scenario;
use scenario::model::{Tcp, TrafficKind, Udp};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The port of the first traffic entry; each entry has its own, on which its servers and sinks listen.
const FIRST_PORT: u16 = 1024;
/// The first byte of all addresses of IPv4, and the second byte of those in the first namespace.
const NETWORK: [u8; 2] = [10, 64];
/// The first words of all addresses of IPv6 (RFC 4193).
const NETWORK_6: [u16; 3] = [0xfd61, 0x716d, 0x6c61];
/// The sizes of packets that TCP_MAXSEG can set, with either version of IP.
const PACKETS: std::ops::RangeInclusive<u64> = 148..=32_807;
/// The least MTU of IPv4 (RFC 791).
const LEAST_MTU: u64 = 68;
/// The most namespaces: those of IPv4 have one byte.
const MOST_NAMESPACES: usize = 64;

/// The version of IP that hosts talk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ip {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

impl Ip {
    /// Bytes of its header beyond those of IPv4.
    #[must_use]
    pub const fn extra_header(self) -> u32 {
        match self {
            Self::V4 => 0,
            Self::V6 => 20,
        }
    }
}

/// A host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Host {
    /// The node of the scenario.
    pub node: usize,
    /// The number of its namespace.
    pub namespace: usize,
    /// Its number in the namespace, from 1 on.
    number: u16,
}

impl Host {
    /// Its address.
    #[must_use]
    pub fn address(self, ip: Ip) -> IpAddr {
        let [a, b, c] = NETWORK_6;
        match ip {
            Ip::V4 => {
                let [high, low] = self.number.to_be_bytes();
                Ipv4Addr::new(NETWORK[0], NETWORK[1] + self.namespace as u8, high, low).into()
            }
            Ip::V6 => Ipv6Addr::new(a, b, c, self.namespace as u16, 0, 0, 0, self.number).into(),
        }
    }
}

/// All hosts of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// The stack of each namespace.
    pub stacks: Vec<Stack>,
    hosts: Vec<Host>,
    by_number: HashMap<(usize, u16), usize>,
    by_node: HashMap<(usize, Stack), usize>,
    /// The stack of each traffic entry.
    entries: Vec<Stack>,
    /// The way of all packets that leave each namespace, if foreign programs send them.
    ways: Vec<Option<Way>>,
    /// Whether the last two entries are the ways between a shell and its peer.
    shell: bool,
}

/// The way of all packets that leave the namespace of foreign programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The traffic entry.
    pub class: u16,
    /// That of the packets in the reverse direction.
    pub back: u16,
    /// Bytes of its largest packets.
    pub mtu: u32,
    /// Where it begins.
    pub from: Host,
    /// Where it ends, unless the packet has the address of another host of the entry.
    pub to: Host,
}

/// The TCP of a traffic entry, if it has one.
#[must_use]
pub const fn tcp(kind: &TrafficKind) -> Option<&Tcp> {
    match kind {
        TrafficKind::Ftp(tcp)
        | TrafficKind::Transfer(tcp, _)
        | TrafficKind::Short(tcp, _)
        | TrafficKind::Web(tcp, _) => Some(tcp),
        TrafficKind::Udp(..) | TrafficKind::Program(_) => None,
    }
}

impl Hosts {
    /// The hosts of `scenario`, whose last two entries are the way to a `shell` and that from it, if there is one.
    ///
    /// # Errors
    /// What of its traffic Linux cannot do.
    pub fn new(scenario: &Scenario, shell: bool) -> Result<Self, Vec<Unmapped>> {
        let traffic = &scenario.traffic;
        if traffic.len() > usize::from(LAST_PORT - FIRST_PORT) {
            return Err(vec![Unmapped {
                key: "traffic".to_owned(),
                value: format!("{} entries", traffic.len()),
                remedy: format!("it has ports for {}", LAST_PORT - FIRST_PORT),
            }]);
        }
        let mut unmapped: Vec<Unmapped> = traffic
            .iter()
            .filter(|entry| tcp(&entry.kind).is_some() && !PACKETS.contains(&entry.packet_size.0))
            .map(|entry| Unmapped {
                key: format!("traffic.{}.packet_size", entry.name),
                value: entry.packet_size.0.to_string(),
                remedy: format!("its packets of TCP have {} to {} bytes", PACKETS.start(), PACKETS.end()),
            })
            .collect();
        for entry in traffic.iter().filter(|entry| entry.count > 0) {
            let sender = match &entry.kind {
                TrafficKind::Udp(udp @ Udp::Tfrc(_), _) => (udp.name(), "TFRC"),
                TrafficKind::Udp(udp @ Udp::Stack(_), _) => (udp.name(), "a program's own stack"),
                _ => continue,
            };
            unmapped.push(Unmapped {
                key: format!("traffic.{}.kind", entry.name),
                value: format!("{:?}", sender.0),
                remedy: format!("it has no sender of {}; use the packet engine", sender.1),
            });
        }
        let is_program = |kind: &TrafficKind| matches!(kind, TrafficKind::Program(_));
        let small = traffic.iter().filter(|entry| is_program(&entry.kind) && entry.packet_size.0 < LEAST_MTU);
        unmapped.extend(small.map(|entry| Unmapped {
            key: format!("traffic.{}.packet_size", entry.name),
            value: entry.packet_size.0.to_string(),
            remedy: format!("the packets of its programs have at least {LEAST_MTU} bytes"),
        }));
        let of_tcp: Vec<Option<Stack>> = traffic
            .iter()
            .map(|entry| {
                let stack = Stack::of(&entry.name, tcp(&entry.kind)?);
                stack.map_err(|problems| unmapped.extend(problems)).ok()
            })
            .collect();
        if !unmapped.is_empty() {
            return Err(unmapped);
        }
        // Datagrams do not care, and go with the first TCP.
        let any = of_tcp.iter().flatten().next().copied().unwrap_or_default();
        let mut entries: Vec<Stack> = of_tcp.into_iter().map(|stack| stack.unwrap_or(any)).collect();
        for (class, entry) in traffic.iter().enumerate() {
            if is_program(&entry.kind) {
                entries[class] = Stack::of_programs(class);
            }
        }
        let last = entries.len().saturating_sub(2);
        if shell {
            entries[last..].fill(Stack::of_shell(last));
        }
        let mut keys: Vec<(usize, Stack)> = Vec::new();
        let mut talks: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut by_node = HashMap::new();
        for (entry, &stack) in traffic.iter().zip(&entries) {
            let mut number = |node: usize| {
                *by_node.entry((node, stack)).or_insert_with(|| {
                    keys.push((node, stack));
                    keys.len() - 1
                })
            };
            let flows = entry.from.len().max(entry.to.len()) * entry.from.len().min(entry.to.len());
            for i in 0..flows {
                let from = number(entry.from[i % entry.from.len()]);
                let to = number(entry.to[i % entry.to.len()]);
                talks.entry(from).or_default().push(to);
                talks.entry(to).or_default().push(from);
            }
        }
        let mut found = Self { entries, by_node, shell, ..Self::default() };
        found.place(&keys, &talks);
        found.ways = vec![None; found.stacks.len()];
        for (class, entry) in traffic.iter().enumerate() {
            let there = class as u16;
            if found.entries[class].foreign != Some(there) {
                continue;
            }
            let back = if shell && class == last { there + 1 } else { there };
            for i in 0..entry.pairs() {
                let [from, to] = found.ends(scenario, class, i);
                let mtu = entry.packet_size.0 as u32;
                let forth = Way { class: there, back, mtu, from, to };
                found.ways[from.namespace].get_or_insert(forth);
                let reverse = Way { class: back, back: there, mtu, from: to, to: from };
                found.ways[to.namespace].get_or_insert(reverse);
            }
        }
        if found.stacks.len() > MOST_NAMESPACES {
            return Err(vec![Unmapped {
                key: "traffic".to_owned(),
                value: format!("hosts for {} namespaces", found.stacks.len()),
                remedy: format!(
                    "it has {MOST_NAMESPACES}: use fewer different TCPs, or fewer hosts that all talk to each other"
                ),
            }]);
        }
        Ok(found)
    }

    /// Assigns to each host the first namespace of its stack in which none is that it talks to.
    fn place(&mut self, keys: &[(usize, Stack)], talks: &HashMap<usize, Vec<usize>>) {
        let mut members = Vec::<u16>::new();
        for (i, &(node, stack)) in keys.iter().enumerate() {
            let near: Vec<usize> =
                talks[&i].iter().filter_map(|&other| Some(self.hosts.get(other)?.namespace)).collect();
            let alone = stack.foreign.is_some();
            let fits =
                |&k: &usize| !alone && self.stacks[k] == stack && !near.contains(&k) && members[k] < u16::MAX;
            let namespace = (0..self.stacks.len()).find(fits).unwrap_or_else(|| {
                self.stacks.push(stack);
                members.push(0);
                self.stacks.len() - 1
            });
            members[namespace] += 1;
            let number = members[namespace];
            self.by_number.insert((namespace, number), self.hosts.len());
            self.hosts.push(Host { node, namespace, number });
        }
    }

    /// The prefix of the addresses of a namespace.
    #[must_use]
    pub fn prefix(namespace: usize, ip: Ip) -> String {
        let [a, b, c] = NETWORK_6;
        match ip {
            Ip::V4 => format!("{}.{}.0.0/16", NETWORK[0], NETWORK[1] as usize + namespace),
            Ip::V6 => format!("{a:x}:{b:x}:{c:x}:{namespace:x}::/64"),
        }
    }

    /// The place of a host in [`Hosts::all`].
    #[must_use]
    pub fn number(&self, host: Host) -> usize {
        self.by_number[&(host.namespace, host.number)]
    }

    /// The host with this address.
    #[must_use]
    pub fn at(&self, address: IpAddr) -> Option<Host> {
        let number = match address {
            IpAddr::V4(address) => {
                let [network, namespace, high, low] = address.octets();
                let namespace = namespace.checked_sub(NETWORK[1]).filter(|_| network == NETWORK[0])?;
                (usize::from(namespace), u16::from_be_bytes([high, low]))
            }
            IpAddr::V6(address) => {
                let [a, b, c, namespace, .., number] = address.segments();
                ([a, b, c] == NETWORK_6).then_some((usize::from(namespace), number))?
            }
        };
        Some(self.hosts[*self.by_number.get(&number)?])
    }

    /// The two hosts of flow `i` of a traffic entry: the one it is from, the one it goes to.
    #[must_use]
    pub fn ends(&self, scenario: &Scenario, class: usize, i: usize) -> [Host; 2] {
        let entry = &scenario.traffic[class];
        let nodes = [entry.from[i % entry.from.len()], entry.to[i % entry.to.len()]];
        nodes.map(|node| self.hosts[self.by_node[&(node, self.entries[class])]])
    }

    /// The ways between a shell and its peer, if there is one: first that to the shell.
    #[must_use]
    pub fn shell(&self) -> Option<[Way; 2]> {
        let mut ways = self.ways.iter().rev().flatten().filter(|_| self.shell);
        let pair = ways.next().zip(ways.next());
        pair.map(|(a, b)| if a.class < b.class { [*a, *b] } else { [*b, *a] })
    }

    /// The way of all packets that leave a namespace, if foreign programs send them.
    #[must_use]
    pub fn way(&self, namespace: usize) -> Option<Way> {
        self.ways[namespace]
    }

    /// The other namespaces with the same foreign programs.
    pub fn others(&self, namespace: usize) -> impl Iterator<Item = usize> {
        let all = 0..self.stacks.len();
        all.filter(move |&other| other != namespace && self.stacks[other] == self.stacks[namespace])
    }

    /// All paths of packets of foreign programs.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        self.ways.iter().flatten().copied()
    }

    /// Where a packet to this address leaves a way.
    #[must_use]
    pub fn end(&self, way: Way, address: IpAddr) -> Host {
        let stack = |host: Host| self.stacks[host.namespace];
        self.at(address).filter(|&host| stack(host) == stack(way.from)).unwrap_or(way.to)
    }

    /// All hosts.
    #[must_use]
    pub fn all(&self) -> &[Host] {
        &self.hosts
    }
}

/// The port of a traffic entry.
#[must_use]
pub const fn port(class: usize) -> u16 {
    FIRST_PORT + class as u16
}

/// The traffic entry of a packet between these ports, one of which is its own.
#[must_use]
pub const fn class_of(ports: [u16; 2]) -> Option<u16> {
    let [a, b] = ports;
    if asks(b) {
        Some(b - FIRST_PORT)
    } else if asks(a) {
        Some(a - FIRST_PORT)
    } else {
        None
    }
}

/// Whether a packet to this port comes from the side of an entry that asked, and not from the one that answers.
#[must_use]
pub const fn asks(port: u16) -> bool {
    port >= FIRST_PORT && port <= LAST_PORT
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Document;

    fn scenario(text: &str) -> Scenario {
        Document::parse(text, "test").unwrap().check().unwrap_or_else(|problems| panic!("{problems}"))
    }

    #[test]
    fn a_dumbbell_has_two_namespaces_however_many_hosts() {
        let scenario = scenario(
            "[dumbbell]\nsender_delay = [\"1 ms\", \"2 ms\", \"3 ms\"]\nreceiver_delay = [\"1 ms\", \"2 ms\"]\n\
             [[traffic]]\nname = \"down\"\ncount = 12\n[[traffic]]\nname = \"up\"\nfrom = \"receivers\"\nto = \"senders\"\n\
             [[traffic]]\nname = \"call\"\nkind = \"voip\"\n",
        );
        let hosts = Hosts::new(&scenario, false).unwrap();
        assert_eq!((hosts.stacks.len(), hosts.all().len()), (2, 12));
        for i in 0..12 {
            let [from, to] = hosts.ends(&scenario, 0, i);
            assert_ne!(from.namespace, to.namespace);
            for ip in [Ip::V4, Ip::V6] {
                assert_eq!(hosts.at(from.address(ip)), Some(from));
                assert_eq!(hosts.at(to.address(ip)), Some(to));
            }
            assert_eq!(
                (from.node, to.node),
                (scenario.traffic[0].from[i % 6], scenario.traffic[0].to[i % 6])
            );
        }
        let [from, to] = hosts.ends(&scenario, 1, 0);
        let [other_from, other_to] = hosts.ends(&scenario, 0, 0);
        assert_eq!([from, to], [other_to, other_from]);
    }

    #[test]
    fn different_stacks_are_in_different_namespaces() {
        let scenario = scenario(
            "[dumbbell]\n[[traffic]]\nname = \"a\"\n[[traffic]]\nname = \"b\"\ntcp = { preset = \"linux\", ecn = true }\n",
        );
        let hosts = Hosts::new(&scenario, false).unwrap();
        assert_eq!((hosts.stacks.len(), hosts.all().len()), (4, 4));
        assert_eq!(hosts.ends(&scenario, 0, 0)[0].node, hosts.ends(&scenario, 1, 0)[0].node);
        let old = scenario_with_old_tcp();
        assert_eq!(Hosts::new(&old, false).unwrap_err()[0].key, "traffic.a.tcp.flavour");
    }

    #[test]
    fn tfrc_is_refused() {
        let text = "[dumbbell]\n[[traffic]]\nname = \"a\"\n[[traffic]]\nname = \"b\"\nkind = \"tfrc\"\n";
        let problems = Hosts::new(&scenario(text), false).unwrap_err();
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let kind = "traffic.b.kind = \"tfrc\": the Linux engine cannot do that; it has no sender of TFRC; use the packet engine";
        assert_eq!(text, [kind]);
    }

    #[test]
    fn tfrc_without_flows_is_not() {
        let text =
            "[dumbbell]\n[[traffic]]\nname = \"a\"\n[[traffic]]\nname = \"b\"\nkind = \"tfrc\"\ncount = 0\n";
        assert_eq!(Hosts::new(&scenario(text), false).unwrap().all().len(), 2);
    }

    #[test]
    fn the_programs_of_an_entry_have_namespaces_of_their_own() {
        let scenario = scenario(
            "[dumbbell]\nhosts = 3\n[[traffic]]\nname = \"long\"\n\
             [[traffic]]\nname = \"p\"\nkind = \"program\"\ncommand = [\"a\"]\ncount = 3\npacket_size = \"1280 B\"\n\
             [[traffic]]\nname = \"q\"\nkind = \"program\"\ncommand = [\"a\"]\nfrom = \"receiver1\"\nto = \"sender1\"\n",
        );
        let hosts = Hosts::new(&scenario, false).unwrap();
        assert_eq!((hosts.stacks.len(), hosts.ways().count()), (2 + 6 + 2, 6 + 2));
        assert_eq!(hosts.shell(), None);
        for i in 0..3 {
            let [from, to] = hosts.ends(&scenario, 1, i);
            let [there, back] = [from, to].map(|host| hosts.way(host.namespace).unwrap());
            assert_eq!((there.class, there.back, there.mtu, there.from, there.to), (1, 1, 1280, from, to));
            assert_eq!((back.class, back.from, back.to), (1, to, from));
            // Another host of the entry is reached by its address, and no host of others is.
            let [_, other] = hosts.ends(&scenario, 1, (i + 1) % 3);
            assert_eq!(hosts.end(there, other.address(Ip::V4)), other);
            let [_, foreign] = hosts.ends(&scenario, 0, i);
            assert_eq!(hosts.end(there, foreign.address(Ip::V4)), to);
            let others: Vec<usize> = hosts.others(from.namespace).collect();
            assert_eq!((others.len(), others.contains(&to.namespace)), (5, true));
        }
        let [from, to] = hosts.ends(&scenario, 0, 0);
        assert_eq!([from, to].map(|host| hosts.way(host.namespace)), [None, None]);
    }

    #[test]
    fn a_shell_and_its_peer_have_the_last_two_entries() {
        let scenario = scenario(
            "[dumbbell]\n[[traffic]]\nname = \"load\"\nkind = \"cbr\"\n[[traffic]]\nname = \"to-shell\"\n\
             [[traffic]]\nname = \"from-shell\"\nfrom = \"receivers\"\nto = \"senders\"\n",
        );
        let hosts = Hosts::new(&scenario, true).unwrap();
        let [to, from] = hosts.shell().unwrap();
        assert_eq!((to.class, to.back, from.class, from.back), (1, 2, 2, 1));
        assert_eq!((to.from, to.to), (from.to, from.from));
        assert_eq!((to.from.node, to.to.node), (scenario.traffic[1].from[0], scenario.traffic[1].to[0]));
        // Whatever it sends goes to its peer.
        assert_eq!(hosts.end(from, [192, 0, 2, 1].into()), from.to);
    }

    #[test]
    fn packets_of_programs_that_ip_cannot_carry_are_refused() {
        let text = "[dumbbell]\n[[traffic]]\nname = \"p\"\nkind = \"program\"\ncommand = [\"a\"]\npacket_size = \"67 B\"\n";
        let problems = Hosts::new(&scenario(text), false).unwrap_err();
        assert_eq!(problems[0].key, "traffic.p.packet_size");
    }

    fn scenario_with_old_tcp() -> Scenario {
        scenario("[dumbbell]\n[[traffic]]\nname = \"a\"\ntcp = \"rfc5681\"\n")
    }

    #[test]
    fn the_port_tells_the_entry() {
        assert_eq!(class_of([40000, port(3)]), Some(3));
        assert_eq!(class_of([port(3), 40000]), Some(3));
        assert_eq!(class_of([40000, 50000]), None);
    }
}
