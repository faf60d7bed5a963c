//! The measurements of a run: the sums of the summary, and the series bin by bin.

use crate::law::{Rule, SIGNALS};
use crate::model::Model;
use crate::spread::Spread;
use crate::state::{ARRIVALS, EARLY, MARKS, OVERFLOW, SENT, STREAMS};
use aqm::unit::{Span, Time};
use run::{Column, Settling};

/// The measured values at one end of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) q: f64,
    pub(crate) signals: [f64; SIGNALS],
}

/// Least value, integral and greatest value over a bin.
#[derive(Clone, Copy, Debug)]
struct Track {
    min: f64,
    area: f64,
    max: f64,
}

impl Track {
    const NEW: Self = Self { min: f64::INFINITY, area: 0.0, max: f64::NEG_INFINITY };

    #[inline]
    fn add(&mut self, a: f64, b: f64, area: f64) {
        // As in the packet engine's series, there is only one zero.
        let (a, b) = (a + 0.0, b + 0.0);
        self.min = self.min.min(a.min(b));
        self.max = self.max.max(a.max(b));
        self.area += area;
    }
}

/// The sums of one traffic entry: the packets that arrived and those that were accepted, in packets of the usual size.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Passed {
    pub(crate) arrived: f64,
    pub(crate) accepted: f64,
}

/// The sums so far, all and by entry.
#[derive(Clone, Default, Debug)]
pub(crate) struct Sums {
    pub(crate) arrivals: f64,
    pub(crate) early: f64,
    pub(crate) marks: f64,
    pub(crate) overflow: f64,
    pub(crate) sent: f64,
    pub(crate) entries: Vec<Passed>,
}

/// The measured quantities.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    pub(crate) queue: Spread,
    pub(crate) delay: Spread,
    pub(crate) empty: f64,
    pub(crate) full: f64,
    pub(crate) settling: Settling,
    pub(crate) at_warmup: Sums,
    /// The entry of each class and load, in the order of the state.
    owners: Vec<usize>,
    entries: usize,
    classes: usize,
    signals: usize,
    warmup: Time,
    warm: bool,
    /// The queue's integral in the present bin of the response time.
    settling_area: f64,
    response_bin: f64,
    bin: Span,
    bin_start: Time,
    bin_end: Time,
    end: Time,
    tracks: [Track; 1 + SIGNALS],
    delay_area: f64,
    at_bin: Sums,
    /// Time, then minimum, mean and maximum of each track, arrivals, drops, and four of each entry.
    columns: Vec<Vec<f64>>,
    records: bool,
    buffer: f64,
    usual: f64,
}

impl Measure {
    pub(crate) fn new(model: &Model, rule: &Rule, state: &[f64]) -> Self {
        let scenario = &model.scenario;
        let general = &scenario.general;
        let bin = scenario.series_step();
        let bins = general.duration.nanos().div_ceil(bin.nanos()) as usize;
        let now = crate::law::Instant { q: 0.0, arriving: 0.0, own: rule.start() };
        let signals = rule.signals(&now, 0.0, &mut [0.0; SIGNALS]);
        let owners: Vec<usize> = model
            .classes
            .iter()
            .map(|class| class.entry)
            .chain(model.load.iter().map(|load| load.entry))
            .collect();
        let entries = scenario.traffic.len();
        let records = scenario.record.series;
        let number = if records { 1 + 3 * (1 + signals) + 2 + 5 * entries } else { 0 };
        let mut measure = Self {
            queue: Spread::new(1.0 / 64.0),
            delay: Spread::new(1e-6),
            empty: 0.0,
            full: 0.0,
            settling: Settling::new(scenario.target(), &scenario.response),
            at_warmup: Sums::default(),
            owners,
            entries,
            classes: model.classes.len(),
            signals,
            warmup: Time::ZERO + general.warmup,
            warm: general.warmup == Span::ZERO,
            settling_area: 0.0,
            response_bin: scenario.response.bin.secs(),
            bin,
            bin_start: Time::ZERO,
            bin_end: Time::ZERO + bin,
            end: Time::ZERO + general.duration,
            tracks: [Track::NEW; 1 + SIGNALS],
            delay_area: 0.0,
            at_bin: Sums::default(),
            columns: vec![Vec::with_capacity(bins); number],
            records,
            buffer: model.buffer(),
            usual: model.port.packet.0 as f64,
        };
        measure.at_warmup = measure.sums(state);
        measure.at_bin = measure.at_warmup.clone();
        measure
    }

    /// The time of the next call of [`Measure::on_event`].
    pub(crate) fn due(&self) -> Time {
        let warmup = if self.warm { Time::MAX } else { self.warmup };
        self.bin_end.min(self.settling.due()).min(warmup)
    }

    /// A step of length `h` has been done, in whose middle the queue had the length `middle`.
    #[inline]
    pub(crate) fn on_step(
        &mut self,
        h: f64,
        capacity: f64,
        begin: &Ends,
        middle: f64,
        end: &Ends,
        sent: f64,
    ) {
        let area = h / 6.0 * (begin.q + 4.0 * middle + end.q);
        self.settling_area += area;
        self.tracks[0].add(begin.q, end.q, area);
        self.delay_area += area / capacity;
        for (i, track) in self.tracks[1..=self.signals].iter_mut().enumerate() {
            let (a, b) = (begin.signals[i], end.signals[i]);
            track.add(a, b, h * f64::midpoint(a, b));
        }
        if !self.warm {
            return;
        }
        for (q, part) in [(begin.q, 1.0 / 6.0), (middle, 4.0 / 6.0), (end.q, 1.0 / 6.0)] {
            let weight = part * h;
            self.queue.add(q, weight);
            self.delay.add(q / capacity, weight * sent);
            if q <= 0.0 {
                self.empty += weight;
            }
            if q >= self.buffer {
                self.full += weight;
            }
        }
    }

    /// Whether the warm-up ends at `now`.
    pub(crate) fn ends_warmup(&self, now: Time) -> bool {
        !self.warm && now >= self.warmup
    }

    /// Something may be due at `now`.
    pub(crate) fn on_event(&mut self, now: Time, state: &[f64]) {
        if now >= self.settling.due() {
            let mean = self.settling_area / self.response_bin;
            self.settling_area = 0.0;
            self.settling.close(mean);
        }
        if self.ends_warmup(now) {
            self.warm = true;
            self.at_warmup = self.sums(state);
        }
        if now >= self.bin_end || (now >= self.end && self.bin_start < now) {
            self.close(now, state);
        }
    }

    /// Closes a bin of the series.
    fn close(&mut self, now: Time, state: &[f64]) {
        let length = (now - self.bin_start).secs();
        if self.records {
            let sums = self.sums(state);
            let then = std::mem::replace(&mut self.at_bin, sums.clone());
            let mut columns = self.columns.iter_mut();
            let mut push = |value: f64| columns.next().expect("a column for each value").push(value);
            push(self.bin_start.secs());
            for track in &self.tracks[..=self.signals] {
                push(track.min);
                push(track.area / length);
                push(track.max);
            }
            push(sums.arrivals - then.arrivals);
            push(sums.dropped() - then.dropped());
            let packets = sums.sent - then.sent;
            let sent = packets * 8.0 * self.usual / length;
            let accepted = sums.accepted() - then.accepted();
            let delay = if sums.sent > then.sent { self.delay_area / length } else { f64::NAN };
            for (sums, then) in sums.entries.iter().zip(&then.entries) {
                let (arrived, let_in) = (sums.arrived - then.arrived, sums.accepted - then.accepted);
                push(arrived);
                push(arrived - let_in);
                let share = |all: f64| if accepted > 0.0 { all * let_in / accepted } else { 0.0 };
                push(share(packets));
                push(share(sent));
                push(if let_in > 0.0 { delay } else { f64::NAN });
            }
        }
        self.tracks = [Track::NEW; 1 + SIGNALS];
        self.delay_area = 0.0;
        self.bin_start = now;
        self.bin_end = now + self.bin;
    }

    /// All sums, from the state.
    pub(crate) fn sums(&self, state: &[f64]) -> Sums {
        let mut entries = vec![Passed::default(); self.entries];
        let after = STREAMS + 4 * self.classes;
        for (number, &entry) in self.owners.iter().enumerate() {
            let at = if number < self.classes {
                STREAMS + 4 * number + 2
            } else {
                after + 2 * (number - self.classes)
            };
            entries[entry].arrived += state[at];
            entries[entry].accepted += state[at + 1];
        }
        Sums {
            arrivals: state[ARRIVALS],
            early: state[EARLY],
            marks: state[MARKS],
            overflow: state[OVERFLOW],
            sent: state[SENT],
            entries,
        }
    }

    /// Takes the series out.
    pub(crate) fn take_columns(&mut self, model: &Model) -> Vec<Column> {
        let scenario = &model.scenario;
        let link = &scenario.links[scenario.observed].name;
        let signals = model.aqm.signals().iter().map(|signal| signal.name).take(self.signals);
        let tracked = std::iter::once("queue").chain(signals);
        let mut names = vec!["t".to_owned()];
        names.extend(
            tracked.flat_map(|name| ["min", "mean", "max"].map(|which| format!("{link}.{name}.{which}"))),
        );
        names.extend(["arrivals", "drops"].map(|what| format!("{link}.{what}")));
        for entry in &scenario.traffic {
            names.extend(
                ["arrivals", "drops", "departures", "throughput", "delay"]
                    .map(|what| format!("{link}.{}.{what}", entry.name)),
            );
        }
        let columns = std::mem::take(&mut self.columns);
        names.into_iter().zip(columns).map(|(name, values)| Column { name, values }).collect()
    }
}

impl Sums {
    /// Packets that were dropped.
    pub(crate) fn dropped(&self) -> f64 {
        self.early - self.marks + self.overflow
    }

    /// Packets that were dropped or marked.
    pub(crate) fn lost(&self) -> f64 {
        self.early + self.overflow
    }

    pub(crate) fn accepted(&self) -> f64 {
        self.entries.iter().map(|entry| entry.accepted).sum()
    }
}
