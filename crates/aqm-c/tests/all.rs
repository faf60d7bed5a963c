//! The library as C sees it: its header, its examples, and any call that C can make.

// Calls of C's functions are unsafe.
#![allow(unsafe_code)]

use aqm_c::*;
use proptest::prelude::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, ptr};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

macro_rules! layouts {
    ($($name:ident { $($field:ident)* })*) => {
        [$((stringify!($name), size_of::<$name>(), vec![$((stringify!($field), offset_of!($name, $field))),*])),*]
    };
}

#[test]
fn the_header_has_the_structures_of_the_library() {
    let layouts = layouts! {
        aqm_port { rate delay packets packet bytes }
        aqm_header { flow size source destination ecn dscp service udp }
        aqm_caller { context drop random }
        aqm_counts { arrivals departures drops_early drops_full marks }
    };
    let mut text = "#include <aqm.h>\n".to_owned();
    for (name, size, fields) in layouts {
        text += &format!("_Static_assert(sizeof({name}) == {size}, \"{name}\");\n");
        for (field, offset) in fields {
            text += &format!("_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");\n");
        }
    }
    let file = env::current_exe().unwrap().with_extension("c");
    fs::write(&file, text).unwrap();
    let include = Path::new(FOLDER).join("include");
    let compiled = Command::new("cc").args(["-fsyntax-only", "-I"]).arg(include).arg(&file).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

#[test]
fn the_header_has_the_functions_of_the_library() {
    let read = |file: &str| fs::read_to_string(Path::new(FOLDER).join(file)).unwrap();
    let (source, header) = (read("src/lib.rs"), read("include/aqm.h"));
    let defined = source.match_indices("extern \"C\" fn aqm_").count();
    let called = source
        .split("extern \"C\" fn ")
        .skip(1)
        .filter_map(|rest| rest.split_once('('))
        .map(|(name, _)| name);
    let called: Vec<&str> = called.filter(|name| name.starts_with("aqm_")).collect();
    assert_eq!(called.len(), defined);
    for name in &called {
        assert!(header.contains(&format!("{name}(")), "{name}");
    }
    let declared = header.lines().filter(|line| line.contains(" aqm_") || line.contains("*aqm_"));
    assert_eq!(declared.filter(|line| line.contains('(') && !line.starts_with("//")).count(), called.len());
}

/// Compiles an example, links it with the static library, and runs it.
fn run(compiler: &str, source: &str, arguments: &[&str]) -> String {
    let tests = env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = tests.join(source.replace('.', "-"));
    let compiled = Command::new(compiler)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(Path::new(FOLDER).join("include"))
        .arg("-o")
        .arg(&program)
        .arg(Path::new(FOLDER).join("../../examples/c").join(source))
        .arg::<PathBuf>(tests.join("libaqm_c.a"))
        .args(["-lpthread", "-ldl", "-lm"])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(program).args(arguments).output().unwrap();
    assert!(
        ran.status.success(),
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn the_example_in_c_keeps_the_delay_short() {
    let shown = run("cc", "codel.c", &[]);
    let numbers: Vec<f64> =
        shown.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|x| x.parse().ok()).collect();
    let [sent, dropped, wait] = numbers[..] else { panic!("{shown}") };
    assert_eq!(sent + dropped, 20_000.0, "{shown}");
    assert!(dropped > 100.0 && wait > 1.0 && wait < 40.0, "{shown}");
}

#[test]
fn the_example_in_cpp_serves_two_flows_alike() {
    let shown = run("c++", "queue.cc", &[]);
    let shares: Vec<f64> = shown.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse().ok()).collect();
    let [heavy, light] = shares[..] else { panic!("{shown}") };
    assert!((heavy - light).abs() < 0.02 * light, "{shown}");
}

#[test]
fn the_cost_is_measured_for_every_algorithm_named() {
    let shown = run("cc", "cost.c", &["1000", "codel", "fq_codel", "cake"]);
    assert_eq!(shown.lines().count(), 3, "{shown}");
}

/// Makes a queue, or returns the message.
fn make(text: &str, port: aqm_port, caller: *const aqm_caller) -> Result<*mut aqm_queue, String> {
    let text = CString::new(text).unwrap();
    let mut message: [c_char; 100] = [1; 100];
    // SAFETY: the pointers are to what the function expects.
    unsafe {
        let queue = aqm_new(text.as_ptr(), &raw const port, 1, caller, message.as_mut_ptr(), message.len());
        if queue.is_null() {
            Err(CStr::from_ptr(message.as_ptr()).to_str().unwrap().to_owned())
        } else {
            Ok(queue)
        }
    }
}

const PORT: aqm_port = aqm_port { rate: 10_000_000, delay: 0, packets: 100, packet: 0, bytes: 0 };

#[test]
fn a_queue_that_cannot_be_has_a_reason() {
    let error = |text, port| make(text, port, ptr::null()).unwrap_err();
    let short = error("codel:target=5", PORT);
    assert!(short.starts_with("target = 5: must be a quantity like \"2.5 ms\" in "), "{short}");
    assert_eq!(error("codel", aqm_port { rate: 0, ..PORT }), "rate = 0 bit/s: must be more than 0 bit/s");
    let endless = error("codel", aqm_port { packets: 0, ..PORT });
    assert_eq!(endless, "packets = 0, bytes = 0: one of them must be more than 0, or no packet may wait");
    for unknown in ["cake:ack_filter=on", "tbf:rate=1 Mbit/s,aqm={name=cake,ack_filter=aggressive}"] {
        let refused = error(unknown, PORT);
        assert!(refused.starts_with("ack_filter: must be off, as aqm_header does not"), "{refused}");
    }
    let long = error("cödel", PORT);
    assert!(long.len() == 99 && long.starts_with("aqm = cödel: must be one of droptail"), "{long}");
    // SAFETY: null is allowed.
    unsafe {
        assert!(aqm_new(ptr::null(), ptr::null(), 1, ptr::null(), ptr::null_mut(), 0).is_null());
        aqm_free(ptr::null_mut());
    }
}

#[test]
fn every_algorithm_has_a_name() {
    let mut name: [c_char; 32] = [1; 32];
    let mut number = 0;
    // SAFETY: there is room for 32 bytes.
    while unsafe { aqm_name(number, name.as_mut_ptr(), name.len()) } {
        // SAFETY: the name ends with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().unwrap();
        assert_eq!(name, aqm::aqm::NAMES[number]);
        // SAFETY: the queue is used no more.
        unsafe { aqm_free(make(name, PORT, ptr::null()).unwrap()) };
        number += 1;
    }
    assert_eq!(number, aqm::aqm::NAMES.len());
}

#[test]
fn a_shaper_says_when_to_ask_again_and_how_much_waits() {
    let queue = make("tbf:rate=1 Mbit/s,burst=1500 B", PORT, ptr::null()).unwrap();
    let state = || unsafe { (aqm_packets(queue), aqm_bytes(queue), aqm_paused_until(queue)) };
    // SAFETY: queue and header are valid.
    unsafe {
        for (number, size) in [(1, 1500), (2, 1000)] {
            let header = aqm_header { size, ..aqm_header::default() };
            assert!(aqm_enqueue(queue, 5_000_000, &raw const header, ptr::without_provenance_mut(number)));
        }
        assert_eq!(state(), (2, 2500, 0));
        assert_eq!(aqm_dequeue(queue, 5_000_000, ptr::null_mut()).addr(), 1);
        assert!(aqm_dequeue(queue, 5_000_000, ptr::null_mut()).is_null());
        let (packets, bytes, until) = state();
        assert_eq!((packets, bytes), (1, 1000));
        // 1000 bytes at 1 Mbit/s are 8 ms.
        assert!((12_900_000..13_100_000).contains(&until), "{until}");
        assert_eq!(aqm_dequeue(queue, until, ptr::null_mut()).addr(), 2);
        assert_eq!(state(), (0, 0, 0));
        aqm_free(queue);
    }
}

/// The caller of a queue, who is the context of its functions.
struct Host {
    /// The size of each packet, and how often it has come back. A packet's pointer is its number plus 1.
    packets: Vec<(u32, u32)>,
    /// The random number, always the same.
    draw: f64,
}

impl Host {
    fn take(&mut self, packet: *mut c_void) {
        self.packets[packet.addr() - 1].1 += 1;
    }
}

unsafe extern "C" fn drop_one(context: *mut c_void, packet: *mut c_void, _full: bool) {
    // SAFETY: the context is the host of the test below.
    unsafe { &mut *context.cast::<Host>() }.take(packet);
}

unsafe extern "C" fn draw(context: *mut c_void) -> f64 {
    // SAFETY: as above.
    unsafe { &*context.cast::<Host>() }.draw
}

/// A port with a limit in packets or in bytes.
fn any_port() -> impl Strategy<Value = aqm_port> {
    let limits = prop_oneof![(1..200_u32, Just(0)), (Just(0), 1..1_000_000_u64)];
    (1..1_000_000_000_000_u64, any::<u32>(), 0..9000_u32, limits).prop_map(
        |(rate, delay, packet, (packets, bytes))| aqm_port {
            rate,
            delay: delay.into(),
            packets,
            packet,
            bytes,
        },
    )
}

proptest! {
    #[test]
    fn any_calls_hand_each_packet_back_once(
        algorithm in 0..aqm::aqm::NAMES.len(),
        steps in prop::collection::vec((any::<u8>(), any::<u32>(), any::<[u32; 6]>()), 0..200),
        port in any_port(),
        number in prop::option::of(prop::sample::select(vec![0.5, 1.0, -1.0, f64::NAN])),
    ) {
        let mut kept = Host { packets: Vec::new(), draw: number.unwrap_or_default() };
        let host = &raw mut kept;
        let random = number.map(|_| draw as unsafe extern "C" fn(*mut c_void) -> f64);
        let caller = aqm_caller { context: host.cast(), drop: Some(drop_one), random };
        let queue = make(aqm::aqm::NAMES[algorithm], port, &raw const caller).unwrap();
        let mut now = 0_u64;
        for (kind, gap, [flow, size, source, destination, bits, far]) in steps {
            now = if kind == 255 { u64::from(far) << 32 } else { now.wrapping_add(u64::from(gap)) };
            // SAFETY: queue, header and host are valid, and the host is used by one call at a time.
            unsafe {
                let mut held_back = false;
                if kind % 3 < 2 {
                    let [ecn, dscp, service, other] = bits.to_le_bytes();
                    let (flow, size, udp) = (u64::from(flow % 9), size % 3000, other & 1 == 1);
                    let header = aqm_header { flow, size, source, destination, ecn, dscp, service, udp };
                    (&mut *host).packets.push((size, 0));
                    let number = (&*host).packets.len();
                    aqm_enqueue(queue, now, &raw const header, ptr::without_provenance_mut(number));
                } else {
                    let mut ecn = 9;
                    let packet = aqm_dequeue(queue, now, &raw mut ecn);
                    held_back = packet.is_null() && aqm_packets(queue) > 0;
                    if !packet.is_null() {
                        prop_assert!(ecn < 4);
                        (&mut *host).take(packet);
                    }
                }
                let waiting = (&*host).packets.iter().filter(|(_, returned)| *returned == 0);
                let (packets, bytes) = waiting.fold((0, 0), |(n, sum), (size, _)| (n + 1, sum + u64::from(*size)));
                prop_assert_eq!((packets, bytes), (aqm_packets(queue), aqm_bytes(queue)));
                prop_assert!(!held_back || aqm_paused_until(queue) > 0);
            }
        }
        // SAFETY: the queue is used no more afterwards.
        unsafe {
            let counts = aqm_count(queue);
            prop_assert_eq!(counts.arrivals as usize, (&*host).packets.len());
            aqm_free(queue);
        }
        prop_assert!(kept.packets.iter().all(|(_, returned)| *returned == 1));
    }
}
