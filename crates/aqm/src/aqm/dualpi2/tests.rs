use super::*;
use crate::discipline::Head;
use crate::fixture::{Draw, PORT, assert_close};

const SCALABLE: Packet = Packet { l4s: true, ..Packet::new(500, true) };
const ECT: Packet = Packet::new(500, true);
const NOT_ECT: Packet = Packet::new(500, false);

fn dualpi2(params: Params) -> DualPi2 {
    DualPi2::new(&params, &PORT)
}

fn random() -> Params {
    Params { decision: Decision::Random, ..Params::default() }
}

/// This many 500-byte packets wait in each queue, the first for this many ms, at a time of 1 s.
fn lanes(l4s: (u32, u64), classic: (u32, u64)) -> [Lane; 2] {
    [l4s, classic].map(|(packets, ms)| {
        let arrived = Time::ZERO + Span::ms(1000 - ms);
        let head = (packets > 0).then_some(Head { arrived, size: 500 });
        Lane { packets, bytes: u64::from(packets) * 500, head, ..Lane::default() }
    })
}

const NOW: Time = Time::from_nanos(1_000_000_000);

fn update(dualpi2: &mut DualPi2, l4s_ms: u64, classic_ms: u64) -> f64 {
    let lanes = lanes((u32::from(l4s_ms > 0), l4s_ms), (u32::from(classic_ms > 0), classic_ms));
    dualpi2.on_period(NOW, &Backlog::default(), &lanes);
    dualpi2.pi.p()
}

/// DualPI2 whose next update with a delay of 15 ms sets p' to `p`.
fn at(p: f64, params: Params) -> DualPi2 {
    let mut dualpi2 =
        dualpi2(Params { alpha: Some(Frequency(0.0)), beta: Some(Frequency(p / 0.015)), ..params });
    assert_close(update(&mut dualpi2, 0, 15), p.min(1.0));
    dualpi2
}

/// The verdict on a packet that leaves `lane` with 9 behind it in either queue, at this draw.
fn leaves(dualpi2: &mut DualPi2, lane: usize, packet: Packet, us: u64, u: f64) -> Verdict {
    let buffer = Backlog { packets: 18, bytes: 9000, full: false };
    dualpi2.on_dequeue(NOW, lane, &packet, &buffer, &lanes((9, 0), (9, 9)), Span::us(us), &mut Draw(u))
}

#[track_caller]
fn assert_chance(dualpi2: &mut DualPi2, lane: usize, packet: Packet, us: u64, p: f64, verdict: Verdict) {
    let found = (0.999 * p, 1.001 * p);
    let found = (leaves(dualpi2, lane, packet, us, found.0), leaves(dualpi2, lane, packet, us, found.1));
    assert_eq!(found, (verdict, Verdict::Pass));
}

#[test]
fn omitted_values_follow_from_the_longest_round_trip_time() {
    let mut rfc = dualpi2(Params::default());
    assert_eq!(rfc.period(), Some(Span::ms(15)));
    // 0.1 x 0.015 / 0.1^2 = 0.15 Hz and 0.3 / 0.1 = 3 Hz.
    assert_close(update(&mut rfc, 0, 25), 0.15 * 0.010 + 3.0 * 0.025);
    assert_close(update(&mut rfc, 0, 20), 0.0765 + 0.15 * 0.005 - 3.0 * 0.005);
    let short = dualpi2(Params { rtt_max: Span::ms(30), ..Params::default() });
    assert_eq!(short.period(), Some(Span::ms(10)));
}

#[test]
fn the_longer_of_the_two_delays_counts() {
    let mut one = dualpi2(Params::default());
    assert_close(update(&mut one, 25, 3), 0.0765);
    assert_eq!(update(&mut one, 0, 0), 0.0, "both are empty");
}

#[test]
fn linuxs_gains_are_whole_256ths_and_share_their_unit_with_tc() {
    let linux = DualPi2::preset("linux").unwrap();
    assert_eq!(linux.alpha.unwrap().0 * 256.0, 41.0);
    assert_eq!(linux.beta.unwrap().0 * 256.0, 819.0);
    // tc's numbers: alpha 0.160156, beta 3.199219, step_thresh 1 ms, coupling_factor 2, classic_protection 10 %.
    assert_close(update(&mut dualpi2(linux.clone()), 0, 20), 0.160_156_25 * 0.005 + 3.199_218_75 * 0.020);
    let mut set = Params { decision: Decision::Random, th_len: None, min_backlog: None, ..Params::default() };
    use crate::params::{Params as _, Value};
    for (alias, value) in [
        ("tupdate", Value::Text("16 ms".to_owned())),
        ("alpha", Value::Text("0.16015625 Hz".to_owned())),
        ("beta", Value::Text("3.19921875 Hz".to_owned())),
        ("step_thresh", Value::Text("1 ms".to_owned())),
        ("range", Value::Text("0 s".to_owned())),
        ("coupling_factor", Value::Integer(2)),
        ("classic_protection", Value::Integer(10)),
        ("max_rtt", Value::Text("100 ms".to_owned())),
    ] {
        set.set(alias, &value).unwrap();
    }
    assert_eq!(set, linux);
    for (alias, wrong) in [
        ("alpha", Value::Integer(41)),
        ("classic_protection", Value::Integer(101)),
        ("step_thresh", Value::Integer(1000)),
    ] {
        assert!(set.set(alias, &wrong).is_err(), "{alias}");
    }
}

#[test]
fn ecn_tells_the_queue() {
    let lane = |params, packet| {
        let buffer = Backlog::default();
        dualpi2(params).on_enqueue(NOW, &packet, &buffer, &lanes((0, 0), (0, 0)), &mut Draw(0.0))
    };
    assert_eq!(lane(Params::default(), SCALABLE), (0, Verdict::Pass));
    assert_eq!(lane(Params::default(), ECT), (1, Verdict::Pass));
    assert_eq!(lane(Params::default(), NOT_ECT), (1, Verdict::Pass));
    assert_eq!(lane(Params { ecn: false, ..Params::default() }, SCALABLE), (1, Verdict::Pass));
    let any = Params { any_ect: true, ..Params::default() };
    let mut marks = at(0.1, Params { any_ect: true, ..random() });
    assert_chance(&mut marks, L4S, ECT, 0, 0.2, Verdict::Mark);
    assert_eq!([SCALABLE, ECT, NOT_ECT].map(|packet| lane(any.clone(), packet).0), [0, 0, 1]);
    assert_eq!(DualPi2::LANES, ["l4s", "classic"]);
}

#[test]
fn classic_packets_see_the_square_of_what_l4s_ones_see_doubled() {
    let mut one = at(0.3, random());
    assert_chance(&mut one, CLASSIC, NOT_ECT, 0, 0.09, Verdict::Drop);
    assert_chance(&mut one, CLASSIC, ECT, 0, 0.09, Verdict::Mark);
    assert_chance(&mut one, L4S, SCALABLE, 0, 0.6, Verdict::Mark);
    let mut deaf = at(0.3, Params { ecn: false, ..random() });
    assert_chance(&mut deaf, CLASSIC, ECT, 0, 0.09, Verdict::Drop);
    let mut k = at(0.3, Params { k: 3.0, ..random() });
    assert_chance(&mut k, L4S, SCALABLE, 0, 0.9, Verdict::Mark);
}

#[test]
fn the_l4s_queue_has_a_ramp_of_its_own() {
    let mut one = at(0.1, random());
    // (1000 - 800) / 400, and at 864 us less than the coupled 0.2.
    assert_chance(&mut one, L4S, SCALABLE, 1000, 0.5, Verdict::Mark);
    assert_chance(&mut one, L4S, SCALABLE, 864, 0.2, Verdict::Mark);
    assert_eq!(leaves(&mut one, L4S, SCALABLE, 1200, 0.999_999), Verdict::Mark);
    // The classic delay has no effect.
    assert_chance(&mut one, CLASSIC, ECT, 50_000, 0.01, Verdict::Mark);
    let mut few = |l4s| {
        let lanes = lanes((l4s, 0), (0, 0));
        let buffer = Backlog { packets: l4s, bytes: 500, full: false };
        one.on_dequeue(NOW, L4S, &SCALABLE, &buffer, &lanes, Span::ms(9), &mut Draw(0.3))
    };
    assert_eq!((few(1), few(2)), (Verdict::Pass, Verdict::Mark));
}

#[test]
fn a_step_needs_no_range() {
    let mut step = at(0.0, DualPi2::preset("linux").unwrap());
    assert_eq!(leaves(&mut step, L4S, SCALABLE, 999, 0.0), Verdict::Pass);
    assert_eq!(leaves(&mut step, L4S, SCALABLE, 1000, 0.999_999), Verdict::Mark);
}

#[test]
fn packets_are_dropped_when_marks_have_no_further_effect() {
    let mut one = at(0.5, random());
    assert_chance(&mut one, CLASSIC, ECT, 0, 0.25, Verdict::Drop);
    assert_eq!(leaves(&mut one, L4S, SCALABLE, 0, 0.249), Verdict::Drop);
    assert_eq!(leaves(&mut one, L4S, SCALABLE, 0, 0.251), Verdict::Mark);
    let mut keeps = at(0.5, Params { drop_on_overload: false, ..random() });
    assert_chance(&mut keeps, CLASSIC, ECT, 0, 0.25, Verdict::Mark);
    assert_eq!(leaves(&mut keeps, L4S, SCALABLE, 0, 0.0), Verdict::Mark);
    update(&mut keeps, 0, 990);
    assert_close(keeps.pi.p(), 0.5);
}

#[test]
fn probabilities_add_up_to_decisions() {
    // 0.4, 0.8, 1.2 - 1, 0.6, 1.0 (not above 1), 1.4 - 1: two marks in five, whenever the sum exceeds 1.
    let mut one = at(0.2, Params::default());
    let marks: Vec<bool> =
        (0..10).map(|_| leaves(&mut one, L4S, SCALABLE, 0, 0.0) == Verdict::Mark).collect();
    assert_eq!(marks.iter().filter(|mark| **mark).count(), 3 + usize::from(marks[9]));
    assert_eq!(marks[..4], [false, false, true, false]);
    // The classic queue has its own sum: 0.04 exceeds 1 at the 26th packet.
    let first = (1..).find(|_| leaves(&mut one, CLASSIC, NOT_ECT, 0, 0.0) == Verdict::Drop);
    assert!(matches!(first, Some(25 | 26)), "{first:?}");
}

#[test]
fn a_sum_of_exactly_1_is_no_decision_yet() {
    // At most 1/k: 1/4 exactly. The l4s queue sums 1, 2 - 1, 2 - 1; the classic one has 1 after 16 of 1/16.
    let mut one = at(0.2, Params { k: 4.0, drop_on_overload: false, ..Params::default() });
    assert_eq!(update(&mut one, 0, 990), 0.25);
    let marks = [0; 3].map(|_| leaves(&mut one, L4S, SCALABLE, 0, 0.0));
    assert_eq!(marks, [Verdict::Pass, Verdict::Mark, Verdict::Mark]);
    assert_eq!((1..).find(|_| leaves(&mut one, CLASSIC, NOT_ECT, 0, 0.0) == Verdict::Drop), Some(17));
}

#[test]
fn the_classic_queue_has_its_share_of_a_weighted_round() {
    let mut one = at(0.0, Params::default());
    let both = lanes((9, 5), (9, 5));
    let mut order = String::new();
    for _ in 0..46 {
        let lane = one.serve(NOW, &both);
        leaves(&mut one, lane, ECT, 0, 0.0);
        order.push(['L', 'C'][lane]);
    }
    // From -80 % of an MTU of 1500 bytes: 25 times 10 % of 500, above 0, then minus 90 %, and nine times 10 %.
    assert_eq!(order, format!("{}C{1}C{1}C", "L".repeat(25), "L".repeat(9)));
    // A queue that is alone uses no credit.
    let credit = one.weighted.credit;
    assert_eq!(one.serve(NOW, &lanes((3, 5), (0, 0))), L4S);
    let buffer = Backlog { packets: 2, bytes: 1000, full: false };
    one.on_dequeue(NOW, L4S, &ECT, &buffer, &lanes((2, 5), (0, 0)), Span::ZERO, &mut Draw(0.0));
    assert_eq!((one.weighted.credit, one.serve(NOW, &lanes((0, 0), (3, 5)))), (credit, CLASSIC));
    one.on_idle(NOW);
    assert_eq!(one.weighted.credit, -80.0 * 1500.0);
}

#[test]
fn a_time_shifted_queue_serves_l4s_packets_unless_the_other_waits_much_longer() {
    let mut one = dualpi2(Params { scheduler: Scheduler::Shifted, ..Params::default() });
    assert_eq!(one.serve(NOW, &lanes((1, 5), (1, 55))), L4S);
    assert_eq!(one.serve(NOW, &lanes((1, 5), (1, 56))), CLASSIC);
    assert_eq!(one.serve(NOW, &lanes((0, 0), (1, 1))), CLASSIC);
}

#[test]
fn less_than_the_least_backlog_is_spared_the_coupling_but_not_the_step() {
    let mut one = at(0.4, DualPi2::preset("linux").unwrap());
    let mut with = |bytes, us| {
        let buffer = Backlog { packets: 2, bytes, full: false };
        one.on_dequeue(NOW, L4S, &SCALABLE, &buffer, &lanes((2, 1), (0, 0)), Span::us(us), &mut Draw(0.0))
    };
    assert_eq!(
        (with(2999, 0), with(3000, 0), with(2999, 1000)),
        (Verdict::Pass, Verdict::Mark, Verdict::Mark)
    );
}

#[test]
fn marks_are_counted_and_those_of_the_threshold_by_themselves() {
    let mut one = at(0.1, random());
    let mut counts = |us: u64, lane: usize, packet: Packet| {
        leaves(&mut one, lane, packet, us, 0.0);
        let mut found = Vec::new();
        one.counters(&mut |name, count| {
            if name.contains("mark") {
                found.push(count.value());
            }
        });
        found
    };
    // At 864 us the native probability is 0.16, at 1000 us 0.5; the coupled one is 0.2.
    assert_eq!(counts(864, L4S, SCALABLE), [1.0, 0.0]);
    assert_eq!(counts(1000, L4S, SCALABLE), [2.0, 1.0]);
    assert_eq!(counts(0, CLASSIC, ECT), [3.0, 1.0]);
    assert_eq!(counts(0, CLASSIC, NOT_ECT), [3.0, 1.0], "a drop");
}

#[test]
fn the_step_spares_packets_that_found_fewer_than_min_qlen_step_at_their_arrival() {
    let step = Params { th_len: None, range: Span::ZERO, min_qlen_step: 2, ..random() };
    let mut dualpi2 = dualpi2(step);
    let buffer = Backlog::default();
    // The last of the four is refused by the buffer; the next finds three again.
    for waiting in [0, 1, 2, 3, 3] {
        dualpi2.on_enqueue(NOW, &SCALABLE, &buffer, &lanes((waiting, 9), (0, 0)), &mut Draw(0.5));
    }
    let verdicts = [(); 4].map(|()| leaves(&mut dualpi2, L4S, SCALABLE, 5000, 0.5));
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Mark, Verdict::Mark]);
    assert!(dualpi2.steps.is_empty());
}
