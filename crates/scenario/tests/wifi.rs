//! `[[wifi]]`: the links that it makes, and tables that are refused.

use aqm::aqm::AnyParams;
use aqm::unit::{Limit, Rate, Span};
use scenario::model::{Air, Part, Scheduler};
use scenario::{Document, Scenario};
use std::fs;

const GOOD: &str = "\
[[link]]
from = \"server\"
to = \"ap\"
[[wifi]]
name = \"wlan\"
ap = \"ap\"
stations = [\"near\", \"far\"]
mcs = [11, 0]
[[traffic]]
from = \"server\"
to = [\"near\", \"far\"]
";

fn checked(text: &str) -> Result<Scenario, String> {
    let document = Document::parse(text, "x.toml").map_err(|problems| problems.to_string())?;
    document.check().map_err(|problems| problems.to_string())
}

fn with(line: &str) -> String {
    GOOD.replace("mcs = [11, 0]\n", &format!("{line}\n"))
}

#[test]
fn each_station_has_a_link_from_the_access_point_and_back() {
    let scenario = checked(&with("mcs = [11, 0]\nreverse_aqm = \"codel\"\nbuffer = \"77 packets\"")).unwrap();
    let names: Vec<&str> = scenario.links.iter().map(|link| &*link.name).collect();
    let expected =
        ["server-ap", "server-ap:reverse", "wlan-near", "wlan-near:reverse", "wlan-far", "wlan-far:reverse"];
    assert_eq!(names, expected);
    let rates = [2, 3, 4].map(|i| scenario.links[i].rate);
    assert_eq!(rates, [143_382_352, 143_382_352, 8_602_941].map(Rate::bit_per_s));
    let air = |part| Some(Air { lan: 0, part });
    let parts = [None, None, air(Part::Down(0)), air(Part::Up(0)), air(Part::Down(1)), air(Part::Up(1))];
    assert_eq!(scenario.links.iter().map(|link| link.wifi).collect::<Vec<_>>(), parts);
    let aqms: Vec<_> = scenario.links.iter().map(|link| link.aqm.as_ref().map(AnyParams::name)).collect();
    let (droptail, codel) = (Some("droptail"), Some("codel"));
    assert_eq!(aqms, [None, None, droptail, codel, droptail, codel]);
    assert_eq!([2, 3].map(|i| scenario.links[i].buffer), [77, 1000].map(Limit::Packets));
    assert_eq!((scenario.observed, &*scenario.discipline), (2, "droptail"));
    let wifi = &scenario.wifis[0];
    assert!(wifi.aql && wifi.scheduler == Scheduler::Airtime && wifi.stations.len() == 2);
}

#[test]
fn shared_queues_are_one_link_in_front_of_a_driver() {
    let scenario = checked(&with("mcs = 0\nqueues = \"shared\"\naqm = \"fq_codel\"")).unwrap();
    let front = &scenario.links[2];
    assert_eq!((&*front.name, front.wifi.map(|air| air.part)), ("wlan", Some(Part::Front)));
    assert_eq!((scenario.observed, &*scenario.discipline), (2, "fq_codel"));
    // The driver's own queues are first-in first-out and hold no more than the driver.
    let down = &scenario.links[4];
    assert_eq!((&*down.name, down.aqm.as_ref().map(AnyParams::name)), ("wlan-near", Some("droptail")));
    assert_eq!((down.buffer, front.buffer), (Limit::Packets(123), Limit::Packets(1000)));
    assert_eq!(&scenario.nodes[down.from], "wlan.driver");
    // What stations send comes to the access point, and from there to this queue if it is for another station.
    let ends = [3, 5].map(|link| [scenario.links[link].from, scenario.links[link].to]);
    let ends = ends.map(|ends| ends.map(|node| &*scenario.nodes[node]));
    assert_eq!(ends, [["wlan.receiver", "ap"], ["near", "wlan.receiver"]]);
    assert!(!scenario.wifis[0].aql, "there are no queues of stations to take from");
}

#[test]
fn an_algorithm_in_place_of_another_goes_to_the_access_point() {
    let mut document = Document::parse(&with("mcs = 3\naqm = \"droptail\""), "x.toml").unwrap();
    document.set_aqm("codel:target=20 ms").unwrap();
    document.set_text("aqm.interval", "300 ms").unwrap();
    let scenario = document.check().unwrap();
    assert_eq!((&*scenario.discipline, &*scenario.links[2].name), ("codel", "wlan-near"));
    let values = scenario.links[4].aqm.as_ref().unwrap().values();
    let value = |key| values.iter().find(|(name, _)| *name == key).unwrap().1.to_string();
    assert_eq!([value("target"), value("interval")], ["\"20 ms\"", "\"300 ms\""]);
    // What it says in full has the same meaning.
    let again = Document::parse(&document.to_toml(), "x.toml").unwrap().check().unwrap();
    assert_eq!(again, scenario);
    let json = document.to_json().unwrap();
    assert_eq!(json["wifi"][0]["aqm"]["name"], "codel");
    assert_eq!(json["wifi"][0]["mcs"].to_string(), "[3]");
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_cure() {
    for (lines, message) in [
        (
            "",
            "x.toml:4: wifi.wlan.mcs: missing: near has no rate; give one MCS for all stations or one for each, or `rates`",
        ),
        (
            "mcs = [1, 2, 3]",
            "x.toml:8: wifi.wlan.mcs: 3 values, but 2 stations: give one for all or one for each",
        ),
        (
            "mcs = 0\nerror = [0.1, 0.2, 0.3]",
            "x.toml:9: wifi.wlan.error: 3 values, but 2 stations: give one for all or one for each",
        ),
        (
            "mcs = [0, 9]\nstandard = \"ac\"",
            "x.toml:8: wifi.wlan.mcs = 9: far: standard = \"ac\" has MCS 0 to 8 with 1 stream at 20 MHz: choose one of them, or \
             another `width` or `streams`",
        ),
        (
            "mcs = 6\nstandard = \"ac\"\nwidth = 80\nstreams = 3",
            "x.toml:8: wifi.wlan.mcs = 6: near: standard = \"ac\" has MCS 0 to 5, 7 to 9 with 3 streams at 80 MHz: choose one \
             of them, or another `width` or `streams`",
        ),
        (
            "mcs = 12",
            "x.toml:8: wifi.wlan.mcs = 12: must be a list, each a whole number in [0, 11] (or \"auto\")",
        ),
        (
            "mcs = 0\nwidth = 80\nstandard = \"n\"",
            "x.toml:9: wifi.wlan.width = 80: must be one of 20, 40 MHz for standard = \"n\"",
        ),
        (
            "mcs = 0\nguard = \"0.4 us\"",
            "x.toml:9: wifi.wlan.guard = \"400 ns\": must be one of \"800 ns\", \"1.6 us\", \"3.2 us\" for standard = \"ax\"",
        ),
        (
            "mcs = 0\nstandard = \"n\"\nstreams = 5",
            "x.toml:10: wifi.wlan.streams = 5: near: must be at most 4 for standard = \"n\"",
        ),
        (
            "mcs = 0\nstandard = \"ac\"\nframes = 128",
            "x.toml:10: wifi.wlan.frames = 128: must be at most 64 for standard = \"ac\"",
        ),
        (
            "mcs = 0\ncw_min = 31\ncw_max = 15",
            "x.toml:10: wifi.wlan.cw_max = 15: must be at least cw_min = 31",
        ),
        (
            "mcs = 0\nbuffer = \"100 B\"",
            "x.toml:9: wifi.wlan.buffer = \"100 B\": must hold the largest packet, \"1500 B\"",
        ),
        ("mcs = 0\nrate = \"1 Mbit/s\"", "x.toml:9: wifi.wlan.rate: unknown key; did you mean \"rates\"?"),
    ] {
        let said = checked(&with(lines)).unwrap_err();
        assert_eq!(said, message);
    }
}

#[test]
fn stations_without_an_mcs_begin_at_other_places_of_a_recording() {
    let folder = std::env::temp_dir().join(format!("aqmlab-wifi-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("walk.csv");
    fs::write(&file, "time,rate_mbps\n0,86.03\n1,17.2\n2,8.6\n3,34.4\n").unwrap();
    let recorded = |more: &str| format!("rates = {{ file = {:?}{more} }}", file.display().to_string());
    let scenario = checked(&with(&recorded(""))).unwrap();
    let rates = |link: usize| [0, 1, 2, 3].map(|s| scenario.links[link].rate_at(Span::s(s)).bits() / 1e6);
    let whole = [86.03, 17.2, 8.6, 34.4];
    assert_eq!([2, 3].map(rates), [whole, whole]);
    assert_eq!([4, 5].map(rates), [[8.6, 34.4, 86.03, 17.2], [8.6, 34.4, 86.03, 17.2]]);
    // One alone begins with the recording, and the other has its MCS.
    let scenario = checked(&with(&format!("mcs = [0, \"auto\"]\n{}", recorded("")))).unwrap();
    assert_eq!((scenario.links[2].changes.len(), scenario.links[4].changes.len()), (0, 4));
    assert_eq!(scenario.links[4].rate_at(Span::ZERO), Rate::bit_per_s(86_030_000));
    for (lines, message) in [
        (
            format!("mcs = 3\n{}", recorded("")),
            "x.toml:9: wifi.wlan.rates: each station has an MCS: set `mcs` of those that follow it to \"auto\", or \
             remove the recording",
        ),
        (
            "mcs = [3, \"auto\"]".to_owned(),
            "x.toml:8: wifi.wlan.mcs: missing: far has no rate; give one MCS for all stations or one for each, or `rates`",
        ),
        (
            recorded(", loss = \"x\""),
            "wifi.wlan.rates.loss = \"x\": a wireless LAN has its own delays and losses: remove it, or use a [[link]]",
        ),
        (
            "rates = { bin = \"1 s\" }".to_owned(),
            "x.toml:8: wifi.wlan.rates: needs a `file`: CSV, or a packet-delivery trace of Mahimahi",
        ),
    ] {
        let said = checked(&with(&lines)).unwrap_err();
        assert!(said.contains(message), "{said}\n{message}");
    }
    for (rate, message) in [
        (
            "0.9",
            "wifi.wlan.rates: has 900 kbit/s: must be at least 1 Mbit/s at any time; remove the lines below it",
        ),
        (
            "86030",
            "has 86.03 Gbit/s: must be at most 143.382352 Mbit/s, the highest of standard = \"ax\" for near",
        ),
    ] {
        fs::write(&file, format!("time,rate_mbps\n0,86.03\n1,{rate}\n2,1\n")).unwrap();
        let said = checked(&with(&recorded(""))).unwrap_err();
        assert!(said.contains(message), "{said}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn names_of_nodes_and_links_are_checked() {
    let said = |old: &str, new: &str| checked(&GOOD.replace(old, new)).unwrap_err();
    assert_eq!(said("ap = \"ap\"\n", ""), "x.toml:4: wifi.wlan.ap: missing: must be the name of a node");
    assert_eq!(
        said("stations = [\"near\", \"far\"]\n", ""),
        "x.toml:4: wifi.wlan.stations: missing: must be the names of the nodes that are stations"
    );
    assert_eq!(
        said("stations = [\"near\", \"far\"]", "stations = [\"near\", \"near\"]"),
        "x.toml:7: wifi.wlan.stations = \"near\": must be another node than the access point and each other station"
    );
    assert_eq!(
        said("stations = [\"near\", \"far\"]", "stations = [\"near\", \"fa.r\"]"),
        "x.toml:7: wifi.wlan.stations = \"fa.r\": must be made of letters, digits, \"-\" and \"_\""
    );
    assert_eq!(
        said("name = \"wlan\"", "name = \"server-ap\""),
        "x.toml:5: wifi.server-ap.name = \"server-ap\": its link \"server-ap\" would be another of this name"
    );
    let mcs = said("stations = [\"near\", \"far\"]", "stations = [\"near\", \"far\", \"back\"]");
    assert_eq!(
        mcs,
        "x.toml:8: wifi.wlan.mcs: 2 values, but 3 stations: back has none; give one for all or one for each"
    );
}
