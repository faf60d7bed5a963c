//! Algorithms that distinguish classes of service, with responsive and unresponsive traffic.

use crate::sources::Source::{Fixed, Tcp};
use crate::sources::{self, Source, Tally, with};
use aqm::AnyParams;
use aqm::params::Value;

/// Lets the sources share the link; returns each class's tally and the mean queue.
fn share(params: &AnyParams, sources: &[Source]) -> (Vec<Tally>, f64) {
    sources::share(params, sources, |_, _| ())
}

fn list(values: &[f64]) -> Value {
    Value::List(values.iter().map(|x| Value::Float(*x)).collect())
}

/// Class 1's shares of the arrivals and of the departures.
fn parts(mode: &str, r0: &str, shares: &[f64], flows: &[f64; 2]) -> (f64, f64) {
    let text = |text: &str| Value::Text(text.to_owned());
    let settings =
        [("mode", text(mode)), ("r0", text(r0)), ("gamma", Value::Float(0.97)), ("shares", list(shares))];
    let (tallies, _) = share(&with("raqm", &settings), &flows.map(Tcp));
    let sent = |tally: &Tally| tally.arrivals - tally.drops;
    (
        tallies[0].arrivals / (tallies[0].arrivals + tallies[1].arrivals),
        sent(&tallies[0]) / (sent(&tallies[0]) + sent(&tallies[1])),
    )
}

const SHARES: [([f64; 2], [f64; 2]); 3] =
    [([0.5, 0.5], [10.0, 40.0]), ([0.7, 0.3], [20.0, 20.0]), ([0.3, 0.7], [30.0, 10.0])];

#[test]
fn raqm_brings_the_rates_of_elastic_aggregates_to_their_shares() {
    for (shares, flows) in SHARES {
        // The paper's r0 is for arrivals, the corrected one for departures.
        let (arrivals, _) = parts("queue-independent", "literal", &shares, &flows);
        let (_, sent) = parts("queue-independent", "corrected", &shares, &flows);
        for found in [arrivals, sent] {
            assert!((found - shares[0]).abs() < 0.01, "{found} instead of {shares:?}");
        }
        let (_, common) = parts("queue-independent", "corrected", &[1.0], &flows);
        assert!((common - shares[0]).abs() > 0.15, "{common} without shares");
    }
}

/// A class that demands more than its share reaches p(k) = 1, and p = q / q0 leaves it a little more.
#[test]
fn raqm_comes_close_to_the_shares_where_the_queue_decides_as_well() {
    for (shares, flows) in SHARES {
        let (_, sent) = parts("queue-dependent", "corrected", &shares, &flows);
        assert!((sent - shares[0]).abs() < 0.03, "{sent} instead of {shares:?}");
    }
}

#[test]
fn raqm_leaves_what_one_class_does_not_use_to_the_other() {
    let settings = [("shares", list(&[0.5, 0.5]))];
    let (tallies, _) = share(&with("raqm", &settings), &[Fixed(0.0), Tcp(40.0)]);
    let sent = tallies[1].arrivals - tallies[1].drops;
    assert!(sent > 0.9 * 400_000.0, "{tallies:?}");
}

const LRED: &str = "lred";
/// Judged where p is the same at every queue, and the rate can be held: see the head of `raqm`.
const RAQM: &str = "raqm";

/// The loss ratios of the classes, that of all packets, and the mean queue.
fn losses(aqm: &str, weights: &[f64], sources: &[Source]) -> (Vec<f64>, f64, f64) {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut settings = vec![("weights", list(weights))];
    if aqm == RAQM {
        let held =
            [("mode", text("queue-independent")), ("r0", text("corrected")), ("gamma", Value::Float(0.97))];
        settings.extend(held);
    }
    let (tallies, queue) = share(&with(aqm, &settings), sources);
    let sum = |field: fn(&Tally) -> f64| tallies.iter().map(field).sum::<f64>();
    let all = sum(|tally| tally.drops) / sum(|tally| tally.arrivals);
    (tallies.iter().map(Tally::loss).collect(), all, queue)
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance * expected, "{found} instead of {expected}");
}

#[test]
fn lred_loses_by_the_order_of_priority() {
    for flows in [[20.0, 20.0, 20.0], [60.0, 20.0, 5.0]] {
        let sources = flows.map(Tcp);
        let (equal, _, q) = losses(LRED, &[1.0], &sources);
        assert_near(equal[2], equal[0], 0.05);
        assert_near(q, 100.0, 0.02);
        let (loss, _, q) = losses(LRED, &[1.0, 2.0, 4.0], &sources);
        assert_near(loss[1], 2.0 * loss[0], 0.05);
        assert_near(loss[2], 4.0 * loss[0], 0.05);
        assert_near(q, 100.0, 0.02);
    }
}

/// With arrivals that do not respond, only LRED's weights determine the loss ratio: 1/6 at a load of 6/5.
#[test]
fn lreds_weights_leave_loss_ratio_and_queue_of_all_together_as_they_are() {
    let sources = [500.0, 1500.0, 1000.0].map(Fixed);
    let (_, unweighted, q) = losses(LRED, &[1.0], &sources);
    let (loss, weighted, weighted_q) = losses(LRED, &[1.0, 2.0, 4.0], &sources);
    assert_near(unweighted, 1.0 / 6.0, 0.01);
    assert_near(weighted, 1.0 / 6.0, 0.01);
    assert_near(weighted_q, q, 0.02);
    // The mean weight is 2.5.
    for (loss, weight) in loss.iter().zip([1.0, 2.0, 4.0]) {
        assert_near(*loss, weight / 2.5 / 6.0, 0.03);
    }
}

#[test]
fn raqm_loses_by_the_order_of_priority() {
    for flows in [[20.0, 20.0, 20.0], [60.0, 20.0, 5.0]] {
        let sources = flows.map(Tcp);
        let (equal, ..) = losses(RAQM, &[1.0], &sources);
        assert_near(equal[2], equal[0], 0.05);
        let (loss, ..) = losses(RAQM, &[1.0, 2.0, 4.0], &sources);
        assert_near(loss[1], 2.0 * loss[0], 0.05);
        assert_near(loss[2], 4.0 * loss[0], 0.05);
    }
    // 0.97 of the link at a load of 6/5, and a mean weight of 2.5.
    let all = 1.0 - 0.97 / 1.2;
    let (loss, weighted, _) = losses(RAQM, &[1.0, 2.0, 4.0], &[500.0, 1500.0, 1000.0].map(Fixed));
    assert_near(weighted, all, 0.01);
    for (loss, weight) in loss.iter().zip([1.0, 2.0, 4.0]) {
        assert_near(*loss, weight / 2.5 * all, 0.03);
    }
}
