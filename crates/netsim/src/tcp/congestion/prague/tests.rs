use super::*;
use scenario::model::{EarlyMarks, Tcp};

/// A connection of a round trip of this many ms, out of slow start, with this window.
fn open(tcp: &Tcp, rtt_ms: u64, cwnd: u32) -> (Prague, State, Profile) {
    let profile = Profile::new(tcp, 1500);
    let (mut prague, mut state) = (Prague::new(&profile), State::new(&profile, u32::MAX));
    state.rtt.measure(&profile, 1000 * rtt_ms, 1, 2);
    state.clock.us = 1_000_000;
    (state.cwnd, state.ssthresh, state.window_limited) = (cwnd, cwnd, true);
    prague.on_open(&mut state, &profile);
    (prague, state, profile)
}

fn tcp() -> Tcp {
    Tcp::preset("prague").unwrap()
}

/// A round trip in which all the window is delivered one by one, and every so many-th segment is marked.
fn round(prague: &mut Prague, state: &mut State, profile: &Profile, every: u32) {
    state.clock.us += state.rtt.smoothed();
    state.nxt = state.una + state.cwnd;
    let end = state.nxt;
    for seq in state.una..end {
        state.una = seq + 1;
        let marked = u32::from(every > 0 && seq % every == 0);
        state.delivered += 1;
        state.delivered_marked += marked;
        if marked > 0 && state.phase == Phase::Open {
            prague.on_phase(state, profile, Phase::Cwr);
            state.phase = Phase::Cwr;
        }
        prague.cong_control(state, profile, &RateSample { delivered: 1, marked, ..RateSample::default() });
    }
    state.phase = Phase::Open;
}

#[test]
fn the_window_grows_by_a_segment_a_round_trip_and_less_on_short_ones() {
    let (mut prague, mut state, profile) = open(&tcp(), 50, 100);
    for _ in 0..10 {
        round(&mut prague, &mut state, &profile, 0);
    }
    assert!((109.0..110.5).contains(&prague.w), "{}", prague.w);
    // 5 ms of 25: a 25th of a segment.
    let (mut prague, mut state, profile) = open(&tcp(), 5, 100);
    (0..5).for_each(|_| round(&mut prague, &mut state, &profile, 0));
    let before = prague.w;
    (0..25).for_each(|_| round(&mut prague, &mut state, &profile, 0));
    assert!((0.95..1.05).contains(&(prague.w - before)), "{}", prague.w - before);
}

#[test]
fn the_first_mark_halves_and_alpha_follows_the_fraction_of_marks() {
    let (mut prague, mut state, profile) = open(&tcp(), 50, 100);
    round(&mut prague, &mut state, &profile, 1000);
    let halved = (0..100).find(|_| {
        round(&mut prague, &mut state, &profile, 100);
        prague.seen_mark
    });
    assert!(halved.is_some() && prague.w < 70.0, "{}", prague.w);
    for _ in 0..200 {
        round(&mut prague, &mut state, &profile, 10);
    }
    assert!((0.08..0.12).contains(&prague.alpha), "{}", prague.alpha);
    // w = (1 - p) 2 / p at a fraction p of marks.
    assert!((12.0..25.0).contains(&prague.w), "{}", prague.w);
}

#[test]
fn the_pace_is_the_window_a_round_trip() {
    let (mut prague, mut state, profile) = open(&tcp(), 50, 100);
    round(&mut prague, &mut state, &profile, 0);
    let expected = 100.0 * f64::from(profile.payload()) / 0.05;
    assert!((state.pace as f64 / expected - 1.0).abs() < 0.02, "{}", state.pace);
}

#[test]
fn a_loss_halves_the_window_and_can_be_undone() {
    let (mut prague, mut state, profile) = open(&tcp(), 50, 100);
    prague.on_phase(&mut state, &profile, Phase::Recovery);
    state.phase = Phase::Recovery;
    assert_eq!(prague.w, 50.0);
    prague.cong_control(&mut state, &profile, &RateSample { delivered: 1, ..RateSample::default() });
    assert_eq!((prague.w, state.cwnd), (50.0, 99), "one segment an ACK, and no growth");
    assert_eq!((prague.undo_cwnd(&mut state), prague.w), (100, 100.0));
    // A small window is undone with its rate.
    let (mut prague, mut state, profile) = open(&tcp(), 10, 3);
    (prague.seen_mark, prague.round) = (true, 10);
    round(&mut prague, &mut state, &profile, 0);
    let rate = prague.rate;
    prague.on_phase(&mut state, &profile, Phase::Recovery);
    assert!(prague.by_rate && prague.rate == rate / 2.0);
    prague.undo_cwnd(&mut state);
    assert_eq!(prague.rate, rate);
}

#[test]
fn packets_of_all_sizes_grow_by_as_many_bytes() {
    let grown = |size| {
        let (mut prague, mut state, _) = open(&tcp(), 50, 100);
        let profile = Profile::new(&tcp(), size);
        round(&mut prague, &mut state, &profile, 0);
        (prague.w - 100.0) * f64::from(size)
    };
    assert!((grown(500) / grown(1500) - 1.0).abs() < 0.02, "{} and {}", grown(500), grown(1500));
}

#[test]
fn marks_within_the_virtual_round_trip_count_once() {
    let (mut prague, mut state, profile) = open(&tcp(), 5, 100);
    prague.round = 10;
    (prague.alpha, prague.seen_mark) = (0.5, true);
    prague.on_phase(&mut state, &profile, Phase::Cwr);
    assert_eq!(prague.w, 75.0);
    state.clock.us += 24_000;
    prague.on_phase(&mut state, &profile, Phase::Cwr);
    assert_eq!(prague.w, 75.0);
    state.clock.us += 1000;
    prague.on_phase(&mut state, &profile, Phase::Cwr);
    assert_eq!(prague.w, 56.25);
}

#[test]
fn a_small_window_moves_by_its_rate_whose_pace_swings() {
    let (mut prague, mut state, profile) = open(&tcp(), 10, 3);
    (prague.seen_mark, prague.round) = (true, 10);
    round(&mut prague, &mut state, &profile, 0);
    assert!(prague.by_rate);
    state.clock.us = prague.alpha_at + 1000;
    prague.set_pace(&mut state, &profile);
    let early = state.pace as f64 / prague.rate;
    state.clock.us = prague.alpha_at + 13_000;
    prague.set_pace(&mut state, &profile);
    let late = state.pace as f64 / prague.rate;
    assert!((early - 1.031_25).abs() < 1e-3 && (late - 0.968_75).abs() < 1e-3, "{early} {late}");
}

#[test]
fn a_round_trip_that_varies_much_is_behind_a_classic_queue() {
    let judged = |swing: u64| {
        let fallback = Tcp { classic_fallback: true, ..tcp() };
        let (mut prague, mut state, profile) = open(&fallback, 20, 40);
        state.rtt.note_least(&profile, &state.clock.clone(), 20_000);
        prague.ssthresh(&state, &profile);
        prague.seen_mark = true;
        for i in 0..40_000 {
            prague.on_rtt(&mut state, &profile, 20_000 + if i % 2 == 0 { 0 } else { swing });
            if i % 40 == 0 {
                prague.update_alpha(&state);
            }
        }
        prague.classic.unwrap().least_alpha()
    };
    assert_eq!((judged(100), judged(10_000)), (0.0, 0.625));
}

#[test]
fn each_early_mark_halves_the_window_or_only_the_first() {
    let w = |early_marks| {
        let (mut prague, mut state, profile) = open(&Tcp { early_marks, ..tcp() }, 50, 100);
        [(); 3].map(|()| {
            round(&mut prague, &mut state, &profile, 60);
            prague.w
        })
    };
    let first = w(EarlyMarks::First);
    assert!((50.0..53.0).contains(&first[0]) && first[2] > 47.0, "{first:?}");
    let each = w(EarlyMarks::Each);
    assert!((50.0..53.0).contains(&each[0]) && (29.0..32.0).contains(&each[1]) && each[2] < 20.0, "{each:?}");
}
