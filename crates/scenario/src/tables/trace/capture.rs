//! pcap and pcapng files. A packet's size is that of its IP packet, without the link's header and padding, as are the
//! engine's sizes on the wire. Frames without one are left out.

use super::frame::ip_packet;
use super::network::{Choice, Ends};
use super::packets::{Packet, in_order};
use crate::model::Arrival;
use pcap_parser::nom::{Err as Failure, IResult};
use pcap_parser::pcapng::{Block, parse_block_be, parse_block_le};
use pcap_parser::traits::PcapNGPacketBlock as _;
use pcap_parser::{
    Linktype, PcapError, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

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

/// The packets of a capture, and a remark on frames that were left out.
pub(super) type Captured = (Vec<Arrival>, Option<String>);

/// The packets of a pcap file between these ends.
pub(super) fn pcap(bytes: &[u8], ends: Ends) -> Result<Captured, String> {
    let (header, mut offset) = parsed(parse_pcap_header(bytes), bytes, 0, "file header")?;
    let frame = match (header.is_bigendian(), header.is_modified_format()) {
        (true, _) => parse_pcap_frame_be,
        (_, true) => parse_pcap_frame_modified,
        _ => parse_pcap_frame,
    };
    let tick = if header.is_nanosecond_precision() { 1 } else { 1000 };
    // The upper bits say whether frames have a checksum.
    let link = Linktype(header.network.0 & 0xffff);
    let (mut packets, mut choice) = (Vec::new(), Choice::new(ends));
    while offset < bytes.len() {
        let (packet, next) = parsed(frame(&bytes[offset..]), bytes, offset, "packet")?;
        let nanos = i128::from(packet.ts_sec) * 1_000_000_000 + i128::from(packet.ts_usec) * tick;
        let size = choice.length(ip_packet(link, packet.data, packet.origlen));
        packets.extend(size.map(|size| Packet { nanos, size, place: offset }));
        offset = next;
    }
    Ok((in_order(packets, "packet at byte")?, choice.remark()?))
}

/// The packets of a pcapng file between these ends, of all its interfaces.
pub(super) fn pcapng(bytes: &[u8], ends: Ends) -> Result<Captured, String> {
    let (mut packets, mut choice) = (Vec::new(), Choice::new(ends));
    let (mut interfaces, mut big_endian, mut offset) = (vec![], false, 0);
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
                let size = choice.length(ip_packet(link, packet.packet_data(), packet.origlen));
                packets.extend(size.map(|size| Packet { nanos, size, place: offset }));
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
    Ok((in_order(packets, "packet at byte")?, choice.remark()?))
}
