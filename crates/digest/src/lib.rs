//! A digest of an engine: equal for engines that compute the same results from the same code.
//!
//! The store of finished runs keys each run by this digest. It covers the tokens of every source file, the other files
//! beside them, the manifests, and the versions of the libraries that the crates are built on. Comments, documentation,
//! tests, white space and development dependencies do not count. Everything else does: a renamed variable gives a new
//! digest. A digest that missed a change would serve a result of another engine, so whatever this crate does not follow
//! stops the build.

mod lock;
mod tokens;

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// FNV-1a, 64 bits. It distinguishes sources; it is no protection against forgery.
struct Hash(u64);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        // The byte that ends a piece occurs in no UTF-8 text: `ab`, `c` differs from `a`, `bc`.
        for byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The digest of the crates `names` in the folder `crates` of a workspace, as 16 hexadecimal digits.
///
/// If a file is missing or is neither Rust nor text, or if the digest does not follow a construct: `include!`,
/// `#[path]`, a file of another folder, a build script, a renamed dependency, a library that is neither from a
/// registry nor named.
#[must_use]
pub fn digest(crates: &Path, names: &[&str]) -> String {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for name in names {
        tokens::add(&mut hash, &crates.join(name).join("src"));
    }
    lock::add(&mut hash, crates, names);
    let mut text = String::new();
    write!(text, "{:016x}", hash.0).expect("a string takes any text");
    text
}

/// The text of a file, with the line endings of Unix.
fn read(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.replace('\r', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of a workspace of one crate `a`, after a change of one of its files.
    fn of(file: &str, text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let mut all = vec![
            ("a/src/lib.rs", "mod b;\nlist! { c }\n#[cfg(test)]\nmod fixture;\n"),
            ("a/src/b.rs", "fn b() {}"),
            ("a/src/c.rs", "fn c() {}"),
            ("a/src/fixture.rs", "fn f() {}"),
            ("a/src/fixture/deep.rs", "fn d() {}"),
            ("a/src/b/words.txt", "one two"),
            ("a/tests/whole.rs", "fn t() {}"),
            (
                "a/Cargo.toml",
                "[package]\nname = \"a\"\n[dependencies]\nx = \"1\"\n[dev-dependencies]\ny = \"1\"\n",
            ),
            ("../Cargo.toml", "[workspace]\nmembers = [\"crates/a\"]\n[profile.release]\nlto = true\n"),
            (
                "../Cargo.lock",
                "[[package]]\nname = \"x\"\nversion = \"1.1\"\nchecksum = \"1\"\ndependencies = [\"z 2.0\"]\n\
                 [[package]]\nname = \"y\"\nversion = \"1.1\"\nchecksum = \"2\"\n\
                 [[package]]\nname = \"z\"\nversion = \"2.0\"\nchecksum = \"3\"\n",
            ),
        ];
        let crates = folder.path().join("crates");
        all.push((file, text));
        for (file, text) in all {
            let path = crates.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = text.strip_prefix("s/").map_or_else(
                || text.to_owned(),
                |change| {
                    let (old, new) = change.split_once('/').unwrap();
                    let before = fs::read_to_string(&path).unwrap();
                    assert!(before.contains(old), "{before}");
                    before.replace(old, new)
                },
            );
            fs::write(path, text).unwrap();
        }
        digest(&crates, &["a"])
    }

    #[test]
    fn only_compiled_code_and_its_libraries_count() {
        let plain = of("a/README.md", "");
        for (file, change) in [
            ("a/src/b.rs", "//! Documentation.\nfn b() {}\n"),
            ("a/src/b.rs", "fn b() {\r\n}\r\n"),
            ("a/src/fixture.rs", "fn other() {}"),
            ("a/src/fixture/deep.rs", "fn other() {}"),
            ("a/tests/whole.rs", "fn other() {}"),
            ("a/Cargo.toml", "s/y = \"1\"/y = \"2\""),
            ("../Cargo.lock", "s/checksum = \"2\"/checksum = \"4\""),
        ] {
            assert_eq!(of(file, change), plain, "{file}: {change}");
        }
        for (file, change) in [
            ("a/src/b.rs", "fn b() { 1 }"),
            ("a/src/c.rs", "fn c() { 1 }"),
            ("a/src/d.rs", "fn d() {}"),
            ("a/src/b/words.txt", "one three"),
            ("a/Cargo.toml", "s/x = \"1\"/x = \"1.1\""),
            ("../Cargo.lock", "s/checksum = \"1\"/checksum = \"4\""),
            ("../Cargo.lock", "s/checksum = \"3\"/checksum = \"4\""),
            ("../Cargo.toml", "s/lto = true/overflow-checks = true"),
            ("a/Cargo.toml", "s/[dev/[features]\ndefault = []\n[dev"),
        ] {
            assert_ne!(of(file, change), plain, "{file}: {change}");
        }
    }

    #[test]
    fn code_that_the_digest_does_not_cover_stops_the_build() {
        for (file, change) in [
            ("a/src/b.rs", "include!(\"c.rs\");"),
            ("a/src/b.rs", "const A: &str = include_str!(\"../../x\");"),
            ("a/src/b.rs", "const A: &str = include_str!(concat!(env!(\"OUT_DIR\"), \"x\"));"),
            ("a/src/b.rs", "#[path = \"../x.rs\"] mod x;"),
            ("a/src/b.rs", "#[cfg_attr(unix, path = \"../x.rs\")] mod x;"),
            ("a/src/lib.rs", "#[cfg(test)] mod b; #[cfg(not(test))] mod b;"),
            ("a/build.rs", "fn main() {}"),
            ("a/Cargo.toml", "s/x = \"1\"/other = { package = \"x\", version = \"1\" }"),
            ("../Cargo.lock", "s/checksum = \"1\"/source = \"git\""),
        ] {
            assert!(std::panic::catch_unwind(|| of(file, change)).is_err(), "{file}: {change}");
        }
    }
}
