//! Whole runs: conservation, determinism, independence of the traffic from the queue discipline.

use aqm::unit::{Span, Time};
use netsim::{Series, Simulation};
use proptest::prelude::*;
use run::{Results, Watch};
use scenario::{Document, Scenario};

fn scenario(aqm: &str, traffic: &str) -> Scenario {
    let text = format!(
        "duration = \"20 s\"\nwarmup = \"2 s\"\naqm = \"{aqm}\"\n\
         [dumbbell]\nrate = \"2 Mbit/s\"\nbuffer = \"40 packets\"\nreceiver_delay = [\"10 ms\", \"35 ms\"]\n{traffic}"
    );
    Document::parse(&text, "test").unwrap().check().unwrap()
}

const LONG: &str = "[[traffic]]\nname = \"long\"\ncount = 12\npacket_size = \"500 B\"\nstart = \"uniform(0 s, 1 s)\"\n\
    tcp = \"rfc5681\"\n";

fn run(scenario: &Scenario, seed: u64) -> Results {
    let mut run = Simulation::watched(scenario.clone(), seed, (), while_time_passes()).unwrap();
    run.advance(Time::MAX);
    run.results()
}

/// Fails where events follow each other for ever at one moment.
fn while_time_passes() -> Watch {
    let (mut last, mut questions) = (Time::ZERO, 0);
    Watch::new(move |now| {
        questions = if now == last { questions + 1 } else { 0 };
        last = now;
        assert!(questions < 1000, "time stands still at {now:?}");
        true
    })
}

/// The results without what depends on the machine.
fn outcome(mut results: Results) -> String {
    results.engine.cpu_seconds = 0.0;
    format!("{results:?}")
}

#[test]
fn a_run_is_repeated_bit_for_bit_whole_in_slices_and_recorded() {
    for aqm in aqm::aqm::NAMES {
        let scenario = scenario(aqm, LONG);
        let whole = outcome(run(&scenario, 7));
        let mut sliced = Simulation::new(scenario.clone(), 7, ());
        for slice in 1..=40 {
            sliced.advance(Time::ZERO + Span::ms(500) * slice);
        }
        assert_eq!(outcome(sliced.results()), whole, "{aqm} in slices");
        let mut recorded = Simulation::new(scenario.clone(), 7, Series::new(&scenario));
        recorded.advance(Time::MAX);
        assert_eq!(outcome(recorded.results()), whole, "{aqm} recorded");
        assert_ne!(outcome(run(&scenario, 8)), whole, "{aqm}: another seed is another run");
    }
}

#[test]
fn packets_are_conserved_at_the_bottleneck() {
    for aqm in aqm::aqm::NAMES {
        let mut scenario = scenario(aqm, LONG);
        scenario.general.warmup = Span::ZERO;
        let results = run(&scenario, 3);
        let traffic = &results.metrics.link.traffic;
        let left = results.engine.packets + traffic.drops_early + traffic.drops_overflow;
        let waiting = traffic.arrivals - left;
        assert!(waiting <= 40, "{aqm}: {waiting} packets are neither sent, dropped nor in the buffer");
        assert!(results.metrics.flows.goodput <= traffic.throughput, "{aqm}: more came out than went in");
        assert!(
            results.metrics.link.utilisation <= 1.0 + 1e-12,
            "{aqm}: {}",
            results.metrics.link.utilisation
        );
        assert!(results.metrics.link.queue_mean.unwrap() <= 40.0, "{aqm}");
    }
}

/// Whether the algorithm may drop a packet that has waited, as its documentation says.
fn drops_late(aqm: &str) -> bool {
    let doc = aqm::AnyParams::of(aqm).unwrap().doc().replace('\n', " ");
    let (_, decides) = doc.split_once("Decides at: ").unwrap();
    let decides = decides.split_once(" Timer: ").unwrap().0;
    ["dequeue", "overflow", "packets that wait"].iter().any(|event_time| decides.contains(event_time))
}

#[test]
fn littles_law_holds() {
    // Mean queue = rate of departures x mean wait, up to what waits at the two ends of the window. Packets that are
    // dropped after they waited add to the queue, but the wait is of those that were sent.
    for aqm in aqm::aqm::NAMES {
        let scenario = scenario(aqm, LONG);
        let results = run(&scenario, 5);
        let link = &results.metrics.link;
        let departures = link.traffic.arrivals - link.traffic.drops_early - link.traffic.drops_overflow;
        let rate = departures as f64 / 18.0;
        let predicted = rate * link.traffic.queue_delay_mean.unwrap();
        let found = link.queue_mean.unwrap();
        let tolerance = 0.02 * found + 0.1;
        assert!(found > predicted - tolerance, "{aqm}: {found} against {predicted}");
        assert!(drops_late(aqm) || found < predicted + tolerance, "{aqm}: {found} against {predicted}");
    }
}

#[test]
fn the_series_agree_with_the_summary() {
    let scenario = scenario("lred:q0=20", LONG);
    let mut run = Simulation::new(scenario.clone(), 1, Series::new(&scenario));
    run.advance(Time::MAX);
    run.probe_mut().finish(Time::ZERO + scenario.general.duration);
    let columns = run.probe_mut().take_columns();
    let column = |name: &str| &columns.iter().find(|column| column.name == name).unwrap().values;
    let bins = column("t").len();
    assert_eq!(bins, 2000, "20 s in bins of 10 ms");
    assert!(columns.iter().all(|column| column.values.len() == bins));
    // The warm-up is 200 bins.
    let means = &column("bottleneck.queue.mean")[200..];
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let results = run.results();
    assert!((mean - results.metrics.link.queue_mean.unwrap()).abs() < 1e-9);
    let arrivals: f64 = column("bottleneck.arrivals")[200..].iter().sum();
    assert_eq!(arrivals as u64, results.metrics.link.traffic.arrivals);
    let (min, max) = (column("bottleneck.queue.min"), column("bottleneck.queue.max"));
    assert!((0..bins).all(|i| min[i] <= column("bottleneck.queue.mean")[i] + 1e-9 && min[i] <= max[i]));
    assert!(max.iter().all(|&packets| packets <= 40.0));
}

/// Long flows, some datagrams and some transfers.
const MIXED: &str = "[[traffic]]\nname = \"long\"\ncount = 12\npacket_size = \"500 B\"\nstart = \"uniform(0 s, 1 s)\"\n\
    tcp = \"rfc5681\"\n[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"400 kbit/s\"\npacket_size = \"300 B\"\n\
    [[traffic]]\nname = \"file\"\nkind = \"transfer\"\nsize = \"40 kB\"\ncount = 6\nstart = \"uniform(0 s, 9 s)\"\n\
    tcp = \"rfc5681\"\n";

#[test]
fn every_loss_is_in_one_run_of_its_flow_and_in_one_burst() {
    let losses = |runs: &[u64]| runs.iter().zip(1..).map(|(&count, length)| count * length).sum::<u64>();
    for aqm in aqm::aqm::NAMES {
        let results = run(&scenario(aqm, MIXED), 4);
        let distributions = &results.distributions;
        let link = &distributions.links["bottleneck"];
        let mut sum = vec![0; 100];
        for (name, class) in &results.classes {
            let traffic = &class.traffic;
            let runs = &distributions.classes[name].loss_runs;
            let drops = traffic.drops_early + traffic.drops_overflow;
            assert!(runs.len() < 100, "{aqm}: the open bin would hide lengths");
            assert_eq!(losses(runs), drops, "{aqm} {name}");
            let mean = (drops > 0).then(|| drops as f64 / runs.iter().sum::<u64>() as f64);
            assert_eq!(class.loss_run_mean, mean, "{aqm} {name}");
            runs.iter().zip(&mut sum).for_each(|(count, sum)| *sum += count);
        }
        assert_eq!(link.loss_runs, sum[..link.loss_runs.len()], "{aqm}");
        let traffic = &results.metrics.link.traffic;
        let drops = traffic.drops_early + traffic.drops_overflow;
        assert!(drops > 100, "{aqm}: {drops} drops show nothing");
        assert_eq!((losses(&link.loss_runs), losses(&link.loss_bursts)), (drops, drops), "{aqm}");
        let bursts: u64 = link.loss_bursts.iter().sum();
        assert_eq!(results.metrics.link.loss_burst_mean, Some(drops as f64 / bursts as f64), "{aqm}");
        let (events, share) =
            (results.metrics.link.loss_events.unwrap(), results.metrics.link.loss_synchronisation);
        assert!((1..=180).contains(&events), "{aqm}: {events} events of 100 ms in 18 s");
        assert!(share.is_some_and(|share| share > 0.0 && share <= 1.0), "{aqm}: {share:?}");
    }
}

#[test]
fn a_loss_event_of_the_whole_window_hits_every_flow() {
    let mut scenario = scenario("droptail", LONG);
    scenario.record.loss_event = Span::s(20);
    let link = run(&scenario, 4).metrics.link;
    assert_eq!((link.loss_events.unwrap(), link.loss_synchronisation), (1, Some(1.0)));
}

#[test]
fn the_series_of_the_classes_agree_with_the_summary() {
    for aqm in ["droptail", "lred:q0=20"] {
        let mut scenario = scenario(aqm, MIXED);
        scenario.general.warmup = Span::ZERO;
        let mut run = Simulation::new(scenario.clone(), 1, Series::new(&scenario));
        run.advance(Time::MAX);
        run.probe_mut().finish(Time::ZERO + scenario.general.duration);
        let (columns, results) = (run.probe_mut().take_columns(), run.results());
        let column = |name: &str| &columns.iter().find(|column| column.name == name).unwrap().values;
        let sum = |name: &str| column(name).iter().sum::<f64>();
        for (name, class) in &results.classes {
            let column_of = |quantity: &str| format!("bottleneck.{name}.{quantity}");
            let traffic = &class.traffic;
            let drops = traffic.drops_early + traffic.drops_overflow;
            assert_eq!(sum(&column_of("arrivals")) as u64, traffic.arrivals, "{aqm} {name}");
            assert_eq!(sum(&column_of("drops")) as u64, drops, "{aqm} {name}");
            // Up to the packet in transmission at the end.
            let throughput = sum(&column_of("throughput")) / column("t").len() as f64;
            assert!((throughput - traffic.throughput).abs() <= 1500.0 * 8.0 / 20.0, "{aqm} {name}");
            let delays = column(&column_of("delay")).iter().filter(|delay| !delay.is_nan());
            let most = delays.copied().fold(0.0, f64::max);
            assert!(most <= traffic.queue_delay_max.unwrap() && most > 0.0, "{aqm} {name}");
        }
        let all = &results.metrics.link.traffic;
        assert_eq!(sum("bottleneck.drops") as u64, all.drops_early + all.drops_overflow, "{aqm}");
        assert_eq!(sum("bottleneck.arrivals") as u64, all.arrivals, "{aqm}");
    }
}

#[test]
fn delays_are_of_the_path_and_the_queue() {
    // 500 B over 100, 2, 100 Mbit/s take 40 us + 2 ms + 40 us, the links 2.5 + 2.5 + 10 ms.
    let traffic =
        "[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"500 kbit/s\"\npacket_size = \"500 B\"\n";
    let alone = run(&scenario("droptail", traffic), 1);
    let totals = &alone.classes["udp"].totals;
    assert!((totals.delay_mean.unwrap() - 0.01708).abs() < 1e-9, "{totals:?}");
    assert_eq!((totals.delay_max, totals.jitter), (totals.delay_mean, Some(0.0)));
    let (delays, flows) = (&alone.distributions.classes["udp"], &alone.metrics.flows);
    assert!(
        delays.delay.len() == 101 && delays.delay.iter().all(|delay| (delay / 0.01708 - 1.0).abs() < 1e-3)
    );
    assert_eq!((flows.delay_p99, flows.jitter), (totals.delay_p99, totals.jitter));
    // Among long flows the queue's delay comes on top.
    let mixed = run(&scenario("droptail", MIXED), 1);
    let udp = &mixed.classes["udp"];
    let fixed = 0.015 + 300.0 * 8.0 * (2.0 / 1e8 + 1.0 / 2e6);
    let expected = fixed + udp.traffic.queue_delay_mean.unwrap();
    assert!((udp.totals.delay_mean.unwrap() - expected).abs() < 1e-3 * expected, "{udp:?}");
    assert!(udp.totals.jitter.unwrap() > 0.0);
    assert!(mixed.distributions.classes["long"].completion_time.is_empty());
}

#[test]
fn completion_times_have_a_distribution() {
    let results = run(&scenario("droptail", MIXED), 1);
    let file = &results.classes["file"];
    assert_eq!(file.completed.unwrap(), 6);
    let times = &results.distributions.classes["file"].completion_time;
    assert!(times.len() == 101 && times.is_sorted() && times[0] < times[100]);
    let of = |time: Option<f64>| time.unwrap();
    assert_eq!((of(file.completion_time_p50), of(file.completion_time_max)), (times[50], times[100]));
    assert_eq!((of(file.completion_time_p95), of(file.completion_time_p99)), (times[95], times[99]));
    assert!((times[0]..times[100]).contains(&of(file.completion_time_mean)));
}

#[test]
fn totals_are_of_the_whole_run() {
    let counted = run(&scenario("droptail", LONG), 1).metrics.flows;
    let mut whole = scenario("droptail", LONG);
    whole.general.warmup = Span::ZERO;
    let whole = run(&whole, 1).metrics.flows;
    assert_eq!(
        (counted.timeouts_total.unwrap(), counted.retransmits_total.unwrap()),
        (whole.timeouts.unwrap(), whole.retransmits.unwrap())
    );
    assert!(
        counted.timeouts.unwrap() < whole.timeouts.unwrap()
            && counted.retransmits.unwrap() < whole.retransmits.unwrap()
    );
}

#[test]
fn traffic_does_not_depend_on_the_queue_discipline() {
    // What a constant-rate source sends, and when flows start, is the same whatever drops the packets.
    let traffic = format!(
        "{LONG}[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"200 kbit/s\"\nstart = \"uniform(0 s, 1 s)\"\n"
    );
    let sent: Vec<u64> = aqm::aqm::NAMES
        .iter()
        .map(|aqm| run(&scenario(aqm, &traffic), 1).classes["udp"].traffic.arrivals)
        .collect();
    assert!(sent.iter().all(|&packets| packets == sent[0] && packets > 0), "{sent:?}");
    // An entry's own stream: another entry before it changes no start time.
    let other = traffic.replace("count = 12", "count = 3");
    assert_eq!(run(&scenario("droptail", &other), 1).classes["udp"].traffic.arrivals, sent[0]);
}

#[test]
fn marking_instead_of_dropping_loses_fewer_packets() {
    let traffic = LONG.replace("rfc5681", "rfc5681:ecn=true");
    for aqm in ["red", "pi", "lred", "rem"] {
        let dropping = run(&scenario(aqm, &traffic), 1).metrics.link.traffic;
        let marking = run(&scenario(&format!("{aqm}:ecn=true"), &traffic), 1).metrics.link.traffic;
        assert_eq!(dropping.marks, 0, "{aqm}");
        assert!(marking.marks > 0, "{aqm}");
        assert!(marking.drops_early < dropping.drops_early, "{aqm}");
    }
}

#[test]
fn a_transfer_delivers_every_byte_once() {
    let traffic = "[[traffic]]\nname = \"file\"\nkind = \"transfer\"\nsize = \"123457 B\"\ncount = 8\npacket_size = \"500 B\"\n";
    for flavour in ["tahoe", "reno", "newreno", "sack"] {
        let mut scenario = scenario("droptail", &format!("{traffic}tcp = \"{flavour}\"\n"));
        scenario.general.warmup = Span::ZERO;
        scenario.general.duration = Span::s(60);
        let results = run(&scenario, 1);
        let file = &results.classes["file"];
        assert_eq!(file.completed.unwrap(), 8, "{flavour}");
        assert_eq!((file.totals.goodput * 60.0 / 8.0).round() as u64, 8 * 123_457, "{flavour}");
        assert!(file.totals.retransmits.unwrap() > 0, "{flavour}: the buffer is too small for no loss");
    }
}

#[test]
fn a_source_below_the_rate_meets_no_queue() {
    let traffic =
        "[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"500 kbit/s\"\npacket_size = \"500 B\"\n";
    let results = run(&scenario("droptail", traffic), 1);
    assert_eq!(results.metrics.link.queue_mean, Some(0.0));
    assert_eq!(results.metrics.link.traffic.queue_delay_max, Some(0.0));
    assert_eq!(results.metrics.link.traffic.loss_ratio, Some(0.0));
    // 125 datagrams a second of 472 bytes of payload.
    assert!((results.metrics.flows.goodput - 125.0 * 472.0 * 8.0).abs() < 0.01 * 472_000.0);
    assert!((results.metrics.link.utilisation - 0.25).abs() < 1e-3);
}

#[test]
fn an_overloading_source_loses_what_does_not_fit() {
    // 3 Mbit/s into 2 Mbit/s: a third is lost, the buffer stays full, the wait is 40 packets of 2 ms each.
    let traffic =
        "[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"3 Mbit/s\"\npacket_size = \"500 B\"\n";
    let results = run(&scenario("droptail", traffic), 1);
    let link = &results.metrics.link;
    assert!((link.traffic.loss_ratio.unwrap() - 1.0 / 3.0).abs() < 1e-3);
    assert!((link.utilisation - 1.0).abs() < 1e-3);
    assert!(link.queue_mean.unwrap() > 39.0 && link.queue_full.unwrap() > 0.3);
    assert!((link.traffic.queue_delay_mean.unwrap() - 0.08).abs() < 0.002);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Every corner of TCP's parameters over small buffers everywhere: no panic, no underflow, nothing from nowhere.
    #[test]
    fn any_legal_connection_runs_and_conserves(
        aqm in prop::sample::select(&[
            "droptail", "red:ecn=true", "pi:q0=5", "lred:q0=3,beta=10", "rem:b_star=2,form=ns2",
            "red:min_th=1,max_th=3,w_q=1.0,bytes=true",
        ][..]),
        preset in prop::sample::select(&["rfc5681", "ns2.35"][..]),
        (flavour, congestion) in prop::sample::select(&[
            ("tahoe", "reno"), ("reno", "reno"), ("newreno", "reno"), ("sack", "reno"), ("tahoe", "ledbat"), ("newreno", "ledbat"),
            ("sack", "ledbat"), ("rack", "reno"), ("rack", "cubic"), ("rack", "dctcp"), ("rack", "bbr"), ("rack", "bbr3"),
        ][..]),
        limited_transmit in prop::sample::select(&["off", "new", "next"][..]),
        halved in prop::sample::select(&["flight", "window"][..]),
        switches in proptest::collection::vec(any::<bool>(), 6),
        max_window in prop::sample::select(&[1u32, 2, 3, 5, 20, 1000, 65535][..]),
        initial_window in prop::sample::select(&[1u32, 3, 10, 1000][..]),
        packet_size in prop::sample::select(&[41u32, 500, 1500, 9000][..]),
        buffer in prop::sample::select(&["1 packets", "2 packets", "30 packets", "10 kB"][..]),
        access_buffer in prop::sample::select(&["1 packets", "5 packets", "5000 packets"][..]),
        end in prop::sample::select(&["", "stop = \"9 s\"\n", "kind = \"transfer\"\nsize = \"77777 B\"\n"][..]),
        (delay, min_rto, tick) in (
            prop::sample::select(&["0 s", "1 ms", "200 ms"][..]),
            prop::sample::select(&["10 ms", "200 ms", "1 s"][..]),
            prop::sample::select(&["1 ns", "1 ms", "500 ms"][..]),
        ),
        (sack_blocks, recovery_burst, count, seed) in (1u32..4, 0u32..4, 1u64..12, 0u64..1000),
    ) {
        let [delayed_ack, ecn, handshake, timestamps, impatient, grow] = switches[..] else { unreachable!() };
        let ecn = ecn || congestion == "dctcp";
        let today = flavour == "rack";
        let tick = if today && tick == "1 ns" { "1 us" } else { tick };
        let own = if today {
            format!("quick_acks = {}, compressed_acks = {grow}", if impatient { 252 } else { 0 })
        } else {
            format!("limited_transmit = \"{limited_transmit}\", impatient = {impatient}, grow_after_recovery = {grow}, \
                     recovery_burst = {recovery_burst}")
        };
        let text = format!(
            "duration = \"20 s\"\naqm = \"{aqm}\"\n[dumbbell]\nrate = \"2 Mbit/s\"\ndelay = \"{delay}\"\n\
             buffer = \"{buffer}\"\naccess_buffer = \"{access_buffer}\"\naccess_rate = \"3 Mbit/s\"\n\
             receiver_delay = [\"1 ms\", \"35 ms\"]\n\
             [[traffic]]\nname = \"x\"\n{end}count = {count}\npacket_size = \"{packet_size} B\"\n\
             start = \"exponential(3 s)\"\n\
             tcp = {{ preset = \"{preset}\", flavour = \"{flavour}\", congestion = \"{congestion}\", {own}, \
             halved = \"{halved}\", delayed_ack = {delayed_ack}, ecn = {ecn}, handshake = {handshake}, \
             timestamps = {timestamps}, max_window = {max_window}, initial_window = {initial_window}, \
             sack_blocks = {sack_blocks}, min_rto = \"{min_rto}\", tick = \"{tick}\" }}\n\
             [[traffic]]\nname = \"y\"\nkind = \"cbr\"\nrate = \"10 kbit/s\"\n"
        );
        // A buffer too small for a packet is refused.
        let Ok(scenario) = Document::parse(&text, "any").unwrap().check() else { return Ok(()) };
        let results = run(&scenario, seed);
        prop_assert!(results.metrics.link.utilisation <= 1.0 + 1e-9);
        let (link, flows) = (&results.metrics.link.traffic, &results.metrics.flows);
        prop_assert!(flows.goodput <= link.throughput);
        let left = results.engine.packets + link.drops_early + link.drops_overflow;
        prop_assert!(link.arrivals >= left);
        let file = &results.classes["x"];
        if end.contains("transfer") && file.completed.unwrap() == count {
            prop_assert_eq!((file.totals.goodput * 20.0 / 8.0).round() as u64, count * 77_777);
        }
        prop_assert!(end.contains("transfer") || file.completed.unwrap() == 0);
    }
}

#[test]
fn a_flow_that_would_start_after_its_stop_sends_nothing() {
    let traffic = "[[traffic]]\nname = \"late\"\nkind = \"transfer\"\nsize = \"1 MB\"\ncount = 40\nstop = \"1 ms\"\n\
                   start = \"exponential(5 s)\"\n[[traffic]]\nname = \"udp\"\nkind = \"cbr\"\n";
    let late = &run(&scenario("droptail", traffic), 1).classes["late"];
    assert_eq!((late.completed.unwrap(), late.totals.goodput), (0, 0.0));
    assert!(late.traffic.arrivals == 0);
}

#[test]
fn a_transfer_that_is_stopped_before_its_data_is_sent_does_not_complete() {
    for request in ["", "request = \"100 B\"\n"] {
        let traffic = format!(
            "[[traffic]]\nname = \"cut\"\nkind = \"transfer\"\nsize = \"1 kB\"\nstop = \"20 ms\"\n{request}"
        );
        let cut = &run(&scenario("droptail", &traffic), 1).classes["cut"];
        assert_eq!((cut.completed, cut.totals.goodput), (Some(0), 0.0), "{request}");
    }
}

#[test]
fn whatever_link_is_observed_is_measured() {
    let text = "observe = \"sender1\"\nduration = \"5 s\"\n[dumbbell]\n[[traffic]]\nname = \"x\"\n";
    let results = run(&Document::parse(text, "test").unwrap().check().unwrap(), 1);
    assert!(results.links.contains_key("sender1") && results.links.contains_key("bottleneck"));
}

#[test]
fn segments_and_acks_have_the_headers_of_their_tcp() {
    // Nothing is lost: forward go a SYN, full segments and from Linux two ACKs, and a FIN if the first window takes all data;
    // in reverse ACKs of one size, without blocks.
    for (tcp, header, syn, size, bare) in [
        ("rfc5681", 40, 40, 1_000_000, 0),
        ("rfc5681:header=52 B", 52, 60, 1_000_000, 0),
        ("rfc", 52, 60, 1_000_000, 2),
        ("rfc", 52, 60, 10_000, 3),
        ("linux:header=64 B", 64, 72, 1_000_000, 2),
    ] {
        let text = format!(
            "duration = \"5 s\"\naqm = \"droptail\"\nreverse_aqm = \"droptail\"\n[dumbbell]\nbuffer = \"1000 packets\"\n\
             [[traffic]]\nname = \"x\"\nkind = \"transfer\"\nsize = \"{size} B\"\ntcp = \"{tcp}\"\n"
        );
        let results = run(&Document::parse(&text, "test").unwrap().check().unwrap(), 1);
        let bytes = |link: &str| {
            let traffic = &results.links[link].traffic;
            ((traffic.throughput * 5.0 / 8.0).round() as u64, traffic.arrivals)
        };
        let (forward, segments) = bytes("bottleneck");
        let full = u64::div_ceil(size, 1500 - header);
        assert_eq!(segments, 1 + full + bare, "{tcp}");
        assert_eq!(forward, syn + full * 1500 + bare * header, "{tcp}");
        let (reverse, acks) = bytes("bottleneck:reverse");
        assert_eq!(reverse, acks * header, "{tcp}");
        assert_eq!((results.metrics.flows.goodput * 5.0 / 8.0).round(), size as f64, "{tcp}");
    }
}

#[test]
fn a_pace_and_a_timer_of_one_nanosecond_end() {
    // On the double clock the timer's event came after the pace's, which asked for itself at the same moment for ever.
    let text = "duration = \"20 s\"\naqm = \"pi:q0=5\"\n\
                [dumbbell]\nrate = \"2 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"2 packets\"\naccess_buffer = \"1 packets\"\n\
                access_rate = \"3 Mbit/s\"\nreceiver_delay = [\"1 ms\", \"35 ms\"]\n\
                [[traffic]]\nname = \"x\"\nkind = \"transfer\"\nsize = \"77777 B\"\ncount = 8\npacket_size = \"41 B\"\n\
                start = \"exponential(3 s)\"\ntcp = { preset = \"ns2.35\", flavour = \"rack\", congestion = \"bbr\", \
                quick_acks = 252, halved = \"window\", delayed_ack = false, handshake = false, timestamps = false, \
                max_window = 65535, initial_window = 1000, min_rto = \"10 ms\", tick = \"1 us\" }\n\
                [[traffic]]\nname = \"y\"\nkind = \"cbr\"\nrate = \"10 kbit/s\"\n";
    let results = run(&Document::parse(text, "test").unwrap().check().unwrap(), 738);
    assert!(results.classes["x"].totals.timeouts.unwrap() > 0);
}
