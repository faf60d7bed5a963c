//! Input that is made to break a reader: as deeply nested as possible, or not a regular file.

use aqm::params::Value;
use scenario::{DEEPEST, Document};
use std::path::{Path, PathBuf};

const GOOD: &str = "[dumbbell]\n[[traffic]]\nname = \"long\"\nkind = \"ftp\"\n";
const TOO_DEEP: &str = "nested too deep: must lie in 64 tables and lists at most";

fn good() -> Document {
    Document::parse(GOOD, "x.toml").unwrap()
}

fn message(text: &str) -> String {
    match Document::parse(text, "x.toml") {
        Ok(document) => document.check().map_or_else(|problems| problems.to_string(), |_| "fine".to_owned()),
        Err(problems) => problems.to_string(),
    }
}

/// A dotted path.
fn path(keys: usize) -> String {
    vec!["a"; keys].join(".")
}

/// `inside`, nested in this many lists.
fn lists(depth: usize, inside: &str) -> String {
    format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn a_path_may_have_the_number_of_keys_of_the_limit() {
    let set = |path: &str, text: &str| good().set_text(path, text).map_err(|problem| problem.to_string());
    assert_eq!(set(&path(DEEPEST), "1"), Ok(()));
    let shown = format!("{}…", &path(12_000)[..200]);
    assert_eq!(set(&path(12_000), "1"), Err(format!("--set {shown}: {shown}: {TOO_DEEP}")));
    assert_eq!(set(&path(DEEPEST), "[]"), Ok(()), "there is nothing in the list");
    assert!(set(&path(DEEPEST), "[1]").unwrap_err().ends_with(TOO_DEEP));
    // A value that is too deep for TOML is not taken as text.
    for deep in [70, 12_000] {
        assert!(set("title", &lists(deep, "")).unwrap_err().contains(": title: nested too deep"));
        let problem = good().set_aqm(&format!("fq:aqm={}", lists(deep, ""))).unwrap_err().to_string();
        assert!(problem.ends_with(&format!(": aqm.aqm: {TOO_DEEP}")), "{problem}");
        let text = message(&format!("aqm = \"fq:aqm={}\"\n{GOOD}", lists(deep, "")));
        assert_eq!(text, format!("x.toml:1: aqm.aqm: {TOO_DEEP}"));
    }
    let number = Value::Integer(1);
    assert!(good().set(&path(DEEPEST + 1), number).unwrap_err().to_string().ends_with(TOO_DEEP));
}

#[test]
fn a_file_is_refused_where_it_is_too_deep() {
    let tables = (0..70).fold("1".to_owned(), |inside, _| format!("{{ {} = {inside} }}", path(79)));
    for (line, key) in [
        (format!("x = {}", lists(DEEPEST, "1")), "x"),
        (format!("x = {}", lists(12_000, "1")), ""),
        (format!("{} = 1", path(DEEPEST + 1)), &*path(DEEPEST + 1)),
        (format!("{} = 1", path(12_000)), ""),
        (format!("[{}]", path(12_000)), ""),
        (format!("[[{}]]", path(12_000)), ""),
        // The parser's own limit applies to each of them, not to both together.
        (format!("x = {tables}"), &*format!("x.{}", path(DEEPEST))),
    ] {
        let at = if key.is_empty() { String::new() } else { format!("{key}: ") };
        assert_eq!(message(&format!("{line}\n{GOOD}")), format!("x.toml:1: {at}{TOO_DEEP}"));
    }
    // Dots in a comment or a text are not part of a key.
    let dots = ".".repeat(100);
    let before = format!("# {dots}\ntitle = \"{dots} = ]\" # {dots} = 1\n");
    let deep = message(&format!("{before}{} = 1 # {dots}\n", path(12_000)));
    assert_eq!(deep, format!("x.toml:3: {TOO_DEEP}"));
    let whole = |depth| message(&format!("x = {}\n{GOOD}", lists(depth, "1")));
    assert!(whole(DEEPEST - 1).starts_with("x.toml:1: x: unknown key"), "{}", whole(DEEPEST - 1));
    let vary = message(&format!("{GOOD}[sweep.vary]\n\"{}\" = 1\n", path(12_000)));
    assert!(vary.starts_with("x.toml:6: sweep.vary.a.a") && vary.ends_with(TOO_DEEP), "{vary}");
}

#[test]
fn written_scenarios_can_be_read_again() {
    let mut deep = good();
    deep.set_text(&path(30), &lists(DEEPEST - 30, "1")).unwrap();
    assert!(Document::parse(&deep.to_toml(), "x.toml").is_ok());
    assert!(deep.set_aqm(&format!("fq:aqm={}", lists(DEEPEST - 1, "1"))).is_err());
    deep.set_aqm(&format!("fq:aqm={}", lists(DEEPEST - 2, "1"))).unwrap();
    assert!(Document::parse(&deep.to_toml(), "x.toml").is_ok());
}

#[test]
fn inner_algorithms_have_the_same_limit() {
    let mut deep = good();
    deep.set_aqm(&format!("{}codel", "fq:aqm=".repeat(20_000))).unwrap();
    assert!(deep.check().unwrap_err().to_string().contains(TOO_DEEP));
}

/// A path at which there is no file yet.
fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read_and_nothing_is_waited_for() {
    let pipe = place("hostile.pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let socket = place("hostile.socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, kind) in [
        (&*pipe, "a pipe"),
        (&*socket, "a socket"),
        (Path::new("/dev/zero"), "a device"),
        (Path::new("/"), "a folder"),
    ] {
        let problem = format!("{kind}, must be a regular file");
        let name = path.display().to_string();
        assert_eq!(Document::load(path).unwrap_err().to_string(), format!("{name}: {problem}"));
        let trace = GOOD.replace("\"ftp\"", &format!("\"trace\"\nfile = {name:?}"));
        assert_eq!(message(&trace), format!("x.toml:5: traffic.long.file = {name:?}: {problem}"));
    }
}

#[test]
fn a_scenario_has_a_greatest_length() {
    let long = GOOD.to_owned() + &"#".repeat(16 << 20);
    let problem = "more than 16 MiB: no scenario is as long; recorded packets are a trace's `file`";
    assert_eq!(message(&long), format!("x.toml: {problem}"));
    let file = place("hostile.toml");
    std::fs::write(&file, &long).unwrap();
    assert_eq!(Document::load(&file).unwrap_err().to_string(), format!("{}: {problem}", file.display()));
    let set = "a".repeat((16 << 20) + 1);
    for refused in [
        good().set("title", Value::Text(set.clone())),
        good().set("title", Value::List(vec![Value::Text(set.clone())])),
        good().set_text("title", &set),
        good().set_aqm(&format!("fq:aqm={set}")),
    ] {
        assert!(refused.unwrap_err().to_string().ends_with(problem));
    }
    std::fs::write(&file, &long[..16 << 20]).unwrap();
    assert!(Document::load(&file).is_ok());
    let trace = place("hostile.csv");
    std::fs::File::create(&trace).unwrap().set_len((64 << 20) + 1).unwrap();
    let found =
        message(&GOOD.replace("\"ftp\"", &format!("\"trace\"\nfile = {:?}", trace.display().to_string())));
    assert!(
        found.ends_with("more than 64 MiB: cut off the payload (editcap -s 64), or make it CSV"),
        "{found}"
    );
}
