//! The record of flows, where the run keeps one.

use super::Simulation;
use crate::flows::flow::Snapshot;
use crate::measure::flow_log::{Counters, FlowRow, Open};
use crate::measure::path_losses::Connection;
use crate::measure::probe::Probe;
use crate::packet::Packet;
use aqm::unit::Span;
use scenario::model::Traffic;
use std::collections::HashMap;

impl From<Snapshot> for Counters {
    fn from(of: Snapshot) -> Self {
        Self { bytes: of.delivered, retransmits: of.retransmits, timeouts: of.timeouts }
    }
}

/// The nodes between which flow number `number` of an entry sends.
fn ends_of(entry: &Traffic, number: u32) -> (usize, usize) {
    let i = number as usize;
    (entry.from[i % entry.from.len()], entry.to[i % entry.to.len()])
}

impl<P: Probe> Simulation<P> {
    /// Begins to record flows, at the start of a run; those of UDP begin by themselves.
    pub(super) fn record_flows(&mut self) {
        self.network.path_losses.connections = Some(HashMap::new());
        self.flow_log = Some(Box::default());
        let mut numbers = vec![0; self.scenario.traffic.len()];
        for flow in 0..self.endpoints.sources.len() {
            let number = &mut numbers[usize::from(self.endpoints.sources[flow].class)];
            self.begin_row_of_source(flow as u32, *number);
            *number += 1;
        }
    }

    /// A source begins, now or later; `number` is its own in its entry.
    pub(super) fn begin_row_of_source(&mut self, flow: u32, number: u32) {
        let source = &self.endpoints.sources[flow as usize];
        let Some(log) = self.flow_log.as_deref_mut().filter(|_| source.since < self.end) else {
            return;
        };
        let entry = &self.scenario.traffic[usize::from(source.class)];
        let before = Counters { bytes: source.delivered, ..Counters::default() };
        let open = Open::new(source.class, number, ends_of(entry, number), source.since, before);
        log.begin(Connection { udp: true, flow, generation: 0 }, open);
    }

    /// A source that rests starts again: its datagrams so far have a row.
    pub(super) fn end_row_of_source(&mut self, flow: u32) {
        let Some(log) = self.flow_log.as_deref_mut() else {
            return;
        };
        let connection = Connection { udp: true, flow, generation: 0 };
        let source = &self.endpoints.sources[flow as usize];
        let (losses, counters) = (
            self.network.path_losses.take(connection),
            Counters { bytes: source.delivered, ..Counters::default() },
        );
        log.end(connection, source.stop, None, counters, losses);
    }

    /// A source that was to begin does not.
    pub(super) fn drop_row_of_source(&mut self, flow: u32) {
        let connection = Connection { udp: true, flow, generation: 0 };
        self.flow_log.iter_mut().for_each(|log| log.forget(connection));
    }

    fn connection(&self, slot: u32) -> Connection {
        Connection { udp: false, flow: slot, generation: self.endpoints.flows[slot as usize].generation }
    }

    /// A flow or a transfer in this slot begins; `number` is its own in its entry.
    pub(super) fn begin_row(&mut self, slot: u32, number: impl FnOnce(&Self) -> u32) {
        if self.flow_log.is_none() {
            return;
        }
        let (class, number) = (self.endpoints.flows[slot as usize].class, number(self));
        let connection = self.connection(slot);
        self.network.path_losses.take(connection);
        let before = self.endpoints.snapshot(slot as usize).into();
        let ends = ends_of(&self.scenario.traffic[usize::from(class)], number);
        let open = Open::new(class, number, ends, self.now(), before);
        self.flow_log.iter_mut().for_each(|log| log.begin(connection, open.clone()));
    }

    /// The number in its entry of a persistent flow.
    pub(super) fn number_of(&self, slot: u32) -> u32 {
        if let Some(added) = self.endpoints.added.iter().find(|added| added.slot == slot) {
            return added.number;
        }
        let persistent = &self.endpoints.flows[..self.endpoints.persistent];
        let class = persistent[slot as usize].class;
        slot - persistent.partition_point(|flow| flow.class < class) as u32
    }

    /// The flow or transfer in this slot is over.
    pub(super) fn end_row(&mut self, slot: u32, took: Option<Span>) {
        if self.flow_log.is_none() {
            return;
        }
        let (connection, now) = (self.connection(slot), self.now());
        let losses = self.network.path_losses.take(connection);
        let counters = self.endpoints.snapshot(slot as usize).into();
        self.flow_log.iter_mut().for_each(|log| log.end(connection, now, took, counters, losses));
    }

    /// A packet has made a round trip.
    #[cold]
    pub(super) fn log_round_trip(&mut self, packet: &Packet, took: Span) {
        let connection = Connection::of(packet);
        self.flow_log.iter_mut().for_each(|log| log.on_round_trip(connection, took));
    }

    /// A packet has arrived with CE set.
    #[cold]
    pub(super) fn log_mark(&mut self, packet: &Packet) {
        self.flow_log.iter_mut().for_each(|log| log.on_mark(Connection::of(packet)));
    }

    /// The recorded flows and transfers of a run that is over; none unless the scenario asks for them (`record.flows`).
    ///
    /// Losses are counted over the whole path. What a connection loses after its transfer is over is in no row.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowRow> {
        let now = |connection: Connection| {
            let losses = self.network.path_losses.of_connection(connection);
            let i = connection.flow as usize;
            if !connection.udp {
                return (self.endpoints.snapshot(i).into(), losses, None);
            }
            let source = &self.endpoints.sources[i];
            let end = Some(source.stop).filter(|&stop| stop < self.end);
            (Counters { bytes: source.delivered, ..Counters::default() }, losses, end)
        };
        self.flow_log.as_ref().map_or_else(Vec::new, |log| log.rows(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::probe::Checked;
    use aqm::unit::Time;

    fn run(text: &str) -> Simulation<Checked<()>> {
        let text = format!("{text}[record]\nflows = true\n");
        let scenario = scenario::Document::parse(&text, "flows").unwrap().check().unwrap();
        let mut run = Simulation::new(scenario, 1, Checked(None));
        run.advance(Time::MAX);
        run
    }

    const ALL: &str = "duration = \"20 s\"\n[dumbbell]\nrate = \"4 Mbit/s\"\nbuffer = \"20 packets\"\nloss = 0.002\n\
        sender_delay = [\"1 ms\", \"5 ms\"]\n[aqm]\nname = \"red\"\necn = true\n\
        [[traffic]]\nname = \"long\"\ncount = 3\nstart = \"uniform(0 s, 1 s)\"\ntcp = { ecn = true }\n\
        [[traffic]]\nname = \"file\"\nkind = \"transfer\"\nsize = \"100 kB\"\ncount = 2\n\
        [[traffic]]\nname = \"short\"\nkind = \"short\"\nsize = \"20 kB\"\narrival_rate = \"2 /s\"\n\
        [[traffic]]\nname = \"web\"\nkind = \"web\"\nconnections = 2\nobjects = 5\nthink = \"1 s\"\n\
        [[traffic]]\nname = \"call\"\nkind = \"voip\"\nstop = \"10 s\"\n\
        [[traffic]]\nname = \"ping\"\nkind = \"ping\"\n";

    #[test]
    fn rows_add_up_to_their_entries() {
        let run = run(ALL);
        let (rows, results) = (run.flows(), run.results());
        let of = |name: &str| {
            let class = run.scenario.traffic.iter().position(|entry| entry.name == name).unwrap();
            rows.iter().filter(move |row| usize::from(row.class) == class).collect::<Vec<_>>()
        };
        for (name, class) in &results.classes {
            let rows = of(name);
            let bytes: u64 = rows.iter().map(|row| row.bytes).sum();
            let delivered = class.totals.goodput * 20.0 / 8.0;
            // The last web objects are on their way.
            assert!((bytes as f64 - delivered).abs() < 1.0, "{name}: {bytes} bytes of {delivered}");
            let losses: u64 = rows.iter().map(|row| row.losses).sum();
            let i = run.scenario.traffic.iter().position(|entry| entry.name == *name).unwrap();
            // A web connection also loses requests, and a flow what it repeats in vain, after its last row.
            let all = run.network.path_losses.of_class(i);
            let exact = !matches!(&**name, "web" | "short");
            assert!(losses == all || !exact && losses < all, "{name}: {losses} lost, {all}");
            let sum = |of: fn(&FlowRow) -> Option<u64>| rows.iter().filter_map(|row| of(row)).sum::<u64>();
            if name != "web" {
                assert_eq!(Some(sum(|row| row.retransmits)), class.totals.retransmits_total, "{name}");
                assert_eq!(Some(sum(|row| row.timeouts)), class.totals.timeouts_total, "{name}");
            }
            let complete = rows.iter().filter(|row| row.completion_time.is_some()).count();
            assert_eq!(Some(complete as u64), class.completed, "{name}");
            if name != "call" {
                let longest = rows.iter().filter_map(|row| row.rtt_max).fold(0.0, f64::max);
                // A web connection's requests have round trips too.
                assert!(longest <= class.totals.rtt_max.unwrap() + 1e-12, "{name}");
            }
        }
        let (long, call) = (of("long"), of("call"));
        assert_eq!(long.iter().map(|row| row.flow).collect::<Vec<_>>(), [0, 1, 2]);
        assert_ne!(long[0].from, long[1].from, "two hosts");
        assert!(long.iter().all(|row| row.end.is_none() && row.rtt_min < row.rtt_mean));
        assert!(long.iter().any(|row| row.marks > 0));
        assert_eq!((call.len(), call[0].end, call[0].rtt_mean), (1, Some(10.0), None));
        let file = of("file");
        let took = file[0].end.unwrap() - file[0].start;
        assert!((took - file[0].completion_time.unwrap()).abs() < 1e-9 && file[0].bytes == 100_000);
    }

    #[test]
    fn a_flow_that_is_stopped_ends_with_its_last_acknowledgement() {
        let text = "duration = \"20 s\"\n[dumbbell]\nrate = \"4 Mbit/s\"\n[[traffic]]\nname = \"x\"\nstop = \"8 s\"\n\
                    [[traffic]]\nname = \"y\"\nkind = \"transfer\"\nsize = \"1 GB\"\nstop = \"9 s\"\n";
        let rows = run(text).flows();
        for (row, stop) in rows.iter().zip([8.0, 9.0]) {
            assert!(row.end.is_some_and(|end| (stop..stop + 1.0).contains(&end)), "{row:?}");
            assert_eq!(row.completion_time, None, "it was cut short");
        }
    }

    #[test]
    fn a_run_is_the_same_whether_its_flows_are_recorded_or_not() {
        let scenario = scenario::Document::parse(ALL, "flows").unwrap().check().unwrap();
        let mut plain = Simulation::new(scenario, 1, Checked::<()>(None));
        plain.advance(Time::MAX);
        let engine = |mut results: run::Results| {
            results.engine.cpu_seconds = 0.0;
            results
        };
        assert_eq!(engine(plain.results()), engine(run(ALL).results()));
        assert_eq!(plain.flows(), Vec::new());
    }
}
