//! pcap and pcapng files. A packet's size is that of its IP packet, without the link's header and padding, as are the
//! engine's sizes on the wire. If it is not known (no IP, or too little of it captured), it is the length in the file,
//! whatever part of it belongs to the link.

use super::recording::Recording;
use crate::model::Arrival;
use pcap_parser::nom::{Err as Failure, IResult};
use pcap_parser::pcapng::{Block, parse_block_be, parse_block_le};
use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{
    Linktype, PcapError, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

const ETHERNET: Linktype = Linktype(1);
/// IP without a link's header: LINKTYPE_RAW with its two old numbers, LINKTYPE_IPV4, LINKTYPE_IPV6.
const RAW: [Linktype; 5] = [Linktype(101), Linktype(12), Linktype(14), Linktype(228), Linktype(229)];
/// Ethernet types of VLAN tags, which precede the packet's own type.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

pub(super) fn is_pcap(bytes: &[u8]) -> bool {
    let magic = [0xa1b2_c3d4_u32, 0xa1b2_3c4d, 0xa1b2_cd34];
    bytes.first_chunk().is_some_and(|first| {
        magic.contains(&u32::from_le_bytes(*first)) || magic[..2].contains(&u32::from_be_bytes(*first))
    })
}

pub(super) fn is_pcapng(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a])
}

/// The parser's result at `offset`, and the offset at which it continues.
fn parsed<'a, T>(
    found: IResult<&'a [u8], T, PcapError<&'a [u8]>>,
    bytes: &[u8],
    offset: usize,
    what: &str,
) -> Result<(T, usize), String> {
    match found {
        Ok((rest, value)) => Ok((value, bytes.len() - rest.len())),
        Err(Failure::Incomplete(_)) => Err(format!("truncated {what} at byte {offset}")),
        Err(_) => Err(format!("corrupt {what} at byte {offset}")),
    }
}

/// The packets of a pcap file.
pub(super) fn pcap(bytes: &[u8]) -> Result<Vec<Arrival>, String> {
    let (header, mut offset) = parsed(parse_pcap_header(bytes), bytes, 0, "file header")?;
    let frame = match (header.is_bigendian(), header.is_modified_format()) {
        (true, _) => parse_pcap_frame_be,
        (_, true) => parse_pcap_frame_modified,
        _ => parse_pcap_frame,
    };
    let tick = if header.is_nanosecond_precision() { 1 } else { 1000 };
    let mut recording = Recording::default();
    while offset < bytes.len() {
        let (packet, next) = parsed(frame(&bytes[offset..]), bytes, offset, "packet")?;
        let nanos = i128::from(packet.ts_sec) * 1_000_000_000 + i128::from(packet.ts_usec) * tick;
        let size = size(header.network, packet.data, packet.origlen);
        recording.add(nanos, size).map_err(|problem| format!("packet at byte {offset}: {problem}"))?;
        offset = next;
    }
    Ok(recording.arrivals)
}

/// The packets of a pcapng file, of all its interfaces.
pub(super) fn pcapng(bytes: &[u8]) -> Result<Vec<Arrival>, String> {
    let (mut recording, mut interfaces, mut big_endian, mut offset) =
        (Recording::default(), vec![], false, 0);
    while offset < bytes.len() {
        let rest = &bytes[offset..];
        // Each section has its own byte order, in the third word of its header.
        if is_pcapng(rest) {
            big_endian = rest.get(8..12) == Some(&[0x1a, 0x2b, 0x3c, 0x4d]);
        }
        let found = if big_endian { parse_block_be(rest) } else { parse_block_le(rest) };
        let (block, next) = parsed(found, bytes, offset, "block")?;
        match block {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(interface) => {
                let resolution = interface.ts_resolution().filter(|&resolution| resolution > 0);
                let resolution = resolution.ok_or_else(|| format!("corrupt block at byte {offset}"))?;
                interfaces.push((interface.linktype, resolution, interface.ts_offset()));
            }
            Block::EnhancedPacket(packet) => {
                let Some(&(link, resolution, start)) = interfaces.get(packet.if_id as usize) else {
                    return Err(format!("packet at byte {offset}: no interface {}", packet.if_id));
                };
                let ticks = (i128::from(packet.ts_high) << 32) + i128::from(packet.ts_low);
                let nanos =
                    ticks * 1_000_000_000 / i128::from(resolution) + i128::from(start) * 1_000_000_000;
                let size = size(link, packet.packet_data(), packet.origlen);
                recording
                    .add(nanos, size)
                    .map_err(|problem| format!("packet at byte {offset}: {problem}"))?;
            }
            Block::SimplePacket(_) => {
                return Err(format!(
                    "packet at byte {offset}: it has no time, as simple packet blocks never do"
                ));
            }
            _ => {}
        }
        offset = next;
    }
    Ok(recording.arrivals)
}

/// The size of a packet that had `length` bytes on its link.
fn size(link: Linktype, data: &[u8], length: u32) -> u64 {
    let ip = match link {
        ETHERNET => behind_ethernet(data),
        _ if RAW.contains(&link) => Some(data),
        _ => None,
    };
    let word =
        |ip: &[u8], at: usize| ip.get(at..at + 2).map(|two| u64::from(u16::from_be_bytes([two[0], two[1]])));
    let total = ip.and_then(|ip| match ip.first()? >> 4 {
        4 => word(ip, 2),
        6 => word(ip, 4).filter(|&payload| payload > 0).map(|payload| payload + 40),
        _ => None,
    });
    // A length of 0 is in packets that a network card was to segment.
    total.filter(|&total| total > 0).unwrap_or(u64::from(length))
}

/// The IP packet in an Ethernet frame.
fn behind_ethernet(frame: &[u8]) -> Option<&[u8]> {
    let mut at = 12;
    loop {
        let kind = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        at += if TAGS.contains(&kind) { 4 } else { 2 };
        if matches!(kind, 0x0800 | 0x86dd) {
            return frame.get(at..);
        }
        if !TAGS.contains(&kind) {
            return None;
        }
    }
}
