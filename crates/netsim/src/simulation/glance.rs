//! A glance at the observed link, computed from the counters that a run keeps for its results.

use super::Simulation;
use crate::measure::delays::Delays;
use crate::measure::probe::Probe;
use aqm::unit::Time;
use run::Glance;

impl<P: Probe> Simulation<P> {
    /// The observed link so far.
    ///
    /// A link that works ahead may have been computed up to a later time than the run: `t` is then the time of the last
    /// change of its queue, to which the queue and the counters belong; arrivals dropped since then are counted too.
    /// At the end of the run the counters are those of the results.
    #[must_use]
    pub fn glance(&self) -> Glance {
        let link = &self.network.links[self.scenario.observed];
        let aqm_queue = link.aqm_queue.as_deref().expect("a checked scenario observes a measured link");
        let counts = aqm_queue.counts();
        let t = self.network.watch.now().max(aqm_queue.occupancy.since());
        Glance {
            t: t.secs(),
            queue: aqm_queue.queue.len() as u64,
            queue_area: aqm_queue.occupancy.area_until(t) as f64 * 1e-9,
            arrivals: counts.arrivals,
            drops: counts.drops(),
            marks: counts.marks,
            departures: counts.departures,
            departed_bytes: counts.departed_bytes,
            waited: aqm_queue.delays.iter().map(Delays::total_ns).sum::<u128>() as f64 * 1e-9,
        }
    }

    /// The bits that the observed link could send in an interval of the time so far.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        let span = |t: Time| t.since(Time::ZERO);
        self.scenario.links[self.scenario.observed].capacity(span(from), span(to))
    }

    /// The signals of the observed link's algorithm now, in the order of their list: `p`, for example.
    #[must_use]
    pub fn signals(&self) -> Vec<f64> {
        let link = &self.network.links[self.scenario.observed];
        let algorithm = link.aqm_queue.as_deref().map(|aqm_queue| aqm_queue.queue.algorithm());
        let mut values = Vec::new();
        if let Some(algorithm) = algorithm {
            algorithm.signals(|_, value| values.push(value));
        }
        values
    }

    /// Payload bytes that all flows have delivered, each once, since the start of the run, warm-up included. Working ahead may
    /// count a delivery before its time, by less than a round trip.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        let endpoints = &self.endpoints;
        let persistent = endpoints.lasting().map(|(slot, ..)| endpoints.snapshot(slot).delivered);
        let transient = (0..endpoints.classes.len()).map(|class| endpoints.transient(class as u16).delivered);
        persistent.chain(transient).chain(endpoints.sources.iter().map(|source| source.delivered)).sum()
    }
}
