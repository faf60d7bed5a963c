//! CoDel, BLUE and COBALT against plain transcriptions of their sources, verdict for verdict.
//!
//! The transcriptions are in `reference`, the code that runs them in `driver`.

#[path = "reference/blue.rs"]
mod blue;
#[path = "reference/codel.rs"]
mod codel;

use crate::driver::{Tally, assert_lively, compare, number, text};
use aqm::params::Value;
use blue::Blue;
use codel::{CoDel, Cobalt};

/// The targets and intervals of the tests: the defaults, and values that cause more drops.
const TIMES: [(f64, f64); 3] = [(0.005, 0.1), (0.001, 0.02), (0.02, 0.005)];

/// Compares CoDel in a form with an MTU of 1500 bytes, or in ns-2's form with the largest packet.
fn compare_codel(
    form: &str,
    (target, interval): (f64, f64),
    ecn: bool,
    ce: Option<f64>,
    codel: CoDel,
) -> Tally {
    let mut settings = vec![
        ("target", text(&format!("{target} s"))),
        ("interval", text(&format!("{interval} s"))),
        ("ecn", Value::Bool(ecn)),
        ("form", text(form)),
        ("mtu", text(if form == "ns2" { "auto" } else { "1500 B" })),
    ];
    settings.extend(ce.map(|ce| ("ce_threshold", text(&format!("{ce} s")))));
    let reference = CoDel { ce_threshold: ce.unwrap_or(f64::INFINITY) * 1e9, ..codel };
    compare("codel", &settings, None, reference)
}

#[test]
fn codel_equals_rfc_8289_and_ns2() {
    for times in TIMES {
        for ecn in [false, true] {
            let codel = CoDel::new(times.0, times.1, 1500, ecn);
            let tally = compare_codel("rfc8289", times, ecn, None, codel.clone());
            assert_lively(&tally, ecn);
            // With a short interval, the control law demands several drops at one instant.
            assert!(times.1 == 0.1 || tally.drops_in_a_row > 30, "{tally:?}");
            let codel = CoDel { maxpacket: 256, ns2: true, ..codel };
            assert_lively(&compare_codel("ns2", times, ecn, None, codel), ecn);
        }
    }
}

#[test]
fn codel_equals_linux_and_ns3_to_the_newton_step() {
    for times in TIMES {
        for ecn in [false, true] {
            for ns3 in [false, true] {
                let form = if ns3 { "ns3" } else { "linux" };
                for ce in [None, Some(0.01)] {
                    let codel = CoDel { linux: true, ns3, ..CoDel::new(times.0, times.1, 1500, ecn) };
                    let tally = compare_codel(form, times, ecn, ce, codel);
                    assert_lively(&tally, ecn || ce.is_some() && !ns3);
                }
            }
        }
    }
}

#[test]
fn the_presets_of_codel_are_linux_ns3_and_ns2_with_their_defaults() {
    let codel = |mtu| CoDel::new(0.005, 0.1, mtu, false);
    let linux = CoDel { linux: true, ..codel(1514) };
    assert_lively(&compare("codel", &[], Some("linux"), linux), false);
    let ns3 = CoDel { linux: true, ns3: true, ..codel(1500) };
    assert_lively(&compare("codel", &[], Some("ns3"), ns3), false);
    let ns2 = CoDel { ns2: true, ..codel(256) };
    assert_lively(&compare("codel", &[], Some("ns2.35"), ns2), false);
}

#[test]
fn blue_equals_its_pseudocode() {
    for (d1, d2, freeze_time, l) in
        [(0.02, 0.002, 0.1, None), (0.1, 0.03, 0.01, Some(40.0)), (0.5, 0.05, 0.03, None)]
    {
        for switches in 0..4 {
            let [lasting, ecn] = [1, 2].map(|bit| switches & bit != 0);
            let mut settings = vec![
                ("d1", number(d1)),
                ("d2", number(d2)),
                ("freeze_time", text(&format!("{freeze_time} s"))),
                ("idle", text(if lasting { "lasting" } else { "once" })),
                ("ecn", Value::Bool(ecn)),
            ];
            settings.extend(l.map(|l| ("L", number(l))));
            let blue = Blue {
                d1,
                d2,
                freeze_time,
                l: l.unwrap_or(f64::INFINITY),
                lasting,
                ecn,
                p_m: 0.0,
                last_update: f64::NEG_INFINITY,
                idle: false,
            };
            let tally = compare("blue", &settings, None, blue);
            assert_lively(&tally, ecn);
            assert!(l.is_some() || tally.overflows > 20, "{tally:?}");
        }
    }
}

#[test]
fn cobalt_equals_ns3_and_linux() {
    for (target, interval) in TIMES {
        for ecn in [false, true] {
            let settings = [
                ("target", text(&format!("{target} s"))),
                ("interval", text(&format!("{interval} s"))),
                ("ecn", Value::Bool(ecn)),
            ];
            let cobalt = Cobalt::new(target, interval, ecn);
            // Four packets of 500 bytes at 10 Mbit/s.
            let plain = Cobalt { mtu_time: 400e3, blue_threshold: 0.4e9, ..cobalt.clone() };
            assert_lively(&compare("cobalt", &settings, None, plain), ecn);
            let tally = compare("cobalt", &settings, Some("linux"), Cobalt::of_linux(target, interval, ecn));
            assert_lively(&tally, ecn);
            for (threshold, ce) in [(0.4, None), (0.03, Some(0.004))] {
                let mut settings = settings.to_vec();
                settings.push(("blue_threshold", text(&format!("{threshold} s"))));
                settings.extend(ce.map(|ce: f64| ("ce_threshold", text(&format!("{ce} s")))));
                let ns3 = Cobalt {
                    blue_threshold: threshold * 1e9,
                    ce_threshold: ce.unwrap_or(f64::INFINITY) * 1e9,
                    ..cobalt.clone()
                };
                let tally = compare("cobalt", &settings, Some("ns3"), ns3);
                assert_lively(&tally, ecn);
                assert!(tally.drops > 300, "{tally:?}");
            }
        }
    }
}
