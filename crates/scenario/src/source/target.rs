//! One algorithm in place of another, which keeps the target queue length, and one parameter in place of another.

use crate::keys::name_key;
use crate::model::Tcp;
use crate::source::tree::{Node, Table};
use aqm::aqm::AnyParams;
use aqm::params::Params as _;

/// The alias of the target that every algorithm with one accepts.
const COMMON_NAME: &str = "q0";

/// The names of the target in the algorithm that `table` names, its own name first; empty if it has none.
fn names(table: &Table) -> Vec<&'static str> {
    let Some(params) = table.text("name").and_then(AnyParams::of) else { return Vec::new() };
    let called = |name: &&str, aliases: &&[&str]| *name == COMMON_NAME || aliases.contains(&COMMON_NAME);
    let target = params.specs().iter().find(|spec| called(&spec.name, &spec.aliases));
    target
        .map(|spec| std::iter::once(spec.name).chain(spec.aliases.iter().copied()).collect())
        .unwrap_or_default()
}

/// `new` in place of `old`, with the target of `old` unless `new` sets one, since a comparison is of algorithms that steer
/// to the same length, not of their defaults. No other parameter is kept, also if both name the same algorithm. Inner
/// algorithms neither provide nor receive a target: that of one flow's queue among many is not that of the whole buffer.
pub(crate) fn kept(old: Option<&Node>, mut new: Table) -> Table {
    let Some(old) = old.and_then(|node| node.expanded("aqm")) else { return new };
    let preset = new.get("preset").is_some();
    let target = names(&old).into_iter().find_map(|name| old.get(name).cloned());
    let (Some(target), names) = (target, names(&new)) else { return new };
    let says_its_own = preset || names.iter().any(|name| new.get(name).is_some());
    if let (Some(name), false) = (names.first(), says_its_own) {
        new.insert(name, target);
    }
    new
}

/// Removes other names of the parameter `key` from the table of an algorithm or a TCP, which is at the key `at`: the last
/// setting counts.
pub(crate) fn forget_synonyms(table: &mut Table, at: &str, key: &str) {
    let specs = match at {
        "tcp" => Tcp::specs(),
        _ if name_key(at, "") == Some("name") => {
            table.text("name").and_then(AnyParams::of).map_or(&[][..], |params| params.specs())
        }
        _ => &[],
    };
    if let Some(spec) = specs.iter().find(|spec| spec.name == key || spec.aliases.contains(&key)) {
        for name in std::iter::once(&spec.name).chain(spec.aliases).filter(|name| **name != key) {
            table.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::error::Origin;
    use crate::source::tree::{Data, spec};
    use aqm::params::Value;
    use std::sync::Arc;

    fn table(text: &str) -> Table {
        spec(text, "name", "aqm", &Origin::Aqm(Arc::from(text))).unwrap().unwrap()
    }

    fn kept_target(old: &str, new: &str) -> Option<String> {
        let old = Node::new(Origin::Aqm(Arc::from(old)), Data::Table(table(old)));
        let merged = kept(Some(&old), table(new));
        ["q_ref", "b_star", "q0"].iter().find_map(|name| merged.get(name)).and_then(Node::shown)
    }

    #[test]
    fn the_target_is_kept_under_the_new_algorithms_name() {
        assert_eq!(kept_target("lred:q0=100", "pi").as_deref(), Some("100"));
        assert_eq!(kept_target("pi:q_ref=60", "rem").as_deref(), Some("60"));
        assert_eq!(kept_target("rem:q0=70", "lred:beta=0.01").as_deref(), Some("70"));
    }

    #[test]
    fn a_target_of_its_own_or_a_presets_comes_first() {
        assert_eq!(kept_target("lred:q0=100", "pi:q_ref=30").as_deref(), Some("30"));
        assert_eq!(kept_target("lred:q0=100", "pi:q0=30").as_deref(), Some("30"));
        assert_eq!(kept_target("lred:q0=100", "pi:preset=survey"), None);
    }

    #[test]
    fn of_the_same_algorithm_too_only_the_target_is_kept() {
        assert_eq!(kept_target("lred:beta=0.01,q0=60", "lred:beta=0.1").as_deref(), Some("60"));
        assert_eq!(kept_target("pi:q0=60", "pi:q_ref=50").as_deref(), Some("50"));
        let old = Node::new(Origin::Aqm(Arc::from("x")), Data::Table(table("lred:beta=0.01,q0=60")));
        for new in ["lred", "lred:q0=50"] {
            assert!(kept(Some(&old), table(new)).get("beta").is_none(), "{new}");
        }
    }

    #[test]
    fn an_algorithm_without_a_target_has_and_accepts_none() {
        assert_eq!(kept_target("lred:q0=100", "droptail"), None);
        assert_eq!(kept_target("droptail", "pi"), None);
        assert_eq!(kept_target("lred", "pi"), None, "a default is not a choice");
        let inside = |old: &str, new: &str| {
            let old = Node::new(Origin::Aqm(Arc::from(old)), Data::Table(table(old)));
            kept(Some(&old), table(new)).get("aqm").and_then(Node::shown)
        };
        assert_eq!(inside("lred:q0=100", "fq:aqm=lred").as_deref(), Some("\"lred\""));
        assert_eq!(kept_target("fq:aqm='lred:q0=20'", "pi"), None);
        assert_eq!(inside("fq:aqm='lred:q0=20'", "fq:flows=16"), None);
        assert_eq!(inside("fq:aqm='lred:q0=20'", "fq:aqm=lred").as_deref(), Some("\"lred\""));
        let text = Node::new(Origin::Aqm(Arc::from("x")), Data::Value(Value::Text("lred:q0=40".into())));
        assert!(kept(Some(&text), table("pi")).get("q_ref").is_some());
    }
}
