//! The scheduler of a cell: who gets the resource blocks of a slot.
//!
//! At each boundary of a slot in which there is something to do, the blocks of the slot before are decoded, or fail.
//! Those that failed a round earlier are sent again, on as many resource blocks as before. The rest of the slot goes to
//! one user after the other, each as much as it needs:
//!
//! ```text
//! round-robin        to each in turn; who gets only a remnant of a slot, and wants more, keeps its turn
//! proportional-fair  to the user with the highest r/R, where r is its rate
//!                    and R the mean of what it was given, also for blocks again: R <- R + (given - R)·slot/window
//! ```
//!
//! In an uplink the base station knows of what waits by requests and reports: see [`crate::network::bearer`].
//!
//! # Departures from the source
//! - All resource blocks of a user have the same quality. A block has whole bytes: at less than a byte in a slot, 8
//!   kbit/s with 1 ms, nothing is sent.
//! - A block that is sent again fails as often as a new one: the receiver combines nothing.
//! - The receiver and the scheduler know what has become of a block when its slot is over, and that nothing more comes
//!   of a block after its last round; there is no timer for it (t-Reordering). A HARQ process is free when its block is
//!   decoded. RLC sends a block again without end, and its window counts blocks.
//! - Grants, requests, reports and status reports take no resources, and none is lost.
//!
//! # Sources
//! 3GPP TS 38.321, clauses 5.4.1 to 5.4.5 (HARQ, requests, reports); TS 38.322, clauses 5.2 and 5.3 (RLC). Jalali,
//! Padovani and Pankaj, "Data throughput of CDMA-HDR", IEEE VTC 2000 (proportional fairness).

use aqm::unit::{Span, Time};
use scenario::Scenario;
use scenario::model::{Cell as Rules, Place, Sharing};
use std::collections::VecDeque;

/// The users in one direction.
#[derive(Debug)]
struct Way {
    /// In the order of their turn.
    turn: VecDeque<usize>,
    /// The bits that each was given in a slot, on average, and in this one.
    means: Vec<f64>,
    given: Vec<f64>,
    /// The bits that each could send in this slot if it were its own; none if it wants none.
    wants: Vec<u64>,
    /// The number of the last slot that is in the means.
    slot: u64,
}

/// A cell.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) rules: Rules,
    /// The links to each user, and back.
    pub(crate) links: Vec<[usize; 2]>,
    ways: [Way; 2],
    /// How long a slot takes in each direction, with its part of those that carry nothing there.
    pub(crate) shares: [Span; 2],
    /// The end of the last slot that began.
    over: Time,
    /// The boundary at which there is something to do next.
    pub(crate) next: Time,
    /// Its slot on the event list.
    pub(crate) event: usize,
}

/// The cells of a scenario.
pub(crate) fn all(scenario: &Scenario) -> Vec<Cell> {
    let link = |place: Place| {
        let number = scenario.links.iter().position(|link| link.cell == Some(place));
        number.expect("a checked scenario has the links of each user")
    };
    let of = |(cell, rules): (usize, &Rules)| {
        let users = rules.users.len();
        let way = || Way {
            turn: (0..users).collect(),
            means: vec![0.0; users],
            given: vec![0.0; users],
            wants: vec![0; users],
            slot: 0,
        };
        Cell {
            rules: rules.clone(),
            links: (0..users).map(|user| [0, 1].map(|way| link(Place { cell, user, way }))).collect(),
            ways: [way(), way()],
            shares: [0, 1].map(|way| rules.share(way)),
            over: Time::ZERO,
            next: Time::MAX,
            event: crate::engine::event::NO_SLOT,
        }
    };
    scenario.cells.iter().enumerate().map(of).collect()
}

impl Cell {
    fn number(&self, at: Time) -> u64 {
        at.nanos() / self.rules.slot.nanos()
    }

    /// The first boundary at `at` or later that is still to come.
    fn boundary(&self, at: Time) -> Time {
        let slot = self.rules.slot.nanos();
        at.nanos().div_ceil(slot).checked_mul(slot).map_or(Time::MAX, Time::from_nanos).max(self.over)
    }

    /// There is something to do at `at`. Returns whether that is earlier than all else.
    pub(crate) fn wake(&mut self, at: Time) -> bool {
        let at = if at == Time::MAX { at } else { self.boundary(at) };
        let is_earlier = at < self.next;
        self.next = self.next.min(at);
        is_earlier
    }

    /// A slot begins at `at`; returns which directions it carries.
    pub(crate) fn begin(&mut self, at: Time) -> [bool; 2] {
        (self.over, self.next) = (at + self.rules.slot, Time::MAX);
        let pattern = &self.rules.pattern;
        let carries = pattern[(self.number(at) % pattern.len() as u64) as usize];
        for way in [0, 1] {
            if carries[way] && self.rules.scheduler == Sharing::ProportionalFair {
                self.average(way, self.number(at));
            }
        }
        carries
    }

    /// Takes the bits given in the last slot, and none in those since, into the means.
    fn average(&mut self, way: usize, slot: u64) {
        let weight = (self.rules.slot.secs() / self.rules.window.secs()).min(1.0);
        let Way { means, given, slot: last, .. } = &mut self.ways[way];
        let idle = slot.saturating_sub(*last + 1) as f64;
        let fades = if idle > 0.0 { libm::pow(1.0 - weight, idle) } else { 1.0 };
        for (mean, given) in means.iter_mut().zip(given) {
            *mean = (*mean + (*given - *mean) * weight) * fades;
            *given = 0.0;
        }
        *last = slot;
    }

    /// A user could send these bits in a slot of its own, or wants none.
    pub(crate) fn note_wants(&mut self, way: usize, user: usize, bits: u64) {
        self.ways[way].wants[user] = bits;
    }

    /// The user that gets the rest of a slot, of those that want some and were not chosen for it before.
    pub(crate) fn choose(&mut self, way: usize) -> Option<usize> {
        let round_robin = self.rules.scheduler == Sharing::RoundRobin;
        let Way { turn, means, wants, .. } = &mut self.ways[way];
        // Who has had nothing comes first.
        let rank = |user: usize| wants[user] as f64 / means[user].max(1e-9);
        let mut best: Option<usize> = None;
        for (place, &user) in turn.iter().enumerate().filter(|(_, user)| wants[**user] > 0) {
            if best.is_none_or(|best| !round_robin && rank(user) > rank(turn[best])) {
                best = Some(place);
            }
        }
        let user = turn[best?];
        wants[user] = 0;
        Some(user)
    }

    /// The user whose turn is after that of `place` others.
    pub(crate) fn in_turn(&self, way: usize, place: usize) -> usize {
        self.ways[way].turn[place]
    }

    /// A user has had its turn.
    pub(crate) fn end_turn(&mut self, way: usize, user: usize) {
        let turn = &mut self.ways[way].turn;
        turn.retain(|other| *other != user);
        turn.push_back(user);
    }

    /// A user was given this number of bits of a slot.
    pub(crate) fn give(&mut self, way: usize, user: usize, bits: u64) {
        self.ways[way].given[user] += bits as f64;
    }
}
