use super::*;
use crate::tcp::congestion::bbr3::bounds::{loses_too_much, safe_flight};
use crate::tcp::rack::board::Sent;
use crate::tcp::rack::clock::Clock;
use aqm::unit::Time;
use proptest::prelude::*;
use scenario::model::Tcp;

/// A thousand segments a second.
const RATE: u64 = (1_u64 << BANDWIDTH_BITS).div_ceil(1000);
const ROUND: Span = Span::ms(100);

/// A sender with a round trip of 100 ms, in which a hundred segments are in flight.
struct Path {
    bbr: Bbr3,
    state: State,
    profile: Profile,
    now: Time,
    rtt: u64,
}

impl Path {
    fn new(preset: &str) -> Self {
        Self::with(&Tcp::preset(preset).unwrap())
    }

    fn with(tcp: &Tcp) -> Self {
        let profile = Profile::new(tcp, 1500);
        let mut state = State::new(&profile, u32::MAX);
        state.rtt.note_least(&profile, &state.clock, 100_000);
        state.rtt.measure(&profile, 100_000, 1, 1);
        // The SYN has been delivered.
        (state.nxt, state.una) = (1, 1);
        state.board = crate::tcp::rack::board::Board::new(1);
        let mut bbr = Bbr3::new(&profile);
        bbr.on_open(&mut state, &profile);
        let mut path = Self { bbr, state, profile, now: Time::ZERO, rtt: 100_000 };
        path.send(100);
        path
    }

    fn send(&mut self, segments: u32) {
        for _ in 0..segments {
            let seq = self.state.nxt;
            self.bbr.on_send(&self.state, seq);
            let (at, delivered) = (self.state.clock.us, self.state.delivered);
            self.state.board.push(Sent {
                at,
                delivered_at: at,
                first_at: at,
                delivered,
                flags: 0,
                limited: false,
            });
            self.state.nxt += 1;
        }
    }

    /// A round trip, a microsecond less than the last, at whose end all in flight is acknowledged, as if delivered in `ms`; then as many segments are sent as
    /// there were.
    fn round(&mut self, ms: u64) {
        self.rtt -= 1;
        self.round_with(ms, RateSample::default());
    }

    fn round_with(&mut self, ms: u64, sample: RateSample) {
        self.now += ROUND;
        self.state.clock = Clock::at(self.now, self.profile.tcp.tick);
        let segments = self.state.board.len();
        let sample = RateSample {
            rate: Some((segments, ms * 1000)),
            prior_delivered: self.state.delivered,
            prior_at: 1,
            latest: self.state.una,
            rtt: Some(self.rtt),
            delivered: segments,
            prior_in_flight: segments,
            ..sample
        };
        self.state.delivered += segments;
        self.state.delivered_marked += sample.marked;
        self.state.lost += sample.lost;
        self.state.delivered_at = self.state.clock.us;
        while self.state.board.pop().is_some() {}
        self.state.una = self.state.nxt;
        self.bbr.cong_control(&mut self.state, &self.profile, &sample);
        self.send(segments);
    }

    /// The same until this phase begins.
    fn until(&mut self, mode: Mode) {
        for _ in 0..200 {
            if self.bbr.mode == mode {
                return;
            }
            self.round(100);
        }
        panic!("{:?}, never {mode:?}", self.bbr.mode);
    }
}

#[test]
fn startup_ends_when_three_round_trips_bring_no_quarter_more() {
    let mut path = Path::new("bbr3");
    for ms in [100, 50, 25, 13] {
        path.round(ms);
        assert_eq!(path.bbr.mode, Mode::Startup);
    }
    path.round(12);
    path.round(12);
    assert!(!path.bbr.filling.full);
    path.round(12);
    // Nothing is outstanding at this moment, so what there was is drained at once.
    assert!(path.bbr.filling.full && path.bbr.mode.is_probe_bw());
}

#[test]
fn the_pace_is_a_hundredth_below_the_bandwidth_times_the_gain() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Up);
    let payload = f64::from(path.profile.payload());
    path.round(100);
    let gain = path.state.pace as f64 / (990.0 * payload);
    assert!((gain - 1.25).abs() < 1e-3, "{gain}");
    path.until(Mode::Down);
    let gain = path.state.pace as f64 / (990.0 * payload);
    assert!((gain - 0.91).abs() < 4e-3, "{gain}");
}

#[test]
fn the_phases_follow_each_other_and_a_probe_comes_after_two_or_three_seconds() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Cruise);
    for _ in 0..3 {
        let began = path.now;
        path.until(Mode::Refill);
        let waited = (path.now - began).secs();
        assert!((1.8..=3.1).contains(&waited), "{waited}");
        path.round(100);
        assert_eq!(path.bbr.mode, Mode::Up);
        // Three round trips without more bandwidth.
        (0..3).for_each(|_| path.round(100));
        assert_eq!(path.bbr.mode, Mode::Down);
        path.until(Mode::Cruise);
    }
}

#[test]
fn a_small_window_probes_as_often_as_reno() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Cruise);
    // Ten segments fill the path.
    path.bbr.min_rtt.us = 10_000;
    let mut rounds = 0;
    path.bbr.cycle.rounds = 0;
    while path.bbr.mode != Mode::Refill {
        path.round(100);
        rounds += 1;
    }
    assert_eq!(rounds, path.bbr.inflight(&path.state, &path.profile, RATE), "round trips");
}

#[test]
fn a_flight_loses_too_much_above_two_percent() {
    assert!(!loses_too_much(0, 0) && !loses_too_much(0, 100));
    // 5 / 256 of 103 are 2.01.
    assert!(!loses_too_much(2, 103) && loses_too_much(2, 102) && loses_too_much(3, 103));
    proptest!(|(segments in 1..100_000_u32, lost in 1..1000_u32)| {
        prop_assume!(lost <= segments && loses_too_much(lost, segments));
        let safe = safe_flight(segments, lost);
        // All but the last segment, and no more than one beyond what makes up 5 / 256.
        prop_assert!(safe + 1 >= segments && safe <= segments + 1, "{safe}");
    });
}

#[test]
fn a_probe_that_loses_too_much_sets_the_upper_bound_and_ends() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Up);
    assert_eq!(path.bbr.bounds.inflight_hi, u32::MAX);
    let last = path.state.nxt - 4;
    for lost in 1..=3 {
        path.bbr.on_lost(&path.state, &path.profile, last + lost, lost);
        // 2 of a hundred are more than 5 / 256.
        let over = lost >= 2;
        assert_eq!(path.bbr.mode == Mode::Down, over, "{lost}");
    }
    let flight = path.bbr.flights.of(last + 2).unwrap().segments;
    assert!(path.bbr.bounds.inflight_hi.abs_diff(flight) <= 1, "{:?}", path.bbr.bounds);
    // CRUISE leaves 15 % of it to others.
    path.bbr.mode = Mode::Cruise;
    path.round(100);
    let headroom = path.bbr.bounds.inflight_hi * 38 / 256;
    assert_eq!(path.state.cwnd, path.bbr.bounds.inflight_hi - headroom);
}

#[test]
fn a_loss_of_what_the_application_limits_leaves_the_bound() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Up);
    path.bbr.back_off(&path.state, &path.profile, 50, true);
    assert_eq!((path.bbr.bounds.inflight_hi, path.bbr.mode), (u32::MAX, Mode::Down));
}

#[test]
fn a_loss_outside_a_probe_leaves_seven_tenths_or_what_was_delivered() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Cruise);
    path.round(100);
    let cwnd = path.state.cwnd;
    assert!(cwnd > 200, "{cwnd}");
    let before = path.bbr.bandwidth();
    path.round_with(100, RateSample { lost: 1, ..RateSample::default() });
    // A hundred segments were delivered, and that in a tenth of a second, so the bandwidth stays.
    assert_eq!(path.bbr.bounds.inflight_lo, (u64::from(cwnd) * 180 / 256) as u32);
    assert_eq!(path.bbr.bandwidth(), before);
    // Delivered twice as slowly, it comes down by three tenths; then by half at most.
    path.round(200);
    path.round_with(200, RateSample { lost: 1, ..RateSample::default() });
    assert_eq!(path.bbr.bandwidth(), before * 180 / 256);
    path.round_with(200, RateSample { lost: 1, ..RateSample::default() });
    path.round_with(200, RateSample { lost: 1, ..RateSample::default() });
    assert_eq!(path.bbr.bandwidth(), (100_u64 << BANDWIDTH_BITS).div_ceil(200_000));
    assert_eq!(path.bbr.bounds.inflight_lo, 100, "what was delivered");
    // The next probe forgets it.
    path.until(Mode::Refill);
    assert_eq!((path.bbr.bounds.inflight_lo, path.bbr.bounds.bw_lo), (u32::MAX, u64::MAX));
}

#[test]
fn a_recovery_that_was_wrong_restores_the_bounds() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Cruise);
    let cwnd = path.state.cwnd;
    path.bbr.ssthresh(&path.state, &path.profile);
    let before = path.bbr.bounds.clone();
    path.round_with(100, RateSample { lost: 1, ..RateSample::default() });
    assert!(path.bbr.bounds.inflight_lo < before.inflight_lo);
    assert_eq!(path.bbr.undo_cwnd(&mut path.state), cwnd);
    assert_eq!(path.bbr.bounds.inflight_lo, before.inflight_lo);
}

#[test]
fn marks_count_with_ecn_on_short_paths_or_where_any_do() {
    let marked = |tcp: &Tcp| {
        let mut path = Path::with(tcp);
        path.until(Mode::Cruise);
        path.round(100);
        let cwnd = path.state.cwnd;
        path.round_with(100, RateSample { echo: true, marked: 10, ..RateSample::default() });
        (path.bbr.bounds.inflight_lo, cwnd, path.bbr.marks.kept(256))
    };
    let [none, any] = ["bbr3", "bbr3-l4s"].map(|preset| Tcp::preset(preset).unwrap());
    assert_eq!(marked(&none).0, u32::MAX);
    // Unlike a loss, marks may take it below what was delivered.
    let (low, cwnd, kept) = marked(&any);
    assert_eq!(low, (u64::from(cwnd) * u64::from(kept) / 256) as u32);
    assert!((180..256).contains(&kept), "{kept}");
    assert_eq!(marked(&Tcp { ecn: true, ..none }).0, u32::MAX, "100 ms are too long");
}

#[test]
fn many_marks_end_startup_after_two_round_trips() {
    let mut path = Path::new("bbr3-l4s");
    for ms in [100, 50] {
        path.round_with(ms, RateSample { echo: true, marked: 60, ..RateSample::default() });
    }
    assert!(path.bbr.filling.full && path.bbr.bounds.inflight_hi < u32::MAX);
    let mut other = Path::new("bbr3-l4s");
    for ms in [100, 50] {
        other.round_with(ms, RateSample { echo: true, marked: 40, ..RateSample::default() });
    }
    assert!(!other.bbr.filling.full);
}

#[test]
fn when_marks_have_ended_a_probe_comes_at_once_and_begins_with_much() {
    let mut path = Path::new("bbr3-l4s");
    path.until(Mode::Cruise);
    path.bbr.bounds.inflight_hi = 400;
    path.round_with(100, RateSample { echo: true, marked: 10, ..RateSample::default() });
    path.round(100);
    assert_eq!((path.bbr.mode, path.bbr.cycle.doublings()), (Mode::Refill, 7), "128 of 200");
}

#[test]
fn the_upper_bound_rises_by_one_then_two_then_four_in_a_round_trip() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Refill);
    path.bbr.bounds.inflight_hi = 150;
    path.state.cwnd = 150;
    path.state.window_limited = true;
    path.send(50);
    path.round(150);
    assert_eq!(path.bbr.mode, Mode::Up);
    let mut bounds = vec![path.bbr.bounds.inflight_hi];
    for _ in 0..3 {
        path.round(150);
        bounds.push(path.bbr.bounds.inflight_hi);
    }
    assert_eq!(bounds, [150, 151, 153, 157]);
}

#[test]
fn every_five_seconds_half_a_bdp_shows_the_round_trip() {
    let mut path = Path::new("bbr3");
    let mut began = Vec::new();
    for _ in 0..160 {
        let before = path.bbr.mode;
        path.round_with(100, RateSample::default());
        if path.bbr.mode == Mode::ProbeRtt && before != Mode::ProbeRtt {
            assert_eq!(path.state.cwnd, path.bbr.bdp(RATE, ONE / 2));
            began.push(path.now.secs());
            // So that the least is never met again.
            path.bbr.recent_rtt.us = 99_999;
        }
        if path.bbr.recent_rtt.us > 99_999 {
            path.bbr.recent_rtt.us = 99_999;
        }
    }
    assert!(began.len() >= 2, "{began:?}");
    assert!(began.windows(2).all(|pair| (5.0..6.0).contains(&(pair[1] - pair[0]))), "{began:?}");
}

#[test]
fn many_losses_in_a_round_trip_of_recovery_end_startup() {
    let ends = |acks: u32, phase: Phase| {
        let mut path = Path::new("bbr3");
        path.round(100);
        path.round(50);
        path.state.phase = phase;
        // Each acknowledges one segment of the flight, with a loss.
        for _ in 0..acks {
            let sample = RateSample { lost: 1, delivered: 1, rate: Some((1, 1000)), ..RateSample::default() };
            path.bbr.signals.note_delivery(&path.state, &sample, Some(RATE));
            path.state.lost += 1;
            path.bbr.judge_losses_in_startup(&path.state, &path.profile, &sample, None);
        }
        // The round trip ends.
        path.round_with(25, RateSample { lost: 1, ..RateSample::default() });
        path.bbr.filling.full
    };
    assert!(ends(5, Phase::Recovery));
    assert!(!ends(4, Phase::Recovery), "five");
    assert!(!ends(5, Phase::Open));
}

#[test]
fn a_loss_that_a_probe_repaired_counts_as_one_of_the_flight() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Up);
    let inflight = path.bbr.signals.inflight;
    assert_eq!(inflight, 100);
    path.bbr.on_event(&mut path.state, &path.profile, Event::TlpRecovery);
    // One of 101 is less than 5 / 256.
    assert_eq!((path.bbr.mode, path.bbr.bounds.inflight_hi), (Mode::Up, u32::MAX));
    assert!(path.bbr.signals.loss_in_round && path.bbr.signals.loss_in_cycle);
    path.bbr.signals.inflight = 20;
    path.state.probe_limited = true;
    let mut limited = path.bbr.clone();
    limited.on_event(&mut path.state, &path.profile, Event::TlpRecovery);
    assert_eq!((limited.mode, limited.bounds.inflight_hi), (Mode::Down, u32::MAX));
    path.state.probe_limited = false;
    // 21, or 70 % of the BDP.
    let least = path.bbr.target(&path.state, &path.profile) * 180 / 256;
    path.bbr.on_event(&mut path.state, &path.profile, Event::TlpRecovery);
    assert_eq!((path.bbr.mode, path.bbr.bounds.inflight_hi), (Mode::Down, least));
}

#[test]
fn a_timeout_leaves_the_window_of_before_to_the_lower_bound_and_to_the_end_of_recovery() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Cruise);
    let before = path.state.cwnd;
    path.bbr.ssthresh(&path.state, &path.profile);
    path.state.cwnd = 1;
    path.bbr.on_phase(&mut path.state, &path.profile, Phase::Loss);
    assert_eq!(path.bbr.bounds.inflight_lo, before);
    path.bbr.on_phase(&mut path.state, &path.profile, Phase::Open);
    assert_eq!(path.state.cwnd, before);
}

#[test]
fn a_bandwidth_is_forgotten_with_the_cycle_after_its_own() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Up);
    path.round(50);
    let (high, low) = (path.bbr.bounds.max_bw(), (100_u64 << BANDWIDTH_BITS).div_ceil(100_000));
    assert!(high > 19 * low / 10);
    let mut cycles = 0;
    while path.bbr.bounds.max_bw() == high {
        path.until(Mode::Refill);
        path.until(Mode::Down);
        path.until(Mode::Cruise);
        cycles += 1;
    }
    assert_eq!((cycles, path.bbr.bounds.max_bw()), (1, low));
}

#[test]
fn a_probe_that_reached_the_bound_without_losses_goes_on_beyond_it() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Up);
    path.bbr.cycle.was_too_high = true;
    path.bbr.bounds.inflight_hi = 100;
    path.round(100);
    assert_eq!((path.bbr.mode, path.bbr.cycle.was_too_high), (Mode::Down, false));
    path.round(100);
    assert_eq!(path.bbr.mode, Mode::Refill, "the round trip has shown no loss");
}

#[test]
fn after_an_idle_time_the_pace_is_the_bandwidth_and_no_round_trip_is_probed_for() {
    let mut path = Path::new("bbr3");
    path.until(Mode::Down);
    path.state.limited_until = 1;
    path.bbr.on_event(&mut path.state, &path.profile, Event::TxStart);
    let gain = path.state.pace as f64 / (990.0 * f64::from(path.profile.payload()));
    assert!((gain - 1.0).abs() < 1e-3, "{gain}");
    path.now += Span::s(6);
    path.round_with(100, RateSample::default());
    assert_ne!(path.bbr.mode, Mode::ProbeRtt);
    path.now += Span::s(6);
    path.round_with(100, RateSample::default());
    assert_eq!(path.bbr.mode, Mode::ProbeRtt, "but after the next");
}
