//! The documentation of an algorithm is the head of its source file, extracted when the crate is compiled, so that a
//! binary contains the heads and not the sources.

/// The `//!` comment at the top of a source file, without the markers.
macro_rules! head {
    ($path:expr) => {{
        const SOURCE: &[u8] = include_str!($path).as_bytes();
        const HEAD: [u8; crate::head::copy::<0>(SOURCE).1] = crate::head::copy(SOURCE).0;
        const TEXT: &str = match str::from_utf8(&HEAD) {
            Ok(text) => text,
            Err(_) => panic!("a whole number of lines"),
        };
        TEXT
    }};
}

/// The first `N` bytes of the head of `source`, and the length of the whole head.
pub(crate) const fn copy<const N: usize>(source: &[u8]) -> ([u8; N], usize) {
    let (mut head, mut length, mut i) = ([0; N], 0, 0);
    while i + 3 <= source.len() && source[i] == b'/' && source[i + 1] == b'/' && source[i + 2] == b'!' {
        i += 3;
        if i < source.len() && source[i] == b' ' {
            i += 1;
        }
        while i < source.len() {
            let byte = source[i];
            i += 1;
            if byte != b'\r' {
                if length < N {
                    head[length] = byte;
                }
                length += 1;
            }
            if byte == b'\n' {
                break;
            }
        }
    }
    // The newline of the last line is not included.
    if length > 0 { (head, length - 1) } else { (head, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::{AnyParams, NAMES};

    #[test]
    fn a_head_ends_where_the_comment_does() {
        let source = b"//! One.\r\n//!\r\n//!  two\nuse x;\n//! no\n";
        assert_eq!(copy::<11>(source), (*b"One.\n\n two\n", 10));
        assert_eq!(copy::<4>(b"use x;\n"), ([0; 4], 0));
    }

    #[test]
    fn every_algorithm_is_described_by_its_head() {
        for name in NAMES {
            let source = std::fs::read_to_string(format!("src/aqm/{name}.rs")).unwrap();
            let head = source.lines().map_while(|line| line.strip_prefix("//!"));
            let head: Vec<_> = head.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
            assert_eq!(AnyParams::of(name).unwrap().doc(), head.join("\n"), "{name}");
        }
    }
}
