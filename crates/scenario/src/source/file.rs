//! Reading a file that a user named. Only regular files are read: a pipe or a terminal could block for ever, and a
//! device may never end.

use std::fs::{FileType, Metadata, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// Why a file was not read.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    Missing,
    /// It has more bytes than allowed.
    TooLong,
    Other(String),
}

/// The bytes of the file at `path`, at most `longest`.
pub(crate) fn read(path: &Path, longest: u64) -> Result<Vec<u8>, Unread> {
    let mut options = OpenOptions::new();
    options.read(true);
    // The opened file is checked: the file at `path` may be a different one a moment later.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Unread::Missing,
        _ => Unread::Other(format!("cannot be read: {error}")),
    };
    let opened = options.open(path);
    // A socket cannot even be opened.
    let found = opened.as_ref().map_or_else(|_| path.metadata(), std::fs::File::metadata);
    if let Some(kind) = found.as_ref().ok().map(Metadata::file_type).filter(|kind| !kind.is_file()) {
        return Err(Unread::Other(format!("{}, must be a regular file", called(kind))));
    }
    let mut bytes = Vec::new();
    opened.and_then(|file| file.take(longest + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > longest { Err(Unread::TooLong) } else { Ok(bytes) }
}

fn called(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}
