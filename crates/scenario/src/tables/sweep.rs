//! `[sweep]`: the parameters that a study varies. No engine uses this table; the code that runs a study reads it.

use crate::keys::{DEEPEST, VARY, below};
use crate::reader::Reader;
use crate::source::error::Problem;
use crate::source::tree::{Data, Node, Table};
use aqm::params::{Range, Value};
use aqm::{choice, params};

choice! {
    /// How the points of a study are chosen.
    pub enum Method {
        /// Every value of each parameter with every value of the others.
        Grid = "grid",
        /// The first value of each parameter, then the second of each, and so on.
        Paired = "paired",
        /// `samples` points, each drawn from the distributions.
        Random = "random",
        /// A Latin hypercube: every distribution is divided into `samples` equally probable slices, each with one
        /// point.
        Latin = "latin",
    }
}

params! {
    /// The parameters that a study varies, and its disciplines and seeds.
    pub struct Sweep {
        /// The queue disciplines of each point, each as for `--aqm`; auto is the scenario's own.
        aqm: Option<Vec<String>> = None, "";
        /// Number of runs of each point with each discipline; all have the same seeds: s, s + 1, …, from `seed` on.
        seeds: u32 = 1, "runs", Range::new(1.0, 1e5);
        /// How the points are chosen: `grid`, every value of a parameter with every value of the others; `paired`, the
        /// first of each, the second of each, and so on; `samples` points drawn from distributions, independently
        /// (`random`) or spread evenly over every distribution (`latin`, a Latin hypercube).
        method: Method = Method::Grid, "";
        /// Number of points to draw.
        samples: u32 = 100, "points", Range::new(1.0, 1e6);
        /// Seed of the points; that of the runs is `seed`.
        sample_seed: u64 = 1, "", Range::new(0.0, 9e15);
    }
}

impl Sweep {
    /// Whether its points are drawn.
    const fn is_drawn(&self) -> bool {
        matches!(self.method, Method::Random | Method::Latin)
    }
}

/// The table in `node`, and the varied parameters, each by its dotted path.
pub(crate) fn read<'n>(node: &'n Node, reader: &mut Reader<'_>) -> (Sweep, Vec<(String, &'n Node)>) {
    let Some(table) = node.table() else {
        reader.refuse("sweep", node.shown(), "must be a table");
        return (Sweep::default(), Vec::new());
    };
    let sweep: Sweep = reader.assigned(table, "sweep", &[VARY]);
    let drawn = ["samples", "sample_seed"].map(|key| (key, table.get(key)));
    for (key, node) in drawn.into_iter().filter_map(|(key, node)| Some((key, node?))) {
        if !sweep.is_drawn() && reader.fine(&["sweep.method"]) {
            reader.refuse(&below("sweep", key), node.shown(), "only for method \"random\" or \"latin\"");
        }
    }
    let mut varied = Vec::new();
    match table.get(VARY) {
        Some(Node { data: Data::Table(inside), .. }) => flatten(inside, "", &mut varied),
        Some(other) => reader.refuse("sweep.vary", other.shown(), "must be a table"),
        None => {}
    }
    for (i, (path, node)) in varied.iter().enumerate() {
        let at = below("sweep.vary", path);
        if varied[..i].iter().any(|(earlier, _)| earlier == path) {
            let message = "given twice, as one key with dots in quotes and as several: give it once";
            reader.note(Problem::of_value(node.origin.clone(), &at, node.shown(), message.to_owned()));
        } else if path.split('.').count() > DEEPEST {
            reader.note(Problem::too_deep(node.origin.clone(), &at));
        } else if !may_vary(node) {
            let message = "must be text like \"20,40..160\", a number, or a list of values";
            reader.note(Problem::of_value(node.origin.clone(), &at, node.shown(), message.to_owned()));
        }
    }
    (sweep, varied)
}

/// The values of a table and of the tables in it, each by its dotted path.
fn flatten<'n>(table: &'n Table, prefix: &str, found: &mut Vec<(String, &'n Node)>) {
    for (key, node) in table.iter() {
        let path = below(prefix, key);
        match node.table() {
            Some(inside) => flatten(inside, &path, found),
            None => found.push((path, node)),
        }
    }
}

fn may_vary(node: &Node) -> bool {
    let is_one = |value: &Value| !matches!(value, Value::List(_) | Value::Table(_));
    match &node.data {
        Data::Value(Value::List(values)) => !values.is_empty() && values.iter().all(is_one),
        Data::Value(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::Document;
    use serde_json::json;

    const BASE: &str = "[dumbbell]\n[[traffic]]\n";

    fn document(sweep: &str) -> Document {
        Document::parse(&format!("{BASE}{sweep}"), "study.toml").unwrap()
    }

    #[test]
    fn a_study_lists_its_parameters_and_the_lines_that_name_them() {
        let study = document(
            "[sweep]\naqm = 'pi'\n[sweep.vary]\n'aqm.q0' = '20,40..160'\ntraffic.1.count = [1, 2]\n",
        );
        let said = study.sweep().unwrap().unwrap();
        assert_eq!(said["aqm"], json!(["pi"]));
        assert_eq!((&said["seeds"], &said["method"]), (&json!(1), &json!("grid")));
        assert_eq!(
            said["vary"],
            json!([
                { "path": "aqm.q0", "value": "20,40..160", "origin": "study.toml:6" },
                { "path": "traffic.1.count", "value": [1, 2], "origin": "study.toml:7" },
            ])
        );
        assert_eq!(document("").sweep().unwrap(), None);
    }

    #[test]
    fn a_varied_parameter_is_one_whatever_the_keys_of_its_path() {
        for keys in ["'aqm.q0' = '20,40'", "aqm.q0 = '20,40'", "aqm = { q0 = '20,40' }"] {
            let mut study = document(&format!("[sweep.vary]\n{keys}\n"));
            study.set_text("sweep.vary.aqm.q0", "7").unwrap();
            let varied = &study.sweep().unwrap().unwrap()["vary"];
            let origin = "--set sweep.vary.aqm.q0=7";
            assert_eq!(varied, &json!([{ "path": "aqm.q0", "value": 7, "origin": origin }]), "{keys}");
        }
        let twice = document("[sweep.vary]\n'aqm.q0' = '20,40'\naqm.q0 = '50'\n");
        let found = twice.check().unwrap_err().to_string();
        assert!(found.contains("sweep.vary.aqm.q0 = \"50\": given twice"), "{found}");
    }

    #[test]
    fn a_study_is_the_same_scenario_as_its_base_point() {
        let study = document("[sweep]\nseeds = 3\n");
        assert_eq!(study.check().unwrap(), document("").check().unwrap());
        assert_eq!(study.to_json().unwrap(), document("").to_json().unwrap());
        assert_eq!(study.base().to_toml(), document("").to_toml());
    }

    #[test]
    fn forbidden_keys_of_a_study_are_refused_with_their_line() {
        for (sweep, message) in [
            ("sweep = 3", "study.toml:1: sweep = 3: must be a table"),
            ("[sweep]\nseed = 3", "study.toml:4: sweep.seed: unknown key; did you mean \"seeds\"?"),
            (
                "[sweep]\nseeds = 0",
                "study.toml:4: sweep.seeds = 0: must be a whole number in [1, 100000], runs",
            ),
            (
                "[sweep]\nsamples = 9",
                "study.toml:4: sweep.samples = 9: only for method \"random\" or \"latin\"",
            ),
            (
                "[sweep]\nvary = { 'aqm.q0' = [] }",
                "study.toml:4: sweep.vary.aqm.q0 = []: must be text like \"20,40..160\", a number, or a list of values",
            ),
            ("[sweep]\nvary = 3", "study.toml:4: sweep.vary = 3: must be a table"),
        ] {
            let text =
                if sweep.starts_with('[') { format!("{BASE}{sweep}") } else { format!("{sweep}\n{BASE}") };
            let document = Document::parse(&text, "study.toml").unwrap();
            assert_eq!(document.check().unwrap_err().to_string(), message);
            assert_eq!(document.sweep().unwrap_err().to_string(), message);
        }
    }
}
