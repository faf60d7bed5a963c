//! What happens at a managed link: arrivals, departures, periods.

use super::{Early, Journey, Network};
use crate::engine::clock::{Counts as _, Instant};
use crate::engine::event::NEVER;
use crate::measure::probe::{Owner, Probe};
use crate::network::ledger::Ledger;
use crate::network::link::Managed;
use crate::packet::Packet;
use aqm::unit::{Span, Time};
use aqm::{Outcome, Sent};

/// So many periods go by before what works ahead catches up: some milliseconds of work.
const PERIODS_AT_A_TIME: u64 = 1 << 16;
/// What it costs at a link at most, in events.
const WORK_AT_A_LINK: usize = 1 << 10;

/// The length of the queue of managed link number `i` has changed.
#[inline(always)]
fn note_length<P: Probe>(i: usize, now: Time, managed: &mut Managed, (probe, ledger): (&mut P, &mut Ledger)) {
    managed.note_length(now);
    probe.on_length(managed.number, now, managed.queue.len(), managed.queue.lanes());
    if P::CHECKS {
        ledger.on_length(i, managed.queue.fits());
    }
}

impl<P: Probe> Network<P> {
    /// A packet comes to a managed link now.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, i: usize, packet: Packet) {
        let now = self.events.now();
        if self.admit(i, now, &packet).is_none() {
            return;
        }
        let managed = self.links[i].managed();
        if managed.busy {
            note_length(i, now, managed, (&mut self.probe, &mut self.ledger));
        } else {
            managed.end_idleness(now);
            self.transmit(i);
        }
    }

    /// A packet comes to a link that works ahead: when its transmission starts, and when it is at the other end;
    /// `None` if it is dropped or the run is over by then.
    #[inline(never)]
    pub(super) fn enqueue_ahead(
        &mut self,
        i: usize,
        at: Instant,
        next: u32,
        packet: &Packet,
    ) -> Option<Journey> {
        let now = self.events.clock.time(at);
        self.catch_up(i, now);
        let marked = self.admit(i, now, &packet.at_hop(next, false))? == Outcome::Marked;
        let link = &mut self.links[i];
        let managed = link.managed.as_deref_mut()?;
        let busy = managed.busy;
        let ahead = managed.ahead.as_mut()?;
        let start = if busy { ahead.free } else { at };
        let (sent, arrival) = link.wire.send(start, u32::from(packet.size));
        ahead.free = sent;
        if busy {
            note_length(i, now, managed, (&mut self.probe, &mut self.ledger));
        } else {
            managed.end_idleness(now);
            self.begin_ahead(i, now);
            self.links[i].managed().note_due();
        }
        (start <= self.end).then_some(Journey { start, arrival, marked })
    }

    /// Does all that was due until `until` at a link that works ahead; at one time first what is periodic, then
    /// the departure, then the end of the warm-up, as the event list has it.
    #[inline]
    pub(crate) fn catch_up(&mut self, i: usize, until: Time) {
        while self.links[i].managed().ahead.as_ref().is_some_and(|ahead| ahead.due <= until) {
            self.do_what_is_due(i, until);
        }
    }

    /// Does all that was due until `until` at all managed links, even if nothing has happened there.
    pub(crate) fn catch_up_all(&mut self, until: Time) {
        for i in 0..self.links.len() {
            if self.links[i].managed.is_none() {
                continue;
            }
            self.catch_up(i, until);
            let managed = self.links[i].managed();
            managed.settling.roll(until, &managed.occupancy);
            self.probe.catch_up(managed.number, until);
            if !self.watch.goes_on(WORK_AT_A_LINK) {
                return;
            }
        }
    }

    /// How far, in nanoseconds, the run may go before all links catch up with what is periodic, so that this is never
    /// much at a time; `bin` is another period.
    pub(crate) fn stride(&self, bin: Option<Span>) -> u64 {
        let managed = self.links.iter().filter_map(|link| link.managed.as_deref());
        let ahead = managed.filter(|managed| managed.ahead.is_some());
        let periods = ahead.filter_map(|managed| managed.queue.period()).chain(bin).chain(self.probe.bin());
        let shortest = periods.map(Span::nanos).min();
        shortest.map_or(u64::MAX, |ns| ns.max(1).saturating_mul(PERIODS_AT_A_TIME))
    }

    fn do_what_is_due(&mut self, i: usize, until: Time) {
        let link = &mut self.links[i];
        let Some(managed) = link.managed.as_deref_mut() else { return };
        let Some(ahead) = managed.ahead.as_mut() else { return };
        let now = ahead.due;
        if ahead.period == now {
            managed.queue.on_period(now);
            self.probe.on_period(managed.number, now, managed.queue.algorithm());
            let rests =
                !managed.busy && managed.queue.rests() && self.probe.may_skip(managed.queue.algorithm());
            // A run that is stopped has no more periods.
            let period = managed.queue.period().filter(|_| self.watch.goes_on(1));
            ahead.period = period.map_or(Time::MAX, |period| {
                let idle = if rests { until.since(now).nanos() / period.nanos().max(1) } else { 0 };
                now + period * (idle + 1)
            });
        } else if managed.busy && managed.sent == now {
            self.begin_ahead(i, now);
        } else {
            ahead.warmup = Time::MAX;
            managed.end_warmup(now);
        }
        self.links[i].managed().note_due();
    }

    /// A managed link takes a packet in, perhaps marked, or drops it and says nothing.
    #[inline]
    fn admit(&mut self, i: usize, now: Time, packet: &Packet) -> Option<Outcome> {
        let link = &mut self.links[i];
        let framed = packet.with_size(packet.size + link.wire.overhead as u16);
        let managed = link.managed();
        let (probe, losses, number) = (&mut self.probe, &mut managed.losses, managed.number);
        let ledger = &mut self.ledger;
        let before = managed.queue.len();
        let (outcome, lane) = managed.queue.enqueue_or(now, framed, &mut managed.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
            if P::CHECKS {
                ledger.on_drop(i, &dropped.frame);
            }
        });
        let owner = Owner { class: packet.class(), lane };
        probe.on_arrival(number, now, owner, outcome, managed.queue.algorithm());
        if matches!(outcome, Outcome::Queued | Outcome::Marked) {
            managed.losses.on_entry();
            return Some(outcome);
        }
        managed.losses.on_refusal(now, packet);
        if P::CHECKS {
            self.ledger.on_drop(i, packet);
        }
        // An arrival may take others along.
        if managed.queue.len() != before {
            note_length(i, now, managed, (&mut self.probe, &mut self.ledger));
        }
        None
    }

    /// A managed link begins to send its next packet, if it has one.
    #[inline]
    fn begin(&mut self, i: usize, now: Time) -> Option<Packet> {
        let link = &mut self.links[i];
        let overhead = link.wire.overhead as u16;
        let managed = link.managed.as_deref_mut()?;
        let (probe, losses, number) = (&mut self.probe, &mut managed.losses, managed.number);
        let ledger = &mut self.ledger;
        let next = managed.queue.dequeue_or(now, &mut managed.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
            if P::CHECKS {
                ledger.on_drop(i, &dropped.frame);
            }
        });
        note_length(i, now, managed, (&mut self.probe, &mut self.ledger));
        let Some(Sent { frame: packet, number: arrival_number, lane, sojourn }) = next else {
            managed.begin_idleness(now);
            return None;
        };
        managed.note_sending(now, Owner { class: packet.class(), lane }, u32::from(packet.size));
        managed.delays[packet.class()].record(sojourn);
        if let Some(meter) = managed.meters.get_mut(lane) {
            meter.delays.record(sojourn);
        }
        managed.losses.on_departure(now, arrival_number, &packet);
        self.probe.on_departure(number, now, managed.sending, packet.size, sojourn);
        self.probe.on_fate(number, arrival_number, packet.is_marked());
        Some(packet.with_size(packet.size - overhead))
    }

    /// A link that works ahead begins to send its next packet, which is on its way already.
    #[inline]
    fn begin_ahead(&mut self, i: usize, now: Time) {
        if let Some(packet) = self.begin(i, now) {
            let clock = self.events.clock;
            let link = &mut self.links[i];
            let (sent, _) = link.wire.send(clock.instant(now), u32::from(packet.size));
            link.managed().sent = clock.time(sent);
        }
    }

    /// A link is free: it sends its next packet, if it has one.
    #[inline]
    pub(crate) fn transmit(&mut self, i: usize) {
        let Some(managed) = &self.links[i].managed else { return self.send_next_in_order(i) };
        let slot = managed.ready_slot;
        let Some(packet) = self.begin(i, self.events.now()) else { return self.events.set(slot, NEVER) };
        let now = self.events.instant();
        let link = &mut self.links[i];
        let (sent, arrival) = link.wire.send(now, u32::from(packet.size));
        link.managed().sent = self.events.clock.time(sent);
        // In this order: where both are due at one instant, ns-2 delivers before it sends.
        let hop = self.hops[packet.hop as usize];
        if hop.is_early_end() {
            self.note_early(i, arrival, &packet);
            self.early.push((Early { at: arrival, marked: false }, packet));
        } else if hop.is_end() || !hop.is_chained() {
            self.launch(i, (arrival, now), (packet.hop, false), &packet);
        } else if let Some(early) = self.enter((arrival, now), Some(i), packet.hop, &packet) {
            self.early.push((early, packet));
        }
        let key = self.events.free_key(sent);
        self.events.set(slot, key);
    }

    /// An algorithm's period is over.
    pub(crate) fn close_period(&mut self, i: usize) {
        let now = self.events.now();
        if let Some(managed) = &mut self.links[i].managed {
            managed.queue.on_period(now);
            self.probe.on_period(managed.number, now, managed.queue.algorithm());
        }
        self.schedule_period(i);
    }

    pub(super) fn schedule_period(&mut self, i: usize) {
        let Some(managed) = &self.links[i].managed else { return };
        let Some(period) = managed.queue.period().filter(|_| managed.ahead.is_none()) else { return };
        let slot = managed.period_slot;
        let lapse = self.events.clock.lapse(period);
        let at = self.events.clock.after(self.events.instant(), lapse);
        let key = self.events.timer_key(at);
        self.events.set(slot, key);
    }
}
