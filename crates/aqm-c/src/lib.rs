//! libaqm: queues for programs in C and C++. `include/aqm.h` is generated from this file; `cbindgen.toml` has the
//! command.
//!
//! Packets are pointers that the library does not follow, and time is a number of nanoseconds on the caller's clock.
//! A queue is used by one thread at a time.
// The functions are called from C: with pointers, and by their names, which are C's.
#![allow(unsafe_code, non_camel_case_types)]

use aqm::{
    Algorithm as _, AnyParams, Bytes, Ecn, Header, Limit, Outcome, Port, Qdisc, Rate, Seeded, Span, Time,
    Uniform,
};
use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::fmt::Display;
use std::ptr;

/// The link that a queue feeds. The fields state the meaning of zero.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct aqm_port {
    /// Rate in bit/s; not zero.
    pub rate: u64,
    /// One-way propagation delay in ns.
    pub delay: u64,
    /// Packets that may wait; zero is no limit in packets, and `bytes` must then be set.
    pub packets: u32,
    /// The usual size of a packet in bytes; zero is 1500.
    pub packet: u32,
    /// Bytes that may wait, which counts only if `packets` is zero.
    pub bytes: u64,
}

/// What a queue may know of a packet. Zero is a packet of an unspecified flow that is not ECN-capable.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct aqm_header {
    /// Represents the five-tuple, such as by a hash.
    pub flow: u64,
    /// Size on the wire in bytes.
    pub size: u32,
    /// Represents the host that sent it, such as by its IPv4 address.
    pub source: u32,
    /// Represents the host to which it goes.
    pub destination: u32,
    /// The two ECN bits: 0 is not ECN-capable, 1 is ECT(1), 2 is ECT(0), 3 is CE.
    pub ecn: u8,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Class of service, 1 to 4; zero is 1.
    pub service: u8,
    /// Whether its protocol is UDP.
    pub udp: bool,
}

/// What the caller does for a queue. A null function does nothing; `random` then has the queue draw by its seed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct aqm_caller {
    /// Handed to the functions.
    pub context: *mut c_void,
    /// Takes a packet back that is dropped: because there is no room (`full`), or by the algorithm. It must not call
    /// the queue.
    pub drop: Option<unsafe extern "C" fn(context: *mut c_void, packet: *mut c_void, full: bool)>,
    /// Returns a random number in [0, 1). Another counts as the nearest in that range, and NaN as 0.
    pub random: Option<unsafe extern "C" fn(context: *mut c_void) -> f64>,
}

/// Packets since the start.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct aqm_counts {
    /// Those that arrived.
    pub arrivals: u64,
    /// Those that left for the link.
    pub departures: u64,
    /// Those that the algorithm dropped.
    pub drops_early: u64,
    /// Those for which there was no room.
    pub drops_full: u64,
    /// Those that were marked with CE.
    pub marks: u64,
}

/// A queue.
#[derive(Debug)]
pub struct aqm_queue {
    qdisc: Qdisc<*mut c_void, aqm::AnyDiscipline, Random>,
    caller: aqm_caller,
}

#[derive(Debug)]
enum Random {
    Seeded(Seeded),
    Caller(unsafe extern "C" fn(*mut c_void) -> f64, *mut c_void),
}

impl Uniform for Random {
    fn uniform(&mut self) -> f64 {
        match self {
            Self::Seeded(seeded) => seeded.uniform(),
            // SAFETY: aqm_new's caller guarantees that the function can be called with this context.
            Self::Caller(random, context) => unsafe { random(*context) },
        }
    }
}

impl aqm_caller {
    fn hand_back(&self, packet: *mut c_void, full: bool) {
        if let Some(drop) = self.drop {
            // SAFETY: aqm_new's caller guarantees that the function can be called with this context and any of its
            // packets.
            unsafe { drop(self.context, packet, full) };
        }
    }
}

impl aqm_queue {
    /// Hands dropped packets back.
    fn settle(&mut self) {
        for (packet, outcome) in self.qdisc.dropped() {
            self.caller.hand_back(packet, outcome == Outcome::Overflowed);
        }
    }
}

/// Writes a message with a zero at its end, shortened to the room for it.
///
/// # Safety
/// `message` is null or has room for `length` bytes.
unsafe fn tell(error: impl Display, message: *mut c_char, length: usize) {
    if message.is_null() || length == 0 {
        return;
    }
    let text = error.to_string();
    let end = (0..length.min(text.len() + 1)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let bytes = &text.as_bytes()[..end];
    // SAFETY: the bytes are fewer than `length`, which is the room at `message`, and are this function's own.
    unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), message.cast(), bytes.len());
        *message.add(bytes.len()) = 0;
    }
}

/// Makes a queue under an algorithm such as "fq_codel" or "codel:target=5ms". Returns null if that is impossible;
/// the reason is then in `message`, which has room for `length` bytes and may be null. `seed` determines the random
/// numbers. `caller` may be null. CAKE's `ack_filter` is refused: a header does not state what an ACK acknowledges.
///
/// # Safety
/// `algorithm` and `port` point to a string and a port. The functions of `caller` can be called with its context
/// until the queue is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_new(
    algorithm: *const c_char,
    port: *const aqm_port,
    seed: u64,
    caller: *const aqm_caller,
    message: *mut c_char,
    length: usize,
) -> *mut aqm_queue {
    let none = aqm_caller { context: ptr::null_mut(), drop: None, random: None };
    // SAFETY: each is null or points to what the caller says.
    let (port, caller) = unsafe { (port.as_ref(), caller.as_ref().copied().unwrap_or(none)) };
    let text = if algorithm.is_null() { None } else { Some(()) };
    // SAFETY: it is not null, and a string by the caller's word.
    let text = text.and_then(|()| unsafe { CStr::from_ptr(algorithm) }.to_str().ok());
    let made = match (text, port) {
        (Some(text), Some(port)) => make(text, port, seed, caller).map_err(|error| error.to_string()),
        (None, _) => Err("the algorithm must be a text in UTF-8".to_owned()),
        (_, None) => Err("a queue needs a port".to_owned()),
    };
    match made {
        Ok(queue) => Box::into_raw(Box::new(queue)),
        Err(error) => {
            // SAFETY: the room is as the caller says.
            unsafe { tell(error, message, length) };
            ptr::null_mut()
        }
    }
}

fn make(text: &str, port: &aqm_port, seed: u64, caller: aqm_caller) -> Result<aqm_queue, Box<dyn Error>> {
    if port.packets == 0 && port.bytes == 0 {
        return Err("packets = 0, bytes = 0: one of them must be more than 0, or no packet may wait".into());
    }
    let limit = if port.packets > 0 { Limit::Packets(port.packets) } else { Limit::Bytes(port.bytes) };
    let packet = if port.packet == 0 { 1500 } else { port.packet };
    let port = Port {
        delay: Span::ns(port.delay),
        packet: Bytes(u64::from(packet)),
        ..Port::new(Rate::bit_per_s(port.rate), limit)
    };
    let random = match caller.random {
        Some(random) => Random::Caller(random, caller.context),
        None => Random::Seeded(Seeded(seed)),
    };
    let qdisc = Qdisc::new(&text.parse::<AnyParams>()?, &port, seed)?.with_random(random);
    if qdisc.algorithm().reads_acks() {
        return Err("ack_filter: must be off, as aqm_header does not state what an ACK acknowledges".into());
    }
    Ok(aqm_queue { qdisc, caller })
}

/// Frees a queue; the packets that wait are dropped first, in any order, as if there were no room. Null is no queue.
///
/// # Safety
/// `queue` comes from aqm_new, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_free(queue: *mut aqm_queue) {
    if queue.is_null() {
        return;
    }
    // SAFETY: aqm_new made it from a box, and this is its last use.
    let aqm_queue { qdisc, caller } = *unsafe { Box::from_raw(queue) };
    qdisc.into_packets().for_each(|packet| caller.hand_back(packet, true));
}

/// Hands a packet over at the time `now`; whether it waits now. If it does not, it has gone to the function for dropped
/// packets, as may have others that waited. A null packet is none.
///
/// # Safety
/// `queue` comes from aqm_new, and `header` points to a header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_enqueue(
    queue: *mut aqm_queue,
    now: u64,
    header: *const aqm_header,
    packet: *mut c_void,
) -> bool {
    // SAFETY: they are valid by the caller's word, and nobody else uses the queue meanwhile.
    let (queue, header) = unsafe { (&mut *queue, &*header) };
    if packet.is_null() {
        return false;
    }
    let header = Header {
        ecn: Ecn::of(header.ecn),
        dscp: header.dscp,
        flow: header.flow,
        source: header.source,
        destination: header.destination,
        udp: header.udp,
        class: header.service,
        ..Header::new(header.size)
    };
    let outcome = queue.qdisc.enqueue(Time::from_nanos(now), header, packet);
    queue.settle();
    matches!(outcome, Outcome::Queued | Outcome::Marked)
}

/// The packet that the link, which is free, sends at the time `now`; null if there is none, or none may be sent yet.
/// `ecn` may be null; otherwise it receives the two ECN bits that the packet must have from now on.
///
/// # Safety
/// `queue` comes from aqm_new, and `ecn` is null or points to a byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_dequeue(queue: *mut aqm_queue, now: u64, ecn: *mut u8) -> *mut c_void {
    // SAFETY: it is valid by the caller's word, and nobody else uses it meanwhile.
    let queue = unsafe { &mut *queue };
    let sent = queue.qdisc.dequeue(Time::from_nanos(now));
    queue.settle();
    let Some((packet, bits)) = sent else { return ptr::null_mut() };
    if !ecn.is_null() {
        // SAFETY: it points to a byte by the caller's word.
        unsafe { *ecn = bits as u8 };
    }
    packet
}

/// When a packet that a shaper holds back may be sent; zero if none is held back.
///
/// # Safety
/// `queue` comes from aqm_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_paused_until(queue: *const aqm_queue) -> u64 {
    // SAFETY: it is valid by the caller's word.
    unsafe { &*queue }.qdisc.paused_until().map_or(0, Time::nanos)
}

/// The number of waiting packets.
///
/// # Safety
/// `queue` comes from aqm_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_packets(queue: *const aqm_queue) -> usize {
    // SAFETY: it is valid by the caller's word.
    unsafe { &*queue }.qdisc.len()
}

/// The bytes of the waiting packets.
///
/// # Safety
/// `queue` comes from aqm_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_bytes(queue: *const aqm_queue) -> u64 {
    // SAFETY: it is valid by the caller's word.
    unsafe { &*queue }.qdisc.bytes()
}

/// The counters.
///
/// # Safety
/// `queue` comes from aqm_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_count(queue: *const aqm_queue) -> aqm_counts {
    // SAFETY: it is valid by the caller's word.
    let counts = unsafe { &*queue }.qdisc.counts();
    aqm_counts {
        arrivals: counts.arrivals,
        departures: counts.departures,
        drops_early: counts.drops_early,
        drops_full: counts.drops_overflow,
        marks: counts.marks,
    }
}

/// Writes the name of algorithm `number`, counted from zero; returns false, and writes nothing, behind the last one. 32
/// bytes are room enough for each.
///
/// # Safety
/// `name` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aqm_name(number: usize, name: *mut c_char, length: usize) -> bool {
    let Some(found) = aqm::aqm::NAMES.get(number) else { return false };
    // SAFETY: the room is as the caller says.
    unsafe { tell(found, name, length) };
    true
}
