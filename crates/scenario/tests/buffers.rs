//! What depends on the bottleneck: buffers said as a time or in bandwidth-delay products, the rate of access links; and
//! the name of the discipline as it is written.

use aqm::unit::{Limit, Rate};
use scenario::{Document, Scenario};

/// 10 Mbit/s; the longer of two base round-trip times is 2 (5 + 10 + 35) = 100 ms, a BDP of 125 kB.
const TWO_PATHS: &str = "\
[dumbbell]
rate = \"10 Mbit/s\"
delay = \"10 ms\"
buffer = \"2 BDP\"
sender_delay = \"5 ms\"
receiver_delay = [\"5 ms\", \"35 ms\"]
[[traffic]]
name = \"x\"
count = 2
";

/// A chain of two links, and traffic over both and over one.
const CHAIN: &str = "\
[[link]]
name = \"one\"
from = \"a\"
to = \"b\"
rate = \"8 Mbit/s\"
delay = \"uniform(0 ms, 20 ms)\"
buffer = \"1 BDP\"
aqm = \"droptail\"
[[link]]
name = \"two\"
from = \"b\"
to = \"c\"
rate = \"8 Mbit/s\"
reverse_rate = \"4 Mbit/s\"
delay = \"40 ms\"
buffer = \"1 BDP\"
[[link]]
name = \"unused\"
from = \"c\"
to = \"d\"
rate = \"8 Mbit/s\"
buffer = \"1 BDP\"
[[traffic]]
name = \"long\"
from = \"a\"
to = \"c\"
[[traffic]]
name = \"short\"
from = \"a\"
to = \"b\"
";

fn check(text: &str, settings: &[(&str, &str)]) -> Result<Scenario, String> {
    let mut document = Document::parse(text, "x.toml").unwrap_or_else(|problems| panic!("{problems}"));
    for (path, value) in settings {
        document.set_text(path, value).unwrap_or_else(|problem| panic!("{problem}"));
    }
    document.check().map_err(|problems| problems.to_string())
}

fn buffer(text: &str, settings: &[(&str, &str)], link: &str) -> Limit {
    let scenario = check(text, settings).unwrap_or_else(|problems| panic!("{problems}"));
    scenario.links.into_iter().find(|one| one.name == link).unwrap_or_else(|| panic!("no link {link}")).buffer
}

#[test]
fn a_bdp_is_the_rate_times_the_longest_base_round_trip_time() {
    let of = |settings: &[(&str, &str)]| buffer(TWO_PATHS, settings, "bottleneck");
    assert_eq!(of(&[]), Limit::Bytes(250_000));
    assert_eq!(of(&[("dumbbell.rate", "20Mbps")]), Limit::Bytes(500_000));
    assert_eq!(of(&[("dumbbell.buffer", "0.5BDP")]), Limit::Bytes(62_500));
    // One flow takes the first of the paths, of 40 ms.
    assert_eq!(of(&[("traffic.x.count", "1")]), Limit::Bytes(100_000));
    // An arrival process takes all of them.
    let short = [
        ("traffic.x.count", "1"),
        ("traffic.x.kind", "short"),
        ("traffic.x.arrival_rate", "1 /s"),
        ("traffic.x.size", "1 kB"),
    ];
    assert_eq!(of(&short), Limit::Bytes(250_000));
    let back = [("reverse_aqm", "red"), ("dumbbell.reverse_rate", "1 Mbit/s")];
    assert_eq!(buffer(TWO_PATHS, &back, "bottleneck:reverse"), Limit::Bytes(25_000));
}

#[test]
fn each_link_has_the_round_trip_time_of_its_own_flows() {
    // The mean of the first delay is 10 ms: 2 (10 + 40) = 100 ms over both links.
    for link in ["one", "one:reverse", "two", "unused"] {
        assert_eq!(buffer(CHAIN, &[], link), Limit::Bytes(100_000), "{link}");
    }
    assert_eq!(buffer(CHAIN, &[], "two:reverse"), Limit::Bytes(50_000));
    let only_short = [("traffic.long.count", "0")];
    assert_eq!(buffer(CHAIN, &only_short, "one"), Limit::Bytes(20_000));
}

#[test]
fn a_time_is_at_the_rate_of_its_link() {
    let said = [
        ("dumbbell.buffer", "100 ms"),
        ("dumbbell.changes", "1 s: 1 Mbit/s"),
        ("dumbbell.access_buffer", "2ms"),
    ];
    assert_eq!(buffer(TWO_PATHS, &said, "bottleneck"), Limit::Bytes(125_000));
    assert_eq!(buffer(TWO_PATHS, &said, "sender1"), Limit::Bytes(25_000));
    let of_ns2 = [("dumbbell.buffer", "100 ms"), ("aqm", "red:bytes=true"), ("traffic.x.tcp", "ns2.35")];
    assert_eq!(buffer(TWO_PATHS, &of_ns2, "bottleneck"), Limit::BytesBefore(125_000));
}

#[test]
fn what_no_packet_fits_into_is_refused_with_its_size() {
    let refusal = |buffer: &str| check(TWO_PATHS, &[("dumbbell.buffer", buffer)]).unwrap_err();
    let small = "dumbbell.buffer = \"1 ms\": must hold the largest packet, \"1500 B\"; here it is \"1250 B\"";
    assert!(refusal("1 ms").ends_with(small), "{}", refusal("1 ms"));
    assert!(refusal("0.001 BDP").ends_with("here it is \"125 B\""), "{}", refusal("0.001 BDP"));
    assert!(refusal("1e6 BDP").contains("must be at most 4e9 bytes; here it is"), "{}", refusal("1e6 BDP"));
    for text in ["0 BDP", "-1 BDP", "BDP", "2", "10 Mbit/s"] {
        assert!(
            refusal(text).contains("\"200 packets\", \"100 kB\", \"100 ms\" or \"2 BDP\""),
            "{}",
            refusal(text)
        );
    }
    assert!(
        check(CHAIN, &[("link.two.reverse_buffer", "1 ms")]).unwrap_err().contains("link.two.reverse_buffer")
    );
}

#[test]
fn the_resolved_scenario_says_it_as_written_and_means_the_same() {
    let document = Document::parse(TWO_PATHS, "x.toml").unwrap();
    let (scenario, json) = document.resolve().unwrap();
    assert_eq!(json["dumbbell"]["buffer"], "2 BDP");
    assert_eq!(json["dumbbell"]["access_rate"], "auto");
    let toml = TWO_PATHS.replace("2 BDP", json["dumbbell"]["buffer"].as_str().unwrap());
    assert_eq!(check(&toml, &[]).unwrap(), scenario);
}

#[test]
fn access_links_are_faster_than_the_bottleneck() {
    let rate = |settings: &[(&str, &str)]| {
        let scenario = check(TWO_PATHS, settings).unwrap_or_else(|problems| panic!("{problems}"));
        scenario.links.iter().find(|link| link.name == "sender1").map(|link| link.rate).unwrap()
    };
    let mbit = Rate::mbit_per_s;
    assert_eq!(rate(&[("dumbbell.rate", "1 Mbit/s")]), mbit(100), "as before, where that is enough");
    assert_eq!(rate(&[]), mbit(100));
    assert_eq!(rate(&[("dumbbell.rate", "100 Mb/s")]), mbit(1000));
    assert_eq!(rate(&[("dumbbell.reverse_rate", "30 Mbit/s")]), mbit(300));
    assert_eq!(rate(&[("dumbbell.changes", "1 s: 50 Mbit/s")]), mbit(500));
    assert_eq!(rate(&[("dumbbell.rate", "50 Gbit/s"), ("duration", "1 s")]), mbit(100_000));
    assert_eq!(rate(&[("dumbbell.rate", "100 Mbit/s"), ("dumbbell.access_rate", "5 Mbit/s")]), mbit(5));
}

#[test]
fn a_discipline_keeps_the_name_that_it_was_given() {
    let named = |settings: &[(&str, &str)]| check(TWO_PATHS, settings).unwrap().discipline;
    assert_eq!(named(&[]), "droptail");
    assert_eq!(named(&[("aqm", "fq_codel")]), "fq_codel");
    assert_eq!(named(&[("aqm", "fq:preset=codel")]), "fq");
    assert_eq!(named(&[("aqm.name", "pistar"), ("reverse_aqm", "red")]), "pistar");
    assert_eq!(named(&[("reverse_aqm", "gred"), ("observe", "bottleneck:reverse")]), "gred");
    assert_eq!(named(&[("observe", "sender1")]), "droptail");
    let link = check(CHAIN, &[("link.one.aqm", "drr")]).unwrap();
    assert_eq!((link.discipline.as_str(), link.links[0].aqm.as_ref().unwrap().name()), ("drr", "fq"));
}
