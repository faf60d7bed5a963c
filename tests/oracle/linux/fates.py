"""Where our disciplines and the kernel's part: what became of each packet of the open loop, one beside the other."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import aqmlab
from oracle.linux import dumbbell, reference
from oracle.linux.arrivals import arrivals
from oracle.linux.reference import Point

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Parting:
    """How far both do the same with the packets of a point."""

    packets: int
    differ: int
    """How many packets have another fate."""

    first: int | None
    """The number of the first of them."""

    when: float | None
    """When it was sent, in seconds."""


def partings(points: Sequence[Point], profile: str = "release") -> dict[str, Parting]:
    """Of each point's first seed, before a link that is as late as the guest's; `profile` is that of our program."""
    program = _built(profile)
    found = {}
    with TemporaryDirectory() as folder:
        for point in points:
            seed = point.seeds[0]
            sent = arrivals(point.conf["arrivals"], seed)
            made = dumbbell.open_loop(point.name, {**point.conf, "seed": seed}, Path(folder), dumbbell.LATE)
            both = reference.fate(point.runs[seed]), fate(program, made, Path(folder))
            others = differences(*both)
            first = others[0] if others else None
            found[point.name] = Parting(len(sent), len(others), first, None if first is None else sent[first][0])
    return found


def differences(theirs: str, ours: str) -> list[int]:
    """The numbers of the packets, from 0, with another fate; one that has none in one of both counts."""
    return [number for number, pair in enumerate(zip_longest(theirs, ours)) if pair[0] != pair[1]]


def fate(program: Path, scenario: aqmlab.Scenario, folder: Path) -> str:
    """What became of each packet of our run, in the order of arrival."""
    file = folder / "scenario.toml"
    file.write_text(scenario.with_({"record.series": False}).to_toml(), encoding="utf-8")
    ran = subprocess.run([program, file], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{program} {file}: {ran.stderr}")
    return ran.stdout.strip()


def _built(profile: str) -> Path:
    command = ["cargo", "build", "--quiet", "--workspace", "--profile", profile, "--example", "fates"]
    told = subprocess.run([*command, "--message-format=json"], cwd=ROOT, check=True, capture_output=True, text=True)
    (program,) = re.findall(r'"executable":"([^"]+/fates)"', told.stdout)
    return Path(program)
