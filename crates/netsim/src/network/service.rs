//! The actions of a link's AQM queue at one time, whether by an event or ahead of it.

use crate::measure::loss_runs::Losses;
use crate::measure::path_losses::PathLosses;
use crate::measure::probe::{Owner, Probe};
use crate::network::aqm_queue::AqmQueue;
use crate::network::fate::{Cause, Lost};
use crate::network::ledger::Ledger;
use crate::network::link::Link;
use crate::packet::Packet;
use aqm::unit::{Span, Time};
use aqm::{Outcome, Sent};

/// The recorders of what happens at a link.
pub(crate) struct Observers<'a, P> {
    /// The link's number.
    pub(crate) link: usize,
    pub(crate) probe: &'a mut P,
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) path_losses: &'a mut PathLosses,
}

impl<P: Probe> Observers<'_, P> {
    /// The length of the link's queue has changed.
    #[inline(always)]
    pub(super) fn note_length(&mut self, now: Time, aqm_queue: &mut AqmQueue) {
        aqm_queue.note_length(now);
        self.probe.on_length(aqm_queue.number, now, aqm_queue.queue.len(), aqm_queue.queue.lanes());
        if P::CHECKS {
            self.ledger.on_length(self.link, aqm_queue.queue.fits());
        }
    }

    /// A packet that waited in the link's queue, number `queue`, was dropped.
    #[inline(always)]
    pub(super) fn note_late_drop(
        &mut self,
        queue: usize,
        losses: &mut Losses,
        now: Time,
        dropped: &Sent<Packet>,
        cause: Cause,
    ) {
        losses.on_late_drop(now, dropped.number, &dropped.frame);
        self.path_losses.note(now, &dropped.frame);
        self.probe.on_late_drop(queue, now, Owner { class: dropped.frame.class(), lane: dropped.lane });
        if P::CHECKS {
            let how = Lost { link: self.link, at: now, cause, waited: dropped.sojourn };
            self.ledger.on_loss(&dropped.frame, how);
        }
    }
}

/// The queue of a link with an AQM accepts a packet, perhaps marked, or drops it (`None`).
#[inline]
pub(super) fn admit<P: Probe>(
    link: &mut Link,
    now: Time,
    packet: &Packet,
    observers: &mut Observers<'_, P>,
) -> Option<Outcome> {
    let i = observers.link;
    let framed = packet.with_size(packet.size + link.transmitter.overhead as u16);
    let aqm_queue = link.aqm_queue();
    let (losses, number) = (&mut aqm_queue.losses, aqm_queue.number);
    let before = aqm_queue.queue.len();
    let (outcome, lane) = aqm_queue.queue.enqueue_or(now, framed, &mut aqm_queue.rng, |dropped, reason| {
        observers.note_late_drop(number, losses, now, dropped, reason.into());
    });
    let owner = Owner { class: packet.class(), lane };
    observers.probe.on_arrival(number, now, owner, outcome, aqm_queue.queue.algorithm());
    if matches!(outcome, Outcome::Queued | Outcome::Marked) {
        aqm_queue.losses.on_entry();
        return Some(outcome);
    }
    aqm_queue.losses.on_refusal(now, packet);
    observers.path_losses.note(now, packet);
    if P::CHECKS {
        let how = Lost { link: i, at: now, cause: outcome.into(), waited: Span::ZERO };
        observers.ledger.on_loss(packet, how);
    }
    // An arrival may make the algorithm drop packets that wait.
    if aqm_queue.queue.len() != before {
        observers.note_length(now, aqm_queue);
    }
    None
}

/// A link with an AQM begins to send its next packet, if it has one; returns what `keep` keeps of it, which has its size
/// without the link's framing, and of its wait.
#[inline]
pub(super) fn begin<P: Probe, R>(
    link: &mut Link,
    now: Time,
    observers: &mut Observers<'_, P>,
    keep: impl FnOnce(Packet, Span) -> R,
) -> Option<R> {
    let overhead = link.transmitter.overhead as u16;
    let aqm_queue = link.aqm_queue.as_deref_mut()?;
    let (losses, number) = (&mut aqm_queue.losses, aqm_queue.number);
    let next = aqm_queue.queue.dequeue_or(now, &mut aqm_queue.rng, |dropped| {
        observers.note_late_drop(number, losses, now, dropped, Cause::Early);
    });
    observers.note_length(now, aqm_queue);
    let Some(sent) = next else {
        aqm_queue.begin_idleness(now);
        return None;
    };
    note_departure(aqm_queue, now, &sent, observers);
    Some(keep(sent.frame.with_size(sent.frame.size - overhead), sent.sojourn))
}

/// A packet leaves the queue of a link with an AQM, and its transmission begins.
#[inline(always)]
pub(super) fn note_departure<P: Probe>(
    aqm_queue: &mut AqmQueue,
    now: Time,
    sent: &Sent<Packet>,
    observers: &mut Observers<'_, P>,
) {
    let &Sent { frame: packet, number: arrival_number, lane, sojourn } = sent;
    aqm_queue.note_sending(now, Owner { class: packet.class(), lane }, u32::from(packet.size));
    aqm_queue.delays[packet.class()].record(sojourn);
    if let Some(meter) = aqm_queue.meters.get_mut(lane) {
        meter.delays.record(sojourn);
    }
    aqm_queue.losses.on_departure(now, arrival_number, &packet);
    let number = aqm_queue.number;
    // A link that shares its medium reports its packet when it is sent.
    let is_sent = !aqm_queue.holds();
    let size = if is_sent { packet.size } else { 0 };
    observers.probe.on_departure(number, now, aqm_queue.sending, size, sojourn);
    observers.probe.on_fate(number, arrival_number, packet.is_marked());
    if P::CHECKS && is_sent {
        observers.ledger.on_departure(observers.link, now, &packet, sojourn);
    }
}
