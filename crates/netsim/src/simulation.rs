//! The run loop: takes the next event and handles it.

mod account;
mod any;
mod applications;
mod conservation;
mod control;
mod early;
mod emulation;
mod flow_log;
mod glance;
mod live;
mod paths;
mod present;
mod quality;
mod set_up;
mod stacks;
mod summary;
mod tap;
mod tfrc;

pub use account::{Account, Ends};
pub use any::{Run, RunOptions};
pub use control::{Agent, Control, Interval, Quantity};
pub use emulation::{Emulation, ExternalPacket, PacketFate};
pub use present::{SenderNow, WaitingPacket};

use crate::engine::clock::{Clock, Double, Integer};
use crate::engine::event::Event;
use crate::engine::order::{NEVER, Order, time_of};
use crate::flows::endpoints::Endpoints;
use crate::measure::delivery::Deliveries;
use crate::measure::flow_log::FlowLog;
use crate::measure::probe::Probe;
use crate::network::Network;
use crate::packet::{Header, Packet, PacketKind};
use crate::tcp::{Content, Outbox, Segment};
use aqm::unit::{Span, Time};
use live::Following;
use run::{Column, Stopwatch};
use scenario::Scenario;
use scenario::model::Profile;
use std::time::Duration;

/// One sample of one flow's congestion window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowSample {
    /// The time in s.
    pub t: f64,
    /// The flow's number among the TCP flows.
    pub flow: u32,
    /// The traffic entry that it belongs to.
    pub class: u16,
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Slow-start threshold in segments.
    pub ssthresh: f64,
}

impl WindowSample {
    /// The samples as a table of columns.
    #[must_use]
    pub fn columns(samples: &[Self]) -> Vec<Column> {
        let column = |name: &str, value: fn(&Self) -> f64| Column {
            name: name.to_owned(),
            values: samples.iter().map(value).collect(),
        };
        vec![
            column("t", |w| w.t),
            column("flow", |w| f64::from(w.flow)),
            column("class", |w| f64::from(w.class)),
            column("cwnd", |w| w.cwnd),
            column("ssthresh", |w| w.ssthresh),
        ]
    }
}

/// A run of a scenario: one seed, one thread, resumable at any time.
#[derive(Debug)]
pub struct Simulation<P> {
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
    pub(crate) network: Network<P>,
    pub(crate) endpoints: Endpoints,
    pub(crate) deliveries: Deliveries,
    pub(crate) end: Time,
    pub(crate) windows: Vec<WindowSample>,
    /// The flows, if they are recorded.
    pub(crate) flow_log: Option<Box<FlowLog>>,
    pub(crate) events: u64,
    pub(crate) cpu: Duration,
    /// The time, in nanoseconds, after which all links catch up.
    stride: u64,
    finished: bool,
    /// What it knows beside its scenario, if it can follow another.
    following: Option<Following>,
    /// What endpoints outside know of each traffic entry, if the packets come from there.
    ends: Option<Vec<Ends>>,
}

/// Puts a sender's segments on the network.
pub(crate) struct NetworkOutbox<'a, P, C> {
    network: &'a mut Network<P>,
    clock: C,
    /// The header of a packet without its size.
    header: Header,
    profile: &'a Profile,
}

impl<P: Probe, C: Order> Outbox for NetworkOutbox<'_, P, C> {
    #[inline]
    fn send(&mut self, segment: Segment) {
        let size = match segment.content {
            Content::Data => self.profile.size,
            Content::Syn => self.profile.syn_size(),
            Content::Fin | Content::Ack => self.profile.header,
        } as u16;
        let packet = Packet::data(&segment, Header { size, ..self.header });
        self.network.send_now(self.clock, &packet);
    }
}

impl<P: Probe> Simulation<P> {
    /// The simulated time reached.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.network.events.now()
    }

    /// The end of the run.
    #[must_use]
    pub const fn end(&self) -> Time {
        self.end
    }

    /// The recorder.
    pub const fn probe(&self) -> &P {
        &self.network.probe
    }

    /// The recorder, mutable so that it can be finished.
    pub const fn probe_mut(&mut self) -> &mut P {
        &mut self.network.probe
    }

    /// The sampled congestion windows of the persistent flows.
    #[must_use]
    pub fn windows(&self) -> &[WindowSample] {
        &self.windows
    }

    /// Whether the watch has stopped the run, which then goes no further.
    #[must_use]
    pub const fn has_stopped(&self) -> bool {
        self.network.watch.has_stopped()
    }

    /// Whether the run is over.
    #[must_use]
    pub const fn finished(&self) -> bool {
        self.finished
    }

    /// Runs up to and including `until`, at most to the end of the scenario, unless the watch stops it.
    pub fn advance(&mut self, until: Time) {
        let started = Stopwatch::start();
        let until = until.min(self.end);
        let mut reached = self.now();
        while reached < until && !self.has_stopped() {
            reached = until.min(Time::from_nanos(reached.nanos().saturating_add(self.stride)));
            match self.network.events.clock {
                Clock::Integer => self.handle_all(Integer, reached),
                Clock::Double => self.handle_all(Double, reached),
            }
            self.network.watch.reach(reached);
            self.network.catch_up_all(reached);
        }
        if until == self.end && !self.finished && !self.has_stopped() {
            self.refuse_stuck_stacks();
            self.close();
            if cfg!(debug_assertions) {
                let found = self.violations();
                self.finished = found.is_empty();
                assert!(self.finished, "seed {}: {}", self.seed, found.join("; "));
            }
        }
        self.events = self.network.watch.events();
        self.cpu += started.elapsed();
    }

    /// The run is over.
    fn close(&mut self) {
        self.finished = true;
        let end = self.end;
        for aqm_queue in self.network.aqm_queues() {
            aqm_queue.note_length(end);
        }
    }

    /// Handles the events up to and including `until`, unless the watch stops the run.
    pub(crate) fn handle_all<C: Order>(&mut self, clock: C, until: Time) {
        let last = clock.sim_time(until);
        while let Some(event) = self.network.events.next(clock, last) {
            self.handle(clock, event);
            self.deliver_waiting(clock);
            if self.network.watch.counts() && !self.asks() {
                return;
            }
        }
    }

    #[cold]
    fn asks(&mut self) -> bool {
        let now = self.now();
        self.network.watch.reach(now);
        self.network.watch.ask()
    }

    // Inlined, which the compiler would not do by itself, because it is called for every event.
    #[inline(always)]
    fn handle<C: Order>(&mut self, clock: C, event: Event) {
        match event {
            Event::Arrival(link) => {
                let packet = self.network.take(link as usize);
                if self.network.arrived(&packet) {
                    self.deliver(clock, &packet);
                } else {
                    // It may be delivered at once, or at its next arrival. With thousands of flows, what belongs to one is
                    // not in the cache.
                    self.endpoints.fetch(&packet);
                    self.deliveries.fetch(&packet);
                    if let Some(early) = self.network.forward(clock, &packet) {
                        self.deliver_early(clock, early, &packet);
                    }
                }
            }
            Event::Ready(link) => self.network.transmit(clock, link as usize),
            Event::Station(link) => self.network.step_station(clock, link as usize),
            Event::Medium(medium) => self.network.step_medium(clock, medium as usize),
            Event::Cell(cell) => self.network.step_cell(clock, cell as usize),
            Event::Upstream(cable) => self.network.step_upstream(clock, cable as usize),
            Event::Period(link) => self.network.close_period(clock, link as usize),
            Event::Retransmit(flow) => self.on_retransmit(clock, flow),
            Event::Pace(flow) => self.on_pace(clock, flow),
            Event::DelayedAck(flow) => self.on_delayed_ack(clock, flow),
            Event::Start(flow) => self.start(clock, flow),
            Event::Stop(flow) => self.stop(flow),
            Event::Short(entry) => self.on_arrival(clock, entry),
            Event::Session(client) => self.begin_session(clock, client),
            Event::Datagram(source) => self.send_datagram(clock, source),
            Event::Release(place) => {
                let packet = self.network.hosts.release(place);
                if let Some(early) = self.network.forward(clock, &packet) {
                    self.deliver_early(clock, early, &packet);
                }
            }
            Event::Change(link) => self.change_rate(link),
            Event::Warmup => self.end_warmup(),
            Event::Sample => self.sample_windows(),
        }
    }

    /// A packet has reached its destination.
    #[inline]
    fn deliver<C: Order>(&mut self, clock: C, packet: &Packet) {
        if P::CHECKS {
            self.network.ledger.on_delivered(packet);
        }
        if packet.is_data() {
            self.deliveries.on_packet(self.network.events.now(), packet);
            if packet.is_marked() && self.flow_log.is_some() {
                self.log_mark(packet);
            }
        }
        match packet.kind {
            PacketKind::Data => {
                let now = self.now();
                let flow = &self.endpoints.flows[packet.flow as usize];
                if flow.generation != packet.generation {
                    return; // the connection is over
                }
                let listens = flow.listens;
                let (segment, ce) = packet.segment();
                if segment.content.is_syn() {
                    self.endpoints.agree(packet.flow, &segment);
                }
                let flow = &self.endpoints.flows[packet.flow as usize];
                let profile = &self.endpoints.profiles[usize::from(flow.profile)];
                let header = flow.header(packet.flow, flow.reverse, profile.ack_size());
                let receiver = &mut self.endpoints.receivers[packet.flow as usize];
                receiver.on_segment(now, profile, &segment, ce, |ack| {
                    self.network.send_now(clock, &Packet::ack(&ack, header));
                });
                self.arm_ack_timer(packet.flow);
                if listens {
                    self.on_delivery(clock, packet.flow);
                }
            }
            PacketKind::Ack => {
                if self.endpoints.flows[packet.flow as usize].generation != packet.generation {
                    return;
                }
                let ack = packet.acknowledgement();
                let before = self.endpoints.senders[packet.flow as usize].una();
                self.with_sender(clock, packet.flow, |sender, now, profile, out| {
                    sender.on_ack(now, profile, &ack, out)
                });
                // An ACK of nothing new repeats an old stamp (RFC 7323, section 4).
                if self.endpoints.senders[packet.flow as usize].una() > before {
                    self.on_round_trip(packet);
                }
                if self.endpoints.senders[packet.flow as usize].is_through() {
                    self.on_through(packet.flow);
                }
            }
            PacketKind::Datagram => {
                let source = &mut self.endpoints.sources[packet.flow as usize];
                if let Some(reverse) = source.reverse {
                    if source.has_ends() {
                        return self.on_datagram_of_ends(clock, packet);
                    }
                    source.on_arrival(packet.payload(), false);
                    return self.network.send_now(clock, &packet.reply(reverse));
                }
                source.on_arrival(packet.payload(), false);
            }
            PacketKind::Reply => self.on_round_trip(packet),
            PacketKind::Report => self.on_report(clock, packet),
        }
    }

    /// An ACK or an answer has come back to the sender.
    #[inline]
    fn on_round_trip(&mut self, packet: &Packet) {
        let now = self.now();
        self.note_round_trip(packet, now - packet.stamp());
    }

    /// A round trip of the flow of this packet took so long.
    #[inline]
    fn note_round_trip(&mut self, packet: &Packet, took: Span) {
        let now = self.now();
        self.deliveries.on_round_trip(now, packet.class(), took);
        self.network.probe.on_round_trip(now, packet.class(), took);
        if self.flow_log.is_some() {
            self.log_round_trip(packet, took);
        }
    }

    /// Lets a sender act, puts its segments on the network and its deadline on the event list.
    #[inline]
    pub(crate) fn with_sender<C: Order>(
        &mut self,
        clock: C,
        index: u32,
        act: impl FnOnce(&mut crate::tcp::Sender, Time, &Profile, &mut NetworkOutbox<'_, P, C>),
    ) {
        let now = self.network.events.now();
        let flow = &mut self.endpoints.flows[index as usize];
        let profile = &self.endpoints.profiles[usize::from(flow.profile)];
        let sender = &mut self.endpoints.senders[index as usize];
        let header = flow.header(index, flow.forward, 0);
        let [before, _] = sender.deadlines();
        let mut outbox = NetworkOutbox { network: &mut self.network, clock, header, profile };
        act(sender, now, profile, &mut outbox);
        let [deadline, pace] = sender.deadlines();
        let events = &mut self.network.events;
        if deadline != before {
            flow.due = events.due(clock, deadline);
        }
        // Only an earlier deadline needs an event of its own; a later one is looked at when the pending event goes off.
        if time_of(flow.due) < time_of(flow.timer) {
            flow.timer = events.push_due(flow.due, Event::Retransmit(index));
        }
        if pace < flow.pace {
            flow.pace = pace;
            events.push(pace, Event::Pace(index));
        }
    }

    fn on_retransmit<C: Order>(&mut self, clock: C, index: u32) {
        let now = self.network.events.current();
        let flow = &mut self.endpoints.flows[index as usize];
        if flow.timer != now {
            return; // an earlier one took its place
        }
        flow.timer = NEVER;
        if flow.due > now {
            if flow.due != NEVER {
                flow.timer = self.network.events.push_due(flow.due, Event::Retransmit(index));
            }
            return;
        }
        self.with_sender(clock, index, |sender, now, profile, out| {
            // To the nanosecond, a floating-point clock may be a moment before it.
            let [deadline, _] = sender.deadlines();
            sender.on_timer(now.max(deadline), profile, out);
        });
    }

    fn on_pace<C: Order>(&mut self, clock: C, index: u32) {
        let now = self.now();
        let flow = &mut self.endpoints.flows[index as usize];
        if flow.pace > now {
            return; // an earlier one took its place
        }
        flow.pace = Time::MAX;
        // A timer that goes off at this nanosecond looks at the pace as well. On the double clock its event may come after
        // all others of the nanosecond, so that asking for the pace again until then would never end.
        if self.endpoints.senders[index as usize].deadlines()[0] <= now {
            return;
        }
        self.with_sender(clock, index, |sender, now, profile, out| {
            let [_, pace] = sender.deadlines();
            if pace <= now {
                sender.on_timer(now, profile, out);
            }
        });
    }

    fn on_delayed_ack<C: Order>(&mut self, clock: C, index: u32) {
        let now = self.now();
        let flow = &mut self.endpoints.flows[index as usize];
        if flow.ack_timer != now {
            return;
        }
        flow.ack_timer = Time::MAX;
        let receiver = &mut self.endpoints.receivers[index as usize];
        if receiver.deadline() <= now {
            let profile = &self.endpoints.profiles[usize::from(flow.profile)];
            let header = flow.header(index, flow.reverse, profile.ack_size());
            receiver.on_timer(now, profile, |ack| {
                self.network.send_now(clock, &Packet::ack(&ack, header));
            });
        }
        self.arm_ack_timer(index);
        let flow = &self.endpoints.flows[index as usize];
        // The timer may have taken in data that waited.
        if flow.listens && self.endpoints.profiles[usize::from(flow.profile)].tcp.receive_offload > Span::ZERO
        {
            self.on_delivery(clock, index);
        }
    }

    #[inline]
    fn arm_ack_timer(&mut self, index: u32) {
        let deadline = self.endpoints.receivers[index as usize].deadline();
        let flow = &mut self.endpoints.flows[index as usize];
        if deadline < flow.ack_timer {
            flow.ack_timer = deadline;
            self.network.events.push(deadline, Event::DelayedAck(index));
        }
    }

    fn send_datagram<C: Order>(&mut self, clock: C, index: u32) {
        let now = self.now();
        let source = &mut self.endpoints.sources[index as usize];
        if source.has_ends() {
            return self.on_event_of_ends(clock, index);
        }
        if now >= source.stop {
            return;
        }
        // Packets without a gap, such as those of a frame, are handed over together.
        loop {
            let sent = source.send();
            let (hop, class, size) = (source.forward, source.class, sent.size);
            let packet =
                Packet::datagram(now, Header { flow: index, generation: 0, hop, class, size }, source.ecn);
            match sent.gap {
                Some(Span::ZERO) => {
                    self.network.send_now(clock, &packet);
                    if !self.network.watch.goes_on(1) {
                        return;
                    }
                }
                Some(gap) => {
                    self.network.events.push(now + gap, Event::Datagram(index));
                    return self.network.send_now(clock, &packet);
                }
                None => return self.network.send_now(clock, &packet),
            }
        }
    }

    /// Sets the rate of a link by its schedule, and schedules the next change.
    fn change_rate(&mut self, link: u32) {
        let declared = &self.scenario.links[link as usize];
        let now = Span::ns(self.now().nanos());
        self.network.links[link as usize].change(self.network.events.now(), declared.rate_at(now));
        if let Some(next) = declared.next_change(now) {
            self.network.events.push_first(Time::ZERO + next, Event::Change(link));
        }
    }

    /// Ends the warm-up: the measurement window begins.
    fn end_warmup(&mut self) {
        let now = self.now();
        for link in &mut self.network.links {
            if let Some(aqm_queue) =
                link.aqm_queue.as_deref_mut().filter(|aqm_queue| aqm_queue.ahead.is_none())
            {
                aqm_queue.end_warmup(now, &link.transmitter);
            }
        }
        self.network.watch.goes_on(self.endpoints.flows.len());
        self.endpoints.note_warmup(|path| self.network.ends_early(path));
    }

    fn sample_windows(&mut self) {
        let now = self.now();
        self.network.watch.goes_on(self.endpoints.persistent / 16);
        self.network.watch.records();
        let endpoints = &self.endpoints;
        self.windows.extend(endpoints.lasting().map(|(slot, ..)| WindowSample {
            t: now.secs(),
            flow: slot as u32,
            class: endpoints.flows[slot].class,
            cwnd: endpoints.senders[slot].cwnd(),
            ssthresh: endpoints.senders[slot].ssthresh(),
        }));
        self.sample_stacks(now);
        if let Some(step) = self.scenario.record.cwnd {
            self.network.events.push(now + step, Event::Sample);
        }
    }
}
