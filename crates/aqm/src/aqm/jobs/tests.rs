//! Steps of JoBS, computed by hand. The link has 10 Mbit/s; packets have 500 bytes, 4000 bits.

use super::*;
use crate::discipline::Head;
use crate::fixture::{Draw, PORT, assert_close};

/// A class with this many packets of 500 bytes; the first arrived at `ms` milliseconds.
fn lane(packets: u32, ms: u64) -> Lane {
    let head = Head { arrived: at(ms), size: 500 };
    Lane {
        packets,
        bytes: 500 * u64::from(packets),
        head: (packets > 0).then_some(head),
        tail: 500 * packets.min(1),
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

fn packet(class: u8) -> Packet {
    Packet { class, ..Packet::new(500, false) }
}

/// Runs an arrival of `class` that finds room and leaves the lanes like this; returns the class of each packet that it
/// pushes out.
fn arrive(jobs: &mut Jobs, ms: u64, class: u8, lanes: &mut [Lane]) -> Vec<usize> {
    jobs.on_enqueue(at(ms), &packet(class), &Backlog::default(), lanes, &mut Draw(0.5));
    let mut dropped = vec![];
    while let Some(Eviction { lane: class, place, .. }) = jobs.evict(at(ms), lanes) {
        assert_eq!(place, lanes[class].packets - 1);
        lanes[class] = Lane { head: lanes[class].head, ..lane(lanes[class].packets - 1, 0) };
        dropped.push(class);
    }
    dropped
}

fn rates(jobs: &Jobs) -> [f64; N] {
    std::array::from_fn(|i| jobs.classes[i].rate)
}

fn assert_rates(jobs: &Jobs, expected: [f64; N]) {
    for (found, expected) in rates(jobs).into_iter().zip(expected) {
        assert!((found - expected).abs() < 1.0, "{:?}, not {expected:?}", rates(jobs));
    }
}

fn list<T>(entries: [Option<T>; N]) -> Vec<Option<T>> {
    entries.into()
}

#[test]
fn classes_that_wait_share_the_link_evenly_without_guarantees() {
    let mut jobs = Jobs::new(&Params::default(), &PORT);
    arrive(&mut jobs, 1, 2, &mut [lane(0, 0), lane(1, 1), lane(0, 0), lane(0, 0)]);
    assert_rates(&jobs, [0.0, 1e7, 0.0, 0.0]);
    arrive(&mut jobs, 2, 4, &mut [lane(0, 0), lane(1, 1), lane(0, 0), lane(1, 2)]);
    assert_rates(&jobs, [0.0, 5e6, 0.0, 5e6]);
    arrive(&mut jobs, 3, 4, &mut [lane(0, 0), lane(0, 0), lane(0, 0), lane(2, 2)]);
    assert_rates(&jobs, [0.0, 0.0, 0.0, 1e7]);
}

#[test]
fn the_class_most_behind_its_rate_is_served_and_of_equals_the_first() {
    for (form, due, next) in [(Form::Paper, 5000.0, 1), (Form::Ns2, 0.0, 0)] {
        let mut jobs = Jobs::new(&Params { form, ..Params::default() }, &PORT);
        let mut lanes = [lane(2, 1), lane(1, 1), lane(0, 0), lane(0, 0)];
        arrive(&mut jobs, 1, 1, &mut lanes);
        arrive(&mut jobs, 1, 2, &mut lanes);
        assert_eq!(jobs.serve(at(1), &lanes), 0);
        jobs.on_dequeue(at(1), 0, &packet(1), &Backlog::default(), &lanes, Span::ZERO, &mut Draw(0.5));
        // 1 ms at 5 Mbit/s is 5000 bits for each class, and class 1 has sent 4000; in ns-2 only for the class of the
        // arrival.
        arrive(&mut jobs, 2, 1, &mut lanes);
        assert_close(jobs.classes[0].due, 5000.0);
        assert_close(jobs.classes[1].due, due);
        assert_eq!(jobs.serve(at(2), &lanes), next);
    }
}

#[test]
fn a_delay_bound_takes_the_rate_it_needs_from_the_last_class() {
    let params = Params { delay: list([Some(Span::ms(2)), None, None, None]), ..Params::default() };
    let mut jobs = Jobs::new(&params, &PORT);
    // 4 packets, 16 000 bits, in 2 ms: 8 Mbit/s, for which the last waiting class gives up its rate.
    let mut lanes = [lane(4, 5), lane(3, 1), lane(0, 0), lane(1, 1)];
    assert!(arrive(&mut jobs, 5, 1, &mut lanes).is_empty());
    assert_rates(&jobs, [8e6, 2e6, 0.0, 0.0]);
}

#[test]
fn late_packets_are_dropped_unless_that_breaks_the_loss_bound() {
    for (loss, dropped) in [(None, 2), (Some(0.14), 1), (Some(0.09), 0)] {
        let params = Params {
            delay: list([Some(Span::ms(2)), None, None, None]),
            loss: list([loss, None, None, None]),
            ..Params::default()
        };
        let mut jobs = Jobs::new(&params, &PORT);
        jobs.classes[0].arrived = 9.0 * 4000.0;
        jobs.classes[0].entered = 9.0 * 4000.0;
        jobs.idle = false;
        // The first of 4 has waited 1 ms, and so has 1 ms left: 16 Mbit/s. All of the link sends 10 000 bits, 2 packets.
        let mut lanes = [lane(4, 4), lane(1, 1), lane(0, 0), lane(0, 0)];
        assert_eq!(arrive(&mut jobs, 5, 1, &mut lanes), vec![0; dropped], "{loss:?}");
        assert_rates(&jobs, [1e7, 0.0, 0.0, 0.0]);
        assert_close(jobs.classes[0].loss, dropped as f64 / 10.0);
    }
}

#[test]
fn rate_bounds_that_exceed_the_link_go_to_the_first_classes() {
    let rate = [6, 5, 3, 1].map(|mbit| Some(Rate::mbit_per_s(mbit)));
    let mut jobs = Jobs::new(&Params { rate: list(rate), ..Params::default() }, &PORT);
    let mut lanes = [lane(1, 1), lane(1, 1), lane(1, 1), lane(1, 1)];
    assert!(arrive(&mut jobs, 1, 1, &mut lanes).is_empty());
    // 2.5 each: class 1 lacks 3.5, of which class 4 can spare 1.5.
    assert_rates(&jobs, [4e6, 2.5e6, 2.5e6, 1e6]);
}

#[test]
fn the_longer_a_class_waits_beyond_its_share_the_more_rate_it_gets() {
    let params = Params { relative_delay: list([Some(4.0), Some(4.0), None, None]), ..Params::default() };
    let mut jobs = Jobs::new(&params, &PORT);
    // Class 2 may wait 4 times as long as class 1: weights 4 and 1.
    assert_eq!(jobs.classes.each_ref().map(|class| class.delay_weight), [Some(4.0), Some(1.0), None, None]);
    jobs.conserve_work(&[lane(2, 0), lane(2, 0), lane(0, 0), lane(0, 0)]);
    for class in &mut jobs.classes {
        class.entered = 8000.0;
    }
    // A load of 2: 4000 bits every 0.2 ms.
    (jobs.load.packets, jobs.load.size, jobs.load.gap) = (9.0, 4000.0, 0.0002);
    // Class 1 has waited 2 ms, class 2 has 4: weighted 8 and 4 ms, of mean 6, so that e is -2 and 2 ms.
    // K = -2 (1e7)^2 0.5 2 2 / (4 4000) = -2.5e10: class 1 gets 50 Mbit/s more, that is, all.
    jobs.adjust_rates(at(5), &[lane(2, 3), lane(2, 1), lane(0, 0), lane(0, 0)]);
    assert_rates(&jobs, [1e7, 0.0, 0.0, 0.0]);
    // Nearly in relation, e is -+ 0.05 ms: 1.25 Mbit/s move.
    jobs.classes[0].rate = 5e6;
    jobs.classes[1].rate = 5e6;
    let head = |us| Some(Head { arrived: Time::ZERO + Span::us(us), size: 500 });
    let lanes = [Lane { head: head(3975), ..lane(2, 0) }, Lane { head: head(1000), ..lane(2, 0) }];
    jobs.adjust_rates(at(5), &[lanes[0], lanes[1], lane(0, 0), lane(0, 0)]);
    assert_rates(&jobs, [6.25e6, 3.75e6, 0.0, 0.0]);
}

#[test]
fn no_relation_takes_a_class_below_its_minimum() {
    let params = Params { relative_delay: list([Some(4.0), Some(4.0), None, None]), ..Params::default() };
    let mut jobs = Jobs::new(&params, &PORT);
    jobs.conserve_work(&[lane(2, 0), lane(2, 0), lane(0, 0), lane(0, 0)]);
    for class in &mut jobs.classes {
        class.entered = 8000.0;
    }
    jobs.classes[1].min_rate = 4e6;
    (jobs.load.size, jobs.load.gap) = (4000.0, 0.0002);
    jobs.adjust_rates(at(5), &[lane(2, 3), lane(2, 1), lane(0, 0), lane(0, 0)]);
    assert_rates(&jobs, [6e6, 4e6, 0.0, 0.0]);
}

/// JoBS whose classes have lost these fractions of ten packets of 500 bytes each.
fn lossy(params: &Params, lost: [f64; N]) -> Jobs {
    let mut jobs = Jobs::new(params, &PORT);
    jobs.idle = false;
    for (class, lost) in jobs.classes.iter_mut().zip(lost) {
        (class.arrived, class.entered) = (40_000.0, 40_000.0 * (1.0 - lost));
    }
    jobs
}

/// The class from which a full buffer drops at an arrival of `class`; none for the arrival itself.
fn overflow(jobs: &mut Jobs, class: u8) -> Option<usize> {
    let lanes = [lane(3, 1), lane(3, 1), lane(3, 1), lane(3, 1)];
    let full = Backlog { packets: 12, bytes: 6000, full: true };
    jobs.make_room(at(5), &packet(class), &full, &lanes, &mut Draw(0.5)).map(|(class, place)| {
        assert_eq!(place, 2);
        class
    })
}

#[test]
fn a_full_buffer_drops_from_the_class_most_below_its_share_of_losses() {
    let relation =
        Params { relative_loss: list([Some(2.0), Some(2.0), Some(1.0), None]), ..Params::default() };
    // Class 2 may lose twice as much as class 1, class 3 twice as much as class 2: weights 8, 4 and 2.
    let mut jobs = lossy(&relation, [0.1, 0.1, 0.3, 0.0]);
    assert_eq!(
        jobs.classes.each_ref().map(|class| class.loss_weight),
        [Some(8.0), Some(4.0), Some(2.0), None]
    );
    // Weighted 0.8, 0.4, 0.6, of mean 0.6.
    assert_eq!(overflow(&mut jobs, 3), Some(1));
    assert_close(jobs.classes[1].loss, 0.2);
    // A class outside the relation, and without a bound, loses its own arrival.
    assert_eq!(overflow(&mut lossy(&relation, [0.1, 0.1, 0.3, 0.0]), 4), None);
}

#[test]
fn a_loss_bound_precedes_the_relation_and_the_class_with_the_largest_margin_loses() {
    let params = Params {
        relative_loss: list([Some(2.0), Some(2.0), Some(1.0), None]),
        loss: list([Some(0.5), Some(0.15), Some(0.9), Some(0.4)]),
        ..Params::default()
    };
    // Class 2 is furthest below the mean, but 0.1 + 1/10 is beyond its bound. Margins: 0.4, 0.05, 0.6, 0.2.
    assert_eq!(overflow(&mut lossy(&params, [0.1, 0.1, 0.3, 0.2]), 1), Some(2));
    // ns-2 chooses the last class.
    let slips = Params { form: Form::Ns2, ..params };
    assert_eq!(overflow(&mut lossy(&slips, [0.1, 0.1, 0.3, 0.2]), 1), Some(3));
}

#[test]
fn lists_are_as_long_as_there_are_classes_or_shorter() {
    let short = Params { delay: vec![Some(Span::ms(2))], ..Params::default() };
    assert!(Jobs::check(&short).is_ok());
    let jobs = Jobs::new(&short, &PORT);
    assert_eq!(jobs.classes.each_ref().map(|class| class.delay), [Some(0.002), None, None, None]);
    let long = Params { loss: vec![None; 5], ..Params::default() };
    let error = Jobs::check(&long).unwrap_err().to_string();
    assert_eq!(error, "loss = a list of 5: must be a list of at most 4, an entry a class");
}
