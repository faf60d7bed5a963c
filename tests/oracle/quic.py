"""QUIC in the packet engine beside the same stack as programs of the Linux guest, stored.

``python -m oracle.quic`` compares goodput, queueing delay and losses, in a build with quinn. ``python -m oracle.quic
--record``, with the names of points or for all, runs quinn in the guest (`make kernel`) and writes its means anew.
"""

import csv
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import aqmlab
from aqmlab import Scenario, _core
from oracle.verdict import Check, enough, table, totals

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_suffix(".csv")
PROGRAM = ROOT / "target" / "release" / "examples" / "quinn"
SEEDS = 3
FEWEST = 0.9
DURATION, WARMUP = 30, 5
LAST = DURATION - 1
"""The time at which the clients in the guest end, before the run does."""

PORT = 4433

TOLERANCES = {"goodput": (0.10, 0.0), "queue_delay_mean": (0.10, 0.5), "loss_ratio": (0.10, 0.003)}
"""The tolerances: relative to the guest's mean, and in the units of `UNITS` at least."""

UNITS = {"goodput": 1e-6, "queue_delay_mean": 1e3, "loss_ratio": 1e2}
"""The factors to Mbit/s, ms and %; marked packets count as lost."""


@dataclass(frozen=True)
class Point:
    """Downloads over one link."""

    congestion: str
    rate: int
    rtt: int
    aqm: str
    count: int = 1

    @property
    def name(self) -> str:
        return f"{self.congestion}_{self.rate}m_{self.rtt}ms_{self.aqm}_n{self.count}"

    def scenario(self, traffic: Mapping[str, object]) -> Scenario:
        """The link with this traffic; the round trip is all in the link, and the buffer is that of the path."""
        packets = max(20, self.rate * self.rtt // 12)
        text = (
            f'title = "{self.name}"\nduration = "{DURATION} s"\nwarmup = "{WARMUP} s"\naqm = "{self.aqm}"\n'
            f'[dumbbell]\nrate = "{self.rate} Mbit/s"\ndelay = "{self.rtt / 2} ms"\nbuffer = "{packets} packets"\n'
            'access_rate = "1 Gbit/s"\nsender_delay = "0 s"\nreceiver_delay = "0 s"\n'
            '[[traffic]]\nname = "quic"\nkind = "ping"\n'
        )
        ecn = {"aqm.ecn": True} if self.aqm == "codel" else {}
        common = {"count": self.count, "start": "uniform(0 s, 100 ms)"}
        settings = {f"traffic.quic.{key}": value for key, value in {**traffic, **common}.items()}
        return Scenario.parse(text).with_({**settings, **ecn})

    @property
    def ours(self) -> Scenario:
        return self.scenario({"kind": "quic", "congestion": self.congestion, "ecn": "ect0"})

    @property
    def theirs(self) -> Scenario:
        """The program in the guest; the client is at `from`."""
        return self.scenario(
            {
                "kind": "program",
                "from": "receivers",
                "to": "senders",
                "command": [str(PROGRAM), "client", f"{{peer}}:{PORT}", str(WARMUP), str(LAST)],
                "server": [str(PROGRAM), "server", f"0.0.0.0:{PORT}", self.congestion],
            }
        )


_LINKS = [(10, 40, "droptail", 1), (40, 20, "droptail", 2), (20, 60, "codel", 1), (10, 40, "pie", 2)]
POINTS = [Point(control, *link) for control in ("cubic", "newreno", "bbr") for link in _LINKS]


def stored() -> dict[str, dict[str, str]]:
    """Return the means of the guest, by the name of the point."""
    with STORED.open(encoding="utf-8") as file:
        return {row["point"]: row for row in csv.DictReader(file)}


def measured(result: aqmlab.Result, goodputs: Sequence[float]) -> dict[str, float]:
    """Return the metrics of a run of either."""
    losses = result["loss_ratio"].mean + result["mark_ratio"].mean
    return {"goodput": fmean(goodputs), "queue_delay_mean": result["queue_delay_mean"].mean, "loss_ratio": losses}


def compare(points: Iterable[Point]) -> Iterator[Check]:
    """Yield the checks of some points."""
    theirs = stored()
    for point in points:
        result = aqmlab.run(point.ours, seeds=SEEDS)
        ours = measured(result, [run.classes["quic"]["goodput"] for run in result.runs])
        for metric, (relative, least) in TOLERANCES.items():
            other = float(theirs[point.name][metric]) * UNITS[metric]
            yield Check(point.name, metric, other, ours[metric] * UNITS[metric], max(relative * other, least))


def _received(run: aqmlab.Run) -> float:
    """Return the bit/s that the clients of a run have printed."""
    printed = [program["stdout"] for program in run.programs if program["key"] == "command"]
    return sum(8 * int(text.split()[0]) for text in printed) / (LAST - WARMUP)


def record(names: Sequence[str]) -> None:
    """Run quinn in the guest, and write its means: of all points, or of some."""
    command = ["cargo", "build", "--release", "--package", "stacks", "--features", "program", "--example", "quinn"]
    subprocess.run(command, cwd=ROOT, check=True)
    rows = stored() if STORED.exists() else {}
    for point in POINTS:
        if names and point.name not in names:
            continue
        result = aqmlab.run(point.theirs, seeds=SEEDS, engine="linux")
        found = measured(result, [_received(run) for run in result.runs])
        rows[point.name] = {"point": point.name, **{metric: f"{value:.6g}" for metric, value in found.items()}}
        print(rows[point.name], flush=True)
        with STORED.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["point", *TOLERANCES], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[each.name] for each in POINTS if each.name in rows)


def main() -> int:
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2:])
    if not _core.HAS_QUIC:
        sys.exit("this build has no QUIC stack: docs/guide/stacks.md has the command that builds it")
    checks = list(compare(POINTS))
    print(table(checks, "the guest"), totals(checks, FEWEST), sep="\n")
    return int(not enough(checks, FEWEST))


if __name__ == "__main__":
    sys.exit(main())
