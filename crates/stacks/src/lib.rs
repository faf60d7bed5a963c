//! Transports of programs in the simulator: both ends of a connection are the program's own code, in virtual time.
//!
//! A shared library has the functions of `aqmlab_stack.h`. quinn, a QUIC stack, is built in with the feature `quinn`.

mod library;
#[cfg(feature = "quinn")]
mod quinn;

use netsim::stack::{Stack, Wanted};
use scenario::model::{self, Known};

/// Whether this build has quinn.
pub const HAS_QUINN: bool = cfg!(feature = "quinn");

/// From now on scenarios may have traffic of `kind = "stack"`, and of `kind = "quic"` if the build has quinn.
pub fn install() {
    netsim::stack::install(
        make,
        Known { quinn: HAS_QUINN, load: |file, content| library::load(file, content).map(|_| ()) },
    );
}

/// The ends of a connection: the one that sends the data first.
fn make(wanted: &Wanted<'_>) -> Result<[Box<dyn Stack>; 2], String> {
    match wanted.stack {
        model::Stack::Library(library) => library::make(library, wanted),
        #[cfg(feature = "quinn")]
        model::Stack::Quinn(control) => Ok(quinn::make(*control, wanted)),
        #[cfg(not(feature = "quinn"))]
        model::Stack::Quinn(_) => unreachable!("the check refuses QUIC"),
    }
}
