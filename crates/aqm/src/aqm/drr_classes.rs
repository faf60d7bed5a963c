//! DRR-classes: deficit round robin between classes, each with a discipline of its own.
//!
//! Classes with packets take turns. A class may send a packet that is at most as long as its deficit, which becomes
//! less by it; else it goes to the end of the round, and gains its `quantum`:
//!
//! ```text
//! size <= deficit:    sent, and deficit <- deficit - size
//! else:               deficit <- deficit + quantum, to the end of the round
//! ```
//!
//! So classes that always have packets share the link in proportion to their quanta. A class that comes to the round
//! begins with a deficit of one quantum. A packet joins the first of the `classes` that names its DSCP (`dscp`) or its
//! class of service (`service`); if none does, the first that names neither, else the last. For a queue of each flow
//! see `drr`. As in `htb`, a class that is empty is not asked for a packet.
//!
//! Decides at: departure, which class. The disciplines inside decide on packets. Timer: those of the disciplines
//! inside. Randomness: that of the disciplines inside. State: the round; per class, a deficit.
//!
//! # Departures from the source
//! Linux drops what no filter sends to a class. There a class whose discipline is a shaper without tokens stops the
//! round; so it does here.
//!
//! # Sources
//! Shreedhar, Varghese, "Efficient fair queueing using deficit round robin", SIGCOMM 1995; Linux 7.2, sch_drr.c. Tested
//! packet by packet against a plain re-implementation, and in open loop against the kernel.

use crate::composite::{Composite, Leaf, P, Part, Parts, Scheduler, Served};
use crate::contract::{Port, Signal};
use crate::discipline::Lane;
use crate::dscp::Dscp;
use crate::params::{Named, Range};
use crate::unit::{Bytes, Time};
use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

crate::params! {
    /// A class.
    pub struct Class with leaf: Leaf {
        /// What it gains in a round; auto is a full packet.
        quantum: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9);
    }
}

crate::params! {
    /// The parameters of deficit round robin between classes.
    pub struct Params {
        /// The classes.
        classes: Named<Class> = usual(), "";
    }
}

/// Assured forwarding has a share of its own.
fn usual() -> Named<Class> {
    let assured = vec![Dscp::Af21, Dscp::Af22, Dscp::Af23, Dscp::Af31, Dscp::Af32, Dscp::Af33];
    let leaf = Leaf { dscp: Some(assured), ..Leaf::default() };
    Named(vec![
        ("assured".to_owned(), Class { leaf, ..Class::default() }),
        ("others".to_owned(), Class::default()),
    ])
}

/// A class in the round.
#[derive(Clone, Debug)]
struct Turn {
    quantum: i64,
    deficit: i64,
    active: bool,
}

/// The round; see the module.
#[derive(Clone, Debug)]
pub struct Round {
    turns: Vec<Turn>,
    active: VecDeque<usize>,
}

/// The algorithm; see the module.
pub type DrrClasses = Composite<Round>;

impl Round {
    fn leave(&mut self, part: usize) {
        self.turns[part].active = false;
        self.active.retain(|other| *other != part);
    }

    /// After a round in which no class could send: adds the quanta of all rounds that will pass before one can.
    #[cold]
    fn skip_rounds(&mut self, parts: &Parts, lanes: &[Lane]) {
        let rounds = |part: &usize| {
            let turn = &self.turns[*part];
            let lacks = parts.get(*part).peek(lanes).map_or(0, i64::from) - turn.deficit;
            (lacks - 1).div_euclid(turn.quantum)
        };
        let least = self.active.iter().map(rounds).min().unwrap_or(0).max(0);
        self.active.iter().for_each(|part| self.turns[*part].deficit += least * self.turns[*part].quantum);
    }
}

impl Scheduler for Round {
    type Params = Params;
    const ASKS_EMPTY: bool = false;
    const SIGNALS: &'static [Signal] =
        &[P, Signal { name: "active", unit: "classes", doc: "Classes that take part in the round." }];

    fn parts<'a>(params: &'a Params, _: &Port) -> Vec<Part<'a>> {
        params.classes.0.iter().map(|(name, class)| Part::class(name, &class.leaf, None)).collect()
    }

    fn new(params: &Params, port: &Port) -> Self {
        let turn = |(_, class): &(String, Class)| {
            let quantum = class.quantum.unwrap_or(port.mtu()).0 as i64;
            Turn { quantum, deficit: 0, active: false }
        };
        let turns: Vec<Turn> = params.classes.0.iter().map(turn).collect();
        Self { active: VecDeque::with_capacity(turns.len()), turns }
    }

    fn on_join(&mut self, part: usize, was_empty: bool) {
        if was_empty && self.turns[part].active {
            self.leave(part);
        }
        let turn = &mut self.turns[part];
        if !turn.active {
            (turn.active, turn.deficit) = (true, turn.quantum);
            self.active.push_back(part);
        }
    }

    fn choose(&mut self, now: Time, parts: &mut Parts, lanes: &[Lane]) -> Option<Served> {
        let mut renewed = 0;
        while let Some(&part) = self.active.front() {
            if parts.get(part).is_empty() {
                self.leave(part);
                continue;
            }
            let Some(size) = parts.get(part).peek(lanes) else {
                return parts.can_serve(part, now, lanes).then(|| parts.take_out(part, now, lanes));
            };
            if i64::from(size) <= self.turns[part].deficit {
                return parts.can_serve(part, now, lanes).then(|| parts.serve(part, now, lanes));
            }
            self.turns[part].deficit += self.turns[part].quantum;
            self.active.rotate_left(1);
            renewed += 1;
            if renewed == self.active.len() {
                self.skip_rounds(parts, lanes);
                renewed = 0;
            }
        }
        None
    }

    fn on_sent(&mut self, _: Time, part: usize, size: u32, parts: &Parts) {
        self.turns[part].deficit -= i64::from(size);
        if parts.get(part).is_empty() {
            self.leave(part);
        }
    }

    fn resume(&mut self, _: Time, before: Self) {
        for (turn, before) in self.turns.iter_mut().zip(&before.turns) {
            (turn.active, turn.deficit) = (before.active, before.deficit);
        }
        self.active = before.active;
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(1, self.active.len() as f64);
    }
}
