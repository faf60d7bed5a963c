"""The scenarios on which aqmlab is timed, in tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aqmlab import ScenarioError
from aqmlab.scenario import Scenario, catalogue, disciplines, shipped
from benches.measure import Changes, Row

EXPERIMENT_1 = "lred/exp1"
EXAMPLES = Path(__file__).parents[1] / "examples"

NS3 = "20 000 packets/CPU s"
"""What an optimized ns-3 has with experiment 1 and RED on a quiet machine of two cores; `rivals` measures it."""

BARE: Changes = {"record.series": False}


@dataclass(frozen=True)
class Table:
    """Rows that belong together; ``name`` is used by `--tables`.

    ``base`` is the row that the others are compared with, if any; ``flows`` the number of flows of each row, where rows
    differ in it, and ``rates`` the bottleneck's rate of each row, where rows differ in both.
    """

    name: str
    title: str
    rows: list[Row]
    base: str = ""
    flows: tuple[int, ...] = ()
    rates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Size:
    """Number of long flows, the bottleneck's rate, and the duration.

    ``scale`` is in 10 Mbit/s; buffer, thresholds and access links grow with it. Times are in seconds.
    """

    flows: int
    scale: int
    duration: int
    warmup: int

    @property
    def rate(self) -> str:
        """The bottleneck's rate, for people."""
        return f"{self.scale // 100} Gbit/s" if self.scale >= 100 else f"{10 * self.scale} Mbit/s"

    def row(self) -> Row:
        """Return the row: experiment 1 with RED, which ns-2 and ns-3 also provide."""
        settings: Changes = {
            "traffic.long.count": self.flows,
            "duration": f"{self.duration} s",
            "warmup": f"{self.warmup} s",
            **BARE,
        }
        if self.scale > 1:
            settings = {
                **settings,
                "dumbbell.rate": f"{10 * self.scale} Mbit/s",
                "dumbbell.access_rate": f"{100 * self.scale} Mbit/s",
                "dumbbell.buffer": f"{200 * self.scale} packets",
                "dumbbell.access_buffer": "500000 packets",
            }
        red = f"red:min_th={50 * self.scale},max_th={150 * self.scale},max_p=0.1,w_q={0.002 / self.scale},gentle=true"
        many = f"{self.flows:,}".replace(",", " ")
        return Row(f"{many} flow{'s' * (self.flows > 1)}, {self.rate}", EXPERIMENT_1, red, settings)


def sizes(quick: bool) -> list[Size]:
    """List the numbers of flows, each with a rate that keeps them busy."""
    seconds, warmup = (20, 5) if quick else (200, 20)
    small = [Size(flows, 1, seconds, warmup) for flows in (1, 10, 100, 400, 1000)]
    return [*small, Size(10_000, 100, 2 if quick else 10, 1), Size(100_000, 1000, 2 if quick else 4, 1)]


def crossed(quick: bool) -> list[Size]:
    """List numbers of flows at each of four rates, of two if ``quick``: 300 000 to 5 million packets each."""
    seconds = {1: 20, 10: 4} if quick else {1: 120, 10: 15, 100: 4, 1000: 2}
    return [
        Size(flows, scale, duration, 1) for scale, duration in seconds.items() for flows in (4, 40, 400, 4000, 40_000)
    ]


def experiment_1(quick: bool) -> Changes:
    """Return settings of experiment 1 for tables with many rows: shorter, and nothing recorded."""
    seconds, warmup = (20, 5) if quick else (60, 20)
    return {**BARE, "duration": f"{seconds} s", "warmup": f"{warmup} s"}


def tables(quick: bool) -> list[Table]:
    """List all tables in the order in which they are run; ``quick`` simulates less time."""
    crowds, crosses = sizes(quick), crossed(quick)
    common = experiment_1(quick)
    return [
        Table(
            "flows",
            "Flows: experiment 1 with RED",
            [size.row() for size in crowds],
            base=next(size.row().name for size in crowds if size.flows == 400),
            flows=tuple(size.flows for size in crowds),
        ),
        Table(
            "rates",
            "Flows and rates: experiment 1 with RED",
            [size.row() for size in crosses],
            base=next(size.row().name for size in crosses if (size.flows, size.scale) == (400, 1)),
            flows=tuple(size.flows for size in crosses),
            rates=tuple(size.rate for size in crosses),
        ),
        Table("clocks", "Clocks and series: experiment 1, PI, N = 400", list(_clocks(common)), base="integer"),
        Table(
            "aqms",
            "Queue disciplines: experiment 1, N = 400",
            [Row(name, EXPERIMENT_1, name, common) for name in disciplines()],
            base="droptail",
        ),
        Table("own", f"AQMs of one's own: experiment 1, N = 400; ns-3: {NS3}", list(_own(common)), base="codel"),
        Table("tcps", "TCPs: experiment 1, PI with ECN, N = 400", list(_tcps(common)), base="ns2.35"),
        Table("shipped", "Scenarios as they are shipped", [Row(name, name) for name in shipped()]),
    ]


def _own(common: Changes) -> Iterator[Row]:
    """Yield CoDel in Rust, the same in Python, compiled and not, and the example of the tutorial."""
    yield Row("codel", EXPERIMENT_1, "codel", common)
    for file, name in (("codel", "CoDel"), ("mine", "Mine")):
        spec = f"{EXAMPLES / file}.py:{name}"
        yield Row(f"{name}, compiled", EXPERIMENT_1, spec, common)
        yield Row(f"{name}, in Python", EXPERIMENT_1, spec, common, interpreted=True)


def _clocks(common: Changes) -> Iterator[Row]:
    for clock in ("integer", "double"):
        for series in (False, True):
            name = clock + (" with series" if series else "")
            settings = {**common, "clock": clock, "record.series": series}
            yield Row(name, EXPERIMENT_1, "pi:q_ref=100", settings)


def _tcps(common: Changes) -> Iterator[Row]:
    """Yield every preset, then every loss recovery with every congestion control it supports."""
    flavours, controls = _choices("flavour"), _choices("congestion")
    specs = {entry["name"]: entry["name"] for entry in catalogue()["tcps"] if entry["name"] not in flavours}
    for flavour in flavours:
        for control in controls:
            needs = ",ecn=true" if control == "dctcp" else ""
            spec = f"{flavour}:congestion={control}{needs}"
            if _is_one(spec):
                specs[f"{flavour}, {control}"] = spec
    for name, spec in specs.items():
        yield Row(name, EXPERIMENT_1, "pi:q_ref=100,ecn=true", {**common, "traffic.long.tcp": spec})


def _is_one(spec: str) -> bool:
    """Whether a flavour has a congestion control."""
    try:
        Scenario.load(EXPERIMENT_1)._with_text("traffic.long.tcp", spec).check()
    except ScenarioError:
        return False
    return True


def _choices(parameter: str) -> list[str]:
    """List the allowed values of a TCP parameter."""
    allowed: str = next(p["allowed"] for p in catalogue()["tables"]["tcp"] if p["name"] == parameter)
    return allowed.removeprefix("one of ").split(", ")
