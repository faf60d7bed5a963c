//! `aqmlab-router`: makes the network of a scenario between real network stacks, and runs its traffic on it.

#[cfg(target_os = "linux")]
mod program;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return program::main();
    #[cfg(not(target_os = "linux"))]
    {
        eprintln!("aqmlab-router: runs on Linux only");
        std::process::ExitCode::FAILURE
    }
}
