//! An engine that works ahead gives what one gives that has an event for every arrival at a queue with an AQM or at a host,
//! and for every departure: every metric, every distribution, every value of every series. Both compute the passage over
//! plain links, which nothing can interfere with, at once.

use aqm::aqm::NAMES;
use aqm::unit::{Span, Time};
use netsim::tcp::{Content, Receiver, Segment};
use netsim::{Series, Simulation};
use proptest::prelude::*;
use run::Glance;
use scenario::model::{Profile, Tcp};
use scenario::{Document, Scenario};

const INTEGER: &str = "clock = \"integer\"";
const DOUBLE: &str = "clock = \"double\"";

fn scenario(text: &str) -> Scenario {
    Document::parse(text, "ahead").unwrap().check().unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// All results of a run, and its number of events.
fn outcome(mut run: Simulation<Series>) -> (serde_json::Value, u64) {
    // In slices, as an interface with a progress bar does it.
    for second in 1..4 {
        run.advance(Time::from_nanos(second * 1_700_000_001));
    }
    run.advance(Time::MAX);
    let end = run.end();
    run.probe_mut().finish(end);
    let mut results = serde_json::to_value(run.results()).unwrap();
    let engine = results.as_object_mut().unwrap().remove("engine").unwrap();
    results["windows"] = format!("{:?}", run.windows()).into();
    let columns = run.probe_mut().take_columns();
    // As bits: not a number is not equal to itself.
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    results["series"] = columns.iter().map(|column| (column.name.clone(), bits(&column.values))).collect();
    (results, engine["events"].as_u64().unwrap())
}

/// Asserts that both runs have the same results, on the integer and on the double clock; returns how many events each took.
#[track_caller]
fn compare(text: &str, seed: u64) -> [(u64, u64); 2] {
    assert!(text.contains(INTEGER), "{text}");
    [INTEGER, DOUBLE].map(|clock| compare_on(&text.replace(INTEGER, clock), seed))
}

/// The same on the scenario's own clock.
#[track_caller]
fn compare_on(text: &str, seed: u64) -> (u64, u64) {
    let scenario = scenario(text);
    let series = Series::new(&scenario);
    let (ahead, events) = outcome(Simulation::new(scenario.clone(), seed, series.clone()));
    let (stepped, most) = outcome(Simulation::step_by_step(scenario, seed, series));
    for (key, value) in stepped.as_object().unwrap() {
        assert_eq!(&ahead[key], value, "{key} of\n{text}");
    }
    assert!(events <= most, "{events} events, {most} step by step");
    (events, most)
}

fn dumbbell(aqm: &str, tcp: &str, more: &str) -> String {
    format!(
        "duration = \"6 s\"\nwarmup = \"1.3 s\"\nclock = \"integer\"\nrecord.step = \"100 ms\"\naqm = \"{aqm}\"\n\
         [dumbbell]\nrate = \"2 Mbit/s\"\nbuffer = \"30 packets\"\nreceiver_delay = [\"4 ms\", \"20 ms\", \"36 ms\"]\n\
         [[traffic]]\nname = \"long\"\ncount = 12\npacket_size = \"500 B\"\ntcp = {tcp}\n{more}"
    )
}

const NS2: &str = "{ preset = \"ns2.35\", flavour = \"newreno\" }";
const UDP: &str =
    "[[traffic]]\nname = \"udp\"\nkind = \"poisson\"\nrate = \"300 kbit/s\"\npacket_size = \"200 B\"\n";

#[test]
fn every_discipline_has_the_same_results_step_by_step() {
    for aqm in NAMES {
        compare(&dumbbell(aqm, NS2, UDP), 1);
        compare(&dumbbell(aqm, "\"sack\"", ""), 2);
    }
}

#[test]
fn a_glance_at_a_run_that_works_ahead_is_of_one_time() {
    // On the integer clock: on the double clock a step may come between two times at which a run can stop.
    for &aqm in NAMES {
        // One host sends all, so the link takes packets over as soon as they are sent.
        let several = "receiver_delay = [\"4 ms\", \"20 ms\", \"36 ms\"]\n";
        let scenario = scenario(&dumbbell(aqm, NS2, UDP).replace(several, ""));
        let mut later = 0;
        let mut ahead = Simulation::new(scenario.clone(), 3, ());
        let mut stepped = Simulation::step_by_step(scenario, 3, ());
        for slice in 1..=60 {
            ahead.advance(Time::ZERO + Span::ms(100) * slice);
            let glance = ahead.glance();
            later += u32::from(glance.t > 0.1 * slice as f64);
            stepped.advance(Time::ZERO + Span::from_secs(glance.t));
            let same = stepped.glance();
            let state = |glance: &Glance| {
                let Glance {
                    t,
                    queue,
                    queue_area,
                    arrivals,
                    drops,
                    marks,
                    departures,
                    departed_bytes,
                    waited,
                } = *glance;
                // What is dropped at once leaves the queue as it is.
                (t, queue, queue_area, arrivals - drops, marks, departures, departed_bytes, waited)
            };
            assert_eq!(state(&glance), state(&same), "{aqm}");
            assert!(glance.drops >= same.drops, "{aqm}");
        }
        assert_eq!(ahead.glance(), stepped.glance(), "{aqm}: at the end");
        assert!(ahead.finished() && ahead.glance().waited > 0.0);
        assert!(aqm != "droptail" || later > 10, "{later} glances were at a later time");
    }
}

#[test]
fn datagrams_that_are_marked_have_the_same_results_step_by_step() {
    for (aqm, ecn) in [("red:ecn=true", "ect0"), ("red:ecn=true", "ect1"), ("dualpi2", "ect1")] {
        compare(&dumbbell(aqm, NS2, &format!("{UDP}ecn = \"{ecn}\"\n")), 1);
    }
}

#[test]
fn links_that_frame_packets_have_the_same_results_step_by_step() {
    let framed = |aqm: &str| {
        let tail = "[[link]]\nname = \"tail\"\nfrom = \"r2\"\nto = \"end\"\noverhead = \"14 B\"\nrate = \"3 Mbit/s\"\n\
                    buffer = \"3 kB\"\n[[traffic]]\nname = \"far\"\nto = \"end\"\n";
        dumbbell(aqm, NS2, &format!("{UDP}{tail}")).replace("[dumbbell]", "[dumbbell]\noverhead = \"38 B\"")
    };
    for aqm in ["droptail", "pi:bytes=true", "red:bytes=true", "codel", "fq_codel"] {
        compare(&framed(aqm), 1);
    }
}

#[test]
fn working_ahead_spares_events_where_decisions_are_final_and_segments_answered_at_once() {
    for (events, most) in compare(&dumbbell("pi", NS2, ""), 1) {
        assert!(10 * events < 7 * most, "{events} of {most}");
    }
    // CoDel decides when a packet leaves; what is delivered early is spared all the same.
    for (events, most) in compare(&dumbbell("codel", NS2, ""), 1) {
        assert!(10 * events < 9 * most, "{events} of {most}");
    }
}

#[test]
fn what_the_engine_cannot_foresee_it_does_not() {
    let traffic = |kind: &str| format!("[[traffic]]\nname = \"other\"\n{kind}\n");
    for other in [
        // Both directions over one host; hosts that listen; flows that come and go; transfers that end.
        "kind = \"ftp\"\ncount = 4\npacket_size = \"500 B\"\nfrom = \"receivers\"\nto = \"senders\"\ntcp = \"rfc5681\"",
        "kind = \"short\"\narrival_rate = \"20 /s\"\nsize = \"4 kB\"\npacket_size = \"500 B\"\ntcp = \"rfc5681\"",
        "kind = \"web\"\ncount = 5\npacket_size = \"500 B\"\ntcp = \"rfc5681\"",
        "kind = \"ping\"\ncount = 3\ninterval = \"7 ms\"",
        "kind = \"tfrc\"\ncount = 3\npacket_size = \"500 B\"",
        "kind = \"transfer\"\ncount = 20\nsize = \"exponential(20 kB)\"\npacket_size = \"500 B\"\nstart = \"uniform(0 s, 5 s)\"\n\
         tcp = \"rfc5681\"",
        "kind = \"ftp\"\ncount = 3\npacket_size = \"500 B\"\ntcp = \"dctcp\"",
        "kind = \"ftp\"\ncount = 3\npacket_size = \"1000 B\"\ntcp = \"linux\"",
        "kind = \"ftp\"\ncount = 3\npacket_size = \"1000 B\"\ntcp = \"bbr:delayed_ack=false\"",
        "kind = \"ftp\"\ncount = 3\npacket_size = \"1000 B\"\ntcp = \"linux:delayed_ack=false,receive_offload=1 ms\"",
    ] {
        for aqm in ["red:ecn=true", "pie", "codel"] {
            compare(&dumbbell(aqm, NS2, &traffic(other)), 3);
        }
    }
}

/// The engine delivers ahead of time to receivers without delayed ACKs: no timer may come in between.
#[test]
fn a_receiver_without_delayed_acks_answers_every_segment_at_once() {
    let arrival = (1u32..40, any::<bool>(), any::<bool>(), 0u64..100);
    proptest!(|(
        preset in prop::sample::select(vec!["rfc5681", "ns2.35", "ledbat", "linux", "rfc", "dctcp"]),
        arrivals in prop::collection::vec(arrival, 1..100),
    )| {
        let tcp = Tcp { delayed_ack: false, handshake: false, ..Tcp::preset(preset).unwrap() };
        let profile = Profile::new(&tcp, 500);
        let (mut receiver, mut now) = (Receiver::new(&profile), Time::ZERO);
        for (seq, ce, cwr, ms) in arrivals {
            now += Span::ms(ms);
            let segment =
                Segment { seq, content: Content::Data, retransmission: false, cwr, ect: true, l4s: false, push: false, sent: now };
            let mut answers = 0;
            receiver.on_segment(now, &profile, &segment, ce, |_| answers += 1);
            prop_assert_eq!((answers, receiver.deadline()), (1, Time::MAX));
        }
    });
}

#[test]
fn links_that_lose_or_change_are_the_same_step_by_step() {
    for link in [
        "loss = 0.02\n",
        "changes = [\"2 s: 1 Mbit/s\", \"4 s: 3 Mbit/s\"]\n",
        "reverse_rate = \"100 kbit/s\"\n",
        "access_rate = \"3 Mbit/s\"\naccess_buffer = \"4 packets\"\n",
    ] {
        let text = dumbbell("pi", NS2, UDP)
            .replace("[[traffic]]\nname = \"long\"", &format!("{link}[[traffic]]\nname = \"long\""));
        compare(&text, 4);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_dumbbell_has_the_same_results_step_by_step(
        aqm in prop::sample::select(vec!["droptail", "pi", "red", "rem:form=ns2", "lred", "blue", "step", "sfb", "codel"]),
        flavour in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack"]),
        delayed in any::<bool>(),
        rate in 500u32..20_000,
        buffer in 1u32..100,
        access in 500u32..50_000,
        // All different: see the one exception in ahead.rs.
        delays in prop::collection::btree_set(0u32..50, 1..5),
        sender in 0u32..50,
        count in 1u32..40,
        (udp, size) in (0u32..3, 41u32..1500),
        warmup in 0u32..3000,
        seed in 0u64..1000,
    ) {
        let delays = delays.iter().map(|ms| format!("\"{ms} ms\"")).collect::<Vec<_>>().join(", ");
        let text = format!(
            "duration = \"4 s\"\nwarmup = \"{warmup} ms\"\nclock = \"integer\"\naqm = \"{aqm}\"\n\
             [dumbbell]\nrate = \"{rate} kbit/s\"\nbuffer = \"{buffer} packets\"\naccess_rate = \"{access} kbit/s\"\n\
             receiver_delay = [{delays}]\nsender_delay = \"{sender} ms\"\n\
             [[traffic]]\nname = \"long\"\ncount = {count}\npacket_size = \"500 B\"\n\
             tcp = {{ preset = \"ns2.35\", flavour = \"{flavour}\", delayed_ack = {delayed} }}\n\
             [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\ncount = {}\nrate = \"100 kbit/s\"\npacket_size = \"{size} B\"\n",
            udp + 1,
        );
        compare(&text, seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// In round numbers and with hosts alike, so that much happens at one time.
    #[test]
    fn any_dumbbell_with_ties_has_the_same_results_step_by_step_on_the_double_clock(
        aqm in prop::sample::select(vec!["droptail", "pi", "red", "rem:form=ns2", "lred", "blue", "step", "sfb", "codel"]),
        flavour in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack"]),
        delayed in any::<bool>(),
        rate in prop::sample::select(vec!["1 Mbit/s", "2 Mbit/s", "4 Mbit/s", "10 Mbit/s"]),
        buffer in 1u32..60,
        access in prop::sample::select(vec!["1 Mbit/s", "2 Mbit/s", "8 Mbit/s", "10 Mbit/s", "100 Mbit/s"]),
        delays in prop::collection::vec(prop::sample::select(vec![0u32, 5, 10, 20]), 1..5),
        sender in prop::sample::select(vec![0u32, 5, 10]),
        count in 1u32..30,
        (udp, size) in (0u32..4, prop::sample::select(vec![60u32, 250, 500, 1000])),
        start in prop::sample::select(vec!["0 s", "0.5 s", "uniform(0 s, 1 s)"]),
        warmup in prop::sample::select(vec![0u32, 500, 1000]),
        seed in 0u64..1000,
    ) {
        let delays = delays.iter().map(|ms| format!("\"{ms} ms\"")).collect::<Vec<_>>().join(", ");
        let text = format!(
            "duration = \"3 s\"\nwarmup = \"{warmup} ms\"\n{DOUBLE}\naqm = \"{aqm}\"\n\
             [dumbbell]\nrate = \"{rate}\"\nbuffer = \"{buffer} packets\"\naccess_rate = \"{access}\"\n\
             receiver_delay = [{delays}]\nsender_delay = \"{sender} ms\"\n\
             [[traffic]]\nname = \"long\"\ncount = {count}\npacket_size = \"500 B\"\nstart = \"{start}\"\n\
             tcp = {{ preset = \"ns2.35\", flavour = \"{flavour}\", delayed_ack = {delayed} }}\n\
             [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\ncount = {}\nrate = \"100 kbit/s\"\npacket_size = \"{size} B\"\n",
            udp + 1,
        );
        compare_on(&text, seed);
    }
}

/// A cable between two of this many nodes, with properties that may mislead an engine that works ahead.
#[derive(Clone, Debug)]
struct Cable {
    ends: (usize, usize),
    rate: u32,
    delay: u32,
    buffer: u32,
    aqms: [Option<&'static str>; 2],
    more: &'static str,
}

const ROUND_RATES: [u32; 4] = [1_000_000, 2_000_000, 4_000_000, 10_000_000];

fn cable(nodes: usize, ties: bool) -> impl Strategy<Value = Cable> {
    let finals =
        ["droptail", "pi", "red:ecn=true", "pie:ecn=true", "sfb", "avq", "codel", "fq_codel", "dualpi2"];
    let aqm = || prop::option::weighted(0.4, prop::sample::select(finals.to_vec()));
    let more = prop::sample::select(vec![
        "",
        "",
        "",
        "loss = 0.01",
        "reverse_loss = 0.02",
        "changes = [\"1 s: 700 kbit/s\"]",
        "buffer = \"1 packets\"",
        "ecn_path = \"clear\"\nreverse_ecn_path = \"clear\"",
        "ecn_path = \"clear-marks\"",
        "ecn_path = \"drop\"",
    ]);
    let ends = (0..nodes, 0..nodes);
    // In bit/s and ns, so that hardly anything happens at the same nanosecond, or in Mbit/s and ms, so that much does.
    let (rate, delay) = match ties {
        true => (
            prop::sample::select(ROUND_RATES.to_vec()).boxed(),
            (0..4u32).prop_map(|n| n * 5_000_000).boxed(),
        ),
        false => {
            ((300_000u32..20_000_000).boxed(), prop_oneof![1 => Just(0u32), 4 => 1u32..30_000_000].boxed())
        }
    };
    (ends, rate, delay, 1u32..60, aqm(), aqm(), more).prop_map(
        |(ends, rate, delay, buffer, there, back, more)| Cable {
            ends,
            rate,
            delay,
            buffer,
            aqms: [there, back],
            more,
        },
    )
}

/// A scenario of these cables, after a chain of the first through all nodes, and of traffic between any nodes.
fn graph(nodes: usize, cables: &[Cable], traffic: &[(usize, usize, &str, u32)], warmup: u32) -> String {
    let mut text = format!(
        "duration = \"3 s\"\nwarmup = \"{warmup} ms\"\nclock = \"integer\"\nrecord.step = \"100 ms\"\n\
         record.cwnd = \"50 ms\"\n"
    );
    let mut taken = std::collections::BTreeSet::new();
    for (i, cable) in cables.iter().enumerate() {
        let (from, to) = if i + 1 < nodes { (i, i + 1) } else { cable.ends };
        if from == to || !taken.insert((from.min(to), from.max(to))) {
            continue;
        }
        let Cable { rate, delay, buffer, aqms: [there, back], more, .. } = cable;
        let size = if more.starts_with("buffer") {
            String::new()
        } else {
            format!("buffer = \"{buffer} packets\"\n")
        };
        let aqm =
            |key: &str, aqm: &Option<&str>| aqm.map_or(String::new(), |aqm| format!("{key} = \"{aqm}\"\n"));
        text += &format!(
            "[[link]]\nname = \"l{i}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\nrate = \"{rate} bit/s\"\n\
             delay = \"{delay} ns\"\n{size}{more}\n{}{}",
            aqm("aqm", there),
            aqm("reverse_aqm", back)
        );
    }
    for (i, (from, to, kind, start)) in traffic.iter().enumerate().filter(|(_, (from, to, ..))| from != to) {
        text += &format!(
            "[[traffic]]\nname = \"t{i}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\nstart = \"{start} us\"\n{kind}\n"
        );
    }
    text
}

const KINDS: [&str; 11] = [
    "kind = \"ftp\"\ncount = 3\ntcp = { preset = \"ns2.35\", flavour = \"newreno\" }\npacket_size = \"500 B\"",
    "kind = \"ftp\"\ncount = 2\ntcp = { preset = \"ns2.35\", flavour = \"sack\" }\npacket_size = \"1000 B\"",
    "kind = \"ftp\"\ncount = 2\ntcp = \"l4s:delayed_ack=false\"\npacket_size = \"1000 B\"",
    "kind = \"ftp\"\ncount = 2\npacket_size = \"1000 B\"\nstop = \"2 s\"\ntcp = \"linux:delayed_ack=false\"",
    "kind = \"ftp\"\ncount = 2\ntcp = \"bbr\"\npacket_size = \"1000 B\"",
    "kind = \"transfer\"\ncount = 9\ntcp = { preset = \"ns2.35\", flavour = \"newreno\" }\npacket_size = \"500 B\"\n\
     size = \"exponential(20 kB)\"",
    "kind = \"short\"\narrival_rate = \"20 /s\"\nsize = \"4 kB\"\npacket_size = \"500 B\"\ntcp = \"rfc5681\"",
    "kind = \"web\"\ncount = 3\npacket_size = \"500 B\"\ntcp = \"rfc5681\"",
    "kind = \"poisson\"\nrate = \"400 kbit/s\"\npacket_size = \"300 B\"",
    "kind = \"video\"\nframe_rate = \"25 /s\"\nframe_size = \"5 kB\"",
    "kind = \"ping\"\ncount = 2\ninterval = \"3 ms\"\npacket_size = \"200 B\"",
];

/// A graph and its traffic.
fn any_graph(ties: bool) -> impl Strategy<Value = String> {
    let start = if ties { (0..5u32).prop_map(|n| n * 100_000).boxed() } else { (0u32..500_000).boxed() };
    let parts = (2usize..6).prop_flat_map(move |nodes| {
        let entry = (0..nodes, 0..nodes, prop::sample::select(KINDS.to_vec()), start.clone());
        let cables = prop::collection::vec(cable(nodes, ties), nodes - 1..nodes + 3);
        (Just(nodes), cables, prop::collection::vec(entry, 1..5))
    });
    let warmup = prop_oneof![Just(0u32), 1u32..2900];
    (parts, warmup)
        .prop_map(|((nodes, cables, traffic), warmup)| graph(nodes, &cables, &traffic, warmup))
        .prop_filter("a queue and traffic", |text| text.contains("aqm = ") && text.contains("[[traffic]]"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_graph_has_the_same_results_step_by_step(text in any_graph(false), seed in 0u64..1000) {
        compare(&text, seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_graph_with_ties_has_the_same_results_step_by_step_on_the_double_clock(
        text in any_graph(true),
        seed in 0u64..1000,
    ) {
        compare_on(&text.replace(INTEGER, DOUBLE), seed);
    }
}

#[test]
fn what_two_links_send_at_one_instant_meets_in_the_same_order_step_by_step() {
    let link = |name: &str, from: &str, to: &str, more: &str| {
        format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"1 ms\"\n{more}\n")
    };
    let narrow = "rate = \"1 Mbit/s\"\naqm = \"droptail\"\nbuffer = \"9 packets\"";
    let links = [
        link("left", "a", "r", narrow),
        link("right", "b", "r", narrow),
        link("out", "r", "c", "rate = \"1500 kbit/s\"\naqm = \"droptail\"\nbuffer = \"3 packets\""),
    ];
    let traffic = |from: &str| {
        format!(
            "[[traffic]]\nname = \"of-{from}\"\nkind = \"cbr\"\nfrom = \"{from}\"\nto = \"c\"\ncount = 2\n\
             rate = \"800 kbit/s\"\npacket_size = \"500 B\"\n"
        )
    };
    for senders in [["a", "b"], ["b", "a"]] {
        let text = format!(
            "duration = \"5 s\"\nclock = \"integer\"\nobserve = \"out\"\nrecord.step = \"100 ms\"\n{}{}",
            links.concat(),
            senders.map(traffic).concat()
        );
        compare(&text, 1);
    }
}

#[test]
fn a_receiver_that_others_pass_through_answers_in_turn() {
    let cable = |from: &str, to: &str, more: &str| {
        format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\ndelay = \"1234567 ns\"\n{more}\n")
    };
    let traffic = |to: &str| {
        format!(
            "[[traffic]]\nkind = \"ftp\"\nfrom = \"a\"\nto = \"{to}\"\ncount = 3\ntcp = {NS2}\npacket_size = \"500 B\"\n"
        )
    };
    // In reverse the acknowledgements of both share a link.
    let text = [
        "duration = \"5 s\"\nclock = \"integer\"\nrecord.step = \"100 ms\"\n".to_owned(),
        cable(
            "a",
            "b",
            "rate = \"1 Mbit/s\"\nreverse_rate = \"53 kbit/s\"\naqm = \"pi\"\nbuffer = \"20 packets\"",
        ),
        cable("b", "c", "rate = \"700 kbit/s\""),
        traffic("b"),
        traffic("c"),
    ];
    compare(&text.concat(), 1);
}

#[test]
fn a_queue_that_was_silent_for_long_has_the_same_results_step_by_step() {
    for aqm in ["pi", "pi2", "pie", "rem", "lred:l_min=0.01", "raqm", "ared", "dtared"] {
        let text = format!(
            "duration = \"600 s\"\nwarmup = \"100 s\"\nclock = \"integer\"\naqm = \"{aqm}\"\n[dumbbell]\nrate = \"1 Mbit/s\"\n\
             buffer = \"300 packets\"\n[[traffic]]\nname = \"x\"\nkind = \"on-off\"\nrate = \"2 Mbit/s\"\non = \"exponential(2 s)\"\n\
             off = \"exponential(60 s)\"\npacket_size = \"500 B\"\n"
        );
        compare(&text, 1);
        // Without series periods may be left out that leave a signal at another value than 0.
        let outcome = |mut run: Simulation<()>| {
            run.advance(Time::MAX);
            let results = run.results();
            assert!(results.metrics.link.traffic.drops_early > 0, "{aqm}");
            (results.metrics, results.links, results.distributions)
        };
        for clock in [INTEGER, DOUBLE] {
            let scenario = scenario(&text.replace(INTEGER, clock));
            let stepped = outcome(Simulation::step_by_step(scenario.clone(), 1, ()));
            assert_eq!(outcome(Simulation::new(scenario, 1, ())), stepped, "{aqm}, {clock}");
        }
    }
}
