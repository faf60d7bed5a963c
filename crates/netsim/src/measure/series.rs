//! Series of each measured queue, bin by bin.

use crate::measure::probe::{Owner, Probe};
use aqm::discipline::Lane;
use aqm::unit::{Span, Time};
use aqm::{AnyDiscipline, Outcome};
use run::Column;
use scenario::Scenario;
use scenario::model::{TrafficKind, Udp};

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
        // Of two zeros, `min` and `max` may return either sign: there is only one.
        let value = value + 0.0;
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

    /// The columns with their statistic.
    fn columns(&self) -> [(&str, &[f64]); 3] {
        [("min", &self.mins), ("mean", &self.means), ("max", &self.maxs)]
    }
}

/// The counts of packets at a queue, bin by bin.
#[derive(Clone, Debug)]
struct Tally {
    arrivals: Vec<f64>,
    drops: Vec<f64>,
    departures: Vec<f64>,
    throughputs: Vec<f64>,
    delays: Vec<f64>,
    /// This bin so far.
    bin: Counted,
}

/// The counts of one bin.
#[derive(Clone, Copy, Default, Debug)]
struct Counted {
    arrivals: u64,
    drops: u64,
    departures: u64,
    bytes: u64,
    wait_ns: u64,
}

impl Tally {
    fn new(bins: usize) -> Self {
        let column = || Vec::with_capacity(bins);
        Self {
            arrivals: column(),
            drops: column(),
            departures: column(),
            throughputs: column(),
            delays: column(),
            bin: Counted::default(),
        }
    }

    fn close(&mut self, length: Span) {
        let bin = std::mem::take(&mut self.bin);
        self.arrivals.push(bin.arrivals as f64);
        self.drops.push(bin.drops as f64);
        self.departures.push(bin.departures as f64);
        self.throughputs.push(bin.bytes as f64 * 8.0 / length.secs());
        let mean = bin.wait_ns as f64 / bin.departures as f64 * 1e-9;
        self.delays.push(if bin.departures > 0 { mean } else { f64::NAN });
    }

    /// The columns with their quantities.
    fn columns(&self) -> [(&str, &[f64]); 5] {
        [
            ("arrivals", &self.arrivals),
            ("drops", &self.drops),
            ("departures", &self.departures),
            ("throughput", &self.throughputs),
            ("delay", &self.delays),
        ]
    }
}

/// The mean of some times, a bin at a time: round trips of a `ping`, delays on a link.
#[derive(Clone, Debug)]
struct Trips {
    means: Vec<f64>,
    /// This bin so far.
    sum_ns: u64,
    count: u64,
    bin_end: Time,
}

impl Trips {
    fn new(bins: usize, step: Span) -> Self {
        Self { means: Vec::with_capacity(bins), sum_ns: 0, count: 0, bin_end: Time::ZERO + step }
    }

    fn add(&mut self, now: Time, step: Span, took: Span) {
        self.roll(now, step);
        self.sum_ns += took.nanos();
        self.count += 1;
    }

    /// Closes the last bins at the end of the run.
    fn finish(&mut self, now: Time, step: Span) {
        self.roll(now, step);
        if self.bin_end < now + step {
            self.close();
        }
    }

    fn roll(&mut self, now: Time, step: Span) {
        while now >= self.bin_end {
            self.close();
            self.bin_end += step;
        }
    }

    fn close(&mut self) {
        let mean = self.sum_ns as f64 / self.count as f64 / 1e9;
        self.means.push(if self.count > 0 { mean } else { f64::NAN });
        (self.sum_ns, self.count) = (0, 0);
    }
}

/// The series of one queue.
#[derive(Clone, Debug)]
struct QueueSeries {
    /// The queue's length, then the algorithm's signals.
    tracks: Vec<Track>,
    /// One a class, or one for all where classes are not distinguished.
    tallies: Vec<Tally>,
    by_class: bool,
    /// The length of each lane that has a name, and its packets.
    lanes: Vec<(Track, Tally)>,
    /// The delays of packets on the link, if they vary.
    travels: Option<Trips>,
    bin_start: Time,
    bin_end: Time,
}

/// Series of every measured queue: its length and its algorithm's signals, each bin with minimum, time-weighted
/// mean and maximum, and the arrivals and drops in each bin; at the observed link also those of each
/// class, and the same for each named lane; the delays on
/// a link that vary; and the round-trip times of each `ping`.
#[derive(Clone, Debug)]
pub struct Series {
    step: Span,
    end: Time,
    queues: Vec<QueueSeries>,
    names: Vec<Vec<String>>,
    lanes: Vec<&'static [&'static str]>,
    classes: Vec<String>,
    /// One a class; those of a `ping`.
    trips: Vec<Option<Trips>>,
}

impl Series {
    /// Empty series for the measured queues of `scenario`.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let step = scenario.series_step();
        let bins = scenario.general.duration.nanos().div_ceil(step.nanos()) as usize;
        let classes: Vec<String> = scenario.traffic.iter().map(|traffic| traffic.name.clone()).collect();
        let (mut queues, mut names, mut lanes) = (Vec::new(), Vec::new(), Vec::new());
        for (i, link) in scenario.links.iter().enumerate() {
            let Some(aqm) = &link.aqm else { continue };
            let (of_lanes, varies) = (link.lanes(), link.variation.is_some());
            let link = &link.name;
            let signals = aqm.signals().iter().map(|signal| format!("{link}.{}", signal.name));
            let tracked: Vec<String> = std::iter::once(format!("{link}.queue")).chain(signals).collect();
            let by_class = i == scenario.observed;
            let tallies = if by_class { classes.len() } else { 1 };
            queues.push(QueueSeries {
                tracks: tracked.iter().map(|_| Track::new(bins)).collect(),
                tallies: (0..tallies).map(|_| Tally::new(bins)).collect(),
                by_class,
                lanes: of_lanes.iter().map(|_| (Track::new(bins), Tally::new(bins))).collect(),
                travels: varies.then(|| Trips::new(bins, step)),
                bin_start: Time::ZERO,
                bin_end: Time::ZERO + step,
            });
            names.push(tracked);
            lanes.push(of_lanes);
        }
        let trips = scenario.traffic.iter().map(|traffic| {
            matches!(traffic.kind, TrafficKind::Udp(Udp::Ping(_), _)).then(|| Trips::new(bins, step))
        });
        let end = Time::ZERO + scenario.general.duration;
        Self { step, end, queues, names, lanes, trips: trips.collect(), classes }
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
        let travels = self.queues.iter_mut().filter_map(|queue| queue.travels.as_mut());
        for trips in self.trips.iter_mut().flatten().chain(travels) {
            trips.finish(now, step);
        }
    }

    /// Takes the columns out: the time, then those of every queue. All have the same length once finished.
    #[must_use]
    pub fn take_columns(&mut self) -> Vec<Column> {
        let bins = self.queues.first().map_or(0, |queue| queue.tracks[0].means.len());
        let starts = (0..bins as u64).map(|i| (self.step * i).secs()).collect();
        let mut columns = vec![Column { name: "t".to_owned(), values: starts }];
        for ((queue, names), lanes) in self.queues.iter().zip(&self.names).zip(&self.lanes) {
            let link = names[0].strip_suffix(".queue").expect("the first track is the queue");
            let mut add =
                |name: String, values: &[f64]| columns.push(Column { name, values: values.to_vec() });
            for (track, name) in queue.tracks.iter().zip(names) {
                for (which, values) in track.columns() {
                    add(format!("{name}.{which}"), values);
                }
            }
            queue.travels.iter().for_each(|travels| add(format!("{link}.travel"), &travels.means));
            add(format!("{link}.arrivals"), &queue.total(|tally| &tally.arrivals));
            add(format!("{link}.drops"), &queue.total(|tally| &tally.drops));
            for (tally, class) in queue.tallies.iter().zip(&self.classes).filter(|_| queue.by_class) {
                for (quantity, values) in tally.columns() {
                    add(format!("{link}.{class}.{quantity}"), values);
                }
            }
            for ((track, tally), lane) in queue.lanes.iter().zip(*lanes) {
                for (which, values) in track.columns() {
                    add(format!("{link}.lane.{lane}.queue.{which}"), values);
                }
                for (quantity, values) in tally.columns() {
                    add(format!("{link}.lane.{lane}.{quantity}"), values);
                }
            }
        }
        for (trips, class) in self.trips.iter().zip(&self.classes) {
            let values = trips.iter().map(|trips| trips.means.clone());
            columns.extend(values.map(|values| Column { name: format!("{class}.rtt"), values }));
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
        let length = end - self.bin_start;
        for (track, tally) in &mut self.lanes {
            track.close(self.bin_start, end);
            tally.close(length);
        }
        for tally in &mut self.tallies {
            tally.close(length);
        }
        self.bin_start = end;
    }

    /// Counts a packet of `owner` in this bin.
    #[inline]
    fn count(&mut self, owner: Owner, change: impl Fn(&mut Counted)) {
        change(&mut self.tallies[if self.by_class { owner.class } else { 0 }].bin);
        if let Some((_, tally)) = self.lanes.get_mut(owner.lane) {
            change(&mut tally.bin);
        }
    }

    /// A column of all tallies together.
    fn total(&self, column: impl Fn(&Tally) -> &[f64]) -> Vec<f64> {
        let mut total = vec![0.0; self.tracks[0].means.len()];
        for tally in &self.tallies {
            total.iter_mut().zip(column(tally)).for_each(|(total, value)| *total += value);
        }
        total
    }

    #[inline]
    fn note_signals(&mut self, now: Time, aqm: &AnyDiscipline) {
        aqm.signals(|i, value| self.tracks[1 + i].change(now, value));
    }
}

impl Probe for Series {
    #[inline]
    fn on_length(&mut self, queue: usize, now: Time, length: usize, lanes: &[Lane]) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.tracks[0].change(now, length as f64);
        for ((track, _), lane) in series.lanes.iter_mut().zip(lanes) {
            track.change(now, f64::from(lane.packets));
        }
    }

    #[inline]
    fn on_arrival(&mut self, queue: usize, now: Time, owner: Owner, outcome: Outcome, aqm: &AnyDiscipline) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.count(owner, |bin| {
            bin.arrivals += 1;
            bin.drops += u64::from(matches!(outcome, Outcome::DroppedEarly | Outcome::Overflowed));
        });
        series.note_signals(now, aqm);
    }

    #[inline]
    fn on_late_drop(&mut self, queue: usize, now: Time, owner: Owner) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.count(owner, |bin| bin.drops += 1);
    }

    #[inline]
    fn on_departure(&mut self, queue: usize, _: Time, owner: Owner, size: u16, wait: Span) {
        // The length's bin is this one.
        self.queues[queue].count(owner, |bin| {
            bin.departures += 1;
            bin.bytes += u64::from(size);
            bin.wait_ns += wait.nanos();
        });
    }

    fn on_sent(&mut self, queue: usize, now: Time, owner: Owner, bytes: u32) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.count(owner, |bin| bin.bytes += u64::from(bytes));
    }

    #[inline]
    fn on_period(&mut self, queue: usize, now: Time, aqm: &AnyDiscipline) {
        let series = &mut self.queues[queue];
        series.roll(now, self.step);
        series.note_signals(now, aqm);
    }

    #[inline]
    fn on_round_trip(&mut self, now: Time, class: usize, took: Span) {
        if let Some(trips) = &mut self.trips[class] {
            trips.add(now, self.step, took);
        }
    }

    fn on_travel(&mut self, queue: usize, now: Time, delay: Span) {
        // A link that works ahead knows of packets that are sent after the end.
        if let Some(travels) = self.queues[queue].travels.as_mut().filter(|_| now < self.end) {
            travels.add(now, self.step, delay);
        }
    }

    fn may_skip(&self, aqm: &AnyDiscipline) -> bool {
        // With another value the integral would be rounded at every step.
        let mut zero = true;
        aqm.signals(|_, value| zero &= value == 0.0);
        zero
    }

    fn bin(&self) -> Option<Span> {
        Some(self.step)
    }

    fn catch_up(&mut self, queue: usize, now: Time) {
        self.queues[queue].roll(now, self.step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_counts_the_packets_of_its_class_a_bin_at_a_time() {
        let text = "duration = \"3 s\"\nrecord.step = \"1 s\"\n[dumbbell]\n\
                    [[traffic]]\nname = \"a\"\n[[traffic]]\nname = \"b\"\n[[traffic]]\nname = \"p\"\nkind = \"ping\"\n";
        let scenario = scenario::Document::parse(text, "test").unwrap().check().unwrap();
        let at = |ms| Time::ZERO + Span::ms(ms);
        let of = |class| Owner { class, lane: 0 };
        let aqm = scenario.links[scenario.observed].aqm.as_ref().unwrap();
        let link = &scenario.links[scenario.observed];
        let port = link.port(link.delay.least());
        let aqm = aqm.build(&port);
        let mut series = Series::new(&scenario);
        for outcome in [Outcome::Queued, Outcome::Marked, Outcome::Overflowed, Outcome::DroppedEarly] {
            series.on_arrival(0, at(100), of(1), outcome, &aqm);
        }
        series.on_arrival(0, at(200), of(0), Outcome::Queued, &aqm);
        series.on_length(0, at(300), 0, &[]);
        series.on_departure(0, at(300), of(1), 1000, Span::ms(200));
        series.on_departure(0, at(999), of(1), 500, Span::ms(300));
        series.on_late_drop(0, at(2500), of(0));
        series.on_round_trip(at(900), 2, Span::ms(10));
        series.on_round_trip(at(999), 2, Span::ms(20));
        series.on_round_trip(at(2000), 2, Span::ms(40));
        series.finish(at(3000));
        let columns = series.take_columns();
        let bins = |name: &str| {
            let column = columns.iter().find(|column| column.name == name);
            column
                .unwrap()
                .values
                .iter()
                .map(|x| if x.is_nan() { None } else { Some(*x) })
                .collect::<Vec<_>>()
        };
        assert_eq!(bins("bottleneck.b.arrivals"), [4.0, 0.0, 0.0].map(Some));
        assert_eq!(bins("bottleneck.b.drops"), [2.0, 0.0, 0.0].map(Some));
        assert_eq!(bins("bottleneck.b.throughput"), [12_000.0, 0.0, 0.0].map(Some));
        assert_eq!(bins("bottleneck.b.delay"), [Some(0.25), None, None]);
        assert_eq!(bins("bottleneck.b.departures"), [2.0, 0.0, 0.0].map(Some));
        assert_eq!(bins("p.rtt"), [Some(0.015), None, Some(0.04)]);
        assert_eq!(bins("bottleneck.a.drops"), [0.0, 0.0, 1.0].map(Some));
        assert_eq!(bins("bottleneck.arrivals"), [5.0, 0.0, 0.0].map(Some));
        assert_eq!(bins("bottleneck.drops"), [2.0, 0.0, 1.0].map(Some));
    }

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
