//! The tools of iproute2, and errors that name the refused object.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

pub(crate) fn context(what: &str) -> impl FnOnce(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Has `ip` or `tc` carry out commands.
///
/// # Errors
/// The tool's own.
pub(crate) fn tool(name: &str, commands: &str) -> io::Result<String> {
    let mut child = Command::new(name)
        .args(["-details", "-statistics", "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(context(&format!("{name} (Debian: apt install iproute2)")))?;
    child.stdin.take().expect("it is a pipe").write_all(commands.as_bytes())?;
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // It repeats all that it has read.
    let said = said.lines().filter(|line| !line.starts_with("Command failed")).collect::<Vec<_>>().join("; ");
    Err(io::Error::other(format!("{name}: {said} (of {})", commands.trim())))
}
