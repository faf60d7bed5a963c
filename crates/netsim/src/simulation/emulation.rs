//! A run whose packets come from outside: real ones, of which the network sees what its algorithms read.

use super::Simulation;
use super::account::Ends;
use crate::engine::clock::{Clock, ClockArithmetic as _, Double, Integer, SimSpan, SimTime};
use crate::engine::event::Event;
use crate::engine::order::Order;
use crate::measure::probe::{Checked, Probe};
use crate::network::{Lost, Wait};
use crate::packet::{Header, Packet, PacketKind};
use aqm::unit::{Span, Time};
use run::{Glance, Results};
use scenario::Scenario;
use scenario::model::Ecn;
use std::collections::HashMap;

/// A packet from outside.
#[derive(Clone, Copy, Debug)]
pub struct ExternalPacket {
    /// Its number, by which the caller knows it again.
    pub number: u32,
    /// The nodes where it enters the network and where it leaves it, by their numbers in the scenario.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// The traffic entry to which it belongs, by its number.
    pub class: u16,
    /// The number of its connection.
    pub flow: u32,
    /// Its kind.
    pub kind: PacketKind,
    /// Its size in bytes, as the links count it.
    pub size: u16,
    /// Its ECN field; CE is not offered.
    pub ecn: Ecn,
    /// Whether it is a SYN that asks for ECN, with ECE and CWR.
    pub asks_for_ecn: bool,
}

/// What became of a packet from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketFate {
    /// Its number.
    pub number: u32,
    /// When it reached its destination, or was lost.
    pub at: Time,
    /// How it was lost; `None` if it arrived.
    pub lost: Option<Lost>,
    /// Whether CE was set on its way, and arrived.
    pub marked: bool,
    /// Whether it is ECN-capable still.
    pub ect: bool,
    /// Whether a copy of it has still to arrive, or to be lost.
    pub again: bool,
}

/// The network of a scenario, with its links and queues, for packets from outside in place of its traffic.
///
/// Time is the caller's: packets are offered, and the network advanced, in the order of time. What happens at one
/// time has the same order as in a [`Simulation`].
#[derive(Debug)]
pub struct Emulation<P> {
    run: Simulation<Checked<P>>,
    /// The packets that were offered at times to come.
    offered: Vec<Packet>,
    /// The places there that are free.
    free: Vec<u32>,
    fates: Vec<PacketFate>,
    /// How many copies of a packet have no fate yet, if there are any.
    copies: HashMap<u32, u32>,
    /// When all links catch up next.
    reached: Time,
    /// For each link, the shortest time that a packet at its end still travels.
    onward: Vec<SimSpan>,
    /// The packets that enter later than the time reached: when, and the time before which they are not delivered.
    ahead: Vec<(Time, SimTime)>,
}

impl<P: Probe> Emulation<P> {
    /// The network of `scenario`, whose random numbers are those of the simulation with this seed.
    #[must_use]
    pub fn new(scenario: Scenario, seed: u64, probe: Option<P>) -> Self {
        Self::with_end(scenario, seed, probe, false)
    }

    /// The same with an end that can be moved, which takes more time.
    #[must_use]
    pub fn open(scenario: Scenario, seed: u64, probe: Option<P>) -> Self {
        Self::with_end(scenario, seed, probe, true)
    }

    fn with_end(scenario: Scenario, seed: u64, probe: Option<P>, open: bool) -> Self {
        let mut run = Simulation::without_traffic(scenario, seed, Checked(probe), open);
        (run.network.ledger.lost, run.network.ledger.copied) = (Some(Vec::new()), Some(Vec::new()));
        let onward = run.network.onward();
        let (offered, free, fates) = (Vec::new(), Vec::new(), Vec::new());
        let copies = HashMap::new();
        Self { run, offered, free, fates, copies, reached: Time::ZERO, onward, ahead: Vec::new() }
    }

    /// Leaves the decisions at the observed link to a queue outside, and only keeps account of it. The caller takes the
    /// packets for it from [`Emulation::handed_over`] after each advance, and reports when it [sends](Emulation::sent)
    /// and [drops](Emulation::dropped) them.
    ///
    /// # Panics
    /// If packets have been offered, or the link shares its medium.
    pub fn leave_observed(&mut self) {
        assert!(self.offered.is_empty(), "from the start");
        let observed = self.run.scenario.observed;
        let aqm_queue = self.run.network.links[observed].aqm_queue();
        assert!(aqm_queue.access.is_none(), "a queue outside has its link to itself");
        aqm_queue.outside = Some(Vec::new());
        self.onward = self.run.network.onward();
    }

    /// The packets that have come to the queue outside since the last call, by their numbers, when they came, and whether
    /// they were ECN-capable then.
    pub fn handed_over(&mut self) -> impl Iterator<Item = (u32, Time, bool)> {
        let observed = self.run.scenario.observed;
        self.run.network.links[observed].aqm_queue().outside.iter_mut().flat_map(|packets| packets.drain(..))
    }

    /// The queue outside begins to send a packet at `at`, not before the time reached; `marked` if it has set CE.
    ///
    /// # Panics
    /// If it was not handed over, or was sent or dropped before.
    pub fn sent(&mut self, at: Time, number: u32, marked: bool) {
        self.advance(at);
        self.run.network.sent_outside(self.run.scenario.observed, at, number, marked);
    }

    /// The queue outside drops a packet at `at`, not before the time reached; `full` if it had no room.
    ///
    /// # Panics
    /// If it was not handed over, or was sent or dropped before.
    pub fn dropped(&mut self, at: Time, number: u32, full: bool) {
        self.advance(at);
        self.run.network.dropped_outside(self.run.scenario.observed, at, number, full);
        self.note_lost();
    }

    /// The simulated time reached.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.run.now()
    }

    /// A packet enters the network at `at`, which is not in the past. Packets may be offered in any order. Returns false, and
    /// does nothing, if the scenario has no traffic, nor answers to any, from the packet's first node to its last.
    pub fn offer(&mut self, at: Time, packet: &ExternalPacket) -> bool {
        let ExternalPacket { number, from, to, class, flow, kind, size, ecn, asks_for_ecn } = *packet;
        let Some(hop) = self.run.network.path(from, to) else {
            return false;
        };
        let header = Header { flow, generation: 0, hop, class, size };
        let packet = Packet::external(at, header, (kind, asks_for_ecn), ecn, number);
        let at = self.run.network.hosts.release_time(at, &packet);
        let network = &self.run.network;
        let clock = network.events.clock;
        let delivery = clock.after(clock.sim_time(at), network.travel(hop, &self.onward));
        self.ahead.push((at, delivery));
        let place = self.free.pop().unwrap_or(self.offered.len() as u32);
        match self.offered.get_mut(place as usize) {
            Some(free) => *free = packet,
            None => self.offered.push(packet),
        }
        self.run.network.events.push(at, Event::Datagram(place));
        true
    }

    /// Advances up to and including `until`.
    pub fn advance(&mut self, until: Time) {
        let until = until.min(self.run.end());
        while self.reached < until {
            let next = Time::from_nanos(self.reached.nanos().saturating_add(self.run.stride));
            if until < next {
                break;
            }
            self.handle_all(next);
            self.reached = next;
            self.run.network.catch_up_all(next);
        }
        self.handle_all(until);
        self.run.network.watch.reach(until);
        self.ahead.retain(|(at, _)| *at > until);
    }

    /// A time before which no packet that was offered is delivered, if any is under way. Advancing until then can therefore
    /// tell the caller nothing new.
    #[must_use]
    pub fn next_delivery(&self) -> Option<Time> {
        let network = &self.run.network;
        let clock = network.events.clock;
        let visible = |(event, at): (Event, SimTime)| match event {
            Event::Arrival(link) => Some(clock.after(at, self.onward[link as usize])),
            Event::Ready(link) => {
                let sent = clock.after(at, network.links[link as usize].transmitter.delay);
                Some(clock.after(sent, self.onward[link as usize]))
            }
            // What it sends at the earliest, and what the other end does when it hears that.
            Event::Station(_) | Event::Medium(_) | Event::Cell(_) | Event::Upstream(_) => Some(at),
            _ => None,
        };
        let entering = self.ahead.iter().map(|(_, delivery)| *delivery);
        let earliest = network.events.pending().filter_map(visible).chain(entering).min();
        // On the double clock the nearest nanosecond may be a moment before: to advance until then would change nothing.
        let rounded_up = |at: SimTime| {
            let nearest = clock.time(at);
            if clock.sim_time(nearest) < at { nearest + Span::ns(1) } else { nearest }
        };
        earliest.map(rounded_up)
    }

    /// The fates that have been decided since the last call, in that order.
    pub fn fates(&mut self) -> impl Iterator<Item = PacketFate> {
        self.fates.drain(..)
    }

    /// Lists from now on how long packets wait.
    pub fn list_waits(&mut self) {
        self.run.network.ledger.waits.get_or_insert_default();
    }

    /// The waits that are over and were not taken yet, in the order in which they ended; none unless they are listed. They
    /// precede the packet's fate.
    pub fn waits(&mut self) -> impl Iterator<Item = Wait> {
        self.run.network.ledger.waits.iter_mut().flat_map(|waits| waits.drain(..))
    }

    /// Moves the end of a run that is open to `end`, which the run has not passed.
    ///
    /// # Panics
    /// If it has.
    pub fn end_at(&mut self, end: Time) {
        assert!(self.now() <= end && end <= self.run.end, "the end of a run under way");
        self.run.end = end;
        self.run.scenario.general.duration = end.since(Time::ZERO);
        self.run.network.end_at(end);
    }

    /// Runs to the end of the scenario, and returns the results. `ends` is what the endpoints outside know of each traffic
    /// entry.
    ///
    /// # Panics
    /// If there are not as many `ends` as entries.
    pub fn finish(&mut self, ends: Vec<Ends>) -> Results {
        assert_eq!(ends.len(), self.run.scenario.traffic.len(), "one for each traffic entry");
        for (i, (ends, class)) in ends.iter().zip(&mut self.run.endpoints.classes).enumerate() {
            class.started = ends.started;
            let delivery = &mut self.run.deliveries.classes[i];
            ends.sessions.iter().for_each(|&took| delivery.sessions.record(took));
            ends.completions.iter().for_each(|&took| delivery.completions.record(took));
            ends.round_trips.iter().for_each(|&took| delivery.round_trips.record(took));
        }
        self.run.ends = Some(ends);
        self.advance(self.run.end());
        self.run.network.catch_up_all(self.run.end());
        self.run.close();
        self.run.results()
    }

    /// The round-trip time in s of a flow of a traffic entry if nothing waits; `None` if nothing comes back.
    #[must_use]
    pub fn idle_round_trip(&self, class: usize) -> Option<f64> {
        self.run.idle(class)[1]
    }

    /// Whether the data of a traffic entry's first flow crosses the observed link.
    #[must_use]
    pub fn crosses_observed(&self, class: usize) -> bool {
        self.run.crosses(class, 0, self.run.scenario.observed)
    }

    /// The observed link at the time reached.
    #[must_use]
    pub fn glance(&self) -> Glance {
        self.run.glance()
    }

    /// The violations of conservation in the run, which must be over, one sentence each: see
    /// [`Simulation::violations`].
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.run.violations_of_links()
    }

    /// The number of traffic entries.
    #[must_use]
    pub const fn classes(&self) -> usize {
        self.run.scenario.traffic.len()
    }

    /// The end of the warm-up.
    #[must_use]
    pub fn warmup(&self) -> Time {
        Time::ZERO + self.run.scenario.general.warmup
    }

    /// The recorder.
    pub const fn probe_mut(&mut self) -> Option<&mut P> {
        self.run.probe_mut().0.as_mut()
    }

    fn handle_all(&mut self, until: Time) {
        match self.run.network.events.clock {
            Clock::Integer => self.handle_all_by(Integer, until),
            Clock::Double => self.handle_all_by(Double, until),
        }
    }

    fn handle_all_by<C: Order>(&mut self, clock: C, until: Time) {
        let last = clock.sim_time(until);
        while let Some(event) = self.run.network.events.next(clock, last) {
            match event {
                Event::Arrival(link) => {
                    let packet = self.run.network.take(link as usize);
                    if self.run.network.arrived(&packet) {
                        self.arrive(&packet);
                    } else {
                        let early = self.run.network.forward(clock, &packet);
                        debug_assert!(early.is_none(), "nothing is worked out ahead");
                    }
                }
                Event::Datagram(place) => {
                    let packet = self.offered[place as usize];
                    self.free.push(place);
                    self.run.network.send_now(clock, &packet);
                }
                other => self.run.handle(clock, other),
            }
            self.note_lost();
        }
    }

    fn arrive(&mut self, packet: &Packet) {
        let at = self.run.now();
        self.run.network.ledger.on_delivered(packet);
        if packet.is_data() {
            self.run.deliveries.on_packet(at, packet);
        }
        self.decide(packet, at, None);
    }

    /// A packet, or a copy of it, has arrived or was lost.
    fn decide(&mut self, packet: &Packet, at: Time, lost: Option<Lost>) {
        let number = packet.number();
        for copied in self.run.network.ledger.copied.iter_mut().flat_map(|copied| copied.drain(..)) {
            *self.copies.entry(copied).or_default() += 1;
        }
        let again = match self.copies.get_mut(&number) {
            None => false,
            Some(copies) => {
                *copies -= 1;
                if *copies == 0 {
                    self.copies.remove(&number);
                }
                true
            }
        };
        let (marked, ect) = (packet.is_marked(), packet.is_ect());
        self.fates.push(PacketFate { number, at, lost, marked, ect, again });
    }

    /// Notes the packets that were just lost.
    fn note_lost(&mut self) {
        let Some(lost) = self.run.network.ledger.lost.as_mut().filter(|lost| !lost.is_empty()) else {
            return;
        };
        let mut lost = std::mem::take(lost);
        lost.drain(..).for_each(|(packet, lost)| self.decide(&packet, lost.at, Some(lost)));
        // With the room that it has.
        self.run.network.ledger.lost = Some(lost);
    }
}
