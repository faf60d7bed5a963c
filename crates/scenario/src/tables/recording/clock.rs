//! Times in a recording: numbers, dates (ISO 8601 and other unambiguous forms), times of day. The first one decides for
//! all.

use chrono::{DateTime, NaiveDateTime, NaiveTime, Timelike as _};

/// Times from which numbers without a unit can only be ms, us or ns since 1970: as seconds they would be after the year
/// 5000. With each the nanoseconds of its unit.
const SINCE_1970: [(f64, i128); 3] = [(1e17, 1), (1e14, 1_000), (1e11, 1_000_000)];

const SECOND: i128 = 1_000_000_000;

/// Forms of dates that cannot be mistaken for another date. Days and months as numbers, and without the year in front,
/// are in different order in different countries.
const DATES: [&str; 14] = [
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y.%m.%d %H:%M:%S%.f",
    "%Y-%m-%d_%H:%M:%S%.f",
    "%Y-%m-%d_%H-%M-%S%.f",
    "%Y.%m.%d_%H.%M.%S%.f",
    "%Y%m%dT%H%M%S%.f",
    "%Y%m%d_%H%M%S%.f",
    "%Y%m%d%H%M%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
    "%b %d, %Y %H:%M:%S%.f",
    "%d %b %Y %H:%M:%S%.f",
];

/// How a time is written.
#[derive(Clone, PartialEq, Debug)]
enum Form {
    Number,
    TimeOfDay,
    /// A date with its distance from UTC.
    Zoned,
    /// A date with the name of its zone, or none.
    Local(String),
}

/// Reads the times of a recording.
pub(super) struct Clock {
    /// The nanoseconds of a 1.
    unit: Option<i128>,
    /// Whether the column's name has a unit.
    has_unit: bool,
    /// That of the first time.
    form: Option<(Form, String)>,
    /// The place in `DATES` of the last date's form.
    last: usize,
}

impl Clock {
    /// A clock whose numbers are in the unit of their column, in seconds.
    pub(super) fn new(unit: Option<f64>) -> Self {
        let unit = unit.map(|seconds| (seconds * 1e9).round() as i128);
        Self { unit, has_unit: unit.is_some(), form: None, last: 0 }
    }

    /// The nanoseconds of a time since 1970, midnight, or whatever the recording counts from; or what it must be.
    pub(super) fn nanos(&mut self, text: &str) -> Result<i128, String> {
        let (nanos, form) = self
            .number(text)
            .or_else(|| self.date(text))
            .or_else(|| time_of_day(text))
            .ok_or("must be a number of seconds, or a date and time like 2026-01-31T23:59:59.5Z")?;
        let (first, shown) = self.form.get_or_insert_with(|| (form.clone(), text.to_owned()));
        if *first == form {
            Ok(nanos)
        } else {
            Err(format!(
                "must be in the form and the time zone of the first one, {shown}: convert the times to UTC"
            ))
        }
    }

    fn number(&mut self, text: &str) -> Option<(i128, Form)> {
        let value: f64 = text.parse().ok().filter(|x: &f64| x.is_finite() && x.abs() < 1e20)?;
        // Fourteen digits, such as 20260131235959, are a date.
        if !self.has_unit && self.unit.is_none() && text.len() == 14 && self.date(text).is_some() {
            return None;
        }
        let unit = *self.unit.get_or_insert_with(|| {
            SINCE_1970.iter().find(|(least, _)| value >= *least).map_or(SECOND, |(_, unit)| *unit)
        });
        // The whole part is exact: seconds since 1970 leave few digits for the fraction.
        let nanos = value.trunc() as i128 * unit + (value.fract() * unit as f64).round() as i128;
        Some((nanos, Form::Number))
    }

    fn date(&mut self, text: &str) -> Option<(i128, Form)> {
        // ISO 8601 allows a comma before the fraction of a second.
        let point = text.rfind(',').filter(|at| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let text = &*match point {
            Some(at) => format!("{}.{}", &text[..at], &text[at + 1..]),
            None => text.to_owned(),
        };
        // The name of a zone, not AM or PM.
        let named = text.rsplit_once(' ').filter(|(_, name)| {
            (3..=5).contains(&name.len()) && name.bytes().all(|c| c.is_ascii_uppercase())
        });
        let (stem, zone) = named.unwrap_or((text, ""));
        let is_utc = ["UTC", "GMT"].contains(&zone);
        let read = |form: &str| {
            let local = NaiveDateTime::parse_from_str(stem, form).map(|date| {
                (date.and_utc(), if is_utc { Form::Zoned } else { Form::Local(zone.to_owned()) })
            });
            let zoned = |_| {
                let date = DateTime::parse_from_str(text, &format!("{form}%#z"))?;
                Ok::<_, chrono::ParseError>((date.to_utc(), Form::Zoned))
            };
            let (date, form) = local.or_else(zoned).ok()?;
            Some((i128::from(date.timestamp_nanos_opt()?), form))
        };
        let places = std::iter::once(self.last).chain(0..DATES.len());
        let (place, found) = places.into_iter().find_map(|place| Some((place, read(DATES[place])?)))?;
        self.last = place;
        Some(found)
    }
}

fn time_of_day(text: &str) -> Option<(i128, Form)> {
    let time = NaiveTime::parse_from_str(text, "%H:%M:%S%.f").ok()?;
    let nanos = i128::from(time.num_seconds_from_midnight()) * SECOND + i128::from(time.nanosecond());
    Some((nanos, Form::TimeOfDay))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nanoseconds between two times in this order.
    fn between(unit: Option<f64>, one: &str, other: &str) -> Result<i128, String> {
        let mut clock = Clock::new(unit);
        let first = clock.nanos(one)?;
        Ok(clock.nanos(other)? - first)
    }

    #[test]
    fn times_are_numbers_dates_and_times_of_day() {
        for (one, other, seconds) in [
            ("10", "10.5", 0.5),
            ("1700000000.000000", "1700000000.250000", 0.25),
            ("1700000000000", "1700000000250", 0.25),
            ("1700000000000000", "1700000000250000", 0.25),
            ("2023-04-12 10:40:20 CDT", "2023-04-12 10:40:21 CDT", 1.0),
            ("2020.02.14_09.38.22", "2020.02.14_09.39.22", 60.0),
            ("2023-12-31T23:59:59Z", "2024-01-01T00:00:00.5Z", 1.5),
            ("2024-02-28T12:00:00+01:00", "2024-02-29T12:00:00+02:00", 82_800.0),
            ("2024-02-28T12:00:00+0100", "2024-02-28T11:00:01 UTC", 1.0),
            ("2024-02-28 12:00:00.5", "2024-02-28 12:00:00.75", 0.25),
            ("2024-02-28 12:00:00,500", "2024-02-28 12:00:00,750", 0.25),
            ("20240228T120000Z", "20240228T120001Z", 1.0),
            ("20240228120059", "20240228120100", 1.0),
            ("2024/02/28 12:00:00", "2024/02/28 12:00:01", 1.0),
            ("2024-02-28 12:00", "2024-02-28 12:01", 60.0),
            ("Apr 12, 2023 10:40:20.5 CDT", "Apr 12, 2023 10:40:21 CDT", 0.5),
            ("12 Apr 2023 10:40:20", "12 Apr 2023 10:40:21", 1.0),
            ("09:59:59.9", "10:00:00", 0.1),
        ] {
            let found = between(None, one, other);
            assert_eq!(found, Ok((seconds * 1e9_f64).round() as i128), "{one}, {other}");
        }
        assert_eq!(between(Some(1e-3), "10", "11.5"), Ok(1_500_000));
        assert_eq!(between(Some(1.0), "20240228120059", "20240228120100"), Ok(41 * SECOND));
    }

    #[test]
    fn what_could_be_another_time_is_refused() {
        for text in
            ["", "soon", "01/02/2024 10:00:00", "2024-02-30 10:00:00", "10:00", "2024-02-28", "nan", "1e30"]
        {
            let error = Clock::new(None).nanos(text).unwrap_err();
            assert!(error.starts_with("must be a number of seconds, or a date"), "{text}: {error}");
        }
        for (one, other) in [
            ("2023-11-05 01:59:59 CDT", "2023-11-05 01:00:00 CST"),
            ("2023-11-05 01:59:59", "2023-11-05T02:00:00Z"),
            ("1700000000", "2023-11-14T22:13:21Z"),
        ] {
            let error = between(None, one, other).unwrap_err();
            assert!(error.ends_with(&format!("the first one, {one}: convert the times to UTC")), "{error}");
        }
        assert!(between(None, "2024-02-28 11:59:59 PM", "2024-02-28 12:00:00 AM").is_err());
    }
}
