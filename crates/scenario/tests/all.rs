//! All integration tests in one binary: each binary compiles the generic engine again.

mod around;
mod broken;
mod buffers;
mod cable;
mod cell;
mod extends;
mod hostile;
mod whole;
mod wifi;
