//! The laws in C and fixed point, `kernel/*.c`, against those here, verdict for verdict: one truth.
//!
//! With `--nocapture`, a row for each algorithm: the packets, those with the same verdict, and the time that the C takes for
//! a packet.
#![allow(unsafe_code)]

use crate::driver::{Line, Reference, assert_marks, compare};
use crate::support::PORT;
use aqm::params::{ParamError, Value};
use aqm::{AnyParams, Backlog, Limit, Packet, Port, Span, Verdict};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The library that `cc` makes of a file in C, with warnings as errors; made once. One that is `checked` ends the program at
/// an operation without a defined result.
pub(crate) fn compile(source: &Path, checked: bool) -> Arc<Library> {
    static MADE: Mutex<BTreeMap<PathBuf, Arc<Library>>> = Mutex::new(BTreeMap::new());
    let extension = if checked { "checked.so" } else { "so" };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(source.with_extension(extension).file_name().expect("the name of a file"));
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = made.get(&file) {
        return Arc::clone(library);
    }
    let options = "-O2 -shared -fPIC -fvisibility=hidden -Wall -Wextra -Werror -Wno-unused-parameter";
    let checks = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"];
    let done = Command::new("cc")
        .args(options.split(' '))
        .args(&checks[..if checked { 2 } else { 0 }])
        .args([concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../kernel"), "-o"])
        .args([&file, source])
        .output()
        .expect("a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // Safety: nothing runs when it is loaded.
    let library = Arc::new(unsafe { Library::new(&file) }.expect("a library"));
    made.insert(file, Arc::clone(&library));
    library
}

/// A packet and a backlog as `aqm.h` has them.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct PacketInC {
    size: u32,
    flow: u32,
    pair: u32,
    udp: bool,
    lane: u8,
    ect: bool,
    ce: bool,
    class: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BacklogInC {
    packets: u64,
    bytes: u64,
    pub(crate) full: bool,
}

/// The same of a law that evicts: with facts of a lane.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LaneInC {
    pub(crate) backlog: BacklogInC,
    /// When the first packet came.
    pub(crate) since: u64,
    /// The sizes of the first packet and of the last one.
    pub(crate) ends: [u32; 2],
}

/// The backlog of the whole and, if the law keeps lanes, of each.
pub(crate) type Backlogs = [BacklogInC; 3];

impl From<Packet> for PacketInC {
    fn from(packet: Packet) -> Self {
        let Packet { size, ect, udp, flow, pair, class, .. } = packet;
        Self { size, flow: flow as u32, pair, udp, lane: 0, ect, ce: false, class: class.into() }
    }
}

impl From<&Backlog> for BacklogInC {
    fn from(queue: &Backlog) -> Self {
        Self { packets: queue.packets.into(), bytes: queue.bytes, full: queue.full }
    }
}

impl PacketInC {
    /// The same packet, which waits in a lane.
    pub(crate) fn in_lane(self, lane: usize) -> Self {
        Self { lane: lane as u8, ..self }
    }
}

/// The backlog of a law without lanes.
pub(crate) fn alone(queue: &Backlog) -> Backlogs {
    [queue.into(), BacklogInC::from(&Backlog::default()), BacklogInC::from(&Backlog::default())]
}

type Begin = unsafe extern "C" fn(*mut u64, *const i64, u64);
type Advance = unsafe extern "C" fn(*mut u64, *const i64, u64, *const BacklogInC);
type Enqueue =
    unsafe extern "C" fn(*mut u64, *const i64, u64, *const PacketInC, *const BacklogInC, u32) -> c_int;
type Dequeue =
    unsafe extern "C" fn(*mut u64, *const i64, u64, *const PacketInC, *const BacklogInC, u64, u32) -> c_int;
type MakeRoom = unsafe extern "C" fn(*mut u64, *const i64, u64, *const PacketInC, *const BacklogInC) -> c_int;
type Lane = unsafe extern "C" fn(*mut u64, *const i64, u64, *const BacklogInC) -> c_int;
type Free = unsafe extern "C" fn(*mut u64, u64);

/// What happened to the link; `Q` is the backlog as the law knows it.
#[derive(Clone, Copy)]
pub(crate) enum Event<Q = Backlogs> {
    Arrival {
        now: u64,
        packet: PacketInC,
        queue: Q,
        random: u32,
    },
    Departure {
        now: u64,
        packet: PacketInC,
        queue: Q,
        sojourn: u64,
        random: u32,
    },
    /// When a packet will have been sent.
    Free(u64),
}

/// A law in C on a link. The link begins with the signals.
pub(crate) struct Law {
    begin: Begin,
    advance: Advance,
    enqueue: Enqueue,
    dequeue: Dequeue,
    serve: Lane,
    /// Of a law that evicts.
    evictions: Option<(MakeRoom, Lane)>,
    free: Free,
    link: Vec<u64>,
    params: Vec<i64>,
    /// The name and the binary digits of each signal.
    pub(crate) signals: Vec<(String, u32)>,
    _library: Arc<Library>,
}

impl Law {
    pub(crate) fn new(name: &str, params: &AnyParams, port: &Port) -> Self {
        Self::of(name, params, port, false).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The law in `kernel/NAME.c` with these parameters, if it can have them.
    pub(crate) fn of(name: &str, params: &AnyParams, port: &Port, checked: bool) -> Result<Self, ParamError> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../kernel/{name}.c"));
        let library = compile(&source, checked);
        // Safety: `library.h` declares them so.
        unsafe fn function<F: Copy>(library: &Library, name: &str) -> F {
            *unsafe { library.get::<F>(name.as_bytes()) }.expect(name)
        }
        let text = |name, before| {
            let text = unsafe {
                CStr::from_ptr(function::<unsafe extern "C" fn() -> *const c_char>(&library, name)())
            };
            text.to_str().expect("ASCII").strip_prefix(before).expect(before).to_owned()
        };
        let params = params.fixed(port, &text("aqm_params", "aqmlab params "))?;
        let signal = |field: &str| {
            let mut parts = field.split(':');
            let name = parts.next().expect("a name").to_owned();
            (name, parts.next().and_then(|bits| bits.parse().ok()).expect("a number of digits"))
        };
        let signals = text("aqm_signals", "aqmlab signals ").split_whitespace().map(signal).collect();
        let mut law = unsafe {
            let size = function::<unsafe extern "C" fn() -> u64>(&library, "aqm_size")() as usize;
            Self {
                begin: function(&library, "aqm_begin"),
                advance: function(&library, "aqm_advance"),
                enqueue: function(&library, "aqm_enqueue"),
                dequeue: function(&library, "aqm_dequeue"),
                serve: function(&library, "aqm_serve"),
                evictions: library
                    .get::<MakeRoom>(b"aqm_make_room")
                    .ok()
                    .map(|make_room| (*make_room, function(&library, "aqm_evict"))),
                free: function(&library, "aqm_free"),
                link: vec![0; size.div_ceil(8)],
                params,
                signals,
                _library: library,
            }
        };
        law.begin();
        Ok(law)
    }

    fn begin(&mut self) {
        self.link.fill(0);
        unsafe { (self.begin)(self.link.as_mut_ptr(), self.params.as_ptr(), 0) };
    }

    pub(crate) fn advance(&mut self, now: u64, queue: &Backlog) {
        unsafe {
            (self.advance)(self.link.as_mut_ptr(), self.params.as_ptr(), now, alone(queue).as_ptr());
        }
    }

    pub(crate) fn perform(&mut self, event: &Event) -> Verdict {
        self.perform_in_lane(event).0
    }

    /// Performs an event; returns the verdict and the lane of an arrival.
    pub(crate) fn perform_in_lane<Q>(&mut self, event: &Event<Q>) -> (Verdict, usize) {
        let (link, params) = (self.link.as_mut_ptr(), self.params.as_ptr());
        // Safety: the pointers are to what the library has said it needs.
        let verdict = unsafe {
            match event {
                Event::Arrival { now, packet, queue, random } => {
                    (self.enqueue)(link, params, *now, packet, (&raw const *queue).cast(), *random)
                }
                Event::Departure { now, packet, queue, sojourn, random } => {
                    (self.dequeue)(link, params, *now, packet, (&raw const *queue).cast(), *sojourn, *random)
                }
                Event::Free(at) => {
                    (self.free)(link, *at);
                    0
                }
            }
        };
        ([Verdict::Pass, Verdict::Mark, Verdict::Drop][verdict as usize & 0xff], verdict as usize >> 8)
    }

    /// The lane of the packet that is to leave.
    pub(crate) fn serve<Q>(&mut self, now: u64, queue: &Q) -> usize {
        self.lane(self.serve, now, queue)
    }

    /// The lane that loses a packet after an arrival, or the number of lanes.
    pub(crate) fn evict<Q>(&mut self, now: u64, queue: &Q) -> usize {
        self.lane(self.evictions.expect("a law that evicts").1, now, queue)
    }

    fn lane<Q>(&mut self, of: Lane, now: u64, queue: &Q) -> usize {
        let queue = (&raw const *queue).cast();
        // Safety: as in `perform_in_lane`.
        unsafe { of(self.link.as_mut_ptr(), self.params.as_ptr(), now, queue) as usize }
    }

    /// The lane that loses a packet since an arrival has no room, or the number of lanes.
    pub(crate) fn make_room<Q>(&mut self, now: u64, packet: &PacketInC, queue: &Q) -> usize {
        let make_room = self.evictions.expect("a law that evicts").0;
        let queue = (&raw const *queue).cast();
        // Safety: as in `perform_in_lane`.
        unsafe { make_room(self.link.as_mut_ptr(), self.params.as_ptr(), now, packet, queue) as usize }
    }

    pub(crate) fn signal(&self, name: &str) -> Option<f64> {
        let i = self.signals.iter().position(|(own, _)| own == name)?;
        Some(self.link[i] as i64 as f64 / 2.0_f64.powi(self.signals[i].1 as i32))
    }
}

/// A law in C as the driver's reference.
struct InC {
    law: Law,
    /// The signals of the algorithm, in its order.
    names: Vec<&'static str>,
    limit: Limit,
    /// What happened to the link, if it is recorded.
    events: Option<Vec<Event>>,
}

pub(crate) fn ns(seconds: f64) -> u64 {
    Span::from_secs(seconds).nanos()
}

/// A number of 32 bits, as the kernel draws them.
pub(crate) fn bits(u: &mut dyn FnMut() -> f64) -> u32 {
    (u() * 2.0_f64.powi(32)) as u32
}

impl InC {
    fn perform(&mut self, event: Event) -> Verdict {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
        self.law.perform(&event)
    }
}

impl Reference for &mut InC {
    const ARRIVALS: u32 = 1_000_000;
    const CLOSENESS: f64 = 1e-7;
    const LAZY: bool = true;
    const PAUSE: Span = Span::ms(2_345);

    fn limit(&self) -> Limit {
        self.limit
    }

    fn arrival(&mut self, now: f64, packet: Packet, queue: &Backlog, u: &mut dyn FnMut() -> f64) -> Verdict {
        let (packet, queue) = (packet.into(), alone(queue));
        self.perform(Event::Arrival { now: ns(now), packet, queue, random: bits(u) })
    }

    fn link_free(&mut self, now: f64, line: &mut Line, u: &mut dyn FnMut() -> f64) -> Vec<Verdict> {
        let mut verdicts = vec![];
        loop {
            let queue = alone(&line.backlog());
            let Some((arrived, packet)) = line.pop() else { return verdicts };
            let sojourn = ns(now) - ns(arrived);
            let departure =
                Event::Departure { now: ns(now), packet: packet.into(), queue, sojourn, random: bits(u) };
            verdicts.push(self.perform(departure));
            if verdicts.last() != Some(&Verdict::Drop) {
                self.perform(Event::Free(ns(now) + PORT.rate.transmission(packet.size).nanos()));
                return verdicts;
            }
        }
    }

    fn signal(&self) -> f64 {
        unreachable!("it has them all")
    }

    fn signals(&self, i: usize) -> Option<f64> {
        self.law.signal(self.names[i])
    }
}

/// The parameters of an algorithm, or of a variant or preset (`red/floyd1993`), with these settings.
fn params(name: &str, preset: Option<&str>, settings: &[(&str, Value)]) -> AnyParams {
    let mut params = AnyParams::of(name).expect("an algorithm");
    if let Some(preset) = preset {
        params = params.preset(preset).expect("a preset");
    }
    for (key, value) in settings {
        params.set(key, value).expect("an allowed value");
    }
    params
}

/// A buffer that has no room for a packet of 1500 bytes even if it is empty.
pub(crate) const TINY: Limit = Limit::Bytes(1400);

/// The comparisons of one law.
pub(crate) struct Judge {
    file: &'static str,
    packets: u64,
    ns: f64,
}

impl Judge {
    pub(crate) fn of(file: &'static str) -> Self {
        Self { file, packets: 0, ns: 0.0 }
    }

    /// Compares the law with the algorithm `name` under these settings.
    pub(crate) fn compare(&mut self, name: &str, preset: Option<&str>, settings: &[(&str, Value)]) {
        self.compare_before(Limit::Packets(150), name, preset, settings);
    }

    /// As `compare`, before another buffer.
    pub(crate) fn compare_before(
        &mut self,
        limit: Limit,
        name: &str,
        preset: Option<&str>,
        settings: &[(&str, Value)],
    ) {
        let params = params(name, preset, settings);
        let names = params.signals().iter().map(|signal| signal.name).collect();
        // The time is that of the first settings.
        let events = (self.packets == 0).then(Vec::new);
        let mut law = InC { law: Law::new(self.file, &params, &PORT), names, limit, events };
        let tally = compare(name, settings, preset, &mut law);
        self.packets += u64::from(<&mut InC as Reference>::ARRIVALS);
        if let Some(events) = &law.events {
            law.law.begin();
            let start = Instant::now();
            for event in events {
                law.law.perform(event);
            }
            self.ns = start.elapsed().as_nanos() as f64 / f64::from(<&mut InC as Reference>::ARRIVALS);
        }
        // At the defaults of some, only overflow drops anything.
        let signals = tally.drops + tally.marks + if settings.is_empty() { tally.overflows } else { 0 };
        assert!(signals > 300 && tally.idle > 1000, "{settings:?}: {tally:?}");
        let ecn = settings.iter().any(|(key, value)| *key == "ecn" && *value == Value::Bool(true));
        assert_marks(&tally, ecn || preset == Some("survey"), 100);
    }

    /// Prints the row of the law.
    pub(crate) fn print(&self) {
        println!(
            "{:8} {:>9} packets, {:>9} equal verdicts, {:>4.0} ns a packet",
            self.file, self.packets, self.packets, self.ns
        );
    }
}
