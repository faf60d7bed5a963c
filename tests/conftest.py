"""Shared fixtures: a scenario that runs in a blink, and the command line as a user calls it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from typer.testing import CliRunner

from aqmlab import Scenario
from aqmlab.execute import linux, packet, threads
from aqmlab.execute.preflight import findings
from aqmlab.execute.task import Outcome, Task, opened, packed
from aqmlab.playground import built

SMALL = """\
title = "Small"
duration = "5 s"
warmup = "1 s"
seed = 7

[dumbbell]
rate = "2 Mbit/s"
buffer = "50 packets"

[aqm]
name = "lred"
q0 = 20

[[traffic]]
name = "long"
kind = "ftp"
count = 10
packet_size = "500 B"
start = "uniform(0 s, 1 s)"
tcp = "rfc5681"
"""

TINY = SMALL.replace("5 s", "2 s").replace('"1 s"', '"0.5 s"').replace("count = 10", "count = 3")

# A shell starts a job in the background with SIGINT ignored, and its processes inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
"""The folder of the repository."""

RELAXED = settings(deadline=None)
"""For properties whose first example pays for imports and caches."""

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

ALL = bool(os.environ.get("AQMLAB_TEST_LINUX"))
"""Whether everything of the Linux engine has to run."""


def unavailable(reason: str) -> None:
    if ALL:
        pytest.fail(reason)
    pytest.skip(reason)


def require(engine: str, disciplines: Sequence[str] = ()) -> None:
    found = findings(engine, disciplines=disciplines)
    if missing := [one for one in found if one.state.refuses]:
        unavailable("; ".join(f"{one.name}: {one.found} ({one.fix})" for one in missing))


@pytest.fixture(scope="session")
def guest() -> None:
    """Require a guest."""
    require("linux")


@pytest.fixture
def small() -> Scenario:
    return Scenario.parse(SMALL, "small.toml")


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    return file


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Call aqmlab in a separate process, in an empty folder, without a terminal."""

    def call(*arguments: str | os.PathLike[str]) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-W", "error", "-m", "aqmlab", *map(os.fspath, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False
        )

    return call


@pytest.fixture
def quick_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Call aqmlab within this process, which pays the import of its libraries only once."""

    def call(*arguments: str | os.PathLike[str]) -> "subprocess.CompletedProcess[str]":
        from aqmlab.cli.app import app

        monkeypatch.chdir(tmp_path)
        command = [os.fspath(argument) for argument in arguments]
        done = CliRunner().invoke(app, command, prog_name="aqmlab", catch_exceptions=False)
        return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture
def tiny() -> Scenario:
    return Scenario.parse(TINY, "tiny.toml")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Record every task that is done."""
    done: list[Task] = []
    simulate = threads.simulate

    def noted(one: Task, watch: Callable[[float], bool] | None = None) -> Outcome | None:
        done.append(one)
        return simulate(one, watch)

    monkeypatch.setattr(threads, "simulate", noted)
    return done


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Let the linux engine be the packet engine with a queue that is longer by its seed; return its tasks."""
    tasks: list[Task] = []

    def perform(task: Task, options: Mapping[str, str], watch: Callable[[float], bool]) -> Outcome | None:
        tasks.append(task)
        outcome = packet.perform(task, {}, watch)
        assert outcome
        document = opened(outcome.payload, len(task.key))[1]
        document["metrics"]["queue_mean"] += task.seed
        document["metrics"]["jain"] = None
        return replace(outcome, payload=packed(task, json.dumps(document)))

    monkeypatch.setattr(linux, "perform", perform)
    monkeypatch.setattr(linux, "check", lambda scenario, options: scenario.check())
    monkeypatch.setattr(
        linux, "version", lambda options: f"fake {options['clock']}{options['qdisc'].removeprefix('scenario')}"
    )
    return tasks


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a page and a widget where the built ones are looked for."""
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / built.PAGE).write_text("<title>page</title>", encoding="utf-8")
    (folder / built.WIDGET).write_text("export default { render() {} }", encoding="utf-8")
    (folder / "secret.txt").write_text("secret", encoding="utf-8")
    monkeypatch.setattr(built, "FOLDER", folder)
    return folder


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library of the transport in C among the examples."""
    return compiled_stack(tmp_path_factory.mktemp("stack") / "mine.so")


def compiled_stack(library: Path, **changes: str) -> Path:
    """Compile the transport in C among the examples, in whose source the words that are keys become the values."""
    source = (ROOT / "examples" / "c" / "stack.c").read_text()
    for old, new in changes.items():
        source = source.replace(old, new)
    include = ROOT / "python" / "aqmlab" / "include"
    command = ["cc", "-O2", "-shared", "-fPIC", "-I", include, "-x", "c", "-", "-o", library]
    subprocess.run(command, input=source, text=True, check=True)
    return library
