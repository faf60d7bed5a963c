//! The events of a link with an AQM: arrivals, departures, periods.

use super::{Network, Next, Passage};
use crate::engine::clock::{ClockArithmetic as _, Instant};
use crate::engine::event::NEVER;
use crate::measure::probe::Probe;
use crate::network::ahead::{self, Early, Journey, LinkAhead};
use crate::network::fate::Cause;
use crate::network::link::{Link, Transmission};
use crate::network::service::{self, Observers};
use crate::packet::Packet;
use aqm::unit::{Span, Time};

/// The greatest work of catching up at a link, in events.
const WORK_AT_A_LINK: usize = 1 << 10;

impl<P: Probe> Network<P> {
    /// A link with its recorders.
    #[inline(always)]
    fn observed(&mut self, link: usize) -> (&mut Link, Observers<'_, P>) {
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
    fn ahead(&mut self, link: usize) -> LinkAhead<'_, P> {
        LinkAhead {
            link: &mut self.links[link],
            observers: Observers {
                link,
                probe: &mut self.probe,
                ledger: &mut self.ledger,
                path_losses: &mut self.path_losses,
            },
            clock: self.events.clock,
            watch: &mut self.watch,
        }
    }

    /// A packet comes to a link with an AQM now.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, i: usize, packet: Packet) {
        let now = self.events.now();
        let (link, mut observers) = self.observed(i);
        if service::admit(link, now, &packet, &mut observers).is_none() {
            return;
        }
        let aqm_queue = link.aqm_queue();
        if let Some(outside) = &mut aqm_queue.outside {
            outside.push((packet.number(), now));
            observers.note_length(now, aqm_queue);
        } else if aqm_queue.busy {
            observers.note_length(now, aqm_queue);
        } else {
            aqm_queue.end_idleness(now);
            self.transmit(i);
        }
    }

    /// A packet comes at `at` to a link that works ahead; `None` if it is dropped or its transmission would start after
    /// the end of the run.
    #[inline(never)]
    pub(super) fn enqueue_ahead(&mut self, i: usize, at: Instant, packet: &Packet) -> Option<Journey> {
        let end = self.end;
        self.ahead(i).enqueue(at, packet).filter(|journey| journey.start <= end)
    }

    /// Does all work that is due by `until` at all links with an AQM, even if no packet has come there.
    pub(crate) fn catch_up_all(&mut self, until: Time) {
        for i in 0..self.links.len() {
            if self.links[i].aqm_queue.is_none() {
                continue;
            }
            self.ahead(i).catch_up(until);
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

    /// A link is free: it sends its next packet, if it has one.
    #[inline]
    pub(crate) fn transmit(&mut self, i: usize) {
        let Some(aqm_queue) = &self.links[i].aqm_queue else { return self.send_next_as_ns2(i) };
        let slot = aqm_queue.ready_slot;
        let now = self.events.now();
        let (link, mut observers) = self.observed(i);
        let Some(packet) = service::begin(link, now, &mut observers) else {
            return self.events.set(slot, NEVER);
        };
        let sent = self.transmit_from(i, self.events.instant(), packet);
        let key = self.events.free_key(sent);
        self.events.set(slot, key);
    }

    /// The transmission of a packet begins at `now`; returns its end.
    #[inline(always)]
    fn transmit_from(&mut self, i: usize, now: Instant, packet: Packet) -> Instant {
        let link = &mut self.links[i];
        let Transmission { sent, arrival } = link.wire.send(now, u32::from(packet.size));
        link.aqm_queue().sent = self.events.clock.time(sent);
        // In this order: where both are due at one instant, ns-2 delivers before it sends.
        let hop = self.hops[packet.hop as usize];
        if hop.is_early_end() {
            self.note_early(i, arrival, &packet);
            self.early.push((Early { at: arrival, marked: false }, packet));
        } else if hop.is_end() || !hop.is_chained() {
            self.launch(i, Passage { sent: now, arrival }, Next { hop: packet.hop, marked: false }, &packet);
        } else if let Some(early) = self.enter(Passage { sent: now, arrival }, Some(i), packet.hop, &packet) {
            self.early.push((early, packet));
        }
        sent
    }

    /// The queue outside in place of a link's own has sent a packet `now`, perhaps with CE set.
    pub(crate) fn sent_outside(&mut self, i: usize, now: Time, number: u32, marked: bool) {
        let (link, mut observers) = self.observed(i);
        let overhead = link.wire.overhead as u16;
        let aqm_queue = link.aqm_queue();
        let place = aqm_queue.queue.place_of(|packet| packet.number() == number).expect("it waits there");
        let sent = aqm_queue.queue.send_at(now, place, marked);
        observers.note_length(now, aqm_queue);
        service::note_departure(aqm_queue, now, &sent, &mut observers);
        // The clock of the other queue may be a moment ahead of this link's.
        let start = now.max(aqm_queue.sent);
        aqm_queue.end_idleness(start);
        aqm_queue.note_sending(start, aqm_queue.sending, u32::from(sent.frame.size));
        let start = self.events.clock.instant(start);
        self.transmit_from(i, start, sent.frame.with_size(sent.frame.size - overhead));
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
    pub(crate) fn close_period(&mut self, i: usize) {
        let now = self.events.now();
        if let Some(aqm_queue) = &mut self.links[i].aqm_queue {
            aqm_queue.queue.on_period(now);
            self.probe.on_period(aqm_queue.number, now, aqm_queue.queue.algorithm());
        }
        self.schedule_period(i);
    }

    pub(super) fn schedule_period(&mut self, i: usize) {
        let Some(aqm_queue) = &self.links[i].aqm_queue else { return };
        let Some(period) = aqm_queue.queue.period().filter(|_| aqm_queue.ahead.is_none()) else { return };
        let slot = aqm_queue.period_slot;
        let lapse = self.events.clock.lapse(period);
        let at = self.events.clock.after(self.events.instant(), lapse);
        let key = self.events.timer_key(at);
        self.events.set(slot, key);
    }
}
