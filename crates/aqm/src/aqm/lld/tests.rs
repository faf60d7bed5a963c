use super::*;
use crate::discipline::Head;
use crate::fixture::{Draw, PORT, assert_close};
use crate::unit::Limit;

const SCALABLE: Packet = Packet { l4s: true, ..Packet::new(1000, true) };
const ECT: Packet = Packet::new(1000, true);
const NOT_ECT: Packet = Packet::new(1000, false);

const NOW: Time = Time::from_nanos(1_000_000_000);

/// A link of 50 Mbit/s with a buffer of 100 ms, as in the tests of CableLabs' module for ns-3.
const LINK: Port = Port { rate: Rate::mbit_per_s(50), limit: Limit::Bytes(625_000), ..PORT };

fn lld(params: Params) -> Lld {
    Lld::new(&params, &LINK)
}

/// This many bytes wait in each queue, in packets of 1000 bytes.
fn lanes(low_latency: u64, classic: u64) -> [Lane; 2] {
    [low_latency, classic].map(|bytes| {
        let head = (bytes > 0).then_some(Head { arrived: NOW, size: 1000 });
        Lane { packets: bytes.div_ceil(1000) as u32, bytes, head, ..Lane::default() }
    })
}

/// The lane and verdict of an arrival when this many bytes wait in each queue.
fn arrives(lld: &mut Lld, now: Time, packet: Packet, waiting: (u64, u64)) -> (usize, Verdict) {
    let lanes = lanes(waiting.0, waiting.1);
    let bytes = waiting.0 + waiting.1;
    let buffer = Backlog { packets: (bytes / 1000) as u32, bytes, full: false };
    lld.on_enqueue(now, &packet, &buffer, &lanes, &mut Draw(0.5))
}

fn signals(lld: &Lld) -> Vec<f64> {
    let mut found = vec![];
    lld.signals(|_, value| found.push(value));
    found
}

fn microseconds(params: &Params, mbit: u64) -> [f64; 2] {
    params.thresholds(Rate::mbit_per_s(mbit)).map(|threshold| threshold.nanos() as f64 / 1000.0)
}

#[test]
fn thresholds_are_those_of_cablelabs_test_suite() {
    // dual-queue-coupled-aqm, DualQIaqmThresholdsTestCase: MINTH is 640 us by FLOOR, and 2000 - 524 us, within 1 us.
    assert_eq!(microseconds(&Params::default(), 50), [640.0, 1164.288]);
    let later = Params { max_th: Span::us(2000), ..Params::default() };
    assert_eq!(microseconds(&later, 50), [1475.712, 2000.0]);
    // On a fast link the thresholds are those that are set; on a slow one both are at most 65.535 ms.
    assert_eq!(microseconds(&Params::default(), 1000), [475.712, 1000.0]);
    let slow = Params::default().thresholds(Rate::bit_per_s(100_000));
    assert_eq!(slow, [MOST_TH; 2]);
}

#[test]
fn buffers_are_those_of_cablelabs_test_suite() {
    // DualQueueBufferSizeTestCase: 10 ms at 50 Mbit/s, a value that is set, and 20 frames of 2000 bytes at least.
    let buffer = |params: Params, bits| params.buffer(Rate::bit_per_s(bits));
    assert_eq!(buffer(Params::default(), 50_000_000), 62_500);
    assert_eq!(buffer(Params { buffer_l: Some(Bytes(5000)), ..Params::default() }, 50_000_000), 5000);
    assert_eq!(buffer(Params::default(), 1000), 40_000);
    let small = Params { buffer_l: Some(Bytes(2000)), ..Params::default() };
    let error = Lld::check(&small).unwrap_err().to_string();
    assert_eq!(error, "buffer_l = 2000 B: must be more than a frame of 2000 bytes (max_frame_size)");
}

#[test]
fn delays_are_those_of_cablelabs_test_suite() {
    // DualQueueVirtualQueueTestCase: packets of 1028 bytes with the MAC header, none leaves; 164, 328 and 493 us.
    let mut one = lld(Params::default());
    let delay = |one: &mut Lld, waiting| {
        arrives(one, NOW, Packet { size: 1028, ..SCALABLE }, (waiting, 0));
        (signals(one)[3] * 1e6) as u64
    };
    assert_eq!([0, 1028, 2056].map(|waiting| delay(&mut one, waiting)), [164, 328, 493]);
}

#[test]
fn a_packet_is_classified_by_ecn_and_dscp() {
    let lane = |params: Params, packet, dscp: Dscp| {
        let mut lld = lld(params);
        lld.on_label(Label { dscp: dscp.code(), ..Label::default() });
        arrives(&mut lld, NOW, packet, (0, 0))
    };
    let of = |packet, dscp| lane(Params::default(), packet, dscp).0;
    assert_eq!([SCALABLE, ECT, NOT_ECT].map(|packet| of(packet, Dscp::Be)), [0, 1, 1]);
    assert_eq!([SCALABLE, ECT, NOT_ECT].map(|packet| of(packet, Dscp::Nqb)), [0, 0, 0]);
    assert_eq!(of(NOT_ECT, Dscp::Ef), 1);
    let deaf = Params { nqb: false, ..Params::default() };
    assert_eq!((lane(deaf.clone(), NOT_ECT, Dscp::Nqb).0, lane(deaf.clone(), SCALABLE, Dscp::Nqb).0), (1, 0));
    assert!(lld(Params::default()).reads_labels() && !lld(deaf).reads_labels());
    let any = Params { any_ect: true, ..Params::default() };
    assert_eq!([ECT, NOT_ECT].map(|packet| lane(any.clone(), packet, Dscp::Be).0), [0, 1]);
    assert_eq!(Lld::LANES, ["low_latency", "classic"]);
}

#[test]
fn probabilities_of_the_ramp_add_up_to_marks() {
    let mut one = lld(Params { queue_protection: false, ..Params::default() });
    // 50 Mbit/s: 5638 bytes take 902.08 us, half of the ramp from 640 us to 1164 us.
    let mut mark = |packet| arrives(&mut one, NOW, packet, (4638, 0)).1;
    let found: Vec<Verdict> = (0..5).map(|_| mark(SCALABLE)).collect();
    // 262.08 us of 524.288 us are a bit less than a half.
    assert_eq!(found, [Verdict::Pass, Verdict::Pass, Verdict::Mark, Verdict::Pass, Verdict::Mark]);
    assert_close(signals(&one)[2], 262.08 / 524.288);
    // The sum grows with a packet that cannot be marked too.
    let mut two = lld(Params { queue_protection: false, ..Params::default() });
    two.on_label(Label { dscp: Dscp::Nqb.code(), ..Label::default() });
    let found =
        [NOT_ECT, NOT_ECT, NOT_ECT, SCALABLE].map(|packet| arrives(&mut two, NOW, packet, (9000, 0)).1);
    assert_eq!(found, [Verdict::Pass, Verdict::Pass, Verdict::Pass, Verdict::Mark]);
    assert_eq!((two.marked, signals(&two)[2]), (1, 1.0));
}

/// Low Latency DOCSIS whose DOCSIS-PIE has this p after an update with a delay of 100 ms.
fn at(p: f64, params: Params) -> Lld {
    // From 0 on, gains are divided by 2048.
    let beta = Frequency(p * 2048.0 / 0.1);
    let mut lld = lld(Params { alpha: Frequency(0.0), beta, ..params });
    lld.on_period(NOW, &Backlog::default(), &lanes(0, 625_000));
    assert_close(signals(&lld)[0], p);
    lld
}

#[test]
fn marks_are_coupled_by_the_root_of_p() {
    let coupled = |p, k| signals(&at(p, Params { k, ..Params::default() }))[1];
    assert_close(coupled(0.01, 2.0), 0.2);
    assert_close(coupled(0.04, 3.0), 0.6);
    assert_eq!(coupled(0.36, 2.0), 1.0);
    let mut one = at(0.01, Params::default());
    arrives(&mut one, NOW, SCALABLE, (0, 0));
    assert_close(signals(&one)[2], 0.2);
    arrives(&mut one, NOW, SCALABLE, (4638, 0));
    assert_close(signals(&one)[2], 262.08 / 524.288);
}

#[test]
fn the_classic_delay_is_over_the_rate_that_is_left() {
    let delay = |left: u32, params: Params| {
        let mut lld = lld(params);
        let leaves = Packet { size: left, ..SCALABLE };
        lld.on_dequeue(
            NOW,
            LOW_LATENCY,
            &leaves,
            &Backlog::default(),
            &lanes(0, 0),
            Span::ZERO,
            &mut Draw(0.0),
        );
        lld.on_period(NOW, &Backlog::default(), &lanes(0, 62_500));
        let first = signals(&lld)[4];
        lld.on_period(NOW, &Backlog::default(), &lanes(0, 62_500));
        assert_close(signals(&lld)[4], 0.010);
        first
    };
    assert_close(delay(0, Params::default()), 0.010);
    // 40 000 bytes in 16 ms are 20 Mbit/s.
    assert!((delay(40_000, Params::default()) - 0.5 / 30.0).abs() < 1e-9);
    // All of the link: the low-latency queue's share of it is 230/256.
    assert!((delay(100_000, Params::default()) - 0.5 * 256.0 / 26.0 / 50.0).abs() < 1e-9);
}

#[test]
fn a_third_of_the_buffer_must_fill_before_docsis_pie_drops() {
    let mut one = at(0.5, Params::default());
    assert_eq!(arrives(&mut one, NOW, ECT, (0, 208_000)), (CLASSIC, Verdict::Pass));
    // The sum of probabilities is 0.49, then 0.98: more than 0.85, and the draw is 0.5.
    let big = Packet { size: 1400, ..ECT };
    let found = [big, big].map(|packet| arrives(&mut one, NOW, packet, (0, 209_000)).1);
    assert_eq!(found, [Verdict::Pass, Verdict::Drop], "classic packets are never marked");
    // The drop begins an allowance, in which p is 0.
    one.on_period(NOW, &Backlog::default(), &lanes(0, 625_000));
    assert_eq!(signals(&one)[..2], [0.0, 0.0]);
}

#[test]
fn the_low_latency_queue_has_a_buffer_of_its_own() {
    let mut one = lld(Params { queue_protection: false, ..Params::default() });
    let mut lost = |waiting| {
        arrives(&mut one, NOW, SCALABLE, (waiting, 0));
        one.evict(NOW, &lanes(waiting + 1000, 0))
    };
    // 62 500 bytes less a frame of 2000 bytes.
    assert_eq!(lost(60_499), None);
    let arrival = Eviction { lane: LOW_LATENCY, place: 61, full: true };
    assert_eq!(lost(60_500), Some(arrival));
    assert_eq!(one.evict(NOW, &lanes(60_500, 0)), None, "once");
}

#[test]
fn the_shares_of_the_link_are_230_and_26_of_256() {
    let mut one = lld(Params::default());
    let mut sent = [0_u32, 0];
    let both = lanes(50_000, 50_000);
    for _ in 0..25_600 {
        let lane = one.serve(NOW, &both);
        one.on_dequeue(NOW, lane, &ECT, &Backlog::default(), &both, Span::ZERO, &mut Draw(0.0));
        sent[lane] += 1;
    }
    assert!(sent[0].abs_diff(23_000) <= 2 && sent[1].abs_diff(2600) <= 2, "{sent:?}");
    assert_eq!([one.serve(NOW, &lanes(0, 1)), one.serve(NOW, &lanes(1, 0))], [CLASSIC, LOW_LATENCY]);
}

#[test]
fn upstream_packets_that_wait_for_grants_are_not_congestion() {
    let params = Params { loop_delay: Some(Span::ms(4)), queue_protection: false, ..Params::default() };
    let mut one = lld(params.clone());
    let delay = |one: &mut Lld, us, waiting| {
        arrives(one, Time::ZERO + Span::us(us), SCALABLE, (waiting, 0));
        signals(one)[3]
    };
    // A packet takes 160 us; what waits does not count, and 100 us pass.
    assert_close(delay(&mut one, 100, 20_000), 160e-6);
    assert_close(delay(&mut one, 100, 20_000), 320e-6);
    assert_close(delay(&mut one, 200, 20_000), 380e-6);
    // Of 50 000 bytes that wait for long, 25 000 belong to the loop delay of 4 ms; the others take another 4 ms.
    let long = delay(&mut one, 3_000_000, 50_000);
    assert!((long - 4.16e-3).abs() < 1e-9, "{long}");
    // The average is what counts: 50 000 bytes of which half are gone at the second comparison.
    let mut two = lld(params);
    two.on_dequeue(
        Time::ZERO + Span::us(500),
        LOW_LATENCY,
        &SCALABLE,
        &Backlog::default(),
        &lanes(5_999_000, 0),
        Span::ZERO,
        &mut Draw(0.0),
    );
    // 6 000 000 / 128 = 46 875 bytes, of which 21 875 take 3.5 ms.
    assert_close(delay(&mut two, 500, 5_999_000), 3.66e-3);
}

#[test]
fn the_virtual_queue_is_full_by_its_delay_and_forgets_what_goes_elsewhere() {
    let mut one = lld(Params { loop_delay: Some(Span::ms(4)), ..Params::default() });
    let big = Packet { size: 1250, ..SCALABLE };
    // 0.2 ms each: with the fourth to the sixth the score is 0.78, 2.54 and 5.10 ms. The others find what the sixth
    // did.
    let found: Vec<usize> = (0..8).map(|_| arrives(&mut one, NOW, big, (0, 0)).0).collect();
    assert_eq!(found, [0, 0, 0, 0, 0, 1, 1, 1]);
    assert_close(signals(&one)[3], 1.2e-3);
    let mut two = lld(Params { loop_delay: Some(Span::ms(4)), queue_protection: false, ..Params::default() });
    let lost = (0..60).filter(|_| {
        arrives(&mut two, NOW, big, (0, 0));
        two.evict(NOW, &lanes(1250, 0)).is_some()
    });
    // 60 500 bytes take 9.68 ms: 48 packets have less, the next one and all others have no room.
    assert_eq!(lost.count(), 12);
}

/// Those of CableLabs' test suite `queue-protection`, with a score of 4 ms at a delay of 1 ms.
fn protected() -> Params {
    Params { critical_ql: Some(Span::us(1000)), ..Params::default() }
}

#[test]
fn five_packets_of_three_flows_pass_as_in_cablelabs_test_suite() {
    // QueueProtectionBasicTestCase: an aggregate service flow without a rate, so that no delay is estimated.
    let fast = Port { rate: Rate::mbit_per_s(1_000_000), ..LINK };
    let mut one = Lld::new(&protected(), &fast);
    for (i, flow) in (0..).zip([1, 1, 2, 3, 3]) {
        let found = arrives(&mut one, NOW, Packet { flow, ..SCALABLE }, (1000 * i, 0));
        assert_eq!(found, (LOW_LATENCY, Verdict::Pass));
    }
    assert_eq!((one.sanctioned, signals(&one)[5]), (0, 0.0));
}

#[test]
fn a_score_is_what_drains_at_two_to_the_19_bytes_a_second() {
    let mut one = lld(protected());
    let score = |one: &mut Lld, ms, size, waiting| {
        let packet = Packet { size, ..SCALABLE };
        let (lane, _) = arrives(one, NOW + Span::ms(ms), packet, (waiting, 0));
        (lane, (signals(one)[5] * 1e9).round())
    };
    // At p_L' = 1 a byte is 2^11 ns; at 902.08 us the probability is 262.08 / 524.288; parts of a ns are cut off.
    assert_eq!(score(&mut one, 0, 1000, 9000), (LOW_LATENCY, 2_048_000.0));
    assert_eq!(score(&mut one, 1, 500, 9000), (LOW_LATENCY, 2_048_000.0 - 1e6 + 1_024_000.0));
    assert_eq!(score(&mut one, 2, 1001, 4637), (LOW_LATENCY, 2_072_000.0 - 1e6 + 1_024_773.0));
    // Without congestion the score only falls.
    assert_eq!(score(&mut one, 3, 1000, 0), (LOW_LATENCY, 1_096_773.0));
    assert_eq!(score(&mut one, 9, 1000, 0), (LOW_LATENCY, 0.0));
    let mut most = lld(Params { max_ql_score: Span::us(100), ..protected() });
    assert_eq!(score(&mut most, 0, 1000, 9000), (LOW_LATENCY, 100_000.0));
}

#[test]
fn a_packet_is_redirected_if_the_product_of_delay_and_score_is_too_great() {
    let mut one = lld(protected());
    let scores = [0; 3].map(|_| arrives(&mut one, NOW, SCALABLE, (6500, 0)).0);
    // At a delay of 1.2 ms: 2.048 ms, 4.096 ms, of which the product is greater than 4 ms times 1 ms.
    assert_eq!(scores, [LOW_LATENCY, CLASSIC, CLASSIC]);
    // Another flow still passes, and so does this one with a delay of at most 1 ms.
    assert_eq!(arrives(&mut one, NOW, Packet { flow: 7, ..SCALABLE }, (6500, 0)).0, LOW_LATENCY);
    assert_eq!(arrives(&mut one, NOW, SCALABLE, (5250, 0)).0, LOW_LATENCY);
    assert_eq!(one.sanctioned, 2);
    // A longer delay needs less of a score.
    let mut two = lld(protected());
    assert_eq!(arrives(&mut two, NOW, SCALABLE, (12_000, 0)).0, CLASSIC);
    let mut off = lld(Params { queue_protection: false, ..protected() });
    assert_eq!(arrives(&mut off, NOW, SCALABLE, (12_000, 0)).0, LOW_LATENCY);
    // The default of the critical delay is the delay at which all are marked, 1164 us here.
    let mut auto = lld(Params::default());
    assert_eq!([6250, 6300].map(|waiting| arrives(&mut auto, NOW, SCALABLE, (waiting, 0)).0), [0, 1]);
}

#[test]
fn a_redirected_packet_is_classic_and_keeps_its_mark() {
    let mut one = lld(protected());
    let found = [0; 2].map(|_| arrives(&mut one, NOW, SCALABLE, (6500, 0)));
    assert_eq!(found, [(LOW_LATENCY, Verdict::Pass), (CLASSIC, Verdict::Mark)]);
    let mut two = at(0.5, protected());
    let found = [0; 3].map(|_| arrives(&mut two, NOW, Packet { size: 1400, ..SCALABLE }, (12_000, 209_000)));
    assert_eq!(found, [(CLASSIC, Verdict::Pass), (CLASSIC, Verdict::Drop), (CLASSIC, Verdict::Mark)]);
    assert_eq!((two.marked, two.sanctioned), (1, 3));
}

#[test]
fn flows_without_a_bucket_share_one() {
    // A single bucket, and the shared one.
    let mut one = lld(Params { bi_size: 0, attempts: 1, ..protected() });
    let mut lane = |flow| arrives(&mut one, NOW, Packet { flow, ..SCALABLE }, (6500, 0)).0;
    assert_eq!([1, 2, 3].map(&mut lane), [LOW_LATENCY, LOW_LATENCY, CLASSIC]);
    // Once the bucket of the first flow has run out, another flow may have it.
    let later = NOW + Span::ms(3);
    let free = arrives(&mut one, later, Packet { flow: 4, ..SCALABLE }, (6500, 0)).0;
    assert_eq!((free, (signals(&one)[5] * 1e9).round()), (LOW_LATENCY, 2_048_000.0));
}

#[test]
fn only_buckets_of_another_number_make_it_start_anew() {
    let like = |params| lld(params).can_resume(&lld(Params::default()));
    assert!(!like(Params { bi_size: 4, ..Params::default() }));
    assert!(like(Params { queue_protection: false, ..Params::default() }));
    assert!(like(Params { attempts: 3, lg_aging: 16, ..Params::default() }));
}
