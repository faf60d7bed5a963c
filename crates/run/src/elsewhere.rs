//! Whether another link kept the queue under study from filling.

use crate::metrics::LinkMetrics;
use serde::Serialize;

/// The share of the time for which a link that limits its flows is in use, at least. TCP leaves some of it idle: at the
/// start, and after losses.
const BUSY: f64 = 0.9;
/// The share of the time for which no packet waits at a queue that does not fill, at least.
const OFTEN_EMPTY: f64 = 0.1;
/// By how much the utilisation of a link in front of another of the same rate may be measured to be lower.
const SAME: f64 = 0.01;

/// The link that was the bottleneck in place of the observed one.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Elsewhere {
    /// Its name.
    pub link: String,
    /// Bits sent / bits that it could have sent.
    pub utilisation: f64,
}

impl Elsewhere {
    /// The busiest of `others`, or the first of those that are, if it was the bottleneck and the observed queue never
    /// filled: that dropped and marked nothing, and was often empty. `others` are the links, with their utilisations, on
    /// the paths of the flows that cross the observed link.
    ///
    /// Utilisation alone does not distinguish them: behind a link of the same rate, the observed one is as busy and its
    /// queue remains empty; in front of it, the queue fills.
    pub fn of<'a>(observed: &LinkMetrics, others: impl IntoIterator<Item = (&'a str, f64)>) -> Option<Self> {
        let traffic = &observed.traffic;
        let acted = traffic.drops_early + traffic.drops_overflow + traffic.marks > 0;
        let fills = acted || observed.queue_empty.is_none_or(|empty| empty < OFTEN_EMPTY);
        let others: Vec<_> = others.into_iter().collect();
        let busiest = others.iter().map(|(_, utilisation)| *utilisation).fold(0.0, f64::max);
        // Of links of one rate the first limits, though another may have sent a packet more in the window.
        let (link, utilisation) =
            others.into_iter().find(|(_, utilisation)| *utilisation >= busiest - SAME)?;
        let limits = utilisation >= BUSY && utilisation >= observed.utilisation - SAME;
        (limits && !fills).then(|| Self { link: link.to_owned(), utilisation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::TrafficMetrics;

    fn link(utilisation: f64, queue_empty: f64, drops_early: u64, marks: u64) -> LinkMetrics {
        LinkMetrics {
            utilisation,
            queue_empty: Some(queue_empty),
            traffic: TrafficMetrics { drops_early, marks, ..TrafficMetrics::default() },
            ..LinkMetrics::default()
        }
    }

    fn found(observed: &LinkMetrics, others: &[(&str, f64)]) -> Option<String> {
        Elsewhere::of(observed, others.iter().copied()).map(|elsewhere| elsewhere.link)
    }

    #[test]
    fn the_busiest_other_link_is_named_if_the_observed_queue_stays_empty() {
        let idle = link(0.5, 0.99, 0, 0);
        assert_eq!(found(&idle, &[("a", 0.95), ("b", 0.99), ("c", 0.2)]).as_deref(), Some("b"));
        // Of equals, the first; and a link of the same rate behind it is as busy.
        assert_eq!(found(&link(0.999, 0.9, 0, 0), &[("a", 0.998), ("b", 0.998)]).as_deref(), Some("a"));
    }

    #[test]
    fn a_queue_that_acts_or_stands_is_the_bottleneck_whatever_else_is_busy() {
        for observed in [link(0.9, 0.9, 1, 0), link(0.9, 0.9, 0, 1), link(0.99, 0.01, 0, 0)] {
            assert_eq!(found(&observed, &[("a", 1.0)]), None, "{observed:?}");
        }
    }

    #[test]
    fn light_traffic_has_no_bottleneck() {
        assert_eq!(found(&link(0.3, 1.0, 0, 0), &[("a", 0.6)]), None);
        assert_eq!(found(&link(0.97, 0.5, 0, 0), &[("a", 0.92)]), None, "the observed link is busier");
        assert_eq!(found(&link(0.3, 1.0, 0, 0), &[]), None);
        assert_eq!(found(&LinkMetrics::default(), &[("a", 1.0)]), None, "nothing is known of the queue");
    }
}
