//! What happens at a link with an AQM: arrivals, departures, periods.

use super::{Early, Journey, Network};
use crate::engine::clock::{ClockArithmetic as _, Instant};
use crate::engine::event::NEVER;
use crate::measure::probe::{Owner, Probe};
use crate::network::ledger::Ledger;
use crate::network::link::AqmQueue;
use crate::packet::Packet;
use aqm::unit::{Span, Time};
use aqm::{Outcome, Sent};

/// So many periods go by before what works ahead catches up: some milliseconds of work.
const PERIODS_AT_A_TIME: u64 = 1 << 16;
/// What it costs at a link at most, in events.
const WORK_AT_A_LINK: usize = 1 << 10;

/// The length of the queue of link with an AQM number `i` has changed.
#[inline(always)]
fn note_length<P: Probe>(
    i: usize,
    now: Time,
    aqm_queue: &mut AqmQueue,
    (probe, ledger): (&mut P, &mut Ledger),
) {
    aqm_queue.note_length(now);
    probe.on_length(aqm_queue.number, now, aqm_queue.queue.len(), aqm_queue.queue.lanes());
    if P::CHECKS {
        ledger.on_length(i, aqm_queue.queue.fits());
    }
}

impl<P: Probe> Network<P> {
    /// A packet comes to a link with an AQM now.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, i: usize, packet: Packet) {
        let now = self.events.now();
        if self.admit(i, now, &packet).is_none() {
            return;
        }
        let aqm_queue = self.links[i].aqm_queue();
        if aqm_queue.busy {
            note_length(i, now, aqm_queue, (&mut self.probe, &mut self.ledger));
        } else {
            aqm_queue.end_idleness(now);
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
        let aqm_queue = link.aqm_queue.as_deref_mut()?;
        let busy = aqm_queue.busy;
        let ahead = aqm_queue.ahead.as_mut()?;
        let start = if busy { ahead.free } else { at };
        let (sent, arrival) = link.wire.send(start, u32::from(packet.size));
        ahead.free = sent;
        if busy {
            note_length(i, now, aqm_queue, (&mut self.probe, &mut self.ledger));
        } else {
            aqm_queue.end_idleness(now);
            self.begin_ahead(i, now);
            self.links[i].aqm_queue().note_due();
        }
        (start <= self.end).then_some(Journey { start, arrival, marked })
    }

    /// Does all that was due until `until` at a link that works ahead; at one time first what is periodic, then
    /// the departure, then the end of the warm-up, as the event list has it.
    #[inline]
    pub(crate) fn catch_up(&mut self, i: usize, until: Time) {
        while self.links[i].aqm_queue().ahead.as_ref().is_some_and(|ahead| ahead.due <= until) {
            self.do_what_is_due(i, until);
        }
    }

    /// Does all that was due until `until` at all links with an AQM, even if nothing has happened there.
    pub(crate) fn catch_up_all(&mut self, until: Time) {
        for i in 0..self.links.len() {
            if self.links[i].aqm_queue.is_none() {
                continue;
            }
            self.catch_up(i, until);
            let aqm_queue = self.links[i].aqm_queue();
            aqm_queue.settling.roll(until, &aqm_queue.occupancy);
            self.probe.catch_up(aqm_queue.number, until);
            if !self.watch.goes_on(WORK_AT_A_LINK) {
                return;
            }
        }
    }

    /// How far, in nanoseconds, the run may go before all links catch up with what is periodic, so that this is never
    /// much at a time; `bin` is another period.
    pub(crate) fn stride(&self, bin: Option<Span>) -> u64 {
        let aqm_queue = self.links.iter().filter_map(|link| link.aqm_queue.as_deref());
        let ahead = aqm_queue.filter(|aqm_queue| aqm_queue.ahead.is_some());
        let periods =
            ahead.filter_map(|aqm_queue| aqm_queue.queue.period()).chain(bin).chain(self.probe.bin());
        let shortest = periods.map(Span::nanos).min();
        shortest.map_or(u64::MAX, |ns| ns.max(1).saturating_mul(PERIODS_AT_A_TIME))
    }

    fn do_what_is_due(&mut self, i: usize, until: Time) {
        let link = &mut self.links[i];
        let Some(aqm_queue) = link.aqm_queue.as_deref_mut() else { return };
        let Some(ahead) = aqm_queue.ahead.as_mut() else { return };
        let now = ahead.due;
        if ahead.period == now {
            aqm_queue.queue.on_period(now);
            self.probe.on_period(aqm_queue.number, now, aqm_queue.queue.algorithm());
            let rests = !aqm_queue.busy
                && aqm_queue.queue.rests()
                && self.probe.may_skip(aqm_queue.queue.algorithm());
            // A run that is stopped has no more periods.
            let period = aqm_queue.queue.period().filter(|_| self.watch.goes_on(1));
            ahead.period = period.map_or(Time::MAX, |period| {
                let idle = if rests { until.since(now).nanos() / period.nanos().max(1) } else { 0 };
                now + period * (idle + 1)
            });
        } else if aqm_queue.busy && aqm_queue.sent == now {
            self.begin_ahead(i, now);
        } else {
            ahead.warmup = Time::MAX;
            aqm_queue.end_warmup(now);
        }
        self.links[i].aqm_queue().note_due();
    }

    /// A link with an AQM takes a packet in, perhaps marked, or drops it and says nothing.
    #[inline]
    fn admit(&mut self, i: usize, now: Time, packet: &Packet) -> Option<Outcome> {
        let link = &mut self.links[i];
        let framed = packet.with_size(packet.size + link.wire.overhead as u16);
        let aqm_queue = link.aqm_queue();
        let (probe, losses, number) = (&mut self.probe, &mut aqm_queue.losses, aqm_queue.number);
        let ledger = &mut self.ledger;
        let before = aqm_queue.queue.len();
        let (outcome, lane) = aqm_queue.queue.enqueue_or(now, framed, &mut aqm_queue.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
            if P::CHECKS {
                ledger.on_drop(i, &dropped.frame);
            }
        });
        let owner = Owner { class: packet.class(), lane };
        probe.on_arrival(number, now, owner, outcome, aqm_queue.queue.algorithm());
        if matches!(outcome, Outcome::Queued | Outcome::Marked) {
            aqm_queue.losses.on_entry();
            return Some(outcome);
        }
        aqm_queue.losses.on_refusal(now, packet);
        if P::CHECKS {
            self.ledger.on_drop(i, packet);
        }
        // An arrival may take others along.
        if aqm_queue.queue.len() != before {
            note_length(i, now, aqm_queue, (&mut self.probe, &mut self.ledger));
        }
        None
    }

    /// A link with an AQM begins to send its next packet, if it has one.
    #[inline]
    fn begin(&mut self, i: usize, now: Time) -> Option<Packet> {
        let link = &mut self.links[i];
        let overhead = link.wire.overhead as u16;
        let aqm_queue = link.aqm_queue.as_deref_mut()?;
        let (probe, losses, number) = (&mut self.probe, &mut aqm_queue.losses, aqm_queue.number);
        let ledger = &mut self.ledger;
        let next = aqm_queue.queue.dequeue_or(now, &mut aqm_queue.rng, |dropped| {
            losses.on_late_drop(now, dropped.number, &dropped.frame);
            probe.on_late_drop(number, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
            if P::CHECKS {
                ledger.on_drop(i, &dropped.frame);
            }
        });
        note_length(i, now, aqm_queue, (&mut self.probe, &mut self.ledger));
        let Some(Sent { frame: packet, number: arrival_number, lane, sojourn }) = next else {
            aqm_queue.begin_idleness(now);
            return None;
        };
        aqm_queue.note_sending(now, Owner { class: packet.class(), lane }, u32::from(packet.size));
        aqm_queue.delays[packet.class()].record(sojourn);
        if let Some(meter) = aqm_queue.meters.get_mut(lane) {
            meter.delays.record(sojourn);
        }
        aqm_queue.losses.on_departure(now, arrival_number, &packet);
        self.probe.on_departure(number, now, aqm_queue.sending, packet.size, sojourn);
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
            link.aqm_queue().sent = clock.time(sent);
        }
    }

    /// A link is free: it sends its next packet, if it has one.
    #[inline]
    pub(crate) fn transmit(&mut self, i: usize) {
        let Some(aqm_queue) = &self.links[i].aqm_queue else { return self.send_next_as_ns2(i) };
        let slot = aqm_queue.ready_slot;
        let Some(packet) = self.begin(i, self.events.now()) else { return self.events.set(slot, NEVER) };
        let now = self.events.instant();
        let link = &mut self.links[i];
        let (sent, arrival) = link.wire.send(now, u32::from(packet.size));
        link.aqm_queue().sent = self.events.clock.time(sent);
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
