"""The Linux engine: a scenario's traffic from the sockets of a real kernel, through our own router.

The programs ``aqmlab-router`` and ``aqmlab-traffic`` do the work: in a User-Mode Linux guest whose time is virtual, or
on this machine's kernel in real time. This module starts them, follows them, and reads what they have written.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import platform
import re
import selectors
import shutil
import signal
import socket
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import IO, Any

from aqmlab import _core
from aqmlab.execute import programs
from aqmlab.execute.caution import MachineWarning
from aqmlab.execute.engine import EngineUnavailable
from aqmlab.execute.glance import Glance
from aqmlab.execute.preflight import Finding, Machine, findings
from aqmlab.execute.preflight.guest import kernel_file, memory_folder
from aqmlab.execute.task import Outcome, Task, as_parquet, packed, scenario_of
from aqmlab.execute.variants import with_discipline
from aqmlab.files import replacing
from aqmlab.own.source import declared
from aqmlab.results.result import KERNEL
from aqmlab.results.series import Recording
from aqmlab.scenario import Scenario

BIN = Path(__file__).parent.parent / "bin"
"""The folder of the two programs."""

_GUEST = Path(__file__).with_name("guest.sh")
"""The first process of the guest."""

_ENDING_TOGETHER = """\
trap '{ kill -s KILL -- -$! || kill -s KILL $!; } 2> /dev/null; exit' TERM
"$@" &
wait $!
"""
"""A shell's script that runs the guest and at `SIGTERM` kills all of its processes, which are a group of their own: a
signal to the kernel alone would leave one that it is about to start."""

_FATES = "fates.pcapng"
"""The file of the fate of every packet, in a run's folder."""

_ROOM = 1 << 20
"""Free bytes below which a run that failed has failed because there was no space."""

_PREFIX = "aqmlab-run-"
"""The names of the folders of runs begin with this."""

_MARK = ".aqmlab-linux-run"
"""The file that only these folders have: one of the user's may have such a name."""

_SLICE = 0.1
"""Seconds between two calls of `watch`."""

_FRESH = 60
"""Seconds for which the findings on this machine are taken as they were: a sweep checks each of its points."""

_LATEST = 1.0
"""A run in real time is refused if 1 packet in 100 is later than this share of a packet's transmission time."""


def version(options: Mapping[str, str]) -> str:
    """Identify the kernel, the programs, the clock and the kernel's discipline, on which results depend.

    Raise `EngineUnavailable` if one of them is missing.
    """
    programs = [BIN / name for name in ("aqmlab-router", "aqmlab-traffic")]
    if options["clock"] == "real":
        kernel = f"{platform.system()} {platform.release()} {platform.version()}"
    else:
        file = Path(kernel_file(Machine(), options["kernel"]))
        kernel = _digest(file, "make kernel")
    digests = ",".join(_digest(program, "make setup") for program in programs)
    qdisc = "".join(f",qdisc={words}" for words in _qdisc(options)[1:])
    return f"linux+{options['clock']},ip={options['ip']},{kernel},{digests}{qdisc}"


def _digest(file: Path, remedy: str) -> str:
    try:
        state = file.stat()
    except FileNotFoundError:
        raise EngineUnavailable(f"the linux engine needs {file}, which is not there: {remedy}") from None
    if not file.is_file():
        raise EngineUnavailable(f"the linux engine needs {file}, which is no regular file: {remedy}")
    return _digest_of(file, state.st_mtime_ns, state.st_size)


@lru_cache
def _digest_of(file: Path, mtime: int, size: int) -> str:
    """Return the digest of a file, which is read again only if it was written since."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def check(scenario: Scenario, options: Mapping[str, str]) -> None:
    """Raise ScenarioError for a scenario that the kernel cannot have, `EngineUnavailable` if the machine cannot.

    Warn if it will delay packets.
    """
    scenario.check()
    for reference, source in sorted(scenario._core.own_algorithms):
        if declared(reference, source).is_control:
            raise _core.ScenarioError(
                f"tcp.congestion = {reference!r}: the kernel has no Python: use the packet engine, or one of its own"
            )
        raise _core.ScenarioError(
            f"aqm.name = {reference!r}: the linux engine's router has no Python: use the packet engine, or carry the "
            "class to Rust with `aqmlab port`"
        )
    controls = {
        entry["tcp"]["congestion"] for entry in scenario.resolved["traffic"] if isinstance(entry.get("tcp"), dict)
    }
    _require(options, frozenset(controls - {"ledbat"}))
    programs.check(scenario)
    with run_folder() as folder:
        router = [str(BIN / "aqmlab-router"), "--check", "--scenario", str(_written(scenario._core, folder, options))]
        kernel = ["--ip", options["ip"], *(["--guest"] if options["clock"] == "virtual" else [])]
        checked = subprocess.run([*router, *kernel, *_qdisc(options)], capture_output=True, text=True, check=False)
    if checked.returncode:
        raise _core.ScenarioError(checked.stderr.strip())


def _require(options: Mapping[str, str], congestion: frozenset[str]) -> None:
    """Raise `EngineUnavailable` if this machine lacks what runs need or would falsify them; warn if it delays them."""
    disciplines = tuple(words.split()[0] for words in _qdisc(options)[1:])
    found = _found(options["clock"], options["kernel"], congestion, disciplines, int(time.monotonic() // _FRESH))
    if refusing := [f"{_told(one)}; {one.spoils} {one.fix}" for one in found if one.state.refuses]:
        raise EngineUnavailable("\n".join(["the linux engine cannot run here (aqmlab doctor lists all):", *refusing]))
    if found:
        head = "packets may be late here; the end of a run says if too many were (aqmlab doctor lists all):"
        text = "\n".join([head, *(f"{_told(one)}; fix: {one.fix}" for one in found)])
        warnings.warn(text, MachineWarning, stacklevel=2)


def _told(one: Finding) -> str:
    return f"{one.name}: {one.found}"


@lru_cache
def _found(
    clock: str, kernel: str, congestion: frozenset[str], disciplines: tuple[str, ...], _moment: int
) -> list[Finding]:
    """Return the findings on this machine, which are those of a moment."""
    return findings(f"linux:clock={clock}", congestion=sorted(congestion), disciplines=disciplines, kernel=kernel)


def perform(task: Task, options: Mapping[str, str], watch: Callable[[float], bool]) -> Outcome | None:
    """Perform a task; return None if `watch`, which is called with the fraction done, has returned False.

    Raise ``RuntimeError`` with the programs' message if they fail.
    """
    duration = scenario_of(task).duration
    done = 0.0

    def see(glance: Glance) -> None:
        nonlocal done
        done = glance.t / duration
        if task.on_glance:
            task.on_glance(glance)

    with run_folder() as folder:
        outcome = perform_in(folder, task, options, see, lambda _: watch(done))
        if outcome:
            watch(1.0)
        return outcome


def perform_in(
    folder: Path,
    task: Task,
    options: Mapping[str, str],
    see: Callable[[Glance], None],
    goes_on: Callable[[subprocess.Popen[bytes]], bool],
    shell: bool = False,
) -> Outcome | None:
    """Perform a task in a folder; return None if `goes_on` has returned False.

    `see` is called with each glance, `goes_on` about ten times a second with the process. The run of a `shell` ends
    when the standard input of the process is closed, and is not refused because packets are late. Raise
    ``RuntimeError`` with the programs' message if they fail.
    """
    with _core_for(options["clock"]) as cores:
        scenario = Scenario(scenario_of(task))
        _written(scenario._core, folder, options)
        foreign = programs.entries(scenario)
        if foreign:
            (folder / "programs.sh").write_text(programs.surroundings())
            see, goes_on = programs.watched(scenario, see, goes_on)
        if task.fates:
            (folder / _FATES).touch()  # the router fills it
        command, environment = _command(folder, task.seed, options, shell)
        process = _started(command, environment, cores, subprocess.PIPE if shell else subprocess.DEVNULL)
        try:
            output = _follow(process, see, lambda: goes_on(process))
        finally:
            if process.stdin:
                process.stdin.close()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0  # it has been waited for
        if output is None:
            return None
        if not (folder / "results.json").exists():
            errors = folder / "errors"
            text = errors.read_text(errors="replace").strip() if errors.exists() else ""
            for place in {folder, Path(environment.get("TMPDIR", folder))}:
                if shutil.disk_usage(place).free < _ROOM:
                    raise RuntimeError(f"{place}: no space is left on this device: free some, or set TMPDIR")
            raise RuntimeError(text or "\n".join(output[-5:]) or "it ended without a message")
        document = json.loads((folder / "results.json").read_text())
        document["engine"]["cpu_seconds"] = usage.ru_utime + usage.ru_stime
        if foreign:
            ran = folder / "programs.json"  # absent if none has begun
            document["programs"] = json.loads(ran.read_text()) if ran.exists() else []
        if task.fates:
            with replacing(task.fates) as file:
                shutil.copyfile(folder / _FATES, file)
        series, windows = (_read(folder / name) for name in ("series.csv", "windows.csv"))
        return Outcome(
            packed(task, json.dumps(document)),
            series=as_parquet(series) if task.series else b"",
            recording=Recording(series, windows) if task.recording else None,
        )


def _written(scenario: _core.Scenario, folder: Path, options: Mapping[str, str]) -> Path:
    """Write what the router needs for a scenario to a folder, and return the scenario's file."""
    file = folder / "scenario.toml"
    if words := _qdisc(options):
        # What takes its place keeps account of the packets that wait in the kernel.
        scenario = with_discipline(Scenario(scenario), KERNEL)._core
        (folder / "qdisc").write_text(words[-1])
    file.write_text(scenario.to_toml())
    return file


def _qdisc(options: Mapping[str, str]) -> list[str]:
    """Return the router's arguments for a queue discipline of the kernel, if one is chosen."""
    return ["--qdisc", options["qdisc"]] if options["qdisc"] != "scenario" else []


def _command(
    folder: Path, seed: int, options: Mapping[str, str], shell: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Return the command that performs a run in a folder, and what it adds to the environment."""
    if options["clock"] == "real":
        router = [str(BIN / "aqmlab-router"), "--scenario", str(folder / "scenario.toml"), "--seed", str(seed)]
        more = ["--out", str(folder), "--traffic", str(BIN / "aqmlab-traffic"), "--ip", options["ip"], *_qdisc(options)]
        fates = ["--pcapng", str(folder / _FATES)] if (folder / _FATES).exists() else []
        return [*router, *more, *fates, *(["--shell"] if shell else ["--latest", str(_LATEST)])], {}
    machine = Machine()
    return [
        # The guest ends with this process, even if that is killed.
        *("setpriv", "--pdeathsig", "TERM", "sh", "-c", _ENDING_TOGETHER, "sh"),
        kernel_file(machine, options["kernel"]),
        *("mem=4096M", "rootfstype=hostfs", "rootflags=/", "rw", "init=/bin/sh", "seccomp=auto"),
        *("time-travel=inf-cpu", "time-travel-start=1000000000", "con=null", "con0=null,fd:1", "quiet"),
        *(f"uml_dir={folder}", "--"),
        *(_quoted(str(part)) for part in (_GUEST, folder, seed, BIN, options["ip"])),
    ], {"TMPDIR": memory_folder(machine) or gettempdir()}


def _quoted(text: str) -> str:
    """Quote an argument of the guest's first process, which the kernel splits off its command line at spaces."""
    if '"' in text or "\n" in text:
        raise EngineUnavailable(f"{text!r}: the guest cannot have a path with a quotation mark or a line break")
    return f'"{text}"'


def _follow(
    process: subprocess.Popen[bytes], see: Callable[[Glance], None], goes_on: Callable[[], bool]
) -> list[str] | None:
    """Follow a process to its end; return its messages, or None if it is to stop.

    `see` is called with each glance that it prints, `goes_on` about ten times a second.
    """
    output: IO[bytes] = process.stdout  # type: ignore[assignment]
    lines: list[str] = []
    rest = b""
    with output as stream, selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while goes_on():
            if not selector.select(_SLICE):
                continue
            chunk = os.read(stream.fileno(), 65536)
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                text = line.decode(errors="replace").strip()
                if text.startswith("{"):
                    see(Glance.read(text))
                elif text:
                    lines.append(text)
            if not chunk:
                return lines
    return None


def _read(file: Path) -> Any:
    """Return the columns of a table of numbers; None if there is none."""
    if not file.exists():
        return None
    import polars

    return polars.read_csv(file.read_bytes(), infer_schema=False).cast(polars.Float64)


@contextmanager
def run_folder() -> Iterator[Path]:
    """Make a folder for a run, locked as long as it is used; remove those that killed processes have left."""
    for left in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), _locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if not (left / _MARK).is_file():
                continue
            shutil.rmtree(left, ignore_errors=True)
    with ExitStack() as stack:
        while True:
            folder = stack.enter_context(TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True))
            with suppress(FileNotFoundError):
                lock = stack.enter_context(_locked(Path(folder), fcntl.LOCK_EX))
                if os.fstat(lock).st_nlink:  # no other process has removed it before it was locked
                    (Path(folder) / _MARK).touch()
                    break
        yield Path(folder)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[int]:
    """Hold a lock on a folder, which ends with the process, and yield its descriptor."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, how)
        yield descriptor
    finally:
        os.close(descriptor)


_CORE = "aqmlab-core-"
"""The sockets by which processes know each other's guests begin with this; the core and a number follow."""


@contextmanager
def _core_for(clock: str) -> Iterator[set[int]]:
    """Reserve the cores for a run: of a guest, whose parts take turns, a single one. To wake another takes long."""
    cores = os.sched_getaffinity(0)
    if clock == "real":
        yield cores
        return
    # An abstract name is no file, and ends with the process.
    with socket.socket(socket.AF_UNIX) as mark:
        while True:
            taken = re.findall(rf"@({_CORE}(\d+)-\d+)$", Path("/proc/net/unix").read_text(), re.MULTILINE)
            busy = Counter(int(core) for _, core in taken)
            core = min(cores, key=lambda core: (busy[core], core))
            names = (f"{_CORE}{core}-{number}" for number in count())
            free = next(name for name in names if (name, str(core)) not in taken)
            try:
                mark.bind(f"\0{free}")
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:  # another process was faster
                    raise
        yield {core}


def _started(
    command: list[str], environment: Mapping[str, str], cores: set[int], stdin: int
) -> subprocess.Popen[bytes]:
    """Start a process on some cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)  # of this thread, and of the processes that it starts
    try:
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    finally:
        os.sched_setaffinity(0, before)
