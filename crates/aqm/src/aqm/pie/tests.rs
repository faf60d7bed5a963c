//! PIE's unit tests.

use super::*;
use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};

/// PIE with timestamps and with the burst allowance spent.
fn settled(params: Params) -> Pie {
    let params = Params { delay: Delay::Timestamps, ..params };
    Pie { allowance: Span::ZERO, ..Pie::new(&params, &PORT) }
}

/// A packet leaves after this many ms, and an update follows.
fn update(pie: &mut Pie, ms: u64) {
    pie.on_dequeue(Time::ZERO, &PACKET, &waiting(9), Span::ms(ms), &mut Draw(0.5));
    pie.on_period(Time::ZERO, &waiting(9));
}

fn arrive(pie: &mut Pie, packets: u32, u: f64) -> Verdict {
    pie.on_enqueue(Time::ZERO, &PACKET, &waiting(packets), &mut Draw(u))
}

#[test]
fn the_gains_grow_with_p() {
    for (p, part) in [
        (0.0, 2048.0),
        (0.000_002, 512.0),
        (0.000_02, 128.0),
        (0.000_2, 32.0),
        (0.002, 8.0),
        (0.02, 2.0),
        (0.2, 1.0),
    ] {
        let mut pie = settled(Params::default());
        pie.delay = Span::ms(20);
        pie.p = p;
        update(&mut pie, 23);
        // 0.125 0.008 + 1.25 0.003
        assert_close(pie.p, p + 0.004_75 / part);
    }
}

#[test]
fn from_a_tenth_on_p_grows_by_a_fiftieth_at_most_and_another_above_high() {
    let grown = |p, cap, high, ms| {
        let mut pie = settled(Params { cap, high, ..Params::default() });
        pie.p = p;
        update(&mut pie, ms);
        pie.p - p
    };
    assert_close(grown(0.3, true, None, 115), 0.02);
    // 0.125 0.1 + 1.25 0.115
    assert_close(grown(0.3, false, None, 115), 0.15625);
    assert_close(grown(0.05, true, None, 115), 0.15625 / 2.0);
    let high = Some(Span::ms(250));
    assert_close(grown(0.3, true, high, 251), 0.04);
    assert_close(grown(0.3, true, high, 250), 0.02);
}

#[test]
fn p_decays_in_periods_without_delay() {
    let mut pie = settled(Params::default());
    pie.p = 0.5;
    update(&mut pie, 0);
    let after_one = (0.5 - 0.125 * 0.015) * 0.98;
    assert_close(pie.p, after_one);
    update(&mut pie, 1);
    assert_close(pie.p, after_one - 0.125 * 0.014 + 1.25 * 0.001);
    let mut docsis = settled(Params { form: Form::Rfc8033, ..Pie::preset("docsis").unwrap() });
    docsis.p = 0.5;
    docsis.delay = Span::ms(4);
    update(&mut docsis, 4);
    assert_close(docsis.p, (0.5 - 0.25 * 0.006) * 0.98);
}

#[test]
fn short_delays_short_queues_and_bursts_go_unpunished() {
    let with = |p: f64, ms, allowance| Pie {
        p,
        delay: Span::ms(ms),
        allowance: Span::ms(allowance),
        ..settled(Params::default())
    };
    assert_eq!(arrive(&mut with(0.19, 8, 0), 9, 0.18), Verdict::Drop);
    assert_eq!(arrive(&mut with(0.19, 8, 0), 9, 0.2), Verdict::Pass);
    assert_eq!(arrive(&mut with(0.19, 7, 0), 9, 0.0), Verdict::Pass);
    assert_eq!(arrive(&mut with(0.2, 7, 0), 9, 0.0), Verdict::Drop);
    assert_eq!(arrive(&mut with(0.9, 20, 0), 2, 0.0), Verdict::Pass);
    assert_eq!(arrive(&mut with(0.9, 20, 1), 9, 0.0), Verdict::Pass);
}

#[test]
fn the_allowance_runs_out_and_is_renewed_when_congestion_is_over() {
    let mut pie = Pie::new(&Params { delay: Delay::Timestamps, ..Params::default() }, &PORT);
    for left in [135, 120, 105, 90, 75, 60, 45, 30, 15, 0, 0] {
        update(&mut pie, 20);
        assert_eq!(pie.allowance, Span::ms(left));
    }
    assert!(pie.p > 0.0);
    update(&mut pie, 7);
    update(&mut pie, 7);
    assert_eq!((pie.p, pie.allowance), (0.0, Span::ms(150)));
}

#[test]
fn the_rate_of_departures_is_measured_by_the_threshold_and_smoothed() {
    let params = Params {
        delay: Delay::Departures,
        dq_threshold: Bytes(1000),
        dq_weight: Some(0.25),
        ..Params::default()
    };
    let mut pie = Pie::new(&params, &PORT);
    let mut leave = |ms, packets| {
        pie.on_dequeue(Time::ZERO + Span::ms(ms), &PACKET, &waiting(packets), Span::ZERO, &mut Draw(0.5))
    };
    // A measurement begins at 10 ms: two packets in 4 ms; the next begins at once: two in 8 ms.
    for (ms, packets) in [(5, 1), (10, 5), (12, 4), (14, 3), (18, 2), (22, 1)] {
        leave(ms, packets);
    }
    assert_close(pie.departures.time, 0.004 + 0.25 * 0.004);
    assert_eq!(pie.departures.measuring, None);
    assert_eq!(pie.measured(3000), Span::ms(15));
}

#[test]
fn the_delay_follows_from_the_links_rate() {
    let pie = Pie::new(&Params { delay: Delay::Rate, ..Params::default() }, &PORT);
    assert_eq!(pie.measured(12_500), Span::ms(10));
}

#[test]
fn derandomised_drops_keep_their_distance() {
    let params = Params { derandomise: true, ..Params::default() };
    let mut pie = Pie { p: 0.25, delay: Span::ms(20), ..settled(params) };
    // 0.25, 0.5, 0.75 are below 0.85; 1.0 is not.
    let verdicts = [0.0; 4].map(|u| arrive(&mut pie, 9, u));
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Pass, Verdict::Drop]);
    // The 34th quarter makes 8.5.
    let verdicts = [0.9; 34].map(|u| arrive(&mut pie, 9, u));
    assert!(verdicts[..33].iter().all(|verdict| *verdict == Verdict::Pass));
    assert_eq!(verdicts[33], Verdict::Drop);
}

#[test]
fn it_marks_below_the_threshold_and_drops_from_there() {
    let marking = |p, packet: Packet| {
        let params = Params { ecn: true, ..Params::default() };
        let mut pie = Pie { p, delay: Span::ms(20), ..settled(params) };
        pie.on_enqueue(Time::ZERO, &packet, &waiting(9), &mut Draw(0.0))
    };
    assert_eq!(marking(0.099, PACKET), Verdict::Mark);
    assert_eq!(marking(0.099, Packet { ect: false, ..PACKET }), Verdict::Drop);
    assert_eq!(marking(0.1, PACKET), Verdict::Drop);
}

#[test]
fn small_packets_are_spared_by_size() {
    let params = Params { by_size: true, ..Params::default() };
    let mut pie = Pie { p: 0.5, delay: Span::ms(20), ..settled(params) };
    let mut verdict = |u| pie.on_enqueue(Time::ZERO, &Packet::new(50, false), &waiting(9), &mut Draw(u));
    assert_eq!((verdict(0.049), verdict(0.051)), (Verdict::Drop, Verdict::Pass));
    // Large ones are not dropped more often than by p.
    let mut verdict = |u| pie.on_enqueue(Time::ZERO, &Packet::new(1500, false), &waiting(9), &mut Draw(u));
    assert_eq!((verdict(0.499), verdict(0.501)), (Verdict::Drop, Verdict::Pass));
}

#[test]
fn it_sleeps_until_a_third_of_the_buffer_has_filled_and_again_when_calm() {
    let params = Params { on_off: true, max_burst: Span::ZERO, ..Params::default() };
    let mut pie = settled(params);
    update(&mut pie, 100);
    assert_eq!(pie.p, 0.0);
    arrive(&mut pie, 65, 0.0);
    assert!(!pie.active);
    // The 67th of 200.
    arrive(&mut pie, 66, 0.0);
    assert!(pie.active);
    update(&mut pie, 100);
    assert!(pie.active && pie.p > 0.0);
    for _ in 0..3 {
        update(&mut pie, 0);
    }
    assert!(!pie.active);
}

#[test]
fn it_stays_awake_until_it_knows_the_departure_rate() {
    let mut pie = Pie::new(&Pie::preset("rfc8033-b").unwrap(), &PORT);
    arrive(&mut pie, 100, 0.0);
    assert!(pie.active);
    // Two updates in which no 16 KiB have left, as at 2 Mbit/s.
    for _ in 0..2 {
        pie.on_period(Time::ZERO, &waiting(100));
        assert!(pie.active && pie.allowance == pie.params.max_burst);
    }
    for ms in [40, 80] {
        for _ in 0..40 {
            pie.on_dequeue(Time::ZERO + Span::ms(ms), &PACKET, &waiting(100), Span::ZERO, &mut Draw(0.5));
        }
        pie.on_period(Time::ZERO, &waiting(100));
    }
    assert!(pie.active && pie.p > 0.0);
    for _ in 0..2 {
        pie.p = 0.0;
        pie.on_period(Time::ZERO, &waiting(0));
    }
    assert!(!pie.active);
}

#[test]
fn a_third_of_a_buffer_is_counted_in_its_unit() {
    let third = |limit, packets, bytes| {
        let port = crate::Port { limit, ..PORT };
        Pie::new(&Params::default(), &port).is_third(packets, bytes)
    };
    assert!(third(Limit::Packets(300), 100, 10_000));
    assert!(!third(Limit::Packets(300), 99, 148_500));
    assert!(third(Limit::Bytes(30_000), 7, 10_000));
    assert!(!third(Limit::Bytes(30_000), 100, 9999));
}

#[test]
fn tc_counts_sixteenths_of_a_hertz_and_bare_numbers_are_refused() {
    use crate::params::{Params as _, Value};
    let linux = Pie::preset("linux").unwrap();
    assert_eq!((linux.alpha, linux.beta), (Frequency(0.125), Frequency(1.25)));
    let mut params = Params::default();
    for value in [Value::Integer(2), Value::Float(2.0)] {
        assert!(params.set("beta", &value).is_err(), "{value}");
    }
    params.set("beta", &Value::Text("20 Hz".into())).unwrap();
    assert!(Pie::check(&params).unwrap_err().to_string().contains("sixteenths"));
    for (preset, _) in Pie::PRESETS {
        assert!(Pie::check(&Pie::preset(preset).unwrap()).is_ok(), "{preset}");
    }
}

#[test]
fn docsis_protects_from_the_first_drop_after_a_third_of_the_buffer() {
    let mut pie = Pie::new(&Pie::preset("docsis").unwrap(), &PORT);
    (pie.p, pie.delay, pie.sum) = (5.0, Span::ms(20), 2.0);
    assert_eq!(arrive(&mut pie, 66, 0.0), Verdict::Pass);
    // 5 500 / 1024 is bounded by 0.85.
    assert_eq!(arrive(&mut pie, 67, 0.851), Verdict::Pass);
    assert_eq!(arrive(&mut pie, 9, 0.849), Verdict::Drop);
    assert_eq!((pie.burst, pie.allowance), (Burst::Protected, Span::ms(142)));
    assert_eq!(arrive(&mut pie, 67, 0.0), Verdict::Pass);
    pie.on_period(Time::ZERO, &waiting(67));
    assert_eq!((pie.p, pie.allowance), (0.0, Span::ms(126)));
}

#[test]
fn docsis_forgets_a_burst_after_a_second_of_calm() {
    let mut pie = Pie::new(&Pie::preset("docsis").unwrap(), &PORT);
    pie.burst = Burst::Protected;
    // One update to leave protection, and more than 1 s / 16 ms = 62 of calm.
    for _ in 0..63 {
        pie.on_period(Time::ZERO, &waiting(0));
        assert_ne!(pie.burst, Burst::None);
    }
    pie.on_period(Time::ZERO, &waiting(0));
    assert_eq!(pie.burst, Burst::None);
}

#[test]
fn docsis_lets_p_pass_one_in_larger_steps_up_to_its_bound() {
    let mut pie = Pie::new(&Pie::preset("docsis").unwrap(), &PORT);
    pie.delay = Span::ms(10);
    for (p, next) in [
        // -0.25 0.001 - 2.5 0.001, times 2, 8 and 32
        (0.5, 0.4945),
        (2.0, 1.978),
        (12.0, 11.912),
    ] {
        (pie.p, pie.delay) = (p, Span::ms(10));
        pie.on_period(Time::ZERO, &Backlog { packets: 9, bytes: 11_250, full: false });
        assert_close(pie.p, next);
    }
    pie.p = 13.59;
    pie.on_period(Time::ZERO, &full());
    assert_close(pie.p, 0.85 * 16.0);
}

#[test]
fn linux_does_not_rest_before_a_calm_update_has_forgotten_the_last_departure() {
    let mut pie = Pie::new(&Pie::preset("linux").unwrap(), &PORT);
    assert!(pie.rests(&waiting(0)));
    // It would age the allowance by the whole pause.
    pie.on_dequeue(Time::from_nanos(1), &PACKET, &waiting(0), Span::ZERO, &mut Draw(0.5));
    assert!(!pie.rests(&waiting(0)));
    pie.on_period(Time::from_nanos(2), &waiting(0));
    assert!(pie.rests(&waiting(0)));
}
