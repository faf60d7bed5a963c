//! A packet on the wire: a small value, copied from ring to ring.

use crate::stack::Codepoint;
use crate::tcp::{Ack, AckOption, Content, Counts, Segment};
use crate::tfrc;
use aqm::queue::Frame;
use aqm::unit::{Span, Time};
use scenario::model::{Ecn, MOST_BLOCKS, UDP_HEADER};

/// The kind of a packet, for its endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum PacketKind {
    /// A TCP segment of the sender's: with data, or a SYN, a FIN or the answer to the receiver's.
    #[default]
    Data,
    /// A TCP acknowledgement.
    Ack,
    /// A UDP datagram.
    Datagram,
    /// The answer to a datagram.
    Reply,
    /// What a receiver of TFRC reports, or a datagram of the end of a stack that asks for the data.
    Report,
}

impl PacketKind {
    /// Whether it is of UDP.
    #[must_use]
    pub const fn is_udp(self) -> bool {
        matches!(self, Self::Datagram | Self::Reply | Self::Report)
    }
}

const ECT: u8 = 1;
const CE: u8 = 2;
const ECE: u8 = 4;
const CWR: u8 = 8;
const SYN: u8 = 16;
const RETRANSMISSION: u8 = 32;
const DELAY: u8 = 64;
const L4S: u8 = 128;
// The other flags take the places of those that the same kind of packet never has, so that all fit a byte.
/// In a segment, at the place of an ACK's ECE. Flags share places because a packet must stay small.
const PUSH: u8 = ECE;
/// In a segment, at the place of an ACK's DELAY: it has no data and is no SYN. With SYN, it is an ACK; else a FIN.
const BARE: u8 = DELAY;
/// In an ACK, where a segment has RETRANSMISSION: the bits of ECE, CWR and SYN are the counter of Accurate ECN.
const ACCURATE: u8 = RETRANSMISSION;
/// In an ACK without that counter: it is a packet from outside, so that `seq` is its number and acknowledges nothing. With
/// SYN, it is a SYN that asks for ECN.
const EXTERNAL: u8 = CWR;
/// The place of that counter.
const ACE: u32 = ECE.trailing_zeros();
/// In an ACK, where a segment has L4S: the last of the blocks are the counters of Accurate ECN's option.
const OPTION: u8 = L4S;
/// An ACK with ECT(1). DELAY without ECT means that it carries a one-way delay.
const LOW_LATENCY: u8 = ECT | DELAY;

/// A packet on the wire.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Packet {
    stamp: Time,
    /// The flow among those of its protocol.
    pub(crate) flow: u32,
    /// Its position in the list of hops.
    pub(crate) hop: u32,
    /// Number of the segment, or the next that the ACK expects.
    seq: u32,
    /// SACK blocks as distances from `seq`: a window is at most 65535 segments. Those of a D-SACK below `seq` count
    /// downwards, so that the first is the larger (RFC 2883). Where the flags say `DELAY`, the last holds a one-way delay in
    /// microseconds, the lower half first; where they say `OPTION`, it holds the counts of ECT(1) and CE, and if no block is
    /// before it that of ECT(0) is. TFRC's numbers are in the same place.
    blocks: [(u16, u16); MOST_BLOCKS],
    /// Size on the wire in bytes.
    pub(crate) size: u16,
    class: u16,
    /// The generation of its flow: the number of the connection among those of the flow's slot.
    pub(crate) generation: u16,
    pub(crate) kind: PacketKind,
    flags: u8,
}

const _: () = assert!(size_of::<Packet>() <= 40, "a packet must stay small: it is copied at every hop");

/// Bytes of a SACK block (RFC 2018); the option's own two are left out, as in ns-2.
const SACK_BLOCK: u16 = 8;
/// Bytes of Accurate ECN's option with all three counters, and with two.
const THREE_COUNTS: u16 = 12;
const TWO_COUNTS: u16 = 8;

/// The fields that every kind of packet has: owner, path and size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// The flow among those of its protocol.
    pub(crate) flow: u32,
    /// The number of the connection among those of the flow's slot; 0 for datagrams.
    pub(crate) generation: u16,
    /// The first hop of its path.
    pub(crate) hop: u32,
    /// The traffic entry.
    pub(crate) class: u16,
    /// Bytes on the wire; of an ACK, without SACK blocks and Accurate ECN's option.
    pub(crate) size: u16,
}

impl Packet {
    /// A packet with a segment.
    #[inline]
    pub(crate) fn data(segment: &Segment, header: Header) -> Self {
        let Header { flow, generation, hop, class, size } = header;
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        Self {
            stamp: segment.sent,
            flow,
            hop,
            seq: segment.seq,
            blocks: [(0, 0); MOST_BLOCKS],
            size,
            class,
            generation,
            kind: PacketKind::Data,
            flags: flag(segment.ect, ECT)
                | flag(segment.l4s, L4S)
                | flag(segment.cwr, CWR)
                | match segment.content {
                    Content::Data => 0,
                    Content::Syn => SYN,
                    Content::Fin => BARE,
                    Content::Ack => BARE | SYN,
                }
                | flag(segment.retransmission, RETRANSMISSION)
                | flag(segment.push, PUSH),
        }
    }

    /// A packet with an acknowledgement.
    #[inline]
    pub(crate) fn ack(ack: &Ack, header: Header) -> Self {
        let Header { flow, generation, hop, class, size } = header;
        let (mut blocks, mut more, mut flag) = ([(0, 0); MOST_BLOCKS], 0, 0);
        if ack.has_blocks() || !matches!(ack.option, AckOption::None) {
            (blocks, more, flag) = pack(ack);
        }
        Self {
            stamp: ack.echo,
            flow,
            hop,
            seq: ack.next,
            blocks,
            size: size + more,
            class,
            generation,
            kind: PacketKind::Ack,
            flags: match ack.marks {
                Some(marks) => ACCURATE | (marks & 7) << ACE,
                None if ack.ece => ECE,
                None => 0,
            } | flag
                | match (ack.ect, ack.l4s) {
                    (true, true) => LOW_LATENCY,
                    (true, false) => ECT,
                    _ => 0,
                },
        }
    }

    /// A datagram that is sent at `now`.
    pub(crate) fn datagram(now: Time, header: Header, ecn: Ecn) -> Self {
        let Header { flow, generation, hop, class, size } = header;
        let (blocks, seq) = ([(0, 0); MOST_BLOCKS], 0);
        let flags = match ecn {
            Ecn::None => 0,
            Ecn::Ect0 => ECT,
            Ecn::Ect1 => ECT | L4S,
        };
        Self {
            stamp: now,
            flow,
            hop,
            seq,
            blocks,
            size,
            class,
            generation,
            kind: PacketKind::Datagram,
            flags,
        }
    }

    /// The answer to a datagram, with its size and stamp, on the path that starts at `hop`.
    pub(crate) const fn reply(&self, hop: u32) -> Self {
        Self { hop, kind: PacketKind::Reply, flags: self.flags & !CE, ..*self }
    }

    /// A datagram of TFRC.
    pub(crate) fn tfrc(datagram: &tfrc::Datagram, header: Header, ecn: Ecn) -> Self {
        let rtt = datagram.rtt.nanos();
        let packet = Self::datagram(datagram.sent, header, ecn);
        Self { seq: datagram.seq, blocks: halves([rtt as u32, (rtt >> 32) as u32, 0]), ..packet }
    }

    /// The datagram of TFRC that this is.
    pub(crate) fn tfrc_datagram(&self) -> tfrc::Datagram {
        let [low, high, _] = whole(self.blocks);
        let rtt = Span::ns(u64::from(high) << 32 | u64::from(low));
        tfrc::Datagram { seq: self.seq, sent: self.stamp, rtt }
    }

    /// A report of TFRC, whose stamp is its echo.
    pub(crate) fn report(report: &tfrc::Report, header: Header) -> Self {
        let rate = report.loss_event_rate as f32;
        // The sign, which a rate does not need, tells of an event.
        let (rate, received) = (if report.event { -rate } else { rate }, report.received.to_bits());
        let blocks = halves([received as u32, (received >> 32) as u32, rate.to_bits()]);
        Self { kind: PacketKind::Report, blocks, ..Self::datagram(report.echo, header, Ecn::None) }
    }

    /// The report of TFRC that this is.
    pub(crate) fn tfrc_report(&self) -> tfrc::Report {
        let [low, high, rate] = whole(self.blocks);
        let (received, rate) = (f64::from_bits(u64::from(high) << 32 | u64::from(low)), f32::from_bits(rate));
        let (loss_event_rate, event) = (f64::from(rate.abs()), rate.is_sign_negative());
        tfrc::Report { echo: self.stamp, received, loss_event_rate, event }
    }

    /// A datagram of a stack from outside, identified by its number, towards the receiver of the data or the sender.
    pub(crate) fn content(now: Time, header: Header, is_data: bool, ecn: Ecn, number: u32) -> Self {
        let kind = if is_data { PacketKind::Datagram } else { PacketKind::Report };
        Self { kind, seq: number, ..Self::datagram(now, header, ecn) }
    }

    /// The ECN field of a datagram.
    pub(crate) const fn codepoint(&self) -> Codepoint {
        match (self.is_marked(), self.is_ect(), self.flags & L4S != 0) {
            (true, ..) => Codepoint::Ce,
            (false, true, true) => Codepoint::Ect1,
            (false, true, false) => Codepoint::Ect0,
            (false, false, _) => Codepoint::NotEct,
        }
    }

    /// A packet from outside, offered at `now` and identified by its number. All that is known of an ACK, which is any
    /// segment without data, is whether it is a SYN that `asks_for_ecn`.
    pub(crate) fn external(
        now: Time,
        header: Header,
        (kind, asks_for_ecn): (PacketKind, bool),
        ecn: Ecn,
        number: u32,
    ) -> Self {
        let packet = Self::datagram(now, header, ecn);
        let syn = if asks_for_ecn { SYN } else { 0 };
        let flags = match (kind, ecn) {
            (PacketKind::Ack, Ecn::Ect1) => EXTERNAL | LOW_LATENCY | syn,
            (PacketKind::Ack, _) => EXTERNAL | packet.flags | syn,
            _ => packet.flags,
        };
        Self { kind, seq: number, flags, ..packet }
    }

    /// The number of a packet from outside, or of a stack from there.
    pub(crate) const fn number(&self) -> u32 {
        self.seq
    }

    /// Whether CE is set.
    #[inline]
    pub(crate) const fn is_marked(&self) -> bool {
        self.flags & CE != 0
    }

    /// Whether it is ECN-capable.
    pub(crate) const fn is_ect(&self) -> bool {
        self.flags & ECT != 0
    }

    /// The same packet without CE.
    pub(crate) const fn unmarked(&self) -> Self {
        Self { flags: self.flags & !CE, ..*self }
    }

    /// The same packet, Not-ECT.
    pub(crate) const fn cleared(&self) -> Self {
        let codepoint = match self.kind {
            // Without ECT the bit means something else.
            PacketKind::Ack if self.flags & ECT != 0 => LOW_LATENCY,
            PacketKind::Ack => 0,
            _ => ECT | L4S,
        };
        Self { flags: self.flags & !(codepoint | CE), ..*self }
    }

    /// Whether this is a SYN that asks for ECN.
    pub(crate) const fn asks_for_ecn(&self) -> bool {
        match self.kind {
            PacketKind::Data => self.flags & (SYN | CWR) == SYN | CWR,
            PacketKind::Ack => self.flags & (ACCURATE | EXTERNAL | SYN) == EXTERNAL | SYN,
            _ => false,
        }
    }

    /// The same packet at a later hop, perhaps marked since.
    #[inline(always)]
    pub(crate) const fn at_hop(&self, hop: u32, marked: bool) -> Self {
        let mut packet = *self;
        packet.hop = hop;
        if marked {
            packet.flags |= CE;
        }
        packet
    }

    /// The same packet with another size.
    #[inline(always)]
    pub(crate) const fn with_size(&self, size: u16) -> Self {
        let mut packet = *self;
        packet.size = size;
        packet
    }

    /// Whether it brings something to a receiver: a segment or a datagram, not what answers it.
    #[inline]
    pub(crate) const fn is_data(&self) -> bool {
        matches!(self.kind, PacketKind::Data | PacketKind::Datagram) && !self.is_bare()
    }

    /// When the segment or datagram was sent; in what answers it, the same time.
    pub(crate) const fn stamp(&self) -> Time {
        self.stamp
    }

    /// Bytes of a datagram without its header.
    pub(crate) fn payload(&self) -> u64 {
        u64::from(u32::from(self.size).saturating_sub(UDP_HEADER))
    }

    /// The traffic entry that it belongs to.
    #[inline]
    pub(crate) const fn class(&self) -> usize {
        self.class as usize
    }

    /// Whether this packet, which answers nothing, is a segment without data.
    pub(crate) const fn is_bare(&self) -> bool {
        self.flags & (SYN | BARE) != 0
    }

    /// The segment that this data packet carries, and whether it was marked.
    #[inline]
    pub(crate) const fn segment(&self) -> (Segment, bool) {
        let segment = Segment {
            seq: self.seq,
            content: match self.flags & (SYN | BARE) {
                0 => Content::Data,
                SYN => Content::Syn,
                BARE => Content::Fin,
                _ => Content::Ack,
            },
            retransmission: self.flags & RETRANSMISSION != 0,
            cwr: self.flags & CWR != 0,
            ect: self.flags & ECT != 0,
            l4s: self.flags & L4S != 0,
            push: self.flags & PUSH != 0,
            sent: self.stamp,
        };
        (segment, self.flags & CE != 0)
    }

    /// Takes the option out of an ACK's blocks.
    #[cold]
    const fn take_option(&self, blocks: &mut [(u16, u16); MOST_BLOCKS]) -> AckOption {
        let ((first, second), (low, high)) = (blocks[MOST_BLOCKS - 1], blocks[1]);
        let option = if self.flags & OPTION != 0 {
            let ect0 = if high == 0 { Some(low) } else { None };
            AckOption::Counts(Counts { ect1: first, ce: second, ect0 })
        } else if self.flags & LOW_LATENCY == DELAY {
            AckOption::Delay(Span::us((second as u64) << 16 | first as u64))
        } else {
            return AckOption::None;
        };
        blocks[MOST_BLOCKS - 1] = (0, 0);
        option
    }

    /// The acknowledgement that this packet is.
    #[inline]
    pub(crate) fn acknowledgement(&self) -> Ack {
        let (mut encoded, mut option) = (self.blocks, AckOption::None);
        if self.flags & (OPTION | DELAY) != 0 {
            option = self.take_option(&mut encoded);
        }
        let mut blocks = [(0, 0); MOST_BLOCKS];
        if encoded != [(0, 0); MOST_BLOCKS] {
            blocks = encoded.map(|(low, high)| match high {
                0 => (0, 0),
                _ => (self.seq + u32::from(low), self.seq + u32::from(high)),
            });
            let (low, high) = encoded[0];
            if low > high {
                blocks[0] = (self.seq - u32::from(low), self.seq - u32::from(high));
            }
        }
        let marks = (self.flags & ACCURATE != 0).then_some(self.flags >> ACE & 7);
        let ece = marks.is_none() && self.flags & ECE != 0;
        let (ect, l4s) = (self.flags & ECT != 0, self.flags & LOW_LATENCY == LOW_LATENCY);
        Ack { next: self.seq, ece, ect, l4s, marks, option, echo: self.stamp, blocks }
    }
}

/// The blocks of an ACK and its option as a packet has them, their bytes, and the option's flag.
// Most ACKs have neither, and are not to pay for those that have.
#[inline(never)]
fn pack(ack: &Ack) -> ([(u16, u16); MOST_BLOCKS], u16, u8) {
    let near = |seq: u32| (seq - ack.next.min(seq)) as u16;
    let mut sacked = ack.blocks.iter().filter(|&&(low, high)| low < high).count() as u16;
    let mut blocks = ack.blocks.map(|(low, high)| (near(low), near(high)));
    let (low, high) = ack.blocks[0];
    if low < ack.next && high > 0 {
        // A D-SACK too far back for the field is left out.
        let below = |seq: u32| u16::try_from(ack.next.saturating_sub(seq)).ok();
        match (below(low), below(high)) {
            (Some(low), Some(high)) => blocks[0] = (low, high),
            _ => {
                blocks.rotate_left(1);
                blocks[MOST_BLOCKS - 1] = (0, 0);
                sacked -= 1;
            }
        }
    }
    let (option, flag) = match ack.option {
        AckOption::None => (0, 0),
        AckOption::Delay(delay) => {
            let us = u32::try_from(delay.nanos() / 1000).unwrap_or(u32::MAX);
            blocks[MOST_BLOCKS - 1] = (us as u16, (us >> 16) as u16);
            (0, if ack.ect { 0 } else { DELAY })
        }
        AckOption::Counts(Counts { ect1, ce, ect0: Some(ect0) }) => {
            (blocks[1], blocks[MOST_BLOCKS - 1]) = ((ect0, 0), (ect1, ce));
            (THREE_COUNTS, OPTION)
        }
        AckOption::Counts(Counts { ect1, ce, ect0: None }) if sacked == 2 => {
            blocks[MOST_BLOCKS - 1] = (ect1, ce);
            (TWO_COUNTS, OPTION)
        }
        // The D-SACK that had to be left out would make two.
        AckOption::Counts(_) => (0, 0),
    };
    (blocks, SACK_BLOCK * sacked + option, flag)
}

/// Numbers at the place of the blocks, the lower half first.
fn halves(numbers: [u32; MOST_BLOCKS]) -> [(u16, u16); MOST_BLOCKS] {
    numbers.map(|number| (number as u16, (number >> 16) as u16))
}

fn whole(blocks: [(u16, u16); MOST_BLOCKS]) -> [u32; MOST_BLOCKS] {
    blocks.map(|(low, high)| u32::from(high) << 16 | u32::from(low))
}

impl Frame for Packet {
    #[inline]
    fn packet(&self) -> aqm::Packet {
        let flow = u64::from(self.flow) | u64::from(self.generation) << 32 | (self.kind as u64) << 48;
        let low_latency = if self.kind == PacketKind::Ack { LOW_LATENCY } else { L4S };
        aqm::Packet {
            udp: self.kind.is_udp(),
            // CE has taken the place of what was there before (RFC 9331, section 5.1).
            l4s: self.flags & CE != 0 || self.flags & low_latency == low_latency,
            flow,
            // Every path has hops of its own, and goes over a link once.
            pair: self.hop,
            ..aqm::Packet::new(u32::from(self.size), self.flags & ECT != 0)
        }
    }

    #[inline]
    fn mark(&mut self) {
        self.flags |= CE;
    }

    #[inline]
    fn row(&self) -> usize {
        self.class()
    }

    fn ack(&self) -> Option<aqm::Ack> {
        // CAKE's filter keeps what has options that it does not know (`cake_tcph_may_drop`).
        let known = self.kind == PacketKind::Ack
            && self.flags & OPTION == 0
            && self.flags & (ACCURATE | EXTERNAL) != EXTERNAL;
        known.then(|| {
            let Ack { next, blocks, .. } = self.acknowledgement();
            aqm::Ack { next, blocks, ecn: self.flags >> ACE & 7 }
        })
    }
}

#[cfg(test)]
mod tests;
