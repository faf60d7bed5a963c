//! Stacks in shared libraries, with the functions of `aqmlab_stack.h`.
// What a library does cannot be checked: it is trusted as the program itself is.
#![allow(unsafe_code)]

use aqm::unit::{Span, Time};
use libloading::{Library, Symbol};
use netsim::stack::{Codepoint, Datagram, Stack, State, Wanted};
use scenario::model::{self, Ecn};
use std::collections::HashMap;
use std::error::Error as _;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// `AQMLAB_STACK_VERSION`.
const VERSION: u32 = 1;
/// `AQMLAB_NEVER`.
const NEVER: u64 = u64::MAX;
/// The longest text of a problem, with its zero.
const ROOM: usize = 300;

/// `aqmlab_wanted`.
#[repr(C)]
struct WantedInC {
    size: u64,
    options: *const c_char,
    payload: u32,
    sends: u32,
    seed: [u8; 32],
}

/// `aqmlab_state`.
#[repr(C)]
#[derive(Default)]
struct StateInC {
    delivered: u64,
    lost: u64,
    window: u64,
    threshold: u64,
    smoothed_rtt: u64,
    complete: u32,
}

type Send = extern "C" fn(*mut c_void, *const u8, usize, c_int);

/// `aqmlab_stack_functions`. None of them may be null, but C may leave them so.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    version: u32,
    make: Option<unsafe extern "C" fn(*const WantedInC, *mut c_char, usize) -> *mut c_void>,
    recv: Option<unsafe extern "C" fn(*mut c_void, u64, *const u8, usize, c_int)>,
    poll: Option<unsafe extern "C" fn(*mut c_void, u64, Send, *mut c_void, *mut c_char, usize) -> c_int>,
    timeout: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    stop: Option<unsafe extern "C" fn(*mut c_void)>,
    state: Option<unsafe extern "C" fn(*mut c_void, *mut StateInC)>,
    round_trip: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    release: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// A library and the content of its file when it was loaded. None is ever unloaded.
type Loaded = (Arc<[u8]>, &'static Functions);

static LOADED: LazyLock<Mutex<HashMap<PathBuf, Loaded>>> = LazyLock::new(Mutex::default);

/// Loads the library in a file with this content.
pub(crate) fn load(file: &Path, content: &[u8]) -> Result<&'static Functions, String> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    match loaded.get(file) {
        Some((known, functions)) if **known == *content => Ok(functions),
        Some(_) => Err("changed since this process loaded it: start the process again".to_owned()),
        None => {
            let functions = functions(file)?;
            loaded.insert(file.to_owned(), (content.into(), functions));
            Ok(functions)
        }
    }
}

fn functions(file: &Path) -> Result<&'static Functions, String> {
    // SAFETY: the library is trusted.
    let library = unsafe { Library::new(file) };
    let reason =
        |error: libloading::Error| error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let library = library.map_err(|error| format!("cannot be loaded: {}", reason(error)))?;
    let library = Box::leak(Box::new(library));
    // SAFETY: the header states the type.
    let exported: Result<Symbol<'_, unsafe extern "C" fn() -> *const Functions>, _> =
        unsafe { library.get(b"aqmlab_stack\0") };
    let exported =
        exported.map_err(|_| "it exports no function aqmlab_stack (see aqmlab_stack.h)".to_owned())?;
    // SAFETY: the header states that it returns a pointer to functions, which stay.
    let functions = unsafe { exported().as_ref() }.ok_or("its function aqmlab_stack returns null")?;
    if functions.version != VERSION {
        let theirs = functions.version;
        return Err(format!("it is for version {theirs} of aqmlab_stack.h, and this is version {VERSION}"));
    }
    let Functions { make, recv, poll, timeout, stop, state, release, .. } = functions;
    let missing = [
        ("make", make.is_none()),
        ("recv", recv.is_none()),
        ("poll", poll.is_none()),
        ("timeout", timeout.is_none()),
        ("stop", stop.is_none()),
        ("state", state.is_none()),
        ("release", release.is_none()),
    ];
    match missing.iter().find(|(_, is_missing)| *is_missing) {
        Some((name, _)) => Err(format!("its function {name} is null")),
        None => Ok(functions),
    }
}

/// A sentence that a library wrote.
fn sentence(text: &[u8; ROOM]) -> String {
    let length = text.iter().position(|&byte| byte == 0).unwrap_or(ROOM);
    let said = String::from_utf8_lossy(&text[..length]).trim().replace('\n', " ");
    if said.is_empty() { "it states no reason".to_owned() } else { said }
}

/// Both ends of a connection.
pub(crate) fn make(library: &model::Library, wanted: &Wanted<'_>) -> Result<[Box<dyn Stack>; 2], String> {
    let functions = load(Path::new(&library.file), &library.content)?;
    let options =
        CString::new(library.options.as_str()).map_err(|_| "its options have a zero byte".to_owned())?;
    let make = |sends| -> Result<Box<dyn Stack>, String> {
        let given = WantedInC {
            size: wanted.size.unwrap_or(NEVER),
            options: options.as_ptr(),
            payload: u32::from(wanted.payload),
            sends,
            seed: wanted.seed,
        };
        let mut problem = [0; ROOM];
        let make = functions.make.expect(COMPLETE);
        // SAFETY: as the header states it.
        let end = unsafe { make(&raw const given, problem.as_mut_ptr().cast(), ROOM) };
        let end = NonNull::new(end).ok_or_else(|| sentence(&problem))?;
        Ok(Box::new(End { functions, payload: wanted.payload.into(), end: Mutex::new(Pointer(end)) }))
    };
    Ok([make(1)?, make(0)?])
}

const COMPLETE: &str = "a library without this function is refused";

/// What a library returned as an end.
#[derive(Debug)]
struct Pointer(NonNull<c_void>);

// SAFETY: the header states that an end may be used by any thread, by one at a time.
unsafe impl std::marker::Send for Pointer {}

/// One end.
#[derive(Debug)]
struct End {
    functions: &'static Functions,
    payload: usize,
    end: Mutex<Pointer>,
}

impl End {
    fn with<T>(&self, call: impl FnOnce(*mut c_void) -> T) -> T {
        call(self.end.lock().unwrap_or_else(PoisonError::into_inner).0.as_ptr())
    }
}

/// The most datagrams of one poll.
const MOST_AT_ONCE: usize = 1 << 20;

/// The context of a poll: the datagrams so far, and the most bytes of one.
struct Sending<'a> {
    out: &'a mut Vec<Datagram>,
    most: usize,
}

/// Takes a datagram that an end sends. Of one that is too long one byte above the limit is taken, for which the run ends.
extern "C" fn send(context: *mut c_void, payload: *const u8, length: usize, ecn: c_int) {
    // SAFETY: the library hands back the context of `poll`.
    let Sending { out, most } = unsafe { &mut *context.cast::<Sending<'_>>() };
    let length = if payload.is_null() { 0 } else { length.min(*most + 1) };
    // SAFETY: the library states that there are at least so many bytes.
    let payload = if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(payload, length) } };
    let ecn = match ecn & 3 {
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::None,
    };
    // The run ends for one more.
    if out.len() <= MOST_AT_ONCE {
        out.push(Datagram { payload: payload.to_vec(), ecn });
    }
}

impl Stack for End {
    fn recv(&mut self, now: Time, datagram: &[u8], ecn: Codepoint) {
        let ecn = match ecn {
            Codepoint::NotEct => 0,
            Codepoint::Ect1 => 1,
            Codepoint::Ect0 => 2,
            Codepoint::Ce => 3,
        };
        let recv = self.functions.recv.expect(COMPLETE);
        // SAFETY: as the header states it; so are the calls below.
        self.with(|end| unsafe { recv(end, now.nanos(), datagram.as_ptr(), datagram.len(), ecn) });
    }

    fn poll(&mut self, now: Time, out: &mut Vec<Datagram>) -> Result<(), String> {
        let poll = self.functions.poll.expect(COMPLETE);
        let mut problem = [0; ROOM];
        let mut sending = Sending { out, most: self.payload };
        let (context, text) = (ptr::from_mut(&mut sending).cast(), problem.as_mut_ptr().cast());
        // SAFETY: see above.
        let status = self.with(|end| unsafe { poll(end, now.nanos(), send, context, text, ROOM) });
        match status {
            0 if out.len() > MOST_AT_ONCE => {
                Err(format!("it sends more than {MOST_AT_ONCE} datagrams at once"))
            }
            0 => Ok(()),
            _ => Err(sentence(&problem)),
        }
    }

    fn timeout(&mut self) -> Option<Time> {
        let timeout = self.functions.timeout.expect(COMPLETE);
        // SAFETY: see above.
        let at = self.with(|end| unsafe { timeout(end) });
        (at != NEVER).then(|| Time::from_nanos(at))
    }

    fn stop(&mut self) {
        let stop = self.functions.stop.expect(COMPLETE);
        // SAFETY: see above.
        self.with(|end| unsafe { stop(end) });
    }

    fn state(&self) -> State {
        let state = self.functions.state.expect(COMPLETE);
        let mut now = StateInC::default();
        // SAFETY: see above.
        self.with(|end| unsafe { state(end, &raw mut now) });
        State {
            delivered: now.delivered,
            complete: now.complete != 0,
            lost: now.lost,
            window: now.window,
            threshold: (now.threshold > 0).then_some(now.threshold),
            smoothed: (now.smoothed_rtt > 0).then(|| Span::ns(now.smoothed_rtt)),
        }
    }

    fn round_trip(&mut self) -> Option<Span> {
        let round_trip = self.functions.round_trip?;
        // SAFETY: see above.
        let took = self.with(|end| unsafe { round_trip(end) });
        (took != NEVER).then(|| Span::ns(took))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let release = self.functions.release.expect(COMPLETE);
        // SAFETY: see above; nobody uses it afterwards.
        self.with(|end| unsafe { release(end) });
    }
}
