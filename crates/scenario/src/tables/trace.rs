//! Recordings of traffic: CSV, pcap and pcapng files as times and sizes.

mod capture;
mod frame;
mod recording;

use crate::model::Arrival;
use crate::source::file::{self, Unread};
use recording::Recording;
use std::path::Path;
use std::sync::Arc;

/// Largest file that is read: in pcap 40 000 whole packets of 1500 B, or 800 000 without their payload.
const LONGEST: u64 = 64 << 20;

/// The content of a recording's file; `shorten` is the advice for a file that is too long.
pub(super) fn bytes(path: &Path, shorten: &str) -> Result<Vec<u8>, String> {
    file::read(path, LONGEST).map_err(|unread| match unread {
        Unread::Missing => format!("no such file: {}", path.display()),
        Unread::TooLong => format!("more than {} MiB: {shorten}", LONGEST >> 20),
        Unread::Other(problem) => problem,
    })
}

/// The packets of the file at `path`.
pub(super) fn read(path: &Path) -> Result<Arc<[Arrival]>, String> {
    let bytes = bytes(path, "cut off the payload (editcap -s 64), or make it CSV")?;
    let arrivals = arrivals(&bytes)?;
    if arrivals.is_empty() { Err("no packets in it".to_owned()) } else { Ok(arrivals.into()) }
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

/// The packets in a table with a header; columns other than `time` and `size` are ignored.
fn csv(bytes: &[u8]) -> Result<Vec<Arrival>, String> {
    let head =
        "line 1: must be a header with \"time\" (s) and \"size\" (bytes), like time,size; or the file a pcap";
    let text = str::from_utf8(bytes).map_err(|_| head.to_owned())?;
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let column = |name| header.iter().position(|column| *column == name).ok_or_else(|| head.to_owned());
    let (time, size) = (column("time")?, column("size")?);
    let mut recording = Recording::default();
    let mut first = None;
    for (i, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = i + 2;
        let fields = line.split(',').count();
        if fields > header.len() {
            let names = header.len();
            let cure = "leave out commas within fields, also quoted ones";
            return Err(format!("line {number}: {fields} fields, and the header has {names}: {cure}"));
        }
        let field = |column| line.split(',').nth(column).unwrap_or_default().trim();
        let seconds: f64 =
            field(time).parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| {
                format!("line {number}: time = {:?}: must be a number of seconds", field(time))
            })?;
        let bytes = field(size).parse().map_err(|_| {
            format!("line {number}: size = {:?}: must be a whole number of bytes", field(size))
        })?;
        // The first time is subtracted before rounding: seconds since 1970 leave few digits for the fraction.
        let since = seconds - *first.get_or_insert(seconds);
        let nanos = if since < 0.0 { i128::MIN } else { (since * 1e9).round() as i128 };
        recording.add(nanos, bytes).map_err(|problem| format!("line {number}: {problem}"))?;
    }
    Ok(recording.arrivals)
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
