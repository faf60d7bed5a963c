//! Broken files, each with the message that it causes.

use aqm::aqm::{AnyParams, NAMES};
use aqm::params::{Field as _, ParamKind, Params as _, Spec};
use scenario::model::General;
use scenario::tables::KindName;
use scenario::{Document, ProblemKind};
use std::path::{Path, PathBuf};

/// A correct file, to be broken by removing or adding lines.
const GOOD: &str = "\
duration = \"10 s\"
warmup = \"1 s\"
[dumbbell]
rate = \"10 Mbit/s\"
[aqm]
name = \"lred\"
beta = 0.001
[[traffic]]
name = \"long\"
kind = \"ftp\"
";

/// The same network as links.
const GRAPH: &str = "\
[[link]]
name = \"up\"
from = \"a\"
to = \"b\"
aqm = \"lred\"
[[traffic]]
from = \"a\"
to = \"b\"
";

fn messages(text: &str) -> String {
    match Document::parse(text, "x.toml") {
        Ok(document) => document.check().map_or_else(|problems| problems.to_string(), |_| "fine".to_owned()),
        Err(problems) => problems.to_string(),
    }
}

/// `GOOD` with `line` instead of the line that starts like `old`.
fn with(old: &str, line: &str) -> String {
    let start = GOOD.find(old).unwrap_or_else(|| panic!("no line {old}"));
    let end = start + GOOD[start..].find('\n').expect("every line ends");
    format!("{}{line}{}", &GOOD[..start], &GOOD[end..])
}

/// `GOOD` with lines at its end, in the traffic entry.
fn and(lines: &str) -> String {
    format!("{GOOD}{lines}")
}

/// `GOOD` with fair queueing that has `line`.
fn fq(line: &str) -> String {
    GOOD.replace("name = \"lred\"\nbeta = 0.001", &format!("name = \"fq\"\n{line}"))
}

fn graph(lines: &str) -> String {
    format!("{GRAPH}{lines}")
}

#[test]
fn the_files_that_are_broken_below_are_good() {
    assert_eq!(messages(GOOD), "fine");
    assert_eq!(messages(GRAPH), "fine");
}

#[test]
fn a_half_duplex_link_has_no_recorded_rates_in_either_direction() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("half_duplex.csv");
    std::fs::write(&file, "time,rate_mbps\n0,10\n1,5\n2,10\n").unwrap();
    for key in ["rates", "reverse_rates"] {
        let recording = format!("{key} = {{ file = {:?} }}\n", file.to_str().unwrap());
        let said = messages(&GRAPH.replace("aqm =", &format!("half_duplex = \"1 us\"\n{recording}aqm =")));
        let expected = format!(
            "x.toml:6: link.up.{key}: `half_duplex` is Ethernet, of one rate in both directions: remove one of the two keys"
        );
        assert_eq!(said, expected);
    }
}

#[test]
fn a_problem_has_a_kind_a_path_and_a_line() {
    let problems = Document::parse(&and("count = -1\ncolour = 1\n"), "x.toml").unwrap().check().unwrap_err();
    let found: Vec<_> = problems.0.iter().map(|one| (one.kind, &*one.path, one.origin.line())).collect();
    let count = (ProblemKind::Value, "traffic.long.count", Some(11));
    assert_eq!(found, [count, (ProblemKind::Path, "traffic.long.colour", Some(12))]);
    let mut document = Document::parse(GOOD, "x.toml").unwrap();
    let kind = |path: &str, document: &mut Document| document.set_text(path, "1").map_err(|one| one.kind);
    for path in ["traffic.lng.count", "traffic.long", "traffic", "duration.x", "a..b"] {
        assert_eq!(kind(path, &mut document), Err(ProblemKind::Path), "{path}");
    }
    let unread = Document::parse("x = ", "x.toml").unwrap_err();
    assert_eq!((unread.0[0].kind, unread.0[0].origin.file()), (ProblemKind::File, Some("x.toml")));
}

#[test]
fn every_broken_file_gets_its_message() {
    // Lists that grow with the number of names.
    let names = |specs: &[Spec]| specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
    let sections = "extends, dumbbell, link, wifi, cell, cable, aqm, reverse_aqm, traffic, response, record, observe, sweep";
    let known = format!("known: {}, {sections}", names(General::specs()));
    let of_pi = names(AnyParams::of("pi").expect("there is PI").specs());
    let aqms = NAMES.join(", ");
    let ParamKind::Choice(kinds) = KindName::KIND else { panic!("kinds are names") };
    let kinds = kinds.join(", ");
    let cases: &[(String, &str)] = &[
        // One value.
        (with("beta", "beta = -1"), "x.toml:7: aqm.beta = -1: must be in (0, 10], per packet"),
        (with("beta", "beta = nan"), "x.toml:7: aqm.beta = NaN: must be in (0, 10], per packet"),
        (with("beta", "beta = inf"), "x.toml:7: aqm.beta = inf: must be in (0, 10], per packet"),
        (with("beta", "beta = \"small\""), "x.toml:7: aqm.beta = \"small\": must be in (0, 10], per packet"),
        (with("beta", "beta = { x = 1 }"), "x.toml:7: aqm.beta: must be in (0, 10], per packet, not a table"),
        (
            with("duration", "duration = 10"),
            "x.toml:1: duration = 10: must be a quantity like \"2.5 ms\" in (0, 1e7], s; units: s, ms, us, ns, min, h",
        ),
        (
            with("duration", "duration = \"-5 s\""),
            "x.toml:1: duration = \"-5 s\": must be a quantity like \"2.5 ms\" in (0, 1e7], s; units: s, ms, us, ns, min, h",
        ),
        (
            with("rate", "rate = \"1 bit/s\""),
            "x.toml:4: dumbbell.rate = \"1 bit/s\": must be a quantity like \"10 Mbit/s\" in [1000, 1e11], bit/s",
        ),
        (
            and("count = 1_000_000_000_000\n"),
            "x.toml:11: traffic.long.count = 1000000000000: must be a whole number in [0, 1e7], flows",
        ),
        (
            and("packet_size = \"40 B\"\n"),
            "x.toml:11: traffic.long.packet_size = \"40 B\": must be a quantity like \"500 B\" in [41, 65535], bytes (or \"auto\")",
        ),
        (
            and("start = \"uniform(2 s, 1 s)\"\n"),
            "x.toml:11: traffic.long.start = \"uniform(2 s, 1 s)\": must be a quantity like \"1 s\", \
             \"uniform(0 s, 1 s)\", \"exponential(1 s)\" or \"pareto(1 s, 1.5)\" (mean, shape above 1) in [0, 1e7], s; units: s, ms, us, ns, min, h",
        ),
        (
            with("kind", "kind = \"http\""),
            &format!("x.toml:10: traffic.long.kind = \"http\": must be one of {kinds}"),
        ),
        (
            with("[dumbbell]", "[dumbbell]\nsender_delay = []"),
            "x.toml:4: dumbbell.sender_delay = []: must be a list, each a quantity like \"1 s\", \"uniform(0 s, 1 s)\", \"exponential(1 s)\" or \"pareto(1 s, 1.5)\" (mean, shape above 1) in [0, 3600], s; units: s, ms, us, ns, min, h",
        ),
        // Keys.
        (with("rate", "buffr = 1"), "x.toml:4: dumbbell.buffr: unknown key; did you mean \"buffer\"?"),
        (with("beta", "q_0 = 1"), "x.toml:7: aqm.q_0: unknown key; did you mean \"q0\"?"),
        (with("duration", "colour = 1"), &format!("x.toml:1: colour: unknown key; {known}")),
        (with("duration", "\"a\\nb\" = 1"), &format!("x.toml:1: \"a\\nb\": unknown key; {known}")),
        (
            with("beta", "q0 = 50\ntarget = 60"),
            "x.toml:8: aqm.target = 60: q0 is given as well and means the same",
        ),
        (
            with("[dumbbell]", "[dumbell]"),
            "x.toml:3: dumbell: unknown key; did you mean \"dumbbell\"?\nx.toml: no network: needs a [dumbbell], or [[link]], [[wifi]], [[cell]] or [[cable]] tables",
        ),
        // Algorithms and TCPs.
        (
            with("name = \"lred\"", "name = \"lerd\""),
            "x.toml:6: aqm.name = \"lerd\": no such algorithm; did you mean \"lred\"?",
        ),
        // Inner algorithms.
        (
            fq("aqm = \"lerd\""),
            "x.toml:7: aqm.aqm.name = \"lerd\": no such algorithm; did you mean \"lred\"?",
        ),
        (
            fq("aqm = \"fq\""),
            "x.toml:7: aqm.aqm = \"fq\": must be an algorithm on one queue: this one keeps several",
        ),
        (
            fq("aqm = \"dualpi2:k=1\""),
            "x.toml:7: aqm.aqm = \"dualpi2\": must be an algorithm on one queue: this one keeps several",
        ),
        (fq("aqm = \"lred:beta=-1\""), "x.toml:7: aqm.aqm.beta = -1: must be in (0, 10], per packet"),
        (
            fq("aqm = { name = \"lred\", bet = 1 }"),
            "x.toml:7: aqm.aqm.bet: unknown key; did you mean \"beta\"?",
        ),
        (
            fq("aqm = { name = \"pi\", preset = \"surve\" }"),
            "x.toml:7: aqm.aqm.preset = \"surve\": no such preset of pi; did you mean \"survey\"?",
        ),
        (
            fq("aqm = { name = \"pi\", a = 1e-5, b = 1e-4 }"),
            "x.toml:7: aqm.aqm.b = 0.0001: must be at most a = 0.00001",
        ),
        (
            // Without a name, it is the default algorithm.
            fq("aqm = { beta = 1 }"),
            "x.toml:7: aqm.aqm.beta: unknown key; known: target, interval, mtu, ecn, ce_threshold, ce_threshold_for, form, name, preset",
        ),
        (fq("aqm = 3"), "x.toml:7: aqm.aqm = 3: must be a table or text like \"NAME:KEY=VALUE,KEY=VALUE\""),
        (
            with("name = \"lred\"", ""),
            &format!("x.toml:5: aqm.name: missing: must be the name of an algorithm, one of {aqms}"),
        ),
        (
            with("name = \"lred\"", "name = \"pi\"\npreset = \"surve\""),
            &format!(
                "x.toml:7: aqm.preset = \"surve\": no such preset of pi; did you mean \"survey\"?\nx.toml:8: aqm.beta: unknown key; known: {of_pi}, name, preset"
            ),
        ),
        (
            with("beta", "preset = \"ns\""),
            "x.toml:7: aqm.preset = \"ns\": no such preset of lred; there is none",
        ),
        (
            and("tcp = \"renno\"\n"),
            "x.toml:11: traffic.long.tcp = \"renno\": no such TCP; did you mean \"reno\"?",
        ),
        (
            and("tcp = { preset = \"ns3\" }\n"),
            "x.toml:11: traffic.long.tcp.preset = \"ns3\": no such preset; known: linux, rfc, rfc5681, ns2.35, ns2-2002, cubic, dctcp, l4s, prague, bbr, bbr3, bbr3-l4s, ledbat",
        ),
        (
            and("tcp = { min_rot = \"1 s\" }\n"),
            "x.toml:11: traffic.long.tcp.min_rot: unknown key; did you mean \"min_rto\"?",
        ),
        (
            and("tcp = \"reno:min_rto=1\"\n"),
            "x.toml:11: traffic.long.tcp.min_rto = 1: must be a quantity like \"2.5 ms\" in [0.001, 60], s; units: s, ms, us, ns, min, h",
        ),
        (
            and("tcp = 3\n"),
            "x.toml:11: traffic.long.tcp = 3: must be a table or text like \"NAME:KEY=VALUE,KEY=VALUE\"",
        ),
        (
            and("tcp = \"ledbat:beta=0.5\"\n"),
            "x.toml:11: traffic.long.tcp.beta = 0.5: only for congestion = \"cubic\"; this TCP's is \"ledbat\"",
        ),
        (
            and("tcp = \"sack:congestion=cubic\"\n"),
            "x.toml:11: traffic.long.tcp.congestion = \"cubic\": flavour = \"sack\" has no such control; take flavour = \"rack\", which the presets linux, rfc, cubic, dctcp, prague, bbr and bbr3 have",
        ),
        (
            and("tcp = { preset = \"linux\", flavour = \"newreno\" }\n"),
            "x.toml:11: traffic.long.tcp.congestion = \"cubic\": flavour = \"newreno\" has no such control; take flavour = \"rack\", which the presets linux, rfc, cubic, dctcp, prague, bbr and bbr3 have",
        ),
        (
            and("tcp = \"linux:congestion=ledbat\"\n"),
            "x.toml:11: traffic.long.tcp.congestion = \"ledbat\": flavour = \"rack\" has no such control; take flavour = \"sack\"",
        ),
        (
            and("tcp = \"linux:limited_transmit=off\"\n"),
            "x.toml:11: traffic.long.tcp.limited_transmit = \"off\": only for flavour = \"tahoe\", \"reno\", \"newreno\" or \"sack\"; this TCP's is \"rack\"",
        ),
        (
            and("tcp = \"newreno:quick_acks=16\"\n"),
            "x.toml:11: traffic.long.tcp.quick_acks = 16: only for flavour = \"rack\"; this TCP's is \"newreno\"",
        ),
        (
            and("tcp = \"linux:tick=10 ns\"\n"),
            "x.toml:11: traffic.long.tcp.tick = \"10 ns\": must be at least \"1 us\" for flavour = \"rack\" and this duration",
        ),
        (
            and("tcp = { congestion = \"cubic\", ecn = true, l4s = true }\n"),
            "x.toml:11: traffic.long.tcp.l4s = true: only for congestion = \"dctcp\" or \"bbr3\"; this TCP's is \"cubic\"",
        ),
        (
            and("tcp = { congestion = \"dctcp\", l4s = true }\n"),
            "x.toml:11: traffic.long.tcp.ecn = false: must be true for congestion = \"dctcp\", which counts marks",
        ),
        (
            and("tcp = { congestion = \"dctcp\" }\n"),
            "x.toml:11: traffic.long.tcp.ecn = false: must be true for congestion = \"dctcp\", which counts marks",
        ),
        (
            and("tcp = \"bbr3:l4s=true\"\n"),
            "x.toml:11: traffic.long.tcp.ecn = false: must be true for l4s = true, which is an ECN codepoint",
        ),
        (
            and("tcp = \"cubic:ecn_feedback=sparse\"\n"),
            "x.toml:11: traffic.long.tcp.ecn = false: must be true for ecn_feedback = \"sparse\"",
        ),
        (
            and("tcp = \"prague:ecn_feedback=classic\"\n"),
            "x.toml:11: traffic.long.tcp.ecn_feedback = \"classic\": must not be \"classic\" for congestion = \"prague\"",
        ),
        (
            and("tcp = \"rfc5681:ecn_feedback=accurate\"\n"),
            "x.toml:11: traffic.long.tcp.ecn_feedback = \"accurate\": only for flavour = \"rack\"; this TCP's is \"newreno\"",
        ),
        (
            and("packet_size = \"64 B\"\ntcp = \"cubic:ecn=true,ecn_feedback=accurate\"\n"),
            "x.toml:11: traffic.long.packet_size = \"64 B\": must be more than tcp.header and the option of Accurate ECN, \"64 B\"",
        ),
        // Traffic.
        (
            and("size = \"1 MB\"\n"),
            "x.toml:11: traffic.long.size = \"1 MB\": only for kind \"transfer\" or \"short\" or \"web\" or \"game\" or \"quic\" or \"stack\"; this entry's is \"ftp\"",
        ),
        (
            with("kind", "kind = \"cbr\"\ntcp = \"reno\""),
            "x.toml:11: traffic.long.tcp = \"reno\": only for kind \"ftp\" or \"transfer\" or \"short\" or \"web\" or \"dash\"; this entry's is \"cbr\"",
        ),
        (
            with("kind", "kind = \"dash\"\nplayback_buffer = \"3 s\""),
            "x.toml:11: traffic.long.playback_buffer = \"3 s\": must have room for a chunk, \"4 s\"",
        ),
        (with("kind", "kind = \"transfer\""), "x.toml:8: traffic.long: a transfer needs a size or a stop"),
        (
            and("[[traffic]]\nname = \"long\"\n"),
            "x.toml:12: traffic.2.name = \"long\": an earlier traffic has this name",
        ),
        (
            and("[[traffic]]\nname = \"a.b\"\n"),
            "x.toml:12: traffic.2.name = \"a.b\": must be made of letters, digits, \"-\" and \"_\"",
        ),
        (
            and("[[traffic]]\nname = \"1\"\n"),
            "x.toml:12: traffic.2.name = \"1\": must not be a number, which means the entry in this place",
        ),
        (
            and("to = \"recievers\"\n"),
            "x.toml:11: traffic.long.to = [\"recievers\"]: no node \"recievers\"; did you mean \"receivers\"?",
        ),
        (and("to = \"senders\"\n"), "x.toml:8: traffic.long: flow 1 would go from sender1 to itself"),
        (
            and(
                "[[traffic]]\nname = \"s\"\nkind = \"short\"\nsize = \"1 kB\"\narrival_rate = \"1 /s\"\nfrom = [\"sender1\", \"receiver1\"]\nto = \"receiver1\"\n",
            ),
            "x.toml:11: traffic.s: flow 2 would go from receiver1 to itself",
        ),
        (
            and("start = \"11 s\"\n"),
            "x.toml:11: traffic.long.start = \"11 s\": must be before the end of the run, duration = \"10 s\"",
        ),
        (
            and("start = \"3 s\"\nstop = \"3 s\"\n"),
            "x.toml:12: traffic.long.stop = \"3 s\": must be after start = \"3 s\"",
        ),
        (
            and("active = [\"1 s\"]\n"),
            "x.toml:11: traffic.long.active = [\"1 s\"]: must be two times, from when and to when",
        ),
        (
            and("active = [\"2 s\", \"2 s\"]\n"),
            "x.toml:11: traffic.long.active = [\"2 s\", \"2 s\"]: must go from an earlier to a later time",
        ),
        (
            and("active = [\"10 s\", \"12 s\"]\n"),
            "x.toml:11: traffic.long.active = [\"10 s\", \"12 s\"]: must begin before the end of the run, duration = \"10 s\"",
        ),
        (
            and("active = [\"1 s\", \"2 s\"]\nstart = \"1 s\"\n"),
            "x.toml:11: traffic.long.active = [\"1 s\", \"2 s\"]: must be after start = \"1 s\"",
        ),
        (
            and("active = [\"1 s\", \"2 s\"]\nstop = \"3 s\"\n"),
            "x.toml:12: traffic.long.stop = \"3 s\": active is given as well; it sets the start and the stop, so remove this key",
        ),
        (
            and("active = [\"1 s\", \"20 s\"]\nstart = \"9 s\"\n"),
            "x.toml:12: traffic.long.start = \"9 s\": must be before the end of the run, duration = \"10 s\"",
        ),
        (
            with("kind", "kind = \"short\"\narrival_rate = \"3 /s\""),
            "x.toml:8: traffic.long: a short needs a size or a lifetime",
        ),
        (
            with("kind", "kind = \"short\"\narrival_rate = \"3 /s\"\nsize = \"1 kB\"\nlifetime = \"1 s\""),
            "x.toml:13: traffic.long.lifetime = \"1 s\": size is given as well; a flow ends by one of the two",
        ),
        (
            with("kind", "kind = \"short\"\nlifetime = \"1 s\""),
            "x.toml:8: traffic.long: a short needs an arrival_rate or an interarrival",
        ),
        (
            with(
                "kind",
                "kind = \"short\"\nlifetime = \"1 s\"\narrival_rate = \"3 /s\"\ninterarrival = \"1 s\"",
            ),
            "x.toml:13: traffic.long.interarrival = \"1 s\": arrival_rate is given as well; flows arrive by one of the two",
        ),
        (
            with("kind", "kind = \"on-off\"\non = \"0 s\"\noff = \"0 s\""),
            "x.toml:11: traffic.long.on = \"0 s\": must be a quantity like \"1 s\", \"uniform(0 s, 1 s)\", \
             \"exponential(1 s)\" or \"pareto(1 s, 1.5)\" (mean, shape above 1) in (0, 1e7], s",
        ),
        (
            with("kind", "kind = \"on-off\"\noff = \"pareto(1 s, 1)\""),
            "x.toml:11: traffic.long.off = \"pareto(1 s, 1)\": must be a quantity like \"1 s\", \"uniform(0 s, 1 s)\", \
             \"exponential(1 s)\" or \"pareto(1 s, 1.5)\" (mean, shape above 1) in [0, 1e7], s; units: s, ms, us, ns, min, h",
        ),
        (
            with("duration", "duration = \"1000 s\"").replace("\"ftp\"", "\"fgn\"\nstep = \"10 us\""),
            "x.toml:11: traffic.long.step = \"10 us\": must be at least \"238.419 us\" for this duration",
        ),
        (
            and("frame_rate = \"25 /s\"\n"),
            "x.toml:11: traffic.long.frame_rate = \"25 /s\": only for kind \"voip\" or \"video\" or \"game\"; this entry's is \"ftp\"",
        ),
        (
            with("kind", "kind = \"cbr\"\necn = true"),
            "x.toml:11: traffic.long.ecn = true: must be one of none, ect0, ect1",
        ),
        (with("kind", "kind = \"trace\""), "x.toml:8: traffic.long: a trace needs a file, CSV or pcap"),
        (
            with("kind", "kind = \"trace\"\nfile = 3"),
            "x.toml:11: traffic.long.file = 3: must be text (or \"auto\")",
        ),
        (
            with("kind", "kind = \"trace\"\nfile = \"/no/such.csv\""),
            "x.toml:11: traffic.long.file = \"/no/such.csv\": no such file: /no/such.csv",
        ),
        (
            with("kind", "kind = \"video\"\nframe_size = \"0 B\""),
            "x.toml:11: traffic.long.frame_size = \"0 B\": must be a quantity like \"500 B\" in [1, 1e8], bytes",
        ),
        (
            with("kind", "kind = \"voip\"\nframe_size = \"9 B\""),
            "x.toml:11: traffic.long.frame_size = \"9 B\": only for kind \"video\"; this entry's is \"voip\"",
        ),
        (and("count = 0\n"), "x.toml:8: traffic: no flows, every count is 0: nothing to simulate"),
        (with("[[traffic]]", "[traffic]"), "x.toml:8: traffic: must be tables: write [[traffic]]"),
        ("[dumbbell]\n".to_owned(), "x.toml: no [[traffic]]: nothing to simulate"),
        (
            and("packet_size = \"52 B\"\ntcp = \"rfc:header=52 B\"\n"),
            "x.toml:11: traffic.long.packet_size = \"52 B\": must be more than tcp.header, \"52 B\"",
        ),
        (
            with("kind", "kind = \"web\"\nrequest = \"50 B\"\ntcp = \"rfc:header=52 B\""),
            "x.toml:11: traffic.long.request = \"50 B\": must be more than tcp.header, \"52 B\"",
        ),
        (
            with("kind", "kind = \"transfer\"\nsize = \"1 kB\"\nrequest = \"40 B\""),
            "x.toml:12: traffic.long.request = \"40 B\": must be a quantity like \"500 B\" in [41, 65535], bytes (or \"auto\")",
        ),
        (
            with("kind", "kind = \"transfer\"\nstop = \"9 s\"\nrequest = \"300 B\""),
            "x.toml:12: traffic.long.request = \"300 B\": only for a transfer with a size",
        ),
        (
            and("request = \"300 B\"\n"),
            "x.toml:11: traffic.long.request = \"300 B\": only for kind \"transfer\" or \"web\" or \"dash\"; this entry's is \"ftp\"",
        ),
        (
            and("tcp = \"rfc:header=39 B\"\n"),
            "x.toml:11: traffic.long.tcp.header = \"39 B\": must be a quantity like \"500 B\" in [40, 120], bytes",
        ),
        // The whole.
        (
            with("warmup", "warmup = \"10 s\""),
            "x.toml:2: warmup = \"10 s\": must be less than duration = \"10 s\"",
        ),
        (
            with("duration", "duration = \"2e6 s\"\nclock = \"double\""),
            "x.toml:1: duration = \"2000000 s\": must be at most \"1000000 s\" with clock = \"double\", which ns-2's TCPs bring along: later it is too coarse; say clock = \"integer\"",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nhosts = 10000")
                + "\n[[traffic]]\nname = \"s\"\nkind = \"short\"\nsize = \"1 kB\"\narrival_rate = \"1 /s\"\nto = [\"receivers\", \"r2\"]\n",
            "x.toml:13: traffic.s: 10000 nodes in from and 10001 in to make 100010000 pairs, at most 10000: let one number divide the other",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nloss = 1.5"),
            "x.toml:4: dumbbell.loss = 1.5: must be a probability in [0, 1], or a table of good_to_bad, bad_to_good, good_time, bad_time, loss_good, loss_bad, or of file, column",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nloss = { bad = 1 }"),
            "x.toml:4: dumbbell.loss.bad: unknown key; known: good_to_bad, bad_to_good, good_time, bad_time, loss_good, loss_bad",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nloss = { good_time = \"1 s\" }"),
            "x.toml:4: dumbbell.loss.bad_time: missing: a state that changes with time needs both times",
        ),
        (
            with("[dumbbell]", "[dumbbell]\ndelay = \"5 ms\"\njitter = { deviation = \"6 ms\" }"),
            "x.toml:5: dumbbell.jitter.deviation = \"6 ms\": must be at most the link's least delay, \"5 ms\": lower it, or raise `delay`",
        ),
        (
            with(
                "[dumbbell]",
                "[dumbbell]\ndelays = [\"5 s: 1 ms\"]\nreverse_jitter = { deviation = \"2 ms\" }",
            ),
            "x.toml:5: dumbbell.reverse_jitter.deviation = \"2 ms\": must be at most the link's least delay, \"1 ms\": lower it, or raise `delay`",
        ),
        (
            with("[dumbbell]", "[dumbbell]\njitter = { law = \"table\" }"),
            "x.toml:4: dumbbell.jitter.file: missing: law = \"table\" needs a file of iproute2, such as normal.dist",
        ),
        (
            with("[dumbbell]", "[dumbbell]\njitter = { file = \"normal.dist\" }"),
            "x.toml:4: dumbbell.jitter.file = \"normal.dist\": only for law = \"table\", not \"uniform\"",
        ),
        (
            with("[dumbbell]", "[dumbbell]\njitter = { law = \"gauss\" }"),
            "x.toml:4: dumbbell.jitter.law = \"gauss\": must be one of uniform, normal, pareto, table",
        ),
        (
            with("[dumbbell]", "[dumbbell]\ndelay = \"0 s\"\nreorder = {}"),
            "x.toml:5: dumbbell.reorder: needs a `delay` above 0, which the packets skip that overtake others",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nduplicate = 2"),
            "x.toml:4: dumbbell.duplicate = 2: must be in [0, 1]",
        ),
        (
            with("[dumbbell]", "[dumbbell]\ndelays = [\"5 s..6 s: 1 ms\", \"5.5 s: 2 ms\"]"),
            "x.toml:4: dumbbell.delays = \"5.5 s: 2 ms\": must be in order; 5.5 s is not after 6 s",
        ),
        (
            with("[dumbbell]", "[dumbbell]\ndelays = [\"10 s: 1 ms\"]"),
            "x.toml:4: dumbbell.delays = \"10 s: 1 ms\": must begin before the run ends, duration = \"10 s\"",
        ),
        (
            with("[dumbbell]", "[dumbbell]\ndelays = [\"5 s: 5000 s\"]"),
            "x.toml:4: dumbbell.delays = [\"5 s: 5000 s\"]: must be a list, each a quantity like \"20 s: 50 ms\" or \"20 s..30 s: 50 ms\" in [0, 3600] (or \"auto\")",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nhandover.every = \"2 s\""),
            "x.toml:4: dumbbell.handover: changes nothing: give it a `delay`, a `rate`, a `reverse_rate` or an `outage`",
        ),
        (
            with(
                "[dumbbell]",
                "[dumbbell]\nhandover = { every = \"2 s\", rate = \"1 Mbit/s\" }\nchanges = \"1 s: 1 Mbit/s\"",
            ),
            "x.toml:4: dumbbell.handover: `changes` is given as well: remove one of them",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nhandover = { delay = \"5 ms\" }"),
            "x.toml:4: dumbbell.handover.every = \"15 s\": must be below the time of the run, duration = \"10 s\"",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nhandover = { every = \"1 s\", outage = \"2 s\" }"),
            "x.toml:4: dumbbell.handover.outage = \"2 s\": must be at most the time from one handover to the next, \"1 s\"",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nhandover = { every = \"1 s\", delay = \"5 ms\", loss = 0.1 }"),
            "x.toml:4: dumbbell.handover.loss = 0.1: needs an `outage`, during which packets are lost",
        ),
        (
            with(
                "[dumbbell]",
                "[dumbbell]\nhandover = { every = \"1 s\", outage = \"5 ms\", loss = 0.1 }\nloss = { loss_bad = 0.5 }",
            ),
            "x.toml:4: dumbbell.handover.loss = 0.1: needs a probability as the link's `loss`, not a table: remove one of them",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nhandover = { every = \"1 ms\", rate = \"1 Mbit/s\" }"),
            "x.toml:4: dumbbell.handover.every = \"1 ms\": must be a quantity like \"1 s\", \"uniform(0 s, 1 s)\", \"exponential(1 s)\" or \"pareto(1 s, 1.5)\" (mean, shape above 1) in [0.01, 1e7], s",
        ),
        (
            with("[dumbbell]", "[dumbbell]\noutages = [\"9 s..11 s\"]"),
            "x.toml:4: dumbbell.outages = \"9 s..11 s\": must end before the run does, duration = \"10 s\"",
        ),
        (
            with("[dumbbell]", "[dumbbell]\noutages = [\"5 s..4 s\"]"),
            "x.toml:4: dumbbell.outages = [\"5 s..4 s\"]: must be a list, each a quantity like \"20 s..21 s\" (or \"auto\"); units: s, ms, us, ns, min, h",
        ),
        (
            with("[dumbbell]", "[dumbbell]\noutages = [\"4 s..5 s\"]\nchanges_period = \"4.5 s\""),
            "x.toml:4: dumbbell.outages = \"4 s..5 s\": must end before changes_period = \"4.5 s\", when it starts over",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nchanges = [\"1 s: 1 Mbit/s\", \"5 s: 0 bit/s\"]"),
            "x.toml:4: dumbbell.changes = \"5 s: 0 bit/s\": must have a rate in [1 kbit/s, 100 Gbit/s]: for pauses use `outages`, or `rates` of a file with rates of 0",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nchanges = [\"5 s: 1 Mbit/s\", \"5 s: 2 Mbit/s\"]"),
            "x.toml:4: dumbbell.changes = \"5 s: 2 Mbit/s\": must be in order; 5 s is not after 5 s",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nchanges = \"1 Mbit/s at 5 s\""),
            "x.toml:4: dumbbell.changes = \"1 Mbit/s at 5 s\": must be a list, each a quantity like \"20 s: 10 Mbit/s\" (or \"auto\"); units: bit/s, kbit/s, Mbit/s, Gbit/s (also Mb/s, Mbps, mbit); bytes per second are kB/s, MB/s, GB/s",
        ),
        (
            GRAPH.replace("aqm =", "half_duplex = \"2.7 us\"\naqm ="),
            "x.toml:5: link.up.half_duplex = \"2.7 us\": must be at most \"2.56 us\", half of Ethernet's slot, at \"100 Mbit/s\"",
        ),
        (
            GRAPH.replace("aqm =", "half_duplex = \"0.1 us\"\nrate = \"200 Mbit/s\"\naqm ="),
            "x.toml:5: link.up.half_duplex = \"100 ns\": needs a rate of at most \"100 Mbit/s\", not \"200 Mbit/s\": set `rate`",
        ),
        (
            with("[dumbbell]", "[dumbbell]\naccess_half_duplex = \"0.1 us\"")
                .replace("10 Mbit/s", "100 Mbit/s"),
            "x.toml:4: dumbbell.access_half_duplex = \"100 ns\": needs a rate of at most \"100 Mbit/s\", not \"1 Gbit/s\": set `access_rate`",
        ),
        (
            GRAPH.replace("aqm =", "half_duplex = \"2 us\"\ndelay = \"1 us\"\naqm ="),
            "x.toml:5: link.up.half_duplex = \"2 us\": must be at most the link's delay, \"1 us\", of which it is a part",
        ),
        (
            GRAPH.replace("aqm =", "half_duplex = \"1 us\"\nreverse_rate = \"10 Mbit/s\"\naqm ="),
            "x.toml:6: link.up.reverse_rate: `half_duplex` is Ethernet, of one rate in both directions: remove one of the two keys",
        ),
        (
            GRAPH.replace("aqm =", "half_duplex = \"1 us\"\nframing = \"docsis\"\naqm ="),
            "x.toml:6: link.up.framing: `half_duplex` is Ethernet, of one rate in both directions: remove one of the two keys",
        ),
        (
            with(
                "[dumbbell]",
                "[dumbbell]\naccess_half_duplex = \"1 us\"\nsender_delay = [\"1 ms\", \"0 s\"]",
            ),
            "x.toml:4: dumbbell.access_half_duplex = \"1 us\": must be at most the link's delay, \"0 s\", of which it is a part",
        ),
        (
            with("[dumbbell]", "[dumbbell]\naccess_half_duplex = true"),
            "x.toml:4: dumbbell.access_half_duplex = true: must be a quantity like \"2.5 ms\" in [0, 3600], s (or \"auto\"); units: s, ms, us, ns, min, h",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nchanges_period = \"5 s\""),
            "x.toml:4: dumbbell.changes_period = \"5 s\": needs `changes`, `delays` or `outages`",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nchanges = \"5 s: 1 Mbit/s\"\nchanges_period = \"5 s\""),
            "x.toml:5: dumbbell.changes_period = \"5 s\": must be after the last of changes, 5 s",
        ),
        (
            with("[dumbbell]", "[dumbbell]\nchanges = \"0 s: 1 Mbit/s\"\nchanges_period = \"1 us\""),
            "x.toml:5: dumbbell.changes_period = \"1 us\": must be at least \"2 us\" for this duration",
        ),
        (
            with("duration", "duration = \"1e6 s\"").replace(
                "[dumbbell]",
                "[dumbbell]\naccess_rate = \"100 Gbit/s\"\nchanges = \"1 s: 100 Gbit/s\"",
            ),
            "x.toml: too much work: about 9.8e12 packets would pass the links, at most 4e9 may; lower duration (1000000 s) or the rates in dumbbell.changes",
        ),
        (
            with("rate", "buffer = \"1 kB\""),
            "x.toml:4: dumbbell.buffer = \"1000 B\": must hold the largest packet, \"1500 B\"",
        ),
        (
            with("rate", "buffer = \"1537 B\"\noverhead = \"38 B\""),
            "x.toml:4: dumbbell.buffer = \"1537 B\": must hold the largest packet, \"1538 B\"",
        ),
        (
            with("rate", "overhead = \"38 B\"") + "packet_size = \"65500 B\"\n",
            "x.toml:4: dumbbell.overhead = \"38 B\": must leave the largest packet, 65500 B, with at most 65535 B",
        ),
        (
            with("warmup", "observe = \"bottle\""),
            "x.toml:2: observe = \"bottle\": no such link; known: bottleneck, bottleneck:reverse, sender1, sender1:reverse, receiver1, receiver1:reverse",
        ),
        (
            with("warmup", "record = { step = \"1 ns\" }"),
            "x.toml:2: record.step = \"1 ns\": must be at least \"100 ns\" for this duration",
        ),
        (
            with(
                "[dumbbell]",
                &format!(
                    "[dumbbell]\nsender_delay = [{}]\nreceiver_delay = [{}]",
                    "\"1 ms\",".repeat(101),
                    "\"1 ms\",".repeat(103)
                ),
            ),
            "x.toml:3: dumbbell: 101 values of sender_delay and 103 of receiver_delay need 10403 hosts on each side to pair them evenly; at most 10000: let one number divide the other",
        ),
        (
            with("duration", "duration = \"1e7 s\"")
                .replace("10 Mbit/s", "1 Gbit/s\"\naccess_rate = \"100 Mbit/s")
                .replace("kind", "count = 10\ntcp = \"rfc5681\"\nkind"),
            "x.toml: too much work: about 3.8e11 packets would pass the links, at most 4e9 may; lower duration (10000000 s) or dumbbell.access_rate (100 Mbit/s)",
        ),
        (
            with("duration", "duration = \"1e6 s\"").replace("beta = 0.001", "period = \"1 us\""),
            "x.toml: too much work: the aqm of bottleneck would act 1.0e12 times, every 1 us, at most 4e9 may; lower duration (1000000 s)",
        ),
        (
            "duration = \"1e7 s\"\n[[cell]]\nname = \"lte\"\nbase = \"b\"\nusers = [\"u\"]\nslot = \"0.5 ms\"\ncqi = 7\n\
             [[traffic]]\nname = \"x\"\nkind = \"ping\"\nfrom = \"b\"\nto = \"u\"\n"
                .to_owned(),
            "x.toml: too much work: the cell lte would schedule 2.0e10 times, every 500 us, at most 4e9 may; lower duration (10000000 s)",
        ),
        (
            with("duration", "duration = \"1e6 s\"")
                .replace("\"ftp\"", "\"short\"\narrival_rate = \"1e5 /s\"\nsize = \"1 kB\""),
            "x.toml: too much work: about 4.5e11 packets would pass the links, at most 4e9 may; lower duration (1000000 s) or traffic.long.arrival_rate (100000 Hz) or traffic.long.count (1)",
        ),
        (
            with("duration", "duration = \"1e7 s\"").replace("\"ftp\"", "\"on-off\"\nrate = \"10 Mbit/s\""),
            "x.toml: too much work: about 1.2e10 packets would pass the links, at most 4e9 may; lower duration (10000000 s) or traffic.long.rate (10 Mbit/s) or traffic.long.count (1)",
        ),
        (
            and("to = \"r1\"\nreceiver_delay = \"1 ms\"\n"),
            "x.toml:12: traffic.long.receiver_delay = [\"1 ms\"]: only for an entry from or to a dumbbell's group \"receivers\", in whose place it has hosts of its own",
        ),
        // Graphs.
        (
            graph("sender_delay = \"1 ms\"\n"),
            "x.toml:9: traffic.1.sender_delay = [\"1 ms\"]: only for an entry from or to a dumbbell's group \"senders\", in whose place it has hosts of its own",
        ),
        (
            graph("[aqm]\nname = \"pi\"\n"),
            "x.toml:9: aqm: only for a [dumbbell]; without one, give a [[link]] its own `aqm`",
        ),
        (
            graph("[[link]]\nname = \"up\"\nfrom = \"b\"\nto = \"c\"\n"),
            "x.toml:10: link.2.name = \"up\": an earlier link has this name",
        ),
        (
            graph("[[link]]\nfrom = \"c\"\nto = \"c\"\n"),
            "x.toml:11: link.c-c.to = \"c\": must be another node than `from`",
        ),
        (graph("[[link]]\nfrom = \"c\"\n"), "x.toml:9: link.2.to: missing: must be the name of a node"),
        (
            graph("[[link]]\nfrom = \"c\"\nto = \"d\"\n[[traffic]]\nfrom = \"a\"\nto = \"c\"\n"),
            "x.toml:12: traffic.2: no path from a to c",
        ),
        (
            graph("[[traffic]]\nto = \"c\"\n"),
            "x.toml:9: traffic.2.from: missing: without a [dumbbell], name the nodes\nx.toml:10: traffic.2.to = [\"c\"]: no node \"c\"; known: a, b",
        ),
        (
            GRAPH.replace("aqm = \"lred\"\n", ""),
            "x.toml: observe: missing: no link has an aqm; name the link that the metrics describe",
        ),
        (
            GRAPH.replace("\"lred\"", "\"lred:q0\""),
            "x.toml:5: link.up.aqm = \"lred:q0\": must be a table or text like \"NAME:KEY=VALUE,KEY=VALUE\"",
        ),
        (
            GRAPH.replace("\"lred\"", "\"lred:beta=11\""),
            "x.toml:5: link.up.aqm.beta = 11: must be in (0, 10], per packet",
        ),
        (
            with("kind", "kind = \"quic\"\npacket_size = \"1227 B\""),
            "x.toml:10: traffic.long.kind = \"quic\": this build has no QUIC stack; build the extension with it: \
             cargo build -p py --features quic\nx.toml:11: traffic.long.packet_size = \"1227 B\": must be at least \
             \"1228 B\", because QUIC's path carries 1200 B of payload",
        ),
        // Not TOML.
        (with("rate", "rate = 10 Mbit/s"), "x.toml:4: not TOML: "),
        (with("rate", "rate"), "x.toml:4: not TOML: "),
        (with("[aqm]", "[aqm"), "x.toml:5: not TOML: "),
        (with("warmup", "duration = \"1 s\""), "x.toml:2: not TOML: duplicate key"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = messages(text);
        // The alternatives that the TOML parser expects are its own.
        if found != *expected && !(expected.ends_with("not TOML: ") && found.starts_with(expected)) {
            wrong.push(format!("found:    {found}\nexpected: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn all_problems_are_reported_at_once_in_the_order_of_the_file() {
    let text =
        and("count = -1\n").replace("beta = 0.001", "beta = 11\nq1 = 3").replace("10 Mbit/s", "10 MBPS");
    let found = messages(&text);
    let places: Vec<_> =
        found.lines().map(|line| line.splitn(3, ": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "x.toml:4 dumbbell.rate = \"10 MBPS\"",
        "x.toml:7 aqm.beta = 11",
        "x.toml:8 aqm.q1",
        "x.toml:12 traffic.long.count = -1",
    ];
    assert_eq!(places, expected);
}

#[test]
fn of_very_many_problems_the_first_are_reported_and_the_others_counted() {
    let text = (0..1000).fold(String::new(), |text, i| text + &format!("k{i} = 1\n")) + GOOD;
    let found = messages(&text);
    assert_eq!(found.lines().count(), 101);
    assert_eq!(found.lines().last(), Some("x.toml: and 900 more problems"));
    let found = messages(&"= =\n".repeat(1000));
    assert_eq!(found.lines().count(), 101);
    assert_eq!(found.lines().last(), Some("x.toml: and 900 more problems"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let load = |path: &str| Document::load(Path::new(path)).unwrap_err().to_string();
    assert_eq!(load("no/such.toml"), "no/such.toml: no such file");
}

/// A file of this content.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// A pcap file of two IP packets, of which little was captured.
fn pcap() -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    for word in [0u32, 0, 65535, 101, 5, 250_000, 4, 100, 0x45, 6, 500_000, 4, 200, 0x45] {
        file.extend(word.to_le_bytes());
    }
    file
}

#[test]
fn an_error_in_a_recording_names_its_line_or_byte() {
    let good = pcap();
    assert_eq!(good.len(), 24 + 20 + 20);
    let mut backwards = good.clone();
    backwards[44] = 4;
    let mut without_bytes = good.clone();
    without_bytes[24 + 12..24 + 16].fill(0);
    let cases: [(&str, &[u8], &str); 18] = [
        ("good.pcap", &good, "fine"),
        ("head.pcap", &good[..20], "truncated file header at byte 0"),
        ("cut.pcap", &good[..63], "truncated packet at byte 44"),
        ("cut2.pcap", &good[..50], "truncated packet at byte 44"),
        ("backwards.pcap", &backwards, "fine"),
        ("nothing.pcap", &good[..24], "no packets in it"),
        (
            "void.pcap",
            &without_bytes,
            "packet at byte 24: size = 0: must be in [1, 65535], bytes: leave the packet out",
        ),
        ("good.csv", b"time,size\n0,100\n0.5, 200\n\n0.5,1\n", "fine"),
        (
            "headless.csv",
            b"0,100\n",
            "line 1: must be a header with \"time\" (s, or a date) and \"size\" (bytes), like time,size, with lines before it begun with #; or the file a pcap",
        ),
        (
            "frames.csv",
            b"\"No.\",\"Time\",\"Length\",\"Info\"\n1,0,60,a\n",
            "line 1: no column \"size\" with the bytes of the IP packet; those there are: No., Time, Length, Info: a frame's length is more, so export ip.len, or give the capture itself",
        ),
        (
            "quoted.csv",
            b"time,size\n0,\"1,500\"\n",
            "line 2: size = \"1,500\": must be a whole number of bytes, like 1500",
        ),
        (
            "wide.csv",
            b"time,size\n0,1,500\n",
            "line 2: 3 fields, and the header has 2: put fields with separators in quotes",
        ),
        (
            "word.csv",
            b"time,size\n0,100\nsoon,100\n",
            "line 3: time = \"soon\": must be a number of seconds, or a date and time like 2026-01-31T23:59:59.5Z",
        ),
        (
            "short.csv",
            b"time,size\n0\n",
            "line 2: only 1 of the header's 2 fields: complete the line, or remove it if it is torn",
        ),
        (
            "large.csv",
            b"time,size\n0,65536\n",
            "line 2: size = 65536: must be in [1, 65535], bytes: leave the packet out",
        ),
        (
            "backwards.csv",
            b"time,size\n3,100\n1.9,100\n",
            "line 3: time = 1.9: more than 1 s earlier than a line before: sort the lines, or keep one recording of several",
        ),
        (
            "late.csv",
            b"time,size\n1,100\n1e9,100\n",
            "line 3: more than 10000000 s after the first packet: keep a part of the recording",
        ),
        (
            "never.csv",
            b"time,size\n1,100\n1e300,100\n",
            "line 3: time = \"1e300\": must be a number of seconds, or a date and time like 2026-01-31T23:59:59.5Z",
        ),
    ];
    for (name, content, expected) in cases {
        let path = file(name, content).display().to_string();
        let found = messages(&with("kind", &format!("kind = \"trace\"\nfile = {path:?}")));
        let message = format!("x.toml:11: traffic.long.file = {path:?}: {expected}");
        assert_eq!(found, if expected == "fine" { expected } else { &message });
    }
}
