//! A wireless LAN: the rates of its stations, how long a transmission takes, and how its stations contend.
//!
//! A station's rate follows from the standard's tables: the bits of a symbol are its data subcarriers times streams
//! times the bits that modulation and coding put on each.
//!
//! # Departures from the source
//! - A frame takes the bytes that it has without encryption: header, LLC/SNAP, check sequence, delimiter. One coder
//!   has one tail of 6 bits, at any rate.
//! - HE: SU frames without packet extension, with LTFs of 6.4 us at the guard intervals of 0.8 and 1.6 us and of 12.8
//!   us at 3.2 us.
//!
//! # Sources
//! IEEE 802.11-2020, clauses 10.23.2 (EDCA), 17.3 and 17.4 (OFDM), 19.3 and 19.5 (HT), 21.3 and 21.5 (VHT); IEEE
//! 802.11ax-2021, clauses 27.3 and 27.5 (HE).

use aqm::choice;
use aqm::unit::{Rate, Span};

choice! {
    /// A generation of Wi-Fi.
    pub enum Standard {
        /// 802.11n, high throughput (HT).
        N = "n",
        /// 802.11ac, very high throughput (VHT).
        Ac = "ac",
        /// 802.11ax, high efficiency (HE).
        Ax = "ax",
    }
}

choice! {
    /// The queues of an access point.
    pub enum Queues {
        /// One discipline for all stations, in front of a driver with a short first-in first-out queue for each.
        Shared = "shared",
        /// A discipline for each station, as in Linux's mac80211.
        Station = "station",
    }
}

choice! {
    /// The station to which an access point sends next.
    pub enum Scheduler {
        /// Each in turn, one transmission.
        RoundRobin = "round-robin",
        /// Each in turn, for the same time on the medium.
        Airtime = "airtime",
    }
}

/// Bytes of a frame beside its IP packet: header with QoS, LLC/SNAP, check sequence.
const MAC: u32 = 26 + 8 + 4;
/// Bytes in front of each frame of an aggregate, which is padded to a multiple of four.
const DELIMITER: u32 = 4;
/// Bits around the data of a transmission: service field and tail.
const AROUND: u32 = 16 + 6;
/// The frames that a block ACK in its short form covers.
const SHORT_WINDOW: u32 = 64;
/// Bytes of control frames: ACK and CTS, RTS, block ACK in its short and long form.
const ACK: u32 = 14;
const RTS: u32 = 20;
const BLOCK_ACK: [u32; 2] = [32, 56];
/// Data bits of a symbol of 4 us of the mandatory rates of 6, 12 and 24 Mbit/s.
const BASIC: [u32; 3] = [24, 48, 96];
const LEGACY_PREAMBLE: Span = Span::us(20);
const LEGACY_SYMBOL: Span = Span::us(4);

/// Bits on each subcarrier, and numerator and denominator of the code rate, by MCS.
const MODULATIONS: [(u32, u32, u32); 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];

/// The combinations of width, MCS and streams that VHT leaves out though a symbol has whole bits: its coders cannot
/// share them.
const VHT_LEFT_OUT: [(u32, u32, u32); 4] = [(80, 6, 3), (80, 6, 7), (80, 9, 6), (160, 9, 3)];

impl Standard {
    /// The widths of its channels in MHz.
    #[must_use]
    pub const fn widths(self) -> &'static [u32] {
        if matches!(self, Self::N) { &[20, 40] } else { &[20, 40, 80, 160] }
    }

    /// The data subcarriers of a channel of one of its widths.
    const fn subcarriers(self, width: u32) -> u32 {
        match (self, width) {
            (Self::Ax, 20) => 234,
            (Self::Ax, 40) => 468,
            (Self::Ax, 80) => 980,
            (Self::Ax, _) => 1960,
            (_, 20) => 52,
            (_, 40) => 108,
            (_, 80) => 234,
            (_, _) => 468,
        }
    }

    /// The most streams.
    #[must_use]
    pub const fn most_streams(self) -> u32 {
        if matches!(self, Self::N) { 4 } else { 8 }
    }

    /// Its guard intervals, the usual one first.
    #[must_use]
    pub const fn guards(self) -> &'static [Span] {
        const HT: [Span; 2] = [Span::ns(800), Span::ns(400)];
        const HE: [Span; 3] = [Span::ns(800), Span::ns(1600), Span::ns(3200)];
        if matches!(self, Self::Ax) { &HE } else { &HT }
    }

    /// Most frames in an aggregate, and the frames that a block ACK covers.
    #[must_use]
    pub const fn most_frames(self) -> u32 {
        if matches!(self, Self::Ax) { 256 } else { SHORT_WINDOW }
    }

    /// Most bytes in an aggregate.
    #[must_use]
    pub const fn most_bytes(self) -> u32 {
        match self {
            Self::N => 65_535,
            Self::Ac => 1_048_575,
            Self::Ax => 6_500_631,
        }
    }

    /// The MCS that a channel of this width has with this number of streams.
    pub fn mcs(self, width: u32, streams: u32) -> impl Iterator<Item = u32> {
        let most = match self {
            Self::N => 8,
            Self::Ac => 10,
            Self::Ax => 12,
        };
        (0..most).filter(move |&mcs| {
            let (bits, above, below) = MODULATIONS[mcs as usize];
            let coded = self.subcarriers(width) * streams * bits * above;
            self != Self::Ac || coded.is_multiple_of(below) && !VHT_LEFT_OUT.contains(&(width, mcs, streams))
        })
    }

    /// How long the preamble of a transmission with this number of streams takes.
    fn preamble(self, streams: u32, guard: Span) -> Span {
        let fields = match (self, streams) {
            (_, 1) => 1,
            (_, 2) => 2,
            (Self::N, _) | (_, 3 | 4) => 4,
            (_, 5 | 6) => 6,
            _ => 8,
        };
        let (signal, training) = match self {
            // Signal fields and short training field: HT-SIG 8, HT-STF 4; VHT-SIG-A 8, VHT-STF 4, VHT-SIG-B 4; RL-SIG
            // 4, HE-SIG-A 8, HE-STF 4.
            Self::N => (Span::us(12), Span::us(4)),
            Self::Ac => (Span::us(16), Span::us(4)),
            Self::Ax if guard > Span::ns(1600) => (Span::us(16), Span::ns(12_800) + guard),
            Self::Ax => (Span::us(16), Span::ns(6400) + guard),
        };
        LEGACY_PREAMBLE + signal + training * fields
    }
}

/// How a station sends and is sent to.
#[derive(Clone, PartialEq, Debug)]
pub struct Phy {
    /// Data bits of a symbol, and how long it takes.
    bits: u32,
    symbol: Span,
    /// The data end on a multiple of this behind their preamble.
    grid: Span,
    preamble: Span,
    /// The data subcarriers of all its streams.
    tones: u32,
    most_bytes: u32,
    /// Bytes of its block ACKs.
    block_ack: u32,
    /// The probability that a frame is lost on the air.
    pub error: f64,
}

impl Phy {
    /// With this MCS, which the width has.
    #[must_use]
    pub fn new(standard: Standard, (width, streams, mcs): (u32, u32, u32), guard: Span, error: f64) -> Self {
        let (bits, above, below) = MODULATIONS[mcs as usize];
        let core = if standard == Standard::Ax { Span::ns(12_800) } else { Span::ns(3200) };
        let tones = standard.subcarriers(width) * streams;
        Self {
            bits: tones * bits * above / below,
            symbol: core + guard,
            grid: if standard == Standard::Ax { core + guard } else { LEGACY_SYMBOL },
            preamble: standard.preamble(streams, guard),
            tones,
            most_bytes: standard.most_bytes(),
            block_ack: BLOCK_ACK[usize::from(standard.most_frames() > SHORT_WINDOW)],
            error,
        }
    }

    /// The rate of its data.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::bit_per_s(u64::from(self.bits) * 1_000_000_000 / self.symbol.nanos())
    }

    /// Sends data from now on at the nearest rate that has whole bits in a symbol: of an MCS, or between two.
    pub fn set_rate(&mut self, rate: Rate) {
        let bits = (rate.whole_bits() * self.symbol.nanos() + 500_000_000) / 1_000_000_000;
        self.bits = (bits as u32).max(1);
    }

    /// The bytes that a packet takes in an aggregate.
    #[must_use]
    pub const fn frame(packet: u32) -> u32 {
        (packet + MAC).next_multiple_of(4) + DELIMITER
    }

    /// How long a transmission with this number of bytes of frames takes.
    #[must_use]
    pub fn transmission(&self, bytes: u32) -> Span {
        let symbols = self.symbol * u64::from((AROUND + 8 * bytes).div_ceil(self.bits));
        self.preamble + self.grid * symbols.nanos().div_ceil(self.grid.nanos())
    }

    /// The most bytes of frames whose transmission takes at most so long.
    #[must_use]
    pub fn room(&self, time: Span) -> u32 {
        let data = self.grid * (time.nanos().saturating_sub(self.preamble.nanos()) / self.grid.nanos());
        let symbols = data.nanos() / self.symbol.nanos();
        let bytes = (symbols * u64::from(self.bits)).saturating_sub(u64::from(AROUND)) / 8;
        bytes.min(u64::from(self.most_bytes)) as u32
    }

    /// How long the answer to a transmission with this number of frames takes.
    #[must_use]
    pub fn answer(&self, frames: u32) -> Span {
        self.control(if frames == 1 { ACK } else { self.block_ack })
    }

    /// How long RTS and CTS take, without the gaps behind them.
    #[must_use]
    pub fn reservation(&self) -> [Span; 2] {
        [self.control(RTS), self.control(ACK)]
    }

    /// How long a control frame takes: at 6 Mbit/s beside data of MCS 0, at 12 beside MCS 1 and 2, otherwise at 24.
    fn control(&self, bytes: u32) -> Span {
        let basic = BASIC[(self.bits / self.tones).min(2) as usize];
        LEGACY_PREAMBLE + LEGACY_SYMBOL * u64::from((AROUND + 8 * bytes).div_ceil(basic))
    }
}

/// How stations contend for the medium, and what they may do with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// A slot.
    pub slot: Span,
    /// The gap before an answer.
    pub sifs: Span,
    /// The gap before the first slot.
    pub aifs: Span,
    /// The first contention window, and the largest.
    pub window: [u32; 2],
    /// How long a station may keep the medium; zero is one transmission.
    pub txop: Span,
    /// How often a frame is sent again before it is given up.
    pub retries: u32,
    /// Most frames in a transmission.
    pub frames: u32,
    /// The frames that a block ACK covers, from the first that waits on.
    pub block_ack: u32,
    /// How long a transmission may take.
    pub longest: Span,
    /// Whether RTS and CTS precede data.
    pub rts: bool,
}

/// A wireless LAN.
#[derive(Clone, PartialEq, Debug)]
pub struct Wifi {
    /// Its name.
    pub name: String,
    /// How its stations contend.
    pub access: Access,
    /// The stations.
    pub stations: Vec<Phy>,
    /// To which station the access point sends next.
    pub scheduler: Scheduler,
    /// Whether airtime queue limits bound what the access point takes out of its queues.
    pub aql: bool,
    /// The frames that its driver holds for all stations together, if one queue is in front of it.
    pub driver: u32,
}

/// The part of a link in a wireless LAN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Air {
    /// The wireless LAN, by its number in the scenario.
    pub lan: usize,
    /// Its part there.
    pub part: Part,
}

/// The part of a link in its wireless LAN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The queue in front of the driver, for all stations.
    Front,
    /// From the access point to this station.
    Down(usize),
    /// From this station to the access point.
    Up(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(standard: Standard, width: u32, streams: u32, mcs: u32, guard: u64) -> f64 {
        let phy = Phy::new(standard, (width, streams, mcs), Span::ns(guard), 0.0);
        (phy.rate().bits() / 1e5).round() / 10.0
    }

    #[test]
    fn rates_are_those_of_the_standards_tables() {
        use Standard::{Ac, Ax, N};
        // IEEE 802.11-2020, tables 19-27 and following, 21-29 and following; 802.11ax-2021, tables 27-55 and
        // following.
        for (standard, width, streams, mcs, guard, mbit) in [
            (N, 20, 1, 0, 800, 6.5),
            (N, 20, 1, 7, 400, 72.2),
            (N, 40, 2, 7, 400, 300.0),
            (N, 20, 2, 7, 400, 144.4),
            (Ac, 20, 1, 8, 800, 78.0),
            (Ac, 80, 1, 9, 400, 433.3),
            (Ac, 80, 2, 9, 400, 866.7),
            (Ac, 160, 1, 9, 400, 866.7),
            (Ax, 20, 1, 0, 800, 8.6),
            (Ax, 20, 1, 11, 800, 143.4),
            (Ax, 80, 1, 11, 800, 600.4),
            (Ax, 80, 2, 11, 800, 1201.0),
            (Ax, 160, 2, 11, 3200, 2041.7),
        ] {
            let found = rate(standard, width, streams, mcs, guard);
            assert!((found - mbit).abs() < 0.11, "{standard:?} {width} {streams} {mcs} {guard}: {found}");
        }
    }

    #[test]
    fn a_channel_lacks_the_mcs_whose_symbols_have_no_whole_bits() {
        let last = |width, streams| Standard::Ac.mcs(width, streams).last();
        assert_eq!([1, 2, 3, 4, 6].map(|streams| last(20, streams)), [8, 8, 9, 8, 9].map(Some));
        assert_eq!([last(40, 1), last(80, 6), last(160, 3)], [9, 8, 8].map(Some));
        assert!(!Standard::Ac.mcs(80, 3).any(|mcs| mcs == 6) && last(80, 3) == Some(9));
        assert_eq!((Standard::N.mcs(20, 1).last(), Standard::Ax.mcs(20, 1).last()), (Some(7), Some(11)));
    }

    #[test]
    fn a_transmission_takes_its_preamble_and_whole_symbols() {
        // 1500 bytes of IP: 1538 with the frame's, 1540 padded, 1544 with the delimiter; 12374 bits.
        assert_eq!(Phy::frame(1500), 1544);
        let phy = Phy::new(Standard::N, (20, 1, 7), Span::ns(400), 0.0);
        // 260 bits a symbol: 48 symbols of 3.6 us, 172.8 us, which end after 176 us (802.11-2020, 19.4.3 and 21.4.3).
        assert_eq!(phy.transmission(1544), Span::us(36 + 176));
        // At 24 Mbit/s: 22 and 112 bits are 2 symbols, 22 and 256 are 3.
        assert_eq!([phy.answer(1), phy.answer(2)], [Span::us(28), Span::us(32)]);
        assert_eq!(phy.reservation(), [Span::us(28), Span::us(28)]);
        // At the lowest MCS control frames go at 6 Mbit/s, at the next two at 12: 6 and 3 symbols.
        let basic = |mcs| Phy::new(Standard::N, (20, 1, mcs), Span::ns(800), 0.0).answer(1);
        assert_eq!([0, 1, 2, 3, 7].map(basic), [44, 32, 32, 28, 28].map(Span::us));
        let mut between = Phy::new(Standard::N, (20, 1, 7), Span::ns(800), 0.0);
        // 6.5 Mbit/s are MCS 0; of 7 Mbit/s a symbol has 28 bits.
        for (kilobits, found) in [(6500, 6500), (7000, 7000), (7100, 7000), (7200, 7250), (19_500, 19_500)] {
            between.set_rate(Rate::bit_per_s(kilobits * 1000));
            assert_eq!(between.rate(), Rate::bit_per_s(found * 1000));
        }
        assert_eq!((between.answer(1), between.transmission(1544)), (Span::us(32), Span::us(36 + 4 * 159)));
        let long = Phy::new(Standard::Ax, (80, 2, 11), Span::ns(800), 0.0);
        assert_eq!(long.answer(2), Span::us(20 + 4 * 5));
        // Two HE-LTFs of 7.2 us.
        assert_eq!(long.transmission(0), Span::ns(36_000 + 14_400 + 13_600));
    }

    #[test]
    fn as_many_bytes_fit_as_take_the_time() {
        for (standard, width, mcs, guard) in [
            (Standard::N, 20, 0, 800),
            (Standard::N, 20, 0, 400),
            (Standard::Ac, 80, 9, 800),
            (Standard::Ac, 20, 3, 400),
            (Standard::Ax, 40, 5, 800),
        ] {
            let phy = Phy::new(standard, (width, 2, mcs), Span::ns(guard), 0.0);
            for time in [Span::us(300), Span::us(1234), Span::ms(4)] {
                let bytes = phy.room(time);
                let is_full = bytes == standard.most_bytes();
                assert!(phy.transmission(bytes) <= time && (is_full || phy.transmission(bytes + 1) > time));
            }
        }
        let phy = Phy::new(Standard::N, (40, 4, 7), Span::ns(400), 0.0);
        assert_eq!((phy.room(Span::ms(4)), phy.room(Span::us(10))), (65_535, 0));
    }
}
