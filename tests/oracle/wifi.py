"""Stations that send to their access point, beside stored runs of ns-3.

``python -m oracle.wifi`` compares goodputs and delays. ``python -m oracle.wifi --record``, with the names of points or
for all, runs ns-3 (Debian: g++, pkg-config, libns3-dev) and writes its means anew.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from statistics import fmean

import aqmlab
from aqmlab import Scenario
from aqmlab.scenario import Value
from benches import ns3
from benches.measure import Failed
from oracle.verdict import Check, enough, table, totals

STORED = Path(__file__).with_suffix(".csv")
SCENARIO = ns3.WIFI.with_suffix(".toml")
SEEDS = 5
FEWEST = 0.94
"""The part of the checks that has to pass; docs/internals/fidelity.md has the rest."""

METRICS = {"goodput": (1e-6, 0.10), "slow_delay_p95": (1e3, 0.25), "fast_delay_p95": (1e3, 0.25)}
"""What `ns3_wifi.cc` prints: the factor to Mbit/s or ms, and the tolerance relative to ns-3's mean."""


@dataclass(frozen=True)
class Point:
    """Stations, of which the first ``slow`` ones have MCS 0 and the others MCS 7, and whether they send TCP or UDP."""

    stations: int
    slow: int
    tcp: bool

    @property
    def name(self) -> str:
        return f"{self.stations}_{self.slow}_{'tcp' if self.tcp else 'udp'}"

    @property
    def arguments(self) -> list[str]:
        """What `ns3_wifi.cc` takes."""
        return [f"--stations={self.stations}", f"--slow={self.slow}", f"--tcp={int(self.tcp)}"]

    @property
    def scenario(self) -> Scenario:
        """The same here; UDP has 90 Mbit/s of payload in all. TCP times out after 10 s at the earliest."""
        names = [f"s{place + 1}" for place in range(self.stations)]
        rate = 90e6 / self.stations * 1500 / 1472
        udp: dict[str, Value] = {"kind": "cbr", "rate": rate, "packet_size": 1500}
        tcp: dict[str, Value] = {"tcp": "linux:min_rto=10 s,rto_floor=whole"}
        found = Scenario.load(SCENARIO).with_(
            {"wifi.air.stations": names, "wifi.air.mcs": [0] * self.slow + [7] * (self.stations - self.slow)}
        )
        for entry, own in (("slow", names[: self.slow]), ("fast", names[self.slow :])):
            settings = {"from": own or names, "count": len(own), **(tcp if self.tcp else udp)}
            found = found.with_({f"traffic.{entry}.{key}": value for key, value in settings.items()})
        return found


_ONE_RATE = [(stations, 0) for stations in (1, 2, 5, 10, 20)]
_TWO_RATES = [(stations, stations // 2) for stations in (2, 4, 8, 12, 20)]
POINTS = [Point(*mix, tcp) for tcp in (False, True) for mix in _ONE_RATE + _TWO_RATES]


def stored() -> dict[str, dict[str, str]]:
    """Return the means of ns-3, by the name of the point."""
    with STORED.open(encoding="utf-8") as file:
        return {row["point"]: row for row in csv.DictReader(file)}


def compare(points: Iterable[Point]) -> Iterator[Check]:
    """Yield the checks of some points: goodput of all stations, and the 95th percentiles of delays at either rate."""
    theirs = stored()
    for point in points:
        classes = aqmlab.run(point.scenario, seeds=range(1, SEEDS + 1)).owned("classes")
        ours = {f"{name}_delay_p95": entry["delay_p95"].mean for name, entry in classes.items()}
        ours["goodput"] = sum(entry["goodput"].mean or 0.0 for entry in classes.values())
        for metric, (scale, tolerance) in METRICS.items():
            if other := float(theirs[point.name][metric]) * scale:
                yield Check(point.name, metric, other, (ours[metric] or 0.0) * scale, tolerance * other)


def record(names: Sequence[str]) -> None:
    """Run ns-3, and write its means over the first seeds of which it does not abort a run; of all points, or of some.

    ns-3.37 ends some with "Invalid WifiPhy state" where a frame comes as another begins.
    """
    program = ns3.find(ns3.WIFI)
    if isinstance(program, str):
        sys.exit(program)

    def runs(point: Point) -> Iterator[tuple[int, dict[str, float]]]:
        for seed in count(1):
            try:
                yield seed, program.found([*point.arguments, f"--seed={seed}"])[0]
            except Failed:
                print(f"{point.name}: ns-3 aborts with seed {seed}", flush=True)

    rows = stored() if STORED.exists() else {}
    for point in POINTS:
        if names and point.name not in names:
            continue
        seeds, found = zip(*islice(runs(point), SEEDS), strict=True)
        means = {metric: f"{fmean(run[metric] for run in found):.6g}" for metric in METRICS}
        rows[point.name] = {"point": point.name, **means, "seeds": " ".join(map(str, seeds))}
        with STORED.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, ["point", *METRICS, "seeds"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[each.name] for each in POINTS if each.name in rows)


def main() -> int:
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2:])
    checks = list(compare(POINTS))
    print(table(checks, "ns-3"), totals(checks, FEWEST), sep="\n")
    return int(not enough(checks, FEWEST))


if __name__ == "__main__":
    sys.exit(main())
