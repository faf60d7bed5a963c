//! Wireless LANs: an access point and stations that share one medium.

use crate::checked::{run, scenario, simulation};
use aqm::unit::Span;
use netsim::{Agent, Control, Series, Simulation};
use run::Results;
use run::results::LinkMetrics;

/// A server behind an access point of 802.11n with one stream at 20 MHz, with two stations of these MCS and what
/// `wifi` says.
fn lan(mcs: [u32; 2], wifi: &str, traffic: &str) -> String {
    format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[[link]]\nname = \"wan\"\nfrom = \"server\"\nto = \"ap\"\n\
         rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[wifi]]\nname = \"wlan\"\nap = \"ap\"\nstations = [\"near\", \"far\"]\n\
         standard = \"n\"\nmcs = {mcs:?}\n{wifi}\n{traffic}"
    )
}

fn cbr(name: &str, from: &str, to: &str, mbit: f64) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nkind = \"cbr\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{mbit} Mbit/s\"\n\
         packet_size = \"1500 B\"\n"
    )
}

fn tcp(name: &str, from: &str, to: &str) -> String {
    format!("[[traffic]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n")
}

fn both(from: impl Fn(&str) -> String) -> String {
    from("near") + &from("far")
}

/// Of these links, which are named by their stations.
fn of<T>(results: &Results, names: [&str; 2], what: impl Fn(&LinkMetrics) -> T) -> [T; 2] {
    names.map(|name| what(&results.links[&format!("wlan-{name}")]))
}

const THERE: [&str; 2] = ["near", "far"];
const BACK: [&str; 2] = ["near:reverse", "far:reverse"];

#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found}, not {expected}");
}

#[test]
fn one_frame_at_a_time_takes_what_the_standard_says() {
    // A frame takes 1544 bytes: at MCS 7 (260 bits in 4 us) 36 us and 48 symbols, at MCS 0 (26 bits) 36 us and 476
    // symbols. AIFS is 16 + 3 * 9 us, the mean wait 7.5 slots; the ACK goes at 24 and at 6 Mbit/s.
    for (mcs, rts, data, around) in [
        (7, false, 36.0 + 48.0 * 4.0, 16.0 + 28.0),
        (0, false, 36.0 + 476.0 * 4.0, 16.0 + 44.0),
        // RTS of 52 us and CTS of 44 us at 6 Mbit/s, each with SIFS.
        (0, true, 36.0 + 476.0 * 4.0, 16.0 + 44.0 + 52.0 + 44.0 + 2.0 * 16.0),
    ] {
        let text = lan([mcs, 0], &format!("frames = 1\nrts = {rts}"), &cbr("up", "near", "server", 70.0));
        let results = run(&text);
        let link = &results.links["wlan-near:reverse"];
        let period = 16.0 + 3.0 * 9.0 + 7.5 * 9.0 + data + around;
        near(link.traffic.throughput, 12000.0 / (period * 1e-6), 3e-3);
        near(link.utilisation, (data + around) / period, 3e-3);
        assert_eq!((link.collisions, link.aggregate_mean), (Some(0), Some(1.0)));
        // Alone and without a queue, a datagram waits for nobody.
        let alone = run(&lan([mcs, 0], "frames = 1", &cbr("down", "server", "near", 0.01)));
        let delay = alone.classes["down"].totals.delay_mean.unwrap();
        assert!((delay - (1e-3 + 12e-6 + data * 1e-6)).abs() < 10e-6, "{delay}");
        near(alone.classes["down"].delay_idle.unwrap(), 1e-3 + 12e-6 + data * 1e-6, 1e-6);
    }
}

#[test]
fn aggregates_share_the_overhead_within_their_limits() {
    let text = |more: &str| lan([7, 0], more, &cbr("up", "near", "server", 80.0));
    let mean = |more: &str| {
        let results = run(&text(more));
        let link = results.links["wlan-near:reverse"].clone();
        (link.aggregate_mean.unwrap(), link.traffic.throughput)
    };
    // 4 ms: 36 us and 991 symbols of 260 bits, 32204 bytes, 20 frames of 1544; those take 951 symbols.
    let (frames, throughput) = mean("");
    near(frames, 20.0, 0.01);
    near(throughput, 20.0 * 12000.0 / ((43.0 + 67.5 + 36.0 + 951.0 * 4.0 + 16.0 + 32.0) * 1e-6), 5e-3);
    near(mean("frames = 16").0, 16.0, 0.01);
    // 1 ms: 36 us and 241 symbols of 260 bits, 7829 bytes.
    near(mean("longest = \"1 ms\"").0, 5.0, 0.01);
    near(mean("frames = 16\naql = false").0, 16.0, 0.01);
}

#[test]
fn a_txop_is_one_contention_for_several_transmissions() {
    let text = lan([7, 0], "frames = 1\ntxop = \"1.504 ms\"", &cbr("up", "near", "server", 70.0));
    let link = &run(&text).links["wlan-near:reverse"];
    // Each exchange takes 228 + 16 + 28 us, and 16 us lie between them: five take 1424 us, six 1712 us.
    near(link.traffic.throughput, 5.0 * 12000.0 / ((43.0 + 67.5 + 1424.0) * 1e-6), 5e-3);
}

#[test]
fn errors_cost_retries_and_in_the_end_frames() {
    let up = cbr("up", "near", "server", 70.0);
    let text = |retries: u32| lan([7, 0], &format!("frames = 1\nerror = 0.2\nretries = {retries}"), &up);
    let once = run(&text(0));
    let link = &once.links["wlan-near:reverse"];
    let given_up = link.collision_drops.unwrap() as f64 / (link.traffic.throughput * 12.0 / 12000.0);
    near(given_up, 0.25, 0.05);
    // Nearly none is lost with ten retries, and the failures double the window.
    let often = run(&text(10));
    let link = &often.links["wlan-near:reverse"];
    assert_eq!(link.collision_drops, Some(0));
    assert!(link.traffic.throughput < 0.82 * 12000.0 / (382.5e-6), "{link:?}");
    // In aggregates, frames behind a lost one wait for it, and none comes out of order: TCP has nothing to repair.
    // After collisions in a row it sends a probe.
    let window = "tcp = { max_window = 100 }\n";
    let results = run(&lan([7, 7], "error = 0.1", &(tcp("down", "server", "near") + window)));
    let link = &results.links["wlan-near"];
    assert_eq!((link.collision_drops, link.traffic.drops_overflow), (Some(0), 0));
    let repaired = results.classes["down"].totals.retransmits;
    assert!(repaired.is_some_and(|packets| packets < 5), "{repaired:?}, of 38,000 packets");
    assert!(results.metrics.flows.goodput > 30e6, "{}", results.metrics.flows.goodput);
}

#[test]
fn a_block_ack_covers_more_frames_than_a_transmission_has() {
    // Two frames go at a time, also while one that was lost waits: the next ones join it.
    let results =
        run(&lan([7, 0], "frames = 2\nerror = 0.3\nretries = 255", &cbr("up", "near", "server", 70.0)));
    let mean = results.links["wlan-near:reverse"].aggregate_mean.unwrap();
    assert!(mean > 1.95, "{mean}");
}

#[test]
fn what_a_block_ack_releases_goes_through_the_access_point_whatever_the_stations_buffer() {
    let up = cbr("up", "near", "server", 20.0);
    let more = "queues = \"shared\"\nerror = 0.3\nretries = 255\nreverse_buffer = \"2 packets\"";
    assert_eq!(run(&lan([7, 0], more, &up)).metrics.drops_elsewhere, Some(0));
}

#[test]
fn a_frame_that_the_drivers_queue_refuses_takes_no_place() {
    let text = lan([7, 7], "queues = \"shared\"\ndriver = 3", &cbr("down", "server", "near", 10.0));
    let text = format!("observe = \"wlan-near\"\n{text}");
    let scenario = scenario(&text);
    let mut control = Control::new(scenario, 1, Some(Agent::Drops));
    while !control.finished() {
        control.step(0.25, Span::ms(100));
    }
    near(control.results().links["wlan-near"].traffic.throughput, 7.5e6, 0.05);
}

#[test]
fn turns_are_of_transmissions_or_of_airtime() {
    let traffic = both(|name| cbr(name, "server", name, 70.0));
    let shares = |more: &str, mcs| {
        let results = run(&lan(mcs, more, &traffic));
        (of(&results, THERE, |link| link.utilisation), of(&results, THERE, |link| link.traffic.throughput))
    };
    // One frame a turn: both have the throughput of the slow one, which takes nearly all of the time.
    let (airtime, throughput) = shares("frames = 1\nscheduler = \"round-robin\"", [7, 0]);
    near(throughput[0], throughput[1], 0.01);
    near(airtime[1] / airtime[0], (36.0 + 1904.0 + 60.0) / 272.0, 0.02);
    // The same time: throughput follows the rate.
    for more in ["frames = 1", "", "aql = false", "queues = \"shared\"\nbuffer = \"300 packets\""] {
        let (airtime, throughput) = shares(more, [7, 0]);
        if more.contains("shared") {
            // A full buffer for all takes what comes: the driver is full of the slow one's packets.
            assert!(airtime[1] > airtime[0], "{airtime:?}");
        } else {
            near(airtime[0], airtime[1], 0.02);
            assert!(throughput[0] > 5.0 * throughput[1], "{more}: {throughput:?}");
        }
    }
}

#[test]
fn all_contenders_collide_and_have_the_same_chance() {
    let traffic = both(|name| cbr(name, name, "server", 70.0));
    let results = run(&lan([7, 7], "frames = 1", &traffic));
    let [a, b] = of(&results, BACK, |link| link.traffic.throughput);
    near(a, b, 0.02);
    // Both take part in each collision: with two of a window of 16, 2 of 17 transmissions (Bianchi: p = 0.108).
    let [c, d] = of(&results, BACK, |link| link.collisions.unwrap());
    assert_eq!(c, d);
    let sent = a * 12.0 / 12000.0;
    near(c as f64 / (c as f64 + sent), 0.108, 0.05);
}

#[test]
fn queues_are_those_of_the_stations_or_one_for_all() {
    let down = both(|name| tcp(name, "server", name)) + &tcp("up", "far", "server");
    for (queues, links) in [("station", 4), ("shared", 5)] {
        for aqm in ["droptail", "fq_codel", "codel", "cake:bandwidth=10 Mbit/s", "pie"] {
            let more =
                format!("queues = \"{queues}\"\naqm = \"{aqm}\"\nreverse_aqm = \"fq_codel\"\nerror = 0.05");
            let results = run(&lan([7, 1], &more, &down));
            assert_eq!(results.links.len(), links, "{:?}", results.links.keys());
            let observed = if queues == "shared" { "wlan" } else { "wlan-near" };
            assert_eq!(results.links[observed].traffic, results.metrics.link.traffic);
            let used: f64 =
                [THERE, BACK].iter().flat_map(|names| of(&results, *names, |link| link.utilisation)).sum();
            assert!((0.3..1.05).contains(&used), "{queues} {aqm}: {used}");
            if queues == "shared" {
                near(
                    results.metrics.link.utilisation,
                    of(&results, THERE, |link| link.utilisation).iter().sum(),
                    1e-9,
                );
            }
            let goodput = results.metrics.flows.goodput;
            let least = if aqm.starts_with("cake") { 8e6 } else { 20e6 };
            assert!(goodput > least, "{queues} {aqm}: {goodput}");
        }
    }
}

#[test]
fn a_recorded_rate_is_that_of_the_transmissions_that_begin_in_its_time() {
    let file = std::env::temp_dir().join(format!("aqmlab-walk-{}.csv", std::process::id()));
    // MCS 7 and MCS 1, for 1 s each.
    std::fs::write(&file, "time,rate_mbps\n0,65\n1,13\n2,65\n3,13\n").unwrap();
    // Of one frame at a time the goodput is not in proportion to the rate.
    let rates = format!("frames = 1\nrates = {{ file = {:?} }}\n", file.display().to_string());
    let with = |mcs: &str, from: &str, to: &str| {
        let text = lan([7, 7], &rates, &cbr("only", from, to, 80.0)).replace("mcs = [7, 7]", mcs);
        run(&text).metrics.flows.goodput
    };
    for (from, to) in [("server", "near"), ("near", "server")] {
        let fixed =
            |mcs: u32| run(&lan([mcs, 7], "frames = 1", &cbr("only", from, to, 80.0))).metrics.flows.goodput;
        let mean = (fixed(7) + fixed(1)) / 2.0;
        near(with("mcs = [\"auto\", 7]", from, to), mean, 0.01);
        // The other one begins a half later, at the same rates.
        near(with("", from, to), mean, 0.01);
        near(with("mcs = [7, \"auto\"]", from, to), fixed(7), 1e-3);
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn what_a_station_sends_to_another_passes_the_access_points_queue() {
    for queues in ["shared", "station"] {
        let text = lan(
            [7, 7],
            &format!("queues = \"{queues}\"\nbuffer = \"20 packets\""),
            &cbr("only", "near", "far", 70.0),
        );
        let results = run(&text);
        let queue = &results.links[if queues == "shared" { "wlan" } else { "wlan-far" }];
        let received = results.links["wlan-near:reverse"].traffic.throughput;
        near(queue.traffic.arrivals as f64 * 12_000.0 / 10.0, received, 0.01);
        // Both have the medium equally often, and only the station always has enough for an aggregate.
        assert!(queue.traffic.drops_overflow > 1000, "{queues}: {}", queue.traffic.drops_overflow);
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    let text = lan(
        [7, 2],
        "error = 0.1\naqm = \"fq_codel\"",
        &(both(|name| tcp(name, "server", name)) + &tcp("up", "far", "server")),
    );
    let results = |seed| {
        let mut results = simulation(&text, seed).results();
        results.engine.cpu_seconds = 0.0;
        results
    };
    assert_eq!(results(3), results(3));
    assert_ne!(results(3).metrics, results(4).metrics);
    // A recorder changes nothing.
    let scenario = scenario(&text);
    let mut recorded = Simulation::new(scenario.clone(), 3, Series::new(&scenario));
    recorded.advance(recorded.end());
    assert_eq!(recorded.results().metrics, results(3).metrics);
}
