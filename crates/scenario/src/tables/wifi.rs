//! `[[wifi]]`: an access point and its stations.

use crate::keys::{ALGORITHMS, below};
use crate::model::{Access, Buffer, Phy, Queues, Scheduler, Standard, Wifi};
use crate::reader::{Algorithm, Reader};
use crate::source::tree::Table;
use crate::tables::link::{BUFFERS, DELAYS};
use crate::tables::rates::{Rates, Recorded};
use crate::tables::star::{Star, of};
use aqm::params;
use aqm::params::{Field, Range};
use aqm::unit::{Limit, Rate, Span};

/// The lowest rate of a recording: that of Wi-Fi of 1997.
const LOWEST: Rate = Rate::mbit_per_s(1);

/// The longest transmission that a preamble can announce.
const LONGEST: f64 = 5.484e-3;

params! {
    /// A wireless LAN: an access point and stations, which share one medium. A link leads from the access point to
    /// each station and back.
    pub struct WifiTable {
        /// Its name. The link to the station `laptop` of `wlan` is `wlan-laptop`, that back `wlan-laptop:reverse`;
        /// with `queues = "shared"`, the queue in front of them is the link `wlan`.
        name: String = String::new(), "";
        /// The node that is the access point.
        ap: String = String::new(), "";
        /// The nodes that are stations.
        stations: Vec<String> = Vec::new(), "";
        /// The generation: `n`, `ac` or `ax`, with its rates and preambles.
        standard: Standard = Standard::Ax, "";
        /// Width of the channel in MHz: 20 or 40, of `ac` and `ax` also 80 or 160.
        width: u32 = 20, "MHz", Range::new(20.0, 160.0);
        /// Modulation and coding (MCS) of each station, both to it and from it: one for all, or one for each; auto for
        /// those that follow `rates`.
        mcs: Vec<Option<u32>> = vec![None], "", Range::new(0.0, 11.0);
        /// A recording of the rate of the stations that have no MCS, both to them and from them, at least 1 Mbit/s; its
        /// form is that of `dumbbell.rates`. Of several stations each begins its share of the recording later than
        /// the one before. The rate is the nearest with whole bits in a symbol. A transmission keeps its rate.
        rates: Option<Recorded> = None, "";
        /// Spatial streams of each station, as `mcs`: at most 4 of `n`, 8 of `ac` and `ax`.
        streams: Vec<u32> = vec![1], "streams", Range::new(1.0, 8.0);
        /// Guard interval: 0.8 us, of `n` and `ac` also 0.4 us, of `ax` also 1.6 us and 3.2 us.
        guard: Span = Span::ns(800), "s", Range::new(0.0, 1e-5);
        /// The probability that a frame to or from each station is lost on the air, as `mcs`: one for all, or one for
        /// each. Lost frames are sent again.
        error: Vec<f64> = vec![0.0], "", Range::new(0.0, 1.0);
        /// The slot of contention.
        slot: Span = Span::us(9), "s", Range::above(0.0, 1e-3);
        /// The gap before answers (SIFS): 16 us at 5 GHz, 10 us at 2.4 GHz.
        sifs: Span = Span::us(16), "s", Range::above(0.0, 1e-3);
        /// The slots of the gap before contention (AIFS) behind a SIFS; 3 is that of best effort.
        aifsn: u32 = 3, "slots", Range::new(1.0, 15.0);
        /// The first contention window: the wait before a transmission is a random number of slots from 0 to it. It
        /// doubles after each failure.
        cw_min: u32 = 15, "slots", Range::new(0.0, 32767.0);
        /// The largest contention window. hostapd has 63 for an access point, 1023 for its stations.
        cw_max: u32 = 1023, "slots", Range::new(0.0, 32767.0);
        /// How long a station that has won the medium may keep it (TXOP limit); 0 is one transmission, as of best
        /// effort.
        txop: Span = Span::ZERO, "s", Range::new(0.0, 0.1);
        /// How often a frame is sent again before it is given up.
        retries: u32 = 10, "", Range::new(0.0, 255.0);
        /// Most frames in a transmission (A-MPDU): at most 64, of `ax` 256. The window of the block ACK is
        /// that bound of the standard.
        frames: u32 = 64, "frames", Range::new(1.0, 256.0);
        /// How long a transmission may take, without its answer; at least one frame is sent. 4 ms is Linux's bound.
        longest: Span = Span::ms(4), "s", Range::above(0.0, LONGEST);
        /// Reserve the medium by RTS and CTS before each transmission.
        rts: bool = false, "";
        /// The access point's queues: `shared`, one discipline for all stations, in front of a driver with a first-in
        /// first-out queue for each; `station`, a discipline for each station, as in Linux's mac80211.
        queues: Queues = Queues::Station, "";
        /// The frames that the driver of `shared` queues holds for all stations together; 123 is that of Linux's
        /// ath9k.
        driver: u32 = 123, "packets", Range::new(1.0, 1e6);
        /// The station to which the access point sends next: `round-robin`, each in turn, one transmission;
        /// `airtime`, each in turn for the same time, by deficits of 256 us that count what it sends as well
        /// (mac80211).
        scheduler: Scheduler = Scheduler::Airtime, "";
        /// Airtime queue limits: the access point takes frames out of its `station` queues for 5 ms of transmissions
        /// to a station, for 12 ms if those to all are below 24 ms (mac80211). Otherwise it takes them when it sends.
        /// Stations do the same.
        aql: bool = true, "";
        /// The buffer in front of the driver, or that of each station's queue, as `dumbbell.buffer`; times and BDP
        /// are at the station's rate, in front of the driver at that of the same bytes to each station.
        buffer: Buffer = Buffer::Limit(Limit::Packets(1000)), "packets or bytes", BUFFERS;
        /// The buffer in each station.
        reverse_buffer: Buffer = Buffer::Limit(Limit::Packets(1000)), "packets or bytes", BUFFERS;
        /// One-way delay from the access point to a station, beside the time on the medium.
        delay: Span = Span::ZERO, "s", DELAYS;
    }
}

/// A `[[wifi]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct WifiEntry {
    pub(crate) path: String,
    pub(crate) table: WifiTable,
    /// Those of the access point and of the stations.
    pub(crate) aqms: [Option<Algorithm>; 2],
    /// What the engine needs, and the rates of the stations that were recorded; `None` if the values do not fit
    /// together.
    pub(crate) wifi: Option<(Wifi, Vec<Option<Rates>>)>,
}

impl WifiEntry {
    /// The name of the link to a station.
    pub(crate) fn link(&self, station: &str) -> String {
        format!("{}-{station}", self.table.name)
    }
}

impl Reader<'_> {
    /// Reads a `[[wifi]]`.
    pub(super) fn wifi(&mut self, label: &str, table: &Table) -> WifiEntry {
        let path = below("wifi", label);
        let mut read: WifiTable = self.assigned(table, &path, &ALGORITHMS);
        read.name = label.to_owned();
        let aqms = ALGORITHMS.map(|key| self.named(table.get(key)?, &path, key));
        let recorded = self.recorded_alone(&mut read.rates, &below(&path, "rates"), "a wireless LAN");
        let star = Star {
            middle: ("ap", "access point", &read.ap),
            others: ("stations", ["stations", "station"], &read.stations),
        };
        self.star(&star, &path);
        let wifi = self.fits(&read, &star, recorded.as_ref(), &path);
        WifiEntry { path, table: read, aqms, wifi }
    }

    /// What the engine needs, if the values fit together.
    fn fits(
        &mut self,
        table: &WifiTable,
        star: &Star<'_>,
        recorded: Option<&Rates>,
        path: &str,
    ) -> Option<(Wifi, Vec<Option<Rates>>)> {
        let WifiTable { standard, width, guard, stations, .. } = table;
        let at = |key: &str| below(path, key);
        let standard_name = standard.value().to_string();
        if !standard.widths().contains(width) && self.fine(&[&at("width"), &at("standard")]) {
            let widths: Vec<String> = standard.widths().iter().map(u32::to_string).collect();
            let message = format!("must be one of {} MHz for standard = {standard_name}", widths.join(", "));
            self.refuse(&at("width"), Some(width.to_string()), message);
        }
        if !standard.guards().contains(guard) && self.fine(&[&at("guard"), &at("standard")]) {
            let guards: Vec<String> =
                standard.guards().iter().map(|guard| guard.value().to_string()).collect();
            let message = format!("must be one of {} for standard = {standard_name}", guards.join(", "));
            self.refuse(&at("guard"), Some(guard.value().to_string()), message);
        }
        if table.frames > standard.most_frames() && self.fine(&[&at("frames"), &at("standard")]) {
            let message =
                format!("must be at most {} for standard = {standard_name}", standard.most_frames());
            self.refuse(&at("frames"), Some(table.frames.to_string()), message);
        }
        if table.cw_max < table.cw_min && self.fine(&[&at("cw_min"), &at("cw_max")]) {
            let message = format!("must be at least cw_min = {}", table.cw_min);
            self.refuse(&at("cw_max"), Some(table.cw_max.to_string()), message);
        }
        self.for_each(&at("mcs"), table.mcs.len(), star);
        self.rate_of_each_station(table, recorded, path);
        self.for_each(&at("streams"), table.streams.len(), star);
        self.for_each(&at("error"), table.error.len(), star);
        if !self.fine(&[path]) {
            return None;
        }
        let (mut phys, mut rates) = (Vec::new(), Vec::new());
        let followers = (0..stations.len()).filter(|&i| of(&table.mcs, i) == Some(None)).count() as u64;
        for (i, name) in stations.iter().enumerate() {
            let (mcs, streams) = (of(&table.mcs, i)?, of(&table.streams, i)?);
            if streams > standard.most_streams() {
                let message = format!(
                    "{name}: must be at most {} for standard = {standard_name}",
                    standard.most_streams()
                );
                self.refuse(&at("streams"), Some(streams.to_string()), message);
                return None;
            }
            let phy = |mcs| Some(Phy::new(*standard, (*width, streams, mcs), *guard, of(&table.error, i)?));
            let Some(mcs) = mcs else {
                let before = rates.iter().flatten().count() as u64;
                let own = recorded?.begun(Span::ns(recorded?.period.nanos() / followers * before));
                let most = phy(standard.mcs(*width, streams).max()?)?.rate();
                if let Some(beyond) = own.changes.iter().map(|change| change.rate).find(|rate| *rate > most) {
                    let message = format!(
                        "has {beyond}: must be at most {most}, the highest of standard = {standard_name} for {name} with \
                         streams = {streams}, width = {width}; is its `unit` another?"
                    );
                    self.refuse(&at("rates"), None, message);
                    return None;
                }
                let mut phy = phy(0)?;
                phy.set_rate(own.mean_rate());
                phys.push(phy);
                rates.push(Some(own));
                continue;
            };
            let known: Vec<u32> = standard.mcs(*width, streams).collect();
            if !known.contains(&mcs) {
                let known = ranges(&known);
                let number = if streams == 1 { "1 stream".to_owned() } else { format!("{streams} streams") };
                let message = format!(
                    "{name}: standard = {standard_name} has MCS {known} with {number} at {width} MHz: choose one of them, or \
                     another `width` or `streams`"
                );
                self.refuse(&at("mcs"), Some(mcs.to_string()), message);
                return None;
            }
            phys.push(phy(mcs)?);
            rates.push(None);
        }
        let wifi = Wifi {
            name: table.name.clone(),
            access: Access {
                slot: table.slot,
                sifs: table.sifs,
                aifs: table.sifs + table.slot * u64::from(table.aifsn),
                window: [table.cw_min, table.cw_max],
                txop: table.txop,
                retries: table.retries,
                frames: table.frames,
                block_ack: standard.most_frames(),
                longest: table.longest,
                rts: table.rts,
            },
            stations: phys,
            scheduler: table.scheduler,
            aql: table.aql && table.queues == Queues::Station,
            driver: table.driver,
        };
        Some((wifi, rates))
    }

    /// Checks that each station has an MCS or a recorded rate.
    fn rate_of_each_station(&mut self, table: &WifiTable, recorded: Option<&Rates>, path: &str) {
        let [mcs, rates] = ["mcs", "rates"].map(|key| below(path, key));
        let without = table.mcs.iter().position(Option::is_none);
        if table.rates.is_some() && without.is_none() && self.fine(&[&mcs]) {
            let message = "each station has an MCS: set `mcs` of those that follow it to \"auto\", or remove the recording";
            self.refuse(&rates, None, message);
        } else if let (None, Some(station)) = (&table.rates, without)
            && self.fine(&[&mcs, &rates])
        {
            let station = table.stations.get(station).map_or("a station", |name| name);
            let message = format!(
                "missing: {station} has no rate; give one MCS for all stations or one for each, or `rates`"
            );
            self.refuse(&mcs, None, message);
        }
        let lowest = recorded.and_then(|rates| rates.changes.iter().map(|change| change.rate).min());
        if let Some(lowest) = lowest.filter(|rate| *rate < LOWEST) {
            let message =
                format!("has {lowest}: must be at least {LOWEST} at any time; remove the lines below it");
            self.refuse(&rates, None, message);
        }
    }
}

/// Numbers in order as ranges: `0 to 5, 7 to 9`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let shown = runs.map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    shown.collect::<Vec<_>>().join(", ")
}
