//! HTB: a shaper with a tree of classes that borrow from each other, each leaf with a discipline of its own.
//!
//! Each class has a bucket for its `rate` and one for its `ceil`. It may send while both have tokens; while only that
//! of `ceil` has, it borrows from its `parent`, if that may send or borrow; else it waits. A packet is paid for in both
//! buckets of the class that lends and of all above it, and in the bucket of `ceil` of those below:
//!
//! ```text
//! ceil's tokens < 0     the class waits
//! tokens >= 0           it sends on its own account
//! else                  it borrows
//! ```
//!
//! Those that send on their own account come first; after them, those that borrow from the nearest class that has
//! tokens. Of several, the lowest `priority` comes first, and leaves with the same take turns by deficit, with a
//! `quantum` each. So what a class does not use goes to its siblings, and to those of the lowest `priority` first.
//!
//! A leaf that is empty is never asked for a packet, so that its discipline does not learn that it rests: RED in a
//! leaf ages its average only with packets, and a queue of `fq` stays on its list until another is served.
//!
//! A packet joins the first leaf that names its DSCP (`dscp`) or its class of service (`service`); if none does, the
//! first that names neither, else the last.
//!
//! Decides at: departure, which class, and when. The disciplines inside decide on packets. Timer: those of the
//! disciplines inside. Randomness: that of the disciplines inside. State: per class, two buckets, its mode, and its
//! place in the turns.
//!
//! # Departures from the source
//! What no class takes is sent unshaped in Linux, before everything else; here a leaf takes it. Its classes of the same
//! priority take turns in the order of their numbers, those here as they are written. tc's bursts are rounded up to 64
//! ns of the rate. Linux has no limit for the sum of rates below a class; here more than the class has is refused.
//! `hysteresis` is off, as it is in Linux. As there, a bucket never owes more than a minute of its rate: below 202 bit/s
//! full packets leave faster than that. Automatic rates are parts of the link's first rate.
//!
//! # Sources
//! Devera, 2002, the manual; Linux 7.2, sch_htb.c; iproute2, q_htb.c. Tested
//! packet by packet against a plain re-implementation, and in open loop against the kernel.

mod tree;

use crate::composite::{Composite, Leaf, P, Part, Parts, Scheduler, Served};
use crate::contract::{Port, Reading, Signal};
use crate::discipline::Lane;
use crate::framing::{Framing, WireLength};
use crate::params::{Named, ParamError, Range};
use crate::unit::{Bytes, Rate, Time};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use tree::{MOST, MOST_CLASSES, PRIORITIES, Setting, Tree};

/// The least rate in bit/s.
const LEAST: u64 = 64;

crate::params! {
    /// A class.
    pub struct Class with leaf: Leaf {
        /// The class above it, which has no discipline and takes no packets itself; auto is none.
        parent: Option<String> = None, "";
        /// Its guaranteed rate; auto is an equal part of what its siblings leave of their parent's, or the link's.
        rate: Option<Rate> = None, "bit/s", Range::new(LEAST as f64, 1e13);
        /// Its highest rate, by borrowing; auto is `rate`.
        ceil: Option<Rate> = None, "bit/s", Range::new(LEAST as f64, 1e13);
        /// Bytes that it may send at once on its own account.
        burst: Bytes = Bytes(1600), "bytes", Range::new(0.0, 4e9), ["buffer", "maxburst"];
        /// Bytes that it may send at once by borrowing.
        cburst: Bytes = Bytes(1600), "bytes", Range::new(0.0, 4e9), ["cbuffer", "cmaxburst"];
        /// The lowest comes first.
        priority: u32 = 0, "", Range::new(0.0, PRIORITIES as f64 - 1.0), ["prio"];
        /// Bytes that it sends in its turn; auto is what its rate sends in a tenth of a second, 1000 to 200,000 bytes.
        quantum: Option<Bytes> = None, "bytes", Range::new(1.0, 1e9);
    }
}

crate::params! {
    /// The parameters of the tree.
    pub struct Params {
        /// The classes.
        classes: Named<Class> = Named(vec![("all".to_owned(), Class::default())]), "";
        /// Length of a packet in the buckets, in tc's words, as `framing` of a link; if omitted, as the queue sees it.
        framing: Option<Framing> = None, "";
    }
}

impl Params {
    /// The place of a class.
    fn find(&self, name: &str) -> Option<usize> {
        self.classes.0.iter().position(|(other, _)| other == name)
    }

    fn parent(&self, place: usize) -> Option<usize> {
        self.classes.0[place].1.parent.as_deref().and_then(|name| self.find(name))
    }

    /// The class and those above it, if no circle leads back.
    fn above(&self, place: usize) -> Option<Vec<usize>> {
        let mut all = vec![place];
        while let Some(parent) = self.parent(all[all.len() - 1]) {
            if all.contains(&parent) {
                return None;
            }
            all.push(parent);
        }
        Some(all)
    }

    fn children(&self, place: usize) -> impl Iterator<Item = usize> {
        (0..self.classes.0.len()).filter(move |other| self.parent(*other) == Some(place))
    }

    fn is_leaf(&self, place: usize) -> bool {
        self.children(place).next().is_none()
    }

    /// The places of the leaves, in order.
    fn leaves(&self) -> Vec<usize> {
        (0..self.classes.0.len()).filter(|place| self.is_leaf(*place)).collect()
    }

    fn rate(&self, place: usize, of_link: Rate) -> Rate {
        let own = |place: usize| self.classes.0[place].1.rate;
        let shared = |parent: usize| {
            let given: u64 = self.children(parent).filter_map(own).map(Rate::whole_bits).sum();
            let others = self.children(parent).filter(|child| own(*child).is_none()).count() as u64;
            Rate::bit_per_s(self.rate(parent, of_link).whole_bits().saturating_sub(given) / others)
        };
        own(place).unwrap_or_else(|| self.parent(place).map_or(of_link, shared))
    }

    fn ceil(&self, place: usize, of_link: Rate) -> Rate {
        self.classes.0[place].1.ceil.unwrap_or_else(|| self.rate(place, of_link))
    }

    /// Refuses a class with a ceiling below its rate, and one whose rate its classes exceed together.
    fn check_rates(&self, of_link: Rate) -> Result<(), ParamError> {
        for (place, (name, class)) in self.classes.0.iter().enumerate() {
            let rate = self.rate(place, of_link);
            if rate.whole_bits() < LEAST {
                let allowed = "given, as its siblings leave nothing of the rate of their parent".to_owned();
                return Err(ParamError::invalid(&format!("classes.{name}.rate"), "auto", allowed));
            }
            if let Some(ceil) = class.ceil.filter(|ceil| *ceil < rate) {
                let allowed = format!("at least the rate of the class, {rate}");
                return Err(ParamError::invalid(&format!("classes.{name}.ceil"), ceil, allowed));
            }
            let own: Vec<usize> = self.children(place).collect();
            let sum: u64 = own.iter().map(|child| self.rate(*child, of_link).whole_bits()).sum();
            if sum > rate.whole_bits() {
                let names: Vec<&str> = own.iter().map(|child| &*self.classes.0[*child].0).collect();
                let allowed = format!(
                    "at least {}, which its classes have together ({}): raise it, or lower theirs",
                    Rate::bit_per_s(sum),
                    names.join(", ")
                );
                return Err(ParamError::invalid(&format!("classes.{name}.rate"), rate, allowed));
            }
        }
        Ok(())
    }
}

/// The tree; see the module.
#[derive(Clone, Debug)]
pub struct Classes {
    tree: Tree,
    length: WireLength,
}

/// The algorithm; see the module.
pub type Htb = Composite<Classes>;

impl Scheduler for Classes {
    type Params = Params;
    const ASKS_EMPTY: bool = false;
    const SIGNALS: &'static [Signal] = &[
        P,
        Signal {
            name: "sending",
            unit: "classes",
            doc: "Leaves with packets that may send on their own account.",
        },
        Signal { name: "borrowing", unit: "classes", doc: "Leaves with packets that may only borrow." },
        Signal { name: "waiting", unit: "classes", doc: "Leaves with packets that have to wait." },
    ];

    fn check(params: &Params) -> Result<(), ParamError> {
        let all = &params.classes.0;
        if all.len() > MOST_CLASSES {
            let found = format!("{} tables", all.len());
            return Err(ParamError::invalid("classes", found, format!("at most {MOST_CLASSES} tables")));
        }
        for (place, (name, class)) in all.iter().enumerate() {
            let refuse = |key: &str, found: String, allowed: String| {
                Err(ParamError::invalid(&format!("classes.{name}.{key}"), found, allowed))
            };
            let parent = class.parent.as_deref().unwrap_or_default();
            if class.parent.is_some() && params.parent(place).is_none() {
                let names: Vec<&str> =
                    all.iter().map(|(other, _)| &**other).filter(|other| other != name).collect();
                return refuse(
                    "parent",
                    format!("{parent:?}"),
                    format!("another class, one of {}", names.join(", ")),
                );
            }
            let Some(above) = params.above(place) else {
                return refuse(
                    "parent",
                    format!("{parent:?}"),
                    "a class that is not below this one itself".to_owned(),
                );
            };
            if above.len() > MOST {
                return refuse(
                    "parent",
                    format!("{parent:?}"),
                    format!("in a tree of at most {MOST} levels"),
                );
            }
            if let (false, Some((key, found))) = (params.is_leaf(place), class.leaf.first_given()) {
                let allowed = "omitted: the class has others below it, which take the packets".to_owned();
                let found = match key {
                    "aqm" => format!("{:?}", class.leaf.aqm.0.name()),
                    _ => found.to_string(),
                };
                return refuse(key, found, allowed);
            }
        }
        Ok(())
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        params.check_rates(port.rate)
    }

    fn parts<'a>(params: &'a Params, port: &Port) -> Vec<Part<'a>> {
        let part = |place: usize| {
            let (name, class) = &params.classes.0[place];
            Part::class(name, &class.leaf, Some(params.ceil(place, port.rate)))
        };
        params.leaves().into_iter().map(part).collect()
    }

    fn new(params: &Params, port: &Port) -> Self {
        let leaves = params.leaves();
        let setting = |(place, (_, class)): (usize, &(String, Class))| {
            let rate = params.rate(place, port.rate);
            let quantum =
                class.quantum.map_or((rate.whole_bits() / 80).clamp(1000, 200_000), |quantum| quantum.0);
            Setting {
                parent: params.parent(place),
                depth: params.above(place).map_or(0, |above| above.len() - 1),
                part: leaves.iter().position(|leaf| *leaf == place),
                rate,
                ceil: params.ceil(place, port.rate),
                burst: class.burst,
                cburst: class.cburst,
                priority: class.priority as usize,
                quantum: quantum as i64,
            }
        };
        let settings: Vec<Setting> = params.classes.0.iter().enumerate().map(setting).collect();
        Self {
            tree: Tree::new(&settings),
            length: params.framing.clone().unwrap_or_default().wire(port.header.0 as u32),
        }
    }

    fn on_join(&mut self, part: usize, was_empty: bool) {
        self.tree.on_join(part, was_empty);
    }

    fn choose(&mut self, now: Time, parts: &mut Parts, lanes: &[Lane]) -> Option<Served> {
        self.tree.choose(now, parts, lanes)
    }

    fn on_sent(&mut self, _: Time, part: usize, size: u32, parts: &Parts) {
        self.tree.on_sent(part, size, self.length.length(size), parts.get(part).is_empty());
    }

    fn can_resume(&self, before: &Self) -> bool {
        self.tree.has_form_of(&before.tree)
    }

    fn resume(&mut self, _: Time, before: Self) {
        self.tree.resume(before.tree);
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        self.tree.counters(visit);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        self.tree.modes().into_iter().zip(1..).for_each(|(classes, i)| visit(i, classes));
    }
}
