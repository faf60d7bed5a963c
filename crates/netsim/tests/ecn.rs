//! Which packets of a TCP connection may be marked, and what becomes of connections whose handshake is lost.

use aqm::params::{self, Field as _};
use aqm::unit::Time;
use netsim::tcp::Content;
use netsim::{Cause, Checked, PacketKind, Seen, Simulation};
use run::Results;
use scenario::Document;
use scenario::model::{Congestion, Ecn};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

fn results(document: &Document) -> Results {
    let mut run = Simulation::new(document.check().unwrap(), 1, ());
    run.advance(Time::MAX);
    run.results()
}

fn run(text: &str) -> Results {
    results(&Document::parse(text, "test").unwrap())
}

#[test]
fn every_answer_of_a_data_centre_arrives_while_the_port_marks() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/aqmlab/library");
    let found = results(&Document::load(&library.join("links/datacentre.toml")).unwrap());
    let answers = &found.classes["answers"];
    // 40 clients, ten answers of 2 kB a second each.
    let goodput = answers.totals.goodput;
    assert!((goodput - 6.4e6).abs() < 0.2e6, "{goodput}");
    assert!(found.metrics.link.traffic.marks > 0 && found.metrics.link.traffic.drops_early == 0);
    let (started, completed) = (answers.started.unwrap(), answers.completed.unwrap());
    assert!(started > 700 && started - completed < 10, "{completed} of {started}");
}

/// The packets of a connection.
const PACKETS: [&str; 6] = ["SYN", "SYN again", "SYN-ACK", "ACK", "data", "data again"];

type Codepoints = [Ecn; 6];

const NONE: Codepoints = [Ecn::None; 6];
/// RFC 3168: data that is sent for the first time.
const DATA: Codepoints = [Ecn::None, Ecn::None, Ecn::None, Ecn::None, Ecn::Ect0, Ecn::None];
/// A connection without ECN of a control that needs marks: the sockets have its codepoint until it is open.
const OPENING: Codepoints = [Ecn::Ect0, Ecn::Ect0, Ecn::Ect0, Ecn::None, Ecn::None, Ecn::None];

/// Accurate ECN: everything but the handshake (RFC 9768, section 3.2.2).
const ACCURATE: Codepoints = [Ecn::None, Ecn::None, Ecn::None, Ecn::Ect0, Ecn::Ect0, Ecn::Ect0];

const fn scalable(codepoints: Codepoints) -> Codepoints {
    let mut codepoints = codepoints;
    let mut i = 0;
    while i < codepoints.len() {
        if matches!(codepoints[i], Ecn::Ect0) {
            codepoints[i] = Ecn::Ect1;
        }
        i += 1;
    }
    codepoints
}

/// Of each congestion control: a TCP, and the ECN fields of the packets of a connection that agreed on ECN, and of one that
/// lost the SYNs that ask for it. Linux 7.2: `tcp_assign_congestion_control`, `tcp_ecn_send_syn`, `tcp_ecn_clear_syn`,
/// `tcp_v4_send_synack`, `tcp_ecn_send`, `dctcp_init`. TCP Prague and BBRv3: the same functions of their authors' kernels.
const CONTROLS: &[(&str, &str, Codepoints, Codepoints)] = &[
    ("reno", "linux:congestion=reno,ecn=true", DATA, NONE),
    ("cubic", "cubic:ecn=true", DATA, NONE),
    ("cubic", "cubic:ecn=true,ecn_feedback=accurate", ACCURATE, NONE),
    ("dctcp", "dctcp", [Ecn::Ect0; 6], OPENING),
    ("dctcp", "dctcp:ecn_feedback=counter", [Ecn::Ect0; 6], OPENING),
    ("dctcp", "l4s", [Ecn::Ect1; 6], scalable(OPENING)),
    ("prague", "prague", [Ecn::Ect1; 6], scalable(OPENING)),
    ("bbr", "bbr:ecn=true", DATA, NONE),
    ("bbr3", "bbr3:ecn=true", [Ecn::None, Ecn::None, Ecn::None, Ecn::None, Ecn::Ect0, Ecn::Ect0], NONE),
    ("bbr3", "bbr3-l4s", [Ecn::None, Ecn::None, Ecn::None, Ecn::None, Ecn::Ect1, Ecn::Ect1], NONE),
    ("ledbat", "ledbat:ecn=true", DATA, DATA),
];

/// The ECN fields of the packets of connections that agreed on ECN, and of the others.
fn codepoints(tcp: &str, traffic: &str) -> BTreeMap<(bool, &'static str), BTreeSet<String>> {
    let text = format!(
        "duration = \"20 s\"\naqm = \"droptail\"\nreverse_aqm = \"droptail\"\n\
         [dumbbell]\nrate = \"20 Mbit/s\"\nbuffer = \"100 packets\"\n{traffic}\ntcp = \"{tcp}\"\n"
    );
    let scenario = Document::parse(&text, "test").unwrap().check().unwrap();
    let mut run = Simulation::new(scenario, 1, Checked::<()>(None));
    run.tap();
    run.advance(Time::MAX);
    let (mut sent, mut agreed, mut open) = (HashSet::new(), HashMap::new(), HashSet::new());
    let mut doubtful = HashSet::new();
    let mut found = BTreeMap::<_, BTreeSet<_>>::new();
    for seen in run.seen(Time::MAX) {
        let bare = matches!(seen.content, Content::Fin | Content::Ack);
        let again = seen.kind == PacketKind::Data && !bare && !sent.insert((seen.flow, seen.seq));
        if seen.content.is_syn() && seen.lost.is_none() {
            let agreed = *agreed.entry(seen.flow).or_insert(seen.cwr);
            // A SYN that asks no longer lets a receiver with Accurate ECN distrust what was agreed.
            if agreed && !seen.cwr {
                doubtful.insert(seen.flow);
            }
        }
        if doubtful.contains(&seen.flow) {
            continue;
        }
        let packet = match (seen.kind, seen.content.is_syn(), again) {
            (PacketKind::Data, true, again) => usize::from(again),
            // Before and after the data.
            (PacketKind::Data, false, _) if bare => {
                if seen.seq == 1 {
                    3
                } else {
                    5
                }
            }
            (PacketKind::Data, false, again) => 4 + usize::from(again),
            // What acknowledges data comes after data that got through.
            _ => 2 + usize::from(open.contains(&seen.flow)),
        };
        if packet >= 4 && seen.lost.is_none() {
            open.insert(seen.flow);
        }
        let agreed = agreed.get(&seen.flow).copied().unwrap_or(false);
        found.entry((agreed, PACKETS[packet])).or_default().insert(format!("{:?}", seen.ecn));
    }
    found
}

#[test]
fn packets_of_every_congestion_control_have_the_ecn_fields_of_the_kernels() {
    let params::ParamKind::Choice(names) = Congestion::KIND else { panic!("it is a choice") };
    assert_eq!(
        BTreeSet::from_iter(CONTROLS.iter().map(|row| row.0)),
        BTreeSet::from_iter(names.iter().copied())
    );
    // A SYN in four is lost, and two in succession for one of sixteen.
    let transfers = "loss = 0.25\nreverse_loss = 0.1\n[[traffic]]\nname = \"x\"\nkind = \"transfer\"\n\
                     count = 100\nsize = \"20 kB\"";
    for &(_, tcp, with, without) in CONTROLS {
        let found = codepoints(tcp, transfers);
        for (agreed, fields) in [(true, with), (false, without)] {
            for (packet, field) in PACKETS.into_iter().zip(fields) {
                let fields = found.get(&(agreed, packet));
                let expected = BTreeSet::from([format!("{field:?}")]);
                // The lost SYN counts before anybody has agreed; LEDBAT has no handshake.
                let never = agreed && packet == "SYN again" || tcp.starts_with("ledbat") && fields.is_none();
                assert!(fields == Some(&expected) || never, "{tcp}, agreed: {agreed}, {packet}: {fields:?}");
            }
        }
    }
}

/// Flows of a TCP in both directions over a queue that marks, at a rate and a round trip.
fn both_ways(tcp: &str, aqm: &str, rate: &str, delay: &str) -> Results {
    let flows = |name: &str, from: &str, to: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = 4\ntcp = \"{tcp}\"\n"
        )
    };
    run(&format!(
        "duration = \"3 s\"\nwarmup = \"500 ms\"\naqm = \"{aqm}\"\nreverse_aqm = \"{aqm}\"\n\
         [dumbbell]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nbuffer = \"1000 packets\"\naccess_rate = \"10 Gbit/s\"\n\
         sender_delay = \"0 s\"\nreceiver_delay = \"0 s\"\n{}{}",
        flows("down", "senders", "receivers"),
        flows("up", "receivers", "senders")
    ))
}

#[test]
fn of_flows_both_ways_that_need_marks_nothing_is_dropped() {
    for (rate, delay) in [("1 Gbit/s", "14 us"), ("100 Mbit/s", "2 ms")] {
        for tcp in ["dctcp", "l4s", "prague"] {
            let found = both_ways(tcp, "step", rate, delay);
            let [down, up] = ["down", "up"].map(|name| &found.classes[name]);
            assert_eq!([down, up].map(|class| class.traffic.drops_early), [0, 0], "{tcp} at {rate}");
            let ratio = down.totals.goodput / up.totals.goodput;
            assert!((0.9..1.1).contains(&ratio), "{tcp} at {rate}: {ratio}");
        }
    }
    // RFC 3168 lets no ACK be marked: the control.
    let classic = both_ways("cubic:ecn=true", "step", "100 Mbit/s", "2 ms");
    assert!(classic.metrics.link.traffic.drops_early > 0);
}

#[test]
fn all_packets_of_scalable_controls_take_the_low_latency_queue() {
    for tcp in ["l4s", "prague"] {
        let found = both_ways(tcp, "dualpi2", "100 Mbit/s", "2 ms");
        let arrivals = |lane: &str| {
            let of = found.lanes.iter().filter(|(name, _)| name.ends_with(lane));
            of.map(|(_, lane)| lane.traffic.arrivals).sum::<u64>()
        };
        assert!(arrivals("l4s") > 10_000, "{tcp}: {:?}", found.lanes.keys());
        assert_eq!(arrivals("classic"), 0, "{tcp}: SYN, SYN-ACK and ACK have ECT(1) too");
    }
}

/// Two flows over a link that loses all from `lost` on, until a second later.
fn without_syns(tcp: &str) -> Results {
    run(&format!(
        "duration = \"20 s\"\nwarmup = \"5 s\"\naqm = \"step:k=5\"\n\
         [dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\nloss = 0.6\n\
         [[traffic]]\nname = \"web\"\nkind = \"web\"\ncount = 20\nconnections = 1\nobjects = 1\nsize = \"2 kB\"\n\
         think = \"10 s\"\ntcp = \"{tcp}\"\n"
    ))
}

#[test]
fn objects_count_as_started_though_their_handshake_hangs() {
    let found = without_syns("dctcp");
    let web = &found.classes["web"];
    assert!(web.started.unwrap() >= 20, "each client wants an object: {:?}", web.started);
    // Most have lost a packet of the handshake, which takes a second.
    assert!(web.completion_time_p95.is_none_or(|time| time > 1.0), "{:?}", web.completion_time_p95);
}

#[test]
fn a_server_sends_a_lost_first_answer_again_after_the_time_out_that_the_handshake_suggests() {
    // One in 28 SYN-ACKs is lost, which takes a second, and as many answers of a segment, which take 200 ms.
    let found = run(
        "duration = \"20 s\"\n[dumbbell]\nrate = \"100 Mbit/s\"\nbuffer = \"1000 packets\"\nloss = 0.035\n\
                     [[traffic]]\nname = \"web\"\nkind = \"web\"\ncount = 40\nsize = \"1 kB\"\nthink = \"100 ms\"\n",
    );
    let web = &found.classes["web"];
    let (p95, p99) = (web.completion_time_p95.unwrap(), web.completion_time_p99.unwrap());
    assert!(web.completed.unwrap() > 2000 && (0.2..0.5).contains(&p95) && p99 > 1.0, "{p95} {p99}");
}

/// A link with a middlebox, and transfers over it; with the packets seen there.
fn behind(ecn_path: &str, tcp: &str, more: &str) -> (Results, Vec<Seen>) {
    let text = format!(
        "duration = \"20 s\"\naqm = \"step:k=5\"\n\
         [dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"50 packets\"\necn_path = \"{ecn_path}\"\n\
         [[traffic]]\nname = \"x\"\ntcp = \"{tcp}\"\n{more}"
    );
    let scenario = Document::parse(&text, "test").unwrap().check().unwrap();
    let mut run = Simulation::new(scenario, 1, Checked::<()>(None));
    run.tap();
    run.advance(Time::MAX);
    assert_eq!(run.violations(), Vec::<String>::new());
    let mut seen = run.seen(Time::MAX);
    seen.retain(|seen| seen.kind == PacketKind::Data);
    (run.results(), seen)
}

const TRANSFERS: &str = "kind = \"transfer\"\ncount = 4\nsize = \"20 kB\"\nstart = \"uniform(0 s, 1 s)\"\n";
const LONG: &str = "count = 2\n";

#[test]
fn behind_a_middlebox_against_ecn_only_retransmissions_of_cubic_arrive_and_nothing_of_dctcp() {
    let (cubic, seen) = behind("drop", "cubic:ecn=true", TRANSFERS);
    let mut sent = HashSet::new();
    for seen in &seen {
        let first = seen.content == Content::Data && sent.insert((seen.flow, seen.seq));
        assert_eq!(seen.lost, first.then_some(Cause::Ecn), "{seen:?}");
    }
    assert_eq!(cubic.classes["x"].completed, Some(4));
    assert!(cubic.classes["x"].completion_time_mean.unwrap() > 1.0);
    let lost = seen.iter().filter(|seen| seen.lost.is_some()).count() as u64;
    assert!(lost >= 4 * 13 && cubic.metrics.link.random_losses == Some(lost), "{lost}");

    let (dctcp, seen) = behind("drop", "dctcp", TRANSFERS);
    assert!(seen.iter().all(|seen| seen.content.is_syn() && seen.lost == Some(Cause::Ecn)));
    // Only the first asks, and all have ECT.
    assert!(seen.len() > 4 * 4 && seen.iter().filter(|seen| seen.cwr).count() == 4, "{}", seen.len());
    assert_eq!(dctcp.classes["x"].completed, Some(0));
}

#[test]
fn a_connection_whose_request_for_ecn_is_refused_opens_a_second_later_without() {
    for tcp in ["cubic:ecn=true", "dctcp"] {
        let (found, seen) = behind("refuse", tcp, TRANSFERS);
        assert!(
            seen.iter().all(|seen| (seen.lost == Some(Cause::Ecn)) == (seen.content.is_syn() && seen.cwr)),
            "{tcp}"
        );
        assert!(seen.iter().all(|seen| seen.content.is_syn() || seen.ecn == Ecn::None), "{tcp}");
        let x = &found.classes["x"];
        assert_eq!((x.completed, found.metrics.link.random_losses), (Some(4), Some(4)), "{tcp}");
        let time = x.completion_time_mean.unwrap();
        assert!((1.0..1.4).contains(&time), "{tcp}: {time}");
    }
    // One without ECN asks for nothing.
    let (found, _) = behind("refuse", "cubic", TRANSFERS);
    assert!(
        found.metrics.link.random_losses == Some(0) && found.classes["x"].completion_time_mean < Some(0.5)
    );
}

#[test]
fn a_queue_drops_what_it_would_mark_where_ecn_is_cleared_and_overflows_where_marks_are() {
    for tcp in ["cubic:ecn=true", "dctcp", "prague"] {
        let of = |ecn_path| {
            let (found, seen) = behind(ecn_path, tcp, LONG);
            let link = found.metrics.link.traffic;
            let capable = seen.iter().any(|seen| seen.ecn != Ecn::None);
            ((link.marks > 0, link.drops_overflow > 0, capable), link.drops_early > 0)
        };
        // Early drops too: what CUBIC sends again or without data is Not-ECT.
        let (pass, dropped) = of("pass");
        assert_eq!((pass, dropped && !tcp.starts_with("cubic")), ((true, false, true), false), "{tcp}");
        assert_eq!(of("clear"), ((false, false, false), true), "{tcp}");
        assert_eq!(of("clear-marks").0, (true, true, true), "{tcp}");
    }
}

#[test]
fn marks_that_are_erased_behind_a_link_are_those_of_every_queue_before() {
    // The marks are set at `first`, and `second`, which is plain, erases them.
    let run = |ecn_path: &str| {
        let found = run(&format!(
            "duration = \"20 s\"\n[[link]]\nname = \"first\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
             aqm = \"step:k=5\"\nbuffer = \"50 packets\"\n\
             [[link]]\nname = \"second\"\nfrom = \"b\"\nto = \"c\"\necn_path = \"{ecn_path}\"\n\
             [[traffic]]\nname = \"x\"\nfrom = \"a\"\nto = \"c\"\ntcp = \"dctcp\"\n"
        ));
        (found.links["first"].traffic.marks > 0, found.links["first"].traffic.drops_overflow > 0)
    };
    assert_eq!(run("pass"), (true, false));
    assert_eq!(run("clear-marks"), (true, true));
    assert_eq!(run("clear"), (true, true), "CE is cleared too");
}
