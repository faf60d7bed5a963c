//! The inputs of a build: the manifests of the crates, and the versions and checksums of their libraries.

use crate::{Hash, read};
use std::collections::BTreeSet;
use std::path::Path;
use toml::{Table, Value};

/// The sections of a manifest on which no engine's results depend.
const IRRELEVANT: &[&str] = &["dev-dependencies", "lints", "package"];

/// Adds the manifests of the crates `names`, the workspace's, and the entries of `Cargo.lock` for all libraries they
/// need.
pub(crate) fn add(hash: &mut Hash, crates: &Path, names: &[&str]) {
    let workspace = table(&crates.join("../Cargo.toml"));
    for path in ["workspace.dependencies", "workspace.package.edition", "profile.release", "patch"] {
        hash.add(
            path.split('.')
                .try_fold(&Value::Table(workspace.clone()), |at, key| at.get(key))
                .map_or_else(String::new, Value::to_string)
                .as_bytes(),
        );
    }
    let mut needed = BTreeSet::new();
    for name in names {
        let folder = crates.join(name);
        assert!(!folder.join("build.rs").exists(), "{}/build.rs is not followed", folder.display());
        let mut manifest = table(&folder.join("Cargo.toml"));
        needed.extend(dependencies(&manifest).map(|(name, _)| name));
        manifest.retain(|key, _| !IRRELEVANT.contains(&key));
        hash.add(manifest.to_string().as_bytes());
    }
    let lock = table(&crates.join("../Cargo.lock"));
    let packages: Vec<&Table> = list(&lock, "package").filter_map(Value::as_table).collect();
    let mut open: Vec<String> = needed.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let mut found = packages.iter().filter(|package| is(package, &name)).peekable();
        assert!(
            found.peek().is_some(),
            "Cargo.lock has no package {name}: a renamed dependency is not followed"
        );
        for package in found {
            for key in ["name", "version", "checksum"] {
                hash.add(package.get(key).and_then(Value::as_str).unwrap_or_default().as_bytes());
            }
            if names.contains(&name.as_str()) {
                continue; // its own manifest lists its dependencies
            }
            assert!(
                package.contains_key("checksum"),
                "{name} is no crate of a registry: name it as a part of the engine"
            );
            for next in list(package, "dependencies").filter_map(Value::as_str) {
                // `syn 2.0.119`, where there are several versions: all of them are taken.
                let next = next.split(' ').next().unwrap_or_default().to_owned();
                if needed.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    // Cargo builds a library once, with the features that all crates of the workspace request.
    for member in list_at(&workspace, "workspace", "members").filter_map(Value::as_str) {
        for (name, entry) in dependencies(&table(&crates.join("..").join(member).join("Cargo.toml"))) {
            if needed.contains(&name) {
                hash.add(format!("{name} = {entry}").as_bytes());
            }
        }
    }
}

/// The names and entries under `[dependencies]` and `[target.'cfg(unix)'.dependencies]`.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (String, String)> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let sections = targets.filter_map(Value::as_table).chain([manifest]);
    let tables = sections.filter_map(|section| section.get("dependencies").and_then(Value::as_table));
    let entries = tables.flatten().map(|(name, entry)| (name.clone(), entry.to_string()));
    entries.collect::<Vec<_>>().into_iter()
}

fn table(file: &Path) -> Table {
    read(file).parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn list<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Value> {
    table.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn list_at<'a>(table: &'a Table, section: &str, key: &str) -> impl Iterator<Item = &'a Value> {
    table
        .get(section)
        .and_then(Value::as_table)
        .and_then(|inner| inner.get(key))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn is(package: &Table, name: &str) -> bool {
    package.get("name").and_then(Value::as_str) == Some(name)
}
