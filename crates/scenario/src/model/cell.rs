//! A cell of a mobile network: what its users can send in a slot, and how the base station schedules them.
//!
//! A user that has all resources of a slot can send this many bits in it:
//!
//! ```text
//! resource blocks · 12 subcarriers · 14 symbols · (1 - overhead) · layers · efficiency of the CQI
//! ```
//!
//! # Departures from the source
//! - The bits of a slot are those of the efficiency of the CQI itself. A real scheduler chooses an MCS whose efficiency
//!   is near it, and sizes of blocks are rounded.
//! - Packets have one header of SDAP, PDCP, RLC and MAC each, with sequence numbers of 18 bits, however many slots they
//!   take.
//! - With slots of 1 ms, too, resource blocks and overhead are those of 5G. LTE has 100 blocks in 20 MHz, where these are
//!   106, and more overhead: its largest block makes 75 Mbit/s there, and CQI 15 makes 85 here.
//!
//! # Sources
//! 3GPP TS 38.214, tables 5.2.2.1-2 and 5.2.2.1-3 (CQI); TS 38.101-1, table 5.3.2-1 (resource blocks); TS 38.306,
//! clause 4.1.2 (overhead); TS 38.321, 38.322, 38.323 and 37.324 (headers).

use aqm::choice;
use aqm::unit::{Rate, Span};

choice! {
    /// The user that gets the next slot.
    pub enum Sharing {
        /// To the user whose rate is highest beside its own mean.
        ProportionalFair = "proportional-fair",
        /// To each in turn.
        RoundRobin = "round-robin",
    }
}

choice! {
    /// A table of channel qualities.
    pub enum Qualities {
        /// Up to 64QAM, as in LTE.
        Qam64 = "64qam",
        /// Up to 256QAM.
        Qam256 = "256qam",
    }
}

/// The bits of a symbol, and 1024 times the code rate, from CQI 1 on.
const QAM64: [(u32, u32); 15] = [
    (2, 78),
    (2, 120),
    (2, 193),
    (2, 308),
    (2, 449),
    (2, 602),
    (4, 378),
    (4, 490),
    (4, 616),
    (6, 466),
    (6, 567),
    (6, 666),
    (6, 772),
    (6, 873),
    (6, 948),
];
const QAM256: [(u32, u32); 15] = [
    (2, 78),
    (2, 193),
    (2, 449),
    (4, 378),
    (4, 490),
    (4, 616),
    (6, 466),
    (6, 567),
    (6, 666),
    (6, 772),
    (6, 873),
    (8, 711),
    (8, 797),
    (8, 885),
    (8, 948),
];

/// The highest CQI.
pub const MOST_CQI: u32 = 15;

/// The widths of a channel in MHz, and its resource blocks in slots of 1 ms (subcarriers of 15 kHz) and 0.5 ms (30
/// kHz).
const BLOCKS: [(u32, [Option<u32>; 2]); 13] = [
    (5, [Some(25), Some(11)]),
    (10, [Some(52), Some(24)]),
    (15, [Some(79), Some(38)]),
    (20, [Some(106), Some(51)]),
    (25, [Some(133), Some(65)]),
    (30, [Some(160), Some(78)]),
    (40, [Some(216), Some(106)]),
    (50, [Some(270), Some(133)]),
    (60, [None, Some(162)]),
    (70, [None, Some(189)]),
    (80, [None, Some(217)]),
    (90, [None, Some(245)]),
    (100, [None, Some(273)]),
];

/// The lengths of a slot, in the order of [`BLOCKS`].
pub const SLOTS: [Span; 2] = [Span::ms(1), Span::us(500)];

/// Subcarriers of a resource block, and symbols of a slot.
const RESOURCE_ELEMENTS: u64 = 12 * 14;

/// The hundredths of the resources that carry data, in the two directions.
const USABLE: [u64; 2] = [86, 92];

/// Bytes in front of a packet: SDAP 1, PDCP 3, RLC 3, MAC 3.
const HEADERS: u32 = 10;

/// The widths in MHz that a channel with these slots can have, and its resource blocks.
pub fn widths(slot: Span) -> impl Iterator<Item = (u32, u32)> {
    let place = SLOTS.iter().position(|length| *length == slot);
    BLOCKS.iter().filter_map(move |(width, blocks)| Some((*width, blocks[place?]?)))
}

/// The channel between a base station and a user, in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channel {
    /// The table of its qualities.
    pub qualities: Qualities,
    /// Resource blocks of a slot.
    pub blocks: u32,
    /// How long a slot of it takes, with its part of the slots that carry nothing in this direction.
    pub slot: Span,
    /// Whether it leads to the user.
    pub is_down: bool,
    /// Layers of MIMO.
    pub layers: u32,
}

impl Channel {
    /// The rate of a user with this CQI that has all slots.
    #[must_use]
    pub fn rate(&self, cqi: u32) -> Rate {
        let (bits, code) = match self.qualities {
            Qualities::Qam64 => QAM64,
            Qualities::Qam256 => QAM256,
        }[cqi as usize - 1];
        let usable = USABLE[usize::from(!self.is_down)];
        let sent = u64::from(self.blocks * self.layers * bits * code) * RESOURCE_ELEMENTS * usable;
        Rate::bit_per_s((u128::from(sent) * 1_000_000_000 / (102_400 * u128::from(self.slot.nanos()))) as u64)
    }
}

/// How the quality of a user's channel changes in one direction, and its losses.
#[derive(Clone, PartialEq, Debug)]
pub struct Fading {
    /// The rates among which it wanders, the lowest first; none if the rate is constant or recorded.
    pub rates: Vec<Rate>,
    /// The mean time until its next step, up or down.
    pub step: Span,
    /// The probability that a block is not decoded.
    pub error: f64,
}

/// The part of a link in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The cell, by its number in the scenario.
    pub cell: usize,
    /// The user, by its number there.
    pub user: usize,
    /// 0 to the user, 1 from it.
    pub way: usize,
}

/// A cell.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// A slot.
    pub slot: Span,
    /// For each slot of a round, whether it carries data down and up.
    pub pattern: Vec<[bool; 2]>,
    /// The user that gets a slot.
    pub scheduler: Sharing,
    /// The time over which a proportional-fair scheduler averages.
    pub window: Span,
    /// Resource blocks of a slot.
    pub blocks: u32,
    /// The time from a transmission of a block to the next.
    pub harq: Span,
    /// How often a block is sent at most.
    pub rounds: u32,
    /// After how long RLC sends a block again that failed in the last round; `None` if it does not.
    pub retransmits: Option<Span>,
    /// The time between a user's opportunities to request a grant.
    pub request: Span,
    /// The time from a request or a report to the slot that it allows.
    pub grant: Span,
    /// The bytes that a request is granted.
    pub first_grant: u32,
    /// The channels of its users, in the two directions.
    pub users: Vec<[Fading; 2]>,
}

impl Cell {
    /// The bytes that a packet takes.
    #[must_use]
    pub const fn length(packet: u32) -> u32 {
        packet + HEADERS
    }

    /// How long a slot takes in a direction, with its part of the slots that carry nothing there.
    #[must_use]
    pub fn share(&self, way: usize) -> Span {
        let own = self.pattern.iter().filter(|slot| slot[way]).count() as u64;
        Span::ns(self.slot.nanos() * self.pattern.len() as u64 / own)
    }

    /// The time in s that a packet takes to a user or from it on average if nothing else is sent, at `rate`.
    #[must_use]
    pub fn idle_time(&self, way: usize, packet: u32, rate: Rate) -> f64 {
        let (slot, share) = (self.slot.secs(), self.share(way).secs());
        let slots = |bytes: f64| (8.0 * bytes / (rate.bits() * share)).ceil().max(1.0);
        let bytes = f64::from(Self::length(packet));
        let sent = |bytes: f64| (slots(bytes) - 1.0) * share + slot;
        if way == 0 {
            return self.wait(0) + sent(bytes);
        }
        let asked = self.request.secs() / 2.0 + self.grant.secs() + self.wait(1) - slot / 2.0;
        let first = f64::from(self.first_grant);
        if bytes <= first {
            asked + sent(bytes)
        } else {
            asked + self.grant.secs().max(slot) + sent(bytes - first)
        }
    }

    /// The mean time in s from any moment to the next slot of a direction.
    fn wait(&self, way: usize) -> f64 {
        let slots = self.pattern.len();
        let own: Vec<usize> = (0..slots).filter(|&slot| self.pattern[slot][way]).collect();
        let next = own.iter().cycle().skip(1).zip(&own);
        let gaps = next.map(|(next, slot)| (next + slots - slot - 1) % slots + 1);
        gaps.map(|gap| gap * gap).sum::<usize>() as f64 / (2 * slots) as f64 * self.slot.secs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(blocks: u32, slot: Span, is_down: bool, layers: u32, cqi: u32) -> f64 {
        let channel = Channel { qualities: Qualities::Qam256, blocks, slot, is_down, layers };
        channel.rate(cqi).bits() / 1e6
    }

    #[test]
    fn rates_are_those_of_the_standards_formula() {
        // TS 38.306, 4.1.2: 4 layers of 256QAM at 948/1024 on 273 blocks of 30 kHz are 2337.0 Mbit/s, a layer up 625.0.
        let half = SLOTS[1];
        assert!((rate(273, half, true, 4, 15) - 2337.0).abs() < 0.1, "{}", rate(273, half, true, 4, 15));
        assert!((rate(273, half, false, 1, 15) - 625.0).abs() < 0.1, "{}", rate(273, half, false, 1, 15));
        // Table 5.2.2.1-2 of TS 38.214: CQI 7 has 1.4766 bits a symbol; 106 · 168 · 0.86 · 1.4766 bits in 1 ms.
        let qualities = Qualities::Qam64;
        let channel = Channel { qualities, blocks: 106, slot: SLOTS[0], is_down: true, layers: 1 };
        assert!((channel.rate(7).bits() / 22_613_400.0 - 1.0).abs() < 1e-4, "{}", channel.rate(7).bits());
    }

    #[test]
    fn efficiencies_rise_with_the_quality() {
        for table in [QAM64, QAM256] {
            assert!(table.is_sorted_by_key(|(bits, code)| bits * code));
        }
        // The ends of the tables, as they are printed.
        let printed = |(bits, code): (u32, u32)| f64::from(bits * code) / 1024.0;
        for (found, expected) in [
            (QAM64[0], 0.1523),
            (QAM64[6], 1.4766),
            (QAM64[9], 2.7305),
            (QAM64[14], 5.5547),
            (QAM256[3], 1.4766),
            (QAM256[11], 5.5547),
            (QAM256[14], 7.4063),
        ] {
            assert!((printed(found) - expected).abs() < 6e-5, "{found:?}");
        }
    }

    #[test]
    fn a_channel_has_the_blocks_of_its_width_and_its_slots() {
        assert_eq!(widths(SLOTS[0]).last(), Some((50, 270)));
        assert_eq!(widths(SLOTS[1]).last(), Some((100, 273)));
        assert_eq!(widths(Span::ms(2)).count(), 0);
    }
}
