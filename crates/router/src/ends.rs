//! What the program with senders and sinks reports at the end of a run, as JSON.

use aqm::unit::Span;
use netsim::{Account, Ends};
use serde::{Deserialize, Serialize};

/// The report.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Report {
    /// For each traffic entry.
    pub classes: Vec<Class>,
    /// Connections that failed and datagrams that were not sent, the first of them with the reason.
    pub failures: Vec<String>,
    /// Their number.
    pub failed: u64,
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
        }
    }
}
