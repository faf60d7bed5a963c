//! Probes: what a run may record beyond the statistics that are always on. An absent probe costs nothing.

use aqm::unit::{Span, Time};
use aqm::{AnyAqm, Outcome};
use scenario::Scenario;

/// Is told what happens at the measured queues; all hooks do nothing unless overridden.
pub trait Probe {
    /// Queue number `queue` has `length` packets from `now` on.
    #[inline]
    fn on_length(&mut self, _queue: usize, _now: Time, _length: usize) {}
    /// An arrival met this fate; the algorithm's state may have changed.
    #[inline]
    fn on_arrival(&mut self, _queue: usize, _now: Time, _outcome: Outcome, _aqm: &AnyAqm) {}
    /// The algorithm's periodic work is done.
    #[inline]
    fn on_period(&mut self, _queue: usize, _now: Time, _aqm: &AnyAqm) {}
}

impl Probe for () {}

/// A quantity that holds its value until it changes, summed up a bin at a time.
#[derive(Clone, Debug)]
struct Track {
    value: f64,
    since: Time,
    /// Integral over the bin so far, value times nanoseconds.
    area: f64,
    min: f64,
    max: f64,
    mins: Vec<f64>,
    means: Vec<f64>,
    maxs: Vec<f64>,
}

impl Track {
    fn new(bins: usize) -> Self {
        let column = || Vec::with_capacity(bins);
        Self {
            value: 0.0,
            since: Time::ZERO,
            area: 0.0,
            min: 0.0,
            max: 0.0,
            mins: column(),
            means: column(),
            maxs: column(),
        }
    }

    #[inline]
    fn change(&mut self, now: Time, value: f64) {
        self.area += self.value * (now - self.since).nanos() as f64;
        (self.since, self.value) = (now, value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn close(&mut self, start: Time, end: Time) {
        self.area += self.value * (end - self.since).nanos() as f64;
        self.mins.push(self.min);
        self.means.push(self.area / (end - start).nanos() as f64);
        self.maxs.push(self.max);
        (self.since, self.area, self.min, self.max) = (end, 0.0, self.value, self.value);
    }
}

/// The series of one queue.
#[derive(Clone, Debug)]
struct QueueSeries {
    /// The queue's length, then the algorithm's signals.
    tracks: Vec<Track>,
    arrivals: u64,
    drops: u64,
    arrivals_column: Vec<f64>,
    drops_column: Vec<f64>,
    bin_start: Time,
    bin_end: Time,
}

/// Series of every measured queue: its length and its algorithm's signals, each bin with minimum, time-weighted
/// mean and maximum, and the arrivals and drops in each bin.
#[derive(Clone, Debug)]
pub struct Series {
    step: Span,
    queues: Vec<QueueSeries>,
    names: Vec<Vec<String>>,
}

/// A named column of a series.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// `<link>.<quantity>.<min, mean or max>`, or `<link>.<arrivals or drops>`; `t` is the start of the bin in s.
    pub name: String,
    /// One value a bin.
    pub values: Vec<f64>,
}

impl Series {
    /// Empty series for the measured queues of `scenario`.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let step = scenario.series_step();
        let bins = scenario.general.duration.nanos().div_ceil(step.nanos()) as usize;
        let measured = scenario.links.iter().filter_map(|link| Some((&link.name, link.aqm.as_ref()?)));
        let names: Vec<Vec<String>> = measured
            .map(|(link, aqm)| {
                let signals = aqm.signals().iter().map(|signal| format!("{link}.{}", signal.name));
                std::iter::once(format!("{link}.queue")).chain(signals).collect()
            })
            .collect();
        let queues = names
            .iter()
            .map(|names| QueueSeries {
                tracks: names.iter().map(|_| Track::new(bins)).collect(),
                arrivals: 0,
                drops: 0,
                arrivals_column: Vec::with_capacity(bins),
                drops_column: Vec::with_capacity(bins),
                bin_start: Time::ZERO,
                bin_end: Time::ZERO + step,
            })
            .collect();
        Self { step, queues, names }
    }

    /// Closes the last bins at the end of the run.
    pub fn finish(&mut self, now: Time) {
        let step = self.step;
        for queue in &mut self.queues {
            queue.roll(now, step);
            if queue.bin_start < now {
                queue.close(now);
            }
        }
    }

    /// Hands over the columns: the time, then those of every queue, all of the same length once finished. What
    /// was handed over is gone from here.
    #[must_use]
    pub fn take_columns(&mut self) -> Vec<Column> {
        let bins = self.queues.first().map_or(0, |queue| queue.arrivals_column.len());
        let starts = (0..bins as u64).map(|i| (self.step * i).secs()).collect();
        let mut columns = vec![Column { name: "t".to_owned(), values: starts }];
        for (queue, names) in self.queues.iter_mut().zip(&self.names) {
            let link = names[0].strip_suffix(".queue").expect("the first track is the queue");
            let mut add =
                |name: String, values: &[f64]| columns.push(Column { name, values: values.to_vec() });
            for (track, name) in queue.tracks.iter().zip(names) {
                add(format!("{name}.min"), &track.mins);
                add(format!("{name}.mean"), &track.means);
                add(format!("{name}.max"), &track.maxs);
            }
            add(format!("{link}.arrivals"), &queue.arrivals_column);
            add(format!("{link}.drops"), &queue.drops_column);
        }
        columns
    }
}

impl QueueSeries {
    #[inline]
    fn roll(&mut self, now: Time, step: Span) {
        while now >= self.bin_end {
            self.close(self.bin_end);
            self.bin_end += step;
        }
    }

    fn close(&mut self, end: Time) {
        for track in &mut self.tracks {
            track.close(self.bin_start, end);
        }
        self.arrivals_column.push(std::mem::take(&mut self.arrivals) as f64);
        self.drops_column.push(std::mem::take(&mut self.drops) as f64);
        self.bin_start = end;
    }

    #[inline]
    fn note_signals(&mut self, now: Time, aqm: &AnyAqm) {
        aqm.signals(|i, value| self.tracks[1 + i].change(now, value));
    }
}

impl Probe for Series {
    #[inline]
    fn on_length(&mut self, queue: usize, now: Time, length: usize) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.tracks[0].change(now, length as f64);
    }

    #[inline]
    fn on_arrival(&mut self, queue: usize, now: Time, outcome: Outcome, aqm: &AnyAqm) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.arrivals += 1;
        series.drops += u64::from(matches!(outcome, Outcome::DroppedEarly | Outcome::Overflowed));
        series.note_signals(now, aqm);
    }

    #[inline]
    fn on_period(&mut self, queue: usize, now: Time, aqm: &AnyAqm) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.note_signals(now, aqm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_has_minimum_time_weighted_mean_and_maximum() {
        let at = |ms| Time::ZERO + Span::ms(ms);
        let mut track = Track::new(2);
        track.change(at(250), 4.0); // 0 for 250 ms, 4 for 500 ms, 1 for 250 ms: mean 2.25
        track.change(at(750), 1.0);
        track.close(at(0), at(1000));
        track.close(at(1000), at(2000));
        assert_eq!((track.mins, track.means, track.maxs), (vec![0.0, 1.0], vec![2.25, 1.0], vec![4.0, 1.0]));
    }
}
