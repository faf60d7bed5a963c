//! The blocks of a file.
//!
//! Written here because the only library that writes these options needs second versions of two other packages.

use aqm::unit::{Span, Time};
use std::net::IpAddr;

/// Bytes of a packet that a file keeps: the headers, with all their options.
pub const SNAP: usize = 128;
/// Packets begin with the header of IP: LINKTYPE_RAW.
const RAW: u16 = 101;
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_IPV4: u16 = 4;
const IF_IPV6: u16 = 5;
const IF_TSRESOL: u16 = 9;
/// 10 to the power of -9 s.
const NANOSECONDS: u8 = 9;
const EPB_FLAGS: u16 = 2;
const EPB_PACKETID: u16 = 5;

/// Direction of a packet at its interface, as epb_flags has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Neither.
    Unknown = 0,
    /// It comes.
    Inbound = 1,
    /// It leaves.
    Outbound = 2,
}

/// A packet at an interface.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The number of the interface.
    pub interface: u32,
    /// When.
    pub at: Time,
    /// Whether it comes or leaves.
    pub direction: Direction,
    /// Its number, the same wherever it is seen.
    pub identity: u64,
}

/// Appends the start of a file by `application`, whose length is not known.
pub fn section(out: &mut Vec<u8>, application: &str) {
    let mut body = Vec::new();
    body.extend(0x1a2b_3c4d_u32.to_le_bytes());
    // Version 1.0.
    body.extend([1, 0, 0, 0]);
    body.extend(u64::MAX.to_le_bytes());
    option(&mut body, APPLICATION, application.as_bytes());
    end(&mut body);
    block(out, SECTION, &body);
}

/// Appends an interface, whose numbers count from 0. An address has the length of its network's prefix.
pub fn interface(out: &mut Vec<u8>, name: &str, description: &str, address: Option<(IpAddr, u8)>) {
    let mut body = Vec::new();
    body.extend(RAW.to_le_bytes());
    body.extend([0; 2]);
    body.extend((SNAP as u32).to_le_bytes());
    option(&mut body, IF_NAME, name.as_bytes());
    option(&mut body, IF_DESCRIPTION, description.as_bytes());
    match address {
        Some((IpAddr::V4(address), prefix)) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            option(&mut body, IF_IPV4, &[address.octets(), mask.to_be_bytes()].concat());
        }
        Some((IpAddr::V6(address), prefix)) => {
            option(&mut body, IF_IPV6, &[&address.octets()[..], &[prefix]].concat());
        }
        None => {}
    }
    option(&mut body, IF_TSRESOL, &[NANOSECONDS]);
    end(&mut body);
    block(out, INTERFACE, &body);
}

impl Seen {
    /// Appends a packet of `length` bytes that begins with `bytes`, of which [`SNAP`] are kept.
    pub fn write(&self, out: &mut Vec<u8>, bytes: &[u8], length: usize, comment: Option<&str>) {
        let kept = &bytes[..bytes.len().min(SNAP)];
        let nanos = self.at.nanos();
        let mut body = Vec::with_capacity(256);
        let head = [self.interface, (nanos >> 32) as u32, nanos as u32, kept.len() as u32, length as u32];
        head.iter().for_each(|word| body.extend(word.to_le_bytes()));
        padded(&mut body, kept);
        comment.iter().for_each(|comment| option(&mut body, COMMENT, comment.as_bytes()));
        option(&mut body, EPB_FLAGS, &(self.direction as u32).to_le_bytes());
        option(&mut body, EPB_PACKETID, &self.identity.to_le_bytes());
        end(&mut body);
        block(out, PACKET, &body);
    }
}

/// A time for a comment: `12.345678 ms`.
#[must_use]
pub fn ms(span: Span) -> String {
    let nanos = span.nanos();
    format!("{}.{:06} ms", nanos / 1_000_000, nanos % 1_000_000)
}

fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes);
    out.resize(out.len().next_multiple_of(4), 0);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    padded(body, value);
}

/// The end of the options.
fn end(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

/// A block, whose length is at both of its ends.
fn block(out: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let length = (body.len() as u32 + 12).to_le_bytes();
    out.extend(kind.to_le_bytes());
    out.extend(length);
    out.extend(body);
    out.extend(length);
}
