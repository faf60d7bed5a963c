//! SFB's unit tests.

use super::*;
use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};

/// SFB with large steps, for which a queue of 3 is too long, and 6 packets too many.
fn params() -> Params {
    Params { bin_size: 3, max: 6, increment: 0.3, decrement: 0.1, perturbation: Some(1), ..Params::default() }
}

fn arrives(sfb: &mut Sfb, ms: u64, flow: u64, u: f64) -> Verdict {
    let (now, queue) = (Time::ZERO + Span::ms(ms), waiting(sfb.waiting.len() as u32));
    sfb.on_enqueue(now, &Packet { flow, ..PACKET }, &queue, &mut Draw(u))
}

fn leaves(sfb: &mut Sfb) {
    let left = waiting((sfb.waiting.len() as u32).saturating_sub(1));
    sfb.on_dequeue(Time::ZERO, &PACKET, &left, Span::ZERO, &mut Draw(0.5));
}

#[test]
fn only_flows_that_fill_their_bins_are_dropped() {
    let mut sfb = Sfb::new(&params(), &PORT);
    let p: Vec<f64> = (0..5)
        .map(|_| {
            arrives(&mut sfb, 0, 7, 0.95);
            sfb.p_min
        })
        .collect();
    for (found, expected) in p.into_iter().zip([0.0, 0.0, 0.0, 0.3, 0.6]) {
        assert_close(found, expected);
    }
    assert_eq!(arrives(&mut sfb, 0, 8, 0.0), Verdict::Pass);
    assert_eq!(sfb.p_min, 0.0);
}

#[test]
fn a_bin_without_packets_forgives() {
    let mut sfb = Sfb::new(&params(), &PORT);
    for _ in 0..4 {
        arrives(&mut sfb, 0, 7, 0.95);
    }
    (0..4).for_each(|_| leaves(&mut sfb));
    for p in [0.2, 0.1, 0.0, 0.0] {
        assert_eq!(arrives(&mut sfb, 0, 7, 0.95), Verdict::Pass);
        assert_close(sfb.p_min, p);
        leaves(&mut sfb);
    }
    assert!(sfb.sets.iter().all(|set| set.bins.iter().all(|bin| bin.qlen == 0)));
}

#[test]
fn max_packets_are_the_most() {
    let mut sfb = Sfb::new(&Params { increment: 0.0, ..params() }, &PORT);
    assert_eq!([(); 7].map(|()| arrives(&mut sfb, 0, 7, 0.5))[5..], [Verdict::Pass, Verdict::Drop]);
}

#[test]
fn the_penalty_box_lets_packets_out_at_its_rate() {
    let strict = Params { increment: 1.0, max: 1000, penalty_burst: 2, ..params() };
    let mut sfb = Sfb::new(&strict, &PORT);
    // Three are accepted; then two of the burst, and one every 100 ms.
    let passed: Vec<u64> = (0..500).filter(|&ms| arrives(&mut sfb, ms, 7, 0.0) == Verdict::Pass).collect();
    assert_eq!(passed, [0, 1, 2, 3, 4, 103, 203, 303, 403]);
    assert_eq!(arrives(&mut sfb, 500, 8, 0.0), Verdict::Pass);
}

#[test]
fn a_rehash_forgets_all_flows_but_those_in_the_penalty_box() {
    let strict = Params {
        increment: 1.0,
        max: 1000,
        penalty_burst: 1000,
        rehash: Span::s(10),
        db: Span::s(1),
        ..params()
    };
    for (last, p) in [(8, 0.0), (9, 1.0)] {
        let mut sfb = Sfb::new(&strict, &PORT);
        for ms in (0..7).map(|i| last * 1000 + 1 + i) {
            assert_eq!(arrives(&mut sfb, ms, 7, 0.5), Verdict::Pass);
        }
        assert_eq!(sfb.p_min, 1.0);
        arrives(&mut sfb, 10_000, 7, 0.5);
        arrives(&mut sfb, 10_001, 7, 0.5);
        assert_eq!((sfb.active, sfb.p_min), (1, p));
        // A packet leaves the bins of every set that counted it.
        (0..9).for_each(|_| leaves(&mut sfb));
        assert!(sfb.sets.iter().all(|set| set.bins.iter().all(|bin| bin.qlen == 0)));
    }
}

#[test]
fn marks_give_way_to_drops_above_one_half() {
    let mut sfb = Sfb::new(&Params { ecn: true, max: 1000, ..params() }, &PORT);
    for _ in 0..3 {
        arrives(&mut sfb, 0, 7, 0.0);
    }
    // p_min = 0.3, then 0.6: dropped below 0.2, marked below 0.6.
    assert_eq!(arrives(&mut sfb, 0, 7, 0.0), Verdict::Mark);
    let verdicts = [0.19, 0.21].map(|u| {
        let mut copy = sfb.clone();
        arrives(&mut copy, 0, 7, u)
    });
    assert_eq!(verdicts, [Verdict::Drop, Verdict::Mark]);
}

#[test]
fn the_hash_is_drawn_once_unless_given() {
    let salts = |params: &Params, u| {
        let mut sfb = Sfb::new(params, &PORT);
        arrives(&mut sfb, 0, 7, u);
        arrives(&mut sfb, 0, 7, 0.77);
        sfb.sets.map(|set| set.salt)
    };
    assert_eq!(salts(&params(), 0.1), salts(&params(), 0.2));
    let drawn = Params { perturbation: None, ..params() };
    assert_ne!(salts(&drawn, 0.1), salts(&drawn, 0.2));
    assert_eq!(salts(&drawn, 0.1), salts(&drawn, 0.1));
}

#[test]
fn an_overflow_changes_nothing() {
    let mut sfb = Sfb::new(&params(), &PORT);
    sfb.on_enqueue(Time::ZERO, &PACKET, &full(), &mut Draw(0.0));
    assert_eq!(sfb.waiting.len(), 0);
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let error = Sfb::check(&Params { bin_size: 30, ..Params::default() }).unwrap_err();
    assert_eq!(error.to_string(), "bin_size = 30: must be at most max = 25");
}

#[test]
fn linuxs_penalty_box_starves_flows_that_do_not_wait_for_a_token() {
    let strict = Params {
        increment: 1.0,
        max: 1000,
        bin_size: 3,
        penalty_burst: 2,
        perturbation: Some(1),
        ..Sfb::preset("linux").unwrap()
    };
    let mut sfb = Sfb::new(&strict, &PORT);
    // Three are accepted, then two of the burst; afterwards each refusal within 100 ms of the last postpones the next
    // token.
    let refused: Vec<u64> = (0..500).filter(|&ms| arrives(&mut sfb, ms, 7, 0.0) == Verdict::Drop).collect();
    assert_eq!(refused, (5..500).collect::<Vec<_>>());
    assert_eq!([600, 601].map(|ms| arrives(&mut sfb, ms, 7, 0.0)), [Verdict::Pass, Verdict::Drop]);
    let nobody = Params { penalty_rate: 0.0, ..strict };
    let mut sfb = Sfb::new(&nobody, &PORT);
    assert_eq!([0; 4].map(|ms| arrives(&mut sfb, ms, 7, 0.0))[2..], [Verdict::Pass, Verdict::Drop]);
}

#[test]
fn in_linux_p_m_has_16_bits() {
    let mut sfb = Sfb::new(&Params { bin_size: 1, ..Sfb::preset("linux").unwrap() }, &PORT);
    for _ in 0..3 {
        arrives(&mut sfb, 0, 7, 0.5);
    }
    // 0.0005 is 33 of 65535; a draw below 66 marks.
    sfb.signals(|_, p| assert_close(p, 66.0 / 65_535.0));
    let verdict = |u| arrives(&mut sfb.clone(), 0, 7, u);
    assert_eq!([98.9 / 65_536.0, 99.0 / 65_536.0].map(verdict), [Verdict::Mark, Verdict::Pass]);
}

#[test]
fn drops_are_counted_by_cause() {
    let counted = |params: Params, ms: std::ops::Range<u64>, ect: bool| {
        let mut sfb = Sfb::new(&params, &PORT);
        for now in ms {
            let (now, queue) = (Time::ZERO + Span::ms(now), waiting(sfb.waiting.len() as u32));
            sfb.on_enqueue(now, &Packet { flow: 7, ect, ..PACKET }, &queue, &mut Draw(0.2));
        }
        let mut found = Vec::new();
        sfb.counters(&mut |name, reading| {
            if let Reading::Count(count) = reading {
                found.push((name.to_owned(), count));
            }
        });
        found.into_iter().filter(|(_, count)| *count > 0).collect::<Vec<_>>()
    };
    let named =
        |found: &[(&str, u64)]| found.iter().map(|&(name, n)| (name.to_owned(), n)).collect::<Vec<_>>();
    // Three pass; then p_m is 0.3 and the draw is below it, with marks for those that may have them.
    assert_eq!(counted(params(), 0..4, false), named(&[("earlydrop", 1)]));
    assert_eq!(counted(Params { ecn: true, ..params() }, 0..4, true), named(&[("marked", 1)]));
    // The seventh finds six.
    assert_eq!(counted(Params { increment: 0.0, ..params() }, 0..7, false), named(&[("bucketdrop", 1)]));
    // As above: of 500 arrivals nine pass.
    let strict = Params { increment: 1.0, max: 1000, penalty_burst: 2, ..params() };
    assert_eq!(counted(strict, 0..500, false), named(&[("penaltydrop", 491)]));
}
