//! Runs whose outcome is known: equilibria, the stability boundary, the order of the method.

use crate::support;
use crate::support::{BETA_0, C, N, OMEGA, Q0, R, dumbbell, example, model, run};
use aqm::{Span, Time};
use fluid::{Fluid, Initial, Options, TcpLaw};

fn near(found: f64, wanted: f64, part: f64) {
    assert!((found - wanted).abs() <= part * wanted.abs(), "found {found}, wanted {wanted} within {part}");
}

/// The queue every 10 ms.
fn course(mut fluid: Fluid, duration: f64) -> Vec<f64> {
    let samples = (duration / 0.01) as u64;
    (1..=samples)
        .map(|i| {
            fluid.advance(Time::ZERO + Span::ms(10) * i);
            fluid.queue() - Q0
        })
        .collect()
}

/// How fast the oscillation of the last 60 of 80 s grows, 1/s, and its angular frequency.
fn oscillation(beta: f64, merged: bool) -> (f64, f64) {
    let mut fluid = example(beta, merged, 80.0, 0.01);
    fluid.advance(Time::ZERO + Span::s(20));
    let start = fluid.now().secs();
    let samples: Vec<(f64, f64)> = (1..=6000)
        .map(|i| {
            fluid.advance(Time::ZERO + Span::from_secs(start) + Span::ms(10) * i);
            (fluid.now().secs(), fluid.queue() - Q0)
        })
        .collect();
    let crossings: Vec<f64> = samples
        .windows(2)
        .filter(|pair| pair[0].1 < 0.0 && pair[1].1 >= 0.0)
        .map(|pair| pair[0].0 + (pair[1].0 - pair[0].0) * pair[0].1 / (pair[0].1 - pair[1].1))
        .collect();
    let (first, last) = (crossings[0], crossings[crossings.len() - 1]);
    let periods = (crossings.len() - 1) as f64;
    let swing = |from: f64, to: f64| {
        samples.iter().filter(|(t, _)| (from..to).contains(t)).map(|(_, q)| q.abs()).fold(0.0, f64::max)
    };
    let period = (last - first) / periods;
    let growth = (swing(last - period, last) / swing(first, first + period)).ln() / (last - first - period);
    (growth, std::f64::consts::TAU / period)
}

#[test]
fn the_boundary_of_stability_is_where_equation_31_has_it() {
    let ((below, slow), (above, fast)) = (oscillation(0.98 * BETA_0, true), oscillation(1.02 * BETA_0, true));
    assert!(below < 0.0 && above > 0.0, "{below} {above}");
    let critical = 0.98 + 0.04 * below / (below - above);
    near(critical, 1.0, 0.005);
    near(f64::midpoint(slow, fast), OMEGA, 0.005);
}

#[test]
fn without_merging_the_critical_gain_is_fourteen_per_cent_lower() {
    let ((below, _), (above, _)) = (oscillation(0.84 * BETA_0, false), oscillation(0.88 * BETA_0, false));
    assert!(below < 0.0 && above > 0.0, "{below} {above}");
    near(0.84 + 0.04 * below / (below - above), 9.07e-4 / BETA_0, 0.005);
    // The nonlinear equation from a large deviation: it comes back at 0.8 beta0, and runs to the limits at 0.95.
    let swings = |part: f64| {
        let queue = course(example(part * BETA_0, false, 300.0, 0.01), 300.0);
        queue[queue.len() - 1000..].iter().fold((f64::MAX, f64::MIN), |(a, b), q| (a.min(*q), b.max(*q)))
    };
    let (low, high) = swings(0.80);
    assert!(high - low < 1e-3, "{low} {high}");
    let (low, high) = swings(0.95);
    assert!(high - low > 50.0, "{low} {high}");
}

#[test]
fn one_class_comes_to_rest_at_the_window_of_equation_6() {
    let mut fluid = example(0.5 * BETA_0, false, 100.0, 0.01);
    fluid.advance(Time::MAX);
    near(fluid.queue(), Q0, 1e-9);
    near(fluid.windows().next().unwrap(), R * C / N, 1e-9);
    near(fluid.loss(), 1.5 * (N / (R * C)).powi(2), 1e-9);
}

#[test]
fn padhyes_law_has_padhyes_equilibrium() {
    // A constant round trip of 350 ms, every packet lost with p = 0.1, and room for all that comes.
    let p = 0.1_f64;
    let mut model = model(&dumbbell("[aqm]\nname = \"lred\"\nq0 = 100\n", 100, 200.0, ""));
    model.classes[0].rtt = R - Q0 / C;
    let law = fluid::Proportional { p0: p, gain: 0.0, q0: Q0 };
    let options = Options { constant_rtt: true, proportional: Some(law), ..Options::default() };
    let mut run = Fluid::new(model.clone(), options.clone()).unwrap();
    while !run.finished() {
        run.advance(Time::MAX);
    }
    let (smooth, t0) = ((2.0 * p / 3.0).sqrt(), R);
    let padhye = 1.0 / (R * smooth + t0 * (3.0 * (3.0 * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p));
    near(run.windows().next().unwrap() / R, padhye, 1e-6);
    let options = Options { tcp: TcpLaw::SquareRoot, ..options };
    let rate = support::run(&model, &options).windows().next().unwrap() / R;
    near(rate, 1.0 / (R * smooth), 1e-6);
}

#[test]
fn halving_the_step_divides_the_error_by_sixteen() {
    // A constant round trip that is a multiple of the step: what is looked up are ends and middles of steps.
    let finals = [8.0, 16.0, 32.0, 64.0].map(aligned);
    let errors: Vec<f64> = finals.windows(2).map(|pair| (pair[0] - pair[1]).abs()).collect();
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((3.5..5.0).contains(&order), "{errors:?} {finals:?}");
    }
}

/// The window at the end of 12 round trips, with this many steps each and no other events.
fn aligned(steps: f64) -> f64 {
    let text = dumbbell("[aqm]\nname = \"lred\"\nq0 = 100\n", 300, 12.0 * R, "");
    let mut model = model(&format!("record.step = \"350 ms\"\nresponse.bin = \"350 ms\"\n{text}"));
    model.classes[0].rtt = R - Q0 / C;
    let p0 = 1.5 * (N / (R * C)).powi(2);
    let options = Options {
        step: Some(R / steps),
        constant_rtt: true,
        tcp: TcpLaw::SquareRoot,
        thinned: false,
        proportional: Some(fluid::Proportional { p0, gain: 0.8 * BETA_0 * p0.sqrt(), q0: Q0 }),
        initial: Some(Initial { window: R * C / N * 1.01, queue: Q0 }),
        ..Options::default()
    };
    run(&model, &options).windows().next().unwrap()
}

#[test]
fn with_timers_and_a_round_trip_that_follows_the_queue_steps_hardly_matter() {
    // LRED and PI through the slow starts, the first overflow and the settling: the mean queue of every 100 ms.
    for aqm in ["[aqm]\nname = \"lred\"\n", "[aqm]\nname = \"pi\"\nq0 = 100\na = 1e-4\nb = 9.9e-5\n"] {
        let model = model(&dumbbell(aqm, 100, 60.0, "receiver_delay = [\"50 ms\", \"100 ms\"]\n"));
        let means = |step: f64| {
            let options = Options { step: Some(step), ..Options::default() };
            let columns = run(&model, &options).take_columns();
            columns.into_iter().find(|column| column.name == "bottleneck.queue.mean").unwrap().values
        };
        let (coarse, fine, finest) = (means(0.008), means(0.002), means(0.0005));
        let off =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len() as f64;
        let errors = [off(&coarse, &finest), off(&fine, &finest)];
        assert!(errors[0] < 0.3 && errors[1] < 0.3, "{aqm}: {errors:?}");
    }
}

#[test]
fn avq_brings_the_arrivals_to_gamma_c() {
    let model = model(&format!(
        "warmup = \"100 s\"\n{}",
        &dumbbell("[aqm]\nname = \"avq\"\nalpha = 0.01\n", 40, 400.0, "sender_delay = \"50 ms\"\n")
    ));
    let metrics = &run(&model, &Options::default()).results()["metrics"];
    let of = |name: &str| metrics[name].as_f64().unwrap();
    near(of("arrivals") / 300.0, 0.98 * C, 0.01);
    near(of("utilisation"), 0.98 * (1.0 - of("loss_ratio")), 0.01);
}

#[test]
fn raqm_settles_where_bytes_are_conserved() {
    // p(k) rises to 1 while the link is busy, and the queue settles at l q0.
    let delays = "receiver_delay = [\"10 ms\", \"50 ms\", \"100 ms\", \"150 ms\", \"200 ms\"]\n";
    let text = dumbbell("[aqm]\nname = \"raqm\"\n", 400, 1000.0, delays);
    let fluid = run(&model(&format!("warmup = \"500 s\"\n{text}")), &Options::default());
    let metrics = &fluid.results()["metrics"];
    let of = |name: &str| metrics[name].as_f64().unwrap();
    near(of("utilisation"), 1.0, 1e-6);
    near(of("queue_mean"), 50.0 * of("loss_ratio"), 0.01);
}

#[test]
fn raqm_with_the_applied_probability_fed_back_settles_at_its_target_or_below() {
    let delays = "receiver_delay = [\"10 ms\", \"50 ms\", \"100 ms\", \"150 ms\", \"200 ms\"]\n";
    for counts in ["all", "unshed"] {
        let aqm = format!("[aqm]\nname = \"raqm\"\nfed = \"mean\"\ncounts = \"{counts}\"\n");
        let text = dumbbell(&aqm, 200, 1000.0, delays);
        let fluid = run(&model(&format!("warmup = \"500 s\"\n{text}")), &Options::default());
        let metrics = &fluid.results()["metrics"];
        let of = |name: &str| metrics[name].as_f64().unwrap();
        near(of("utilisation"), 1.0, 1e-6);
        // A period adds ln(q / q0) + 2 eps ln(x / (2 - x)) to ln p, with x = 1 / (1 - l) if early drops count.
        let l = of("loss_ratio");
        let part = if counts == "all" { (1.0 - 2.0 * l).powf(1.8) } else { 1.0 };
        assert!(l > 0.01 && l < 0.2, "{l}");
        near(of("queue_mean"), 50.0 * part, 0.01);
    }
}
