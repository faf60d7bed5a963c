//! The rooms of the crate, each of which uses only those before it.

use std::fs;
use std::path::{Path, PathBuf};

/// As `lib.rs` lists them.
const ROOMS: [&str; 9] =
    ["engine", "tcp", "packet", "measure", "network", "traffic", "flows", "simulation", "memory"];

fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_room_uses_only_the_rooms_before_it() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut found = 0;
    for file in files(&sources) {
        let inside = file.strip_prefix(&sources).unwrap().with_extension("");
        let room = inside.iter().next().unwrap().to_str().unwrap().to_owned();
        if room == "lib" {
            continue;
        }
        let place = ROOMS.iter().position(|&known| known == room);
        let place = place.unwrap_or_else(|| panic!("{room} is not among the rooms"));
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for (number, line) in lines.enumerate() {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found += 1;
                match ROOMS.iter().position(|&known| known == name) {
                    Some(other) if other <= place => {}
                    _ => {
                        wrong.push(format!("{}, code line {}: {}", inside.display(), number + 1, line.trim()))
                    }
                }
            }
        }
    }
    assert!(found > 100, "{found} uses");
    assert_eq!(wrong, Vec::<String>::new());
}
