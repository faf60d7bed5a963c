//! Tables of measured rates: CSV with a header, a column of times and columns of rates, whose names end in their units.

use super::{LATEST, Rates, Recorded, SHORTEST};
use crate::model::RATES;
use aqm::unit::{Rate, Span, in_base_unit};

/// Words with which the name of the column of times begins.
const TIMES: [&str; 8] = ["time", "timestamp", "t", "epoch", "elapsed", "seconds", "sec", "s"];

/// Times from which numbers without a unit can only be ms, us or ns since 1970: as seconds they would be after the year
/// 5000.
const SINCE_1970: [(f64, f64); 3] = [(1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3)];

/// The fields of a line, without the quotes around them.
fn fields(line: &str, separator: char) -> impl Iterator<Item = &str> {
    line.split(separator).map(|field| field.trim().trim_matches('"').trim())
}

/// The words in a column's name.
fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(|c: char| !c.is_alphanumeric() && c != '/').filter(|word| !word.is_empty())
}

/// What the unit at the end of a column's name is in the base unit `base`.
fn unit(name: &str, base: &str) -> Option<f64> {
    let last = words(name).next_back()?;
    in_base_unit(&format!("1 {last}")).filter(|(_, unit)| *unit == base).map(|(factor, _)| factor)
}

/// The columns to read.
struct Columns<'a> {
    time: (usize, &'a str),
    rate: (usize, &'a str),
    /// How many bit/s a 1 stands for.
    factor: f64,
}

impl<'a> Columns<'a> {
    fn of(names: &[&'a str], said: &Recorded) -> Result<Self, String> {
        let is_time =
            |name: &str| words(name).next().is_some_and(|word| TIMES.contains(&&*word.to_ascii_lowercase()));
        let time = names.iter().position(|name| is_time(name)).ok_or(
            "line 1: must be a header with a time and a rate, like time,rate_mbps; or, in each line, a whole number \
             of milliseconds (Mahimahi)",
        )?;
        let has_rate = |name: &str| unit(name, "bit/s").is_some() || name.eq_ignore_ascii_case("rate");
        let chosen = |column: &String| {
            names
                .iter()
                .position(|name| name == column)
                .ok_or_else(|| format!("line 1: no column {column:?}; those there are: {}", names.join(", ")))
        };
        let rate = match &said.column {
            Some(column) => chosen(column)?,
            None => {
                let rates: Vec<usize> =
                    (0..names.len()).filter(|&i| i != time && has_rate(names[i])).collect();
                match rates[..] {
                    [rate] => rate,
                    [] => {
                        let fix = "name it with its unit, like rate_mbps, or set `column` and `unit`";
                        return Err(format!("line 1: no column has a rate: {fix}"));
                    }
                    _ => {
                        let list = rates.iter().map(|&i| names[i]).collect::<Vec<_>>().join(", ");
                        return Err(format!(
                            "line 1: several columns have rates, {list}: choose one with `column`"
                        ));
                    }
                }
            }
        };
        let factor = said.unit.map(Rate::bits).or_else(|| unit(names[rate], "bit/s")).unwrap_or(1.0);
        Ok(Self { time: (time, names[time]), rate: (rate, names[rate]), factor })
    }
}

/// The rates of a table. Each holds until the time in the next line; the last one as long as the one before it.
pub(super) fn rates(text: &str, said: &Recorded) -> Result<Rates, String> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().unwrap_or_default();
    let separator = [',', ';', '\t'].into_iter().find(|c| header.contains(*c)).unwrap_or(',');
    let names: Vec<&str> = fields(header, separator).collect();
    let columns = Columns::of(&names, said)?;
    let mut read: Vec<(Span, f64)> = Vec::new();
    let (mut first, mut second, mut before) = (0.0, unit(columns.time.1, "s"), "");
    let mut last = 1;
    for (number, line) in lines {
        let cells: Vec<&str> = fields(line, separator).collect();
        if cells.len() < names.len() {
            return Err(format!(
                "line {number}: only {} of the header's {} fields: complete the line, or remove it if it is torn",
                cells.len(),
                names.len()
            ));
        }
        if cells.len() > names.len() {
            return Err(format!(
                "line {number}: {} fields, and the header has {}: leave out separators within fields, also quoted ones",
                cells.len(),
                names.len()
            ));
        }
        let value = |(place, name): (usize, &str)| {
            let found = cells[place];
            let parsed = found.parse().ok().filter(|x: &f64| x.is_finite());
            let value = parsed.ok_or_else(|| format!("line {number}: {name} = {found:?}: must be a number"));
            value.map(|value| (value, found))
        };
        let (time, shown) = value(columns.time)?;
        let (rate, shown_rate) = value(columns.rate)?;
        let bits = rate * columns.factor;
        if !(0.0..=RATES.high).contains(&bits) {
            let (name, most) = (columns.rate.1, Rate::bit_per_s(RATES.high as u64));
            return Err(format!("line {number}: {name} = {shown_rate}: must be in [0, {most}]"));
        }
        if read.is_empty() {
            first = time;
        }
        let second = *second.get_or_insert_with(|| {
            let since = SINCE_1970.iter().find(|(least, _)| time >= *least);
            since.map_or(1.0, |(_, second)| *second)
        });
        // The first time is subtracted before rounding: seconds since 1970 leave few digits for the fraction.
        let since = (time - first) * second;
        let refuse = |why: String| Err(format!("line {number}: {} = {shown}: must be {why}", columns.time.1));
        if let Some((earlier, _)) = read.last() {
            let gap = since - earlier.secs();
            if gap <= 0.0 {
                let fix = "sort the lines, and keep one for each time";
                return refuse(format!("later than in the line before, {before}: {fix}"));
            }
            if Span::from_secs(gap) < SHORTEST {
                return refuse(format!("at least {SHORTEST} after that before"));
            }
        }
        if since > LATEST as f64 {
            return refuse(format!("at most {LATEST} s after the first"));
        }
        read.push((Span::from_secs(since), bits));
        (before, last) = (shown, number);
    }
    let [.., (earlier, _), (latest, _)] = read[..] else {
        let what = if read.is_empty() { "no rates follow" } else { "the only one with a rate" };
        return Err(format!("line {last}: {what}: must be two lines at least"));
    };
    let gap = |from: Span, to: Span| Span::ns(to.nanos() - from.nanos());
    let ends = read.iter().skip(1).map(|(time, _)| *time).chain([latest + gap(earlier, latest)]);
    Ok(Rates::joined(read.iter().zip(ends).map(|((begin, bits), end)| (*bits, gap(*begin, end)))))
}
