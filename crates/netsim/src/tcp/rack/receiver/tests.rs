use super::*;
use proptest::prelude::*;
use scenario::model::Tcp;
use std::collections::BTreeSet;

fn profile(compressed_acks: bool) -> Profile {
    // The window does not grow for long, so that not every ACK is quick.
    Profile::new(&Tcp { quick_acks: 1, compressed_acks, ..Tcp::preset("linux").unwrap() }, 1500)
}

fn segment(seq: u32, sent: Time) -> Segment {
    Segment {
        seq,
        syn: seq == 0,
        retransmission: false,
        cwr: false,
        ect: false,
        l4s: false,
        push: false,
        sent,
    }
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

/// A receiver after the handshake over 10 ms.
fn open(profile: &Profile) -> Receiver {
    let mut receiver = Receiver::new(0);
    receiver.on_segment(at(0), profile, &segment(0, at(0)), false, |_| ());
    receiver
}

/// The content of an ACK for the segments that have arrived, the latest of them `seq`, which had come before or not.
fn judge(ack: &Ack, have: &BTreeSet<u32>, seq: u32, twice: bool, at_once: bool) {
    let next = (1..).find(|seq| !have.contains(seq)).unwrap();
    assert_eq!(ack.next, next);
    let mut blocks: Vec<(u32, u32)> = ack.blocks.into_iter().filter(|block| *block != (0, 0)).collect();
    if let [(low, high), ref rest @ ..] = blocks[..]
        && (low < next || rest.iter().any(|&(first, end)| first <= low && high <= end))
    {
        assert!((low..high).all(|seq| have.contains(&seq)), "it came: {ack:?}");
        assert!(!at_once || twice && (low, high) == (seq, seq + 1), "what came twice is {seq}: {ack:?}");
        blocks.remove(0);
    } else {
        assert!(!at_once || !twice, "{seq} came twice: {ack:?}");
    }
    if at_once && seq > next && !blocks.is_empty() {
        assert!((blocks[0].0..blocks[0].1).contains(&seq), "then what came last: {seq} in {ack:?}");
    }
    for &(low, high) in &blocks {
        assert!(low > next && low < high && (low..high).all(|seq| have.contains(&seq)), "{ack:?}");
    }
    blocks.sort_unstable();
    assert!(blocks.windows(2).all(|pair| pair[0].1 < pair[1].0), "apart: {ack:?}");
}

proptest! {
    #[test]
    fn every_ack_is_true_whatever_comes_when(
        early in prop::collection::vec((1_u32..40, 0_u64..4000), 0..60),
        rest in Just((1_u32..40).collect::<Vec<_>>()).prop_shuffle(),
        compressed in any::<bool>(),
    ) {
        let profile = profile(compressed);
        let mut receiver = open(&profile);
        let (mut have, mut now, mut asked) = (BTreeSet::new(), 10_000, 1);
        for (seq, gap) in early.into_iter().chain(rest.into_iter().map(|seq| (seq, 300))) {
            now += gap;
            while receiver.deadline() <= at(now) {
                receiver.on_timer(receiver.deadline(), &profile, |ack| {
                    judge(&ack, &have, 0, false, false);
                    asked = ack.next;
                });
            }
            let twice = !have.insert(seq);
            let mut acks = Vec::new();
            receiver.on_segment(at(now), &profile, &segment(seq, at(now)), false, |ack| acks.push(ack));
            acks.iter().for_each(|ack| judge(ack, &have, seq, twice, !compressed));
            asked = acks.last().map_or(asked, |ack| ack.next);
            // What fills no gap and what came before is answered at once.
            let urgent = seq > asked && !compressed || twice && seq < asked;
            prop_assert!(!acks.is_empty() || !urgent);
        }
        while receiver.deadline() < Time::MAX {
            receiver.on_timer(receiver.deadline(), &profile, |ack| asked = ack.next);
        }
        prop_assert_eq!((receiver.delivered(), asked), (39, 40));
    }
}

#[test]
fn an_ack_echoes_the_segment_that_it_waited_for() {
    let profile = profile(true);
    let mut receiver = open(&profile);
    let mut echo = |seq, sent| {
        let mut echo = None;
        receiver.on_segment(at(sent + 10_000), &profile, &segment(seq, at(sent)), false, |ack| {
            echo = Some(ack.echo)
        });
        echo
    };
    assert_eq!(echo(1, 10_000), Some(at(10_000)));
    // Beyond a gap the echo stays, so that the round trip does not count the wait (RFC 7323, section 4.3).
    assert_eq!(echo(3, 12_000), Some(at(10_000)));
    assert_eq!(echo(2, 20_000), Some(at(20_000)));
}

#[test]
fn without_quick_and_compressed_acks_it_is_the_plain_receiver() {
    let tcp = Tcp { quick_acks: 0, compressed_acks: false, ..Tcp::preset("linux").unwrap() };
    let profile = Profile::new(&tcp, 1500);
    let mut receiver = open(&profile);
    let mut acks = |seq| {
        let mut acks = Vec::new();
        receiver.on_segment(at(10_000), &profile, &segment(seq, at(0)), false, |ack| acks.push(ack.next));
        acks
    };
    assert_eq!((1..=4).map(&mut acks).collect::<Vec<_>>(), [vec![], vec![3], vec![], vec![5]]);
    assert_eq!((6..=12).map(&mut acks).collect::<Vec<_>>(), vec![vec![5]; 7]);
}

/// The ECN fields of the SYN-ACK and of an ACK: whether they may be marked, and whether by ECT(1).
fn codepoints(tcp: &str, ecn: bool) -> [(bool, bool); 2] {
    let profile = Profile::new(&Tcp { ecn, ..Tcp::preset(tcp).unwrap() }, 1500);
    let mut receiver = Receiver::new(0);
    [0, 1].map(|seq| {
        let mut codepoint = None;
        let segment = Segment { push: true, ..segment(seq, at(0)) };
        receiver.on_segment(at(0), &profile, &segment, false, |ack| codepoint = Some((ack.ect, ack.l4s)));
        codepoint.unwrap()
    })
}

#[test]
fn acks_may_be_marked_only_where_the_control_needs_marks() {
    let [none, ect0, ect1] = [(false, false), (true, false), (true, true)];
    for tcp in ["linux", "bbr", "bbr3", "bbr3-l4s"] {
        assert_eq!(codepoints(tcp, true), [none; 2], "{tcp}");
    }
    assert_eq!(codepoints("dctcp", true), [ect0; 2]);
    for tcp in ["l4s", "prague"] {
        assert_eq!(codepoints(tcp, true), [ect1; 2], "{tcp}");
    }
    // The listening socket does not know what the connection will be.
    assert_eq!(codepoints("dctcp", false), [ect0, none]);
}

#[test]
fn the_ack_before_a_change_of_marks_has_the_echo_of_the_segments_before() {
    let profile = Profile::new(&Tcp { quick_acks: 0, ..Tcp::preset("dctcp").unwrap() }, 1500);
    let mut receiver = open(&profile);
    let mut echoes = |seq, ce, cwr| {
        let mut echoes = vec![];
        let segment = Segment { ect: true, cwr, ..segment(seq, at(10_000)) };
        receiver.on_segment(at(10_000), &profile, &segment, ce, |ack| echoes.push((ack.next, ack.ece)));
        echoes
    };
    assert_eq!([echoes(1, true, false), echoes(2, true, false)], [vec![(2, true)], vec![]]);
    assert_eq!(echoes(3, false, true), [(3, true), (4, false)]);
}

#[test]
fn accurate_ecn_counts_each_mark_and_hurries_the_first_and_every_second() {
    let profile = Profile::new(&Tcp { quick_acks: 0, ..Tcp::preset("prague").unwrap() }, 1500);
    let mut receiver = open(&profile);
    let mut counters = |seq: u32, ce: bool| {
        let now = at(10_000 + 100 * u64::from(seq));
        let segment = Segment { ect: true, l4s: true, ..segment(seq, now) };
        let mut sent = vec![];
        receiver.on_segment(now, &profile, &segment, ce, |ack| sent.push(ack.marks.unwrap()));
        sent
    };
    assert_eq!((counters(1, false), counters(2, false)), (vec![], vec![0]));
    // The first mark at once, then two by two, as delayed ACKs are.
    assert_eq!((counters(3, true), counters(4, true), counters(5, true)), (vec![1], vec![], vec![3]));
    // A mark on what comes again counts too.
    assert_eq!(counters(5, true), vec![4]);
    (6..9).for_each(|seq| {
        counters(seq, true);
    });
    // The eighth.
    let last = [counters(9, true), counters(10, false), counters(11, false)].concat();
    assert!(!last.is_empty() && last.iter().all(|marks| *marks == 0), "{last:?}");
}
