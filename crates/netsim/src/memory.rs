//! The memory that a run needs: its beginning is tried, its bytes are counted, and later growth is added.
//!
//! Nothing else knows how much a run keeps of each packet and flow, and whether it fills the buffers that it has. The trial
//! ends after some [`WORK`], about 30 ms, which is the whole of a small run and more than slow start in most others. The
//! peak until then rises by the greater of two:
//!
//! * whenever the run has become twice as long, as much as in the second half of the trial: longer waits, more flows at a
//!   time, the end of slow start; but at most as much as there is, because the peak of a run is at least that of its
//!   beginning;
//! * a queue that has grown all the time goes on like that until its buffer or all windows are full.
//!
//! [`known_memory`] needs no trial.

// The trait of an allocator is unsafe.
#![allow(unsafe_code)]

use crate::engine::clock::{Clock, Double, Integer};
use crate::measure::flow_log::FlowRow;
use crate::measure::series::Series;
use crate::network::link::Flight;
use crate::simulation::{Simulation, WindowSample};
use crate::tcp::{Receiver, Sender, bytes_on_heap};
use crate::traffic::source::{Connection, Ends, Source};
use aqm::aqm::AnyParams;
use aqm::unit::{Limit, Span, Time};
use run::Watch;
use scenario::Scenario;
use scenario::model::{Change, Congestion, Distribution, Link, Tcp, Traffic, TrafficKind, Udp};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// How often the watch of a trial is asked before it stops it: each time after some thousand events.
const WORK: u32 = 32;
/// The most flows of a trial.
const FLOWS: u64 = 16_384;

thread_local! {
    /// The bytes that this thread has taken and not given back, and the most of them since [`measured`] began.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, which counts the bytes that each thread holds.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(bytes: i64) {
    // A thread that is ending counts no more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        MOST.with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: the system's allocator alone gives and takes memory; the counters need none.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: what the trait asks of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: likewise, and `pointer` is from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: likewise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        // SAFETY: likewise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Does some work, and counts the bytes that this thread held meanwhile at most, beyond those of before.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get();
    let earlier = MOST.replace(before);
    let done = work();
    let most = MOST.get();
    MOST.set(most.max(earlier));
    (done, (most - before) as u64)
}

/// The bytes that a run of this scenario keeps for certain: flows that exist from the start, rates of noise, and series.
#[must_use]
pub fn known_memory(scenario: &Scenario) -> u64 {
    let flows = scenario.traffic.iter().map(|traffic| {
        let count = u64::from(traffic.count);
        match &traffic.kind {
            TrafficKind::Ftp(tcp) | TrafficKind::Transfer(tcp, _) => count.saturating_mul(of_a_flow(tcp)),
            TrafficKind::Short(..) | TrafficKind::Web(..) | TrafficKind::Program(_) => 0,
            TrafficKind::Udp(Udp::Tfrc(_), _) => count * (size_of::<Source>() + size_of::<Ends>()) as u64,
            TrafficKind::Udp(Udp::Stack(_), _) => {
                count * (size_of::<Source>() + size_of::<Connection>()) as u64
            }
            TrafficKind::Udp(..) => count * size_of::<Source>() as u64,
        }
    });
    flows.fold(kept(scenario), u64::saturating_add)
}

fn of_a_flow(tcp: &Tcp) -> u64 {
    (size_of::<Sender>() + size_of::<Receiver>()) as u64 + bytes_on_heap(tcp)
}

/// The bytes of recordings, and of the rates of noise.
fn kept(scenario: &Scenario) -> u64 {
    let (duration, record) = (scenario.general.duration, &scenario.record);
    let samples = |step: Span| duration.nanos().div_ceil(step.nanos().max(1));
    let mut bytes = 0u64;
    if record.series {
        // Only few bins are tried, because all of them may need more memory than there is. The columns that are handed over are
        // copies.
        const BINS: u64 = 100;
        let step = scenario.series_step();
        let mut short = scenario.clone();
        (short.general.duration, short.record.step) = (step * BINS, Some(step));
        let (_, few) = measured(|| Series::new(&short));
        bytes = (few / BINS).saturating_mul(2 * samples(step));
    }
    for traffic in &scenario.traffic {
        let count = u64::from(traffic.count);
        bytes = bytes.saturating_add(match (&traffic.kind, record.cwnd) {
            // A list, with room for up to twice as many, and columns.
            (TrafficKind::Ftp(_) | TrafficKind::Transfer(..), Some(step)) => {
                let windows = count.saturating_mul(samples(step));
                windows.saturating_mul((3 * size_of::<WindowSample>() / 2 + 5 * size_of::<f64>()) as u64)
            }
            (TrafficKind::Udp(Udp::Fgn { step, .. }, _), _) => {
                let rates = samples(*step);
                // While one flow's are drawn, there are two complex numbers for each, and half as many turns.
                (8 * rates).saturating_mul(count).saturating_add(48 * rates.next_power_of_two())
            }
            _ => 0,
        });
    }
    bytes
}

/// An estimate of the bytes that a run of this scenario needs.
#[must_use]
pub fn memory_estimate(scenario: &Scenario) -> u64 {
    let flows: u64 = scenario.traffic.iter().map(|traffic| u64::from(traffic.count)).sum();
    let scale = (flows as f64 / FLOWS as f64).max(1.0);
    let (growth, most) = measured(|| trial(abridged(scenario, scale)));
    kept(scenario) + (most as f64 * scale + growth) as u64
}

/// The part of a scenario that is tried: without recordings, without algorithms of users, because these may do anything, and
/// with one in `scale` flows. What would happen later happens from the start: every entry is active, and each link has its
/// lowest rate.
fn abridged(scenario: &Scenario, scale: f64) -> Scenario {
    let mut scenario = scenario.clone();
    (scenario.record.series, scenario.record.cwnd) = (false, None);
    scenario.general.warmup = Span::ZERO;
    for traffic in &mut scenario.traffic {
        if let Some(tcp) = traffic.kind.tcp_mut()
            && tcp.congestion.user_defined().is_some()
        {
            tcp.congestion = Congestion::Reno;
        }
        traffic.count = (f64::from(traffic.count) / scale).ceil() as u32;
        traffic.begin = Span::ZERO;
        if matches!((&traffic.kind, &traffic.start), (TrafficKind::Ftp(_), _) | (_, Distribution::Fixed(_))) {
            traffic.start = Distribution::Fixed(Span::ZERO);
        }
        if let TrafficKind::Udp(pattern, _) = &mut traffic.kind
            && let Udp::Fgn { rate, .. } = *pattern
        {
            *pattern = Udp::Poisson(rate);
        }
    }
    for link in &mut scenario.links {
        if link.aqm.as_ref().is_some_and(|aqm| !aqm.all_user_defined().is_empty()) {
            link.aqm = AnyParams::of("droptail");
        }
        begin_at_the_lowest_rate(link);
    }
    scenario
}

/// Lets a link begin where its rate is lowest, but not 0, and go on from there.
fn begin_at_the_lowest_rate(link: &mut Link) {
    let start = Change { at: Span::ZERO, rate: link.rate };
    let mut rates: Vec<Change> = std::iter::once(start).chain(link.changes.drain(..)).collect();
    let sending = rates.iter().enumerate().filter(|(_, change)| change.rate.bits() > 0.0);
    let lowest = sending.min_by(|(_, a), (_, b)| a.rate.bits().total_cmp(&b.rate.bits()));
    let lowest = lowest.map_or(0, |(i, _)| i);
    let from = rates[lowest].at.nanos();
    rates.rotate_left(lowest);
    let period = link.changes_period.map(Span::nanos);
    let moved = |change: Change| {
        let at = change.at.nanos().checked_sub(from).or_else(|| Some(change.at.nanos() + period? - from))?;
        Some(Change { at: Span::ns(at), ..change })
    };
    link.rate = rates[0].rate;
    link.changes = rates.into_iter().skip(1).filter_map(moved).collect();
}

/// The state of a trial: simulated seconds, the most bytes so far, and the packets at each link.
struct Mark {
    t: f64,
    most: i64,
    packets: Vec<usize>,
}

/// Begins a run, and returns the bytes by which its peak will still rise, with the record of flows.
fn trial(scenario: Scenario) -> f64 {
    let (end, before) = (Time::ZERO + scenario.general.duration, HELD.get());
    let rooms: Vec<f64> = scenario.links.iter().map(room).collect();
    let windows = windows(&scenario);
    let mut asked = 0;
    let watch = Watch::new(move |_| {
        asked += 1;
        asked < WORK
    });
    let Some(mut run) = Simulation::watched(scenario, 1, (), watch) else { return 0.0 };
    let mut marks: Vec<Mark> = Vec::new();
    let mut until = Time::from_nanos(1000);
    while until < end && !run.has_stopped() {
        until = end.min(Time::from_nanos(until.nanos() * 5 / 4));
        // Without `advance`, which would make every link catch up.
        match run.network.events.clock {
            Clock::Integer => run.handle_all(Integer, until),
            Clock::Double => run.handle_all(Double, until),
        }
        let packets = run.network.links.iter().map(|link| link.packets().count()).collect();
        marks.push(Mark {
            t: (if run.has_stopped() { run.now() } else { until }).secs(),
            most: MOST.get() - before,
            packets,
        });
    }
    let Some(last) = marks.last() else { return 0.0 };
    let left = end.secs() / last.t.max(1e-9);
    let recorded = run.flow_log.as_deref().map_or(0.0, |log| {
        let [open, over] = log.len().map(|flows| flows as f64);
        // A list, with room for up to twice as many; a copy in order; and columns.
        (open + over * left) * (2.5 * size_of::<FlowRow>() as f64 + 16.0 * size_of::<f64>() as f64)
    });
    if !run.has_stopped() {
        return recorded;
    }
    let at = |t: f64| marks.iter().rfind(|mark| mark.t <= t).unwrap_or(&marks[0]);
    let [eighth, quarter, half] = [8.0, 4.0, 2.0].map(|part| at(last.t / part));
    let rise = ((last.most - half.most) as f64 * libm::log2(left)).min(last.most as f64);
    let speed = |from: &Mark, to: &Mark, i: usize| {
        (to.packets[i] as f64 - from.packets[i] as f64) / (to.t - from.t).max(1e-9)
    };
    let queues = rooms.iter().enumerate().map(|(i, room)| {
        let speeds = [speed(eighth, quarter, i), speed(quarter, half, i), speed(half, last, i)];
        let steady = speeds.into_iter().fold(f64::INFINITY, f64::min).max(0.0);
        let now = last.packets[i] as f64;
        (steady * (end.secs() - last.t)).min(room.min(windows) - now).max(0.0)
    });
    let filled = queues.sum::<f64>() * size_of::<Flight>() as f64 * 1.5;
    recorded + rise.max(filled)
}

/// The most packets that fit in a link's buffer.
fn room(link: &Link) -> f64 {
    let packet = link.packet.0.max(1);
    match link.buffer {
        Limit::Packets(packets) => f64::from(packets),
        Limit::Bytes(bytes) | Limit::BytesBefore(bytes) => bytes as f64 / packet as f64,
    }
}

/// The most packets that all senders together have under way.
fn windows(scenario: &Scenario) -> f64 {
    let of = |traffic: &Traffic| match &traffic.kind {
        TrafficKind::Ftp(tcp) | TrafficKind::Transfer(tcp, _) => {
            f64::from(traffic.count) * f64::from(tcp.max_window)
        }
        _ => f64::INFINITY,
    };
    scenario.traffic.iter().map(of).sum()
}
