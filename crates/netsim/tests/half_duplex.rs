//! Half-duplex Ethernet: links whose two directions share one medium.

use crate::checked::{scenario, simulation};
use aqm::unit::Span;
use netsim::{Control, Interval, Series, Simulation};
use run::Results;

fn run(text: &str, seed: u64) -> Results {
    simulation(text, seed).results()
}

/// A cable of 10 Mbit/s, with datagrams of 1000 bytes at these rates in Mbit/s in both directions.
fn cable(rates: [f64; 2], more: &str) -> String {
    let flow = |name, from, to, rate: f64| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nkind = \"cbr\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\n\
             packet_size = \"1000 B\"\n"
        )
    };
    format!(
        "duration = \"60 s\"\nwarmup = \"10 s\"\nobserve = \"cable\"\n{more}\n[[link]]\nname = \"cable\"\nfrom = \"a\"\n\
         to = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"1 us\"\nhalf_duplex = \"1 us\"\nbuffer = \"20 packets\"\n{}{}",
        flow("there", "a", "b", rates[0]),
        flow("back", "b", "a", rates[1])
    )
}

#[test]
fn one_direction_alone_sends_frame_after_frame() {
    let results = run(&cable([12.0, 0.001], "[record]\nseries = false"), 1);
    let link = &results.links["cable"];
    // 1000 bytes of 1038: header and checksum, preamble and gap are Ethernet's. A datagram a second comes the other way.
    assert!((link.traffic.throughput / (10e6 * 1000.0 / 1038.0) - 1.0).abs() < 1e-3, "{link:?}");
    assert!((link.utilisation - 1.0).abs() < 1e-3, "{}", link.utilisation);
    assert!(results.links["cable:reverse"].traffic.arrivals < 10 && link.collisions < Some(200), "{link:?}");
    assert_eq!(link.collision_drops, Some(0));
}

#[test]
fn two_directions_share_what_is_there_with_collisions() {
    let results = run(&cable([12.0, 12.0], ""), 1);
    let [there, back] = ["cable", "cable:reverse"].map(|name| &results.links[name]);
    // Most of the time one of them has captured the medium. A collision costs 20 us, a frame takes 830 us.
    let used = there.utilisation + back.utilisation;
    assert!((0.98..0.999).contains(&used), "{used}");
    assert!((there.utilisation - back.utilisation).abs() < 0.2, "{there:?} {back:?}");
    for link in [there, back] {
        let carried = link.traffic.throughput * 1.038 / 10e6;
        assert!((carried / link.utilisation - 1.0).abs() < 2e-3, "{carried} of {}", link.utilisation);
        assert!(link.collisions > Some(1000) && link.collision_drops > Some(0), "{link:?}");
        assert!(16 * link.collision_drops.unwrap() <= link.collisions.unwrap(), "{link:?}");
    }
    // Both take part in each collision.
    assert!(there.collisions.unwrap().abs_diff(back.collisions.unwrap()) <= 1, "{there:?} {back:?}");
}

#[test]
fn a_frame_that_is_given_up_is_lost_on_its_path() {
    // Without a warm-up, and with room for all in the queue, nothing else is lost.
    let text =
        cable([5.5, 5.5], "").replace("warmup = \"10 s\"", "").replace("20 packets", "1000000 packets");
    let results = run(&text, 2);
    let mut all = 0;
    for (link, class) in [("cable", "there"), ("cable:reverse", "back")] {
        let (lost, sent) =
            (results.links[link].collision_drops.unwrap(), results.links[link].traffic.arrivals);
        let ratio = results.classes[class].totals.path_loss_ratio.unwrap();
        assert!((ratio / (lost as f64 / sent as f64) - 1.0).abs() < 0.2, "{ratio}: {lost} of {sent}");
        all += lost;
    }
    assert!(all > 10, "{all}");
}

/// Both hosts send at most one frame after the other, and keep one more; the first stops for good at the end of the warm-up.
fn stops() -> String {
    cable([12.0, 12.0], "")
        .replace("\"60 s\"", "\"0.6 s\"")
        .replace("\"10 s\"", "\"0.3 s\"")
        .replace("20 packets", "1 packets")
        .replace(
            "from = \"a\"\nto = \"b\"\nrate = \"12 Mbit/s\"",
            "from = \"a\"\nto = \"b\"\nstop = \"0.3 s\"\nrate = \"12 Mbit/s\"",
        )
}

#[test]
fn a_frame_from_before_the_window_that_is_given_up_in_it_takes_nothing_away() {
    let mut none = 0;
    for seed in 1..=60 {
        let results = run(&stops(), seed);
        for sent in [results.links["cable"].traffic.throughput, results.classes["there"].traffic.throughput] {
            // At most the two packets that were there when the flow stopped.
            assert!((0.0..=2.0 * 8000.0 / 0.3 + 1e-6).contains(&sent), "{seed}: {sent}");
            none += u32::from(sent == 0.0);
        }
    }
    assert!(none > 0, "none was given up");
}

#[test]
fn bytes_count_as_sent_when_the_frame_is() {
    let text = cable([12.0, 12.0], "[record]\nstep = \"10 ms\"")
        .replace("warmup = \"10 s\"", "warmup = \"0 s\"")
        .replace("\"60 s\"", "\"20 s\"");
    let scenario = scenario(&text);
    let mut recorded = Simulation::new(scenario.clone(), 1, Series::new(&scenario));
    recorded.advance(recorded.end());
    let results = recorded.results();
    let link = &results.links["cable"];
    assert!(link.collision_drops > Some(5), "{link:?}");
    let sent = link.traffic.throughput * 20.0;
    assert_eq!(8.0 * recorded.glance().departed_bytes as f64, sent);
    let end = recorded.end();
    recorded.probe_mut().finish(end);
    let columns = recorded.probe_mut().take_columns();
    let bins = &columns.iter().find(|column| column.name == "cable.there.throughput").unwrap().values;
    assert!((bins.iter().sum::<f64>() * 0.01 - sent).abs() < 1.0, "{sent}");
    assert!(
        bins.iter().all(|&rate| (0.0..=10e6 + 800e3).contains(&rate)),
        "no bin has more than its time and a frame"
    );

    let mut control = Control::new(scenario, 1, None);
    let (mut bytes, mut used) = (0.0, 0.0);
    let value = |interval: &Interval, name: &str| {
        let place = Interval::MEASURED.iter().position(|quantity| quantity.name == name).unwrap();
        interval.measured()[place]
    };
    while !control.finished() {
        let interval = control.step(0.0, Span::ms(10));
        let [departed, utilisation] = ["departed_bytes", "utilisation"].map(|name| value(&interval, name));
        assert!(departed >= 0.0 && (0.0..=1.08).contains(&utilisation), "{departed} {utilisation}");
        bytes += departed;
        used += utilisation * 10e6 * 0.01;
    }
    assert!((8.0 * bytes - sent).abs() < 1.0 && (used - sent).abs() < 1.0, "{bytes} {used} {sent}");
}

#[test]
fn the_same_seed_gives_the_same_collisions_and_another_one_others() {
    let collisions = |seed| run(&cable([12.0, 12.0], ""), seed).links["cable"].collisions;
    assert_eq!(collisions(7), collisions(7));
    assert_ne!(collisions(7), collisions(8));
}

/// TCP from hosts on half-duplex Ethernets: its acknowledgements collide with its segments.
fn access(more: &str) -> String {
    format!(
        "duration = \"30 s\"\n{more}[dumbbell]\nrate = \"100 Mbit/s\"\naccess_rate = \"10 Mbit/s\"\nhosts = 2\n\
         access_half_duplex = \"0.5 us\"\n[[traffic]]\nname = \"long\"\ncount = 4\nstart = \"uniform(0 s, 1 s)\"\n\
         [[traffic]]\nname = \"web\"\nkind = \"web\"\ncount = 4\nthink = \"exponential(1 s)\"\n"
    )
}

#[test]
fn tcp_shares_a_half_duplex_link_with_its_own_acknowledgements() {
    for clock in ["integer", "double"] {
        let results = run(&access(&format!("clock = \"{clock}\"\n")), 1);
        let links = ["sender1", "sender1:reverse"].map(|name| &results.links[name]);
        let collisions = links.map(|link| link.collisions.unwrap());
        assert!(collisions[0] > 500 && collisions[0].abs_diff(collisions[1]) <= 1, "{clock}: {collisions:?}");
        // The hosts fill their links, of which frames take at most 1500 bytes of 1538.
        let used = links[0].utilisation + links[1].utilisation;
        assert!((0.85..1.0).contains(&used), "{clock}: {used}");
        assert!(results.metrics.flows.goodput > 2.0 * 6e6, "{clock}: {}", results.metrics.flows.goodput);
        assert_eq!(results.links["bottleneck"].collisions, None);
    }
}

#[test]
fn a_discipline_that_pauses_its_link_goes_on_by_itself() {
    let text = cable([8.0, 2.0], "").replace(
        "buffer = \"20 packets\"",
        "buffer = \"200 packets\"\naqm = { name = \"cake\", bandwidth = \"3 Mbit/s\" }",
    );
    let link = run(&text, 1).links["cable"].clone();
    assert!((link.traffic.throughput / 3e6 - 1.0).abs() < 0.02, "{link:?}");
}
