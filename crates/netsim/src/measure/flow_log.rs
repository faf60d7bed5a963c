//! A row for each flow and each transfer of a run: what its ends saw, over its whole life.

use crate::measure::delays::Spread;
use crate::measure::path_losses::Connection;
use aqm::unit::{Span, Time};
use run::Column;
use std::collections::HashMap;

/// A flow, or a transfer: one that is asked for, as a web object is, begins with its request.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowRow {
    /// The traffic entry, by its number.
    pub class: u16,
    /// The number of the flow in its entry: of a `short` flow, of the arrival; of a web object, of the client.
    pub flow: u32,
    /// The nodes that send and receive its data, by their numbers.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// When it began, in s.
    pub start: f64,
    /// When it was over, in s; `None` if it was not.
    pub end: Option<f64>,
    /// Payload bytes that arrived, each once.
    pub bytes: u64,
    /// The shortest of its round-trip times, in s.
    pub rtt_min: Option<f64>,
    /// Their mean.
    pub rtt_mean: Option<f64>,
    /// Their 95th percentile, to three digits.
    pub rtt_p95: Option<f64>,
    /// The longest of them.
    pub rtt_max: Option<f64>,
    /// Segments or datagrams that were lost on the way.
    pub losses: u64,
    /// Those that arrived with CE set.
    pub marks: u64,
    /// Retransmitted segments; `None` of UDP.
    pub retransmits: Option<u64>,
    /// Retransmission time-outs; `None` of UDP.
    pub timeouts: Option<u64>,
    /// From start to last acknowledgement, or from request to last byte, in s; `None` if it has no end of its own.
    pub completion_time: Option<f64>,
}

impl FlowRow {
    /// The rows as a table of columns; NaN where a row has no value.
    #[must_use]
    pub fn columns(rows: &[Self]) -> Vec<Column> {
        let count = |count: Option<u64>| count.map(|count| count as f64);
        let defined = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let column = |name: &str, value: &dyn Fn(&Self) -> Option<f64>| Column {
            name: name.to_owned(),
            values: rows.iter().map(|row| defined(value(row))).collect(),
        };
        vec![
            column("class", &|row| Some(f64::from(row.class))),
            column("flow", &|row| Some(f64::from(row.flow))),
            column("from", &|row| Some(row.from as f64)),
            column("to", &|row| Some(row.to as f64)),
            column("start", &|row| Some(row.start)),
            column("end", &|row| row.end),
            column("bytes", &|row| Some(row.bytes as f64)),
            column("rtt_min", &|row| row.rtt_min),
            column("rtt_mean", &|row| row.rtt_mean),
            column("rtt_p95", &|row| row.rtt_p95),
            column("rtt_max", &|row| row.rtt_max),
            column("losses", &|row| Some(row.losses as f64)),
            column("marks", &|row| Some(row.marks as f64)),
            column("retransmits", &|row| count(row.retransmits)),
            column("timeouts", &|row| count(row.timeouts)),
            column("completion_time", &|row| row.completion_time),
        ]
    }
}

/// The counters of a flow's ends.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Counters {
    pub(crate) bytes: u64,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

/// A flow that is not over.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) class: u16,
    pub(crate) flow: u32,
    /// The nodes that send and receive its data.
    pub(crate) ends: (usize, usize),
    pub(crate) start: Time,
    /// The counters at its start.
    pub(crate) before: Counters,
    round_trips: Spread,
    marks: u64,
}

/// The flows of a run, if they are recorded.
#[derive(Default, Debug)]
pub(crate) struct FlowLog {
    open: HashMap<Connection, Open>,
    rows: Vec<FlowRow>,
}

impl Open {
    pub(crate) fn new(class: u16, flow: u32, ends: (usize, usize), start: Time, before: Counters) -> Self {
        Self { class, flow, ends, start, before, round_trips: Spread::default(), marks: 0 }
    }

    fn row(
        &self,
        now: Counters,
        losses: u64,
        end: Option<Time>,
        completion: Option<Span>,
        udp: bool,
    ) -> FlowRow {
        let Self { class, flow, ends: (from, to), start, before, round_trips, marks } = self;
        FlowRow {
            class: *class,
            flow: *flow,
            from: *from,
            to: *to,
            start: start.secs(),
            end: end.map(Time::secs),
            bytes: now.bytes - before.bytes,
            rtt_min: round_trips.min(),
            rtt_mean: round_trips.mean(),
            rtt_p95: round_trips.quantile(0.95),
            rtt_max: round_trips.max(),
            losses,
            marks: *marks,
            retransmits: (!udp).then(|| now.retransmits - before.retransmits),
            timeouts: (!udp).then(|| now.timeouts - before.timeouts),
            completion_time: completion.map(Span::secs),
        }
    }
}

impl FlowLog {
    /// The numbers of flows that are not over, and of those that are.
    pub(crate) fn len(&self) -> [usize; 2] {
        [self.open.len(), self.rows.len()]
    }

    /// A flow begins.
    pub(crate) fn begin(&mut self, connection: Connection, open: Open) {
        self.open.insert(connection, open);
    }

    /// A flow that was to begin does not.
    pub(crate) fn forget(&mut self, connection: Connection) {
        self.open.remove(&connection);
    }

    /// A packet of a flow has made a round trip.
    pub(crate) fn on_round_trip(&mut self, connection: Connection, took: Span) {
        self.open.entry(connection).and_modify(|open| open.round_trips.record(took));
    }

    /// A packet of a flow has arrived with CE set.
    pub(crate) fn on_mark(&mut self, connection: Connection) {
        self.open.entry(connection).and_modify(|open| open.marks += 1);
    }

    /// A flow is over: its counters, and the packets that it has lost.
    pub(crate) fn end(
        &mut self,
        connection: Connection,
        at: Time,
        took: Option<Span>,
        now: Counters,
        losses: u64,
    ) {
        if let Some(open) = self.open.remove(&connection) {
            self.rows.push(open.row(now, losses, Some(at), took, connection.udp));
        }
    }

    /// All rows, in the order of entries, flows and starts: of flows that are not over, with the counters and the losses
    /// that they have `now`, and the end of those that have no more to send.
    pub(crate) fn rows(&self, now: impl Fn(Connection) -> (Counters, u64, Option<Time>)) -> Vec<FlowRow> {
        let open = self.open.iter().map(|(&connection, open)| {
            let (counters, losses, end) = now(connection);
            open.row(counters, losses, end, None, connection.udp)
        });
        let mut rows: Vec<FlowRow> = self.rows.iter().cloned().chain(open).collect();
        rows.sort_by(|a, b| (a.class, a.flow).cmp(&(b.class, b.flow)).then(a.start.total_cmp(&b.start)));
        rows
    }
}
