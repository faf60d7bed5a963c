//! The links, and how a packet travels over them.

use crate::clock::{Clock, Counts as _, Instant};
use crate::event::{Event, Events};
use crate::link::{Link, Managed};
use crate::packet::Packet;
use crate::probe::{Owner, Probe};
use crate::route::Hop;
use aqm::{Outcome, Sent};
use scenario::Scenario;

/// The links, the routes and the event list.
#[derive(Debug)]
pub(crate) struct Network<P> {
    pub(crate) events: Events,
    pub(crate) links: Vec<Link>,
    hops: Vec<Hop>,
    pub(crate) probe: P,
}

impl<P: Probe> Network<P> {
    pub(crate) fn new(scenario: &Scenario, hops: Vec<Hop>, seed: u64, probe: P) -> Self {
        // A slot for the head of each line, then transmitter and timer of each managed link.
        let mut slots: Vec<Event> = (0..scenario.links.len() as u32).map(Event::Arrival).collect();
        let mut links = Vec::with_capacity(scenario.links.len());
        let mut number = 0;
        for (i, link) in scenario.links.iter().enumerate() {
            let delay = crate::link::delay(link, seed);
            let managed = link.aqm.as_ref().map(|aqm| {
                let slot = slots.len();
                slots.extend([Event::Ready(i as u32), Event::Period(i as u32)]);
                number += 1;
                let observed = i == scenario.observed;
                Box::new(Managed::new(
                    link,
                    aqm,
                    scenario,
                    seed,
                    (number - 1, slot, slot + 1),
                    delay,
                    observed,
                ))
            });
            // On the double clock a plain link has a transmitter too.
            let ready_slot = slots.len();
            if managed.is_none() && scenario.clock == Clock::Double {
                slots.push(Event::Ready(i as u32));
            }
            links.push(Link::new(scenario.clock, link, delay, seed, ready_slot, managed));
        }
        let mut network = Self { events: Events::new(scenario.clock, slots), links, hops, probe };
        for link in 0..network.links.len() {
            network.schedule_period(link);
        }
        network
    }

    /// Whether a packet has reached its destination.
    #[inline]
    pub(crate) fn arrived(&self, packet: &Packet) -> bool {
        self.hops[packet.hop as usize].is_end()
    }

    /// The measured links' queues.
    pub(crate) fn managed(&mut self) -> impl Iterator<Item = &mut Managed> {
        self.links.iter_mut().filter_map(|link| link.managed.as_deref_mut())
    }

    /// Takes the first packet off a link's line.
    #[inline]
    pub(crate) fn take(&mut self, link: usize) -> Packet {
        let line = &mut self.links[link].line;
        let (_, packet) = line.pop_front().expect("an arrival is scheduled only for a packet on the line");
        let head = line.front().map(|&(key, _)| key);
        self.events.set(link, head);
        packet
    }

    /// Hands a packet to the next link of its path, at the present.
    #[inline]
    pub(crate) fn forward(&mut self, packet: Packet) {
        self.hand_over(self.events.instant(), packet);
    }

    /// Hands a packet over at `at`: the present, or a later time for a link that is fed by one.
    #[inline]
    fn hand_over(&mut self, mut at: Instant, mut packet: Packet) {
        let mut hop = self.hops[packet.hop as usize];
        loop {
            if hop.is_lossy() && self.loses(hop.link()) {
                return;
            }
            if hop.is_managed() {
                break;
            }
            if self.events.clock == Clock::Double {
                packet.hop += 1;
                return self.queue_in_order(hop.link(), packet);
            }
            let Some(arrival) = self.links[hop.link()].accept(at, packet.size) else { return };
            packet.hop += 1;
            let next = self.hops[packet.hop as usize];
            if !next.is_chained() {
                self.launch(hop.link(), arrival, packet);
                return;
            }
            (at, hop) = (arrival, next);
        }
        packet.hop += 1;
        self.enqueue(hop.link(), packet);
    }

    /// A plain link takes in a packet on the double clock.
    fn queue_in_order(&mut self, i: usize, packet: Packet) {
        let now = self.events.current();
        let link = &mut self.links[i];
        if link.ordered.is_busy(now) {
            if link.wait(packet) {
                self.events.set(link.ordered.ready_slot, Some(link.ordered.ready));
            }
        } else {
            self.send_in_order(i, packet);
        }
    }

    /// A plain link begins to send a packet on the double clock.
    #[inline]
    fn send_in_order(&mut self, i: usize, packet: Packet) {
        let (sent, arrival) = self.links[i].wire.send(self.events.instant(), u32::from(packet.size));
        self.launch(i, arrival, packet);
        let since = self.events.instant();
        self.links[i].ordered.ready = self.events.key(sent, since);
    }

    /// A plain link is free on the double clock: it sends the next packet.
    fn send_next_in_order(&mut self, i: usize) {
        let (packet, more) = self.links[i].ordered.next();
        self.send_in_order(i, packet);
        let ordered = &self.links[i].ordered;
        self.events.set(ordered.ready_slot, more.then_some(ordered.ready));
    }

    /// Whether a link loses the next packet by chance.
    fn loses(&mut self, link: usize) -> bool {
        self.links[link].lottery.as_mut().is_some_and(|lottery| lottery.loses())
    }

    /// Puts a packet on a link's line.
    #[inline]
    fn launch(&mut self, link: usize, arrival: Instant, packet: Packet) {
        let since = self.events.instant();
        let key = self.events.key(arrival, since);
        let line = &mut self.links[link].line;
        line.push_back((key, packet));
        if line.len() == 1 {
            self.events.set(link, Some(key));
        }
    }

    #[inline]
    fn enqueue(&mut self, i: usize, packet: Packet) {
        let now = self.events.now();
        let managed = self.links[i].managed.as_deref_mut().expect("only managed links queue");
        let (probe, losses, number) = (&mut self.probe, &mut managed.losses, managed.number);
        let before = managed.queue.len();
        let (outcome, lane) = managed.queue.enqueue_or(now, packet, &mut managed.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
        });
        let owner = Owner { class: packet.class(), lane };
        probe.on_arrival(number, now, owner, outcome, managed.queue.algorithm());
        if matches!(outcome, Outcome::Queued | Outcome::Marked) {
            managed.losses.on_entry();
            if managed.busy {
                managed.note_length(now);
                self.probe.on_length(number, now, managed.queue.len(), managed.queue.lanes());
            } else {
                managed.busy = true;
                self.transmit(i);
            }
        } else {
            managed.losses.on_refusal(now, &packet);
            // An arrival may take others along.
            if managed.queue.len() != before {
                managed.note_length(now);
                self.probe.on_length(number, now, managed.queue.len(), managed.queue.lanes());
            }
        }
    }

    /// A link is free: it sends its next packet, if it has one.
    #[inline]
    pub(crate) fn transmit(&mut self, i: usize) {
        let now = self.events.now();
        let link = &mut self.links[i];
        let Some(managed) = link.managed.as_deref_mut() else { return self.send_next_in_order(i) };
        let (probe, losses, number) = (&mut self.probe, &mut managed.losses, managed.number);
        let next = managed.queue.dequeue_or(now, &mut managed.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
        });
        managed.note_length(now);
        self.probe.on_length(number, now, managed.queue.len(), managed.queue.lanes());
        let Some(Sent { frame: packet, number: arrival_number, lane, sojourn }) = next else {
            managed.busy = false;
            self.events.set(managed.ready_slot, None);
            return;
        };
        managed.sending = Owner { class: packet.class(), lane };
        managed.delays[packet.class()].record(sojourn);
        if let Some(meter) = managed.meters.get_mut(lane) {
            meter.delays.record(sojourn);
        }
        managed.losses.on_departure(now, arrival_number, &packet);
        self.probe.on_departure(number, now, managed.sending, packet.size, sojourn);
        let (sent, arrival) = link.wire.send(self.events.instant(), u32::from(packet.size));
        managed.sent = self.events.clock.time(sent);
        let slot = managed.ready_slot;
        // In this order: where both are due at one instant, ns-2 delivers before it sends.
        if self.hops[packet.hop as usize].is_chained() {
            self.hand_over(arrival, packet);
        } else {
            self.launch(i, arrival, packet);
        }
        let key = self.events.free_key(sent);
        self.events.set(slot, Some(key));
    }

    /// An algorithm's period is over.
    pub(crate) fn close_period(&mut self, i: usize) {
        let now = self.events.now();
        if let Some(managed) = &mut self.links[i].managed {
            managed.queue.on_period(now);
            self.probe.on_period(managed.number, now, managed.queue.algorithm());
        }
        self.schedule_period(i);
    }

    fn schedule_period(&mut self, i: usize) {
        let Some(managed) = &self.links[i].managed else { return };
        let Some(period) = managed.queue.period() else { return };
        let slot = managed.period_slot;
        let lapse = self.events.clock.lapse(period);
        let at = self.events.clock.after(self.events.instant(), lapse);
        let key = self.events.timer_key(at);
        self.events.set(slot, Some(key));
    }
}
