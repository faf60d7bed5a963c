//! Plays a script, and judges what our ends send.

use super::host::{Host, Role, START, Sent, theirs};
use super::language::{Event, Packet, Setting, What, When, parse};
use super::python;
use super::socket::{self, Wait};
use aqm::unit::{Span, Time};
use netsim::tcp::{Ack, Content, Segment};

/// No two events happen at the same instant.
const STEP: Span = Span::us(10);

/// What became of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// All of it holds, or all before the connection is closed.
    Passed { whole: bool },
    /// The first difference.
    Failed(String),
    /// The simulator lacks this by design.
    NotApplicable(String),
}

/// Plays a script's text.
pub(crate) fn play(text: &str) -> Verdict {
    match parse(text) {
        Ok((settings, events)) => Player::new(&settings, &events).play(&events),
        Err(problem) => Verdict::Failed(problem),
    }
}

struct Player {
    host: Host,
    tolerance: Span,
    percent: f64,
    /// The time of the event before, and whether that was the arrival of a packet.
    last: Time,
    arrived: bool,
    code: python::Program,
    /// Calls that block: the line of each, when it must return, by which tolerance, and what it waits for.
    waits: Vec<(usize, Time, Span, Wait)>,
    /// Packets and assertions after the handshake that were compared.
    judged: u32,
    /// The bytes that the application has read.
    read: u32,
    /// Why data may not go as in this script.
    misfit: Option<String>,
}

impl Player {
    fn new(settings: &[Setting], events: &[Event]) -> Self {
        let setting = |name| settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let micros = setting("tolerance_usecs").and_then(|text| text.parse().ok());
        let host = Host::new(unit(events).unwrap_or(1));
        Self {
            host,
            tolerance: Span::us(micros.unwrap_or(4000)),
            percent: setting("tolerance_percent").and_then(|text| text.parse().ok()).unwrap_or(12.5),
            last: START,
            arrived: false,
            code: python::Program::default(),
            waits: Vec::new(),
            judged: 0,
            read: 0,
            misfit: misfit(events),
        }
    }

    fn play(mut self, events: &[Event]) -> Verdict {
        let mut verdict = Verdict::Passed { whole: true };
        for event in events {
            match self.step(event) {
                Ok(()) => continue,
                Err(Verdict::NotApplicable(reason))
                    if self.judged > 0 && matches!(&*reason, "closing" | "resets") =>
                {
                    verdict = Verdict::Passed { whole: false };
                }
                Err(Verdict::NotApplicable(reason)) => verdict = Verdict::NotApplicable(reason),
                Err(Verdict::Failed(reason)) => {
                    verdict = Verdict::Failed(format!("line {}: `{}`: {reason}", event.line, event.text));
                }
                Err(passed) => verdict = passed,
            }
            break;
        }
        if verdict == (Verdict::Passed { whole: true })
            && let Err(failed) = self.finish_waits()
        {
            verdict = failed;
        }
        // Assertions come before whatever ended the script.
        match self.code.run() {
            Some(problem) => Verdict::Failed(problem),
            None => verdict,
        }
    }

    fn step(&mut self, event: &Event) -> Result<(), Verdict> {
        let arrives = matches!(event.what, What::Packet { sent: false, .. });
        let (from, until) = self.span(event.when, arrives);
        if !matches!(event.what, What::Packet { sent: true, .. }) {
            let at = from.max(self.host.now + STEP);
            self.host.pass(at);
            self.check_waits()?;
        }
        let returns = event.returns.map(|span| from_base(event.when, from) + span);
        let data = match &event.what {
            What::Packet { packet, .. } => packet.length > 0 && !packet.has('S'),
            What::Call { name, .. } => name == "write",
            _ => false,
        };
        if let (true, Some(reason)) = (data, &self.misfit) {
            return Err(Verdict::NotApplicable(reason.clone()));
        }
        match &event.what {
            What::Foreign => return Err(Verdict::NotApplicable(foreign(&event.text))),
            What::Packet { sent: false, packet } => self.host.receive(packet)?,
            What::Packet { sent: true, packet } => self.expect(event, packet, from, until)?,
            What::Code(code) => {
                self.code.add(event.line, code, &self.host)?;
                self.judged += 1;
            }
            What::Command(command) => socket::command(&mut self.host, command)?,
            What::Call { name, arguments, result } => {
                let call = socket::Call { name, arguments, result, blocks: returns };
                let wait = socket::call(&mut self.host, &call, &mut self.read)?;
                if let (Some(wait), Some(returns)) = (wait, returns) {
                    self.waits.push((event.line, returns, self.tolerance(from, returns), wait));
                }
            }
        }
        (self.last, self.arrived) = (from, arrives);
        Ok(())
    }

    /// How far from `at` an event may be if the one before was at `since`.
    fn tolerance(&self, since: Time, at: Time) -> Span {
        self.tolerance.max(Span::from_secs(self.percent / 100.0 * (at - since.min(at)).secs()))
    }

    /// The times between which an event is to happen. Those of arrivals in a row do not depend on how long each takes.
    fn span(&self, when: Option<When>, arrives: bool) -> (Time, Time) {
        match when {
            None | Some(When::Any) => (self.host.now, Time::MAX),
            Some(When::At { relative, from, until }) => {
                let base = match relative {
                    false => START,
                    true if arrives && self.arrived => self.last,
                    true => self.host.now,
                };
                (base + from, base + until.unwrap_or(from))
            }
        }
    }

    /// A packet of ours must be this one, and be sent at this time.
    fn expect(&mut self, event: &Event, packet: &Packet, from: Time, until: Time) -> Result<(), Verdict> {
        if let Some(reason) = packet.misfit() {
            return Err(Verdict::NotApplicable(reason));
        }
        let any = event.when == Some(When::Any);
        let tolerance = self.tolerance(self.last, from);
        let latest = if any { self.host.now + Span::s(120) } else { until + tolerance };
        while self.host.sent.0.is_empty() && self.host.deadline() <= latest {
            self.host.pass(self.host.deadline());
        }
        self.check_waits()?;
        let handshake =
            packet.has('S') || self.host.role == Role::Client && packet.seq == 1 && packet.length == 0;
        let Some((at, first)) = self.host.sent.0.pop_front() else {
            return self.missing(packet);
        };
        self.host.note_stamp(packet, at);
        self.judged += u32::from(!handshake);
        self.compare(packet, first)?;
        if !any && at + tolerance < from || at > latest {
            let [ours, wanted] = [at, from].map(|time| (time.nanos() as f64 - START.nanos() as f64) / 1e9);
            return Err(Verdict::Failed(format!("ours: at {ours:.6} s, and not at {wanted:.6} s")));
        }
        Ok(())
    }

    /// Nothing was sent that should have been.
    fn missing(&self, packet: &Packet) -> Result<(), Verdict> {
        let reason = match self.host.state() {
            _ if packet.has('S') && self.host.role == Role::Server => "a SYN-ACK that is sent again",
            Some(state)
                if packet.length == 0 && state.board.is_empty() && state.nxt < self.host.segments() =>
            {
                "probes of a closed window"
            }
            _ => return Err(Verdict::Failed("nothing is sent".to_owned())),
        };
        Err(Verdict::NotApplicable(reason.to_owned()))
    }

    fn compare(&mut self, packet: &Packet, first: Sent) -> Result<(), Verdict> {
        let differs = |ours: String| Err(Verdict::Failed(format!("ours: {ours}")));
        match first {
            Sent::SynAck(ack) if packet.has('S') && packet.has('.') => {
                let same = packet.ace() == self.host.answer(&ack)
                    && packet.options.ecn.is_some() == ack.option.counts().is_some()
                    && has_field(packet, ack.ect, ack.l4s);
                if same { Ok(()) } else { differs(self.describe(&first)) }
            }
            Sent::Segment(segment) if segment.content.is_syn() && packet.has('S') && !packet.has('.') => {
                if packet.ace() == self.asked(&segment) && has_field(packet, segment.ect, segment.l4s) {
                    Ok(())
                } else {
                    differs(self.describe(&first))
                }
            }
            Sent::Segment(Segment {
                content: content @ (Content::Fin | Content::Ack),
                seq,
                ect,
                l4s,
                ..
            }) if packet.length == 0 && !packet.has('S') => {
                let same = packet.has('F') == (content == Content::Fin)
                    && packet.seq == self.host.end(seq - 1)
                    && has_field(packet, ect, l4s);
                if same { Ok(()) } else { differs(self.describe(&first)) }
            }
            Sent::Segment(segment) if packet.length > 0 && !packet.has('S') => {
                self.compare_data(packet, segment)
            }
            Sent::Ack(ack) if packet.length == 0 && !packet.has('S') => {
                let blocks = ack.blocks.iter().filter(|block| block.1 > 0);
                let blocks: Vec<_> =
                    blocks.map(|&(low, high)| (self.host.byte_of(low), self.host.byte_of(high))).collect();
                let echo = packet.options.timestamp.is_none_or(|(_, echo)| {
                    theirs(echo) == ack.echo || Some(theirs(echo)) == self.host.ack_stamp
                });
                if !self.host.timestamps && packet.options.ecn.is_some() && packet.options.sack.len() > 1 {
                    let reason = "more options than timestamps leave room for";
                    return Err(Verdict::NotApplicable(reason.to_owned()));
                }
                let same = packet.ack == Some(self.host.byte_of(ack.next))
                    && blocks == packet.options.sack
                    && packet.ace() == ace(&ack)
                    && packet.options.ecn == ack.option.counts().map(|counts| self.host.written(&counts))
                    && has_field(packet, ack.ect, ack.l4s)
                    && echo;
                if same { Ok(()) } else { differs(self.describe(&first)) }
            }
            _ => differs(self.describe(&first)),
        }
    }

    /// One packet of the script may be a train of ours: the simulator has no segmentation offload.
    fn compare_data(&mut self, packet: &Packet, first: Segment) -> Result<(), Verdict> {
        let accurate = self.host.is_accurate();
        if accurate && packet.ace() != 5 {
            return Err(Verdict::NotApplicable("marks on ACKs".to_owned()));
        }
        let mut segment = first;
        let mut byte = packet.seq;
        loop {
            let (start, end) = (self.host.end(segment.seq - 1), self.host.end(segment.seq));
            let same = start == byte
                && end <= packet.seq + packet.length
                && has_field(packet, segment.ect, segment.l4s)
                && (accurate || segment.cwr == (packet.has('W') && byte == packet.seq));
            if !same {
                return Err(Verdict::Failed(format!("ours: {}", self.describe(&Sent::Segment(segment)))));
            }
            byte = end;
            if byte == packet.seq + packet.length {
                return Ok(());
            }
            match self.host.sent.0.pop_front() {
                Some((_, Sent::Segment(next))) => segment = next,
                Some((_, other)) => {
                    return Err(Verdict::Failed(format!("after {byte}: {}", self.describe(&other))));
                }
                None => return Err(Verdict::Failed(format!("nothing is sent after byte {byte}"))),
            }
        }
    }

    /// A packet of ours in the script's language.
    fn describe(&self, sent: &Sent) -> String {
        match sent {
            Sent::SynAck(ack) => {
                format!(
                    "> {}S{}. 0:0(0) ack 1{}",
                    field(ack.ect),
                    letters(self.host.answer(ack)),
                    self.option(ack)
                )
            }
            Sent::Segment(segment) if segment.content == Content::Ack => {
                format!("> {}. ack 1", field(segment.ect))
            }
            Sent::Segment(segment) if segment.content.is_syn() => {
                format!("> {}S{} 0:0(0)", field(segment.ect), letters(self.asked(segment)))
            }
            Sent::Segment(segment) => {
                let (start, end) = (self.host.end(segment.seq - 1), self.host.end(segment.seq));
                let (flag, length) = match segment.content {
                    Content::Fin => ("F", 0),
                    _ => (if segment.cwr { "W" } else { "" }, end - start),
                };
                format!("> {}{flag}. {start}:{}({length}) ack 1", field(segment.ect), start + length)
            }
            Sent::Ack(ack) => {
                let (field, flags) = (field(ack.ect), letters(ace(ack)));
                let mut text =
                    format!("> {field}{flags}. ack {}{}", self.host.byte_of(ack.next), self.option(ack));
                for &(low, high) in ack.blocks.iter().filter(|block| block.1 > 0) {
                    text += &format!(" sack {}:{}", self.host.byte_of(low), self.host.byte_of(high));
                }
                text
            }
        }
    }

    /// The option of Accurate ECN in an ACK of ours.
    fn option(&self, ack: &Ack) -> String {
        let Some([ect1, ce, ect0]) = ack.option.counts().map(|counts| self.host.written(&counts)) else {
            return String::new();
        };
        let named = [("e1b", ect1), ("ceb", ce), ("e0b", ect0)].into_iter();
        let counters = named.filter_map(|(name, bytes)| Some(format!(" {name} {}", bytes?)));
        format!(" ECN{}", counters.collect::<String>())
    }

    /// The flags of ECN in a SYN of ours.
    fn asked(&self, syn: &Segment) -> u8 {
        match (syn.cwr, self.host.is_accurate()) {
            (false, _) => 0,
            (true, false) => 3,
            (true, true) => 7,
        }
    }

    /// At the end every call that blocks must have returned.
    fn finish_waits(&mut self) -> Result<(), Verdict> {
        let last = self.waits.iter().map(|&(_, returns, ..)| returns).max();
        self.host.pass(last.unwrap_or(self.host.now).max(self.host.now));
        self.check_waits()?;
        let left = self.waits.first().map(|(line, ..)| format!("the call of line {line} does not return"));
        left.map_or(Ok(()), |problem| Err(Verdict::Failed(problem)))
    }

    /// Calls that block return once what they wait for is there, and not before.
    fn check_waits(&mut self) -> Result<(), Verdict> {
        let (now, host) = (self.host.now, &self.host);
        let mut failed = None;
        self.waits.retain(|(line, returns, tolerance, wait)| {
            let done = wait.is_over(host);
            if done && now + *tolerance < *returns || !done && now > *returns + *tolerance {
                failed = Some(format!("the call of line {line} returns at another time"));
            }
            !done
        });
        failed.map_or(Ok(()), |problem| Err(Verdict::Failed(problem)))
    }
}

/// The flags of ECN in an ACK of ours.
fn ace(ack: &Ack) -> u8 {
    ack.marks.unwrap_or_else(|| u8::from(ack.ece))
}

fn letters(ace: u8) -> String {
    [(1, 'E'), (2, 'W'), (4, 'A')]
        .into_iter()
        .filter(|(bit, _)| ace & bit != 0)
        .map(|(_, flag)| flag)
        .collect()
}

const fn field(ect: bool) -> &'static str {
    if ect { "[ect] " } else { "" }
}

/// Whether a packet of ours has the script's ECN field, if it says one.
fn has_field(packet: &Packet, ect: bool, l4s: bool) -> bool {
    let ours = match (ect, l4s) {
        (false, _) => "noecn",
        (true, false) => "ect0",
        (true, true) => "ect1",
    };
    packet.ecn.is_empty() || packet.ecn == ours
}

/// The base of a time that an event's own time was added to.
fn from_base(when: Option<When>, at: Time) -> Time {
    match when {
        Some(When::At { from, .. }) => Time::from_nanos(at.nanos() - from.nanos()),
        _ => at,
    }
}

/// The packets with data that arrive.
fn arrivals(events: &[Event]) -> impl Iterator<Item = &Packet> {
    events.iter().filter_map(|event| match &event.what {
        What::Packet { sent: false, packet } if packet.length > 0 && !packet.has('S') => Some(packet),
        _ => None,
    })
}

/// The size of those packets, if they have one.
fn unit(events: &[Event]) -> Option<u32> {
    let first = arrivals(events).next()?.length;
    arrivals(events).all(|packet| packet.length == first).then_some(first)
}

/// Why a script as a whole does not apply.
fn misfit(events: &[Event]) -> Option<String> {
    let sends = events.iter().any(|event| match &event.what {
        What::Packet { sent: true, packet } => packet.length > 0,
        _ => false,
    });
    let receives = arrivals(events).next().is_some();
    if receives && sends {
        return Some("data both ways".to_owned());
    }
    (receives && unit(events).is_none()).then(|| "arriving segments of several sizes".to_owned())
}

fn foreign(text: &str) -> String {
    for (word, reason) in [("icmp", "ICMP"), ("udp", "UDP"), ("urg", "urgent data")] {
        if text.contains(word) {
            return reason.to_owned();
        }
    }
    "packets that are not understood".to_owned()
}
