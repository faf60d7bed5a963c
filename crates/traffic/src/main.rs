//! `aqmlab-traffic`: the traffic of a scenario over real sockets, in the namespaces that the router has made.

#[cfg(target_os = "linux")]
mod connections;
#[cfg(target_os = "linux")]
mod counters;
#[cfg(target_os = "linux")]
mod datagrams;
#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod web;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return program::main();
    #[cfg(not(target_os = "linux"))]
    {
        eprintln!("aqmlab-traffic: runs on Linux only");
        std::process::ExitCode::FAILURE
    }
}
