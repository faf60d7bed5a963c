//! `[[cable]]`: a head end (CMTS) and its modems.

use crate::keys::{ALGORITHMS, below};
use crate::model::cable::{ServiceFlow, Upstream};
use crate::model::{Buffer, PROBABILITIES, RATES};
use crate::reader::{Algorithm, Reader};
use crate::source::tree::Table;
use crate::tables::link::BUFFERS;
use crate::tables::star::{Star, of};
use aqm::params;
use aqm::params::{Field as _, Range};
use aqm::unit::{Bytes, Rate, Span};

params! {
    /// A cable network (DOCSIS): a head end (CMTS) and modems. Upstream the modems share a channel by request and
    /// grant; downstream each has a plain link. A link leads from each modem to the head end, and back.
    pub struct CableTable {
        /// Its name. The link from the modem `home` of `cable`, upstream, is `cable-home`, that back
        /// `cable-home:reverse`.
        name: String = String::new(), "";
        /// The node that is the head end.
        cmts: String = String::new(), "";
        /// The nodes that are modems.
        modems: Vec<String> = Vec::new(), "";
        /// Maximum sustained traffic rate upstream of each modem: one for all or one for each. Rates count Ethernet's
        /// 18 bytes with each packet.
        rate: Vec<Rate> = vec![Rate::mbit_per_s(50)], "bit/s", RATES;
        /// Peak traffic rate upstream of each modem, as `rate`; auto is none.
        peak: Option<Vec<Rate>> = None, "bit/s", RATES;
        /// Maximum traffic burst upstream of each modem, as `rate`: what it may send beyond `rate` after it was idle.
        burst: Vec<Bytes> = vec![Bytes(3044)], "bytes", Range::new(1522.0, 4e9);
        /// Rate downstream of each modem, as `rate`.
        reverse_rate: Vec<Rate> = vec![Rate::mbit_per_s(200)], "bit/s", RATES;
        /// The rate of the upstream channel. Each frame has whole minislots of it; of the default these are 235.
        channel: Rate = Rate::bit_per_s(668_500_000), "bit/s", RATES;
        /// A minislot.
        minislot: Bytes = Bytes(48), "bytes", Range::new(1.0, 65536.0);
        /// A frame. It takes one each to prepare, send and decode a request or a burst.
        frame: Span = Span::us(135), "s", Range::new(1e-6, 0.01);
        /// The time between two MAPs, rounded to whole frames.
        map: Span = Span::ms(2), "s", Range::above(0.0, 0.1);
        /// The time from when the head end makes a MAP to the interval that it is for, without `delay`: by the defaults
        /// of docsis-ns3 0.2 ms in the head end, 0.11 ms on the way downstream, 0.76 ms in the modem.
        lead: Span = Span::us(1070), "s", Range::above(0.0, 0.1);
        /// What modems that are not simulated leave of the channel on average; auto is all of it.
        free: Option<Rate> = None, "bit/s", RATES;
        /// By which part of `free` that varies at most from one MAP to the next, up and down.
        variation: f64 = 0.0, "", PROBABILITIES;
        /// Modems request grants for new packets while earlier requests wait, as from DOCSIS 3.0 on; otherwise when they
        /// use the last grant.
        pipelining: bool = true, "";
        /// The buffer in each modem, as `dumbbell.buffer`; times are at `rate`.
        buffer: Buffer = Buffer::Time(Span::ms(250)), "packets or bytes", BUFFERS;
        /// The buffer of each modem's queue in the head end; times are at `reverse_rate`.
        reverse_buffer: Buffer = Buffer::Time(Span::ms(250)), "packets or bytes", BUFFERS;
        /// One-way delay between the head end and a modem, of requests and MAPs as well: 40 us are 8 km.
        delay: Span = Span::us(40), "s", Range::new(0.0, 0.1);
    }
}

/// A `[[cable]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CableEntry {
    pub(crate) path: String,
    pub(crate) table: CableTable,
    /// Those of the modems and of the head end.
    pub(crate) aqms: [Option<Algorithm>; 2],
    /// What the engine needs; `None` if the values do not fit together.
    pub(crate) upstream: Option<Upstream>,
}

impl CableEntry {
    /// The name of the link from a modem.
    pub(crate) fn link(&self, modem: &str) -> String {
        format!("{}-{modem}", self.table.name)
    }
}

impl Reader<'_> {
    /// Reads a `[[cable]]`.
    pub(super) fn cable(&mut self, label: &str, table: &Table) -> CableEntry {
        let path = below("cable", label);
        let mut read: CableTable = self.assigned(table, &path, &ALGORITHMS);
        read.name = label.to_owned();
        let aqms = ALGORITHMS.map(|key| self.named(table.get(key)?, &path, key));
        let star = Star {
            middle: ("cmts", "head end", &read.cmts),
            others: ("modems", ["modems", "modem"], &read.modems),
        };
        self.star(&star, &path);
        let peaks = read.peak.as_ref();
        for (key, values) in [
            ("rate", read.rate.len()),
            ("peak", peaks.map_or(1, Vec::len)),
            ("burst", read.burst.len()),
            ("reverse_rate", read.reverse_rate.len()),
        ] {
            self.for_each(&below(&path, key), values, &star);
        }
        self.peaks(&read, &path);
        let upstream = self.upstream(&read, &path);
        CableEntry { path, table: read, aqms, upstream }
    }

    /// Checks that no peak rate is below the sustained rate.
    fn peaks(&mut self, table: &CableTable, path: &str) {
        let (at, modems) = (below(path, "peak"), 0..table.modems.len());
        let Some(peaks) = &table.peak else { return };
        let both = |modem| Some((of(peaks, modem)?, of(&table.rate, modem)?));
        if let Some((peak, rate)) = modems.filter_map(both).find(|(peak, rate)| peak < rate)
            && self.fine(&[&at, &below(path, "rate")])
        {
            let message = format!("must be at least `rate`, {}; auto is no limit", rate.value());
            self.refuse(&at, Some(peak.value().to_string()), message);
        }
    }

    /// The upstream channel, if the values fit together.
    fn upstream(&mut self, table: &CableTable, path: &str) -> Option<Upstream> {
        let at = |key: &str| below(path, key);
        let minislots = table.channel.bits() * table.frame.secs() / (8.0 * table.minislot.0 as f64);
        if minislots < 1.0 && self.fine(&[&at("channel"), &at("frame"), &at("minislot")]) {
            let (least, frame) = (table.minislot.value(), table.frame.value());
            let message = format!("must have at least one minislot, {least}, in a frame, {frame}");
            self.refuse(&at("channel"), Some(table.channel.value().to_string()), message);
        }
        if table.lead < table.frame && self.fine(&[&at("lead"), &at("frame")]) {
            let message = format!("must be at least a frame, {}", table.frame.value());
            self.refuse(&at("lead"), Some(table.lead.value().to_string()), message);
        }
        if table.variation > 0.0 && table.free.is_none() && self.fine(&[&at("variation"), &at("free")]) {
            let message = "only with `free`, which varies by it: give `free`";
            self.refuse(&at("variation"), Some(table.variation.to_string()), message);
        }
        if !self.fine(&[path]) {
            return None;
        }
        let flow = |modem| {
            let peak = match &table.peak {
                Some(peaks) => Some(of(peaks, modem)?),
                None => None,
            };
            let (rate, burst) = (of(&table.rate, modem)?, of(&table.burst, modem)?);
            Some(ServiceFlow { rate, peak, burst })
        };
        let upstream = Upstream {
            name: table.name.clone(),
            frame: table.frame,
            frames: (table.map.secs() / table.frame.secs()).round().max(1.0) as u64,
            minislots: minislots as u64,
            minislot: table.minislot.0,
            lead: table.lead,
            delay: table.delay,
            free: table.free,
            variation: table.variation,
            pipelining: table.pipelining,
            flows: (0..table.modems.len()).map(flow).collect::<Option<_>>()?,
        };
        if upstream.free_slots(0.5) == 0 {
            let (least, map) = (table.minislot.value(), upstream.interval().value());
            let message = format!("must have at least one minislot, {least}, in a MAP interval, {map}");
            self.refuse(&at("free"), table.free.map(|free| free.value().to_string()), message);
        }
        Some(upstream)
    }
}
