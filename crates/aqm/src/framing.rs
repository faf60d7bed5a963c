//! The length of a packet on a link of a kind, in the words by which tc describes it to CAKE.
//!
//! `pppoe-ptm ether-vlan` are 30 + 4 bytes and a byte for each 64. As in tc, words apply in order: most add to the overhead
//! of those before, `overhead N`, `conservative` and `raw` set it.
//!
//! # Sources
//! iproute2 6.19, q_cake.c (`cake_parse_opt`); Linux 7.2, sch_cake.c (`cake_calc_overhead`).

use crate::contract::Port;
use crate::params::{Field, ParamKind, Range, Value};
use crate::unit::Bytes;
use alloc::string::String;
use alloc::vec::Vec;

crate::choice! {
    /// The cells of a link.
    pub enum Atm {
        /// None.
        None = "noatm",
        /// Cells of 53 bytes for 48 of the packet.
        Atm = "atm",
        /// A byte for each 64, or part of them.
        Ptm = "ptm",
    }
}

/// What a word does to the overhead.
#[derive(Clone, Copy)]
enum Overhead {
    Same,
    Add(i32),
    Set(i32),
    /// None, and the header of the link counts as the queue sees it.
    Raw,
}
use Overhead::{Add, Raw, Same, Set};

/// Each word that stands alone, its effect on the overhead, the cells, and the least length.
const WORDS: [(&str, Overhead, Option<Atm>, Option<u32>); 18] = [
    ("raw", Raw, Some(Atm::None), None),
    ("conservative", Set(48), Some(Atm::Atm), None),
    ("ethernet", Add(38), None, Some(84)),
    ("ether-vlan", Add(4), None, None),
    ("docsis", Add(18), Some(Atm::None), Some(64)),
    ("pppoe-ptm", Add(30), Some(Atm::Ptm), None),
    ("bridged-ptm", Add(22), Some(Atm::Ptm), None),
    ("pppoa-vcmux", Add(10), Some(Atm::Atm), None),
    ("pppoa-llc", Add(14), Some(Atm::Atm), None),
    ("pppoe-vcmux", Add(32), Some(Atm::Atm), None),
    ("pppoe-llcsnap", Add(40), Some(Atm::Atm), None),
    ("bridged-vcmux", Add(24), Some(Atm::Atm), None),
    ("bridged-llcsnap", Add(32), Some(Atm::Atm), None),
    ("ipoa-vcmux", Add(8), Some(Atm::Atm), None),
    ("ipoa-llcsnap", Add(16), Some(Atm::Atm), None),
    ("noatm", Same, Some(Atm::None), None),
    ("atm", Same, Some(Atm::Atm), None),
    ("ptm", Same, Some(Atm::Ptm), None),
];

/// The words, as messages list them.
const NAMES: [&str; WORDS.len() + 2] = {
    let mut names = [""; WORDS.len() + 2];
    let mut i = 0;
    while i < WORDS.len() {
        names[i] = WORDS[i].0;
        i += 1;
    }
    names[i] = "overhead N";
    names[i + 1] = "mpu N";
    names
};

/// A link as tc's words describe it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Framing {
    words: String,
    /// Bytes besides the packet from its IP header on; `None` if no word says so.
    pub overhead: Option<i32>,
    /// Whether the link's header in a packet counts, whatever the overhead.
    pub raw: bool,
    /// Least length in bytes.
    pub mpu: u32,
    /// The cells; `None` if no word says so.
    pub atm: Option<Atm>,
}

impl Framing {
    /// What these words mean, which blanks separate; `None` if one is unknown or there is none.
    #[must_use]
    pub fn parse(words: &str) -> Option<Self> {
        let mut framing =
            Self { words: words.split_whitespace().collect::<Vec<_>>().join(" "), ..Self::default() };
        let mut given = words.split_whitespace().peekable();
        given.peek()?;
        while let Some(word) = given.next() {
            match word {
                "overhead" => framing.overhead = Some(number(given.next()?, -64..=256)?),
                "mpu" => framing.mpu = number(given.next()?, 0..=256)?.unsigned_abs(),
                _ => framing.add(word)?,
            }
        }
        Some(framing)
    }

    fn add(&mut self, word: &str) -> Option<()> {
        let (_, overhead, atm, mpu) = WORDS.iter().find(|(name, ..)| *name == word)?;
        self.overhead = match *overhead {
            Same => self.overhead,
            Add(bytes) => Some(self.overhead.unwrap_or(0) + bytes),
            Set(bytes) => Some(bytes),
            Raw => Some(0),
        };
        self.raw |= matches!(overhead, Raw);
        self.atm = atm.or(self.atm);
        self.mpu = mpu.unwrap_or(self.mpu);
        Some(())
    }

    /// The rule for packets with a header of `header` bytes of the link.
    #[must_use]
    pub fn wire(&self, header: u32) -> WireLength {
        WireLength {
            header: if self.overhead.is_some() && !self.raw { header } else { 0 },
            overhead: self.overhead.unwrap_or(0),
            mpu: self.mpu,
            atm: self.atm.unwrap_or(Atm::None),
        }
    }
}

fn number(text: &str, range: core::ops::RangeInclusive<i32>) -> Option<i32> {
    text.parse().ok().filter(|number| range.contains(number))
}

impl Field for Framing {
    const KIND: ParamKind = ParamKind::Words(&NAMES);
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Text(words) => Self::parse(words),
            _ => None,
        }
    }
    fn value(&self) -> Value {
        Value::Text(self.words.clone())
    }
    fn within(&self, _: &Range) -> bool {
        true
    }
}

/// Bytes of the largest packet that IP knows.
const LARGEST: u32 = 65_535;

/// The length on the wire of each packet.
#[derive(Clone, Copy, Debug)]
pub struct WireLength {
    /// Bytes of the link's header in a packet as the queue sees it, which are not counted.
    header: u32,
    overhead: i32,
    mpu: u32,
    atm: Atm,
}

impl WireLength {
    /// The bytes of a packet of `size` bytes that count before overhead is added.
    #[inline]
    #[must_use]
    pub const fn network(&self, size: u32) -> u32 {
        (if size < LARGEST { size } else { LARGEST }).saturating_sub(self.header)
    }

    /// What a bucket holds at least, so that every packet of a port can leave it.
    pub(crate) fn full_packet(&self, port: &Port) -> Bytes {
        let mtu = port.mtu();
        Bytes(mtu.0.max(u64::from(self.length(mtu.0 as u32))))
    }

    /// The bytes on the wire of a packet of `size` bytes.
    #[inline]
    #[must_use]
    pub fn length(&self, size: u32) -> u32 {
        let plain = self.network(size).saturating_add_signed(self.overhead).max(self.mpu);
        match self.atm {
            Atm::None => plain,
            Atm::Atm => plain.div_ceil(48) * 53,
            Atm::Ptm => plain + plain.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(words: &str, size: u32) -> u32 {
        Framing::parse(words).unwrap().wire(14).length(size)
    }

    #[test]
    fn a_packet_grows_by_its_link() {
        assert_eq!(Framing::default().wire(14).length(1514), 1514);
        assert_eq!(length("raw", 1514), 1514);
        assert_eq!(length("ethernet", 1514), 1538);
        assert_eq!(length("ethernet", 54), 84);
        // 1500 + 30, and a byte for each of 24 blocks.
        assert_eq!(length("pppoe-ptm", 1514), 1554);
        // 1540 bytes in 33 cells; an ACK of 40 in two.
        assert_eq!(length("pppoe-llcsnap", 1514), 33 * 53);
        assert_eq!(length("pppoe-llcsnap", 54), 2 * 53);
        assert_eq!(length("ether-vlan", 1514), 1504);
        assert_eq!(length("pppoe-ptm ether-vlan", 1514), 1558);
    }

    /// What `cake_parse_opt` and `cake_calc_overhead` make of the words, statement by statement.
    fn as_tc(words: &[&str], size: i32) -> i32 {
        let (mut overhead, mut mpu, mut atm) = (0, 0, 0);
        let (mut overhead_set, mut overhead_override) = (false, false);
        for argument in words {
            let (word, n) =
                argument.split_once(' ').map_or((*argument, 0), |(word, n)| (word, n.parse().unwrap()));
            let (cells, more) = match word {
                "ipoa-vcmux" => (Some(1), 8),
                "ipoa-llcsnap" => (Some(1), 16),
                "bridged-vcmux" => (Some(1), 24),
                "bridged-llcsnap" => (Some(1), 32),
                "pppoa-vcmux" => (Some(1), 10),
                "pppoa-llc" => (Some(1), 14),
                "pppoe-vcmux" => (Some(1), 32),
                "pppoe-llcsnap" => (Some(1), 40),
                "pppoe-ptm" => (Some(2), 30),
                "bridged-ptm" => (Some(2), 22),
                "ethernet" => (None, 38),
                "ether-vlan" => (None, 4),
                "docsis" => (Some(0), 18),
                _ => (None, 0),
            };
            overhead += more;
            overhead_set |= more > 0;
            atm = cells.unwrap_or(atm);
            match word {
                "noatm" => atm = 0,
                "atm" => atm = 1,
                "ptm" => atm = 2,
                "raw" => (atm, overhead, overhead_set, overhead_override) = (0, 0, true, true),
                "conservative" => (atm, overhead, overhead_set) = (1, 48, true),
                "overhead" => (overhead, overhead_set) = (n, true),
                "ethernet" => mpu = 84,
                "docsis" => mpu = 64,
                "mpu" => mpu = n,
                _ => assert!(more > 0, "{word}"),
            }
        }
        let mut len = size;
        if overhead_set && !overhead_override {
            len -= 14;
        }
        len = (len + overhead).max(mpu);
        match atm {
            1 => (len + 47) / 48 * 53,
            2 => len + (len + 63) / 64,
            _ => len,
        }
    }

    #[test]
    fn one_to_three_words_are_charged_as_tc_and_the_kernel_do() {
        let words: Vec<String> =
            (NAMES.iter().filter(|name| !name.ends_with('N')).map(|name| (*name).to_owned()))
                .chain(["overhead -4", "overhead 34", "mpu 0", "mpu 100"].map(str::to_owned))
                .collect();
        let one = words.iter().map(|word| vec![&**word]);
        let two = words.iter().flat_map(|a| words.iter().map(move |b| vec![&**a, &**b]));
        let words = &words;
        let three = words
            .iter()
            .flat_map(|a| words.iter().flat_map(move |b| words.iter().map(move |c| vec![&**a, &**b, &**c])));
        let mut tried = 0;
        for said in one.chain(two).chain(three) {
            for size in [54, 55, 114, 578, 1514] {
                assert_eq!(
                    length(&said.join(" "), size as u32),
                    as_tc(&said, size) as u32,
                    "{said:?}, {size}"
                );
                tried += 1;
            }
        }
        assert_eq!(tried, 5 * (22 + 22 * 22 + 22 * 22 * 22));
    }

    #[test]
    fn what_tc_refuses_is_refused() {
        for words in [
            "",
            " ",
            "adsl",
            "pppoe-ptm,ether-vlan",
            "overhead",
            "overhead 257",
            "overhead x",
            "mpu -1",
            "ethernet mpu",
        ] {
            assert_eq!(Framing::parse(words), None, "{words:?}");
        }
        let framing = Framing::parse(" pppoe-ptm \t ether-vlan").unwrap();
        assert_eq!(framing.value(), Value::Text("pppoe-ptm ether-vlan".to_owned()));
    }
}
