//! The frames of pcap and pcapng files.

use pcap_parser::nom::{Err as Failure, IResult};
use pcap_parser::pcapng::{Block, OptionCode, PcapNGOption, parse_block_be, parse_block_le};
use pcap_parser::{
    LegacyPcapBlock, Linktype, PcapError, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified,
    parse_pcap_header,
};

/// The most bytes of a block: with more, its length is not one.
const LONGEST: usize = 16 << 20;

/// Whether a file begins as captures do.
#[must_use]
pub fn is_capture(bytes: &[u8]) -> bool {
    is_pcap(bytes) || is_pcapng(bytes)
}

fn is_pcap(bytes: &[u8]) -> bool {
    let magic = [0xa1b2_c3d4_u32, 0xa1b2_3c4d, 0xa1b2_cd34];
    bytes.first_chunk().is_some_and(|first| {
        magic.contains(&u32::from_le_bytes(*first)) || magic[..2].contains(&u32::from_be_bytes(*first))
    })
}

fn is_pcapng(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a])
}

/// A frame of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// By the recording's clock, since 1970.
    pub nanos: i128,
    /// The type of its link.
    pub link: Linktype,
    /// Its captured bytes.
    pub data: &'a [u8],
    /// The bytes that it had on its link.
    pub size: u32,
    /// The number of its interface, in pcap 0.
    pub interface: u32,
    /// Its first byte in the file.
    pub place: usize,
}

/// An interface of a section: the type of its link, ticks a second, and the second at which they begin.
type Interface = (Linktype, u64, i64);

type PcapFrame = fn(&[u8]) -> IResult<&[u8], LegacyPcapBlock<'_>, PcapError<&[u8]>>;

#[derive(Debug, Default)]
enum Format {
    #[default]
    Unknown,
    Pcap {
        frame: PcapFrame,
        link: Linktype,
        tick: i128,
    },
    Pcapng {
        interfaces: Vec<Interface>,
        big_endian: bool,
    },
}

/// Reads a file, of which the bytes come in parts.
#[derive(Debug, Default)]
pub struct Decoder {
    format: Format,
    /// Bytes of the file before those that come next.
    read: usize,
    /// Frames that the system did not record, as the sections of a pcapng file count them.
    missed: u64,
}

impl Decoder {
    /// The next frame in the bytes that follow those read so far, if it is whole, and how many of them now are read.
    ///
    /// # Errors
    /// If they are of no capture, or corrupt.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<(Option<Frame<'a>>, usize), String> {
        let mut at = 0;
        loop {
            let place = self.read;
            match self.block(&bytes[at..])? {
                None if bytes.len() - at > LONGEST => return Err(self.corrupt()),
                None => return Ok((None, at)),
                Some((frame, length)) => {
                    at += length;
                    self.read += length;
                    if let Some(frame) = frame {
                        return Ok((Some(Frame { place, ..frame }), at));
                    }
                }
            }
        }
    }

    /// Frames that the system did not record, as far as the file says it.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Refuses a file that ends with `rest` unread.
    ///
    /// # Errors
    /// If it is torn.
    pub fn end(&self, rest: &[u8]) -> Result<(), String> {
        if rest.is_empty() && self.read > 0 { Ok(()) } else { Err(self.problem("truncated")) }
    }

    fn problem(&self, what: &str) -> String {
        let part = match self.format {
            Format::Unknown => "file header",
            Format::Pcap { .. } => "packet",
            Format::Pcapng { .. } => "block",
        };
        format!("{what} {part} at byte {}", self.read)
    }

    fn corrupt(&self) -> String {
        self.problem("corrupt")
    }

    /// The parser's result and the bytes that it took; `None` if it needs more.
    fn parsed<'a, T>(
        &self,
        bytes: &'a [u8],
        found: IResult<&'a [u8], T, PcapError<&'a [u8]>>,
    ) -> Result<Option<(T, usize)>, String> {
        match found {
            Ok((rest, value)) => Ok(Some((value, bytes.len() - rest.len()))),
            Err(Failure::Incomplete(_)) => Ok(None),
            Err(_) => Err(self.corrupt()),
        }
    }

    /// A block at the start of these bytes, which may have a frame, and its length.
    fn block<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<(Option<Frame<'a>>, usize)>, String> {
        match &self.format {
            Format::Unknown if is_pcapng(bytes) => self.pcapng(bytes),
            Format::Unknown if bytes.len() < 4 => Ok(None),
            Format::Unknown if !is_pcap(bytes) => Err("no capture: neither pcap nor pcapng".to_owned()),
            Format::Unknown => {
                let Some((header, length)) = self.parsed(bytes, parse_pcap_header(bytes))? else {
                    return Ok(None);
                };
                let frame: PcapFrame = match (header.is_bigendian(), header.is_modified_format()) {
                    (true, _) => parse_pcap_frame_be,
                    (_, true) => parse_pcap_frame_modified,
                    _ => parse_pcap_frame,
                };
                let tick = if header.is_nanosecond_precision() { 1 } else { 1000 };
                // The upper bits say whether frames have a checksum.
                self.format = Format::Pcap { frame, link: Linktype(header.network.0 & 0xffff), tick };
                Ok(Some((None, length)))
            }
            &Format::Pcap { frame, link, tick } => {
                Ok(self.parsed(bytes, frame(bytes))?.map(|(packet, length)| {
                    let nanos = i128::from(packet.ts_sec) * 1_000_000_000 + i128::from(packet.ts_usec) * tick;
                    let (data, size) = (packet.data, packet.origlen);
                    (Some(Frame { nanos, link, data, size, interface: 0, place: 0 }), length)
                }))
            }
            Format::Pcapng { .. } => self.pcapng(bytes),
        }
    }

    fn pcapng<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<(Option<Frame<'a>>, usize)>, String> {
        // Each section has its own byte order, in the third word of its header.
        if is_pcapng(bytes) {
            let big_endian = bytes.get(8..12) == Some(&[0x1a, 0x2b, 0x3c, 0x4d]);
            self.format = Format::Pcapng { interfaces: Vec::new(), big_endian };
        }
        let Format::Pcapng { interfaces, big_endian } = &self.format else { return Ok(None) };
        let found = if *big_endian { parse_block_be(bytes) } else { parse_block_le(bytes) };
        let Some((block, length)) = self.parsed(bytes, found)? else { return Ok(None) };
        let frame = match block {
            Block::InterfaceDescription(interface) => {
                let resolution = interface.ts_resolution().filter(|&resolution| resolution > 0);
                let resolution = resolution.ok_or_else(|| self.corrupt())?;
                let described = (interface.linktype, resolution, interface.ts_offset());
                if let Format::Pcapng { interfaces, .. } = &mut self.format {
                    interfaces.push(described);
                }
                None
            }
            Block::EnhancedPacket(packet) => {
                let Some(&(link, resolution, start)) = interfaces.get(packet.if_id as usize) else {
                    return Err(format!("packet at byte {}: no interface {}", self.read, packet.if_id));
                };
                let ticks = (i128::from(packet.ts_high) << 32) + i128::from(packet.ts_low);
                let nanos =
                    ticks * 1_000_000_000 / i128::from(resolution) + i128::from(start) * 1_000_000_000;
                let data = packet.data.get(..packet.caplen as usize).ok_or_else(|| self.corrupt())?;
                Some(Frame { nanos, link, data, size: packet.origlen, interface: packet.if_id, place: 0 })
            }
            Block::SimplePacket(_) => {
                let problem = "it has no time, as simple packet blocks never do";
                return Err(format!("packet at byte {}: {problem}", self.read));
            }
            Block::InterfaceStatistics(statistics) => {
                let counted = |code| number(&statistics.options, code, *big_endian);
                self.missed += [OptionCode::IsbIfDrop, OptionCode::IsbOsDrop]
                    .into_iter()
                    .filter_map(counted)
                    .sum::<u64>();
                None
            }
            _ => None,
        };
        Ok(Some((frame, length)))
    }
}

/// The number that an option has.
fn number(options: &[PcapNGOption<'_>], code: OptionCode, big_endian: bool) -> Option<u64> {
    let option = options.iter().find(|option| option.code == code)?;
    let bytes = *option.value.first_chunk::<8>()?;
    Some(if big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
}
