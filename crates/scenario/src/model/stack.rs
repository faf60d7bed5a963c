//! Downloads by a program's own transport: quinn, if the build has it, or a shared library.

use super::distribution::Distribution;
use aqm::choice;
use aqm::unit::Bytes;
use std::path::Path;
use std::sync::{Arc, OnceLock};

choice! {
    /// The congestion controls of quinn, a QUIC stack.
    pub enum QuicControl {
        /// CUBIC (RFC 9438).
        Cubic = "cubic",
        /// NewReno (RFC 9002, section 7).
        NewReno = "newreno",
        /// BBR, version 1.
        Bbr = "bbr",
    }
}

/// A download over one connection.
#[derive(Clone, PartialEq, Debug)]
pub struct Download {
    /// What runs at both its ends.
    pub stack: Stack,
    /// The bytes that are downloaded; without end if none.
    pub size: Option<Distribution<Bytes>>,
}

/// A transport that is not a model of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stack {
    /// quinn, with this congestion control of the sender.
    Quinn(QuicControl),
    /// A shared library.
    Library(Arc<Library>),
}

/// A stack in a shared library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Library {
    /// The path of its file.
    pub file: String,
    /// The content of the file.
    pub content: Arc<[u8]>,
    /// Settings that are handed to it.
    pub options: String,
}

impl Download {
    /// Bytes on the wire of a packet that only acknowledges: UDP and IP, and QUIC's short header with a frame and its tag.
    pub const ACK: u64 = 65;
    /// The least payload that a path of QUIC must carry (RFC 9000, section 14).
    pub const LEAST_PAYLOAD: u64 = 1200;

    /// The kind of traffic.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.stack {
            Stack::Quinn(_) => "quic",
            Stack::Library(_) => "stack",
        }
    }
}

/// What the program can run.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Whether it has quinn.
    pub quinn: bool,
    /// Loads the shared library at a path, whose file has this content; the error is the reason why it cannot.
    pub load: fn(&Path, &[u8]) -> Result<(), String>,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

/// From now on the check of a scenario accepts known stacks; only the first call has an effect.
pub fn accept_stacks(known: Known) {
    let _ = KNOWN.set(known);
}

/// Whether the program has quinn.
pub(crate) fn has_quinn() -> bool {
    KNOWN.get().is_some_and(|known| known.quinn)
}

/// Loads a stack, if the program can.
pub(crate) fn load_stack(file: &Path, content: &[u8]) -> Result<(), String> {
    let known = KNOWN.get().ok_or("this program does not load shared libraries: use the command `aqmlab`")?;
    (known.load)(file, content)
}
