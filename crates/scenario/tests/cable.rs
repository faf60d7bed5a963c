//! `[[cable]]`: the links that it makes, and tables that are refused.

use aqm::aqm::AnyParams;
use aqm::unit::{Bytes, Limit, Rate, Span};
use scenario::model::Subscriber;
use scenario::model::cable::ServiceFlow;
use scenario::{Document, Scenario};

const GOOD: &str = "\
[[cable]]
name = \"cable\"
cmts = \"cmts\"
modems = [\"home\", \"next\"]

[[traffic]]
from = [\"home\", \"next\"]
to = \"cmts\"
";

fn checked(text: &str) -> Result<Scenario, String> {
    let document = Document::parse(text, "x.toml").map_err(|problems| problems.to_string())?;
    document.check().map_err(|problems| problems.to_string())
}

fn with(lines: &str) -> String {
    GOOD.replacen("\n\n", &format!("\n{lines}\n"), 1)
}

#[test]
fn each_modem_has_a_link_to_the_head_end_and_back() {
    let scenario = checked(&with("rate = [\"50 Mbit/s\", \"10 Mbit/s\"]")).unwrap();
    let names: Vec<&str> = scenario.links.iter().map(|link| &*link.name).collect();
    assert_eq!(names, ["cable-home", "cable-home:reverse", "cable-next", "cable-next:reverse"]);
    let rates: Vec<Rate> = scenario.links.iter().map(|link| link.rate).collect();
    assert_eq!(rates, [50, 200, 10, 200].map(Rate::mbit_per_s));
    let place = |modem, way| Some(Subscriber { cable: 0, modem, way });
    let places: Vec<_> = scenario.links.iter().map(|link| link.subscriber).collect();
    assert_eq!(places, [place(0, 0), place(0, 1), place(1, 0), place(1, 1)]);
    // Downstream is a plain link. Both directions count Ethernet's bytes, and the buffers are 250 ms.
    let shared: Vec<bool> = scenario.links.iter().map(|link| link.is_shared()).collect();
    assert_eq!(shared, [true, false, true, false]);
    assert!(scenario.links.iter().all(|link| link.overhead == Bytes(18)));
    let buffers = [1_562_500, 6_250_000, 312_500, 6_250_000];
    let found: Vec<Limit> = scenario.links.iter().map(|link| link.buffer).collect();
    assert_eq!(found, buffers.map(Limit::Bytes));
    let aqms: Vec<_> = scenario.links.iter().map(|link| link.aqm.as_ref().map(AnyParams::name)).collect();
    assert_eq!(aqms, [Some("droptail"), None, Some("droptail"), None]);
    assert_eq!((scenario.observed, &*scenario.discipline), (0, "droptail"));
    let upstream = &scenario.upstreams[0];
    assert_eq!((upstream.frames, upstream.minislots, upstream.interval()), (15, 235, Span::us(2025)));
    let flow = |mbit| ServiceFlow { rate: Rate::mbit_per_s(mbit), peak: None, burst: Bytes(3044) };
    assert_eq!(upstream.flows, [flow(50), flow(10)]);
}

#[test]
fn an_algorithm_in_place_of_another_goes_to_the_modems() {
    let mut document = Document::parse(&with("aqm = \"pie:preset=docsis\""), "x.toml").unwrap();
    document.set_aqm("codel:target=15 ms").unwrap();
    document.set_text("cable.cable.peak", "60 Mbit/s").unwrap();
    let scenario = document.check().unwrap();
    assert_eq!((&*scenario.discipline, &*scenario.links[scenario.observed].name), ("codel", "cable-home"));
    // What it says in full has the same meaning.
    let again = Document::parse(&document.to_toml(), "x.toml").unwrap().check().unwrap();
    assert_eq!(again, scenario);
    assert_eq!(scenario.upstreams[0].flows[1].peak, Some(Rate::mbit_per_s(60)));
    let json = document.to_json().unwrap();
    assert_eq!(json["cable"][0]["aqm"]["name"], "codel");
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_cure() {
    for (lines, message) in [
        (
            "rate = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]",
            "x.toml:5: cable.cable.rate: 3 values, but 2 modems: give one for all or one for each",
        ),
        (
            "peak = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]",
            "x.toml:5: cable.cable.peak: 3 values, but 2 modems: give one for all or one for each",
        ),
        (
            "peak = \"40 Mbit/s\"",
            "x.toml:5: cable.cable.peak = \"40 Mbit/s\": must be at least `rate`, \"50 Mbit/s\"; auto is no limit",
        ),
        (
            "channel = \"2 Mbit/s\"",
            "x.toml:5: cable.cable.channel = \"2 Mbit/s\": must have at least one minislot, \"48 B\", in a \
             frame, \"135 us\"",
        ),
        (
            "lead = \"100 us\"",
            "x.toml:5: cable.cable.lead = \"100 us\": must be at least a frame, \"135 us\"",
        ),
        (
            "free = \"50 kbit/s\"",
            "x.toml:5: cable.cable.free = \"50 kbit/s\": must have at least one minislot, \"48 B\", in a MAP interval, \
             \"2.025 ms\"",
        ),
        (
            "variation = 0.2",
            "x.toml:5: cable.cable.variation = 0.2: only with `free`, which varies by it: give `free`",
        ),
        (
            "burst = \"1000 B\"",
            "x.toml:5: cable.cable.burst = \"1000 B\": must be a list, each a quantity like \"500 B\" in [1522, 4e9], bytes",
        ),
        (
            "buffer = \"100 B\"",
            "x.toml:5: cable.cable.buffer = \"100 B\": must hold the largest packet, \"1518 B\"",
        ),
    ] {
        let said = checked(&with(lines)).unwrap_err();
        assert_eq!(said, message);
    }
    let none = checked(&GOOD.replace("cmts = \"cmts\"\n", "")).unwrap_err();
    assert!(none.starts_with("x.toml:1: cable.cable.cmts: missing: must be the name of a node"), "{none}");
    let twice = checked(&GOOD.replace("\"next\"]", "\"cmts\"]")).unwrap_err();
    let message = "must be another node than the head end and each other modem";
    assert!(twice.contains(message), "{twice}");
}
