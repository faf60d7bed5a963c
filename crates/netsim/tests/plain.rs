//! A plain link, which computes at once when a packet will leave, against the same link as a measured queue.

use aqm::unit::Time;
use netsim::Simulation;
use scenario::Document;

/// Two groups of flows over a link in question and a measured one.
fn outcome(buffer: &str, rate: &str, aqm: &str, flavour: &str) -> String {
    let text = format!(
        "duration = \"50 s\"\nobserve = \"last\"\n\
         [[link]]\nname = \"a\"\nfrom = \"s1\"\nto = \"m\"\nrate = \"7.3 Mbit/s\"\ndelay = \"3.123 ms\"\n\
         [[link]]\nname = \"b\"\nfrom = \"s2\"\nto = \"m\"\nrate = \"5.7 Mbit/s\"\ndelay = \"1.777 ms\"\n\
         [[link]]\nname = \"mid\"\nfrom = \"m\"\nto = \"n\"\nrate = \"{rate}\"\ndelay = \"11.311 ms\"\nbuffer = \"{buffer}\"\n{aqm}\n\
         [[link]]\nname = \"last\"\nfrom = \"n\"\nto = \"d\"\nrate = \"93.7 Mbit/s\"\naqm = \"droptail\"\n\
         [[traffic]]\nname = \"x\"\nfrom = [\"s1\", \"s2\"]\nto = [\"d\"]\ncount = 8\npacket_size = \"1000 B\"\n\
         start = \"uniform(0 s, 1 s)\"\ntcp = \"{flavour}\"\n"
    );
    let scenario = Document::parse(&text, "plain").unwrap().check().unwrap();
    let mut run = Simulation::new(scenario, 3, ());
    run.advance(Time::from_nanos(u64::MAX));
    let results = run.results();
    let measured = results.links.get("mid").map(|link| link.traffic.drops_overflow);
    format!(
        "{:?}, {} drops",
        results.metrics.flows,
        measured.unwrap_or(results.metrics.drops_elsewhere.unwrap())
    )
}

#[test]
fn a_plain_link_is_a_measured_tail_drop_queue() {
    for flavour in ["newreno", "sack"] {
        for (buffer, rate) in
            [("5 packets", "3 Mbit/s"), ("20 packets", "2.9 Mbit/s"), ("12 kB", "3.1 Mbit/s")]
        {
            let plain = outcome(buffer, rate, "", flavour);
            assert_eq!(plain, outcome(buffer, rate, "aqm = \"droptail\"", flavour), "{buffer} {rate}");
            assert!(!plain.ends_with(" 0 drops"), "{plain}");
        }
    }
}

#[test]
fn a_plain_link_drops_whether_or_not_it_feeds_a_chain() {
    // 2 Mbit/s into 1 Mbit/s with room for 10 packets, then links that only it feeds.
    let text = "duration = \"50 s\"\nobserve = \"last\"\n\
        [[link]]\nname = \"slow\"\nfrom = \"s\"\nto = \"m\"\nrate = \"1 Mbit/s\"\nbuffer = \"10 packets\"\n\
        [[link]]\nname = \"next\"\nfrom = \"m\"\nto = \"n\"\n\
        [[link]]\nname = \"last\"\nfrom = \"n\"\nto = \"d\"\naqm = \"droptail\"\n\
        [[traffic]]\nname = \"x\"\nkind = \"cbr\"\nfrom = \"s\"\nto = \"d\"\nrate = \"2 Mbit/s\"\npacket_size = \"500 B\"\n";
    let mut run = Simulation::new(Document::parse(text, "chain").unwrap().check().unwrap(), 1, ());
    run.advance(Time::from_nanos(u64::MAX));
    // 500 packets a second come and 250 go: half of 25 000 is lost, but for the 10 that wait and the one on its way.
    assert!(run.results().metrics.drops_elsewhere.unwrap().abs_diff(12_500) < 15);
}
