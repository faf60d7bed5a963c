//! The links of a `[[wifi]]`.

use super::{Cable, Network, params};
use crate::keys::below;
use crate::model::{Air, Buffer, Distribution, EcnPath, Link, Part, Queues, Wifi};
use crate::reader::Reader;
use crate::tables::WifiEntry;
use aqm::aqm::AnyParams;
use aqm::unit::{Bytes, Limit, Rate, Span};

/// The rate and the buffer of the way through an access point to its other side: as good as none.
const FASTEST: Rate = Rate::mbit_per_s(100_000);
const ROOMY: Buffer = Buffer::Limit(Limit::Packets(1_000_000));

impl Network {
    /// Adds a `[[wifi]]`, unless its links would have names that are taken.
    pub(super) fn add_wifi(&mut self, entry: &WifiEntry, reader: &mut Reader<'_>) {
        let is_own = |link: &&Link| {
            link.name == entry.table.name
                || entry.table.stations.iter().any(|station| link.name == entry.link(station))
        };
        if let Some(link) = self.links.iter().find(is_own) {
            let message = format!("its link {:?} would be another of this name", link.name);
            let found = Some(format!("{:?}", entry.table.name));
            return reader.refuse(&below(&entry.path, "name"), found, message);
        }
        self.wifi(entry, self.wifis.len());
        self.wifis.extend(entry.wifi.clone());
    }

    /// Adds a `[[wifi]]`, number `lan`: with a queue for all stations, the driver behind it is a node.
    fn wifi(&mut self, entry: &WifiEntry, lan: usize) {
        let (table, Some(wifi)) = (&entry.table, &entry.wifi) else { return };
        let air = |part| Some(Air { lan, part });
        let [aqm, reverse_aqm] = params(&entry.aqms);
        let droptail = || AnyParams::of("droptail");
        let cable = |name: String, ends, rates, buffers, airs, aqms| Cable {
            name,
            ends,
            delay: Distribution::Fixed(table.delay),
            overhead: Bytes(0),
            framing: None,
            half_duplex: None,
            airs,
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
        };
        // The access point has a queue to be observed, so it always has an algorithm.
        let managed = aqm.or_else(droptail);
        let driver = format!("{}.driver", table.name);
        let (from, own) = match table.queues {
            Queues::Station => (&table.ap, (managed, table.buffer)),
            Queues::Shared => {
                let (rates, buffers) = ([mean_rate(wifi), FASTEST], [table.buffer, ROOMY]);
                let front = cable(
                    table.name.clone(),
                    [&table.ap, &driver],
                    rates,
                    buffers,
                    [air(Part::Front), None],
                    [managed, None],
                );
                self.connect(Cable { delay: Distribution::Fixed(Span::ZERO), ..front });
                (&driver, (droptail(), Buffer::Limit(Limit::Packets(table.driver))))
            }
        };
        for (i, (station, phy)) in table.stations.iter().zip(&wifi.stations).enumerate() {
            let (aqm, buffer) = own.clone();
            self.connect(cable(
                entry.link(station),
                [from, station],
                [phy.rate(); 2],
                [buffer, table.reverse_buffer],
                [air(Part::Down(i)), air(Part::Up(i))],
                [aqm, reverse_aqm.clone()],
            ));
        }
    }
}

/// The rate of a queue in front of all stations: that of the same bytes to each.
fn mean_rate(wifi: &Wifi) -> Rate {
    let times: f64 = wifi.stations.iter().map(|phy| 1.0 / phy.rate().bits()).sum();
    Rate::bit_per_s((wifi.stations.len() as f64 / times) as u64)
}
