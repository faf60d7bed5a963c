//! The links, and the travel of packets over them.

mod aqm_link;

use crate::engine::clock::{Clock, ClockArithmetic as _, Instant, Lapse};
use crate::engine::event::{Event, Events, NEVER};
use crate::measure::path_losses::PathLosses;
use crate::measure::probe::Probe;
use crate::network::ahead::{self, Due, Early, Plan};
use crate::network::aqm_queue::AqmQueue;
use crate::network::fate::{Cause, Lost};
use crate::network::ledger::Ledger;
use crate::network::link::{Flight, Link, Transmission};
use crate::network::route::{Hop, Routes};
use crate::packet::Packet;
use aqm::queue::Frame as _;
use aqm::unit::{Rate, Span, Time};
use run::Watch;
use scenario::Scenario;
use std::collections::HashMap;

/// The times at which a packet was sent, over a link or by a host, and arrives.
#[derive(Clone, Copy)]
struct Passage {
    sent: Instant,
    arrival: Instant,
}

/// The next hop of a packet on its path, and whether the packet was marked since it was last put down: the packet itself
/// is written only where it is put down.
#[derive(Clone, Copy)]
struct Next {
    hop: u32,
    marked: bool,
}

/// The links, the routes and the event list.
#[derive(Debug)]
pub(crate) struct Network<P> {
    pub(crate) events: Events,
    pub(crate) links: Vec<Link>,
    hops: Vec<Hop>,
    /// The first hop of each path, by the nodes that it joins.
    starts: HashMap<(usize, usize), u32>,
    pub(crate) probe: P,
    /// Packets that may be delivered before their time (see [`crate::network::ahead`]), where they cannot be at once.
    pub(crate) early: Vec<(Early, Packet)>,
    /// The end of the run; later events do not happen.
    pub(crate) end: Instant,
    /// Kept if the probe requires checks.
    pub(crate) ledger: Ledger,
    pub(crate) path_losses: PathLosses,
    pub(crate) watch: Watch,
}

impl<P: Probe> Network<P> {
    pub(crate) fn new(
        scenario: &Scenario,
        routes: Routes<'_>,
        seed: u64,
        probe: P,
        may_work_ahead: bool,
        watch: Watch,
    ) -> Self {
        // On the double clock each hop has its place in the order of what happens at one instant.
        let may_work_ahead = may_work_ahead && scenario.clock == Clock::Integer;
        let [warmup, end] = [scenario.general.warmup, scenario.general.duration]
            .map(|at| scenario.clock.instant(Time::ZERO + at));
        let mut number = 0;
        let mut links: Vec<Link> = Vec::with_capacity(scenario.links.len());
        for (i, link) in scenario.links.iter().enumerate() {
            let delay = crate::network::link::delay(link, seed);
            let aqm_queue = link.aqm.as_ref().map(|aqm| {
                number += 1;
                let observed = i == scenario.observed;
                let mut aqm_queue = AqmQueue::new(link, aqm, scenario, seed, number - 1, delay, observed);
                if may_work_ahead && ahead::may_work_ahead(link, aqm_queue.queue.algorithm().is_final()) {
                    let warmup = Time::ZERO + scenario.general.warmup;
                    aqm_queue.ahead = Some(Due::new(aqm_queue.queue.period(), warmup));
                }
                Box::new(aqm_queue)
            });
            links.push(Link::new(scenario.clock, link, delay, seed, warmup..end, aqm_queue));
        }
        let works_ahead =
            |link: &Link| link.aqm_queue.as_ref().is_some_and(|aqm_queue| aqm_queue.ahead.is_some());
        let feeders = routes.feeders();
        let plan = if may_work_ahead {
            Plan::new(scenario, links.iter().map(works_ahead).collect(), routes.paths(), &feeders)
        } else {
            Plan::none(scenario, &feeders)
        };
        let starts = routes.starts();
        let hops = routes.into_hops(scenario.clock, &plan);
        let slots = assign_slots(&mut links, &hops);
        let events = Events::new(scenario.clock, slots);
        let (early, ledger) = (Vec::new(), Ledger::default());
        let path_losses = PathLosses::new(scenario.traffic.len(), Time::ZERO + scenario.general.warmup);
        let mut network = Self { events, links, hops, starts, probe, early, end, ledger, path_losses, watch };
        for link in 0..network.links.len() {
            network.schedule_period(link);
        }
        network
    }

    /// The first hop of the path between two nodes, if any traffic takes it.
    pub(crate) fn path(&self, from: usize, to: usize) -> Option<u32> {
        self.starts.get(&(from, to)).copied()
    }

    /// For each link, the shortest time that a packet at its end still travels: 0 where a path ends.
    pub(crate) fn onward(&self) -> Vec<Lapse> {
        let nothing = self.events.clock.lapse(Span::ZERO);
        let mut onward = vec![None; self.links.len()];
        for path in self.hops.split(|hop| hop.is_end()) {
            let mut rest = nothing;
            for hop in path.iter().rev() {
                let least: &mut Option<Lapse> = &mut onward[hop.link()];
                *least = Some(least.map_or(rest, |least| least.min(rest)));
                rest = self.through(hop.link(), rest);
            }
        }
        onward.into_iter().map(|least| least.unwrap_or(nothing)).collect()
    }

    /// The shortest time that a packet before a link still travels, if it is `onward` at the link's end.
    fn through(&self, link: usize, onward: Lapse) -> Lapse {
        let Link { wire, aqm_queue, .. } = &self.links[link];
        // A queue outside needs it as soon as it comes there.
        let leaves = aqm_queue.as_ref().is_some_and(|aqm_queue| aqm_queue.outside.is_some());
        if leaves { self.events.clock.lapse(Span::ZERO) } else { self.events.clock.sum(onward, wire.delay) }
    }

    /// The shortest time that a packet travels from this hop on, given [`Self::onward`].
    pub(crate) fn travel(&self, hop: u32, onward: &[Lapse]) -> Lapse {
        let hop = self.hops[hop as usize];
        if hop.is_end() {
            self.events.clock.lapse(Span::ZERO)
        } else {
            self.through(hop.link(), onward[hop.link()])
        }
    }

    /// The first hop of each path, with the nodes that it joins.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (u32, (usize, usize))> {
        self.starts.iter().map(|(&ends, &start)| (start, ends))
    }

    /// The links of the path that starts at a hop.
    pub(crate) fn links_from(&self, start: u32) -> impl Iterator<Item = usize> + use<'_, P> {
        let rest = &self.hops[start as usize..];
        rest.iter().take_while(|hop| !hop.is_end()).map(|hop| hop.link())
    }

    /// The time in s that a packet of `size` bytes takes over the path that starts at a hop if nothing waits, at these
    /// `rates` of the links.
    pub(crate) fn idle_time(&self, start: u32, size: u64, rates: impl Fn(usize) -> Rate) -> f64 {
        let clock = self.events.clock;
        let time = |i: usize| {
            let wire = &self.links[i].wire;
            let propagation = clock.time(clock.after(Instant::ZERO, wire.delay)).secs();
            propagation + 8.0 * (size + u64::from(wire.overhead)) as f64 / rates(i).bits()
        };
        self.links_from(start).map(time).sum()
    }

    /// Whether each link is on the path, or the path back, of packets that cross the link `observed` there or back.
    pub(crate) fn shares_paths_with(&self, observed: usize) -> Vec<bool> {
        let links = |start: u32| self.links_from(start);
        let mut shares = vec![false; self.links.len()];
        for (&(from, to), &start) in &self.starts {
            let back = self.starts.get(&(to, from)).copied();
            let both = || links(start).chain(back.into_iter().flat_map(links));
            if both().any(|link| link == observed) {
                both().for_each(|link| shares[link] = true);
            }
        }
        shares
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
    pub(crate) fn aqm_queues(&mut self) -> impl Iterator<Item = &mut AqmQueue> {
        self.links.iter_mut().filter_map(|link| link.aqm_queue.as_deref_mut())
    }

    /// Takes the first packet off a link's line.
    #[inline]
    pub(crate) fn take(&mut self, i: usize) -> Packet {
        let link = &mut self.links[i];
        let Flight { packet, .. } =
            *link.line.front().expect("an arrival is scheduled only for a packet on the line");
        link.line.drop_front();
        let next = link.line.front().map_or(NEVER, |flight| flight.arrival);
        self.events.set(link.slot, next);
        if P::CHECKS {
            self.ledger.on_exit(i);
        }
        packet
    }

    /// Hands a packet to the next link of its path, at the present or ahead of it.
    #[inline]
    pub(crate) fn send(&mut self, at: Instant, packet: &Packet) {
        if P::CHECKS {
            self.ledger.on_sent(packet);
        }
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
    /// those after it as far as they take packets over. Returns whether the packet may be delivered before its time.
    #[inline]
    fn forward_at(&mut self, at: Instant, packet: &Packet) -> Option<Early> {
        self.enter(Passage { sent: at, arrival: at }, None, packet.hop, packet)
    }

    /// A packet, sent by link number `from` or a host, comes to the link of hop number `next` of its path.
    fn enter(
        &mut self,
        passage: Passage,
        mut from: Option<usize>,
        mut next: u32,
        packet: &Packet,
    ) -> Option<Early> {
        let Passage { sent: mut since, arrival: mut at } = passage;
        let mut marked = false;
        let mut hop = self.hops[next as usize];
        loop {
            let i = hop.link();
            next += 1;
            if !hop.is_simple() && at > self.end {
                self.note_end(from, packet);
                return None;
            }
            if P::CHECKS {
                from.iter().for_each(|&from| self.ledger.on_exit(from));
                self.ledger.on_entry(i);
                from = Some(i);
            }
            if !hop.is_simple() {
                if hop.is_lossy() && self.loses(i, at, packet) {
                    return None;
                }
                if hop.works_ahead() {
                    let journey = self.enqueue_ahead(i, at, &packet.at_hop(next, false))?;
                    (since, at) = (journey.start, journey.arrival);
                    marked |= journey.marked;
                } else if hop.has_aqm() {
                    self.enqueue(i, packet.at_hop(next, marked));
                    return None;
                } else if self.events.clock == Clock::Double {
                    self.queue_as_ns2(i, Next { hop: next, marked }, packet);
                    return None;
                } else {
                    at = self.accept(i, at, packet)?;
                }
            } else {
                at = self.accept(i, at, packet)?;
            }
            hop = self.hops[next as usize];
            if hop.is_early_end() {
                self.note_early(i, at, packet);
                return Some(Early { at, marked });
            }
            if hop.is_end() || !hop.is_chained() {
                self.launch(i, Passage { sent: since, arrival: at }, Next { hop: next, marked }, packet);
                return None;
            }
        }
    }

    /// A plain link accepts a packet at `at`, or drops it; returns the time of its arrival at the other end.
    #[inline(always)]
    fn accept(&mut self, i: usize, at: Instant, packet: &Packet) -> Option<Instant> {
        let arrival = self.links[i].accept(at, packet.size);
        if arrival.is_none() {
            self.refuse(i, at, packet);
        }
        arrival
    }

    /// A plain link has no room for a packet that comes at `at`.
    #[cold]
    fn refuse(&mut self, i: usize, at: Instant, packet: &Packet) {
        if at > self.end {
            return self.note_end(Some(i), packet);
        }
        self.links[i].drops += 1;
        let at = self.events.clock.time(at);
        self.path_losses.note(at, packet);
        if P::CHECKS {
            let how = Lost { link: i, at, cause: Cause::Overflow, waited: Span::ZERO };
            self.ledger.on_loss(packet, how);
        }
    }

    /// A packet is still on link number `from` when the run ends.
    #[cold]
    fn note_end(&mut self, from: Option<usize>, packet: &Packet) {
        if P::CHECKS {
            from.iter().for_each(|&from| self.ledger.on_end(from, packet));
        }
    }

    /// A packet that may be delivered before its time reaches the last link's other end at `at`.
    #[inline]
    fn note_early(&mut self, i: usize, at: Instant, packet: &Packet) {
        if P::CHECKS {
            match at > self.end {
                true => self.ledger.on_end(i, packet),
                false => self.ledger.on_exit(i),
            }
        }
    }

    /// A plain link takes in a packet on the double clock.
    #[inline(never)]
    fn queue_as_ns2(&mut self, i: usize, next: Next, packet: &Packet) {
        let now = self.events.current();
        let link = &mut self.links[i];
        if !link.ns2.is_busy(now) {
            self.send_as_ns2(i, next, packet);
        } else {
            match link.ns2.wait(packet.at_hop(next.hop, next.marked), link.limit, link.wire.overhead) {
                None => self.refuse(i, self.events.instant(), packet),
                Some(0) => {
                    self.events.put(self.links[i].ns2.ready, Event::Ready(i as u32));
                }
                Some(_) => {}
            }
        }
    }

    /// A plain link begins to send a packet on the double clock.
    #[inline]
    fn send_as_ns2(&mut self, i: usize, next: Next, packet: &Packet) {
        let now = self.events.instant();
        let Transmission { sent, arrival } = self.links[i].send_plain(now, packet.size);
        self.launch(i, Passage { sent: now, arrival }, next, packet);
        self.links[i].ns2.ready = self.events.key(sent, now);
    }

    /// A plain link is free on the double clock: it sends the next packet.
    fn send_next_as_ns2(&mut self, i: usize) {
        let link = &mut self.links[i];
        let (packet, more) = link.ns2.next(link.wire.overhead);
        self.send_as_ns2(i, Next { hop: packet.hop, marked: false }, &packet);
        if more {
            self.events.put(self.links[i].ns2.ready, Event::Ready(i as u32));
        }
    }

    /// Whether a link loses the next packet, which comes at `at`, at random.
    #[inline(never)]
    fn loses(&mut self, link: usize, at: Instant, packet: &Packet) -> bool {
        let lost = self.links[link].random_loss.as_mut().is_some_and(|random_loss| random_loss.loses());
        if lost {
            let at = self.events.clock.time(at);
            self.path_losses.note(at, packet);
            if P::CHECKS {
                let how = Lost { link, at, cause: Cause::Random, waited: Span::ZERO };
                self.ledger.on_loss(packet, how);
            }
        }
        lost
    }

    /// Puts a packet on a link's line.
    #[inline(always)]
    fn launch(&mut self, link: usize, passage: Passage, next: Next, packet: &Packet) {
        let arrival = self.events.key(passage.arrival, passage.sent);
        let link = &mut self.links[link];
        let flight = link.line.push_place();
        flight.arrival = arrival;
        flight.packet = *packet;
        flight.packet.hop = next.hop;
        if next.marked {
            flight.packet.mark();
        }
        if link.line.len() == 1 {
            self.events.set(link.slot, arrival);
        }
    }
}

/// Assigns a slot on the event list to the head of each line that a packet may be on, then to the transmitters and timers
/// of links with an AQM; returns the event of each. All are in the order of the links: so of what two links send at
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
        if let Some(aqm_queue) = link.aqm_queue.as_deref_mut().filter(|aqm_queue| aqm_queue.ahead.is_none()) {
            (aqm_queue.ready_slot, aqm_queue.period_slot) = (slots.len(), slots.len() + 1);
            slots.extend([Event::Ready(i as u32), Event::Period(i as u32)]);
        }
    }
    slots
}
