//! Congestion controls on a link: what each promises of throughput and queue.

use aqm::unit::{Span, Time};
use netsim::Simulation;
use run::Results;
use scenario::Document;

/// 10 Mbit/s, a round-trip time of 50 ms: a bandwidth-delay product of 41.7 packets of 1500 bytes.
const LINK: &str = r#"
duration = "60 s"
warmup = "20 s"
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "2000 packets"
sender_delay = "5 ms"
receiver_delay = "10 ms"
"#;
const PRODUCT: f64 = 10e6 / 12e3 * 0.05;

fn simulation(settings: &[(&str, &str)], flows: &[(&str, &str)]) -> Simulation<()> {
    let entry = |(i, (count, tcp)): (usize, &(&str, &str))| {
        format!("[[traffic]]\nname = \"f{i}\"\ncount = {count}\ntcp = \"{tcp}\"\n")
    };
    let entries: String = flows.iter().enumerate().map(entry).collect();
    let mut document = Document::parse(&format!("{LINK}{entries}"), "controls").unwrap();
    for (path, value) in settings {
        match *path {
            "aqm" => document.set_aqm(value).unwrap(),
            path => document.set_text(path, value).unwrap(),
        }
    }
    Simulation::new(document.check().unwrap(), 1, ())
}

fn run(settings: &[(&str, &str)], flows: &[(&str, &str)]) -> Results {
    let mut run = simulation(settings, flows);
    run.advance(Time::MAX);
    run.results()
}

fn queue(results: &Results) -> f64 {
    results.metrics.link.queue_mean.unwrap()
}

#[test]
fn bbr_fills_a_link_and_keeps_the_queue_near_one_product() {
    for count in ["1", "4"] {
        let results = run(&[], &[(count, "bbr")]);
        // A window is twice what the flow takes for the product, and three bursts of two segments, made even, and two
        // more: what is beyond one product waits, at most. A flow that sends at 5/4 of its share measures more than that.
        let flows: f64 = count.parse().unwrap();
        let taken = PRODUCT * 1.25 * flows / (flows + 0.25);
        let most = 2.0 * taken - PRODUCT + 9.0 * flows;
        assert!(queue(&results) < most, "{count}: {}", queue(&results));
        // PROBE_RTT costs 2 %.
        assert!(results.metrics.link.utilisation > 0.96, "{count}: {}", results.metrics.link.utilisation);
    }
    let cubic = run(&[], &[("1", "cubic")]);
    assert!(queue(&cubic) > 1000.0, "a loss is all that CUBIC hears: {}", queue(&cubic));
}

#[test]
fn bbr_needs_no_buffer_of_a_product_where_reno_does() {
    // 8 packets, a fifth of the product: half the window after each loss does not fill the link.
    let settings = [("dumbbell.buffer", "8 packets")];
    let [bbr, reno] =
        ["bbr", "linux:congestion=reno"].map(|tcp| run(&settings, &[("1", tcp)]).metrics.link.utilisation);
    assert!(bbr > 0.95 && reno < 0.87, "{bbr} {reno}");
}

#[test]
fn bbr3_loses_a_fraction_of_what_bbr_does_and_fills_the_link() {
    // 20 packets, half of the product, and two flows that both probe.
    let settings = [("dumbbell.buffer", "20 packets")];
    let [one, three] = ["bbr", "bbr3"].map(|tcp| run(&settings, &[("2", tcp)]).metrics.link);
    let [few, many] = [&three, &one].map(|link| link.traffic.loss_ratio.unwrap());
    assert!(few < many / 4.0, "{few} {many}");
    assert!(few < 0.02, "its own threshold: {few}");
    assert!(three.utilisation > 0.95, "{}", three.utilisation);
}

#[test]
fn bbr3_leaves_cubic_more_than_bbr_does() {
    let settings = [("dumbbell.buffer", "40 packets"), ("duration", "120 s")];
    let [one, three] =
        ["bbr", "bbr3"].map(|tcp| run(&settings, &[("2", tcp), ("2", "cubic")]).classes["f1"].totals.goodput);
    assert!(three > 3.0 * one, "{three} {one}");
}

#[test]
fn marks_hold_bbr3_to_a_shallow_queue_if_they_count() {
    // Marks with a probability that rises from 0 at 8 packets to 0.9 at 40, at once.
    let settings = [("aqm", "red:min_th=8,max_th=40,w_q=1,max_p=0.9,ecn=true,gentle=true")];
    let [heeded, not] = ["bbr3-l4s", "bbr3:ecn=true"].map(|tcp| {
        let link = run(&settings, &[("2", tcp)]).metrics.link;
        assert!(link.utilisation > 0.95 && link.traffic.marks > 1000, "{link:?}");
        link.queue_mean.unwrap()
    });
    // The round trip of 50 ms is longer than the authors' limit.
    assert!(heeded < 0.6 * not, "{heeded} {not}");
}

#[test]
fn ledbat_adds_its_target_of_delay_and_fills_the_link() {
    for (tcp, target) in [("ledbat", 0.1), ("ledbat:target=20 ms", 0.02)] {
        let link = run(&[], &[("1", tcp)]).metrics.link;
        let delay = link.traffic.queue_delay_mean.unwrap();
        // The least of four delays is what the sender sees, so the mean may be a packet or two from the target.
        assert!((delay - target).abs() < 0.1 * target, "{tcp}: {delay}");
        assert!(link.utilisation > 0.999, "{tcp}: {}", link.utilisation);
    }
}

#[test]
fn ledbat_gives_way_to_reno_and_takes_what_it_leaves() {
    // Reno's queue swings between half the buffer, 180 ms, and all of it: always beyond the target.
    let settings = [("dumbbell.buffer", "300 packets"), ("duration", "120 s"), ("warmup", "60 s")];
    let share = |stop: &str| {
        let settings = [&settings[..], &[("traffic.f1.stop", stop)]].concat();
        run(&settings, &[("1", "ledbat"), ("1", "sack")]).classes["f0"].totals.goodput / 9.73e6
    };
    let (beside, alone) = (share("120 s"), share("50 s"));
    assert!(beside < 0.05, "{beside}");
    assert!(alone > 0.95, "{alone}");
}

#[test]
fn dctcp_keeps_a_link_busy_with_a_queue_at_which_halving_does_not() {
    // Marks with a probability that rises from 0 at 8 packets to 0.9 at 40, at once.
    let aqm = [("aqm", "red:min_th=8,max_th=40,w_q=1,max_p=0.9,ecn=true")];
    let [dctcp, reno] =
        ["dctcp", "linux:congestion=reno,ecn=true"].map(|tcp| run(&aqm, &[("2", tcp)]).metrics.link);
    assert!(dctcp.utilisation > 0.999 && reno.utilisation < 0.9, "{dctcp:?} {reno:?}");
    assert!(dctcp.queue_mean.unwrap() < 12.0 && dctcp.queue_std < reno.queue_std, "{dctcp:?} {reno:?}");
}

#[test]
fn cubic_comes_back_faster_than_reno_on_a_long_path() {
    // 50 Mbit/s and 0.2 s: Reno needs 400 round trips and more to double its window.
    let settings = [
        ("dumbbell.rate", "50 Mbit/s"),
        ("dumbbell.delay", "85 ms"),
        ("dumbbell.buffer", "200 packets"),
        ("duration", "300 s"),
    ];
    // Both halve, and there is nobody to give way to, so that only the growth differs.
    let [cubic, reno] = ["cubic:beta=0.5,fast_convergence=false", "linux:congestion=reno"]
        .map(|tcp| run(&settings, &[("1", tcp)]).metrics.link.utilisation);
    assert!(cubic > 0.92 && reno < 0.9, "{cubic} {reno}");
}

#[test]
fn a_run_is_repeated_bit_for_bit_in_slices() {
    for tcp in ["cubic", "dctcp", "ledbat", "bbr", "bbr3", "bbr3-l4s"] {
        let settings = [("duration", "30 s"), ("dumbbell.buffer", "20 packets")];
        let mut sliced = simulation(&settings, &[("3", tcp)]);
        (1..=300).for_each(|slice| sliced.advance(Time::ZERO + Span::ms(100) * slice));
        let outcome = |mut results: Results| {
            results.engine.cpu_seconds = 0.0;
            format!("{results:?}")
        };
        assert_eq!(outcome(sliced.results()), outcome(run(&settings, &[("3", tcp)])), "{tcp}");
    }
}
