//! The verdicts of every algorithm on one load, in `verdicts.json`, for implementations in other languages:
//! docs/guide/library.md explains the file. With RECORD=1 in the environment it is written anew.

use crate::support::Random;
use aqm::aqm::{NAMES, VARIANTS};
use aqm::{AnyParams, Bytes, Ecn, Header, Limit, Outcome, Port, Qdisc, Rate, Span, Time};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verdicts.json");
const SLOT: Span = Span::ms(12);
const PORT: Port = Port {
    rate: Rate::mbit_per_s(1),
    delay: Span::ms(10),
    limit: Limit::Packets(60),
    packet: Bytes(1500),
    header: Bytes(0),
};

/// The arrivals: time in ns, bytes, ECN bits, flow. Five flows send somewhat more than the link can, then much more,
/// then less.
fn arrivals() -> Vec<[u64; 4]> {
    let (mut random, mut now) = (Random(9), 0);
    let mut made = Vec::new();
    for number in 0..600 {
        let gap = if (200..350).contains(&number) { 5_000_000 } else { 10_500_000 };
        let gap = if number >= 500 { 14_000_000 } else { gap };
        now += random.bits() % (2 * gap);
        let flow = random.bits() % 5;
        let size = if random.bits().is_multiple_of(4) { 300 } else { 1500 };
        made.push([now, size, [0, 1, 2, 2, 0][flow as usize], flow]);
    }
    made
}

/// What each event returns, in order: of an arrival `.` or the packets dropped; of a slot the packet sent, or `-`,
/// after those dropped. `e` follows the number of a packet dropped early, `f` one for which there was no room, `c`
/// one that leaves with CE. Arrivals come before a slot at the same time.
fn verdicts(params: &AnyParams, arrivals: &[[u64; 4]]) -> String {
    let mut queue = Qdisc::new(params, &PORT, 1).unwrap();
    let mut told = String::new();
    let drops = |queue: &mut Qdisc<usize>, told: &mut String| {
        for (packet, reason) in queue.dropped() {
            let why = if reason == Outcome::Overflowed { 'f' } else { 'e' };
            write!(told, "{packet}{why} ").unwrap();
        }
    };
    let mut slot = Time::ZERO;
    for (number, [time, size, ecn, flow]) in arrivals.iter().enumerate() {
        let now = Time::from_nanos(*time);
        while slot < now {
            let sent = queue.dequeue(slot);
            drops(&mut queue, &mut told);
            match sent {
                Some((packet, Ecn::Ce)) => write!(told, "{packet}c ").unwrap(),
                Some((packet, _)) => write!(told, "{packet} ").unwrap(),
                None => told.push_str("- "),
            }
            slot += SLOT;
        }
        let header = Header {
            ecn: Ecn::of(*ecn as u8),
            flow: *flow,
            source: *flow as u32,
            ..Header::new(*size as u32)
        };
        let before = told.len();
        queue.enqueue(now, header, number);
        drops(&mut queue, &mut told);
        if told.len() == before {
            told.push_str(". ");
        }
    }
    told.trim_end().to_owned()
}

/// Algorithms whose defaults are for faster links, or for more packets than come here, with others.
const SWIFTER: [(&str, &str); 5] = [
    ("pi", "pi:q_ref=10,a=0.02,b=0.019"),
    ("pistar", "pistar:q_ref=10"),
    ("raqm", "raqm:q0=10"),
    ("sfb", "sfb:bin_size=4,increment=0.05"),
    ("wred", "wred:w_q=0.1"),
];

/// These drop only where there is no room, or need parameters of the link to do more.
const QUIET: [&str; 9] = ["droptail", "drr", "drr_classes", "headdrop", "htb", "jobs", "prio", "sfq", "tbf"];

#[test]
fn the_verdicts_are_those_of_the_file() {
    let arrivals = arrivals();
    let names = NAMES.iter().copied().chain(VARIANTS.iter().map(|(name, ..)| *name));
    let marks = |mut params: AnyParams| {
        let _ = params.set("ecn", &aqm::params::Value::Bool(true));
        params
    };
    let all: serde_json::Map<String, Json> = names
        .map(|name| SWIFTER.iter().find(|(of, _)| *of == name).map_or(name, |(_, text)| text))
        .map(|text| (text.to_owned(), verdicts(&marks(text.parse().unwrap()), &arrivals).into()))
        .collect();
    let acts = |verdicts: &Json| verdicts.as_str().unwrap().contains(['e', 'c']);
    let port =
        json!({"rate_bps": 1_000_000, "delay_ns": 10_000_000, "limit_packets": 60, "packet_bytes": 1500});
    let mut made = json!({
        "version": 1,
        "port": port,
        "random": "SplitMix64 from state 1; the highest 53 bits of each output, divided by 2^53",
        "slot_ns": SLOT.nanos(),
        "settings": "those after the name, defaults otherwise; ecn = true where it exists",
        "columns": ["time_ns", "bytes", "ecn_bits", "flow"],
        "arrivals": arrivals,
        "verdicts": all,
    });
    if std::env::var_os("RECORD").is_some() {
        let rows = serde_json::to_string(&made).unwrap().replace("],[", "],\n[").replace("\",\"", "\",\n\"");
        fs::write(FILE, rows + "\n").unwrap();
    }
    let kept: Json = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
    let told = kept["verdicts"].as_object().unwrap();
    let quiet = told.iter().filter(|(_, told)| !acts(told)).map(|(name, _)| &name[..]);
    assert_eq!(quiet.collect::<BTreeSet<_>>(), QUIET.into());
    // The file may lack an algorithm that is new.
    made["verdicts"].as_object_mut().unwrap().retain(|name, _| told.contains_key(name));
    for (name, verdicts) in made["verdicts"].as_object().unwrap() {
        assert_eq!(told[name], *verdicts, "{name}");
    }
    assert!(kept == made, "RECORD=1 cargo test --package aqm --test all verdicts");
}
