//! Tells the binding which engine it is built with: a hash of all sources that results depend on.

use std::fs;
use std::path::{Path, PathBuf};

/// The packet engine.
const ENGINE: &[&str] = &["aqm", "scenario", "netsim"];
/// What the fluid engine has besides.
const FLUID: &[&str] = &["fluid"];

/// Every file below `folder`, in the same order everywhere.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder of sources")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The lock file without what it says of the crates named here, on which the engine does not depend.
fn lock(path: &Path, but: &[&str]) -> Vec<u8> {
    let text = fs::read_to_string(path).unwrap_or_default().replace('\r', "");
    let is_engine =
        |package: &&str| but.iter().all(|name| !package.starts_with(&format!("\nname = \"{name}\"\n")));
    let kept: Vec<&str> = text.split("[[package]]").filter(is_engine).collect();
    kept.concat().into_bytes()
}

/// A hash of the sources of some crates, and of the versions of what they are built on.
fn digest(crates: &Path, names: &[&str], not: &[&str]) -> u64 {
    let mut sources = vec![lock(&crates.join("../Cargo.lock"), not)];
    for name in names {
        let paths = [vec![crates.join(name).join("Cargo.toml")], files(&crates.join(name).join("src"))];
        sources.extend(paths.concat().into_iter().map(|path| fs::read(path).unwrap_or_default()));
    }
    // FNV-1a: sources are told apart, nobody is kept from forging them.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for source in sources {
        // Another line ending is no other engine.
        for byte in source.into_iter().filter(|byte| *byte != b'\r').chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ENGINE.iter().chain(FLUID) {
        println!("cargo::rerun-if-changed=../{name}/src");
        println!("cargo::rerun-if-changed=../{name}/Cargo.toml");
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    // A change of the fluid engine or of this crate leaves the packet engine's results as they are.
    println!("cargo::rustc-env=AQMLAB_SOURCES={:016x}", digest(&crates, ENGINE, &["fluid", "py"]));
    let both = [ENGINE, FLUID].concat();
    println!("cargo::rustc-env=AQMLAB_FLUID_SOURCES={:016x}", digest(&crates, &both, &["py"]));
}
