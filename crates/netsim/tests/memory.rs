//! A flow needs little memory, so that a hundred thousand stay near the processor.

use netsim::Simulation;
use scenario::Document;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, which counts the bytes that a thread holds.
struct Counting;

fn count(bytes: i64) {
    // A thread that is ending counts no more.
    let _ = BYTES.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: all work is the system's allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: as the caller vouches.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as the caller vouches.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that a run with so many flows over 10 Gbit/s holds once it is set up.
fn bytes(flows: u32, tcp: &str) -> i64 {
    let text = format!(
        "duration = \"20 s\"\n[dumbbell]\nrate = \"10 Gbit/s\"\nbuffer = \"100000 packets\"\n\
         access_rate = \"100 Gbit/s\"\nreceiver_delay = [\"10 ms\", \"50 ms\", \"100 ms\", \"150 ms\", \"200 ms\"]\n\
         [aqm]\nname = \"pi\"\n[[traffic]]\nname = \"long\"\ncount = {flows}\ntcp = \"{tcp}\"\n\
         packet_size = \"500 B\"\nstart = \"uniform(0 s, 1 s)\"\n"
    );
    let scenario = Document::parse(&text, "flows").unwrap().check().unwrap();
    let before = BYTES.get();
    let run = Simulation::new(scenario, 1, ());
    let held = BYTES.get() - before;
    drop(run);
    held
}

#[test]
fn a_flow_takes_less_than_500_bytes() {
    for tcp in ["ns2.35:flavour=newreno", "ns2.35:flavour=sack", "newreno", "sack"] {
        // What does not depend on the number of flows falls out of the difference.
        let a_flow = (bytes(100_000, tcp) - bytes(100, tcp)) / 99_900;
        assert!((300..500).contains(&a_flow), "{tcp}: {a_flow} bytes");
    }
}
