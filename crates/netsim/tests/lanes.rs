//! What is told of each queue where several with names share a buffer.

use aqm::unit::Time;
use netsim::{Results, Series, Simulation};
use scenario::{Document, Scenario};

/// Two long flows, short ones, and datagrams, on a link that they fill.
fn scenario(aqm: &str) -> Scenario {
    let text = format!(
        "duration = \"40 s\"\nwarmup = \"7 s\"\naqm = \"{aqm}\"\nrecord.step = \"100 ms\"\n\
         [dumbbell]\nrate = \"2 Mbit/s\"\nbuffer = \"30 kB\"\nhosts = 60\nreceiver_delay = [\"10 ms\", \"35 ms\"]\n\
         [[traffic]]\nname = \"long\"\ncount = 2\npacket_size = \"500 B\"\n\
         [[traffic]]\nname = \"short\"\nkind = \"short\"\narrival_rate = \"12 /s\"\nsize = \"5 kB\"\n\
         packet_size = \"500 B\"\n\
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
        let count = |of: fn(&netsim::results::TrafficMetrics) -> u64| {
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
    let [ared, redtail] = [
        "ared:preset=redtail,min_bytes=5000 B,max_bytes=15 kB",
        "redtail:long=\\\"ared:preset=redtail,min_bytes=5000 B,max_bytes=15 kB\\\"",
    ]
    .map(loss);
    assert!(ared.iter().all(|loss| *loss > 0.005), "{ared:?}");
    assert!(redtail[0] > 0.005 && redtail[1..].iter().all(|loss| *loss < 0.001), "{redtail:?}");
}
