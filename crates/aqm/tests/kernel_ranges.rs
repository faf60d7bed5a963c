//! The kernel's laws where numbers are large: high gains, slow links, long periods.

use crate::kernel::{Event, Law, alone};
use crate::kernel_fixed::Fixed;
use crate::support::{PORT, Random};
use aqm::{AnyAqm, AnyParams, Backlog, Limit, Packet, Port, Rate, Time};

/// An algorithm with settings, and the law in C.
fn both(settings: &str, port: &Port) -> (AnyAqm, Law) {
    let params: AnyParams = settings.parse().expect("an algorithm");
    let file = settings.split(':').next().expect("a name");
    (params.on_one_queue(port).expect("an algorithm on one queue"), Law::new(file, &params, port))
}

fn assert_same_signals(aqm: &AnyAqm, law: &Law, names: &[&str], closeness: f64, what: &str) {
    aqm.signals(|i, expected| {
        let found = law.signal(names[i]).expect("its own");
        let near = (found - expected).abs() < closeness * expected.abs().max(1.0);
        assert!(near, "{} of {what}: {found}, not {expected}", names[i]);
    });
}

#[test]
fn the_gains_of_pi_may_be_high_with_a_small_difference_or_negative() {
    for (gains, lengths) in [
        ("a=1.26,b=1.25,q_ref=100", &[200, 190, 20, 60, 60][..]),
        ("a=0.3,b=0.29,q_ref=50", &[300, 290, 280]),
        ("a=1000,b=999.999,q_ref=1e6", &[1_000_500, 1_000_300, 1_000_300, 1_000_300, 999_900, 999_700]),
        ("a=1000,b=0,q_ref=1e9", &[0, 1 << 30, 0, u32::MAX]),
        // A design that samples slowly has a negative b.
        ("design={n=5000, rtt='100 ms'},q_ref=50", &[60, 50, 40, 55, 0, 49]),
    ] {
        let settings = format!("pi:frequency=100Hz,{gains}");
        let (mut aqm, mut law) = both(&settings, &PORT);
        for (i, &packets) in lengths.iter().enumerate() {
            let queue = Backlog { packets, bytes: 500 * u64::from(packets), full: false };
            let now = 10_000_000 * (1 + i as u64);
            aqm.on_period(Time::from_nanos(now), &queue);
            law.advance(now, &queue);
            assert_same_signals(&aqm, &law, &["p"], 1e-6, &format!("{settings} after {:?}", &lengths[..=i]));
        }
    }
}

#[test]
fn avq_may_be_on_a_link_that_needs_minutes_for_a_packet() {
    for (rate, limit, size) in [
        (100_000, Limit::Packets(1000), 65_535),
        (2_400, Limit::Bytes(80_000), 1514),
        (10_000, Limit::Bytes(300_000), 65_535),
    ] {
        let port = Port { rate: Rate::bit_per_s(rate), limit, ..PORT };
        let (mut aqm, mut law) = both("avq", &port);
        let (mut random, packet) = (Random(1), Packet::new(size, false));
        let mut passed = 0;
        for i in 0..200 {
            let now = 1_000_000_000 * i;
            let queue = Backlog::default();
            let verdict = aqm.on_enqueue(Time::from_nanos(now), &packet, &queue, &mut random);
            let event = Event::Arrival { now, packet: packet.into(), queue: alone(&queue), random: 0 };
            assert_eq!(law.perform(&event), verdict, "at {rate} bit/s after {i} s");
            assert_same_signals(
                &aqm,
                &law,
                &["vq", "capacity"],
                1e-6,
                &format!("avq at {rate} bit/s after {i} s"),
            );
            passed += u32::from(verdict == aqm::Verdict::Pass);
        }
        assert!((1..200).contains(&passed), "{passed}");
    }
}

const LRED: &str = r#"
#include "lred.c"
__attribute__((visibility("default"))) u64 loss_ratio(u64 arrivals, u64 drops, u64 nothing)
{
    struct params k = { .window = 1 };
    struct state s = { .now = { arrivals, drops } };
    on_period(&s, &k, 0, &(struct backlog){ .packets = nothing }, 1);
    return s.loss_ratio;
}
"#;

const RAQM: &str = r#"
#include "raqm.c"
__attribute__((visibility("default"))) u64 mean(u64 arrivals, u64 dropped, u64 rest)
{
    struct params k = { .fed = MEAN, .alpha = STATIC, .q0 = 1, .work = 1, .share = 1 };
    struct state s = { .seen = arrivals, .applied = dropped, .applied_rest = rest };
    on_period(&s, &k, 0, &(struct backlog){}, 1);
    return s.p_1;
}
"#;

#[test]
fn any_number_of_packets_may_arrive_in_a_period() {
    let (lred, raqm) = (Fixed::new("lred", LRED), Fixed::new("raqm", RAQM));
    for (arrivals, drops) in
        [(10, 3), (1 << 32, 1 << 31), (5 << 40, (5 << 40) - 3), (1 << 50, 1), (7 << 50, 7 << 50)]
    {
        let expected = drops as f64 / arrivals as f64;
        let found = lred.call("loss_ratio", arrivals, drops, 0) as f64 / 2.0_f64.powi(48);
        assert!((found - expected).abs() < 1e-9, "{drops} of {arrivals}: {found}");
        let found = raqm.call("mean", arrivals, drops, 0) as f64 / 2.0_f64.powi(60);
        assert!((found - expected).abs() < 1e-15, "{drops} of {arrivals}: {found}");
    }
}

const REDTAIL: &str = r#"
#include "redtail.c"
__attribute__((visibility("default"))) u64 balance(u64 time, u64 bytes, u64 share)
{
    static struct state s;
    s = (struct state){ .share = share, .sending = bytes };
    integrate(&s, time / 4);
    s.share = share / 2;
    integrate(&s, time / 2);
    s.share = ONE(60);
    settle(&s, time);
    return s.balance;
}
"#;

#[test]
fn redtail_allots_a_share_of_a_packet_however_long_the_link_needs_for_it() {
    let redtail = Fixed::new("redtail", REDTAIL);
    for time in [40, 400_000, 2_000_000_000, 5_240_000_000, 524_000_000_000] {
        for share in [0, 1 << 59, 3 << 57, 1 << 60] {
            let found = redtail.call("balance", time, 65_000, share) as f64 / 2.0_f64.powi(40);
            let share = share as f64 / 2.0_f64.powi(60);
            let expected = 65_000.0 * (share / 4.0 + share / 8.0 + 0.5);
            assert!((found - expected).abs() < 1e-10, "{time} ns, {share}: {found}, not {expected}");
        }
    }
}

const PORTED: &str = r#"
#include "aqm.h"
#include "ported.h"
__attribute__((visibility("default"))) u64 add(u64 a, u64 b, u64 nothing) { return fx_add(a, b) + nothing; }
__attribute__((visibility("default"))) u64 sub(u64 a, u64 b, u64 nothing) { return fx_sub(a, b) + nothing; }
"#;

#[test]
fn a_sum_with_a_fraction_has_an_opposite() {
    let ported = Fixed::new("ported", PORTED);
    let ends = [i64::MAX, i64::MAX - 1, 1, 0, -1, 1 - i64::MAX, -i64::MAX];
    for a in ends {
        for b in ends {
            for (name, b, sum) in
                [("add", b, i128::from(a) + i128::from(b)), ("sub", b, i128::from(a) - i128::from(b))]
            {
                let most = i128::from(i64::MAX);
                let found = ported.call(name, a as u64, b as u64, 0) as i64;
                assert_eq!(i128::from(found), sum.clamp(-most, most), "{name} {a} {b}");
            }
        }
    }
}
