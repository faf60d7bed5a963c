//! RED's arithmetic in Linux 7.2 (include/net/red.h), in fixed-point numbers, with the values that tc computes
//! (tc_red.c).

use super::params::{Effective, Params};
use super::tc::{self, ONE};
use crate::contract::Uniform;
use crate::float::{floor, round};
use crate::unit::{Span, Time};
use alloc::boxed::Box;

/// tc counts the time of a packet in ticks of 64 ns; the kernel reads its table by microseconds.
const TICKS: f64 = 1e9 / 64.0;

/// The action that an average calls for (`red_action`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::aqm) enum Action {
    Pass,
    /// A random mark or drop between the thresholds.
    Signal,
    /// The average is at or above max_th.
    Beyond,
}

/// Parameters and variables, in bytes or, with the queue in packets, in packets.
#[derive(Clone, Debug)]
pub(in crate::aqm) struct Kernel {
    /// The weight is 2^-wlog; averages and thresholds have this many fractional bits.
    wlog: u32,
    min: u64,
    max: u64,
    delta: u64,
    /// In units of 2^-32.
    max_p: u32,
    /// CHOKe counts an average on a threshold as below it.
    on_threshold_is_below: bool,
    /// The number of bits by which to shift an average after this many idle cells of 2^`cell` microseconds.
    damping: Box<[u8; 256]>,
    cell: u32,
    avg: u64,
    /// Packets since the last draw; -1 below min_th.
    count: i64,
    draw: u64,
}

impl Kernel {
    pub(in crate::aqm) fn new(params: &Params, effective: &Effective) -> Self {
        let Effective { min_th, max_th, max_p, w_q, mean, c } = *effective;
        let unit = tc::unit(params, mean);
        let wlog = round(-libm::log2(w_q)).clamp(1.0, 31.0) as u32;
        let [min, max] = [min_th, max_th].map(|threshold| round(threshold * unit) as u64);
        let (cell, damping) = damping(wlog, floor(TICKS / c).max(1.0));
        Self {
            wlog,
            min: min << wlog,
            max: max << wlog,
            delta: max.saturating_sub(min).max(1),
            max_p: tc::max_p(max_p, max.saturating_sub(min), if params.bytes { 1.0 } else { mean.0 as f64 }),
            on_threshold_is_below: false,
            damping,
            cell,
            avg: 0,
            count: -1,
            draw: 0,
        }
    }

    /// Takes over the average, whose unit must be the same, and the count.
    pub(in crate::aqm) fn resume(&mut self, before: &Self) {
        self.avg = ((u128::from(before.avg) << self.wlog) >> before.wlog) as u64;
        (self.count, self.draw) = (before.count, before.draw);
    }

    pub(super) fn count_thresholds_as_below(&mut self) {
        self.on_threshold_is_below = true;
    }

    /// In bytes or packets.
    pub(in crate::aqm) fn avg(&self) -> f64 {
        self.avg as f64 / f64::from(1_u32 << self.wlog)
    }

    pub(in crate::aqm) fn max_p(&self) -> f64 {
        f64::from(self.max_p) / ONE
    }

    pub(super) fn set_max_p(&mut self, max_p: f64) {
        self.max_p = (max_p * ONE) as u32;
    }

    /// Updates the average by the queue that an arrival finds, or ages it if the link was idle before.
    pub(in crate::aqm) fn estimate(&mut self, now: Time, waiting: u64, idle_since: Option<Time>) {
        self.avg = match idle_since {
            Some(start) => self.aged(now.since(start)),
            None => self.avg + waiting - (self.avg >> self.wlog),
        };
    }

    /// The average after this idle time (`red_calc_qavg_from_idle_time`).
    fn aged(&self, idle: Span) -> u64 {
        let us = (idle.nanos() / 1000).min(255 << self.cell);
        match self.damping[(us >> self.cell) as usize] {
            0 => {
                let part = (u128::from(self.avg) * u128::from(us)) >> self.cell;
                self.avg - part.min(u128::from(self.avg - (self.avg >> 1))) as u64
            }
            shift => self.avg >> shift,
        }
    }

    /// The weight, as the power of a half.
    pub(in crate::aqm) const fn wlog(&self) -> u32 {
        self.wlog
    }

    /// The thresholds, in bytes or packets.
    pub(in crate::aqm) fn thresholds(&self) -> [f64; 2] {
        [self.min, self.max].map(|threshold| (threshold >> self.wlog) as f64)
    }

    /// The action at the present average; one random number is drawn per gap between marks or drops.
    pub(in crate::aqm) fn action<R: Uniform>(&mut self, rng: &mut R) -> Action {
        let above = |threshold| self.avg > threshold || self.avg == threshold && !self.on_threshold_is_below;
        if !above(self.min) || above(self.max) {
            let beyond = above(self.max);
            self.count = -1;
            return if beyond { Action::Beyond } else { Action::Pass };
        }
        self.count += 1;
        let due = self.count > 0 && ((self.avg - self.min) >> self.wlog) * self.count as u64 >= self.draw;
        if due {
            self.count = 0;
        }
        if self.count == 0 {
            // The largest count is the distance of the thresholds over max_p.
            let step = (u64::from(self.max_p) / self.delta).max(1);
            self.draw = (rng.uniform() * ONE) as u64 / step;
        }
        if due { Action::Signal } else { Action::Pass }
    }

    /// Moves max_p if the average is outside the middle fifth (`red_adaptative_algo`): up by `alpha` or a quarter
    /// while it is at most `top`, down by `beta` while it is at least `bottom`.
    pub(super) fn adapt(&mut self, idle: Option<Span>, alpha: f64, beta: f64, top: f64, bottom: f64) {
        let avg = idle.map_or(self.avg, |idle| self.aged(idle)) >> self.wlog;
        let (fifth, min) = (self.delta / 5, self.min >> self.wlog);
        let units = |p: f64| round(p * ONE).min(ONE - 1.0) as u32;
        if avg > min + 3 * fifth && self.max_p <= units(top) {
            self.max_p = self.max_p.saturating_add(units(alpha).min(self.max_p / 4));
        } else if avg < min + 2 * fifth && self.max_p >= units(bottom) {
            self.max_p = (f64::from(self.max_p) * beta) as u32;
        }
    }
}

/// The cell size of the table, and the table, for packets that take this many ticks (`tc_red_eval_idle_damping`).
fn damping(wlog: u32, packet: f64) -> (u32, Box<[u8; 256]>) {
    let per_tick = -libm::log1p(-1.0 / f64::from(1_u32 << wlog)) / packet;
    let cell = (0..31).find(|cell| 31.0 / per_tick < 512.0 * f64::from(1_u32 << cell)).unwrap_or(31);
    let mut table = Box::new([31; 256]);
    for (i, shift) in (0_u32..).zip(&mut table[..255]) {
        *shift = (f64::from(i) * f64::from(1_u32 << cell) * per_tick).min(31.0) as u8;
    }
    (cell, table)
}
