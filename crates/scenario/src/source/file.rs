//! Reading a file that a user named. Only regular files are read: a pipe or a terminal could block for ever, and a
//! device may never end.

use std::cell::RefCell;
use std::fs::{FileType, Metadata, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// Why a file was not read.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    Missing,
    /// It has more bytes than allowed.
    TooLong,
    Other(String),
}

thread_local! {
    /// The folders below which this thread may read; empty if it may read anywhere.
    static FOLDERS: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// Lets this thread read only files below `folders`, or any if there are none. Returns those of before.
pub fn confine(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    FOLDERS.replace(folders)
}

/// Whether this thread may read the file at `path`, wherever links lead.
#[must_use]
pub fn may_read(path: &Path) -> bool {
    let inside = |folders: &Vec<PathBuf>| {
        folders.is_empty()
            || path.canonicalize().is_ok_and(|path| folders.iter().any(|folder| path.starts_with(folder)))
    };
    FOLDERS.with_borrow(inside)
}

/// The bytes of the file at `path`, at most `longest`.
pub(crate) fn read(path: &Path, longest: u64) -> Result<Vec<u8>, Unread> {
    if !may_read(path) {
        return Err(Unread::Other("not in the archive: not read".to_owned()));
    }
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
