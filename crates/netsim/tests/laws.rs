//! What holds in every run: ratios are parts of a whole, every packet is accounted for, and a check changes nothing.

use aqm::unit::Time;
use netsim::{Checked, Series, Simulation};
use run::Results;
use scenario::{Document, Scenario};

fn scenario(text: &str) -> Scenario {
    Document::parse(text, "laws").unwrap().check().unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

fn results(text: &str) -> Results {
    let mut run = Simulation::new(scenario(text), 1, ());
    run.advance(Time::MAX);
    run.results()
}

/// Datagrams at three times the rate until a moment after the warm-up: the packets dropped then came before it.
fn ending(aqm: &str) -> String {
    format!(
        "duration = \"10.05 s\"\nwarmup = \"10 s\"\naqm = \"{aqm}\"\n\
         [dumbbell]\nrate = \"1 Mbit/s\"\nbuffer = \"2000 packets\"\n\
         [[traffic]]\nname = \"burst\"\nkind = \"cbr\"\nrate = \"3 Mbit/s\"\npacket_size = \"100 B\"\necn = \"ect0\"\n\
         stop = \"10.001 s\"\n"
    )
}

#[test]
fn drops_and_marks_of_packets_that_arrived_before_the_window_are_in_no_ratio() {
    let [mut drops_of_others, mut marks_of_others] = [false; 2];
    for aqm in
        aqm::aqm::NAMES.iter().map(|&name| name.to_owned()).chain(["codel:ecn=true,target=1 us".to_owned()])
    {
        let link = results(&ending(&aqm)).metrics.link;
        let traffic = &link.traffic;
        let (drops, ratio) = (traffic.drops_early + traffic.drops_overflow, traffic.loss_ratio.unwrap());
        assert!((0.0..=1.0).contains(&ratio), "{aqm}: {ratio}");
        assert!((0.0..=1.0).contains(&traffic.mark_ratio.unwrap()), "{aqm}");
        // The counts remain those of the window.
        drops_of_others |= drops as f64 / traffic.arrivals as f64 > ratio;
        marks_of_others |= traffic.marks as f64 / traffic.arrivals as f64 > traffic.mark_ratio.unwrap();
    }
    assert!(drops_of_others && marks_of_others, "nothing was put to the test");
}

#[test]
fn a_packet_that_keeps_its_rate_leaves_no_room_for_others_meanwhile() {
    // Packets take 120 ms until the rate falls shortly before the window, which sees the rest of one, then 12 s.
    let busy = "duration = \"2 s\"\nwarmup = \"1.01 s\"\naqm = \"droptail\"\n[dumbbell]\nrate = \"100 kbit/s\"\n\
                access_rate = \"100 Gbit/s\"\nbuffer = \"20 packets\"\nchanges = [\"1 s: 1 kbit/s\"]\n\
                [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"200 kbit/s\"\npacket_size = \"1500 B\"\n";
    let link = results(busy).metrics.link;
    assert_eq!(link.utilisation, 1.0);
    // The first comes after 2.5 ms: 72.5 ms of the ninth at 100 kbit/s, and 917.5 ms at 1 kbit/s.
    assert!((link.traffic.throughput * 0.99 - 8167.5).abs() < 0.02, "{}", link.traffic.throughput);

    // One packet of 12 ms every 120 ms, and a rate that falls to a tenth for good while one is in transmission.
    let idle = "duration = \"1.2 s\"\naqm = \"droptail\"\n[dumbbell]\nrate = \"1 Mbit/s\"\naccess_rate = \"100 Gbit/s\"\n\
                sender_delay = \"0 s\"\nbuffer = \"20 packets\"\nchanges = [\"606 ms: 100 kbit/s\"]\n\
                [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"100 kbit/s\"\npacket_size = \"1500 B\"\n";
    let link = results(idle).metrics.link;
    // Ten packets; idle for 5 × 108 ms at 1 Mbit/s, and for what is left of the sixth gap at a tenth of it.
    let sent = 10.0 * 12_000.0;
    let could = 5.0 * 108e3 + 108e-3 * 100e3;
    assert!((link.utilisation - sent / (sent + could)).abs() < 1e-6, "{}", link.utilisation);
}

#[test]
fn a_busy_link_is_used_to_the_full_and_no_more() {
    // Transmission times that are no whole nanoseconds, on either clock, with and without a change of the rate.
    for clock in ["integer", "double"] {
        for changes in ["", "changes = [\"3.3 s: 7 Mbit/s\", \"4.7 s: 1.1 Mbit/s\"]\n"] {
            let text = format!(
                "duration = \"7 s\"\nwarmup = \"1 s\"\nclock = \"{clock}\"\naqm = \"droptail\"\n\
                 [dumbbell]\nrate = \"3.3 Mbit/s\"\nbuffer = \"50 packets\"\n{changes}\
                 [[traffic]]\nname = \"udp\"\nkind = \"poisson\"\nrate = \"30 Mbit/s\"\npacket_size = \"333 B\"\n"
            );
            assert_eq!(results(&text).metrics.link.utilisation, 1.0, "{text}");
        }
    }
}

#[test]
fn a_packet_that_is_sent_from_the_end_on_counts_for_nothing() {
    for clock in ["integer", "double"] {
        let text = format!(
            "duration = \"20 s\"\nwarmup = \"1 s\"\nclock = \"{clock}\"\nobserve = \"link\"\n\
             [[link]]\nname = \"link\"\nfrom = \"s\"\nto = \"d\"\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\n\
             aqm = \"droptail\"\n\
             [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"200 bit/s\"\npacket_size = \"500 B\"\n\
             from = \"s\"\nto = \"d\"\n"
        );
        let link = results(&text).metrics.link;
        assert_eq!((link.traffic.throughput, link.utilisation), (0.0, 0.0), "{clock}");
    }
}

#[test]
fn equal_flows_are_as_fair_as_can_be_whatever_they_have_sent() {
    for count in [9, 10] {
        let text = format!(
            "duration = \"1.2663 s\"\n[dumbbell]\nrate = \"100 Gbit/s\"\naccess_rate = \"100 Gbit/s\"\n\
             buffer = \"1000 packets\"\n[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\ncount = {count}\n\
             rate = \"800 Mbit/s\"\npacket_size = \"60000 B\"\n"
        );
        assert_eq!(results(&text).metrics.flows.jain, Some(1.0));
    }
}

#[test]
fn what_is_recorded_is_no_event_of_the_run() {
    let text = "duration = \"3 s\"\n[dumbbell]\nrate = \"1 Mbit/s\"\n[[traffic]]\nname = \"long\"\n";
    let recorded = format!("record.cwnd = \"10 ms\"\n{text}");
    assert_eq!(results(&recorded).engine.events, results(text).engine.events);
}

#[test]
fn what_would_be_lost_after_the_end_is_not() {
    // Nothing comes to the tail within the run: it is ten times as far away.
    let text = "duration = \"10 s\"\nclock = \"integer\"\n[dumbbell]\nrate = \"1 Mbit/s\"\ndelay = \"100 s\"\n\
                buffer = \"20 packets\"\n\
                [[link]]\nname = \"tail\"\nfrom = \"r2\"\nto = \"end\"\nrate = \"100 kbit/s\"\nbuffer = \"3 packets\"\n\
                loss = 0.2\n\
                [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"900 kbit/s\"\npacket_size = \"500 B\"\nto = \"end\"\n";
    assert_eq!(results(text).metrics.drops_elsewhere.unwrap(), 0);
    let lossless = text.replace("loss = 0.2\n", "");
    assert_eq!(results(&lossless).metrics.drops_elsewhere.unwrap(), 0);
    assert!(results(&text.replace("100 s", "1 s")).metrics.drops_elsewhere.unwrap() > 1000);
}

#[test]
fn a_run_that_is_checked_has_the_same_results_and_nothing_to_say() {
    for aqm in ["pi", "codel", "fq_codel", "redtail"] {
        let scenario = scenario(&format!(
            "duration = \"10 s\"\nwarmup = \"2 s\"\naqm = \"{aqm}\"\n[dumbbell]\nrate = \"2 Mbit/s\"\n\
             buffer = \"30 packets\"\nloss = 0.01\n[[traffic]]\nname = \"long\"\ncount = 8\n\
             [[traffic]]\nname = \"web\"\nkind = \"web\"\ncount = 3\nthink = \"exponential(1 s)\"\n"
        ));
        let outcome = |mut results: Results| {
            results.engine.cpu_seconds = 0.0;
            serde_json::to_string(&results).unwrap()
        };
        let mut plain = Simulation::new(scenario.clone(), 3, Series::new(&scenario));
        let mut checked = Simulation::new(scenario.clone(), 3, Checked(Some(Series::new(&scenario))));
        plain.advance(Time::MAX);
        checked.advance(Time::MAX);
        assert_eq!(outcome(plain.results()), outcome(checked.results()), "{aqm}");
        assert_eq!(checked.violations(), Vec::<String>::new(), "{aqm}");
        let end = plain.end();
        plain.probe_mut().finish(end);
        let series = checked.probe_mut().0.as_mut().unwrap();
        series.finish(end);
        // As text: not a number is not equal to itself.
        let columns = |series: &mut Series| format!("{:?}", series.take_columns());
        assert_eq!(columns(series), columns(plain.probe_mut()), "{aqm}");
    }
}

#[test]
fn results_that_cannot_be_are_found_out() {
    let sound = results(&ending("codel"));
    assert_eq!(sound.violations(), Vec::<String>::new());
    type Change = fn(&mut Results);
    let broken: [(&str, Change); 7] = [
        ("loss_ratio = Some(58.0)", |results| {
            results.links.get_mut("bottleneck").unwrap().traffic.loss_ratio = Some(58.0);
        }),
        ("utilisation = Some(39.7)", |results| {
            results.links.get_mut("bottleneck").unwrap().utilisation = 39.7
        }),
        ("mark_ratio = Some(NaN)", |results| {
            results.classes.get_mut("burst").unwrap().traffic.mark_ratio = Some(f64::NAN);
        }),
        ("queue_delay: mean", |results| {
            results.links.get_mut("bottleneck").unwrap().traffic.queue_delay_p50 = Some(1e9);
        }),
        ("delay: mean", |results| results.metrics.flows.delay_max = None),
        ("goodput", |results| results.metrics.flows.goodput = -1.0),
        ("of the traffic entries together", |results| {
            results.classes.get_mut("burst").unwrap().traffic.arrivals += 1
        }),
    ];
    for (message, change) in broken {
        let mut results = sound.clone();
        change(&mut results);
        let found = results.violations();
        assert!(found.iter().any(|found| found.contains(message)), "{message}: {found:?}");
    }
}
