"""Panels, curves and tables of FTP, WEB and CBR, for the figures of web traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from aqmlab.library.redtail.measures import BAND, CLASSES, COLUMNS, Printed, of, per_seed
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Runs
from aqmlab.papers.run.sketch import Curves
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    import polars

TIME = Axis("Time (s)", 0, 500)
BIN = 2.0
"""Averaging time of counts, delays and rates in figures (s)."""
WEB_RUN = 500.0
LETTERS = dict(zip(CLASSES, "abc", strict=True))
LOSSES = [Axis("Losses (packets/s)", 0, high) for high in (20, 30, 5)]
START = "At the start slow start overshoots, and FTP loses more than the axis has."
AT_FIRST = "At the start the first 64 packets of each FTP are in the short queue."
PACKETS = Axis("Queue length (packets of 1000 B)", 0, 160)
ONE_SEED = "One run. The paper's curves are of another random sequence: what counts is their level and swing."


def class_panels(*y: Axis) -> list[Panel]:
    """Return a panel each for FTP, WEB and CBR over time."""
    return [Panel(letter, name, TIME, axis) for (name, letter), axis in zip(LETTERS.items(), y, strict=True)]


def threshold_lines(panel: str, end: float = WEB_RUN) -> Iterator[Curve]:
    """Draw the thresholds of Table II."""
    for name, value in zip(("min_th", "max_th"), BAND, strict=True):
        yield Curve(panel, name, [0.0, end], [value, value], style="dashed")


def _step(runs: Runs, label: str) -> float:
    t = runs.series(label)["t"]
    return float(t[1] - t[0])


def by_class(quantity: str, labels: tuple[str, ...], scale: float = 1.0, per_bin: bool = False) -> Curves:
    """Return curves of a quantity of FTP, WEB and CBR over time: one panel each, one curve per discipline.

    ``quantity`` is ``delay``, ``drops``, …, of an entry's series; ``per_bin`` converts counts per bin to counts per
    second.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence["time"]
        for name, entry in CLASSES.items():
            for label in labels:
                factor = scale / _step(runs, label) if per_bin else scale
                yield runs.over_time(LETTERS[name], label, quantity=f"{entry}.{quantity}", bin=BIN, scale=factor)

    return curves


def class_table(experiment: str, printed: Mapping[str, Printed]) -> Callable[[Evidence], polars.DataFrame]:
    """Return a table of losses, delays and rates, with the printed ones.

    ``printed`` has by discipline and traffic the printed values in the order of `COLUMNS`; disciplines that are not in
    it have no printed columns.
    """

    def rows(evidence: Evidence) -> polars.DataFrame:
        import polars

        runs = evidence[experiment]
        found = []
        for label in printed or runs.labels:
            for name in CLASSES:
                row: dict[str, str | float | None] = {"Policy": f"{label}: {name}"}
                for place, (column, (metric, scale)) in enumerate(COLUMNS.items()):
                    summary = Summary.of(list(per_seed(runs, of(name, metric), label, scale=scale).values()))
                    if printed:
                        row[f"{column} (paper)"] = printed[label][name][place]
                    row[column] = summary.mean
                    row[f"{column} ±"] = summary.ci95
                found.append(row)
        return polars.DataFrame(found, infer_schema_length=None)

    return rows


def losses_figure(name: str, title: str, labels: tuple[str, ...]) -> Figure:
    """Return the figure of each entry's losses over time."""
    return Figure(
        name=name,
        title=title,
        panels=class_panels(*LOSSES),
        curves=by_class("drops", labels, per_bin=True),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s. {START} {ONE_SEED}",
        across=3,
    )


def delays_figure(name: str, title: str, labels: tuple[str, ...], highest: float) -> Figure:
    """Return the figure of each entry's delays over time; the axis ends at ``highest`` (s)."""
    return Figure(
        name=name,
        title=title,
        panels=class_panels(*[Axis("Queueing delay (s)", 0, highest)] * 3),
        curves=by_class("delay", labels),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s of the time in the router. {ONE_SEED}",
        across=3,
    )
