"""A shell behind a scenario's link: programs of the user's own on the Linux engine, in real time.

All that the shell's programs send goes through the router to a peer, another network namespace, and all that the peer
sends goes back through it. Both belong to this process: the namespaces end with it, and so do all programs in them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.execute import linux
from aqmlab.execute.engine import Engine
from aqmlab.execute.glance import Glance
from aqmlab.execute.task import Task, opened
from aqmlab.results.result import Result, Run
from aqmlab.scenario import Scenario

WAYS = ("to-shell", "from-shell")
"""The traffic entries of all that the shell receives and sends."""

LONGEST = ("24 h", "8 h", "4 h", "1 h")
"""The times after which a shell is ended: the first that the scenario's limits on work allow."""

_LATE = ("outages", "reverse_outages", "delays", "reverse_delays", "handover")
"""The settings of a link that may be later than the end of a run."""

_STEP = "0.1 s"
"""The bins of series, whose number would otherwise follow from the longest duration."""

_IDLE = {"kind": "short", "arrival_rate": "1e-12 Hz", "size": "1 B"}
"""An entry whose own flows never start, to which the router assigns packets."""

_SCRIPT = Path(__file__).with_suffix(".sh")
"""The first process of the shell's namespace of processes."""

_MOUNTS = 'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 126; shift 2; done; shift; exec "$@"'
"""A shell's script that puts files in the place of others for a command alone."""

_PEER = '#!/bin/sh\nexec nsenter --net="{}" -- "$@"\n'
"""The program ``peer``, which runs a command at the peer."""


OUTSIDE = "slirp4netns"
"""The program that connects a namespace with the machine's own network, without privileges."""

_DEVICE = "outside0"
"""Its device in the peer's namespace."""

_RESOLVER = "10.0.2.3"
"""The address there of the machine's own resolver of names."""


@dataclass(frozen=True)
class Place:
    """Where a shell is: the addresses of its peer and of itself, and the link between.

    `link` is the observed link, `rate` its rate in bit/s at the start, and `way` the place in `WAYS` of the entry that
    crosses it. `round_trip` is the time in s from the peer to the shell and back if nothing waits.
    """

    peer: str
    shell: str
    link: str
    rate: float
    way: int
    round_trip: float


@dataclass(frozen=True)
class Ended:
    """A shell that has ended: the exit status of its command, and the result of the run.

    `error` is why there is no result, or what may spoil it or has ended the shell. `place` is none of a shell that
    never began.
    """

    status: int
    place: Place | None
    result: Result | None
    error: str = ""


def with_shell(scenario: Scenario, at: str | None = None, alone: bool = False) -> Scenario:
    """Return a scenario with the entries of a shell at node `at`, which are the last two.

    The peer is at the other end of the first traffic entry that has an end at `at`; by default the shell is where that
    of the first entry goes. `alone` leaves the other entries out. Raise ValueError if no entry has an end at `at`.
    """
    document = tomllib.loads(scenario.to_toml())
    pairs = [(entry["from"][0], entry["to"][0]) for entry in scenario.resolved["traffic"]]
    pairs = [(there, here) for pair in pairs for there, here in (pair, pair[::-1]) if at in (None, here)]
    if not pairs:
        ends = sorted({end for entry in scenario.resolved["traffic"] for end in (entry["from"][0], entry["to"][0])})
        raise ValueError(f"{at}: no traffic has an end there; choose one of {', '.join(ends)}")
    there, here = pairs[0]
    ways = zip(WAYS, ((there, here), (here, there)), strict=True)
    own = [{"name": name, **_IDLE, "from": [a], "to": [b]} for name, (a, b) in ways]
    record = document.get("record", {})
    document |= {
        "warmup": "0 s",
        "record": {**record, "step": record.get("step", _STEP)},
        "traffic": own if alone else [*document["traffic"], *own],
    }
    found = [Scenario.from_dict({**document, "duration": longest}) for longest in LONGEST]
    return next((one for one in found if _is_valid(one)), found[-1])


def run(
    scenario: Scenario,
    engine: Engine,
    command: Sequence[str],
    servers: Sequence[str] = (),
    outside: bool = False,
    on_start: Callable[[Place], None] = lambda _: None,
    on_glance: Callable[[Glance], None] = lambda _: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Ended:
    """Run a command in a shell's place, with the traffic of a scenario of `with_shell` beside it, until it ends.

    `servers` are shell commands that run at the peer; each has up to two seconds to wait for clients before the
    command starts. If `outside` is true the peer forwards packets to and from the machine's own network. `on_start` is
    called before, and `on_glance` with the observed link ten times a second. The command is killed as soon as
    `is_stopped` returns true.
    """
    task = Task(scenario._core, scenario.seed, b"", scenario.aqm, 0.0, recording=True, engine=engine)
    terminal = _own_terminal()
    program: subprocess.Popen[bytes] | None = None
    place: Place | None = None

    with linux.run_folder() as folder, ExitStack() as stack:

        def goes_on(router: subprocess.Popen[bytes]) -> bool:
            nonlocal program, place
            if program is None:
                if (folder / "shell.json").exists():
                    told = json.loads((folder / "shell.json").read_text())
                    place = _place(told)
                    time.sleep(max(told["zero"] / 1e9 - time.monotonic(), 0.0))
                    ends = {end: _entering(told, end) for end in ("peer", "shell")}
                    if outside:
                        _connect(folder, told, ends, stack)
                    on_start(place)
                    program = _started(folder, told, ends, servers, command, outside)
            elif is_stopped() and program.poll() is None:
                program.kill()
            elif program.poll() is not None and router.stdin and not router.stdin.closed:
                router.stdin.close()
            return program is not None or not is_stopped()

        try:
            outcome = linux.perform_in(folder, task, engine.settings, on_glance, goes_on, shell=True)
            lasts = program and program.poll() is None
            error = f"the shell was ended after {scenario.duration / 3600:g} h, the longest here" if lasts else ""
        except RuntimeError as failure:
            outcome, error = None, str(failure)
            if program and program.poll() is None:
                error = f"the network has ended before the shell: {error}"
        finally:
            if program:
                program.kill()
                program.wait()
                if terminal is not None:
                    _take(terminal)
        if program is None:
            return Ended(0, None, None, error or "stopped before it began")
        # A signal ends a command with the status that a shell reports.
        status = program.returncode if program.returncode >= 0 else 128 - program.returncode
        if outcome is None:
            return Ended(status, place, None, error)
        lasted = (folder / "duration").read_text()
        try:
            shorter = _until(scenario, lasted)
        except _core.ScenarioError as failure:
            return Ended(status, place, None, f"its results are of no valid scenario: {failure}")
        warning = folder / "warning"
        done = Result(
            scenario=shorter,
            runs=[Run(**opened(outcome.payload, 0)[1])],
            recordings={task.seed: outcome.recording} if outcome.recording else {},
            version=_core.__version__,
            engine_name=str(engine),
            engine_version=engine.version,
        )
        spoilt = warning.read_text() if warning.exists() else ""
        return Ended(status, place, done, "\n".join(filter(None, [error, spoilt])))


def _place(told: Mapping[str, Any]) -> Place:
    """Return the place of a shell from the document of the router."""
    between = {name: told[name] for name in ("link", "rate", "way", "round_trip")}
    return Place(told["peer"]["address"], told["shell"]["address"], **between)


def _is_valid(scenario: Scenario) -> bool:
    try:
        scenario.check()
    except _core.ScenarioError:
        return False
    return True


def _until(scenario: Scenario, end: str) -> Scenario:
    """Return a scenario with another end, without what would be later.

    An entry that would start later has no flows. Raise ``ScenarioError`` if that does not suffice.
    """
    shorter = scenario.with_(duration=end)
    if _is_valid(shorter):
        return shorter
    document = tomllib.loads(shorter.to_toml())
    links = [document[name] for name in ("dumbbell",) if name in document] + document.get("link", [])
    timed = [(link, {key: link.pop(key) for key in _LATE if key in link}) for link in links]
    entries = [(entry, dict(entry)) for entry in document["traffic"] if entry["name"] not in WAYS]
    for entry, _ in entries:
        for key in ("start", "stop", "active"):
            entry.pop(key, None)
        entry["count"] = 0
    Scenario.from_dict(document).check()
    # All that is in time is put back.
    for entry, whole in entries:
        _put_back(document, entry, whole)
    for link, settings in timed:
        for key, value in settings.items():
            # The points of a list are in order.
            parts = [value[: n + 1] for n in range(len(value))] if isinstance(value, list) else [value]
            for part in parts:
                _put_back(document, link, {**link, key: part})
    return Scenario.from_dict(document)


def _put_back(document: dict[str, Any], table: dict[str, Any], settings: Mapping[str, Any]) -> None:
    """Replace the settings of a table of a document unless that makes it invalid."""
    before = dict(table)
    table.clear()
    table.update(settings)
    if not _is_valid(Scenario.from_dict(document)):
        table.clear()
        table.update(before)


def _namespace(told: Mapping[str, Any], end: str) -> str:
    """Return the file of an end's network namespace."""
    return f"/proc/{told['process']}/fd/{told[end]['namespace']}"


def _user(told: Mapping[str, Any], option: str) -> list[str]:
    """Return an option with the user namespace that has the privileges, if it takes one."""
    return [] if os.geteuid() == 0 else [f"{option}=/proc/{told['process']}/ns/user"]


def _entering(told: Mapping[str, Any], end: str) -> list[str]:
    """Return the words before a command that let it run at an end."""
    return ["nsenter", "--preserve-credentials", *_user(told, "--user"), f"--net={_namespace(told, end)}", "--"]


def _connect(folder: Path, told: Mapping[str, Any], ends: Mapping[str, Sequence[str]], stack: ExitStack) -> None:
    """Let the peer forward packets to and from the machine's own network, until the stack is closed.

    Raise ``RuntimeError`` with the reason if that fails.
    """
    (end, held), (waits, ready) = os.pipe(), os.pipe()
    with (folder / "outside").open("w+b") as messages:
        process = subprocess.Popen(
            [
                *(OUTSIDE, "--configure", "--mtu=1500", "--disable-host-loopback", "--enable-seccomp"),
                # Without root it fails.
                *(["--enable-sandbox"] if os.geteuid() == 0 else []),
                *(f"--exit-fd={end}", f"--ready-fd={ready}", *_user(told, "--userns-path"), "--netns-type=path"),
                *(_namespace(told, "peer"), _DEVICE),
            ],
            pass_fds=(end, ready),
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=messages,
        )
        os.close(end)
        os.close(ready)
        stack.callback(process.wait)
        stack.callback(os.close, held)  # it ends then, or with this process
        with open(waits, "rb") as answer:
            if not answer.read(1):
                messages.seek(0)
                raise RuntimeError(f"{OUTSIDE}: {messages.read().decode(errors='replace').strip()}")
    # The peer answers for the shell, which the program does not know.
    forward = f"cd /proc/sys/net/ipv4 && echo 1 > ip_forward && echo 1 > conf/{_DEVICE}/proxy_arp"
    for one in (
        [*ends["peer"], "sh", "-c", forward],
        [*ends["shell"], "ip", "route", "add", "default", "dev", "aqmlab0"],
    ):
        done = subprocess.run(one, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(one)}: {done.stderr.strip()}")


def _started(
    folder: Path,
    told: Mapping[str, Any],
    ends: Mapping[str, Sequence[str]],
    servers: Sequence[str],
    command: Sequence[str],
    outside: bool,
) -> subprocess.Popen[bytes]:
    """Start a command in the shell's namespaces, with the program ``peer`` and the name ``peer``."""
    tool = folder / "bin" / "peer"
    tool.parent.mkdir()
    (folder / "peer").touch()
    tool.write_text(_PEER.format(folder / "peer"))
    tool.chmod(0o755)
    with suppress(OSError):
        shutil.copyfile("/etc/hosts", folder / "hosts")
    with (folder / "hosts").open("a") as hosts:
        # The file may lack its last line break.
        hosts.writelines(f"\n{told[end]['address']} {end}" for end in ends)
        hosts.write("\n")
    files = [_namespace(told, "peer"), str(folder / "peer"), str(folder / "hosts"), "/etc/hosts"]
    if outside:
        (folder / "resolv.conf").write_text(f"nameserver {_RESOLVER}\n")
        files += [str(folder / "resolv.conf"), "/etc/resolv.conf"]
    return subprocess.Popen(
        [
            *ends["shell"],
            # All processes end with this one, even if that is killed.
            *("setpriv", "--pdeathsig", "KILL"),
            *("unshare", "--mount", "sh", "-c", _MOUNTS, "sh", *files, "--"),
            *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *("sh", str(_SCRIPT), str(folder), str(len(servers)), *servers, *command),
        ],
        env={
            **os.environ,
            "PATH": f"{tool.parent}:{os.environ.get('PATH', os.defpath)}",
            "AQMLAB_PEER": told["peer"]["address"],
        },
    )


def _own_terminal() -> int | None:
    """Return the terminal, or None if there is none or it belongs to other processes, as it does in the background."""
    with suppress(OSError, ValueError, AttributeError):  # none, or closed
        descriptor = sys.stdin.fileno()
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            return descriptor
    return None


def _take(terminal: int) -> None:
    """Take the terminal back from a shell, which cannot return it to a process outside of its namespace."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with suppress(OSError):
            os.tcsetpgrp(terminal, os.getpgrp())
    finally:
        signal.signal(signal.SIGTTOU, before)
