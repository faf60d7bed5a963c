//! What the endpoints count: bytes delivered, retransmissions, completions.

use aqm::unit::Span;
use router::ends::{Attempts, Class, Report};
use router::sys::TcpInfo;
use run::Playback;

/// The counters of all traffic entries.
#[derive(Debug)]
pub(crate) struct Counters {
    classes: Vec<Entry>,
    /// The ends of TCP connections, and those that failed.
    pub(crate) connections: Attempts,
    /// The datagrams, and those that were not sent.
    pub(crate) datagrams: Attempts,
}

/// Those of one.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Bytes of each flow that is there for the whole run, since the warm-up.
    delivered: Vec<u64>,
    transient: u64,
    started: u64,
    completions: Vec<u64>,
    sessions: Vec<u64>,
    /// Times from request to answer, since the warm-up.
    round_trips: Vec<u64>,
    playback: Playback,
    /// The senders that are over.
    retired: Repairs,
    at_warmup: Repairs,
}

/// What senders have repaired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repairs {
    retransmits: u64,
    /// `None` if the kernel does not say.
    timeouts: Option<u64>,
}

impl Default for Repairs {
    fn default() -> Self {
        Self { retransmits: 0, timeouts: Some(0) }
    }
}

impl Repairs {
    pub(crate) fn add(&mut self, info: &TcpInfo) {
        self.retransmits += u64::from(info.total_retrans);
        self.timeouts = self.timeouts.zip(info.total_rto).map(|(sum, more)| sum + u64::from(more));
    }
}

impl Counters {
    /// For entries with these numbers of flows that are there for the whole run.
    pub(crate) fn new(persistent: impl Iterator<Item = usize>) -> Self {
        let entry = |flows| Entry { delivered: vec![0; flows], ..Entry::default() };
        let classes = persistent.map(entry).collect();
        Self { classes, connections: Attempts::default(), datagrams: Attempts::default() }
    }

    /// Payload has reached the application; `flow` is its number among those that are there for the whole run.
    pub(crate) fn deliver(&mut self, class: usize, flow: Option<usize>, bytes: usize) {
        let entry = &mut self.classes[class];
        match flow {
            Some(flow) => entry.delivered[flow] += bytes as u64,
            None => entry.transient += bytes as u64,
        }
    }

    pub(crate) fn start(&mut self, class: usize) {
        self.classes[class].started += 1;
    }

    pub(crate) fn complete(&mut self, class: usize, took: Span) {
        self.classes[class].completions.push(took.nanos());
    }

    pub(crate) fn end_session(&mut self, class: usize, took: Span) {
        self.classes[class].sessions.push(took.nanos());
    }

    /// A request was answered.
    pub(crate) fn round_trip(&mut self, class: usize, took: Span) {
        self.classes[class].round_trips.push(took.nanos());
    }

    /// A sender is over.
    pub(crate) fn retire(&mut self, class: usize, info: &TcpInfo) {
        self.classes[class].retired.add(info);
    }

    /// The warm-up is over; `live` are the senders that are not.
    pub(crate) fn end_warmup<'a>(&mut self, live: impl Iterator<Item = (usize, &'a TcpInfo)>) {
        let totals = self.totals(live);
        for (entry, total) in self.classes.iter_mut().zip(totals) {
            entry.at_warmup = total;
            entry.delivered.fill(0);
            entry.transient = 0;
            entry.round_trips.clear();
        }
    }

    fn totals<'a>(&self, live: impl Iterator<Item = (usize, &'a TcpInfo)>) -> Vec<Repairs> {
        let mut totals: Vec<Repairs> = self.classes.iter().map(|entry| entry.retired).collect();
        live.for_each(|(class, info)| totals[class].add(info));
        totals
    }

    /// A client has played a video so far.
    pub(crate) fn play(&mut self, class: usize, playback: &Playback) {
        self.classes[class].playback.add(playback);
    }

    /// The report at the end of the run.
    pub(crate) fn report<'a>(&self, live: impl Iterator<Item = (usize, &'a TcpInfo)>) -> Report {
        let classes = self.classes.iter().zip(self.totals(live)).map(|(entry, total)| Class {
            delivered: entry.delivered.clone(),
            transient: entry.transient,
            timeouts: total.timeouts.zip(entry.at_warmup.timeouts).map(|(now, then)| now - then),
            retransmits: Some(total.retransmits - entry.at_warmup.retransmits),
            timeouts_total: total.timeouts,
            retransmits_total: Some(total.retransmits),
            started: entry.started,
            completions: entry.completions.clone(),
            sessions: entry.sessions.clone(),
            round_trips: entry.round_trips.clone(),
            playback: entry.playback,
        });
        let (connections, datagrams) = (self.connections.clone(), self.datagrams.clone());
        Report { classes: classes.collect(), connections, datagrams, programs: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_before_the_end_of_the_warm_up_counts_in_the_totals_only() {
        let mut counters = Counters::new([2, 0].into_iter());
        let info = |total_retrans, total_rto| TcpInfo { total_retrans, total_rto, ..TcpInfo::default() };
        counters.deliver(0, Some(1), 100);
        counters.deliver(1, None, 50);
        counters.round_trip(1, Span::ms(3));
        counters.retire(1, &info(3, Some(1)));
        let live = info(5, Some(2));
        counters.end_warmup([(0, &live)].into_iter());
        counters.deliver(0, Some(1), 7);
        counters.complete(1, Span::ms(2));
        counters.round_trip(1, Span::ms(4));
        let later = info(9, Some(2));
        let report = counters.report([(0, &later), (1, &live)].into_iter());
        assert_eq!(report.classes[0].delivered, [0, 7]);
        assert_eq!(report.classes[1].round_trips, [4_000_000]);
        assert_eq!((report.classes[0].retransmits, report.classes[0].retransmits_total), (Some(4), Some(9)));
        assert_eq!((report.classes[1].transient, report.classes[1].timeouts), (0, Some(2)));
        assert_eq!(
            (report.classes[1].timeouts_total, &*report.classes[1].completions),
            (Some(3), &[2_000_000][..])
        );
    }

    #[test]
    fn an_old_kernel_does_not_count_time_outs() {
        let mut counters = Counters::new([1].into_iter());
        counters.retire(0, &TcpInfo::default());
        let class = &counters.report(std::iter::empty()).classes[0];
        assert_eq!((class.timeouts, class.retransmits), (None, Some(0)));
    }
}
