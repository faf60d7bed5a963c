//! Which packets of a capture a trace has, by their addresses.

use ::capture::IpPacket;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::str::FromStr;

/// An address, or a network of addresses: `10.0.0.0/8`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Network {
    address: IpAddr,
    /// The bits that its addresses have in common.
    length: u32,
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, length) = text.split_once('/').map_or((text, None), |(net, bits)| (net, Some(bits)));
        let address: Option<IpAddr> = address.parse().ok();
        let all = if matches!(address, Some(IpAddr::V4(_))) { 32 } else { 128 };
        let length = length.map_or(Some(all), |bits| bits.parse().ok().filter(|bits| *bits <= all));
        address.zip(length).map(|(address, length)| Self { address, length }).ok_or_else(|| {
            "must be an address or a network, like \"10.0.0.1\", \"10.0.0.0/8\" or \"2001:db8::/32\""
                .to_owned()
        })
    }
}

impl Network {
    fn has(&self, address: IpAddr) -> bool {
        let differ = match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => u128::from(a.to_bits() ^ b.to_bits()) << 96,
            (IpAddr::V6(a), IpAddr::V6(b)) => a.to_bits() ^ b.to_bits(),
            _ => return false,
        };
        differ.leading_zeros() >= self.length
    }
}

/// The sources and the destinations to keep; `None` keeps all.
pub(in super::super) type Ends = [Option<Network>; 2];

/// Decides which packets of a capture are kept, and counts the others.
#[derive(Default)]
pub(super) struct Choice {
    ends: Ends,
    kept: usize,
    /// Frames without an IP packet.
    not_ip: usize,
    /// Packets of which too little was captured to know their addresses.
    unknown: usize,
    /// The packets between two addresses.
    pairs: BTreeMap<[IpAddr; 2], usize>,
}

/// The most pairs of addresses in a message.
const MOST_SHOWN: usize = 5;

impl Choice {
    pub(super) fn new(ends: Ends) -> Self {
        Self { ends, ..Self::default() }
    }

    /// The length of the packet in a frame, if it is kept.
    pub(super) fn length(&mut self, packet: Option<IpPacket<'_>>) -> Option<u64> {
        let Some(packet) = packet else {
            self.not_ip += 1;
            return None;
        };
        if self.ends.iter().any(Option::is_some) {
            let Some(ends) = packet.ends else {
                self.unknown += 1;
                return None;
            };
            *self.pairs.entry(ends).or_default() += 1;
            if self.ends.iter().zip(ends).any(|(net, end)| net.is_some_and(|net| !net.has(end))) {
                return None;
            }
        }
        self.kept += 1;
        Some(packet.length)
    }

    /// A remark on frames that were left out for another reason, or the reason why nothing was kept.
    pub(super) fn remark(self) -> Result<Option<String>, String> {
        let Self { kept, not_ip, unknown, pairs, .. } = self;
        let all = kept + not_ip + unknown + pairs.values().sum::<usize>();
        if kept > 0 || all == 0 {
            let frames = if not_ip == 1 { "frame has" } else { "frames have" };
            let mut left = Vec::new();
            if not_ip > 0 {
                left.push(format!("{not_ip} {frames} no IP packet, such as ARP"));
            }
            if unknown > 0 {
                left.push(format!("too little of {unknown} packets was captured to know their addresses"));
            }
            let remark = format!("{}: left out, {kept} kept.", left.join(", and "));
            return Ok((!left.is_empty()).then_some(remark));
        }
        if pairs.is_empty() {
            return Err(format!(
                "no IP packet is known in its {all} frames: they are of another protocol or link, encrypted, or too \
                 little of them was captured (tcpdump -s 96); CSV with time,size is read too"
            ));
        }
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let shown = pairs.iter().take(MOST_SHOWN);
        let shown: Vec<String> = shown.map(|([a, b], count)| format!("{a} to {b}: {count}")).collect();
        Err(format!(
            "no packet has the chosen `src` and `dst`: the file has, with numbers of packets, {}",
            shown.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_the_addresses_with_its_first_bits() {
        for (network, address, has) in [
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
            ("10.1.0.0/16", "10.1.255.3", true),
            ("10.1.0.0/15", "10.2.0.0", false),
            ("0.0.0.0/0", "1.2.3.4", true),
            ("0.0.0.0/0", "::1", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.has(address.parse().unwrap()), has, "{network:?} {address}");
        }
        for text in ["", "10.0.0", "10.0.0.0/33", "host", "10.0.0.0/", "::/129"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
