use super::*;
use crate::fixture::{Draw, PORT, assert_close};
use crate::params::Value;
use crate::queue::{Frame, Outcome, Queue};
use crate::unit::{Limit, Rate};

fn at(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

/// A packet of 1000 bytes on its way from one host to another.
fn packet(pair: u32) -> Packet {
    Packet { pair, flow: u64::from(pair), ..Packet::new(1000, false) }
}

const ROOM: Backlog = Backlog { packets: 0, bytes: 0, full: false };

/// Both queues with packets of 1000 bytes: this many bytes in the short and in the long one.
fn lanes(short: u64, long: u64) -> [Lane; 2] {
    [short, long].map(|bytes| Lane { packets: bytes.div_ceil(1000) as u32, bytes, ..Lane::default() })
}

fn redtail(change: impl Fn(&mut Params)) -> Redtail {
    let mut params = Params { long: inside("droptail", None), ..Params::default() };
    change(&mut params);
    Redtail::check(&params).unwrap();
    Redtail::new(&params, &PORT)
}

/// The queue that the link serves next; the packet sent is 1000 bytes, and the queues do not change.
fn sends(redtail: &mut Redtail, now: Time, lanes: &[Lane; 2], size: u32) -> usize {
    let lane = redtail.serve(now, lanes);
    let sent = Packet::new(size, false);
    redtail.on_dequeue(now, lane, &sent, &ROOM, lanes, Span::ZERO, &mut Draw(0.5));
    lane
}

#[test]
fn the_short_queues_share_follows_its_length() {
    let split = redtail(|_| {}).split;
    for (q1, share) in [
        (0, 0.0),
        (1, 1.0 / 15.0),
        (1_999, 1.0 / 15.0),
        (2_000, 1.0 / 15.0),
        (15_000, 0.5),
        (27_000, 0.9),
        (27_001, 0.9),
        (160_000, 0.9),
    ] {
        assert_close(split.share(q1), share);
    }
    let bounds = |p: &mut Params| (p.c1_min, p.c1_max, p.min_th1) = (Some(0.3), 1.0, Bytes(3_000));
    let split = redtail(bounds).split;
    for (q1, share) in [(1, 0.3), (2_999, 0.3), (3_000, 0.1), (45_000, 1.0)] {
        assert_close(split.share(q1), share);
    }
}

#[test]
fn the_first_packets_of_a_pair_are_short() {
    let mut redtail = redtail(|p| p.n = 2);
    let mut lane = |ms, packet| redtail.on_enqueue(at(ms), &packet, &ROOM, &lanes(0, 0), &mut Draw(0.5)).0;
    assert_eq!([lane(0, packet(1)), lane(0, packet(1)), lane(0, packet(1))], [SHORT, SHORT, LONG]);
    assert_eq!([lane(0, packet(2)), lane(0, packet(1))], [SHORT, LONG]);
    // Another connection of the pair, then a silence of 10 s, and a longer one.
    let other = Packet { flow: 9, ..packet(1) };
    assert_eq!([lane(0, other), lane(10_000, other), lane(20_001, other)], [LONG, LONG, SHORT]);
    let udp = Packet { udp: true, ..packet(3) };
    assert!((0..9).all(|_| lane(0, udp) == SHORT));
    // Pair 1 was new twice and became long once; UDP does not count.
    let mut signals = vec![];
    redtail.signals(|_, value| signals.push(value));
    assert_eq!(signals[4..], [3.0, 1.0]);
}

#[test]
fn connections_may_be_distinguished_and_udp_counted() {
    let mut redtail = redtail(|p| (p.n, p.key, p.udp_short) = (1, Key::Flow, false));
    let mut lane = |flow, udp| {
        let packet = Packet { flow, udp, ..packet(1) };
        redtail.on_enqueue(at(0), &packet, &ROOM, &lanes(0, 0), &mut Draw(0.5)).0
    };
    assert_eq!([lane(1, false), lane(1, false), lane(2, false)], [SHORT, LONG, SHORT]);
    assert_eq!([lane(3, true), lane(3, true)], [SHORT, LONG]);
}

#[test]
fn dropped_arrivals_count_too() {
    let mut redtail = redtail(|p| p.n = 2);
    let full = Backlog { full: true, ..ROOM };
    for expected in [SHORT, SHORT, LONG] {
        assert_eq!(redtail.on_enqueue(at(0), &packet(1), &full, &lanes(0, 0), &mut Draw(0.5)).0, expected);
    }
}

#[test]
fn the_queue_that_is_behind_sends_next() {
    // 1000 bytes per millisecond; the comments have B before each decision.
    let order = |q1, n: u64| -> String {
        let mut redtail = redtail(|_| {});
        let lanes = lanes(q1, 9_000);
        redtail.split.change(at(0), q1);
        (0..n).map(|ms| if sends(&mut redtail, at(ms), &lanes, 1000) == SHORT { 's' } else { 'l' }).collect()
    };
    // 0, -500, 0, -500, …
    assert_eq!(order(15_000, 6), "slslsl");
    // 0, -750, -500, -250, 0, …
    assert_eq!(order(7_500, 9), "slllsllls");
    // 0, -250, 500, 250, 0, -250, …
    assert_eq!(order(22_500, 10), "slssslsssl");
}

#[test]
fn service_follows_the_shares_within_a_packet() {
    for (q1, share) in [(1_000, 1.0 / 15.0), (15_000, 0.5), (60_000, 0.9)] {
        let mut redtail = redtail(|_| {});
        let lanes = lanes(q1, 40_000);
        redtail.split.change(at(0), q1);
        let (mut short, mut sum) = (0.0, 0.0);
        let mut now = at(0);
        for i in 0..10_000_u32 {
            let size = 40 + i * 7919 % 1461;
            let lane = sends(&mut redtail, now, &lanes, size);
            short += if lane == SHORT { f64::from(size) } else { 0.0 };
            sum += f64::from(size);
            now += Span::us(u64::from(size));
            assert!((short - share * sum).abs() <= 1500.0, "{q1} bytes: {short} of {sum} after {i}");
        }
    }
}

#[test]
fn a_rate_that_changes_during_a_packet_counts_by_its_time() {
    let mut redtail = redtail(|_| {});
    redtail.split.change(at(0), 15_000);
    let both = lanes(15_000, 9_000);
    assert_eq!(sends(&mut redtail, at(0), &both, 1000), SHORT);
    // Half of the link for a quarter of the time, then nine tenths.
    redtail.on_enqueue(at(1), &packet(1), &ROOM, &lanes(29_000, 9_000), &mut Draw(0.5));
    redtail.serve(at(4), &both);
    assert_close(redtail.split.balance, -1000.0 + 1000.0 * (0.25 * 0.5 + 0.75 * 0.9));
}

#[test]
fn no_queue_saves_up_service_while_the_other_is_empty() {
    for alone in [lanes(9_000, 0), lanes(0, 9_000)] {
        let mut redtail = redtail(|_| {});
        for ms in 0..1000 {
            let lane = sends(&mut redtail, at(ms), &alone, 1000);
            assert!(alone[lane].packets > 0, "the link is for whoever waits");
        }
        redtail.serve(at(1000), &alone);
        assert_close(redtail.split.balance, 0.0);
    }
    // A debt of one packet remains while the short queue is empty, since then C1 = 0, but not beyond an idle time.
    let mut redtail = redtail(|_| {});
    sends(&mut redtail, at(0), &lanes(1_000, 9_000), 1000);
    sends(&mut redtail, at(0), &lanes(0, 9_000), 1000);
    assert_eq!(redtail.serve(at(1), &lanes(1_000, 9_000)), LONG);
    redtail.on_idle(at(2));
    assert_eq!(redtail.serve(at(3), &lanes(1_000, 9_000)), SHORT);
}

#[test]
fn dropped_packets_are_not_charged() {
    let mut redtail = redtail(|_| {});
    let both = lanes(15_000, 9_000);
    redtail.split.change(at(0), 15_000);
    // If an inner algorithm drops the first packet at its departure, the queue is chosen again at the same instant.
    redtail.serve(at(0), &both);
    assert_eq!(sends(&mut redtail, at(0), &both, 1000), SHORT);
    redtail.serve(at(1), &both);
    assert_close(redtail.split.balance, -500.0);
}

#[test]
fn an_empty_queue_that_is_passed_over_is_idle() {
    let mut redtail = redtail(|_| {});
    redtail.on_enqueue(at(0), &packet(1), &ROOM, &lanes(0, 0), &mut Draw(0.5));
    assert_eq!(redtail.idle, [false, true]);
    redtail.serve(at(0), &lanes(0, 1_000));
    assert_eq!(redtail.idle, [true, true]);
}

#[test]
fn each_timer_keeps_its_period() {
    let mut pi = AnyParams::of("pi").unwrap();
    pi.set("frequency", &Value::Text("100 Hz".to_owned())).unwrap();
    let mut redtail = redtail(|p| (p.short, p.long) = (Box::new(pi.clone()), inside("ared", None)));
    assert_eq!(redtail.period(), Some(Span::ms(10)));
    for tick in 1..=149 {
        redtail.on_period(at(10 * tick), &ROOM, &lanes(0, 0));
        assert_eq!(redtail.due, [at(10 * tick + 10), at((tick / 50 + 1) * 500), Time::MAX]);
    }
}

/// RED+Tail with prediction: the link sends 1250 bytes per millisecond, and in every 10 ms this many packets arrive.
fn predicting(change: impl Fn(&mut Params), arrivals: &[u64]) -> Redtail {
    let mut redtail = redtail(|p| {
        (p.allocation, p.interval, p.min_th1, p.max_th1) =
            (Allocation::Prediction, Span::ms(10), Bytes(2_000), Bytes(25_000));
        change(p);
    });
    for (k, packets) in (1..).zip(arrivals) {
        for _ in 0..*packets {
            // Half of them overflow.
            let buffer = Backlog { full: packets % 2 == 0, ..ROOM };
            redtail.on_enqueue(at(10 * k - 1), &packet(1), &buffer, &lanes(0, 0), &mut Draw(0.5));
        }
        redtail.on_period(at(10 * k), &ROOM, &lanes(0, 0));
    }
    redtail
}

#[test]
fn expected_arrivals_are_served_beside_the_queue() {
    // Of the 12 500 bytes of an interval, 2000 arrived, then 4000; half of the step in the level and no trend: 0.24.
    let half = |p: &mut Params| (p.alpha, p.beta) = (0.5, 0.0);
    let split = predicting(half, &[2, 4]).split;
    for (q1, share) in [(0, 0.0), (1, 0.24 + 4e-5), (1_000, 0.28), (12_500, 0.74), (20_000, 0.9)] {
        assert_close(split.share(q1), share);
    }
    // In half a second the link sends 625 000 bytes.
    let patient = |p: &mut Params| (p.alpha, p.beta, p.horizon) = (0.5, 0.0, Some(Span::ms(500)));
    assert_close(predicting(patient, &[2, 4]).split.share(125_000), 0.24 + 0.2);
}

#[test]
fn before_the_first_forecast_the_queue_alone_decides() {
    let rule = redtail(|p| p.max_th1 = Bytes(25_000)).split;
    for split in [predicting(|_| {}, &[]).split, predicting(|_| {}, &[0, 0, 0]).split] {
        for q1 in [0, 1, 2_000, 2_001, 12_500, 24_000, 160_000] {
            assert_close(split.share(q1), rule.share(q1));
        }
    }
}

#[test]
fn expected_rates_keep_to_the_bounds() {
    let bounds = |p: &mut Params| (p.c1_min, p.c1_max) = (Some(0.3), 0.6);
    assert_close(predicting(bounds, &[0, 0]).split.share(1_000), 0.3);
    assert_close(predicting(bounds, &[12, 12]).split.share(1_000), 0.6);
    assert_eq!(predicting(bounds, &[12, 12]).split.share(0), 0.0);
}

#[test]
fn long_packets_are_not_expected() {
    let mut redtail = predicting(|p| p.n = 2, &[9]);
    let mut signals = vec![];
    redtail.signals(|_, value| signals.push(value));
    // 2000 bytes in 10 ms.
    assert_close(signals[2], 1.6e6);
    redtail.on_period(at(20), &ROOM, &lanes(0, 0));
    redtail.signals(|i, value| assert!(i < 2 || value < 1.6e6));
    assert_eq!(signals[2], signals[3]);
}

#[test]
fn a_forecast_that_changes_during_a_packet_counts_by_its_time() {
    let mut redtail = predicting(|p| p.beta = 0.0, &[1]);
    redtail.split.change(at(10), 2_500);
    let both = lanes(2_500, 9_000);
    // 0.08 is expected, and 0.1 is for the queue; at 20 ms, 0.3 times 0.16 and 0.7 times 0.08.
    assert_eq!(sends(&mut redtail, at(15), &both, 1000), SHORT);
    for _ in 0..2 {
        redtail.on_enqueue(at(19), &packet(1), &Backlog { full: true, ..ROOM }, &both, &mut Draw(0.5));
    }
    redtail.on_period(at(20), &ROOM, &both);
    redtail.serve(at(23), &both);
    assert_close(redtail.split.balance, -1000.0 + 1000.0 * (5.0 * 0.18 + 3.0 * (0.1 + 0.048 + 0.056)) / 8.0);
}

#[test]
fn the_forecast_has_a_timer_beside_the_others() {
    let predict = |p: &mut Params| p.allocation = Allocation::Prediction;
    assert_eq!(redtail(predict).period(), Some(Span::ms(100)));
    let mut redtail = redtail(|p| {
        predict(p);
        p.long = inside("ared", None);
    });
    assert_eq!(redtail.period(), Some(Span::ms(100)));
    for tick in 1..=14 {
        redtail.on_period(at(100 * tick), &ROOM, &lanes(0, 0));
        assert_eq!(redtail.due, [Time::MAX, at((tick / 5 + 1) * 500), at(100 * tick + 100)]);
    }
}

#[derive(Clone, Copy)]
struct Of(u32);

impl Frame for Of {
    fn packet(&self) -> Packet {
        packet(self.0)
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        0
    }
}

#[test]
fn both_queues_share_the_buffer_and_no_packet_is_dropped_before_it_is_full() {
    let port = Port { limit: Limit::Bytes(8_500), rate: Rate::mbit_per_s(8), ..PORT };
    let params = Params { n: 3, long: inside("droptail", None), ..Params::default() };
    for pairs in [[1; 8], [1, 1, 1, 1, 2, 2, 2, 3], [1, 2, 3, 4, 5, 6, 7, 8]] {
        let mut queue = Queue::new(AnyParams::Redtail(params.clone()).build(&port), &port, &[1]);
        for pair in pairs {
            assert_eq!(queue.enqueue(at(0), Of(pair), &mut Draw(0.0)), Outcome::Queued);
        }
        assert_eq!(queue.enqueue(at(0), Of(1), &mut Draw(0.0)), Outcome::Overflowed);
        assert_eq!(queue.enqueue(at(0), Of(9), &mut Draw(0.0)), Outcome::Overflowed);
        assert_eq!(queue.lanes().iter().map(|lane| lane.packets).sum::<u32>(), 8);
    }
}

#[test]
fn the_long_queue_s_algorithm_sees_the_long_queue_alone() {
    let mut red = AnyParams::of("red").unwrap();
    for (key, value) in [("min_th", 5.0), ("max_th", 10.0), ("w_q", 1.0)] {
        red.set(key, &Value::Float(value)).unwrap();
    }
    red.set("gentle", &Value::Bool(false)).unwrap();
    let mut redtail = redtail(|p| (p.n, p.long) = (0, Box::new(red.clone())));
    let mut verdict =
        |short, long| redtail.on_enqueue(at(0), &packet(1), &ROOM, &lanes(short, long), &mut Draw(0.0)).1;
    assert_eq!([verdict(99_000, 4_000), verdict(99_000, 4_000)], [Verdict::Pass; 2]);
    assert_eq!([verdict(0, 10_000), verdict(0, 10_000)], [Verdict::Pass, Verdict::Drop]);
    redtail.signals(|i, value| assert!(i > 0 || value == 1.0, "p is {value}"));
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let error = |params: Params| Redtail::check(&params).unwrap_err().to_string();
    assert_eq!(
        error(Params { min_th1: Bytes(30_001), ..Params::default() }),
        "min_th1 = 30001 B: must be at most max_th1 = 30000 B"
    );
    assert_eq!(
        error(Params { c1_min: Some(0.95), ..Params::default() }),
        "c1_min = 0.95: must be at most c1_max = 0.9"
    );
}
