//! Links that change while packets are on them.

use super::Network;
use crate::engine::clock::Integer;
use crate::engine::order::NEVER;
use crate::measure::probe::Probe;
use crate::network::ahead::Plan;
use crate::network::fate::Cause;
use crate::network::route::Routes;
use crate::network::service::Observers;
use aqm::Port;
use aqm::unit::Span;
use scenario::Scenario;
use scenario::model;

impl<P: Probe> Network<P> {
    /// Opens the paths between these nodes and back that are not in use.
    pub(crate) fn open_paths(&mut self, scenario: &Scenario, ends: impl Iterator<Item = (usize, usize)>) {
        let ends: Vec<_> =
            ends.flat_map(|(a, b)| [(a, b), (b, a)]).filter(|ends| !self.starts.contains_key(ends)).collect();
        if ends.is_empty() {
            return;
        }
        let mut routes = Routes::new(scenario.nodes.len(), &scenario.links);
        for (from, to) in ends {
            routes.path(from, to);
        }
        let hosts = routes.hosts();
        self.aqm_queues().for_each(|aqm_queue| aqm_queue.queue.add_hosts(&hosts));
        let first = self.hops.len() as u32;
        self.starts.extend(routes.starts().into_iter().map(|(ends, start)| (ends, first + start)));
        self.hops.extend(routes.into_hops(&Plan::none(scenario)));
    }

    /// A link is as long as `delay` from now on.
    pub(crate) fn set_delay(&mut self, i: usize, delay: Span) {
        let link = &mut self.links[i];
        link.set_delay(delay, self.events.now());
        if let Some(first) = link.line.front() {
            self.events.set(link.slot, first.arrival);
        }
    }

    /// A link's queue has another algorithm, other parameters or another buffer from now on: see [`aqm::Queue::retune`].
    pub(crate) fn change_algorithm(&mut self, i: usize, link: &model::Link, delay: Span) {
        let Some(params) = &link.aqm else { return };
        let now = self.events.now();
        let rate = self.links[i].transmitter.rate;
        let port = Port { rate, ..link.port(delay) };
        let mut observers = Observers {
            link: i,
            probe: &mut self.probe,
            ledger: &mut self.ledger,
            path_losses: &mut self.path_losses,
        };
        let aqm_queue = self.links[i].aqm_queue();
        let period = aqm_queue.queue.period();
        aqm_queue.queue.set_limit(link.buffer);
        let (losses, number) = (&mut aqm_queue.losses, aqm_queue.number);
        let resumed =
            aqm_queue.queue.retune(now, params.build(&port), &mut aqm_queue.rng, |dropped, outcome| {
                observers.note_late_drop(number, losses, now, dropped, Cause::from(outcome));
            });
        let full = aqm_queue.queue.backlog(aqm_queue.packet.0 as u32).full;
        aqm_queue.occupancy.change_limit(now, full);
        if !resumed {
            aqm_queue.restart_lanes(now, link);
        }
        observers.note_length(now, aqm_queue);
        // The end of a pause may have changed. An algorithm that resumes already knows that the link is idle.
        let (ready, timer) = (aqm_queue.ready_slot, aqm_queue.period_slot);
        let waits = aqm_queue.busy || resumed && aqm_queue.queue.is_empty();
        let same_timer = resumed && aqm_queue.queue.period() == period;
        if !waits && self.links[i].aqm_queue().access.is_some() {
            self.load_shared(Integer, i);
        } else if !waits {
            self.events.set(ready, NEVER);
            self.transmit(Integer, i);
        }
        if !same_timer {
            self.events.set(timer, NEVER);
            self.schedule_period(Integer, i);
        }
    }
}
