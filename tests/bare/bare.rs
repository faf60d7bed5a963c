//! A queue under CoDel alone for a program without the standard library, which would bring a second panic handler and
//! so not compile.
#![no_std]

use aqm::{Header, Limit, Port, Qdisc, Rate, Time};
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::panic::PanicInfo;

#[cfg(feature = "all")]
type Queue = Qdisc<usize>;
#[cfg(not(feature = "all"))]
type Queue = Qdisc<usize, aqm::One<aqm::aqm::codel::Codel>>;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn abort() -> !;
}

/// The allocator of C.
struct C;

// SAFETY: `malloc` and `free` are a correct allocator, for the alignment of all types here.
unsafe impl GlobalAlloc for C {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size can be asked for.
        unsafe { malloc(layout.size()).cast() }
    }
    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: `alloc` returned it.
        unsafe { free(memory.cast()) }
    }
}

#[global_allocator]
static ALLOCATOR: C = C;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it can be called at any time.
    unsafe { abort() }
}

fn make(link: &Port) -> Option<Queue> {
    #[cfg(feature = "all")]
    return Qdisc::new(&"codel".parse().ok()?, link, 1).ok();
    #[cfg(not(feature = "all"))]
    return Qdisc::alone(&aqm::aqm::codel::Params::default(), link, 1).ok();
}

static mut QUEUE: Option<Queue> = None;

/// Makes the queue.
#[unsafe(no_mangle)]
pub extern "C" fn begin(rate: u64) {
    // SAFETY: the program has one thread.
    unsafe { QUEUE = make(&Port::new(Rate::bit_per_s(rate), Limit::Packets(1000))) };
}

/// A packet arrives; returns the number of those that are dropped.
#[unsafe(no_mangle)]
pub extern "C" fn arrive(now: u64, size: u32, packet: usize) -> usize {
    // SAFETY: the program has one thread.
    let Some(queue) = (unsafe { (*(&raw mut QUEUE)).as_mut() }) else { return 0 };
    queue.enqueue(Time::from_nanos(now), Header::new(size), packet);
    queue.dropped().count()
}

/// A packet leaves; zero if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn leave(now: u64) -> usize {
    // SAFETY: the program has one thread.
    let Some(queue) = (unsafe { (*(&raw mut QUEUE)).as_mut() }) else { return 0 };
    queue.dequeue(Time::from_nanos(now)).map_or(0, |(packet, _)| packet)
}
