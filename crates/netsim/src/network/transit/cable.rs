//! Links of modems upstream.

use super::Network;
use crate::engine::order::Order;
use crate::measure::probe::Probe;
use crate::network::access::Access;
use crate::network::modem::Modem;
use crate::packet::Packet;
use aqm::unit::Time;
use scenario::model::cable::Upstream as Rules;

impl<P: Probe> Network<P> {
    fn modem(&mut self, link: usize) -> &mut Modem {
        match self.links[link].aqm_queue().access.as_deref_mut() {
            Some(Access::Modem(modem)) => modem,
            _ => unreachable!("the links of modems have one"),
        }
    }

    /// The bytes that the packets in the queue of a link will take, if its algorithm does not pause it.
    fn requestable(&mut self, link: usize, now: Time) -> u64 {
        if self.modem(link).resumes > now {
            return 0;
        }
        let backlog = self.links[link].aqm_queue().queue.backlog(0);
        backlog.bytes + u64::from(backlog.packets) * u64::from(Rules::length(0))
    }

    /// A packet comes now to the link of a modem.
    pub(super) fn enqueue_at_modem<C: Order>(&mut self, clock: C, i: usize, packet: &Packet) {
        if self.admit(i, packet) {
            self.ask_modem(clock, i);
        }
    }

    /// Something has come to the queue of a link, or its algorithm has changed: one that is paused is asked again.
    pub(super) fn ask_modem<C: Order>(&mut self, clock: C, i: usize) {
        self.modem(i).resumes = Time::ZERO;
        let at = self.plan_modem(i, self.events.now());
        let cable = self.modem(i).place.cable;
        if self.upstreams[cable].wake(at) {
            self.schedule_upstream(clock, cable);
        }
    }

    /// When a link has something to do next.
    fn plan_modem(&mut self, i: usize, now: Time) -> Time {
        let waiting = self.requestable(i, now);
        let cable = self.modem(i).place.cable;
        let aqm_queue = self.links[i].aqm_queue();
        let waits = !aqm_queue.queue.is_empty();
        aqm_queue.note_waiting(now, waits);
        match aqm_queue.access.as_deref_mut() {
            Some(Access::Modem(modem)) => modem.next(now, waiting, &self.upstreams[cable].rules),
            _ => Time::MAX,
        }
    }

    fn schedule_upstream<C: Order>(&mut self, clock: C, cable: usize) {
        self.set_step(clock, self.upstreams[cable].event, self.upstreams[cable].next);
    }

    /// Something is to be done in a cable network.
    pub(crate) fn step_upstream<C: Order>(&mut self, clock: C, cable: usize) {
        let at = std::mem::replace(&mut self.upstreams[cable].next, Time::MAX);
        for modem in 0..self.upstreams[cable].links.len() {
            self.step_modem(clock, (cable, modem), at);
        }
        if let Some((interval, _)) = self.upstreams[cable].next_map(at).filter(|(_, due)| *due <= at) {
            self.make_map(cable, interval, at);
        }
        for modem in 0..self.upstreams[cable].links.len() {
            let next = self.plan_modem(self.upstreams[cable].links[modem], at);
            self.upstreams[cable].wake(next);
        }
        if let Some((_, due)) = self.upstreams[cable].next_map(at) {
            self.upstreams[cable].wake(due);
        }
        self.schedule_upstream(clock, cable);
    }

    /// A modem passes on the packets decoded, prepares its next burst if it is time, and requests.
    fn step_modem<C: Order>(&mut self, clock: C, (cable, modem): (usize, usize), at: Time) {
        let link = self.upstreams[cable].links[modem];
        while let Some(frame) = self.modem(link).decoded(at) {
            let carried = self.links[link].transmitter.rate.transmission(frame.owner.1);
            let tally = &mut self.modem(link).tally;
            tally.carried = tally.carried + carried;
            self.note_sent(clock, link, frame);
        }
        loop {
            let waiting = self.requestable(link, at);
            let next = self.with_rules(link, |modem, rules| modem.prepare(at, waiting, rules));
            let Some((grant, bytes)) = next else { break };
            self.upstreams[cable].request(at, modem, bytes);
            let room = grant.slots * self.upstreams[cable].rules.minislot;
            while self.modem(link).rest() < room && self.release(link) {}
            let unused = self.with_rules(link, |modem, rules| modem.send(&grant, rules));
            self.upstreams[cable].give_back(modem, unused);
        }
        let waiting = self.requestable(link, at);
        let bytes = self.with_rules(link, |modem, rules| modem.contend(at, waiting, rules));
        self.upstreams[cable].request(at, modem, bytes);
    }

    /// What a modem does by the rules of its cable network.
    fn with_rules<R>(&mut self, link: usize, does: impl FnOnce(&mut Modem, &Rules) -> R) -> R {
        let cable = self.modem(link).place.cable;
        match self.links[link].aqm_queue().access.as_deref_mut() {
            Some(Access::Modem(modem)) => does(modem, &self.upstreams[cable].rules),
            _ => unreachable!("the links of modems have one"),
        }
    }

    /// The head end decides on the grants of an interval.
    fn make_map(&mut self, cable: usize, interval: u64, at: Time) {
        let Self { links, upstreams, .. } = self;
        let own = std::mem::take(&mut upstreams[cable].links);
        upstreams[cable].map(at, interval, |modem, grant, answered, rules| {
            if let Some(Access::Modem(modem)) = links[own[modem]].aqm_queue().access.as_deref_mut() {
                modem.note_grant(grant, answered, rules);
            }
        });
        upstreams[cable].links = own;
    }

    /// A modem takes the next packet out of its queue, if there is one and its algorithm does not pause it.
    fn release(&mut self, link: usize) -> bool {
        let taken = self.take_out(link, |transmitter, size| Rules::length(transmitter.length(size)));
        let waits = !self.links[link].aqm_queue().queue.is_empty();
        let modem = self.modem(link);
        match taken {
            Ok(frame) => modem.hold(frame),
            Err(resumes) => modem.resumes = if waits { resumes } else { Time::ZERO },
        }
        taken.is_ok()
    }
}
