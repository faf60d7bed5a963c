//! Each algorithm against a plain transcription of its source's equations, verdict for verdict.
//!
//! The transcriptions are in `reference`, the code that runs them in `driver`.

#[path = "equivalence/red.rs"]
mod red;
#[path = "reference/red_linux.rs"]
mod red_linux;

use crate::driver::{assert_lively, assert_marks, compare, number, text};
use crate::reference;
use crate::reference::choke::Choke;
use crate::reference::headdrop::HeadDrop;
use crate::reference::{Lred, PTC, Pi, Red, Rem, Vq};
use aqm::params::Value;

const ON: Value = Value::Bool(true);

#[test]
fn red_equals_ns2() {
    for (min, max, max_p, w_q) in
        [(5.0, 15.0, 0.1, 0.002), (20.0, 60.0, 0.3, 0.02), (30.0, 130.0, 1.0, 1.0), (20.0, 300.0, 0.05, 0.02)]
    {
        for switches in 0..16 {
            let [gentle, bytes, wait, setbit] = [1, 2, 4, 8].map(|bit| switches & bit != 0);
            for mark_p in if setbit { vec![1.0, 0.1] } else { vec![1.0] } {
                let settings = [
                    ("min_th", number(min)),
                    ("max_th", number(max)),
                    ("max_p", number(max_p)),
                    ("w_q", number(w_q)),
                    ("gentle", Value::Bool(gentle)),
                    ("bytes", Value::Bool(bytes)),
                    ("spacing", text(if wait { "wait" } else { "1993" })),
                    ("ecn", Value::Bool(setbit)),
                    ("mark_p", number(mark_p)),
                ];
                let red = Red { gentle, wait, setbit, mark_p, ..Red::new(min, max, max_p, w_q) };
                let tally = compare("red", &settings, None, if bytes { red.in_bytes() } else { red });
                assert_lively(&tally, setbit);
                // Only the last parameters let the queue grow above 150, to the buffer's limit.
                assert_eq!(tally.overflows > 100, max == 300.0, "{tally:?}");
            }
        }
    }
}

#[test]
fn adaptive_red_equals_ns2_with_its_timer_and_without() {
    for frozen in [false, true] {
        for bytes in [false, true] {
            let settings = [
                ("min_th", number(10.0)),
                ("max_th", number(30.0)),
                ("w_q", number(0.002)),
                ("frozen_gentle", Value::Bool(frozen)),
                ("bytes", Value::Bool(bytes)),
            ];
            for (moves, lazy) in [("timer", false), ("arrival", true)] {
                let settings = [&settings[..], &[("moves", text(moves))]].concat();
                let red = Red { gentle: true, frozen, lazy, ..Red::new(10.0, 30.0, 0.1, 0.002) };
                let tally = compare("ared", &settings, None, if bytes { red.in_bytes() } else { red });
                assert_lively(&tally, false);
            }
        }
    }
}

#[test]
fn the_presets_of_red_and_ared_equal_ns2_with_its_defaults() {
    // w_q and the thresholds are those that ns-2 computes for 10 Mbit/s and 500-byte packets.
    let w_q = 1.0 - (-1.0 / (10.0 * 0.1 * PTC)).exp();
    let red = Red { gentle: true, wait: true, mark_p: 0.1, frozen: true, ..Red::new(6.25, 18.75, 0.1, w_q) };
    for (name, lazy) in [("red", false), ("ared", true)] {
        let red = Red { lazy, ..red.clone() };
        assert_lively(&compare(name, &[], Some("ns2.35"), red.clone().in_bytes()), false);
        let marking = Red { setbit: true, ..red.clone() };
        assert_lively(&compare(name, &[("ecn", ON)], Some("ns2.35"), marking.in_bytes()), true);
    }
}

#[test]
fn pi_equals_ns2() {
    for (a, b, qref, f) in
        [(1.822e-5, 1.816e-5, 10.0, 170.0), (1e-3, 9e-4, 50.0, 160.0), (0.1, 0.05, 30.0, 20.0)]
    {
        for switches in 0..8 {
            let [qib, bytes, setbit] = [1, 2, 4].map(|bit| switches & bit != 0);
            let settings = [
                ("a", number(a)),
                ("b", number(b)),
                ("q0", number(qref)),
                ("frequency", text(&format!("{f} Hz"))),
                ("bytes", Value::Bool(qib)),
                ("by_size", Value::Bool(bytes)),
                ("ecn", Value::Bool(setbit)),
            ];
            let tally =
                compare("pi", &settings, None, Pi { a, b, qref, bytes, qib, setbit, v_prob: 0.0, qold: 0.0 });
            assert_lively(&tally, setbit);
        }
    }
}

#[test]
fn rem_equals_ns2_and_equation_36() {
    for (gamma, phi, bo, inw) in [(0.001, 1.001, 20.0, 1.0), (0.01, 1.01, 60.0, 0.1)] {
        for switches in 0..8 {
            let [rate_form, bytes, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
            // ns-2's qib_ also scales p, as by_size does by default.
            for (setting, by_size) in
                [(text("auto"), rate_form && bytes), (Value::Bool(false), false), (ON, true)]
            {
                let settings = [
                    ("gamma", number(gamma)),
                    ("phi", number(phi)),
                    ("q0", number(bo)),
                    ("inw_", number(inw)),
                    ("form", text(if rate_form { "ns2" } else { "paper" })),
                    ("bytes", Value::Bool(bytes)),
                    ("by_size", setting),
                    ("ecn", Value::Bool(ecn)),
                ];
                let c = 0.002 * PTC;
                let rem = Rem {
                    rate_form,
                    bytes,
                    by_size,
                    ecn,
                    gamma,
                    phi,
                    bo,
                    c,
                    inw,
                    v_ave: 0.0,
                    count: 0.0,
                    v_pl: 0.0,
                    v_prob: 0.0,
                    qold: 0.0,
                };
                assert_lively(&compare("rem", &settings, None, rem), ecn);
            }
        }
    }
}

#[test]
fn lred_equals_its_pseudocode() {
    for (qo, beta, mw, m, period) in
        [(100.0, 0.001, 0.1, 4, "1 s"), (40.0, 0.01, 0.5, 1, "200 ms"), (20.0, 10.0, 0.0, 7, "1 s")]
    {
        for switches in 0..12 {
            let (bytes, ecn) = (switches & 1 != 0, switches & 2 != 0);
            let (exponent, power) = [(0.5, None), (0.0, Some(0)), (1.0, Some(1))][switches / 4];
            let settings = [
                ("q0", number(qo)),
                ("beta", number(beta)),
                ("exponent", number(exponent)),
                ("weight", number(mw)),
                ("window", Value::Integer(m)),
                ("period", text(period)),
                ("bytes", Value::Bool(bytes)),
                ("ecn", Value::Bool(ecn)),
            ];
            let lred = Lred {
                qo,
                beta,
                power,
                mw,
                bytes,
                ecn,
                arr_pkt_num: 0,
                drop_pkt_num: 0,
                arr_num: vec![0; m as usize],
                drop_num: vec![0; m as usize],
                index: 0,
                loss_ratio: 0.0,
                p: 0.0,
            };
            assert_lively(&compare("lred", &settings, None, lred), ecn);
        }
    }
}

#[test]
fn avq_equals_ns2_and_its_pseudocode() {
    for (alpha, gamma, ecnlim, buflim) in
        [(0.15, 0.98, 0.8, 0.75), (1.0, 0.9, 0.5, 0.2), (10.0, 0.98, 1.0, 0.1), (0.0, 0.98, 0.9, 0.5)]
    {
        for switches in 0..8 {
            let [paper, qib, markpkts] = [1, 2, 4].map(|bit| switches & bit != 0);
            let settings = [
                ("alpha", number(alpha)),
                ("gamma", number(gamma)),
                ("initial", number(ecnlim)),
                ("buflim", number(buflim)),
                ("form", text(if paper { "paper" } else { "ns2" })),
                ("bytes", Value::Bool(qib)),
                ("ecn", Value::Bool(markpkts)),
            ];
            // The port's buffer, of which `buflim` is a part, holds 200 packets.
            let vq = Vq { paper, qib, markpkts, ..Vq::new(alpha, gamma, ecnlim, 200.0 * buflim) };
            assert_lively(&compare("avq", &settings, None, vq), markpkts);
        }
    }
}

#[test]
fn choke_equals_the_paper_over_ns2s_red() {
    for (min, max, w_q) in [(5.0, 30.0, 0.02), (20.0, 100.0, 1.0)] {
        for (m, k) in [(1, 0), (5, 0), (1, 8)] {
            for setbit in [false, true] {
                let settings = [
                    ("min_th", number(min)),
                    ("max_th", number(max)),
                    ("w_q", number(w_q)),
                    ("gentle", Value::Bool(false)),
                    ("candidates", Value::Integer(m)),
                    ("regions", Value::Integer(k)),
                    ("ecn", Value::Bool(setbit)),
                ];
                let red = Red { setbit, ..Red::new(min, max, 0.1, w_q) };
                let choke = Choke { red, m: m as u64, k: k as u64, fifo: vec![] };
                let tally = compare("choke", &settings, None, choke);
                assert!(tally.matches > 1000 && tally.idle > 300, "{tally:?}");
                assert_marks(&tally, setbit, 20);
            }
        }
    }
}

#[test]
fn head_drop_equals_linux() {
    let tally = compare("headdrop", &[], None, HeadDrop { limit: 150 });
    assert!(tally.made_room > 300 && tally.overflows == 0 && tally.idle > 300, "{tally:?}");
}
