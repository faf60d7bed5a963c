//! What the endpoints of some flows know of them, which no link does.

use crate::flows::endpoints::Endpoints;
use crate::flows::flow::Snapshot;
use aqm::unit::Span;
use run::Playback;

/// The counters of some flows.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Account {
    /// Payload bytes that each persistent flow has delivered since the warm-up.
    pub delivered: Vec<u64>,
    /// Payload bytes that flows which come and go have delivered since the warm-up.
    pub transient: u64,
    /// Retransmission time-outs since the warm-up; `None` if unknown.
    pub timeouts: Option<u64>,
    /// Retransmitted packets since the warm-up; `None` if unknown.
    pub retransmits: Option<u64>,
    /// Time-outs over the whole run.
    pub timeouts_total: Option<u64>,
    /// Retransmitted packets over the whole run.
    pub retransmits_total: Option<u64>,
}

/// What the endpoints outside know of the flows of a traffic entry.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ends {
    /// The counters of the flows, datagrams included.
    pub account: Account,
    /// Flows of TCP that started, or requests of web clients, over the whole run.
    pub started: u64,
    /// The completion times of flows and of web objects, over the whole run.
    pub completions: Vec<Span>,
    /// The times from first request to last byte of web sessions.
    pub sessions: Vec<Span>,
    /// The times from request to answer since the warm-up.
    pub round_trips: Vec<Span>,
    /// The playback of videos, over the whole run.
    pub playback: Playback,
}

impl Account {
    /// The counters of the flows of one class, or of all.
    pub(super) fn of(endpoints: &Endpoints, class: Option<u16>) -> Self {
        let wanted = |of: u16| class.is_none_or(|class| class == of);
        let (mut delivered, mut all, mut total) = (Vec::new(), Snapshot::default(), Snapshot::default());
        for (slot, _, at_warmup) in
            endpoints.lasting().filter(|&(slot, ..)| wanted(endpoints.flows[slot].class))
        {
            let now = endpoints.snapshot(slot);
            let since = now - at_warmup;
            delivered.push(since.delivered);
            (all, total) = (all + since, total + now);
        }
        let by_persistent = all.delivered;
        for (class, then) in endpoints.classes.iter().enumerate().filter(|&(class, _)| wanted(class as u16)) {
            let now = endpoints.transient(class as u16);
            (all, total) = (all + (now - then.at_warmup), total + now);
        }
        let sources = endpoints.sources.iter().filter(|source| wanted(source.class));
        for [lost, at_warmup] in sources.clone().filter_map(|source| Some(source.connection()?.lost())) {
            all.retransmits += lost.saturating_sub(at_warmup);
            total.retransmits += lost;
        }
        // A stack from outside does not tell its time-outs.
        let tells = sources.clone().all(|source| source.connection().is_none());
        delivered.extend(sources.map(|source| source.delivered - source.delivered_at_warmup));
        Self {
            delivered,
            transient: all.delivered - by_persistent,
            timeouts: tells.then_some(all.timeouts),
            retransmits: Some(all.retransmits),
            timeouts_total: tells.then_some(total.timeouts),
            retransmits_total: Some(total.retransmits),
        }
    }

    /// The counters of all these flows.
    pub(super) fn sum<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let known = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        let none = Some(0);
        let start = Self {
            timeouts: none,
            retransmits: none,
            timeouts_total: none,
            retransmits_total: none,
            ..Self::default()
        };
        parts.fold(start, |mut sum, part| {
            sum.delivered.extend(&part.delivered);
            Self {
                delivered: sum.delivered,
                transient: sum.transient + part.transient,
                timeouts: known(sum.timeouts, part.timeouts),
                retransmits: known(sum.retransmits, part.retransmits),
                timeouts_total: known(sum.timeouts_total, part.timeouts_total),
                retransmits_total: known(sum.retransmits_total, part.retransmits_total),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_one_part_does_not_know_is_unknown_in_the_sum() {
        let part = |timeouts, retransmits| Account {
            delivered: vec![1, 2],
            transient: 3,
            timeouts,
            retransmits,
            timeouts_total: timeouts,
            retransmits_total: retransmits,
        };
        let sum = Account::sum([part(Some(4), Some(5)), part(None, Some(6))].iter());
        assert_eq!((sum.delivered, sum.transient), (vec![1, 2, 1, 2], 6));
        assert_eq!((sum.timeouts, sum.retransmits), (None, Some(11)));
    }
}
