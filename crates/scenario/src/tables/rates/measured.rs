//! Tables of measured rates: CSV with a column of times and columns of rates, whose names end in their units; and perhaps of
//! delays and losses.

use super::super::recording::{Csv, Header, unit};
use super::{LATEST, Rates, Recorded, SHORTEST};
use crate::model::{RATES, Steps, Waypoint};
use aqm::unit::{Rate, Span};

/// What a column has.
pub(super) struct Quantity {
    /// In messages, one of them, and several.
    names: [&'static str; 2],
    /// Its base unit; empty for fractions.
    unit: &'static str,
    /// The highest value, as a number and in words.
    most: (f64, &'static str),
    /// The key that names the column, and how to name one that needs no such key.
    key: &'static str,
    cure: &'static str,
    /// What to do if a value is too great.
    correct: &'static str,
}

const RATE: Quantity = Quantity {
    names: ["rate", "rates"],
    unit: "bit/s",
    most: (RATES.high, "100 Gbit/s"),
    key: "column",
    cure: "name it with its unit, like rate_mbps, or set `column` and `unit`",
    correct: "set `unit`, or correct the line",
};

const DELAY: Quantity = Quantity {
    names: ["delay", "delays"],
    unit: "s",
    most: (3600.0, "3600 s"),
    key: "delay",
    cure: "name it with `delay`",
    correct: "give its name a unit, like delay_ms, or correct the line",
};

pub(super) const LOSS: Quantity = Quantity {
    names: ["loss probability", "loss probabilities"],
    unit: "",
    most: (1.0, "1"),
    key: "column",
    cure: "call it loss, or loss_percent, or set `column`",
    correct: "say that it is in percent by a name like loss_percent, or correct the line",
};

impl Quantity {
    /// How much of the base unit a 1 is in the column called `name`, if it says so.
    fn factor(&self, name: &str) -> Option<f64> {
        if !self.unit.is_empty() {
            return unit(name, self.unit);
        }
        let percent = name.ends_with('%')
            || name.ends_with("%]")
            || name.ends_with("%)")
            || ["pct", "percent"].iter().any(|end| name.to_ascii_lowercase().ends_with(end));
        percent.then_some(0.01)
    }

    /// Whether a column of this name has it, whose name is not given.
    fn is_in(&self, name: &str) -> bool {
        match self.unit {
            "" => name.to_ascii_lowercase().starts_with("loss"),
            _ => self.factor(name).is_some() || name.eq_ignore_ascii_case(self.names[0]),
        }
    }

    /// The place of the column to read, and how much of the base unit a 1 is in it.
    fn column(&self, header: &Header, said: Option<&str>) -> Result<(usize, f64), String> {
        let Header { names, line, time, .. } = header;
        let found: Vec<usize> = (0..names.len())
            .filter(|i| match said {
                Some(column) => names[*i] == *column,
                None => i != time && self.is_in(&names[*i]),
            })
            .collect();
        let list = found.iter().map(|&i| &*names[i]).collect::<Vec<_>>().join(", ");
        let Self { names: [one, several], key, cure, .. } = self;
        match (said, &found[..]) {
            (_, &[place]) => Ok((place, self.factor(&names[place]).unwrap_or(1.0))),
            (Some(column), []) => {
                Err(format!("line {line}: no column {column:?}; those there are: {}", names.join(", ")))
            }
            (Some(_), _) => Err(format!("line {line}: several columns are called {list}: rename them")),
            (None, []) => Err(format!("line {line}: no column has a {one}: {cure}")),
            (None, _) => {
                Err(format!("line {line}: several columns have {several}, {list}: choose one with `{key}`"))
            }
        }
    }

    /// The values of a column, whose unit is `factor`, with what the lines of one time have in common: their mean.
    fn read(&self, table: &Csv<'_>, (place, factor): (usize, f64)) -> Result<Read, String> {
        let (time, name) = (&table.header.names[table.header.time], &table.header.names[place]);
        let mut read: Vec<Measured> = Vec::new();
        let (mut first, mut before, mut last, mut shared) = (None, String::new(), table.header.line, 0);
        for reading in table.readings(place) {
            let reading = reading?;
            let (line, shown) = (reading.line, reading.time);
            let value = reading.value.parse().ok().filter(|x: &f64| x.is_finite());
            let value = value.ok_or_else(|| {
                format!(
                    "line {line}: {name} = {:?}: must be a number, like 2000 or 2.5, without unit and separators of \
                     thousands: remove the line if nothing was measured",
                    reading.value
                )
            })?;
            let value = value * factor;
            let (most, words) = self.most;
            if !(0.0..=most).contains(&value) {
                let found = reading.value;
                return Err(format!(
                    "line {line}: {name} = {found}: must be in [0, {words}]: {}",
                    self.correct
                ));
            }
            let since = reading.nanos - *first.get_or_insert(reading.nanos);
            let refuse = |why: String| Err(format!("line {line}: {time} = {shown}: must be {why}"));
            let gap = read.last().map(|last| since - i128::from(last.since.nanos()));
            match (gap, read.last_mut()) {
                (Some(..0), _) => {
                    let fix = "sort the lines, or keep one recording of several";
                    return refuse(format!("later than in the line before, {before}: {fix}"));
                }
                (Some(0), Some(same)) => {
                    same.sum += value;
                    same.count += 1;
                    shared += 1;
                }
                (Some(gap), _) if gap < i128::from(SHORTEST.nanos()) => {
                    return refuse(format!("at least {SHORTEST} after that before: keep one of the lines"));
                }
                _ if since > i128::from(Span::s(LATEST).nanos()) => {
                    return refuse(format!(
                        "at most {LATEST} s after the first: keep a part of the recording"
                    ));
                }
                _ => read.push(Measured { since: Span::ns(since as u64), sum: value, count: 1 }),
            }
            (before, last) = (shown, line);
        }
        let [.., earlier, latest] = &read[..] else {
            let what = match read.is_empty() {
                true => format!("no {} follow", self.names[1]),
                false => format!("the only time with a {}", self.names[0]),
            };
            return Err(format!("line {last}: {what}: must be two times at least"));
        };
        let end = latest.since + gap(earlier.since, latest.since);
        Ok(Read { values: read, end, shared })
    }
}

/// A value that holds from a time on: the mean of those of the lines with this time.
struct Measured {
    since: Span,
    sum: f64,
    count: usize,
}

impl Measured {
    const fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// The values of a column. Each holds until the next time; the last one as long as the one before it.
struct Read {
    values: Vec<Measured>,
    end: Span,
    /// Lines that have the time of the line before.
    shared: usize,
}

impl Read {
    fn remark(&self) -> Option<String> {
        let lines = if self.shared == 1 { "line has" } else { "lines have" };
        let remark =
            format!("{} {lines} the time of the line before: at each time the mean holds.", self.shared);
        (self.shared > 0).then_some(remark)
    }

    fn steps(&self) -> Steps {
        Steps { values: self.values.iter().map(|own| (own.since, own.mean())).collect(), period: self.end }
    }
}

const fn gap(from: Span, to: Span) -> Span {
    Span::ns(to.nanos() - from.nanos())
}

/// The loss probabilities of a table, and a remark if several lines have the same time.
pub(super) fn losses(text: &str, column: Option<&str>) -> Result<(Steps, Option<String>), String> {
    let table =
        Csv::open(text).ok_or("line 1: must be a header with a time and a loss, like time,loss_percent")?;
    let read = LOSS.read(&table, LOSS.column(&table.header, column)?)?;
    Ok((read.steps(), read.remark()))
}

/// The rates of a table, with its delays and losses if their columns are named, and a remark if several lines have the same
/// time.
pub(super) fn rates(text: &str, said: &Recorded) -> Result<(Rates, Option<String>), String> {
    let (table, column) = match (Csv::open(text), Csv::bare(text)) {
        (Some(table), _) => (table, said.column.clone()),
        (None, Some(table)) if said.unit.is_some() => {
            let second = (table.header.names.len() == 2).then(|| "2".to_owned());
            (table, said.column.clone().or(second))
        }
        (None, Some(Csv { header, .. })) => {
            return Err(format!(
                "line {}: no header: add one, like time,rate_mbps; or say what a 1 stands for with `unit`, and which \
                 column has the rates, such as 2, with `column`",
                header.line
            ));
        }
        (None, None) => {
            return Err("line 1: must be a header with a time and a rate, like time,rate_mbps, with lines before it begun \
                        with #; or, in each line, a whole number of milliseconds (Mahimahi)"
                .to_owned());
        }
    };
    let (place, factor) = RATE.column(&table.header, column.as_deref())?;
    let read = RATE.read(&table, (place, said.unit.map_or(factor, Rate::bits)))?;
    let ends = read.values.iter().skip(1).map(|next| next.since).chain([read.end]);
    let means = read.values.iter().zip(ends).map(|(own, end)| (own.mean(), gap(own.since, end)));
    let mut rates = Rates::joined(means);
    let delay = match (&said.delay, &said.round_trip) {
        (Some(_), Some(_)) => {
            return Err("`delay` and `round_trip` are both given: remove one of them".to_owned());
        }
        (Some(delay), None) => Some((delay, 1.0)),
        (None, Some(round_trip)) => Some((round_trip, 0.5)),
        (None, None) => None,
    };
    if let Some((column, part)) = delay {
        let (place, factor) = DELAY.column(&table.header, Some(column))?;
        let read = DELAY.read(&table, (place, part * factor))?;
        let point = |own: &Measured| Waypoint {
            since: own.since,
            until: own.since,
            delay: Span::from_secs(own.mean()),
        };
        rates.delays = read.values.iter().map(point).collect();
        rates.delays.dedup_by_key(|point| point.delay);
    }
    if let Some(column) = &said.loss {
        rates.losses = Some(LOSS.read(&table, LOSS.column(&table.header, Some(column))?)?.steps());
    }
    Ok((rates, read.remark()))
}
