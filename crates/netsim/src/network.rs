//! The links, and how a packet travels over them.

use crate::ahead::Plan;
use crate::clock::{Clock, Counts as _, Instant};
use crate::event::{Event, Events, NEVER};
use crate::link::{Flight, Link, Managed};
use crate::packet::Packet;
use crate::probe::{Owner, Probe};
use crate::route::{Hop, Routes};
use aqm::queue::Frame as _;
use aqm::unit::Time;
use aqm::{Outcome, Sent};
use scenario::Scenario;

/// A packet may be delivered before its time: when it arrives, and whether it was marked on its last links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Early {
    pub(crate) at: Instant,
    pub(crate) marked: bool,
}

/// What a link that works ahead says of a packet that it lets in: when its transmission starts, when it is at the other
/// end, and whether it was marked.
struct Journey {
    start: Instant,
    arrival: Instant,
    marked: bool,
}

/// The links, the routes and the event list.
#[derive(Debug)]
pub(crate) struct Network<P> {
    pub(crate) events: Events,
    pub(crate) links: Vec<Link>,
    hops: Vec<Hop>,
    pub(crate) probe: P,
    /// Packets that may be delivered before their time (see [`crate::ahead`]), where they cannot be at once.
    pub(crate) early: Vec<(Early, Packet)>,
    /// The end of the run: what would happen later does not happen.
    pub(crate) end: Instant,
}

impl<P: Probe> Network<P> {
    pub(crate) fn new(
        scenario: &Scenario,
        routes: Routes<'_>,
        seed: u64,
        probe: P,
        may_work_ahead: bool,
    ) -> Self {
        // On the double clock each hop has its place in the order of what happens at one instant.
        let may_work_ahead = may_work_ahead && scenario.clock == Clock::Integer;
        let mut number = 0;
        let mut links: Vec<Link> = Vec::with_capacity(scenario.links.len());
        for (i, link) in scenario.links.iter().enumerate() {
            let delay = crate::link::delay(link, seed);
            let managed = link.aqm.as_ref().map(|aqm| {
                number += 1;
                let observed = i == scenario.observed;
                let mut managed = Managed::new(link, aqm, scenario, seed, number - 1, delay, observed);
                if may_work_ahead && crate::ahead::link_may(link, managed.queue.algorithm().is_final()) {
                    managed.work_ahead(Time::ZERO + scenario.general.warmup);
                }
                Box::new(managed)
            });
            links.push(Link::new(scenario.clock, link, delay, seed, managed));
        }
        let plan = may_work_ahead.then(|| Plan::new(scenario, &links, routes.ways()));
        let hops = routes.into_hops(scenario.clock, &plan.unwrap_or_else(|| Plan::none(scenario)));
        let slots = assign_slots(&mut links, &hops);
        let end = scenario.clock.instant(Time::ZERO + scenario.general.duration);
        let events = Events::new(scenario.clock, slots);
        let mut network = Self { events, links, hops, probe, early: Vec::new(), end };
        for link in 0..network.links.len() {
            network.schedule_period(link);
        }
        network
    }

    /// Whether the path from this hop on ends where packets are delivered before their time.
    pub(crate) fn ends_early(&self, hop: u32) -> bool {
        self.hops[hop as usize..].iter().find(|hop| hop.is_end()).is_some_and(|hop| hop.is_early_end())
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
        let link = &mut self.links[link];
        let Flight { packet, .. } =
            *link.line.front().expect("an arrival is scheduled only for a packet on the line");
        link.line.drop_front();
        let next = link.line.front().map_or(NEVER, |flight| flight.arrival);
        self.events.set(link.slot, next);
        packet
    }

    /// Hands a packet to the next link of its path, at the present or ahead of it.
    #[inline]
    pub(crate) fn send(&mut self, at: Instant, packet: &Packet) {
        if let Some(early) = self.forward_at(at, packet) {
            self.early.push((early, *packet));
        }
    }

    /// Hands a packet to the next link of its path, at the present.
    #[inline]
    pub(crate) fn forward(&mut self, packet: &Packet) -> Option<Early> {
        self.forward_at(self.events.instant(), packet)
    }

    /// Hands a packet to the next link of its path, at the present or ahead of it: the packet enters the link, and
    /// those after it as far as they take packets over. Tells of a packet that may be delivered before its time.
    #[inline]
    fn forward_at(&mut self, at: Instant, packet: &Packet) -> Option<Early> {
        self.enter((at, at), packet.hop, packet)
    }

    /// A packet comes at `at`, sent at `since`, to the link of hop number `next` of its path.
    // The packet's own number is out of date: it is written only where the packet is put down.
    fn enter(
        &mut self,
        (mut at, mut since): (Instant, Instant),
        mut next: u32,
        packet: &Packet,
    ) -> Option<Early> {
        let mut marked = false;
        let mut hop = self.hops[next as usize];
        loop {
            let i = hop.link();
            next += 1;
            if !hop.is_simple() {
                if hop.works_ahead() && at > self.end || hop.is_lossy() && self.loses(i) {
                    return None;
                }
                if hop.works_ahead() {
                    let journey = self.enqueue_ahead(i, at, next, packet)?;
                    (since, at) = (journey.start, journey.arrival);
                    marked |= journey.marked;
                } else if hop.is_managed() {
                    self.enqueue(i, packet.at_hop(next, marked));
                    return None;
                } else if self.events.clock == Clock::Double {
                    self.queue_in_order(i, (next, marked), packet);
                    return None;
                } else {
                    at = self.links[i].accept(at, packet.size)?;
                }
            } else {
                at = self.links[i].accept(at, packet.size)?;
            }
            hop = self.hops[next as usize];
            if hop.is_early_end() {
                return Some(Early { at, marked });
            }
            if hop.is_end() || !hop.is_chained() {
                self.launch(i, (at, since), (next, marked), packet);
                return None;
            }
        }
    }

    /// A plain link takes in a packet on the double clock; after it comes hop number `next`.
    #[inline(never)]
    fn queue_in_order(&mut self, i: usize, next: (u32, bool), packet: &Packet) {
        let now = self.events.current();
        let link = &mut self.links[i];
        if !link.ordered.is_busy(now) {
            self.send_in_order(i, next, packet);
        } else if link.wait(packet.at_hop(next.0, next.1)) {
            self.events.put(self.links[i].ordered.ready, Event::Ready(i as u32));
        }
    }

    /// A plain link begins to send a packet on the double clock.
    #[inline]
    fn send_in_order(&mut self, i: usize, next: (u32, bool), packet: &Packet) {
        let now = self.events.instant();
        let (sent, arrival) = self.links[i].wire.send(now, u32::from(packet.size));
        self.launch(i, (arrival, now), next, packet);
        self.links[i].ordered.ready = self.events.key(sent, now);
    }

    /// A plain link is free on the double clock: it sends the next packet.
    fn send_next_in_order(&mut self, i: usize) {
        let (packet, more) = self.links[i].next();
        self.send_in_order(i, (packet.hop, false), &packet);
        if more {
            self.events.put(self.links[i].ordered.ready, Event::Ready(i as u32));
        }
    }

    /// Whether a link loses the next packet by chance.
    #[inline(never)]
    fn loses(&mut self, link: usize) -> bool {
        self.links[link].lottery.as_mut().is_some_and(|lottery| lottery.loses())
    }

    /// Puts a packet on a link's line; after it comes hop number `next`.
    #[inline(always)]
    fn launch(
        &mut self,
        link: usize,
        (arrival, since): (Instant, Instant),
        (next, marked): (u32, bool),
        packet: &Packet,
    ) {
        let arrival = self.events.key(arrival, since);
        let link = &mut self.links[link];
        let flight = link.line.push_place();
        flight.arrival = arrival;
        flight.packet = *packet;
        flight.packet.hop = next;
        if marked {
            flight.packet.mark();
        }
        if link.line.len() == 1 {
            self.events.set(link.slot, arrival);
        }
    }

    /// A packet comes to a managed link now.
    #[inline(never)]
    fn enqueue(&mut self, i: usize, packet: Packet) {
        let now = self.events.now();
        if self.admit(i, now, &packet).is_none() {
            return;
        }
        let managed = self.links[i].managed();
        if managed.busy {
            managed.note_length(now);
            self.probe.on_length(managed.number, now, managed.queue.len(), managed.queue.lanes());
        } else {
            managed.busy = true;
            self.transmit(i);
        }
    }

    /// A packet comes to a link that works ahead: when its transmission starts, and when it is at the other end;
    /// `None` if it is dropped or the run is over by then.
    #[inline(never)]
    fn enqueue_ahead(&mut self, i: usize, at: Instant, next: u32, packet: &Packet) -> Option<Journey> {
        let now = self.events.clock.time(at);
        self.catch_up(i, now);
        let marked = self.admit(i, now, &packet.at_hop(next, false))? == Outcome::Marked;
        let link = &mut self.links[i];
        let managed = link.managed.as_deref_mut()?;
        let busy = managed.busy;
        let ahead = managed.ahead.as_mut()?;
        let start = if busy { ahead.free } else { at };
        let (sent, arrival) = link.wire.send(start, u32::from(packet.size));
        ahead.free = sent;
        if busy {
            managed.note_length(now);
            self.probe.on_length(managed.number, now, managed.queue.len(), managed.queue.lanes());
        } else {
            managed.busy = true;
            self.begin_ahead(i, now);
            self.links[i].managed().note_due();
        }
        (start <= self.end).then_some(Journey { start, arrival, marked })
    }

    /// Does all that was due until `until` at a link that works ahead; at one time first what is periodic, then
    /// the departure, then the end of the warm-up, as the event list has it.
    #[inline]
    pub(crate) fn catch_up(&mut self, i: usize, until: Time) {
        while self.links[i].managed().ahead.as_ref().is_some_and(|ahead| ahead.due <= until) {
            self.do_what_is_due(i);
        }
    }

    /// Does all that was due until `until` at all links that work ahead.
    pub(crate) fn catch_up_all(&mut self, until: Time) {
        for i in 0..self.links.len() {
            if self.links[i].managed.is_some() {
                self.catch_up(i, until);
            }
        }
    }

    fn do_what_is_due(&mut self, i: usize) {
        let link = &mut self.links[i];
        let Some(managed) = link.managed.as_deref_mut() else { return };
        let Some(ahead) = managed.ahead.as_mut() else { return };
        let now = ahead.due;
        if ahead.period == now {
            ahead.period = managed.queue.period().map_or(Time::MAX, |period| now + period);
            managed.queue.on_period(now);
            self.probe.on_period(managed.number, now, managed.queue.algorithm());
        } else if managed.busy && managed.sent == now {
            self.begin_ahead(i, now);
        } else {
            ahead.warmup = Time::MAX;
            managed.end_warmup(now, link.wire.bits(managed.sent.since(now)));
        }
        self.links[i].managed().note_due();
    }

    /// A managed link takes a packet in, perhaps marked, or drops it and says nothing.
    #[inline]
    fn admit(&mut self, i: usize, now: Time, packet: &Packet) -> Option<Outcome> {
        let link = &mut self.links[i];
        let framed = packet.with_size(packet.size + link.wire.overhead as u16);
        let managed = link.managed();
        let (probe, losses, number) = (&mut self.probe, &mut managed.losses, managed.number);
        let before = managed.queue.len();
        let (outcome, lane) = managed.queue.enqueue_or(now, framed, &mut managed.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
        });
        let owner = Owner { class: packet.class(), lane };
        probe.on_arrival(number, now, owner, outcome, managed.queue.algorithm());
        if matches!(outcome, Outcome::Queued | Outcome::Marked) {
            managed.losses.on_entry();
            return Some(outcome);
        }
        managed.losses.on_refusal(now, packet);
        // An arrival may take others along.
        if managed.queue.len() != before {
            managed.note_length(now);
            self.probe.on_length(number, now, managed.queue.len(), managed.queue.lanes());
        }
        None
    }

    /// A managed link begins to send its next packet, if it has one.
    #[inline]
    fn begin(&mut self, i: usize, now: Time) -> Option<Packet> {
        let link = &mut self.links[i];
        let overhead = link.wire.overhead as u16;
        let managed = link.managed.as_deref_mut()?;
        let (probe, losses, number) = (&mut self.probe, &mut managed.losses, managed.number);
        let next = managed.queue.dequeue_or(now, &mut managed.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
        });
        managed.note_length(now);
        self.probe.on_length(number, now, managed.queue.len(), managed.queue.lanes());
        let Some(Sent { frame: packet, number: arrival_number, lane, sojourn }) = next else {
            managed.busy = false;
            return None;
        };
        managed.sending = Owner { class: packet.class(), lane };
        managed.delays[packet.class()].record(sojourn);
        if let Some(meter) = managed.meters.get_mut(lane) {
            meter.delays.record(sojourn);
        }
        managed.losses.on_departure(now, arrival_number, &packet);
        self.probe.on_departure(number, now, managed.sending, packet.size, sojourn);
        self.probe.on_fate(number, arrival_number, packet.is_marked());
        Some(packet.with_size(packet.size - overhead))
    }

    /// A link that works ahead begins to send its next packet, which is on its way already.
    #[inline]
    fn begin_ahead(&mut self, i: usize, now: Time) {
        if let Some(packet) = self.begin(i, now) {
            let clock = self.events.clock;
            let link = &mut self.links[i];
            let (sent, _) = link.wire.send(clock.instant(now), u32::from(packet.size));
            link.managed().sent = clock.time(sent);
        }
    }

    /// A link is free: it sends its next packet, if it has one.
    #[inline]
    pub(crate) fn transmit(&mut self, i: usize) {
        let Some(managed) = &self.links[i].managed else { return self.send_next_in_order(i) };
        let slot = managed.ready_slot;
        let Some(packet) = self.begin(i, self.events.now()) else { return self.events.set(slot, NEVER) };
        let now = self.events.instant();
        let link = &mut self.links[i];
        let (sent, arrival) = link.wire.send(now, u32::from(packet.size));
        link.managed().sent = self.events.clock.time(sent);
        // In this order: where both are due at one instant, ns-2 delivers before it sends.
        let hop = self.hops[packet.hop as usize];
        if hop.is_early_end() {
            self.early.push((Early { at: arrival, marked: false }, packet));
        } else if hop.is_end() || !hop.is_chained() {
            self.launch(i, (arrival, now), (packet.hop, false), &packet);
        } else if let Some(early) = self.enter((arrival, now), packet.hop, &packet) {
            self.early.push((early, packet));
        }
        let key = self.events.free_key(sent);
        self.events.set(slot, key);
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
        let Some(period) = managed.queue.period().filter(|_| managed.ahead.is_none()) else { return };
        let slot = managed.period_slot;
        let lapse = self.events.clock.lapse(period);
        let at = self.events.clock.after(self.events.instant(), lapse);
        let key = self.events.timer_key(at);
        self.events.set(slot, key);
    }
}

/// Gives a slot on the event list to the head of each line that a packet may be on, then to the transmitters and timers
/// of managed links; tells what the event of each is. All are in the order of the links: so of what two links send at
/// one instant, the first link's comes first, whether they work ahead or not.
fn assign_slots(links: &mut [Link], hops: &[Hop]) -> Vec<Event> {
    let mut has_line = vec![false; links.len()];
    for hop in hops.windows(2).filter(|hop| !hop[0].is_end()) {
        let stops = if hop[1].is_end() { !hop[1].is_early_end() } else { !hop[1].is_chained() };
        has_line[hop[0].link()] |= stops;
    }
    let mut slots = Vec::new();
    for (i, link) in links.iter_mut().enumerate().filter(|&(i, _)| has_line[i]) {
        link.slot = slots.len();
        slots.push(Event::Arrival(i as u32));
    }
    for (i, link) in links.iter_mut().enumerate() {
        if let Some(managed) = link.managed.as_deref_mut().filter(|managed| managed.ahead.is_none()) {
            (managed.ready_slot, managed.period_slot) = (slots.len(), slots.len() + 1);
            slots.extend([Event::Ready(i as u32), Event::Period(i as u32)]);
        }
    }
    slots
}
