//! The tins: how many, at which rates, and which packets join which (`cake_config_*` and the tables of sch_cake.c).

/// The order in which Linux lists bulk, which is second, before best effort.
const BULK_FIRST: &[usize] = &[1, 0, 2, 3];

/// How packets are sorted by their DSCP: the rates of the tins as parts of the whole, their quanta without a shaper,
/// and the tin of each DSCP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheme {
    /// The rate of a tin from the rate of the whole and that of the tin before it.
    rates: Rates,
    quanta: &'static [u32],
    tin: fn(u8) -> usize,
}

#[derive(Clone, Copy, Debug)]
enum Rates {
    /// Parts of the rate of the whole, as shifts.
    Shifts(&'static [u32]),
    /// Seven eighths of the tin before, in whole bytes a second.
    Falling,
}

crate::choice! {
    /// Into which tins packets are sorted by their DSCP.
    pub enum Diffserv {
        /// One tin for all.
        BestEffort = "besteffort",
        /// Eight tins, by the precedence bits.
        Precedence = "precedence",
        /// Best effort, bulk and voice.
        Three = "diffserv3",
        /// Best effort, bulk, video and voice.
        Four = "diffserv4",
        /// Eight tins, by the classes of RFC 4594.
        Eight = "diffserv8",
    }
}

const FALLING_QUANTA: &[u32] = &[256, 224, 196, 171, 149, 130, 113, 98];

const fn diffserv3(dscp: u8) -> usize {
    match dscp {
        1 | 8 => 1,
        4 | 44 | 46 | 48 | 56 => 2,
        _ => 0,
    }
}

const fn diffserv4(dscp: u8) -> usize {
    match dscp {
        1 | 8 => 1,
        4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
        32 | 40 | 44 | 46 | 48 | 56 => 3,
        _ => 0,
    }
}

const fn diffserv8(dscp: u8) -> usize {
    match dscp {
        1 => 0,
        2 | 8 | 10 | 12 | 14 => 1,
        24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
        4 | 18 | 20 | 22 => 4,
        16 => 5,
        32 | 40 | 44 | 46 => 6,
        48 | 56 => 7,
        _ => 2,
    }
}

impl Diffserv {
    pub(super) fn scheme(self) -> Scheme {
        let (rates, quanta, tin): (_, &[u32], fn(u8) -> usize) = match self {
            Self::BestEffort => (Rates::Shifts(&[0]), &[65_535], |_| 0),
            Self::Precedence => (Rates::Falling, FALLING_QUANTA, |dscp| usize::from(dscp >> 3)),
            Self::Three => (Rates::Shifts(&[0, 4, 2]), &[1024, 64, 256], diffserv3),
            Self::Four => (Rates::Shifts(&[0, 4, 1, 2]), &[1024, 64, 512, 256], diffserv4),
            Self::Eight => (Rates::Falling, FALLING_QUANTA, diffserv8),
        };
        Scheme { rates, quanta, tin }
    }
}

impl Scheme {
    /// The number of tins.
    pub(super) const fn tins(&self) -> usize {
        self.quanta.len()
    }

    /// The tin of a packet with this DSCP.
    #[inline]
    pub(super) fn tin(&self, dscp: u8) -> usize {
        (self.tin)(dscp & 63)
    }

    /// What a tin may send a round without a shaper, in bytes.
    pub(super) const fn quantum(&self, tin: usize) -> u32 {
        self.quanta[tin]
    }

    /// The tins in the order in which Linux lists them (`tin_order`).
    pub(super) fn order(&self) -> impl Iterator<Item = usize> {
        let bulk_first = matches!(self.tins(), 3 | 4);
        (0..self.tins()).map(move |place| if bulk_first { BULK_FIRST[place] } else { place })
    }

    /// The threshold rate of a tin in bytes a second, of `rate` for the whole.
    pub(super) fn rate(&self, tin: usize, rate: u64) -> u64 {
        match self.rates {
            Rates::Shifts(shifts) => rate >> shifts[tin],
            Rates::Falling => (0..tin).fold(rate, |rate, _| rate * 7 / 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(diffserv: Diffserv) -> Vec<usize> {
        let scheme = diffserv.scheme();
        (0..scheme.tins()).map(|tin| (0..64).filter(|dscp| scheme.tin(*dscp) == tin).count()).collect()
    }

    #[test]
    fn each_dscp_has_a_tin() {
        assert_eq!(counts(Diffserv::BestEffort), [64]);
        assert_eq!(counts(Diffserv::Precedence), [8; 8]);
        assert_eq!(counts(Diffserv::Three), [57, 2, 5]);
        assert_eq!(counts(Diffserv::Four), [44, 2, 12, 6]);
        assert_eq!(counts(Diffserv::Eight), [1, 5, 40, 7, 4, 1, 4, 2]);
    }

    #[test]
    fn rates_are_parts_of_the_whole() {
        let rates = |diffserv: Diffserv| {
            let scheme = diffserv.scheme();
            (0..scheme.tins()).map(|tin| scheme.rate(tin, 1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(rates(Diffserv::Three), [1_000_000, 62_500, 250_000]);
        assert_eq!(rates(Diffserv::Four), [1_000_000, 62_500, 500_000, 250_000]);
        assert_eq!(rates(Diffserv::Eight)[..4], [1_000_000, 875_000, 765_625, 669_921]);
    }
}
