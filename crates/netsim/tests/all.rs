//! All integration tests in one binary: each binary compiles the generic engine again.

mod ahead;
mod control;
mod controls;
mod ecn;
mod elsewhere;
mod emulation;
mod golden;
mod half_duplex;
mod jitter;
mod jobs;
mod l4s;
mod lanes;
mod laws;
mod links;
mod packetdrill;
mod plain;
mod rack;
mod rooms;
mod runs;
mod scripts;
mod shaper;
mod tfrc;
mod traffic;
mod transient;
mod watch;
mod wifi;
