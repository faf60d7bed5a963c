//! The nodes, links and traffic that the tables describe, without abbreviations.

mod stars;

use super::buffers::{self, Said};
use crate::keys::{ALGORITHMS, BOTTLENECK, below};
use crate::model::{
    Air, Buffer, Cell, Change, Clock, Distribution, EcnPath, General, Handover, Link, Loss, Outage, Place,
    Scenario, Subscriber, Traffic, Upstream, Variation, Wifi, least_common_multiple,
};
use crate::reader::{Algorithm, Reader};
use crate::source::error::instead;
use crate::tables::traffic::{DEFAULT_PACKET, packet_size};
use crate::tables::{Admission, Dumbbell, KindName, LinkEntry, LossEntry, Rates, Tables, TrafficEntry};
use aqm::aqm::AnyParams;
use aqm::framing::Framing;
use aqm::params::Field as _;
use aqm::unit::{Bytes, Limit, Rate, Span};
use std::collections::HashMap;

/// Most hosts on one side of a dumbbell, and most pairs of nodes of a `short` entry.
const MOST_HOSTS: usize = 10_000;

/// The groups of a dumbbell's hosts: the name of the group in traffic entries, and the hosts' name before the number.
const GROUPS: [(&str, &str); 2] = [("senders", "sender"), ("receivers", "receiver")];

/// A cable between two nodes: equal in both directions except for rate, buffer and algorithm.
struct Cable<'a> {
    name: String,
    ends: [&'a str; 2],
    delay: Distribution<Span>,
    overhead: Bytes,
    framing: Option<&'a Framing>,
    half_duplex: Option<Span>,
    /// Its parts of a wireless LAN, in the two directions.
    airs: [Option<Air>; 2],
    /// Its parts of a cell, in the two directions.
    cells: [Option<Place>; 2],
    /// Its parts of a cable network, in the two directions.
    subscribers: [Option<Subscriber>; 2],
    rates: [Rate; 2],
    /// The changes of the rates, and when they start over.
    changes: [Changes; 2],
    /// The outages, and when they start over.
    outages: [&'a [Outage]; 2],
    outages_period: Option<Span>,
    handover: Option<&'a Handover>,
    variations: [Option<&'a Variation>; 2],
    buffers: [Buffer; 2],
    admission: Option<Admission>,
    aqms: [Option<AnyParams>; 2],
    losses: [Option<Loss>; 2],
    ecn_paths: [EcnPath; 2],
}

/// The changes of a rate.
#[derive(Default)]
struct Changes {
    list: Vec<Change>,
    /// When they start over.
    period: Option<Span>,
    recorded: bool,
}

impl Changes {
    /// Those of the two directions of a cable: as they were recorded, otherwise as the file lists them for the first.
    fn of(listed: Option<&[Change]>, period: Option<Span>, recorded: &[Option<Rates>; 2]) -> [Self; 2] {
        let period = period.filter(|_| listed.is_some());
        let listed = Self { list: listed.unwrap_or_default().to_vec(), period, recorded: false };
        let recorded = recorded.each_ref().map(|rates| {
            let Rates { changes, period, .. } = rates.clone()?;
            Some(Self { list: changes, period: Some(period), recorded: true })
        });
        let [there, back] = recorded;
        [there.unwrap_or(listed), back.unwrap_or_default()]
    }
}

/// A network under construction.
#[derive(Default)]
struct Network {
    nodes: Vec<String>,
    numbers: HashMap<String, usize>,
    links: Vec<Link>,
    wifis: Vec<Wifi>,
    cells: Vec<Cell>,
    upstreams: Vec<Upstream>,
    /// What the file says about the buffer of each link.
    buffers: Vec<Said>,
    packet: Bytes,
    /// Whether the TCP of some flows is a preset of ns-2.
    of_ns2: bool,
}

impl Network {
    /// The index of the node called `name`, which is added if it does not exist.
    fn node(&mut self, name: &str) -> usize {
        *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        })
    }

    /// Adds the two links of `cable`.
    fn connect(&mut self, cable: Cable<'_>) {
        let [from, to] = cable.ends.map(|end| self.node(end));
        let ways = [(cable.name.clone(), from, to), (format!("{}:reverse", cable.name), to, from)];
        let said = cable.changes.into_iter().zip(cable.aqms).zip(cable.losses);
        for (i, ((name, from, to), ((changes, aqm), loss))) in ways.into_iter().zip(said).enumerate() {
            let sticks_out = match cable.admission {
                Some(Admission::Fits) => false,
                Some(Admission::SticksOut) => true,
                Some(Admission::Ns2) => aqm.as_ref().is_some_and(asks_before),
                None => self.of_ns2 && aqm.as_ref().is_some_and(asks_before),
            };
            self.buffers.push(Said { buffer: cable.buffers[i], sticks_out });
            // Only a measured link can change its rate: a link without an algorithm computes in advance when packets
            // leave.
            let Changes { list, period, recorded } = changes;
            let outages = cable.outages[i];
            let changes = !list.is_empty() || !outages.is_empty() || cable.handover.is_some();
            let aqm = aqm.or_else(|| AnyParams::of("droptail").filter(|_| changes));
            let variation =
                cable.variations[i].filter(|variation| !variation.is_none() || cable.handover.is_some());
            let handover = cable.handover.map(|drawn| {
                let rate = [drawn.rate, drawn.reverse_rate][i];
                Box::new(Handover { rate, reverse_rate: None, ..drawn.clone() })
            });
            self.links.push(Link {
                name,
                from,
                to,
                rate: cable.rates[i],
                changes: list,
                changes_period: period,
                recorded,
                outages: outages.to_vec(),
                outages_period: cable.outages_period.filter(|_| !outages.is_empty()),
                delay: cable.delay,
                variation: variation.cloned().map(Box::new),
                handover,
                loss,
                ecn_path: cable.ecn_paths[i],
                // Set when the flows that share it are known.
                buffer: Limit::Packets(1),
                aqm,
                overhead: cable.overhead,
                framing: match cable.half_duplex {
                    Some(_) => Framing::parse("ethernet"),
                    None => cable.framing.cloned(),
                },
                half_duplex: cable.half_duplex,
                wifi: cable.airs[i],
                cell: cable.cells[i],
                subscriber: cable.subscribers[i],
                packet: Bytes(self.packet.0 + cable.overhead.0),
            });
        }
    }

    /// A dumbbell of `hosts` senders and receivers.
    fn dumbbell(&mut self, dumbbell: &Dumbbell, hosts: usize, tables: &Tables) {
        let [aqm, reverse_aqm] = params(&tables.aqms);
        let reverse_buffer = if reverse_aqm.is_some() { dumbbell.buffer } else { dumbbell.access_buffer };
        self.connect(Cable {
            name: BOTTLENECK.to_owned(),
            ends: ["r1", "r2"],
            delay: dumbbell.delay,
            overhead: dumbbell.overhead,
            framing: dumbbell.framing.as_ref(),
            half_duplex: None,
            airs: [None; 2],
            cells: [None; 2],
            subscribers: [None; 2],
            rates: [dumbbell.rate, dumbbell.reverse_rate.unwrap_or(dumbbell.rate)],
            changes: Changes::of(dumbbell.changes.as_deref(), dumbbell.changes_period, &tables.recorded),
            outages: dumbbell.all_outages(),
            outages_period: dumbbell.changes_period,
            handover: dumbbell.handover.as_ref(),
            variations: tables.variations.each_ref().map(Some),
            buffers: [dumbbell.buffer, dumbbell.reverse_buffer.unwrap_or(reverse_buffer)],
            admission: dumbbell.buffer_admission,
            // The bottleneck is there to be observed, so it always has an algorithm.
            aqms: [aqm.or_else(|| AnyParams::of("droptail")), reverse_aqm],
            losses: losses(&tables.losses, &tables.recorded),
            ecn_paths: [dumbbell.ecn_path, dumbbell.reverse_ecn_path],
        });
        let rate = dumbbell.access_rate(&tables.recorded);
        let mut host = |prefix: &str, side: usize, i: usize, delays: &[Distribution<Span>]| {
            let name = format!("{prefix}{}{}", GROUPS[side].1, i + 1);
            self.connect(Cable {
                ends: [[&name, "r1"], ["r2", &name]][side],
                name: name.clone(),
                delay: delays[i % delays.len()],
                overhead: Bytes(0),
                framing: None,
                half_duplex: dumbbell.access_half_duplex,
                airs: [None; 2],
                cells: [None; 2],
                subscribers: [None; 2],
                rates: [rate; 2],
                changes: Default::default(),
                outages: [&[]; 2],
                outages_period: None,
                handover: None,
                variations: [None; 2],
                buffers: [dumbbell.access_buffer; 2],
                admission: None,
                aqms: [None, None],
                losses: [None, None],
                ecn_paths: [EcnPath::Pass; 2],
            });
        };
        for i in 0..hosts {
            host("", 0, i, &dumbbell.sender_delay);
            host("", 1, i, &dumbbell.receiver_delay);
        }
        for entry in &tables.traffic {
            let counts = own_hosts(entry, dumbbell);
            for (side, delays) in entry.own_delays().into_iter().enumerate() {
                let delays = delays.as_deref().unwrap_or_default();
                (0..counts[side]).for_each(|i| host(&own_prefix(entry), side, i, delays));
            }
        }
    }

    /// Adds a `[[link]]`.
    fn link(&mut self, entry: &LinkEntry) {
        let table = &entry.table;
        self.connect(Cable {
            name: table.name.clone(),
            ends: [&table.from, &table.to],
            delay: table.delay,
            overhead: table.overhead,
            framing: table.framing.as_ref(),
            half_duplex: table.half_duplex,
            airs: [None; 2],
            cells: [None; 2],
            subscribers: [None; 2],
            rates: [table.rate, table.reverse_rate.unwrap_or(table.rate)],
            changes: Changes::of(table.changes.as_deref(), table.changes_period, &entry.recorded),
            outages: table.all_outages(),
            outages_period: table.changes_period,
            handover: table.handover.as_ref(),
            variations: entry.variations.each_ref().map(Some),
            buffers: [table.buffer, table.reverse_buffer.unwrap_or(table.buffer)],
            admission: table.buffer_admission,
            aqms: params(&entry.aqms),
            losses: losses(&entry.losses, &entry.recorded),
            ecn_paths: [table.ecn_path, table.reverse_ecn_path],
        });
    }

    /// For each node, the lowest-numbered node to which it has a path. All links have both directions.
    fn islands(&self) -> Vec<usize> {
        let mut island: Vec<usize> = (0..self.nodes.len()).collect();
        fn root(island: &mut [usize], mut node: usize) -> usize {
            while island[node] != node {
                island[node] = island[island[node]];
                node = island[node];
            }
            node
        }
        for link in &self.links {
            let (a, b) = (root(&mut island, link.from), root(&mut island, link.to));
            island[a.max(b)] = a.min(b);
        }
        (0..island.len()).map(|node| root(&mut island, node)).collect()
    }
}

/// The numbers of senders and receivers that an entry has for itself.
fn own_hosts(entry: &TrafficEntry, dumbbell: &Dumbbell) -> [usize; 2] {
    let least = dumbbell.hosts.map_or(0, |hosts| hosts as usize);
    entry.own_delays().map(|delays| delays.as_ref().map_or(0, |delays| delays.len().max(least)))
}

/// What precedes the names of the hosts that an entry has for itself.
fn own_prefix(entry: &TrafficEntry) -> String {
    format!("{}.", entry.table.name)
}

fn params(said: &[Option<Algorithm>; 2]) -> [Option<AnyParams>; 2] {
    said.each_ref().map(|algorithm| algorithm.as_ref().map(|algorithm| algorithm.params.clone()))
}

/// The losses of the two directions of a cable: those of its own keys, otherwise those recorded beside its rates.
fn losses(said: &[Option<LossEntry>; 2], recorded: &[Option<Rates>; 2]) -> [Option<Loss>; 2] {
    [0, 1].map(|i| {
        let own = said[i].as_ref().map(|entry| entry.loss.clone());
        own.or_else(|| recorded[i].as_ref()?.losses.clone().map(Loss::Steps))
    })
}

/// Builds the scenario that the tables describe; records values that do not fit together.
pub(crate) fn network(tables: &Tables, reader: &mut Reader<'_>) -> Scenario {
    let in_use = tables.traffic.iter().filter(|entry| entry.table.count > 0);
    let packet = in_use.map(packet_size).max();
    let of_ns2 = tables.traffic.iter().any(is_of_ns2);
    let mut network = Network { packet: packet.unwrap_or(DEFAULT_PACKET), of_ns2, ..Network::default() };
    let hosts = tables.dumbbell.as_ref().map_or(0, |dumbbell| {
        let (a, b) = (dumbbell.sender_delay.len(), dumbbell.receiver_delay.len());
        if let Some(hosts) = dumbbell.hosts {
            return hosts as usize;
        }
        let hosts = least_common_multiple(a, b);
        if hosts > MOST_HOSTS {
            let message = format!(
                "{a} values of sender_delay and {b} of receiver_delay need {hosts} hosts on each side \
                 to pair them evenly; at most {MOST_HOSTS}: let one number divide the other"
            );
            reader.refuse("dumbbell", None, message);
            return 1;
        }
        hosts
    });
    match &tables.dumbbell {
        Some(dumbbell) => network.dumbbell(dumbbell, hosts, tables),
        None if !reader.document.is_graph() => {
            reader.refuse(
                "",
                None,
                "no network: needs a [dumbbell], or [[link]], [[wifi]], [[cell]] or [[cable]] tables",
            );
        }
        None => {
            for key in ALGORITHMS.into_iter().filter(|key| reader.document.root().get(key).is_some()) {
                let message = format!("only for a [dumbbell]; without one, give a [[link]] its own `{key}`");
                reader.refuse(key, None, message);
            }
        }
    }
    let laid = network.links.len();
    for entry in &tables.links {
        links(entry, &mut network, laid, tables.dumbbell.is_some(), reader);
    }
    for entry in &tables.wifis {
        network.add_wifi(entry, reader);
    }
    for entry in &tables.cells {
        network.add_cell(entry, reader);
    }
    for entry in &tables.cables {
        network.add_cable(entry, reader);
    }
    let observed = observed(tables, &network, reader);
    // An observed link is measured, and so is one that cannot know ahead when packets leave: a buffer without an algorithm
    // becomes a drop-tail queue.
    for (i, link) in network.links.iter_mut().enumerate() {
        if link.aqm.is_none() && (i == observed || link.is_shared()) {
            link.aqm = AnyParams::of("droptail");
        }
    }
    let islands = network.islands();
    let flows = |entry| traffic(entry, &network, &islands, (hosts, tables.dumbbell.as_ref()), reader);
    let traffic = tables.traffic.iter().map(flows).collect();
    let discipline = discipline(tables, network.links.get(observed));
    // A user who selects ns-2's TCP expects ns-2's results.
    let clock = tables.general.clock.unwrap_or(if of_ns2 { Clock::Double } else { Clock::Integer });
    let mut scenario = Scenario {
        general: General { clock: Some(clock), ..tables.general.clone() },
        clock,
        response: tables.response.clone(),
        record: tables.record.clone(),
        nodes: network.nodes,
        links: network.links,
        wifis: network.wifis,
        cells: network.cells,
        upstreams: network.upstreams,
        observed,
        discipline,
        traffic,
        remarks: std::mem::take(&mut reader.remarks),
    };
    buffers::limit(&mut scenario, &network.buffers);
    scenario
}

/// The name of the observed link's discipline, as the file writes it.
fn discipline(tables: &Tables, observed: Option<&Link>) -> String {
    let name = observed.map_or("", |link| &link.name);
    let cable = name.trim_end_matches(":reverse");
    let entry = tables.links.iter().find(|entry| entry.table.name == cable);
    let wifi = observed.and_then(|link| Some(&tables.wifis[link.wifi?.lan]));
    let cell = observed.and_then(|link| Some(&tables.cells[link.cell?.cell]));
    let cable_entry = observed.and_then(|link| Some(&tables.cables[link.subscriber?.cable]));
    let star = wifi.map(|entry| &entry.aqms).or(cell.map(|entry| &entry.aqms));
    let star = star.or(cable_entry.map(|entry| &entry.aqms));
    let said = match entry.map(|entry| &entry.aqms).or(star) {
        Some(aqms) => aqms,
        None if cable == BOTTLENECK => &tables.aqms,
        None => &[None, None],
    };
    said[usize::from(cable != name)].as_ref().map_or("droptail", |aqm| &aqm.name).to_owned()
}

/// Whether the TCP of an entry is a preset of ns-2.
fn is_of_ns2(entry: &TrafficEntry) -> bool {
    entry.preset.as_ref().is_some_and(|preset| preset.starts_with("ns2"))
}

/// Whether ns-2's queue of this name, if it counts bytes, checks the backlog before a packet and not whether the
/// packet fits. Its drop-tail and its REM check whether the packet fits.
const fn asks_before(aqm: &AnyParams) -> bool {
    match aqm {
        AnyParams::Red(red) => red.bytes,
        AnyParams::Ared(ared) => ared.red.bytes,
        AnyParams::Pi(pi) => pi.bytes,
        _ => false,
    }
}

/// Adds a `[[link]]` to a network whose first `laid` links belong to a dumbbell.
fn links(entry: &LinkEntry, network: &mut Network, laid: usize, dumbbell: bool, reader: &mut Reader<'_>) {
    let table = &entry.table;
    let ends = [("from", &table.from), ("to", &table.to)].map(|(key, node)| (below(&entry.path, key), node));
    for (path, node) in &ends {
        if dumbbell && GROUPS.iter().any(|(group, _)| group == node) {
            reader.refuse(path, Some(format!("{node:?}")), "a group of the dumbbell's hosts, not one node");
        }
    }
    if table.from == table.to && reader.fine(&[&ends[0].0, &ends[1].0]) {
        reader.refuse(&ends[1].0, Some(format!("{:?}", table.to)), "must be another node than `from`");
    }
    if network.links[..laid].iter().any(|link| link.name == table.name) {
        let message = "the dumbbell has a link of this name";
        reader.refuse(&below(&entry.path, "name"), Some(format!("{:?}", table.name)), message);
    }
    if reader.fine(&[&ends[0].0, &ends[1].0]) {
        network.link(entry);
    }
}

/// The index of the observed link.
fn observed(tables: &Tables, network: &Network, reader: &mut Reader<'_>) -> usize {
    let named = |name: &str| network.links.iter().position(|link| link.name == name);
    if let Some(name) = &tables.observe {
        return named(name).unwrap_or_else(|| {
            let hint = instead(name, network.links.iter().map(|link| &*link.name));
            reader.refuse("observe", Some(format!("{name:?}")), format!("no such link; {hint}"));
            0
        });
    }
    let managed = || network.links.iter().position(|link| link.aqm.is_some());
    let default = if tables.dumbbell.is_some() { named(BOTTLENECK) } else { managed() };
    default.unwrap_or_else(|| {
        if reader.fine(&["link", "wifi", "cell", "cable", "observe"]) && !network.links.is_empty() {
            let message = "missing: no link has an aqm; name the link that the metrics describe";
            reader.refuse("observe", None, message);
        }
        0
    })
}

/// The flows of a `[[traffic]]`.
fn traffic(
    entry: &TrafficEntry,
    network: &Network,
    islands: &[usize],
    (hosts, dumbbell): (usize, Option<&Dumbbell>),
    reader: &mut Reader<'_>,
) -> Traffic {
    let table = &entry.table;
    let paths = ["from", "to"].map(|key| below(&entry.path, key));
    let sides = [(&table.from, 0), (&table.to, 1)];
    let own = dumbbell.map_or([0; 2], |dumbbell| own_hosts(entry, dumbbell));
    let groups = own.map(|own| if own > 0 { (own_prefix(entry), own) } else { (String::new(), hosts) });
    for (delays, (group, host)) in entry.own_delays().into_iter().zip(GROUPS) {
        let used = [&table.from, &table.to].into_iter().flatten().any(|name| name == group);
        if let Some(delays) = delays
            && (dumbbell.is_none() || !used)
            && reader.fine(&["dumbbell", &paths[0], &paths[1]])
        {
            let message = format!(
                "only for an entry from or to a dumbbell's group {group:?}, in whose place it has hosts of its own"
            );
            reader.refuse(
                &below(&entry.path, &format!("{host}_delay")),
                Some(delays.value().to_string()),
                message,
            );
        }
    }
    let [from, to] = sides.map(|(names, side)| {
        if network.nodes.is_empty() {
            return Vec::new();
        }
        if !entry.ends[side] && hosts == 0 {
            reader.refuse(&paths[side], None, "missing: without a [dumbbell], name the nodes");
            return Vec::new();
        }
        ends(names, network, &groups, &paths[side], reader)
    });

    let known = !from.is_empty() && !to.is_empty();
    if known
        && reader.fine(&[
            &paths[0],
            &paths[1],
            &below(&entry.path, "count"),
            "dumbbell",
            "link",
            "wifi",
            "cell",
            "cable",
        ])
    {
        pairs(entry, &from, &to, network, islands, reader);
    }
    let (begin, stop) = match table.active.as_deref() {
        Some(&[begin, stop]) => (begin, Some(stop)),
        _ => (Span::ZERO, table.stop),
    };
    Traffic {
        name: table.name.clone(),
        from,
        to,
        count: table.count,
        packet_size: packet_size(entry),
        send_jitter: table.send_jitter,
        class: table.class as u8,
        dscp: table.dscp,
        begin,
        start: table.start,
        stop,
        kind: entry.kind(),
    }
}

/// The indices of the nodes called `names`; in a dumbbell a name may be a group, whose hosts have this prefix and number.
fn ends(
    names: &[String],
    network: &Network,
    groups: &[(String, usize); 2],
    path: &str,
    reader: &mut Reader<'_>,
) -> Vec<usize> {
    let mut numbers = Vec::new();
    for name in names {
        let group = GROUPS.iter().zip(groups).find(|((group, _), (_, hosts))| group == name && *hosts > 0);
        if let Some(((_, host), (prefix, hosts))) = group {
            numbers.extend((1..=*hosts).map(|i| network.numbers[&format!("{prefix}{host}{i}")]));
        } else if let Some(&number) = network.numbers.get(name) {
            numbers.push(number);
        } else if reader.fine(&[path, "dumbbell", "link", "wifi", "cell", "cable"]) {
            let groups =
                GROUPS.iter().zip(groups).filter(|(_, (_, hosts))| *hosts > 0).map(|((group, _), _)| *group);
            let hint = instead(name, groups.chain(network.nodes.iter().map(|node| &**node)));
            reader.refuse(
                path,
                Some(names.to_vec().value().to_string()),
                format!("no node {name:?}; {hint}"),
            );
        }
    }
    numbers
}

/// Records flows from a node to itself, and flows without a path.
fn pairs(
    entry: &TrafficEntry,
    from: &[usize],
    to: &[usize],
    network: &Network,
    islands: &[usize],
    reader: &mut Reader<'_>,
) {
    // An arrival process assigns its flows to all pairs in turn.
    let flows = if entry.table.kind == KindName::Short { usize::MAX } else { entry.table.count as usize };
    let turns = least_common_multiple(from.len(), to.len());
    if entry.table.kind == KindName::Short && turns > MOST_HOSTS {
        let message = format!(
            "{} nodes in from and {} in to make {turns} pairs, at most {MOST_HOSTS}: let one number divide the other",
            from.len(),
            to.len()
        );
        return reader.refuse(&entry.path, None, message);
    }
    for j in 0..flows.min(turns) {
        let (a, b) = (from[j % from.len()], to[j % to.len()]);
        let (from, to) = (&network.nodes[a], &network.nodes[b]);
        if a == b {
            reader.refuse(&entry.path, None, format!("flow {} would go from {from} to itself", j + 1));
        } else if islands[a] != islands[b] {
            reader.refuse(&entry.path, None, format!("no path from {from} to {to}"));
        } else {
            continue;
        }
        return;
    }
}
