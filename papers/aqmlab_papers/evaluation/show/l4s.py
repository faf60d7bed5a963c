"""Write a page from the L4S matrices: ``python -m aqmlab_papers.evaluation.show.l4s FOLDER PAGE``.

The folder has a sweep of each of the shipped scenarios ``l4s/…``, under its name, and, if the Linux kernel was run, one
of ``l4s/dctcp`` with the Linux engine as ``dctcp-linux``.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars

from aqmlab.figures import matplotlib
from aqmlab.figures.model import COLOURS, Axis, Curve, Figure, Grid, Panel
from aqmlab.files import write_text
from aqmlab.reports.image import small_copy
from aqmlab.reports.pages import table
from aqmlab.runs.swept import Sweep

TCP = "traffic.scalable.tcp"
RATE, DELAY = "link.bottleneck.rate", "link.bottleneck.delay"

NAMES = {"prague": "TCP Prague", "l4s": "DCTCP with ECT(1)", "bbr3-l4s": "BBRv3 with ECN and ECT(1)"}
"""The scalable senders, by preset."""


@dataclass(frozen=True)
class Side:
    """What varies along a side of a matrix: its path, its name, and the factor and the unit of its numbers."""

    path: str
    name: str
    factor: float = 1.0
    unit: str = ""

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{self.factor * value:.6g} {self.unit}".strip()


ROUND_TRIP = Side(DELAY, "round trip", 2e3, "ms")
"""The delay is one way."""


@dataclass(frozen=True)
class Matrix:
    """A sweep as a table for each scalable sender.

    ``down`` varies from line to line, ``across`` from column to column.
    """

    name: str
    heading: str
    down: Side
    across: Side


MATRICES = (
    Matrix("rates", "Rates and round trips", Side(RATE, "rate", 1e-6, "Mbit/s"), ROUND_TRIP),
    Matrix(
        "shares",
        "Shares of flows",
        Side("traffic.scalable.count", "scalable flows"),
        Side("traffic.classic.count", "classic flows"),
    ),
    Matrix(
        "round-trips",
        "Different round trips",
        Side("link.scalable.delay", "scalable round trip", 2e3, "ms"),
        Side("link.classic.delay", "classic round trip", 2e3, "ms"),
    ),
)

Cells = Mapping[tuple[Any, ...], Mapping[str, float]]
"""By the values of the parameters: ``balance``, a scalable flow's goodput over a classic one's, geometric mean of the
seeds; ``utilisation``; ``l4s`` and ``classic``, the 99th percentile of each queue's delay in ms."""


def write(folder: Path, page: Path) -> None:
    """Write a page from the matrices, with its figure in a folder of the page's name.

    Raises
    ------
    OSError, ValueError
        If a sweep is missing or damaged.
    """
    found = {matrix.name: Sweep.load(folder / matrix.name) for matrix in MATRICES}
    dctcp = [Sweep.load(folder / "dctcp")]
    linux = folder / "dctcp-linux"
    if linux.exists():
        dctcp.append(Sweep.load(linux))
    matplotlib.save(figure(found["rates"]), folder, ["png"], "balance")
    small_copy(folder / "balance.png", page.with_suffix("") / "balance.png")
    write_text(page, text(found, dctcp, page.stem))


def cells(sweep: Sweep, paths: Sequence[str]) -> Cells:
    """Return the cells of a sweep."""
    counts = [
        polars.col(path) if path in sweep.frame.columns else polars.lit(1)
        for path in ("traffic.scalable.count", "traffic.classic.count")
    ]
    scalable, classic = (
        polars.col(f"classes.{kind}.goodput") / count
        for kind, count in zip(("scalable", "classic"), counts, strict=True)
    )
    delay = {lane: (1e3 * polars.col(f"lanes.bottleneck.{lane}.queue_delay_p99")).mean() for lane in ("l4s", "classic")}
    means = sweep.frame.group_by(paths).agg(
        balance=(scalable / classic).log().mean().exp(), utilisation=polars.col("utilisation").mean(), **delay
    )
    return {tuple(row[path] for path in paths): row for row in means.iter_rows(named=True)}


def text(found: Mapping[str, Sweep], dctcp: Sequence[Sweep], images: str) -> str:
    """Return the page as Markdown."""
    seeds = len(found["rates"].seeds)
    parts = [
        "# L4S: the matrices",
        "*Generated from sweeps by `make l4s`; [the reading](README.md#l4s) is by hand.*",
        f"One link with `dualpi2:preset=linux`, scalable flows and CUBIC without ECN, {seeds} seeds, 60 s of which 20 "
        "do not count. A cell has the balance (goodput of a scalable flow over that of a classic one), the link's "
        "utilisation, and the 99th percentiles of the delay in the L4S and in the classic queue in ms. Round trips are "
        "those of the idle network.",
        f"![Balance over the link's rate]({images}/balance.png)",
    ]
    for matrix in MATRICES:
        parts += [f"## {matrix.heading}", f"`aqmlab sweep l4s/{matrix.name}`"]
        sides = (matrix.down, matrix.across)
        values = cells(found[matrix.name], (TCP, *(side.path for side in sides)))
        for tcp, name in NAMES.items():
            own = {key[1:]: cell for key, cell in values.items() if key[0] == tcp}
            parts += [f"**{name}**", _matrix(sides, {key: _cell(cell) for key, cell in own.items()})]
    sides = (MATRICES[0].down, ROUND_TRIP)
    each = [cells(sweep, (RATE, DELAY)) for sweep in dctcp]
    beside = ""
    if len(dctcp) > 1:
        packet, kernel = (len(sweep.seeds) for sweep in dctcp)
        beside = f", of the packet engine's senders ({packet} seeds) / of Linux's ({kernel})"
    parts += [
        "## DCTCP beside Linux",
        "`aqmlab sweep l4s/dctcp` and `aqmlab sweep l4s/dctcp --engine linux`: the kernel's TCP through the same "
        f"DualPI2, which takes ECT(0) for the L4S queue here. Balance, L4S and classic delay as above{beside}.",
        _matrix(sides, {key: " / ".join(_short(one[key]) for one in each if key in one) for key in each[0]}),
    ]
    return "\n\n".join(parts) + "\n"


def _matrix(sides: Sequence[Side], texts: Mapping[tuple[Any, ...], str]) -> str:
    down, across = (sorted({key[place] for key in texts}) for place in (0, 1))
    head = [f"{sides[0].name} \\ {sides[1].name}", *(sides[1].text(value) for value in across)]
    return table(head, [[sides[0].text(value), *(texts[value, other] for other in across)] for value in down])


def _cell(cell: Mapping[str, float]) -> str:
    return f"{cell['balance']:.2f}, {cell['utilisation']:.0%}, {cell['l4s']:.1f}, {cell['classic']:.0f}"


def _short(cell: Mapping[str, float]) -> str:
    return f"{cell['balance']:.2f}, {cell['l4s']:.1f}, {cell['classic']:.0f}"


def figure(rates: Sweep) -> Figure:
    """Draw the balance over the rate, a panel for each scalable sender and a curve for each round trip."""
    values = cells(rates, (TCP, RATE, DELAY))
    delays = sorted({key[2] for key in values})
    x = Axis("Link rate (Mbit/s)", log=True)
    y = Axis("Goodput, scalable / classic", log=True)
    panels = []
    for tcp, name in NAMES.items():
        curves = []
        for delay, colour in zip(delays, COLOURS, strict=False):
            points = sorted((key[1] / 1e6, cell["balance"]) for key, cell in values.items() if key[::2] == (tcp, delay))
            rate, balance = np.array(points).T
            label = f"round trip {ROUND_TRIP.text(delay)}"
            curves.append(Curve(x=rate, y=balance, colour=colour, name=label, mark="circle"))
        ends = np.array([min(key[1] for key in values), max(key[1] for key in values)]) / 1e6
        equal = Curve(x=ends, y=np.ones(2), colour="#888888", width=0.8, dash=(4.0, 3.0))
        panels.append(Panel(title=name, x=x, y=y, shapes=[equal, *curves]))
    grid = Grid(panels=panels, across=len(panels), height=2.8, same_y=True)
    return Figure(title="L4S: balance of rates with DualPI2", name="balance", rows=[[grid]], legend=True)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
