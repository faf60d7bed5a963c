//! The events of a link with an AQM: arrivals, departures, periods.

use super::{Network, Next, Origin};
use crate::engine::clock::{Clock, ClockArithmetic as _, Double, Integer, SimTime};
use crate::engine::order::{ElapsedRank, Key, NEVER, Order};
use crate::measure::probe::Probe;
use crate::network::ahead::{self, Early, Journey, LinkAhead};
use crate::network::fate::Cause;
use crate::network::link::{Link, Passage, Transmission};
use crate::network::route::Then;
use crate::network::service::{self, Observers};
use crate::packet::Packet;
use aqm::unit::{Span, Time};

/// The greatest work of catching up at a link, in events.
const WORK_AT_A_LINK: usize = 1 << 10;

impl<P: Probe> Network<P> {
    /// A link with its recorders.
    #[inline(always)]
    pub(super) fn observed(&mut self, link: usize) -> (&mut Link, Observers<'_, P>) {
        let observers = Observers {
            link,
            probe: &mut self.probe,
            ledger: &mut self.ledger,
            path_losses: &mut self.path_losses,
        };
        (&mut self.links[link], observers)
    }

    /// A link that works ahead.
    #[inline(always)]
    fn ahead<C>(&mut self, clock: C, link: usize) -> LinkAhead<'_, P, C> {
        LinkAhead {
            link: &mut self.links[link],
            observers: Observers {
                link,
                probe: &mut self.probe,
                ledger: &mut self.ledger,
                path_losses: &mut self.path_losses,
            },
            clock,
            watch: &mut self.watch,
        }
    }

    /// A packet comes to a link with an AQM now.
    #[inline(never)]
    pub(super) fn enqueue<C: Order>(&mut self, clock: C, i: usize, packet: Packet) {
        let now = self.events.now();
        let (link, mut observers) = self.observed(i);
        if service::admit(link, now, &packet, &mut observers).is_none() {
            return;
        }
        let aqm_queue = link.aqm_queue();
        if let Some(outside) = &mut aqm_queue.outside {
            outside.push((packet.number(), now, packet.is_ect()));
            observers.note_length(now, aqm_queue);
        } else if aqm_queue.busy {
            observers.note_length(now, aqm_queue);
        } else {
            self.transmit(clock, i);
        }
    }

    /// A packet comes to a link that works ahead; `None` if it is dropped or its transmission would start after the end of
    /// the run.
    #[inline(never)]
    pub(super) fn enqueue_ahead<C: Order>(
        &mut self,
        clock: C,
        i: usize,
        coming: C::EventTime,
        packet: &Packet,
    ) -> Option<Journey<C::EventTime>> {
        let end = self.end;
        let journey = self.ahead(clock, i).enqueue(coming, packet);
        journey.filter(|journey| clock.at(journey.passage.start) <= end)
    }

    /// Does all work that is due by `until` at all links with an AQM, even if no packet has come there.
    pub(crate) fn catch_up_all(&mut self, until: Time) {
        let limit = ahead::after_all(self.events.clock.sim_time(until));
        for i in 0..self.links.len() {
            if self.links[i].aqm_queue.is_none() {
                continue;
            }
            match self.events.clock {
                Clock::Integer => self.ahead(Integer, i).catch_up(limit),
                Clock::Double => self.ahead(Double, i).catch_up(limit),
            }
            let aqm_queue = self.links[i].aqm_queue();
            aqm_queue.settling.roll(until, &aqm_queue.occupancy);
            self.probe.catch_up(aqm_queue.number, until);
            if !self.watch.goes_on(WORK_AT_A_LINK) {
                return;
            }
        }
    }

    /// The time, in nanoseconds, after which all links catch up; `bin` is another period.
    pub(crate) fn stride(&self, bin: Option<Span>) -> u64 {
        ahead::stride(&self.links, bin.into_iter().chain(self.probe.bin()))
    }

    /// A link is free: it sends its next packet, if it has one and its algorithm does not pause it.
    #[inline]
    pub(crate) fn transmit<C: Order>(&mut self, clock: C, i: usize) {
        let now = self.events.now();
        let (link, mut observers) = self.observed(i);
        let aqm_queue = link.aqm_queue();
        let slot = aqm_queue.ready_slot;
        if !aqm_queue.busy {
            aqm_queue.end_idleness(now);
        }
        let Some(packet) = service::begin(link, now, &mut observers, |packet, _| packet) else {
            let paused = self.links[i].aqm_queue().queue.paused_until(now);
            let key = paused.map_or(NEVER, |until| self.wake_key(clock, until.since(now)));
            return self.events.set(slot, key);
        };
        let start = self.events.event_time(clock);
        let (sent, rank) = self.transmit_from(clock, i, start, packet);
        self.events.set(slot, clock.free_key(start, rank, sent));
    }

    /// The key of an event of the transmitter after this time.
    #[cold]
    pub(super) fn wake_key<C: Order>(&self, clock: C, after: Span) -> Key {
        let elapsed = clock.sim_span(after);
        let at = clock.after(self.events.sim_now(), elapsed);
        clock.free_key(self.events.event_time(clock), clock.elapsed_rank(elapsed), at)
    }

    /// The transmission of a packet begins; returns its end, and how long it takes.
    #[inline(always)]
    fn transmit_from<C: Order>(
        &mut self,
        clock: C,
        i: usize,
        start: C::EventTime,
        packet: Packet,
    ) -> (SimTime, ElapsedRank) {
        let link = &mut self.links[i];
        let Transmission { sent, arrival } =
            link.transmitter.send(clock, clock.at(start), u32::from(packet.size));
        link.aqm_queue().sent = clock.time(sent.0);
        self.pass_on(clock, i, Passage { start, arrival }, packet);
        sent
    }

    /// A packet is on its way over a link with an AQM.
    #[inline(always)]
    pub(super) fn pass_on<C: Order>(
        &mut self,
        clock: C,
        i: usize,
        passage: Passage<C::EventTime>,
        packet: Packet,
    ) {
        let Passage { start, arrival } = passage;
        // The packet has the number of the next hop.
        match self.hops[packet.hop as usize - 1].then() {
            Then::Early => {
                self.note_early(i, arrival.0, &packet);
                let early = Early { arrival: clock.key(passage.end(clock)), marked: false };
                self.early.push((early, packet));
            }
            Then::Waits => {
                let next = Next { hop: packet.hop, marked: false };
                self.launch(clock, i, clock.at(start), passage, next, &packet);
            }
            Then::Apart => {
                let next = Next { hop: packet.hop, marked: false };
                self.wander(clock, i, clock.at(start), passage, next, &packet);
            }
            Then::GoesOn => {
                let from = Origin { link: Some(i), since: clock.at(start) };
                if let Some(early) = self.enter(clock, passage.end(clock), from, packet.hop, &packet) {
                    self.early.push((early, packet));
                }
            }
        }
    }

    /// The queue outside in place of a link's own has sent a packet `now`, perhaps with CE set.
    pub(crate) fn sent_outside(&mut self, i: usize, now: Time, number: u32, marked: bool) {
        let (link, mut observers) = self.observed(i);
        let overhead = link.transmitter.overhead as u16;
        let aqm_queue = link.aqm_queue();
        let place = aqm_queue.queue.place_of(|packet| packet.number() == number).expect("it waits there");
        let sent = aqm_queue.queue.send_at(now, place, marked);
        observers.note_length(now, aqm_queue);
        service::note_departure(aqm_queue, now, &sent, &mut observers);
        // The clock of the other queue may be a moment ahead of this link's.
        let start = now.max(aqm_queue.sent);
        aqm_queue.end_idleness(start);
        aqm_queue.note_sending(start, aqm_queue.sending, u32::from(sent.frame.size));
        let packet = sent.frame.with_size(sent.frame.size - overhead);
        match self.events.clock {
            Clock::Integer => self.transmit_from(Integer, i, Integer.sim_time(start), packet),
            Clock::Double => {
                let elapsed = Double.sim_span(start.since(self.events.now()));
                let start = Double.effect(
                    self.events.event_time(Double),
                    Double.elapsed_rank(elapsed),
                    Double.sim_time(start),
                );
                self.transmit_from(Double, i, start, packet)
            }
        };
        let aqm_queue = self.links[i].aqm_queue();
        aqm_queue.begin_idleness(aqm_queue.sent);
    }

    /// The queue outside in place of a link's own has dropped a packet `now`.
    pub(crate) fn dropped_outside(&mut self, i: usize, now: Time, number: u32, full: bool) {
        let (link, mut observers) = self.observed(i);
        let aqm_queue = link.aqm_queue();
        let place = aqm_queue.queue.place_of(|packet| packet.number() == number).expect("it waits there");
        let dropped = aqm_queue.queue.discard_at(now, place, full);
        let cause = if full { Cause::Overflow } else { Cause::Early };
        observers.note_late_drop(aqm_queue.number, &mut aqm_queue.losses, now, &dropped, cause);
        observers.note_length(now, aqm_queue);
    }

    /// An algorithm's period is over.
    pub(crate) fn close_period<C: Order>(&mut self, clock: C, i: usize) {
        let now = self.events.now();
        if let Some(aqm_queue) = &mut self.links[i].aqm_queue {
            aqm_queue.queue.on_period(now);
            self.probe.on_period(aqm_queue.number, now, aqm_queue.queue.algorithm());
        }
        self.schedule_period(clock, i);
    }

    pub(super) fn schedule_period<C: Order>(&mut self, clock: C, i: usize) {
        let Some(aqm_queue) = &self.links[i].aqm_queue else {
            return;
        };
        let Some(period) = aqm_queue.queue.period().filter(|_| aqm_queue.ahead.is_none()) else {
            return;
        };
        let slot = aqm_queue.period_slot;
        let elapsed = clock.sim_span(period);
        let at = clock.after(self.events.sim_now(), elapsed);
        let key = clock.period_key(self.events.event_time(clock), clock.elapsed_rank(elapsed), at);
        self.events.set(slot, key);
    }
}
