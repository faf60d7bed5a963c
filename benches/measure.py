"""What a run takes: CPU seconds and memory of a process of its own, several times, in turn with the others."""

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


class Failed(RuntimeError):  # noqa: N818  it is the command that failed, there is no error in the program that asks
    """Raised when a command fails; says which, and all that it said."""


@dataclass(frozen=True)
class Row:
    """A scenario to time.

    Parameters
    ----------
    name : str
        What the table calls it.
    scenario : str
        A scenario's file, or the name of a shipped one.
    aqm : str
        The queue discipline, or nothing for the scenario's own.
    settings : mapping
        What else is changed, by dotted path.
    """

    name: str
    scenario: str
    aqm: str = ""
    settings: Changes = field(default_factory=dict)

    def command(self) -> list[str]:
        """Give what a user would type to run it."""
        command = [sys.executable, "-m", "aqmlab", "run", self.scenario, "--json"]
        if self.aqm:
            command += ["--aqm", self.aqm]
        for assignment in self.assignments():
            command += ["--set", assignment]
        return command

    def assignments(self) -> list[str]:
        """Give the settings as `--set` takes them."""
        values = {
            path: json.dumps(value) if isinstance(value, bool) else value for path, value in self.settings.items()
        }
        return [f"{path}={value}" for path, value in values.items()]


@dataclass(frozen=True)
class Sample:
    """What one run took; seconds are CPU seconds, user's and system's.

    Parameters
    ----------
    packets : int
        Packets that the bottleneck sent.
    events : int
        Events handled; 0 where the program does not say.
    loop : float
        Seconds of the run itself, as the program has measured them.
    whole : float
        Seconds with set-up and results: of aqmlab without Python's start, of others the process.
    process : float
        Seconds of the whole process.
    memory : int
        Bytes: of aqmlab the growth of the process to its peak, of others the peak.
    set_up : float
        Seconds from the scenario's name to the first event; of aqmlab only.
    estimate : int
        Bytes that aqmlab estimates before the run.
    lost : float
        The fraction of the bottleneck's arrivals that was dropped, if there were arrivals.
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
    """A program's runs of one row so far.

    Parameters
    ----------
    samples : list of Sample
        One a round.
    """

    samples: list[Sample] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.samples)

    def add(self, sample: Sample) -> None:
        """Take a round's sample.

        Raises
        ------
        Failed
            If it is of another run than the first: a scenario and a seed give the same packets and events every time.
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
        """Events handled for each of them."""
        return self.samples[0].events / self.packets

    def median(self, value: Callable[[Sample], float]) -> float:
        """Give the median over the rounds."""
        return statistics.median(map(value, self.samples))

    def ns(self, value: Callable[[Sample], float], choose: Callable[[list[float]], float] = statistics.median) -> float:
        """Give nanoseconds a packet: of the median of some seconds, or of what is chosen of them."""
        return choose([value(sample) for sample in self.samples]) / self.packets * 1e9

    def document(self) -> list[dict[str, object]]:
        """Give all samples for JSON."""
        return [asdict(sample) for sample in self.samples]


def measured(command: Sequence[str]) -> tuple[str, float]:
    """Run a command; give its output and the CPU seconds of its process.

    Raises
    ------
    Failed
        If it fails.
    """
    # A session of its own: Ctrl-C comes to us alone, and we end the child at once.
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
    asked = {"scenario": row.scenario, "aqm": row.aqm, "settings": row.settings}
    output, process = measured([sys.executable, str(WORKER), json.dumps(asked)])
    return Sample(**json.loads(output), process=process)
