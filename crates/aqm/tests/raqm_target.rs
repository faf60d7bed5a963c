//! What RAQM's target queue does, as printed and in other readings, with flows that respond.

use crate::sources::Source::Tcp;
use crate::sources::{Tally, share, with};
use aqm::Verdict;
use aqm::params::Value;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// The verdicts of a run with this many flows, and the greatest p(k).
fn verdicts(flows: f64, settings: &[(&str, Value)]) -> (Vec<Verdict>, f64) {
    let (mut verdicts, mut greatest) = (vec![], 0.0_f64);
    share(&with("raqm", settings), &[Tcp(flows)], |aqm, verdict| {
        verdicts.push(verdict);
        aqm.signals(|i, value| {
            if i == 2 {
                greatest = greatest.max(value)
            }
        });
    });
    (verdicts, greatest)
}

/// The target `q0`, with the start of p(k) and its lower bound in proportion to it.
fn target(q0: f64) -> Vec<(&'static str, Value)> {
    let scale = q0 / 50.0;
    [("q0", q0), ("p", 2e-4 * scale), ("p_min", 1e-6 * scale)].map(|(key, x)| (key, Value::Float(x))).to_vec()
}

/// With P(k) = p(k) / q0, equations (3) and (12) have no q0.
#[test]
fn as_printed_the_target_vanishes_unless_p_is_clipped() {
    for setting in [
        vec![],
        vec![("r0", text("corrected"))],
        vec![("counts", text("accepted"))],
        vec![("alpha", text("static"))],
        vec![("eps", Value::Float(0.5)), ("lagged", Value::Bool(true))],
    ] {
        let [(at_50, top), (at_25, _)] =
            [50.0, 25.0].map(|q0| verdicts(20.0, &[target(q0), setting.clone()].concat()));
        assert!(top < 1.0, "{setting:?}: p(k) reaches {top}");
        assert!(at_50 == at_25, "{setting:?}");
        let drops = at_50.iter().filter(|verdict| **verdict == Verdict::Drop).count();
        assert!(drops > 100, "{setting:?}: {drops} drops");
    }
    let [(at_50, top), (at_25, _)] = [50.0, 25.0].map(|q0| verdicts(100.0, &target(q0)));
    assert!(top == 1.0 && at_50 != at_25);
    let fed = |q0| verdicts(20.0, &[target(q0), vec![("fed", text("mean"))]].concat()).0;
    assert!(fed(50.0) != fed(25.0));
}

/// The queue at rest over the target, and the loss ratio.
fn rest(q0: f64, flows: f64, settings: &[(&'static str, Value)]) -> (f64, f64) {
    let settings = [target(q0), vec![("fed", text("mean"))], settings.to_vec()].concat();
    let (tallies, queue) = share(&with("raqm", &settings), &[Tcp(flows)], |_, _| ());
    (queue / q0, Tally::loss(&tallies[0]))
}

/// A period adds ln(q / q0) + 2 eps ln(x / (2 - x)) to ln p(k). Without early drops x = 1 on a busy link; with them
/// x = 1 / (1 - l).
#[test]
fn with_the_applied_probability_fed_back_the_queue_is_held_at_its_target_or_below() {
    for q0 in [50.0, 80.0] {
        for flows in [30.0, 40.0] {
            for setting in
                [vec![("counts", text("unshed"))], vec![("alpha", text("static")), ("m", Value::Float(0.0))]]
            {
                let (queue, _) = rest(q0, flows, &setting);
                assert!((queue - 1.0).abs() < 0.04, "{queue} of {q0} with {flows} flows, {setting:?}");
            }
            let (queue, l) = rest(q0, flows, &[]);
            let expected = (1.0 - 2.0 * l).powf(2.0 * 0.9);
            assert!(
                (queue - expected).abs() < 0.04,
                "{queue} instead of {expected} of {q0} with {flows} flows"
            );
        }
    }
}
