//! TCP senders and receivers against scripts of what must be sent when, in the manner of packetdrill.
//!
//! A script is text, a line an event, times in seconds since the start:
//!
//! ```text
//! size 1500                         bytes of a segment on the wire (default: 500), before `tcp`
//! tcp preset=ns2.35 flavour=reno    parameters, before anything else
//! send 10                           the application has 10 segments (default: no end)
//! 0.0 > 0 syn                       segment 0, a SYN, is sent now, and nothing before it
//! 0.1 < ack 1                       an acknowledgement arrives; also: ece, sack 3-5,7-8 (the ends included; a first one
//!                                   below the ACK or within the second is a D-SACK), rtt 20 (it echoes a segment 20 ms
//!                                   old; the first if left out), delay 20 (one way)
//! 0.1 < ack 2-5                     one for each of 2 to 5, all at this time
//! 0.1 > 1 2 5-9                     segments 1, 2 and 5 to 9 are sent; also: again, ect, l4s, cwr, fin
//! 0.1 > answer 1-3                  before them an answer to the receiver's SYN or FIN
//! 0.1 cwnd == 2                     the window after that; also: ssthresh, timeouts
//! 0.5 push 3                        the application has three segments more
//! 0.5 close                         it closes the connection
//! 9.0 quiet                         nothing is sent before this time
//! ```
//!
//! A receiver's script has segments that arrive and ACKs that are sent:
//!
//! ```text
//! 0.1 < seg 4                       segment 4 arrives; also: syn, fin, ce, cwr, push, plain (not ECN-capable)
//! 0.1 < seg 4-9                     4 to 9 arrive, all at this time
//! 0.1 > ack 3 sack 4                this ACK is sent now, and none before it; also: ece
//! 0.1 > ack 2-17                    one for each of 2 to 17
//! ```
//!
//! Segments are its unit, so that it serves the classic ends too; scripts in packetdrill's own language, which count bytes, are
//! played by [`packetdrill`](crate::packetdrill).
//!
//! A packet that is sent and not in the script fails it, and so does a retransmission at another time.

use aqm::params::{Params, Value};
use aqm::unit::{Span, Time};
use netsim::tcp::{Ack, AckOption, Content, Outbox, Receiver, Segment, Sender};
use scenario::model::{Profile, Tcp};
use std::collections::VecDeque;
use std::path::Path;

#[derive(Default)]
struct Sent(VecDeque<Segment>);

impl Outbox for Sent {
    fn send(&mut self, segment: Segment) {
        self.0.push_back(segment);
    }
}

struct Script {
    profile: Profile,
    sender: Sender,
    sent: Sent,
    /// In a receiver's script: the receiver, and what it answered.
    receiver: Option<Receiver>,
    answers: VecDeque<Ack>,
    started: bool,
    segments: u32,
    size: u32,
}

fn value(text: &str) -> Value {
    text.parse()
        .map(Value::Integer)
        .or_else(|_| text.parse().map(Value::Float))
        .or_else(|_| text.parse().map(Value::Bool))
        .unwrap_or(Value::Text(text.into()))
}

fn parameters(settings: &[&str]) -> Tcp {
    let split = |setting: &&str| setting.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).unwrap();
    let settings: Vec<(String, String)> = settings.iter().map(split).collect();
    let preset = settings.iter().find(|(name, _)| name == "preset").map_or("rfc5681", |(_, preset)| preset);
    let mut tcp = Tcp::preset(preset).unwrap();
    for (name, text) in settings.iter().filter(|(name, _)| name != "preset") {
        tcp.set(name, &value(&text.replace('_', " "))).unwrap();
    }
    tcp
}

/// `3-5` or `3` as a half-open run.
fn run_of(text: &str) -> Option<(u32, u32)> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    Some((low.parse().ok()?, high.parse::<u32>().ok()? + 1))
}

/// The numbers of `3-5` or `3`.
fn numbers(text: &str) -> std::ops::Range<u32> {
    let (low, high) = run_of(text).expect("a number or two with a hyphen");
    low..high
}

/// `3-5,7-8` as half-open runs.
fn blocks(text: &str) -> [(u32, u32); 3] {
    let mut blocks = [(0, 0); 3];
    for (block, run) in blocks.iter_mut().zip(text.split(',')) {
        *block = run_of(run).unwrap();
    }
    blocks
}

fn ack(now: Time, next: u32, flags: &[&str]) -> Ack {
    let sack = flags.iter().position(|&flag| flag == "sack").map(|at| blocks(flags[at + 1]));
    let ms = |name| {
        let at = flags.iter().position(|&flag| flag == name)?;
        Some(Span::ms(flags[at + 1].parse().unwrap()))
    };
    Ack {
        next,
        ece: flags.contains(&"ece"),
        ect: flags.contains(&"ect"),
        echo: ms("rtt").map_or(Time::ZERO, |rtt| Time::from_nanos(now.nanos() - rtt.nanos())),
        blocks: sack.unwrap_or_default(),
        option: ms("delay").map_or(AckOption::None, AckOption::Delay),
        ..Ack::default()
    }
}

fn content(flags: &[&str]) -> Content {
    match () {
        () if flags.contains(&"syn") => Content::Syn,
        () if flags.contains(&"fin") => Content::Fin,
        () => Content::Data,
    }
}

impl Script {
    fn new(tcp: &Tcp, segments: u32, size: u32) -> Self {
        let profile = Profile::new(tcp, size);
        let sender = Sender::new(&profile, segments, Span::ZERO);
        let (sent, answers) = (Sent::default(), VecDeque::new());
        Self { profile, sender, sent, receiver: None, answers, started: false, segments, size }
    }

    fn start(&mut self) {
        if !self.started {
            self.sender = Sender::new(&self.profile, self.segments, Span::ZERO);
            self.sender.on_start(Time::ZERO, &self.profile, &mut self.sent);
            self.started = true;
        }
    }

    /// Lets the retransmission timer go off if it is due by `now` and nothing was sent yet that the script awaits.
    fn pass_time(&mut self, now: Time) -> Result<(), String> {
        if let Some(receiver) = &mut self.receiver {
            let due = receiver.deadline();
            if self.answers.is_empty() && due <= now {
                receiver.on_timer(due, &self.profile, |ack| self.answers.push_back(ack));
                return if due == now { Ok(()) } else { Err(format!("an ACK was due at {} s", due.secs())) };
            }
            return Ok(());
        }
        self.start();
        while self.sent.0.is_empty() && self.sender.deadline() <= now {
            let due = self.sender.deadline();
            self.sender.on_timer(due, &self.profile, &mut self.sent);
            if !self.sent.0.is_empty() && due != now {
                return Err(format!("the timer went off at {} s", due.secs()));
            }
        }
        Ok(())
    }

    fn quiet(&self) -> Result<(), String> {
        match (self.sent.0.front(), self.answers.front()) {
            (Some(segment), _) => Err(format!("not expected: {segment:?}")),
            (_, Some(ack)) => Err(format!("not expected: {ack:?}")),
            (None, None) => Ok(()),
        }
    }

    /// Segments arrive at the receiver.
    fn receive(&mut self, now: Time, which: &str, flags: &[&str]) -> Result<(), String> {
        self.receiver.get_or_insert_with(|| Receiver::new(&self.profile));
        self.quiet()?;
        self.pass_time(now)?;
        self.quiet()?;
        let flag = |name| flags.contains(&name);
        let receiver = self.receiver.as_mut().unwrap();
        for seq in numbers(which) {
            let segment = Segment {
                seq,
                content: content(flags),
                retransmission: false,
                cwr: flag("cwr"),
                ect: !flag("plain"),
                l4s: false,
                push: flag("push"),
                sent: Time::ZERO,
            };
            receiver.on_segment(now, &self.profile, &segment, flag("ce"), |ack| self.answers.push_back(ack));
        }
        Ok(())
    }

    fn expect_answers(&mut self, now: Time, which: &str, flags: &[&str]) -> Result<(), String> {
        self.pass_time(now)?;
        for next in numbers(which) {
            let Some(found) = self.answers.pop_front() else { return Err("no ACK is sent".to_owned()) };
            let expected = ack(now, next, flags);
            if found != expected {
                return Err(format!("found {found:?}, expected {expected:?}"));
            }
        }
        Ok(())
    }

    fn expect(&mut self, now: Time, words: &[&str]) -> Result<(), String> {
        self.pass_time(now)?;
        let flag = |name| words.contains(&name);
        if flag("answer") {
            let Some(found) = self.sent.0.pop_front() else { return Err("no answer is sent".to_owned()) };
            // Which of them may be marked is a matter of `ecn.rs`.
            let Segment { seq, ect, l4s, .. } = found;
            let answer = Content::Ack;
            let (retransmission, cwr, push) = (false, false, false);
            if found != (Segment { seq, content: answer, retransmission, cwr, ect, l4s, push, sent: now }) {
                return Err(format!("found {found:?}, expected an answer"));
            }
        }
        for seq in words.iter().filter_map(|word| run_of(word)).flat_map(|(low, high)| low..high) {
            let Some(found) = self.sent.0.pop_front() else { return Err(format!("{seq} is not sent")) };
            let expected = Segment {
                seq,
                content: content(words),
                retransmission: flag("again"),
                cwr: flag("cwr"),
                ect: flag("ect"),
                l4s: flag("l4s"),
                // The last of what the application has: the receivers' scripts say what comes of it.
                push: found.push,
                sent: now,
            };
            if found != expected {
                return Err(format!("found {found:?}, expected {expected:?}"));
            }
        }
        Ok(())
    }

    fn step(&mut self, now: Time, words: &[&str]) -> Result<(), String> {
        match words {
            ["<", "seg", seq, flags @ ..] => self.receive(now, seq, flags),
            [">", "ack", next, flags @ ..] => self.expect_answers(now, next, flags),
            [">", what @ ..] => self.expect(now, what),
            ["<", "ack", next, flags @ ..] => {
                self.quiet()?;
                self.pass_time(now)?;
                self.quiet()?;
                for next in numbers(next) {
                    self.sender.on_ack(now, &self.profile, &ack(now, next, flags), &mut self.sent);
                }
                Ok(())
            }
            ["push", segments] => {
                self.pass_time(now)?;
                self.quiet()?;
                self.sender.on_data(now, &self.profile, segments.parse().unwrap(), &mut self.sent);
                Ok(())
            }
            ["close"] => {
                self.pass_time(now)?;
                self.quiet()?;
                self.sender.on_close(now, &self.profile, &mut self.sent);
                Ok(())
            }
            ["quiet"] => {
                self.quiet()?;
                // Up to this time, not at it: what is due now may be the next line.
                self.pass_time(Time::from_nanos(now.nanos() - 1))?;
                self.quiet()
            }
            [what @ ("cwnd" | "ssthresh" | "timeouts"), "==", expected] => {
                let found = match *what {
                    "cwnd" => self.sender.cwnd(),
                    "ssthresh" => self.sender.ssthresh(),
                    _ => self.sender.timeouts() as f64,
                };
                let expected: f64 = expected.parse().unwrap();
                let near = (found - expected).abs() < 5e-3;
                if near { Ok(()) } else { Err(format!("{what} is {found}, expected {expected}")) }
            }
            _ => Err("not understood".to_owned()),
        }
    }
}

fn run(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut script = Script::new(&Tcp::default(), u32::MAX, 500);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap().trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let result = match words[..] {
            [] => Ok(()),
            ["tcp", ref settings @ ..] => {
                script = Script::new(&parameters(settings), script.segments, script.size);
                Ok(())
            }
            ["size", bytes] => {
                script.size = bytes.parse().unwrap();
                Ok(())
            }
            ["send", segments] => {
                script.segments = segments.parse().unwrap();
                Ok(())
            }
            [time, ref what @ ..] => {
                let now = Time::ZERO + Span::from_secs(time.parse().expect("a line starts with its time"));
                script.step(now, what)
            }
        };
        result.map_err(|error| format!("{}:{}: {line}: {error}", path.display(), number + 1))?;
    }
    script.quiet().map_err(|error| format!("{}: at the end: {error}", path.display()))
}

#[test]
fn every_script_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 102, "scripts are missing: {}", paths.len());
    let failures: Vec<String> = paths.iter().filter_map(|path| run(path).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
