//! The Linux engine's network: the packet engine's links and queues, for the packets of real network stacks.
//!
//! Every host of a scenario is an address in a network namespace whose only way out is a TUN device. The router reads
//! what the hosts send there, hands it to [`netsim::Emulation`], and writes it to the device of its destination when the
//! emulated network delivers it. Departures are computed on the emulation's own clock, so a late wake-up delays no later
//! packet. Namespaces and devices have no names outside the process and vanish with it.
//!
//! - [`hosts`]: which namespace and which address each host has.
//! - [`stack`]: the settings of a network stack for a scenario's TCP.
//! - [`wire`]: what the router reads in a packet, and the mark that it sets.
//! - [`clock`]: time since the start of the run, and a timer.
//! - [`namespace`]: namespaces with their devices.
//! - [`device`]: what makes a device transparent.
//! - [`forward`]: the router.
//! - [`losses`]: packets that the hosts' own kernels have lost.
//! - [`ends`]: what the program with senders and sinks reports.
//! - [`entries`]: when the hosts' packets came, by the kernel.
//! - [`qdisc`]: a queue discipline of the kernel in place of one of ours, and [`inlet`], by which packets come to it.
//! - [`pcapng`]: every packet's fate as a file.
//! - [`shell`]: what the programs of a shell have received.
//! - [`table`]: series as a file.
//! - [`sys`]: the system calls that no library wraps, and `tool`: `ip` and `tc`.
#![cfg(target_os = "linux")]

pub mod clock;
pub mod device;
pub mod ends;
pub mod entries;
pub mod forward;
pub mod hosts;
pub mod inlet;
pub mod losses;
pub mod namespace;
pub mod pcapng;
pub mod qdisc;
mod ring;
pub mod shell;
pub mod stack;
pub mod sys;
pub mod table;
mod tool;
pub mod wire;
