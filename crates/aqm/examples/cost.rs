//! Lets flows send through a queue under an algorithm, and prints the number of its packets as JSON. For `make counts`,
//! which has valgrind count the instructions of the queue alone:
//!
//! ```text
//! cargo build --release --package aqm --example cost
//! valgrind --tool=callgrind --toggle-collect='cost::counted_*' target/release/examples/cost lred 1000
//! ```
//!
//! The link has 100 Mbit/s for packets of 500 bytes, and a buffer of 1000 packets. Each flow adds a packet a round-trip
//! time, 200 ms without the queue, to what it sends in one, and halves this after a drop or mark. The second half of 8 s
//! counts: each arrival, each departure, and each period of the algorithm.

use aqm::queue::{Frame, Outcome, Sent};
use aqm::unit::Limit;
use aqm::{AnyParams, Packet, Port, Queue, Rate, Span, Time, Uniform};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::process::ExitCode;
use support::Random;

#[path = "../tests/support/mod.rs"]
mod support;

const PORT: Port = Port { rate: Rate::mbit_per_s(100), limit: Limit::Packets(1000), ..support::PORT };
const PACKETS_PER_S: f64 = 25_000.0;
/// The time that a packet takes on the link.
const SLOT: Span = Span::us(40);
/// Without the queue, in seconds.
const ROUND_TRIP: f64 = 0.2;
const WARMUP: Time = Time::from_nanos(4_000_000_000);
const END: Time = Time::from_nanos(8_000_000_000);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, flows] = &arguments[..] else {
        eprintln!("usage: cost ALGORITHM FLOWS");
        return ExitCode::FAILURE;
    };
    match (AnyParams::of(name), flows.parse()) {
        (Some(params), Ok(flows @ 1..)) => {
            println!("{}", Link::new(&params, flows).run());
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{name}, {flows}: no algorithm, or no number of flows");
            ExitCode::FAILURE
        }
    }
}

/// A packet of the flow of this number.
#[derive(Clone, Copy)]
struct Numbered {
    flow: u32,
    marked: bool,
}

impl Frame for Numbered {
    fn packet(&self) -> Packet {
        Packet { flow: u64::from(self.flow), pair: self.flow, ..Packet::new(500, true) }
    }
    fn mark(&mut self) {
        self.marked = true;
    }
    fn row(&self) -> usize {
        0
    }
}

/// A flow's packets per second, and the times of its last packet and of its last reduction.
#[derive(Clone, Copy)]
struct Flow {
    rate: f64,
    sent: Time,
    reduced: Time,
}

struct Link {
    queue: Queue<Numbered>,
    random: Random,
    flows: Vec<Flow>,
    /// The time of each flow's next packet.
    next: BinaryHeap<Reverse<(Time, u32)>>,
    /// The flows whose packets were dropped or marked at this instant.
    signalled: Vec<u32>,
}

// The functions whose instructions count.

#[inline(never)]
fn counted_arrival(link: &mut Link, now: Time, flow: u32) -> Outcome {
    arrival(link, now, flow)
}

#[inline(never)]
fn counted_departure(link: &mut Link, now: Time) -> Option<Sent<Numbered>> {
    departure(link, now)
}

#[inline(never)]
fn counted_period(link: &mut Link, now: Time) {
    link.queue.on_period(now);
}

#[inline(always)]
fn arrival(link: &mut Link, now: Time, flow: u32) -> Outcome {
    let Link { queue, random, signalled, .. } = link;
    queue
        .enqueue_or(now, Numbered { flow, marked: false }, random, |sent, _| signalled.push(sent.frame.flow))
        .0
}

#[inline(always)]
fn departure(link: &mut Link, now: Time) -> Option<Sent<Numbered>> {
    let Link { queue, random, signalled, .. } = link;
    queue.dequeue_or(now, random, |sent| signalled.push(sent.frame.flow))
}

impl Link {
    fn new(params: &AnyParams, number: u32) -> Self {
        let mut random = Random(1);
        let fair = PACKETS_PER_S / f64::from(number);
        let flow = Flow { rate: fair, sent: Time::ZERO, reduced: Time::ZERO };
        let next = (0..number)
            .map(|i| Reverse((Time::ZERO + Span::from_secs(random.uniform() / fair), i)))
            .collect();
        let queue = Queue::new(params.build(&PORT), &PORT, &[1]);
        Self { queue, random, flows: vec![flow; number as usize], next, signalled: vec![] }
    }

    /// Runs it; returns the packets that arrived and that were dropped or marked in the counted part, and the share of
    /// the link's time that it was busy.
    fn run(mut self) -> String {
        let period = self.queue.period();
        let mut timer = period.map_or(Time::MAX, |period| Time::ZERO + period);
        let mut free = Time::ZERO;
        let (mut arrivals, mut signals, mut sent) = (0_u64, 0_u64, 0_u64);
        loop {
            let Reverse((arrives, flow)) = *self.next.peek().expect("every flow has a next packet");
            let now =
                arrives.min(timer).min(if self.queue.backlog(0).packets > 0 { free } else { Time::MAX });
            if now >= END {
                break;
            }
            let counts = now >= WARMUP;
            if now == timer {
                if counts {
                    counted_period(&mut self, now)
                } else {
                    self.queue.on_period(now)
                }
                timer += period.unwrap_or_default();
            } else if now == arrives {
                self.next.pop();
                self.send(now, flow);
                let outcome = if counts {
                    counted_arrival(&mut self, now, flow)
                } else {
                    arrival(&mut self, now, flow)
                };
                if matches!(outcome, Outcome::DroppedEarly | Outcome::Overflowed) {
                    self.signalled.push(flow);
                }
                // A link that was idle is free from now on.
                free = free.max(now);
                arrivals += u64::from(counts);
            } else {
                let leaves =
                    if counts { counted_departure(&mut self, now) } else { departure(&mut self, now) };
                if let Some(leaves) = leaves {
                    free = now + SLOT;
                    sent += u64::from(counts);
                    if leaves.frame.marked {
                        self.signalled.push(leaves.frame.flow);
                    }
                }
            }
            signals += if counts { self.signalled.len() as u64 } else { 0 };
            while let Some(flow) = self.signalled.pop() {
                self.reduce(now, flow);
            }
        }
        let busy = sent as f64 / (PACKETS_PER_S * (END - WARMUP).secs());
        format!("{{\"packets\": {arrivals}, \"signals\": {signals}, \"busy\": {busy}}}")
    }

    fn round_trip(&self) -> f64 {
        ROUND_TRIP + f64::from(self.queue.backlog(0).packets) / PACKETS_PER_S
    }

    /// Notes that a flow sends, and chooses the time of its next packet.
    fn send(&mut self, now: Time, number: u32) {
        let round_trip = self.round_trip();
        let flow = &mut self.flows[number as usize];
        flow.rate += (now - flow.sent).secs() / (round_trip * round_trip);
        flow.sent = now;
        let gap = (0.5 + self.random.uniform()) / flow.rate;
        self.next.push(Reverse((now + Span::from_secs(gap), number)));
    }

    /// Halves a flow's rate, once a round-trip time.
    fn reduce(&mut self, now: Time, number: u32) {
        let round_trip = self.round_trip();
        let flow = &mut self.flows[number as usize];
        if now - flow.reduced > Span::from_secs(round_trip) {
            flow.rate = (flow.rate / 2.0).max(1.0);
            flow.reduced = now;
        }
    }
}
