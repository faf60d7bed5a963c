//! The IP packet in a frame, by the type of the link on which it was captured (the registry of LINKTYPE_).

use pcap_parser::Linktype;
use std::net::IpAddr;

/// The most nested frames, such as Ethernet in DOCSIS: a corrupt file may have many.
const MOST_NESTED: u32 = 4;

/// The IP packet in a frame.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket<'a> {
    /// In bytes, without the link's header and padding.
    pub length: u64,
    /// Its source and its destination, if they were captured.
    pub ends: Option<[IpAddr; 2]>,
    /// Its captured bytes.
    pub bytes: &'a [u8],
}

/// The IP packet in a frame that had `size` bytes on its link; `None` if there is none, or too little was captured to tell.
#[must_use]
pub fn ip_packet(link: Linktype, frame: &[u8], size: u32) -> Option<IpPacket<'_>> {
    let ip = on_link(link.0, frame, MOST_NESTED)?;
    let version = ip.first()? >> 4;
    let length = match version {
        4 => word(ip, 2).map(u64::from),
        6 => word(ip, 4).filter(|&payload| payload > 0).map(|payload| u64::from(payload) + 40),
        _ => return None,
    };
    // A length of 0 is in packets that a network card was to segment: they are what follows the link's header.
    let behind = u64::from(size).saturating_sub((frame.len() - ip.len()) as u64);
    let length = length.filter(|&length| length > 0).unwrap_or(behind);
    let four = |at: usize| Some(IpAddr::from(*ip.get(at..)?.first_chunk::<4>()?));
    let sixteen = |at: usize| Some(IpAddr::from(*ip.get(at..)?.first_chunk::<16>()?));
    let ends = if version == 4 { [four(12), four(16)] } else { [sixteen(8), sixteen(24)] };
    Some(IpPacket { length, ends: ends[0].zip(ends[1]).map(|(a, b)| [a, b]), bytes: ip })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|two| u16::from_be_bytes([two[0], two[1]]))
}

fn on_link(link: i32, frame: &[u8], nested: u32) -> Option<&[u8]> {
    let from = |at: usize| frame.get(at..);
    match link {
        // RAW with its old numbers, IPV4, IPV6; LINUX_IRDA and others carry no IP.
        12 | 14 | 101 | 228 | 229 => Some(frame),
        // NULL, LOOP: the family of addresses differs between systems, the packet's version does not.
        0 | 108 => from(4),
        // ETHERNET, and with a header before: NETANALYZER, ETHERNET_MPACKET, DSA's tags replace the type.
        1 => behind_type(word(frame, 12)?, from(14)?),
        240 => behind_type(word(frame, 16)?, from(18)?),
        274 => behind_type(word(frame, 20)?, from(22)?),
        // IEEE802_5 (route information where the source's first bit is set), FDDI, ARCNET_LINUX, IP_OVER_FC.
        6 => behind_llc(from(
            14 + if frame.get(8)? & 0x80 != 0 { usize::from(frame.get(14)? & 0x1f) } else { 0 },
        )?),
        10 => behind_llc(from(13)?),
        122 => behind_llc(from(16)?),
        129 => match frame.get(4)? {
            212 => from(8),
            _ => None,
        },
        // LINUX_SLL, LINUX_SLL2.
        113 => behind_type(word(frame, 14)?, from(16)?),
        276 => behind_type(word(frame, 0)?, from(20)?),
        // PPP, PPP_HDLC, PPP_PPPD, PPP_WITH_DIR, PPP_ETHER.
        9 | 50 => behind_ppp(frame),
        204 => behind_ppp(from(1)?),
        // A direction takes the place of the address.
        166 => behind_ppp(from(2)?),
        51 => behind_ppp(from(6)?),
        // C_HDLC, C_HDLC_WITH_DIR; FRELAY, FRELAY_WITH_DIR.
        104 => behind_type(word(frame, 2)?, from(4)?),
        205 => behind_type(word(frame, 3)?, from(5)?),
        107 => behind_frame_relay(frame),
        206 => behind_frame_relay(from(1)?),
        // ATM_RFC1483, ATM_CLIP: with LLC or without.
        100 | 106 => {
            if frame.starts_with(&[0xaa, 0xaa, 3]) {
                behind_llc(frame)
            } else {
                Some(frame)
            }
        }
        // IEEE802_11, and with RADIOTAP, PRISM, AVS before it.
        105 => behind_wireless(frame),
        127 => behind_wireless(from(usize::from(u16::from_le_bytes(frame.get(2..4)?.try_into().ok()?)))?),
        119 => {
            let length = frame.get(4..8)?.try_into().ok()?;
            let length = u32::from_le_bytes(length).min(u32::from_be_bytes(length));
            behind_wireless(from(length as usize)?)
        }
        163 => behind_wireless(from(u32::from_be_bytes(frame.get(4..8)?.try_into().ok()?) as usize)?),
        // ENC, PFLOG (its length, rounded up to words), IPNET.
        109 => from(12),
        117 => from(usize::from(*frame.first()?).next_multiple_of(4)),
        226 => from(24),
        // NFLOG: attributes, of which number 9 is the packet.
        239 => {
            let mut at = 4;
            loop {
                let head = frame.get(at..at + 4)?;
                let (length, kind) =
                    (u16::from_le_bytes([head[0], head[1]]), u16::from_le_bytes([head[2], head[3]]));
                if kind == 9 {
                    return from(at + 4);
                }
                at += usize::from(length).max(4).next_multiple_of(4);
            }
        }
        // PKTAP: the length of its header and the type of the link are in it.
        258 if nested > 0 => {
            let length = u32::from_le_bytes(frame.get(..4)?.try_into().ok()?);
            let link = i32::from_le_bytes(frame.get(8..12)?.try_into().ok()?);
            on_link(link, from(length as usize)?, nested - 1)
        }
        // DOCSIS: packet data (frame control 00...), with or without an extended header.
        143 if nested > 0 && frame.first()? >> 1 & 0x7f == 0 => {
            let extended = if frame[0] & 1 != 0 { usize::from(*frame.get(1)?) } else { 0 };
            on_link(1, from(6 + extended)?, nested - 1)
        }
        _ => None,
    }
}

/// The IP packet behind an Ethernet type and what it announces: a tag, PPPoE, labels; or a length and LLC.
fn behind_type(mut kind: u16, mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        match kind {
            0x0800 | 0x86dd => return Some(rest),
            0x8100 | 0x88a8 | 0x9100 => (kind, rest) = (word(rest, 2)?, rest.get(4..)?),
            0x8864 => return behind_ppp(rest.get(6..)?),
            0x8847 | 0x8848 => {
                while rest.get(2)? & 1 == 0 {
                    rest = rest.get(4..)?;
                }
                return rest.get(4..);
            }
            // 4 is 802.2 in LINUX_SLL.
            ..=1500 => return behind_llc(rest),
            _ => return None,
        }
    }
}

/// The IP packet behind LLC and SNAP (RFC 1042).
fn behind_llc(rest: &[u8]) -> Option<&[u8]> {
    match rest.get(..3)? {
        // Bridged Ethernet, with or without its checksum (RFC 2684).
        [0xaa, 0xaa, 3] if rest.get(3..6)? == [0, 0x80, 0xc2] && matches!(word(rest, 6)?, 1 | 7) => {
            behind_type(word(rest, 22)?, rest.get(24..)?)
        }
        [0xaa, 0xaa, 3] if word(rest, 6)? > 1500 => behind_type(word(rest, 6)?, rest.get(8..)?),
        [6, 6, 3] => rest.get(3..),
        _ => None,
    }
}

/// The IP packet behind a point-to-point header, whose address, control and first zero may be left out (RFC 1661, 1662).
fn behind_ppp(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.strip_prefix(&[0xff, 3]).unwrap_or(rest);
    let rest = rest.strip_prefix(&[0]).unwrap_or(rest);
    matches!(rest.first()?, 0x21 | 0x57).then(|| &rest[1..])
}

/// The IP packet behind the address and the protocol of Frame Relay (RFC 2427).
fn behind_frame_relay(rest: &[u8]) -> Option<&[u8]> {
    let address = rest.iter().position(|byte| byte & 1 != 0)? + 1;
    let rest = rest.get(address..)?;
    let rest = rest.strip_prefix(&[3]).unwrap_or(rest);
    let rest = rest.strip_prefix(&[0]).unwrap_or(rest);
    match rest.first()? {
        0xcc | 0x8e => rest.get(1..),
        0x80 => behind_type(word(rest, 4)?, rest.get(6..)?),
        // Cisco's encapsulation has an Ethernet type in its place.
        _ => behind_type(word(rest, 0)?, rest.get(2..)?),
    }
}

/// The IP packet in a data frame of 802.11 that is not encrypted.
fn behind_wireless(frame: &[u8]) -> Option<&[u8]> {
    let (control, flags) = (*frame.first()?, *frame.get(1)?);
    let (data, encrypted, null) = (control & 0x0c == 0x08, flags & 0x40 != 0, control & 0x40 != 0);
    if !data || encrypted || null {
        return None;
    }
    let addresses = if flags & 3 == 3 { 30 } else { 24 };
    let quality = if control & 0x80 != 0 { 2 } else { 0 };
    let throughput = if quality > 0 && flags & 0x80 != 0 { 4 } else { 0 };
    behind_llc(frame.get(addresses + quality + throughput..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the packet in a frame that was captured whole.
    fn ip_length(link: Linktype, frame: &[u8]) -> Option<u64> {
        Some(ip_packet(link, frame, frame.len() as u32)?.length)
    }

    const SIZES: [u64; 4] = [40, 200, 1000, 1500];

    /// An IPv4 or IPv6 packet of this length of which the first 48 bytes were captured.
    fn ip(version: u8, total: u64) -> Vec<u8> {
        let mut packet = vec![0; 48];
        let (at, length) = if version == 4 { (2, total) } else { (4, total - 40) };
        packet[0] = version << 4 | 5;
        packet[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
        packet
    }

    fn padded(head: &[u8], length: usize) -> Vec<u8> {
        let mut bytes = head.to_vec();
        bytes.resize(length, 0);
        bytes
    }

    #[test]
    fn the_length_is_that_of_the_ip_packet_on_every_link_that_carries_one() {
        let ethernet = [padded(&[], 12), vec![8, 0]].concat();
        let snap = vec![0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        let tagged = [padded(&[], 12), vec![0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0]].concat();
        let session = [padded(&[], 12), vec![0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0, 0x21]].concat();
        let labelled = [padded(&[], 12), vec![0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat();
        let wireless = [padded(&[0x08, 1], 24), snap.clone()].concat();
        let quality = [padded(&[0x88, 1], 26), snap.clone()].concat();
        let attributes = [vec![2, 0, 0, 0, 5, 0, 10, 0, b'a', 0, 0, 0], vec![52, 0, 9, 0]].concat();
        let pktap = |head: Vec<u8>| {
            let mut bytes = padded(&108u32.to_le_bytes(), 108);
            bytes[8..12].copy_from_slice(&1i32.to_le_bytes());
            [bytes, head].concat()
        };
        let heads: [(i32, Vec<u8>); 38] = [
            (0, vec![2, 0, 0, 0]),
            (0, vec![0, 0, 0, 30]),
            (108, vec![0, 0, 0, 2]),
            (1, ethernet.clone()),
            (1, tagged),
            (1, session),
            (1, labelled),
            (1, [padded(&[], 12), vec![0, 60], snap.clone()].concat()),
            (12, vec![]),
            (101, vec![]),
            (228, vec![]),
            (240, [padded(&[], 4), ethernet.clone()].concat()),
            (6, [padded(&[], 14), snap.clone()].concat()),
            (6, [padded(&[0, 0, 0, 0, 0, 0, 0, 0, 0x80], 14), vec![4, 0, 0, 0], snap.clone()].concat()),
            (10, [padded(&[], 13), snap.clone()].concat()),
            (122, [padded(&[], 16), snap.clone()].concat()),
            (113, [padded(&[], 14), vec![8, 0]].concat()),
            (276, padded(&[8, 0], 20)),
            (276, [padded(&[0x81, 0], 20), vec![0, 1, 8, 0]].concat()),
            (9, vec![0xff, 3, 0, 0x21]),
            (9, vec![0x21]),
            (50, vec![0xff, 3, 0, 0x21]),
            (204, vec![1, 0xff, 3, 0, 0x21]),
            (166, vec![1, 3, 0, 0x21]),
            (100, [vec![0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7, 0, 0], ethernet.clone()].concat()),
            (51, [padded(&[0x11], 6), vec![0, 0x21]].concat()),
            (104, vec![0x0f, 0, 8, 0]),
            (107, vec![0x18, 0x41, 3, 0xcc]),
            (107, vec![0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 8, 0]),
            (100, snap.clone()),
            (105, wireless.clone()),
            (105, quality),
            (127, [vec![0, 0, 12, 0], padded(&[], 8), wireless.clone()].concat()),
            (119, [vec![0, 0, 0, 68, 144, 0, 0, 0], padded(&[], 136), wireless.clone()].concat()),
            (163, [vec![0x80, 0x21, 0x10, 1, 0, 0, 0, 64], padded(&[], 56), wireless].concat()),
            (239, attributes),
            (258, pktap(ethernet.clone())),
            (143, [vec![0, 0, 0, 60, 0, 0], ethernet].concat()),
        ];
        for (link, head) in &heads {
            let sizes = SIZES.map(|size| ip_length(Linktype(*link), &[head.clone(), ip(4, size)].concat()));
            assert_eq!(sizes, SIZES.map(Some), "link type {link}, {head:02x?}");
        }
        for (link, head) in
            [(0, vec![30, 0, 0, 0]), (229, vec![]), (109, padded(&[], 12)), (226, padded(&[], 24))]
        {
            let sizes =
                SIZES.map(|size| ip_length(Linktype(link), &[head.clone(), ip(6, size.max(41))].concat()));
            assert_eq!(sizes, SIZES.map(|size| Some(size.max(41))), "link type {link}");
        }
    }

    #[test]
    fn other_frames_have_no_length_and_any_bytes_are_read_without_a_panic() {
        for (link, frame) in [
            (1, [padded(&[], 12), vec![8, 6], padded(&[], 28)].concat()),
            (105, padded(&[0x08, 0x41], 60)),
            (105, padded(&[0x80], 60)),
            (147, ip(4, 40)),
            (1, vec![1; 13]),
        ] {
            assert_eq!(ip_length(Linktype(link), &frame), None, "link type {link}");
        }
        for link in 0..300 {
            for fill in [0, 1, 0x45, 0x81, 0xaa, 0xff] {
                for length in [0, 1, 3, 12, 15, 40, 200] {
                    let _ = ip_length(Linktype(link), &vec![fill; length]);
                }
            }
        }
    }
}
