//! The set-up of a run.

use super::{Following, Simulation};
use crate::engine::event::{Event, Events};
use crate::flows::endpoints::{Endpoints, RunParameters};
use crate::measure::delivery::Deliveries;
use crate::measure::probe::Probe;
use crate::network::Network;
use crate::network::ahead::Lookahead;
use crate::network::handover;
use crate::network::route::Routes;
use crate::traffic::source::{Connection, Source};
use aqm::unit::{Span, Time};
use run::{Stopwatch, Watch};
use scenario::Scenario;
use scenario::model::{TrafficKind, Udp};

/// The reason why a set-up without a watch cannot fail.
const UNSTOPPED: &str = "nobody stops it";

impl<P: Probe> Simulation<P> {
    /// Sets up the network and schedules the traffic.
    #[must_use]
    pub fn new(scenario: Scenario, seed: u64, probe: P) -> Self {
        Self::watched(scenario, seed, probe, Watch::default()).expect(UNSTOPPED)
    }

    /// The same with a watch; `None` if it stops the set-up.
    #[must_use]
    pub fn watched(scenario: Scenario, seed: u64, probe: P, watch: Watch) -> Option<Self> {
        Self::set_up(scenario, seed, probe, Mode::Ahead, watch)
    }

    /// The same with an event for every packet that comes to a link with an AQM, leaves it or reaches a host, where
    /// [`Simulation::new`] works ahead: slower, for comparing the results of both, and for looking at a queue in the middle
    /// of a run.
    #[must_use]
    pub fn step_by_step(scenario: Scenario, seed: u64, probe: P) -> Self {
        Self::set_up(scenario, seed, probe, Mode::StepByStep, Watch::default()).expect(UNSTOPPED)
    }

    /// A run that can [follow](Simulation::follow) a scenario that changes, with an event for every packet that comes to any
    /// link; `None` if the watch stops the set-up. Packets of several hosts that come to a link at the same nanosecond may
    /// come in another order than in other runs.
    #[must_use]
    pub fn live(scenario: Scenario, seed: u64, probe: P, watch: Watch) -> Option<Self> {
        Self::set_up(scenario, seed, probe, Mode::Live, watch)
    }

    /// The same for packets from outside: the scenario's own traffic sends nothing.
    pub(super) fn without_traffic(scenario: Scenario, seed: u64, probe: P, open: bool) -> Self {
        Self::set_up(scenario, seed, probe, Mode::External { open }, Watch::default()).expect(UNSTOPPED)
    }

    fn set_up(mut scenario: Scenario, seed: u64, probe: P, mode: Mode, mut watch: Watch) -> Option<Self> {
        let started = Stopwatch::start();
        handover::draw(&mut scenario, seed);
        let mut routes = Routes::of(&scenario);
        let end = Time::ZERO + scenario.general.duration;
        let mut endpoints =
            Endpoints::new(&scenario.traffic, &mut routes, RunParameters { seed, end }, &mut watch)?;
        if scenario.record.qlog {
            endpoints.sources.iter_mut().filter_map(Source::connection_mut).for_each(Connection::log);
        }
        let mut network = Network::new(&scenario, routes, seed, probe, mode.lookahead(), watch);
        schedule(&mut network.events, Some(&endpoints).filter(|_| !mode.is_external()), &scenario);
        // Of two copies the one may be lost and the other arrive.
        if scenario.links.iter().all(|link| link.variation.as_deref().is_none_or(|of| of.duplicate == 0.0)) {
            network.path_losses.with_content = scenario
                .traffic
                .iter()
                .map(|entry| matches!(entry.kind, TrafficKind::Udp(Udp::Stack(_), _)))
                .collect();
        }
        let records_flows = scenario.record.flows && !mode.is_external();
        let mut run = Self {
            deliveries: Deliveries::new(scenario.traffic.len(), Time::ZERO + scenario.general.warmup),
            windows: Vec::new(),
            flow_log: None,
            events: 0,
            cpu: started.elapsed(),
            stride: network.stride(scenario.target().map(|_| scenario.response.bin)),
            finished: false,
            following: (mode == Mode::Live).then(|| Following::new(&scenario, seed)),
            ends: None,
            scenario,
            seed,
            network,
            endpoints,
            end,
        };
        if records_flows {
            run.record_flows();
        }
        Some(run)
    }
}

/// What sends packets, and how far steps are computed ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// The scenario's traffic; steps are computed before their time where possible.
    Ahead,
    /// The scenario's traffic, with an event for each step at a link with an AQM or at a host.
    StepByStep,
    /// The scenario's traffic, with an event for each step, because a change may affect every link.
    Live,
    /// The caller, in place of the scenario's traffic; if it is `open`, the run may end before its time.
    External { open: bool },
}

impl Mode {
    const fn lookahead(self) -> Lookahead {
        match self {
            Self::Ahead => Lookahead::Full,
            Self::StepByStep | Self::External { open: false } => Lookahead::PlainLinks,
            Self::Live | Self::External { open: true } => Lookahead::None,
        }
    }

    const fn is_external(self) -> bool {
        matches!(self, Self::External { .. })
    }
}

/// Schedules the events that are known before the run; `endpoints` are those that send.
fn schedule(events: &mut Events, endpoints: Option<&Endpoints>, scenario: &Scenario) {
    // First of all: queues that work ahead rely on its key.
    events.push(Time::ZERO + scenario.general.warmup, Event::Warmup);
    if endpoints.is_some() && scenario.record.cwnd.is_some_and(|step| step > Span::ZERO) {
        events.push(Time::ZERO, Event::Sample);
    }
    for (i, link) in scenario.links.iter().enumerate() {
        if let Some(first) = link.first_change() {
            events.push_first(Time::ZERO + first, Event::Change(i as u32));
        }
    }
    let Some(endpoints) = endpoints else { return };
    let starts = endpoints.applications.iter().map(|application| application.start).enumerate();
    for (i, start) in starts.filter(|&(_, start)| start < Time::MAX) {
        events.push(start, Event::Start(i as u32));
    }
    for &(at, flow) in &endpoints.stops {
        events.push(at, Event::Stop(flow));
    }
    for &(at, event) in &endpoints.agenda {
        events.push(at, event);
    }
    for (i, source) in endpoints.sources.iter().enumerate().filter(|(_, source)| source.start < Time::MAX) {
        events.push(source.start, Event::Datagram(i as u32));
    }
}
