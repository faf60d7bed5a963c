//! Links whose delay varies, with time and from packet to packet, and that are out at times.

use aqm::unit::{Span, Time};
use netsim::{Emulation, Ends, ExternalPacket, PacketFate, PacketKind, Series, Simulation};
use run::Results;
use scenario::model::Ecn;
use scenario::{Document, Scenario};
use std::collections::HashMap;

fn scenario(text: &str) -> Scenario {
    Document::parse(text, "varied").unwrap().check().unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// The results and the series of a run in which packets are conserved.
fn run(text: &str) -> (Results, HashMap<String, Vec<f64>>) {
    let scenario = scenario(text);
    let mut run = Simulation::new(scenario.clone(), 1, netsim::Checked(Some(Series::new(&scenario))));
    run.advance(Time::MAX);
    assert_eq!(run.violations(), Vec::<String>::new(), "{text}");
    let (results, end) = (run.results(), run.end());
    let series = run.probe_mut().0.as_mut().unwrap();
    series.finish(end);
    let columns = series.take_columns();
    (results, columns.into_iter().map(|column| (column.name, column.values)).collect())
}

/// A ping every 10 ms for 20 s, over 10 ms there and 10 ms back beside a transmission of 64 us each way and links of 1 ms
/// to the hosts.
fn ping(clock: &str, dumbbell: &str) -> (Results, HashMap<String, Vec<f64>>) {
    run(&format!(
        "duration = \"20 s\"\nclock = \"{clock}\"\nrecord.step = \"1 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\naccess_rate = \"100 Gbit/s\"\n\
         sender_delay = \"1 ms\"\nreceiver_delay = \"1 ms\"\n{dumbbell}\n\
         [[traffic]]\nname = \"ping\"\nkind = \"ping\"\ninterval = \"10 ms\"\npacket_size = \"80 B\"\n"
    ))
}

/// The mean round trip of each second, in ms, without the 4.128 ms that do not vary.
fn round_trips(clock: &str, dumbbell: &str) -> Vec<f64> {
    ping(clock, dumbbell).1["ping.rtt"].iter().map(|seconds| seconds * 1e3 - 4.128).collect()
}

#[test]
fn a_delay_follows_its_steps_and_ramps_in_both_directions_or_in_one() {
    let steps = "delays = [\"4 s: 30 ms\", \"8 s..12 s: 10 ms\"]";
    let near = |found: &[f64], seconds: usize, expected: f64| {
        assert!((found[seconds] - expected).abs() < 0.5, "{seconds} s: {} of {found:?}", found[seconds]);
    };
    for clock in ["integer", "double"] {
        let both = round_trips(clock, steps);
        // A mean of a second: the ramp loses 5 ms a second in each direction.
        for (seconds, expected) in [(2, 20.0), (5, 60.0), (9, 45.0), (11, 25.0), (15, 20.0)] {
            near(&both, seconds, expected);
        }
        let travels = &ping(clock, steps).1["bottleneck.travel"];
        for (seconds, expected) in [(2, 10e-3), (5, 30e-3), (9, 22.5e-3), (15, 10e-3)] {
            assert!((travels[seconds] - expected).abs() < 0.1e-3, "{seconds} s: {travels:?}");
        }
        let one = round_trips(clock, &format!("{steps}\nreverse_delays = \"0 s: 10 ms\""));
        for (seconds, expected) in [(2, 20.0), (5, 40.0), (9, 32.5), (15, 20.0)] {
            near(&one, seconds, expected);
        }
    }
    let again = round_trips("integer", "delays = \"2 s: 20 ms\"\nchanges_period = \"4 s\"");
    for (seconds, expected) in [(1, 20.0), (3, 40.0), (5, 20.0), (7, 40.0)] {
        near(&again, seconds, expected);
    }
}

#[test]
fn jitter_spreads_round_trips_and_leaves_their_mean() {
    for law in ["uniform", "normal", "pareto"] {
        let keys = format!("jitter = {{ law = \"{law}\", deviation = \"3 ms\" }}");
        let (results, _) = ping("integer", &keys);
        let totals = &results.classes["ping"].totals;
        let mean = totals.rtt_mean.unwrap() * 1e3;
        // 2000 of a deviation of at most 3 ms.
        assert!((mean - 24.128).abs() < 0.3, "{law}: {mean}");
        let (low, high) = (totals.rtt_p50.unwrap(), totals.rtt_max.unwrap());
        assert!(high - low > 2.5e-3, "{law}: {low} {high}");
    }
    let (results, _) =
        ping("double", "jitter = { deviation = \"3 ms\" }\nreverse_jitter = { deviation = \"5 ms\" }");
    let most = results.classes["ping"].totals.rtt_max.unwrap() * 1e3;
    assert!((31.0..32.2).contains(&most), "{most}");
}

#[test]
fn an_outage_stops_a_link_and_loses_nothing() {
    let (results, columns) = ping("integer", "outages = \"5 s..7 s\"");
    let sent = &columns["bottleneck.ping.departures"];
    // One is in transmission when the second begins.
    assert!(sent[5] <= 1.0 && sent[6] == 0.0, "{sent:?}");
    // What waits leaves in the next second, at once.
    assert!((299.0..=301.0).contains(&sent[7]), "{sent:?}");
    let totals = &results.classes["ping"].totals;
    assert_eq!(totals.path_loss_ratio, Some(0.0));
    let most = totals.rtt_max.unwrap();
    assert!((2.0..2.03).contains(&most), "the first that waits, waits for the whole outage: {most}");
}

#[test]
fn handovers_of_one_value_are_those_that_a_file_lists() {
    let drawn = "handover = { every = \"6 s\", outage = \"500 ms\", delay = \"30 ms\", rate = \"5 Mbit/s\", \
                 reverse_rate = \"2 Mbit/s\", first = \"4 s\" }";
    let listed = "delays = \"4 s: 30 ms\"\nchanges = \"4 s: 5 Mbit/s\"\n\
                  outages = [\"4 s..4.5 s\", \"10 s..10.5 s\", \"16 s..16.5 s\"]";
    let [(_, drawn), (_, listed)] = [drawn, listed].map(|keys| ping("integer", keys));
    assert_eq!(drawn["bottleneck.ping.departures"], listed["bottleneck.ping.departures"]);
    // A ping takes 96 us longer back at 2 Mbit/s, and as long there.
    let later: Vec<f64> = drawn["ping.rtt"].iter().zip(&listed["ping.rtt"]).map(|(a, b)| a - b).collect();
    assert!(later[..4].iter().all(|&x| x == 0.0), "{later:?}");
    assert!(later[5..9].iter().all(|&x| (x - 256e-6).abs() < 1e-9), "{later:?}");
}

#[test]
fn handovers_are_drawn_for_each_seed_and_alike_in_both_directions() {
    let keys = "handover = { every = \"exponential(100 ms)\", delay = \"uniform(10 ms, 30 ms)\" }\novertaking = true";
    let (results, columns) = ping("integer", keys);
    let totals = &results.classes["ping"].totals;
    // 200 values of a deviation of 11.5 ms, as both directions have the same.
    assert!((totals.rtt_mean.unwrap() - 44.1e-3).abs() < 3e-3, "{:?}", totals.rtt_mean);
    assert!(totals.rtt_max.unwrap() > 62e-3 && totals.rtt_p50.unwrap() < 48e-3, "{:?}", totals.rtt_max);
    assert_eq!(ping("integer", keys).1["ping.rtt"], columns["ping.rtt"]);
    let travel = |seed: u64| {
        let text = format!(
            "duration = \"20 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\n{keys}\n[[traffic]]\nname = \"p\"\nkind = \"ping\"\n"
        );
        let mut run = Simulation::new(scenario(&text), seed, ());
        run.advance(Time::MAX);
        run.results().classes["p"].totals.rtt_mean
    };
    assert_ne!(travel(1), travel(2));
}

#[test]
fn what_comes_in_the_outage_of_a_handover_may_be_lost() {
    let text = "duration = \"400 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\n\
                handover = { every = \"1 s\", outage = \"100 ms\", loss = 0.5 }\nloss = 0.01\n\
                [[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket_size = \"500 B\"\n";
    let lost = run(text).0.classes["cbr"].totals.path_loss_ratio.unwrap();
    // Half of a tenth, and a hundredth of the others; 100,000 packets.
    assert!((lost - (0.1 * 0.505 + 0.9 * 0.01)).abs() < 0.003, "{lost}");
}

#[test]
fn copies_arrive_and_are_no_losses() {
    let text = "duration = \"50 s\"\n[dumbbell]\nrate = \"2 Mbit/s\"\nduplicate = 0.1\n\
                [[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket_size = \"500 B\"\nstop = \"49 s\"\n";
    let (results, _) = run(text);
    let cbr = &results.classes["cbr"];
    // 12250 packets: the deviation of the number of copies is 33.
    let sent = 1e6 * 49.0 / 50.0 * (472.0 / 500.0);
    let more = cbr.totals.goodput / sent;
    assert!((more - 1.1).abs() < 0.01, "{more}");
    assert_eq!(cbr.totals.path_loss_ratio, Some(0.0));
}

/// What varies on a link, in combinations that disturb each other most.
const VARIED: [&str; 10] = [
    "jitter = { law = \"normal\", deviation = \"8 ms\" }\nreverse_jitter = { law = \"pareto\", deviation = \"4 ms\" }",
    "jitter = { deviation = \"10 ms\", correlation = 0.9 }\novertaking = true",
    "reorder = { probability = 0.05 }\nreverse_reorder = { gap = 20 }",
    "duplicate = 0.05\nreverse_duplicate = 0.1",
    "delays = [\"1 s: 40 ms\", \"2 s: 2 ms\", \"3 s..4 s: 30 ms\"]\novertaking = true",
    "outages = [\"1 s..1.3 s\", \"2.5 s..2.6 s\"]\nchanges = \"2 s: 1 Mbit/s\"\nreverse_outages = \"3 s..3.2 s\"",
    "handover = { every = \"uniform(200 ms, 900 ms)\", outage = \"exponential(50 ms)\", delay = \"uniform(1 ms, 40 ms)\", \
     rate = \"pareto(2 Mbit/s, 1.5)\", loss = 0.3 }\nduplicate = 0.01",
    "handover = { every = \"300 ms\", delay = \"uniform(1 ms, 40 ms)\", reverse_rate = \"uniform(1 Mbit/s, 9 Mbit/s)\" }\n\
     overtaking = true\nloss = 0.01",
    "delays = [\"1 s: 40 ms\", \"2 s: 2 ms\"]\nchanges_period = \"2.2 s\"\nloss = 0.02\necn_path = \"clear\"",
    "jitter = { law = \"normal\", deviation = \"2 ms\" }\nreorder = { probability = 0.02, gap = 3, correlation = 0.5 }\n\
     duplicate = 0.02\nreverse_duplicate = 0.02\novertaking = true\ndelays = \"2 s: 5 ms\"\nloss = 0.01\necn_path = \"clear-marks\"",
];

/// Traffic of every kind of sender over such a link.
fn mixture(clock: &str, aqm: &str, varied: &str) -> String {
    let tcps = ["sack", "rfc5681", "linux", "bbr", "bbr3", "prague", "dctcp", "ledbat"];
    let flows: String = tcps
        .iter()
        .map(|tcp| {
            format!("[[traffic]]\nname = \"{tcp}\"\ncount = 2\ntcp = \"{tcp}\"\npacket_size = \"1000 B\"\n")
        })
        .collect();
    format!(
        "duration = \"6 s\"\nwarmup = \"1.3 s\"\nclock = \"{clock}\"\nrecord.step = \"100 ms\"\naqm = \"{aqm}\"\nreverse_aqm = \"droptail\"\n\
         [dumbbell]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"60 packets\"\n{varied}\n{flows}\
         [[traffic]]\nname = \"short\"\nkind = \"short\"\nsize = \"20 kB\"\narrival_rate = \"5 /s\"\n\
         [[traffic]]\nname = \"call\"\nkind = \"voip\"\n[[traffic]]\nname = \"ping\"\nkind = \"ping\"\n\
         [[traffic]]\nname = \"page\"\nkind = \"web\"\nconnections = 3\nobjects = 5\nthink = \"200 ms\"\n\
         [[traffic]]\nname = \"tfrc\"\nkind = \"tfrc\"\n"
    )
}

#[test]
fn packets_are_conserved_and_working_ahead_changes_nothing() {
    for clock in ["integer", "double"] {
        for (i, varied) in VARIED.iter().enumerate() {
            let aqm = ["droptail", "codel", "fq_codel", "red:ecn=true"][i % 4];
            let text = mixture(clock, aqm, varied);
            let (ahead, _) = run(&text);
            let scenario = scenario(&text);
            let mut stepped = Simulation::step_by_step(scenario, 1, netsim::Checked::<()>(None));
            stepped.advance(Time::MAX);
            assert_eq!(stepped.violations(), Vec::<String>::new(), "{text}");
            let value = |results: &Results| {
                let mut value = serde_json::to_value(results).unwrap();
                value.as_object_mut().unwrap().remove("engine");
                value
            };
            assert_eq!(value(&ahead), value(&stepped.results()), "{text}");
        }
    }
}

#[test]
fn each_copy_of_a_packet_from_outside_has_its_fate() {
    let scenario = scenario(
        "duration = \"30 s\"\n[dumbbell]\nrate = \"8 Mbit/s\"\nduplicate = 0.2\ndelay = \"10 ms\"\nreverse_duplicate = 0.1\n\
         jitter = { deviation = \"9 ms\" }\n[[link]]\nname = \"tail\"\nfrom = \"r2\"\nto = \"end\"\nduplicate = 0.2\nloss = 0.1\n\
         [[traffic]]\nkind = \"cbr\"\nfrom = \"sender1\"\nto = \"end\"\n",
    );
    let node = |name: &str| scenario.nodes.iter().position(|node| node == name).unwrap();
    let (from, to) = (node("sender1"), node("end"));
    let mut emulation = Emulation::<Series>::new(scenario.clone(), 1, None);
    let mut fates: Vec<PacketFate> = Vec::new();
    let mut number = 0;
    for ms in 0..29_000 {
        let at = Time::ZERO + Span::ms(ms);
        // Until then nothing may happen that was not foretold.
        while let Some(next) = emulation.next_delivery().filter(|next| *next < at) {
            emulation.advance(next);
            fates.extend(emulation.fates());
        }
        emulation.advance(at);
        assert!(
            emulation.fates().all(|fate| {
                fates.push(fate);
                fate.at == at || fate.lost.is_some()
            }),
            "{ms} ms"
        );
        let packet = ExternalPacket {
            number,
            from,
            to,
            class: 0,
            flow: 0,
            kind: PacketKind::Datagram,
            size: 500,
            ecn: Ecn::None,
            asks_for_ecn: false,
        };
        assert!(emulation.offer(at, &packet));
        number += 1;
    }
    emulation.finish(vec![Ends::default()]);
    fates.extend(emulation.fates());
    assert_eq!(emulation.violations(), Vec::<String>::new());
    let mut last = vec![0; number as usize];
    for fate in &fates {
        assert_eq!(last[fate.number as usize], 0, "{}: nothing follows the last", fate.number);
        last[fate.number as usize] += u32::from(!fate.again);
    }
    assert!(last.iter().all(|&last| last == 1), "each has one fate that is its last");
    // 0.2 more on the first link, of which 0.9 arrive on the second, 0.2 more there.
    let expected = 29_000.0 * 1.2 * (0.1 + 0.9 * 1.2);
    assert!((fates.len() as f64 / expected - 1.0).abs() < 0.02, "{} {expected}", fates.len());
}
