//! What links do besides queueing: loss by chance, changes of rate, delays drawn for each run.

use netsim::{Results, Simulation};
use scenario::Document;

fn run(text: &str, seed: u64) -> Results {
    let scenario = Document::parse(text, "x.toml").unwrap().check().unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(scenario, seed, ());
    simulation.advance(simulation.end());
    simulation.results()
}

/// 500 datagrams a second of 500 bytes over 2 Mbit/s, for 100 s.
fn stream(dumbbell: &str) -> Results {
    run(
        &format!(
            "duration = \"100 s\"\n[dumbbell]\nrate = \"2 Mbit/s\"\n{dumbbell}\n\
             [[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket_size = \"500 B\"\nstop = \"99.9 s\"\n"
        ),
        1,
    )
}

#[test]
fn what_is_not_lost_by_chance_comes_to_the_queue() {
    let sent = stream("").metrics.link.traffic.arrivals;
    let lossy = stream("loss = 0.1").metrics.link;
    assert_eq!(lossy.traffic.arrivals + lossy.random_losses, sent);
    // Standard deviation of the number lost: 67.
    assert!(lossy.random_losses.abs_diff(sent / 10) < 300, "{}", lossy.random_losses);
    assert_eq!(lossy.traffic.loss_ratio, Some(0.0), "what chance takes is not the queue's loss");
    let bursts = stream("loss = { good_to_bad = 0.05, bad_to_good = 0.2 }").metrics.link;
    assert!(bursts.random_losses.abs_diff(sent / 5) < 1500, "{}", bursts.random_losses);
}

#[test]
fn losses_on_the_way_back_and_on_plain_links_count_too() {
    let elsewhere = |back: f64, tail: f64| {
        let text = format!(
            "duration = \"50 s\"\n[dumbbell]\nrate = \"2 Mbit/s\"\nreverse_loss = {back}\n\
             [[link]]\nname = \"tail\"\nfrom = \"r2\"\nto = \"end\"\nloss = {tail}\n\
             [[traffic]]\nname = \"a\"\nto = \"end\"\ntcp = \"rfc5681\"\n"
        );
        let metrics = run(&text, 1).metrics;
        assert_eq!(metrics.link.random_losses, 0);
        metrics.drops_elsewhere
    };
    assert_eq!(elsewhere(0.0, 0.0), 0);
    assert!(elsewhere(0.0, 0.02) > 50);
    assert!(elsewhere(0.3, 0.0) > 50);
}

#[test]
fn a_link_is_as_fast_as_its_changes_say() {
    // 2 Mbit/s arrive; for half of each 20 s the link sends half as much, so 75 of 100 pass, and it is never idle
    // but at the start.
    let link = stream("buffer = \"20 packets\"\nchanges = \"10 s: 1 Mbit/s\"\nchanges_period = \"20 s\"")
        .metrics
        .link;
    assert!((link.utilisation - 1.0).abs() < 2e-3, "{}", link.utilisation);
    assert!((link.traffic.throughput / 1.5e6 - 1.0).abs() < 2e-3, "{}", link.traffic.throughput);
    assert!((link.traffic.loss_ratio.unwrap() - 0.25).abs() < 2e-3);
}

#[test]
fn a_change_leaves_the_packet_in_transmission_as_it_is() {
    // A packet of 12 000 bits takes from 0 to 12 s at 1 kbit/s; between the end of the warm-up and the end of the run
    // 5 s of it are sent, whatever rate the next would have.
    let sent = |changes: &str| {
        let text = format!(
            "duration = \"10 s\"\nwarmup = \"5 s\"\n[dumbbell]\nrate = \"1 kbit/s\"\naccess_rate = \"1 Gbit/s\"\n{changes}\n\
             [[traffic]]\nname = \"a\"\nkind = \"cbr\"\nrate = \"600 bit/s\"\n"
        );
        run(&text, 1).metrics.link.traffic.throughput
    };
    for changes in ["", "changes = \"2 s: 1 Gbit/s\"", "changes = \"7 s: 1 Gbit/s\""] {
        assert!((sent(changes) - 1000.0).abs() < 0.1, "{changes}: {}", sent(changes));
    }
}

#[test]
fn delays_are_drawn_once_for_each_run_and_host() {
    let text = "duration = \"20 s\"\n[dumbbell]\nhosts = 5\nreceiver_delay = \"uniform(5 ms, 80 ms)\"\n\
                [[traffic]]\nname = \"a\"\ncount = 5\nkind = \"transfer\"\nsize = \"200 kB\"\n";
    let time = |seed| run(text, seed).classes["a"].completion_time_mean.unwrap();
    assert_eq!(time(1), time(1));
    assert_ne!(time(1), time(2));
}
