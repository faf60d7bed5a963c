//! The links of a `[[wifi]]`, of a `[[cell]]` and of a `[[cable]]`.

use super::{Cable, Changes, Network, params};
use crate::keys::below;
use crate::model::cable::ETHERNET;
use crate::model::{Air, Buffer, Distribution, EcnPath, Link, Part, Place, Queues, Subscriber, Wifi};
use crate::reader::Reader;
use crate::tables::star::of;
use crate::tables::{CableEntry, CellEntry, WifiEntry};
use aqm::aqm::AnyParams;
use aqm::unit::{Bytes, Limit, Rate, Span};

/// The rate and the buffer of the way through an access point to its other side: as good as none.
const FASTEST: Rate = Rate::mbit_per_s(100_000);
const ROOMY: Buffer = Buffer::Limit(Limit::Packets(1_000_000));

fn droptail() -> Option<AnyParams> {
    AnyParams::of("droptail")
}

/// A cable between the node in the middle and another, without its parts of the medium.
fn spoke<'a>(
    name: String,
    ends: [&'a str; 2],
    delay: Span,
    rates: [Rate; 2],
    buffers: [Buffer; 2],
    aqms: [Option<AnyParams>; 2],
) -> Cable<'a> {
    Cable {
        name,
        ends,
        delay: Distribution::Fixed(delay),
        overhead: Bytes(0),
        framing: None,
        half_duplex: None,
        airs: [None; 2],
        cells: [None; 2],
        subscribers: [None; 2],
        rates,
        changes: Default::default(),
        outages: [&[]; 2],
        outages_period: None,
        handover: None,
        variations: [None; 2],
        buffers,
        admission: None,
        aqms,
        losses: [None, None],
        ecn_paths: [EcnPath::Pass; 2],
    }
}

impl Network {
    /// Whether the links of an entry may have their names; otherwise the entry at `path` is refused.
    fn may_name(&self, (path, name): (&str, &str), links: &[String], reader: &mut Reader<'_>) -> bool {
        let is_own = |link: &&Link| link.name == name || links.contains(&link.name);
        let Some(link) = self.links.iter().find(is_own) else { return true };
        let message = format!("its link {:?} would be another of this name", link.name);
        reader.refuse(&below(path, "name"), Some(format!("{name:?}")), message);
        false
    }

    /// Adds a `[[wifi]]`, unless its links would have names that are taken.
    pub(super) fn add_wifi(&mut self, entry: &WifiEntry, reader: &mut Reader<'_>) {
        let links: Vec<String> = entry.table.stations.iter().map(|station| entry.link(station)).collect();
        if self.may_name((&entry.path, &entry.table.name), &links, reader) {
            self.wifi(entry, self.wifis.len());
            self.wifis.extend(entry.wifi.as_ref().map(|(wifi, _)| wifi.clone()));
        }
    }

    /// Adds a `[[wifi]]`, number `lan`. With a queue for all stations, the driver behind it is a node, and so is its
    /// receiver: what a station sends to another passes that queue as well.
    fn wifi(&mut self, entry: &WifiEntry, lan: usize) {
        let (table, Some((wifi, recorded))) = (&entry.table, &entry.wifi) else { return };
        let air = |part| Some(Air { lan, part });
        let [aqm, reverse_aqm] = params(&entry.aqms);
        // The access point has a queue to be observed, so it always has an algorithm.
        let managed = aqm.or_else(droptail);
        let driver = format!("{}.driver", table.name);
        let mut receiver = None;
        let (from, own) = match table.queues {
            Queues::Station => (&table.ap, (managed, table.buffer)),
            Queues::Shared => {
                let (rates, buffers) = ([mean_rate(wifi), FASTEST], [table.buffer, ROOMY]);
                let ends = [&*table.ap, &*driver];
                let front = spoke(table.name.clone(), ends, Span::ZERO, rates, buffers, [managed, None]);
                self.connect(Cable { airs: [air(Part::Front), None], ..front });
                receiver = Some(self.node(&format!("{}.receiver", table.name)));
                self.back(|back| &mut back.from, receiver);
                (&driver, (droptail(), Buffer::Limit(Limit::Packets(table.driver))))
            }
        };
        for (i, (station, phy)) in table.stations.iter().zip(&wifi.stations).enumerate() {
            let (aqm, buffer) = own.clone();
            let (rates, buffers) = ([phy.rate(); 2], [buffer, table.reverse_buffer]);
            let aqms = [aqm, reverse_aqm.clone()];
            let link = spoke(entry.link(station), [from, station], table.delay, rates, buffers, aqms);
            let changes = Changes::of(None, None, &[recorded[i].clone(), recorded[i].clone()]);
            self.connect(Cable { airs: [air(Part::Down(i)), air(Part::Up(i))], changes, ..link });
            self.back(|back| &mut back.to, receiver);
        }
    }

    /// The link back of the last cable begins or ends at this node, if there is one.
    fn back(&mut self, end: impl Fn(&mut Link) -> &mut usize, node: Option<usize>) {
        if let (Some(link), Some(node)) = (self.links.last_mut(), node) {
            *end(link) = node;
        }
    }

    /// Adds a `[[cell]]`, unless its links would have names that are taken.
    pub(super) fn add_cell(&mut self, entry: &CellEntry, reader: &mut Reader<'_>) {
        let (table, Some((cell, rates))) = (&entry.table, &entry.cell) else { return };
        let links: Vec<String> = table.users.iter().map(|user| entry.link(user)).collect();
        if !self.may_name((&entry.path, &table.name), &links, reader) {
            return;
        }
        let [aqm, reverse_aqm] = params(&entry.aqms);
        let cell_number = self.cells.len();
        for (i, (user, (name, rates))) in table.users.iter().zip(links.into_iter().zip(rates)).enumerate() {
            let buffers = [table.buffer, table.reverse_buffer];
            let aqms = [aqm.clone().or_else(droptail), reverse_aqm.clone()];
            let means = rates.each_ref().map(|rate| rate.mean);
            let link = spoke(name, [&table.base, user], table.delay, means, buffers, aqms);
            let changes = Changes::of(None, None, &rates.each_ref().map(|rate| rate.recorded.clone()));
            let cells = [0, 1].map(|way| Some(Place { cell: cell_number, user: i, way }));
            self.connect(Cable { cells, changes, ..link });
        }
        self.cells.push(cell.clone());
    }

    /// Adds a `[[cable]]`, unless its links would have names that are taken.
    pub(super) fn add_cable(&mut self, entry: &CableEntry, reader: &mut Reader<'_>) {
        let (table, Some(upstream)) = (&entry.table, &entry.upstream) else { return };
        let links: Vec<String> = table.modems.iter().map(|modem| entry.link(modem)).collect();
        if !self.may_name((&entry.path, &table.name), &links, reader) {
            return;
        }
        let [aqm, reverse_aqm] = params(&entry.aqms);
        let cable = self.upstreams.len();
        for (modem, (node, name)) in table.modems.iter().zip(links).enumerate() {
            let Some(reverse_rate) = of(&table.reverse_rate, modem) else { return };
            let rates = [upstream.flows[modem].rate, reverse_rate];
            let buffers = [table.buffer, table.reverse_buffer];
            let aqms = [aqm.clone().or_else(droptail), reverse_aqm.clone()];
            let link = spoke(name, [node, &table.cmts], table.delay, rates, buffers, aqms);
            let subscribers = [0, 1].map(|way| Some(Subscriber { cable, modem, way }));
            self.connect(Cable { subscribers, overhead: ETHERNET, ..link });
        }
        self.upstreams.push(upstream.clone());
    }
}

/// The rate of a queue in front of all stations: that of the same bytes to each.
fn mean_rate(wifi: &Wifi) -> Rate {
    let times: f64 = wifi.stations.iter().map(|phy| 1.0 / phy.rate().bits()).sum();
    Rate::bit_per_s((wifi.stations.len() as f64 / times) as u64)
}
