//! The command line of the router.

use aqm::unit::{Limit, Span, Time};
use clap::Parser;
use netsim::{Emulation, Ends, Series};
use router::clock::Clock;
use router::ends::Report;
use router::forward::Router;
use router::hosts::{Hosts, Ip, Way, tcp};
use router::pcapng::Pcapng;
use router::qdisc::{self, Qdisc};
use router::stack::Cubic;
use router::{namespace, sys, table};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, set_parent_process_death_signal};
use scenario::Scenario;
use scenario::model::{Known, accept_stacks};
use serde_json::json;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};

/// Time for both programs to be ready before the run begins.
const LEAD: Span = Span::ms(500);
/// How often a run says, by a glance, how far it is; one with foreign programs does so at intervals, which show whether
/// time goes on.
const LOOKS: u64 = 200;
const INTERVAL: Span = Span::ms(100);

/// Runs the traffic of a scenario over real network stacks, between which this program is the network.
#[derive(Parser)]
#[command(name = "aqmlab-router")]
struct Arguments {
    /// The scenario, a TOML file that extends no other.
    #[arg(long, required_unless_present = "try_device")]
    scenario: Option<PathBuf>,
    /// Only make a host's device, and verify that it is as runs need it.
    #[arg(long)]
    try_device: bool,
    /// Only check that Linux can do what the scenario asks for.
    #[arg(long)]
    check: bool,
    /// The kernel is a guest for this run alone, and may be changed.
    #[arg(long)]
    guest: bool,
    /// The seed of the run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for the results, the series and what the program of the traffic writes.
    #[arg(long, default_value = ".")]
    out: PathBuf,
    /// The program that is the senders and sinks.
    #[arg(long, default_value = "aqmlab-traffic")]
    traffic: PathBuf,
    /// The version of IP: 4 or 6.
    #[arg(long, default_value = "4", value_parser = ["4", "6"])]
    ip: String,
    /// A queue discipline of the kernel at the observed link, in tc's words: "pie limit 1000"; that of the scenario must
    /// be droptail.
    #[arg(long)]
    qdisc: Option<String>,
    /// Refuse the run if one packet in a hundred is handed to its host later than this share of its transmission time
    /// at the observed link.
    #[arg(long)]
    latest: Option<f64>,
    /// The last two traffic entries are the way to a shell and that from it: everything that leaves the namespaces of the
    /// shell and its peer, which are in `shell.json` in the folder for the results as soon as they are there. The run ends
    /// when the standard input is closed; how long it was is in `duration`, and what may spoil its results in `warning`.
    #[arg(long, conflicts_with = "pcapng")]
    shell: bool,
    /// Write every packet's fate to this file.
    #[arg(long, value_name = "FILE")]
    pcapng: Option<PathBuf>,
}

pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.scenario {
        Some(scenario) if !arguments.try_device => run(&arguments, scenario),
        _ => namespace::attempt().map_err(|error| error.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &Path) -> Result<Scenario, String> {
    let document = scenario::Library::default().load(path).map_err(|problems| problems.to_string())?;
    // Its remedy names the engine that has them, and needs neither.
    accept_stacks(Known { quinn: true, load: |_, _| Ok(()) });
    document.check().map_err(|problems| problems.to_string())
}

fn run(arguments: &Arguments, scenario: &Path) -> Result<(), String> {
    // Both programs end with the one that has started this.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    let mut scenario = read(scenario)?;
    let hosts = Hosts::new(&scenario, arguments.shell)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let failed = |error: std::io::Error| error.to_string();
    let tcps = || scenario.traffic.iter().filter_map(|entry| Some((&*entry.name, tcp(&entry.kind)?)));
    let cubic = Cubic::of(tcps()).map_err(|problem| problem.to_string())?;
    if arguments.qdisc.is_some() {
        qdisc::check(&scenario.links[scenario.observed])?;
    }
    if let Some(entry) = scenario.programs().next().filter(|_| !arguments.guest || arguments.ip != "4") {
        return Err(format!(
            "traffic.{}.kind = \"program\": programs run in virtual time over IPv4; use --engine linux, without clock=real \
             or ip=6",
            entry.name
        ));
    }
    if arguments.check {
        return Ok(());
    }
    if let Some(cubic) = cubic {
        namespace::set_cubic(cubic, arguments.guest).map_err(failed)?;
    }
    namespace::become_privileged().map_err(failed)?;
    let mtu = scenario.traffic.iter().map(|entry| entry.packet_size.0).max().unwrap_or_default().max(1500);
    let ip = if arguments.ip == "6" { Ip::V6 } else { Ip::V4 };
    let timed = !arguments.guest;
    let namespaces = namespace::make(&hosts, mtu as u32, ip, timed).map_err(failed)?;
    let observed = scenario.observed;
    let words = arguments.qdisc.as_deref();
    let qdisc =
        words.map(|words| Qdisc::new(words, &scenario.links[observed], mtu as usize, timed)).transpose();
    let qdisc = qdisc.map_err(failed)?;
    if qdisc.is_some() {
        scenario.links[observed].buffer = Limit::Packets(u32::MAX);
    }
    let series = scenario.record.series.then(|| Series::new(&scenario));
    let recorded = series.is_some();
    let new = if arguments.shell { Emulation::open } else { Emulation::new };
    let emulation = new(scenario.clone(), arguments.seed, series);
    let record = |path: &PathBuf| {
        let file = BufWriter::new(fs::File::create(path)?);
        Pcapng::new(file, &scenario, &hosts, ip, words)
    };
    let record = match &arguments.pcapng {
        Some(path) => Some(record(path).map_err(|error| format!("{}: {error}", path.display()))?),
        None => None,
    };
    let clock = Clock::starting_after(LEAD);
    let descriptors: Vec<String> =
        namespaces.iter().map(|namespace| namespace.file.as_raw_fd().to_string()).collect();
    if let Some(ways) = hosts.shell() {
        let text = shell(&scenario, &emulation, ways, &descriptors, clock, ip)?;
        write_whole(&arguments.out.join("shell.json"), &text).map_err(failed)?;
    }
    let mut router = Router::new(emulation, hosts, namespaces, qdisc, clock, timed).map_err(failed)?;
    if let Some(record) = record {
        router.record(record);
    }
    let mut traffic = Traffic::start(arguments, clock, &descriptors)?;
    let senders = Pid::from_child(&traffic.0);
    match pidfd_open(senders, PidfdFlags::empty()) {
        Ok(senders) => router.watch(senders).map_err(failed)?,
        // Where it may not be asked for, the end of the senders is noticed at that of the run.
        Err(Errno::NOSYS | Errno::PERM) => {}
        Err(error) => return Err(error.to_string()),
    }
    let mut end = Time::ZERO + scenario.general.duration;
    if arguments.shell {
        router.stop_with(std::io::stdin()).map_err(failed)?;
    }
    // If it is not allowed, the timing error says what that costs.
    let _ = sys::be_prompt();
    let mut out = std::io::stdout();
    let has_foreign = arguments.shell || scenario.programs().next().is_some();
    let looks = if has_foreign { end.nanos() / INTERVAL.nanos() } else { LOOKS };
    let ran = router.run(end, mtu as usize, looks, |emulation| {
        let text = serde_json::to_string(&emulation.glance()).expect("numbers");
        let _ = writeln!(out, "{text}");
    });
    // If the senders have failed, theirs is the first message.
    end = ran.or_else(|error| traffic.check(arguments).and(Err(error.to_string())))?;
    if arguments.shell {
        scenario.general.duration = end.since(Time::ZERO);
        let text = format!("{} ns", end.nanos());
        write_whole(&arguments.out.join("duration"), &text).map_err(failed)?;
    }
    router.verify_qdisc().map_err(failed)?;
    let losses = router.losses().map_err(failed)?;
    let mut report = traffic.report(arguments)?;
    for way in router.ways() {
        let class = &mut report.classes[usize::from(way.class)];
        class.transient = router.received.bytes(way.class);
        // Only the programs themselves know.
        (class.timeouts, class.retransmits, class.timeouts_total, class.retransmits_total) =
            (None, None, None, None);
    }
    if !losses.is_empty() {
        let losses = losses.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let told = format!("packets were lost outside the scenario's network:\n{losses}");
        if !arguments.shell {
            return Err(told);
        }
        // What the shell has received is still what it is.
        write_whole(&arguments.out.join("warning"), &told).map_err(failed)?;
    }
    if let Some(refusal) = report.refusal() {
        return Err(refusal);
    }
    if !report.programs.is_empty() {
        let text = serde_json::to_string(&report.programs).map_err(|error| error.to_string())?;
        write_whole(&arguments.out.join("programs.json"), &text).map_err(failed)?;
    }
    let failed_sockets = report.failed();
    let ends: Vec<Ends> = report.classes.into_iter().map(Ends::from).collect();
    let mut results = router.emulation().finish(ends);
    let violations = router.emulation().violations();
    if !violations.is_empty() {
        return Err(format!("the accounts of the router do not balance: {}", violations.join("; ")));
    }
    if let Some((at, first)) = router.first_stray {
        return Err(format!(
            "{} packets belong to no traffic of the scenario; the first, after {:.3} s, was {first}",
            router.strays,
            at.secs()
        ));
    }
    if let Some(error) = router.untimed.take() {
        return Err(error.to_string());
    }
    if let Some(lateness) = router.lateness() {
        let observed = &scenario.links[scenario.observed];
        let transmission = 8.0 * observed.packet.0 as f64 / observed.rate.bits();
        if let Some(share) = arguments.latest.filter(|share| lateness.p99 > share * transmission) {
            return Err(format!(
                "one packet in a hundred was {:.0} us late or more, of {:.1} us that a packet of {} bytes takes at link {}: \
                 the results of a run above {:.1} us are not those of the scenario; use a slower link, a machine with less to \
                 do (aqmlab doctor), or clock=virtual",
                1e6 * lateness.p99,
                1e6 * transmission,
                observed.packet.0,
                observed.name,
                1e6 * share * transmission
            ));
        }
        results.engine.timing = Some(run::results::Timing {
            timing_error_p50: lateness.p50,
            timing_error_p99: lateness.p99,
            timing_error_max: lateness.max,
            failed_sockets,
        });
    }
    if recorded {
        let series = router.emulation().probe_mut().expect("it records");
        series.finish(end);
        table::write(&arguments.out.join("series.csv"), &series.take_columns()).map_err(failed)?;
    }
    let text = serde_json::to_string(&results).map_err(|error| error.to_string())?;
    write_whole(&arguments.out.join("results.json"), &text).map_err(failed)
}

/// What the program that starts a shell has to know of it, as JSON.
fn shell(
    scenario: &Scenario,
    emulation: &Emulation<Series>,
    ways: [Way; 2],
    descriptors: &[String],
    clock: Clock,
    ip: Ip,
) -> Result<String, String> {
    let link = &scenario.links[scenario.observed];
    let crossing = ways.iter().position(|way| emulation.crosses_observed(usize::from(way.class)));
    let node = |way: &Way| &scenario.nodes[way.from.node];
    let crossing = crossing.ok_or_else(|| {
        format!(
            "the observed link, {}, is not between the shell at node {} and its peer at {}: choose another node with --node, or \
             another link with --set observe=NAME",
            link.name,
            node(&ways[1]),
            node(&ways[0])
        )
    })?;
    let end =
        |way: Way| json!({ "namespace": descriptors[way.from.namespace], "address": way.from.address(ip) });
    let [peer, shell] = ways.map(end);
    let text = json!({
        "process": std::process::id(),
        "zero": clock.zero,
        "peer": peer,
        "shell": shell,
        "link": link.name,
        "rate": link.rate.bits(),
        "way": crossing,
        "round_trip": emulation.idle_round_trip(usize::from(ways[0].class)),
    });
    Ok(text.to_string())
}

/// Writes a file whole or not at all: a guest is switched off as soon as this program ends.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, text)?;
    fs::rename(&part, path)
}

/// The program with senders and sinks, which ends with this one.
struct Traffic(Child);

impl Traffic {
    fn start(arguments: &Arguments, clock: Clock, descriptors: &[String]) -> Result<Self, String> {
        let child = Command::new(&arguments.traffic)
            .arg("--scenario")
            .args(&arguments.scenario)
            .args(["--seed", &arguments.seed.to_string(), "--zero", &clock.zero.to_string()])
            .args(["--namespaces", &descriptors.join(","), "--ip", &arguments.ip])
            .args(arguments.shell.then_some("--shell"))
            .arg("--out")
            .arg(&arguments.out)
            .spawn();
        child.map(Self).map_err(|error| format!("{}: {error}", arguments.traffic.display()))
    }

    /// Its failure, if it has ended with one.
    fn check(&mut self, arguments: &Arguments) -> Result<(), String> {
        match self.0.try_wait().map_err(|error| error.to_string())? {
            Some(status) if !status.success() => Err(format!("{}: {status}", arguments.traffic.display())),
            _ => Ok(()),
        }
    }

    fn report(&mut self, arguments: &Arguments) -> Result<Report, String> {
        self.0.wait().map_err(|error| error.to_string())?;
        self.check(arguments)?;
        let path = arguments.out.join("ends.json");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
