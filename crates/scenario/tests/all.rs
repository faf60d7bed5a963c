//! All integration tests in one binary: each binary compiles the generic engine again.

mod around;
mod broken;
mod buffers;
mod cell;
mod extends;
mod hostile;
mod whole;
mod wifi;
