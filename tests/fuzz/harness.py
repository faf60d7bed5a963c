"""Attacks in separate processes: a crash, a hang or exhausted memory ends the process, and is a finding."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.targets import HERE, Target

ROOT = HERE.parents[1]
MOST = 10
"""Number of findings in one session after which a target is abandoned."""
START = 60.0
"""Seconds allowed for a worker before its first attack."""


@dataclass(frozen=True)
class Finding:
    """An input with a forbidden effect."""

    target: str
    seed: int
    message: str

    def __str__(self) -> str:
        return f"{self.target}, seed {self.seed}: {self.message}\nagain: make fuzz ONE={self.target}:{self.seed}"


@dataclass
class Tally:
    """The results of the seeds up to `next`."""

    next: int
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


@contextmanager
def _process(*arguments: str) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """Start a worker with a separate folder; the leftovers of both are removed."""
    path = os.pathsep.join([str(HERE.parent), str(ROOT), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, (Path(name) / "errors").open("w") as errors:
        command = [sys.executable, "-m", "fuzz.worker", arguments[0], name, *arguments[1:]]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, "RUST_BACKTRACE": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # Ctrl-C is for the session, and is not a finding
        )
        try:
            yield process, Path(name)
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()


def _lines(process: "subprocess.Popen[str]") -> "queue.SimpleQueue[str | None]":
    """Read a process's lines as they arrive; None is the end."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _death(process: "subprocess.Popen[str]", folder: Path) -> str:
    """Return a description of a process's end."""
    said = (folder / "errors").read_text(encoding="utf-8", errors="replace").strip()
    code = process.wait()
    return f"crash: exit status {code}: {said[-2000:]}"


def attack(target: Target, first: int, last: int, seconds: float = float("inf"), most: int = MOST) -> Tally:
    """Attack with the seeds from `first` up to `last`, as many as time allows.

    If the process ends, the seeds since its last report are tried again, except the one being tried.
    """
    target.ready()
    tally, end = Tally(first), time.monotonic() + seconds
    skipped: list[int] = []
    while tally.next < last and len(tally.findings) < most and time.monotonic() < end:
        again = [str(seed) for seed in skipped if seed >= tally.next]
        with _process(target.name, str(tally.next), str(last), *again) as (process, folder):
            message = _watch(process, folder, target, tally, end, most)
            if message:
                seed = _seed(folder)
                assert seed is not None, f"{target.name} does not start: {message}"
                tally.findings.append(Finding(target.name, seed, message))
                tally.outcomes["finding"] += 1
                skipped.append(seed)
    return tally


def _seed(folder: Path) -> int | None:
    """Return the seed that a worker is trying."""
    file = folder / "last"
    return int(file.read_bytes()) if file.exists() else None


def _watch(process: "subprocess.Popen[str]", folder: Path, target: Target, tally: Tally, end: float, most: int) -> str:
    """Follow a worker until it ends or time is up; return the problem if it did not end well."""
    lines, held = _lines(process), []
    at, since = None, time.monotonic()
    while True:
        try:
            line = lines.get(timeout=1.0)
        except queue.Empty:
            line = ""
        if line is None:
            return "" if process.wait() == 0 else _death(process, folder)
        said = json.loads(line) if line else {}
        if "finding" in said:
            held.append(Finding(target.name, said["finding"], said["message"]))
        if "next" in said:
            # A finding counts with its report, which prevents a second try from counting it twice.
            tally.next = said["next"]
            tally.outcomes.update(said["outcomes"])
            tally.findings += held
            held.clear()
            if time.monotonic() > end or len(tally.findings) >= most:
                return ""
        seed, now = _seed(folder), time.monotonic()
        if seed != at:
            at, since = seed, now
        elif now - since > (limit := START if at is None else target.limit):
            return f"hang: not done after {limit:g} s"


def judged(target: Target, case: bytes) -> str:
    """Return the problem that an input causes, empty for most."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(case)
        file.flush()
        with _process(target.name, f"@{file.name}") as (process, folder):
            lines, said = _lines(process), ""
            for limit in (START, target.limit):
                try:
                    line = lines.get(timeout=limit)
                except queue.Empty:
                    return f"hang: not done after {limit:g} s"
                if line is None:
                    return _death(process, folder)
                said = line
            return str(json.loads(said)["message"])


def smaller(case: bytes, fails: Callable[[bytes], bool], seconds: float = 60.0) -> bytes:
    """Remove lines while the input still fails: halves first, then quarters, and so on, while time allows."""
    end = time.monotonic() + seconds
    lines = case.splitlines(keepends=True)
    size = len(lines) // 2
    while size >= 1 and time.monotonic() < end:
        start = 0
        while start < len(lines) and time.monotonic() < end:
            fewer = lines[:start] + lines[start + size :]
            if fewer and fails(b"".join(fewer)):
                lines = fewer
            else:
                start += size
        size //= 2
    return b"".join(lines)
