//! Which packets of a TCP connection may be marked, and what becomes of connections whose handshake is lost.

use aqm::params::{self, Field as _};
use aqm::unit::Time;
use netsim::{Checked, Kind, Simulation};
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
    ("dctcp", "dctcp", [Ecn::Ect0; 6], OPENING),
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
    let mut found = BTreeMap::<_, BTreeSet<_>>::new();
    for seen in run.seen(Time::MAX) {
        let again = seen.kind == Kind::Data && !sent.insert((seen.flow, seen.seq));
        if seen.syn && seen.lost.is_none() {
            agreed.entry(seen.flow).or_insert(seen.cwr);
        }
        let packet = match (seen.kind, seen.syn, again) {
            (Kind::Data, true, again) => usize::from(again),
            (Kind::Data, false, again) => 4 + usize::from(again),
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
    let params::Kind::Choice(names) = Congestion::KIND else { panic!("it is a choice") };
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
