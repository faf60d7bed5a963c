//! What varies in the delays of `[dumbbell]` and of a `[[link]]`, and their outages.

use super::{Dumbbell, LinkTable, Rates, trace};
use crate::keys::{JITTERS, RECORDED, below};
use crate::model::variation::table;
use crate::model::{Jitter, Law, Outage, Reorder, Variation, Waypoint};
use crate::reader::Reader;
use aqm::params::Field as _;
use aqm::unit::Span;
use std::fmt::Display;
use std::path::Path;

/// What a table says about it, each of the two directions.
pub(super) struct Varying<'a> {
    delays: [Option<&'a [Waypoint]>; 2],
    outages: [Option<&'a [Outage]>; 2],
    period: Option<Span>,
    jitters: [&'a mut Option<Jitter>; 2],
    reorders: [&'a Option<Reorder>; 2],
    duplicates: [f64; 2],
    overtaking: bool,
}

/// Declares [`Varying`] of a table.
macro_rules! varying {
    ($($table:ty),+) => {
        $(impl $table {
            pub(super) fn varying(&mut self) -> Varying<'_> {
                Varying {
                    delays: [self.delays.as_deref(), self.reverse_delays.as_deref()],
                    outages: [self.outages.as_deref(), self.reverse_outages.as_deref()],
                    period: self.changes_period,
                    jitters: [&mut self.jitter, &mut self.reverse_jitter],
                    reorders: [&self.reorder, &self.reverse_reorder],
                    duplicates: [self.duplicate, self.reverse_duplicate],
                    overtaking: self.overtaking,
                }
            }

            /// Whether anything but the rate may start over.
            pub(super) const fn starts_over(&self) -> bool {
                self.delays.is_some() || self.reverse_delays.is_some()
                    || self.outages.is_some() || self.reverse_outages.is_some()
            }

            /// The keys of changes with time, and whether they are given.
            pub(crate) const fn scheduled(&self) -> [(&'static str, bool); 7] {
                [
                    ("changes", self.changes.is_some()),
                    ("rates", self.rates.is_some()),
                    ("reverse_rates", self.reverse_rates.is_some()),
                    ("delays", self.delays.is_some()),
                    ("reverse_delays", self.reverse_delays.is_some()),
                    ("outages", self.outages.is_some()),
                    ("reverse_outages", self.reverse_outages.is_some()),
                ]
            }

            /// The outages of the two directions.
            pub(crate) fn all_outages(&self) -> [&[Outage]; 2] {
                let there = self.outages.as_deref().unwrap_or_default();
                [there, self.reverse_outages.as_deref().unwrap_or(there)]
            }
        })+
    };
}

varying!(Dumbbell, LinkTable);

/// The keys of the two directions.
const DELAYS: [&str; 2] = ["delays", "reverse_delays"];
pub(crate) const OUTAGES: [&str; 2] = ["outages", "reverse_outages"];

fn values(file: &Path) -> Result<(Vec<f64>, Option<String>), String> {
    let bytes = trace::bytes(file, "keep a part of it")?;
    let text = str::from_utf8(&bytes).map_err(|_| "not text in UTF-8: must be a table of iproute2")?;
    Ok((table(text)?, None))
}

impl Reader<'_> {
    /// What varies in the delays of the two directions of the link at `path`.
    pub(super) fn variations(
        &mut self,
        link: Varying<'_>,
        recorded: &[Option<Rates>; 2],
        path: &str,
    ) -> [Variation; 2] {
        let Varying { delays, outages, period, jitters, reorders, duplicates, overtaking } = link;
        for (key, points) in DELAYS.into_iter().zip(delays) {
            let points = points.unwrap_or_default();
            self.in_order(points, |point| (point.since, point.until), period, &below(path, key));
        }
        for (key, outages) in OUTAGES.into_iter().zip(outages) {
            let outages = outages.unwrap_or_default();
            self.in_order(outages, |outage| (outage.since, outage.until), period, &below(path, key));
        }
        let mut table = |key: &str, jitter: &mut Option<Jitter>| {
            jitter.as_mut().map_or_else(Vec::new, |jitter| self.table_of(jitter, &below(path, key)))
        };
        let [there, back] = jitters;
        let tables = [table(JITTERS[0], there), table(JITTERS[1], back)];
        let jitters = [there, back];
        let recorded =
            recorded.each_ref().map(|rates| rates.as_ref().filter(|rates| !rates.delays.is_empty()));
        for i in [0, 1] {
            if delays[i].is_some() && recorded[i].is_some() {
                let message = format!("`{}` has delays as well: remove one of them", RECORDED[i]);
                self.refuse(&below(path, DELAYS[i]), None, message);
            }
        }
        let of = |i: usize| match (recorded[i], delays[i]) {
            (Some(rates), _) => Some((&*rates.delays, Some(rates.period))),
            (None, Some(points)) => Some((points, period)),
            (None, None) => None,
        };
        let delays = [of(0), of(1).or_else(|| of(0))];
        [0, 1].map(|i| Variation {
            delays: delays[i].map_or_else(Vec::new, |(points, _)| points.to_vec()),
            period: delays[i].and_then(|(_, period)| period),
            jitter: jitters[i].clone(),
            table: tables[i].clone(),
            reorder: reorders[i].clone(),
            duplicate: duplicates[i],
            overtaking,
        })
    }

    /// The values of the table of some jitter.
    fn table_of(&mut self, jitter: &mut Jitter, path: &str) -> Vec<f64> {
        let at = below(path, "file");
        if jitter.law != Law::Table {
            if !jitter.file.is_empty() {
                let message = format!("only for law = \"table\", not {}", jitter.law.value());
                self.refuse(&at, Some(format!("{:?}", jitter.file)), message);
            }
            return Vec::new();
        }
        if jitter.file.is_empty() {
            self.refuse(&at, None, "missing: law = \"table\" needs a file of iproute2, such as normal.dist");
            return Vec::new();
        }
        self.recording(&mut jitter.file, &at, values).unwrap_or_default()
    }

    /// Checks that `all`, of which `ends` are begin and end, follow each other, and that the last one is over before they
    /// start over.
    fn in_order<T: Display>(
        &mut self,
        all: &[T],
        ends: impl Fn(&T) -> (Span, Span),
        period: Option<Span>,
        path: &str,
    ) {
        for pair in all.windows(2) {
            let ((since, before), (next, _)) = (ends(&pair[0]), ends(&pair[1]));
            if next < before || next <= since {
                let message = format!("must be in order; {next} is not after {}", before.max(since));
                return self.refuse(path, Some(format!("\"{}\"", pair[1])), message);
            }
        }
        if let (Some(last), Some(period)) = (all.last(), period)
            && ends(last).1 > period
        {
            let message = format!("must end before changes_period = {}, when it starts over", period.value());
            self.refuse(path, Some(format!("\"{last}\"")), message);
        }
    }
}
