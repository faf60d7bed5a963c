//! RED's unit tests.

use super::*;
use crate::fixture::{Draw, PACKET, PORT, assert_close, numbers, vectors, waiting};
use crate::unit::{Frequency, Span};

/// RED whose average is always the present queue.
fn instant(min_th: f64, max_th: f64) -> Params {
    Params { min_th: Some(min_th), max_th: Some(max_th), w_q: Some(1.0), ..Params::default() }
}

#[test]
fn p_b_follows_the_average() {
    for (name, curve) in vectors("red_pb").as_object().unwrap() {
        let numbers: Vec<f64> =
            name.rsplit(' ').next().unwrap().split('/').map(|x| x.parse().unwrap()).collect();
        let params = Params {
            max_p: Some(numbers[2]),
            gentle: !name.starts_with("RED"),
            ..instant(numbers[0], numbers[1])
        };
        let red = Red::new(&params, &PORT);
        for (avg, p_b) in curve.as_object().unwrap() {
            assert_close(red.p_b(avg.parse().unwrap()), p_b.as_f64().unwrap());
        }
    }
}

#[test]
fn p_a_spaces_drops_by_the_count() {
    for row in vectors("red_count").as_array().unwrap() {
        let number = |key: &str| row[key].as_f64().unwrap();
        let p_a = |spacing: Spacing| spacing.p_a(number("pb"), number("count"));
        assert_close(p_a(Spacing::Uniform), number("pa_nowait"));
        assert_close(p_a(Spacing::Wait), number("pa_wait"));
        assert_close(p_a(Spacing::None), number("pb"));
    }
}

#[test]
fn idle_time_ages_the_average() {
    let vector = vectors("red_idle");
    let w_q = vector["w"].as_f64();
    for (m, expected) in numbers(&vector["m"]).into_iter().zip(numbers(&vector["avg_after"])) {
        let mut red = Red::new(&Params { w_q, ..Params::default() }, &PORT);
        red.avg = vector["avg0"].as_f64().unwrap();
        red.on_idle(Time::ZERO + Span::s(3));
        // A packet takes 400 us; a fraction of a packet does not count.
        let now = Time::ZERO + Span::s(3) + Span::us(400) * (m as u64) + Span::us(399);
        assert_close(red.aged(now), expected);
        red.on_enqueue(now, &PACKET, &waiting(0), &mut Draw(0.5));
        assert_close(red.avg, expected * (1.0 - w_q.unwrap()));
        // The link is busy: time has no further effect.
        assert_close(red.aged(now + Span::s(9)), red.avg);
    }
}

#[test]
fn a_packet_too_large_for_the_buffer_leaves_the_link_idle() {
    let mut red = Red::new(&Params { w_q: Some(0.002), ..Params::default() }, &PORT);
    red.avg = 50.0;
    red.on_idle(Time::ZERO);
    let refused = Backlog { full: true, ..waiting(0) };
    red.on_enqueue(Time::ZERO + Span::ms(4), &PACKET, &refused, &mut Draw(0.5));
    assert_close(red.aged(Time::ZERO + Span::ms(8)), 50.0 * 0.998_f64.powi(10 + 1 + 10));
}

#[test]
fn the_first_packet_above_the_threshold_is_only_counted() {
    let mut red = Red::new(&Params { gentle: false, ..instant(5.0, 15.0) }, &PORT);
    let mut verdict = |q| red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0));
    assert_eq!(verdict(20), Verdict::Pass);
    assert_eq!(verdict(20), Verdict::Drop);
    assert_eq!(verdict(4), Verdict::Pass);
    assert_eq!(verdict(20), Verdict::Pass);
    assert_eq!(verdict(20), Verdict::Drop);
}

#[test]
fn a_queue_of_one_is_never_punished() {
    let mut red = Red::new(&Params { gentle: false, ..instant(0.5, 0.9) }, &PORT);
    let mut verdict = |q| red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0));
    for _ in 0..9 {
        assert_eq!(verdict(1), Verdict::Pass);
    }
    assert_eq!([verdict(2), verdict(2)], [Verdict::Pass, Verdict::Drop]);
}

#[test]
fn drops_are_counted_from_the_last_one_or_the_last_overflow() {
    let params = Params { spacing: Spacing::Wait, max_p: Some(0.5), ..instant(10.0, 30.0) };
    let mut red = Red::new(&params, &PORT);
    // p_b = 0.25: no drop before the 4th, certainly at the 8th; a draw of 0 drops at the first opportunity.
    let mut gap = |queue: &Backlog| {
        red.on_enqueue(Time::ZERO, &PACKET, queue, &mut Draw(0.0));
        (1..).find(|_| red.on_enqueue(Time::ZERO, &PACKET, &waiting(20), &mut Draw(0.0)) != Verdict::Pass)
    };
    // The first packet above min_th is only counted: the gap is one less.
    assert_eq!(gap(&waiting(20)), Some(3));
    assert_eq!(gap(&waiting(20)), Some(3));
    assert_eq!(gap(&Backlog { full: true, ..waiting(20) }), Some(4));
}

#[test]
fn marks_give_way_to_drops_at_mark_p() {
    let udp = Packet { ect: false, ..PACKET };
    for (mark_p, verdicts) in [
        (1.0, [Verdict::Mark, Verdict::Mark, Verdict::Drop]),
        (0.3, [Verdict::Mark, Verdict::Drop, Verdict::Drop]),
    ] {
        let params = Params { ecn: true, mark_p, max_p: Some(0.5), ..instant(10.0, 30.0) };
        // p_b = 0.25, 0.75 and 1.
        for (q, expected) in [20, 45, 60].into_iter().zip(verdicts) {
            let mut red = Red::new(&params, &PORT);
            red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0));
            assert_eq!(red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.0)), expected);
            assert_eq!(red.on_enqueue(Time::ZERO, &udp, &waiting(q), &mut Draw(0.0)), Verdict::Drop);
        }
    }
}

#[test]
fn byte_mode_counts_mean_packets_and_spares_small_ones() {
    let params = Params { bytes: true, spacing: Spacing::None, max_p: Some(0.5), ..instant(10.0, 30.0) };
    let mut red = Red::new(&params, &PORT);
    let queue = Backlog { packets: 40, bytes: 10_000, full: false };
    let mut verdict = |size, u| red.on_enqueue(Time::ZERO, &Packet::new(size, false), &queue, &mut Draw(u));
    assert_eq!(verdict(500, 0.0), Verdict::Pass);
    // 20 mean packets: p_b = 0.25.
    assert_eq!([verdict(500, 0.249), verdict(500, 0.251)], [Verdict::Drop, Verdict::Pass]);
    assert_eq!([verdict(50, 0.0249), verdict(50, 0.0251)], [Verdict::Drop, Verdict::Pass]);
    assert_close(red.avg, 20.0);
}

#[test]
fn without_hard_drops_a_step_marks_as_dctcps() {
    let step = Params { gentle: false, ecn: true, ..instant(20.0, 20.0) };
    for (hard_drop, above) in [(true, Verdict::Drop), (false, Verdict::Mark)] {
        let mut red = Red::new(&Params { hard_drop, ..step.clone() }, &PORT);
        let mut verdict = |q| red.on_enqueue(Time::ZERO, &PACKET, &waiting(q), &mut Draw(0.999));
        // With hard drops, the first packet above min_th is spared, as in ns-2.
        let first = if hard_drop { Verdict::Pass } else { above };
        assert_eq!(
            [19, 20, 20, 25, 19].map(&mut verdict),
            [Verdict::Pass, first, above, above, Verdict::Pass]
        );
    }
    let soft = Params { hard_drop: false, ..step };
    let mut red = Red::new(&soft, &PORT);
    let udp = Packet { ect: false, ..PACKET };
    let mut verdict = || red.on_enqueue(Time::ZERO, &udp, &waiting(25), &mut Draw(0.999));
    assert_eq!([verdict(), verdict()], [Verdict::Drop; 2]);
    let mut red = Red::new(&Params { nodrop: true, ..soft.clone() }, &PORT);
    assert_eq!(red.on_enqueue(Time::ZERO, &udp, &waiting(25), &mut Draw(0.0)), Verdict::Pass);
    assert_eq!(red.on_enqueue(Time::ZERO, &PACKET, &waiting(25), &mut Draw(0.0)), Verdict::Mark);
    let mut red = Red::new(&Params { ecn: false, ..soft }, &PORT);
    let mut verdict = || red.on_enqueue(Time::ZERO, &PACKET, &waiting(25), &mut Draw(0.999));
    assert_eq!([verdict(), verdict()], [Verdict::Drop; 2]);
}

#[test]
fn count_and_size_may_be_in_packets_while_the_queue_is_in_bytes_and_vice_versa() {
    let params = Params { spacing: Spacing::None, max_p: Some(0.5), ..instant(10.0, 30.0) };
    // 20 packets of 500 bytes, or 40 of 250: p_b = 0.25 or, by packets, more.
    let queue = Backlog { packets: 40, bytes: 10_000, full: false };
    for (bytes, by_size, avg, p) in [
        (true, None, 20.0, 0.025),
        (true, Some(false), 20.0, 0.25),
        (false, Some(true), 40.0, 0.0667),
        (false, None, 40.0, 0.667),
    ] {
        let mut red = Red::new(&Params { bytes, by_size, ..params.clone() }, &PORT);
        let mut verdict = |u| red.on_enqueue(Time::ZERO, &Packet::new(50, false), &queue, &mut Draw(u));
        // In gentle mode, p_b(40) = 0.5 + 0.5 (40 - 30) / 30 = 0.667.
        assert_eq!(verdict(0.0), Verdict::Pass);
        assert_eq!([verdict(0.99 * p), verdict(1.01 * p)], [Verdict::Drop, Verdict::Pass]);
        assert_close(red.avg, avg);
    }
}

#[test]
fn idle_time_ages_by_the_rate_that_the_link_is_taken_to_have() {
    let params = Params { w_q: Some(0.002), pkrate: Some(Frequency(150.0)), ..Params::default() };
    let mut red = Red::new(&params, &PORT);
    red.avg = 50.0;
    red.on_idle(Time::ZERO);
    assert_close(red.aged(Time::ZERO + Span::ms(101)), 50.0 * 0.998_f64.powi(15));
}

#[test]
fn an_average_that_is_not_to_age_stays_while_the_link_rests() {
    for (preset, params) in [(None, Params::default()), (Some("linux"), Red::preset("linux").unwrap())] {
        let params = Params { ages: false, w_q: Some(0.125), ..params };
        let mut red = Red::new(&params, &PORT);
        for _ in 0..9 {
            red.on_enqueue(Time::ZERO, &PACKET, &waiting(16), &mut Draw(0.5));
        }
        let avg = red.avg;
        assert!(avg > 8.0, "{preset:?}: {avg}");
        red.on_idle(Time::ZERO);
        red.on_enqueue(Time::ZERO + Span::s(9), &PACKET, &waiting(0), &mut Draw(0.5));
        // Linux counts whole bytes.
        assert!((red.avg - 0.875 * avg).abs() < 1.0 / 500.0, "{preset:?}: {} after {avg}", red.avg);
    }
}

/// `Present` is `Weighted` without its arithmetic: a weight of 1 gives the same average, and so the same verdicts.
#[test]
fn a_red_that_does_not_average_decides_as_one_with_a_weight_of_one() {
    for (spacing, bytes) in [(Spacing::None, false), (Spacing::Wait, false), (Spacing::Uniform, true)] {
        let params = Params { spacing, bytes, max_p: Some(0.5), ..instant(10.0, 60.0) };
        let mut present = Red::new(&params, &PORT);
        let mut weighted = Red { estimate: Estimate::Weighted, ..present.clone() };
        assert_eq!(present.estimate, Estimate::Present);
        let (mut now, mut drops) = (Time::ZERO, 0);
        for i in 0..20_000_u64 {
            now += Span::us(i * 7919 % 2003);
            // Queues from empty to full, idle times of many packets and of none, and refusals at an idle link.
            let packets = (i * 104_729 % 211) as u32;
            let queue = Backlog { full: packets > 200 || i % 97 == 0, ..waiting(packets % 130) };
            let draw = (i * 6151 % 1009) as f64 / 1009.0;
            let verdicts = [&mut present, &mut weighted]
                .map(|red| red.on_enqueue(now, &PACKET, &queue, &mut Draw(draw)));
            assert_eq!(verdicts[0], verdicts[1], "arrival {i}");
            drops += u32::from(verdicts[0] == Verdict::Drop);
            if i % 5 == 0 {
                present.on_idle(now);
                weighted.on_idle(now);
            }
            let later = now + Span::ms(i % 3);
            assert_eq!(present.aged(later).to_bits(), weighted.aged(later).to_bits(), "arrival {i}");
        }
        assert!(drops > 1000, "{drops}");
    }
}
