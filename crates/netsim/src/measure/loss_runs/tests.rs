//! Tests of loss runs, fate by fate.

use super::*;
use crate::packet::Header;
use crate::tcp::Ack;
use scenario::model::Ecn;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

/// A datagram of flow `flow`, whose class is its number too.
fn packet(flow: u32) -> Packet {
    let header = Header { flow, generation: 0, hop: 0, class: flow as u16, size: 500 };
    Packet::datagram(Time::ZERO, header, Ecn::None)
}

fn losses() -> Losses {
    Losses::new(3, 1, Span::ms(100))
}

/// A packet arrives at an empty queue and is sent.
fn send(losses: &mut Losses, now: Time, packet: &Packet) {
    let number = losses.arrivals;
    losses.on_entry();
    losses.on_departure(now, number, packet);
}

/// The fates of packets of these flows in the order of arrival, a capital for a loss, on an empty queue.
fn fates(losses: &mut Losses, fates: &str) {
    for fate in fates.bytes() {
        let flow = u32::from(fate.to_ascii_lowercase() - b'a');
        if fate.is_ascii_uppercase() {
            losses.on_refusal(at(0), &packet(flow));
        } else {
            send(losses, at(0), &packet(flow));
        }
    }
}

#[test]
fn runs_are_of_a_flows_own_packets_and_bursts_of_anyones() {
    let mut losses = losses();
    // Flow a: A, AA; flow b: BB, B; together: AB, B, AAB, the last still open.
    fates(&mut losses, "aABaBabAAB");
    let (classes, bursts) = losses.runs(at(9), std::iter::empty());
    assert_eq!(classes[0].counts(), [1, 1]);
    assert_eq!(classes[1].counts(), [1, 1]);
    assert_eq!(classes[2].counts(), [0; 0]);
    assert_eq!(bursts.counts(), [1, 1, 1]);
    assert_eq!((bursts.mean(), classes[0].mean(), classes[2].mean()), (Some(2.0), Some(1.5), None));
    assert_eq!(Runs::sum(&classes).counts(), [2, 2]);
    losses.reset();
    fates(&mut losses, "bC");
    let (classes, bursts) = losses.runs(at(9), std::iter::empty());
    assert_eq!((classes[1].counts(), classes[2].counts(), bursts.counts()), (&[][..], &[1][..], &[1][..]));
}

#[test]
fn flows_that_have_a_number_one_after_the_other_are_told_apart() {
    let mut losses = losses();
    let ack = Ack { next: 1, ..Ack::default() };
    let header = Header { flow: 1, generation: 0, hop: 0, class: 1, size: 40 };
    let connection = |generation| Packet::ack(&ack, Header { generation, ..header });
    send(&mut losses, at(0), &connection(0));
    for generation in [0, 0, 1] {
        losses.on_refusal(at(1), &connection(generation));
    }
    let (classes, bursts) = losses.runs(at(9), std::iter::empty());
    assert_eq!((classes[1].counts(), bursts.counts()), (&[1, 1][..], &[0, 0, 1][..]));
    // Both are active, and both have lost.
    assert_eq!(losses.events.synchronisation(), Some(1.0));
    send(&mut losses, at(150), &connection(2));
    losses.on_refusal(at(150), &connection(2));
    assert_eq!(losses.events.synchronisation(), Some((1.0 + 1.0 / 3.0) / 2.0));
}

#[test]
fn the_longest_runs_share_a_bin_and_count_in_full() {
    let mut losses = losses();
    fates(&mut losses, &"A".repeat(250));
    let (classes, _) = losses.runs(at(9), std::iter::empty());
    assert_eq!(classes[0].counts().len(), LONGEST_RUN);
    assert_eq!(classes[0].mean(), Some(250.0));
}

#[test]
fn runs_are_in_the_order_of_arrivals_whenever_packets_are_dropped() {
    // Arrivals a b A c a: the capital is dropped at arrival; then a is sent, b dropped, the second a sent before c.
    let mut losses = losses();
    losses.on_entry();
    losses.on_entry();
    losses.on_refusal(at(0), &packet(0));
    losses.on_entry();
    losses.on_entry();
    losses.on_departure(at(1), 0, &packet(0));
    losses.on_late_drop(at(2), 1, &packet(1));
    losses.on_departure(at(2), 4, &packet(0));
    losses.on_departure(at(3), 3, &packet(2));
    let (classes, bursts) = losses.runs(at(9), std::iter::empty());
    assert_eq!(bursts.counts(), [0, 1], "b A");
    assert_eq!((classes[0].counts(), classes[1].counts()), (&[1][..], &[1][..]), "A; b");
}

#[test]
fn what_waits_at_the_end_counts_as_sent() {
    // Arrivals A b A, b still waiting.
    let mut losses = losses();
    losses.on_refusal(at(0), &packet(0));
    losses.on_entry();
    losses.on_refusal(at(0), &packet(0));
    let (classes, bursts) = losses.runs(at(9), std::iter::once((1, &packet(1))));
    assert_eq!((classes[0].counts(), bursts.counts()), (&[0, 1][..], &[2][..]));
}

#[test]
fn synchronisation_is_the_mean_share_of_active_flows_that_an_event_hits() {
    let mut losses = losses();
    for flow in 0..3 {
        send(&mut losses, at(10), &packet(flow));
    }
    // An event of 100 ms hits two of three flows, the next one of three.
    for (ms, flow) in [(100, 0), (150, 0), (199, 1), (200, 2)] {
        losses.on_refusal(at(ms), &packet(flow));
    }
    assert_eq!(losses.events.count(), 2);
    assert!((losses.events.synchronisation().unwrap() - 0.5).abs() < 1e-12);
    losses.reset();
    assert_eq!((losses.events.count(), losses.events.synchronisation()), (0, None));
    // Flow 1 was last seen in the second before this one, flow 2 too: 1 of 3. Two seconds later, 1 of 1.
    losses.on_refusal(at(1500), &packet(0));
    assert_eq!(losses.events.synchronisation(), Some(1.0 / 3.0));
    losses.on_refusal(at(3500), &packet(0));
    assert_eq!(losses.events.synchronisation(), Some((1.0 / 3.0 + 1.0) / 2.0));
}

#[test]
fn a_packet_that_starves_does_not_keep_the_fates_of_all_others() {
    for lanes in [1, 2] {
        let mut losses = Losses::new(3, lanes, Span::ms(100));
        losses.on_entry();
        fates(&mut losses, "B");
        for _ in 0..MOST_FATES {
            send(&mut losses, at(0), &packet(2));
        }
        assert_eq!(losses.fates.len(), 0);
        // Its own drop, so late, has no place among the others.
        losses.on_late_drop(at(1), 0, &packet(0));
        fates(&mut losses, "Cc");
        let (classes, bursts) = losses.runs(at(1), std::iter::empty());
        assert_eq!((classes[0].counts(), classes[1].counts()), (&[][..], &[1][..]));
        assert_eq!((classes[2].counts(), bursts.counts()), (&[1][..], &[2][..]));
    }
}
