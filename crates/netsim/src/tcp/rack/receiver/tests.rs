use super::*;
use proptest::prelude::*;
use scenario::model::{Congestion, Feedback, Tcp};
use std::collections::BTreeSet;

fn profile(compressed_acks: bool) -> Profile {
    // The window does not grow for long, so that not every ACK is quick.
    Profile::new(&Tcp { quick_acks: Some(1), compressed_acks, ..Tcp::preset("linux").unwrap() }, 1500)
}

fn segment(seq: u32, sent: Time) -> Segment {
    Segment {
        seq,
        content: if seq == 0 { Content::Syn } else { Content::Data },
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
    let syn = Segment { cwr: profile.tcp.ecn, ..segment(0, at(0)) };
    receiver.on_segment(at(0), profile, &syn, false, |_| ());
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

#[test]
fn what_a_retransmission_has_overtaken_by_more_than_a_millisecond_is_thrown_away() {
    let profile = profile(false);
    // 2 is lost, 3 and 4 come, 2 comes again and fills the gap; then come 5 and 6, which were sent before that.
    for (age, taken) in [(900, true), (2900, false)] {
        let mut receiver = open(&profile);
        for (seq, sent) in [(1, 10_000), (3, 12_000), (4, 13_000)] {
            receiver.on_segment(at(sent + 5000), &profile, &segment(seq, at(sent)), false, |_| ());
        }
        receiver.on_segment(at(45_000), &profile, &segment(2, at(40_000)), false, |_| ());
        let mut acks = Vec::new();
        receiver.on_segment(at(46_000), &profile, &segment(5, at(40_000 - age)), false, |ack| acks.push(ack));
        receiver.on_segment(at(47_000), &profile, &segment(1, at(40_000 - age)), false, |ack| acks.push(ack));
        let next = if taken { 6 } else { 5 };
        assert_eq!(acks.iter().map(|ack| ack.next).collect::<Vec<_>>(), [next, next], "{age} us");
        assert_eq!(acks[1].blocks[0], (1, 2), "what came twice is told either way");
    }
    let without = Profile::new(&Tcp { timestamps: false, ..Tcp::preset("linux").unwrap() }, 1500);
    let mut receiver = open(&without);
    receiver.on_segment(at(15_000), &without, &segment(1, at(10_000)), false, |_| ());
    receiver.on_segment(at(16_000), &without, &segment(2, at(5_000)), false, |_| ());
    assert_eq!(receiver.delivered(), 2);
}

#[test]
fn acks_echo_no_retransmission_of_what_has_been_acknowledged() {
    let profile = profile(false);
    let mut receiver = open(&profile);
    // 2 is late, not lost: the original fills the gap, and the retransmission comes after it.
    for (seq, sent) in [(1, 10_000), (3, 12_000), (2, 11_000), (4, 13_000)] {
        receiver.on_segment(at(sent + 5000), &profile, &segment(seq, at(sent)), false, |_| ());
    }
    let mut acks = Vec::new();
    for (seq, sent) in [(2, 40_000), (5, 14_000)] {
        receiver.on_segment(at(sent + 5000), &profile, &segment(seq, at(sent)), false, |ack| acks.push(ack));
    }
    assert_eq!(receiver.delivered(), 5, "5 is no older than what ACKs echo");
    assert!(acks.iter().all(|ack| ack.echo < at(40_000)), "{acks:?}");
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
    let tcp = Tcp { quick_acks: Some(0), compressed_acks: false, ..Tcp::preset("linux").unwrap() };
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
        let segment = Segment { push: true, cwr: seq == 0, ..segment(seq, at(0)) };
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
    let profile = Profile::new(&Tcp { quick_acks: Some(0), ..Tcp::preset("dctcp").unwrap() }, 1500);
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

/// The ACE fields of the ACKs that segment `seq` calls for at once.
fn fields(receiver: &mut Receiver, profile: &Profile, seq: u32, ce: bool) -> Vec<u8> {
    let now = at(10_000 + 100 * u64::from(seq));
    let segment = Segment { ect: true, ..segment(seq, now) };
    let mut sent = vec![];
    receiver.on_segment(now, profile, &segment, ce, |ack| {
        assert!(ack.ect && !ack.ece);
        sent.push(ack.marks.unwrap());
    });
    sent
}

fn accurate() -> Profile {
    let linux = Tcp { quick_acks: Some(0), ecn: true, ..Tcp::preset("linux").unwrap() };
    Profile::new(&Tcp { ecn_feedback: Feedback::Accurate, ..linux }, 1500)
}

#[test]
fn accurate_ecn_counts_each_mark_and_hurries_what_changes() {
    let profile = accurate();
    let mut receiver = Receiver::new(0);
    let syn = Segment { cwr: true, ..segment(0, at(0)) };
    receiver.on_segment(at(0), &profile, &syn, false, |ack| assert_eq!(ack.marks, Some(0b010)));
    let mut marks = |seq, ce| fields(&mut receiver, &profile, seq, ce);
    // The SYN was Not-ECT; then delayed ACKs go two by two.
    assert_eq!([marks(1, false), marks(2, false), marks(3, false)], [vec![5], vec![], vec![5]]);
    assert_eq!([marks(4, true), marks(5, true), marks(6, true)], [vec![6], vec![], vec![0]]);
    assert_eq!([marks(7, false), marks(8, false), marks(9, false)], [vec![0], vec![], vec![0]]);
}

#[test]
fn a_mark_on_what_comes_again_counts_unless_it_was_acknowledged_long_ago() {
    let profile = accurate();
    let mut receiver = open(&profile);
    let mut marks = |seq, ce| fields(&mut receiver, &profile, seq, ce).pop();
    (1..=8).for_each(|seq| {
        marks(seq, false);
    });
    assert_eq!(marks(9, false), Some(5));
    // The last ACK was for all below 10.
    assert_eq!([marks(9, true), marks(8, true), marks(9, true)], [Some(6), Some(6), Some(7)]);
}

#[test]
fn dctcp_with_accurate_ecn_acknowledges_a_change_twice() {
    let profile = Profile::new(&Tcp { congestion: Congestion::Dctcp, ..accurate().tcp }, 1500);
    let mut receiver = open(&profile);
    let mut marks = |seq, ce| fields(&mut receiver, &profile, seq, ce);
    assert_eq!([marks(1, false), marks(2, false)], [vec![5], vec![]]);
    // Its own ACK of what was before says what the counter says by now.
    assert_eq!(marks(3, true), [6, 6]);
}
