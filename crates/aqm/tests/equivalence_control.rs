//! The controllers of the queueing delay and of the rate against plain transcriptions of their sources, verdict for verdict.

#[path = "reference/control.rs"]
mod control;
#[path = "reference/pie.rs"]
mod pie;
#[path = "reference/pie_linux.rs"]
mod pie_linux;

use crate::driver::{assert_lively, assert_marks, compare, number, text};
use aqm::params::Value;
use control::{Dctcp, Pi2, Raqm};
use pie::{Docsis, Options, Pie};

const ON: Value = Value::Bool(true);

const RFC8033: Options = Options {
    qdelay_ref: 0.015,
    t_update_us: 15_000,
    alpha: 0.125,
    beta: 1.25,
    max_burst_us: 150_000,
    mean_pktsize: 500.0,
    dq_threshold: None,
    derand: false,
    cap_drop: true,
    on_off: false,
    bytemode: false,
    ecn: false,
    decay: 0.98,
    low: 0.0,
    high: f64::INFINITY,
    ns3: false,
};

#[test]
fn pie_equals_rfc_8033_with_its_options_and_without() {
    let delays = [("departures", Some(8192)), ("timestamps", None), ("rate", Some(0))];
    for switches in 0..64 {
        let [derand, cap, on_off, bytemode, ecn, fast] = [1, 2, 4, 8, 16, 32].map(|bit| switches & bit != 0);
        let (delay, dq_threshold) = delays[switches % 3];
        // At the larger gains p moves enough to pass through every row of the table.
        let (alpha, beta) = if fast { (2.0, 10.0) } else { (0.125, 1.25) };
        let settings = [
            ("alpha", text(&format!("{alpha} Hz"))),
            ("beta", text(&format!("{beta} Hz"))),
            ("delay", text(delay)),
            ("dq_threshold", text("8192 B")),
            ("derandomise", Value::Bool(derand)),
            ("cap", Value::Bool(cap)),
            ("on_off", Value::Bool(on_off)),
            ("bytemode", Value::Bool(bytemode)),
            ("ecn", Value::Bool(ecn)),
        ];
        let options =
            Options { alpha, beta, dq_threshold, derand, cap_drop: cap, on_off, bytemode, ecn, ..RFC8033 };
        assert_lively(&compare("pie", &settings, None, Pie::new(options)), ecn);
    }
}

#[test]
fn pies_presets_are_the_appendices_of_rfc_8033_and_ns3() {
    assert_lively(&compare("pie", &[], Some("rfc8033"), Pie::new(RFC8033)), false);
    let b =
        Options { dq_threshold: Some(16_384), derand: true, on_off: true, ecn: true, low: 0.0075, ..RFC8033 };
    assert_lively(&compare("pie", &[], Some("rfc8033-b"), Pie::new(b)), true);
    let ns3 = Options { mean_pktsize: 1000.0, ns3: true, ..RFC8033 };
    assert_lively(&compare("pie", &[], Some("ns3"), Pie::new(ns3)), false);
    // Bursts that follow each other.
    let settings = [("t_update", text("1 ms")), ("max_burst", text("30 ms"))];
    let ns3 = Options { t_update_us: 1000, max_burst_us: 30_000, ..ns3 };
    assert_lively(&compare("pie", &settings, Some("ns3"), Pie::new(ns3)), false);
}

#[test]
fn pies_preset_linux_equals_sch_pie() {
    for (ecn, bytemode) in [(false, false), (true, false), (true, true)] {
        let settings = [
            ("high", text("40 ms")),
            ("ecn", Value::Bool(ecn)),
            ("mark_ecnth", number(0.5)),
            ("bytemode", Value::Bool(bytemode)),
        ];
        let reference = pie_linux::Linux::new(ecn, bytemode, 0.04, 0.5);
        assert_lively(&compare("pie", &settings, Some("linux"), reference), ecn);
    }
}

#[test]
fn pies_preset_docsis_equals_rfc_8034() {
    for ecn in [false, true] {
        let settings = [("high", text("40 ms")), ("ecn", Value::Bool(ecn))];
        assert_lively(&compare("pie", &settings, Some("docsis"), Docsis::new(ecn)), ecn);
    }
}

#[test]
fn pi2_equals_its_authors_module() {
    for (target, period, alpha, beta, k) in
        [(20.0, 32, 0.3125, 3.125, 2.0), (5.0, 16, 0.16, 3.2, 2.0), (15.0, 16, 1.0, 10.0, 1.25)]
    {
        for ecn in [false, true] {
            let settings = [
                ("target", text(&format!("{target} ms"))),
                ("t_update", text(&format!("{period} ms"))),
                ("alpha", text(&format!("{alpha} Hz"))),
                ("beta", text(&format!("{beta} Hz"))),
                ("k", number(k)),
                ("max_p", number(1.0 / (k * k))),
                ("ecn", if ecn { ON } else { Value::Bool(false) }),
            ];
            let pi2 = Pi2 {
                target: target / 1e3,
                alpha: k * alpha,
                beta: k * beta,
                k,
                ecn,
                prob: 0.0,
                qdelay: 0.0,
                qdelay_old: 0.0,
            };
            assert_lively(&compare("pi2", &settings, None, pi2), ecn);
        }
    }
}

#[test]
fn raqm_equals_its_pseudocode_in_every_reading_with_one_aggregate_and_with_several() {
    for (shares, period, q0) in [(vec![1.0], 1.0, 50.0), (vec![0.5, 0.3, 0.2], 0.2, 20.0)] {
        for switches in 0..32 {
            let [independent, ecn, corrected, fixed, mean_fed] =
                [1, 2, 4, 8, 16].map(|bit| switches & bit != 0);
            let counts = ["all", "unshed", "accepted"][switches % 3];
            let gamma = if counts == "all" { 0.6 } else { 0.3 };
            let settings = [
                ("counts", text(counts)),
                ("fed", text(if mean_fed { "mean" } else { "own" })),
                ("mode", text(if independent { "queue-independent" } else { "queue-dependent" })),
                ("ecn", Value::Bool(ecn)),
                ("r0", text(if corrected { "corrected" } else { "literal" })),
                ("alpha", text(if fixed { "static" } else { "adaptive" })),
                ("eps", number(0.7)),
                ("period", text(&format!("{period} s"))),
                ("q0", number(q0)),
                ("gamma", number(gamma)),
                ("shares", Value::List(shares.iter().map(|share| number(*share)).collect())),
            ];
            let raqm = Raqm {
                queue_dependent: !independent,
                ecn,
                corrected,
                unshed: counts == "unshed",
                accepted: counts == "accepted",
                mean_fed,
                fixed_m: fixed.then_some(2.0),
                eps: 0.7,
                t: period,
                f: 0.1,
                q0,
                r0: shares.iter().map(|share| share * gamma * 1.25e6).collect(),
                arr_byte: [0.0; 4],
                early_byte: [0.0; 4],
                input_rate: [0.0; 4],
                early_rate: [0.0; 4],
                drop_pb: [0.0002; 4],
                applied: Default::default(),
                first: true,
                p: 0.0,
            };
            assert_lively(&compare("raqm", &settings, None, raqm), ecn);
        }
    }
}

#[test]
fn step_equals_dctcps_rule() {
    for (k, delay) in [(20.0, None), (65.0, None), (20.0, Some(0.005))] {
        for switches in 0..8 {
            let [bytes, drop_others, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
            let settings = [
                ("by", text(if delay.is_some() { "delay" } else { "queue" })),
                ("k", number(k)),
                ("delay", text("5 ms")),
                ("bytes", Value::Bool(bytes)),
                ("others", text(if drop_others { "drop" } else { "pass" })),
                ("ecn", Value::Bool(ecn)),
            ];
            let tally = compare("step", &settings, None, Dctcp { k, delay, bytes, drop_others, ecn });
            assert_eq!(tally.drops > 300, drop_others, "{tally:?}");
            assert_marks(&tally, ecn, 300);
        }
    }
}
