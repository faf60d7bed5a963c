//! Links that are parts of a cell.

use super::Network;
use crate::engine::order::Order;
use crate::measure::probe::Probe;
use crate::network::access::Access;
use crate::network::bearer::{Bearer, Outcome};
use crate::network::fate::Cause;
use crate::packet::Packet;
use aqm::unit::{Span, Time};
use scenario::model::Cell;

impl<P: Probe> Network<P> {
    fn bearer(&mut self, link: usize) -> &mut Bearer {
        match self.links[link].aqm_queue().access.as_deref_mut() {
            Some(Access::Cell(bearer)) => bearer,
            _ => unreachable!("the links of a cell have one"),
        }
    }

    /// The bytes that the packets in the queue of a link will take in blocks.
    fn waiting(&mut self, link: usize) -> u64 {
        let queue = &self.links[link].aqm_queue().queue;
        let backlog = queue.backlog(0);
        backlog.bytes + u64::from(backlog.packets) * u64::from(Cell::length(0))
    }

    /// A packet comes now to a link of a cell.
    pub(super) fn enqueue_at_bearer<C: Order>(&mut self, clock: C, i: usize, packet: &Packet) {
        if self.admit(i, packet) {
            self.ask_bearer(clock, i);
        }
    }

    /// Something has come to the queue of a link, or its algorithm has changed: one that is paused is asked again.
    pub(super) fn ask_bearer<C: Order>(&mut self, clock: C, i: usize) {
        self.bearer(i).resumes = Time::ZERO;
        self.wake_bearer(clock, i);
    }

    /// Something waits in the queue of a link, or nothing does: the cell steps when there is work.
    pub(super) fn wake_bearer<C: Order>(&mut self, clock: C, i: usize) {
        let now = self.events.now();
        let at = self.plan_bearer(i, now);
        let cell = self.bearer(i).place.cell;
        if self.cells[cell].wake(at) {
            self.schedule_cell(clock, cell);
        }
    }

    /// When a link has something to do next.
    fn plan_bearer(&mut self, i: usize, now: Time) -> Time {
        let waits = !self.links[i].aqm_queue().queue.is_empty();
        let bearer = self.bearer(i);
        if bearer.rest() > 0 || waits && bearer.resumes <= now {
            bearer.ask(now);
        }
        let at = bearer.next(now, waits);
        let aqm_queue = self.links[i].aqm_queue();
        aqm_queue.note_waiting(now, waits);
        at
    }

    fn schedule_cell<C: Order>(&mut self, clock: C, cell: usize) {
        self.set_step(clock, self.cells[cell].event, self.cells[cell].next);
    }

    /// A slot of a cell begins.
    pub(crate) fn step_cell<C: Order>(&mut self, clock: C, cell: usize) {
        let at = self.cells[cell].next;
        let slot = self.cells[cell].rules.slot;
        let carries = self.cells[cell].begin(at);
        for user in 0..self.cells[cell].links.len() {
            for link in self.cells[cell].links[user] {
                self.bearer(link).decode(at, Time::from_nanos(at.nanos().saturating_sub(slot.nanos())));
                self.settle_bearer(clock, link, at);
                if let Some(rate) = self.bearer(link).wander(at) {
                    self.links[link].change(at, rate);
                }
            }
        }
        for way in [0, 1] {
            if carries[way] {
                self.share_slot(cell, way, at);
            }
        }
        for user in 0..self.cells[cell].links.len() {
            for link in self.cells[cell].links[user] {
                let next = self.plan_bearer(link, at);
                self.cells[cell].wake(next);
            }
        }
        self.schedule_cell(clock, cell);
    }

    /// Shares the resource blocks of a slot among the users.
    fn share_slot(&mut self, cell: usize, way: usize, at: Time) {
        let mut left = self.cells[cell].rules.blocks;
        for place in 0..self.cells[cell].links.len() {
            let user = self.cells[cell].in_turn(way, place);
            let link = self.cells[cell].links[user][way];
            let bits = self.bits(link, cell, way);
            if bits > 0 {
                let before = left;
                left = self.bearer(link).repeat(at, left);
                self.note_use((cell, user, way), before - left, bits);
            }
            let wants = if self.credit(link, at) > 0 { bits } else { 0 };
            self.cells[cell].note_wants(way, user, wants);
        }
        let mut is_first = true;
        while left > 0
            && let Some(user) = self.cells[cell].choose(way)
        {
            left -= self.serve((cell, user, way), at, left);
            // Who has had a remnant of the slot, and wants more, keeps its turn.
            let link = self.cells[cell].links[user][way];
            if is_first || self.credit(link, at) == 0 {
                self.cells[cell].end_turn(way, user);
            }
            is_first = false;
        }
    }

    /// The bits that a user could send in a slot of its own.
    fn bits(&self, link: usize, cell: usize, way: usize) -> u64 {
        let nanos = u128::from(self.cells[cell].shares[way].nanos());
        (u128::from(self.links[link].transmitter.rate.whole_bits()) * nanos / 1_000_000_000) as u64
    }

    /// The bytes that may be scheduled of a link.
    fn credit(&mut self, link: usize, at: Time) -> u64 {
        let waiting = if self.bearer(link).resumes <= at { self.waiting(link) } else { 0 };
        self.bearer(link).credit(at, waiting)
    }

    /// A user gets what it needs of `left` resource blocks; returns how many that are.
    fn serve(&mut self, (cell, user, way): (usize, usize, usize), at: Time, left: u32) -> u32 {
        let link = self.cells[cell].links[user][way];
        let (bits, all) = (self.bits(link, cell, way), u64::from(self.cells[cell].rules.blocks));
        let room = (bits * u64::from(left) / (8 * all)).min(self.credit(link, at));
        if room == 0 {
            return 0;
        }
        while self.bearer(link).rest() < room && self.take_packet(link) {}
        let bytes = room.min(self.bearer(link).rest());
        let waiting = self.waiting(link);
        // What the grant was for may have been dropped since.
        self.bearer(link).report(at, waiting, bytes > 0);
        if bytes == 0 {
            return 0;
        }
        let used = (8 * bytes * all).div_ceil(bits) as u32;
        self.bearer(link).send(bytes, used);
        self.note_use((cell, user, way), used, bits);
        used
    }

    /// A link takes the next packet out of its queue, if there is one and its algorithm does not pause it.
    fn take_packet(&mut self, link: usize) -> bool {
        let taken = self.take_out(link, |_, size| Cell::length(size));
        let waits = !self.links[link].aqm_queue().queue.is_empty();
        let bearer = self.bearer(link);
        match taken {
            Ok(frame) => bearer.hold(frame),
            Err(resumes) => bearer.resumes = if waits { resumes } else { Time::ZERO },
        }
        taken.is_ok()
    }

    /// Resource blocks of a slot, which as a whole would carry `bits`, were given to a user.
    fn note_use(&mut self, (cell, user, way): (usize, usize, usize), used: u32, bits: u64) {
        let (link, all) = (self.cells[cell].links[user][way], u64::from(self.cells[cell].rules.blocks));
        self.cells[cell].give(way, user, bits * u64::from(used) / all);
        let share = self.cells[cell].shares[way].nanos() * u64::from(used) / all;
        let tally = &mut self.bearer(link).tally;
        tally.carried = tally.carried + Span::ns(share);
    }

    /// Passes on the packets that have come in order, and notes those that were given up.
    fn settle_bearer<C: Order>(&mut self, clock: C, link: usize, at: Time) {
        while let Some(outcome) = self.bearer(link).settled(at) {
            match outcome {
                Outcome::Received(frame, waited) => {
                    self.bearer(link).tally.note_wait(waited);
                    self.note_sent(clock, link, frame);
                }
                Outcome::Lost(frame) => self.note_given_up(link, at, frame, Cause::Retries),
            }
        }
    }
}
