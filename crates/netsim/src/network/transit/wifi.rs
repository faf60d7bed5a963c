//! Links that are parts of a wireless LAN.

use super::Network;
use crate::engine::order::Order;
use crate::measure::probe::Probe;
use crate::network::access::Access;
use crate::network::fate::Cause;
use crate::network::medium::{ACCESS_POINT, Next, Sending};
use crate::network::radio::{Aggregate, Fate, Radio};
use crate::network::service;
use crate::packet::Packet;
use aqm::unit::{Span, Time};
use scenario::model::Phy;

impl<P: Probe> Network<P> {
    fn radio(&mut self, link: usize) -> &mut Radio {
        match self.links[link].aqm_queue().access.as_deref_mut() {
            Some(Access::Wifi(radio)) => radio,
            _ => unreachable!("the links of a station have one"),
        }
    }

    /// The queue of a link accepts a packet that comes now, or drops it.
    pub(super) fn admit(&mut self, i: usize, packet: &Packet) -> bool {
        let now = self.events.now();
        let (link, mut observers) = self.observed(i);
        let is_taken = service::admit(link, now, packet, &mut observers).is_some();
        if is_taken {
            observers.note_length(now, link.aqm_queue());
        }
        is_taken
    }

    /// The driver takes packets from the queue in front of it, as far as it has room.
    pub(super) fn feed_driver<C: Order>(&mut self, clock: C, medium: usize) {
        let now = self.events.now();
        while let Some(front) = self.media[medium].front
            && !self.media[medium].driver_is_full()
        {
            let packet = match self.take_out(front, |_, size| size) {
                Ok(frame) => frame.packet,
                Err(resumes) => return self.note_pause(clock, medium, resumes),
            };
            self.links[front].aqm_queue().sent = now;
            let hop = self.hops[packet.hop as usize];
            if P::CHECKS {
                self.ledger.on_exit(front);
                self.ledger.on_entry(hop.link());
            }
            let is_held = self.enqueue_at_radio(clock, hop.link(), &packet.at_hop(packet.hop + 1, false));
            self.media[medium].driver[1] += u32::from(is_held);
        }
    }

    /// A packet comes now to a link from, or to, a station. Returns whether its queue takes it.
    pub(super) fn enqueue_at_radio<C: Order>(&mut self, clock: C, i: usize, packet: &Packet) -> bool {
        let is_taken = self.admit(i, packet);
        if is_taken {
            self.load_radio(clock, i);
        }
        is_taken
    }

    /// A link takes as many frames out of its queue as it may before it sends: at least one, to contend.
    pub(super) fn load_radio<C: Order>(&mut self, clock: C, i: usize) {
        let (medium, station, is_down, was_empty) = {
            let radio = self.radio(i);
            (radio.medium, radio.station, radio.is_down, radio.is_empty())
        };
        loop {
            let own = self.radio(i).airtime;
            let all = if is_down { self.media[medium].airtime } else { own };
            if !(self.radio(i).is_empty() || self.media[medium].may_take(own, all))
                || !self.take_frame(clock, i)
            {
                break;
            }
        }
        if was_empty && !self.radio(i).is_empty() {
            let contender = if is_down { ACCESS_POINT } else { station + 1 };
            self.media[medium].join(self.events.now(), contender, station);
            self.schedule_medium(clock, medium);
        }
    }

    /// A link takes the next frame out of its queue, if there is one and its algorithm does not pause it.
    fn take_frame<C: Order>(&mut self, clock: C, i: usize) -> bool {
        let now = self.events.now();
        let taken = self.take_out(i, |_, size| Phy::frame(size));
        let radio = self.radio(i);
        let medium = radio.medium;
        radio.resumes = taken.err().unwrap_or(Time::MAX);
        let Ok(frame) = taken else {
            let (resumes, is_empty) = (radio.resumes, radio.is_empty());
            if !is_empty {
                self.links[i].aqm_queue().end_idleness(now);
            }
            self.note_pause(clock, medium, resumes);
            return false;
        };
        let more = radio.hold(frame);
        if radio.is_down {
            self.media[medium].airtime = self.media[medium].airtime + more;
        }
        true
    }

    /// A queue of a medium is paused until `resumes`, if its algorithm says so.
    fn note_pause<C: Order>(&mut self, clock: C, medium: usize, resumes: Time) {
        if resumes < self.media[medium].resumes {
            self.media[medium].resumes = resumes;
            self.schedule_medium(clock, medium);
        }
    }

    /// Puts the next step of a medium on the event list.
    fn schedule_medium<C: Order>(&mut self, clock: C, medium: usize) {
        let (at, _) = self.media[medium].next();
        self.set_step(clock, self.media[medium].slot, at);
    }

    /// A medium takes its next step.
    pub(crate) fn step_medium<C: Order>(&mut self, clock: C, medium: usize) {
        let (at, next) = self.media[medium].next();
        match next {
            Next::Resumes => self.resume(clock, medium, at),
            Next::Begins => self.begin_data(clock, medium, at),
            Next::Ends => self.end_data(clock, medium, at),
        }
        self.schedule_medium(clock, medium);
    }

    /// The queues whose pause is over are asked again.
    #[cold]
    fn resume<C: Order>(&mut self, clock: C, medium: usize, at: Time) {
        self.media[medium].resumes = Time::MAX;
        for station in 0..self.media[medium].links.len() {
            for link in self.media[medium].links[station] {
                let resumes = self.radio(link).resumes;
                if resumes <= at {
                    self.load_radio(clock, link);
                } else {
                    self.note_pause(clock, medium, resumes);
                }
            }
        }
        self.feed_driver(clock, medium);
    }

    /// Those send whose turn it is.
    fn begin_data<C: Order>(&mut self, clock: C, medium: usize, at: Time) {
        self.media[medium].begin(at);
        let mut ends = Span::ZERO;
        let collides = self.media[medium].sending.len() > 1;
        for place in 0..self.media[medium].sending.len() {
            let Sending { contender, station, .. } = self.media[medium].sending[place];
            let link = self.media[medium].link(contender, station);
            let reservation = self.radio(link).phy.reservation();
            let before = self.media[medium].before_data(reservation);
            let overhead = before + self.media[medium].rules.sifs + self.radio(link).phy.answer(2);
            let longest = self.media[medium].longest(overhead);
            let room = self.radio(link).phy.room(longest);
            let aggregate = self.gather(clock, link, self.media[medium].rules.frames, room);
            let phy = &self.radio(link).phy;
            let (data, answer) = (phy.transmission(aggregate.bytes), phy.answer(aggregate.frames));
            // Of RTS that collide no data follow.
            let (own, answer) = match before > Span::ZERO {
                true if collides => (reservation[0], reservation[1]),
                _ => (before + data, answer),
            };
            self.media[medium].sending[place] = Sending { contender, station, aggregate, data: own, answer };
            ends = ends.max(own);
        }
        self.media[medium].fix_end(ends);
    }

    /// The frames that a link sends now.
    fn gather<C: Order>(&mut self, clock: C, link: usize, frames: u32, bytes: u32) -> Aggregate {
        let mut aggregate = Aggregate::default();
        let medium = self.radio(link).medium;
        let takes = !self.media[medium].aql;
        while self.radio(link).extend(&mut aggregate, frames, bytes) && takes && self.take_frame(clock, link)
        {
        }
        aggregate
    }

    /// A transmission is over: of a collision, nothing has arrived.
    fn end_data<C: Order>(&mut self, clock: C, medium: usize, at: Time) {
        let collided = self.media[medium].sending.len() > 1;
        let (mut answer, mut succeeded) = (Span::ZERO, false);
        for place in 0..self.media[medium].sending.len() {
            let sending = self.media[medium].sending[place];
            answer = answer.max(sending.answer);
            let taken = if collided { sending.data } else { self.media[medium].taken(sending.answer) };
            let link = self.media[medium].link(sending.contender, sending.station);
            let radio = self.radio(link);
            radio.tally.collisions += u64::from(collided);
            radio.tally.carried = radio.tally.carried + taken;
            radio.tally.transmissions[0] += 1;
            radio.tally.transmissions[1] += u64::from(sending.aggregate.frames);
            succeeded = radio.note_transmission(sending.aggregate, collided);
            // An access point cannot hear whose frames did not arrive.
            if succeeded || sending.contender == ACCESS_POINT {
                self.media[medium].charge(sending.station, taken);
            }
            self.media[medium].turn(sending.contender);
            self.settle(clock, link, at);
            let is_empty = self.radio(link).is_empty();
            if is_empty {
                self.media[medium].leave(sending.contender, sending.station);
            }
            self.load_radio(clock, link);
        }
        let next = self.least_exchange(medium);
        self.media[medium].end(answer, succeeded, next);
        self.feed_driver(clock, medium);
    }

    /// How long the shortest transmission takes that the sender could add to its last one.
    fn least_exchange(&mut self, medium: usize) -> Option<Span> {
        let (sender, sifs) = (self.media[medium].sending[0].contender, self.media[medium].rules.sifs);
        if self.media[medium].rules.txop == Span::ZERO {
            return None;
        }
        let station = self.media[medium].peek(sender)?;
        let link = self.media[medium].link(sender, station);
        let radio = self.radio(link);
        Some(radio.phy.transmission(radio.first()?) + sifs + radio.phy.answer(1))
    }

    /// Passes on the frames that have come in order, and notes those that were given up.
    fn settle<C: Order>(&mut self, clock: C, link: usize, at: Time) {
        let radio = self.radio(link);
        let (medium, is_down) = (radio.medium, radio.is_down);
        loop {
            let radio = self.radio(link);
            let before = radio.airtime;
            let Some(fate) = radio.settled() else { break };
            let less = before.nanos() - radio.airtime.nanos();
            if is_down {
                let medium = &mut self.media[medium];
                medium.airtime = Span::ns(medium.airtime.nanos() - less);
                medium.driver[1] -= u32::from(medium.front.is_some());
            }
            match fate {
                Fate::Sent(frame) => self.note_sent(clock, link, frame),
                Fate::GivenUp(frame) => self.note_given_up(link, at, frame, Cause::Retries),
            }
        }
        if self.radio(link).is_empty() {
            self.links[link].aqm_queue().sent = at;
        }
    }
}
