//! A link of a cell: the packets that have left its queue, sent in blocks and again until each is decoded or given up,
//! and passed on in order.
//!
//! The packets that leave the queue form a stream of bytes, which the blocks cover one after the other. A packet is
//! passed on when all blocks up to its last byte are decoded.

use crate::engine::rng::Stream;
use crate::network::access::{Frame, Tally};
use aqm::Uniform as _;
use aqm::ring::Ring;
use aqm::unit::{Rate, Span, Time};
use scenario::Distribution;
use scenario::model::{Cell, Fading, Place};

/// The most blocks that may wait for one of them: RLC's window with sequence numbers of 18 bits, there of packets.
const WINDOW: usize = 1 << 17;

/// The most blocks that are on the air or wait for their next round: HARQ processes of a user in 5G.
const PROCESSES: usize = 16;

/// The fate of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It is on the air.
    Sent,
    /// It is to be sent again from this time on, by HARQ or by RLC.
    Failed(Time),
    /// It was decoded at this time, and waits for those before it.
    Decoded(Time),
    /// It was given up.
    GivenUp,
}

/// A block of a user's stream.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The bytes of the stream up to its end.
    end: u64,
    /// Its resource blocks.
    resources: u32,
    /// Its transmissions.
    rounds: u32,
    state: State,
}

/// A packet, and the bytes of the stream up to its end.
#[derive(Clone, Copy, Debug)]
struct Held {
    frame: Frame,
    end: u64,
}

/// What becomes of a packet in the end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// It was received, and waited this long for those before it.
    Received(Frame, Span),
    Lost(Frame),
}

/// What a base station may schedule of an uplink, as far as it knows.
#[derive(Clone, Debug)]
pub(crate) struct Grants {
    /// The bytes of the stream that it may schedule.
    allowed: u64,
    /// What it will learn of, and when, in order.
    reports: Ring<(Time, u64)>,
    /// The first opportunity to request, and the time between two.
    first: Span,
    every: Span,
    delay: Span,
    granted: u64,
}

/// The bearer of a user in one direction.
#[derive(Debug)]
pub(crate) struct Bearer {
    pub(crate) place: Place,
    fading: Fading,
    /// The place among its rates, and when it changes.
    state: usize,
    stays: Time,
    quality: Stream,
    errors: Stream,
    /// The time from a transmission of a block to the next, the most of them, and after how long RLC sends it again
    /// after the last, if it does.
    harq: Span,
    rounds: u32,
    retransmits: Option<Span>,
    /// `None` in the downlink, where the base station sees the queue.
    pub(crate) grants: Option<Grants>,
    held: Ring<Held>,
    blocks: Ring<Block>,
    /// The blocks on the air, those that failed, and those of both that RLC does not send again.
    on_air: usize,
    failed: usize,
    processes: usize,
    /// The bytes that have left the queue, and those of them that are in blocks.
    taken: u64,
    sent: u64,
    /// The end of the last block that was given up.
    hole: u64,
    /// When the last block was decoded of those that have the beginning of the first packet.
    begun: Time,
    /// When its queue, which is paused, has another packet.
    pub(crate) resumes: Time,
    pub(crate) tally: Tally,
}

impl Bearer {
    pub(crate) fn new(cell: &Cell, place: Place, [mut quality, errors]: [Stream; 2], tally: Tally) -> Self {
        let fading = cell.users[place.user][place.way].clone();
        // The chain is as often in each of its states.
        let state = (quality.uniform() * fading.rates.len() as f64) as usize;
        let stays = if fading.rates.is_empty() { Time::MAX } else { Time::ZERO };
        Self {
            place,
            fading,
            state,
            stays,
            quality,
            errors,
            harq: cell.harq,
            rounds: cell.rounds,
            retransmits: cell.retransmits,
            grants: (place.way == 1).then(|| Grants::new(cell, place.user)),
            held: Ring::new(),
            blocks: Ring::new(),
            on_air: 0,
            failed: 0,
            processes: 0,
            taken: 0,
            sent: 0,
            hole: 0,
            begun: Time::ZERO,
            resumes: Time::ZERO,
            tally,
        }
    }

    /// The packets that are neither passed on nor given up.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.held.iter().map(|held| &held.frame)
    }

    /// The bytes that have left the queue and are in no block yet.
    pub(crate) const fn rest(&self) -> u64 {
        self.taken - self.sent
    }

    /// The rate from `now` on, if it has changed since it was asked last.
    pub(crate) fn wander(&mut self, now: Time) -> Option<Rate> {
        if now < self.stays {
            return None;
        }
        let mut is_first = self.stays == Time::ZERO;
        while self.stays <= now {
            if !is_first {
                let up = self.quality.uniform() < 0.5;
                let last = self.fading.rates.len() - 1;
                self.state = if up { (self.state + 1).min(last) } else { self.state.saturating_sub(1) };
            }
            is_first = false;
            let stay = self.quality.draw(&Distribution::Exponential(self.fading.step));
            self.stays += stay.max(Span::ns(1));
        }
        Some(self.fading.rates[self.state])
    }

    /// Whether HARQ and RLC's window allow another block.
    const fn has_room(&self) -> bool {
        self.processes < PROCESSES && self.blocks.len() < WINDOW
    }

    /// Holds a packet from now on.
    pub(crate) fn hold(&mut self, frame: Frame) {
        self.taken += u64::from(frame.length);
        self.held.push_back(Held { frame, end: self.taken });
    }

    /// Sends a block with as many bytes of the stream, on this number of resource blocks.
    pub(crate) fn send(&mut self, bytes: u64, resources: u32) {
        debug_assert!(bytes > 0 && bytes <= self.rest());
        self.sent += bytes;
        self.blocks.push_back(Block { end: self.sent, resources, rounds: 1, state: State::Sent });
        self.on_air += 1;
        self.processes += 1;
    }

    /// Sends those blocks again whose time has come, as far as `left` resource blocks suffice; returns how many are
    /// left.
    pub(crate) fn repeat(&mut self, now: Time, mut left: u32) -> u32 {
        for i in 0..if self.failed > 0 { self.blocks.len() } else { 0 } {
            let Some(block) = self.blocks.get_mut(i) else { break };
            if matches!(block.state, State::Failed(due) if due <= now) && block.resources <= left {
                self.processes += usize::from(block.rounds.is_multiple_of(self.rounds));
                block.state = State::Sent;
                block.rounds += 1;
                left -= block.resources;
                self.on_air += 1;
                self.failed -= 1;
            }
        }
        left
    }

    /// When the first of the failed blocks is sent again.
    fn repeats(&self) -> Time {
        if self.failed == 0 {
            return Time::MAX;
        }
        let due = |block: &Block| if let State::Failed(due) = block.state { Some(due) } else { None };
        self.blocks.iter().filter_map(due).min().unwrap_or(Time::MAX)
    }

    /// The blocks on the air have come; they were sent at `since`.
    pub(crate) fn decode(&mut self, now: Time, since: Time) {
        for i in 0..if self.on_air > 0 { self.blocks.len() } else { 0 } {
            let Some(block) = self.blocks.get_mut(i) else { break };
            if block.state != State::Sent {
                continue;
            }
            let is_last = block.rounds.is_multiple_of(self.rounds);
            block.state = match self.retransmits {
                _ if !self.errors.happens(self.fading.error) => State::Decoded(now),
                _ if !is_last => State::Failed(since + self.harq),
                Some(wait) => State::Failed(now + wait),
                None => State::GivenUp,
            };
            if matches!(block.state, State::Failed(_)) {
                self.failed += 1;
                self.processes -= usize::from(is_last);
            } else {
                self.processes -= 1;
                self.tally.note_block(block.rounds);
            }
        }
        self.on_air = 0;
    }

    /// Takes out the next packet whose fate is known, as are those of all before it.
    pub(crate) fn settled(&mut self, now: Time) -> Option<Outcome> {
        loop {
            let block = *self.blocks.front()?;
            let since = match block.state {
                State::Sent | State::Failed(_) => return None,
                State::Decoded(since) => since,
                State::GivenUp => {
                    self.hole = block.end;
                    now
                }
            };
            let begins = |held: &Held| held.end - u64::from(held.frame.length);
            match self.held.front().copied() {
                Some(held) if held.end <= block.end => {
                    self.held.pop_front();
                    let whole = std::mem::replace(&mut self.begun, Time::ZERO).max(since);
                    return Some(if begins(&held) < self.hole {
                        Outcome::Lost(held.frame)
                    } else {
                        Outcome::Received(held.frame, now - whole)
                    });
                }
                Some(held) if begins(&held) < block.end => self.begun = self.begun.max(since),
                _ => {}
            }
            self.blocks.pop_front();
        }
    }

    /// The bytes that the base station may schedule at `now`, of a stream of which `waiting` are in the queue.
    pub(crate) fn credit(&mut self, now: Time, waiting: u64) -> u64 {
        let rest = if self.has_room() { self.rest() + waiting } else { 0 };
        let Some(grants) = &mut self.grants else { return rest };
        while let Some(&(at, allowed)) = grants.reports.front()
            && at <= now
        {
            grants.allowed = allowed;
            grants.reports.pop_front();
        }
        grants.allowed.saturating_sub(self.sent).min(rest)
    }

    /// A block of an uplink, sent at `now`, reports what still waits; without a block the base station learns that
    /// nothing does.
    pub(crate) fn report(&mut self, now: Time, waiting: u64, has_block: bool) {
        let total = self.taken + waiting;
        let Some(grants) = &mut self.grants else { return };
        if has_block {
            grants.reports.push_back((now + grants.delay, total));
        } else {
            grants.allowed = self.sent;
        }
    }

    /// An uplink in which something waits asks for a grant at its next opportunity, unless the base station knows of
    /// it, or will.
    pub(crate) fn ask(&mut self, now: Time) {
        let sent = self.sent;
        let Some(grants) = &mut self.grants else { return };
        if grants.allowed > sent || grants.reports.back().is_some_and(|&(_, allowed)| allowed > sent) {
            return;
        }
        let every = grants.every.nanos();
        let opportunities = now.nanos().saturating_sub(grants.first.nanos()).div_ceil(every);
        let at = Time::ZERO + grants.first + Span::ns(opportunities * every);
        grants.reports.push_back((at + grants.delay, sent + grants.granted));
    }

    /// The time of its next work after that of `now`; `waits` is whether something waits in its queue.
    pub(crate) fn next(&self, now: Time, waits: bool) -> Time {
        if self.on_air > 0 {
            return now;
        }
        let fresh = if self.rest() == 0 && !waits {
            Time::MAX
        } else if self.rest() == 0 && self.resumes > now {
            self.resumes
        } else {
            match &self.grants {
                Some(grants) if grants.allowed <= self.sent => {
                    let ahead = grants.reports.iter().find(|(_, allowed)| *allowed > self.sent);
                    ahead.map_or(Time::MAX, |(at, _)| *at)
                }
                _ => now,
            }
        };
        fresh.min(self.repeats())
    }
}

impl Grants {
    /// Of this user. The users request in turn, in whole slots.
    fn new(cell: &Cell, user: usize) -> Self {
        let (every, slot) = (cell.request, cell.slot.nanos());
        let first = Span::ns(every.nanos() * user as u64 / cell.users.len() as u64 / slot * slot);
        let (delay, granted) = (cell.grant, u64::from(cell.first_grant));
        Self { allowed: 0, reports: Ring::new(), first, every, delay, granted }
    }
}
