//! Passes the digest of each engine to the binding.

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
}
