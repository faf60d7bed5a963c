//! The language of packetdrill, as far as scripts of TCP use it: a text becomes a list of events, each with its time.
//!
//! Nothing is judged here. What the simulator has no word for (an ICMP message, a socket call's fields) stays text, for the
//! player to refuse.

use aqm::unit::Span;

/// When an event is to happen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum When {
    /// So long after the start, or after the event before if `relative`; between the two if it is a range.
    At { relative: bool, from: Span, until: Option<Span> },
    /// At any time.
    Any,
}

/// A line of a script.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub line: usize,
    /// `None` for what stands before the first event: commands that set up the host.
    pub when: Option<When>,
    /// Of a call that blocks: when it returns, on the clock of `when`.
    pub returns: Option<Span>,
    pub what: What,
    /// The event as it is written.
    pub text: String,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// `< …`, a packet that arrives, or `> …`, one that must be sent.
    Packet { sent: bool, packet: Packet },
    /// A packet that is not TCP's, or has something that is not understood.
    Foreign,
    /// `%{ … }%`, in Python.
    Code(String),
    /// A command of the shell.
    Command(String),
    /// A socket call with its arguments as text, and what it returns: `-1 EAGAIN` is "-1".
    Call { name: String, arguments: String, result: String },
}

/// A TCP packet; numbers count bytes from the start of the connection.
#[derive(Clone, Default, Debug)]
pub(super) struct Packet {
    /// `noecn`, `ect0`, `ect1` or `ce`; empty if it is not said.
    pub ecn: String,
    /// Letters; a digit, Accurate ECN's counter, has become those of its bits.
    pub flags: String,
    pub seq: u32,
    pub length: u32,
    pub ack: Option<u32>,
    pub window: Option<u32>,
    pub options: Options,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Options {
    pub mss: Option<u32>,
    pub sack_permitted: bool,
    pub scale: Option<u32>,
    /// Value and echo.
    pub timestamp: Option<(u32, u32)>,
    pub sack: Vec<(u32, u32)>,
    /// The counters of Accurate ECN's option as they are written: ECT(1), CE, ECT(0).
    pub ecn: Option<[Option<u32>; 3]>,
    /// Options that the simulator's packets do not have, such as a signature.
    pub other: Option<String>,
}

impl Packet {
    pub(super) fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// The three flags of ECN as a number, the counter of Accurate ECN.
    pub(super) fn ace(&self) -> u8 {
        [('A', 4), ('W', 2), ('E', 1)].map(|(flag, bit)| if self.has(flag) { bit } else { 0 }).iter().sum()
    }

    /// What of it the simulator's packets do not have.
    pub(super) fn misfit(&self) -> Option<String> {
        let reason = match self.options.other.as_deref() {
            Some("FO" | "FOEXP") => "fast open",
            Some("md5") => "MD5",
            Some(option) => return Some(format!("the option {option}")),
            None if self.has('R') => "resets",
            None if self.has('F') && self.length > 0 => "closing",
            None => return None,
        };
        Some(reason.to_owned())
    }
}

/// `--name=value`.
pub(super) type Setting = (String, String);

/// The settings and the events of a script.
pub(super) fn parse(text: &str) -> Result<(Vec<Setting>, Vec<Event>), String> {
    let mut reader = Reader { text: without_comments(text), at: 0 };
    let (mut settings, mut events) = (Vec::new(), Vec::new());
    loop {
        reader.skip_space();
        let line = reader.line();
        if reader.rest().is_empty() {
            return Ok((settings, events));
        }
        if reader.rest().starts_with("--") {
            let setting = reader.until("\n");
            let (name, value) = setting.trim_start_matches('-').split_once('=').unwrap_or((&setting, ""));
            settings.push((name.trim().to_owned(), value.trim().to_owned()));
            continue;
        }
        let (when, returns) = if reader.rest().starts_with('`') {
            (None, None)
        } else {
            let (when, returns) = reader.time().ok_or_else(|| format!("line {line}: no time"))?;
            (Some(when), returns)
        };
        reader.skip_space();
        let start = reader.at;
        let what = reader.event().ok_or_else(|| format!("line {line}: not understood"))?;
        let words: Vec<&str> = reader.text[start..reader.at].split_whitespace().collect();
        events.push(Event { line, when, returns, what, text: words.join(" ") });
    }
}

/// The text with blanks in place of comments, so that lines keep their numbers; those of the shell and of Python stay.
fn without_comments(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let (length, keep) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |end| end + 2), false)
        } else if let Some(command) = rest.strip_prefix('`') {
            (command.find('`').map_or(rest.len(), |end| end + 2), true)
        } else if rest.starts_with("%{") {
            (rest.find("}%").map_or(rest.len(), |end| end + 2), true)
        } else if rest.starts_with('#') {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else {
            (next.len_utf8(), true)
        };
        let (part, after) = rest.split_at(length);
        left.extend(part.chars().map(|c| if keep || c == '\n' { c } else { ' ' }));
        rest = after;
    }
    left
}

struct Reader {
    text: String,
    at: usize,
}

impl Reader {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn skip(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// What comes before `end`, which is skipped too.
    fn until(&mut self, end: &str) -> String {
        let length = self.rest().find(end).unwrap_or(self.rest().len());
        let found = self.rest()[..length].to_owned();
        self.at = (self.at + length + end.len()).min(self.text.len());
        found
    }

    /// A number of seconds, of which `...` is no part.
    fn seconds(&mut self) -> Option<Span> {
        let rest = self.rest();
        let mut length = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        length = rest[..length].find("..").unwrap_or(length);
        let seconds: f64 = rest[..length].parse().ok()?;
        self.at += length;
        Some(Span::ns((seconds * 1e9).round() as u64))
    }

    fn time(&mut self) -> Option<(When, Option<Span>)> {
        if self.skip("*") {
            return Some((When::Any, None));
        }
        let relative = self.skip("+");
        let from = self.seconds()?;
        let mut until = None;
        let mut returns = None;
        let before = self.at;
        self.skip_space();
        if self.skip("~") {
            self.skip_space();
            self.skip("+");
            until = Some(self.seconds()?);
        } else if self.skip("...") {
            self.skip_space();
            returns = Some(self.seconds()?);
        } else {
            self.at = before;
        }
        Some((When::At { relative, from, until }, returns))
    }

    fn event(&mut self) -> Option<What> {
        if self.skip("%{") {
            return Some(What::Code(self.until("}%")));
        }
        if self.skip("`") {
            return Some(What::Command(self.until("`")));
        }
        let text = self.statement();
        let text = text.trim();
        match text.chars().next()? {
            direction @ ('<' | '>') => Some(match packet(&text[1..]) {
                Some(packet) => What::Packet { sent: direction == '>', packet },
                None => What::Foreign,
            }),
            _ => call(text),
        }
    }

    /// A packet or a call: to the end of the line, and on while the next line does not begin an event.
    fn statement(&mut self) -> String {
        let mut text = String::new();
        loop {
            text += &self.until("\n");
            text.push(' ');
            let next = self.rest().lines().next().unwrap_or("").trim_start();
            let begins =
                next.starts_with(['+', '*', '`', '-']) || next.starts_with(|c: char| c.is_ascii_digit());
            if begins || next.is_empty() {
                return text;
            }
        }
    }
}

/// `write(4, ..., 1000) = 1000`.
fn call(text: &str) -> Option<What> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once('=')?;
    let arguments = arguments.trim().strip_suffix(')')?;
    let result = result.split_whitespace().next()?;
    Some(What::Call {
        name: name.trim().to_owned(),
        arguments: arguments.to_owned(),
        result: result.to_owned(),
    })
}

/// `[ect0] P. 1:1001(1000) ack 1 win 257 <nop,nop,sack 1:2>`.
fn packet(text: &str) -> Option<Packet> {
    let mut packet = Packet::default();
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        let (ecn, rest) = rest.split_once(']')?;
        packet.ecn = ecn.split_whitespace().next()?.to_owned();
        text = rest.trim();
    }
    let (head, options) = match text.split_once('<') {
        Some((head, options)) => (head, options.trim().strip_suffix('>')?),
        None => (text, ""),
    };
    let mut words = head.split_whitespace();
    for flag in words.next()?.chars() {
        match flag.to_digit(8) {
            Some(bits) => {
                let named = [(4, 'A'), (2, 'W'), (1, 'E')].into_iter();
                packet.flags.extend(named.filter(|(bit, _)| bits & bit != 0).map(|(_, flag)| flag));
            }
            None if "SFRPEWUA.-".contains(flag) => packet.flags.push(flag),
            None => return None,
        }
    }
    let (range, length) = words.next()?.strip_suffix(')')?.split_once('(')?;
    packet.seq = range.split(':').next()?.parse().ok()?;
    packet.length = length.parse().ok()?;
    while let Some(word) = words.next() {
        let value = words.next()?.parse().ok()?;
        match word {
            "ack" => packet.ack = Some(value),
            "win" => packet.window = Some(value),
            _ => return None,
        }
    }
    packet.options = parse_options(options)?;
    Some(packet)
}

fn parse_options(text: &str) -> Option<Options> {
    let mut options = Options::default();
    for option in text.split(',').map(str::trim).filter(|option| !option.is_empty() && *option != "...") {
        let words: Vec<&str> = option.split_whitespace().collect();
        match words[..] {
            ["nop" | "eol" | "EOL"] => {}
            ["sackOK"] => options.sack_permitted = true,
            ["mss", bytes] => options.mss = Some(bytes.parse().ok()?),
            ["wscale", bits] => options.scale = Some(bits.parse().ok()?),
            ["TS", "val", value, "ecr", echo] => {
                options.timestamp = Some((value.parse().ok()?, echo.parse().ok()?));
            }
            ["ECN", ref counters @ ..] => {
                let mut counts = [None; 3];
                for pair in counters.chunks(2) {
                    let [name, bytes] = pair else { return None };
                    let place = ["e1b", "ceb", "e0b"].iter().position(|known| known == name)?;
                    counts[place] = Some(bytes.parse().ok()?);
                }
                options.ecn = Some(counts);
            }
            ["sack", ref blocks @ ..] => {
                for block in blocks {
                    let (low, high) = block.split_once(':')?;
                    options.sack.push((low.parse().ok()?, high.parse().ok()?));
                }
            }
            _ => options.other = Some(words[0].to_owned()),
        }
    }
    Some(options)
}
