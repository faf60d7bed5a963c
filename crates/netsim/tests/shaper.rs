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

#[test]
fn a_token_bucket_sends_its_rate_whatever_is_inside() {
    for inside in ["droptail", "codel", "pie", "fq_codel", "prio"] {
        for clock in ["integer", "double"] {
            let tbf = format!(
                "[aqm]\nname = \"tbf\"\nrate = \"10 Mbit/s\"\nlimit = \"100 packets\"\naqm = \"{inside}\"\n{FLOOD}"
            );
            let link = results(&bottleneck(clock, &tbf)).metrics.link;
            let rate = link.traffic.throughput;
            assert!((rate / 1e7 - 1.0).abs() < 2e-3, "{inside}, {clock}: {rate}");
            assert!((link.utilisation - 0.25).abs() < 1e-3, "{inside}, {clock}: {}", link.utilisation);
        }
    }
}

#[test]
fn classes_borrow_what_others_leave_and_have_their_own_when_they_want_it() {
    let flow = |name: &str, dscp: &str, start: &str| {
        format!("[[traffic]]\nname = \"{name}\"\ndscp = \"{dscp}\"\nstart = \"{start}\"\n")
    };
    let of = |others: &str| {
        let classes = "[aqm]\nname = \"htb\"\n[aqm.classes.all]\nrate = \"10 Mbit/s\"\n\
            [aqm.classes.a]\nparent = \"all\"\nrate = \"7 Mbit/s\"\nceil = \"10 Mbit/s\"\ndscp = [\"AF21\"]\n\
            aqm = \"fq_codel\"\n[aqm.classes.b]\nparent = \"all\"\nrate = \"3 Mbit/s\"\nceil = \"10 Mbit/s\"\n\
            aqm = \"fq_codel\"\n";
        let found = results(&bottleneck("integer", &format!("{classes}{}{others}", flow("b", "BE", "0 s"))));
        ["a", "b"].map(|name| found.classes.get(name).map_or(0.0, |class| class.traffic.throughput))
    };
    let [_, alone] = of("");
    assert!((alone / 1e7 - 1.0).abs() < 0.05, "{alone}");
    let [a, b] = of(&flow("a", "AF21", "0.5 s"));
    assert!((a / 7e6 - 1.0).abs() < 0.06 && (b / 3e6 - 1.0).abs() < 0.06, "{a} and {b}");
}

#[test]
fn a_policer_loses_what_a_shaper_delays() {
    let of = |aqm: &str| {
        let more = format!("[aqm]\n{aqm}\n{FLOOD}");
        let link = results(&bottleneck("integer", &more)).metrics.link;
        (link.traffic.throughput, link.traffic.queue_delay_p99.unwrap())
    };
    let (policed, no_wait) = of("name = \"police\"\nrate = \"10 Mbit/s\"\nburst = \"10 kB\"");
    let (shaped, wait) =
        of("name = \"tbf\"\nrate = \"10 Mbit/s\"\nburst = \"10 kB\"\nlimit = \"100 packets\"");
    assert!(
        (policed / 1e7 - 1.0).abs() < 0.01 && (shaped / 1e7 - 1.0).abs() < 0.01,
        "{policed} and {shaped}"
    );
    assert!(no_wait < 0.002 && wait > 0.1, "{no_wait} and {wait}");
}
