"""Where our disciplines and the kernel's part: what became of each packet of the open loop, one beside the other."""

import subprocess
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import aqmlab
from oracle.linux import dumbbell, reference
from oracle.linux.arrivals import arrivals
from oracle.linux.reference import Point

ROOT = Path(__file__).parents[3]


def first_differences(points: Sequence[Point]) -> dict[str, tuple[str, str]]:
    """Of each point's first seed: how many packets there are, and the number and time of the first that differs."""
    program = _built()
    found = {}
    with TemporaryDirectory() as folder:
        for point in points:
            seed = point.seeds[0]
            sent = arrivals(point.conf["arrivals"], seed)
            made = dumbbell.open_loop(point.name, {**point.conf, "seed": seed}, Path(folder))
            at = first_difference(reference.fate(point.runs[seed]), fate(program, made, Path(folder)))
            where = "the end" if at is None else f"{at} ({sent[at][0]:.4f} s)"
            found[point.name] = (str(len(sent)), where)
    return found


def first_difference(theirs: str, ours: str) -> int | None:
    """The number of the first packet, from 0, with another fate; None if they are the same to the end."""
    pairs = zip(count(), theirs, ours, strict=False)
    differs = next((i for i, a, b in pairs if a != b), min(len(theirs), len(ours)))
    return differs if differs < max(len(theirs), len(ours)) else None


def fate(program: Path, scenario: aqmlab.Scenario, folder: Path) -> str:
    """What became of each packet of our run, in the order of arrival."""
    file = folder / "scenario.toml"
    file.write_text(scenario.with_({"record.series": False}).to_toml(), encoding="utf-8")
    ran = subprocess.run([program, file], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{program} {file}: {ran.stderr}")
    return ran.stdout.strip()


def _built() -> Path:
    command = ["cargo", "build", "--quiet", "--release", "--package", "netsim", "--example", "fates"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "examples" / "fates"
