//! Packets from outside meet the fates that the simulation's own meet.

use aqm::Uniform as _;
use aqm::aqm::{AnyParams, NAMES};
use aqm::unit::{Limit, Rate, Span, Time};
use netsim::{
    Account, Cause, Emulation, Ends, ExternalPacket, Lost, PacketKind, Series, Simulation, Stream, Wait,
};
use run::results::LinkMetrics;
use run::{Column, Playback, Results};
use scenario::model::{Ecn, EcnPath, TrafficKind as Traffic, Udp};
use scenario::{Document, Scenario};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const ENTRIES: usize = 5;

/// Recordings of bursts that a link of 4 Mbit/s cannot carry, over a dumbbell with different delays, half with ECN.
fn scenario(name: &str, aqm: &str) -> Scenario {
    let dumbbell = format!(
        "aqm = \"{aqm}\"\n[dumbbell]\nrate = \"4 Mbit/s\"\nbuffer = \"60 kB\"\nloss = 0.01\n\
         sender_delay = [\"1 ms\", \"4 ms\"]\nchanges = [\"3 s: 3 Mbit/s\"]\n"
    );
    over(name, &dumbbell, |_| "")
}

/// The recordings over a network, each with the lines that say its ends.
fn over(name: &str, network: &str, ends: impl Fn(usize) -> &'static str) -> Scenario {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulation").join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut text =
        format!("duration = \"8 s\"\nwarmup = \"1 s\"\nseed = 3\nrecord.step = \"100 ms\"\n{network}");
    for entry in 0..ENTRIES {
        let mut rng = Stream::new(7, &entry.to_string());
        let (mut csv, mut at) = ("time,size\n".to_owned(), 0);
        for _ in 0..1500 {
            let size = 60 + (rng.uniform() * 1200.0) as u64;
            writeln!(csv, "{}.{:09},{size}", at / 1_000_000_000, at % 1_000_000_000).unwrap();
            // Never two at one nanosecond, whose order is that of their causes.
            at += if rng.uniform() < 0.7 { 100_000 } else { 12_000_000 } + (rng.uniform() * 9_999.0) as u64;
        }
        let file = folder.join(format!("{entry}.csv"));
        fs::write(&file, csv).unwrap();
        let ecn = ["none", "ect0", "ect1"][entry % 3];
        writeln!(
            text,
            "[[traffic]]\nname = \"e{entry}\"\nkind = \"trace\"\nfile = {file:?}\necn = \"{ecn}\"\nstart = \"{} ms\"\n{}",
            10 * entry + 1,
            ends(entry)
        )
        .unwrap();
    }
    Document::parse(&text, "test").unwrap().check().unwrap_or_else(|problems| panic!("{problems}"))
}

/// The packets of all recordings, in the order of their times.
fn packets(scenario: &Scenario) -> Vec<(Time, ExternalPacket)> {
    let mut found = Vec::new();
    for (i, entry) in scenario.traffic.iter().enumerate() {
        let Traffic::Udp(Udp::Trace(arrivals), ecn) = &entry.kind else { panic!("a recording") };
        let scenario::Distribution::Fixed(start) = entry.start else { panic!("a fixed start") };
        for arrival in arrivals.iter() {
            let packet = ExternalPacket {
                number: 0,
                from: entry.from[0],
                to: entry.to[0],
                class: i as u16,
                flow: i as u32,
                kind: PacketKind::Datagram,
                size: arrival.size,
                ecn: *ecn,
                asks_for_ecn: false,
            };
            found.push((Time::ZERO + entry.begin + start + arrival.at, packet));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.iter_mut().enumerate().for_each(|(number, (_, packet))| packet.number = number as u32);
    found
}

/// What an emulation of `scenario` makes of its packets, offered in groups of `at_a_time`, the last first: results,
/// series, and how many arrived, were lost, were marked.
fn emulated(scenario: &Scenario, at_a_time: usize) -> (Results, Vec<Column>, [usize; 3]) {
    let end = Time::ZERO + scenario.general.duration;
    let emulation = Emulation::new(scenario.clone(), 3, Some(Series::new(scenario)));
    emulated_until(end, emulation, scenario, at_a_time)
}

/// The same of an emulation that ends at `end`.
fn emulated_until(
    end: Time,
    mut emulation: Emulation<Series>,
    scenario: &Scenario,
    at_a_time: usize,
) -> (Results, Vec<Column>, [usize; 3]) {
    let (mut counts, mut known) = ([0; 3], HashSet::new());
    let mut count = |emulation: &mut Emulation<Series>, now: Time| {
        for fate in emulation.fates() {
            assert!(fate.at == now || fate.lost.is_some(), "it is known when it arrives");
            assert!(known.insert(fate.number), "a packet has one fate");
            counts[usize::from(fate.lost.is_some())] += 1;
            counts[2] += usize::from(fate.lost.is_none() && fate.marked);
        }
    };
    // What can be delivered until then is, and nothing after.
    let mut advance = |emulation: &mut Emulation<Series>, until: Time| {
        while let Some(next) = emulation.next_delivery().filter(|next| *next <= until) {
            emulation.advance(next);
            count(emulation, next);
        }
        emulation.advance(until);
        count(emulation, until);
    };
    let mut packets = packets(scenario);
    packets.retain(|(at, _)| *at <= end);
    for packets in packets.chunks_mut(at_a_time) {
        advance(&mut emulation, packets[0].0);
        let last = packets[packets.len() - 1].0;
        packets.sort_by_key(|(at, _)| Reverse(*at));
        for (at, packet) in packets {
            assert!(emulation.offer(*at, packet));
        }
        advance(&mut emulation, last);
    }
    if end < Time::ZERO + scenario.general.duration {
        emulation.end_at(end);
    }
    let results = emulation.finish(vec![Ends::default(); ENTRIES]);
    emulation.fates().for_each(drop);
    assert_eq!(emulation.violations(), Vec::<String>::new());
    let series = emulation.probe_mut().unwrap();
    series.finish(end);
    (results, series.take_columns(), counts)
}

#[test]
fn an_open_run_that_ends_sooner_has_the_results_of_a_shorter_one() {
    for aqm in NAMES {
        let long = scenario("open", aqm);
        let mut short = long.clone();
        short.general.duration = Span::us(5_012_345);
        let end = Time::ZERO + short.general.duration;
        let (expected, series, counts) = emulated(&short, 1);
        let open = Emulation::open(long.clone(), 3, Some(Series::new(&long)));
        let (found, columns, found_counts) = emulated_until(end, open, &long, 1);
        let numbers =
            |results: Results| (results.metrics, results.links, results.classes, results.distributions);
        assert_eq!(numbers(found), numbers(expected), "{aqm}");
        assert!(found_counts == counts && counts[0] > 1000, "{aqm}: {found_counts:?} {counts:?}");
        assert_eq!(columns.len(), series.len(), "{aqm}");
        for (found, expected) in columns.iter().zip(&series) {
            let bits =
                |column: &Column| column.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!((&found.name, bits(found)), (&expected.name, bits(expected)), "{aqm}");
        }
    }
}

#[test]
fn every_discipline_decides_on_packets_from_outside_as_in_the_simulation() {
    for aqm in NAMES {
        let scenario = scenario("decides", aqm);
        let mut run = Simulation::new(scenario.clone(), 3, Series::new(&scenario));
        run.advance(Time::MAX);
        run.probe_mut().finish(Time::ZERO + scenario.general.duration);
        let (expected, series) = (run.results(), run.probe_mut().take_columns());
        let (found, columns, [arrived, lost, marked]) = emulated(&scenario, 1);
        let (ahead, ..) = emulated(&scenario, 7);
        assert_eq!((&ahead.links, &ahead.metrics), (&found.links, &found.metrics), "{aqm}: offered ahead");
        let of_links = |mut results: Results| {
            // The endpoints say what was delivered, and there are none.
            results.links.values_mut().for_each(|link| link.link_goodput = None);
            results.links
        };
        assert_eq!(of_links(found.clone()), of_links(expected.clone()), "{aqm}");
        assert_eq!(found.lanes, expected.lanes, "{aqm}");
        assert_eq!(found.distributions, expected.distributions, "{aqm}");
        assert!(columns.iter().map(|column| &column.name).eq(series.iter().map(|column| &column.name)));
        for (column, expected) in columns.iter().zip(&series) {
            let bits =
                |column: &Column| column.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(column), bits(expected), "{aqm}: {}", column.name);
        }
        assert!(arrived > 1000 && lost > 500, "{aqm}: {arrived} arrived, {lost} were lost");
        let marks = expected.metrics.link.traffic.marks as usize;
        assert!(marked <= arrived && (marked > 0) == (marks > 0), "{aqm}: {marked} of {marks}");
    }
}

#[test]
fn a_middlebox_treats_packets_from_outside_as_in_the_simulation() {
    for ecn_path in [EcnPath::Pass, EcnPath::Clear, EcnPath::ClearMarks, EcnPath::Drop] {
        let mut scenario = scenario("middlebox", "red:ecn=true");
        let observed = scenario.observed;
        scenario.links[observed].ecn_path = ecn_path;
        let mut run = Simulation::new(scenario.clone(), 3, ());
        run.advance(Time::MAX);
        let mut expected = run.results().links;
        expected.values_mut().for_each(|link| link.link_goodput = None);
        let mut emulation = Emulation::<Series>::new(scenario.clone(), 3, None);
        let packets = packets(&scenario);
        packets.iter().for_each(|(at, packet)| assert!(emulation.offer(*at, packet)));
        let mut found = emulation.finish(vec![Ends::default(); ENTRIES]).links;
        found.values_mut().for_each(|link| link.link_goodput = None);
        assert_eq!(found, expected, "{ecn_path:?}");
        assert_eq!(emulation.violations(), Vec::<String>::new());
        let (mut marked, mut lost) = (0, 0);
        for fate in emulation.fates() {
            let was_capable = packets[fate.number as usize].1.ecn != Ecn::None;
            let for_its_ecn = fate.lost.is_some_and(|lost| lost.cause == Cause::Ecn);
            assert_eq!(for_its_ecn, ecn_path == EcnPath::Drop && was_capable);
            if fate.lost.is_none() {
                assert_eq!(fate.ect, was_capable && ecn_path != EcnPath::Clear, "{ecn_path:?}");
            }
            marked += usize::from(fate.marked);
            lost += usize::from(for_its_ecn);
        }
        assert_eq!((marked > 0, lost > 0), (ecn_path == EcnPath::Pass, ecn_path == EcnPath::Drop));
        let marks = found["bottleneck"].traffic.marks > 0;
        assert_eq!(marks, matches!(ecn_path, EcnPath::Pass | EcnPath::ClearMarks), "{ecn_path:?}");
    }
}

/// What the links do with packets from outside, which has to be what they do in the simulation; that alone knows goodputs.
fn emulated_as_simulated(scenario: &Scenario) -> BTreeMap<String, LinkMetrics> {
    let mut run = Simulation::new(scenario.clone(), 3, ());
    run.advance(Time::MAX);
    let [mut found, mut expected] = [emulated(scenario, 1).0.links, run.results().links];
    for links in [&mut found, &mut expected] {
        links.values_mut().for_each(|link| link.link_goodput = None);
    }
    assert_eq!(found, expected);
    found
}

#[test]
fn packets_from_outside_collide_as_in_the_simulation() {
    let mut scenario = scenario("collides", "droptail");
    for link in scenario.links.iter_mut().filter(|link| link.name.starts_with("sender1")) {
        (link.half_duplex, link.aqm) = (Some(Span::us(1)), AnyParams::of("droptail"));
    }
    for entry in scenario.traffic.iter_mut().step_by(2) {
        std::mem::swap(&mut entry.from, &mut entry.to);
    }
    let found = emulated_as_simulated(&scenario);
    assert!(found["sender1"].collisions > Some(10), "{:?}", found["sender1"].collisions);
}

#[test]
fn packets_from_outside_go_over_wifi_as_in_the_simulation() {
    let ends = |entry| match entry % 3 {
        0 => "from = \"server\"\nto = \"near\"\n",
        1 => "from = \"server\"\nto = \"far\"\n",
        _ => "from = \"far\"\nto = \"server\"\n",
    };
    for queues in ["station", "shared"] {
        let network = format!(
            "[[link]]\nfrom = \"server\"\nto = \"ap\"\n[[wifi]]\nname = \"wlan\"\nap = \"ap\"\n\
             stations = [\"near\", \"far\"]\nstandard = \"n\"\nmcs = [7, 0]\nerror = 0.1\nqueues = \"{queues}\"\n\
             buffer = \"60 packets\"\ndriver = 20\naqm = \"codel\"\n"
        );
        let scenario = over(&format!("wifi-{queues}"), &network, ends);
        let found = emulated_as_simulated(&scenario);
        assert!(found["wlan-far"].collisions > Some(10) && found["wlan-far"].aggregate_mean > Some(1.0));
        let lost: u64 =
            found.values().map(|link| link.traffic.drops_early + link.traffic.drops_overflow).sum();
        assert!(lost > 10, "{lost}");
    }
}

#[test]
fn packets_from_outside_go_over_a_cell_as_in_the_simulation() {
    let ends = |entry| match entry % 3 {
        0 => "from = \"server\"\nto = \"near\"\n",
        1 => "from = \"server\"\nto = \"far\"\n",
        _ => "from = \"far\"\nto = \"server\"\n",
    };
    let network = "[[link]]\nfrom = \"server\"\nto = \"base\"\n[[cell]]\nname = \"cell\"\nbase = \"base\"\n\
                   users = [\"near\", \"far\"]\nwidth = 5\ncqi = [9, 3]\nspread = 2\nbuffer = \"60 packets\"\n\
                   aqm = \"codel\"\n";
    let scenario = over("cell", network, ends);
    let found = emulated_as_simulated(&scenario);
    assert!(found["cell-far"].harq_rounds_mean > Some(1.05), "{:?}", found["cell-far"].harq_rounds_mean);
    let lost: u64 = found.values().map(|link| link.traffic.drops_early + link.traffic.drops_overflow).sum();
    assert!(lost > 10, "{lost}");
}

#[test]
fn packets_from_outside_go_over_a_cable_network_as_in_the_simulation() {
    let ends = |entry| match entry % 3 {
        0 => "from = \"home\"\nto = \"server\"\n",
        1 => "from = \"next\"\nto = \"server\"\n",
        _ => "from = \"server\"\nto = \"home\"\n",
    };
    let network = "[[link]]\nfrom = \"server\"\nto = \"cmts\"\n[[cable]]\nname = \"cable\"\ncmts = \"cmts\"\n\
                   modems = [\"home\", \"next\"]\nrate = [\"2 Mbit/s\", \"20 Mbit/s\"]\nfree = \"8 Mbit/s\"\n\
                   variation = 0.5\nbuffer = \"12 kB\"\naqm = \"pie:preset=docsis\"\n";
    let scenario = over("cable", network, ends);
    let found = emulated_as_simulated(&scenario);
    assert!(found["cable-home"].channel_share > Some(0.0), "{found:?}");
    let lost: u64 = found.values().map(|link| link.traffic.drops_early + link.traffic.drops_overflow).sum();
    assert!(lost > 10, "{lost}");
}

#[test]
fn packets_from_outside_have_the_jitter_of_the_simulation() {
    let mut scenario = scenario("jitter", "pi");
    let still = emulated(&scenario, 1).0.links;
    scenario.traffic.iter_mut().for_each(|entry| entry.send_jitter = Span::ms(3));
    let found = emulated_as_simulated(&scenario);
    assert_ne!(found, still);
}

#[test]
fn a_packet_enters_only_where_the_scenario_has_traffic() {
    let scenario = scenario("enters", "pi");
    let mut emulation = Emulation::<Series>::new(scenario.clone(), 1, None);
    let (at, packet) = packets(&scenario)[0];
    assert!(emulation.offer(at, &packet));
    assert!(!emulation.offer(at, &ExternalPacket { to: packet.from, ..packet }));
    assert_eq!(
        emulation.finish(vec![Ends::default(); ENTRIES]).links["bottleneck"].traffic.arrivals,
        0,
        "it came before the end of the warm-up"
    );
    assert_eq!(emulation.fates().map(|fate| fate.number).collect::<Vec<_>>(), [packet.number]);
}

#[test]
fn what_the_endpoints_know_is_in_the_results() {
    let scenario = scenario("ends", "pi");
    let mut emulation = Emulation::<Series>::new(scenario, 1, None);
    let mut ends = vec![Ends::default(); ENTRIES];
    ends[1] = Ends {
        account: Account {
            delivered: vec![7000, 0],
            transient: 700,
            timeouts: Some(2),
            ..Account::default()
        },
        started: 4,
        completions: vec![Span::ms(100), Span::ms(300)],
        round_trips: vec![Span::ms(30), Span::ms(50)],
        sessions: vec![Span::s(2)],
        playback: Playback { chunks: 4, bitrates: 8_000_000, switches: 1, played: 30, stalled: 10 },
    };
    let results = emulation.finish(ends);
    let class = &results.classes["e1"];
    // Seven seconds from the warm-up on.
    assert_eq!((class.totals.goodput, class.totals.jain), (8.0 * 1100.0, Some(0.5)));
    assert_eq!((class.totals.timeouts, class.totals.retransmits), (Some(2), None));
    assert_eq!(
        (class.completed, class.completion_time_mean, class.session_time_mean),
        (Some(2), Some(0.2), Some(2.0))
    );
    assert_eq!((class.totals.rtt_mean, class.totals.rtt_max), (Some(0.04), Some(0.05)));
    assert_eq!(
        (class.video_bitrate, class.stall_ratio, class.switch_ratio),
        (Some(2e6), Some(0.25), Some(0.25))
    );
    assert_eq!(class.started, Some(4 + 1), "and the recording");
    assert_eq!((results.metrics.flows.goodput, results.metrics.flows.timeouts), (8.0 * 1100.0, None));
}

/// A first-in first-out queue of a limited number of bytes, with its link.
struct Outside {
    sizes: Vec<u64>,
    waiting: VecDeque<u32>,
    bytes: u64,
    free: Time,
}

impl Outside {
    fn send(&mut self, emulation: &mut Emulation<Series>, now: Time) {
        while self.free <= now
            && let Some(number) = self.waiting.pop_front()
        {
            let size = self.sizes[number as usize];
            self.bytes -= size;
            self.free = now + Rate::mbit_per_s(4).transmission(size as u32);
            emulation.sent(now, number, false);
        }
    }

    fn go_on(&mut self, emulation: &mut Emulation<Series>, now: Time) {
        emulation.advance(now);
        self.send(emulation, now);
        for (number, came, _) in emulation.handed_over().collect::<Vec<_>>() {
            assert_eq!(came, now);
            let size = self.sizes[number as usize];
            if self.bytes + size > 60_000 {
                emulation.dropped(now, number, true);
            } else {
                self.bytes += size;
                self.waiting.push_back(number);
            }
            self.send(emulation, now);
        }
    }
}

#[test]
#[should_panic(expected = "to itself")]
fn a_half_duplex_link_has_no_queue_outside() {
    let mut scenario = scenario("alone", "droptail");
    let cable = scenario.observed / 2 * 2;
    scenario.links[cable..cable + 2].iter_mut().for_each(|link| {
        (link.half_duplex, link.aqm) = (Some(Span::us(1)), AnyParams::of("droptail"));
    });
    Emulation::<Series>::new(scenario, 3, None).leave_observed();
}

#[test]
fn of_a_queue_outside_the_same_account_is_kept() {
    let mut scenario = scenario("outside", "droptail");
    let observed = scenario.observed;
    scenario.links[observed].changes.clear();
    let mut run = Simulation::new(scenario.clone(), 3, Series::new(&scenario));
    run.advance(Time::MAX);
    let expected = run.results();

    scenario.links[observed].buffer = Limit::Packets(u32::MAX);
    let mut emulation = Emulation::new(scenario.clone(), 3, Some(Series::new(&scenario)));
    emulation.leave_observed();
    let packets = packets(&scenario);
    let sizes = packets.iter().map(|(_, packet)| u64::from(packet.size)).collect();
    let mut outside = Outside { sizes, waiting: VecDeque::new(), bytes: 0, free: Time::ZERO };
    let end = Time::ZERO + scenario.general.duration;
    let mut offered = packets.iter().peekable();
    loop {
        let free = (!outside.waiting.is_empty()).then_some(outside.free);
        let next = [offered.peek().map(|(at, _)| *at), emulation.next_delivery(), free];
        let Some(now) = next.into_iter().flatten().min().filter(|now| *now <= end) else { break };
        while let Some((_, packet)) = offered.next_if(|(at, _)| *at == now) {
            assert!(emulation.offer(now, packet));
        }
        outside.go_on(&mut emulation, now);
    }
    let found = emulation.finish(vec![Ends::default(); ENTRIES]);
    assert_eq!(emulation.violations(), Vec::<String>::new());
    assert!(expected.metrics.link.traffic.drops_overflow > 500);
    let expected = LinkMetrics { queue_full: None, link_goodput: Some(0.0), ..expected.metrics.link };
    assert_eq!(found.metrics.link, expected);
}

#[test]
fn a_packet_is_followed_to_its_end() {
    for aqm in NAMES {
        let mut scenario = scenario("followed", aqm);
        scenario.general.warmup = Span::ZERO;
        let bottleneck = scenario.observed;
        let mut emulation = Emulation::<Series>::new(scenario.clone(), 3, None);
        emulation.list_waits();
        for (at, packet) in packets(&scenario) {
            assert!(emulation.offer(at, &packet));
        }
        let results = emulation.finish(vec![Ends::default(); ENTRIES]);
        let waits: HashMap<u32, Wait> = emulation
            .waits()
            .filter(|wait| wait.link == bottleneck)
            .map(|wait| (wait.number, wait))
            .collect();
        let mut causes = [0; 3];
        for fate in emulation.fates() {
            let wait = waits.get(&fate.number);
            match fate.lost {
                None => assert_eq!(wait.map(|wait| wait.marked), Some(fate.marked), "{aqm}"),
                Some(Lost { link, cause, waited, .. }) => {
                    assert_eq!((link, wait), (bottleneck, None), "{aqm}");
                    assert!(cause != Cause::Random || waited == Span::ZERO, "{aqm}");
                    causes[cause as usize] += 1;
                }
            }
        }
        let link = &results.links["bottleneck"];
        let traffic = &link.traffic;
        let expected = [link.random_losses.unwrap(), traffic.drops_early, traffic.drops_overflow];
        assert_eq!(causes, expected, "{aqm}");
        let marks = waits.values().filter(|wait| wait.marked).count() as u64;
        assert_eq!(marks, traffic.marks, "{aqm}");
    }
}
