use super::*;
use crate::tcp::Content;
use scenario::model::Tcp;

const NONE: Blocks = [(0, 0); 3];

fn profile(ecn_feedback: Feedback) -> Profile {
    Profile::new(&Tcp { ecn: true, ecn_feedback, ..Tcp::preset("linux").unwrap() }, 1500)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

fn counts(ect1: u16, ce: u16, ect0: u16) -> Option<Counts> {
    Some(Counts { ect1, ce, ect0: Some(ect0) })
}

/// A sender that has heard of all marks so far.
#[derive(Default)]
struct Ear {
    heard: Heard,
    marked: u32,
}

impl Ear {
    /// The new marks in an ACK with this ACE field.
    fn hear(&mut self, ace: u8, counts: Option<Counts>, delivered: u32) -> u32 {
        let new = self.heard.news(ace, counts, self.marked, delivered);
        self.marked += new;
        new
    }
}

#[test]
fn the_field_begins_at_five_and_goes_round() {
    let mut ear = Ear::default();
    assert_eq!([5, 7, 7, 1].map(|ace| ear.hear(ace, None, 2)), [0, 2, 0, 2]);
    // Seven at once, of seven: from 1 to 0.
    assert_eq!((ear.hear(0, None, 7), ear.marked), (7, 11));
}

#[test]
fn an_ack_of_many_hides_as_many_marks_as_it_can() {
    let hidden = |ace, delivered| {
        let mut ear = Ear::default();
        ear.hear(5, None, 1);
        ear.hear(ace, None, delivered)
    };
    // Nine delivered: one or nine marks, none or eight.
    assert_eq!([hidden(6, 9), hidden(5, 9), hidden(5, 8), hidden(7, 20)], [9, 8, 8, 18]);
}

#[test]
fn where_acks_are_thinned_out_it_hides_none() {
    let mut ear = Ear::default();
    // A mean of 10 segments is more than 4, from the first ACK on.
    assert_eq!(ear.hear(6, None, 10), 1);
    let mut ear = Ear::default();
    ear.hear(5, None, 4);
    assert_eq!(ear.hear(6, None, 8), 1, "the mean is 4 and 1/16");
    let mut ear = Ear::default();
    ear.hear(5, None, 3);
    assert_eq!(ear.hear(6, None, 9), 9, "the mean is 3 and 3/32");
}

#[test]
fn the_option_tells_how_often_the_field_went_round() {
    let mut ear = Ear::default();
    // The first option shows what rises, the next agrees with it.
    assert_eq!(ear.hear(5, counts(0, 0, 2), 2), 0);
    assert_eq!(ear.hear(5, counts(0, 0, 12), 10), 0, "no mark in it");
    assert_eq!(ear.hear(5, counts(0, 8, 14), 10), 8, "eight marks");
    assert_eq!(ear.hear(6, counts(0, 9, 23), 10), 1, "one mark");
    assert_eq!(ear.hear(7, counts(0, 26, 36), 30), 17, "two turns and one");
    assert_eq!(ear.hear(7, counts(0, 42, 36), 16), 16, "marked all over");
}

#[test]
fn what_rose_last_rises_where_the_option_is_missing() {
    let mut ear = Ear::default();
    ear.hear(5, counts(0, 0, 2), 2);
    assert_eq!((ear.hear(5, None, 10), ear.heard.counts()), (0, [0, 0, 12]));
    // Two counters rise at once: it is not known which of them rises on.
    ear.hear(5, counts(3, 8, 20), 19);
    assert_eq!((ear.hear(5, None, 3), ear.heard.counts()), (0, [3, 8, 20]));
    // An older one is not believed.
    let mut ear = Ear::default();
    ear.hear(5, counts(0, 0, 65_535), 2);
    ear.hear(5, counts(0, 0, 1), 2);
    assert_eq!(ear.heard.rises, Some(2), "it goes round");
    ear.hear(5, counts(0, 0, 65_000), 2);
    assert_eq!(ear.heard.rises, None);
}

#[test]
fn the_answer_to_a_syn_reports_its_field() {
    let profile = profile(Feedback::Accurate);
    let syn = |ect, l4s| Segment {
        seq: 0,
        content: Content::Syn,
        retransmission: false,
        cwr: true,
        ect,
        l4s,
        push: false,
        sent: Time::ZERO,
    };
    for (segment, ce, ace) in [
        (syn(false, false), false, 0b010),
        (syn(true, true), false, 0b011),
        (syn(true, false), false, 0b100),
        (syn(true, true), true, 0b110),
    ] {
        let mut arrived = Arrived::default();
        assert_eq!(
            arrived.on_syn(&profile, &segment, ce, true),
            (ace, AckOption::Counts(counts(0, 0, 0).unwrap()))
        );
        // The second answer is without the option, which may be why the first was lost.
        assert_eq!(arrived.on_syn(&profile, &segment, ce, false), (ace, AckOption::None));
        assert!(!arrived.distrusts);
        arrived.on_syn(&profile, &Segment { cwr: false, ..segment }, ce, false);
        assert!(arrived.distrusts, "a SYN that does not ask follows one that did");
    }
}

#[test]
fn a_change_of_the_field_is_acknowledged_at_once() {
    let mut arrived = Arrived::default();
    let fields = [Field::Ect0, Field::Ect0, Field::Ce, Field::Ce, Field::Ect1, Field::Ect0];
    let at_once = fields.map(|field| arrived.on_segments(field, 1, true));
    assert_eq!(at_once, [true, false, true, false, true, true]);
    arrived.on_segments(Field::Ce, 1, true);
    assert_eq!([(); 5].map(|()| arrived.on_segments(Field::Ce, 1, true)), [false; 5], "six marks in a row");
    arrived.on_segments(Field::Ce, 1, false);
    assert_eq!(arrived.counts, [1, 8, 3], "what has no data is in the field alone");
    arrived.marks -= 1;
    assert_eq!(
        arrived.report(at(0), Span::ZERO, &profile(Feedback::Counter), None, &mut NONE.clone()),
        (5, AckOption::None)
    );
}

#[test]
fn the_option_takes_the_room_that_sack_blocks_leave() {
    let profile = profile(Feedback::Accurate);
    let blocks = |count: usize| {
        std::array::from_fn(|i| if i < count { (9 + 2 * i as u32, 10 + 2 * i as u32) } else { (0, 0) })
    };
    let told = |fields: &[Field], count: usize| {
        let mut arrived = Arrived::default();
        fields.iter().for_each(|&field| {
            arrived.on_segments(field, 1, true);
        });
        let mut blocks: Blocks = blocks(count);
        let (_, option) = arrived.report(at(0), Span::ZERO, &profile, None, &mut blocks);
        (option.counts(), blocks.iter().filter(|block| block.1 > 0).count())
    };
    let few = |ect1, ce| Some(Counts { ect1, ce, ect0: None });
    assert_eq!(told(&[Field::Ect0, Field::Ce], 1), (counts(0, 1, 1), 1));
    assert_eq!(told(&[Field::Ect1, Field::Ce], 2), (few(1, 1), 2));
    // News of ECT(0) do not fit beside two; a third gives way to news of the others.
    assert_eq!(told(&[Field::Ect0], 2), (None, 2));
    assert_eq!(told(&[Field::Ect1], 3), (few(1, 0), 2));
    assert_eq!((told(&[Field::Ect0], 3), told(&[], 3)), ((None, 3), (None, 3)));
}

#[test]
fn a_sparse_option_comes_after_a_change_and_three_times_a_round_trip() {
    let profile = profile(Feedback::Sparse);
    let mut arrived = Arrived::default();
    let told = |arrived: &mut Arrived, ms| {
        arrived.report(at(ms), Span::ms(30), &profile, None, &mut NONE.clone()).1 != AckOption::None
    };
    arrived.on_segments(Field::Ect0, 1, true);
    let first = [100, 101, 102, 110, 111, 112].map(|ms| told(&mut arrived, ms));
    assert_eq!(first, [true, true, false, false, true, false]);
    arrived.on_segments(Field::Ce, 1, true);
    assert_eq!([113, 114, 115].map(|ms| told(&mut arrived, ms)), [true, true, false]);
}

#[test]
fn an_option_that_seems_to_be_lost_with_its_ack_is_given_up() {
    let profile = profile(Feedback::Accurate);
    let mut arrived = Arrived::default();
    let mut repeat = |seq| {
        arrived.on_repeat(seq);
        arrived.report(at(0), Span::ZERO, &profile, Some(seq), &mut NONE.clone()).1 != AckOption::None
    };
    assert_eq!([repeat(4), repeat(5), repeat(5), repeat(6)], [true, true, false, false]);
}
