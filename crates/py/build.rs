//! Passes the digest of each engine to the binding: stores of finished runs key each run by it.
//!
//! A digest covers every byte of the sources, comments too, the manifests and the lock file. One that missed a change would
//! serve a result of another engine; of 149 commits to these sources 33 changed comments or tests alone.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates of both engines.
const COMMON: [&str; 4] = ["aqm", "capture", "scenario", "run"];

fn main() {
    let workspace = ["../../Cargo.toml", "../../Cargo.lock"];
    let engine = |own: &'static str| {
        let crates = COMMON.into_iter().chain([own]);
        let files = crates.flat_map(|name| [format!("../{name}/Cargo.toml"), format!("../{name}/src")]);
        digest(workspace.map(str::to_owned).into_iter().chain(files))
    };
    println!("cargo::rustc-env=AQMLAB_SOURCES={}", engine("netsim"));
    println!("cargo::rustc-env=AQMLAB_FLUID_SOURCES={}", engine("fluid"));
    // What calls a user's own algorithms.
    println!(
        "cargo::rustc-env=AQMLAB_OWN_SOURCES={}",
        digest(["src/own".to_owned(), "src/own.rs".to_owned()])
    );
}

/// FNV-1a, 64 bits, of the names and contents of files and of all files in folders, as 16 hexadecimal digits. It
/// distinguishes sources; it is no protection against forgery.
fn digest(paths: impl IntoIterator<Item = String>) -> String {
    let mut files = Vec::new();
    for path in paths {
        println!("cargo::rerun-if-changed={path}");
        list(Path::new(&path), &mut files);
    }
    let bytes = files.iter().flat_map(|file| {
        let content = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        // The byte between the pieces occurs in no UTF-8 text.
        [file.to_str().expect("a name in UTF-8").as_bytes(), &[0xff], &content, &[0xff]].concat()
    });
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn list(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut inside: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        inside.sort();
        inside.iter().for_each(|path| list(path, files));
    } else {
        files.push(path.to_owned());
    }
}
