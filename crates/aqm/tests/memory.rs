//! No algorithm allocates memory after its creation, however many flows pass; what it allocates until then.

// The allocator's trait is unsafe.
#![allow(unsafe_code)]

mod support;

use aqm::aqm::{NAMES, VARIANTS};
use aqm::queue::Frame;
use aqm::{AnyParams, Header, Packet, Qdisc, Queue, Span, Time};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::{PORT, Random};

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
    static FREED: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which also counts the bytes that a thread requests and those that it frees.
struct Counting;

// SAFETY: the system's allocator allocates and frees all memory; this adds only a counter, which needs none.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the trait's contract, which the caller fulfils.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending is not counted.
        let _ = BYTES.try_with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
        // SAFETY: `layout` comes from the caller, who guarantees that its size is not zero.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: likewise.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = FREED.try_with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
        // SAFETY: the caller guarantees that `alloc` returned `pointer` for `layout`, and so did the system's
        // allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[derive(Clone, Copy)]
struct Bare(Packet);

impl Frame for Bare {
    fn packet(&self) -> Packet {
        self.0
    }
    fn mark(&mut self) {}
    fn row(&self) -> usize {
        0
    }
}

/// 30 000 arrivals at twice the link's rate, then silence: from `flows` flows one after the other, numbered from
/// `first`.
fn rush(queue: &mut Queue<Bare>, random: &mut Random, now: &mut Time, first: u64, flows: u64) {
    let mut timer = *now + queue.period().unwrap_or_default();
    for i in 0..30_000 {
        let flow = first + random.bits() % flows;
        let class = 1 + (flow % 4) as u8;
        let packet = Packet {
            flow,
            pair: flow as u32,
            class,
            l4s: flow.is_multiple_of(3),
            ..Packet::new(500, flow.is_multiple_of(3))
        };
        queue.enqueue(*now, Bare(packet), random);
        *now += Span::us(200);
        while queue.period().is_some() && timer <= *now {
            queue.on_period(timer);
            timer += queue.period().unwrap_or_default();
        }
        if i % 2 == 1 {
            queue.dequeue(*now, random);
        }
    }
    while queue.dequeue(*now, random).is_some() {}
}

#[test]
fn nothing_is_allocated_for_packets_and_flows() {
    for name in NAMES {
        let params = AnyParams::of(name).unwrap();
        let mut queue: Queue<Bare> = Queue::new(params.build(&PORT), &PORT, &[1]);
        let (mut random, mut now) = (Random(7), Time::ZERO);
        // Every lane allocates its room: with many lanes, for a few packets each.
        for round in 0..20 {
            rush(&mut queue, &mut random, &mut now, round, if round % 2 == 0 { 5000 } else { 5 });
        }
        let before = BYTES.get();
        // A million flows that have never sent before.
        for round in 1..20 {
            rush(&mut queue, &mut random, &mut now, round * 1_000_000, 1_000_000);
        }
        let asked = BYTES.get() - before;
        // A lane allocates once when it holds more packets than ever before.
        let allowed = 300 * queue.lanes().len() as u64;
        assert!(asked <= allowed, "{name} asked for {asked} bytes");
    }
}

#[test]
fn the_queue_for_other_programs_allocates_nothing_for_packets() {
    for name in NAMES {
        let mut queue = Qdisc::new(&AnyParams::of(name).unwrap(), &PORT, 7).unwrap();
        let (mut random, mut number) = (Random(7), 0);
        let mut send = |packets: u64| {
            for _ in 0..packets {
                let now = Time::ZERO + Span::us(200) * number;
                let flow = random.bits() % 5000;
                queue.enqueue(now, Header { flow, ..Header::new(500) }, [number; 4]);
                if number % 2 == 1 {
                    queue.dequeue(now);
                }
                number += 1;
            }
            queue.algorithm().lanes() as u64
        };
        let lanes = send(100_000);
        let before = BYTES.get();
        send(100_000);
        let asked = BYTES.get() - before;
        // A lane allocates once when it holds more packets than ever before.
        assert!(asked <= if lanes > 1 { 600 * lanes } else { 0 }, "{name} asked for {asked} bytes");
    }
}

/// `make counts` reads the lines that this prints.
#[test]
fn the_state_of_an_algorithm_is_bounded_and_without_a_table_of_flows_it_is_a_few_numbers() {
    for name in NAMES.iter().chain(VARIANTS.iter().map(|(name, ..)| name)) {
        let params = AnyParams::of(name).unwrap();
        let held = || BYTES.get() - FREED.get();
        let before = held();
        let algorithm = params.build(&PORT);
        let bytes = algorithm.size() as u64 + held() - before;
        println!("state {name} {bytes}");
        let small = ["ared", "avq", "blue", "droptail", "lred", "pi", "raqm", "red", "rem"];
        let most = if small.contains(&params.name()) { 350 } else { 4_000_000 };
        assert!(bytes <= most, "{name}: {bytes} bytes");
    }
}
