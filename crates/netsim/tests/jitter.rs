//! The jitter of hosts: how long packets wait, in which order they leave, and that all else stays as it was.

use aqm::unit::{Span, Time};
use netsim::Simulation;
use run::Results;
use scenario::{Document, Scenario};

fn scenario(text: &str) -> Scenario {
    Document::parse(text, "jitter").unwrap().check().unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// The results of a run that is checked for conservation, as all runs of tests are.
fn results(scenario: Scenario, seed: u64) -> Results {
    let mut run = Simulation::new(scenario, seed, ());
    run.advance(Time::MAX);
    run.results()
}

/// Traffic of every kind over a queue that drops.
const ALL: &str = "duration = \"12 s\"\nwarmup = \"1 s\"\nclock = \"CLOCK\"\n[dumbbell]\nrate = \"5 Mbit/s\"\n\
    buffer = \"20 packets\"\nsender_delay = [\"1 ms\", \"5 ms\"]\n\
    [[traffic]]\nname = \"linux\"\ncount = 4\nsend_jitter = \"2 ms\"\n\
    [[traffic]]\nname = \"classic\"\ncount = 2\ntcp = \"rfc5681\"\nsend_jitter = \"2 ms\"\n\
    [[traffic]]\nname = \"still\"\ncount = 2\n\
    [[traffic]]\nname = \"short\"\nkind = \"short\"\narrival_rate = \"20 /s\"\nsize = \"8 kB\"\nsend_jitter = \"1 ms\"\n\
    [[traffic]]\nname = \"web\"\nkind = \"web\"\ncount = 3\nthink = \"500 ms\"\nsend_jitter = \"1 ms\"\n\
    [[traffic]]\nname = \"call\"\nkind = \"voip\"\nsend_jitter = \"1 ms\"\n\
    [[traffic]]\nname = \"ping\"\nkind = \"ping\"\ninterval = \"10 ms\"\nsend_jitter = \"1 ms\"\n\
    [[traffic]]\nname = \"tfrc\"\nkind = \"tfrc\"\nmax_rate = \"300 kbit/s\"\nsend_jitter = \"1 ms\"\n";

#[test]
fn every_packet_that_waits_in_a_host_is_accounted_for() {
    for clock in ["integer", "double"] {
        let scenario = scenario(&ALL.replace("CLOCK", clock));
        let ahead = results(scenario.clone(), 3);
        let mut run = Simulation::step_by_step(scenario, 3, ());
        run.advance(Time::MAX);
        let stepped = run.results();
        assert_eq!(ahead.metrics, stepped.metrics, "{clock}");
        for (name, class) in &ahead.classes {
            assert!(class.traffic.arrivals > 50, "{clock}: {name}: {}", class.traffic.arrivals);
        }
    }
}

#[test]
fn waits_are_uniform_up_to_the_longest() {
    // One packet a second each way, over 4 ms and 0.1 ms at 10 Mbit/s and 100 Mbit/s.
    let text = "duration = \"4000 s\"\n[dumbbell]\ndelay = \"1 ms\"\nsender_delay = \"1 ms\"\nreceiver_delay = \"0 s\"\n\
                [[traffic]]\nname = \"x\"\nkind = \"ping\"\ninterval = \"1 s\"\nsend_jitter = \"20 ms\"\n";
    let found = results(scenario(text), 1);
    let class = &found.classes["x"];
    let (mean, idle) = (class.totals.rtt_mean.unwrap(), class.rtt_idle.unwrap());
    // The sum of two waits: mean 20 ms, standard deviation of a mean of 4000 0.13 ms; at most 40 ms.
    assert!((mean - idle - 0.020).abs() < 0.0006, "{mean} {idle}");
    let most = class.totals.rtt_max.unwrap() - idle;
    assert!((0.037..0.040).contains(&most), "{most}");
    let one_way = class.totals.delay_mean.unwrap() - class.delay_idle.unwrap();
    assert!((one_way - 0.010).abs() < 0.0005, "{one_way}");
}

#[test]
fn no_packet_overtakes_another_of_its_flow() {
    // Waits of up to 30 packets: an overtaken segment would be taken for a lost one.
    let text = "duration = \"20 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"100000 packets\"\n[[traffic]]\nname = \"x\"\n\
                count = 3\nstart = \"uniform(0 s, 1 s)\"\nsend_jitter = \"12 ms\"\n";
    let found = results(scenario(text), 2);
    let x = &found.classes["x"];
    assert_eq!((x.traffic.drops_overflow, x.totals.retransmits), (0, Some(0)));
    assert!(x.totals.goodput > 9e6, "{}", x.totals.goodput);
}

#[test]
fn jitter_draws_from_a_stream_of_its_own() {
    // The arrivals of one entry, and the jitter of another, are the same whatever else jitters.
    let text = "duration = \"20 s\"\n[dumbbell]\nrate = \"100 Mbit/s\"\naccess_rate = \"100 Gbit/s\"\n\
                [[traffic]]\nname = \"a\"\nkind = \"ping\"\nsend_jitter = \"1 ms\"\n\
                [[traffic]]\nname = \"b\"\nkind = \"poisson\"\nMORE";
    let [still, moved] =
        ["", "send_jitter = \"1 ms\"\n"].map(|more| results(scenario(&text.replace("MORE", more)), 1));
    assert_eq!(still.classes["b"].traffic.arrivals, moved.classes["b"].traffic.arrivals);
    assert_ne!(still.classes["b"].totals.delay_mean, moved.classes["b"].totals.delay_mean);
    let again = results(scenario(&text.replace("MORE", "")), 1);
    assert_eq!(still.classes, again.classes);
    assert_ne!(results(scenario(&text.replace("MORE", "")), 2).classes, still.classes);
}

#[test]
fn a_live_run_keeps_its_jitter() {
    let text = ALL.replace("CLOCK", "integer");
    let first = scenario(&text);
    let mut run = Simulation::live(first, 3, (), Default::default()).unwrap();
    run.advance(Time::ZERO + Span::s(2));
    let more = scenario(&text.replace("count = 4\n", "count = 6\n"));
    run.follow(&more).unwrap();
    let other = scenario(&text.replace("\"2 ms\"", "\"3 ms\""));
    assert_eq!(run.follow(&other).unwrap_err(), "traffic.linux.send_jitter: that needs a new run");
    run.advance(Time::MAX);
    assert!(run.results().classes["linux"].traffic.arrivals > 100);
}
