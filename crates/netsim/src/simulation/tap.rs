//! A tap at the links: the packets that their queues send, and those that are lost.

use super::Simulation;
use crate::measure::probe::Probe;
use crate::network::{Passed, Seen};
use crate::packet::PacketKind;
use crate::tcp::Content;
use aqm::unit::Time;
use scenario::model::Ecn;

impl<P: Probe> Simulation<P> {
    /// Lists from now on the packets that links with an AQM send, and those that are lost anywhere.
    ///
    /// # Panics
    /// If the run does not keep account: see [`Probe::CHECKS`].
    pub fn tap(&mut self) {
        assert!(P::CHECKS, "only a run that is checked sees every packet");
        self.network.ledger.passed = Some(Vec::new());
    }

    /// Takes the packets seen at the links up to and including `until`, in the order of time. The run must have advanced as
    /// far.
    pub fn seen(&mut self, until: Time) -> Vec<Seen> {
        let mut starts: Vec<(u32, (usize, usize))> = self.network.starts().collect();
        starts.sort_unstable();
        let ends = |hop: u32| starts[starts.partition_point(|&(start, _)| start <= hop) - 1].1;
        let Some(passed) = &mut self.network.ledger.passed else {
            return Vec::new();
        };
        // What was computed before its time stays until then. The sort is stable.
        passed.sort_by_key(|passed| passed.at);
        let known = passed.partition_point(|passed| passed.at <= until);
        passed.drain(..known).map(|passed| seen(&passed, ends(passed.packet.hop))).collect()
    }
}

fn seen(passed: &Passed, ends: (usize, usize)) -> Seen {
    let &Passed { packet, link, at, lost, waited } = passed;
    let (segment, marked) = packet.segment();
    // The bits of an ACK mean something else.
    let acknowledgement = (packet.kind == PacketKind::Ack).then(|| packet.acknowledgement());
    let ecn = match acknowledgement.map_or((segment.ect, segment.l4s), |ack| (ack.ect, ack.l4s)) {
        (false, _) => Ecn::None,
        (true, false) => Ecn::Ect0,
        (true, true) => Ecn::Ect1,
    };
    let is_data = packet.kind == PacketKind::Data;
    Seen {
        link,
        at,
        lost,
        waited,
        marked,
        ends,
        class: packet.class(),
        kind: packet.kind,
        flow: (packet.flow, packet.generation),
        size: packet.size,
        seq: segment.seq,
        content: match acknowledgement {
            None => segment.content,
            Some(_) if packet.asks_for_ecn() => Content::Syn,
            Some(_) => Content::Ack,
        },
        ece: acknowledgement.is_some_and(|ack| ack.ece),
        cwr: is_data && segment.cwr,
        ecn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::probe::Checked;
    use crate::network::Cause;
    use aqm::unit::Span;
    use scenario::Scenario;

    /// A run of 10 s, and all that was seen in it.
    fn tapped(scenario: Scenario) -> (Simulation<Checked<()>>, Vec<Seen>) {
        let mut run = Simulation::new(scenario, 1, Checked::<()>(None));
        run.tap();
        let mut all = Vec::new();
        for i in 1..=40 {
            let until = Time::ZERO + Span::ms(250 * i);
            run.advance(until);
            let seen = run.seen(until);
            assert!(seen.iter().all(|seen| seen.at <= until));
            all.extend(seen);
        }
        assert!(all.is_sorted_by_key(|seen| seen.at), "in order");
        (run, all)
    }

    #[test]
    fn all_that_a_link_sends_and_loses_is_seen_once_and_in_order() {
        let text = "duration = \"10 s\"\n[dumbbell]\nrate = \"2 Mbit/s\"\nbuffer = \"20 packets\"\nloss = 0.01\n\
                    [aqm]\nname = \"red\"\n[[traffic]]\nname = \"x\"\ncount = 3\n\
                    [[traffic]]\nname = \"ping\"\nkind = \"ping\"\n";
        let scenario = scenario::Document::parse(text, "tap").unwrap().check().unwrap();
        let (run, all) = tapped(scenario);
        let results = run.results();
        let link = &results.metrics.link;
        let count = |lost: Option<Cause>| {
            all.iter().filter(|seen| seen.link == run.scenario.observed && seen.lost == lost).count() as u64
        };
        assert_eq!(count(Some(Cause::Random)), link.random_losses.unwrap());
        assert_eq!(count(Some(Cause::Early)), link.traffic.drops_early);
        assert_eq!(count(Some(Cause::Overflow)), link.traffic.drops_overflow);
        assert_eq!(count(None), results.engine.packets);
        let (sender, receiver) = all.iter().find(|seen| seen.kind == PacketKind::Data).unwrap().ends;
        assert_ne!(sender, receiver);
        assert!(all.iter().all(|seen| seen.ends == (sender, receiver)), "answers go another way");
    }

    #[test]
    fn a_packet_of_a_half_duplex_link_is_seen_once_whether_it_is_sent_or_given_up() {
        let flow = |from, to| {
            format!(
                "[[traffic]]\nname = \"{from}\"\nkind = \"cbr\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"12 Mbit/s\"\n"
            )
        };
        let text = format!(
            "duration = \"10 s\"\n[[link]]\nname = \"cable\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\naqm = \"droptail\"\n\
             overhead = \"14 B\"\nhalf_duplex = \"1 us\"\n{}{}",
            flow("a", "b"),
            flow("b", "a")
        );
        let (run, all) = tapped(scenario::Document::parse(&text, "tap").unwrap().check().unwrap());
        let link = &run.results().links["cable"];
        let [sent, given_up] = [None, Some(Cause::Collisions)]
            .map(|lost| all.iter().filter(|seen| seen.link == 0 && seen.lost == lost).collect::<Vec<_>>());
        assert_eq!(given_up.len() as u64, link.collision_drops.unwrap());
        let bits: f64 = sent.iter().map(|seen| 8.0 * f64::from(seen.size)).sum();
        assert!(
            !given_up.is_empty() && (bits - link.traffic.throughput * 10.0).abs() < 1.0,
            "{bits} {link:?}"
        );
        // The first finds an idle link, and all later ones a queue.
        let waited = |seen: &[&Seen]| seen.iter().filter(|seen| seen.waited > Span::ms(1)).count();
        assert!([&given_up, &sent].into_iter().all(|seen| 2 * waited(seen) > seen.len()), "{link:?}");
    }
}
