//! The flows of stacks from outside, whose ends act at their own times and when a datagram comes.

use super::{Simulation, WindowSample};
use crate::engine::event::Event;
use crate::engine::order::Order;
use crate::measure::probe::Probe;
use crate::packet::{Header, Packet, PacketKind};
use crate::stack::{Broken, Logs};
use crate::traffic::source::{Connection, Departure, Source};
use aqm::unit::Time;
use scenario::model::Ecn;
use std::panic::resume_unwind;

/// Of a connection that has begun.
const GOES_ON: &str = "go on";

/// The most round trips that a sender measures by one datagram: far more than it has packets under way.
const MOST_ROUND_TRIPS: u32 = 1 << 20;

impl<P: Probe> Simulation<P> {
    /// Something may be due.
    #[cold]
    pub(super) fn on_stack_event<C: Order>(&mut self, clock: C, index: u32) {
        let now = self.now();
        let source = &mut self.endpoints.sources[index as usize];
        let (class, active) = (source.class, (source.since..source.stop).contains(&now));
        if let Some(connection) = source.connection_mut()
            && let Err(problem) = connection.on_event(now, active)
        {
            self.break_off(class, "begin", &problem);
        }
        self.drive(clock, index);
    }

    /// A datagram has come to one of the ends.
    #[cold]
    pub(super) fn on_stack_datagram<C: Order>(&mut self, clock: C, packet: &Packet) {
        let now = self.now();
        let is_data = packet.kind == PacketKind::Datagram;
        if let Some(connection) = self.endpoints.sources[packet.flow as usize].connection_mut() {
            connection.on_arrival(now, packet.number(), is_data, packet.codepoint());
        }
        self.drive(clock, packet.flow);
        for _ in 0..MOST_ROUND_TRIPS {
            let connection = self.endpoints.sources[packet.flow as usize].connection_mut();
            match connection.and_then(Connection::round_trip) {
                Some(took) => self.note_round_trip(packet, took),
                None => return,
            }
        }
        self.break_off(packet.class() as u16, GOES_ON, "it has always measured one more round trip");
    }

    /// Ends the run, because the stack of an entry cannot go on.
    fn break_off(&self, class: u16, act: &str, problem: &str) -> ! {
        let name = &self.scenario.traffic[usize::from(class)].name;
        // The caller reports it, so that no text of a panic comes before.
        resume_unwind(Box::new(Broken(format!("traffic.{name}: its stack cannot {act}: {problem}"))));
    }

    /// Ends a run in which a download can never be completed, because its ends wait for each other.
    pub(super) fn refuse_stuck_stacks(&mut self) {
        self.forget_contents();
        let stuck = |source: &mut Source| source.connection_mut().is_some_and(Connection::is_stuck);
        if let Some(i) = self.endpoints.sources.iter_mut().position(stuck) {
            let problem =
                "its ends ask for no time, no datagram is under way, and the download is not complete";
            self.break_off(self.endpoints.sources[i].class, GOES_ON, problem);
        }
    }

    /// Lost datagrams need no content any more.
    fn forget_contents(&mut self) {
        for (flow, number) in self.network.path_losses.contents.drain(..) {
            if let Some(connection) = self.endpoints.sources[flow as usize].connection_mut() {
                connection.forget(number);
            }
        }
    }

    /// Samples the windows of senders.
    pub(super) fn sample_stacks(&mut self, now: Time) {
        let sources = self.endpoints.sources.iter().enumerate();
        self.windows.extend(sources.filter_map(|(i, source)| {
            let connection = source.connection()?;
            let sender = connection.sender()?;
            let threshold = sender.threshold.filter(|&threshold| threshold < u64::MAX);
            Some(WindowSample {
                t: now.secs(),
                flow: i as u32,
                class: source.class,
                cwnd: connection.segments(sender.window),
                ssthresh: threshold.map_or(f64::INFINITY, |threshold| connection.segments(threshold)),
            })
        }));
    }

    /// What the ends of each connection have logged, with its traffic entry.
    pub fn qlogs(&self) -> Vec<(u16, Logs)> {
        let of = |source: &Source| {
            let class = source.class;
            source
                .connection()
                .into_iter()
                .flat_map(Connection::logs)
                .map(move |logs| (class, logs))
                .collect::<Vec<_>>()
        };
        self.endpoints.sources.iter().flat_map(of).collect()
    }

    /// Lets the ends act, puts their datagrams on the network, and the next time at which something is due on the event list.
    fn drive<C: Order>(&mut self, clock: C, index: u32) {
        let now = self.now();
        self.forget_contents();
        let Self { endpoints, network, .. } = self;
        let source = &mut endpoints.sources[index as usize];
        let (class, forward, stop) = (source.class, source.forward, source.stop);
        let (reverse, uses_ecn) = (source.reverse.expect("it answers"), source.ecn != Ecn::None);
        let Some(connection) = source.connection_mut() else { return };
        let mut send = |departure: Departure| {
            let Departure { is_data, number, size, ecn } = departure;
            let hop = if is_data { forward } else { reverse };
            let header = Header { flow: index, generation: 0, hop, class, size };
            let ecn = if uses_ecn { ecn } else { Ecn::None };
            network.send_now(clock, &Packet::content(now, header, is_data, ecn, number));
        };
        let polled = loop {
            match connection.poll(now, &mut send) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(problem) => break Err(problem),
            }
        };
        if let Err(problem) = polled {
            self.break_off(class, GOES_ON, &problem);
        }
        if let Some(next) = connection.next_event(stop) {
            network.events.push(next, Event::Datagram(index));
        }
        match connection.progress(now) {
            Ok((delivered, took)) => {
                source.on_arrival(delivered, false);
                if let Some(took) = took {
                    self.deliveries.on_completion(class, took);
                }
            }
            Err(problem) => self.break_off(class, GOES_ON, &problem),
        }
    }
}
