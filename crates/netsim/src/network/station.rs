//! Half-duplex Ethernet: one of the two stations that share a medium by CSMA/CD.
//!
//! A station sends when it has heard nothing for the gap between frames, 96 bit times. Whatever begins within the time that
//! a signal takes to the other station collides with it. Each sends on until its preamble is over, jams for 32 bit times,
//! and waits for a random number of slots of 512 bit times before it tries again: after the n-th collision of a frame from
//! 0 to 2^min(n, 10) - 1. After the 16th it gives the frame up. In the last third of the gap it is deaf, so that two which
//! wait for the end of a frame have the same right to come next.
//!
//! A station knows only of signals that have reached it: its own are heard by the other one later, as two [`Heard`].
//!
//! # Sources
//! IEEE 802.3, clause 4.2.3.2 and the procedures of 4.2.8, with the parameters of 4.4.2.

use crate::engine::rng::Stream;
use crate::network::access::{Frame, Tally};
use aqm::Uniform as _;
use aqm::unit::{Rate, Span, Time};
use std::collections::VecDeque;

// In bytes, which is how rates count.
const PREAMBLE: u32 = 8;
const JAM: u32 = 4;
const GAP: u32 = 12;
const DEAF: u32 = GAP / 3;
const SLOT: u32 = 64;
const MOST_COLLISIONS: u32 = 16;
const MOST_DOUBLINGS: u32 = 10;

/// The link back, at whose end the other station is: the two of a cable follow each other.
pub(crate) const fn back(link: usize) -> usize {
    link ^ 1
}

/// What a station hears begin or end.
#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Time,
    begins: bool,
}

/// A transmission under way.
#[derive(Clone, Copy, Debug)]
struct Sending {
    since: Time,
    until: Time,
    collides: bool,
}

/// What a station does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// It begins to send.
    Begins,
    /// It falls silent after a collision.
    Collided,
    /// It falls silent after a frame, which is sent.
    Sent(Frame),
    /// It falls silent after the last collision of a frame, which is lost.
    GaveUp(Frame),
    /// It hears the other one.
    Hears,
}

/// One end of a medium.
#[derive(Debug)]
pub(crate) struct Station {
    rng: Stream,
    rate: Rate,
    /// How long a signal takes to the other end.
    pub(crate) distance: Span,
    pub(crate) frame: Option<Frame>,
    /// The collisions of the frame.
    attempts: u32,
    /// When the frame has come, or its wait after a collision is over.
    ready: Time,
    /// When the gap after all that was heard is over.
    gap_over: Time,
    /// Since when it is deaf: the last third of that gap.
    deaf_from: Time,
    sending: Option<Sending>,
    /// Since when it hears the other one.
    hears: Option<Time>,
    /// Signals that are still to reach it.
    coming: VecDeque<Heard>,
    /// When its queue, which is paused, has another frame.
    pub(crate) resumes: Time,
    pub(crate) tally: Tally,
}

impl Station {
    pub(crate) const fn new(rng: Stream, rate: Rate, distance: Span, tally: Tally) -> Self {
        Self {
            rng,
            rate,
            distance,
            frame: None,
            attempts: 0,
            ready: Time::ZERO,
            gap_over: Time::ZERO,
            deaf_from: Time::ZERO,
            sending: None,
            hears: None,
            coming: VecDeque::new(),
            resumes: Time::MAX,
            tally,
        }
    }

    /// Sends at another rate from the next step on.
    pub(crate) const fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// It has a frame to send from now on.
    pub(crate) fn load(&mut self, now: Time, frame: Frame) {
        (self.frame, self.attempts, self.ready, self.resumes) = (Some(frame), 0, now, Time::MAX);
    }

    /// The other one's signal begins or ends there at `at`.
    pub(crate) fn will_hear(&mut self, at: Time, begins: bool) {
        self.coming.push_back(Heard { at, begins });
    }

    /// When it begins to send, if nothing else reaches it before.
    fn begin(&self) -> Time {
        if self.frame.is_none() || self.sending.is_some() {
            return Time::MAX;
        }
        let deaf = |since| (self.deaf_from..self.gap_over).contains(&since) && self.ready <= self.gap_over;
        if self.hears.is_none_or(deaf) { self.ready.max(self.gap_over) } else { Time::MAX }
    }

    /// The time of its next step.
    pub(crate) fn next(&self) -> Time {
        let silent = self.sending.map_or(Time::MAX, |sending| sending.until);
        let heard = self.coming.front().map_or(Time::MAX, |heard| heard.at);
        silent.min(self.begin()).min(heard)
    }

    /// Takes its next step. Of those at one time it hears last, so that what begins at the same moment collides.
    pub(crate) fn step(&mut self) -> Step {
        let at = self.next();
        if let Some(sending) = self.sending.filter(|sending| sending.until == at) {
            return self.fall_silent(sending);
        }
        if self.begin() == at
            && let Some(frame) = &self.frame
        {
            let until = at + self.rate.transmission(frame.length - GAP);
            self.sending = Some(Sending { since: at, until, collides: false });
            if self.hears.is_some() {
                self.collide(at);
            }
            return Step::Begins;
        }
        if self.coming.pop_front().is_some_and(|heard| heard.begins) {
            self.hears = Some(at);
            self.collide(at);
        } else {
            self.hears = None;
            self.begin_gap(at);
        }
        Step::Hears
    }

    /// It notices another signal beside its own, if it sends.
    fn collide(&mut self, at: Time) {
        if let Some(sending) = self.sending.as_mut().filter(|sending| !sending.collides) {
            sending.collides = true;
            sending.until =
                at.max(sending.since + self.rate.transmission(PREAMBLE)) + self.rate.transmission(JAM);
        }
    }

    /// All is silent from `at` on.
    fn begin_gap(&mut self, at: Time) {
        self.deaf_from = at + self.rate.transmission(GAP - DEAF);
        self.gap_over = at + self.rate.transmission(GAP);
    }

    fn fall_silent(&mut self, Sending { since, until, collides }: Sending) -> Step {
        self.sending = None;
        self.begin_gap(until);
        if !collides {
            self.tally.carried = self.tally.carried + (self.gap_over - since);
            return self.frame.take().map_or(Step::Hears, Step::Sent);
        }
        self.tally.collisions += 1;
        self.attempts += 1;
        if self.attempts == MOST_COLLISIONS {
            return self.frame.take().map_or(Step::Hears, Step::GaveUp);
        }
        let slots = (self.rng.uniform() * f64::from(1 << self.attempts.min(MOST_DOUBLINGS))) as u64;
        self.ready = until + self.rate.transmission(SLOT) * slots;
        Step::Collided
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::probe::Owner;
    use crate::packet::{Header, Packet};
    use scenario::model::Ecn;
    use std::iter;

    /// At 10 Mbit/s, where a byte takes 0.8 us: the gap 9.6 us, the slot 51.2 us, the preamble 6.4 us, the jam 3.2 us.
    const RATE: Rate = Rate::mbit_per_s(10);
    const SLOT_NS: u64 = 51_200;
    /// With 1500 bytes of IP: 1220.8 us on the medium, and the gap.
    const FRAME_NS: u64 = 1_220_800;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    fn station(seed: u64, distance: Span) -> Station {
        Station::new(Stream::new(seed, "station"), RATE, distance, Tally::new(1, 1))
    }

    fn load(station: &mut Station, now: Time) {
        let header = Header { flow: 0, generation: 0, hop: 0, class: 0, size: 1500 };
        let packet = Packet::datagram(now, header, Ecn::None);
        station
            .load(now, Frame { packet, owner: (Owner::default(), 1500), waited: Span::ZERO, length: 1538 });
    }

    /// The other one begins and ends to send, in ns, as the station hears it.
    fn hear(station: &mut Station, signals: &[(u64, bool)]) {
        signals.iter().for_each(|&(ns, begins)| station.will_hear(at(ns), begins));
    }

    /// Two stations, and what they did: when, which, what.
    struct Pair {
        stations: [Station; 2],
        log: Vec<(u64, usize, &'static str)>,
    }

    impl Pair {
        fn new(seed: u64, distance: Span) -> Self {
            Self { stations: [2 * seed, 2 * seed + 1].map(|seed| station(seed, distance)), log: Vec::new() }
        }

        /// Both have frames to send, from these times in ns.
        fn loaded(distance: Span, times: [u64; 2]) -> Self {
            let mut pair = Self::new(1, distance);
            pair.stations.iter_mut().zip(times).for_each(|(station, ns)| load(station, at(ns)));
            pair
        }

        /// The next step of either; returns which has sent a frame, if one has.
        fn step(&mut self) -> Option<usize> {
            let i = usize::from(self.stations[1].next() < self.stations[0].next());
            let (now, distance) = (self.stations[i].next(), self.stations[i].distance);
            let step = self.stations[i].step();
            let said = match step {
                Step::Hears => return None,
                Step::Begins => "begins",
                Step::Collided => "collided",
                Step::Sent(_) => "sent",
                Step::GaveUp(_) => "gave up",
            };
            self.log.push((now.nanos(), i, said));
            self.stations[1 - i].will_hear(now + distance, said == "begins");
            (said == "sent").then_some(i)
        }

        fn steps(&mut self, number: usize) -> &[(u64, usize, &'static str)] {
            while self.log.len() < number {
                self.step();
            }
            &self.log
        }
    }

    #[test]
    fn a_station_waits_for_silence_and_for_the_gap() {
        let mut pair = Pair::loaded(Span::us(1), [0, 100_000]);
        let expected = [(0, 0, "begins"), (FRAME_NS, 0, "sent"), (FRAME_NS + 1000 + 9600, 1, "begins")];
        assert_eq!(pair.steps(3), expected);
        // Its own frames have the gap between them, too.
        let mut alone = station(1, Span::us(1));
        load(&mut alone, at(5));
        assert!(matches!((alone.step(), alone.step()), (Step::Begins, Step::Sent(_))));
        load(&mut alone, at(5 + FRAME_NS));
        assert_eq!((alone.next(), alone.tally.carried.nanos()), (at(5 + FRAME_NS + 9600), FRAME_NS + 9600));
    }

    #[test]
    fn signals_that_cross_collide_and_are_jammed() {
        // Begun 0.5 us apart, and heard 1 us later: within the preambles, after which both jam.
        let mut pair = Pair::loaded(Span::us(1), [0, 500]);
        let expected = [(0, 0, "begins"), (500, 1, "begins"), (9600, 0, "collided"), (10_100, 1, "collided")];
        assert_eq!(pair.steps(4), expected);
        // The first hears it at 45.6 us, long after its preamble, the second within its own.
        let mut far = Pair::loaded(Span::ns(25_600), [0, 20_000]);
        let expected =
            [(0, 0, "begins"), (20_000, 1, "begins"), (29_600, 1, "collided"), (48_800, 0, "collided")];
        assert_eq!(far.steps(4), expected);
        // What begins when the signal arrives collides; a nanosecond later it has been heard.
        assert_eq!(Pair::loaded(Span::us(1), [0, 1000]).steps(2)[1], (1000, 1, "begins"));
        assert_eq!(Pair::loaded(Span::us(1), [0, 1001]).steps(2)[1], (FRAME_NS, 0, "sent"));
    }

    #[test]
    fn in_the_last_third_of_the_gap_a_station_is_deaf() {
        // Silence from 10 us on, so that the gap is over at 19.6 us; its last third begins at 16.4 us.
        for (heard, begins) in [(16_399, 40_000 + 9600), (16_400, 19_600), (19_599, 19_600)] {
            let mut station = station(1, Span::ZERO);
            hear(&mut station, &[(0, true), (10_000, false), (heard, true), (40_000, false)]);
            station.step();
            load(&mut station, at(1));
            while !matches!(station.step(), Step::Begins) {}
            // It notices the other signal at once, and sends its preamble and the jam.
            let silent = if begins == 19_600 { begins + 9600 } else { begins + FRAME_NS };
            let last = station.sending.map(|sending| (sending.since, sending.until));
            assert_eq!(last, Some((at(begins), at(silent))), "{heard}");
        }
        // A faster link in the middle of a gap does not change when that gap is over, nor its last third.
        let mut station = station(1, Span::ZERO);
        hear(&mut station, &[(0, true), (10_000, false), (16_400, true)]);
        (0..2).for_each(|_| assert!(matches!(station.step(), Step::Hears)));
        station.set_rate(Rate::mbit_per_s(100));
        station.step();
        load(&mut station, at(17_000));
        assert_eq!(station.next(), at(19_600));
        // A frame that is not ready at the end of the gap waits for the other signal's end.
        let mut station = self::station(1, Span::ZERO);
        hear(&mut station, &[(0, true), (10_000, false), (17_000, true)]);
        (0..3).for_each(|_| assert!(matches!(station.step(), Step::Hears)));
        load(&mut station, at(19_601));
        assert_eq!(station.next(), Time::MAX);
    }

    #[test]
    fn the_wait_doubles_ten_times_and_the_sixteenth_collision_is_the_last() {
        const FRAMES: u64 = 2000;
        let mut station = station(3, Span::ZERO);
        let mut slots = [[0; 2]; 15];
        for _ in 0..FRAMES {
            let now = station.gap_over;
            load(&mut station, now);
            for (n, [sum, most]) in slots.iter_mut().enumerate() {
                assert!(matches!(station.step(), Step::Begins));
                let now = station.sending.unwrap().since;
                hear(&mut station, &[(now.nanos(), true), (now.nanos() + 1, false)]);
                while !matches!(station.step(), Step::Collided) {}
                let waits = station.ready.nanos() - (now.nanos() + 9600);
                assert_eq!((waits % SLOT_NS, station.attempts as usize), (0, n + 1));
                *sum += waits / SLOT_NS;
                *most = u64::max(*most, waits / SLOT_NS);
            }
            assert!(matches!(station.step(), Step::Begins));
            station.will_hear(station.sending.unwrap().since, true);
            station.will_hear(station.gap_over.max(station.sending.unwrap().since), false);
            while !matches!(station.step(), Step::GaveUp(_)) {}
        }
        for (n, [sum, most]) in slots.into_iter().enumerate() {
            let range = f64::from(1 << (n + 1).min(10));
            // Uniform from 0 to range - 1: the standard deviation of the mean is range/sqrt(12 FRAMES).
            let (mean, off) = (sum as f64 / FRAMES as f64, 4.0 * range / (12.0 * FRAMES as f64).sqrt());
            assert!((mean - (range - 1.0) / 2.0).abs() < off, "{n}: {mean}");
            assert!((0.98 * range - 1.0..range).contains(&(most as f64)), "{n}: {most}");
        }
        assert_eq!(station.tally.collisions, 16 * FRAMES);
    }

    /// Two that meet for the first time collide again with probability 1/2, 1/4, 1/8 ...
    #[test]
    fn two_stations_part_after_the_known_number_of_collisions() {
        const TRIALS: u64 = 4000;
        let mut collisions = 0;
        for trial in 0..TRIALS {
            let mut pair = Pair::new(trial, Span::ns(100));
            pair.stations.iter_mut().for_each(|station| load(station, at(0)));
            while pair.step().is_none() {}
            let [a, b] = pair.stations.map(|station| station.tally.collisions);
            assert_eq!(a, b);
            collisions += a;
        }
        let (mut expected, mut again) = (0.0, 1.0);
        for n in 1..16 {
            expected += again;
            again *= 0.5_f64.powi(n);
        }
        let found = collisions as f64 / TRIALS as f64;
        // The standard deviation of one trial is 0.8.
        assert!((found - expected).abs() < 4.0 * 0.8 / (TRIALS as f64).sqrt(), "{found}, {expected}");
    }

    /// The probability that of two stations, after these numbers of collisions of their frames, the first is the first to
    /// send: each draws its slot, and a tie is another collision.
    fn first_sends(a: u32, b: u32) -> f64 {
        let [ways, others] = [a, b].map(|n| 1_u32 << n.min(10));
        if a + b > 30 {
            return 0.5;
        }
        let before: u32 = (0..ways).map(|slot| others.saturating_sub(slot + 1)).sum();
        let (all, ties) = (f64::from(ways * others), f64::from(ways.min(others)));
        (f64::from(before) + ties * first_sends(a + 1, b + 1)) / all
    }

    /// Ramakrishnan and Yang, "The Ethernet capture effect: analysis and solution", 1994: the one that has just sent begins
    /// with a new frame, and draws from fewer slots than the other, more often the longer this lasts.
    #[test]
    fn the_station_that_has_sent_captures_the_medium_as_often_as_it_should() {
        // By the collisions of the other one's frame: rounds, and those that the last to send won.
        let mut rounds = [[0.0; 2]; 5];
        for trial in 0..4000 {
            let mut pair = Pair::new(trial, Span::ns(100));
            pair.stations.iter_mut().for_each(|station| load(station, at(0)));
            let mut last = (0, rounds.len());
            for _ in 0..8 {
                let sent = iter::repeat_with(|| pair.step()).flatten().next().unwrap();
                if let Some([all, won]) = rounds.get_mut(last.1) {
                    *all += 1.0;
                    *won += f64::from(u8::from(last.0 == sent));
                }
                load(&mut pair.stations[sent], at(pair.log.last().unwrap().0));
                // After 4 collisions its wait is over before the frame.
                last = (sent, pair.stations[1 - sent].attempts as usize);
            }
        }
        for (waits, [all, won]) in rounds.into_iter().enumerate().skip(1) {
            let expected = first_sends(1, waits as u32 + 1);
            let off = 4.0 * (expected * (1.0 - expected) / all).sqrt();
            assert!(all > 500.0 && (won / all - expected).abs() < off, "{waits}: {won} of {all}, {expected}");
        }
    }
}
