//! A table of small runs that a person can read: a change of any number is a change of behaviour, to be explained.
//! `GOLDEN=write cargo test -p netsim --test golden` writes it anew; the difference is what to review.

use aqm::unit::Time;
use netsim::Simulation;
use scenario::Document;
use std::fmt::Write as _;
use std::path::Path;

const SCENARIO: &str = r#"
duration = "30 s"
warmup = "5 s"
[dumbbell]
rate = "2 Mbit/s"
buffer = "60 packets"
receiver_delay = ["10 ms", "37 ms"]
[[traffic]]
name = "long"
count = 20
packet_size = "500 B"
start = "uniform(0 s, 1 s)"
[[traffic]]
name = "udp"
kind = "cbr"
rate = "100 kbit/s"
packet_size = "200 B"
"#;

const AQMS: &[&str] = &[
    "droptail",
    "red",
    "red:preset=ns2.35",
    "ared",
    "pi:q0=20",
    "rem:q0=20",
    "rem:q0=20,form=ns2",
    "lred:q0=20",
    "lred:q0=20,ecn=true",
    "avq",
    "avq:form=ns2",
];

const TCPS: &[&str] = &["ns2.35", "tahoe", "reno", "newreno", "sack", "sack:ecn=true,delayed_ack=false"];

fn row(aqm: &str, tcp: &str) -> String {
    let mut document = Document::parse(SCENARIO, "golden").unwrap();
    document.set_aqm(aqm).unwrap();
    document.set_text("traffic.long.tcp", tcp).unwrap();
    let mut run = Simulation::new(document.check().unwrap(), 1, ());
    run.advance(Time::MAX);
    let results = run.results();
    let (link, flows) = (&results.metrics.link, &results.metrics.flows);
    format!(
        "{aqm:20} {tcp:31} {:8.3} {:8} {:6} {:8} {:5} {:10.0} {:6.3} {:8} {:11} {:7}",
        link.queue_mean.unwrap(),
        link.traffic.arrivals,
        link.traffic.drops_early,
        link.traffic.drops_overflow,
        link.traffic.marks,
        flows.goodput,
        flows.jain.unwrap(),
        flows.timeouts.unwrap(),
        flows.retransmits.unwrap(),
        results.engine.events,
    )
}

#[test]
fn small_runs_are_as_they_were() {
    let mut table = format!(
        "{:20} {:31} {:>8} {:>8} {:>6} {:>8} {:>5} {:>10} {:>6} {:>8} {:>11} {:>7}\n",
        "aqm",
        "tcp",
        "queue",
        "arrivals",
        "early",
        "overflow",
        "marks",
        "bit/s",
        "jain",
        "timeouts",
        "retransmits",
        "events"
    );
    for aqm in AQMS {
        writeln!(table, "{}", row(aqm, TCPS[0])).unwrap();
    }
    for tcp in &TCPS[1..] {
        writeln!(table, "{}", row(AQMS[0], tcp)).unwrap();
        writeln!(table, "{}", row("lred:q0=20,ecn=true", tcp)).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/runs.txt");
    if std::env::var_os("GOLDEN").is_some_and(|what| what == "write") {
        std::fs::write(&path, &table).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<String> = golden
        .lines()
        .zip(table.lines())
        .filter(|(before, now)| before != now)
        .map(|(before, now)| format!("- {before}\n+ {now}"))
        .collect();
    assert!(
        changed.is_empty() && golden.lines().count() == table.lines().count(),
        "\n{}",
        changed.join("\n")
    );
}
