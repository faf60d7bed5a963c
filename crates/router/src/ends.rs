//! What the program with senders and sinks reports at the end of a run, as JSON.

use aqm::unit::Span;
use netsim::{Account, Ends};
use run::Playback;
use serde::{Deserialize, Serialize};

/// The report.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Report {
    /// For each traffic entry.
    pub classes: Vec<Class>,
    /// The ends of TCP connections.
    pub connections: Attempts,
    /// The datagrams.
    pub datagrams: Attempts,
    /// The foreign programs.
    pub programs: Vec<Program>,
}

/// A foreign program that has run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Its traffic entry.
    pub entry: String,
    /// The key with its words: `command` or `server`.
    pub key: String,
    /// Its number among those of this key of the entry, from 1 on.
    pub number: usize,
    /// Its words.
    pub words: Vec<String>,
    /// When it began, in s.
    pub started: f64,
    /// When it ended, in s; nothing if the end of the run was its end.
    pub ended: Option<f64>,
    /// Its exit status, if it had one.
    pub status: Option<i32>,
    /// The most bytes that are kept of each output.
    pub kept: usize,
    /// The beginning of its standard output, as text.
    pub stdout: String,
    /// Bytes of all of that.
    pub stdout_bytes: u64,
    /// The beginning of its standard error.
    pub stderr: String,
    /// Bytes of all of that.
    pub stderr_bytes: u64,
}

/// Attempts, and those that failed.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Attempts {
    /// All of it.
    pub tried: u64,
    /// What failed.
    pub failed: u64,
    /// The reasons of the first failures.
    pub failures: Vec<String>,
}

/// The share of failures beyond which a run is refused.
const MOST_FAILED: f64 = 0.01;
/// Failures whose reasons are kept.
const MOST_REASONS: usize = 20;

impl Attempts {
    /// Counts a failure.
    pub fn fail(&mut self, reason: String) {
        self.failed += 1;
        if self.failures.len() < MOST_REASONS {
            self.failures.push(reason);
        }
    }

    /// The reason to refuse a run, of which too many `things` failed.
    fn refusal(&self, things: &str) -> Option<String> {
        if self.failed as f64 <= MOST_FAILED * self.tried as f64 {
            return None;
        }
        let more = self.failed - self.failures.len() as u64;
        let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
        Some(format!("{} of {} {things}:\n{}{more}", self.failed, self.tried, self.failures.join("\n")))
    }
}

impl Report {
    /// The failures of both kinds.
    #[must_use]
    pub const fn failed(&self) -> u64 {
        self.connections.failed + self.datagrams.failed
    }

    /// The reason to refuse the run, if too much failed.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        let connections = self.connections.refusal("ends of connections failed");
        let datagrams = self.datagrams.refusal("datagrams were not sent");
        let reasons: Vec<String> = connections.into_iter().chain(datagrams).collect();
        (!reasons.is_empty()).then(|| reasons.join("\n"))
    }
}

/// What the endpoints know of the flows of a traffic entry; see [`Account`] and [`Ends`].
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Class {
    /// Bytes since the warm-up of each flow that is there for the whole run.
    pub delivered: Vec<u64>,
    /// Bytes since the warm-up of all others.
    pub transient: u64,
    /// Time-outs since the warm-up.
    pub timeouts: Option<u64>,
    /// Retransmitted packets since the warm-up.
    pub retransmits: Option<u64>,
    /// Time-outs over the whole run.
    pub timeouts_total: Option<u64>,
    /// Retransmitted packets over the whole run.
    pub retransmits_total: Option<u64>,
    /// TCP flows that started, or requests.
    pub started: u64,
    /// Completion times in ns.
    pub completions: Vec<u64>,
    /// Times of web sessions in ns.
    pub sessions: Vec<u64>,
    /// Times from request to answer in ns, since the warm-up.
    pub round_trips: Vec<u64>,
    /// The playback of videos, over the whole run.
    pub playback: Playback,
}

impl From<Class> for Ends {
    fn from(class: Class) -> Self {
        let Class { delivered, transient, timeouts, retransmits, timeouts_total, retransmits_total, .. } =
            class;
        let spans = |nanos: Vec<u64>| nanos.into_iter().map(Span::ns).collect();
        Self {
            account: Account {
                delivered,
                transient,
                timeouts,
                retransmits,
                timeouts_total,
                retransmits_total,
            },
            started: class.started,
            completions: spans(class.completions),
            sessions: spans(class.sessions),
            round_trips: spans(class.round_trips),
            playback: class.playback,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(tried: u64, failed: u64) -> Attempts {
        let mut attempts = Attempts { tried, ..Attempts::default() };
        (0..failed).for_each(|i| attempts.fail(format!("reason {i}")));
        attempts
    }

    #[test]
    fn one_failure_in_a_hundred_attempts_of_its_kind_is_accepted() {
        let report = |connections, datagrams| Report { connections, datagrams, ..Report::default() };
        assert_eq!(report(attempts(100, 1), attempts(1000, 10)).refusal(), None);
        assert_eq!(report(attempts(0, 0), attempts(300, 3)).refusal(), None);
        let few = report(attempts(1000, 0), attempts(150, 2)).refusal();
        assert_eq!(few.as_deref(), Some("2 of 150 datagrams were not sent:\nreason 0\nreason 1"));
        let refusal = report(attempts(40, 22), attempts(50, 1)).refusal().expect("too many");
        assert!(refusal.starts_with("22 of 40 ends of connections failed:\nreason 0\n"), "{refusal}");
        assert!(
            refusal.ends_with("reason 19\nand 2 more\n1 of 50 datagrams were not sent:\nreason 0"),
            "{refusal}"
        );
    }
}
