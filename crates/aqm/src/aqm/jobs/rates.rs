//! How the link's rate is divided among the classes.

use super::shedding::{N, Shedding, Wanted};
use super::{Class, Jobs, Relief, bits};
use crate::discipline::Lane;
use crate::unit::Time;

/// Rates in bit/s that differ by less are equal. ns-2 uses 1e-10, less than rounding errors, and mostly 0.
const NO_RATE: f64 = 1e-3;

/// The shortest time to a deadline, in seconds, which a late class has (ns-2).
const LATE: f64 = 1e-10;

impl Jobs {
    /// Counts the bits that have become due for the waiting classes.
    pub(super) fn advance(&mut self, now: Time, lanes: &[Lane]) {
        for (class, lane) in self.classes.iter_mut().zip(lanes) {
            if let Some(before) = class.counted.replace(now)
                && lane.packets > 0
            {
                class.due += now.since(before).secs() * class.rate;
            }
        }
    }

    /// Divides the link anew if a class has begun or ceased to wait.
    pub(super) fn conserve_work(&mut self, lanes: &[Lane]) {
        let stale = |(class, lane): (&Class, &Lane)| {
            if lane.packets > 0 { class.rate <= NO_RATE } else { class.rate > NO_RATE }
        };
        if !self.classes.iter().zip(lanes).any(stale) {
            return;
        }
        let active = lanes.iter().filter(|lane| lane.packets > 0).count() as f64;
        for (class, lane) in self.classes.iter_mut().zip(lanes) {
            class.rate = if lane.packets > 0 { self.link / active } else { 0.0 };
        }
    }

    /// Computes the minimum rates; returns whether every class has its own.
    pub(super) fn has_min_rates(&mut self, now: Time, lanes: &[Lane]) -> bool {
        let mut enough = true;
        for (class, lane) in self.classes.iter_mut().zip(lanes) {
            class.min_rate = 0.0;
            let Some(head) = lane.head else { continue };
            let for_delay = class.delay.map_or(0.0, |delay| {
                let left = delay - now.since(head.arrived).secs();
                if left > 0.0 { bits(lane.bytes) / left } else { f64::INFINITY }
            });
            class.min_rate = for_delay.max(class.min.unwrap_or(0.0));
            enough &= class.min_rate <= class.rate + NO_RATE;
        }
        enough
    }

    /// Moves rates to the classes that lack them; returns the drops that are then due.
    pub(super) fn assign_rates(&mut self, now: Time, lanes: &[Lane]) -> Shedding {
        let nothing = Wanted { left: f64::INFINITY, rate: 0.0, backlog: 0.0, late: false };
        let mut wanted = [nothing; N];
        let mut spare = [0.0; N];
        for (i, (class, lane)) in self.classes.iter().zip(lanes).enumerate() {
            spare[i] = class.rate;
            let Some(head) = lane.head else { continue };
            wanted[i] = Wanted { rate: class.rate, backlog: bits(lane.bytes), ..nothing };
            if let Some(delay) = class.delay {
                wanted[i].left = (delay - now.since(head.arrived).secs()).max(LATE);
                spare[i] = class.rate - wanted[i].backlog / wanted[i].left;
            }
            if let Some(min) = class.min {
                spare[i] = spare[i].min(class.rate - min);
            }
        }
        while let Some(to) = (0..N).find(|i| spare[*i] < -NO_RATE)
            && let Some(from) = (0..N).rev().find(|i| spare[*i] > 0.0)
        {
            if spare[from] >= -spare[to] {
                let lacking = -spare[to];
                wanted[from].rate -= lacking;
                wanted[to].rate += lacking;
                spare[from] -= lacking;
                spare[to] = 0.0;
            } else {
                wanted[from].rate -= spare[from];
                wanted[to].rate += spare[from];
                spare[to] += spare[from];
                spare[from] = 0.0;
            }
        }
        let mut excess = 0.0;
        for (i, class) in self.classes.iter_mut().enumerate() {
            class.rate = if lanes[i].packets > 0 { wanted[i].rate } else { 0.0 };
            wanted[i].late = spare[i] < -NO_RATE && wanted[i].left < f64::INFINITY;
            if wanted[i].late {
                excess += wanted[i].backlog - wanted[i].left * wanted[i].rate;
            }
        }
        Shedding { wanted, excess, stopped: [false; N] }
    }

    /// Sets the minimum rates after packets have been dropped.
    pub(super) fn settle(&mut self, shedding: &Shedding, lanes: &[Lane]) {
        for (i, class) in self.classes.iter_mut().enumerate() {
            let Wanted { left, rate, backlog, .. } = shedding.wanted[i];
            class.min_rate = match (class.delay, class.min) {
                _ if lanes[i].packets == 0 => 0.0,
                (Some(_), None) if !self.ns2 => (bits(lanes[i].bytes) / left).min(rate),
                (Some(_), None) if self.relief == Relief::Own => bits(lanes[i].bytes) / left,
                (Some(_), None) => backlog / left,
                (_, Some(_)) => rate,
                (None, None) => 0.0,
            };
        }
    }

    /// Moves rates towards the relation of delays, without going below a minimum.
    pub(super) fn adjust_rates(&mut self, now: Time, lanes: &[Lane]) {
        self.arrivals = 0;
        let outside = |(class, lane): &(&Class, &Lane)| class.delay_weight.is_none() && lane.packets > 0;
        let upper = self.link
            - self.classes.iter().zip(lanes).filter(outside).map(|(class, _)| class.rate).sum::<f64>();
        let weighted = |i: usize| {
            let waited = now.since(lanes[i].head?.arrived).secs();
            Some(self.classes[i].delay_weight? * waited)
        };
        let count = (0..N).filter_map(weighted).count();
        if upper < NO_RATE || lanes.iter().all(|lane| lane.packets == 0) {
            return;
        }
        let mean = (0..N).filter_map(weighted).sum::<f64>() / count as f64;
        let related = |class: &&Class| class.delay_weight.is_some();
        let entered: f64 = self.classes.iter().filter(related).map(|class| class.entered).sum();
        let least = self.classes.iter().fold(1.0, |least, class| f64::min(least, class.entered / entered));
        let load = self.load.of(self.link);
        let gain = self.gain * upper * upper * least * load * load.max(1.0);
        let mut change: [f64; N] =
            core::array::from_fn(|i| weighted(i).map_or(0.0, |delay| gain * (mean - delay)));
        let in_relation = |i: usize| self.classes[i].delay_weight.is_some();
        let minima: f64 = (0..N).filter(|i| weighted(*i).is_some()).map(|i| self.classes[i].min_rate).sum();
        let mut credit = 0.0;
        for i in (0..N).filter(|i| in_relation(*i)) {
            let Class { rate, min_rate, .. } = self.classes[i];
            if change[i] + rate > upper + NO_RATE {
                for (j, class) in self.classes.iter().enumerate().filter(|(j, _)| in_relation(*j)) {
                    let all = if i == j { upper - minima } else { 0.0 };
                    change[j] = all + class.min_rate - class.rate;
                }
                credit = 0.0;
                break;
            }
            if change[i] + rate < min_rate {
                credit += change[i] + rate - min_rate;
                change[i] = min_rate - rate;
            }
        }
        for i in (0..N).rev().filter(|i| weighted(*i).is_some()) {
            if credit < 0.0 {
                let available = change[i] + self.classes[i].rate - self.classes[i].min_rate;
                let given = available.min(-credit);
                change[i] -= given;
                credit += given;
            }
        }
        for (class, change) in self.classes.iter_mut().zip(change) {
            class.rate += change;
        }
    }
}
