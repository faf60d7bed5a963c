use super::*;
use crate::discipline::Head;
use crate::fixture::{Draw, PORT, assert_close};

const SCALABLE: Packet = Packet { l4s: true, ..Packet::new(500, true) };
const ECT: Packet = Packet::new(500, true);
const NOT_ECT: Packet = Packet::new(500, false);
const NOW: Time = Time::from_nanos(1_000_000_000);

/// Curvy RED with this Q_C in ms: with a gain of 1 it is the delay of the last classic packet.
fn at(ms: u64, params: Params) -> CurvyRed {
    let mut curvyred = CurvyRed::new(&Params { gamma: 1.0, ..params }, &PORT);
    leaves(&mut curvyred, CLASSIC, NOT_ECT, 1000 * ms, 1.0);
    curvyred
}

fn leaves(curvyred: &mut CurvyRed, lane: usize, packet: Packet, us: u64, u: f64) -> Verdict {
    curvyred.on_dequeue(
        NOW,
        lane,
        &packet,
        &Backlog::default(),
        &[Lane::default(); 2],
        Span::us(us),
        &mut Draw(u),
    )
}

fn signals(curvyred: &CurvyRed) -> [f64; 3] {
    let mut found = [0.0; 3];
    curvyred.signals(|place, value| found[place] = value);
    found
}

#[test]
fn the_average_moves_by_a_thirty_second_of_the_difference_at_each_classic_packet() {
    let mut curvyred = CurvyRed::new(&Params::default(), &PORT);
    leaves(&mut curvyred, CLASSIC, ECT, 32_000, 1.0);
    assert_close(curvyred.average, 0.001);
    leaves(&mut curvyred, L4S, SCALABLE, 500, 1.0);
    assert_close(curvyred.average, 0.001);
    leaves(&mut curvyred, CLASSIC, ECT, 0, 1.0);
    assert_close(curvyred.average, 0.001 * 31.0 / 32.0);
}

#[test]
fn probabilities_are_the_square_of_the_delay_over_half_a_second_and_twice_its_root() {
    // 100 ms of 500 ms.
    let mut curvyred = at(100, Params::default());
    for (found, expected) in signals(&curvyred).into_iter().zip([0.04, 0.1, 0.4]) {
        assert_close(found, expected);
    }
    // Both draws are compared with the root, 0.2.
    assert_eq!(leaves(&mut curvyred, CLASSIC, NOT_ECT, 100_000, 0.199), Verdict::Drop);
    assert_eq!(leaves(&mut curvyred, CLASSIC, ECT, 100_000, 0.199), Verdict::Mark);
    assert_eq!(leaves(&mut curvyred, CLASSIC, ECT, 100_000, 0.201), Verdict::Pass);
    assert_eq!(leaves(&mut curvyred, L4S, SCALABLE, 0, 0.399), Verdict::Mark);
    assert_eq!(leaves(&mut curvyred, L4S, SCALABLE, 0, 0.401), Verdict::Pass);
    let curvier = at(100, Params { u: 2, ..Params::default() });
    for (found, expected) in signals(&curvier).into_iter().zip([0.0016, 0.1, 0.16]) {
        assert_close(found, expected);
    }
}

#[test]
fn the_least_delay_is_subtracted() {
    let mut curvyred = at(100, Params { min_th: Span::ms(100), ..Params::default() });
    assert_eq!(leaves(&mut curvyred, CLASSIC, NOT_ECT, 100_000, 0.0), Verdict::Pass);
    assert_eq!(leaves(&mut curvyred, CLASSIC, NOT_ECT, 101_000, 0.0), Verdict::Drop);
    assert_close(signals(&at(50, Params { min_th: Span::ms(100), ..Params::default() }))[0], 0.0);
}

#[test]
fn an_l4s_packet_is_marked_above_its_own_threshold() {
    let mut curvyred = CurvyRed::new(&Params::default(), &PORT);
    assert_eq!(leaves(&mut curvyred, L4S, SCALABLE, 1000, 0.5), Verdict::Pass);
    assert_eq!(leaves(&mut curvyred, L4S, SCALABLE, 1001, 0.5), Verdict::Mark);
    let mut counters = vec![];
    curvyred.counters(&mut |name, value| counters.push((name.to_owned(), value.value())));
    assert_eq!(counters, [("ecn_mark".to_owned(), 1.0), ("step_marks".to_owned(), 1.0)]);
}

#[test]
fn when_marks_have_no_further_effect_packets_are_dropped() {
    // From 250 ms on every l4s packet is marked.
    let mut curvyred = at(250, Params::default());
    assert_eq!(leaves(&mut curvyred, CLASSIC, ECT, 250_000, 0.49), Verdict::Drop);
    assert_eq!(leaves(&mut curvyred, L4S, SCALABLE, 0, 0.49), Verdict::Drop);
    assert_eq!(leaves(&mut curvyred, L4S, SCALABLE, 0, 0.51), Verdict::Mark);
    let mut patient = at(250, Params { drop_on_overload: false, ..Params::default() });
    assert_eq!(leaves(&mut patient, CLASSIC, ECT, 250_000, 0.49), Verdict::Mark);
    assert_eq!(leaves(&mut patient, L4S, SCALABLE, 0, 0.99), Verdict::Mark);
}

#[test]
fn an_l4s_packet_is_served_up_to_50_ms_before_an_older_classic_packet() {
    let mut curvyred = CurvyRed::new(&Params::default(), &PORT);
    let lane = |ms: u64| {
        let head = Some(Head { arrived: Time::ZERO + Span::ms(1000 - ms), size: 500 });
        Lane { packets: 1, bytes: 500, head, ..Lane::default() }
    };
    assert_eq!(curvyred.serve(NOW, &[lane(10), lane(60)]), L4S);
    assert_eq!(curvyred.serve(NOW, &[lane(10), lane(61)]), CLASSIC);
    assert_eq!(curvyred.serve(NOW, &[Lane::default(), lane(0)]), CLASSIC);
    assert_eq!(curvyred.serve(NOW, &[lane(0), Lane::default()]), L4S);
}

#[test]
fn without_a_queue_for_l4s_its_packets_are_not_marked() {
    let mut classic = at(100, Params { l4s: false, ..Params::default() });
    let enqueued = classic.on_enqueue(NOW, &SCALABLE, &Backlog::default(), &[], &mut Draw(0.0));
    assert_eq!(enqueued, (CLASSIC, Verdict::Pass));
    assert_eq!(leaves(&mut classic, CLASSIC, SCALABLE, 100_000, 0.0), Verdict::Drop);
    assert_eq!(leaves(&mut classic, CLASSIC, ECT, 100_000, 0.0), Verdict::Mark);
    let mut dropping = at(100, Params { ecn: false, ..Params::default() });
    assert_eq!(leaves(&mut dropping, CLASSIC, ECT, 100_000, 0.0), Verdict::Drop);
}
