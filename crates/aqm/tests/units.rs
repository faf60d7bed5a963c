//! Quantities in the spellings that people use, and those that are refused because they may mean several things.

use aqm::unit::{Bytes, Frequency, Limit, Quantity, Rate, Span, in_base_unit};
use proptest::prelude::*;
use proptest::sample::select;

/// Spellings of one bit/s times the factor, and of one byte/s.
const RATES: &[(&str, f64)] = &[
    ("bit/s", 1.0),
    ("bps", 1.0),
    ("b/s", 1.0),
    ("bits/s", 1.0),
    ("bits/sec", 1.0),
    ("kbit/s", 1e3),
    ("Kbit/s", 1e3),
    ("kbps", 1e3),
    ("Kbps", 1e3),
    ("kb/s", 1e3),
    ("kbit", 1e3),
    ("mbit", 1e6),
    ("Mbit", 1e6),
    ("MBIT", 1e6),
    ("Mb", 1e6),
    ("mbit/s", 1e6),
    ("Mbit/s", 1e6),
    ("Mbits/s", 1e6),
    ("MBit/s", 1e6),
    ("Mb/s", 1e6),
    ("mb/s", 1e6),
    ("Mbps", 1e6),
    ("mbps", 1e6),
    ("gbit", 1e9),
    ("Gbit/s", 1e9),
    ("Gb/s", 1e9),
    ("Gbps", 1e9),
    ("Kibit/s", 1024.0),
    ("Mibit/s", 1_048_576.0),
    ("Bps", 8.0),
    ("B/s", 8.0),
    ("bytes/s", 8.0),
    ("kB/s", 8e3),
    ("KB/s", 8e3),
    ("MBps", 8e6),
    ("MB/s", 8e6),
    ("Mbyte/s", 8e6),
    ("GB/s", 8e9),
    ("KiB/s", 8192.0),
];
const TIMES: &[(&str, f64)] = &[
    ("s", 1.0),
    ("sec", 1.0),
    ("seconds", 1.0),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("us", 1e-6),
    ("usec", 1e-6),
    ("\u{b5}s", 1e-6),
    ("\u{3bc}s", 1e-6),
    ("ns", 1e-9),
    ("min", 60.0),
    ("minutes", 60.0),
    ("h", 3600.0),
];
const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("byte", 1.0),
    ("bytes", 1.0),
    ("Bytes", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("kbyte", 1e3),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// What stands between a number and its unit.
fn gap() -> impl Strategy<Value = &'static str> {
    select(vec!["", " ", "  ", "\u{a0}", "\u{202f}"])
}

/// A number of up to seven digits with up to three decimals, and its text.
fn number() -> impl Strategy<Value = (String, f64)> {
    (1_u64..10_000_000).prop_map(|thousandths| {
        let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
        (text.clone(), text.parse().unwrap())
    })
}

proptest! {
    #[test]
    fn every_spelling_of_a_rate_is_the_same_rate((text, n) in number(), gap in gap(), unit in select(RATES)) {
        let written = format!("{text}{gap}{}", unit.0);
        let rate = Rate::parse(&written).map(Rate::bits);
        prop_assert_eq!(rate, Some((n * unit.1).round()), "{}", written);
        prop_assert_eq!(in_base_unit(&written), Some((n * unit.1, "bit/s")));
    }

    #[test]
    fn every_spelling_of_a_time_is_the_same_time((text, n) in number(), gap in gap(), unit in select(TIMES)) {
        let written = format!("{text}{gap}{}", unit.0);
        prop_assert_eq!(Span::parse(&written), Some(Span::from_secs(n * unit.1)), "{}", written);
        prop_assert_eq!(in_base_unit(&written), Some((n * unit.1, "s")));
    }

    #[test]
    fn every_spelling_of_a_size_is_the_same_size((text, n) in number(), gap in gap(), unit in select(SIZES)) {
        let written = format!("{text}{gap}{}", unit.0);
        let bytes = (n * unit.1).round() as u64;
        prop_assert_eq!(Bytes::parse(&written), Some(Bytes(bytes)), "{}", written);
        prop_assert_eq!(Limit::parse(&written), Some(Limit::Bytes(bytes)));
    }

    /// No text is a quantity of two kinds: a size is never a rate, and nothing that is not a rate is read as one.
    #[test]
    fn a_unit_is_of_one_kind(n in 1_u32..1000, unit in "[kKmMgG]?i?(b|B|bit|Bit|byte|p|s|in|h|Hz|BDP|pkts)(/s|ps|/sec)?") {
        let text = format!("{n} {unit}");
        let kinds = [
            Rate::parse(&text).is_some(),
            Span::parse(&text).is_some(),
            Bytes::parse(&text).is_some(),
            Frequency::parse(&text).is_some(),
        ];
        prop_assert!(kinds.iter().filter(|kind| **kind).count() <= 1, "{} is {:?}", text, kinds);
    }

    /// Any text is read or refused, and a value that was read is written so that it is read again.
    #[test]
    fn what_is_read_can_be_written(text in "[-+0-9.eE_]{0,6} ?(\\PC{0,6}|[kKMmGg]?i?[bB](it|yte)?s?(/s|ps)?)") {
        if let Some(rate) = Rate::parse(&text) {
            prop_assert_eq!(Rate::parse(&rate.to_string()), Some(rate), "{}", text);
        }
        if let Some(bytes) = Bytes::parse(&text) {
            prop_assert_eq!(Bytes::parse(&bytes.to_string()), Some(bytes), "{}", text);
        }
    }
}

#[test]
fn what_may_mean_several_things_is_refused() {
    // Shouted letters and the wrong prefix with B leave open whether bits or bytes are meant; MB is no rate.
    for text in
        ["10 MBPS", "10 GBPS", "10 mB/s", "10 gB/s", "10 MB", "10 M", "10", "10 b", "10 Mbit/h", "1,5 Mbit/s"]
    {
        assert_eq!(Rate::parse(text), None, "{text}");
    }
    for text in ["10 m", "10 M", "10 Ms", "10 MS", "10 mS", "1:30 min", "1 min 30 s"] {
        assert_eq!(Span::parse(text), None, "{text}");
    }
    for text in ["10 kb", "10 Mb", "10 kbit", "10 mB", "10 K", "10 MB/s"] {
        assert_eq!(Bytes::parse(text), None, "{text}");
    }
}
