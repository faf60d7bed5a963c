//! A `rack` sender and receiver with a network between them that loses, delays, reorders and marks, and no engine.

use aqm::unit::{Span, Time};
use netsim::tcp::rack::board::{EVER_RESENT, LOST, RESENT, SACKED};
use netsim::tcp::rack::receiver::Receiver;
use netsim::tcp::rack::{Sender, State};
use netsim::tcp::{Ack, Content, Outbox, Segment};
use proptest::prelude::*;
use scenario::model::{Congestion, Feedback, Pacing, Profile, Tcp};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const CONTROLS: [Congestion; 6] = [
    Congestion::Reno,
    Congestion::Cubic,
    Congestion::Dctcp,
    Congestion::Prague,
    Congestion::Bbr,
    Congestion::Bbr3,
];

const FEEDBACKS: [Feedback; 4] = [Feedback::Classic, Feedback::Counter, Feedback::Sparse, Feedback::Accurate];

/// What lies between the two ends. Probabilities are of 1000.
#[derive(Clone, Debug)]
struct Network {
    delay: Span,
    /// How long a segment occupies the link, and how many may wait for it.
    gap: Span,
    buffer: u64,
    /// Segments that are lost, and ACKs.
    lost: u64,
    acks_lost: u64,
    /// Segments that take longer, by how much at most.
    late: u64,
    detour: Span,
    marked: u64,
    seed: u64,
}

const CLEAN: Network = Network {
    delay: Span::ms(20),
    gap: Span::ms(1),
    buffer: 100,
    lost: 0,
    acks_lost: 0,
    late: 0,
    detour: Span::ZERO,
    marked: 0,
    seed: 1,
};

enum Arrival {
    Data(Segment, bool),
    Answer(Ack),
    Push(u32),
    Close,
}

#[derive(Default)]
struct Sent(Vec<Segment>);

impl Outbox for Sent {
    fn send(&mut self, segment: Segment) {
        self.0.push(segment);
    }
}

struct Connection {
    profile: Profile,
    network: Network,
    sender: Sender,
    receiver: Receiver,
    now: Time,
    arrivals: BTreeMap<(Time, Reverse<u64>), Arrival>,
    /// When the link is free.
    free: Time,
    events: u64,
    sent: u64,
    /// FINs without data that were sent, and whether there has to be one: all data had been sent at the close.
    fins: u64,
    alone: bool,
    /// Data that arrived with a mark for the first time, and again.
    marks: [u32; 2],
}

impl Connection {
    fn new(tcp: &Tcp, segments: u32, network: Network) -> Self {
        let profile = Profile::new(tcp, 1500);
        let (sender, receiver) = (Sender::new(&profile, segments), Receiver::new(profile.first()));
        let arrivals = BTreeMap::new();
        let mut new = Self {
            profile,
            network,
            sender,
            receiver,
            now: Time::ZERO,
            arrivals,
            free: Time::ZERO,
            events: 0,
            sent: 0,
            fins: 0,
            alone: false,
            marks: [0; 2],
        };
        let mut out = Sent::default();
        new.sender.on_start(Time::ZERO, &new.profile, &mut out);
        new.transmit(&out.0);
        new
    }

    /// A number below `most`.
    fn draw(&mut self, most: u64) -> u64 {
        let seed = &mut self.network.seed;
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % most.max(1)
    }

    fn arrive(&mut self, at: Time, what: Arrival) {
        self.events += 1;
        self.arrivals.insert((at, Reverse(u64::MAX - self.events)), what);
    }

    fn transmit(&mut self, segments: &[Segment]) {
        for segment in segments {
            if segment.content == Content::Ack {
                self.arrive(self.now + self.network.delay, Arrival::Data(*segment, false));
                continue;
            }
            self.fins += u64::from(segment.content == Content::Fin);
            self.sent += 1;
            let waiting = self.free.max(self.now) - self.now;
            if self.draw(1000) < self.network.lost
                || waiting.nanos() > self.network.buffer * self.network.gap.nanos()
            {
                continue;
            }
            self.free = self.free.max(self.now) + self.network.gap;
            let mut at = self.free + self.network.delay;
            if self.draw(1000) < self.network.late {
                at += Span::ns(self.draw(self.network.detour.nanos()));
            }
            let marked = segment.ect && self.draw(1000) < self.network.marked;
            self.arrive(at, Arrival::Data(*segment, marked));
        }
    }

    fn answer(&mut self, acks: Vec<Ack>) {
        for ack in acks {
            if self.draw(1000) >= self.network.acks_lost {
                self.arrive(self.now + self.network.delay, Arrival::Answer(ack));
            }
        }
    }

    /// The next thing that happens; false if nothing will.
    fn step(&mut self) -> bool {
        let arrival = self.arrivals.first_key_value().map_or(Time::MAX, |(&(at, _), _)| at);
        let [timer, pace] = self.sender.deadlines();
        let (timers, delayed) = (timer.min(pace), self.receiver.deadline());
        let now = arrival.min(timers).min(delayed);
        if now == Time::MAX {
            return false;
        }
        assert!(now >= self.now, "a deadline is over");
        self.now = now;
        let (mut out, mut acks) = (Sent::default(), Vec::new());
        let mut on_timer = false;
        if arrival == now {
            match self.arrivals.pop_first().unwrap().1 {
                Arrival::Data(segment, marked) => {
                    self.marks[usize::from(segment.retransmission)] +=
                        u32::from(marked && segment.content == Content::Data);
                    self.receiver.on_segment(now, &self.profile, &segment, marked, |ack| acks.push(ack));
                }
                Arrival::Answer(ack) => self.sender.on_ack(now, &self.profile, &ack, &mut out),
                Arrival::Push(segments) => self.sender.on_data(now, &self.profile, segments, &mut out),
                Arrival::Close => {
                    self.alone = self.state().nxt == self.sender.end();
                    self.sender.on_close(now, &self.profile, &mut out);
                }
            }
        } else if timers == now {
            self.sender.on_timer(now, &self.profile, &mut out);
            let [timer, pace] = self.sender.deadlines();
            assert!(timer.min(pace) > now, "the timer goes off for ever");
            on_timer = true;
        } else {
            self.receiver.on_timer(now, &self.profile, |ack| acks.push(ack));
            assert!(self.receiver.deadline() > now, "the delayed ACK is due for ever");
        }
        self.check(&out.0, on_timer);
        self.transmit(&out.0);
        self.answer(acks);
        true
    }

    /// The counters are those of the flags, and the segment sent now had room.
    fn check(&self, sent: &[Segment], on_timer: bool) {
        let state = self.sender.state();
        let board = &state.board;
        let count = |flag: u8| {
            let range = board.base()..board.base() + board.len();
            range.filter(|&seq| board.get(seq).flags & flag == flag).count() as u32
        };
        assert_eq!([board.sacked, board.lost, board.resent], [count(SACKED), count(LOST), count(RESENT)]);
        assert_eq!(count(SACKED | LOST), 0, "what has arrived is not lost");
        assert_eq!(count(RESENT), count(RESENT | EVER_RESENT));
        assert_eq!(board.len(), state.nxt - board.base());
        let room = state.una + self.profile.tcp.max_window;
        assert!(sent.iter().all(|segment| segment.seq < room), "beyond the receive window");
        // A tail loss probe may exceed the congestion window.
        let probe = on_timer && sent.len() == 1;
        assert!(sent.is_empty() || probe || board.in_flight() <= state.cwnd, "beyond the window: {state:?}");
    }

    fn state(&self) -> &State {
        self.sender.state()
    }
}

fn tcp(congestion: Congestion) -> Tcp {
    let linux = Tcp::preset("linux").unwrap();
    let ecn_feedback = if congestion.counts_marks() { Feedback::Accurate } else { Feedback::Classic };
    Tcp { congestion, ecn: congestion.needs_marks(), ecn_feedback, ..linux }
}

/// Sends `segments`, half of them from the start and half later, over any network.
fn all_arrives(congestion: Congestion, network: Network, segments: u32, ecn: Option<Feedback>, window: u32) {
    ends_agree(&Tcp { max_window: window, ..tcp(congestion) }, network, segments, ecn);
}

fn ends_agree(tcp: &Tcp, network: Network, segments: u32, ecn: Option<Feedback>) {
    let mut tcp = tcp.clone();
    let congestion = tcp.congestion;
    if let Some(feedback) = ecn {
        tcp.ecn = true;
        if !congestion.counts_marks() {
            tcp.ecn_feedback = feedback;
        }
    }
    let mut connection = Connection::new(&tcp, segments / 2, network);
    connection.arrive(Time::ZERO + Span::ms(700), Arrival::Push(segments - segments / 2));
    connection.arrive(Time::ZERO + Span::ms(700), Arrival::Close);
    let most = 100_000 + 100 * u64::from(segments);
    while connection.step() {
        assert!(connection.events < most, "for ever");
    }
    assert_eq!(connection.receiver.delivered(), segments);
    assert!(connection.sender.is_through());
    assert!(connection.fins > 0 || !connection.alone);
    let state = connection.state();
    assert_eq!(connection.receiver.next(), state.una);
    assert!(state.board.is_empty() && [state.board.sacked, state.board.lost, state.board.resent] == [0; 3]);
}

fn network() -> impl Strategy<Value = Network> {
    let times = (1_u64..100, 10_u64..5000, 1_u64..100_000);
    let chances = (1_u64..60, 0_u64..200, 0_u64..300, 0_u64..300, 0_u64..300);
    (times, chances, any::<u64>()).prop_map(
        |((delay, gap, detour), (buffer, lost, acks_lost, late, marked), seed)| Network {
            delay: Span::ms(delay),
            gap: Span::us(gap),
            buffer,
            lost,
            acks_lost,
            late,
            detour: Span::us(detour),
            marked,
            seed,
        },
    )
}

proptest! {
    #[test]
    fn over_any_network_all_arrives_and_all_adds_up(
        congestion in prop::sample::select(CONTROLS.to_vec()),
        network in network(),
        segments in 2_u32..600,
        ecn in prop::option::of(prop::sample::select(FEEDBACKS.to_vec())),
        window in prop::sample::select(vec![1_u32, 4, 50, 65535]),
    ) {
        all_arrives(congestion, network, segments, ecn, window);
    }
}

proptest! {
    #[test]
    fn hosts_that_offload_lose_nothing(
        congestion in prop::sample::select(CONTROLS.to_vec()),
        network in network(),
        segments in 2_u32..600,
        ecn in prop::option::of(prop::sample::select(FEEDBACKS.to_vec())),
        max_window in prop::sample::select(vec![1_u32, 4, 50, 65535]),
        pacing in prop::sample::select(vec![Pacing::Own, Pacing::Fq]),
        held_us in prop::sample::select(vec![0_u64, 50, 1000, 20_000]),
    ) {
        let receive_offload = Span::us(held_us);
        let tcp = Tcp { max_window, offload: true, pacing, receive_offload, ..tcp(congestion) };
        ends_agree(&tcp, network, segments, ecn);
    }
}

/// Each broke a rule once, and is too rare for a few hundred random ones to come upon it.
#[test]
fn over_rare_networks_too() {
    // A time-out, an undo and a time-out: the head was sent again twice.
    let twice = Network {
        delay: Span::ms(30),
        gap: Span::us(10),
        buffer: 3,
        lost: 84,
        acks_lost: 190,
        late: 181,
        detour: Span::ms(1),
        marked: 0,
        seed: 14_458_502_809_809_704_754,
    };
    all_arrives(Congestion::Reno, twice, 12, None, 4);
    // A time-out while the pace makes new segments wait.
    let ahead = Network {
        delay: Span::ms(90),
        gap: Span::us(2661),
        buffer: 7,
        lost: 126,
        acks_lost: 14,
        late: 19,
        detour: Span::us(16_089),
        marked: 0,
        seed: 8_424_159_440_300_971_259,
    };
    all_arrives(Congestion::Bbr, ahead, 60, Some(Feedback::Classic), 50);
}

#[test]
fn without_trouble_nothing_is_sent_twice() {
    for congestion in CONTROLS {
        let mut connection = Connection::new(&tcp(congestion), 2000, Network { buffer: 10_000, ..CLEAN });
        while connection.step() {}
        assert_eq!((connection.receiver.delivered(), connection.sent), (2000, 2001), "{congestion:?}");
    }
}

#[test]
fn the_least_window_grows_again_when_the_marks_are_over() {
    for congestion in CONTROLS {
        let tcp = Tcp { ecn: true, ..tcp(congestion) };
        let mut connection = Connection::new(&tcp, u32::MAX, Network { marked: 1000, ..CLEAN });
        let run = |connection: &mut Connection, until: Span| {
            while connection.now < Time::ZERO + until && connection.step() {}
            connection.receiver.delivered()
        };
        run(&mut connection, Span::s(5));
        connection.network.marked = 0;
        let before = run(&mut connection, Span::s(13));
        // A segment more a round trip of at most 141 ms fills the link, 1000 segments a second, in less than 8 s.
        let last = run(&mut connection, Span::s(15)) - before;
        assert!(last > 1900, "{congestion:?}: {last} in two seconds");
    }
}

/// A connection after 5000 segments.
fn through(congestion: Congestion, ecn_feedback: Feedback, network: Network) -> Connection {
    let tcp = Tcp { ecn: true, ecn_feedback, ..tcp(congestion) };
    let mut connection = Connection::new(&tcp, 5000, network);
    while connection.step() {}
    assert_eq!(connection.receiver.delivered(), 5000);
    connection
}

#[test]
fn with_accurate_ecn_the_sender_hears_of_each_mark() {
    let network = Network { marked: 100, ..CLEAN };
    let heard = |connection: &Connection| connection.state().delivered_marked;
    for congestion in CONTROLS {
        let connection = through(congestion, Feedback::Counter, network.clone());
        assert!(connection.marks[0] > 400, "{congestion:?}");
        assert_eq!([heard(&connection), 0], connection.marks, "{congestion:?}");
        // Also where ACKs are lost. A mark on what had been acknowledged before need not count.
        let lossy = Network { acks_lost: 300, ..network.clone() };
        let connection = through(congestion, Feedback::Accurate, lossy);
        let ([first, again], heard) = (connection.marks, heard(&connection));
        assert!((first..=first + again).contains(&heard), "{congestion:?}: {heard} of {first} and {again}");
    }
    // By RFC 3168 it cannot tell how many there were.
    let connection = through(Congestion::Cubic, Feedback::Classic, network);
    assert!(heard(&connection) > 2 * connection.marks[0]);
}

#[test]
fn a_paced_window_that_the_application_does_not_fill_stays() {
    let mut connection = Connection::new(&tcp(Congestion::Prague), 1, CLEAN);
    for i in 1..100 {
        connection.arrive(Time::ZERO + Span::ms(50 * i), Arrival::Push(3));
    }
    while connection.step() {}
    assert_eq!((connection.receiver.delivered(), connection.state().cwnd), (298, 10));
}

#[test]
fn bbr_probes_for_the_round_trip_every_ten_seconds() {
    let mut connection = Connection::new(&tcp(Congestion::Bbr), u32::MAX, CLEAN);
    let mut probes: Vec<(f64, f64)> = Vec::new();
    while connection.now < Time::ZERO + Span::s(25) && connection.step() {
        let now = connection.now.secs();
        if connection.state().cwnd == 4 {
            match probes.last_mut() {
                Some((_, last)) if now - *last < 1.0 => *last = now,
                _ => probes.push((now, now)),
            }
        }
    }
    // Four segments for 200 ms and a round trip of 41 ms.
    let long: Vec<f64> = probes.iter().map(|(first, last)| last - first).collect();
    assert!(long.len() == 2 && long.iter().all(|long| (0.2..0.35).contains(long)), "{probes:?}");
    assert!((10.0..10.3).contains(&(probes[1].0 - probes[0].1)), "{probes:?}");
}

#[test]
fn the_end_that_accepts_a_connection_opens_its_control() {
    let profile = Profile::new(&Tcp { handshake: false, ..tcp(Congestion::Bbr) }, 1500);
    let mut sender = Sender::new(&profile, 3);
    sender.on_accept(Time::ZERO, &profile, Some(Span::ms(100)), false);
    // Ten segments in the round trip of the handshake, times 2.885, less what BBR leaves unused.
    let pace = sender.state().pace as f64;
    assert!((0.98..1.0).contains(&(pace / (10.0 * 1448.0 / 0.1 * 2.885))), "{pace}");
}

#[test]
fn a_stop_before_the_data_takes_the_close_back() {
    let profile = Profile::new(&tcp(Congestion::Cubic), 1500);
    let (mut sender, mut out) = (Sender::new(&profile, 3), Sent::default());
    sender.on_start(Time::ZERO, &profile, &mut out);
    sender.on_close(Time::ZERO, &profile, &mut out);
    sender.on_stop();
    let at = |ms| Time::ZERO + Span::ms(ms);
    sender.on_ack(at(100), &profile, &Ack { next: 1, ..Ack::default() }, &mut out);
    assert!(sender.is_through() && out.0.len() == 2, "a SYN and the answer to the receiver's");
    // The application has its three segments again.
    sender.on_data(at(200), &profile, 3, &mut out);
    sender.on_close(at(200), &profile, &mut out);
    let sent: Vec<_> = out.0[2..].iter().map(|segment| (segment.seq, segment.content)).collect();
    assert_eq!(sent, [(1, Content::Data), (2, Content::Data), (3, Content::Data), (4, Content::Fin)]);
    // All data was sent: a stop changes nothing.
    sender.on_stop();
    sender.on_ack(at(300), &profile, &Ack { next: 5, ..Ack::default() }, &mut out);
    assert!(sender.is_through() && out.0.last().unwrap().content == Content::Ack);
}
