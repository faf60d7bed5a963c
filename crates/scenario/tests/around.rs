//! Disciplines around others in a file: written, set, resolved and refused.

use aqm::params::{Field as _, Value};
use aqm::{AnyParams, Limit};
use scenario::{Document, Scenario};

const HTB: &str = "\
duration = \"10 s\"
warmup = \"1 s\"
[dumbbell]
rate = \"100 Mbit/s\"
[aqm]
name = \"htb\"
[aqm.classes.all]
rate = \"10 Mbit/s\"
[aqm.classes.calls]
parent = \"all\"
rate = \"2 Mbit/s\"
dscp = [\"EF\", \"VA\"]
limit = \"20 packets\"
[aqm.classes.rest]
parent = \"all\"
rate = \"8 Mbit/s\"
ceil = \"10 Mbit/s\"
aqm = \"fq_codel:flows=16\"
[[traffic]]
name = \"long\"
";

fn check(document: &Document) -> Result<Scenario, String> {
    document.check().map_err(|problems| problems.to_string())
}

fn said(text: &str) -> String {
    let document = Document::parse(text, "x.toml").unwrap();
    check(&document).map_or_else(|problems| problems, |_| "fine".to_owned())
}

/// `HTB` with `new` instead of `old`, which is there once.
fn with(old: &str, new: &str) -> String {
    assert_eq!(HTB.matches(old).count(), 1, "{old}");
    HTB.replace(old, new)
}

fn params(scenario: &Scenario) -> AnyParams {
    scenario.links.iter().find_map(|link| link.aqm.clone()).unwrap()
}

#[test]
fn classes_are_tables_by_name_with_any_discipline() {
    let document = Document::parse(HTB, "x.toml").unwrap();
    let scenario = check(&document).unwrap();
    let AnyParams::Htb(htb) = params(&scenario) else { panic!("another algorithm") };
    let [(_, all), (name, calls), (_, rest)] = &htb.classes.0[..] else { panic!("three classes") };
    assert_eq!((&**name, calls.parent.as_deref(), all.parent.as_deref()), ("calls", Some("all"), None));
    assert_eq!(calls.leaf.limit, Some(Limit::Packets(20)));
    assert_eq!(calls.leaf.dscp.as_ref().map(Vec::len), Some(2));
    let AnyParams::Fq(fq) = &*rest.leaf.aqm.0 else { panic!("not the discipline inside") };
    assert_eq!(fq.flows, 16);
    // What is resolved says the same.
    let resolved = document.to_toml();
    let again = Document::parse(&resolved, "resolved").unwrap();
    assert_eq!(params(&check(&again).unwrap()), params(&scenario), "{resolved}");
}

/// The file of a user-defined algorithm is called by its full path, wherever it stands.
#[test]
fn the_file_of_a_class_is_resolved() {
    let file = std::env::current_dir().unwrap().join("own.py");
    for aqm in ["own.py:Own", "tbf:aqm='own.py:Own'"] {
        let text = with("fq_codel:flows=16", aqm);
        let resolved = Document::parse(&text, "x.toml").unwrap().to_toml();
        assert!(resolved.contains(&format!("\"{}:Own\"", file.display())), "{resolved}");
    }
}

#[test]
fn a_setting_reaches_into_a_class_and_into_what_is_inside() {
    let mut document = Document::parse(HTB, "x.toml").unwrap();
    for (path, value) in [
        ("aqm.classes.calls.limit", "30 kB"),
        ("aqm.classes.rest.aqm.flows", "64"),
        ("aqm.classes.bulk", "{ parent = \"all\", rate = \"0.1 Mbit/s\", dscp = [\"LE\"] }"),
        ("aqm.classes.rest.rate", "7 Mbit/s"),
    ] {
        document.set_text(path, value).unwrap();
    }
    let AnyParams::Htb(htb) = params(&check(&document).unwrap()) else { panic!("another algorithm") };
    assert_eq!(htb.classes.0.len(), 4);
    assert_eq!(htb.classes.0[1].1.leaf.limit, Some(Limit::Bytes(30_000)));
    let AnyParams::Fq(fq) = &*htb.classes.0[2].1.leaf.aqm.0 else { panic!("not the discipline inside") };
    assert_eq!(fq.flows, 64);
}

#[test]
fn what_does_not_fit_is_refused_with_line_key_value_and_cure() {
    let cases = [
        (
            with("rate = \"8 Mbit/s\"", "rate = \"9 Mbit/s\""),
            "x.toml:8: aqm.classes.all.rate = 10 Mbit/s: must be at least 11 Mbit/s, which its classes have together \
             (calls, rest): raise it, or lower theirs",
        ),
        (
            with("ceil = \"10 Mbit/s\"", "ceil = \"4 Mbit/s\""),
            "x.toml:17: aqm.classes.rest.ceil = 4 Mbit/s: must be at least the rate of the class, 8 Mbit/s",
        ),
        (
            with("parent = \"all\"\nrate = \"2", "parent = \"al\"\nrate = \"2"),
            "x.toml:10: aqm.classes.calls.parent = \"al\": must be another class, one of all, rest",
        ),
        (
            with("\n[aqm.classes.calls", "\nparent = \"rest\"\n[aqm.classes.calls"),
            "x.toml:9: aqm.classes.all.parent = \"rest\": must be a class that is not below this one itself",
        ),
        (
            with("\n[aqm.classes.calls", "\naqm = \"codel\"\n[aqm.classes.calls"),
            "x.toml:9: aqm.classes.all.aqm = \"codel\": must be omitted: the class has others below it, which take the \
             packets",
        ),
        (
            with("limit = \"20 packets\"", "limit = \"20\""),
            "x.toml:13: aqm.classes.calls.limit = \"20\": must be a quantity like \"200 packets\" or \"100 kB\" in \
             [1, 4e9], packets (or \"auto\"); units: packets, B, kB, MB, GB, KiB, MiB, GiB",
        ),
        (
            with("fq_codel:flows=16", "fq_codel:flow=16"),
            "x.toml:18: aqm.classes.rest.aqm.flow: unknown key; did you mean \"flows\"?",
        ),
        (
            with("parent = \"all\"\nrate = \"2", "parrent = \"all\"\nrate = \"2"),
            "x.toml:10: aqm.classes.calls.parrent: unknown key; did you mean \"parent\"?",
        ),
        (
            with("[aqm.classes.calls]", "[aqm.classes.\"a b\"]"),
            "x.toml:9: aqm.classes.\"a b\": must be a name: letters, digits, - and _",
        ),
        (
            "[dumbbell]\nrate = \"9 Mbit/s\"\n[aqm]\nname = \"tbf\"\n\
             rate = \"5 Mbit/s\"\npeak_rate = \"4 Mbit/s\"\n[[traffic]]\n"
                .to_owned(),
            "x.toml:6: aqm.peak_rate = 4 Mbit/s: must be above rate = 5 Mbit/s",
        ),
        (
            "[dumbbell]\nrate = \"10 Mbit/s\"\n[aqm]\nname = \"prio\"\nclasses = { }\n[[traffic]]\n"
                .to_owned(),
            "x.toml:5: aqm.classes: must be tables by name, each like {dscp = …, service = …, aqm = …, limit \
             = …, priority = …}, not a table",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(said(&text), message, "{text}");
    }
}

#[test]
fn a_discipline_inside_is_checked_on_the_port_that_it_has() {
    let text = "[dumbbell]\nrate = \"10 Mbit/s\"\n[[traffic]]\n[aqm]\nname = \"tbf\"\nburst = \"400 B\"\n";
    assert_eq!(
        said(text),
        "x.toml:6: aqm.burst = 400 B: must be at least a packet here, 1500 B: a larger one never leaves"
    );
    let text = "[dumbbell]\nrate = \"10 Mbit/s\"\n[[traffic]]\n[aqm]\nname = \"prio\"\n[aqm.classes.all]\n\
                aqm = \"tbf:aqm='tbf:burst=400 B'\"\n";
    assert_eq!(
        said(text),
        "x.toml:7: aqm.classes.all.aqm.aqm.burst = 400 B: must be at least a packet here, 1500 B: a larger one never \
         leaves"
    );
    assert!(
        Value::Table(vec![]).to_string() == "{}"
            && aqm::params::Named::<aqm::aqm::htb::Class>::read(&Value::Table(vec![])).is_none()
    );
}
