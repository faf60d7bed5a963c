//! A flow needs little memory, so that a hundred thousand stay near the processor; and no run takes more than its
//! estimate.

// The trait of an allocator is unsafe.
#![allow(unsafe_code)]

use netsim::Simulation;
use scenario::{Document, Scenario};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// The bytes that this thread holds, and the most that it has held.
    static BYTES: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, which counts the bytes that a thread holds.
struct Counting;

fn count(bytes: i64) {
    // A thread that is ending counts no more.
    let _ = BYTES.try_with(|held| {
        held.set(held.get() + bytes);
        MOST.with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: memory is given and taken by the system's allocator alone; a counter that needs no memory is all that is added.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: as that of the trait, for the caller to keep.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: `layout` is the caller's, who vouches that it is not of size zero.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: likewise.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller vouches that `alloc` gave `pointer` for `layout`; it had it from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// This many flows over 10 Gbit/s.
fn many(flows: u32, tcp: &str, duration: &str) -> Scenario {
    let text = format!(
        "duration = \"{duration}\"\n[dumbbell]\nrate = \"10 Gbit/s\"\nbuffer = \"100000 packets\"\n\
         access_rate = \"100 Gbit/s\"\nreceiver_delay = [\"10 ms\", \"50 ms\", \"100 ms\", \"150 ms\", \"200 ms\"]\n\
         [aqm]\nname = \"pi\"\n[[traffic]]\nname = \"long\"\ncount = {flows}\ntcp = \"{tcp}\"\n\
         packet_size = \"500 B\"\nstart = \"uniform(0 s, 500 ms)\"\n"
    );
    Document::parse(&text, "flows").unwrap().check().unwrap()
}

/// Bytes that a run with this many flows holds once it is set up.
fn bytes(flows: u32, tcp: &str) -> i64 {
    let scenario = many(flows, tcp, "20 s");
    let before = BYTES.get();
    let run = Simulation::new(scenario, 1, ());
    let held = BYTES.get() - before;
    drop(run);
    held
}

#[test]
fn a_classic_flow_takes_less_than_500_bytes_and_one_of_today_less_than_1500() {
    // What does not depend on the number of flows falls out of the difference.
    let a_flow = |tcp: &str| (bytes(100_000, tcp) - bytes(100, tcp)) / 99_900;
    for tcp in ["ns2.35:flavour=newreno", "ns2.35:flavour=sack", "newreno", "sack"] {
        let bytes = a_flow(tcp);
        assert!((300..500).contains(&bytes), "{tcp}: {bytes} bytes");
    }
    for tcp in ["linux", "linux:congestion=reno", "dctcp", "bbr", "bbr3"] {
        let bytes = a_flow(tcp);
        assert!((500..1500).contains(&bytes), "{tcp}: {bytes} bytes");
    }
}

/// The bytes that a run is estimated to need, which it does not exceed.
#[track_caller]
fn estimate_that_holds(scenario: Scenario) -> i64 {
    let estimate = netsim::memory_estimate(&scenario) as i64;
    let before = BYTES.get();
    MOST.set(before);
    let mut run = Simulation::new(scenario, 1, ());
    run.advance(aqm::unit::Time::MAX);
    let most = MOST.get() - before;
    println!("{most} of {estimate}");
    assert!(most <= estimate, "{most} of {estimate}");
    estimate
}

#[test]
fn flows_of_today_take_no_more_than_was_estimated_be_they_few_or_many() {
    for (flows, duration, largest) in [(1000, "2 s", 1_000_000_000), (100_000, "800 ms", 2_000_000_000)] {
        for tcp in ["linux", "bbr3"] {
            let estimate = estimate_that_holds(many(flows, tcp, duration));
            assert!(estimate < largest, "{flows} {tcp}: {estimate}");
        }
    }
}

#[test]
fn no_run_takes_more_than_was_estimated() {
    let host = |hosts: usize| vec!["\"5 ms\""; hosts].join(", ");
    let dumbbell = |hosts, aqm: &str, links: &str, traffic: &str| {
        format!(
            "duration = \"6 s\"\naqm = \"{aqm}\"\n[dumbbell]\nreceiver_delay = [{}]\nbuffer = \"500 packets\"\n{links}\n\
             [[traffic]]\ncount = 2000\npacket_size = \"500 B\"\n{traffic}\n",
            host(hosts)
        )
    };
    let tcp = "tcp = \"rfc5681\"";
    let udp = "tcp = \"rfc5681\"\n[[traffic]]\nkind = \"video\"\ncount = 20\nframe_rate = \"25 /s\"\nframe_size = \"20 kB\"";
    for (text, largest) in [
        (dumbbell(3, "droptail", "rate = \"100 Mbit/s\"", tcp), 30_000_000),
        (dumbbell(100, "droptail", "rate = \"100 Mbit/s\"\naccess_rate = \"1 Gbit/s\"", tcp), 30_000_000),
        (
            dumbbell(20, "red", "rate = \"1 Gbit/s\"\naccess_rate = \"5 Mbit/s\"", "tcp = \"linux\""),
            100_000_000,
        ),
        (dumbbell(3, "fq_codel", "rate = \"50 Mbit/s\"", udp), 100_000_000),
        (dumbbell(3, "pi", "rate = \"50 Mbit/s\"", "tcp = \"ledbat:initial_window=10\""), 30_000_000),
        (dumbbell(3, "pie", "rate = \"10 Mbit/s\"\nreverse_rate = \"100 kbit/s\"", udp), 40_000_000),
    ] {
        let scenario = Document::parse(&text, "estimate").unwrap().check().unwrap();
        let estimate = estimate_that_holds(scenario);
        assert!(estimate <= largest, "{estimate}\n{text}");
    }
}
