//! Connections that come and go: what they deliver, when they arrive, and that none disturbs the next in its slot.

use aqm::unit::{Span, Time};
use netsim::Simulation;
use proptest::prelude::*;
use run::Results;
use scenario::{Document, Scenario};

fn scenario(duration: &str, aqm: &str, traffic: &str) -> Scenario {
    let text = format!(
        "duration = \"{duration}\"\naqm = \"{aqm}\"\n[dumbbell]\nrate = \"2 Mbit/s\"\nbuffer = \"30 packets\"\n\
         receiver_delay = [\"10 ms\", \"35 ms\"]\n{traffic}"
    );
    Document::parse(&text, "test").unwrap().check().unwrap_or_else(|problems| panic!("{problems}"))
}

fn run(scenario: &Scenario, seed: u64) -> Results {
    let mut run = Simulation::new(scenario.clone(), seed, ());
    run.advance(Time::MAX);
    run.results()
}

/// Payload bytes delivered in this many seconds.
fn bytes(goodput: f64, seconds: f64) -> u64 {
    (goodput * seconds / 8.0).round() as u64
}

const SHORT: &str = "[[traffic]]\nname = \"short\"\nkind = \"short\"\narrival_rate = \"20 /s\"\n\
                     packet_size = \"500 B\"\nactive = [\"0 s\", \"40 s\"]\n";
const PAGE: &str = "[[traffic]]\nname = \"page\"\nkind = \"web\"\ncount = 6\nconnections = 4\nobjects = 10\n\
                    packet_size = \"500 B\"\nthink = \"exponential(500 ms)\"\nactive = [\"0 s\", \"40 s\"]\n";

#[test]
fn short_flows_deliver_every_byte_once() {
    for aqm in aqm::aqm::NAMES {
        for flavour in ["reno", "newreno", "sack"] {
            let traffic = format!("{SHORT}size = \"12345 B\"\ntcp = \"{flavour}\"\n");
            // 140 s without arrivals are enough for the longest back-off.
            let results = run(&scenario("180 s", aqm, &traffic), 1);
            let short = &results.classes["short"];
            assert!(
                short.started.unwrap() > 700 && short.totals.retransmits.unwrap() > 100,
                "{aqm} {flavour}: {short:?}"
            );
            assert_eq!(short.completed.unwrap(), short.started.unwrap(), "{aqm} {flavour}");
            assert_eq!(
                bytes(short.totals.goodput, 180.0),
                short.started.unwrap() * 12_345,
                "{aqm} {flavour}"
            );
            assert_eq!(short.totals.jain, None);
        }
    }
}

#[test]
fn a_lifetime_ends_what_is_produced_but_not_what_was_sent() {
    let traffic = format!("{SHORT}lifetime = \"uniform(100 ms, 1 s)\"\ntcp = \"rfc5681\"\n");
    let results = run(&scenario("180 s", "droptail", &traffic), 1);
    let short = &results.classes["short"];
    assert!(short.started.unwrap() > 700 && short.totals.timeouts.unwrap() > 0, "{short:?}");
    assert_eq!(short.completed.unwrap(), short.started.unwrap());
    // Nobody is done before its application stops: the mean is above that of the lifetimes, 0.55 s.
    assert!(short.completion_time_mean.unwrap() > 0.55);
    assert_eq!(bytes(short.totals.goodput, 180.0) % 460, 0, "whole segments");
}

#[test]
fn what_transient_flows_do_before_the_warm_up_is_left_out() {
    let traffic = format!("{SHORT}size = \"12345 B\"\ntcp = \"rfc5681\"\n");
    let mut scenario = scenario("180 s", "droptail", &traffic);
    let whole = run(&scenario, 1);
    // All transient flows have ended by 170 s: their counters must not return.
    scenario.general.warmup = Span::s(170);
    let after = &run(&scenario, 1).classes["short"];
    assert_eq!(
        (after.totals.goodput, after.totals.timeouts.unwrap(), after.totals.retransmits.unwrap()),
        (0.0, 0, 0)
    );
    assert_eq!(after.completed.unwrap(), whole.classes["short"].completed.unwrap(), "over the whole run");
    // Half-way, the two parts make the whole; some transient flows are open at the time.
    scenario.general.warmup = Span::s(20);
    let second = bytes(run(&scenario, 1).metrics.flows.goodput, 160.0);
    scenario.general.duration = Span::s(20);
    scenario.general.warmup = Span::ZERO;
    let first = bytes(run(&scenario, 1).metrics.flows.goodput, 20.0);
    assert_eq!(first + second, bytes(whole.metrics.flows.goodput, 180.0));
    assert!(first > 0 && second > 0);
}

#[test]
fn packets_of_a_connection_that_is_over_do_not_reach_the_next() {
    // The round trip is 400 ms and the first time-out 10 ms: every segment is sent again some times, and copies are on
    // the way when the next flow takes the slot. All flows are alike, so each takes as long as one alone.
    let link = "[dumbbell]\nrate = \"100 Mbit/s\"\ndelay = \"200 ms\"\nsender_delay = \"0 s\"\nreceiver_delay = [\"0 s\"]\n";
    let tcp = "tcp = { flavour = \"newreno\", initial_rto = \"10 ms\", min_rto = \"10 ms\", max_rto = \"20 ms\", delayed_ack = false }\n\
               packet_size = \"500 B\"\nsize = \"400 B\"\n";
    let both = |kind: &str| {
        let text = format!("duration = \"200 s\"\n{link}[[traffic]]\nname = \"x\"\n{kind}{tcp}");
        run(&Document::parse(&text, "test").unwrap().check().unwrap(), 1)
    };
    let alone = &both("kind = \"transfer\"\n").classes["x"];
    let took = alone.completion_time_mean.unwrap();
    assert!(alone.totals.retransmits.unwrap() > 20 && took > 0.8 && took < 0.81, "{alone:?}");
    let many = &both("kind = \"short\"\ninterarrival = \"810 ms\"\n").classes["x"];
    assert_eq!(many.started.unwrap(), 246);
    assert_eq!(many.completed.unwrap(), 245, "the last ACK is on its way");
    assert!((many.completion_time_mean.unwrap() - took).abs() < 1e-4, "{many:?} against {took}");
    assert_eq!(bytes(many.totals.goodput, 200.0), 246 * 400);
}

#[test]
fn arrivals_have_the_statistics_of_their_law() {
    let arrivals = |law: &str, seed| {
        let traffic = format!(
            "[[traffic]]\nname = \"x\"\nkind = \"short\"\n{law}\nsize = \"1 B\"\nactive = [\"10 s\", \"110 s\"]\n"
        );
        run(&scenario("111 s", "droptail", &traffic), seed).classes["x"].started.unwrap() as f64
    };
    // Counts of a Poisson process: mean and variance are both 2000.
    let counts: Vec<f64> = (1..=40).map(|seed| arrivals("arrival_rate = \"20 /s\"", seed)).collect();
    let mean = counts.iter().sum::<f64>() / 40.0;
    let variance = counts.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 39.0;
    // Four standard errors: 45 / sqrt(40) = 7.1 of the mean, 2000 sqrt(2 / 39) = 453 of the variance.
    assert!((mean - 2000.0).abs() < 28.0, "{mean}");
    assert!((variance - 2000.0).abs() < 1800.0, "{variance}");
    // The first comes a gap after the start, and none at the stop.
    assert_eq!(arrivals("interarrival = \"1 s\"", 1), 99.0);
    assert_eq!(arrivals("interarrival = \"1 s\"\ncount = 3", 1), 297.0);
    // Gaps from 5 ms on with a mean of 50 ms and a heavy tail: clumps, but on average as many.
    let heavy =
        (1..=40).map(|seed| arrivals("interarrival = \"pareto(50 ms, 2.5)\"", seed)).sum::<f64>() / 40.0;
    assert!((heavy - 2000.0).abs() < 60.0, "{heavy}");
}

#[test]
fn flows_that_come_and_go_arrive_alike_whatever_drops_their_packets() {
    let traffic = format!("{SHORT}size = \"pareto(10 kB, 1.3)\"\ncount = 2\ntcp = \"rfc5681\"\n");
    let results: Vec<Results> =
        aqm::aqm::NAMES.iter().map(|aqm| run(&scenario("400 s", aqm, &traffic), 5)).collect();
    let first = &results[0].classes["short"];
    assert!(
        results
            .iter()
            .any(|other| other.metrics.link.traffic.arrivals != results[0].metrics.link.traffic.arrivals)
    );
    for other in &results {
        let other = &other.classes["short"];
        assert_eq!(other.started.unwrap(), first.started.unwrap());
        if other.completed.unwrap() == first.completed.unwrap() {
            assert_eq!(
                bytes(other.totals.goodput, 400.0),
                bytes(first.totals.goodput, 400.0),
                "the same sizes"
            );
        }
    }
    assert!(
        results
            .iter()
            .filter(|other| other.classes["short"].completed.unwrap() == first.completed.unwrap())
            .count()
            > 3
    );
}

const VIDEO: &str = "[[traffic]]\nname = \"video\"\nkind = \"dash\"\nactive = [\"0 s\", \"100 s\"]\n";

#[test]
fn a_video_takes_the_bitrate_that_the_link_has_room_for() {
    // 85 % of 2 Mbit/s hold 1.4 Mbit/s, of 500 kbit/s 375 kbit/s; 200 kbit/s are less than the first version.
    let watch = |keys: &str| {
        let traffic =
            format!("{VIDEO}{keys}[[traffic]]\nname = \"other\"\nkind = \"cbr\"\nrate = \"1 kbit/s\"\n");
        run(&scenario("160 s", "codel", &traffic), 1).classes["video"].clone()
    };
    let alone = watch("");
    assert!((1.0e6..=1.4e6).contains(&alone.video_bitrate.unwrap()), "{alone:?}");
    assert_eq!((alone.stall_ratio, alone.sessions), (Some(0.0), Some(0)));
    // One step upwards at a time, and none downwards: five switches.
    let chunks = alone.completed.unwrap();
    assert!((alone.switch_ratio.unwrap() - 5.0 / chunks as f64).abs() < 1e-9, "{alone:?}");
    // 100 s and what is ahead then, of 4 s each; none is asked for later.
    assert!((25..=33).contains(&chunks), "{chunks}");
    assert_eq!(alone.started, alone.completed);
    let heavy = watch("bitrates = [\"4 Mbit/s\"]\n");
    // A chunk of 4 s takes 8.3 s; the last is played to its end.
    assert!((0.48..0.53).contains(&heavy.stall_ratio.unwrap()), "{heavy:?}");
    assert_eq!((heavy.video_bitrate, heavy.switch_ratio), (Some(4e6), Some(0.0)));
    // The link dies for good at 20 s: what was ahead is played, and the rest is waiting, although the viewer turned the
    // video off before the end of the run.
    let text = "duration = \"160 s\"\n[dumbbell]\nrate = \"2 Mbit/s\"\nchanges = [\"20 s: 1 kbit/s\"]\n";
    let dead = Document::parse(&format!("{text}{VIDEO}"), "dead").unwrap().check().unwrap();
    let stalled = run(&dead, 1).classes["video"].stall_ratio.unwrap();
    assert!((0.6..0.9).contains(&stalled), "{stalled}");
}

#[test]
fn pages_arrive_whole() {
    for aqm in aqm::aqm::NAMES {
        for tcp in ["newreno", "sack", "ns2.35", "rfc5681:handshake=false"] {
            let traffic = format!("{PAGE}size = \"2345 B\"\ntcp = \"{tcp}\"\n");
            let results = run(&scenario("180 s", aqm, &traffic), 1);
            let page = &results.classes["page"];
            assert!(
                page.sessions.unwrap() > 50 && page.totals.retransmits.unwrap() > 20,
                "{aqm} {tcp}: {page:?}"
            );
            assert_eq!(
                page.started.unwrap(),
                page.completed.unwrap(),
                "{aqm} {tcp}: every request is answered"
            );
            assert_eq!(page.completed.unwrap(), 10 * page.sessions.unwrap(), "{aqm} {tcp}");
            assert_eq!(bytes(page.totals.goodput, 180.0), page.completed.unwrap() * 2345, "{aqm} {tcp}");
            let (object, session) = (page.completion_time_mean.unwrap(), page.session_time_mean.unwrap());
            assert!(object < session, "{aqm} {tcp}: {object} {session}");
        }
    }
}

#[test]
fn a_lone_client_takes_as_long_as_its_round_trips() {
    // 100 ms there and back. A request and its object of four segments: one round trip, and another for the two
    // segments beyond an initial window of two. The first of a connection waits for one more, the SYN's.
    let page = |connections: u32, objects: u32, size: &str| {
        let text = format!(
            "duration = \"100 s\"\n[dumbbell]\nrate = \"1 Gbit/s\"\naccess_rate = \"1 Gbit/s\"\ndelay = \"50 ms\"\n\
             sender_delay = \"0 s\"\nreceiver_delay = [\"0 s\"]\n[[traffic]]\nname = \"x\"\nkind = \"web\"\n\
             connections = {connections}\nobjects = {objects}\nsize = \"{size}\"\npacket_size = \"500 B\"\nthink = \"1 s\"\n\
             tcp = {{ flavour = \"newreno\", initial_window = 2, delayed_ack = false }}\n"
        );
        let results = run(&Document::parse(&text, "test").unwrap().check().unwrap(), 1);
        let x = &results.classes["x"];
        (x.sessions.unwrap(), x.completion_time_mean.unwrap(), x.session_time_mean.unwrap())
    };
    let near =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
    let (sessions, object, session) = page(1, 1, "1840 B");
    near(object, 0.3);
    near(session, 0.3);
    // A session is the think time, a round trip for the SYN, and two for the object: 1.3 s.
    assert_eq!(sessions, 76);
    // Over one connection the window has grown when the second and the third object go out.
    let (_, object, session) = page(1, 3, "1840 B");
    near(object, 0.5 / 3.0);
    near(session, 0.5);
    // Side by side, one of them over the connection that is free first.
    let (_, object, session) = page(2, 3, "920 B");
    near(object, 0.5 / 3.0);
    near(session, 0.3);
    // More connections than objects are not opened, and do no harm.
    let (_, _, session) = page(9, 3, "920 B");
    near(session, 0.2);
}

#[test]
fn what_of_an_object_has_arrived_counts_and_no_more() {
    // An object is a full segment and a byte, and the byte comes 40 ms after the rest: no more than the rest of the
    // object on its way may count.
    let text = "[dumbbell]\nrate = \"100 kbit/s\"\n[[traffic]]\nname = \"x\"\nkind = \"web\"\nobjects = 1000\n\
                size = \"461 B\"\npacket_size = \"500 B\"\nthink = \"0 s\"\ntcp = \"newreno:delayed_ack=false\"\n";
    let mut halves = 0;
    for ms in (2000..2200).step_by(10) {
        let text = format!("duration = \"{ms} ms\"\n{text}");
        let results = run(&Document::parse(&text, "test").unwrap().check().unwrap(), 1);
        let x = &results.classes["x"];
        let begun = bytes(x.totals.goodput, ms as f64 / 1000.0) - x.completed.unwrap() * 461;
        assert!(begun == 0 || begun == 460, "{begun} bytes of an object at {ms} ms");
        halves += u32::from(begun > 0);
    }
    assert!((3..17).contains(&halves), "{halves}");
}

#[test]
fn a_client_that_does_not_think_goes_on_at_once_on_either_clock() {
    // On the double clock a page's last byte comes between two whole nanoseconds.
    for clock in ["integer", "double"] {
        let text = format!(
            "duration = \"60 s\"\nclock = \"{clock}\"\n[dumbbell]\nrate = \"7 Mbit/s\"\n[[traffic]]\nname = \"x\"\n\
             kind = \"web\"\ncount = 3\nthink = \"0 s\"\nsize = \"5 kB\"\ntcp = \"rfc5681\"\n"
        );
        let web = &run(&Document::parse(&text, "test").unwrap().check().unwrap(), 1).classes["x"];
        assert!(web.sessions.unwrap() > 1000, "{clock}: {}", web.sessions.unwrap());
    }
}

#[test]
fn no_session_begins_after_the_stop() {
    let traffic = "[[traffic]]\nname = \"x\"\nkind = \"web\"\nthink = \"1 s\"\nsize = \"1 kB\"\nstop = \"10 s\"\ntcp = \"rfc5681\"\n";
    // At 1 s, 2.1 s and so on: the ninth at about 9.7 s.
    let x = &run(&scenario("60 s", "droptail", traffic), 1).classes["x"];
    assert!((8..=9).contains(&x.sessions.unwrap()), "{x:?}");
    let late = traffic.replace("think = \"1 s\"", "think = \"11 s\"");
    assert_eq!(run(&scenario("60 s", "droptail", &late), 1).classes["x"].started.unwrap(), 0);
}

#[test]
fn transfers_have_sizes_of_their_own() {
    let traffic =
        "[[traffic]]\nname = \"x\"\nkind = \"transfer\"\ncount = 50\nsize = \"uniform(1 kB, 19 kB)\"\n";
    let results: Vec<Results> =
        ["droptail", "red"].iter().map(|aqm| run(&scenario("60 s", aqm, traffic), 3)).collect();
    let delivered =
        results.iter().map(|results| bytes(results.metrics.flows.goodput, 60.0)).collect::<Vec<_>>();
    assert!(results.iter().all(|results| results.classes["x"].completed.unwrap() == 50));
    assert_eq!(delivered[0], delivered[1]);
    // 50 x 10 kB, within four standard errors of 5.2 kB x sqrt(50).
    assert!(delivered[0].abs_diff(500_000) < 147_000, "{delivered:?}");
    assert_ne!(delivered[0] % 50, 0, "not all alike");
}

/// The results of transfers over three links of 2 Mbit/s and 15 ms, with these keys.
fn transfers(keys: &str, more: &str) -> Results {
    let traffic = "[[traffic]]\nname = \"x\"\nkind = \"transfer\"\n";
    run(&scenario("400 s", "droptail", &format!("access_rate = \"2 Mbit/s\"\n{more}{traffic}{keys}")), 1)
}

#[test]
fn a_request_goes_ahead_of_a_transfer() {
    let trip = 3.0 * 8.0 * 400.0 / 2e6 + 0.015;
    for tcp in ["rfc5681", "rfc5681:handshake=false", "linux"] {
        let took = |request: &str| {
            let x = &transfers(&format!("size = \"30 kB\"\ntcp = \"{tcp}\"\n{request}"), "").classes["x"];
            assert_eq!((x.started, x.completed), (Some(1), Some(1)));
            assert_eq!(bytes(x.totals.goodput, 400.0), 30_000, "a request is no goodput");
            x.completion_time_mean.unwrap()
        };
        // The SYN comes from the other end, and takes as long. Linux acknowledges a request before it sends data.
        let added = took("request = \"400 B\"") - took("") - trip;
        let acknowledgement = if tcp == "linux" { 8.0 * 52.0 / 2e6 } else { 0.0 };
        assert!((added - acknowledgement).abs() < 1e-8, "{tcp}: {added} s more than {trip}");
    }
}

#[test]
fn a_request_that_is_lost_is_sent_again() {
    // Without a handshake each transfer is a segment, and each segment or acknowledgement on the way back is lost with 0.3.
    let tcp = "tcp = \"rfc5681:handshake=false\"\n";
    let again = |tcp: &str, request: &str| {
        let keys = format!("count = 400\nsize = \"1 kB\"\nstart = \"uniform(0 s, 20 s)\"\n{tcp}{request}");
        let x = &transfers(&keys, "reverse_loss = 0.3\n").classes["x"];
        assert_eq!((x.started, x.completed), (Some(400), Some(400)), "{keys}");
        x.totals.retransmits_total.unwrap() as f64
    };
    let request = "request = \"400 B\"\n";
    let (without, with) = (again(tcp, ""), again(tcp, request));
    // 0.3/0.7 each, with a variance of 0.3/0.7^2: within four standard errors.
    let [expected, error] = [400.0 * 0.3 / 0.7, 4.0 * (400.0 * 0.3f64).sqrt() / 0.7];
    assert!((without - expected).abs() < error, "{without}, not {expected}");
    assert!((with - 2.0 * expected).abs() < error * 2f64.sqrt(), "{with}, not twice {expected}");
    // A SYN that is sent again asks for no ECN, and the transfer goes without.
    again("tcp = { preset = \"linux\", ecn = true }\n", request);
}

#[test]
fn what_is_asked_for_after_the_stop_is_not_sent() {
    for tcp in ["rfc5681", "linux"] {
        let keys = format!("size = \"30 kB\"\nstop = \"10 ms\"\nrequest = \"400 B\"\ntcp = \"{tcp}\"\n");
        let x = &transfers(&keys, "").classes["x"];
        assert_eq!((x.started, x.completed, x.totals.goodput), (Some(1), Some(0), 0.0), "{tcp}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Any mix of transient flows over small buffers: no panic, nothing from nowhere, the same in slices.
    #[test]
    fn any_mix_of_transient_flows_runs_and_conserves(
        aqm in prop::sample::select(&["droptail", "red:ecn=true", "pi:q0=5", "lred:q0=3,beta=10"][..]),
        flavour in prop::sample::select(&["tahoe", "reno", "newreno", "sack"][..]),
        switches in proptest::collection::vec(any::<bool>(), 5),
        min_rto in prop::sample::select(&["10 ms", "200 ms", "1 s"][..]),
        extent in prop::sample::select(&["size = \"pareto(5 kB, 1.2)\"", "size = \"1 B\"", "lifetime = \"exponential(300 ms)\"", "lifetime = \"1 ms\""][..]),
        buffer in prop::sample::select(&["1 packets", "3 packets", "30 packets"][..]),
        (connections, objects) in (1u32..5, 1u32..8),
        (delay, think) in (prop::sample::select(&["0 s", "200 ms"][..]), prop::sample::select(&["0 s", "exponential(1 s)"][..])),
        seed in 0u64..1000,
    ) {
        let [delayed_ack, ecn, handshake, timestamps, two_way] = switches[..] else { unreachable!() };
        let tcp = format!("tcp = {{ flavour = \"{flavour}\", delayed_ack = {delayed_ack}, ecn = {ecn}, \
            handshake = {handshake}, timestamps = {timestamps}, min_rto = \"{min_rto}\", initial_rto = \"{min_rto}\" }}");
        let back = if two_way { "from = \"receivers\"\nto = \"senders\"\n" } else { "" };
        let text = format!(
            "duration = \"20 s\"\nwarmup = \"3 s\"\naqm = \"{aqm}\"\n[dumbbell]\nrate = \"1 Mbit/s\"\nbuffer = \"{buffer}\"\n\
             delay = \"{delay}\"\naccess_buffer = \"{buffer}\"\n\
             [[traffic]]\nname = \"long\"\ncount = 2\n{tcp}\n\
             [[traffic]]\nname = \"short\"\nkind = \"short\"\narrival_rate = \"15 /s\"\n{extent}\n{back}{tcp}\n\
             [[traffic]]\nname = \"web\"\nkind = \"web\"\ncount = 5\nconnections = {connections}\nobjects = {objects}\n\
             size = \"pareto(5 kB, 1.2)\"\nthink = \"{think}\"\nstop = \"15 s\"\n{tcp}\n"
        );
        let scenario = Document::parse(&text, "any").unwrap().check().unwrap();
        let mut whole = run(&scenario, seed);
        let link = &whole.metrics.link.traffic;
        prop_assert!(whole.metrics.link.utilisation <= 1.0 + 1e-9);
        prop_assert!(link.arrivals + 30 >= link.drops_early + link.drops_overflow);
        let [short, web] = ["short", "web"].map(|name| &whole.classes[name]);
        prop_assert!(short.completed.unwrap() <= short.started.unwrap() && web.completed.unwrap() <= web.started.unwrap());
        prop_assert!(web.sessions.unwrap() * u64::from(objects) <= web.completed.unwrap());
        prop_assert!(web.started.unwrap() - web.completed.unwrap() <= 5 * u64::from(connections), "one request a connection at a time");
        let mut sliced = Simulation::new(scenario, seed, ());
        (1..=20).for_each(|second| sliced.advance(Time::ZERO + Span::s(second)));
        let mut sliced = sliced.results();
        (whole.engine.cpu_seconds, sliced.engine.cpu_seconds) = (0.0, 0.0);
        prop_assert_eq!(whole, sliced);
    }
}

#[test]
fn a_paced_transient_flow_that_has_sent_all_waits_for_nothing() {
    // The slot checks that when it is given back.
    let text = "duration = \"20 s\"\n[dumbbell]\nrate = \"1 Mbit/s\"\nbuffer = \"2 packets\"\ndelay = \"0 s\"\n\
                [aqm]\nname = \"codel\"\n[[traffic]]\nname = \"x\"\nkind = \"short\"\narrival_rate = \"20 /s\"\n\
                size = \"exponential(20 kB)\"\npacket_size = \"1500 B\"\ntcp = \"bbr:max_window=3,rto_floor=whole\"\n";
    for seed in 380..390 {
        let scenario = Document::parse(text, "paced").unwrap().check().unwrap();
        let mut run = Simulation::new(scenario, seed, ());
        run.advance(Time::MAX);
        assert!(run.results().classes["x"].completed.unwrap() > 50);
    }
}

#[test]
fn a_paced_transient_flow_whose_application_stops_waits_for_nothing() {
    // Its application takes back the segment that waits for the pace, as its time is over.
    let text = "duration = \"20 s\"\n[dumbbell]\nrate = \"1 Mbit/s\"\nbuffer = \"20 packets\"\n\
                [[traffic]]\nname = \"x\"\nkind = \"short\"\narrival_rate = \"20 /s\"\n\
                lifetime = \"uniform(0.1 s, 1 s)\"\ntcp = \"bbr\"\n";
    for seed in 1..=10 {
        assert!(
            run(&Document::parse(text, "paced").unwrap().check().unwrap(), seed).classes["x"]
                .completed
                .unwrap()
                > 20
        );
    }
}
