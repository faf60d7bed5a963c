//! The laws in C and fixed point, `kernel/*.c`, against those here, verdict for verdict: one truth.
//!
//! With `--nocapture`, a row for each algorithm: the packets, those with the same verdict, and the time that the C takes for
//! a packet.
#![allow(unsafe_code)]

use crate::driver::{Line, Reference, assert_marks, compare, number, text};
use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::{AnyParams, Backlog, Limit, Packet, Port, Span, Verdict};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The library that `cc` makes of a file in C, with warnings as errors; made once.
pub(crate) fn compile(source: &Path) -> Arc<Library> {
    static MADE: Mutex<BTreeMap<PathBuf, Arc<Library>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = made.get(source) {
        return Arc::clone(library);
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(source.with_extension("so").file_name().expect("the name of a file"));
    let options = "-O2 -shared -fPIC -fvisibility=hidden -Wall -Wextra -Werror -Wno-unused-parameter";
    let done = Command::new("cc")
        .args(options.split(' '))
        .args([concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../kernel"), "-o"])
        .args([&file, source])
        .output()
        .expect("a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // Safety: nothing runs when it is loaded.
    let library = Arc::new(unsafe { Library::new(&file) }.expect("a library"));
    made.insert(source.to_owned(), Arc::clone(&library));
    library
}

fn law(name: &str) -> Arc<Library> {
    compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../kernel/{name}.c")))
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
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BacklogInC {
    packets: u64,
    bytes: u64,
    pub(crate) full: bool,
}

/// The backlog of the whole and, if the law keeps lanes, of each.
pub(crate) type Backlogs = [BacklogInC; 3];

impl From<Packet> for PacketInC {
    fn from(packet: Packet) -> Self {
        let Packet { size, ect, udp, flow, pair, .. } = packet;
        Self { size, flow: flow as u32, pair, udp, lane: 0, ect, ce: false }
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
fn alone(queue: &Backlog) -> Backlogs {
    [queue.into(), BacklogInC::from(&Backlog::default()), BacklogInC::from(&Backlog::default())]
}

type Begin = unsafe extern "C" fn(*mut u64, *const i64, u64);
type Advance = unsafe extern "C" fn(*mut u64, *const i64, u64, *const BacklogInC);
type Enqueue =
    unsafe extern "C" fn(*mut u64, *const i64, u64, *const PacketInC, *const BacklogInC, u32) -> c_int;
type Dequeue =
    unsafe extern "C" fn(*mut u64, *const i64, u64, *const PacketInC, *const BacklogInC, u64, u32) -> c_int;
type Serve = unsafe extern "C" fn(*mut u64, *const i64, u64, *const BacklogInC) -> c_int;
type Free = unsafe extern "C" fn(*mut u64, u64);

/// What happened to the link.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    Arrival {
        now: u64,
        packet: PacketInC,
        queue: Backlogs,
        random: u32,
    },
    Departure {
        now: u64,
        packet: PacketInC,
        queue: Backlogs,
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
    serve: Serve,
    free: Free,
    link: Vec<u64>,
    params: Vec<i64>,
    /// The name and the binary digits of each signal.
    signals: Vec<(String, u32)>,
    _library: Arc<Library>,
}

impl Law {
    pub(crate) fn new(name: &str, params: &AnyParams, port: &Port) -> Self {
        let library = law(name);
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
        let params = params
            .fixed(port, &text("aqm_params", "aqmlab params "))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
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
                free: function(&library, "aqm_free"),
                link: vec![0; size.div_ceil(8)],
                params,
                signals,
                _library: library,
            }
        };
        law.begin();
        law
    }

    fn begin(&mut self) {
        self.link.fill(0);
        unsafe { (self.begin)(self.link.as_mut_ptr(), self.params.as_ptr(), 0) };
    }

    fn advance(&mut self, now: u64, queue: &Backlog) {
        unsafe {
            (self.advance)(self.link.as_mut_ptr(), self.params.as_ptr(), now, alone(queue).as_ptr());
        }
    }

    pub(crate) fn perform(&mut self, event: &Event) -> Verdict {
        self.perform_in_lane(event).0
    }

    /// Performs an event; returns the verdict and the lane of an arrival.
    pub(crate) fn perform_in_lane(&mut self, event: &Event) -> (Verdict, usize) {
        let (link, params) = (self.link.as_mut_ptr(), self.params.as_ptr());
        // Safety: the pointers are to what the library has said it needs.
        let verdict = unsafe {
            match event {
                Event::Arrival { now, packet, queue, random } => {
                    (self.enqueue)(link, params, *now, packet, queue.as_ptr(), *random)
                }
                Event::Departure { now, packet, queue, sojourn, random } => {
                    (self.dequeue)(link, params, *now, packet, queue.as_ptr(), *sojourn, *random)
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
    pub(crate) fn serve(&mut self, now: u64, queue: &Backlogs) -> usize {
        // Safety: as in `perform_in_lane`.
        unsafe { (self.serve)(self.link.as_mut_ptr(), self.params.as_ptr(), now, queue.as_ptr()) as usize }
    }

    fn signal(&self, name: &str) -> Option<f64> {
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
const TINY: Limit = Limit::Bytes(1400);

/// The comparisons of one law.
struct Judge {
    file: &'static str,
    packets: u64,
    ns: f64,
}

impl Judge {
    fn of(file: &'static str) -> Self {
        Self { file, packets: 0, ns: 0.0 }
    }

    /// Compares the law with the algorithm `name` under these settings.
    fn compare(&mut self, name: &str, preset: Option<&str>, settings: &[(&str, Value)]) {
        self.compare_before(Limit::Packets(150), name, preset, settings);
    }

    /// As `compare`, before another buffer.
    fn compare_before(&mut self, limit: Limit, name: &str, preset: Option<&str>, settings: &[(&str, Value)]) {
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
    fn print(&self) {
        println!(
            "{:8} {:>9} packets, {:>9} equal verdicts, {:>4.0} ns a packet",
            self.file, self.packets, self.packets, self.ns
        );
    }
}

fn switch(on: bool) -> Value {
    Value::Bool(on)
}

#[test]
fn lred_in_c_is_lred() {
    let mut judge = Judge::of("lred");
    judge.compare("lred", None, &[]);
    for (exponent, beta, bytes, ecn) in [
        (0.5, 0.01, true, true),
        (0.0, 0.001, false, false),
        (1.0, 0.05, false, true),
        (1.7, 0.5, true, false),
    ] {
        let settings = [
            ("q0", number(30.5)),
            ("beta", number(beta)),
            ("exponent", number(exponent)),
            ("period", text("230 ms")),
            ("window", Value::Integer(if ecn { 64 } else { 3 })),
            ("bytes", switch(bytes)),
            ("ecn", switch(ecn)),
            ("l_min", number(0.003)),
        ];
        judge.compare("lred", None, &settings);
    }
    judge.print();
}

#[test]
fn rem_in_c_is_rem_in_both_forms() {
    let mut judge = Judge::of("rem");
    judge.compare("rem", None, &[]);
    for preset in ["ns2.35", "survey"] {
        judge.compare("rem", Some(preset), &[]);
    }
    for switches in 0..8 {
        let [ns2, bytes, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("form", text(if ns2 { "ns2" } else { "paper" })),
            ("bytes", switch(bytes)),
            ("by_size", if ecn { switch(!bytes) } else { text("auto") }),
            ("ecn", switch(ecn)),
            ("phi", number(1.01)),
            ("gamma", number(0.02)),
            ("inw", number(if bytes { 0.02 } else { 1.0 })),
            ("alpha", number(0.3)),
            ("interval", text("3.7 ms")),
        ];
        judge.compare("rem", None, &settings);
    }
    judge.print();
}

#[test]
fn pi_in_c_is_pi() {
    let mut judge = Judge::of("pi");
    judge.compare("pi", None, &[]);
    judge.compare("pistar", None, &[]);
    for preset in ["survey", "ns2.35", "lred"] {
        judge.compare("pi", Some(preset), &[]);
    }
    for switches in 0..8 {
        let [bytes, by_size, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("a", number(if by_size { 0.01 } else { 0.0007 })),
            ("b", number(if by_size { 0.005 } else { 0.0006 })),
            ("q_ref", number(30.3)),
            ("frequency", text("37 Hz")),
            ("bytes", switch(bytes)),
            ("by_size", switch(by_size)),
            ("ecn", switch(ecn)),
        ];
        judge.compare("pi", None, &settings);
    }
    judge.print();
}

#[test]
fn blue_in_c_is_blue() {
    let mut judge = Judge::of("blue");
    judge.compare("blue", None, &[]);
    judge.compare_before(TINY, "blue", None, &[]);
    judge.compare("blue", Some("feng1999"), &[]);
    for (l, freeze, idle, ecn) in [
        (number(20.5), "10 ms", "lasting", true),
        (text("auto"), "0 s", "once", false),
        (number(60.0), "0 s", "lasting", true),
    ] {
        let (d1, d2) = (number(0.01), number(0.003));
        let (freeze, idle) = (text(freeze), text(idle));
        let settings =
            [("d1", d1), ("d2", d2), ("freeze_time", freeze), ("l", l), ("idle", idle), ("ecn", switch(ecn))];
        judge.compare("blue", None, &settings);
    }
    judge.print();
}

#[test]
fn avq_in_c_is_avq_in_both_forms() {
    let mut judge = Judge::of("avq");
    judge.compare("avq", None, &[]);
    judge.compare("avq", Some("ns2.35"), &[]);
    for switches in 0..8 {
        let [ns2, packets, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("form", text(if ns2 { "ns2" } else { "paper" })),
            ("bytes", switch(!packets)),
            ("ecn", switch(ecn)),
            ("alpha", number(if ecn { 0.6 } else { 0.05 })),
            ("gamma", number(0.9)),
            ("initial", number(0.5)),
            ("buflim", number(0.3)),
        ];
        judge.compare("avq", None, &settings);
    }
    judge.print();
}

#[test]
fn raqm_in_c_is_raqm_in_every_reading() {
    let mut judge = Judge::of("raqm");
    judge.compare("raqm", None, &[]);
    for switches in 0..32 {
        let [rate, corrected, fixed, mean, lagged] = [1, 2, 4, 8, 16].map(|bit| switches & bit != 0);
        let ecn = switches % 3 == 0;
        let settings = [
            ("mode", text(if rate { "queue-independent" } else { "queue-dependent" })),
            ("r0", text(if corrected { "corrected" } else { "literal" })),
            ("alpha", text(if fixed { "static" } else { "adaptive" })),
            ("fed", text(if mean { "mean" } else { "own" })),
            ("counts", text(["all", "unshed", "accepted"][switches % 3])),
            ("lagged", switch(lagged)),
            ("ecn", switch(ecn)),
            ("bytes", switch(switches % 5 == 0)),
            // What a full link accepts is no more than it can send.
            ("gamma", number(if switches % 3 == 0 { 0.45 } else { 0.3 })),
            ("period", text("310 ms")),
            ("f", number(if lagged { 0.4 } else { 0.1 })),
        ];
        judge.compare("raqm", None, &settings);
    }
    judge.print();
}

#[test]
fn red_in_c_is_red_and_gentle_red() {
    let mut judge = Judge::of("red");
    judge.compare("red", None, &[]);
    judge.compare("gred", None, &[]);
    judge.compare("gredi", None, &[]);
    let low =
        [("min_th", number(0.3)), ("max_th", number(1.7)), ("w_q", number(0.05)), ("bytes", switch(true))];
    judge.compare_before(TINY, "red", None, &low);
    let presets =
        ["floyd1993", "ns2-2000", "ns2.35", "ns3", "inet", "cisco", "impact", "impact-gred", "survey"];
    for preset in presets {
        judge.compare("red", Some(preset), &[]);
    }
    // With these numbers no p_b is a fraction 1 / n, with which the n-th packet would be decided by rounding.
    for switches in 0..24 {
        let [gentle, bytes, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let by_size = if switches % 5 == 0 { switch(!bytes) } else { text("auto") };
        let settings = [
            ("min_th", number(10.0)),
            ("max_th", number(if gentle { 41.0 } else { 97.0 })),
            ("max_p", number(0.1503)),
            ("w_q", number([0.01, 0.002, 1.0][switches % 3])),
            ("gentle", switch(gentle)),
            ("spacing", text(["1993", "wait", "none"][switches / 8])),
            ("bytes", switch(bytes)),
            ("by_size", by_size),
            ("ecn", switch(ecn)),
            ("mark_p", number(if gentle { 0.7 } else { 0.1 })),
            ("hard_drop", switch(switches % 7 != 0)),
            ("nodrop", switch(switches % 11 == 0)),
            ("spare_first", switch(switches % 2 == 0)),
            ("ages", switch(switches % 4 != 0)),
        ];
        judge.compare("red", None, &settings);
    }
    judge.print();
}

#[test]
fn nonlinear_red_in_c_is_nonlinear_red() {
    let mut judge = Judge::of("nlred");
    judge.compare("nlred", None, &[]);
    judge.compare("nlred", Some("zhou2006"), &[]);
    for (max_p, gentle, bytes, ecn) in
        [(0.9, true, false, true), (0.2, true, true, false), (0.9, false, true, true)]
    {
        let settings = [
            ("min_th", number(10.0)),
            ("max_th", number(50.0)),
            ("max_p", number(max_p)),
            ("w_q", number(0.01)),
            ("gentle", switch(gentle)),
            ("bytes", switch(bytes)),
            ("ecn", switch(ecn)),
        ];
        judge.compare("nlred", None, &settings);
    }
    judge.print();
}

#[test]
fn adaptive_red_in_c_is_adaptive_red_with_its_timer_and_without() {
    let mut judge = Judge::of("ared");
    judge.compare("ared", None, &[]);
    for preset in ["ns2.35", "redtail"] {
        judge.compare("ared", Some(preset), &[]);
    }
    for switches in 0..8 {
        let [frozen, arrival, ecn] = [1, 2, 4].map(|bit| switches & bit != 0);
        let settings = [
            ("min_th", number(10.0)),
            ("max_th", number(40.0)),
            ("max_p", number(0.05)),
            ("w_q", number(if ecn { 0.002 } else { 0.02 })),
            ("frozen_gentle", switch(frozen)),
            ("moves", text(if arrival { "arrival" } else { "timer" })),
            ("interval", text("70 ms")),
            ("alpha", number(0.02)),
            // Not the inverse of the factor 1.25 up, with which max_p would return to `bottom` but for rounding.
            ("beta", number(0.83)),
            ("top", number(0.3)),
            ("bottom", if frozen { number(0.02) } else { text("auto") }),
            ("ecn", switch(ecn)),
            ("bytes", switch(arrival)),
        ];
        judge.compare("ared", None, &settings);
    }
    judge.print();
}

/// After a stretch without packets, one call performs the periods that as many calls would have performed.
#[test]
fn periods_at_once_are_periods_one_by_one() {
    let idle = Backlog::default();
    let waiting = Backlog { packets: 40, bytes: 20_000, full: false };
    for (file, name, period) in PERIODIC {
        for queue in [idle, waiting] {
            for count in [1, 2, 3, 10, 70, 1000, 50_000] {
                let params: AnyParams = name.parse().expect("an algorithm");
                let [mut lazy, mut busy] = [Law::new(file, &params, &PORT), Law::new(file, &params, &PORT)];
                let mut random = Random(7);
                for law in [&mut lazy, &mut busy] {
                    let mut random = random.clone();
                    // Half of the packets find a queue that is longer than any target.
                    for i in 0..3000 {
                        let packets = if i < 1500 { 10 } else { 140 };
                        let queue = Backlog { packets, bytes: 500 * u64::from(packets), full: i % 20 == 0 };
                        let (queue, packet) = (alone(&queue), Packet::new(500, false).into());
                        let random = random.bits() as u32;
                        law.perform(&Event::Arrival { now: 200_000 * i, packet, queue, random });
                    }
                    law.perform(&Event::Free(600_100_000));
                }
                let start = 600_000_000;
                let end = start + count * period.nanos();
                (1..=count).for_each(|i| busy.advance(start + i * period.nanos(), &queue));
                lazy.advance(end, &queue);
                for name in lazy.signals.iter().map(|(name, _)| name) {
                    let (once, each) =
                        (lazy.signal(name).expect("its own"), busy.signal(name).expect("its own"));
                    assert!(
                        (once - each).abs() < 1e-9 * each.abs().max(1.0),
                        "{name} of {params:?} after {count} periods of {queue:?}: {once}, not {each}"
                    );
                }
                let event = Event::Arrival {
                    now: end + 1,
                    packet: Packet::new(500, false).into(),
                    queue: alone(&queue),
                    random: random.bits() as u32,
                };
                assert_eq!(lazy.perform(&event), busy.perform(&event));
            }
        }
    }
}

/// Laws with periodic updates: the file, an algorithm with settings by which much changes, and the period.
const PERIODIC: &[(&str, &str, Span)] = &[
    ("lred", "lred:period=10ms,q0=20,beta=0.01", Span::ms(10)),
    ("rem", "rem:gamma=0.1", Span::ms(2)),
    ("rem", "rem:form=ns2,inw=0.001,gamma=0.1", Span::ms(2)),
    ("pi", "pi:a=0.001,b=0.0009,q_ref=20", Span::ns(5_882_353)),
    ("raqm", "raqm:period=10ms,f=0.9", Span::ms(10)),
    ("raqm", "raqm:period=10ms,alpha=static,m=0.1,p_min=1e-12", Span::ms(10)),
    ("ared", "ared:interval=10ms,w_q=0.02,beta=0.97,bottom=0", Span::ms(10)),
];
