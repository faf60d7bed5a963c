//! Each law of the kernel against the algorithm here, and against itself.

use crate::driver::{number, text};
use crate::extremes::ends;
use crate::kernel::{Event, Judge, Law, TINY, alone};
use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::{AnyParams, Backlog, Packet, Span};

fn switch(on: bool) -> Value {
    Value::Bool(on)
}

#[test]
fn lred_in_c_is_lred() {
    let mut judge = Judge::of("lred");
    judge.compare("lred", None, &[]);
    for (exponent, beta, bytes, ecn) in [
        (0.5, 0.01, true, true),
        (0.0, 0.001, false, false),
        (1.0, 0.05, false, true),
        (1.7, 0.5, true, false),
    ] {
        let settings = [
            ("q0", number(30.5)),
            ("beta", number(beta)),
            ("exponent", number(exponent)),
            ("period", text("230 ms")),
            ("window", Value::Integer(if ecn { 64 } else { 3 })),
            ("bytes", switch(bytes)),
            ("ecn", switch(ecn)),
            ("l_min", number(0.003)),
        ];
        judge.compare("lred", None, &settings);
    }
    judge.print();
}

#[test]
fn rem_in_c_is_rem_in_both_forms() {
    let mut judge = Judge::of("rem");
    judge.compare("rem", None, &[]);
    for preset in ["ns2.35", "survey"] {
        judge.compare("rem", Some(preset), &[]);
    }
    for switches in 0..8 {
        let [ns2, bytes, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("form", text(if ns2 { "ns2" } else { "paper" })),
            ("bytes", switch(bytes)),
            ("by_size", if ecn { switch(!bytes) } else { text("auto") }),
            ("ecn", switch(ecn)),
            ("phi", number(1.01)),
            ("gamma", number(0.02)),
            ("inw", number(if bytes { 0.02 } else { 1.0 })),
            ("alpha", number(0.3)),
            ("interval", text("3.7 ms")),
        ];
        judge.compare("rem", None, &settings);
    }
    judge.print();
}

#[test]
fn pi_in_c_is_pi() {
    let mut judge = Judge::of("pi");
    judge.compare("pi", None, &[]);
    judge.compare("pistar", None, &[]);
    for preset in ["survey", "ns2.35", "lred"] {
        judge.compare("pi", Some(preset), &[]);
    }
    for switches in 0..8 {
        let [bytes, by_size, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("a", number(if by_size { 0.01 } else { 0.0007 })),
            ("b", number(if by_size { 0.005 } else { 0.0006 })),
            ("q_ref", number(30.3)),
            ("frequency", text("37 Hz")),
            ("bytes", switch(bytes)),
            ("by_size", switch(by_size)),
            ("ecn", switch(ecn)),
        ];
        judge.compare("pi", None, &settings);
    }
    judge.print();
}

#[test]
fn blue_in_c_is_blue() {
    let mut judge = Judge::of("blue");
    judge.compare("blue", None, &[]);
    judge.compare_before(TINY, "blue", None, &[]);
    judge.compare("blue", Some("feng1999"), &[]);
    for (l, freeze, idle, ecn) in [
        (number(20.5), "10 ms", "lasting", true),
        (text("auto"), "0 s", "once", false),
        (number(60.0), "0 s", "lasting", true),
    ] {
        let (d1, d2) = (number(0.01), number(0.003));
        let (freeze, idle) = (text(freeze), text(idle));
        let settings =
            [("d1", d1), ("d2", d2), ("freeze_time", freeze), ("l", l), ("idle", idle), ("ecn", switch(ecn))];
        judge.compare("blue", None, &settings);
    }
    judge.print();
}

#[test]
fn avq_in_c_is_avq_in_both_forms() {
    let mut judge = Judge::of("avq");
    judge.compare("avq", None, &[]);
    judge.compare("avq", Some("ns2.35"), &[]);
    for switches in 0..8 {
        let [ns2, packets, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("form", text(if ns2 { "ns2" } else { "paper" })),
            ("bytes", switch(!packets)),
            ("ecn", switch(ecn)),
            ("alpha", number(if ecn { 0.6 } else { 0.05 })),
            ("gamma", number(0.9)),
            ("initial", number(0.5)),
            ("buflim", number(0.3)),
        ];
        judge.compare("avq", None, &settings);
    }
    judge.print();
}

#[test]
fn raqm_in_c_is_raqm_in_every_reading() {
    let mut judge = Judge::of("raqm");
    judge.compare("raqm", None, &[]);
    for switches in 0..32 {
        let [rate, corrected, fixed, mean, lagged] = [1, 2, 4, 8, 16].map(|bit| switches & bit != 0);
        let ecn = switches % 3 == 0;
        let settings = [
            ("mode", text(if rate { "queue-independent" } else { "queue-dependent" })),
            ("r0", text(if corrected { "corrected" } else { "literal" })),
            ("alpha", text(if fixed { "static" } else { "adaptive" })),
            ("fed", text(if mean { "mean" } else { "own" })),
            ("counts", text(["all", "unshed", "accepted"][switches % 3])),
            ("lagged", switch(lagged)),
            ("ecn", switch(ecn)),
            ("bytes", switch(switches % 5 == 0)),
            // What a full link accepts is no more than it can send.
            ("gamma", number(if switches % 3 == 0 { 0.45 } else { 0.3 })),
            ("period", text("310 ms")),
            ("f", number(if lagged { 0.4 } else { 0.1 })),
        ];
        judge.compare("raqm", None, &settings);
    }
    judge.print();
}

#[test]
fn red_in_c_is_red_and_gentle_red() {
    let mut judge = Judge::of("red");
    judge.compare("red", None, &[]);
    judge.compare("gred", None, &[]);
    judge.compare("gredi", None, &[]);
    let low =
        [("min_th", number(0.3)), ("max_th", number(1.7)), ("w_q", number(0.05)), ("bytes", switch(true))];
    judge.compare_before(TINY, "red", None, &low);
    let presets =
        ["floyd1993", "ns2-2000", "ns2.35", "ns3", "inet", "cisco", "impact", "impact-gred", "survey"];
    for preset in presets {
        judge.compare("red", Some(preset), &[]);
    }
    // With these numbers no p_b is a fraction 1 / n, with which the n-th packet would be decided by rounding.
    for switches in 0..24 {
        let [gentle, bytes, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let by_size = if switches % 5 == 0 { switch(!bytes) } else { text("auto") };
        let settings = [
            ("min_th", number(10.0)),
            ("max_th", number(if gentle { 41.0 } else { 97.0 })),
            ("max_p", number(0.1503)),
            ("w_q", number([0.01, 0.002, 1.0][switches % 3])),
            ("gentle", switch(gentle)),
            ("spacing", text(["1993", "wait", "none"][switches / 8])),
            ("bytes", switch(bytes)),
            ("by_size", by_size),
            ("ecn", switch(ecn)),
            ("mark_p", number(if gentle { 0.7 } else { 0.1 })),
            ("hard_drop", switch(switches % 7 != 0)),
            ("nodrop", switch(switches % 11 == 0)),
            ("spare_first", switch(switches % 2 == 0)),
            ("ages", switch(switches % 4 != 0)),
        ];
        judge.compare("red", None, &settings);
    }
    judge.print();
}

#[test]
fn nonlinear_red_in_c_is_nonlinear_red() {
    let mut judge = Judge::of("nlred");
    judge.compare("nlred", None, &[]);
    judge.compare("nlred", Some("zhou2006"), &[]);
    for (max_p, gentle, bytes, ecn) in
        [(0.9, true, false, true), (0.2, true, true, false), (0.9, false, true, true)]
    {
        let settings = [
            ("min_th", number(10.0)),
            ("max_th", number(50.0)),
            ("max_p", number(max_p)),
            ("w_q", number(0.01)),
            ("gentle", switch(gentle)),
            ("bytes", switch(bytes)),
            ("ecn", switch(ecn)),
        ];
        judge.compare("nlred", None, &settings);
    }
    judge.print();
}

#[test]
fn adaptive_red_in_c_is_adaptive_red_with_its_timer_and_without() {
    let mut judge = Judge::of("ared");
    judge.compare("ared", None, &[]);
    for preset in ["ns2.35", "redtail"] {
        judge.compare("ared", Some(preset), &[]);
    }
    for switches in 0..8 {
        let [frozen, arrival, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("min_th", number(10.0)),
            ("max_th", number(40.0)),
            ("max_p", number(0.05)),
            ("w_q", number(if ecn { 0.002 } else { 0.02 })),
            ("frozen_gentle", switch(frozen)),
            ("moves", text(if arrival { "arrival" } else { "timer" })),
            ("interval", text("70 ms")),
            ("alpha", number(0.02)),
            // Not the inverse of the factor 1.25 up, with which max_p would return to `bottom` but for rounding.
            ("beta", number(0.83)),
            ("top", number(0.3)),
            ("bottom", if frozen { number(0.02) } else { text("auto") }),
            ("ecn", switch(ecn)),
            ("bytes", switch(arrival)),
        ];
        judge.compare("ared", None, &settings);
    }
    judge.print();
}

/// After a stretch without packets, one call performs the periods that as many calls would have performed.
#[test]
fn periods_at_once_are_periods_one_by_one() {
    let idle = Backlog::default();
    let waiting = Backlog { packets: 40, bytes: 20_000, full: false };
    for (file, name, period) in PERIODIC {
        for queue in [idle, waiting] {
            for count in [1, 2, 3, 10, 70, 1000, 50_000] {
                let params: AnyParams = name.parse().expect("an algorithm");
                let [mut lazy, mut busy] = [Law::new(file, &params, &PORT), Law::new(file, &params, &PORT)];
                let mut random = Random(7);
                for law in [&mut lazy, &mut busy] {
                    let mut random = random.clone();
                    // Half of the packets find a queue that is longer than any target.
                    for i in 0..3000 {
                        let packets = if i < 1500 { 10 } else { 140 };
                        let queue = Backlog { packets, bytes: 500 * u64::from(packets), full: i % 20 == 0 };
                        let (queue, packet) = (alone(&queue), Packet::new(500, false).into());
                        let random = random.bits() as u32;
                        law.perform(&Event::Arrival { now: 200_000 * i, packet, queue, random });
                    }
                    law.perform(&Event::Free(600_100_000));
                }
                let start = 600_000_000;
                let end = start + count * period.nanos();
                (1..=count).for_each(|i| busy.advance(start + i * period.nanos(), &queue));
                lazy.advance(end, &queue);
                for name in lazy.signals.iter().map(|(name, _)| name) {
                    let (once, each) =
                        (lazy.signal(name).expect("its own"), busy.signal(name).expect("its own"));
                    assert!(
                        (once - each).abs() < 1e-9 * each.abs().max(1.0),
                        "{name} of {params:?} after {count} periods of {queue:?}: {once}, not {each}"
                    );
                }
                let event = Event::Arrival {
                    now: end + 1,
                    packet: Packet::new(500, false).into(),
                    queue: alone(&queue),
                    random: random.bits() as u32,
                };
                assert_eq!(lazy.perform(&event), busy.perform(&event));
            }
        }
    }
}

/// Laws with periodic updates: the file, an algorithm with settings by which much changes, and the period.
const PERIODIC: &[(&str, &str, Span)] = &[
    ("lred", "lred:period=10ms,q0=20,beta=0.01", Span::ms(10)),
    ("rem", "rem:gamma=0.1", Span::ms(2)),
    ("rem", "rem:form=ns2,inw=0.001,gamma=0.1", Span::ms(2)),
    ("pi", "pi:a=0.001,b=0.0009,q_ref=20", Span::ns(5_882_353)),
    ("raqm", "raqm:period=10ms,f=0.9", Span::ms(10)),
    ("raqm", "raqm:period=10ms,alpha=static,m=0.1,p_min=1e-12", Span::ms(10)),
    ("ared", "ared:interval=10ms,w_q=0.02,beta=0.97,bottom=0", Span::ms(10)),
];

/// With every parameter at an end of its range that the law can have, any packets and times: no operation of the C is without
/// a defined result.
#[test]
fn no_parameter_leads_to_an_undefined_operation() {
    let files = ["lred", "rem", "pi", "blue", "avq", "raqm", "red", "nlred", "ared"];
    for file in files {
        let defaults = AnyParams::of(file).expect("an algorithm");
        let mut had = 0;
        for spec in defaults.specs() {
            for value in ends(spec) {
                let mut params = defaults.clone();
                params.set(spec.name, &value).expect("an allowed value");
                if params.check().and_then(|()| params.check_on(&PORT)).is_err() {
                    continue;
                }
                let Ok(mut law) = Law::of(file, &params, &PORT, true) else { continue };
                had += 1;
                let (mut random, mut now) = (Random(had), 0);
                for _ in 0..300 {
                    now += random.bits() >> (20 + random.bits() % 44);
                    let packets = random.bits() as u32 >> (random.bits() % 32);
                    let queue =
                        Backlog { packets, bytes: 1500 * u64::from(packets), full: random.bits() % 8 == 0 };
                    let packet = Packet::new(1 + random.bits() as u32 % 65_535, random.bits() % 2 == 0);
                    let (packet, queue, drawn) = (packet.into(), alone(&queue), random.bits() as u32);
                    law.perform(&Event::Arrival { now, packet, queue, random: drawn });
                }
            }
        }
        assert!(had > 10, "{file}: {had}");
    }
}
