//! The length of a packet on the wire behind the shaper, and how long it takes there (`cake_overhead`, `cake_set_rate`).

crate::choice! {
    /// The framing behind the shaper.
    pub enum Atm {
        /// None.
        None = "noatm",
        /// Cells of 53 bytes for 48 of the packet.
        Atm = "atm",
        /// A byte for each 64, or part of them.
        Ptm = "ptm",
    }
}

crate::choice! {
    /// A kind of link, by tc's name, whose overhead, least length and framing apply.
    pub enum Compensation {
        /// The packet as the queue sees it.
        Raw = "raw",
        /// 48 bytes on ATM: more than any link has.
        Conservative = "conservative",
        /// Ethernet with preamble, check sequence and gap.
        Ethernet = "ethernet",
        /// The same with a VLAN tag.
        EtherVlan = "ether-vlan",
        /// A cable modem.
        Docsis = "docsis",
        /// PPPoE over VDSL2.
        PppoePtm = "pppoe-ptm",
        /// Bridged Ethernet over VDSL2.
        BridgedPtm = "bridged-ptm",
        /// PPPoA over ADSL, multiplexed by virtual circuits.
        PppoaVcmux = "pppoa-vcmux",
        /// PPPoA over ADSL, with LLC.
        PppoaLlc = "pppoa-llc",
        /// PPPoE over ADSL, multiplexed by virtual circuits.
        PppoeVcmux = "pppoe-vcmux",
        /// PPPoE over ADSL, with LLC and SNAP.
        PppoeLlcsnap = "pppoe-llcsnap",
        /// Bridged Ethernet over ADSL, multiplexed by virtual circuits.
        BridgedVcmux = "bridged-vcmux",
        /// Bridged Ethernet over ADSL, with LLC and SNAP.
        BridgedLlcsnap = "bridged-llcsnap",
        /// IP over ADSL, multiplexed by virtual circuits.
        IpoaVcmux = "ipoa-vcmux",
        /// IP over ADSL, with LLC and SNAP.
        IpoaLlcsnap = "ipoa-llcsnap",
    }
}

impl Compensation {
    /// Overhead in bytes, framing, least length in bytes; `None` for the packet as it is.
    const fn values(self) -> Option<(i32, Atm, u32)> {
        Some(match self {
            Self::Raw => return None,
            Self::Conservative => (48, Atm::Atm, 0),
            Self::Ethernet => (38, Atm::None, 84),
            Self::EtherVlan => (42, Atm::None, 84),
            Self::Docsis => (18, Atm::None, 64),
            Self::PppoePtm => (30, Atm::Ptm, 0),
            Self::BridgedPtm => (22, Atm::Ptm, 0),
            Self::PppoaVcmux => (10, Atm::Atm, 0),
            Self::PppoaLlc => (14, Atm::Atm, 0),
            Self::PppoeVcmux => (32, Atm::Atm, 0),
            Self::PppoeLlcsnap => (40, Atm::Atm, 0),
            Self::BridgedVcmux => (24, Atm::Atm, 0),
            Self::BridgedLlcsnap => (32, Atm::Atm, 0),
            Self::IpoaVcmux => (8, Atm::Atm, 0),
            Self::IpoaLlcsnap => (16, Atm::Atm, 0),
        })
    }
}

/// Bytes of the largest packet.
const LARGEST: u32 = 65_535;

/// The rule by which a packet is charged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// Bytes of the link's header in a packet as the queue sees it, which are not counted.
    header: u32,
    overhead: i32,
    mpu: u32,
    atm: Atm,
}

impl Wire {
    /// For packets with a header of `header` bytes; values that are given replace those of the kind of link.
    pub(super) fn new(
        compensation: Compensation,
        overhead: Option<i32>,
        mpu: Option<u32>,
        atm: Option<Atm>,
        header: u32,
    ) -> Self {
        let kind = compensation.values();
        let (own, framing, least) = kind.unwrap_or((0, Atm::None, 0));
        Self {
            header: if kind.is_some() || overhead.is_some() { header } else { 0 },
            overhead: overhead.unwrap_or(own),
            mpu: mpu.unwrap_or(least),
            atm: atm.unwrap_or(framing),
        }
    }

    /// The bytes charged for a packet of `size` bytes, of which IP knows no more than 65 535.
    #[inline]
    pub(super) fn length(&self, size: u32) -> u32 {
        let plain =
            size.min(LARGEST).saturating_sub(self.header).saturating_add_signed(self.overhead).max(self.mpu);
        match self.atm {
            Atm::None => plain,
            Atm::Atm => plain.div_ceil(48) * 53,
            Atm::Ptm => plain + plain.div_ceil(64),
        }
    }
}

/// The time of a byte, as a number of nanoseconds below a shift.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Pace {
    ns: u64,
    shift: u32,
}

impl Pace {
    /// Of this rate in bytes a second, of which 64 are the least; 0 for none.
    pub(super) fn new(rate: u64) -> Self {
        if rate == 0 {
            return Self::default();
        }
        let (mut ns, mut shift) = ((1_000_000_000_u64 << 34) / rate.max(64), 34);
        while ns >> 34 != 0 {
            ns >>= 1;
            shift -= 1;
        }
        Self { ns, shift }
    }

    /// Nanoseconds that `bytes` take.
    #[inline]
    pub(super) const fn time(self, bytes: u32) -> u64 {
        ((bytes as u128 * self.ns as u128) >> self.shift) as u64
    }

    /// Whether there is no rate.
    pub(super) const fn is_unlimited(self) -> bool {
        self.ns == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(compensation: Compensation, size: u32) -> u32 {
        Wire::new(compensation, None, None, None, 14).length(size)
    }

    #[test]
    fn a_packet_grows_by_its_link() {
        assert_eq!(length(Compensation::Raw, 1514), 1514);
        assert_eq!(length(Compensation::Ethernet, 1514), 1538);
        assert_eq!(length(Compensation::Ethernet, 54), 84);
        // 1500 + 30, and a byte for each of 24 blocks.
        assert_eq!(length(Compensation::PppoePtm, 1514), 1554);
        // 1540 bytes in 33 cells; an ACK of 40 in two.
        assert_eq!(length(Compensation::PppoeLlcsnap, 1514), 33 * 53);
        assert_eq!(length(Compensation::PppoeLlcsnap, 54), 2 * 53);
    }

    #[test]
    fn what_is_given_replaces_what_the_kind_has() {
        let wire = Wire::new(Compensation::Docsis, Some(-4), Some(100), Some(Atm::Ptm), 14);
        assert_eq!((wire.length(1514), wire.length(60)), (1496 + 24, 102));
        // Overhead counts from the network's header on, as tc's does.
        assert_eq!(Wire::new(Compensation::Raw, Some(0), None, None, 14).length(1514), 1500);
        assert_eq!(Wire::new(Compensation::Raw, None, None, Some(Atm::Atm), 14).length(1514), 32 * 53);
    }

    #[test]
    fn a_byte_takes_its_time() {
        let pace = Pace::new(1_250_000);
        assert_eq!((pace.time(1514), pace.time(1)), (1_211_200, 800));
        assert_eq!(Pace::new(0).time(1514), 0);
        assert!(Pace::new(0).is_unlimited());
        assert_eq!(Pace::new(1).time(64), 1_000_000_000);
    }
}
