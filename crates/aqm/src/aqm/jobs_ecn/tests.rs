//! Estimates, projections and marks by hand.

use super::*;
use crate::fixture::{Draw, PORT, assert_close, full, waiting};

fn at(ms: f64) -> Time {
    Time::ZERO + Span::from_secs(ms / 1e3)
}

/// A flow with default parameters whose packets of 500 bytes came at these milliseconds.
fn flow(times: &[f64]) -> Flow {
    let mut flow = Flow::new(at(times[0]));
    for &ms in times {
        flow.arrive(at(ms), &Packet::new(500, true), 0.005, 0.9);
    }
    flow
}

#[test]
fn the_first_round_trip_time_is_from_the_first_packet_to_the_second_flight() {
    assert_eq!(flow(&[0.0, 0.4, 0.8]).rtt, None);
    let flow = flow(&[0.0, 0.4, 0.8, 40.0]);
    assert_close(flow.rtt.unwrap(), 0.04);
    // Three packets came with the first flight.
    assert_close(flow.window, 1500.0);
}

#[test]
fn later_flights_move_the_round_trip_time_by_a_tenth_at_most() {
    // 0.9 40 ms + 0.1 50 ms.
    assert_close(flow(&[0.0, 40.0, 90.0]).rtt.unwrap(), 0.041);
    // The sender was idle: 80 ms count.
    assert_close(flow(&[0.0, 40.0, 121.0]).rtt.unwrap(), 0.044);
    // 20 ms of silence are not more than half of 40.
    let without_gaps: Vec<f64> =
        [0.0].into_iter().chain((0..50).map(|i| 40.0 + 20.0 * f64::from(i))).collect();
    assert_close(flow(&without_gaps).rtt.unwrap(), 0.04);
}

#[test]
fn in_slow_start_the_window_is_that_of_the_last_round() {
    // Rounds of 1, 2 and 4 packets.
    let flow = flow(&[0.0, 40.0, 40.4, 80.0, 80.4, 80.8, 81.2, 120.0]);
    assert!(flow.slow_start);
    assert_close(flow.window, 2000.0);
}

#[test]
fn a_round_that_brings_no_more_ends_slow_start_and_is_then_averaged() {
    let flow = flow(&[0.0, 40.0, 40.4, 80.0, 80.4, 80.8, 81.2, 120.0, 120.4, 160.0]);
    assert!(!flow.slow_start);
    // 0.9 of 4 packets and one more, and 0.1 of 2 packets.
    assert_close(flow.window, 0.9 * 2500.0 + 0.1 * 1000.0);
}

#[test]
fn a_long_round_counts_in_proportion_and_one_with_a_pause_not_at_all() {
    // Two packets in 50 ms are 1.6 in 40; R stays, as the gaps are too short or too long for a flight.
    let mut long = flow(&[0.0, 40.0]);
    long.before = 0.0;
    long.arrive(at(60.0), &Packet::new(500, true), 0.005, 0.9);
    long.arrive(at(80.0), &Packet::new(500, true), 0.005, 0.9);
    assert_close(long.window, 1000.0);
    let mut scaled = flow(&[0.0, 40.0]);
    scaled.before = 0.0;
    for ms in [55.0, 70.0, 90.0] {
        scaled.arrive(at(ms), &Packet::new(500, true), 0.005, 0.9);
    }
    assert_close(scaled.window, 1500.0 * 40.0 / 50.0);
    assert_close(flow(&[0.0, 40.0, 130.0]).window, 500.0);
}

#[test]
fn a_signalled_flow_halves_its_window_one_round_trip_time_later() {
    let mut flow = Flow { rtt: Some(0.04), window: 8000.0, ..Flow::new(at(0.0)) };
    flow.signalled = Some(at(10.0));
    flow.react(at(49.9), 0.04);
    assert_close(flow.window, 8000.0);
    flow.react(at(50.0), 0.04);
    assert_close(flow.window, 4000.0);
    assert!(flow.signalled.is_none() && !flow.slow_start);
}

#[test]
fn a_projection_doubles_a_window_in_slow_start_and_adds_a_segment_in_avoidance() {
    let slow = Flow { rtt: Some(0.1), window: 10_000.0, mss: 500.0, ..Flow::new(at(0.0)) };
    // The rate goes from 100 to 400 kB/s: (4 - 1) / ln 2 times the window in two rounds.
    assert_close(slow.sends(0.1, 0.2, false), 30_000.0 / std::f64::consts::LN_2);
    let steady = Flow { slow_start: false, ..slow };
    // 10 000 and 10 500 bytes, plus half a segment each for the growth in between.
    assert_close(steady.sends(0.1, 0.2, false), 10_250.0 + 10_750.0);
    assert_close(slow.sends(0.1, 0.2, true), 5_250.0 + 5_750.0);
}

/// JoBS at 10 Mbit/s with flows of these windows, each with a round-trip time of 100 ms and in congestion avoidance.
/// It projects at the next arrival.
fn with_windows(windows: &[f64]) -> JobsEcn {
    let mut jobs = JobsEcn::new(&Params { b_lim: Some(Bytes(50_000)), ..Params::default() }, &PORT);
    for (key, window) in (1..).zip(windows) {
        let known = Flow {
            rtt: Some(0.1),
            window: *window,
            mss: 500.0,
            slow_start: false,
            ect: true,
            ..Flow::new(at(1e3))
        };
        jobs.flows.get_or_insert_with(key, || known);
    }
    jobs.projected_at = at(1e3);
    jobs
}

fn packet(flow: u64) -> Packet {
    Packet { flow, ..Packet::new(500, true) }
}

#[test]
fn the_largest_windows_are_marked_until_the_projection_fits() {
    // The link sends 125 000 bytes in 100 ms. The flows send 60, 80 and 40 kB and a half segment each: 180 750. With
    // 500 bytes in the queue there will be 56 250.
    let mut jobs = with_windows(&[60_000.0, 80_000.0, 40_000.0]);
    jobs.project(at(1e3), 500.0);
    assert_close(jobs.projected, 56_250.0);
    // The queue grows through all of the 100 ms.
    assert_close(jobs.horizon, 0.1);
    assert_close(jobs.peak, 0.1);
    // The second flow sends 40 kB less.
    assert_close(jobs.remaining, 16_250.0);
    // Half of the second flow's 80 kB is enough.
    assert_eq!([1, 2, 3].map(|key| jobs.flows.get_mut(key).unwrap().due), [false, true, false]);
    let mut more = with_windows(&[60_000.0, 80_000.0, 40_000.0]);
    more.limit = 10_000.0;
    more.project(at(1e3), 500.0);
    assert_eq!([1, 2, 3].map(|key| more.flows.get_mut(key).unwrap().due), [true, true, false]);
}

#[test]
fn a_flow_is_marked_once_a_round_trip_time() {
    let mut jobs = with_windows(&[60_000.0, 80_000.0, 40_000.0]);
    jobs.project(at(1e3), 500.0);
    let mut verdict = |ms, flow| jobs.on_enqueue(at(ms), &packet(flow), &waiting(1), &mut Draw(0.5));
    assert_eq!(verdict(1000.0, 1), Verdict::Pass);
    assert_eq!(verdict(1000.0, 2), Verdict::Mark);
    assert_eq!(verdict(1000.0, 2), Verdict::Pass);
    // Flow 2 has been signalled, so another flow is chosen.
    jobs.limit = 10_000.0;
    jobs.project(at(1000.0), 500.0);
    assert_eq!([1, 2, 3].map(|key| jobs.flows.get_mut(key).unwrap().due), [true, false, false]);
}

#[test]
fn flows_are_added_up_in_the_order_in_which_they_came_on_every_machine() {
    // Beside the large window, the small windows after it are lost in rounding.
    let windows: Vec<f64> = (0..99).map(|i| if i == 40 { 1e16 } else { 3.0 + f64::from(i) }).collect();
    let mut jobs = with_windows(&windows);
    let mut input = [0.0; STEPS];
    let step = 0.1 / STEPS as f64;
    for (key, _) in (1..).zip(&windows) {
        let flow = jobs.flows.get_mut(key).unwrap();
        for (i, entered) in input.iter_mut().enumerate() {
            *entered += flow.sends(0.1, step * (i + 1) as f64, false);
        }
    }
    let (expected, _) = jobs.largest(500.0, &input, step);
    jobs.project(at(1e3), 500.0);
    assert_eq!(jobs.projected.to_bits(), expected.to_bits());
}

#[test]
fn packets_without_ecn_are_never_marked() {
    let mut jobs = with_windows(&[60_000.0, 80_000.0, 40_000.0]);
    jobs.flows.get_mut(2).unwrap().ect = false;
    jobs.project(at(1e3), 500.0);
    assert_eq!([1, 2, 3].map(|key| jobs.flows.get_mut(key).unwrap().due), [true, false, false]);
}

#[test]
fn an_overflow_signals_the_flow_too() {
    let mut jobs = with_windows(&[60_000.0]);
    assert_eq!(jobs.on_enqueue(at(1000.0), &packet(1), &full(), &mut Draw(0.5)), Verdict::Pass);
    assert_eq!(jobs.flows.get_mut(1).unwrap().signalled, Some(at(1000.0)));
}

#[test]
fn a_projected_queue_is_never_negative() {
    let mut jobs = with_windows(&[]);
    // Nothing for seven steps of 10 ms, then 50 kB: 37.5 kB more than the link sends in the step.
    let mut input = [0.0; STEPS];
    input[STEPS - 1] = 50_000.0;
    let (largest, peak) = jobs.largest(500.0, &input, 0.01);
    assert_close(largest, 37_500.0);
    assert_close(peak, 0.08);
    jobs.project(at(1e3), 500.0);
    assert_eq!([jobs.projected, jobs.remaining, jobs.horizon, jobs.peak], [500.0, 500.0, 0.0, 0.0]);
}

#[test]
fn open_loop_traffic_is_projected_at_its_mean_rate() {
    let mut jobs = with_windows(&[60_000.0]);
    let udp = Packet { udp: true, ..packet(9) };
    for i in 1..10 {
        jobs.on_enqueue(at(1e3 + f64::from(i)), &udp, &waiting(0), &mut Draw(0.5));
    }
    assert_close(jobs.open_rate, 0.0);
    jobs.on_enqueue(at(1010.0), &udp, &waiting(0), &mut Draw(0.5));
    // Ten packets in 10 ms, 500 kB/s, of which a tenth.
    assert_close(jobs.open_rate, 50_000.0);
}

#[test]
fn flows_beyond_the_table_are_open_loop_until_others_have_gone_silent() {
    let mut jobs = JobsEcn::new(&Params { flows: 2, k: 1, ..Params::default() }, &PORT);
    for key in 1..=3 {
        jobs.on_enqueue(at(1.0), &packet(key), &waiting(0), &mut Draw(0.5));
    }
    assert_eq!(jobs.flows.len(), 2);
    assert!(!jobs.flows.knows(3));
    jobs.on_enqueue(at(900.0), &packet(2), &waiting(0), &mut Draw(0.5));
    // The first flow has been silent for more than a second.
    jobs.on_enqueue(at(1002.0), &packet(3), &waiting(0), &mut Draw(0.5));
    jobs.on_enqueue(at(1003.0), &packet(3), &waiting(0), &mut Draw(0.5));
    assert!(!jobs.flows.knows(1) && jobs.flows.knows(3));
}
