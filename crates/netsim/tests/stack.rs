//! Stacks from outside in a network: what they are given, what they are asked, and one that never goes on.

use aqm::unit::{Span, Time};
use netsim::Simulation;
use netsim::stack::{Broken, Codepoint, Datagram, Stack, State, Wanted, install};
use run::Results;
use scenario::Document;
use scenario::model::{self, Ecn, Known, QuicControl};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The interval at which the toy sends.
const EVERY: Span = Span::ms(10);

/// A sender of numbered datagrams at a constant rate, and a receiver that answers each with its number and codepoint.
#[derive(Debug)]
struct Toy {
    sends: bool,
    next: Time,
    /// Whether it asks for a time that has been, as a stack does that confuses its clocks.
    is_late: bool,
    /// Whether it sends one datagram and then waits for nothing, as a stack does that forgets its timers.
    is_mute: bool,
    /// Whether it is polled whatever its time.
    is_due: bool,
    seen: State,
    number: u64,
    answer: Option<Vec<u8>>,
    round_trip: Option<Span>,
}

impl Toy {
    fn new(sends: bool, is_late: bool) -> Self {
        let (seen, answer, round_trip) = (State::default(), None, None);
        Self {
            sends,
            next: Time::ZERO,
            is_late,
            is_mute: false,
            is_due: true,
            seen,
            number: 0,
            answer,
            round_trip,
        }
    }
}

impl Stack for Toy {
    fn recv(&mut self, now: Time, datagram: &[u8], ecn: Codepoint) {
        self.is_due = true;
        let number = u64::from_be_bytes(datagram[..8].try_into().unwrap());
        if self.sends {
            assert_eq!(datagram.len(), 9, "an answer");
            // The number is the time at which it was sent.
            self.round_trip = Some(now - Time::from_nanos(number));
            // Counted where results show it.
            self.seen.lost += u64::from(datagram[8] == Codepoint::Ce as u8);
            return;
        }
        assert!(number > self.number || self.number == 0, "in order, each once");
        assert!(datagram[8..].iter().all(|&byte| byte == 7), "the content is what was sent");
        self.number = number;
        self.seen.delivered += datagram.len() as u64;
        self.answer = Some([&datagram[..8], &[ecn as u8]].concat());
    }

    fn poll(&mut self, now: Time, out: &mut Vec<Datagram>) -> Result<(), String> {
        let is_due = std::mem::take(&mut self.is_due) || self.timeout().is_some_and(|time| time <= now);
        assert!(is_due, "polled for what only the other end knows");
        out.extend(self.answer.take().map(|payload| Datagram { payload, ecn: Ecn::None }));
        if self.sends && now >= self.next {
            let payload = [&now.nanos().to_be_bytes()[..], &[7; 1192]].concat();
            out.push(Datagram { payload, ecn: Ecn::Ect0 });
            self.next = if self.is_mute { Time::MAX } else { now + EVERY };
        }
        Ok(())
    }

    fn timeout(&mut self) -> Option<Time> {
        match (self.sends, self.is_late && self.next > Time::ZERO + Span::s(1)) {
            (true, true) => Some(Time::from_nanos(self.next.nanos() / 2)),
            (true, false) => Some(self.next).filter(|&next| next < Time::MAX),
            (false, _) => None,
        }
    }

    fn stop(&mut self) {
        self.next = Time::MAX;
        self.is_due = true;
    }

    fn state(&self) -> State {
        State { window: 12_000, smoothed: self.round_trip, ..self.seen }
    }

    fn round_trip(&mut self) -> Option<Span> {
        self.round_trip.take()
    }
}

/// The control decides which toy it is, because all tests of a process share the maker.
fn toys(wanted: &Wanted<'_>) -> Result<[Box<dyn Stack>; 2], String> {
    let is = |control| *wanted.stack == model::Stack::Quinn(control);
    if wanted.size.is_some() {
        return Err("it knows no sizes".to_owned());
    }
    let toy = |sends| Toy { is_mute: is(QuicControl::NewReno), ..Toy::new(sends, is(QuicControl::Bbr)) };
    Ok([Box::new(toy(true)), Box::new(toy(false))])
}

fn run(keys: &str) -> Simulation<()> {
    install(toys, Known { quinn: true, load: |_, _| Ok(()) });
    let text = format!(
        "duration = \"10 s\"\n[dumbbell]\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n{keys}\n[record]\ncwnd = \"1 s\"\n"
    );
    let mut run = Simulation::new(Document::parse(&text, "stack").unwrap().check().unwrap(), 1, ());
    run.advance(Time::MAX);
    run
}

fn results(keys: &str) -> Results {
    run(keys).results()
}

/// The reason why a run with these keys ends.
fn broken(keys: &str) -> String {
    let run = || run(&format!("[[traffic]]\nname = \"x\"\nkind = \"quic\"\n{keys}\n"));
    catch_unwind(AssertUnwindSafe(run)).unwrap_err().downcast::<Broken>().unwrap().0
}

#[test]
fn what_a_stack_sends_arrives_and_is_counted() {
    // 9.82 kbit every 10 ms go over the link; the rates of the access links hardly delay them.
    let run = run("[[traffic]]\nname = \"x\"\nkind = \"quic\"\n");
    let (results, windows) = (run.results(), run.windows());
    let class = &results.classes["x"];
    assert!((class.totals.goodput / 960_000.0 - 1.0).abs() < 0.01, "{}", class.totals.goodput);
    let rtt = class.totals.rtt_max.unwrap();
    // A full packet has 1500 B, the toy's 1228 B: 2.2 ms less at the link.
    assert!((0.0..0.003).contains(&(class.rtt_idle.unwrap() - rtt)), "{rtt} {:?}", class.rtt_idle);
    // The first sample comes before the flow begins.
    assert_eq!((windows.len(), windows[3].cwnd), (10, 12_000.0 / 1472.0));
}

#[test]
fn a_stack_learns_of_marks_if_the_entry_uses_ecn() {
    // The rest fills the link.
    let others = "[aqm]\nname = \"codel\"\necn = true\n[[traffic]]\nname = \"y\"\nkind = \"cbr\"\nrate = \"200 kbit/s\"\n";
    let marks = |ecn: &str| {
        let text = format!("{others}[[traffic]]\nname = \"x\"\nkind = \"quic\"\necn = \"{ecn}\"\n");
        let results = results(&text);
        [results.metrics.link.traffic.marks, results.classes["x"].totals.retransmits_total.unwrap()]
    };
    assert_eq!(marks("none"), [0, 0]);
    let [marked, learnt] = marks("ect0");
    // Those on their way at the end are not known.
    assert!(marked > 20 && (marked - 5..=marked).contains(&learnt), "{learnt} of {marked}");
}

#[test]
fn a_stack_that_asks_for_the_past_ends_its_run_with_a_reason() {
    let expected = "traffic.x: its stack cannot go on: it asks again and again to be woken at 0.505 s, which is not in \
                    the future of 1 s";
    assert_eq!(broken("congestion = \"bbr\""), expected);
}

#[test]
fn a_stack_that_never_asks_for_a_time_ends_its_run_with_a_reason() {
    let expected = "traffic.x: its stack cannot go on: its ends ask for no time, no datagram is under way, and the download \
                    is not complete";
    assert_eq!(broken("congestion = \"newreno\""), expected);
    // After its end it may be silent.
    run("[[traffic]]\nname = \"x\"\nkind = \"quic\"\ncongestion = \"newreno\"\nstop = \"5 s\"\n");
}

#[test]
fn a_stack_that_cannot_be_made_ends_its_run_with_its_reason() {
    assert_eq!(broken("size = \"1 MB\""), "traffic.x: its stack cannot begin: it knows no sizes");
}

#[test]
fn the_content_of_lost_datagrams_is_forgotten() {
    let text = "loss = 0.3\n[[traffic]]\nname = \"x\"\nkind = \"quic\"\nstop = \"9 s\"\n";
    let results = results(text);
    let lost = results.classes["x"].totals.path_loss_ratio.unwrap();
    assert!((0.25..0.35).contains(&lost), "{lost}");
}
