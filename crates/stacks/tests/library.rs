//! Stacks in shared libraries: the example in C, and libraries that are none.

use crate::{download, results, run, scenario};
use netsim::stack::Broken;
use scenario::Document;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

/// The library that a source is compiled to.
fn compiled(name: &str, source: &Path) -> PathBuf {
    let library = env::current_exe().unwrap().with_file_name(format!("{name}.so"));
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/aqmlab/include");
    let mut command = Command::new("cc");
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"]).arg(include);
    let done = command.arg(source).arg("-o").arg(&library).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

/// The example.
static EXAMPLE: LazyLock<PathBuf> = LazyLock::new(|| {
    compiled("stack", &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/stack.c"))
});

/// A download by the example.
fn text(rate: &str, dumbbell: &str, keys: &str) -> String {
    download("stack", rate, dumbbell, &format!("file = {:?}\n{keys}", EXAMPLE.display()))
}

#[test]
fn the_example_fills_a_link_with_the_packets_of_its_window() {
    // Of 1500 bytes, 28 are of IP and UDP, and 16 are numbers.
    let full = 10e6 * 1456.0 / 1500.0;
    let first = text("10 Mbit/s", "buffer = \"50 packets\"", "");
    let totals = results(&first, 1).classes["x"].totals.clone();
    assert!((0.97..=1.001).contains(&(totals.goodput / full)), "{}", totals.goodput);
    assert!((2..20).contains(&totals.retransmits.unwrap()), "{:?}", totals.retransmits);
    // It halves its window of the path's 17 packets and the queue's 50, or keeps 90 %.
    let lowest = |text: &str| {
        run(text, 1).windows().iter().skip(40).map(|sample| sample.cwnd).fold(f64::MAX, f64::min)
    };
    let gentle = text("10 Mbit/s", "buffer = \"50 packets\"", "options = \"beta=0.9\"");
    let lows = [lowest(&first), lowest(&gentle)];
    assert!((30.0..38.0).contains(&lows[0]) && (56.0..64.0).contains(&lows[1]), "{lows:?}");
}

#[test]
fn all_bytes_arrive_once_over_a_link_that_loses() {
    let text = text("10 Mbit/s", "loss = 0.03", "size = \"1 MB\"\ncount = 3\nstart = \"uniform(0 s, 1 s)\"");
    let (first, second) = (run(&text, 1), run(&text, 1));
    assert!(first.flows().iter().all(|row| row.bytes == 1_000_000), "{:?}", first.flows());
    assert_eq!(first.results().unwrap().classes["x"].completed, Some(3));
    assert_eq!((first.windows(), first.flows()), (second.windows(), second.flows()));
}

#[test]
fn marks_reach_the_sender() {
    let marked = results(&text("10 Mbit/s", "[aqm]\nname = \"codel\"\necn = true", "ecn = \"ect0\""), 1);
    assert!(marked.metrics.link.traffic.marks > 5);
    assert_eq!(marked.classes["x"].totals.retransmits, Some(0));
    assert!(marked.metrics.link.traffic.queue_delay_p95.unwrap() < 0.03);
}

/// The reason why a run ends.
fn broken(text: &str) -> String {
    let run = AssertUnwindSafe(|| run(text, 1));
    catch_unwind(run).err().unwrap().downcast::<Broken>().unwrap().0
}

#[test]
fn what_a_library_refuses_is_told_in_its_words() {
    assert_eq!(
        broken(&text("1 Mbit/s", "", "options = \"alpha=1\"")),
        "traffic.x: its stack cannot begin: options: beta=B with 0 < B < 1 is all that it knows"
    );
}

/// A library with one function that does something else than the example.
fn variant(name: &str, line: &str, other: &str) -> PathBuf {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c/stack.c");
    let source = fs::read_to_string(example).unwrap();
    assert!(source.contains(line), "{line}");
    let file = env::current_exe().unwrap().with_file_name(format!("{name}.c"));
    fs::write(&file, source.replace(line, other)).unwrap();
    compiled(name, &file)
}

#[test]
fn a_library_that_breaks_its_contract_ends_its_run() {
    let of = |library: PathBuf| {
        broken(&download("stack", "10 Mbit/s", "loss = 0.5", &format!("file = {:?}", library.display())))
    };
    let sends = "send(to, payload, end->payload, AQMLAB_ECT0);";
    let large = variant("large", sends, "send(to, payload, end->payload + 1, AQMLAB_ECT0);");
    assert!(of(large).ends_with("it sends a datagram of 1473 B, and packet_size leaves room for 1472 B"));
    let endless = variant("endless", sends, "send(to, payload, (size_t)-1, AQMLAB_ECT0);");
    assert!(of(endless).contains("it sends a datagram of 1473 B"));
    let once = "    end->measured = AQMLAB_NEVER;\n    return";
    let again = variant("again", once, "    return");
    assert!(of(again).ends_with("it has always measured one more round trip"));
    let asks = "return ((struct end *)context)->timeout;";
    let past = variant("past", asks, "return ((struct end *)context)->timeout / 2;");
    assert!(of(past).contains("asks again and again to be woken at"));
    let never = variant("never", asks, "(void)context; return AQMLAB_NEVER;");
    assert!(of(never).ends_with("and the download is not complete"));
}

#[test]
fn a_file_that_is_no_stack_is_refused() {
    stacks::install();
    let folder = env::current_exe().unwrap().parent().unwrap().to_owned();
    fs::write(folder.join("text.so"), "no library").unwrap();
    fs::write(folder.join("other.c"), "int answer = 42;\n").unwrap();
    let other = compiled("other", &folder.join("other.c"));
    let old = variant("old", "AQMLAB_STACK_VERSION, make", "0, make");
    let null = variant("null", "state, round_trip, free", "state, round_trip, 0");
    for (file, expected) in [
        (folder.join("missing.so"), "no such file: "),
        (folder.join("text.so"), "cannot be loaded: "),
        (other, "it exports no function aqmlab_stack (see aqmlab_stack.h)"),
        (old, "it is for version 0 of aqmlab_stack.h, and this is version 1"),
        (null, "its function release is null"),
    ] {
        let text = download("stack", "1 Mbit/s", "", &format!("file = {:?}", file.display()));
        let problems = Document::parse(&text, "stack").unwrap().check().unwrap_err().to_string();
        assert!(problems.contains(expected), "{problems}");
    }
    let text = download("stack", "1 Mbit/s", "", "");
    let problems = Document::parse(&text, "stack").unwrap().check().unwrap_err().to_string();
    assert!(problems.contains("a stack needs a file"), "{problems}");
}

#[test]
fn a_library_that_has_changed_is_not_taken_for_the_new_one() {
    let library = variant("changing", "AQMLAB_STACK_VERSION, make", "1, make");
    let text = download("stack", "1 Mbit/s", "", &format!("file = {:?}", library.display()));
    scenario(&text);
    fs::remove_file(&library).unwrap();
    variant("changing", "double beta = 0.5;", "double beta = 0.6;");
    let problems = Document::parse(&text, "stack").unwrap().check().unwrap_err().to_string();
    assert!(problems.contains("changed since this process loaded it"), "{problems}");
}

#[test]
fn a_thread_that_is_confined_loads_no_library_from_elsewhere() {
    let text = text("1 Mbit/s", "", "");
    scenario(&text);
    let before = scenario::confine(vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")]);
    let problems = Document::parse(&text, "stack").unwrap().check().unwrap_err().to_string();
    scenario::confine(before);
    assert!(problems.contains("not in the archive: not read"), "{problems}");
}
