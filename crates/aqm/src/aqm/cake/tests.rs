use super::*;
use crate::aqm::AnyParams;
use crate::discipline::Ack;
use crate::fixture::PORT;
use crate::queue::{Frame, Labels, Outcome, Queue};
use crate::unit::Limit;

/// A generator of random numbers, as of a linear congruence.
struct Lots(u64);

impl Uniform for Lots {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A packet, its row, and what it acknowledges.
#[derive(Clone, Copy)]
pub(in crate::aqm) struct Framed(Packet, usize, Option<Ack>);

impl Frame for Framed {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        self.1
    }
    fn ack(&self) -> Option<Ack> {
        self.2
    }
}

/// CAKE before a link of 100 Mbit/s. Row r has the DSCP of the r-th entry; pair p is of hosts p / 16 and p % 16.
pub(in crate::aqm) struct Host {
    queue: Queue<Framed>,
    lots: Lots,
    dropped: Vec<Framed>,
}

impl Host {
    fn new(params: Params, dscps: &[u8]) -> Self {
        Self::of(&AnyParams::Cake(Params { perturbation: Some(7), ..params }), dscps)
    }

    pub(in crate::aqm) fn of(params: &AnyParams, dscps: &[u8]) -> Self {
        let port = Port {
            rate: Rate::mbit_per_s(100),
            limit: Limit::Packets(100_000),
            packet: Bytes(1514),
            header: Bytes(14),
            ..PORT
        };
        let mut queue = Queue::new(params.build(&port), &port, &vec![1; dscps.len()]);
        let hosts = (0..256).map(|pair| [pair / 16, pair % 16]).collect();
        queue.set_labels(Labels { hosts, dscps: dscps.to_vec() });
        Self { queue, lots: Lots(1), dropped: vec![] }
    }

    fn arrives(&mut self, us: u64, frame: Framed) -> Outcome {
        let dropped = &mut self.dropped;
        let now = Time::ZERO + Span::us(us);
        self.queue.enqueue_or(now, frame, &mut self.lots, |sent, _| dropped.push(sent.frame)).0
    }

    /// Sends what the shaper and the link let through for `ms`, while each flow always has `depth` packets waiting;
    /// returns the bytes sent of each.
    pub(in crate::aqm) fn runs(&mut self, flows: &[Framed], depth: u64, ms: u64) -> Vec<u64> {
        let mut sent = vec![0; flows.len()];
        let mut held = vec![0_u64; flows.len()];
        let end = Time::ZERO + Span::ms(ms);
        let mut now = Time::ZERO;
        while now < end {
            for (flow, held) in flows.iter().zip(&mut held) {
                while *held < depth {
                    *held += 1;
                    self.queue.enqueue(now, *flow, &mut self.lots);
                }
            }
            let mut lost = vec![];
            let next = self.queue.dequeue_or(now, &mut self.lots, |late| lost.push(late.frame.0.flow));
            let place = |flow: u64| flows.iter().position(|frame| frame.0.flow == flow).unwrap();
            lost.iter().for_each(|flow| held[place(*flow)] -= 1);
            match next {
                Some(next) => {
                    let i = place(next.frame.0.flow);
                    held[i] -= 1;
                    sent[i] += u64::from(next.frame.0.size);
                    now += Rate::mbit_per_s(100).transmission(next.frame.0.size);
                }
                None => now = self.queue.paused_until(now).unwrap_or(end),
            }
        }
        sent
    }

    pub(in crate::aqm) fn counter(&self, name: &str) -> f64 {
        let mut found = f64::NAN;
        self.queue.algorithm().counters(&mut |counter, value| {
            if counter == name {
                found = value.value();
            }
        });
        found
    }
}

pub(in crate::aqm) fn packet(flow: u64, pair: u32, row: usize) -> Framed {
    Framed(Packet { flow, pair, ..Packet::new(1514, false) }, row, None)
}

fn shaped(mbit: u64) -> Params {
    Params { bandwidth: Some(Rate::mbit_per_s(mbit)), ..Params::default() }
}

/// The rate of the bytes sent in two seconds, in Mbit/s.
pub(in crate::aqm) fn mbit(sent: &[u64]) -> f64 {
    sent.iter().sum::<u64>() as f64 * 8.0 / 2e6
}

#[test]
fn the_shaper_lets_its_rate_through_by_the_length_on_the_wire() {
    let rate = |params| mbit(&Host::new(params, &[0]).runs(&[packet(1, 1, 0), packet(2, 2, 0)], 4, 2000));
    assert!((rate(shaped(20)) - 20.0).abs() < 0.02);
    // 1500 bytes are 32 cells of 53 bytes.
    let atm = Params { atm: Some(Atm::Atm), overhead: Some(0.0), ..shaped(20) };
    assert!((rate(atm) - 20.0 * 1514.0 / 1696.0).abs() < 0.02);
    let ethernet = Params { framing: Framing::parse("ethernet"), ..shaped(20) };
    assert!((rate(ethernet) - 20.0 * 1514.0 / 1538.0).abs() < 0.02);
    assert!((rate(Params::default()) - 100.0).abs() < 0.1);
}

#[test]
fn hosts_share_evenly_whatever_the_number_of_their_flows() {
    // One source and destination with a flow, another with ten.
    let mut flows = vec![packet(1, 0x12, 0)];
    flows.extend((0..10).map(|k| packet(2 + k, 0x34, 0)));
    for (flowmode, share) in [
        (FlowMode::Triple, 0.5),
        (FlowMode::DualSource, 0.5),
        (FlowMode::DualDestination, 0.5),
        (FlowMode::Hosts, 0.5),
        (FlowMode::Flows, 1.0 / 11.0),
    ] {
        let sent = Host::new(Params { flowmode, ..shaped(50) }, &[0]).runs(&flows, 4, 2000);
        let found = sent[0] as f64 / sent.iter().sum::<u64>() as f64;
        assert!((found - share).abs() < 0.01, "{flowmode:?}: {found}");
    }
}

#[test]
fn a_tin_within_its_rate_comes_first_and_one_above_it_shares_what_is_left() {
    let both = [packet(1, 1, 0), packet(2, 2, 1)];
    // Voice has a quarter of 20 Mbit/s for certain.
    let params = Params { diffserv: Diffserv::Four, ..shaped(20) };
    let mut host = Host::new(params.clone(), &[0, 46]);
    let sent = host.runs(&both, 4, 2000);
    assert!((mbit(&sent[1..]) - 5.0).abs() < 0.1, "{sent:?}");
    assert_eq!(host.counter("tins.3.threshold_rate"), 20e6 / 8.0 / 4.0);
    // A lone voice has it all; bulk, with a sixteenth, waits for best effort.
    let alone = Host::new(params.clone(), &[0, 46]).runs(&both[1..], 4, 2000);
    assert!((mbit(&alone) - 20.0).abs() < 0.1, "{alone:?}");
    let bulk = Host::new(params, &[0, 8]).runs(&both, 4, 2000);
    assert!((mbit(&bulk[1..]) - 1.25).abs() < 0.1, "{bulk:?}");
}

#[test]
fn without_a_shaper_tins_take_turns_by_their_quanta() {
    let both = [packet(1, 1, 0), packet(2, 2, 1)];
    let params = Params { diffserv: Diffserv::Three, ..Params::default() };
    let sent = Host::new(params, &[0, 8]).runs(&both, 4, 2000);
    let share = sent[1] as f64 / sent[0] as f64;
    assert!((share - 64.0 / 1024.0).abs() < 0.005, "{share}");
}

#[test]
fn a_flood_fills_the_memory_at_its_own_cost() {
    let params = Params { memlimit: Some(Bytes(2304 * 50)), ..shaped(10) };
    let mut host = Host::new(params, &[0]);
    for us in 0..20_000 {
        // The flood offers 121 Mbit/s, the other 1.2.
        host.arrives(100 * us, packet(1, 1, 0));
        if us % 100 == 0 {
            host.arrives(100 * us, packet(2, 2, 0));
        }
        let now = Time::ZERO + Span::us(100 * us);
        host.queue.dequeue(now, &mut host.lots);
    }
    assert!(host.dropped.len() > 10_000 && host.dropped.iter().all(|frame| frame.0.flow == 1));
    assert_eq!((host.counter("memory_limit"), host.counter("tins.1.unresponsive_flows")), (115_200.0, 1.0));
    assert!(host.queue.counts()[0].drops_overflow > 5000);
}

#[test]
fn the_memory_limit_follows_from_rate_and_round_trip() {
    let limit = |params| Host::new(params, &[0]).counter("memory_limit");
    assert_eq!(limit(shaped(1)), 4_194_304.0);
    assert_eq!(limit(shaped(100)), 5e6);
    assert_eq!(limit(Params::default()), 10_240.0 * 1514.0);
    assert_eq!(limit(Params { memlimit: Some(Bytes(32_000_000)), ..shaped(1) }), 32e6);
}

#[test]
fn acks_that_others_make_superfluous_are_dropped() {
    let ack = |next| Some(Ack { next, blocks: [(0, 0); 3], ecn: 0 });
    for (filter, left) in [(Filter::Off, 20), (Filter::On, 2), (Filter::Aggressive, 1)] {
        let mut host = Host::new(Params { ack_filter: filter, ..shaped(1) }, &[0]);
        // The link is busy with data of another flow.
        host.arrives(0, packet(9, 9, 0));
        host.queue.dequeue(Time::ZERO, &mut host.lots);
        for next in 1..=20 {
            let frame = Framed(Packet { flow: 1, pair: 1, ..Packet::new(66, false) }, 0, ack(next));
            assert_eq!(host.arrives(1, frame), Outcome::Queued);
        }
        assert_eq!(host.queue.len(), left, "{filter:?}");
        assert_eq!(host.counter("tins.1.ack_drops"), 20.0 - left as f64);
        let newest = host.queue.waiting().last().map(|stored| stored.frame.2);
        assert_eq!(newest, Some(ack(20)));
    }
}

#[test]
fn drops_are_charged_at_ingress_only() {
    // One flow of twice the rate: what is dropped has passed the bottleneck already.
    let run = |ingress| {
        let mut host = Host::new(Params { ingress, ..shaped(10) }, &[0]);
        let sent = host.runs(&[packet(1, 1, 0)], 200, 2000);
        (mbit(&sent), host.counter("tins.1.drops"))
    };
    let (egress, ingress) = (run(false), run(true));
    assert!(egress.1 > 20.0 && ingress.1 > 20.0, "{egress:?} {ingress:?}");
    assert!((egress.0 - 10.0).abs() < 0.05, "{egress:?}");
    let charged = ingress.0 + ingress.1 * 1514.0 * 8.0 / 2e6;
    assert!(ingress.0 < 9.95 && (charged - 10.0).abs() < 0.1, "{ingress:?}: {charged}");
}

#[test]
fn the_rate_follows_that_of_arrivals() {
    let mut host = Host::new(Params { autorate_ingress: true, ..shaped(50) }, &[0]);
    let mut lots = Lots(5);
    let mut us = 0.0;
    while us < 5e6 {
        // 12 Mbit/s, with gaps that vary.
        host.arrives(us as u64, packet(1, 1, 0));
        host.queue.dequeue(Time::ZERO + Span::us(us as u64), &mut host.lots);
        us += 1009.0 * (0.5 + lots.uniform());
    }
    let rate = host.counter("tins.1.threshold_rate") * 8.0 / 1e6;
    // Upwards the estimate moves by a quarter, downwards by a 256th.
    assert!((12.0..16.0).contains(&rate), "{rate}");
}

#[test]
fn times_and_quanta_follow_the_tins_rate() {
    let host = Host::new(shaped(8), &[0]);
    // The bulk tin, which is first, has half a Mbit/s: 1.5 packets take 36.336 ms.
    assert_eq!(host.counter("tins.0.target_us"), 36_336.0);
    assert_eq!(host.counter("tins.0.interval_us"), 131_336.0);
    assert_eq!((host.counter("tins.0.flow_quantum"), host.counter("tins.2.flow_quantum")), (300.0, 300.0));
    assert_eq!(Host::new(shaped(40), &[0]).counter("tins.1.flow_quantum"), 1220.0);
}
