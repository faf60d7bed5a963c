//! The links, and the travel of packets over them.

mod aqm_link;
mod cable;
mod cell;
mod gated;
mod live;
mod shared;
mod wandering;
mod wifi;

use crate::engine::clock::{Clock, ClockArithmetic as _, Double, Integer, SimSpan, SimTime};
use crate::engine::event::{Event, Events};
use crate::engine::order::{Key, NEVER, Order};
use crate::measure::path_losses::PathLosses;
use crate::measure::probe::Probe;
use crate::network::access::Access;
use crate::network::ahead::{self, Due, Early, Lookahead, Plan};
use crate::network::aqm_queue::AqmQueue;
use crate::network::cell::Cell;
use crate::network::fate::{Cause, Lost};
use crate::network::gate::AtGate;
use crate::network::hosts::Hosts;
use crate::network::ledger::Ledger;
use crate::network::link::{Flight, Link, Passage};
use crate::network::medium::Medium;
use crate::network::route::{Hop, Routes, Then};
use crate::network::upstream::Upstream;
use crate::packet::Packet;
use aqm::Labels;
use aqm::queue::Frame as _;
use aqm::unit::{Rate, Span, Time};
use run::Watch;
use scenario::Scenario;
use scenario::model::Phy;
use std::collections::HashMap;

/// The next hop of a packet on its path, and whether the packet was marked since it was last put down, that is, written to
/// memory: while links pass it on at once, only these two change.
#[derive(Clone, Copy)]
struct Next {
    hop: u32,
    marked: bool,
}

/// The link that sends a packet, if it is not a host, and the time from which it is under way for the integer clock: until
/// a queue with an AQM takes it in.
#[derive(Clone, Copy)]
struct Origin {
    link: Option<usize>,
    since: SimTime,
}

/// The links, the routes and the event list.
#[derive(Debug)]
pub(crate) struct Network<P> {
    pub(crate) events: Events,
    pub(crate) links: Vec<Link>,
    hops: Vec<Hop>,
    /// The wireless LANs.
    pub(crate) media: Vec<Medium>,
    /// The cells.
    pub(crate) cells: Vec<Cell>,
    /// The head ends of cable networks.
    pub(crate) upstreams: Vec<Upstream>,
    /// The first hop of each path, by the nodes that it joins.
    starts: HashMap<(usize, usize), u32>,
    pub(crate) probe: P,
    /// Packets that may be delivered before their time (see [`crate::network::ahead`]), but could not be at once.
    pub(crate) early: Vec<(Early, Packet)>,
    /// The end of the warm-up.
    pub(crate) warmup: SimTime,
    /// The end of the run; later events do not happen.
    pub(crate) end: SimTime,
    /// Kept if the probe requires checks.
    pub(crate) ledger: Ledger,
    pub(crate) path_losses: PathLosses,
    pub(crate) hosts: Hosts,
    pub(crate) watch: Watch,
}

impl<P: Probe> Network<P> {
    pub(crate) fn new(
        scenario: &Scenario,
        routes: Routes<'_>,
        seed: u64,
        probe: P,
        lookahead: Lookahead,
        watch: Watch,
    ) -> Self {
        let [warmup, end] = [scenario.general.warmup, scenario.general.duration]
            .map(|at| scenario.clock.sim_time(Time::ZERO + at));
        let mut number = 0;
        let mut links: Vec<Link> = Vec::with_capacity(scenario.links.len());
        for (i, link) in scenario.links.iter().enumerate() {
            let delay = crate::network::link::delay(link, seed);
            let aqm_queue = link.aqm.as_ref().map(|aqm| {
                number += 1;
                let observed = i == scenario.observed;
                let mut aqm_queue = AqmQueue::new(link, aqm, scenario, seed, number - 1, delay, observed);
                // A live run may get an algorithm that reads them.
                if aqm_queue.queue.algorithm().reads_labels() || lookahead == Lookahead::None {
                    let dscps = scenario.traffic.iter().map(|traffic| traffic.dscp.code()).collect();
                    aqm_queue.queue.set_labels(Labels { hosts: routes.hosts(), dscps });
                }
                if lookahead == Lookahead::Full
                    && ahead::may_work_ahead(link, aqm_queue.queue.algorithm().is_final())
                {
                    aqm_queue.ahead = Some(due(scenario, aqm_queue.queue.period()));
                }
                Box::new(aqm_queue)
            });
            links.push(Link::new(scenario.clock, link, delay, seed, warmup..end, aqm_queue));
        }
        let works_ahead =
            |link: &Link| link.aqm_queue.as_ref().is_some_and(|aqm_queue| aqm_queue.ahead.is_some());
        let feeders = routes.feeders();
        let plan = match lookahead {
            Lookahead::Full => {
                Plan::new(scenario, links.iter().map(works_ahead).collect(), routes.paths(), &feeders)
            }
            Lookahead::PlainLinks => Plan::over_plain_links(scenario, &feeders),
            Lookahead::None => Plan::none(scenario),
        };
        let starts = routes.starts();
        let hops = routes.into_hops(&plan);
        let mut media = crate::network::medium::all(scenario, seed);
        let mut cells = crate::network::cell::all(scenario);
        let mut upstreams = crate::network::upstream::all(scenario, seed);
        let slots = assign_slots(&mut links, (&mut media, &mut cells, &mut upstreams), &hops, lookahead);
        let events = Events::new(scenario.clock, slots);
        let (early, ledger) = (Vec::new(), Ledger::default());
        let hosts = Hosts::new(&scenario.traffic, seed);
        let path_losses = PathLosses::new(scenario.traffic.len(), Time::ZERO + scenario.general.warmup);
        let mut network = Self {
            events,
            links,
            hops,
            media,
            cells,
            upstreams,
            starts,
            probe,
            early,
            warmup,
            end,
            ledger,
            path_losses,
            hosts,
            watch,
        };
        for link in 0..network.links.len() {
            match scenario.clock {
                Clock::Integer => network.schedule_period(Integer, link),
                Clock::Double => network.schedule_period(Double, link),
            }
        }
        network
    }

    /// The first hop of the path between two nodes, if any traffic takes it.
    pub(crate) fn path(&self, from: usize, to: usize) -> Option<u32> {
        self.starts.get(&(from, to)).copied()
    }

    /// Moves the end of a run in which nothing is computed ahead of time.
    pub(crate) fn end_at(&mut self, end: Time) {
        self.end = self.events.clock.sim_time(end);
        self.links.iter_mut().for_each(|link| link.end_at(self.end));
    }

    /// For each link, the shortest time that a packet at its end still travels: 0 where a path ends.
    pub(crate) fn onward(&self) -> Vec<SimSpan> {
        let nothing = self.events.clock.sim_span(Span::ZERO);
        let mut onward = vec![None; self.links.len()];
        for path in self.hops.split(|hop| hop.is_end()) {
            let mut rest = nothing;
            for hop in path.iter().rev() {
                let least: &mut Option<SimSpan> = &mut onward[hop.link()];
                *least = Some(least.map_or(rest, |least| least.min(rest)));
                rest = self.through(hop.link(), rest);
            }
        }
        onward.into_iter().map(|least| least.unwrap_or(nothing)).collect()
    }

    /// The shortest time that a packet before a link still travels, if it is `onward` at the link's end.
    fn through(&self, link: usize, onward: SimSpan) -> SimSpan {
        let Link { transmitter, aqm_queue, .. } = &self.links[link];
        // A queue outside must learn of a packet as soon as it comes there.
        let leaves = aqm_queue.as_ref().is_some_and(|aqm_queue| aqm_queue.outside.is_some());
        if leaves {
            self.events.clock.sim_span(Span::ZERO)
        } else {
            self.events.clock.sum(onward, transmitter.delay)
        }
    }

    /// The shortest time that a packet travels from this hop on, given [`Self::onward`].
    pub(crate) fn travel(&self, hop: u32, onward: &[SimSpan]) -> SimSpan {
        let hop = self.hops[hop as usize];
        if hop.is_end() {
            self.events.clock.sim_span(Span::ZERO)
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
        let time = |i: usize| {
            let link = &self.links[i];
            let access = link.aqm_queue.as_ref().and_then(|aqm_queue| aqm_queue.access.as_deref());
            link.delay_at(Time::ZERO).secs()
                + match access {
                    Some(Access::Driver(_)) => 0.0,
                    Some(Access::Cell(bearer)) => {
                        self.cells[bearer.place.cell].rules.idle_time(bearer.place.way, size as u32, rates(i))
                    }
                    Some(Access::Modem(modem)) => {
                        let counted = link.transmitter.length(size as u32);
                        self.upstreams[modem.place.cable].rules.idle_time(counted)
                    }
                    Some(Access::Wifi(radio)) => radio.phy.transmission(Phy::frame(size as u32)).secs(),
                    _ => 8.0 * f64::from(link.transmitter.length(size as u32)) / rates(i).bits(),
                }
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
        let path = self.hops[hop as usize..].iter().take_while(|hop| !hop.is_end());
        path.last().is_some_and(|last| last.then() == Then::Early)
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
    #[inline(always)]
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

    /// Hands a packet to the first link of its path, at the present or ahead of it.
    #[inline]
    pub(crate) fn send<C: Order>(&mut self, clock: C, at: C::EventTime, packet: &Packet) {
        if P::CHECKS {
            self.ledger.on_sent(packet);
        }
        let from = Origin { link: None, since: clock.at(at) };
        // The case of most hosts comes first: the packet is written where it waits, and nowhere else.
        let hop = self.hops[packet.hop as usize];
        if hop.is_simple_then_waits() {
            let i = hop.link();
            if P::CHECKS {
                self.ledger.on_entry(i);
            }
            if let Some(passage) = self.accept(clock, i, at, packet) {
                let next = Next { hop: packet.hop + 1, marked: false };
                self.launch(clock, i, from.since, passage, next, packet);
            }
        } else if let Some(early) = self.enter(clock, at, from, packet.hop, packet) {
            self.early.push((early, *packet));
        }
    }

    /// Hands a packet to the first link of its path, at the present.
    #[inline]
    pub(crate) fn send_now<C: Order>(&mut self, clock: C, packet: &Packet) {
        self.send(clock, self.events.event_time(clock), packet);
    }

    /// Hands a packet to the next link of its path, at the present.
    #[inline]
    pub(crate) fn forward<C: Order>(&mut self, clock: C, packet: &Packet) -> Option<Early> {
        let from = Origin { link: None, since: self.events.sim_now() };
        self.enter(clock, self.events.event_time(clock), from, packet.hop, packet)
    }

    /// A packet from a link or a host comes to the link of hop number `next` of its path, at the present or ahead of
    /// it: it enters the link, and those after it as far as they take packets over. Returns whether the packet may be
    /// delivered before its time.
    fn enter<C: Order>(
        &mut self,
        clock: C,
        mut coming: C::EventTime,
        Origin { link: mut from, mut since }: Origin,
        mut next: u32,
        packet: &Packet,
    ) -> Option<Early> {
        let mut marked = false;
        let mut hop = self.hops[next as usize];
        loop {
            let i = hop.link();
            next += 1;
            if !hop.is_simple() && clock.at(coming) > self.end {
                self.note_end(from, packet);
                return None;
            }
            if P::CHECKS && !hop.is_end() {
                from.iter().for_each(|&from| self.ledger.on_exit(from));
                self.ledger.on_entry(i);
                from = Some(i);
            }
            let passage;
            if !hop.is_simple() {
                if hop.is_gated() {
                    // This is asked here, where few links come. It works because the END before a path has every flag set.
                    if hop.is_end() {
                        self.hold(packet);
                        return None;
                    }
                    match self.pass_gate(i, clock.at(coming), packet) {
                        AtGate::Unchanged => {}
                        AtGate::Shared => {
                            self.enqueue_shared(clock, i, packet.at_hop(next, marked));
                            return None;
                        }
                        AtGate::Cleared => {
                            self.enter_cleared(clock, coming, since, (hop, next), &packet.cleared());
                            return None;
                        }
                        AtGate::Lost(_) => return None,
                    }
                }
                if hop.works_ahead() {
                    let journey = self.enqueue_ahead(clock, i, coming, &packet.at_hop(next, false))?;
                    passage = journey.passage;
                    since = clock.at(passage.start);
                    marked |= journey.marked;
                } else if hop.has_aqm() {
                    self.enqueue(clock, i, packet.at_hop(next, marked));
                    return None;
                } else {
                    passage = self.accept(clock, i, coming, packet)?;
                }
            } else {
                passage = self.accept(clock, i, coming, packet)?;
            }
            match hop.then() {
                Then::Early => {
                    self.note_early(i, passage.arrival.0, packet);
                    let arrival = clock.key(passage.end(clock));
                    return Some(Early { arrival, marked });
                }
                Then::Waits => {
                    self.launch(clock, i, since, passage, Next { hop: next, marked }, packet);
                    return None;
                }
                Then::Apart => {
                    self.wander(clock, i, since, passage, Next { hop: next, marked }, packet);
                    return None;
                }
                Then::GoesOn => {
                    coming = passage.end(clock);
                    hop = self.hops[next as usize];
                }
            }
        }
    }

    /// A packet waits in the host that sends it.
    #[cold]
    fn hold(&mut self, packet: &Packet) {
        let at = self.hosts.release_time(self.events.now(), packet);
        self.events.push(at, Event::Release(self.hosts.hold(packet)));
    }

    /// A plain link accepts a packet, or drops it.
    #[inline(always)]
    fn accept<C: Order>(
        &mut self,
        clock: C,
        i: usize,
        coming: C::EventTime,
        packet: &Packet,
    ) -> Option<Passage<C::EventTime>> {
        let passage = self.links[i].accept(clock, coming, packet.size);
        if passage.is_none() {
            self.refuse(i, clock.at(coming), packet);
        }
        passage
    }

    /// A plain link has no room for a packet that comes at `at`.
    #[cold]
    fn refuse(&mut self, i: usize, at: SimTime, packet: &Packet) {
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
    fn note_early(&mut self, i: usize, at: SimTime, packet: &Packet) {
        if P::CHECKS {
            match at > self.end {
                true => self.ledger.on_end(i, packet),
                false => self.ledger.on_exit(i),
            }
        }
    }

    /// Puts a packet on a link's line, which on the integer clock counts as under way from `since` on.
    #[inline(always)]
    fn launch<C: Order>(
        &mut self,
        clock: C,
        link: usize,
        since: SimTime,
        passage: Passage<C::EventTime>,
        next: Next,
        packet: &Packet,
    ) {
        let (at, rank) = passage.arrival;
        let arrival = self.events.arrival_key(clock, since, passage.start, rank, at);
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

/// The first work of a queue that works ahead, whose algorithm has this period.
fn due(scenario: &Scenario, period: Option<Span>) -> Due {
    fn first<C: Order>(clock: C, period: Span) -> Key {
        let elapsed = clock.sim_span(period);
        clock.period_key(
            clock.event_time(0),
            clock.elapsed_rank(elapsed),
            clock.after(SimTime::ZERO, elapsed),
        )
    }
    let warmup = Time::ZERO + scenario.general.warmup;
    match scenario.clock {
        Clock::Integer => Due::new(period.map(|period| first(Integer, period)), Integer.warmup_key(warmup)),
        Clock::Double => Due::new(period.map(|period| first(Double, period)), Double.warmup_key(warmup)),
    }
}

/// Assigns a slot on the event list to the head of each line that a packet may be on, then to the transmitters and timers
/// of links with an AQM; returns the event of each. A live run may put packets on any line. All are in the order of the
/// links, so that of what two links send at one time, the first link's comes first, whether they work ahead or not.
fn assign_slots(
    links: &mut [Link],
    (media, cells, upstreams): (&mut [Medium], &mut [Cell], &mut [Upstream]),
    hops: &[Hop],
    lookahead: Lookahead,
) -> Vec<Event> {
    let mut has_line = vec![lookahead == Lookahead::None; links.len()];
    for hop in hops.iter().filter(|hop| !hop.is_end()) {
        has_line[hop.link()] |= matches!(hop.then(), Then::Waits | Then::Apart);
    }
    let mut slots = Vec::new();
    for (i, link) in links.iter_mut().enumerate().filter(|&(i, _)| has_line[i]) {
        link.slot = slots.len();
        slots.push(Event::Arrival(i as u32));
    }
    for (i, link) in links.iter_mut().enumerate() {
        if let Some(aqm_queue) = link.aqm_queue.as_deref_mut().filter(|aqm_queue| aqm_queue.ahead.is_none()) {
            (aqm_queue.ready_slot, aqm_queue.period_slot) = (slots.len(), slots.len() + 1);
            let ready = if aqm_queue.access.is_some() { Event::Station } else { Event::Ready };
            slots.extend([ready(i as u32), Event::Period(i as u32)]);
        }
    }
    for (i, medium) in media.iter_mut().enumerate() {
        medium.slot = slots.len();
        slots.push(Event::Medium(i as u32));
    }
    for (i, cell) in cells.iter_mut().enumerate() {
        cell.event = slots.len();
        slots.push(Event::Cell(i as u32));
    }
    for (i, upstream) in upstreams.iter_mut().enumerate() {
        upstream.event = slots.len();
        slots.push(Event::Upstream(i as u32));
    }
    slots
}
