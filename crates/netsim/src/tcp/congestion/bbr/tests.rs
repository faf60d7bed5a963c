use super::*;
use std::collections::VecDeque;

/// Segments a second and the round trip of the link without a queue: its product is 100 segments.
const RATE: f64 = 1000.0;
const RTT: Span = Span::ms(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

/// A sender with BBR alone on a link, each segment acknowledged; nothing is lost.
struct Loop {
    bbr: Bbr,
    cwnd: f64,
    now: Time,
    next: u32,
    una: u32,
    /// When the ACK of each outstanding segment comes.
    acks: VecDeque<Time>,
    free: Time,
    /// When each mode began, and the window then.
    modes: Vec<(Time, Mode, f64)>,
    /// The longest queue in segments since it was last set to 0.
    queue: f64,
}

impl Loop {
    fn new() -> Self {
        let mut bbr = Bbr::default();
        bbr.on_open(at(100), RTT, 10.0);
        let modes = vec![(at(100), Mode::Startup, 10.0)];
        let (acks, free) = (VecDeque::new(), at(100));
        Self { bbr, cwnd: 10.0, now: at(100), next: 1, una: 1, acks, free, modes, queue: 0.0 }
    }

    fn run(&mut self, until: Time) {
        while self.now < until {
            while f64::from(self.next - self.una) + 1.0 <= self.cwnd && self.bbr.may_send(self.now) {
                self.bbr.on_send(self.now, self.next, self.acks.is_empty());
                self.next += 1;
                self.queue = self.queue.max(self.free.since(self.now).secs() * RATE);
                self.free = self.free.max(self.now) + Span::from_secs(1.0 / RATE);
                self.acks.push_back(self.free + RTT);
            }
            let ack = self.acks.front().copied().unwrap_or(Time::MAX);
            self.now = ack.min(self.bbr.due());
            self.bbr.on_wake();
            if self.now == ack {
                self.acknowledge();
            }
        }
    }

    fn acknowledge(&mut self) {
        let flight_before = self.next - self.una;
        self.acks.pop_front();
        self.una += 1;
        let (now, repair, flight) = (self.now, Repair::None, flight_before - 1);
        let state = State { now, repair, flight_before, flight, losses: 0, cwnd: self.cwnd };
        self.cwnd = self.bbr.on_ack(&Ack { next: self.una, ..Ack::default() }, &state);
        if self.modes.last().is_none_or(|&(_, mode, _)| mode != self.bbr.mode) {
            self.modes.push((now, self.bbr.mode, self.cwnd));
        }
    }
}

#[test]
fn the_modes_follow_each_other_and_the_model_is_that_of_the_link() {
    let mut path = Loop::new();
    path.run(at(3000));
    let modes: Vec<Mode> = path.modes.iter().map(|&(_, mode, _)| mode).collect();
    assert_eq!(modes, [Mode::Startup, Mode::Drain, Mode::ProbeBw]);
    let bandwidth = path.bbr.bandwidth.value();
    assert!((0.99 * RATE..1.01 * RATE).contains(&bandwidth), "{bandwidth}");
    assert_eq!(path.bbr.min_rtt, RTT, "the handshake's");
    assert!((path.cwnd - (2.0 * 100.0 + BURSTS)).abs() <= 4.0, "{}", path.cwnd);
}

#[test]
fn a_link_is_full_with_a_queue_far_below_its_product() {
    let mut path = Loop::new();
    path.run(at(3000));
    let (una, product) = (path.una, RATE * RTT.secs());
    path.queue = 0.0;
    path.run(at(9000));
    let used = f64::from(path.una - una) / (6.0 * RATE);
    assert!(used > 0.98, "{used}");
    assert!((1.0..0.5 * product).contains(&path.queue), "the phase of 5/4 adds a quarter: {}", path.queue);
}

#[test]
fn every_ten_seconds_the_window_is_four_for_a_fifth_of_a_second() {
    let mut path = Loop::new();
    path.run(at(15_000));
    let probe = path.modes.iter().position(|&(_, mode, _)| mode == Mode::ProbeRtt).unwrap();
    let (start, end) = (path.modes[probe].0, path.modes[probe + 1].0);
    assert!((at(10_000)..at(11_500)).contains(&start), "{start:?}");
    // The window empties in a round trip, then 200 ms and at least one round trip more.
    assert!((Span::ms(300)..Span::ms(550)).contains(&end.since(start)), "{:?}", end.since(start));
    assert_eq!(path.modes[probe + 1].1, Mode::ProbeBw);
    assert_eq!(path.modes[probe].2, 4.0);
    assert!(path.modes[probe + 1].2 > 150.0, "the window is restored: {:?}", path.modes);
}

#[test]
fn the_pace_follows_the_gain_cycle() {
    let mut path = Loop::new();
    path.run(at(2000));
    let mut paces = Vec::new();
    for ms in 2000..4000 {
        path.run(at(ms));
        let gain = path.bbr.pace / (MARGIN * path.bbr.bandwidth.value());
        if paces.last().is_none_or(|&last: &f64| (last - gain).abs() > 0.01) {
            paces.push(gain);
        }
    }
    let up = paces.iter().position(|&gain| (gain - 1.25).abs() < 0.01).unwrap();
    assert!((paces[up + 1] - 0.75).abs() < 0.01 && (paces[up + 2] - 1.0).abs() < 0.01, "{paces:?}");
    // Two seconds are some 2.5 cycles of eight phases of 101 ms.
    let ups = paces.iter().filter(|&&gain| (gain - 1.25).abs() < 0.01).count();
    assert!((2..=3).contains(&ups), "{paces:?}");
}

#[test]
fn packets_are_conserved_in_recovery_and_the_window_comes_back_after() {
    let mut bbr = Bbr { full: true, min_rtt: RTT, round_end: u64::MAX, ..Bbr::default() };
    bbr.bandwidth.insert(BANDWIDTH_ROUNDS, 0, RATE);
    (1..=40).for_each(|seq| bbr.on_send(at(0), seq, seq == 1));
    let state = |repair, flight, losses, cwnd| State {
        now: at(100),
        repair,
        flight_before: 40,
        flight,
        losses,
        cwnd,
    };
    bbr.on_loss(100.0);
    // Three SACKed, one lost: 36 in the network, three may be sent.
    let sack = |next, low, high| Ack { next, blocks: [(low, high), (0, 0), (0, 0)], ..Ack::default() };
    let cwnd = bbr.on_ack(&sack(1, 2, 5), &state(Repair::Recovery, 36, 1, 100.0));
    assert_eq!(cwnd, 39.0);
    assert_eq!(bbr.on_ack(&sack(1, 5, 7), &state(Repair::Recovery, 37, 1, cwnd)), 39.0);
    let after = bbr.on_ack(&sack(41, 0, 0), &state(Repair::None, 5, 1, 39.0));
    assert_eq!(after, 100.0 + 35.0, "what it was, and slow start towards the target");
}
