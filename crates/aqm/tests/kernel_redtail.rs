//! RED+Tail in C against that here: the queue and the fate of every arrival, and the order in which packets leave.

use crate::equivalence_redtail::{Rules, compare, port};
use crate::kernel::{Backlogs, Event, Law, PacketInC, bits, ns};
use aqm::params::Value;
use aqm::{AnyParams, Backlog, Packet, Verdict};
use std::collections::VecDeque;

const LONG: usize = 1;

/// The law on its two queues, each of packets with the number and the time of their arrival.
struct InC {
    law: Law,
    buffer: u64,
    lanes: [VecDeque<(u64, u64, Packet)>; 2],
}

impl InC {
    /// The backlog of the whole and of both lanes.
    fn queue(&self, arriving: u32) -> Backlogs {
        let lane = |i: usize| Backlog {
            packets: self.lanes[i].len() as u32,
            bytes: self.lanes[i].iter().map(|(_, _, packet)| u64::from(packet.size)).sum(),
            full: false,
        };
        let [short, long] = [lane(0), lane(LONG)];
        let bytes = short.bytes + long.bytes;
        let full = bytes + u64::from(arriving) > self.buffer;
        [Backlog { packets: short.packets + long.packets, bytes, full }, short, long]
            .map(|queue| (&queue).into())
    }
}

impl Rules for InC {
    const ARRIVALS: u64 = 1_000_000;

    fn buffer(&self) -> u64 {
        self.buffer
    }

    fn arrival(&mut self, now: f64, number: u64, packet: &Packet, u: f64) -> (usize, Option<bool>) {
        let queue = self.queue(packet.size);
        let event = Event::Arrival { now: ns(now), packet: (*packet).into(), queue, random: bits(&mut || u) };
        let (verdict, lane) = self.law.perform_in_lane(&event);
        if queue[0].full {
            return (lane, None);
        }
        if verdict != Verdict::Drop {
            self.lanes[lane].push_back((number, ns(now), *packet));
        }
        (lane, Some(verdict == Verdict::Drop))
    }

    fn departure(&mut self, now: f64) -> Option<(usize, u64, u32)> {
        if self.lanes.iter().all(VecDeque::is_empty) {
            return None;
        }
        let queue = self.queue(0);
        let lane = self.law.serve(ns(now), &queue);
        let (number, arrived, packet) =
            self.lanes[lane].pop_front().expect("a packet of the lane that is served");
        let event = Event::Departure {
            now: ns(now),
            packet: PacketInC::from(packet).in_lane(lane),
            queue,
            sojourn: ns(now) - arrived,
            random: 0,
        };
        self.law.perform(&event);
        self.law.perform(&Event::Free(ns(now) + port(self.buffer).rate.transmission(packet.size).nanos()));
        Some((lane, number, packet.size))
    }

    fn timer(&mut self, _: f64) {}
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn redtail_in_c_is_redtail() {
    let ared = [("min_th", Value::Float(3.0)), ("max_th", Value::Float(20.0)), ("w_q", Value::Float(0.05))];
    let ared = [&[("name", text("ared"))], &ared[..]].concat();
    let ared = Value::Table(ared.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
    let default = AnyParams::of("redtail").unwrap().values()[1].1.clone();
    for (key, udp_short, c1_min, long, buffer) in
        [("pair", true, text("auto"), default, 160_000), ("flow", false, Value::Float(0.31), ared, 25_000)]
    {
        let mut params = AnyParams::of("redtail").unwrap();
        for (name, value) in [
            ("n", Value::Integer(9)),
            ("t", text("210 ms")),
            ("key", text(key)),
            ("udp_short", Value::Bool(udp_short)),
            ("long", long),
            ("min_th1", text("2100 B")),
            ("max_th1", text("31013 B")),
            ("c1_min", c1_min),
            // B is nowhere exactly 0.
            ("c1_max", Value::Float(0.871_234_567_891)),
        ] {
            params.set(name, &value).unwrap();
        }
        let law = Law::new("redtail", &params, &port(buffer));
        let tally = compare(&params, InC { law, buffer, lanes: Default::default() });
        assert!(tally.queued.iter().chain(&tally.contested).all(|&count| count > 50_000), "{tally:?}");
        assert!(tally.early > 1000 && tally.idle > 1000, "{tally:?}");
        println!("redtail   1000000 packets,   1000000 equal verdicts and departures");
    }
}
