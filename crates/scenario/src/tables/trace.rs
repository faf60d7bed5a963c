//! Recordings of traffic: CSV, pcap and pcapng files as times and sizes.

mod capture;
mod frame;
mod packets;

use super::recording::{self, Csv, Header, Reading, first_word, unit};
use crate::model::Arrival;
use crate::source::file::{self, Unread};
use packets::{Packet, in_order};
use std::path::Path;
use std::sync::Arc;

/// Largest file that is read: in pcap 40 000 whole packets of 1500 B, or 800 000 without their payload.
const LONGEST: u64 = 64 << 20;

/// By how many nanoseconds lines may be out of order: as much as several queues of a network card and more, but less than
/// a second recording in the same file.
const DISORDER: i128 = 1_000_000_000;

/// The content of a recording's file; `shorten` is the advice for a file that is too long.
pub(super) fn bytes(path: &Path, shorten: &str) -> Result<Vec<u8>, String> {
    file::read(path, LONGEST).map_err(|unread| match unread {
        Unread::Missing => format!("no such file: {}", path.display()),
        Unread::TooLong => format!("more than {} MiB: {shorten}", LONGEST >> 20),
        Unread::Other(problem) => problem,
    })
}

/// The packets of the file at `path`, and a remark on how it was read.
pub(super) fn read(path: &Path) -> Result<(Arc<[Arrival]>, Option<String>), String> {
    let bytes = bytes(path, "cut off the payload (editcap -s 64), or make it CSV")?;
    let arrivals = arrivals(&bytes)?;
    if arrivals.is_empty() { Err("no packets in it".to_owned()) } else { Ok((arrivals.into(), None)) }
}

/// The packets in a file, whose first bytes identify its format.
fn arrivals(bytes: &[u8]) -> Result<Vec<Arrival>, String> {
    if capture::is_pcap(bytes) {
        capture::pcap(bytes)
    } else if capture::is_pcapng(bytes) {
        capture::pcapng(bytes)
    } else {
        csv(bytes)
    }
}

/// The packets in a table; columns other than those of the time and the size are ignored.
fn csv(bytes: &[u8]) -> Result<Vec<Arrival>, String> {
    let head = "line 1: must be a header with \"time\" (s, or a date) and \"size\" (bytes), like time,size, with lines \
                before it begun with #; or the file a pcap";
    let text = recording::text(bytes).ok_or(head)?;
    let table = Csv::open(&text).ok_or(head)?;
    let Header { names, line, .. } = &table.header;
    let is_size = |name: &str| {
        name == "ip.len"
            || first_word(name) == "size" && unit(name, "bytes").is_none_or(|factor| factor == 1.0)
    };
    let sizes: Vec<usize> = (0..names.len()).filter(|&i| is_size(&names[i])).collect();
    let size = match sizes[..] {
        [size] => size,
        [] => {
            return Err(format!(
                "line {line}: no column \"size\" with the bytes of the IP packet; those there are: {}: a frame's length \
                 is more, so export ip.len, or give the capture itself",
                names.join(", ")
            ));
        }
        _ => return Err(format!("line {line}: several columns have sizes: keep one, called size")),
    };
    let mut packets = Vec::new();
    let mut latest = i128::MIN;
    for reading in table.readings(size) {
        let Reading { line, nanos, time, value } = reading?;
        if nanos < latest.saturating_sub(DISORDER) {
            return Err(format!(
                "line {line}: {} = {time}: more than 1 s earlier than a line before: sort the lines, or keep one \
                 recording of several",
                names[table.header.time]
            ));
        }
        latest = latest.max(nanos);
        let bytes = value.parse().map_err(|_| {
            format!("line {line}: {} = {value:?}: must be a whole number of bytes, like 1500", names[size])
        })?;
        packets.push(Packet { nanos, size: bytes, place: line });
    }
    in_order(packets, "line")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packets(bytes: &[u8]) -> Vec<(u64, u16)> {
        let arrivals = arrivals(bytes).unwrap_or_else(|problem| panic!("{problem}"));
        arrivals.iter().map(|arrival| (arrival.at.nanos(), arrival.size)).collect()
    }

    #[test]
    fn a_table_may_have_other_columns_and_starts_at_its_first_packet() {
        let text = b"\xef\xbb\xbf size , flow, time\r\n100,a,1e1\r\n200,b,10.000001\r\n";
        assert_eq!(packets(text), [(0, 100), (1000, 200)]);
        let dated = b"# tshark\nTime;size [B];info\n2024-02-28T12:00:00.5+01:00;100;\"a;b\"\n\
                      2024-02-28T11:00:00.25Z;200;\n2024-02-28T12:00:01+01:00;1;\n";
        assert_eq!(packets(dated), [(0, 200), (250_000_000, 100), (750_000_000, 1)], "slightly out of order");
        assert_eq!(
            packets(b"time,size\n1700000000123,100\n1700000000124,200\n"),
            [(0, 100), (1_000_000, 200)]
        );
    }

    /// Consecutive words as bytes in this byte order.
    fn words(big_endian: bool, words: &[u32]) -> Vec<u8> {
        words
            .iter()
            .flat_map(|word| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() })
            .collect()
    }

    /// An Ethernet frame with this type and the header of an IP packet.
    fn frame(kind: &[u8], ip: &[u8]) -> Vec<u8> {
        [&[0; 12], kind, ip].concat()
    }

    const IPV4_1000: [u8; 4] = [0x45, 0, 0x03, 0xe8];
    const IPV6_960: [u8; 8] = [0x60, 0, 0, 0, 0x03, 0xc0, 17, 64];

    fn pcap(big_endian: bool, magic: u32, link: u32, packets: &[(u32, u32, &[u8], u32)]) -> Vec<u8> {
        let version = if big_endian { 0x0002_0004 } else { 0x0004_0002 };
        let mut file = words(big_endian, &[magic, version, 0, 0, 65535, link]);
        for (s, fraction, data, length) in packets {
            file.extend(words(big_endian, &[*s, *fraction, data.len() as u32, *length]));
            file.extend(*data);
        }
        file
    }

    #[test]
    fn a_pcap_file_is_read_in_every_byte_order_and_resolution() {
        for big_endian in [false, true] {
            let two = [(7, 999_999, &[][..], 100), (8, 1, &[], 60)];
            assert_eq!(packets(&pcap(big_endian, 0xa1b2_c3d4, 0, &two)), [(0, 100), (2000, 60)]);
            assert_eq!(packets(&pcap(big_endian, 0xa1b2_3c4d, 0, &two)), [(0, 100), (999_000_002, 60)]);
        }
    }

    #[test]
    fn a_size_is_that_of_the_ip_packet_where_the_file_records_it() {
        let size = |link, data: &[u8]| packets(&pcap(false, 0xa1b2_c3d4, link, &[(0, 0, data, 1014)]))[0].1;
        assert_eq!(size(1, &frame(&[8, 0], &IPV4_1000)), 1000);
        assert_eq!(size(1, &frame(&[0x86, 0xdd], &IPV6_960)), 1000);
        assert_eq!(size(1, &frame(&[0x81, 0, 0, 5, 8, 0], &IPV4_1000)), 1000, "behind a VLAN tag");
        assert_eq!(size(101, &IPV4_1000), 1000, "without a header of the link");
        assert_eq!(size(1, &frame(&[8, 6], &IPV4_1000)), 1014, "ARP");
        assert_eq!(size(1, &frame(&[8, 0], &[0x45, 0, 0, 0])), 1014, "not yet cut up");
        assert_eq!(size(1, &frame(&[8, 0], &IPV4_1000)[..16]), 1014, "too little captured");
        assert_eq!(size(105, &frame(&[8, 0], &IPV4_1000)), 1014, "a link unknown here");
    }

    /// A section with an interface whose clock ticks 10^-9 s, and two packets.
    fn pcapng(big_endian: bool) -> Vec<u8> {
        let mut file = words(big_endian, &[0x0a0d_0d0a, 28, 0x1a2b_3c4d]);
        file.extend(if big_endian { [0, 1, 0, 0] } else { [1, 0, 0, 0] });
        file.extend(words(big_endian, &[u32::MAX, u32::MAX, 28]));
        let link = if big_endian { [0, 1, 0, 0] } else { [1, 0, 0, 0] };
        let resolution = if big_endian { [0, 9, 0, 1] } else { [9, 0, 1, 0] };
        file.extend(words(big_endian, &[1, 32]));
        file.extend(link);
        file.extend(words(big_endian, &[0]));
        file.extend(resolution);
        file.extend([9, 0, 0, 0, 0, 0, 0, 0]);
        file.extend(words(big_endian, &[32]));
        for (low, length) in [(5, 100), (1_000_005, 200)] {
            file.extend(words(big_endian, &[6, 32, 0, 0x10, low, 0, length, 32]));
        }
        file
    }

    #[test]
    fn a_pcapng_file_is_read_in_either_byte_order() {
        for big_endian in [false, true] {
            assert_eq!(packets(&pcapng(big_endian)), [(0, 100), (1_000_000, 200)]);
        }
        // A second section has interfaces of its own.
        let mut two = pcapng(false);
        two.extend(&pcapng(true)[..28]);
        two.extend(&pcapng(true)[60..]);
        assert_eq!(arrivals(&two), Err("packet at byte 152: no interface 0".to_owned()));
        assert_eq!(arrivals(&pcapng(false)[..100]), Err("truncated block at byte 92".to_owned()));
        let mut corrupt = pcapng(false);
        corrupt[88] = 7;
        assert_eq!(arrivals(&corrupt), Err("corrupt block at byte 60".to_owned()));
        let mut simple = pcapng(false)[..60].to_vec();
        simple.extend(words(false, &[3, 16, 100, 16]));
        let error = arrivals(&simple).unwrap_err();
        assert_eq!(error, "packet at byte 60: it has no time, as simple packet blocks never do");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn any_bytes_are_read_or_refused(
            kind in 0usize..4,
            tail in prop::collection::vec(any::<u8>(), 0..200),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = match kind {
                0 => pcap(tail.len() % 2 == 0, 0xa1b2_c3d4, 1, &[(1, 2, &tail, 99), (3, 4, &tail, 99)]),
                1 => pcapng(tail.len() % 2 == 0),
                2 => b"time,size\n0,100\n1e-3,200\n".to_vec(),
                _ => Vec::new(),
            };
            bytes.extend(&tail);
            for (at, byte) in changes {
                if let Some(place) = bytes.len().checked_sub(1).map(|_| at.index(bytes.len())) {
                    bytes[place] = byte;
                }
            }
            for bytes in [&bytes[..], &bytes[..cut.index(bytes.len() + 1)]] {
                if let Ok(arrivals) = arrivals(bytes) {
                    prop_assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
                    prop_assert!(arrivals.iter().all(|arrival| arrival.size > 0));
                }
            }
        }
    }
}
