//! Tables of measured rates: CSV with a column of times and columns of rates, whose names end in their units.

use super::super::recording::{Csv, Header, unit};
use super::{LATEST, Rates, Recorded, SHORTEST};
use crate::model::RATES;
use aqm::unit::{Rate, Span};

/// The place of the column to read, and how many bit/s a 1 stands for in it.
fn column(header: &Header, said: &Recorded) -> Result<(usize, f64), String> {
    let Header { names, line, time, .. } = header;
    let has_rate = |name: &str| unit(name, "bit/s").is_some() || name.eq_ignore_ascii_case("rate");
    let rates: Vec<usize> = (0..names.len())
        .filter(|i| match &said.column {
            Some(column) => names[*i] == *column,
            None => i != time && has_rate(&names[*i]),
        })
        .collect();
    let list = rates.iter().map(|&i| &*names[i]).collect::<Vec<_>>().join(", ");
    match (&said.column, &rates[..]) {
        (_, &[rate]) => {
            let factor = said.unit.map(Rate::bits).or_else(|| unit(&names[rate], "bit/s")).unwrap_or(1.0);
            Ok((rate, factor))
        }
        (Some(column), []) => {
            Err(format!("line {line}: no column {column:?}; those there are: {}", names.join(", ")))
        }
        (Some(_), _) => Err(format!("line {line}: several columns are called {list}: rename them")),
        (None, []) => {
            let fix = "name it with its unit, like rate_mbps, or set `column` and `unit`";
            Err(format!("line {line}: no column has a rate: {fix}"))
        }
        (None, _) => {
            Err(format!("line {line}: several columns have rates, {list}: choose one with `column`"))
        }
    }
}

/// The rates that hold from a time on, in bit/s.
struct Measured {
    since: Span,
    sum: f64,
    count: usize,
}

/// The rates of a table, and a remark if several lines have the same time. Each holds until the next time; the last one
/// as long as the one before it.
pub(super) fn rates(text: &str, said: &Recorded) -> Result<(Rates, Option<String>), String> {
    let table = Csv::open(text).ok_or(
        "line 1: must be a header with a time and a rate, like time,rate_mbps, with lines before it begun with #; or, \
         in each line, a whole number of milliseconds (Mahimahi)",
    )?;
    let (place, factor) = column(&table.header, said)?;
    let (time, name) = (&table.header.names[table.header.time], &table.header.names[place]);
    let mut read: Vec<Measured> = Vec::new();
    let (mut first, mut before, mut last, mut shared) = (None, String::new(), table.header.line, 0);
    for reading in table.readings(place) {
        let reading = reading?;
        let (line, shown) = (reading.line, reading.time);
        let rate = reading.value.parse().ok().filter(|x: &f64| x.is_finite());
        let rate = rate.ok_or_else(|| {
            format!(
                "line {line}: {name} = {:?}: must be a number, like 2000 or 2.5, without unit and separators of \
                 thousands: remove the line if nothing was measured",
                reading.value
            )
        })?;
        let bits = rate * factor;
        if !(0.0..=RATES.high).contains(&bits) {
            let most = Rate::bit_per_s(RATES.high as u64);
            return Err(format!(
                "line {line}: {name} = {}: must be in [0, {most}]: set `unit`, or correct the line",
                reading.value
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
                same.sum += bits;
                same.count += 1;
                shared += 1;
            }
            (Some(gap), _) if gap < i128::from(SHORTEST.nanos()) => {
                return refuse(format!("at least {SHORTEST} after that before: keep one of the lines"));
            }
            _ if since > i128::from(Span::s(LATEST).nanos()) => {
                return refuse(format!("at most {LATEST} s after the first: keep a part of the recording"));
            }
            _ => read.push(Measured { since: Span::ns(since as u64), sum: bits, count: 1 }),
        }
        (before, last) = (shown, line);
    }
    let [.., earlier, latest] = &read[..] else {
        let what = if read.is_empty() { "no rates follow" } else { "the only time with a rate" };
        return Err(format!("line {last}: {what}: must be two times at least"));
    };
    let gap = |from: Span, to: Span| Span::ns(to.nanos() - from.nanos());
    let end = latest.since + gap(earlier.since, latest.since);
    let ends = read.iter().skip(1).map(|next| next.since).chain([end]);
    let means = read.iter().zip(ends).map(|(own, end)| (own.sum / own.count as f64, gap(own.since, end)));
    let lines = if shared == 1 { "line has" } else { "lines have" };
    let remark = format!("{shared} {lines} the time of the line before: at each time the mean holds.");
    Ok((Rates::joined(means), (shared > 0).then_some(remark)))
}
