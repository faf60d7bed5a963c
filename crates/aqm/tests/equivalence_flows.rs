//! FRED, SRED, SFB and JoBS with ECN against plain transcriptions of their sources, verdict for verdict.
//!
//! The transcriptions are in `reference`, the code that runs them in `driver`.

#[path = "reference/flows.rs"]
mod flows;
#[path = "reference/jobs_ecn.rs"]
mod jobs_ecn;

use crate::driver::{assert_lively, assert_marks, compare, number, text};
use aqm::params::Value;
use flows::{Fred, Sfb, Sred};
use jobs_ecn::JobsEcn;
use std::cell::Cell;
use std::rc::Rc;

#[test]
fn fred_equals_its_pseudocode() {
    for (minth, maxth, maxp, wq, minq) in
        [(50.0, 100.0, 0.02, 0.002, 4), (20.0, 60.0, 0.2, 0.02, 2), (30.0, 40.0, 1.0, 0.1, 1)]
    {
        for switches in 0..4 {
            let [many_flows, ecn] = [1, 2].map(|bit| switches & bit != 0);
            let settings = [
                ("min_th", number(minth)),
                ("max_th", number(maxth)),
                ("max_p", number(maxp)),
                ("w_q", number(wq)),
                ("min_q", Value::Integer(minq)),
                ("many_flows", Value::Bool(many_flows)),
                ("ecn", Value::Bool(ecn)),
            ];
            let fred = Fred { many_flows, ecn, ..Fred::new(minth, maxth, maxp, wq, minq as f64) };
            let tally = compare("fred", &settings, None, fred);
            assert!(tally.drops > 300 && tally.idle > 300, "{tally:?}");
            assert_marks(&tally, ecn, 20);
        }
    }
}

#[test]
fn freds_defaults_are_those_of_the_paper() {
    for many_flows in [false, true] {
        // A quarter of the port's buffer of 200 packets.
        let fred = Fred { many_flows, ..Fred::new(50.0, 100.0, 0.02, 0.002, 4.0) };
        let preset = many_flows.then_some("many-flows");
        assert!(compare("fred", &[], preset, fred).drops > 300);
    }
}

#[test]
fn sred_equals_its_equations() {
    for (m, p, alpha, p_max, most) in [(1000, 0.25, None, 0.15, 256.0), (100, 0.8, Some(0.001), 0.4, 8.0)] {
        for switches in 0..4 {
            let [full, ecn] = [1, 2].map(|bit| switches & bit != 0);
            let mut settings = vec![
                ("M", Value::Integer(m)),
                ("overwrite", number(p)),
                ("p_max", number(p_max)),
                ("flows", number(most)),
                ("form", text(if full { "full" } else { "simple" })),
                ("ecn", Value::Bool(ecn)),
            ];
            settings.extend(alpha.map(|alpha| ("alpha", number(alpha))));
            let sred = Sred {
                m: m as usize,
                p,
                alpha: alpha.unwrap_or(1.0 / m as f64),
                p_max,
                most,
                full,
                ecn,
                b: 200.0,
                zombie: vec![],
                p_t: 0.0,
                p_zap: 0.0,
            };
            let tally = compare("sred", &settings, None, sred);
            // With a dozen flows or fewer, only the buffer drops many packets.
            assert!(tally.drops + tally.marks > if most == 8.0 { 300 } else { 3 }, "{tally:?}");
            assert!(tally.idle > 300, "{tally:?}");
            assert_marks(&tally, ecn, 0);
        }
    }
}

#[test]
fn sfb_equals_linux() {
    for (levels, buckets, increment, rehash, db) in
        [(8, 16, 0.001, 600, 60), (8, 16, 0.02, 5, 2), (2, 23, 0.05, 3, 0), (3, 5, 0.02, 0, 1)]
    {
        for (ecn, linux) in [(false, false), (true, false), (true, true)] {
            let settings = [
                ("form", text(if linux { "linux" } else { "paper" })),
                ("levels", Value::Integer(levels)),
                ("bins", Value::Integer(buckets)),
                ("increment", number(increment)),
                ("decrement", number(increment / 6.0)),
                ("rehash", text(&format!("{rehash} s"))),
                ("db", text(&format!("{db} s"))),
                ("penalty_rate", number(50.0)),
                ("perturbation", Value::Integer(99)),
                ("ecn", Value::Bool(ecn)),
            ];
            let boxed = Rc::new(Cell::new((0, 0)));
            let sfb = Sfb {
                levels: levels as u64,
                buckets: buckets as u64,
                bin_size: 20,
                max: 25,
                increment,
                decrement: increment / 6.0,
                rehash_interval: f64::from(rehash),
                warmup_time: f64::from(db),
                penalty_rate: 50.0,
                penalty_burst: 20.0,
                ecn,
                linux,
                seed: 99,
                slot: 0,
                double_buffering: false,
                generations: 0,
                perturbation: [0; 2],
                bins: Default::default(),
                rehash_time: 0.0,
                tokens_avail: 20.0,
                token_time: 0.0,
                cb: Default::default(),
                p_min: 0.0,
                boxed: boxed.clone(),
            };
            let tally = compare("sfb", &settings, None, sfb);
            assert_lively(&tally, ecn);
            let (boxed, rehashes) = boxed.get();
            assert!(boxed > 300 || increment < 0.02, "{boxed} in the penalty box");
            assert_eq!(rehashes > 5, (1..600).contains(&rehash), "{rehashes} rehashes");
        }
    }
}

#[test]
fn jobs_with_ecn_equals_its_reconstruction() {
    for (k, alpha, b_lim, flight_gap) in
        [(10, 0.9, 75_000, 0.005), (5, 0.5, 30_000, 0.02), (7, 0.7, 50_000, 0.1), (10, 0.9, 20_000, 0.0005)]
    {
        let settings = [
            ("k", Value::Integer(k)),
            ("alpha", number(alpha)),
            ("b_lim", text(&format!("{b_lim} B"))),
            ("flight_gap", text(&format!("{flight_gap} s"))),
        ];
        let reference = JobsEcn::new(k as u32, alpha, f64::from(b_lim), flight_gap);
        let tally = compare("jobs_ecn", &settings, None, reference);
        assert!(tally.marks > 300 && tally.idle > 300 && tally.overflows > 300, "{tally:?}");
        assert_eq!(tally.drops, 0, "{tally:?}");
    }
}
