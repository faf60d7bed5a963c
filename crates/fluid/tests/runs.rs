//! What holds of every run.

use crate::support::{dumbbell, model, run};
use aqm::{Span, Time};
use fluid::{Fluid, Model, Options};
use scenario::Document;

const AQMS: [&str; 10] = ["droptail", "lred", "pi", "rem", "red", "ared", "avq", "raqm", "blue", "gredi"];

fn of(aqm: &str) -> Model {
    let aqm = match aqm {
        "gredi" => "aqm = { name = \"red\", preset = \"gred-i\" }".to_owned(),
        _ => format!("[aqm]\nname = \"{aqm}\""),
    };
    let text = dumbbell("[x]\n", 60, 60.0, "receiver_delay = [\"20 ms\", \"120 ms\"]\n");
    let (head, tail) = text.split_once("[x]\n").unwrap();
    let top = if aqm.starts_with("aqm =") {
        format!("{aqm}\n{head}{tail}")
    } else {
        format!("{head}{aqm}\n{tail}")
    };
    let udp = "[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket_size = \"500 B\"\n\
               active = [\"20 s\", \"40 s\"]\n\
               [[traffic]]\nname = \"short\"\nkind = \"short\"\npacket_size = \"500 B\"\narrival_rate = \"20 /s\"\n\
               lifetime = \"uniform(1 s, 2 s)\"\nactive = [\"30 s\", \"50 s\"]\ntcp = \"newreno\"\n";
    model(&format!("{top}{udp}"))
}

#[test]
fn every_packet_that_arrives_is_dropped_sent_or_waits() {
    for aqm in AQMS {
        let fluid = run(&of(aqm), &Options::default());
        let [arrivals, early, marks, overflow, sent] = fluid.sums();
        let kept = early - marks + overflow + sent + fluid.queue();
        assert!((arrivals - kept).abs() < 1e-9 * arrivals, "{aqm}: {arrivals} {kept}");
        assert!(arrivals > 100_000.0 && fluid.queue() >= 0.0 && fluid.queue() <= 200.0, "{aqm}");
    }
}

#[test]
fn a_run_is_the_same_however_often_it_is_interrupted() {
    for aqm in AQMS {
        let model = of(aqm);
        let once = run(&model, &Options::default());
        let mut often = Fluid::new(model, Options::default()).unwrap();
        for i in 1..=600 {
            often.advance(Time::ZERO + Span::ms(97) * i);
        }
        often.advance(Time::MAX);
        let bits = |fluid: &Fluid| fluid.sums().map(f64::to_bits);
        assert_eq!(bits(&once), bits(&often), "{aqm}");
    }
}

#[test]
fn load_takes_its_part_of_the_link() {
    // 2 of 10 Mbit/s go to datagrams: the windows are those of a link of 8, but for what is dropped of the datagrams.
    let load = "[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket_size = \"500 B\"\n";
    let fluid =
        run(&model(&(dumbbell("[aqm]\nname = \"lred\"\n", 60, 100.0, "") + load)), &Options::default());
    let results = fluid.results();
    let of = |class: &str, name: &str| results["classes"][class][name].as_f64().unwrap();
    let loss = results["metrics"]["loss_ratio"].as_f64().unwrap();
    assert!((of("udp", "throughput") / 2e6 - (1.0 - loss)).abs() < 0.01);
    assert!((of("udp", "throughput") + of("long", "throughput") - 1e7).abs() < 1e5);
}

#[test]
fn load_that_may_be_marked_is_not_dropped() {
    let metrics = |ecn: &str| {
        let load = format!(
            "[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\npacket_size = \"500 B\"\necn = \"{ecn}\"\n"
        );
        let aqm = "[aqm]\nname = \"pi\"\necn = true\n";
        let text = format!("warmup = \"20 s\"\n{}{load}", dumbbell(aqm, 60, 60.0, ""));
        let results = run(&model(&text), &Options::default()).results();
        ["drops_early", "marks"].map(|name| results["classes"]["udp"][name].as_f64().unwrap())
    };
    let ([drops, no_marks], [no_drops, marks]) = (metrics("none"), metrics("ect0"));
    assert_eq!((no_marks, no_drops), (0.0, 0.0));
    assert!(drops > 100.0 && (marks / drops - 1.0).abs() < 0.1, "{marks} marks, {drops} drops");
}

#[test]
fn what_still_waits_has_not_been_delivered() {
    // Nothing is lost in so large a buffer, which fills until the end.
    let text =
        dumbbell("[aqm]\nname = \"droptail\"\n", 60, 60.0, "").replace("200 packets", "1000000 packets");
    let fluid = run(&model(&text), &Options::default());
    assert!(fluid.queue() > 10_000.0, "{}", fluid.queue());
    let results = fluid.results();
    let link = results["metrics"]["throughput"].as_f64().unwrap();
    let class = results["classes"]["long"]["throughput"].as_f64().unwrap();
    assert!((class / link - 1.0).abs() < 1e-9, "{class} {link}");
    assert!((results["metrics"]["goodput"].as_f64().unwrap() / link - 460.0 / 500.0).abs() < 1e-9);
}

#[test]
fn an_average_faster_than_a_step_is_the_queue() {
    // Weight 0.4: the average follows within a millisecond, where Runge and Kutta's steps of 10 ms would blow up.
    let aqm = "[aqm]\nname = \"red\"\nmin_th = 50\nmax_th = 150\nw_q = 0.4\n";
    let model = model(&dumbbell(aqm, 60, 60.0, "sender_delay = \"50 ms\"\n"));
    let metrics = |step: f64| {
        let results = run(&model, &Options { step: Some(step), ..Options::default() }).results();
        ["queue_mean", "loss_ratio"].map(|name| results["metrics"][name].as_f64().unwrap())
    };
    let (coarse, fine) = (metrics(0.01), metrics(0.0005));
    for (coarse, fine) in coarse.iter().zip(fine) {
        assert!((coarse / fine - 1.0).abs() < 0.1, "{coarse} {fine}");
    }
}

#[test]
fn a_run_remarks_on_the_randomness_that_would_matter() {
    let remarks = |aqm: &str, flows: u32| {
        let text = dumbbell(aqm, flows, 60.0, "receiver_delay = [\"50 ms\", \"100 ms\"]\n");
        run(&model(&format!("warmup = \"30 s\"\n{text}")), &Options::default()).remarks().join("; ")
    };
    let lred = "[aqm]\nname = \"lred\"\nq0 = 100\n";
    assert_eq!(remarks(lred, 50), "");
    assert!(remarks(lred, 400).starts_with("the behaviour of windows as small as"));
    assert!(remarks("[aqm]\nname = \"droptail\"\n", 30).contains("a full buffer"));
    assert!(remarks("[aqm]\nname = \"red\"\n", 30).contains("the queue is empty"));
    assert!(remarks("[aqm]\nname = \"blue\"\n", 50).contains("BLUE"));
    assert!(remarks("[aqm]\nname = \"pi\"\nq_ref = 10\n", 50).contains("a short queue"));
}

#[test]
fn marks_are_signals_without_loss() {
    let aqm = "[aqm]\nname = \"lred\"\necn = true\n";
    let text =
        dumbbell(aqm, 60, 60.0, "").replace("flavour = \"newreno\"", "flavour = \"newreno\", ecn = true");
    let metrics = &run(&model(&text), &Options::default()).results()["metrics"];
    let plain = &run(&model(&dumbbell("[aqm]\nname = \"lred\"\n", 60, 60.0, "")), &Options::default())
        .results()["metrics"];
    let of = |metrics: &serde_json::Value, name: &str| metrics[name].as_f64().unwrap();
    assert!(of(metrics, "drops_early") == 0.0 && of(metrics, "marks") > 1000.0);
    // Nothing thins the arrivals: the flows have to send less, and need more signals.
    assert!(of(metrics, "mark_ratio") > of(plain, "loss_ratio"));
    assert!((of(metrics, "goodput") / of(plain, "goodput") - 1.0).abs() < 0.01);
}

#[test]
fn a_link_that_changes_its_rate_is_followed() {
    let text = dumbbell("[aqm]\nname = \"lred\"\n", 60, 100.0, "changes = [\"50 s: 5 Mbit/s\"]\n");
    let mut fluid = run(&model(&text), &Options::default());
    let columns = fluid.take_columns();
    let throughput =
        &columns.iter().find(|column| column.name == "bottleneck.long.throughput").unwrap().values;
    let at = |t: f64| throughput[(t / 0.05) as usize];
    assert!(
        (at(49.0) / 1e7 - 1.0).abs() < 1e-6 && (at(99.0) / 5e6 - 1.0).abs() < 1e-6,
        "{} {}",
        at(49.0),
        at(99.0)
    );
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    let refused = |text: &str| Options::read(text).unwrap_err();
    assert!(refused("{\"steps\": 1}").contains("steps"));
    assert_eq!(refused("{\"step\": 2.0}"), "fluid option step = 2: must be in [1e-7, 1] s");
    assert!(refused("{\"initial\": {\"window\": 0, \"queue\": 1}}").contains("initial.window = 0"));
    assert!(refused("{\"tcp\": \"cubic\"}").contains("padhye"));
    assert_eq!(Options::read("{}").unwrap(), Options::default());
    let droptail = of("droptail");
    let options = Options { constant_rtt: true, ..Options::default() };
    assert!(Fluid::new(droptail, options).unwrap_err().to_string().contains("response.target"));
}

#[test]
fn delayed_acks_slow_only_windows_that_grow_by_acknowledgements() {
    let acked = |tcp: &str| {
        let text = dumbbell("", 10, 10.0, "").replace("{ preset = \"ns2.35\", flavour = \"newreno\" }", tcp);
        let scenario = Document::parse(&text, "test").unwrap().check().unwrap_or_else(|e| panic!("{e}"));
        Model::of(&scenario).unwrap().classes[0].acked
    };
    let tcps = ["'rfc5681'", "'rfc5681:delayed_ack=false'", "'linux:congestion=reno'"];
    assert_eq!(tcps.map(acked), [2.0, 1.0, 1.0]);
}

/// Why a scenario has no model.
fn unsupported(text: &str) -> String {
    let scenario = Document::parse(text, "test").unwrap().check().unwrap_or_else(|e| panic!("{e}"));
    Model::of(&scenario).unwrap_err().to_string()
}

#[test]
fn a_scenario_beyond_the_equations_is_refused_with_a_remedy() {
    let said = unsupported(&dumbbell("[aqm]\nname = \"codel\"\n", 10, 10.0, ""));
    assert!(
        said.starts_with("aqm.name = \"codel\"") && said.contains("lred, pi") && said.contains("aqmlab run"),
        "{said}"
    );
    let cubic = dumbbell("", 10, 10.0, "")
        .replace("preset = \"ns2.35\", flavour = \"newreno\"", "preset = \"cubic\"");
    assert!(unsupported(&cubic).starts_with("traffic.long.tcp.congestion = \"cubic\""));
    let unnamed =
        dumbbell("", 10, 10.0, "").replace("tcp = { preset = \"ns2.35\", flavour = \"newreno\" }\n", "");
    let said = unsupported(&unnamed);
    assert!(
        said.starts_with("traffic.long.tcp.congestion = \"cubic\"") && said.contains("\"newreno\""),
        "{said}"
    );
    let sized = dumbbell("", 10, 10.0, "") + "kind = \"transfer\"\nsize = \"1 MB\"\n";
    assert!(
        unsupported(&sized).starts_with("traffic.long: the fluid model cannot express the end of a transfer")
    );
    let friendly = dumbbell("", 10, 10.0, "") + "[[traffic]]\nname = \"stream\"\nkind = \"tfrc\"\n";
    assert!(unsupported(&friendly).starts_with("traffic.stream: the fluid model has no TFRC"));
    for aqm in ["lred", "raqm"] {
        let weights = dumbbell(&format!("[aqm]\nname = \"{aqm}\"\nweights = [1, 2]\n"), 10, 10.0, "");
        assert!(unsupported(&weights).starts_with("aqm.weights"), "{aqm}");
    }
    let said = unsupported(&dumbbell("", 10, 10.0, "access_half_duplex = \"1 us\"\n"));
    assert!(
        said.starts_with("link sender1: half_duplex = \"1 us\"")
            && said.contains("remove it, or use `aqmlab run`"),
        "{said}"
    );
    let wifi = "[[wifi]]\nname = \"air\"\nap = \"a\"\nstations = \"b\"\nmcs = 0\n[[traffic]]\nfrom = \"a\"\nto = \"b\"\n";
    let said = unsupported(wifi);
    assert!(said.starts_with("wifi air: ") && said.contains("remove it, or use `aqmlab run`"), "{said}");
    let cell = "[[cell]]\nname = \"c\"\nbase = \"a\"\nusers = \"b\"\ncqi = 1\n[[traffic]]\nfrom = \"a\"\nto = \"b\"\n";
    let said = unsupported(cell);
    assert!(said.starts_with("cell c: ") && said.contains("remove it, or use `aqmlab run`"), "{said}");
    let cable =
        "[[cable]]\nname = \"c\"\ncmts = \"a\"\nmodems = \"b\"\n[[traffic]]\nfrom = \"a\"\nto = \"b\"\n";
    let said = unsupported(cable);
    assert!(said.starts_with("cable c: ") && said.contains("remove it, or use `aqmlab run`"), "{said}");
    for (keys, key) in [
        ("delays = \"5 s: 1 ms\"", "delays"),
        ("reverse_outages = \"5 s..6 s\"", "outages"),
        ("handover = { every = \"5 s\", outage = \"1 s\" }", "handover"),
        ("reorder = { gap = 5 }", "reorder"),
        ("duplicate = 0.1", "duplicate"),
    ] {
        let said = unsupported(&dumbbell("", 10, 10.0, &format!("{keys}\n")));
        assert!(
            said.starts_with("link bottleneck") && said.contains(&format!(": {key}: the fluid model has")),
            "{said}"
        );
        assert!(said.ends_with("remove it, or use `aqmlab run`"), "{said}");
    }
    let said = unsupported(&dumbbell("", 10, 10.0, "reverse_ecn_path = \"drop\"\n"));
    assert!(
        said.starts_with("link bottleneck:reverse: ecn_path = \"drop\"") && said.contains("aqmlab run"),
        "{said}"
    );
}
