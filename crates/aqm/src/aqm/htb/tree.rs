//! The tree of HTB's classes, as sch_htb.c keeps it: which of them send, in what order, and when that changes.
//!
//! Sets of classes are bits, by their places, which stand for the numbers by which Linux sorts them.

use crate::bucket::Side;
use crate::composite::{Parts, Served};
use crate::contract::Reading;
use crate::discipline::Lane;
use crate::unit::{Bytes, Rate, Span, Time};
use alloc::vec::Vec;

/// Levels of a tree, priorities, and classes.
pub(super) const MOST: usize = 8;
pub(super) const PRIORITIES: usize = 8;
pub(super) const MOST_CLASSES: usize = 128;

/// What a bucket never falls below (`mbuffer`).
const LEAST: i64 = 60_000_000_000;

/// A class as it is set up.
pub(super) struct Setting {
    pub(super) parent: Option<usize>,
    /// The number of classes above it.
    pub(super) depth: usize,
    /// The discipline in it, if it is a leaf.
    pub(super) part: Option<usize>,
    pub(super) rate: Rate,
    pub(super) ceil: Rate,
    pub(super) burst: Bytes,
    pub(super) cburst: Bytes,
    pub(super) priority: usize,
    pub(super) quantum: i64,
}

/// What a class may do (`htb_cmode`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Waits,
    Borrows,
    Sends,
}

/// Classes of one priority that take turns, those at a level or below a class (`htb_prio`).
#[derive(Clone, Copy, Default, Debug)]
struct Turns {
    members: u128,
    current: Option<usize>,
    /// Where the current one was when it left, if nothing has been looked up since.
    left: Option<usize>,
}

impl Turns {
    fn add(&mut self, class: usize) {
        self.members |= 1 << class;
    }

    fn remove(&mut self, class: usize) {
        self.members &= !(1 << class);
    }

    /// The first member from `class` on.
    fn from(&self, class: usize) -> Option<usize> {
        let rest = self.members.checked_shr(class as u32)?.checked_shl(class as u32)?;
        (rest != 0).then(|| rest.trailing_zeros() as usize)
    }

    fn advance(&mut self) {
        self.current = self.current.and_then(|class| self.from(class + 1));
    }
}

#[derive(Clone, Debug)]
struct Class {
    parent: Option<usize>,
    level: usize,
    part: Option<usize>,
    priority: usize,
    quantum: i64,
    own: Side,
    ceil: Side,
    checked: Time,
    mode: Mode,
    /// The priorities of which it has packets, as bits.
    active: u8,
    /// When its mode is to be looked at again, and the number of this entry among those of the same time.
    due: Option<(Time, u64)>,
    /// Of a leaf, by the level from which it borrows.
    deficits: [i64; MOST],
    /// Of a class with others below it, those that borrow, by priority.
    feeds: [Turns; PRIORITIES],
    lent: u64,
    borrowed: u64,
}

/// A choice: a leaf, and the level and the priority at which it is served.
#[derive(Clone, Copy, Debug)]
struct Choice {
    leaf: usize,
    level: usize,
    priority: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Tree {
    classes: Vec<Class>,
    /// The class of each discipline.
    leaves: Vec<usize>,
    /// Those that send on their own account, by level and priority.
    rows: [[Turns; PRIORITIES]; MOST],
    /// Before this time, no class at the level is due.
    quiet: [Time; MOST],
    now: Time,
    entries: u64,
    choice: Option<Choice>,
}

impl Tree {
    pub(super) fn new(settings: &[Setting]) -> Self {
        let class = |setting: &Setting| Class {
            parent: setting.parent,
            level: if setting.part.is_some() { 0 } else { MOST - 1 - setting.depth },
            part: setting.part,
            priority: setting.priority,
            quantum: setting.quantum,
            own: Side::new(setting.rate, setting.burst),
            ceil: Side::new(setting.ceil, setting.cburst),
            checked: Time::ZERO,
            mode: Mode::Sends,
            active: 0,
            due: None,
            deficits: [0; MOST],
            feeds: [Turns::default(); PRIORITIES],
            lent: 0,
            borrowed: 0,
        };
        let classes: Vec<Class> = settings.iter().map(class).collect();
        let leaves = (0..classes.len()).filter(|class| classes[*class].part.is_some()).collect();
        Self {
            classes,
            leaves,
            rows: [[Turns::default(); PRIORITIES]; MOST],
            quiet: [Time::ZERO; MOST],
            now: Time::ZERO,
            entries: 0,
            choice: None,
        }
    }

    /// Adds a class to those from which it borrows or, if it sends, to its row (`htb_activate_prios`).
    fn activate(&mut self, class: usize) {
        let (mut class, mut mask) = (class, self.classes[class].active);
        while self.classes[class].mode == Mode::Borrows && mask != 0 {
            let Some(parent) = self.classes[class].parent else { break };
            for priority in bits(mask) {
                let feed = &mut self.classes[parent].feeds[priority];
                if feed.members != 0 {
                    mask &= !(1 << priority);
                }
                feed.add(class);
            }
            self.classes[parent].active |= mask;
            class = parent;
        }
        if self.classes[class].mode == Mode::Sends {
            let level = self.classes[class].level;
            bits(mask).for_each(|priority| self.rows[level][priority].add(class));
        }
    }

    /// The opposite (`htb_deactivate_prios`); the mode is still the old one.
    fn deactivate(&mut self, class: usize) {
        let (mut class, mut mask) = (class, self.classes[class].active);
        while self.classes[class].mode == Mode::Borrows && mask != 0 {
            let Some(parent) = self.classes[class].parent else { break };
            let of_class = core::mem::take(&mut mask);
            for priority in bits(of_class) {
                let feed = &mut self.classes[parent].feeds[priority];
                if feed.current == Some(class) {
                    (feed.left, feed.current) = (Some(class), None);
                }
                feed.remove(class);
                if feed.members == 0 {
                    mask |= 1 << priority;
                }
            }
            self.classes[parent].active &= !mask;
            class = parent;
        }
        if self.classes[class].mode == Mode::Sends {
            let level = self.classes[class].level;
            for priority in bits(mask) {
                let row = &mut self.rows[level][priority];
                if row.current == Some(class) {
                    row.advance();
                }
                row.remove(class);
            }
        }
    }

    fn leave(&mut self, class: usize) {
        if self.classes[class].active != 0 {
            self.deactivate(class);
            self.classes[class].active = 0;
        }
    }

    pub(super) fn on_join(&mut self, part: usize, was_empty: bool) {
        let class = self.leaves[part];
        if was_empty {
            self.leave(class);
        }
        if self.classes[class].active == 0 {
            self.classes[class].active = 1 << self.classes[class].priority;
            self.activate(class);
        }
    }

    /// The mode of a class after `gap`, and how long it lasts (`htb_class_mode`).
    fn mode(&self, class: usize, gap: i64) -> (Mode, i64) {
        let Class { own, ceil, .. } = &self.classes[class];
        match (ceil.tokens() + gap, own.tokens() + gap) {
            (ceil, _) if ceil < 0 => (Mode::Waits, -ceil),
            (_, own) if own >= 0 => (Mode::Sends, gap),
            (_, own) => (Mode::Borrows, -own),
        }
    }

    /// Brings the mode up to date (`htb_change_class_mode`); returns how long it lasts.
    fn change(&mut self, class: usize, gap: i64) -> i64 {
        let (mode, lasts) = self.mode(class, gap);
        let before = self.classes[class].mode;
        if mode != before {
            let is_active = self.classes[class].active != 0;
            if is_active && before != Mode::Waits {
                self.deactivate(class);
            }
            self.classes[class].mode = mode;
            if is_active && mode != Mode::Waits {
                self.activate(class);
            }
        }
        lasts
    }

    /// The class is looked at again after `span` (`htb_add_to_wait_tree`).
    fn postpone(&mut self, class: usize, span: i64) {
        let due = self.now + Span::ns(span.max(1).unsigned_abs());
        self.entries += 1;
        self.classes[class].due = Some((due, self.entries));
        let quiet = &mut self.quiet[self.classes[class].level];
        *quiet = (*quiet).min(due);
    }

    fn gap(&self, class: usize) -> i64 {
        let gap = self.now.since(self.classes[class].checked).nanos();
        i64::try_from(gap).unwrap_or(i64::MAX).min(LEAST)
    }

    /// Looks at the classes of a level that are due; returns when the next is (`htb_do_events`).
    fn catch_up(&mut self, level: usize) -> Option<Time> {
        loop {
            let of_level = |class: &usize| self.classes[*class].level == level;
            let waiting = (0..self.classes.len()).filter(of_level);
            let (class, (due, _)) = waiting
                .filter_map(|class| Some((class, self.classes[class].due?)))
                .min_by_key(|(_, due)| *due)?;
            if due > self.now {
                return Some(due);
            }
            self.classes[class].due = None;
            let lasts = self.change(class, self.gap(class));
            if self.classes[class].mode != Mode::Sends {
                self.postpone(class, lasts);
            }
        }
    }

    /// The leaf whose turn it is at a level (`htb_lookup_leaf`).
    fn look_up(&mut self, level: usize, priority: usize) -> Option<usize> {
        if self.rows[level][priority].members == 0 {
            return None;
        }
        // The class whose feed is looked at; none is the row.
        let mut way: [Option<usize>; MOST + 1] = [None; MOST + 1];
        let mut at = 0;
        loop {
            let turns = self.turns(way[at], level, priority);
            if turns.current.is_none()
                && let Some(left) = turns.left
            {
                turns.current = turns.from(left);
            }
            turns.left = None;
            let Some(class) = turns.current else {
                turns.current = turns.from(0);
                if at > 0 {
                    at -= 1;
                    self.turns(way[at], level, priority).advance();
                }
                continue;
            };
            if self.classes[class].part.is_some() {
                return Some(class);
            }
            at += 1;
            way[at] = Some(class);
        }
    }

    fn turns(&mut self, parent: Option<usize>, level: usize, priority: usize) -> &mut Turns {
        match parent {
            Some(parent) => &mut self.classes[parent].feeds[priority],
            None => &mut self.rows[level][priority],
        }
    }

    /// The next one has its turn.
    fn pass_on(&mut self, Choice { leaf, level, priority }: Choice) {
        let parent = if level > 0 { self.classes[leaf].parent } else { None };
        self.turns(parent, level, priority).advance();
    }

    /// Chooses a leaf (`htb_dequeue`).
    pub(super) fn choose(&mut self, now: Time, parts: &mut Parts, lanes: &[Lane]) -> Option<Served> {
        self.now = now;
        let mut next = now + Span::s(5);
        for level in 0..MOST {
            if now >= self.quiet[level] {
                self.quiet[level] = self.catch_up(level).unwrap_or(now + Span::s(1));
            }
            next = next.min(self.quiet[level]);
            for priority in 0..PRIORITIES {
                if self.rows[level][priority].members != 0
                    && let Some(served) = self.choose_at(level, priority, parts, lanes)
                {
                    return Some(served);
                }
            }
        }
        parts.wait(next.max(now + Span::ns(1)));
        None
    }

    /// Chooses a leaf at a level (`htb_dequeue_tree`).
    fn choose_at(
        &mut self,
        level: usize,
        priority: usize,
        parts: &mut Parts,
        lanes: &[Lane],
    ) -> Option<Served> {
        let mut start = self.look_up(level, priority);
        let mut turn = start;
        loop {
            let leaf = turn?;
            let part = self.classes[leaf].part?;
            if parts.get(part).is_empty() {
                self.leave(leaf);
                let next = self.look_up(level, priority);
                start = if turn == start { next } else { start };
                turn = next;
                continue;
            }
            let choice = Choice { leaf, level, priority };
            if parts.can_serve(part, self.now, lanes) {
                self.choice = Some(choice);
                return Some(parts.serve(part, self.now, lanes));
            }
            self.pass_on(choice);
            turn = self.look_up(level, priority);
            if turn == start {
                return None;
            }
        }
    }

    /// A packet has left the leaf that was chosen.
    pub(super) fn on_sent(&mut self, part: usize, size: u32, length: u32, is_empty: bool) {
        let leaf = self.leaves[part];
        let choice = self.choice.take().filter(|choice| choice.leaf == leaf);
        let Some(choice) = choice else { unreachable!("the leaf that sends has been chosen") };
        let Class { deficits, quantum, .. } = &mut self.classes[leaf];
        let deficit = &mut deficits[choice.level];
        *deficit -= i64::from(size);
        if *deficit < 0 {
            *deficit += *quantum;
            self.pass_on(choice);
        }
        if is_empty {
            self.leave(leaf);
        }
        self.charge(leaf, choice.level, length);
    }

    /// Pays for a packet that was borrowed from `level` (`htb_charge_class`).
    fn charge(&mut self, leaf: usize, level: usize, length: u32) {
        let mut next = Some(leaf);
        while let Some(class) = next {
            let gap = self.gap(class);
            let own = &mut self.classes[class];
            if own.level >= level {
                own.lent += u64::from(own.level == level);
                own.own.pay(gap, length, LEAST);
            } else {
                own.borrowed += 1;
                own.own.add(gap);
            }
            own.ceil.pay(gap, length, LEAST);
            own.checked = self.now;
            let before = own.mode;
            next = own.parent;
            let lasts = self.change(class, 0);
            let mode = self.classes[class].mode;
            if mode != before {
                self.classes[class].due = None;
                if mode != Mode::Sends {
                    self.postpone(class, lasts);
                }
            }
        }
    }

    pub(super) fn has_form_of(&self, before: &Self) -> bool {
        let form = |class: &Class| (class.parent, class.level, class.part, class.priority);
        self.classes.len() == before.classes.len()
            && self.classes.iter().zip(&before.classes).all(|(own, other)| form(own) == form(other))
    }

    /// Takes over the state of another tree of the same form; what its buckets hold is bounded by those here.
    pub(super) fn resume(&mut self, before: Self) {
        for (own, before) in self.classes.iter_mut().zip(before.classes) {
            own.own.resume(&before.own);
            own.ceil.resume(&before.ceil);
            (own.checked, own.mode, own.active, own.due) =
                (before.checked, before.mode, before.active, before.due);
            (own.deficits, own.feeds) = (before.deficits, before.feeds);
            (own.lent, own.borrowed) = (before.lent, before.borrowed);
        }
        (self.rows, self.quiet, self.now) = (before.rows, before.quiet, before.now);
        (self.entries, self.choice) = (before.entries, before.choice);
    }

    pub(super) fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        for (i, class) in self.classes.iter().enumerate() {
            visit(&format!("{i}.lended"), Reading::Count(class.lent));
            visit(&format!("{i}.borrowed"), Reading::Count(class.borrowed));
            visit(&format!("{i}.tokens"), Reading::Level(class.own.tokens() as f64));
            visit(&format!("{i}.ctokens"), Reading::Level(class.ceil.tokens() as f64));
        }
    }

    /// The leaves with packets that send, that borrow, and that wait.
    pub(super) fn modes(&self) -> [f64; 3] {
        let of = |mode: Mode| {
            let active = self.classes.iter().filter(|class| class.part.is_some() && class.active != 0);
            active.filter(|class| class.mode == mode).count() as f64
        };
        [Mode::Sends, Mode::Borrows, Mode::Waits].map(of)
    }
}

/// The places of the bits that are set.
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |place| mask & (1 << place) != 0)
}
