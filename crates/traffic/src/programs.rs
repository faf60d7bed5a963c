//! Programs of this machine that are an entry's traffic: their starts, their output, and how they end.

use crate::driver::{Action, Driver, PROGRAM};
use crate::sockets::servers;
use aqm::unit::Time;
use netsim::traffic::{starts, stop};
use router::ends;
use router::hosts::Host;
use rustix::event::epoll::EventFlags;
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use scenario::model::{Program, TrafficKind};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Bytes that are kept of a program's standard output, and as many of its standard error.
const KEPT: usize = 1 << 20;
/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;
/// The most of a message that a failure repeats.
const MESSAGE: usize = 300;

/// The files of a process that are waited for, each with a token.
const FILES: u64 = 3;
/// That of its end; the others are its standard output and its standard error.
const END: usize = 2;

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Process {
    class: usize,
    key: &'static str,
    number: usize,
    words: Vec<String>,
    child: Child,
    started: Time,
    ended: Option<(Time, ExitStatus)>,
    /// Whether it was asked to end, with whatever status.
    is_halted: bool,
    outputs: [Output; END],
    end: Option<OwnedFd>,
}

/// What a program writes.
#[derive(Debug)]
struct Output {
    /// None once all its writers are gone.
    pipe: Option<File>,
    kept: Vec<u8>,
    bytes: u64,
}

impl Output {
    fn new(pipe: impl Into<OwnedFd>) -> io::Result<Self> {
        let pipe = pipe.into();
        ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe: Some(pipe.into()), kept: Vec::new(), bytes: 0 })
    }

    /// Takes what has been written, and keeps the beginning.
    fn take(&mut self) -> io::Result<()> {
        let mut chunk = [0; CHUNK];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut chunk) {
                Ok(0) => self.pipe = None,
                Ok(bytes) => {
                    self.bytes += bytes as u64;
                    let room = (KEPT - self.kept.len()).min(bytes);
                    self.kept.extend_from_slice(&chunk[..room]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

impl Driver {
    /// Starts the servers of an entry, and plans its commands.
    pub(crate) fn add_programs(&mut self, class: usize, program: &Program) -> io::Result<()> {
        let entry = self.scenario.traffic[class].clone();
        let count = entry.count as usize;
        let listening: Vec<[Host; 2]> = if program.server.is_empty() {
            Vec::new()
        } else if program.has_server_for_each() {
            (0..count)
                .map(|i| self.hosts.ends(&self.scenario, class, i))
                .map(|[from, to]| [to, from])
                .collect()
        } else {
            // It does not ask for the other end.
            let hosts = servers(&self.scenario, &self.hosts, class, false);
            hosts.into_iter().take(count).map(|host| [host, host]).collect()
        };
        for (i, ends) in listening.into_iter().enumerate() {
            self.spawn(class, "server", i, ends, &program.server, Time::ZERO)?;
        }
        for (i, start) in starts(&entry, self.seed).enumerate() {
            self.plan(start, Action::Launch(class, i));
        }
        Ok(())
    }

    /// Starts a command of an entry, unless it would have to end by now.
    pub(crate) fn launch(&mut self, class: usize, i: usize, now: Time) -> io::Result<()> {
        let entry = &self.scenario.traffic[class];
        let until = stop(entry);
        let TrafficKind::Program(program) = entry.kind.clone() else { return Ok(()) };
        if now >= until {
            return Ok(());
        }
        let ends = self.hosts.ends(&self.scenario, class, i);
        self.spawn(class, "command", i, ends, &program.command, now)?;
        self.counters.start(class);
        self.plan(until, Action::Halt(self.processes.len() - 1));
        Ok(())
    }

    fn spawn(
        &mut self,
        class: usize,
        key: &'static str,
        i: usize,
        [host, peer]: [Host; 2],
        words: &[String],
        now: Time,
    ) -> io::Result<()> {
        let [own, other] = [host, peer].map(|host| host.address(self.sockets.ip).to_string());
        let words = Program::filled(words, [&own, &other], i);
        // It inherits the namespace of the thread.
        self.sockets.enter(host)?;
        let spawned = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let mut child = spawned.map_err(|error| {
            let name = &self.scenario.traffic[class].name;
            io::Error::new(
                error.kind(),
                format!("traffic.{name}.{key}: {:?} cannot be started: {error}", words[0]),
            )
        })?;
        let outputs = [
            Output::new(child.stdout.take().expect("it is a pipe"))?,
            Output::new(child.stderr.take().expect("it is a pipe"))?,
        ];
        let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let token = PROGRAM | (self.processes.len() as u64 * FILES);
        for (output, number) in outputs.iter().zip(0..) {
            self.poll.add(output.pipe.as_ref().expect("it is open"), token + number, EventFlags::IN)?;
        }
        self.poll.add(&end, token + END as u64, EventFlags::IN)?;
        self.processes.push(Process {
            class,
            key,
            number: i + 1,
            words,
            child,
            started: now,
            ended: None,
            is_halted: false,
            outputs,
            end: Some(end),
        });
        Ok(())
    }

    /// A program has written something, or has ended: an error if it has failed.
    pub(crate) fn on_program(&mut self, token: u64, now: Time) -> io::Result<()> {
        let (index, file) = ((token & !PROGRAM) / FILES, (token & !PROGRAM) % FILES);
        let process = &mut self.processes[index as usize];
        if let Some(output) = process.outputs.get_mut(file as usize) {
            return output.take();
        }
        let Some(status) = process.child.try_wait()? else { return Ok(()) };
        (process.end, process.ended) = (None, Some((now, status)));
        process.outputs.iter_mut().try_for_each(Output::take)?;
        if process.is_halted {
            return Ok(());
        }
        if !status.success() {
            return Err(io::Error::other(process.failure(
                &self.scenario.traffic[process.class].name,
                now,
                status,
            )));
        }
        if process.key == "command" {
            self.counters.complete(process.class, now.since(process.started));
        }
        Ok(())
    }

    /// Asks a program, and all that it has started, to end.
    pub(crate) fn halt(&mut self, index: usize) {
        let process = &mut self.processes[index];
        if process.ended.is_none() {
            process.is_halted = true;
            let _ = kill_process_group(Pid::from_child(&process.child), Signal::TERM);
        }
    }

    /// Kills the programs that are left at the end of the run, and returns what became of all.
    pub(crate) fn end_programs(&mut self) -> Vec<ends::Program> {
        let names = self.scenario.traffic.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>();
        let over = |process: &mut Process| {
            if process.ended.is_none() {
                let _ = kill_process_group(Pid::from_child(&process.child), Signal::KILL);
                let _ = process.child.wait();
            }
            let [stdout, stderr] = &mut process.outputs;
            for output in [&mut *stdout, &mut *stderr] {
                let _ = output.take();
            }
            ends::Program {
                entry: names[process.class].clone(),
                key: process.key.to_owned(),
                number: process.number,
                words: process.words.clone(),
                started: process.started.secs(),
                ended: process.ended.map(|(at, _)| at.secs()),
                status: process.ended.and_then(|(_, status)| status.code()),
                kept: KEPT,
                stdout: stdout.text(),
                stdout_bytes: stdout.bytes,
                stderr: stderr.text(),
                stderr_bytes: stderr.bytes,
            }
        };
        self.processes.iter_mut().map(over).collect()
    }
}

impl Process {
    /// Describes a failure, with the last line that the program has written about it.
    fn failure(&self, entry: &str, now: Time, status: ExitStatus) -> String {
        let texts = [&self.outputs[1], &self.outputs[0]].map(Output::text);
        let last = texts.iter().find_map(|text| text.lines().rfind(|line| !line.trim().is_empty()));
        let last: String = last.unwrap_or("it has written nothing").chars().take(MESSAGE).collect();
        let words: String = format!("{:?}", self.words).chars().take(MESSAGE).collect();
        format!(
            "traffic.{entry}.{} = {words}: number {} ended after {:.3} s with {status}: {last}; if that is well, let a shell \
             end with 0 in its place: [\"sh\", \"-c\", \"…; true\"]",
            self.key,
            self.number,
            now.since(self.started).secs(),
        )
    }
}
