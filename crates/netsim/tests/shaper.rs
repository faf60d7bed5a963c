//! A discipline that pauses its link, and reads hosts, code points and ACKs: CAKE in a network.

use aqm::unit::Time;
use netsim::{Checked, Series, Simulation};
use run::Results;
use scenario::Document;

/// The results of a scenario, in which nothing may be amiss.
fn results(text: &str) -> Results {
    let scenario = Document::parse(text, "test").unwrap().check();
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let probe = Checked(Some(Series::new(&scenario)));
    let mut run = Simulation::new(scenario, 1, probe);
    run.advance(Time::MAX);
    assert_eq!(run.violations(), Vec::<String>::new(), "{text}");
    run.results()
}

fn bottleneck(clock: &str, more: &str) -> String {
    format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\nclock = \"{clock}\"\n\
         [dumbbell]\nrate = \"40 Mbit/s\"\nbuffer = \"5000 packets\"\nhosts = 4\noverhead = \"14 B\"\n{more}"
    )
}

const FLOOD: &str =
    "[[traffic]]\nname = \"udp\"\nkind = \"poisson\"\nrate = \"30 Mbit/s\"\npacket_size = \"1486 B\"\n";

#[test]
fn the_link_waits_for_the_shaper() {
    for clock in ["integer", "double"] {
        let cake = format!("[aqm]\nname = \"cake\"\nbandwidth = \"10 Mbit/s\"\n{FLOOD}");
        let link = results(&bottleneck(clock, &cake)).metrics.link;
        assert!((link.traffic.throughput / 1e7 - 1.0).abs() < 2e-3, "{clock}: {}", link.traffic.throughput);
        assert!((link.utilisation - 0.25).abs() < 1e-3, "{clock}: {}", link.utilisation);
    }
}

#[test]
fn hosts_share_evenly_and_a_code_point_has_a_tin() {
    let mut cake = "[aqm]\nname = \"cake\"\nbandwidth = \"20 Mbit/s\"\ndiffserv = \"diffserv4\"\n".to_owned();
    for (i, (name, kind)) in
        [("many", "count = 8\n"), ("one", ""), ("call", "kind = \"voip\"\ndscp = \"EF\"\n")]
            .iter()
            .enumerate()
    {
        let host = i + 1;
        cake += &format!(
            "[[traffic]]\nname = \"{name}\"\nfrom = [\"sender{host}\"]\nto = [\"receiver{host}\"]\n{kind}"
        );
    }
    let found = results(&bottleneck("integer", &cake));
    let of = |name: &str| &found.classes[name];
    let [many, one] = ["many", "one"].map(|name| of(name).totals.goodput);
    assert!((many / one - 1.0).abs() < 0.2, "{many} and {one}");
    let wait = of("call").traffic.queue_delay_p99.unwrap();
    assert!(wait < 0.001, "{wait}");
}

#[test]
fn fewer_acks_on_a_narrow_way_back_let_more_data_through() {
    let goodput = |filter: &str| {
        let cake = format!(
            "reverse_rate = \"600 kbit/s\"\n[aqm]\nname = \"fq\"\n\
             [reverse_aqm]\nname = \"cake\"\nbandwidth = \"500 kbit/s\"\nack_filter = \"{filter}\"\n\
             [[traffic]]\nname = \"down\"\ncount = 2\n"
        );
        results(&bottleneck("integer", &cake)).metrics.flows.goodput
    };
    let [off, on] = ["off", "on"].map(goodput);
    assert!(on > 1.1 * off, "{off} and {on}");
}
