//! A link of a wireless LAN: the frames that have left its queue, sent in aggregates and again until each is received
//! or given up, and passed on in order.

use crate::engine::rng::Stream;
use crate::network::access::{Frame, Tally};
use aqm::Uniform as _;
use aqm::ring::Ring;
use aqm::unit::{Span, Time};
use scenario::model::Phy;

/// The fate of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It is to be sent, after this number of failures.
    Waits(u32),
    /// It has been received, and waits there for those before it.
    Received,
    /// It was given up.
    GivenUp,
}

/// What becomes of a frame in the end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Sent(Frame),
    GivenUp(Frame),
}

/// A transmission: the places of the ring that it covers, its frames and their bytes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Aggregate {
    places: usize,
    pub(crate) frames: u32,
    pub(crate) bytes: u32,
}

/// One direction of a station's connection with its access point.
#[derive(Debug)]
pub(crate) struct Radio {
    /// The wireless LAN, and the station there.
    pub(crate) medium: usize,
    pub(crate) station: usize,
    /// Whether it leads to the station.
    pub(crate) is_down: bool,
    pub(crate) phy: Phy,
    errors: Stream,
    /// Most failures of a frame, and the frames that a block ACK covers.
    retries: u32,
    window: usize,
    /// Each with how long its data take, by the rate at which it came.
    held: Ring<(Frame, State, Span)>,
    /// The sum of these times.
    pub(crate) airtime: Span,
    /// When its queue, which is paused, has another frame.
    pub(crate) resumes: Time,
    pub(crate) tally: Tally,
}

impl Radio {
    pub(crate) fn new(
        (medium, station, is_down): (usize, usize, bool),
        phy: Phy,
        errors: Stream,
        (retries, window): (u32, u32),
        tally: Tally,
    ) -> Self {
        Self {
            medium,
            station,
            is_down,
            phy,
            errors,
            retries,
            window: window as usize,
            held: Ring::new(),
            airtime: Span::ZERO,
            resumes: Time::MAX,
            tally,
        }
    }

    /// The frames that are neither passed on nor given up.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.held.iter().map(|(frame, ..)| frame)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether the block ACK covers another frame behind those that it holds.
    pub(crate) const fn has_room(&self) -> bool {
        self.held.len() < self.window
    }

    /// Holds a frame from now on; returns how long its data take.
    pub(crate) fn hold(&mut self, frame: Frame) -> Span {
        let airtime = self.phy.rate().transmission(frame.length);
        self.airtime = self.airtime + airtime;
        self.held.push_back((frame, State::Waits(0), airtime));
        airtime
    }

    /// The bytes of the first frame, if there is one: it waits, because all before the first that waits leave.
    pub(crate) fn first(&self) -> Option<u32> {
        self.held.front().map(|(frame, ..)| frame.length)
    }

    /// Adds those of the held frames to an aggregate that it does not cover yet, as far as the frames and the bytes
    /// allow: at least one. Returns whether another frame could be added.
    pub(crate) fn extend(&self, aggregate: &mut Aggregate, frames: u32, bytes: u32) -> bool {
        while let Some((frame, state, _)) =
            self.held.get(aggregate.places).filter(|_| aggregate.places < self.window)
        {
            if matches!(state, State::Waits(_)) {
                let is_over = aggregate.bytes + frame.length > bytes && aggregate.frames > 0;
                if is_over || aggregate.frames == frames {
                    return false;
                }
                aggregate.frames += 1;
                aggregate.bytes += frame.length;
            }
            aggregate.places += 1;
        }
        aggregate.frames < frames && aggregate.bytes < bytes && self.has_room()
    }

    /// An aggregate was on the air, and collided, or met errors. Returns whether any of its frames was received.
    pub(crate) fn note_transmission(&mut self, aggregate: Aggregate, collided: bool) -> bool {
        let mut received = false;
        for place in 0..aggregate.places {
            let Some((_, state, _)) = self.held.get_mut(place) else { continue };
            let State::Waits(failures) = *state else { continue };
            *state = if !collided && !self.errors.happens(self.phy.error) {
                received = true;
                State::Received
            } else if failures == self.retries {
                State::GivenUp
            } else {
                State::Waits(failures + 1)
            };
        }
        received
    }

    /// Takes out the next frame whose fate is known, as are those of all before it.
    pub(crate) fn settled(&mut self) -> Option<Fate> {
        let &(frame, state, airtime) = self.held.front()?;
        let fate = match state {
            State::Waits(_) => return None,
            State::Received => Fate::Sent(frame),
            State::GivenUp => Fate::GivenUp(frame),
        };
        self.held.pop_front();
        self.airtime = Span::ns(self.airtime.nanos() - airtime.nanos());
        Some(fate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::probe::Owner;
    use crate::packet::{Header, Packet};
    use scenario::model::{Ecn, Standard};

    fn radio(error: f64, retries: u32, window: u32) -> Radio {
        let phy = Phy::new(Standard::N, (20, 1, 7), Span::ns(800), error);
        Radio::new((0, 0, true), phy, Stream::new(1, "radio"), (retries, window), Tally::new(1, 1))
    }

    fn hold(radio: &mut Radio, sizes: &[u32]) {
        for &length in sizes {
            let header = Header { flow: 0, generation: 0, hop: 0, class: 0, size: 100 };
            let packet = Packet::datagram(Time::ZERO, header, Ecn::None);
            radio.hold(Frame { packet, owner: (Owner::default(), 100), waited: Span::ZERO, length });
        }
    }

    fn aggregate(radio: &Radio, frames: u32, bytes: u32) -> (u32, u32) {
        let mut aggregate = Aggregate::default();
        radio.extend(&mut aggregate, frames, bytes);
        (aggregate.frames, aggregate.bytes)
    }

    #[test]
    fn an_aggregate_has_as_many_frames_as_all_limits_allow_and_at_least_one() {
        let mut radio = radio(0.0, 7, 4);
        hold(&mut radio, &[100, 200, 300, 400, 500, 600]);
        assert_eq!(aggregate(&radio, 9, 9999), (4, 1000), "the window of the block ACK");
        assert_eq!(aggregate(&radio, 2, 9999), (2, 300));
        assert_eq!(aggregate(&radio, 9, 600), (3, 600));
        assert_eq!(aggregate(&radio, 9, 599), (2, 300));
        assert_eq!(aggregate(&radio, 9, 50), (1, 100));
    }

    #[test]
    fn frames_are_passed_on_in_order_and_given_up_after_the_last_retry() {
        let mut radio = radio(0.0, 1, 64);
        hold(&mut radio, &[100, 200, 300]);
        let airtime = radio.airtime;
        let mut first = Aggregate::default();
        radio.extend(&mut first, 1, 9999);
        assert!(!radio.note_transmission(first, true) && radio.settled().is_none());
        // The first frame fails once more, the others come through behind it.
        radio.held.get_mut(1).unwrap().1 = State::Received;
        assert!(radio.settled().is_none(), "those behind wait for it");
        assert_eq!(aggregate(&radio, 9, 9999), (2, 400), "what was received is not sent again");
        assert!(!radio.note_transmission(first, true));
        assert!(matches!(radio.settled(), Some(Fate::GivenUp(frame)) if frame.length == 100));
        assert!(matches!(radio.settled(), Some(Fate::Sent(frame)) if frame.length == 200));
        assert!(radio.settled().is_none() && radio.first() == Some(300));
        assert!(radio.airtime < airtime && radio.airtime == radio.phy.rate().transmission(300));
    }

    #[test]
    fn each_frame_meets_errors_by_itself() {
        let mut radio = radio(0.25, 255, 1);
        let (mut sent, mut tries) = (0, 0);
        hold(&mut radio, &[100; 4000]);
        while radio.first().is_some() {
            let mut one = Aggregate::default();
            radio.extend(&mut one, 1, 9999);
            radio.note_transmission(one, false);
            tries += 1;
            while let Some(Fate::Sent(_)) = radio.settled() {
                sent += 1;
            }
        }
        // 1/0.75 tries a frame, with a standard deviation of 0.0105 over 4000.
        assert!(sent == 4000 && (f64::from(tries) / 4000.0 - 1.0 / 0.75).abs() < 0.04, "{tries}");
    }
}
