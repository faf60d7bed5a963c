//! Laws against the algorithms themselves, and by hand.

use super::*;
use aqm::params::Value;
use aqm::{AnyAqm, Backlog, Packet, Uniform, Verdict};
use aqm::{Bytes, Rate};

const PORT: Port = Port {
    rate: Rate::mbit_per_s(10),
    delay: Span::ms(3),
    limit: Limit::Packets(200),
    packet: Bytes(500),
    header: Bytes(0),
};

/// The same number over and over, or for 0 numbers of a congruential generator.
struct Draw(f64, u64);

impl Uniform for Draw {
    fn uniform(&mut self) -> f64 {
        if self.0 > 0.0 {
            return self.0;
        }
        self.1 = self.1.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.1 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn params(name: &str, settings: &[(&str, Value)]) -> AnyParams {
    let mut params = AnyParams::of(name).unwrap();
    for (key, value) in settings {
        if let ("preset", Value::Text(preset)) = (*key, value) {
            params = params.preset(preset).unwrap();
            continue;
        }
        params.set(key, value).unwrap();
    }
    params
}

fn both(params: &AnyParams) -> (Rule, AnyAqm) {
    (Rule::new(params, &PORT).unwrap(), params.on_one_queue(&PORT).unwrap())
}

const fn backlog(q: u32, full: bool) -> Backlog {
    Backlog { packets: q, bytes: 500 * q as u64, full }
}

const fn instant(q: u32) -> Instant {
    Instant { q: q as f64, arriving: 2500.0, own: [0.0; FLOWING] }
}

fn signals(aqm: &AnyAqm) -> Vec<f64> {
    let mut values = Vec::new();
    aqm.signals(|i, value| {
        assert_eq!(i, values.len());
        values.push(value);
    });
    values
}

#[test]
fn what_happens_on_a_timer_is_what_the_algorithm_itself_does() {
    let text = |text: &str| Value::Text(text.to_owned());
    for params in [
        params("pi", &[("a", Value::Float(1e-3)), ("b", Value::Float(9e-4))]),
        params("rem", &[]),
        params("rem", &[("form", text("ns2")), ("inw", Value::Float(0.3))]),
        params("lred", &[]),
        params("lred", &[("exponent", Value::Float(0.0))]),
        params("raqm", &[]),
        params(
            "raqm",
            &[("mode", text("queue-independent")), ("r0", text("corrected")), ("lagged", Value::Bool(true))],
        ),
        params("raqm", &[("counts", text("unshed"))]),
        params("raqm", &[("counts", text("accepted"))]),
    ] {
        let (mut rule, mut aqm) = both(&params);
        let period = rule.period().unwrap();
        assert_eq!(Some(period), aqm.period());
        for k in 0..60_u32 {
            let q = (k * 37) % 190;
            let (arrivals, refused) = (20 + k % 7, k % 5);
            let mut tally = Tally { arrivals: f64::from(arrivals), ..Tally::default() };
            for i in 0..arrivals {
                let full = i < refused;
                let packet = Packet::new(500, false);
                let draw = if i % 3 == 0 { 1e-9 } else { 1.0 - 1e-9 };
                let verdict = aqm.on_enqueue(Time::ZERO, &packet, &backlog(q, full), &mut Draw(draw, 0));
                tally.overflow += f64::from(u8::from(full));
                tally.early += f64::from(u8::from(verdict == Verdict::Drop));
            }
            aqm.on_period(Time::ZERO, &backlog(q, false));
            rule.on_period(&instant(q), &tally, 2500.0, || 0.0);
            // Some signals are those of the last arrival, which shall leave no trace.
            let mut stepped = aqm.clone();
            stepped.on_enqueue(Time::ZERO, &Packet::new(500, false), &backlog(q, true), &mut Draw(0.5, 0));
            let mut values = [0.0; SIGNALS];
            let number = rule.signals(&instant(q), rule.p(&instant(q)), &mut values);
            let theirs = signals(&stepped);
            assert_eq!(number, theirs.len());
            for (ours, theirs) in values.iter().zip(&theirs) {
                assert!((ours - theirs).abs() < 1e-12, "{params:?} at {k}: {values:?} {theirs:?}");
            }
        }
    }
}

#[test]
fn reds_share_of_drops_is_what_its_spacing_makes_of_p_b() {
    for (spacing, within) in [("none", 0.03), ("1993", 0.03), ("wait", 0.03)] {
        let spacing = Value::Text(spacing.to_owned());
        let params = params(
            "red",
            &[
                ("min_th", Value::Float(5.0)),
                ("max_th", Value::Float(15.0)),
                ("w_q", Value::Float(1.0)),
                ("spacing", spacing),
            ],
        );
        for q in [6, 10, 14, 20, 28] {
            let (rule, mut aqm) = both(&params);
            let (mut draw, mut drops) = (Draw(0.0, 1), 0.0);
            let number = 2_000_000;
            for _ in 0..number {
                let verdict =
                    aqm.on_enqueue(Time::ZERO, &Packet::new(500, false), &backlog(q, false), &mut draw);
                drops += f64::from(u8::from(verdict == Verdict::Drop));
            }
            let (found, ours) = (drops / f64::from(number), rule.p(&instant(q)));
            assert!((found / ours - 1.0).abs() < within, "{params:?} at {q}: {found} {ours}");
            let mut values = [0.0; SIGNALS];
            rule.signals(&instant(q), ours, &mut values);
            assert!((values[0] - signals(&aqm)[0]).abs() < 1e-12);
        }
    }
}

#[test]
fn reds_average_follows_as_fast_as_packet_by_packet() {
    let params = params("red", &[("w_q", Value::Float(0.002))]);
    let (rule, _) = both(&params);
    let now = Instant { q: 100.0, arriving: 2500.0, own: [40.0, 0.0] };
    // After 1/2500 s, one packet: the average is 40 + 0.002 x 60.
    let slope = rule.flow(&now, 0.0, 0.0, 0.0)[0] / 2500.0;
    assert!((slope / (0.002 * 60.0) - 1.0).abs() < 0.002, "{slope}");
}

#[test]
fn blue_moves_once_a_freeze_time() {
    let (mut rule, _) = both(&params("blue", &[]));
    let at = |ms| Time::ZERO + Span::ms(ms);
    assert_eq!(rule.watch(at(0), 200.0, true, false), Some(at(100)));
    assert_eq!(rule.watch(at(50), 200.0, true, false), Some(at(100)));
    assert_eq!(rule.watch(at(100), 200.0, true, false), Some(at(200)));
    assert_eq!(rule.p(&instant(0)), 0.04);
    assert_eq!(rule.watch(at(150), 100.0, false, false), None);
    assert_eq!(rule.watch(at(250), 0.0, false, true), Some(at(350)));
    assert!((rule.p(&instant(0)) - 0.038).abs() < 1e-15);
}

/// The rate of `PORT`, packets per second.
const RATE: f64 = 2500.0;

#[test]
fn pie_and_pi2_do_on_a_timer_what_the_algorithms_do() {
    let text = |text: &str| Value::Text(text.to_owned());
    let (none, by_rate) = (("max_burst", text("0 s")), ("delay", text("rate")));
    let by_stamps = ("delay", text("timestamps"));
    for params in [
        params("pie", &[none.clone(), by_rate.clone()]),
        params("pie", &[none.clone(), by_stamps.clone(), ("high", text("50 ms")), ("low", text("5 ms"))]),
        params("pie", &[none.clone(), by_rate.clone(), ("cap", Value::Bool(false)), ("beta", text("9 Hz"))]),
        params("pie", &[("preset", text("linux")), none.clone(), by_stamps]),
        params("pie", &[("preset", text("docsis")), none, by_rate]),
        params("pi2", &[]),
        params("pi2", &[("preset", text("dualpi2")), ("max_p", Value::Float(0.04))]),
    ] {
        let (mut rule, mut aqm) = both(&params);
        assert_eq!(rule.period(), aqm.period());
        let mut most = 0.0_f64;
        for k in 0..4000_u32 {
            // Long queues first, then ever shorter ones, so that p rises through all its bands and falls again.
            let q = if k < 3000 { 100 + k % 50 } else { (k * 7) % (1 + (4000 - k) / 10) };
            let delay = f64::from(q) / RATE;
            let sojourn = Span::from_secs(delay);
            aqm.on_dequeue(
                Time::ZERO,
                &Packet::new(500, false),
                &backlog(q, false),
                sojourn,
                &mut Draw(0.5, 0),
            );
            aqm.on_head(sojourn);
            aqm.on_period(Time::ZERO, &backlog(q, false));
            rule.on_period(&instant(q), &Tally::default(), RATE, || delay);
            let mut values = [0.0; SIGNALS];
            let number = rule.signals(&instant(q), rule.p(&instant(q)), &mut values);
            let theirs = signals(&aqm);
            assert_eq!(number, theirs.len());
            for (ours, theirs) in values.iter().zip(&theirs) {
                assert!((ours - theirs).abs() < 1e-12, "{params:?} at {k}: {values:?} {theirs:?}");
            }
            most = most.max(values[0]);
        }
        assert!(most > 0.03, "{params:?}: {most}");
    }
}

#[test]
fn pie_drops_nothing_while_p_is_low_and_the_delay_below_half_the_target() {
    let params = params(
        "pie",
        &[
            ("alpha", Value::Text("1 Hz".into())),
            ("beta", Value::Text("0 Hz".into())),
            ("delay", Value::Text("rate".into())),
        ],
    );
    let (mut rule, _) = both(&params);
    let mut after = |q: u32| {
        rule.on_period(&instant(q), &Tally::default(), RATE, || 0.0);
        let mut values = [0.0; SIGNALS];
        rule.signals(&instant(q), 0.0, &mut values);
        (rule.p(&instant(q)), values[0])
    };
    // 15 ms are 37.5 packets.
    while after(60).1 < 0.1 {}
    let (share, p) = after(19);
    assert!(share == p && p > 0.0 && p < 0.2, "{share} {p}");
    let (share, p) = after(18);
    assert!(share == 0.0 && p > 0.0, "{share} {p}");
    for _ in 0..200 {
        after(150);
    }
    let (share, p) = after(1);
    assert!(share == p && p > 0.2, "{share} {p}");
}

#[test]
fn docsis_pie_drops_packets_by_their_size_and_at_most_85_per_cent() {
    let text = |text: &str| Value::Text(text.to_owned());
    let (mut rule, _) = both(&params("pie", &[("preset", text("docsis"))]));
    rule.on_period(&instant(190), &Tally::default(), RATE, || 0.0);
    let mut values = [0.0; SIGNALS];
    rule.signals(&instant(190), 0.0, &mut values);
    let share = rule.p(&instant(190));
    assert!((share - values[0] * 500.0 / 1024.0).abs() < 1e-15 && share > 0.0, "{share} {values:?}");
    for _ in 0..900 {
        rule.on_period(&instant(190), &Tally::default(), RATE, || 0.0);
    }
    assert_eq!(rule.p(&instant(190)), 0.85);
}

#[test]
fn pie_that_never_measures_a_delay_is_refused() {
    let port = Port { limit: Limit::Packets(30), ..PORT };
    let params = params("pie", &[("delay", Value::Text("departures".into()))]);
    let error = Rule::new(&params, &port).unwrap_err().to_string();
    assert!(
        error.starts_with("aqm.dq_threshold = 16384 B: the buffer holds 15000 B, so that PIE never measures"),
        "{error}"
    );
}
