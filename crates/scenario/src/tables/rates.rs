//! Recordings of a link's rate: packet-delivery traces of Mahimahi, and CSV files of measured rates.

mod deliveries;
mod measured;

use super::{recording, trace};
use crate::model::{Change, RATES, Steps, Waypoint};
use aqm::params;
use aqm::params::Range;
use aqm::unit::{Rate, Span};
use std::path::Path;

params! {
    /// A recording that a link's rate follows.
    pub struct Recorded {
        /// The file, found in the scenario's folder, otherwise in the current folder. It is either a packet-delivery trace
        /// of Mahimahi: in each line a time in whole milliseconds at which 1504 bytes may pass. Or it is CSV with a
        /// header, a column of times and columns of rates, whose names end in their units: `time,rate_mbps`,
        /// `timestamp,downlink_kbps,uplink_kbps`, `t [ms],rate [Mbit/s]`. Times count from the first one: numbers without
        /// a unit are in seconds, or in ms, us or ns if they can only be such times since 1970; dates are
        /// `2026-01-31T23:59:59.5Z` or similar. If lines have the same time, their mean holds. A rate without a unit is
        /// in bit/s. Fields are separated by commas, semicolons or tabs; lines that begin with `#` are comments.
        file: String = String::new(), "";
        /// The column with the rates, if several columns have rates: `downlink_kbps`. Without a header it is the number of
        /// the column, and `unit` is needed.
        column: Option<String> = None, "";
        /// The rate that a 1 in the column stands for; auto is by the column's name.
        unit: Option<Rate> = None, "bit/s", Range::new(1.0, 1e9);
        /// The column with the one-way delays of the link, if its delay follows them: `owd_ms`. A delay without a unit
        /// is in seconds.
        delay: Option<String> = None, "";
        /// The column with round trips, in place of `delay`: the delay of the link is half of them.
        round_trip: Option<String> = None, "";
        /// The column with the probabilities that a packet is lost in front of the queue, if its losses follow them:
        /// `loss`, or in percent `loss_percent`.
        loss: Option<String> = None, "";
        /// The time over which the bytes of a packet-delivery trace are spread evenly.
        bin: Span = Span::ms(100), "s", Range::new(1e-3, 1e5);
    }
}

/// The shortest interval between two rates.
const SHORTEST: Span = Span::us(1);

/// Latest time after the first, in seconds: no run lasts longer.
const LATEST: u64 = 10_000_000;

/// The rates of a recording, which starts over at its end.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Rates {
    /// The first of them is at 0.
    pub(crate) changes: Vec<Change>,
    pub(crate) period: Span,
    /// The delays of the same times, if they were recorded.
    pub(crate) delays: Vec<Waypoint>,
    /// The losses of the same times, if they were recorded.
    pub(crate) losses: Option<Steps>,
}

params! {
    /// A recording that a link's losses follow.
    pub struct RecordedLoss {
        /// The file: CSV with a column of times and one of loss probabilities, as `rates.file`. It starts over at its end.
        file: String = String::new(), "";
        /// The column with the probabilities, if several are called so: `loss`, or in percent `loss_percent`.
        column: Option<String> = None, "";
    }
}

/// The loss probabilities of the recording in `file`, and a remark on how it was read.
pub(super) fn losses(file: &Path, column: Option<&str>) -> Result<(Steps, Option<String>), String> {
    let bytes = trace::bytes(file, "keep a part of it")?;
    let text = recording::text(&bytes).ok_or("not text in UTF-8: must be CSV")?;
    measured::losses(&text, column)
}

impl Rates {
    /// The rates of the recording in `file`, and a remark on how it was read.
    pub(super) fn read(file: &Path, said: &Recorded) -> Result<(Self, Option<String>), String> {
        let bytes = trace::bytes(file, "keep a part of it")?;
        Self::of(&bytes, said)
    }

    /// The rates in the content of a file, whose first line identifies its format.
    fn of(bytes: &[u8], said: &Recorded) -> Result<(Self, Option<String>), String> {
        let text = recording::text(bytes);
        let text = text.ok_or("not text in UTF-8: must be a packet-delivery trace of Mahimahi, or CSV")?;
        let first =
            recording::lines(&text).map(|(_, line)| line.trim()).find(|line| !recording::is_comment(line));
        let first =
            first.ok_or("empty: must be a packet-delivery trace of Mahimahi, or CSV with a header")?;
        let (rates, remark) = if first.bytes().all(|c| c.is_ascii_digit()) {
            (deliveries::rates(&text, said)?, None)
        } else {
            measured::rates(&text, said)?
        };
        let mean = rates.mean();
        if RATES.contains(mean) {
            return Ok((rates, remark));
        }
        let mean = Rate::bit_per_s(mean.round() as u64);
        Err(format!(
            "a mean rate of {mean}: must be in [1 kbit/s, 100 Gbit/s]; `unit` says what a 1 stands for"
        ))
    }

    /// Makes rates of intervals that follow each other, each a rate in bit/s and its duration.
    fn joined(intervals: impl Iterator<Item = (f64, Span)>) -> Self {
        let mut rates = Self { changes: Vec::new(), period: Span::ZERO, delays: Vec::new(), losses: None };
        for (bits, duration) in intervals {
            let rate = Rate::bit_per_s(bits.round() as u64);
            if rates.changes.last().is_none_or(|last| last.rate != rate) {
                rates.changes.push(Change { at: rates.period, rate });
            }
            rates.period = rates.period + duration;
        }
        rates
    }

    /// The mean rate, in bit/s.
    fn mean(&self) -> f64 {
        let ends = self.changes.iter().skip(1).map(|change| change.at).chain([self.period]);
        let bits = |(change, end): (&Change, Span)| {
            change.rate.bits() * Span::ns(end.nanos() - change.at.nanos()).secs()
        };
        self.changes.iter().zip(ends).map(bits).sum::<f64>() / self.period.secs()
    }

    /// The mean rate, to a bit/s.
    pub(crate) fn mean_rate(&self) -> Rate {
        Rate::bit_per_s(self.mean().round() as u64)
    }

    /// The same rates, begun at `since`.
    pub(crate) fn begun(&self, since: Span) -> Self {
        let ends = self.changes.iter().skip(1).map(|change| change.at).chain([self.period]);
        let parts: Vec<_> =
            self.changes.iter().zip(ends).map(|(change, end)| (change.at, end, change.rate)).collect();
        let cut = |(from, to): (Span, Span)| {
            parts.iter().filter_map(move |&(at, end, rate)| {
                let (at, end) = (at.max(from), end.min(to));
                (at < end).then(|| (rate.bits(), Span::ns(end.nanos() - at.nanos())))
            })
        };
        Self::joined(cut((since, self.period)).chain(cut((Span::ZERO, since))))
    }

    /// The highest rate.
    pub(crate) fn highest(&self) -> Rate {
        self.changes.iter().map(|change| change.rate).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In place of a rate, at the end of a recording.
    const END: f64 = -1.0;

    fn rates(text: &str, said: &Recorded) -> Vec<(f64, f64)> {
        let (rates, _) =
            Rates::of(text.as_bytes(), said).unwrap_or_else(|problem| panic!("{text:?}: {problem}"));
        let end = (rates.period.secs(), END);
        rates.changes.iter().map(|change| (change.at.secs(), change.rate.bits())).chain([end]).collect()
    }

    fn refused(text: &str, said: &Recorded) -> String {
        Rates::of(text.as_bytes(), said).unwrap_err()
    }

    const MTU: f64 = 8.0 * 1504.0;

    #[test]
    fn deliveries_are_spread_over_their_bin_and_none_is_lost() {
        let auto = Recorded::default();
        // Two in (0, 100 ms], with one at 0, none in the next, one at the end of the third, which is a short one.
        let text = "0\n100\n230\n";
        let seen = rates(text, &auto);
        assert_eq!(seen, [(0.0, 20.0 * MTU), (0.1, 0.0), (0.2, (MTU / 0.03).round()), (0.23, END)]);
        let whole = rates(text, &Recorded { bin: Span::s(1), ..auto.clone() });
        assert_eq!(whole, [(0.0, (3.0 * MTU / 0.23).round()), (0.23, END)]);
        let many: String = (1..=60_000).map(|ms| format!("{}\n", ms / 7 * 7 + 1)).collect();
        let (read, _) = Rates::of(many.as_bytes(), &auto).unwrap();
        let bytes = read.mean() * read.period.secs() / 8.0;
        assert!((bytes - 60_000.0 * 1504.0).abs() < 1.0, "{bytes}");
    }

    #[test]
    fn a_table_holds_each_rate_until_the_next_time_and_starts_over() {
        let auto = Recorded::default();
        let listed = [(0.0, 4e6), (0.5, 0.0), (1.5, 2.5e6), (2.5, END)];
        for text in [
            "time,rate_mbps\n10,4\n10.5,0\n11.5,2.5\n",
            "\u{feff}\"t [ms]\";\"rate [Mbit/s]\"\r\n0;4\r\n500;0\r\n1500;2.5\r\n\r\n",
            "cell,timestamp,downlink_kbps\na,1700000000000,4000\na,1700000000500,0\na,1700000001500,2500\n",
            "seconds\trate\n0\t4e6\n.5\t0\n1.5\t2.5e6\n",
            "time_us,throughput (MB/s)\n0,.5\n500000,0\n1500000,0.3125\n",
            "place,time,rate_mbps\n\"cell 7,1\",0,4\n\"cell 7,2\",.5,0\n\"a \"\"b\"\", c\",1.5,2.5\n",
            "s_id,t_air,Timestamp,\"rate, mbps\"\r9,20,2020.02.14_09.38.22,4\r8,21,2020.02.14_09.38.22.5,0\r7,22,2020.02.14_09.38.23.5,2.5",
            "# of cell 7\n\n# time\trate_mbps\n2023-04-12 10:40:20 CDT\t4\n# a gap\n2023-04-12 10:40:20.5 CDT\t0\n2023-04-12 10:40:21.5 CDT\t2.5\n",
            "time;rate_mbps\n0;3\n0;5\n0.5;0\n1.5;1\n1.5;4\n1.5;2.5\n",
        ] {
            assert_eq!(rates(text, &auto), listed, "{text}");
        }
        let utf16: Vec<u8> =
            "\u{feff}t\trate_mbps\r\n0\t4\r\n1\t5\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (read, remark) = Rates::of(&utf16, &auto).unwrap();
        assert_eq!((read.mean_rate(), remark), (Rate::bit_per_s(4_500_000), None));
        let (_, remark) = Rates::of(b"t,rate_mbps\n0,4\n0,5\n1,2\n", &auto).unwrap();
        assert_eq!(
            remark.as_deref(),
            Some("1 line has the time of the line before: at each time the mean holds.")
        );
        // Equal rates need no change.
        assert_eq!(rates("t,rate_kbps\n0,5\n1,5\n2,6\n", &auto), [(0.0, 5e3), (2.0, 6e3), (3.0, END)]);
    }

    #[test]
    fn a_column_and_its_unit_may_be_chosen() {
        let text = "time,downlink_mbps,up\n0,4,1\n1,5,2\n";
        assert_eq!(rates(text, &Recorded::default())[0], (0.0, 4e6));
        let mut said = Recorded { column: Some("up".into()), ..Recorded::default() };
        assert!(
            refused(text, &said).starts_with("a mean rate of 2 bit/s: must be in"),
            "{}",
            refused(text, &said)
        );
        said.unit = Some(Rate::mbit_per_s(1));
        assert_eq!(rates(text, &said)[1], (1.0, 2e6));
        said.column = Some("left".into());
        assert_eq!(
            refused(text, &said),
            "line 1: no column \"left\"; those there are: time, downlink_mbps, up"
        );
        let two = "time,down_mbps,up_mbps\n0,4,1\n1,5,2\n";
        let message = "line 1: several columns have rates, down_mbps, up_mbps: choose one with `column`";
        assert_eq!(refused(two, &Recorded::default()), message);
    }

    #[test]
    fn without_a_header_columns_have_numbers_and_the_unit_is_given() {
        let mut said = Recorded { unit: Some(Rate::mbit_per_s(1)), ..Recorded::default() };
        assert_eq!(rates("# a drive\n0.5,1\n1.5,2\n", &said), [(0.0, 1e6), (1.0, 2e6), (2.0, END)]);
        let three = "2026-01-31 12:00:00;-87;1\n2026-01-31 12:00:01;-90;2\n";
        assert!(
            refused(three, &said).starts_with("line 1: no column has a rate"),
            "{}",
            refused(three, &said)
        );
        said.column = Some("3".into());
        assert_eq!(rates(three, &said), [(0.0, 1e6), (1.0, 2e6), (2.0, END)]);
    }

    #[test]
    fn delays_and_losses_are_those_of_the_same_times() {
        let text = "time,rate_mbps,rtt_ms,owd,loss %\n0,4,40,0.01,0\n1,5,60,0.02,50\n3,5,60,0.02,1\n";
        let said = Recorded {
            round_trip: Some("rtt_ms".into()),
            loss: Some("loss %".into()),
            ..Recorded::default()
        };
        let (read, _) = Rates::of(text.as_bytes(), &said).unwrap();
        let delays: Vec<_> =
            read.delays.iter().map(|point| (point.since, point.until, point.delay)).collect();
        let (one, other) = (Span::ms(20), Span::ms(30));
        assert_eq!(delays, [(Span::ZERO, Span::ZERO, one), (Span::s(1), Span::s(1), other)]);
        let losses = read.losses.unwrap();
        assert_eq!((losses.values[1], losses.period), ((Span::s(1), 0.5), Span::s(5)));
        let said = Recorded { delay: Some("owd".into()), ..Recorded::default() };
        let (read, _) = Rates::of(text.as_bytes(), &said).unwrap();
        assert_eq!((read.delays[1].delay, read.losses), (Span::ms(20), None));
        for (said, message) in [
            (
                Recorded {
                    delay: Some("owd".into()),
                    round_trip: Some("rtt_ms".into()),
                    ..Recorded::default()
                },
                "`delay` and `round_trip` are both given: remove one of them",
            ),
            (
                Recorded { delay: Some("rtt".into()), ..Recorded::default() },
                "line 1: no column \"rtt\"; those there are: time, rate_mbps, rtt_ms, owd, loss %",
            ),
            (
                Recorded { loss: Some("rtt_ms".into()), ..Recorded::default() },
                "line 2: rtt_ms = 40: must be in [0, 1]: say that it is in percent by a name like loss_percent, or correct the line",
            ),
        ] {
            assert_eq!(refused(text, &said), message);
        }
        let (losses, remark) = measured::losses("t,loss_pct\n0,10\n0,30\n1,0\n", None).unwrap();
        assert_eq!((losses.values[0], remark.is_some()), ((Span::ZERO, 0.2), true));
    }

    #[test]
    fn whatever_is_no_recording_is_refused_with_its_line() {
        let auto = Recorded::default();
        for (text, message) in [
            ("", "empty: must be a packet-delivery trace of Mahimahi, or CSV with a header"),
            (" \n\n", "empty: must be a packet-delivery trace of Mahimahi, or CSV with a header"),
            ("a\0b", "not text in UTF-8: must be a packet-delivery trace of Mahimahi, or CSV"),
            ("5\n7\n6\n", "line 3: 6: earlier than the line before, 7: sort the lines, or remove a torn one"),
            ("5\n7\n\n6x\n", "line 4: \"6x\": must be a whole number of milliseconds"),
            ("5\n-7\n", "line 2: \"-7\": must be a whole number of milliseconds"),
            ("0\n0\n", "its last time is 0 ms: it must be later, for the recording starts over then"),
            ("99999999999\n", "line 1: 99999999999: must be at most 10000000 s after the start"),
            (
                "{\"a\": 1}",
                "line 1: must be a header with a time and a rate, like time,rate_mbps, with lines before it begun with #; or, in each line, a whole number of milliseconds (Mahimahi)",
            ),
            (
                "time,size\n0,1\n",
                "line 1: no column has a rate: name it with its unit, like rate_mbps, or set `column` and `unit`",
            ),
            ("time,rate_mbps\n", "line 1: no rates follow: must be two times at least"),
            ("time,rate_mbps\n0,1\n", "line 2: the only time with a rate: must be two times at least"),
            (
                "time,rate_mbps\n0,1\n1\n",
                "line 3: only 1 of the header's 2 fields: complete the line, or remove it if it is torn",
            ),
            (
                "time,rate_mbps\n1,1\n0,2\n",
                "line 3: time = 0: must be later than in the line before, 1: sort the lines, or keep one recording of several",
            ),
            ("time,rate_mbps\n0,1\n0,2\n", "line 3: the only time with a rate: must be two times at least"),
            (
                "time,rate_kbps\n0,2,000\n1,2,000\n",
                "line 2: 3 fields, and the header has 2: put fields with separators in quotes",
            ),
            (
                "time,rate_kbps\n0,\"2,000\"\n1,\"2,000\"\n",
                "line 2: rate_kbps = \"2,000\": must be a number, like 2000 or 2.5, without unit and separators of thousands: remove the line if nothing was measured",
            ),
            (
                "time,rate_mbps,note\n0,1,\"a\n1,2,b\"\n",
                "line 2: a quoted field does not end in it: add the quote, or remove the line break",
            ),
            (
                "0.5,1\n1.5,2\n",
                "line 1: no header: add one, like time,rate_mbps; or say what a 1 stands for with `unit`, and which column has the rates, such as 2, with `column`",
            ),
            (
                "time,rate_mbps\n2023-11-05 01:59:59 CDT,1\n2023-11-05 01:00:00 CST,2\n",
                "line 3: time = \"2023-11-05 01:00:00 CST\": must be in the form and the time zone of the first one, 2023-11-05 01:59:59 CDT: convert the times to UTC",
            ),
            (
                "time,rate_mbps\n0,1\n1,-2\n",
                "line 3: rate_mbps = -2: must be in [0, 100 Gbit/s]: set `unit`, or correct the line",
            ),
            (
                "time,rate_mbps\n0,1\n1,nan\n",
                "line 3: rate_mbps = \"nan\": must be a number, like 2000 or 2.5, without unit and separators of thousands: remove the line if nothing was measured",
            ),
            (
                "time,rate_gbps\n0,1\n1,200\n",
                "line 3: rate_gbps = 200: must be in [0, 100 Gbit/s]: set `unit`, or correct the line",
            ),
            (
                "time,rate_mbps\n01/02/2024 10:00:00,1\n",
                "line 2: time = \"01/02/2024 10:00:00\": must be a number of seconds, or a date and time like 2026-01-31T23:59:59.5Z",
            ),
            (
                "time,rate_mbps\n0,0\n1,0\n",
                "a mean rate of 0 bit/s: must be in [1 kbit/s, 100 Gbit/s]; `unit` says what a 1 stands for",
            ),
            (
                "time,rate_mbps\n0,1\n1e9,1\n",
                "line 3: time = 1e9: must be at most 10000000 s after the first: keep a part of the recording",
            ),
            (
                "time,rate_mbps\n0,1\n1e-9,1\n",
                "line 3: time = 1e-9: must be at least 1 us after that before: keep one of the lines",
            ),
        ] {
            assert_eq!(refused(text, &auto), message, "{text:?}");
        }
    }
}
