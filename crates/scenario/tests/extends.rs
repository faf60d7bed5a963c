//! Files that extend others: what becomes of their keys, where problems are found, and which files are refused.

use scenario::{Change, Document, Library};
use std::fs;
use std::path::{Path, PathBuf};

const BASE: &str = "\
title = 'base'
duration = '30 s'
[dumbbell]
rate = '10 Mbit/s'
delay = '5 ms'
sender_delay = ['1 ms', '2 ms']
[aqm]
name = 'pi'
q0 = 60
w = '100 Hz'
[[traffic]]
name = 'long'
count = 5
tcp = 'ns2.35:flavour=reno,min_rto=1 s'
[[traffic]]
name = 'udp'
kind = 'cbr'
rate = '1 Mbit/s'
[sweep]
aqm = 'pi'
[sweep.vary]
seed = [1, 2]
'aqm.q_ref' = '20,40..80'
";

/// A folder of this name with these files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extends").join(name);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn loaded(folder: &Path) -> Document {
    Document::load(&folder.join("own.toml")).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The scenario that extends `BASE` with these lines.
fn over(name: &str, own: &str) -> Document {
    loaded(&folder(name, &[("base.toml", BASE), ("own.toml", &format!("extends = 'base.toml'\n{own}"))]))
}

/// Asserts that `document` is `text`.
fn assert_is(document: &Document, text: &str) {
    let plain = Document::parse(text, "plain.toml").unwrap();
    assert_eq!(document.resolve().unwrap(), plain.resolve().unwrap());
    assert_eq!(document.sweep().unwrap().is_some(), plain.sweep().unwrap().is_some());
    // A copy of it extends nothing.
    let copy = Document::parse(&document.to_toml(), "copy.toml").unwrap();
    assert_eq!(copy.resolve().unwrap(), plain.resolve().unwrap());
}

/// `BASE` with other texts in it.
fn base_with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(BASE.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    })
}

/// The problems of the files in `folder`, whose path they leave out.
fn problems(folder: &Path) -> String {
    let problems = match Document::load(&folder.join("own.toml")) {
        Ok(document) => document.check().unwrap_err(),
        Err(problems) => problems,
    };
    problems.to_string().replace(&format!("{}/", folder.display()), "")
}

#[test]
fn a_file_alone_is_the_one_that_it_extends() {
    assert_is(&over("alone", ""), BASE);
}

#[test]
fn tables_are_merged_and_values_and_lists_replaced() {
    let own =
        "title = 'own'\n[dumbbell]\nsender_delay = ['3 ms']\nbuffer = '50 packets'\n[record]\nstep = '1 s'\n";
    let whole = [
        ("title = 'base'", "title = 'own'\nrecord = { step = '1 s' }"),
        ("['1 ms', '2 ms']", "['3 ms']\nbuffer = '50 packets'"),
    ];
    assert_is(&over("tables", own), &base_with(&whole));
}

#[test]
fn entries_are_merged_by_name_and_new_ones_follow() {
    let own = "traffic = [{ name = 'more' }, { name = 'udp', rate = '2 Mbit/s' }, { count = 2 }]";
    let whole = [
        ("1 Mbit/s", "2 Mbit/s"),
        ("[sweep]", "[[traffic]]\nname = 'more'\n[[traffic]]\ncount = 2\n[sweep]"),
    ];
    assert_is(&over("entries", own), &base_with(&whole));
    let text = "[[link]]\nfrom = 'a'\nto = 'b'\naqm = 'red'\n[[traffic]]\nfrom = 'a'\nto = 'b'\n";
    let own = "extends = 'base.toml'\nlink = [{ from = 'a', to = 'b', delay = '7 ms' }]";
    let links = folder("links", &[("base.toml", text), ("own.toml", own)]);
    assert_is(&loaded(&links), &text.replacen("to = 'b'", "to = 'b'\ndelay = '7 ms'", 1));
}

#[test]
fn a_parameter_of_tcp_is_replaced_by_whatever_name() {
    let base = "[dumbbell]\n[[traffic]]\nname = 'long'\ntcp = 'linux:reno_friendly=false'";
    let own = "extends = 'base.toml'\ntraffic = [{ name = 'long', tcp = { tcp_friendly = true } }]";
    let own = folder("friendly", &[("base.toml", base), ("own.toml", own)]);
    assert_is(&loaded(&own), &base.replace("false", "true"));
}

#[test]
fn an_algorithm_is_merged_with_the_same_one_and_keeps_the_target_of_another() {
    for (i, same) in
        ["[aqm]\nname = 'pi'\nq_ref = 40", "[aqm]\nq_ref = 40", "aqm = 'pi:q_ref=40'"].iter().enumerate()
    {
        assert_is(&over(&format!("same{i}"), same), &base_with(&[("q0 = 60", "q0 = 40")]));
    }
    for (i, other) in ["[aqm]\nname = 'rem'\ngamma = 0.01", "aqm = 'rem:gamma=0.01'"].iter().enumerate() {
        let whole =
            base_with(&[("name = 'pi'\nq0 = 60\nw = '100 Hz'", "name = 'rem'\nq0 = 60\ngamma = 0.01")]);
        assert_is(&over(&format!("other{i}"), other), &whole);
    }
    let own = "extends = 'base.toml'\n[aqm.aqm]\ntarget = '9 ms'\n[reverse_aqm.aqm]\nname = 'pi'";
    let base = "reverse_aqm = 'fq:aqm=lred'\n[aqm]\nname = 'fq'\naqm = 'codel:interval=70 ms'\n[dumbbell]\n[[traffic]]\n";
    let inner = folder("inner", &[("base.toml", base), ("own.toml", own)]);
    let whole = base
        .replace("codel:interval=70 ms", "codel:interval=70 ms,target=9 ms")
        .replace("aqm=lred", "aqm=pi");
    assert_is(&loaded(&inner), &whole);
}

#[test]
fn a_tcp_as_a_text_replaces_and_as_a_table_is_merged() {
    let tcp = |own: &str| format!("[[traffic]]\nname = 'long'\ntcp = {own}");
    assert_is(&over("text", &tcp("'cubic'")), &base_with(&[("ns2.35:flavour=reno,min_rto=1 s", "cubic")]));
    let whole = base_with(&[("flavour=reno", "flavour=sack")]);
    assert_is(&over("table", &tcp("{ flavour = 'sack' }")), &whole);
}

#[test]
fn a_sweep_is_merged_parameter_by_parameter() {
    let own = over("sweep", "[sweep]\naqm = ['rem', 'pi']\nseeds = 3\n[sweep.vary]\n'aqm.q_ref' = [30]");
    let said = own.sweep().unwrap().unwrap();
    let vary: Vec<_> = said["vary"].as_array().unwrap().iter().map(|one| one["value"].to_string()).collect();
    assert_eq!(vary, ["[1,2]", "[30]"]);
    assert_eq!((said["aqm"].to_string(), said["seeds"].to_string()), ("[\"rem\",\"pi\"]".into(), "3".into()));
    assert!(over("text-sweep", "sweep = { aqm = 'rem' }").sweep().unwrap().unwrap()["aqm"][0] == "rem");
}

#[test]
fn a_problem_names_the_line_of_the_file_that_says_it() {
    let refused = |name: &str, own: &str| {
        over(name, own);
        problems(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("extends").join(name))
    };
    let line = refused("own-line", "[dumbbell]\ndelay = 3");
    assert!(line.starts_with("own.toml:3: dumbbell.delay = 3: must be a quantity"), "{line}");
    // A key of the old kind, where it stands; and what the file itself says, in the order of the files.
    let kind = refused("kind", "colour = 1\n[[traffic]]\nname = 'udp'\nkind = 'ftp'");
    let lines: Vec<_> =
        kind.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(": ")).collect();
    assert_eq!(lines, ["base.toml:18: traffic.udp.rate = \"1 Mbit/s\"", "own.toml:2: colour"], "{kind}");
}

#[test]
fn a_chain_says_what_each_file_changes() {
    let middle = "extends = '../base.toml'\naqm = 'rem'\nseed = 5\n";
    let own = "extends = 'mid/middle.toml'\n[[traffic]]\nname = 'long'\ncount = 9\nstop = '7 s'\n";
    let chain = folder("chain", &[("base.toml", BASE), ("mid/middle.toml", middle), ("own.toml", own)]);
    let extension = loaded(&chain).extension().unwrap();
    let names: Vec<_> = extension.files.iter().map(|name| name.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["middle.toml", "base.toml"]);
    let change = |path: &str, old: Option<&str>, new: Option<&str>| Change {
        path: path.into(),
        old: old.map(str::to_owned),
        new: new.map(str::to_owned),
    };
    let long = [
        change("traffic.long.count", Some("5"), Some("9")),
        change("traffic.long.stop", None, Some("\"7 s\"")),
    ];
    assert_eq!(extension.changes, long);
    let middle = Document::load(&chain.join("mid/middle.toml")).unwrap();
    let of_middle = [
        change("aqm.name", Some("\"pi\""), Some("\"rem\"")),
        change("aqm.b_star", None, Some("60")),
        change("seed", None, Some("5")),
        change("aqm.q0", Some("60"), None),
        change("aqm.w", Some("\"100 Hz\""), None),
    ];
    let found = middle.extension().unwrap().changes;
    assert!(found.len() == 5 && of_middle.iter().all(|change| found.contains(change)), "{found:?}");
    assert_eq!(over("plain", "").extension().unwrap().changes, []);
    assert_eq!(Document::parse(BASE, "x.toml").unwrap().extension(), None);
}

#[test]
fn a_trace_is_found_beside_the_file_that_names_it() {
    let base = "[dumbbell]\n[[traffic]]\nname = 'trace'\nkind = 'trace'\nfile = 'packets.csv'\n";
    let own = "extends = 'below/base.toml'\n[[traffic]]\nname = 'trace'\ncount = 2\n";
    let files =
        [("below/base.toml", base), ("below/packets.csv", "time,size\n0,100\n1,100\n"), ("own.toml", own)];
    let document = loaded(&folder("trace", &files));
    let whole = document.to_json().unwrap()["traffic"][0]["file"].as_str().unwrap().to_owned();
    assert!(whole.ends_with("trace/below/packets.csv"), "{whole}");
    Document::parse(&document.to_toml(), "copy.toml").unwrap().check().unwrap();
    let own = "extends = 'below/base.toml'\n[[traffic]]\nname = 'trace'\nfile = 'packets.csv'\n";
    let moved = problems(&folder("trace", &[("own.toml", own)]));
    assert!(moved.starts_with("own.toml:4: traffic.trace.file = \"packets.csv\": no such file"), "{moved}");
}

#[test]
fn a_file_that_cannot_be_extended_is_refused() {
    let refused = |name: &str, own: &str, more: &[(&str, &str)]| {
        problems(&folder(name, &[&[("own.toml", own)], more].concat()))
    };
    let start = "the path starts in the folder of this file";
    assert_eq!(
        refused("missing", "\nextends = 'none.toml'", &[]),
        format!(
            "own.toml:2: extends = \"none.toml\": none.toml: no such file, and no shipped scenario has this name; {start}"
        )
    );
    assert_eq!(
        refused("directory", "extends = 'inner'", &[("inner/x.toml", "")]),
        format!("own.toml:1: extends = \"inner\": inner: a folder, must be a regular file; {start}")
    );
    for value in ["3", "['a.toml']", "''", "{ file = 'a.toml' }"] {
        let found = refused("value", &format!("extends = {value}"), &[]);
        assert!(
            found.contains("must be the name of a shipped scenario, or the path of a scenario file from"),
            "{found}"
        );
    }
    assert_eq!(
        refused("itself", "extends = '../itself/own.toml'", &[]).lines().count(),
        1,
        "a circle of one file"
    );
    let circle = [("a.toml", "extends = 'own.toml'")];
    assert_eq!(
        refused("circle", "extends = 'a.toml'", &circle),
        "a.toml:1: extends = \"own.toml\": a circle, own.toml extends a.toml extends own.toml: extend a file that does \
         not extend this one"
    );
    let broken = refused("broken", "extends = 'a.toml'", &[("a.toml", "\nx = ")]);
    assert!(broken.starts_with("a.toml:2: not TOML"), "{broken}");
}

#[test]
fn a_chain_has_eight_files_at_most() {
    let chain = |length: usize| {
        let name = |i: usize| if i == 0 { "own.toml".to_owned() } else { format!("{i}.toml") };
        let text = |i| if i + 1 == length { BASE.to_owned() } else { format!("extends = '{}'", name(i + 1)) };
        let files: Vec<_> = (0..length).map(|i| (name(i), text(i))).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        folder(&format!("chain{length}"), &files)
    };
    assert_is(&loaded(&chain(8)), BASE);
    let more = "more than 8 files, each extending the next: extend an earlier one";
    assert_eq!(problems(&chain(9)), format!("7.toml:1: extends = \"8.toml\": {more}"));
}

/// A library with the scenario `lred/exp1`, in a folder of this name.
fn library(name: &str) -> Library {
    let file = folder(name, &[("shipped.toml", BASE)]).join("shipped.toml");
    Library::new([("lred/exp1".to_owned(), file)].into())
}

#[test]
fn a_shipped_scenario_is_extended_by_its_name() {
    let library = library("library");
    let text = "extends = 'lred/exp1'\nduration = '7 s'\n";
    let whole = base_with(&[("30 s", "7 s")]);
    for text in [text.to_owned(), text.replace("exp1", "exp1.toml")] {
        assert_is(&library.parse(&text, "<text>").unwrap(), &whole);
        assert_is(
            &library.load(&folder("by-name", &[("own.toml", &text)]).join("own.toml")).unwrap(),
            &whole,
        );
    }
    // A folder of the user's hides nothing; a file does.
    let files = [("own.toml", text), ("lred/exp1/x.toml", "")];
    assert_is(&library.load(&folder("by-folder", &files).join("own.toml")).unwrap(), &whole);
    let own = BASE.replace("5 ms", "6 ms");
    let files = [("own.toml", text), ("lred/exp1", &own)];
    let hidden = library.load(&folder("by-file", &files).join("own.toml")).unwrap();
    assert_is(&hidden, &own.replace("30 s", "7 s"));
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let library = library("near");
    let text = library.parse("extends = 'lred/exp'", "<text>").unwrap_err().to_string();
    let near = "no shipped scenario has this name (did you mean \"lred/exp1\"?)";
    let save = "a text extends no file: save it as a file, from whose folder a path starts";
    assert_eq!(text, format!("<text>:1: extends = \"lred/exp\": {near}, and {save}"));
    let folder = folder("unknown", &[("own.toml", "extends = 'lred/exp'")]);
    let file = library.load(&folder.join("own.toml")).unwrap_err().to_string();
    assert!(file.ends_with(&format!(
        "lred/exp: no such file, and {near}; the path starts in the folder of this file"
    )));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_not_said_to_be_missing() {
    let folder = folder("loop", &[("own.toml", "extends = 'loop.toml'")]);
    let link = folder.join("loop.toml");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&link, &link).unwrap();
    let found = problems(&folder);
    assert!(found.contains("cannot be read") && !found.contains("no such file"), "{found}");
}

#[test]
fn a_setting_extends_nothing() {
    let set = Document::parse(BASE, "x.toml").unwrap().set_text("extends", "a.toml").unwrap_err().to_string();
    let message = "only the text of a scenario says what it extends: write it at the top";
    assert_eq!(set, format!("--set extends=a.toml: extends: {message}"));
}
