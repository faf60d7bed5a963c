use crate::engine::rng::Stream;
use crate::measure::probe::Checked;
use crate::simulation::Simulation;
use aqm::Uniform as _;
use aqm::unit::{Span, Time};
use run::{Results, Watch};
use scenario::Scenario;

type Live = Simulation<Checked<()>>;

const NETWORK: &str =
    "duration = \"40 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\ndelay = \"10 ms\"\n";

const LONG: &str = "[[traffic]]\nname = \"long\"\ncount = 5\n";

const CBR: &str = "[[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n";

/// An entry of every kind that needs no file, each called like its kind.
const ALL: &str = "[[traffic]]\nname = \"ftp\"\ncount = 2\nstart = \"uniform(0 s, 1 s)\"\n\
    [[traffic]]\nname = \"classic\"\ncount = 2\ntcp = \"rfc5681\"\nstop = \"30 s\"\n\
    [[traffic]]\nname = \"transfer\"\nkind = \"transfer\"\nsize = \"exponential(300 kB)\"\n\
    [[traffic]]\nname = \"short\"\nkind = \"short\"\nsize = \"pareto(10 kB, 1.3)\"\narrival_rate = \"5 /s\"\n\
    [[traffic]]\nname = \"web\"\nkind = \"web\"\nconnections = 3\nobjects = 6\nthink = \"exponential(1 s)\"\n\
    [[traffic]]\nname = \"dash\"\nkind = \"dash\"\nchunk = \"1 s\"\nplayback_buffer = \"5 s\"\n\
    [[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nrate = \"300 kbit/s\"\n\
    [[traffic]]\nname = \"on-off\"\nkind = \"on-off\"\nrate = \"500 kbit/s\"\n\
    [[traffic]]\nname = \"poisson\"\nkind = \"poisson\"\nrate = \"300 kbit/s\"\nstart = \"2 s\"\n\
    [[traffic]]\nname = \"fgn\"\nkind = \"fgn\"\nrate = \"300 kbit/s\"\n\
    [[traffic]]\nname = \"voip\"\nkind = \"voip\"\n\
    [[traffic]]\nname = \"video\"\nkind = \"video\"\n\
    [[traffic]]\nname = \"game\"\nkind = \"game\"\n\
    [[traffic]]\nname = \"tfrc\"\nkind = \"tfrc\"\n\
    [[traffic]]\nname = \"ping\"\nkind = \"ping\"\n";

const KINDS: [&str; 15] = [
    "ftp", "classic", "transfer", "short", "web", "dash", "cbr", "on-off", "poisson", "fgn", "voip", "video",
    "game", "tfrc", "ping",
];

fn scenario(text: &str, changes: &[(&str, &str)]) -> Scenario {
    let mut document = scenario::Document::parse(text, "traffic").unwrap();
    changes.iter().for_each(|(path, text)| document.set_text(path, text).unwrap());
    document.check().unwrap()
}

/// The whole file: with a flow that is always there, for a scenario has at least one.
fn whole(text: &str) -> String {
    format!("{NETWORK}{text}[[traffic]]\nname = \"probe\"\nkind = \"ping\"\n")
}

fn live(text: &str) -> Live {
    Simulation::live(scenario(&whole(text), &[]), 1, Checked(None), Watch::default())
        .expect("nobody stops it")
}

fn follow(run: &mut Live, text: &str, changes: &[(&str, &str)]) -> Result<(), String> {
    run.follow(&scenario(&whole(text), changes))
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

fn class(run: &Live, name: &str) -> u16 {
    run.scenario.traffic.iter().position(|entry| entry.name == name).unwrap() as u16
}

/// Payload bytes of each flow of an entry, in the order of their numbers.
fn delivered(run: &Live, name: &str) -> Vec<u64> {
    run.account(Some(class(run, name).into())).delivered
}

/// The payload in Mbit/s that an entry delivers in the next `seconds`.
fn goodput(run: &mut Live, name: &str, seconds: u64) -> f64 {
    let all = |run: &Live| {
        let account = run.account(Some(class(run, name).into()));
        account.transient + account.delivered.iter().sum::<u64>()
    };
    let before = all(run);
    run.advance(run.network.watch.now() + Span::s(seconds));
    (all(run) - before) as f64 * 8e-6 / seconds as f64
}

/// The results at the end, which must be sound.
fn finish(mut run: Live) -> (Results, Live) {
    run.advance(Time::MAX);
    assert_eq!(run.violations(), Vec::<String>::new());
    let mut results = run.results();
    results.engine.cpu_seconds = 0.0;
    (results, run)
}

#[test]
fn flows_that_are_added_take_their_share_and_those_taken_away_leave_theirs() {
    let text = format!("[aqm]\nname = \"fq_codel\"\n{LONG}[[traffic]]\nname = \"other\"\ncount = 5\n");
    let mut run = live(&text);
    run.advance(at(5_000));
    let share = |run: &mut Live| {
        let long = goodput(run, "long", 6);
        (long, goodput(run, "other", 2))
    };
    let (long, _) = share(&mut run);
    assert!((4.5..5.1).contains(&long), "{long} of 9.6");
    follow(&mut run, &text, &[("traffic.long.count", "45")]).unwrap();
    run.advance(at(15_000));
    let (long, _) = share(&mut run);
    assert!((8.3..9.0).contains(&long), "{long} of 9.6");
    follow(&mut run, &text, &[("traffic.long.count", "0")]).unwrap();
    run.advance(at(24_500));
    let (long, other) = share(&mut run);
    assert!(long == 0.0 && other > 9.0, "{long}, {other}");
    let last = delivered(&run, "long");
    follow(&mut run, &text, &[("traffic.long.count", "5")]).unwrap();
    let (long, _) = share(&mut run);
    assert!((4.0..5.1).contains(&long), "{long} of 9.6");
    let more: Vec<bool> = delivered(&run, "long").iter().zip(last).map(|(now, then)| *now > then).collect();
    assert_eq!(more, [vec![true; 5], vec![false; 40]].concat(), "the first five go on");
    let (results, _) = finish(run);
    assert_eq!((results.classes["long"].flows, results.classes["long"].started), (45, Some(45)));
}

#[test]
fn a_flow_that_is_taken_away_delivers_what_is_outstanding() {
    let mut run = live(LONG);
    run.advance(at(5_000));
    let sent: Vec<u32> =
        run.endpoints.senders.iter().map(|sender| sender.una() + sender.cwnd() as u32).collect();
    follow(&mut run, LONG, &[("traffic.long.count", "0")]).unwrap();
    let before = delivered(&run, "long");
    run.advance(at(7_000));
    for (i, sender) in run.endpoints.senders.iter().enumerate() {
        assert!(sender.is_through() && sender.una() <= sent[i] + 20, "flow {i}");
        assert!(delivered(&run, "long")[i] > before[i], "flow {i}");
    }
    finish(run);
}

#[test]
fn a_datagram_that_waits_comes_as_much_sooner_as_the_rate_is_higher() {
    // One packet in 12 s, at the rate of the link afterwards.
    let text = CBR.replace("1 Mbit/s", "1 kbit/s");
    let mut run = live(&text);
    run.advance(at(6_000));
    assert_eq!(delivered(&run, "cbr"), [1472]);
    follow(&mut run, &text, &[("traffic.cbr.rate", "2 kbit/s")]).unwrap();
    run.advance(at(8_900));
    assert_eq!(delivered(&run, "cbr"), [1472]);
    run.advance(at(9_100));
    assert_eq!(delivered(&run, "cbr"), [2 * 1472], "6 of 12 s are left, which become 3");
    follow(&mut run, &text, &[("traffic.cbr.rate", "1 Mbit/s")]).unwrap();
    assert!((goodput(&mut run, "cbr", 5) / (1472.0 / 1500.0) - 1.0).abs() < 0.02);
    finish(run);
}

#[test]
fn every_rate_acts_from_its_moment_on() {
    for (kind, keys, key, values, from, to, tolerance) in [
        ("cbr", "", "rate", "4 Mbit/s", 0.981, 3.925, 0.01),
        ("poisson", "", "rate", "4 Mbit/s", 0.981, 3.925, 0.1),
        ("on-off", "", "rate", "4 Mbit/s", 0.49, 1.96, 0.35),
        ("on-off", "on = \"100 ms\"\noff = \"100 ms\"\n", "off", "25 ms", 0.49, 0.785, 0.1),
        ("fgn", "", "rate", "4 Mbit/s", 0.981, 3.925, 0.1),
        ("ping", "", "interval", "20 ms", 0.0022, 0.0224, 0.05),
        ("voip", "", "frame_rate", "100 /s", 0.0688, 0.1376, 0.01),
        ("video", "key_every = 0\n", "frame_size", "12000 B", 1.41, 2.82, 0.02),
        ("game", "", "frame_rate", "300 /s", 0.022, 0.22, 0.05),
        ("tfrc", "max_rate = \"1 Mbit/s\"\n", "max_rate", "4 Mbit/s", 0.981, 3.925, 0.02),
    ] {
        let text = format!("[[traffic]]\nname = \"x\"\nkind = \"{kind}\"\n{keys}");
        let mut run = live(&text);
        run.advance(at(1_000));
        let before = goodput(&mut run, "x", 18);
        assert!((before / from - 1.0).abs() < tolerance, "{kind}: {before} for {from}");
        follow(&mut run, &text, &[(&format!("traffic.x.{key}"), values)]).unwrap();
        let after = goodput(&mut run, "x", 18);
        assert!((after / to - 1.0).abs() < tolerance, "{kind}: {after} for {to}");
        finish(run);
    }
}

#[test]
fn arrivals_come_at_another_rate_and_of_more_processes() {
    let text = "[[traffic]]\nname = \"x\"\nkind = \"short\"\nsize = \"3 kB\"\narrival_rate = \"20 /s\"\n";
    let mut run = live(text);
    let mut started = |changes: &[(&str, &str)]| {
        follow(&mut run, text, changes).unwrap();
        let before = run.endpoints.classes[0].started;
        run.advance(run.network.watch.now() + Span::s(9));
        (run.endpoints.classes[0].started - before) as f64 / 9.0
    };
    // Five standard errors are 0.37 of the lowest mean.
    let close = |found: f64, mean: f64| assert!((found / mean - 1.0).abs() < 0.37, "{found} for {mean}");
    close(started(&[]), 20.0);
    close(started(&[("traffic.x.arrival_rate", "80 /s")]), 80.0);
    close(started(&[("traffic.x.arrival_rate", "80 /s"), ("traffic.x.count", "3")]), 240.0);
    close(started(&[("traffic.x.count", "1")]), 20.0);
    assert_eq!(started(&[("traffic.x.count", "0")]), 0.0);
    finish(run);
}

#[test]
fn clients_finish_their_page_and_come_back() {
    let web = "[[traffic]]\nname = \"x\"\nkind = \"web\"\ncount = 4\nsize = \"100 kB\"\nobjects = 10\nthink = \"1 s\"\n";
    let dash =
        "[[traffic]]\nname = \"x\"\nkind = \"dash\"\ncount = 4\nchunk = \"1 s\"\nplayback_buffer = \"3 s\"\n";
    for text in [web, dash] {
        let mut run = live(text);
        run.advance(at(6_500));
        follow(&mut run, text, &[("traffic.x.count", "0")]).unwrap();
        run.advance(at(12_000));
        let open = |run: &Live| {
            run.endpoints.clients.iter().map(|client| client.connections.len()).collect::<Vec<_>>()
        };
        assert_eq!(open(&run), [0; 4]);
        let sessions = run.deliveries.classes[0].sessions.count();
        assert_eq!(goodput(&mut run, "x", 5), 0.0);
        follow(&mut run, text, &[("traffic.x.count", "6")]).unwrap();
        let again = goodput(&mut run, "x", 5);
        assert!(again > 2.0, "{again} Mbit/s");
        assert_eq!(run.endpoints.clients.len(), 6);
        let (results, run) = finish(run);
        assert_eq!(text == web, run.deliveries.classes[0].sessions.count() > sessions);
        // While a viewer is away nothing stalls.
        assert!(
            results.classes["x"].stall_ratio.is_none_or(|ratio| ratio < 0.2),
            "{:?}",
            results.classes["x"]
        );
    }
}

#[test]
fn a_transfer_goes_on_where_it_was_and_a_complete_one_is_complete() {
    let text = "[[traffic]]\nname = \"x\"\nkind = \"transfer\"\nsize = \"4 MB\"\ncount = 2\n";
    let mut run = live(text);
    run.advance(at(3_000));
    let part = delivered(&run, "x");
    assert!(part.iter().all(|&bytes| bytes < 4_000_000));
    follow(&mut run, text, &[("traffic.x.count", "1")]).unwrap();
    run.advance(at(15_000));
    assert!(delivered(&run, "x")[0] == 4_000_000 && delivered(&run, "x")[1] < 4_000_000);
    for count in ["0", "3"] {
        follow(&mut run, text, &[("traffic.x.count", count)]).unwrap();
    }
    let (results, run) = finish(run);
    assert_eq!(delivered(&run, "x"), [4_000_000; 3]);
    let class = &results.classes["x"];
    assert_eq!((class.started, class.completed), (Some(3), Some(3)));
    assert!(class.completion_time_max.unwrap() > 12.0, "the time away counts");
}

#[test]
fn starts_are_drawn_again_and_counted_from_the_change() {
    let text = "[[traffic]]\nname = \"x\"\nstart = \"uniform(1 s, 2 s)\"\ncount = 3\n\
                [[traffic]]\nname = \"y\"\nkind = \"cbr\"\nrate = \"50 kbit/s\"\nstart = \"uniform(1 s, 2 s)\"\nstop = \"20 s\"\ncount = 3\n";
    let mut run = live(text);
    run.advance(at(500));
    let counts = |x: &'static str| [("traffic.x.count", x), ("traffic.y.count", x)];
    follow(&mut run, text, &counts("0")).unwrap();
    run.advance(at(5_000));
    assert_eq!([delivered(&run, "x"), delivered(&run, "y")], [[0; 3], [0; 3]], "none had begun");
    follow(&mut run, text, &counts("40")).unwrap();
    run.advance(at(6_000));
    assert_eq!([delivered(&run, "x"), delivered(&run, "y")], [[0; 40], [0; 40]]);
    let starts: Vec<Time> = run
        .endpoints
        .slots_of(0)
        .iter()
        .map(|&slot| run.endpoints.applications[slot as usize].start)
        .collect();
    assert!(starts.iter().all(|&start| start > at(6_000) && start < at(7_000)), "{starts:?}");
    run.advance(at(20_000));
    assert!([delivered(&run, "x"), delivered(&run, "y")].iter().flatten().all(|&bytes| bytes > 0));
    follow(&mut run, text, &counts("50")).unwrap();
    run.advance(at(21_000));
    assert_eq!(goodput(&mut run, "y", 3), 0.0, "its entry is over");
    assert!(delivered(&run, "x")[45] > 0);
    finish(run);
}

#[test]
fn flows_on_hosts_that_had_none_find_their_way_and_are_of_hosts_of_their_own() {
    let text =
        format!("hosts = 4\n[aqm]\nname = \"cake\"\n[[traffic]]\nname = \"x\"\n{CBR}").replace("1 M", "5 M");
    let mut run = live(&text);
    run.advance(at(3_000));
    follow(&mut run, &text, &[("traffic.x.count", "4"), ("traffic.cbr.count", "3")]).unwrap();
    let (_, run) = finish(run);
    let (x, cbr) = (delivered(&run, "x"), delivered(&run, "cbr"));
    assert!([&*x, &*cbr].concat().iter().all(|&bytes| bytes > 3_000_000), "{x:?} {cbr:?}");
    // A quarter of the link is the last host's, which sends no datagrams beside.
    assert!(x[3] > 3 * x[1] / 2 && x[3] > 3 * x[2] / 2, "{x:?}");
}

#[test]
fn results_count_the_flows_that_there_were() {
    let mut run = live(LONG);
    for (ms, count) in [(10_000, "8"), (20_000, "6")] {
        run.advance(at(ms));
        follow(&mut run, LONG, &[("traffic.long.count", count)]).unwrap();
    }
    let (results, run) = finish(run);
    let bytes = delivered(&run, "long");
    assert_eq!(bytes.len(), 8);
    let long = &results.classes["long"];
    let sum = bytes.iter().sum::<u64>() as f64;
    let squares: f64 = bytes.iter().map(|&x| (x * x) as f64).sum();
    assert!((long.totals.jain.unwrap() - sum * sum / (8.0 * squares)).abs() < 1e-12);
    let five = &bytes[..5];
    let squares: f64 = five.iter().map(|&x| (x * x) as f64).sum();
    let jain = (five.iter().sum::<u64>() as f64).powi(2) / (5.0 * squares);
    assert!((results.metrics.flows.jain.unwrap() - jain).abs() < 1e-12, "the others came later");
    assert_eq!((long.flows, long.started), (8, Some(8)));
    assert!((long.totals.goodput - 8.0 * sum / 40.0).abs() < 1.0);
    assert_eq!(results.metrics.link.link_goodput, Some(results.metrics.flows.goodput));
    assert!(long.totals.rtt_bias.is_none() && long.rtt_idle.is_some());
}

#[test]
fn a_flow_that_comes_back_has_a_row_for_each_time() {
    let text = format!("{LONG}{CBR}[record]\nflows = true\n").replace("count = 5", "count = 2");
    let counts = |n: &'static str| [("traffic.long.count", n), ("traffic.cbr.count", n)];
    let mut run = live(&text);
    for (ms, n) in [(5_000, "1"), (10_000, "3"), (15_000, "0"), (20_000, "1")] {
        run.advance(at(ms));
        follow(&mut run, &text, &counts(n)).unwrap();
    }
    let (_, run) = finish(run);
    let rows: Vec<_> = run.flows().into_iter().filter(|row| row.class < 2).collect();
    let times: Vec<_> =
        rows.iter().map(|row| (row.class, row.flow, row.start, row.end.map(f64::floor))).collect();
    let expected = [
        (0, 0, 0.0, Some(15.0)),
        (0, 0, 20.0, None),
        (0, 1, 0.0, Some(5.0)),
        (0, 1, 10.0, Some(15.0)),
        (0, 2, 10.0, Some(15.0)),
        (1, 0, 0.0, Some(15.0)),
        (1, 0, 20.0, None),
        (1, 1, 10.0, Some(15.0)),
        (1, 2, 10.0, Some(15.0)),
    ];
    assert_eq!(times, expected);
    for (name, of) in [("long", 0), ("cbr", 1)] {
        let bytes: u64 = rows.iter().filter(|row| row.class == of).map(|row| row.bytes).sum();
        assert_eq!(bytes, delivered(&run, name).iter().sum::<u64>(), "{name}");
    }
}

/// The results after random counts and rates of all kinds at random times.
fn after_random_changes(seed: u64, aqm: &str) -> Results {
    let mut rng = Stream::new(seed, "changes");
    let text = format!("hosts = 3\n[aqm]\nname = \"{aqm}\"\n{ALL}");
    let mut run = live(&text);
    let mut ms = 0;
    while ms < 38_000 {
        ms += (rng.uniform() * 1000.0) as u64;
        run.advance(at(ms));
        let mut changes = Vec::new();
        for name in KINDS {
            changes.push((format!("traffic.{name}.count"), format!("{}", (rng.uniform() * 5.0) as u32)));
        }
        for name in ["cbr", "on-off", "poisson", "fgn"] {
            let rate = 10f64.powf(3.0 + 3.0 * rng.uniform()) as u64;
            changes.push((format!("traffic.{name}.rate"), format!("{rate} bit/s")));
        }
        for name in ["voip", "video", "game"] {
            changes
                .push((format!("traffic.{name}.frame_rate"), format!("{} /s", 1.0 + 50.0 * rng.uniform())));
        }
        changes.push(("traffic.short.arrival_rate".to_owned(), format!("{} /s", 0.1 + 10.0 * rng.uniform())));
        let changes: Vec<_> = changes.iter().map(|(path, value)| (&**path, &**value)).collect();
        follow(&mut run, &text, &changes).unwrap();
    }
    finish(run).0
}

#[test]
fn no_packet_is_lost_count_of_whatever_comes_and_goes_and_a_run_can_be_repeated() {
    for (seed, aqm) in [(1, "droptail"), (2, "fq_codel"), (3, "pie"), (4, "cake")] {
        assert_eq!(after_random_changes(seed, aqm), after_random_changes(seed, aqm), "{seed}");
    }
}

#[test]
fn traffic_that_is_the_same_changes_nothing() {
    let text = format!("[aqm]\nname = \"fq_codel\"\n{ALL}");
    let mut followed = live(&text);
    for second in 1..40 {
        followed.advance(at(1000 * second));
        follow(&mut followed, &text, &[]).unwrap();
    }
    let scenario = scenario(&whole(&text), &[]);
    let mut plain = Simulation::step_by_step(scenario, 1, Checked::<()>(None));
    plain.advance(Time::MAX);
    let mut plain = plain.results();
    let (mut found, _) = finish(followed);
    (plain.engine.cpu_seconds, plain.engine.events, found.engine.events) = (0.0, 0, 0);
    assert_eq!(found, plain);
}

#[test]
fn what_needs_a_new_run_names_its_key_and_changes_nothing() {
    let mut run = live(ALL);
    run.advance(at(2_000));
    for (path, text) in [
        ("traffic.ftp.tcp", "sack"),
        ("traffic.ftp.kind", "cbr"),
        ("traffic.ftp.start", "1 s"),
        ("traffic.classic.stop", "31 s"),
        ("traffic.cbr.packet_size", "500 B"),
        ("traffic.cbr.ecn", "ect0"),
        ("traffic.cbr.class", "2"),
        ("traffic.cbr.dscp", "EF"),
        ("traffic.transfer.size", "1 kB"),
        ("traffic.short.size", "1 kB"),
        ("traffic.web.objects", "7"),
        ("traffic.web.think", "2 s"),
        ("traffic.dash.chunk", "2 s"),
        ("traffic.fgn.hurst", "0.7"),
    ] {
        let changes = [("traffic.cbr.count", "9"), ("traffic.poisson.rate", "1 Mbit/s"), (path, text)];
        assert_eq!(follow(&mut run, ALL, &changes), Err(format!("{path}: that needs a new run")), "{path}");
    }
    let fewer = ALL.replace("[[traffic]]\nname = \"ping\"\nkind = \"ping\"\n", "");
    assert_eq!(
        follow(&mut run, &fewer, &[]),
        Err("traffic: other entries, or another order of them, need a new run".to_owned())
    );
    assert_eq!(finish(run).0, finish(live(ALL)).0);
}

#[test]
fn a_transfer_that_is_taken_away_on_its_request_is_sent_once_if_it_comes_back() {
    let text = "[[traffic]]\nname = \"x\"\nkind = \"transfer\"\nsize = \"30 kB\"\nrequest = \"400 B\"\n";
    for back in [None, Some(20), Some(200)] {
        let mut run = live(text);
        run.advance(at(10));
        follow(&mut run, text, &[("traffic.x.count", "0")]).unwrap();
        if let Some(ms) = back {
            run.advance(at(ms));
            assert_eq!(delivered(&run, "x"), [0]);
            follow(&mut run, text, &[]).unwrap();
        }
        run.advance(at(5000));
        assert_eq!(delivered(&run, "x"), [if back.is_some() { 30_000 } else { 0 }], "{back:?}");
    }
}
