//! Downloads by quinn over simulated links.

use crate::{download, results, run, scenario};
use aqm::unit::Time;
use netsim::{FlowRow, Simulation, WindowSample};
use qlog::events::{Event, EventData};
use qlog::{QLOG_VERSION, Qlog, QlogSeq};
use run::Results;
use scenario::Document;

#[test]
fn every_control_fills_the_link() {
    for control in ["cubic", "newreno", "bbr"] {
        for (rate, mbit) in [("10 Mbit/s", 10.0), ("100 Mbit/s", 100.0)] {
            let text =
                download("quic", rate, "buffer = \"200 packets\"", &format!("congestion = \"{control}\""));
            let results = results(&text, 1);
            // Of 1500 bytes, 28 are of IP and UDP, and some 34 of QUIC's packet, frame and tag.
            let share = results.classes["x"].totals.goodput / (mbit * 1e6 * 1438.0 / 1500.0);
            assert!((0.95..=1.001).contains(&share), "{control} over {rate}: {share}");
        }
    }
}

#[test]
fn a_run_is_the_same_each_time_and_another_with_another_seed() {
    let text = download("quic", "10 Mbit/s", "loss = 0.01", "count = 2\nstart = \"uniform(0 s, 1 s)\"");
    let first = run(&text, 1);
    let again = run(&text, 1);
    assert_eq!(results(&text, 1), results(&text, 1));
    assert_eq!((first.windows(), first.flows()), (again.windows(), again.flows()));
    assert_ne!(results(&text, 1).metrics, results(&text, 2).metrics);
}

#[test]
fn what_random_loss_takes_is_sent_again_and_all_arrives() {
    let text = download("quic", "10 Mbit/s", "loss = 0.02", "size = \"2 MB\"\ncount = 3");
    let run = run(&text, 1);
    let class = &run.results().unwrap().classes["x"];
    assert_eq!((class.started, class.completed), (Some(3), Some(3)));
    let rows = run.flows();
    assert!(rows.iter().all(|row| row.bytes == 2_000_000), "{rows:?}");
    let lost: u64 = rows.iter().map(|row| row.losses).sum();
    let repaired = class.totals.retransmits_total.unwrap();
    assert!(lost > 20 && repaired > lost / 2 && repaired < 2 * lost, "{repaired} of {lost}");
    assert_eq!(class.totals.timeouts_total, None, "quinn does not count them");
}

#[test]
fn marks_reach_the_sender_in_place_of_losses() {
    let aqm = "[aqm]\nname = \"codel\"\necn = true";
    let of = |ecn: &str| {
        let text = download("quic", "10 Mbit/s", aqm, &format!("ecn = \"{ecn}\""));
        let mut run = Simulation::new(scenario(&text), 1, ());
        run.advance(Time::MAX);
        (run.results(), run.flows())
    };
    let (marked, rows): (Results, Vec<FlowRow>) = of("ect0");
    let link = &marked.metrics.link.traffic;
    assert!(link.marks > 5, "{}", link.marks);
    assert!(rows[0].marks >= link.marks, "{} of {}", rows[0].marks, link.marks);
    // A sender that were deaf to marks would fill the buffer.
    assert_eq!(marked.classes["x"].totals.retransmits, Some(0));
    assert!(link.queue_delay_p95.unwrap() < 0.03, "{:?}", link.queue_delay_p95);
    let (dropped, rows) = of("none");
    assert_eq!((dropped.metrics.link.traffic.marks, rows[0].marks), (0, 0));
    assert!(dropped.classes["x"].totals.retransmits > Some(10));
}

#[test]
fn windows_and_round_trips_are_those_of_the_stack() {
    let text = download("quic", "10 Mbit/s", "buffer = \"50 packets\"", "");
    let run = run(&text, 1);
    let windows: &[WindowSample] = run.windows();
    assert!(windows.len() > 100 && windows.iter().all(|sample| sample.class == 0));
    let (low, high) = windows[40..]
        .iter()
        .fold((f64::MAX, 0.0_f64), |(low, high), sample| (low.min(sample.cwnd), high.max(sample.cwnd)));
    // The path holds 17 packets, its buffer 50: the window grows to what both hold, and CUBIC keeps 70 % of it.
    assert!((30.0..55.0).contains(&low) && (60.0..75.0).contains(&high), "{low} to {high}");
    let totals = &run.results().unwrap().classes["x"].totals;
    let (mean, max) = (totals.rtt_mean.unwrap(), totals.rtt_max.unwrap());
    assert!((0.06..0.085).contains(&mean) && max < 0.12, "{mean} {max}");
}

#[test]
fn a_download_that_is_stopped_ends() {
    let text = download("quic", "10 Mbit/s", "", "stop = \"6 s\"");
    let results = results(&text, 1);
    let class = &results.classes["x"];
    // 2 of the 10 seconds of the window, and the 1.25 MB that the stack holds of the stream then.
    let share = class.totals.goodput / 9.57e6;
    assert!((0.2..0.35).contains(&share), "{share}");
    assert_eq!(class.completed, Some(0), "it was cut short");
}

#[test]
fn what_the_stack_cannot_send_is_refused() {
    stacks::install();
    for (keys, expected) in [
        ("packet_size = \"1000 B\"", "must be at least \"1228 B\""),
        ("ecn = \"ect1\"", "the stack of QUIC sends ECT(0)"),
    ] {
        let problems =
            Document::parse(&download("quic", "10 Mbit/s", "", keys), "quic").unwrap().check().unwrap_err();
        assert!(problems.to_string().contains(expected), "{problems}");
    }
}

#[test]
fn the_log_is_qlog_and_has_each_packet() {
    let text = download("quic", "10 Mbit/s", "loss = 0.01", "size = \"2 MB\"")
        .replace("[record]", "[record]\nqlog = true");
    let run = run(&text, 1);
    let [(entry, [sender, receiver])] = run.qlogs().try_into().unwrap();
    assert_eq!(entry, 0);
    let events = |log: Option<Vec<u8>>| -> Vec<Event> {
        let log = log.unwrap();
        let mut texts = log.split(|&byte| byte == 0x1e).skip(1);
        let head: QlogSeq = serde_json::from_slice(texts.next().unwrap()).unwrap();
        assert_eq!((&*head.qlog_version, &*head.qlog_format), ("0.3", "JSON-SEQ"));
        texts.map(|text| serde_json::from_slice(text).unwrap()).collect()
    };
    let [sent, received] = [events(sender), events(receiver)];
    let count = |events: &[Event], is: fn(&EventData) -> bool| {
        events.iter().filter(|event| is(&event.data)).count() as u64
    };
    let [lost, left] = [
        count(&sent, |data| matches!(data, EventData::PacketLost(_))),
        count(&sent, |data| matches!(data, EventData::PacketSent(_))),
    ];
    let row = &run.flows()[0];
    assert_eq!(lost, run.results().unwrap().classes["x"].totals.retransmits_total.unwrap());
    let arrived = count(&received, |data| matches!(data, EventData::PacketReceived(_)));
    // Two packets of the handshake may be in one datagram.
    assert!((row.losses..=row.losses + 3).contains(&(left - arrived)), "{left} - {arrived}, {}", row.losses);
    assert!(sent.windows(2).all(|pair| pair[0].time <= pair[1].time));
}

/// What `--qlog` writes of senders of TCP; a test in Python writes this file anew.
#[test]
fn the_file_of_tcp_is_qlog() {
    let file: Qlog = serde_json::from_str(include_str!("../../../tests/data/senders.qlog")).unwrap();
    assert_eq!((&*file.qlog_version, file.traces.len()), (QLOG_VERSION, 2));
    let is_update = |event: &Event| matches!(event.data, EventData::MetricsUpdated(_));
    assert!(file.traces.iter().all(|trace| trace.events.len() > 10 && trace.events.iter().all(is_update)));
}
