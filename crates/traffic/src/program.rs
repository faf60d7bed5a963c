//! The command line.

use crate::driver::Driver;
use clap::Parser;
use router::clock::Clock;
use router::hosts::Ip;
use router::table;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use std::fs;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The senders and sinks of a scenario's traffic, over the sockets of real network stacks. The router starts this.
#[derive(Parser)]
#[command(name = "aqmlab-traffic")]
struct Arguments {
    /// The scenario, a TOML file that extends no other.
    #[arg(long)]
    scenario: PathBuf,
    /// The seed of the run.
    #[arg(long)]
    seed: u64,
    /// The start of the run on the monotonic clock, in ns.
    #[arg(long)]
    zero: u64,
    /// The file descriptors of the hosts' namespaces.
    #[arg(long, value_delimiter = ',')]
    namespaces: Vec<RawFd>,
    /// The version of IP: 4 or 6.
    #[arg(long, default_value = "4", value_parser = ["4", "6"])]
    ip: String,
    /// The last two traffic entries are a shell's; the run ends when the standard input is closed.
    #[arg(long)]
    shell: bool,
    /// The folder for the ends of the connections and their windows.
    #[arg(long)]
    out: PathBuf,
}

pub(crate) fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    // It ends with the router.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    let scenario = scenario::Library::default()
        .load(&arguments.scenario)
        .and_then(|document| document.check())
        .map_err(|problems| problems.to_string())?;
    allow_descriptors();
    let failed = |error: std::io::Error| error.to_string();
    let ip = if arguments.ip == "6" { Ip::V6 } else { Ip::V4 };
    let clock = Clock { zero: arguments.zero };
    let mut driver =
        Driver::new(scenario, arguments.seed, clock, &arguments.namespaces, ip, arguments.shell)?;
    driver.run().map_err(failed)?;
    if let Some(columns) = driver.samples() {
        table::write(&arguments.out.join("windows.csv"), &columns).map_err(failed)?;
    }
    let text = serde_json::to_string(&driver.report()).map_err(|error| error.to_string())?;
    write(&arguments.out.join("ends.json"), &text)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Allows as many descriptors as the system does: each connection has two.
fn allow_descriptors() {
    const MANY: u64 = 1 << 20;
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let most = Rlimit { current: Some(MANY), maximum: Some(MANY) };
    // Root may raise the maximum, too.
    if setrlimit(Resource::Nofile, most).is_err() {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
