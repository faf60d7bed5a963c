//! FRED: RED with a limit on each flow's share of the queue, which is stricter for flows that have exceeded it.
//!
//! With qlen the waiting packets of the arrival's flow, strike the number of times the flow exceeded its limits, and
//! avgcq the fair share, avg divided by the number of flows in the queue and at least 1, an arrival is dropped
//!
//! ```text
//! and strike incremented, if qlen >= maxq,  or avg >= max_th and qlen > 2 avgcq,  or qlen >= avgcq and strike > 1
//! with RED's p_a,         else if min_th <= avg < max_th and qlen >= max(min_q, avgcq)
//! always,                 else if avg >= max_th
//! ```
//!
//! with maxq = min_th. So a flow of fewer than `min_q` packets is not dropped at random, and one that does not slow
//! down gets no more than the share of the others. With `many_flows`, maxq is 2 above max_th, and arrivals below maxq
//! are accepted there: two packets for every flow. The average is RED's, but updated at departures as well.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw per arrival of a flow at its share, with avg between the
//! thresholds. State: avg, count, the start of the idle time; qlen and strike of every flow with a packet in the
//! queue, hence of no more flows than packets that wait.
//!
//! # Departures from the source
//! The paper's min_th is the smaller of a quarter of the buffer and the packets of one round-trip time; the algorithm
//! does not know the round-trip time, so the default is a quarter of the buffer. The paper only drops; with ECN,
//! arrivals chosen with RED's p_a are marked, while those of flows beyond their limits and those above max_th are
//! dropped. The average of an empty queue falls as RED's does, from the departure of the last packet on. No random
//! number is drawn for a packet that overflows the buffer, but it may cost its flow a strike.
//!
//! # Sources
//! Lin, Morris, "Dynamics of random early detection", SIGCOMM 1997. Tested against its pseudocode.

use crate::aqm::red::Spacing;
use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::float::floor;
use crate::hash::Flows;
use crate::mirror::Mirror;
use crate::params::{ParamError, Range};
use crate::unit::{Span, Time};

crate::params! {
    /// FRED's parameters.
    pub struct Params {
        /// Average queue from which arrivals are dropped at random, and the most packets of a flow; if omitted, a
        /// quarter of the buffer.
        min_th: Option<f64> = None, "packets", Range::above(0.0, 1e9), ["minth"];
        /// Average queue from which all arrivals are dropped; if omitted, twice `min_th`.
        max_th: Option<f64> = None, "packets", Range::above(0.0, 1e9), ["maxth"];
        /// Drop probability p_b at `max_th`.
        max_p: f64 = 0.02, "", Range::above(0.0, 1.0), ["maxp"];
        /// Weight of a sample in the average.
        w_q: f64 = 0.002, "", Range::above(0.0, 1.0), ["wq"];
        /// Packets that any flow may have in the queue before it is dropped at random (2 for small buffers).
        min_q: u32 = 4, "packets", Range::new(0.0, 1e9), ["minq"];
        /// Accept two packets of every flow above `max_th`, rather than none.
        many_flows: bool = false, "";
        /// Mark packets of ECN-capable transports where RED would.
        ecn: bool = false, "";
    }
}

/// The state of a flow that has packets in the queue.
#[derive(Clone, Copy, Default, Debug)]
struct Flow {
    qlen: u32,
    strike: u32,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Fred {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    min_q: f64,
    many_flows: bool,
    ecn: bool,
    /// The link's rate in packets per second.
    c: f64,
    avg: f64,
    p_b: f64,
    /// Arrivals since the last drop with avg between the thresholds; -1 below them.
    count: i64,
    /// The time up to which the average has been aged, if the queue is empty.
    empty_since: Time,
    flows: Flows<Flow>,
    /// The flow of each packet that waits.
    waiting: Mirror<u64>,
}

impl Fred {
    /// The fair share of a flow, in packets.
    fn avgcq(&self) -> f64 {
        (self.avg / (self.flows.len().max(1) as f64)).max(1.0)
    }

    fn sample(&mut self, queue: &Backlog) {
        self.avg = (1.0 - self.w_q) * self.avg + self.w_q * f64::from(queue.packets);
    }

    /// Subtracts the packets that have left the queue from their flows' counts.
    fn forget(&mut self, queue: &Backlog) {
        while let Some(flow) = self.waiting.gone(queue.packets) {
            if let Some(state) = self.flows.get_mut(&flow) {
                state.qlen -= 1;
                if state.qlen == 0 {
                    self.flows.remove(&flow);
                }
            }
        }
    }

    /// The verdict on an arrival, whose own packet its flow does not yet count.
    fn decide<R: Uniform>(&mut self, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        let share = self.avgcq();
        let crowded = self.avg >= self.max_th;
        let max_q = if crowded && self.many_flows { 2.0 } else { self.min_th };
        let known = self.flows.get_mut(&packet.flow);
        let (q, strike) = known.as_ref().map_or((0.0, 0), |flow| (f64::from(flow.qlen), flow.strike));
        self.p_b = 0.0;
        if q >= max_q || crowded && q > 2.0 * share || q >= share && strike > 1 {
            if let Some(flow) = known {
                flow.strike = flow.strike.saturating_add(1);
            }
            return Verdict::Drop;
        }
        if self.avg < self.min_th {
            self.count = -1;
            return Verdict::Pass;
        }
        if crowded {
            self.p_b = if self.many_flows { 0.0 } else { 1.0 };
            self.count = 0;
            return if self.many_flows { Verdict::Pass } else { Verdict::Drop };
        }
        self.p_b = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th);
        self.count += 1;
        let p_a = Spacing::Uniform.p_a(self.p_b, self.count as f64);
        if queue.full || q < self.min_q.max(share) || !rng.happens(p_a) {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::signal(self.ecn && packet.ect)
    }
}

impl Aqm for Fred {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "Drop probability p_b at the last arrival, before drops are spaced.",
        },
        Signal { name: "avg", unit: "packets", doc: "Average queue at the last arrival or departure." },
        Signal { name: "flows", unit: "", doc: "Flows with packets in the queue." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("many-flows", "The paper's extension for many flows: two packets each when the queue is long")];

    fn new(params: &Params, port: &Port) -> Self {
        let buffer = port.limit.packets(port.packet);
        let min_th = params.min_th.unwrap_or_else(|| match params.max_th {
            Some(max_th) => max_th / 2.0,
            None => buffer / 4.0,
        });
        Self {
            min_th,
            max_th: params.max_th.unwrap_or(2.0 * min_th),
            max_p: params.max_p,
            w_q: params.w_q,
            min_q: f64::from(params.min_q),
            many_flows: params.many_flows,
            ecn: params.ecn,
            c: port.rate.packets(port.packet),
            avg: 0.0,
            p_b: 0.0,
            count: -1,
            empty_since: Time::ZERO,
            flows: Flows::with_capacity_and_hasher(buffer.min(65_536.0) as usize, Default::default()),
            waiting: Mirror::new(port),
        }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "many-flows" => Some(Params { many_flows: true, ..Params::default() }),
            _ => None,
        }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        match (params.min_th, params.max_th) {
            (Some(min_th), Some(max_th)) if min_th >= max_th => {
                Err(ParamError::invalid("min_th", min_th, format!("less than max_th = {max_th}")))
            }
            _ => Ok(()),
        }
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        self.forget(queue);
        if queue.packets == 0 {
            let missed = floor(now.since(self.empty_since).secs() * self.c);
            self.avg *= libm::pow(1.0 - self.w_q, missed);
            self.empty_since = now;
        }
        let verdict = self.decide(packet, queue, rng);
        if verdict != Verdict::Drop && !queue.full {
            if queue.packets > 0 {
                self.sample(queue);
            }
            self.flows.entry(packet.flow).or_default().qlen += 1;
            self.waiting.push(packet.flow);
        }
        verdict
    }

    fn on_dequeue<R: Uniform>(
        &mut self,
        now: Time,
        _: &Packet,
        queue: &Backlog,
        _: Span,
        _: &mut R,
    ) -> Verdict {
        self.sample(queue);
        if queue.packets == 0 {
            self.empty_since = now;
        }
        self.forget(queue);
        Verdict::Pass
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        let Self { avg, p_b, count, empty_since, mut flows, waiting, .. } = before;
        flows.reserve(self.flows.capacity().saturating_sub(flows.len()));
        self.waiting.resume(waiting);
        (self.avg, self.p_b, self.count) = (avg, p_b, count);
        (self.empty_since, self.flows) = (empty_since, flows);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p_b);
        visit(1, self.avg);
        visit(2, self.flows.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};

    /// FRED with thresholds of 50 and 100 packets, at the average `avg`, with these numbers of packets in the queue,
    /// flow by flow.
    fn fred(avg: f64, qlens: &[u32], params: Params) -> Fred {
        let mut fred = Fred::new(&params, &PORT);
        fred.avg = avg;
        fred.flows = (0..).zip(qlens).map(|(flow, &qlen)| (flow, Flow { qlen, strike: 0 })).collect();
        fred
    }

    fn arrives(fred: &mut Fred, flow: u64, u: f64) -> Verdict {
        let packet = Packet { flow, ..PACKET };
        fred.decide(&packet, &waiting(100), &mut Draw(u))
    }

    #[test]
    fn omitted_thresholds_are_a_quarter_and_half_of_the_buffer() {
        let fred = Fred::new(&Params::default(), &PORT);
        assert_eq!((fred.min_th, fred.max_th), (50.0, 100.0));
    }

    #[test]
    fn a_flow_of_min_th_packets_gets_no_more() {
        let mut fred = fred(10.0, &[49, 50], Params::default());
        assert_eq!([arrives(&mut fred, 0, 0.5), arrives(&mut fred, 1, 0.5)], [Verdict::Pass, Verdict::Drop]);
        assert_eq!(fred.flows[&1].strike, 1);
    }

    #[test]
    fn flows_caught_twice_are_held_to_the_share() {
        // The share is 30 / 2 packets.
        let mut fred = fred(30.0, &[15, 14], Params::default());
        for (strike, expected) in [(1, Verdict::Pass), (2, Verdict::Drop), (3, Verdict::Drop)] {
            for flow in [0, 1] {
                fred.flows.get_mut(&flow).unwrap().strike = strike;
                let expected = if flow == 0 { expected } else { Verdict::Pass };
                assert_eq!(arrives(&mut fred, flow, 0.5), expected, "{flow} {strike}");
            }
        }
        assert_eq!(fred.flows[&0].strike, 4);
    }

    #[test]
    fn between_the_thresholds_only_those_above_their_share_are_dropped_at_random() {
        // p_b = 0.02 / 2; a share of 75 / 3 = 25; the second arrival after a drop has p_a = 0.01 / 0.99.
        let mut fred = fred(75.0, &[25, 24, 3], Params::default());
        assert_eq!(arrives(&mut fred, 0, 0.00999), Verdict::Drop);
        assert_close(fred.p_b, 0.01);
        assert_eq!(arrives(&mut fred, 0, 0.0102), Verdict::Pass);
        assert_eq!([arrives(&mut fred, 1, 0.0), arrives(&mut fred, 2, 0.0)], [Verdict::Pass; 2]);
        // At the fourth arrival: 0.01 / 0.96.
        assert_eq!(arrives(&mut fred, 0, 0.0103), Verdict::Drop);
    }

    #[test]
    fn fragile_flows_are_spared_even_above_their_share() {
        // 75 packets of 40 flows: the share is 1.9.
        let mut fred = fred(75.0, &[vec![3, 4], vec![1; 38]].concat(), Params::default());
        assert_eq!([arrives(&mut fred, 0, 0.0), arrives(&mut fred, 1, 0.0)], [Verdict::Pass, Verdict::Drop]);
    }

    #[test]
    fn above_max_th_no_packets_or_two_of_each_flow_are_accepted() {
        let mut all = fred(100.0, &[1, 2], Params::default());
        assert_eq!([0, 1, 9].map(|flow| arrives(&mut all, flow, 0.5)), [Verdict::Drop; 3]);
        let mut many = fred(100.0, &[1, 2], Params { many_flows: true, ..Params::default() });
        assert_eq!(
            [0, 1, 9].map(|flow| arrives(&mut many, flow, 0.5)),
            [Verdict::Pass, Verdict::Drop, Verdict::Pass]
        );
    }

    #[test]
    fn a_flow_is_known_while_it_has_packets() {
        let mut fred = Fred::new(&Params::default(), &PORT);
        let seven = Packet { flow: 7, ..PACKET };
        fred.on_enqueue(Time::ZERO, &seven, &waiting(0), &mut Draw(0.5));
        fred.on_enqueue(Time::ZERO, &seven, &waiting(1), &mut Draw(0.5));
        fred.on_enqueue(Time::ZERO, &PACKET, &full(), &mut Draw(0.5));
        assert_eq!((fred.flows.len(), fred.flows[&7].qlen), (1, 2));
        // The average covers 0, 1, and at the departures 1 and 0, but not 200.
        assert_close(fred.avg, 0.002);
        fred.on_dequeue(Time::ZERO, &seven, &waiting(1), Span::ZERO, &mut Draw(0.5));
        fred.on_dequeue(Time::ZERO, &seven, &waiting(0), Span::ZERO, &mut Draw(0.5));
        assert_close(fred.avg, (0.002 * 0.998 + 0.002) * 0.998);
        assert!(fred.flows.is_empty());
        // 10 packet times later.
        fred.on_enqueue(Time::ZERO + Span::ms(4), &seven, &waiting(0), &mut Draw(0.5));
        assert_close(fred.avg, (0.002 * 0.998 + 0.002) * 0.998_f64.powi(11));
    }

    #[test]
    fn ecn_marks_the_random_drops_only() {
        let mut fred = fred(75.0, &[25, 24, 60], Params { ecn: true, ..Params::default() });
        assert_eq!(arrives(&mut fred, 2, 0.0), Verdict::Drop);
        fred.flows.insert(2, Flow { qlen: 26, strike: 0 });
        assert_eq!(arrives(&mut fred, 2, 0.0), Verdict::Mark);
        fred.avg = 100.0;
        assert_eq!(arrives(&mut fred, 1, 0.0), Verdict::Drop);
    }

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        let params = Params { min_th: Some(9.0), max_th: Some(9.0), ..Params::default() };
        assert_eq!(Fred::check(&params).unwrap_err().to_string(), "min_th = 9: must be less than max_th = 9");
    }
}
