//! Links that share their medium with others: half-duplex Ethernet, of which the link back is the other one; `wifi` has the
//! parts of a wireless LAN, `cell` those of a cell, `cable` the modems.

use super::Network;
use crate::engine::order::{NEVER, Order};
use crate::measure::probe::Probe;
use crate::network::access::{Access, Frame};
use crate::network::fate::{Cause, Lost};
use crate::network::link::{Passage, Transmitter};
use crate::network::service;
use crate::network::station::{Station, Step, back};
use crate::packet::Packet;
use aqm::unit::Time;

impl<P: Probe> Network<P> {
    fn station(&mut self, link: usize) -> &mut Station {
        match self.links[link].aqm_queue().access.as_deref_mut() {
            Some(Access::Ethernet(station)) => station,
            _ => unreachable!("both ends of half-duplex Ethernet have one"),
        }
    }

    /// A packet comes to such a link now.
    #[inline(never)]
    pub(super) fn enqueue_shared<C: Order>(&mut self, clock: C, i: usize, packet: Packet) {
        match self.links[i].aqm_queue().access.as_deref() {
            Some(Access::Wifi(_)) => {
                self.enqueue_at_radio(clock, i, &packet);
                return;
            }
            Some(Access::Cell(_)) => return self.enqueue_at_bearer(clock, i, &packet),
            Some(Access::Modem(_)) => return self.enqueue_at_modem(clock, i, &packet),
            Some(&Access::Driver(medium)) => {
                if self.admit(i, &packet) {
                    self.feed_driver(clock, medium);
                }
                return;
            }
            _ => {}
        }
        let now = self.events.now();
        let (link, mut observers) = self.observed(i);
        if service::admit(link, now, &packet, &mut observers).is_none() {
            return;
        }
        if link.aqm_queue().busy {
            observers.note_length(now, link.aqm_queue());
        } else {
            self.load_station(clock, i);
        }
    }

    /// Takes the next packet out of the queue of such a link, with its `length` on the medium. If there is none, or its
    /// algorithm pauses it, returns until when.
    pub(super) fn take_out(
        &mut self,
        i: usize,
        length: impl FnOnce(&Transmitter, u32) -> u32,
    ) -> Result<Frame, Time> {
        let now = self.events.now();
        let (link, mut observers) = self.observed(i);
        if !link.aqm_queue().busy {
            link.aqm_queue().end_idleness(now);
        }
        let next = service::begin(link, now, &mut observers, |packet, waited| (packet, waited));
        let aqm_queue = link.aqm_queue();
        let Some((packet, waited)) = next else {
            return Err(aqm_queue.queue.paused_until(now).unwrap_or(Time::MAX));
        };
        // Not a bit of it counts as sent until all are.
        aqm_queue.sent = Time::MAX;
        let owner = (aqm_queue.sending, aqm_queue.sending_bytes);
        let length = length(&link.transmitter, u32::from(packet.size));
        Ok(Frame { packet, owner, waited, length })
    }

    /// A link on such a medium, which may have been paused, is asked for its next packets.
    pub(super) fn load_shared<C: Order>(&mut self, clock: C, i: usize) {
        match self.links[i].aqm_queue().access.as_deref() {
            Some(Access::Wifi(_)) => self.load_radio(clock, i),
            Some(Access::Cell(_)) => self.ask_bearer(clock, i),
            Some(Access::Modem(_)) => self.ask_modem(clock, i),
            Some(&Access::Driver(medium)) => self.feed_driver(clock, medium),
            _ => self.load_station(clock, i),
        }
    }

    /// A station without a frame takes the next one from its queue, if there is one and its algorithm does not pause it.
    pub(super) fn load_station<C: Order>(&mut self, clock: C, i: usize) {
        let now = self.events.now();
        match self.take_out(i, Transmitter::length) {
            Ok(frame) => self.station(i).load(now, frame),
            Err(resumes) => self.station(i).resumes = resumes,
        }
        self.schedule_station(clock, i);
    }

    /// Puts the next step of a station on the event list.
    fn schedule_station<C: Order>(&mut self, clock: C, i: usize) {
        let station = self.station(i);
        let next = station.next().min(station.resumes);
        let slot = self.links[i].aqm_queue().ready_slot;
        self.set_step(clock, slot, next);
    }

    /// Puts the next step of a station or a medium, at `at` or never, on the event list.
    pub(super) fn set_step<C: Order>(&mut self, clock: C, slot: usize, at: Time) {
        let key = if at == Time::MAX { NEVER } else { self.wake_key(clock, at.since(self.events.now())) };
        self.events.set(slot, key);
    }

    /// A station takes its next step.
    pub(crate) fn step_station<C: Order>(&mut self, clock: C, i: usize) {
        let station = self.station(i);
        let (at, distance) = (station.next(), station.distance);
        if station.resumes < at {
            return self.load_station(clock, i);
        }
        let step = station.step();
        if !matches!(step, Step::Hears) {
            self.station(back(i)).will_hear(at + distance, matches!(step, Step::Begins));
            self.schedule_station(clock, back(i));
        }
        match step {
            Step::Begins | Step::Collided | Step::Hears => self.schedule_station(clock, i),
            Step::Sent(frame) => {
                self.links[i].aqm_queue().sent = at;
                self.note_sent(clock, i, frame);
                self.load_station(clock, i);
            }
            Step::GaveUp(frame) => {
                self.links[i].aqm_queue().sent = at;
                self.note_given_up(i, at, frame, Cause::Collisions);
                self.load_station(clock, i);
            }
        }
    }

    /// A frame has been sent, and is under way to the other end.
    pub(super) fn note_sent<C: Order>(&mut self, clock: C, i: usize, frame: Frame) {
        let (now, start) = (self.events.now(), self.events.event_time(clock));
        let (link, observers) = self.observed(i);
        let (delay, aqm_queue) = (link.transmitter.delay, link.aqm_queue());
        let (owner, bytes) = frame.owner;
        aqm_queue.tally_mut().into_iter().for_each(|tally| tally.note_sent(frame.owner));
        observers.probe.on_sent(aqm_queue.number, now, owner, bytes);
        if P::CHECKS {
            let framed = frame.packet.with_size(bytes as u16);
            observers.ledger.on_departure(i, now, &framed, frame.waited);
        }
        let arrival = (clock.after(clock.at(start), delay), clock.elapsed_rank(delay));
        self.pass_on(clock, i, Passage { start, arrival }, frame.packet);
    }

    /// A frame is given up.
    pub(super) fn note_given_up(&mut self, i: usize, at: Time, frame: Frame, cause: Cause) {
        let Frame { packet, waited, owner, .. } = frame;
        self.links[i].aqm_queue().tally_mut().into_iter().for_each(|tally| tally.note_lost(owner));
        self.path_losses.note(at, &packet);
        if P::CHECKS {
            let how = Lost { link: i, at, cause, waited };
            self.ledger.on_loss(&packet, how);
        }
    }
}
