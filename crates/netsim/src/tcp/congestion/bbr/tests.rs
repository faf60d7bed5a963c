use super::*;
use crate::tcp::rack::clock::Clock;
use aqm::unit::Time;
use scenario::model::Tcp;
use std::collections::BTreeSet;

/// A thousand segments a second, rounded up.
const BANDWIDTH: u64 = (1 << BANDWIDTH_BITS) / 1000 + 1;

fn open() -> (Bbr, State, Profile) {
    let profile = Profile::new(&Tcp::preset("bbr").unwrap(), 1500);
    let mut state = State::new(&profile, u32::MAX);
    state.rtt.note_least(&profile, &state.clock, 100_000);
    state.rtt.measure(&profile, 100_000, 1, 1);
    let mut bbr = Bbr::default();
    bbr.on_open(&mut state, &profile);
    (bbr, state, profile)
}

/// A round trip in which a hundred segments were delivered in this many ms.
fn round(bbr: &mut Bbr, state: &mut State, profile: &Profile, ms: u64) {
    let sample = RateSample {
        rate: Some((100, ms * 1000)),
        prior_delivered: state.delivered,
        rtt: Some(100_000),
        delivered: 100,
        ..RateSample::default()
    };
    state.delivered += 100;
    let now = Time::ZERO + Span::us(state.clock.us - 1_000_000) + Span::ms(100);
    state.clock = Clock::at(now, profile.tcp.tick);
    state.delivered_at = state.clock.us;
    bbr.cong_control(state, profile, &sample);
}

#[test]
fn the_pace_is_a_hundredth_below_the_bandwidth() {
    let (_, state, profile) = open();
    let near = |pace: u64, expected: f64| (pace as f64 - expected).abs() < 1e-3 * expected;
    let payload = f64::from(profile.payload());
    assert!(near(pace(&profile, BANDWIDTH, ONE), 990.0 * payload));
    assert!(near(pace(&profile, BANDWIDTH, CYCLE[0]), 1.25 * 990.0 * payload));
    // At first, ten segments in the round trip of the handshake, times 2.885.
    assert!(near(state.pace, 2.887 * 99.0 * payload), "{}", state.pace);
}

#[test]
fn the_window_is_two_bdps_and_three_bursts() {
    let (mut bbr, mut state, profile) = open();
    bbr.min_rtt = 100_000;
    assert_eq!((bbr.bdp(BANDWIDTH, ONE), bbr.bdp(BANDWIDTH, CWND_GAIN)), (101, 201));
    bbr.min_rtt = u64::MAX;
    assert_eq!(bbr.bdp(BANDWIDTH, ONE), INITIAL);
    state.pace = SINGLE - 1;
    assert_eq!(bbr.with_bursts(&state, &profile, 100), 104, "three more, and even");
    state.pace = SINGLE;
    assert_eq!(bbr.with_bursts(&state, &profile, 100), 106);
    state.pace = 40 << BURST_BITS << 11;
    assert_eq!(burst(&state, &profile), 65_215 / profile.payload(), "64 KiB but for headers");
    bbr.mode = Mode::ProbeBw;
    state.pace = SINGLE;
    assert_eq!(bbr.with_bursts(&state, &profile, 100), 108, "to probe with");
}

#[test]
fn startup_ends_when_three_round_trips_bring_no_quarter_more() {
    let (mut bbr, mut state, profile) = open();
    for ms in [100, 50, 25, 13] {
        round(&mut bbr, &mut state, &profile, ms);
        assert_eq!(bbr.mode, Mode::Startup);
    }
    let pace = state.pace;
    round(&mut bbr, &mut state, &profile, 12);
    round(&mut bbr, &mut state, &profile, 12);
    assert!(!bbr.full && state.pace >= pace);
    round(&mut bbr, &mut state, &profile, 12);
    // Nothing is outstanding, so what there is drained at once.
    assert!(bbr.full && bbr.mode == Mode::ProbeBw && state.pace < pace);
}

#[test]
fn the_bandwidth_is_the_greatest_of_ten_round_trips() {
    let (mut bbr, mut state, profile) = open();
    let rate = |ms: u64| (100 << BANDWIDTH_BITS) / (ms * 1000);
    round(&mut bbr, &mut state, &profile, 50);
    for _ in 0..10 {
        round(&mut bbr, &mut state, &profile, 100);
        assert_eq!(bbr.bandwidth(), rate(50));
    }
    round(&mut bbr, &mut state, &profile, 100);
    assert_eq!(bbr.bandwidth(), rate(100));
}

#[test]
fn the_cycle_begins_anywhere_but_where_it_drains() {
    let (mut bbr, mut state, profile) = open();
    let mut begins = BTreeSet::new();
    for us in 0..100 {
        state.clock = Clock::at(Time::ZERO + Span::us(us), profile.tcp.tick);
        bbr.enter_probe_bw(&state);
        begins.insert(bbr.cycle);
    }
    assert_eq!(begins.into_iter().collect::<Vec<_>>(), [0, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_recovery_conserves_for_a_round_trip_and_then_the_window_is_back() {
    let (mut bbr, mut state, profile) = open();
    state.cwnd = 50;
    assert_eq!(bbr.ssthresh(&state, &profile), INFINITE);
    state.phase = Phase::Recovery;
    let sample = RateSample { delivered: 3, lost: 2, ..RateSample::default() };
    for cwnd in [50, 2] {
        state.cwnd = cwnd;
        assert_eq!(bbr.conserve(&state, &sample), (3, true), "what was delivered may be sent");
    }
    bbr.conservation = false;
    state.cwnd = 20;
    assert_eq!(bbr.conserve(&state, &sample), (18, false), "what was lost is missing");
    state.phase = Phase::Open;
    let sample = RateSample { delivered: 3, ..RateSample::default() };
    assert_eq!(bbr.conserve(&state, &sample), (50, false));
}
