//! A recorder, if there is one, of a run that keeps account of every packet.

use super::{Owner, Probe};
use aqm::discipline::Lane;
use aqm::unit::{Span, Time};
use aqm::{AnyDiscipline, Outcome};

/// Makes a run keep account of every packet in a release build too, whatever else it records.
#[derive(Clone, Debug)]
pub struct Checked<P>(pub Option<P>);

impl<P: Probe> Probe for Checked<P> {
    const CHECKS: bool = true;

    fn on_length(&mut self, queue: usize, now: Time, length: usize, lanes: &[Lane]) {
        self.0.iter_mut().for_each(|probe| probe.on_length(queue, now, length, lanes));
    }

    fn on_arrival(&mut self, queue: usize, now: Time, owner: Owner, outcome: Outcome, aqm: &AnyDiscipline) {
        self.0.iter_mut().for_each(|probe| probe.on_arrival(queue, now, owner, outcome, aqm));
    }

    fn on_late_drop(&mut self, queue: usize, now: Time, owner: Owner) {
        self.0.iter_mut().for_each(|probe| probe.on_late_drop(queue, now, owner));
    }

    fn on_departure(&mut self, queue: usize, now: Time, owner: Owner, size: u16, wait: Span) {
        self.0.iter_mut().for_each(|probe| probe.on_departure(queue, now, owner, size, wait));
    }

    fn on_sent(&mut self, queue: usize, now: Time, owner: Owner, bytes: u32) {
        self.0.iter_mut().for_each(|probe| probe.on_sent(queue, now, owner, bytes));
    }

    fn on_fate(&mut self, queue: usize, arrival: u64, marked: bool) {
        self.0.iter_mut().for_each(|probe| probe.on_fate(queue, arrival, marked));
    }

    fn on_period(&mut self, queue: usize, now: Time, aqm: &AnyDiscipline) {
        self.0.iter_mut().for_each(|probe| probe.on_period(queue, now, aqm));
    }

    fn on_round_trip(&mut self, now: Time, class: usize, took: Span) {
        self.0.iter_mut().for_each(|probe| probe.on_round_trip(now, class, took));
    }

    fn on_travel(&mut self, queue: usize, now: Time, delay: Span) {
        self.0.iter_mut().for_each(|probe| probe.on_travel(queue, now, delay));
    }

    fn may_skip(&self, aqm: &AnyDiscipline) -> bool {
        self.0.as_ref().is_none_or(|probe| probe.may_skip(aqm))
    }

    fn bin(&self) -> Option<Span> {
        self.0.as_ref()?.bin()
    }

    fn catch_up(&mut self, queue: usize, now: Time) {
        self.0.iter_mut().for_each(|probe| probe.catch_up(queue, now));
    }
}
