//! JoBS in C against that here: what each arrival makes drop, rates and losses, and the order in which packets leave.

use crate::equivalence_jobs::{BOUNDS, Rules, Tally, compare, params};
use crate::kernel::{Event, LaneInC, Law, PacketInC};
use crate::support::PORT;
use aqm::params::Value;
use aqm::{AnyParams, Backlog, Limit, Packet, Time};
use std::collections::VecDeque;

const N: usize = 4;

/// A packet that waits, with the number and the time of its arrival.
type Waiting = (u64, u64, Packet);

/// The law on its lanes.
struct InC {
    law: Law,
    limit: Limit,
    drop_front: bool,
    lanes: [VecDeque<Waiting>; N],
}

impl InC {
    fn new(params: &AnyParams, limit: Limit) -> Self {
        let drop_front = params.values().contains(&("drop_front", Value::Bool(true)));
        Self { law: Law::new("jobs", params, &PORT), limit, drop_front, lanes: Default::default() }
    }

    /// The backlog of the whole, with an arrival of this size, and of the lanes.
    fn queue(&self, size: u32) -> [LaneInC; 1 + N] {
        let sum = |lane: &VecDeque<Waiting>| lane.iter().map(|(_, _, packet)| u64::from(packet.size)).sum();
        let mut all = Backlog::default();
        let lanes = self.lanes.each_ref().map(|lane| {
            let own = Backlog { packets: lane.len() as u32, bytes: sum(lane), full: false };
            all.packets += own.packets;
            all.bytes += own.bytes;
            let ends = [lane.front(), lane.back()].map(|end| end.map_or(0, |(_, _, packet)| packet.size));
            LaneInC { backlog: (&own).into(), since: lane.front().map_or(0, |(_, since, _)| *since), ends }
        });
        all.full = self.limit.refuses(all.packets, all.bytes, size);
        let [a, b, c, d] = lanes;
        [LaneInC { backlog: (&all).into(), since: 0, ends: [0; 2] }, a, b, c, d]
    }

    fn drop(&mut self, lane: usize) -> u64 {
        let lane = &mut self.lanes[lane];
        let dropped = if self.drop_front { lane.pop_front() } else { lane.pop_back() };
        dropped.expect("a packet of the lane that loses one").0
    }
}

impl Rules for InC {
    const ARRIVALS: u64 = 1_000_000;
    /// The losses of no class are exactly at a bound such as 1 %, where rounding would decide.
    const SIZES: [u32; 5] = [251, 499, 503, 701, 997];

    fn limit(&self) -> Limit {
        self.limit
    }

    fn arrival(&mut self, now: Time, packet: &Packet, number: u64) -> Vec<u64> {
        let (now, in_c) = (now.nanos(), PacketInC::from(*packet));
        let mut dropped = vec![];
        let fits = !self.limit.refuses(0, 0, packet.size);
        while fits
            && let queue = self.queue(packet.size)
            && queue[0].backlog.full
            && let lane = self.law.make_room(now, &in_c, &queue)
            && lane < N
        {
            dropped.push(self.drop(lane));
        }
        let queue = self.queue(packet.size);
        let (_, lane) = self.law.perform_in_lane(&Event::Arrival { now, packet: in_c, queue, random: 0 });
        if queue[0].backlog.full {
            dropped.push(number);
        } else {
            self.lanes[lane].push_back((number, now, *packet));
        }
        while let lane @ 0..N = self.law.evict(now, &self.queue(0)) {
            dropped.push(self.drop(lane));
        }
        dropped.sort_by_key(|dropped| *dropped == number);
        dropped
    }

    fn departure(&mut self, now: Time) -> Option<u64> {
        if self.lanes.iter().all(VecDeque::is_empty) {
            return None;
        }
        let (now, queue) = (now.nanos(), self.queue(0));
        let lane = self.law.serve(now, &queue);
        let (number, since, packet) =
            self.lanes[lane].pop_front().expect("a packet of the lane that is served");
        let (sojourn, in_c) = (now - since, PacketInC::from(packet).in_lane(lane));
        self.law.perform_in_lane(&Event::Departure { now, packet: in_c, queue, sojourn, random: 0 });
        let free = now + PORT.rate.transmission(packet.size).nanos();
        self.law.perform_in_lane(&Event::<()>::Free(free));
        Some(number)
    }

    fn signal(&self, i: usize) -> f64 {
        let names = ["r1", "r2", "r3", "r4", "l1", "l2", "l3", "l4"];
        self.law.signal(names[i]).expect("its own")
    }
}

fn judge(what: &str, params: &AnyParams, mix: [f64; N], limit: Limit) -> Tally {
    let tally = compare(what, params, mix, InC::new(params, limit));
    assert!(tally.idle > 10_000 && tally.early + tally.overflow > 30_000, "{what}: {tally:?}");
    tally
}

#[test]
fn jobs_in_c_is_jobs() {
    let limit = Limit::Packets(60);
    let (mut runs, mut early, mut several) = (0, 0, 0);
    let mut add = |tally: Tally| {
        runs += 1;
        early += tally.early;
        several += tally.several;
    };
    for preset in ["lossdel", "rates"] {
        let params = AnyParams::of("jobs").unwrap().preset(preset).unwrap();
        add(judge(preset, &params, [0.25; N], limit));
    }
    for (i, bounds) in BOUNDS.iter().enumerate() {
        let [front, shared] = [1, 2].map(|bit| i & bit != 0);
        for flip in [false, true] {
            let sampling = if flip { 1 } else { 7 };
            let params = params(bounds, sampling, false, front ^ flip, shared);
            let limit = if flip { Limit::Bytes(20_011) } else { limit };
            add(judge(&format!("{params:?}"), &params, bounds.mix, limit));
        }
    }
    let packets = runs * InC::ARRIVALS;
    println!("jobs     {packets:>9} packets, {packets:>9} equal drops and departures");
    assert!(early > 100_000 && several > 100_000, "{early} early drops, {several} arrivals with several");
}
