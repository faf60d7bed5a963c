//! `[[cell]]`: a base station and its users.

use crate::keys::{ALGORITHMS, RECORDED, below};
use crate::model::cell::{Channel, MOST_CQI, SLOTS, widths};
use crate::model::{Buffer, Cell, Fading, Qualities, Sharing};
use crate::reader::{Algorithm, Reader};
use crate::source::tree::Table;
use crate::tables::link::{BUFFERS, DELAYS};
use crate::tables::rates::{Rates, Recorded};
use crate::tables::star::{Star, of};
use aqm::params;
use aqm::params::{Field as _, Range};
use aqm::unit::{Bytes, Limit, Rate, Span};

const QUALITIES: Range = Range::new(1.0, MOST_CQI as f64);

/// Most layers in the two directions.
const MOST_LAYERS: [u32; 2] = [8, 4];

/// The part of the blocks that fails at the quality that a CQI reports (TS 38.214, 5.2.2.1).
const USUAL_ERROR: f64 = 0.1;

/// Most slots in a round of TDD.
const MOST_SLOTS: usize = 40;

params! {
    /// A cell of a mobile network: a base station and users, which share its slots. A link leads from the base station
    /// to each user and back.
    pub struct CellTable {
        /// Its name. The link to the user `phone` of `cell` is `cell-phone`, that back `cell-phone:reverse`.
        name: String = String::new(), "";
        /// The node that is the base station.
        base: String = String::new(), "";
        /// The nodes that are users.
        users: Vec<String> = Vec::new(), "";
        /// A slot: 1 ms, with subcarriers of 15 kHz, or 0.5 ms, with 30 kHz.
        slot: Span = SLOTS[0], "s", Range::above(0.0, 1e-3);
        /// Width of the channel in MHz: 5, 10, 15, 20, 25, 30, 40 or 50, with slots of 0.5 ms also 60 to 100 in tens.
        width: u32 = 20, "MHz", Range::new(5.0, 100.0);
        /// Which slots of a round carry data down (`D`), up (`U`), or none (`S`, with the gap between them): `"DDDSU"`.
        /// Auto is FDD: each slot of either direction has a channel of this width.
        tdd: Option<String> = None, "";
        /// The table of channel qualities (CQI): `64qam`, as in LTE, or `256qam`.
        qualities: Qualities = Qualities::Qam64, "";
        /// Channel quality (CQI) of each user, from 1 to 15: one for all, or one for each. With layers and width it
        /// makes the rate that a user has if all slots are its own.
        cqi: Option<Vec<u32>> = None, "", QUALITIES;
        /// As `cqi`, of the uplink; auto is the same.
        reverse_cqi: Option<Vec<u32>> = None, "", QUALITIES;
        /// How far the quality of each user wanders up and down from its CQI, within 1 and 15, as `cqi`: a Markov chain
        /// goes one CQI up or down at each step, both equally often, and stays where it is in place of a step beyond.
        spread: Vec<u32> = vec![0], "", Range::new(0.0, 14.0);
        /// Mean time until the next step, exponentially distributed.
        step: Span = Span::ms(20), "s", Range::new(1e-4, 1e5);
        /// Layers of MIMO of each user in the downlink, at most 8, as `cqi`.
        layers: Vec<u32> = vec![1], "layers", Range::new(1.0, 8.0);
        /// As `layers`, of the uplink, at most 4.
        reverse_layers: Vec<u32> = vec![1], "layers", Range::new(1.0, 8.0);
        /// A recording of the rate that a user has if all slots are its own, in place of `cqi`; its form is that of
        /// `dumbbell.rates`. The second of three users begins a third of its length later in it, and so on.
        rates: Option<Recorded> = None, "";
        /// As `rates`, of the uplink.
        reverse_rates: Option<Recorded> = None, "";
        /// The probability that a block sent to or by each user is not decoded, as `cqi`. Auto is 0.1, as CQI is
        /// defined by, and 0 where rates are recorded, which have it in them. Blocks that are sent again come before
        /// new ones of all users, so that a user with many errors takes the slots of the others.
        error: Option<Vec<f64>> = None, "", Range::new(0.0, 0.9);
        /// The time from a transmission of a block to the next (HARQ): 8 ms in LTE.
        harq: Span = Span::ms(8), "s", Range::above(0.0, 1.0);
        /// How often a block is sent at most.
        rounds: u32 = 4, "", Range::new(1.0, 32.0);
        /// RLC sends a block again that failed in the last round (acknowledged mode); otherwise its packets are lost.
        acknowledged: bool = true, "";
        /// After how long it does that: what its status reports take.
        status: Span = Span::ms(40), "s", Range::above(0.0, 10.0);
        /// The user that gets a slot: `proportional-fair`, the one whose rate is highest beside the mean that it
        /// got; `round-robin`, each in turn. What one leaves of a slot goes to the next.
        scheduler: Sharing = Sharing::ProportionalFair, "";
        /// The time over which `proportional-fair` takes the mean.
        window: Span = Span::ms(100), "s", Range::new(1e-3, 1e3);
        /// The time between a user's opportunities to request a grant.
        request: Span = Span::ms(10), "s", Range::above(0.0, 1.0);
        /// The time from a request, or from a report of what still waits, which each block carries, to the first slot
        /// that it allows: 8 ms in LTE.
        grant: Span = Span::ms(8), "s", Range::new(0.0, 1.0);
        /// What a request is granted; the rest follows the report.
        first_grant: Bytes = Bytes(100), "bytes", Range::new(1.0, 1e6);
        /// The buffer of each user's queue in the base station (RLC), as `dumbbell.buffer`; times and BDP are at the
        /// rate that the user has if all slots are its own.
        buffer: Buffer = Buffer::Limit(Limit::Packets(1000)), "packets or bytes", BUFFERS;
        /// The buffer in each user.
        reverse_buffer: Buffer = Buffer::Limit(Limit::Packets(1000)), "packets or bytes", BUFFERS;
        /// One-way delay between the base station and a user, beside that of the slots.
        delay: Span = Span::ZERO, "s", DELAYS;
    }
}

/// A `[[cell]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CellEntry {
    pub(crate) path: String,
    pub(crate) table: CellTable,
    /// Those of the base station and of the users.
    pub(crate) aqms: [Option<Algorithm>; 2],
    /// What the engine needs, and the rates of its links; `None` if the values do not fit together.
    pub(crate) cell: Option<(Cell, Vec<[UserRate; 2]>)>,
}

/// The rate of a user in one direction: its mean, and if it is recorded, all of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct UserRate {
    pub(crate) mean: Rate,
    pub(crate) recorded: Option<Rates>,
}

impl CellEntry {
    /// The name of the link to a user.
    pub(crate) fn link(&self, user: &str) -> String {
        format!("{}-{user}", self.table.name)
    }
}

/// The keys of the two directions.
const CQI: [&str; 2] = ["cqi", "reverse_cqi"];
const LAYERS: [&str; 2] = ["layers", "reverse_layers"];

impl CellTable {
    /// The CQI of the users in a direction, if it is given.
    fn qualities_of(&self, way: usize) -> Option<&[u32]> {
        let own = [&self.cqi, &self.reverse_cqi][way].as_deref();
        own.or(if way == 1 { self.cqi.as_deref() } else { None })
    }

    /// The slots of a round; `None` if they are not written so.
    fn pattern(&self) -> Option<Vec<[bool; 2]>> {
        let Some(text) = &self.tdd else { return Some(vec![[true; 2]]) };
        let slots: Vec<[bool; 2]> = text.chars().map(|c| [c == 'D', c == 'U']).collect();
        let both = [0, 1].iter().all(|&way| slots.iter().any(|slot| slot[way]));
        (both && slots.len() <= MOST_SLOTS && text.chars().all(|c| "DUS".contains(c))).then_some(slots)
    }
}

impl Reader<'_> {
    /// Reads a `[[cell]]`.
    pub(super) fn cell(&mut self, label: &str, table: &Table) -> CellEntry {
        let path = below("cell", label);
        let mut read: CellTable = self.assigned(table, &path, &ALGORITHMS);
        read.name = label.to_owned();
        let aqms = ALGORITHMS.map(|key| self.named(table.get(key)?, &path, key));
        let recorded = self.recordings_of(&mut read, &path);
        let star = Star {
            middle: ("base", "base station", &read.base),
            others: ("users", ["users", "user"], &read.users),
        };
        self.star(&star, &path);
        let is_recorded = [read.rates.is_some(), read.reverse_rates.is_some()];
        let without_effect = ["layers", "reverse_layers"].into_iter().zip(is_recorded);
        let quality = ["qualities", "spread", "step"].map(|key| (key, is_recorded == [true; 2]));
        for (key, _) in without_effect.chain(quality).filter(|(_, is_recorded)| *is_recorded) {
            if table.get(key).is_some() {
                self.refuse(&below(&path, key), None, "recorded rates have it in them: remove it");
            }
        }
        let cell = self.cell_of(&read, &star, &recorded, &path);
        CellEntry { path, table: read, aqms, cell }
    }

    /// The recorded rates in the two directions.
    fn recordings_of(&mut self, table: &mut CellTable, path: &str) -> [Option<Rates>; 2] {
        let both = [&mut table.rates, &mut table.reverse_rates];
        let mut found = [None, None];
        for ((said, key), found) in both.into_iter().zip(RECORDED).zip(&mut found) {
            *found = self.recorded_alone(said, &below(path, key), "a cell");
        }
        found
    }

    /// What the engine needs, and the rates of the links, if the values fit together.
    fn cell_of(
        &mut self,
        table: &CellTable,
        star: &Star<'_>,
        recorded: &[Option<Rates>; 2],
        path: &str,
    ) -> Option<(Cell, Vec<[UserRate; 2]>)> {
        let at = |key: &str| below(path, key);
        let blocks = self.blocks_of(table, path);
        let pattern = table.pattern();
        if pattern.is_none() && self.fine(&[&at("tdd")]) {
            let message = format!(
                "must be at most {MOST_SLOTS} letters D, U and S with a D and a U, such as \"DDDSU\"; auto is FDD"
            );
            self.refuse(&at("tdd"), table.tdd.as_ref().map(|text| format!("{text:?}")), message);
        }
        for way in [0, 1] {
            self.rate_of_each(table, star, way, path);
        }
        self.for_each(&at("spread"), table.spread.len(), star);
        self.for_each(&at("error"), table.error.as_ref().map_or(1, Vec::len), star);
        if !self.fine(&[path]) {
            return None;
        }
        let (blocks, pattern) = (blocks?, pattern?);
        let mut cell = Cell {
            name: table.name.clone(),
            slot: table.slot,
            pattern,
            scheduler: table.scheduler,
            window: table.window,
            blocks,
            harq: table.harq,
            rounds: table.rounds,
            retransmits: table.acknowledged.then_some(table.status),
            request: table.request,
            grant: table.grant,
            first_grant: table.first_grant.0 as u32,
            users: Vec::new(),
        };
        let mut rates = Vec::new();
        for user in 0..table.users.len() {
            let (there, rate) = channel(table, &cell, &recorded[0], user, 0)?;
            let (back, reverse_rate) = channel(table, &cell, &recorded[1], user, 1)?;
            cell.users.push([there, back]);
            rates.push([rate, reverse_rate]);
        }
        Some((cell, rates))
    }

    /// The resource blocks of a slot.
    fn blocks_of(&mut self, table: &CellTable, path: &str) -> Option<u32> {
        let [slot, width] = ["slot", "width"].map(|key| below(path, key));
        let shown = |span: &Span| span.value().to_string();
        if !SLOTS.contains(&table.slot) {
            if self.fine(&[&slot]) {
                let message = format!("must be {}", SLOTS.each_ref().map(shown).join(" or "));
                self.refuse(&slot, Some(shown(&table.slot)), message);
            }
            return None;
        }
        let blocks = widths(table.slot).find(|(width, _)| *width == table.width);
        if blocks.is_none() && self.fine(&[&width]) {
            let known: Vec<String> = widths(table.slot).map(|(width, _)| width.to_string()).collect();
            let message =
                format!("must be one of {} MHz for slot = {}", known.join(", "), shown(&table.slot));
            self.refuse(&width, Some(table.width.to_string()), message);
        }
        Some(blocks?.1)
    }

    /// Checks that each user has a rate in a direction.
    fn rate_of_each(&mut self, table: &CellTable, star: &Star<'_>, way: usize, path: &str) {
        let [cqi, layers, rates] = [CQI[way], LAYERS[way], RECORDED[way]].map(|key| below(path, key));
        let own = [&table.cqi, &table.reverse_cqi][way];
        let is_recorded = [&table.rates, &table.reverse_rates][way].is_some();
        if is_recorded && own.is_some() {
            self.refuse(&cqi, None, format!("`{}` is given as well: remove one of them", RECORDED[way]));
        } else if !is_recorded
            && table.qualities_of(way).is_none()
            && self.fine(&[&cqi, &rates, &below(path, CQI[0])])
        {
            let user = star.others.2.first().map_or("a user", |name| name);
            let message = format!(
                "missing: {user} has no rate {}; give one CQI for all users or one for each, or `{}`",
                ["down", "up"][way],
                RECORDED[way]
            );
            self.refuse(&cqi, None, message);
        }
        if let Some(own) = own {
            self.for_each(&cqi, own.len(), star);
        }
        let own = [&table.layers, &table.reverse_layers][way];
        self.for_each(&layers, own.len(), star);
        if let Some(most) = own.iter().find(|layers| **layers > MOST_LAYERS[way])
            && self.fine(&[&layers])
        {
            self.refuse(&layers, Some(most.to_string()), format!("must be at most {}", MOST_LAYERS[way]));
        }
    }
}

/// The channel of a user in a direction, and its rate, if all values are there.
fn channel(
    table: &CellTable,
    cell: &Cell,
    recorded: &Option<Rates>,
    user: usize,
    way: usize,
) -> Option<(Fading, UserRate)> {
    let usual = if recorded.is_some() { 0.0 } else { USUAL_ERROR };
    let error = table.error.as_ref().map_or(Some(usual), |error| of(error, user))?;
    let fading = |rates| Fading { rates, step: table.step, error };
    if let Some(recorded) = recorded {
        let since = Span::ns(recorded.period.nanos() / table.users.len() as u64 * user as u64);
        let rates = recorded.begun(since);
        return Some((fading(Vec::new()), UserRate { mean: rates.mean_rate(), recorded: Some(rates) }));
    }
    let channel = Channel {
        qualities: table.qualities,
        blocks: cell.blocks,
        slot: cell.share(way),
        is_down: way == 0,
        layers: of([&table.layers, &table.reverse_layers][way], user)?,
    };
    let (cqi, spread) = (of(table.qualities_of(way)?, user)?, of(&table.spread, user)?);
    let reached = cqi.saturating_sub(spread).max(1)..=(cqi + spread).min(MOST_CQI);
    let rates: Vec<Rate> = reached.map(|cqi| channel.rate(cqi)).collect();
    let mean = Rate::bit_per_s(rates.iter().map(|rate| rate.whole_bits()).sum::<u64>() / rates.len() as u64);
    let rates = if rates.len() > 1 { rates } else { Vec::new() };
    Some((fading(rates), UserRate { mean, recorded: None }))
}
