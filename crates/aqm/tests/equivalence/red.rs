//! The presets of RED, and the algorithms built on it.

use super::red_linux::Linux;
use super::reference::{Dtared, Feng, PTC, Red, Wred};
use super::{ON, assert_lively, compare, number, text};
use aqm::params::Value;

const OFF: Value = Value::Bool(false);

/// ns-2's weight for 10 Mbit/s and 500-byte packets.
fn automatic() -> f64 {
    1.0 - (-1.0 / (10.0 * 0.1 * PTC)).exp()
}

/// The parameters of each preset of RED on a link of 10 Mbit/s with a buffer of 200 packets, computed by hand.
fn presets() -> Vec<(&'static str, Red)> {
    let wait = Red { wait: true, ..Red::new(5.0, 15.0, 0.1, 0.002) };
    let since_2001 = Red { gentle: true, wait: true, mark_p: 0.1, ..Red::new(6.25, 18.75, 0.1, automatic()) };
    vec![
        ("floyd1993", Red::new(5.0, 15.0, 1.0 / 50.0, 0.002)),
        ("floyd1997", Red::new(5.0, 15.0, 0.1, 0.002)),
        ("floyd2000", Red { gentle: true, ..Red::new(5.0, 15.0, 0.1, 0.002) }),
        ("ns2-2000", wait.clone()),
        ("ns2-2001-05", Red { gentle: true, mark_p: 0.1, ..wait.clone() }),
        ("ns2-2001-12", since_2001.clone()),
        ("ns2.35", since_2001.in_bytes()),
        // 1.5 Mbit/s are 375 packets of 500 bytes.
        (
            "ns3",
            Red {
                gentle: true,
                wait: true,
                ptc: 375.0,
                spare_first: false,
                ..Red::new(5.0, 15.0, 1.0 / 50.0, 0.002)
            },
        ),
        ("inet", Red { hard_drop: false, ptc: 150.0, ..Red::new(5.0, 50.0, 0.02, 0.002) }),
        ("cisco", Red::new(20.0, 40.0, 0.1, 0.5_f64.powi(9))),
        ("impact", Red::new(30.0, 90.0, 0.1, 0.002)),
        ("impact-gred", Red::new(30.0, 130.0, 1.0, 0.002)),
        ("gred-i", Red { gentle: true, independent: true, ..Red::new(30.0, 200.0, 1.0, 1.0) }),
        ("survey", Red { wait: true, ..Red::new(40.0, 160.0, 1.0, 0.002) }.queue_in_bytes()),
    ]
}

#[test]
fn every_preset_of_red_equals_its_source() {
    let listed = aqm::AnyParams::of("red").expect("red").presets();
    let presets = presets();
    // Linux's preset has its own arithmetic.
    assert_eq!(
        listed.iter().map(|(name, _)| *name).filter(|name| *name != "linux").collect::<Vec<_>>(),
        presets.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    );
    for (preset, red) in presets {
        for setbit in [false, true] {
            let red = Red { setbit, ..red.clone() };
            assert_lively(&compare("red", &[("ecn", Value::Bool(setbit))], Some(preset), red), setbit);
        }
    }
}

/// A packet of 500 bytes at 10 Mbit/s, in ticks of 64 ns.
const XMIT: f64 = 6250.0;

#[test]
fn red_and_adaptive_red_equal_linux() {
    // A quarter of 100 000 bytes and a third of that; burst 27, for which 1/8 would be too large.
    let automatic = Linux::new(8333, 25_000, 4, 0.02, XMIT);
    let words = [
        ("min", text("6 kB")),
        ("max", text("20 kB")),
        ("burst", Value::Integer(20)),
        ("max_p", number(0.2)),
    ];
    // 9 <= (1 - (15/16)^20) 16 = 11.6, but not (1 - (7/8)^20) 8 = 7.4.
    let given = Linux::new(6000, 20_000, 4, 0.2, XMIT);
    for (settings, linux) in [(&[][..], automatic), (&words[..], given)] {
        for (ecn, harddrop) in [(false, false), (true, false), (true, true)] {
            let switches = [("ecn", Value::Bool(ecn)), ("harddrop", Value::Bool(harddrop))];
            let settings = [settings, &switches[..]].concat();
            for (name, adaptive) in [("red", false), ("ared", true)] {
                let linux = Linux { ecn, harddrop, adaptive, ..linux.clone() };
                assert_lively(&compare(name, &settings, Some("linux"), linux), ecn);
            }
        }
    }
}

#[test]
fn choke_equals_linux() {
    let settings = [
        ("min_th", number(20.0)),
        ("max_th", number(60.0)),
        ("max_p", number(0.1)),
        ("burst", Value::Integer(30)),
    ];
    for ecn in [false, true] {
        let settings = [&settings[..], &[("ecn", Value::Bool(ecn))]].concat();
        // Packets of 1000 bytes. 11 <= (1 - (15/16)^30) 16 = 13.7, but not (1 - (7/8)^30) 8 = 7.9.
        let linux = Linux { choke: true, ecn, ..Linux::new(20, 60, 4, 0.1, 2.0 * XMIT) };
        let tally = compare("choke", &settings, Some("linux"), linux);
        assert!(tally.matches > 1000 && tally.idle > 300, "{tally:?}");
    }
}

#[test]
fn the_queue_in_bytes_and_the_count_in_bytes_are_ns2s_two_switches() {
    for setbit in [false, true] {
        let settings = |queue, size| {
            [
                ("min_th", number(10.0)),
                ("max_th", number(40.0)),
                ("w_q", number(0.02)),
                ("queue_in_bytes_", queue),
                ("bytes_", size),
                ("ecn", Value::Bool(setbit)),
            ]
        };
        let red = Red { gentle: true, setbit, ..Red::new(10.0, 40.0, 0.1, 0.02) };
        assert_lively(&compare("red", &settings(ON, OFF), None, red.clone().queue_in_bytes()), setbit);
        assert_lively(&compare("red", &settings(OFF, ON), None, Red { bytes: true, ..red }), setbit);
    }
}

#[test]
fn without_hard_drops_ecn_capable_packets_are_dropped_only_by_the_buffer() {
    // DCTCP's step among others: max_th at min_th, on the queue itself.
    for (min, max, gentle, w_q) in
        [(20.0, 20.0, false, 1.0), (20.0, 60.0, false, 0.02), (5.0, 15.0, true, 0.02)]
    {
        let settings = [
            ("min_th", number(min)),
            ("max_th", number(max)),
            ("w_q", number(w_q)),
            ("gentle", Value::Bool(gentle)),
            ("mark_p", number(0.2)),
            ("ecn", ON),
            ("hard_drop", OFF),
        ];
        let red = Red { gentle, setbit: true, hard_drop: false, mark_p: 0.2, ..Red::new(min, max, 0.1, w_q) };
        assert_lively(&compare("red", &settings, None, red), true);
    }
}

#[test]
fn nonlinear_red_equals_its_equation() {
    for (min, max, max_p, w_q) in [(5.0, 15.0, 0.1, 0.002), (20.0, 60.0, 0.3, 0.02), (30.0, 130.0, 0.9, 1.0)]
    {
        for switches in 0..16 {
            let [gentle, bytes, wait, setbit] = [1, 2, 4, 8].map(|bit| switches & bit != 0);
            let settings = [
                ("min_th", number(min)),
                ("max_th", number(max)),
                ("max_p", number(max_p)),
                ("w_q", number(w_q)),
                ("bytes", Value::Bool(bytes)),
                ("spacing", text(if wait { "wait" } else { "1993" })),
                ("ecn", Value::Bool(setbit)),
            ];
            let red = Red { gentle, wait, setbit, nonlinear: true, ..Red::new(min, max, max_p, w_q) };
            // The paper has no gentle part.
            let preset = (!gentle).then_some("zhou2006");
            let tally = compare("nlred", &settings, preset, if bytes { red.in_bytes() } else { red });
            assert_lively(&tally, setbit);
        }
    }
}

#[test]
fn fengs_red_equals_ns2() {
    for (alpha, beta, bottom, top) in [(3.0, 2.0, 1e-6, 1.0), (1.5, 4.0, 0.05, 0.3)] {
        for switches in 0..8 {
            let [frozen, bytes, setbit] = [1, 2, 4].map(|bit| switches & bit != 0);
            let settings = [
                ("min_th", number(10.0)),
                ("max_th", number(30.0)),
                ("w_q", number(0.01)),
                ("alpha", number(alpha)),
                ("beta", number(beta)),
                ("bottom", number(bottom)),
                ("top", number(top)),
                ("frozen_gentle", Value::Bool(frozen)),
                ("bytes", Value::Bool(bytes)),
                ("ecn", Value::Bool(setbit)),
            ];
            let feng = Some(Feng { alpha, beta, bottom, top, status: "below" });
            let red = Red { gentle: true, frozen, setbit, feng, ..Red::new(10.0, 30.0, 0.1, 0.01) };
            assert_lively(
                &compare("feng", &settings, None, if bytes { red.in_bytes() } else { red }),
                setbit,
            );
        }
    }
    for (name, red) in presets().into_iter().filter(|(name, _)| ["ns2.35", "ns3"].contains(name)) {
        let status = if name == "ns3" { "above" } else { "below" };
        let feng = Some(Feng { alpha: 3.0, beta: 2.0, bottom: 1e-6, top: 1.0, status });
        assert_lively(&compare("feng", &[], Some(name), Red { frozen: true, feng, ..red }), false);
    }
}

#[test]
fn adaptive_red_has_table_ii_of_the_red_tail_paper() {
    // 20 and 80 kB; max_p, which the paper does not give, and the weight are ns-2's.
    let red = Red { gentle: true, wait: true, ..Red::new(40.0, 160.0, 0.1, automatic()) }.in_bytes();
    for setbit in [false, true] {
        let red = Red { setbit, ..red.clone() };
        assert_lively(&compare("ared", &[("ecn", Value::Bool(setbit))], Some("redtail"), red), setbit);
    }
}

#[test]
fn dynamic_thresholds_equal_the_papers_rule() {
    for (lower, upper, gamma, weight) in [(0.01, 0.02, 0.05, 0.002), (0.05, 0.08, 0.2, 0.02)] {
        for switches in 0..8 {
            let [bytes, setbit, lazy] = [1, 2, 4].map(|bit| switches & bit != 0);
            let settings = [
                ("min_th", number(10.0)),
                ("max_th", number(40.0)),
                ("w_q", number(0.002)),
                // ns-2's interval, where that matters to max_p.
                ("interval", text(if lazy { "500 ms" } else { "100 ms" })),
                ("moves", text(if lazy { "arrival" } else { "timer" })),
                ("p_l", number(lower)),
                ("p_u", number(upper)),
                ("gamma", number(gamma)),
                ("w_p", number(weight)),
                ("floor", number(4.0)),
                ("bytes", Value::Bool(bytes)),
                ("ecn", Value::Bool(setbit)),
            ];
            let red = Red { gentle: true, setbit, lazy, ..Red::new(10.0, 40.0, 0.1, 0.002) };
            let unit = if bytes { 500.0 } else { 1.0 };
            let dtared = Dtared {
                red: if bytes { red.in_bytes() } else { red },
                gamma,
                lower,
                upper,
                weight,
                bounds: (4.0 * unit, 190.0 * unit),
                average: 0.0,
                arrived: 0,
            };
            assert_lively(&compare("dtared", &settings, None, dtared), setbit);
        }
    }
}

#[test]
fn weighted_red_equals_red_for_each_class_over_one_average_and_over_rios() {
    let (min, max, max_p) = ([30.0, 20.0, 10.0, 5.0], [60.0, 45.0, 30.0, 15.0], [0.02, 0.05, 0.1, 0.5]);
    let list = |values: [f64; 4]| Value::List(values.map(Value::Float).to_vec());
    for switches in 0..16 {
        let [shared, bytes, wait, setbit] = [1, 2, 4, 8].map(|bit| switches & bit != 0);
        let gentle = shared != wait;
        let settings = [
            ("min_th", list(min)),
            ("max_th", list(max)),
            ("max_p", list(max_p)),
            ("average", text(if shared { "shared" } else { "own-and-higher" })),
            ("w_q", number(0.01)),
            ("gentle", Value::Bool(gentle)),
            ("spacing", text(if wait { "wait" } else { "1993" })),
            ("bytes", Value::Bool(bytes)),
            ("ecn", Value::Bool(setbit)),
        ];
        let classes = [0, 1, 2, 3].map(|k| {
            let red = Red { gentle, wait, setbit, ..Red::new(min[k], max[k], max_p[k], 0.01) };
            if bytes { red.in_bytes() } else { red }
        });
        let wred = Wred { classes, shared, waiting: vec![], last: 0 };
        assert_lively(&compare("wred", &settings, None, wred), setbit);
    }
}

#[test]
fn the_preset_of_weighted_red_is_ns2s_rio() {
    let red = |min, max, max_p| Red { wait: true, ..Red::new(min, max, max_p, 0.002) };
    let out = red(5.0, 15.0, 0.1);
    let classes = [red(15.0, 30.0, 1.0 / 50.0), out.clone(), out.clone(), out];
    assert_lively(
        &compare("wred", &[], Some("ns2-rio"), Wred { classes, shared: false, waiting: vec![], last: 0 }),
        false,
    );
}
