//! Properties of links besides queueing: random loss, changes of rate, delays drawn for each run.

use netsim::Simulation;
use run::Results;
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
    assert_eq!(lossy.traffic.arrivals + lossy.random_losses.unwrap(), sent);
    // Standard deviation of the number lost: 67.
    assert!(lossy.random_losses.unwrap().abs_diff(sent / 10) < 300, "{}", lossy.random_losses.unwrap());
    assert_eq!(lossy.traffic.loss_ratio, Some(0.0), "what chance takes is not the queue's loss");
    let bursts = stream("loss = { good_to_bad = 0.05, bad_to_good = 0.2 }").metrics.link;
    assert!(bursts.random_losses.unwrap().abs_diff(sent / 5) < 1500, "{}", bursts.random_losses.unwrap());
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
        assert_eq!(metrics.link.random_losses.unwrap(), 0);
        metrics.drops_elsewhere.unwrap()
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

/// The text of a scenario with these rates of the bottleneck, recorded in a file.
fn recorded(name: &str, content: &str, keys: &str, rest: &str) -> String {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, content).unwrap();
    format!("{keys}\n[dumbbell]\naccess_rate = \"1 Gbit/s\"\nrates = {{ file = {file:?} }}\n{rest}")
}

#[test]
fn a_link_carries_what_it_did_in_its_recording() {
    // In each 1.7 s: 4 Mbit in 0.4 s, a pause, 2 Mbit in 1 s, a pause. More arrives.
    let content = "time,rate_mbps\n0,10\n0.4,0\n0.5,2\n1.0,2\n1.5,0\n1.6,0\n";
    let mean = (10.0 * 0.4 + 2.0 * 1.0) / 1.7;
    for clock in ["integer", "double"] {
        let keys = format!("duration = \"171.7 s\"\nwarmup = \"1.7 s\"\nclock = \"{clock}\"");
        let text = recorded(
            "carried",
            content,
            &keys,
            "buffer = \"20 packets\"\n[[traffic]]\nname = \"a\"\nkind = \"cbr\"\nrate = \"20 Mbit/s\"\n",
        );
        let scenario = Document::parse(&text, "recorded").unwrap().check().unwrap();
        let link = &scenario.links[scenario.observed];
        assert_eq!(link.rate.bits(), f64::round(mean * 1e6), "the mean is the default of `rate`");
        let capacity = link.capacity(scenario.general.warmup, scenario.general.duration);
        assert!((capacity / (mean * 1e6 * 170.0) - 1.0).abs() < 1e-9);
        let found = run(&text, 1).metrics.link;
        // The queue is never empty, so all of it is used but for the packet at each end of the window.
        let sent = found.traffic.throughput * 170.0;
        assert!((sent - capacity).abs() < 2.0 * 12_000.0, "{clock}: {sent} of {capacity}");
        assert_eq!(found.utilisation, 1.0);
    }
}

#[test]
fn of_a_packet_at_an_end_of_the_window_counts_what_a_recorded_link_sent_within() {
    // 1 Mbit/s until 0.4 s, nothing until 1.2 s, then 0.5 Mbit/s. Always a packet is in transmission.
    let content = "time,rate_kbps\n0,1000\n0.4,0\n1.2,500\n5,500\n";
    for clock in ["integer", "double"] {
        for (from, to, bits) in [
            ("0.5 s", "1 s", 0.0),
            ("0.3 s", "1 s", 100e3),
            ("0.5 s", "1.4 s", 100e3),
            ("0.3 s", "2.4 s", 700e3),
        ] {
            // Less than a packet comes before the pause, so that it is in transmission when the pause begins.
            let keys = format!("duration = \"{to}\"\nwarmup = \"{from}\"\nclock = \"{clock}\"");
            let traffic =
                "[[traffic]]\nname = \"a\"\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket_size = \"1472 B\"\n";
            let text = recorded("straddles", content, &keys, traffic);
            let scenario = Document::parse(&text, "x.toml").unwrap().check().unwrap();
            let window = (scenario.general.duration.nanos() - scenario.general.warmup.nanos()) as f64 * 1e-9;
            let mut simulation = Simulation::new(scenario, 1, ());
            simulation.advance(simulation.end());
            let results = simulation.results();
            let (link, class) = (results.metrics.link, &results.classes["a"].traffic);
            let sent = link.traffic.throughput * window;
            assert!((sent - bits).abs() < 1e-2, "{clock}, {from} to {to}: {sent} bits, not {bits}");
            assert_eq!(class.throughput, link.traffic.throughput);
            assert_eq!(link.utilisation, if bits == 0.0 { 0.0 } else { 1.0 }, "{clock}, {from} to {to}");
            assert_eq!(simulation.violations(), Vec::<String>::new());
        }
    }
}

#[test]
fn a_packet_waits_until_a_pause_of_its_recording_is_over() {
    // A packet of 1500 bytes is sent to the half when the pause of 3 s begins, and takes 1 ms at either side.
    let content = "time,rate_mbps\n0,6\n1,0\n4,6\n5,6\n";
    let rest = "sender_delay = \"0 s\"\nreceiver_delay = \"0 s\"\ndelay = \"0 s\"\n[[traffic]]\nname = \"a\"\nkind = \"cbr\"\n\
                start = \"998.988 ms\"\nstop = \"1 s\"\n";
    let text = recorded("pause", content, "duration = \"10 s\"", rest);
    let delay = run(&text, 1).classes["a"].totals.delay_mean.unwrap();
    assert!((delay - 3.002).abs() < 1e-4, "{delay}");
}

#[test]
fn delays_are_drawn_once_for_each_run_and_host() {
    let text = "duration = \"20 s\"\n[dumbbell]\nhosts = 5\nreceiver_delay = \"uniform(5 ms, 80 ms)\"\n\
                [[traffic]]\nname = \"a\"\ncount = 5\nkind = \"transfer\"\nsize = \"200 kB\"\n";
    let time = |seed| run(text, seed).classes["a"].completion_time_mean.unwrap();
    assert_eq!(time(1), time(1));
    assert_ne!(time(1), time(2));
}

/// A flow and a stream over a link that observes and is fed by a plain one; each frames packets as it likes.
fn framed(clock: &str, feeder: &str, neck: &str, size: u32, buffer: &str) -> Results {
    run(
        &format!(
            "duration = \"100 s\"\nwarmup = \"10 s\"\nclock = \"{clock}\"\nobserve = \"neck\"\n\
             [[link]]\nname = \"feeder\"\nfrom = \"a\"\nto = \"b\"\nrate = \"4 Mbit/s\"\nbuffer = \"{buffer}\"\n{feeder}\n\
             [[link]]\nname = \"neck\"\nfrom = \"b\"\nto = \"c\"\nrate = \"2 Mbit/s\"\nbuffer = \"{buffer}\"\n\
             aqm = \"droptail\"\n{neck}\n\
             [[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nfrom = \"a\"\nto = \"c\"\nrate = \"16 Mbit/s\"\npacket_size = \"{size} B\"\n"
        ),
        1,
    )
}

#[test]
fn a_frame_takes_its_time_and_its_room_and_is_no_goodput() {
    for clock in ["integer", "double"] {
        // 250 bytes more for 250: the link sends as many packets as it would of 500.
        let [bare, framed, full] = [(250, ""), (250, "overhead = \"250 B\""), (500, "")]
            .map(|(size, overhead)| framed(clock, "", overhead, size, "5000 B").metrics);
        assert_eq!(framed.link.utilisation, full.link.utilisation, "{clock}");
        assert!((framed.link.traffic.throughput / 2e6 - 1.0).abs() < 1e-3, "{clock}: bits on the link");
        let payload = |size: f64| 2e6 * (size - 28.0);
        assert!((framed.flows.goodput / (payload(250.0) / 500.0) - 1.0).abs() < 1e-3, "{clock}");
        assert!((bare.flows.goodput / (payload(250.0) / 250.0) - 1.0).abs() < 1e-3, "{clock}");
        // A buffer of bytes holds as many as of 500 too.
        let queues = [&bare, &framed, &full].map(|metrics| metrics.link.queue_mean.unwrap().round());
        assert_eq!(queues, [20.0, 10.0, 10.0], "{clock}");
    }
}

#[test]
fn a_packet_that_sticks_out_of_the_buffer_waits_in_it() {
    for clock in ["integer", "double"] {
        // Of packets of 500 bytes, three fit in 1700 and the fourth sticks out; plain or measured.
        let held = |admission: &str, plain: bool| {
            let key = format!("buffer_admission = \"{admission}\"");
            let (feeder, neck) = if plain { (key.as_str(), "") } else { ("", key.as_str()) };
            let metrics = framed(clock, feeder, neck, 500, "1700 B").metrics;
            (metrics.link.queue_mean.unwrap().round(), metrics.drops_elsewhere.unwrap())
        };
        assert_eq!([held("fits", false).0, held("sticks-out", false).0], [3.0, 4.0], "{clock}");
        // One more than the others waits at the end.
        let [fits, sticks_out] = [held("fits", true).1, held("sticks-out", true).1];
        assert_eq!(fits - sticks_out, 1, "{clock}");
    }
}

#[test]
fn a_plain_link_frames_as_a_measured_one_does() {
    for clock in ["integer", "double"] {
        let arrivals = |feeder: &str, size: u32| {
            let metrics = framed(clock, feeder, "", size, "100 kB").metrics;
            (metrics.link.traffic.arrivals, metrics.drops_elsewhere.unwrap())
        };
        let (bare, framed, full) =
            (arrivals("", 250), arrivals("overhead = \"250 B\"", 250), arrivals("", 500));
        // 4 Mbit/s for 90 s; of 16 Mbit/s for 100 s all but what was sent, and what waits at the end.
        let close = |(arrived, dropped): (u64, u64), arrivals: u64, drops: u64| {
            arrived.abs_diff(arrivals) <= 1 && dropped.abs_diff(drops) <= 2
        };
        assert!(close(bare, 180_000, 800_000 - 200_000 - 400), "{clock}: {bare:?}");
        assert!(close(framed, 90_000, 800_000 - 100_000 - 200), "{clock}: {framed:?}");
        assert!(close(full, 90_000, 400_000 - 100_000 - 200), "{clock}: {full:?}");
    }
}

/// Cells of ATM, and the byte for each 64 of PTM, take time on the wire and not in the queue.
#[test]
fn frames_lengthen_the_transmission_alone() {
    let sent = |framing: &str, size: u32| {
        let text = format!(
            "duration = \"60 s\"\nwarmup = \"10 s\"\n[dumbbell]\nrate = \"500 kbit/s\"\noverhead = \"14 B\"\nframing = \"{framing}\"\n\
             [[traffic]]\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket_size = \"{size} B\"\n"
        );
        let link = run(&text, 1).metrics.link;
        assert!((link.utilisation - 1.0).abs() < 1e-3, "{framing}: {}", link.utilisation);
        f64::from(size + 14) * 500e3 / link.traffic.throughput
    };
    for (framing, size, wire) in [
        ("pppoe-llcsnap", 1500, 33 * 53),
        ("pppoe-llcsnap", 48, 2 * 53),
        ("pppoe-ptm", 1500, 1554),
        ("docsis", 44, 64),
        ("ethernet", 100, 138),
    ] {
        let found = sent(framing, size);
        assert!((found / f64::from(wire) - 1.0).abs() < 1e-3, "{framing}, {size} B: {found}");
    }
}
