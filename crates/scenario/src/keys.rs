//! The keys of a scenario file: its sections, the names in them, and dotted paths.

use crate::model::TCP_PRESETS;
use aqm::aqm::{AnyParams, NAMES};
use aqm::params::ParamKind;
use aqm::user_defined::is_reference;

/// Most tables and lists in which a value may be nested, so that recursion over a scenario is safe.
pub const DEEPEST: usize = 64;

/// The keys of a file that hold a table or a list of tables, `extends` and `observe`.
pub(crate) const SECTIONS: [&str; 13] = [
    EXTENDS,
    "dumbbell",
    "link",
    "wifi",
    "cell",
    "cable",
    "aqm",
    "reverse_aqm",
    "traffic",
    "response",
    "record",
    "observe",
    SWEEP,
];

/// The key of the file that a file extends.
pub(crate) const EXTENDS: &str = "extends";

/// The key of what a study varies.
pub(crate) const SWEEP: &str = "sweep";

/// The keys that hold lists of tables, whose entries are addressed by name.
pub(crate) const LISTS: [&str; 5] = ["traffic", "link", "wifi", "cell", "cable"];

/// Those of them whose entries may have algorithms.
pub(crate) const MANAGED: [&str; 4] = ["link", "wifi", "cell", "cable"];

/// The keys that hold an algorithm.
pub(crate) const ALGORITHMS: [&str; 2] = ["aqm", "reverse_aqm"];

/// The keys of a link for its random losses, in the two directions.
pub(crate) const LOSSES: [&str; 2] = ["loss", "reverse_loss"];

/// The keys of a link for its recorded rates, in the two directions.
pub(crate) const RECORDED: [&str; 2] = ["rates", "reverse_rates"];

/// The keys of a link for its jitter, in the two directions.
pub(crate) const JITTERS: [&str; 2] = ["jitter", "reverse_jitter"];

/// The key of the varied parameters.
pub(crate) const VARY: &str = "vary";

/// The dumbbell's bottleneck, which is also the default of `observe`.
pub(crate) const BOTTLENECK: &str = "bottleneck";

/// The dotted path of `key` in the table at `path`.
pub(crate) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Whether a node, a link or a traffic entry may have this name: paths, lists and results must be able to contain it.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// The key for the name when `NAME:KEY=VALUE` at `key` is written as a table; `None` if `key` does not take this form. A TCP
/// that is called like a user-defined congestion control has just that.
pub(crate) fn name_key(key: &str, text: &str) -> Option<&'static str> {
    match key {
        "tcp" if is_reference(text) => Some("congestion"),
        "congestion" => is_reference(text).then_some("name"),
        "tcp" => {
            let name = text.split(':').next().unwrap_or_default().trim();
            Some(if TCP_PRESETS.iter().any(|(preset, _)| *preset == name) { "preset" } else { "flavour" })
        }
        _ => (ALGORITHMS.contains(&key) || is_inside(key)).then_some("name"),
    }
}

/// Whether an algorithm has an inner algorithm at `key`.
fn is_inside(key: &str) -> bool {
    is_of(key, |kind| matches!(kind, ParamKind::Algorithm { .. }))
}

/// Whether an algorithm has classes at `key`, each with an algorithm of its own.
pub(crate) fn are_classes(key: &str) -> bool {
    is_of(key, |kind| matches!(kind, ParamKind::Named(_)))
}

/// Whether an algorithm has a parameter of a kind at `key`.
fn is_of(key: &str, is_kind: impl Fn(ParamKind) -> bool) -> bool {
    let algorithms = NAMES.iter().filter_map(|name| AnyParams::of(name));
    let mut specs = algorithms.flat_map(|params| params.specs());
    specs.any(|spec| spec.name == key && is_kind(spec.kind))
}
