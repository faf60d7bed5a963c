//! Tells the binding which engine it is built with: a hash of all sources that results depend on.

use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 3] = ["aqm", "scenario", "netsim"];

/// Every file below `folder`, in the same order everywhere.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder of sources")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = vec![crates.join("../Cargo.lock")]; // the versions of what the engine is built on
    for name in CRATES {
        sources.push(crates.join(name).join("Cargo.toml"));
        sources.extend(files(&crates.join(name).join("src")));
        println!("cargo::rerun-if-changed=../{name}/src");
        println!("cargo::rerun-if-changed=../{name}/Cargo.toml");
    }
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    // FNV-1a: sources are told apart, nobody is kept from forging them.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for source in sources {
        // Another line ending is no other engine.
        let bytes = fs::read(&source).unwrap_or_default().into_iter().filter(|byte| *byte != b'\r');
        for byte in bytes.chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=AQMLAB_SOURCES={hash:016x}");
}
