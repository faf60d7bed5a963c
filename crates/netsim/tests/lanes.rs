//! The results of each named queue of several that share a buffer.

use aqm::unit::Time;
use netsim::{Series, Simulation};
use run::Results;
use scenario::{Document, Scenario};

/// Ten long flows, short ones, and datagrams, on a link that they fill.
fn scenario(aqm: &str) -> Scenario {
    let text = format!(
        "duration = \"40 s\"\nwarmup = \"7 s\"\naqm = \"{aqm}\"\nrecord.step = \"100 ms\"\n\
         [dumbbell]\nrate = \"2 Mbit/s\"\nbuffer = \"60 kB\"\nhosts = 60\nreceiver_delay = [\"10 ms\", \"35 ms\"]\n\
         [[traffic]]\nname = \"long\"\ncount = 10\npacket_size = \"500 B\"\ntcp = \"rfc5681\"\n\
         [[traffic]]\nname = \"short\"\nkind = \"short\"\narrival_rate = \"12 /s\"\nsize = \"5 kB\"\n\
         packet_size = \"500 B\"\ntcp = \"rfc5681\"\n\
         [[traffic]]\nname = \"cbr\"\nkind = \"cbr\"\nrate = \"100 kbit/s\"\npacket_size = \"200 B\"\n"
    );
    Document::parse(&text, "test").unwrap().check().unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(aqm: &str) -> Results {
    let mut run = Simulation::new(scenario(aqm), 1, ());
    run.advance(Time::MAX);
    run.results()
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found}, not {expected}");
}

#[test]
fn the_lanes_of_a_link_add_up_to_it() {
    for aqm in ["redtail", "redtail:t=\\\"200 ms\\\",n=5,long=droptail", "redtail:short=pi,long=pi"] {
        let results = run(aqm);
        let names: Vec<&str> = results.lanes.keys().map(String::as_str).collect();
        assert_eq!(names, ["bottleneck.long", "bottleneck.short"]);
        let (link, lanes) = (&results.metrics.link, || results.lanes.values());
        let count = |of: fn(&run::results::TrafficMetrics) -> u64| {
            assert_eq!(lanes().map(|lane| of(&lane.traffic)).sum::<u64>(), of(&link.traffic), "{aqm}");
        };
        count(|traffic| traffic.arrivals);
        count(|traffic| traffic.drops_early);
        count(|traffic| traffic.drops_overflow);
        count(|traffic| traffic.marks);
        assert_near(lanes().map(|lane| lane.traffic.throughput).sum(), link.traffic.throughput);
        assert_near(lanes().map(|lane| lane.queue_mean.unwrap()).sum(), link.queue_mean.unwrap());
        let delays = lanes().map(|lane| lane.traffic.queue_delay_max.unwrap());
        assert_near(delays.fold(0.0, f64::max), link.traffic.queue_delay_max.unwrap());
        // Both at work, and Little's law for each.
        for (name, lane) in &results.lanes {
            let traffic = &lane.traffic;
            let sent = traffic.arrivals - traffic.drops_early - traffic.drops_overflow;
            let waiting = sent as f64 / 33.0 * traffic.queue_delay_mean.unwrap();
            let mean = lane.queue_mean.unwrap();
            assert!(
                sent > 1000 && (waiting - mean).abs() < 0.05 * mean + 0.1,
                "{aqm} {name}: {waiting}, {mean}"
            );
        }
    }
}

#[test]
fn queues_without_a_name_are_not_told_apart() {
    for aqm in ["droptail", "fq"] {
        assert!(run(aqm).lanes.is_empty(), "{aqm}");
    }
}

#[test]
fn the_series_of_the_lanes_add_up_to_those_of_the_link() {
    let scenario = scenario("redtail");
    let series = Series::new(&scenario);
    let mut run = Simulation::new(scenario, 1, series);
    run.advance(Time::MAX);
    let end = run.end();
    run.probe_mut().finish(end);
    let columns = run.probe_mut().take_columns();
    let column = |name: &str| {
        let name = format!("bottleneck.{name}");
        &columns.iter().find(|column| column.name == name).unwrap_or_else(|| panic!("{name}")).values
    };
    for quantity in ["queue.mean", "arrivals", "drops"] {
        let [short, long] = ["short", "long"].map(|lane| column(&format!("lane.{lane}.{quantity}")));
        assert_eq!(short.len(), 400);
        for ((short, long), both) in short.iter().zip(long).zip(column(quantity)) {
            assert!((short + long - both).abs() < 1e-9, "{quantity}: {short} + {long}, not {both}");
        }
        assert!(long.iter().sum::<f64>() > 0.0 && (quantity == "drops" || short.iter().sum::<f64>() > 0.0));
    }
    let sent = |name: &str| column(&format!("{name}.throughput")).iter().sum::<f64>();
    assert_near(sent("lane.short") + sent("lane.long"), sent("long") + sent("short") + sent("cbr"));
    assert!(column("lane.short.delay").iter().any(|delay| *delay > 0.0));
}

#[test]
fn redtail_spares_short_flows_and_datagrams() {
    let loss = |aqm: &str| {
        let classes = run(aqm).classes;
        ["long", "short", "cbr"].map(|name| classes[name].traffic.loss_ratio.unwrap())
    };
    // The paper's thresholds and buffer, three eighths of each. The short flows come too often to be new pairs.
    let ared = "ared:preset=redtail,min_bytes=7500 B,max_bytes=30 kB";
    let redtail = format!("redtail:key=flow,max_th1=11250 B,min_th1=750 B,long=\\\"{ared}\\\"");
    let [ared, redtail] = [loss(ared), loss(&redtail)];
    assert!(ared[0] > 0.01 && ared[1] > 0.01 && ared[2] > 0.005, "{ared:?}");
    assert!(redtail[0] > 0.01 && redtail[1] < 0.001 && redtail[2] < 0.001, "{redtail:?} {ared:?}");
}

#[test]
fn the_wait_in_redtail_s_short_queue_is_max_th1_over_c() {
    // Little's law: q1 bytes wait, and leave at C q1 / max_th1 (section VI of the paper).
    for kilobytes in [20, 40] {
        let aqm = format!("redtail:key=flow,max_th1={kilobytes} kB");
        let delay = run(&aqm).lanes["bottleneck.short"].traffic.queue_delay_mean.unwrap();
        let bound = f64::from(kilobytes) * 8e3 / 2e6;
        assert!((delay - bound).abs() < 0.03 * bound, "{delay}, not {bound}");
    }
}

#[test]
fn settings_at_their_limits_lose_no_count() {
    let aqms = [
        "name = \"fq\"\nflows = 1",
        "name = \"fq\"\nquantum = \"1 B\"",
        "name = \"fq\"\nflows = 65536\ndrop_batch = 1000000\naqm = \"sfb\"",
        "name = \"fq\"\ndrop_batch = 0\nflows = 2\naqm = \"choke:min_th=1,max_th=2\"",
        "name = \"fq\"\nflows = 3\naqm = \"jobs_ecn:k=1,flows=1\"",
        "name = \"dualpi2\"\nclassic_protection = 0\ntarget = \"0 s\"",
        "name = \"dualpi2\"\nclassic_protection = 100\nk = 255\nscheduler = \"ts-fifo\"\nt_shift = \"1000 s\"",
        "name = \"redtail\"\nmin_th1 = \"0 B\"\nmax_th1 = \"1 B\"\nc1_max = 0\nn = 0\ntable = 1",
        "name = \"redtail\"\nkey = \"flow\"\nudp_short = false\nshort = \"choke:min_th=1,max_th=2\"\nlong = \"pie\"",
        "name = \"jobs\"\ndelay = [\"1 us\", \"1 us\", \"1 us\", \"1 us\"]\nloss = [0, 0, 0, 0]\nrate = [\"1000 Gbit/s\", \"1000 Gbit/s\", \"1 bit/s\", \"1 bit/s\"]",
        "name = \"jobs\"\nrelief = \"shared\"\ndelay = \"1 us\"\nloss = [1, 0]\nrelative_delay = [1e-6, 1e6, 1e-6, 1e6]\nrelative_loss = [1e6, 1e6, 1e6, 1e6]",
        "name = \"jobs\"\nform = \"ns2\"\ndelay = [\"auto\", \"auto\", \"auto\", \"1 us\"]\ndrop_front = true\nloss = 0",
        "name = \"jobs\"\nform = \"ns2\"\nrelief = \"shared\"\nsampling = 1000000\ndelay = [\"1 us\", \"1 us\"]\nrelative_loss = [1, 1, 1, 1]",
    ];
    for aqm in aqms {
        for buffer in ["1 packets", "3 packets", "1500 B", "4 kB", "100 packets"] {
            for classes in [[4, 4, 4], [1, 2, 3]] {
                let traffic = |class: usize, more: &str| {
                    format!("[[traffic]]\nname = \"{more}\"\nclass = {}\n", classes[class])
                };
                let text = format!(
                    "duration = \"6 s\"\nwarmup = \"1 s\"\n[aqm]\n{aqm}\n\
                     [dumbbell]\nrate = \"1 Mbit/s\"\nbuffer = \"{buffer}\"\nhosts = 9\n{}count = 9\ntcp = \"l4s\"\n\
                     {}count = 9\ntcp = \"rfc5681:ecn=true\"\n{}kind = \"cbr\"\nrate = \"600 kbit/s\"\npacket_size = \"41 B\"\n",
                    traffic(0, "a"),
                    traffic(1, "b"),
                    traffic(2, "c"),
                );
                let scenario = Document::parse(&text, "test").unwrap().check();
                let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
                let mut run = Simulation::new(scenario, 1, ());
                run.advance(Time::MAX);
                let results = run.results();
                let link = &results.metrics.link;
                // JoBS drops what cannot be gone in a microsecond, all of it.
                let least = if aqm.contains("1 us") { 0.0 } else { 0.5 };
                assert!((least..1.0 + 1e-9).contains(&link.utilisation), "{aqm} {buffer}: {link:?}");
                let counts = |traffic: &run::results::TrafficMetrics| {
                    [traffic.arrivals, traffic.drops_early, traffic.drops_overflow, traffic.marks]
                };
                let lanes = results.lanes.values().map(|lane| counts(&lane.traffic));
                let sum = lanes.reduce(|a, b| std::array::from_fn(|i| a[i] + b[i]));
                assert_eq!(sum.unwrap_or(counts(&link.traffic)), counts(&link.traffic), "{aqm} {buffer}");
            }
        }
    }
}
