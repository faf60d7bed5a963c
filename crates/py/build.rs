//! Passes the digest of each engine to the binding.

use std::fs;
use std::path::Path;

/// The packet engine.
const ENGINE: &[&str] = &["aqm", "scenario", "run", "netsim"];
/// The fluid engine.
const FLUID: &[&str] = &["aqm", "scenario", "run", "fluid"];

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ENGINE.iter().chain(FLUID) {
        println!("cargo::rerun-if-changed=../{name}/src");
        println!("cargo::rerun-if-changed=../{name}/Cargo.toml");
    }
    println!("cargo::rerun-if-changed=../../Cargo.toml");
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    // A change of the fluid engine or of this crate leaves the packet engine's results as they are.
    println!("cargo::rustc-env=AQMLAB_SOURCES={}", digest::digest(&crates, ENGINE));
    println!("cargo::rustc-env=AQMLAB_FLUID_SOURCES={}", digest::digest(&crates, FLUID));
    println!("cargo::rustc-env=AQMLAB_OWN_SOURCES={:016x}", own());
}

/// The hash of the files that call a user's own algorithms: FNV-1a, 64 bits, as that of the engines.
fn own() -> u64 {
    let mut files: Vec<_> =
        fs::read_dir("src/own").expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    files.push("src/own.rs".into());
    files.sort();
    println!("cargo::rerun-if-changed=src/own");
    println!("cargo::rerun-if-changed=src/own.rs");
    let bytes = files.iter().flat_map(|file| fs::read(file).expect("a file that can be read"));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
