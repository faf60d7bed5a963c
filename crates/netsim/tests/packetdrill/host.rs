//! The host that a script tests: our two ends of a connection, and between them and the script what the simulator does
//! without: bytes, an application that writes in pieces, and the handshake's options.
//!
//! Segment `i` of the sender carries the bytes from `ends[i - 1]` to `ends[i]`, which the writes determine; what arrives is
//! counted in segments of the script's only size.

use super::language::{Options, Packet};
use super::play::Verdict;
use aqm::unit::{Span, Time};
use netsim::tcp::rack::State;
use netsim::tcp::{Ack, AckOption, Content, Counts, Outbox, Receiver, Segment, Sender};
use scenario::model::{Feedback, MOST_BLOCKS, Profile, Tcp};
use std::collections::VecDeque;

/// A script's time zero, so that echoes of times before it are times too.
pub(super) const START: Time = Time::from_nanos(100_000_000_000);

/// What our ends sent.
#[derive(Clone, Debug)]
pub(super) enum Sent {
    Segment(Segment),
    /// The answer to a SYN, which the receiver gives.
    SynAck(Ack),
    Ack(Ack),
}

#[derive(Default)]
pub(super) struct Queue(pub VecDeque<(Time, Sent)>);

impl Outbox for Queue {
    fn send(&mut self, segment: Segment) {
        self.0.push_back((segment.sent, Sent::Segment(segment)));
    }
}

/// One end of a connection: it opened it, or the script did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Closed,
    Client,
    Server,
}

/// What an end asks for, or accepts if it is asked (`tcp_ecn`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ecn {
    None,
    Classic,
    Accurate,
}

pub(super) struct Host {
    pub now: Time,
    pub role: Role,
    /// The connection's descriptor, once it is known.
    pub descriptor: String,
    /// The connection's parameters, before the handshake those that commands have set.
    pub tcp: Tcp,
    pub asks_for: Ecn,
    pub accepts: Ecn,
    /// Its feedback where both have Accurate ECN (`tcp_ecn_option`).
    pub accurate: Feedback,
    profile: Profile,
    pub sender: Option<Sender>,
    receiver: Option<Receiver>,
    pub sent: Queue,
    /// The end of each segment in bytes, after the SYN's.
    ends: Vec<u32>,
    /// The bytes of a segment that arrives.
    unit: u32,
    /// When the SYN's answer went out, and whether the handshake is over.
    answered: Time,
    pub open: bool,
    /// Whether the application here has closed the connection.
    closed: bool,
    /// Whether both ends have SACK; whether the application wants small segments at once.
    sack: bool,
    pub no_delay: bool,
    /// The greatest segment that our end wants; the scale of the other's window.
    pub mss: u32,
    scale: u32,
    /// A time on the other end's clock of timestamps that is the same as one on ours: the script's value, and ours.
    stamps: Option<(u32, Time)>,
    pub timestamps: bool,
    /// The timestamp of the last ACK without data, as an echo of ours: our receiver, which sees only data, has another.
    pub ack_stamp: Option<Time>,
}

fn misfit<T>(reason: &str) -> Result<T, Verdict> {
    Err(Verdict::NotApplicable(reason.to_owned()))
}

impl Host {
    pub(super) fn new(unit: u32) -> Self {
        // A threshold that was never set is as high as the kernel's, and not as the simulator's greatest window.
        let tcp = Tcp { initial_ssthresh: Some(u32::MAX), ..Tcp::preset("linux").expect("a preset") };
        Self {
            now: START,
            role: Role::Closed,
            descriptor: String::new(),
            profile: Profile::new(&tcp, 1500),
            tcp,
            asks_for: Ecn::None,
            accepts: Ecn::Classic,
            accurate: Feedback::Accurate,
            sender: None,
            receiver: None,
            sent: Queue::default(),
            ends: vec![1],
            unit: unit.max(1),
            answered: START,
            open: false,
            closed: false,
            sack: true,
            no_delay: false,
            mss: 1460,
            scale: 0,
            stamps: None,
            timestamps: true,
            ack_stamp: None,
        }
    }

    pub(super) fn state(&self) -> Option<&State> {
        match &self.sender {
            Some(Sender::Rack(sender)) => Some(sender.state()),
            _ => None,
        }
    }

    pub(super) const fn payload(&self) -> u32 {
        self.profile.payload()
    }

    /// When a timer goes off next.
    pub(super) fn deadline(&self) -> Time {
        let sender = self.sender.as_ref().map_or(Time::MAX, Sender::deadline);
        sender.min(self.receiver.as_ref().map_or(Time::MAX, Receiver::deadline))
    }

    /// Lets time pass, and timers go off, until `to`.
    pub(super) fn pass(&mut self, to: Time) {
        while self.deadline() <= to {
            let due = self.deadline();
            self.now = self.now.max(due);
            let Self { sender, receiver, profile, sent, .. } = self;
            if let Some(sender) = sender
                && sender.deadline() <= due
            {
                sender.on_timer(due, profile, sent);
            }
            if let Some(receiver) = receiver
                && receiver.deadline() <= due
            {
                receiver.on_timer(due, profile, |ack| sent.0.push_back((due, Sent::Ack(ack))));
            }
        }
        self.now = self.now.max(to);
    }

    /// Bytes that have arrived in order.
    pub(super) fn delivered(&self) -> u32 {
        self.receiver.as_ref().map_or(0, |receiver| receiver.delivered() * self.unit)
    }

    /// One past the number of the last segment that the application has written.
    pub(super) fn segments(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The last byte and one that segment `seq` carries; the first is the last of the one before.
    pub(super) fn end(&self, seq: u32) -> u32 {
        self.ends[seq as usize]
    }

    /// The number of the segment that starts at `byte`.
    fn segment_at(&self, byte: u32) -> Result<u32, Verdict> {
        match self.ends.binary_search(&byte) {
            Ok(before) => Ok(before as u32 + 1),
            // An ACK of what was never sent, or of nothing.
            Err(place) if place == self.ends.len() => Ok(u32::MAX),
            Err(0) => Ok(0),
            Err(_) => misfit("an ACK or SACK of a part of a segment"),
        }
    }

    /// The byte at which the segment that arrives as number `seq` starts.
    pub(super) const fn byte_of(&self, seq: u32) -> u32 {
        seq.saturating_sub(1) * self.unit + 1
    }

    /// Both ends agree on this.
    fn agree(&mut self, ecn: Ecn) {
        self.tcp.ecn = ecn != Ecn::None;
        self.tcp.ecn_feedback = if ecn == Ecn::Accurate { self.accurate } else { Feedback::Classic };
    }

    pub(super) const fn is_accurate(&self) -> bool {
        self.profile.is_accurate()
    }

    /// The flags of ECN in the answer to a SYN.
    pub(super) fn answer(&self, ack: &Ack) -> u8 {
        ack.marks.unwrap_or_else(|| u8::from(self.tcp.ecn))
    }

    /// The bytes of a segment of ours.
    pub(super) fn size(&self) -> u32 {
        if let [syn, first, ..] = self.ends[..] { first - syn } else { self.payload() }
    }

    /// The option of an ACK for what we sent, in segments.
    fn counts(&self, packet: &Packet) -> Option<Counts> {
        let [ect1, ce, ect0] = packet.options.ecn?;
        // What is not a multiple of our segments belongs to a smaller one.
        let segments = |bytes: u32| ((bytes + self.size() / 2) / self.size()) as u16;
        let after_one = |bytes: Option<u32>| bytes.map(|bytes| segments(bytes.saturating_sub(1)));
        Some(Counts { ect1: after_one(ect1)?, ce: segments(ce?), ect0: after_one(ect0) })
    }

    /// The option of an ACK of ours as it is written, for what has arrived.
    pub(super) fn written(&self, counts: &Counts) -> [Option<u32>; 3] {
        let bytes = |segments: u16, first: u32| u32::from(segments) * self.unit + first;
        let Counts { ect1, ce, ect0 } = *counts;
        [Some(bytes(ect1, 1)), Some(bytes(ce, 0)), ect0.map(|segments| bytes(segments, 1))]
    }

    fn negotiate(&mut self, options: &Options) {
        self.timestamps = self.timestamps && options.timestamp.is_some();
        self.sack = options.sack_permitted;
        self.scale = options.scale.unwrap_or(0);
        self.tcp.timestamps = self.timestamps;
        let mss = options.mss.unwrap_or(536).min(self.mss);
        // Profiles count bytes on the wire.
        let header = self.tcp.header.0 as u32;
        let payload = if self.timestamps { mss - 12 } else { mss };
        self.profile = Profile { tcp: self.tcp.clone(), ..Profile::new(&self.tcp, payload + header) };
    }

    /// The application connects.
    pub(super) fn connect(&mut self) -> Result<(), Verdict> {
        self.role = Role::Client;
        self.agree(self.asks_for);
        self.profile = Profile::new(&self.tcp, self.mss + self.tcp.header.0 as u32);
        let mut sender = Sender::new(&self.profile, 0, Span::ZERO);
        sender.on_start(self.now, &self.profile, &mut self.sent);
        self.sender = Some(sender);
        Ok(())
    }

    /// The application writes.
    pub(super) fn write(&mut self, bytes: u32) -> Result<(), Verdict> {
        let Some(nxt) = self.state().map(|state| state.nxt as usize) else {
            return misfit("a write before the connection is open");
        };
        let (payload, before) = (self.payload(), self.ends.len());
        let last = self.ends[before - 1];
        // What was not sent yet has room in its last segment.
        let unsent = before > nxt && before > 1;
        let room = if unsent { payload - (last - self.ends[before - 2]) } else { 0 };
        let end = last + bytes;
        if room > 0 {
            self.ends[before - 1] = end.min(last + room);
        }
        while self.ends[self.ends.len() - 1] < end {
            let next = (self.ends[self.ends.len() - 1] + payload).min(end);
            self.ends.push(next);
        }
        let more = (self.ends.len() - before) as u32;
        let Self { now, sender, profile, sent, .. } = self;
        if let Some(sender) = sender {
            sender.on_data(*now, profile, more, sent);
        }
        self.check_sizes()
    }

    /// The application closes the connection.
    pub(super) fn close(&mut self) -> Result<(), Verdict> {
        if !self.open || self.state().is_none_or(|state| state.nxt < self.segments()) {
            return misfit("closing");
        }
        self.closed = true;
        let Self { now, sender, profile, sent, .. } = self;
        if let Some(sender) = sender {
            sender.on_close(*now, profile, sent);
        }
        // The FIN counts as a byte.
        self.ends.push(self.ends[self.ends.len() - 1] + 1);
        Ok(())
    }

    /// Small segments wait for each other in Linux (`tcp_nagle_test`).
    fn check_sizes(&self) -> Result<(), Verdict> {
        let Some(state) = self.state() else { return Ok(()) };
        let small = |seq: u32| seq > 0 && self.end(seq) - self.end(seq - 1) < self.payload();
        let data = self.segments() - u32::from(self.closed);
        let out = (state.una.max(1)..state.nxt.min(data)).filter(|&seq| small(seq)).count();
        if out > 1 && !self.no_delay { misfit("Nagle's algorithm") } else { Ok(()) }
    }

    /// A packet arrives.
    pub(super) fn receive(&mut self, packet: &Packet) -> Result<(), Verdict> {
        if let Some(reason) = packet.misfit() {
            return misfit(&reason);
        }
        if packet.has('S') {
            return if packet.has('.') { self.receive_syn_ack(packet) } else { self.receive_syn(packet) };
        }
        // The other end is to close when it acknowledges our FIN: that stands for its own.
        let after = self.closed && packet.ack == self.ends.last().copied();
        if packet.has('F') != after {
            return misfit("closing");
        }
        if !packet.has('.') {
            return misfit("a packet without ACK");
        }
        if packet.length > 0 { self.receive_data(packet) } else { self.receive_ack(packet) }
    }

    fn receive_syn(&mut self, packet: &Packet) -> Result<(), Verdict> {
        if packet.length > 0 {
            return misfit("fast open");
        }
        if self.role == Role::Client {
            return misfit("both ends connect at once");
        }
        if self.role == Role::Closed {
            self.role = Role::Server;
            self.agree(match (self.accepts, packet.ace()) {
                (Ecn::None, _) | (_, 0) => Ecn::None,
                (Ecn::Classic, ace) if ace & 3 != 3 => Ecn::None,
                (Ecn::Classic, _) | (_, 3) => Ecn::Classic,
                (Ecn::Accurate, _) => Ecn::Accurate,
            });
            self.negotiate(&packet.options);
            self.receiver = Some(Receiver::new(&self.profile));
        }
        self.answered = self.now;
        let stamp = packet.options.timestamp.map_or(Time::ZERO, |(value, _)| theirs(value));
        let syn = Segment { content: Content::Syn, cwr: packet.ace() > 0, ..segment(0, packet, stamp) };
        self.arrive(&syn, packet);
        Ok(())
    }

    fn receive_syn_ack(&mut self, packet: &Packet) -> Result<(), Verdict> {
        if self.role != Role::Client || self.open {
            return misfit("a second or unexpected SYN-ACK");
        }
        if packet.ack != Some(1) || packet.length > 0 {
            return misfit("fast open");
        }
        self.open = true;
        self.agree(match (self.asks_for, packet.ace()) {
            (Ecn::None, _) | (_, 0 | 7) => Ecn::None,
            (Ecn::Classic, ace) if ace & 3 != 1 => Ecn::None,
            (Ecn::Classic, _) | (_, 1) => Ecn::Classic,
            (Ecn::Accurate, _) => Ecn::Accurate,
        });
        self.negotiate(&packet.options);
        // What this end sends next has other options, and the SYN's data is received without one.
        self.receiver = Some(Receiver::new(&Profile {
            tcp: Tcp { handshake: false, ..self.tcp.clone() },
            ..self.profile.clone()
        }));
        self.scale_window(packet, 0);
        let ack = Ack { next: 1, echo: self.echo(packet), ..Ack::default() };
        self.acknowledge(&ack);
        Ok(())
    }

    /// The window of a packet in segments of ours; that of a SYN's answer is not scaled.
    fn scale_window(&mut self, packet: &Packet, scale: u32) {
        if let Some(window) = packet.window {
            self.profile.tcp.max_window = (window << scale) / self.payload();
        }
    }

    fn receive_ack(&mut self, packet: &Packet) -> Result<(), Verdict> {
        if packet.seq != self.byte_of(1) && packet.seq != 1 + self.delivered() {
            return misfit("an ACK beyond what was sent");
        }
        if self.role == Role::Closed {
            return misfit("an ACK without a connection");
        }
        if self.is_accurate() && packet.ecn == "ce" {
            return misfit("marks on ACKs");
        }
        self.ack_stamp = packet.options.timestamp.map(|(value, _)| theirs(value));
        if !self.open {
            if packet.ack != Some(1) {
                return misfit("an ACK of what was never sent");
            }
            self.accept(packet);
            return Ok(());
        }
        self.scale_window(packet, self.scale);
        let next = self.segment_at(packet.ack.unwrap_or(0))?;
        let (una, nxt) = self.state().map_or((1, 1), |state| (state.una, state.nxt));
        if next > nxt {
            return misfit("an ACK of what was never sent");
        }
        if !self.sack && next == una && nxt > una && packet.options.sack.is_empty() {
            return misfit("recovery without SACK");
        }
        if packet.options.sack.len() > MOST_BLOCKS {
            return misfit("four SACK blocks");
        }
        let mut blocks = [(0, 0); MOST_BLOCKS];
        for (block, &(low, high)) in blocks.iter_mut().zip(&packet.options.sack) {
            *block = (self.segment_at(low)?, self.segment_at(high)?);
        }
        let accurate = self.is_accurate();
        let ack = Ack {
            next,
            ece: packet.has('E') && !accurate,
            marks: accurate.then(|| packet.ace()),
            option: self.counts(packet).filter(|_| accurate).map_or(AckOption::None, AckOption::Counts),
            blocks,
            echo: self.echo(packet),
            ..Ack::default()
        };
        self.acknowledge(&ack);
        self.check_sizes()
    }

    /// The handshake is over, and our end may send: as a connection that the other end opened.
    fn accept(&mut self, packet: &Packet) {
        self.open = true;
        self.scale_window(packet, self.scale);
        let profile = &self.profile;
        let profile = Profile { tcp: Tcp { handshake: false, ..profile.tcp.clone() }, ..profile.clone() };
        let mut sender = Sender::new(&profile, 0, Span::ZERO);
        // No bit is left of the SYN's answer that this should report (`tcp_accecn_third_ack`).
        let bleached = self.is_accurate() && packet.ace() == 0;
        let distrusts = bleached || self.receiver.as_ref().is_some_and(Receiver::distrusts);
        sender.on_accept(self.now, &profile, Some(self.now - self.answered), distrusts);
        sender.on_start(self.now, &profile, &mut self.sent);
        self.profile.tcp.handshake = false;
        self.sender = Some(sender);
    }

    fn receive_data(&mut self, packet: &Packet) -> Result<(), Verdict> {
        if !self.open {
            if self.role != Role::Server {
                return misfit("data without a connection");
            }
            self.accept(packet);
        }
        if !self.sack && packet.seq > 1 + self.delivered() {
            return misfit("reordering without SACK");
        }
        if !(packet.seq - 1).is_multiple_of(self.unit) {
            return misfit("segments that overlap in part");
        }
        let seq = (packet.seq - 1) / self.unit + 1;
        let stamp = packet.options.timestamp.map_or(Time::ZERO, |(value, _)| theirs(value));
        self.arrive(&segment(seq, packet, stamp), packet);
        Ok(())
    }

    fn arrive(&mut self, segment: &Segment, packet: &Packet) {
        let Self { now, receiver, profile, sent, .. } = self;
        if let Some(receiver) = receiver {
            receiver.on_segment(*now, profile, segment, packet.ecn == "ce", |ack| {
                sent.0.push_back((
                    *now,
                    if segment.content.is_syn() { Sent::SynAck(ack) } else { Sent::Ack(ack) },
                ));
            });
        }
    }

    fn acknowledge(&mut self, ack: &Ack) {
        let Self { now, sender, profile, sent, .. } = self;
        // An ACK without a timestamp on a connection with them echoes none.
        profile.tcp.timestamps = ack.echo != Time::ZERO;
        if let Some(sender) = sender {
            sender.on_ack(*now, profile, ack, sent);
        }
    }

    /// Our time that a packet echoes.
    fn echo(&self, packet: &Packet) -> Time {
        match (packet.options.timestamp, self.stamps) {
            (Some((_, echo)), Some((value, at))) if self.timestamps => {
                let later = i64::from(echo) - i64::from(value);
                Time::from_nanos(at.nanos().saturating_add_signed(later * 1_000_000))
            }
            _ => Time::ZERO,
        }
    }

    /// A packet of ours that was sent at `at` has this timestamp in the script, whose clock is that of the first.
    pub(super) fn note_stamp(&mut self, packet: &Packet, at: Time) {
        if let (Some((value, _)), None) = (packet.options.timestamp, self.stamps) {
            self.stamps = Some((value, at));
        }
    }
}

/// A timestamp of the other end as a time, for our end to echo.
pub(super) fn theirs(value: u32) -> Time {
    Time::from_nanos(u64::from(value) * 1_000_000)
}

fn segment(seq: u32, packet: &Packet, sent: Time) -> Segment {
    Segment {
        seq,
        content: Content::Data,
        retransmission: false,
        cwr: packet.has('W'),
        ect: !matches!(packet.ecn.as_str(), "" | "noecn"),
        l4s: packet.ecn == "ect1",
        push: packet.has('P'),
        sent,
    }
}
