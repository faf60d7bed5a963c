//! Plays scripts of packetdrill against our TCP sender and receiver, and prints a verdict on each:
//!
//! ```text
//! make packetdrill SCRIPTS=packetdrill/gtests/net/tcp
//! ```
//!
//! It fails if less than nine in ten of the scripts that apply pass.

#[path = "../tests/packetdrill/mod.rs"]
mod packetdrill;

use packetdrill::{Verdict, play};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            scripts(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1).filter(|folder| !folder.is_empty()) else {
        eprintln!(
            "SCRIPTS names no folder: give one with scripts of packetdrill (*.pkt), such as gtests/net/tcp of google/packetdrill"
        );
        return ExitCode::FAILURE;
    };
    let mut paths = Vec::new();
    if let Err(problem) = scripts(Path::new(&folder), &mut paths) {
        eprintln!("SCRIPTS = {folder}: {problem}");
        return ExitCode::FAILURE;
    }
    if paths.is_empty() {
        eprintln!(
            "SCRIPTS = {folder}: no script in it (*.pkt): give the folder of a suite, such as gtests/net/tcp"
        );
        return ExitCode::FAILURE;
    }
    paths.sort();
    let (mut whole, mut partly, mut failed) = (0, 0, 0);
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    for path in &paths {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        match play(&text) {
            Verdict::Passed { whole: true } => {
                whole += 1;
                println!("passed          {name}");
            }
            Verdict::Passed { whole: false } => {
                partly += 1;
                println!("passed          {name}, up to closing");
            }
            Verdict::Failed(problem) => {
                failed += 1;
                println!("failed          {name}: {problem}");
            }
            Verdict::NotApplicable(reason) => {
                println!("not applicable  {name}: {reason}");
                *reasons.entry(reason).or_default() += 1;
            }
        }
    }
    let (passed, applicable) = (whole + partly, whole + partly + failed);
    let none: u32 = reasons.values().sum();
    println!(
        "{passed} of {applicable} that apply pass, {partly} of them up to closing; {none} do not apply:"
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in reasons {
        println!("{count:4}  {reason}");
    }
    if 10 * passed < 9 * applicable { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
