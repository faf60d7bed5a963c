//! Recordings of traffic: CSV, pcap and pcapng files as times and sizes.

mod network;
mod packets;

use super::recording::{self, Csv, Header, Reading, first_word, unit};
use crate::model::Arrival;
use crate::source::file::{self, Unread};
use ::capture::{Decoder, Frame, ip_packet, is_capture};
use network::Choice;
pub(super) use network::{Ends, Network};
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

/// The packets of the file at `path` between these ends, and a remark on how it was read.
pub(super) fn read(path: &Path, ends: Ends) -> Result<(Arc<[Arrival]>, Option<String>), String> {
    let bytes = bytes(path, "cut off the payload (editcap -s 64), or make it CSV")?;
    let (arrivals, remark) = arrivals(&bytes, ends)?;
    if arrivals.is_empty() { Err("no packets in it".to_owned()) } else { Ok((arrivals.into(), remark)) }
}

/// Packets, and a remark on frames that were left out.
type Captured = (Vec<Arrival>, Option<String>);

/// The packets in a file, whose first bytes identify its format.
fn arrivals(bytes: &[u8], ends: Ends) -> Result<Captured, String> {
    if is_capture(bytes) {
        captured(bytes, ends)
    } else if ends.iter().any(Option::is_some) {
        Err("`src` and `dst` choose packets of a capture, and CSV has no addresses: leave them out"
            .to_owned())
    } else {
        Ok((csv(bytes)?, None))
    }
}

/// The packets of a capture between these ends, of all its interfaces. A packet's size is that of its IP packet, without
/// the link's header and padding, as are the engine's sizes on the wire. Frames without one are left out.
fn captured(bytes: &[u8], ends: Ends) -> Result<Captured, String> {
    let (mut packets, mut choice) = (Vec::new(), Choice::new(ends));
    let (mut decoder, mut at) = (Decoder::default(), 0);
    loop {
        let (frame, read) = decoder.next(&bytes[at..])?;
        at += read;
        let Some(Frame { nanos, link, data, size, place, .. }) = frame else { break };
        let size = choice.length(ip_packet(link, data, size));
        packets.extend(size.map(|size| Packet { nanos, size, place }));
    }
    decoder.end(&bytes[at..])?;
    Ok((in_order(packets, "packet at byte")?, choice.remark()?))
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
        let (arrivals, _) = arrivals(bytes, [None; 2]).unwrap_or_else(|problem| panic!("{problem}"));
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
            let two = [(7, 999_999, &[0x45][..], 100), (8, 1, &[0x60, 0, 0, 0], 60)];
            assert_eq!(packets(&pcap(big_endian, 0xa1b2_c3d4, 101, &two)), [(0, 100), (2000, 60)]);
            assert_eq!(packets(&pcap(big_endian, 0xa1b2_3c4d, 101, &two)), [(0, 100), (999_000_002, 60)]);
        }
    }

    #[test]
    fn a_size_is_that_of_the_ip_packet_where_the_file_records_it() {
        let size = |link, data: &[u8]| packets(&pcap(false, 0xa1b2_c3d4, link, &[(0, 0, data, 1014)]))[0].1;
        assert_eq!(size(1, &frame(&[8, 0], &IPV4_1000)), 1000);
        assert_eq!(size(1, &frame(&[0x86, 0xdd], &IPV6_960)), 1000);
        assert_eq!(size(1, &frame(&[0x81, 0, 0, 5, 8, 0], &IPV4_1000)), 1000, "behind a VLAN tag");
        assert_eq!(size(101, &IPV4_1000), 1000, "without a header of the link");
        assert_eq!(size(1, &frame(&[8, 0], &[0x45, 0, 0, 0])), 1000, "not yet cut up");
        assert_eq!(size(1, &frame(&[8, 0], &IPV4_1000)[..16]), 1000, "no length captured");
    }

    #[test]
    fn frames_without_ip_are_left_out_and_counted() {
        let ip = frame(&[8, 0], &IPV4_1000);
        let others = [frame(&[8, 6], &[0; 28]), frame(&[0, 38], &[0x42, 0x42, 3]), vec![0; 13]];
        let mut packets = vec![(0, 0, &ip[..], 1014)];
        packets.extend(others.iter().map(|other| (1, 0, &other[..], 60)));
        let (arrivals, remark) = super::arrivals(&pcap(false, 0xa1b2_c3d4, 1, &packets), [None; 2]).unwrap();
        assert_eq!(arrivals.len(), 1);
        let remark = remark.unwrap();
        assert_eq!(remark, "3 frames have no IP packet, such as ARP: left out, 1 kept.");
        for (link, packets) in [(1, &packets[1..]), (147, &packets[..])] {
            let error = super::arrivals(&pcap(false, 0xa1b2_c3d4, link, packets), [None; 2]).unwrap_err();
            assert!(error.starts_with("no IP packet is known in its"), "{error}");
        }
    }

    #[test]
    fn the_ends_of_packets_may_be_chosen() {
        let between = |source: u8, destination: u8| {
            let mut ip = [0; 20];
            ip[..4].copy_from_slice(&IPV4_1000);
            (ip[2], ip[3]) = (0, source);
            ip[12..].copy_from_slice(&[10, 0, 0, source, 10, 0, 0, destination]);
            frame(&[8, 0], &ip)
        };
        let frames = [between(101, 102), between(102, 101), between(101, 103), frame(&[8, 0], &IPV4_1000)];
        let listed: Vec<_> = (0..).zip(&frames).map(|(s, frame)| (s, 0, &frame[..], 200)).collect();
        let file = pcap(false, 0xa1b2_c3d4, 1, &listed);
        let sizes = |source: Option<&str>, destination: Option<&str>| {
            let ends = [source, destination].map(|net| net.map(|net| net.parse().unwrap()));
            super::arrivals(&file, ends).map(|(found, remark)| {
                (found.iter().map(|arrival| (arrival.at.secs(), arrival.size)).collect(), remark.is_some())
            })
        };
        assert_eq!(sizes(None, None).map(|(all, remark): (Vec<_>, _)| (all.len(), remark)), Ok((4, false)));
        assert_eq!(sizes(Some("10.0.0.102"), None), Ok((vec![(0.0, 102)], true)));
        assert_eq!(sizes(Some("10.0.0.101/32"), None), Ok((vec![(0.0, 101), (2.0, 101)], true)));
        assert_eq!(sizes(None, Some("10.0.0.102/31")), Ok((vec![(0.0, 101), (2.0, 101)], true)));
        let none = "no packet has the chosen `src` and `dst`: the file has, with numbers of packets, 10.0.0.101 to 10.0.0.102: 1, \
                    10.0.0.101 to 10.0.0.103: 1, 10.0.0.102 to 10.0.0.101: 1";
        assert_eq!(sizes(Some("10.0.0.1"), None), Err(none.to_owned()));
        let table = super::arrivals(b"time,size\n0,1\n", ["10.0.0.1".parse().ok(), None]).unwrap_err();
        assert!(table.ends_with("CSV has no addresses: leave them out"), "{table}");
    }

    /// A section with an interface whose clock ticks 10^-9 s, and two packets.
    fn pcapng(big_endian: bool) -> Vec<u8> {
        let mut file = words(big_endian, &[0x0a0d_0d0a, 28, 0x1a2b_3c4d]);
        file.extend(if big_endian { [0, 1, 0, 0] } else { [1, 0, 0, 0] });
        file.extend(words(big_endian, &[u32::MAX, u32::MAX, 28]));
        let link = if big_endian { [0, 101, 0, 0] } else { [101, 0, 0, 0] };
        let resolution = if big_endian { [0, 9, 0, 1] } else { [9, 0, 1, 0] };
        file.extend(words(big_endian, &[1, 32]));
        file.extend(link);
        file.extend(words(big_endian, &[0]));
        file.extend(resolution);
        file.extend([9, 0, 0, 0, 0, 0, 0, 0]);
        file.extend(words(big_endian, &[32]));
        for (low, length) in [(5, 100), (1_000_005, 200)] {
            file.extend(words(big_endian, &[6, 36, 0, 0x10, low, 4, length]));
            file.extend([0x45, 0, 0, 0]);
            file.extend(words(big_endian, &[36]));
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
        assert_eq!(arrivals(&two, [None; 2]), Err("packet at byte 160: no interface 0".to_owned()));
        assert_eq!(arrivals(&pcapng(false)[..100], [None; 2]), Err("truncated block at byte 96".to_owned()));
        let mut corrupt = pcapng(false);
        corrupt[92] = 7;
        assert_eq!(arrivals(&corrupt, [None; 2]), Err("corrupt block at byte 60".to_owned()));
        let mut simple = pcapng(false)[..60].to_vec();
        simple.extend(words(false, &[3, 16, 100, 16]));
        let error = arrivals(&simple, [None; 2]).unwrap_err();
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
                if let Ok((arrivals, _)) = arrivals(bytes, [None; 2]) {
                    prop_assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
                    prop_assert!(arrivals.iter().all(|arrival| arrival.size > 0));
                }
            }
        }
    }
}
