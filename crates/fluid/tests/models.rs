//! What the model of a scenario is.

use crate::support;
use crate::support::{dumbbell, model};
use fluid::{Model, Population};
use scenario::Document;
use std::path::Path;

/// A scenario in a folder of the repository.
fn shipped(path: &str) -> Document {
    Document::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

fn stored(name: &str) -> Model {
    Model::of(&shipped(name).check().unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn flows_that_share_a_round_trip_are_a_class() {
    let model = stored("papers/aqmlab_papers/lred/exp1.toml");
    // Twice 2.5 + 2.5 + 10 ... 200 ms; a packet of 500 bytes and an ACK of 40 take 0.4 + 2 x 0.04 and 0.032 + 2 x 0.0032 ms.
    let rtts: Vec<f64> = model.classes.iter().map(|class| class.rtt).collect();
    for (rtt, delay) in rtts.iter().zip([0.010, 0.050, 0.100, 0.150, 0.200]) {
        assert!((rtt - (2.0 * (0.005 + delay) + 0.0005184)).abs() < 1e-12, "{rtts:?}");
    }
    let json = model.json();
    assert_eq!(json["classes"].as_array().unwrap().len(), 5);
    assert_eq!((json["classes"][0]["flows"].as_f64(), json["capacity"].as_f64()), (Some(80.0), Some(2500.0)));
    assert_eq!((json["buffer"].as_f64(), json["target"].as_f64()), (Some(200.0), Some(100.0)));
    assert_eq!(json["parameters"]["period"].as_f64(), Some(1.0));
}

#[test]
fn a_larger_header_makes_acks_slower_and_leaves_less_to_deliver() {
    let of = |tcp: &str| {
        let model = model(&dumbbell("", 60, 60.0, "").replace("\"newreno\"", tcp));
        let results = support::run(&model, &fluid::Options::default()).results();
        let [goodput, throughput] =
            ["goodput", "throughput"].map(|name| results["metrics"][name].as_f64().unwrap());
        (model.classes[0].rtt, goodput / throughput)
    };
    let ((rtt, payload), (longer, less)) = (of("\"newreno\""), of("\"newreno\", header = \"100 B\""));
    // 60 bytes more over 10 and twice over 100 Mbit/s.
    assert!((longer - rtt - 57.6e-6).abs() < 1e-9, "{longer} {rtt}");
    assert!((payload - 0.92).abs() < 1e-6 && (less - 0.8).abs() < 1e-6, "{payload} {less}");
}

#[test]
fn framing_takes_of_the_link_and_of_the_round_trip() {
    let of = |overhead: &str| {
        let load =
            "[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket_size = \"500 B\"\n";
        let model = model(&(dumbbell("", 60, 60.0, overhead) + load));
        let results = support::run(&model, &fluid::Options::default()).results();
        let [goodput, throughput] =
            ["goodput", "throughput"].map(|name| results["classes"]["long"][name].as_f64().unwrap());
        let Population::Lasting { count, .. } = model.load[0].rate else { unreachable!() };
        (model.capacity(), model.classes[0].rtt, count, goodput / throughput)
    };
    let (bare, framed) = (of(""), of("overhead = \"125 B\"\n"));
    assert_eq!((bare.0, framed.0), (2500.0, 2000.0));
    // 125 bytes each way at 10 Mbit/s.
    assert!((framed.1 - bare.1 - 0.2e-3).abs() < 1e-9, "{framed:?}");
    assert_eq!((bare.2, framed.2), (2e6, 2.5e6));
    assert!((bare.3 - 0.92).abs() < 1e-6 && (framed.3 - 460.0 / 625.0).abs() < 1e-6, "{bare:?} {framed:?}");
}

#[test]
fn a_rest_of_flows_goes_to_the_first_hosts() {
    let text = dumbbell("", 7, 10.0, "receiver_delay = [\"10 ms\", \"20 ms\", \"30 ms\"]\n");
    let counts: Vec<f64> = model(&text)
        .classes
        .iter()
        .map(|class| match class.flows {
            Population::Lasting { count, .. } => count,
            Population::Passing { .. } => unreachable!(),
        })
        .collect();
    assert_eq!(counts, [3.0, 2.0, 2.0]);
}

#[test]
fn what_is_left_to_the_engine_is_as_the_engine_has_it() {
    let parameters = |aqm: &str| model(&dumbbell(aqm, 10, 10.0, "")).json()["parameters"].clone();
    let star = parameters("[aqm]\nname = \"pi\"\ndesign = { n = 100, rtt = \"450 ms\" }\n");
    assert!((star["a"].as_f64().unwrap() - 2.857e-5).abs() < 1e-8 && star.get("design").is_none());
    let red = parameters("[aqm]\nname = \"red\"\n");
    assert_eq!((red["min_th"].as_f64(), red["max_th"].as_f64()), (Some(6.25), Some(18.75)));
    let ared = parameters("[aqm]\nname = \"ared\"\n");
    assert_eq!(ared["bottom"].as_f64(), Some(0.008));
}

#[test]
fn hosts_that_draw_their_delays_have_quantiles_of_the_law() {
    let text = dumbbell("", 10, 10.0, "hosts = 10\nreceiver_delay = \"uniform(10 ms, 110 ms)\"\n");
    let model = model(&text);
    let rtts: Vec<f64> = model.classes.iter().map(|class| class.rtt).collect();
    for (rtt, delay) in rtts.iter().zip([0.02, 0.04, 0.06, 0.08, 0.10]) {
        assert!((rtt - (2.0 * (0.005 + delay) + 0.0005184)).abs() < 1e-9, "{rtts:?}");
    }
    assert!(model.not_modelled.iter().any(|what| what.contains("quantiles")));
}

#[test]
fn all_that_is_not_tcp_comes_as_a_mean_rate() {
    let web = stored("papers/aqmlab_papers/redtail/web.toml");
    let kinds: Vec<&str> = web.load.iter().map(|load| load.kind).collect();
    assert_eq!(kinds, ["web", "cbr"]);
    let mut on_off = shipped("python/aqmlab/library/traffic/on-off.toml");
    on_off.set_text("traffic.long.tcp", "newreno").unwrap();
    let on_off = Model::of(&on_off.check().unwrap()).unwrap().json();
    assert_eq!(on_off["load"][0]["rate"].as_f64(), Some(5e6));
    assert_eq!(
        (on_off["load"][0]["from"].as_f64(), on_off["load"][0]["to"].as_f64()),
        (Some(20.0), Some(40.0))
    );
    let short = stored("papers/aqmlab_papers/lred/exp5.toml").json();
    let arrivals: f64 =
        short["short"].as_array().unwrap().iter().map(|s| s["arrivals"].as_f64().unwrap()).sum();
    assert!((arrivals - 30.0).abs() < 1e-6);
}

#[test]
fn two_managed_queues_on_a_way_are_one_too_many() {
    for path in ["python/aqmlab/library/parking-lot.toml", "papers/aqmlab_papers/lred/exp6.toml"] {
        let scenario = shipped(path).check().unwrap();
        let said = Model::of(&scenario).unwrap_err().to_string();
        assert!(said.contains("one") && said.contains("aqmlab run"), "{said}");
    }
}
