//! A modem upstream: the packets that have left its queue, its requests, and the grants in which it sends.
//!
//! The packets that leave the queue form a stream of bytes, which the grants cover one after the other: a packet may
//! begin in one and end in another. It is passed on when the frame of its last byte is decoded.
//!
//! ```text
//! request = bytes in the queue and in the stream - those of requests that wait - those of grants to come
//! ```

use crate::engine::rng::Stream;
use crate::network::access::{Frame, Tally};
use aqm::Uniform as _;
use aqm::ring::Ring;
use aqm::unit::Time;
use scenario::model::cable::MAC_HEADER;
use scenario::model::{Subscriber, Upstream};

/// Minislots in an interval that are this modem's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub(crate) interval: u64,
    /// The first of them, and how many.
    pub(crate) first: u64,
    pub(crate) slots: u64,
}

impl Grant {
    fn bytes(&self, rules: &Upstream) -> u64 {
        self.slots * rules.minislot
    }

    /// The time at which a frame of its interval begins.
    fn frame(&self, rules: &Upstream, number: u64) -> Time {
        Time::from_nanos(self.interval * rules.interval().nanos() + number * rules.frame.nanos())
    }

    /// When its burst is prepared: a frame before it.
    fn prepared(&self, rules: &Upstream) -> Time {
        let begin = self.frame(rules, self.first / rules.minislots).nanos();
        Time::from_nanos(begin - rules.frame.nanos())
    }
}

/// A packet, and the bytes of the stream up to its end.
#[derive(Clone, Copy, Debug)]
struct Held {
    frame: Frame,
    end: u64,
    /// When it is decoded, if grants cover all of it.
    decoded: Time,
}

/// A modem.
#[derive(Debug)]
pub(crate) struct Modem {
    pub(crate) place: Subscriber,
    lots: Stream,
    /// The first interval in which it may still request without a grant, and the time at which it may do so in the last
    /// interval that this was drawn for.
    free: u64,
    lot: Option<(u64, Time)>,
    /// The intervals from the present one on in which it has grants, in order.
    granted: Ring<u64>,
    grants: Ring<Grant>,
    /// The bytes of requests that no grant answers yet, and those of grants to come.
    requested: u64,
    to_come: u64,
    held: Ring<Held>,
    /// Those of them that grants cover.
    covered: usize,
    /// The bytes that have left the queue, and those of them that grants cover.
    taken: u64,
    sent: u64,
    /// When its queue, which is paused, has another packet.
    pub(crate) resumes: Time,
    pub(crate) tally: Tally,
}

impl Modem {
    pub(crate) fn new(place: Subscriber, lots: Stream, tally: Tally) -> Self {
        Self {
            place,
            lots,
            free: 0,
            lot: None,
            granted: Ring::new(),
            grants: Ring::new(),
            requested: 0,
            to_come: 0,
            held: Ring::new(),
            covered: 0,
            taken: 0,
            sent: 0,
            resumes: Time::ZERO,
            tally,
        }
    }

    /// The packets that are not passed on.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.held.iter().map(|held| &held.frame)
    }

    /// The bytes that have left the queue and that no grant covers.
    pub(crate) const fn rest(&self) -> u64 {
        self.taken - self.sent
    }

    /// The bytes to request if `waiting` are in the queue and `reserved` have a grant that is being prepared.
    fn needs(&self, waiting: u64, reserved: u64, rules: &Upstream) -> u64 {
        if !rules.pipelining && self.requested + self.to_come > 0 {
            return 0;
        }
        (self.rest() + waiting).saturating_sub(self.requested + self.to_come + reserved)
    }

    /// When it may next request without a grant, in a frame of an interval without grants that is drawn.
    fn opportunity(&mut self, now: Time, rules: &Upstream) -> Time {
        let interval = rules.interval().nanos();
        self.free = self.free.max(now.nanos() / interval);
        loop {
            while self.granted.front().is_some_and(|interval| *interval < self.free) {
                self.granted.drop_front();
            }
            let (_, at) = match self.lot {
                Some(lot) if lot.0 == self.free => lot,
                _ => {
                    let frame = (self.lots.uniform() * rules.frames as f64) as u64;
                    let at = Time::from_nanos(self.free * interval + frame * rules.frame.nanos());
                    *self.lot.insert((self.free, at))
                }
            };
            if at >= now && self.granted.front() != Some(&self.free) {
                return at;
            }
            self.free += 1;
        }
    }

    /// Requests, without a grant, what it needs at `now`, if it may do so then; returns the bytes.
    pub(crate) fn contend(&mut self, now: Time, waiting: u64, rules: &Upstream) -> u64 {
        let bytes = self.needs(waiting, 0, rules);
        if bytes == 0 || self.opportunity(now, rules) != now {
            return 0;
        }
        self.free += 1;
        self.requested += bytes;
        bytes
    }

    /// The next grant, if it is to be prepared at `now`, and the bytes that it requests in it.
    pub(crate) fn prepare(&mut self, now: Time, waiting: u64, rules: &Upstream) -> Option<(Grant, u64)> {
        let grant = *self.grants.front().filter(|grant| grant.prepared(rules) <= now)?;
        self.grants.drop_front();
        while self.granted.front().is_some_and(|interval| interval + 1 < grant.interval) {
            self.granted.drop_front();
        }
        let reserved = grant.bytes(rules);
        self.to_come -= reserved;
        let bytes = self.needs(waiting, reserved, rules);
        self.requested += bytes;
        Some((grant, bytes))
    }

    /// Holds a packet from now on.
    pub(crate) fn hold(&mut self, frame: Frame) {
        self.taken += u64::from(frame.length);
        self.held.push_back(Held { frame, end: self.taken, decoded: Time::MAX });
    }

    /// Sends as much of the stream as a grant covers. Returns the bytes that do not count: unused, or of MAC headers.
    pub(crate) fn send(&mut self, grant: &Grant, rules: &Upstream) -> u64 {
        let room = grant.bytes(rules);
        let (begin, used) = (self.sent, room.min(self.rest()));
        self.sent += used;
        let before = self.covered;
        while let Some(held) = self.held.get_mut(self.covered)
            && held.end <= self.sent
        {
            let last = grant.first + (held.end - begin).div_ceil(rules.minislot) - 1;
            // Two frames after that of its last byte begins, it is sent and decoded.
            held.decoded = grant.frame(rules, last / rules.minislots + 2);
            self.covered += 1;
        }
        self.tally.grants[0] += room;
        self.tally.grants[1] += room - used;
        room - used + (self.covered - before) as u64 * u64::from(MAC_HEADER)
    }

    /// Takes out the next packet that is decoded at `now`.
    pub(crate) fn decoded(&mut self, now: Time) -> Option<Frame> {
        self.held.front().filter(|held| held.decoded <= now)?;
        self.covered -= 1;
        Some(self.held.pop_front()?.frame)
    }

    /// A MAP has a grant, which answers this many bytes of requests.
    pub(crate) fn note_grant(&mut self, grant: Grant, answered: u64, rules: &Upstream) {
        self.requested -= answered;
        self.to_come += grant.bytes(rules);
        self.granted.push_back(grant.interval);
        self.grants.push_back(grant);
    }

    /// The time of its next work from `now` on, if `waiting` bytes are in its queue.
    pub(crate) fn next(&mut self, now: Time, waiting: u64, rules: &Upstream) -> Time {
        let prepared = self.grants.front().map_or(Time::MAX, |grant| grant.prepared(rules));
        let decoded = self.held.front().map_or(Time::MAX, |held| held.decoded);
        let resumes = if self.resumes > now { self.resumes } else { Time::MAX };
        let needs = self.needs(waiting, 0, rules) > 0;
        let contends = if needs { self.opportunity(now, rules) } else { Time::MAX };
        prepared.min(decoded).min(resumes).min(contends)
    }
}

/// When a MAP may be made that answers what comes at `at`, and the number of its interval; it is not before `earliest`.
pub(crate) fn answered(at: Time, earliest: u64, rules: &Upstream) -> (u64, Time) {
    let (interval, advance) = (rules.interval().nanos(), rules.advance().nanos());
    let number = (at.nanos() + advance).div_ceil(interval).max(earliest);
    (number, Time::from_nanos(number * interval - advance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::probe::Owner;
    use crate::packet::Packet;
    use aqm::unit::{Bytes, Rate, Span};
    use scenario::model::cable::ServiceFlow;

    /// The defaults of docsis-ns3, with intervals of this many frames.
    fn rules(frames: u64) -> Upstream {
        Upstream {
            name: String::new(),
            frame: Span::us(135),
            frames,
            minislots: 235,
            minislot: 48,
            lead: Span::us(1070),
            delay: Span::us(40),
            free: None,
            variation: 0.0,
            pipelining: true,
            flows: vec![ServiceFlow { rate: Rate::mbit_per_s(50), peak: None, burst: Bytes(625_000) }],
        }
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::us(us)
    }

    /// A modem that may request at this time, and not before.
    fn modem(rules: &Upstream, at: Time) -> Modem {
        let place = Subscriber { cable: 0, modem: 0, way: 0 };
        let mut modem = Modem::new(place, Stream::new(1, "requests"), Tally::new(1, 1));
        modem.free = at.nanos() / rules.interval().nanos();
        modem.lot = Some((modem.free, at));
        modem
    }

    /// A packet of this many bytes, from the queue.
    fn packet(size: u16) -> Frame {
        let (owner, length) = ((Owner::default(), u32::from(size) + 18), u32::from(size) + 28);
        Frame { packet: Packet::default().with_size(size), owner, waited: Span::ZERO, length }
    }

    /// When a packet of 1000 bytes is in the head end that comes at 100.001 ms, if the modem requests at 100.71 ms and
    /// the grant begins with this frame of its interval; and when the modem has the MAP.
    fn single(frames: u64, frame: u64) -> [Time; 2] {
        let rules = rules(frames);
        let requests = us(100_710);
        let mut modem = modem(&rules, requests);
        modem.hold(packet(1000));
        assert_eq!(modem.next(us(100_001), 0, &rules), requests);
        assert_eq!(modem.contend(us(100_001), 0, &rules), 0);
        assert_eq!(modem.contend(requests, 0, &rules), 1028);
        assert_eq!(modem.contend(requests, 0, &rules), 0, "all is requested");
        let (interval, made) = answered(requests + rules.request(), 0, &rules);
        let grant = Grant { interval, first: frame * rules.minislots, slots: 22 };
        modem.note_grant(grant, 1028, &rules);
        let prepared = modem.next(made, 0, &rules);
        assert_eq!(modem.prepare(prepared, 0, &rules).map(|(_, bytes)| bytes), Some(0));
        // The MAC header is given back with the bytes that carry nothing.
        assert_eq!(modem.send(&grant, &rules), 28 + 10);
        assert_eq!(modem.tally.grants, [1056, 28]);
        let decoded = modem.next(prepared, 0, &rules);
        assert!(modem.decoded(decoded).is_some() && modem.frames().next().is_none());
        // In the head end and downstream a MAP takes 0.2 ms and five symbols of 22.5 us.
        [decoded + rules.delay, made + Span::us(200) + Span::ns(5 * 22_500) + rules.delay]
    }

    #[test]
    fn a_packet_takes_as_long_as_in_the_tests_of_docsis_ns3() {
        // docsis-link-test-suite.cc, single upstream packet: 103.720 ms, the MAP at 102.5175 ms.
        assert_eq!(single(15, 1), [us(103_720), Time::from_nanos(102_517_500)]);
        // docsis-lld-test-suite.cc, the same at a MAP interval of 1 ms: 103.31499 ms, the MAP at 102.2475 ms.
        assert_eq!(single(7, 0), [us(103_315), Time::from_nanos(102_247_500)]);
    }

    #[test]
    fn requests_leave_out_what_is_requested_and_what_has_grants() {
        let rules = rules(15);
        let mut modem = modem(&rules, us(135));
        assert_eq!(modem.contend(us(135), 5000, &rules), 5000);
        // Two more packets: the rest is requested at the next opportunity, in another interval.
        let next = modem.next(us(136), 8000, &rules);
        assert!(next >= us(2025), "{next:?}");
        assert_eq!(modem.contend(next, 8000, &rules), 3000);
        // Grants for parts of it, and a minislot that answers nothing.
        for (interval, slots, answered) in [(2, 50, 2400), (3, 50, 2400), (4, 1, 0)] {
            modem.note_grant(Grant { interval, first: 0, slots }, answered, &rules);
        }
        assert_eq!(modem.needs(8000, 0, &rules), 0);
        // What came since is requested in the first burst; an interval with a grant has no other opportunity.
        let prepared = modem.next(next, 8000, &rules);
        assert_eq!(prepared, us(2 * 2025 - 135));
        assert_eq!(modem.prepare(prepared, 9000, &rules).unwrap().1, 1000 - 48);
        assert!(modem.opportunity(us(2 * 2025), &rules) >= us(5 * 2025));
        // Without pipelining nothing is, until the last grant is used.
        let alone = Upstream { pipelining: false, ..rules };
        assert_eq!(modem.needs(20_000, 0, &alone), 0);
    }

    #[test]
    fn packets_begin_in_one_grant_and_end_in_another() {
        let rules = rules(15);
        let mut modem = modem(&rules, us(0));
        (0..3).for_each(|_| modem.hold(packet(1000)));
        // 3084 bytes in 32, 20 and 13 minislots, the second across the end of a frame.
        let grants = [(2, 0, 32), (3, 225, 20), (4, 0, 13)];
        let grants = grants.map(|(interval, first, slots)| Grant { interval, first, slots });
        let unused = grants.map(|grant| modem.send(&grant, &rules));
        assert_eq!(unused, [10, 10, 36 + 10]);
        let at = |interval: u64, frame: u64| us(interval * 2025 + (frame + 2) * 135);
        let decoded: Vec<Time> = modem.held.iter().map(|held| held.decoded).collect();
        assert_eq!(decoded, [at(2, 0), at(3, 1), at(4, 0)]);
        // The second ends 2056 bytes after the start, in the 11th minislot of its last grant.
        assert_eq!((2056u64 - 32 * 48).div_ceil(48), 11);
    }
}
