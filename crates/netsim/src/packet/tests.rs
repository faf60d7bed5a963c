use super::*;

const fn header(size: u16) -> Header {
    Header { flow: 1, generation: 0, hop: 2, class: 3, size }
}

#[test]
fn ect1_says_l4s_and_so_does_ce() {
    let segment = Segment {
        seq: 7,
        content: Content::Data,
        retransmission: false,
        cwr: false,
        ect: true,
        l4s: true,
        push: false,
        sent: Time::ZERO,
    };
    for l4s in [false, true] {
        let segment = Segment { l4s, ..segment };
        let mut packet = Packet::data(&segment, header(500));
        assert_eq!((packet.packet().ect, packet.packet().l4s), (true, l4s));
        assert_eq!(packet.segment(), (segment, false));
        packet.mark();
        assert_eq!((packet.packet().ect, packet.packet().l4s), (true, true));
        assert_eq!(packet.segment(), (segment, true));
    }
}

#[test]
fn a_datagram_has_the_codepoint_it_was_sent_with_until_it_is_marked() {
    for (ecn, ect, l4s) in [(Ecn::None, false, false), (Ecn::Ect0, true, false), (Ecn::Ect1, true, true)] {
        let mut packet = Packet::datagram(Time::ZERO, header(500), ecn);
        assert_eq!((packet.packet().ect, packet.packet().l4s), (ect, l4s), "{ecn:?}");
        assert!(packet.packet().udp && packet.packet().size == 500);
        packet.mark();
        assert_eq!((packet.packet().ect, packet.packet().l4s), (ect, true), "CE after {ecn:?}");
    }
}

#[test]
fn what_tfrc_says_comes_out_as_it_went_in() {
    let datagram = tfrc::Datagram { seq: 70_000, sent: Time::from_nanos(7), rtt: Span::ns(5_123_456_789) };
    let packet = Packet::tfrc(&datagram, header(1000), Ecn::Ect0);
    assert_eq!((packet.tfrc_datagram(), packet.is_ect(), packet.is_data()), (datagram, true, true));
    for (rate, event) in [(0.01_f32, false), (0.01, true), (0.0, false), (0.0, true)] {
        let (echo, received) = (Time::from_nanos(9), 1e10 / 3.0);
        let report = tfrc::Report { echo, received, loss_event_rate: f64::from(rate), event };
        let packet = Packet::report(&report, header(40));
        assert_eq!((packet.tfrc_report(), packet.is_ect(), packet.is_data()), (report, false, false));
        assert!(packet.packet().udp);
    }
}

#[test]
fn an_acknowledgement_comes_out_as_it_went_in() {
    let blocks = [(12, 14), (20, 65_000), (0, 0)];
    let ack = Ack { next: 10, ece: true, echo: Time::from_nanos(7), blocks, ..Ack::default() };
    let three = Ack { blocks: [(12, 14), (20, 25), (30, 31)], ..ack };
    for (ack, size) in [(ack, 52 + 2 * 8), (three, 52 + 3 * 8)] {
        let packet = Packet::ack(&ack, header(52));
        assert_eq!((packet.acknowledgement(), packet.size), (ack, size));
    }
    for us in [0, 65_535, 65_536, 4_000_000_000] {
        let ack = Ack { option: AckOption::Delay(Span::us(us)), ..ack };
        assert_eq!(Packet::ack(&ack, header(40)).acknowledgement(), ack);
    }
    let none = [(0, 0); 3];
    let counts = Counts { ect1: 0, ce: 0, ect0: Some(0) };
    let many = Counts { ect1: 65_535, ce: 7, ect0: Some(1) };
    let [dsack, one] = [[(8, 9), (0, 0), (0, 0)], [(12, 14), (0, 0), (0, 0)]];
    for (blocks, counts, more) in [
        (none, None, 0),
        (none, Some(counts), 12),
        (none, Some(many), 12),
        (one, Some(many), 12 + 8),
        (dsack, Some(many), 12 + 8),
        (dsack, Some(counts), 12 + 8),
        (blocks, Some(Counts { ect0: None, ..many }), 8 + 16),
        (blocks, Some(Counts { ect0: None, ..counts }), 8 + 16),
        (three.blocks, None, 24),
    ] {
        for marks in 0..8 {
            let option = counts.map_or(AckOption::None, AckOption::Counts);
            let ack = Ack { ece: false, marks: Some(marks), blocks, option, ..ack };
            let packet = Packet::ack(&ack, header(52));
            assert_eq!((packet.acknowledgement(), packet.size), (ack, 52 + more));
            // CAKE's filter keeps what has an option that it does not know.
            assert_eq!(packet.ack().is_some(), counts.is_none());
        }
    }
    for l4s in [false, true] {
        let ack = Ack { ect: true, l4s, ..ack };
        let packet = Packet::ack(&ack, header(52));
        assert_eq!(packet.acknowledgement(), ack);
        assert_eq!((packet.packet().ect, packet.packet().l4s), (true, l4s), "DualPI2 classifies ACKs too");
    }
    let finer = Ack { option: AckOption::Delay(Span::ns(1999)), ..ack };
    assert_eq!(Packet::ack(&finer, header(40)).acknowledgement().option, AckOption::Delay(Span::us(1)));
}

#[test]
fn what_a_segment_is_survives_and_only_data_counts_as_data() {
    for content in [Content::Data, Content::Syn, Content::Fin, Content::Ack] {
        for ect in [false, true] {
            let segment = Segment {
                seq: 7,
                content,
                retransmission: true,
                cwr: false,
                ect,
                l4s: ect,
                push: true,
                sent: Time::ZERO,
            };
            let mut packet = Packet::data(&segment, header(500));
            packet.mark();
            assert_eq!(packet.segment(), (segment, true));
            let data = content == Content::Data;
            assert_eq!((packet.is_data(), packet.is_bare()), (data, !data));
        }
    }
}

#[test]
fn a_cleared_packet_says_all_else_that_it_said() {
    let marked = |mut packet: Packet| {
        packet.mark();
        packet
    };
    let segment = |ect, l4s| Segment {
        seq: 7,
        content: Content::Syn,
        retransmission: true,
        cwr: true,
        ect,
        l4s,
        push: true,
        sent: Time::ZERO,
    };
    let dsack = [(7, 8), (12, 14), (0, 0)];
    let ack = |ect, l4s, marks| Ack { next: 10, ect, l4s, marks, blocks: dsack, ..Ack::default() };
    for (ect, l4s) in [(false, false), (true, false), (true, true)] {
        let data = Packet::data(&segment(ect, l4s), header(500));
        assert_eq!(marked(data).cleared().segment(), (segment(false, false), false));
        assert_eq!(marked(data).unmarked().segment(), (segment(ect, l4s), false));
        for marks in [None, Some(5)] {
            let packet = Packet::ack(&ack(ect, l4s, marks), header(52));
            assert_eq!(packet.cleared().acknowledgement(), ack(false, false, marks));
            let seen = marked(packet).cleared().packet();
            assert!(!seen.ect && !seen.l4s && packet.is_ect() == ect);
            assert_eq!(marked(packet).unmarked().acknowledgement(), ack(ect, l4s, marks));
        }
    }
    let delay = Ack { option: AckOption::Delay(Span::us(9)), ..Ack::default() };
    assert_eq!(Packet::ack(&delay, header(40)).cleared().acknowledgement(), delay);
}

#[test]
fn a_dsack_comes_out_as_it_went_in() {
    let below = [(7, 8), (12, 14), (0, 0)];
    let within = [(13, 14), (12, 20), (30, 31)];
    for blocks in [below, within, [(9, 10), (0, 0), (0, 0)], [(0, 1), (11, 12), (15, 17)]] {
        let ack = Ack { next: 10, echo: Time::from_nanos(7), blocks, ..Ack::default() };
        let packet = Packet::ack(&ack, header(52));
        assert_eq!(packet.acknowledgement(), ack);
        let count = blocks.iter().filter(|block| block.1 > 0).count() as u16;
        assert_eq!(packet.size, 52 + 8 * count);
        assert!(!packet.packet().l4s && !packet.packet().ect, "the blocks look like ECT(1)");
    }
    // A block too far back for its field is left out; the others are kept.
    let blocks = [(1, 2), (70_011, 70_012), (70_015, 70_017)];
    let packet = Packet::ack(&Ack { next: 70_000, blocks, ..Ack::default() }, header(52));
    assert_eq!(packet.acknowledgement().blocks, [blocks[1], blocks[2], (0, 0)]);
    assert_eq!(packet.size, 52 + 16);
}
