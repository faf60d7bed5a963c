//! The libraries that a crate is built on, with their versions and checksums.

use crate::{Hash, read};
use std::collections::BTreeSet;
use std::path::Path;
use toml::{Table, Value};

/// Adds the declared dependencies of each crate, and what `Cargo.lock` says of all that these need.
pub(crate) fn add(hash: &mut Hash, crates: &Path, names: &[&str]) {
    let lock = table(&crates.join("../Cargo.lock"));
    let packages: Vec<&Table> = list(&lock, "package").filter_map(Value::as_table).collect();
    let mut needed = BTreeSet::new();
    for name in names {
        let manifest = table(&crates.join(name).join("Cargo.toml"));
        let mut sections: Vec<&Table> = vec![&manifest];
        // `[target.'cfg(unix)'.dependencies]`
        sections.extend(manifest.get("target").and_then(Value::as_table).into_iter().flat_map(tables));
        for dependencies in sections.into_iter().filter_map(|section| section.get("dependencies")) {
            hash.add(dependencies.to_string().as_bytes());
            needed.extend(dependencies.as_table().into_iter().flat_map(Table::keys).cloned());
        }
    }
    let mut open: Vec<String> = needed.iter().cloned().collect();
    while let Some(name) = open.pop() {
        // `syn 2.0.119`, where there are several versions: all of them are taken.
        let name = name.split(' ').next().unwrap_or_default().to_owned();
        for package in packages.iter().filter(|package| is(package, &name)) {
            // A crate of the workspace has no checksum: its own manifest says what it needs.
            for next in list(package, "dependencies").filter(|_| package.contains_key("checksum")) {
                let next = next.as_str().unwrap_or_default().to_owned();
                if needed.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    let needed: BTreeSet<&str> = needed.iter().filter_map(|name| name.split(' ').next()).collect();
    for package in packages.iter().filter(|package| needed.iter().any(|name| is(package, name))) {
        for key in ["name", "version", "checksum"] {
            hash.add(package.get(key).and_then(Value::as_str).unwrap_or_default().as_bytes());
        }
    }
}

fn table(file: &Path) -> Table {
    read(file).parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn tables(table: &Table) -> impl Iterator<Item = &Table> {
    table.values().filter_map(Value::as_table)
}

fn list<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Value> {
    table.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn is(package: &Table, name: &str) -> bool {
    package.get("name").and_then(Value::as_str) == Some(name)
}
