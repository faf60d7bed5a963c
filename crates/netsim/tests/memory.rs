//! A flow needs little memory, so that a hundred thousand stay near the processor; and the estimate of a run's memory is
//! within a factor of two.

use aqm::unit::Time;
use netsim::{FlowRow, Run, RunOptions, Simulation, WindowSample, known_memory, measured, memory_estimate};
use run::Watch;
use scenario::{Document, Library, Scenario};
use std::collections::BTreeMap;
use std::path::Path;

/// This many flows over 10 Gbit/s.
fn many(flows: u32, tcp: &str, duration: &str) -> Scenario {
    let text = format!(
        "duration = \"{duration}\"\n[dumbbell]\nrate = \"10 Gbit/s\"\nbuffer = \"100000 packets\"\n\
         access_rate = \"100 Gbit/s\"\nreceiver_delay = [\"10 ms\", \"50 ms\", \"100 ms\", \"150 ms\", \"200 ms\"]\n\
         [aqm]\nname = \"pi\"\n[[traffic]]\nname = \"long\"\ncount = {flows}\ntcp = \"{tcp}\"\n\
         packet_size = \"500 B\"\nstart = \"uniform(0 s, 500 ms)\"\n"
    );
    Document::parse(&text, "flows").unwrap().check().unwrap()
}

/// Bytes that a run with this many flows holds once it is set up.
fn bytes(flows: u32, tcp: &str) -> u64 {
    measured(|| Simulation::new(many(flows, tcp, "20 s"), 1, ())).1
}

#[test]
fn a_classic_flow_takes_less_than_500_bytes_and_one_of_today_less_than_1500() {
    // What does not depend on the number of flows falls out of the difference.
    let a_flow = |tcp: &str| (bytes(100_000, tcp) - bytes(100, tcp)) / 99_900;
    for tcp in ["ns2.35:flavour=newreno", "ns2.35:flavour=sack", "newreno", "sack"] {
        let bytes = a_flow(tcp);
        assert!((300..500).contains(&bytes), "{tcp}: {bytes} bytes");
    }
    for tcp in ["linux", "linux:congestion=reno", "dctcp", "bbr", "bbr3"] {
        let bytes = a_flow(tcp);
        assert!((500..1500).contains(&bytes), "{tcp}: {bytes} bytes");
    }
}

/// Bytes below which an estimate may be wrong.
const FLOOR: f64 = 1e6;

/// Compares the estimate of a run with the bytes that it and all that it hands over take; returns whether it holds.
fn holds(name: &str, scenario: &Scenario) -> bool {
    let (estimate, known) = (memory_estimate(scenario), known_memory(scenario));
    let (_, peak) = measured(|| {
        let mut run = Run::new(scenario.clone(), 1, RunOptions::default());
        run.advance(Time::MAX, Watch::default);
        let windows = WindowSample::columns(run.windows());
        (run.results(), run.take_columns(), windows, FlowRow::columns(&run.flows()), run)
    });
    let ratio = (estimate as f64).max(FLOOR) / (peak as f64).max(FLOOR);
    let [shown, taken] = [estimate, peak].map(|bytes| bytes as f64 / 1e6);
    println!("{name:<40} {shown:8.2} MB estimated {taken:8.2} MB taken {ratio:5.2}");
    (0.5..=2.0).contains(&ratio) && known <= estimate
}

#[track_caller]
fn all_hold(scenarios: impl IntoIterator<Item = (String, Scenario)>) {
    let wrong: Vec<String> =
        scenarios.into_iter().filter(|(name, of)| !holds(name, of)).map(|(name, _)| name).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A dumbbell: a duration, an algorithm, further lines of the file, those of the bottleneck, and the traffic.
fn dumbbell(name: &str, general: [&str; 3], link: &str, traffic: &str) -> (String, Scenario) {
    let [duration, aqm, rest] = general;
    let text = format!(
        "duration = \"{duration}\"\naqm = \"{aqm}\"\n{rest}\n[dumbbell]\n{link}\n[[traffic]]\n{traffic}\n"
    );
    (name.to_owned(), Document::parse(&text, name).unwrap().check().unwrap_or_else(|e| panic!("{name}: {e}")))
}

const SLOW: &str = "rate = \"10 Mbit/s\"\nbuffer = \"100 packets\"";
const HUGE: &str = "rate = \"10 Mbit/s\"\nbuffer = \"1000000 packets\"";
const MANY: &str = "rate = \"100 Mbit/s\"\nbuffer = \"10240 packets\"";
const OFFICE: &str = "rate = \"1 Gbit/s\"\nbuffer = \"1000 packets\"\naccess_rate = \"10 Gbit/s\"";
const FAST: &str = "rate = \"10 Gbit/s\"\nbuffer = \"100000 packets\"\naccess_rate = \"100 Gbit/s\"\n\
                    receiver_delay = [\"10 ms\", \"50 ms\", \"100 ms\", \"150 ms\", \"200 ms\"]";

#[test]
fn estimates_hold_whatever_the_traffic() {
    let with = |name, time, aqm, link, traffic| dumbbell(name, [time, aqm, ""], link, traffic);
    all_hold([
        with("one flow", "20 s", "pi", SLOW, ""),
        with("one flow, 1 Gbit/s", "5 s", "pie", OFFICE, "tcp = \"linux\""),
        with("1000 flows", "10 s", "pi", "rate = \"100 Mbit/s\"\nbuffer = \"1000 packets\"", "count = 1000"),
        with("bbr3", "10 s", "droptail", OFFICE, "count = 10\ntcp = \"bbr3\""),
        with("cbr", "20 s", "droptail", HUGE, "kind = \"cbr\"\nrate = \"5 Mbit/s\""),
        with("poisson", "20 s", "red", SLOW, "kind = \"poisson\"\nrate = \"9 Mbit/s\""),
        with("voip", "20 s", "codel", SLOW, "kind = \"voip\"\ncount = 100"),
        with(
            "noise",
            "20 s",
            "lred",
            SLOW,
            "kind = \"fgn\"\ncount = 50\nrate = \"100 kbit/s\"\nstep = \"1 ms\"",
        ),
        with("web", "60 s", "pie", OFFICE, "kind = \"web\"\ncount = 50"),
        with(
            "short flows",
            "100 s",
            "pie",
            SLOW,
            "kind = \"short\"\narrival_rate = \"20 /s\"\nlifetime = \"1 s\"",
        ),
        with(
            "many short flows",
            "15 s",
            "pie",
            OFFICE,
            "kind = \"short\"\narrival_rate = \"2000 /s\"\nsize = \"pareto(30 kB, 1.3)\"\ntcp = \"linux\"",
        ),
        with(
            "transfers",
            "60 s",
            "pi",
            OFFICE,
            "kind = \"transfer\"\ncount = 200\nsize = \"5 MB\"\nstart = \"uniform(0 s, 50 s)\"\ntcp = \"linux\"",
        ),
        with(
            "late starts",
            "60 s",
            "droptail",
            OFFICE,
            "count = 50\nactive = [\"55 s\", \"60 s\"]\ntcp = \"linux\"",
        ),
    ]);
}

#[test]
fn estimates_hold_whatever_the_buffer() {
    let with = |name, time, aqm, link, traffic| dumbbell(name, [time, aqm, ""], link, traffic);
    let falling = "rate = \"100 Mbit/s\"\nbuffer = \"20000 packets\"\nchanges = [\"20 s: 10 Mbit/s\"]";
    let orbit = "rate = \"100 Mbit/s\"\ndelay = \"300 ms\"\nbuffer = \"5000 packets\"";
    let linux = "count = 1000\ntcp = \"linux\"";
    all_hold([
        with("filled by cbr", "100 s", "droptail", HUGE, "kind = \"cbr\"\nrate = \"50 Mbit/s\""),
        with("filled by tcp", "60 s", "droptail", HUGE, "count = 20\ntcp = \"linux\""),
        with("fq_codel, 1000 flows", "4 s", "fq_codel", MANY, linux),
        with("cake, 1000 flows", "1 s", "cake", MANY, linux),
        with(
            "dualpi2",
            "10 s",
            "dualpi2",
            MANY,
            "count = 10\ntcp = \"linux\"\n[[traffic]]\nname = \"l4s\"\ncount = 10\ntcp = \"prague\"",
        ),
        with("a rate that falls", "40 s", "droptail", falling, "kind = \"cbr\"\nrate = \"50 Mbit/s\""),
        with("a long way", "60 s", "codel", orbit, "count = 4\ntcp = \"linux\""),
    ]);
}

#[test]
fn estimates_hold_in_large_networks() {
    let with = |name, time, aqm, link, traffic| dumbbell(name, [time, aqm, ""], link, traffic);
    let delays = vec!["\"5 ms\""; 200].join(", ");
    let campus = format!(
        "rate = \"1 Gbit/s\"\naccess_rate = \"1 Gbit/s\"\nbuffer = \"10000 packets\"\nreceiver_delay = [{delays}]"
    );
    all_hold([
        with("campus with 200 hosts", "5 s", "pie", &campus, "count = 200\ntcp = \"linux\""),
        with("10 Gbit/s, 5 flows", "2 s", "droptail", FAST, "count = 5\ntcp = \"linux\""),
        with("10 Gbit/s, 100 flows", "4 s", "pi", FAST, "count = 100\ntcp = \"linux\""),
        ("10 Gbit/s, 20 000 flows".to_owned(), many(20_000, "newreno", "2 s")),
        ("10 Gbit/s, 100 000 flows".to_owned(), many(100_000, "linux", "600 ms")),
        ("mesh of 180 links".to_owned(), mesh(10)),
    ]);
}

/// A square of links to the right and down, with flows along all rows and columns.
fn mesh(side: usize) -> Scenario {
    let node = |x: usize, y: usize| format!("n{x}x{y}");
    let mut text = "duration = \"5 s\"\nobserve = \"n0x0-n1x0\"\n".to_owned();
    for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
        for to in [(x + 1, y), (x, y + 1)].into_iter().filter(|to| to.0.max(to.1) < side) {
            let (from, to) = (node(x, y), node(to.0, to.1));
            text += &format!(
                "[[link]]\nname = \"{from}-{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"20 Mbit/s\"\n\
                 delay = \"2 ms\"\nbuffer = \"200 packets\"\naqm = \"red\"\n"
            );
        }
    }
    for i in 0..side {
        for (from, to) in [(node(0, i), node(side - 1, i)), (node(i, 0), node(i, side - 1))] {
            text += &format!("[[traffic]]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = 5\n");
        }
    }
    Document::parse(&text, "mesh").unwrap().check().unwrap()
}

#[test]
fn estimates_hold_with_recordings() {
    let every_ms = "record.step = \"1 ms\"";
    let windows = "record.step = \"1 ms\"\nrecord.cwnd = \"1 ms\"";
    let web = "kind = \"web\"\ncount = 100\nsize = \"2 kB\"\nthink = \"100 ms\"";
    all_hold([
        dumbbell("series of every ms", ["100 s", "pi", every_ms], SLOW, ""),
        dumbbell("series and windows of every ms", ["100 s", "pi", windows], SLOW, "count = 5"),
        dumbbell("recorded flows", ["100 s", "pi", "record.flows = true"], OFFICE, web),
    ]);
}

#[test]
fn estimates_of_shipped_scenarios_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/aqmlab/library");
    let names = [
        "quickstart",
        "parking-lot",
        "links/cellular",
        "links/datacentre",
        "links/satellite",
        "../../../papers/aqmlab_papers/lred/exp1",
        "traffic/trace",
        "traffic/voip-video",
        "l4s",
        "advice/web",
    ];
    all_hold(names.map(|name| {
        let file = folder.join(format!("{name}.toml"));
        let document = Library::new(BTreeMap::new()).load(&file).unwrap();
        (name.to_owned(), document.check().unwrap())
    }));
}
