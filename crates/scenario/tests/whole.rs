//! Whole files: their meaning, the effect of changes, and that writing and reading preserve everything.

use aqm::aqm::AnyParams;
use aqm::params::{Field as _, Value};
use aqm::unit::{Bytes, Limit, Rate, Span};
use proptest::prelude::*;
use scenario::Distribution;
use scenario::model::{Clock, Congestion, EcnPath, Flavour, Gilbert, Loss, Tcp, TrafficKind, Transfer};
use scenario::{Document, Scenario, estimate};
use std::path::{Path, PathBuf};

const EXP1: &str = include_str!("../../../papers/aqmlab_papers/lred/exp1.toml");
const PARKING_LOT: &str = include_str!("../../../python/aqmlab/library/parking-lot.toml");

fn parse(text: &str) -> Document {
    Document::parse(text, "x.toml").unwrap_or_else(|problems| panic!("{problems}"))
}

fn check(document: &Document) -> Scenario {
    document.check().unwrap_or_else(|problems| panic!("{problems}"))
}

fn changed(text: &str, settings: &[(&str, &str)]) -> Document {
    let mut document = parse(text);
    for (path, value) in settings {
        document.set_text(path, value).unwrap_or_else(|problem| panic!("{problem}"));
    }
    document
}

/// The result of `check` on `text` with these settings.
fn problems(text: &str, settings: &[(&str, &str)]) -> String {
    changed(text, settings).check().map_or_else(|problems| problems.to_string(), |_| "fine".to_owned())
}

fn aqm(name: &str, values: &[(&str, Value)]) -> AnyParams {
    let mut params = AnyParams::of(name).unwrap();
    for (key, value) in values {
        params.set(key, value).unwrap();
    }
    params
}

/// Whether a file is no scenario, but what several of them extend.
fn is_part(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('_'))
}

fn shipped() -> Vec<PathBuf> {
    let roots = ["../../python/aqmlab/library", "../../papers/aqmlab_papers"];
    let roots = roots.map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root));
    let (mut folders, mut files) = (roots.to_vec(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") && !is_part(&path) {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn every_shipped_scenario_is_right_and_survives_being_written() {
    let files = shipped();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        let document = Document::load(&file).unwrap();
        let scenario = check(&document);
        assert!(!scenario.general.title.is_empty(), "{}", file.display());
        assert!(estimate(&scenario).packets < 1e8, "{}", file.display());
        assert_eq!(check(&parse(&document.to_toml())), scenario);
    }
}

#[test]
fn a_dumbbell_becomes_hosts_on_both_sides_of_a_bottleneck() {
    let scenario = check(&parse(EXP1));
    assert_eq!(scenario.nodes.len(), 2 + 2 * 5);
    assert_eq!(scenario.links.len(), 2 * (1 + 2 * 5));
    let link = |name: &str| scenario.links.iter().find(|link| link.name == name).unwrap();
    let ends = |name: &str| [link(name).from, link(name).to].map(|node| &*scenario.nodes[node]);
    assert_eq!(scenario.links[scenario.observed].name, "bottleneck");
    assert_eq!(ends("bottleneck"), ["r1", "r2"]);
    assert_eq!(ends("bottleneck:reverse"), ["r2", "r1"]);
    assert_eq!(ends("sender2"), ["sender2", "r1"]);
    assert_eq!(ends("sender2:reverse"), ["r1", "sender2"]);
    assert_eq!(ends("receiver5"), ["r2", "receiver5"]);
    assert_eq!(ends("receiver5:reverse"), ["receiver5", "r2"]);

    let bottleneck = link("bottleneck");
    assert_eq!(bottleneck.aqm, Some(aqm("lred", &[("q0", Value::Integer(100))])));
    assert_eq!((bottleneck.buffer, bottleneck.packet), (Limit::Packets(200), Bytes(500)));
    let back = link("bottleneck:reverse");
    assert_eq!(
        (back.rate, back.delay, back.buffer),
        (bottleneck.rate, bottleneck.delay, Limit::Packets(5000))
    );
    assert_eq!(back.aqm, None);
    let access = [link("sender3"), link("sender3:reverse"), link("receiver3"), link("receiver3:reverse")];
    let expected = [2_500, 2_500, 100_000, 100_000]
        .map(|us| (Rate::mbit_per_s(100), Distribution::Fixed(Span::us(us)), Limit::Packets(5000)));
    assert_eq!(access.map(|link| (link.rate, link.delay, link.buffer)), expected);
}

#[test]
fn an_entry_may_have_hosts_of_its_own() {
    let text = "[dumbbell]\ndelay = \"2 ms\"\nhosts = 2\n[[traffic]]\nname = \"near\"\nsender_delay = \"5 ms\"\n\
                [[traffic]]\nsender_delay = [\"10 ms\", \"20 ms\", \"80 ms\"]\nreceiver_delay = \"1 ms\"\n\
                from = \"receivers\"\nto = \"senders\"\n[[traffic]]\nname = \"shared\"\n\
                [[traffic]]\nname = \"guest\"\nfrom = \"near.sender1\"\n";
    let scenario = check(&parse(text));
    let hosts = |nodes: &[usize]| {
        let host = |&node: &usize| {
            let link = scenario.links.iter().find(|link| link.from == node).unwrap();
            assert_eq!(link.rate, Rate::mbit_per_s(100));
            format!("{} {}", scenario.nodes[node], link.delay)
        };
        nodes.iter().map(host).collect::<Vec<_>>()
    };
    let each = scenario.traffic.iter().map(|entry| [hosts(&entry.from), hosts(&entry.to)]);
    let expected = [
        [vec!["near.sender1 5 ms", "near.sender2 5 ms"], vec!["receiver1 10 ms", "receiver2 10 ms"]],
        [
            vec!["2.receiver1 1 ms", "2.receiver2 1 ms"],
            vec!["2.sender1 10 ms", "2.sender2 20 ms", "2.sender3 80 ms"],
        ],
        [vec!["sender1 2.5 ms", "sender2 2.5 ms"], vec!["receiver1 10 ms", "receiver2 10 ms"]],
        [vec!["near.sender1 5 ms"], vec!["receiver1 10 ms", "receiver2 10 ms"]],
    ];
    assert_eq!(each.collect::<Vec<_>>(), expected);
}

#[test]
fn flows_are_dealt_out_so_that_every_delay_meets_every_other() {
    let settings = [
        ("dumbbell.sender_delay", "['1 ms', '2 ms']"),
        ("dumbbell.receiver_delay", "['1 ms', '3 ms', '5 ms']"),
    ];
    let scenario = check(&changed(EXP1, &settings));
    let traffic = &scenario.traffic[0];
    assert_eq!((traffic.from.len(), traffic.to.len()), (6, 6));
    let delay = |from: usize, to: usize| {
        let between = |link: &&scenario::model::Link| link.from == from || link.to == to;
        let links = scenario.links.iter().filter(between).filter(|link| !link.name.ends_with(":reverse"));
        links.map(|link| link.delay.mean() * 1e3).map(|ms| ms.round() as u32).collect::<Vec<_>>()
    };
    let pairs: Vec<_> = (0..6).map(|j| delay(traffic.from[j % 6], traffic.to[j % 6])).collect();
    assert_eq!(pairs, [[1, 1], [2, 3], [1, 5], [2, 1], [1, 3], [2, 5]]);
}

#[test]
fn traffic_from_receivers_to_senders_takes_the_reverse_path() {
    let forth = check(&parse(EXP1));
    let back = check(&changed(EXP1, &[("traffic.long.from", "receivers"), ("traffic.long.to", "senders")]));
    assert_eq!((&back.traffic[0].from, &back.traffic[0].to), (&forth.traffic[0].to, &forth.traffic[0].from));
}

#[test]
fn a_link_beside_a_dumbbell_adds_a_node() {
    let more = "[[link]]\nname = \"side\"\nfrom = \"side\"\nto = \"r1\"\n[[traffic]]\nfrom = \"side\"\nto = [\"receiver1\", \"receivers\"]\n";
    let scenario = check(&parse(&format!("{EXP1}{more}")));
    let names = |nodes: &[usize]| nodes.iter().map(|&node| scenario.nodes[node].clone()).collect::<Vec<_>>();
    assert_eq!(names(&scenario.traffic[1].from), ["side"]);
    assert_eq!(names(&scenario.traffic[1].to).len(), 6);
    assert_eq!(scenario.traffic[1].name, "2");
    assert_eq!(scenario.links[scenario.observed].name, "bottleneck");
}

#[test]
fn without_an_aqm_the_bottleneck_is_drop_tail_and_observed() {
    let scenario = check(&parse("[dumbbell]\n[[traffic]]\n"));
    assert_eq!(scenario.links[scenario.observed].aqm, AnyParams::of("droptail"));
}

#[test]
fn each_direction_of_a_link_has_its_own_rate_buffer_and_algorithm() {
    let text = "[[link]]\nfrom='a'\nto='b'\nreverse_rate='1 Mbit/s'\nreverse_buffer='9 packets'\nreverse_aqm='pi:q0=7'\n\
                [[traffic]]\nfrom='b'\nto='a'\n";
    let scenario = check(&parse(text));
    let [forth, back] = &scenario.links[..] else { panic!("two links") };
    assert_eq!((&*forth.name, &*back.name), ("a-b", "a-b:reverse"));
    assert_eq!((forth.rate, forth.buffer, &forth.aqm), (Rate::mbit_per_s(100), Limit::Packets(5000), &None));
    assert_eq!((back.rate, back.buffer), (Rate::mbit_per_s(1), Limit::Packets(9)));
    assert_eq!(back.aqm, Some(aqm("pi", &[("q_ref", Value::Integer(7))])));
    assert_eq!(scenario.observed, 1, "the first link with an algorithm");
}

#[test]
fn a_half_duplex_link_is_an_ethernet_with_a_queue_in_both_directions_and_is_not_observed_unasked() {
    let text = "[[link]]\nname = \"lan\"\nfrom = \"a\"\nto = \"b\"\nhalf_duplex = \"1 us\"\n[[link]]\nname = \"wan\"\n\
                from = \"b\"\nto = \"c\"\naqm = \"codel\"\n[[traffic]]\nfrom = \"a\"\nto = \"c\"\n";
    let scenario = check(&parse(text));
    assert_eq!(scenario.links[scenario.observed].name, "wan");
    for link in &scenario.links[..2] {
        let framing = link.framing.as_ref().map(|framing| framing.wire(0).length(1500));
        assert_eq!((link.half_duplex, framing), (Some(Span::us(1)), Some(1538)), "{}", link.name);
        assert_eq!(link.aqm.as_ref().map(AnyParams::name), Some("droptail"), "{}", link.name);
    }
    assert!(scenario.links[2].half_duplex.is_none() && scenario.links[3].aqm.is_none());
    let hosts = check(&parse("[dumbbell]\naccess_half_duplex = \"0.5 us\"\n[[traffic]]\n"));
    assert_eq!(
        hosts.links.iter().filter(|link| link.half_duplex.is_some()).count(),
        hosts.links.len() - 2,
        "all but the bottleneck's"
    );
}

#[test]
fn a_tcp_is_a_flavour_a_preset_or_a_table_with_the_preset_first() {
    let tcp = |text: &str| match &check(&changed(EXP1, &[("traffic.long.tcp", text)])).traffic[0].kind {
        TrafficKind::Ftp(tcp) => tcp.clone(),
        other => panic!("{other:?}"),
    };
    let ns2 = Tcp::preset("ns2.35").unwrap();
    assert_eq!(tcp("sack"), Tcp { flavour: Flavour::Sack, ..Tcp::default() });
    assert_eq!(tcp("ns2.35"), ns2);
    let linux = Tcp::preset("linux").unwrap();
    assert_eq!(tcp("cubic:beta=0.8"), Tcp { beta: 0.8, ..linux.clone() });
    assert_eq!(tcp("linux:congestion=bbr"), Tcp { congestion: Congestion::Bbr, ..linux });
    assert_eq!(tcp("newreno:ecn=true"), Tcp { ecn: true, ..Tcp::default() });
    assert_eq!(tcp("ns2.35:max_window=20"), Tcp { max_window: 20, ..ns2.clone() });
    assert_eq!(tcp("{ max_window = 20, preset = 'ns2.35' }"), Tcp { max_window: 20, ..ns2 });
}

#[test]
fn a_tcp_without_a_preset_is_linux_or_with_a_flavour_that_of_its_rfcs() {
    let tcp = |keys: &str| match check(&parse(&format!("[dumbbell]\n[[traffic]]\n{keys}\n")))
        .traffic
        .remove(0)
        .kind
    {
        TrafficKind::Ftp(tcp) => tcp,
        other => panic!("{other:?}"),
    };
    let (linux, classic) = (Tcp::preset("linux").unwrap(), Tcp::preset("rfc5681").unwrap());
    assert_ne!(linux, classic);
    assert_eq!(tcp(""), linux);
    assert_eq!(tcp("tcp = {}"), linux);
    assert_eq!(tcp("tcp = { max_window = 100 }"), Tcp { max_window: 100, ..linux.clone() });
    assert_eq!(tcp("tcp = 'newreno'"), classic);
    assert_eq!(tcp("tcp = 'rack'"), Tcp::preset("rfc").unwrap());
    assert_eq!(
        tcp("tcp = { flavour = 'newreno', max_window = 100 }"),
        Tcp { max_window: 100, ..classic.clone() }
    );
    assert_eq!(
        tcp("tcp = { preset = 'linux', flavour = 'newreno', congestion = 'reno' }"),
        Tcp { flavour: Flavour::NewReno, congestion: Congestion::Reno, ..linux }
    );
    assert_eq!(classic, Tcp::default());
}

#[test]
fn the_clock_is_that_of_ns2_where_a_preset_of_it_is_used() {
    let clock = |tcp: &str, more: &[(&str, &str)]| {
        check(&changed(EXP1, &[&[("traffic.long.tcp", tcp)], more].concat())).clock
    };
    assert_eq!(clock("ns2.35:max_window=20", &[]), Clock::Double);
    assert_eq!(clock("newreno", &[]), Clock::Integer);
    assert_eq!(clock("newreno", &[("clock", "double")]), Clock::Double);
    assert_eq!(clock("ns2.35", &[("clock", "integer")]), Clock::Integer);
}

#[test]
fn the_last_packet_sticks_out_of_a_buffer_of_bytes_where_it_does_in_ns2() {
    let buffer = |aqm: &str, tcp: &str, more: &[(&str, &str)]| {
        let settings = [("aqm", aqm), ("traffic.long.tcp", tcp), ("dumbbell.buffer", "100 kB")];
        let scenario = check(&changed(EXP1, &[&settings, more].concat()));
        [&scenario.links[scenario.observed], &scenario.links[2]].map(|link| link.buffer)
    };
    let (fits, sticks_out) = (Limit::Bytes(100_000), Limit::BytesBefore(100_000));
    let access = Limit::Packets(5000);
    for aqm in ["pi:bytes=true", "red:preset=ns2.35", "ared:preset=ns2.35"] {
        assert_eq!(buffer(aqm, "ns2.35", &[]), [sticks_out, access], "{aqm}");
        assert_eq!(buffer(aqm, "rfc", &[]), [fits, access], "{aqm}");
        assert_eq!(buffer(aqm, "ns2.35", &[("dumbbell.buffer_admission", "fits")])[0], fits, "{aqm}");
        let packets = [("dumbbell.buffer", "200 packets"), ("dumbbell.buffer_admission", "sticks-out")];
        assert_eq!(buffer(aqm, "ns2.35", &packets)[0], Limit::Packets(200), "{aqm}");
    }
    for aqm in ["pi:bytes=false", "droptail", "rem:bytes=true", "avq"] {
        assert_eq!(buffer(aqm, "ns2.35", &[])[0], fits, "{aqm}");
        assert_eq!(buffer(aqm, "rfc", &[("dumbbell.buffer_admission", "ns2")])[0], fits, "{aqm}");
        assert_eq!(
            buffer(aqm, "rfc", &[("dumbbell.buffer_admission", "sticks-out")])[0],
            sticks_out,
            "{aqm}"
        );
    }
}

#[test]
fn a_resolved_scenario_keeps_the_rule_of_ns2_for_buffers_of_bytes() {
    let admission = |settings: &[(&str, &str)]| {
        let document = changed(EXP1, settings);
        let json = document.to_json().unwrap();
        let resolved: toml::Table = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(check(&parse(&resolved.to_string())), check(&document), "{settings:?}");
        json["dumbbell"]["buffer_admission"].as_str().unwrap().to_owned()
    };
    let ns2 = [("traffic.long.tcp", "ns2.35"), ("aqm", "red:preset=ns2.35"), ("dumbbell.buffer", "1 s")];
    assert_eq!(admission(&ns2), "ns2");
    // The reverse direction has drop-tail, from which no packet of ns-2 sticks out.
    assert_eq!(admission(&[&ns2[..], &[("dumbbell.access_buffer", "100 kB")]].concat()), "ns2");
    // Where the rule changes nothing, the keys of stored runs stay as they are.
    assert_eq!(admission(&[&ns2[..], &[("dumbbell.buffer", "200 packets")]].concat()), "auto");
    assert_eq!(admission(&[&ns2[..], &[("aqm", "droptail")]].concat()), "auto");
    assert_eq!(admission(&[&ns2[..], &[("traffic.long.tcp", "rfc")]].concat()), "auto");
}

#[test]
fn hosts_may_be_many_each_with_a_delay_of_its_own() {
    let settings = [("dumbbell.hosts", "40"), ("dumbbell.receiver_delay", "uniform(5 ms, 20 ms)")];
    let scenario = check(&changed(EXP1, &settings));
    assert_eq!(scenario.traffic[0].to.len(), 40);
    let link = scenario.links.iter().find(|link| link.name == "receiver40").unwrap();
    assert_eq!(link.delay, Distribution::Uniform(Span::ms(5), Span::ms(20)));
}

#[test]
fn the_reverse_path_of_a_dumbbell_has_its_own_keys() {
    let settings = [
        ("dumbbell.loss", "0.01"),
        ("dumbbell.reverse_loss", "{ bad_to_good = 0.5 }"),
        ("dumbbell.ecn_path", "clear-marks"),
        ("dumbbell.reverse_ecn_path", "refuse"),
        ("dumbbell.reverse_rate", "1 Mbit/s"),
        ("dumbbell.changes", "['5 s: 1 Mbit/s', '6 s: 2 Mbit/s']"),
        ("dumbbell.jitter.deviation", "2 ms"),
        ("dumbbell.reverse_reorder", "{ gap = 5 }"),
        ("dumbbell.delays", "5 s: 3 ms"),
        ("dumbbell.reverse_outages", "5 s..6 s"),
        ("reverse_aqm", "pi"),
    ];
    let document = changed(EXP1, &settings);
    let scenario = check(&document);
    let [there, back] = [&scenario.links[0], &scenario.links[1]];
    assert_eq!(there.loss, Some(Loss::Bernoulli(0.01)));
    assert_eq!(back.loss, Some(Loss::Gilbert(Gilbert { bad_to_good: 0.5, ..Gilbert::default() })));
    assert_eq!([there.ecn_path, back.ecn_path], [EcnPath::ClearMarks, EcnPath::Refuse]);
    assert_eq!((back.rate, back.buffer), (Rate::mbit_per_s(1), there.buffer));
    assert_eq!((there.changes.len(), back.changes.len()), (2, 0));
    let varied = [there, back].map(|link| link.variation.as_deref().unwrap());
    assert_eq!(varied.map(|varied| varied.jitter.is_some()), [true, false]);
    assert_eq!(varied.map(|varied| varied.reorder.is_some()), [false, true]);
    assert_eq!(varied.map(|varied| varied.delays.len()), [1, 1], "a cable has one delay, unless it is said");
    assert_eq!([there, back].map(|link| link.outages.len()), [0, 1]);
    assert_eq!(back.aqm.as_ref().map(AnyParams::name), Some("pi"));
    // The scenario written in full has the same meaning.
    let full = document.to_json().unwrap();
    assert_eq!(full["dumbbell"]["reverse_loss"]["bad_to_good"], 0.5);
    assert_eq!(full["reverse_aqm"]["name"], "pi");
    // A link whose rate changes is measured.
    let chain =
        "[[link]]\nfrom = 'a'\nto = 'b'\nchanges = '1 s: 1 Mbit/s'\n[[traffic]]\nfrom = 'a'\nto = 'b'\n";
    assert!(check(&parse(chain)).links[0].aqm.is_some());
}

#[test]
fn a_transfer_lasts_for_its_size_or_until_its_stop() {
    let kind = |more: &[(&str, &str)]| {
        let settings = [&[("traffic.long.kind", "transfer"), ("traffic.long.tcp", "reno")], more].concat();
        check(&changed(EXP1, &settings)).traffic.remove(0).kind
    };
    let tcp = Tcp { flavour: Flavour::Reno, ..Tcp::default() };
    let transfer = |request| Transfer { size: Distribution::Fixed(Bytes(1_000_000)), request };
    let size = ("traffic.long.size", "1 MB");
    assert_eq!(kind(&[size]), TrafficKind::Transfer(tcp.clone(), transfer(None)));
    assert_eq!(
        kind(&[size, ("traffic.long.request", "400 B")]),
        TrafficKind::Transfer(tcp.clone(), transfer(Some(Bytes(400))))
    );
    assert_eq!(kind(&[("traffic.long.stop", "9 s")]), TrafficKind::Ftp(tcp));
}

#[test]
fn an_algorithm_starts_from_its_preset_whatever_the_order_of_keys() {
    let with = |spec: &str| {
        let mut document = parse(EXP1);
        document.set_aqm(spec).unwrap();
        check(&document).links[0].aqm.clone().unwrap()
    };
    let survey = AnyParams::of("pi").unwrap().preset("survey").unwrap();
    assert_ne!(survey, AnyParams::of("pi").unwrap());
    assert_eq!(with("pi:preset=survey"), survey);
    let mut nearer = survey;
    nearer.set("q_ref", &Value::Integer(3)).unwrap();
    assert_eq!(with("pi: q0 = 3, preset = survey"), nearer);
}

#[test]
fn settings_reach_what_they_name() {
    let settings = [
        ("seed", "7"),
        ("title", "a = \"b\" # c"),
        ("aqm.q0", "60"),
        ("dumbbell.buffer", "100 kB"),
        ("traffic.long.count", "3"),
        ("traffic.1.packet_size", "1000 B"),
        ("traffic.long.tcp.min_rto", "0.3 s"),
        ("response.band", "0.5"),
    ];
    let scenario = check(&changed(EXP1, &settings));
    assert_eq!((scenario.general.seed, &*scenario.general.title), (7, "a = \"b\" # c"));
    assert_eq!(scenario.links[0].aqm, Some(aqm("lred", &[("q0", Value::Integer(60))])));
    assert_eq!((scenario.links[0].buffer, scenario.links[0].packet), (Limit::Bytes(100_000), Bytes(1000)));
    assert_eq!((scenario.traffic[0].count, scenario.response.band), (3, 0.5));
    let TrafficKind::Ftp(tcp) = &scenario.traffic[0].kind else { panic!("ftp") };
    assert_eq!(*tcp, Tcp { min_rto: Span::ms(300), ..Tcp::preset("ns2.35").unwrap() });
}

#[test]
fn a_setting_opens_what_was_written_as_text_and_replaces_its_synonym() {
    let graph = changed(PARKING_LOT, &[("link.second.aqm.q0", "9"), ("link.second.rate", "5 Mbit/s")]);
    let second = check(&graph).links.into_iter().find(|link| link.name == "second").unwrap();
    assert_eq!(
        (second.aqm, second.rate),
        (Some(aqm("pi", &[("q_ref", Value::Integer(9))])), Rate::mbit_per_s(5))
    );
    let text = EXP1.replace("tcp = { preset = \"ns2.35\", flavour = \"newreno\" }", "tcp = \"ns2.35\"");
    let TrafficKind::Ftp(tcp) =
        check(&changed(&text, &[("traffic.long.tcp.ecn", "true")])).traffic.remove(0).kind
    else {
        panic!("ftp")
    };
    assert_eq!(tcp, Tcp { ecn: true, ..Tcp::preset("ns2.35").unwrap() });
}

#[test]
fn beside_a_dumbbell_a_new_algorithm_is_that_of_the_observed_link() {
    let link = "[[link]]\nname = \"router\"\nfrom = \"r2\"\nto = \"home\"\nrate = \"40 Mbit/s\"\n";
    let text = format!("{EXP1}\n{link}aqm = \"codel\"\nreverse_aqm = \"red\"\n");
    let names = |observed: &str| {
        let mut document = parse(&text);
        document.set_text("observe", observed).unwrap();
        document.set_aqm("pie").unwrap();
        document.set_text("aqm.target", "7 ms").unwrap();
        assert_eq!(document.base_unit("aqm.target"), Some("s"));
        let scenario = check(&document);
        let of = |name| scenario.links.iter().find(|link| link.name == name).unwrap().aqm.clone().unwrap();
        ["bottleneck", "router", "router:reverse"].map(of)
    };
    let pie = aqm("pie", &[("target", Value::Text("7 ms".into()))]);
    let own = parse(&text).check().unwrap().links[0].aqm.clone().unwrap();
    for observed in ["router", "router:reverse"] {
        assert_eq!(names(observed), [own.clone(), pie.clone(), pie.clone()], "{observed}");
    }
    assert_eq!(names("bottleneck"), [pie, aqm("codel", &[]), aqm("red", &[])]);
    // The uplink alone.
    let mut document = parse(&text);
    document.set_text("observe", "router").unwrap();
    document.set_text("reverse_aqm.min_th", "7").unwrap();
    let red = check(&document).links.into_iter().find(|link| link.name == "router:reverse").unwrap().aqm;
    assert_eq!(red, Some(aqm("red", &[("min_th", Value::Integer(7))])));
}

#[test]
fn a_new_algorithm_is_that_of_the_entry_that_has_the_observed_link() {
    let [wlan, other] = [("wlan", "x"), ("wlan-b", "y")].map(|(name, station)| {
        let head = format!("[[wifi]]\nname = \"{name}\"\nap = \"r2\"\n");
        format!("{head}stations = [\"{station}1\", \"{station}\"]\nmcs = 3\naqm = \"codel\"\n")
    });
    let nameless = "[[link]]\nfrom = \"r2\"\nto = \"home\"\nrate = \"40 Mbit/s\"\naqm = \"codel\"\n";
    for (entries, observed) in [
        (format!("{other}{wlan}"), "wlan-x"),
        (format!("{wlan}{other}"), "wlan-b-y"),
        (nameless.to_owned(), "r2-home"),
    ] {
        let mut document = parse(&format!("{EXP1}\n{entries}"));
        document.set_text("observe", observed).unwrap();
        document.set_aqm("pie").unwrap();
        let scenario = check(&document);
        assert_eq!(&*scenario.discipline, "pie", "{observed}");
        let changed =
            scenario.links.iter().filter(|link| link.aqm.as_ref().is_some_and(|aqm| aqm.name() == "pie"));
        let cable = |name: &str| name.trim_end_matches(":reverse").rsplit_once('-').unwrap().0.to_owned();
        assert!(changed.map(|link| cable(&link.name)).all(|name| name == cable(observed)), "{observed}");
    }
}

#[test]
fn a_new_algorithm_replaces_the_old_one_whole_and_in_a_graph_every_one() {
    let mut document = parse(EXP1);
    document.set_aqm("pi:q_ref=100").unwrap();
    assert_eq!(check(&document).links[0].aqm, Some(aqm("pi", &[("q_ref", Value::Integer(100))])));
    let mut document = parse(PARKING_LOT);
    document.set_aqm("lred:q0=50").unwrap();
    let scenario = check(&document);
    let managed: Vec<_> = scenario.links.iter().filter(|link| link.aqm.is_some()).collect();
    assert_eq!(managed.iter().map(|link| &*link.name).collect::<Vec<_>>(), ["first", "second", "third"]);
    assert!(managed.iter().all(|link| link.aqm == Some(aqm("lred", &[("q0", Value::Integer(50))]))));
}

#[test]
fn an_algorithm_of_the_files_name_has_its_defaults_too() {
    let of = |table: &str| {
        let mut document = parse(&EXP1.replace("[aqm]\nname = \"lred\"\nq0 = 100", table));
        document.set_aqm("pie").unwrap();
        check(&document).links[0].aqm.clone()
    };
    let file = "[aqm]\nname = \"pie\"\npreset = \"linux\"\ntarget = \"100 ms\"";
    assert_eq!(of(file), AnyParams::of("pie"));
    assert_eq!(of(file), of("[aqm]\nname = \"codel\""));
}

#[test]
fn a_setting_that_another_would_replace_is_found_by_whatever_name() {
    let replaced = |text: &str, aqm: &str, first: (&str, &str), path: &str| {
        let mut document = parse(text);
        if !aqm.is_empty() {
            document.set_aqm(aqm).unwrap();
        }
        if !first.0.is_empty() {
            document.set_text(first.0, first.1).unwrap();
        }
        document.replaced(path)
    };
    let none = ("", "");
    for (text, aqm, first, path, found) in [
        (EXP1, "", none, "traffic.long.count", None),
        (EXP1, "", ("traffic.long.count", "3"), "traffic.long.count", Some("--set traffic.long.count=3")),
        (EXP1, "", ("traffic.1.count", "3"), "traffic.long.count", Some("--set traffic.1.count=3")),
        (EXP1, "", ("traffic.1.count", "3"), "traffic.long.tcp.min_rto", None),
        // The whole and a part of it.
        (
            EXP1,
            "",
            ("traffic.long.tcp.min_rto", "1 s"),
            "traffic.long.tcp",
            Some("--set traffic.long.tcp.min_rto=1 s"),
        ),
        (EXP1, "", ("traffic.long.tcp", "rfc"), "traffic.long.tcp.min_rto", None),
        (
            EXP1,
            "",
            ("traffic.long.tcp", "rfc:min_rto=1 s"),
            "traffic.long.tcp.min_rto",
            Some("--set traffic.long.tcp=rfc:min_rto=1 s"),
        ),
        (
            EXP1,
            "",
            ("dumbbell", "{rate='5 Mbit/s'}"),
            "dumbbell.rate",
            Some("--set dumbbell={rate='5 Mbit/s'}"),
        ),
        (EXP1, "", ("dumbbell", "{rate='5 Mbit/s'}"), "dumbbell.buffer", None),
        // Two names of a parameter, and one that many links share.
        (
            EXP1,
            "",
            ("traffic.long.tcp", "linux:tcp_friendly=false"),
            "traffic.long.tcp.reno_friendly",
            Some("--set traffic.long.tcp=linux:tcp_friendly=false"),
        ),
        (
            EXP1,
            "",
            ("traffic.long.tcp.reno_friendly", "false"),
            "traffic.long.tcp.tcp_friendly",
            Some("--set traffic.long.tcp.reno_friendly=false"),
        ),
        (EXP1, "pi", ("aqm.q0", "3"), "aqm.q_ref", Some("--set aqm.q0=3")),
        (PARKING_LOT, "", ("aqm.q0", "3"), "link.second.aqm.q_ref", Some("--set aqm.q0=3")),
        (EXP1, "pi:q0=3", none, "aqm.q_ref", Some("--aqm pi:q0=3")),
        (EXP1, "pi:q0=3", none, "aqm.a", None),
        // What is set everywhere may be otherwise at one place.
        (PARKING_LOT, "pi:q0=3", none, "link.second.aqm.q_ref", None),
        (EXP1, "", ("sweep.vary.aqm.q0", "1,2"), "sweep.vary.aqm.q0", Some("--set sweep.vary.aqm.q0=1,2")),
    ] {
        assert_eq!(replaced(text, aqm, first, path).as_deref(), found, "{aqm} {first:?} {path}");
    }
}

#[test]
fn problems_of_the_command_line_name_it() {
    assert_eq!(
        problems(EXP1, &[("aqm.beta", "-1")]),
        "--set aqm.beta=-1: aqm.beta = -1: must be in (0, 10], per packet"
    );
    assert_eq!(
        problems(EXP1, &[("dumbbell.buffr", "1")]),
        "--set dumbbell.buffr=1: dumbbell.buffr: unknown key; did you mean \"buffer\"?"
    );
    assert_eq!(
        problems(EXP1, &[("traffic.long.tcp.min_rto", "1")]),
        "--set traffic.long.tcp.min_rto=1: traffic.long.tcp.min_rto = 1: must be a quantity like \"2.5 ms\" in [0.001, 60], s; units: s, ms, us, ns, min, h"
    );
    let mut document = parse(EXP1);
    document.set("aqm.beta", Value::Float(f64::NAN)).unwrap();
    document.set("seed", Value::Integer(-1)).unwrap();
    let found = document.check().unwrap_err().to_string();
    assert_eq!(
        found,
        "--set seed=-1: seed = -1: must be a whole number in [0, 9e15]\n\
         --set aqm.beta=NaN: aqm.beta = NaN: must be in (0, 10], per packet"
    );
    document.set_aqm("lred:beta=-1").unwrap();
    let found = document.check().unwrap_err().to_string();
    assert!(found.ends_with("--aqm lred:beta=-1: aqm.beta = -1: must be in (0, 10], per packet"), "{found}");
}

#[test]
fn an_unknown_key_suggests_one_that_takes_the_value_and_a_mistake_of_all_links_is_told_once() {
    let refused = |spec: &str| {
        let mut document = parse(PARKING_LOT);
        document.set_aqm(spec).unwrap();
        document.check().unwrap_err().to_string()
    };
    let of = |spec: &str, key: &str, hint: &str| {
        format!("--aqm {spec}: link.first.aqm.{key}: unknown key; did you mean {hint:?}?")
    };
    for (spec, key, hint) in [
        // The nearest name is CeThreshold, a time.
        ("step:threshold=30", "threshold", "k"),
        ("step:threshold=1 ms", "threshold", "CeThreshold"),
        ("codel:targt=5", "targt", "target"),
        ("pi:q_rf=50", "q_rf", "q_ref"),
    ] {
        assert_eq!(refused(spec), of(spec, key, hint));
    }
}

#[test]
fn paths_that_lead_nowhere_are_refused() {
    let refused = |text: &str, path: &str| parse(text).set_text(path, "1").unwrap_err().to_string();
    assert_eq!(
        refused(EXP1, "traffic.lng.count"),
        "--set traffic.lng.count=1: traffic.lng: no such entry; did you mean \"long\"?"
    );
    assert_eq!(
        refused(EXP1, "traffic.2.count"),
        "--set traffic.2.count=1: traffic.2: no such entry; known: long"
    );
    assert_eq!(
        refused(EXP1, "link.bottleneck.rate"),
        "--set link.bottleneck.rate=1: link.bottleneck: no such entry; there is none"
    );
    assert_eq!(
        refused(EXP1, "traffic.long"),
        "--set traffic.long=1: traffic.long: name one of its keys, like traffic.long.KEY"
    );
    assert_eq!(
        refused(EXP1, "traffic"),
        "--set traffic=1: traffic: name the entry and its key, like traffic.NAME.KEY"
    );
    assert_eq!(refused(EXP1, "seed.x"), "--set seed.x=1: seed = 1: not a table, it has no key \"x\"");
    assert_eq!(
        refused(EXP1, "aqm..q0"),
        "--set aqm..q0=1: must be PATH=VALUE with a dotted path like traffic.long.count"
    );
    let refused = |text: &str, spec: &str| parse(text).set_aqm(spec).unwrap_err().to_string();
    assert_eq!(
        refused(EXP1, "pi:100"),
        "--aqm pi:100: aqm = \"pi:100\": must be NAME or NAME:KEY=VALUE,KEY=VALUE"
    );
    let plain = PARKING_LOT.replace("aqm = \"pi:q_ref=50\"", "");
    assert_eq!(
        refused(&plain, "pi"),
        "--aqm pi: link: no link has an aqm to replace; give one an `aqm` in the file"
    );
}

#[test]
fn the_resolved_scenario_has_every_default_and_canonical_names() {
    let mut document = parse(EXP1);
    document.set_aqm("pi:q0=33").unwrap();
    let json = document.to_json().unwrap();
    assert_eq!(json["aqm"]["q_ref"], 33.0);
    assert_eq!(json["aqm"].get("q0"), None);
    assert_eq!(json["aqm"]["mean_packet"], "auto");
    assert_eq!(json["observe"], "bottleneck");
    assert_eq!(json["traffic"][0]["tcp"]["min_rto"], "200 ms");
    assert_eq!(json["traffic"][0].get("size"), None, "not a transfer's");
    assert_eq!(json["traffic"][0]["tcp"].get("beta"), None, "not Reno's");
    assert_eq!(json["response"]["target"], "auto");
}

#[test]
fn an_inner_algorithm_without_a_name_is_the_present_one() {
    let of = |spec: &str, settings: &[(&str, &str)]| {
        let mut document = parse(EXP1);
        document.set_aqm(spec).unwrap();
        settings.iter().for_each(|(key, value)| document.set_text(key, value).unwrap());
        let read = check(&document).links[0].aqm.clone().unwrap();
        assert_eq!(check(&parse(&document.to_toml())).links[0].aqm.as_ref(), Some(&read), "written out");
        read
    };
    let with = |mut outer: AnyParams, key: &str, inside: &str, set: &[(&str, Value)]| {
        let mut params = AnyParams::of(inside).unwrap();
        set.iter().for_each(|(key, value)| params.set(key, value).unwrap());
        outer.set(key, &Box::new(params).value()).unwrap();
        outer
    };
    let target = ("target", Value::Text("7 ms".to_owned()));
    let fq = AnyParams::of("fq").unwrap();
    let ecn = ("ecn", Value::Bool(true));
    let set = [("aqm.aqm.target", "7 ms")];
    assert_eq!(of("fq", &set), with(fq.clone(), "aqm", "codel", std::slice::from_ref(&target)));
    // Values that the outer preset gives to the inner algorithm are kept.
    let fq_codel = fq.preset("codel").unwrap();
    assert_eq!(of("fq_codel", &set), with(fq_codel, "aqm", "codel", &[ecn, target]));
    // The last of several names of a parameter counts, also in an inner algorithm.
    let length = |value| ("q0", Value::Integer(value));
    let redtail = with(AnyParams::of("redtail").unwrap(), "long", "pi", &[length(30)]);
    assert_eq!(of("redtail:long='pi:q_ref=20'", &[("aqm.long.q0", "30")]), redtail);
}

#[test]
fn an_inner_algorithm_is_read_set_and_written_like_any_other() {
    let inside = |lred: &[(&str, Value)]| {
        let name = ("name", Value::Text("lred".to_owned()));
        let entries =
            std::iter::once(&name).chain(lred).map(|(key, value)| ((*key).to_owned(), value.clone()));
        Some(aqm("fq", &[("aqm", Value::Table(entries.collect()))]))
    };
    let of = |document: &Document| check(document).links[0].aqm.clone();
    let twenty = inside(&[("q0", Value::Integer(20))]);
    for spec in ["fq:aqm='lred:q0=20'", "fq:aqm={name='lred',q0=20}", "fq: aqm = \"lred:q0=20\""] {
        let mut document = parse(EXP1);
        document.set_aqm(spec).unwrap();
        assert_eq!(of(&document), twenty, "{spec}");
        // Written in full, as TOML and as JSON, it has the same meaning.
        assert_eq!(of(&parse(&document.to_toml())), twenty, "{spec}");
        let json = document.to_json().unwrap();
        assert_eq!((&json["aqm"]["aqm"]["name"], &json["aqm"]["aqm"]["q0"]), (&"lred".into(), &20.0.into()));
        assert_eq!(of(&parse(&toml::to_string(&json).unwrap())), twenty, "{spec}");
        document.set_text("aqm.aqm.q0", "30").unwrap();
        assert_eq!(of(&document), inside(&[("q0", Value::Integer(30))]), "{spec}");
    }
    // A target in the file, for the whole buffer, does not apply to the queue of each flow.
    let mut document = parse(EXP1);
    document.set_aqm("fq:aqm=lred").unwrap();
    assert_eq!(of(&document), inside(&[]));
    document.set_aqm("fq_codel:flows=16").unwrap();
    let mut codel = AnyParams::of("fq").unwrap().preset("codel").unwrap();
    codel.set("flows", &Value::Integer(16)).unwrap();
    assert_eq!(of(&document), Some(codel));
}

#[test]
fn the_estimate_counts_packets_on_every_link() {
    let packets = |text: &str| estimate(&check(&parse(text))).packets;
    // 1 Mbit/s for 10 s in packets of 1250 B over three links.
    let cbr = "duration='10 s'\n[dumbbell]\n[[traffic]]\nkind='cbr'\nrate='1 Mbit/s'\npacket_size='1250 B'\n";
    assert_eq!(packets(cbr), 3.0 * 1000.0);
    // Ten times 100 segments, with an ACK for every second one.
    let transfer = "duration='99 s'\n[dumbbell]\n[[traffic]]\nkind='transfer'\ncount=10\nsize='119.8 kB'\npacket_size='1250 B'\n";
    assert_eq!(packets(transfer), 3.0 * 1000.0 * 1.5);
    // Whatever the number of flows, they fill the bottleneck of 10 Mbit/s: 2500 packets per second and as many ACKs.
    let exp1 = packets(EXP1);
    assert!((exp1 / (3.0 * 2.0 * 2500.0 * 199.5) - 1.0).abs() < 1e-9, "{exp1}");
}

#[test]
fn the_estimate_counts_slots_of_cells_and_intervals_of_cables() {
    let slots = |text: &str| estimate(&check(&parse(&format!("duration='1 h'\n{text}")))).slots;
    let ping = |from: &str, to: &str| format!("[[traffic]]\nkind='ping'\nfrom='{from}'\nto='{to}'\n");
    let cell = "[[cell]]\nbase='b'\nusers=['u', 'v']\ncqi=7\n";
    assert_eq!(slots(&format!("{cell}{}", ping("b", "u"))), 3600e3);
    assert_eq!(slots(&format!("{cell}slot='0.5 ms'\n{}", ping("b", "u"))), 7200e3);
    let cable = "[[cable]]\ncmts='c'\nmodems=['m']\nframe='1 ms'\nmap='3 ms'\n";
    assert_eq!(slots(&format!("{cable}{}", ping("m", "c"))), 1200e3);
    assert_eq!(slots("[dumbbell]\n[[traffic]]\n"), 0.0);
}

/// Texts of a value for the key, right and wrong.
fn values() -> impl Strategy<Value = (&'static str, String)> {
    let keys = prop::sample::select(vec![
        "seed",
        "title",
        "duration",
        "warmup",
        "aqm",
        "aqm.q0",
        "aqm.beta",
        "aqm.window",
        "dumbbell.rate",
        "dumbbell.buffer",
        "dumbbell.receiver_delay",
        "response.band",
        "record.step",
        "record.series",
        "traffic.long.count",
        "traffic.long.tcp",
        "traffic.long.tcp.ecn",
        "traffic.long.tcp.flavour",
        "traffic.long.start",
        "traffic.long.stop",
        "traffic.long.kind",
        "traffic.long.rate",
        "traffic.long.size",
        "traffic.long.active",
        "traffic.long.lifetime",
        "traffic.long.arrival_rate",
        "traffic.long.off",
        "traffic.long.step",
        "traffic.long.key_every",
        "traffic.long.from",
        "traffic.long.packet_size",
    ]);
    let texts = prop_oneof![
        (0u32..300).prop_map(|n| n.to_string()),
        (0u32..300, prop::sample::select(vec!["s", "ms", "kB", "packets", "Mbit/s", "Hz"]))
            .prop_map(|(n, unit)| format!("{n} {unit}")),
        (0.0..20.0).prop_map(|x: f64| x.to_string()),
        prop::sample::select(vec![
            "auto",
            "true",
            "sack",
            "ns2.35",
            "newreno:ecn=true",
            "pi",
            "rem:b_star=30",
            "red:preset=ns2.35",
            "cbr",
            "transfer",
            "short",
            "web",
            "dash",
            "game",
            "on-off",
            "fgn",
            "voip",
            "video",
            "pareto(2 s, 1.5)",
            "['3 s', '50 s']",
            "['1 ms', '7.25 ms']",
            "uniform(0 s, 3 s)",
            "exponential(1 s)",
            "r1",
            "é\n\"'\\",
            "{ preset = 'ns2.35', ecn = true }",
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|x| x.to_string()),
    ];
    (keys, texts)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        if let Ok(document) = Document::parse(&text, "x.toml") {
            let _ = document.check();
        }
    }

    #[test]
    fn a_file_with_random_bytes_is_read_or_refused(
        parking_lot in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0usize..3), 1..8),
    ) {
        let mut bytes = if parking_lot { PARKING_LOT } else { EXP1 }.as_bytes().to_vec();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match Document::parse(&text, "x.toml") {
            Ok(document) => if let Err(problems) = document.check() {
                prop_assert!(!problems.0.is_empty());
                prop_assert!(problems.0.iter().all(|problem| problem.to_string().starts_with("x.toml:")));
            },
            Err(problems) => prop_assert!(!problems.0.is_empty()),
        }
    }

    #[test]
    fn a_written_scenario_has_the_same_meaning(settings in prop::collection::vec(values(), 1..4)) {
        let mut document = parse(EXP1);
        for (path, text) in &settings {
            // A path below a value that is no table is refused, as it should be.
            let _ = document.set_text(path, text);
        }
        let again = parse(&document.to_toml());
        prop_assert_eq!(again.to_toml(), document.to_toml());
        match (document.check(), again.check()) {
            (Ok(scenario), Ok(copy)) => {
                prop_assert_eq!(&scenario, &copy);
                let json = document.to_json().unwrap();
                let resolved: toml::Table = serde_json::from_value(json.clone()).unwrap();
                let resolved = parse(&resolved.to_string());
                prop_assert_eq!(resolved.check().unwrap(), scenario, "the resolved scenario is a scenario file as well");
                prop_assert_eq!(resolved.to_json().unwrap(), json);
            }
            (Err(problems), Err(others)) => {
                // Only origins differ; the order follows the origins.
                let listed = |problems: &scenario::Problems| {
                    let mut listed: Vec<_> = problems.0.iter().map(|p| (p.path.clone(), p.found.clone(), p.message.clone())).collect();
                    listed.sort();
                    listed
                };
                prop_assert_eq!(listed(&problems), listed(&others));
            }
            (one, other) => prop_assert!(false, "{one:?}\n{other:?}"),
        }
    }
}
