//! The WebAssembly binding: translates between JavaScript and the engine, and decides nothing.
//!
//! A plain C ABI, which needs no generated code. A call with arguments that are not numbers finds them as JSON in the
//! request, for which [`request`] makes room; one with a result that is not a number leaves it as JSON in the reply, or
//! as a table in the columns. Both are valid until the next call. A run is known by a number.
//!
//! | module | holds |
//! |---|---|
//! | [`handles`] | what persists between calls: the buffers, the shipped scenarios and the runs |
//! | [`opening`] | a run from a request |
//! | [`table`] | columns and packets as numbers |
// JavaScript finds a function by its name, which therefore must not be mangled; elsewhere it would replace libc's.
#![cfg_attr(target_family = "wasm", allow(unsafe_code))]

pub mod handles;
pub mod opening;
pub mod table;

use aqm::unit::{Span, Time};
use handles::{Handles, note_failures, with_failure, with_handles};
use run::Column;
use serde::Serialize;
use serde_json::json;

/// Leaves a reply.
fn reply_with<T: Serialize>(find: impl FnOnce(&mut Handles) -> T) {
    with_handles(|handles| {
        let reply = find(handles);
        handles.answer(&reply);
    });
}

/// Leaves a table of a run: an empty one if it has none, or is closed.
fn tabulate(run: usize, find: impl FnOnce(&mut netsim::Run) -> Option<Vec<Column>>) {
    with_handles(|handles| {
        let columns = handles.run(run).and_then(find).unwrap_or_default();
        handles.tabulate(columns);
    });
}

/// Makes room for a request of `length` bytes of UTF-8, and returns where they go.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn request(length: usize) -> *mut u8 {
    with_handles(|handles| {
        handles.request.clear();
        handles.request.resize(length, 0);
        handles.request.as_mut_ptr()
    })
}

/// Where the reply begins.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn reply() -> *const u8 {
    with_handles(|handles| handles.reply.as_ptr())
}

/// The length of the reply in bytes.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn reply_length() -> usize {
    with_handles(|handles| handles.reply.len())
}

/// Where the numbers of the table begin: column by column.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn numbers() -> *const f64 {
    with_handles(|handles| handles.numbers.as_ptr())
}

/// How many numbers the table has.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn numbers_length() -> usize {
    with_handles(|handles| handles.numbers.len())
}

/// Every algorithm, TCP, kind of traffic, table, metric and distribution, and the version.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn describe() {
    reply_with(|_| {
        let mut description = scenario::catalogue();
        description["metrics"] = json!(run::metrics());
        description["distributions"] = json!(run::distributions());
        description["schema"] = scenario::schema();
        description["version"] = json!(env!("CARGO_PKG_VERSION"));
        description
    });
}

/// Where the reason begins for which the engine failed, if it did: then nothing else can be called any more.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn failure() -> *const u8 {
    with_failure(str::as_ptr)
}

/// The length of that in bytes.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn failure_length() -> usize {
    with_failure(str::len)
}

/// Takes the texts of the shipped scenarios, by their names, from the request: the first call.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn ship() {
    note_failures();
    reply_with(opening::ship);
}

/// Checks a scenario: see [`opening::Opening`].
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn check() {
    reply_with(|handles| opening::check(handles));
}

/// Opens a run: see [`opening::Opening`].
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn open() {
    reply_with(opening::open);
}

/// Makes a live run follow the scenario in the request from now on: see [`opening::follow`].
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn follow(run: usize) {
    reply_with(|handles| opening::follow(handles, run));
}

/// Advances a run up to and including `until`, in s; returns whether it is over.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn advance(run: usize, until: f64) -> bool {
    with_handles(|handles| {
        handles.run(run).is_some_and(|run| {
            run.advance(Time::ZERO + Span::from_secs(until), run::Watch::default);
            run.finished()
        })
    })
}

/// The simulated time of the last event, in s.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn now(run: usize) -> f64 {
    with_handles(|handles| handles.run(run).map_or(f64::NAN, |run| run.now().secs()))
}

/// The observed link so far, the payload bytes delivered, and the signals of its algorithm: `null` before the first
/// advance.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn glance(run: usize) {
    reply_with(|handles| {
        let run = handles.run(run)?;
        let mut glance = json!(run.glance()?);
        glance["delivered"] = json!(run.delivered());
        glance["signals"] = json!(run.signals());
        Some(glance)
    });
}

/// The bits that the observed link could send in an interval of the time so far, whose ends are in s.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn capacity(run: usize, from: f64, to: f64) -> f64 {
    let time = |t| Time::ZERO + Span::from_secs(t);
    with_handles(|handles| handles.run(run).map_or(f64::NAN, |run| run.capacity(time(from), time(to))))
}

/// The results of a run that is over, as `aqmlab run --json` has them for each seed; `null` before.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn results(run: usize) {
    reply_with(|handles| handles.run(run)?.results());
}

/// The recorded series as a table, once; its columns' names in the reply.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn series(run: usize) {
    tabulate(run, netsim::Run::take_columns);
}

/// The flows of a run that is over as a table, if the scenario records them.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn flows(run: usize) {
    tabulate(run, |run| Some(netsim::FlowRow::columns(&run.flows())));
}

/// The sampled congestion windows as a table, if the scenario records them.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn cwnd(run: usize) {
    tabulate(run, |run| Some(netsim::WindowSample::columns(run.windows())));
}

/// The flows that have begun and are not over as a table.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn senders(run: usize) {
    tabulate(run, |run| Some(netsim::SenderNow::columns(&run.senders())));
}

/// The packets that wait at the observed link as a table.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn waiting(run: usize) {
    tabulate(run, |run| Some(table::of_waiting(&run.waiting())));
}

/// The packets that links sent and lost since the last call as a table, if the run taps them.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn packets(run: usize) {
    tabulate(run, |run| Some(table::of_packets(&run.seen(run.now()))));
}

/// Ends a run and frees its memory.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn close(run: usize) {
    with_handles(|handles| handles.close(run));
}
