"""Measurement of a run: CPU seconds and memory of a separate process, repeated, in turn with the others."""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import TypeAlias

WORKER = Path(__file__).with_name("worker.py")

Changes: TypeAlias = Mapping[str, bool | int | str]
"""Values of a scenario by dotted path."""


class Failed(RuntimeError):  # noqa: N818  the command failed, not the calling program
    """Raised when a command fails, with the command and its output."""


@dataclass(frozen=True)
class Row:
    """A scenario to time: a scenario's file or the name of a shipped one.

    ``aqm`` is empty for the scenario's discipline; ``settings`` are further changes by dotted path. A discipline of
    one's own runs compiled, or in Python if ``interpreted``.
    """

    name: str
    scenario: str
    aqm: str = ""
    settings: Changes = field(default_factory=dict)
    interpreted: bool = False

    def command(self) -> list[str]:
        """Return the equivalent shell command."""
        command = [sys.executable, "-m", "aqmlab", "run", self.scenario, "--json"]
        if self.aqm:
            command += ["--aqm", self.aqm]
        for assignment in self.assignments():
            command += ["--set", assignment]
        return command

    def assignments(self) -> list[str]:
        """Return the settings as arguments of `--set`."""
        values = {
            path: json.dumps(value) if isinstance(value, bool) else value for path, value in self.settings.items()
        }
        return [f"{path}={value}" for path, value in values.items()]


@dataclass(frozen=True)
class Sample:
    """One run's measurements; seconds are user and system CPU seconds.

    ``packets`` were sent by the bottleneck; ``events`` is 0 if the program does not report them. ``loop`` is the time
    of the run as measured by the program; ``whole`` adds set-up and results, for aqmlab without Python's start, for
    others the whole process; ``process`` is the whole process. ``memory`` (bytes) is for aqmlab the growth to the peak,
    for others the peak. ``set_up`` is the time from the scenario's name to the first event, ``estimate`` aqmlab's
    memory estimate in bytes before the run, both of aqmlab only. ``lost`` is the fraction of the bottleneck's arrivals
    dropped, if there were arrivals.
    """

    packets: int
    events: int
    loop: float
    whole: float
    process: float
    memory: int
    set_up: float = 0.0
    estimate: int = 0
    lost: float | None = None


@dataclass
class Timed:
    """A program's samples of one row so far, one per round."""

    samples: list[Sample] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.samples)

    def add(self, sample: Sample) -> None:
        """Add a round's sample.

        Raise `Failed` if packets or events differ from the first sample's: scenario and seed determine them.
        """
        ran = (sample.packets, sample.events)
        if self.samples and ran != (self.packets, self.samples[0].events):
            raise Failed(f"Not the same run: {ran} packets and events, before {self.packets}, {self.samples[0].events}")
        self.samples.append(sample)

    @property
    def packets(self) -> int:
        """Packets that the bottleneck sent: the same in every round."""
        return self.samples[0].packets

    @property
    def events_per_packet(self) -> float:
        """Events handled per packet sent."""
        return self.samples[0].events / self.packets

    def median(self, value: Callable[[Sample], float]) -> float:
        """Return the median over the rounds."""
        return statistics.median(map(value, self.samples))

    def ns(self, value: Callable[[Sample], float], choose: Callable[[list[float]], float] = statistics.median) -> float:
        """Return nanoseconds per packet, by default for the median; ``choose`` selects another statistic."""
        return choose([value(sample) for sample in self.samples]) / self.packets * 1e9

    def document(self) -> list[dict[str, object]]:
        """Return all samples for JSON."""
        return [asdict(sample) for sample in self.samples]


def measured(command: Sequence[str]) -> tuple[str, float]:
    """Run a command; return its output and the CPU seconds of its process. Raise `Failed` if it fails."""
    # A separate session: Ctrl-C reaches only this process, which ends the child at once.
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True) as process,
    ):
        try:
            assert process.stdout is not None
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
        except KeyboardInterrupt:
            process.kill()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            raise Failed(f"Failed: {shlex.join(command)}\n{output}{errors.read()}".strip())
    return output, usage.ru_utime + usage.ru_stime


def run_once(row: Row) -> Sample:
    """Run a row once with aqmlab."""
    asked = {"scenario": row.scenario, "aqm": row.aqm, "settings": row.settings, "interpreted": row.interpreted}
    output, process = measured([sys.executable, str(WORKER), json.dumps(asked)])
    return Sample(**json.loads(output), process=process)
